//! The fast tier: expressions, predicates, plans and substitutions whose values are words in [`WordEnv::words`].
//!
//! It is made of the compiled trees ([`lower`]), so plans and order are those of the general evaluator, and so are
//! faults, to the place. A word is the one a state's row has ([`crate::value::table`]): an ordinal, bits, a
//! tagged integer, a short sequence or the name of an interned value. Equal values have equal words; so operations on
//! names are remembered by the words of their operands ([`memo`]), and nothing is allocated or hashed by structure
//! while the same values come again.
//!
//! What has no form here is a [`Word::Slow`] or [`Pred::Slow`]: the general tree, with the slots it reads filled
//! from the words first. Absent on purpose: values that are symbolic or half grown; an operation that needs one
//! is run by the general evaluator as a whole.

pub mod lower;
pub mod plan;
mod pred;
mod reads;
mod sequence;
mod tidy;

pub use crate::eval::memo;
pub use pred::{Atom, Pred};
pub use sequence::{Packed, PackedOp};

use super::node::{Binary, Node, Slot, Unary, binary, settled, unary};
use crate::eval::env::{Then, WordEnv};
use crate::eval::tier::{Tier, Words};
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res, WdKind};
use crate::value::mask;
use crate::value::ops::force;
use crate::value::ops::{self, Restrict};
use crate::value::rep::{R, low};
use crate::value::val::Val;
use memo::Keyed;
use plan::{Generator, Plan};

/// A substitution on words.
pub type Code = super::code::Code<Words>;

pub type W = Box<Word>;

/// An expression.
#[derive(Clone, Debug)]
pub enum Word {
    Const(u64),
    Slot(Slot),
    Bool(Box<Pred>),
    Pair {
        a: W,
        b: W,
        nb: u64,
    },
    First {
        p: W,
        nb: u64,
    },
    Second {
        p: W,
        nb: u64,
    },
    Or(W, W),
    And(W, W),
    AndNot(W, W),
    Single(W),
    /// s ∪ {x}
    With(W, W),
    /// s − {x}
    Without(W, W),
    Card(W),
    Apply {
        f: W,
        x: W,
        nb: u32,
        span: Span,
    },
    Image {
        r: W,
        s: W,
        nb: u32,
    },
    Dom {
        r: W,
        na: u32,
        nb: u32,
    },
    Ran {
        r: W,
        na: u32,
        nb: u32,
    },
    Inverse {
        r: W,
        na: u32,
        nb: u32,
    },
    Compose {
        r: W,
        s: W,
        na: u32,
        nb: u32,
        nc: u32,
    },
    Override {
        r: W,
        s: W,
        na: u32,
        nb: u32,
    },
    Update {
        f: W,
        x: W,
        y: W,
        nb: u32,
    },
    Restrict {
        how: Restrict,
        r: W,
        s: W,
        na: u32,
        nb: u32,
    },
    /// {x} <| r and {x} <<| r
    Row {
        r: W,
        x: W,
        nb: u32,
        subtract: bool,
    },
    Product {
        a: W,
        b: W,
        nb: u32,
    },
    Int(Int, W, W, Span),
    /// The set of the elements of a comprehension whose set is a mask.
    Compr {
        plan: Box<Plan>,
        element: W,
    },
    If(Box<Pred>, W, W),
    Let(Vec<(Slot, Word)>, W),
    Memo(Box<Remembered>),
    Packed(Box<Packed>),
    Slow(Box<Slow>),
}

/// Arithmetic on tagged integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

/// An operation of the general evaluator whose operands are words: remembered by them.
#[derive(Clone, Debug)]
pub struct Remembered {
    pub op: Op,
    pub args: Vec<Word>,
    /// Of the operands.
    pub reps: Vec<R>,
    pub out: R,
    pub span: Span,
    pub keyed: Keyed,
}

#[derive(Clone, Debug)]
pub enum Op {
    Unary(Unary),
    Binary(Binary),
    Update,
    Set,
    Seq,
    Rec,
    Field(usize),
    WithField(usize),
}

