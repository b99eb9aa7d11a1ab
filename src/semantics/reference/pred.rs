//! Predicates: strong Kleene logic, comparison, membership, inclusion.

use super::search::{Unbounded, search};
use super::set::{equal, has, included, member, settle};
use super::*;
use crate::model::{BinOp, Expr, ExprKind, Lit, Quant, Type, UnOp};
use std::ops::ControlFlow;

/// Whether the predicate is true. A fault means that it is neither true nor false (`Wd`), or that we do not
/// know (`Limit`).
pub fn holds<'m>(cx: &Cx<'m>, env: &Env<'m>, p: &'m Expr) -> Result<bool, Fault> {
    let _nested = cx.enter(p.span)?;
    match &p.kind {
        ExprKind::Lit(Lit::BTrue) => Ok(true),
        ExprKind::Lit(Lit::BFalse) => Ok(false),
        ExprKind::Unary(UnOp::Not, a) => Ok(!holds(cx, env, a)?),
        ExprKind::Binary(op, a, b) => match op {
            BinOp::And => and(holds(cx, env, a), || holds(cx, env, b)),
            BinOp::Or => or(holds(cx, env, a), || holds(cx, env, b)),
            BinOp::Implies => or(not(holds(cx, env, a)), || holds(cx, env, b)),
            BinOp::Iff => Ok(holds(cx, env, a)? == holds(cx, env, b)?),
            _ => compare(cx, env, *op, a, b, p.span),
        },
        ExprKind::Quant(Quant::Exists, locals, body) => quantified(cx, env, locals, body, true),
        ExprKind::Quant(Quant::Forall, locals, body) => not(quantified(cx, env, locals, body, false)),
        ExprKind::If(cond, yes, no) => {
            if holds(cx, env, cond)? {
                holds(cx, env, yes)
            } else {
                holds(cx, env, no)
            }
        }
        ExprKind::HasValue(a) => {
            let found = match a.ty {
                Type::Pred => holds(cx, env, a).map(drop),
                _ => item(cx, env, a).map(drop),
            };
            match found {
                Ok(()) => Ok(true),
                // What has no value yet may get one: a predicate is decided only by what is known.
                Err(Fault::Wd(wd)) if wd.kind != WdKind::Unassigned => Ok(false),
                Err(fault) => Err(fault),
            }
        }
        ExprKind::Demand(a) if holds(cx, env, a)? => Ok(true),
        ExprKind::Demand(a) => Err(wd(WdKind::NoValue, a.span)),
        ExprKind::Let(defs, body) => holds(cx, &expr::bind_all(cx, env, defs)?, body),
        _ => Err(ill_typed(p.span)),
    }
}

fn not(a: Result<bool, Fault>) -> Result<bool, Fault> {
    a.map(|b| !b)
}

fn and(a: Result<bool, Fault>, b: impl FnOnce() -> Result<bool, Fault>) -> Result<bool, Fault> {
    match a {
        Ok(false) => Ok(false),
        Ok(true) => b(),
        Err(first) => match b() {
            Ok(false) => Ok(false),
            Ok(true) => Err(first),
            Err(second) => Err(worse(first, second)),
        },
    }
}

fn or(a: Result<bool, Fault>, b: impl FnOnce() -> Result<bool, Fault>) -> Result<bool, Fault> {
    not(and(not(a), || not(b())))
}

/// Whether some binding of the locals gives the body the wanted truth.
fn quantified<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    locals: &[LocalId],
    body: &'m Expr,
    wanted: bool,
) -> Result<bool, Fault> {
    let mut answer = Ok(false);
    let slots: Vec<Slot> = locals.iter().map(|l| Slot::Local(*l)).collect();
    let _ = search(cx, env, &slots, &[body], wanted, Unbounded::Truncate, &mut |_, truth| {
        let found = truth.map(|t| t == wanted);
        answer = or(std::mem::replace(&mut answer, Ok(false)), || found);
        if answer == Ok(true) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    answer
}

fn compare<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    op: BinOp,
    a: &'m Expr,
    b: &'m Expr,
    span: Span,
) -> Result<bool, Fault> {
    match op {
        BinOp::Lt => Ok(expr::compare(cx, env, a, b)?.is_lt()),
        BinOp::Le => Ok(expr::compare(cx, env, a, b)?.is_le()),
        BinOp::Gt => Ok(expr::compare(cx, env, a, b)?.is_gt()),
        BinOp::Ge => Ok(expr::compare(cx, env, a, b)?.is_ge()),
        BinOp::Neq => not(compare(cx, env, BinOp::Eq, a, b, span)),
        BinOp::NotIn => not(compare(cx, env, BinOp::In, a, b, span)),
        BinOp::NotSubset => not(compare(cx, env, BinOp::Subset, a, b, span)),
        BinOp::NotStrictSubset => not(compare(cx, env, BinOp::StrictSubset, a, b, span)),
        BinOp::Eq => {
            let (a, b) = (item(cx, env, a)?, item(cx, env, b)?);
            equal(cx, env, &settle(cx, env, a, span)?, &settle(cx, env, b, span)?, span)
        }
        BinOp::In => {
            let (a, set) = (item(cx, env, a)?, item(cx, env, b)?);
            let set = if cx.eager { settle(cx, env, set, span)? } else { set };
            match settle(cx, env, a, span)? {
                Item::Value(v) => has(cx, env, &v, &set, span),
                Item::Symbolic(a) => member(cx, env, &a, &set, span),
            }
        }
        BinOp::Subset => {
            let (a, b) = (item(cx, env, a)?, item(cx, env, b)?);
            let b = if cx.eager { settle(cx, env, b, span)? } else { b };
            included(cx, env, &settle(cx, env, a, span)?, &b, span)
        }
        BinOp::StrictSubset => {
            let (a, b) = (item(cx, env, a)?, item(cx, env, b)?);
            let (a, b) = (settle(cx, env, a, span)?, settle(cx, env, b, span)?);
            Ok(included(cx, env, &a, &b, span)? && !equal(cx, env, &a, &b, span)?)
        }
        _ => Err(ill_typed(span)),
    }
}
