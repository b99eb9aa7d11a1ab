//! Symbolic sets ([`Lazy`]): which of them are infinite, what is in them, how many elements they have, and how they are
//! enumerated where somebody needs the elements.

use super::spaces::infinite_in_functions;
use super::{force, is_empty, subset};
use crate::value::fault::{Fault, Res};
use crate::value::mask;
use crate::value::ranges::Ranges;
use crate::value::rep::{R, Rep, Shape, low};
use crate::value::val::{FunKind, IntSet, Lazy, MAX_SET, SeqKind, Val, cmp_int, submasks, too_large};
use std::cmp::Ordering;
use std::sync::Arc;

/// Whether a set stays symbolic: it is infinite, or nobody knows how to expand it.
pub fn symbolic(v: &Val) -> bool {
    stays(v, false)
}

/// Whether a set is kept as it is said: it is symbolic, or it is made of an interval that is too long to be listed,
/// and is tested, counted and compared all the same.
pub fn unlisted(v: &Val) -> bool {
    stays(v, true)
}

fn stays(v: &Val, if_long: bool) -> bool {
    let Val::Lazy(l) = v else { return false };
    let stays = |v: &Val| stays(v, if_long);
    match &*l.0 {
        Lazy::Interval(low, high) => if_long && high.saturating_sub(*low) >= MAX_SET as i64,
        Lazy::Integers(_) | Lazy::Strings => true,
        Lazy::All(r) => r.carrier == 0 && (rep_infinite(r) || has_freetype(r)),
        Lazy::Freetype(cases) => cases.iter().any(|(_, set)| set.as_ref().is_some_and(|(s, _)| stays(s))),
        Lazy::Pow { of, .. } => stays(of),
        Lazy::Fun { from, to, .. } => stays(from) || stays(to),
        Lazy::Seq { kind, of, most } => stays(of) || !(kind.injective || most.is_some() || known_empty(of)),
        Lazy::Product(a, b) => (stays(a) && !known_empty(b)) || (stays(b) && !known_empty(a)),
        Lazy::Struct(parts) => parts.iter().any(stays),
        Lazy::Union(a, b) => stays(a) || stays(b),
        Lazy::Inter(a, b) => stays(a) && stays(b),
        Lazy::Diff(a, _) => stays(a),
        Lazy::Closure(c) => c.is_infinite(),
    }
}

/// A symbolic set that ranges over few elements, and yet could not be listed, has a limit inside of what it says of
/// them, or infinite sets as elements. The latter are values like others; the former says that nobody knows whether
/// there is such a set at all. (What ranges over too much is looked at where somebody asks for an element.)
pub fn visited(v: &Val) -> Res<()> {
    let Val::Lazy(l) = v else { return Ok(()) };
    match &*l.0 {
        Lazy::Closure(c) => c.visited(),
        Lazy::Union(a, b) | Lazy::Inter(a, b) | Lazy::Diff(a, b) | Lazy::Product(a, b) => {
            visited(a)?;
            visited(b)
        }
        Lazy::Pow { of, .. } | Lazy::Seq { of, .. } => visited(of),
        Lazy::Fun { from, to, .. } => {
            visited(from)?;
            visited(to)
        }
        Lazy::Struct(parts) => parts.iter().try_for_each(visited),
        Lazy::Freetype(cases) => {
            cases.iter().filter_map(|(_, set)| set.as_ref()).try_for_each(|(s, _)| visited(s))
        }
        Lazy::Interval(..) | Lazy::Integers(_) | Lazy::Strings | Lazy::All(_) => Ok(()),
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
        Lazy::Freetype(cases) => cases.iter().any(|(_, set)| set.as_ref().is_some_and(|(s, _)| infinite(s))),
        Lazy::Pow { of, .. } => infinite(of),
        // Total functions to one point are one, whatever the domain.
        Lazy::Fun { kind, from, to } => {
            !kind.total
                && !kind.surjective
                && ((infinite(from) && known_nonempty(to)) || (infinite(to) && known_nonempty(from)))
        }
        Lazy::Seq { most: Some(_), .. } => false,
        Lazy::Seq { kind, of, most: None } => {
            infinite(of) && !kind.surjective || (!kind.injective && known_nonempty(of))
        }
        Lazy::Product(a, b) => (infinite(a) && known_nonempty(b)) || (infinite(b) && known_nonempty(a)),
        Lazy::Struct(parts) => parts.iter().any(infinite) && parts.iter().all(known_nonempty),
        Lazy::Union(a, b) => infinite(a) || infinite(b),
        Lazy::Diff(a, b) => {
            infinite(a) && (!b.is_lazy() || matches!(b, Val::Lazy(l) if matches!(&*l.0, Lazy::Interval(..))))
        }
    }
}

