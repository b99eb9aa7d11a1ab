//! The conjuncts of a predicate and the forms of them that generate.

use super::fun_kind;
use crate::eval::node::Slot;
use crate::model::{BinOp, Expr, ExprKind, Fun, Lit, LocalId, Quant, Type, UnOp};
use std::collections::HashSet;

/// A conjunct, negated or not.
#[derive(Clone, Copy)]
pub(super) struct Conjunct<'e> {
    pub(super) expr: &'e Expr,
    pub(super) negated: bool,
    /// Only to be tested: what it generates was taken into account already.
    pub(super) tested: bool,
}

impl<'e> Conjunct<'e> {
    pub(super) fn new(expr: &'e Expr, negated: bool) -> Self {
        Conjunct { expr, negated, tested: false }
    }

    pub(super) fn only_tested(self) -> Self {
        Conjunct { tested: true, ..self }
    }
}

/// The form of a conjunct that may generate.
pub(super) enum Form<'e> {
    Eq(&'e Expr, &'e Expr),
    In(&'e Expr, &'e Expr),
    Subset(&'e Expr, &'e Expr),
    /// a ≤ b, or a < b when strict
    Less(&'e Expr, &'e Expr, bool),
    Or(Vec<Conjunct<'e>>),
    Exists(&'e [LocalId], Vec<Conjunct<'e>>),
    If(&'e Expr, &'e Expr, &'e Expr),
    Other,
}

pub(super) type OpenSlots = HashSet<Slot>;

/// Splits into conjuncts, driving negations inwards.
pub(super) fn flatten<'e>(c: Conjunct<'e>, out: &mut Vec<Conjunct<'e>>) {
    let Conjunct { expr, negated, .. } = c;
    let again = |expr, negated, out: &mut Vec<Conjunct<'e>>| flatten(Conjunct::new(expr, negated), out);
    match &expr.kind {
        ExprKind::Binary(BinOp::And, a, b) if !negated => {
            again(a, false, out);
            again(b, false, out);
        }
        ExprKind::Binary(BinOp::Or, a, b) if negated => {
            again(a, true, out);
            again(b, true, out);
        }
        ExprKind::Binary(BinOp::Implies, a, b) if negated => {
            again(a, false, out);
            again(b, true, out);
        }
        ExprKind::Unary(UnOp::Not, a) => again(a, !negated, out),
        ExprKind::Lit(Lit::BTrue) if !negated => {}
        _ => out.push(c),
    }
}

