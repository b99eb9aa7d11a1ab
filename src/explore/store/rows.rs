//! Packed rows and parents in chunks: what grows is never copied, and needs no reserve.
//!
//! A row has as many bits as its layout needs, and begins where the one before it ends. One thread writes; others may
//! read the rows of which they have heard: a word that has a part of two rows is written twice, and the part of the
//! first is the same both times.

use super::places::prefetch;
use super::{Row, StateId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of a chunk, about.
const BITS: usize = 1 << 19;

/// Some bits, at most 64, from a place on. There is always a word behind the one in which they begin.
#[inline]
fn bits_at(chunk: &[AtomicU64], at: usize, bits: u32) -> u64 {
    let (word, shift) = (at / 64, (at % 64) as u32);
    let low = chunk[word].load(Ordering::Relaxed) >> shift;
    // Nothing of it where the shift is 0.
    let high = chunk[word + 1].load(Ordering::Relaxed) << 1 << (63 - shift);
    (low | high) & (u64::MAX >> (64 - bits))
}

/// Writes bits where all are 0.
#[inline]
fn put_bits(chunk: &[AtomicU64], at: usize, bits: u32, value: u64) {
    let (word, shift) = (at / 64, (at % 64) as u32);
    let add = |word: usize, value: u64| {
        chunk[word].store(chunk[word].load(Ordering::Relaxed) | value, Ordering::Relaxed);
    };
    add(word, value << shift);
    if shift + bits > 64 {
        add(word + 1, value >> (64 - shift));
    }
}

/// The rows, or those that there were some time ago: the number of these is somewhere else.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Bits of each word of a row, at most 64.
    bits: Arc<[u32]>,
    /// Their sum.
    row: usize,
    /// A chunk has two to the power of this many rows.
    shift: u32,
    chunks: Arc<Vec<Arc<[AtomicU64]>>>,
}

impl Rows {
    /// Packed rows with so many bits in each of their words.
    pub fn new(bits: &[u32]) -> Rows {
        let row: usize = bits.iter().map(|n| *n as usize).sum();
        Rows { bits: bits.into(), row, shift: (BITS / row.max(1)).max(64).ilog2(), chunks: Arc::default() }
    }

    /// The same with at most so many rows in a chunk.
    pub fn with_chunks(self, rows: usize) -> Rows {
        Rows { shift: self.shift.min(rows.max(1).ilog2()), ..self }
    }

    /// A chunk has two to the power of this many rows.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// The words of a chunk, the last of which is only there to be read.
    pub fn chunk(&self, chunk: usize) -> &[AtomicU64] {
        &self.chunks[chunk]
    }

    /// Gives up the first chunks. The numbers of the other rows are smaller afterwards.
    pub fn drop_first(&mut self, chunks: usize) {
        Arc::make_mut(&mut self.chunks).drain(..chunks);
    }

    /// A row of a chunk, by its place among them, from the words of the chunk.
    pub fn get_from(&self, chunk: &[AtomicU64], place: usize) -> Row {
        let mut at = place * self.row;
        let words = self.bits.iter().map(|bits| {
            let word = bits_at(chunk, at, *bits);
            at += *bits as usize;
            word
        });
        words.collect()
    }

    /// A row's chunk, and the bit in it where the row begins.
    #[inline]
    fn place(&self, id: StateId) -> (usize, usize) {
        let id = id as usize;
        (id >> self.shift, (id & ((1 << self.shift) - 1)) * self.row)
    }

    /// Words of a chunk: those of its rows, and one more.
    pub fn words(&self) -> usize {
        (self.row << self.shift).div_ceil(64) + 1
    }

    /// Chunks.
    pub fn chunks(&self) -> usize {
        self.chunks.len()
    }

    #[inline]
    pub fn get(&self, id: StateId) -> Row {
        let id = id as usize;
        self.get_from(&self.chunks[id >> self.shift], id & ((1 << self.shift) - 1))
    }

    /// [`Rows::get`], added to others.
    #[inline]
    pub fn read(&self, id: StateId, rows: &mut Vec<u64>) {
        let (chunk, mut at) = self.place(id);
        let chunk = &self.chunks[chunk];
        for bits in &*self.bits {
            rows.push(bits_at(chunk, at, *bits));
            at += *bits as usize;
        }
    }

    /// The first rows, one after the other.
    #[inline]
    pub fn each(&self, n: usize, f: &mut impl FnMut(&[u64])) {
        let mut row: Row = self.bits.iter().map(|_| 0).collect();
        let mut left = n;
        for chunk in self.chunks.iter() {
            let mut at = 0;
            for _ in 0..left.min(1 << self.shift) {
                for (word, bits) in row.iter_mut().zip(&*self.bits) {
                    *word = bits_at(chunk, at, *bits);
                    at += *bits as usize;
                }
                f(&row);
            }
            left = left.saturating_sub(1 << self.shift);
        }
    }

