//! From parent links to a trace: every step is run again until it reaches the next state of the path.

use super::{Step, Trace};
use crate::eval::node::Env;
use crate::explore::{StateId, Store};
use crate::system::{self, System, Visitor, Worker};
use crate::value::fault::Fault;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The path to a state, or only the constants when there is no state.
pub fn rebuild(
    system: &System,
    store: &Store,
    state: Option<StateId>,
    valuation: usize,
) -> Result<Trace, String> {
    let Some(last) = state else {
        let constants =
            if valuation < system.valuations() { system.constant_values(valuation) } else { vec![] };
        return Ok(Trace { constants, steps: vec![] });
    };
    let mut path = vec![last];
    while let Some(parent) = store.parent(path[path.len() - 1]) {
        path.push(parent);
    }
    path.reverse();
    let mut worker = system.worker(&Arc::new(AtomicBool::new(false)));
    let first = store.row(path[0]);
    let mut steps = vec![initial(system, &mut worker, first)?];
    for edge in path.windows(2) {
        let (source, target) = (store.row(edge[0]), store.row(edge[1]));
        let mut wanted = Wanted { system, target, found: None };
        let _ = system.successors(&mut worker, source, &mut wanted);
        let lost = || format!("step {} of the trace was not found again", steps.len() + 1);
        steps.push(wanted.found.ok_or_else(lost)?);
    }
    Ok(Trace { constants: system.constant_values(system.valuation_of(first)), steps })
}

fn initial(system: &System, worker: &mut Worker, row: &[u64]) -> Result<Step, String> {
    let mut found = false;
    let run = system.initial(worker, system.valuation_of(row), &mut |_, target| {
        found = target == row;
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match run {
        _ if found => {
            Ok(Step { op: None, params: vec![], results: vec![], state: system.variable_values(row) })
        }
        Ok(_) => Err("the initial state was not found again".to_string()),
        Err(fault) => Err(format!("the initial state was not found again: {fault:?}")),
    }
}

/// A transition as plain values.
pub fn step(system: &System, event: usize, env: &Env, target: &[u64]) -> Step {
    let event = &system.events[event];
    let value = |slot: &u32| system.plain(*slot as usize, &env.slots[*slot as usize]);
    Step {
        op: Some(event.op),
        params: event.params.iter().map(value).collect(),
        results: event.results.iter().map(value).collect(),
        state: system.variable_values(target),
    }
}

struct Wanted<'a> {
    system: &'a System<'a>,
    target: &'a [u64],
    found: Option<Step>,
}

impl Visitor for Wanted<'_> {
    fn step(&mut self, s: system::Step) -> ControlFlow<()> {
        if s.target != self.target {
            return ControlFlow::Continue(());
        }
        self.found = Some(step(self.system, s.event, s.env, s.target));
        ControlFlow::Break(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
