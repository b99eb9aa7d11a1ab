//! A typed system of kanon-refinement as one over rows: a state becomes a word when it is met.

use super::{
    Check, Complete, Label, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor, Width,
};
use kanon_refinement::system::System as Typed;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// States of any type, each with a word of its own.
///
/// ```
/// use kanon::system::Interned;
/// use kanon_refinement::system::System;
///
/// /// Two numbers that chase each other.
/// struct Chase;
/// impl System for Chase {
///     type State = (u8, u8);
///     type Op = usize;
///     fn initial(&self) -> impl IntoIterator<Item = (usize, (u8, u8))> { [(0, (0, 0))] }
///     fn successors(&self, s: &(u8, u8)) -> impl IntoIterator<Item = (usize, (u8, u8))> {
///         [(0, ((s.0 + 1) % 5, s.1)), (1, (s.0, s.0))]
///     }
///     fn invariant(&self, s: &(u8, u8)) -> bool { s.0 < 5 }
/// }
///
/// let chase = Interned::new(Chase, &["run", "catch"], |op| *op, |s| format!("{s:?}"));
/// let answer = kanon::run::system::check(&chase, None, &Default::default()).expect("they go together");
/// assert!(answer.verdict.holds() && answer.counts.states == 25);
/// ```
pub struct Interned<T: Typed> {
    typed: T,
    operations: Vec<Operation>,
    operation: fn(&T::Op) -> usize,
    show: fn(&T::State) -> String,
    checks: Vec<Check>,
    states: boxcar::Vec<T::State>,
    words: Mutex<BTreeMap<T::State, u64>>,
}

impl<T: Typed> Interned<T> {
    /// `operation` is the place of a step's name among `operations`; `show` writes a state for people.
    pub fn new(
        typed: T,
        operations: &[&str],
        operation: fn(&T::Op) -> usize,
        show: fn(&T::State) -> String,
    ) -> Interned<T> {
        let operations = operations.iter().map(|name| Operation::named(*name)).collect();
        let checks = vec![Check::invariant("invariant")];
        let (states, words) = (boxcar::Vec::new(), Mutex::default());
        Interned { typed, operations, operation, show, checks, states, words }
    }

    /// The word of a state.
    pub fn word(&self, state: &T::State) -> u64 {
        // An insertion is the last thing that happens under the lock, so a panic leaves the map whole.
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        match words.get(state) {
            Some(word) => *word,
            None => {
                let word = self.states.push(state.clone()) as u64;
                words.insert(state.clone(), word);
                word
            }
        }
    }

    /// The state of a row.
    pub fn state(&self, row: &[u64]) -> &T::State {
        &self.states[row[0] as usize]
    }
}

impl<T> System for Interned<T>
where
    T: Typed + Send + Sync,
    T::State: Send + Sync,
{
    type Worker = u64;
    type Here = u64;

    fn widths(&self) -> Vec<Width> {
        vec![Width::Name]
    }

    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    fn worker(&self, _: &Stop) -> u64 {
        0
    }

    fn starts(&self, w: &mut u64, visit: &mut dyn Starts<u64>) -> Option<Complete> {
        visit.start(w, 0).is_continue().then(Complete::every_start_was_visited)
    }

    fn initial(&self, w: &mut u64, _: usize, visit: &mut Visit<'_, u64>) -> Res<ControlFlow<()>> {
        let mut seen = std::collections::HashSet::new();
        for (_, state) in self.typed.initial() {
            *w = self.word(&state);
            if seen.insert(*w) && visit(w, &[*w]).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn successors(&self, w: &mut u64, source: &[u64], visit: &mut dyn Visitor<u64>) -> ControlFlow<()> {
        let mut seen = std::collections::HashSet::new();
        for (op, state) in self.typed.successors(self.state(source)) {
            let operation = (self.operation)(&op);
            let target = self.word(&state);
            if seen.insert((operation, target)) {
                *w = target;
                visit.transition(Transition { operation, target: &[target], here: w })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn load<'w>(&self, w: &'w mut u64, row: &[u64]) -> &'w mut u64 {
        *w = row[0];
        w
    }

    fn holds(&self, _: usize, here: &mut u64) -> Res<bool> {
        Ok(self.typed.invariant(&self.states[*here as usize]))
    }

    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        vec![("state".to_string(), (self.show)(self.state(row)))]
    }

    fn show_label(&self, label: &Label) -> String {
        let name = label.first().and_then(|op| self.operations.get(*op as usize));
        name.map_or_else(String::new, |o| o.name.to_string())
    }
}
