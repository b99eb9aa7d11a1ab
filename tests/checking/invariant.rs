//! Only the conjuncts that an operation can have changed are tested: the first finding is that of a search that
//! tests all of them in every state.

use crate::support::random::Machine;
use crate::support::{explore, solved};
use kanon::explore::{FindingKind, Options};
use kanon::system::{self, Role, Stop, System};
use std::sync::Arc;

/// What was found first, and in which state.
fn first(system: &Arc<system::Machine>, all: bool) -> Option<(FindingKind, Option<Vec<u64>>)> {
    let options = Options { all, deadlock: false, max_states: Some(200), ..Options::default() };
    let explored = explore(system, &options, &Stop::default());
    let row = |id| explored.store.row(id).to_vec();
    explored.finding.as_ref().map(|f| (f.kind.clone(), f.state.map(row)))
}

#[test]
fn the_first_finding_does_not_depend_on_what_is_left_out() {
    let (mut broken, mut left_out) = (0, 0);
    for seed in 0..1_500 {
        let machine = Machine::new(seed, 8);
        let (system, setup) = solved(&machine.model, &machine.scope, 100, &Stop::default());
        if setup.fault.is_some() || setup.truncated.is_some() {
            continue;
        }
        let events = 0..system.events.len();
        let invariant: Vec<_> = system.checks().iter().filter(|c| c.role == Role::Invariant).collect();
        left_out += events.filter(|e| invariant.iter().any(|c| !c.is_changed_by(*e))).count();
        let some = first(&system, false);
        // With `all` every conjunct is tested.
        let every = first(&system, true);
        assert_eq!(some, every, "{machine:?}");
        broken += usize::from(matches!(some, Some((FindingKind::Invariant(_), Some(_)))));
    }
    assert!(broken > 100 && left_out > 300, "{broken} broken, {left_out} left out");
}