/// Whether a set has finitely many elements; a limit where that is not known.
pub fn is_finite(v: &Val, rep: &Rep) -> Res<bool> {
    if !symbolic(v) {
        return Ok(true);
    }
    if let Some(r) = ranges(v, rep) {
        return Ok(r.is_finite());
    }
    if infinite(v) { Ok(false) } else { force(v.clone(), rep).map(|_| true) }
}

/// Listed sets of more integers than this are not looked at as ranges.
const MAX_LISTED: usize = 1 << 14;

/// Whether a set is better compared by its ranges than by its elements: it has no end, or many elements.
pub fn long(v: &Val) -> bool {
    let Val::Lazy(l) = v else { return false };
    match &*l.0 {
        Lazy::Interval(low, high) => high.saturating_sub(*low) > 1000,
        Lazy::Union(a, b) | Lazy::Inter(a, b) | Lazy::Diff(a, b) => long(a) || long(b),
        _ => symbolic(v),
    }
}

/// The ranges of a set of integers, if it is one and they are known.
pub fn ranges(v: &Val, rep: &Rep) -> Option<Ranges> {
    let of = |v: &Val| ranges(v, rep);
    if !rep.elem().is_int() {
        return None;
    }
    let Val::Lazy(l) = v else {
        return (v.count() <= MAX_LISTED).then(|| Ranges::of(v.elems().map(|i| i.to_bigint())));
    };
    let at_least = |low: i64| Ranges::between(Some(low.into()), None);
    Some(match &*l.0 {
        Lazy::Interval(low, high) => Ranges::between(Some((*low).into()), Some((*high).into())),
        Lazy::Integers(IntSet::Integer) => Ranges::all(),
        Lazy::Integers(IntSet::Natural) => at_least(0),
        Lazy::Integers(IntSet::Natural1) => at_least(1),
        Lazy::All(_) => Ranges::all(),
        Lazy::Union(a, b) => of(a)?.union(of(b)?),
        Lazy::Inter(a, b) => of(a)?.inter(&of(b)?),
        Lazy::Diff(a, b) => of(a)?.without(&of(b)?),
        Lazy::Closure(c) => c.ranges()?,
        _ => return None,
    })
}

/// Whether a set is certainly all of its type.
pub(super) fn is_whole(set: &Val, rep: &Rep) -> bool {
    let Val::Lazy(l) = set else {
        let all = rep.elem().carrier;
        return all > 0 && set.count() as u64 == all;
    };
    match &*l.0 {
        Lazy::Strings | Lazy::All(_) => true,
        Lazy::Pow { of, nonempty: false, finite: false } => is_whole(of, rep.elem()),
        Lazy::Product(a, b) => {
            let (ra, rb) = rep.elem().as_pair();
            is_whole(a, &Rep::set(ra.clone())) && is_whole(b, &Rep::set(rb.clone()))
        }
        _ => ranges(set, rep).is_some_and(|r| r == Ranges::all()),
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
        Shape::Int | Shape::Str | Shape::Real => true,
        Shape::Bool | Shape::Elem(_) => false,
        Shape::Free(free, _) => free.def().is_infinite,
        Shape::Pair(a, b) => rep_infinite(a) || rep_infinite(b),
        Shape::Set(e, _) => rep_infinite(e),
        Shape::Rec(p) => p.iter().any(|r| rep_infinite(r)),
    }
}

/// Whether values of a freetype may be in it: of those nobody knows all without the model.
fn has_freetype(r: &Rep) -> bool {
    match &r.shape {
        Shape::Free(..) => true,
        Shape::Int | Shape::Str | Shape::Real | Shape::Bool | Shape::Elem(_) => false,
        Shape::Pair(a, b) => has_freetype(a) || has_freetype(b),
        Shape::Set(e, _) => has_freetype(e),
        Shape::Rec(p) => p.iter().any(|r| has_freetype(r)),
    }
}