pub(super) fn form(c: Conjunct<'_>) -> Form<'_> {
    if c.tested {
        return Form::Other;
    }
    let Conjunct { expr, negated, .. } = c;
    if let ExprKind::Binary(BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, a, _) = &expr.kind
        && a.ty != Type::Int
    {
        // Between two real numbers there is always another: bounds do not generate.
        return Form::Other;
    }
    match (&expr.kind, negated) {
        (ExprKind::Binary(BinOp::Eq, a, b), false) | (ExprKind::Binary(BinOp::Neq, a, b), true) => {
            Form::Eq(a, b)
        }
        (ExprKind::Binary(BinOp::In, a, b), false) | (ExprKind::Binary(BinOp::NotIn, a, b), true) => {
            match (&a.kind, &b.kind) {
                // Where the subsets are run through, all of them are finite; where not, the membership itself is tested.
                (_, ExprKind::Call(Fun::Pow | Fun::Fin, args)) => Form::Subset(a, &args[0]),
                _ => Form::In(a, b),
            }
        }
        (ExprKind::Binary(BinOp::Subset, a, b), false) | (ExprKind::Binary(BinOp::NotSubset, a, b), true) => {
            Form::Subset(a, b)
        }
        (ExprKind::Binary(BinOp::Le, a, b), false) | (ExprKind::Binary(BinOp::Gt, a, b), true) => {
            Form::Less(a, b, false)
        }
        (ExprKind::Binary(BinOp::Lt, a, b), false) | (ExprKind::Binary(BinOp::Ge, a, b), true) => {
            Form::Less(a, b, true)
        }
        (ExprKind::Binary(BinOp::Ge, a, b), false) | (ExprKind::Binary(BinOp::Lt, a, b), true) => {
            Form::Less(b, a, false)
        }
        (ExprKind::Binary(BinOp::Gt, a, b), false) | (ExprKind::Binary(BinOp::Le, a, b), true) => {
            Form::Less(b, a, true)
        }
        (ExprKind::Binary(BinOp::Or, a, b), false) => Form::Or(alternatives(a, b, BinOp::Or, false)),
        (ExprKind::Binary(BinOp::And, a, b), true) => Form::Or(alternatives(a, b, BinOp::And, true)),
        (ExprKind::Binary(BinOp::Implies, a, b), false) => {
            Form::Or(vec![Conjunct::new(a, true), Conjunct::new(b, false)])
        }
        (ExprKind::Quant(Quant::Exists, locals, body), false) => {
            let mut parts = Vec::new();
            flatten(Conjunct::new(body, false), &mut parts);
            Form::Exists(locals, parts)
        }
        (ExprKind::Quant(Quant::Forall, locals, body), true) => {
            let mut parts = Vec::new();
            flatten(Conjunct::new(body, true), &mut parts);
            Form::Exists(locals, parts)
        }
        (ExprKind::If(c, a, b), _) => Form::If(c, a, b),
        _ => Form::Other,
    }
}

/// With the memberships `(x, y) : {a, b | P}` among its conjuncts replaced by P of x and y, if P is plain arithmetic: it then
/// says more about the unknowns than that they are in a set. `None` if there are none.
pub(super) fn opened(e: &Expr) -> Option<Expr> {
    match &e.kind {
        ExprKind::Binary(BinOp::And, a, b) => {
            let (x, y) = (opened(a), opened(b));
            if x.is_none() && y.is_none() {
                return None;
            }
            let (x, y) = (x.unwrap_or_else(|| (**a).clone()), y.unwrap_or_else(|| (**b).clone()));
            Some(Expr { kind: ExprKind::Binary(BinOp::And, Box::new(x), Box::new(y)), ..e.clone() })
        }
        ExprKind::Binary(BinOp::In, x, set) => {
            let ExprKind::Compr(locals, pred) = &set.kind else { return None };
            let mut parts = Vec::new();
            let mut rest: &Expr = x;
            for _ in 1..locals.len() {
                let ExprKind::Binary(BinOp::Pair, a, b) = &rest.kind else { return None };
                parts.push(&**b);
                rest = a;
            }
            parts.push(rest);
            parts.reverse();
            let is_name = |e: &&Expr| {
                matches!(
                    e.kind,
                    ExprKind::Local(_) | ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Int(_)
                )
            };
            if !parts.iter().all(is_name) || pred.any(&|e| !is_plain(e)) {
                return None;
            }
            let mut pred = (**pred).clone();
            pred.replace(&|kind| match kind {
                ExprKind::Local(l) => {
                    let place = locals.iter().position(|bound| bound == l)?;
                    Some(parts[place].kind.clone())
                }
                _ => None,
            });
            Some(pred)
        }
        _ => None,
    }
}

/// Comparisons, sums, products and names.
fn is_plain(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Binary(op, ..) => matches!(
            op,
            BinOp::And
                | BinOp::Eq
                | BinOp::Neq
                | BinOp::Lt
                | BinOp::Le
                | BinOp::Gt
                | BinOp::Ge
                | BinOp::In
                | BinOp::Add
                | BinOp::Sub
                | BinOp::Mul
                | BinOp::Interval
        ),
        ExprKind::Local(_) | ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Int(_) => true,
        ExprKind::Lit(_) => true,
        ExprKind::Unary(UnOp::Neg, _) => true,
        _ => false,
    }
}

/// Whether evaluating the expression may be a well-definedness error.
pub(super) fn may_fault(e: &Expr) -> bool {
    e.any(&|x| match &x.kind {
        ExprKind::Apply(..) | ExprKind::Bind(..) | ExprKind::Let(..) | ExprKind::Demand(..) => true,
        ExprKind::Call(f, _) => {
            !matches!(f, Fun::Dom | Fun::Ran | Fun::Pow | Fun::Fin | Fun::Id | Fun::GenUnion)
        }
        ExprKind::Binary(op, ..) => matches!(
            op,
            BinOp::Div
                | BinOp::Mod
                | BinOp::Pow
                | BinOp::TakeFirst
                | BinOp::DropFirst
                | BinOp::Concat
                | BinOp::Prepend
                | BinOp::Append
        ),
        _ => false,
    })
}

