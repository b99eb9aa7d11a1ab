//! Bound variables: all their values, one after the other.
//!
//! A variable that an equation determines is taken from it. Otherwise one of a small type runs through the whole type,
//! and for others one fact is looked for that the predicate cannot do without (`x : S`, `x <: S`, `x |-> y : S`,
//! `{x, y} <: S`, `#y.(P & x = E)`, or comparisons from both sides) and whose other side can be evaluated already;
//! outside of it the predicate is decided. A function from a set that is too large to be listed is made point by
//! point, and given up as soon as the predicate is decided, whatever the other points are ([`Task::points`]). Without such
//! a fact an integer runs through MININT..MAXINT, and the context remembers it.
//!
//! Which fact is taken follows from the text and from what has a value, and from nothing that anybody says.

use super::build::sequences;
use super::carrier::{carrier, carrier_size, is_infinite, samples};
use super::set::{Partial, Symbolic, elements, expand, settle};
use super::*;
use crate::model::{BinOp, Expr, ExprKind, Fun, Quant, Type, UnOp};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive};
use std::ops::ControlFlow;

/// A type with at most this many values is run through without looking at the predicate.
const SMALL: u64 = 1 << 10;

/// As many functions as this are listed; if there may be more, they are made point by point.
const FUNCTIONS: usize = 1 << 8;

/// So many bindings are tried to see that a bound without a value matters.
const TRIES: usize = 64;

/// What to do with an integer that nothing bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unbounded {
    /// MININT..MAXINT, remembered in the context.
    Truncate,
    /// A limit: somebody wants all the elements of a set.
    Refuse,
}

/// Bindings under which a predicate is true, and those under which it has no truth value.
#[derive(Debug, Default)]
pub struct Solutions<'m> {
    pub found: Vec<Env<'m>>,
    pub faulty: Vec<(Env<'m>, Fault)>,
}

/// All bindings of the locals that make the predicate true.
pub fn solutions<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    locals: &[LocalId],
    pred: &'m Expr,
) -> Result<Solutions<'m>, Fault> {
    let slots: Vec<Slot> = locals.iter().map(|l| Slot::Local(*l)).collect();
    all(cx, env, &slots, &[pred], Unbounded::Truncate)
}

pub(super) fn all<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    slots: &[Slot],
    preds: &[&'m Expr],
    unbounded: Unbounded,
) -> Result<Solutions<'m>, Fault> {
    let mut out = Solutions::default();
    let _ = search(cx, env, slots, preds, true, unbounded, &mut |env, truth| {
        match truth {
            Ok(true) => out.found.push(env.clone()),
            Ok(false) => {}
            Err(fault) => out.faulty.push((env.clone(), fault)),
        }
        ControlFlow::Continue(())
    })?;
    Ok(out)
}

/// The solutions, where a binding without a truth value makes the whole faulty: sets are built from these.
pub(super) fn exactly<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    locals: &[LocalId],
    pred: &'m Expr,
) -> Result<Vec<Env<'m>>, Fault> {
    let slots: Vec<Slot> = locals.iter().map(|l| Slot::Local(*l)).collect();
    let solutions = all(cx, env, &slots, &[pred], Unbounded::Refuse)?;
    match solutions.faulty.into_iter().map(|(_, fault)| fault).reduce(worse) {
        Some(fault) => Err(fault),
        None => Ok(solutions.found),
    }
}

