//! A model made executable: constants, initial states, successors with labels, tests.
//!
//! A state is a row of words: the number of its constants' valuation when there are several, then one word a
//! variable. Everything that evaluates needs a [`Worker`], which holds the environment; the [`System`] itself
//! is shared and does not change while it is explored.

use crate::eval::code::Code;
use crate::eval::compile::{Compiler, Event, SlotInfo};
use crate::eval::node::{Env, Slot, Test};
use crate::eval::word;
use crate::eval::word::lower::{Known, Lower};
use crate::eval::word::memo::{Memo, Shared};
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
    /// The test on words.
    fast: Option<word::Pred>,
    /// By event: whether it may write a variable that this reads.
    changed_by: Vec<bool>,
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
    /// The events that the fast tier can run.
    fast: Vec<Option<word::lower::Event>>,
    /// Places of the fast tier that remember, and what all workers remember there.
    sites: Vec<Arc<Shared>>,
    table: Arc<Table>,
    /// Every valuation of the constants, found before exploration starts.
    constants: Vec<Vec<Val>>,
    /// Their words, valuation after valuation; 0 for what is symbolic.
    constant_words: Vec<u64>,
    /// The constants that the fast tier reads from words only, if it can do everything: by slot.
    is_word: Vec<bool>,
}

impl Check {
    fn new(c: &mut Compiler, e: &Expr) -> Check {
        let is_static = !e.any(&|x| matches!(x.kind, ExprKind::Var(_) | ExprKind::Old(_)));
        Check { test: c.closed_test(e), span: e.span, is_static, fast: None, changed_by: Vec::new() }
    }

    /// Whether an event may change its value.
    #[inline]
    pub fn is_changed_by(&self, event: usize) -> bool {
        self.changed_by.get(event).copied().unwrap_or(true)
    }

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
    pub env: Env,
    /// The valuation that is in the environment now.
    valuation: usize,
    row: Vec<u64>,
    seen: HashSet<SmallVec<[u64; 8]>, foldhash::fast::FixedState>,
    /// Nobody asks for parameters, results or variables as values.
    lean: bool,
    /// Steps are announced before they are visited.
    ahead: bool,
    /// Constants are left in their words where that is enough.
    only_words: bool,
    /// Announced, not yet visited: events, and their targets one after the other.
    waiting: Vec<usize>,
    targets: Vec<u64>,
}

impl Worker {
    /// Leaves [`Env::slots`] alone while steps are visited: only the target is of interest, and checks are asked by
    /// [`Check::holds`].
    pub fn lean(mut self) -> Worker {
        self.lean = true;
        self
    }

    /// For [`System::successors`] and [`Check::holds`] only: leaves constants alone that these do not need as values.
    pub fn only_words(mut self) -> Worker {
        self.only_words = true;
        self
    }

    /// Announces steps some time before they are visited, where that is possible.
    pub fn ahead(mut self) -> Worker {
        self.ahead = true;
        self
    }
}

/// A transition, while it is being visited.
pub struct Step<'a> {
    /// Index into [`System::events`].
    pub event: usize,
    pub env: &'a mut Env,
    pub target: &'a [u64],
}

/// What a word of a row can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A number of so many bits.
    Bits(u32),
    /// The name of an interned value.
    Name,
    /// A tagged integer.
    Integer,
}

/// Bits of the numbers below n.
fn bits_of(n: u64) -> u32 {
    64 - n.saturating_sub(1).leading_zeros()
}

