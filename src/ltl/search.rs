//! The search for a self-fulfilling component (*Seven at one stroke*, §4.4), on the fly.
//!
//! Tarjan's algorithm in the form of Couvreur: the stack of roots carries the acceptance that is gathered in each
//! component so far, and components are merged when an edge closes a cycle. So a counterexample is seen when its last
//! edge is, not when its component is finished. Strong fairness is looked at again when a component is finished, since
//! a part of it may be fair where the whole is not. Nothing here recurses: a path may be as long as memory lasts.

use super::component::Part;
use super::fairness::{Goal, fair_part};
use super::mistake::Mistake;
use super::product::{EdgeId, NodeId, Product};
use super::structure::{StateId, Structure};
use super::tableau::{ListId, Tableau};
use crate::verdict::Exhausted;
use std::sync::atomic::{AtomicBool, Ordering};

/// What refutes the formula.
pub enum Refuting {
    /// A finite path to a deadlock.
    Deadlock,
    /// A component, and what a loop in it must contain.
    Component(Part, Goal),
}

#[derive(Clone, Copy)]
struct Frame {
    node: NodeId,
    edge: EdgeId,
    /// The atoms of the edge's target, and the next of them.
    list: ListId,
    at: u32,
}

const NO_LIST: ListId = ListId::MAX;

/// A component on the way.
struct Root {
    /// The place of its first node among the active ones.
    first: u32,
    accept: u64,
    /// Acceptance of the edge that led here: it counts when the component grows beyond it.
    entry: u64,
    has_edge: bool,
}

/// The node's component is finished.
const DEAD: u32 = u32::MAX;

pub struct Search<'p, 's, S> {
    product: &'p mut Product<'s, S>,
    /// The place of a node among the active ones, or [`DEAD`].
    order: Vec<u32>,
    active: Vec<NodeId>,
    roots: Vec<Root>,
    frames: Vec<Frame>,
    /// Nodes on the longest path so far.
    pub depth: usize,
}

/// How a search ended.
pub enum Ended {
    Found(Refuting),
    /// Every edge of the product was followed.
    Nothing(Exhausted),
    Stopped,
}

impl<'p, 's, S: Structure> Search<'p, 's, S> {
    pub fn new(product: &'p mut Product<'s, S>) -> Self {
        Search { product, order: vec![], active: vec![], roots: vec![], frames: vec![], depth: 0 }
    }

    /// Looks for a counterexample on paths from these states.
    pub fn run(&mut self, initial: &[StateId], stop: &AtomicBool) -> Ended {
        for s in initial {
            let Some(list) = self.product.atoms(*s, Tableau::FIRST) else { continue };
            for i in 0..self.product.tableau.list(list).len() {
                let atom = self.product.tableau.list(list)[i];
                let (node, is_new) = self.product.node(*s, atom);
                if is_new {
                    let found = self.enter(node, 0).or_else(|| self.depth_first(stop));
                    if let Some(found) = found {
                        return Ended::Found(found);
                    }
                    if stop.load(Ordering::Relaxed) {
                        return Ended::Stopped;
                    }
                }
            }
        }
        Ended::Nothing(Exhausted::nothing_is_left())
    }

    fn enter(&mut self, node: NodeId, entry: u64) -> Option<Refuting> {
        debug_assert_eq!(self.order.len(), node as usize);
        let first = self.active.len() as u32;
        self.order.push(first);
        self.active.push(node);
        self.roots.push(Root { first, accept: self.product.gives(node), entry, has_edge: false });
        let (edge, _) = self.product.edges(node);
        self.frames.push(Frame { node, edge, list: NO_LIST, at: 0 });
        self.depth = self.depth.max(self.frames.len());
        self.product.is_deadlock(node).then_some(Refuting::Deadlock)
    }

    fn depth_first(&mut self, stop: &AtomicBool) -> Option<Refuting> {
        while let Some(frame) = self.frames.last_mut() {
            if frame.list != NO_LIST {
                let atoms = self.product.tableau.list(frame.list);
                if let Some(atom) = atoms.get(frame.at as usize).copied() {
                    frame.at += 1;
                    let edge = frame.edge;
                    if let Some(found) = self.follow(edge, atom) {
                        return Some(found);
                    }
                    continue;
                }
                frame.edge += 1;
                frame.list = NO_LIST;
            }
            let (_, last) = self.product.edges(frame.node);
            if frame.edge >= last {
                if let Some(found) = self.leave() {
                    return Some(found);
                }
                continue;
            }
            if !self.product.allows(frame.node, frame.edge) {
                frame.edge += 1;
                continue;
            }
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let need = self.product.need(frame.node);
            let target = self.product.target(frame.edge);
            match self.product.atoms(target, need) {
                Some(list) => (frame.list, frame.at) = (list, 0),
                None => frame.edge += 1,
            }
        }
        None
    }

    #[inline]
    fn follow(&mut self, edge: EdgeId, atom: u32) -> Option<Refuting> {
        let (node, is_new) = self.product.node(self.product.target(edge), atom);
        let takes = self.product.takes(edge);
        if is_new {
            return self.enter(node, takes);
        }
        let at = self.order[node as usize];
        if at == DEAD || self.closes_early() { None } else { self.merge(at, takes) }
    }

    /// Whether a planted mistake overlooks that a cycle is closed.
    fn closes_early(&mut self) -> bool {
        match self.product.planted {
            Some(Mistake::ClosesEarly(n)) => self.product.errs(n),
            _ => false,
        }
    }

    /// An edge leads back to an active node: everything from its component on is one component.
    fn merge(&mut self, at: u32, takes: u64) -> Option<Refuting> {
        let mut accept = takes;
        while let Some(root) = self.roots.pop_if(|r| r.first > at) {
            accept |= root.accept | root.entry;
        }
        // The first root is never above an active node.
        let root = self.roots.last_mut()?;
        root.accept |= accept;
        root.has_edge = true;
        let (accept, first) = (root.accept, root.first as usize);
        // Strong fairness is fulfilled for sure where every step it speaks of is taken.
        let ways = &self.product.premise.ways;
        let fits = |w: &&super::fairness::Way| {
            let all = w.accept | w.strong;
            accept & all == all && !w.weak_all && !w.strong_all
        };
        let way = *ways.iter().find(fits)?;
        let goal = Goal { accept: way.accept | way.strong, ..Goal::default() };
        let part = Part::new(self.product, self.active[first..].to_vec());
        Some(Refuting::Component(part, goal))
    }

    /// The last node of the path has no more edges.
    fn leave(&mut self) -> Option<Refuting> {
        let frame = self.frames.pop()?;
        let root = self.roots.pop_if(|r| r.first == self.order[frame.node as usize])?;
        let first = root.first as usize;
        for n in &self.active[first..] {
            self.order[*n as usize] = DEAD;
        }
        // What acceptance alone decides was decided by the edges.
        if !root.has_edge || self.product.premise.ways.iter().all(|w| w.is_plain()) {
            self.active.truncate(first);
            return None;
        }
        let nodes = self.active.split_off(first);
        for i in 0..self.product.premise.ways.len() {
            let way = self.product.premise.ways[i];
            if way.is_plain() || root.accept & way.accept != way.accept {
                continue;
            }
            if let Some((part, goal)) = fair_part(self.product, &nodes, way) {
                return Some(Refuting::Component(part, goal));
            }
        }
        None
    }

    /// Bytes held for the search itself.
    pub fn bytes(&self) -> usize {
        self.order.capacity() * 4
            + self.active.capacity() * 4
            + self.roots.capacity() * size_of::<Root>()
            + self.frames.capacity() * size_of::<Frame>()
    }
}
