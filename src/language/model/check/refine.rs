//! What a refinement keeps of its abstraction: signatures, and of preconditions the parts that speak
//! only of what it still sees. The rest was there to give types and goes; what it says of abstract
//! variables is listed in [`Model::left_out`](crate::model::Model::left_out).

use super::Checker;
use super::expr::plural;
use super::fill::conjunction;
use crate::lang::ast::Lit;
use crate::lang::composed::Composed;
use crate::lang::diag::{Diagnostic, Span};
use crate::model::{
    Expr, ExprKind, Left, LeftOut, Lhs, LocalId, OpId, Operation, SetId, Stmt, StmtKind, Target, Type, VarId,
    raise,
};
use std::collections::BTreeSet;

impl Checker<'_> {
    /// A refined operation has the signature of the abstract one.
    pub(super) fn refined_operations(&mut self, composed: &Composed) {
        for (at, def) in composed.operations.iter().enumerate() {
            let Some(above) = def.refines else { continue };
            let (op, abstract_op) = (&self.model.operations[at], &self.model.operations[above]);
            let (span, above_span, name) = (op.span, abstract_op.span, op.name.clone());
            let pairs = [
                ("parameter", op.params.clone(), abstract_op.params.clone()),
                ("result", op.results.clone(), abstract_op.results.clone()),
            ];
            for (what, own, theirs) in pairs {
                if own.len() != theirs.len() {
                    let n = theirs.len();
                    let message = format!("`{name}` refines an operation with {n} {what}{}", plural(n));
                    self.diags.push(
                        Diagnostic::error("B0206", span, message).note(above_span, "the abstract operation"),
                    );
                }
                for (a, b) in own.iter().zip(&theirs) {
                    let (a, b) = (self.model.local(*a).clone(), self.model.local(*b).clone());
                    if !self.uni.unify(&a.ty, &b.ty) {
                        let (found, want) = (self.show(&a.ty), self.show(&b.ty));
                        let message = format!("`{}` is {found} here and {want} in the abstraction", a.name);
                        self.diags
                            .push(Diagnostic::error("B0203", a.span, message).note(b.span, "declared here"));
                    }
                }
            }
        }
    }

    /// After the types are known: preconditions are inherited, abstract variables and operations go. What
    /// speaks of them is listed, each conjunct of it.
    pub(super) fn drop_abstract(&mut self, composed: &Composed) {
        if self.failed() {
            return;
        }
        let view = View { variables: composed.state_variables, operations: composed.live_operations };
        let lacking = self.inherit_preconditions(composed, view);
        let mut left = vec![];
        for e in std::mem::take(&mut self.model.invariant) {
            match view.sees(&e) {
                true => self.model.invariant.push(e),
                false => left.push((Left::Invariant, None, e)),
            }
        }
        // A variable that the refinement keeps is glued to itself, so what the abstraction claims of such
        // variables alone is claimed here too.
        let speaks = |e: &Expr| e.any(&|e| matches!(e.kind, ExprKind::Var(_)));
        for e in std::mem::take(&mut self.inherited) {
            if view.sees(&e) && speaks(&e) && !self.model.invariant.contains(&e) {
                self.model.invariant.push(e);
            }
        }
        for e in std::mem::take(&mut self.model.assertions) {
            match view.sees(&e) {
                true => self.model.assertions.push(e),
                false => {
                    for part in e.conjuncts() {
                        match view.sees(part) {
                            true => self.model.assertions.push(part.clone()),
                            false => left.push((Left::Assertion, None, part.clone())),
                        }
                    }
                }
            }
        }
        if let Some(goal) = self.model.goal.take_if(|goal| !view.sees(goal)) {
            left.push((Left::Goal, None, goal));
        }
        let mut initialisation = std::mem::take(&mut self.model.initialisation);
        leave_out(&mut initialisation, view, None, &mut left);
        self.model.initialisation = initialisation;
        for (at, parts) in lacking.into_iter().enumerate().take(view.operations) {
            let op = Some(OpId(at as u32));
            left.extend(parts.into_iter().map(|e| (Left::Precondition, op, e)));
            leave_out(&mut self.model.operations[at].body, view, op, &mut left);
        }
        self.report_left_out(left);
        let abstract_operations = self.model.operations.split_off(view.operations);
        let mut named = std::mem::take(&mut self.model.named_above);
        abstract_operations.iter().for_each(|op| name_elements_of(&op.body, &mut named));
        self.model.named_above = named;
        self.refuse_abstract(composed, view);
        self.model.variables.truncate(view.variables);
    }

    /// Puts what is visible of the abstract operations' preconditions before the bodies of those that refine
    /// them; returns what is not, by operation.
    fn inherit_preconditions(&mut self, composed: &Composed, view: View) -> Vec<Vec<Expr>> {
        let mut lacking = vec![vec![]; self.model.operations.len()];
        // Abstract operations first: a chain of refinements passes its preconditions down.
        let mut order: Vec<usize> = (0..composed.operations.len()).collect();
        order.sort_by_key(|i| depth(composed, *i));
        for at in order {
            let Some(above) = composed.operations[at].refines else { continue };
            let abstract_op = &self.model.operations[above];
            let locals = |op: &Operation| [&op.params[..], &op.results[..]].concat();
            let (from, to) = (locals(abstract_op), locals(&self.model.operations[at]));
            let mut kept = vec![];
            let mut lost: Vec<Expr> = lacking[above].clone();
            lost.iter_mut().for_each(|part| rename(part, &from, &to));
            if let StmtKind::Pre(p, _) = &abstract_op.body.kind {
                for part in p.conjuncts() {
                    let mut part = part.clone();
                    rename(&mut part, &from, &to);
                    if view.sees(&part) { kept.push(part) } else { lost.push(part) }
                }
            }
            lacking[at] = lost;
            let op = &mut self.model.operations[at];
            let span = op.body.span;
            let mut body = std::mem::take(&mut op.body);
            if let Stmt { kind: StmtKind::Pre(p, inner), .. } = body {
                kept.push(p);
                body = *inner;
            }
            op.body = match conjunction(kept, span) {
                Some(p) => Stmt { kind: StmtKind::Pre(p, Box::new(body)), span },
                None => body,
            };
        }
        lacking
    }

    /// Lists what was left out, with a warning for each.
    fn report_left_out(&mut self, left: Vec<(Left, Option<OpId>, Expr)>) {
        for (what, operation, e) in left {
            name_elements(&e, &mut self.model.named_above);
            let text = raise::text(&e, &self.model);
            let item = LeftOut { what, span: e.span, text, operation };
            self.diags.push(item.warning(&self.model));
            self.model.left_out.push(item);
        }
    }

    /// What is executed cannot speak of abstract variables.
    fn refuse_abstract(&mut self, composed: &Composed, view: View) {
        let mut blind = vec![];
        for (op, def) in self.model.operations.iter().zip(&composed.operations) {
            if let Some(found) = first_abstract(&op.body, view) {
                let help = match composed.instances[def.instance].is_abstract {
                    true => Some(format!("`{}` is inherited from the abstraction: refine it", op.name)),
                    false => None,
                };
                blind.push((found, help));
            }
        }
        blind.extend(first_abstract(&self.model.initialisation, view).map(|found| (found, None)));
        for ((span, what), help) in blind {
            let message = match what {
                Abstract::Variable(v) => {
                    let name = &self.model.variables[v.index()].name;
                    format!("`{name}` is a variable of the abstraction, which the refinement does not have")
                }
                Abstract::Operation => "this operation is the abstraction's; the refinement has none".into(),
            };
            let diag = Diagnostic::error("B0216", span, message);
            self.diags.push(match help {
                Some(help) => diag.help(help),
                None => diag,
            });
        }
    }
}

