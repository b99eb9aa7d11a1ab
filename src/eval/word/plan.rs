//! Plans on words. As [`crate::eval::plan`], step by step; a step over a set of bits runs through the bits.

use super::{Frame, Pred, Word};
use crate::eval::node::{Env, Node, Slot};
use crate::eval::plan::Found;
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res};
use crate::value::mask;
use crate::value::ops;
use crate::value::rep::R;
use crate::value::val::{Val, cmp_int};
use std::cmp::Ordering;
use std::sync::Arc;

#[derive(Debug)]
pub struct Plan {
    pub steps: Vec<Step>,
}

#[derive(Debug)]
pub enum Step {
    Test(Pred),
    Match(Pattern, Word, u64),
    /// x ∈ S, S a mask; with the number of values that x may have.
    Bits(Slot, Word, u64),
    /// pattern ∈ S, S a mask.
    Split(Pattern, Word, Span),
    /// pattern ∈ S, S any set.
    Each(Box<Each>),
    Range {
        slot: Slot,
        lows: Vec<Bound>,
        highs: Vec<Bound>,
        limits: (i64, i64),
        span: Span,
    },
    Cases(Pred, Vec<Step>, Vec<Step>),
    Alt(Vec<Vec<Step>>),
}

/// A set of the general evaluator; its elements are remembered as words by the slots it reads.
#[derive(Debug)]
pub struct Each {
    pub pattern: Pattern,
    pub set: Node,
    pub rep: R,
    pub span: Span,
    pub frame: Frame,
}

#[derive(Debug)]
pub struct Bound {
    pub word: Word,
    pub offset: i64,
}

#[derive(Debug)]
pub enum Pattern {
    Bind(Slot),
    Check(Word),
    /// Parts of an ordinal; the second has so many values.
    Pair(Box<Pattern>, Box<Pattern>, u64),
    /// Parts of a pair that is a name.
    Named(Box<Pattern>, Box<Pattern>, R),
}

impl Pattern {
    #[inline]
    fn matches(&self, w: u64, env: &mut Env) -> Res<bool> {
        match self {
            Pattern::Bind(s) => {
                env.words[*s as usize] = w;
                Ok(true)
            }
            Pattern::Check(e) => Ok(e.get(env)? == w),
            Pattern::Pair(a, b, nb) => Ok(a.matches(w / nb, env)? && b.matches(w % nb, env)?),
            Pattern::Named(a, b, rep) => {
                let (x, y) = env.table.decode(w, rep).split(rep);
                let (x, y) = (env.table.word(&x), env.table.word(&y));
                Ok(a.matches(x, env)? && b.matches(y, env)?)
            }
        }
    }
}

/// Sets with more elements than this are run through without being remembered.
const MOST: usize = 1024;
/// As in the general evaluator: types with more values are not run through when a generator has none.
const FEW: u64 = 1024;

impl Plan {
    pub fn solve(&self, env: &mut Env, found: Found) -> Res<bool> {
        let outer = env.pending.take();
        let out = run(&self.steps, env, found);
        env.pending = outer;
        out
    }

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

