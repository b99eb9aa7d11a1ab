//! The loop: a ladder over rmc2's events. The root is expanded elsewhere ([`super::root`]).

use super::hooks::{Driven, Effort, Fired, Hooks, Rerr, Runex, Visited};
use super::keep::{Again, Keeper, Keeping, Place};
use super::observe::{self, Observers};
use super::order::Waiting;
use super::store::{Arriving, StateId, Store};
use super::watch::{Counts, Watch};
use super::{Finding, Options, keep};
use crate::lang::diag::Span;
use crate::symmetry::markers::Marker;
use crate::symmetry::orbit::Orbits;
use crate::symmetry::{Group, Marks, Reducer, Strategy};
use crate::system::{Stop, System, Transition, Visitor};
use crate::value::fault::Fault;
use crate::verdict::{Complete, Verdict};
use kanon_refinement::frontier::{All, Frontier, Open};
use kanon_refinement::kernel::{self, Arrival, Expansion, Kernel, Outcome, Taken};
use std::collections::HashSet;
use std::marker::PhantomData;
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
    /// Where states were expanded before every initial state was known, what was found is the nearest only to the initial
    /// states known by then.
    pub is_early: bool,
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
    /// By the keys of starts that are rows of their own.
    Keys(Box<Reducer>, HashSet<Vec<u64>>),
    Marked(Box<dyn Marks>, HashSet<Marker>),
}

impl Firsts {
    pub fn is_first(&mut self, start: usize) -> bool {
        match self {
            Firsts::All => true,
            Firsts::Orbits(orbits, seen) => orbits.is_first(start, seen),
            Firsts::Keys(reducer, seen) => {
                let row = reducer.action().start_row(start);
                row.is_none_or(|row| seen.insert(reducer.key(&row).to_vec()))
            }
            Firsts::Marked(marks, seen) => seen.insert(marks.of_start(start)),
        }
    }
}

/// The machine before its first event, or one that is taken up again, with the token of its root.
pub(super) fn scope<V: Visited, T>(
    options: &Options,
    visited: V,
    again: Option<&mut Again>,
    body: impl for<'b> FnOnce(Driven<'b, V>, kernel::Root<'b>) -> T,
) -> T {
    match again {
        Some(again) => {
            Kernel::reopen(visited, Open::new(keep::waiting(options.order, again)), All::new(), body)
        }
        None => {
            let open = Open::new(Waiting::new(options.order, options.seed.unwrap_or(0)));
            Kernel::scope(visited, open, All::new(), body)
        }
    }
}

/// How many states wait.
pub(super) fn waiting<V>(kernel: &Driven<'_, V>) -> usize {
    kernel.runex().waiting().len()
}

/// What the loop needs beside the machine.
pub(super) struct Loop<'a, S: System, H> {
    pub system: &'a S,
    pub observers: &'a Observers<'a, S>,
    pub stop: &'a Stop,
    progress: &'a mut (dyn FnMut(Progress) + 'a),
    pub hooks: H,
    pub worker: S::Worker,
    pub watch: Watch,
    /// Who writes the search down, if anybody does.
    pub keeper: Option<Box<dyn Keeper>>,
    /// How far the root has come, and had come before the search was taken up.
    pub place: Place,
    pub before: Place,
    /// The system's word that it has visited every start.
    pub complete: Option<Complete>,
    /// States were expanded before every initial state had arrived.
    pub is_early: bool,
    row: Vec<u64>,
    turn: u32,
}

