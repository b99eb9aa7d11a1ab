//! Sets as constructors over evaluated parts, and the four questions about them: is this an element
//! ([`has`]), what is related to this ([`images`]), what are the elements ([`expand`]), is it certainly
//! infinite. The four follow the definitions of the B-Book; that `has` and `expand` agree is a property test.
//!
//! A part with a fault has made the whole faulty before there is a symbolic set; only the predicates of
//! comprehensions and lambdas are still open.

use super::build::{
    Kind, as_pair, as_set, domain, join, keep, map_pairs, of_pairs, product, range, records, sequence,
    sequences, space, subsets,
};
use super::carrier::{carrier, interval, is_infinite};
use super::*;
use crate::model::{BinOp, Expr, ExprKind, Fun, Type};
use num_bigint::BigInt;
use std::ops::ControlFlow;

/// A part of the model, equal only to itself.
#[derive(Clone, Copy, Debug)]
pub struct Code<'m>(pub &'m Expr);

impl PartialEq for Code<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

/// `{x | P}`, `%x.(P | E)`, `{x . P | E}` with the values of what is free in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Closure<'m> {
    pub locals: &'m [LocalId],
    pub pred: Code<'m>,
    /// Absent in a plain comprehension.
    pub body: Option<Code<'m>>,
    pub captured: Env<'m>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Symbolic<'m> {
    /// All values of a type.
    All(Type),
    /// The integers between two bounds, or without one.
    Ints(Option<BigInt>, Option<BigInt>),
    Compr(Closure<'m>),
    Lambda(Closure<'m>),
    Map(Closure<'m>),
    /// POW, POW1, FIN, FIN1
    Pow(Fun, Item<'m>),
    /// seq, seq1, iseq, iseq1, perm
    Seq(Fun, Item<'m>),
    /// Relations and functions of some kind.
    Space(BinOp, Item<'m>, Item<'m>),
    Product(Item<'m>, Item<'m>),
    /// Union, intersection, difference
    Boole(BinOp, Item<'m>, Item<'m>),
    Struct(Vec<Item<'m>>),
    Id(Item<'m>),
    /// prj1, prj2
    Prj(Fun, Item<'m>, Item<'m>),
    /// x |-> x + n: succ and pred
    Shift(i8),
    Inverse(Item<'m>),
    /// The relation, then the set.
    Restrict(BinOp, Item<'m>, Item<'m>),
    Override(Item<'m>, Item<'m>),
    /// `r ; s`
    Compose(Item<'m>, Item<'m>),
    /// `r >< s`, `r || s`
    Direct(Item<'m>, Item<'m>),
    Parallel(Item<'m>, Item<'m>),
    Dom(Item<'m>),
    /// A function of which some points are known, while it is looked for.
    Partial(Partial),
}

/// A function as far as it is known. Nothing else is known of it: whoever asks for more finds it unassigned.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    pub known: Elements,
    /// Where it may be anything, or nothing.
    pub open: Elements,
}

impl Partial {
    fn is_known_at(&self, x: &Value, span: Span) -> Result<(), Fault> {
        if self.open.contains(x) { Err(wd(WdKind::Unassigned, span)) } else { Ok(()) }
    }

    fn has(&self, pair: &Value, span: Span) -> Result<bool, Fault> {
        self.is_known_at(as_pair(pair, span)?.0, span)?;
        Ok(self.known.contains(pair))
    }

    fn images(&self, cx: &Cx<'_>, x: &Value, span: Span) -> Result<Elements, Fault> {
        self.is_known_at(x, span)?;
        of_pairs(cx, &self.known, x, span)
    }
}

/// Whether the value is an element of the set that the expression denotes. The set is not expanded.
pub fn contains<'m>(cx: &Cx<'m>, env: &Env<'m>, value: &Value, set: &'m Expr) -> Result<bool, Fault> {
    has(cx, env, value, &item(cx, env, set)?, set.span)
}

/// The elements, unless that would be too many or infinitely many: then the set stays as it is.
pub(super) fn settle<'m>(cx: &Cx<'m>, env: &Env<'m>, item: Item<'m>, span: Span) -> Result<Item<'m>, Fault> {
    let Item::Symbolic(s) = &item else { return Ok(item) };
    match expand(cx, env, s, span) {
        Ok(elements) => Ok(Value::Set(elements).into()),
        Err(Fault::Limit(..)) => Ok(item),
        Err(fault) => Err(fault),
    }
}

/// A set that ranges over what can be listed, and yet could not be listed itself, has a fault inside of what it says of
/// its elements, or infinite sets as elements. The latter are values; the former says that nobody knows whether there
/// is such a set. `but` is the constant it defines: a recursive function is looked at where it is applied.
pub(super) fn visited<'m>(cx: &Cx<'m>, env: &Env<'m>, set: &Item<'m>, but: ConstId) -> Result<(), Fault> {
    let Item::Symbolic(s) = set else { return Ok(()) };
    let closure = match &**s {
        Symbolic::Compr(c) | Symbolic::Lambda(c) | Symbolic::Map(c) => c,
        Symbolic::Boole(_, a, b) | Symbolic::Product(a, b) | Symbolic::Space(_, a, b) => {
            visited(cx, env, a, but)?;
            return visited(cx, env, b, but);
        }
        Symbolic::Pow(_, a) | Symbolic::Seq(_, a) => return visited(cx, env, a, but),
        Symbolic::Struct(parts) => return parts.iter().try_for_each(|p| visited(cx, env, p, but)),
        _ => return Ok(()),
    };
    let itself = |e: &Expr| matches!(e.kind, ExprKind::Const(c) if c == but);
    let body = closure.body.map(|code| code.0);
    if closure.pred.0.any(&itself) || body.is_some_and(|e| e.any(&itself)) {
        return Ok(());
    }
    let slots: Vec<Slot> = closure.locals.iter().map(|l| Slot::Local(*l)).collect();
    let inside = env.reopen(&closure.captured);
    let Ok(solutions) = all(cx, &inside, &slots, &[closure.pred.0], Unbounded::Refuse) else { return Ok(()) };
    if let Some(fault) = solutions.faulty.into_iter().map(|(_, fault)| fault).reduce(worse) {
        return Err(fault);
    }
    match body {
        Some(body) if matches!(&**s, Symbolic::Lambda(_)) => {
            solutions.found.iter().try_for_each(|env| item(cx, env, body).map(|_| ()))
        }
        _ => Ok(()),
    }
}

/// The elements of a set.
pub(super) fn elements<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    item: &Item<'m>,
    span: Span,
) -> Result<Elements, Fault> {
    match item {
        Item::Value(Value::Set(s)) => Ok(s.clone()),
        Item::Value(_) => Err(ill_typed(span)),
        Item::Symbolic(s) => expand(cx, env, s, span),
    }
}

impl<'m> Closure<'m> {
    /// The environment in which the locals are the parts of the value.
    fn at(&self, env: &Env<'m>, value: &Value, span: Span) -> Result<Env<'m>, Fault> {
        let parts = untuple(value, self.locals.len()).ok_or_else(|| ill_typed(span))?;
        let env = env.reopen(&self.captured);
        Ok(self.locals.iter().zip(parts).fold(env, |env, (id, part)| env.with_local(*id, part)))
    }

    fn solutions(&self, cx: &Cx<'m>, env: &Env<'m>) -> Result<Vec<Env<'m>>, Fault> {
        exactly(cx, &env.reopen(&self.captured), self.locals, self.pred.0)
    }

    /// The values of the locals as one value.
    fn tuple(&self, env: &Env<'m>, span: Span) -> Result<Value, Fault> {
        let parts: Option<Vec<Value>> =
            self.locals.iter().map(|id| env.local(*id).and_then(Item::value).cloned()).collect();
        parts.and_then(tuple).ok_or_else(|| limit(span, "an infinite set as an element"))
    }

    fn body(&self, span: Span) -> Result<&'m Expr, Fault> {
        self.body.map(|code| code.0).ok_or_else(|| ill_typed(span))
    }
}

/// Whether the value is an element. Both parts of a union are looked at: a fault in one is a fault.
pub(super) fn has<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    v: &Value,
    set: &Item<'m>,
    span: Span,
) -> Result<bool, Fault> {
    let _nested = cx.enter(span)?;
    let set = match set {
        Item::Value(s) => return Ok(as_set(s, span)?.contains(v)),
        Item::Symbolic(s) => &**s,
    };
    let has = |v: &Value, set: &Item<'m>| has(cx, env, v, set, span);
    let pair = || as_pair(v, span);
    Ok(match set {
        Symbolic::All(_) => true,
        Symbolic::Ints(low, high) => match v {
            Value::Int(i) => low.as_ref().is_none_or(|l| l <= i) && high.as_ref().is_none_or(|h| i <= h),
            _ => return Err(ill_typed(span)),
        },
        Symbolic::Compr(c) => holds(cx, &c.at(env, v, span)?, c.pred.0)?,
        Symbolic::Lambda(c) => {
            let (x, y) = pair()?;
            let inner = c.at(env, x, span)?;
            holds(cx, &inner, c.pred.0)? && eval(cx, &inner, c.body(span)?)? == *y
        }
        Symbolic::Map(c) => map_has(cx, env, c, v, span)?,
        Symbolic::Pow(kind, s) => {
            let elements = as_set(v, span)?;
            all_in(cx, env, elements, s, span)?
                && !(matches!(kind, Fun::Pow1 | Fun::Fin1) && elements.is_empty())
        }
        Symbolic::Seq(kind, s) => {
            let Some(items) = sequence(as_set(v, span)?) else { return Ok(false) };
            let range: Elements = items.iter().cloned().collect();
            let injective = range.len() == items.len();
            all_in(cx, env, &range, s, span)?
                && match kind {
                    Fun::Seq => true,
                    Fun::Seq1 => !items.is_empty(),
                    Fun::Iseq => injective,
                    Fun::Iseq1 => injective && !items.is_empty(),
                    Fun::Perm => injective && covers(cx, env, s, &range, span)?,
                    _ => return Err(ill_typed(span)),
                }
        }
        Symbolic::Space(op, from, to) => is_in_space(cx, env, *op, as_set(v, span)?, from, to, span)?,
        Symbolic::Product(a, b) => {
            let (x, y) = pair()?;
            has(x, a)? & has(y, b)?
        }
        Symbolic::Boole(op, a, b) => {
            let (a, b) = (has(v, a)?, has(v, b)?);
            match op {
                BinOp::Union => a || b,
                BinOp::Inter => a && b,
                _ => a && !b,
            }
        }
        Symbolic::Struct(fields) => match v {
            Value::Rec(values) if values.len() == fields.len() => {
                let mut all = true;
                for (v, set) in values.iter().zip(fields) {
                    all &= has(v, set)?;
                }
                all
            }
            _ => return Err(ill_typed(span)),
        },
        Symbolic::Id(s) => {
            let (x, y) = pair()?;
            has(x, s)? && x == y
        }
        Symbolic::Prj(kind, a, b) => {
            let (xy, z) = pair()?;
            let (x, y) = as_pair(xy, span)?;
            (has(x, a)? & has(y, b)?) && z == if *kind == Fun::Prj1 { x } else { y }
        }
        Symbolic::Shift(n) => match pair()? {
            (Value::Int(x), Value::Int(y)) => x + *n == *y,
            _ => return Err(ill_typed(span)),
        },
        Symbolic::Inverse(r) => {
            let (x, y) = pair()?;
            has(&Value::pair(y.clone(), x.clone()), r)?
        }
        Symbolic::Restrict(op, r, s) => {
            let (x, y) = pair()?;
            let inside = match op {
                BinOp::DomRestrict => has(x, s)?,
                BinOp::DomSubtract => !has(x, s)?,
                BinOp::RanRestrict => has(y, s)?,
                _ => !has(y, s)?,
            };
            inside & has(v, r)?
        }
        Symbolic::Override(f, g) => {
            let (x, _) = pair()?;
            has(v, g)? || (!in_domain(cx, env, g, x, span)? && has(v, f)?)
        }
        Symbolic::Compose(r, s) => {
            let (x, z) = pair()?;
            let mut found = false;
            for y in images(cx, env, r, x, span)? {
                found |= has(&Value::pair(y, z.clone()), s)?;
            }
            found
        }
        Symbolic::Direct(r, s) => {
            let (x, yz) = pair()?;
            let (y, z) = as_pair(yz, span)?;
            has(&Value::pair(x.clone(), y.clone()), r)? & has(&Value::pair(x.clone(), z.clone()), s)?
        }
        Symbolic::Parallel(r, s) => {
            let (xy, mn) = pair()?;
            let ((x, y), (m, n)) = (as_pair(xy, span)?, as_pair(mn, span)?);
            has(&Value::pair(x.clone(), m.clone()), r)? & has(&Value::pair(y.clone(), n.clone()), s)?
        }
        Symbolic::Dom(r) => in_domain(cx, env, r, v, span)?,
        Symbolic::Partial(f) => return f.has(v, span),
    })
}

/// `v : {x . P | E}` is `#x.(P & E = v)`.
fn map_has<'m>(cx: &Cx<'m>, env: &Env<'m>, c: &Closure<'m>, v: &Value, span: Span) -> Result<bool, Fault> {
    let body = c.body(span)?;
    let slots: Vec<Slot> = c.locals.iter().map(|l| Slot::Local(*l)).collect();
    let mut found = Ok(false);
    let env = env.reopen(&c.captured);
    let _ = search(cx, &env, &slots, &[c.pred.0], true, Unbounded::Refuse, &mut |env, truth| {
        let here = match truth {
            Ok(true) => eval(cx, env, body).map(|w| w == *v),
            other => other,
        };
        match here {
            Ok(yes) => found = found.clone().map(|f| f || yes),
            Err(fault) => found = Err(fault),
        }
        if found.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    found
}

/// Every value is in the set; none is left out, so that a fault in one shows.
fn all_in<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    values: &Elements,
    set: &Item<'m>,
    span: Span,
) -> Result<bool, Fault> {
    let mut all = true;
    for v in values {
        all &= has(cx, env, v, set, span)?;
    }
    Ok(all)
}

/// Whether the values, all of them in the set, are all of the set.
fn covers<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    set: &Item<'m>,
    values: &Elements,
    span: Span,
) -> Result<bool, Fault> {
    Ok(!is_certainly_infinite(set) && elements(cx, env, set, span)? == *values)
}

