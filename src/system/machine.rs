//! A B model made executable.
//!
//! A row has the number of its constants' valuation when there are several, then one word per variable. Everything that
//! evaluates needs a [`Worker`], which holds the environment; the [`Machine`] itself is shared and does not change
//! while it is explored.

use super::constants::{Setup, Valuations};
use super::{Check, Label, Operation, Role, Stop, System, Transition, Visit, Visitor};
use crate::eval::code::Code;
use crate::eval::compile::{Compiler, Event, SlotInfo};
use crate::eval::node::{Env, Slot, Test};
use crate::eval::word;
use crate::eval::word::memo::{Memo, Shared};
use crate::model::{Expr, ExprKind, Model, OpId};
use crate::value::fault::{Fault, Res};
use crate::value::table::Table;
use crate::value::val::{Val, to_value};
use crate::value::{Scope, Value};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A check as it is evaluated: a conjunct of the invariant, an assertion or the goal.
pub(super) struct Compiled {
    pub(super) test: Test,
    /// The test on words.
    pub(super) fast: Option<word::Pred>,
}

/// A B machine as a system.
pub struct Machine {
    /// The typed model.
    pub model: Arc<Model>,
    /// Sizes of sets and bounds of integers.
    pub scope: Arc<Scope>,
    /// Constants, variables, then locals.
    pub slots: Vec<SlotInfo>,
    pub(super) properties: crate::eval::plan::Plan,
    initialisation: Code,
    /// The operations that are events, compiled.
    pub events: Vec<Event>,
    pub(super) operations: Vec<Operation>,
    /// The conjuncts of the invariant, then the assertions, then the goal.
    pub(super) checks: Vec<Check>,
    /// The same, to evaluate.
    pub(super) compiled: Vec<Compiled>,
    /// The events that the fast tier can run.
    pub(super) fast: Vec<Option<word::lower::Event>>,
    /// Places of the fast tier that remember, and what all workers remember there.
    pub(super) sites: Vec<Arc<Shared>>,
    pub(super) table: Arc<Table>,
    /// How the search for constants ended, or how far it came; before it there is no start.
    pub(super) setup: Option<Setup>,
    pub(super) valuations: Valuations,
    /// Who solves PROPERTIES, once that was decided.
    pub(super) solved: std::sync::OnceLock<super::constants::Solver>,
    /// Who does where the plan has no answer.
    pub(super) rescued: std::sync::OnceLock<super::constants::Solver>,
    /// Valuations that are taken at most, when they are looked for as they come.
    pub(super) most: usize,
    /// Whether a row begins with the number of its valuation: 1 or 0.
    pub(super) offset: usize,
    /// The constants that the fast tier reads from words only, if it can do everything: by slot.
    pub(super) is_word: Vec<bool>,
}

impl Compiled {
    /// Whether it holds in the state whose words are in the environment. Once the constants are known there is a test on
    /// words: it reads nothing but constants and variables, and those have words, or are symbolic and in their slots.
    #[inline]
    pub fn holds(&self, env: &mut Env) -> Res<bool> {
        match &self.fast {
            Some(fast) => fast.holds(env),
            None => self.test.holds(env),
        }
    }
}

/// Steps that are announced before the first of them is visited.
const MANY: usize = 32;

/// What one thread evaluates with.
#[derive(Default)]
pub struct Worker {
    /// The environment that everything is evaluated in.
    pub env: Env,
    /// The valuation that is in the environment now.
    valuation: usize,
    row: Vec<u64>,
    seen: HashSet<SmallVec<[u64; 8]>, foldhash::fast::FixedState>,
    mode: Mode,
    /// Announced, not yet visited: events, and their targets one after the other.
    waiting: Vec<usize>,
    targets: Vec<u64>,
}

/// What a worker does for whom. One of four, not three switches: each says what is up to date when a transition is visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Variables, parameters and results are values in the slots, and words.
    #[default]
    Values,
    /// They are words; the slots belong to whoever evaluated last.
    Words,
    /// The same, and constants too are left in their words where that is enough: for successors and checks only.
    OnlyWords,
    /// As with words, and targets are announced before they are visited; then there is no label.
    Ahead,
}

/// A transition beside its target, as plain values; `None` for what is symbolic, and for a result nothing was assigned to.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    /// The operation.
    pub op: OpId,
    /// By parameter.
    pub params: Vec<Option<Value>>,
    /// By result.
    pub results: Vec<Option<Value>>,
}

