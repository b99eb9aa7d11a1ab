//! Sequences as plain values: functions from 1..n.

use super::Value;
use super::fault::{Fault, Res, WdKind};
use std::collections::BTreeSet;

/// The arguments do not have their types: our bug, reported rather than hidden.
pub(super) fn ill_typed() -> Box<Fault> {
    Fault::limit("ill-typed arguments of an external function")
}

pub(super) fn sequence(items: impl IntoIterator<Item = Value>) -> Value {
    Value::set(items.into_iter().enumerate().map(|(i, v)| Value::pair(Value::int(i + 1), v)))
}

/// The items of a sequence.
pub(super) fn items(set: &BTreeSet<Value>) -> Res<Vec<Value>> {
    let at = |(i, pair): (usize, &Value)| match pair {
        Value::Pair(p) if p.0 == Value::int(i + 1) => Some(p.1.clone()),
        _ => None,
    };
    let items: Option<Vec<Value>> = set.iter().enumerate().map(at).collect();
    items.ok_or_else(|| Fault::wd(WdKind::NotASequence))
}
