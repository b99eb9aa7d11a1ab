//! Relations made of infinite ones, kept by how they were made: what is related to an element is found when somebody
//! asks for it, from what the parts relate to it. The definitions are those of the B-Book; all parts are asked, so that
//! a fault in one is a fault.

use super::symbolic::{all_of, all_values, member, visited};
use super::{Restrict, equal, force, images, in_domain, reached_from, symbolic};
use crate::value::fault::{Fault, Res, WdKind};
use crate::value::rep::Rep;
use crate::value::val::{Closure, Lazy, Val};
use std::sync::Arc;

/// How a relation, or a set, was made.
pub(super) enum Made {
    /// Whose elements can be tested only: nobody looks for what is related to a value.
    Inverse(Val),
    Restrict(Restrict, Val, Val),
    Override(Val, Val),
    /// With the representations of the two.
    Compose(Val, Val, Rep, Rep),
    Direct(Val, Val, Rep, Rep),
    Parallel(Val, Val, Rep, Rep),
    Closure1(Val),
    /// The set of what is related to something, and the relation's representation.
    Dom(Val, Rep),
}

struct Derived {
    made: Made,
    rep: Rep,
}

/// Elements of a type that are tested one by one.
const FEW: u64 = 64;

/// What can be listed is listed; what cannot, and is made of something symbolic, stays as it is made. A set over a type
/// with few values has its elements among them.
pub(super) fn listed_or(
    listed: Res<Val>,
    parts: &[&Val],
    rep: &Rep,
    made: impl FnOnce() -> Made,
) -> Res<Val> {
    let limit = match listed {
        Err(e) if matches!(*e, Fault::Limit(..)) => e,
        other => return other,
    };
    if !parts.iter().any(|v| symbolic(v)) || parts.iter().any(|v| is_half_known(v)) {
        return Err(limit);
    }
    let derived = Derived { made: made(), rep: rep.clone() };
    let elem = rep.elem();
    match elem.carrier {
        0 => Ok(Val::lazy(Lazy::Closure(Arc::new(derived)))),
        1..=FEW => {
            let mut out = Vec::new();
            all_values(elem, &mut |v| {
                if derived.contains(&v)? {
                    out.push(v);
                }
                Ok(true)
            })?;
            Ok(Val::from_elems(out, rep))
        }
        // Sets over a type whose values are words are words or bits.
        _ => Err(limit),
    }
}

/// What a plan knows of a value so far is no value to make others of.
fn is_half_known(v: &Val) -> bool {
    matches!(v, Val::Lazy(l) if matches!(&*l.0, Lazy::Closure(c) if !c.is_infinite()))
}

/// What a relation relates to x, as values that may go into a set.
fn related(r: &Val, x: &Val, rep: &Rep) -> Res<Vec<Val>> {
    let mut out = Vec::new();
    images(r, x, rep, &mut |y| out.push(y))?;
    let target = rep.as_rel().1;
    out.into_iter().map(|y| force(y, target)).collect()
}

impl Derived {
    /// Whether a value has the property of a restriction's side.
    fn is_kept(&self, how: Restrict, key: &Val, s: &Val) -> Res<bool> {
        let (ra, rb) = self.rep.as_rel();
        let side = if how.by_domain { ra } else { rb };
        Ok(member(key, s, &Rep::set(side.clone()))? != how.subtract)
    }
}

impl Closure for Derived {
    fn contains(&self, v: &Val) -> Res<bool> {
        let rep = &self.rep;
        if let Made::Dom(r, of) = &self.made {
            return in_domain(r, v, of);
        }
        let pair = rep.elem();
        let (x, y) = v.split(pair);
        let joined = |x: &Val, y: &Val, r: &Rep| Val::pair(x.clone(), y.clone(), r.elem());
        match &self.made {
            Made::Dom(..) => Ok(false),
            Made::Inverse(r) => {
                let inverse = Rep::set(Rep::pair(pair.as_pair().1.clone(), pair.as_pair().0.clone()));
                member(&joined(&y, &x, &inverse), r, &inverse)
            }
            Made::Restrict(how, r, s) => {
                let kept = self.is_kept(*how, if how.by_domain { &x } else { &y }, s)?;
                Ok(member(v, r, rep)? && kept)
            }
            Made::Override(r, s) => {
                let new = member(v, s, rep)?;
                Ok(new || (!in_domain(s, &x, rep)? && member(v, r, rep)?))
            }
            Made::Compose(r, s, rr, rs) => {
                let mut found = false;
                for z in related(r, &x, rr)? {
                    found |= member(&joined(&z, &y, rs), s, rs)?;
                }
                Ok(found)
            }
            Made::Direct(r, s, rr, rs) => {
                let (y, z) = y.split(pair.as_pair().1);
                let parts = [(joined(&x, &y, rr), r, rr), (joined(&x, &z, rs), s, rs)];
                both(&parts)
            }
            Made::Parallel(r, s, rr, rs) => {
                let (ra, rb) = pair.as_pair();
                let ((x, y), (m, n)) = (x.split(ra), y.split(rb));
                both(&[(joined(&x, &m, rr), r, rr), (joined(&y, &n, rs), s, rs)])
            }
            Made::Closure1(r) => Ok(reached_from(r, vec![x], rep)?.contains(&y)),
        }
    }

