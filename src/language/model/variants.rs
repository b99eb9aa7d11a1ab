//! Variants are numbers or sets. What is demanded of one before an event decreases it has two names, which only its type
//! tells apart: that a number is not negative (`NAT`), that a set is finite (`FIN`).

use super::{BinOp, ExprKind, Fun, Model, Promise, Stmt};
use crate::lang::diag::Span;
use std::collections::BTreeSet;

/// The places of variants that are sets.
pub fn sets(model: &Model) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    model.operations.iter().for_each(|op| of_statement(&op.body, &mut found));
    found
}

fn of_statement(s: &Stmt, found: &mut BTreeSet<Span>) {
    s.for_each_expr(&mut |e| {
        e.for_each_part(&mut |part| {
            let ExprKind::Binary(BinOp::In, a, of) = &part.kind else { return };
            // What an author writes is longer than its operand; what a variant demands stands in its place.
            if part.span == a.span && matches!(of.kind, ExprKind::Call(Fun::Fin, _)) {
                found.insert(part.span);
            }
        });
    });
    s.for_each_child(&mut |c| of_statement(c, found));
}

/// A promise about a variant, by its type.
pub fn by_type(sets: &BTreeSet<Span>, p: Promise) -> Promise {
    if p.kind == "NAT" && sets.contains(&p.span) { Promise { kind: "FIN", ..p } } else { p }
}
