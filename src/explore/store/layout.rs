//! Rows packed into few words.

use super::{Row, Store};
use crate::system::Width;
use crate::value::packed::{NUMBERED, Packing, is_packed};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

#[cfg(any(test, kani))]
mod tests;

/// How many bits each word of a row gets, and where they are kept. Ordinals and bits are below their type's bound.
/// Integers, short sequences and names may be any word, but most are small, or have a small number: they get 31 bits, and
/// what does not fit gets a number of its own ([`Large`]).
#[derive(Clone, Debug, Default)]
pub struct Layout {
    fields: Vec<Field>,
    words: usize,
    large: Arc<Large>,
}

#[derive(Clone, Debug)]
struct Field {
    word: usize,
    shift: u32,
    /// 1 to 64.
    bits: u32,
    width: Width,
}

/// Which fields of a row are packed when the others are known from another row.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The bits of the others, by word.
    keep: SmallVec<[u64; 2]>,
    fields: Vec<(usize, Field)>,
}

/// How the packed rows of a store have one of their words: as a number that is small if the word is.
#[derive(Clone, Debug)]
pub struct Code {
    place: usize,
    word: usize,
    shift: u32,
    mask: u64,
}

impl Code {
    /// The word's place in the row.
    pub fn place(&self) -> usize {
        self.place
    }

    /// The code in a packed row. Equal words have equal codes; an ordinal is its own.
    #[inline]
    pub fn of(&self, packed: &[u64]) -> u64 {
        packed[self.word] >> self.shift & self.mask
    }

    /// The word with a code.
    pub fn word(&self, store: &Store, code: u64) -> u64 {
        store.layout.word_of(self, code)
    }

    /// Puts another code into a packed row.
    #[inline]
    pub fn set(&self, packed: &mut [u64], code: u64) {
        let word = &mut packed[self.word];
        *word = *word & !(self.mask << self.shift) | (code & self.mask) << self.shift;
    }
}

/// Bits of a word that fields get. Rows are packed bit by bit afterwards, so nothing is lost by not taking all of them;
/// and checkpoints have the words.
const WORD: u32 = 63;

/// Bits of a word that is mostly small: one of them tells whether it is.
const SHORT: u32 = NUMBERED + 1;

impl Layout {
    /// First fit: a field goes into the first word that has room for it.
    pub fn new(widths: &[Width]) -> Layout {
        let mut used: Vec<u32> = Vec::new();
        let fields = widths.iter().map(|width| {
            let bits = match width {
                Width::Bits(bits) => (*bits).max(1),
                Width::Name | Width::Integer | Width::Sequence(_) => SHORT,
            };
            let word = used.iter().position(|u| u + bits <= WORD).unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            let shift = used[word];
            used[word] += bits;
            Field { word, shift, bits, width: *width }
        });
        let fields = fields.collect();
        Layout { fields, words: used.len().max(1), large: Arc::default() }
    }

    /// Words with so many bits each.
    pub fn of_bits(bits: &[u32]) -> Layout {
        Layout::new(&bits.iter().map(|n| Width::Bits(*n)).collect::<Vec<_>>())
    }

    /// Words of a packed row.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Bits that tell a packed word from all others, word by word: at least one.
    pub fn word_bits(&self) -> Vec<u32> {
        let mut bits = vec![1; self.words];
        for f in &self.fields {
            bits[f.word] = bits[f.word].max(f.shift + f.bits);
        }
        bits
    }

    /// The same in whole bytes.
    pub fn word_bytes(&self) -> Vec<usize> {
        self.word_bits().into_iter().map(|bits| bits.div_ceil(8) as usize).collect()
    }

    /// The large words that have numbers by now, in their order.
    pub fn large_words(&self) -> Vec<u64> {
        let numbers = self.large.numbers.read().unwrap_or_else(|e| e.into_inner());
        (0..numbers.len()).map(|n| self.large.words[n]).collect()
    }

    /// Gives numbers to large words, in their order: for a layout that has none yet.
    pub fn set_large_words(&self, words: &[u64]) {
        for word in words {
            self.large.number(*word);
        }
    }

    /// Whether these are the words of a packed row: the large ones among them have numbers.
    pub fn is_key(&self, packed: &[u64]) -> bool {
        let known = self.large.words.count() as u64;
        packed.len() == self.words
            && self.fields.iter().all(|f| {
                let code = packed[f.word] >> f.shift & (u64::MAX >> (64 - f.bits));
                match f.width {
                    Width::Bits(_) => true,
                    _ if code & 1 == 1 => code >> 1 < known,
                    Width::Sequence(packing) => packing.numbered(code >> 1).is_some(),
                    Width::Name | Width::Integer => true,
                }
            })
    }

    /// Whether there may soon be too many large words to number them.
    pub fn is_exhausted(&self) -> bool {
        self.large.words.count() >= Large::MOST / 2
    }

    #[inline]
    pub(super) fn pack_narrow(&self, row: &[u64]) -> u64 {
        debug_assert_eq!(row.len(), self.fields.len());
        row.iter().zip(&self.fields).fold(0, |key, (w, f)| key | self.code(*w, f) << f.shift)
    }

    /// What is packed of a row that differs from another one in these places only; without any said, in all.
    pub(super) fn changed(&self, places: Option<&[usize]>) -> Changed {
        let is_changed = |place: &usize| places.is_none_or(|places| places.contains(place));
        let (fields, others): (Vec<_>, Vec<_>) =
            self.fields.iter().cloned().enumerate().partition(|(place, _)| is_changed(place));
        let mut keep = SmallVec::from_elem(0, self.words);
        for (_, f) in others {
            keep[f.word] |= (u64::MAX >> (64 - f.bits)) << f.shift;
        }
        Changed { keep, fields }
    }

