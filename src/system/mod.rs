//! A model made executable: constants, initial states, successors with labels, tests.
//!
//! A state is a row of words: the number of its constants' valuation when there are several, then one word a
//! variable. Everything that evaluates needs a [`Worker`], which holds the environment; the [`System`] itself
//! is shared and does not change while it is explored.

use crate::eval::code::Code;
use crate::eval::compile::{Compiler, Event, SlotInfo};
use crate::eval::node::{Env, Slot, Test};
use crate::lang::diag::Span;
use crate::model::{Expr, ExprKind, Model, OpId};
use crate::value::fault::{Fault, Res};
use crate::value::table::Table;
use crate::value::val::{Val, to_value};
use crate::value::{Scope, Value};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A conjunct of the invariant, an assertion or the goal.
pub struct Check {
    pub test: Test,
    pub span: Span,
    /// It mentions no variable, so it is the same in all states of a valuation.
    pub is_static: bool,
}

pub struct System<'m> {
    pub model: &'m Model,
    pub scope: &'m Scope,
    pub slots: Vec<SlotInfo>,
    properties: crate::eval::plan::Plan,
    initialisation: Code,
    pub events: Vec<Event>,
    pub invariant: Vec<Check>,
    pub assertions: Vec<Check>,
    pub goal: Option<Check>,
    table: Table,
    /// Every valuation of the constants, found before exploration starts.
    constants: Vec<Vec<Val>>,
}

impl Check {
    fn new(c: &mut Compiler, e: &Expr) -> Check {
        let is_static = !e.any(&|x| matches!(x.kind, ExprKind::Var(_) | ExprKind::Old(_)));
        Check { test: c.closed_test(e), span: e.span, is_static }
    }
}

/// What one thread evaluates with.
pub struct Worker {
    pub env: Env,
    /// The valuation that is in the environment now.
    valuation: usize,
    row: Vec<u64>,
    seen: HashSet<SmallVec<[u64; 8]>, foldhash::fast::FixedState>,
}

/// A transition, while it is being visited.
pub struct Step<'a> {
    /// Index into [`System::events`].
    pub event: usize,
    pub env: &'a mut Env,
    pub target: &'a [u64],
}

/// What hears of the transitions of a state.
pub trait Visitor {
    fn step(&mut self, step: Step) -> ControlFlow<()>;
    /// An event has no value for some parameters.
    fn fault(&mut self, event: usize, fault: Box<Fault>) -> ControlFlow<()>;
}

/// How the search for constants ended.
pub struct Setup {
    pub valuations: usize,
    /// A property without a value, or a limit.
    pub fault: Option<Box<Fault>>,
    /// Where an unbounded integer was cut off.
    pub truncated: Option<Span>,
}

