//! Values of CSP-M as values of B: as the type of a parameter or result says.
//!
//! | B | CSP-M |
//! |---|---|
//! | an integer, `TRUE` and `FALSE` | an integer, `true` and `false` |
//! | an element of a set | a constructor without fields that has its name |
//! | a pair | a tuple of two; `(a, b, c)` is `a ↦ b ↦ c` |
//! | a set | a set; also a map, of pairs |
//! | a sequence | a sequence, or a set of pairs |
//! | a string | a sequence of characters |
//!
//! Records, reals and free types have no counterpart.

use crate::model::{Model, SetId, Type, element_name};
use crate::value::{Scope, Value};
use kanon_csp::eval::Machine as Csp;
use kanon_csp::value::{ConstantId, Set, Value as Theirs};

/// The value of B that a value of CSP-M is, or why it is none.
///
/// # Errors
/// It is not of the type.
pub fn of(value: &Theirs, ty: &Type, model: &Model, scope: &Scope, csp: &Csp) -> Result<Value, String> {
    let wrong = || {
        Err(format!(
            "`{}` is not of type {}",
            csp.show(value),
            ty.show(&|s| model.sets[s.index()].name.clone())
        ))
    };
    let inside = |v: &Theirs, ty: &Type| of(v, ty, model, scope, csp);
    match (value, ty) {
        (Theirs::Int(i), Type::Int) => Ok(Value::int(*i)),
        (Theirs::Bool(b), Type::Bool) => Ok(Value::Bool(*b)),
        (Theirs::Constant(id), Type::Given(set)) => match element(*id, *set, model, scope, csp) {
            Some(element) => Ok(Value::Elem(*set, element)),
            None => {
                let name = &model.sets[set.index()].name;
                Err(format!("`{}` is no element of {name}", csp.show(value)))
            }
        },
        (Theirs::Tuple(parts), Type::Pair(_)) => pair(parts, ty, &inside).unwrap_or_else(wrong),
        (Theirs::Set(Set::Finite(elements)), Type::Pow(of)) => {
            let elements: Result<Vec<Value>, String> = elements.iter().map(|e| inside(e, of)).collect();
            Ok(Value::set(elements?))
        }
        (Theirs::Map(map), Type::Pow(of)) => match &**of {
            Type::Pair(p) => {
                let pairs = map.iter().map(|(k, v)| Ok(Value::pair(inside(k, &p.0)?, inside(v, &p.1)?)));
                Ok(Value::set(pairs.collect::<Result<Vec<Value>, String>>()?))
            }
            _ => wrong(),
        },
        (Theirs::Seq(parts), Type::Pow(of)) => match &**of {
            Type::Pair(p) if p.0 == Type::Int => {
                let place = |(i, v): (usize, &Theirs)| Ok(Value::pair(Value::int(i + 1), inside(v, &p.1)?));
                Ok(Value::set(parts.iter().enumerate().map(place).collect::<Result<Vec<Value>, String>>()?))
            }
            _ => wrong(),
        },
        (Theirs::Seq(parts), Type::Str) => {
            let character = |c: &Theirs| if let Theirs::Char(c) = c { Some(*c) } else { None };
            match parts.iter().map(character).collect::<Option<String>>() {
                Some(text) => Ok(Value::Str(text.into())),
                None => wrong(),
            }
        }
        _ => wrong(),
    }
}

/// A tuple as pairs, nested to the left; none if it has too many parts.
fn pair(
    parts: &[Theirs],
    ty: &Type,
    inside: &dyn Fn(&Theirs, &Type) -> Result<Value, String>,
) -> Option<Result<Value, String>> {
    let (last, before) = parts.split_last()?;
    let Type::Pair(p) = ty else { return None };
    let first = match before {
        [] => return None,
        [one] => inside(one, &p.0),
        more => pair(more, &p.0, inside)?,
    };
    Some(first.and_then(|a| Ok(Value::pair(a, inside(last, &p.1)?))))
}

/// The element of a set that has the name of a constructor.
fn element(id: ConstantId, set: SetId, model: &Model, scope: &Scope, csp: &Csp) -> Option<u32> {
    let constant = &csp.program().constants[id.0 as usize];
    constant.data?;
    let given = &model.sets[set.index()];
    match &given.elements {
        Some(names) => names.iter().position(|n| **n == *constant.name).map(|i| i as u32),
        None => (0..scope.size(set) as u32).find(|i| element_name(model, set, *i) == *constant.name),
    }
}

/// Whether values of a set, which may be that of a field, can be of a type: what `of` says of single values may still be no.
pub fn fits(set: &Set, ty: &Type) -> bool {
    match (set, ty) {
        (Set::Finite(elements), ty) => elements.iter().next().is_none_or(|v| is_like(v, ty)),
        (Set::Integers | Set::Upwards { .. }, Type::Int) => true,
        (Set::Data(_), Type::Given(_)) => true,
        (Set::Sequences(of), Type::Str) => matches!(**of, Set::Characters),
        (Set::Sequences(of), Type::Pow(pairs)) => match &**pairs {
            Type::Pair(p) => p.0 == Type::Int && fits(of, &p.1),
            _ => false,
        },
        (Set::Subsets(of), Type::Pow(ty)) => fits(of, ty),
        (Set::Tuples(parts), ty) => {
            // Nested to the left.
            let mut ty = ty;
            for part in parts.iter().skip(1).rev() {
                let Type::Pair(p) = ty else { return false };
                if !fits(part, &p.1) {
                    return false;
                }
                ty = &p.0;
            }
            parts.first().is_none_or(|part| fits(part, ty))
        }
        (Set::Maps(keys, values), Type::Pow(pairs)) => match &**pairs {
            Type::Pair(p) => fits(keys, &p.0) && fits(values, &p.1),
            _ => false,
        },
        (Set::Union(all), ty) => all.iter().all(|s| fits(s, ty)),
        _ => false,
    }
}

fn is_like(value: &Theirs, ty: &Type) -> bool {
    match (value, ty) {
        (Theirs::Int(_), Type::Int) | (Theirs::Bool(_), Type::Bool) => true,
        (Theirs::Constant(_), Type::Given(_)) => true,
        (Theirs::Tuple(parts), ty) => {
            let mut ty = ty;
            for part in parts.iter().skip(1).rev() {
                let Type::Pair(p) = ty else { return false };
                if !is_like(part, &p.1) {
                    return false;
                }
                ty = &p.0;
            }
            parts.first().is_none_or(|part| is_like(part, ty))
        }
        (Theirs::Set(set), Type::Pow(of)) => fits(set, of),
        (Theirs::Map(map), Type::Pow(pairs)) => match &**pairs {
            Type::Pair(p) => map.iter().next().is_none_or(|(k, v)| is_like(k, &p.0) && is_like(v, &p.1)),
            _ => false,
        },
        (Theirs::Seq(parts), Type::Pow(pairs)) => match &**pairs {
            Type::Pair(p) => p.0 == Type::Int && parts.first().is_none_or(|v| is_like(v, &p.1)),
            _ => false,
        },
        (Theirs::Seq(parts), Type::Str) => parts.iter().all(|c| matches!(c, Theirs::Char(_))),
        _ => false,
    }
}
