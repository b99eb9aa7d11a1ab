//! Sets of integers as ranges, some of which may have no end: what can be compared although it cannot be listed.

use num_bigint::BigInt;

/// From one integer to another, both included; without one there is no end on that side.
pub type Range = (Option<BigInt>, Option<BigInt>);

/// A union of ranges in ascending order, with at least one integer between any two of them: equal sets are written alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges(Vec<Range>);

impl Ranges {
    pub fn all() -> Ranges {
        Ranges(vec![(None, None)])
    }

    /// Nothing if the first is greater than the second.
    pub fn between(low: Option<BigInt>, high: Option<BigInt>) -> Ranges {
        match (&low, &high) {
            (Some(l), Some(h)) if l > h => Ranges(vec![]),
            _ => Ranges(vec![(low, high)]),
        }
    }

    /// The integers of a list, in any order.
    pub fn of(items: impl IntoIterator<Item = BigInt>) -> Ranges {
        Ranges::merged(items.into_iter().map(|i| (Some(i.clone()), Some(i))).collect())
    }

    fn merged(mut ranges: Vec<Range>) -> Ranges {
        // No lower end comes first, as `None` does.
        ranges.sort();
        let mut out: Vec<Range> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            if let Some((_, last)) = out.last_mut() {
                let touches = match (&*last, &low) {
                    (None, _) | (_, None) => true,
                    (Some(last), Some(low)) => *low <= last + 1,
                };
                if touches {
                    let is_longer = match (&*last, &high) {
                        (None, _) => false,
                        (_, None) => true,
                        (Some(last), Some(high)) => high > last,
                    };
                    if is_longer {
                        *last = high;
                    }
                    continue;
                }
            }
            out.push((low, high));
        }
        Ranges(out)
    }

    /// From the least to the greatest, if there are any.
    pub fn hull(&self) -> Option<Range> {
        Some((self.0.first()?.0.clone(), self.0.last()?.1.clone()))
    }

    pub fn union(mut self, other: Ranges) -> Ranges {
        self.0.extend(other.0);
        Ranges::merged(self.0)
    }

    /// The integers that are not in it.
    pub fn complement(&self) -> Ranges {
        let mut out = vec![];
        let mut low: Option<BigInt> = None;
        for (i, (from, to)) in self.0.iter().enumerate() {
            if let Some(from) = from {
                // Nothing is below the first one if it has no lower end.
                debug_assert!(i == 0 || low.is_some());
                out.push((low, Some(from - 1)));
            }
            match to {
                Some(to) => low = Some(to + 1),
                None => return Ranges(out),
            }
        }
        out.push((low, None));
        Ranges(out)
    }

    pub fn inter(&self, other: &Ranges) -> Ranges {
        self.complement().union(other.complement()).complement()
    }

    pub fn without(&self, other: &Ranges) -> Ranges {
        self.inter(&other.complement())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn is_within(&self, other: &Ranges) -> bool {
        self.without(other).is_empty()
    }

    pub fn is_finite(&self) -> bool {
        self.0.iter().all(|(low, high)| low.is_some() && high.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(r: &Ranges, i: i32) -> bool {
        let i = BigInt::from(i);
        r.0.iter().any(|(l, h)| l.as_ref().is_none_or(|l| *l <= i) && h.as_ref().is_none_or(|h| i <= *h))
    }

    /// All operations on all small sets, point by point; the ends beyond the points are those of the last ones.
    #[test]
    fn operations_are_those_of_sets() {
        const POINTS: std::ops::Range<i32> = 0..4;
        let int = |i: i32| Some(BigInt::from(i));
        let mut sets = vec![];
        for bits in 0..16u32 {
            for (down, up) in [(false, false), (true, false), (false, true), (true, true)] {
                let mut r = Ranges::of(POINTS.filter(|i| bits >> i & 1 == 1).map(BigInt::from));
                if down {
                    r = r.union(Ranges::between(None, int(-1)));
                }
                if up {
                    r = r.union(Ranges::between(int(4), None));
                }
                sets.push(r);
            }
        }
        let around = -2..7;
        for a in &sets {
            for i in around.clone() {
                assert_eq!(has(&a.complement(), i), !has(a, i), "{a:?} {i}");
            }
            for b in &sets {
                let (union, inter, without) = (a.clone().union(b.clone()), a.inter(b), a.without(b));
                for i in around.clone() {
                    assert_eq!(has(&union, i), has(a, i) || has(b, i), "{a:?} {b:?} {i}");
                    assert_eq!(has(&inter, i), has(a, i) && has(b, i), "{a:?} {b:?} {i}");
                    assert_eq!(has(&without, i), has(a, i) && !has(b, i), "{a:?} {b:?} {i}");
                }
                assert_eq!(a == b, around.clone().all(|i| has(a, i) == has(b, i)), "{a:?} {b:?}");
                assert_eq!(a.is_within(b), around.clone().all(|i| !has(a, i) || has(b, i)), "{a:?} {b:?}");
            }
        }
        assert!(
            !Ranges::all().is_finite() && Ranges::of([]).is_empty() && Ranges::all().complement().is_empty()
        );
    }
}
