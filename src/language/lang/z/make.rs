//! Trees of [`crate::lang::ast`], made in few words.

use crate::lang::ast::{BinOp, Binder, Expr, ExprKind, Fun, Ident, Lit, Name, Quant, UnOp};
use crate::lang::diag::Span;
use crate::lang::walk::children_mut;
use std::collections::HashMap;

pub fn node(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

pub fn name(name: &Name, span: Span) -> Expr {
    node(ExprKind::Name(name.clone()), span)
}

pub fn int(i: i32, span: Span) -> Expr {
    node(ExprKind::Int(i.into()), span)
}

pub fn lit(l: Lit, span: Span) -> Expr {
    node(ExprKind::Lit(l), span)
}

pub fn bin(op: BinOp, a: Expr, b: Expr, span: Span) -> Expr {
    node(ExprKind::Binary(op, Box::new(a), Box::new(b)), span)
}

pub fn un(op: UnOp, a: Expr, span: Span) -> Expr {
    node(ExprKind::Unary(op, Box::new(a)), span)
}

pub fn call(fun: Fun, args: Vec<Expr>, span: Span) -> Expr {
    node(ExprKind::Call(fun, args), span)
}

pub fn apply(f: Expr, x: Expr, span: Span) -> Expr {
    node(ExprKind::Apply(Box::new(f), vec![x]), span)
}

pub fn cond(p: Expr, yes: Expr, no: Expr, span: Span) -> Expr {
    node(ExprKind::If(Box::new(p), Box::new(yes), Box::new(no)), span)
}

/// The conjunction, a balanced tree, so that long ones are not deep.
pub fn all(parts: Vec<Expr>, span: Span) -> Expr {
    fn half(parts: &mut std::vec::IntoIter<Expr>, n: usize, span: Span) -> Expr {
        if n <= 1 {
            return parts.next().unwrap_or_else(|| lit(Lit::BTrue, span));
        }
        let left = half(parts, n / 2, span);
        let right = half(parts, n - n / 2, span);
        let span = left.span.to(right.span);
        bin(BinOp::And, left, right, span)
    }
    let n = parts.len();
    half(&mut parts.into_iter(), n, span)
}

/// A left-nested tuple.
pub fn tuple(parts: Vec<Expr>, span: Span) -> Expr {
    let first = parts.into_iter().reduce(|a, b| bin(BinOp::Pair, a, b, span));
    first.unwrap_or_else(|| lit(Lit::EmptySet, span))
}

pub fn quant(q: Quant, ids: Vec<Ident>, body: Expr, span: Span) -> Expr {
    if ids.is_empty() { body } else { node(ExprKind::Quant(q, ids, Box::new(body)), span) }
}

pub fn lambda(x: Ident, p: Expr, e: Expr, span: Span) -> Expr {
    node(ExprKind::Bind(Binder::Lambda, vec![x], Box::new(p), Box::new(e)), span)
}

/// Calls `f` with each name that stands for something, the tree from top to bottom.
pub fn for_each_name(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    if let ExprKind::Name(_) = e.kind {
        return f(e);
    }
    children_mut(e, &mut |c| for_each_name(c, f));
}

/// Puts expressions in the place of names. No binder in the tree has a name of the table or one in its expressions.
pub fn substitute(e: &mut Expr, table: &HashMap<Name, Expr>) {
    for_each_name(e, &mut |e| {
        if let ExprKind::Name(n) = &e.kind
            && let Some(other) = table.get(n)
        {
            // The place stays that of the use.
            e.kind = other.kind.clone();
        }
    });
}

/// The names in a tree, those of binders apart.
pub fn names(e: &Expr, f: &mut dyn FnMut(&Name)) {
    if let ExprKind::Name(n) = &e.kind {
        f(n);
    }
    crate::lang::walk::children(e, &mut |c| names(c, f));
}

/// How many nodes it has.
pub fn size(e: &Expr) -> usize {
    let mut n = 1;
    crate::lang::walk::children(e, &mut |c| n += size(c));
    n
}
