//! Sampled states, looked at once more: by a second evaluator, which must find the same transitions and the same truth of
//! every conjunct of the invariant; and by the group, under which nothing may change.

use super::shadow::{Targets, is_good};
use crate::eval::reference::{self, Cx, Env, Item, State};
use crate::model::OpId;
use crate::symmetry::Action;
use crate::system::{Machine, Role, Stop, System, Transition, Visitor, Worker};
use crate::value::Value;
use crate::value::fault::Fault;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

pub(super) const SUCCESSORS: &str = "evaluator/successors";
pub(super) const INVARIANT: &str = "evaluator/invariant";
pub(super) const TR: &str = "symmetry/tr: a(tr[s]) = tr[a(s)]";
pub(super) const INV: &str = "symmetry/inv: s ∈ inv ⇔ a(s) ∈ inv";

/// Steps of the reference evaluator per state; beyond them it gives up.
const FUEL: u64 = 200_000;
/// After this many samples, states are sampled half as often.
const PATIENCE: u64 = 32;

/// How often what was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub successors: u64,
    pub invariants: u64,
    /// Comparisons that could not be made, since an evaluator gave up.
    pub skipped: u64,
}

/// A clause that does not hold, and what differs.
pub type Difference = (&'static str, String);

/// A second opinion on the transitions and the invariant of a state, by somebody who shares nothing with the system.
pub trait Second {
    fn look(&mut self, row: &[u64], compared: &mut Compared) -> Option<Difference>;
}

pub(super) struct Sampler<'s, S: System> {
    system: &'s S,
    second: Option<Box<dyn Second + 's>>,
    worker: S::Worker,
    /// Every how many expanded states one is sampled.
    period: u64,
    expanded: u64,
    samples: u64,
    pub compared: Compared,
    /// States and generators of the group that were looked at.
    pub symmetric: u64,
}

impl<'s, S: System> Sampler<'s, S> {
    pub fn new(system: &'s S, second: Option<Box<dyn Second + 's>>, stop: &Stop) -> Sampler<'s, S> {
        let (worker, compared) = (system.worker(stop), Compared::default());
        Sampler { system, second, worker, period: 1, expanded: 0, samples: 0, compared, symmetric: 0 }
    }

    /// Looks at a state if it is its turn.
    pub fn look(&mut self, row: &[u64], action: Option<&Arc<dyn Action>>) -> Option<Difference> {
        self.expanded += 1;
        if !self.expanded.is_multiple_of(self.period) {
            return None;
        }
        self.samples += 1;
        let before = self.compared.skipped;
        let second = self.second.as_mut().and_then(|s| s.look(row, &mut self.compared));
        let difference = second.or_else(|| action.and_then(|action| self.symmetry(&**action, row)));
        if self.samples.is_multiple_of(PATIENCE) || self.compared.skipped > before {
            self.period = self.period.saturating_mul(2);
        }
        difference
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

/// The reference evaluator's opinion of a machine.
pub struct Reference<'s> {
    system: &'s Machine,
    worker: Worker,
}

impl<'s> Reference<'s> {
    pub fn new(system: &'s Machine, stop: &Stop) -> Reference<'s> {
        Reference { system, worker: system.worker(stop) }
    }
}

impl Second for Reference<'_> {
    fn look(&mut self, row: &[u64], compared: &mut Compared) -> Option<Difference> {
        let system = self.system;
        let constants = system.constant_values(system.start_of(row));
        if constants.iter().any(Option::is_none) {
            // Symbolic: no value that could be handed over.
            compared.skipped += 1;
            return None;
        }
        let state = State {
            constants: Arc::new(constants.into_iter().map(|c| c.map(Item::Value)).collect()),
            variables: system.variable_values(row).into_iter().map(Some).collect(),
        };
        self.transitions(row, &state, compared).or_else(|| self.truth(row, &state, compared))
    }
}

