//! Operations on production values, each given the representations it works on.
//!
//! Words have their own fast forms in [`super::mask`]; what is here is complete. Symbolic sets stay symbolic
//! where an operation allows it (membership, application, union with an infinite set) and are expanded otherwise.
//! Here are comparisons, sets, sequences and arithmetic; `symbolic` has the sets that are tested instead of
//! expanded, `relation` the relations and functions, `derived` what is made of infinite ones.

mod count;
mod derived;
mod relation;
mod spaces;
mod symbolic;

pub use relation::{
    Restrict, apply, at, closure1, compose, direct_product, dom, identity, image, images, inverse, iterate,
    override_with, parallel_product, ran, reached, restrict, update,
};
pub use symbolic::{
    Visit, all_values, each, expand, finite_card, in_functions, in_matrices, in_sequences, infinite,
    is_finite, long, member, ranges, symbolic, unlisted, visited,
};

use super::fault::{Fault, Res, WdKind};
use super::mask;
use super::rep::{Rep, SetKind, Shape};
use super::val::{IntSet, Lazy, MAX_SET, Val, cmp_int, too_large, words};
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use relation::{in_domain, reached_from};
use std::cmp::Ordering;
use std::sync::Arc;
use symbolic::{all_of, is_whole, may_have_no_value};

/// Expands a symbolic set.
pub fn force(v: Val, rep: &Rep) -> Res<Val> {
    match &v {
        Val::Lazy(l) => {
            let elems = expand(&l.0, rep)?;
            Ok(Val::from_elems(elems, rep))
        }
        _ => Ok(v),
    }
}

// ---- comparisons --------------------------------------------------------------------------------------------

pub fn is_empty(v: &Val, rep: &Rep) -> Res<bool> {
    match v {
        Val::Lazy(l) => {
            if let Lazy::Interval(lo, hi) = &*l.0 {
                return Ok(hi < lo);
            }
            if infinite(v) {
                return Ok(false);
            }
            if long(v)
                && let Some(r) = ranges(v, rep)
            {
                return Ok(r.is_empty());
            }
            Ok(force(v.clone(), rep)?.is_empty_set())
        }
        _ => Ok(v.is_empty_set()),
    }
}

