//! The value of a variable after a step, in the shape that the variable has.
//!
//! A shape has room for the values in its hull only. Whether a value is one of them is a formula too: where it is false,
//! the step leads *outside*, to a state of which nothing else is known. Nothing is ever cut off.

use super::super::Res;
use super::super::encode::{Encoder, Hull, Lazy, Mutant, Options, Points, Rows, Sym, attempt};
use crate::lang::diag::Span;
use crate::model::BinOp;
use crate::value::Value;
use kanon_solver::term::Bool;
use std::collections::BTreeMap;

/// A function by its arguments, when it is one, and when that is defined.
struct Pointwise<'m> {
    points: Points<'m>,
    is_function: Bool,
    def: Bool,
}

/// That a shape has a value, and that there is room for the value in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub same: Bool,
    pub fits: Bool,
}

impl Fit {
    const NO: Fit = Fit { same: Bool::FALSE, fits: Bool::FALSE };
}

/// Says that the shape `to`, made of the hull, has this value.
pub(super) fn fit<'m>(
    e: &mut Encoder<'m>,
    value: &Sym<'m>,
    hull: &Hull,
    to: &Sym<'m>,
    span: Span,
) -> Res<Fit> {
    let fitted = fit_exactly(e, value, hull, to, span)?;
    // What the bounds leave out is forgotten: the mistake that all this is about.
    let fits = if e.mutant == Mutant::NothingOutside { Bool::TRUE } else { fitted.fits };
    Ok(Fit { fits, ..fitted })
}

fn fit_exactly<'m>(e: &mut Encoder<'m>, value: &Sym<'m>, hull: &Hull, to: &Sym<'m>, span: Span) -> Res<Fit> {
    Ok(match (hull, value, to) {
        (_, Sym::Absent, _) | (_, _, Sym::Absent) => Fit::NO,
        (Hull::Bool, Sym::Bool(a), Sym::Bool(b)) => Fit { same: e.terms.iff(*a, *b), fits: Bool::TRUE },
        (Hull::Ints(low, high), _, Sym::Int(to)) => {
            let i = e.int_term(value, span)?;
            let mut inside = vec![];
            if let Some(low) = low {
                let low = e.terms.constant(low.clone());
                inside.push(e.terms.le(low, i));
            }
            if let Some(high) = high {
                let high = e.terms.constant(high.clone());
                inside.push(e.terms.le(i, high));
            }
            let fits = e.terms.and(inside);
            let same = e.terms.eq(*to, i);
            Fit { same: e.terms.and([fits, same]), fits }
        }
        (Hull::Values(_) | Hull::Ints(..), _, Sym::One(options)) => one_of(e, value, &options.clone()),
        (Hull::Pair(h, k), Sym::Pair(p), Sym::Pair(q)) => {
            let (p, q) = (p.clone(), q.clone());
            let (a, b) = (fit_exactly(e, &p.0, h, &q.0, span)?, fit_exactly(e, &p.1, k, &q.1, span)?);
            all(e, [a, b])
        }
        (Hull::Rec(hulls), Sym::Rec(p), Sym::Rec(q)) => {
            let (p, q) = (p.clone(), q.clone());
            let mut parts = vec![];
            for (h, (v, to)) in hulls.iter().zip(p.iter().zip(q.iter())) {
                parts.push(fit_exactly(e, v, h, to, span)?);
            }
            all(e, parts)
        }
        (Hull::Subset(_), _, Sym::Set(to)) => {
            let to = to.clone();
            let Some((rows, def)) = attempt(e.rows(value, span))? else { return Ok(Fit::NO) };
            let mut same = vec![def];
            for (v, b) in to.iter() {
                let there = rows.get(v).copied().unwrap_or(Bool::FALSE);
                same.push(e.terms.iff(*b, there));
            }
            let mut fits = vec![def];
            fits.extend(rows.iter().filter(|(v, _)| !to.contains_key(*v)).map(|(_, p)| !*p));
            let fits = e.terms.and(fits);
            same.push(fits);
            Fit { same: e.terms.and(same), fits }
        }
        (Hull::Fun(_, of, total), _, Sym::Fun(to)) => {
            let to = to.clone();
            let Some(made) = pointwise(e, value, span)? else { return Ok(Fit::NO) };
            let (mut same, mut fits) = (vec![], vec![made.def, made.is_function]);
            for (x, (there, y)) in to.iter() {
                // A shape for total functions has no room for one that is not.
                if total.is_total() {
                    fits.push(made.points.get(x).map_or(Bool::FALSE, |(p, _)| *p));
                }
                match made.points.get(x) {
                    None | Some((Bool::FALSE, _)) => same.push(!*there),
                    Some((p, v)) => {
                        let part = fit_exactly(e, v, of, y, span)?;
                        same.push(e.terms.iff(*there, *p));
                        same.push(e.terms.or([!*p, part.same]));
                        fits.push(e.terms.or([!*p, part.fits]));
                    }
                }
            }
            fits.extend(made.points.iter().filter(|(x, _)| !to.contains_key(*x)).map(|(_, (p, _))| !*p));
            let fits = e.terms.and(fits);
            same.push(fits);
            Fit { same: e.terms.and(same), fits }
        }
        // A shape is made of its hull, and values have the types of their variables; but nothing depends on it here.
        _ => Fit::NO,
    })
}

