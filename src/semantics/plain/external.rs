//! What functions that are no keywords mean ([`External`]), on plain values; `tree` has those on trees. Both evaluators ask here: strings and
//! numbers have one meaning, and tables of ProB's own answers test it. How an argument gets its value, and what a
//! missing one means, is each evaluator's business.
//!
//! `CHOOSE` takes the least element, `SORT` lists them in order, in the order of [`Value`], which is ProB's: sets
//! compare by their least elements first. So these two see the order of a given set's elements, and conversions to
//! strings see their names (`symmetry::group` fixes them).

use super::fault::{Fault, Res, WdKind};
use super::sequence::{ill_typed, items, sequence};
use super::{Value, tree};
use crate::lang::external::External;
use crate::model::{GivenSet, Model, SetId, Type};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// The largest number that a shift makes, in bits.
const MAX_BITS: u64 = 1 << 20;
/// Most decimal places in a conversion.
const MAX_PLACES: u32 = 1000;
/// The longest string that is made, in bytes: `s := STRING_APPEND(s, s)` would fill any memory.
const MAX_TEXT: usize = 1 << 16;
/// Sets with more elements have no text: ProB abbreviates them.
const MAX_SHOWN: usize = 50;

/// The names of the elements of given sets.
#[derive(Clone, Debug, Default)]
pub struct Names(Arc<[GivenSet]>);

impl Names {
    pub fn of(model: &Model) -> Names {
        Names(model.sets.clone().into())
    }

    fn element(&self, set: SetId, index: u32) -> String {
        match self.0.get(set.index()) {
            Some(GivenSet { elements: Some(names), .. }) if (index as usize) < names.len() => {
                names[index as usize].to_string()
            }
            Some(given) => format!("{}{}", given.name, index + 1),
            None => index.to_string(),
        }
    }

    /// The element of an enumerated set that has this name.
    fn find(&self, set: SetId, name: &str) -> Option<u32> {
        let elements = self.0.get(set.index())?.elements.as_ref()?;
        elements.iter().position(|e| **e == *name).map(|i| i as u32)
    }
}

