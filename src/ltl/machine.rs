//! The propositions of a formula over a B machine: compiled predicates, evaluated by the evaluator that everything else
//! uses.

use super::atoms::{Bound, From, StateAtom};
use super::lasso::Taken;
use super::space::{Limits, Propositions, Space};
use crate::eval::compile::Compiler;
use crate::eval::node::{Env, Slot, Test};
use crate::lang::diag::Span;
use crate::symmetry::Reducer;
use crate::system::{Machine, Stop, System, Worker};
use crate::value::fault::Res;
use crate::value::ops::force;
use crate::value::val::Val;
use std::collections::HashMap;

enum StateTest {
    Predicate(Test, Span),
    Current,
}

struct StepTest {
    test: Option<(Test, Span)>,
    /// Parameters and results that the test reads, and where it reads them.
    copies: Vec<(From, Slot)>,
}

/// The propositions of one property.
pub struct Predicates {
    states: Vec<StateTest>,
    steps: Vec<StepTest>,
    /// The propositions that an event may fulfil.
    by_event: Vec<Vec<usize>>,
    instances: Option<HashMap<(usize, Vec<Val>), u32>>,
    /// The row of the state that the atom of this name means.
    current: Option<Vec<u64>>,
    /// Variables whose value before a step is asked for: from where, to where.
    old: Vec<(Slot, Slot)>,
    /// Slots of the environment: the machine's own come first.
    slots: usize,
    /// No step is looked into, so values are needed of new states only.
    lean: bool,
}

/// A machine as a formula sees it. `current` is the row of the state that the atom of this name means. Whether a reducer
/// goes with the property is for [`super::reduce`] to say.
pub fn space<'s>(
    system: &'s Machine,
    bound: &Bound,
    reducer: Option<Reducer>,
    limits: Limits,
    current: Option<Vec<u64>>,
    stop: &Stop,
) -> Space<'s, Machine, Predicates> {
    let predicates = Predicates::new(system, bound, current);
    Space::new(system, predicates, bound.property.steps(), reducer, limits, stop)
}

impl Predicates {
    fn new(system: &Machine, bound: &Bound, current: Option<Vec<u64>>) -> Predicates {
        let mut compiler = Compiler::new(&system.model, &system.scope);
        // The slots of the system come first, so that one environment serves both.
        compiler.slots.clone_from(&system.slots);
        let states = bound.states.iter().map(|atom| match atom {
            StateAtom::Predicate(e) => StateTest::Predicate(compiler.closed_test(e), e.span),
            StateAtom::Current(_) => StateTest::Current,
        });
        let states = states.collect();
        let mut old: Vec<(Slot, Slot)> = vec![];
        let mut steps = vec![];
        for atom in &bound.steps {
            let test = atom.test.as_ref().map(|e| (compiler.closed_test(e), e.span));
            let mut copies = vec![];
            for (local, from) in &atom.locals {
                let to = compiler.local_slot(*local);
                match from {
                    From::Old(v) => old.push((compiler.var_slot(*v), to)),
                    From::Parameter(_) | From::Result(_) => copies.push((*from, to)),
                }
            }
            steps.push(StepTest { test, copies });
        }
        let fits = |e: &crate::eval::compile::Event| {
            let atoms = bound.steps.iter().enumerate();
            atoms.filter(|(_, a)| a.operation.is_none_or(|op| op == e.op)).map(|(i, _)| i).collect()
        };
        let by_event = system.events.iter().map(fits).collect();
        let instances = bound.property.premise.as_ref().is_some_and(|p| p.is_of_instances());
        let lean = !instances && bound.steps.iter().all(|s| s.test.is_none());
        let instances = instances.then(HashMap::new);
        Predicates { states, steps, by_event, instances, current, old, slots: compiler.slots.len(), lean }
    }
}

impl Propositions<Machine> for Predicates {
    fn worker(&self, system: &Machine, stop: &Stop) -> Worker {
        if !self.lean {
            return self.label_worker(system, stop);
        }
        let mut worker = system.prefetching_worker(stop);
        worker.env.slots.resize(self.slots, Val::None);
        worker
    }

    fn label_worker(&self, system: &Machine, stop: &Stop) -> Worker {
        let mut worker = system.full_worker(stop);
        worker.env.slots.resize(self.slots, Val::None);
        worker
    }

    fn before(&mut self, system: &Machine, worker: &mut Worker, row: &[u64]) {
        if !self.old.is_empty() {
            system.load(worker, row);
            for (from, to) in &self.old {
                worker.env.slots[*to as usize] = worker.env.slots[*from as usize].clone();
            }
        }
    }

    fn of_state(&mut self, system: &Machine, env: &mut Env, row: &[u64]) -> Res<u64> {
        if self.lean && !self.states.is_empty() {
            system.put(env, row);
        }
        let mut props = 0;
        for (i, test) in self.states.iter().enumerate() {
            let value = match test {
                StateTest::Predicate(test, span) => test.holds(env).map_err(|f| f.at(*span))?,
                StateTest::Current => self.current.as_deref() == Some(row),
            };
            props |= u64::from(value) << i;
        }
        Ok(props)
    }

    fn of_step(&mut self, system: &Machine, env: &mut Env, event: usize) -> Res<Taken> {
        let mut props = 0;
        let slots = &system.events[event];
        for i in &self.by_event[event] {
            let value = match &self.steps[*i].test {
                None => true,
                Some((test, span)) => {
                    for (from, to) in &self.steps[*i].copies {
                        let from = match from {
                            From::Parameter(p) => slots.params[*p],
                            From::Result(r) => slots.results[*r],
                            From::Old(_) => continue,
                        };
                        env.slots[*to as usize] = env.slots[from as usize].clone();
                    }
                    test.holds(env).map_err(|f| f.at(*span))?
                }
            };
            props |= u64::from(value) << i;
        }
        let mut instance = 0;
        if let Some(known) = &mut self.instances {
            let mut key = Vec::with_capacity(slots.params.len());
            for p in &slots.params {
                key.push(force(env.slots[*p as usize].clone(), &system.slots[*p as usize].rep)?);
            }
            let next = known.len() as u32;
            instance = *known.entry((event, key)).or_insert(next);
        }
        Ok(Taken { props, instance })
    }

    fn of_operation(&self, event: usize) -> u64 {
        self.by_event[event].iter().fold(0, |all, i| all | 1 << i)
    }
}
