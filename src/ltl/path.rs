//! From what the search found to a path: a shortest way to it, and a short loop with everything that it must contain.

use super::component::Part;
use super::fairness::Goal;
use super::lasso::{Lasso, Taken};
use super::product::{EdgeId, NodeId, Product};
use super::search::Found;
use super::structure::{StateId, Structure};
use super::tableau::Tableau;
use std::collections::{HashMap, VecDeque};

type Way = Vec<(EdgeId, NodeId)>;
/// Whether a node is looked for, perhaps because of the edge to it.
type Wanted<'a, 's, S> = &'a mut dyn FnMut(&Product<'s, S>, Option<EdgeId>, NodeId) -> bool;

/// A path of nodes: where it starts, and the edges with the nodes they lead to.
struct Path {
    start: NodeId,
    way: Way,
    /// The number of edges before the loop.
    stem: Option<usize>,
}

/// The counterexample that was found. `None` cannot happen if the search is right.
pub fn lasso<S: Structure>(product: &mut Product<S>, initial: &[StateId], found: &Found) -> Option<Lasso> {
    let mut starts = vec![];
    for s in initial {
        let Some(list) = product.atoms(*s, Tableau::FIRST) else { continue };
        let atoms = product.tableau.list(list).to_vec();
        starts.extend(atoms.iter().filter_map(|a| product.find(*s, *a)));
    }
    let path = match found {
        Found::Deadlock => {
            let (start, way) = shortest(product, &starts, None, &mut |p, _, n| p.is_deadlock(n))?;
            Path { start, way, stem: None }
        }
        Found::Component(part, goal) => {
            let (start, mut way) = shortest(product, &starts, None, &mut |p, _, n| p.has_mark(n, part.mark))?;
            let entry = way.last().map_or(start, |(_, n)| *n);
            let stem = Some(way.len());
            way.extend(loop_at(product, entry, part, goal)?);
            Path { start, way, stem }
        }
    };
    Some(to_lasso(product, &path))
}

/// Breadth first from the starts to a node (reached by an edge, or a start itself) that is wanted; within a part if
/// one is given.
fn shortest<'s, S: Structure>(
    product: &mut Product<'s, S>,
    starts: &[NodeId],
    within: Option<&Part>,
    wanted: Wanted<'_, 's, S>,
) -> Option<(NodeId, Way)> {
    let mut came: HashMap<NodeId, Option<(NodeId, EdgeId)>, foldhash::fast::FixedState> = HashMap::default();
    let mut queue = VecDeque::new();
    for s in starts {
        if wanted(product, None, *s) {
            return Some((*s, vec![]));
        }
        if came.insert(*s, None).is_none() {
            queue.push_back(*s);
        }
    }
    let mut edges = vec![];
    while let Some(node) = queue.pop_front() {
        edges.clear();
        match within {
            Some(part) => product.edges_within(node, part.mark, &mut edges),
            None => product.known_edges(node, &mut edges),
        }
        for (edge, target) in edges.drain(..) {
            if wanted(product, Some(edge), target) {
                let mut way = vec![(edge, target)];
                let mut at = node;
                while let Some(Some((from, by))) = came.get(&at) {
                    way.push((*by, at));
                    at = *from;
                }
                way.reverse();
                return Some((at, way));
            }
            came.entry(target).or_insert_with(|| {
                queue.push_back(target);
                Some((node, edge))
            });
        }
    }
    None
}

/// A loop from a node of a part back to it. What is still missing is looked for one after the other, the nearest
/// first.
fn loop_at<S: Structure>(product: &mut Product<S>, entry: NodeId, part: &Part, goal: &Goal) -> Option<Way> {
    let mut missing = Missing {
        accept: goal.accept & !product.gives(entry),
        taken: goal.taken.clone(),
        // What the first state does not enable is fulfilled by the loop that comes back to it.
        weak: if goal.weak_all { product.instances_at(entry).collect() } else { vec![] },
    };
    missing.weak.sort_unstable();
    missing.weak.dedup();
    let mut way: Way = vec![];
    while !missing.is_empty() {
        let at = way.last().map_or(entry, |(_, n)| *n);
        let mut helps =
            |p: &Product<S>, e: Option<EdgeId>, n: NodeId| e.is_some_and(|e| missing.helps(p, e, n));
        let (_, more) = shortest(product, &[at], Some(part), &mut helps)?;
        for (edge, node) in &more {
            missing.note(product, *edge, *node);
        }
        way.extend(more);
    }
    let at = way.last().map_or(entry, |(_, n)| *n);
    if at != entry || way.is_empty() {
        let (_, back) = shortest(product, &[at], Some(part), &mut |_, e, n| e.is_some() && n == entry)?;
        way.extend(back);
    }
    Some(way)
}

/// What a loop does not contain yet.
struct Missing {
    accept: u64,
    taken: Vec<u32>,
    weak: Vec<u32>,
}

impl Missing {
    fn is_empty(&self) -> bool {
        self.accept == 0 && self.taken.is_empty() && self.weak.is_empty()
    }

    fn helps<S: Structure>(&self, p: &Product<S>, edge: EdgeId, node: NodeId) -> bool {
        let instance = p.instance(edge);
        (p.gives(node) | p.takes(edge)) & self.accept != 0
            || self.taken.contains(&instance)
            || self.weak.contains(&instance)
            || !self.weak.is_empty() && !self.weak.iter().all(|w| p.instances_at(node).any(|i| i == *w))
    }

    fn note<S: Structure>(&mut self, p: &Product<S>, edge: EdgeId, node: NodeId) {
        let instance = p.instance(edge);
        self.accept &= !(p.gives(node) | p.takes(edge));
        self.taken.retain(|i| *i != instance);
        self.weak.retain(|w| *w != instance && p.instances_at(node).any(|i| i == *w));
    }
}

fn to_lasso<S: Structure>(product: &Product<S>, path: &Path) -> Lasso {
    let mut states = vec![product.state(path.start)];
    let mut steps = vec![];
    for (edge, node) in &path.way {
        steps.push(Taken { props: product.props(*edge), instance: product.instance(*edge) });
        states.push(product.state(*node));
    }
    if path.stem.is_some() {
        // The last state is the first of the loop again.
        states.pop();
    }
    Lasso { states, steps, back: path.stem }
}
