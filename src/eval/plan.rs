//! Predicates, and how they are solved: steps that bind slots or test, in an order fixed at compile time.
//!
//! A step generates (what the tier can: x ∈ S, x = E, x ↦ y ∈ r, x ⊆ S), runs through integers, or tests. Each solution
//! is handed to a continuation. Faults of tests wait in [`Account::pending`] until it is clear that nothing is false.

use super::env::{Account, Slot, Then};
use super::tier::{Tier, Values};
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res, WdKind};
use crate::value::ops;
use crate::value::val::{Val, cmp_int};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};
use std::cmp::Ordering;
use std::sync::Arc;

/// A predicate: Kleene's connectives, quantifiers by plan, and the tier's own tests.
// A tag of its own: one that hides in the atom's takes ten more instructions to tell, in every connective.
#[repr(u8)]
#[derive(Clone, Debug)]
pub enum Formula<T: Tier> {
    Const(bool),
    And(Vec<Formula<T>>),
    Or(Vec<Formula<T>>),
    /// Like And and Or, but every part has to have a value: the operands of a set are looked at whatever the others say.
    All(Vec<Formula<T>>),
    Any(Vec<Formula<T>>),
    Not(Box<Formula<T>>),
    Implies(Box<Formula<T>>, Box<Formula<T>>),
    Iff(Box<Formula<T>>, Box<Formula<T>>),
    Exists(Arc<Plan<T>>),
    Forall(Arc<Plan<T>>, Box<Formula<T>>),
    If(Box<Formula<T>>, Box<Formula<T>>, Box<Formula<T>>),
    Let(Vec<(Slot, T::Node)>, Box<Formula<T>>),
    /// Whether the inner test has a value.
    HasValue(Box<Formula<T>>),
    /// True if the inner test is; a fault at this place if it is false.
    Demand(Box<Formula<T>>, Span),
    /// A fault of the inner test is reported at this place if it has none.
    At(Box<Formula<T>>, Span),
    Atom(T::Atom),
}

impl<T: Tier> Formula<T> {
    /// Whether it is true. Atoms, which most parts are, go straight to their test.
    #[inline(always)]
    pub fn holds(&self, env: &mut T::Env) -> Res<bool> {
        match self {
            Formula::Atom(a) => T::holds(a, env),
            connected => connected.connected(env),
        }
    }

    // What is common, with little to save and restore around it; the rest is elsewhere.
    fn connected(&self, env: &mut T::Env) -> Res<bool> {
        match self {
            Formula::And(ts) => decided_by(ts, false, env),
            Formula::Or(ts) => decided_by(ts, true, env),
            Formula::Not(t) => Ok(!t.holds(env)?),
            Formula::Implies(a, b) => match a.holds(env) {
                Ok(false) => Ok(true),
                Ok(true) => b.holds(env),
                Err(e) => implied(e, b, env),
            },
            Formula::At(t, span) => match t.holds(env) {
                Err(e) => Err(e.at(*span)),
                holds => holds,
            },
            Formula::Exists(plan) => plan.exists(env),
            Formula::Forall(plan, body) => plan.forall(env, body),
            other => other.seldom(env),
        }
    }

    #[inline(never)]
    fn seldom(&self, env: &mut T::Env) -> Res<bool> {
        Ok(match self {
            Formula::Atom(_)
            | Formula::And(_)
            | Formula::Or(_)
            | Formula::Not(_)
            | Formula::Implies(..)
            | Formula::At(..)
            | Formula::Exists(_)
            | Formula::Forall(..) => return self.holds(env),
            Formula::Const(b) => *b,
            Formula::All(ts) => {
                let mut all = true;
                for t in ts {
                    all &= t.holds(env)?;
                }
                all
            }
            Formula::Any(ts) => {
                let mut any = false;
                for t in ts {
                    any |= t.holds(env)?;
                }
                any
            }
            Formula::Iff(a, b) => a.holds(env)? == b.holds(env)?,
            Formula::If(c, a, b) => return if c.holds(env)? { a.holds(env) } else { b.holds(env) },
            Formula::Let(defs, body) => {
                for (slot, n) in defs {
                    let v = T::value(n, env)?;
                    T::slots(env)[*slot as usize] = v;
                }
                body.holds(env)?
            }
            Formula::HasValue(t) => match t.holds(env) {
                Ok(_) => true,
                Err(e) if matches!(*e, Fault::Wd(_)) => false,
                Err(limit) => return Err(limit),
            },
            Formula::Demand(t, span) => t.holds(env)? || return Err(Fault::wd(WdKind::NoValue).at(*span)),
        })
    }
}

