//! The graph of the paper's §4.4: nodes are pairs of a state and an atom. States are expanded when an atom of theirs
//! is asked for, and their edges are kept, since a state may have several atoms.

use super::mistake::Mistake;
use super::premise::Premise;
use super::structure::{Edge, Expansion, Known, StateId, Structure};
use super::tableau::{AtomId, Kind, KindId, ListId, NeedId, Tableau};
use crate::value::hash::mix;
use crate::verdict::Complete;
use hashbrown::HashTable;
use std::collections::HashMap;

pub type NodeId = u32;
/// A place in the edges of all states.
pub type EdgeId = u32;
/// Names a set of nodes, until another mark is put on them.
pub type Mark = u32;

/// Not expanded yet.
const UNSEEN: KindId = KindId::MAX;
/// Cannot be expanded.
const OPEN: KindId = KindId::MAX - 1;

#[derive(Clone, Copy)]
struct State {
    kind: KindId,
    first: EdgeId,
    last: EdgeId,
    /// One of its nodes: many formulas have one atom a state, and then no table is asked.
    node: NodeId,
}

const NO_NODE: NodeId = NodeId::MAX;

/// The propositions of a step as far as anybody asks.
#[derive(Clone, Copy)]
struct Label {
    props: u64,
    /// Those of the formula.
    step: u64,
    /// Acceptance.
    takes: u64,
}

pub struct Product<'s, S> {
    structure: &'s mut S,
    pub tableau: Tableau,
    pub premise: Premise,
    states: Vec<State>,
    targets: Vec<StateId>,
    /// Left empty when the formula does not speak of steps.
    labels: Vec<u32>,
    /// Left empty unless the premise needs them.
    instances: Vec<u32>,
    known_labels: Vec<Label>,
    label_index: HashMap<u64, u32, foldhash::fast::FixedState>,
    nodes: Vec<(StateId, AtomId)>,
    index: HashTable<NodeId>,
    /// A state stayed open, or some of its steps are not known.
    pub incomplete: bool,
    pub expanded: usize,
    buffer: Expansion,
    /// Which part of the graph a node was last put into.
    marks: Vec<Mark>,
    last_mark: Mark,
    /// A mistake of a test's, which an audit has to catch, and its occasions so far.
    pub planted: Option<Mistake>,
    occasions: u64,
}

