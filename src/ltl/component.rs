//! Strongly connected components of a part of the product (Tarjan), for what fairness takes apart.

use super::product::{EdgeId, Mark, NodeId, Product};
use super::structure::Structure;

/// A set of nodes that carry a mark.
pub struct Part {
    pub nodes: Vec<NodeId>,
    pub mark: Mark,
}

impl Part {
    pub fn new<S: Structure>(product: &mut Product<S>, nodes: Vec<NodeId>) -> Part {
        let mark = product.mark(&nodes);
        Part { nodes, mark }
    }
}

struct Frame {
    node: NodeId,
    edges: Vec<(EdgeId, NodeId)>,
    at: usize,
}

/// The components that have an edge, with no node outside `nodes`.
pub fn components<S: Structure>(product: &mut Product<S>, nodes: &[NodeId]) -> Vec<Part> {
    let all = product.mark(nodes);
    let mut search =
        Tarjan { all, number: 1, low: Default::default(), stack: vec![], frames: vec![], found: vec![] };
    for node in nodes {
        if product.has_mark(*node, all) && !search.low.contains_key(node) {
            search.enter(product, *node);
            search.run(product);
        }
    }
    search.found
}

struct Tarjan {
    /// Nodes that are not in a finished component carry this mark.
    all: Mark,
    number: u32,
    /// Number and low link of the nodes met.
    low: std::collections::HashMap<NodeId, (u32, u32), foldhash::fast::FixedState>,
    stack: Vec<NodeId>,
    frames: Vec<Frame>,
    found: Vec<Part>,
}

impl Tarjan {
    fn enter<S: Structure>(&mut self, product: &mut Product<S>, node: NodeId) {
        self.low.insert(node, (self.number, self.number));
        self.number += 1;
        self.stack.push(node);
        let mut edges = vec![];
        product.edges_within(node, self.all, &mut edges);
        self.frames.push(Frame { node, edges, at: 0 });
    }

    fn lower(&mut self, node: NodeId, to: u32) {
        if let Some((_, low)) = self.low.get_mut(&node) {
            *low = (*low).min(to);
        }
    }

    fn run<S: Structure>(&mut self, product: &mut Product<S>) {
        while let Some(frame) = self.frames.last_mut() {
            let node = frame.node;
            if let Some((_, target)) = frame.edges.get(frame.at).copied() {
                frame.at += 1;
                match self.low.get(&target).copied() {
                    None => self.enter(product, target),
                    Some((number, _)) if product.has_mark(target, self.all) => self.lower(node, number),
                    Some(_) => {}
                }
                continue;
            }
            let loops = frame.edges.iter().any(|(_, n)| *n == node);
            self.frames.pop();
            let (number, low) = self.low[&node];
            if let Some(parent) = self.frames.last().map(|f| f.node) {
                self.lower(parent, low);
            }
            if number == low {
                let first = self.stack.iter().rposition(|n| *n == node).unwrap_or(0);
                let part = Part::new(product, self.stack.split_off(first));
                if part.nodes.len() > 1 || loops {
                    self.found.push(part);
                }
            }
        }
    }
}
