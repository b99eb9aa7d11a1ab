//! One evaluator, two tiers. Connectives and plans ([`super::plan`]) and substitutions ([`super::code`])
//! are written once, over a [`Tier`]: its environment, what a slot holds, what an expression, an atomic test and a generator are.
//!
//! [`Values`] is the general tier: every value, symbolic and half-grown ones included ([`super::node`]). [`Words`] is
//! the fast one, one word per slot ([`super::word`]), made of the first by lowering; so order and faults are the
//! same by construction, and only the leaves can differ.

use super::env::{Account, Slot, Then};
use crate::value::fault::Res;
use crate::value::val::Val;
use std::fmt::Debug;

/// The general tier.
#[derive(Clone, Debug)]
pub struct Values;

/// The tier on words.
#[derive(Clone, Debug)]
pub struct Words;

/// What the two tiers do in their own way.
pub trait Tier: Clone + Debug + Sized + 'static {
    /// Where its values live while something is evaluated.
    type Env: Account;
    /// What a slot holds.
    type Value: Clone + PartialEq + Debug;
    /// An expression.
    type Node: Clone + Debug;
    /// An assignment: the slot and where its value comes from.
    type Assigned: Debug;
    /// A test without connectives.
    type Atom: Clone + Debug;
    /// A step that binds slots.
    type Generator: Clone + Debug;
    /// A substitution that only this tier has.
    type Special: Debug;

    fn slots(env: &mut Self::Env) -> &mut [Self::Value];

    fn value(node: &Self::Node, env: &mut Self::Env) -> Res<Self::Value>;

    fn target(a: &Self::Assigned) -> Slot;

    /// The value that is assigned, in its form.
    fn assigned(a: &Self::Assigned, env: &mut Self::Env) -> Res<Self::Value>;

    /// The value of an expression that is an integer.
    fn integer(node: &Self::Node, env: &mut Self::Env) -> Res<Val>;

    fn of_integer(i: i64, env: &Self::Env) -> Self::Value;

    fn of_ordinal(w: u64) -> Self::Value;

    fn holds(atom: &Self::Atom, env: &mut Self::Env) -> Res<bool>;

    /// For a generator that binds in one way at most: whether it does, and its slots have their values now. `None` for the
    /// others, and where something has no value: then [`Tier::generate`] says what follows from that.
    fn once(g: &Self::Generator, env: &mut Self::Env) -> Option<bool>;

    /// Binds the generator's slots in every way and goes on with each. `Ok(false)` if that ended the search.
    fn generate(
        g: &Self::Generator,
        env: &mut Self::Env,
        next: impl FnMut(&mut Self::Env) -> Res<bool>,
    ) -> Res<bool>;

    fn special(s: &Self::Special, env: &mut Self::Env, then: Then<Self::Env>) -> Res<bool>;
}