/// How much of the composed machines is the refinement's: what comes behind is only refined.
#[derive(Clone, Copy)]
struct View {
    variables: usize,
    operations: usize,
}

impl View {
    fn lacks(self, v: VarId) -> bool {
        v.index() >= self.variables
    }

    fn sees(self, e: &Expr) -> bool {
        !e.any(&|e| matches!(e.kind, ExprKind::Var(v) | ExprKind::Old(v) if self.lacks(v)))
    }
}

/// Takes out of the loop invariants and ASSERTs, which may speak of abstract variables, what does.
fn leave_out(s: &mut Stmt, view: View, op: Option<OpId>, left: &mut Vec<(Left, Option<OpId>, Expr)>) {
    let (what, p) = match &mut s.kind {
        StmtKind::While { invariant, .. } => (Left::LoopInvariant, Some(invariant)),
        StmtKind::Assert(p, _) => (Left::Assert, Some(p)),
        _ => (Left::Assert, None),
    };
    if let Some(p) = p.filter(|p| !view.sees(p)) {
        let (seen, unseen): (Vec<&Expr>, Vec<&Expr>) = p.conjuncts().into_iter().partition(|e| view.sees(e));
        left.extend(unseen.into_iter().map(|e| (what, op, e.clone())));
        let nothing = || Expr { kind: ExprKind::Lit(Lit::BTrue), ty: Type::Pred, span: p.span };
        let rest = conjunction(seen.into_iter().cloned().collect(), p.span);
        *p = rest.unwrap_or_else(nothing);
    }
    s.for_each_child_mut(&mut |c| leave_out(c, view, op, left));
}

