//! Symmetry markers (*Symmetry Markers*, Definitions 1 and 2 with the rules for NonSym): a value that symmetric states
//! share, and that other states may share too.
//!
//! A marker is the state with every point replaced by the multiset of paths that lead to it. Here both are
//! hashes of 128 bits; multisets are sums. A sequence is the set of pairs that it is in B, and a record is the
//! pair of its first field and the rest. NonSym has fixed points and all values of types without points, where
//! the paper has atoms, pairs of them, and the empty set: finer, and still the same for symmetric states.

use super::Marks;
use super::action::{MachineAction, Moves};
use super::group::Group;
use crate::system::System;
use crate::value::hash::label as mix;
use crate::value::val::Val;
use std::hash::BuildHasher;
use std::sync::Arc;

pub type Marker = u128;

const LEFT: u128 = 11;
const RIGHT: u128 = 12;
const BOTH: u128 = 13;
const TO: u128 = 14;
const FROM: u128 = 15;
const EL: u128 = 16;
const EMPTY: u128 = 17;
const FIXED: u128 = 18;

/// Makes markers, in memory that is kept.
pub struct Marking {
    action: Arc<MachineAction>,
    /// `paths(d, s)` of every point d.
    paths: Vec<u128>,
    vals: Vec<Val>,
}

impl Marks for Marking {
    fn of_row(&mut self, row: &[u64]) -> Marker {
        Marking::of_row(self, row)
    }

    fn of_start(&mut self, start: usize) -> Marker {
        self.of_constants(start)
    }
}

impl Marking {
    #[must_use]
    pub fn new(action: &Arc<MachineAction>) -> Marking {
        Marking { action: action.clone(), paths: vec![], vals: vec![] }
    }

    /// The marker of a state.
    pub fn of_row(&mut self, row: &[u64]) -> Marker {
        let system = &self.action.system;
        self.vals.clear();
        self.vals.extend_from_slice(system.constant_vals(system.start_of(row)));
        let first = system.const_slots();
        for (i, w) in system.words(row).iter().enumerate() {
            self.vals.push(system.table().decode(*w, &system.slots[first + i].rep));
        }
        self.marker()
    }

    /// The marker of a valuation of the constants.
    pub fn of_constants(&mut self, valuation: usize) -> Marker {
        self.vals.clear();
        self.vals.extend_from_slice(self.action.system.constant_vals(valuation));
        self.marker()
    }

    fn marker(&mut self) -> Marker {
        let vals = std::mem::take(&mut self.vals);
        let action = self.action.clone();
        let slots = &action.slots;
        self.paths.clear();
        self.paths.resize(action.group.points(), 0);
        for (slot, (v, m)) in vals.iter().zip(slots).enumerate() {
            self.paths(&mark(m, v, &action.group), mix(slot as u128, EL));
        }
        let mut marker = 0;
        for (v, m) in vals.iter().zip(slots) {
            marker = mix(marker, self.value(&mark(m, v, &action.group)));
        }
        self.vals = vals;
        marker
    }

    /// Definition 1: adds the paths that begin with `path` and go on into a value.
    fn paths(&mut self, e: &Marked, path: u128) {
        match e {
            Marked::Point(d) => {
                let all = &mut self.paths[*d as usize];
                *all = all.wrapping_add(mix(path, 1));
            }
            Marked::Set(items) => items.iter().for_each(|x| self.paths(x, mix(path, EL))),
            Marked::Pair(pair) => {
                let (x, y) = &**pair;
                match (x.is_non_sym(), y.is_non_sym()) {
                    (true, true) => {}
                    (false, true) => self.paths(x, mix(mix(path, TO), self.value(y))),
                    (true, false) => self.paths(y, mix(mix(path, FROM), self.value(x))),
                    (false, false) if x == y => self.paths(x, mix(path, BOTH)),
                    (false, false) => {
                        self.paths(x, mix(path, LEFT));
                        self.paths(y, mix(path, RIGHT));
                    }
                }
            }
            Marked::Atom(_) => {}
        }
    }

