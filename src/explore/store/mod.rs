//! The visited states: packed rows in chunks, found by hash, each with its parent.
//!
//! A row comes with as many words as the model has variables; most of them are small, so a row is kept packed, bit by bit
//! ([`Layout`], [`rows`]). The index has numbers of states only, and some bits of their hashes ([`places`]).
//!
//! If it is asked to, a store writes the oldest states to disk when memory is used up ([`disk`]). Then rows, parents and
//! index are those of the states from [`Store::on_disk`] on, and number them from 0.

mod disk;
mod layout;
mod pages;
mod places;
mod rows;

pub use disk::{Looked, Spill, Trouble, Used};
pub use layout::{Changed, Code, Layout};

use super::memory::{self, Limit};
use disk::Disk;
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
    /// It was not found where somebody has looked.
    pub looked: Looked,
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
    /// How many states are on disk: the first.
    base: StateId,
    disk: Option<Box<Disk>>,
}

/// Of the memory that there may be, one part in so many is for the states that are kept in it, if others are on disk: the
/// index is made as large as that allows.
const KEPT: u64 = 2;
/// And one in so many for what is looked up together.
const LOOKED_UP: u64 = 8;
/// States that are written to disk, and read, together, at most.
const CHUNK: usize = 1 << 12;
/// Bytes for states, where the system does not tell what there is.
const UNTOLD: u64 = 1 << 32;
/// Places of the index, however little memory there is, if states are on disk.
const FEW: usize = 1 << 15;

