//! The loop: a ladder over rmc2's events.

use super::hooks::{ByKey, Driven, Effort, Event, Hooks, Off, Rerr, Runex, Visited};
use super::order::Waiting;
use super::reduced::{Flooded, Keyed, Marked};
use super::store::{Arriving, Layout, ROOT, StateId, Store};
use super::{Finding, FindingKind, Options, Verdict, Why, batch, memory};
use crate::eval::node::Env;
use crate::lang::diag::Span;
use crate::symmetry::markers::Marking;
use crate::symmetry::orbit::Orbits;
use crate::symmetry::{Action, Group, Reducer, Strategy};
use crate::system::{Check, Step, System, Visitor, Worker};
use crate::value::fault::Fault;
use kanon_refinement::frontier::{All, Frontier, Open};
use kanon_refinement::kernel::{Absent, Arrival, Expansion, Kernel, Outcome, Pass, Taken};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A state's number has 32 bits; this leaves room for all successors of the last state.
const MAX_STATES: usize = 4_000_000_000;

#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub states: usize,
    pub transitions: u64,
    /// Transitions by event.
    pub events: Vec<u64>,
    pub initialisations: u64,
    /// Valuations of the constants that were explored.
    pub constants: usize,
    pub deadlocks: u64,
    /// States that break the invariant.
    pub violations: u64,
    pub assertion_failures: u64,
    pub goals: u64,
    pub wd_errors: u64,
    /// States still open when the search ended.
    pub open: usize,
}

pub struct Explored {
    pub verdict: Verdict,
    pub counts: Counts,
    /// The first thing found, also when the search went on.
    pub finding: Option<Finding>,
    pub store: Store,
    /// What was permuted and how, if anything could be.
    pub reduction: Option<Reduction>,
}

/// How states were taken for one.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    pub strategy: Strategy,
    pub group: Group,
    pub effort: Effort,
}

/// What a running search shows now and then.
pub struct Progress<'a> {
    pub states: usize,
    pub transitions: u64,
    pub open: usize,
    pub bytes: usize,
    /// The state that is expanded now.
    pub state: StateId,
    pub store: &'a Store,
}

impl Progress<'_> {
    /// How many steps away from an initial state the search is, unless that is very far.
    pub fn depth(&self) -> Option<usize> {
        self.store.depth(self.state, 1_000_000)
    }
}

/// Explores all states. `stop` ends it; `progress` is called every few hundred states.
pub fn explore(
    system: &System,
    options: &Options,
    stop: &Arc<AtomicBool>,
    progress: &mut dyn FnMut(Progress),
) -> Explored {
    reduce(system, options, Plain { system, options, stop, progress })
}

/// A search that waits for its visited set.
pub(super) trait Search {
    fn run<V: Visited>(self, visited: V, starts: &[usize], action: Option<&Action>) -> Explored;

    /// The same with a visited set that allows for batches.
    fn run_by_key<V: ByKey>(self, visited: V, starts: &[usize], action: Option<&Action>) -> Explored
    where
        Self: Sized,
    {
        self.run(visited, starts, action)
    }
}

struct Plain<'a, 'm, 'p, 'q> {
    system: &'a System<'m>,
    options: &'a Options,
    stop: &'a Arc<AtomicBool>,
    progress: &'p mut (dyn FnMut(Progress) + 'q),
}

impl Search for Plain<'_, '_, '_, '_> {
    fn run<V: Visited>(self, visited: V, starts: &[usize], _: Option<&Action>) -> Explored {
        let Plain { system, options, stop, progress } = self;
        run(system, options, stop, progress, Off, visited, starts).0
    }

    fn run_by_key<V: ByKey>(self, visited: V, starts: &[usize], _: Option<&Action>) -> Explored {
        let Plain { system, options, stop, progress } = self;
        if options.one_by_one {
            return run(system, options, stop, progress, Off, visited, starts).0;
        }
        batch::run(system, options, stop, progress, visited, starts)
    }
}