fn is_in_space<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    op: BinOp,
    relation: &Elements,
    from: &Item<'m>,
    to: &Item<'m>,
    span: Span,
) -> Result<bool, Fault> {
    let (dom, ran) = (domain(relation, span)?, range(relation, span)?);
    let kind = Kind::of(op).ok_or_else(|| ill_typed(span))?;
    let inside = all_in(cx, env, &dom, from, span)? & all_in(cx, env, &ran, to, span)?;
    Ok(inside
        && (!kind.functional || dom.len() == relation.len())
        && (!kind.injective || ran.len() == relation.len())
        && (!kind.total || covers(cx, env, from, &dom, span)?)
        && (!kind.surjective || covers(cx, env, to, &ran, span)?))
}

fn in_domain<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    relation: &Item<'m>,
    x: &Value,
    span: Span,
) -> Result<bool, Fault> {
    if let Item::Symbolic(s) = relation
        && let Symbolic::Lambda(c) = &**s
    {
        return holds(cx, &c.at(env, x, span)?, c.pred.0);
    }
    Ok(!images(cx, env, relation, x, span)?.is_empty())
}

/// What the relation relates to `x`.
pub(super) fn images<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    relation: &Item<'m>,
    x: &Value,
    span: Span,
) -> Result<Elements, Fault> {
    let _nested = cx.enter(span)?;
    let symbolic = match relation {
        Item::Value(r) => return of_pairs(cx, as_set(r, span)?, x, span),
        Item::Symbolic(s) => &**s,
    };
    let images = |r: &Item<'m>, x: &Value| images(cx, env, r, x, span);
    let has = |v: &Value, set: &Item<'m>| has(cx, env, v, set, span);
    let only = |yes: bool, v: &Value| if yes { [v.clone()].into() } else { Elements::new() };
    Ok(match symbolic {
        Symbolic::Lambda(c) => {
            let inner = c.at(env, x, span)?;
            match holds(cx, &inner, c.pred.0)? {
                true => [eval(cx, &inner, c.body(span)?)?].into(),
                false => Elements::new(),
            }
        }
        Symbolic::Compr(c) if c.locals.len() > 1 => {
            let (known, last) = c.locals.split_at(c.locals.len() - 1);
            let part = Closure { locals: known, ..c.clone() };
            let inner = part.at(env, x, span)?;
            let found = exactly(cx, &inner, last, c.pred.0)?;
            let values = found.iter().map(|e| e.local(last[0]).and_then(Item::value).cloned());
            values
                .collect::<Option<Elements>>()
                .ok_or_else(|| limit(span, "an infinite set as an element"))?
        }
        Symbolic::Product(a, b) => {
            let targets = elements(cx, env, b, span);
            if has(x, a)? { targets? } else { Elements::new() }
        }
        Symbolic::Boole(op, a, b) => match op {
            BinOp::Union => &images(a, x)? | &images(b, x)?,
            BinOp::Inter => &images(a, x)? & &images(b, x)?,
            _ => &images(a, x)? - &images(b, x)?,
        },
        Symbolic::Id(s) => only(has(x, s)?, x),
        Symbolic::Prj(kind, a, b) => {
            let (first, second) = as_pair(x, span)?;
            let inside = has(first, a)? & has(second, b)?;
            only(inside, if *kind == Fun::Prj1 { first } else { second })
        }
        Symbolic::Shift(n) => match x {
            Value::Int(i) => [Value::Int(i + *n)].into(),
            _ => return Err(ill_typed(span)),
        },
        Symbolic::Restrict(op, r, s) => {
            let mut all = images(r, x)?;
            match op {
                BinOp::DomRestrict | BinOp::DomSubtract => {
                    if has(x, s)? != (*op == BinOp::DomRestrict) {
                        all.clear();
                    }
                    all
                }
                _ => keep(all, |y| Ok(has(y, s)? == (*op == BinOp::RanRestrict)))?,
            }
        }
        Symbolic::Partial(f) => return f.images(cx, x, span),
        Symbolic::Override(f, g) => {
            let new = images(g, x)?;
            if new.is_empty() { images(f, x)? } else { new }
        }
        Symbolic::Compose(r, s) => {
            let mut all = Elements::new();
            for y in images(r, x)? {
                all.extend(images(s, &y)?);
            }
            all
        }
        Symbolic::Direct(r, s) => product(cx, &images(r, x)?, &images(s, x)?, span)?,
        Symbolic::Parallel(r, s) => {
            let (first, second) = as_pair(x, span)?;
            product(cx, &images(r, first)?, &images(s, second)?, span)?
        }
        _ => of_pairs(cx, &expand(cx, env, symbolic, span)?, x, span)?,
    })
}

