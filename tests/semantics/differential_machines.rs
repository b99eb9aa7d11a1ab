//! Whole machines: the production system against the reference evaluator on random small models. Same constants,
//! same initial states, same transitions, the same truth of the invariant, and a fault where the reference has one.

use crate::support::random::Machine;
use kanon::eval::reference::{self, Cx, Env, State};
use kanon::eval::{Fault, WdKind};
use kanon::model::load::load;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{Model, OpId};
use kanon::system::{self, Stop, System, Transition, Visitor};
use kanon::value::{Scope, Value};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

type Label = (OpId, Vec<Value>, Vec<Option<Value>>, Vec<Value>);

/// The transitions of a state and whether some parameters had a fault.
struct Steps<'s> {
    system: &'s system::Machine,
    found: BTreeSet<Label>,
    wd: bool,
    clash: bool,
    limit: bool,
    repeated: bool,
}

type Here = <system::Machine as System>::Here;

impl Visitor<Here> for Steps<'_> {
    fn transition(&mut self, step: Transition<Here>) -> ControlFlow<()> {
        let label = self.system.label(step.operation, step.here);
        let label = self.system.labelled(&label).expect("a label of this machine");
        let params = label.params.into_iter().map(|v| v.expect("a parameter has a value")).collect();
        let label = (label.op, params, label.results, self.system.variable_values(step.target));
        self.repeated |= !self.found.insert(label);
        ControlFlow::Continue(())
    }

    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        match *fault {
            Fault::Wd(wd) => {
                self.wd = true;
                self.clash |= wd.kind == WdKind::Clash;
            }
            Fault::Limit(..) => self.limit = true,
        }
        ControlFlow::Continue(())
    }
}

fn plain(state: &State) -> Vec<Value> {
    state.variables.iter().map(|v| v.clone().expect("an assigned variable")).collect()
}

fn constants_of(state: &State) -> Vec<Option<Value>> {
    state.constants.iter().map(|c| c.as_ref().and_then(|i| i.value().cloned())).collect()
}

