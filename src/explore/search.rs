//! The loop: a ladder over rmc2's events.

use super::hooks::{Driven, Effort, Fired, Hooks, Rerr, Runex, Visited};
use super::observe::{self, Observers};
use super::order::Waiting;
use super::store::{Arriving, ROOT, StateId, Store};
use super::watch::{Counts, Watch};
use super::{Finding, Options};
use crate::lang::diag::Span;
use crate::symmetry::markers::Marker;
use crate::symmetry::orbit::Orbits;
use crate::symmetry::{Group, Marks, Strategy};
use crate::system::{Starts, Stop, System, Transition, Visitor};
use crate::value::fault::Fault;
use crate::verdict::{Complete, Verdict};
use kanon_refinement::frontier::{All, Frontier, Open};
use kanon_refinement::kernel::{self, Arrival, Expansion, Kernel, Outcome, Taken};
use std::collections::HashSet;
use std::ops::ControlFlow;

pub struct Explored {
    pub verdict: Verdict<Finding>,
    pub counts: Counts,
    /// The first thing found, also when the search went on.
    pub finding: Option<Finding>,
    pub store: Store,
    /// What was permuted and how, if anything could be.
    pub reduction: Option<Reduction>,
    /// Every reachable state was expanded, or one that is symmetric to it.
    pub is_complete: bool,
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

/// Which starts are explored: one of those that are one to the visited set, the first that comes.
pub(super) enum Firsts {
    All,
    Orbits(Orbits, HashSet<usize>),
    Marked(Box<dyn Marks>, HashSet<Marker>),
}

impl Firsts {
    fn is_first(&mut self, start: usize) -> bool {
        match self {
            Firsts::All => true,
            Firsts::Orbits(orbits, seen) => orbits.is_first(start, seen),
            Firsts::Marked(marks, seen) => seen.insert(marks.of_start(start)),
        }
    }
}

/// The search by one thread, with an audit or none.
pub(super) fn run<S: System, V: Visited, H: Hooks<V>>(
    system: &S,
    options: &Options,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
    hooks: H,
    visited: V,
    firsts: Firsts,
) -> (Explored, H) {
    let observers = Observers::new::<V>(system, options);
    let mut main = Loop::new(system, &observers, options, stop, progress, hooks);
    scope(options, visited, |mut kernel, root| {
        let mut flow = main.start(&mut kernel, root, firsts);
        while flow.is_continue() {
            let Some(s1) = kernel.take() else { break };
            main.hooks.take(s1.id());
            flow = main.step(&mut kernel, s1);
        }
        main.finish(kernel, |_| {})
    })
}

/// The machine before its first event, with the token of its root.
pub(super) fn scope<V: Visited, T>(
    options: &Options,
    visited: V,
    body: impl for<'b> FnOnce(Driven<'b, V>, kernel::Root<'b>) -> T,
) -> T {
    let open = Open::new(Waiting::new(options.order, options.seed.unwrap_or(0)));
    Kernel::scope(visited, open, All::new(), body)
}

/// How many states wait.
pub(super) fn waiting<V>(kernel: &Driven<'_, V>) -> usize {
    kernel.runex().waiting().len()
}

/// What the loop needs beside the machine.
pub(super) struct Loop<'a, 'p, S: System, H> {
    system: &'a S,
    observers: &'a Observers<'a, S>,
    stop: &'a Stop,
    progress: &'p mut dyn FnMut(Progress),
    pub hooks: H,
    worker: S::Worker,
    watch: Watch<'a>,
    /// The system's word that it has visited every start.
    complete: Option<Complete>,
    row: Vec<u64>,
    turn: u32,
}

impl<'a, 'p, S: System, H> Loop<'a, 'p, S, H> {
    pub fn new(
        system: &'a S,
        observers: &'a Observers<'a, S>,
        options: &'a Options,
        stop: &'a Stop,
        progress: &'p mut dyn FnMut(Progress),
        hooks: H,
    ) -> Self {
        let (worker, watch) = (system.worker(stop), Watch::new(system, options));
        let (complete, row, turn) = (None, Vec::new(), 0);
        Loop { system, observers, stop, progress, hooks, worker, watch, complete, row, turn }
    }

