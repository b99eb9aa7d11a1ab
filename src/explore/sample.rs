//! Sampled states, looked at once more: by a second evaluator, which must find the same constants, initial states,
//! transitions and truth of every check; and by the group, under which nothing may change.
//!
//! What there is to tell about a state (a broken invariant, a false assertion, a goal, a deadlock) must have been told, too:
//! a state that the search expands has nothing to tell, unless it goes on after a finding.

use super::Options;
use super::shadow::{Targets, is_good};
use crate::eval::reference::{self, Cx, Env, State};
use crate::lang::diag::Span;
use crate::model::{Expr, OpId};
use crate::symmetry::Action;
use crate::system::{Label, Machine, Role, Starts, Stop, System, Transition, Visitor};
use crate::value::Value;
use crate::value::fault::{Fault, Res};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

pub(super) const CONSTANTS: &str = "evaluator/constants";
pub(super) const INITIAL: &str = "evaluator/initial";
pub(super) const SUCCESSORS: &str = "evaluator/successors";
pub(super) const INVARIANT: &str = "evaluator/invariant";
pub(super) const ASSERTION: &str = "evaluator/assertion";
pub(super) const GOAL: &str = "evaluator/goal";
pub(super) const PREDICATE: &str = "evaluator/formula";
pub(super) const OBSERVER: &str = "observer: what there is to tell is told";
pub(super) const TR: &str = "symmetry/tr: a(tr[s]) = tr[a(s)]";
pub(super) const INV: &str = "symmetry/inv: s ∈ inv ⇔ a(s) ∈ inv";

/// Steps of the reference evaluator per state, and for the constants and initial states; beyond them it gives up.
const FUEL: u64 = 200_000;
const ROOT_FUEL: u64 = 20_000_000;
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
    /// The last state that was looked at has no transition.
    is_dead: bool,
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

/// The reference evaluator's opinion of a machine. Of the machine it asks what rows and labels mean, and nothing else.
pub struct Reference<'s> {
    system: &'s Machine,
    /// What a search looks for and ends at.
    told: Vec<Role>,
    deadlock: bool,
    /// The valuations that it found itself.
    constants: Vec<State<'s>>,
    /// Of a formula, with what was said of states.
    predicates: Vec<&'s Expr>,
    values: HashMap<Vec<u64>, u64>,
}

/// Operation, parameters, results, target.
type Values = (OpId, Vec<Value>, Vec<Option<Value>>, Vec<Value>);

impl<'s> Reference<'s> {
    pub fn new(system: &'s Machine, options: &Options) -> Reference<'s> {
        let roles = [
            (Role::Invariant, options.invariant),
            (Role::Assertion, options.assertions),
            (Role::Goal, options.goal),
        ];
        let told = roles.into_iter().filter(|(_, on)| *on && !options.all).map(|(r, _)| r).collect();
        let deadlock = options.deadlock && !options.all;
        let (constants, predicates, values) = (vec![], vec![], HashMap::new());
        Reference { system, told, deadlock, constants, predicates, values }
    }

    /// Also asks for the truth of these predicates, whose values in a state are the bits of a word.
    #[must_use]
    pub fn with_predicates(self, predicates: Vec<&'s Expr>, values: HashMap<Vec<u64>, u64>) -> Reference<'s> {
        Reference { predicates, values, ..self }
    }

    /// Whether the predicates of a formula are as they were said to be.
    fn formula(&self, row: &[u64], compared: &mut Compared) -> Option<Difference> {
        let values = self.values.get(row)?;
        for (i, p) in self.predicates.iter().enumerate() {
            let Some(state) = self.state(row) else {
                compared.skipped += 1;
                continue;
            };
            let cx = self.evaluator(FUEL);
            let expected = reference::holds(&cx, &Env::of(&state), p);
            compared.steps += FUEL - cx.fuel();
            match expected {
                Ok(expected) if cx.truncated().is_empty() => {
                    compared.predicates += 1;
                    if expected != (values >> i & 1 == 1) {
                        return Some((PREDICATE, format!("predicate {} is {expected}", i + 1)));
                    }
                }
                _ => compared.skipped += 1,
            }
        }
        None
    }

    fn evaluator(&self, fuel: u64) -> Cx<'s> {
        Cx::new(&self.system.model, &self.system.scope).with_fuel(fuel)
    }

    /// A state for the evaluator, with the constants as it found them itself; none if it did not.
    fn state(&self, row: &[u64]) -> Option<State<'s>> {
        let values = self.system.constant_values(self.system.start_of(row));
        let mut fitting = self.constants.iter().filter(|s| constants_of(s) == values);
        let constants = fitting.next()?.constants.clone();
        // Two that differ only in what is symbolic cannot be told apart.
        if fitting.next().is_some() {
            return None;
        }
        let variables = self.system.variable_values(row).into_iter().map(Some).collect();
        Some(State { constants, variables })
    }

