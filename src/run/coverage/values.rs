//! Which values the variables take, read off the stored rows.
//!
//! Under reduction the store has one state per orbit. The values that a variable takes in the states of all orbits are the
//! images of those that it takes in the stored ones, under all permutations of the group: the closure under its
//! generators. Integers are left alone by permutations.

use crate::explore::Store;
use crate::explore::store::Code;
pub use crate::run::answer::Variable;
use crate::symmetry::Group;
use crate::symmetry::action::Images;
use crate::system::Machine;
use crate::trace::shown;
use crate::value::Value;
use crate::value::rep::Rep;
use crate::value::val::{Val, cmp_int, to_value};
use num_bigint::BigInt;
use std::cmp::Ordering;
use std::sync::Arc;

/// A type with more values than this is not listed.
const SMALL: u64 = 64;

/// What is gathered of a variable.
enum Seen {
    /// Ordinals, which are codes themselves.
    Small,
    Integer(Integers),
    Other,
}

/// A variable that is watched.
struct Watched<'s> {
    field: Code,
    /// The codes below 128 that were met: most have been met before, and then that is all.
    codes: [u64; 2],
    seen: &'s mut Seen,
}

/// Least and greatest of those that are words, and of those that are not; those near the first one, as bits.
#[derive(Default)]
struct Integers {
    range: Option<(i64, i64)>,
    large: Option<(Val, Val)>,
    first: i64,
    near: u128,
    is_wide: bool,
}

impl Integers {
    #[inline]
    fn add(&mut self, i: i64) {
        // Most have been met before.
        let place = (i.wrapping_sub(self.first) as u64).wrapping_add(64);
        if place >= 128 || self.near >> place & 1 == 0 {
            self.add_new(i);
        }
    }

    fn add_new(&mut self, i: i64) {
        let (least, greatest) = match self.range {
            None => {
                self.first = i;
                (i, i)
            }
            Some((a, b)) => (a.min(i), b.max(i)),
        };
        self.range = Some((least, greatest));
        // 64 below the first one and 63 above it.
        match i.checked_sub(self.first).and_then(|d| u32::try_from(d.checked_add(64)?).ok()) {
            Some(place @ 0..128) => self.near |= 1 << place,
            _ => self.is_wide = true,
        }
    }

    #[cold]
    fn add_large(&mut self, v: Val) {
        self.is_wide = true;
        self.large = Some(match self.large.take() {
            None => (v.clone(), v),
            Some((a, b)) => {
                let a = if cmp_int(&v, &a) == Ordering::Less { v.clone() } else { a };
                let b = if cmp_int(&v, &b) == Ordering::Greater { v } else { b };
                (a, b)
            }
        });
    }

    fn ends(&self) -> Option<(BigInt, BigInt)> {
        let small = self.range.map(|(a, b)| (BigInt::from(a), BigInt::from(b)));
        let large = self.large.as_ref().map(|(a, b)| (a.to_bigint(), b.to_bigint()));
        match (small, large) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (small, large) => small.or(large),
        }
    }

    /// How many integers there are between the ends, and those that were not met; if that is known and they are few.
    fn gaps(&self) -> Option<(u64, Vec<i64>)> {
        let (a, b) = self.range.filter(|_| !self.is_wide)?;
        let n = b.checked_sub(a).and_then(|d| u64::try_from(d).ok()).filter(|d| *d < SMALL)? + 1;
        let is_missing = |i: &i64| self.near >> (i - self.first + 64) & 1 == 0;
        Some((n, (a..=b).filter(is_missing).collect()))
    }
}

