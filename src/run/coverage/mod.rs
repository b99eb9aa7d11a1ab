//! What a complete search has never seen: operations that never fire, values that are never taken, conjuncts and parameters
//! that make no difference. A model may hold because it does nothing.
//!
//! All of it is read off the store when the search is over, so the search itself, its threads and its batches know nothing
//! of it. It is in two parts. [`Coverage`] costs little and is made of every complete run: it reads the stored rows and
//! the text of the model ([`values`], [`unbroken`]). [`Details`] evaluates predicates in all states and visits
//! transitions again ([`conjuncts`], [`effect`]), which costs as much as a search in the worst case, and is made on request.
//!
//! Under reduction a stored state stands for its orbit. What is said of the values of a variable is said of whole orbits
//! (the values are closed under the group, see [`values`]); the truth of a predicate of the model and what a parameter
//! does are the same in all states of an orbit, since no permuted element is named anywhere in the model.

pub mod conjuncts;
pub mod effect;
pub mod values;

use super::answer::Place;
pub use super::answer::{Coverage, Details};
use super::deadline::Deadline;
use crate::explore::{Explored, StateId};
use crate::lang::diag::SourceMap;
use crate::model::Operation;
use crate::model::open::Opened;
use crate::system::{Machine, Role, Stop, System};
use conjuncts::{Judged, Look};
use effect::Effects;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Reads the coverage off the store of a search that is complete and exact; nothing in it was cut short.
// A function of its own also in an optimised build: `scripts/coverage-cost` counts what is executed in it.
#[inline(never)]
pub fn of(
    opened: &Opened,
    machine: &Machine,
    explored: &Explored,
    operations: &[(Arc<str>, u64)],
) -> Coverage {
    let group = explored.reduction.as_ref().map(|r| &r.group).filter(|g| !g.is_trivial());
    Coverage {
        up_to_symmetry: group.is_some(),
        never: operations.iter().filter(|(_, n)| *n == 0).map(|(name, _)| name.clone()).collect(),
        variables: values::variables(machine, &explored.store, group),
        unbroken: unbroken(&opened.sources, machine),
        unused: unused(machine),
        details: None,
    }
}

/// Looks at every stored state once more; none if the time is over before the end.
// Counted by `scripts/coverage-cost`, too.
#[inline(never)]
pub fn details(
    opened: &Opened,
    machine: &Machine,
    explored: &Explored,
    operations: &[(Arc<str>, u64)],
    deadline: &Deadline,
) -> Option<Details> {
    let (look, params) = look(machine, explored, operations, &deadline.flag)?;
    let place = |span| Place::of(&opened.sources, span);
    let name = |event: usize| machine.operations()[event].name.clone();
    let mut details = Details { looked_at: look.items.len(), ..Details::default() };
    for item in &look.items {
        match (item.judged, item.event, item.is_guard) {
            (Judged::Undecided, ..) => details.undecided += 1,
            (Judged::Never, None, _) => details.never_true.extend(place(item.span)),
            (Judged::Never, Some(event), false) => {
                details.never_false.extend(place(item.span).map(|p| (name(event), p)));
            }
            (Judged::Once, Some(event), true) => details.blocked.push(name(event)),
            _ => {}
        }
    }
    details.idle = params.idle(machine);
    Some(details)
}

/// Looks for what the details are about; none if it was interrupted.
pub fn look(
    machine: &Machine,
    explored: &Explored,
    operations: &[(Arc<str>, u64)],
    stop: &Stop,
) -> Option<(Look, Effects)> {
    let mut look = Look::new(machine, operations, stop);
    let mut params = Effects::new(machine, stop);
    let mut row = vec![];
    for id in 0..explored.store.len() as StateId {
        if look.is_done() && params.is_done() {
            break;
        }
        explored.store.read(id, &mut row);
        look.at(machine, &row);
        params.at(machine, &row);
        // An evaluation that was interrupted is no value.
        if stop.load(Ordering::Relaxed) {
            return None;
        }
    }
    Some((look, params))
}

/// Conjuncts that speak of variables, and of none that an operation writes.
fn unbroken(sources: &SourceMap, machine: &Machine) -> Vec<Place> {
    let operations = machine.operations().len();
    let conjuncts = machine.checks().iter().filter(|c| c.role == Role::Invariant && !c.is_static);
    conjuncts
        .filter(|c| operations > 0 && !(0..operations).any(|o| c.is_changed_by(o)))
        .filter_map(|c| Place::of(sources, c.span))
        .collect()
}

/// Parameters that are read nowhere but in one conjunct `p : E`.
fn unused(machine: &Machine) -> Vec<(Arc<str>, Arc<str>)> {
    let model = &machine.model;
    let mut found = vec![];
    for event in &machine.events {
        let op: &Operation = &model.operations[event.op.index()];
        let places = conjuncts::reads(&op.body);
        for p in &op.params {
            let mut uses = places.iter().filter(|e| e.mentions_local(*p));
            let is_set = |e: &&&crate::model::Expr| conjuncts::is_its_set(e, *p);
            if uses.next().filter(is_set).is_some() && uses.next().is_none() {
                found.push((event.name.clone(), model.local(*p).name.clone()));
            }
        }
    }
    found
}
