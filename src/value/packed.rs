//! Short sequences as words: items of a few bits each, the first one lowest, above a bit that tells such a word from
//! the name of an interned value ([`super::table`]).
//!
//! An item with the ordinal x is the digit x + 1, and no digit is 0 but those behind the end; so the empty sequence is
//! the word 0, and every sequence that fits has one word, which means the same in every process. Whatever does
//! not fit, and relations that are no sequences, are interned. Operations answer `None` where they have no word: the
//! operand is no packed sequence, the result does not fit, or there is none; [`super::ops`] says what is the case then.

#[cfg(any(test, kani))]
mod tests;

/// How the sequences over a type of a few values are words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Values of the type of the items.
    carrier: u16,
    /// Bits of a digit.
    bits: u8,
    /// Items that fit.
    most: u8,
    /// For divisions by `bits` and by `carrier`, which are multiplications: reciprocals of so many bits behind the point,
    /// rounded up.
    per_width: u16,
    per_carrier: u32,
}

/// Bits for all digits together.
const ROOM: u32 = 62;
/// Where fewer items than this fit, sequences are not packed at all.
const FEWEST: u32 = 4;

/// Bits of `per_width` behind the point. A number of bits, below 80, times what was rounded up is less than one part in
/// 4,096 / 80, and so less than a fifteenth, which would be a bit more.
const WIDTH_POINT: u32 = 12;

/// Sequences have numbers; those that can be had from theirs ([`Packing::numbered`]) have one below 2 to the power of this.
pub const NUMBERED: u32 = 30;

/// The lowest bits, fewer than 64 of them.
#[inline]
fn low(n: u32) -> u64 {
    (1 << n) - 1
}

/// Whether a word of a type with a packing is a packed sequence, and not a name.
#[inline]
pub fn is_packed(word: u64) -> bool {
    word & 1 == 0
}

impl Packing {
    /// For items of a type with so many values; `None` if these are not known to be few.
    pub fn of(carrier: u64) -> Option<Packing> {
        let bits = 64 - carrier.leading_zeros();
        let most = ROOM.checked_div(bits)?;
        let carrier = u16::try_from(carrier).ok()?;
        (most >= FEWEST).then_some(Packing {
            carrier,
            bits: bits as u8,
            most: most as u8,
            per_width: ((1 << WIDTH_POINT) / bits + 1) as u16,
            // At most 2^31 + 1, since the carrier is at least half of 2 to the power of its bits.
            per_carrier: ((1u64 << (NUMBERED + bits)) / u64::from(carrier) + 1) as u32,
        })
    }

    /// A number below 2^30 by the carrier, rounded down. What is too much in the reciprocal makes less than 2^30 parts of
    /// 2^(30 + bits), so less than one of the carrier.
    #[inline]
    fn per_carrier(self, n: u64) -> u64 {
        (n * u64::from(self.per_carrier)) >> (NUMBERED + self.width())
    }

    /// Items that fit.
    pub fn most(self) -> usize {
        usize::from(self.most)
    }

    /// Values that an item may have.
    pub fn carrier(self) -> u64 {
        u64::from(self.carrier)
    }

    #[inline]
    fn width(self) -> u32 {
        u32::from(self.bits)
    }

    #[inline]
    fn digit(self, item: u64) -> u64 {
        debug_assert!(item < u64::from(self.carrier), "{item} is no ordinal of the items");
        item + 1
    }

    /// The word of a sequence of ordinals, if it fits.
    pub fn word(self, items: impl ExactSizeIterator<Item = u64>) -> Option<u64> {
        if items.len() > self.most() {
            return None;
        }
        let digits = items.enumerate().fold(0, |w, (i, x)| w | self.digit(x) << (i as u32 * self.width()));
        Some(digits << 1)
    }

    /// The ordinals of a packed sequence, in order.
    #[inline]
    pub fn items(self, word: u64) -> impl Iterator<Item = u64> {
        debug_assert!(is_packed(word));
        let (mut rest, bits) = (word >> 1, self.width());
        std::iter::from_fn(move || {
            let digit = rest & low(bits);
            rest >>= bits;
            digit.checked_sub(1)
        })
    }

    /// Whether a word that is no name is one of a sequence.
    pub fn is_word(self, word: u64) -> bool {
        let size = self.size(word);
        let mut items = 0;
        is_packed(word)
            && size <= u64::from(self.most)
            && self.items(word).all(|x| {
                items += 1;
                x < u64::from(self.carrier)
            })
            && items == size
    }

    /// How many items a packed sequence has.
    #[inline]
    pub fn size(self, word: u64) -> u64 {
        let used = 64 - (word >> 1).leading_zeros();
        u64::from(((used + self.width() - 1) * u32::from(self.per_width)) >> WIDTH_POINT)
    }

    /// The ordinal of an item that is there; the first one has the place 0.
    #[inline]
    fn item(self, word: u64, place: u64) -> u64 {
        (word >> (1 + place as u32 * self.width()) & low(self.width())) - 1
    }

