//! A transition system along a path: the variables of each state, and the formulas of the system over them.
//! Absent on purpose: solvers. What is asserted of a path is the engines' business.

use crate::engine::{Bad, Counterexample, PathStep, copy, replay};
use crate::eval::Evaluator;
use crate::substitute::Substitution;
use crate::term::{Assignment, Bool, Terms, Var};
use crate::transition::Transitions;
use std::collections::BTreeMap;

/// One point in time: the state's variables, and copies of all inputs.
struct Moment {
    cells: Vec<Var>,
    /// In order: the same terms come of the same system, in whichever run (`refute`).
    inputs: BTreeMap<Var, Var>,
}

pub struct Unrolling<'a> {
    pub system: &'a Transitions,
    moments: Vec<Moment>,
    /// From `now`, `next` and inputs to a moment and the next.
    renamings: Vec<Substitution>,
    /// From `next` to the first moment.
    first: Option<Substitution>,
}

impl<'a> Unrolling<'a> {
    pub fn new(system: &'a Transitions) -> Unrolling<'a> {
        Unrolling { system, moments: vec![], renamings: vec![], first: None }
    }

    fn moment(&mut self, terms: &mut Terms, time: usize) -> &Moment {
        while self.moments.len() <= time {
            let n = self.moments.len();
            let copy = |terms: &mut Terms, v: Var| {
                let name = format!("{}@{n}", terms.name(v));
                terms.like(v, name)
            };
            let cells = self.system.cells.iter().map(|c| copy(terms, c.now)).collect();
            let of_events = self.system.events.iter().flat_map(|e| &e.inputs);
            let of_properties = self.system.properties.iter().flat_map(|p| &p.inputs);
            let mut inputs = BTreeMap::new();
            for &v in of_events.chain(of_properties) {
                inputs.entry(v).or_insert_with(|| copy(terms, v));
            }
            self.moments.push(Moment { cells, inputs });
        }
        &self.moments[time]
    }

    /// The variables of a state, in the order of the cells.
    pub fn state(&mut self, terms: &mut Terms, time: usize) -> &[Var] {
        &self.moment(terms, time).cells
    }

    fn renamed(&mut self, terms: &mut Terms, time: usize, b: Bool) -> Bool {
        self.moment(terms, time + 1);
        while self.renamings.len() <= time {
            let n = self.renamings.len();
            let mut renaming = Substitution::new();
            for (cell, (&now, &next)) in
                self.system.cells.iter().zip(self.moments[n].cells.iter().zip(&self.moments[n + 1].cells))
            {
                renaming.rename(terms, cell.now, now);
                renaming.rename(terms, cell.next, next);
            }
            for (&from, &to) in &self.moments[n].inputs {
                renaming.rename(terms, from, to);
            }
            self.renamings.push(renaming);
        }
        self.renamings[time].bool(terms, b)
    }

    /// The first state is an initial one.
    pub fn init(&mut self, terms: &mut Terms) -> Bool {
        self.moment(terms, 0);
        let first = self.first.get_or_insert_with(|| {
            let mut first = Substitution::new();
            for (cell, &v) in self.system.cells.iter().zip(&self.moments[0].cells) {
                first.rename(terms, cell.next, v);
            }
            first
        });
        first.bool(terms, self.system.init)
    }

    /// This event leads from the state at a time to the next.
    pub fn step(&mut self, terms: &mut Terms, time: usize, event: usize) -> Bool {
        self.renamed(terms, time, self.system.events[event].step)
    }

    /// Some event does.
    pub fn any_step(&mut self, terms: &mut Terms, time: usize) -> Bool {
        let steps: Vec<Bool> = (0..self.system.events.len()).map(|e| self.step(terms, time, e)).collect();
        terms.or(steps)
    }

    /// This property is bad at a time.
    pub fn is_bad(&mut self, terms: &mut Terms, time: usize, property: usize) -> Bool {
        self.renamed(terms, time, self.system.properties[property].is_bad)
    }

    /// Some event is undefined at a time.
    pub fn is_undefined(&mut self, terms: &mut Terms, time: usize) -> Bool {
        let all: Vec<Bool> =
            (0..self.system.events.len()).map(|e| self.system.events[e].is_undefined).collect();
        let all: Vec<Bool> = all.into_iter().map(|b| self.renamed(terms, time, b)).collect();
        terms.or(all)
    }

    /// Not bad in any way that needs no inputs to be said: what may be assumed of a state that is not bad. (That there
    /// are no inputs with which it is bad is no formula without quantifiers.)
    pub fn is_good(&mut self, terms: &mut Terms, time: usize) -> Bool {
        let good = good(terms, self.system);
        self.renamed(terms, time, good)
    }

    /// The two states differ in a cell.
    pub fn differ(&mut self, terms: &mut Terms, one: usize, other: usize) -> Bool {
        self.moment(terms, one.max(other));
        let pairs: Vec<(Var, Var)> =
            self.moments[one].cells.iter().copied().zip(self.moments[other].cells.iter().copied()).collect();
        let same: Vec<Bool> = pairs.into_iter().map(|(a, b)| terms.same(a, b)).collect();
        !terms.and(same)
    }

    /// The counterexample of so many steps that a model is, evaluated again. The error is a mistake of ours.
    pub fn path(
        &mut self,
        terms: &mut Terms,
        model: &Assignment,
        length: usize,
        is_shortest: bool,
    ) -> Result<Counterexample, String> {
        self.moment(terms, length + 1);
        let (terms, system) = (&*terms, self.system);
        let state = |time: usize| {
            let mut state = Assignment::default();
            for (cell, &v) in system.cells.iter().zip(&self.moments[time].cells) {
                state.set(cell.now, model.value(terms, v));
            }
            state
        };
        let inputs = |time: usize, vars: &[Var]| {
            let mut values = Assignment::default();
            for v in vars {
                if let Some(&copy) = self.moments[time].inputs.get(v) {
                    values.set(*v, model.value(terms, copy));
                }
            }
            values
        };
        let mut rigid = Assignment::default();
        copy(terms, model, &system.rigid, &mut rigid);
        let mut first = state(0);
        for vars in [&system.rigid, &system.axiom_inputs, &system.init_inputs] {
            copy(terms, model, vars, &mut first);
        }
        let with = |parts: &[&Assignment]| {
            let mut all = rigid.clone();
            for part in parts {
                all.bools.extend(part.bools.iter().map(|(k, v)| (*k, *v)));
                all.ints.extend(part.ints.iter().map(|(k, v)| (*k, v.clone())));
            }
            all
        };
        let mut steps = vec![];
        for time in 0..length {
            let (before, after) = (state(time), state(time + 1));
            let mut next = Assignment::default();
            for cell in &system.cells {
                next.set(cell.next, after.value(terms, cell.now));
            }
            let found = system.events.iter().enumerate().find_map(|(e, event)| {
                let inputs = inputs(time, &event.inputs);
                let values = with(&[&before, &next, &inputs]);
                Evaluator::new(terms, &values).bool(event.step).then_some((e, inputs))
            });
            let (event, inputs) = found.ok_or_else(|| format!("no event makes step {}", time + 1))?;
            steps.push(PathStep { event, inputs, state: after });
        }
        let last = state(length);
        let properties = system.properties.iter().enumerate();
        let bad = properties.map(|(p, property)| (Bad::Property(p), property.is_bad, &property.inputs));
        let events = system.events.iter().enumerate();
        let undefined = events.map(|(e, event)| (Bad::Undefined(e), event.is_undefined, &event.inputs));
        let found = bad.chain(undefined).find_map(|(why, claim, vars)| {
            let inputs = inputs(length, vars);
            let values = with(&[&last, &inputs]);
            Evaluator::new(terms, &values).bool(claim).then_some((why, inputs))
        });
        let (why, inputs) = found.ok_or("nothing is bad about the last state")?;
        let path = Counterexample { first, steps, why, inputs, is_shortest };
        replay(terms, system, &path)?;
        Ok(path)
    }
}

/// Over `now`: see [`Unrolling::is_good`].
pub fn good(terms: &mut Terms, system: &Transitions) -> Bool {
    let properties = system.properties.iter().filter(|p| p.inputs.is_empty()).map(|p| !p.is_bad);
    let events = system.events.iter().filter(|e| e.inputs.is_empty()).map(|e| !e.is_undefined);
    let all: Vec<Bool> = properties.chain(events).collect();
    terms.and(all)
}
