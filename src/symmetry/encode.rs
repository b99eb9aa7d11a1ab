//! The state graph of *ProB gets Nauty* (§2, Figs. 1–4) and its layered encoding for nauty (Definition 3.3).
//!
//! Vertices: a root, one for each point, one for each value that no permutation moves and that stands in a
//! relation to something that moves, and one for each nested set, pair or record. Edges are labelled with the
//! variable or constant whose value they are part of, or, below a nested value, with the part they lead to.
//!
//! A variable or constant whose type has no point in it is the same in all symmetric states; it is left out.
//!
//! Layers: vertex `(n, c)` for every vertex `n` and label `c`, coloured by both; the edges of label `c` in layer
//! `c`; and an edge between any two layers of the same vertex. Definition 3.3 also joins `(n, c)` with itself.
//! That would hide whether `n` has an edge of label `c` to itself (`x |-> x` in a relation), and Proposition 3.6
//! would fail; so these edges are not made.

#[cfg(feature = "nauty")]
use super::Grapher;
use super::action::{MachineAction, Moves};
use super::graph::{Edges, Graph};
use super::sketch::mix;
#[cfg(feature = "nauty")]
use super::sketch::{Sketch, SketchEdge};
use crate::system::System;
use crate::value::mask::bits;
use crate::value::rep::{R, Shape};
use crate::value::val::Val;
#[cfg(feature = "nauty")]
use std::hash::BuildHasher;
#[cfg(feature = "nauty")]
use std::sync::Arc;

