//! From what the search found to a path: a shortest way to it, and a short loop with everything that it must contain.

use super::component::Part;
use super::fairness::Goal;
use super::lasso::{Lasso, Taken};
use super::product::{EdgeId, NodeId, Product};
use super::search::Refuting;
use super::structure::{StateId, Structure};
use super::tableau::{NeedId, Tableau};
use super::work::Work;
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
pub fn lasso<S: Structure>(product: &mut Product<S>, initial: &[StateId], found: &Refuting) -> Option<Lasso> {
    let mut starts = vec![];
    for s in initial {
        let Some(list) = product.atoms(*s, Tableau::FIRST) else { continue };
        let atoms = product.tableau.list(list).to_vec();
        starts.extend(atoms.iter().filter_map(|a| product.find(*s, *a)));
    }
    let path = match found {
        Refuting::Deadlock => {
            let (start, way) = shortest(product, &starts, None, &mut |p, _, n| p.is_deadlock(n))?;
            Path { start, way, stem: None }
        }
        Refuting::Component(part, goal) => {
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
    let mut came: Came = Came::default();
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
                let (start, mut way) = way_to(&came, node);
                way.push((edge, target));
                return Some((start, way));
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

/// Nodes that [`nearer`] starts from, and nodes that it looks at from each.
const STARTS: usize = 2_000;
const AROUND: usize = 100;

/// A counterexample of fewer states near the beginning, if there is one that is easily found: breadth first to a
/// deadlock, or to a node with a short loop that is self-fulfilling. The search follows depth first whatever comes first,
/// so what it finds may be far away. Only where acceptance alone decides. When the work is spent, the best so far counts.
pub fn nearer<S: Structure>(
    product: &mut Product<S>,
    initial: &[StateId],
    than: usize,
    work: &mut Work,
) -> Option<Lasso> {
    let accept = product.premise.ways.iter().find(|w| w.is_plain())?.accept;
    let mut came: Came = Came::default();
    let mut queue: VecDeque<(NodeId, usize)> = VecDeque::new();
    let mut around = vec![];
    for s in initial {
        all_nodes(product, *s, Tableau::FIRST, &mut around);
        for n in around.drain(..) {
            if came.insert(n, None).is_none() {
                queue.push_back((n, 0));
            }
        }
    }
    let mut best: Option<Path> = None;
    let mut length = than;
    while let Some((node, depth)) = queue.pop_front() {
        // A path of this many states before the loop, which has at least one more step.
        if depth + 1 >= length || work.is_spent() {
            break;
        }
        if product.is_deadlock(node) {
            let (start, way) = way_to(&came, node);
            return Some(to_lasso(product, &Path { start, way, stem: None }));
        }
        if let Some(round) = short_loop(product, node, accept, length - depth, work) {
            length = depth + round.len();
            let (start, mut way) = way_to(&came, node);
            let stem = Some(way.len());
            way.extend(round);
            best = Some(Path { start, way, stem });
        }
        if came.len() < STARTS {
            for (edge, target) in all_edges(product, node, work) {
                came.entry(target).or_insert_with(|| {
                    queue.push_back((target, depth + 1));
                    Some((node, edge))
                });
            }
        }
    }
    best.map(|path| to_lasso(product, &path))
}

/// A shortest loop of fewer steps than this, if it gives all this acceptance.
fn short_loop<S: Structure>(
    product: &mut Product<S>,
    node: NodeId,
    accept: u64,
    than: usize,
    work: &mut Work,
) -> Option<Way> {
    let mut came: Came = Came::default();
    came.insert(node, None);
    let mut queue = VecDeque::from([(node, 0)]);
    while let Some((at, depth)) = queue.pop_front() {
        if depth + 1 >= than || work.is_spent() {
            return None;
        }
        for (edge, target) in all_edges(product, at, work) {
            if target == node {
                let (_, mut way) = way_to(&came, at);
                way.push((edge, target));
                let given = way.iter().fold(0, |all, (e, n)| all | product.takes(*e) | product.gives(*n));
                return (given & accept == accept).then_some(way);
            }
            if came.len() < AROUND {
                came.entry(target).or_insert_with(|| {
                    queue.push_back((target, depth + 1));
                    Some((at, edge))
                });
            }
        }
    }
    None
}

/// How nodes were reached.
type Came = HashMap<NodeId, Option<(NodeId, EdgeId)>, foldhash::fast::FixedState>;

fn way_to(came: &Came, node: NodeId) -> (NodeId, Way) {
    let mut way = vec![];
    let mut at = node;
    while let Some(Some((from, by))) = came.get(&at) {
        way.push((*by, at));
        at = *from;
    }
    way.reverse();
    (at, way)
}

/// The nodes of a state that fulfil a need; expands it.
fn all_nodes<S: Structure>(product: &mut Product<S>, s: StateId, need: NeedId, out: &mut Vec<NodeId>) {
    let Some(list) = product.atoms(s, need) else { return };
    for i in 0..product.tableau.list(list).len() {
        let atom = product.tableau.list(list)[i];
        out.push(product.node(s, atom).0);
    }
}

/// What a new state and a new edge cost, in edges that are known already: they are evaluated.
const EXPANDING: usize = 100;
const EVALUATING: usize = 20;

/// All edges of a node; expands their targets, as long as there is work left.
fn all_edges<S: Structure>(product: &mut Product<S>, node: NodeId, work: &mut Work) -> Way {
    let (first, last) = product.edges(node);
    let need = product.need(node);
    let mut found = vec![];
    let mut nodes = vec![];
    for edge in first..last {
        if product.allows(node, edge) && !work.is_spent() {
            let before = (product.expanded, product.edge_count());
            all_nodes(product, product.target(edge), need, &mut nodes);
            let (states, edges) = (product.expanded - before.0, product.edge_count() - before.1);
            work.spend(nodes.len().max(1) + states * EXPANDING + edges * EVALUATING);
            found.extend(nodes.drain(..).map(|n| (edge, n)));
        }
    }
    found
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