impl<'a, S: System, H> Loop<'a, S, H> {
    pub fn new(
        system: &'a S,
        observers: &'a Observers<'a, S>,
        options: &Options,
        stop: &'a Stop,
        progress: &'a mut (dyn FnMut(Progress) + 'a),
        hooks: H,
    ) -> Self {
        let (worker, watch) = (system.worker(stop), Watch::new(system, options));
        let (complete, is_early, row, turn) = (None, false, Vec::new(), 0);
        let (keeper, place, before) = (None, Place::default(), Place::default());
        Loop {
            system,
            observers,
            stop,
            progress,
            hooks,
            worker,
            watch,
            keeper,
            place,
            before,
            complete,
            is_early,
            row,
            turn,
        }
    }

    /// Is written down now and then, and goes on from where another search was; what is left of that.
    pub fn keeping(&mut self, keeping: Keeping) -> Option<Again> {
        self.keeper = keeping.keeper;
        if let Some(again) = &keeping.again {
            self.watch.go_on(again.course.found.clone());
            (self.before, self.is_early) = (again.course.place, again.course.is_early);
        }
        keeping.again
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
            self.watch.look_at_memory(kernel.rrac());
        }
        if self.watch.must_stop(self.stop, store) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Expands a state that was looked at, and removes it.
    pub fn step<'b, V: Visited>(
        &mut self,
        kernel: &mut Driven<'b, V>,
        s1: Taken<'b, StateId>,
    ) -> ControlFlow<()>
    where
        H: Hooks<V>,
    {
        let Loop { system, observers, hooks, worker, watch, row, .. } = self;
        let id = s1.id();
        kernel.rrac().store().read(id, row);
        if watch.look_at_disk(kernel.rrac().store()) {
            return ControlFlow::Break(());
        }
        hooks.expand(id, row)?;
        let outcome = kernel.expand(s1, |id, x| {
            let (before, faults) = (watch.counts.transitions, watch.faults);
            watch.labels.clear();
            let arrive = |watch: &mut Watch, hooks: &mut H, here: &mut S::Here, target: &[u64], operation| {
                arrive(observers, watch, hooks, x, here, target, (id, Some(operation)))
            };
            let kinds = PhantomData;
            let mut observe = Observe { system: *system, id, watch, hooks, arrive, kinds };
            system.successors(worker, row, &mut observe)?;
            if watch.counts.transitions == before && watch.faults == faults && !system.is_over(row) {
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
        // The last that it was asked for may have gone wrong.
        let is_sound = !watch.look_at_disk(&store);
        let is_complete = is_sound && pass.is_some() && self.complete.is_some() && V::EXACT.is_some();
        let verdict = watch.verdict(pass, self.complete.take(), V::EXACT);
        let is_early = self.is_early;
        let reduction = V::REDUCES.then(|| Reduction { effort, ..Reduction::default() });
        let (counts, finding) = (std::mem::take(&mut watch.counts), watch.finding.take());
        (Explored { verdict, counts, finding, store, reduction, is_complete, is_early }, self.hooks)
    }
}

/// The expansion of a state.
struct Observe<'w, S, V, H, A> {
    system: &'w S,
    id: StateId,
    watch: &'w mut Watch,
    hooks: &'w mut H,
    /// [`arrive`], by an operation.
    arrive: A,
    kinds: PhantomData<V>,
}

impl<S: System, V: Visited, H: Hooks<V>, A> Visitor<S::Here> for Observe<'_, S, V, H, A>
where
    A: FnMut(&mut Watch, &mut H, &mut S::Here, &[u64], usize) -> (StateId, ControlFlow<()>),
{
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
        let (id, flow) = (self.arrive)(self.watch, self.hooks, t.here, t.target, t.operation);
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
pub(super) fn arrive<S: System, V: Visited, H: Hooks<V>>(
    observers: &Observers<S>,
    watch: &mut Watch,
    hooks: &mut H,
    x: &mut Expansion<'_, '_, V, Runex, Rerr>,
    here: &mut S::Here,
    row: &[u64],
    from: (StateId, Option<usize>),
) -> (StateId, ControlFlow<()>) {
    match x.arrive(Arriving { row, parent: from.0 }) {
        Arrival::Known(id) => (id, ControlFlow::Continue(())),
        Arrival::New(s2) => (s2.id(), observers.enter(watch, hooks, x, here, s2, from)),
    }
}