fn all<'m>(e: &mut Encoder<'m>, parts: impl IntoIterator<Item = Fit>) -> Fit {
    let parts: Vec<Fit> = parts.into_iter().collect();
    Fit { same: e.terms.and(parts.iter().map(|p| p.same)), fits: e.terms.and(parts.iter().map(|p| p.fits)) }
}

fn one_of<'m>(e: &mut Encoder<'m>, value: &Sym<'m>, to: &[(Value, Bool)]) -> Fit {
    let (mut same, mut inside) = (vec![], vec![]);
    for (v, b) in to {
        let here = e.eq_value(value, v);
        inside.push(here);
        same.push(e.terms.iff(*b, here));
    }
    // All that it can be is in the hull: nothing has to be said.
    let is_inside = matches!(value, Sym::One(options)
        if options.iter().all(|(v, _)| to.binary_search_by(|(w, _)| w.cmp(v)).is_ok()));
    let fits = if is_inside { Bool::TRUE } else { e.terms.or(inside) };
    same.push(fits);
    Fit { same: e.terms.and(same), fits }
}

/// A set of pairs as a function, if its arguments can be listed.
fn pointwise<'m>(e: &mut Encoder<'m>, s: &Sym<'m>, span: Span) -> Res<Option<Pointwise<'m>>> {
    let lazy = match s {
        Sym::Fun(points) => {
            let (is_function, def) = (Bool::TRUE, Bool::TRUE);
            return Ok(Some(Pointwise { points: (**points).clone(), is_function, def }));
        }
        Sym::Set(rows) => return of_rows(e, &rows.clone(), Bool::TRUE).map(Some),
        Sym::Lazy(lazy) => lazy.clone(),
        _ => return Ok(None),
    };
    Ok(match &*lazy {
        Lazy::Override(f, g) => {
            let (Some(f), Some(g)) = (pointwise(e, f, span)?, pointwise(e, g, span)?) else {
                return Ok(None);
            };
            let mut points = f.points;
            for (x, (p, y)) in g.points {
                let new = match points.get(&x) {
                    None => (p, y),
                    Some((q, z)) => (e.terms.or([p, *q]), e.ite(p, &y, &z.clone(), span)?),
                };
                points.insert(x, new);
            }
            let is_function = e.terms.and([f.is_function, g.is_function]);
            Some(Pointwise { points, is_function, def: e.terms.and([f.def, g.def]) })
        }
        Lazy::Boole(BinOp::Union, a, b) => {
            let (Some(a), Some(b)) = (pointwise(e, a, span)?, pointwise(e, b, span)?) else {
                return Ok(None);
            };
            let (mut points, mut agree) = (a.points, vec![a.is_function, b.is_function]);
            for (x, (p, y)) in b.points {
                add_point(e, &mut points, &mut agree, x, (p, y), span)?;
            }
            let is_function = e.terms.and(agree);
            Some(Pointwise { points, is_function, def: e.terms.and([a.def, b.def]) })
        }
        Lazy::Ext(items) => {
            let (mut points, mut agree) = (Points::new(), vec![]);
            for item in items {
                let Sym::Pair(pair) = item else { return Ok(None) };
                let Some(options) = attempt(e.options(&pair.0, span))? else { return Ok(None) };
                for (x, here) in options {
                    add_point(e, &mut points, &mut agree, x, (here, pair.1.clone()), span)?;
                }
            }
            Some(Pointwise { points, is_function: e.terms.and(agree), def: Bool::TRUE })
        }
        Lazy::If(cond, a, b) => {
            let (Some(a), Some(b)) = (pointwise(e, a, span)?, pointwise(e, b, span)?) else {
                return Ok(None);
            };
            let mut points = Points::new();
            let none = (Bool::FALSE, Sym::Absent);
            for x in a.points.keys().chain(b.points.keys()) {
                let ((p, y), (q, z)) = (a.points.get(x).unwrap_or(&none), b.points.get(x).unwrap_or(&none));
                let there = e.terms.ite(*cond, *p, *q);
                points.insert(x.clone(), (there, e.ite(*cond, y, z, span)?));
            }
            let is_function = e.terms.ite(*cond, a.is_function, b.is_function);
            Some(Pointwise { points, is_function, def: e.terms.ite(*cond, a.def, b.def) })
        }
        Lazy::Lambda(c) => {
            let Some(sweep) = attempt(e.sweep_locals(&c.env, c.locals, c.pred, true))? else {
                return Ok(None);
            };
            let (mut points, mut agree, mut defs) = (Points::new(), vec![], vec![sweep.complete]);
            for (env, t) in sweep.found {
                defs.push(t.def(&mut e.terms));
                if t.yes == Bool::FALSE {
                    continue;
                }
                let body = e.body(c, &env, span)?;
                defs.push(e.terms.or([!t.yes, body.def]));
                let x = e.tuple(c, &env, span)?;
                add_point(e, &mut points, &mut agree, x, (t.yes, body.sym), span)?;
            }
            let (is_function, def) = (e.terms.and(agree), e.terms.and(defs));
            Some(Pointwise { points, is_function, def })
        }
        Lazy::Product(a, b) => {
            let Sym::Lazy(b) = b else { return listed(e, s, span) };
            let Lazy::Ext(items) = &**b else { return listed(e, s, span) };
            let ([y], Some((rows, def))) = (items.as_slice(), attempt(e.rows(a, span))?) else {
                return listed(e, s, span);
            };
            let points = rows.iter().map(|(x, p)| (x.clone(), (*p, y.clone()))).collect();
            Some(Pointwise { points, is_function: Bool::TRUE, def })
        }
        Lazy::Restrict(op, f, set) => {
            let Some(mut f) = pointwise(e, f, span)? else { return Ok(None) };
            let mut defs = vec![f.def];
            for (x, (p, y)) in &mut f.points {
                let by_argument = matches!(op, BinOp::DomRestrict | BinOp::DomSubtract);
                let tested = if by_argument { &Sym::ground(x) } else { &*y };
                let Some(t) = attempt(e.has(tested, set, span))? else { return listed(e, s, span) };
                // A point that is not there has no value to be tested.
                let def = t.def(&mut e.terms);
                defs.push(if by_argument { def } else { e.terms.implies(*p, def) });
                let keeps = matches!(op, BinOp::DomRestrict | BinOp::RanRestrict);
                *p = e.terms.and([*p, if keeps { t.yes } else { t.no }]);
            }
            f.def = e.terms.and(defs);
            Some(f)
        }
        _ => return listed(e, s, span),
    })
}

