//! Where the values of an infinite function lie, by its form.

use super::{Env, Node};
use crate::value::ranges::Range;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

/// What is known of a lambda as a whole by its form.
#[derive(Clone, Debug)]
pub struct Function {
    /// For each bound variable a set that it is in.
    pub domain: Vec<Node>,
    /// Whether nothing else is said of them: the product of the sets is the domain.
    pub is_all: bool,
    /// Whether its body has a value whatever its names are.
    pub has_value: bool,
    /// An integer, by how it is computed.
    pub value: Option<Arith>,
}

#[derive(Clone, Debug)]
pub enum Arith {
    Bound(usize),
    /// Mentions no bound variable.
    Known(Node),
    Neg(Box<Arith>),
    Add(Box<Arith>, Box<Arith>),
    Mul(Box<Arith>, Box<Arith>),
    Div(Box<Arith>, Box<Arith>),
    Mod(Box<Arith>, Box<Arith>),
    Power(Box<Arith>, u32),
    /// One of the two.
    Either(Box<Arith>, Box<Arith>),
}

impl Arith {
    /// A range in which all values lie, given those of the bound variables. `None` if there may be no value, or nothing
    /// is known.
    pub fn range(&self, bound: &[Option<Range>], env: &mut Env) -> Option<Range> {
        let mut part = |e: &Arith| e.range(bound, env);
        let is_natural = |r: &Range| r.0.as_ref().is_some_and(|low| !low.is_negative());
        Some(match self {
            Arith::Bound(i) => bound[*i].clone()?,
            Arith::Known(node) => {
                let n = node.val(env).ok()?.to_bigint();
                (Some(n.clone()), Some(n))
            }
            Arith::Neg(x) => {
                let (low, high) = part(x)?;
                (high.map(|n| -n), low.map(|n| -n))
            }
            Arith::Add(x, y) => {
                let ((a, b), (c, d)) = (part(x)?, part(y)?);
                (a.zip(c).map(|(a, c)| a + c), b.zip(d).map(|(b, d)| b + d))
            }
            Arith::Mul(x, y) => match (part(x)?, part(y)?) {
                ((Some(a), Some(b)), (Some(c), Some(d))) => {
                    let mut corners = [&a * &c, &a * &d, &b * &c, &b * &d];
                    corners.sort();
                    let [low, .., high] = corners;
                    (Some(low), Some(high))
                }
                (x, y) if is_natural(&x) && is_natural(&y) => {
                    (x.0.zip(y.0).map(|(a, c)| a * c), x.1.zip(y.1).map(|(b, d)| b * d))
                }
                _ => (None, None),
            },
            Arith::Div(x, y) => {
                let ((a, b), (c, d)) = (part(x)?, part(y)?);
                let is_positive = c.as_ref().is_some_and(|c| c.is_positive());
                if !is_positive && !d.as_ref().is_some_and(|d| d.is_negative()) {
                    return None;
                }
                match (c, d) {
                    // Division truncates, and so keeps the order.
                    (Some(c), Some(d)) if c == d && is_positive => (a.map(|n| n / &c), b.map(|n| n / &c)),
                    // What is divided by a positive number comes no further from zero, and keeps its sign.
                    _ if is_positive => (a.map(|n| n.min(BigInt::zero())), b.map(|n| n.max(BigInt::zero()))),
                    _ => (None, None),
                }
            }
            Arith::Mod(x, y) => {
                let (x, (c, d)) = (part(x)?, part(y)?);
                if !is_natural(&x) || !c.is_some_and(|c| c.is_positive()) {
                    return None;
                }
                (Some(BigInt::zero()), d.map(|d| d - BigInt::one()))
            }
            Arith::Power(x, n) => {
                let (low, high) = part(x)?;
                let small = |n: &BigInt| n.bits() <= 64;
                if low.iter().chain(&high).any(|n| !small(n)) {
                    return None;
                }
                let power = |x: BigInt| x.pow(*n);
                match low {
                    Some(low) if !low.is_negative() => (Some(power(low)), high.map(power)),
                    low if n % 2 == 1 => (low.map(power), high.map(power)),
                    _ => (Some(BigInt::zero()), None),
                }
            }
            Arith::Either(x, y) => {
                let ((a, b), (c, d)) = (part(x)?, part(y)?);
                (a.zip(c).map(|(a, c)| a.min(c)), b.zip(d).map(|(b, d)| b.max(d)))
            }
        })
    }
}