/// A vertex- and edge-coloured graph.
#[derive(Clone, Debug, Default)]
pub struct StateGraph {
    /// Vertex 0 is the root, `1..=points` are the points.
    pub vertices: Vec<Vertex>,
    pub edges: Vec<Arrow>,
    /// Labels of slots come first, one for each that moves; then those of nested parts.
    pub labels: Vec<ArrowLabel>,
    points: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Vertex {
    Root,
    /// A point, with the number of its set among the permuted ones.
    Point(u32),
    /// A point that is fixed: the number of its set, and which element it is.
    Fixed(u32, u32),
    /// A value without points, with the number of its type among all that occur.
    Value(u32, Val),
    /// A nested value: the number of its type.
    Nested(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    pub label: u32,
    pub from: u32,
    pub to: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowLabel {
    /// A constant or variable, by slot.
    Slot(u32),
    Element,
    Left,
    Right,
    Field(u32),
}

/// Memory for [`StateGraph::colours`].
#[derive(Debug, Default)]
pub struct Colouring {
    order: Vec<u32>,
    /// By vertex: a hash of its edges.
    traces: Vec<u64>,
    /// By point: how many before it are interchangeable with it.
    twins: Vec<u32>,
}

/// What builds the graphs of one system's states: labels, and numbers for types, are the same for all of them.
pub struct Encoder {
    labels: Vec<ArrowLabel>,
    /// The representations that [`Vertex::Value`] and [`Vertex::Nested`] number.
    pub types: Vec<R>,
    /// By slot: its label and the plan of its values.
    slots: Vec<Option<(u32, Drawn)>>,
}

/// How a value is drawn: as [`Moves`], with numbers for types.
enum Drawn {
    /// A value without points, of this type.
    Still(u32),
    Point(u32),
    Pair(Box<Drawn>, Box<Drawn>, Option<u64>, u32),
    Rec(Vec<(Drawn, u64)>, bool, u32),
    Set(Box<Drawn>, u32),
}

#[derive(Default)]
struct Planner {
    /// The types that occur; a type's number is its place.
    types: Vec<R>,
    labels: Vec<ArrowLabel>,
}

impl Planner {
    fn number(&mut self, rep: &R) -> u32 {
        let known = self.types.iter().position(|t| t == rep);
        let number = known.unwrap_or_else(|| {
            self.types.push(rep.clone());
            self.types.len() - 1
        });
        number as u32
    }

    fn label(&mut self, label: ArrowLabel) {
        if !self.labels.contains(&label) {
            self.labels.push(label);
        }
    }

    /// The value of a slot: an item, or a set of items, without a vertex of its own.
    fn slot(&mut self, m: &Moves, rep: &R) -> Drawn {
        let element = match m {
            Moves::Points(first) => Drawn::Point(*first),
            Moves::Matrix(a, b, nb) => self.pair(a, b, Some(u64::from(*nb)), rep.elem()),
            Moves::Mask(e) | Moves::Bits(e) | Moves::List(e, _) => self.item(e, rep.elem()),
            m => return self.item(m, rep),
        };
        Drawn::Set(Box::new(element), self.number(rep))
    }

    /// A pair is an edge between its parts, anything else a vertex.
    fn item(&mut self, m: &Moves, rep: &R) -> Drawn {
        match m {
            Moves::Pair(a, b, nb) => self.pair(a, b, Some(*nb), rep),
            Moves::DeepPair(a, b) => self.pair(a, b, None, rep),
            m => self.nested(m, rep),
        }
    }

    fn pair(&mut self, a: &Moves, b: &Moves, nb: Option<u64>, rep: &R) -> Drawn {
        let (left, right) = rep.as_pair();
        let (a, b) = (self.nested(a, left), self.nested(b, right));
        Drawn::Pair(Box::new(a), Box::new(b), nb, self.number(rep))
    }

    /// A value that gets a vertex.
    fn nested(&mut self, m: &Moves, rep: &R) -> Drawn {
        let labels: &[ArrowLabel] = match m {
            Moves::Still | Moves::Point(_) | Moves::Rec(_) | Moves::DeepRec(_) => &[],
            Moves::Pair(..) | Moves::DeepPair(..) => &[ArrowLabel::Left, ArrowLabel::Right],
            Moves::Matrix(..) => &[ArrowLabel::Element, ArrowLabel::Left, ArrowLabel::Right],
            Moves::Points(_) | Moves::Mask(_) | Moves::Bits(_) | Moves::List(..) => &[ArrowLabel::Element],
        };
        labels.iter().for_each(|l| self.label(*l));
        let element = match m {
            Moves::Still => return Drawn::Still(self.number(rep)),
            Moves::Point(first) => return Drawn::Point(*first),
            Moves::Pair(a, b, nb) => return self.pair(a, b, Some(*nb), rep),
            Moves::DeepPair(a, b) => return self.pair(a, b, None, rep),
            Moves::Rec(parts) => return self.record(parts.iter().map(|(m, c)| (m, *c)), true, rep),
            Moves::DeepRec(parts) => return self.record(parts.iter().map(|m| (m, 0)), false, rep),
            Moves::Points(first) => Drawn::Point(*first),
            Moves::Matrix(a, b, nb) => self.pair(a, b, Some(u64::from(*nb)), rep.elem()),
            Moves::Mask(e) | Moves::Bits(e) | Moves::List(e, _) => self.nested(e, rep.elem()),
        };
        Drawn::Set(Box::new(element), self.number(rep))
    }

    fn record<'a>(&mut self, parts: impl Iterator<Item = (&'a Moves, u64)>, is_word: bool, rep: &R) -> Drawn {
        let Shape::Rec(reps) = &rep.shape else { return Drawn::Still(self.number(rep)) };
        let mut fields = vec![];
        for (i, ((m, carrier), rep)) in parts.zip(reps).enumerate() {
            self.label(ArrowLabel::Field(i as u32));
            fields.push((self.nested(m, rep), carrier));
        }
        Drawn::Rec(fields, is_word, self.number(rep))
    }
}

impl Encoder {
    #[must_use]
    pub fn new(action: &MachineAction) -> Encoder {
        let mut planner = Planner::default();
        let moving: Vec<bool> = action.slots.iter().map(|m| !m.is_still()).collect();
        let slot_labels =
            (0..).zip(&moving).filter(|(_, moves)| **moves).map(|(slot, _)| ArrowLabel::Slot(slot));
        planner.labels.extend(slot_labels);
        let mut next = 0;
        let mut slots = vec![];
        for (m, slot) in action.slots.iter().zip(&action.system.slots) {
            if m.is_still() {
                slots.push(None);
                continue;
            }
            let plan = planner.slot(m, &slot.rep);
            slots.push(Some((next, plan)));
            next += 1;
        }
        Encoder { labels: planner.labels, types: planner.types, slots }
    }

    /// The state graph of a row.
    pub fn graph(&self, action: &MachineAction, row: &[u64], out: &mut StateGraph) {
        let system = &action.system;
        out.vertices.clear();
        out.edges.clear();
        out.labels.clone_from(&self.labels);
        out.points = action.group.points();
        out.vertices.push(Vertex::Root);
        for (i, o) in action.group.orbitals.iter().enumerate() {
            out.vertices.extend((0..o.size).map(|_| Vertex::Point(i as u32)));
            if !o.is_whole() {
                let still = (0..o.size).filter(|e| action.group.is_still(o.first + e));
                still.for_each(|e| out.vertices[(1 + o.first + e) as usize] = Vertex::Fixed(i as u32, e));
            }
        }
        let valuation = system.start_of(row);
        let first = system.const_slots();
        let constants = system.constant_vals(valuation).iter().enumerate();
        for (slot, v) in constants {
            if let Some(Some((label, plan))) = self.slots.get(slot) {
                self.slot(plan, v, *label, out);
            }
        }
        for (slot, w) in (first..).zip(system.words(row)) {
            if let Some(Some((label, plan))) = self.slots.get(slot) {
                let v = system.table().decode(*w, &system.slots[slot].rep);
                self.slot(plan, &v, *label, out);
            }
        }
    }

