//! Results by the words of their operands. Names are dense, so most keys are small: their results lie side by side,
//! found without a search and without their keys, in a table that all workers share ([`Shared`]): the name of a value
//! is the same for all. Results of other keys have a table that forgets, one per worker; what is overwritten there is
//! computed again.

use crate::value::hash::spread;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// How a place that remembers makes its key: so many bits of each operand.
#[derive(Clone, Debug)]
pub struct Keyed {
    pub bits: Vec<u32>,
    /// Index into [`super::env::WordEnv::memos`].
    pub site: usize,
}

impl Keyed {
    /// The bits of the operands side by side; `None` when one has more than its share.
    #[inline]
    pub fn key(&self, words: impl Iterator<Item = u64>) -> Option<u64> {
        let mut key = 0u64;
        for (w, bits) in words.zip(&self.bits) {
            if *bits >= 64 {
                // The only operand.
                key = w;
                continue;
            }
            if w >> bits != 0 {
                return None;
            }
            key = key << bits | w;
        }
        (key != EMPTY && !self.bits.is_empty()).then_some(key)
    }
}

/// No key: [`Keyed::key`] does not answer it.
const EMPTY: u64 = u64::MAX;

const LEAST: usize = 1 << 8;
const MOST: usize = 1 << 20;

/// The results of small keys, in chunks that are made when they are needed.
#[derive(Debug)]
pub struct Shared {
    chunks: [OnceLock<Chunk>; Shared::CHUNKS],
    made: AtomicUsize,
    /// Results, so many as have been put.
    put: AtomicUsize,
}

/// By key: the result and 1, or 0.
type Chunk = Box<[AtomicU32; Shared::CHUNK]>;

impl Default for Shared {
    fn default() -> Shared {
        let chunks = std::array::from_fn(|_| OnceLock::new());
        Shared { chunks, made: AtomicUsize::new(0), put: AtomicUsize::new(0) }
    }
}

impl Shared {
    const CHUNKS: usize = 1 << 8;
    const CHUNK: usize = 1 << 13;
    /// Results that a chunk more is made for.
    const PAYS: usize = 1 << 8;

    #[inline]
    fn entry(&self, key: u64) -> Option<&AtomicU32> {
        let at = usize::try_from(key).ok()?;
        self.chunks.get(at / Shared::CHUNK)?.get().map(|chunk| &chunk[at % Shared::CHUNK])
    }

    /// Who sees a name sees the value that it names: what was interned before the name was put.
    #[inline]
    fn get(&self, key: u64) -> Option<u64> {
        match self.entry(key)?.load(Ordering::Acquire) {
            0 => None,
            w => Some(u64::from(w - 1)),
        }
    }

    /// Whether there is room for it, in proportion to what has been put.
    fn put(&self, key: u64, word: u64) -> bool {
        let Some(w) = u32::try_from(word).ok().and_then(|w| w.checked_add(1)) else { return false };
        let chunk = usize::try_from(key).ok().and_then(|at| self.chunks.get(at / Shared::CHUNK));
        let Some(chunk) = chunk else { return false };
        let put = self.put.fetch_add(1, Ordering::Relaxed);
        if chunk.get().is_none() {
            if self.made.load(Ordering::Relaxed) > put / Shared::PAYS {
                return false;
            }
            chunk.get_or_init(|| {
                self.made.fetch_add(1, Ordering::Relaxed);
                Box::new([const { AtomicU32::new(0) }; Shared::CHUNK])
            });
        }
        match self.entry(key) {
            Some(entry) => entry.store(w, Ordering::Release),
            None => return false,
        }
        true
    }
}

/// What one worker remembers at one place. Not to be cloned: a clone at another place would answer for this one.
#[derive(Debug, Default)]
pub struct Memo {
    shared: Arc<Shared>,
    /// Key and result; empty, or a power of two of them.
    entries: Vec<(u64, u64)>,
    /// Insertions since the entries grew.
    put: usize,
}

/// The place of a key among `len`. Keys that differ only in the last operand stay neighbours (one value is usually met
/// with several others at a time, and names are dense); what is beyond the table is spread.
#[inline]
fn place(key: u64, len: usize) -> usize {
    let mask = len.wrapping_sub(1);
    let beyond = key >> (mask.count_ones() & 63);
    (key as usize ^ spread(beyond).rotate_left(32) as usize) & mask
}

impl Memo {
    pub fn new(shared: &Arc<Shared>) -> Memo {
        Memo { shared: shared.clone(), ..Memo::default() }
    }

    #[inline]
    pub fn get(&self, key: u64) -> Option<u64> {
        if let Some(w) = self.shared.get(key) {
            return Some(w);
        }
        let at = place(key, self.entries.len());
        match self.entries.get(at) {
            Some((k, w)) if *k == key => Some(*w),
            _ => None,
        }
    }

    pub fn put(&mut self, key: u64, word: u64) {
        if self.shared.put(key, word) {
            return;
        }
        self.put += 1;
        let len = self.entries.len();
        if len == 0 || (self.put > len && len < MOST) {
            let grown = vec![(EMPTY, 0); (len * 4).clamp(LEAST, MOST)];
            let old = std::mem::replace(&mut self.entries, grown);
            self.put = 0;
            for (k, w) in old.into_iter().filter(|(k, _)| *k != EMPTY) {
                self.set(k, w);
            }
        }
        self.set(key, word);
    }

    #[inline]
    fn set(&mut self, key: u64, word: u64) {
        let at = place(key, self.entries.len());
        self.entries[at] = (key, word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_was_put() {
        let mut memo = Memo::default();
        assert_eq!(memo.get(7), None);
        // Dense keys, keys far apart, and results that are large.
        for (step, result) in [(3, 1), (3_000, 1), (3, 1 << 40)] {
            for i in 0..1_000_000u64 {
                memo.put(i * step, i * result);
                assert_eq!(memo.get(i * step), Some(i * result));
            }
            let kept: Vec<u64> = (0..1_000_000).filter(|i| memo.get(i * step).is_some()).collect();
            assert!(kept.len() > MOST / 4 && kept.iter().all(|i| memo.get(i * step) == Some(*i * result)));
            assert!((0..1_000_000).all(|i| memo.get(i * step + 1).is_none()));
            memo = Memo::default();
        }
    }

    #[test]
    fn keys_tell_operands_apart() {
        let keyed = Keyed { bits: vec![32, 9], site: 0 };
        assert_eq!(keyed.key([3, 5].into_iter()), Some(3 << 9 | 5));
        assert_eq!(keyed.key([3, 512].into_iter()), None, "too large for its share");
        assert_eq!(Keyed { bits: vec![64], site: 0 }.key([u64::MAX].into_iter()), None, "means empty");
        assert_eq!(Keyed { bits: vec![], site: 0 }.key([].into_iter()), None, "nothing to remember by");
    }
}
