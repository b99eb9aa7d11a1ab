//! How the values of a type are represented, decided once when a model is compiled.
//!
//! A type with a small finite carrier gets **ordinals**: a value is its place `0..carrier` in one word. A set
//! over such a type gets **bits**: one word (`Mask`) up to 64 elements, several (`Bits`) up to a few thousand.
//! Since the bits of a small set are a number, a power set of a small type is such a type again. A pair
//! `(a, b)` has the ordinal `a * |B| + b`, so a relation is a bit matrix, one row per element of the domain.
//! Everything else is structure: exact numbers, strings, pairs, records, values of freetypes, sorted lists.

use super::packed::Packing;
use crate::model::{FreeType, SetId, Type};
use crate::value::Scope;
use std::sync::Arc;

pub type R = Arc<Rep>;

/// Largest number of elements a set in words may have.
const MAX_BITS: u64 = 4096;
/// Largest carrier that ordinals are used for.
const MAX_CARRIER: u64 = 1 << 62;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rep {
    pub shape: Shape,
    /// How many values the type has, when they are words of ordinals; 0 otherwise.
    pub carrier: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Bool,
    Elem(SetId),
    Int,
    Str,
    Pair(R, R),
    Set(R, SetKind),
    Rec(Vec<R>),
    Real,
    /// What an argument of a constructor looks like is found when it is needed: it may be of the same type.
    Free(FreeType, Arc<Scope>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    /// Bits of one word: elements are the ordinals 0..n, n ≤ 64.
    Mask(u32),
    /// Bits of ⌈n/64⌉ words.
    Bits(u32),
    /// A sorted list, or the items of a sequence.
    List,
}

impl Rep {
    pub fn of(ty: &Type, scope: &Scope) -> R {
        let rep = match ty {
            // A predicate's value never needs a representation of its own.
            Type::Bool | Type::Pred => Rep { shape: Shape::Bool, carrier: 2 },
            Type::Given(s) => Rep { shape: Shape::Elem(*s), carrier: scope.size(*s).max(1) },
            Type::Int => Rep { shape: Shape::Int, carrier: 0 },
            Type::Str => Rep { shape: Shape::Str, carrier: 0 },
            Type::Real => Rep { shape: Shape::Real, carrier: 0 },
            Type::Free(free) => Rep { shape: Shape::Free(free.clone(), Arc::new(scope.clone())), carrier: 0 },
            // Only inside of declarations, of which no value is made.
            Type::Again(_) => Rep { shape: Shape::Str, carrier: 0 },
            Type::Pair(p) => return Rep::pair(Rep::of(&p.0, scope), Rep::of(&p.1, scope)),
            Type::Pow(t) => return Rep::set(Rep::of(t, scope)),
            Type::Rec(fields) => {
                let parts: Vec<R> = fields.iter().map(|(_, t)| Rep::of(t, scope)).collect();
                let carrier = parts.iter().try_fold(1u64, |n, p| product(n, p.carrier)).unwrap_or(0);
                Rep { shape: Shape::Rec(parts), carrier }
            }
        };
        Arc::new(rep)
    }

    pub fn pair(a: R, b: R) -> R {
        let carrier = product(a.carrier, b.carrier).unwrap_or(0);
        Arc::new(Rep { shape: Shape::Pair(a, b), carrier })
    }

    pub fn set(elem: R) -> R {
        let n = elem.carrier;
        let (kind, carrier) = match n {
            0 => (SetKind::List, 0),
            1..=61 => (SetKind::Mask(n as u32), 1 << n),
            62..=64 => (SetKind::Mask(n as u32), 0),
            65..=MAX_BITS => (SetKind::Bits(n as u32), 0),
            _ => (SetKind::List, 0),
        };
        Arc::new(Rep { shape: Shape::Set(elem, kind), carrier })
    }

    /// Whether every value is one word (ordinal or bits).
    pub fn is_word(&self) -> bool {
        self.carrier > 0 || matches!(self.shape, Shape::Set(_, SetKind::Mask(_)))
    }

    pub fn is_int(&self) -> bool {
        matches!(self.shape, Shape::Int)
    }

    /// Element representation and kind of a set. Only for sets: the type checker saw to it.
    pub fn as_set(&self) -> (&R, SetKind) {
        match &self.shape {
            Shape::Set(e, k) => (e, *k),
            other => unreachable!("a set's representation was asked of {other:?}"),
        }
    }

    pub fn elem(&self) -> &R {
        self.as_set().0
    }

    pub fn as_pair(&self) -> (&R, &R) {
        match &self.shape {
            Shape::Pair(a, b) => (a, b),
            other => unreachable!("a pair's representation was asked of {other:?}"),
        }
    }

    /// Domain and range of a relation.
    pub fn as_rel(&self) -> (&R, &R) {
        self.elem().as_pair()
    }

    /// A relation whose matrix fits one word: sizes of domain and range.
    pub fn small_rel(&self) -> Option<(u32, u32)> {
        match &self.shape {
            Shape::Set(e, SetKind::Mask(_)) => match &e.shape {
                Shape::Pair(a, b) => Some((a.carrier as u32, b.carrier as u32)),
                _ => None,
            },
            _ => None,
        }
    }

    /// A set whose elements fit the bits of one word: how many there can be.
    pub fn mask_len(&self) -> Option<u32> {
        match &self.shape {
            Shape::Set(_, SetKind::Mask(n)) => Some(*n),
            _ => None,
        }
    }

    /// Whether sets of this type may be sequences: POW(INTEGER * t).
    pub fn may_be_sequence(&self) -> bool {
        match &self.shape {
            Shape::Set(e, SetKind::List) => match &e.shape {
                Shape::Pair(a, _) => a.is_int(),
                _ => false,
            },
            _ => false,
        }
    }

    /// How its sequences are words, if this is a type of sequences over few values.
    #[inline]
    pub fn packing(&self) -> Option<Packing> {
        match &self.shape {
            Shape::Set(e, SetKind::List) => match &e.shape {
                Shape::Pair(a, b) if a.is_int() => Packing::of(b.carrier),
                _ => None,
            },
            _ => None,
        }
    }
}

fn product(a: u64, b: u64) -> Option<u64> {
    match a.checked_mul(b) {
        Some(n) if n > 0 && n <= MAX_CARRIER => Some(n),
        _ => None,
    }
}

/// The lowest `n` bits.
#[inline]
pub fn low(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}