/// What hears of the transitions of a state.
pub trait Visitor {
    fn step(&mut self, step: Step) -> ControlFlow<()>;
    /// An event has no value for some parameters.
    fn fault(&mut self, event: usize, fault: Box<Fault>) -> ControlFlow<()>;
    /// A step with this target will be visited soon, if nothing stops the visit: a hint to fetch what is known of it.
    fn announce(&mut self, target: &[u64]) {
        let _ = target;
    }
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
            fast: Vec::new(),
            sites: Vec::new(),
            table: Arc::default(),
            constants: Vec::new(),
            constant_words: Vec::new(),
            is_word: Vec::new(),
        }
    }

    pub fn worker(&self, stop: &Arc<AtomicBool>) -> Worker {
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
            lean: false,
            ..Worker::default()
        }
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

    /// What the words of a row can be.
    pub fn widths(&self) -> Vec<Width> {
        let valuation = self.has_valuation_word().then(|| Width::Bits(bits_of(self.constants.len() as u64)));
        let vars = self.slots[self.var_slots()].iter().map(|slot| match slot.rep.mask_len() {
            Some(n) => Width::Bits(n),
            None if slot.rep.carrier > 0 => Width::Bits(bits_of(slot.rep.carrier)),
            None if slot.rep.is_int() => Width::Integer,
            None => Width::Name,
        });
        valuation.into_iter().chain(vars).collect()
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
        self.lower();
        Setup { valuations: self.constants.len(), fault, truncated: env.truncated }
    }

    /// Makes the fast tier, now that the constants are known.
    fn lower(&mut self) {
        let known: Vec<Known> = (0..self.const_slots())
            .map(|slot| {
                let mut values = self.constants.iter().map(|v| &v[slot]);
                let first = values.next();
                match first {
                    Some(v) if !v.is_lazy() && values.all(|w| w == v) => Known::Fixed(self.table.word(v)),
                    _ if self.constants.iter().any(|v| v[slot].is_lazy()) => Known::Symbolic,
                    _ => Known::Word,
                }
            })
            .collect();
        let vars = self.var_slots();
        let mut l = Lower::new(&self.slots, &self.table, &known, vars.start as Slot..vars.end as Slot);
        self.fast = self.events.iter().map(|e| l.event(e)).collect();
        let checks = self.invariant.iter_mut().chain(&mut self.assertions).chain(&mut self.goal);
        for c in checks {
            c.fast = l.closed(&c.test);
            let reads = l.reads(&c.test);
            c.changed_by = self.events.iter().map(|e| e.writes.iter().any(|s| reads.contains(s))).collect();
        }
        self.sites = (0..l.sites).map(|_| Arc::default()).collect();
        let all = self.constants.iter().flatten();
        self.constant_words = all.map(|v| if v.is_lazy() { 0 } else { self.table.word(v) }).collect();
        let mut checks = self.invariant.iter().chain(&self.assertions).chain(&self.goal);
        let suffices = self.fast.iter().all(Option::is_some) && checks.all(|c| c.fast.is_some());
        self.is_word = known.iter().map(|k| suffices && matches!(k, Known::Word)).collect();
    }

    fn load_constants(&self, w: &mut Worker, valuation: usize) {
        if w.valuation == valuation {
            return;
        }
        let n = self.const_slots();
        w.env.words[..n].copy_from_slice(&self.constant_words[valuation * n..(valuation + 1) * n]);
        for (slot, v) in self.constants[valuation].iter().enumerate() {
            // Shared by all threads: not to be touched for nothing.
            if !(w.only_words && self.is_word[slot]) {
                w.env.slots[slot] = v.clone();
            }
        }
        w.valuation = valuation;
        w.env.valuation = valuation as u64;
    }

    /// Which valuation of the constants a row belongs to.
    pub fn valuation_of(&self, row: &[u64]) -> usize {
        if self.has_valuation_word() { row[0] as usize } else { 0 }
    }

    /// Puts a state into the worker's environment.
    pub fn load(&self, w: &mut Worker, row: &[u64]) {
        self.load_constants(w, self.valuation_of(row));
        let words = self.words(row);
        w.env.words[self.var_slots()].copy_from_slice(words);
        if !w.lean {
            self.fill(&mut w.env);
        }
    }

    /// Puts the variables of a row into the slots of an environment, which a lean worker leaves alone.
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
            let words = &row[usize::from(self.has_valuation_word())..];
            env.words[vars.clone()].copy_from_slice(words);
            Ok(visit(env, row).is_continue())
        })?;
        Ok(if done { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    /// Visits the transitions of a state, each once.
    ///
    /// Announced or not ([`Worker::ahead`]), their order is kept, also towards faults.
    pub fn successors(&self, w: &mut Worker, source: &[u64], visitor: &mut dyn Visitor) -> ControlFlow<()> {
        self.load(w, source);
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
        visitor: &mut dyn Visitor,
    ) -> ControlFlow<()> {
        let event = &self.events[index];
        let offset = usize::from(self.has_valuation_word());
        let first = self.const_slots();
        let Worker { env, row, seen, lean, ahead, waiting, targets, .. } = w;
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
                    let mut key = self.label(index, env);
                    key.extend_from_slice(row);
                    if !seen.insert(key) {
                        return Ok(true);
                    }
                }
                if *lean && *ahead && !event.may_repeat {
                    visitor.announce(row);
                    waiting.push(index);
                    targets.extend_from_slice(row);
                    if waiting.len() >= MANY {
                        flow = self.flush(env, waiting, targets, visitor);
                    }
                    return Ok(flow.is_continue());
                }
                flow = self.flush(env, waiting, targets, visitor);
                if flow.is_continue() {
                    if !*lean {
                        self.fill(env);
                        for slot in event.params.iter().chain(&event.results) {
                            let slot = *slot as usize;
                            env.slots[slot] = self.table.decode(env.words[slot], &self.slots[slot].rep);
                        }
                    }
                    flow = visitor.step(Step { event: index, env, target: row });
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
        visitor: &mut dyn Visitor,
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
        visitor: &mut dyn Visitor,
    ) -> ControlFlow<()> {
        let width = self.width();
        let offset = usize::from(self.has_valuation_word());
        // Another event may be under way: its words are put back.
        let held: SmallVec<[u64; 8]> = SmallVec::from_slice(&env.words[self.var_slots()]);
        let mut flow = ControlFlow::Continue(());
        for (i, event) in waiting.iter().enumerate() {
            let target = &targets[i * width..(i + 1) * width];
            env.words[self.var_slots()].copy_from_slice(&target[offset..]);
            flow = visitor.step(Step { event: *event, env, target });
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
        visitor: &mut dyn Visitor,
    ) -> ControlFlow<()> {
        let event = &self.events[index];
        let offset = usize::from(self.has_valuation_word());
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
                    let mut key = self.label(index, env);
                    key.extend_from_slice(row);
                    seen.insert(key)
                };
                if is_new {
                    flow = visitor.step(Step { event: index, env, target: row });
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
    pub fn label(&self, index: usize, env: &Env) -> SmallVec<[u64; 8]> {
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
