//! The state graph as colour refinement takes it: one vertex a point, colours for what a point is by itself,
//! edges for what relates two vertices, and further vertices only for what has more parts than that.
//!
//! It is the graph of *ProB gets Nauty*, §2, without its root and without the vertices of values that no permutation
//! moves: an edge to or from one of these is part of the colour of its other end. Colours and labels are 64-bit
//! hashes of structure, never of interned names or of points, so symmetric states have isomorphic sketches.
//! Two things that hash alike can make a labelling worse; they cannot make an answer wrong, since the key of a
//! state is a permutation applied to it.

use super::Sketcher;
use super::action::{MachineAction, Moves};
use super::group::Group;
use crate::system::System;
pub(super) use crate::value::hash::pair as mix;
use crate::value::mask::{bits, row};
use crate::value::val::Val;
use std::borrow::Borrow;
use std::hash::BuildHasher;
use std::sync::Arc;

const LEFT: u64 = 0x4C;
const RIGHT: u64 = 0x52;
const SET: u64 = 0x53;
const TUPLE: u64 = 0x54;
const LOOP: u64 = 0x4F;
const OWNER: u64 = 0x45;
const FIXED: u64 = 0x46;

/// A relation between two vertices of a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchEdge {
    pub from: u32,
    pub to: u32,
    pub label: u64,
}

/// What colour refinement sees of a state. Vertices `0..points` are the points.
#[warn(missing_docs)]
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    /// By vertex.
    pub colours: Vec<u64>,
    /// Between vertices.
    pub edges: Vec<SketchEdge>,
    /// The parts of the tuple that is being read: place and vertex.
    leaves: Vec<(u64, u32)>,
}

#[warn(missing_docs)]
impl Sketch {
    /// The points of a group, each set in a colour of its own, as is each fixed point, and nothing else.
    pub fn start(&mut self, group: &Group) {
        self.colours.clear();
        self.edges.clear();
        for (i, o) in group.orbitals.iter().enumerate() {
            self.colours.extend((0..o.size).map(|_| mix(i as u64, 4)));
        }
        group.still().iter().for_each(|v| self.colours[*v as usize] = mix(u64::from(*v), FIXED));
    }

    /// Makes an edge to or from a fixed point a fact about its other end, as with any value that no permutation moves.
    pub(super) fn absorb(&mut self, group: &Group) {
        let Sketch { colours, edges, .. } = self;
        edges.retain(|e| {
            for (end, other, side) in [(e.from, e.to, LEFT), (e.to, e.from, RIGHT)] {
                if group.is_still(end) {
                    let c = &mut colours[other as usize];
                    *c = c.wrapping_add(mix(mix(e.label, side), mix(u64::from(end), FIXED)));
                    return false;
                }
            }
            true
        });
    }

    /// A vertex that is no point: a part of the state with several parts of its own.
    pub fn vertex(&mut self, colour: u64) -> u32 {
        self.colours.push(colour);
        self.colours.len() as u32 - 1
    }

    /// A fact about a vertex; the order of facts does not matter.
    #[inline]
    pub fn tint(&mut self, vertex: u32, fact: u64) {
        let c = &mut self.colours[vertex as usize];
        *c = c.wrapping_add(fact);
    }

    /// A relation between two vertices.
    #[inline]
    pub fn join(&mut self, from: u32, to: u32, label: u64) {
        if from == to {
            self.tint(from, mix(label, LOOP));
        } else {
            self.edges.push(SketchEdge { from, to, label });
        }
    }

    pub(super) fn copy(&mut self, other: &Sketch) {
        self.colours.clone_from(&other.colours);
        self.edges.clone_from(&other.edges);
    }

    /// A value in a slot.
    pub(super) fn slot(&mut self, m: &Moves, v: &Val, salt: u64) {
        match (m, v) {
            (Moves::Still, _) => {}
            (_, Val::W(w)) => self.word_slot(m, *w, salt),
            (Moves::Bits(_) | Moves::List(..), _) => self.fill(m, v, salt, None),
            _ => self.item(m, v, salt, None),
        }
    }