/// Runs a search with the visited set of the strategy: chosen once, out here.
pub(super) fn reduce(system: &System, options: &Options, search: impl Search) -> Explored {
    let layout = Layout::new(&system.widths());
    let store = Store::new(layout.clone());
    let all: Vec<usize> = (0..system.valuations()).collect();
    if options.symmetry == Strategy::Off {
        return search.run_by_key(store, &all, None);
    }
    let action = Action::new(system, Group::of(system.model, system.scope, &[]));
    let reduction = Reduction { group: action.group.clone(), ..Reduction::default() };
    if action.group.is_trivial() {
        let mut explored = search.run_by_key(store, &all, None);
        explored.reduction = Some(reduction);
        return explored;
    }
    let orbits = Orbits::new(&action);
    let firsts = orbits.valuations();
    let mut explored = match options.symmetry {
        Strategy::Flood => {
            search.run(Flooded { store, rac: Store::new(layout), orbits }, &firsts, Some(&action))
        }
        Strategy::Markers => {
            let mut marking = Marking::new(&action);
            let mut seen = HashSet::new();
            let firsts: Vec<usize> =
                all.iter().copied().filter(|v| seen.insert(marking.of_constants(*v))).collect();
            search.run(Marked { store, index: HashMap::default(), marking }, &firsts, Some(&action))
        }
        strategy => match Reducer::new(&action, strategy, options.timed) {
            Some(reducer) => search.run_by_key(Keyed { store, reducer }, &firsts, Some(&action)),
            None => search.run_by_key(store, &all, None),
        },
    };
    // A program without nauty does not reduce, and says so.
    let (strategy, effort) = match explored.reduction.take() {
        Some(r) => (options.symmetry, r.effort),
        None => (Strategy::Off, Effort::default()),
    };
    explored.reduction = Some(Reduction { strategy, effort, ..reduction });
    if options.symmetry == Strategy::Markers && explored.verdict == Verdict::Holds {
        explored.verdict = Verdict::Unknown(Why::Approximate);
    }
    explored
}

/// The search by one thread, with an audit or none.
pub(super) fn run<V: Visited, H: Hooks<V>>(
    system: &System,
    options: &Options,
    stop: &Arc<AtomicBool>,
    progress: &mut dyn FnMut(Progress),
    hooks: H,
    visited: V,
    starts: &[usize],
) -> (Explored, H) {
    let mut main = Loop::new(system, options, stop, progress, hooks);
    let mut kernel = kernel(options, visited);
    let mut flow = main.start(&mut kernel, starts);
    while flow.is_continue() {
        let Some(s1) = kernel.take() else { break };
        flow = main.step(&mut kernel, s1);
    }
    main.finish(kernel, |_| {})
}

/// The machine before its first event.
pub(super) fn kernel<V: Visited>(options: &Options, visited: V) -> Driven<V> {
    Kernel::new(visited, Open::new(Waiting::new(options.order, options.seed)), All::new())
}

/// How many states wait.
pub(super) fn waiting<V>(kernel: &Driven<V>) -> usize {
    kernel.runex().waiting().len()
}

/// What the loop needs beside the machine.
pub(super) struct Loop<'a, 'm, 'p, H> {
    system: &'a System<'m>,
    stop: &'a AtomicBool,
    progress: &'p mut dyn FnMut(Progress),
    hooks: H,
    worker: Worker,
    watch: Watch<'a>,
    row: Vec<u64>,
    turn: u32,
}

impl<'a, 'm, 'p, H> Loop<'a, 'm, 'p, H> {
    pub fn new(
        system: &'a System<'m>,
        options: &'a Options,
        stop: &'a Arc<AtomicBool>,
        progress: &'p mut dyn FnMut(Progress),
        hooks: H,
    ) -> Self {
        let worker = system.worker(stop).lean();
        let watch = Watch::new(system, options);
        Loop { system, stop, progress, hooks, worker, watch, row: Vec::new(), turn: 0 }
    }

    /// Expands the root.
    pub fn start<V: Visited>(&mut self, kernel: &mut Driven<V>, starts: &[usize]) -> ControlFlow<()>
    where
        H: Hooks<V>,
    {
        let Loop { system, stop, hooks, worker, watch, .. } = self;
        watch.counts.constants = starts.len();
        hooks.expand(ROOT, &[])?;
        kernel.initialise(|x| {
            for valuation in starts {
                initial(system, *valuation, stop, worker, watch, hooks, x)?;
            }
            ControlFlow::Continue(())
        })?;
        hooks.event(Event::Remove { s1: ROOT }, kernel)
    }

