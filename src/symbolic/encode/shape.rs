//! Unknowns: how a value of a type is made of variables, and what a predicate lets it be.

use super::set::is_infinite;
use super::sweep::{Fact, attempt, collect, is_bound, is_slot, sides};
use super::{Encoder, Env, Lazy, Slot, Sym, Val, ill_typed};
use crate::lang::diag::Span;
use crate::model::{BinOp, Expr, ExprKind, Fun, Type};
use crate::symbolic::{Res, unlisted};
use crate::value::Value;
use kanon_solver::term::{Bool, Bounds, Var};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a value can be, at most.
#[derive(Clone, Debug, PartialEq)]
pub enum Hull {
    /// One of these; not a pair, record or set.
    Values(BTreeSet<Value>),
    /// An integer between bounds.
    Ints(Option<BigInt>, Option<BigInt>),
    Bool,
    Pair(Box<Hull>, Box<Hull>),
    Rec(Vec<Hull>),
    /// A set of some of these.
    Subset(BTreeSet<Value>),
    /// A function: some of these arguments, or all of them if it is total, each with a value in the hull.
    Fun(BTreeSet<Value>, Box<Hull>, Total),
}

/// Whether a function has a value for each of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total(bool);

impl Total {
    pub fn is_total(self) -> bool {
        self.0
    }
}

/// An unknown by its variables.
#[derive(Clone, Debug)]
pub struct Shape<'m> {
    /// The value over the variables.
    pub sym: Sym<'m>,
    pub vars: Vec<Var>,
    /// What the variables have to satisfy to be a value at all.
    pub is_value: Bool,
}

/// A shape, and the hull that it was made of, if an equation did not determine the value.
pub(in crate::symbolic) type Shaped<'m> = (Option<Hull>, Shape<'m>);

/// An integer with at most so many values is a list of options, otherwise a term.
const MAX_ONE: usize = 64;

impl Hull {
    /// In both.
    fn meet(self, other: Hull) -> Hull {
        match (self, other) {
            (Hull::Values(a), Hull::Values(b)) => Hull::Values(a.intersection(&b).cloned().collect()),
            (Hull::Subset(a), Hull::Subset(b)) => Hull::Subset(a.intersection(&b).cloned().collect()),
            (Hull::Ints(a, b), Hull::Ints(c, d)) => {
                let low = a.max(c);
                let high = match (b, d) {
                    (Some(b), Some(d)) => Some(b.min(d)),
                    (b, d) => b.or(d),
                };
                Hull::Ints(low, high)
            }
            (Hull::Values(v), Hull::Ints(low, high)) | (Hull::Ints(low, high), Hull::Values(v)) => {
                let inside = |v: &Value| match v {
                    Value::Int(i) => {
                        low.as_ref().is_none_or(|l| l <= i) && high.as_ref().is_none_or(|h| i <= h)
                    }
                    _ => true,
                };
                Hull::Values(v.into_iter().filter(inside).collect())
            }
            (Hull::Pair(a, b), Hull::Pair(c, d)) => Hull::Pair(Box::new(a.meet(*c)), Box::new(b.meet(*d))),
            (Hull::Rec(a), Hull::Rec(b)) => Hull::Rec(a.into_iter().zip(b).map(|(a, b)| a.meet(b)).collect()),
            (Hull::Fun(a, h, t), Hull::Fun(b, k, u)) => {
                // One that is total on the arguments of the one has all of them also if they are among the other's; if
                // they are not, there is none.
                let total = Total(t.0 || u.0);
                Hull::Fun(a.intersection(&b).cloned().collect(), Box::new(h.meet(*k)), total)
            }
            (Hull::Fun(..), other @ Hull::Subset(_)) => other,
            (a, _) => a,
        }
    }