/// A membership that is a conjunct, or that follows from one.
pub(super) struct Membership<'e> {
    pub(super) conjunct: Option<usize>,
    pub(super) element: &'e Expr,
    pub(super) set: &'e Expr,
    /// element ⊆ set
    pub(super) subset: bool,
}

pub(super) fn memberships<'e>(todo: &[Conjunct<'e>]) -> Vec<Membership<'e>> {
    let mut out = Vec::new();
    for (i, c) in todo.iter().enumerate() {
        let mut follows = |element: &'e Expr, set: &'e Expr, subset| {
            out.push(Membership { conjunct: None, element, set, subset });
        };
        match form(*c) {
            Form::In(x, set) => {
                // What follows for one part hides a fault of another.
                let parts_fault = match &set.kind {
                    ExprKind::Call(_, args) => args.iter().any(may_fault),
                    _ => may_fault(set),
                };
                let is_whole = !may_fault(x) && !parts_fault;
                match (&x.kind, &set.kind) {
                    (ExprKind::SeqExt(_) | ExprKind::Binary(BinOp::Pair, ..), _) if !is_whole => {}
                    (ExprKind::SeqExt(items), ExprKind::Binary(op, _, to)) if fun_kind(*op).is_some() => {
                        items.iter().for_each(|x| follows(x, to, false));
                    }
                    (ExprKind::SeqExt(items), ExprKind::Call(_, args)) => {
                        items.iter().for_each(|x| follows(x, &args[0], false));
                    }
                    (ExprKind::Binary(BinOp::Pair, a, b), ExprKind::Product(s, t)) => {
                        follows(a, s, false);
                        follows(b, t, false);
                    }
                    // A faulty operand makes the membership faulty, which running through the other one would hide.
                    (_, ExprKind::Binary(BinOp::Inter, s, t)) if !may_fault(s) && !may_fault(t) => {
                        follows(x, s, false);
                        follows(x, t, false);
                    }
                    (_, ExprKind::Binary(BinOp::Diff, s, t)) if !may_fault(t) => follows(x, s, false),
                    _ => {}
                }
                out.push(Membership { conjunct: Some(i), element: x, set, subset: false });
            }
            Form::Subset(x, set) => {
                if let ExprKind::SetExt(items) = &x.kind
                    && !may_fault(x)
                {
                    items.iter().for_each(|x| follows(x, set, false));
                }
                out.push(Membership { conjunct: Some(i), element: x, set, subset: true });
            }
            Form::Eq(a, b) => {
                for (l, r) in [(a, b), (b, a)] {
                    match &l.kind {
                        _ if may_fault(l) => {}
                        ExprKind::SetExt(items) => items.iter().for_each(|x| follows(x, r, false)),
                        ExprKind::Binary(BinOp::Union, s, t) => {
                            for part in [s, t] {
                                if let ExprKind::SetExt(items) = &part.kind {
                                    items.iter().for_each(|x| follows(x, r, false));
                                }
                                follows(part, r, true);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    out
}

/// What a conjunct says once a condition's truth is known.
pub(super) enum Known<'e> {
    Same,
    Holds,
    Other(Conjunct<'e>),
}

pub(super) fn known<'e>(c: Conjunct<'e>, cond: Conjunct<'e>, truth: bool) -> Known<'e> {
    let Form::Or(ways) = form(c) else { return Known::Same };
    if ways.len() != 2 {
        return Known::Same;
    }
    for (way, other) in [(ways[0], ways[1]), (ways[1], ways[0])] {
        let (w, d) = (stripped(way), stripped(cond));
        if w.expr == d.expr {
            let way_holds = (w.negated == d.negated) == truth;
            return if way_holds { Known::Holds } else { Known::Other(other) };
        }
    }
    Known::Same
}

pub(super) fn stripped(c: Conjunct<'_>) -> Conjunct<'_> {
    match &c.expr.kind {
        ExprKind::Unary(UnOp::Not, a) => stripped(Conjunct::new(a, !c.negated)),
        _ => c,
    }
}

fn alternatives<'e>(a: &'e Expr, b: &'e Expr, op: BinOp, negated: bool) -> Vec<Conjunct<'e>> {
    let mut out = Vec::new();
    let mut stack = vec![b, a];
    while let Some(e) = stack.pop() {
        match &e.kind {
            ExprKind::Binary(o, x, y) if *o == op => stack.extend([&**y, &**x]),
            _ => out.push(Conjunct::new(e, negated)),
        }
    }
    out
}
