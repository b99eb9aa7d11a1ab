//! Whether a substitution has an end at all, without inputs: choices are unfolded. For deadlocks.
//!
//! It is right where the state has no fault: a state with one is bad anyway.

use super::super::encode::{Encoder, Env, Slot, Truth, Val};
use super::super::{Res, unsupported};
use super::run::{Pre, Runner, read};
use crate::model::{Expr, LocalId, Operation, Stmt, StmtKind};
use kanon_solver::term::Bool;

/// Some run of the operation ends.
pub(super) fn operation<'m>(e: &mut Encoder<'m>, env: &Env<'m>, op: &'m Operation) -> Res<Bool> {
    let guard: Vec<&'m Expr> = guard(op);
    exists(e, env, &op.params, &guard, op.span, &mut |e, env| statement(e, env, &op.body))
}

/// What bounds the parameters of an operation. The body tests it again.
pub(super) fn guard(op: &Operation) -> Vec<&Expr> {
    match &op.body.kind {
        StmtKind::Pre(p, _) => vec![p],
        StmtKind::Select(arms, None) if arms.len() == 1 => arms.iter().map(|(p, _)| p).collect(),
        _ => vec![],
    }
}

type Then<'a, 'm> = &'a mut dyn FnMut(&mut Encoder<'m>, &Env<'m>) -> Res<Bool>;

fn exists<'m>(
    e: &mut Encoder<'m>,
    env: &Env<'m>,
    locals: &[LocalId],
    preds: &[&'m Expr],
    span: crate::lang::diag::Span,
    then: Then<'_, 'm>,
) -> Res<Bool> {
    if locals.is_empty() {
        let mut parts = vec![];
        for p in preds {
            parts.push(e.pred(env, p)?);
        }
        let all: Truth = e.and(&parts);
        if all.yes == Bool::FALSE {
            return Ok(Bool::FALSE);
        }
        let rest = then(e, env)?;
        return Ok(e.terms.and([all.yes, rest]));
    }
    let slots: Vec<Slot> = locals.iter().map(|l| Slot::Local(*l)).collect();
    let sweep = e.sweep(env, &slots, preds, true, true, span)?;
    let mut ways = vec![];
    for (env, t) in sweep.found {
        if t.yes != Bool::FALSE {
            let rest = then(e, &env)?;
            ways.push(e.terms.and([t.yes, rest]));
        }
    }
    // Where the sweep is not complete, a bound has no value: that is a fault.
    Ok(e.terms.or(ways))
}

/// Some run of the substitution ends.
pub(super) fn statement<'m>(e: &mut Encoder<'m>, env: &Env<'m>, s: &'m Stmt) -> Res<Bool> {
    e.enter(s.span)?;
    let result = statement_of(e, env, s);
    e.leave();
    result
}