    /// `s(i)`, i being a number and not a tagged integer.
    #[inline]
    pub fn at(self, word: u64, i: i64) -> Option<u64> {
        let place = u64::try_from(i).ok()?.checked_sub(1)?;
        (is_packed(word) && place < self.size(word)).then(|| self.item(word, place))
    }

    #[inline]
    pub fn first(self, word: u64) -> Option<u64> {
        (is_packed(word) && word != 0).then(|| self.item(word, 0))
    }

    #[inline]
    pub fn last(self, word: u64) -> Option<u64> {
        (is_packed(word) && word != 0).then(|| self.item(word, self.size(word) - 1))
    }

    #[inline]
    pub fn tail(self, word: u64) -> Option<u64> {
        (is_packed(word) && word != 0).then(|| word >> 1 >> self.width() << 1)
    }

    #[inline]
    pub fn front(self, word: u64) -> Option<u64> {
        (is_packed(word) && word != 0).then(|| self.cut(word, self.size(word) - 1))
    }

    /// The first items, so many of those that are there.
    #[inline]
    fn cut(self, word: u64, size: u64) -> u64 {
        word & low(1 + size as u32 * self.width())
    }

    /// `s /|\ n`
    pub fn take(self, word: u64, n: i64) -> Option<u64> {
        let n = u64::try_from(n).ok()?;
        (is_packed(word) && n <= self.size(word)).then(|| self.cut(word, n))
    }

    /// `s \|/ n`
    pub fn drop(self, word: u64, n: i64) -> Option<u64> {
        let n = u64::try_from(n).ok()?;
        // The shift is less than 64: no more than 62 bits are used.
        (is_packed(word) && n <= self.size(word)).then(|| word >> 1 >> (n as u32 * self.width()) << 1)
    }

    /// `s <- x`
    #[inline]
    pub fn append(self, word: u64, item: u64) -> Option<u64> {
        let size = self.size(word);
        let fits = is_packed(word) && size < u64::from(self.most);
        fits.then(|| word | self.digit(item) << (1 + size as u32 * self.width()))
    }

    /// `x -> s`
    #[inline]
    pub fn prepend(self, item: u64, word: u64) -> Option<u64> {
        let fits = is_packed(word) && self.size(word) < u64::from(self.most);
        fits.then(|| (word >> 1 << self.width() | self.digit(item)) << 1)
    }

    /// `s ^ t`
    pub fn concat(self, a: u64, b: u64) -> Option<u64> {
        if !is_packed(a) || !is_packed(b) {
            return None;
        }
        let size = self.size(a);
        // Nothing is shifted by more than 62 bits.
        (size + self.size(b) <= u64::from(self.most)).then(|| a | b << (size as u32 * self.width()))
    }

    pub fn rev(self, word: u64) -> Option<u64> {
        let add = |out: u64, x| out << self.width() | self.digit(x);
        is_packed(word).then(|| self.items(word).fold(0, add) << 1)
    }

    /// `s <+ {i |-> x}` where that is a sequence that fits.
    pub fn update(self, word: u64, i: i64, item: u64) -> Option<u64> {
        let place = u64::try_from(i).ok()?.checked_sub(1)?;
        if !is_packed(word) || place > self.size(word) || place >= u64::from(self.most) {
            return None;
        }
        let shift = 1 + place as u32 * self.width();
        Some(word & !(low(self.width()) << shift) | self.digit(item) << shift)
    }

    /// `ran(s)` as bits; the type of the items has at most 64 values.
    #[inline]
    pub fn range(self, word: u64) -> Option<u64> {
        is_packed(word).then(|| self.items(word).fold(0, |set, x| set | 1 << x))
    }

    /// The image of a packed sequence under a function on ordinals.
    #[inline]
    pub fn map(self, word: u64, image: impl Fn(u64) -> u64) -> u64 {
        let (mut out, mut shift) = (0, 1);
        for x in self.items(word) {
            out |= self.digit(image(x)) << shift;
            shift += self.width();
        }
        out
    }

    /// The number of a packed sequence, by which short ones come first and no number is left out: its digits to the base
    /// of how many there are, so that 0 is the empty one.
    #[inline]
    pub fn number(self, word: u64) -> u64 {
        let (mut number, mut unit) = (0u64, 1u64);
        // Below 2^62, since the digits' bits are that many and each is less than the base of these; the unit after the
        // last digit is not needed.
        for x in self.items(word) {
            number += (x + 1) * unit;
            unit = unit.wrapping_mul(u64::from(self.carrier));
        }
        number
    }

    /// The packed sequence with a number below 2^30; `None` if it would not fit.
    #[inline]
    pub fn numbered(self, number: u64) -> Option<u64> {
        if number >> NUMBERED != 0 {
            return None;
        }
        let (mut out, mut shift, mut rest) = (0, 1, number);
        while rest != 0 {
            if shift + self.width() > ROOM + 1 {
                return None;
            }
            let before = self.per_carrier(rest - 1);
            out |= (rest - before * u64::from(self.carrier)) << shift;
            rest = before;
            shift += self.width();
        }
        Some(out)
    }
}
