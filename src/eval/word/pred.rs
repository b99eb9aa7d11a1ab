//! Tests on words.

use super::sequence::is_over;
use super::{Frame, W, Word, is_small, not_one};
use crate::eval::env::WordEnv;
use crate::eval::memo::Keyed;
use crate::eval::node::{Cmp, Test};
use crate::eval::plan::Formula;
use crate::eval::tier::Words;
use crate::lang::diag::Span;
use crate::value::fault::Res;
use crate::value::mask;
use crate::value::ops;
use crate::value::packed::Packing;
use crate::value::rep::R;
use crate::value::val::{FunKind, IntSet, SeqKind, Val, cmp_int};
use std::cmp::Ordering;

/// A predicate on words.
pub type Pred = Formula<Words>;

/// A test without connectives.
#[derive(Clone, Debug)]
pub enum Atom {
    Eq(W, W),
    Ne(W, W),
    /// f(x) = y
    Maps {
        f: W,
        x: W,
        y: W,
        nb: u32,
        span: Span,
    },
    In(W, W),
    NotIn(W, W),
    Subset(W, W),
    Strict(W, W),
    /// The words have a bit in common.
    Meets(W, W),
    /// x ∈ dom(r)
    InDom {
        x: W,
        r: W,
        nb: u32,
    },
    /// x ∉ dom(r)
    NotInDom {
        x: W,
        r: W,
        nb: u32,
    },
    Cmp(W, W, Cmp),
    InInts(W, IntSet),
    InInterval {
        x: W,
        lo: W,
        hi: W,
    },
    InFun {
        kind: FunKind,
        f: W,
        from: W,
        to: W,
        na: u32,
        nb: u32,
    },
    Defined(W),
    Memo(Box<Remembered>),
    Slow(Box<Slow>),
}

/// A test of the general evaluator whose operands are words: remembered by them.
#[derive(Clone, Debug)]
pub struct Remembered {
    pub op: Op,
    pub args: Vec<Word>,
    pub reps: Vec<R>,
    pub keyed: Keyed,
}

#[derive(Clone, Debug)]
pub enum Op {
    /// The representation is the set's.
    In(R),
    Subset(R),
    InSeq(SeqKind, R),
    /// The same over a set of bits, where the sequence may be packed.
    InPacked(SeqKind, Packing, R),
    InFun(FunKind, R),
}

/// A test of the general evaluator, remembered by the slots it reads.
#[derive(Clone, Debug)]
pub struct Slow {
    pub test: Test,
    pub frame: Frame,
}

impl Atom {
    // Not inlined: the connectives' code would grow around it, and each test would pay for that.
    #[inline(never)]
    pub(super) fn holds(&self, env: &mut WordEnv) -> Res<bool> {
        Ok(match self {
            Atom::Eq(a, b) => a.get(env)? == b.get(env)?,
            Atom::Ne(a, b) => a.get(env)? != b.get(env)?,
            Atom::Maps { f, x, y, nb, span } => {
                let row = mask::row(f.get(env)?, x.get(env)? as u32, *nb);
                if !row.is_power_of_two() {
                    return Err(not_one(row, *span));
                }
                row >> y.get(env)? == 1
            }
            Atom::In(x, s) => s.get(env)? >> x.get(env)? & 1 == 1,
            Atom::NotIn(x, s) => s.get(env)? >> x.get(env)? & 1 == 0,
            Atom::Subset(a, b) => a.get(env)? & !b.get(env)? == 0,
            Atom::Meets(a, b) => a.get(env)? & b.get(env)? != 0,
            Atom::InDom { x, r, nb } => mask::row(r.get(env)?, x.get(env)? as u32, *nb) != 0,
            Atom::NotInDom { x, r, nb } => mask::row(r.get(env)?, x.get(env)? as u32, *nb) == 0,
            Atom::Memo(m) => return m.holds(env),
            other => return other.seldom(env),
        })
    }

