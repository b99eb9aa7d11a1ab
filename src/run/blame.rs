//! Who is to blame when PROPERTIES have no solution or INITIALISATION has no outcome.

use super::deadline::Deadline;
use super::notes;
use crate::eval::compile::Compiler;
use crate::eval::node::{Env, Slot};
use crate::lang::diag::{Diagnostic, Span};
use crate::model::open::Opened;
use crate::model::{Expr, ExprKind};
use crate::value::fault::Res;
use std::time::Duration;

/// How long a culprit is looked for.
const BUDGET: Duration = Duration::from_secs(2);

/// There is no valuation of the constants: names a conjunct that is false by itself, or those without any one of
/// which there would be a valuation.
pub fn properties(opened: &Opened) -> Diagnostic {
    let all: Vec<&Expr> = opened.model.properties.iter().collect();
    let stop = Deadline::after(Some(BUDGET));
    let names_constant = |e: &Expr| e.any(&|x| matches!(x.kind, ExprKind::Const(_)));
    let closed = all.iter().find(|e| !names_constant(e) && satisfiable(opened, &[e], &stop) == Ok(false));
    let alone = || {
        let alone = |e: &&&Expr| satisfiable(opened, &[e], &stop) == Ok(false);
        all.iter().take_while(|_| !stop.is_set()).find(alone)
    };
    let found = match closed.or_else(alone) {
        Some(e) => Diagnostic::error("B0413", e.span, "PROPERTIES cannot be satisfied: this is false"),
        None => among(opened, &all, &stop),
    };
    match notes::without_constants(opened) {
        Some(sizes) => found.help(sizes),
        None => found,
    }
}

/// The same by a solver's word, which may know a conjunct that is false by itself.
pub fn unsatisfiable(opened: &Opened, culprit: Option<Span>) -> Diagnostic {
    let word = "this was decided by a solver, for all values that the constants may have at these sizes";
    let word = match notes::without_constants(opened) {
        Some(sizes) => format!("{word}; {sizes}"),
        None => word.to_string(),
    };
    let all = opened.model.properties.iter().map(|e| e.span).reduce(Span::to).unwrap_or_default();
    match culprit {
        Some(span) => {
            Diagnostic::error("B0413", span, "PROPERTIES cannot be satisfied: this is false").help(word)
        }
        None => {
            let message = "PROPERTIES cannot be satisfied: no valuation of the constants fulfils them";
            Diagnostic::error("B0413", all, message).help(word)
        }
    }
}

fn among(opened: &Opened, all: &[&Expr], stop: &Deadline) -> Diagnostic {
    let mut culprits = vec![];
    for i in 0..all.len() {
        let mut rest = all.to_vec();
        rest.remove(i);
        if satisfiable(opened, &rest, stop) == Ok(true) {
            culprits.push(all[i].span);
        }
        if stop.is_set() || culprits.len() == 4 {
            break;
        }
    }
    let span = all.iter().map(|e| e.span).reduce(Span::to).unwrap_or_default();
    let message = "PROPERTIES cannot be satisfied";
    match culprits.split_first() {
        Some((first, more)) => {
            let message = format!("{message}: without this conjunct there would be a solution");
            more.iter()
                .fold(Diagnostic::error("B0413", *first, message), |d, s| d.note(*s, "also without this one"))
        }
        None => {
            Diagnostic::error("B0413", span, format!("{message}: no valuation of the constants fulfils them"))
        }
    }
}

/// Whether these conjuncts have a solution.
fn satisfiable(opened: &Opened, conjuncts: &[&Expr], stop: &Deadline) -> Res<bool> {
    let mut compiler = Compiler::new(&opened.model, &opened.scope);
    let unknown: Vec<Slot> = (0..opened.model.constants.len() as Slot).collect();
    let plan = compiler.plan(&unknown, conjuncts);
    let mut env = Env::new(compiler.slots.len());
    env.stop = Some(stop.flag.clone());
    plan.exists(&mut env)
}

/// No valuation of the constants has an initial state.
pub fn initialisation(opened: &Opened) -> Diagnostic {
    let span = opened.model.initialisation.span;
    Diagnostic::error("B0414", span, "INITIALISATION has no outcome: there is no initial state")
        .help("a choice from the empty set, or a condition that nothing fulfils, has no outcome")
}

/// A variable that INITIALISATION leaves without a value.
pub fn unassigned(opened: &Opened, variable: usize) -> Diagnostic {
    let decl = &opened.model.variables[variable];
    let message = format!("INITIALISATION does not give `{}` a value", decl.name);
    Diagnostic::error("B0415", opened.model.initialisation.span, message).note(decl.span, "declared here")
}
