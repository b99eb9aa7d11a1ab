//! A B model made executable.
//!
//! A row has the number of its constants' valuation when there are several, then one word per variable. Everything that
//! evaluates needs a [`Worker`], which holds the environment; the [`Machine`] itself is shared and does not change
//! while it is explored.

use super::constants::{Setup, Valuations};
use super::oracle::BySolver;
use super::{Check, Label, Operation, Role, Stop, System, Transition, Visit, Visitor};
use crate::eval::code::Code;
use crate::eval::compile::{CompiledEvent, Compiler, SlotInfo};
use crate::eval::env::WordEnv;
use crate::eval::node::{Asking, Env, Slot, Test};
use crate::eval::word;
use crate::eval::word::memo::{Memo, Shared};
use crate::model::{Expr, ExprKind, Fact, Model, OpId, reading};
use crate::value::fault::{Fault, Res};
use crate::value::table::Table;
use crate::value::val::{Val, from_value, to_value};
use crate::value::{Scope, Value};
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashSet};
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
    pub events: Vec<CompiledEvent>,
    pub(super) operations: Vec<Operation>,
    /// The conjuncts of the invariant, then the assertions, then the goal.
    pub(super) checks: Vec<Check>,
    /// The same, to evaluate.
    pub(super) compiled: Vec<Compiled>,
    /// The events that the fast tier can run.
    pub(super) fast: Vec<Option<word::lower::WordEvent>>,
    /// Places of the fast tier that remember, and what all workers remember there.
    pub(super) sites: Vec<Arc<Shared>>,
    pub(super) table: Arc<Table>,
    /// How the search for constants ended, or how far it came; before it there is no start.
    pub(super) setup: Option<Setup>,
    pub(super) valuations: Valuations,
    /// Who solves PROPERTIES, once that was decided.
    pub(super) solved: std::sync::OnceLock<super::constants::Solver>,
    /// Whether the plan of PROPERTIES takes many steps, and who solves them then.
    pub(super) is_slow: std::sync::OnceLock<bool>,
    pub(super) slowly: std::sync::OnceLock<super::constants::Solver>,
    /// Who does where the plan has no answer.
    pub(super) rescued: std::sync::OnceLock<super::constants::Solver>,
    /// Valuations that are taken at most, when they are looked for as they come.
    pub(super) most: usize,
    /// Whether a row begins with the number of its valuation: 1 or 0.
    pub(super) offset: usize,
    /// What the fast tier knows of the constants: by slot.
    pub(super) known: Vec<word::lower::Known>,
    /// Whom choices ask that take too long.
    pub(super) oracle: Arc<BySolver>,
}

impl Compiled {
    /// Whether it holds in the state that is in the environment. Once the constants are known there is a test on words: it
    /// reads nothing but constants and variables, and those have words, or are symbolic and kept as values.
    #[inline]
    pub fn holds(&self, env: &mut WordEnv) -> Res<bool> {
        match &self.fast {
            Some(fast) => fast.holds(env),
            None => Err(Fault::limit("the constants were not solved")),
        }
    }
}

/// Steps that are announced before the first of them is visited.
const MANY: usize = 32;

/// Instead of a word: a result nothing was assigned to.
const UNASSIGNED: u64 = u64::MAX;

/// What one thread evaluates with: an environment for each tier.
#[derive(Default)]
pub struct Worker {
    /// The state at hand, for checks, and for operations on words.
    words: WordEnv,
    /// For initialisations, and operations that have no form on words.
    values: Values,
    /// The valuation that is in the words now.
    valuation: usize,
    row: Vec<u64>,
    seen: HashSet<SmallVec<[u64; 8]>, foldhash::fast::FixedState>,
    waiting: Waiting,
}

/// The values of a state, for what the general tier evaluates in it ([`Machine::load_values`]).
#[derive(Debug)]
pub(super) struct Values {
    /// Constants, variables, and places for locals.
    pub(super) env: Env,
    /// The valuation that is in it now.
    valuation: usize,
}

impl Default for Values {
    fn default() -> Values {
        Values { env: Env::default(), valuation: usize::MAX }
    }
}