    pub fn forall(&self, env: &mut Env, body: &Pred) -> Res<bool> {
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
        Step::Match(pattern, word, values) => {
            let w = match word.get(env) {
                Ok(w) => w,
                Err(e) => return undecided(pattern, *values, e, env, &mut |env| run(rest, env, found)),
            };
            if pattern.matches(w, env)? { run(rest, env, found) } else { Ok(true) }
        }
        Step::Bits(slot, set, values) => {
            let set = match set.get(env) {
                Ok(set) => set,
                Err(e) => {
                    let pattern = Pattern::Bind(*slot);
                    return undecided(&pattern, *values, e, env, &mut |env| run(rest, env, found));
                }
            };
            env.go_on()?;
            for i in mask::bits(set) {
                env.words[*slot as usize] = u64::from(i);
                if !run(rest, env, found)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Step::Split(pattern, set, span) => {
            // Only a single name is run through when the set has no value.
            let set = set.get(env)?;
            env.go_on()?;
            for i in mask::bits(set) {
                let mut go = || Ok(!pattern.matches(u64::from(i), env)? || run(rest, env, found)?);
                if !go().map_err(|e: Box<Fault>| e.at(*span))? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Step::Each(each) => each.run(env, &mut |env| run(rest, env, found)),
        Step::Range { slot, lows, highs, limits, span } => {
            let (lo, hi) = (bound(lows, Ordering::Greater, env)?, bound(highs, Ordering::Less, env)?);
            let empty = matches!((lo, hi), (Some(lo), Some(hi)) if lo > hi);
            if !empty && (lo.is_none() || hi.is_none()) {
                env.truncated.get_or_insert(*span);
            }
            for i in lo.unwrap_or(limits.0)..=hi.unwrap_or(limits.1) {
                env.go_on()?;
                let w = env.table.word(&Val::I(i));
                env.words[*slot as usize] = w;
                if !run(rest, env, found)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Step::Cases(test, yes, no) => {
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

#[cold]
fn undecided(pattern: &Pattern, values: u64, fault: Box<Fault>, env: &mut Env, found: Found) -> Res<bool> {
    let Pattern::Bind(slot) = pattern else { return Err(fault) };
    if values == 0 || values > FEW {
        return Err(fault);
    }
    let before = env.pending.clone();
    Fault::gather(&mut env.pending, fault);
    let mut out = Ok(true);
    for w in 0..values {
        env.words[*slot as usize] = w;
        out = found(env);
        if !matches!(out, Ok(true)) {
            break;
        }
    }
    env.pending = before;
    out
}

impl Each {
    fn run(&self, env: &mut Env, found: Found) -> Res<bool> {
        let key = self.frame.key(env);
        let known = key.and_then(|key| env.lists[self.frame.keyed.site].get(&key).cloned());
        if let Some(list) = known {
            return self.through(&list, env, found);
        }
        self.frame.fill(env);
        let truncated = env.truncated;
        let set = match self.set.val(env) {
            Ok(set) => set,
            Err(e) => return undecided(&self.pattern, self.rep.elem().carrier, e, env, found),
        };
        let mut list = Vec::new();
        let all = ops::each(&set, &self.rep, &mut |v| {
            list.push(env.table.word(&v));
            Ok(list.len() <= MOST)
        });
        if matches!(all, Ok(true)) {
            let list: Arc<[u64]> = list.into();
            if let Some(key) = key
                && env.truncated == truncated
            {
                let lists = &mut env.lists[self.frame.keyed.site];
                if lists.len() >= MOST {
                    lists.clear();
                }
                lists.insert(key, list.clone());
            }
            return self.through(&list, env, found);
        }
        // Very many, or a fault on the way: the ones before it count.
        ops::each(&set, &self.rep, &mut |v| {
            env.go_on()?;
            let w = env.table.word(&v);
            if self.pattern.matches(w, env)? { found(env) } else { Ok(true) }
        })
        .map_err(|e| e.at(self.span))
    }

    fn through(&self, list: &[u64], env: &mut Env, found: Found) -> Res<bool> {
        env.go_on()?;
        for w in list {
            let mut go = || Ok(!self.pattern.matches(*w, env)? || found(env)?);
            if !go().map_err(|e: Box<Fault>| e.at(self.span))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The tightest of some bounds, `None` when there are none.
fn bound(bounds: &[Bound], tighter: Ordering, env: &mut Env) -> Res<Option<i64>> {
    let mut best: Option<Val> = None;
    for b in bounds {
        let w = b.word.get(env)?;
        let v = env.table.integer(w);
        let v = if b.offset == 0 { v } else { ops::add(&v, &Val::I(b.offset)) };
        if best.as_ref().is_none_or(|w| cmp_int(&v, w) == tighter) {
            best = Some(v);
        }
    }
    match best {
        None => Ok(None),
        Some(Val::I(i)) => Ok(Some(i)),
        Some(_) => Err(Fault::limit("a bound of more than 64 bits")),
    }
}
