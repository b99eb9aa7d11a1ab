//! What `--all` found, by conjunct and by the operation that led there first.

use super::answer::{FalseConjunct, Place};
use super::deadline::Deadline;
use super::project::Solved;
use crate::explore::{Explored, Options, StateId};
use crate::symmetry::Reducer;
use crate::system::{Machine, Role, System, Transition, Visitor};
use crate::trace::INITIALISATION;
use crate::value::fault::Fault;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Every state that was stored is looked at once more. A state that breaks several conjuncts is counted with each.
/// Empty when the time is up before the end.
pub fn table(
    solved: &Solved,
    explored: &Explored,
    options: &Options,
    deadline: &Deadline,
) -> Vec<FalseConjunct> {
    let (opened, system) = (&solved.project.opened, &*solved.machine);
    let model = &opened.model;
    // Whatever is checked, with its place among those of its role.
    let mut checks = vec![];
    for (role, wanted) in [(Role::Invariant, options.invariant), (Role::Assertion, options.assertions)] {
        let of_role = system.checks().iter().enumerate().filter(|(_, c)| c.role == role && wanted);
        checks.extend(of_role.enumerate().map(|(place, (check, _))| (check, role, place)));
    }
    let mut found: BTreeMap<(usize, Option<usize>), u64> = BTreeMap::new();
    let mut steps = Steps::new(solved, explored, deadline);
    for id in 0..explored.store.len() as StateId {
        if deadline.is_set() {
            return vec![];
        }
        let row = explored.store.row(id).to_vec();
        let mut by = None;
        for (i, (check, ..)) in checks.iter().enumerate() {
            let here = system.load(&mut steps.worker, &row);
            if system.holds(*check, here) == Ok(false) {
                let by = *by.get_or_insert_with(|| steps.by(id, &row));
                *found.entry((i, by)).or_default() += 1;
            }
        }
    }
    let broken = |((i, by), states): ((usize, Option<usize>), u64)| {
        let (_, role, place) = checks[i];
        let (kind, list) = match role {
            Role::Invariant => ("invariant", &model.invariant),
            _ => ("assertion", &model.assertions),
        };
        let conjunct = Place::of(&opened.sources, list.get(place)?.span)?;
        let operation = by.map_or(INITIALISATION.to_string(), |op| system.operations()[op].name.to_string());
        Some(FalseConjunct { kind, conjunct, operation, states })
    };
    found.into_iter().filter_map(broken).collect()
}

/// Finds the operation by which a state was reached first.
struct Steps<'a> {
    system: &'a Machine,
    explored: &'a Explored,
    worker: <Machine as System>::Worker,
    reducer: Option<Reducer>,
}

impl<'a> Steps<'a> {
    fn new(solved: &'a Solved, explored: &'a Explored, deadline: &Deadline) -> Steps<'a> {
        let strategy = explored.reduction.as_ref().map(|r| r.strategy);
        let reducer = strategy.and_then(|s| Reducer::new(solved.action(), s, false));
        let system = &*solved.machine;
        Steps { system, explored, worker: system.worker(&deadline.flag), reducer }
    }

    /// `None`: it is an initial state.
    fn by(&mut self, id: StateId, row: &[u64]) -> Option<usize> {
        let parent = self.explored.store.parent(id)?;
        let source = self.explored.store.row(parent).to_vec();
        let mut find = Find { reducer: self.reducer.as_mut(), row, found: None };
        let _ = self.system.successors(&mut self.worker, &source, &mut find);
        find.found
    }
}

struct Find<'x> {
    reducer: Option<&'x mut Reducer>,
    row: &'x [u64],
    found: Option<usize>,
}

impl Visitor<<Machine as System>::Here> for Find<'_> {
    fn transition(&mut self, t: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        let is_it = match &mut self.reducer {
            Some(reducer) => reducer.key_with_witness(t.target).0 == self.row,
            None => t.target == self.row,
        };
        if !is_it {
            return ControlFlow::Continue(());
        }
        self.found = Some(t.operation);
        ControlFlow::Break(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