    fn apply(&self, x: &Val) -> Res<Val> {
        let mut found: Option<Val> = None;
        for y in self.images(x)? {
            match &found {
                Some(z) if !equal(z, &y, self.rep.as_rel().1)? => {
                    return Err(Fault::wd(WdKind::NotFunctional));
                }
                Some(_) => {}
                None => found = Some(y),
            }
        }
        found.ok_or_else(|| Fault::wd(WdKind::OutsideDomain))
    }

    fn images(&self, x: &Val) -> Res<Vec<Val>> {
        let rep = &self.rep;
        match &self.made {
            Made::Dom(..) => Err(Fault::limit("an infinite domain would have to be enumerated")),
            Made::Inverse(_) => {
                Err(Fault::limit("the inverse of an infinite relation would have to be enumerated"))
            }
            Made::Restrict(how, r, s) if how.by_domain => {
                let kept = self.is_kept(*how, x, s)?;
                let found = related(r, x, rep)?;
                Ok(if kept { found } else { vec![] })
            }
            Made::Restrict(how, r, s) => {
                let mut out = Vec::new();
                for y in related(r, x, rep)? {
                    if self.is_kept(*how, &y, s)? {
                        out.push(y);
                    }
                }
                Ok(out)
            }
            Made::Override(r, s) => {
                let new = related(s, x, rep)?;
                if new.is_empty() { related(r, x, rep) } else { Ok(new) }
            }
            Made::Compose(r, s, rr, rs) => {
                let mut out = Vec::new();
                for y in related(r, x, rr)? {
                    out.extend(related(s, &y, rs)?);
                }
                Ok(out)
            }
            Made::Direct(r, s, rr, rs) => {
                let (ys, zs) = (related(r, x, rr)?, related(s, x, rs)?);
                Ok(pairs(&ys, &zs, rep.as_rel().1))
            }
            Made::Parallel(r, s, rr, rs) => {
                let (source, target) = rep.as_rel();
                let (x, y) = x.split(source);
                let (ms, ns) = (related(r, &x, rr)?, related(s, &y, rs)?);
                Ok(pairs(&ms, &ns, target))
            }
            Made::Closure1(r) => Ok(reached_from(r, vec![x.clone()], rep)?.into_iter().collect()),
        }
    }

    fn elements(&self, _: usize) -> Res<Vec<Val>> {
        Err(Fault::limit("an infinite relation would have to be enumerated"))
    }

    fn is_infinite(&self) -> bool {
        true
    }

    fn visited(&self) -> Res<()> {
        match &self.made {
            Made::Inverse(r) | Made::Closure1(r) | Made::Dom(r, _) => visited(r),
            Made::Restrict(_, r, s)
            | Made::Override(r, s)
            | Made::Compose(r, s, ..)
            | Made::Direct(r, s, ..)
            | Made::Parallel(r, s, ..) => {
                visited(r)?;
                visited(s)
            }
        }
    }

    /// A recursive function may be in it.
    fn is_recursive(&self) -> bool {
        let recursive =
            |v: &Val| matches!(v, Val::Lazy(l) if matches!(&*l.0, Lazy::Closure(c) if c.is_recursive()));
        match &self.made {
            Made::Inverse(r) | Made::Closure1(r) | Made::Dom(r, _) => recursive(r),
            Made::Restrict(_, r, s)
            | Made::Override(r, s)
            | Made::Compose(r, s, ..)
            | Made::Direct(r, s, ..)
            | Made::Parallel(r, s, ..) => recursive(r) || recursive(s),
        }
    }
}

/// Whether both pairs are in their relations.
fn both(parts: &[(Val, &Val, &Rep); 2]) -> Res<bool> {
    let [(_, r, _), (_, s, _)] = parts;
    let either = Val::lazy(Lazy::Union((*r).clone(), (*s).clone()));
    all_of(&either, &mut parts.iter().map(|(v, r, rep)| member(v, r, rep)))
}

fn pairs(xs: &[Val], ys: &[Val], rep: &Rep) -> Vec<Val> {
    xs.iter().flat_map(|x| ys.iter().map(|y| Val::pair(x.clone(), y.clone(), rep))).collect()
}
