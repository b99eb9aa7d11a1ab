//! Relations as bit matrices in one word: bit `x * nb + y` says that x is related to y, with `na` rows of
//! `nb` bits, `na * nb ≤ 64`. Every function here has a plain counterpart in [`super::ops`] that it is tested against.

use super::rep::low;

#[cfg(any(test, kani))]
mod tests;

#[inline]
pub fn bits(mut m: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if m == 0 {
            return None;
        }
        let i = m.trailing_zeros();
        m &= m - 1;
        Some(i)
    })
}

/// The row of x: the set of y with (x, y) in r.
#[inline]
pub fn row(r: u64, x: u32, nb: u32) -> u64 {
    (r >> (x * nb)) & low(nb)
}

/// The domain, one bit per row.
#[inline]
pub fn dom(r: u64, na: u32, nb: u32) -> u64 {
    (0..na).fold(0, |d, x| d | (u64::from(row(r, x, nb) != 0) << x))
}

#[inline]
pub fn ran(r: u64, na: u32, nb: u32) -> u64 {
    (0..na).fold(0, |s, x| s | row(r, x, nb))
}

#[inline]
pub fn image(r: u64, s: u64, nb: u32) -> u64 {
    bits(s).fold(0, |t, x| t | row(r, x, nb))
}

/// All bits of the rows in `s`.
#[inline]
pub fn rows(s: u64, nb: u32) -> u64 {
    bits(s).fold(0, |m, x| m | (low(nb) << (x * nb)))
}

/// `t` in every one of `na` rows.
#[inline]
pub fn columns(t: u64, na: u32, nb: u32) -> u64 {
    (0..na).fold(0, |m, x| m | (t << (x * nb)))
}

#[inline]
pub fn product(s: u64, t: u64, nb: u32) -> u64 {
    bits(s).fold(0, |m, x| m | (t << (x * nb)))
}

#[inline]
pub fn inverse(r: u64, na: u32, nb: u32) -> u64 {
    bits(r).fold(0, |m, i| m | 1 << ((i % nb) * na + i / nb))
}

/// r ; s with r: na × nb, s: nb × nc.
#[inline]
pub fn compose(r: u64, s: u64, na: u32, nb: u32, nc: u32) -> u64 {
    (0..na).fold(0, |m, x| m | (image(s, row(r, x, nb), nc) << (x * nc)))
}

/// r <+ s
#[inline]
pub fn override_with(r: u64, s: u64, na: u32, nb: u32) -> u64 {
    (r & !rows(dom(s, na, nb), nb)) | s
}

#[inline]
pub fn identity(s: u64, n: u32) -> u64 {
    bits(s).fold(0, |m, x| m | 1 << (x * n + x))
}

/// Whether no row has two bits.
#[inline]
pub fn functional(r: u64, na: u32, nb: u32) -> bool {
    (0..na).all(|x| {
        let y = row(r, x, nb);
        y & y.wrapping_sub(1) == 0
    })
}

/// Whether no column has two bits.
#[inline]
pub fn injective(r: u64, na: u32, nb: u32) -> bool {
    let mut seen = 0;
    (0..na).all(|x| {
        let y = row(r, x, nb);
        let fresh = seen & y == 0;
        seen |= y;
        fresh
    })
}

/// The smallest transitive relation over r, on n elements.
pub fn closure1(r: u64, n: u32) -> u64 {
    let mut c = r;
    // Warshall: after step k, paths whose inner elements are among 0..=k.
    for k in 0..n {
        let via = row(c, k, n);
        for x in 0..n {
            if row(c, x, n) >> k & 1 == 1 {
                c |= via << (x * n);
            }
        }
    }
    c
}