impl Machine {
    /// Compiles a model; the constants have yet to be solved ([`Machine::setup`]).
    pub fn new(model: impl Into<Arc<Model>>, scope: impl Into<Arc<Scope>>) -> Machine {
        let (model, scope) = (model.into(), scope.into());
        let mut c = Compiler::new(&model, &scope);
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
        let operation = |e: &Event| Operation { name: e.name.clone(), may_repeat: e.may_repeat };
        let operations = events.iter().map(operation).collect();
        let invariant = model.invariant.iter().map(|e| (Role::Invariant, e));
        let assertions = model.assertions.iter().map(|e| (Role::Assertion, e));
        let goal = model.goal.iter().map(|e| (Role::Goal, e));
        let (mut checks, mut compiled) = (vec![], vec![]);
        for (role, e) in invariant.chain(assertions).chain(goal) {
            compiled.push(Compiled { test: c.closed_test(e), fast: None });
            let is_static = !e.any(&|x| matches!(x.kind, ExprKind::Var(_) | ExprKind::Old(_)));
            checks.push(Check { role, name: "".into(), span: e.span, is_static, changed_by: vec![] });
        }
        let slots = std::mem::take(&mut c.slots);
        Machine {
            model,
            scope,
            slots,
            properties,
            initialisation,
            events,
            operations,
            checks,
            compiled,
            fast: Vec::new(),
            sites: Vec::new(),
            table: Arc::default(),
            setup: None,
            valuations: Valuations::default(),
            solved: std::sync::OnceLock::new(),
            rescued: std::sync::OnceLock::new(),
            most: usize::MAX,
            offset: 0,
            is_word: Vec::new(),
        }
    }

    /// A worker with values: parameters, results and variables are in the environment's slots.
    pub fn full_worker(&self, stop: &Stop) -> Worker {
        let mut env = Env::new(self.slots.len());
        env.stop = Some(stop.clone());
        env.words = vec![0; self.slots.len()];
        env.table = self.table.clone();
        env.memos = self.sites.iter().map(Memo::new).collect();
        env.lists = vec![Default::default(); self.sites.len()];
        Worker {
            env,
            valuation: usize::MAX,
            row: Vec::new(),
            seen: HashSet::default(),
            mode: Mode::Values,
            ..Worker::default()
        }
    }

    /// A worker of another kind.
    pub(super) fn worker_for(&self, mode: Mode, stop: &Stop) -> Worker {
        Worker { mode, ..self.full_worker(stop) }
    }

    /// How many constants there are.
    pub fn const_slots(&self) -> usize {
        self.model.constants.len()
    }

    pub(super) fn var_slots(&self) -> std::ops::Range<usize> {
        let first = self.const_slots();
        first..first + self.model.variables.len()
    }

    /// Words of a row.
    pub fn width(&self) -> usize {
        self.model.variables.len() + self.offset
    }

    /// How many valuations of the constants there are, or are known by now ([`Setup::is_open`]).
    pub fn valuations(&self) -> usize {
        self.valuations.len()
    }

    /// Whether the constants have yet to be solved.
    pub fn is_unsolved(&self) -> bool {
        self.setup.is_none()
    }

    /// How many values are interned.
    pub fn interned(&self) -> usize {
        self.table.len()
    }

    /// The words' interned values.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The values of the constants in a valuation, by slot.
    pub fn constant_vals(&self, valuation: usize) -> &[Val] {
        self.valuations.vals(valuation)
    }