impl Values {
    /// Whether a test holds. That an enumeration in it was cut short is noticed at what the engines have at hand.
    pub(super) fn holds(&mut self, test: &Test, here: &mut WordEnv) -> Res<bool> {
        let holds = test.holds(&mut self.env);
        here.truncated = here.truncated.or(self.env.truncated.take());
        holds
    }
}

/// Steps that are announced and not yet visited.
#[derive(Default)]
struct Waiting {
    events: Vec<usize>,
    /// One after the other.
    targets: Vec<u64>,
    /// Parameters and results, one after the other, if anybody reads them.
    labels: Vec<u64>,
    has_labels: bool,
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

impl Waiting {
    /// Its parameters and results come next.
    fn push(&mut self, event: usize, target: &[u64]) {
        self.events.push(event);
        self.targets.extend_from_slice(target);
    }

    fn clear(&mut self) {
        self.events.clear();
        self.targets.clear();
        self.labels.clear();
    }
}

impl Machine {
    /// Compiles a model; the constants have yet to be solved ([`Machine::setup`]).
    pub fn new(model: impl Into<Arc<Model>>, scope: impl Into<Arc<Scope>>) -> Machine {
        Machine::asking(model, scope, Asking::default())
    }

    /// The same with a choice when the solver is asked for parameters and the like, which changes no answer.
    pub fn asking(model: impl Into<Arc<Model>>, scope: impl Into<Arc<Scope>>, asking: Asking) -> Machine {
        Machine::built(model, scope, asking, &[])
    }

    /// A machine whose operations get the values of their first parameters from outside ([`Machine::visit_given`]): so
    /// many of each operation of the model, and none of those that are not mentioned.
    pub fn guided(model: impl Into<Arc<Model>>, scope: impl Into<Arc<Scope>>, given: &[usize]) -> Machine {
        Machine::built(model, scope, Asking::default(), given)
    }

    fn built(
        model: impl Into<Arc<Model>>,
        scope: impl Into<Arc<Scope>>,
        asking: Asking,
        given: &[usize],
    ) -> Machine {
        let (model, scope) = (model.into(), scope.into());
        let oracle = Arc::new(BySolver::new(model.clone(), scope.clone()));
        let mut c = Compiler::new(&model, &scope).with_oracle(oracle.clone(), asking);
        let unknown: Vec<Slot> = (0..model.constants.len() as Slot).collect();
        let conjuncts: Vec<&Expr> = model.properties.iter().collect();
        let properties = c.plan(&unknown, &conjuncts);
        let initialisation = c.program(&model.initialisation);
        let mut events = Vec::new();
        for (i, op) in model.operations.iter().enumerate() {
            if op.is_event {
                events.push(c.event_given(OpId(i as u32), given.get(i).copied().unwrap_or(0)));
            }
        }
        let operation = |e: &CompiledEvent| Operation { name: e.name.clone(), may_repeat: e.may_repeat };
        let operations = events.iter().map(operation).collect();
        let invariant = model.invariant.iter().map(|e| (Role::Invariant, e));
        let assertions = model.assertions.iter().map(|e| (Role::Assertion, e));
        let goal = model.goal.iter().map(|e| (Role::Goal, e));
        let (mut checks, mut compiled) = (vec![], vec![]);
        for (role, e) in invariant.chain(assertions).chain(goal) {
            compiled.push(Compiled { test: c.closed_test(e), fast: None });
            let is_static = !e.any(&|x| matches!(x.kind, ExprKind::Var(_) | ExprKind::Old(_)));
            let (span, changed_by, kept_by) = (e.span, vec![], vec![]);
            checks.push(Check { role, name: "".into(), span, is_static, changed_by, kept_by });
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
            is_slow: std::sync::OnceLock::new(),
            slowly: std::sync::OnceLock::new(),
            rescued: std::sync::OnceLock::new(),
            most: usize::MAX,
            offset: 0,
            known: Vec::new(),
            oracle,
        }
    }

