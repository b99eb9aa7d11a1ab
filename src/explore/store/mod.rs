//! The visited states: packed rows in chunks, found by hash, each with its parent.
//!
//! A row comes with as many words as the model has variables; most of them are small, so a row is kept packed, bit by bit
//! ([`Layout`], [`rows`]). The index has numbers of states only, and some bits of their hashes ([`places`]).

mod layout;
mod pages;
mod places;
mod rows;

pub use layout::Layout;

use super::memory::Limit;
use kanon_refinement::kernel::{Insertion, Rrac};
use places::{LEAST, Places, Slot, hash};
pub use rows::Frozen;
use rows::{Parents, Rows};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A state's place in the store.
pub type StateId = u32;

/// The parent of an initial state.
pub const ROOT: StateId = StateId::MAX;

/// A state's words, one per variable.
pub type Row = SmallVec<[u64; 8]>;

/// A state that arrives: its row, and the state it was reached from.
#[derive(Clone, Copy)]
pub struct Arriving<'a> {
    pub row: &'a [u64],
    pub parent: StateId,
}

/// A state that arrives by its key, packed by [`View::pack`].
#[derive(Clone, Copy)]
pub struct Packed<'a> {
    pub key: &'a [u64],
    pub parent: StateId,
}

pub struct Store {
    layout: Arc<Layout>,
    rows: Rows,
    parents: Parents,
    index: Arc<Places>,
    /// The index grows when there are so many states.
    full_at: usize,
    /// How many states views may have heard of.
    told: Arc<AtomicU32>,
    limit: Limit,
    is_cramped: bool,
}

/// An index that grows by fewer bytes than these asks nobody.
const LITTLE: usize = 1 << 20;
/// So many keys are put into an index after they have been asked for.
const SOON: usize = 32;

/// The store as it was some time ago, for others to look at: what they find there is stored, what they do not find may
/// be.
pub struct View {
    layout: Arc<Layout>,
    rows: Rows,
    index: Arc<Places>,
    told: Arc<AtomicU32>,
}

/// How many states somebody has heard of: their rows are written, and will not change.
#[derive(Clone, Copy)]
pub struct Seen(StateId);

impl View {
    /// Words of a key.
    pub fn key_words(&self) -> usize {
        self.layout.words()
    }

    /// What can be seen now.
    pub fn seen(&self) -> Seen {
        Seen(self.told.load(Ordering::Acquire))
    }

    /// Adds the key of a row to `keys`, and asks the memory for the place where it will be looked up. The answer is its
    /// hash.
    #[inline]
    pub fn pack(&self, row: &[u64], keys: &mut Vec<u64>) -> u64 {
        let at = keys.len();
        if self.layout.words() == 1 {
            keys.push(self.layout.pack_narrow(row));
        } else {
            keys.resize(at + self.layout.words(), 0);
            self.layout.pack_into(row, &mut keys[at..]);
        }
        let hash = hash(&keys[at..]);
        self.index.prefetch(hash);
        hash
    }

    /// Asks the memory for the row with which a key will be compared, after the place where it will be looked up. The
    /// answer is that row's state, if there is one: most probably the key's.
    #[inline]
    pub fn approach(&self, hash: u64) -> Option<StateId> {
        let id = self.index.guess(hash)?;
        self.rows.prefetch(id);
        Some(id)
    }

    /// Whether a key is certainly that of a state; `false` says nothing.
    #[inline]
    pub fn is(&self, id: StateId, key: &[u64], seen: Seen) -> bool {
        id < seen.0 && self.rows.is(id, key)
    }

    /// The row that a key packs.
    #[inline]
    pub fn unpack(&self, key: &[u64], row: &mut Vec<u64>) {
        row.clear();
        row.extend(self.layout.unpack(key));
    }

    /// Whether a key is certainly stored; `false` says nothing. While the index is made anew, or is larger by now, a place
    /// may seem to have the number of any state: so only rows count that were written when that was said.
    #[inline]
    pub fn has(&self, key: &[u64], hash: u64, seen: Seen) -> bool {
        !self.index.find(hash, |id| self.is(id, key, seen)).is_free()
    }
}