    /// A word in a slot: the short ways for sets, functions and relations over points.
    #[inline]
    pub(super) fn word_slot(&mut self, m: &Moves, w: u64, salt: u64) {
        match m {
            Moves::Still => {}
            Moves::Point(first) => self.tint(first + w as u32, mix(salt, SET)),
            Moves::Points(first) => {
                let fact = mix(salt, SET);
                bits(w).for_each(|i| self.tint(first + i, fact));
            }
            Moves::Matrix(a, b, nb) => match (&**a, &**b) {
                (Moves::Point(first), Moves::Still) => {
                    let mut rest = w;
                    while rest != 0 {
                        let x = rest.trailing_zeros() / nb;
                        let values = row(w, x, *nb);
                        rest &= !(values << (x * nb));
                        self.tint(first + x, mix(salt, values));
                    }
                }
                (Moves::Still, Moves::Point(first)) => {
                    bits(w).for_each(|i| self.tint(first + i % nb, mix(salt, u64::from(i / nb))));
                }
                (Moves::Point(from), Moves::Point(to)) => {
                    bits(w).for_each(|i| self.join(from + i / nb, to + i % nb, salt));
                }
                _ => self.fill(m, &Val::W(w), salt, None),
            },
            Moves::Mask(_) => self.fill(m, &Val::W(w), salt, None),
            _ => self.item(m, &Val::W(w), salt, None),
        }
    }

    /// The elements of a set, which belong to a vertex or, at the top, to nothing.
    fn fill(&mut self, m: &Moves, v: &Val, salt: u64, owner: Option<u32>) {
        match (m, v) {
            (Moves::Points(first), Val::W(w)) => {
                bits(*w).for_each(|i| self.relate(&[(SET, first + i)], salt, owner));
            }
            (Moves::Matrix(a, b, nb), Val::W(w)) => {
                for i in bits(*w) {
                    let begin = self.leaves.len();
                    let mut still = salt;
                    self.gather(a, &Val::W(u64::from(i / nb)), LEFT, &mut still);
                    self.gather(b, &Val::W(u64::from(i % nb)), RIGHT, &mut still);
                    self.close(begin, still, owner);
                }
            }
            (Moves::List(e, _), Val::Seq(items)) => {
                let Moves::DeepPair(_, item) = &**e else { return };
                self.sequence(item, items.iter(), salt, owner);
            }
            (Moves::Mask(e) | Moves::Bits(e) | Moves::List(e, _), _) => {
                for x in v.elems() {
                    self.item(e, &x, salt, owner);
                }
            }
            _ => {}
        }
    }

    /// The items of a sequence, each as a pair.
    fn sequence(
        &mut self,
        item: &Moves,
        items: impl Iterator<Item = impl Borrow<Val>>,
        salt: u64,
        owner: Option<u32>,
    ) {
        for (i, x) in items.enumerate() {
            let begin = self.leaves.len();
            let mut still = mix(salt, mix(LEFT, i as u64 + 1));
            self.gather(item, x.borrow(), RIGHT, &mut still);
            self.close(begin, still, owner);
        }
    }

    /// One value, as an element of its owner.
    fn item(&mut self, m: &Moves, v: &Val, salt: u64, owner: Option<u32>) {
        let begin = self.leaves.len();
        let mut still = salt;
        self.gather(m, v, SET, &mut still);
        self.close(begin, still, owner);
    }

    /// The parts of a value that move, and a hash of those that do not.
    fn gather(&mut self, m: &Moves, v: &Val, place: u64, still: &mut u64) {
        match (m, v) {
            (Moves::Still, _) => *still = mix(*still, mix(place, structure(v))),
            (Moves::Point(first), Val::W(w)) => self.leaves.push((place, first + *w as u32)),
            (Moves::Pair(a, b, nb), Val::W(w)) => {
                self.gather(a, &Val::W(w / nb), mix(place, LEFT), still);
                self.gather(b, &Val::W(w % nb), mix(place, RIGHT), still);
            }
            (Moves::Rec(parts), Val::W(w)) => {
                let mut rest = *w;
                for (i, (m, carrier)) in parts.iter().enumerate().rev() {
                    self.gather(m, &Val::W(rest % carrier), mix(place, i as u64), still);
                    rest /= carrier;
                }
            }
            (Moves::DeepPair(a, b), Val::Pair(q)) => {
                self.gather(a, &q.0, mix(place, LEFT), still);
                self.gather(b, &q.1, mix(place, RIGHT), still);
            }
            (Moves::DeepRec(parts), Val::Rec(fields)) => {
                for (i, (m, f)) in parts.iter().zip(fields.iter()).enumerate() {
                    self.gather(m, f, mix(place, i as u64), still);
                }
            }
            (Moves::Points(_) | Moves::Matrix(..) | Moves::Mask(_) | Moves::Bits(_) | Moves::List(..), _) => {
                let set = self.vertex(SET);
                self.fill(m, v, SET, Some(set));
                self.leaves.push((place, set));
            }
            _ => {}
        }
    }

