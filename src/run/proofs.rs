//! What the model's file says about proofs, and what an answer has to say about it.

use super::answer::Counterexample;
use crate::explore::{Finding, FindingKind};
use crate::model::Model;
use crate::verdict::Verdict;

/// The names of obligations, by their places in the model's list.
pub fn names(model: &Model, obligations: &[usize]) -> Vec<String> {
    let mut names: Vec<String> =
        obligations.iter().filter_map(|i| Some(model.obligations.get(*i)?.name())).collect();
    names.sort();
    names.dedup();
    names
}

/// What became of `--proof-info`.
pub fn note(relies: bool, used: usize, model: &Model) -> Option<String> {
    match (relies, used) {
        (false, _) => Some("everything was evaluated, also what the file says is proved (`--audit`)".into()),
        (true, 0) if model.kept.is_empty() => {
            Some("the file has no proofs about events and invariants: everything was evaluated".into())
        }
        (true, 0) => None,
        (true, 1) => Some("this rests on a proof obligation that the file says is discharged".into()),
        (true, n) => Some(format!("this rests on {n} proof obligations that the file says are discharged")),
    }
}

/// The proof that a counterexample refutes.
pub fn refuted(model: &Model, verdict: &Verdict<Finding>, found: &Counterexample) -> Option<String> {
    let Verdict::Fails(Finding { kind: FindingKind::Invariant(i), .. }) = verdict else { return None };
    let (conjunct, event) = (model.invariant.get(*i)?, found.trace.steps.last()?.name(model));
    let mut facts = model.kept.iter();
    let fact = facts.find(|k| &*k.event == event && k.invariant.contains(conjunct.span))?;
    let names = names(model, &fact.by).join(", ");
    Some(format!("the file says that this cannot happen: {names} is discharged there"))
}
