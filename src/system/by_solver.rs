//! Constants that the solver finds: PROPERTIES whose plan would try too many values.
//!
//! The solver is asked first where the unknowns have many values together, and its answer counts only if it is whole: every
//! conjunct has a formula, no valuation leaves PROPERTIES undefined, there are not too many solutions, and the evaluator
//! confirms each of them. Otherwise the plan is run as if nobody had asked.

use super::Stop;
use super::constants::Solver;
use super::machine::Machine;
use crate::eval::compile::Compiler;
use crate::eval::node::Env;
use crate::model::{ConstId, Expr};
use crate::symbolic::encode::{Limits, Mutant, Slot};
use crate::symbolic::solve::{Ended, Problem};
use crate::value::Value;
use crate::value::fault::{Fault, Res};
use crate::value::rep::R;
use crate::value::val::{Val, from_value};
use kanon_solver::solver;
use std::ops::ControlFlow;

/// Fewer bits than this are no work for a plan: a million values to try.
const MIN_BITS: u64 = 20;
/// Terms of a formula, about.
const STEPS: u64 = 4_000_000;
/// Clauses and conflicts, as [`solver::Stop::with_effort`] counts them.
const EFFORT: u64 = 60_000_000;
/// Of more solutions than this the order is not sorted any more, but that in which they are found.
const MOST: usize = 1000;
/// The same where an integer has no bounds: so many of them mean that there is no end.
const MOST_UNBOUNDED: usize = 100;
/// With fewer bits, more solutions than these are found sooner by the plan, which then meets few dead ends.
const MANY_BITS: u64 = 100;

/// Why the solver is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The unknowns have many values together: before the plan.
    ManyValues,
    /// The plan has no answer: something would have to be enumerated that has no end.
    NoPlan,
}

impl Machine {
    /// Whether the valuations of the constants were found by the solver, whose word it is then that there are no others.
    pub fn is_solved_by_solver(&self) -> bool {
        let who = [self.solved.get(), self.rescued.get()];
        who.into_iter().flatten().any(|s| !matches!(s, Solver::Plan))
    }

    /// Visits all valuations of the constants, if the solver is the one to ask; a visit says whether to go on.
    pub(super) fn by_solver(
        &self,
        why: Why,
        stop: &Stop,
        found: &mut dyn FnMut(Vec<Val>) -> Res<bool>,
    ) -> Option<Res<bool>> {
        let cell = match why {
            Why::ManyValues => &self.solved,
            Why::NoPlan => &self.rescued,
        };
        match cell.get_or_init(|| self.ask_solver(why, stop).unwrap_or(Solver::Plan)) {
            Solver::Plan => None,
            Solver::Done(all) => {
                for valuation in all {
                    match found(valuation.clone()) {
                        Ok(true) => {}
                        other => return Some(other),
                    }
                }
                Some(Ok(true))
            }
            Solver::OneByOne => Some(self.one_by_one(stop, found)),
        }
    }

    fn one_by_one(&self, stop: &Stop, found: &mut dyn FnMut(Vec<Val>) -> Res<bool>) -> Res<bool> {
        let problem = self.problem();
        let limits = Limits { steps: STEPS, ..Limits::default() };
        let mut encoded = problem.encode(limits, Mutant::None).map_err(|r| Fault::limit(r.why.clone()))?;
        let tests = Tests::new(self, &problem.preds);
        let mut answer = Ok(true);
        let clock = solver::Stop::never().with_flag(stop.clone());
        let ended = encoded.each(&clock, &mut |values| tests.hold(values), &mut |values| {
            answer = match tests.vals(&values) {
                Some(vals) => found(vals),
                None => Err(Fault::limit("a value without a representation")),
            };
            if matches!(answer, Ok(true)) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        match ended {
            Ended::All | Ended::Enough => answer,
            Ended::NoAnswer(why) => Err(Fault::limit(format!("the solver has no answer: {why:?}"))),
            Ended::NotConfirmed(why) => {
                Err(Fault::limit(format!("a solution that the evaluator does not confirm: {why}")))
            }
        }
    }

    fn problem(&self) -> Problem<'_> {
        Problem {
            model: &self.model,
            scope: &self.scope,
            slots: (0..self.model.constants.len()).map(|i| Slot::Const(ConstId(i as u32))).collect(),
            preds: self.model.properties.iter().collect(),
            span: self.model.properties.first().map(|p| p.span).unwrap_or_default(),
        }
    }

    fn ask_solver(&self, why: Why, stop: &Stop) -> Option<Solver> {
        if self.model.constants.is_empty() {
            return None;
        }
        let problem = self.problem();
        let limits = Limits { steps: STEPS, ..Limits::default() };
        // Without the conjuncts it costs next to nothing to see whether it is worth it.
        let (least, many) = match why {
            Why::ManyValues => (MIN_BITS, MANY_BITS),
            Why::NoPlan => (0, 0),
        };
        let bits = problem.bits(limits.clone()).ok().filter(|n| *n >= least)?;
        let mut encoded = problem.encode(limits, Mutant::None).ok()?;
        let clock = solver::Stop::never().with_flag(stop.clone()).with_effort(EFFORT);
        if encoded.may_be_undefined(&clock) != Some(false) {
            return None;
        }
        let tests = Tests::new(self, &problem.preds);
        let is_unbounded = encoded.has_unbounded_integers();
        let most = if is_unbounded { MOST_UNBOUNDED } else { MOST };
        let mut found: Vec<Vec<Value>> = vec![];
        let ended = encoded.each(&clock, &mut |values| tests.hold(values), &mut |values| {
            found.push(values);
            if found.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match ended {
            Ended::All => {
                found.sort();
                found.iter().map(|values| tests.vals(values)).collect::<Option<_>>().map(Solver::Done)
            }
            // There is no end to the values of an integer without bounds.
            Ended::Enough if bits >= many && !is_unbounded => Some(Solver::OneByOne),
            _ => None,
        }
    }
}

/// PROPERTIES as tests of constants that are known.
struct Tests {
    tests: Vec<crate::eval::node::Test>,
    slots: usize,
    reps: Vec<R>,
}

impl Tests {
    fn new(machine: &Machine, properties: &[&Expr]) -> Tests {
        let mut c = Compiler::new(&machine.model, &machine.scope);
        let tests = properties.iter().map(|p| c.closed_test(p)).collect();
        let reps = machine.model.constants.iter().map(|d| c.rep(&d.ty)).collect();
        Tests { tests, slots: c.slots.len(), reps }
    }

    fn vals(&self, values: &[Value]) -> Option<Vec<Val>> {
        values.iter().zip(&self.reps).map(|(v, rep)| from_value(v, rep)).collect()
    }

    fn hold(&self, values: &[Value]) -> Result<bool, String> {
        let vals = self.vals(values).ok_or("a value without a representation")?;
        let mut env = Env::new(self.slots);
        for (slot, v) in env.slots.iter_mut().zip(vals) {
            *slot = v;
        }
        for test in &self.tests {
            match test.holds(&mut env) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(fault) => return Err(format!("{fault:?}")),
            }
        }
        if env.truncated.is_some() {
            return Err("an integer was enumerated from MININT to MAXINT only".into());
        }
        Ok(true)
    }
}
