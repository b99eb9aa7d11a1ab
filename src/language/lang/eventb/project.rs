//! An Event-B project: machines and contexts as their authors wrote them, whatever file they came from.
//!
//! [`super::package`] makes it of ProB's packages and [`super::translate`] a composed machine of it. Formulas are trees
//! of [`crate::lang::ast`]; the value of a variable after an event is the name with a prime, `x'`. Absent on purpose:
//! what belongs to a file format, what anything means.

use crate::lang::ast::{Expr, FreeDecl, Ident, Name};
use crate::lang::composed::Obligation;
use crate::lang::diag::Span;
use std::collections::BTreeMap;

/// Machines and contexts, and what is known of their proofs.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The first is the one that is looked at.
    pub machines: Vec<Machine>,
    /// Without machines the first is the one that is looked at.
    pub contexts: Vec<Context>,
    pub obligations: Vec<Obligation>,
    pub comments: Comments,
    /// Datatypes of theories that formulas use.
    pub datatypes: Vec<FreeDecl>,
    /// Constants that stand for recursive operators of theories, and what they are. Their names have a `·` in them.
    pub definitions: Vec<(Ident, Expr)>,
}

/// What authors say about what they write, by its place: the component, then (inside it) the name or label of an
/// element or event, then that of a part of the event.
pub type Comments = BTreeMap<Vec<Name>, Name>;

/// A predicate or expression with the name that its author gave it.
#[derive(Clone, Debug)]
pub struct Labelled {
    pub label: Option<Name>,
    pub formula: Expr,
}

#[derive(Clone, Debug)]
pub struct Context {
    pub name: Ident,
    pub extends: Vec<Ident>,
    pub sets: Vec<Ident>,
    pub constants: Vec<Ident>,
    pub axioms: Vec<Labelled>,
    pub theorems: Vec<Labelled>,
}

#[derive(Clone, Debug)]
pub struct Machine {
    pub name: Ident,
    pub refines: Option<Ident>,
    pub sees: Vec<Ident>,
    pub variables: Vec<Ident>,
    pub invariants: Vec<Labelled>,
    pub theorems: Vec<Labelled>,
    pub variant: Option<Labelled>,
    pub events: Vec<Event>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ordinary,
    Convergent,
    Anticipated,
}

/// An event; one that extends another has all of it here, too.
#[derive(Clone, Debug)]
pub struct Event {
    pub name: Ident,
    pub status: Status,
    /// Events of the abstraction: none of a new event, several of a merged one.
    pub refines: Vec<Ident>,
    pub parameters: Vec<Ident>,
    pub guards: Vec<Labelled>,
    pub theorems: Vec<Labelled>,
    pub actions: Vec<Action>,
    pub witnesses: Vec<Witness>,
    /// What of it is not written here.
    pub inherited: Inherited,
    pub span: Span,
}

/// How much an event has from the one that it extends: so many at the beginning of each list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inherited {
    pub is_extended: bool,
    pub parameters: usize,
    pub guards: usize,
    pub theorems: usize,
    pub actions: usize,
}

/// What stands for a parameter (`p`) or the new value of a variable (`x'`) of the abstraction.
#[derive(Clone, Debug)]
pub struct Witness {
    pub of: Ident,
    pub predicate: Labelled,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub label: Option<Name>,
    pub kind: ActionKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ActionKind {
    /// `x, y ≔ E, F`
    Assign(Vec<(Ident, Expr)>),
    /// `x :∈ S`
    Element(Ident, Expr),
    /// `x, y :∣ P`, where P speaks of `x'` and `y'`
    Such(Vec<Ident>, Expr),
}

impl Context {
    /// One that says nothing.
    pub fn empty(name: Ident) -> Context {
        Context { name, extends: vec![], sets: vec![], constants: vec![], axioms: vec![], theorems: vec![] }
    }

    /// Each formula, and whether it is an axiom.
    pub fn formulas_mut(&mut self) -> impl Iterator<Item = (&mut Expr, bool)> {
        let axioms = self.axioms.iter_mut().map(|a| (&mut a.formula, true));
        axioms.chain(self.theorems.iter_mut().map(|t| (&mut t.formula, false)))
    }
}

impl Machine {
    /// One that says nothing.
    pub fn empty(name: Ident) -> Machine {
        Machine {
            name,
            refines: None,
            sees: vec![],
            variables: vec![],
            invariants: vec![],
            theorems: vec![],
            variant: None,
            events: vec![],
        }
    }

    /// Each formula, also those of events.
    pub fn for_each_formula_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        let own = self.invariants.iter_mut().chain(&mut self.theorems).chain(&mut self.variant);
        own.for_each(|l| f(&mut l.formula));
        for e in &mut self.events {
            e.guards.iter_mut().chain(&mut e.theorems).for_each(|l| f(&mut l.formula));
            e.witnesses.iter_mut().for_each(|w| f(&mut w.predicate.formula));
            for a in &mut e.actions {
                match &mut a.kind {
                    ActionKind::Assign(pairs) => pairs.iter_mut().for_each(|(_, e)| f(e)),
                    ActionKind::Element(_, e) | ActionKind::Such(_, e) => f(e),
                }
            }
        }
    }
}

impl Event {
    /// One that says nothing.
    pub fn empty(name: Ident, span: Span) -> Event {
        Event {
            name,
            status: Status::Ordinary,
            refines: vec![],
            parameters: vec![],
            guards: vec![],
            theorems: vec![],
            actions: vec![],
            witnesses: vec![],
            inherited: Inherited::default(),
            span,
        }
    }
}

impl Action {
    /// What it changes.
    pub fn variables(&self) -> Vec<&Ident> {
        match &self.kind {
            ActionKind::Assign(pairs) => pairs.iter().map(|(x, _)| x).collect(),
            ActionKind::Element(x, _) => vec![x],
            ActionKind::Such(xs, _) => xs.iter().collect(),
        }
    }
}

/// The name of a variable's new value.
pub fn primed(variable: &str) -> Name {
    format!("{variable}'").into()
}
