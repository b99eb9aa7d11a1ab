//! Packed rows in chunks. A chunk that is full does not change any more, so others may read it.

use super::StateId;
use std::sync::Arc;

/// Rows of a chunk.
const CHUNK: usize = 1 << 12;

#[derive(Clone, Debug, Default)]
pub struct Full(Vec<Arc<[u64]>>);

impl Full {
    /// Chunks.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// A row, if its chunk is full.
    #[inline]
    pub fn get(&self, id: StateId, words: usize) -> Option<&[u64]> {
        let at = id as usize % CHUNK * words;
        self.0.get(id as usize / CHUNK).map(|chunk| &chunk[at..at + words])
    }
}

pub struct Rows {
    pub words: usize,
    pub full: Full,
    /// The chunk that is filled now.
    last: Vec<u64>,
}

impl Rows {
    pub fn new(words: usize) -> Rows {
        Rows { words, full: Full::default(), last: Vec::new() }
    }

    #[inline]
    pub fn get(&self, id: StateId) -> &[u64] {
        self.full.get(id, self.words).unwrap_or_else(|| {
            let at = id as usize % CHUNK * self.words;
            &self.last[at..at + self.words]
        })
    }

    #[inline]
    pub fn push(&mut self, row: &[u64]) {
        self.last.extend_from_slice(row);
        if self.last.len() == CHUNK * self.words {
            self.full.0.push(Arc::from(&self.last[..]));
            self.last.clear();
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        (self.full.len() * CHUNK * self.words + self.last.capacity()) * 8
    }
}