    /// Figs. 1–3: an atom and the elements of a set hang on the root; pairs are edges.
    fn slot(&self, plan: &Drawn, v: &Val, label: u32, out: &mut StateGraph) {
        match plan {
            Drawn::Set(e, _) => self.elements(e, v, out, &mut |this, plan, x, out| {
                this.top_item(plan, x, label, out);
            }),
            plan => self.top_item(plan, v, label, out),
        }
    }

    fn top_item(&self, plan: &Drawn, v: &Val, label: u32, out: &mut StateGraph) {
        let (from, to) = match plan {
            Drawn::Pair(a, b, nb, _) => {
                let (x, y) = split(v, *nb);
                (self.vertex(a, &x, out), self.vertex(b, &y, out))
            }
            plan => (0, self.vertex(plan, v, out)),
        };
        out.edges.push(Arrow { label, from, to });
    }

    fn elements(
        &self,
        e: &Drawn,
        v: &Val,
        out: &mut StateGraph,
        f: &mut dyn FnMut(&Encoder, &Drawn, &Val, &mut StateGraph),
    ) {
        match v {
            Val::W(w) => bits(*w).for_each(|i| f(self, e, &Val::W(u64::from(i)), out)),
            v => v.elems().for_each(|x| f(self, e, &x, out)),
        }
    }

    fn label(&self, label: ArrowLabel) -> u32 {
        // The planner has met every label that a value of this system can need.
        self.labels.iter().position(|l| *l == label).map_or(0, |i| i as u32)
    }

    /// The vertex of a value (Fig. 4: a nested one has a vertex of its own).
    fn vertex(&self, plan: &Drawn, v: &Val, out: &mut StateGraph) -> u32 {
        let fresh = |out: &mut StateGraph, vertex| {
            out.vertices.push(vertex);
            out.vertices.len() as u32 - 1
        };
        match plan {
            Drawn::Point(first) => 1 + first + v.word() as u32,
            Drawn::Still(ty) => {
                let begin = 1 + out.points;
                let wanted = Vertex::Value(*ty, v.clone());
                let known = out.vertices[begin..].iter().position(|x| *x == wanted);
                known.map_or_else(|| fresh(out, wanted), |i| (begin + i) as u32)
            }
            Drawn::Pair(a, b, nb, ty) => {
                let n = fresh(out, Vertex::Nested(*ty));
                let (x, y) = split(v, *nb);
                for (plan, x, label) in [(a, x, ArrowLabel::Left), (b, y, ArrowLabel::Right)] {
                    let to = self.vertex(plan, &x, out);
                    out.edges.push(Arrow { label: self.label(label), from: n, to });
                }
                n
            }
            Drawn::Rec(parts, is_word, ty) => {
                let n = fresh(out, Vertex::Nested(*ty));
                let mut rest = if *is_word { v.word() } else { 0 };
                // The last field is the lowest digit of an ordinal.
                for (i, (plan, carrier)) in parts.iter().enumerate().rev() {
                    let x = match v {
                        Val::Rec(fields) => fields[i].clone(),
                        _ => Val::W(rest % carrier),
                    };
                    rest /= (*carrier).max(1);
                    let to = self.vertex(plan, &x, out);
                    out.edges.push(Arrow { label: self.label(ArrowLabel::Field(i as u32)), from: n, to });
                }
                n
            }
            Drawn::Set(e, ty) => {
                let n = fresh(out, Vertex::Nested(*ty));
                let label = self.label(ArrowLabel::Element);
                self.elements(e, v, out, &mut |this, plan, x, out| {
                    let to = this.vertex(plan, x, out);
                    out.edges.push(Arrow { label, from: n, to });
                });
                n
            }
        }
    }
}

fn split(v: &Val, nb: Option<u64>) -> (Val, Val) {
    match (v, nb) {
        (Val::W(w), Some(nb)) => (Val::W(w / nb), Val::W(w % nb)),
        (Val::Pair(p), _) => (p.0.clone(), p.1.clone()),
        // Representations and values agree: pairs are one of the two.
        (other, _) => (other.clone(), other.clone()),
    }
}

impl StateGraph {
    /// Colours of the vertices, by kind and structure, numbered from 0 without gaps.
    ///
    /// Points with the same neighbours over the same labels, and no edge among themselves, are interchangeable;
    /// nauty would find that out at some cost. They are given different colours instead: the i-th of every such
    /// class the i-th one. Which of them is the i-th does not matter, since an automorphism takes any order to any
    /// other; so symmetric states still have isomorphic graphs.
    pub fn colours(&self, work: &mut Colouring, out: &mut Vec<u32>) {
        let Colouring { order, traces, twins } = work;
        traces.clear();
        traces.resize(self.vertices.len(), 0);
        for e in &self.edges {
            let label = u64::from(e.label);
            let mut trace = |at: u32, other: u32, end: u64| {
                let t = &mut traces[at as usize];
                *t = t.wrapping_add(mix(mix(label, end), u64::from(other)));
            };
            trace(e.from, e.to, 1);
            trace(e.to, e.from, 2);
        }
        twins.clear();
        twins.resize(self.vertices.len(), 0);
        for v in 1..=self.points {
            let alike = |u: &usize| traces[*u] == traces[v] && self.vertices[*u] == self.vertices[v];
            twins[v] = (1..v).filter(alike).count() as u32;
        }
        order.clear();
        order.extend(0..self.vertices.len() as u32);
        let compare = |a: &u32, b: &u32| {
            let (a, b) = (*a as usize, *b as usize);
            compare(&self.vertices[a], &self.vertices[b]).then(twins[a].cmp(&twins[b]))
        };
        order.sort_unstable_by(compare);
        out.clear();
        out.resize(self.vertices.len(), 0);
        let mut colour = 0;
        for (i, v) in order.iter().enumerate() {
            if i > 0 && compare(&order[i - 1], v).is_ne() {
                colour += 1;
            }
            out[*v as usize] = colour;
        }
    }