/// An implication whose left side has no value.
#[cold]
fn implied<T: Tier>(e: Box<Fault>, b: &Formula<T>, env: &mut T::Env) -> Res<bool> {
    match b.holds(env) {
        Ok(true) => Ok(true),
        Ok(false) => Err(e),
        Err(f) => Err(e.worse(f)),
    }
}

/// A conjunction is decided by what is false, a disjunction by what is true; a fault decides nothing.
#[inline(always)]
fn decided_by<T: Tier>(ts: &[Formula<T>], by: bool, env: &mut T::Env) -> Res<bool> {
    for (i, t) in ts.iter().enumerate() {
        match t.holds(env) {
            Ok(b) if b == by => return Ok(by),
            Ok(_) => {}
            Err(e) => return decided_by_rest(&ts[i + 1..], by, e, env),
        }
    }
    Ok(!by)
}

/// The same after a fault.
#[cold]
fn decided_by_rest<T: Tier>(ts: &[Formula<T>], by: bool, fault: Box<Fault>, env: &mut T::Env) -> Res<bool> {
    let mut fault = Some(fault);
    for t in ts {
        match t.holds(env) {
            Ok(b) if b == by => return Ok(by),
            Ok(_) => {}
            Err(e) => Fault::gather(&mut fault, e),
        }
    }
    fault.map_or(Ok(!by), Err)
}

#[derive(Clone, Debug)]
pub struct Plan<T: Tier = Values> {
    pub steps: Vec<PlanStep<T>>,
    /// Whether one solution may be found twice.
    pub may_repeat: bool,
    /// Whether an unbounded integer (or string) would have to be enumerated.
    pub unbounded: bool,
}

impl<T: Tier> Default for Plan<T> {
    fn default() -> Self {
        Plan { steps: Vec::new(), may_repeat: false, unbounded: false }
    }
}

#[derive(Clone, Debug)]
pub enum PlanStep<T: Tier = Values> {
    Test(Formula<T>),
    Generate(T::Generator),
    /// The same for a generator that may have no value: then the steps find all that is left without its conjunct,
    /// with the fault pending, and nothing of the rest of the plan is done.
    Given(T::Generator, Vec<PlanStep<T>>),
    /// max(lows) ≤ x ≤ min(highs); a missing side is MININT or MAXINT, and the search is then incomplete.
    Range {
        slot: Slot,
        lows: Vec<Bound<T>>,
        highs: Vec<Bound<T>>,
        limits: (i64, i64),
        span: Span,
    },
    /// A condition that is known by then decides how to go on; both are whole.
    Cases(Formula<T>, Vec<PlanStep<T>>, Vec<PlanStep<T>>),
    /// One of several ways; the rest follows each of them.
    Alt(Vec<Vec<PlanStep<T>>>),
}

/// A bound of a range: the value, plus an offset for strict comparisons.
#[derive(Clone, Debug)]
pub struct Bound<T: Tier = Values> {
    pub node: T::Node,
    pub offset: i64,
    /// The value stands for another bound.
    pub scale: Option<Scale>,
}

/// The bound is that of x in c·x + V ≤ 0, with V the value and c this; or in c·xⁿ + V ≤ 0.
#[derive(Clone, Debug)]
pub struct Scale {
    pub divide: i64,
    pub root: Option<Root>,
}

/// An even power of x is bounded, which bounds x from both sides.
#[derive(Clone, Debug)]
pub struct Root {
    pub degree: u32,
    /// The lower one of the two bounds.
    pub negative: bool,
}

impl Scale {
    fn apply(&self, v: &Val) -> Val {
        let q = -v.to_bigint().div_ceil(&BigInt::from(self.divide.unsigned_abs()));
        let q = if self.divide > 0 { q } else { -q };
        match &self.root {
            None => Val::big(q),
            // No even power is negative: the two bounds then leave nothing.
            Some(r) if q.is_negative() => Val::I(if r.negative { 1 } else { -1 }),
            Some(r) => {
                let root = q.nth_root(r.degree);
                Val::big(if r.negative { -root } else { root })
            }
        }
    }
}

impl<T: Tier> Plan<T> {
    /// Finds all solutions. `Ok(false)` if the continuation ended the search.
    pub fn solve(&self, env: &mut T::Env, found: Then<T::Env>) -> Res<bool> {
        // A fault of an enclosing conjunction is none of this one's.
        let outer = env.pending().take();
        let out = run(&self.steps, env, found);
        *env.pending() = outer;
        out
    }

