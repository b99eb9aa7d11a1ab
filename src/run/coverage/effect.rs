//! Parameters whose value makes no difference.
//!
//! In a state, the value of a parameter makes a difference if two of the values with which the operation is enabled there
//! differ in anything else: in the other parameters that go with them, in the results, or in the states they lead to. A
//! parameter that makes no difference in any state, and has several values in at least one, could as well be left out.

use crate::eval::env::WordEnv;
use crate::system::{Machine, Stop, System, Transition, Visitor, Worker};
use crate::value::fault::Fault;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The most transitions of an operation in a state that are compared; with more nothing is said of its parameters.
const MOST: usize = 1 << 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// It had one value at a time so far.
    Alone,
    /// It had several values somewhere, and they made no difference.
    None,
    Some,
}

/// What is known of the parameters of all events.
pub struct Effects {
    /// By event and parameter.
    all: Vec<Vec<Effect>>,
    worker: Worker,
}

impl Effects {
    /// Nothing is known.
    pub fn new(machine: &Machine, stop: &Stop) -> Effects {
        let all = machine.events.iter().map(|e| vec![Effect::Alone; e.params.len()]).collect();
        Effects { all, worker: machine.worker(stop) }
    }

    /// Every parameter has been seen to make a difference.
    pub fn is_done(&self) -> bool {
        self.all.iter().flatten().all(|e| *e == Effect::Some)
    }

    /// Looks at a state.
    pub fn at(&mut self, machine: &Machine, row: &[u64]) {
        for (event, effects) in self.all.iter_mut().enumerate() {
            if effects.iter().all(|e| *e == Effect::Some) {
                continue;
            }
            let mut seen = Steps { machine, all: BTreeSet::new(), is_odd: false };
            let _ = machine.visit_events(&mut self.worker, row, event..event + 1, &mut seen);
            if seen.is_odd || machine.cut(&mut self.worker).is_some() {
                effects.fill(Effect::Some);
                continue;
            }
            for (p, effect) in effects.iter_mut().enumerate().filter(|(_, e)| **e != Effect::Some) {
                match differ(&seen.all, p) {
                    Some(true) => *effect = Effect::Some,
                    Some(false) => *effect = Effect::None,
                    None => {}
                }
            }
        }
    }

    /// The parameters without effect: operation and parameter.
    pub fn idle(&self, machine: &Machine) -> Vec<(Arc<str>, Arc<str>)> {
        let mut found = vec![];
        for (event, effects) in machine.events.iter().zip(&self.all) {
            let op = &machine.model.operations[event.op.index()];
            let idle = op.params.iter().zip(effects).filter(|(_, e)| **e == Effect::None);
            found.extend(idle.map(|(p, _)| (event.name.clone(), machine.model.local(*p).name.clone())));
        }
        found
    }
}

/// Whether the values of a parameter (a place in each step) differ in anything else; none if there are not two.
fn differ(steps: &BTreeSet<Vec<u64>>, p: usize) -> Option<bool> {
    let mut by: BTreeMap<u64, Vec<Vec<u64>>> = BTreeMap::new();
    for step in steps {
        let mut rest = step.clone();
        by.entry(rest.remove(p)).or_default().push(rest);
    }
    let mut all = by.into_values();
    let first = all.next()?;
    // The steps are in order, and so is what is left of those with one value.
    all.map(|other| other != first).reduce(|a, b| a || b)
}

/// The steps of one event: parameters, results and target.
struct Steps<'m> {
    machine: &'m Machine,
    all: BTreeSet<Vec<u64>>,
    /// A fault, or too many.
    is_odd: bool,
}

impl Visitor<WordEnv> for Steps<'_> {
    fn transition(&mut self, t: Transition<WordEnv>) -> ControlFlow<()> {
        let label = self.machine.label(t.operation, t.here);
        let step = label[1..].iter().chain(t.target).copied().collect();
        self.all.insert(step);
        self.is_odd |= self.all.len() > MOST;
        if self.is_odd { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        self.is_odd = true;
        ControlFlow::Break(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(all: &[[u64; 3]]) -> BTreeSet<Vec<u64>> {
        all.iter().map(|s| s.to_vec()).collect()
    }

    #[test]
    fn a_difference_in_anything_else_counts() {
        // Two parameters and a target.
        let same = steps(&[[0, 0, 7], [1, 0, 7], [0, 1, 8], [1, 1, 8]]);
        assert_eq!((differ(&same, 0), differ(&same, 1)), (Some(false), Some(true)));
        let missing = steps(&[[0, 0, 7], [1, 0, 7], [0, 1, 8]]);
        assert_eq!(differ(&missing, 0), Some(true), "it decides which other values are enabled");
        assert_eq!((differ(&steps(&[[0, 0, 7]]), 0), differ(&steps(&[]), 0)), (None, None));
    }
}
