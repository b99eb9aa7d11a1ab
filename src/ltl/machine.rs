//! A B machine as a structure: rows become numbers when they are met, propositions are evaluated once a state and once
//! a step, by the evaluator that everything else uses.
//!
//! Under symmetry reduction a state stands for its orbit (Proposition 1): what is stored is the key. Propositions of
//! steps, and whether a step stays where it is, are taken from the concrete edge before its target is replaced.
//!
//! Whatever has no value or no complete answer (a limit, an integer without bounds, a well-definedness error) leaves the
//! state open, and is remembered as the reason for an Unknown.

use super::atoms::{Bound, From, StateAtom};
use super::lasso::{Lasso, Taken};
use super::structure::{Edge, Expansion, Known, StateId, Structure};
use crate::eval::compile::Compiler;
use crate::eval::node::{Env, Slot, Test};
use crate::explore::Store;
use crate::explore::store::{Arriving, Layout, ROOT, Row};
use crate::lang::diag::Span;
use crate::symmetry::Reducer;
use crate::system::{self, System, Visitor, Worker};
use crate::trace::{self, Trace, rebuild};
use crate::value::fault::Fault;
use crate::value::val::{Val, force};
use kanon_refinement::kernel::{Insertion, Rrac};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why a state stays open.
#[derive(Clone, Debug, PartialEq)]
pub enum Open {
    MaxStates(usize),
    /// An integer without bounds was enumerated from MININT to MAXINT only.
    Truncated(Span),
    /// Something has no value, or we cannot compute it.
    Fault(Box<Fault>),
}

/// A path of states: rows, steps between them, and where the last step leads if the path has no end.
pub struct Unfolded {
    pub rows: Vec<Vec<u64>>,
    pub steps: Vec<Taken>,
    pub back: Option<usize>,
}

/// States on an unfolded path at most.
const MAX_UNFOLDED: usize = 5_000_000;

enum StateTest {
    Predicate(Test, Span),
    Current,
}

struct StepTest {
    test: Option<(Test, Span)>,
    /// Parameters and results that the test reads, and where it reads them.
    copies: Vec<(From, Slot)>,
}

/// All that is known of the states, apart from what evaluates.
struct Space<'a, 's, 'm> {
    system: &'s System<'m>,
    /// The worker does not put states into its slots.
    lean: bool,
    reducer: Option<Reducer<'a, 's, 'm>>,
    store: Store,
    /// The propositions of each state.
    props: Vec<u64>,
    /// States in which a proposition has no value.
    faulty: HashSet<StateId>,
    states: Vec<StateTest>,
    steps: Vec<StepTest>,
    /// The propositions that an event may fulfil.
    by_event: Vec<Vec<usize>>,
    instances: Option<HashMap<(usize, Vec<Val>), u32>>,
    current: Option<Vec<u64>>,
    open: Option<Open>,
}

pub struct Machine<'a, 's, 'm> {
    worker: Worker,
    space: Space<'a, 's, 'm>,
    /// Variables whose value before a step is asked for: from where, to where.
    old: Vec<(Slot, Slot)>,
    max_states: usize,
    /// The propositions of steps that tell edges apart.
    asked: u64,
    slots: usize,
    stop: Arc<AtomicBool>,
    row: Vec<u64>,
}