    /// Like [`Plan::solve`], but all solutions are needed for an answer: `Err` in second place when an unbounded
    /// integer was cut off on the way, in which case only a solution that was found says anything.
    pub fn solve_all(&self, env: &mut T::Env, found: Then<T::Env>) -> Res<Result<bool, Box<Fault>>> {
        let before = env.truncated().take();
        let out = self.solve(env, found);
        let cut = std::mem::replace(env.truncated(), before);
        let out = out?;
        Ok(match cut {
            Some(span) => Err(Fault::limit("an unbounded integer would have to be enumerated").at(span)),
            None => Ok(out),
        })
    }

    #[inline(never)]
    pub fn exists(&self, env: &mut T::Env) -> Res<bool> {
        let mut fault = None;
        let mut yes = false;
        let complete = self.solve_all(env, &mut |env| {
            match env.pending() {
                None => yes = true,
                Some(e) => Fault::gather(&mut fault, e.clone()),
            }
            Ok(!yes)
        })?;
        match (fault, complete) {
            _ if yes => Ok(true),
            (Some(e), Ok(_)) | (None, Err(e)) => Err(e),
            (Some(e), Err(cut)) => Err(e.worse(cut)),
            (None, Ok(_)) => Ok(false),
        }
    }

    /// Whether the body holds for every solution.
    #[inline(never)]
    pub fn forall(&self, env: &mut T::Env, body: &Formula<T>) -> Res<bool> {
        let mut fault: Option<Box<Fault>> = None;
        let mut all = true;
        let complete = self.solve_all(env, &mut |env| {
            let antecedent = env.pending().take();
            let holds = body.holds(env);
            match (&antecedent, holds) {
                (_, Ok(true)) => {}
                (None, Ok(false)) => all = false,
                (Some(e), Ok(false)) => Fault::gather(&mut fault, e.clone()),
                (None, Err(e)) => Fault::gather(&mut fault, e),
                (Some(a), Err(e)) => Fault::gather(&mut fault, a.clone().worse(e)),
            }
            *env.pending() = antecedent;
            Ok(all)
        })?;
        match (fault, complete) {
            _ if !all => Ok(false),
            (Some(e), Ok(_)) | (None, Err(e)) => Err(e),
            (Some(e), Err(cut)) => Err(e.worse(cut)),
            (None, Ok(_)) => Ok(true),
        }
    }
}

/// The rest of a plan; without one, what was looked for is found, and there is no call in between.
#[inline(always)]
fn follow<T: Tier>(rest: &[PlanStep<T>], env: &mut T::Env, found: Then<T::Env>) -> Res<bool> {
    if rest.is_empty() { found(env) } else { run(rest, env, found) }
}