    /// Takes the word of the model's file for what events are proved to keep: such a conjunct of the invariant is not
    /// evaluated after such an event ([`Check::kept_by`]). Returns the obligations that this rests on, by their places
    /// in the model's list.
    pub fn rely_on_proofs(&mut self) -> Vec<usize> {
        let mut used = BTreeSet::new();
        let conjuncts = self.checks.iter_mut().filter(|c| c.role == Role::Invariant);
        for (check, e) in conjuncts.zip(&self.model.invariant) {
            let is_total = reading::is_total(e);
            let fact = |event: &CompiledEvent| {
                let mut facts = self.model.kept.iter().filter(|k| is_total || !k.needs_total);
                facts.find(|k| k.event == event.name && k.invariant.contains(e.span))
            };
            let facts: Vec<Option<&Fact>> = self.events.iter().map(fact).collect();
            check.kept_by = facts.iter().map(Option::is_some).collect();
            used.extend(facts.into_iter().flatten().flat_map(|k| k.by.iter().copied()));
        }
        used.into_iter().collect()
    }

    pub(super) fn new_worker(&self, stop: &Stop) -> Worker {
        let memos = self.sites.iter().map(Memo::new).collect();
        Worker {
            words: WordEnv::new(self.slots.len(), self.table.clone(), memos, Some(stop.clone())),
            values: self.new_values(self.slots.len(), stop),
            valuation: usize::MAX,
            ..Worker::default()
        }
    }

    /// An environment for values, with places for so many slots.
    pub(super) fn new_values(&self, slots: usize, stop: &Stop) -> Values {
        Values { env: Env { stop: Some(stop.clone()), ..Env::new(slots) }, valuation: usize::MAX }
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

    #[inline]
    fn load_constants(&self, w: &mut Worker, valuation: usize) {
        if w.valuation != valuation {
            self.load_other_constants(w, valuation);
        }
    }

    fn load_other_constants(&self, w: &mut Worker, valuation: usize) {
        self.put_constants(&mut w.words, valuation);
        w.valuation = valuation;
    }

    pub(super) fn put_constants(&self, words: &mut WordEnv, valuation: usize) {
        let n = self.const_slots();
        words.words[..n].copy_from_slice(self.valuations.words(valuation));
        for (slot, v) in self.valuations.vals(valuation).iter().enumerate() {
            // Shared by all threads: not to be touched for nothing.
            if !matches!(self.known[slot], word::lower::Known::Word) {
                words.keep(slot, v);
            }
        }
        words.valuation = valuation as u64;
    }

    /// Puts the values of a state's constants into an environment, unless they are there.
    fn load_constant_values(&self, values: &mut Values, valuation: usize) {
        if values.valuation != valuation {
            values.env.slots[..self.const_slots()].clone_from_slice(self.valuations.vals(valuation));
            values.valuation = valuation;
        }
    }

    #[inline]
    pub(super) fn load_row<'w>(&self, w: &'w mut Worker, row: &[u64]) -> &'w mut WordEnv {
        self.load_constants(w, self.start_of(row));
        w.words.words[self.var_slots()].copy_from_slice(self.words(row));
        &mut w.words
    }

    /// Puts the values of constants and variables into an environment.
    pub(super) fn load_values(&self, values: &mut Values, row: &[u64]) {
        self.load_constant_values(values, self.start_of(row));
        for (slot, word) in self.var_slots().zip(self.words(row)) {
            values.env.slots[slot] = self.table.decode(*word, &self.slots[slot].rep);
        }
    }

    /// The same for the transition at hand: its target, and its parameters and results.
    pub(super) fn load_step(&self, values: &mut Values, event: usize, here: &WordEnv) {
        self.load_constant_values(values, here.valuation as usize);
        // On words a result is always assigned.
        let results: &[Slot] = if self.fast[event].is_none() { &self.events[event].results } else { &[] };
        let is_open = |slot: usize| here.words[slot] == UNASSIGNED && results.contains(&(slot as Slot));
        for slot in self.var_slots().chain(self.label_slots(event)) {
            values.env.slots[slot] = match is_open(slot) {
                true => Val::None,
                false => self.table.decode(here.words[slot], &self.slots[slot].rep),
            };
        }
    }

    /// The parameters of the transition at hand.
    pub fn parameters(&self, event: usize, here: &WordEnv) -> impl Iterator<Item = u64> {
        self.events[event].params.iter().map(|slot| here.words[*slot as usize])
    }

    /// Where an enumeration was cut short, on whichever tier.
    pub(super) fn cut_in(w: &mut Worker) -> Option<crate::lang::diag::Span> {
        let (words, values) = (w.words.truncated.take(), w.values.env.truncated.take());
        words.or(values)
    }

