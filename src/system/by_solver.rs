//! Constants that the solver finds: PROPERTIES whose plan would try too many values.
//!
//! The solver is asked first where the unknowns have many values together, and its answer counts only if it is whole: there are
//! not too many solutions, and the evaluator confirms each of them. Conjuncts without a formula are tested by the evaluator
//! alone, after the plan has had some time; the same where a valuation leaves PROPERTIES undefined. If the solver has no
//! answer, the plan is run as if nobody had asked.

use super::Stop;
use super::constants::{Solver, Yielded};
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

/// On what occasion the solver is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// The unknowns have many values together: before the plan.
    ManyValues,
    /// The same, and the plan takes many steps: conjuncts without a formula or without a value are put up with.
    SlowPlan,
    /// The plan has no answer: something would have to be enumerated that has no end.
    NoPlan,
}

impl Machine {
    /// Whether the valuations of the constants were found by the solver, whose word it is then that there are no others.
    pub fn is_solved_by_solver(&self) -> bool {
        let who = [self.solved.get(), self.slowly.get(), self.rescued.get()];
        who.into_iter().flatten().any(|s| !matches!(s, Solver::Plan))
    }

    /// Whether choices were made by the solver: parameters, ANY, `:(P)`, comprehensions or quantifiers.
    pub fn has_asked_solver(&self) -> bool {
        self.oracle.has_answered()
    }

    /// Visits all valuations of the constants, if the solver is the one to ask; a visit says whether to go on.
    pub(super) fn by_solver(
        &self,
        why: Occasion,
        stop: &Stop,
        found: &mut dyn FnMut(Yielded) -> Res<bool>,
    ) -> Option<Res<bool>> {
        let cell = match why {
            Occasion::ManyValues => &self.solved,
            Occasion::SlowPlan => &self.slowly,
            Occasion::NoPlan => &self.rescued,
        };
        match cell.get_or_init(|| self.ask_solver(why, stop).unwrap_or(Solver::Plan)) {
            Solver::Plan => None,
            answer @ (Solver::Done(all) | Solver::Faulty(all, _)) => {
                let fault = match answer {
                    Solver::Faulty(_, fault) => Some(Yielded::Fault(fault.clone())),
                    _ => None,
                };
                for one in fault.into_iter().chain(all.iter().map(|v| Yielded::Valuation(v.clone()))) {
                    match found(one) {
                        Ok(true) => {}
                        other => return Some(other),
                    }
                }
                Some(Ok(true))
            }
            Solver::OneByOne => Some(self.one_by_one(stop, found)),
        }
    }

