//! The propositions of a formula over a B machine: compiled predicates, evaluated by the evaluator that everything else
//! uses.

use super::atoms::{Bound, From, StateAtom};
use super::lasso::Taken;
use super::space::{Limits, Propositions, Space};
use crate::eval::compile::Compiler;
use crate::eval::env::WordEnv;
use crate::eval::node::{Slot, Test};
use crate::lang::diag::Span;
use crate::symmetry::Reducer;
use crate::system::{Machine, Stop, Values};
use crate::value::fault::Res;
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
    /// By event and parameters.
    instances: Option<HashMap<(usize, Vec<u64>), u32>>,
    /// The row of the state that the atom of this name means.
    current: Option<Vec<u64>>,
    /// Variables whose value before a step is asked for: from where, to where.
    old: Vec<(Slot, Slot)>,
    /// What they are evaluated in: the machine's own slots come first.
    values: Values,
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
    let predicates = Predicates::new(system, bound, current, stop);
    Space::new(system, predicates, bound.property.steps(), reducer, limits, stop)
}

impl Predicates {
    fn new(system: &Machine, bound: &Bound, current: Option<Vec<u64>>, stop: &Stop) -> Predicates {
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
        let instances = instances.then(HashMap::new);
        let values = system.new_values(compiler.slots.len(), stop);
        Predicates { states, steps, by_event, instances, current, old, values }
    }
}

impl Propositions<Machine> for Predicates {
    fn before(&mut self, system: &Machine, row: &[u64]) {
        if !self.old.is_empty() {
            system.load_values(&mut self.values, row);
            let slots = &mut self.values.env.slots;
            for (from, to) in &self.old {
                slots[*to as usize] = slots[*from as usize].clone();
            }
        }
    }

    fn of_state(&mut self, system: &Machine, here: &mut WordEnv, row: &[u64]) -> Res<u64> {
        if !self.states.is_empty() {
            system.load_values(&mut self.values, row);
        }
        let mut props = 0;
        for (i, test) in self.states.iter().enumerate() {
            let value = match test {
                StateTest::Predicate(test, span) => self.values.holds(test, here).map_err(|f| f.at(*span))?,
                StateTest::Current => self.current.as_deref() == Some(row),
            };
            props |= u64::from(value) << i;
        }
        Ok(props)
    }

    fn of_step(&mut self, system: &Machine, here: &mut WordEnv, event: usize) -> Res<Taken> {
        let mut props = 0;
        let slots = &system.events[event];
        let mut is_loaded = false;
        for i in &self.by_event[event] {
            let value = match &self.steps[*i].test {
                None => true,
                Some((test, span)) => {
                    if !std::mem::replace(&mut is_loaded, true) {
                        system.load_step(&mut self.values, event, here);
                    }
                    for (from, to) in &self.steps[*i].copies {
                        let from = match from {
                            From::Parameter(p) => slots.params[*p],
                            From::Result(r) => slots.results[*r],
                            From::Old(_) => continue,
                        };
                        let slots = &mut self.values.env.slots;
                        slots[*to as usize] = slots[from as usize].clone();
                    }
                    self.values.holds(test, here).map_err(|f| f.at(*span))?
                }
            };
            props |= u64::from(value) << i;
        }
        let mut instance = 0;
        if let Some(known) = &mut self.instances {
            let next = known.len() as u32;
            instance = *known.entry((event, system.parameters(event, here).collect())).or_insert(next);
        }
        Ok(Taken { props, instance })
    }

    fn of_operation(&self, event: usize) -> u64 {
        self.by_event[event].iter().fold(0, |all, i| all | 1 << i)
    }
}
