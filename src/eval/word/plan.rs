//! How the tier on words binds slots; a step over a set of bits runs through the bits.

use super::{Frame, Word};
use crate::eval::env::{Account, Then, WordEnv};
use crate::eval::node::{Node, Slot};
use crate::eval::plan::undecided;
use crate::eval::tier::Words;
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res};
use crate::value::mask;
use crate::value::ops;
use crate::value::rep::R;
use std::sync::Arc;

pub type Plan = crate::eval::plan::Plan<Words>;
pub type PlanStep = crate::eval::plan::PlanStep<Words>;
pub type Bound = crate::eval::plan::Bound<Words>;

#[derive(Clone, Debug)]
pub enum Generator {
    /// With the number of values that the pattern's type has.
    Match(Pattern, Word, u64),
    /// x ∈ S, S a mask; with the number of values that x may have.
    Bits(Slot, Word, u64),
    /// x ↦ y ∈ S, S a mask of pairs; the second has so many values.
    Pairs(Slot, Slot, u32, Word, Span),
    /// pattern ∈ S, S a mask.
    Split(Pattern, Word, Span),
    /// pattern ∈ S, S any set.
    Each(Box<Each>),
}

/// A set of the general evaluator; its elements are remembered as words by the slots it reads.
#[derive(Clone, Debug)]
pub struct Each {
    pub pattern: Pattern,
    pub set: Node,
    pub rep: R,
    pub span: Span,
    pub frame: Frame,
}

#[derive(Clone, Debug)]
pub enum Pattern {
    Bind(Slot),
    Check(Word),
    /// Parts of an ordinal; the second has so many values.
    Pair(Box<Pattern>, Box<Pattern>, u64),
    /// Parts of a pair that is a name.
    Named(Box<Pattern>, Box<Pattern>, R),
}

impl Pattern {
    /// The slot, if that is all there is.
    fn name(&self) -> Option<Slot> {
        match self {
            Pattern::Bind(s) => Some(*s),
            _ => None,
        }
    }

    #[inline]
    fn matches(&self, w: u64, env: &mut WordEnv) -> Res<bool> {
        match self {
            Pattern::Bind(s) => {
                env.words[*s as usize] = w;
                Ok(true)
            }
            Pattern::Check(e) => Ok(e.get(env)? == w),
            Pattern::Pair(a, b, nb) => Ok(a.matches(w / nb, env)? && b.matches(w % nb, env)?),
            Pattern::Named(a, b, rep) => {
                let (x, y) = env.table.decode(w, rep).split(rep);
                let (left, right) = rep.as_pair();
                let (x, y) = (env.table.encode(&x, left), env.table.encode(&y, right));
                Ok(a.matches(x, env)? && b.matches(y, env)?)
            }
        }
    }
}

/// Sets with more elements than this are run through without being remembered.
const MOST: usize = 1024;

impl Generator {
    /// See [`crate::eval::tier::Tier::once`].
    #[inline(always)]
    pub(super) fn once(&self, env: &mut WordEnv) -> Option<bool> {
        match self {
            Generator::Match(pattern, word, _) => {
                let w = word.get(env).ok()?;
                if let Pattern::Bind(slot) = pattern {
                    env.words[*slot as usize] = w;
                    return Some(true);
                }
                pattern.matches(w, env).ok()
            }
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn run(
        &self,
        env: &mut WordEnv,
        mut next: impl FnMut(&mut WordEnv) -> Res<bool>,
    ) -> Res<bool> {
        match self {
            Generator::Match(pattern, word, values) => {
                let w = match word.get(env) {
                    Ok(w) => w,
                    Err(e) => return undecided::<Words>(pattern.name(), *values, e, env, &mut next),
                };
                if pattern.matches(w, env)? { next(env) } else { Ok(true) }
            }
            Generator::Bits(slot, set, values) => {
                let set = match set.get(env) {
                    Ok(set) => set,
                    Err(e) => return undecided::<Words>(Some(*slot), *values, e, env, &mut next),
                };
                env.go_on()?;
                for i in mask::bits(set) {
                    env.words[*slot as usize] = u64::from(i);
                    if !next(env)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Generator::Pairs(x, y, nb, set, span) => {
                let set = set.get(env)?;
                env.go_on()?;
                for i in mask::bits(set) {
                    env.words[*x as usize] = u64::from(i / nb);
                    env.words[*y as usize] = u64::from(i % nb);
                    if !next(env).map_err(|e| e.at(*span))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Generator::Split(pattern, set, span) => {
                // Only a single name is run through when the set has no value.
                let set = set.get(env)?;
                env.go_on()?;
                for i in mask::bits(set) {
                    let mut go = || Ok(!pattern.matches(u64::from(i), env)? || next(env)?);
                    if !go().map_err(|e: Box<Fault>| e.at(*span))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Generator::Each(each) => each.run(env, &mut next),
        }
    }
}

impl Each {
    fn run(&self, env: &mut WordEnv, found: Then<WordEnv>) -> Res<bool> {
        let key = self.frame.key(env);
        let known = key.and_then(|key| env.lists[self.frame.keyed.site].get(&key).cloned());
        if let Some(list) = known {
            return self.through(&list, env, found);
        }
        let (set, is_cut) = env.slowly(&self.frame.reads, |general| self.set.val(general));
        let set = match set {
            Ok(set) => set,
            Err(e) => return undecided::<Words>(self.pattern.name(), self.rep.elem().carrier, e, env, found),
        };
        let (mut list, elem) = (Vec::new(), self.rep.elem());
        let all = ops::each(&set, &self.rep, &mut |v| {
            list.push(env.table.encode(&v, elem));
            Ok(list.len() <= MOST)
        });
        if matches!(all, Ok(true)) {
            let list: Arc<[u64]> = list.into();
            if let Some(key) = key
                && !is_cut
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
            let w = env.table.encode(&v, elem);
            if self.pattern.matches(w, env)? { found(env) } else { Ok(true) }
        })
        .map_err(|e| e.at(self.span))
    }

    fn through(&self, list: &[u64], env: &mut WordEnv, found: Then<WordEnv>) -> Res<bool> {
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
