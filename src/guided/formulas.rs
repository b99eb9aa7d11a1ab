//! The propositions of a formula over a guided machine: predicates and operations of the machine, and events of the process.

use super::{Guided, Here};
use crate::ltl::Taken;
use crate::ltl::machine::Predicates;
use crate::ltl::space::Propositions;
use crate::system::{Label, Stop, System};
use crate::temporal::atoms::Bound;
use crate::value::fault::Res;
use std::collections::HashMap;

/// The propositions of one property.
pub struct Atoms {
    machine: Predicates,
    /// How many operations are the machine's.
    own: usize,
    /// Propositions of steps that are not the machine's: their places, and which patterns they are.
    foreign: Vec<(usize, usize)>,
    /// By operation and parameters, or operation and event.
    instances: Option<HashMap<Label, u32>>,
}

impl Atoms {
    /// Those of a formula. The places of its foreign steps are those of patterns of the system.
    pub fn new(guided: &Guided, bound: &Bound, stop: &Stop) -> Atoms {
        let steps = bound.steps.iter().enumerate();
        let foreign = steps.filter_map(|(i, s)| Some((i, s.foreign?))).collect();
        let instances = bound.property.premise.as_ref().is_some_and(|p| p.is_of_instances());
        let machine = Predicates::new(&guided.machine, bound, None, stop);
        let own = guided.machine.operations().len();
        Atoms { machine, own, foreign, instances: instances.then(HashMap::new) }
    }
}

impl Propositions<Guided> for Atoms {
    fn before(&mut self, system: &Guided, row: &[u64]) {
        self.machine.before(&system.machine, system.row(row));
    }

    fn of_state(&mut self, system: &Guided, here: &mut Here, row: &[u64]) -> Res<u64> {
        self.machine.of_state(&system.machine, &mut here.words, system.row(row))
    }

    fn of_step(&mut self, system: &Guided, here: &mut Here, operation: usize) -> Res<Taken> {
        let is_own = operation < system.machine.operations().len();
        let mut props = match is_own {
            true => self.machine.of_step(&system.machine, &mut here.words, operation)?.props,
            false => self.machine.of_other_step(&system.machine, &mut here.words)?,
        };
        for (place, pattern) in &self.foreign {
            props |= u64::from(system.is_in(*pattern, operation, here)) << place;
        }
        let mut instance = 0;
        if let Some(known) = &mut self.instances {
            let mut label = Label::from_slice(&[operation as u64]);
            match is_own {
                true => label.extend(system.machine.parameters(operation, &here.words)),
                false => label.extend(here.event.map(|e| u64::from(e.0))),
            }
            let next = known.len() as u32;
            instance = *known.entry(label).or_insert(next);
        }
        Ok(Taken { props, instance })
    }

    fn of_operation(&self, operation: usize) -> u64 {
        let is_own = operation < self.own;
        let own = if is_own { self.machine.of_operation(operation) } else { self.machine.of_others() };
        // Events of a pattern may be of any channel.
        self.foreign.iter().fold(own, |all, (place, _)| all | 1 << place)
    }
}