    /// Looks at the clock before a state is expanded.
    pub fn look<V: Visited>(&mut self, kernel: &Driven<V>, s1: &Taken<StateId>) -> ControlFlow<()> {
        self.turn = self.turn.wrapping_add(1);
        let store = kernel.rrac().store();
        if self.turn.is_multiple_of(256) {
            (self.progress)(Progress {
                states: store.len(),
                transitions: self.watch.counts.transitions,
                open: waiting(kernel),
                bytes: store.bytes(),
                state: s1.id(),
                store,
            });
            self.watch.look_at_memory(store);
        }
        if self.watch.must_stop(self.stop, store.len()) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Expands a state and removes it.
    pub fn step<V: Visited>(&mut self, kernel: &mut Driven<V>, s1: Taken<StateId>) -> ControlFlow<()>
    where
        H: Hooks<V>,
    {
        self.look(kernel, &s1)?;
        let Loop { system, hooks, worker, watch, row, .. } = self;
        let id = s1.id();
        kernel.rrac().store().read(id, row);
        hooks.expand(id, row)?;
        match kernel.expand(s1, |id, x| expand(system, id, row, worker, watch, hooks, x)) {
            Outcome::Exhausted(s1) => kernel.remove(s1),
            Outcome::Stopped(_) => return ControlFlow::Break(()),
        }
        hooks.event(Event::Remove { s1: id }, kernel)
    }

    /// Transitions, by event, that somebody else has seen.
    pub fn count(&mut self, events: &[u64]) {
        for (all, n) in self.watch.counts.events.iter_mut().zip(events) {
            *all += n;
            self.watch.counts.transitions += n;
        }
    }

    /// Where somebody else cut an integer off.
    pub fn truncated(&mut self, span: Option<Span>) {
        self.watch.truncated = self.watch.truncated.or(span);
    }

    pub fn finish<V: Visited>(mut self, kernel: Driven<V>, merge: impl FnOnce(&mut V)) -> (Explored, H)
    where
        H: Hooks<V>,
    {
        let watch = &mut self.watch;
        watch.truncated = watch.truncated.or(self.worker.env.truncated);
        let pass = kernel.pass();
        // The search is over: nothing is left to be stopped.
        if pass.is_some() {
            let _ = self.hooks.event(Event::Pass, &kernel);
        } else if kernel.fail().is_some() {
            let _ = self.hooks.event(Event::Fail, &kernel);
        }
        watch.counts.open = waiting(&kernel) + kernel.runex().taken();
        let (mut visited, _, _) = kernel.into_parts();
        merge(&mut visited);
        let (store, effort) = visited.finish();
        watch.counts.states = store.len();
        let verdict = watch.verdict(pass);
        let reduction = V::REDUCES.then(|| Reduction { effort, ..Reduction::default() });
        let (counts, finding) = (std::mem::take(&mut watch.counts), watch.finding.take());
        (Explored { verdict, counts, finding, store, reduction }, self.hooks)
    }
}

/// Expands the root by one valuation of the constants.
fn initial<'k, V: Visited, H: Hooks<V>>(
    system: &System,
    valuation: usize,
    stop: &AtomicBool,
    worker: &mut Worker,
    watch: &mut Watch,
    hooks: &mut H,
    x: &mut Expansion<'k, V, Runex, Rerr>,
) -> ControlFlow<()> {
    let mut any = false;
    let mut targets = HashSet::new();
    let run = system.initial(worker, valuation, &mut |env, row| {
        any = true;
        let (id, flow) = arrive(watch, hooks, x, env, row, ROOT, None);
        // One valuation's initial states are different rows; under reduction they may be one state.
        if !V::REDUCES || targets.insert(id) {
            watch.counts.initialisations += 1;
        }
        flow?;
        if watch.counts.initialisations.is_multiple_of(256) {
            watch.look_at_memory(x.rrac().store());
        }
        if watch.must_stop(stop, x.rrac().store().len()) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    match run {
        Ok(flow) => {
            flow?;
            if !any {
                watch.counts.deadlocks += 1;
                if watch.options.deadlock {
                    return watch.found(FindingKind::Deadlock, None, valuation);
                }
            }
            ControlFlow::Continue(())
        }
        Err(fault) => watch.fault(fault, None, None, valuation),
    }
}

/// Expands one state.
fn expand<'k, V: Visited, H: Hooks<V>>(
    system: &System,
    id: StateId,
    row: &[u64],
    worker: &mut Worker,
    watch: &mut Watch,
    hooks: &mut H,
    x: &mut Expansion<'k, V, Runex, Rerr>,
) -> ControlFlow<()> {
    let before = watch.counts.transitions;
    let faults = watch.faults;
    if V::REDUCES {
        watch.labels.clear();
    }
    system.successors(worker, row, &mut Observe { system, id, watch, hooks, x })?;
    if watch.counts.transitions == before && watch.faults == faults {
        watch.counts.deadlocks += 1;
        if watch.options.deadlock {
            return watch.found(FindingKind::Deadlock, Some(id), 0);
        }
    }
    ControlFlow::Continue(())
}

struct Observe<'w, 'k, 's, 'm, V, H> {
    system: &'w System<'m>,
    id: StateId,
    watch: &'w mut Watch<'s>,
    hooks: &'w mut H,
    x: &'w mut Expansion<'k, V, Runex, Rerr>,
}

impl<V: Visited, H: Hooks<V>> Visitor for Observe<'_, '_, '_, '_, V, H> {
    #[inline]
    fn step(&mut self, step: Step) -> ControlFlow<()> {
        // Under reduction a transition is counted by what stands for its target, which is known only after it
        // has arrived.
        let merges = V::REDUCES && self.system.events[step.event].may_repeat;
        if !merges {
            self.watch.counts.transitions += 1;
            self.watch.counts.events[step.event] += 1;
        }
        if self.hooks.passes_over() {
            return ControlFlow::Continue(());
        }
        let label = if merges { Some(self.system.label(step.event, step.env)) } else { None };
        let by = Some(step.event);
        let (id, flow) = arrive(self.watch, self.hooks, self.x, step.env, step.target, self.id, by);
        if let Some(mut label) = label {
            label.push(u64::from(id));
            if self.watch.labels.insert(label) {
                self.watch.counts.transitions += 1;
                self.watch.counts.events[step.event] += 1;
            }
        }
        flow
    }

    fn fault(&mut self, event: usize, fault: Box<Fault>) -> ControlFlow<()> {
        self.watch.fault(fault, Some(event), Some(self.id), 0)
    }
}

/// A state arrives: what stands for it, and, if it is new, what becomes of it.
#[inline]
fn arrive<'k, V: Visited, H: Hooks<V>>(
    watch: &mut Watch,
    hooks: &mut H,
    x: &mut Expansion<'k, V, Runex, Rerr>,
    env: &mut Env,
    row: &[u64],
    parent: StateId,
    by: Option<usize>,
) -> (StateId, ControlFlow<()>) {
    match x.arrive(Arriving { row, parent }) {
        Arrival::Known(id) => (id, ControlFlow::Continue(())),
        Arrival::New(s2) => {
            let id = s2.id();
            (id, enter(watch, hooks, x, env, s2, parent, by))
        }
    }
}

