//! The audit of a search for paths: when it has found nothing, its own loop and store are looked at once more.
//!
//! A Holds means that the product of system and formula is closed and that no component of it is a counterexample. The
//! search follows edges depth first and merges components on the way; the audit asks the structure for the steps of every
//! state again, goes over the stored nodes in the order of their numbers, and takes them apart by another algorithm
//! ([`super::component`]). Tableau and structure are shared; random formulas compare the first with a construction of
//! its own (`tests/ltl`), and the states of the second are sampled and evaluated by the reference evaluator.
//!
//! Not the kernel instead: the chain speaks of reachable states, and a component is not a state; its machines would have to be
//! extended by acceptance, and nothing of the present proofs would carry over.

use super::component::components;
use super::fairness::fair_part;
use super::product::{NodeId, Product};
use super::structure::{StateId, Structure};
use super::tableau::Tableau;
use crate::verdict::Broken;

const INITIAL: &str = "ltl/initial: every node of an initial state is stored";
const EDGES: &str = "ltl/edges: the stored steps of a state are its steps";
const CLOSED: &str = "ltl/closed: every node that can follow a stored node is stored";
const DEADLOCK: &str = "ltl/deadlock: no stored node refutes the formula by ending";
const COMPONENT: &str = "ltl/component: no component is self-fulfilling and fair";

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// States whose steps were asked for again.
    pub states: usize,
    /// Nodes whose successors were found stored.
    pub nodes: usize,
    /// Components that were judged.
    pub components: usize,
}

/// Looks at a search that has found nothing.
pub fn audit<S: Structure>(product: &mut Product<S>, initial: &[StateId]) -> Result<Audited, Box<Broken>> {
    let mut audited = Audited::default();
    let broken = |clause, number: usize, state| {
        Box::new(Broken { clause, event: None, number: number as u64, state, detail: None })
    };
    for s in initial {
        let Some(list) = product.atoms(*s, Tableau::FIRST) else { continue };
        for atom in product.tableau.list(list).to_vec() {
            if product.find(*s, atom).is_none() {
                return Err(broken(INITIAL, 0, Some(*s)));
            }
        }
    }
    let nodes: Vec<NodeId> = (0..product.node_count() as NodeId).collect();
    let mut asked = std::collections::HashSet::new();
    for node in &nodes {
        let s = product.state(*node);
        if asked.insert(s) {
            audited.states += 1;
            if !product.has_its_steps(s) {
                return Err(broken(EDGES, audited.nodes, Some(s)));
            }
        }
        if product.is_deadlock(*node) {
            return Err(broken(DEADLOCK, audited.nodes, Some(s)));
        }
        let (first, last) = product.edges(*node);
        let need = product.need(*node);
        for edge in (first..last).filter(|e| product.allows(*node, *e)).collect::<Vec<_>>() {
            let target = product.target(edge);
            // What cannot be expanded has left the search without an answer.
            let Some(list) = product.atoms(target, need) else { continue };
            let atoms = product.tableau.list(list).to_vec();
            if atoms.iter().any(|a| product.find(target, *a).is_none()) {
                return Err(broken(CLOSED, audited.nodes, Some(s)));
            }
        }
        audited.nodes += 1;
    }
    for part in components(product, &nodes) {
        audited.components += 1;
        for i in 0..product.premise.ways.len() {
            let way = product.premise.ways[i];
            if let Some((found, _)) = fair_part(product, &part.nodes, way) {
                let state = found.nodes.first().map(|n| product.state(*n));
                return Err(broken(COMPONENT, audited.nodes, state));
            }
        }
    }
    Ok(audited)
}
