//! `--audit`: while a system is explored, the named clauses of the refinement chain are executed on the kernel's
//! own variables after its events, beside a [`super::shadow`] that explores the same system by itself; and sampled
//! states are evaluated a second time by the reference evaluator ([`super::sample`]).
//!
//! A clause that does not hold is a mistake of ours, not of the model: the search ends without an answer.

use super::Options;
use super::clause;
use super::drive;
use super::drive::Search;
use super::hooks::{ByKey, Driven, Fired, Hooks, Visited};
use super::inject::{Faulty, Mistake, Planted};
use super::keep::Keeping;
use super::orbits::OrbitShadow;
use super::plan::{Asked, Plan, Refusal, plan, reducible};
use super::sample::Sampler;
pub use super::sample::{Compared, Difference, Second, Seen, look_at};
use super::search::{Explored, Firsts, Progress};
use super::shadow::{Shadow, Tally};
use super::store::{ROOT, StateId};
use crate::symmetry::Action;
use crate::system::{Stop, System};
pub use crate::verdict::Broken;
use crate::verdict::{Verdict, Why};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
    /// What could not be compared although everything rests on it.
    pub unaudited: Option<&'static str>,
    /// Why the clauses were not executed to the end.
    pub ended: Option<String>,
    pub broken: Option<Broken>,
}

/// [`super::explore`] with an audit; `second` evaluates sampled states once more.
///
/// # Errors
/// Options that do not go together.
pub fn explore<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    options: &Options,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
    (audit, second): (&Audit, Option<Box<dyn Second + '_>>),
) -> Result<(Explored, Report), Refusal> {
    let plan = plan(options, Asked::States, true)?;
    reducible(options, action)?;
    let mut auditor = Auditor::new(system, second, options, stop, audit);
    let audited = Audited { system, options, plan, stop, progress, auditor: &mut auditor };
    let mut explored = drive::reduce(system, action, options, audited);
    let report = auditor.report();
    if let (true, Some(what)) = (explored.verdict.holds(), report.unaudited) {
        explored.verdict = Verdict::Unknown(Why::Unaudited(what));
    }
    if let Some(broken) = &report.broken {
        explored.verdict = Verdict::Unknown(Why::Audit(Box::new(broken.clone())));
        explored.finding = None;
    }
    Ok((explored, report))
}

struct Audited<'a, 's, S: System> {
    system: &'a S,
    options: &'a Options,
    plan: Plan,
    stop: &'a Stop,
    progress: &'a mut (dyn FnMut(Progress) + 'a),
    auditor: &'a mut Auditor<'s, S>,
}

impl<S: System> Search for Audited<'_, '_, S> {
    fn run<V: Visited>(self, inner: V, firsts: Firsts, action: Option<&Arc<dyn Action>>) -> Explored {
        let visited = Faulty { inner, mistake: self.auditor.mistake, occasions: 0 };
        let mut orbits = self.orbits(action);
        let hooks = Looking { auditor: self.auditor, orbits: orbits.as_mut() };
        let (explored, hooks) = drive::run(
            self.system,
            self.options,
            Keeping::default(),
            self.stop,
            self.progress,
            hooks,
            visited,
            firsts,
        );
        hooks.auditor.states = hooks.states();
        explored
    }

    /// The search that ships, watched: in batches.
    fn run_by_key<V: ByKey>(self, inner: V, firsts: Firsts, action: Option<&Arc<dyn Action>>) -> Explored {
        if self.options.one_by_one {
            return self.run(inner, firsts, action);
        }
        let visited = Faulty { inner, mistake: self.auditor.mistake, occasions: 0 };
        let planted = self.auditor.mistake.map(Planted::new);
        let mut orbits = self.orbits(action);
        let hooks = Looking { auditor: self.auditor, orbits: orbits.as_mut() };
        let by = (hooks, planted.as_ref());
        let plan = (self.options, self.plan);
        let (explored, hooks) = drive::in_batches(
            self.system,
            plan,
            Keeping::default(),
            self.stop,
            self.progress,
            by,
            visited,
            firsts,
        );
        hooks.auditor.states = hooks.states();
        explored
    }
}