    #[inline(never)]
    fn seldom(&self, env: &mut WordEnv) -> Res<bool> {
        Ok(match self {
            Atom::Strict(a, b) => {
                let (a, b) = (a.get(env)?, b.get(env)?);
                a & !b == 0 && a != b
            }
            Atom::Cmp(a, b, cmp) => {
                let (a, b) = (a.get(env)?, b.get(env)?);
                cmp.holds(compare(a, b, env))
            }
            Atom::InInts(x, set) => {
                let x = x.get(env)?;
                match set {
                    IntSet::Integer => true,
                    IntSet::Natural => compare(x, 0, env) != Ordering::Less,
                    IntSet::Natural1 => compare(x, 0, env) == Ordering::Greater,
                }
            }
            Atom::InInterval { x, lo, hi } => {
                let (x, lo, hi) = (x.get(env)?, lo.get(env)?, hi.get(env)?);
                compare(lo, x, env) != Ordering::Greater && compare(x, hi, env) != Ordering::Greater
            }
            Atom::InFun { kind, f, from, to, na, nb } => {
                let (f, from, to) = (f.get(env)?, from.get(env)?, to.get(env)?);
                ops::in_matrices(*kind, f, from, to, *na, *nb)
            }
            Atom::Defined(w) => {
                w.get(env)?;
                true
            }
            Atom::Slow(s) => return s.holds(env),
            Atom::Eq(..)
            | Atom::Ne(..)
            | Atom::Maps { .. }
            | Atom::In(..)
            | Atom::NotIn(..)
            | Atom::Subset(..)
            | Atom::Meets(..)
            | Atom::InDom { .. }
            | Atom::NotInDom { .. }
            | Atom::Memo(_) => return self.holds(env),
        })
    }
}

/// Tagged integers as numbers.
#[inline]
fn compare(a: u64, b: u64, env: &WordEnv) -> Ordering {
    if is_small(a) && is_small(b) {
        (a as i64).cmp(&(b as i64))
    } else {
        cmp_int(&env.table.integer(a), &env.table.integer(b))
    }
}

impl Remembered {
    fn holds(&self, env: &mut WordEnv) -> Res<bool> {
        let mut words = [0; 3];
        for (w, a) in words.iter_mut().zip(&self.args) {
            *w = a.get(env)?;
        }
        let args = &words[..self.args.len()];
        if let Op::InPacked(kind, packing, _) = self.op
            && let Some(yes) = is_over(kind, packing, words[0], words[1])
        {
            return Ok(yes);
        }
        let key = self.keyed.key(args.iter().copied());
        if let Some(key) = key
            && let Some(w) = env.memos[self.keyed.site].get(key)
        {
            return Ok(w == 1);
        }
        let val = |i: usize| -> Val { env.table.decode(args[i], &self.reps[i]) };
        let yes = match &self.op {
            Op::In(rep) => ops::member(&val(0), &val(1), rep)?,
            Op::Subset(rep) => ops::subset(&val(0), &val(1), rep)?,
            Op::InSeq(kind, rep) | Op::InPacked(kind, _, rep) => {
                ops::in_sequences(*kind, &val(0), &val(1), rep)?
            }
            Op::InFun(kind, rep) => ops::in_functions(*kind, &val(0), &val(1), &val(2), rep)?,
        };
        if let Some(key) = key {
            env.memos[self.keyed.site].put(key, u64::from(yes));
        }
        Ok(yes)
    }
}

impl Slow {
    fn holds(&self, env: &mut WordEnv) -> Res<bool> {
        let key = self.frame.key(env);
        if let Some(key) = key
            && let Some(w) = env.memos[self.frame.keyed.site].get(key)
        {
            return Ok(w == 1);
        }
        let (yes, is_cut) = env.slowly(&self.frame.reads, |general| self.test.holds(general));
        let yes = yes?;
        if let Some(key) = key
            && !is_cut
        {
            env.memos[self.frame.keyed.site].put(key, u64::from(yes));
        }
        Ok(yes)
    }
}
