//! What a certificate says of a formula that holds: nodes, their components, and why no counterexample stays in each.
//!
//! The search's nodes are pairs of a state and an atom; here they are pairs of a state and what the atom before asks of
//! it, which are fewer and need no word of how atoms are built. They are read off the search's store when it is over, and
//! taken apart into components once more. Nothing is checked: where a component has no reason to be left, it is said that
//! no edge stays in it, and the checker will find the edge that does.

use super::premise::Way;
use super::product::Product;
use super::structure::{StateId, Structure};
use super::tableau::{AtomId, NeedId, Tableau};
use std::collections::{HashMap, HashSet};

pub use super::tableau::Core;

/// Steps that fairness speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fair {
    /// By proposition.
    Step(u32),
    /// By the structure's number of an instance.
    Instance(u32),
}

/// Why no counterexample stays in a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No edge does.
    Left,
    /// This until-formula is never kept.
    Postponed(u32),
    /// Always enabled, never taken.
    Ignored(Fair),
    /// Never taken; what does not enable any of them is taken apart again.
    Starved(Vec<Fair>),
}

/// What is asked of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Formulas and their values.
    pub claims: Vec<(u32, bool)>,
    /// The formulas behind Y that were true in the state before.
    pub past: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub state: StateId,
    /// A place in [`Proved::asked`].
    pub asked: u32,
    /// For every disjunct of the premise its components, from the outermost to the innermost.
    pub components: Vec<Vec<u32>>,
}

#[derive(Clone, Debug, Default)]
pub struct Proved {
    pub formulas: Vec<Core>,
    pub asked: Vec<Asked>,
    /// Edges lead to the same component or to one before it.
    pub components: Vec<Reason>,
    /// By state.
    pub nodes: Vec<Node>,
}

struct Edge {
    to: u32,
    accept: u64,
    instance: u32,
}

struct Graph {
    nodes: Vec<(StateId, NeedId)>,
    edges: Vec<Vec<Edge>>,
    /// Strongly fair steps that the state enables, as acceptance; and all instances.
    strong: Vec<u64>,
    instances: Vec<Vec<u32>>,
}

/// Nodes by state and need. Needs that ask for the same are one: what a path begins with may come again later.
#[derive(Default)]
struct Index {
    nodes: HashMap<(StateId, NeedId), u32>,
    needs: HashMap<NeedId, NeedId>,
    first: HashMap<Asked, NeedId>,
}

/// Reads off the store of a search that has found nothing.
pub fn of<S: Structure>(product: &mut Product<S>, initial: &[StateId]) -> Proved {
    let graph = graph(product, initial);
    let mut proved = Proved { formulas: product.tableau.formulas().to_vec(), ..Proved::default() };
    let ways = product.premise.ways.clone();
    let mut of_ways: Vec<Vec<Vec<u32>>> = vec![];
    for way in &ways {
        let mut numbers = vec![vec![]; graph.nodes.len()];
        number(&graph, product, *way, &mut proved.components, &mut numbers);
        of_ways.push(numbers);
    }
    let mut places: HashMap<NeedId, u32> = HashMap::new();
    for (i, (state, need)) in graph.nodes.iter().enumerate() {
        let next = places.len() as u32;
        let place = *places.entry(*need).or_insert(next);
        if place == next {
            proved.asked.push(asked(product, *need));
        }
        let components = product.premise.disjuncts.iter().map(|w| of_ways[*w][i].clone()).collect();
        proved.nodes.push(Node { state: *state, asked: place, components });
    }
    proved.nodes.sort_by_key(|n| n.state);
    proved
}

