//! Choices that a plan may find too slowly: a guard, ANY, `:(P)`, a comprehension or a quantifier with more values to try
//! than anybody has patience for, or with an integer that has no bounds.
//!
//! The plan is run first, and its steps are counted. Where they are too many, or where something had to be cut off, an
//! [`Oracle`] is asked for all solutions at once. What it says is evaluated again here. If it has no answer the plan is run to
//! its end. Nothing of this looks at a clock, so who answers depends on nothing but the question.
//!
//! Absent on purpose: solvers. The rooms behind this one have them.

use super::{Env, PlanStep, Slot, Test};
use crate::eval::env::{StopFlag, Then};
use crate::eval::plan::run;
use crate::lang::diag::Span;
use crate::model::{ConstId, Expr, LocalId, VarId};
use crate::value::Value;
use crate::value::fault::{Fault, Res};
use crate::value::rep::R;
use crate::value::val::{Val, from_value, to_value};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Of more solutions than this a plan that finds them is worth its time.
const MANY: usize = 1000;
/// Answers that are remembered for one place.
const MOST_ANSWERS: usize = 256;

/// When an oracle is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// A set, a space or a list of sequences with so many members is worth it by itself, as far as the tree tells.
    pub step: f64,
    /// The same for all that the steps of a plan have to try together.
    pub all: f64,
    /// Steps that the plan is given first.
    pub patience: u64,
}

impl Default for Asking {
    /// A plan is given some hundredths of a second.
    fn default() -> Asking {
        Asking { step: 1e4, all: 1e7, patience: 20_000 }
    }
}

/// Somebody who finds solutions by other means than trying.
pub trait Oracle: Send + Sync {
    /// `None` if there is no answer, also where a predicate may have no value. `known` are the values of the known names.
    fn solve(&self, question: &Question, known: &[Value], stop: &StopFlag) -> Option<Answer>;
}

/// What an oracle says.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The values of the unknowns for which the predicates are true, in ascending order: all of them or, if one is enough,
    /// one.
    pub found: Vec<Vec<Value>>,
    /// The predicates that were not looked at, by their places: they have to be tested. All solutions were found then.
    pub left_out: Vec<usize>,
}

/// A conjunction with unknowns.
#[derive(Clone, Debug)]
pub struct Question {
    pub unknown: Vec<LocalId>,
    /// The other names that occur in it.
    pub known: Vec<Name>,
    pub preds: Vec<Expr>,
    /// One solution is enough.
    pub is_one_enough: bool,
    pub span: Span,
}

/// What has a value when the question is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Const(ConstId),
    Var(VarId),
    Local(LocalId),
}

/// A plan, and whom to ask where it takes too long.
pub struct Solved {
    pub question: Question,
    /// Of the unknowns.
    pub slots: Vec<(Slot, R)>,
    /// Of the known names.
    pub reads: Vec<(Slot, R)>,
    /// The predicates, once everything is known.
    pub tests: Vec<Test>,
    pub plan: Vec<PlanStep>,
    pub oracle: Arc<dyn Oracle>,
    /// Steps that the plan is given first.
    pub patience: u64,
    /// Complete answers, by the values of the known names.
    pub answers: Answers,
}

/// See [`Solved::answers`].
pub type Answers = Mutex<HashMap<Vec<Val>, Arc<[Vec<Val>]>>>;

impl fmt::Debug for Solved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solved").field("slots", &self.slots).field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// What the environment keeps account of outside of a plan.
struct Account {
    most: u64,
    spent: u64,
    cut: Option<Span>,
}

impl Account {
    /// Goes on as before, with what was done meanwhile.
    fn restore(&self, env: &mut Env) {
        env.most = self.most;
        env.spent.set(self.spent.saturating_add(env.spent.get()));
        env.truncated = self.cut.or(env.truncated);
    }
}

/// A solution of the plan, and the fault that waits for something to be false.
type Found = (Vec<Val>, Option<Box<Fault>>);

