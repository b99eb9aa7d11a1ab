//! Which constants ProB makes elements of a deferred set before it looks for valuations: as many as PROPERTIES say to
//! differ from each other, in forms that were found by asking it. What becomes of the other valuations is the business of
//! whoever uses this: they are mirror images of those that are left where nothing else names or sees an element.

use super::scope::{Scope, different};
use super::{BinOp, ConstId, Expr, ExprKind as E, Model, SetId, Type};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Pairs of constants that differ, both ways round.
pub type Pairs = HashSet<(ConstId, ConstId)>;

/// The deferred sets with the constants that are made elements of them.
pub fn fixed(model: &Model, scope: &Scope) -> Vec<(SetId, Vec<ConstId>)> {
    let mut differ = different(model, &scope.minint, &scope.maxint);
    for p in &model.properties {
        listed(p, scope, &mut differ);
    }
    let mut all = vec![];
    for (i, given) in model.sets.iter().enumerate() {
        let set = SetId(i as u32);
        if given.elements.is_some() {
            continue;
        }
        let of_set = |(_, d): &(u32, &super::Decl)| d.ty == Type::Given(set);
        let constants: Vec<ConstId> =
            (0..).zip(&model.constants).filter(of_set).map(|(c, _)| ConstId(c)).collect();
        let pairs = differ.remove(&set).unwrap_or_default();
        let mut clique = clique(&constants, &pairs);
        clique.truncate(usize::try_from(scope.size(set)).unwrap_or(usize::MAX));
        if !clique.is_empty() {
            all.push((set, clique));
        }
    }
    all
}

/// `S = {a, b} \/ {c}` where S has three elements: then the three differ.
fn listed(p: &Expr, scope: &Scope, differ: &mut HashMap<SetId, Pairs>) {
    fn members(e: &Expr, out: &mut BTreeSet<ConstId>) -> bool {
        match &e.kind {
            E::SetExt(items) => items.iter().all(|i| match i.kind {
                E::Const(c) => {
                    out.insert(c);
                    true
                }
                _ => false,
            }),
            E::Binary(BinOp::Union, a, b) => members(a, out) && members(b, out),
            _ => false,
        }
    }
    match &p.kind {
        E::Binary(BinOp::And, a, b) => {
            listed(a, scope, differ);
            listed(b, scope, differ);
        }
        E::Binary(BinOp::Eq, a, b) => {
            for (x, e) in [(a, b), (b, a)] {
                let mut found = BTreeSet::new();
                if let E::Given(set) = x.kind
                    && members(e, &mut found)
                    && found.len() as u64 == scope.size(set)
                {
                    let pairs = found.iter().flat_map(|x| found.iter().map(|y| (*x, *y)));
                    differ.entry(set).or_default().extend(pairs.filter(|(x, y)| x != y));
                }
            }
        }
        _ => {}
    }
}

/// A largest set of constants that differ from each other, as far as that is found from each constant in turn.
fn clique(constants: &[ConstId], pairs: &Pairs) -> Vec<ConstId> {
    let from = |first: &ConstId| {
        let mut clique = vec![*first];
        for c in constants {
            if clique.iter().all(|d| d != c && pairs.contains(&(*c, *d))) {
                clique.push(*c);
            }
        }
        clique
    };
    let mut best = vec![];
    for found in constants.iter().map(from) {
        if found.len() > best.len() {
            best = found;
        }
    }
    best
}
