//! Operations on packed sequences ([`crate::value::packed`]), without leaving their words. Where one has no word (the
//! operand is interned, the result does not fit, or there is none) the general operation says what is the case.

use super::{Op, Remembered, Word, is_small};
use crate::eval::env::WordEnv;
use crate::eval::node::{Binary, Unary};
use crate::value::fault::Res;
use crate::value::packed::{Packing, is_packed};
use crate::value::rep::R;
use crate::value::val::SeqKind;

/// An operation on packed sequences.
#[derive(Clone, Debug)]
pub struct Packed {
    pub op: PackedOp,
    pub packing: Packing,
    pub general: Remembered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackedOp {
    Size,
    First,
    Last,
    Front,
    Tail,
    Rev,
    /// The items as bits.
    Range,
    Concat,
    Prepend,
    Append,
    At,
    Take,
    Drop,
    Update,
}

impl PackedOp {
    /// The operation on a sequence of this type, if it has a form on packed ones; and how they are packed.
    pub fn unary(op: Unary, rep: &R, out: &R) -> Option<(PackedOp, Packing)> {
        let op = match op {
            // As many pairs as items.
            Unary::Card | Unary::Size => PackedOp::Size,
            Unary::FirstItem => PackedOp::First,
            Unary::LastItem => PackedOp::Last,
            Unary::Front => PackedOp::Front,
            Unary::Tail => PackedOp::Tail,
            Unary::Rev => PackedOp::Rev,
            Unary::Ran if out.mask_len().is_some() => PackedOp::Range,
            _ => return None,
        };
        Some((op, rep.packing()?))
    }

    /// The same for operations on two things.
    pub fn binary(op: Binary, ra: &R, rb: &R) -> Option<(PackedOp, Packing)> {
        let (op, rep) = match op {
            Binary::Concat => (PackedOp::Concat, ra),
            Binary::Prepend => (PackedOp::Prepend, rb),
            Binary::Append => (PackedOp::Append, ra),
            Binary::Apply => (PackedOp::At, ra),
            Binary::TakeFirst => (PackedOp::Take, ra),
            Binary::DropFirst => (PackedOp::Drop, ra),
            _ => return None,
        };
        Some((op, rep.packing()?))
    }

    #[inline]
    fn word(self, p: Packing, args: &[u64; 3]) -> Option<u64> {
        let [a, b, c] = *args;
        let number = |w: u64| is_small(w).then_some(w as i64 >> 1);
        match self {
            PackedOp::Size => is_packed(a).then(|| p.size(a) << 1),
            PackedOp::First => p.first(a),
            PackedOp::Last => p.last(a),
            PackedOp::Front => p.front(a),
            PackedOp::Tail => p.tail(a),
            PackedOp::Rev => p.rev(a),
            PackedOp::Range => p.range(a),
            PackedOp::Concat => p.concat(a, b),
            PackedOp::Prepend => p.prepend(a, b),
            PackedOp::Append => p.append(a, b),
            PackedOp::At => p.at(a, number(b)?),
            PackedOp::Take => p.take(a, number(b)?),
            PackedOp::Drop => p.drop(a, number(b)?),
            PackedOp::Update => p.update(a, number(b)?, c),
        }
    }
}

impl Packed {
    #[inline]
    pub(super) fn eval(&self, env: &mut WordEnv) -> Res<u64> {
        let mut words = [0; 3];
        for (w, a) in words.iter_mut().zip(&self.general.args) {
            *w = a.get(env)?;
        }
        match self.op.word(self.packing, &words) {
            Some(w) => Ok(w),
            None => self.general.of_words(&words[..self.general.args.len()], env),
        }
    }

    /// Whether it has a value if its operands have.
    pub fn is_total(&self) -> bool {
        // A relation that is no sequence has no size, but so many pairs.
        self.op == PackedOp::Range || matches!(self.general.op, Op::Unary(Unary::Card))
    }

    pub fn args(&self) -> &[Word] {
        &self.general.args
    }
}

/// Whether a packed sequence is one over a set of ordinals, which is one word of bits; `None` if it is not packed.
#[inline]
pub fn is_over(kind: SeqKind, p: Packing, word: u64, of: u64) -> Option<bool> {
    let items = p.range(word)?;
    let has_size = |set: u64| u64::from(set.count_ones()) == p.size(word);
    Some(
        items & !of == 0
            && !(kind.nonempty && word == 0)
            && (!kind.injective || has_size(items))
            && (!kind.surjective || has_size(of)),
    )
}
