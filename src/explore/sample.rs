//! Sampled states, looked at once more: by a second evaluator, which must find the same constants, initial states,
//! transitions and truth of every check; and by the group, under which nothing may change.
//!
//! What there is to tell about a state (a broken invariant, a false assertion, a goal, a deadlock) must have been told, too:
//! a state that the search expands has nothing to tell, unless it goes on after a finding.

use super::clause::{INV, TR};
use super::shadow::{Targets, is_good};
use crate::lang::diag::Span;
use crate::symmetry::Action;
use crate::system::{Label, Starts, Stop, System, Transition, Visitor};
use crate::value::fault::{Fault, Res};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// So many states are sampled at once; after that as many as keep the steps per expanded state below this, to the end.
const FIRST: u64 = 64;
const SHARE: u64 = 2_000;

/// How often what was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    /// Valuations of the constants, and initial states.
    pub constants: u64,
    pub initial: u64,
    pub successors: u64,
    /// Conjuncts of the invariant, assertions, goals.
    pub invariants: u64,
    pub assertions: u64,
    pub goals: u64,
    /// Predicates of a formula.
    pub predicates: u64,
    /// Comparisons that could not be made, since an evaluator gave up.
    pub skipped: u64,
    /// The constants or initial states, on which everything rests, were among those.
    pub root_skipped: bool,
    /// Steps of the second evaluator.
    pub steps: u64,
    /// The last state that was looked at has no transition, so that a deadlock has to be told.
    pub is_dead: bool,
}

impl Compared {
    /// What could not be compared although everything rests on it, if there is such a thing.
    pub fn unaudited(&self) -> Option<&'static str> {
        if self.root_skipped {
            Some("the reference evaluator gave up on the constants or initial states")
        } else if self.skipped > 0 && self.successors == 0 {
            Some("the reference evaluator gave up on all states that were sampled")
        } else {
            None
        }
    }
}

/// A clause that does not hold, and what differs.
pub type Difference = (&'static str, String);

/// What a system says about a state.
pub struct Seen {
    /// Labels and targets.
    pub transitions: Vec<(Label, Vec<u64>)>,
    /// Some parameters have no value.
    pub is_faulty: bool,
    /// A limit was reached, or an enumeration cut short.
    pub gave_up: bool,
    /// By check; none where an enumeration was cut short.
    pub checks: Vec<Option<Res<bool>>>,
}

/// A second opinion, by somebody who shares nothing with the system but what its rows mean.
pub trait Second {
    /// On the starts, each with its initial states.
    fn root(&mut self, starts: &[(usize, Vec<Vec<u64>>)], compared: &mut Compared) -> Option<Difference>;

    /// On a state that is about to be expanded.
    fn look(&mut self, row: &[u64], seen: &Seen, compared: &mut Compared) -> Option<Difference>;
}

pub(super) struct Sampler<'s, S: System> {
    system: &'s S,
    second: Option<Box<dyn Second + 's>>,
    worker: S::Worker,
    expanded: u64,
    samples: u64,
    pub compared: Compared,
    /// States and generators of the group that were looked at.
    pub symmetric: u64,
}

