//! The reference evaluator: the meaning of the language, written to be read.
//!
//! Everything is enumerated naively: a bound variable runs through the values of its type, a set is the
//! collection of its elements. Two things are less naive, because integers need them. A set that may be
//! infinite stays a [`Symbolic`] set, a constructor over evaluated parts, until somebody needs its elements
//! (see [`set`]); and a bound variable whose type is infinite or large runs only through what one conjunct of
//! its predicate allows (see [`search`]).
//!
//! The logic of faults is that of [`crate`]. Between two faults of a conjunction `Limit` wins: what we
//! could not compute might have been the false conjunct.
//!
//! An expression has predicates in it, a predicate has sets, and a set may have to be searched for, with expressions
//! and predicates again. This recursion goes through the names of this module ([`item`], [`holds`], `search`); apart
//! from it the modules use each other in one direction: build, carrier, set, search, pred, expr, stmt.
//!
//! Absent on purpose: plans, sharing, caches, anything fast. Nothing here may come from the production
//! evaluator, which is tested against this.

mod build;
mod carrier;
pub mod expr;
pub mod pred;
pub mod search;
pub mod set;
pub mod stmt;

pub use expr::{eval, item};
pub use pred::holds;
pub use search::{Solutions, solutions};
pub use set::{Symbolic, contains};
pub use stmt::{
    Outcomes, Reached, StepFault, Successor, Successors, constants, constants_with, execute,
    execute_operation, initial_states, states_where, successors,
};

use crate::lang::diag::Span;
use crate::model::{ConstId, LocalId, Model, Stmt, StmtKind, Target, VarId};
use crate::plain::fault::{Fault, Wd, WdKind};
use crate::plain::{Scope, Value};
use search::{Unbounded, all, exactly, search};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The elements of a finite set.
pub type Elements = BTreeSet<Value>;

/// What stays the same during evaluation, and the account of what it cost.
pub struct Cx<'m> {
    pub model: &'m Model,
    pub scope: &'m Scope,
    /// Membership expands a comprehension where it can, instead of testing its predicate at one point: then
    /// `1 : {y | y : 0..3 & 10 / y > 2}` is faulty. Off by default, as in the B-Book, where it *is* the test.
    pub eager: bool,
    /// The largest set that is built.
    pub max_elements: usize,
    /// Steps left; at zero everything is [`Fault::Limit`].
    fuel: Cell<u64>,
    depth: Cell<u32>,
    truncated: RefCell<Vec<Span>>,
    /// The names of substitutions, see [`Cx::is_of_a_substitution`].
    of_substitutions: OnceCell<BTreeSet<LocalId>>,
}

/// The deepest nesting of evaluation: keeps a thread with a stack of 2 MiB alive in an optimised build. The programs
/// give it more.
const MAX_DEPTH: u32 = 250;

impl<'m> Cx<'m> {
    pub fn new(model: &'m Model, scope: &'m Scope) -> Self {
        Cx {
            model,
            scope,
            eager: false,
            max_elements: 1 << 18,
            fuel: Cell::new(20_000_000),
            depth: Cell::new(0),
            truncated: RefCell::default(),
            of_substitutions: OnceCell::new(),
        }
    }

    pub fn with_fuel(self, steps: u64) -> Self {
        self.fuel.set(steps);
        self
    }

    /// Steps left.
    pub fn fuel(&self) -> u64 {
        self.fuel.get()
    }

    /// Places where an integer ran only through MININT..MAXINT although nothing bounds it.
    pub fn truncated(&self) -> Vec<Span> {
        self.truncated.borrow().clone()
    }

    /// Whether it is declared by VAR or is a result: then it may not be assigned yet, and where it has no value, what
    /// is said of it has none. Every other name without a value is an unknown that gets one.
    fn is_of_a_substitution(&self, id: LocalId) -> bool {
        fn declared(s: &Stmt, out: &mut BTreeSet<LocalId>) {
            if let StmtKind::Var(locals, _) = &s.kind {
                out.extend(locals);
            }
            s.for_each_child(&mut |c| declared(c, out));
        }
        let of_substitutions = self.of_substitutions.get_or_init(|| {
            let mut out = BTreeSet::new();
            declared(&self.model.initialisation, &mut out);
            for op in &self.model.operations {
                out.extend(&op.results);
                declared(&op.body, &mut out);
            }
            out
        });
        of_substitutions.contains(&id)
    }

