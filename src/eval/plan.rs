//! How a predicate is solved: steps that bind slots or test, in an order fixed at compile time.
//!
//! A step generates (x ∈ S, x = E, x ↦ y ∈ r, x ∈ a..b, x ⊆ S), tests, or enumerates a type. Each solution is
//! handed to a continuation. Faults of tests wait in [`Env::pending`] until it is clear that nothing is false.

use super::grow::Grow;
use super::node::{Env, Node, Recursive, Slot, Test, settled};
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res};
use crate::value::mask;
use crate::value::ops;
use crate::value::rep::R;
use crate::value::val::{Lazy, Val, cmp_int};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

/// Called with every solution; `Ok(false)` ends the search.
pub type Found<'a> = &'a mut dyn FnMut(&mut Env) -> Res<bool>;

#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// Whether one solution may be found twice.
    pub may_repeat: bool,
    /// Whether an unbounded integer (or string) would have to be enumerated.
    pub unbounded: bool,
}

#[derive(Clone, Debug)]
pub enum Step {
    Test(Test),
    /// pattern = E
    Match(Pattern, Node, R),
    /// pattern ∈ S
    In {
        pattern: Pattern,
        set: Node,
        rep: R,
        span: Span,
    },
    /// max(lows) ≤ x ≤ min(highs); a missing side is MININT or MAXINT, and the search is then incomplete.
    Range {
        slot: Slot,
        lows: Vec<Bound>,
        highs: Vec<Bound>,
        limits: (i64, i64),
        span: Span,
    },
    /// Every value of a finite type.
    All {
        slot: Slot,
        rep: R,
        span: Span,
    },
    /// A large unknown, piece by piece.
    Grow(Grow),
    /// f = E where E mentions f inside lambdas: a recursive function.
    Recursive {
        slot: Slot,
        node: Node,
        rep: R,
    },
    /// A condition that is known by then decides how to go on; both are whole.
    Cases(Test, Vec<Step>, Vec<Step>),
    /// One of several ways; the rest follows each of them.
    Alt(Vec<Vec<Step>>),
}