/// All elements; a limit if there are infinitely many or too many.
pub(super) fn expand<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    set: &Symbolic<'m>,
    span: Span,
) -> Result<Elements, Fault> {
    let _nested = cx.enter(span)?;
    let elements = |i: &Item<'m>| elements(cx, env, i, span);
    let settled = |i: &Item<'m>| settle(cx, env, i.clone(), span);
    let infinite = || limit(span, "an infinite set would have to be listed");
    Ok(match set {
        Symbolic::All(ty) if is_infinite(ty) => return Err(infinite()),
        Symbolic::All(ty) => carrier(cx, ty, span)?,
        Symbolic::Ints(Some(low), Some(high)) => interval(cx, low, high, span)?,
        Symbolic::Ints(..) | Symbolic::Shift(_) => return Err(infinite()),
        Symbolic::Compr(c) => {
            let found = c.solutions(cx, env)?;
            found.iter().map(|e| c.tuple(e, span)).collect::<Result<_, _>>()?
        }
        Symbolic::Lambda(c) => {
            let mut pairs = Elements::new();
            for e in c.solutions(cx, env)? {
                pairs.insert(Value::pair(c.tuple(&e, span)?, eval(cx, &e, c.body(span)?)?));
            }
            pairs
        }
        Symbolic::Map(c) => {
            let mut values = Elements::new();
            for e in c.solutions(cx, env)? {
                values.insert(eval(cx, &e, c.body(span)?)?);
            }
            values
        }
        Symbolic::Pow(kind, s) => {
            let mut all = subsets(cx, &elements(s)?, span)?;
            if matches!(kind, Fun::Pow1 | Fun::Fin1) {
                all.remove(&Value::Set(Elements::new()));
            }
            all
        }
        Symbolic::Seq(kind, s) => sequences(cx, *kind, &elements(s)?, None, span)?,
        Symbolic::Space(op, from, to) => {
            let (from, to) = (elements(from)?, elements(to)?);
            let kind = Kind::of(*op).ok_or_else(|| ill_typed(span))?;
            space(cx, &kind, &from, &to, span)?
        }
        Symbolic::Product(a, b) => match (elements(a), elements(b)) {
            // The empty set times anything is empty, also if the other is infinite.
            (Ok(e), Err(Fault::Limit(..))) | (Err(Fault::Limit(..)), Ok(e)) if e.is_empty() => e,
            (a, b) => product(cx, &a?, &b?, span)?,
        },
        Symbolic::Boole(BinOp::Union, a, b) => &elements(a)? | &elements(b)?,
        Symbolic::Boole(BinOp::Inter, a, b) => match (settled(a)?, settled(b)?) {
            (Item::Value(Value::Set(a)), b) => keep(a, |v| has(cx, env, v, &b, span))?,
            (a, Item::Value(Value::Set(b))) => keep(b, |v| has(cx, env, v, &a, span))?,
            _ => return Err(infinite()),
        },
        Symbolic::Boole(_, a, b) => {
            let b = settled(b)?;
            keep(elements(a)?, |v| Ok(!has(cx, env, v, &b, span)?))?
        }
        Symbolic::Struct(fields) => {
            let fields: Result<Vec<_>, _> = fields.iter().map(elements).collect();
            records(cx, &fields?, span)?
        }
        Symbolic::Id(s) => elements(s)?.into_iter().map(|x| Value::pair(x.clone(), x)).collect(),
        Symbolic::Prj(kind, a, b) => {
            let mut pairs = Elements::new();
            for xy in product(cx, &elements(a)?, &elements(b)?, span)? {
                let (x, y) = as_pair(&xy, span)?;
                let z = if *kind == Fun::Prj1 { x.clone() } else { y.clone() };
                pairs.insert(Value::pair(xy, z));
            }
            pairs
        }
        Symbolic::Inverse(r) => map_pairs(&elements(r)?, span, |x, y| Value::pair(y.clone(), x.clone()))?,
        Symbolic::Restrict(op, r, s) => {
            let s = settled(s)?;
            // `S <| r` with an infinite r and a finite S has the images of S's elements.
            let relation = match (settled(r)?, &s) {
                (Item::Value(Value::Set(r)), _) => r,
                (r, Item::Value(Value::Set(s))) if *op == BinOp::DomRestrict => {
                    graph_over(cx, env, &r, s, span)?
                }
                _ => return Err(infinite()),
            };
            keep(relation, |p| {
                let (x, y) = as_pair(p, span)?;
                match op {
                    BinOp::DomRestrict => has(cx, env, x, &s, span),
                    BinOp::DomSubtract => Ok(!has(cx, env, x, &s, span)?),
                    BinOp::RanRestrict => has(cx, env, y, &s, span),
                    _ => Ok(!has(cx, env, y, &s, span)?),
                }
            })?
        }
        Symbolic::Override(f, g) => {
            let (f, g) = (elements(f)?, elements(g)?);
            let new = domain(&g, span)?;
            let mut all = keep(f, |p| Ok(!new.contains(as_pair(p, span)?.0)))?;
            all.extend(g);
            all
        }
        Symbolic::Compose(r, s) => {
            let s = settled(s)?;
            let mut pairs = Elements::new();
            for p in elements(r)? {
                let (x, y) = as_pair(&p, span)?;
                for z in images(cx, env, &s, y, span)? {
                    pairs.insert(Value::pair(x.clone(), z));
                }
            }
            pairs
        }
        Symbolic::Direct(r, s) => {
            let (r, s) = (elements(r)?, elements(s)?);
            join(cx, &r, &s, span, |(x, y), (x2, z)| {
                (x == x2).then(|| Value::pair(x.clone(), Value::pair(y.clone(), z.clone())))
            })?
        }
        Symbolic::Parallel(r, s) => {
            let (r, s) = (elements(r)?, elements(s)?);
            join(cx, &r, &s, span, |(x, m), (y, n)| {
                let (xy, mn) = (Value::pair(x.clone(), y.clone()), Value::pair(m.clone(), n.clone()));
                Some(Value::pair(xy, mn))
            })?
        }
        Symbolic::Dom(r) => domain(&elements(r)?, span)?,
        // Not even if nothing is open: it is whole when it is a value.
        Symbolic::Partial(_) => return Err(wd(WdKind::Unassigned, span)),
    })
}

