//! Components of a composition, made smaller before the composition is explored: of the states of a component that are
//! branching bisimilar, divergences told apart, one is left.
//!
//! This equivalence is a congruence for all operators under which components are replaced here, and processes that are
//! equivalent have the same traces, stable failures and divergences, the same offers at rest after a trace, and deadlocks
//! after the same traces. So an assertion has the answer that it has without. What cannot be explored by itself, or is too
//! large by itself, stays as it is.
//!
//! Components are the operands of parallel compositions, and within them whatever makes events silent, since silent
//! steps are what makes states equivalent. Absent on purpose: the process as a whole. Who wants to know something of it
//! looks at all its states once, which is what it would take to make it smaller.

use crate::process::{Label, Processes, Step};
use crate::term::Term;
use crate::value::NodeId;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many steps a component may have for each state that it may have.
const STEPS: usize = 10;
/// How many steps are looked at to find out which states are equivalent.
const EFFORT: usize = 20_000_000;

/// The same process with smaller components, where these have so many states at most.
pub fn compressed(processes: &mut Processes, node: NodeId, most: usize, stop: &AtomicBool) -> NodeId {
    Compressor { processes, most, stop }.inside(node).0
}

struct Compressor<'a> {
    processes: &'a mut Processes,
    most: usize,
    stop: &'a AtomicBool,
}

impl Compressor<'_> {
    /// With smaller operands, and whether all of them could be looked at.
    fn inside(&mut self, node: NodeId) -> (NodeId, bool) {
        // A fault is met again by whoever explores it.
        let Ok(node) = self.processes.state(node) else { return (node, false) };
        let term = Arc::clone(self.processes.machine().term(node));
        let (made, is_known) = match &*term {
            Term::Shared(a, all) => {
                let (all, known) = self.parts(all);
                (Term::Shared(Arc::clone(a), all), known)
            }
            Term::Alphabetised(a, all) => {
                let (all, known) = self.parts(all);
                (Term::Alphabetised(Arc::clone(a), all), known)
            }
            Term::Linked(pairs, p, q) => {
                let (all, known) = self.parts(&[*p, *q]);
                (Term::Linked(Arc::clone(pairs), all[0], all[1]), known)
            }
            Term::Renamed(pairs, p) => {
                let (p, known) = self.inside(*p);
                (Term::Renamed(Arc::clone(pairs), p), known)
            }
            Term::Hidden(a, p) => {
                let (p, known) = self.inside(*p);
                (Term::Hidden(Arc::clone(a), p), known)
            }
            Term::Projected(a, p) => {
                let (p, known) = self.inside(*p);
                (Term::Projected(Arc::clone(a), p), known)
            }
            _ => return (node, true),
        };
        (self.processes.machine_mut().node(made), is_known)
    }

    fn parts(&mut self, all: &[NodeId]) -> (Arc<[NodeId]>, bool) {
        let made: Vec<(NodeId, bool)> = all.iter().map(|p| self.part(*p)).collect();
        (made.iter().map(|(p, _)| *p).collect(), made.iter().all(|(_, known)| *known))
    }

    /// What stands for a component.
    fn part(&mut self, node: NodeId) -> (NodeId, bool) {
        if let Some(known) = self.processes.smaller.get(&node) {
            return *known;
        }
        let (made, is_known) = self.inside(node);
        // In a composition without silent steps few states are equivalent whose components are not.
        let is_loud = matches!(
            **self.processes.machine().term(made),
            Term::Shared(..) | Term::Alphabetised(..) | Term::Renamed(..)
        );
        let answer = match is_known && !is_loud {
            true => self.smaller(made).map_or((made, false), |n| (n, true)),
            false => (made, is_known),
        };
        self.processes.smaller.insert(node, answer);
        answer
    }

    /// A process with one state for all that are equivalent; itself if there are none, nothing if it is too large.
    fn smaller(&mut self, node: NodeId) -> Option<NodeId> {
        let graph = explored(self.processes, node, self.most, self.stop)?;
        let omega = self.processes.omega();
        let over = graph.nodes.iter().position(|n| *n == omega);
        let classes = classes(&graph.steps, over, self.stop)?;
        if classes.count == graph.nodes.len() {
            return Some(node);
        }
        let mut steps: Vec<Vec<(Label, usize)>> = vec![vec![]; classes.count];
        for (place, found) in graph.steps.iter().enumerate() {
            let class = classes.of[place];
            let leaves = |(label, to): &&(Label, usize)| *label != Label::Tau || classes.of[*to] != class;
            steps[class].extend(found.iter().filter(leaves).map(|(l, to)| (*l, classes.of[*to])));
        }
        for (class, _) in classes.diverges.iter().enumerate().filter(|(_, d)| **d) {
            steps[class].push((Label::Tau, class));
        }
        let over = over.map(|place| classes.of[place]);
        let stands = |class: usize, first: &[NodeId]| if Some(class) == over { omega } else { first[class] };
        let made: Vec<NodeId> = (0..classes.count).map(|_| self.processes.fresh()).collect();
        for (class, found) in steps.into_iter().enumerate().filter(|(class, _)| Some(*class) != over) {
            let mut all: Vec<Step> = found.into_iter().map(|(l, to)| (l, stands(to, &made))).collect();
            all.sort_unstable();
            all.dedup();
            self.processes.define(made[class], all.into());
        }
        Some(stands(classes.of[0], &made))
    }
}

/// States in the order in which they were met, each with where its steps lead.
struct Graph {
    nodes: Vec<NodeId>,
    steps: Vec<Vec<(Label, usize)>>,
}