/// An index that grows by fewer bytes than these asks nobody.
const LITTLE: usize = 1 << 20;
/// Parents that are followed on disk for something that is only shown.
const DEEP: usize = 1 << 10;
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
        self.prefetch(&keys[at..])
    }

    /// See [`View::pack_changed`]; without places all of a row is packed.
    pub fn changed(&self, places: Option<&[usize]>) -> Changed {
        self.layout.changed(places)
    }

    /// [`View::pack`] for a row that differs from that of another key in certain places only. None if it does not differ;
    /// then no key is added.
    #[inline]
    pub fn pack_changed(
        &self,
        from: &[u64],
        changed: &Changed,
        row: &[u64],
        keys: &mut Vec<u64>,
    ) -> Option<u64> {
        let at = keys.len();
        self.layout.pack_changed(from, changed, row, keys).then(|| self.prefetch(&keys[at..]))
    }

    /// Asks the memory for the place where a key will be looked up. The answer is its hash.
    #[inline]
    fn prefetch(&self, key: &[u64]) -> u64 {
        let hash = hash(key);
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
            base: 0,
            disk: None,
        }
    }

    /// The same within a limit of memory, for which it asks before the index grows.
    pub fn within(self, limit: Limit) -> Store {
        Store { limit, ..self }
    }

    /// The same, for a store that is empty, with the states on disk that do not fit into memory.
    pub fn spilling(mut self, spill: Option<&Spill>) -> Store {
        let Some(spill) = spill else { return self };
        debug_assert!(self.is_empty());
        self.rows = self.rows.with_chunks(spill.states.map_or(CHUNK, |states| states / 4));
        self.parents = Parents::with_shift(self.rows.shift());
        // Without a limit, a share of what the machine has.
        self.limit.0 = self.limit.0.or_else(memory::share).or(Some(UNTOLD));
        self.disk = Some(Box::new(Disk::new(spill.clone(), &self.layout)));
        self.full_at = self.full();
        self
    }

    pub fn len(&self) -> usize {
        self.base as usize + self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many states are on disk: the first.
    #[inline]
    pub fn on_disk(&self) -> StateId {
        self.base
    }

    /// Whether there may be states on disk, now or later.
    pub fn is_spilling(&self) -> bool {
        self.disk.is_some()
    }

    /// What the disk was used for, if there is anything on it.
    pub fn used(&self) -> Option<Used> {
        self.disk.as_ref().filter(|_| self.base > 0).map(|disk| disk.used())
    }

    /// The first error of the disk: after it, nothing that is said of states means anything.
    #[inline]
    pub fn trouble(&self) -> Option<&Trouble> {
        self.disk.as_ref()?.trouble()
    }

    /// Looks many keys up on disk, one after the other in `keys`, and marks those that are there. None: that could not be
    /// done.
    pub fn look_up(&self, keys: &[u64], known: &mut Vec<bool>) -> Option<Looked> {
        match &self.disk {
            Some(disk) => disk.look_up(keys, known, self.base),
            None => Some(Looked::NOWHERE),
        }
    }

    /// How many bytes those take that are looked up together, about.
    pub fn together(&self) -> usize {
        match &self.disk {
            Some(disk) if disk.spill.states.is_some() => disk.spill.states.unwrap_or_default() * 16,
            _ => self.limit.0.map_or(1 << 28, |limit| (limit / LOOKED_UP).clamp(1 << 16, 1 << 30) as usize),
        }
    }

    /// Whether the memory is used up that the store was given.
    pub fn is_at_limit(&self) -> bool {
        self.limit.is_reached()
    }

    /// Asks for memory, where some can be had by writing states to disk. The next state that arrives waits for it.
    pub fn press(&self) -> bool {
        let can = self.disk.as_ref().filter(|_| self.index.len() > FEW);
        can.iter().for_each(|disk| disk.press());
        can.is_some()
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
        self.told.store(self.parents.len() as StateId, Ordering::Release);
    }

    /// Whether a view shows less than a new one would.
    pub fn is_beyond(&self, view: &View) -> bool {
        !Arc::ptr_eq(&self.index, &view.index) || view.rows.chunks() < self.rows.chunks()
    }

    /// The states as they are now, for somebody who looks at them later: those in memory.
    pub fn freeze(&self) -> (Arc<Layout>, Frozen) {
        (self.layout.clone(), Frozen::of(&self.rows, &self.parents))
    }

    /// Words of a key.
    pub fn key_words(&self) -> usize {
        self.layout.words()
    }

    /// How rows are packed.
    pub fn layout(&self) -> Arc<Layout> {
        self.layout.clone()
    }

    /// Adds the key of a row to `key`.
    #[inline]
    pub fn pack_to(&self, row: &[u64], key: &mut Vec<u64>) {
        if self.layout.words() == 1 {
            key.push(self.layout.pack_narrow(row));
        } else {
            let at = key.len();
            key.resize(at + self.layout.words(), 0);
            self.layout.pack_into(row, &mut key[at..]);
        }
    }

    /// See [`Store::pack_changed`]; without places all of a row is packed.
    pub fn changed(&self, places: Option<&[usize]>) -> Changed {
        self.layout.changed(places)
    }

    /// [`Store::pack_to`] for a row that differs from that of another key in certain places only.
    #[inline]
    pub fn pack_changed(&self, from: &[u64], changed: &Changed, row: &[u64], key: &mut Vec<u64>) {
        if !self.layout.pack_changed(from, changed, row, key) {
            key.extend_from_slice(from);
        }
    }

    /// The row that a key packs.
    #[inline]
    pub fn unpack(&self, key: &[u64], row: &mut Vec<u64>) {
        row.clear();
        row.extend(self.layout.unpack(key));
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
        self.full_at.saturating_sub(self.parents.len())
    }

    /// A state's row, packed. After an error of the disk it may be any.
    #[inline]
    pub fn key(&self, id: StateId) -> Row {
        if id >= self.base { self.rows.get(id - self.base) } else { self.key_on_disk(id) }
    }

    #[cold]
    fn key_on_disk(&self, id: StateId) -> Row {
        let row = self.disk.as_ref().and_then(|disk| disk.row(&self.rows, id));
        // Some state's, since not any words are a row. Where others are on disk, one at least is in memory.
        row.unwrap_or_else(|| self.rows.get(0))
    }

    /// [`Store::key`], added to others.
    #[inline]
    pub fn read_key(&self, id: StateId, keys: &mut Vec<u64>) {
        match id.checked_sub(self.base) {
            Some(id) => self.rows.read(id, keys),
            None => keys.extend_from_slice(&self.key_on_disk(id)),
        }
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

    /// How keys have one word of their rows.
    pub fn code(&self, place: usize) -> Code {
        self.layout.code_of(place)
    }

    /// All packed rows, in the order of the states.
    #[inline]
    pub fn each_key(&self, f: &mut impl FnMut(&[u64])) {
        for id in 0..self.base {
            f(&self.key_on_disk(id));
        }
        self.rows.each(self.parents.len(), f);
    }

    pub fn parent(&self, id: StateId) -> Option<StateId> {
        let parent = match id.checked_sub(self.base) {
            Some(at) => Some(self.parents.get(at)),
            // A parent is stored before what it leads to: whatever the disk says, the way to an initial state ends.
            None => self.disk.as_ref().and_then(|disk| disk.parent(&self.rows, id)).filter(|p| *p < id),
        };
        parent.filter(|p| *p != ROOT)
    }

    /// Steps from an initial state along the parents, if not more than `most`.
    pub fn depth(&self, id: StateId, most: usize) -> Option<usize> {
        // Each may be a read.
        let most = if self.base > 0 { most.min(DEEP) } else { most };
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
        for id in 0..self.len() as StateId {
            // A parent is stored before what it leads to, and an initial state has none.
            let depth = self.parent(id).and_then(|p| of.get(p as usize)).map_or(0, |d| d + 1);
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
        let hash = hash(&key);
        let slot = self.slot(&key, hash);
        match slot.is_free() {
            false => Some(self.base + self.index.id(slot)),
            true => self.find_on_disk(&key, hash, Looked::NOWHERE),
        }
    }

    /// The id of a key on disk, unless somebody has looked there.
    #[inline]
    fn find_on_disk(&self, key: &[u64], hash: u64, looked: Looked) -> Option<StateId> {
        if looked.covers(self.base) {
            return None;
        }
        self.disk.as_ref()?.find(key, hash, looked)
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

    /// Asks the memory for the row with which a key will most probably be compared.
    #[inline]
    pub fn approach(&self, key: &[u64]) {
        if let Some(id) = self.index.guess(hash(key)) {
            self.rows.prefetch(id);
        }
    }

    /// Stores a key if it is not there: neither in memory, nor on disk, where somebody has looked, or looks now.
    ///
    /// If the disk has failed, the key may be there after all. But then the search is over ([`Store::trouble`]).
    #[inline]
    fn insert(&mut self, key: &[u64], parent: StateId, looked: Looked) -> Insertion<StateId> {
        let hash = hash(key);
        let slot = self.slot(key, hash);
        if !slot.is_free() {
            return Insertion::Present(self.base + self.index.id(slot));
        }
        if let Some(id) = self.find_on_disk(key, hash, looked) {
            return Insertion::Present(id);
        }
        let id = self.push(key, parent);
        self.index.set(slot.at, hash, id - self.base);
        self.look_at_room();
        Insertion::Inserted(id)
    }

    #[inline]
    fn push(&mut self, key: &[u64], parent: StateId) -> StateId {
        let at = self.parents.len() as StateId;
        self.rows.push(at, key);
        self.parents.push(parent);
        self.base + at
    }

    #[inline]
    fn look_at_room(&mut self) {
        if self.parents.len() >= self.full_at {
            self.grow();
        } else if self.disk.as_ref().is_some_and(|disk| disk.is_pressed()) {
            self.shrink();
        }
    }

    /// A new id for a row, whether or not it has one already; it is the old one that is found.
    pub(super) fn append(&mut self, key: Arriving) -> StateId {
        match self.insert_if_absent(key) {
            Insertion::Inserted(id) => id,
            Insertion::Present(_) => {
                let packed = self.layout.pack(key.row);
                let id = self.push(&packed, key.parent);
                self.look_at_room();
                id
            }
        }
    }

    /// Makes a larger index of the rows. Where there is no memory for it, the oldest states are written to disk; or the
    /// index that there is gets fuller than it should be, until whoever drives the search has looked
    /// ([`Store::is_cramped`]).
    #[cold]
    fn grow(&mut self) {
        let places = self.index.larger(self.parents.len());
        let more = (places - self.index.len()) * size_of::<u32>();
        let is_full = match self.disk.is_some() {
            true if self.may_have(places) => false,
            true if self.spill(self.index.len()) => return,
            true => true,
            false => more >= LITTLE && !self.limit.allows(more),
        };
        if self.parents.len() < self.index.most() && is_full {
            (self.is_cramped, self.full_at) = (true, self.index.most());
            return;
        }
        self.index_with(places);
    }

    /// A new index of the rows in memory.
    fn index_with(&mut self, places: usize) {
        let n = self.parents.len();
        let index = self.index.grown(places);
        let mut soon = [(0, 0); SOON];
        let mut id: StateId = 0;
        // A row that is there twice is found by its first number, which is put in first.
        self.rows.each(n, &mut |key| {
            let next = &mut soon[id as usize % SOON];
            let (hash, before) = std::mem::replace(next, (hash(key), id));
            index.prefetch(next.0);
            if id as usize >= SOON {
                index.set(index.free(hash), hash, before);
            }
            id += 1;
        });
        for id in (n.saturating_sub(SOON)..n).map(|id| id as StateId) {
            let (hash, _) = soon[id as usize % SOON];
            index.set(index.free(hash), hash, id);
        }
        (self.index, self.is_cramped) = (Arc::new(index), false);
        self.full_at = self.full();
    }

    /// How many states there may be in memory before the index grows.
    fn full(&self) -> usize {
        let least = 2 << self.rows.shift();
        match self.disk.as_ref().and_then(|disk| disk.spill.states) {
            Some(states) => self.index.room().min(states.max(least)),
            None => self.index.room(),
        }
    }

    /// Whether the states that so many places are for fit into the part of memory that is theirs, if others are on disk.
    fn may_have(&self, places: usize) -> bool {
        if let Some(states) = self.disk.as_ref().and_then(|disk| disk.spill.states) {
            return self.index.room() < states;
        }
        let Some(limit) = self.limit.0 else { return true };
        let more = Places::room_of(places) - self.parents.len().min(Places::room_of(places));
        let each = self.layout.word_bits().iter().sum::<u32>() as usize / 8 + size_of::<StateId>();
        let bytes = (places - self.index.len()) * size_of::<u32>() + more * each;
        let used = memory::used().unwrap_or(self.bytes() as u64);
        places <= FEW || used + bytes as u64 <= limit / KEPT
    }

    /// Writes states to disk, so many that those that stay fill half of an index with so many places. False: there are
    /// too few that could be written, or the disk has failed; then nothing has changed.
    fn spill(&mut self, places: usize) -> bool {
        let (n, shift) = (self.parents.len(), self.rows.shift());
        let kept = self.full_at.min(Places::room_of(places)) / 2;
        let chunks = (n.saturating_sub(kept) >> shift).max(1).min(n.saturating_sub(1) >> shift);
        let going = chunks << shift;
        let Some(disk) = self.disk.as_ref().filter(|_| chunks > 0) else { return false };
        if disk.write((&self.rows, &self.parents, &self.index), self.base, going).is_none() {
            return false;
        }
        self.rows.drop_first(chunks);
        self.parents.drop_first(going);
        self.base += going as StateId;
        self.index_with(places);
        true
    }

    /// Keeps fewer states in memory.
    #[cold]
    fn shrink(&mut self) {
        self.disk.iter().for_each(|disk| disk.relieve());
        let places = self.index.fewer().max(FEW);
        if places >= self.index.len() {
            return;
        }
        if !self.spill(places) && self.parents.len() < Places::room_of(places) {
            self.index_with(places);
        }
        memory::give_back();
    }

    /// Bytes held, as allocated.
    pub fn bytes(&self) -> usize {
        let beside = self.disk.as_ref().map_or(0, |disk| disk.held());
        self.rows.bytes() + self.parents.bytes() + self.index.bytes() + beside
    }
}

impl Rrac<Arriving<'_>> for Store {
    type Id = StateId;

    #[inline]
    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        if self.layout.words() == 1 {
            self.insert(&[self.layout.pack_narrow(key.row)], key.parent, Looked::NOWHERE)
        } else {
            self.insert(&self.layout.pack(key.row), key.parent, Looked::NOWHERE)
        }
    }
}

impl Rrac<Packed<'_>> for Store {
    type Id = StateId;

    #[inline]
    fn insert_if_absent(&mut self, key: Packed) -> Insertion<StateId> {
        self.insert(key.key, key.parent, key.looked)
    }
}

#[cfg(test)]
mod tests;