/// The pairs of a relation whose first part is one of these.
pub(super) fn graph_over<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    relation: &Item<'m>,
    over: &Elements,
    span: Span,
) -> Result<Elements, Fault> {
    let mut pairs = Elements::new();
    for x in over {
        for y in images(cx, env, relation, x, span)? {
            pairs.insert(Value::pair(x.clone(), y));
        }
    }
    Ok(pairs)
}

/// Infinite for sure; `false` says nothing.
pub(super) fn is_certainly_infinite(item: &Item<'_>) -> bool {
    let Item::Symbolic(s) = item else { return false };
    let inf = |i: &Item<'_>| is_certainly_infinite(i);
    let some = |i: &Item<'_>| match i {
        Item::Value(Value::Set(s)) => !s.is_empty(),
        other => is_certainly_infinite(other),
    };
    match &**s {
        Symbolic::All(ty) => is_infinite(ty),
        Symbolic::Ints(low, high) => low.is_none() || high.is_none(),
        Symbolic::Shift(_) => true,
        Symbolic::Pow(_, s) | Symbolic::Id(s) => inf(s),
        Symbolic::Seq(Fun::Seq | Fun::Seq1, s) => some(s),
        Symbolic::Seq(Fun::Iseq | Fun::Iseq1, s) => inf(s),
        Symbolic::Space(BinOp::Rel | BinOp::PartialFun | BinOp::PartialInj, a, b) => {
            inf(a) && some(b) || some(a) && inf(b)
        }
        Symbolic::Space(BinOp::TotalFun | BinOp::TotalRel, a, b) => some(a) && inf(b),
        Symbolic::Product(a, b) | Symbolic::Prj(_, a, b) => inf(a) && some(b) || some(a) && inf(b),
        Symbolic::Boole(BinOp::Union, a, b) => inf(a) || inf(b),
        Symbolic::Boole(BinOp::Diff, a, Item::Value(_)) => inf(a),
        Symbolic::Struct(fields) => fields.iter().any(inf) && fields.iter().all(some),
        Symbolic::Inverse(r) => inf(r),
        _ => false,
    }
}

