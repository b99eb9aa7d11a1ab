//! The visited states: rows of words in an arena, found by hash, each with its parent.

use hashbrown::HashTable;
use kanon_refinement::kernel::{Insertion, Rrac};

/// A state's place in the store.
pub type StateId = u32;

/// The parent of an initial state.
pub const ROOT: StateId = StateId::MAX;

/// A state that arrives: its row, and the state it was reached from.
#[derive(Clone, Copy)]
pub struct Arriving<'a> {
    pub row: &'a [u64],
    pub parent: StateId,
}

#[derive(Default)]
pub struct Store {
    width: usize,
    rows: Vec<u64>,
    parents: Vec<StateId>,
    index: HashTable<StateId>,
}

impl Store {
    pub fn new(width: usize) -> Store {
        Store { width, ..Store::default() }
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    #[inline]
    pub fn row(&self, id: StateId) -> &[u64] {
        let at = id as usize * self.width;
        &self.rows[at..at + self.width]
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
        self.find_hashed(hash(row), row)
    }

    #[inline]
    fn find_hashed(&self, h: u64, row: &[u64]) -> Option<StateId> {
        self.index.find(h, |id| self.row(*id) == row).copied()
    }

    /// A new id for a row, which has this hash, whether or not it has one already.
    #[inline]
    pub(super) fn append(&mut self, h: u64, key: Arriving) -> StateId {
        let width = self.width;
        let rows = &self.rows;
        let row = |id: StateId| &rows[id as usize * width..(id as usize + 1) * width];
        let id = self.parents.len() as StateId;
        self.index.insert_unique(h, id, |id| hash(row(*id)));
        self.rows.extend_from_slice(key.row);
        self.parents.push(key.parent);
        id
    }

    /// Bytes held, as allocated.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * 8 + self.parents.capacity() * 4 + self.index.capacity() * 5 * 8 / 7
    }
}

/// Mixes the words; rows differ in few bits, so every bit has to reach the top and the bottom.
#[inline]
pub fn hash(row: &[u64]) -> u64 {
    const K: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut h = row.len() as u64;
    for w in row {
        let m = u128::from(h ^ w) * u128::from(K);
        h = (m as u64) ^ ((m >> 64) as u64).rotate_left(29);
        h = h.wrapping_add(K);
    }
    h ^ h >> 32
}

impl Rrac<Arriving<'_>> for Store {
    type Id = StateId;

    #[inline]
    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        let h = hash(key.row);
        match self.find_hashed(h, key.row) {
            Some(id) => Insertion::Present(id),
            None => Insertion::Inserted(self.append(h, key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_have_one_id_and_rows_come_back() {
        let mut store = Store::new(2);
        for i in 0..5_000u64 {
            let row = [i % 1000, i / 1000 % 2];
            let id = store.len() as StateId;
            match store.insert_if_absent(Arriving { row: &row, parent: ROOT }) {
                Insertion::Inserted(new) => assert_eq!((new, i < 2000), (id, true)),
                Insertion::Present(old) => assert_eq!((store.row(old), i >= 2000), (&row[..], true)),
            }
        }
        assert_eq!(store.len(), 2000);
    }

    #[test]
    fn a_state_without_variables_is_one_state() {
        let mut store = Store::new(0);
        assert_eq!(store.insert_if_absent(Arriving { row: &[], parent: ROOT }), Insertion::Inserted(0));
        assert_eq!(store.insert_if_absent(Arriving { row: &[], parent: ROOT }), Insertion::Present(0));
    }
}
