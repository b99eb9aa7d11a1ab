//! A transition system given by formulas: what the engines work on.

use crate::term::{Bool, Var};
use std::sync::Arc;

/// A variable of the state: one variable for its value now, one for its value after a step.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub now: Var,
    pub next: Var,
}

/// An event, or one of the ways in which it can run.
#[derive(Clone, Debug)]
pub struct EventFormula {
    pub name: Arc<str>,
    /// Parameters and choices: variables that are renamed from step to step.
    pub inputs: Vec<Var>,
    /// Over now, inputs, next and rigid variables: this event leads from now to next.
    pub step: Bool,
    /// Over now and rigid variables: some next state exists. For deadlocks.
    pub is_enabled: Option<Bool>,
    /// Over now, inputs and rigid variables: its guard or its substitution has no value. Such a state is bad.
    pub is_undefined: Bool,
}

/// Something that must not be true of a reachable state: a conjunct of the invariant that is false or undefined, a
/// deadlock, a goal.
#[derive(Clone, Debug)]
pub struct Property {
    pub name: Arc<str>,
    /// Over now, inputs and rigid variables.
    pub is_bad: Bool,
    pub inputs: Vec<Var>,
}

#[derive(Clone, Debug)]
pub struct Transitions {
    pub cells: Vec<Cell>,
    /// Constants: variables that never change.
    pub rigid: Vec<Var>,
    /// Over rigid variables and `rigid_inputs`: PROPERTIES.
    pub axioms: Bool,
    pub axiom_inputs: Vec<Var>,
    /// Over next, rigid variables and `init_inputs`: next is an initial state.
    pub init: Bool,
    pub init_inputs: Vec<Var>,
    /// Over rigid variables and `init_inputs`: the initialisation has no value.
    pub init_undefined: Bool,
    pub events: Vec<EventFormula>,
    pub properties: Vec<Property>,
}
