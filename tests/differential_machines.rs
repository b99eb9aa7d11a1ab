//! Whole machines: the production system against the reference evaluator on random small models. Same constants,
//! same initial states, same transitions, and a fault where the reference has one.

mod common;

use common::random::Machine;
use kanon::eval::Fault;
use kanon::eval::reference::{self, Cx, State};
use kanon::model::OpId;
use kanon::system::{Step, System, Visitor};
use kanon::value::Value;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

type Label = (OpId, Vec<Value>, Vec<Option<Value>>, Vec<Value>);

/// The transitions of a state and whether some parameters had a fault.
struct Steps<'s, 'm> {
    system: &'s System<'m>,
    found: BTreeSet<Label>,
    wd: bool,
    limit: bool,
    repeated: bool,
}

impl Visitor for Steps<'_, '_> {
    fn step(&mut self, step: Step) -> ControlFlow<()> {
        let event = &self.system.events[step.event];
        let value = |slot: &u32| self.system.plain(*slot as usize, &step.env.slots[*slot as usize]);
        let params = event.params.iter().map(|s| value(s).expect("a parameter has a value")).collect();
        let results = event.results.iter().map(value).collect();
        let label = (event.op, params, results, self.system.variable_values(step.target));
        self.repeated |= !self.found.insert(label);
        ControlFlow::Continue(())
    }

    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        match *fault {
            Fault::Wd(_) => self.wd = true,
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
fn compare(machine: &Machine) -> Result<usize, String> {
    let cx = Cx::new(&machine.model, &machine.scope).with_fuel(2_000_000);
    let stop = Arc::new(AtomicBool::new(false));
    let mut system = System::new(&machine.model, &machine.scope);
    let setup = system.setup(10_000, &stop);
    let constants = reference::constants(&cx);
    let cut = |cx: &Cx| !cx.truncated().is_empty();
    if setup.fault.is_some() || setup.truncated.is_some() || !constants.faults.is_empty() || cut(&cx) {
        return Ok(0);
    }
    let expected: BTreeSet<_> = constants.found.iter().map(constants_of).collect();
    let got: BTreeSet<_> = (0..system.valuations()).map(|v| system.constant_values(v)).collect();
    if expected != got || got.len() != system.valuations() {
        return Err(format!("constants: expected {expected:?}, got {got:?}"));
    }
    let mut worker = system.worker(&stop);
    let mut compared = 0;
    for valuation in 0..system.valuations().min(3) {
        let values = system.constant_values(valuation);
        let Some(state) = constants.found.iter().find(|s| constants_of(s) == values) else { continue };
        let initial = reference::initial_states(&cx, state);
        let mut rows: Vec<Vec<u64>> = Vec::new();
        let run = system.initial(&mut worker, valuation, &mut |_, row| {
            rows.push(row.to_vec());
            ControlFlow::Continue(())
        });
        if worker.env.truncated.is_some() || cut(&cx) {
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
            let mut steps =
                Steps { system: &system, found: BTreeSet::new(), wd: false, limit: false, repeated: false };
            let _ = system.successors(&mut worker, row, &mut steps);
            let limited = expected.faults.iter().any(|f| matches!(f.fault, Fault::Limit(..)));
            if steps.limit || limited || worker.env.truncated.is_some() || cut(&cx) {
                return Ok(compared);
            }
            let faults = expected.faults;
            let label = |s: &reference::Step| (s.op, s.params.clone(), s.results.clone(), plain(&s.state));
            let expected: BTreeSet<Label> = expected.steps.iter().map(label).collect();
            if !faults.is_empty() && !steps.wd {
                return Err(format!("in {here:?}: expected {faults:?}, but no fault was seen"));
            }
            // With a fault, how many of the other outcomes of that operation are found is open.
            if !steps.wd && (expected != steps.found || steps.repeated) {
                let missing: Vec<_> = expected.difference(&steps.found).collect();
                let extra: Vec<_> = steps.found.difference(&expected).collect();
                let repeated = steps.repeated;
                return Err(format!(
                    "in {here:?}: missing {missing:?}, too many {extra:?}, repeated {repeated}"
                ));
            }
            compared += 1;
        }
    }
    Ok(compared)
}

fn smallest(machine: Machine, why: String) -> (Machine, String) {
    let mut now = (machine, why);
    loop {
        let smaller = now.0.smaller().into_iter().find_map(|m| Some((compare(&m).err()?, m)));
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
    for seed in 0..machines {
        let machine = Machine::new(seed, 10);
        match compare(&machine) {
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
