//! `--audit`: while a system is explored, the named clauses of the refinement chain are executed on the kernel's
//! own variables after its events, beside a [`super::shadow`] that explores the same system by itself; and sampled
//! states are evaluated a second time by the reference evaluator ([`super::sample`]).
//!
//! A clause that does not hold is a mistake of ours, not of the model: the search ends without an answer.

use super::hooks::{Driven, Event, Hooks, Visited};
use super::inject::{Faulty, Mistake};
use super::sample::{self, Sampler};
use super::search::{self, Explored, Progress};
use super::shadow::{Shadow, Tally};
use super::store::{ROOT, StateId, Store};
use super::{Options, Verdict, Why};
use crate::system::System;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest shadow. A clause costs time in proportion to it, sometimes to its square.
pub const SHADOW_STATES: usize = 2_000;

#[derive(Clone, Debug)]
pub struct Audit {
    /// After every how many events; pass and fail always count.
    pub every: u64,
    pub shadow_states: usize,
    #[doc(hidden)]
    pub mistake: Option<Mistake>,
}

impl Default for Audit {
    fn default() -> Self {
        Audit { every: 1, shadow_states: SHADOW_STATES, mistake: None }
    }
}

/// A clause that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// `mc2/inv1: unex ⊆ rac`, or `evaluator/successors`
    pub clause: &'static str,
    /// The event after which it was broken; none when two evaluators differ.
    pub event: Option<Event>,
    /// Events so far, that one included.
    pub number: u64,
    /// The state that the event was about.
    pub state: Option<StateId>,
    pub detail: Option<String>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.event {
            Some(event) => {
                write!(f, "audit: clause {} broken after event {} ({event})", self.clause, self.number)?;
            }
            None => write!(f, "audit: clause {} broken after event {}", self.clause, self.number)?,
        }
        if let Some(detail) = &self.detail {
            write!(f, ": {detail}")?;
        }
        f.write_str("; this is a mistake of kanon, please report it")
    }
}

/// What was audited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub every: u64,
    /// Events, and those after which clauses were executed.
    pub events: u64,
    pub audited: u64,
    /// States of the shadow.
    pub states: usize,
    /// Every clause with how often it was executed.
    pub clauses: Vec<(&'static str, u64)>,
    /// Comparisons with the reference evaluator that could not be made.
    pub skipped: u64,
    /// Why the clauses were not executed to the end.
    pub ended: Option<String>,
    pub broken: Option<Broken>,
}

/// [`super::explore`] with an audit.
pub fn explore(
    system: &System,
    options: &Options,
    stop: &Arc<AtomicBool>,
    progress: &mut dyn FnMut(Progress),
    audit: &Audit,
) -> (Explored, Report) {
    let mut auditor = Auditor {
        system,
        stop,
        every: audit.every.max(1),
        mistake: audit.mistake,
        occasions: 0,
        shadow: Shadow::new(system.worker(stop), options, audit.shadow_states),
        sampler: Sampler::new(system.worker(stop)),
        tally: Tally::default(),
        taken: None,
        events: 0,
        audited: 0,
        ended: None,
        broken: None,
    };
    let mut explored = search::run(system, options, stop, progress, &mut auditor);
    let report = auditor.report();
    if let Some(broken) = &report.broken {
        explored.verdict = Verdict::Unknown(Why::Audit(Box::new(broken.clone())));
        explored.finding = None;
    }
    (explored, report)
}

struct Auditor<'s, 'm> {
    system: &'s System<'m>,
    stop: &'s AtomicBool,
    every: u64,
    mistake: Option<Mistake>,
    occasions: u64,
    shadow: Shadow,
    sampler: Sampler,
    tally: Tally,
    /// The state that is being expanded.
    taken: Option<StateId>,
    events: u64,
    audited: u64,
    ended: Option<String>,
    broken: Option<Broken>,
}

