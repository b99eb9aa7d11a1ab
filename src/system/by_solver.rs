//! Constants that the solver finds: PROPERTIES whose plan would try too many values.
//!
//! The solver is asked first where the unknowns have many values together, and its answer counts only if it is whole: every
//! conjunct has a formula, no valuation leaves PROPERTIES undefined, there are not too many solutions, and the evaluator
//! confirms each of them. Otherwise the plan is run as if nobody had asked.

use super::Stop;
use super::machine::Machine;
use crate::eval::compile::Compiler;
use crate::eval::node::Env;
use crate::model::{ConstId, Expr};
use crate::symbolic::encode::{Limits, Mutant, Slot};
use crate::symbolic::solve::{Ended, Problem};
use crate::value::Value;
use crate::value::rep::R;
use crate::value::val::{Val, from_value};
use kanon_solver::solver;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Fewer variables than this are no work for a plan: a million values to try.
const MIN_VARIABLES: usize = 20;
/// Terms of a formula, about.
const STEPS: u64 = 4_000_000;
/// How long it is looked for.
const TIME: Duration = Duration::from_secs(30);
/// More solutions than this are found by the plan sooner, which then meets few dead ends.
const MOST: usize = 1000;

impl Machine {
    /// All valuations of the constants, if the solver is the one to ask and has an answer.
    pub(super) fn by_solver(&self, stop: &Stop) -> Option<&[Vec<Val>]> {
        self.solved.get_or_init(|| self.ask_solver(stop)).as_deref()
    }

    fn ask_solver(&self, stop: &Stop) -> Option<Vec<Vec<Val>>> {
        if self.model.constants.is_empty() {
            return None;
        }
        let problem = Problem {
            model: &self.model,
            scope: &self.scope,
            slots: (0..self.model.constants.len()).map(|i| Slot::Const(ConstId(i as u32))).collect(),
            preds: self.model.properties.iter().collect(),
            span: self.model.properties.first().map(|p| p.span).unwrap_or_default(),
        };
        let limits = Limits { steps: STEPS, deadline: Instant::now().checked_add(TIME), ..Limits::default() };
        // Without the conjuncts it costs next to nothing to see whether it is worth it.
        let small = |variables: usize| variables < MIN_VARIABLES;
        if problem.variables(limits).ok().is_none_or(small) {
            return None;
        }
        let mut encoded = problem.encode(limits, Mutant::None).ok()?;
        let clock = solver::Stop::after(TIME).with_flag(stop.clone());
        if encoded.may_be_undefined(&clock) != Some(false) {
            return None;
        }
        let mut tests = Tests::new(self, &problem.preds);
        let mut found: Vec<Vec<Value>> = vec![];
        let ended = encoded.each(&clock, &mut |values| tests.hold(values), &mut |values| {
            found.push(values);
            if found.len() > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if ended != Ended::All {
            return None;
        }
        found.sort();
        found.iter().map(|values| tests.vals(values)).collect()
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

    fn hold(&mut self, values: &[Value]) -> Result<bool, String> {
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