    /// The flag that ends what a worker does.
    pub(super) fn stop_of(w: &Worker) -> Stop {
        w.values.env.stop.clone().unwrap_or_default()
    }

    pub(super) fn visit_initial(
        &self,
        w: &mut Worker,
        valuation: usize,
        visit: &mut Visit<'_, WordEnv>,
    ) -> Res<ControlFlow<()>> {
        self.load_constants(w, valuation);
        self.load_constant_values(&mut w.values, valuation);
        let vars = self.var_slots();
        let Worker { words, values, row, seen, .. } = w;
        values.env.slots[vars.clone()].fill(Val::None);
        seen.clear();
        let done = self.initialisation.run(&mut values.env, &mut |env| {
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
            words.words[vars.clone()].copy_from_slice(&row[self.offset..]);
            Ok(visit(words, row).is_continue())
        })?;
        Ok(if done { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    /// Announced or not ([`System::successors_ahead`]), their order is kept, also towards faults.
    pub(super) fn visit_successors<const AHEAD: bool>(
        &self,
        w: &mut Worker,
        source: &[u64],
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        self.visit_range::<AHEAD>(w, source, 0..self.events.len(), visitor)
    }

    /// The transitions of some of the events only, by their places in [`Machine::events`]. For one who asks for labels the
    /// worker is one of [`System::worker`].
    pub fn visit_events(
        &self,
        w: &mut Worker,
        source: &[u64],
        events: std::ops::Range<usize>,
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        self.visit_range::<false>(w, source, events, visitor)
    }

    /// The transitions of one event with the words of its given parameters ([`Machine::guided`]).
    pub fn visit_given(
        &self,
        w: &mut Worker,
        source: &[u64],
        event: usize,
        given: &[u64],
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        for (slot, word) in self.events[event].params.iter().zip(given) {
            let slot = *slot as usize;
            w.words.words[slot] = *word;
            w.values.env.slots[slot] = self.table.decode(*word, &self.slots[slot].rep);
        }
        self.visit_range::<false>(w, source, event..event + 1, visitor)
    }

    /// The results of the transition at hand; none where nothing was assigned to one.
    pub fn results<'h>(&'h self, event: usize, here: &'h WordEnv) -> impl Iterator<Item = Option<u64>> + 'h {
        // On words a result is always assigned.
        let may_lack = self.fast[event].is_none();
        let word = |slot: &Slot| here.words[*slot as usize];
        self.events[event]
            .results
            .iter()
            .map(move |s| Some(word(s)).filter(|w| !may_lack || *w != UNASSIGNED))
    }

    /// The state at hand of a worker goes into an environment, and back.
    pub(crate) fn exchange(&self, w: &mut Worker, words: &mut WordEnv) {
        std::mem::swap(&mut w.words, words);
    }

    /// The word of a plain value for a parameter or result, by its place among both; none if it has none: it is not of
    /// the type, or outside of a set's size.
    pub fn word_of(&self, event: usize, place: usize, value: &Value) -> Option<u64> {
        let event = &self.events[event];
        let slot = event.params.iter().chain(&event.results).nth(place)?;
        let rep = &self.slots[*slot as usize].rep;
        Some(self.table.encode(&from_value(value, rep)?, rep))
    }

    fn visit_range<const AHEAD: bool>(
        &self,
        w: &mut Worker,
        source: &[u64],
        events: std::ops::Range<usize>,
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        self.load_row(w, source);
        w.waiting.clear();
        w.waiting.has_labels = AHEAD && visitor.reads_labels();
        // The target; between events it is the source.
        w.row.clear();
        w.row.extend_from_slice(source);
        for index in events {
            match self.fast.get(index).and_then(Option::as_ref) {
                Some(fast) => self.fire_fast::<AHEAD>(fast, w, source, index, visitor)?,
                None => {
                    self.flush::<AHEAD>(&mut w.words, &mut w.waiting, visitor)?;
                    self.load_values(&mut w.values, source);
                    self.fire(w, source, index, visitor)?;
                }
            }
        }
        self.flush::<AHEAD>(&mut w.words, &mut w.waiting, visitor)
    }

    /// The transitions of one event on words.
    fn fire_fast<const AHEAD: bool>(
        &self,
        fast: &word::lower::WordEvent,
        w: &mut Worker,
        source: &[u64],
        index: usize,
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        let event = &self.events[index];
        let offset = self.offset;
        let first = self.const_slots();
        let Worker { words, row, seen, waiting, .. } = w;
        if event.may_repeat {
            seen.clear();
        }
        let mut flow = ControlFlow::Continue(());
        let solved = fast.plan.solve(words, &mut |env| {
            if let Some(e) = &env.pending {
                let e = e.clone();
                flow = self.flush::<AHEAD>(env, waiting, visitor);
                if flow.is_continue() {
                    flow = visitor.fault(index, e);
                }
                return Ok(flow.is_continue());
            }
            let assigned = match &fast.code {
                Code::Assign(items) => Some(&items[..]),
                Code::Skip => Some(&[][..]),
                _ => None,
            };
            if !AHEAD
                && !event.may_repeat
                && let Some(items) = assigned
            {
                // Most operations are this: nothing is left to choose, and nothing is written before all is computed.
                flow = match items {
                    [] => self.assign([], env, (index, &mut row[..]), visitor),
                    [one] => self.assign([one], env, (index, &mut row[..]), visitor),
                    [one, two] => self.assign([one, two], env, (index, &mut row[..]), visitor),
                    [one, two, three] => self.assign([one, two, three], env, (index, &mut row[..]), visitor),
                    _ => {
                        let all: SmallVec<[&(Slot, word::Word); 8]> = items.iter().collect();
                        self.assign(all, env, (index, &mut row[..]), visitor)
                    }
                };
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
                if AHEAD && !event.may_repeat {
                    visitor.prefetch(row);
                    waiting.push(index, row);
                    if waiting.has_labels {
                        let slots = event.params.iter().chain(&event.results);
                        waiting.labels.extend(slots.map(|slot| env.words[*slot as usize]));
                    }
                    if waiting.events.len() >= MANY {
                        flow = self.flush::<AHEAD>(env, waiting, visitor);
                    }
                    return Ok(flow.is_continue());
                }
                flow = self.flush::<AHEAD>(env, waiting, visitor);
                if flow.is_continue() {
                    flow = visitor.transition(Transition { operation: index, here: env, target: row });
                }
                Ok(flow.is_continue())
            });
            if let Err(e) = ran {
                flow = self.flush::<AHEAD>(env, waiting, visitor);
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
            flow = self.flush::<AHEAD>(words, waiting, visitor);
            if flow.is_continue() {
                flow = visitor.fault(index, e);
            }
        }
        flow
    }

    /// The transition of an operation that only assigns.
    #[inline(always)]
    fn assign<'i>(
        &self,
        items: impl AsRef<[&'i (Slot, word::Word)]>,
        env: &mut WordEnv,
        (operation, row): (usize, &mut [u64]),
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        let items = items.as_ref();
        let mut few = [0; 3];
        let mut many;
        let values = match items.len() {
            0..=3 => &mut few[..items.len()],
            n => {
                many = vec![0; n];
                &mut many[..]
            }
        };
        for (i, item) in items.iter().enumerate() {
            match item.1.get(env) {
                Ok(w) => values[i] = w,
                Err(e) => return visitor.fault(operation, e),
            }
        }
        let (offset, first) = (self.offset, self.const_slots());
        for (i, item) in items.iter().enumerate() {
            let slot = item.0 as usize;
            std::mem::swap(&mut env.words[slot], &mut values[i]);
            // A result comes after the variables, and is in no row.
            if let Some(word) = row.get_mut(offset + slot - first) {
                *word = env.words[slot];
            }
        }
        let flow = visitor.transition(Transition { operation, here: env, target: row });
        for (i, item) in items.iter().enumerate() {
            env.words[item.0 as usize] = values[i];
        }
        flow
    }

    /// Visits the steps that were announced, each with its target, parameters and results in the environment.
    #[inline]
    fn flush<const AHEAD: bool>(
        &self,
        env: &mut WordEnv,
        waiting: &mut Waiting,
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        if !AHEAD || waiting.events.is_empty() {
            ControlFlow::Continue(())
        } else {
            self.flush_all(env, waiting, visitor)
        }
    }

    fn flush_all(
        &self,
        env: &mut WordEnv,
        waiting: &mut Waiting,
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        let offset = self.offset;
        // Another step may be under way: its words are put back. Parameters of other events are nobody's by now; those of
        // the last one that waits may be its own.
        let held: SmallVec<[u64; 8]> = SmallVec::from_slice(&env.words[self.var_slots()]);
        let last = waiting.events.last().filter(|_| waiting.has_labels).map(|event| &self.events[*event]);
        let last = last.into_iter().flat_map(|e| e.params.iter().chain(&e.results));
        let held_labels: SmallVec<[(Slot, u64); 8]> = last.map(|s| (*s, env.words[*s as usize])).collect();
        let mut at = 0;
        let mut flow = ControlFlow::Continue(());
        for (i, event) in waiting.events.iter().enumerate() {
            let target = &waiting.targets[i * self.width()..(i + 1) * self.width()];
            if waiting.has_labels {
                for slot in self.label_slots(*event) {
                    env.words[slot] = waiting.labels[at];
                    at += 1;
                }
            }
            env.words[self.var_slots()].copy_from_slice(&target[offset..]);
            flow = visitor.transition(Transition { operation: *event, here: env, target });
            if flow.is_break() {
                break;
            }
        }
        waiting.clear();
        env.words[self.var_slots()].copy_from_slice(&held);
        for (slot, word) in held_labels {
            env.words[slot as usize] = word;
        }
        flow
    }

    /// The same by the general evaluator; the state is in both environments.
    fn fire(
        &self,
        w: &mut Worker,
        source: &[u64],
        index: usize,
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        let event = &self.events[index];
        let offset = self.offset;
        let first = self.const_slots();
        let Worker { words, values, row, seen, .. } = w;
        if event.may_repeat {
            seen.clear();
        }
        let mut flow = ControlFlow::Continue(());
        let solved = event.plan.solve(&mut values.env, &mut |env| {
            if let Some(e) = &env.pending {
                flow = visitor.fault(index, e.clone());
                return Ok(flow.is_continue());
            }
            let ran = event.code.run(env, &mut |env| {
                for slot in &event.writes {
                    let slot = *slot as usize;
                    row[offset + slot - first] = self.table.encode(&env.slots[slot], &self.slots[slot].rep);
                    words.words[slot] = row[offset + slot - first];
                }
                for slot in self.label_slots(index) {
                    words.words[slot] = match &env.slots[slot] {
                        Val::None => UNASSIGNED,
                        v => self.table.encode(v, &self.slots[slot].rep),
                    };
                }
                let is_new = !event.may_repeat || {
                    let mut key = self.label_at(index, words);
                    key.extend_from_slice(row);
                    seen.insert(key)
                };
                if is_new {
                    flow = visitor.transition(Transition { operation: index, here: words, target: row });
                }
                // Also after a repetition: the next event starts from these words.
                for slot in &event.writes {
                    let slot = *slot as usize;
                    words.words[slot] = source[offset + slot - first];
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

    /// Where the parameters and results of an event are.
    #[inline]
    fn label_slots(&self, index: usize) -> impl Iterator<Item = usize> {
        let event = &self.events[index];
        event.params.iter().chain(&event.results).map(|slot| *slot as usize)
    }

    /// Event, parameters and results: what makes a transition beside its target. They are in the environment's words.
    pub(super) fn label_at(&self, index: usize, env: &WordEnv) -> Label {
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
    pub fn faulty_parameters(&self, row: &[u64], event: usize, fault: &Fault) -> Vec<Val> {
        let mut values = self.new_values(self.slots.len(), &Stop::default());
        self.load_values(&mut values, row);
        let mut env = values.env;
        let event = &self.events[event];
        let params = |env: &Env| -> Vec<Val> {
            event.params.iter().map(|slot| env.slots[*slot as usize].clone()).collect()
        };
        let mut found = None;
        let solved = event.plan.solve(&mut env, &mut |env| {
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
            Err(_) if found.is_none() => params(&env),
            _ => found.unwrap_or_default(),
        }
    }

    /// A label as plain values.
    pub fn labelled(&self, label: &Label) -> Option<Labelled> {
        let (event, words) = label.split_first()?;
        let event = self.events.get(*event as usize)?;
        let value = |(slot, w): (&Slot, &u64)| {
            let rep = &self.slots[*slot as usize].rep;
            if *w == UNASSIGNED { None } else { self.plain(*slot as usize, &self.table.decode(*w, rep)) }
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
