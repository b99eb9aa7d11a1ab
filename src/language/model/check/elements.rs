//! Constants that name elements of a deferred set.
//!
//! Nothing distinguishes the elements of a carrier set, so constants of it that all differ from each other may be taken
//! for its first elements: every other choice is the same up to names. They are then no constants but names, as in
//! ProB. Only for languages in which no text of the model itself names elements of deferred sets.

use crate::model::scope::distinct_constants;
use crate::model::{BinOp, ConstId, Expr, ExprKind, Fun, Lit, Model, SetId, Stmt, UnOp};
use num_traits::ToPrimitive;
use std::collections::BTreeSet;

/// Turns such constants into elements.
pub fn name(model: &mut Model) {
    let mut place: Vec<Option<(SetId, u32)>> = vec![None; model.constants.len()];
    for (set, constants) in distinct_constants(model) {
        for (i, c) in constants.iter().enumerate() {
            place[c.index()] = Some((set, i as u32));
        }
        let names = constants.iter().map(|c| model.constants[c.index()].name.clone()).collect();
        model.sets[set.index()].named = names;
    }
    if place.iter().all(Option::is_none) {
        return;
    }
    let mut next = 0;
    let kinds: Vec<ExprKind> = place
        .iter()
        .map(|p| match p {
            Some((set, i)) => ExprKind::Elem(*set, *i),
            None => {
                next += 1;
                ExprKind::Const(ConstId(next - 1))
            }
        })
        .collect();
    let mut at = 0;
    model.constants.retain(|_| {
        at += 1;
        place[at - 1].is_none()
    });
    let predicates = model.properties.iter_mut().chain(&mut model.invariant).chain(&mut model.assertions);
    predicates.chain(&mut model.goal).for_each(|e| replace(e, &kinds));
    replace_in(&mut model.initialisation, &kinds);
    model.operations.iter_mut().for_each(|op| replace_in(&mut op.body, &kinds));
    model.properties.retain(|p| !is_said(p));
}

/// A carrier set that is divided has at least as many elements as its parts have together.
pub fn measure_parts(model: &mut Model) {
    let mut least = vec![];
    for p in &model.properties {
        let ExprKind::Binary(BinOp::Eq, a, b) = &p.kind else { continue };
        for (set, union) in [(a, b), (b, a)] {
            let ExprKind::Given(s) = set.kind else { continue };
            let parts = union.operands(BinOp::Union);
            let apart = |a: &Expr, b: &Expr| model.properties.iter().any(|p| is_apart(p, a, b));
            let are_apart = (0..parts.len()).all(|i| (0..i).all(|j| apart(parts[j], parts[i])));
            if parts.len() > 1 && are_apart {
                least.push((s, parts.iter().map(|e| least_size(e, model)).sum(), p.span));
            }
        }
    }
    model.scope.least.extend(least);
}

/// Whether a property says that two sets have no common element; or that the only element of one is not that of the
/// other.
fn is_apart(p: &Expr, a: &Expr, b: &Expr) -> bool {
    if let (ExprKind::SetExt(a), ExprKind::SetExt(b)) = (&a.kind, &b.kind)
        && let ([a], [b]) = (&a[..], &b[..])
    {
        let differ = matches!((&a.kind, &b.kind), (ExprKind::Elem(_, i), ExprKind::Elem(_, j)) if i != j);
        return differ || matches!(&p.kind, ExprKind::Binary(BinOp::Neq, x, y) if **x == *a && **y == *b);
    }
    match &p.kind {
        ExprKind::Binary(BinOp::Eq, common, none) if none.kind_is(Lit::EmptySet) => {
            matches!(&common.kind, ExprKind::Binary(BinOp::Inter, x, y) if **x == *a && **y == *b)
        }
        _ => false,
    }
}

fn least_size(e: &Expr, model: &Model) -> u64 {
    if let ExprKind::SetExt(items) = &e.kind {
        let named: BTreeSet<u32> = items
            .iter()
            .filter_map(|i| match i.kind {
                ExprKind::Elem(_, i) => Some(i),
                _ => None,
            })
            .collect();
        return (named.len() as u64).max(1);
    }
    let says = |p: &Expr| match &p.kind {
        ExprKind::Binary(BinOp::Neq, x, none) if none.kind_is(Lit::EmptySet) && **x == *e => Some(1),
        ExprKind::Binary(BinOp::Eq, card, n) => match (&card.kind, &n.kind) {
            (ExprKind::Call(Fun::Card, args), ExprKind::Int(n)) if args[..] == [e.clone()] => n.to_u64(),
            _ => None,
        },
        _ => None,
    };
    model.properties.iter().filter_map(says).max().unwrap_or(0)
}

fn replace(e: &mut Expr, kinds: &[ExprKind]) {
    if let ExprKind::Const(c) = e.kind {
        e.kind = kinds[c.index()].clone();
    }
    e.for_each_child_mut(&mut |c| replace(c, kinds));
}

fn replace_in(s: &mut Stmt, kinds: &[ExprKind]) {
    s.for_each_expr_mut(&mut |e| replace(e, kinds));
    s.for_each_child_mut(&mut |c| replace_in(c, kinds));
}

/// What the names say already: two of them differ, one is in its set.
fn is_said(p: &Expr) -> bool {
    let differ = |a: &Expr, b: &Expr| match (&a.kind, &b.kind) {
        (ExprKind::Elem(s, i), ExprKind::Elem(t, j)) => s == t && i != j,
        _ => false,
    };
    match &p.kind {
        ExprKind::Binary(BinOp::Neq, a, b) => differ(a, b),
        ExprKind::Binary(BinOp::In, a, b) => matches!(
            (&a.kind, &b.kind),
            (ExprKind::Elem(s, _), ExprKind::Given(t)) if s == t
        ),
        ExprKind::Unary(UnOp::Not, q) => match &q.kind {
            ExprKind::Binary(BinOp::Eq, a, b) => differ(a, b),
            _ => false,
        },
        _ => false,
    }
}
