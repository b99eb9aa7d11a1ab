//! Sets: is this an element, what is related to this, what are the elements, is it certainly infinite.

use super::Options;
use super::{Closure, Encoder, Env, Lazy, Mutant, Points, Rows, Sym, Truth, Val, ill_typed, truth};
use crate::lang::diag::Span;
use crate::model::reading::is_total;
use crate::model::{BinOp, Fun, Type};
use crate::symbolic::{Res, unlisted};
use crate::value::Value;
use kanon_solver::term::Bool;
use num_bigint::BigInt;
use num_traits::One;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Not;
use std::sync::Arc;

/// Of more than so many, "at most one" is counted instead of compared two by two.
const MAX_PAIRWISE: usize = 40;

/// What distinguishes the twelve kinds of relations.
pub(super) struct Kind {
    pub functional: bool,
    pub injective: bool,
    pub total: bool,
    pub surjective: bool,
}

impl Kind {
    pub(super) fn of(op: BinOp) -> Option<Kind> {
        let kind = |functional, injective, total, surjective| {
            Some(Kind { functional, injective, total, surjective })
        };
        match op {
            BinOp::Rel => kind(false, false, false, false),
            BinOp::TotalRel => kind(false, false, true, false),
            BinOp::SurjRel => kind(false, false, false, true),
            BinOp::TotalSurjRel => kind(false, false, true, true),
            BinOp::PartialFun => kind(true, false, false, false),
            BinOp::TotalFun => kind(true, false, true, false),
            BinOp::PartialInj => kind(true, true, false, false),
            BinOp::TotalInj => kind(true, true, true, false),
            BinOp::PartialSurj => kind(true, false, false, true),
            BinOp::TotalSurj => kind(true, false, true, true),
            BinOp::PartialBij => kind(true, true, false, true),
            BinOp::TotalBij => kind(true, true, true, true),
            _ => None,
        }
    }
}

pub(super) fn as_pair(v: &Value, span: Span) -> Res<(&Value, &Value)> {
    match v {
        Value::Pair(p) => Ok((&p.0, &p.1)),
        _ => ill_typed(span),
    }
}

pub(super) fn sym_pair<'a, 'm>(s: &'a Sym<'m>, span: Span) -> Res<(&'a Sym<'m>, &'a Sym<'m>)> {
    match s {
        Sym::Pair(p) => Ok((&p.0, &p.1)),
        _ => ill_typed(span),
    }
}

/// Rows with alternatives for each value.
pub(super) type Ways = Options;

/// Everything that a rows' pair can begin with, and what follows it.
type Groups = BTreeMap<Value, Vec<(Value, Bool)>>;

pub(super) fn groups(rows: &Rows, span: Span) -> Res<Groups> {
    let mut all = Groups::new();
    for (v, p) in rows {
        let (a, b) = as_pair(v, span)?;
        all.entry(a.clone()).or_default().push((b.clone(), *p));
    }
    Ok(all)
}

impl<'m> Encoder<'m> {
    pub(super) fn rows_of(&mut self, ways: Ways) -> Rows {
        let rows = ways.into_iter().map(|(v, when)| (v, self.terms.or(when)));
        rows.filter(|(_, p)| *p != Bool::FALSE).collect()
    }

    pub(in crate::symbolic) fn at_most_one(&mut self, of: &[Bool]) -> Bool {
        if of.len() > MAX_PAIRWISE {
            let (count, one) = (self.terms.count(of.iter().copied()), self.terms.constant(1));
            return self.terms.le(count, one);
        }
        let mut parts = vec![];
        for (i, p) in of.iter().enumerate() {
            for q in &of[..i] {
                parts.push(!self.terms.and([*p, *q]));
            }
        }
        self.terms.and(parts)
    }

    pub(super) fn exactly_one(&mut self, of: &[Bool]) -> Bool {
        let (some, one) = (self.terms.or(of.iter().copied()), self.at_most_one(of));
        self.terms.and([some, one])
    }

