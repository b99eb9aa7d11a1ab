//! Packing is a bijection, and each operation is the one on lists.

use super::*;
use crate::harness::{Choose, claim};

/// Items of the longest list in these tests; Kani has to unroll what runs through them.
const LONGEST: usize = 6;

struct List {
    packing: Packing,
    items: [u64; LONGEST],
    size: usize,
}

impl List {
    fn items(&self) -> &[u64] {
        &self.items[..self.size]
    }

    /// The word by definition; none if it does not fit.
    fn word(&self) -> Option<u64> {
        self.packing.word(self.items().iter().copied())
    }
}

/// Few items fit, so that lists are about as long as what does.
fn packing(c: &mut impl Choose) -> Packing {
    let carrier = 1 << 11 | c.below(1 << 15);
    // At least 2^11, so at least 12 bits and at most 5 items.
    Packing::of(carrier.min((1 << 15) - 1)).unwrap_or_else(|| unreachable!("4 items of 15 bits fit"))
}

fn list(c: &mut impl Choose, packing: Packing) -> List {
    let mut items = [0; LONGEST];
    for item in &mut items {
        *item = c.below(packing.carrier());
    }
    List { packing, items, size: c.below(LONGEST as u64 + 1) as usize }
}

/// What an operation answers is what the list has, if that fits.
fn same(packing: Packing, word: Option<u64>, list: &[u64]) {
    assert_eq!(word, packing.word(list.iter().copied()));
}

/// A list that fits comes back, has a word of its own, and a number of its own.
fn packed_lists(c: &mut impl Choose) -> bool {
    let p = packing(c);
    let (a, b) = (list(c, p), list(c, p));
    let Some(word) = a.word() else {
        assert!(a.size > p.most());
        return false;
    };
    assert!(a.size <= p.most() && is_packed(word) && word >> 63 == 0 && p.is_word(word));
    assert_eq!(p.size(word), a.size as u64);
    let mut items = p.items(word);
    for x in a.items() {
        assert_eq!(items.next(), Some(*x));
    }
    assert_eq!(items.next(), None);
    assert_eq!(word == 0, a.size == 0, "there is one empty sequence");
    if let Some(other) = b.word() {
        assert_eq!(word == other, a.items() == b.items());
    }
    a.size > 1
}

/// Every word that is accepted is one of a list; so no list has two.
fn accepted_words(c: &mut impl Choose) -> bool {
    let p = packing(c);
    // Few words are, unless digits are chosen.
    let (mut word, mut shift) = (0, 1);
    for _ in 0..p.most() {
        if c.below(4) == 0 {
            break;
        }
        word |= c.below(p.carrier() + 2) << shift;
        shift += p.width();
    }
    word &= low(63);
    if !p.is_word(word) {
        return false;
    }
    let mut items = [0; LONGEST];
    let mut size = 0;
    for x in p.items(word) {
        items[size] = x;
        size += 1;
    }
    assert_eq!(p.word(items[..size].iter().copied()), Some(word));
    word != 0
}

/// Numbers tell sequences apart, and every small number is one of a sequence.
fn numbered_lists(c: &mut impl Choose) -> bool {
    let p = Packing::of(1 + c.below(9)).unwrap_or_else(|| unreachable!("few values"));
    let number = c.below(1 << 12);
    let Some(word) = p.numbered(number) else {
        assert!(p.carrier() == 1 && number > 62, "only of one value there are too few sequences");
        return false;
    };
    assert!(p.is_word(word));
    assert_eq!(p.number(word), number);
    number > 9
}