impl<'a, 's, 'm> Machine<'a, 's, 'm> {
    /// `current` is the row of the state that the atom of this name means. Whether a reducer goes with the property is
    /// for [`super::reduce`] to say.
    pub fn new(
        system: &'s System<'m>,
        bound: &Bound,
        reducer: Option<Reducer<'a, 's, 'm>>,
        max_states: Option<usize>,
        current: Option<Vec<u64>>,
        stop: &Arc<AtomicBool>,
    ) -> Machine<'a, 's, 'm> {
        let mut compiler = Compiler::new(system.model, system.scope);
        // The slots of the system come first, so that one environment serves both.
        compiler.slots.clone_from(&system.slots);
        let states = bound.states.iter().map(|atom| match atom {
            StateAtom::Predicate(e) => StateTest::Predicate(compiler.closed_test(e), e.span),
            StateAtom::Current(_) => StateTest::Current,
        });
        let states = states.collect();
        let mut old: Vec<(Slot, Slot)> = vec![];
        let mut steps = vec![];
        for atom in &bound.steps {
            let test = atom.test.as_ref().map(|e| (compiler.closed_test(e), e.span));
            let mut copies = vec![];
            for (local, from) in &atom.locals {
                let to = compiler.local_slot(*local);
                match from {
                    From::Old(v) => old.push((compiler.var_slot(*v), to)),
                    From::Parameter(_) | From::Result(_) => copies.push((*from, to)),
                }
            }
            steps.push(StepTest { test, copies });
        }
        let fits = |e: &crate::eval::compile::Event| {
            let atoms = bound.steps.iter().enumerate();
            atoms.filter(|(_, a)| a.operation.is_none_or(|op| op == e.op)).map(|(i, _)| i).collect()
        };
        let by_event = system.events.iter().map(fits).collect();
        let instances = bound.property.premise.as_ref().is_some_and(|p| p.is_of_instances());
        let slots = compiler.slots.len();
        // Where no step is looked into, values are needed of new states only.
        let lean = !instances && bound.steps.iter().all(|s| s.test.is_none());
        let mut worker = Self::worker(system, slots, stop);
        if lean {
            worker = worker.lean().ahead();
        }
        let space = Space {
            system,
            lean,
            reducer,
            store: Store::new(Layout::new(&system.widths())),
            props: vec![],
            faulty: HashSet::new(),
            states,
            steps,
            by_event,
            instances: instances.then(HashMap::new),
            current,
            open: None,
        };
        let asked = bound.property.steps();
        let max_states = max_states.unwrap_or(usize::MAX);
        Machine { worker, space, old, max_states, asked, slots, stop: stop.clone(), row: vec![] }
    }

    fn worker(system: &System, slots: usize, stop: &Arc<AtomicBool>) -> Worker {
        let mut worker = system.worker(stop);
        worker.env.slots.resize(slots, Val::None);
        worker
    }

    /// The propositions of steps that the property asks of the step that is taken.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// The first reason for which a state stayed open.
    pub fn open(&self) -> Option<&Open> {
        self.space.open.as_ref()
    }

    pub fn row(&self, s: StateId) -> Row {
        self.space.store.row(s)
    }

    pub fn states(&self) -> usize {
        self.space.store.len()
    }

    /// Of the store of states.
    pub fn bytes(&self) -> usize {
        self.space.store.bytes() + self.space.props.capacity() * 8
    }

    /// A state by its row.
    pub fn state(&mut self, row: &[u64]) -> StateId {
        self.space.system.load(&mut self.worker, row);
        self.space.arrive(&mut self.worker.env, row, ROOT)
    }

    /// The first state, breadth first, that fulfils the first proposition; the number of a state is its place in this
    /// order. `None` if there is none.
    pub fn first(&mut self, wanted: impl Fn(usize, bool) -> bool) -> Option<Vec<u64>> {
        let mut out = vec![];
        self.initial(&mut out);
        let mut buffer = Expansion::default();
        let mut at = 0;
        while at < self.states() {
            if wanted(at, self.space.props[at] & 1 == 1) {
                return Some(self.row(at as StateId).to_vec());
            }
            buffer.clear();
            self.expand(at as StateId, &mut buffer);
            if self.worker.env.go_on().is_err() {
                return None;
            }
            at += 1;
        }
        None
    }

    /// Looks for the transitions of a path. The last state of a loop is followed by the first once more.
    pub fn trace(&mut self, lasso: &Lasso, from_initial: bool) -> Result<Trace, String> {
        let system = self.space.system;
        let first = self.row(lasso.states[0]).to_vec();
        let constants = system.constant_values(system.valuation_of(&first));
        let state = system.variable_values(&first);
        if from_initial && !self.is_initial(&first)? {
            return Err("the path does not start in an initial state".to_string());
        }
        // A trace has values.
        self.worker = Self::worker(system, self.slots, &self.stop);
        self.space.lean = false;
        let mut steps = vec![trace::Step { op: None, params: vec![], results: vec![], state }];
        for (i, taken) in lasso.steps.iter().enumerate() {
            let row = self.row(lasso.states[i]).to_vec();
            let target = self.row(lasso.after(i)).to_vec();
            self.prepare(&row);
            let mut find = Find {
                space: &mut self.space,
                asked: self.asked,
                target: &target,
                taken: *taken,
                found: None,
            };
            let _ = system.successors(&mut self.worker, &row, &mut find);
            steps.push(find.found.ok_or_else(|| format!("step {} of the path was not found again", i + 1))?);
        }
        Ok(Trace { constants, steps })
    }

    /// A path of rows as one of this machine's states, when it does not reduce.
    pub fn lasso(&mut self, path: &Unfolded) -> Lasso {
        let states = path.rows.iter().map(|row| self.state(row)).collect();
        Lasso { states, steps: path.steps.clone(), back: path.back }
    }

    /// A path of representatives as a path of states: each step is followed by one of the same kind to a state of the
    /// same orbit, and the loop is repeated until it meets a state in which it began before. Rows, steps and the
    /// place to which the last step leads.
    pub fn unfold(&mut self, lasso: &Lasso, start: Option<&[u64]>) -> Result<Unfolded, String> {
        let first = match start {
            Some(row) => row.to_vec(),
            None => self.initial_in_orbit(lasso.states[0])?,
        };
        let mut path = Unfolded { rows: vec![first], steps: vec![], back: None };
        let n = lasso.states.len();
        // Where the loop began, by state.
        let mut begun: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut at = 0;
        while at < lasso.steps.len() {
            let here = path.rows.len() - 1;
            if lasso.back == Some(at) {
                begun.insert(path.rows[here].clone(), here);
            }
            let closes = lasso.back.is_some() && at + 1 == n;
            let wanted = self.row(lasso.after(at)).to_vec();
            let target =
                self.follow(&path.rows[here].clone(), &wanted, lasso.steps[at], closes.then_some(&begun))?;
            path.steps.push(lasso.steps[at]);
            if closes && let Some(place) = begun.get(&target) {
                path.back = Some(*place);
                return Ok(path);
            }
            if path.rows.len() >= MAX_UNFOLDED {
                return Err(format!("unfolded to states, its loop is longer than {MAX_UNFOLDED} steps"));
            }
            path.rows.push(target);
            at = if closes { lasso.back.unwrap_or(0) } else { at + 1 };
        }
        Ok(path)
    }

    /// The first initial state of an orbit.
    fn initial_in_orbit(&mut self, s: StateId) -> Result<Vec<u64>, String> {
        let system = self.space.system;
        let key = self.row(s).to_vec();
        let mut found = None;
        for v in 0..system.valuations() {
            let space = &mut self.space;
            let _ = system.initial(&mut self.worker, v, &mut |_, row| {
                if space.key(row) != key {
                    return ControlFlow::Continue(());
                }
                found = Some(row.to_vec());
                ControlFlow::Break(())
            });
            if let Some(row) = found {
                return Ok(row);
            }
        }
        Err("no initial state is symmetric to the first state of the path".to_string())
    }

    /// A successor in the orbit of a key, by a step of this kind; one of those preferred if there is one.
    fn follow(
        &mut self,
        row: &[u64],
        key: &[u64],
        taken: Taken,
        preferred: Option<&HashMap<Vec<u64>, usize>>,
    ) -> Result<Vec<u64>, String> {
        self.prepare(row);
        let asked = self.asked;
        let system = self.space.system;
        let mut follow = Follow { space: &mut self.space, asked, key, taken, preferred, found: None };
        let _ = system.successors(&mut self.worker, row, &mut follow);
        follow.found.ok_or_else(|| {
            "a step of a representative has no counterpart at a state of its orbit".to_string()
        })
    }

    fn is_initial(&mut self, row: &[u64]) -> Result<bool, String> {
        let system = self.space.system;
        let mut found = false;
        let run = system.initial(&mut self.worker, system.valuation_of(row), &mut |_, target| {
            found = target == row;
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match run {
            _ if found => Ok(true),
            Ok(_) => Ok(false),
            Err(f) => Err(format!("the initial state was not found again: {f:?}")),
        }
    }

    /// Puts the values before a step where propositions of steps look for them.
    fn prepare(&mut self, row: &[u64]) {
        if !self.old.is_empty() {
            self.space.system.load(&mut self.worker, row);
            for (from, to) in &self.old {
                self.worker.env.slots[*to as usize] = self.worker.env.slots[*from as usize].clone();
            }
        }
    }
}

impl Structure for Machine<'_, '_, '_> {
    fn initial(&mut self, out: &mut Vec<StateId>) -> Known {
        let system = self.space.system;
        let mut known = Known::All;
        for v in 0..system.valuations() {
            self.worker.env.truncated = None;
            let space = &mut self.space;
            let run = system.initial(&mut self.worker, v, &mut |env, row| {
                out.push(space.arrive(env, row, ROOT));
                ControlFlow::Continue(())
            });
            if let Err(fault) = run {
                self.space.stays_open(Open::Fault(fault));
                known = Known::Part;
            }
            if let Some(span) = self.worker.env.truncated {
                self.space.stays_open(Open::Truncated(span));
                known = Known::Part;
            }
        }
        known
    }

    fn expand(&mut self, s: StateId, out: &mut Expansion) -> Known {
        if s as usize >= self.max_states {
            self.space.stays_open(Open::MaxStates(self.max_states));
            return Known::Nothing;
        }
        if self.space.faulty.contains(&s) {
            return Known::Nothing;
        }
        let mut row = std::mem::take(&mut self.row);
        self.space.store.read(s, &mut row);
        self.prepare(&row);
        self.worker.env.truncated = None;
        out.props = self.space.props[s as usize];
        out.unsure = 0;
        let mut expand = Expand { space: &mut self.space, source: s, row: &row, out, known: Known::All };
        let _ = expand.space.system.successors(&mut self.worker, &row, &mut expand);
        let mut known = expand.known;
        if let Some(span) = self.worker.env.truncated {
            self.space.stays_open(Open::Truncated(span));
            (out.unsure, known) = (u64::MAX, Known::Part);
        }
        self.row = row;
        known
    }
}