    /// A row's words, by variable.
    pub fn words<'r>(&self, row: &'r [u64]) -> &'r [u64] {
        &row[self.offset..]
    }

    /// Plants a mistake, for tests of the audit: conjuncts of the invariant answer for each other.
    #[doc(hidden)]
    pub fn misjudge(&mut self) {
        let n = self.checks.iter().filter(|c| c.role == Role::Invariant).count();
        self.compiled[..n].rotate_left(1);
    }

    fn load_constants(&self, w: &mut Worker, valuation: usize) {
        if w.valuation == valuation {
            return;
        }
        let n = self.const_slots();
        w.env.words[..n].copy_from_slice(self.valuations.words(valuation));
        for (slot, v) in self.valuations.vals(valuation).iter().enumerate() {
            // Shared by all threads: not to be touched for nothing.
            if !(w.mode == Mode::OnlyWords && self.is_word[slot]) {
                w.env.slots[slot] = v.clone();
            }
        }
        w.valuation = valuation;
        w.env.valuation = valuation as u64;
    }

    pub(super) fn load_row(&self, w: &mut Worker, row: &[u64]) {
        self.load_constants(w, self.start_of(row));
        let words = self.words(row);
        w.env.words[self.var_slots()].copy_from_slice(words);
        if w.mode == Mode::Values {
            self.fill(&mut w.env);
        }
    }

    /// Puts the variables of a row into the slots of an environment, which only [`Machine::full_worker`] keeps up to date.
    pub fn put(&self, env: &mut Env, row: &[u64]) {
        for (slot, word) in self.var_slots().zip(self.words(row)) {
            env.slots[slot] = self.table.decode(*word, &self.slots[slot].rep);
        }
    }

    /// The variables as values.
    fn fill(&self, env: &mut Env) {
        for slot in self.var_slots() {
            env.slots[slot] = self.table.decode(env.words[slot], &self.slots[slot].rep);
        }
    }

    pub(super) fn visit_initial(
        &self,
        w: &mut Worker,
        valuation: usize,
        visit: &mut Visit<'_, Env>,
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
            if self.offset == 1 {
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
            let words = &row[self.offset..];
            env.words[vars.clone()].copy_from_slice(words);
            Ok(visit(env, row).is_continue())
        })?;
        Ok(if done { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    /// Announced or not ([`System::prefetching_worker`]), their order is kept, also towards faults.
    pub(super) fn visit_successors(
        &self,
        w: &mut Worker,
        source: &[u64],
        visitor: &mut dyn Visitor<Env>,
    ) -> ControlFlow<()> {
        self.load_row(w, source);
        w.waiting.clear();
        w.targets.clear();
        // The target; between events it is the source.
        w.row.clear();
        w.row.extend_from_slice(source);
        for index in 0..self.events.len() {
            match self.fast.get(index).and_then(Option::as_ref) {
                Some(fast) => self.fire_fast(fast, w, source, index, visitor)?,
                None => {
                    let Worker { env, waiting, targets, .. } = w;
                    self.flush(env, waiting, targets, visitor)?;
                    // The slots are whoever's who evaluated last.
                    self.fill(&mut w.env);
                    self.fire(w, source, index, visitor)?;
                }
            }
        }
        let Worker { env, waiting, targets, .. } = w;
        self.flush(env, waiting, targets, visitor)
    }

    /// The transitions of one event; the state is in the environment's words.
    fn fire_fast(
        &self,
        fast: &word::lower::Event,
        w: &mut Worker,
        source: &[u64],
        index: usize,
        visitor: &mut dyn Visitor<Env>,
    ) -> ControlFlow<()> {
        let event = &self.events[index];
        let offset = self.offset;
        let first = self.const_slots();
        let Worker { env, row, seen, mode, waiting, targets, .. } = w;
        if event.may_repeat {
            seen.clear();
        }
        let mut flow = ControlFlow::Continue(());
        let solved = fast.plan.solve(env, &mut |env| {
            if let Some(e) = &env.pending {
                let e = e.clone();
                flow = self.flush(env, waiting, targets, visitor);
                if flow.is_continue() {
                    flow = visitor.fault(index, e);
                }
                return Ok(flow.is_continue());
            }
            let ran = fast.code.run(env, &mut |env| {
                for slot in &event.writes {
                    let slot = *slot as usize;
                    row[offset + slot - first] = env.words[slot];
                }
                if event.may_repeat {
                    let mut key = self.label_at(index, env);
                    key.extend_from_slice(row);
                    if !seen.insert(key) {
                        return Ok(true);
                    }
                }
                if *mode == Mode::Ahead && !event.may_repeat {
                    visitor.prefetch(row);
                    waiting.push(index);
                    targets.extend_from_slice(row);
                    if waiting.len() >= MANY {
                        flow = self.flush(env, waiting, targets, visitor);
                    }
                    return Ok(flow.is_continue());
                }
                flow = self.flush(env, waiting, targets, visitor);
                if flow.is_continue() {
                    if *mode == Mode::Values {
                        self.fill(env);
                        for slot in event.params.iter().chain(&event.results) {
                            let slot = *slot as usize;
                            env.slots[slot] = self.table.decode(env.words[slot], &self.slots[slot].rep);
                        }
                    }
                    flow = visitor.transition(Transition { operation: index, here: env, target: row });
                }
                Ok(flow.is_continue())
            });
            if let Err(e) = ran {
                flow = self.flush(env, waiting, targets, visitor);
                if flow.is_continue() {
                    flow = visitor.fault(index, e);
                }
            }
            Ok(flow.is_continue())
        });
        for slot in &event.writes {
            let at = offset + *slot as usize - first;
            row[at] = source[at];
        }
        if let Err(e) = solved {
            flow = self.flush(env, waiting, targets, visitor);
            if flow.is_continue() {
                flow = visitor.fault(index, e);
            }
        }
        flow
    }

    /// Visits the steps that were announced, each with its target in the environment's words.
    #[inline]
    fn flush(
        &self,
        env: &mut Env,
        waiting: &mut Vec<usize>,
        targets: &mut Vec<u64>,
        visitor: &mut dyn Visitor<Env>,
    ) -> ControlFlow<()> {
        if waiting.is_empty() {
            ControlFlow::Continue(())
        } else {
            self.flush_all(env, waiting, targets, visitor)
        }
    }

    fn flush_all(
        &self,
        env: &mut Env,
        waiting: &mut Vec<usize>,
        targets: &mut Vec<u64>,
        visitor: &mut dyn Visitor<Env>,
    ) -> ControlFlow<()> {
        let width = self.width();
        let offset = self.offset;
        // Another event may be under way: its words are put back.
        let held: SmallVec<[u64; 8]> = SmallVec::from_slice(&env.words[self.var_slots()]);
        let mut flow = ControlFlow::Continue(());
        for (i, event) in waiting.iter().enumerate() {
            let target = &targets[i * width..(i + 1) * width];
            env.words[self.var_slots()].copy_from_slice(&target[offset..]);
            flow = visitor.transition(Transition { operation: *event, here: env, target });
            if flow.is_break() {
                break;
            }
        }
        waiting.clear();
        targets.clear();
        env.words[self.var_slots()].copy_from_slice(&held);
        flow
    }

    /// The same by the general evaluator; the state is in the environment's slots.
    fn fire(
        &self,
        w: &mut Worker,
        source: &[u64],
        index: usize,
        visitor: &mut dyn Visitor<Env>,
    ) -> ControlFlow<()> {
        let event = &self.events[index];
        let offset = self.offset;
        let first = self.const_slots();
        let Worker { env, row, seen, .. } = w;
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
                    env.words[slot] = row[offset + slot - first];
                }
                for slot in event.params.iter().chain(&event.results) {
                    let slot = *slot as usize;
                    env.words[slot] = match &env.slots[slot] {
                        // A result nothing was assigned to.
                        Val::None => u64::MAX,
                        v => self.table.encode(v, &self.slots[slot].rep),
                    };
                }
                let is_new = !event.may_repeat || {
                    let mut key = self.label_at(index, env);
                    key.extend_from_slice(row);
                    seen.insert(key)
                };
                if is_new {
                    flow = visitor.transition(Transition { operation: index, here: env, target: row });
                }
                // Also after a repetition: the next event starts from these words.
                for slot in &event.writes {
                    let slot = *slot as usize;
                    env.words[slot] = source[offset + slot - first];
                }
                Ok(flow.is_continue())
            });
            if let Err(e) = ran {
                // The other parameters have their transitions all the same.
                flow = visitor.fault(index, e);
            }
            Ok(flow.is_continue())
        });
        for slot in &event.writes {
            let at = offset + *slot as usize - first;
            row[at] = source[at];
        }
        if let Err(e) = solved {
            flow = visitor.fault(index, e);
        }
        flow
    }

    /// Event, parameters and results: what makes a transition beside its target. They are in the environment's words.
    pub(super) fn label_at(&self, index: usize, env: &Env) -> Label {
        let event = &self.events[index];
        let slots = event.params.iter().chain(&event.results);
        std::iter::once(index as u64).chain(slots.map(|s| env.words[*s as usize])).collect()
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
        let mut values = match valuation < self.valuations() {
            true => self.valuations.vals(valuation).to_vec(),
            false => vec![Val::None; self.const_slots()],
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
        self.load_row(w, row);
        self.fill(&mut w.env);
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

    /// A label as plain values.
    pub fn labelled(&self, label: &Label) -> Option<Labelled> {
        let (event, words) = label.split_first()?;
        let event = self.events.get(*event as usize)?;
        let value = |(slot, w): (&Slot, &u64)| {
            let rep = &self.slots[*slot as usize].rep;
            // A result nothing was assigned to.
            if *w == u64::MAX { None } else { self.plain(*slot as usize, &self.table.decode(*w, rep)) }
        };
        let (params, results) = words.split_at_checked(event.params.len())?;
        Some(Labelled {
            op: event.op,
            params: event.params.iter().zip(params).map(value).collect(),
            results: event.results.iter().zip(results).map(value).collect(),
        })
    }

    /// The values of the constants of a valuation.
    pub fn constant_values(&self, valuation: usize) -> Vec<Option<Value>> {
        self.constant_vals(valuation).iter().enumerate().map(|(slot, v)| self.plain(slot, v)).collect()
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
