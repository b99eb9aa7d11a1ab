//! B's types: basic, pair, power set, record. Two types are equal when they are written alike.

use super::SetId;
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// Not a value's type: what predicates have.
    Pred,
    Bool,
    Int,
    Str,
    Given(SetId),
    Pair(Arc<(Type, Type)>),
    Pow(Arc<Type>),
    /// Fields sorted by name.
    Rec(Arc<[(Arc<str>, Type)]>),
}

impl Type {
    pub fn pow(self) -> Type {
        Type::Pow(Arc::new(self))
    }

    pub fn pair(a: Type, b: Type) -> Type {
        Type::Pair(Arc::new((a, b)))
    }

    pub fn rel(a: Type, b: Type) -> Type {
        Type::pair(a, b).pow()
    }

    /// A sequence's type: POW(INTEGER * t).
    pub fn seq(t: Type) -> Type {
        Type::rel(Type::Int, t)
    }

    /// The type of a set's elements.
    pub fn elem(&self) -> Option<&Type> {
        match self {
            Type::Pow(t) => Some(t),
            _ => None,
        }
    }

    pub fn as_pair(&self) -> Option<(&Type, &Type)> {
        match self {
            Type::Pair(p) => Some((&p.0, &p.1)),
            _ => None,
        }
    }

    /// Domain and range type of a relation.
    pub fn as_rel(&self) -> Option<(&Type, &Type)> {
        self.elem().and_then(Type::as_pair)
    }

    pub fn fields(&self) -> Option<&[(Arc<str>, Type)]> {
        match self {
            Type::Rec(f) => Some(f),
            _ => None,
        }
    }

    /// Calls `f` for each given set in it.
    pub fn for_each_set(&self, f: &mut dyn FnMut(SetId)) {
        match self {
            Type::Pred | Type::Bool | Type::Int | Type::Str => {}
            Type::Given(set) => f(*set),
            Type::Pair(p) => {
                p.0.for_each_set(f);
                p.1.for_each_set(f);
            }
            Type::Pow(t) => t.for_each_set(f),
            Type::Rec(fields) => fields.iter().for_each(|(_, t)| t.for_each_set(f)),
        }
    }

    /// As B text, given the names of the sets.
    pub fn show<'a>(&'a self, set_name: &'a dyn Fn(SetId) -> Arc<str>) -> ShowType<'a> {
        ShowType { ty: self, set_name }
    }
}

pub struct ShowType<'a> {
    ty: &'a Type,
    set_name: &'a dyn Fn(SetId) -> Arc<str>,
}

impl fmt::Display for ShowType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |t| ShowType { ty: t, set_name: self.set_name };
        match self.ty {
            Type::Pred => f.write_str("predicate"),
            Type::Bool => f.write_str("BOOL"),
            Type::Int => f.write_str("INTEGER"),
            Type::Str => f.write_str("STRING"),
            Type::Given(s) => f.write_str(&(self.set_name)(*s)),
            Type::Pair(p) => write!(f, "({} * {})", show(&p.0), show(&p.1)),
            Type::Pow(t) => write!(f, "POW({})", show(t)),
            Type::Rec(fields) => {
                f.write_str("struct(")?;
                for (i, (name, t)) in fields.iter().enumerate() {
                    write!(f, "{}{}: {}", if i > 0 { ", " } else { "" }, name, show(t))?;
                }
                f.write_str(")")
            }
        }
    }
}