/// Compares constants, initial states and the transitions of some states; how many states were compared.
fn compare(model: &Model, scope: &Scope) -> Result<usize, String> {
    let cx = Cx::new(model, scope).with_fuel(2_000_000);
    let stop = Stop::default();
    let mut system = system::Machine::new(model.clone(), scope.clone());
    let setup = system.setup(10_000, &stop);
    let constants = reference::constants(&cx);
    let cut = |cx: &Cx| !cx.truncated().is_empty();
    if setup.truncated.is_some() || cut(&cx) {
        return Ok(0);
    }
    let is_faulty = constants.faults.iter().any(|f| matches!(f, Fault::Wd(_)));
    if is_faulty && constants.faults.len() == 1 && setup.fault.is_none() {
        return Err(format!("constants: expected {:?}, but no fault was seen", constants.faults));
    }
    if setup.fault.is_some() || !constants.faults.is_empty() {
        return Ok(0);
    }
    let expected: Vec<_> = constants.found.iter().map(constants_of).collect();
    let got: Vec<_> = (0..system.valuations()).map(|v| system.constant_values(v)).collect();
    // What one of the two keeps symbolic the other may have listed.
    let is_listed = |i: &usize| expected.iter().chain(&got).all(|values| values[*i].is_some());
    let listed: Vec<usize> = (0..model.constants.len()).filter(is_listed).collect();
    let part = |all: &[Vec<Option<Value>>]| -> BTreeSet<Vec<Option<Value>>> {
        all.iter().map(|values| listed.iter().map(|i| values[*i].clone()).collect()).collect()
    };
    let is_all_listed = listed.len() == model.constants.len();
    if part(&expected) != part(&got) || (is_all_listed && expected.len() != got.len()) {
        return Err(format!("constants: expected {expected:?}, got {got:?}"));
    }
    let may_be_same = |a: &[Option<Value>], b: &[Option<Value>]| {
        a.iter().zip(b).all(|pair| !matches!(pair, (Some(a), Some(b)) if a != b))
    };
    let mut worker = system.worker(&stop);
    let mut compared = 0;
    for valuation in 0..system.valuations().min(3) {
        let values = system.constant_values(valuation);
        let mut fitting = constants.found.iter().filter(|s| may_be_same(&constants_of(s), &values));
        let (Some(state), None) = (fitting.next(), fitting.next()) else { continue };
        let initial = reference::initial_states(&cx, state);
        let mut rows: Vec<Vec<u64>> = Vec::new();
        let run = system.initial(&mut worker, valuation, &mut |_, row| {
            rows.push(row.to_vec());
            ControlFlow::Continue(())
        });
        if system.cut(&mut worker).is_some() || cut(&cx) {
            return Ok(compared);
        }
        if run.is_err() || !initial.faults.is_empty() {
            if run.is_ok() && initial.faults.iter().any(|f| matches!(f, Fault::Wd(_))) {
                return Err(format!("initialisation: expected {:?}", initial.faults));
            }
            continue;
        }
        let expected: BTreeSet<Vec<Value>> = initial.found.iter().map(plain).collect();
        let got: BTreeSet<Vec<Value>> = rows.iter().map(|r| system.variable_values(r)).collect();
        if expected != got || rows.len() != got.len() {
            return Err(format!("initial states: expected {expected:?}, got {got:?}"));
        }
        for row in rows.iter().take(4) {
            let here = system.variable_values(row);
            let Some(state) = initial.found.iter().find(|s| plain(s) == here) else { continue };
            let expected = reference::successors(&cx, state);
            let found = BTreeSet::new();
            let mut steps =
                Steps { system: &system, found, wd: false, clash: false, limit: false, repeated: false };
            let _ = system.successors(&mut worker, row, &mut steps);
            let limited = expected.faults.iter().any(|f| matches!(f.fault, Fault::Limit(..)));
            if steps.limit || limited || system.cut(&mut worker).is_some() || cut(&cx) {
                return Ok(compared);
            }
            let faults = expected.faults;
            let label =
                |s: &reference::Successor| (s.op, s.params.clone(), s.results.clone(), plain(&s.state));
            let expected: BTreeSet<Label> = expected.steps.iter().map(label).collect();
            if !faults.is_empty() && !steps.wd {
                return Err(format!("in {here:?}: expected {faults:?}, but no fault was seen"));
            }
            if faults.is_empty() && steps.clash {
                return Err(format!("in {here:?}: a clash was seen, but no fault expected"));
            }
            // A fault does not hide the other outcomes of its operation.
            if expected != steps.found || steps.repeated {
                let missing: Vec<_> = expected.difference(&steps.found).collect();
                let extra: Vec<_> = steps.found.difference(&expected).collect();
                let repeated = steps.repeated;
                return Err(format!(
                    "in {here:?}: missing {missing:?}, too many {extra:?}, repeated {repeated}"
                ));
            }
            let reference_env = Env::of(state);
            for (i, conjunct) in model.invariant.iter().enumerate() {
                let expected = reference::holds(&cx, &reference_env, conjunct);
                let got = system.holds(i, system.load(&mut worker, row));
                if system.cut(&mut worker).is_some() || cut(&cx) {
                    return Ok(compared);
                }
                let is_wrong = match (&expected, &got) {
                    (Ok(a), Ok(b)) => a != b,
                    (Err(Fault::Wd(_)), Ok(_)) => true,
                    // Of what is too much, or where a bound has no value, production may say less.
                    _ => false,
                };
                if is_wrong {
                    return Err(format!("conjunct {i} in {here:?}: expected {expected:?}, got {got:?}"));
                }
            }
            compared += 1;
        }
    }
    Ok(compared)
}

fn smallest(machine: Machine, why: String) -> (Machine, String) {
    let mut now = (machine, why);
    loop {
        let smaller = now.0.smaller().into_iter().find_map(|m| Some((compare(&m.model, &m.scope).err()?, m)));
        match smaller {
            Some((why, m)) => now = (m, why),
            None => return now,
        }
    }
}

