//! Bound variables: all bindings under which a predicate may be true, unfolded.
//!
//! A variable runs through what one fact allows that the predicate cannot do without (`x : S`, `x = E`, `x <: S`,
//! `x |-> y : S`, comparisons from both sides), or through its type if that is small. The fact may itself depend on
//! unknowns: then it allows every value that it may allow, and the predicate says again which of them it does.

use super::{Encoder, Env, Lazy, Sym, Truth, Val, truth};
use crate::lang::diag::Span;
use crate::model::{BinOp, ConstId, Expr, ExprKind, LocalId, Quant, Type, UnOp, VarId};
use crate::symbolic::{RefusedKind, Res, unlisted};
use crate::value::Value;
use kanon_solver::term::Bool;
use num_bigint::BigInt;
use num_traits::One;
use std::collections::BTreeSet;
use std::ops::Not;

/// What is bound: a local, or a constant while PROPERTIES are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    Local(LocalId),
    Const(ConstId),
    /// A variable of the state, while what bounds it is read off the invariant.
    Var(VarId),
}

/// Bindings with the truth of the predicate, and the condition under which it is false for all others.
pub(in crate::symbolic) struct Sweep<'m> {
    pub found: Vec<(Env<'m>, Truth)>,
    pub complete: Bool,
}

/// A fact: what has to be true (or false) for the predicate to be as wanted.
pub(super) type Fact<'m> = (&'m Expr, bool);

struct Task<'a, 'm> {
    preds: &'a [&'m Expr],
    facts: Vec<Fact<'m>>,
    wanted: bool,
    points: bool,
    span: Span,
}

/// A type that is run through without a fact has at most so many values.
const MAX_CARRIER: u64 = 4096;

/// Values up to this size count as one when they are listed.
const SIZE_OF_SOME: u64 = 4;

/// The result, unless it was only that something cannot be listed or has no formula.
pub(in crate::symbolic) fn attempt<T>(result: Res<T>) -> Res<Option<T>> {
    match result {
        Ok(t) => Ok(Some(t)),
        Err(r) if r.kind == RefusedKind::Budget => Err(r),
        Err(_) => Ok(None),
    }
}

