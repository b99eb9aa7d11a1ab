//! The visited states: packed rows in an arena, found by hash, each with its parent.
//!
//! A row comes with as many words as the model has variables; most of them are small, so a row is kept packed
//! ([`Layout`]). A row that packs into one word is kept in the index itself as well: one look into memory tells
//! whether a state is known.

mod layout;
mod pages;
mod places;
mod rows;

pub use layout::Layout;

use crate::value::hash::mix;
use kanon_refinement::kernel::{Insertion, Rrac};
use places::{LEAST, Places, hash, id_of, word};
pub use rows::Frozen;
use rows::{Full, Parents, Rows};
use smallvec::SmallVec;
use std::sync::Arc;

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
    index: Index,
}

enum Index {
    /// Packed rows of one word: keys plus one, and their ids beside them.
    Narrow { keys: Arc<Places>, ids: Vec<StateId> },
    /// Half of the hash and the id plus one; the row itself tells.
    Wide(Arc<Places>),
}

/// The store as it was some time ago, for others to look at: what they find there is stored, what they do not find may
/// be.
pub struct View {
    layout: Arc<Layout>,
    places: Arc<Places>,
    /// Rows of more than one word.
    full: Option<Full>,
}

impl View {
    /// Words of a key.
    pub fn key_words(&self) -> usize {
        self.layout.words()
    }

    /// Adds the key of a row to `keys`, and asks the memory for the place where it will be looked up.
    #[inline]
    pub fn pack(&self, row: &[u64], keys: &mut Vec<u64>) {
        if self.full.is_none() {
            let key = self.layout.pack_narrow(row);
            self.places.prefetch(mix(key));
            keys.push(key);
        } else {
            let at = keys.len();
            keys.resize(at + self.layout.words(), 0);
            self.layout.pack_into(row, &mut keys[at..]);
            self.places.prefetch(hash(&keys[at..]));
        }
    }

    /// The row that a key packs.
    #[inline]
    pub fn unpack(&self, key: &[u64], row: &mut Vec<u64>) {
        row.clear();
        row.extend(self.layout.unpack(key));
    }

    /// Whether a key is certainly stored; `false` says nothing.
    #[inline]
    pub fn has(&self, key: &[u64]) -> bool {
        let found = match &self.full {
            None => self.places.narrow(key[0]),
            Some(full) => self.places.wide(hash(key), key, |id| full.get(id, key.len())),
        };
        !found.is_free()
    }
}

impl Store {
    pub fn new(layout: Layout) -> Store {
        Store::with_places(layout, LEAST)
    }