    /// Definition 3.3, as the head of this module says. Vertex `(n, c)` is `c * vertices + n`.
    pub fn layered(&self, colours: &[u32], out: &mut Graph) {
        let n = self.vertices.len() as u32;
        let layers = self.labels.len().max(1) as u32;
        out.reset(Edges::Directed, (n * layers) as usize);
        for c in 0..layers {
            for v in 0..n {
                out.paint(c * n + v, colours[v as usize] * layers + c);
                for d in 0..layers {
                    if d != c {
                        out.join(c * n + v, d * n + v);
                    }
                }
            }
        }
        for e in &self.edges {
            out.join(e.label * n + e.from, e.label * n + e.to);
        }
    }
}

fn compare(a: &Vertex, b: &Vertex) -> std::cmp::Ordering {
    let rank = |v: &Vertex| match v {
        Vertex::Root => (0, 0),
        Vertex::Point(set) => (1, *set),
        Vertex::Value(ty, _) => (2, *ty),
        Vertex::Nested(ty) => (3, *ty),
        Vertex::Fixed(set, _) => (4, *set),
    };
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Vertex::Fixed(_, x), Vertex::Fixed(_, y)) => x.cmp(y),
        (Vertex::Value(_, x), Vertex::Value(_, y)) => x.cmp(y),
        _ => std::cmp::Ordering::Equal,
    })
}

/// The graphs of a machine's states, in memory that is kept.
#[cfg(feature = "nauty")]
pub(super) struct MachineGrapher {
    action: Arc<MachineAction>,
    encoder: Encoder,
    graph: StateGraph,
}

#[cfg(feature = "nauty")]
impl MachineGrapher {
    pub fn new(action: Arc<MachineAction>) -> MachineGrapher {
        let encoder = Encoder::new(&action);
        MachineGrapher { action, encoder, graph: StateGraph::default() }
    }
}

#[cfg(feature = "nauty")]
impl Grapher for MachineGrapher {
    fn graph(&mut self, row: &[u64], out: &mut Sketch) {
        self.encoder.graph(&self.action, row, &mut self.graph);
        // The root comes last: the points are first.
        let n = self.graph.vertices.len() as u32;
        let number = |v: u32| if v == 0 { n - 1 } else { v - 1 };
        out.colours.clear();
        out.colours.extend(self.graph.vertices[1..].iter().chain(&self.graph.vertices[..1]).map(colour));
        out.edges.clear();
        out.edges.extend(self.graph.edges.iter().map(|e| SketchEdge {
            from: number(e.from),
            to: number(e.to),
            label: u64::from(e.label),
        }));
    }
}

/// What a vertex is by itself, as a hash of structure.
#[cfg(feature = "nauty")]
fn colour(v: &Vertex) -> u64 {
    match v {
        Vertex::Root => 0,
        Vertex::Point(set) => mix(1, u64::from(*set)),
        Vertex::Value(ty, Val::W(w)) => mix(mix(2, u64::from(*ty)), *w),
        Vertex::Value(ty, Val::I(i)) => mix(mix(2, u64::from(*ty)), *i as u64),
        Vertex::Value(ty, v) => {
            mix(mix(3, u64::from(*ty)), foldhash::fast::FixedState::default().hash_one(v))
        }
        Vertex::Nested(ty) => mix(4, u64::from(*ty)),
        Vertex::Fixed(set, e) => mix(mix(5, u64::from(*set)), u64::from(*e)),
    }
}
