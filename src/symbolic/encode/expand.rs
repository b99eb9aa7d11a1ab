//! Sets: what are the elements.

use super::set::{Kind, Ways, as_pair, hides_faults};
use super::{Encoder, Lazy, Mutant, Rows, Sym, Truth, Val, ill_typed, truth};
use crate::lang::diag::Span;
use crate::model::{BinOp, Fun};
use crate::symbolic::{Res, unlisted};
use crate::value::Value;
use kanon_solver::term::Bool;
use num_bigint::BigInt;
use num_traits::One;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Not;
use std::sync::Arc;

impl<'m> Encoder<'m> {
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

    pub(super) fn product(&mut self, a: &Rows, b: &Rows, span: Span) -> Res<Rows> {
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
    pub(super) fn keep(
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

    pub(super) fn map_rows(
        &mut self,
        rows: &Rows,
        span: Span,
        f: impl Fn(&Value, &Value) -> Value,
    ) -> Res<Rows> {
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
                    (Some((e, d)), None) if e.is_empty() && !hides_faults(b) => (Rows::new(), d),
                    (None, Some((e, d))) if e.is_empty() && !hides_faults(a) => (Rows::new(), d),
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
                // Whoever can list the set, or the relation, would find a fault in it; nobody lists what is infinite.
                if hides_faults(&s.sym) || self.may_hide_faults(&r.sym) {
                    return infinite();
                }
                let (rows, def) = match (&r.sym, &s.sym) {
                    (Sym::Absent, _) | (_, Sym::Absent) => return Ok((Rows::new(), Bool::FALSE)),
                    (Sym::Set(rows), _) => (rows.clone(), r.def),
                    (Sym::Fun(_), _) => {
                        let (rows, def) = self.rows(&r.sym, span)?;
                        (rows, self.terms.and([def, r.def]))
                    }
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
                if self.may_hide_faults(&s.sym) {
                    return infinite();
                }
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
    pub(super) fn space(&mut self, kind: &Kind, from: &Rows, to: &Rows, span: Span) -> Res<Rows> {
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
}