/// The value of a call, given the types of the arguments and of the result.
pub fn apply(f: External, args: &[Value], types: &[Type], out: &Type, names: &Names) -> Res<Value> {
    use External::*;
    if f.is_of_trees() {
        return tree::apply(f, args);
    }
    let string = |text: String| match text.len() {
        0..=MAX_TEXT => Ok(Value::Str(text.into())),
        _ => Err(Fault::limit("a string with too many characters")),
    };
    Ok(match (f, args) {
        (Choose, [Value::Set(s)]) => s.first().cloned().ok_or_else(|| Fault::wd(WdKind::EmptyChoice))?,
        (Sort, [Value::Set(s)]) => sequence(s.iter().cloned()),
        (Squash, [Value::Set(s)]) => {
            let mut last = None;
            let mut items = vec![];
            for pair in s {
                let Value::Pair(p) = pair else { return Err(ill_typed()) };
                if last == Some(&p.0) {
                    return Err(Fault::wd(WdKind::NotFunctional));
                }
                last = Some(&p.0);
                items.push(p.1.clone());
            }
            sequence(items)
        }
        (Less, [a, b]) => Value::Bool(a < b),
        (StringLength, [Value::Str(s)]) => Value::int(s.chars().count()),
        (StringAppend, [Value::Str(a), Value::Str(b)]) => return string(format!("{a}{b}")),
        (StringConc, [Value::Set(s)]) => return string(joined(&strings(s)?, "")?),
        (StringSplit, [Value::Str(s), Value::Str(by)]) if by.is_empty() => sequence([Value::Str(s.clone())]),
        (StringSplit, [Value::Str(s), Value::Str(by)]) => {
            sequence(s.split(&**by).map(|part| Value::Str(part.into())))
        }
        (StringJoin, [Value::Set(s), Value::Str(by)]) => return string(joined(&strings(s)?, by)?),
        (StringChars, [Value::Str(s)]) => sequence(s.chars().map(|c| Value::Str(c.to_string().into()))),
        (StringCodes, [Value::Str(s)]) => sequence(s.chars().map(|c| Value::int(u32::from(c)))),
        (CodesToString, [Value::Set(s)]) => {
            let of = |v: Value| match v {
                Value::Int(i) => i.to_u32().and_then(char::from_u32),
                _ => None,
            };
            let chars: Option<String> = items(s)?.into_iter().map(of).collect();
            return string(chars.ok_or_else(|| Fault::limit("a code that is no character"))?);
        }
        (StringContains, [Value::Str(s), Value::Str(part)]) => Value::Bool(s.contains(&**part)),
        (StringIsInt, [Value::Str(s)]) => Value::Bool(integer(s)?.is_some()),
        (StringToInt, [Value::Str(s)]) => {
            Value::Int(integer(s)?.ok_or_else(|| Fault::wd(WdKind::NotANumber))?)
        }
        (IntToString, [Value::Int(i)]) => return string(i.to_string()),
        (DecStringToInt, [Value::Str(s), Value::Int(places)]) => Value::Int(from_decimal(s, places)?),
        (IntToDecString, [Value::Int(i), Value::Int(places)]) => return string(to_decimal(i, places)?),
        (StringToEnum, [Value::Str(s)]) => element(s, out, names)?,
        (TypedStringToEnum, [Value::Set(of), Value::Str(s)]) => {
            let found = element(s, out, names)?;
            if !of.contains(&found) {
                return Err(Fault::wd(WdKind::NotAName));
            }
            found
        }
        (ToString, [v]) => {
            let ty = types.first().ok_or_else(ill_typed)?;
            return string(to_text(v, ty, names)?);
        }
        (FormatToString, [Value::Str(format), Value::Set(s)]) => {
            let ty = types.get(1).and_then(Type::as_rel).ok_or_else(ill_typed)?.1;
            let values: Res<Vec<String>> = items(s)?.iter().map(|v| to_text(v, ty, names)).collect();
            return string(formatted(format, values?)?);
        }
        (BitNot, [Value::Int(a)]) => Value::Int(!a),
        (BitAnd, [Value::Int(a), Value::Int(b)]) => Value::Int(a & b),
        (BitOr, [Value::Int(a), Value::Int(b)]) => Value::Int(a | b),
        (BitXor, [Value::Int(a), Value::Int(b)]) => Value::Int(a ^ b),
        (ShiftLeft, [Value::Int(a), Value::Int(by)]) => Value::Int(shifted(a, by.clone())?),
        (ShiftRight, [Value::Int(a), Value::Int(by)]) => Value::Int(shifted(a, -by)?),
        (Abs, [Value::Int(a)]) => Value::Int(a.abs()),
        (Gcd, [Value::Int(a), Value::Int(b)]) => Value::Int(a.gcd(b)),
        (AssertTrue, [Value::Bool(true), _]) => Value::Bool(true),
        (AssertExpr, [Value::Bool(true), _, v]) => v.clone(),
        (AssertTrue | AssertExpr, [Value::Bool(false), ..]) => return Err(Fault::wd(WdKind::AssertFailed)),
        _ => return Err(ill_typed()),
    })
}

fn joined(parts: &[Arc<str>], by: &str) -> Res<String> {
    if parts.iter().map(|p| p.len() + by.len()).sum::<usize>() > 2 * MAX_TEXT {
        return Err(Fault::limit("a string with too many characters"));
    }
    Ok(parts.join(by))
}

fn strings(set: &BTreeSet<Value>) -> Res<Vec<Arc<str>>> {
    let of = |v| match v {
        Value::Str(s) => Ok(s),
        _ => Err(ill_typed()),
    };
    items(set)?.into_iter().map(of).collect()
}

/// The integer that a string is. Space before it counts for nothing. ProB reads Prolog's numbers: other notations
/// than the decimal one (`0x1F`, `0'a`) are left undecided.
fn integer(text: &str) -> Res<Option<BigInt>> {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    if digits.is_empty() || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    let Some(other) = digits.find(|c: char| !c.is_ascii_digit()) else {
        let value: BigInt = digits.parse().unwrap_or_default(); // digits only: it is a number
        return Ok(Some(if negative { -value } else { value }));
    };
    let (number, rest) = digits.split_at(other);
    if rest.starts_with('\'') || (number == "0" && rest.starts_with(['x', 'o', 'b'])) {
        return Err(Fault::limit("a number that is not written in decimal notation"));
    }
    Ok(None)
}

fn power_of_ten(places: &BigInt) -> Res<BigInt> {
    match places.abs().to_u32() {
        Some(n) if n <= MAX_PLACES => Ok(BigInt::from(10).pow(n)),
        _ => Err(Fault::limit("a number with too many decimal places")),
    }
}

/// A decimal number times a power of ten, rounded half away from zero.
fn from_decimal(text: &str, places: &BigInt) -> Res<BigInt> {
    let no_number = || Fault::wd(WdKind::NotANumber);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_digit());
    if !is_number(whole) || !is_number(part) {
        return Err(no_number());
    }
    let digits: BigInt = format!("{whole}{part}").parse().map_err(|_| no_number())?;
    let scale = places - BigInt::from(part.len());
    let factor = power_of_ten(&scale)?;
    let value = if scale.is_negative() {
        // Half of an even number is exact, and a power of ten is even.
        (digits + &factor / 2) / factor
    } else {
        digits * factor
    };
    Ok(if negative { -value } else { value })
}

