//! The reference evaluator's opinion of a machine, for audits: the same constants, initial states, transitions and truth of
//! every check.

use crate::eval::reference::{self, Cx, Env, State};
use crate::explore::Options;
use crate::explore::audit::{Compared, Difference, Second, Seen};
use crate::explore::clause::{
    ASSERTION, CONSTANTS, GOAL, INITIAL, INVARIANT, OBSERVER, PREDICATE, SUCCESSORS,
};
use crate::model::{Expr, OpId};
use crate::system::{Machine, Role, System};
use crate::value::Value;
use crate::value::fault::Fault;
use std::collections::{BTreeSet, HashMap};

/// Steps of the reference evaluator per state, and for the constants and initial states; beyond them it gives up.
const FUEL: u64 = 200_000;
const ROOT_FUEL: u64 = 20_000_000;
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
    /// For a search with these options: what it looks for, it has to tell.
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
        let mut fitting = self.constants.iter().filter(|s| may_be_same(&constants_of(s), &values));
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

/// Whether two valuations agree where both are listed.
fn may_be_same(a: &[Option<Value>], b: &[Option<Value>]) -> bool {
    a.iter().zip(b).all(|pair| !matches!(pair, (Some(a), Some(b)) if a != b))
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
        // The search had no fault, or nobody would ask.
        let unnoticed = |faults: &[Fault], what: &str| {
            let is_certain = !faults.is_empty() && faults.iter().all(|f| matches!(f, Fault::Wd(_)));
            is_certain.then(|| format!("{what} is not well-defined, and nobody noticed"))
        };
        let constants = reference::constants(&cx);
        if !cx.truncated().is_empty() {
            return gave_up(compared);
        }
        if let Some(text) = unnoticed(&constants.faults, "PROPERTIES") {
            return Some((CONSTANTS, text));
        }
        if !constants.faults.is_empty() {
            return gave_up(compared);
        }
        let expected: Vec<_> = constants.found.iter().map(constants_of).collect();
        let got: Vec<_> = starts.iter().map(|(start, _)| system.constant_values(*start)).collect();
        compared.constants += got.len() as u64;
        // What one of the two keeps symbolic the other may have listed.
        let is_listed = |i: &usize| expected.iter().chain(&got).all(|values| values[*i].is_some());
        let listed: Vec<usize> = (0..system.model.constants.len()).filter(is_listed).collect();
        let part = |all: &[Vec<Option<Value>>]| -> BTreeSet<Vec<Option<Value>>> {
            all.iter().map(|values| listed.iter().map(|i| values[*i].clone()).collect()).collect()
        };
        if part(&expected) != part(&got) {
            let text = format!("{} valuations against {}", got.len(), expected.len());
            return Some((CONSTANTS, text));
        }
        if expected.len() != got.len() {
            return gave_up(compared);
        }
        self.constants = constants.found;
        for (start, rows) in starts {
            let values = system.constant_values(*start);
            let mut fitting = self.constants.iter().filter(|s| may_be_same(&constants_of(s), &values));
            let (Some(state), None) = (fitting.next(), fitting.next()) else {
                return gave_up(compared);
            };
            let initial = reference::initial_states(&cx, state);
            if !cx.truncated().is_empty() {
                return gave_up(compared);
            }
            if let Some(text) = unnoticed(&initial.faults, "INITIALISATION") {
                return Some((INITIAL, text));
            }
            if !initial.faults.is_empty() {
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
