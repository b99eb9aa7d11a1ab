//! Values as bytes, by their types: one sequence of bytes for each value, and no two for one.
//!
//! | type | bytes |
//! |---|---|
//! | BOOL | 0 or 1 |
//! | element of a given set | its place, as a number |
//! | INTEGER | 2·n for n ≥ 0, 2·(−n) − 1 for n < 0, as a number |
//! | STRING | its length in bytes, then UTF-8 |
//! | REAL | the numerator as an INTEGER, then the denominator likewise, in lowest terms |
//! | freetype | the place of the constructor as a number, then the argument if it takes one |
//! | pair, record | the parts |
//! | set | how many elements, then the elements, each greater than the one before |
//!
//! A number has seven bits per byte, the low ones first; all bytes but the last have the highest bit set, and the last
//! one is not 0 unless it is the only one. The order of elements is that of [`Value`]: numbers by size, elements by
//! place, strings by bytes, values of a freetype by constructor and then by argument, FALSE before TRUE, pairs and records by their parts from left to right, sets as the lists of
//! their elements.

use kanon_language::model::Type;
use kanon_semantics::plain::{Scope, Value};
use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use std::collections::BTreeSet;

/// Values that are deeper in each other than this are not read.
const MAX_DEPTH: usize = 100;

/// Appends a number.
pub fn put_number(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Appends a value of a type; false if it does not have the type.
#[must_use]
pub fn put(out: &mut Vec<u8>, value: &Value, ty: &Type) -> bool {
    match (value, ty) {
        (Value::Bool(b), Type::Bool) => out.push(u8::from(*b)),
        (Value::Elem(set, i), Type::Given(given)) if set == given => put_number(out, u64::from(*i)),
        (Value::Int(i), Type::Int) => put_integer(out, i),
        (Value::Str(s), Type::Str) => {
            put_number(out, s.len() as u64);
            out.extend(s.as_bytes());
        }
        (Value::Real(r), Type::Real) => {
            put_integer(out, r.numer());
            put_integer(out, r.denom());
        }
        (Value::Free(case, argument), Type::Free(free)) => {
            put_number(out, u64::from(*case));
            return match (argument, free.argument(*case)) {
                (None, None) => free.case(*case).is_some(),
                (Some(v), Some(t)) => put(out, v, &t),
                _ => false,
            };
        }
        (Value::Pair(p), Type::Pair(t)) => return put(out, &p.0, &t.0) && put(out, &p.1, &t.1),
        (Value::Rec(fields), Type::Rec(types)) => {
            return fields.len() == types.len()
                && fields.iter().zip(types.iter()).all(|(v, (_, t))| put(out, v, t));
        }
        (Value::Set(elements), Type::Pow(t)) => {
            put_number(out, elements.len() as u64);
            return elements.iter().all(|v| put(out, v, t));
        }
        _ => return false,
    }
    true
}

/// Appends an integer.
pub fn put_integer(out: &mut Vec<u8>, i: &BigInt) {
    let doubled: BigUint = i.magnitude() * 2u8;
    let mut n = if i.sign() == Sign::Minus { doubled - 1u8 } else { doubled };
    loop {
        let low = (&n & BigUint::from(0x7f_u8)).iter_u32_digits().next().unwrap_or(0) as u8;
        n >>= 7;
        if n == BigUint::ZERO {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Bytes that are read from the front.
pub struct Bytes<'b> {
    left: &'b [u8],
}

impl<'b> Bytes<'b> {
    pub fn new(bytes: &'b [u8]) -> Bytes<'b> {
        Bytes { left: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// What has not been read.
    pub fn left(&self) -> &'b [u8] {
        self.left
    }

    /// So many bytes.
    pub fn take(&mut self, n: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.left.split_at_checked(n)?;
        self.left = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.left.split_first()?;
        self.left = rest;
        Some(*first)
    }

    /// A number of at most 64 bits.
    pub fn number(&mut self) -> Option<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return None;
            }
            n |= part << shift;
            if byte < 0x80 {
                return (byte != 0 || shift == 0).then_some(n);
            }
        }
        None
    }

    /// An integer of any size.
    pub fn integer(&mut self) -> Option<BigInt> {
        let length = self.left.iter().position(|b| *b < 0x80)?;
        let digits: Vec<u8> = self.left[..=length].iter().map(|b| b & 0x7f).collect();
        if length > 0 && self.left[length] == 0 {
            return None;
        }
        self.left = &self.left[length + 1..];
        let n = BigUint::from_radix_le(&digits, 128)?;
        let is_negative = digits.first()? & 1 == 1;
        Some(match is_negative {
            true => -BigInt::from((n + 1u8) >> 1),
            false => BigInt::from(n >> 1),
        })
    }

    /// A value of a type, at a scope; none if there is none, or if it is not written as it has to be.
    pub fn value(&mut self, ty: &Type, scope: &Scope) -> Option<Value> {
        self.nested(ty, scope, 0)
    }

    fn nested(&mut self, ty: &Type, scope: &Scope, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match ty {
            Type::Bool => match self.byte()? {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                _ => return None,
            },
            Type::Int => Value::Int(self.integer()?),
            Type::Given(set) => {
                let place = u32::try_from(self.number()?).ok()?;
                if u64::from(place) >= scope.size(*set) {
                    return None;
                }
                Value::Elem(*set, place)
            }
            Type::Str => {
                let length = usize::try_from(self.number()?).ok()?;
                Value::Str(std::str::from_utf8(self.take(length)?).ok()?.into())
            }
            Type::Real => {
                let (numer, denom) = (self.integer()?, self.integer()?);
                if denom.sign() != Sign::Plus {
                    return None;
                }
                let r = BigRational::new(numer.clone(), denom.clone());
                // In lowest terms, so that each number is written in one way only.
                if *r.numer() != numer || *r.denom() != denom {
                    return None;
                }
                Value::real(r)
            }
            Type::Free(free) => {
                let case = u32::try_from(self.number()?).ok()?;
                free.case(case)?;
                let argument = match free.argument(case) {
                    Some(t) => Some(Box::new(self.nested(&t, scope, depth + 1)?)),
                    None => None,
                };
                Value::Free(case, argument)
            }
            Type::Pair(t) => {
                Value::pair(self.nested(&t.0, scope, depth + 1)?, self.nested(&t.1, scope, depth + 1)?)
            }
            Type::Rec(fields) => {
                let mut parts = vec![];
                for (_, t) in fields.iter() {
                    parts.push(self.nested(t, scope, depth + 1)?);
                }
                Value::Rec(parts)
            }
            Type::Pow(t) => {
                let mut elements: BTreeSet<Value> = BTreeSet::new();
                for _ in 0..self.number()? {
                    let v = self.nested(t, scope, depth + 1)?;
                    if elements.last().is_some_and(|last| *last >= v) {
                        return None;
                    }
                    elements.insert(v);
                }
                Value::Set(elements)
            }
            _ => return None,
        })
    }
}