fn to_decimal(i: &BigInt, places: &BigInt) -> Res<String> {
    let factor = power_of_ten(places)?;
    if !places.is_positive() {
        return Ok((i * factor).to_string());
    }
    let (whole, part) = i.abs().div_rem(&factor);
    let sign = if i.is_negative() { "-" } else { "" };
    // `power_of_ten` has seen that there are few places.
    let width = places.to_usize().unwrap_or_default();
    Ok(format!("{sign}{whole}.{:0>width$}", part.to_string()))
}

fn shifted(a: &BigInt, left: BigInt) -> Res<BigInt> {
    if left.is_negative() || a.is_zero() {
        // Beyond its digits only the sign is left.
        return Ok(a >> left.abs().to_u64().unwrap_or(u64::MAX).min(MAX_BITS * 2));
    }
    match left.to_u64() {
        Some(n) if n.saturating_add(a.bits()) <= MAX_BITS => Ok(a << n),
        _ => Err(Fault::limit("an integer with too many digits")),
    }
}

fn element(name: &str, ty: &Type, names: &Names) -> Res<Value> {
    let none = || Fault::wd(WdKind::NotAName);
    match ty {
        Type::Given(set) => Ok(Value::Elem(*set, names.find(*set, name).ok_or_else(none)?)),
        Type::Bool => match name {
            "TRUE" => Ok(Value::Bool(true)),
            "FALSE" => Ok(Value::Bool(false)),
            _ => Err(none()),
        },
        _ => Err(Fault::limit("a name for something that is no element of a given set")),
    }
}

/// A value as ProB writes it into a string: a string is itself.
fn to_text(v: &Value, ty: &Type, names: &Names) -> Res<String> {
    if let Value::Str(s) = v {
        return Ok(s.to_string());
    }
    let mut out = String::new();
    write_text(&mut out, v, ty, names)?;
    Ok(out)
}

fn write_text(out: &mut String, v: &Value, ty: &Type, names: &Names) -> Res<()> {
    // Writing to a string does not fail.
    match (v, ty) {
        (Value::Bool(b), _) => out.push_str(if *b { "TRUE" } else { "FALSE" }),
        (Value::Int(i), _) => _ = write!(out, "{i}"),
        (Value::Str(s), _) => _ = write!(out, "\"{s}\""),
        (Value::Elem(set, i), _) => out.push_str(&names.element(*set, *i)),
        // ProB of the version that we compare with has neither as a text.
        (Value::Real(_), _) => return Err(Fault::limit("the text of a real number")),
        (Value::Free(..), _) => return Err(Fault::limit("the text of a value of a freetype")),
        (Value::Pair(p), Type::Pair(t)) => {
            out.push('(');
            write_text(out, &p.0, &t.0, names)?;
            out.push_str("|->");
            write_text(out, &p.1, &t.1, names)?;
            out.push(')');
        }
        (Value::Set(s), Type::Pow(t)) => {
            if s.len() > MAX_SHOWN {
                return Err(Fault::limit("the text of a set with many elements"));
            }
            out.push('{');
            for (i, x) in s.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                write_text(out, x, t, names)?;
            }
            out.push('}');
        }
        (Value::Rec(fields), Type::Rec(types)) => {
            out.push_str("rec(");
            for (i, (x, (name, t))) in fields.iter().zip(types.iter()).enumerate() {
                let _ = write!(out, "{}{name}:", if i > 0 { "," } else { "" });
                write_text(out, x, t, names)?;
            }
            out.push(')');
        }
        _ => return Err(ill_typed()),
    }
    Ok(())
}

/// `~w` and `~p` stand for the values in turn, `~n` for the end of a line, `~~` for itself.
fn formatted(format: &str, values: Vec<String>) -> Res<String> {
    let mut values = values.into_iter();
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '~' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('w' | 'p') => out.push_str(&values.next().ok_or_else(|| Fault::wd(WdKind::BadFormat))?),
            Some('n') => out.push('\n'),
            Some('~') => out.push('~'),
            _ => return Err(Fault::limit("a directive of a format string other than ~w, ~p, ~n and ~~")),
        }
    }
    if values.next().is_some() {
        return Err(Fault::wd(WdKind::BadFormat));
    }
    Ok(out)
}