    /// The environment in which the locals are the parts of the value.
    fn at(&mut self, c: &Closure<'m>, value: &Sym<'m>, span: Span) -> Res<Env<'m>> {
        let mut parts = vec![];
        let mut rest = value.clone();
        for _ in 1..c.locals.len() {
            let (a, b) = sym_pair(&rest, span)?;
            parts.push(b.clone());
            rest = a.clone();
        }
        parts.push(rest);
        let bound = c.locals.iter().zip(parts.into_iter().rev());
        Ok(bound.fold(c.env.clone(), |env, (id, part)| env.with_local(*id, Val::sure(part))))
    }

    /// The values of the locals as one plain value.
    pub(in crate::symbolic) fn tuple(&self, c: &Closure<'m>, env: &Env<'m>, span: Span) -> Res<Value> {
        let parts: Option<Vec<Value>> = c.locals.iter().map(|id| env.local(*id).sym.value()).collect();
        match parts.and_then(|parts| parts.into_iter().reduce(Value::pair)) {
            Some(v) => Ok(v),
            None => ill_typed(span),
        }
    }

    pub(in crate::symbolic) fn body(&mut self, c: &Closure<'m>, env: &Env<'m>, span: Span) -> Res<Val<'m>> {
        match c.body {
            Some(body) => self.eval(env, body),
            None => ill_typed(span),
        }
    }

    /// The elements, unless there are infinitely or too many: then the set stays as it is.
    pub(in crate::symbolic) fn settle(&mut self, v: Val<'m>, span: Span) -> Res<Val<'m>> {
        let Sym::Lazy(_) = v.sym else { return Ok(v) };
        match super::sweep::attempt(self.elements(&v.sym, span))? {
            Some(listed) => Ok(self.needs(listed, v.def)),
            None => Ok(v),
        }
    }

    /// The elements of a set, as rows, and when it has any meaning to list them.
    pub(in crate::symbolic) fn elements(&mut self, s: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        match s {
            Sym::Set(_) => Ok(Val::sure(s.clone())),
            Sym::Absent => Ok(Val::none()),
            Sym::Fun(points) => {
                let mut rows = Rows::new();
                for (x, (p, y)) in points.iter() {
                    for (v, g) in self.options(y, span)? {
                        rows.insert(Value::pair(x.clone(), v), self.terms.and([*p, g]));
                    }
                }
                Ok(Val::sure(Sym::set(rows)))
            }
            Sym::Lazy(lazy) => {
                self.enter(span)?;
                let listed = self.expand(&lazy.clone(), span);
                self.leave();
                let (rows, def) = listed?;
                Ok(if def == Bool::FALSE { Val::none() } else { Val { sym: Sym::set(rows), def } })
            }
            _ => ill_typed(span),
        }
    }

    pub(in crate::symbolic) fn rows(&mut self, s: &Sym<'m>, span: Span) -> Res<(Arc<Rows>, Bool)> {
        let v = self.elements(s, span)?;
        match v.sym {
            Sym::Set(rows) => Ok((rows, v.def)),
            Sym::Absent => Ok((Arc::default(), Bool::FALSE)),
            _ => ill_typed(span),
        }
    }

    // ---- is this an element?

    pub(super) fn has_row(&mut self, v: &Sym<'m>, rows: &Rows, span: Span) -> Res<Bool> {
        if let Some(v) = v.value() {
            return Ok(rows.get(&v).copied().unwrap_or(Bool::FALSE));
        }
        self.spend(rows.len(), span)?;
        let mut ways = vec![];
        if let Sym::One(options) = v {
            for (v, g) in options.iter() {
                if let Some(p) = rows.get(v) {
                    ways.push(self.terms.and([*g, *p]));
                }
            }
            return Ok(self.terms.or(ways));
        }
        for (w, p) in rows {
            let same = self.eq_value(v, w);
            ways.push(self.terms.and([same, *p]));
        }
        Ok(self.terms.or(ways))
    }

    /// Whether the value, which is no lazy set, is an element. Both parts of a union are looked at.
    pub(in crate::symbolic) fn has(&mut self, v: &Sym<'m>, set: &Sym<'m>, span: Span) -> Res<Truth> {
        let lazy = match set {
            Sym::Set(rows) => return Ok(Truth::sure(self.has_row(v, rows, span)?)),
            Sym::Absent => return Ok(Truth::NO),
            Sym::Fun(points) => {
                let (x, y) = sym_pair(v, span)?;
                let mut ways = vec![];
                for (a, (p, b)) in points.iter() {
                    let here = self.eq_value(x, a);
                    if here != Bool::FALSE {
                        let same = self.eq(y, b, span)?;
                        ways.push(self.terms.and([here, *p, same]));
                    }
                }
                return Ok(Truth::sure(self.terms.or(ways)));
            }
            Sym::Lazy(lazy) => lazy.clone(),
            _ => return ill_typed(span),
        };
        self.enter(span)?;
        let result = self.lazy_has(v, &lazy, span);
        self.leave();
        result
    }

    fn lazy_has(&mut self, v: &Sym<'m>, set: &Lazy<'m>, span: Span) -> Res<Truth> {
        Ok(match set {
            Lazy::All(_) => Truth::YES,
            Lazy::Ints(low, high) => self.between(v, low.as_ref(), high.as_ref(), span)?,
            Lazy::Ext(items) => {
                let mut ways = vec![];
                for item in items {
                    ways.push(self.eq(v, item, span)?);
                }
                Truth::sure(self.terms.or(ways))
            }
            Lazy::Compr(c) => {
                let env = self.at(c, v, span)?;
                self.pred(&env, c.pred)?
            }
            Lazy::Lambda(c) => {
                let (x, y) = sym_pair(v, span)?;
                let env = self.at(c, x, span)?;
                let inside = self.pred(&env, c.pred)?;
                if inside.no == Bool::TRUE {
                    return Ok(inside);
                }
                let body = self.body(c, &env, span)?;
                let same = self.eq(&body.sym, y, span)?;
                let same = self.truth(same, body.def);
                self.and_then(inside, same)
            }
            Lazy::Map(c) => {
                let sweep = self.sweep_locals(&c.env, c.locals, c.pred, true)?;
                let mut ways = vec![];
                let mut def = sweep.complete;
                for (env, t) in sweep.found {
                    let body = self.body(c, &env, span)?;
                    let same = self.eq(&body.sym, v, span)?;
                    ways.push(self.terms.and([t.yes, same]));
                    let here = self.terms.and([t.yes, body.def]);
                    let here = self.terms.or([here, t.no]);
                    def = self.terms.and([def, here]);
                }
                let some = self.terms.or(ways);
                self.truth(some, def)
            }
            Lazy::Pow(kind, s) => {
                let (rows, def) = self.rows(v, span)?;
                let inside = self.all_in(&rows, s, span)?;
                let t = if matches!(kind, Fun::Pow1 | Fun::Fin1) {
                    let some = self.terms.or(rows.values().copied());
                    self.and_then(inside, Truth::sure(some))
                } else {
                    inside
                };
                self.only_if(t, def)
            }
            Lazy::Seq(kind, s) => self.is_sequence_of(*kind, v, s, span)?,
            Lazy::Space(op, from, to) => self.is_in_space(*op, v, from, to, span)?,
            Lazy::Product(a, b) => {
                let (x, y) = sym_pair(v, span)?;
                let parts = [self.has(x, a, span)?, self.has(y, b, span)?];
                self.strict_and(&parts)
            }
            Lazy::Boole(op, a, b) => {
                let (a, b) = (self.has(v, a, span)?, self.has(v, b, span)?);
                match op {
                    BinOp::Union => self.strict_or(&[a, b]),
                    BinOp::Inter => self.strict_and(&[a, b]),
                    _ => self.strict_and(&[a, b.not()]),
                }
            }
            Lazy::Struct(fields) => {
                let Sym::Rec(values) = v else { return ill_typed(span) };
                let mut parts = vec![];
                for (v, set) in values.iter().zip(fields) {
                    parts.push(self.has(v, set, span)?);
                }
                self.strict_and(&parts)
            }
            Lazy::Id(s) => {
                let (x, y) = sym_pair(v, span)?;
                let inside = self.has(x, s, span)?;
                let same = self.eq(x, y, span)?;
                self.and_then(inside, Truth::sure(same))
            }
            Lazy::Prj(kind, a, b) => {
                let (xy, z) = sym_pair(v, span)?;
                let (x, y) = sym_pair(xy, span)?;
                let parts = [self.has(x, a, span)?, self.has(y, b, span)?];
                let inside = self.strict_and(&parts);
                let same = self.eq(z, if *kind == Fun::Prj1 { x } else { y }, span)?;
                self.and_then(inside, Truth::sure(same))
            }
            Lazy::Shift(n) => {
                let (x, y) = sym_pair(v, span)?;
                let next = self.arithmetic(BinOp::Add, x, &Sym::int(*n), span)?;
                Truth::sure(self.eq(&next.sym, y, span)?)
            }
            Lazy::Inverse(r) => {
                let (x, y) = sym_pair(v, span)?;
                self.has(&Sym::pair(y.clone(), x.clone()), r, span)?
            }
            Lazy::Restrict(op, r, s) => {
                let (x, y) = sym_pair(v, span)?;
                let inside = match op {
                    BinOp::DomRestrict => self.has(x, s, span)?,
                    BinOp::DomSubtract => self.has(x, s, span)?.not(),
                    BinOp::RanRestrict => self.has(y, s, span)?,
                    _ => self.has(y, s, span)?.not(),
                };
                let related = self.has(v, r, span)?;
                self.strict_and(&[inside, related])
            }
            Lazy::Override(f, g) => {
                let (x, _) = sym_pair(v, span)?;
                let new = self.has(v, g, span)?;
                let outside = self.in_domain(g, x, span)?.not();
                let old = self.has(v, f, span)?;
                let old = self.and_then(outside, old);
                // The old pair is looked at if the new one is not there.
                self.and_then(new.not(), old.not()).not()
            }
            Lazy::Compose(r, s) => {
                let (x, z) = sym_pair(v, span)?;
                let (middle, mut def) = self.images(r, x, span)?;
                let mut ways = vec![];
                for (y, p) in middle {
                    let t = self.has(&Sym::pair(Sym::ground(&y), z.clone()), s, span)?;
                    ways.push(self.terms.and([p, t.yes]));
                    let d = t.def(&mut self.terms);
                    let d = self.terms.or([!p, d]);
                    def = self.terms.and([def, d]);
                }
                let some = self.terms.or(ways);
                self.truth(some, def)
            }
            Lazy::Direct(r, s) => {
                let (x, yz) = sym_pair(v, span)?;
                let (y, z) = sym_pair(yz, span)?;
                let parts = [
                    self.has(&Sym::pair(x.clone(), y.clone()), r, span)?,
                    self.has(&Sym::pair(x.clone(), z.clone()), s, span)?,
                ];
                self.strict_and(&parts)
            }
            Lazy::Parallel(r, s) => {
                let (xy, mn) = sym_pair(v, span)?;
                let ((x, y), (m, n)) = (sym_pair(xy, span)?, sym_pair(mn, span)?);
                let parts = [
                    self.has(&Sym::pair(x.clone(), m.clone()), r, span)?,
                    self.has(&Sym::pair(y.clone(), n.clone()), s, span)?,
                ];
                self.strict_and(&parts)
            }
            Lazy::Dom(r) => self.in_domain(r, v, span)?,
            Lazy::If(cond, a, b) => {
                let (a, b) = (self.has(v, a, span)?, self.has(v, b, span)?);
                self.if_pred(Truth::sure(*cond), a, b)
            }
        })
    }

    /// Every element is in the set, and it can be told of each.
    pub(super) fn all_in(&mut self, rows: &Rows, set: &Sym<'m>, span: Span) -> Res<Truth> {
        let (mut inside, mut def) = (vec![], vec![]);
        for (v, p) in rows {
            if *p == Bool::FALSE {
                continue;
            }
            let t = self.has(&Sym::ground(v), set, span)?;
            inside.push(self.terms.or([!*p, t.yes]));
            let d = t.def(&mut self.terms);
            def.push(self.terms.or([!*p, d]));
        }
        let (inside, def) = (self.terms.and(inside), self.terms.and(def));
        Ok(self.truth(inside, def))
    }

    /// Whether the rows, all of them in the set, are all of the set.
    pub(super) fn covers(&mut self, set: &Sym<'m>, rows: &Rows, span: Span) -> Res<Truth> {
        if self.is_certainly_infinite(set) {
            return Ok(Truth::NO);
        }
        let (all, def) = self.rows(set, span)?;
        let mut parts = vec![];
        for (v, p) in all.iter() {
            let there = rows.get(v).copied().unwrap_or(Bool::FALSE);
            parts.push(self.terms.or([!*p, there]));
        }
        let value = self.terms.and(parts);
        Ok(self.truth(value, def))
    }

    pub(super) fn domain(&mut self, rows: &Rows, span: Span) -> Res<Rows> {
        let mut ways = Ways::new();
        for (v, p) in rows {
            ways.entry(as_pair(v, span)?.0.clone()).or_default().push(*p);
        }
        Ok(self.rows_of(ways))
    }

    pub(super) fn range_rows(&mut self, rows: &Rows, span: Span) -> Res<Rows> {
        let mut ways = Ways::new();
        for (v, p) in rows {
            ways.entry(as_pair(v, span)?.1.clone()).or_default().push(*p);
        }
        Ok(self.rows_of(ways))
    }

    /// At most one second part for each first part, or the other way round.
    pub(super) fn is_functional(&mut self, rows: &Rows, inverse: bool, span: Span) -> Res<Bool> {
        let mut ways: BTreeMap<&Value, Vec<Bool>> = BTreeMap::new();
        for (v, p) in rows {
            let (a, b) = as_pair(v, span)?;
            ways.entry(if inverse { b } else { a }).or_default().push(*p);
        }
        let mut parts = vec![];
        for of in ways.values() {
            self.spend(of.len(), span)?;
            parts.push(self.at_most_one(of));
        }
        Ok(self.terms.and(parts))
    }

    fn is_in_space(
        &mut self,
        op: BinOp,
        v: &Sym<'m>,
        from: &Sym<'m>,
        to: &Sym<'m>,
        span: Span,
    ) -> Res<Truth> {
        let Some(kind) = Kind::of(op) else { return ill_typed(span) };
        if let Sym::Fun(points) = v
            && !kind.surjective
        {
            return self.is_fun_in_space(&kind, &points.clone(), from, to, span);
        }
        let (rows, def) = self.rows(v, span)?;
        let (dom, ran) = (self.domain(&rows, span)?, self.range_rows(&rows, span)?);
        let inside = [self.all_in(&dom, from, span)?, self.all_in(&ran, to, span)?];
        let mut t = self.strict_and(&inside);
        if kind.functional {
            let functional = self.is_functional(&rows, false, span)?;
            t = self.and_then(t, Truth::sure(functional));
        }
        if kind.injective {
            let injective = self.is_functional(&rows, true, span)?;
            t = self.and_then(t, Truth::sure(injective));
        }
        if kind.total && self.mutant != Mutant::PartialIsTotal {
            let covers = self.covers(from, &dom, span)?;
            t = self.and_then(t, covers);
        }
        if kind.surjective {
            let covers = self.covers(to, &ran, span)?;
            t = self.and_then(t, covers);
        }
        Ok(self.only_if(t, def))
    }

    fn is_fun_in_space(
        &mut self,
        kind: &Kind,
        points: &Points<'m>,
        from: &Sym<'m>,
        to: &Sym<'m>,
        span: Span,
    ) -> Res<Truth> {
        let dom: Rows = points.iter().map(|(x, (p, _))| (x.clone(), *p)).collect();
        let mut parts = vec![self.all_in(&dom, from, span)?];
        for (p, y) in points.values() {
            let inside = self.has(y, to, span)?;
            // What is not there is not looked at.
            parts.push(self.and_then(Truth::sure(*p), inside.not()).not());
        }
        let mut t = self.strict_and(&parts);
        if kind.injective {
            let all: Vec<&(Bool, Sym<'m>)> = points.values().collect();
            let mut different = vec![];
            for (i, (p, y)) in all.iter().enumerate() {
                for (q, z) in &all[..i] {
                    let same = self.eq(y, z, span)?;
                    different.push(!self.terms.and([*p, *q, same]));
                }
            }
            let injective = self.terms.and(different);
            t = self.and_then(t, Truth::sure(injective));
        }
        if kind.total && self.mutant != Mutant::PartialIsTotal {
            let covers = self.covers(from, &dom, span)?;
            t = self.and_then(t, covers);
        }
        Ok(t)
    }

    pub(in crate::symbolic) fn in_domain(&mut self, r: &Sym<'m>, x: &Sym<'m>, span: Span) -> Res<Truth> {
        if let Sym::Lazy(lazy) = r
            && let Lazy::Lambda(c) = &**lazy
        {
            let env = self.at(c, x, span)?;
            return self.pred(&env, c.pred);
        }
        if let Sym::Fun(points) = r {
            let mut ways = vec![];
            for (a, (p, _)) in points.iter() {
                let same = self.eq_value(x, a);
                ways.push(self.terms.and([same, *p]));
            }
            return Ok(Truth::sure(self.terms.or(ways)));
        }
        if let Sym::Set(rows) = r {
            let mut ways = vec![];
            for (a, bs) in groups(rows, span)? {
                let same = self.eq_value(x, &a);
                if same != Bool::FALSE {
                    let some = self.terms.or(bs.into_iter().map(|(_, p)| p));
                    ways.push(self.terms.and([same, some]));
                }
            }
            return Ok(Truth::sure(self.terms.or(ways)));
        }
        let (rows, def) = self.images(r, x, span)?;
        let some = self.terms.or(rows.values().copied());
        Ok(self.truth(some, def))
    }

    // ---- what is related to this?

    /// The rows of a relation that begin with a plain value.
    fn rows_from<'r>(rows: &'r Rows, x: &Value) -> impl Iterator<Item = (&'r Value, Bool)> {
        // The least of all values.
        let from = Value::pair(x.clone(), Value::Bool(false));
        let x = x.clone();
        rows.range(from..).map_while(move |(v, p)| match v {
            Value::Pair(pair) if pair.0 == x => Some((&pair.1, *p)),
            _ => None,
        })
    }

    pub(super) fn images(&mut self, r: &Sym<'m>, x: &Sym<'m>, span: Span) -> Res<(Rows, Bool)> {
        match r {
            Sym::Absent => Ok((Rows::new(), Bool::FALSE)),
            Sym::Fun(points) => {
                let mut ways = Ways::new();
                for (a, (p, y)) in points.iter() {
                    let same = self.eq_value(x, a);
                    if same == Bool::FALSE {
                        continue;
                    }
                    for (v, g) in self.options(y, span)? {
                        let g = self.terms.and([same, *p, g]);
                        ways.entry(v).or_default().push(g);
                    }
                }
                Ok((self.rows_of(ways), Bool::TRUE))
            }
            Sym::Set(rows) => {
                let mut ways = Ways::new();
                if let Some(x) = x.value() {
                    for (y, p) in Self::rows_from(rows, &x) {
                        ways.entry(y.clone()).or_default().push(p);
                    }
                } else {
                    for (a, bs) in groups(rows, span)? {
                        let same = self.eq_value(x, &a);
                        if same == Bool::FALSE {
                            continue;
                        }
                        self.spend(bs.len(), span)?;
                        for (b, p) in bs {
                            let p = self.terms.and([same, p]);
                            ways.entry(b).or_default().push(p);
                        }
                    }
                }
                Ok((self.rows_of(ways), Bool::TRUE))
            }
            Sym::Lazy(lazy) => {
                self.enter(span)?;
                let found = self.lazy_images(&lazy.clone(), x, span);
                self.leave();
                found
            }
            _ => ill_typed(span),
        }
    }

    fn lazy_images(&mut self, r: &Lazy<'m>, x: &Sym<'m>, span: Span) -> Res<(Rows, Bool)> {
        // The options of a value as rows, where a condition is true.
        let only = |this: &mut Self, yes: Truth, v: &Sym<'m>| -> Res<(Rows, Bool)> {
            let mut rows = Rows::new();
            for (v, g) in this.options(v, span)? {
                let p = this.terms.and([yes.yes, g]);
                rows.insert(v, p);
            }
            let def = yes.def(&mut this.terms);
            Ok((rows, def))
        };
        Ok(match r {
            Lazy::Lambda(c) => {
                let env = self.at(c, x, span)?;
                let inside = self.pred(&env, c.pred)?;
                if inside.yes == Bool::FALSE {
                    return Ok((Rows::new(), inside.no));
                }
                let body = self.body(c, &env, span)?;
                let (rows, def) = only(self, inside, &body.sym)?;
                let late = self.terms.or([inside.no, body.def]);
                (rows, self.terms.and([def, late]))
            }
            Lazy::Compr(c) if c.locals.len() > 1 => {
                let (known, last) = c.locals.split_at(c.locals.len() - 1);
                let part = Closure { locals: known, ..c.clone() };
                let env = self.at(&part, x, span)?;
                let sweep = self.sweep_locals(&env, last, c.pred, true)?;
                let mut rows = Rows::new();
                let mut def = sweep.complete;
                for (env, t) in sweep.found {
                    let Some(v) = env.local(last[0]).sym.value() else { return ill_typed(span) };
                    rows.insert(v, t.yes);
                    let d = t.def(&mut self.terms);
                    def = self.terms.and([def, d]);
                }
                (rows, def)
            }
            Lazy::Product(a, b) => {
                let inside = self.has(x, a, span)?;
                if inside.yes == Bool::FALSE {
                    return Ok((Rows::new(), inside.no));
                }
                let (targets, listed) = self.rows(b, span)?;
                let mut rows = Rows::new();
                for (v, p) in targets.iter() {
                    rows.insert(v.clone(), self.terms.and([inside.yes, *p]));
                }
                let late = self.terms.and([inside.yes, listed]);
                (rows, self.terms.or([inside.no, late]))
            }
            Lazy::Boole(op, a, b) => {
                let ((p, d), (q, e)) = (self.images(a, x, span)?, self.images(b, x, span)?);
                (self.boole(*op, &p, &q), self.terms.and([d, e]))
            }
            Lazy::Id(s) => {
                let inside = self.has(x, s, span)?;
                only(self, inside, x)?
            }
            Lazy::Prj(kind, a, b) => {
                let (first, second) = sym_pair(x, span)?;
                let parts = [self.has(first, a, span)?, self.has(second, b, span)?];
                let inside = self.strict_and(&parts);
                only(self, inside, if *kind == Fun::Prj1 { first } else { second })?
            }
            Lazy::Shift(n) => {
                let next = self.arithmetic(BinOp::Add, x, &Sym::int(*n), span)?;
                only(self, Truth::YES, &next.sym)?
            }
            Lazy::Restrict(op, r, s) => {
                let (rows, mut def) = self.images(r, x, span)?;
                let mut kept = Rows::new();
                match op {
                    BinOp::DomRestrict | BinOp::DomSubtract => {
                        let inside = self.has(x, s, span)?;
                        let d = inside.def(&mut self.terms);
                        def = self.terms.and([def, d]);
                        let keep = if *op == BinOp::DomRestrict { inside.yes } else { inside.no };
                        for (v, p) in rows {
                            kept.insert(v, self.terms.and([p, keep]));
                        }
                    }
                    _ => {
                        for (v, p) in rows {
                            let inside = self.has(&Sym::ground(&v), s, span)?;
                            let d = inside.def(&mut self.terms);
                            let d = self.terms.or([!p, d]);
                            def = self.terms.and([def, d]);
                            let keep = if *op == BinOp::RanRestrict { inside.yes } else { inside.no };
                            kept.insert(v, self.terms.and([p, keep]));
                        }
                    }
                }
                (kept, def)
            }
            Lazy::Override(f, g) => {
                let (new, d) = self.images(g, x, span)?;
                let some = self.terms.or(new.values().copied());
                if some == Bool::TRUE {
                    return Ok((new, d));
                }
                let (old, e) = self.images(f, x, span)?;
                let mut ways = Ways::new();
                for (v, p) in new {
                    ways.entry(v).or_default().push(p);
                }
                for (v, p) in old {
                    let p = self.terms.and([!some, p]);
                    ways.entry(v).or_default().push(p);
                }
                let late = self.terms.or([some, e]);
                (self.rows_of(ways), self.terms.and([d, late]))
            }
            Lazy::Compose(r, s) => {
                let (middle, mut def) = self.images(r, x, span)?;
                let mut ways = Ways::new();
                for (y, p) in middle {
                    let (ends, d) = self.images(s, &Sym::ground(&y), span)?;
                    let d = self.terms.or([!p, d]);
                    def = self.terms.and([def, d]);
                    for (z, q) in ends {
                        let q = self.terms.and([p, q]);
                        ways.entry(z).or_default().push(q);
                    }
                }
                (self.rows_of(ways), def)
            }
            Lazy::Direct(r, s) => {
                let ((p, d), (q, e)) = (self.images(r, x, span)?, self.images(s, x, span)?);
                (self.product(&p, &q, span)?, self.terms.and([d, e]))
            }
            Lazy::Parallel(r, s) => {
                let (first, second) = sym_pair(x, span)?;
                let ((p, d), (q, e)) = (self.images(r, first, span)?, self.images(s, second, span)?);
                (self.product(&p, &q, span)?, self.terms.and([d, e]))
            }
            Lazy::If(cond, a, b) => {
                let ((p, d), (q, e)) = (self.images(a, x, span)?, self.images(b, x, span)?);
                let chosen = self.ite(*cond, &Sym::set(p), &Sym::set(q), span)?;
                let (rows, _) = self.rows(&chosen, span)?;
                ((*rows).clone(), self.terms.ite(*cond, d, e))
            }
            _ => {
                let (rows, def) = self.expand(r, span)?;
                let (found, _) = self.images(&Sym::set(rows), x, span)?;
                (found, def)
            }
        })
    }

    /// f(x): what f relates to x, if that is one value.
    pub(in crate::symbolic) fn apply(&mut self, f: &Sym<'m>, x: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        self.spend(1, span)?;
        match f {
            Sym::Absent => return Ok(Val::none()),
            Sym::Set(rows) => return self.apply_rows(rows, x, span),
            Sym::Fun(points) => {
                let mut value = Sym::Absent;
                let mut defs = vec![];
                for (a, (p, y)) in points.iter() {
                    let same = self.eq_value(x, a);
                    if same != Bool::FALSE && *p != Bool::FALSE {
                        self.spend(1, span)?;
                        defs.push(self.terms.and([same, *p]));
                        value = self.ite(same, y, &value, span)?;
                    }
                }
                let anywhere = self.mutant == Mutant::AppliedAnywhere && !defs.is_empty();
                let def = if anywhere { Bool::TRUE } else { self.terms.or(defs) };
                return Ok(if def == Bool::FALSE { Val::none() } else { Val { sym: value, def } });
            }
            Sym::Lazy(lazy) => match &**lazy {
                Lazy::Lambda(c) => {
                    let env = self.at(c, x, span)?;
                    let inside = self.pred(&env, c.pred)?;
                    if inside.yes == Bool::FALSE {
                        return Ok(Val::none());
                    }
                    let body = self.body(c, &env, span)?;
                    return Ok(self.needs(body, inside.yes));
                }
                Lazy::Shift(n) => return self.arithmetic(BinOp::Add, x, &Sym::int(*n), span),
                Lazy::Id(s) => {
                    let inside = self.has(x, s, span)?;
                    return Ok(self.needs(Val::sure(x.clone()), inside.yes));
                }
                Lazy::Prj(kind, a, b) => {
                    let (first, second) = sym_pair(x, span)?;
                    let parts = [self.has(first, a, span)?, self.has(second, b, span)?];
                    let inside = self.strict_and(&parts);
                    let part = if *kind == Fun::Prj1 { first } else { second };
                    return Ok(self.needs(Val::sure(part.clone()), inside.yes));
                }
                Lazy::Override(f, g) => {
                    let new = self.in_domain(g, x, span)?;
                    let def = new.def(&mut self.terms);
                    let (new_value, old_value) = match new.yes {
                        Bool::TRUE => (self.apply(g, x, span)?, Val::none()),
                        Bool::FALSE => (Val::none(), self.apply(f, x, span)?),
                        _ => (self.apply(g, x, span)?, self.apply(f, x, span)?),
                    };
                    let v = self.ite_val(new.yes, new_value, old_value, span)?;
                    return Ok(self.needs(v, def));
                }
                Lazy::Restrict(op @ (BinOp::DomRestrict | BinOp::DomSubtract), r, s) => {
                    let inside = self.has(x, s, span)?;
                    let inside = if *op == BinOp::DomRestrict { inside.yes } else { inside.no };
                    let v = self.apply(r, x, span)?;
                    return Ok(self.needs(v, inside));
                }
                Lazy::If(cond, a, b) => {
                    let (a, b) = (self.apply(a, x, span)?, self.apply(b, x, span)?);
                    return self.ite_val(*cond, a, b, span);
                }
                _ => {}
            },
            _ => return ill_typed(span),
        }
        let (rows, def) = self.images(f, x, span)?;
        let of: Vec<Bool> = rows.values().copied().collect();
        let one = self.exactly_one(&of);
        let def = self.terms.and([def, one]);
        let sym = self.pick(rows.into_iter().map(|(v, p)| (v, vec![p])).collect());
        Ok(if def == Bool::FALSE { Val::none() } else { Val { sym, def } })
    }

    fn apply_rows(&mut self, rows: &Rows, x: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        let mut options = Options::new();
        let mut defs = vec![];
        let mut add = |this: &mut Self, same: Bool, bs: Vec<(Value, Bool)>| -> Res<()> {
            this.spend(bs.len(), span)?;
            let of: Vec<Bool> = bs.iter().map(|(_, p)| *p).collect();
            // Said once for each argument, however often the function is applied.
            let one = this.exactly_one(&of);
            if one == Bool::FALSE {
                return Ok(());
            }
            defs.push(this.terms.and([same, one]));
            for (b, p) in bs {
                let p = this.terms.and([same, p]);
                options.entry(b).or_default().push(p);
            }
            Ok(())
        };
        if let Some(x) = x.value() {
            let bs = Self::rows_from(rows, &x).map(|(b, p)| (b.clone(), p)).collect();
            add(self, Bool::TRUE, bs)?;
        } else {
            self.spend(rows.len(), span)?;
            for (a, bs) in groups(rows, span)? {
                let same = self.eq_value(x, &a);
                if same != Bool::FALSE {
                    add(self, same, bs)?;
                }
            }
        }
        if options.is_empty() {
            return Ok(Val::none());
        }
        let def = if self.mutant == Mutant::AppliedAnywhere { Bool::TRUE } else { self.terms.or(defs) };
        let sym = self.pick(options);
        Ok(if def == Bool::FALSE { Val::none() } else { Val { sym, def } })
    }

    // ---- what are the elements?

    pub(super) fn boole(&mut self, op: BinOp, a: &Rows, b: &Rows) -> Rows {
        let mut rows = Rows::new();
        for (v, p) in a {
            let q = b.get(v).copied().unwrap_or(Bool::FALSE);
            let p = match op {
                BinOp::Union => self.terms.or([*p, q]),
                BinOp::Inter => self.terms.and([*p, q]),
                _ => self.terms.and([*p, !q]),
            };
            if p != Bool::FALSE {
                rows.insert(v.clone(), p);
            }
        }
        if op == BinOp::Union {
            for (v, q) in b {
                rows.entry(v.clone()).or_insert(*q);
            }
        }
        rows
    }

    fn product(&mut self, a: &Rows, b: &Rows, span: Span) -> Res<Rows> {
        self.within(a.len().saturating_mul(b.len()), span)?;
        let mut rows = Rows::new();
        for (x, p) in a {
            for (y, q) in b {
                rows.insert(Value::pair(x.clone(), y.clone()), self.terms.and([*p, *q]));
            }
        }
        Ok(rows)
    }

    /// The rows that pass a test, which has to have an answer for those that are there.
    fn keep(
        &mut self,
        rows: &Rows,
        mut def: Bool,
        mut test: impl FnMut(&mut Self, &Value) -> Res<Truth>,
    ) -> Res<(Rows, Bool)> {
        let mut kept = Rows::new();
        for (v, p) in rows {
            let t = test(self, v)?;
            let d = t.def(&mut self.terms);
            let d = self.terms.or([!*p, d]);
            def = self.terms.and([def, d]);
            let p = self.terms.and([*p, t.yes]);
            if p != Bool::FALSE {
                kept.insert(v.clone(), p);
            }
        }
        Ok((kept, def))
    }

    fn map_rows(&mut self, rows: &Rows, span: Span, f: impl Fn(&Value, &Value) -> Value) -> Res<Rows> {
        self.within(rows.len(), span)?;
        let mut ways = Ways::new();
        for (v, p) in rows {
            let (x, y) = as_pair(v, span)?;
            ways.entry(f(x, y)).or_default().push(*p);
        }
        Ok(self.rows_of(ways))
    }

    pub(super) fn expand(&mut self, set: &Lazy<'m>, span: Span) -> Res<(Rows, Bool)> {
        let infinite = || unlisted(span, "an infinite set would have to be listed");
        Ok(match set {
            Lazy::All(ty) => {
                let all = self.carrier(ty, span)?;
                (all.into_iter().map(|v| (v, Bool::TRUE)).collect(), Bool::TRUE)
            }
            Lazy::Ints(Some(low), Some(high)) => {
                let (Some(from), Some(to)) = (self.range_of(low).0, self.range_of(high).1) else {
                    return infinite();
                };
                let n = &to - &from + BigInt::one();
                let n = if n <= BigInt::ZERO { 0 } else { usize::try_from(&n).unwrap_or(usize::MAX) };
                self.within(n, span)?;
                let mut rows = Rows::new();
                for i in 0..n {
                    let k = Value::Int(&from + i);
                    let inside = self.between(&Sym::ground(&k), Some(low), Some(high), span)?;
                    if inside.yes != Bool::FALSE {
                        rows.insert(k, inside.yes);
                    }
                }
                (rows, Bool::TRUE)
            }
            Lazy::Ints(..) | Lazy::Shift(_) => return infinite(),
            Lazy::Ext(items) => {
                let mut ways = Ways::new();
                for item in items {
                    for (v, g) in self.options(item, span)? {
                        ways.entry(v).or_default().push(g);
                    }
                }
                (self.rows_of(ways), Bool::TRUE)
            }
            Lazy::Compr(c) | Lazy::Lambda(c) | Lazy::Map(c) => {
                let sweep = self.sweep_locals(&c.env, c.locals, c.pred, true)?;
                let mut ways = Ways::new();
                let mut defs = vec![sweep.complete];
                for (env, t) in sweep.found {
                    defs.push(t.def(&mut self.terms));
                    if t.yes == Bool::FALSE {
                        continue;
                    }
                    if c.body.is_none() {
                        ways.entry(self.tuple(c, &env, span)?).or_default().push(t.yes);
                        continue;
                    }
                    let body = self.body(c, &env, span)?;
                    defs.push(self.terms.or([!t.yes, body.def]));
                    let argument = match set {
                        Lazy::Lambda(_) => Some(self.tuple(c, &env, span)?),
                        _ => None,
                    };
                    let options = self.options(&body.sym, span)?;
                    self.within(ways.len() + options.len(), span)?;
                    for (y, g) in options {
                        let v = match &argument {
                            Some(x) => Value::pair(x.clone(), y),
                            None => y,
                        };
                        let p = self.terms.and([t.yes, g]);
                        ways.entry(v).or_default().push(p);
                    }
                }
                (self.rows_of(ways), self.terms.and(defs))
            }
            Lazy::Pow(kind, s) => {
                let (rows, def) = self.rows(s, span)?;
                if rows.len() > 13 {
                    return unlisted(span, "a set of too many subsets would have to be listed");
                }
                let mut all: Vec<(BTreeSet<Value>, Vec<Bool>)> = vec![(BTreeSet::new(), vec![])];
                for (v, p) in rows.iter() {
                    for i in 0..all.len() {
                        let (mut s, mut when) = all[i].clone();
                        s.insert(v.clone());
                        when.push(*p);
                        all.push((s, when));
                    }
                }
                if matches!(kind, Fun::Pow1 | Fun::Fin1) {
                    all.remove(0);
                }
                self.within(all.len(), span)?;
                let all = all.into_iter().map(|(s, when)| (Value::Set(s), self.terms.and(when)));
                (all.collect(), def)
            }
            Lazy::Seq(kind, s) => {
                let (rows, def) = self.rows(s, span)?;
                (self.sequences(*kind, &rows, span)?, def)
            }
            Lazy::Space(op, from, to) => {
                let ((from, d), (to, e)) = (self.rows(from, span)?, self.rows(to, span)?);
                let Some(kind) = Kind::of(*op) else { return ill_typed(span) };
                (self.space(&kind, &from, &to, span)?, self.terms.and([d, e]))
            }
            Lazy::Product(a, b) => {
                use super::sweep::attempt;
                match (attempt(self.rows(a, span))?, attempt(self.rows(b, span))?) {
                    (Some((a, d)), Some((b, e))) => (self.product(&a, &b, span)?, self.terms.and([d, e])),
                    // The empty set times anything is empty, also if the other is infinite.
                    (Some((e, d)), None) | (None, Some((e, d))) if e.is_empty() => (Rows::new(), d),
                    _ => return infinite(),
                }
            }
            Lazy::Boole(BinOp::Union, a, b) => {
                let ((p, d), (q, e)) = (self.rows(a, span)?, self.rows(b, span)?);
                (self.boole(BinOp::Union, &p, &q), self.terms.and([d, e]))
            }
            Lazy::Boole(BinOp::Inter, a, b) => {
                let a = self.settle(Val::sure(a.clone()), span)?;
                let b = self.settle(Val::sure(b.clone()), span)?;
                let def = self.terms.and([a.def, b.def]);
                let (rows, other) = match (&a.sym, &b.sym) {
                    (Sym::Absent, _) | (_, Sym::Absent) => return Ok((Rows::new(), Bool::FALSE)),
                    (Sym::Set(rows), other) | (other, Sym::Set(rows)) => (rows.clone(), other.clone()),
                    _ => return infinite(),
                };
                if hides_faults(&other) {
                    return infinite();
                }
                self.keep(&rows, def, |this, v| this.has(&Sym::ground(v), &other, span))?
            }
            Lazy::Boole(_, a, b) => {
                let b = self.settle(Val::sure(b.clone()), span)?;
                if hides_faults(&b.sym) {
                    return infinite();
                }
                let (rows, def) = self.rows(a, span)?;
                let def = self.terms.and([def, b.def]);
                self.keep(&rows, def, |this, v| Ok(this.has(&Sym::ground(v), &b.sym, span)?.not()))?
            }
            Lazy::Struct(fields) => {
                let mut all = vec![(vec![], Bool::TRUE)];
                let mut def = Bool::TRUE;
                for field in fields {
                    let (rows, d) = self.rows(field, span)?;
                    def = self.terms.and([def, d]);
                    self.within(all.len().saturating_mul(rows.len()), span)?;
                    let mut longer = vec![];
                    for (values, p) in &all {
                        for (v, q) in rows.iter() {
                            let values: Vec<Value> = values.iter().cloned().chain([v.clone()]).collect();
                            longer.push((values, self.terms.and([*p, *q])));
                        }
                    }
                    all = longer;
                }
                (all.into_iter().map(|(values, p)| (Value::Rec(values), p)).collect(), def)
            }
            Lazy::Id(s) => {
                let (rows, def) = self.rows(s, span)?;
                let rows = rows.iter().map(|(v, p)| (Value::pair(v.clone(), v.clone()), *p));
                (rows.collect(), def)
            }
            Lazy::Prj(kind, a, b) => {
                let ((p, d), (q, e)) = (self.rows(a, span)?, self.rows(b, span)?);
                let mut rows = Rows::new();
                for (xy, p) in self.product(&p, &q, span)? {
                    let (x, y) = as_pair(&xy, span)?;
                    let z = if *kind == Fun::Prj1 { x.clone() } else { y.clone() };
                    rows.insert(Value::pair(xy, z), p);
                }
                (rows, self.terms.and([d, e]))
            }
            Lazy::Inverse(r) => {
                let (rows, def) = self.rows(r, span)?;
                (self.map_rows(&rows, span, |x, y| Value::pair(y.clone(), x.clone()))?, def)
            }
            Lazy::Restrict(op, r, s) => {
                let s = self.settle(Val::sure(s.clone()), span)?;
                let r = self.settle(Val::sure(r.clone()), span)?;
                let (rows, def) = match (&r.sym, &s.sym) {
                    (Sym::Absent, _) | (_, Sym::Absent) => return Ok((Rows::new(), Bool::FALSE)),
                    (Sym::Set(rows), _) => (rows.clone(), r.def),
                    (r, Sym::Set(over)) if *op == BinOp::DomRestrict => {
                        let (rows, def) = self.graph_over(r, over, span)?;
                        (Arc::new(rows), def)
                    }
                    _ => return infinite(),
                };
                let def = self.terms.and([def, s.def]);
                let s = s.sym;
                self.keep(&rows, def, |this, v| {
                    let (x, y) = as_pair(v, span)?;
                    Ok(match op {
                        BinOp::DomRestrict => this.has(&Sym::ground(x), &s, span)?,
                        BinOp::DomSubtract => this.has(&Sym::ground(x), &s, span)?.not(),
                        BinOp::RanRestrict => this.has(&Sym::ground(y), &s, span)?,
                        _ => this.has(&Sym::ground(y), &s, span)?.not(),
                    })
                })?
            }
            Lazy::Override(f, g) => {
                let ((f, d), (g, e)) = (self.rows(f, span)?, self.rows(g, span)?);
                let def = self.terms.and([d, e]);
                let new = self.domain(&g, span)?;
                let mut ways = Ways::new();
                for (v, p) in f.iter() {
                    let gone = new.get(as_pair(v, span)?.0).copied().unwrap_or(Bool::FALSE);
                    let gone = if self.mutant == Mutant::OverrideIsUnion { Bool::FALSE } else { gone };
                    let p = self.terms.and([*p, !gone]);
                    ways.entry(v.clone()).or_default().push(p);
                }
                for (v, p) in g.iter() {
                    ways.entry(v.clone()).or_default().push(*p);
                }
                (self.rows_of(ways), def)
            }
            Lazy::Compose(r, s) => {
                let s = self.settle(Val::sure(s.clone()), span)?;
                let (rows, def) = self.rows(r, span)?;
                let mut def = self.terms.and([def, s.def]);
                let mut ways = Ways::new();
                let mut ends: BTreeMap<Value, (Rows, Bool)> = BTreeMap::new();
                for (v, p) in rows.iter() {
                    let (x, y) = as_pair(v, span)?;
                    if !ends.contains_key(y) {
                        let found = self.images(&s.sym, &Sym::ground(y), span)?;
                        ends.insert(y.clone(), found);
                    }
                    let (targets, d) = ends[y].clone();
                    let d = self.terms.or([!*p, d]);
                    def = self.terms.and([def, d]);
                    self.within(ways.len() + targets.len(), span)?;
                    for (z, q) in targets {
                        let q = self.terms.and([*p, q]);
                        ways.entry(Value::pair(x.clone(), z)).or_default().push(q);
                    }
                }
                (self.rows_of(ways), def)
            }
            Lazy::Direct(r, s) => {
                let ((r, d), (s, e)) = (self.rows(r, span)?, self.rows(s, span)?);
                let mut rows = Rows::new();
                for (v, p) in r.iter() {
                    let (x, y) = as_pair(v, span)?;
                    let others: Vec<(Value, Bool)> =
                        Self::rows_from(&s, x).map(|(z, q)| (z.clone(), q)).collect();
                    self.within(rows.len() + others.len(), span)?;
                    for (z, q) in others {
                        let v = Value::pair(x.clone(), Value::pair(y.clone(), z));
                        rows.insert(v, self.terms.and([*p, q]));
                    }
                }
                (rows, self.terms.and([d, e]))
            }
            Lazy::Parallel(r, s) => {
                let ((r, d), (s, e)) = (self.rows(r, span)?, self.rows(s, span)?);
                self.within(r.len().saturating_mul(s.len()), span)?;
                let mut rows = Rows::new();
                for (v, p) in r.iter() {
                    for (w, q) in s.iter() {
                        let ((x, m), (y, n)) = (as_pair(v, span)?, as_pair(w, span)?);
                        let from = Value::pair(x.clone(), y.clone());
                        let to = Value::pair(m.clone(), n.clone());
                        rows.insert(Value::pair(from, to), self.terms.and([*p, *q]));
                    }
                }
                (rows, self.terms.and([d, e]))
            }
            Lazy::Dom(Sym::Fun(points)) => {
                (points.iter().map(|(x, (p, _))| (x.clone(), *p)).collect(), Bool::TRUE)
            }
            Lazy::Dom(r) => {
                let (rows, def) = self.rows(r, span)?;
                (self.domain(&rows, span)?, def)
            }
            Lazy::If(cond, a, b) => {
                let (a, b) = (self.elements(a, span)?, self.elements(b, span)?);
                let v = self.ite_val(*cond, a, b, span)?;
                let (rows, _) = self.rows(&v.sym, span)?;
                ((*rows).clone(), v.def)
            }
        })
    }

    /// The pairs of a relation whose first part is one of these.
    pub(super) fn graph_over(&mut self, r: &Sym<'m>, over: &Rows, span: Span) -> Res<(Rows, Bool)> {
        let mut rows = Rows::new();
        let mut def = Bool::TRUE;
        for (x, p) in over {
            let (found, d) = self.images(r, &Sym::ground(x), span)?;
            let d = self.terms.or([!*p, d]);
            def = self.terms.and([def, d]);
            self.within(rows.len() + found.len(), span)?;
            for (y, q) in found {
                rows.insert(Value::pair(x.clone(), y), self.terms.and([*p, q]));
            }
        }
        Ok((rows, def))
    }

    /// All relations of the kind between plain values, each with the condition that its parts are there.
    fn space(&mut self, kind: &Kind, from: &Rows, to: &Rows, span: Span) -> Res<Rows> {
        let exponent = u32::try_from(from.len()).unwrap_or(u32::MAX);
        let size = if kind.functional {
            let sure = kind.total && from.values().all(|p| *p == Bool::TRUE);
            (to.len() + usize::from(!sure)).checked_pow(exponent)
        } else {
            from.len().checked_mul(to.len()).and_then(|n| 1usize.checked_shl(u32::try_from(n).ok()?))
        };
        let Some(size) = size.filter(|n| *n <= 1 << 13) else {
            return unlisted(span, "a set of too many relations would have to be listed");
        };
        self.within(size, span)?;
        let mut all: Vec<BTreeSet<Value>> = vec![BTreeSet::new()];
        for (x, px) in from {
            if kind.functional {
                let keep = if kind.total && *px == Bool::TRUE { vec![] } else { all.clone() };
                let longer = all.iter().flat_map(|f| {
                    to.keys().map(|y| {
                        let mut g = f.clone();
                        g.insert(Value::pair(x.clone(), y.clone()));
                        g
                    })
                });
                all = longer.chain(keep).collect();
            } else {
                for y in to.keys() {
                    for i in 0..all.len() {
                        let mut with = all[i].clone();
                        with.insert(Value::pair(x.clone(), y.clone()));
                        all.push(with);
                    }
                }
            }
        }
        let mut rows = Rows::new();
        for relation in all {
            let (mut dom, mut ran) = (BTreeSet::new(), BTreeSet::new());
            for v in &relation {
                let (x, y) = as_pair(v, span)?;
                dom.insert(x);
                ran.insert(y);
            }
            if kind.injective && ran.len() != relation.len() {
                continue;
            }
            let mut when = vec![];
            for (x, p) in from {
                match (dom.contains(x), kind.total) {
                    (true, _) => when.push(*p),
                    (false, true) => when.push(!*p),
                    _ => {}
                }
            }
            for (y, p) in to {
                match (ran.contains(y), kind.surjective) {
                    (true, _) => when.push(*p),
                    (false, true) => when.push(!*p),
                    _ => {}
                }
            }
            let when = self.terms.and(when);
            if when != truth(false) {
                rows.insert(Value::Set(relation), when);
            }
        }
        Ok(rows)
    }

    /// Infinite for sure; `false` says nothing.
    pub(in crate::symbolic) fn is_certainly_infinite(&self, s: &Sym<'m>) -> bool {
        let Sym::Lazy(lazy) = s else { return false };
        let inf = |s: &Sym<'m>| self.is_certainly_infinite(s);
        let some = |s: &Sym<'m>| match s {
            Sym::Set(rows) => rows.values().any(|p| *p == Bool::TRUE),
            other => self.is_certainly_infinite(other),
        };
        match &**lazy {
            Lazy::All(ty) => is_infinite(ty),
            Lazy::Ints(low, high) => low.is_none() || high.is_none(),
            Lazy::Shift(_) => true,
            Lazy::Pow(_, s) | Lazy::Id(s) | Lazy::Inverse(s) => inf(s),
            Lazy::Seq(Fun::Seq | Fun::Seq1, s) => some(s),
            Lazy::Seq(Fun::Iseq | Fun::Iseq1, s) => inf(s),
            Lazy::Space(BinOp::Rel | BinOp::PartialFun | BinOp::PartialInj, a, b) => {
                inf(a) && some(b) || some(a) && inf(b)
            }
            Lazy::Space(BinOp::TotalFun | BinOp::TotalRel, a, b) => some(a) && inf(b),
            Lazy::Product(a, b) | Lazy::Prj(_, a, b) => inf(a) && some(b) || some(a) && inf(b),
            Lazy::Boole(BinOp::Union, a, b) => inf(a) || inf(b),
            Lazy::Boole(BinOp::Diff, a, Sym::Set(_)) => inf(a),
            Lazy::Struct(fields) => fields.iter().any(inf) && fields.iter().all(some),
            Lazy::If(_, a, b) => inf(a) && inf(b),
            _ => false,
        }
    }
}