/// Adds the elements of given sets that an expression names.
pub(super) fn name_elements(e: &Expr, named: &mut BTreeSet<(SetId, u32)>) {
    e.for_each_part(&mut |part| {
        if let ExprKind::Elem(set, i) = part.kind {
            named.insert((set, i));
        }
    });
}

pub(super) fn name_elements_of(s: &Stmt, named: &mut BTreeSet<(SetId, u32)>) {
    s.for_each_expr(&mut |e| name_elements(e, named));
    s.for_each_child(&mut |c| name_elements_of(c, named));
}

/// How many abstractions are above an operation.
fn depth(composed: &Composed, mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(above) = composed.operations[at].refines {
        depth += 1;
        at = above;
    }
    depth
}

fn rename(e: &mut Expr, from: &[LocalId], to: &[LocalId]) {
    if let ExprKind::Local(l) = &mut e.kind
        && let Some(i) = from.iter().position(|f| f == l)
        && let Some(new) = to.get(i)
    {
        *l = *new;
    }
    e.for_each_child_mut(&mut |c| rename(c, from, to));
}

/// What a statement may not use.
enum Abstract {
    Variable(VarId),
    Operation,
}

/// The first use of an abstract variable or operation, if there is one.
fn first_abstract(s: &Stmt, view: View) -> Option<(Span, Abstract)> {
    let written = |l: &Lhs| match l.target {
        Target::Var(v) if view.lacks(v) => Some((l.span, Abstract::Variable(v))),
        _ => None,
    };
    let mut found = match &s.kind {
        StmtKind::Assign(pairs) => pairs.iter().find_map(|(l, _)| written(l)),
        StmtKind::BecomesElement(lhs, _) => lhs.iter().find_map(written),
        StmtKind::BecomesSuch { targets, .. } => targets.iter().find_map(|t| match t {
            Target::Var(v) if view.lacks(*v) => Some((s.span, Abstract::Variable(*v))),
            _ => None,
        }),
        StmtKind::Call { op, .. } if op.index() >= view.operations => Some((s.span, Abstract::Operation)),
        StmtKind::Call { results, .. } => results.iter().find_map(written),
        _ => None,
    };
    s.for_each_expr(&mut |e| {
        e.for_each_part(&mut |part| match part.kind {
            ExprKind::Var(v) | ExprKind::Old(v) if found.is_none() && view.lacks(v) => {
                found = Some((part.span, Abstract::Variable(v)));
            }
            _ => {}
        });
    });
    s.for_each_child(&mut |c| {
        if found.is_none() {
            found = first_abstract(c, view);
        }
    });
    found
}