impl Auditor<'_, '_> {
    fn report(self) -> Report {
        let mut clauses = self.tally.clauses;
        let samples =
            [(sample::SUCCESSORS, self.sampler.successors), (sample::INVARIANT, self.sampler.invariants)];
        clauses.extend(samples.into_iter().filter(|(_, n)| *n > 0));
        Report {
            every: self.every,
            events: self.events,
            audited: self.audited,
            states: self.shadow.len(),
            clauses,
            skipped: self.sampler.skipped,
            ended: self.ended,
            broken: self.broken,
        }
    }

    /// Evaluations that were cut short say nothing.
    fn stopped(&mut self) -> bool {
        let stopped = self.stop.load(Ordering::Relaxed);
        if stopped && self.ended.is_none() {
            self.ended = Some(format!("the run was stopped after {} events", self.events));
        }
        stopped
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.broken.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether it is the turn of a planted mistake.
    fn errs(&mut self, n: u64) -> bool {
        self.occasions += 1;
        self.occasions == n
    }
}

impl Hooks for Auditor<'_, '_> {
    type Visited = Faulty;

    fn visited(&mut self, width: usize) -> Faulty {
        Faulty { store: Store::new(width), mistake: self.mistake, occasions: 0 }
    }

    fn expand(&mut self, id: StateId, row: &[u64]) -> ControlFlow<()> {
        self.taken = Some(id).filter(|id| *id != ROOT);
        if self.ended.is_none() && !self.shadow.expand(self.system, id, row) {
            let n = self.shadow.len();
            self.ended =
                Some(format!("clauses were executed up to event {}: more than {n} states", self.events));
        }
        if id != ROOT
            && let Some((clause, detail)) = self.sampler.look(self.system, row)
            && !self.stopped()
        {
            self.broken = Some(Broken {
                clause,
                event: None,
                number: self.events,
                state: Some(id),
                detail: Some(detail),
            });
        }
        self.flow()
    }

    fn event(&mut self, event: Event, kernel: &Driven<Self>) -> ControlFlow<()> {
        if let Event::Remove { .. } = event {
            self.taken = None;
        }
        if self.broken.is_some() || self.stopped() {
            return self.flow();
        }
        self.events += 1;
        if self.ended.is_some() {
            return ControlFlow::Continue(());
        }
        let due = self.events.is_multiple_of(self.every) || matches!(event, Event::Pass | Event::Fail);
        let store = kernel.rrac().store();
        let tally = due.then_some(&mut self.tally);
        let state = match event {
            Event::AddInv { s1, s2 } => {
                self.shadow.add_inv(s1, s2, store, tally);
                Some(s2)
            }
            Event::AddErr { s1, s2 } => {
                self.shadow.add_err(s1, s2, store, tally);
                Some(s2)
            }
            Event::Remove { s1 } => {
                self.shadow.remove(s1, store, tally);
                Some(s1).filter(|s1| *s1 != ROOT)
            }
            Event::Pass => {
                self.shadow.pass(&mut self.tally);
                None
            }
            Event::Fail => {
                self.shadow.fail(&mut self.tally);
                kernel.rerr().get().first().copied()
            }
        };
        if due {
            self.audited += 1;
            self.shadow.invariants::<Self>(kernel, self.taken, &mut self.tally);
            if let Some(clause) = self.tally.broken {
                self.broken =
                    Some(Broken { clause, event: Some(event), number: self.events, state, detail: None });
            }
        }
        self.flow()
    }

    fn invariant(&mut self, broken: Option<usize>) -> Option<usize> {
        let Some(Mistake::Lies(n)) = self.mistake else { return broken };
        match (self.errs(n), broken) {
            (true, Some(_)) => None,
            (true, None) => Some(0),
            (false, _) => broken,
        }
    }

    fn passes_over(&mut self) -> bool {
        let Some(Mistake::Drops(n)) = self.mistake else { return false };
        self.errs(n)
    }
}
