//! Trees that the reader makes of several parts, and what it asks of them.

use crate::lang::ast::{BinOp, Expr, ExprKind, Fun, Ident, Name};
use crate::lang::diag::Span;
use crate::lang::eventb::formula::with;
use crate::lang::walk::children;

/// That a name has the type of a set's elements.
pub fn has_type(name: &Name, ty: Expr, span: Span) -> Expr {
    let x = Expr { kind: ExprKind::Name(name.clone()), span };
    Expr { kind: ExprKind::HasType(Box::new(x), Box::new(ty)), span }
}

/// `a ↦ b`
pub fn pair(a: Expr, b: Expr) -> ExprKind {
    ExprKind::Binary(BinOp::Pair, Box::new(a), Box::new(b))
}

/// `finite(s)`: s is one of its finite subsets.
pub fn finite(s: Expr, span: Span) -> ExprKind {
    let subsets = Expr { kind: ExprKind::Call(Fun::Fin, vec![s.clone()]), span };
    ExprKind::Binary(BinOp::In, Box::new(s), Box::new(subsets))
}

/// `f(x)`; projections of one couple need no function.
pub fn applied(f: Expr, arg: Expr) -> ExprKind {
    let plain = match &f.kind {
        ExprKind::Typed(inner, _) => &inner.kind,
        kind => kind,
    };
    match plain {
        ExprKind::Call(fun @ (Fun::Prj1 | Fun::Prj2), args) if args.len() == 2 => {
            ExprKind::Call(*fun, vec![arg])
        }
        _ => ExprKind::Apply(Box::new(f), vec![arg]),
    }
}

/// The parts joined by an operator, as a tree of small height; none only of none.
pub fn balanced(op: BinOp, mut parts: Vec<Expr>) -> Option<Expr> {
    while parts.len() > 1 {
        let mut next = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(a) = rest.next() {
            next.push(match rest.next() {
                Some(b) => {
                    let span = a.span.to(b.span);
                    with(op, a, b, span)
                }
                None => a,
            });
        }
        parts = next;
    }
    parts.pop()
}

/// The free names of an expression, in the order in which they occur first.
pub fn free(e: &Expr, bound: &mut Vec<Name>, found: &mut Vec<Ident>) {
    match &e.kind {
        ExprKind::Name(name) => {
            if !bound.contains(name) && found.iter().all(|id| id.name != *name) {
                found.push(Ident { name: name.clone(), span: e.span });
            }
        }
        ExprKind::Quant(_, ids, _)
        | ExprKind::Compr(ids, _)
        | ExprKind::Bind(_, ids, ..)
        | ExprKind::ComprMap(ids, ..)
        | ExprKind::Let(ids, ..) => {
            let before = bound.len();
            bound.extend(ids.iter().map(|id| id.name.clone()));
            children(e, &mut |c| free(c, bound, found));
            bound.truncate(before);
        }
        _ => children(e, &mut |c| free(c, bound, found)),
    }
}