/// a ⊆ b
pub fn subset(a: &Val, b: &Val, rep: &Rep) -> Res<bool> {
    if long(a)
        && let (Some(x), Some(y)) = (ranges(a, rep), ranges(b, rep))
    {
        return Ok(x.is_within(&y));
    }
    match (a, b) {
        (Val::W(x), Val::W(y)) => Ok(x & !y == 0),
        (Val::Bits(x), Val::Bits(y)) => Ok(x.iter().zip(y.iter()).all(|(x, y)| x & !y == 0)),
        (Val::Lazy(l), Val::Lazy(m)) => match (&*l.0, &*m.0) {
            (Lazy::Interval(lo, hi), Lazy::Interval(lo2, hi2)) => Ok(hi < lo || (lo2 <= lo && hi <= hi2)),
            (Lazy::Interval(lo, hi), Lazy::Integers(k)) => Ok(hi < lo
                || match k {
                    IntSet::Integer => true,
                    IntSet::Natural => *lo >= 0,
                    IntSet::Natural1 => *lo >= 1,
                }),
            (Lazy::Integers(k), Lazy::Integers(j)) => {
                let rank = |k: &IntSet| match k {
                    IntSet::Integer => 2,
                    IntSet::Natural => 1,
                    IntSet::Natural1 => 0,
                };
                Ok(rank(k) <= rank(j))
            }
            (_, Lazy::All(_) | Lazy::Strings | Lazy::Freetype(_)) => Ok(true),
            // Integers have their order: an infinite set is no subset of an interval.
            (Lazy::Integers(_), Lazy::Interval(..)) => Ok(false),
            (
                Lazy::Pow { of, nonempty, finite },
                Lazy::Pow { of: of2, nonempty: nonempty2, finite: finite2 },
            ) => {
                // The empty set is in the one and not in the other, or an infinite set itself is.
                if (*nonempty2 && !nonempty) || (*finite2 && !finite && !is_finite(of, rep.elem())?) {
                    return Ok(false);
                }
                subset(of, of2, rep.elem())
            }
            (Lazy::Product(a1, b1), Lazy::Product(a2, b2)) => {
                let (ra, rb) = rep.elem().as_pair();
                let (sa, sb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
                if is_empty(a1, &sa)? || is_empty(b1, &sb)? {
                    return Ok(true);
                }
                let parts = [(a1, a2, &sa), (b1, b2, &sb)];
                all_of(b, &mut parts.into_iter().map(|(x, y, r)| subset(x, y, r)))
            }
            (Lazy::Union(x, y), _) => all_of(b, &mut [x, y].into_iter().map(|x| subset(x, b, rep))),
            _ => each_in(a, b, rep),
        },
        _ => each_in(a, b, rep),
    }
}

/// Whether each element of the one set, which can be listed, is in the other.
fn each_in(a: &Val, b: &Val, rep: &Rep) -> Res<bool> {
    let all_are_asked = may_have_no_value(b);
    let mut inside = true;
    each(a, rep, &mut |v| {
        inside &= member(&v, b, rep)?;
        Ok(inside || all_are_asked)
    })?;
    Ok(inside)
}

pub fn equal(a: &Val, b: &Val, rep: &Rep) -> Res<bool> {
    if !a.is_lazy() && !b.is_lazy() {
        return Ok(a == b);
    }
    if a == b {
        return Ok(true);
    }
    if let (Some(m), Some(n)) = (a.as_shift(), b.as_shift()) {
        return Ok(m == n);
    }
    if (long(a) || long(b))
        && let (Some(x), Some(y)) = (ranges(a, rep), ranges(b, rep))
    {
        return Ok(x == y);
    }
    match (symbolic(a), symbolic(b)) {
        (false, false) => Ok(force(a.clone(), rep)? == force(b.clone(), rep)?),
        // A finite set on the one side, a certainly infinite one on the other; otherwise it is not known.
        (true, false) if infinite(a) => force(b.clone(), rep).map(|_| false),
        (false, true) if infinite(b) => force(a.clone(), rep).map(|_| false),
        (true, false) | (false, true) => Ok(force(a.clone(), rep)? == force(b.clone(), rep)?),
        (true, true) => match (subset(a, b, rep), subset(b, a, rep)) {
            (Ok(x), Ok(y)) => Ok(x && y),
            (Ok(false), _) | (_, Ok(false)) => Ok(false),
            (Err(e), _) | (_, Err(e)) => Err(e),
        },
    }
}

// ---- sets ---------------------------------------------------------------------------------------------------

fn merge(a: &Val, b: &Val, rep: &Rep, word: fn(u64, u64) -> u64, keep: fn(bool, bool) -> bool) -> Val {
    match (a, b) {
        (Val::W(x), Val::W(y)) => Val::W(word(*x, *y)),
        (Val::Bits(x), Val::Bits(y)) => {
            Val::Bits(x.iter().zip(y.iter()).map(|(x, y)| word(*x, *y)).collect())
        }
        (Val::Set(x), Val::Set(y)) => Val::from_sorted(merge_lists(x, y, keep), rep),
        _ => {
            let mut out = Vec::with_capacity(a.count().max(b.count()));
            let (mut xs, mut ys) = (a.elems().peekable(), b.elems().peekable());
            loop {
                let order = match (xs.peek(), ys.peek()) {
                    (None, None) => break,
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (Some(x), Some(y)) => x.cmp(y),
                };
                let (in_a, in_b) = (order != Ordering::Greater, order != Ordering::Less);
                let x = if in_a { xs.next() } else { None };
                let y = if in_b { ys.next() } else { None };
                if keep(in_a, in_b) {
                    out.extend(x.or(y));
                }
            }
            Val::from_sorted(out, rep)
        }
    }
}

/// Sorted lists, with leaps over long stretches of one of them.
fn merge_lists(mut x: &[Val], mut y: &[Val], keep: fn(bool, bool) -> bool) -> Vec<Val> {
    let mut out = Vec::with_capacity(if keep(true, false) { x.len() } else { 0 });
    while let (Some(a), Some(b)) = (x.first(), y.first()) {
        match a.cmp(b) {
            Ordering::Equal => {
                if keep(true, true) {
                    out.push(a.clone());
                }
                (x, y) = (&x[1..], &y[1..]);
            }
            Ordering::Less => {
                let n = leap(x, b);
                if keep(true, false) {
                    out.extend_from_slice(&x[..n]);
                }
                x = &x[n..];
            }
            Ordering::Greater => {
                let n = leap(y, a);
                if keep(false, true) {
                    out.extend_from_slice(&y[..n]);
                }
                y = &y[n..];
            }
        }
    }
    if keep(true, false) {
        out.extend_from_slice(x);
    }
    if keep(false, true) {
        out.extend_from_slice(y);
    }
    out
}

/// How many elements of a sorted list are less than `v`, found in steps that double.
fn leap(list: &[Val], v: &Val) -> usize {
    let mut step = 1;
    while step < list.len() && list[step] < *v {
        step *= 2;
    }
    let lo = step / 2;
    let hi = step.min(list.len());
    lo + list[lo..hi].partition_point(|x| x < v)
}

pub fn union(a: Val, b: Val, rep: &Rep) -> Res<Val> {
    if symbolic(&a) || symbolic(&b) || (rep.elem().is_int() && (long(&a) || long(&b))) {
        return Ok(Val::lazy(Lazy::Union(a, b)));
    }
    let (a, b) = (force(a, rep)?, force(b, rep)?);
    Ok(merge(&a, &b, rep, |x, y| x | y, |_, _| true))
}

pub fn inter(a: Val, b: Val, rep: &Rep) -> Res<Val> {
    match (a.is_lazy(), b.is_lazy()) {
        (false, false) => Ok(merge(&a, &b, rep, |x, y| x & y, |x, y| x && y)),
        (false, true) => filter(&a, rep, &mut |v| member(v, &b, rep)),
        (true, false) => filter(&b, rep, &mut |v| member(v, &a, rep)),
        (true, true) if symbolic(&a) && symbolic(&b) || (rep.elem().is_int() && long(&a) && long(&b)) => {
            Ok(Val::lazy(Lazy::Inter(a, b)))
        }
        (true, true) => {
            let (a, b) = if symbolic(&a) { (b, a) } else { (a, b) };
            filter(&force(a, rep)?, rep, &mut |v| member(v, &b, rep))
        }
    }
}

pub fn diff(a: Val, b: Val, rep: &Rep) -> Res<Val> {
    if symbolic(&a) || (rep.elem().is_int() && long(&a)) {
        return Ok(Val::lazy(Lazy::Diff(a, b)));
    }
    let a = force(a, rep)?;
    if b.is_lazy() {
        return filter(&a, rep, &mut |v| Ok(!member(v, &b, rep)?));
    }
    Ok(merge(&a, &b, rep, |x, y| x & !y, |x, y| x && !y))
}

/// The elements of an expanded set that pass the test.
pub fn filter(a: &Val, rep: &Rep, keep: &mut dyn FnMut(&Val) -> Res<bool>) -> Res<Val> {
    let mut out = Vec::new();
    for v in a.elems() {
        if keep(&v)? {
            out.push(v);
        }
    }
    Ok(Val::from_elems(out, rep))
}

/// a × b; `rep` represents the product.
pub fn product(a: Val, b: Val, rep: &Rep) -> Res<Val> {
    if let (Some((_, nb)), Val::W(x), Val::W(y)) = (rep.small_rel(), &a, &b) {
        return Ok(Val::W(mask::product(*x, *y, nb)));
    }
    let (ra, rb) = rep.as_rel();
    if symbolic(&a) || symbolic(&b) {
        return Ok(Val::lazy(Lazy::Product(a, b)));
    }
    let (sa, sb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
    let size =
        finite_card(&a, &sa)?.zip(finite_card(&b, &sb)?).map_or(usize::MAX, |(m, n)| m.saturating_mul(n));
    if size > 100_000 {
        return Ok(Val::lazy(Lazy::Product(a, b)));
    }
    let (a, b) = (force(a, &sa)?, force(b, &sb)?);
    let mut out = Vec::with_capacity(size);
    for x in a.elems() {
        for y in b.elems() {
            out.push(Val::pair(x.clone(), y, rep.elem()));
        }
    }
    Ok(Val::from_elems(out, rep))
}

pub fn card(v: &Val, rep: &Rep) -> Res<Val> {
    if let Some(n) = count::of(v, rep) {
        return n.map(Val::big);
    }
    match finite_card(v, rep)? {
        Some(n) => Ok(Val::I(n as i64)),
        None => Err(Fault::wd(WdKind::Infinite)),
    }
}

pub fn min_max(v: &Val, rep: &Rep, want: Ordering) -> Res<Val> {
    if let Val::Lazy(l) = v {
        match &*l.0 {
            Lazy::Interval(lo, hi) if lo <= hi => {
                return Ok(Val::I(if want == Ordering::Less { *lo } else { *hi }));
            }
            Lazy::Integers(IntSet::Natural) if want == Ordering::Less => return Ok(Val::I(0)),
            Lazy::Integers(IntSet::Natural1) if want == Ordering::Less => return Ok(Val::I(1)),
            Lazy::Integers(_) => return Err(Fault::wd(WdKind::Infinite)),
            // Other infinite sets may well be bounded on the side that is asked for: expanding them is the limit.
            _ => {}
        }
    }
    let v = force(v.clone(), rep)?;
    let mut best: Option<Val> = None;
    for x in v.elems() {
        if best.as_ref().is_none_or(|b| cmp_int(&x, b) == want) {
            best = Some(x);
        }
    }
    best.ok_or_else(|| Fault::wd(WdKind::EmptyMinMax))
}

/// union(S): `rep` represents the set of sets.
pub fn gen_union(v: &Val, rep: &Rep) -> Res<Val> {
    let inner = rep.elem();
    let v = force(v.clone(), rep)?;
    if let Shape::Set(_, SetKind::Mask(_)) = inner.shape {
        return Ok(Val::W(v.elems().fold(0, |m, s| m | s.word())));
    }
    let mut out = Vec::new();
    let mut room = MAX_SET;
    for s in v.elems() {
        out.extend(s.elems());
        // Large families have the same elements many times.
        if out.len() > room {
            out.sort_unstable();
            out.dedup();
            room = MAX_SET + out.len();
        }
    }
    Ok(Val::from_elems(out, inner))
}

pub fn gen_inter(v: &Val, rep: &Rep) -> Res<Val> {
    let inner = rep.elem();
    let v = force(v.clone(), rep)?;
    let mut sets = v.elems();
    let first = sets.next().ok_or_else(|| Fault::wd(WdKind::EmptyInter))?;
    sets.try_fold(first, |a, b| inter(a, b, inner))
}

// ---- sequences ----------------------------------------------------------------------------------------------

/// The items of a sequence.
pub fn items(v: &Val, rep: &Rep) -> Res<Arc<[Val]>> {
    match force(v.clone(), rep)? {
        Val::Seq(items) => Ok(items),
        Val::Set(s) if s.is_empty() => Ok(s),
        _ => Err(Fault::wd(WdKind::NotASequence)),
    }
}

pub fn nonempty_items(v: &Val, rep: &Rep) -> Res<Arc<[Val]>> {
    let items = items(v, rep)?;
    if items.is_empty() { Err(Fault::wd(WdKind::EmptySequence)) } else { Ok(items) }
}

pub fn concat(a: &Val, b: &Val, rep: &Rep) -> Res<Val> {
    let (a, b) = (items(a, rep)?, items(b, rep)?);
    if a.len() + b.len() > MAX_SET {
        return Err(too_large("a sequence"));
    }
    Ok(Val::seq(a.iter().chain(b.iter()).cloned().collect()))
}

/// The length in `s /|\ n` and `s \|/ n`.
pub fn length(n: &Val, items: &[Val]) -> Res<usize> {
    match n {
        Val::I(n) if *n >= 0 && *n as usize <= items.len() => Ok(*n as usize),
        _ => Err(Fault::wd(WdKind::BadLength)),
    }
}

// ---- arithmetic ---------------------------------------------------------------------------------------------

macro_rules! arithmetic {
    ($($name:ident $checked:ident $op:tt),*) => {$(
        #[inline]
        pub fn $name(a: &Val, b: &Val) -> Val {
            if let (Val::I(x), Val::I(y)) = (a, b) {
                if let Some(z) = x.$checked(*y) {
                    return Val::I(z);
                }
            }
            Val::big(a.to_bigint() $op b.to_bigint())
        }
    )*};
}
arithmetic!(add checked_add +, sub checked_sub -);

/// The largest integer, in bits: `x := x * x` would fill any memory with digits.
const MAX_DIGITS: u64 = 1 << 20;

fn too_many_digits() -> Box<Fault> {
    Fault::limit("an integer with too many digits")
}

#[inline]
pub fn mul(a: &Val, b: &Val) -> Res<Val> {
    if let (Val::I(x), Val::I(y)) = (a, b)
        && let Some(z) = x.checked_mul(*y)
    {
        return Ok(Val::I(z));
    }
    let (a, b) = (a.to_bigint(), b.to_bigint());
    if a.bits() + b.bits() > MAX_DIGITS { Err(too_many_digits()) } else { Ok(Val::big(a * b)) }
}

pub fn neg(a: &Val) -> Val {
    sub(&Val::I(0), a)
}

/// Truncates towards zero.
pub fn div(a: &Val, b: &Val) -> Res<Val> {
    match (a, b) {
        (_, Val::I(0)) => Err(Fault::wd(WdKind::DivisionByZero)),
        (Val::I(x), Val::I(y)) if *y != -1 => Ok(Val::I(x / y)),
        _ => Ok(Val::big(a.to_bigint() / b.to_bigint())),
    }
}

pub fn modulo(a: &Val, b: &Val) -> Res<Val> {
    if cmp_int(a, &Val::I(0)) == Ordering::Less || cmp_int(b, &Val::I(0)) != Ordering::Greater {
        return Err(Fault::wd(WdKind::ModUndefined));
    }
    match (a, b) {
        (Val::I(x), Val::I(y)) => Ok(Val::I(x % y)),
        _ => Ok(Val::big(a.to_bigint() % b.to_bigint())),
    }
}

pub fn power(a: &Val, b: &Val) -> Res<Val> {
    if cmp_int(b, &Val::I(0)) == Ordering::Less {
        return Err(Fault::wd(WdKind::NegativeExponent));
    }
    if let (Val::I(base @ (0 | 1)), _) = (a, b) {
        return Ok(Val::I(if b == &Val::I(0) { 1 } else { *base }));
    }
    let e = b.to_bigint().to_u32().ok_or_else(too_many_digits)?;
    if let Val::I(base) = a
        && let Some(z) = base.checked_pow(e)
    {
        return Ok(Val::I(z));
    }
    let a = a.to_bigint();
    if a.bits().saturating_mul(u64::from(e)) > MAX_DIGITS {
        return Err(too_many_digits());
    }
    Ok(Val::big(a.pow(e)))
}

fn as_real(v: &Val) -> &BigRational {
    match v {
        Val::Real(r) => r,
        other => unreachable!("a real number was expected, not {other:?}"),
    }
}

/// An operation on real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Real {
    Add,
    Sub,
    Mul,
    Div,
}

/// Exact.
pub fn real(op: Real, a: &Val, b: &Val) -> Res<Val> {
    let (a, b) = (as_real(a), as_real(b));
    real_within(a)?;
    real_within(b)?;
    Ok(Val::real(match op {
        Real::Add => a + b,
        Real::Sub => a - b,
        Real::Mul => a * b,
        Real::Div if b.is_zero() => return Err(Fault::wd(WdKind::DivisionByZero)),
        Real::Div => a / b,
    }))
}

pub fn real_neg(a: &Val) -> Val {
    Val::real(-as_real(a))
}

pub fn real_of(i: &Val) -> Res<Val> {
    let r = BigRational::from_integer(i.to_bigint());
    real_within(&r)?;
    Ok(Val::real(r))
}

/// Real numbers are always in lowest terms, which is work that grows with the square of the digits.
const MAX_REAL_BITS: u64 = 1 << 14;

fn real_within(r: &BigRational) -> Res<()> {
    match r.numer().bits() + r.denom().bits() {
        0..=MAX_REAL_BITS => Ok(()),
        _ => Err(Fault::limit("a real number with too many digits")),
    }
}

/// The greatest integer that is not greater, or the least that is not less.
pub fn rounded(a: &Val, up: bool) -> Val {
    let r = as_real(a);
    Val::big(if up { r.ceil() } else { r.floor() }.to_integer())
}

/// lo..hi as a symbolic set.
pub fn interval(lo: &Val, hi: &Val) -> Res<Val> {
    match (lo, hi) {
        (Val::I(a), Val::I(b)) => Ok(Val::lazy(Lazy::Interval(*a, *b))),
        _ if cmp_int(lo, hi) == Ordering::Greater => Ok(Val::lazy(Lazy::Interval(1, 0))),
        _ => Err(Fault::limit("an interval with a bound of more than 64 bits")),
    }
}

/// A singleton's word form is one bit; everything else is a list of one.
pub fn singleton(v: Val, rep: &Rep) -> Val {
    match rep.as_set().1 {
        SetKind::Mask(_) => Val::W(1 << v.word()),
        SetKind::Bits(n) => {
            let mut w = vec![0u64; words(n)];
            w[(v.word() / 64) as usize] = 1 << (v.word() % 64);
            Val::Bits(w.into())
        }
        SetKind::List => Val::from_sorted(vec![v], rep),
    }
}
