//! The index: places found by hash, one word each, 0 when free. One thread writes, others may look at the same time.

use super::StateId;
use super::pages::room;
use crate::value::hash::{GOLDEN, mix};
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(any(test, kani))]
mod tests;

pub struct Places(Vec<AtomicU64>);

/// A place and its word.
#[derive(Clone, Copy)]
pub struct Slot {
    pub at: usize,
    pub word: u64,
}

impl Slot {
    #[inline]
    pub fn is_free(self) -> bool {
        self.word == 0
    }
}

pub const LEAST: usize = 1 << 8;

/// The place where the search for a hash begins. The high bits: so a table that doubles keeps its order, and is
/// filled from the old one front to back.
#[inline]
fn start(hash: u64, places: usize) -> usize {
    (hash >> (64 - places.trailing_zeros())) as usize
}

impl Places {
    /// `n` free places, a power of two.
    pub fn new(n: usize) -> Places {
        let mut places = room(n);
        places.resize_with(n, AtomicU64::default);
        Places(places)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// A word stands for itself: nothing else has to be seen by who sees it.
    #[inline]
    pub fn set(&self, at: usize, word: u64) {
        self.0[at].store(word, Ordering::Relaxed);
    }

    /// The first place for a hash whose word is as wanted. A free place has to be among those, and there is one.
    ///
    /// The word is the one that was seen: a second look could find what another key has been given the place for.
    #[inline]
    fn first(&self, hash: u64, is_wanted: impl Fn(u64) -> bool) -> Slot {
        let mut at = start(hash, self.len());
        loop {
            let word = self.0[at].load(Ordering::Relaxed);
            if is_wanted(word) {
                return Slot { at, word };
            }
            at = (at + 1) & (self.len() - 1);
        }
    }

    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|w| w.load(Ordering::Relaxed))
    }

    /// A table grows when it is three quarters full.
    #[inline]
    pub fn is_full(&self, states: usize) -> bool {
        states * 4 >= self.len() * 3
    }

    /// The place of a key, or a free one for it.
    #[inline]
    pub fn narrow(&self, key: u64) -> Slot {
        self.first(mix(key), |word| word == key + 1 || word == 0)
    }

    /// The place of a state with this row, or a free one for it. Rows that cannot be had are other rows.
    #[inline]
    pub fn wide<'r>(&self, hash: u64, key: &[u64], row: impl Fn(StateId) -> Option<&'r [u64]>) -> Slot {
        let tag = hash as u32;
        let is_it = |word: u64| (word >> 32) as u32 == tag && row(id_of(word)).is_some_and(|r| r == key);
        self.first(hash, |word| word == 0 || is_it(word))
    }

    /// A free place for a hash.
    pub fn free(&self, hash: u64) -> usize {
        self.first(hash, |word| word == 0).at
    }

    /// Asks the memory for the place where the search begins.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.0, start(hash, self.len()));
    }

    /// The same here and in a table beside this one.
    #[inline]
    pub fn prefetch_with<T>(&self, hash: u64, beside: &[T]) {
        let at = start(hash, self.len());
        prefetch(&self.0, at);
        prefetch(beside, at);
    }
}

/// The word of a state in a table of wide rows.
#[inline]
pub fn word(hash: u64, id: StateId) -> u64 {
    hash << 32 | u64::from(id + 1)
}

#[inline]
pub fn id_of(word: u64) -> StateId {
    (word as StateId).wrapping_sub(1)
}

#[inline]
#[allow(unsafe_code)] // One hint to the processor.
fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; the address is that of an item, and nothing is read or written.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}

#[inline]
pub fn hash(row: &[u64]) -> u64 {
    let mut h = row.len() as u64;
    for w in row {
        h = mix(h ^ w).rotate_left(29).wrapping_add(GOLDEN);
    }
    mix(h)
}
