//! The stored states as bytes, and where each is.

use std::hash::{BuildHasher, RandomState};

/// Sequences of bytes, each once, by number and by content.
pub struct States {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    /// By hash: the number and 1, or 0. A power of two of them, at least twice as many as there are states.
    table: Vec<u32>,
    hasher: RandomState,
}

impl States {
    pub fn new() -> States {
        States { bytes: vec![], ends: vec![], table: vec![0; 16], hasher: RandomState::new() }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, i: usize) -> &[u8] {
        let begin = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[i]]
    }

    fn place(&self, state: &[u8]) -> usize {
        let mask = self.table.len() - 1;
        let mut at = self.hasher.hash_one(state) as usize & mask;
        loop {
            match self.table[at] {
                0 => return at,
                n if self.get(n as usize - 1) == state => return at,
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// The number of a state.
    pub fn find(&self, state: &[u8]) -> Option<usize> {
        (self.table[self.place(state)] as usize).checked_sub(1)
    }

    /// Adds a state; false if it is there already, or if there are too many.
    pub fn add(&mut self, state: &[u8]) -> bool {
        let at = self.place(state);
        let Ok(number) = u32::try_from(self.ends.len() + 1) else { return false };
        if self.table[at] != 0 {
            return false;
        }
        self.table[at] = number;
        self.bytes.extend(state);
        self.ends.push(self.bytes.len());
        if self.ends.len() * 2 > self.table.len() {
            self.table = vec![0; self.table.len() * 2];
            for i in 0..self.ends.len() {
                let at = self.place(self.get(i));
                // Numbers fit: they did when they were added.
                self.table[at] = i as u32 + 1;
            }
        }
        true
    }
}