fn explored(processes: &mut Processes, first: NodeId, most: usize, stop: &AtomicBool) -> Option<Graph> {
    let first = processes.state(first).ok()?;
    let mut graph = Graph { nodes: vec![first], steps: vec![] };
    let mut index = HashMap::from([(first, 0)]);
    let mut size = 0;
    while graph.steps.len() < graph.nodes.len() {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let found = processes.transitions(graph.nodes[graph.steps.len()]).ok()?;
        size += found.len();
        let mut steps = Vec::with_capacity(found.len());
        for (label, target) in found.iter() {
            let place = *index.entry(*target).or_insert_with(|| {
                graph.nodes.push(*target);
                graph.nodes.len() - 1
            });
            steps.push((*label, place));
        }
        if size > most.saturating_mul(STEPS) || graph.nodes.len() > most {
            return None;
        }
        graph.steps.push(steps);
    }
    Some(graph)
}

/// Which states are equivalent, and of which classes the states can go on in silence for ever without leaving them.
#[derive(Debug, PartialEq, Eq)]
struct Classes {
    of: Vec<usize>,
    count: usize,
    diverges: Vec<bool>,
}

/// What a state can do after silent steps inside of its class; the last entry says that it may never stop there.
type Signature = Vec<(Label, usize)>;

/// The coarsest branching bisimulation that tells divergences apart, by signatures. The state `over` is like no other.
fn classes(steps: &[Vec<(Label, usize)>], over: Option<usize>, stop: &AtomicBool) -> Option<Classes> {
    let (circle, order) = circles(steps);
    let loops: Vec<bool> = {
        let mut size = vec![0usize; steps.len()];
        circle.iter().for_each(|c| size[*c] += 1);
        let itself = |s: usize| steps[s].contains(&(Label::Tau, s));
        (0..steps.len()).map(|s| size[circle[s]] > 1 || itself(s)).collect()
    };
    let mut of: Vec<usize> = (0..steps.len()).map(|s| usize::from(Some(s) == over)).collect();
    let (mut count, mut effort) = (0, 0);
    let edges: usize = steps.iter().map(|s| s.len() + 1).sum();
    loop {
        effort += edges;
        if effort > EFFORT || stop.load(Ordering::Relaxed) {
            return None;
        }
        // States on one circle of taus are equivalent; they have the signature of the one that stands for them.
        let mut signatures: Vec<Signature> = vec![vec![]; steps.len()];
        let mut begin = 0;
        while begin < order.len() {
            let here = circle[order[begin]];
            let end = begin + order[begin..].iter().take_while(|s| circle[**s] == here).count();
            let mut signature: Signature = vec![];
            for s in &order[begin..end] {
                for (label, to) in &steps[*s] {
                    match *label == Label::Tau && of[*to] == of[*s] {
                        true if circle[*to] == here => {}
                        true => signature.extend(signatures[circle[*to]].iter().copied()),
                        false => signature.push((*label, of[*to])),
                    }
                }
                if loops[*s] {
                    signature.push((Label::Tau, of[*s]));
                }
            }
            signature.sort_unstable();
            signature.dedup();
            effort += signature.len();
            signatures[here] = signature;
            begin = end;
        }
        let mut names: HashMap<(usize, &Signature), usize> = HashMap::new();
        let refined: Vec<usize> = (0..steps.len())
            .map(|s| {
                let next = names.len();
                *names.entry((of[s], &signatures[circle[s]])).or_insert(next)
            })
            .collect();
        let found = names.len();
        if found == count {
            let mut diverges = vec![false; count];
            for s in 0..steps.len() {
                // A silent step inside of the class is in a signature only as a divergence.
                diverges[refined[s]] |= signatures[circle[s]].contains(&(Label::Tau, of[s]));
            }
            return Some(Classes { of: refined, count, diverges });
        }
        (of, count) = (refined, found);
    }
}

/// For each state the number of one with which it lies on a circle of taus (itself, if there is none), and all states in
/// an order in which those of a circle are together, behind all that taus lead to from there: Tarjan's algorithm.
fn circles(steps: &[Vec<(Label, usize)>]) -> (Vec<usize>, Vec<usize>) {
    const UNSEEN: usize = usize::MAX;
    let taus: Vec<Vec<usize>> = steps
        .iter()
        .map(|s| s.iter().filter(|(l, _)| *l == Label::Tau).map(|(_, to)| *to).collect())
        .collect();
    let (mut number, mut low) = (vec![UNSEEN; steps.len()], vec![0; steps.len()]);
    let (mut circle, mut order) = (vec![UNSEEN; steps.len()], vec![]);
    let (mut open, mut way): (Vec<usize>, Vec<(usize, usize)>) = (vec![], vec![]);
    let mut count = 0;
    for start in 0..steps.len() {
        if number[start] != UNSEEN {
            continue;
        }
        way.push((start, 0));
        while let Some((s, next)) = way.pop() {
            if next == 0 {
                (number[s], low[s]) = (count, count);
                count += 1;
                open.push(s);
            }
            if let Some(to) = taus[s].get(next) {
                way.push((s, next + 1));
                if number[*to] == UNSEEN {
                    way.push((*to, 0));
                } else if circle[*to] == UNSEEN {
                    low[s] = low[s].min(number[*to]);
                }
                continue;
            }
            if low[s] == number[s] {
                while let Some(member) = open.pop() {
                    circle[member] = s;
                    order.push(member);
                    if member == s {
                        break;
                    }
                }
            }
            if let Some((before, _)) = way.last() {
                low[*before] = low[*before].min(low[s]);
            }
        }
    }
    (circle, order)
}
