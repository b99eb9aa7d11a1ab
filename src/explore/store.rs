//! The visited states: packed rows in an arena, found by hash, each with its parent.
//!
//! A row comes with as many words as the model has variables; most of them are small, so a row is kept packed
//! ([`Layout`]). A row that packs into one word is kept in the index itself as well: one look into memory tells
//! whether a state is known.

use kanon_refinement::kernel::{Insertion, Rrac};
use smallvec::SmallVec;

/// A state's place in the store.
pub type StateId = u32;

/// The parent of an initial state.
pub const ROOT: StateId = StateId::MAX;

/// A state's words, one a variable.
pub type Row = SmallVec<[u64; 8]>;

/// A state that arrives: its row, and the state it was reached from.
#[derive(Clone, Copy)]
pub struct Arriving<'a> {
    pub row: &'a [u64],
    pub parent: StateId,
    /// The row is the key of a state already, found by a helper.
    pub is_key: bool,
}

/// How many bits each word of a row needs, and where they are kept. Words never have more: ordinals and bits are
/// below their type's bound, and names have 32 bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    fields: Vec<Field>,
    words: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    word: usize,
    shift: u32,
    /// 1 to 64.
    bits: u32,
}

/// One bit is left, so that no packed word is all ones.
const WORD: u32 = 63;

impl Layout {
    /// First fit: a field goes into the first word that has room for it.
    pub fn new(bits: &[u32]) -> Layout {
        let mut used: Vec<u32> = Vec::new();
        let fields = bits.iter().map(|bits| {
            let bits = (*bits).max(1);
            let word = used.iter().position(|u| u + bits <= WORD).unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            let shift = used[word];
            used[word] += bits;
            Field { word, shift, bits }
        });
        let fields = fields.collect();
        Layout { fields, words: used.len().max(1) }
    }

    /// Whole words.
    pub fn plain(width: usize) -> Layout {
        Layout::new(&vec![64; width])
    }

    /// Words of a packed row.
    pub fn words(&self) -> usize {
        self.words
    }

    #[inline]
    fn is_narrow(&self) -> bool {
        self.words == 1 && self.fields.iter().all(|f| f.bits < 64)
    }

    #[inline]
    fn pack_narrow(&self, row: &[u64]) -> u64 {
        debug_assert_eq!(row.len(), self.fields.len());
        row.iter().zip(&self.fields).fold(0, |key, (w, f)| {
            debug_assert!(w >> f.bits == 0, "{w} has more than {} bits", f.bits);
            key | w << f.shift
        })
    }

    fn pack(&self, row: &[u64]) -> Row {
        let mut out: Row = SmallVec::from_elem(0, self.words);
        for (w, f) in row.iter().zip(&self.fields) {
            debug_assert!(f.bits == 64 || w >> f.bits == 0, "{w} has more than {} bits", f.bits);
            out[f.word] |= w << f.shift;
        }
        out
    }

    #[inline]
    fn unpack(&self, packed: &[u64]) -> impl Iterator<Item = u64> {
        self.fields.iter().map(|f| packed[f.word] >> f.shift & (u64::MAX >> (64 - f.bits)))
    }
}

pub struct Store {
    layout: Layout,
    rows: Vec<u64>,
    parents: Vec<StateId>,
    index: Index,
}

enum Index {
    /// Packed rows of one word: keys plus one (0 is a free place), and their ids.
    Narrow { keys: Vec<u64>, ids: Vec<StateId> },
    /// Half of the hash and the id plus one (0 is a free place); the row itself tells.
    Wide(Vec<u64>),
}

/// A table grows when it is three quarters full.
const fn is_full(states: usize, places: usize) -> bool {
    states * 4 >= places * 3
}

const LEAST: usize = 1 << 8;

/// The place where the search for a hash begins. The high bits: so a table that doubles keeps its order, and is
/// filled from the old one front to back.
#[inline]
fn start(hash: u64, places: usize) -> usize {
    (hash >> (64 - places.trailing_zeros())) as usize
}

