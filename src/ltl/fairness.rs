//! Fairness inside the component search.
//!
//! One disjunct of a premise at a time ([`super::premise`]). Weak fairness is an
//! acceptance condition like that of an until-formula: in the component there is a state that does not enable the
//! step, or an edge that takes it. Strong fairness is a Streett condition: if a component enables a step that none of
//! its edges takes, no fair path stays in it and visits these states again and again, so they are removed and what is
//! left is taken apart anew. `WEF` and `SEF` do the same for every instance that occurs.

use super::component::{Part, components};
pub use super::premise::Way;
use super::product::{NodeId, Product};
use super::structure::Structure;
use std::collections::{HashMap, HashSet};

/// What a loop must contain to be fair and self-fulfilling.
#[derive(Clone, Debug, Default)]
pub struct Goal {
    pub accept: u64,
    pub weak_all: bool,
    /// Instances that must be taken.
    pub taken: Vec<u32>,
}

/// A part of a component that fulfils a way of the premise, and what a loop in it must contain.
pub fn fair_part<S: Structure>(
    product: &mut Product<S>,
    component: &[NodeId],
    way: Way,
) -> Option<(Part, Goal)> {
    let mut open = vec![component.to_vec()];
    while let Some(nodes) = open.pop() {
        for part in components(product, &nodes) {
            match judge(product, &part, way) {
                Judgement::Fair(goal) => return Some((part, goal)),
                Judgement::Hopeless => {}
                Judgement::Without(rest) => open.push(rest),
            }
        }
    }
    None
}

enum Judgement {
    Fair(Goal),
    /// Not self-fulfilling, or not weakly fair: no part of it is either.
    Hopeless,
    /// These states are left when those with an unfair step are removed.
    Without(Vec<NodeId>),
}

fn judge<S: Structure>(product: &mut Product<S>, part: &Part, way: Way) -> Judgement {
    let mut accept = 0;
    let mut enabled = 0;
    let mut taken: HashSet<u32> = HashSet::new();
    let mut inside = vec![];
    for node in &part.nodes {
        accept |= product.gives(*node);
        enabled |= product.strong(*node);
        product.edges_within(*node, part.mark, &mut inside);
        for (edge, _) in inside.drain(..) {
            accept |= product.takes(edge);
            if way.weak_all || way.strong_all {
                taken.insert(product.instance(edge));
            }
        }
    }
    if accept & way.accept != way.accept {
        return Judgement::Hopeless;
    }
    let unfair = enabled & way.strong & !accept;
    let mut goal = Goal { accept: way.accept | way.strong & enabled, ..Goal::default() };
    let mut bad: HashSet<u32> = HashSet::new();
    if way.weak_all || way.strong_all {
        // In how many states each instance is enabled.
        let mut count: HashMap<u32, usize> = HashMap::new();
        for node in &part.nodes {
            let here: HashSet<u32> = product.instances_at(*node).collect();
            for i in here {
                *count.entry(i).or_default() += 1;
            }
        }
        let always = |(i, n): (&u32, &usize)| *n == part.nodes.len() && !taken.contains(i);
        if way.weak_all && count.iter().any(always) {
            return Judgement::Hopeless;
        }
        goal.weak_all = way.weak_all;
        if way.strong_all {
            bad = count.keys().filter(|i| !taken.contains(i)).copied().collect();
            goal.taken = count.into_keys().collect();
            goal.taken.sort_unstable();
        }
    }
    if unfair == 0 && bad.is_empty() {
        return Judgement::Fair(goal);
    }
    let fine =
        |n: &NodeId| product.strong(*n) & unfair == 0 && !product.instances_at(*n).any(|i| bad.contains(&i));
    Judgement::Without(part.nodes.iter().copied().filter(fine).collect())
}
