//! A machine and all it refers to as one set of declarations: what every front end ends in, and what is typed.
//!
//! Nothing is rewritten. Each use of a machine is an [`Instance`] with a table that says what the names
//! in its text mean, so renaming (`x.M`), parameters and visibility are questions of that table, and
//! capture cannot happen.

use crate::lang::ast::{Expr, Ident, Machine, Name, Operation};
use crate::lang::diag::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// What a name stands for: indices into the lists of [`Composed`].
#[derive(Clone, Debug, PartialEq)]
pub enum Entity {
    Set(usize),
    /// Set and place of the element.
    Elem(usize, usize),
    Const(usize),
    Var(usize),
    /// A formal parameter: the expression that stands for it, in the scope of that instance.
    Actual(usize, Arc<Expr>),
}

#[derive(Clone, Debug)]
pub struct SetDef {
    pub name: Ident,
    pub elements: Option<Vec<Ident>>,
    pub is_parameter: bool,
}

#[derive(Clone, Debug)]
pub struct OpDef {
    /// As the user sees it: `op`, `p.op` (included as `p.M`), `M.op` (seen).
    pub name: Name,
    pub instance: usize,
    /// Place in the machine's operations, then local operations.
    pub index: usize,
    pub is_event: bool,
    /// The operation of the abstraction that this one refines.
    pub refines: Option<usize>,
}

/// One use of a machine.
#[derive(Clone, Debug)]
pub struct Instance {
    pub machine: Arc<Machine>,
    pub names: HashMap<Name, Entity>,
    pub operations: HashMap<Name, usize>,
    /// A machine that is only refined: its invariant and initialisation are not part of the system.
    pub is_abstract: bool,
    /// Another instance of the machine has the same sets and constants, and states their properties.
    pub shares_data: bool,
    pub(in crate::lang) prefix: String,
    /// Names and operations that a user of the machine sees, without prefix.
    pub(in crate::lang) exports: Vec<(Name, Entity, bool)>,
    pub(in crate::lang) exported_operations: Vec<(Name, usize)>,
    /// The machine that it refines.
    pub(in crate::lang) abstraction: Option<usize>,
    /// Instances that belong to the system when this one does.
    pub(in crate::lang) parts: Vec<usize>,
    /// Seen or used by somebody.
    pub(in crate::lang) is_seen: bool,
    /// Included, extended or imported by somebody.
    pub(in crate::lang) is_included: bool,
}

impl Instance {
    /// The one use of a machine that refers to no other.
    pub(in crate::lang) fn alone(
        machine: Arc<Machine>,
        names: HashMap<Name, Entity>,
        operations: HashMap<Name, usize>,
    ) -> Instance {
        Instance {
            machine,
            names,
            operations,
            is_abstract: false,
            shares_data: false,
            prefix: String::new(),
            exports: vec![],
            exported_operations: vec![],
            abstraction: None,
            parts: vec![],
            is_seen: false,
            is_included: false,
        }
    }

    pub fn operation(&self, index: usize) -> Option<&Operation> {
        let own = self.machine.operations.len();
        match index.checked_sub(own) {
            None => self.machine.operations.get(index),
            Some(local) => self.machine.local_operations.get(local),
        }
    }
}

/// A proof obligation as the tool that made it has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obligation {
    /// The machine or context it belongs to.
    pub component: Name,
    /// What is to be proved, in the tool's words; empty where it does not say.
    pub what: Name,
    /// What it is about: the kind (`event`, `invariant`, …) and the label of each part.
    pub about: Vec<(Name, Name)>,
    pub is_discharged: bool,
}

/// An event keeps an invariant: from a state in which the whole invariant of all levels holds, theorems included, it
/// leads only to states in which this formula does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub event: Name,
    /// The place of the formula.
    pub invariant: Span,
    /// Places in the list of obligations: what the fact rests on.
    pub by: Vec<usize>,
    /// Nothing is known about when the formula has a value: there is a fact only if it always has one.
    pub needs_total: bool,
}

/// A machine with everything that it refers to.
#[derive(Debug)]
pub struct Composed {
    pub name: Name,
    pub sets: Vec<SetDef>,
    pub constants: Vec<Ident>,
    pub variables: Vec<Ident>,
    /// How many variables are part of the state; those behind them are abstract, only spoken of.
    pub state_variables: usize,
    pub operations: Vec<OpDef>,
    /// How many operations are part of the system; those behind them are only refined.
    pub live_operations: usize,
    /// In the order of initialisation; the last is the machine itself.
    pub order: Vec<usize>,
    pub instances: Vec<Instance>,
    pub top: usize,
    /// What the file says about proofs.
    pub obligations: Vec<Obligation>,
    /// What follows from it about events.
    pub kept: Vec<Kept>,
    /// Constants of a deferred set that differ from each other are names of its elements.
    pub names_elements: bool,
}
