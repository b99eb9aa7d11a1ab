//! Whatever is not B, stepped through by hand.

use super::scene::Animated;
use super::see::{Graph, Node};
use super::walk::Walk;
use crate::run::other::{States, Systems};
use std::sync::Arc;

/// A walk through a system that a file defines, with its name.
pub fn walk(system: Systems, title: &str) -> Box<dyn Animated> {
    match system {
        Systems::Net(system) => Box::new(Walk::new(Arc::new(*system)).named(title)),
        Systems::Process(system) => Box::new(Walk::new(Arc::new(*system)).named(title)),
        Systems::Xtl(system) => Box::new(Walk::new(Arc::new(*system)).named(title)),
        Systems::Guided(system) => Box::new(Walk::new(Arc::new(*system)).named(title)),
    }
}

/// Its states, as they are drawn.
pub fn graph(found: States) -> Graph {
    let node = |n: &crate::run::other::Drawn| Node {
        text: n.text(),
        states: 1,
        initial: n.initial,
        deadlock: n.deadlock,
        open: n.open,
        ..Node::default()
    };
    let nodes: Vec<Node> = found.nodes.iter().map(node).collect();
    Graph { states: nodes.len(), nodes, edges: found.edges, more: found.more }
}
