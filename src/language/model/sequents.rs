//! Proof obligations with types: hypotheses and a goal over constants, variables and locals, which stand for the
//! parameters of events and for new values.
//!
//! Absent on purpose: values, whether an obligation is true, what is believed of a file's word.

use super::check::check_open;
use super::{BinOp, Expr, ExprKind, LocalId, Model, Obligation, Type, reading};
use crate::lang::ast;
use crate::lang::composed::{self, Demanded};
use crate::lang::diag::{Diagnostic, Span};
use std::sync::Arc;

/// The obligations of a chain of refinements.
#[derive(Debug, Default)]
pub struct Sequents {
    /// Axioms, invariants and theorems; what is abstract comes first.
    pub known: Vec<Expr>,
    pub all: Vec<Sequent>,
}

/// One of them.
#[derive(Debug)]
pub struct Sequent {
    /// The machine or context it belongs to.
    pub component: Arc<str>,
    /// As Rodin calls it: `e/inv1/INV`.
    pub name: String,
    /// `INV`, `GRD`, …
    pub kind: &'static str,
    /// The formula to show for it.
    pub span: Span,
    /// So many of the first formulas of [`Sequents::known`] are hypotheses.
    pub known: usize,
    pub stated: Result<Stated, String>,
    /// Whether the file says that it is discharged, if it says anything about it.
    pub discharged: Option<bool>,
}

/// What is to be proved.
#[derive(Debug)]
pub struct Stated {
    /// What the formulas speak of beyond constants and variables.
    pub locals: Vec<LocalId>,
    /// Beyond the known ones.
    pub hypotheses: Vec<Expr>,
    pub goal: Expr,
    pub wanted: Wanted,
}

/// What is wanted of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It is not false. That it has a value is an obligation of its own.
    True,
    /// It has a value.
    Defined,
    /// It is true.
    Both,
}

/// Types obligations over the model of all levels.
///
/// # Errors
/// A hypothesis that many have does not fit into the model.
pub fn typed(model: &mut Model, sequents: &composed::Sequents) -> Result<Sequents, Vec<Diagnostic>> {
    let mut found = Sequents::default();
    for e in &sequents.known {
        let (locals, e) = check_open(model, e)?;
        if let Some(l) = locals.first() {
            let d = model.local(*l);
            let message = format!("`{}` is not known here", d.name);
            return Err(vec![Diagnostic::error("B0201", d.span, message)]);
        }
        found.known.push(e);
    }
    for s in &sequents.all {
        if let Some((variant, is_number)) = &s.only_for {
            let ty = check_open(model, variant).map(|(_, e)| e.ty);
            // What has no type is told by the obligation itself.
            if ty.is_ok_and(|ty| (ty == Type::Int) != *is_number) {
                continue;
            }
        }
        let stated = state(model, s);
        // What always has a value needs no proof of it.
        if let Ok(Stated { wanted: Wanted::Defined, goal, .. }) = &stated
            && reading::is_total(goal)
        {
            continue;
        }
        let parts = s.event.iter().chain(&s.about).map(|n| &**n).chain([s.kind]);
        found.all.push(Sequent {
            component: s.component.clone(),
            name: parts.collect::<Vec<_>>().join("/"),
            kind: s.kind,
            span: s.span,
            known: s.known,
            discharged: discharged(&model.obligations, s),
            stated,
        });
    }
    Ok(found)
}

fn state(model: &mut Model, s: &composed::Sequent) -> Result<Stated, String> {
    let (goal, wanted) = match &s.goal {
        Demanded::True(goal) => (goal, Wanted::True),
        Demanded::Defined(goal) => (goal, Wanted::Defined),
    };
    // All at once: what is known of a name in one place is known in the others.
    let truth = |span| ast::Expr { kind: ast::ExprKind::Lit(ast::Lit::BTrue), span };
    let and = |a: ast::Expr, b: ast::Expr| {
        let span = b.span;
        ast::Expr { kind: ast::ExprKind::Binary(BinOp::And, Box::new(a), Box::new(b)), span }
    };
    let before = s.hypotheses.iter().cloned().fold(truth(s.span), and);
    let typing = s.typing.iter().cloned().fold(truth(s.span), and);
    let whole = and(typing, and(before, goal.clone()));
    let said = |diags: Vec<Diagnostic>| diags.into_iter().next().map_or_else(String::new, |d| d.message);
    let (locals, whole) = check_open(model, &whole).map_err(said)?;
    let ExprKind::Binary(BinOp::And, _, whole) = whole.kind else {
        return Err("it is no predicate".into());
    };
    let locals = locals.into_iter().filter(|l| whole.mentions_local(*l)).collect();
    let ExprKind::Binary(BinOp::And, mut rest, goal) = whole.kind else {
        return Err("it is no predicate".into());
    };
    let mut hypotheses = vec![];
    // As many conjunctions as were made, and no more: what is inside a hypothesis stays together.
    for _ in &s.hypotheses {
        let ExprKind::Binary(BinOp::And, earlier, last) = rest.kind else {
            return Err("it is no predicate".into());
        };
        hypotheses.push(*last);
        rest = earlier;
    }
    hypotheses.reverse();
    Ok(Stated { locals, hypotheses, goal: *goal, wanted })
}

/// What the tool that made the obligations says of this one. Where it does not tell several apart, they have to agree.
fn discharged(all: &[Obligation], s: &composed::Sequent) -> Option<bool> {
    let parts = s.event.iter().chain(&s.about).map(|n| &**n).chain([s.kind]);
    let name = parts.collect::<Vec<_>>().join("/");
    let is_it = |o: &&Obligation| {
        let label = o.about.iter().rev().find(|(k, _)| &**k != "event").map(|(_, l)| l);
        let event = o.about.iter().rev().find(|(k, _)| &**k == "event").map(|(_, l)| l);
        let is_named = || {
            o.kind() == Some(s.kind)
                && label.is_none_or(|l| s.about.as_ref() == Some(l))
                && event.is_none_or(|e| s.event.as_ref() == Some(e))
        };
        o.component == s.component && if o.sequent.is_empty() { is_named() } else { *o.sequent == *name }
    };
    let mut said = all.iter().filter(is_it).map(|o| o.is_discharged);
    let first = said.next()?;
    said.all(|other| other == first).then_some(first)
}