    fn spend(&self, steps: usize, span: Span) -> Result<(), Fault> {
        match self.fuel.get().checked_sub(steps as u64) {
            Some(left) => {
                self.fuel.set(left);
                Ok(())
            }
            None => {
                self.fuel.set(0);
                Err(limit(span, "the reference evaluator's step limit is reached"))
            }
        }
    }

    fn enter(&self, span: Span) -> Result<Nested<'_>, Fault> {
        self.spend(1, span)?;
        if self.depth.get() >= MAX_DEPTH {
            return Err(limit(span, "nested too deeply for the reference evaluator"));
        }
        self.depth.set(self.depth.get() + 1);
        Ok(Nested(&self.depth))
    }
}

struct Nested<'a>(&'a Cell<u32>);

impl Drop for Nested<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// A value, or a set kept as its definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<'m> {
    Value(Value),
    Symbolic(Arc<Symbolic<'m>>),
}

impl Item<'_> {
    pub fn value(&self) -> Option<&Value> {
        match self {
            Item::Value(v) => Some(v),
            Item::Symbolic(_) => None,
        }
    }
}

impl From<Value> for Item<'_> {
    fn from(v: Value) -> Self {
        Item::Value(v)
    }
}

impl<'m> From<Symbolic<'m>> for Item<'m> {
    fn from(s: Symbolic<'m>) -> Self {
        Item::Symbolic(Arc::new(s))
    }
}

/// A valuation of constants and variables. `None`: nothing assigned.
#[derive(Clone, Debug, PartialEq)]
pub struct State<'m> {
    pub constants: Arc<Vec<Option<Item<'m>>>>,
    pub variables: Vec<Option<Value>>,
}

/// Where names get their values. Cheap to clone; a binding makes a new one.
#[derive(Clone, Debug, PartialEq)]
pub struct Env<'m> {
    constants: Arc<Vec<Option<Item<'m>>>>,
    variables: Arc<Vec<Option<Value>>>,
    /// What is absent is unassigned.
    locals: Arc<BTreeMap<LocalId, Arc<Item<'m>>>>,
    /// What `x$0` means; `None`: the same as `x`.
    before: Option<Arc<Env<'m>>>,
    /// What the substitution wrote: the parts of `||` may write the same variable only to the same value.
    written: Arc<BTreeSet<Target>>,
}

/// What a bound name is: a local, a constant while PROPERTIES are solved, or a variable where all states are looked for
/// of which something is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Local(LocalId),
    Const(ConstId),
    Var(VarId),
}

impl<'m> Env<'m> {
    /// Nothing assigned.
    pub fn new(model: &Model) -> Self {
        Env {
            constants: Arc::new(vec![None; model.constants.len()]),
            variables: Arc::new(vec![None; model.variables.len()]),
            locals: Arc::default(),
            before: None,
            written: Arc::default(),
        }
    }

    pub fn of(state: &State<'m>) -> Self {
        Env {
            constants: state.constants.clone(),
            variables: Arc::new(state.variables.clone()),
            locals: Arc::default(),
            before: None,
            written: Arc::default(),
        }
    }