    /// An index with so many places at first, a power of two.
    fn with_places(layout: Layout, n: usize) -> Store {
        let places = Arc::new(Places::new(n));
        let index = if layout.is_narrow() {
            Index::Narrow { keys: places, ids: vec![0; n] }
        } else {
            Index::Wide(places)
        };
        Store {
            rows: Rows::new(layout.words()),
            layout: Arc::new(layout),
            parents: Parents::default(),
            index,
        }
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn view(&self) -> View {
        let (places, full) = match &self.index {
            Index::Narrow { keys, .. } => (keys, None),
            Index::Wide(places) => (places, Some(self.rows.full.clone())),
        };
        View { layout: self.layout.clone(), places: places.clone(), full }
    }

    /// Whether a view shows less than a new one would.
    pub fn is_beyond(&self, view: &View) -> bool {
        let (Index::Narrow { keys: places, .. } | Index::Wide(places)) = &self.index;
        !Arc::ptr_eq(places, &view.places)
            || view.full.as_ref().is_some_and(|full| full.len() < self.rows.full.len())
    }

    /// The states as they are now, for somebody who looks at them later.
    pub fn freeze(&self) -> (Arc<Layout>, Frozen) {
        (self.layout.clone(), Frozen::of(&self.rows, &self.parents))
    }

    /// Words of a key.
    pub fn key_words(&self) -> usize {
        self.layout.words()
    }

    /// Whether there may soon be no room for what a row needs beside it.
    pub fn is_exhausted(&self) -> bool {
        self.layout.is_exhausted()
    }

    /// How many states can be stored before the index grows.
    pub fn room(&self) -> usize {
        let (Index::Narrow { keys: places, .. } | Index::Wide(places)) = &self.index;
        (places.len() / 4 * 3).saturating_sub(self.len())
    }

    /// A state's row, packed.
    #[inline]
    pub fn key(&self, id: StateId) -> &[u64] {
        self.rows.get(id)
    }

    pub fn row(&self, id: StateId) -> Row {
        self.layout.unpack(self.key(id)).collect()
    }

    /// [`Store::row`] into a vector.
    #[inline]
    pub fn read(&self, id: StateId, row: &mut Vec<u64>) {
        row.clear();
        row.extend(self.layout.unpack(self.key(id)));
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

    /// The id of a row.
    pub fn find(&self, row: &[u64]) -> Option<StateId> {
        match &self.index {
            Index::Narrow { keys, ids } => {
                let found = keys.narrow(self.layout.pack_narrow(row));
                (!found.is_free()).then(|| ids[found.at])
            }
            Index::Wide(places) => {
                let key = self.layout.pack(row);
                let found = places.wide(hash(&key), &key, |id| Some(self.rows.get(id)));
                (!found.is_free()).then(|| id_of(found.word))
            }
        }
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
        match &self.index {
            Index::Narrow { .. } => self.prefetch(&[self.layout.pack_narrow(row)]),
            Index::Wide(_) => self.prefetch(&self.layout.pack(row)),
        }
    }

    /// The same for a key.
    #[inline]
    pub fn prefetch(&self, key: &[u64]) {
        match &self.index {
            Index::Narrow { keys, ids } => keys.prefetch_with(mix(key[0]), ids),
            Index::Wide(places) => places.prefetch_with::<()>(hash(key), &[]),
        }
    }

    /// Stores a key if it is not there.
    #[inline]
    fn insert(&mut self, key: &[u64], parent: StateId) -> Insertion<StateId> {
        let id = self.parents.len() as StateId;
        let is_full = match &mut self.index {
            Index::Narrow { keys, ids } => {
                let found = keys.narrow(key[0]);
                if !found.is_free() {
                    return Insertion::Present(ids[found.at]);
                }
                keys.set(found.at, key[0] + 1);
                ids[found.at] = id;
                keys.is_full(id as usize + 1)
            }
            Index::Wide(places) => {
                let h = hash(key);
                let found = places.wide(h, key, |id| Some(self.rows.get(id)));
                if !found.is_free() {
                    return Insertion::Present(id_of(found.word));
                }
                places.set(found.at, word(h, id));
                places.is_full(id as usize + 1)
            }
        };
        self.push(key, parent);
        if is_full {
            self.grow();
        }
        Insertion::Inserted(id)
    }

    #[inline]
    fn push(&mut self, key: &[u64], parent: StateId) -> StateId {
        let id = self.parents.len() as StateId;
        self.rows.push(key);
        self.parents.push(parent);
        id
    }

    /// A new id for a row, whether or not it has one already; it is the old one that is found.
    pub(super) fn append(&mut self, key: Arriving) -> StateId {
        match self.insert_if_absent(key) {
            Insertion::Inserted(id) => id,
            Insertion::Present(_) => {
                let packed = self.layout.pack(key.row);
                self.push(&packed, key.parent)
            }
        }
    }

    /// Doubles the index. Views keep the old one.
    #[cold]
    fn grow(&mut self) {
        match &mut self.index {
            Index::Narrow { keys, ids } => {
                let new = Places::new(keys.len() * 2);
                let mut new_ids = pages::room(new.len());
                new_ids.resize(new.len(), 0);
                for (key, id) in keys.words().zip(ids.iter()).filter(|(key, _)| *key != 0) {
                    let at = new.narrow(key - 1).at;
                    new.set(at, key);
                    new_ids[at] = *id;
                }
                (*keys, *ids) = (Arc::new(new), new_ids);
            }
            Index::Wide(places) => {
                let new = Places::new(places.len() * 2);
                for word in places.words().filter(|w| *w != 0) {
                    new.set(new.free(hash(self.rows.get(id_of(word)))), word);
                }
                *places = Arc::new(new);
            }
        }
    }

    /// Bytes held, as allocated.
    pub fn bytes(&self) -> usize {
        let index = match &self.index {
            Index::Narrow { keys, ids } => keys.len() * 8 + ids.len() * 4,
            Index::Wide(places) => places.len() * 8,
        };
        self.rows.bytes() + self.parents.bytes() + index
    }
}

impl Rrac<Arriving<'_>> for Store {
    type Id = StateId;

    #[inline]
    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        match &self.index {
            Index::Narrow { .. } => self.insert(&[self.layout.pack_narrow(key.row)], key.parent),
            Index::Wide(_) => self.insert(&self.layout.pack(key.row), key.parent),
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
mod tests {
    use super::*;
    use crate::system::Width;

    fn layouts() -> [Layout; 4] {
        // One word, one full word, two packed words, and names beside sets.
        [
            Layout::of_bits(&[10, 1]),
            Layout::of_bits(&[64, 64]),
            Layout::of_bits(&[40, 40]),
            Layout::new(&[Width::Name, Width::Bits(1)]),
        ]
    }

    #[test]
    fn equal_rows_have_one_id_and_rows_come_back() {
        for layout in layouts() {
            let mut store = Store::new(layout);
            for i in 0..5_000u64 {
                let row = [i % 1000, i / 1000 % 2];
                let id = store.len() as StateId;
                store.prefetch_row(&row);
                match store.insert_if_absent(Arriving { row: &row, parent: ROOT }) {
                    Insertion::Inserted(new) => assert_eq!((new, i < 2000), (id, true)),
                    Insertion::Present(old) => assert_eq!((&store.row(old)[..], i >= 2000), (&row[..], true)),
                }
            }
            assert_eq!(store.len(), 2000);
            assert!((0..2000).all(|id| store.find(&store.row(id)) == Some(id)));
            assert_eq!(store.find(&[1001, 0]), None);
        }
    }

    #[test]
    fn a_state_without_variables_is_one_state() {
        let mut store = Store::new(Layout::new(&[]));
        assert_eq!(store.insert_if_absent(Arriving { row: &[], parent: ROOT }), Insertion::Inserted(0));
        assert_eq!(store.insert_if_absent(Arriving { row: &[], parent: ROOT }), Insertion::Present(0));
        assert!(store.row(0).is_empty());
    }

    #[test]
    fn full_words_are_kept_whole() {
        let mut store = Store::new(Layout::of_bits(&[64, 64]));
        for row in [[u64::MAX, 0], [0, u64::MAX], [u64::MAX, u64::MAX]] {
            let Insertion::Inserted(id) = store.insert_if_absent(Arriving { row: &row, parent: ROOT }) else {
                panic!("{row:?} is new")
            };
            assert_eq!(store.row(id)[..], row);
        }
    }

    #[test]
    fn a_row_may_be_kept_twice() {
        for layout in layouts() {
            let mut store = Store::new(layout);
            let key = Arriving { row: &[5, 1], parent: ROOT };
            assert_eq!((store.append(key), store.append(key)), (0, 1));
            assert_eq!((&store.row(1)[..], store.find(key.row)), (key.row, Some(0)));
        }
    }

    /// A view is looked at while the store is written to: what was never stored is not there, what was stored before
    /// the view was made is.
    #[test]
    fn views_may_be_looked_at_while_states_arrive() {
        let layouts = [Layout::of_bits(&[30, 1]), Layout::of_bits(&[64, 64])];
        for layout in layouts.iter().cycle().take(8).cloned() {
            let mut store = Store::new(layout);
            let add = |store: &mut Store, i: u64| {
                let _ = store.insert_if_absent(Arriving { row: &[i, 0], parent: ROOT });
            };
            let before = 400_000;
            (0..before).for_each(|i| add(&mut store, i));
            // Chunks that are not full are not seen.
            let seen = if store.layout.is_narrow() { before } else { before / 4_096 * 4_096 };
            let view = store.view();
            let is_done = std::sync::atomic::AtomicBool::new(false);
            std::thread::scope(|scope| {
                let reader = scope.spawn(|| {
                    let (mut keys, mut rounds) = (vec![], 0);
                    while rounds == 0 || !is_done.load(std::sync::atomic::Ordering::SeqCst) {
                        keys.clear();
                        for i in (0..20_000).map(|i| (i + rounds * 20_000) % seen) {
                            view.pack(&[i, 0], &mut keys);
                            view.pack(&[i, 1], &mut keys);
                        }
                        let keys: Vec<&[u64]> = keys.chunks(view.key_words()).collect();
                        assert!(keys.iter().step_by(2).all(|k| view.has(k)), "what is stored is seen");
                        assert!(!keys.iter().skip(1).step_by(2).any(|k| view.has(k)), "and nothing else");
                        rounds += 1;
                    }
                });
                // Not so many that the index grows: the view would keep the old one.
                let room = store.room() as u64;
                (before..before + room - 1).for_each(|i| add(&mut store, i));
                is_done.store(true, std::sync::atomic::Ordering::SeqCst);
                assert!(reader.join().is_ok());
            });
            assert!(!store.is_beyond(&view) || !store.layout.is_narrow());
        }
    }
}