    fn transitions(&self, row: &[u64], seen: &Seen, compared: &mut Compared) -> Option<Difference> {
        let Some(state) = self.state(row).filter(|_| !seen.gave_up) else {
            compared.skipped += 1;
            return None;
        };
        let system = self.system;
        let mut got: BTreeSet<Values> = BTreeSet::new();
        for (label, target) in &seen.transitions {
            let label = system.labelled(label)?;
            let Some(params) = label.params.into_iter().collect::<Option<Vec<Value>>>() else {
                compared.skipped += 1;
                return None;
            };
            got.insert((label.op, params, label.results, system.variable_values(target)));
        }
        let cx = self.evaluator(FUEL);
        let expected = reference::successors(&cx, &state);
        compared.steps += FUEL - cx.fuel();
        let limited = expected.faults.iter().any(|f| matches!(f.fault, Fault::Limit(..)));
        // With a fault, how many of the other outcomes of that operation are found is open.
        if limited || !cx.truncated().is_empty() || (seen.is_faulty && expected.faults.is_empty()) {
            compared.skipped += 1;
            return None;
        }
        compared.successors += 1;
        let name = |op: OpId| system.model.operations[op.index()].name.to_string();
        if let Some(f) = expected.faults.first() {
            let missing = || format!("{} is not well-defined, and nobody noticed", name(f.op));
            return (!seen.is_faulty).then(|| (SUCCESSORS, missing()));
        }
        let values = |s: &State| s.variables.iter().cloned().collect::<Option<Vec<Value>>>();
        let mut all = BTreeSet::new();
        for s in &expected.steps {
            match values(&s.state) {
                Some(target) => all.insert((s.op, s.params.clone(), s.results.clone(), target)),
                None => return None,
            };
        }
        compared.is_dead = self.deadlock && all.is_empty();
        if all == got {
            return None;
        }
        let names = |side: Vec<&Values>| side.iter().map(|t| name(t.0)).collect::<BTreeSet<_>>();
        let missing = names(all.difference(&got).collect());
        let extra = names(got.difference(&all).collect());
        let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
        let text = match (missing.is_empty(), extra.is_empty()) {
            (false, true) => format!("transitions are missing: {}", list(missing)),
            (true, _) => format!("there are too many transitions: {}", list(extra)),
            _ => format!("transitions differ: {} against {}", list(extra), list(missing)),
        };
        Some((SUCCESSORS, text))
    }

    /// Every check with its expression, in the order of the system's.
    fn checks(&self) -> impl Iterator<Item = (usize, Role, usize, &'s Expr)> {
        let model = &self.system.model;
        let invariant = model.invariant.iter().enumerate().map(|(i, e)| (Role::Invariant, i, e));
        let assertions = model.assertions.iter().enumerate().map(|(i, e)| (Role::Assertion, i, e));
        let goal = model.goal.iter().enumerate().map(|(i, e)| (Role::Goal, i, e));
        invariant.chain(assertions).chain(goal).enumerate().map(|(check, (role, i, e))| (check, role, i, e))
    }