#[test]
fn machines_have_the_same_transitions() {
    let machines = std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let mut compared = 0;
    let mut differences = Vec::new();
    // The last ones have infinite sets, or real numbers and freetypes.
    for seed in 0..machines + machines / 2 {
        let machine = match seed {
            _ if seed < machines => Machine::new(seed, 10),
            _ if seed < machines + machines / 4 => Machine::infinite(seed, 10),
            _ => Machine::typed(seed, 10),
        };
        match compare(&machine.model, &machine.scope) {
            Ok(n) => compared += n,
            Err(why) => {
                let (machine, why) = smallest(machine, why);
                differences.push(format!("{why}\n{machine:?}"));
                if differences.len() >= 6 {
                    break;
                }
            }
        }
    }
    println!("{compared} states of {machines} machines compared");
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    assert!(compared > machines as usize / 4, "only {compared} states compared");
}

/// Several writes to one variable at once, each alone in a machine: whether they clash is what the reference says
/// (`tests/semantics/reference_machines.rs`).
#[test]
fn writes_at_once_clash_in_both() {
    let mut wrong = Vec::new();
    for (i, body) in [
        "x := 1 || x := 1",
        "x := 1 || x := 2",
        "x := x || x := 2",
        "x := 2 || x := x",
        "x, x := 1, 2",
        "x, y, x := 1, 2, 1",
        "x, x :: {1 |-> 1, 2 |-> 2}",
        "x, x :: {1 |-> 2, 1 |-> 1}",
        "f(0), f(1) := 1, 1",
        "f(0) := 1 || f(0) := 1",
        "f(0) := 1 || f(1) := 1",
        "f(x) := f(x) || f(1) := f(1)",
        "IF x = 0 THEN x := 1 END || IF x = 1 THEN x := 2 END",
        "IF x = 0 THEN x := 1 END || IF y = 0 THEN x := 2 END",
        "x :: 1..2 || x :: 1..2",
        "x :: {2} || ANY z WHERE z : 0..3 & z > 1 & z < 3 THEN x := z END",
        "x := 1 || x := 2 || SELECT y = 1 THEN y := 0 END",
        "BEGIN x := 1 || y := 2 END || BEGIN y := 2 || x := 1 END",
        "BEGIN x := 1 || y := 2 END || BEGIN y := 2 || x := x END",
        "BEGIN x := 1 || x := 1 END || x := 1",
        "BEGIN x := 1 || x := 1 END || x := 0",
        "BEGIN x := 1 ; x := 0 END || x := 0",
        "BEGIN x := 1 ; x := 0 END || x := 1",
        "WHILE x < 2 DO x := x + 1 INVARIANT x : 0..2 VARIANT 2 - x END || x := 2",
        "WHILE x < 2 DO x := x + 1 || x := 1 + x INVARIANT x : 0..2 VARIANT 2 - x END || x := 0",
        "WHILE x < 0 DO x := x + 1 INVARIANT x : 0..2 VARIANT 2 - x END || x := 2",
        "CHOICE x := 1 OR y := 1 END || CHOICE x := 1 OR y := 1 END",
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!(
            "MACHINE At{i} DEFINITIONS SET_PREF_ALLOW_SIMULTANEOUS_ASSIGNMENTS == TRUE \
             VARIABLES x, y, f INVARIANT x : 0..3 & y : 0..3 & f : 0..1 --> 0..1 \
             INITIALISATION x := 0 || y := 0 || f := {{0 |-> 0, 1 |-> 0}} \
             OPERATIONS op = BEGIN {body} END; r <-- other = BEGIN r := x || r := y || {body} END END"
        );
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("At{i}.mch"));
        std::fs::write(&path, text).expect("the build directory is writable");
        let loaded = load(&path);
        let model = loaded.model.unwrap_or_else(|| panic!("{body}: {:?}", loaded.diagnostics));
        let (scope, _) = scope(&model, &ScopeArgs::default()).unwrap_or_else(|d| panic!("{body}: {d:?}"));
        match compare(&model, &scope) {
            Ok(1) => {}
            other => wrong.push(format!("{body}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