/// What the variables are in the states of a store, or of their orbits.
pub fn variables(machine: &Machine, store: &Store, group: Option<&Group>) -> Vec<Variable> {
    let reps = machine.slots[machine.const_slots()..].iter().map(|s| &s.rep);
    let reps: Vec<_> = reps.take(machine.model.variables.len()).cloned().collect();
    let seen = |rep: &std::sync::Arc<Rep>| match rep.carrier {
        1..=SMALL => Seen::Small,
        _ if rep.is_int() => Seen::Integer(Integers::default()),
        _ => Seen::Other,
    };
    let mut all: Vec<Seen> = reps.iter().map(seen).collect();
    // Before the variables, a row may have the number of its constants.
    let first = machine.width() - reps.len();
    let watched = all.iter_mut().enumerate().filter(|(_, s)| !matches!(s, Seen::Other));
    let mut watched: Vec<Watched> = watched
        .map(|(place, seen)| Watched { field: store.code(first + place), codes: [0; 2], seen })
        .collect();
    if !watched.is_empty() {
        store.each_key(&mut |key| {
            for w in &mut watched {
                let code = w.field.of(key);
                let (half, bit) = ((code / 64) as usize, 1 << (code % 64));
                match w.codes.get_mut(half) {
                    Some(met) if *met & bit != 0 => continue,
                    Some(met) => *met |= bit,
                    None => {}
                }
                if let Seen::Integer(n) = w.seen {
                    match w.field.word(store, code) {
                        word if word & 1 == 0 => n.add(word as i64 >> 1),
                        word => n.add_large(machine.table().integer(word)),
                    }
                }
            }
        });
    }
    let small: Vec<(usize, u64)> = watched.iter().map(|w| (w.field.place(), w.codes[0])).collect();
    let small = |variable: usize| {
        let known = small.iter().find(|(place, _)| *place == first + variable);
        known.map_or(0, |(_, bits)| *bits)
    };
    let model = &machine.model;
    let of = |(variable, ((d, rep), seen)): (usize, ((&crate::model::Decl, &Arc<Rep>), Seen))| {
        let text = |v: &Value| shown(v, &d.ty, model);
        let mut found = Variable { name: d.name.clone(), range: None, values: None, never: vec![] };
        match seen {
            Seen::Small => {
                let bits = small(variable);
                let bits = group.map_or(bits, |g| closed(bits, rep, g));
                found.values = Some(rep.carrier);
                let never = (0..rep.carrier).filter(|w| bits >> w & 1 == 0);
                found.never = never.map(|w| text(&to_value(&Val::W(w), rep))).collect();
            }
            Seen::Integer(n) => {
                found.range = n.ends();
                if let Some((values, never)) = n.gaps() {
                    found.values = Some(values);
                    found.never = never.iter().map(i64::to_string).collect();
                }
            }
            Seen::Other => {}
        }
        found
    };
    model.variables.iter().zip(&reps).zip(all).enumerate().map(of).collect()
}

/// The smallest set of values that has these and, with a value, all its images.
fn closed(bits: u64, rep: &Rep, group: &Group) -> u64 {
    let images = Images::of(rep, group);
    let generators = group.generators();
    let (mut all, mut open) = (bits, bits);
    while open != 0 {
        let w = u64::from(open.trailing_zeros());
        open &= open - 1;
        for p in &generators {
            let image = 1u64 << (images.word(w, p) & 63);
            open |= image & !all;
            all |= image;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: &[i64]) -> Integers {
        let mut n = Integers::default();
        all.iter().for_each(|i| n.add(*i));
        n
    }

    #[test]
    fn gaps_are_between_the_ends() {
        assert_eq!(of(&[5, 3, 8]).gaps(), Some((6, vec![4, 6, 7])));
        assert_eq!(of(&[0, 63]).gaps().map(|(n, gaps)| (n, gaps.len())), Some((64, 62)));
        assert_eq!(of(&[-3]).gaps(), Some((1, vec![])));
    }

    /// What is farther from the first one than there are bits is not guessed.
    #[test]
    fn wide_ranges_have_ends_only() {
        let rows: [&[i64]; 4] = [&[0, 64], &[0, -65], &[i64::MIN, i64::MAX], &[i64::MAX >> 1, i64::MIN >> 1]];
        for wide in rows {
            let n = of(wide);
            assert_eq!(n.gaps(), None, "{wide:?}");
            let (a, b) = (wide.iter().min(), wide.iter().max());
            assert_eq!(n.ends(), a.zip(b).map(|(a, b)| (BigInt::from(*a), BigInt::from(*b))));
        }
    }

    #[test]
    fn large_ones_count() {
        let mut n = of(&[7]);
        let large: BigInt = BigInt::from(i64::MAX) * 4u8;
        n.add_large(Val::big(large.clone()));
        assert_eq!((n.ends(), n.gaps()), (Some((BigInt::from(7), large)), None));
    }
}
