//! Integers: arithmetic on options where there are few, on terms otherwise; what a term can be.

use super::Options;
use super::value::MAX_OPTIONS;
use super::{Encoder, Mutant, Sym, Truth, Val, ill_typed};
use crate::lang::diag::Span;
use crate::model::BinOp;
use crate::symbolic::{Res, unsupported};
use crate::value::Value;
use kanon_solver::term::{Bool, Int, IntNode};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// The least and the greatest value of a term, as far as they are known.
pub type Range = (Option<BigInt>, Option<BigInt>);

/// Two numbers are combined option by option if that gives at most so many pairs.
const MAX_PAIRS: usize = 100;

/// The largest integer of a formula, in bits.
const MAX_BITS: u64 = 4096;

impl<'m> Encoder<'m> {
    /// The number as a term.
    pub fn int_term(&mut self, s: &Sym<'m>, span: Span) -> Res<Int> {
        match s {
            Sym::Int(i) => Ok(*i),
            Sym::One(options) => {
                let mut term = None;
                for (v, g) in options.iter().rev() {
                    let Value::Int(v) = v else { return ill_typed(span) };
                    let v = self.terms.constant(v.clone());
                    // Exactly one is true, so the last one needs no test.
                    term = Some(match term {
                        None => v,
                        Some(rest) => self.terms.ite_int(*g, v, rest),
                    });
                }
                term.map_or_else(|| ill_typed(span), Ok)
            }
            _ => ill_typed(span),
        }
    }