/// An expression of the general evaluator, remembered by the slots it reads.
#[derive(Clone, Debug)]
pub struct Slow {
    pub node: Node,
    pub rep: R,
    pub frame: Frame,
}

/// The slots that a general tree reads.
#[derive(Clone, Debug)]
pub struct Frame {
    /// With their representations.
    pub reads: Vec<(Slot, R)>,
    /// It reads a constant that is not a word: the number of the valuation stands for it.
    pub valuation: bool,
    pub keyed: Keyed,
}

impl Frame {
    /// What identifies the values read, if it fits a word.
    #[inline]
    pub fn key(&self, env: &WordEnv) -> Option<u64> {
        let words = self.reads.iter().map(|(slot, _)| env.words[*slot as usize]);
        self.keyed.key(words.chain(self.valuation.then_some(env.valuation)))
    }
}

impl Word {
    /// The value; the leaves, which most operands are, without a call.
    #[inline(always)]
    pub fn get(&self, env: &mut WordEnv) -> Res<u64> {
        match self {
            Word::Const(w) => Ok(*w),
            Word::Slot(s) => Ok(env.words[*s as usize]),
            word => word.eval(env),
        }
    }

    // What is common, with little to save and restore around it; the rest is elsewhere.
    fn eval(&self, env: &mut WordEnv) -> Res<u64> {
        Ok(match self {
            Word::Const(w) => *w,
            Word::Slot(s) => env.words[*s as usize],
            Word::Pair { a, b, nb } => a.get(env)? * nb + b.get(env)?,
            Word::Or(a, b) => a.get(env)? | b.get(env)?,
            Word::And(a, b) => a.get(env)? & b.get(env)?,
            Word::AndNot(a, b) => a.get(env)? & !b.get(env)?,
            Word::Single(a) => 1 << a.get(env)?,
            Word::With(s, x) => s.get(env)? | 1u64 << x.get(env)?,
            Word::Without(s, x) => s.get(env)? & !(1u64 << x.get(env)?),
            Word::Apply { f, x, nb, span } => {
                let row = mask::row(f.get(env)?, x.get(env)? as u32, *nb);
                if row.is_power_of_two() {
                    u64::from(row.trailing_zeros())
                } else {
                    return Err(not_one(row, *span));
                }
            }
            Word::Update { f, x, y, nb } => {
                let (f, x, y) = (f.get(env)?, x.get(env)?, y.get(env)?);
                let at = x * u64::from(*nb);
                (f & !(low(*nb) << at)) | 1 << (at + y)
            }
            Word::Row { r, x, nb, subtract } => {
                let (r, x) = (r.get(env)?, x.get(env)?);
                let row = low(*nb) << (x * u64::from(*nb));
                if *subtract { r & !row } else { r & row }
            }
            Word::If(c, a, b) => return if c.holds(env)? { a.get(env) } else { b.get(env) },
            Word::Memo(m) => return m.eval(env),
            Word::Packed(p) => return p.eval(env),
            other => return other.seldom(env),
        })
    }