impl Reference<'_> {
    fn transitions(&mut self, row: &[u64], state: &State, compared: &mut Compared) -> Option<Difference> {
        let system = self.system;
        let cx = Cx::new(&system.model, &system.scope).with_fuel(FUEL);
        let mut got = Transitions { system, found: BTreeSet::new(), wd: false, gave_up: false };
        let _ = system.cut(&mut self.worker);
        let _ = system.successors(&mut self.worker, row, &mut got);
        let truncated = system.cut(&mut self.worker).is_some();
        if got.gave_up || truncated {
            compared.skipped += 1;
            return None;
        }
        // The state borrows nothing of the evaluator's context.
        let state = State { constants: state.constants.clone(), variables: state.variables.clone() };
        let expected = reference::successors(&cx, &state);
        let limited = expected.faults.iter().any(|f| matches!(f.fault, Fault::Limit(..)));
        // With a fault, how many of the other outcomes of that operation are found is open.
        if limited || !cx.truncated().is_empty() || (got.wd && expected.faults.is_empty()) {
            compared.skipped += 1;
            return None;
        }
        compared.successors += 1;
        let name = |op: OpId| system.model.operations[op.index()].name.to_string();
        if let Some(f) = expected.faults.first() {
            let missing = || format!("{} is not well-defined, and nobody noticed", name(f.op));
            return (!got.wd).then(|| (SUCCESSORS, missing()));
        }
        let values = |s: &State| s.variables.iter().cloned().collect::<Option<Vec<Value>>>();
        let mut all = BTreeSet::new();
        for s in &expected.steps {
            match values(&s.state) {
                Some(target) => all.insert((s.op, s.params.clone(), s.results.clone(), target)),
                None => return None,
            };
        }
        if all == got.found {
            return None;
        }
        let names = |side: Vec<&Values>| side.iter().map(|t| name(t.0)).collect::<BTreeSet<_>>();
        let missing = names(all.difference(&got.found).collect());
        let extra = names(got.found.difference(&all).collect());
        let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
        let text = match (missing.is_empty(), extra.is_empty()) {
            (false, true) => format!("transitions are missing: {}", list(missing)),
            (true, _) => format!("there are too many transitions: {}", list(extra)),
            _ => format!("transitions differ: {} against {}", list(extra), list(missing)),
        };
        Some((SUCCESSORS, text))
    }

    fn truth(&mut self, row: &[u64], state: &State, compared: &mut Compared) -> Option<Difference> {
        let system = self.system;
        let checks = system.checks().iter().enumerate().filter(|(_, c)| c.role == Role::Invariant);
        for (i, ((check, _), p)) in checks.zip(&system.model.invariant).enumerate() {
            let cx = Cx::new(&system.model, &system.scope).with_fuel(FUEL);
            let state = State { constants: state.constants.clone(), variables: state.variables.clone() };
            let expected = reference::holds(&cx, &Env::of(&state), p);
            let _ = system.cut(&mut self.worker);
            let here = system.load(&mut self.worker, row);
            let got = system.holds(check, here);
            let truncated = system.cut(&mut self.worker).is_some();
            let wrong = match (&expected, &got) {
                _ if truncated || !cx.truncated().is_empty() => None,
                (Ok(a), Ok(b)) => Some(a != b),
                (Err(Fault::Wd(_)), Ok(_)) => Some(true),
                (Err(Fault::Wd(_)), Err(e)) if matches!(**e, Fault::Wd(_)) => Some(false),
                // Limits; and production may be the stricter one about sets that nothing depends on.
                _ => None,
            };
            match wrong {
                None => compared.skipped += 1,
                Some(false) => compared.invariants += 1,
                Some(true) => {
                    compared.invariants += 1;
                    let word = |known: Option<bool>| match known {
                        Some(true) => "true",
                        Some(false) => "false",
                        None => "without a value",
                    };
                    let (got, expected) = (word(got.ok()), word(expected.ok()));
                    let text = format!("conjunct {} is said to be {got}, but it is {expected}", i + 1);
                    return Some((INVARIANT, text));
                }
            }
        }
        None
    }
}

/// Operation, parameters, results, target.
type Values = (OpId, Vec<Value>, Vec<Option<Value>>, Vec<Value>);

struct Transitions<'s> {
    system: &'s Machine,
    found: BTreeSet<Values>,
    wd: bool,
    /// A limit, or a value that cannot be compared.
    gave_up: bool,
}

impl Visitor<<Machine as System>::Here> for Transitions<'_> {
    fn transition(&mut self, t: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        let label = self.system.labelled(&self.system.label(t.operation, t.here));
        let params = label.as_ref().and_then(|l| l.params.iter().cloned().collect::<Option<Vec<Value>>>());
        match (label, params) {
            (Some(label), Some(params)) => {
                let target = self.system.variable_values(t.target);
                self.found.insert((label.op, params, label.results, target));
                ControlFlow::Continue(())
            }
            _ => {
                self.gave_up = true;
                ControlFlow::Break(())
            }
        }
    }

    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        match *fault {
            Fault::Wd(_) => self.wd = true,
            Fault::Limit(..) => self.gave_up = true,
        }
        ControlFlow::Continue(())
    }
}
