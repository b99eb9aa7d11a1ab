//! Packed rows and parents in chunks. A chunk that is full does not change any more, so others may read it.

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

/// The parents of the states, in chunks as well: what grows is never copied, and needs no reserve.
#[derive(Default)]
pub struct Parents {
    full: Vec<Arc<[StateId]>>,
    last: Vec<StateId>,
}

impl Parents {
    pub fn len(&self) -> usize {
        self.full.len() * CHUNK + self.last.len()
    }

    #[inline]
    pub fn get(&self, id: StateId) -> StateId {
        let (chunk, at) = (id as usize / CHUNK, id as usize % CHUNK);
        self.full.get(chunk).map_or_else(|| self.last[at], |full| full[at])
    }

    #[inline]
    pub fn push(&mut self, parent: StateId) {
        self.last.push(parent);
        if self.last.len() == CHUNK {
            self.full.push(Arc::from(&self.last[..]));
            self.last.clear();
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = StateId> + '_ {
        self.full.iter().flat_map(|chunk| chunk.iter()).chain(&self.last).copied()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        (self.full.len() * CHUNK + self.last.capacity()) * 4
    }
}

/// Rows and parents as they were at some moment. Chunks that are full are shared and not copied.
pub struct Frozen {
    words: usize,
    rows: (Full, Vec<u64>),
    parents: (Vec<Arc<[StateId]>>, Vec<StateId>),
}

impl Frozen {
    pub fn of(rows: &Rows, parents: &Parents) -> Frozen {
        Frozen {
            words: rows.words,
            rows: (rows.full.clone(), rows.last.clone()),
            parents: (parents.full.clone(), parents.last.clone()),
        }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.parents.0.len() * CHUNK + self.parents.1.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The packed rows, in the order of the states.
    pub fn keys(&self) -> impl Iterator<Item = &[u64]> {
        let chunks = self.rows.0.0.iter().map(|chunk| &chunk[..]).chain([&self.rows.1[..]]);
        chunks.flat_map(|chunk| chunk.chunks_exact(self.words))
    }

    pub fn parents(&self) -> impl Iterator<Item = StateId> + '_ {
        self.parents.0.iter().flat_map(|chunk| chunk.iter()).chain(&self.parents.1).copied()
    }
}
