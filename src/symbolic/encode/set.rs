//! Sets: is this an element, is a relation one of a kind, is it certainly infinite, may it hide a fault.

use super::{Closure, Encoder, Env, Lazy, Mutant, Options, Points, Rows, Sym, Truth, Val, ill_typed};
use crate::lang::diag::Span;
use crate::model::reading::is_total;
use crate::model::{BinOp, ExprKind, Fun, Lit, Type};
use crate::symbolic::{Res, unlisted};
use crate::value::Value;
use kanon_solver::term::Bool;
use std::collections::BTreeMap;
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
pub(super) type Groups = BTreeMap<Value, Vec<(Value, Bool)>>;

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
    pub(super) fn at(&mut self, c: &Closure<'m>, value: &Sym<'m>, span: Span) -> Res<Env<'m>> {
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
        // Explicit search lists the parts of these to test a member, and finds a fault of any element.
        let may_hide = match &*lazy {
            Lazy::Boole(BinOp::Diff, _, b) => self.may_hide_faults(b),
            Lazy::Product(..) | Lazy::Boole(..) | Lazy::Struct(_) => false,
            other => self.has_hidden_part(other),
        };
        if may_hide {
            return unlisted(span, "membership in a set of which a part may have no value");
        }
        self.enter(span)?;
        let result = self.lazy_has(v, &lazy, span);
        self.leave();
        result
    }

    pub(super) fn lazy_has(&mut self, v: &Sym<'m>, set: &Lazy<'m>, span: Span) -> Res<Truth> {
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

    pub(super) fn is_in_space(
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
        if kind.functional && self.mutant != Mutant::FunctionalForgotten {
            let functional = self.is_functional(&rows, false, span)?;
            t = self.and_then(t, Truth::sure(functional));
        }
        if kind.injective && self.mutant != Mutant::InjectiveForgotten {
            let injective = self.is_functional(&rows, true, span)?;
            t = self.and_then(t, Truth::sure(injective));
        }
        if kind.total && self.mutant != Mutant::PartialIsTotal {
            let covers = self.covers(from, &dom, span)?;
            t = self.and_then(t, covers);
        }
        if kind.surjective && self.mutant != Mutant::SurjectiveForgotten {
            let covers = self.covers(to, &ran, span)?;
            t = self.and_then(t, covers);
        }
        Ok(self.only_if(t, def))
    }

    pub(super) fn is_fun_in_space(
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
        if kind.injective && self.mutant != Mutant::InjectiveForgotten {
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

impl<'m> Encoder<'m> {
    /// Whether a relation that is not listed may have a fault that whoever lists it would find. Nobody lists one that is
    /// infinite: it is looked at where it is needed.
    pub(super) fn may_hide_faults(&self, s: &Sym<'m>) -> bool {
        hides_faults(s) && !self.is_certainly_infinite(s) && !is_over_all_integers(s)
    }

    /// The same of a part that it is made of.
    pub(super) fn has_hidden_part(&self, lazy: &Lazy<'m>) -> bool {
        match lazy {
            Lazy::Compr(_) | Lazy::Lambda(_) | Lazy::Map(_) => false,
            Lazy::All(_) | Lazy::Ints(..) | Lazy::Ext(_) | Lazy::Shift(_) => false,
            Lazy::Pow(_, a) | Lazy::Seq(_, a) | Lazy::Id(a) | Lazy::Inverse(a) | Lazy::Dom(a) => {
                self.may_hide_faults(a)
            }
            Lazy::Space(_, a, b)
            | Lazy::Product(a, b)
            | Lazy::Boole(_, a, b)
            | Lazy::Prj(_, a, b)
            | Lazy::Restrict(_, a, b)
            | Lazy::Override(a, b)
            | Lazy::Compose(a, b)
            | Lazy::Direct(a, b)
            | Lazy::Parallel(a, b)
            | Lazy::If(_, a, b) => self.may_hide_faults(a) || self.may_hide_faults(b),
            Lazy::Struct(fields) => fields.iter().any(|f| self.may_hide_faults(f)),
        }
    }

    /// The elements, or the set as it is if these are too many and none of them can be a fault: what a name is given has
    /// its value whether anybody asks for it or not.
    pub(in crate::symbolic) fn settle_whole(&mut self, v: Val<'m>, span: Span) -> Res<Val<'m>> {
        let v = self.settle(v, span)?;
        if self.may_hide_faults(&v.sym) {
            return unlisted(span, "a set that cannot be listed and may have no value");
        }
        Ok(v)
    }
}

/// `{x | x : INTEGER}`, `%x.(x : NATURAL | E)` and their like.
fn is_over_all_integers(s: &Sym) -> bool {
    let Sym::Lazy(lazy) = s else { return false };
    matches!(&**lazy, Lazy::Compr(c) | Lazy::Lambda(c) if is_of_all_integers(c))
}

/// The same of the closure.
pub(super) fn is_of_all_integers(c: &Closure) -> bool {
    let [local] = c.locals else { return false };
    let ExprKind::Binary(BinOp::In, x, set) = &c.pred.kind else { return false };
    matches!(x.kind, ExprKind::Local(id) if id == *local)
        && matches!(set.kind, ExprKind::Lit(Lit::Integer | Lit::Natural | Lit::Natural1))
}

/// Whether the type has infinitely many values.
pub(super) fn is_infinite(ty: &Type) -> bool {
    ty.is_infinite()
}

/// Whether a set that is not listed may have no value because of an element that no test of membership looks at: whoever
/// lists it would find the fault.
pub(super) fn hides_faults(s: &Sym) -> bool {
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