/// Equality of settled items: a set that is still symbolic is infinite or too large.
pub(super) fn equal<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    a: &Item<'m>,
    b: &Item<'m>,
    span: Span,
) -> Result<bool, Fault> {
    match (a, b) {
        (Item::Value(a), Item::Value(b)) => Ok(a == b),
        (Item::Symbolic(x), Item::Symbolic(y)) => match (&**x, &**y) {
            _ if x == y => Ok(true),
            (Symbolic::Ints(..), Symbolic::Ints(..)) => {
                Ok(included(cx, env, a, b, span)? && included(cx, env, b, a, span)?)
            }
            _ => Err(limit(span, "comparison of infinite sets")),
        },
        (Item::Value(_), infinite) | (infinite, Item::Value(_)) if is_certainly_infinite(infinite) => {
            Ok(false)
        }
        _ => Err(limit(span, "comparison with a set that cannot be listed")),
    }
}

/// Inclusion; the left side is settled.
pub(super) fn included<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    a: &Item<'m>,
    b: &Item<'m>,
    span: Span,
) -> Result<bool, Fault> {
    let a = match a {
        Item::Value(v) => return all_in(cx, env, as_set(v, span)?, b, span),
        Item::Symbolic(a) => a,
    };
    match (&**a, b) {
        (_, Item::Value(_)) if is_certainly_infinite(&Item::Symbolic(a.clone())) => Ok(false),
        (_, Item::Symbolic(b)) if a == b => Ok(true),
        (Symbolic::Ints(low, high), Item::Symbolic(b)) => match &**b {
            // Not settled, so not empty: its bounds are elements, or there is none.
            Symbolic::Ints(low2, high2) => Ok((low2.is_none() || low.is_some() && low >= low2)
                && (high2.is_none() || high.is_some() && high <= high2)),
            Symbolic::All(_) => Ok(true),
            _ => Err(limit(span, "inclusion of an infinite set")),
        },
        (_, Item::Symbolic(b)) if matches!(&**b, Symbolic::All(_)) => Ok(true),
        _ => Err(limit(span, "inclusion of an infinite set")),
    }
}

