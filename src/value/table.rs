//! Words for every value: ordinals and bits are words already, small integers are tagged, short sequences over few
//! values are packed ([`super::packed`]), and everything else is interned once, so that equal values have equal words
//! and states are compared and hashed as words.

use super::packed::{Packing, is_packed};
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
            Val::I(_) | Val::Big(_) => self.of_integer(v),
            Val::Seq(_) | Val::Set(_) => self.of_list(v, rep.packing()),
            v => self.intern(v),
        }
    }

    /// The word of an integer.
    #[inline]
    pub fn of_integer(&self, v: &Val) -> u64 {
        match v {
            // Two bits tell small integers (0) from interned ones (1); the sign survives the shift.
            Val::I(i) if *i >> 61 == *i >> 62 => (*i << 1) as u64,
            v => self.intern(v) << 1 | 1,
        }
    }

    /// The word of a sequence or a sorted list: a name, which has a tag where it could be a packed sequence.
    fn of_list(&self, v: &Val, packing: Option<Packing>) -> u64 {
        let Some(packing) = packing else { return self.intern(v) };
        let packed = match v {
            Val::Seq(items) => packing.word(items.iter().map(Val::word)),
            Val::Set(pairs) if pairs.is_empty() => Some(0),
            _ => None,
        };
        packed.unwrap_or_else(|| self.intern(v) << 1 | 1)
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
            _ => match rep.packing() {
                None => self.get(w).clone(),
                Some(packing) if is_packed(w) => Val::seq(packing.items(w).map(Val::W).collect()),
                Some(_) => self.get(w >> 1).clone(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SetId;
    use crate::value::rep::SetKind;
    use std::sync::Arc;

    /// Sequences over ten bits, of which six fit.
    fn sequences() -> R {
        let of = |shape, carrier| Arc::new(Rep { shape, carrier });
        let items = of(Shape::Elem(SetId(0)), 1_000);
        let pair = Rep::pair(of(Shape::Int, 0), items);
        of(Shape::Set(pair, SetKind::List), 0)
    }

    fn items(of: std::ops::Range<u64>) -> Val {
        Val::seq(of.map(Val::W).collect())
    }

    /// A value has one word, whatever made it; what fits is not interned, and what does not is and comes back.
    #[test]
    fn sequences_that_fit_are_not_interned() {
        let (table, rep) = (Table::default(), sequences());
        for n in 0..=6 {
            let word = table.encode(&items(0..n), &rep);
            assert!(is_packed(word) && table.is_empty(), "{n} items");
            assert_eq!(table.decode(word, &rep), items(0..n));
        }
        let pair = |i: i64, x| Val::pair(Val::I(i), Val::W(x), rep.elem());
        let others = [
            items(0..7),
            items(3..30),
            Val::from_elems(vec![pair(0, 1)], &rep),
            Val::from_elems(vec![pair(2, 1)], &rep),
            Val::from_elems(vec![pair(1, 1), pair(1, 2)], &rep),
        ];
        for (n, v) in others.iter().enumerate() {
            let word = table.encode(v, &rep);
            assert!(!is_packed(word) && table.len() == n + 1, "{v:?}");
            assert_eq!((table.decode(word, &rep), table.encode(v, &rep)), (v.clone(), word));
        }
        // Made of pairs, a sequence is the same.
        let listed = Val::from_elems(vec![pair(2, 8), pair(1, 7)], &rep);
        assert_eq!(table.encode(&listed, &rep), table.encode(&Val::seq(vec![Val::W(7), Val::W(8)]), &rep));
    }

    #[test]
    fn there_is_one_empty_sequence() {
        let (table, rep) = (Table::default(), sequences());
        for v in [Val::empty(&rep), Val::seq(vec![]), Val::from_elems(vec![], &rep)] {
            assert_eq!(table.encode(&v, &rep), 0);
        }
        assert_eq!(table.decode(0, &rep), Val::empty(&rep));
        // Of another type the empty set is interned: there are no packed words.
        let strings = Rep::set(Arc::new(Rep { shape: Shape::Str, carrier: 0 }));
        table.encode(&Val::empty(&strings), &strings);
        assert_eq!(table.len(), 1);
    }
}
