//! What a search has found and counted, and what ends it early.

use super::hooks::Visited;
use super::store::{StateId, Store, Trouble};
use super::{Finding, FindingKind, Options};
use crate::lang::diag::Span;
use crate::system::{Label, System};
use crate::value::fault::Fault;
use crate::verdict::{Complete, Ended, Exact, Proof, Verdict, Why};
use kanon_refinement::kernel::Pass;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// A state's number has 32 bits; this leaves room for all successors of the last state.
const MAX_STATES: usize = 4_000_000_000;

/// What was counted; ARCHITECTURE.md says what each number means without and with reduction.
#[warn(missing_docs)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// States that were stored.
    pub states: usize,
    /// Transitions between them.
    pub transitions: u64,
    /// Transitions by operation.
    pub operations: Vec<u64>,
    /// Transitions to initial states.
    pub initialisations: u64,
    /// Valuations of the constants that were explored.
    pub constants: usize,
    /// States without a transition.
    pub deadlocks: u64,
    /// States that break the invariant.
    pub violations: u64,
    /// States in which an assertion is false.
    pub assertion_failures: u64,
    /// States in which the goal is true.
    pub goals: u64,
    /// Evaluations without a value.
    pub wd_errors: u64,
    /// States still open when the search ended.
    pub open: usize,
}

/// What a search has counted and found by some moment, but for what the expansion of the root has counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoFar {
    pub counts: Counts,
    pub finding: Option<Finding>,
    pub faults: u64,
    pub limit: Option<Box<Fault>>,
    pub truncated: Option<Span>,
}

/// What was counted of the root and not of any state.
#[derive(Default)]
struct OfRoot {
    deadlocks: u64,
    wd_errors: u64,
    faults: u64,
}

/// What the search has found.
pub(super) struct Watch {
    pub options: Options,
    pub counts: Counts,
    pub finding: Option<Finding>,
    /// Faults so far, of any kind.
    pub faults: u64,
    limit: Option<Box<Fault>>,
    truncated: Option<Span>,
    stopped: Option<Why>,
    of_root: OfRoot,
    /// Parts of what is to be checked that the system does not check.
    left_out: usize,
    /// Under reduction: the transitions of the state that is expanded, by what stands for their targets.
    pub labels: HashSet<Label, foldhash::fast::FixedState>,
}

impl Watch {
    pub fn new<S: System>(system: &S, options: &Options) -> Watch {
        let checks = options.invariant || options.assertions || options.deadlock;
        Watch {
            options: options.clone(),
            counts: Counts { operations: vec![0; system.operations().len()], ..Counts::default() },
            finding: None,
            faults: 0,
            limit: None,
            truncated: None,
            stopped: None,
            of_root: OfRoot::default(),
            left_out: if checks { system.left_out(options.deadlock) } else { 0 },
            labels: HashSet::default(),
        }
    }

    /// What another search has found before this one, which goes on with it.
    pub fn go_on(&mut self, from: SoFar) {
        let SoFar { counts, finding, faults, limit, truncated } = from;
        (self.counts, self.finding, self.faults) = (counts, finding, faults);
        (self.limit, self.truncated) = (limit, truncated);
    }

    pub fn so_far(&self) -> SoFar {
        let of_root = &self.of_root;
        let counts = Counts {
            initialisations: 0,
            constants: 0,
            deadlocks: self.counts.deadlocks - of_root.deadlocks,
            wd_errors: self.counts.wd_errors - of_root.wd_errors,
            ..self.counts.clone()
        };
        SoFar {
            counts,
            finding: self.finding.clone(),
            faults: self.faults - of_root.faults,
            limit: self.limit.clone(),
            truncated: self.truncated,
        }
    }

    /// A start without an outcome was counted as a deadlock.
    pub fn deadlock_of_root(&mut self) {
        self.of_root.deadlocks += 1;
    }

    /// Somebody wants the search to end.
    pub fn interrupt(&mut self) {
        self.stopped.get_or_insert(Why::Interrupted);
    }

    /// Whether the search has ended because it had enough, between two events.
    pub fn is_at_limit(&self) -> bool {
        matches!(self.stopped, Some(Why::MaxStates(_) | Why::MaxMemory(_)))
    }

