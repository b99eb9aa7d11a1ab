//! The loop: a ladder over rmc2's events.

use super::hooks::{Driven, Event, Hooks, Off, Rerr, Runex, Visited};
use super::order::Waiting;
use super::store::{Arriving, ROOT, StateId, Store};
use super::{Finding, FindingKind, Options, Verdict, Why};
use crate::eval::node::Env;
use crate::lang::diag::Span;
use crate::system::{Check, Step, System, Visitor, Worker};
use crate::value::fault::Fault;
use kanon_refinement::frontier::{All, Frontier, Open};
use kanon_refinement::kernel::{Arrival, Expansion, Kernel, Outcome, Pass};
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
    run(system, options, stop, progress, &mut Off)
}

/// The search, with an audit or none.
pub(super) fn run<H: Hooks>(
    system: &System,
    options: &Options,
    stop: &Arc<AtomicBool>,
    progress: &mut dyn FnMut(Progress),
    hooks: &mut H,
) -> Explored {
    let mut worker = system.worker(stop);
    let mut watch = Watch::new(system, options);
    let waiting = Waiting::new(options.order, options.seed);
    let mut kernel: Driven<H> = Kernel::new(hooks.visited(system.width()), Open::new(waiting), All::new());
    let mut flow = hooks.expand(ROOT, &[]);
    if flow.is_continue() {
        flow = kernel.initialise(|x| {
            for valuation in 0..system.valuations() {
                initial(system, valuation, &mut worker, &mut watch, hooks, x)?;
            }
            ControlFlow::Continue(())
        });
    }
    if flow.is_continue() {
        flow = hooks.event(Event::Remove { s1: ROOT }, &kernel);
    }
    if flow.is_continue() {
        let mut row = Vec::new();
        let mut turn = 0u32;
        while let Some(s1) = kernel.take() {
            turn = turn.wrapping_add(1);
            let store = kernel.rrac().store();
            if turn.is_multiple_of(256) {
                progress(Progress {
                    states: store.len(),
                    transitions: watch.counts.transitions,
                    open: kernel.runex().waiting().len(),
                    bytes: store.bytes(),
                    state: s1.id(),
                    store,
                });
            }
            if watch.must_stop(stop, store.len()) {
                break;
            }
            let id = s1.id();
            row.clear();
            row.extend_from_slice(store.row(id));
            if hooks.expand(id, &row).is_break() {
                break;
            }
            match kernel.expand(s1, |id, x| expand(system, id, &row, &mut worker, &mut watch, hooks, x)) {
                Outcome::Exhausted(s1) => kernel.remove(s1),
                Outcome::Stopped(_) => break,
            }
            if hooks.event(Event::Remove { s1: id }, &kernel).is_break() {
                break;
            }
        }
    }
    watch.truncated = watch.truncated.or(worker.env.truncated);
    let pass = kernel.pass();
    // The search is over: nothing is left to be stopped.
    if pass.is_some() {
        let _ = hooks.event(Event::Pass, &kernel);
    } else if kernel.fail().is_some() {
        let _ = hooks.event(Event::Fail, &kernel);
    }
    watch.counts.open = kernel.runex().waiting().len() + kernel.runex().taken();
    let (store, _, _) = kernel.into_parts();
    let store = store.into_store();
    watch.counts.states = store.len();
    let verdict = watch.verdict(pass);
    Explored { verdict, counts: watch.counts, finding: watch.finding, store }
}

/// Expands the root by one valuation of the constants.
fn initial<'k, H: Hooks>(
    system: &System,
    valuation: usize,
    worker: &mut Worker,
    watch: &mut Watch,
    hooks: &mut H,
    x: &mut Expansion<'k, H::Visited, Runex, Rerr>,
) -> ControlFlow<()> {
    let mut any = false;
    let run = system.initial(worker, valuation, &mut |env, row| {
        any = true;
        watch.counts.initialisations += 1;
        arrive(watch, hooks, x, env, row, ROOT, true)
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
fn expand<'k, H: Hooks>(
    system: &System,
    id: StateId,
    row: &[u64],
    worker: &mut Worker,
    watch: &mut Watch,
    hooks: &mut H,
    x: &mut Expansion<'k, H::Visited, Runex, Rerr>,
) -> ControlFlow<()> {
    let before = watch.counts.transitions;
    let faults = watch.faults;
    system.successors(worker, row, &mut Observe { id, watch, hooks, x })?;
    if watch.counts.transitions == before && watch.faults == faults {
        watch.counts.deadlocks += 1;
        if watch.options.deadlock {
            return watch.found(FindingKind::Deadlock, Some(id), 0);
        }
    }
    ControlFlow::Continue(())
}

struct Observe<'w, 'k, 's, H: Hooks> {
    id: StateId,
    watch: &'w mut Watch<'s>,
    hooks: &'w mut H,
    x: &'w mut Expansion<'k, H::Visited, Runex, Rerr>,
}

impl<H: Hooks> Visitor for Observe<'_, '_, '_, H> {
    #[inline]
    fn step(&mut self, step: Step) -> ControlFlow<()> {
        self.watch.counts.transitions += 1;
        self.watch.counts.events[step.event] += 1;
        if self.hooks.passes_over() {
            return ControlFlow::Continue(());
        }
        arrive(self.watch, self.hooks, self.x, step.env, step.target, self.id, false)
    }

    fn fault(&mut self, event: usize, fault: Box<Fault>) -> ControlFlow<()> {
        self.watch.fault(fault, Some(event), Some(self.id), 0)
    }
}

/// A state arrives: if it is new, the invariant decides between add_inv and add_err, and the observers look at it.
#[inline]
fn arrive<'k, H: Hooks>(
    watch: &mut Watch,
    hooks: &mut H,
    x: &mut Expansion<'k, H::Visited, Runex, Rerr>,
    env: &mut Env,
    row: &[u64],
    parent: StateId,
    is_initial: bool,
) -> ControlFlow<()> {
    match x.arrive(Arriving { row, parent }) {
        Arrival::Known(_) => ControlFlow::Continue(()),
        Arrival::New(s2) => {
            let id = s2.id();
            let broken = hooks.invariant(watch.broken_conjunct(env, id, is_initial)?);
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
            watch.observe(env, id, is_initial)
        }
    }
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
    fn broken_conjunct(
        &mut self,
        env: &mut Env,
        id: StateId,
        is_initial: bool,
    ) -> ControlFlow<(), Option<usize>> {
        let mut fault = None;
        for (i, c) in self.invariant.iter().enumerate() {
            if c.is_static && !is_initial {
                continue;
            }
            match c.test.holds(env) {
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
            match c.test.holds(env) {
                Ok(true) => {}
                Ok(false) => {
                    self.counts.assertion_failures += 1;
                    self.found(FindingKind::Assertion(i), Some(id), 0)?;
                }
                Err(e) => self.fault(e, None, Some(id), 0)?,
            }
        }
        if let Some(goal) = self.goal {
            match goal.test.holds(env) {
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
