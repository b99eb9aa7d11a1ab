//! The index: places found by hash, 0 when free. One thread writes, others may look at the same time.
//!
//! A place has 32 bits: the number of a state plus one, and as much of its hash as there is room for beside that. The
//! state's row is not there, so whoever finds a place looks the row up, which for another row's place is seldom
//! necessary: the bits of the hash tell. What the rows tell is all that an index knows, so one that grows is made anew,
//! in the memory that it has and some more: the old one is not kept beside it.
//!
//! Who looks while it is made anew, or with what was known of its size before, finds fewer states than there are. What
//! is found is always there: the row was read.

use super::StateId;
use super::pages::zeros;
use crate::value::hash::{GOLDEN, mix};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(any(test, kani))]
mod tests;

/// Places of a block. A smaller index has a block of its own size.
const BLOCK: usize = 1 << 21;

/// Places of an index that does not get twice as large any more: half a gigabyte.
const MANY: usize = 1 << 27;

pub struct Places {
    blocks: Vec<Arc<[AtomicU32]>>,
    len: usize,
    /// The bits of a place that number a state.
    ids: u32,
}

/// A place and its word.
#[derive(Clone, Copy)]
pub struct Slot {
    pub at: usize,
    pub word: u32,
}

impl Slot {
    #[inline]
    pub fn is_free(self) -> bool {
        self.word == 0
    }
}

/// Rows are asked for so many places before they are read.
const AHEAD: usize = 24;
/// Places that a guess looks at: mostly those of one line of the cache.
const SOON: usize = 8;

pub const LEAST: usize = 1 << 8;

/// How many states so many places are for: three quarters of them are used then.
fn room(places: usize) -> usize {
    places / 4 * 3
}

impl Places {
    /// Free places: a number below [`BLOCK`], or a multiple of it.
    pub fn new(n: usize) -> Places {
        let blocks = (0..n.div_ceil(BLOCK)).map(|_| zeros(n.min(BLOCK))).collect();
        Places::of(blocks, n)
    }