    #[inline(never)]
    fn seldom(&self, env: &mut WordEnv) -> Res<u64> {
        Ok(match self {
            Word::Bool(p) => u64::from(p.holds(env)?),
            Word::First { p, nb } => p.get(env)? / nb,
            Word::Second { p, nb } => p.get(env)? % nb,
            Word::Card(a) => u64::from(a.get(env)?.count_ones()) << 1,
            Word::Image { r, s, nb } => mask::image(r.get(env)?, s.get(env)?, *nb),
            Word::Dom { r, na, nb } => mask::dom(r.get(env)?, *na, *nb),
            Word::Ran { r, na, nb } => mask::ran(r.get(env)?, *na, *nb),
            Word::Inverse { r, na, nb } => mask::inverse(r.get(env)?, *na, *nb),
            Word::Compose { r, s, na, nb, nc } => mask::compose(r.get(env)?, s.get(env)?, *na, *nb, *nc),
            Word::Override { r, s, na, nb } => mask::override_with(r.get(env)?, s.get(env)?, *na, *nb),
            Word::Restrict { how, r, s, na, nb } => {
                let (r, s) = (r.get(env)?, s.get(env)?);
                let keep = if how.by_domain { mask::rows(s, *nb) } else { mask::columns(s, *na, *nb) };
                if how.subtract { r & !keep } else { r & keep }
            }
            Word::Product { a, b, nb } => mask::product(a.get(env)?, b.get(env)?, *nb),
            Word::Int(op, a, b, span) => {
                let (a, b) = (a.get(env)?, b.get(env)?);
                return int(*op, a, b, *span, env);
            }
            Word::Compr { plan, element } => return elements(plan, element, env),
            Word::Let(defs, body) => {
                for (slot, w) in defs {
                    let w = w.get(env)?;
                    env.words[*slot as usize] = w;
                }
                return body.get(env);
            }
            Word::Slow(s) => return s.eval(env),
            Word::Const(_)
            | Word::Slot(_)
            | Word::Pair { .. }
            | Word::Or(..)
            | Word::And(..)
            | Word::AndNot(..)
            | Word::Single(_)
            | Word::With(..)
            | Word::Without(..)
            | Word::Apply { .. }
            | Word::Update { .. }
            | Word::Row { .. }
            | Word::If(..)
            | Word::Memo(_)
            | Word::Packed(_) => return self.eval(env),
        })
    }
}

/// Nothing that the general tier has not.
#[derive(Debug)]
pub enum Never {}

impl Tier for Words {
    type Env = WordEnv;
    type Value = u64;
    type Node = Word;
    type Assigned = (Slot, Word);
    type Atom = Atom;
    type Generator = Generator;
    type Special = Never;

    #[inline(always)]
    fn slots(env: &mut WordEnv) -> &mut [u64] {
        &mut env.words
    }

    #[inline(always)]
    fn value(node: &Word, env: &mut WordEnv) -> Res<u64> {
        node.get(env)
    }

    #[inline(always)]
    fn target(a: &(Slot, Word)) -> Slot {
        a.0
    }

    #[inline(always)]
    fn assigned((_, word): &(Slot, Word), env: &mut WordEnv) -> Res<u64> {
        word.get(env)
    }

    #[inline]
    fn integer(node: &Word, env: &mut WordEnv) -> Res<Val> {
        let w = node.get(env)?;
        Ok(env.table.integer(w))
    }

    #[inline(always)]
    fn of_integer(i: i64, env: &WordEnv) -> u64 {
        env.table.of_integer(&Val::I(i))
    }

    #[inline(always)]
    fn of_ordinal(w: u64) -> u64 {
        w
    }

    #[inline(always)]
    fn holds(atom: &Atom, env: &mut WordEnv) -> Res<bool> {
        atom.holds(env)
    }

    #[inline(always)]
    fn once(g: &Generator, env: &mut WordEnv) -> Option<bool> {
        g.once(env)
    }

    #[inline(always)]
    fn generate(g: &Generator, env: &mut WordEnv, next: impl FnMut(&mut WordEnv) -> Res<bool>) -> Res<bool> {
        g.run(env, next)
    }

    fn special(s: &Never, _: &mut WordEnv, _: Then<WordEnv>) -> Res<bool> {
        match *s {}
    }
}

#[cold]
fn not_one(row: u64, span: Span) -> Box<Fault> {
    Fault::wd(if row == 0 { WdKind::OutsideDomain } else { WdKind::NotFunctional }).at(span)
}

/// Whether a word is an integer that is not interned.
#[inline]
pub(super) fn is_small(w: u64) -> bool {
    w & 1 == 0
}