fn listed<'m>(e: &mut Encoder<'m>, s: &Sym<'m>, span: Span) -> Res<Option<Pointwise<'m>>> {
    match attempt(e.rows(s, span))? {
        Some((rows, def)) => of_rows(e, &rows, def).map(Some),
        None => Ok(None),
    }
}

/// One more point. If there is one for this argument already, it has to agree.
fn add_point<'m>(
    e: &mut Encoder<'m>,
    points: &mut Points<'m>,
    agree: &mut Vec<Bool>,
    x: Value,
    (p, y): (Bool, Sym<'m>),
    span: Span,
) -> Res<()> {
    let new = match points.get(&x).cloned() {
        None => (p, y),
        Some((q, z)) => {
            let both = e.terms.and([p, q]);
            if both != Bool::FALSE {
                let same = e.eq(&y, &z, span)?;
                agree.push(e.terms.implies(both, same));
            }
            (e.terms.or([p, q]), e.ite(p, &y, &z, span)?)
        }
    };
    points.insert(x, new);
    Ok(())
}

fn of_rows<'m>(e: &mut Encoder<'m>, rows: &Rows, def: Bool) -> Res<Pointwise<'m>> {
    let mut groups: BTreeMap<Value, Options> = BTreeMap::new();
    for (v, p) in rows {
        if let Value::Pair(pair) = v
            && *p != Bool::FALSE
        {
            groups.entry(pair.0.clone()).or_default().entry(pair.1.clone()).or_default().push(*p);
        }
    }
    let (mut points, mut agree) = (Points::new(), vec![]);
    for (x, options) in groups {
        let ways: Vec<Bool> = options.values().flatten().copied().collect();
        agree.push(e.at_most_one(&ways));
        let there = e.terms.or(ways);
        points.insert(x, (there, e.pick(options)));
    }
    Ok(Pointwise { points, is_function: e.terms.and(agree), def })
}