impl Solved {
    pub(super) fn run(&self, env: &mut Env, next: Then) -> Res<bool> {
        let key: Vec<Val> = self.reads.iter().map(|(slot, _)| env.slots[*slot as usize].clone()).collect();
        let is_plain = !key.iter().any(|v| v.is_lazy() || *v == Val::None);
        if is_plain && let Some(all) = self.remembered(&key) {
            return self.hand_over(&all, env, next);
        }
        let outer = Account { most: env.most, spent: env.spent.get(), cut: env.truncated.take() };
        let pending = env.pending.clone();
        (env.most, env.spent) = (self.patience.max(1), Default::default());
        let mut found: Vec<Found> = Vec::new();
        let mut is_passed_on = false;
        let ended = run(&self.plan, env, &mut |env| {
            if self.question.is_one_enough {
                // Whoever asks for one only looks at it, and may look again: nothing is kept back.
                let mine = (env.most, env.spent.get());
                (env.most, env.spent) = (outer.most, outer.spent.into());
                let go = next(env);
                (env.most, env.spent) = (mine.0, mine.1.into());
                return go;
            }
            if is_passed_on {
                return next(env);
            }
            let values = self.slots.iter().map(|(slot, _)| env.slots[*slot as usize].clone()).collect();
            found.push((values, env.pending.clone()));
            if found.len() <= MANY {
                return Ok(true);
            }
            // The last one is the one at hand, so the plan finds its slots as they were.
            is_passed_on = true;
            outer.restore(env);
            let here = env.pending.clone();
            let go = self.each(std::mem::take(&mut found), env, next);
            env.pending = here;
            go
        });
        if is_passed_on {
            return ended;
        }
        let is_impatient = env.spent.get() > self.patience;
        let was_cut = env.truncated.take();
        outer.restore(env);
        env.pending.clone_from(&pending);
        let is_limit = |f: &Fault| matches!(f, Fault::Limit(..));
        let has_gap = was_cut.is_some()
            || matches!(&ended, Err(f) if is_limit(f))
            || found.iter().any(|(_, fault)| fault.as_ref().is_some_and(|f| is_limit(f)));
        if matches!(ended, Ok(false)) {
            // One was enough.
            env.truncated = outer.cut.or(was_cut);
            return ended;
        }
        if (is_impatient || has_gap)
            && env.go_on().is_ok()
            && let Some(all) = self.ask(&key, env)
        {
            let all: Arc<[Vec<Val>]> = all.into();
            if is_plain {
                self.remember(key, &all);
            }
            return self.hand_over(&all, env, next);
        }
        if is_impatient {
            return run(&self.plan, env, next);
        }
        if has_gap || self.question.is_one_enough || !matches!(ended, Ok(true)) {
            env.truncated = outer.cut.or(was_cut);
        } else if is_plain && found.iter().all(|(_, fault)| *fault == pending) {
            let all: Arc<[Vec<Val>]> = found.iter().map(|(values, _)| values.clone()).collect();
            self.remember(key, &all);
        }
        let go = self.each(found, env, next);
        env.pending = pending;
        if go? { ended } else { Ok(false) }
    }

    fn remembered(&self, key: &[Val]) -> Option<Arc<[Vec<Val>]>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn remember(&self, key: Vec<Val>, all: &Arc<[Vec<Val>]>) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() < MOST_ANSWERS {
            answers.insert(key, all.clone());
        }
    }

    fn hand_over(&self, all: &[Vec<Val>], env: &mut Env, next: Then) -> Res<bool> {
        for values in all {
            env.go_on()?;
            self.set(values, env);
            if !next(env)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn each(&self, found: Vec<Found>, env: &mut Env, next: Then) -> Res<bool> {
        for (values, fault) in found {
            self.set(&values, env);
            env.pending = fault;
            if !next(env)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn set(&self, values: &[Val], env: &mut Env) {
        for ((slot, _), v) in self.slots.iter().zip(values) {
            env.set(*slot, v.clone());
        }
    }

    /// The oracle's answer, if the evaluator confirms every solution.
    fn ask(&self, key: &[Val], env: &mut Env) -> Option<Vec<Vec<Val>>> {
        if key.iter().any(|v| *v == Val::None || (v.is_lazy() && crate::value::ops::symbolic(v))) {
            return None;
        }
        let known: Option<Vec<Value>> = key
            .iter()
            .zip(&self.reads)
            .map(|(v, (_, rep))| Some(to_value(&super::settled(v.clone(), rep).ok()?, rep)))
            .collect();
        let stop = env.stop.clone().unwrap_or_default();
        let answer = self.oracle.solve(&self.question, &known?, &stop)?;
        let before = (env.truncated.take(), env.pending.take());
        let judged = answer.found.iter().filter_map(|values| self.judged(values, &answer.left_out, env));
        let confirmed: Option<Vec<Vec<Val>>> = judged.collect();
        let is_cut = env.truncated.is_some();
        (env.truncated, env.pending) = before;
        if is_cut { None } else { confirmed }
    }

    /// The solution, if it is one. `None`: it is not, which only a predicate may say that was left out; otherwise nothing that
    /// the oracle says counts (the inner `None`).
    fn judged(&self, values: &[Value], left_out: &[usize], env: &mut Env) -> Option<Option<Vec<Val>>> {
        let vals: Option<Vec<Val>> =
            values.iter().zip(&self.slots).map(|(v, (_, rep))| from_value(v, rep)).collect();
        let Some(vals) = vals.filter(|vals| vals.len() == self.slots.len()) else { return Some(None) };
        self.set(&vals, env);
        for (i, t) in self.tests.iter().enumerate() {
            match t.holds(env) {
                Ok(true) => {}
                Ok(false) if left_out.contains(&i) => return None,
                Ok(false) | Err(_) => return Some(None),
            }
        }
        Some(Some(vals))
    }
}