/// Whether the type has infinitely many values.
pub(super) fn is_infinite(ty: &Type) -> bool {
    ty.is_infinite()
}

/// Whether a set that is not listed may have no value because of an element that no test of membership looks at: whoever
/// lists it would find the fault.
fn hides_faults(s: &Sym) -> bool {
    let Sym::Lazy(lazy) = s else { return false };
    match &**lazy {
        Lazy::Compr(c) | Lazy::Lambda(c) | Lazy::Map(c) => !(is_total(c.pred) && c.body.is_none_or(is_total)),
        Lazy::All(_) | Lazy::Ints(..) | Lazy::Ext(_) | Lazy::Shift(_) => false,
        Lazy::Pow(_, a) | Lazy::Seq(_, a) | Lazy::Id(a) | Lazy::Inverse(a) | Lazy::Dom(a) => hides_faults(a),
        Lazy::Space(_, a, b)
        | Lazy::Product(a, b)
        | Lazy::Boole(_, a, b)
        | Lazy::Prj(_, a, b)
        | Lazy::Restrict(_, a, b)
        | Lazy::Override(a, b)
        | Lazy::Compose(a, b)
        | Lazy::Direct(a, b)
        | Lazy::Parallel(a, b)
        | Lazy::If(_, a, b) => hides_faults(a) || hides_faults(b),
        Lazy::Struct(fields) => fields.iter().any(hides_faults),
    }
}
