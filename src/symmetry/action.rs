//! What a permutation of the points does to values, rows and constants.

use super::group::{Group, Perm, Reason};
use crate::model::{FreeType, Type};
use crate::system::Machine;
use crate::value::mask::{self, bits};
use crate::value::packed::{Packing, is_packed};
use crate::value::rep::{R, Rep, SetKind, Shape};
use crate::value::val::Val;
use std::collections::HashMap;
use std::sync::Arc;

#[cfg(any(test, kani))]
mod tests;

/// A representation, with the places where points stand in its values.
pub(super) enum Moves {
    /// No point in it: every permutation leaves its values alone.
    Still,
    /// A point, counted from this one.
    Point(u32),
    /// An ordinal `a * nb + b`.
    Pair(Box<Moves>, Box<Moves>, u64),
    /// An ordinal; each field with its carrier.
    Rec(Vec<(Moves, u64)>),
    /// Bits, one per point, counted from this one.
    Points(u32),
    /// A bit matrix: domain, range, and the bits of a row.
    Matrix(Box<Moves>, Box<Moves>, u32),
    /// Bits over any other ordinals.
    Mask(Box<Moves>),
    /// Several words of bits.
    Bits(Box<Moves>),
    List(Box<Moves>, R),
    /// Pairs and records without ordinals.
    DeepPair(Box<Moves>, Box<Moves>),
    DeepRec(Vec<Moves>),
}

impl Moves {
    pub fn of(rep: &Rep, group: &Group) -> Moves {
        let boxed = |r: &R| Box::new(Moves::of(r, group));
        if !moves(rep, group) {
            return Moves::Still;
        }
        match &rep.shape {
            // The group fixes the sets in freetypes.
            Shape::Bool | Shape::Int | Shape::Str | Shape::Real | Shape::Free(..) => Moves::Still,
            Shape::Elem(s) => group.first(*s).map_or(Moves::Still, Moves::Point),
            Shape::Pair(a, b) if rep.carrier > 0 => Moves::Pair(boxed(a), boxed(b), b.carrier),
            Shape::Pair(a, b) => Moves::DeepPair(boxed(a), boxed(b)),
            Shape::Rec(parts) if rep.carrier > 0 => {
                Moves::Rec(parts.iter().map(|p| (Moves::of(p, group), p.carrier)).collect())
            }
            Shape::Rec(parts) => Moves::DeepRec(parts.iter().map(|p| Moves::of(p, group)).collect()),
            Shape::Set(e, SetKind::Mask(_)) => match (&e.shape, *boxed(e)) {
                (_, Moves::Point(first)) => Moves::Points(first),
                (_, Moves::Pair(a, b, nb)) => Moves::Matrix(a, b, nb as u32),
                (_, other) => Moves::Mask(Box::new(other)),
            },
            Shape::Set(e, SetKind::Bits(_)) => Moves::Bits(boxed(e)),
            Shape::Set(e, SetKind::List) => {
                let set = Rep { shape: Shape::Set(e.clone(), SetKind::List), carrier: 0 };
                Moves::List(boxed(e), R::new(set))
            }
        }
    }

    pub fn is_still(&self) -> bool {
        matches!(self, Moves::Still)
    }

    /// The image of a value that is a word.
    #[inline]
    pub fn word(&self, w: u64, p: &Perm) -> u64 {
        match self {
            Moves::Point(first) => u64::from(p.0[*first as usize + w as usize] - first),
            Moves::Points(first) => {
                let images = &p.0[*first as usize..];
                bits(w).fold(0, |m, i| m | 1 << (images[i as usize] - first))
            }
            Moves::Matrix(a, b, nb) => {
                let (mut out, mut rest) = (0, w);
                while rest != 0 {
                    let x = rest.trailing_zeros() / nb;
                    let row = mask::row(w, x, *nb);
                    rest &= !(crate::value::rep::low(*nb) << (x * nb));
                    out |= b.row(row, p) << (a.word(u64::from(x), p) as u32 * nb);
                }
                out
            }
            Moves::Mask(e) => bits(w).fold(0, |m, i| m | 1 << e.word(u64::from(i), p)),
            Moves::Pair(a, b, nb) => a.word(w / nb, p) * nb + b.word(w % nb, p),
            Moves::Rec(parts) => {
                let (mut out, mut rest, mut unit) = (0, w, 1);
                for (m, carrier) in parts.iter().rev() {
                    out += m.word(rest % carrier, p) * unit;
                    rest /= carrier;
                    unit = unit.wrapping_mul(*carrier);
                }
                out
            }
            Moves::Still | Moves::Bits(_) | Moves::List(..) | Moves::DeepPair(..) | Moves::DeepRec(_) => w,
        }
    }

