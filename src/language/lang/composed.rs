//! A machine and all it refers to as one set of declarations: what every front end ends in, and what is typed.
//!
//! Nothing is rewritten. Each use of a machine is an [`Instance`] with a table that says what the names
//! in its text mean, so renaming (`x.M`), parameters and visibility are questions of that table, and
//! capture cannot happen.

use crate::lang::ast::{Expr, FreeDecl, Ident, Machine, Name, Operation};
use crate::lang::diag::{Diagnostic, Span};
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
    Free(usize),
    /// A freetype and the place of the constructor.
    Case(usize, usize),
    /// A formal parameter: the expression that stands for it, in the scope of that instance.
    Actual(usize, Arc<Expr>),
}

#[derive(Clone, Debug)]
pub struct SetDef {
    pub name: Ident,
    pub elements: Option<Vec<Ident>>,
    pub is_parameter: bool,
}

/// A freetype, and the instance in which the sets of its constructors' arguments are to be read.
#[derive(Clone, Debug)]
pub struct FreeTypeDef {
    pub instance: usize,
    pub decl: FreeDecl,
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
    pub abstraction: Option<usize>,
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
    /// The tool's own name for it (`e/inv1/INV`); empty where it does not say.
    pub sequent: Name,
    /// What it is about: the kind (`event`, `invariant`, …) and the label of each part.
    pub about: Vec<(Name, Name)>,
    pub is_discharged: bool,
}

/// An event keeps an invariant: from a state in which the whole invariant of all levels holds, theorems included, it
/// leads only to states in which this formula does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub event: Name,
    /// The place of the formula.
    pub invariant: Span,
    /// Places in the list of obligations: what the fact rests on.
    pub by: Vec<usize>,
    /// Nothing is known about when the formula has a value: there is a fact only if it always has one.
    pub needs_total: bool,
}

/// A machine of a chain of refinements, with all that belongs to its system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelDef {
    pub instance: usize,
    /// The instances of its system, in the order of initialisation.
    pub parts: Vec<usize>,
    pub variables: Vec<usize>,
    /// What its users may call, by the names that they know.
    pub operations: Vec<(Name, usize)>,
    /// Variables of its system that have the name of one of the level above without being it: each with that one, whose
    /// value it has.
    pub stand_for: Vec<(usize, usize)>,
}

/// What a refinement promises about the level above, as Rodin names it: `e/grd1/GRD` of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// `GRD`, `SIM`, …
    pub kind: &'static str,
    /// The refinement that promises it.
    pub level: Name,
    /// The event of the refinement.
    pub event: Name,
    /// The label of the guard, action or invariant; the name of the variable or parameter.
    pub about: Option<Name>,
    /// Where the formula stands.
    pub span: Span,
    /// The event of the most concrete machine in which it is demanded.
    pub operation: Name,
}

impl Promise {
    /// `e/grd1/GRD`; without the event where it is about the machine as a whole.
    pub fn name(&self) -> String {
        let is_whole = matches!(self.kind, "FIN" | "VWD");
        let event = Some(&self.event).filter(|e| !is_whole && !e.is_empty());
        let parts = event.into_iter().chain(&self.about).map(|n| &**n);
        parts.chain([self.kind]).collect::<Vec<_>>().join("/")
    }
}

/// What it means that a promise of a kind is not kept.
pub fn broken(kind: &str) -> &'static str {
    match kind {
        "GRD" => "the abstract guard does not hold",
        "MRG" => "no abstract guard holds",
        "SIM" => "the abstract action does not do this",
        "EQL" => "the abstract event does not change this variable",
        "WFIS" => "no value fulfils the witness",
        "VAR" => "the variant does not decrease as it has to",
        "NAT" => "the variant is negative",
        "FIN" => "the variant is an infinite set",
        "FIS" => "the action cannot be done: no value fulfils it",
        "WD" | "WWD" | "VWD" => "it has no value",
        "THM" => "the theorem is false",
        "INV" => "the invariant is violated",
        _ => "the promise is not kept",
    }
}

