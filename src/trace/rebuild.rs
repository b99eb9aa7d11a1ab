//! From parent links to a path: every step is run again until it reaches the next state, or, under reduction, a state with
//! the next key.

use crate::explore::store::Trouble;
use crate::explore::{Explored, StateId};
use crate::symmetry::{Action, Perm, Reducer};
use crate::system::{Label, Path, Stop, System, Transition, Visitor, initial_states};
use crate::value::fault::Fault;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The path to a state. `action` is what the search reduced by.
///
/// # Errors
/// A step that is not found again is a mistake of ours.
pub fn rebuild<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    explored: &Explored,
    last: StateId,
) -> Result<Path, String> {
    let store = &explored.store;
    let mut ids = vec![last];
    while let Some(parent) = store.parent(ids[ids.len() - 1]) {
        ids.push(parent);
    }
    let rows: Vec<Vec<u64>> = ids.iter().rev().map(|id| store.row(*id).to_vec()).collect();
    if let Some(Trouble(why)) = store.trouble() {
        return Err(why.clone());
    }
    if let (Some(action), Some(r)) = (action, &explored.reduction)
        && let Some(reducer) = Reducer::new(action, r.strategy, false)
    {
        return unfold(system, action, reducer, &rows);
    }
    let mut worker = system.worker(&Stop::default());
    let mut found = false;
    find_start(system, &mut worker, &rows[0], &mut |row| {
        found = row == rows[0];
        found
    })?;
    let mut labels: Vec<Label> = vec![];
    for edge in rows.windows(2) {
        let mut wanted = Wanted { system, target: &edge[1], found: None };
        let _ = system.successors(&mut worker, &edge[0], &mut wanted);
        labels.push(wanted.found.ok_or_else(|| lost(labels.len()))?);
    }
    Ok(Path { rows, labels })
}

/// Shows initial states until one is the right one: those of the start of this row, and if it is not among them, all.
/// (The image of a start is a start, with the images of its initial states; but not every system has numbers for starts.)
fn find_start<S: System>(
    system: &S,
    worker: &mut S::Worker,
    row: &[u64],
    is_it: &mut dyn FnMut(&[u64]) -> bool,
) -> Result<(), String> {
    let mut found = false;
    let mut visit = |_: &mut S::Here, row: &[u64]| {
        found = is_it(row);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let _ = system.initial(worker, system.start_of(row), &mut visit);
    if found {
        return Ok(());
    }
    let all = initial_states(system, worker, &mut |_, row| {
        found = is_it(row);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if found { Ok(()) } else { Err(no_start(all.fault)) }
}

fn no_start(fault: Option<Box<Fault>>) -> String {
    let start = "the initial state was not found again";
    fault.map_or_else(|| start.to_string(), |f| format!("{start}: {f:?}"))
}

fn lost(steps: usize) -> String {
    format!("step {} of the trace was not found again", steps + 2)
}

/// A path of keys as a path of states. A key is the image of a successor of the key before it under a witness; so
/// a permutation is carried along that takes each key to the state of the path that it stands for, and every
/// step of a key is that step of the state with everything permuted.
fn unfold<S: System>(
    system: &S,
    action: &Arc<dyn Action>,
    mut reducer: Reducer,
    keys: &[Vec<u64>],
) -> Result<Path, String> {
    let mut worker = system.worker(&Stop::default());
    let mut start: Option<(Vec<u64>, Perm)> = None;
    find_start(system, &mut worker, &keys[0], &mut |row| {
        let (key, witness) = reducer.key_with_witness(row);
        let found = key == keys[0];
        if found {
            start = Some((row.to_vec(), witness.inverse()));
        }
        found
    })?;
    let (first, mut back) = start.ok_or_else(|| no_start(None))?;
    let mut path = Path { rows: vec![first], labels: vec![] };
    for edge in keys.windows(2) {
        let action = &**action;
        let mut unfolding =
            Unfolding { system, action, reducer: &mut reducer, key: &edge[1], back: &back, found: None };
        let _ = system.successors(&mut worker, &edge[0], &mut unfolding);
        let (label, target, witness) = unfolding.found.ok_or_else(|| lost(path.labels.len()))?;
        path.labels.push(label);
        path.rows.push(target);
        back = witness.inverse().then(&back);
    }
    Ok(path)
}

struct Unfolding<'x, S> {
    system: &'x S,
    action: &'x dyn Action,
    reducer: &'x mut Reducer,
    key: &'x [u64],
    /// Takes the source key to the source state.
    back: &'x Perm,
    /// The label of the state's step, its target, and the witness of the key's target.
    found: Option<(Label, Vec<u64>, Perm)>,
}

impl<S: System> Visitor<S::Here> for Unfolding<'_, S> {
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        let (key, witness) = self.reducer.key_with_witness(t.target);
        if key != self.key {
            return ControlFlow::Continue(());
        }
        let mut target = vec![];
        if !self.action.row(t.target, self.back, &mut target) {
            return ControlFlow::Continue(());
        }
        let label = self.action.label(&self.system.label(t.operation, t.here), self.back);
        self.found = Some((label, target, witness.clone()));
        ControlFlow::Break(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

struct Wanted<'a, S> {
    system: &'a S,
    target: &'a [u64],
    found: Option<Label>,
}

impl<S: System> Visitor<S::Here> for Wanted<'_, S> {
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        if t.target != self.target {
            return ControlFlow::Continue(());
        }
        self.found = Some(self.system.label(t.operation, t.here));
        ControlFlow::Break(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
