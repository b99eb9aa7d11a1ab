//! Relations and functions.

use super::derived::{Made, listed_or};
use super::symbolic::{infinite, member, symbolic};
use super::{equal, filter, force, inter, is_empty};
use crate::value::fault::{Fault, Res, WdKind};
use crate::value::mask;
use crate::value::rep::Rep;
use crate::value::val::{Lazy, MAX_SET, Val, too_large};
use std::collections::BTreeSet;

/// What is reached by an infinite relation may have no end.
const MAX_REACHED: usize = 1 << 14;

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
    let set = Rep::set(ra.clone());
    let listed = force(r.clone(), rep).map(|r| {
        let out = r.elems().map(|p| p.first(rep.elem())).collect();
        Val::from_elems(out, &set)
    });
    listed_or(listed, &[r], &set, || Made::Dom(r.clone(), rep.clone()))
}

/// Whether the relation relates something to x.
pub fn in_domain(r: &Val, x: &Val, rep: &Rep) -> Res<bool> {
    if let Val::Lazy(l) = r
        && let Lazy::Closure(c) = &*l.0
    {
        return c.in_domain(x);
    }
    let mut is_found = false;
    images(r, x, rep, &mut |_| is_found = true)?;
    Ok(is_found)
}

pub fn ran(r: &Val, rep: &Rep) -> Res<Val> {
    if let (Some((na, nb)), Val::W(w)) = (rep.small_rel(), r) {
        return Ok(Val::W(mask::ran(*w, na, nb)));
    }
    if r.as_shift().is_some() {
        return dom(r, rep);
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
            // A function given by cases, or cut down, one part of it symbolic. Each part is asked what it relates to x:
            // that x is outside of a domain says nothing, it may be the domain of a function inside of the part.
            Lazy::Union(..) | Lazy::Inter(..) | Lazy::Diff(..) if symbolic(r) => {
                let mut found: Option<Val> = None;
                let mut all = Vec::new();
                images(r, x, rep, &mut |y| all.push(y))?;
                for y in all {
                    match &found {
                        Some(z) if !equal(z, &y, rep.as_rel().1)? => {
                            return Err(Fault::wd(WdKind::NotFunctional));
                        }
                        Some(_) => {}
                        None => found = Some(y),
                    }
                }
                found.ok_or_else(|| Fault::wd(WdKind::OutsideDomain))
            }
            _ => apply(&force(r.clone(), rep)?, x, rep),
        },
        // What an expanded relation relates is finite.
        _ if x.is_lazy() && !infinite(x) => apply(r, &force(x.clone(), rep.as_rel().0)?, rep),
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

/// What a relation that may be symbolic relates to x.
pub fn images(r: &Val, x: &Val, rep: &Rep, found: &mut dyn FnMut(Val)) -> Res<()> {
    let Val::Lazy(l) = r else {
        // What an expanded relation relates is finite.
        match x {
            Val::Lazy(_) if infinite(x) => {}
            Val::Lazy(_) => at(r, &force(x.clone(), rep.as_rel().0)?, rep, found),
            _ => at(r, x, rep, found),
        }
        return Ok(());
    };
    let (ra, rb) = rep.as_rel();
    let (sa, sb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
    match &*l.0 {
        Lazy::Closure(c) => c.images(x)?.into_iter().for_each(found),
        Lazy::Union(a, b) => {
            images(a, x, rep, found)?;
            images(b, x, rep, found)?;
        }
        Lazy::Product(a, b) => {
            if member(x, a, &sa)? {
                force(b.clone(), &sb)?.elems().for_each(found);
            }
        }
        Lazy::Inter(a, b) | Lazy::Diff(a, b) => {
            let wanted = matches!(&*l.0, Lazy::Inter(..));
            let mut all = Vec::new();
            images(a, x, rep, &mut |y| all.push(y))?;
            for y in all {
                let y = force(y, rb)?;
                if member(&Val::pair(x.clone(), y.clone(), rep.elem()), b, rep)? == wanted {
                    found(y);
                }
            }
        }
        _ => at(&force(r.clone(), rep)?, x, rep, found),
    }
    Ok(())
}

/// A set of values that may be symbolic.
fn settled_set(values: Vec<Val>, rep: &Rep) -> Res<Val> {
    let values: Res<Vec<Val>> = values.into_iter().map(|v| force(v, rep.elem())).collect();
    Ok(Val::from_elems(values?, rep))
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
                    out.extend(c.images(&x)?);
                }
                return settled_set(out, &sb);
            }
            if symbolic(r) {
                for x in force(s.clone(), &sa)?.elems() {
                    images(r, &x, rep, &mut |y| out.push(y))?;
                }
                return settled_set(out, &sb);
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
    if let Some(n) = r.as_shift().and_then(i64::checked_neg) {
        return Ok(Val::shift(n));
    }
    if let Val::Lazy(l) = r
        && symbolic(r)
    {
        let other = |r: &Val| inverse(r, rep, inv);
        match &*l.0 {
            Lazy::Closure(c) => {
                if let Some(r) = c.inverse() {
                    return Ok(r);
                }
            }
            Lazy::Product(a, b) => return Ok(Val::lazy(Lazy::Product(b.clone(), a.clone()))),
            Lazy::Union(a, b) => return Ok(Val::lazy(Lazy::Union(other(a)?, other(b)?))),
            Lazy::Inter(a, b) => return Ok(Val::lazy(Lazy::Inter(other(a)?, other(b)?))),
            Lazy::Diff(a, b) => return Ok(Val::lazy(Lazy::Diff(other(a)?, other(b)?))),
            _ => {}
        }
    }
    let listed = force(r.clone(), rep).map(|r| {
        let turned = |p: Val| {
            let (x, y) = p.split(rep.elem());
            Val::pair(y, x, inv.elem())
        };
        Val::from_elems(r.elems().map(turned).collect(), inv)
    });
    listed_or(listed, &[r], inv, || Made::Inverse(r.clone()))
}

/// r ; s
pub fn compose(r: &Val, s: &Val, rr: &Rep, rs: &Rep, out_rep: &Rep) -> Res<Val> {
    if let (Some((na, nb)), Some((_, nc)), Some(_), Val::W(x), Val::W(y)) =
        (rr.small_rel(), rs.small_rel(), out_rep.small_rel(), r, s)
    {
        return Ok(Val::W(mask::compose(*x, *y, na, nb, nc)));
    }
    if let (Some(m), Some(n)) = (r.as_shift(), s.as_shift())
        && let Some(n) = m.checked_add(n)
    {
        return Ok(Val::shift(n));
    }
    listed_or(composed(r, s, rr, rs, out_rep), &[r, s], out_rep, || {
        Made::Compose(r.clone(), s.clone(), rr.clone(), rs.clone())
    })
}

/// The same where it can be listed.
fn composed(r: &Val, s: &Val, rr: &Rep, rs: &Rep, out_rep: &Rep) -> Res<Val> {
    let r = force(r.clone(), rr)?;
    let s = if symbolic(s) { s.clone() } else { force(s.clone(), rs)? };
    let mut out = Vec::new();
    for p in r.elems() {
        let (x, y) = p.split(rr.elem());
        if let Val::Lazy(_) = s {
            let mut found = Vec::new();
            images(&s, &y, rs, &mut |z| found.push(z))?;
            for z in found {
                out.push(Val::pair(x.clone(), force(z, rs.as_rel().1)?, out_rep.elem()));
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
    listed_or(overridden(r, s, rep), &[r, s], rep, || Made::Override(r.clone(), s.clone()))
}

/// The same where it can be listed.
fn overridden(r: &Val, s: &Val, rep: &Rep) -> Res<Val> {
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
    listed_or(restricted(how, r, s, rep), &[r], rep, || Made::Restrict(how, r.clone(), s.clone()))
}

/// The same where it can be listed.
fn restricted(how: Restrict, r: &Val, s: &Val, rep: &Rep) -> Res<Val> {
    let (ra, rb) = rep.as_rel();
    let side = Rep::set(if how.by_domain { ra } else { rb }.clone());
    if how.by_domain && !how.subtract && symbolic(r) {
        let mut out = Vec::new();
        for x in force(s.clone(), &side)?.elems() {
            let mut found = Vec::new();
            images(r, &x, rep, &mut |y| found.push(y))?;
            for y in found {
                out.push(Val::pair(x.clone(), force(y, rb)?, rep.elem()));
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
    listed_or(closed(r, rep), &[r], rep, || Made::Closure1(r.clone()))
}

/// The same where it can be listed.
fn closed(r: &Val, rep: &Rep) -> Res<Val> {
    let r = force(r.clone(), rep)?;
    let mut pairs = Vec::new();
    for x in dom(&r, rep)?.elems() {
        let reached = reached_from(&r, vec![x.clone()], rep)?;
        if pairs.len() + reached.len() > MAX_SET {
            return Err(too_large("a closure"));
        }
        pairs.extend(reached.into_iter().map(|y| Val::pair(x.clone(), y, rep.elem())));
    }
    Ok(Val::from_elems(pairs, rep))
}

/// closure1(r)[s], which may be finite where the closure is not
pub fn reached(r: &Val, s: &Val, rep: &Rep) -> Res<Val> {
    let r = if symbolic(r) { r.clone() } else { force(r.clone(), rep)? };
    let (ra, _) = rep.as_rel();
    let set = Rep::set(ra.clone());
    let s = if !symbolic(s) || symbolic(&r) {
        force(s.clone(), &set)?
    } else {
        inter(dom(&r, rep)?, s.clone(), &set)?
    };
    let found = reached_from(&r, s.elems().collect(), rep)?;
    Ok(Val::from_elems(found.into_iter().collect(), &set))
}

/// What the relation reaches in one or more steps.
pub(super) fn reached_from(r: &Val, mut todo: Vec<Val>, rep: &Rep) -> Res<BTreeSet<Val>> {
    let elem = rep.as_rel().1;
    let mut found = BTreeSet::new();
    let mut next = Vec::new();
    while let Some(x) = todo.pop() {
        images(r, &x, rep, &mut |y| next.push(y))?;
        for y in next.drain(..) {
            let y = force(y, elem)?;
            if found.insert(y.clone()) {
                todo.push(y);
            }
        }
        if found.len() > MAX_REACHED && r.is_lazy() {
            return Err(Fault::limit("what an infinite relation reaches has no end in sight"));
        }
    }
    Ok(found)
}

/// The powers of an infinite relation that are made, one upon the other.
const MOST_NESTED: u64 = 16;

/// iterate(r, n) for n ≥ 1
pub fn iterate(r: &Val, n: u64, rep: &Rep) -> Res<Val> {
    if symbolic(r) {
        if n > MOST_NESTED {
            return Err(Fault::limit("a high power of an infinite relation"));
        }
        return (1..n).try_fold(r.clone(), |power, _| compose(&power, r, rep, rep, rep));
    }
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
            let more = (n as usize - 1 - first) % period;
            if let Some(known) = seen.get(first + more) {
                return Ok(known.clone());
            }
            // Not all powers are kept: the rest of the period is gone through once more.
            for _ in 0..more {
                out = compose(&out, &r, rep, rep, rep)?;
            }
            return Ok(out);
        }
        if seen.len() < 256 {
            seen.push(out.clone());
        }
    }
    Ok(out)
}

/// f >< g: x ↦ (f(x), g(x))
pub fn direct_product(f: &Val, g: &Val, rf: &Rep, rg: &Rep, out_rep: &Rep) -> Res<Val> {
    listed_or(directly_joined(f, g, rf, rg, out_rep), &[f, g], out_rep, || {
        Made::Direct(f.clone(), g.clone(), rf.clone(), rg.clone())
    })
}

/// The same where it can be listed.
fn directly_joined(f: &Val, g: &Val, rf: &Rep, rg: &Rep, out_rep: &Rep) -> Res<Val> {
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
    listed_or(side_by_side(f, g, rf, rg, out_rep), &[f, g], out_rep, || {
        Made::Parallel(f.clone(), g.clone(), rf.clone(), rg.clone())
    })
}

/// The same where it can be listed.
fn side_by_side(f: &Val, g: &Val, rf: &Rep, rg: &Rep, out_rep: &Rep) -> Res<Val> {
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