impl Space<'_, '_, '_> {
    fn stays_open(&mut self, why: Open) {
        self.open.get_or_insert(why);
    }

    /// The number of a row, which is in the environment.
    #[inline]
    fn arrive(&mut self, env: &mut Env, row: &[u64], parent: StateId) -> StateId {
        let key = match &mut self.reducer {
            Some(reducer) => reducer.key(row),
            None => row,
        };
        match self.store.insert_if_absent(Arriving { row: key, parent }) {
            Insertion::Present(id) => id,
            Insertion::Inserted(id) => {
                let mut props = 0;
                if self.lean && !self.states.is_empty() {
                    self.system.put(env, row);
                }
                for (i, test) in self.states.iter().enumerate() {
                    let value = match test {
                        StateTest::Predicate(test, span) => test.holds(env).map_err(|f| f.at(*span)),
                        StateTest::Current => Ok(self.current.as_deref() == Some(row)),
                    };
                    match value {
                        Ok(value) => props |= u64::from(value) << i,
                        Err(fault) => {
                            self.open.get_or_insert(Open::Fault(fault));
                            self.faulty.insert(id);
                        }
                    }
                }
                self.props.push(props);
                id
            }
        }
    }

    /// What stands for a row in the store.
    fn key(&mut self, row: &[u64]) -> Vec<u64> {
        match &mut self.reducer {
            Some(reducer) => reducer.key(row).to_vec(),
            None => row.to_vec(),
        }
    }

    /// What holds of a step.
    fn step(&mut self, env: &mut Env, event: usize) -> Result<Taken, Box<Fault>> {
        let mut props = 0;
        let slots = &self.system.events[event];
        for i in &self.by_event[event] {
            let value = match &self.steps[*i].test {
                None => true,
                Some((test, span)) => {
                    for (from, to) in &self.steps[*i].copies {
                        let from = match from {
                            From::Parameter(p) => slots.params[*p],
                            From::Result(r) => slots.results[*r],
                            From::Old(_) => continue,
                        };
                        env.slots[*to as usize] = env.slots[from as usize].clone();
                    }
                    test.holds(env).map_err(|f| f.at(*span))?
                }
            };
            props |= u64::from(value) << i;
        }
        let mut instance = 0;
        if let Some(known) = &mut self.instances {
            let mut key = Vec::with_capacity(slots.params.len());
            for p in &slots.params {
                key.push(force(env.slots[*p as usize].clone(), &self.system.slots[*p as usize].rep)?);
            }
            let next = known.len() as u32;
            instance = *known.entry((event, key)).or_insert(next);
        }
        Ok(Taken { props, instance })
    }
}

