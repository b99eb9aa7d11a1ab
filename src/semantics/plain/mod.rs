//! Plain values. [`Value`] is a tree: what people see, what files hold and what the reference evaluator computes with.
//! Absent on purpose: words, shared parts, representations.

pub mod external;
pub mod fault;
mod sequence;
mod tree;

use crate::lang::decimal;
pub use crate::model::element_name;
pub use crate::model::scope::Scope;
use crate::model::{Model, SetId, Type};
use num_bigint::BigInt;
use num_rational::BigRational;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A finite value. The order is total; values of one type are ordered by their structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    Bool(bool),
    Int(BigInt),
    Str(Arc<str>),
    /// An element of a given set: its place.
    Elem(SetId, u32),
    Pair(Box<(Value, Value)>),
    Set(BTreeSet<Value>),
    /// Fields in the order of the record's type.
    Rec(Vec<Value>),
    Real(Box<BigRational>),
    /// A value of a freetype: the place of its constructor, and the argument.
    Free(u32, Option<Box<Value>>),
}

impl Value {
    pub fn int(i: impl Into<BigInt>) -> Value {
        Value::Int(i.into())
    }

    pub fn pair(a: Value, b: Value) -> Value {
        Value::Pair(Box::new((a, b)))
    }

    pub fn real(r: BigRational) -> Value {
        Value::Real(Box::new(r))
    }

    pub fn set(elements: impl IntoIterator<Item = Value>) -> Value {
        Value::Set(elements.into_iter().collect())
    }
}

/// A value as B text.
pub struct Show<'a> {
    pub value: &'a Value,
    pub ty: &'a Type,
    pub model: &'a Model,
}

impl fmt::Display for Show<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.value, self.ty, self.model, false)
    }
}

fn show(f: &mut fmt::Formatter<'_>, value: &Value, ty: &Type, model: &Model, nested: bool) -> fmt::Result {
    match (value, ty) {
        (Value::Bool(b), _) => f.write_str(if *b { "TRUE" } else { "FALSE" }),
        (Value::Int(i), _) => write!(f, "{i}"),
        (Value::Str(s), _) => write!(f, "{s:?}"),
        (Value::Elem(s, i), _) => f.write_str(&element_name(model, *s, *i)),
        (Value::Pair(p), Type::Pair(t)) => {
            f.write_str(if nested { "(" } else { "" })?;
            show(f, &p.0, &t.0, model, !matches!(p.0, Value::Pair(_)))?;
            f.write_str("|->")?;
            show(f, &p.1, &t.1, model, true)?;
            f.write_str(if nested { ")" } else { "" })
        }
        (Value::Set(s), Type::Pow(t)) => {
            if let Some(items) = as_sequence(s, t) {
                return show_list(
                    f,
                    "[",
                    items.into_iter(),
                    &t.as_pair().map_or(Type::Int, |p| p.1.clone()),
                    model,
                    "]",
                );
            }
            show_list(f, "{", s.iter(), t, model, "}")
        }
        (Value::Rec(fields), Type::Rec(types)) => {
            f.write_str("rec(")?;
            for (i, (v, (name, t))) in fields.iter().zip(types.iter()).enumerate() {
                write!(f, "{}{}:", if i > 0 { "," } else { "" }, name)?;
                show(f, v, t, model, false)?;
            }
            f.write_str(")")
        }
        (Value::Real(r), _) => f.write_str(&decimal::text(r)),
        (Value::Free(case, argument), Type::Free(free)) => {
            f.write_str(free.case(*case).map_or("?", |c| &c.name))?;
            match (argument, free.argument(*case)) {
                (Some(v), Some(t)) => {
                    f.write_str("(")?;
                    show(f, v, &t, model, false)?;
                    f.write_str(")")
                }
                _ => Ok(()),
            }
        }
        // A value that does not have its type is our bug; show its structure rather than hide it.
        (v, _) => write!(f, "{v:?}"),
    }
}

fn show_list<'a>(
    f: &mut fmt::Formatter<'_>,
    open: &str,
    items: impl Iterator<Item = &'a Value>,
    ty: &Type,
    model: &Model,
    close: &str,
) -> fmt::Result {
    f.write_str(open)?;
    for (i, v) in items.enumerate() {
        f.write_str(if i > 0 { "," } else { "" })?;
        show(f, v, ty, model, true)?;
    }
    f.write_str(close)
}

/// The elements in order if the set is a non-empty sequence.
fn as_sequence<'a>(set: &'a BTreeSet<Value>, elem: &Type) -> Option<Vec<&'a Value>> {
    let Some((Type::Int, _)) = elem.as_pair() else { return None };
    if set.is_empty() {
        return None;
    }
    let mut items = Vec::with_capacity(set.len());
    for (i, pair) in set.iter().enumerate() {
        match pair {
            Value::Pair(p) if p.0 == Value::int(i + 1) => items.push(&p.1),
            _ => return None,
        }
    }
    Some(items)
}
