//! Rows packed into few words.

use super::Row;
use smallvec::SmallVec;

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
    pub(super) fn is_narrow(&self) -> bool {
        self.words == 1 && self.fields.iter().all(|f| f.bits < 64)
    }

    #[inline]
    pub(super) fn pack_narrow(&self, row: &[u64]) -> u64 {
        debug_assert_eq!(row.len(), self.fields.len());
        row.iter().zip(&self.fields).fold(0, |key, (w, f)| {
            debug_assert!(w >> f.bits == 0, "{w} has more than {} bits", f.bits);
            key | w << f.shift
        })
    }

    pub(super) fn pack(&self, row: &[u64]) -> Row {
        let mut out: Row = SmallVec::from_elem(0, self.words);
        self.pack_into(row, &mut out);
        out
    }

    /// Packs into words that are 0.
    #[inline]
    pub(super) fn pack_into(&self, row: &[u64], out: &mut [u64]) {
        for (w, f) in row.iter().zip(&self.fields) {
            debug_assert!(f.bits == 64 || w >> f.bits == 0, "{w} has more than {} bits", f.bits);
            out[f.word] |= w << f.shift;
        }
    }

    #[inline]
    pub(super) fn unpack(&self, packed: &[u64]) -> impl Iterator<Item = u64> {
        self.fields.iter().map(|f| packed[f.word] >> f.shift & (u64::MAX >> (64 - f.bits)))
    }
}