/// A new state: the invariant decides between add_inv and add_err, and the observers look at it.
fn enter<'k, V: Visited, H: Hooks<V>>(
    watch: &mut Watch,
    hooks: &mut H,
    x: &mut Expansion<'k, V, Runex, Rerr>,
    env: &mut Env,
    s2: Absent<'k, StateId>,
    parent: StateId,
    by: Option<usize>,
) -> ControlFlow<()> {
    let id = s2.id();
    let broken = hooks.invariant(watch.broken_conjunct(
        env,
        id,
        by.map(|event| By { event, is_image: V::REDUCES }),
    )?);
    match broken {
        // With `all` the kernel runs with inv = S and the invariant is an observer like the others, since
        // the chain's events do not go on behind an error state.
        Some(_) if !watch.options.all => {
            x.add_err(s2);
            hooks.event(Event::AddErr { s1: parent, s2: id }, x.kernel())?;
        }
        _ => {
            x.add_inv(s2);
            hooks.event(Event::AddInv { s1: parent, s2: id }, x.kernel())?;
        }
    }
    if let Some(i) = broken {
        watch.counts.violations += 1;
        watch.found(FindingKind::Invariant(i), Some(id), 0)?;
    }
    watch.observe(env, id, by.is_none())
}

/// How a state was reached that is not initial.
struct By {
    event: usize,
    /// The source is the image of a state that was tested, not that state.
    is_image: bool,
}

/// What the search looks for and what it has found.
struct Watch<'s> {
    options: &'s Options,
    invariant: &'s [Check],
    assertions: &'s [Check],
    goal: Option<&'s Check>,
    counts: Counts,
    finding: Option<Finding>,
    /// Faults so far, of any kind.
    faults: u64,
    limit: Option<Box<Fault>>,
    truncated: Option<Span>,
    stopped: Option<Why>,
    /// Under reduction: the transitions of the state that is expanded, by what stands for their targets.
    labels: HashSet<SmallVec<[u64; 8]>, foldhash::fast::FixedState>,
}

