//! Operations on production values, each given the representations it works on.
//!
//! Words have their own fast forms in [`super::mask`]; what is here is complete. Symbolic sets stay symbolic
//! where an operation allows it (membership, application, union with an infinite set) and are expanded otherwise.

use super::fault::{Fault, Res, WdKind};
use super::mask;
use super::rep::{R, Rep, SetKind, Shape};
use super::val::{FunKind, IntSet, Lazy, MAX_SET, SeqKind, Val, cmp_int, force, submasks, too_large, words};
use num_traits::ToPrimitive;
use std::cmp::Ordering;
use std::sync::Arc;

// ---- symbolic sets ------------------------------------------------------------------------------------------

/// Whether a set stays symbolic: it is infinite, or nobody knows how to expand it.
pub fn symbolic(v: &Val) -> bool {
    let Val::Lazy(l) = v else { return false };
    match &*l.0 {
        Lazy::Interval(..) => false,
        Lazy::Integers(_) | Lazy::Strings => true,
        Lazy::All(r) => r.carrier == 0 && rep_infinite(r),
        Lazy::Pow { of, .. } => symbolic(of),
        Lazy::Fun { from, to, .. } => symbolic(from) || symbolic(to),
        Lazy::Seq { kind, of } => symbolic(of) || !(kind.injective || known_empty(of)),
        Lazy::Product(a, b) => (symbolic(a) && !known_empty(b)) || (symbolic(b) && !known_empty(a)),
        Lazy::Struct(parts) => parts.iter().any(symbolic),
        Lazy::Union(a, b) => symbolic(a) || symbolic(b),
        Lazy::Inter(a, b) => symbolic(a) && symbolic(b),
        Lazy::Diff(a, _) => symbolic(a),
        Lazy::Closure(c) => c.is_infinite(),
    }
}

/// Whether a set certainly has infinitely many elements; `false` also when it is not known. A comprehension that
/// cannot be expanded may still be finite: `{x | x + x = 4}`.
pub fn infinite(v: &Val) -> bool {
    let Val::Lazy(l) = v else { return false };
    match &*l.0 {
        Lazy::Interval(..) | Lazy::Inter(..) | Lazy::Closure(_) => false,
        Lazy::Integers(_) | Lazy::Strings => true,
        Lazy::All(r) => r.carrier == 0 && rep_infinite(r),
        Lazy::Pow { of, .. } => infinite(of),
        // Total functions to one point are one, whatever the domain.
        Lazy::Fun { kind, from, to } => {
            !kind.total
                && !kind.surjective
                && ((infinite(from) && known_nonempty(to)) || (infinite(to) && known_nonempty(from)))
        }
        Lazy::Seq { kind, of } => infinite(of) && !kind.surjective || (!kind.injective && known_nonempty(of)),
        Lazy::Product(a, b) => (infinite(a) && known_nonempty(b)) || (infinite(b) && known_nonempty(a)),
        Lazy::Struct(parts) => parts.iter().any(infinite) && parts.iter().all(known_nonempty),
        Lazy::Union(a, b) => infinite(a) || infinite(b),
        Lazy::Diff(a, b) => {
            infinite(a) && (!b.is_lazy() || matches!(b, Val::Lazy(l) if matches!(&*l.0, Lazy::Interval(..))))
        }
    }
}

fn known_nonempty(v: &Val) -> bool {
    match v {
        Val::Lazy(l) => match &*l.0 {
            Lazy::Interval(lo, hi) => lo <= hi,
            _ => infinite(v),
        },
        _ => !v.is_empty_set(),
    }
}

fn known_empty(v: &Val) -> bool {
    !v.is_lazy() && v.is_empty_set()
}

fn rep_infinite(r: &Rep) -> bool {
    match &r.shape {
        Shape::Int | Shape::Str => true,
        Shape::Bool | Shape::Elem(_) => false,
        Shape::Pair(a, b) => rep_infinite(a) || rep_infinite(b),
        Shape::Set(e, _) => rep_infinite(e),
        Shape::Rec(p) => p.iter().any(|r| rep_infinite(r)),
    }
}