    /// Expands the root.
    pub fn start<'b, V: Visited>(
        &mut self,
        kernel: &mut Driven<'b, V>,
        root: kernel::Root<'b>,
        firsts: Firsts,
    ) -> ControlFlow<()>
    where
        H: Hooks<V>,
    {
        let Loop { system, observers, stop, hooks, worker, watch, complete, .. } = self;
        hooks.expand(ROOT, &[])?;
        let outcome = kernel.expand_root(root, |x| {
            let flow = ControlFlow::Continue(());
            let mut root = Root { system: *system, observers, stop, watch, hooks, x, firsts, flow };
            *complete = system.starts(worker, &mut root);
            root.flow
        });
        match outcome {
            Outcome::Exhausted(i) => kernel.remove_root(i),
            Outcome::Stopped(_) => return ControlFlow::Break(()),
        }
        hooks.event(Fired::Remove { s1: ROOT }, kernel)
    }

    /// Looks at the clock before a state is expanded.
    pub fn look<V: Visited>(&mut self, kernel: &Driven<'_, V>, s1: &Taken<StateId>) -> ControlFlow<()> {
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
    pub fn step<'b, V: Visited>(
        &mut self,
        kernel: &mut Driven<'b, V>,
        s1: Taken<'b, StateId>,
    ) -> ControlFlow<()>
    where
        H: Hooks<V>,
    {
        self.look(kernel, &s1)?;
        let Loop { system, observers, hooks, worker, watch, row, .. } = self;
        let id = s1.id();
        kernel.rrac().store().read(id, row);
        hooks.expand(id, row)?;
        let outcome = kernel.expand(s1, |id, x| {
            let (before, faults) = (watch.counts.transitions, watch.faults);
            watch.labels.clear();
            let mut observe = Observe { system: *system, observers, id, watch, hooks, x };
            system.successors(worker, row, &mut observe)?;
            if watch.counts.transitions == before && watch.faults == faults {
                return observers.deadlock(watch, Some(id), 0);
            }
            ControlFlow::Continue(())
        });
        match outcome {
            Outcome::Exhausted(s1) => kernel.remove(s1),
            Outcome::Stopped(_) => return ControlFlow::Break(()),
        }
        hooks.event(Fired::Remove { s1: id }, kernel)
    }

    /// Transitions, by operation, that somebody else has seen.
    pub fn count(&mut self, operations: &[u64]) {
        for (all, n) in self.watch.counts.operations.iter_mut().zip(operations) {
            *all += n;
            self.watch.counts.transitions += n;
        }
    }

    /// Where somebody else cut an enumeration short.
    pub fn cut(&mut self, at: Option<Span>) {
        self.watch.cut(at);
    }

