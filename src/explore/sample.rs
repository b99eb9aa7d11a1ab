//! Sampled states, evaluated a second time by the reference evaluator: the same transitions, the same truth of
//! every conjunct of the invariant.

use super::shadow::Targets;
use crate::eval::reference::{self, Cx, Env, Item, State};
use crate::model::OpId;
use crate::symmetry::Action;
use crate::system::{Step, System, Visitor, Worker};
use crate::value::Value;
use crate::value::fault::Fault;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

pub(super) const SUCCESSORS: &str = "evaluator/successors";
pub(super) const INVARIANT: &str = "evaluator/invariant";
pub(super) const TR: &str = "symmetry/tr: a(tr[s]) = tr[a(s)]";
pub(super) const INV: &str = "symmetry/inv: s ∈ inv ⇔ a(s) ∈ inv";

/// Steps of the reference evaluator a state; beyond them it gives up.
const FUEL: u64 = 200_000;
/// After this many samples, states are sampled half as often.
const PATIENCE: u64 = 32;

pub(super) struct Sampler {
    worker: Worker,
    /// Every how many expanded states one is sampled.
    period: u64,
    expanded: u64,
    samples: u64,
    pub successors: u64,
    pub invariants: u64,
    /// States and generators of the group that were looked at.
    pub symmetric: u64,
    /// Comparisons that could not be made, since an evaluator gave up.
    pub skipped: u64,
}

/// A clause that does not hold, and what differs.
pub(super) type Difference = (&'static str, String);

impl Sampler {
    pub fn new(worker: Worker) -> Sampler {
        Sampler {
            worker,
            period: 1,
            expanded: 0,
            samples: 0,
            successors: 0,
            invariants: 0,
            symmetric: 0,
            skipped: 0,
        }
    }

    /// Looks at a state if it is its turn.
    pub fn look(&mut self, system: &System, row: &[u64], action: Option<&Action>) -> Option<Difference> {
        self.expanded += 1;
        if !self.expanded.is_multiple_of(self.period) {
            return None;
        }
        self.samples += 1;
        let before = self.skipped;
        let difference =
            self.compare(system, row).or_else(|| action.and_then(|action| self.symmetry(action, row)));
        if self.samples.is_multiple_of(PATIENCE) || self.skipped > before {
            self.period = self.period.saturating_mul(2);
        }
        difference
    }

    /// Whether every generator of the group takes the successors of a state to those of its image, and the truth of
    /// the invariant along.
    fn symmetry(&mut self, action: &Action, row: &[u64]) -> Option<Difference> {
        let system = action.system;
        let mut image = vec![];
        for p in action.group.generators() {
            if !action.row(row, &p, &mut image) {
                self.skipped += 1;
                continue;
            }
            let (here, there) = (self.targets(system, row), self.targets(system, &image));
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
            if self.is_good(system, row) != self.is_good(system, &image) {
                return Some((INV, "the invariant tells a state from a symmetric one".to_string()));
            }
        }
        None
    }

    fn targets(&mut self, system: &System, row: &[u64]) -> BTreeSet<Box<[u64]>> {
        let mut targets = vec![];
        let _ = system.successors(&mut self.worker, row, &mut Targets(&mut targets));
        targets.into_iter().collect()
    }

    fn is_good(&mut self, system: &System, row: &[u64]) -> bool {
        system.load(&mut self.worker, row);
        let env = &mut self.worker.env;
        !system.invariant.iter().any(|c| c.test.holds(env) == Ok(false))
    }

    fn compare(&mut self, system: &System, row: &[u64]) -> Option<Difference> {
        let constants = system.constant_values(system.valuation_of(row));
        if constants.iter().any(Option::is_none) {
            // Symbolic: no value that could be handed over.
            self.skipped += 1;
            return None;
        }
        let state = State {
            constants: Arc::new(constants.into_iter().map(|c| c.map(Item::Value)).collect()),
            variables: system.variable_values(row).into_iter().map(Some).collect(),
        };
        self.transitions(system, row, &state).or_else(|| self.truth(system, row, &state))
    }

    fn transitions(&mut self, system: &System, row: &[u64], state: &State) -> Option<Difference> {
        let cx = Cx::new(system.model, system.scope).with_fuel(FUEL);
        let mut got = Transitions { system, found: BTreeSet::new(), wd: false, gave_up: false };
        let cut = std::mem::take(&mut self.worker.env.truncated);
        let _ = system.successors(&mut self.worker, row, &mut got);
        let truncated = std::mem::replace(&mut self.worker.env.truncated, cut).is_some();
        if got.gave_up || truncated {
            self.skipped += 1;
            return None;
        }
        // The state borrows nothing of the evaluator's context.
        let state = State { constants: state.constants.clone(), variables: state.variables.clone() };
        let expected = reference::successors(&cx, &state);
        let limited = expected.faults.iter().any(|f| matches!(f.fault, Fault::Limit(..)));
        // With a fault, how many of the other outcomes of that operation are found is open.
        if limited || !cx.truncated().is_empty() || (got.wd && expected.faults.is_empty()) {
            self.skipped += 1;
            return None;
        }
        self.successors += 1;
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
        let names = |side: Vec<&Transition>| side.iter().map(|t| name(t.0)).collect::<BTreeSet<_>>();
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

    fn truth(&mut self, system: &System, row: &[u64], state: &State) -> Option<Difference> {
        system.load(&mut self.worker, row);
        for (i, p) in system.model.invariant.iter().enumerate() {
            let Some(check) = system.invariant.get(i) else { break };
            let cx = Cx::new(system.model, system.scope).with_fuel(FUEL);
            let state = State { constants: state.constants.clone(), variables: state.variables.clone() };
            let expected = reference::holds(&cx, &Env::of(&state), p);
            let cut = std::mem::take(&mut self.worker.env.truncated);
            let got = check.holds(&mut self.worker.env);
            let truncated = std::mem::replace(&mut self.worker.env.truncated, cut).is_some();
            let wrong = match (&expected, &got) {
                _ if truncated || !cx.truncated().is_empty() => None,
                (Ok(a), Ok(b)) => Some(a != b),
                (Err(Fault::Wd(_)), Ok(_)) => Some(true),
                (Err(Fault::Wd(_)), Err(e)) if matches!(**e, Fault::Wd(_)) => Some(false),
                // Limits; and production may be the stricter one about sets that nothing depends on.
                _ => None,
            };
            match wrong {
                None => self.skipped += 1,
                Some(false) => self.invariants += 1,
                Some(true) => {
                    self.invariants += 1;
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
type Transition = (OpId, Vec<Value>, Vec<Option<Value>>, Vec<Value>);

struct Transitions<'s, 'm> {
    system: &'s System<'m>,
    found: BTreeSet<Transition>,
    wd: bool,
    /// A limit, or a value that cannot be compared.
    gave_up: bool,
}

impl Visitor for Transitions<'_, '_> {
    fn step(&mut self, step: Step) -> ControlFlow<()> {
        let event = &self.system.events[step.event];
        let value = |slot: &u32| self.system.plain(*slot as usize, &step.env.slots[*slot as usize]);
        let params: Option<Vec<Value>> = event.params.iter().map(value).collect();
        let results = event.results.iter().map(value).collect();
        match params {
            Some(params) => {
                let target = self.system.variable_values(step.target);
                self.found.insert((event.op, params, results, target));
                ControlFlow::Continue(())
            }
            None => {
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
