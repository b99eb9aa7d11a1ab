//! The values of a type: how many there are, and which.

use super::*;
use crate::model::{FreeType, Type};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};

/// Whether the type certainly has infinitely many values.
pub(super) fn is_infinite(ty: &Type) -> bool {
    ty.is_infinite()
}

/// How many values a finite type has, if that fits a word.
pub(super) fn carrier_size(cx: &Cx<'_>, ty: &Type) -> Option<u64> {
    match ty {
        // How many values a freetype has is found by listing them.
        Type::Int | Type::Str | Type::Real | Type::Free(_) | Type::Again(_) => None,
        Type::Pred | Type::Bool => Some(2),
        Type::Given(set) => Some(cx.scope.size(*set)),
        Type::Pair(p) => carrier_size(cx, &p.0)?.checked_mul(carrier_size(cx, &p.1)?),
        Type::Pow(t) => 1u64.checked_shl(u32::try_from(carrier_size(cx, t)?).ok()?),
        Type::Rec(fields) => fields.iter().try_fold(1u64, |n, (_, t)| n.checked_mul(carrier_size(cx, t)?)),
    }
}

/// The values of a type, integers from MININT to MAXINT.
pub(super) fn carrier(cx: &Cx<'_>, ty: &Type, span: Span) -> Result<Elements, Fault> {
    Ok(match ty {
        Type::Pred | Type::Bool => [Value::Bool(false), Value::Bool(true)].into(),
        Type::Int => {
            let _nested = cx.enter(span)?;
            interval(cx, &cx.scope.minint, &cx.scope.maxint, span)?
        }
        Type::Str => return Err(limit(span, "the set of all strings is infinite")),
        Type::Real => return Err(limit(span, "the set of all real numbers is infinite")),
        Type::Free(free) => freetype(cx, free, span)?,
        Type::Again(_) => return Err(ill_typed(span)),
        Type::Given(set) => {
            let n = u32::try_from(cx.scope.size(*set)).ok().filter(|n| *n as usize <= cx.max_elements);
            let n = n.ok_or_else(|| limit(span, "given set too large"))?;
            cx.spend(n as usize, span)?;
            (0..n).map(|i| Value::Elem(*set, i)).collect()
        }
        Type::Pair(p) => build::product(cx, &carrier(cx, &p.0, span)?, &carrier(cx, &p.1, span)?, span)?,
        Type::Pow(t) => build::subsets(cx, &carrier(cx, t, span)?, span)?,
        Type::Rec(fields) => {
            let carriers: Result<Vec<_>, _> = fields.iter().map(|(_, t)| carrier(cx, t, span)).collect();
            build::records(cx, &carriers?, span)?
        }
    })
}

/// Some values of a type, simple ones, to look for an example among.
pub(super) fn samples(cx: &Cx<'_>, ty: &Type) -> Vec<Value> {
    let mut found = match ty {
        Type::Pred | Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Type::Int => [0, 1, 2, 3, -1].map(Value::int).into(),
        Type::Str => ["", "s", "t"].map(|s| Value::Str(s.into())).into(),
        Type::Real => [0, 1].map(|i: i64| Value::real(BigInt::from(i).into())).into(),
        Type::Given(set) => (0..cx.scope.size(*set).min(3) as u32).map(|i| Value::Elem(*set, i)).collect(),
        Type::Free(free) => {
            let cases = (0u32..).zip(&free.def().cases);
            cases.filter(|(_, c)| c.argument.is_none()).map(|(i, _)| Value::Free(i, None)).collect()
        }
        Type::Again(_) => vec![],
        Type::Pair(p) => {
            let (left, right) = (samples(cx, &p.0), samples(cx, &p.1));
            left.iter().flat_map(|a| right.iter().map(|b| Value::pair(a.clone(), b.clone()))).collect()
        }
        Type::Pow(t) => {
            let members = samples(cx, t);
            let few = (0..=2.min(members.len())).map(|n| Value::set(members[..n].to_vec()));
            few.chain(members.iter().skip(1).map(|v| Value::set([v.clone()]))).collect()
        }
        Type::Rec(fields) => {
            let parts: Vec<Vec<Value>> = fields.iter().map(|(_, t)| samples(cx, t)).collect();
            let most = parts.iter().map(Vec::len).min().unwrap_or(0);
            (0..most).map(|i| Value::Rec(parts.iter().map(|p| p[i].clone()).collect())).collect()
        }
    };
    found.truncate(SAMPLES);
    found
}

/// At most so many.
const SAMPLES: usize = 8;

/// What the constructors make of their arguments.
fn freetype(cx: &Cx<'_>, free: &FreeType, span: Span) -> Result<Elements, Fault> {
    let arguments = cx.model.arguments(free).ok_or_else(|| ill_typed(span))?;
    if free.def().is_recursive {
        return Err(limit(span, "a recursive freetype would have to be listed"));
    }
    let env = Env::new(cx.model);
    let mut all = Elements::new();
    for (case, set) in (0u32..).zip(&arguments) {
        match set {
            None => {
                all.insert(Value::Free(case, None));
            }
            Some(set) => {
                let Value::Set(arguments) = eval(cx, &env, set)? else { return Err(ill_typed(span)) };
                all.extend(arguments.into_iter().map(|v| Value::Free(case, Some(Box::new(v)))));
            }
        }
        build::budget(cx, Some(all.len()), span)?;
    }
    Ok(all)
}

/// The integers from one to another.
pub(super) fn interval(cx: &Cx<'_>, low: &BigInt, high: &BigInt, span: Span) -> Result<Elements, Fault> {
    let n = (high - low + BigInt::one()).max(BigInt::ZERO);
    let n = to_count(&n).ok_or_else(|| limit(span, "interval too large"))?;
    build::budget(cx, Some(n), span)?;
    Ok((0..n).map(|i| Value::Int(low + i)).collect())
}

/// The number as an index, if it is one.
pub(super) fn to_count(n: &BigInt) -> Option<usize> {
    n.to_usize()
}