    /// Whether the disk has failed: what is said of states means nothing any more.
    pub fn look_at_disk(&mut self, store: &Store) -> bool {
        if let Some(Trouble(why)) = store.trouble() {
            self.stopped = Some(Why::Disk(why.clone()));
        }
        store.trouble().is_some()
    }

    pub fn must_stop(&mut self, stop: &AtomicBool, store: &Store) -> bool {
        let states = store.len();
        if self.look_at_disk(store) {
            return true;
        }
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
    pub fn look_at_memory(&mut self, visited: &impl Visited) {
        if visited.store().is_exhausted() {
            self.stopped = Some(Why::Limit(Fault::limit("there are too many large integers in states")));
        }
        let is_reached = visited.is_cramped()
            || (self.options.max_memory.is_some() || visited.store().is_spilling())
                && visited.store().is_at_limit();
        if is_reached
            && !visited.store().press()
            && let Some(limit) = self.options.max_memory
        {
            self.stopped = Some(Why::MaxMemory(limit));
        }
    }

    /// An enumeration was cut short somewhere.
    pub fn cut(&mut self, at: Option<Span>) {
        self.truncated = self.truncated.or(at);
    }

    pub fn found(&mut self, kind: FindingKind, state: Option<StateId>, start: usize) -> ControlFlow<()> {
        if self.finding.is_none() {
            self.finding = Some(Finding { kind, state, start });
        }
        if self.options.all { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    pub fn fault(
        &mut self,
        fault: Box<Fault>,
        operation: Option<usize>,
        state: Option<StateId>,
        start: usize,
    ) -> ControlFlow<()> {
        self.faults += 1;
        self.of_root.faults += u64::from(state.is_none());
        match *fault {
            Fault::Wd(_) => {
                self.counts.wd_errors += 1;
                self.of_root.wd_errors += u64::from(state.is_none());
                self.found(FindingKind::WellDefinedness { fault, operation }, state, start)
            }
            Fault::Limit(..) => {
                self.limit.get_or_insert(fault);
                ControlFlow::Continue(())
            }
        }
    }

    /// The answer. `pass` is the kernel's word that all states were expanded, `complete` the system's that there is no
    /// other start, `exact` the visited set's that it took for one only what is one or symmetric: all three are needed
    /// for a Holds.
    pub fn verdict(
        &mut self,
        pass: Option<Pass>,
        complete: Option<Complete>,
        exact: Option<Exact>,
    ) -> Verdict<Finding> {
        self.verdict_of(pass.map(Ended::Passed), complete, exact)
    }

    /// The same where a search may have ended in another way.
    pub fn verdict_of(
        &mut self,
        ended: Option<Ended>,
        complete: Option<Complete>,
        exact: Option<Exact>,
    ) -> Verdict<Finding> {
        if let Some(f) = &self.finding {
            return Verdict::Fails(f.clone());
        }
        let proof = match (self.reason(), ended, complete) {
            (Some(why), ..) => Err(why),
            (None, Some(ended), Some(complete)) => Proof::new(ended, complete, exact, self.counts.states),
            (None, _, None) if self.counts.constants == 0 => Err(Why::NoInitialState),
            (None, _, None) => Err(Why::Starts),
            (None, None, Some(_)) => Err(Why::Interrupted),
        };
        match proof {
            Ok(_) if self.left_out > 0 => Verdict::Unknown(Why::LeftOut(self.left_out)),
            Ok(proof) => Verdict::Holds(proof),
            Err(why) => Verdict::Unknown(why),
        }
    }

    /// Why the search has ended early, as far as that is known without what it has found.
    pub fn why(&self) -> Option<Why> {
        self.stopped.clone()
    }

    /// It has ended early, for this reason.
    pub fn ended(&mut self, why: Option<Why>) {
        self.stopped = why;
    }

    /// Why the search was not all that it should be.
    fn reason(&mut self) -> Option<Why> {
        self.stopped
            .take()
            .or_else(|| self.limit.take().map(Why::Limit))
            .or_else(|| self.truncated.map(Why::Truncated))
    }
}