struct Expand<'x, 'a, 's, 'm> {
    space: &'x mut Space<'a, 's, 'm>,
    source: StateId,
    row: &'x [u64],
    out: &'x mut Expansion,
    known: Known,
}

impl Visitor for Expand<'_, '_, '_, '_> {
    #[inline]
    fn step(&mut self, step: system::Step) -> ControlFlow<()> {
        let Taken { props, instance } = match self.space.step(step.env, step.event) {
            Ok(taken) => taken,
            Err(fault) => return self.fault(step.event, fault),
        };
        let target = self.space.arrive(step.env, step.target, self.source);
        self.out.edges.push(Edge { target, props, instance, stays: step.target == self.row });
        ControlFlow::Continue(())
    }

    #[inline]
    fn announce(&mut self, target: &[u64]) {
        if self.space.reducer.is_none() {
            self.space.store.announce(target);
        }
    }

    fn fault(&mut self, event: usize, fault: Box<Fault>) -> ControlFlow<()> {
        self.space.stays_open(Open::Fault(fault));
        self.known = Known::Part;
        self.out.unsure |= self.space.by_event[event].iter().fold(0, |all, i| all | 1 << i);
        ControlFlow::Continue(())
    }
}

struct Find<'x, 'a, 's, 'm> {
    space: &'x mut Space<'a, 's, 'm>,
    asked: u64,
    target: &'x [u64],
    taken: Taken,
    found: Option<trace::Step>,
}