/// How an event of the most concrete machine is followed by those above it: operations of a machine with the variables of
/// all levels.
#[derive(Clone, Debug)]
pub struct Followed {
    pub name: Name,
    /// Changes the variables of the most concrete machine only.
    pub alone: usize,
    /// The same, and what all levels above do, where they can.
    pub whole: usize,
    /// For those who want to know why they cannot: for each way to follow, the operations that demand one thing more than
    /// the one before, and that thing.
    pub stages: Vec<Vec<(usize, Promise)>>,
}

/// A chain of refinements as one machine with the variables of all levels, and how its events are followed.
#[derive(Debug)]
pub struct Chain {
    pub composed: Composed,
    /// The most concrete machine first.
    pub levels: Vec<(Name, Vec<usize>)>,
    /// INITIALISATION first.
    pub events: Vec<Followed>,
    /// The conjuncts of the invariants, by place.
    pub invariants: Vec<Promise>,
    /// Operations that are the events of the level above by themselves, only to know whether they are enabled.
    pub above: Vec<usize>,
    /// What formulas are called where one of them has no value.
    pub places: Vec<Promise>,
}

/// What a proof obligation demands of a predicate.
#[derive(Clone, Debug)]
pub enum Demanded {
    /// It is true.
    True(Expr),
    /// It has a value.
    Defined(Expr),
}

/// A proof obligation as trees. Names that are neither sets, constants nor variables are unknowns: parameters of events,
/// new values (`x'`).
#[derive(Clone, Debug)]
pub struct Sequent {
    /// The machine or context it belongs to.
    pub component: Name,
    pub event: Option<Name>,
    /// The label of the formula, or the name of the parameter or variable.
    pub about: Option<Name>,
    /// `INV`, `GRD`, …
    pub kind: &'static str,
    /// The formula to show for it.
    pub span: Span,
    /// So many of the first formulas of [`Sequents::known`] are hypotheses.
    pub known: usize,
    /// The other ones.
    pub hypotheses: Vec<Expr>,
    /// What says more about the types of names, and is no hypothesis.
    pub typing: Vec<Expr>,
    pub goal: Demanded,
    /// It is there only if this is a number (or, with `false`, a set).
    pub only_for: Option<(Expr, bool)>,
}

/// The proof obligations of a chain of refinements.
#[derive(Clone, Debug, Default)]
pub struct Sequents {
    /// Axioms, invariants and theorems; what is abstract comes first.
    pub known: Vec<Expr>,
    pub all: Vec<Sequent>,
}

/// What a front end whose machines follow each other event by event keeps for those who compare them.
pub trait Refining: std::fmt::Debug + Send + Sync {
    /// With `staged` the operations that say why an event is not followed are there, too; with `above` the events of the
    /// level above by themselves.
    fn chain(&self, staged: bool, above: bool, diags: &mut Vec<Diagnostic>) -> Option<Chain>;

    /// The proof obligations, if the machine refines another.
    fn sequents(&self) -> Option<Sequents>;
}

/// A machine with everything that it refers to.
#[derive(Debug)]
pub struct Composed {
    pub name: Name,
    pub sets: Vec<SetDef>,
    pub freetypes: Vec<FreeTypeDef>,
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
    pub kept: Vec<Fact>,
    /// Constants of a deferred set that differ from each other are names of its elements.
    pub names_elements: bool,
    /// The machine, and those it refines, the most concrete first.
    pub levels: Vec<LevelDef>,
    /// Operations of machines that are only seen: anybody may call them at any time.
    pub environment: Vec<usize>,
    /// What the ASSERTs in the operations are for.
    pub promises: Vec<Promise>,
    /// The levels event by event, of a language that has it.
    pub refining: Option<Arc<dyn Refining>>,
}