impl<'s> Watch<'s> {
    fn new(system: &'s System, options: &'s Options) -> Watch<'s> {
        Watch {
            options,
            invariant: if options.invariant { &system.invariant } else { &[] },
            assertions: if options.assertions { &system.assertions } else { &[] },
            goal: system.goal.as_ref().filter(|_| options.goal),
            counts: Counts { events: vec![0; system.events.len()], ..Counts::default() },
            finding: None,
            faults: 0,
            limit: None,
            truncated: None,
            stopped: None,
            labels: HashSet::default(),
        }
    }

    fn must_stop(&mut self, stop: &AtomicBool, states: usize) -> bool {
        if stop.load(Ordering::Relaxed) {
            self.stopped = Some(Why::Interrupted);
        } else {
            let max = self.options.max_states.map_or(MAX_STATES, |max| max.min(MAX_STATES));
            if states >= max {
                self.stopped = Some(Why::MaxStates(max));
            }
        }
        self.stopped.is_some()
    }

    /// Memory is asked for now and then.
    fn look_at_memory(&mut self, store: &Store) {
        if store.is_exhausted() {
            self.stopped = Some(Why::Limit(Fault::limit("there are too many large integers in states")));
        }
        if let Some(limit) = self.options.max_memory
            && memory::used().is_some_and(|used| used > limit)
        {
            self.stopped = Some(Why::MaxMemory(limit));
        }
    }

    fn found(&mut self, kind: FindingKind, state: Option<StateId>, valuation: usize) -> ControlFlow<()> {
        if self.finding.is_none() {
            self.finding = Some(Finding { kind, state, valuation });
        }
        if self.options.all { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn fault(
        &mut self,
        fault: Box<Fault>,
        event: Option<usize>,
        state: Option<StateId>,
        valuation: usize,
    ) -> ControlFlow<()> {
        self.faults += 1;
        match *fault {
            Fault::Wd(_) => {
                self.counts.wd_errors += 1;
                self.found(FindingKind::WellDefinedness { fault, event }, state, valuation)
            }
            Fault::Limit(..) => {
                self.limit.get_or_insert(fault);
                ControlFlow::Continue(())
            }
        }
    }

    /// The first conjunct of the invariant that is false. A conjunct without a value is a finding of its own.
    ///
    /// A conjunct that reads no variable which the event writes has the value that it had in the source, and the
    /// source was added by add_inv, so it was true there, and in the end in an initial state, where all are tested.
    /// (If it was beyond a limit there, it is so again, and the verdict is Unknown already.) Not with `all`, where
    /// states outside of the invariant are expanded too; and not under reduction, where the source is only symmetric
    /// to a state that was tested.
    fn broken_conjunct(
        &mut self,
        env: &mut Env,
        id: StateId,
        by: Option<By>,
    ) -> ControlFlow<(), Option<usize>> {
        let all = self.options.all;
        let is_as_before = |c: &Check| {
            by.as_ref().is_some_and(|by| c.is_static || !(all || by.is_image || c.is_changed_by(by.event)))
        };
        let mut fault = None;
        for (i, c) in self.invariant.iter().enumerate() {
            if is_as_before(c) {
                continue;
            }
            match c.holds(env) {
                Ok(true) => {}
                Ok(false) => return ControlFlow::Continue(Some(i)),
                Err(e) => fault = fault.or(Some(e)),
            }
        }
        if let Some(e) = fault {
            self.fault(e, None, Some(id), 0)?;
        }
        ControlFlow::Continue(None)
    }

    fn observe(&mut self, env: &mut Env, id: StateId, is_initial: bool) -> ControlFlow<()> {
        for (i, c) in self.assertions.iter().enumerate() {
            if c.is_static && !is_initial {
                continue;
            }
            match c.holds(env) {
                Ok(true) => {}
                Ok(false) => {
                    self.counts.assertion_failures += 1;
                    self.found(FindingKind::Assertion(i), Some(id), 0)?;
                }
                Err(e) => self.fault(e, None, Some(id), 0)?,
            }
        }
        if let Some(goal) = self.goal {
            match goal.holds(env) {
                Ok(false) => {}
                Ok(true) => {
                    self.counts.goals += 1;
                    self.found(FindingKind::Goal, Some(id), 0)?;
                }
                Err(e) => self.fault(e, None, Some(id), 0)?,
            }
        }
        ControlFlow::Continue(())
    }

    /// `pass` is the kernel's word that all states were expanded; without it there is no Holds.
    fn verdict(&mut self, pass: Option<Pass>) -> Verdict {
        if let Some(f) = &self.finding {
            return Verdict::Fails(f.clone());
        }
        if let Some(why) = self.stopped.take() {
            return Verdict::Unknown(why);
        }
        if let Some(fault) = self.limit.take() {
            return Verdict::Unknown(Why::Limit(fault));
        }
        if let Some(span) = self.truncated {
            return Verdict::Unknown(Why::Truncated(span));
        }
        match pass {
            Some(_) => Verdict::Holds,
            None => Verdict::Unknown(Why::Interrupted),
        }
    }
}
