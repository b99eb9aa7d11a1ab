//! All solutions of a predicate, each once: the solver finds one, it is decoded, checked by an evaluator, handed over
//! and excluded, until there is none left.

use super::encode::{Encoder, Env, Limits, Mutant, Shape, Slot, Truth};
use super::{Refused, Res, decode};
use crate::eval::reference::{self, Cx};
use crate::lang::diag::Span;
use crate::model::{Expr, Model};
use crate::value::{Scope, Value};
use kanon_solver::eval::Evaluator;
use kanon_solver::sat::Sat;
use kanon_solver::solver::{NoAnswer, Outcome, Solver, Stop};
use kanon_solver::term::{Assignment, Bool, Terms, Var};
use std::ops::ControlFlow;

/// A conjunction with unknowns.
pub struct Problem<'m> {
    pub model: &'m Model,
    pub scope: &'m Scope,
    pub slots: Vec<Slot>,
    pub preds: Vec<&'m Expr>,
    pub span: Span,
}

/// Why there are no more solutions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There are no others.
    All,
    /// Whoever takes them has enough.
    Enough,
    /// The solver has no answer.
    NoAnswer(NoAnswer),
    /// The evaluator does not confirm a solution, or cannot tell: then nothing that the solver says counts.
    NotConfirmed(String),
}

/// Whether a solution is one, according to an evaluator.
pub type Check<'a> = dyn FnMut(&[Value]) -> Result<bool, String> + 'a;

/// A problem as formulas.
pub struct Encoded<'m> {
    pub encoder: Encoder<'m>,
    /// In the order of the slots.
    pub shapes: Vec<Shape<'m>>,
    /// The conjuncts are true.
    pub claims: Vec<Bool>,
    /// None of them is false, and one of them is undefined.
    pub undefined: Bool,
}

impl<'m> Problem<'m> {
    pub fn encode(&self, limits: Limits, mutant: Mutant) -> Res<Encoded<'m>> {
        self.encode_in(&Env::new(self.model), limits, mutant)
    }

    /// The same where other names have values.
    pub fn encode_in(&self, env: &Env<'m>, limits: Limits, mutant: Mutant) -> Res<Encoded<'m>> {
        let mut encoder = Encoder::new(self.model, self.scope, limits);
        encoder.mutant = mutant;
        let mut truths = vec![];
        let (env, shapes) = encoder.unknowns(env, &self.slots, &self.preds, self.span)?;
        for p in &self.preds {
            truths.push(encoder.pred(&env, p)?);
        }
        Ok(Encoded::new(encoder, shapes, &truths))
    }

    /// As much as has a formula, and the places of the conjuncts that have none or only a very large one. Every solution of the
    /// conjunction is one of the formulas; whether the others fulfil it too is for those conjuncts to tell.
    pub fn encode_some(&self, env: &Env<'m>, limits: Limits) -> Res<(Encoded<'m>, Vec<usize>)> {
        match self.encode_in(env, limits.clone(), Mutant::None) {
            Ok(encoded) => return Ok((encoded, vec![])),
            Err(refused) if limits.is_stopped() => return Err(refused),
            Err(_) => {}
        }
        let mut encoder = Encoder::new(self.model, self.scope, limits);
        let (env, shapes) = encoder.unknowns(env, &self.slots, &self.preds, self.span)?;
        let (mut truths, mut left_out) = (vec![], vec![]);
        for (i, p) in self.preds.iter().enumerate() {
            // None of them may take everything that is left.
            let taken = encoder.steps();
            let most = encoder.set_most_steps(0);
            encoder.set_most_steps(taken + most.saturating_sub(taken) / 2);
            match encoder.pred(&env, p) {
                Ok(truth) => truths.push(truth),
                Err(_) => left_out.push(i),
            }
            encoder.set_most_steps(most);
        }
        Ok((Encoded::new(encoder, shapes, &truths), left_out))
    }

    /// How many bits the unknowns have: a boolean has one, an integer as many as its bounds leave it, and none if it has
    /// no bounds.
    pub fn bits(&self, limits: Limits) -> Res<u64> {
        let mut encoder = Encoder::new(self.model, self.scope, limits);
        let (_, shapes) = encoder.unknowns(&Env::new(self.model), &self.slots, &self.preds, self.span)?;
        let bits = |v: &Var| match v {
            Var::Bool(_) => 1,
            Var::Int(v) => match (&encoder.terms.bounds(*v).low, &encoder.terms.bounds(*v).high) {
                (Some(low), Some(high)) => (high - low).bits(),
                _ => 0,
            },
        };
        Ok(shapes.iter().flat_map(|s| &s.vars).map(bits).sum())
    }

    /// What the reference says to a valuation of the slots.
    pub fn reference(&self, values: &[Value], fuel: u64) -> Result<bool, String> {
        let cx = Cx::new(self.model, self.scope).with_fuel(fuel);
        let mut env = reference::Env::new(self.model);
        for (slot, v) in self.slots.iter().zip(values) {
            env = match slot {
                Slot::Const(id) => env.with_constant(*id, v.clone()),
                Slot::Local(id) => env.with_local(*id, v.clone()),
                // Problems are about constants and locals.
                Slot::Var(_) => return Err("a variable of the state as an unknown".into()),
            };
        }
        let mut fault = None;
        for p in &self.preds {
            match reference::holds(&cx, &env, p) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(f) => fault = Some(f),
            }
        }
        match fault {
            None if cx.truncated().is_empty() => Ok(true),
            None => Err("an integer was enumerated from MININT to MAXINT only".into()),
            Some(f) => Err(format!("{f:?}")),
        }
    }
}