    /// How the sequence is packed that is this word of a slot, and what happens to its items; `None` if it is no such word.
    #[inline]
    pub fn packed(&self, rep: &Rep, word: u64) -> Option<(Packing, &Moves)> {
        match self {
            Moves::List(pair, _) if is_packed(word) => match &**pair {
                Moves::DeepPair(_, item) => Some((rep.packing()?, item)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The image of a set of ordinals of this representation.
    #[inline]
    fn row(&self, row: u64, p: &Perm) -> u64 {
        if self.is_still() { row } else { bits(row).fold(0, |m, y| m | 1 << self.word(u64::from(y), p)) }
    }

    /// The image of any expanded value.
    pub fn val(&self, v: &Val, p: &Perm) -> Val {
        match (self, v) {
            (Moves::Still, _) => v.clone(),
            (_, Val::W(w)) => Val::W(self.word(*w, p)),
            (Moves::Bits(e), Val::Bits(words)) => {
                let mut out = vec![0u64; words.len()];
                for x in v.elems() {
                    let i = e.word(x.word(), p);
                    out[(i / 64) as usize] |= 1 << (i % 64);
                }
                Val::Bits(out.into())
            }
            (Moves::List(e, _), Val::Seq(items)) => match &**e {
                Moves::DeepPair(_, item) => Val::Seq(items.iter().map(|x| item.val(x, p)).collect()),
                _ => v.clone(),
            },
            (Moves::List(e, rep), Val::Set(items)) => {
                Val::from_elems(items.iter().map(|x| e.val(x, p)).collect(), rep)
            }
            (Moves::DeepPair(a, b), Val::Pair(q)) => Val::Pair(Arc::new((a.val(&q.0, p), b.val(&q.1, p)))),
            (Moves::DeepRec(parts), Val::Rec(fields)) => {
                Val::Rec(fields.iter().zip(parts).map(|(f, m)| m.val(f, p)).collect())
            }
            // Unassigned results; representations and values agree otherwise.
            _ => v.clone(),
        }
    }
}

/// What permutations do to the values of a representation that are words.
pub struct Images(Moves);

impl Images {
    /// Of the values of this representation.
    pub fn of(rep: &Rep, group: &Group) -> Images {
        Images(Moves::of(rep, group))
    }

    /// The image of a word that is an ordinal or bits.
    pub fn word(&self, w: u64, p: &Perm) -> u64 {
        self.0.word(w, p)
    }
}

fn has_moved(free: &FreeType, group: &Group) -> bool {
    let mut found = false;
    Type::Free(free.clone()).for_each_set(&mut |s| found |= group.moves(s));
    found
}

/// Whether values of this representation can have points in them.
fn moves(rep: &Rep, group: &Group) -> bool {
    match &rep.shape {
        Shape::Bool | Shape::Int | Shape::Str | Shape::Real => false,
        Shape::Free(free, _) => {
            debug_assert!(!has_moved(free, group), "the group fixes the sets in freetypes");
            false
        }
        Shape::Elem(s) => group.moves(*s),
        Shape::Pair(a, b) => moves(a, group) || moves(b, group),
        Shape::Rec(parts) => parts.iter().any(|p| moves(p, group)),
        Shape::Set(e, _) => moves(e, group),
    }
}

/// The action of a group on the states of a machine.
pub struct MachineAction {
    pub system: Arc<Machine>,
    pub group: Group,
    /// By slot: constants, then variables.
    pub(super) slots: Vec<Moves>,
    /// Which valuation has these words; only when there are several, and all are known.
    valuations: HashMap<Box<[u64]>, u32>,
}

impl MachineAction {
    /// The action of all that the model's own text allows.
    #[must_use]
    pub fn of(system: &Arc<Machine>) -> MachineAction {
        MachineAction::new(system, Group::of(&system.model, &system.scope, &[]))
    }

    /// The constants have to be known. A set that occurs in the type of a symbolic constant is fixed.
    #[must_use]
    pub fn new(system: &Arc<Machine>, mut group: Group) -> MachineAction {
        let constants = system.const_slots();
        for slot in 0..constants {
            let symbolic = |v: usize| system.constant_vals(v)[slot].is_lazy();
            if !(0..system.valuations()).any(symbolic) {
                continue;
            }
            let name = system.model.constants[slot].name.to_string();
            let involved: Vec<_> = group.orbitals.iter().map(|o| o.set).collect();
            for set in involved {
                if mentions(&system.slots[slot].rep, set) {
                    group.fix(set, Reason::Symbolic(name.clone()));
                }
            }
        }
        let count = constants + system.model.variables.len();
        let slots: Vec<Moves> = system.slots[..count].iter().map(|s| Moves::of(&s.rep, &group)).collect();
        let mut action = MachineAction { system: system.clone(), group, slots, valuations: HashMap::new() };
        let is_listed = system.valuations() > 1 && !system.is_open();
        if is_listed && action.slots[..constants].iter().any(|m| !m.is_still()) {
            let identity = Perm::identity(action.group.points());
            for v in 0..system.valuations() {
                let words = action.constants(v, &identity);
                action.valuations.insert(words.into(), v as u32);
            }
        }
        action
    }

    /// The words of the permuted constants.
    fn constants(&self, valuation: usize, p: &Perm) -> Vec<u64> {
        let vals = self.system.constant_vals(valuation).iter();
        let table = self.system.table();
        vals.enumerate()
            .map(|(slot, v)| table.encode(&self.slots[slot].val(v, p), &self.system.slots[slot].rep))
            .collect()
    }

    /// The number of the permuted valuation; none if that was not found among all, since the search for them was
    /// cut short. While valuations are still looked for it is given one: what is symmetric to a valuation is one.
    #[must_use]
    pub fn valuation(&self, valuation: usize, p: &Perm) -> Option<usize> {
        if self.system.is_open() {
            let slots = &self.slots[..self.system.const_slots()];
            if slots.iter().all(Moves::is_still) {
                return Some(valuation);
            }
            let vals = self.system.constant_vals(valuation).iter();
            return self.system.number_of(vals.zip(slots).map(|(v, moves)| moves.val(v, p)).collect());
        }
        if self.valuations.is_empty() {
            // The only one, or none of the constants moves: then this valuation is its own image. A single
            // valuation with points in it is its own image as well, if the search for valuations was complete.
            if self.system.const_slots() == 0
                || self.slots[..self.system.const_slots()].iter().all(Moves::is_still)
            {
                return Some(valuation);
            }
            let identity = Perm::identity(self.group.points());
            let same = self.constants(valuation, p) == self.constants(valuation, &identity);
            return same.then_some(valuation);
        }
        self.valuations.get(&*self.constants(valuation, p)).map(|v| *v as usize)
    }

    /// The image of the word of a slot.
    #[inline]
    pub(super) fn slot_word(&self, slot: usize, w: u64, p: &Perm) -> u64 {
        match &self.slots[slot] {
            Moves::Still => w,
            m @ (Moves::Bits(_) | Moves::List(..) | Moves::DeepPair(..) | Moves::DeepRec(_)) => {
                let (table, rep) = (self.system.table(), &self.system.slots[slot].rep);
                match m.packed(rep, w) {
                    Some((packing, item)) => packing.map(w, |x| item.word(x, p)),
                    None => table.encode(&m.val(&table.decode(w, rep), p), rep),
                }
            }
            m => m.word(w, p),
        }
    }
}

fn mentions(rep: &Rep, set: crate::model::SetId) -> bool {
    match &rep.shape {
        Shape::Bool | Shape::Int | Shape::Str | Shape::Real => false,
        Shape::Free(free, _) => {
            let mut found = false;
            Type::Free(free.clone()).for_each_set(&mut |s| found |= s == set);
            found
        }
        Shape::Elem(s) => *s == set,
        Shape::Pair(a, b) => mentions(a, set) || mentions(b, set),
        Shape::Rec(parts) => parts.iter().any(|p| mentions(p, set)),
        Shape::Set(e, _) => mentions(e, set),
    }
}