    /// Definition 2: the value with every point replaced by its paths.
    fn value(&self, e: &Marked) -> u128 {
        match e {
            Marked::Atom(hash) => mix(*hash, 2),
            Marked::Point(d) => mix(self.paths[*d as usize], 3),
            Marked::Pair(pair) => mix(mix(self.value(&pair.0), LEFT), self.value(&pair.1)),
            Marked::Set(items) if items.is_empty() => EMPTY,
            Marked::Set(items) => {
                let sum = items.iter().fold(0u128, |sum, x| sum.wrapping_add(mix(self.value(x), EL)));
                mix(sum, items.len() as u128)
            }
        }
    }
}

/// A value as the definitions read it.
#[derive(PartialEq)]
enum Marked {
    Atom(u128),
    Point(u32),
    Pair(Box<(Marked, Marked)>),
    Set(Vec<Marked>),
}

impl Marked {
    /// Values of types without points, the empty set, and pairs of such.
    fn is_non_sym(&self) -> bool {
        match self {
            Marked::Atom(_) => true,
            Marked::Point(_) => false,
            Marked::Pair(p) => p.0.is_non_sym() && p.1.is_non_sym(),
            Marked::Set(items) => items.is_empty(),
        }
    }
}

/// Fixed points and values of a type without points are taken whole: their marker is themselves, and no path ends
/// in them.
fn mark(m: &Moves, v: &Val, group: &Group) -> Marked {
    let mark = |m: &Moves, v: &Val| mark(m, v, group);
    let pair = |a, b| Marked::Pair(Box::new((a, b)));
    let point = |d: u32| match group.is_still(d) {
        true => Marked::Atom(mix(u128::from(d), FIXED)),
        false => Marked::Point(d),
    };
    match (m, v) {
        (Moves::Point(first), Val::W(w)) => point(first + *w as u32),
        (Moves::Pair(a, b, nb), Val::W(w)) => pair(mark(a, &Val::W(w / nb)), mark(b, &Val::W(w % nb))),
        (Moves::DeepPair(a, b), Val::Pair(p)) => pair(mark(a, &p.0), mark(b, &p.1)),
        (Moves::Rec(parts), Val::W(w)) => {
            let mut rest = *w;
            let mut fields = vec![];
            for (m, carrier) in parts.iter().rev() {
                fields.push(mark(m, &Val::W(rest % carrier)));
                rest /= carrier;
            }
            record(fields)
        }
        (Moves::DeepRec(parts), Val::Rec(fields)) => {
            record(parts.iter().zip(fields.iter()).rev().map(|(m, f)| mark(m, f)).collect())
        }
        (Moves::Points(first), Val::W(w)) => {
            Marked::Set(crate::value::mask::bits(*w).map(|i| point(first + i)).collect())
        }
        (Moves::Matrix(a, b, nb), Val::W(w)) => {
            let element = |i| pair(mark(a, &Val::W(u64::from(i / nb))), mark(b, &Val::W(u64::from(i % nb))));
            Marked::Set(crate::value::mask::bits(*w).map(element).collect())
        }
        (Moves::Mask(e) | Moves::Bits(e) | Moves::List(e, _), _) => {
            Marked::Set(v.elems().map(|x| mark(e, &x)).collect())
        }
        _ => Marked::Atom(structure(v)),
    }
}

/// From the fields, last first.
fn record(fields: Vec<Marked>) -> Marked {
    let mut all = fields.into_iter();
    let last = all.next().unwrap_or(Marked::Set(vec![]));
    all.fold(last, |rest, f| Marked::Pair(Box::new((f, rest))))
}

fn structure(v: &Val) -> u128 {
    let hash = |seed| foldhash::fast::FixedState::with_seed(seed).hash_one(v);
    u128::from(hash(1)) << 64 | u128::from(hash(2))
}
