//! How many elements a space has that nobody would list: subsets, relations, functions, sequences.

use super::symbolic::finite_card;
use super::{MAX_DIGITS, too_many_digits};
use crate::value::fault::Res;
use crate::value::rep::Rep;
use crate::value::val::{FunKind, Lazy, SeqKind, Val};
use num_bigint::BigInt;
use num_traits::{One, Zero};

/// Sums of so many products are computed.
const MOST_TERMS: usize = 5000;

/// The number of elements of a power set, a function space or the like over finite sets, if there is a formula for it.
pub(super) fn of(v: &Val, rep: &Rep) -> Option<Res<BigInt>> {
    let Val::Lazy(l) = v else { return None };
    match &*l.0 {
        Lazy::Pow { of, nonempty, .. } => {
            let n = size(of, rep.elem())?;
            Some(power(&BigInt::from(2), n).map(|all| if *nonempty { all - 1 } else { all }))
        }
        Lazy::Fun { kind, from, to } => {
            let (ra, rb) = rep.elem().as_rel();
            let (m, n) = (size(from, &Rep::set(ra.clone()))?, size(to, &Rep::set(rb.clone()))?);
            functions(*kind, m, n)
        }
        Lazy::Seq { kind: SeqKind { nonempty, injective: true, surjective }, of, most: None } => {
            let n = size(of, &Rep::set(rep.elem().as_rel().1.clone()))?;
            if *surjective {
                // The one permutation of nothing is empty.
                let is_none = *nonempty && n == 0;
                return Some(if is_none { Ok(BigInt::zero()) } else { arrangements(n, n) });
            }
            let all = sum((usize::from(*nonempty)..n + 1).map(|k| arrangements(n, k)))?;
            Some(all)
        }
        _ => None,
    }
}

/// The size of a set that is listed, or an interval.
fn size(v: &Val, rep: &Rep) -> Option<usize> {
    match v {
        Val::Lazy(l) if !matches!(&*l.0, Lazy::Interval(..) | Lazy::Product(..) | Lazy::All(_)) => None,
        _ => finite_card(v, rep).ok()?,
    }
}

fn functions(kind: FunKind, m: usize, n: usize) -> Option<Res<BigInt>> {
    let FunKind { functional, total, injective, surjective } = kind;
    match (functional, total, injective, surjective) {
        (false, false, false, false) => Some(power(&BigInt::from(2), m.checked_mul(n)?)),
        (true, true, false, false) => Some(power(&BigInt::from(n), m)),
        (true, false, false, false) => Some(power(&(BigInt::from(n) + 1), m)),
        (true, true, true, false) => Some(arrangements(n, m)),
        (true, true, true, true) => Some(if m == n { arrangements(n, n) } else { Ok(BigInt::zero()) }),
        (true, false, true, false) => {
            let mut choices = BigInt::one();
            sum((0..m.min(n) + 1).map(|k| {
                if k > 0 {
                    choices = std::mem::take(&mut choices) * (m - k + 1) / k;
                }
                arrangements(n, k).map(|a| a * &choices)
            }))
        }
        _ => None,
    }
}

fn power(base: &BigInt, exponent: usize) -> Res<BigInt> {
    let bits = base.bits().saturating_sub(1).saturating_mul(exponent as u64);
    match u32::try_from(exponent) {
        Ok(e) if bits <= MAX_DIGITS => Ok(base.pow(e)),
        _ if base.is_zero() || base.is_one() => Ok(base.clone()),
        _ => Err(too_many_digits()),
    }
}

/// The ways to choose k of n in order.
fn arrangements(n: usize, k: usize) -> Res<BigInt> {
    if k > n {
        return Ok(BigInt::zero());
    }
    let mut all = BigInt::one();
    for i in 0..k {
        all *= n - i;
        if all.bits() > MAX_DIGITS {
            return Err(too_many_digits());
        }
    }
    Ok(all)
}

fn sum(terms: impl ExactSizeIterator<Item = Res<BigInt>>) -> Option<Res<BigInt>> {
    (terms.len() <= MOST_TERMS).then(|| terms.sum())
}
