//! What a system says of literals: which comparisons it makes, which numbers it has, what its steps ask for.

use super::init_now;
use crate::term::{Bool, BoolNode, IntNode, Term, Terms, Var};
use crate::transition::Transitions;
use hashbrown::{HashMap, HashSet};
use num_bigint::BigInt;

/// Comparisons of the system that are literals of cubes: not more than this.
const MOST_ATOMS: usize = 256;

/// The conjuncts of a step that say nothing about `next`.
pub(super) fn guard(terms: &mut Terms, step: Bool, next: &HashSet<Var>) -> Bool {
    let parts = match terms.bool_node(step) {
        BoolNode::And(parts) if !step.is_negated() => parts.clone(),
        _ => vec![step],
    };
    let now: Vec<Bool> = parts
        .into_iter()
        .filter(|&p| !terms.variables(&[p.into()]).iter().any(|v| next.contains(v)))
        .collect();
    terms.and(now)
}

/// The comparisons of integers in the system that are about `now` and rigid variables only.
pub(super) fn atoms(terms: &mut Terms, system: &Transitions) -> Vec<Bool> {
    let init = init_now(terms, system);
    let mut roots: Vec<Term> = system.properties.iter().map(|p| p.is_bad.into()).collect();
    roots.push(init.into());
    roots.extend(system.events.iter().flat_map(|e| [Term::from(e.step), e.is_undefined.into()]));
    let mut known: HashSet<Var> = system.cells.iter().map(|c| c.now).collect();
    known.extend(system.rigid.iter().copied());
    // Whether a term is about nothing else, children first.
    let mut is_now: HashMap<Term, bool> = HashMap::new();
    let mut atoms = vec![];
    for t in terms.children_first(&roots, |_| false) {
        let mut all = match variable(terms, t) {
            Some(v) => known.contains(&v),
            None => true,
        };
        terms.for_each_child(t, |child| all &= is_now.get(&child).copied().unwrap_or(true));
        is_now.insert(t, all);
        if let Term::Bool(b) = t
            && all
            && matches!(terms.bool_node(b), BoolNode::Le(..) | BoolNode::Eq(..))
            && atoms.len() < MOST_ATOMS
        {
            atoms.push(b);
        }
    }
    atoms
}

/// The numbers of a system and those next to them, in order.
pub(super) fn thresholds(terms: &Terms, system: &Transitions) -> Vec<BigInt> {
    let mut roots: Vec<Term> = system.properties.iter().map(|p| p.is_bad.into()).collect();
    roots.extend([Term::from(system.init), system.axioms.into()]);
    roots.extend(system.events.iter().map(|e| Term::from(e.step)));
    let mut all = std::collections::BTreeSet::new();
    for t in terms.children_first(&roots, |_| false) {
        if let Term::Int(i) = t
            && let IntNode::Const(c) = terms.int_node(i)
            && all.len() < MOST_ATOMS
        {
            all.extend([c - 1, c.clone(), c + 1]);
        }
    }
    all.into_iter().collect()
}

fn variable(terms: &Terms, t: Term) -> Option<Var> {
    match t {
        Term::Bool(b) => match terms.bool_node(b) {
            BoolNode::Var(v) => Some(Var::Bool(*v)),
            _ => None,
        },
        Term::Int(i) => match terms.int_node(i) {
            IntNode::Var(v) => Some(Var::Int(*v)),
            _ => None,
        },
    }
}