    /// Adds the key of a row that differs from a packed one as was said; unless it does not differ.
    #[inline]
    pub(super) fn pack_changed(
        &self,
        from: &[u64],
        changed: &Changed,
        row: &[u64],
        keys: &mut Vec<u64>,
    ) -> bool {
        debug_assert!(from.len() == self.words && row.len() == self.fields.len());
        let code = |(place, f): &(usize, Field)| self.code(row[*place], f) << f.shift;
        let at = keys.len();
        // Mostly there is one word, which stays in a register.
        let is_other = if let ([from], [keep]) = (from, &changed.keep[..]) {
            let key = changed.fields.iter().fold(from & keep, |key, field| key | code(field));
            keys.push(key);
            key != *from
        } else {
            keys.extend(from.iter().zip(&changed.keep).map(|(from, keep)| from & keep));
            for field in &changed.fields {
                keys[at + field.1.word] |= code(field);
            }
            keys[at..] != *from
        };
        debug_assert_eq!(keys[at..], self.pack(row)[..], "an operation writes what it does not say");
        if !is_other {
            keys.truncate(at);
        }
        is_other
    }

    pub(super) fn pack(&self, row: &[u64]) -> Row {
        let mut out: Row = SmallVec::from_elem(0, self.words);
        self.pack_into(row, &mut out);
        out
    }

    /// Packs into words that are 0.
    #[inline]
    pub fn pack_into(&self, row: &[u64], out: &mut [u64]) {
        for (w, f) in row.iter().zip(&self.fields) {
            out[f.word] |= self.code(*w, f) << f.shift;
        }
    }

    #[inline]
    pub fn unpack(&self, packed: &[u64]) -> impl Iterator<Item = u64> {
        self.fields.iter().map(|f| self.field(packed, f))
    }

    /// The word with a code.
    pub fn word_of(&self, code: &Code, bits: u64) -> u64 {
        self.decode(bits, self.fields[code.place].width)
    }

    /// The code of a word.
    pub fn code_for(&self, code: &Code, word: u64) -> u64 {
        self.code(word, &self.fields[code.place])
    }

    /// How rows have the word in a place.
    pub fn code_of(&self, place: usize) -> Code {
        let Field { word, shift, bits, .. } = self.fields[place];
        Code { place, word, shift, mask: u64::MAX >> (64 - bits) }
    }

    /// One word of the row.
    pub fn word(&self, packed: &[u64], place: usize) -> u64 {
        self.field(packed, &self.fields[place])
    }

    #[inline]
    fn field(&self, packed: &[u64], f: &Field) -> u64 {
        self.decode(packed[f.word] >> f.shift & (u64::MAX >> (64 - f.bits)), f.width)
    }

    #[inline]
    fn decode(&self, code: u64, width: Width) -> u64 {
        match width {
            Width::Bits(_) => code,
            _ if code & 1 == 1 => self.large.word(code >> 1),
            Width::Name => code >> 1,
            Width::Integer => unfold(code >> 1),
            // It was packed here, or [`Layout::is_key`] was asked.
            Width::Sequence(packing) => packing.numbered(code >> 1).unwrap_or_default(),
        }
    }

    /// The bits of a field.
    #[inline]
    fn code(&self, w: u64, f: &Field) -> u64 {
        let small = match f.width {
            Width::Bits(bits) => {
                debug_assert!(f.bits == 64 || w >> f.bits == 0, "{w} has more than {bits} bits");
                return w;
            }
            Width::Name => w,
            Width::Integer => fold(w),
            Width::Sequence(packing) => number(packing, w),
        };
        if small < 1 << (SHORT - 1) { small << 1 } else { self.large.number(w) << 1 | 1 }
    }
}

/// A tagged integer (see [`crate::value::table`]) as a number that is small if it is near 0; names are large.
#[inline]
fn fold(w: u64) -> u64 {
    if w & 1 == 1 {
        return u64::MAX;
    }
    let i = w as i64 >> 1;
    (i << 1 ^ i >> 63) as u64
}

/// A packed sequence as a number that is small if it is short; names are large.
#[inline]
fn number(packing: Packing, w: u64) -> u64 {
    if is_packed(w) { packing.number(w) } else { u64::MAX }
}

/// The tagged integer of a small number.
#[inline]
fn unfold(n: u64) -> u64 {
    let i = (n >> 1) as i64 ^ -((n & 1) as i64);
    (i << 1) as u64
}

/// Words that are not small, by number. All stores with this layout share it.
#[derive(Debug, Default)]
struct Large {
    numbers: RwLock<HashMap<u64, u64, foldhash::fast::FixedState>>,
    words: boxcar::Vec<u64>,
}

impl Large {
    const MOST: usize = 1 << (SHORT - 1);

    #[cold]
    fn number(&self, w: u64) -> u64 {
        // Nobody panics while it is locked but by the assertion, after which nothing is stored any more.
        if let Some(n) = self.numbers.read().unwrap_or_else(|e| e.into_inner()).get(&w) {
            return *n;
        }
        let mut numbers = self.numbers.write().unwrap_or_else(|e| e.into_inner());
        *numbers.entry(w).or_insert_with(|| {
            let n = self.words.push(w);
            // A search ends when half of them are used.
            assert!(n < Large::MOST, "too many large integers");
            n as u64
        })
    }

    fn word(&self, n: u64) -> u64 {
        self.words[n as usize]
    }
}
