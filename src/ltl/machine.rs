//! The propositions of a formula over a B machine: compiled predicates, evaluated by the evaluator that everything else
//! uses.

use super::lasso::Taken;
use super::space::{Limits, Propositions, Space};
use crate::eval::compile::Compiler;
use crate::eval::env::WordEnv;
use crate::lang::diag::Span;
use crate::symmetry::Reducer;
use crate::system::watch::{self, Given, Question, Watch};
use crate::system::{Label, Machine, Stop};
use crate::temporal::atoms::{Bound, From, StateAtom, StepAtom};
use crate::value::fault::Res;
use std::collections::HashMap;

/// A proposition of states.
enum StateTest {
    /// By its place among the tests.
    Predicate(usize, Span),
    Current,
}

/// The propositions of one property.
pub struct Predicates {
    states: Vec<StateTest>,
    /// Propositions of steps: their tests, if there is more to them than an event.
    steps: Vec<Option<(usize, Span)>>,
    /// The propositions that an event may fulfil.
    by_event: Vec<Vec<usize>>,
    /// Those that speak of no operation.
    anywhere: Vec<usize>,
    /// By event and parameters.
    instances: Option<HashMap<(usize, Vec<u64>), u32>>,
    /// The row of the state that the atom of this name means.
    current: Option<Vec<u64>>,
    watch: Watch,
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
    /// What the numbers of instances stand for: events with their parameters.
    pub fn instances(&self) -> Vec<(u32, Label)> {
        let label = |((event, params), number): (&(usize, Vec<u64>), &u32)| {
            (*number, std::iter::once(*event as u64).chain(params.iter().copied()).collect())
        };
        self.instances.iter().flatten().map(label).collect()
    }

    pub(crate) fn new(system: &Machine, bound: &Bound, current: Option<Vec<u64>>, stop: &Stop) -> Predicates {
        let mut compiler = Compiler::new(&system.model, &system.scope);
        // The slots of the system come first, so that one environment serves both.
        compiler.slots.clone_from(&system.slots);
        let mut questions: Vec<Question> = vec![];
        let mut ask = |test, given| {
            questions.push(Question { test, given });
            questions.len() - 1
        };
        let states = bound.states.iter().map(|atom| match atom {
            StateAtom::Predicate(e) => StateTest::Predicate(ask(compiler.closed_test(e), vec![]), e.span),
            StateAtom::Current(_) => StateTest::Current,
        });
        let states = states.collect();
        let mut steps = vec![];
        for atom in &bound.steps {
            let test = atom.test.as_ref().map(|e| (compiler.closed_test(e), e.span));
            let given = atom.locals.iter().map(|(local, from)| {
                let to = compiler.local_slot(*local);
                let from = match *from {
                    From::Old(v) => watch::From::Before(compiler.var_slot(v)),
                    From::Parameter(p) => watch::From::Parameter(p),
                    From::Result(r) => watch::From::Result(r),
                };
                Given { from, to }
            });
            let given = given.collect();
            steps.push(test.map(|(test, span)| (ask(test, given), span)));
        }
        let fits = |e: &crate::eval::compile::CompiledEvent| {
            let atoms = bound.steps.iter().enumerate();
            let fits = |a: &StepAtom| a.foreign.is_none() && a.operation.is_none_or(|op| op == e.op);
            atoms.filter(|(_, a)| fits(a)).map(|(i, _)| i).collect()
        };
        let by_event = system.events.iter().map(fits).collect();
        let is_anywhere = |a: &StepAtom| a.foreign.is_none() && a.operation.is_none();
        let anywhere =
            bound.steps.iter().enumerate().filter(|(_, a)| is_anywhere(a)).map(|(i, _)| i).collect();
        let instances = bound.property.premise.as_ref().is_some_and(|p| p.is_of_instances());
        let instances = instances.then(HashMap::new);
        let slots = std::mem::take(&mut compiler.slots);
        let watch = Watch::new(system, slots, questions, stop);
        Predicates { states, steps, by_event, anywhere, instances, current, watch }
    }
}

impl Predicates {
    /// The propositions of steps that hold of a step of something around the machine, which stays where it is.
    pub(crate) fn of_other_step(&mut self, system: &Machine, here: &mut WordEnv) -> Res<u64> {
        let mut props = 0;
        for i in &self.anywhere {
            let value = match &self.steps[*i] {
                None => true,
                Some((test, span)) => {
                    self.watch.at_step(system, here);
                    self.watch.holds(*test, here).map_err(|f| f.at(*span))?
                }
            };
            props |= u64::from(value) << i;
        }
        Ok(props)
    }

    /// Those that such a step may fulfil.
    pub(crate) fn of_others(&self) -> u64 {
        self.anywhere.iter().fold(0, |all, i| all | 1 << i)
    }
}

impl Propositions<Machine> for Predicates {
    fn before(&mut self, system: &Machine, row: &[u64]) {
        self.watch.before(system, row);
    }

    fn reads_labels(&self) -> bool {
        self.instances.is_some() || self.watch.reads_labels()
    }

    fn of_state(&mut self, system: &Machine, here: &mut WordEnv, row: &[u64]) -> Res<u64> {
        if !self.states.is_empty() {
            self.watch.at_state(system, row);
        }
        let mut props = 0;
        for (i, test) in self.states.iter().enumerate() {
            let value = match test {
                StateTest::Predicate(test, span) => self.watch.holds(*test, here).map_err(|f| f.at(*span))?,
                StateTest::Current => self.current.as_deref() == Some(row),
            };
            props |= u64::from(value) << i;
        }
        Ok(props)
    }

    fn of_step(&mut self, system: &Machine, here: &mut WordEnv, event: usize) -> Res<Taken> {
        let mut props = 0;
        let mut is_loaded = false;
        for i in &self.by_event[event] {
            let value = match &self.steps[*i] {
                None => true,
                Some((test, span)) => {
                    if !std::mem::replace(&mut is_loaded, true) {
                        self.watch.at_step(system, here);
                    }
                    self.watch.holds_of_step(system, event, *test, here).map_err(|f| f.at(*span))?
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