/// Whether a set that cannot be listed is an element of another.
pub(super) fn member<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    a: &Arc<Symbolic<'m>>,
    set: &Item<'m>,
    span: Span,
) -> Result<bool, Fault> {
    let item = Item::Symbolic(a.clone());
    let Item::Symbolic(set) = set else {
        // The elements of a listed set are finite.
        return if is_certainly_infinite(&item) {
            Ok(false)
        } else {
            Err(limit(span, "an infinite element"))
        };
    };
    match (&**a, &**set) {
        (_, Symbolic::All(_)) => Ok(true),
        (_, Symbolic::Pow(Fun::Fin | Fun::Fin1, _)) if is_certainly_infinite(&item) => Ok(false),
        (_, Symbolic::Pow(Fun::Pow | Fun::Pow1, s)) => included(cx, env, &item, s, span),
        (Symbolic::Lambda(c), Symbolic::Space(op, from, to)) => {
            let kind = Kind::of(*op).ok_or_else(|| ill_typed(span))?;
            if kind.injective || kind.surjective {
                return Err(limit(span, "injectivity or surjectivity of an infinite function"));
            }
            lambda_in_space(cx, env, c, &kind, from, to, span)
        }
        _ => Err(limit(span, "membership of an infinite set")),
    }
}

/// `%x.(P | E) : A --> B` is `!x.(P => x : A & E : B)` and `!x.(x : A => P)`.
fn lambda_in_space<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    c: &Closure<'m>,
    kind: &Kind,
    from: &Item<'m>,
    to: &Item<'m>,
    span: Span,
) -> Result<bool, Fault> {
    let body = c.body(span)?;
    let slots: Vec<Slot> = c.locals.iter().map(|l| Slot::Local(*l)).collect();
    let outer = env.reopen(&c.captured);
    let mut answer = Ok(true);
    let _ = search(cx, &outer, &slots, &[c.pred.0], true, Unbounded::Truncate, &mut |inner, truth| {
        answer = truth.and_then(|applies| {
            if !applies {
                return Ok(true);
            }
            let x = c.tuple(inner, span)?;
            Ok(has(cx, env, &x, from, span)? & has(cx, env, &eval(cx, inner, body)?, to, span)?)
        });
        if answer == Ok(true) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    if answer == Ok(true) && kind.total {
        let _ = search(cx, &outer, &slots, &[], true, Unbounded::Truncate, &mut |inner, _| {
            answer = c
                .tuple(inner, span)
                .and_then(|x| Ok(!has(cx, env, &x, from, span)? || holds(cx, inner, c.pred.0)?));
            if answer == Ok(true) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    answer
}