    fn truth(&self, row: &[u64], seen: &Seen, compared: &mut Compared) -> Option<Difference> {
        for (check, role, i, p) in self.checks() {
            let got = seen.checks.get(check).and_then(Option::as_ref);
            let (Some(state), Some(got)) = (self.state(row), got) else {
                compared.skipped += 1;
                continue;
            };
            let cx = self.evaluator(FUEL);
            let expected = reference::holds(&cx, &Env::of(&state), p);
            compared.steps += FUEL - cx.fuel();
            let is_wrong = match (&expected, got) {
                _ if !cx.truncated().is_empty() => None,
                (Ok(a), Ok(b)) => Some(a != b),
                (Err(Fault::Wd(_)), Ok(_)) => Some(true),
                (Err(Fault::Wd(_)), Err(e)) if matches!(**e, Fault::Wd(_)) => Some(false),
                // Limits; and production may be the stricter one about sets that nothing depends on.
                _ => None,
            };
            let (clause, count, what) = match role {
                Role::Invariant => (INVARIANT, &mut compared.invariants, "conjunct"),
                Role::Assertion => (ASSERTION, &mut compared.assertions, "assertion"),
                Role::Goal => (GOAL, &mut compared.goals, "goal"),
            };
            match is_wrong {
                None => compared.skipped += 1,
                Some(false) => {
                    *count += 1;
                    let quiet = role != Role::Goal;
                    if self.told.contains(&role) && expected.is_ok_and(|v| v != quiet) {
                        let word = if quiet { "false" } else { "true" };
                        return Some((OBSERVER, format!("{what} {} is {word}, and nobody noticed", i + 1)));
                    }
                }
                Some(true) => {
                    *count += 1;
                    let word = |known: Option<bool>| match known {
                        Some(true) => "true",
                        Some(false) => "false",
                        None => "without a value",
                    };
                    let (got, expected) = (word(got.clone().ok()), word(expected.ok()));
                    let text = format!("{what} {} is said to be {got}, but it is {expected}", i + 1);
                    return Some((clause, text));
                }
            }
        }
        None
    }
}

/// The values of the constants, as far as they are not symbolic.
fn constants_of(state: &State) -> Vec<Option<Value>> {
    state.constants.iter().map(|c| c.as_ref().and_then(|i| i.value().cloned())).collect()
}

impl Second for Reference<'_> {
    fn root(&mut self, starts: &[(usize, Vec<Vec<u64>>)], compared: &mut Compared) -> Option<Difference> {
        let system = self.system;
        let cx = self.evaluator(ROOT_FUEL);
        let gave_up = |compared: &mut Compared| {
            compared.skipped += 1;
            compared.root_skipped = true;
            None
        };
        let constants = reference::constants(&cx);
        if !constants.faults.is_empty() || !cx.truncated().is_empty() {
            return gave_up(compared);
        }
        let expected: BTreeSet<_> = constants.found.iter().map(constants_of).collect();
        let got: BTreeSet<_> = starts.iter().map(|(start, _)| system.constant_values(*start)).collect();
        compared.constants += got.len() as u64;
        if expected != got {
            let text = format!("{} valuations against {}", got.len(), expected.len());
            return Some((CONSTANTS, text));
        }
        self.constants = constants.found;
        for (start, rows) in starts {
            let values = system.constant_values(*start);
            let Some(state) = self.constants.iter().find(|s| constants_of(s) == values) else {
                return gave_up(compared);
            };
            let initial = reference::initial_states(&cx, state);
            if !initial.faults.is_empty() || !cx.truncated().is_empty() {
                return gave_up(compared);
            }
            let plain = |s: &State| s.variables.iter().cloned().collect::<Option<Vec<Value>>>();
            let expected: BTreeSet<_> = initial.found.iter().filter_map(plain).collect();
            let got: BTreeSet<_> = rows.iter().map(|r| system.variable_values(r)).collect();
            compared.initial += got.len() as u64;
            if expected != got {
                return Some((INITIAL, format!("{} initial states against {}", got.len(), expected.len())));
            }
        }
        None
    }

    fn look(&mut self, row: &[u64], seen: &Seen, compared: &mut Compared) -> Option<Difference> {
        self.transitions(row, seen, compared)
            .or_else(|| self.truth(row, seen, compared))
            .or_else(|| self.formula(row, compared))
    }
}
