//! Which choices are worth asking an [`Oracle`](crate::eval::node::Oracle) about, and the question.

use super::Compiler;
use super::estimate::UNBOUNDED;
use super::forms::OpenSlots;
use crate::eval::node::{Generator, Name, Question, Slot, Solved};
use crate::eval::plan::{Plan, PlanStep};
use crate::lang::diag::Span;
use crate::model::{Expr, ExprKind, LocalId, Type, UnOp};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// What a plan has to try, as far as the tree tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// The largest step that is no range of integers.
    step: f64,
    all: f64,
}

impl Work {
    pub(super) const NONE: Work = Work { step: 1.0, all: 1.0 };

    pub(super) fn add(&mut self, cost: f64, is_range: bool) {
        let cost = cost.clamp(1.0, UNBOUNDED);
        self.all *= cost;
        if !is_range {
            self.step = self.step.max(cost);
        }
    }
}

impl Compiler<'_> {
    /// Plans, and counts what the plan has to try.
    pub(super) fn counted(&mut self, unknown: &[Slot], preds: &[&Expr]) -> (Plan, Work) {
        let outer = std::mem::replace(&mut self.work, Work::NONE);
        let plan = self.plain_plan(unknown, preds);
        (plan, std::mem::replace(&mut self.work, outer))
    }

    /// Whether there is a solution.
    pub(super) fn plan_of_one(&mut self, unknown: &[Slot], preds: &[&Expr]) -> Plan {
        let (plan, work) = self.counted(unknown, preds);
        self.asked(plan, work, unknown, preds, true)
    }

    /// The antecedents of a universal quantification: only one for which the body is not true matters.
    pub(super) fn plan_of_all(&mut self, unknown: &[Slot], antecedents: &[&Expr], body: &Expr) -> Plan {
        let (plan, work) = self.counted(unknown, antecedents);
        let not = Expr {
            kind: ExprKind::Unary(UnOp::Not, Box::new(body.clone())),
            ty: Type::Pred,
            span: body.span,
        };
        let mut counterexample = antecedents.to_vec();
        counterexample.push(&not);
        self.asked(plan, work, unknown, &counterexample, true)
    }

    /// The plan, or a choice by plan or oracle if that is worth it.
    pub(super) fn asked(
        &mut self,
        plan: Plan,
        work: Work,
        unknown: &[Slot],
        preds: &[&Expr],
        is_one_enough: bool,
    ) -> Plan {
        let Some((oracle, asking)) = self.oracle.clone() else { return plan };
        if !plan.unbounded && work.step < asking.step && work.all < asking.all {
            return plan;
        }
        let patience = asking.patience;
        let parts: Vec<&Expr> = preds.iter().flat_map(|p| p.conjuncts()).collect();
        let preds = &parts[..];
        let Some((question, reads)) = self.question(unknown, preds, is_one_enough) else { return plan };
        let with_rep = |c: &Self, s: Slot| (s, c.slots[s as usize].rep.clone());
        let slots = unknown.iter().map(|s| with_rep(self, *s)).collect();
        let reads = reads.into_iter().map(|s| with_rep(self, s)).collect();
        let tests = preds.iter().map(|p| self.test(p)).collect();
        let Plan { steps, may_repeat, unbounded } = plan;
        let solved = Solved {
            question,
            slots,
            reads,
            tests,
            plan: steps,
            oracle,
            patience,
            answers: Default::default(),
        };
        let steps = vec![PlanStep::Generate(Generator::Solved(Arc::new(solved)))];
        Plan { steps, may_repeat, unbounded }
    }

    /// The slots of the free names; `None` where some have none, or where values before a substitution are meant.
    pub(super) fn reads_of(&self, e: &Expr) -> Option<Vec<Slot>> {
        let mut names = Names::default();
        names.look(e);
        let constants = names.constants.iter().map(|c| self.const_slot(crate::model::ConstId(*c)));
        let variables = names.variables.iter().map(|v| self.var_slot(crate::model::VarId(*v)));
        let mut reads: Vec<Slot> = constants.chain(variables).collect();
        for l in names.locals.iter().map(|l| LocalId(*l)).filter(|l| !names.bound.contains(l)) {
            reads.push(*self.locals.get(&l)?);
        }
        (!names.has_old).then_some(reads)
    }

    /// The question, and the slots of the names that are known; `None` where it cannot be put.
    fn question(
        &mut self,
        unknown: &[Slot],
        preds: &[&Expr],
        is_one_enough: bool,
    ) -> Option<(Question, Vec<Slot>)> {
        let ids = unknown.iter().map(|s| self.locals.iter().find(|(_, slot)| *slot == s).map(|(l, _)| *l));
        let unknown: Vec<LocalId> = ids.collect::<Option<_>>()?;
        let mut names = Names::default();
        preds.iter().for_each(|p| names.look(p));
        if names.has_old || unknown.iter().any(|l| names.bound.contains(l)) {
            return None;
        }
        let is_free = |l: &LocalId| !names.bound.contains(l) && !unknown.contains(l);
        let mut known = Vec::new();
        let mut reads = Vec::new();
        for c in &names.constants {
            known.push(Name::Const(crate::model::ConstId(*c)));
            reads.push(self.const_slot(crate::model::ConstId(*c)));
        }
        for v in &names.variables {
            known.push(Name::Var(crate::model::VarId(*v)));
            reads.push(self.var_slot(crate::model::VarId(*v)));
        }
        for l in names.locals.iter().map(|l| LocalId(*l)).filter(is_free) {
            known.push(Name::Local(l));
            reads.push(*self.locals.get(&l)?);
        }
        // A state variable that is unknown would be read before it has a value.
        let open: OpenSlots = unknown.iter().filter_map(|l| self.locals.get(l).copied()).collect();
        if reads.iter().any(|s| open.contains(s)) {
            return None;
        }
        let span = preds.first().map_or(Span::default(), |p| p.span);
        let preds = preds.iter().map(|p| (*p).clone()).collect();
        Some((Question { unknown, known, preds, is_one_enough, span }, reads))
    }
}

/// The names in an expression. Ordered, so that a question does not depend on chance.
#[derive(Default)]
struct Names {
    constants: BTreeSet<u32>,
    variables: BTreeSet<u32>,
    locals: BTreeSet<u32>,
    /// Bound inside.
    bound: HashSet<LocalId>,
    /// Whether it speaks of values before a substitution.
    has_old: bool,
}

impl Names {
    fn look(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Const(c) => _ = self.constants.insert(c.0),
            ExprKind::Var(v) => _ = self.variables.insert(v.0),
            ExprKind::Local(l) => _ = self.locals.insert(l.0),
            ExprKind::Old(_) | ExprKind::OldLocal(_) => self.has_old = true,
            ExprKind::Quant(_, locals, _)
            | ExprKind::Compr(locals, _)
            | ExprKind::Bind(_, locals, ..)
            | ExprKind::ComprMap(locals, ..) => self.bound.extend(locals.iter().copied()),
            ExprKind::Let(defs, _) => self.bound.extend(defs.iter().map(|(l, _)| *l)),
            _ => {}
        }
        e.for_each_child(&mut |c| self.look(c));
    }
}
