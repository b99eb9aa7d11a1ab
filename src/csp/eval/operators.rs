//! Arithmetic, comparisons and logic.

use super::Machine;
use crate::tree::{Binary, Unary};
use crate::value::code::Code;
use crate::value::{Fault, Res, Set, Value};
use kanon_language::lang::diag::Span;
use std::cmp::Ordering;

impl Machine {
    pub(super) fn unary(&mut self, op: Unary, v: Value, span: Span) -> Res<Value> {
        Ok(match (op, &v) {
            (Unary::Negate, Value::Int(n)) => match n.checked_neg() {
                Some(n) => Value::Int(n),
                None => return too_large(span),
            },
            (Unary::Not, Value::Bool(b)) => Value::Bool(!b),
            (Unary::Length, _) => Value::Int(self.whole(&v, span)?.len() as i64),
            _ => return Fault::wrong(span, "this operator is not for such a value"),
        })
    }

    pub(super) fn binary(
        &mut self,
        op: Binary,
        a: &Code,
        b: &Code,
        frame: &mut Vec<Value>,
        span: Span,
    ) -> Res<Value> {
        match op {
            Binary::And => return Ok(Value::Bool(self.truth(a, frame)? && self.truth(b, frame)?)),
            Binary::Or => return Ok(Value::Bool(self.truth(a, frame)? || self.truth(b, frame)?)),
            _ => {}
        }
        let place = b.span;
        let (a, b) = (self.eval(a, frame)?, self.eval(b, frame)?);
        let (x, y) = match op {
            Binary::Concatenate => return self.concatenate(&a, &b, span),
            Binary::Equal => return Ok(Value::Bool(self.equal(&a, &b, span)?)),
            Binary::Different => return Ok(Value::Bool(!self.equal(&a, &b, span)?)),
            Binary::Less | Binary::AtMost | Binary::Greater | Binary::AtLeast => {
                let order = self.compare(&a, &b, span)?;
                return Ok(Value::Bool(match op {
                    Binary::Less => order == Some(Ordering::Less),
                    Binary::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                    Binary::Greater => order == Some(Ordering::Greater),
                    _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                }));
            }
            _ => (self.int(&a, span)?, self.int(&b, place)?),
        };
        let made = match op {
            Binary::Add => x.checked_add(y),
            Binary::Subtract => x.checked_sub(y),
            Binary::Multiply => x.checked_mul(y),
            // Rounded downwards, and what is left has the sign of the divisor.
            Binary::Divide | Binary::Modulo if y == 0 => return Fault::wrong(place, "division by zero"),
            Binary::Divide => {
                x.checked_div(y).map(|q| if x % y != 0 && (x < 0) != (y < 0) { q - 1 } else { q })
            }
            _ => x.checked_rem(y).map(|r| if r != 0 && (r < 0) != (y < 0) { r + y } else { r }),
        };
        made.map_or_else(|| too_large(span), |n| Ok(Value::Int(n)))
    }

    pub(super) fn equal(&mut self, a: &Value, b: &Value, span: Span) -> Res<bool> {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => Ok(x == y),
            (Value::Bool(x), Value::Bool(y)) => Ok(x == y),
            (Value::Constant(x), Value::Constant(y)) => Ok(x == y),
            (Value::Seq(x), Value::Seq(y)) if x.len() != y.len() => Ok(false),
            (Value::Set(x), Value::Set(y)) => {
                let (x, y) = (self.plain(x, span)?, self.plain(y, span)?);
                match (&x, &y) {
                    (Set::Finite(x), Set::Finite(y)) => Ok(x == y),
                    _ if x == y => Ok(true),
                    (Set::Finite(_), _) | (_, Set::Finite(_)) => Ok(false),
                    (Set::Upwards { .. } | Set::Integers, Set::Upwards { .. } | Set::Integers) => Ok(false),
                    _ => Fault::limit(span, "whether these infinite sets are equal is not computed"),
                }
            }
            (Value::Lazy(x), Value::Lazy(y)) if x == y => Ok(true),
            // One that ends is compared with as much of the other.
            (Value::Seq(x), lazy @ Value::Lazy(_)) | (lazy @ Value::Lazy(_), Value::Seq(x)) => {
                match self.exactly(lazy, x.len(), span)? {
                    Some(found) => {
                        let (x, y) = (Value::Seq(x.clone()), Value::seq(found));
                        self.equal(&x, &y, span)
                    }
                    None => Ok(false),
                }
            }
            _ => {
                let (x, y) = (self.normal(a.clone(), span)?, self.normal(b.clone(), span)?);
                Ok(x == y)
            }
        }
    }

    /// How two values are ordered, if they are: sets by inclusion, sequences by being a beginning, tuples by their
    /// first difference, maps key by key.
    fn compare(&mut self, a: &Value, b: &Value, span: Span) -> Res<Option<Ordering>> {
        Ok(match (a, b) {
            (Value::Int(x), Value::Int(y)) => Some(x.cmp(y)),
            (Value::Char(x), Value::Char(y)) => Some(x.cmp(y)),
            (Value::Bool(x), Value::Bool(y)) => Some(x.cmp(y)),
            (Value::Set(x), Value::Set(y)) => {
                let (x, y) = (self.plain(x, span)?, self.plain(y, span)?);
                both(self.subset(&x, &y, span)?, self.subset(&y, &x, span)?)
            }
            (Value::Seq(_) | Value::Lazy(_), Value::Seq(_) | Value::Lazy(_)) => {
                let (x, y) = (self.normal(a.clone(), span)?, self.normal(b.clone(), span)?);
                let (x, y) = (self.whole(&x, span)?, self.whole(&y, span)?);
                both(y.starts_with(&x), x.starts_with(&y))
            }
            (Value::Tuple(xs), Value::Tuple(ys)) if xs.len() == ys.len() => {
                for (x, y) in xs.iter().zip(ys.iter()) {
                    match self.compare(x, y, span)? {
                        Some(Ordering::Equal) => {}
                        other => return Ok(other),
                    }
                }
                Some(Ordering::Equal)
            }
            (Value::Map(x), Value::Map(y)) => {
                let mut at_most = |x: &std::collections::BTreeMap<Value, Value>,
                                   y: &std::collections::BTreeMap<Value, Value>|
                 -> Res<bool> {
                    for (k, v) in x {
                        let Some(w) = y.get(k) else { return Ok(false) };
                        if !matches!(self.compare(v, w, span)?, Some(Ordering::Less | Ordering::Equal)) {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                };
                both(at_most(x, y)?, at_most(y, x)?)
            }
            (Value::Fault(f), _) | (_, Value::Fault(f)) => return Err(Box::new((**f).clone())),
            _ => return Fault::wrong(span, "these values have no order"),
        })
    }
}

/// The order of two values of which each may be at most the other.
fn both(at_most: bool, at_least: bool) -> Option<Ordering> {
    match (at_most, at_least) {
        (true, true) => Some(Ordering::Equal),
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (false, false) => None,
    }
}

fn too_large<T>(span: Span) -> Res<T> {
    Fault::limit(span, "this number is too large: integers have 64 bits")
}
