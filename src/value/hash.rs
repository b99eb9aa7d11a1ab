//! How numbers are spread: the mixers that tables, labels and random order are made of, each where it can be
//! compared with the others. Absent on purpose: hashing of structure (`foldhash` does that) and secrets: none of this
//! withstands somebody who chooses the numbers.

/// 2^64 divided by the golden ratio, made odd.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// One multiplication: the upper bits depend on all, the lower ones on few. For a place in a table.
#[inline(always)]
pub fn spread(w: u64) -> u64 {
    w.wrapping_mul(GOLDEN)
}

/// Goes on from a hash with another word; the result is in the upper bits.
#[inline(always)]
pub fn join(hash: u64, w: u64) -> u64 {
    spread(hash.rotate_left(23) ^ w)
}

/// Every bit reaches the top and the bottom, by one wide multiplication: rows differ in few bits.
#[inline(always)]
pub fn mix(w: u64) -> u64 {
    let m = u128::from(w ^ 0xA076_1D64_78BD_642F) * u128::from(GOLDEN);
    spread((m as u64) ^ (m >> 64) as u64)
}

/// Two words into one, neither commutative nor linear.
#[inline]
pub fn pair(a: u64, b: u64) -> u64 {
    let m = u128::from(a ^ GOLDEN) * u128::from(b.rotate_left(32) ^ 0xD6E8_FEB8_6659_FD93);
    (m as u64) ^ (m >> 64) as u64
}

/// Two words of 128 bits into one, for labels that stand for structure: a collision must not be expected.
#[inline]
pub fn label(a: u128, b: u128) -> u128 {
    const K: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
    let m = (a ^ b.rotate_left(71) ^ K).wrapping_mul(K | 1);
    let m = (m ^ (m >> 67)).wrapping_mul(0xD6E8_FEB8_6659_FD93_A076_1D64_78BD_642F);
    m ^ (m >> 59)
}

/// A fixed sequence of numbers (splitmix64), so that a run can be repeated.
#[derive(Clone, Debug)]
pub struct Sequence(pub u64);

impl Sequence {
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that splitmix64 is known by.
    #[test]
    fn the_sequence_is_splitmix64() {
        let mut s = Sequence(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| s.draw()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    /// One bit of the operand changes about half of the bits of the result, also the lowest and the highest.
    #[test]
    fn every_bit_matters() {
        for w in [0, 1, 0xFFFF, u64::MAX, GOLDEN] {
            for bit in 0..64 {
                let changed = (mix(w) ^ mix(w ^ (1 << bit))).count_ones();
                assert!((10..=54).contains(&changed), "mix: bit {bit} of {w:#x} changes {changed}");
                let a = u128::from(w);
                let changed = (label(a, 7) ^ label(a ^ (1 << bit), 7)).count_ones();
                assert!((30..=98).contains(&changed), "label: bit {bit} of {w:#x} changes {changed}");
            }
        }
        let (a, b) = (join(join(0, 1), 2), join(join(0, 2), 1));
        assert_ne!(a >> 40, b >> 40, "the order of the words matters in the upper bits");
    }
}