impl<'m> System<'m> {
    pub fn new(model: &'m Model, scope: &'m Scope) -> System<'m> {
        let mut c = Compiler::new(model, scope);
        let unknown: Vec<Slot> = (0..model.constants.len() as Slot).collect();
        let conjuncts: Vec<&Expr> = model.properties.iter().collect();
        let properties = c.plan(&unknown, &conjuncts);
        let initialisation = c.program(&model.initialisation);
        let mut events = Vec::new();
        for (i, op) in model.operations.iter().enumerate() {
            if op.is_event {
                events.push(c.event(OpId(i as u32)));
            }
        }
        let mut checks =
            |list: &[Expr]| -> Vec<Check> { list.iter().map(|e| Check::new(&mut c, e)).collect() };
        let invariant = checks(&model.invariant);
        let assertions = checks(&model.assertions);
        let goal = model.goal.as_ref().map(|g| Check::new(&mut c, g));
        let slots = std::mem::take(&mut c.slots);
        System {
            model,
            scope,
            slots,
            properties,
            initialisation,
            events,
            invariant,
            assertions,
            goal,
            table: Table::default(),
            constants: Vec::new(),
        }
    }

    pub fn worker(&self, stop: &Arc<AtomicBool>) -> Worker {
        let mut env = Env::new(self.slots.len());
        env.stop = Some(stop.clone());
        Worker { env, valuation: usize::MAX, row: Vec::new(), seen: HashSet::default() }
    }

    pub fn const_slots(&self) -> usize {
        self.model.constants.len()
    }

    fn var_slots(&self) -> std::ops::Range<usize> {
        let first = self.const_slots();
        first..first + self.model.variables.len()
    }

    /// Words of a row.
    pub fn width(&self) -> usize {
        self.model.variables.len() + usize::from(self.has_valuation_word())
    }

    fn has_valuation_word(&self) -> bool {
        self.constants.len() > 1
    }

    pub fn valuations(&self) -> usize {
        self.constants.len()
    }

    pub fn interned(&self) -> usize {
        self.table.len()
    }

    /// The words' interned values.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The values of the constants in a valuation, by slot.
    pub fn constant_vals(&self, valuation: usize) -> &[Val] {
        &self.constants[valuation]
    }

    /// A row's words, by variable.
    pub fn words<'r>(&self, row: &'r [u64]) -> &'r [u64] {
        &row[usize::from(self.has_valuation_word())..]
    }

    /// Finds the valuations of the constants, at most `limit`.
    pub fn setup(&mut self, limit: usize, stop: &Arc<AtomicBool>) -> Setup {
        let n = self.const_slots();
        let mut env = Env::new(self.slots.len());
        env.stop = Some(stop.clone());
        let mut found: Vec<Vec<Val>> = Vec::new();
        let mut seen = HashSet::new();
        let mut fault: Option<Box<Fault>> = None;
        let slots = &self.slots;
        let unique = !self.properties.may_repeat;
        let solved = self.properties.solve(&mut env, &mut |env| {
            if let Some(e) = &env.pending {
                fault.get_or_insert_with(|| e.clone());
                return Ok(true);
            }
            let mut valuation = Vec::with_capacity(n);
            for (slot, v) in env.slots[..n].iter().enumerate() {
                let v = v.clone();
                // Functions over infinite domains stay symbolic; constants are never compared as states.
                let v = if v.is_lazy() && !crate::value::ops::symbolic(&v) {
                    crate::value::val::force(v, &slots[slot].rep)?
                } else {
                    v
                };
                valuation.push(v);
            }
            if unique || seen.insert(valuation.clone()) {
                if found.len() >= limit {
                    return Err(Fault::limit(format!("more than {limit} valuations of the constants")));
                }
                found.push(valuation);
            }
            Ok(true)
        });
        if let Err(e) = solved {
            fault.get_or_insert(e);
        }
        self.constants = found;
        Setup { valuations: self.constants.len(), fault, truncated: env.truncated }
    }

    fn load_constants(&self, w: &mut Worker, valuation: usize) {
        if w.valuation != valuation {
            for (slot, v) in self.constants[valuation].iter().enumerate() {
                w.env.slots[slot] = v.clone();
            }
            w.valuation = valuation;
        }
    }

    /// Which valuation of the constants a row belongs to.
    pub fn valuation_of(&self, row: &[u64]) -> usize {
        if self.has_valuation_word() { row[0] as usize } else { 0 }
    }

    /// Puts a state into the worker's environment.
    pub fn load(&self, w: &mut Worker, row: &[u64]) {
        self.load_constants(w, self.valuation_of(row));
        let words = self.words(row);
        for (slot, word) in self.var_slots().zip(words) {
            w.env.slots[slot] = self.table.decode(*word, &self.slots[slot].rep);
        }
    }

    /// Visits the initial states of one valuation, each once.
    pub fn initial(
        &self,
        w: &mut Worker,
        valuation: usize,
        visit: &mut dyn FnMut(&mut Env, &[u64]) -> ControlFlow<()>,
    ) -> Res<ControlFlow<()>> {
        self.load_constants(w, valuation);
        let vars = self.var_slots();
        for slot in vars.clone() {
            w.env.slots[slot] = Val::None;
        }
        w.seen.clear();
        let Worker { env, row, seen, .. } = w;
        let done = self.initialisation.run(env, &mut |env| {
            row.clear();
            if self.has_valuation_word() {
                row.push(valuation as u64);
            }
            for slot in vars.clone() {
                let v = &env.slots[slot];
                if *v == Val::None {
                    return Err(Fault::wd(crate::value::fault::WdKind::Unassigned).at(self.slots[slot].span));
                }
                row.push(self.table.encode(v, &self.slots[slot].rep));
            }
            if !seen.insert(SmallVec::from_slice(row)) {
                return Ok(true);
            }
            Ok(visit(env, row).is_continue())
        })?;
        Ok(if done { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    /// Visits the transitions of a state, each once.
    pub fn successors(&self, w: &mut Worker, source: &[u64], visitor: &mut dyn Visitor) -> ControlFlow<()> {
        self.load(w, source);
        for index in 0..self.events.len() {
            self.fire(w, source, index, visitor)?;
        }
        ControlFlow::Continue(())
    }

    /// The transitions of one event; the state is in the environment.
    fn fire(
        &self,
        w: &mut Worker,
        source: &[u64],
        index: usize,
        visitor: &mut dyn Visitor,
    ) -> ControlFlow<()> {
        let event = &self.events[index];
        let offset = usize::from(self.has_valuation_word());
        let first = self.const_slots();
        let Worker { env, row, seen, .. } = w;
        row.clear();
        row.extend_from_slice(source);
        if event.may_repeat {
            seen.clear();
        }
        let mut flow = ControlFlow::Continue(());
        let solved = event.plan.solve(env, &mut |env| {
            if let Some(e) = &env.pending {
                flow = visitor.fault(index, e.clone());
                return Ok(flow.is_continue());
            }
            let ran = event.code.run(env, &mut |env| {
                for slot in &event.writes {
                    let slot = *slot as usize;
                    row[offset + slot - first] = self.table.encode(&env.slots[slot], &self.slots[slot].rep);
                }
                if event.may_repeat {
                    let mut key = self.label(index, env);
                    key.extend_from_slice(row);
                    if !seen.insert(key) {
                        return Ok(true);
                    }
                }
                flow = visitor.step(Step { event: index, env, target: row });
                Ok(flow.is_continue())
            });
            if let Err(e) = ran {
                // The other parameters have their transitions all the same.
                flow = visitor.fault(index, e);
            }
            Ok(flow.is_continue())
        });
        if let Err(e) = solved {
            flow = visitor.fault(index, e);
        }
        flow
    }

    /// Event, parameters and results: what makes a transition beside its target.
    pub fn label(&self, index: usize, env: &Env) -> SmallVec<[u64; 8]> {
        let event = &self.events[index];
        let mut key: SmallVec<[u64; 8]> = SmallVec::new();
        key.push(index as u64);
        for slot in event.params.iter().chain(&event.results) {
            let slot = *slot as usize;
            key.push(match &env.slots[slot] {
                // A result nothing was assigned to.
                Val::None => u64::MAX,
                v => self.table.encode(v, &self.slots[slot].rep),
            });
        }
        key
    }

    // ---- plain values, for people ---------------------------------------------------------------------------

    /// A slot's value as a plain tree; `None` when unassigned or symbolic.
    pub fn plain(&self, slot: usize, v: &Val) -> Option<Value> {
        match v {
            Val::None | Val::Lazy(_) => None,
            v => Some(to_value(v, &self.slots[slot].rep)),
        }
    }

    /// The values of constants and variables by slot; without a row the variables have none.
    pub fn values(&self, valuation: usize, row: Option<&[u64]>) -> Vec<Val> {
        let mut values = match self.constants.get(valuation) {
            Some(constants) => constants.clone(),
            None => vec![Val::None; self.const_slots()],
        };
        match row {
            Some(row) => {
                let words = self.words(row);
                let slots = self.var_slots().zip(words);
                values.extend(slots.map(|(slot, w)| self.table.decode(*w, &self.slots[slot].rep)));
            }
            None => values.extend(self.var_slots().map(|_| Val::None)),
        }
        values
    }

    /// The parameters with which an event has this fault in a state, as far as they had values by then.
    pub fn faulty_parameters(&self, w: &mut Worker, row: &[u64], event: usize, fault: &Fault) -> Vec<Val> {
        self.load(w, row);
        let event = &self.events[event];
        let params = |env: &Env| -> Vec<Val> {
            event.params.iter().map(|slot| env.slots[*slot as usize].clone()).collect()
        };
        let mut found = None;
        let solved = event.plan.solve(&mut w.env, &mut |env| {
            let here = params(env);
            let fails = match &env.pending {
                Some(e) => **e == *fault,
                None => event.code.run(env, &mut |_| Ok(true)).is_err_and(|e| *e == *fault),
            };
            if fails {
                found = Some(here);
            }
            Ok(!fails)
        });
        match solved {
            Err(_) if found.is_none() => params(&w.env),
            _ => found.unwrap_or_default(),
        }
    }

    /// The values of the constants of a valuation.
    pub fn constant_values(&self, valuation: usize) -> Vec<Option<Value>> {
        self.constants[valuation].iter().enumerate().map(|(slot, v)| self.plain(slot, v)).collect()
    }

    /// The values of the variables in a row.
    pub fn variable_values(&self, row: &[u64]) -> Vec<Value> {
        let words = self.words(row);
        self.var_slots()
            .zip(words)
            .map(|(slot, w)| {
                let rep = &self.slots[slot].rep;
                to_value(&self.table.decode(*w, rep), rep)
            })
            .collect()
    }
}