    /// Relates the leaves since `begin` with each other and their owner.
    fn close(&mut self, begin: usize, salt: u64, owner: Option<u32>) {
        let leaves = std::mem::take(&mut self.leaves);
        self.relate(&leaves[begin..], salt, owner);
        self.leaves = leaves;
        self.leaves.truncate(begin);
    }

    fn relate(&mut self, leaves: &[(u64, u32)], salt: u64, owner: Option<u32>) {
        match (leaves, owner) {
            ([], None) => {}
            ([], Some(o)) => self.tint(o, salt),
            ([(place, v)], None) => self.tint(*v, mix(salt, *place)),
            ([(place, v)], Some(o)) => self.join(o, *v, mix(salt, *place)),
            ([(p, a), (q, b)], None) => self.join(*a, *b, mix(salt, mix(*p, *q))),
            (_, owner) => {
                let t = self.vertex(mix(salt, TUPLE));
                for (place, v) in leaves {
                    self.join(t, *v, *place);
                }
                if let Some(o) = owner {
                    self.join(o, t, OWNER);
                }
            }
        }
    }
}

/// A hash of a value without points.
fn structure(v: &Val) -> u64 {
    match v {
        Val::W(w) => mix(*w, 1),
        Val::I(i) => mix(*i as u64, 2),
        other => foldhash::fast::FixedState::default().hash_one(other),
    }
}

/// Sketches of the states of a machine, with the part of the constants made once per valuation.
pub(super) struct MachineSketcher {
    action: Arc<MachineAction>,
    /// The part of the constants, by valuation.
    bases: Vec<Option<Box<Sketch>>>,
    /// That of the last valuation which has no place among them.
    other: Option<(usize, Box<Sketch>)>,
}

/// Valuations whose sketches are kept.
const KEPT: usize = 1 << 16;

impl Sketcher for MachineSketcher {
    fn sketch(&mut self, row: &[u64], out: &mut Sketch) {
        out.copy(self.base(self.action.system.start_of(row)));
        let (action, system) = (&self.action, &self.action.system);
        let first = system.const_slots();
        for (i, w) in system.words(row).iter().enumerate() {
            let slot = first + i;
            let salt = mix(slot as u64, 3);
            match &action.slots[slot] {
                Moves::Still => {}
                m @ (Moves::Bits(_) | Moves::List(..) | Moves::DeepPair(..) | Moves::DeepRec(_)) => {
                    let rep = &system.slots[slot].rep;
                    match m.packed(rep, *w) {
                        Some((packing, item)) => {
                            out.sequence(item, packing.items(*w).map(Val::W), salt, None);
                        }
                        None => out.slot(m, &system.table().decode(*w, rep), salt),
                    }
                }
                m => out.word_slot(m, *w, salt),
            }
        }
    }
}

impl MachineSketcher {
    pub fn new(action: Arc<MachineAction>) -> MachineSketcher {
        MachineSketcher { action, bases: vec![], other: None }
    }

    /// The sketch of the constants.
    fn base(&mut self, valuation: usize) -> &Sketch {
        let action = &self.action;
        let sketch = || {
            let mut base = Sketch::default();
            base.start(&action.group);
            for (slot, v) in action.system.constant_vals(valuation).iter().enumerate() {
                base.slot(&action.slots[slot], v, mix(slot as u64, 3));
            }
            Box::new(base)
        };
        if valuation >= KEPT {
            self.other.take_if(|(v, _)| *v != valuation);
            return &self.other.get_or_insert_with(|| (valuation, sketch())).1;
        }
        if self.bases.len() <= valuation {
            self.bases.resize_with(valuation + 1, || None);
        }
        self.bases[valuation].get_or_insert_with(sketch)
    }
}

/// For nauty, a system of one's own is drawn as for any other labelling.
#[cfg(feature = "nauty")]
pub(super) struct Itself(pub Box<dyn Sketcher>);

#[cfg(feature = "nauty")]
impl super::Grapher for Itself {
    fn graph(&mut self, row: &[u64], out: &mut Sketch) {
        self.0.sketch(row, out);
    }
}