impl Store {
    pub fn new(layout: Layout) -> Store {
        let index = if layout.is_narrow() {
            Index::Narrow { keys: vec![0; LEAST], ids: vec![0; LEAST] }
        } else {
            Index::Wide(vec![0; LEAST])
        };
        Store { layout, rows: Vec::new(), parents: Vec::new(), index }
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    #[inline]
    fn packed(&self, id: StateId) -> &[u64] {
        let at = id as usize * self.layout.words;
        &self.rows[at..at + self.layout.words]
    }

    pub fn row(&self, id: StateId) -> Row {
        self.layout.unpack(self.packed(id)).collect()
    }

    /// [`Store::row`] into a vector.
    #[inline]
    pub fn read(&self, id: StateId, row: &mut Vec<u64>) {
        row.clear();
        row.extend(self.layout.unpack(self.packed(id)));
    }

    pub fn parent(&self, id: StateId) -> Option<StateId> {
        Some(self.parents[id as usize]).filter(|p| *p != ROOT)
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

    /// The id of a row.
    pub fn find(&self, row: &[u64]) -> Option<StateId> {
        match &self.index {
            Index::Narrow { keys, ids } => {
                let key = self.layout.pack_narrow(row);
                let at = narrow_place(keys, key);
                (keys[at] != 0).then(|| ids[at])
            }
            Index::Wide(entries) => {
                let packed = self.layout.pack(row);
                let at = self.wide_place(entries, hash(&packed), &packed);
                (entries[at] != 0).then(|| entries[at] as StateId - 1)
            }
        }
    }

    /// Asks the memory for the place where a row will be looked up.
    #[inline]
    pub fn announce(&self, row: &[u64]) {
        match &self.index {
            Index::Narrow { keys, ids } => {
                let at = start(mix(self.layout.pack_narrow(row)), keys.len());
                prefetch(keys, at);
                prefetch(ids, at);
            }
            Index::Wide(entries) => prefetch(entries, start(hash(&self.layout.pack(row)), entries.len())),
        }
    }

    /// The first place that is free or has this row.
    #[inline]
    fn wide_place(&self, entries: &[u64], hash: u64, packed: &[u64]) -> usize {
        let mask = entries.len() - 1;
        let mut at = start(hash, entries.len());
        let tag = hash as u32;
        loop {
            let e = entries[at];
            if e == 0 || ((e >> 32) as u32 == tag && self.packed(e as StateId - 1) == packed) {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn push(&mut self, packed: &[u64], parent: StateId) -> StateId {
        let id = self.parents.len() as StateId;
        self.rows.extend_from_slice(packed);
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

    /// Doubles the index.
    #[cold]
    fn grow(&mut self) {
        match &mut self.index {
            Index::Narrow { keys, ids } => {
                let places = keys.len() * 2;
                let (mut new_keys, mut new_ids) = (vec![0; places], vec![0; places]);
                for (key, id) in keys.iter().zip(ids.iter()).filter(|(key, _)| **key != 0) {
                    let at = narrow_place(&new_keys, key - 1);
                    new_keys[at] = *key;
                    new_ids[at] = *id;
                }
                (*keys, *ids) = (new_keys, new_ids);
            }
            Index::Wide(entries) => {
                let places = entries.len() * 2;
                let old = std::mem::replace(entries, vec![0; places]);
                let words = self.layout.words;
                for e in old.into_iter().filter(|e| *e != 0) {
                    let at = (e as StateId - 1) as usize * words;
                    let mut at = start(hash(&self.rows[at..at + words]), places);
                    while entries[at] != 0 {
                        at = (at + 1) & (places - 1);
                    }
                    entries[at] = e;
                }
            }
        }
    }

    /// Bytes held, as allocated.
    pub fn bytes(&self) -> usize {
        let index = match &self.index {
            Index::Narrow { keys, ids } => keys.len() * 8 + ids.len() * 4,
            Index::Wide(entries) => entries.len() * 8,
        };
        self.rows.capacity() * 8 + self.parents.capacity() * 4 + index
    }
}

/// The first place that is free or has this key.
#[inline]
fn narrow_place(keys: &[u64], key: u64) -> usize {
    let mask = keys.len() - 1;
    let mut at = start(mix(key), keys.len());
    while keys[at] != 0 && keys[at] != key + 1 {
        at = (at + 1) & mask;
    }
    at
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

const K: u64 = 0x9E37_79B9_7F4A_7C15;

/// Rows differ in few bits, so every bit has to reach the top and the bottom.
#[inline]
fn mix(w: u64) -> u64 {
    let m = u128::from(w ^ 0xA076_1D64_78BD_642F) * u128::from(K);
    let h = (m as u64) ^ (m >> 64) as u64;
    h.wrapping_mul(K)
}

#[inline]
fn hash(row: &[u64]) -> u64 {
    let mut h = row.len() as u64;
    for w in row {
        h = mix(h ^ w).rotate_left(29).wrapping_add(K);
    }
    mix(h)
}

impl Rrac<Arriving<'_>> for Store {
    type Id = StateId;

    #[inline]
    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        let id = self.parents.len() as StateId;
        match &mut self.index {
            Index::Narrow { keys, ids } => {
                let packed = self.layout.pack_narrow(key.row);
                let at = narrow_place(keys, packed);
                if keys[at] != 0 {
                    return Insertion::Present(ids[at]);
                }
                keys[at] = packed + 1;
                ids[at] = id;
                let places = keys.len();
                self.push(&[packed], key.parent);
                if is_full(self.len(), places) {
                    self.grow();
                }
            }
            Index::Wide(entries) => {
                let packed = self.layout.pack(key.row);
                let h = hash(&packed);
                let entries = std::mem::take(entries);
                let at = self.wide_place(&entries, h, &packed);
                let found = entries[at];
                let places = entries.len();
                self.index = Index::Wide(entries);
                if found != 0 {
                    return Insertion::Present(found as StateId - 1);
                }
                if let Index::Wide(entries) = &mut self.index {
                    entries[at] = h << 32 | u64::from(id + 1);
                }
                self.push(&packed, key.parent);
                if is_full(self.len(), places) {
                    self.grow();
                }
            }
        }
        Insertion::Inserted(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layouts() -> [Layout; 4] {
        // One word, one full word, two packed words, and names beside sets.
        [Layout::new(&[10, 1]), Layout::plain(2), Layout::new(&[40, 40]), Layout::new(&[32, 1])]
    }

    #[test]
    fn equal_rows_have_one_id_and_rows_come_back() {
        for layout in layouts() {
            let mut store = Store::new(layout);
            for i in 0..5_000u64 {
                let row = [i % 1000, i / 1000 % 2];
                let id = store.len() as StateId;
                store.announce(&row);
                match store.insert_if_absent(Arriving { row: &row, parent: ROOT, is_key: false }) {
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
        assert_eq!(
            store.insert_if_absent(Arriving { row: &[], parent: ROOT, is_key: false }),
            Insertion::Inserted(0)
        );
        assert_eq!(
            store.insert_if_absent(Arriving { row: &[], parent: ROOT, is_key: false }),
            Insertion::Present(0)
        );
        assert!(store.row(0).is_empty());
    }

    #[test]
    fn full_words_are_kept_whole() {
        let mut store = Store::new(Layout::plain(2));
        for row in [[u64::MAX, 0], [0, u64::MAX], [u64::MAX, u64::MAX]] {
            let Insertion::Inserted(id) =
                store.insert_if_absent(Arriving { row: &row, parent: ROOT, is_key: false })
            else {
                panic!("{row:?} is new")
            };
            assert_eq!(store.row(id)[..], row);
        }
    }

    #[test]
    fn a_row_may_be_kept_twice() {
        for layout in layouts() {
            let mut store = Store::new(layout);
            let key = Arriving { row: &[5, 1], parent: ROOT, is_key: false };
            assert_eq!((store.append(key), store.append(key)), (0, 1));
            assert_eq!((&store.row(1)[..], store.find(key.row)), (key.row, Some(0)));
        }
    }
}
