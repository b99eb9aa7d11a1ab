//! Bit matrices against the definitions of the operations, element by element.

use super::*;
use crate::harness::{Choose, claim};

fn has(m: u64, i: u32) -> bool {
    m >> i & 1 == 1
}

/// 1, 2 or 3.
fn size(c: &mut impl Choose) -> u32 {
    1 + c.below(3) as u32
}

fn set(c: &mut impl Choose, n: u32) -> u64 {
    c.below(1 << n)
}

fn sets(c: &mut impl Choose) -> bool {
    let (na, nb) = (size(c), size(c));
    let (r, q) = (set(c, na * nb), set(c, na * nb));
    let (s, t) = (set(c, na), set(c, nb));
    for x in 0..na {
        let at = |y: u32| x * nb + y;
        let some = (0..nb).any(|y| has(r, at(y)));
        assert_eq!(has(dom(r, na, nb), x), some);
        let replaced = (0..nb).any(|y| has(q, at(y)));
        for y in 0..nb {
            assert_eq!(has(row(r, x, nb), y), has(r, at(y)));
            assert_eq!(has(product(s, t, nb), at(y)), has(s, x) && has(t, y));
            assert_eq!(has(rows(s, nb), at(y)), has(s, x));
            assert_eq!(has(columns(t, na, nb), at(y)), has(t, y));
            assert_eq!(has(inverse(r, na, nb), y * na + x), has(r, at(y)));
            let expected = if replaced { has(q, at(y)) } else { has(r, at(y)) };
            assert_eq!(has(override_with(r, q, na, nb), at(y)), expected);
        }
    }
    r != 0 && q != 0 && s != 0 && t != 0
}

fn images(c: &mut impl Choose) -> bool {
    let (na, nb) = (size(c), size(c));
    let (r, s) = (set(c, na * nb), set(c, na));
    for y in 0..nb {
        let from = |x: u32| has(r, x * nb + y);
        assert_eq!(has(ran(r, na, nb), y), (0..na).any(from));
        assert_eq!(has(image(r, s, nb), y), (0..na).any(|x| has(s, x) && from(x)));
    }
    let several = |i: u32, j: u32| i != j && has(r, i) && has(r, j);
    let n = na * nb;
    let twice =
        |same: fn(u32, u32, u32) -> bool| (0..n).any(|i| (0..n).any(|j| several(i, j) && same(i, j, nb)));
    assert_eq!(functional(r, na, nb), !twice(|i, j, nb| i / nb == j / nb));
    assert_eq!(injective(r, na, nb), !twice(|i, j, nb| i % nb == j % nb));
    r != 0 && s != 0
}

fn compositions(c: &mut impl Choose) -> bool {
    let (na, nb, nc) = (size(c), size(c), size(c));
    let (r, q) = (set(c, na * nb), set(c, nb * nc));
    let composed = compose(r, q, na, nb, nc);
    for x in 0..na {
        for z in 0..nc {
            let by = |y: u32| has(r, x * nb + y) && has(q, y * nc + z);
            assert_eq!(has(composed, x * nc + z), (0..nb).any(by));
        }
    }
    composed != 0
}

/// On three elements a path has at most three steps.
fn closures(c: &mut impl Choose) -> bool {
    let n = size(c);
    let (r, s) = (set(c, n * n), set(c, n));
    let two = compose(r, r, n, n, n);
    let three = compose(two, r, n, n, n);
    assert_eq!(closure1(r, n), r | two | three);
    for x in 0..n {
        for y in 0..n {
            assert_eq!(has(identity(s, n), x * n + y), x == y && has(s, x));
        }
    }
    closure1(r, n) != r
}

mod claims {
    use super::claim;
    // Loops over 9 places, and over the bits of 9.
    claim!(sets, 11);
    claim!(images, 11);
    claim!(compositions, 11);
    claim!(closures, 11);
}