fn operations(c: &mut impl Choose) -> bool {
    let p = packing(c);
    let (a, b) = (list(c, p), list(c, p));
    let (Some(v), Some(w)) = (a.word(), b.word()) else { return false };
    let (x, i) = (c.below(p.carrier()), c.below(LONGEST as u64 + 2) as i64 - 1);
    let joined = |parts: [&[u64]; 2]| {
        let mut all = [0; 2 * LONGEST];
        let (first, rest) = all.split_at_mut(parts[0].len());
        first.copy_from_slice(parts[0]);
        rest[..parts[1].len()].copy_from_slice(parts[1]);
        p.word(all[..parts[0].len() + parts[1].len()].iter().copied())
    };
    assert_eq!(p.concat(v, w), joined([a.items(), b.items()]));
    assert_eq!(p.append(v, x), joined([a.items(), &[x]]));
    assert_eq!(p.prepend(x, v), joined([&[x], a.items()]));
    match a.items() {
        [] => assert_eq!([p.first(v), p.last(v), p.tail(v), p.front(v)], [None; 4]),
        items => {
            assert_eq!((p.first(v), p.last(v)), (items.first().copied(), items.last().copied()));
            same(p, p.tail(v), &items[1..]);
            same(p, p.front(v), &items[..items.len() - 1]);
        }
    }
    let place = usize::try_from(i - 1).ok();
    assert_eq!(p.at(v, i), place.and_then(|at| a.items().get(at).copied()));
    match usize::try_from(i).ok().filter(|n| *n <= a.size) {
        Some(n) => {
            same(p, p.take(v, i), &a.items()[..n]);
            same(p, p.drop(v, i), &a.items()[n..]);
        }
        None => assert_eq!([p.take(v, i), p.drop(v, i)], [None; 2]),
    }
    let mut changed = a.items;
    match place.filter(|at| *at <= a.size && *at < LONGEST) {
        Some(at) => {
            changed[at] = x;
            same(p, p.update(v, i, x), &changed[..a.size.max(at + 1)]);
        }
        None => assert_eq!(p.update(v, i, x), None),
    }
    let mut turned = a.items;
    turned[..a.size].reverse();
    same(p, p.rev(v), &turned[..a.size]);
    let image = |x: u64| p.carrier() - 1 - x;
    let images = a.items.map(image);
    same(p, Some(p.map(v, image)), &images[..a.size]);
    // A name is no packed sequence, whatever its bits are.
    let name = v | 1;
    assert_eq!([p.first(name), p.tail(name), p.append(name, x), p.prepend(x, name)], [None; 4]);
    assert_eq!([p.concat(name, w), p.concat(w, name), p.rev(name), p.update(name, 1, x)], [None; 4]);
    assert_eq!([p.last(name), p.front(name), p.at(name, 1), p.take(name, 0), p.drop(name, 0)], [None; 5]);
    a.size + b.size == p.most()
}

mod claims {
    use super::claim;
    claim!(packed_lists, 8);
    claim!(accepted_words, 8);
    claim!(numbered_lists, 64);
    claim!(operations, 14);
}

#[cfg(test)]
mod examples {
    use super::super::*;

    #[test]
    fn as_many_items_fit_as_there_are_bits() {
        for (carrier, most) in
            [(1, 62), (2, 31), (3, 31), (4, 20), (7, 20), (8, 15), (9, 15), (15, 15), (16, 12)]
        {
            assert_eq!(Packing::of(carrier).map(Packing::most), Some(most), "{carrier}");
        }
        assert_eq!(Packing::of((1 << 15) - 1).map(Packing::most), Some(4));
        for carrier in [0, 1 << 15, 1 << 16, u64::MAX] {
            assert_eq!(Packing::of(carrier), None, "{carrier}");
        }
    }

    /// At the limit for every size of digits: the longest that fits, with the greatest items, and one item more.
    #[test]
    fn the_longest_fit_and_longer_ones_do_not() {
        for bits in 1..16 {
            let carrier = (1u64 << bits) - 1;
            let p = Packing::of(carrier).expect("four items fit");
            let longest = vec![carrier - 1; p.most()];
            let word = p.word(longest.iter().copied()).expect("it fits");
            assert!(p.items(word).eq(longest) && p.size(word) == p.most() as u64 && word >> 63 == 0);
            assert_eq!([p.append(word, 0), p.prepend(0, word), p.concat(word, word)], [None; 3]);
            assert_eq!(p.update(word, p.most() as i64 + 1, 0), None);
            assert_eq!(p.concat(word, 0), Some(word));
            assert_eq!(p.concat(0, word), Some(word));
            assert_eq!(p.drop(word, p.most() as i64), Some(0));
            assert_eq!(p.word(vec![0; p.most() + 1].into_iter()), None);
            // The greatest number of all: nothing overflows.
            let all: u128 = (1..=p.most() as u32).map(|n| u128::from(carrier).pow(n)).sum();
            assert_eq!(u128::from(p.number(word)), all, "{bits}");
        }
    }

    /// Division by multiplication, where it could be wrong: around all multiples near the ends, for every carrier.
    #[test]
    fn reciprocals_divide() {
        for carrier in 1..1u64 << 15 {
            let p = Packing::of(carrier).expect("four items fit");
            let greatest = (1u64 << NUMBERED) - 1;
            for q in [0, 1, 2, greatest / carrier / 2, greatest / carrier - 1, greatest / carrier] {
                for n in [(q * carrier).saturating_sub(1), q * carrier, q * carrier + 1, greatest] {
                    let n = n.min(greatest);
                    assert_eq!(p.per_carrier(n), n / carrier, "{n} / {carrier}");
                }
            }
        }
        for bits in 1..16 {
            let p = Packing::of((1 << bits) - 1).expect("four items fit");
            for used in 0..64 {
                let word = ((1u64 << used) - 1) << 1;
                assert_eq!(p.size(word), u64::from(u32::div_ceil(used, bits)), "{used} / {bits}");
            }
        }
    }

    #[test]
    fn ranges_are_sets_of_items() {
        let p = Packing::of(64).expect("small");
        assert_eq!(p.word([63, 0, 63].into_iter()).and_then(|w| p.range(w)), Some(1 << 63 | 1));
        assert_eq!((p.range(0), p.range(1)), (Some(0), None));
    }
}