    pub fn state(&self) -> State<'m> {
        State { constants: self.constants.clone(), variables: (*self.variables).clone() }
    }

    pub fn constant(&self, id: ConstId) -> Option<&Item<'m>> {
        self.constants.get(id.index())?.as_ref()
    }

    pub fn variable(&self, id: VarId) -> Option<&Value> {
        self.variables.get(id.index())?.as_ref()
    }

    pub fn local(&self, id: LocalId) -> Option<&Item<'m>> {
        self.locals.get(&id).map(|item| &**item)
    }

    pub fn with_constant(mut self, id: ConstId, item: impl Into<Item<'m>>) -> Self {
        if let Some(place) = Arc::make_mut(&mut self.constants).get_mut(id.index()) {
            *place = Some(item.into());
        }
        self
    }

    pub fn with_variable(mut self, id: VarId, value: Value) -> Self {
        if let Some(place) = Arc::make_mut(&mut self.variables).get_mut(id.index()) {
            *place = Some(value);
        }
        self
    }

    pub fn with_local(mut self, id: LocalId, item: impl Into<Item<'m>>) -> Self {
        Arc::make_mut(&mut self.locals).insert(id, Arc::new(item.into()));
        self
    }

    /// What the slot is, unless it is or has in it a set that is not listed.
    fn value_of(&self, slot: Slot) -> Option<&Value> {
        match slot {
            Slot::Local(id) => self.local(id)?.value(),
            Slot::Const(id) => self.constant(id)?.value(),
            Slot::Var(id) => self.variable(id),
        }
    }

    fn with(mut self, slot: Slot, item: Item<'m>) -> Self {
        match (slot, item) {
            (Slot::Local(id), item) => self.with_local(id, item),
            (Slot::Const(id), item) => self.with_constant(id, item),
            (Slot::Var(id), Item::Value(value)) => self.with_variable(id, value),
            // A variable has a value or none; what is not one is not known yet.
            (Slot::Var(id), Item::Symbolic(_)) => {
                self = self.without([Slot::Var(id)]);
                self
            }
        }
    }

    /// The same names without values: what VAR and binders start from.
    fn without(mut self, slots: impl IntoIterator<Item = Slot>) -> Self {
        for slot in slots {
            match slot {
                Slot::Local(id) if !self.locals.contains_key(&id) => {}
                Slot::Local(id) => {
                    Arc::make_mut(&mut self.locals).remove(&id);
                }
                Slot::Const(id) => {
                    if let Some(place) = Arc::make_mut(&mut self.constants).get_mut(id.index()) {
                        *place = None;
                    }
                }
                Slot::Var(id) => {
                    if let Some(place) = Arc::make_mut(&mut self.variables).get_mut(id.index()) {
                        *place = None;
                    }
                }
            }
        }
        self
    }

    fn read_target(&self, target: Target, span: Span) -> Result<Value, Fault> {
        let value = match target {
            Target::Var(id) => self.variable(id),
            Target::Local(id) => self.local(id).and_then(Item::value),
        };
        value.cloned().ok_or_else(|| wd(WdKind::Unassigned, span))
    }

    fn write_target(mut self, target: Target, value: Value) -> Self {
        Arc::make_mut(&mut self.written).insert(target);
        match target {
            Target::Var(id) => self.with_variable(id, value),
            Target::Local(id) => self.with_local(id, value),
        }
    }

    /// What a closure keeps. Constants are not kept: they are fixed, and a recursive function must find itself
    /// among those of the place where it is used.
    fn capture(&self) -> Env<'m> {
        Env { constants: Arc::default(), written: Arc::default(), ..self.clone() }
    }

    /// The environment of a closure that is used here.
    fn reopen(&self, captured: &Env<'m>) -> Env<'m> {
        Env { constants: self.constants.clone(), ..captured.clone() }
    }
}

fn wd(kind: WdKind, span: Span) -> Fault {
    Fault::Wd(Wd { kind, span, values: None })
}

fn limit(span: Span, why: impl Into<String>) -> Fault {
    Fault::Limit(span, why.into())
}

/// Of two faults of one conjunction: what we could not compute might have decided it.
fn worse(first: Fault, second: Fault) -> Fault {
    match (&first, &second) {
        (Fault::Wd(_), Fault::Limit(..)) => second,
        _ => first,
    }
}

/// The tree does not have its type: a bug of whoever built it, reported rather than hidden.
fn ill_typed(span: Span) -> Fault {
    limit(span, "ill-typed expression in the typed model")
}

/// `(x |-> y) |-> z` from three parts.
fn tuple(parts: impl IntoIterator<Item = Value>) -> Option<Value> {
    parts.into_iter().reduce(Value::pair)
}

/// The `n` parts of a left-nested pair.
fn untuple(value: &Value, n: usize) -> Option<Vec<Value>> {
    if n == 1 {
        return Some(vec![value.clone()]);
    }
    let Value::Pair(p) = value else { return None };
    let mut parts = untuple(&p.0, n.checked_sub(1)?)?;
    parts.push(p.1.clone());
    Some(parts)
}