    pub(super) fn of_term(&self, i: Int) -> Sym<'m> {
        match self.terms.known(i) {
            Some(v) => Sym::int(v.clone()),
            None => Sym::Int(i),
        }
    }

    /// Exact; division truncates towards zero.
    pub(in crate::symbolic) fn arithmetic(
        &mut self,
        op: BinOp,
        a: &Sym<'m>,
        b: &Sym<'m>,
        span: Span,
    ) -> Res<Val<'m>> {
        let is_forgotten = matches!(
            (op, self.mutant),
            (BinOp::Div, Mutant::DivisionAnywhere)
                | (BinOp::Mod, Mutant::RemainderAnywhere)
                | (BinOp::Pow, Mutant::PowerAnywhere)
        );
        if let (Sym::One(x), Sym::One(y)) = (a, b)
            && x.len() * y.len() <= MAX_PAIRS.max(x.len()).max(y.len())
        {
            let (mut options, mut undefined) = (Options::new(), vec![]);
            for (v, g) in x.iter() {
                for (w, h) in y.iter() {
                    let (Value::Int(v), Value::Int(w)) = (v, w) else { return ill_typed(span) };
                    let when = self.terms.and([*g, *h]);
                    match compute(op, v, w, span)? {
                        Some(z) => options.entry(Value::Int(z)).or_default().push(when),
                        None if is_forgotten => options.entry(Value::int(0)).or_default().push(when),
                        None => undefined.push(when),
                    }
                }
            }
            self.spend(x.len() * y.len(), span)?;
            let def = !self.terms.or(undefined);
            if options.is_empty() {
                return Ok(Val::none());
            }
            return Ok(Val { sym: self.pick(options), def });
        }
        let (x, y) = (self.int_term(a, span)?, self.int_term(b, span)?);
        let zero = self.terms.constant(0);
        let (term, def) = match op {
            BinOp::Add => (self.terms.add(x, y), Bool::TRUE),
            BinOp::Sub => (self.terms.sub(x, y), Bool::TRUE),
            BinOp::Mul => (self.terms.mul(x, y), Bool::TRUE),
            BinOp::Div => (self.terms.div(x, y), !self.terms.eq(y, zero)),
            BinOp::Mod => {
                let (natural, positive) = (self.at_least(x, 0), self.at_least(y, 1));
                (self.terms.modulo(x, y), self.terms.and([natural, positive]))
            }
            BinOp::Pow => return self.power(x, b, span),
            _ => return ill_typed(span),
        };
        let def = if is_forgotten { Bool::TRUE } else { def };
        Ok(Val { sym: self.of_term(term), def })
    }

    fn at_least(&mut self, x: Int, low: i32) -> Bool {
        if self.range(x).0.is_some_and(|l| l >= low.into()) {
            return Bool::TRUE;
        }
        let low = self.terms.constant(low);
        self.terms.le(low, x)
    }

    /// A power for each exponent that is possible.
    fn power(&mut self, x: Int, exponent: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        let mut undefined = vec![];
        let mut result = None;
        for (n, g) in self.options(exponent, span)? {
            let Value::Int(n) = n else { return ill_typed(span) };
            if n.is_negative() {
                if self.mutant != Mutant::PowerAnywhere {
                    undefined.push(g);
                }
                continue;
            }
            let Some(n) = n.to_u32().filter(|n| *n <= 64) else {
                return unsupported(span, "a power with a large exponent");
            };
            let mut power = self.terms.constant(1);
            for _ in 0..n {
                power = self.terms.mul(power, x);
            }
            result = Some(match result {
                None => power,
                Some(rest) => self.terms.ite_int(g, power, rest),
            });
        }
        let def = !self.terms.or(undefined);
        Ok(match result {
            Some(i) => Val { sym: self.of_term(i), def },
            None => Val::none(),
        })
    }

    pub(super) fn negated(&mut self, a: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        self.arithmetic(BinOp::Sub, &Sym::int(0), a, span)
    }

    /// a ≤ b
    pub(in crate::symbolic) fn le(&mut self, a: &Sym<'m>, b: &Sym<'m>, span: Span) -> Res<Bool> {
        self.spend(1, span)?;
        if let (Sym::One(x), Sym::One(y)) = (a, b)
            && x.len() + y.len() <= MAX_OPTIONS
        {
            let mut ways = vec![];
            for (v, g) in x.iter() {
                let from = y.partition_point(|(w, _)| w < v);
                // Exactly one of all is true.
                let above =
                    if from == 0 { Bool::TRUE } else { self.terms.or(y[from..].iter().map(|(_, h)| *h)) };
                ways.push(self.terms.and([*g, above]));
            }
            return Ok(self.terms.or(ways));
        }
        let (x, y) = (self.int_term(a, span)?, self.int_term(b, span)?);
        let (rx, ry) = (self.range(x), self.range(y));
        if rx.1.is_some_and(|h| ry.0.is_some_and(|l| h <= l)) {
            return Ok(Bool::TRUE);
        }
        if rx.0.is_some_and(|l| ry.1.is_some_and(|h| l > h)) {
            return Ok(Bool::FALSE);
        }
        Ok(self.terms.le(x, y))
    }

    pub(super) fn compare(&mut self, op: BinOp, a: &Sym<'m>, b: &Sym<'m>, span: Span) -> Res<Bool> {
        Ok(match op {
            BinOp::Le => self.le(a, b, span)?,
            BinOp::Ge => self.le(b, a, span)?,
            BinOp::Lt => !self.le(b, a, span)?,
            _ => !self.le(a, b, span)?,
        })
    }

    /// Between two bounds, or without one.
    pub(super) fn between(
        &mut self,
        x: &Sym<'m>,
        low: Option<&Sym<'m>>,
        high: Option<&Sym<'m>>,
        span: Span,
    ) -> Res<Truth> {
        let above = low.map_or(Ok(Bool::TRUE), |l| self.le(l, x, span))?;
        let below = high.map_or(Ok(Bool::TRUE), |h| self.le(x, h, span))?;
        Ok(Truth::sure(self.terms.and([above, below])))
    }

    /// What is known of the values of a number.
    pub(super) fn range_of(&mut self, s: &Sym<'m>) -> Range {
        match s {
            Sym::One(options) => match (options.first(), options.last()) {
                (Some((Value::Int(l), _)), Some((Value::Int(h), _))) => (Some(l.clone()), Some(h.clone())),
                _ => (None, None),
            },
            Sym::Int(i) => self.range(*i),
            _ => (None, None),
        }
    }

    pub(super) fn is_in_range(&mut self, i: Int, k: &BigInt) -> bool {
        let (low, high) = self.range(i);
        low.is_none_or(|l| l <= *k) && high.is_none_or(|h| *k <= h)
    }

    pub(super) fn range(&mut self, i: Int) -> Range {
        if let Some(known) = self.ranges.get(&i) {
            return known.clone();
        }
        let both = |a: Option<BigInt>, b: Option<BigInt>, f: fn(BigInt, BigInt) -> BigInt| Some(f(a?, b?));
        let range = match self.terms.int_node(i).clone() {
            IntNode::Const(v) => (Some(v.clone()), Some(v)),
            IntNode::Var(v) => {
                let bounds = self.terms.bounds(v);
                (bounds.low.clone(), bounds.high.clone())
            }
            IntNode::Sum(parts, rest) => {
                let (mut low, mut high) = (Some(rest.clone()), Some(rest));
                for (part, factor) in parts {
                    let (l, h) = self.range(part);
                    let (l, h) = if factor.is_negative() { (h, l) } else { (l, h) };
                    low = both(low, l.map(|l| l * &factor), |a, b| a + b);
                    high = both(high, h.map(|h| h * &factor), |a, b| a + b);
                }
                (low, high)
            }
            IntNode::Count(parts) => (Some(BigInt::zero()), Some(parts.len().into())),
            IntNode::Mul(a, b) => match (self.range(a), self.range(b)) {
                ((Some(a), Some(b)), (Some(c), Some(d))) => {
                    let corners = [&a * &c, &a * &d, &b * &c, &b * &d];
                    (corners.iter().min().cloned(), corners.iter().max().cloned())
                }
                _ if a == b => (Some(BigInt::zero()), None),
                ((Some(a), _), (Some(c), _)) if !a.is_negative() && !c.is_negative() => (Some(a * c), None),
                _ => (None, None),
            },
            IntNode::Div(a, _) => match self.range(a) {
                (Some(low), Some(high)) => {
                    let most = low.abs().max(high.abs());
                    let least = if low.is_negative() { -&most } else { BigInt::zero() };
                    // The divisor may be negative: only a constant divisor tells more, and terms know that one.
                    (Some(least.min(-&most)), Some(most))
                }
                _ => (None, None),
            },
            IntNode::Mod(a, b) => {
                let low = match self.range(a).0 {
                    Some(l) if !l.is_negative() => Some(BigInt::zero()),
                    other => other,
                };
                let high = match (self.range(a).1, self.range(b)) {
                    (_, (Some(l), Some(h))) => Some(l.abs().max(h.abs())),
                    (Some(h), _) => Some(h.max(BigInt::zero())),
                    _ => None,
                };
                (low, high)
            }
            IntNode::Ite(_, a, b) => {
                let ((a, b), (c, d)) = (self.range(a), self.range(b));
                (both(a, c, |x, y| x.min(y)), both(b, d, |x, y| x.max(y)))
            }
        };
        self.ranges.insert(i, range.clone());
        range
    }
}

/// The value of an operation on numbers; `None` where it has none.
fn compute(op: BinOp, a: &BigInt, b: &BigInt, span: Span) -> Res<Option<BigInt>> {
    Ok(match op {
        BinOp::Add => Some(a + b),
        BinOp::Sub => Some(a - b),
        BinOp::Mul if a.bits() + b.bits() > MAX_BITS => return unsupported(span, "a very large integer"),
        BinOp::Mul => Some(a * b),
        BinOp::Div => (!b.is_zero()).then(|| a / b),
        BinOp::Mod => (!a.is_negative() && b.is_positive()).then(|| a % b),
        BinOp::Pow if b.is_negative() => None,
        BinOp::Pow if b.is_zero() || a.is_one() => Some(BigInt::one()),
        BinOp::Pow if a.is_zero() => Some(BigInt::zero()),
        BinOp::Pow if (-a).is_one() => Some(if b.bit(0) { a.clone() } else { BigInt::one() }),
        BinOp::Pow => match b.to_u32() {
            Some(n) if a.bits().saturating_mul(u64::from(n)) <= MAX_BITS => Some(a.pow(n)),
            _ => return unsupported(span, "a very large integer"),
        },
        _ => return ill_typed(span),
    })
}
