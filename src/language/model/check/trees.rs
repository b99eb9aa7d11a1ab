//! `tree(S)` and `btree(S)` as comprehensions: the functions from paths to S that are trees.

use crate::lang::ast::{BinOp, Expr, ExprKind as E, Fun, Ident, Lit, Name, Quant};
use crate::lang::diag::Span;

/// All trees over a set; with `binary` those whose nodes have two sons or none.
pub(super) fn all(of: &Expr, binary: bool, span: Span) -> Expr {
    let at = |kind| Expr { kind, span };
    // No names of B: nothing is captured.
    let (t, p): (Name, Name) = ("tree'".into(), "path'".into());
    let name = |n: &Name| at(E::Name(n.clone()));
    let op = |op, a, b| at(E::Binary(op, Box::new(a), Box::new(b)));
    let call = |f, a| at(E::Call(f, vec![a]));
    let and = |a, b| op(BinOp::And, a, b);
    let int = |i: i32| at(E::Int(i.into()));
    let has = |path: Expr| op(BinOp::In, path, call(Fun::Dom, name(&t)));
    let every = |body: Expr| {
        let guarded = op(BinOp::Implies, has(name(&p)), body);
        at(E::Quant(Quant::Forall, vec![Ident { name: p.clone(), span }], Box::new(guarded)))
    };
    let front = || call(Fun::Front, name(&p));
    let last = || call(Fun::Last, name(&p));

    let paths = call(Fun::Seq, at(E::Lit(Lit::Natural1)));
    let functions = op(BinOp::PartialFun, paths, of.clone());
    let typed = and(op(BinOp::In, name(&t), functions), has(at(E::Lit(Lit::EmptySeq))));
    let elder = op(BinOp::Append, front(), op(BinOp::Sub, last(), int(1)));
    let joined = and(has(front()), op(BinOp::Implies, op(BinOp::Gt, last(), int(1)), has(elder)));
    let is_root = op(BinOp::Eq, name(&p), at(E::Lit(Lit::EmptySeq)));
    let tree = and(typed, every(op(BinOp::Or, is_root, joined)));
    let pred = if binary {
        let son = |i| has(op(BinOp::Append, name(&p), int(i)));
        let two = and(
            op(BinOp::Implies, son(1), son(2)),
            at(E::Unary(crate::lang::ast::UnOp::Not, Box::new(son(3)))),
        );
        and(tree, every(two))
    } else {
        tree
    };
    at(E::Compr(vec![Ident { name: t.clone(), span }], Box::new(pred)))
}
