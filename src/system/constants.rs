//! The valuations of a machine's constants, by number: all of them, or those that are known so far.

use crate::lang::diag::Span;
use crate::value::fault::Fault;
use crate::value::hash;
use crate::value::val::Val;
use hashbrown::HashTable;
use std::sync::{PoisonError, RwLock};

/// How the search for constants ended, or how far it came.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How many valuations of the constants were found.
    pub valuations: usize,
    /// A property without a value, or a limit.
    pub fault: Option<Box<Fault>>,
    /// Where an unbounded integer was cut off.
    pub truncated: Option<Span>,
    /// There may be more: they are looked for while the first ones are explored.
    pub is_open: bool,
}

/// What PROPERTIES yield.
pub(super) enum Yielded {
    /// A valuation; the same one may be found again.
    Valuation(Vec<Val>),
    /// A property has no value.
    Fault(Box<Fault>),
}

/// Who solves PROPERTIES.
#[derive(Clone, Debug)]
pub(super) enum Solver {
    Plan,
    /// The solver did: these are all.
    Done(Vec<Vec<Val>>),
    /// The solver does, one by one.
    OneByOne,
    /// The same as `Done`, beside a property without a value.
    Faulty(Vec<Vec<Val>>, Box<Fault>),
}

struct Valuation {
    vals: Box<[Val]>,
    /// Their words; 0 for what is symbolic.
    words: Box<[u64]>,
}

/// Valuations are added and never change; their numbers are their places.
#[derive(Default)]
pub(super) struct Valuations {
    all: boxcar::Vec<Valuation>,
    /// Which valuation has these words. Only for those that are added while they are in use.
    index: RwLock<HashTable<u32>>,
}

fn hash_of(words: &[u64]) -> u64 {
    words.iter().fold(0, |h, w| hash::join(h, *w))
}

impl Valuations {
    pub fn len(&self) -> usize {
        self.all.count()
    }

    pub fn vals(&self, number: usize) -> &[Val] {
        &self.all[number].vals
    }

    #[inline]
    pub fn words(&self, number: usize) -> &[u64] {
        &self.all[number].words
    }

    /// Adds a valuation that is not there.
    pub fn push(&self, vals: Vec<Val>, words: Vec<u64>) -> usize {
        self.all.push(Valuation { vals: vals.into(), words: words.into() })
    }

    /// The number of a valuation without symbolic values that was met by [`Valuations::number`], if it was.
    pub fn find(&self, words: &[u64]) -> Option<usize> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        index.find(hash_of(words), |n| self.words(*n as usize) == words).map(|n| *n as usize)
    }

    /// The number of a valuation without symbolic values, which is given one if it has none yet; `None` when there are
    /// no more numbers.
    pub fn number(&self, words: Vec<u64>, vals: impl FnOnce() -> Vec<Val>) -> Option<usize> {
        if let Some(known) = self.find(&words) {
            return Some(known);
        }
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        let hash = hash_of(&words);
        // Somebody else may have been quicker.
        if let Some(n) = index.find(hash, |n| self.words(*n as usize) == &*words) {
            return Some(*n as usize);
        }
        let n = u32::try_from(self.push(vals(), words)).ok()?;
        index.insert_unique(hash, n, |n| hash_of(self.words(*n as usize)));
        Some(n as usize)
    }
}