/// Whether membership may have no value: there is a comprehension in it, whose predicate may have none.
pub(super) fn may_have_no_value(set: &Val) -> bool {
    let Val::Lazy(l) = set else { return false };
    match &*l.0 {
        Lazy::Interval(..) | Lazy::Integers(_) | Lazy::Strings | Lazy::All(_) | Lazy::Freetype(_) => false,
        Lazy::Closure(_) => true,
        Lazy::Pow { of, .. } | Lazy::Seq { of, .. } => may_have_no_value(of),
        Lazy::Union(a, b) | Lazy::Inter(a, b) | Lazy::Diff(a, b) | Lazy::Product(a, b) => {
            may_have_no_value(a) || may_have_no_value(b)
        }
        Lazy::Fun { from, to, .. } => may_have_no_value(from) || may_have_no_value(to),
        Lazy::Struct(parts) => parts.iter().any(may_have_no_value),
    }
}

/// Whether all answers are yes. An operator on sets is no connective: that one part has no value is not made up for by
/// another part. So where a part of the set may have none, all are asked.
pub(super) fn all_of(set: &Val, answers: &mut dyn Iterator<Item = Res<bool>>) -> Res<bool> {
    let mut all = true;
    for answer in answers {
        all &= answer?;
        if !all && !may_have_no_value(set) {
            break;
        }
    }
    Ok(all)
}

