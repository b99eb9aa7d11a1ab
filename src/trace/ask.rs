//! Questions about one state: the value of an expression, the truth of a predicate, solutions.
//!
//! A question is compiled like the model's own predicates, with slots of its own behind those of the state.

use crate::eval::compile::Compiler;
use crate::eval::node::{Asking, Env, Test};
use crate::lang::diag::Span;
use crate::model::{Expr, LocalId, Model, Type};
use crate::system::{BySolver, watched};
use crate::value::fault::{Fault, Res};
use crate::value::ops::force;
use crate::value::rep::Shape;
use crate::value::val::{Val, to_value};
use crate::value::{Scope, Value, ops};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub struct Ask<'a> {
    compiler: Compiler<'a>,
    pub env: Env,
}

/// The value of an expression.
pub enum Answer {
    Value(Value),
    /// A set that is not expanded.
    Symbolic,
}

impl Answer {
    pub fn value(self) -> Option<Value> {
        match self {
            Answer::Value(v) => Some(v),
            Answer::Symbolic => None,
        }
    }
}

impl<'a> Ask<'a> {
    /// `values` are those of constants and variables ([`crate::system::Machine::values`]). The model may have more locals than
    /// the one the values come from.
    pub fn new(model: &'a Model, scope: &'a Scope, values: &[Val], stop: Arc<AtomicBool>) -> Ask<'a> {
        let compiler = Compiler::new(model, scope);
        let mut env = Env::new(compiler.slots.len());
        for (slot, v) in env.slots.iter_mut().zip(values) {
            *slot = v.clone();
        }
        env.stop = Some(stop);
        Ask { compiler, env }
    }

    /// Questions with very many or endless values to try are put to the solver, too.
    pub fn with_solver(mut self) -> Ask<'a> {
        let (model, scope) = (self.compiler.model.clone(), self.compiler.scope.clone());
        let oracle = Arc::new(BySolver::new(model.into(), scope.into()));
        self.compiler = self.compiler.with_oracle(oracle, Asking::default());
        self
    }

    /// Compiling may have made slots.
    fn grow(&mut self) {
        let slots = self.compiler.slots.len();
        if self.env.slots.len() < slots {
            self.env.slots.resize(slots, Val::None);
        }
    }

    pub fn bind(&mut self, local: LocalId, v: Val) {
        let slot = self.compiler.local_slot(local);
        self.grow();
        self.env.set(slot, v);
    }

    pub fn raw(&mut self, e: &Expr) -> Res<Val> {
        let node = self.compiler.expr(e);
        self.grow();
        node.val(&mut self.env).map_err(|f| f.at(e.span))
    }

    pub fn value(&mut self, e: &Expr) -> Res<Answer> {
        let v = self.raw(e)?;
        let rep = self.compiler.rep(&e.ty);
        self.plain(v, &rep).map_err(|f| f.at(e.span))
    }

    fn plain(&self, v: Val, rep: &crate::value::rep::R) -> Res<Answer> {
        if let Val::Lazy(_) = &v {
            if ops::symbolic(&v) {
                return Ok(Answer::Symbolic);
            }
            // Too large to write down is as good as infinite here.
            return Ok(match force(v, rep) {
                Ok(v) => Answer::Value(to_value(&v, rep)),
                Err(f) if matches!(*f, Fault::Limit(..)) => Answer::Symbolic,
                Err(f) => return Err(f),
            });
        }
        debug_assert!(!matches!((&v, &rep.shape), (Val::None, Shape::Bool)));
        Ok(if v == Val::None { Answer::Symbolic } else { Answer::Value(to_value(&v, rep)) })
    }

    /// Other values of constants and variables.
    pub fn put(&mut self, values: &[Val]) {
        for (slot, v) in self.env.slots.iter_mut().zip(values) {
            *slot = v.clone();
        }
    }

    /// A predicate that is asked of several states.
    pub fn test(&mut self, p: &Expr) -> Test {
        let test = self.compiler.test(p);
        self.grow();
        test
    }

    /// Its truth.
    pub fn passes(&mut self, test: &Test, at: Span) -> Res<bool> {
        test.holds(&mut self.env).map_err(|f| f.at(at))
    }

    /// Kleene: true, false or a fault.
    pub fn truth(&mut self, p: &Expr) -> Res<bool> {
        let test = self.compiler.test(p);
        self.grow();
        test.holds(&mut self.env).map_err(|f| f.at(p.span))
    }

    /// The values of locals under which all predicates are true; at most `limit`. The last is left in the
    /// environment.
    pub fn solve(&mut self, locals: &[LocalId], preds: &[&Expr], limit: usize) -> Res<Solutions> {
        let mut out = Solutions::default();
        self.solve_into(locals, preds, limit, &mut out)?;
        Ok(out)
    }

    /// The same; where an integer has no bounds it is enumerated outwards from 0, farther and farther, until there are
    /// enough solutions, or the next step outwards finds no more than the last one, or the time is over. What is found is
    /// a solution in any case; that nothing was found says nothing if something was cut off.
    pub fn solve_outwards(
        &mut self,
        locals: &[LocalId],
        preds: &[&Expr],
        limit: usize,
        time: Duration,
    ) -> Res<Solutions> {
        let mut best = self.solve(locals, preds, limit)?;
        let outer = self.env.stop.clone().unwrap_or_default();
        let flag = Arc::new(AtomicBool::new(false));
        self.env.stop = Some(flag.clone());
        let begun = Instant::now();
        let is_over = || begun.elapsed() > time || outer.load(Ordering::Relaxed);
        let ended = watched(&flag, is_over, || {
            let mut reach = FIRST_REACH;
            while best.truncated && !best.more && best.fault.is_none() && reach <= LAST_REACH {
                self.env.reach = Some(reach);
                let mut next = Solutions::default();
                let ended = self.solve_into(locals, preds, limit, &mut next);
                let is_over = flag.load(Ordering::Relaxed);
                if ended.is_err() && !is_over {
                    return ended;
                }
                // A step that was interrupted may have found what the last one had not.
                if ended.is_ok() || next.found.len() > best.found.len() {
                    let is_done = !best.found.is_empty() && next.found.len() == best.found.len();
                    best = Solutions { reach: Some(reach), truncated: next.truncated || is_over, ..next };
                    if is_done {
                        break;
                    }
                }
                if is_over {
                    break;
                }
                reach *= FARTHER;
            }
            Ok(())
        });
        self.env.reach = None;
        self.env.stop = Some(outer);
        ended.map(|()| best)
    }

    fn solve_into(
        &mut self,
        locals: &[LocalId],
        preds: &[&Expr],
        limit: usize,
        out: &mut Solutions,
    ) -> Res<()> {
        let slots: Vec<u32> = locals.iter().map(|l| self.compiler.local_slot(*l)).collect();
        let plan = self.compiler.plan(&slots, preds);
        self.grow();
        let reps: Vec<_> = slots.iter().map(|s| self.compiler.slots[*s as usize].rep.clone()).collect();
        self.env.truncated = None;
        let solved = plan.solve(&mut self.env, &mut |env| {
            if let Some(f) = &env.pending {
                out.fault.get_or_insert_with(|| f.clone());
                return Ok(true);
            }
            let mut values = Vec::with_capacity(slots.len());
            for (slot, rep) in slots.iter().zip(&reps) {
                let v = env.slots[*slot as usize].clone();
                values.push(match &v {
                    Val::None => None,
                    Val::Lazy(_) if ops::symbolic(&v) => None,
                    _ => Some(to_value(&force(v, rep)?, rep)),
                });
            }
            if !out.found.contains(&values) {
                if out.found.len() == limit {
                    out.more = true;
                    return Ok(false);
                }
                out.found.push(values);
            }
            Ok(true)
        });
        out.truncated = self.env.truncated.is_some();
        solved.map(|_| ())
    }

    /// Binds the locals to the first values that fulfil the conditions and give the body this truth (`None`: no
    /// truth value). Says whether there are such.
    pub fn witness(
        &mut self,
        locals: &[LocalId],
        conditions: &[&Expr],
        body: &Expr,
        truth: Option<bool>,
    ) -> Res<bool> {
        let slots: Vec<u32> = locals.iter().map(|l| self.compiler.local_slot(*l)).collect();
        let plan = self.compiler.plan(&slots, conditions);
        let test = self.compiler.test(body);
        self.grow();
        let mut found: Option<Vec<Val>> = None;
        plan.solve(&mut self.env, &mut |env| {
            if env.pending.is_some() && truth.is_some() {
                return Ok(true);
            }
            let here: Vec<Val> = slots.iter().map(|s| env.slots[*s as usize].clone()).collect();
            let holds = match env.pending.take() {
                Some(f) => Err(f),
                None => test.holds(env),
            };
            if holds.ok() == truth {
                found = Some(here);
            }
            Ok(found.is_none())
        })?;
        let Some(values) = found else { return Ok(false) };
        for (slot, v) in slots.iter().zip(values) {
            self.env.set(*slot, v);
        }
        Ok(true)
    }

    /// The plain value of a local.
    pub fn local(&mut self, local: LocalId) -> Option<(Value, Type)> {
        let slot = self.compiler.local_slot(local) as usize;
        let v = self.env.slots.get(slot)?.clone();
        let (rep, ty) = (self.compiler.slots[slot].rep.clone(), self.compiler.slots[slot].ty.clone());
        Some((self.plain(v, &rep).ok()?.value()?, ty))
    }
}

/// What [`Ask::solve`] found.
#[derive(Debug, Default)]
pub struct Solutions {
    pub found: Vec<Vec<Option<Value>>>,
    pub more: bool,
    /// Where the predicate has no truth value.
    pub fault: Option<Box<Fault>>,
    pub truncated: bool,
    /// How far from 0 integers without bounds were tried, if not from MININT to MAXINT.
    pub reach: Option<i64>,
}

/// How far outwards integers are tried at first, at last, and how much farther each time.
const FIRST_REACH: i64 = 64;
const LAST_REACH: i64 = 1 << 42;
const FARTHER: i64 = 8;