impl<'m> Encoded<'m> {
    fn new(mut encoder: Encoder<'m>, shapes: Vec<Shape<'m>>, truths: &[Truth]) -> Encoded<'m> {
        let mut claims: Vec<Bool> = shapes.iter().map(|s| s.is_value).collect();
        let values = encoder.terms.and(claims.iter().copied());
        let all = encoder.and(truths);
        let def = all.def(&mut encoder.terms);
        let undefined = encoder.terms.and([values, !def]);
        claims.extend(truths.iter().map(|t| t.yes));
        Encoded { encoder, shapes, claims, undefined }
    }

    /// Whether some unknown is, or has in it, an integer without bounds.
    pub fn has_unbounded_integers(&self) -> bool {
        self.shapes.iter().flat_map(|s| &s.vars).any(|v| match v {
            Var::Int(v) => {
                let bounds = self.encoder.terms.bounds(*v);
                bounds.low.is_none() || bounds.high.is_none()
            }
            Var::Bool(_) => false,
        })
    }

    /// The values of the slots.
    pub fn decode(&self, found: &Assignment) -> Option<Vec<Value>> {
        let mut under = Evaluator::new(&self.encoder.terms, found);
        self.shapes.iter().map(|s| decode::value(&s.sym, &mut under)).collect()
    }

    /// Whether some valuation makes no conjunct false and one undefined; `None`: nobody knows.
    pub fn may_be_undefined(&self, stop: &Stop) -> Option<bool> {
        Some(self.undefined_at(stop)?.is_some())
    }

    /// The same with such a valuation, if there is one that can be decoded.
    pub fn undefined_at(&self, stop: &Stop) -> Option<Option<Vec<Value>>> {
        if self.encoder.has_partial_hulls {
            return None;
        }
        if self.undefined == Bool::FALSE {
            return Some(None);
        }
        let mut solver = Sat::new(stop.clone());
        solver.assert(&self.encoder.terms, self.undefined);
        match solver.check(&self.encoder.terms, &[]) {
            Outcome::Sat(found) => self.decode(&found).map(Some),
            Outcome::Unsat(_) => Some(None),
            Outcome::Unknown(_) => None,
        }
    }

    /// Visits every solution once, in an order that depends on nothing but the problem.
    pub fn each(
        &mut self,
        stop: &Stop,
        check: &mut Check<'_>,
        visit: &mut dyn FnMut(Vec<Value>) -> ControlFlow<()>,
    ) -> Ended {
        let mut solver = Sat::new(stop.clone());
        for &claim in &self.claims {
            solver.assert(&self.encoder.terms, claim);
        }
        loop {
            let found = match solver.check(&self.encoder.terms, &[]) {
                Outcome::Sat(found) => found,
                Outcome::Unsat(_) => return Ended::All,
                Outcome::Unknown(why) => return Ended::NoAnswer(why),
            };
            let Some(values) = self.decode(&found) else {
                return Ended::NotConfirmed("the solver's model is no value".into());
            };
            match check(&values) {
                Ok(true) => {}
                Ok(false) => return Ended::NotConfirmed("the evaluator says that it is no solution".into()),
                Err(why) => return Ended::NotConfirmed(why),
            }
            if visit(values).is_break() {
                return Ended::Enough;
            }
            let vars: Vec<Var> = self.shapes.iter().flat_map(|s| s.vars.iter().copied()).collect();
            let other = differs(&mut self.encoder.terms, &vars, &found);
            if other == Bool::FALSE {
                return Ended::All;
            }
            solver.assert(&self.encoder.terms, other);
        }
    }
}

/// One of the variables has another value.
fn differs(terms: &mut Terms, vars: &[Var], found: &Assignment) -> Bool {
    let mut parts = vec![];
    for v in vars {
        parts.push(match *v {
            Var::Bool(v) => {
                let b = terms.of_bool(v);
                if found.bool_var(v) { !b } else { b }
            }
            Var::Int(v) => {
                let value = found.int_var(terms, v);
                let (i, value) = (terms.of_int(v), terms.constant(value));
                !terms.eq(i, value)
            }
        });
    }
    terms.or(parts)
}

/// All solutions in the order of values, up to a number; checked by the reference.
pub fn all(
    problem: &Problem<'_>,
    limits: Limits,
    most: usize,
    stop: &Stop,
) -> Result<(Vec<Vec<Value>>, Ended), Box<Refused>> {
    let mut encoded = problem.encode(limits, Mutant::None)?;
    let mut found = vec![];
    let mut ended = encoded.each(stop, &mut |values| problem.reference(values, 50_000_000), &mut |values| {
        if found.len() >= most {
            return ControlFlow::Break(());
        }
        found.push(values);
        ControlFlow::Continue(())
    });
    if ended == Ended::All && found.len() > most {
        ended = Ended::Enough;
    }
    found.sort();
    Ok((found, ended))
}