fn statement_of<'m>(e: &mut Encoder<'m>, env: &Env<'m>, s: &'m Stmt) -> Res<Bool> {
    Ok(match &s.kind {
        StmtKind::Skip | StmtKind::Assign(_) => Bool::TRUE,
        StmtKind::BecomesElement(_, set) => {
            let v = e.item(env, set)?;
            let (rows, _) = e.rows(&v.sym, set.span)?;
            e.terms.or(rows.values().copied())
        }
        StmtKind::BecomesSuch { fresh, pred, .. } => {
            let now = env.clone().without_before();
            exists(e, &now, fresh, &[pred], s.span, &mut |_, _| Ok(Bool::TRUE))?
        }
        StmtKind::Pre(p, body) | StmtKind::Assert(p, body) => {
            exists(e, env, &[], &[p], s.span, &mut |e, env| statement(e, env, body))?
        }
        StmtKind::Select(arms, otherwise) => {
            let (mut ways, mut none) = (vec![], vec![]);
            for (guard, body) in arms {
                let t = e.pred(env, guard)?;
                none.push(t.no);
                if t.yes != Bool::FALSE {
                    let rest = statement(e, env, body)?;
                    ways.push(e.terms.and([t.yes, rest]));
                }
            }
            if let Some(s) = otherwise {
                let none = e.terms.and(none);
                let rest = statement(e, env, s)?;
                ways.push(e.terms.and([none, rest]));
            }
            e.terms.or(ways)
        }
        StmtKind::Choice(parts) => {
            let mut ways = vec![];
            for part in parts {
                ways.push(statement(e, env, part)?);
            }
            e.terms.or(ways)
        }
        StmtKind::If(arms, otherwise) => {
            let (mut open, mut ways) = (Bool::TRUE, vec![]);
            for (cond, body) in arms {
                let t = e.pred(env, cond)?;
                let rest = statement(e, env, body)?;
                ways.push(e.terms.and([open, t.yes, rest]));
                open = e.terms.and([open, t.no]);
            }
            let rest = match otherwise {
                Some(s) => statement(e, env, s)?,
                None => Bool::TRUE,
            };
            ways.push(e.terms.and([open, rest]));
            e.terms.or(ways)
        }
        StmtKind::Any(locals, pred, body) => {
            exists(e, env, locals, &[pred], s.span, &mut |e, env| statement(e, env, body))?
        }
        StmtKind::Let(defs, body) => {
            let (env, _) = e.bind_all(env, defs)?;
            statement(e, &env, body)?
        }
        StmtKind::Var(locals, body) => {
            let env = locals.iter().fold(env.clone(), |env, l| env.with_local(*l, Val::none()));
            statement(e, &env, body)?
        }
        StmtKind::Par(parts) => {
            let mut all = vec![];
            for part in parts {
                all.push(statement(e, env, part)?);
            }
            e.terms.and(all)
        }
        StmtKind::Seq(parts) => sequence(e, env, parts)?,
        StmtKind::While { body, .. } if never_blocks(body) => Bool::TRUE,
        StmtKind::Case(_, arms, otherwise)
            if arms.iter().all(|(_, s)| never_blocks(s))
                && otherwise.as_ref().is_none_or(|s| never_blocks(s)) =>
        {
            Bool::TRUE
        }
        StmtKind::Call { results, op, args } => {
            let model = e.model;
            let Some(callee) = model.operations.get(op.index()) else {
                return unsupported(s.span, "a call of what is no operation");
            };
            let mut inner = env.clone().without_locals().without_before();
            for (param, arg) in callee.params.iter().zip(args) {
                let v = e.item(env, arg)?;
                let v = e.settle_whole(v, arg.span)?;
                inner = inner.with_local(*param, v);
            }
            for (lhs, result) in results.iter().zip(&callee.results).filter(|(lhs, _)| lhs.path.is_empty()) {
                inner = inner.with_local(*result, read(env, lhs.target));
            }
            statement(e, &inner, &callee.body)?
        }
        StmtKind::While { .. } | StmtKind::Case(..) => {
            return unsupported(s.span, "whether a substitution that may be blocked inside is enabled");
        }
    })
}

/// The first part, and what comes after it: only where the first has one end, or the others always have one.
fn sequence<'m>(e: &mut Encoder<'m>, env: &Env<'m>, parts: &'m [Stmt]) -> Res<Bool> {
    let Some((first, rest)) = parts.split_first() else { return Ok(Bool::TRUE) };
    if rest.iter().all(never_blocks) {
        return statement(e, env, first);
    }
    let mut runner = Runner { encoder: e, inputs: vec![] };
    let run = runner.run(env, first, Pre::Duty)?;
    if !runner.inputs.is_empty() || run.escape != Bool::FALSE {
        return unsupported(first.span, "whether a sequence with choices is enabled");
    }
    let rest = sequence(e, &run.env, rest)?;
    Ok(e.terms.and([run.go, rest]))
}

/// Every run of it ends, or has a fault.
fn never_blocks(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Skip | StmtKind::Assign(_) => true,
        StmtKind::If(arms, otherwise) => {
            arms.iter().all(|(_, s)| never_blocks(s)) && otherwise.iter().all(|s| never_blocks(s))
        }
        StmtKind::Case(_, arms, otherwise) => {
            arms.iter().all(|(_, s)| never_blocks(s)) && otherwise.iter().all(|s| never_blocks(s))
        }
        StmtKind::Pre(_, body) | StmtKind::Assert(_, body) => never_blocks(body),
        StmtKind::Let(_, body) | StmtKind::Var(_, body) | StmtKind::While { body, .. } => never_blocks(body),
        StmtKind::Seq(parts) | StmtKind::Par(parts) => parts.iter().all(never_blocks),
        StmtKind::Choice(parts) => parts.iter().any(never_blocks),
        _ => false,
    }
}