impl Store {
    pub fn new(layout: Layout) -> Store {
        Store::with_places(layout, LEAST)
    }

    /// An index with so many places at first, a power of two.
    fn with_places(layout: Layout, n: usize) -> Store {
        let index = Arc::new(Places::new(n));
        Store {
            rows: Rows::new(&layout.word_bits()),
            layout: Arc::new(layout),
            parents: Parents::default(),
            full_at: index.room(),
            index,
            told: Arc::default(),
            limit: Limit::default(),
            is_cramped: false,
        }
    }

    /// The same within a limit of memory, for which it asks before the index grows.
    pub fn within(self, limit: Limit) -> Store {
        Store { limit, ..self }
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn view(&self) -> View {
        self.tell();
        View {
            layout: self.layout.clone(),
            rows: self.rows.clone(),
            index: self.index.clone(),
            told: self.told.clone(),
        }
    }

    /// Views see the states that there are now, as far as they know of their rows and places.
    #[inline]
    pub fn tell(&self) {
        self.told.store(self.len() as StateId, Ordering::Release);
    }

    /// Whether a view shows less than a new one would.
    pub fn is_beyond(&self, view: &View) -> bool {
        !Arc::ptr_eq(&self.index, &view.index) || view.rows.chunks() < self.rows.chunks()
    }

    /// The states as they are now, for somebody who looks at them later.
    pub fn freeze(&self) -> (Arc<Layout>, Frozen) {
        (self.layout.clone(), Frozen::of(&self.rows, &self.parents))
    }

    /// Words of a key.
    pub fn key_words(&self) -> usize {
        self.layout.words()
    }

    /// Whether the limit of memory has kept the index from growing. It has room for some more states.
    pub fn is_cramped(&self) -> bool {
        self.is_cramped
    }

    /// Whether there may soon be no room for what a row needs beside it.
    pub fn is_exhausted(&self) -> bool {
        self.layout.is_exhausted()
    }

    /// How many states can be stored before the index grows.
    pub fn room(&self) -> usize {
        self.full_at.saturating_sub(self.len())
    }

    /// A state's row, packed.
    #[inline]
    pub fn key(&self, id: StateId) -> Row {
        self.rows.get(id)
    }

    pub fn row(&self, id: StateId) -> Row {
        self.layout.unpack(&self.key(id)).collect()
    }

    /// [`Store::row`] into a vector.
    #[inline]
    pub fn read(&self, id: StateId, row: &mut Vec<u64>) {
        row.clear();
        row.extend(self.layout.unpack(&self.key(id)));
    }

    /// One word of the row that a key packs.
    #[inline]
    pub fn word(&self, key: &[u64], place: usize) -> u64 {
        self.layout.word(key, place)
    }

    pub fn parent(&self, id: StateId) -> Option<StateId> {
        Some(self.parents.get(id)).filter(|p| *p != ROOT)
    }

    /// Steps from an initial state along the parents, if not more than `most`.
    pub fn depth(&self, id: StateId, most: usize) -> Option<usize> {
        let mut at = id;
        for depth in 0..=most {
            match self.parent(at) {
                Some(parent) => at = parent,
                None => return Some(depth),
            }
        }
        None
    }

    /// How many states were found after so many steps from an initial one, along the parents.
    pub fn depths(&self) -> Vec<u64> {
        let mut of: Vec<u32> = Vec::with_capacity(self.len());
        let mut counts: Vec<u64> = vec![];
        for parent in self.parents.iter() {
            // A parent is stored before what it leads to, and an initial state has none.
            let depth = of.get(parent as usize).map_or(0, |d| d + 1);
            of.push(depth);
            if counts.len() <= depth as usize {
                counts.resize(depth as usize + 1, 0);
            }
            counts[depth as usize] += 1;
        }
        counts
    }

    /// The place of a key, or a free one for it.
    #[inline]
    fn slot(&self, key: &[u64], hash: u64) -> Slot {
        self.index.find(hash, |id| self.rows.is(id, key))
    }

    /// The id of a row.
    pub fn find(&self, row: &[u64]) -> Option<StateId> {
        let key = self.layout.pack(row);
        let slot = self.slot(&key, hash(&key));
        (!slot.is_free()).then(|| self.index.id(slot))
    }

    /// The state with a packed row.
    pub(super) fn find_key(&self, key: &[u64]) -> Option<StateId> {
        self.find(&self.unpacked(key))
    }

    /// The words of a packed row.
    pub(super) fn unpacked(&self, key: &[u64]) -> Row {
        self.layout.unpack(key).collect()
    }

    /// Asks the memory for the place where a row will be looked up.
    #[inline]
    pub fn prefetch_row(&self, row: &[u64]) {
        if self.layout.words() == 1 {
            self.prefetch(&[self.layout.pack_narrow(row)]);
        } else {
            self.prefetch(&self.layout.pack(row));
        }
    }

    /// The same for a key.
    #[inline]
    pub fn prefetch(&self, key: &[u64]) {
        self.index.prefetch(hash(key));
    }

    /// Stores a key if it is not there.
    #[inline]
    fn insert(&mut self, key: &[u64], parent: StateId) -> Insertion<StateId> {
        let hash = hash(key);
        let slot = self.slot(key, hash);
        if !slot.is_free() {
            return Insertion::Present(self.index.id(slot));
        }
        let id = self.push(key, parent);
        self.index.set(slot.at, hash, id);
        if self.len() >= self.full_at {
            self.grow();
        }
        Insertion::Inserted(id)
    }

    #[inline]
    fn push(&mut self, key: &[u64], parent: StateId) -> StateId {
        let id = self.parents.len() as StateId;
        self.rows.push(id, key);
        self.parents.push(parent);
        id
    }

    /// A new id for a row, whether or not it has one already; it is the old one that is found.
    pub(super) fn append(&mut self, key: Arriving) -> StateId {
        match self.insert_if_absent(key) {
            Insertion::Inserted(id) => id,
            Insertion::Present(_) => {
                let packed = self.layout.pack(key.row);
                let id = self.push(&packed, key.parent);
                if self.len() >= self.full_at {
                    self.grow();
                }
                id
            }
        }
    }

    /// Makes a larger index of the rows. Where there is no memory for it, the index that there is gets fuller than it
    /// should be, until whoever drives the search has looked ([`Store::is_cramped`]).
    #[cold]
    fn grow(&mut self) {
        let places = self.index.larger(self.len());
        let more = (places - self.index.len()) * size_of::<u32>();
        if self.len() < self.index.most() && more >= LITTLE && !self.limit.allows(more) {
            (self.is_cramped, self.full_at) = (true, self.index.most());
            return;
        }
        let index = self.index.grown(places);
        let mut soon = [(0, 0); SOON];
        // A row that is there twice is found by its first number, which is put in first.
        for id in 0..self.len() as StateId {
            let next = &mut soon[id as usize % SOON];
            let (hash, before) = std::mem::replace(next, (hash(&self.rows.get(id)), id));
            index.prefetch(next.0);
            if id as usize >= SOON {
                index.set(index.free(hash), hash, before);
            }
        }
        for id in (self.len().saturating_sub(SOON)..self.len()).map(|id| id as StateId) {
            let (hash, _) = soon[id as usize % SOON];
            index.set(index.free(hash), hash, id);
        }
        (self.full_at, self.is_cramped) = (index.room(), false);
        self.index = Arc::new(index);
    }

    /// Bytes held, as allocated.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.parents.bytes() + self.index.bytes()
    }
}

impl Rrac<Arriving<'_>> for Store {
    type Id = StateId;

    #[inline]
    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        if self.layout.words() == 1 {
            self.insert(&[self.layout.pack_narrow(key.row)], key.parent)
        } else {
            self.insert(&self.layout.pack(key.row), key.parent)
        }
    }
}

impl Rrac<Packed<'_>> for Store {
    type Id = StateId;

    #[inline]
    fn insert_if_absent(&mut self, key: Packed) -> Insertion<StateId> {
        self.insert(key.key, key.parent)
    }
}

#[cfg(test)]
mod tests;