impl<'s, S: System> Sampler<'s, S> {
    pub fn new(system: &'s S, second: Option<Box<dyn Second + 's>>, stop: &Stop) -> Sampler<'s, S> {
        let (worker, compared) = (system.worker(stop), Compared::default());
        Sampler { system, second, worker, expanded: 0, samples: 0, compared, symmetric: 0 }
    }

    /// The state that was looked at last has no transition, so that a deadlock has to be told.
    pub fn is_dead(&mut self) -> bool {
        std::mem::take(&mut self.compared.is_dead)
    }

    /// Looks at the starts and the initial states.
    pub fn root(&mut self) -> Option<Difference> {
        let Sampler { system, second, worker, compared, .. } = self;
        let mut all = Roots { system: *system, found: vec![], gave_up: false };
        let complete = system.starts(worker, &mut all);
        if all.gave_up || complete.is_none() || system.cut(worker).is_some() {
            compared.root_skipped = true;
            compared.skipped += 1;
            return None;
        }
        second.as_mut().and_then(|s| s.root(&all.found, compared))
    }

    /// Looks at a state if it is its turn.
    pub fn look(&mut self, row: &[u64], action: Option<&Arc<dyn Action>>) -> Option<Difference> {
        self.expanded += 1;
        // Whether it is, is counted in steps, not in seconds: a run can be repeated.
        if self.samples >= FIRST && self.compared.steps > self.expanded * SHARE {
            return None;
        }
        self.samples += 1;
        let seen = self.second.is_some().then(|| self.seen(row));
        let Sampler { second, compared, .. } = self;
        let second = second.as_mut().zip(seen).and_then(|(s, seen)| s.look(row, &seen, compared));
        second.or_else(|| action.and_then(|action| self.symmetry(&**action, row)))
    }

    /// What the system says.
    fn seen(&mut self, row: &[u64]) -> Seen {
        let Sampler { system, worker, .. } = self;
        let _ = system.cut(worker);
        let mut all = All { system: *system, transitions: vec![], is_faulty: false, gave_up: false };
        let _ = system.successors(worker, row, &mut all);
        let All { transitions, is_faulty, gave_up, .. } = all;
        let gave_up = gave_up || system.cut(worker).is_some();
        let mut checks = vec![];
        for check in 0..system.checks().len() {
            let here = system.load(worker, row);
            let value = system.holds(check, here);
            checks.push(system.cut(worker).is_none().then_some(value));
        }
        Seen { transitions, is_faulty, gave_up, checks }
    }

    /// Whether every generator of the group takes the successors of a state to those of its image, and the truth of
    /// the invariant along.
    fn symmetry(&mut self, action: &dyn Action, row: &[u64]) -> Option<Difference> {
        let mut image = vec![];
        for p in action.group().generators() {
            if !action.row(row, &p, &mut image) {
                self.compared.skipped += 1;
                continue;
            }
            let (here, there) = (self.targets(row), self.targets(&image));
            let mut moved = vec![];
            let mut expected: BTreeSet<Box<[u64]>> = BTreeSet::new();
            for target in &here {
                if action.row(target, &p, &mut moved) {
                    expected.insert(moved.as_slice().into());
                }
            }
            self.symmetric += 1;
            if expected != there {
                let text = format!("{} successors against {}", expected.len(), there.len());
                return Some((TR, text));
            }
            let good = |s: &mut Self, row: &[u64]| is_good(s.system, &mut s.worker, row);
            if good(self, row) != good(self, &image) {
                return Some((INV, "the invariant tells a state from a symmetric one".to_string()));
            }
        }
        None
    }

    fn targets(&mut self, row: &[u64]) -> BTreeSet<Box<[u64]>> {
        let mut targets = vec![];
        let _ = self.system.successors(&mut self.worker, row, &mut Targets(&mut targets));
        targets.into_iter().collect()
    }
}

/// Looks at the starts of a system and at some of its states, as the audit of a search does.
pub fn look_at<'s, S: System>(
    system: &'s S,
    second: Box<dyn Second + 's>,
    rows: impl Iterator<Item = Vec<u64>>,
    stop: &Stop,
) -> (Compared, Option<Difference>) {
    let mut sampler = Sampler::new(system, Some(second), stop);
    let mut difference = sampler.root();
    for row in rows {
        if difference.is_some() || stop.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        difference = sampler.look(&row, None);
    }
    (sampler.compared, difference)
}

/// Collects the starts with their initial states.
struct Roots<'s, S> {
    system: &'s S,
    found: Vec<(usize, Vec<Vec<u64>>)>,
    gave_up: bool,
}

/// So many initial states are compared.
const MOST: usize = 100_000;

impl<S: System> Starts<S::Worker> for Roots<'_, S> {
    fn start(&mut self, worker: &mut S::Worker, start: usize) -> ControlFlow<()> {
        let mut rows = vec![];
        let run = self.system.initial(worker, start, &mut |_, row| {
            rows.push(row.to_vec());
            if rows.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.gave_up |= run.is_err() || rows.len() == MOST || self.found.len() == MOST;
        self.found.push((start, rows));
        if self.gave_up { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
    fn fault(&mut self, _: Box<Fault>) -> ControlFlow<()> {
        self.gave_up = true;
        ControlFlow::Break(())
    }
    fn cut(&mut self, _: Span) {
        self.gave_up = true;
    }
}

/// Collects transitions with their labels.
struct All<'s, S> {
    system: &'s S,
    transitions: Vec<(Label, Vec<u64>)>,
    is_faulty: bool,
    gave_up: bool,
}

impl<S: System> Visitor<S::Here> for All<'_, S> {
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        self.transitions.push((self.system.label(t.operation, t.here), t.target.to_vec()));
        ControlFlow::Continue(())
    }
    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        match *fault {
            Fault::Wd(_) => self.is_faulty = true,
            Fault::Limit(..) => self.gave_up = true,
        }
        ControlFlow::Continue(())
    }
}