    /// In one of the two.
    fn join(self, other: Hull) -> Option<Hull> {
        Some(match (self, other) {
            (Hull::Values(a), Hull::Values(b)) => Hull::Values(&a | &b),
            (Hull::Subset(a), Hull::Subset(b)) => Hull::Subset(&a | &b),
            (Hull::Ints(a, b), Hull::Ints(c, d)) => {
                let low = if a.is_none() || c.is_none() { None } else { a.min(c) };
                let high = if b.is_none() || d.is_none() { None } else { b.max(d) };
                Hull::Ints(low, high)
            }
            (Hull::Values(v), Hull::Ints(..)) | (Hull::Ints(..), Hull::Values(v)) if v.is_empty() => {
                return None;
            }
            (Hull::Bool, Hull::Bool) => Hull::Bool,
            (Hull::Pair(a, b), Hull::Pair(c, d)) => Hull::Pair(Box::new(a.join(*c)?), Box::new(b.join(*d)?)),
            (Hull::Rec(a), Hull::Rec(b)) => {
                Hull::Rec(a.into_iter().zip(b).map(|(a, b)| a.join(b)).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}

/// What some plain values have in common.
fn around(values: &BTreeSet<Value>) -> Option<Hull> {
    let first = values.first()?;
    let parts =
        |f: &dyn Fn(&Value) -> Option<Value>| -> Option<BTreeSet<Value>> { values.iter().map(f).collect() };
    Some(match first {
        Value::Bool(_) => Hull::Bool,
        Value::Real(_) | Value::Free(..) => return None,
        Value::Int(_) | Value::Str(_) | Value::Elem(..) => Hull::Values(values.clone()),
        Value::Pair(_) => {
            let part = |second: bool| {
                parts(&|v| match v {
                    Value::Pair(p) => Some(if second { p.1.clone() } else { p.0.clone() }),
                    _ => None,
                })
            };
            Hull::Pair(Box::new(around(&part(false)?)?), Box::new(around(&part(true)?)?))
        }
        Value::Rec(fields) => {
            let mut all = vec![];
            for i in 0..fields.len() {
                let part = parts(&|v| match v {
                    Value::Rec(fields) => fields.get(i).cloned(),
                    _ => None,
                })?;
                all.push(around(&part)?);
            }
            Hull::Rec(all)
        }
        Value::Set(_) => Hull::Subset(
            values
                .iter()
                .flat_map(|v| match v {
                    Value::Set(s) => s.iter().cloned().collect::<Vec<_>>(),
                    _ => vec![],
                })
                .collect(),
        ),
    })
}

impl<'m> Encoder<'m> {
    /// What an element of the set can be.
    pub(in crate::symbolic) fn hull_of_elements(
        &mut self,
        set: &Sym<'m>,
        elem: &Type,
        span: Span,
    ) -> Res<Option<Hull>> {
        let lazy = match set {
            Sym::Set(rows) => return Ok(self.around_rows(rows.keys().cloned().collect(), elem)),
            Sym::Lazy(lazy) => lazy.clone(),
            _ => return Ok(None),
        };
        Ok(match &*lazy {
            Lazy::All(ty) => self.hull_of_type(ty, span)?,
            Lazy::Ints(low, high) => {
                let low = low.as_ref().and_then(|l| self.range_of(l).0);
                let high = high.as_ref().and_then(|h| self.range_of(h).1);
                Some(Hull::Ints(low, high))
            }
            Lazy::Product(a, b) => {
                let Some((s, t)) = elem.as_pair() else { return Ok(None) };
                match (self.hull_of_elements(a, s, span)?, self.hull_of_elements(b, t, span)?) {
                    (Some(a), Some(b)) => Some(Hull::Pair(Box::new(a), Box::new(b))),
                    _ => None,
                }
            }
            Lazy::Struct(sets) => {
                let Type::Rec(fields) = elem else { return Ok(None) };
                let mut all = vec![];
                for (s, (_, t)) in sets.iter().zip(fields.iter()) {
                    match self.hull_of_elements(s, t, span)? {
                        Some(h) => all.push(h),
                        None => return Ok(None),
                    }
                }
                Some(Hull::Rec(all))
            }
            Lazy::Pow(_, s) => {
                let Some(t) = elem.elem() else { return Ok(None) };
                match self.hull_of_elements(s, t, span)? {
                    Some(h) => attempt(self.values_in(&h, span))?.map(Hull::Subset),
                    None => None,
                }
            }
            Lazy::Space(op, a, b) => {
                let Some((s, t)) = elem.as_rel() else { return Ok(None) };
                let listed = |s: &Sym<'m>| match s {
                    Sym::Set(rows) => Some(rows.keys().cloned().collect::<BTreeSet<_>>()),
                    _ => None,
                };
                // What is listed is not to be blurred, as sets and pairs are in their hulls.
                let (xs, ys) = (listed(a), listed(b));
                let is_exact = self.is_exact(a);
                match (self.hull_of_elements(a, s, span)?, self.hull_of_elements(b, t, span)?) {
                    (Some(a), Some(b)) => {
                        let xs = match xs {
                            Some(xs) => xs,
                            None => match attempt(self.values_in(&a, span))? {
                                Some(xs) => xs,
                                None => return Ok(None),
                            },
                        };
                        let kind = super::set::Kind::of(*op);
                        let functional = kind.as_ref().is_some_and(|k| k.functional);
                        // Where no value may be had twice, rows say so shorter.
                        let has_columns = kind.as_ref().is_some_and(|k| k.injective) && is_few(&b);
                        if functional && kind.is_some_and(|k| k.total) && is_exact && !has_columns {
                            return Ok(Some(Hull::Fun(xs, Box::new(b), Total(true))));
                        }
                        if functional && !is_few(&b) {
                            return Ok(Some(Hull::Fun(xs, Box::new(b), Total(false))));
                        }
                        let ys = match ys {
                            Some(ys) => ys,
                            None => match attempt(self.values_in(&b, span))? {
                                Some(ys) => ys,
                                None => return Ok(None),
                            },
                        };
                        if attempt(self.within(xs.len().saturating_mul(ys.len()), span))?.is_none() {
                            return Ok(None);
                        }
                        let pairs =
                            xs.iter().flat_map(|x| ys.iter().map(|y| Value::pair(x.clone(), y.clone())));
                        Some(Hull::Subset(pairs.collect()))
                    }
                    _ => None,
                }
            }
            Lazy::Seq(Fun::Iseq | Fun::Iseq1 | Fun::Perm, s) => {
                let Some((_, t)) = elem.as_rel() else { return Ok(None) };
                let Some(h) = self.hull_of_elements(s, t, span)? else { return Ok(None) };
                let Some(values) = attempt(self.values_in(&h, span))? else { return Ok(None) };
                self.sequences_up_to(values.len(), &values, span)?
            }
            Lazy::Boole(BinOp::Union, a, b) => {
                match (self.hull_of_elements(a, elem, span)?, self.hull_of_elements(b, elem, span)?) {
                    (Some(a), Some(b)) => a.join(b),
                    _ => None,
                }
            }
            Lazy::Boole(BinOp::Inter, a, b) => {
                match (self.hull_of_elements(a, elem, span)?, self.hull_of_elements(b, elem, span)?) {
                    (Some(a), Some(b)) => Some(a.meet(b)),
                    (a, b) => a.or(b),
                }
            }
            Lazy::Boole(_, a, _) => self.hull_of_elements(a, elem, span)?,
            Lazy::Compr(c) => {
                let mut facts = vec![];
                collect(c.pred, true, &mut facts);
                let mut hulls = vec![];
                let mut env = c.env.clone();
                for id in c.locals {
                    env = env.with_local(*id, Val::none());
                }
                for id in c.locals {
                    match self.hull_of_slot(&env, Slot::Local(*id), &facts, span)? {
                        Some(h) => hulls.push(h),
                        None => return Ok(None),
                    }
                }
                hulls.into_iter().reduce(|a, b| Hull::Pair(Box::new(a), Box::new(b)))
            }
            _ => match attempt(self.rows(set, span))? {
                // It has no value, or not yet.
                Some((_, Bool::FALSE)) => None,
                Some((_, def)) if self.only_total_hulls && def != Bool::TRUE => {
                    self.hull_of_type(elem, span)?
                }
                Some((rows, def)) => {
                    self.has_partial_hulls |= def != Bool::TRUE;
                    self.around_rows(rows.keys().cloned().collect(), elem)
                }
                None => self.hull_of_type(elem, span)?,
            },
        })
    }

    /// Whether the set is what its hull says, whatever the unknowns are.
    fn is_exact(&mut self, set: &Sym<'m>) -> bool {
        match set {
            Sym::Set(rows) => rows.values().all(|is_in| *is_in == Bool::TRUE),
            Sym::Lazy(lazy) => match &**lazy {
                Lazy::All(_) => true,
                Lazy::Ints(Some(low), Some(high)) => [low, high].into_iter().all(|end| {
                    let (least, most) = self.range_of(end);
                    least.is_some() && least == most
                }),
                Lazy::Product(a, b) => self.is_exact(a) && self.is_exact(b),
                _ => false,
            },
            _ => false,
        }
    }

    fn around_rows(&mut self, values: BTreeSet<Value>, ty: &Type) -> Option<Hull> {
        if values.is_empty() {
            // Nothing is in it, so anything may be said of what is.
            return match ty {
                Type::Pow(_) => Some(Hull::Subset(values)),
                Type::Int | Type::Str | Type::Given(_) => Some(Hull::Values(values)),
                _ => None,
            };
        }
        around(&values)
    }

    fn sequences_up_to(&mut self, n: usize, values: &BTreeSet<Value>, span: Span) -> Res<Option<Hull>> {
        if attempt(self.within(n.saturating_mul(values.len()), span))?.is_none() {
            return Ok(None);
        }
        let pairs = (1..=n).flat_map(|i| values.iter().map(move |v| Value::pair(Value::int(i), v.clone())));
        Ok(Some(Hull::Subset(pairs.collect())))
    }

    fn hull_of_type(&mut self, ty: &Type, span: Span) -> Res<Option<Hull>> {
        Ok(Some(match ty {
            Type::Int => Hull::Ints(None, None),
            Type::Bool => Hull::Bool,
            Type::Str | Type::Pred | Type::Real | Type::Free(_) | Type::Again(_) => return Ok(None),
            Type::Given(_) => Hull::Values(self.carrier(ty, span)?.into_iter().collect()),
            Type::Pair(p) => match (self.hull_of_type(&p.0, span)?, self.hull_of_type(&p.1, span)?) {
                (Some(a), Some(b)) => Hull::Pair(Box::new(a), Box::new(b)),
                _ => return Ok(None),
            },
            Type::Rec(fields) => {
                let mut all = vec![];
                for (_, t) in fields.iter() {
                    match self.hull_of_type(t, span)? {
                        Some(h) => all.push(h),
                        None => return Ok(None),
                    }
                }
                Hull::Rec(all)
            }
            Type::Pow(t) if is_infinite(t) => return Ok(None),
            Type::Pow(t) => {
                // Asked for each unknown as often as another has got its shape.
                if let Some(known) = self.carriers.get(&**t) {
                    let known = known.clone();
                    self.within(known.len(), span)?;
                    return Ok(Some(Hull::Subset(known)));
                }
                match attempt(self.carrier(t, span))? {
                    Some(all) => {
                        let all: BTreeSet<Value> = all.into_iter().collect();
                        self.carriers.insert((**t).clone(), all.clone());
                        Hull::Subset(all)
                    }
                    None => return Ok(None),
                }
            }
        }))
    }

    /// All values in a hull.
    fn values_in(&mut self, hull: &Hull, span: Span) -> Res<BTreeSet<Value>> {
        Ok(match hull {
            Hull::Values(v) => v.clone(),
            Hull::Bool => [Value::Bool(false), Value::Bool(true)].into(),
            Hull::Ints(Some(low), Some(high)) => {
                let n = high - low + BigInt::one();
                let n = if n <= BigInt::ZERO { 0 } else { n.to_usize().unwrap_or(usize::MAX) };
                self.within(n, span)?;
                (0..n).map(|i| Value::Int(low + i)).collect()
            }
            Hull::Ints(..) => return unlisted(span, "nothing bounds an integer"),
            Hull::Pair(a, b) => {
                let (a, b) = (self.values_in(a, span)?, self.values_in(b, span)?);
                self.within(a.len().saturating_mul(b.len()), span)?;
                a.iter().flat_map(|x| b.iter().map(|y| Value::pair(x.clone(), y.clone()))).collect()
            }
            Hull::Rec(fields) => {
                let mut all = vec![vec![]];
                for f in fields {
                    let part = self.values_in(f, span)?;
                    self.within(all.len().saturating_mul(part.len()), span)?;
                    let longer = all.iter().flat_map(|r: &Vec<Value>| {
                        part.iter().map(|v| r.iter().cloned().chain([v.clone()]).collect::<Vec<_>>())
                    });
                    all = longer.collect();
                }
                all.into_iter().map(Value::Rec).collect()
            }
            Hull::Fun(..) => return unlisted(span, "a set of too many functions would have to be listed"),
            Hull::Subset(of) => {
                if of.len() > 12 {
                    return unlisted(span, "a set of too many subsets would have to be listed");
                }
                let mut all = vec![BTreeSet::new()];
                for v in of {
                    for i in 0..all.len() {
                        let mut with = all[i].clone();
                        with.insert(v.clone());
                        all.push(with);
                    }
                }
                self.within(all.len(), span)?;
                all.into_iter().map(Value::Set).collect()
            }
        })
    }

    /// What the facts, all of them true, leave for the slot; `None` if they do not bound what has to be bounded.
    fn hull_of_slot(
        &mut self,
        env: &Env<'m>,
        slot: Slot,
        facts: &[Fact<'m>],
        span: Span,
    ) -> Res<Option<Hull>> {
        let ty = self.slot_type(slot);
        let mut hull = None;
        for &(fact, truth) in facts {
            for (op, pattern, other) in sides(fact, truth) {
                let whole = is_slot(pattern, slot);
                if !whole && !is_part(pattern, slot) {
                    continue;
                }
                let Some(Some(h)) = attempt(self.hull_of_fact(env, op, slot, pattern, other))? else {
                    continue;
                };
                hull = Some(match hull {
                    None => h,
                    Some(so_far) => h.meet(so_far),
                });
            }
        }
        // The type says nothing about elements that are listed already, and may be long to list.
        let hull = match hull {
            Some(Hull::Subset(of)) => Some(Hull::Subset(of)),
            hull => match (hull, self.hull_of_type(ty, span)?) {
                (Some(a), Some(b)) => Some(a.meet(b)),
                (a, b) => a.or(b),
            },
        };
        if hull.is_some() {
            return Ok(hull);
        }
        self.hull_of_sequence(env, slot, facts, span)
    }

    /// What a fact leaves for the slot. Where the other side has no value only because an unknown of it has none yet (it
    /// may be the slot itself), that it has no value says nothing: then only what always has one bounds the slot.
    fn hull_of_fact(
        &mut self,
        env: &Env<'m>,
        op: BinOp,
        slot: Slot,
        pattern: &'m Expr,
        other: &'m Expr,
    ) -> Res<Option<Hull>> {
        let before = self.only_total_hulls;
        self.only_total_hulls |= env.names_open(other);
        let hull = self.hull_of_side(env, op, slot, pattern, other);
        self.only_total_hulls = before;
        hull
    }

    fn hull_of_side(
        &mut self,
        env: &Env<'m>,
        op: BinOp,
        slot: Slot,
        pattern: &'m Expr,
        other: &'m Expr,
    ) -> Res<Option<Hull>> {
        let span = other.span;
        if !is_bound(op) {
            return Ok(None);
        }
        let item = self.item(env, other)?;
        if item.is_none() || self.only_total_hulls && item.def != Bool::TRUE {
            return Ok(None);
        }
        self.has_partial_hulls |= item.def != Bool::TRUE;
        let number = |h: Range| Some(Hull::Ints(h.0, h.1));
        type Range = (Option<BigInt>, Option<BigInt>);
        let hull = match op {
            BinOp::In => self.hull_of_elements(&item.sym, &pattern.ty, span)?,
            BinOp::Subset | BinOp::StrictSubset => {
                let powers: Sym<'m> = Lazy::Pow(Fun::Pow, item.sym).into();
                self.hull_of_elements(&powers, &pattern.ty, span)?
            }
            BinOp::Eq => self.hull_of_value(&item.sym, span)?,
            BinOp::Lt | BinOp::Le => number((None, self.range_of(&item.sym).1)),
            _ => number((self.range_of(&item.sym).0, None)),
        };
        Ok(hull.and_then(|h| part_of(pattern, slot, h)))
    }

    /// What an encoded value can be.
    fn hull_of_value(&mut self, s: &Sym<'m>, span: Span) -> Res<Option<Hull>> {
        Ok(match s {
            Sym::Absent => None,
            Sym::Bool(_) => Some(Hull::Bool),
            Sym::One(options) => Some(Hull::Values(options.iter().map(|(v, _)| v.clone()).collect())),
            Sym::Int(i) => {
                let (low, high) = self.range(*i);
                Some(Hull::Ints(low, high))
            }
            Sym::Pair(p) => match (self.hull_of_value(&p.0, span)?, self.hull_of_value(&p.1, span)?) {
                (Some(a), Some(b)) => Some(Hull::Pair(Box::new(a), Box::new(b))),
                _ => None,
            },
            Sym::Rec(fields) => {
                let mut all = vec![];
                for f in fields.iter() {
                    match self.hull_of_value(f, span)? {
                        Some(h) => all.push(h),
                        None => return Ok(None),
                    }
                }
                Some(Hull::Rec(all))
            }
            Sym::Set(rows) => Some(Hull::Subset(rows.keys().cloned().collect())),
            Sym::Fun(points) => {
                let mut values = None;
                for (_, y) in points.values() {
                    let h = self.hull_of_value(y, span)?;
                    values = match (values, h) {
                        (None, h) => h,
                        (Some(a), Some(b)) => Hull::join(a, b),
                        _ => return Ok(None),
                    };
                }
                let total = Total(points.values().all(|(there, _)| *there == Bool::TRUE));
                values.map(|h| Hull::Fun(points.keys().cloned().collect(), Box::new(h), total))
            }
            Sym::Lazy(_) => {
                let listed = self.elements(s, span)?;
                if self.only_total_hulls && listed.def != Bool::TRUE {
                    return Ok(None);
                }
                self.has_partial_hulls |= listed.def != Bool::TRUE;
                self.hull_of_value(&listed.sym, span)?
            }
        })
    }

    /// `s : seq(S)` with `size(s) <= n`.
    fn hull_of_sequence(
        &mut self,
        env: &Env<'m>,
        slot: Slot,
        facts: &[Fact<'m>],
        span: Span,
    ) -> Res<Option<Hull>> {
        let mut most: Option<BigInt> = None;
        let mut over = None;
        for &(fact, truth) in facts {
            for (op, pattern, other) in sides(fact, truth) {
                if let ExprKind::Call(Fun::Size | Fun::Card, args) = &pattern.kind
                    && args.first().is_some_and(|s| is_slot(s, slot))
                    && let Some(v) = attempt(self.item(env, other))?
                    && !v.is_none()
                    && !((self.only_total_hulls || env.names_open(other)) && v.def != Bool::TRUE)
                {
                    self.has_partial_hulls |= v.def != Bool::TRUE;
                    let high = match op {
                        BinOp::Eq | BinOp::Le => self.range_of(&v.sym).1,
                        BinOp::Lt => self.range_of(&v.sym).1.map(|h| h - BigInt::one()),
                        BinOp::In => match self.hull_of_elements(&v.sym, &Type::Int, span)? {
                            Some(Hull::Ints(_, high)) => high,
                            _ => None,
                        },
                        _ => None,
                    };
                    most = match (most, high) {
                        (Some(a), Some(b)) => Some(a.min(b)),
                        (a, b) => a.or(b),
                    };
                }
                if op == BinOp::In
                    && is_slot(pattern, slot)
                    && let Some(v) = attempt(self.item(env, other))?
                    && !((self.only_total_hulls || env.names_open(other)) && v.def != Bool::TRUE)
                    && let Sym::Lazy(lazy) = &v.sym
                    && let Lazy::Seq(_, s) = &**lazy
                    && let Some((_, t)) = self.slot_type(slot).as_rel()
                {
                    self.has_partial_hulls |= v.def != Bool::TRUE;
                    over = self.hull_of_elements(s, t, span)?;
                }
            }
        }
        let (Some(most), Some(over)) = (most, over) else { return Ok(None) };
        let Some(values) = attempt(self.values_in(&over, span))? else { return Ok(None) };
        // A length that is no number of this machine bounds nothing here; a negative one leaves no sequence.
        let Some(most) = most.max(BigInt::ZERO).to_usize() else { return Ok(None) };
        self.sequences_up_to(most, &values, span)
    }

    /// A value for each unknown that the conjuncts, all of them true, allow; in an order in which each may use the
    /// earlier ones. What an equation determines gets no variables of its own.
    pub fn unknowns(
        &mut self,
        env: &Env<'m>,
        slots: &[Slot],
        preds: &[&'m Expr],
        span: Span,
    ) -> Res<(Env<'m>, Vec<Shape<'m>>)> {
        let (env, shapes) = self.shaped(env, slots, preds, true, span)?;
        Ok((env, shapes.into_iter().map(|(_, s)| s).collect()))
    }

    /// The same with the hulls that the shapes were made of; if `determine` is false, every unknown has one, and
    /// variables of its own.
    pub(in crate::symbolic) fn shaped(
        &mut self,
        env: &Env<'m>,
        slots: &[Slot],
        preds: &[&'m Expr],
        determine: bool,
        span: Span,
    ) -> Res<(Env<'m>, Vec<Shaped<'m>>)> {
        self.shaped_as(env, slots, preds, true, determine, span)
    }

    /// The same for conjuncts that are to have this truth.
    pub(super) fn shaped_as(
        &mut self,
        env: &Env<'m>,
        slots: &[Slot],
        preds: &[&'m Expr],
        wanted: bool,
        determine: bool,
        span: Span,
    ) -> Res<(Env<'m>, Vec<Shaped<'m>>)> {
        let mut env = slots.iter().fold(env.clone(), |env, s| env.with(*s, Val::none()));
        let mut facts = vec![];
        preds.iter().for_each(|p| collect(p, wanted, &mut facts));
        let mut shapes: Vec<Option<Shaped<'m>>> = vec![None; slots.len()];
        // Equations first; then what is bounded; an integer without bounds only when nothing else is left.
        loop {
            let open: Vec<usize> = (0..slots.len()).filter(|i| shapes[*i].is_none()).collect();
            if open.is_empty() {
                break;
            }
            let mut chosen = None;
            for &i in open.iter().filter(|_| determine) {
                if let Some(v) = self.determined(&env, slots[i], &facts)? {
                    chosen = Some((i, None, Shape { sym: v, vars: vec![], is_value: Bool::TRUE }));
                    break;
                }
            }
            let mut best: Option<(u64, usize, Hull)> = None;
            if chosen.is_none() {
                for &i in &open {
                    if let Some(h) = self.hull_of_slot(&env, slots[i], &facts, span)? {
                        let cost = weight(&h);
                        if best.as_ref().is_none_or(|(c, ..)| cost < *c) {
                            best = Some((cost, i, h));
                        }
                    }
                }
            }
            if let Some((_, i, h)) = best {
                let shape = self.shape(&h, "u", span)?;
                chosen = Some((i, Some(h), shape));
            }
            let Some((i, hull, shape)) = chosen else {
                let span = match slots[open[0]] {
                    Slot::Var(id) => self.model.variables[id.index()].span,
                    _ => span,
                };
                return unlisted(span, "nothing bounds an unknown set of an infinite type");
            };
            let value = match shape.is_value {
                Bool::FALSE => Val::none(),
                _ => Val::sure(shape.sym.clone()),
            };
            env = env.with(slots[i], value);
            shapes[i] = Some((hull, shape));
        }
        Ok((env, shapes.into_iter().flatten().collect()))
    }

    /// The value that an equation gives the slot, if it is plain.
    fn determined(&mut self, env: &Env<'m>, slot: Slot, facts: &[Fact<'m>]) -> Res<Option<Sym<'m>>> {
        for &(fact, truth) in facts {
            for (op, pattern, other) in sides(fact, truth) {
                if op != BinOp::Eq || !is_slot(pattern, slot) {
                    continue;
                }
                if let Some(v) = attempt(self.eval(env, other))?
                    && v.def == Bool::TRUE
                {
                    return Ok(Some(v.sym));
                }
            }
        }
        Ok(None)
    }

    /// Variables for a value in the hull.
    pub fn shape(&mut self, hull: &Hull, name: &str, span: Span) -> Res<Shape<'m>> {
        let none = Shape { sym: Sym::Absent, vars: vec![], is_value: Bool::FALSE };
        Ok(match hull {
            Hull::Bool => {
                let v = self.terms.bool_var(name);
                Shape {
                    sym: Sym::Bool(self.terms.of_bool(v)),
                    vars: vec![Var::Bool(v)],
                    is_value: Bool::TRUE,
                }
            }
            Hull::Values(values) => match values.len() {
                0 => none,
                1 => Shape {
                    sym: values.first().map_or(Sym::Absent, Sym::ground),
                    vars: vec![],
                    is_value: Bool::TRUE,
                },
                2 => {
                    let v = self.terms.bool_var(name);
                    let b = self.terms.of_bool(v);
                    let options = values.iter().cloned().zip([b, !b]).collect();
                    Shape { sym: Sym::One(Arc::new(options)), vars: vec![Var::Bool(v)], is_value: Bool::TRUE }
                }
                n => {
                    self.within(n, span)?;
                    let (mut options, mut vars, mut of) = (vec![], vec![], vec![]);
                    for value in values {
                        let v = self.terms.bool_var(name);
                        let b = self.terms.of_bool(v);
                        options.push((value.clone(), b));
                        vars.push(Var::Bool(v));
                        of.push(b);
                    }
                    Shape { sym: Sym::One(Arc::new(options)), vars, is_value: self.exactly_one(&of) }
                }
            },
            Hull::Ints(low, high) => {
                if let (Some(l), Some(h)) = (low, high) {
                    let n = h - l + BigInt::one();
                    if n <= BigInt::ZERO {
                        return Ok(none);
                    }
                    if n <= MAX_ONE.into() {
                        let values = self.values_in(hull, span)?;
                        return self.shape(&Hull::Values(values), name, span);
                    }
                }
                let bounds = Bounds { low: low.clone(), high: high.clone() };
                let v = self.terms.int_var(name, bounds);
                Shape { sym: Sym::Int(self.terms.of_int(v)), vars: vec![Var::Int(v)], is_value: Bool::TRUE }
            }
            Hull::Pair(a, b) => {
                let (a, b) = (self.shape(a, name, span)?, self.shape(b, name, span)?);
                Shape {
                    sym: Sym::pair(a.sym, b.sym),
                    vars: a.vars.into_iter().chain(b.vars).collect(),
                    is_value: self.terms.and([a.is_value, b.is_value]),
                }
            }
            Hull::Rec(fields) => {
                let (mut syms, mut vars, mut ok) = (vec![], vec![], vec![]);
                for f in fields {
                    let part = self.shape(f, name, span)?;
                    syms.push(part.sym);
                    vars.extend(part.vars);
                    ok.push(part.is_value);
                }
                Shape { sym: Sym::Rec(Arc::new(syms)), vars, is_value: self.terms.and(ok) }
            }
            Hull::Fun(arguments, of, Total(true)) => {
                let (mut points, mut vars, mut ok) = (super::Points::new(), vec![], vec![]);
                for x in arguments {
                    let value = self.shape(of, name, span)?;
                    self.within(vars.len() + value.vars.len(), span)?;
                    vars.extend(value.vars);
                    ok.push(value.is_value);
                    points.insert(x.clone(), (Bool::TRUE, value.sym));
                }
                Shape { sym: Sym::Fun(Arc::new(points)), vars, is_value: self.terms.and(ok) }
            }
            Hull::Fun(arguments, of, Total(false)) => {
                let (mut points, mut vars, mut ok) = (super::Points::new(), vec![], vec![]);
                for x in arguments {
                    let v = self.terms.bool_var(name);
                    let there = self.terms.of_bool(v);
                    let value = self.shape(of, name, span)?;
                    self.within(vars.len() + value.vars.len(), span)?;
                    // Without a value the variables are what they are in one way only, so that each function is found once.
                    let mut fixed = vec![];
                    for v in &value.vars {
                        fixed.push(match *v {
                            Var::Bool(v) => !self.terms.of_bool(v),
                            Var::Int(v) => {
                                let bounds = self.terms.bounds(v);
                                let any = bounds.low.clone().or(bounds.high.clone()).unwrap_or_default();
                                let (i, any) = (self.terms.of_int(v), self.terms.constant(any));
                                self.terms.eq(i, any)
                            }
                        });
                    }
                    let fixed = self.terms.and(fixed);
                    ok.push(self.terms.ite(there, value.is_value, fixed));
                    vars.push(Var::Bool(v));
                    vars.extend(value.vars);
                    points.insert(x.clone(), (there, value.sym));
                }
                Shape { sym: Sym::Fun(Arc::new(points)), vars, is_value: self.terms.and(ok) }
            }
            Hull::Subset(of) => {
                self.within(of.len(), span)?;
                let (mut rows, mut vars) = (super::Rows::new(), vec![]);
                for value in of {
                    let v = self.terms.bool_var(name);
                    rows.insert(value.clone(), self.terms.of_bool(v));
                    vars.push(Var::Bool(v));
                }
                Shape { sym: Sym::set(rows), vars, is_value: Bool::TRUE }
            }
        })
    }

    /// The hull of a value that only its type bounds.
    pub fn hull_by_type(&mut self, ty: &Type, span: Span) -> Res<Hull> {
        match self.hull_of_type(ty, span)? {
            Some(h) => Ok(h),
            None if *ty == Type::Pred => ill_typed(span),
            None => unlisted(span, "nothing bounds an unknown set of an infinite type"),
        }
    }
}

/// Values that can have rows of their own.
fn is_few(h: &Hull) -> bool {
    match h {
        Hull::Bool => true,
        Hull::Values(v) => v.len() <= 256,
        Hull::Ints(Some(l), Some(h)) => (h - l).to_u64().is_some_and(|n| n <= 128),
        Hull::Ints(..) | Hull::Fun(..) => false,
        Hull::Subset(of) => of.len() <= 4,
        Hull::Pair(a, b) => is_few(a) && is_few(b),
        Hull::Rec(fields) => fields.iter().all(is_few),
    }
}

/// How many variables it takes, integers without bounds last.
fn weight(h: &Hull) -> u64 {
    match h {
        Hull::Bool => 1,
        Hull::Values(v) | Hull::Subset(v) => v.len() as u64,
        Hull::Ints(Some(l), Some(h)) => (h - l).to_u64().unwrap_or(1 << 40),
        Hull::Ints(None, None) => 1 << 42,
        Hull::Ints(..) => 1 << 41,
        Hull::Fun(arguments, of, _) => (arguments.len() as u64).saturating_mul(weight(of).saturating_add(1)),
        Hull::Pair(a, b) => weight(a).saturating_add(weight(b)),
        Hull::Rec(fields) => fields.iter().map(weight).fold(0, u64::saturating_add),
    }
}

/// Whether the pattern is a pair with the slot as a part.
fn is_part(pattern: &Expr, slot: Slot) -> bool {
    match &pattern.kind {
        ExprKind::Binary(BinOp::Pair, a, b) => {
            is_slot(a, slot) || is_slot(b, slot) || is_part(a, slot) || is_part(b, slot)
        }
        _ => false,
    }
}

fn part_of(pattern: &Expr, slot: Slot, hull: Hull) -> Option<Hull> {
    if is_slot(pattern, slot) {
        return Some(hull);
    }
    match (&pattern.kind, hull) {
        (ExprKind::Binary(BinOp::Pair, a, b), Hull::Pair(h, k)) => {
            part_of(a, slot, *h).or_else(|| part_of(b, slot, *k))
        }
        _ => None,
    }
}