impl<'m> Encoder<'m> {
    pub(in crate::symbolic) fn sweep_locals(
        &mut self,
        env: &Env<'m>,
        locals: &[LocalId],
        pred: &'m Expr,
        wanted: bool,
    ) -> Res<Sweep<'m>> {
        let slots: Vec<Slot> = locals.iter().map(|l| Slot::Local(*l)).collect();
        self.sweep(env, &slots, &[pred], wanted, false, pred.span)
    }

    /// The same for those who do not look at the values of the variables: then one that an equation determines has its
    /// value, whatever that is.
    pub(super) fn sweep_points(
        &mut self,
        env: &Env<'m>,
        locals: &[LocalId],
        pred: &'m Expr,
        wanted: bool,
    ) -> Res<Sweep<'m>> {
        let slots: Vec<Slot> = locals.iter().map(|l| Slot::Local(*l)).collect();
        self.sweep(env, &slots, &[pred], wanted, true, pred.span)
    }

    /// Every binding of the slots under which the conjunction is not certainly `!wanted`, with the truth of its being
    /// as wanted.
    pub(in crate::symbolic) fn sweep(
        &mut self,
        env: &Env<'m>,
        slots: &[Slot],
        preds: &[&'m Expr],
        wanted: bool,
        points: bool,
        span: Span,
    ) -> Res<Sweep<'m>> {
        let env = slots.iter().fold(env.clone(), |env, s| env.with(*s, Val::none()));
        let mut facts = vec![];
        preds.iter().for_each(|p| collect(p, wanted, &mut facts));
        let task = Task { preds, facts, wanted, points, span };
        let mut found = vec![];
        let complete = self.bind_next(&task, &env, slots, &mut found)?;
        Ok(Sweep { found, complete })
    }

    fn is_wanted(&mut self, task: &Task<'_, 'm>, env: &Env<'m>) -> Res<Truth> {
        let mut parts = vec![];
        for p in task.preds {
            let t = self.pred(env, p)?;
            parts.push(t);
            if t.no == Bool::TRUE {
                break;
            }
        }
        let all = self.and(&parts);
        Ok(if task.wanted { all } else { all.not() })
    }

    fn bind_next(
        &mut self,
        task: &Task<'_, 'm>,
        env: &Env<'m>,
        slots: &[Slot],
        found: &mut Vec<(Env<'m>, Truth)>,
    ) -> Res<Bool> {
        if slots.is_empty() {
            let t = self.is_wanted(task, env)?;
            if t.no != Bool::TRUE {
                found.push((env.clone(), t));
            }
            return Ok(Bool::TRUE);
        }
        if task.points
            && let Some((slot, v)) = self.determined_by(task, env, slots)?
        {
            let rest: Vec<Slot> = slots.iter().copied().filter(|s| *s != slot).collect();
            let bound = env.clone().with(slot, Val::sure(v.sym));
            let complete = self.bind_next(task, &bound, &rest, found)?;
            let complete = self.terms.and([complete, v.def]);
            if complete == Bool::TRUE {
                return Ok(complete);
            }
            let decided = self.is_wanted(task, env)?.no;
            return Ok(self.terms.or([complete, decided]));
        }
        let Some((slot, candidates, mut complete)) = self.choose(task, env, slots)? else {
            // Nothing bounds any of them; it may not matter.
            let decided = self.is_wanted(task, env)?.no;
            // If the set that a variable has to be in has no value, the predicate has none outside of what decides it.
            if decided == Bool::TRUE || self.is_bound_undefined(task, env, slots)? {
                return Ok(decided);
            }
            return unlisted(task.span, "nothing bounds a variable of an infinite type");
        };
        let rest: Vec<Slot> = slots.iter().copied().filter(|s| *s != slot).collect();
        for v in candidates {
            self.spend(1, task.span)?;
            let env = env.clone().with(slot, Val::sure(Sym::ground(&v)));
            if !rest.is_empty() && self.is_ruled_out(task, &env)? {
                continue;
            }
            let sub = self.bind_next(task, &env, &rest, found)?;
            complete = self.terms.and([complete, sub]);
        }
        if complete != Bool::TRUE {
            // False whatever the rest is.
            let decided = self.is_wanted(task, env)?.no;
            complete = self.terms.or([complete, decided]);
        }
        Ok(complete)
    }

    /// A slot of an infinite or large type that `x = E` or `x : {E}` determines, and its value.
    fn determined_by(
        &mut self,
        task: &Task<'_, 'm>,
        env: &Env<'m>,
        slots: &[Slot],
    ) -> Res<Option<(Slot, Val<'m>)>> {
        for &(fact, truth) in &task.facts {
            for (op, pattern, other) in sides(fact, truth) {
                let other = match (op, &other.kind) {
                    (BinOp::Eq, _) => other,
                    (BinOp::In, ExprKind::SetExt(items)) if items.len() == 1 => &items[0],
                    _ => continue,
                };
                for &slot in slots {
                    if !names(pattern, slot)
                        || self.carrier_size(self.slot_type(slot)).is_some_and(|n| n <= MAX_CARRIER)
                    {
                        continue;
                    }
                    let Some(v) = attempt(self.eval(env, other))? else { continue };
                    // One that is undefined somewhere does not say what the others say there.
                    if v.def != Bool::TRUE {
                        continue;
                    }
                    if let Some(sym) = part(pattern, slot, &v.sym) {
                        return Ok(Some((slot, Val { sym, def: v.def })));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether a fact about one of the slots never has a value, whatever the slots are.
    fn is_bound_undefined(&mut self, task: &Task<'_, 'm>, env: &Env<'m>, slots: &[Slot]) -> Res<bool> {
        for &(fact, truth) in &task.facts {
            for (_, pattern, other) in sides(fact, truth) {
                let open = |e: &Expr| slots.iter().any(|s| is_slot(e, *s));
                if slots.iter().any(|s| names(pattern, *s)) && !other.any(&open) {
                    let Some(item) = attempt(self.item(env, other))? else { continue };
                    let Some(listed) = attempt(self.settle(item, other.span))? else { continue };
                    if listed.is_none() {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Whether a simple fact is false already.
    fn is_ruled_out(&mut self, task: &Task<'_, 'm>, env: &Env<'m>) -> Res<bool> {
        for &(fact, wanted) in &task.facts {
            if !is_simple(fact) {
                continue;
            }
            if let Some(t) = attempt(self.pred(env, fact))?
                && (if wanted { t.no } else { t.yes }) == Bool::TRUE
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn choose(
        &mut self,
        task: &Task<'_, 'm>,
        env: &Env<'m>,
        slots: &[Slot],
    ) -> Res<Option<(Slot, Vec<Value>, Bool)>> {
        let mut partial = None;
        for &slot in slots {
            let small = self.carrier_size(self.slot_type(slot)).filter(|n| *n <= MAX_CARRIER);
            if small.is_none_or(|n| n > 16)
                && let Some((values, complete)) = self.bounded(env, (slot, slots), &task.facts, task.span)?
            {
                if complete == Bool::TRUE {
                    return Ok(Some((slot, values, complete)));
                }
                if small.is_none() && partial.is_none() {
                    partial = Some((slot, values, complete));
                }
            }
            if small.is_some() {
                let values = self.carrier(self.slot_type(slot), task.span)?;
                return Ok(Some((slot, values, Bool::TRUE)));
            }
        }
        Ok(partial)
    }

    pub(super) fn slot_type(&self, slot: Slot) -> &'m Type {
        match slot {
            Slot::Local(id) => &self.model.locals[id.index()].ty,
            Slot::Const(id) => &self.model.constants[id.index()].ty,
            Slot::Var(id) => &self.model.variables[id.index()].ty,
        }
    }

    /// What the facts allow one of the open slots to be, and when it cannot be anything else.
    fn bounded(
        &mut self,
        env: &Env<'m>,
        (slot, open): (Slot, &[Slot]),
        facts: &[Fact<'m>],
        span: Span,
    ) -> Res<Option<(Vec<Value>, Bool)>> {
        let mut low: Option<(BigInt, Bool)> = None;
        let mut high: Option<(BigInt, Bool)> = None;
        let mut partial: Option<(BTreeSet<Value>, Bool)> = None;
        for &(fact, truth) in facts {
            // One of two has to be true: the slot is what the one or the other allows.
            if let Some([one, other]) = either(fact, truth)
                && let Some((mut values, a)) = self.bounded(env, (slot, open), &one, span)?
                && let Some((more, b)) = self.bounded(env, (slot, open), &other, span)?
                && (a, b) == (Bool::TRUE, Bool::TRUE)
            {
                values.extend(more);
                values.sort();
                values.dedup();
                return Ok(Some((values, Bool::TRUE)));
            }
            for (op, pattern, other) in sides(fact, truth) {
                if !names(pattern, slot) {
                    continue;
                }
                let Some(allowed) = attempt(self.allowed(env, op, slot, pattern, other))? else { continue };
                match allowed {
                    None => {}
                    Some(Allowed::Values(_, Bool::FALSE)) => {}
                    Some(Allowed::Values(values, def)) => {
                        if def == Bool::TRUE {
                            return Ok(Some((values.into_iter().collect(), def)));
                        }
                        let (all, defs) = partial.get_or_insert((BTreeSet::new(), Bool::FALSE));
                        all.extend(values);
                        *defs = self.terms.or([*defs, def]);
                    }
                    Some(Allowed::Range(l, h, def)) => {
                        // A bound that always exists is better than one that may not; the narrower of two such.
                        if let Some(l) = l
                            && low
                                .as_ref()
                                .is_none_or(|(a, d)| *d != Bool::TRUE || def == Bool::TRUE && l > *a)
                        {
                            low = Some((l, def));
                        }
                        if let Some(h) = h
                            && high
                                .as_ref()
                                .is_none_or(|(a, d)| *d != Bool::TRUE || def == Bool::TRUE && h < *a)
                        {
                            high = Some((h, def));
                        }
                    }
                }
            }
        }
        // Another variable may be between this one and a bound that is missing.
        let others: Vec<Slot> = open.iter().copied().filter(|s| *s != slot).collect();
        for (bound, above) in [(&mut low, false), (&mut high, true)] {
            if bound.is_none() && !others.is_empty() {
                *bound = self.far_bound(env, (slot, &others), above, facts)?.map(|b| (b, Bool::TRUE));
            }
        }
        if let (Some((low, d)), Some((high, e))) = (low, high) {
            let def = self.terms.and([d, e]);
            let n = &high - &low + BigInt::one();
            let n = if n < BigInt::ZERO { 0 } else { usize::try_from(&n).unwrap_or(usize::MAX) };
            if attempt(self.within(n, span))?.is_some() {
                let values: Vec<Value> = (0..n).map(|i| Value::Int(&low + i)).collect();
                if def == Bool::TRUE || partial.is_none() {
                    return Ok(Some((values, def)));
                }
                let (all, defs) = partial.get_or_insert((BTreeSet::new(), Bool::FALSE));
                all.extend(values);
                *defs = self.terms.or([*defs, def]);
            }
        }
        Ok(partial.map(|(values, def)| (values.into_iter().collect(), def)))
    }

    /// A bound of an integer, from above or below, by facts that always have a value: its own, or those of open slots that
    /// it is compared with.
    fn far_bound(
        &mut self,
        env: &Env<'m>,
        (slot, open): (Slot, &[Slot]),
        above: bool,
        facts: &[Fact<'m>],
    ) -> Res<Option<BigInt>> {
        let mut best: Option<BigInt> = None;
        for &(fact, truth) in facts {
            for (op, pattern, other) in sides(fact, truth) {
                if !is_slot(pattern, slot) || pattern.ty != Type::Int {
                    continue;
                }
                let step = match (op, above) {
                    (BinOp::Eq | BinOp::Le, true) | (BinOp::Eq | BinOp::Ge, false) => BigInt::ZERO,
                    (BinOp::Lt, true) => -BigInt::one(),
                    (BinOp::Gt, false) => BigInt::one(),
                    (BinOp::In, _) => BigInt::ZERO,
                    _ => continue,
                };
                let next = match other.kind {
                    ExprKind::Local(id) => Some(Slot::Local(id)),
                    ExprKind::Const(id) => Some(Slot::Const(id)),
                    _ => None,
                };
                let bound = match next.filter(|n| open.contains(n)) {
                    Some(next) => {
                        // No variable twice on the way, so that it ends.
                        let others: Vec<Slot> = open.iter().copied().filter(|s| *s != next).collect();
                        self.far_bound(env, (next, &others), above, facts)?.map(|b| b + step)
                    }
                    None => match attempt(self.allowed(env, op, slot, pattern, other))?.flatten() {
                        Some(Allowed::Range(low, high, Bool::TRUE)) => {
                            if above {
                                high
                            } else {
                                low
                            }
                        }
                        Some(Allowed::Values(values, Bool::TRUE)) => {
                            let end = if above { values.last() } else { values.first() };
                            match end {
                                Some(Value::Int(i)) => Some(i.clone()),
                                _ => None,
                            }
                        }
                        _ => None,
                    },
                };
                best = match (best, bound) {
                    (Some(a), Some(b)) => Some(if above { a.min(b) } else { a.max(b) }),
                    (a, b) => a.or(b),
                };
            }
        }
        Ok(best)
    }

    /// What `pattern op other` leaves for the slot; `None` if it cannot be told yet.
    fn allowed(
        &mut self,
        env: &Env<'m>,
        op: BinOp,
        slot: Slot,
        pattern: &'m Expr,
        other: &'m Expr,
    ) -> Res<Option<Allowed>> {
        let span = other.span;
        let whole = is_slot(pattern, slot);
        if !is_bound(op) {
            return Ok(None);
        }
        let item = self.item(env, other)?;
        if item.is_none() {
            return Ok(None);
        }
        let values = |all: BTreeSet<Value>, def: Bool| -> Option<Allowed> {
            let parts: Option<BTreeSet<Value>> = all.iter().map(|v| project(pattern, slot, v)).collect();
            parts.map(|p| Allowed::Values(p, def))
        };
        Ok(match op {
            BinOp::Eq => {
                let options = self.options(&item.sym, span)?;
                let def = match &item.sym {
                    Sym::Lazy(_) => {
                        let listed = self.elements(&item.sym, span)?;
                        self.terms.and([item.def, listed.def])
                    }
                    _ => item.def,
                };
                values(options.into_iter().map(|(v, _)| v).collect(), def)
            }
            BinOp::In => {
                if let Sym::Lazy(lazy) = &item.sym
                    && let Lazy::Ints(low, high) = &**lazy
                    && whole
                {
                    let low = low.as_ref().and_then(|l| self.range_of(l).0);
                    let high = high.as_ref().and_then(|h| self.range_of(h).1);
                    return Ok(Some(Allowed::Range(low, high, item.def)));
                }
                let listed = self.elements(&item.sym, span)?;
                let def = self.terms.and([item.def, listed.def]);
                values(keys(&listed.sym), def)
            }
            BinOp::Subset | BinOp::StrictSubset if whole => {
                let powers = Lazy::Pow(crate::model::Fun::Pow, item.sym).into();
                let listed = self.elements(&powers, span)?;
                let def = self.terms.and([item.def, listed.def]);
                values(keys(&listed.sym), def)
            }
            BinOp::Lt | BinOp::Le if whole => {
                let high = self.range_of(&item.sym).1;
                let high = high.map(|h| if op == BinOp::Lt { h - BigInt::one() } else { h });
                Some(Allowed::Range(None, high, item.def))
            }
            BinOp::Gt | BinOp::Ge if whole => {
                let low = self.range_of(&item.sym).0;
                let low = low.map(|l| if op == BinOp::Gt { l + BigInt::one() } else { l });
                Some(Allowed::Range(low, None, item.def))
            }
            _ => None,
        })
    }

    /// How many values a finite type has, if that fits a word.
    pub(in crate::symbolic) fn carrier_size(&self, ty: &Type) -> Option<u64> {
        match ty {
            Type::Int | Type::Str | Type::Real | Type::Free(_) | Type::Again(_) => None,
            Type::Pred | Type::Bool => Some(2),
            Type::Given(set) => Some(self.scope.size(*set)),
            Type::Pair(p) => self.carrier_size(&p.0)?.checked_mul(self.carrier_size(&p.1)?),
            Type::Pow(t) => 1u64.checked_shl(u32::try_from(self.carrier_size(t)?).ok()?),
            Type::Rec(fields) => {
                fields.iter().try_fold(1u64, |n, (_, t)| n.checked_mul(self.carrier_size(t)?))
            }
        }
    }

    /// How many plain values a value of a finite type is made of, on average.
    fn value_size(&self, ty: &Type) -> u64 {
        match ty {
            Type::Pair(p) => self.value_size(&p.0).saturating_add(self.value_size(&p.1)),
            Type::Rec(fields) => fields.iter().map(|(_, t)| self.value_size(t)).fold(0, u64::saturating_add),
            Type::Pow(t) => {
                let elements = self.carrier_size(t).unwrap_or(u64::MAX) / 2;
                elements.saturating_mul(self.value_size(t)).saturating_add(1)
            }
            _ => 1,
        }
    }

    /// The values of a finite type.
    pub(super) fn carrier(&mut self, ty: &Type, span: Span) -> Res<Vec<Value>> {
        let size = self.carrier_size(ty).and_then(|n| usize::try_from(n).ok());
        let Some(size) = size else { return unlisted(span, "a type with infinitely or too many values") };
        // Sets inside of values take their room too, and time whenever a value is copied.
        let room = u64::try_from(size).unwrap_or(u64::MAX).saturating_mul(self.value_size(ty)) / SIZE_OF_SOME;
        self.within(usize::try_from(room).unwrap_or(usize::MAX).max(size), span)?;
        Ok(match ty {
            Type::Int | Type::Str | Type::Real | Type::Free(_) | Type::Again(_) => {
                return unlisted(span, "a type with infinitely many values");
            }
            Type::Pred | Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Given(set) => (0..size as u32).map(|i| Value::Elem(*set, i)).collect(),
            Type::Pair(p) => {
                let (a, b) = (self.carrier(&p.0, span)?, self.carrier(&p.1, span)?);
                a.iter().flat_map(|x| b.iter().map(|y| Value::pair(x.clone(), y.clone()))).collect()
            }
            Type::Pow(t) => {
                let mut all = vec![BTreeSet::new()];
                for v in self.carrier(t, span)? {
                    for i in 0..all.len() {
                        let mut with = all[i].clone();
                        with.insert(v.clone());
                        all.push(with);
                    }
                }
                all.into_iter().map(Value::Set).collect()
            }
            Type::Rec(fields) => {
                let mut all = vec![vec![]];
                for (_, t) in fields.iter() {
                    let part = self.carrier(t, span)?;
                    let longer = all.iter().flat_map(|r: &Vec<Value>| {
                        part.iter().map(|v| r.iter().cloned().chain([v.clone()]).collect::<Vec<_>>())
                    });
                    all = longer.collect();
                }
                all.into_iter().map(Value::Rec).collect()
            }
        })
    }
}

/// The part of an encoded value that stands where the slot stands in the pattern.
fn part<'m>(pattern: &Expr, slot: Slot, s: &Sym<'m>) -> Option<Sym<'m>> {
    match (&pattern.kind, s) {
        (ExprKind::Binary(BinOp::Pair, a, b), Sym::Pair(p)) => {
            part(a, slot, &p.0).or_else(|| part(b, slot, &p.1))
        }
        _ => is_slot(pattern, slot).then(|| s.clone()),
    }
}

enum Allowed {
    Values(BTreeSet<Value>, Bool),
    Range(Option<BigInt>, Option<BigInt>, Bool),
}

fn keys(s: &Sym<'_>) -> BTreeSet<Value> {
    match s {
        Sym::Set(rows) => rows.iter().filter(|(_, p)| **p != truth(false)).map(|(v, _)| v.clone()).collect(),
        _ => BTreeSet::new(),
    }
}

/// No bound variables inside.
fn is_simple(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Binary(_, a, b) => is_simple(a) && is_simple(b),
        ExprKind::Unary(_, a) => is_simple(a),
        ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Local(_) | ExprKind::Elem(..) => true,
        ExprKind::Int(_) | ExprKind::Lit(_) | ExprKind::Given(_) => true,
        _ => false,
    }
}

/// The facts without which the predicate cannot have the wanted truth, each with its own truth.
pub(super) fn collect<'m>(p: &'m Expr, truth: bool, out: &mut Vec<Fact<'m>>) {
    match &p.kind {
        ExprKind::Unary(UnOp::Not, a) => collect(a, !truth, out),
        ExprKind::Binary(BinOp::And, a, b) if truth => {
            collect(a, true, out);
            collect(b, true, out);
        }
        ExprKind::Binary(BinOp::Or, a, b) if !truth => {
            collect(a, false, out);
            collect(b, false, out);
        }
        ExprKind::Binary(BinOp::Implies, a, b) if !truth => {
            collect(a, true, out);
            collect(b, false, out);
        }
        ExprKind::Quant(Quant::Exists, _, a) if truth => collect(a, true, out),
        ExprKind::Quant(Quant::Forall, _, a) if !truth => collect(a, false, out),
        _ => out.push((p, truth)),
    }
}

/// A disjunction as the facts of its parts, of which those of one have to be true.
fn either<'m>(fact: &'m Expr, truth: bool) -> Option<[Vec<Fact<'m>>; 2]> {
    let (a, b) = match (&fact.kind, truth) {
        (ExprKind::Binary(BinOp::Or, a, b), true) => ((a, true), (b, true)),
        (ExprKind::Binary(BinOp::Implies, a, b), true) => ((a, false), (b, true)),
        (ExprKind::Binary(BinOp::And, a, b), false) => ((a, false), (b, false)),
        _ => return None,
    };
    let facts = |(e, truth): (&'m Expr, bool)| {
        let mut facts = vec![];
        collect(e, truth, &mut facts);
        facts
    };
    Some([facts((&**a.0, a.1)), facts((&**b.0, b.1))])
}

/// A fact as relations from one side to the other.
pub(super) fn sides(fact: &Expr, truth: bool) -> Vec<(BinOp, &Expr, &Expr)> {
    let ExprKind::Binary(op, a, b) = &fact.kind else { return vec![] };
    let Some(op) = with_truth(*op, truth) else { return vec![] };
    // `{x, y} <: S` is `x : S` and `y : S`.
    if let (BinOp::Subset | BinOp::StrictSubset, ExprKind::SetExt(items)) = (op, &a.kind) {
        return items.iter().map(|item| (BinOp::In, item, &**b)).collect();
    }
    let mut all = vec![(op, &**a, &**b)];
    all.extend(mirrored(op).map(|op| (op, &**b, &**a)));
    all
}

/// Whether the relation leaves only some values for its left side.
pub(super) fn is_bound(op: BinOp) -> bool {
    use BinOp::*;
    matches!(op, Eq | In | Subset | StrictSubset | Lt | Le | Gt | Ge)
}

/// The relation that holds when this one has the given truth.
fn with_truth(op: BinOp, truth: bool) -> Option<BinOp> {
    if truth {
        return Some(op);
    }
    Some(match op {
        BinOp::Neq => BinOp::Eq,
        BinOp::NotIn => BinOp::In,
        BinOp::NotSubset => BinOp::Subset,
        BinOp::NotStrictSubset => BinOp::StrictSubset,
        BinOp::Lt => BinOp::Ge,
        BinOp::Le => BinOp::Gt,
        BinOp::Gt => BinOp::Le,
        BinOp::Ge => BinOp::Lt,
        _ => return None,
    })
}

/// The relation with its sides exchanged.
fn mirrored(op: BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Eq => BinOp::Eq,
        BinOp::Lt => BinOp::Gt,
        BinOp::Le => BinOp::Ge,
        BinOp::Gt => BinOp::Lt,
        BinOp::Ge => BinOp::Le,
        _ => return None,
    })
}

pub(super) fn is_slot(e: &Expr, slot: Slot) -> bool {
    match (&e.kind, slot) {
        (ExprKind::Local(a), Slot::Local(b)) => *a == b,
        (ExprKind::Const(a), Slot::Const(b)) => *a == b,
        (ExprKind::Var(a), Slot::Var(b)) => *a == b,
        _ => false,
    }
}

/// Whether the pattern is the slot, or a pair with the slot as a part.
fn names(pattern: &Expr, slot: Slot) -> bool {
    match &pattern.kind {
        ExprKind::Binary(BinOp::Pair, a, b) => names(a, slot) || names(b, slot),
        _ => is_slot(pattern, slot),
    }
}

/// The part of the value that stands where the slot stands in the pattern.
fn project(pattern: &Expr, slot: Slot, value: &Value) -> Option<Value> {
    match (&pattern.kind, value) {
        (ExprKind::Binary(BinOp::Pair, a, b), Value::Pair(p)) => {
            project(a, slot, &p.0).or_else(|| project(b, slot, &p.1))
        }
        _ => is_slot(pattern, slot).then(|| value.clone()),
    }
}