    /// Whether this is the row of a state. A state whose chunk is not here has another one.
    #[inline]
    pub fn is(&self, id: StateId, row: &[u64]) -> bool {
        let (chunk, mut at) = self.place(id);
        let Some(chunk) = self.chunks.get(chunk) else { return false };
        if let [word] = row {
            return bits_at(chunk, at, self.row as u32) == *word;
        }
        row.iter().zip(&*self.bits).all(|(word, bits)| {
            let is_it = bits_at(chunk, at, *bits) == *word;
            at += *bits as usize;
            is_it
        })
    }

    /// Asks the memory for a row.
    #[inline]
    pub fn prefetch(&self, id: StateId) {
        let (chunk, at) = self.place(id);
        if let Some(chunk) = self.chunks.get(chunk) {
            prefetch(chunk, at / 64);
        }
    }

    /// Adds the row of a state, the first that has none.
    #[inline]
    pub fn push(&mut self, id: StateId, row: &[u64]) {
        let (chunk, mut at) = self.place(id);
        if chunk == self.chunks.len() {
            let zeros = (0..self.words()).map(|_| AtomicU64::new(0)).collect();
            Arc::make_mut(&mut self.chunks).push(zeros);
        }
        let chunk = &self.chunks[chunk];
        for (word, bits) in row.iter().zip(&*self.bits) {
            put_bits(chunk, at, *bits, *word);
            at += *bits as usize;
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.chunks.len() * self.words() * 8
    }
}

/// A chunk has two to the power of this many parents, at most.
const CHUNK: u32 = 12;

/// The parents of some states. Breadth first they come in order, so those of states that come one after the other are
/// close together.
#[derive(Clone)]
enum Kin {
    /// All the same.
    One(StateId),
    /// The least, and how far from it each is.
    Near(StateId, Arc<[u16]>),
    Far(Arc<[StateId]>),
}

impl Kin {
    fn of(parents: &[StateId]) -> Kin {
        let least = parents.iter().copied().min().unwrap_or_default();
        let near = |p: &StateId| u16::try_from(p - least).ok();
        match parents.iter().map(near).collect::<Option<Arc<[u16]>>>() {
            Some(near) if near.iter().all(|p| *p == 0) => Kin::One(least),
            Some(near) => Kin::Near(least, near),
            None => Kin::Far(parents.into()),
        }
    }

    #[inline]
    fn get(&self, at: usize) -> StateId {
        match self {
            Kin::One(parent) => *parent,
            Kin::Near(least, near) => least + StateId::from(near[at]),
            Kin::Far(far) => far[at],
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Kin::One(_) => 0,
            Kin::Near(_, near) => near.len() * 2,
            Kin::Far(far) => far.len() * 4,
        }
    }
}

#[derive(Clone)]
pub struct Parents {
    shift: u32,
    full: Vec<Kin>,
    last: Vec<StateId>,
}

impl Default for Parents {
    fn default() -> Parents {
        Parents { shift: CHUNK, full: vec![], last: vec![] }
    }
}

impl Parents {
    /// Chunks of two to the power of so many parents, or of fewer if those are very many.
    pub fn with_shift(shift: u32) -> Parents {
        Parents { shift: shift.min(CHUNK), ..Parents::default() }
    }

    pub fn len(&self) -> usize {
        (self.full.len() << self.shift) + self.last.len()
    }

    #[inline]
    pub fn get(&self, id: StateId) -> StateId {
        let (chunk, at) = (id as usize >> self.shift, id as usize & ((1 << self.shift) - 1));
        self.full.get(chunk).map_or_else(|| self.last[at], |full| full.get(at))
    }

    #[inline]
    pub fn push(&mut self, parent: StateId) {
        self.last.push(parent);
        if self.last.len() >> self.shift != 0 {
            self.full.push(Kin::of(&self.last));
            self.last.clear();
        }
    }

    /// Gives up the first parents, which fill chunks.
    pub fn drop_first(&mut self, parents: usize) {
        self.full.drain(..parents >> self.shift);
    }

    pub fn iter(&self) -> impl Iterator<Item = StateId> + '_ {
        let full = self.full.iter().flat_map(|kin| (0..1 << self.shift).map(|at| kin.get(at)));
        full.chain(self.last.iter().copied())
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let full: usize = self.full.iter().map(|kin| size_of::<Kin>() + kin.bytes()).sum();
        full + self.last.capacity() * 4
    }
}

/// Rows and parents as they were at some moment. Chunks are shared and not copied.
pub struct Frozen {
    rows: Rows,
    parents: Parents,
}

impl Frozen {
    pub fn of(rows: &Rows, parents: &Parents) -> Frozen {
        Frozen { rows: rows.clone(), parents: parents.clone() }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The packed rows, in the order of the states.
    pub fn keys(&self) -> impl Iterator<Item = Row> + '_ {
        (0..self.len() as StateId).map(|id| self.rows.get(id))
    }

    pub fn parents(&self) -> impl Iterator<Item = StateId> + '_ {
        self.parents.iter()
    }
}
