//! The solver as an oracle for choices: parameters, ANY, `:(P)`, comprehensions, quantifiers
//! ([`crate::eval::node::Solved`] says when it is asked).
//!
//! Its answer counts only if it is whole: no conjunct that has a formula can be undefined, and there are not too many solutions.
//! Each solution is evaluated again by whoever asked, who also tests the conjuncts without a formula. That there are no
//! others is the solver's word.

use crate::eval::env::StopFlag;
use crate::eval::node::{Answer, Name, Oracle, Question};
use crate::model::Model;
use crate::symbolic::encode::{Env, Limits, Slot, Sym, Val};
use crate::symbolic::solve::{Ended, Problem};
use crate::value::{Scope, Value};
use kanon_solver::solver;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Terms of a formula, about.
const STEPS: u64 = 1_000_000;
/// Clauses and conflicts, as [`solver::Stop::with_effort`] counts them.
const EFFORT: u64 = 4_000_000;
/// More solutions than this are found sooner by a plan.
const MOST: usize = 2000;
/// The same where an integer has no bounds: so many of them mean that there is no end.
const MOST_UNBOUNDED: usize = 100;

/// Answers questions about a model.
pub struct BySolver {
    model: Arc<Model>,
    scope: Arc<Scope>,
    has_answered: AtomicBool,
}

impl BySolver {
    /// About this model.
    pub fn new(model: Arc<Model>, scope: Arc<Scope>) -> BySolver {
        BySolver { model, scope, has_answered: AtomicBool::new(false) }
    }

    /// Whether anything rests on its word.
    pub fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    fn answer(&self, question: &Question, known: &[Value], stop: &StopFlag) -> Option<Answer> {
        let problem = Problem {
            model: &self.model,
            scope: &self.scope,
            slots: question.unknown.iter().map(|l| Slot::Local(*l)).collect(),
            preds: question.preds.iter().collect(),
            span: question.span,
        };
        let mut env = Env::new(&self.model);
        for (name, value) in question.known.iter().zip(known) {
            let value = Val::sure(Sym::ground(value));
            env = match name {
                Name::Const(id) => env.with_constant(*id, value),
                Name::Var(id) => env.with_variable(*id, value),
                Name::Local(id) => env.with_local(*id, value),
            };
        }
        let limits = Limits { steps: STEPS, stop: Some(stop.clone()), ..Limits::default() };
        let (mut encoded, left_out) = problem.encode_some(&env, limits).ok()?;
        let is_one_enough = question.is_one_enough && left_out.is_empty();
        let clock = solver::Stop::never().with_flag(stop.clone()).with_effort(EFFORT);
        if encoded.may_be_undefined(&clock) != Some(false) {
            return None;
        }
        let most = if encoded.has_unbounded_integers() { MOST_UNBOUNDED } else { MOST };
        let mut found: Vec<Vec<Value>> = vec![];
        let ended = encoded.each(&clock, &mut |_| Ok(true), &mut |values| {
            found.push(values);
            let is_enough = is_one_enough || found.len() > most;
            if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let is_whole = match ended {
            Ended::All => true,
            Ended::Enough => is_one_enough,
            Ended::NoAnswer(_) | Ended::NotConfirmed(_) => false,
        };
        found.sort();
        found.dedup();
        is_whole.then_some(Answer { found, left_out })
    }
}

impl Oracle for BySolver {
    fn solve(&self, question: &Question, known: &[Value], stop: &StopFlag) -> Option<Answer> {
        let answer = self.answer(question, known, stop);
        if answer.is_some() {
            self.has_answered.store(true, Ordering::Relaxed);
        }
        answer
    }
}