/// Membership; `rep` is the set's representation.
pub fn member(v: &Val, set: &Val, rep: &Rep) -> Res<bool> {
    let elem = rep.elem();
    let Val::Lazy(l) = set else {
        // The elements of an expanded set are finite.
        return match v {
            Val::Lazy(_) if infinite(v) => Ok(false),
            Val::Lazy(_) => Ok(set.has(&force(v.clone(), elem)?)),
            _ => Ok(set.has(v)),
        };
    };
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
        // Every value of a freetype was made by its constructors.
        Lazy::Strings | Lazy::All(_) | Lazy::Freetype(_) => Ok(true),
        Lazy::Pow { of, nonempty, finite } => {
            if (*nonempty && is_empty(v, elem)?) || (*finite && !is_finite(v, elem)?) {
                return Ok(false);
            }
            subset(v, of, elem)
        }
        Lazy::Fun { kind, from, to } => in_functions(*kind, v, from, to, elem),
        Lazy::Seq { kind, of, most } => {
            let short = match most {
                Some(n) => i64::try_from(force(v.clone(), elem)?.count()).is_ok_and(|len| len <= *n),
                None => true,
            };
            Ok(short && in_sequences(*kind, v, of, elem)?)
        }
        Lazy::Product(a, b) => {
            let (ra, rb) = elem.as_pair();
            let (x, y) = v.split(elem);
            let parts = [(x, a, Rep::set(ra.clone())), (y, b, Rep::set(rb.clone()))];
            all_of(set, &mut parts.iter().map(|(x, a, r)| member(x, a, r)))
        }
        Lazy::Struct(parts) => {
            let Shape::Rec(reps) = &elem.shape else { return Ok(false) };
            let mut fields = parts.iter().zip(reps).enumerate();
            all_of(
                set,
                &mut fields
                    .by_ref()
                    .map(|(i, (part, r))| member(&v.field(i, elem), part, &Rep::set(r.clone()))),
            )
        }
        Lazy::Union(a, b) => {
            all_of(set, &mut [a, b].into_iter().map(|s| Ok(!member(v, s, rep)?))).map(|neither| !neither)
        }
        Lazy::Inter(a, b) => all_of(set, &mut [a, b].into_iter().map(|s| member(v, s, rep))),
        Lazy::Diff(a, b) => {
            let ways = [(a, true), (b, false)];
            all_of(set, &mut ways.into_iter().map(|(s, wanted)| Ok(member(v, s, rep)? == wanted)))
        }
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
        Lazy::Freetype(cases) => {
            for (case, set) in cases {
                let on = match set {
                    None => visit(Val::free(*case, None))?,
                    Some((set, r)) => each(set, &Rep::set(r.clone()), &mut |v| {
                        visit(Val::free(*case, Some((v, r.clone()))))
                    })?,
                };
                if !on {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        // A set that can be expanded has finite subsets only.
        Lazy::Pow { of, nonempty, finite: _ } => {
            let of = force(of.clone(), elem)?;
            subsets(&of, elem, *nonempty, visit)
        }
        Lazy::Fun { kind, from, to } => {
            let (ra, rb) = elem.as_rel();
            let from = force(from.clone(), &Rep::set(ra.clone()))?;
            let to = force(to.clone(), &Rep::set(rb.clone()))?;
            functions(*kind, &from, &to, elem, visit)
        }
        Lazy::Seq { kind, of, most } => {
            let (_, rb) = elem.as_rel();
            let of = force(of.clone(), &Rep::set(rb.clone()))?;
            sequences(*kind, &of, *most, visit)
        }
        Lazy::Product(a, b) => {
            let (ra, rb) = elem.as_pair();
            let (sa, sb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
            // The empty set times anything is empty, also if the other is infinite.
            if known_empty(a) || known_empty(b) {
                return Ok(true);
            }
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
    let xs: Vec<Val> = from.elems().collect();
    let ys: Vec<Val> = to.elems().collect();
    if !kind.functional {
        let product = xs.len() * ys.len();
        if product == 0 {
            let is_one = (xs.is_empty() || !kind.total) && (ys.is_empty() || !kind.surjective);
            return if is_one { visit(Val::empty(rep)) } else { Ok(true) };
        }
        if product > 64 {
            let why = format!("the subsets of a set of {product} elements cannot be enumerated");
            return Err(Fault::limit(why));
        }
        let pairs: Vec<Vec<Val>> =
            xs.iter().map(|x| ys.iter().map(|y| Val::pair(x.clone(), y.clone(), pair)).collect()).collect();
        let all = low(ys.len() as u32);
        let mut images = vec![0; xs.len()];
        return choose_relation(&Pairs { kind, pairs: &pairs, all, rep }, xs.len(), all, &mut images, visit);
    }
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

struct Pairs<'a> {
    kind: FunKind,
    /// By argument and value.
    pairs: &'a [Vec<Val>],
    /// A bit for each value.
    all: u64,
    rep: &'a R,
}

/// Relations in the order of their bits, the last argument being the most significant one: what an argument is related to,
/// for one after the other. The first one, which comes last, takes whatever has to be taken, so that nothing is tried
/// that leads nowhere.
fn choose_relation(s: &Pairs, left: usize, missing: u64, images: &mut Vec<u64>, visit: Visit) -> Res<bool> {
    let Some(at) = left.checked_sub(1) else {
        let of = |(row, image): (&Vec<Val>, &u64)| -> Vec<Val> {
            mask::bits(*image).map(|i| row[i as usize].clone()).collect()
        };
        return visit(Val::from_elems(s.pairs.iter().zip(&*images).flat_map(of).collect(), s.rep));
    };
    let must = if s.kind.surjective && at == 0 { missing } else { 0 };
    let mut image = must;
    loop {
        if image != 0 || !s.kind.total {
            images[at] = image;
            if !choose_relation(s, at, missing & !image, images, visit)? {
                return Ok(false);
            }
        }
        if image == s.all {
            return Ok(true);
        }
        image = (image + 1) | must;
    }
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

fn sequences(kind: SeqKind, of: &Val, most: Option<i64>, visit: Visit) -> Res<bool> {
    let items: Vec<Val> = of.elems().collect();
    let longest = match most {
        Some(n) if n < 0 => return Ok(true),
        Some(n) if !kind.injective && n > MAX_DOMAIN as i64 && !items.is_empty() => {
            return Err(Fault::limit(format!("the sequences of up to {n} items cannot be enumerated")));
        }
        Some(n) => n as usize,
        None if !kind.injective && !items.is_empty() => {
            return Err(Fault::limit("the sequences over a set are infinitely many"));
        }
        None => usize::MAX,
    };
    struct Sequences<'a> {
        kind: SeqKind,
        items: &'a [Val],
        longest: usize,
    }
    fn go(s: &Sequences, used: &mut [bool], chosen: &mut Vec<Val>, visit: Visit) -> Res<bool> {
        let wanted = if s.kind.surjective { chosen.len() == s.items.len() } else { true };
        let excluded = s.kind.nonempty && chosen.is_empty();
        if wanted && !excluded && !visit(Val::seq(chosen.clone()))? {
            return Ok(false);
        }
        if chosen.len() >= s.longest {
            return Ok(true);
        }
        for i in 0..s.items.len() {
            if s.kind.injective && used[i] {
                continue;
            }
            used[i] = true;
            chosen.push(s.items[i].clone());
            let on = go(s, used, chosen, visit)?;
            chosen.pop();
            used[i] = false;
            if !on {
                return Ok(false);
            }
        }
        Ok(true)
    }
    let mut used = vec![false; items.len()];
    go(&Sequences { kind, items: &items, longest }, &mut used, &mut Vec::new(), visit)
}

/// Whether `v` is a relation of the function space; `rep` represents `v`.
pub fn in_functions(kind: FunKind, v: &Val, from: &Val, to: &Val, rep: &R) -> Res<bool> {
    if v.as_shift().is_some() {
        // A bijection of all integers: whatever is asked of it holds of the right sets and of no others.
        let whole = |set: &Val, r: &R| ranges(set, &Rep::set(r.clone())).map(|r| r == Ranges::all());
        let (ra, rb) = rep.as_rel();
        if let (Some(a), Some(b)) = (whole(from, ra), whole(to, rb)) {
            return Ok(a && b);
        }
    }
    if let Val::Lazy(l) = v
        && let Lazy::Closure(c) = &*l.0
        && c.is_infinite()
    {
        return infinite_in_functions(kind, &**c, from, to, rep);
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
    // All pairs are asked for their parts where that may have no value, also if one of them is outside.
    let may_have_none = may_have_no_value(from) || may_have_no_value(to);
    if may_have_none {
        let mut inside = true;
        for p in v.elems() {
            let (x, y) = p.split(pair);
            inside &= member(&x, from, &sa)? & member(&y, to, &sb)?;
        }
        if !inside {
            return Ok(false);
        }
    }
    for p in v.elems() {
        let (x, y) = p.split(pair);
        if !may_have_none && (!member(&x, from, &sa)? || !member(&y, to, &sb)?) {
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
        Lazy::Pow { of, nonempty, finite: _ } => {
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
    if !all_of(of, &mut items.iter().map(|x| member(x, of, &sb)))? {
        return Ok(false);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Type;
    use crate::value::Scope;

    fn spaces() -> impl Iterator<Item = FunKind> {
        let both = [false, true];
        both.into_iter().flat_map(move |total| {
            both.map(|surjective| FunKind { functional: false, total, injective: false, surjective })
        })
    }

    fn all(kind: FunKind, from: &Val, to: &Val, rep: &R) -> Vec<Val> {
        let mut found = vec![];
        let visit = functions(kind, from, to, rep, &mut |v| {
            found.push(v);
            Ok(true)
        });
        assert!(visit.is_ok_and(|all| all));
        found
    }

    /// Small relations and relations over integers: those among all subsets that are in the space, in their order.
    #[test]
    fn relations_are_the_subsets_that_are_in_the_space() {
        let integers = Rep::of(&Type::rel(Type::Int, Type::Int), &Scope::default());
        let flags = Rep::of(&Type::rel(Type::Bool, Type::Bool), &Scope::default());
        let set = |n: usize, rep: &Rep| {
            let value = |i: usize| if rep.elem().carrier > 0 { Val::W(i as u64) } else { Val::I(i as i64) };
            Val::from_elems((0..n).map(value).collect(), rep)
        };
        for (rep, most) in [(&integers, 3), (&flags, 2)] {
            let (of_x, of_y) = (Rep::set(rep.as_rel().0.clone()), Rep::set(rep.as_rel().1.clone()));
            for (xs, ys) in (0..=most).flat_map(|x| (0..=most).map(move |y| (x, y))) {
                let (from, to) = (set(xs, &of_x), set(ys, &of_y));
                let pairs = from.elems().flat_map(|x| {
                    to.elems().map(|y| Val::pair(x.clone(), y, rep.elem())).collect::<Vec<_>>()
                });
                let product = Val::from_elems(pairs.collect(), rep);
                for kind in spaces() {
                    let mut expected = vec![];
                    let visited = subsets(&product, rep, false, &mut |v| {
                        if in_functions(kind, &v, &from, &to, rep)? {
                            expected.push(v);
                        }
                        Ok(true)
                    });
                    assert!(visited.is_ok_and(|all| all));
                    assert_eq!(all(kind, &from, &to, rep), expected, "{kind:?} {xs} {ys}");
                }
            }
        }
    }

    /// One argument takes all values: nothing else is tried.
    #[test]
    fn what_leads_nowhere_is_not_tried() {
        let rep = Rep::of(&Type::rel(Type::Int, Type::Int), &Scope::default());
        let ints = Rep::set(rep.as_rel().1.clone());
        let set = |n: i64| Val::from_elems((0..n).map(Val::I).collect(), &ints);
        let onto = FunKind { functional: false, total: true, injective: false, surjective: true };
        assert_eq!(all(onto, &set(1), &set(60), &rep).len(), 1);
        assert_eq!(all(onto, &set(60), &set(1), &rep).len(), 1);
    }
}
