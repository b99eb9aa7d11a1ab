//! Results by the words of their operands: a table that forgets. Each place that remembers has one a worker,
//! so nothing is shared; an entry that is overwritten is computed again.

/// How a place that remembers makes its key: so many bits of each operand.
#[derive(Debug)]
pub struct Keyed {
    pub bits: Vec<u32>,
    /// Index into [`super::Env::memos`].
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

#[derive(Clone, Debug, Default)]
pub struct Memo {
    /// Key and result; empty, or a power of two of them.
    entries: Vec<(u64, u64)>,
    /// Insertions since it grew.
    put: usize,
}

/// The place of a key among `len`. Keys that differ only in the last operand stay neighbours (one value is usually met
/// with several others at a time, and names are dense); what is beyond the table is spread.
#[inline]
fn place(key: u64, len: usize) -> usize {
    let mask = len.wrapping_sub(1);
    let beyond = key >> (mask.count_ones() & 63);
    (key as usize ^ beyond.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32) as usize) & mask
}

impl Memo {
    #[inline]
    pub fn get(&self, key: u64) -> Option<u64> {
        let at = place(key, self.entries.len());
        match self.entries.get(at) {
            Some((k, w)) if *k == key => Some(*w),
            _ => None,
        }
    }

    pub fn put(&mut self, key: u64, word: u64) {
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
        for i in 0..1_000_000u64 {
            memo.put(i * 3, i);
            assert_eq!(memo.get(i * 3), Some(i));
        }
        let kept: Vec<u64> = (0..1_000_000).filter(|i| memo.get(i * 3).is_some()).collect();
        assert!(kept.len() > MOST / 4 && kept.iter().all(|i| memo.get(i * 3) == Some(*i)));
        assert!((0..1_000_000).all(|i| memo.get(i * 3 + 1).is_none()));
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