    pub fn finish<V: Visited>(mut self, kernel: Driven<'_, V>, merge: impl FnOnce(&mut V)) -> (Explored, H)
    where
        H: Hooks<V>,
    {
        let watch = &mut self.watch;
        watch.cut(self.system.cut(&mut self.worker));
        let pass = kernel.pass();
        // The search is over: nothing is left to be stopped.
        if pass.is_some() {
            let _ = self.hooks.event(Fired::Pass, &kernel);
        } else if kernel.fail().is_some() {
            let _ = self.hooks.event(Fired::Fail, &kernel);
        }
        watch.counts.open = waiting(&kernel) + kernel.runex().taken();
        let (mut visited, _, _) = kernel.into_parts();
        merge(&mut visited);
        let (store, effort) = visited.finish();
        watch.counts.states = store.len();
        let is_complete = pass.is_some() && self.complete.is_some() && V::EXACT.is_some();
        let verdict = watch.verdict(pass, self.complete.take(), V::EXACT);
        let reduction = V::REDUCES.then(|| Reduction { effort, ..Reduction::default() });
        let (counts, finding) = (std::mem::take(&mut watch.counts), watch.finding.take());
        (Explored { verdict, counts, finding, store, reduction, is_complete }, self.hooks)
    }
}

/// The expansion of the root: the initial states of every start.
struct Root<'w, 'k, 'b, 's, S, V, H> {
    system: &'w S,
    observers: &'w Observers<'w, S>,
    stop: &'w Stop,
    watch: &'w mut Watch<'s>,
    hooks: &'w mut H,
    x: &'w mut Expansion<'k, 'b, V, Runex, Rerr>,
    firsts: Firsts,
    flow: ControlFlow<()>,
}

impl<S: System, V: Visited, H: Hooks<V>> Root<'_, '_, '_, '_, S, V, H> {
    fn initial(&mut self, worker: &mut S::Worker, start: usize) -> ControlFlow<()> {
        let Root { system, observers, stop, watch, hooks, x, .. } = self;
        let mut any = false;
        let mut targets = HashSet::new();
        let run = system.initial(worker, start, &mut |here, row| {
            any = true;
            let (id, flow) = arrive(observers, watch, *hooks, x, here, row, (ROOT, None));
            // One start's initial states are different rows; under reduction they may be one state.
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
        let cut = system.cut(worker);
        watch.cut(cut);
        match run {
            // Where something was left out, that there is none means nothing.
            Ok(flow) if any || cut.is_some() => flow,
            Ok(_) => observers.deadlock(watch, None, start),
            Err(fault) => watch.fault(fault, None, None, start),
        }
    }
}

impl<S: System, V: Visited, H: Hooks<V>> Starts<S::Worker> for Root<'_, '_, '_, '_, S, V, H> {
    fn start(&mut self, worker: &mut S::Worker, start: usize) -> ControlFlow<()> {
        if self.flow.is_continue() && self.firsts.is_first(start) {
            self.watch.counts.constants += 1;
            self.flow = self.initial(worker, start);
        }
        self.flow
    }

    fn fault(&mut self, fault: Box<Fault>) -> ControlFlow<()> {
        if self.flow.is_continue() {
            self.flow = self.watch.fault(fault, None, None, usize::MAX);
        }
        self.flow
    }

    fn cut(&mut self, at: Span) {
        self.watch.cut(Some(at));
    }
}

/// The expansion of a state.
struct Observe<'w, 'k, 'b, 's, S, V, H> {
    system: &'w S,
    observers: &'w Observers<'w, S>,
    id: StateId,
    watch: &'w mut Watch<'s>,
    hooks: &'w mut H,
    x: &'w mut Expansion<'k, 'b, V, Runex, Rerr>,
}

impl<S: System, V: Visited, H: Hooks<V>> Visitor<S::Here> for Observe<'_, '_, '_, '_, S, V, H> {
    #[inline]
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        // Under reduction a transition is counted by what stands for its target, which is known only after it
        // has arrived.
        let merges = V::REDUCES && self.system.operations()[t.operation].may_repeat;
        if !merges {
            self.watch.counts.transitions += 1;
            self.watch.counts.operations[t.operation] += 1;
        }
        if self.hooks.passes_over() {
            return ControlFlow::Continue(());
        }
        let label = if merges { Some(self.system.label(t.operation, t.here)) } else { None };
        let from = (self.id, Some(t.operation));
        let (id, flow) = arrive(self.observers, self.watch, self.hooks, self.x, t.here, t.target, from);
        if let Some(mut label) = label {
            label.push(u64::from(id));
            if self.watch.labels.insert(label) {
                self.watch.counts.transitions += 1;
                self.watch.counts.operations[t.operation] += 1;
            }
        }
        flow
    }

    fn fault(&mut self, operation: usize, fault: Box<Fault>) -> ControlFlow<()> {
        observe::fault(self.watch, fault, operation, self.id)
    }
}

/// A state arrives: what stands for it, and, if it is new, what becomes of it. `from`: its parent, and the operation.
#[inline]
fn arrive<'k, S: System, V: Visited, H: Hooks<V>>(
    observers: &Observers<S>,
    watch: &mut Watch,
    hooks: &mut H,
    x: &mut Expansion<'k, '_, V, Runex, Rerr>,
    here: &mut S::Here,
    row: &[u64],
    from: (StateId, Option<usize>),
) -> (StateId, ControlFlow<()>) {
    match x.arrive(Arriving { row, parent: from.0 }) {
        Arrival::Known(id) => (id, ControlFlow::Continue(())),
        Arrival::New(s2) => (s2.id(), observers.enter(watch, hooks, x, here, s2, from)),
    }
}