/// The nodes that can be reached by what is stored, and the edges between them.
fn graph<S: Structure>(product: &mut Product<S>, initial: &[StateId]) -> Graph {
    let mut g = Graph { nodes: vec![], edges: vec![], strong: vec![], instances: vec![] };
    let mut index = Index::default();
    for s in initial {
        enter(product, &mut g, &mut index, *s, Tableau::FIRST);
    }
    let mut at = 0;
    while let Some((state, need)) = g.nodes.get(at).copied() {
        at += 1;
        let mut edges: Vec<Edge> = vec![];
        let mut strong = 0;
        let mut instances: Vec<u32> = vec![];
        for atom in stored_atoms(product, state, need) {
            let Some(node) = product.find(state, atom) else { continue };
            strong = product.strong(node);
            let (first, last) = product.edges(node);
            let (gives, asked) = (product.gives(node), product.need(node));
            for edge in first..last {
                if !product.allows(node, edge) {
                    continue;
                }
                let target = product.target(edge);
                let to = enter(product, &mut g, &mut index, target, asked);
                let Some(to) = to else { continue };
                let (accept, instance) = (gives | product.takes(edge), product.instance(edge));
                edges.push(Edge { to, accept, instance });
            }
            if product.premise.needs_instances() {
                instances = product.instances_at(node).collect();
                instances.sort_unstable();
                instances.dedup();
            }
        }
        g.edges.push(edges);
        g.strong.push(strong);
        g.instances.push(instances);
    }
    g
}

fn stored_atoms<S: Structure>(product: &mut Product<S>, s: StateId, need: NeedId) -> Vec<AtomId> {
    let Some(kind) = product.known_kind(s) else { return vec![] };
    let list = product.tableau.atoms(kind, need);
    product.tableau.list(list).to_vec()
}

fn asked<S: Structure>(product: &Product<S>, need: NeedId) -> Asked {
    let (claims, past) = product.tableau.asked(need);
    Asked { claims, past }
}

/// The node, unless the search never expanded its state.
fn enter<S: Structure>(
    product: &mut Product<S>,
    g: &mut Graph,
    index: &mut Index,
    s: StateId,
    need: NeedId,
) -> Option<u32> {
    product.known_kind(s)?;
    let Index { nodes, needs, first } = index;
    let need = *needs.entry(need).or_insert_with(|| *first.entry(asked(product, need)).or_insert(need));
    let next = g.nodes.len() as u32;
    let n = *nodes.entry((s, need)).or_insert(next);
    if n == next {
        g.nodes.push((s, need));
    }
    Some(n)
}

/// Numbers all nodes for one way of the premise, and what is left of a component without what strong fairness excludes
/// once more, one level deeper.
fn number<S: Structure>(
    g: &Graph,
    product: &Product<S>,
    way: Way,
    components: &mut Vec<Reason>,
    numbers: &mut [Vec<u32>],
) {
    let mut part = vec![0; g.nodes.len()];
    let mut mark = 0;
    let mut open: Vec<Vec<u32>> = vec![(0..g.nodes.len() as u32).collect()];
    while let Some(nodes) = open.pop() {
        mark += 1;
        nodes.iter().for_each(|n| part[*n as usize] = mark);
        for component in strongly_connected(g, &nodes, &mut part, mark) {
            let reason = reason(g, product, way, &component);
            if let Reason::Starved(list) = &reason {
                let enables = |n: &u32| list.iter().any(|f| is_enabled(g, product, *n, *f));
                let rest: Vec<u32> = component.iter().copied().filter(|n| !enables(n)).collect();
                if !rest.is_empty() {
                    open.push(rest);
                }
            }
            component.iter().for_each(|n| numbers[*n as usize].push(components.len() as u32));
            components.push(reason);
        }
    }
}

fn is_enabled<S: Structure>(g: &Graph, product: &Product<S>, n: u32, fair: Fair) -> bool {
    match fair {
        Fair::Step(step) => {
            let bits = product.premise.fair().1.iter().find(|(s, _)| *s == step);
            bits.is_some_and(|(_, bit)| g.strong[n as usize] & bit != 0)
        }
        Fair::Instance(i) => g.instances[n as usize].binary_search(&i).is_ok(),
    }
}

