//! A process as what can be seen of it: the states in which it may be after a trace, as one.

use crate::process::{Label, Processes};
use crate::value::{Fault, NodeId, Res};
use kanon_language::lang::diag::NOWHERE;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

/// A state of a [`Normal`].
pub type View = usize;

/// What a process may refuse after a trace, the other way round: what it may offer, nothing beside it.
pub type Offer = Arc<[Label]>;

struct Seen {
    /// It may go on in silence for ever.
    diverges: bool,
    /// The smallest offers.
    offers: Vec<Offer>,
    targets: BTreeMap<Label, Vec<NodeId>>,
    next: HashMap<Label, Option<View>>,
}

/// Made as far as somebody looks.
#[derive(Default)]
pub struct Normal {
    views: Vec<Seen>,
    index: HashMap<Arc<[NodeId]>, View>,
    /// How many states all views have, and may have.
    size: usize,
    most: usize,
}

impl Normal {
    pub fn new(most: usize) -> Normal {
        Normal { most, ..Normal::default() }
    }

    /// The view of a process before it has done anything.
    ///
    /// # Errors
    /// It cannot be computed.
    pub fn first(&mut self, processes: &mut Processes, node: NodeId) -> Res<View> {
        let node = processes.state(node)?;
        self.view(processes, vec![node])
    }

    pub fn diverges(&self, view: View) -> bool {
        self.views[view].diverges
    }

    pub fn offers(&self, view: View) -> &[Offer] {
        &self.views[view].offers
    }

    pub fn labels(&self, view: View) -> Vec<Label> {
        self.views[view].targets.keys().copied().collect()
    }

    /// The view after one more event; none if it cannot be.
    ///
    /// # Errors
    /// It cannot be computed.
    pub fn after(&mut self, processes: &mut Processes, view: View, label: Label) -> Res<Option<View>> {
        if let Some(known) = self.views[view].next.get(&label) {
            return Ok(*known);
        }
        let next = match self.views[view].targets.get(&label).cloned() {
            Some(targets) => Some(self.view(processes, targets)?),
            None => None,
        };
        self.views[view].next.insert(label, next);
        Ok(next)
    }

    fn view(&mut self, processes: &mut Processes, from: Vec<NodeId>) -> Res<View> {
        let mut all: BTreeSet<NodeId> = BTreeSet::new();
        let mut open = from;
        let mut steps = vec![];
        while let Some(state) = open.pop() {
            if !all.insert(state) {
                continue;
            }
            if self.size + all.len() > self.most {
                return Fault::limit(NOWHERE, format!("a specification has more than {} states", self.most));
            }
            let found = processes.transitions(state)?;
            open.extend(found.iter().filter(|(l, _)| *l == Label::Tau).map(|(_, t)| *t));
            steps.push((state, found));
        }
        let states: Arc<[NodeId]> = all.into_iter().collect();
        if let Some(known) = self.index.get(&states) {
            return Ok(*known);
        }
        let mut targets: BTreeMap<Label, Vec<NodeId>> = BTreeMap::new();
        let mut offers: BTreeSet<Vec<Label>> = BTreeSet::new();
        let mut silent: Vec<(NodeId, Vec<NodeId>)> = vec![];
        for (state, found) in &steps {
            let taus: Vec<NodeId> = found.iter().filter(|(l, _)| *l == Label::Tau).map(|(_, t)| *t).collect();
            for (label, target) in found.iter().filter(|(l, _)| *l != Label::Tau) {
                targets.entry(*label).or_default().push(*target);
            }
            offers.extend(offer(found));
            silent.push((*state, taus));
        }
        let smallest: Vec<Offer> = offers
            .iter()
            .filter(|o| !offers.iter().any(|p| p.len() < o.len() && p.iter().all(|l| o.contains(l))))
            .map(|o| o.clone().into())
            .collect();
        for all in targets.values_mut() {
            all.sort_unstable();
            all.dedup();
        }
        let diverges = !circles(&silent).is_empty();
        let view = self.views.len();
        self.size += states.len();
        self.index.insert(states, view);
        self.views.push(Seen { diverges, offers: smallest, targets, next: HashMap::new() });
        Ok(view)
    }
}

/// What a state offers when it offers nothing else: all it does, if it is stable; termination alone, if it can
/// terminate, since nobody can keep it from that.
pub fn offer(steps: &[(Label, NodeId)]) -> Option<Vec<Label>> {
    if steps.iter().any(|(l, _)| *l == Label::Tick) {
        return Some(vec![Label::Tick]);
    }
    if steps.iter().any(|(l, _)| *l == Label::Tau) {
        return None;
    }
    let mut all: Vec<Label> = steps.iter().map(|(l, _)| *l).collect();
    all.dedup();
    Some(all)
}

/// Which of these lie on a circle, or lead to one: what is left when everything is taken away that leads nowhere else.
/// Edges lead to others of the list only.
pub fn circles<N: Copy + Eq + Hash>(edges: &[(N, Vec<N>)]) -> Vec<N> {
    let mut left: HashMap<N, usize> = edges.iter().map(|(n, to)| (*n, to.len())).collect();
    let mut into: HashMap<N, Vec<N>> = HashMap::new();
    for (from, all) in edges {
        for to in all {
            into.entry(*to).or_default().push(*from);
        }
    }
    let mut done: Vec<N> = edges.iter().filter(|(_, to)| to.is_empty()).map(|(n, _)| *n).collect();
    while let Some(n) = done.pop() {
        for from in into.get(&n).into_iter().flatten() {
            if let Some(count) = left.get_mut(from) {
                *count -= 1;
                if *count == 0 {
                    done.push(*from);
                }
            }
        }
    }
    edges.iter().filter(|(n, _)| left.get(n).is_some_and(|count| *count > 0)).map(|(n, _)| *n).collect()
}