pub(super) type Visit<'a, 'm> = dyn FnMut(&Env<'m>, Result<bool, Fault>) -> ControlFlow<()> + 'a;

/// Visits every binding of the slots under which the conjunction is not certainly `!wanted`, with its truth.
pub(super) fn search<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    slots: &[Slot],
    preds: &[&'m Expr],
    wanted: bool,
    unbounded: Unbounded,
    visit: &mut Visit<'_, 'm>,
) -> Result<ControlFlow<()>, Fault> {
    let env = env.clone().without(slots.iter().copied());
    let (mut facts, mut bound) = (vec![], vec![]);
    preds.iter().for_each(|p| collect(p, wanted, &mut facts, &mut bound));
    let task = Task { cx, preds, facts, bound, wanted, unbounded };
    task.run(&env, slots, visit)
}

struct Task<'a, 'm> {
    cx: &'a Cx<'m>,
    preds: &'a [&'m Expr],
    facts: Vec<(&'m Expr, bool)>,
    /// Those of the facts that bind names, whose parts are facts as well.
    bound: Vec<(&'m Expr, bool)>,
    wanted: bool,
    unbounded: Unbounded,
}

impl<'m> Task<'_, 'm> {
    fn run(
        &self,
        env: &Env<'m>,
        slots: &[Slot],
        visit: &mut Visit<'_, 'm>,
    ) -> Result<ControlFlow<()>, Fault> {
        if slots.is_empty() {
            return Ok(visit(env, self.truth(env)));
        }
        let (chosen, candidates) = self.choose(env, slots)?;
        let rest: Vec<Slot> = slots.iter().copied().filter(|s| *s != chosen).collect();
        let candidates = match candidates {
            Candidates::Items(items) => items,
            Candidates::Points(space) => {
                let none = Partial { known: Elements::new(), open: space.from.iter().cloned().collect() };
                return self.points(env, (chosen, &rest), &space, &none, visit);
            }
        };
        for candidate in candidates {
            self.cx.spend(1, self.span())?;
            let env = env.clone().with(chosen, candidate);
            if self.go_on(&env, &rest, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The rest of the slots, unless they do not matter any more.
    fn go_on(
        &self,
        env: &Env<'m>,
        rest: &[Slot],
        visit: &mut Visit<'_, 'm>,
    ) -> Result<ControlFlow<()>, Fault> {
        match !rest.is_empty() && self.is_decided(env) {
            true => Ok(ControlFlow::Continue(())),
            false => self.run(env, rest, visit),
        }
    }

    /// All functions of a space that agree with the points that are known, one point after the other. What is said of
    /// a point that is open has no value yet, as if the slot had none, so that [`Self::is_decided`] is right about it.
    fn points(
        &self,
        env: &Env<'m>,
        (slot, rest): (Slot, &[Slot]),
        space: &Points,
        so_far: &Partial,
        visit: &mut Visit<'_, 'm>,
    ) -> Result<ControlFlow<()>, Fault> {
        let Some(x) = so_far.open.first() else {
            let range = build::range(&so_far.known, self.span())?;
            if space.kind.surjective && space.to.as_ref().is_none_or(|to| range != *to) {
                return Ok(ControlFlow::Continue(()));
            }
            let whole = env.clone().with(slot, Value::Set(so_far.known.clone()).into());
            return self.go_on(&whole, rest, visit);
        };
        let Some(images) = space.given.get(x).or(space.to.as_ref()) else {
            return Err(limit(self.span(), "nothing bounds a function at a point"));
        };
        let absent = (!space.kind.total).then_some(None);
        for image in images.iter().map(Some).chain(absent) {
            self.cx.spend(1, self.span())?;
            let mut next = so_far.clone();
            next.open.remove(x);
            if let Some(y) = image {
                if space.kind.injective && build::range(&next.known, self.span())?.contains(y) {
                    continue;
                }
                next.known.insert(Value::pair(x.clone(), y.clone()));
            }
            let is_open = !next.open.is_empty();
            if is_open && self.is_decided(&env.clone().with(slot, Symbolic::Partial(next.clone()).into())) {
                continue;
            }
            if self.points(env, (slot, rest), space, &next, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn span(&self) -> Span {
        self.preds.first().map(|p| p.span).unwrap_or_default()
    }

    fn truth(&self, env: &Env<'m>) -> Result<bool, Fault> {
        let mut fault = None;
        for p in self.preds {
            match holds(self.cx, env, p) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(f) => {
                    fault = Some(match fault {
                        None => f,
                        Some(earlier) => worse(earlier, f),
                    });
                }
            }
        }
        fault.map_or(Ok(true), Err)
    }

    /// Whether the rest of the slots does not matter any more: the predicate is `!wanted` although they have no
    /// value. Kleene's logic is monotone, so no value of theirs changes it; a truncated enumeration is not.
    fn is_decided(&self, env: &Env<'m>) -> bool {
        let before = self.cx.truncated.borrow().len();
        let decided = self.truth(env) == Ok(!self.wanted);
        let complete = self.cx.truncated.borrow().len() == before;
        self.cx.truncated.borrow_mut().truncate(before);
        decided && complete
    }

    /// The slot to bind next and what it runs through.
    fn choose(&self, env: &Env<'m>, slots: &[Slot]) -> Result<(Slot, Candidates<'m>), Fault> {
        let items = |values: Elements| Candidates::Items(values.into_iter().map(Item::Value).collect());
        for &slot in slots {
            if let Some(item) = self.determined(env, slot) {
                return Ok((slot, Candidates::Items(vec![item])));
            }
        }
        for &slot in slots {
            if carrier_size(self.cx, self.ty(slot)).is_some_and(|n| n <= SMALL) {
                return Ok((slot, items(carrier(self.cx, self.ty(slot), self.span())?)));
            }
        }
        for &slot in slots {
            if let Some(candidates) = self.bounded(env, slot, slots)? {
                return Ok((slot, candidates));
            }
        }
        // No slot is better than the first one.
        let slot = slots[0];
        let ty = self.ty(slot);
        if is_infinite(ty) {
            if self.is_decided(env) {
                return Ok((slot, Candidates::Items(vec![])));
            }
            if let Some(fault) = self.undefined_bound(env, slots) {
                // Where the rest of the predicate is false, its bound does not matter.
                let is_seen = self.is_faulty_somewhere(env, slots);
                let open = "a bound has no value, and nothing was found for which that matters";
                return Err(if is_seen { fault } else { limit(self.span(), open) });
            }
            if self.unbounded == Unbounded::Refuse {
                return Err(limit(self.span(), "nothing bounds a variable of an infinite type"));
            }
            self.cx.truncated.borrow_mut().push(self.span());
        }
        Ok((slot, items(carrier(self.cx, ty, self.span())?)))
    }

    /// What a slot is by an equation, if there is one whose other side has a value already.
    fn determined(&self, env: &Env<'m>, slot: Slot) -> Option<Item<'m>> {
        for &(fact, truth) in &self.facts {
            let ExprKind::Binary(op, a, b) = &fact.kind else { continue };
            if with_truth(*op, truth) != Some(BinOp::Eq) {
                continue;
            }
            for (pattern, other) in [(a, b), (b, a)] {
                if !names(pattern, slot) {
                    continue;
                }
                // Not what would stay a definition: others may come to a value first.
                if let Some(Allowed::Items(items)) = self.allowed(env, BinOp::Eq, slot, pattern, other)
                    && let Some(item) = items.into_iter().find(|i| i.value().is_some())
                {
                    return Some(item);
                }
            }
        }
        None
    }

    /// Whether a part of a pattern beside the slot has a value whatever the open slots are. If it has none, a fact that
    /// is made of it is not false where the slot is something else: it has no truth value there.
    fn is_plain(&self, env: &Env<'m>, part: &'m Expr) -> bool {
        match &part.kind {
            ExprKind::Local(id) => env.local(*id).is_some() || !self.cx.is_of_a_substitution(*id),
            ExprKind::Const(_) => true,
            ExprKind::Binary(BinOp::Pair, a, b) => self.is_plain(env, a) && self.is_plain(env, b),
            _ => item(self.cx, env, part).is_ok(),
        }
    }

    /// The fault of a fact `x : S` whose S has no value, whatever the slots are: then the predicate is nowhere
    /// as wanted, and faulty where the rest of it does not decide, if there is such a place.
    fn undefined_bound(&self, env: &Env<'m>, slots: &[Slot]) -> Option<Fault> {
        self.facts.iter().find_map(|(fact, truth)| {
            let ExprKind::Binary(op, a, b) = &fact.kind else { return None };
            let sides = [(with_truth(*op, *truth), a, b), (with_truth(*op, *truth).and_then(mirrored), b, a)];
            sides.into_iter().find_map(|(op, pattern, other)| {
                op.filter(|_| slots.iter().any(|slot| names(pattern, *slot)))?;
                let item = item(self.cx, env, other);
                match item.and_then(|item| settle(self.cx, env, item, other.span)) {
                    Err(Fault::Wd(wd)) if wd.kind != WdKind::Unassigned => Some(Fault::Wd(wd)),
                    _ => None,
                }
            })
        })
    }

    /// Whether the predicate has no truth value for some values of the slots, looked for among simple ones.
    fn is_faulty_somewhere(&self, env: &Env<'m>, slots: &[Slot]) -> bool {
        let before = self.cx.truncated.borrow().len();
        let mut tries = TRIES;
        let found = self.faulty_example(env, slots, &mut tries);
        self.cx.truncated.borrow_mut().truncate(before);
        found
    }

    fn faulty_example(&self, env: &Env<'m>, slots: &[Slot], tries: &mut usize) -> bool {
        let Some((slot, rest)) = slots.split_first() else {
            let before = self.cx.truncated.borrow().len();
            *tries = tries.saturating_sub(1);
            if self.cx.spend(1, self.span()).is_err() {
                return false;
            }
            let is_faulty = matches!(self.truth(env), Err(Fault::Wd(_)));
            return is_faulty && self.cx.truncated.borrow().len() == before;
        };
        samples(self.cx, self.ty(*slot)).into_iter().any(|value| {
            let env = env.clone().with(*slot, Item::Value(value));
            *tries > 0 && self.faulty_example(&env, rest, tries)
        })
    }

    fn ty(&self, slot: Slot) -> &'m Type {
        match slot {
            Slot::Local(id) => &self.cx.model.locals[id.index()].ty,
            Slot::Const(id) => &self.cx.model.constants[id.index()].ty,
            Slot::Var(id) => &self.cx.model.variables[id.index()].ty,
        }
    }

    /// What the first useful fact allows the slot to be.
    fn bounded(&self, env: &Env<'m>, slot: Slot, open: &[Slot]) -> Result<Option<Candidates<'m>>, Fault> {
        let (mut low, mut high): (Option<BigInt>, Option<BigInt>) = (None, None);
        for &(fact, truth) in &self.facts {
            let ExprKind::Binary(op, a, b) = &fact.kind else { continue };
            let Some(op) = with_truth(*op, truth) else { continue };
            for (op, pattern, other) in [(Some(op), a, b), (mirrored(op), b, a)] {
                let Some(op) = op else { continue };
                if op == BinOp::Eq
                    && self.is_part(env, pattern, slot)
                    && let Some(parts) = self.parts(env, other)
                {
                    return Ok(Some(Candidates::Items(parts)));
                }
                if let (BinOp::Eq, ExprKind::SeqExt(items)) = (op, &pattern.kind)
                    && items.iter().any(|x| is_slot(x, slot))
                    && items.iter().all(|x| self.is_plain(env, x))
                    && let Ok(Item::Value(Value::Set(whole))) = item(self.cx, env, other)
                {
                    let items = build::sequence(&whole).unwrap_or_default();
                    return Ok(Some(Candidates::Items(items.into_iter().map(Item::Value).collect())));
                }
                // Every element of what is listed is one of the other side.
                if let (BinOp::Eq | BinOp::Subset, ExprKind::SetExt(items)) = (op, &pattern.kind)
                    && items.iter().any(|x| is_slot(x, slot))
                    && items.iter().all(|x| self.is_plain(env, x))
                    && let Ok(set) = item(self.cx, env, other)
                    && let Ok(values) = elements(self.cx, env, &set, other.span)
                {
                    return Ok(Some(Candidates::Items(values.into_iter().map(Item::Value).collect())));
                }
                if !names(pattern, slot) {
                    continue;
                }
                match self.allowed(env, op, slot, pattern, other) {
                    Some(Allowed::Items(items)) => return Ok(Some(Candidates::Items(items))),
                    Some(Allowed::Points(space)) => return Ok(Some(Candidates::Points(space))),
                    Some(Allowed::Range(lo, hi)) => {
                        low = low.max(lo);
                        // `None` is the least of all options, and here no bound is the greatest.
                        high = match (high, hi) {
                            (Some(a), Some(b)) => Some(a.min(b)),
                            (a, b) => a.or(b),
                        };
                    }
                    None => {}
                }
            }
        }
        let low = low.or_else(|| self.far_bound(env, slot, false, open));
        let high = high.or_else(|| self.far_bound(env, slot, true, open));
        let (Some(low), Some(high)) = (low, high) else { return Ok(self.projected(env, slot)) };
        let ints = Symbolic::Ints(Some(low), Some(high));
        let values = expand(self.cx, env, &ints, self.span())?;
        Ok(Some(Candidates::Items(values.into_iter().map(Item::Value).collect())))
    }

    /// What a fact `#y.(P)` allows the slot to be: what it is in the solutions of P for the slot and y, and where P has no
    /// truth value. For everything else P is false, whatever y is.
    fn projected(&self, env: &Env<'m>, slot: Slot) -> Option<Candidates<'m>> {
        self.bound.iter().find_map(|&(fact, truth)| {
            // Only those that `collect` has opened are among them.
            let ExprKind::Quant(_, locals, body) = &fact.kind else { return None };
            if !body.any(&|e: &Expr| is_slot(e, slot)) {
                return None;
            }
            let mut slots: Vec<Slot> = locals.iter().map(|l| Slot::Local(*l)).collect();
            slots.push(slot);
            let mut found = Elements::new();
            let mut is_whole = true;
            let before = self.cx.truncated.borrow().len();
            let ended = search(self.cx, env, &slots, &[body], truth, Unbounded::Refuse, &mut |env, _| {
                match env.value_of(slot) {
                    Some(value) => drop(found.insert(value.clone())),
                    None => is_whole = false,
                }
                if is_whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            is_whole &= self.cx.truncated.borrow().len() == before;
            self.cx.truncated.borrow_mut().truncate(before);
            (ended.is_ok() && is_whole)
                .then(|| Candidates::Items(found.into_iter().map(Item::Value).collect()))
        })
    }

    /// The space of functions as points, if it may be too large to be listed: where they are defined, and what they are
    /// there.
    fn space(&self, env: &Env<'m>, slot: Slot, set: &Symbolic<'m>, span: Span) -> Option<Points> {
        let Symbolic::Space(op, from, to) = set else { return None };
        let kind = build::Kind::of(*op).filter(|kind| kind.functional)?;
        let from = elements(self.cx, env, from, span).ok()?;
        let to = elements(self.cx, env, to, span).ok();
        let size = to.as_ref().and_then(|to| (to.len() + 1).checked_pow(u32::try_from(from.len()).ok()?));
        if size.is_some_and(|n| n <= FUNCTIONS) {
            return None;
        }
        let given = self.given(env, slot);
        let is_bounded = to.is_some() || (kind.total && from.iter().all(|x| given.contains_key(x)));
        // Without its range nobody knows whether a function covers it.
        let is_judged = to.is_some() || !kind.surjective;
        (is_bounded && is_judged).then_some(Points { kind, from, to, given })
    }

    /// What the facts `f(E) = F` say of the slot: one value at a point.
    fn given(&self, env: &Env<'m>, slot: Slot) -> BTreeMap<Value, Elements> {
        let mut given = BTreeMap::new();
        for &(fact, truth) in &self.facts {
            let ExprKind::Binary(op, a, b) = &fact.kind else { continue };
            if with_truth(*op, truth) != Some(BinOp::Eq) {
                continue;
            }
            for (applied, other) in [(a, b), (b, a)] {
                let ExprKind::Apply(f, x) = &applied.kind else { continue };
                if !is_slot(f, slot) {
                    continue;
                }
                if let (Ok(x), Ok(y)) = (eval(self.cx, env, x), eval(self.cx, env, other)) {
                    given.entry(x).or_insert_with(|| Elements::from([y]));
                }
            }
        }
        given
    }

    /// A bound of an integer from above or below that comes by way of another open one: `x < y & y <= 5` bounds x.
    fn far_bound(&self, env: &Env<'m>, slot: Slot, above: bool, open: &[Slot]) -> Option<BigInt> {
        let others: Vec<Slot> = open.iter().copied().filter(|s| *s != slot).collect();
        let mut best: Option<BigInt> = None;
        for &(fact, truth) in &self.facts {
            let ExprKind::Binary(op, a, b) = &fact.kind else { continue };
            let Some(op) = with_truth(*op, truth) else { continue };
            for (op, pattern, other) in [(Some(op), a, b), (mirrored(op), b, a)] {
                let Some(op) = op.filter(|_| is_slot(pattern, slot)) else { continue };
                let step = match (op, above) {
                    (BinOp::Le, true) | (BinOp::Ge, false) | (BinOp::In, _) => BigInt::ZERO,
                    (BinOp::Lt, true) => -BigInt::one(),
                    (BinOp::Gt, false) => BigInt::one(),
                    _ => continue,
                };
                let bound = match others.iter().find(|s| is_slot(other, **s)) {
                    Some(next) => self.far_bound(env, *next, above, &others).map(|b| b + step),
                    None => match self.allowed(env, op, slot, pattern, other) {
                        Some(Allowed::Range(low, high)) => {
                            if above {
                                high
                            } else {
                                low
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
        best
    }

    /// What the facts say of the items of a sequence: `ran(s) = T` or `ran(s) <: T`.
    fn range_of(&self, env: &Env<'m>, slot: Slot) -> Option<Elements> {
        self.facts.iter().find_map(|&(fact, truth)| {
            let ExprKind::Binary(op, a, b) = &fact.kind else { return None };
            let is_range = |e: &Expr| match &e.kind {
                ExprKind::Call(Fun::Ran, args) => args.iter().any(|s| is_slot(s, slot)),
                _ => false,
            };
            let set = match with_truth(*op, truth)? {
                BinOp::Eq if is_range(b) => a,
                BinOp::Eq | BinOp::Subset if is_range(a) => b,
                _ => return None,
            };
            elements(self.cx, env, &item(self.cx, env, set).ok()?, set.span).ok()
        })
    }

    /// Whether the slot is a part of a concatenation all of whose parts are sequences: without that the concatenation
    /// would have no value, whatever the slot is.
    fn is_part(&self, env: &Env<'m>, e: &'m Expr, slot: Slot) -> bool {
        let ends = match &e.kind {
            ExprKind::Binary(BinOp::Concat, a, b) => [Some(a), Some(b)],
            ExprKind::Binary(BinOp::Append, s, x) | ExprKind::Binary(BinOp::Prepend, x, s) => {
                if !self.is_plain(env, x) {
                    return false;
                }
                [Some(s), None]
            }
            _ => return false,
        };
        let is_sequence = |e: &'m Expr| {
            let is_typed = |(fact, truth): &(&Expr, bool)| match &fact.kind {
                ExprKind::Binary(BinOp::In, x, set) => {
                    let is_it = match &e.kind {
                        ExprKind::Local(id) => is_slot(x, Slot::Local(*id)),
                        ExprKind::Const(id) => is_slot(x, Slot::Const(*id)),
                        ExprKind::Var(id) => is_slot(x, Slot::Var(*id)),
                        _ => false,
                    };
                    *truth && is_it && matches!(set.kind, ExprKind::Call(Fun::Seq | Fun::Iseq, _))
                }
                _ => false,
            };
            let is_one = |v: Value| matches!(v, Value::Set(s) if build::sequence(&s).is_some());
            self.facts.iter().any(is_typed) || eval(self.cx, env, e).is_ok_and(is_one)
        };
        let mut ends = ends.into_iter().flatten();
        let mut found = false;
        ends.all(|end| {
            let here = is_slot(end, slot) || self.is_part(env, end, slot);
            found |= here;
            (here && !is_slot(end, slot)) || is_sequence(end)
        }) && found
    }

    /// The sequences that stand somewhere in a sequence, one item after the other. What is no sequence has no parts.
    fn parts(&self, env: &Env<'m>, whole: &'m Expr) -> Option<Vec<Item<'m>>> {
        let whole = elements(self.cx, env, &item(self.cx, env, whole).ok()?, whole.span).ok()?;
        let Some(items) = build::sequence(&whole) else { return Some(vec![]) };
        let mut found = Elements::new();
        for from in 0..=items.len() {
            for to in from..=items.len() {
                found.insert(build::from_sequence(items[from..to].iter().cloned()));
            }
        }
        Some(found.into_iter().map(Item::Value).collect())
    }

    /// What the facts say of the length of a sequence: `size(s) <= n` and the like.
    fn longest(&self, env: &Env<'m>, slot: Slot) -> Option<BigInt> {
        let mut most: Option<BigInt> = None;
        for &(fact, truth) in &self.facts {
            let ExprKind::Binary(op, a, b) = &fact.kind else { continue };
            let Some(op) = with_truth(*op, truth) else { continue };
            for (op, length, other) in [(Some(op), a, b), (mirrored(op), b, a)] {
                let ExprKind::Call(Fun::Size | Fun::Card, args) = &length.kind else { continue };
                if !args.iter().any(|s| is_slot(s, slot)) {
                    continue;
                }
                let bound = match op {
                    Some(BinOp::Eq | BinOp::Le) => expr::int(self.cx, env, other).ok(),
                    Some(BinOp::Lt) => expr::int(self.cx, env, other).ok().map(|n| n - BigInt::one()),
                    Some(BinOp::In) => match item(self.cx, env, other) {
                        Ok(Item::Symbolic(s)) => match &*s {
                            Symbolic::Ints(_, high) => high.clone(),
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                };
                most = match (most, bound) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
            }
        }
        most
    }

    /// What `pattern op other` leaves for the slot; `None` if it cannot be told yet.
    fn allowed(
        &self,
        env: &Env<'m>,
        op: BinOp,
        slot: Slot,
        pattern: &'m Expr,
        other: &'m Expr,
    ) -> Option<Allowed<'m>> {
        let cx = self.cx;
        let is_slot = is_slot(pattern, slot);
        if !is_slot && !self.is_plain(env, pattern) {
            return None;
        }
        match op {
            BinOp::Eq => {
                let lazy = item(cx, env, other).ok()?;
                match settle(cx, env, lazy.clone(), other.span) {
                    Ok(Item::Value(v)) => {
                        Some(Allowed::Items(vec![Item::Value(project(pattern, slot, &v)?)]))
                    }
                    // A function that is infinite, or that mentions what has no value yet, itself for instance.
                    _ if is_slot && matches!(lazy, Item::Symbolic(_)) => Some(Allowed::Items(vec![lazy])),
                    _ => None,
                }
            }
            BinOp::In => {
                let set = item(cx, env, other).ok()?;
                if let Item::Symbolic(s) = &set
                    && let Symbolic::Ints(low, high) = &**s
                    && is_slot
                {
                    return Some(Allowed::Range(low.clone(), high.clone()));
                }
                if let Item::Symbolic(s) = &set
                    && let Symbolic::Seq(kind, over) = &**s
                    && is_slot
                    && let Some(most) = self.longest(env, slot)
                {
                    // No sequence is shorter than the empty one.
                    let Some(most) = most.to_usize() else {
                        return most.is_negative().then(|| Allowed::Items(vec![]));
                    };
                    let (kind, over) = match elements(cx, env, over, other.span) {
                        Ok(over) => (*kind, over),
                        // What occurs is known; whether it may is tested.
                        Err(_) => (Fun::Seq, self.range_of(env, slot)?),
                    };
                    let values = sequences(cx, kind, &over, Some(most), other.span).ok()?;
                    return Some(Allowed::Items(values.into_iter().map(Item::Value).collect()));
                }
                if let Item::Symbolic(s) = &set
                    && is_slot
                    && let Some(space) = self.space(env, slot, s, other.span)
                {
                    return Some(Allowed::Points(space));
                }
                match settle(cx, env, set, other.span).ok()? {
                    Item::Value(Value::Set(elements)) => {
                        let values: Option<Elements> =
                            elements.iter().map(|v| project(pattern, slot, v)).collect();
                        Some(Allowed::Items(values?.into_iter().map(Item::Value).collect()))
                    }
                    _ => None,
                }
            }
            BinOp::Subset | BinOp::StrictSubset if is_slot => {
                let subsets = Symbolic::Pow(crate::model::Fun::Pow, item(cx, env, other).ok()?);
                let values = expand(cx, env, &subsets, other.span).ok()?;
                Some(Allowed::Items(values.into_iter().map(Item::Value).collect()))
            }
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge if is_slot => {
                let bound = expr::int(cx, env, other).ok()?;
                Some(match op {
                    BinOp::Lt => Allowed::Range(None, Some(bound - BigInt::one())),
                    BinOp::Le => Allowed::Range(None, Some(bound)),
                    BinOp::Gt => Allowed::Range(Some(bound + BigInt::one()), None),
                    _ => Allowed::Range(Some(bound), None),
                })
            }
            _ => None,
        }
    }
}

enum Allowed<'m> {
    Items(Vec<Item<'m>>),
    Range(Option<BigInt>, Option<BigInt>),
    Points(Points),
}

/// What a slot runs through.
enum Candidates<'m> {
    Items(Vec<Item<'m>>),
    /// Functions, made point by point.
    Points(Points),
}

/// A space of functions.
struct Points {
    kind: build::Kind,
    from: Elements,
    /// None if it cannot be listed: then every point is given.
    to: Option<Elements>,
    /// What a function must be at some of the points, or else the predicate is decided.
    given: BTreeMap<Value, Elements>,
}

/// The facts without which the predicate cannot have the wanted truth, each with its own truth.
fn collect<'m>(p: &'m Expr, truth: bool, out: &mut Vec<(&'m Expr, bool)>, bound: &mut Vec<(&'m Expr, bool)>) {
    match &p.kind {
        ExprKind::Unary(UnOp::Not, a) => collect(a, !truth, out, bound),
        ExprKind::Binary(BinOp::And, a, b) if truth => {
            collect(a, true, out, bound);
            collect(b, true, out, bound);
        }
        ExprKind::Binary(BinOp::Or, a, b) if !truth => {
            collect(a, false, out, bound);
            collect(b, false, out, bound);
        }
        ExprKind::Binary(BinOp::Implies, a, b) if !truth => {
            collect(a, true, out, bound);
            collect(b, false, out, bound);
        }
        ExprKind::Quant(Quant::Exists, _, a) if truth => {
            bound.push((p, true));
            collect(a, true, out, bound);
        }
        ExprKind::Quant(Quant::Forall, _, a) if !truth => {
            bound.push((p, false));
            collect(a, false, out, bound);
        }
        _ => out.push((p, truth)),
    }
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

fn is_slot(e: &Expr, slot: Slot) -> bool {
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
