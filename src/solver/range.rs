//! Intervals of integers, open on either side, and what arithmetic makes of them.
//! Absent on purpose: terms. `term` keeps an interval for every integer term, `blast` finds widths with them.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

/// What an integer can be. A bound of a variable belongs to it wherever it occurs: every solver has to assume it. So
/// it may only come from the type of what the variable stands for, never from a property that is to be proved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    pub low: Option<BigInt>,
    pub high: Option<BigInt>,
}

impl Bounds {
    pub fn new(low: impl Into<BigInt>, high: impl Into<BigInt>) -> Bounds {
        Bounds { low: Some(low.into()), high: Some(high.into()) }
    }

    pub fn exactly(value: BigInt) -> Bounds {
        Bounds { low: Some(value.clone()), high: Some(value) }
    }

    pub fn contains(&self, value: &BigInt) -> bool {
        self.low.as_ref().is_none_or(|l| l <= value) && self.high.as_ref().is_none_or(|h| value <= h)
    }

    /// Every number here is at most every number there.
    pub fn is_below(&self, other: &Bounds) -> bool {
        matches!((&self.high, &other.low), (Some(h), Some(l)) if h <= l)
    }

    /// No number here is a number there.
    pub fn is_apart(&self, other: &Bounds) -> bool {
        let before = |a: &Bounds, b: &Bounds| matches!((&a.high, &b.low), (Some(h), Some(l)) if h < l);
        before(self, other) || before(other, self)
    }

    /// The only number there is.
    pub fn single(&self) -> Option<&BigInt> {
        self.low.as_ref().filter(|l| self.high.as_ref() == Some(l))
    }

    pub fn hull(&self, other: &Bounds) -> Bounds {
        let low = self.low.as_ref().zip(other.low.as_ref()).map(|(a, b)| a.min(b).clone());
        let high = self.high.as_ref().zip(other.high.as_ref()).map(|(a, b)| a.max(b).clone());
        Bounds { low, high }
    }

    /// The numbers of both.
    pub fn meet(&self, other: &Bounds) -> Bounds {
        let pick = |a: &Option<BigInt>, b: &Option<BigInt>, greater: bool| match (a, b) {
            (Some(a), Some(b)) => Some(if greater { a.max(b) } else { a.min(b) }.clone()),
            (a, b) => a.as_ref().or(b.as_ref()).cloned(),
        };
        Bounds { low: pick(&self.low, &other.low, true), high: pick(&self.high, &other.high, false) }
    }

    pub fn plus(&self, other: &Bounds) -> Bounds {
        let low = self.low.as_ref().zip(other.low.as_ref()).map(|(a, b)| a + b);
        let high = self.high.as_ref().zip(other.high.as_ref()).map(|(a, b)| a + b);
        Bounds { low, high }
    }

    pub fn scaled(&self, factor: &BigInt) -> Bounds {
        if factor.is_zero() {
            return Bounds::exactly(BigInt::zero());
        }
        let low = self.low.as_ref().map(|l| l * factor);
        let high = self.high.as_ref().map(|h| h * factor);
        if factor.is_negative() { Bounds { low: high, high: low } } else { Bounds { low, high } }
    }

    fn is_at_least(&self, value: i32) -> bool {
        self.low.as_ref().is_some_and(|l| *l >= BigInt::from(value))
    }

    /// The largest absolute value.
    fn size(&self) -> Option<BigInt> {
        Some(self.low.as_ref()?.abs().max(self.high.as_ref()?.abs()))
    }

    pub fn times(&self, other: &Bounds) -> Bounds {
        if let (Some(a), Some(b), Some(c), Some(d)) = (&self.low, &self.high, &other.low, &other.high) {
            let mut all = [a * c, a * d, b * c, b * d];
            all.sort();
            let [low, _, _, high] = all;
            return Bounds { low: Some(low), high: Some(high) };
        }
        if self.is_at_least(0) && other.is_at_least(0) {
            let low = self.low.as_ref().zip(other.low.as_ref()).map(|(a, b)| a * b);
            return Bounds { low, high: None };
        }
        Bounds::default()
    }

    /// Division towards zero, 0 when the divisor is 0.
    pub fn over(&self, other: &Bounds) -> Bounds {
        if self.is_at_least(0) && other.is_at_least(0) {
            // The divisor is 0, and the result 0, or it is at least 1.
            let least = other.low.clone().unwrap_or_default().max(BigInt::one());
            let high = self.high.as_ref().map(|h| h / least);
            let low = match (&self.low, &other.high) {
                (Some(a), Some(b)) if other.is_at_least(1) => a / b,
                _ => BigInt::zero(),
            };
            return Bounds { low: Some(low), high };
        }
        match self.size() {
            Some(size) => Bounds { low: Some(-&size), high: Some(size) },
            None => Bounds::default(),
        }
    }

    /// The remainder of that division: it has the sign of the dividend; 0 when the divisor is 0.
    pub fn modulo(&self, other: &Bounds) -> Bounds {
        let below = other.size().map(|s| (s - 1u32).max(BigInt::zero()));
        let limit = |side: Option<BigInt>| match (side, &below) {
            (Some(a), Some(b)) => Some(a.max(BigInt::zero()).min(b.clone())),
            (Some(a), None) => Some(a.max(BigInt::zero())),
            (None, b) => b.clone(),
        };
        let high = limit(self.high.clone());
        let low = limit(self.low.as_ref().map(|l| -l)).map(|l| -l);
        Bounds { low, high }
    }

    /// Bits of the two's complement that can hold all of it, if it is bounded.
    pub fn width(&self) -> Option<usize> {
        Some(signed_width(self.low.as_ref()?).max(signed_width(self.high.as_ref()?)))
    }
}

/// Bits of the two's complement of a number, with its sign.
pub fn signed_width(value: &BigInt) -> usize {
    let size = if value.is_negative() { (-value - 1u32).bits() } else { value.bits() };
    size as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on intervals holds all results of the operation on their members.
    #[test]
    fn operations_hold_all_results() {
        let ends: Vec<i64> = (-4..=4).collect();
        let all: Vec<(i64, i64)> =
            ends.iter().flat_map(|&l| ends.iter().filter(move |&&h| l <= h).map(move |&h| (l, h))).collect();
        let open = |(l, h): (i64, i64), sides: usize| Bounds {
            low: (sides & 1 == 0).then(|| l.into()),
            high: (sides & 2 == 0).then(|| h.into()),
        };
        let div = |a: i64, b: i64| a.checked_div(b).unwrap_or(0);
        let rem = |a: i64, b: i64| a.checked_rem(b).unwrap_or(0);
        for &a in &all {
            for &b in &all {
                for sides in 0..16 {
                    let (x, y) = (open(a, sides & 3), open(b, sides >> 2));
                    let (sum, product, quotient, rest) = (x.plus(&y), x.times(&y), x.over(&y), x.modulo(&y));
                    for i in a.0..=a.1 {
                        for j in b.0..=b.1 {
                            assert!(sum.contains(&(i + j).into()));
                            assert!(product.contains(&(i * j).into()));
                            assert!(quotient.contains(&div(i, j).into()), "{x:?} / {y:?}");
                            assert!(rest.contains(&rem(i, j).into()), "{x:?} mod {y:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn widths() {
        for (value, width) in
            [(0, 1), (-1, 1), (1, 2), (-2, 2), (2, 3), (-3, 3), (127, 8), (-128, 8), (128, 9)]
        {
            assert_eq!(signed_width(&BigInt::from(value)), width, "{value}");
        }
    }
}
