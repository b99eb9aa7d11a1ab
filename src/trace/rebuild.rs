//! From parent links to a trace: every step is run again until it reaches the next state of the path, or, under
//! reduction, a state with the next key.

use super::{Step, Trace};
use crate::eval::node::Env;
use crate::explore::store::Row;
use crate::explore::{Explored, StateId};
use crate::symmetry::{Action, Perm, Reducer};
use crate::system::{self, System, Visitor, Worker};
use crate::value::fault::Fault;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A trace and the row of its last state, which under reduction need not be the one that is stored.
#[derive(Debug)]
pub struct Rebuilt {
    pub trace: Trace,
    pub row: Option<Vec<u64>>,
}

/// The path to a state, or only the constants when there is no state.
pub fn rebuild(
    system: &System,
    explored: &Explored,
    state: Option<StateId>,
    valuation: usize,
) -> Result<Rebuilt, String> {
    let Some(last) = state else {
        let constants =
            if valuation < system.valuations() { system.constant_values(valuation) } else { vec![] };
        return Ok(Rebuilt { trace: Trace { constants, steps: vec![] }, row: None });
    };
    let store = &explored.store;
    let mut path = vec![last];
    while let Some(parent) = store.parent(path[path.len() - 1]) {
        path.push(parent);
    }
    path.reverse();
    let rows: Vec<Row> = path.iter().map(|id| store.row(*id)).collect();
    let rows: Vec<&[u64]> = rows.iter().map(|r| &r[..]).collect();
    if let Some(r) = &explored.reduction {
        let action = Action::new(system, r.group.clone());
        if let Some(reducer) = Reducer::new(&action, r.strategy, false) {
            return unfold(&action, reducer, &rows);
        }
    }
    let mut worker = system.worker(&Arc::new(AtomicBool::new(false)));
    let mut steps = vec![initial(system, &mut worker, rows[0])?];
    for edge in rows.windows(2) {
        let mut wanted = Wanted { system, target: edge[1], found: None };
        let _ = system.successors(&mut worker, edge[0], &mut wanted);
        steps.push(wanted.found.ok_or_else(|| lost(steps.len()))?);
    }
    let trace = Trace { constants: system.constant_values(system.valuation_of(rows[0])), steps };
    Ok(Rebuilt { trace, row: rows.last().map(|row| row.to_vec()) })
}

fn lost(steps: usize) -> String {
    format!("step {} of the trace was not found again", steps + 1)
}

/// A path of keys as a path of states. A key is the image of a successor of the key before it under a witness; so
/// a permutation is carried along that takes each key to the state of the path that it stands for, and every
/// step of a key is that step of the state with everything permuted.
fn unfold<'a, 's, 'm>(
    action: &'a Action<'s, 'm>,
    mut reducer: Reducer<'a, 's, 'm>,
    keys: &[&[u64]],
) -> Result<Rebuilt, String> {
    let system = action.system;
    let mut worker = system.worker(&Arc::new(AtomicBool::new(false)));
    let mut start: Option<(Vec<u64>, Perm)> = None;
    for valuation in 0..system.valuations() {
        let run = system.initial(&mut worker, valuation, &mut |_, row| {
            let (key, witness) = reducer.key_with_witness(row);
            if key == keys[0] {
                start = Some((row.to_vec(), witness.inverse()));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if start.is_some() || run.is_err() {
            break;
        }
    }
    let (mut row, mut back) = start.ok_or("the initial state was not found again")?;
    let constants = system.constant_values(system.valuation_of(&row));
    let first = Step { op: None, params: vec![], results: vec![], state: system.variable_values(&row) };
    let mut steps = vec![first];
    for edge in keys.windows(2) {
        let mut unfolding =
            Unfolding { action, reducer: &mut reducer, key: edge[1], back: &back, found: None };
        let _ = system.successors(&mut worker, edge[0], &mut unfolding);
        let (step, target, witness) = unfolding.found.ok_or_else(|| lost(steps.len()))?;
        steps.push(step);
        row = target;
        back = witness.inverse().then(&back);
    }
    Ok(Rebuilt { trace: Trace { constants, steps }, row: Some(row) })
}

struct Unfolding<'x, 'a, 's, 'm> {
    action: &'x Action<'s, 'm>,
    reducer: &'x mut Reducer<'a, 's, 'm>,
    key: &'x [u64],
    /// Takes the source key to the source state.
    back: &'x Perm,
    /// The step of the state, its target, and the witness of the key's target.
    found: Option<(Step, Vec<u64>, Perm)>,
}

impl Visitor for Unfolding<'_, '_, '_, '_> {
    fn step(&mut self, s: system::Step) -> ControlFlow<()> {
        let (key, witness) = self.reducer.key_with_witness(s.target);
        if key != self.key {
            return ControlFlow::Continue(());
        }
        let system = self.action.system;
        let event = &system.events[s.event];
        let value = |slot: &u32| {
            let slot = *slot as usize;
            let rep = &system.slots[slot].rep;
            system.plain(slot, &self.action.value(&s.env.slots[slot], rep, self.back))
        };
        let mut target = vec![];
        if !self.action.row(s.target, self.back, &mut target) {
            return ControlFlow::Continue(());
        }
        let step = Step {
            op: Some(event.op),
            params: event.params.iter().map(value).collect(),
            results: event.results.iter().map(value).collect(),
            state: system.variable_values(&target),
        };
        self.found = Some((step, target, witness.clone()));
        ControlFlow::Break(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
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