impl<S: System> Audited<'_, '_, S> {
    fn orbits(&self, action: Option<&Arc<dyn Action>>) -> Option<Reduced<S>> {
        let most = self.auditor.shadow.most();
        let shadow = || OrbitShadow::new(self.system.worker(self.stop), self.options, most);
        action.map(|action| Reduced { action: action.clone(), shadow: shadow() })
    }
}

/// The shadow of a reduced search.
struct Reduced<S: System> {
    action: Arc<dyn Action>,
    shadow: OrbitShadow<S>,
}

/// The auditor, while a search runs.
struct Looking<'x, 's, S: System> {
    auditor: &'x mut Auditor<'s, S>,
    orbits: Option<&'x mut Reduced<S>>,
}

struct Auditor<'s, S: System> {
    system: &'s S,
    stop: &'s Stop,
    every: u64,
    mistake: Option<Mistake>,
    occasions: u64,
    shadow: Shadow<S>,
    sampler: Sampler<'s, S>,
    tally: Tally,
    /// States of the shadow of a reduced search.
    states: usize,
    /// The states that wait for their turn, and the one that is being expanded.
    taken: BTreeSet<StateId>,
    /// This state has no transition, by the second evaluator: so it cannot be removed without a word.
    dead: Option<StateId>,
    events: u64,
    audited: u64,
    ended: Option<String>,
    broken: Option<Broken>,
}

/// A search with a visited set of a test's own.
#[cfg(test)]
pub(super) fn explore_with<S: System, V: Visited>(
    system: &S,
    action: &Arc<dyn Action>,
    visited: V,
    options: &Options,
    audit: &Audit,
) -> (Explored, Report) {
    let stop = Stop::default();
    let mut auditor = Auditor::new(system, None, options, &stop, audit);
    let progress = &mut |_: Progress| {};
    let plan =
        plan(options, Asked::States, true).expect("the tests that call it take options that go together");
    let audited = Audited { system, options, plan, stop: &stop, progress, auditor: &mut auditor };
    let explored = audited.run(visited, Firsts::All, Some(action));
    (explored, auditor.report())
}