fn reason<S: Structure>(g: &Graph, product: &Product<S>, way: Way, nodes: &[u32]) -> Reason {
    let members: HashSet<u32> = nodes.iter().copied().collect();
    let inside = || nodes.iter().flat_map(|n| &g.edges[*n as usize]).filter(|e| members.contains(&e.to));
    if inside().next().is_none() {
        return Reason::Left;
    }
    let accept = inside().fold(0, |all, e| all | e.accept);
    let (weak, strong) = product.premise.fair();
    let missing = way.accept & !accept;
    if missing != 0 {
        let bit = missing.trailing_zeros() as usize;
        if bit < product.tableau.untils() {
            return Reason::Postponed(product.tableau.until_at(bit));
        }
        if let Some((step, _)) = weak.iter().find(|(_, b)| missing & b != 0) {
            return Reason::Ignored(Fair::Step(*step));
        }
    }
    let enabled = nodes.iter().fold(0, |all, n| all | g.strong[*n as usize]);
    let unfair = enabled & way.strong & !accept;
    let mut starved: Vec<Fair> =
        strong.iter().filter(|(_, b)| unfair & b != 0).map(|(step, _)| Fair::Step(*step)).collect();
    if way.weak_all || way.strong_all {
        let taken: HashSet<u32> = inside().map(|e| e.instance).collect();
        let mut count: HashMap<u32, usize> = HashMap::new();
        for i in nodes.iter().flat_map(|n| &g.instances[*n as usize]) {
            *count.entry(*i).or_default() += 1;
        }
        let mut never: Vec<(u32, usize)> = count.into_iter().filter(|(i, _)| !taken.contains(i)).collect();
        never.sort_unstable();
        let always = never.iter().find(|(_, n)| *n == nodes.len());
        if let Some((i, _)) = always.filter(|_| way.weak_all) {
            return Reason::Ignored(Fair::Instance(*i));
        }
        if way.strong_all {
            starved.extend(never.iter().map(|(i, _)| Fair::Instance(*i)));
        }
    }
    if starved.is_empty() { Reason::Left } else { Reason::Starved(starved) }
}

/// The strongly connected components of the nodes with a mark; those that edges lead to come first. Tarjan's algorithm,
/// on a stack of its own. The marks of all of them are used up.
fn strongly_connected(g: &Graph, nodes: &[u32], part: &mut [u32], mark: u32) -> Vec<Vec<u32>> {
    let mut found = vec![];
    let mut order: HashMap<u32, u32> = HashMap::new();
    let mut low: HashMap<u32, u32> = HashMap::new();
    let mut stack: Vec<u32> = vec![];
    for start in nodes {
        if order.contains_key(start) {
            continue;
        }
        let mut frames: Vec<(u32, usize)> = vec![(*start, 0)];
        while let Some((n, at)) = frames.last_mut() {
            let node = *n;
            if *at == 0 {
                let next = order.len() as u32;
                order.entry(node).or_insert_with(|| {
                    stack.push(node);
                    next
                });
                low.entry(node).or_insert(next);
            }
            if let Some(edge) = g.edges[node as usize].get(*at) {
                *at += 1;
                let to = edge.to;
                if part[to as usize] != mark {
                    continue;
                }
                match order.get(&to) {
                    None => frames.push((to, 0)),
                    Some(other) => {
                        let other = *other;
                        low.entry(node).and_modify(|l| *l = (*l).min(other));
                    }
                }
                continue;
            }
            frames.pop();
            let own = low[&node];
            if let Some((parent, _)) = frames.last() {
                low.entry(*parent).and_modify(|l| *l = (*l).min(own));
            }
            if own == order[&node] {
                let first = stack.iter().rposition(|n| *n == node).unwrap_or(0);
                let component = stack.split_off(first);
                // Edges to what is finished are none inside.
                component.iter().for_each(|n| part[*n as usize] = 0);
                found.push(component);
            }
        }
    }
    found
}