#[inline]
fn int(op: Int, a: u64, b: u64, span: Span, env: &WordEnv) -> Res<u64> {
    if is_small(a) && is_small(b) {
        let (x, y) = (a as i64, b as i64);
        // The tags add up: 2x + 2y = 2(x + y).
        let sum = match op {
            Int::Add => x.checked_add(y),
            Int::Sub => x.checked_sub(y),
            Int::Mul => (x >> 1).checked_mul(y),
            // Division and remainder as in `ops`, where they have a value.
            Int::Div if y != 0 => (x >> 1).checked_div(y >> 1).and_then(|q| q.checked_mul(2)),
            Int::Mod if x >= 0 && y > 0 => Some(x % y),
            Int::Div | Int::Mod => None,
        };
        if let Some(s) = sum
            && s >> 62 == s >> 63
        {
            return Ok(s as u64);
        }
    }
    let (x, y) = (env.table.integer(a), env.table.integer(b));
    let v = match op {
        Int::Add => ops::add(&x, &y),
        Int::Sub => ops::sub(&x, &y),
        Int::Mul => ops::mul(&x, &y).map_err(|e| e.at(span))?,
        Int::Div => ops::div(&x, &y).map_err(|e| e.at(span))?,
        Int::Mod => ops::modulo(&x, &y).map_err(|e| e.at(span))?,
    };
    Ok(env.table.of_integer(&v))
}

/// As [`super::node::Compr::elements`], into a mask.
fn elements(plan: &Plan, element: &Word, env: &mut WordEnv) -> Res<u64> {
    let mut fault = None;
    let mut all = 0;
    let complete = plan.solve_all(env, &mut |env| {
        if let Some(e) = env.pending.clone() {
            Fault::gather(&mut fault, e);
            return Ok(true);
        }
        all |= 1 << element.get(env)?;
        Ok(true)
    })?;
    match fault {
        Some(e) => Err(e),
        None => complete.map(|_| all),
    }
}

impl Remembered {
    fn eval(&self, env: &mut WordEnv) -> Res<u64> {
        let mut words = [0; 3];
        if self.args.len() > words.len() {
            let args: Res<Vec<u64>> = self.args.iter().map(|a| a.get(env)).collect();
            return self.compute(&args?, env);
        }
        for (w, a) in words.iter_mut().zip(&self.args) {
            *w = a.get(env)?;
        }
        self.of_words(&words[..self.args.len()], env)
    }

    /// The result for operands that are known, no more than three.
    fn of_words(&self, args: &[u64], env: &mut WordEnv) -> Res<u64> {
        let Some(key) = self.keyed.key(args.iter().copied()) else { return self.compute(args, env) };
        if let Some(w) = env.memos[self.keyed.site].get(key) {
            return Ok(w);
        }
        let w = self.compute(args, env)?;
        env.memos[self.keyed.site].put(key, w);
        Ok(w)
    }

    #[cold]
    fn compute(&self, args: &[u64], env: &WordEnv) -> Res<u64> {
        let val = |i: usize| env.table.decode(args[i], &self.reps[i]);
        let all = || args.iter().zip(&self.reps).map(|(w, rep)| env.table.decode(*w, rep));
        let v = match &self.op {
            Op::Unary(op) => unary(*op, val(0), &self.reps[0], &self.out),
            Op::Binary(op) => binary(*op, val(0), val(1), &self.reps[0], &self.reps[1], &self.out),
            Op::Update => ops::update(&val(0), &val(1), &val(2), &self.out),
            Op::Set => Ok(Val::from_elems(all().collect(), &self.out)),
            Op::Seq => Ok(Val::seq(all().collect())),
            Op::Rec => Ok(Val::record(all().collect(), &self.out)),
            Op::Field(i) => Ok(val(0).field(*i, &self.reps[0])),
            Op::WithField(i) => {
                let mut fields = val(0).fields(&self.out);
                fields[*i] = val(1);
                Ok(Val::record(fields, &self.out))
            }
        };
        let v = v.and_then(|v| settled(v, &self.out)).map_err(|e| e.at(self.span))?;
        Ok(env.table.encode(&v, &self.out))
    }
}

impl Slow {
    fn eval(&self, env: &mut WordEnv) -> Res<u64> {
        let key = self.frame.key(env);
        if let Some(key) = key
            && let Some(w) = env.memos[self.frame.keyed.site].get(key)
        {
            return Ok(w);
        }
        let (v, is_cut) = env.slowly(&self.frame.reads, |general| self.node.val(general));
        let v = force(v?, &self.rep)?;
        let w = env.table.encode(&v, &self.rep);
        if let Some(key) = key
            && !is_cut
        {
            env.memos[self.frame.keyed.site].put(key, w);
        }
        Ok(w)
    }
}