impl Visitor for Find<'_, '_, '_, '_> {
    fn step(&mut self, step: system::Step) -> ControlFlow<()> {
        if step.target != self.target {
            return ControlFlow::Continue(());
        }
        match self.space.step(step.env, step.event) {
            Ok(t) if t.props & self.asked == self.taken.props && t.instance == self.taken.instance => {}
            _ => return ControlFlow::Continue(()),
        }
        self.found = Some(rebuild::step(self.space.system, step.event, step.env, step.target));
        ControlFlow::Break(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

struct Follow<'x, 'a, 's, 'm> {
    space: &'x mut Space<'a, 's, 'm>,
    asked: u64,
    key: &'x [u64],
    taken: Taken,
    preferred: Option<&'x HashMap<Vec<u64>, usize>>,
    found: Option<Vec<u64>>,
}

impl Visitor for Follow<'_, '_, '_, '_> {
    fn step(&mut self, step: system::Step) -> ControlFlow<()> {
        let same = |t: Taken| t.props & self.asked == self.taken.props && t.instance == self.taken.instance;
        if !self.space.step(step.env, step.event).is_ok_and(same) || self.space.key(step.target) != self.key {
            return ControlFlow::Continue(());
        }
        let is_preferred = self.preferred.is_none_or(|p| p.contains_key(step.target));
        if is_preferred || self.found.is_none() {
            self.found = Some(step.target.to_vec());
        }
        if is_preferred { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