impl<'s, S: Structure> Product<'s, S> {
    pub fn new(structure: &'s mut S, tableau: Tableau, premise: Premise) -> Product<'s, S> {
        Product {
            structure,
            tableau,
            premise,
            states: vec![],
            targets: vec![],
            labels: vec![],
            instances: vec![],
            known_labels: vec![Label { props: 0, step: 0, takes: 0 }],
            label_index: HashMap::from_iter([(0, 0)]),
            nodes: vec![],
            index: HashTable::new(),
            incomplete: false,
            expanded: 0,
            buffer: Expansion::default(),
            marks: vec![],
            last_mark: 0,
            planted: None,
            occasions: 0,
        }
    }

    pub fn structure(&mut self) -> &mut S {
        self.structure
    }

    pub fn initial(&mut self) -> (Vec<StateId>, Option<Complete>) {
        let mut initial = vec![];
        let complete = self.structure.initial(&mut initial);
        (initial, complete)
    }

    /// The propositions of steps that somebody asks for.
    pub fn steps(&self) -> u64 {
        self.tableau.uses.step | self.premise.steps
    }

    /// The kind of a state, which is expanded if it was not; `None` if it stays open.
    #[inline]
    pub fn kind(&mut self, s: StateId) -> Option<KindId> {
        match self.states.get(s as usize) {
            Some(State { kind, .. }) if *kind < OPEN => Some(*kind),
            Some(State { kind: OPEN, .. }) => None,
            _ => self.expand(s),
        }
    }

    /// The kind of a state that was expanded.
    pub fn known_kind(&self, s: StateId) -> Option<KindId> {
        self.states.get(s as usize).map(|s| s.kind).filter(|k| *k < OPEN)
    }

    #[cold]
    fn expand(&mut self, s: StateId) -> Option<KindId> {
        if self.states.len() <= s as usize {
            self.states.resize(s as usize + 1, State { kind: UNSEEN, first: 0, last: 0, node: NO_NODE });
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let known = self.structure.expand(s, &mut buffer);
        let usable = match known {
            Known::All => true,
            Known::Part => self.is_decided(&buffer),
            Known::Nothing => false,
        };
        let room = self.targets.len() + buffer.edges.len() < EdgeId::MAX as usize;
        self.incomplete |= known != Known::All || !room;
        let kind = if usable && room { Some(self.store(s, &mut buffer)) } else { None };
        self.states[s as usize].kind = kind.unwrap_or(OPEN);
        self.buffer = buffer;
        kind
    }

    /// Of a state whose steps are not all known nothing may be said that a missing step could change: that it is a
    /// deadlock or a sink, that something is not enabled, what is fair.
    fn is_decided(&self, x: &Expansion) -> bool {
        let enabled = x.edges.iter().fold(0, |all, e| all | e.props);
        let uses = self.tableau.uses;
        let open = x.unsure & !enabled & (uses.enabled | self.premise.steps);
        let leaves = x.edges.iter().any(|e| !e.stays);
        !x.edges.is_empty() && open == 0 && (leaves || !uses.sink) && !self.premise.needs_instances()
    }

    /// What is kept of steps: as much as somebody asks for.
    fn projected(&self, edges: &mut [Edge]) {
        let (steps, instances) = (self.steps(), self.premise.needs_instances());
        for e in edges {
            e.props &= steps;
            e.stays = false;
            if !instances {
                e.instance = 0;
            }
        }
    }

    /// Whether the stored steps of a state are those that the structure says it has, asked once more.
    pub fn has_its_steps(&mut self, s: StateId) -> bool {
        let mut x = Expansion::default();
        if self.structure.expand(s, &mut x) == Known::Nothing {
            return false;
        }
        self.projected(&mut x.edges);
        x.edges.sort_unstable();
        x.edges.dedup();
        let State { first, last, .. } = self.states[s as usize];
        let stored = (first..last).map(|e| (self.target(e), self.props(e), self.instance(e)));
        stored.eq(x.edges.iter().map(|e| (e.target, e.props, e.instance)))
    }

    /// Acceptance, without what a planted mistake overlooks.
    #[inline]
    fn seen(&self, accept: u64) -> u64 {
        match self.planted {
            Some(Mistake::Overlooks(bit)) => accept & !1u64.checked_shl(bit).unwrap_or(0),
            _ => accept,
        }
    }

    /// Whether it is the turn of a planted mistake.
    pub fn errs(&mut self, n: u64) -> bool {
        self.occasions += 1;
        self.occasions == n
    }

    fn store(&mut self, s: StateId, x: &mut Expansion) -> KindId {
        self.expanded += 1;
        let uses = self.tableau.uses;
        let steps = self.steps();
        let enabled = x.edges.iter().fold(0, |all, e| all | e.props);
        let deadlock = x.edges.is_empty();
        let sink = uses.sink && x.edges.iter().all(|e| e.stays);
        let instances = self.premise.needs_instances();
        self.projected(&mut x.edges);
        let mut labels: Vec<u64> = x.edges.iter().map(|e| e.props & uses.step).collect();
        labels.sort_unstable();
        labels.dedup();
        // Edges that nobody can tell apart are one.
        x.edges.sort_unstable();
        x.edges.dedup();
        if let Some(Mistake::LosesStep(n)) = self.planted {
            x.edges.retain(|_| !self.errs(n));
        }
        let first = self.targets.len() as EdgeId;
        for e in &x.edges {
            self.targets.push(e.target);
            if steps != 0 {
                let label = self.label(e);
                self.labels.push(label);
            }
            if instances {
                self.instances.push(e.instance);
            }
        }
        (self.states[s as usize].first, self.states[s as usize].last) = (first, self.targets.len() as EdgeId);
        self.tableau.kind(Kind {
            props: x.props & uses.state,
            enabled: enabled & uses.enabled,
            deadlock,
            sink,
            labels: labels.into(),
            gives: self.premise.gives(enabled),
            strong: self.premise.strong(enabled),
        })
    }

    fn label(&mut self, e: &Edge) -> u32 {
        if let Some(l) = self.label_index.get(&e.props) {
            return *l;
        }
        let l = self.known_labels.len() as u32;
        let step = e.props & self.tableau.uses.step;
        self.known_labels.push(Label { props: e.props, step, takes: self.premise.takes(e.props) });
        self.label_index.insert(e.props, l);
        l
    }

    #[inline]
    fn label_of(&self, edge: EdgeId) -> Label {
        let label = self.labels.get(edge as usize).copied().unwrap_or(0);
        self.known_labels[label as usize]
    }

    /// The propositions of an edge.
    pub fn props(&self, edge: EdgeId) -> u64 {
        self.label_of(edge).props
    }

    /// Acceptance that an edge gives.
    #[inline]
    pub fn takes(&self, edge: EdgeId) -> u64 {
        self.seen(self.label_of(edge).takes)
    }

    pub fn instance(&self, edge: EdgeId) -> u32 {
        self.instances.get(edge as usize).copied().unwrap_or(0)
    }

    #[inline]
    pub fn target(&self, edge: EdgeId) -> StateId {
        self.targets[edge as usize]
    }

    /// The edges of the node's state.
    #[inline]
    pub fn edges(&self, node: NodeId) -> (EdgeId, EdgeId) {
        let s = self.states[self.nodes[node as usize].0 as usize];
        (s.first, s.last)
    }

    /// Whether the node's atom allows an edge of its state.
    #[inline]
    pub fn allows(&self, node: NodeId, edge: EdgeId) -> bool {
        let atom = self.tableau.atom(self.nodes[node as usize].1);
        self.label_of(edge).step & atom.asked == atom.label
    }

    #[inline]
    pub fn need(&self, node: NodeId) -> NeedId {
        self.tableau.atom(self.nodes[node as usize].1).need
    }

    /// The atoms with which a state can follow; `None` if it stays open.
    #[inline]
    pub fn atoms(&mut self, s: StateId, need: NeedId) -> Option<ListId> {
        let kind = self.kind(s)?;
        Some(self.tableau.atoms(kind, need))
    }

    pub fn state(&self, node: NodeId) -> StateId {
        self.nodes[node as usize].0
    }

    fn kind_of(&self, node: NodeId) -> &Kind {
        // A state has nodes only after it was expanded.
        self.tableau.kind_at(self.states[self.nodes[node as usize].0 as usize].kind)
    }

    pub fn is_deadlock(&self, node: NodeId) -> bool {
        self.kind_of(node).deadlock
    }

    /// Acceptance that a node gives.
    #[inline]
    pub fn gives(&self, node: NodeId) -> u64 {
        self.seen(self.tableau.atom(self.nodes[node as usize].1).fulfils | self.kind_of(node).gives)
    }

    pub fn strong(&self, node: NodeId) -> u64 {
        self.kind_of(node).strong
    }

    /// The instances that a node's state enables; some may come twice.
    pub fn instances_at(&self, node: NodeId) -> impl Iterator<Item = u32> + '_ {
        let (first, last) = self.edges(node);
        (first..last).map(|e| self.instance(e))
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    pub fn find(&self, s: StateId, atom: AtomId) -> Option<NodeId> {
        self.index.find(hash(s, atom), |n| self.nodes[*n as usize] == (s, atom)).copied()
    }

    /// The node, and whether it is new.
    #[inline]
    pub fn node(&mut self, s: StateId, atom: AtomId) -> (NodeId, bool) {
        let one = self.states[s as usize].node;
        if one != NO_NODE && self.nodes[one as usize].1 == atom {
            return (one, false);
        }
        let h = hash(s, atom);
        if let Some(n) = self.index.find(h, |n| self.nodes[*n as usize] == (s, atom)) {
            return (*n, false);
        }
        let n = self.nodes.len() as NodeId;
        if let Some(Mistake::LosesNode(turn)) = self.planted
            && n > 0
            && self.errs(turn)
        {
            return (n - 1, false);
        }
        self.states[s as usize].node = n;
        let nodes = &self.nodes;
        self.index.insert_unique(h, n, |n| {
            let (s, a) = nodes[*n as usize];
            hash(s, a)
        });
        self.nodes.push((s, atom));
        (n, true)
    }

    /// Bytes held for nodes, and for states with their edges.
    pub fn bytes(&self) -> (usize, usize) {
        let nodes = self.nodes.capacity() * 8 + self.index.capacity() * 5 * 8 / 7;
        let edges = (self.targets.capacity() + self.labels.capacity() + self.instances.capacity()) * 4;
        (nodes, edges + self.states.capacity() * size_of::<State>())
    }

    /// The edges of a node to nodes that exist already. Expands nothing.
    pub fn known_edges(&mut self, node: NodeId, out: &mut Vec<(EdgeId, NodeId)>) {
        let (first, last) = self.edges(node);
        let need = self.need(node);
        for edge in first..last {
            let target = self.target(edge);
            let Some(kind) = self.known_kind(target).filter(|_| self.allows(node, edge)) else { continue };
            let list = self.tableau.atoms(kind, need);
            let atoms = self.tableau.list(list).iter();
            out.extend(atoms.filter_map(|a| Some((edge, self.find(target, *a)?))));
        }
    }

    /// The edges of a node to nodes with this mark.
    pub fn edges_within(&mut self, node: NodeId, mark: Mark, out: &mut Vec<(EdgeId, NodeId)>) {
        self.known_edges(node, out);
        out.retain(|(_, n)| self.marks.get(*n as usize) == Some(&mark));
    }

    /// A new mark on these nodes.
    pub fn mark(&mut self, nodes: &[NodeId]) -> Mark {
        self.marks.resize(self.nodes.len(), 0);
        self.last_mark += 1;
        for n in nodes {
            self.marks[*n as usize] = self.last_mark;
        }
        self.last_mark
    }

    pub fn has_mark(&self, node: NodeId, mark: Mark) -> bool {
        self.marks.get(node as usize) == Some(&mark)
    }
}

#[inline]
fn hash(s: StateId, atom: AtomId) -> u64 {
    mix(u64::from(s) << 32 | u64::from(atom))
}