/// A bound of a range: the value, plus an offset for strict comparisons.
#[derive(Clone, Debug)]
pub struct Bound {
    pub node: Node,
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

/// What a generated value is taken apart by.
#[derive(Clone, Debug)]
pub enum Pattern {
    Bind(Slot),
    /// Equal to a value that is known by then.
    Check(Node, R),
    Pair(Box<Pattern>, Box<Pattern>, R),
    Rec(Vec<Pattern>, R),
}

impl Pattern {
    pub fn matches(&self, v: Val, env: &mut Env) -> Res<bool> {
        match self {
            Pattern::Bind(s) => {
                env.set(*s, v);
                Ok(true)
            }
            Pattern::Check(n, rep) => {
                let w = n.val(env)?;
                ops::equal(&v, &w, rep)
            }
            Pattern::Pair(a, b, rep) => {
                let (x, y) = v.split(rep);
                Ok(a.matches(x, env)? && b.matches(y, env)?)
            }
            Pattern::Rec(parts, rep) => {
                for (i, p) in parts.iter().enumerate() {
                    if !p.matches(v.field(i, rep), env)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

impl Plan {
    /// Finds all solutions. `Ok(false)` if the continuation ended the search.
    pub fn solve(&self, env: &mut Env, found: Found) -> Res<bool> {
        // A fault of an enclosing conjunction is none of this one's.
        let outer = env.pending.take();
        let out = run(&self.steps, env, found);
        env.pending = outer;
        out
    }

    /// Like [`Plan::solve`], but all solutions are needed for an answer: `Err` in second place when an unbounded
    /// integer was cut off on the way, in which case only a solution that was found says anything.
    pub fn solve_all(&self, env: &mut Env, found: Found) -> Res<Result<bool, Box<Fault>>> {
        let before = env.truncated.take();
        let out = self.solve(env, found);
        let cut = std::mem::replace(&mut env.truncated, before);
        let out = out?;
        Ok(match cut {
            Some(span) => Err(Fault::limit("an unbounded integer would have to be enumerated").at(span)),
            None => Ok(out),
        })
    }

    pub fn exists(&self, env: &mut Env) -> Res<bool> {
        let mut fault = None;
        let mut yes = false;
        let complete = self.solve_all(env, &mut |env| {
            match &env.pending {
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
    pub fn forall(&self, env: &mut Env, body: &Test) -> Res<bool> {
        let mut fault: Option<Box<Fault>> = None;
        let mut all = true;
        let complete = self.solve_all(env, &mut |env| {
            let antecedent = env.pending.take();
            let holds = body.holds(env);
            match (&antecedent, holds) {
                (_, Ok(true)) => {}
                (None, Ok(false)) => all = false,
                (Some(e), Ok(false)) => Fault::gather(&mut fault, e.clone()),
                (None, Err(e)) => Fault::gather(&mut fault, e),
                (Some(a), Err(e)) => Fault::gather(&mut fault, a.clone().worse(e)),
            }
            env.pending = antecedent;
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

fn run(steps: &[Step], env: &mut Env, found: Found) -> Res<bool> {
    let Some((step, rest)) = steps.split_first() else { return found(env) };
    match step {
        Step::Test(t) => match t.holds(env) {
            Ok(true) => run(rest, env, found),
            Ok(false) => Ok(true),
            Err(e) => {
                let before = env.pending.clone();
                Fault::gather(&mut env.pending, e);
                let out = run(rest, env, found);
                env.pending = before;
                out
            }
        },
        Step::Match(pattern, node, rep) => {
            let v = match node.val(env) {
                Ok(v) => v,
                Err(e) => return undecided(pattern, rep, e, env, &mut |env| run(rest, env, found)),
            };
            // Functions over infinite domains stay symbolic; everything else gets its form.
            let v = if v.is_lazy() && !ops::symbolic(&v) { settled(v, rep)? } else { v };
            if pattern.matches(v, env)? { run(rest, env, found) } else { Ok(true) }
        }
        Step::In { pattern, set, rep, span } => {
            let set = match set.val(env) {
                Ok(set) => set,
                Err(e) => return undecided(pattern, rep.elem(), e, env, &mut |env| run(rest, env, found)),
            };
            match (&set, pattern) {
                (Val::W(m), Pattern::Bind(slot)) => {
                    env.go_on()?;
                    for i in mask::bits(*m) {
                        env.set(*slot, Val::W(u64::from(i)));
                        if !run(rest, env, found)? {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                }
                _ => ops::each(&set, rep, &mut |v| {
                    env.go_on()?;
                    if pattern.matches(v, env)? { run(rest, env, found) } else { Ok(true) }
                })
                .map_err(|e| e.at(*span)),
            }
        }
        Step::Range { slot, lows, highs, limits, span } => {
            let (lo, hi) = (bound(lows, Ordering::Greater, env)?, bound(highs, Ordering::Less, env)?);
            let empty = matches!((lo, hi), (Some(lo), Some(hi)) if lo > hi);
            if !empty && (lo.is_none() || hi.is_none()) {
                env.truncated.get_or_insert(*span);
            }
            for i in lo.unwrap_or(limits.0)..=hi.unwrap_or(limits.1) {
                env.go_on()?;
                env.set(*slot, Val::I(i));
                if !run(rest, env, found)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Step::All { slot, rep, span } => ops::all_values(rep, &mut |v| {
            env.go_on()?;
            env.set(*slot, v);
            run(rest, env, found)
        })
        .map_err(|e| e.at(*span)),
        Step::Grow(g) => g.run(env, &mut |env| run(rest, env, found)),
        Step::Recursive { slot, node, rep } => {
            let cell = Arc::new(Recursive { value: OnceLock::new(), rep: rep.clone() });
            env.set(*slot, Val::lazy(Lazy::Closure(cell.clone())));
            let v = node.val(env)?;
            // The cell is new, so it is empty.
            let _ = cell.value.set(v.clone());
            env.set(*slot, v);
            run(rest, env, found)
        }
        Step::Cases(test, yes, no) => {
            // Each way tests the conjunct the condition came from, so a fault of the condition may go either way.
            let way = if let Ok(false) = test.holds(env) { no } else { yes };
            run(way, env, &mut |env| run(rest, env, found))
        }
        Step::Alt(ways) => {
            env.go_on()?;
            for way in ways {
                if !run(way, env, &mut |env| run(rest, env, found))? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// A generator without a value decides nothing: every value of the type is left, with the fault pending, and
/// another conjunct may still be false for all of them. Where the type is large, the fault stands.
fn undecided(pattern: &Pattern, rep: &R, fault: Box<Fault>, env: &mut Env, found: Found) -> Res<bool> {
    const FEW: u64 = 1024;
    let Pattern::Bind(slot) = pattern else { return Err(fault) };
    if rep.carrier == 0 || rep.carrier > FEW {
        return Err(fault);
    }
    let before = env.pending.clone();
    Fault::gather(&mut env.pending, fault);
    let mut out = Ok(true);
    for w in 0..rep.carrier {
        env.set(*slot, Val::W(w));
        out = found(env);
        if !matches!(out, Ok(true)) {
            break;
        }
    }
    env.pending = before;
    out
}

/// The tightest of some bounds, `None` when there are none.
fn bound(bounds: &[Bound], tighter: Ordering, env: &mut Env) -> Res<Option<i64>> {
    let mut best: Option<Val> = None;
    for b in bounds {
        let v = b.node.val(env)?;
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