impl<'s, S: System> Auditor<'s, S> {
    fn new(
        system: &'s S,
        second: Option<Box<dyn Second + 's>>,
        options: &Options,
        stop: &'s Stop,
        audit: &Audit,
    ) -> Auditor<'s, S> {
        Auditor {
            system,
            stop,
            every: audit.every.max(1),
            mistake: audit.mistake,
            occasions: 0,
            shadow: Shadow::new(system.worker(stop), options, audit.shadow_states),
            sampler: Sampler::new(system, second, stop),
            tally: Tally::default(),
            states: 0,
            taken: BTreeSet::new(),
            dead: None,
            events: 0,
            audited: 0,
            ended: None,
            broken: None,
        }
    }

    fn report(self) -> Report {
        let unaudited = self.sampler.compared.unaudited();
        let mut clauses = self.tally.clauses;
        let samples = [
            (clause::CONSTANTS, self.sampler.compared.constants),
            (clause::INITIAL, self.sampler.compared.initial),
            (clause::SUCCESSORS, self.sampler.compared.successors),
            (clause::INVARIANT, self.sampler.compared.invariants),
            (clause::ASSERTION, self.sampler.compared.assertions),
            (clause::GOAL, self.sampler.compared.goals),
            (clause::TR, self.sampler.symmetric),
            (clause::INV, self.sampler.symmetric),
        ];
        clauses.extend(samples.into_iter().filter(|(_, n)| *n > 0));
        Report {
            every: self.every,
            events: self.events,
            audited: self.audited,
            states: self.states.max(self.shadow.len()),
            clauses,
            skipped: self.sampler.compared.skipped,
            unaudited,
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

    /// The shadow of a search without reduction.
    fn unreduced<V: Visited>(&mut self, event: Fired, kernel: &Driven<'_, V>, due: bool) {
        let store = kernel.rrac().store();
        let tally = due.then_some(&mut self.tally);
        match event {
            Fired::AddInv { s1, s2 } => self.shadow.add_inv(s1, s2, store, tally),
            Fired::AddErr { s1, s2 } => self.shadow.add_err(s1, s2, store, tally),
            Fired::Remove { s1 } => self.shadow.remove(s1, store, tally),
            Fired::Pass => self.shadow.pass(&mut self.tally),
            Fired::Fail => self.shadow.fail(&mut self.tally),
        }
        if due {
            self.shadow.invariants(kernel, &self.taken, &mut self.tally);
        }
    }

    /// Whether it is the turn of a planted mistake.
    fn errs(&mut self, n: u64) -> bool {
        self.occasions += 1;
        self.occasions == n
    }
}

impl<S: System> Looking<'_, '_, S> {
    fn states(&self) -> usize {
        self.orbits.as_ref().map_or(self.auditor.shadow.len(), |o| o.shadow.len())
    }
}

impl<S: System, V: Visited> Hooks<V> for Looking<'_, '_, S> {
    const WATCHES: bool = true;

    fn take(&mut self, id: StateId) {
        self.auditor.taken.insert(id);
    }

    fn expand(&mut self, id: StateId, row: &[u64]) -> ControlFlow<()> {
        let a = &mut *self.auditor;
        if a.ended.is_none() {
            let fits = match &mut self.orbits {
                Some(o) => o.shadow.expand(a.system, &o.action, id, row),
                None => a.shadow.expand(a.system, id, row),
            };
            if !fits {
                let n = self.orbits.as_ref().map_or(a.shadow.len(), |o| o.shadow.len());
                a.ended =
                    Some(format!("clauses were executed up to event {}: more than {n} states", a.events));
            }
        }
        let action = self.orbits.as_ref().map(|o| &o.action);
        let difference = if id == ROOT { a.sampler.root() } else { a.sampler.look(row, action) };
        if let Some((clause, detail)) = difference
            && !a.stopped()
        {
            let state = Some(id).filter(|id| *id != ROOT);
            a.broken = Some(Broken { clause, event: None, number: a.events, state, detail: Some(detail) });
        }
        a.dead = a.sampler.is_dead().then_some(id);
        a.flow()
    }

    fn event(&mut self, event: Fired, kernel: &Driven<'_, V>) -> ControlFlow<()> {
        let a = &mut *self.auditor;
        if let Fired::Remove { s1 } = event {
            a.taken.remove(&s1);
            if a.dead == Some(s1) && a.broken.is_none() && !a.stopped() {
                let detail = Some("there is a deadlock, and nobody noticed".to_string());
                let (clause, event) = (clause::OBSERVER, Some(event.name()));
                a.broken = Some(Broken { clause, event, number: a.events, state: Some(s1), detail });
            }
        }
        if a.broken.is_some() || a.stopped() {
            return a.flow();
        }
        a.events += 1;
        if a.ended.is_none() && kernel.rrac().kept() > 0 {
            // Sound by wmc, but rmc1's clauses ask for one state per orbit.
            a.ended = Some(format!(
                "clauses were executed up to event {}: a state was kept as it is, so its orbit may have several",
                a.events
            ));
        }
        if a.ended.is_some() {
            return ControlFlow::Continue(());
        }
        let due = a.events.is_multiple_of(a.every) || matches!(event, Fired::Pass | Fired::Fail);
        let state = match event {
            Fired::AddInv { s2, .. } | Fired::AddErr { s2, .. } => Some(s2),
            Fired::Remove { s1 } => Some(s1).filter(|s1| *s1 != ROOT),
            Fired::Pass => None,
            Fired::Fail => kernel.rerr().get().first().copied(),
        };
        match &mut self.orbits {
            Some(o) => o.shadow.event(event, kernel, &a.taken, due.then_some(&mut a.tally)),
            None => a.unreduced(event, kernel, due),
        }
        if due {
            a.audited += 1;
            if let Some(clause) = a.tally.broken {
                a.broken =
                    Some(Broken { clause, event: Some(event.name()), number: a.events, state, detail: None });
            }
        }
        a.flow()
    }

    fn invariant(&mut self, broken: Option<usize>) -> Option<usize> {
        let Some(Mistake::Lies(n)) = self.auditor.mistake else { return broken };
        match (self.auditor.errs(n), broken) {
            (true, Some(_)) => None,
            (true, None) => Some(0),
            (false, _) => broken,
        }
    }

    fn passes_over(&mut self) -> bool {
        let Some(Mistake::Drops(n)) = self.auditor.mistake else { return false };
        self.auditor.errs(n)
    }
}
