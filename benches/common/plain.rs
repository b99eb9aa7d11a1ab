//! Breadth-first search as one would write it without the kernel: a queue and a set of visited states.
//!
//! It has the same system, the same store and the same counts as [`kanon::explore`], and nothing else: no events,
//! no tokens, no way to stop, no progress. What the shipped loop costs is measured against it.

use kanon::explore::StateId;
use kanon::explore::store::{Arriving, Layout, ROOT, Store};
use kanon::system::{Check, Machine, Role, System, Transition, Visitor};
use kanon::value::fault::Fault;
use kanon_refinement::kernel::{Insertion, Rrac};
use std::collections::VecDeque;
use std::ops::ControlFlow;

type Here = <Machine as System>::Here;

pub struct Plain<'s> {
    system: &'s Machine,
    invariant: bool,
    store: Store,
    queue: VecDeque<StateId>,
    pub transitions: u64,
    pub events: Vec<u64>,
    pub initialisations: u64,
    pub deadlocks: u64,
    pub violations: u64,
}

/// Explores all states; `invariant`: counts those that break it.
pub fn plain<'s>(system: &'s Machine, invariant: bool) -> Plain<'s> {
    let mut worker = system.worker(&super::never());
    let mut p = Plain {
        system,
        invariant,
        store: Store::new(Layout::new(&system.widths())),
        queue: VecDeque::new(),
        transitions: 0,
        events: vec![0; system.events.len()],
        initialisations: 0,
        deadlocks: 0,
        violations: 0,
    };
    for valuation in 0..system.valuations() {
        let run = system.initial(&mut worker, valuation, &mut |env, row| {
            p.initialisations += 1;
            p.arrive(env, row, ROOT, None);
            ControlFlow::Continue(())
        });
        assert!(run.is_ok(), "INITIALISATION has no value: {:?}", run.err());
    }
    let mut worker = system.worker(&super::never());
    let mut row = Vec::new();
    while let Some(id) = p.queue.pop_front() {
        p.store.read(id, &mut row);
        let before = p.transitions;
        let _ = system.successors(&mut worker, &row, &mut Successors { id, p: &mut p });
        if p.transitions == before {
            p.deadlocks += 1;
        }
    }
    p
}

impl Plain<'_> {
    pub fn states(&self) -> usize {
        self.store.len()
    }

    #[inline]
    fn arrive(&mut self, env: &mut Here, row: &[u64], parent: StateId, by: Option<usize>) {
        if let Insertion::Inserted(id) = self.store.insert_if_absent(Arriving { row, parent }) {
            if self.invariant {
                self.violations += u64::from(!self.satisfied(env, by));
            }
            self.queue.push_back(id);
        }
    }

    /// The conjuncts that the event may have changed: enough, as long as none is broken.
    fn satisfied(&self, env: &mut Here, by: Option<usize>) -> bool {
        let is_due = |c: &Check| by.is_none_or(|event| !c.is_static && c.is_changed_by(event));
        let checks = self.system.checks().iter().enumerate();
        let mut due = checks.filter(|(_, c)| c.role == Role::Invariant && is_due(c));
        due.all(|(i, _)| self.system.holds(i, env).unwrap_or(false))
    }
}

struct Successors<'p, 's> {
    id: StateId,
    p: &'p mut Plain<'s>,
}

impl Visitor<Here> for Successors<'_, '_> {
    #[inline]
    fn transition(&mut self, t: Transition<Here>) -> ControlFlow<()> {
        self.p.transitions += 1;
        self.p.events[t.operation] += 1;
        self.p.arrive(t.here, t.target, self.id, Some(t.operation));
        ControlFlow::Continue(())
    }

    fn fault(&mut self, event: usize, fault: Box<Fault>) -> ControlFlow<()> {
        panic!("{} has no value: {fault:?}", self.p.system.events[event].name)
    }
}