/// Membership; `rep` is the set's representation.
pub fn member(v: &Val, set: &Val, rep: &Rep) -> Res<bool> {
    let Val::Lazy(l) = set else { return Ok(set.has(v)) };
    let elem = rep.elem();
    match &*l.0 {
        Lazy::Interval(lo, hi) => Ok(match v {
            Val::I(i) => lo <= i && i <= hi,
            _ => false,
        }),
        Lazy::Integers(k) => Ok(match (k, v) {
            (IntSet::Integer, _) => true,
            (IntSet::Natural, v) => cmp_int(v, &Val::I(0)) != Ordering::Less,
            (IntSet::Natural1, v) => cmp_int(v, &Val::I(0)) == Ordering::Greater,
        }),
        Lazy::Strings | Lazy::All(_) => Ok(true),
        Lazy::Pow { of, nonempty } => {
            if *nonempty && is_empty(v, elem)? {
                return Ok(false);
            }
            subset(v, of, elem)
        }
        Lazy::Fun { kind, from, to } => in_functions(*kind, v, from, to, elem),
        Lazy::Seq { kind, of } => in_sequences(*kind, v, of, elem),
        Lazy::Product(a, b) => {
            let (ra, rb) = elem.as_pair();
            let (x, y) = v.split(elem);
            Ok(member(&x, a, &Rep::set(ra.clone()))? && member(&y, b, &Rep::set(rb.clone()))?)
        }
        Lazy::Struct(parts) => {
            let Shape::Rec(reps) = &elem.shape else { return Ok(false) };
            for (i, (part, r)) in parts.iter().zip(reps).enumerate() {
                if !member(&v.field(i, elem), part, &Rep::set(r.clone()))? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Lazy::Union(a, b) => Ok(member(v, a, rep)? || member(v, b, rep)?),
        Lazy::Inter(a, b) => Ok(member(v, a, rep)? && member(v, b, rep)?),
        Lazy::Diff(a, b) => Ok(member(v, a, rep)? && !member(v, b, rep)?),
        Lazy::Closure(c) => c.contains(v),
    }
}

/// Values that an expanded set holds at most, counting those in its elements.
const MAX_WEIGHT: usize = 8 * MAX_SET;

fn weight_of(v: &Val) -> usize {
    match v {
        Val::Set(items) | Val::Seq(items) => items.len(),
        Val::Bits(words) => words.len(),
        _ => 1,
    }
}

/// Elements that are tried at most before one of them belongs to a difference or an intersection.
const MAX_TRIED: u64 = 1 << 26;

/// Visits the elements of a set that pass a test.
fn each_that(set: &Val, rep: &Rep, passes: &dyn Fn(&Val) -> Res<bool>, visit: Visit) -> Res<bool> {
    let mut tried = 0;
    each(set, rep, &mut |v| {
        if passes(&v)? {
            tried = 0;
            return visit(v);
        }
        tried += 1;
        if tried > MAX_TRIED { Err(too_large("a set")) } else { Ok(true) }
    })
}

/// All elements of a symbolic set.
pub fn expand(l: &Lazy, rep: &Rep) -> Res<Vec<Val>> {
    let elem = rep.elem();
    let mut out = Vec::new();
    let mut weight = 0;
    for_each(l, rep, &mut |v| {
        weight += weight_of(&v);
        if out.len() >= MAX_SET || weight > MAX_WEIGHT {
            return Err(too_large("a set"));
        }
        out.push(v);
        Ok(true)
    })?;
    debug_assert!(elem.carrier == 0 || out.iter().all(|v| v.word() < elem.carrier));
    Ok(out)
}

/// What is called with each element; `Ok(false)` ends the enumeration.
pub type Visit<'a> = &'a mut dyn FnMut(Val) -> Res<bool>;

/// Visits every element of a set, symbolic or not, each at least once. `Ok(false)` if the visitor stopped it.
pub fn each(set: &Val, rep: &Rep, visit: Visit) -> Res<bool> {
    match set {
        Val::Lazy(l) => for_each(&l.0, rep, visit),
        _ => {
            for v in set.elems() {
                if !visit(v)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

fn for_each(l: &Lazy, rep: &Rep, visit: Visit) -> Res<bool> {
    let elem = rep.elem();
    match l {
        Lazy::Interval(lo, hi) => {
            for i in *lo..=*hi {
                if !visit(Val::I(i))? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Lazy::Integers(_) | Lazy::Strings => Err(Fault::limit("an infinite set would have to be enumerated")),
        Lazy::All(r) => all_values(r, visit),
        Lazy::Pow { of, nonempty } => {
            let of = force(of.clone(), elem)?;
            subsets(&of, elem, *nonempty, visit)
        }
        Lazy::Fun { kind, from, to } => {
            let (ra, rb) = elem.as_rel();
            let from = force(from.clone(), &Rep::set(ra.clone()))?;
            let to = force(to.clone(), &Rep::set(rb.clone()))?;
            functions(*kind, &from, &to, elem, visit)
        }
        Lazy::Seq { kind, of } => {
            let (_, rb) = elem.as_rel();
            let of = force(of.clone(), &Rep::set(rb.clone()))?;
            sequences(*kind, &of, visit)
        }
        Lazy::Product(a, b) => {
            let (ra, rb) = elem.as_pair();
            let (sa, sb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
            let b = force(b.clone(), &sb)?;
            each(a, &sa, &mut |x| {
                for y in b.elems() {
                    if !visit(Val::pair(x.clone(), y, elem))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            })
        }
        Lazy::Struct(parts) => {
            let Shape::Rec(reps) = &elem.shape else { return Ok(true) };
            let sets: Res<Vec<Val>> =
                parts.iter().zip(reps).map(|(p, r)| force(p.clone(), &Rep::set(r.clone()))).collect();
            records(&sets?, &mut Vec::new(), elem, visit)
        }
        Lazy::Union(a, b) => Ok(each(a, rep, visit)? && each(b, rep, visit)?),
        Lazy::Inter(a, b) => {
            let (a, b) = if symbolic(a) { (b, a) } else { (a, b) };
            each_that(a, rep, &|v| member(v, b, rep), visit)
        }
        Lazy::Diff(a, b) => each_that(a, rep, &|v| member(v, b, rep).map(|m| !m), visit),
        Lazy::Closure(c) => {
            for v in c.elements(MAX_SET)? {
                if !visit(v)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

fn records(sets: &[Val], chosen: &mut Vec<Val>, elem: &Rep, visit: Visit) -> Res<bool> {
    let Some(set) = sets.get(chosen.len()) else { return visit(Val::record(chosen.clone(), elem)) };
    for v in set.elems() {
        chosen.push(v);
        let go = records(sets, chosen, elem, visit)?;
        chosen.pop();
        if !go {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All values of a finite type.
pub fn all_values(r: &R, visit: Visit) -> Res<bool> {
    if r.carrier > 0 {
        for w in 0..r.carrier {
            if !visit(Val::W(w))? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    match &r.shape {
        Shape::Set(e, _) => {
            let mut full = Vec::new();
            all_values(e, &mut |v| {
                if full.len() >= MAX_SET {
                    return Err(too_large("a type"));
                }
                full.push(v);
                Ok(true)
            })?;
            subsets(&Val::from_elems(full, r), r, false, visit)
        }
        Shape::Pair(a, b) => {
            all_values(a, &mut |x| all_values(b, &mut |y| visit(Val::pair(x.clone(), y, r))))
        }
        Shape::Rec(parts) => {
            fn go(parts: &[R], chosen: &mut Vec<Val>, r: &R, visit: Visit) -> Res<bool> {
                let Some(p) = parts.get(chosen.len()) else { return visit(Val::record(chosen.clone(), r)) };
                all_values(p, &mut |v| {
                    chosen.push(v);
                    let on = go(parts, chosen, r, visit)?;
                    chosen.pop();
                    Ok(on)
                })
            }
            go(parts, &mut Vec::new(), r, visit)
        }
        _ => Err(Fault::limit("an infinite type would have to be enumerated")),
    }
}

/// Every subset of an expanded set; `rep` represents the set and its subsets.
fn subsets(of: &Val, rep: &Rep, nonempty: bool, visit: Visit) -> Res<bool> {
    if let Val::W(m) = of {
        for s in submasks(*m) {
            if nonempty && s == 0 {
                continue;
            }
            if !visit(Val::W(s))? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let items: Vec<Val> = of.elems().collect();
    if items.len() > 62 {
        return Err(Fault::limit(format!(
            "the subsets of a set of {} elements cannot be enumerated",
            items.len()
        )));
    }
    for s in 0..1u64 << items.len() {
        if nonempty && s == 0 {
            continue;
        }
        let chosen = mask::bits(s).map(|i| items[i as usize].clone()).collect();
        if !visit(Val::from_elems(chosen, rep))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Every relation of a function space between expanded sets.
fn functions(kind: FunKind, from: &Val, to: &Val, rep: &R, visit: Visit) -> Res<bool> {
    let pair = rep.elem();
    if !kind.functional {
        // Relations: subsets of the product, with the further demands tested.
        let mut pairs = Vec::new();
        for x in from.elems() {
            for y in to.elems() {
                pairs.push(Val::pair(x.clone(), y, pair));
            }
        }
        let product = Val::from_elems(pairs, rep);
        return subsets(&product, rep, false, &mut |v| {
            if in_functions(kind, &v, from, to, rep)? { visit(v) } else { Ok(true) }
        });
    }
    let xs: Vec<Val> = from.elems().collect();
    let ys: Vec<Val> = to.elems().collect();
    if kind.total && ((xs.len() > ys.len() && kind.injective) || (xs.len() < ys.len() && kind.surjective)) {
        return Ok(true);
    }
    if xs.len() > MAX_DOMAIN {
        // More functions than anybody could visit, unless there is no choice.
        return match &ys[..] {
            [] if kind.total => Ok(true),
            [y] if kind.total => {
                let pairs = xs.into_iter().map(|x| Val::pair(x, y.clone(), pair)).collect();
                visit(Val::from_elems(pairs, rep))
            }
            _ => Err(Fault::limit(format!("the functions from {} elements cannot be enumerated", xs.len()))),
        };
    }
    let mut used = vec![0u32; ys.len()];
    let mut chosen = Vec::with_capacity(xs.len());
    choose_function(&Space { kind, xs: &xs, ys: &ys, rep }, 0, &mut used, ys.len(), &mut chosen, visit)
}

/// Functions are chosen point by point, one call inside the other.
const MAX_DOMAIN: usize = 4096;

struct Space<'a> {
    kind: FunKind,
    xs: &'a [Val],
    ys: &'a [Val],
    rep: &'a R,
}

fn choose_function(
    s: &Space,
    at: usize,
    used: &mut [u32],
    unused: usize,
    chosen: &mut Vec<Val>,
    visit: Visit,
) -> Res<bool> {
    if s.kind.surjective && unused > s.xs.len() - at {
        return Ok(true);
    }
    if at == s.xs.len() {
        return visit(Val::from_elems(chosen.clone(), s.rep));
    }
    if !s.kind.total && !choose_function(s, at + 1, used, unused, chosen, visit)? {
        return Ok(false);
    }
    for (i, y) in s.ys.iter().enumerate() {
        if s.kind.injective && used[i] > 0 {
            continue;
        }
        let left = if used[i] == 0 { unused - 1 } else { unused };
        used[i] += 1;
        chosen.push(Val::pair(s.xs[at].clone(), y.clone(), s.rep.elem()));
        let go = choose_function(s, at + 1, used, left, chosen, visit)?;
        chosen.pop();
        used[i] -= 1;
        if !go {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sequences(kind: SeqKind, of: &Val, visit: Visit) -> Res<bool> {
    let items: Vec<Val> = of.elems().collect();
    if !kind.injective && !items.is_empty() {
        return Err(Fault::limit("the sequences over a set are infinitely many"));
    }
    fn go(kind: SeqKind, items: &[Val], used: &mut [bool], chosen: &mut Vec<Val>, visit: Visit) -> Res<bool> {
        let wanted = if kind.surjective { chosen.len() == items.len() } else { true };
        let excluded = kind.nonempty && chosen.is_empty();
        if wanted && !excluded && !visit(Val::seq(chosen.clone()))? {
            return Ok(false);
        }
        for i in 0..items.len() {
            if used[i] {
                continue;
            }
            used[i] = true;
            chosen.push(items[i].clone());
            let on = go(kind, items, used, chosen, visit)?;
            chosen.pop();
            used[i] = false;
            if !on {
                return Ok(false);
            }
        }
        Ok(true)
    }
    let mut used = vec![false; items.len()];
    go(kind, &items, &mut used, &mut Vec::new(), visit)
}

/// Whether `v` is a relation of the function space; `rep` represents `v`.
pub fn in_functions(kind: FunKind, v: &Val, from: &Val, to: &Val, rep: &R) -> Res<bool> {
    if let Val::Lazy(l) = v
        && let Lazy::Closure(c) = &*l.0
        && c.is_infinite()
    {
        return Err(Fault::limit("whether an infinite function lies in a function space is not decided"));
    }
    let v = force(v.clone(), rep)?;
    if let (Some((na, nb)), Val::W(f), Val::W(a), Val::W(b)) = (rep.small_rel(), &v, from, to) {
        return Ok(in_matrices(kind, *f, *a, *b, na, nb));
    }
    let pair = rep.elem();
    let (ra, rb) = rep.as_rel();
    let (sa, sb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
    let mut last: Option<Val> = None;
    let mut domain = 0usize;
    let mut ran_seen = Vec::new();
    for p in v.elems() {
        let (x, y) = p.split(pair);
        if !member(&x, from, &sa)? || !member(&y, to, &sb)? {
            return Ok(false);
        }
        // Pairs come sorted by their first part, so equal ones are neighbours.
        if last.as_ref() == Some(&x) {
            if kind.functional {
                return Ok(false);
            }
        } else {
            domain += 1;
        }
        last = Some(x);
        if kind.injective || kind.surjective {
            ran_seen.push(y);
        }
    }
    if kind.total && Some(domain) != finite_card(from, &sa)? {
        return Ok(false);
    }
    if kind.injective || kind.surjective {
        let n = ran_seen.len();
        ran_seen.sort_unstable();
        ran_seen.dedup();
        if kind.injective && ran_seen.len() != n {
            return Ok(false);
        }
        if kind.surjective && Some(ran_seen.len()) != finite_card(to, &sb)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// [`in_functions`] where everything is a mask.
pub fn in_matrices(kind: FunKind, f: u64, a: u64, b: u64, na: u32, nb: u32) -> bool {
    let d = mask::dom(f, na, nb);
    let r = mask::ran(f, na, nb);
    d & !a == 0
        && r & !b == 0
        && (!kind.total || d == a)
        && (!kind.surjective || r == b)
        && (!kind.functional || mask::functional(f, na, nb))
        && (!kind.injective || mask::injective(f, na, nb))
}

/// The number of elements, `None` when infinite.
pub fn finite_card(v: &Val, rep: &Rep) -> Res<Option<usize>> {
    let Val::Lazy(l) = v else { return Ok(Some(v.count())) };
    match &*l.0 {
        Lazy::Interval(lo, hi) => {
            Ok(Some(if hi < lo { 0 } else { (i128::from(*hi) - i128::from(*lo) + 1) as usize }))
        }
        Lazy::All(r) if r.carrier > 0 => Ok(Some(r.carrier as usize)),
        Lazy::Product(a, b) => {
            let (ra, rb) = rep.elem().as_pair();
            match (finite_card(a, &Rep::set(ra.clone()))?, finite_card(b, &Rep::set(rb.clone()))?) {
                (Some(0), _) | (_, Some(0)) => Ok(Some(0)),
                (Some(m), Some(n)) => m.checked_mul(n).map(Some).ok_or_else(|| too_large("a product")),
                _ => Ok(None),
            }
        }
        Lazy::Pow { of, nonempty } => {
            let Some(n) = finite_card(of, rep.elem())? else { return Ok(None) };
            if n >= 62 {
                return Err(too_large("a power set"));
            }
            Ok(Some((1usize << n) - usize::from(*nonempty)))
        }
        _ if infinite(v) => Ok(None),
        _ => Ok(Some(force(v.clone(), rep)?.count())),
    }
}

pub fn in_sequences(kind: SeqKind, v: &Val, of: &Val, rep: &R) -> Res<bool> {
    let v = force(v.clone(), rep)?;
    let items = match &v {
        Val::Seq(items) => items.clone(),
        Val::Set(s) if s.is_empty() => Arc::new([]) as Arc<[Val]>,
        _ => return Ok(false),
    };
    if kind.nonempty && items.is_empty() {
        return Ok(false);
    }
    let (_, rb) = rep.as_rel();
    let sb = Rep::set(rb.clone());
    for x in items.iter() {
        if !member(x, of, &sb)? {
            return Ok(false);
        }
    }
    if kind.injective {
        let mut sorted: Vec<&Val> = items.iter().collect();
        sorted.sort_unstable();
        if sorted.windows(2).any(|w| w[0] == w[1]) {
            return Ok(false);
        }
    }
    Ok(!kind.surjective || Some(items.len()) == finite_card(of, &sb)?)
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
            Ok(force(v.clone(), rep)?.is_empty_set())
        }
        _ => Ok(v.is_empty_set()),
    }
}

/// a ⊆ b
pub fn subset(a: &Val, b: &Val, rep: &Rep) -> Res<bool> {
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
            (_, Lazy::All(_) | Lazy::Strings) => Ok(true),
            // Integers have their order: an infinite set is no subset of an interval.
            (Lazy::Integers(_), Lazy::Interval(..)) => Ok(false),
            (Lazy::Pow { of, nonempty: false }, Lazy::Pow { of: of2, nonempty: false }) => {
                subset(of, of2, rep.elem())
            }
            (Lazy::Product(a1, b1), Lazy::Product(a2, b2)) => {
                let (ra, rb) = rep.elem().as_pair();
                let (sa, sb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
                Ok(is_empty(a1, &sa)? || is_empty(b1, &sb)? || (subset(a1, a2, &sa)? && subset(b1, b2, &sb)?))
            }
            (Lazy::Union(x, y), _) => Ok(subset(x, b, rep)? && subset(y, b, rep)?),
            _ => each(a, rep, &mut |v| member(&v, b, rep)),
        },
        _ => each(a, rep, &mut |v| member(&v, b, rep)),
    }
}

pub fn equal(a: &Val, b: &Val, rep: &Rep) -> Res<bool> {
    if !a.is_lazy() && !b.is_lazy() {
        return Ok(a == b);
    }
    if a == b {
        return Ok(true);
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
    if symbolic(&a) || symbolic(&b) {
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
        (true, true) if symbolic(&a) && symbolic(&b) => Ok(Val::lazy(Lazy::Inter(a, b))),
        (true, true) => {
            let (a, b) = if symbolic(&a) { (b, a) } else { (a, b) };
            filter(&force(a, rep)?, rep, &mut |v| member(v, &b, rep))
        }
    }
}

pub fn diff(a: Val, b: Val, rep: &Rep) -> Res<Val> {
    if symbolic(&a) {
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
            _ if infinite(v) => return Err(Fault::wd(WdKind::Infinite)),
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
    for s in v.elems() {
        out.extend(s.elems());
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

// ---- relations ----------------------------------------------------------------------------------------------

/// Domain; `rep` represents the relation.
pub fn dom(r: &Val, rep: &Rep) -> Res<Val> {
    if let (Some((na, nb)), Val::W(w)) = (rep.small_rel(), r) {
        return Ok(Val::W(mask::dom(*w, na, nb)));
    }
    if let Val::Seq(items) = r {
        return Ok(Val::Set((1..=items.len() as i64).map(Val::I).collect()));
    }
    let (ra, rb) = rep.as_rel();
    if let Val::Lazy(l) = r {
        if let Lazy::Product(a, b) = &*l.0
            && !is_empty(b, &Rep::set(rb.clone()))?
        {
            return Ok(a.clone());
        }
        if let Lazy::Closure(c) = &*l.0
            && let Some(d) = c.domain()
        {
            return Ok(d);
        }
    }
    let r = force(r.clone(), rep)?;
    let out = r.elems().map(|p| p.first(rep.elem())).collect();
    Ok(Val::from_elems(out, &Rep::set(ra.clone())))
}

pub fn ran(r: &Val, rep: &Rep) -> Res<Val> {
    if let (Some((na, nb)), Val::W(w)) = (rep.small_rel(), r) {
        return Ok(Val::W(mask::ran(*w, na, nb)));
    }
    let (ra, rb) = rep.as_rel();
    let set = Rep::set(rb.clone());
    if let Val::Seq(items) = r {
        return Ok(Val::from_elems(items.to_vec(), &set));
    }
    if let Val::Lazy(l) = r
        && let Lazy::Product(a, b) = &*l.0
        && !is_empty(a, &Rep::set(ra.clone()))?
    {
        return Ok(b.clone());
    }
    let r = force(r.clone(), rep)?;
    let out = r.elems().map(|p| p.second(rep.elem())).collect();
    Ok(Val::from_elems(out, &set))
}

/// The second parts of the pairs that start with x, of an expanded relation.
pub fn at(r: &Val, x: &Val, rep: &Rep, found: &mut dyn FnMut(Val)) {
    match r {
        Val::W(w) => {
            let nb = rep.as_rel().1.carrier as u32;
            mask::bits(mask::row(*w, x.word() as u32, nb)).for_each(|y| found(Val::W(u64::from(y))));
        }
        Val::Bits(w) => {
            let nb = rep.as_rel().1.carrier;
            let base = x.word() * nb;
            for y in 0..nb {
                let i = base + y;
                if w[(i / 64) as usize] >> (i % 64) & 1 == 1 {
                    found(Val::W(y));
                }
            }
        }
        Val::Seq(items) => {
            if let Val::I(i) = x
                && *i >= 1
                && *i as usize <= items.len()
            {
                found(items[*i as usize - 1].clone());
            }
        }
        Val::Set(s) => {
            let pair = rep.elem();
            let key = |v: &Val| v.first(pair);
            let start = s.partition_point(|p| key(p) < *x);
            s[start..].iter().take_while(|p| key(p) == *x).for_each(|p| found(p.second(pair)));
        }
        other => unreachable!("an expanded relation was expected, not {other:?}"),
    }
}

/// r(x)
pub fn apply(r: &Val, x: &Val, rep: &Rep) -> Res<Val> {
    match r {
        Val::W(w) => {
            let nb = rep.as_rel().1.carrier as u32;
            let row = mask::row(*w, x.word() as u32, nb);
            match row.count_ones() {
                1 => Ok(Val::W(u64::from(row.trailing_zeros()))),
                0 => Err(Fault::wd(WdKind::OutsideDomain)),
                _ => Err(Fault::wd(WdKind::NotFunctional)),
            }
        }
        Val::Lazy(l) => match &*l.0 {
            Lazy::Closure(c) => c.apply(x),
            Lazy::Union(a, b) => {
                // Function given by cases, one of them symbolic.
                let by = |f: &Val| match apply(f, x, rep) {
                    Ok(v) => Ok(Some(v)),
                    Err(e) if matches!(&*e, Fault::Wd(w) if w.kind == WdKind::OutsideDomain) => Ok(None),
                    Err(e) => Err(e),
                };
                match (by(a)?, by(b)?) {
                    (Some(v), None) | (None, Some(v)) => Ok(v),
                    (Some(v), Some(w)) if v == w => Ok(v),
                    (Some(_), Some(_)) => Err(Fault::wd(WdKind::NotFunctional)),
                    (None, None) => Err(Fault::wd(WdKind::OutsideDomain)),
                }
            }
            _ => apply(&force(r.clone(), rep)?, x, rep),
        },
        _ => {
            let mut images = 0;
            let mut image = Val::None;
            at(r, x, rep, &mut |y| {
                images += 1;
                image = y;
            });
            match images {
                1 => Ok(image),
                0 => Err(Fault::wd(WdKind::OutsideDomain)),
                _ => Err(Fault::wd(WdKind::NotFunctional)),
            }
        }
    }
}

/// r[s]
pub fn image(r: &Val, s: &Val, rep: &Rep) -> Res<Val> {
    if let (Some((_, nb)), Val::W(w), Val::W(s)) = (rep.small_rel(), r, s) {
        return Ok(Val::W(mask::image(*w, *s, nb)));
    }
    let (ra, rb) = rep.as_rel();
    let (sa, sb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
    let mut out = Vec::new();
    match r {
        Val::Lazy(l) => {
            if let Lazy::Closure(c) = &*l.0
                && c.is_pointwise()
            {
                for x in force(s.clone(), &sa)?.elems() {
                    match c.apply(&x) {
                        Ok(y) => out.push(y),
                        Err(e) if matches!(&*e, Fault::Wd(w) if w.kind == WdKind::OutsideDomain) => {}
                        Err(e) => return Err(e),
                    }
                }
                return Ok(Val::from_elems(out, &sb));
            }
            image(&force(r.clone(), rep)?, s, rep)
        }
        _ if s.is_lazy() => {
            for p in r.elems() {
                let (x, y) = p.split(rep.elem());
                if member(&x, s, &sa)? {
                    out.push(y);
                }
            }
            Ok(Val::from_elems(out, &sb))
        }
        _ => {
            for x in s.elems() {
                at(r, &x, rep, &mut |y| out.push(y));
            }
            Ok(Val::from_elems(out, &sb))
        }
    }
}

/// r~; `rep` represents r, `inv` the result.
pub fn inverse(r: &Val, rep: &Rep, inv: &Rep) -> Res<Val> {
    if let (Some((na, nb)), Val::W(w)) = (rep.small_rel(), r) {
        return Ok(Val::W(mask::inverse(*w, na, nb)));
    }
    let r = force(r.clone(), rep)?;
    let out = r
        .elems()
        .map(|p| {
            let (x, y) = p.split(rep.elem());
            Val::pair(y, x, inv.elem())
        })
        .collect();
    Ok(Val::from_elems(out, inv))
}

/// r ; s
pub fn compose(r: &Val, s: &Val, rr: &Rep, rs: &Rep, out_rep: &Rep) -> Res<Val> {
    if let (Some((na, nb)), Some((_, nc)), Some(_), Val::W(x), Val::W(y)) =
        (rr.small_rel(), rs.small_rel(), out_rep.small_rel(), r, s)
    {
        return Ok(Val::W(mask::compose(*x, *y, na, nb, nc)));
    }
    let r = force(r.clone(), rr)?;
    let s = if symbolic(s) { s.clone() } else { force(s.clone(), rs)? };
    let mut out = Vec::new();
    for p in r.elems() {
        let (x, y) = p.split(rr.elem());
        if let Val::Lazy(_) = s {
            match apply(&s, &y, rs) {
                Ok(z) => out.push(Val::pair(x, z, out_rep.elem())),
                Err(e) if matches!(&*e, Fault::Wd(w) if w.kind == WdKind::OutsideDomain) => {}
                Err(e) => return Err(e),
            }
        } else {
            at(&s, &y, rs, &mut |z| out.push(Val::pair(x.clone(), z, out_rep.elem())));
        }
    }
    Ok(Val::from_elems(out, out_rep))
}

/// r <+ s
pub fn override_with(r: &Val, s: &Val, rep: &Rep) -> Res<Val> {
    if let (Some((na, nb)), Val::W(x), Val::W(y)) = (rep.small_rel(), r, s) {
        return Ok(Val::W(mask::override_with(*x, *y, na, nb)));
    }
    let (r, s) = (force(r.clone(), rep)?, force(s.clone(), rep)?);
    if let (Val::Seq(items), Val::Seq(new)) = (&r, &s)
        && new.len() == 1
    {
        let mut items = items.to_vec();
        items[0] = new[0].clone();
        return Ok(Val::seq(items));
    }
    let d = dom(&s, rep)?;
    let mut out: Vec<Val> = r.elems().filter(|p| !d.has(&p.first(rep.elem()))).collect();
    out.extend(s.elems());
    Ok(Val::from_elems(out, rep))
}

/// r <+ {x |-> y}
pub fn update(r: &Val, x: &Val, y: &Val, rep: &Rep) -> Res<Val> {
    if let (Some((_, nb)), Val::W(w)) = (rep.small_rel(), r) {
        let x = x.word() as u32;
        return Ok(Val::W((w & !mask::rows(1 << x, nb)) | 1 << (u64::from(x * nb) + y.word())));
    }
    if let (Val::Seq(items), Val::I(i)) = (r, x)
        && *i >= 1
        && *i as usize <= items.len()
    {
        let mut items = items.to_vec();
        items[*i as usize - 1] = y.clone();
        return Ok(Val::seq(items));
    }
    let one = Val::from_elems(vec![Val::pair(x.clone(), y.clone(), rep.elem())], rep);
    override_with(r, &one, rep)
}

/// What a restriction keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restrict {
    pub by_domain: bool,
    /// `<<|` and `|>>` keep what is outside.
    pub subtract: bool,
}

pub fn restrict(how: Restrict, r: &Val, s: &Val, rep: &Rep) -> Res<Val> {
    if let (Some((na, nb)), Val::W(w), Val::W(s)) = (rep.small_rel(), r, s) {
        let keep = if how.by_domain { mask::rows(*s, nb) } else { mask::columns(*s, na, nb) };
        return Ok(Val::W(if how.subtract { w & !keep } else { w & keep }));
    }
    let (ra, rb) = rep.as_rel();
    let side = Rep::set(if how.by_domain { ra } else { rb }.clone());
    if how.by_domain && !how.subtract && symbolic(r) {
        let mut out = Vec::new();
        for x in force(s.clone(), &side)?.elems() {
            match apply(r, &x, rep) {
                Ok(y) => out.push(Val::pair(x, y, rep.elem())),
                Err(e) if matches!(&*e, Fault::Wd(w) if w.kind == WdKind::OutsideDomain) => {}
                Err(e) => return Err(e),
            }
        }
        return Ok(Val::from_elems(out, rep));
    }
    let r = force(r.clone(), rep)?;
    filter(&r, rep, &mut |p| {
        let key = if how.by_domain { p.first(rep.elem()) } else { p.second(rep.elem()) };
        Ok(member(&key, s, &side)? != how.subtract)
    })
}

/// id(s); `rep` represents the result.
pub fn identity(s: &Val, rep: &Rep) -> Res<Val> {
    let (ra, _) = rep.as_rel();
    if let (Some((n, _)), Val::W(s)) = (rep.small_rel(), s) {
        return Ok(Val::W(mask::identity(*s, n)));
    }
    let s = force(s.clone(), &Rep::set(ra.clone()))?;
    Ok(Val::from_elems(s.elems().map(|x| Val::pair(x.clone(), x, rep.elem())).collect(), rep))
}

/// closure1(r)
pub fn closure1(r: &Val, rep: &Rep) -> Res<Val> {
    if let (Some((n, _)), Val::W(w)) = (rep.small_rel(), r) {
        return Ok(Val::W(mask::closure1(*w, n)));
    }
    let r = force(r.clone(), rep)?;
    let mut all = r.clone();
    loop {
        let more = union(all.clone(), compose(&all, &r, rep, rep, rep)?, rep)?;
        if more.count() > MAX_SET {
            return Err(too_large("a closure"));
        }
        if more == all {
            return Ok(all);
        }
        all = more;
    }
}

/// iterate(r, n) for n ≥ 1
pub fn iterate(r: &Val, n: u64, rep: &Rep) -> Res<Val> {
    let r = force(r.clone(), rep)?;
    let mut out = r.clone();
    let mut seen: Vec<Val> = vec![out.clone()];
    for k in 1..n {
        out = compose(&out, &r, rep, rep, rep)?;
        if out.is_empty_set() {
            return Ok(out);
        }
        // Powers of a relation repeat; jump once a period shows.
        if let Some(first) = seen.iter().position(|v| *v == out) {
            let period = (k as usize) - first;
            let index = first + (n as usize - 1 - first) % period;
            return Ok(seen[index].clone());
        }
        if seen.len() < 256 {
            seen.push(out.clone());
        }
    }
    Ok(out)
}

/// f >< g: x ↦ (f(x), g(x))
pub fn direct_product(f: &Val, g: &Val, rf: &Rep, rg: &Rep, out_rep: &Rep) -> Res<Val> {
    let (f, g) = (force(f.clone(), rf)?, force(g.clone(), rg)?);
    let target = out_rep.as_rel().1;
    let mut out = Vec::new();
    for p in f.elems() {
        let (x, y) = p.split(rf.elem());
        at(&g, &x, rg, &mut |z| {
            out.push(Val::pair(x.clone(), Val::pair(y.clone(), z, target), out_rep.elem()));
        });
    }
    Ok(Val::from_elems(out, out_rep))
}

/// f || g: (x, y) ↦ (f(x), g(y))
pub fn parallel_product(f: &Val, g: &Val, rf: &Rep, rg: &Rep, out_rep: &Rep) -> Res<Val> {
    let (f, g) = (force(f.clone(), rf)?, force(g.clone(), rg)?);
    let (source, target) = out_rep.as_rel();
    let mut out = Vec::new();
    for p in f.elems() {
        let (x, y) = p.split(rf.elem());
        for q in g.elems() {
            let (v, w) = q.split(rg.elem());
            let from = Val::pair(x.clone(), v, source);
            out.push(Val::pair(from, Val::pair(y.clone(), w, target), out_rep.elem()));
        }
    }
    Ok(Val::from_elems(out, out_rep))
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
