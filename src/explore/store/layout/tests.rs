//! Packing loses nothing: for every layout of three fields, and every row that fits it.

use super::*;
use crate::harness::{Choose, claim};

fn width(c: &mut impl Choose) -> Width {
    match c.below(4) {
        0 => Width::Bits(1 + c.below(64) as u32),
        1 => Width::Name,
        2 => Width::Integer,
        _ => Packing::of(2 + c.below(300)).map_or(Width::Name, Width::Sequence),
    }
}

/// A word that a field of this width may hold. Large names and integers are kept in a table, which is tested elsewhere.
fn word(c: &mut impl Choose, width: Width) -> u64 {
    match width {
        Width::Bits(64) => c.below(u64::MAX),
        Width::Bits(n) => c.below(1 << n),
        Width::Name => c.below(1 << (SHORT - 1)),
        Width::Integer => unfold(c.below(1 << (SHORT - 1))),
        // Of two values, the longest sequence with such a number has 29 items.
        Width::Sequence(packing) => packing.numbered(c.below(1 << (SHORT - 1))).unwrap_or_default(),
    }
}

fn packed_rows(c: &mut impl Choose) -> bool {
    let widths = [width(c), width(c), width(c)];
    let layout = Layout::new(&widths);
    let row = [word(c, widths[0]), word(c, widths[1]), word(c, widths[2])];
    let packed = layout.pack(&row);
    let mut unpacked = layout.unpack(&packed);
    // One by one: no list is made.
    assert_eq!([unpacked.next(), unpacked.next(), unpacked.next()], row.map(Some));
    assert_eq!(unpacked.next(), None);
    if layout.words() == 1 {
        assert_eq!(layout.pack_narrow(&row), packed[0]);
    }
    let bits = layout.word_bits();
    assert_eq!(bits.len(), layout.words());
    let code = layout.code_of(1);
    assert_eq!(layout.decode(code.of(&packed), widths[1]), row[1]);
    assert!(bits.iter().zip(&packed).all(|(bits, word)| *bits == 64 || word >> bits == 0));
    layout.words() > 1
}

/// A row that differs from another one in some places is packed by these and the other's key.
fn changed_rows(c: &mut impl Choose) -> bool {
    let widths = [width(c), width(c), width(c)];
    let layout = Layout::new(&widths);
    let from = [word(c, widths[0]), word(c, widths[1]), word(c, widths[2])];
    let places = [c.below(3) as usize, c.below(3) as usize];
    let mut row = from;
    for place in places {
        row[place] = word(c, widths[place]);
    }
    let (from, key) = (layout.pack(&from), layout.pack(&row));
    // Behind another key.
    let mut keys = vec![!0];
    assert_eq!(layout.pack_changed(&from, &layout.changed(Some(&places)), &row, &mut keys), from != key);
    assert_eq!(keys[1..], key[..if from == key { 0 } else { key.len() }]);
    keys.clear();
    let any = vec![!0; layout.words()];
    if layout.pack_changed(&any, &layout.changed(None), &row, &mut keys) {
        assert_eq!(keys, key[..], "all of it");
    }
    from != key && layout.words() > 1
}

/// Integers near 0 have small codes, and each has its own.
fn folded_integers(c: &mut impl Choose) -> bool {
    let w = c.below(1 << 63) << 1;
    assert_eq!(unfold(fold(w)), w);
    let small = c.below(1 << 20);
    assert_eq!(fold(unfold(small)), small);
    w >> 63 == 1
}

mod claims {
    use super::claim;
    // Three fields, up to three words, and sequences of up to 29 items.
    claim!(packed_rows, 31);
    claim!(changed_rows, 31);
    claim!(folded_integers, 1);
}

#[cfg(test)]
mod examples {
    use super::super::*;

    #[test]
    fn words_come_back() {
        let layout =
            Layout::new(&[Width::Integer, Width::Name, Width::Bits(1), Width::Integer, Width::Bits(64)]);
        assert_eq!(layout.words(), 3, "31 + 31 + 1, 31, 64");
        let integer = |i: i64| (i << 1) as u64;
        let edge = 1 << (SHORT - 2);
        let integers = [0, 1, -1, edge - 1, edge, -edge, -edge - 1, i64::MAX >> 2, i64::MIN >> 2];
        // An integer beyond 62 bits is a name with a tag.
        let integers: Vec<u64> = integers.into_iter().map(integer).chain([1, 7, u64::MAX]).collect();
        let names = [0, 1, (1 << (SHORT - 1)) - 1, 1 << (SHORT - 1), u64::MAX];
        let mut seen = HashMap::new();
        for a in &integers {
            for b in names {
                for c in &integers {
                    let row = [*a, b, a & 1, *c, b];
                    let packed = layout.pack(&row);
                    assert!(layout.unpack(&packed).eq(row), "{row:?}");
                    assert_eq!(layout.pack(&row), packed, "again");
                    assert_eq!(seen.insert(packed, row), None, "two rows in one");
                }
            }
        }
    }

    /// Short ones in the row, longer ones and names beside it; each comes back, and none is another.
    #[test]
    fn sequences_come_back() {
        for carrier in [1, 2, 3, 8, 9, 100, 4_000, 32_767] {
            let packing = Packing::of(carrier).expect("four fit");
            let layout = Layout::new(&[Width::Sequence(packing), Width::Bits(7)]);
            assert_eq!(layout.words(), 1);
            let longest = |x: u64| (0..=packing.most()).map(move |n| packing.word(vec![x; n].into_iter()));
            let all = longest(0).chain(longest(carrier - 1)).flatten().chain([1, 3, 1 << 33 | 1]);
            let mut seen = HashMap::new();
            for w in all {
                let packed = layout.pack(&[w, 5]);
                assert!(layout.unpack(&packed).eq([w, 5]), "{w:#x} over {carrier}");
                assert!(layout.is_key(&packed));
                assert_eq!(*seen.entry(packed).or_insert(w), w, "two rows in one");
            }
        }
        // Of one value there are 63 sequences, so no other number is one of them.
        let layout = Layout::new(&[Width::Sequence(Packing::of(1).expect("many fit"))]);
        assert!(layout.is_key(&[62 << 1]) && !layout.is_key(&[63 << 1]));
    }

    /// scheduler1's queue is as small as a name.
    #[test]
    fn queues_of_nine_fit_a_row() {
        let packing = Packing::of(9).expect("small");
        let layout = Layout::new(&[Width::Sequence(packing)]);
        layout.pack(&[packing.word([8, 7, 6, 5, 4, 3, 2, 1, 0].into_iter()).expect("it fits")]);
        assert_eq!(layout.large.words.count(), 0);
    }

    #[test]
    fn small_integers_share_a_word() {
        let layout = Layout::new(&[Width::Integer, Width::Integer]);
        assert_eq!(layout.words(), 1);
        for i in -1000..1000i64 {
            let row = [(i << 1) as u64, (-i << 1) as u64];
            assert!(layout.unpack(&[layout.pack_narrow(&row)]).eq(row));
        }
        assert_eq!(layout.large.words.count(), 0);
    }
}
