//! Words for every value: ordinals and bits are words already, small integers are tagged, and everything else
//! is interned once, so that equal values have equal words and states are compared and hashed as words.

use super::rep::{R, Rep, Shape};
use super::val::Val;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::Mutex;

/// Interned values. Names (`u32`) are given in the order of arrival: never order or label by them.
#[derive(Debug, Default)]
pub struct Table {
    values: boxcar::Vec<Val>,
    index: Mutex<HashTable<u32>>,
    hasher: foldhash::fast::FixedState,
}

impl Table {
    pub fn intern(&self, v: &Val) -> u64 {
        let hash = self.hasher.hash_one(v);
        // A panic while the lock is held leaves the index whole: insertions are its last step.
        let mut index = self.index.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(id) = index.find(hash, |id| self.values[*id as usize] == *v) {
            return u64::from(*id);
        }
        let id = self.values.push(v.clone()) as u32;
        index.insert_unique(hash, id, |id| self.hasher.hash_one(&self.values[*id as usize]));
        u64::from(id)
    }

    pub fn get(&self, id: u64) -> &Val {
        &self.values[id as usize]
    }

    /// How many values are interned.
    pub fn len(&self) -> usize {
        self.values.count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word of an expanded value.
    #[inline]
    pub fn encode(&self, v: &Val, rep: &Rep) -> u64 {
        match v {
            Val::W(w) => *w,
            // Two bits tell small integers (0) from interned ones (1); the sign survives the shift.
            Val::I(i) if *i >> 61 == *i >> 62 && rep.is_int() => (*i << 1) as u64,
            Val::I(_) | Val::Big(_) if rep.is_int() => self.intern(v) << 1 | 1,
            v => self.intern(v),
        }
    }

    /// [`Table::encode`] without the representation: only integers are `I` or `Big`.
    #[inline]
    pub fn word(&self, v: &Val) -> u64 {
        match v {
            Val::W(w) => *w,
            Val::I(i) if *i >> 61 == *i >> 62 => (*i << 1) as u64,
            Val::I(_) | Val::Big(_) => self.intern(v) << 1 | 1,
            v => self.intern(v),
        }
    }

    /// The integer of a word.
    #[inline]
    pub fn integer(&self, w: u64) -> Val {
        if w & 1 == 0 { Val::I(w as i64 >> 1) } else { self.get(w >> 1).clone() }
    }

    #[inline]
    pub fn decode(&self, w: u64, rep: &R) -> Val {
        if rep.is_word() {
            return Val::W(w);
        }
        match rep.shape {
            Shape::Int if w & 1 == 0 => Val::I(w as i64 >> 1),
            Shape::Int => self.get(w >> 1).clone(),
            _ => self.get(w).clone(),
        }
    }
}