    fn of(blocks: Vec<Arc<[AtomicU32]>>, len: usize) -> Places {
        // The largest number is that of places, which is more than there are states: and of those there are fewer than
        // 2^32 - 1.
        let bits = (usize::BITS - len.leading_zeros()).clamp(1, 32);
        Places { blocks, len, ids: u32::MAX >> (32 - bits) }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn bytes(&self) -> usize {
        self.len * size_of::<AtomicU32>()
    }

    /// How many places a larger index has that has room for more than so many states: twice as many until that is a lot
    /// of memory, then half as many again. Each time all rows are read.
    pub fn larger(&self, states: usize) -> usize {
        let more = |n: &usize| match *n {
            n if n < MANY => n * 2,
            n => n + n / BLOCK / 2 * BLOCK,
        };
        let mut n = more(&self.len);
        while room(n) <= states {
            n = more(&n);
        }
        n
    }

    /// So many places, all free; those of this index are among them, as far as both have whole blocks.
    pub fn grown(&self, n: usize) -> Places {
        if self.len < BLOCK || n < BLOCK {
            return Places::new(n);
        }
        for word in self.blocks.iter().flat_map(|block| block.iter()) {
            word.store(0, Ordering::Relaxed);
        }
        let mut blocks = self.blocks.clone();
        blocks.resize_with(n / BLOCK, || zeros(BLOCK));
        Places::of(blocks, n)
    }

    /// All states with their hashes, in the order of these. What follows a free place up to the next one has hashes that
    /// begin there, and those grow with the place; so nothing but these few have to be sorted.
    ///
    /// # Errors
    /// That of `each`.
    pub fn by_hash<E>(
        &self,
        hash: impl Fn(StateId) -> u64,
        soon: impl Fn(StateId),
        mut each: impl FnMut(u64, StateId) -> Result<(), E>,
    ) -> Result<(), E> {
        let id_at = |at: usize| {
            let word = self.place(at).load(Ordering::Relaxed);
            (word != 0).then(|| (word & self.ids).wrapping_sub(1))
        };
        let mut near: Vec<(u64, StateId)> = vec![];
        let mut flush = |near: &mut Vec<(u64, StateId)>| {
            near.sort_unstable();
            near.drain(..).try_for_each(|(hash, id)| each(hash, id))
        };
        // The first places may have states that found none at the end: their hashes are the largest.
        let free = (0..self.len).find(|at| id_at(*at).is_none()).unwrap_or(self.len);
        let mut last = vec![];
        for id in (0..free).filter_map(id_at) {
            let hash = hash(id);
            if self.start(hash) > free { last.push((hash, id)) } else { near.push((hash, id)) }
        }
        for at in free..self.len {
            id_at((at + AHEAD).min(self.len - 1)).into_iter().for_each(&soon);
            match id_at(at) {
                Some(id) => near.push((hash(id), id)),
                None => flush(&mut near)?,
            }
        }
        near.append(&mut last);
        flush(&mut near)
    }

    /// How many states so many places are for.
    pub fn room_of(places: usize) -> usize {
        room(places)
    }

    /// How many places an index has that is one size smaller.
    pub fn fewer(&self) -> usize {
        match self.len / 2 {
            n if n < BLOCK => n,
            n => n / BLOCK * BLOCK,
        }
    }

    /// How many states there may be before it grows.
    pub fn room(&self) -> usize {
        room(self.len)
    }

    /// How many states there may be at most: there is always a free place, so that a search ends.
    pub fn most(&self) -> usize {
        self.len / 16 * 15
    }

    /// The place where the search for a hash begins.
    #[inline]
    fn start(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.len as u128) >> 64) as usize
    }

    #[inline]
    fn place(&self, at: usize) -> &AtomicU32 {
        &self.blocks[at / BLOCK][at % BLOCK]
    }

    /// What is written before this is seen by whoever sees the word.
    #[inline]
    pub fn set(&self, at: usize, hash: u64, id: StateId) {
        self.place(at).store(hash as u32 & !self.ids | (id + 1), Ordering::Release);
    }

    /// The state in a place that is not free.
    #[inline]
    pub fn id(&self, slot: Slot) -> StateId {
        (slot.word & self.ids).wrapping_sub(1)
    }

    /// The first place for a hash that is free or whose state is the one, as far as its hash tells and `is_it`.
    ///
    /// The word is the one that was seen: a second look could find what another state has been given the place for.
    #[inline]
    pub fn find(&self, hash: u64, is_it: impl Fn(StateId) -> bool) -> Slot {
        let tag = hash as u32 & !self.ids;
        let mut at = self.start(hash);
        for _ in 0..self.len {
            let slot = Slot { at, word: self.place(at).load(Ordering::Acquire) };
            if slot.is_free() || slot.word & !self.ids == tag && is_it(self.id(slot)) {
                return slot;
            }
            at = if at + 1 == self.len { 0 } else { at + 1 };
        }
        // There is a free place, but for somebody who looks while all of them change.
        Slot { at, word: 0 }
    }

    /// The first free place for a hash.
    #[inline]
    pub fn free(&self, hash: u64) -> usize {
        let mut at = self.start(hash);
        while self.place(at).load(Ordering::Relaxed) != 0 {
            at = if at + 1 == self.len { 0 } else { at + 1 };
        }
        at
    }

    /// The state in the first place for a hash that may be its state's, if that is found soon. Who uses it compares the
    /// row, and looks everywhere if it is another.
    #[inline]
    pub fn guess(&self, hash: u64) -> Option<StateId> {
        let tag = hash as u32 & !self.ids;
        let at = self.start(hash);
        let block = &self.blocks[at / BLOCK];
        for place in block.get(at % BLOCK..)?.iter().take(SOON) {
            let word = place.load(Ordering::Acquire);
            if word == 0 {
                return None;
            }
            if word & !self.ids == tag {
                return Some((word & self.ids).wrapping_sub(1));
            }
        }
        None
    }

    /// Asks the memory for the place where the search begins.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let at = self.start(hash);
        prefetch(&self.blocks[at / BLOCK], at % BLOCK);
    }
}

#[inline]
#[allow(unsafe_code)] // One hint to the processor.
pub fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; the address is that of an item, and nothing is read or written.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}

/// The hash of a key.
#[inline]
pub fn hash(key: &[u64]) -> u64 {
    if let [word] = key {
        return mix(*word);
    }
    let mut h = key.len() as u64;
    for w in key {
        h = mix(h ^ w).rotate_left(29).wrapping_add(GOLDEN);
    }
    mix(h)
}
