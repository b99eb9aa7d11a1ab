//! Types of CSP-M, and when two of them are one.
//!
//! What is special is the dot. A channel `c : {0..3}.Bool` is a value of type `Int => Bool => Event`: something that
//! becomes an event when an integer and then a truth value are dotted to it. `c.2` has the type of a *list*, first
//! the channel's, then `Int`, and only what it is compared with tells how much of the list belongs together. So lists
//! stay lists ([`Type::Dot`]), and [`dots`] takes them apart. An *extendable* `a =>* Event` is an event or anything
//! that can become one: what may stand in `{| c |}`.

mod constraint;
mod dots;
mod show;
mod table;
mod unify;

pub use dots::Match;
pub use table::{Scheme, Table};

use crate::tree::Constraint;
use std::rc::Rc;

/// A variable of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A datatype, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Data(pub u32);

#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Var(Var),
    Int,
    Bool,
    Char,
    Proc,
    Event,
    Data(Data),
    Seq(Rc<Type>),
    Set(Rc<Type>),
    Map(Rc<Type>, Rc<Type>),
    Tuple(Rc<[Type]>),
    Function(Rc<[Type]>, Rc<Type>),
    /// At least two, none of them a `Dot` itself.
    Dot(Rc<[Type]>),
    /// `a => b`
    Dotable(Rc<Type>, Rc<Type>),
    /// `v =>* t`: the variable stands for what is missing.
    Extendable(Rc<Type>, Var),
    /// What the variable of an `Extendable` is bound to when nothing is missing.
    Nothing,
}

impl Type {
    pub fn seq(of: Type) -> Type {
        Type::Seq(Rc::new(of))
    }

    pub fn set(of: Type) -> Type {
        Type::Set(Rc::new(of))
    }

    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Rc::new(key), Rc::new(value))
    }

    pub fn tuple(parts: Vec<Type>) -> Type {
        Type::Tuple(parts.into())
    }

    pub fn function(arguments: Vec<Type>, result: Type) -> Type {
        Type::Function(arguments.into(), Rc::new(result))
    }

    pub fn dotable(argument: Type, result: Type) -> Type {
        Type::Dotable(Rc::new(argument), Rc::new(result))
    }

    /// `a => b => … => result`
    pub fn arrow(arguments: Vec<Type>, result: Type) -> Type {
        arguments.into_iter().rev().fold(result, |r, a| Type::dotable(a, r))
    }

    /// One type, or the list of several.
    pub fn dot(parts: Vec<Type>) -> Type {
        let mut flat = vec![];
        for part in parts {
            match part {
                Type::Dot(inner) => flat.extend(inner.iter().cloned()),
                part => flat.push(part),
            }
        }
        match flat.len() {
            0 => Type::Nothing,
            1 => flat.remove(0),
            _ => Type::Dot(flat.into()),
        }
    }
}

/// Why two types are not one, or a type does not have what is asked of it.
#[derive(Clone, Debug)]
pub enum Clash {
    Different(Type, Type),
    /// A type that would have to contain itself.
    Infinite(Type, Type),
    Lacks(Constraint, Type),
}

pub type Fit<T = ()> = Result<T, Box<Clash>>;
