//! The direct parts of a tree, in the order of the text: what every pass over trees is made of.

use crate::lang::ast::{Expr, ExprKind, Subst, SubstKind};

macro_rules! walkers {
    ($exprs:ident, $substs:ident, $iter:ident $(, $m:tt)?) => {
        /// Calls `f` with each direct subexpression.
        pub fn $exprs<'t>(e: &'t $($m)? Expr, f: &mut dyn FnMut(&'t $($m)? Expr)) {
            match & $($m)? e.kind {
                ExprKind::Name(_)
                | ExprKind::Old(_)
                | ExprKind::Int(_)
                | ExprKind::Str(_)
                | ExprKind::Real(_)
                | ExprKind::Lit(_) => {}
                ExprKind::Unary(_, a)
                | ExprKind::Quant(_, _, a)
                | ExprKind::Compr(_, a)
                | ExprKind::Field(a, _)
                | ExprKind::Bool(a)
                | ExprKind::Bounded(a) => f(a),
                ExprKind::Binary(_, a, b)
                | ExprKind::Image(a, b)
                | ExprKind::Bind(_, _, a, b)
                | ExprKind::ComprMap(_, a, b)
                | ExprKind::Let(_, a, b)
                | ExprKind::Typed(a, b)
                | ExprKind::HasType(a, b)
                | ExprKind::Below(a, b) => {
                    f(a);
                    f(b);
                }
                ExprKind::If(a, b, c) => {
                    f(a);
                    f(b);
                    f(c);
                }
                ExprKind::Apply(a, items) => {
                    f(a);
                    items.$iter().for_each(f);
                }
                ExprKind::Call(_, items) | ExprKind::SetExt(items) | ExprKind::SeqExt(items) => {
                    items.$iter().for_each(f);
                }
                ExprKind::Rec(fields) | ExprKind::Struct(fields) => {
                    fields.$iter().for_each(|(_, e)| f(e));
                }
            }
        }

        /// Calls `f` with each expression and `g` with each substitution directly in `s`.
        pub fn $substs<'t>(
            s: &'t $($m)? Subst,
            f: &mut dyn FnMut(&'t $($m)? Expr),
            g: &mut dyn FnMut(&'t $($m)? Subst),
        ) {
            match & $($m)? s.kind {
                SubstKind::Skip => {}
                SubstKind::Assign(left, right) => {
                    left.$iter().for_each(&mut *f);
                    right.$iter().for_each(f);
                }
                SubstKind::BecomesElement(left, set) => {
                    left.$iter().for_each(&mut *f);
                    f(set);
                }
                SubstKind::BecomesSuch(_, p) => f(p),
                SubstKind::Pre(p, body)
                | SubstKind::Assert(p, body)
                | SubstKind::Any(_, p, body)
                | SubstKind::Let(_, p, body) => {
                    f(p);
                    g(body);
                }
                SubstKind::Select(arms, otherwise) | SubstKind::If(arms, otherwise) => {
                    for (p, body) in arms {
                        f(p);
                        g(body);
                    }
                    if let Some(body) = otherwise {
                        g(body);
                    }
                }
                SubstKind::Case(e, arms, otherwise) => {
                    f(e);
                    for (values, body) in arms {
                        values.$iter().for_each(&mut *f);
                        g(body);
                    }
                    if let Some(body) = otherwise {
                        g(body);
                    }
                }
                SubstKind::Var(_, body) | SubstKind::Block(body) => g(body),
                SubstKind::Choice(parts) | SubstKind::Seq(parts) | SubstKind::Par(parts) => {
                    parts.$iter().for_each(g);
                }
                SubstKind::While { cond, body, invariant, variant } => {
                    f(cond);
                    g(body);
                    f(invariant);
                    f(variant);
                }
                SubstKind::Call { results, args, .. } => {
                    results.$iter().for_each(&mut *f);
                    args.$iter().for_each(f);
                }
            }
        }
    };
}

walkers!(children, subst_children, iter);
walkers!(children_mut, subst_children_mut, iter_mut, mut);