    fn one_by_one(&self, stop: &Stop, found: &mut dyn FnMut(Yielded) -> Res<bool>) -> Res<bool> {
        let problem = self.problem();
        let limits = Limits { steps: STEPS, stop: Some(stop.clone()), ..Limits::default() };
        let mut encoded = problem.encode(limits, Mutant::None).map_err(|r| Fault::limit(r.why.clone()))?;
        let tests = Tests::new(self, &problem.preds);
        let mut answer = Ok(true);
        let clock = solver::Stop::never().with_flag(stop.clone());
        let ended = encoded.each(&clock, &mut |values| tests.hold(values, &[]), &mut |values| {
            answer = match tests.vals(&values) {
                Some(vals) => found(Yielded::Valuation(vals)),
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
            preds: self.model.properties.iter().flat_map(Expr::conjuncts).collect(),
            span: self.model.properties.first().map(|p| p.span).unwrap_or_default(),
        }
    }

    /// Whether the solver may be asked because the unknowns have many values.
    pub(super) fn has_many_values(&self) -> bool {
        let limits = Limits { steps: STEPS, ..Limits::default() };
        !self.model.constants.is_empty() && self.problem().bits(limits).is_ok_and(|n| n >= MIN_BITS)
    }

    fn ask_solver(&self, why: Occasion, stop: &Stop) -> Option<Solver> {
        if self.model.constants.is_empty() {
            return None;
        }
        let problem = self.problem();
        let limits = Limits { steps: STEPS, stop: Some(stop.clone()), ..Limits::default() };
        // Without the conjuncts it costs next to nothing to see whether it is worth it.
        let (least, many) = match why {
            Occasion::ManyValues => (MIN_BITS, MANY_BITS),
            Occasion::SlowPlan => (MIN_BITS, u64::MAX),
            Occasion::NoPlan => (0, 0),
        };
        let bits = problem.bits(limits.clone()).ok().filter(|n| *n >= least)?;
        let (mut encoded, left_out) = match why {
            Occasion::ManyValues => (problem.encode(limits, Mutant::None).ok()?, vec![]),
            _ => problem.encode_some(&crate::symbolic::encode::Env::new(&self.model), limits).ok()?,
        };
        let clock = solver::Stop::never().with_flag(stop.clone()).with_effort(EFFORT);
        let tests = Tests::new(self, &problem.preds);
        let mut fault = match (encoded.undefined_at(&clock)?, why) {
            (None, _) => None,
            // The evaluator has to see it, too.
            (Some(values), Occasion::SlowPlan) => Some(tests.fault(&values)?),
            (Some(_), _) => return None,
        };
        let mut is_judged = true;
        let is_unbounded = encoded.has_unbounded_integers();
        let most = if is_unbounded { MOST_UNBOUNDED } else { MOST };
        let mut found: Vec<Vec<Value>> = vec![];
        let mut tried = 0;
        let ended = encoded.each(&clock, &mut |values| tests.hold(values, &left_out), &mut |values| {
            tried += 1;
            match tests.judge(&values, &left_out) {
                Ok(true) => found.push(values),
                Ok(false) => {}
                Err(f) if matches!(*f, Fault::Wd(_)) => Fault::gather(&mut fault, f),
                Err(_) => is_judged = false,
            }
            if is_judged && tried <= most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        match ended {
            _ if !is_judged => None,
            Ended::All => {
                found.sort();
                let all = found.iter().map(|values| tests.vals(values)).collect::<Option<_>>()?;
                Some(match fault {
                    None => Solver::Done(all),
                    Some(fault) => Solver::Faulty(all, fault),
                })
            }
            // There is no end to the values of an integer without bounds.
            Ended::Enough if bits >= many && !is_unbounded && fault.is_none() && left_out.is_empty() => {
                Some(Solver::OneByOne)
            }
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

    /// The fault of a conjunct, if none is false.
    fn fault(&self, values: &[Value]) -> Option<Box<Fault>> {
        let mut env = self.env(values)?;
        let mut fault = None;
        for test in &self.tests {
            match test.holds(&mut env) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(e) => Fault::gather(&mut fault, e),
            }
        }
        fault.filter(|f| matches!(**f, Fault::Wd(_)) && env.truncated.is_none())
    }

    fn env(&self, values: &[Value]) -> Option<Env> {
        let vals = self.vals(values)?;
        let mut env = Env::new(self.slots);
        for (slot, v) in env.slots.iter_mut().zip(vals) {
            *slot = v;
        }
        Some(env)
    }

    /// Whether all but those that are left out hold.
    fn hold(&self, values: &[Value], left_out: &[usize]) -> Result<bool, String> {
        let mut env = self.env(values).ok_or("a value without a representation")?;
        for (i, test) in self.tests.iter().enumerate() {
            if left_out.contains(&i) {
                continue;
            }
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

    /// Whether those that are left out hold; a fault if none is false and one has no value.
    fn judge(&self, values: &[Value], left_out: &[usize]) -> Res<bool> {
        let Some(mut env) = self.env(values) else {
            return Err(Fault::limit("a value without a representation"));
        };
        let mut fault = None;
        for i in left_out {
            match self.tests[*i].holds(&mut env) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(e) => Fault::gather(&mut fault, e),
            }
        }
        match (fault, env.truncated) {
            (None, None) => Ok(true),
            (None, Some(span)) => Err(Fault::limit("an unbounded integer").at(span)),
            (Some(e), _) => Err(e),
        }
    }
}