pub(super) fn run<T: Tier>(steps: &[PlanStep<T>], env: &mut T::Env, found: Then<T::Env>) -> Res<bool> {
    let mut steps = steps;
    while let Some((step, rest)) = steps.split_first() {
        return match step {
            PlanStep::Test(t) => match t.holds(env) {
                // There is nothing to come back for: not a call of the rest, but the rest.
                Ok(true) => {
                    steps = rest;
                    continue;
                }
                Ok(false) => Ok(true),
                Err(e) => {
                    let before = env.pending().clone();
                    Fault::gather(env.pending(), e);
                    let out = run(rest, env, found);
                    *env.pending() = before;
                    out
                }
            },
            PlanStep::Generate(g) => match T::once(g, env) {
                // One way: again nothing to come back for.
                Some(true) => {
                    steps = rest;
                    continue;
                }
                Some(false) => Ok(true),
                None => T::generate(g, env, |env| follow(rest, env, found)),
            },
            PlanStep::Given(g, otherwise) => {
                match T::once(g, env) {
                    Some(true) => {
                        steps = rest;
                        continue;
                    }
                    Some(false) => return Ok(true),
                    None => {}
                }
                let mut has_value = false;
                let out = T::generate(g, env, |env| {
                    has_value = true;
                    follow(rest, env, found)
                });
                match out {
                    Err(fault) if !has_value && matches!(*fault, Fault::Wd(_)) => {
                        undefined(otherwise, fault, env, found)
                    }
                    out => out,
                }
            }
            PlanStep::Range { slot, lows, highs, limits, span } => {
                let (lo, hi) = (bound(lows, Ordering::Greater, env)?, bound(highs, Ordering::Less, env)?);
                let empty = matches!((lo, hi), (Some(lo), Some(hi)) if lo > hi);
                if !empty && (lo.is_none() || hi.is_none()) {
                    env.truncated().get_or_insert(*span);
                }
                let (mut least, mut most) = env.reach().map_or(*limits, |reach| (-reach, reach));
                if env.pending().is_some() {
                    // No solution is found any more, only whether the fault matters: an example is enough, and the first
                    // ones are as good as any.
                    least = least.min(hi.unwrap_or(0).saturating_sub(EXAMPLES));
                    most = most.max(lo.unwrap_or(0).saturating_add(EXAMPLES));
                }
                for i in lo.unwrap_or(least)..=hi.unwrap_or(most) {
                    env.go_on()?;
                    let v = T::of_integer(i, env);
                    T::slots(env)[*slot as usize] = v;
                    if !follow(rest, env, found)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            PlanStep::Cases(test, yes, no) => {
                // Each way tests the conjunct the condition came from, so a fault of the condition may go either way.
                let way = if let Ok(false) = test.holds(env) { no } else { yes };
                run(way, env, &mut |env| run(rest, env, found))
            }
            PlanStep::Alt(ways) => {
                env.go_on()?;
                for way in ways {
                    if !run(way, env, &mut |env| run(rest, env, found))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        };
    }
    found(env)
}

/// So many integers are tried beyond a bound, or from 0, to see whether a fault matters.
const EXAMPLES: i64 = 16;

/// A generator without a value decides nothing: every value of the type is left, with the fault pending, and
/// another conjunct may still be false for all of them. Where the type is large, or what is bound is more than a
/// name, the fault stands, unless there is another way to find the values ([`PlanStep::Given`]).
#[cold]
pub(super) fn undecided<T: Tier>(
    slot: Option<Slot>,
    values: u64,
    fault: Box<Fault>,
    env: &mut T::Env,
    found: Then<T::Env>,
) -> Res<bool> {
    const FEW: u64 = 1024;
    let Some(slot) = slot.filter(|_| (1..=FEW).contains(&values)) else { return Err(fault) };
    let before = env.pending().clone();
    Fault::gather(env.pending(), fault);
    let mut out = Ok(true);
    for w in 0..values {
        T::slots(env)[slot as usize] = T::of_ordinal(w);
        out = found(env);
        if !matches!(out, Ok(true)) {
            break;
        }
    }
    *env.pending() = before;
    out
}

/// What is left where a generator has no value, found without its conjunct. Nothing of it is a solution. So once
/// something is found the fault matters, and it is no loss that an integer was cut off on the way; if nothing is found, it
/// may be for that reason.
#[cold]
fn undefined<T: Tier>(
    otherwise: &[PlanStep<T>],
    fault: Box<Fault>,
    env: &mut T::Env,
    found: Then<T::Env>,
) -> Res<bool> {
    let (pending, earlier) = (env.pending().clone(), env.truncated().take());
    Fault::gather(env.pending(), fault);
    let (mut matters, mut elsewhere) = (false, None);
    let out = run(otherwise, env, &mut |env| {
        matters = true;
        let here = env.truncated().take();
        let out = found(env);
        elsewhere = elsewhere.or(env.truncated().take());
        *env.truncated() = here;
        out
    });
    let cut = env.truncated().take().filter(|_| !matters);
    *env.truncated() = earlier.or(elsewhere).or(cut);
    *env.pending() = pending;
    out
}

/// The tightest of some bounds, `None` when there are none.
fn bound<T: Tier>(bounds: &[Bound<T>], tighter: Ordering, env: &mut T::Env) -> Res<Option<i64>> {
    let mut best: Option<Val> = None;
    for b in bounds {
        let v = T::integer(&b.node, env)?;
        let v = match &b.scale {
            None if b.offset == 0 => v,
            None => ops::add(&v, &Val::I(b.offset)),
            Some(scale) => scale.apply(&v),
        };
        if best.as_ref().is_none_or(|w| cmp_int(&v, w) == tighter) {
            best = Some(v);
        }
    }
    match best {
        None => Ok(None),
        Some(Val::I(i)) => Ok(Some(i)),
        Some(v) => match v.to_bigint().to_i64() {
            Some(i) => Ok(Some(i)),
            None => Err(Fault::limit("a bound of more than 64 bits")),
        },
    }
}
