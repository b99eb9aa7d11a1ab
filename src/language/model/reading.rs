//! How terms without a value are read: a choice of the user's, made true by rewriting the typed model, so that everything
//! behind it knows one reading only.
//!
//! That reading is Kleene's: a conjunction with a false conjunct is false, whatever the others are, in whatever order they
//! stand. The others are expressed in it by two predicates that nobody writes, [`ExprKind::HasValue`] and
//! [`ExprKind::Demand`].
//!
//! **Strict**, from left to right: a conjunct has to have a value unless one before it is false, a disjunct unless one
//! before it is true, and a quantified predicate for every value of its variables. [`definedness`] writes down when that is
//! so, operator by operator, and where something is evaluated its definedness is demanded first. Where all demands are
//! fulfilled, the two readings agree: so the transitions are the same, and what a strict reader would have refused is a
//! fault.
//!
//! **ProB**'s: a guard without a value is false.

use super::{
    BinOp, Binder, Expr, ExprKind, Fun, Lit, LocalId, Model, OpId, Operation, Quant, Stmt, StmtKind, Type,
    UnOp,
};
use crate::lang::diag::{Diagnostic, Span};

/// How terms without a value are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// A conjunction is decided by what is false, in any order.
    #[default]
    Kleene,
    /// From left to right.
    Strict,
    /// As Kleene's, and a guard without a value is false.
    Prob,
}

impl Reading {
    pub const ALL: [Reading; 3] = [Reading::Kleene, Reading::Strict, Reading::Prob];

    pub fn name(self) -> &'static str {
        match self {
            Reading::Kleene => "kleene",
            Reading::Strict => "strict",
            Reading::Prob => "prob",
        }
    }
}

/// Rewrites a model so that Kleene's reading of it is this one of the model as it was.
///
/// # Errors
/// Something that cannot be read so: the value of a variable before a loop (`x$0`) is known to the loop's invariant only,
/// and not where the invariant's definedness is demanded.
pub fn read(model: &mut Model, reading: Reading) -> Result<(), Diagnostic> {
    match reading {
        Reading::Kleene => {}
        Reading::Strict => {
            let bodies = model.operations.iter().map(|op| &op.body);
            if let Some(span) = bodies.chain([&model.initialisation]).find_map(loop_with_old_value) {
                let message = "`--wd strict` does not know `x$0` in the invariant of a loop";
                let help = "give the value a name before the loop, or leave out `--wd`";
                return Err(Diagnostic::error("B0418", span, message).help(help));
            }
            strict(model);
        }
        Reading::Prob => {
            for op in &mut model.operations {
                disable(&mut op.body);
            }
        }
    }
    Ok(())
}

/// A loop whose invariant speaks of the values before it, in a way that may have no value.
fn loop_with_old_value(s: &Stmt) -> Option<Span> {
    if let StmtKind::While { invariant, .. } = &s.kind
        && definedness(invariant).any(&|e| matches!(e.kind, ExprKind::Old(_) | ExprKind::OldLocal(_)))
    {
        return Some(invariant.span);
    }
    let mut found = None;
    s.for_each_child(&mut |c| found = found.or_else(|| loop_with_old_value(c)));
    found
}

fn pred(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, ty: Type::Pred, span }
}

fn truth(span: Span) -> Expr {
    pred(ExprKind::Lit(Lit::BTrue), span)
}

fn is_true(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Lit(Lit::BTrue))
}

fn and(a: Expr, b: Expr) -> Expr {
    match (is_true(&a), is_true(&b)) {
        (true, _) => b,
        (_, true) => a,
        _ => {
            let span = a.span;
            pred(ExprKind::Binary(BinOp::And, Box::new(a), Box::new(b)), span)
        }
    }
}

fn all(parts: impl IntoIterator<Item = Expr>, span: Span) -> Expr {
    parts.into_iter().fold(truth(span), and)
}

/// An implication, taken apart: each part can be bounded by what stands before it.
fn implies(p: &Expr, q: Expr) -> Expr {
    if is_true(&q) {
        return q;
    }
    if let ExprKind::Binary(BinOp::And, a, b) = q.kind {
        return and(implies(p, *a), implies(p, *b));
    }
    let span = q.span;
    pred(ExprKind::Binary(BinOp::Implies, Box::new(p.clone()), Box::new(q)), span)
}

fn not(p: &Expr) -> Expr {
    pred(ExprKind::Unary(UnOp::Not, Box::new(p.clone())), p.span)
}

/// For all values of those that are mentioned; every type has some.
fn for_all(locals: &[LocalId], p: Expr) -> Expr {
    if let ExprKind::Binary(BinOp::And, a, b) = p.kind {
        return and(for_all(locals, *a), for_all(locals, *b));
    }
    let mentioned: Vec<LocalId> = locals.iter().copied().filter(|l| p.mentions_local(*l)).collect();
    if mentioned.is_empty() {
        return p;
    }
    let span = p.span;
    pred(ExprKind::Quant(Quant::Forall, mentioned, Box::new(p)), span)
}

fn has_value(e: &Expr) -> Expr {
    pred(ExprKind::HasValue(Box::new(e.clone())), e.span)
}

/// When an expression or a predicate has a value, read from left to right. It has a value itself wherever that is asked for
/// in this order.
pub fn definedness(e: &Expr) -> Expr {
    use ExprKind as E;
    let d = |e: &Expr| definedness(e);
    match &e.kind {
        E::Binary(BinOp::And | BinOp::Implies, a, b) => and(d(a), implies(a, d(b))),
        E::Binary(BinOp::Or, a, b) => and(d(a), implies(&not(a), d(b))),
        E::Quant(_, locals, body) => for_all(locals, d(body)),
        E::Compr(locals, body) => for_all(locals, d(body)),
        E::ComprMap(locals, p, v) | E::Bind(Binder::Lambda, locals, p, v) => {
            for_all(locals, and(d(p), implies(p, d(v))))
        }
        E::Bind(_, locals, p, v) => {
            let inside = for_all(locals, and(d(p), implies(p, d(v))));
            and(inside, has_value(e))
        }
        E::If(c, a, b) => all([d(c), implies(c, d(a)), implies(&not(c), d(b))], e.span),
        E::Let(defs, body) => defs.iter().rev().fold(d(body), |inside, (local, value)| {
            let inside = match is_true(&inside) {
                true => inside,
                false => {
                    let span = inside.span;
                    pred(E::Let(vec![(*local, value.clone())], Box::new(inside)), span)
                }
            };
            and(d(value), inside)
        }),
        E::Demand(a) => and(d(a), (**a).clone()),
        E::HasValue(_) => truth(e.span),
        _ => {
            let mut parts = truth(e.span);
            e.for_each_child(&mut |c| {
                let one = d(c);
                parts = and(std::mem::replace(&mut parts, truth(c.span)), one);
            });
            if is_partial(e) { and(parts, has_value(e)) } else { parts }
        }
    }
}

/// Whether a predicate has a value whatever the values of its names are.
pub fn is_total(p: &Expr) -> bool {
    is_true(&definedness(p))
}

/// Operators that have no value for some operands.
fn is_partial(e: &Expr) -> bool {
    use ExprKind as E;
    match &e.kind {
        E::Apply(..) => true,
        E::Binary(op, ..) => matches!(
            op,
            BinOp::Div
                | BinOp::Mod
                | BinOp::Pow
                | BinOp::Concat
                | BinOp::Prepend
                | BinOp::Append
                | BinOp::TakeFirst
                | BinOp::DropFirst
        ),
        E::Call(fun, _) => !matches!(
            fun,
            Fun::Dom
                | Fun::Ran
                | Fun::Id
                | Fun::Prj1
                | Fun::Prj2
                | Fun::GenUnion
                | Fun::Pow
                | Fun::Pow1
                | Fun::Fin
                | Fun::Fin1
                | Fun::Seq
                | Fun::Seq1
                | Fun::Iseq
                | Fun::Iseq1
                | Fun::Closure
                | Fun::Closure1
                | Fun::Fnc
                | Fun::Rel
                | Fun::Succ
                | Fun::Pred
                | Fun::Construct(_)
                | Fun::IsCase(_)
                | Fun::Real
                | Fun::Floor
                | Fun::Ceiling
        ),
        _ => false,
    }
}

fn demand(d: Expr) -> Option<Expr> {
    let span = d.span;
    (!is_true(&d)).then(|| pred(ExprKind::Demand(Box::new(d)), span))
}

/// A substitution after a demand.
fn demanding(d: Expr, s: Stmt) -> Stmt {
    let span = s.span;
    match demand(d) {
        Some(d) => Stmt { kind: StmtKind::Assert(d, Box::new(s)), span },
        None => s,
    }
}

fn strict(model: &mut Model) {
    // Operations that are called and are events too: their precondition is a guard in one case and a duty in the other.
    let mut called: Vec<OpId> = vec![];
    model.operations.iter().for_each(|op| op.body.calls(&mut called));
    model.initialisation.calls(&mut called);
    called.sort_unstable();
    called.dedup();
    let mut twins = vec![];
    for op in called {
        if model.operations[op.index()].is_event {
            let twin = OpId(model.operations.len() as u32);
            let copy = Operation { is_event: false, ..model.operations[op.index()].clone() };
            model.operations.push(copy);
            twins.push((op, twin));
        }
    }
    let mut demands = vec![];
    for op in &mut model.operations {
        let body = std::mem::take(&mut op.body);
        op.body = if op.is_event { guarded(&op.params, body, &mut demands) } else { strictly(body) };
    }
    model.initialisation = strictly(std::mem::take(&mut model.initialisation));
    let bodies = model.operations.iter_mut().map(|op| &mut op.body);
    for body in bodies.chain([&mut model.initialisation]) {
        body.for_each_part_mut(&mut |s| {
            if let StmtKind::Call { op, .. } = &mut s.kind
                && let Some((_, twin)) = twins.iter().find(|(event, _)| event == op)
            {
                *op = *twin;
            }
        });
    }
    // What the properties demand of all values of the constants, once for all.
    let whole = all(model.properties.iter().cloned(), Span::default());
    let first = model.locals.len() as u32;
    model.locals.extend(model.constants.iter().cloned());
    let locals: Vec<LocalId> = (first..model.locals.len() as u32).map(LocalId).collect();
    let mut over = definedness(&whole);
    over.replace(&|kind| match kind {
        ExprKind::Const(c) => Some(ExprKind::Local(locals[c.index()])),
        _ => None,
    });
    if let Some(d) = demand(for_all(&locals, over)) {
        model.properties.insert(0, d);
    }
    model.invariant = with_demands(std::mem::take(&mut model.invariant));
    model.invariant.extend(demands);
    model.assertions = with_demands(std::mem::take(&mut model.assertions));
    model.goal = model.goal.take().map(|goal| predicate(goal, Reading::Strict));
}

/// A predicate that stands alone, such as a goal.
pub fn predicate(p: Expr, reading: Reading) -> Expr {
    match demand(definedness(&p)).filter(|_| reading == Reading::Strict) {
        Some(d) => {
            let span = p.span;
            pred(ExprKind::If(Box::new(d), Box::new(p.clone()), Box::new(p)), span)
        }
        None => p,
    }
}

/// Each predicate after the demand that it has a value if those before it hold.
fn with_demands(list: Vec<Expr>) -> Vec<Expr> {
    let mut out: Vec<Expr> = vec![];
    let mut before: Vec<Expr> = vec![];
    for p in list {
        let d = before.iter().rev().fold(definedness(&p), |d, q| implies(q, d));
        out.extend(demand(d));
        out.push(p.clone());
        before.push(p);
    }
    out
}

/// The body of an event. What stands at its top is its guard, which finds the values of its parameters, so that its
/// definedness is demanded of the state: for all of them.
fn guarded(params: &[LocalId], s: Stmt, demands: &mut Vec<Expr>) -> Stmt {
    use StmtKind as S;
    let span = s.span;
    let (needs, kind) = match s.kind {
        S::Pre(p, body) => (definedness(&p), S::Pre(p, Box::new(strictly(*body)))),
        S::Select(arms, otherwise) => {
            let needs = all(arms.iter().map(|(g, _)| definedness(g)), span);
            let arms = arms.into_iter().map(|(g, s)| (g, strictly(s))).collect();
            (needs, S::Select(arms, otherwise.map(|s| Box::new(strictly(*s)))))
        }
        S::Any(locals, p, body) => {
            (for_all(&locals, definedness(&p)), S::Any(locals, p, Box::new(strictly(*body))))
        }
        kind => return strictly(Stmt { kind, span }),
    };
    demands.extend(demand(for_all(params, needs)));
    Stmt { kind, span }
}

/// A substitution in which everything is demanded to have a value before it is evaluated.
fn strictly(s: Stmt) -> Stmt {
    use StmtKind as S;
    let span = s.span;
    let d = definedness;
    let inside = |s: Box<Stmt>| Box::new(strictly(*s));
    let arms = |arms: Vec<(Expr, Stmt)>| arms.into_iter().map(|(g, s)| (g, strictly(s))).collect::<Vec<_>>();
    let (needs, kind) = match s.kind {
        S::Skip => (truth(span), S::Skip),
        S::Assign(pairs) => {
            let places = pairs.iter().flat_map(|(lhs, _)| indices(lhs));
            let needs = all(places.chain(pairs.iter().map(|(_, e)| d(e))), span);
            (needs, S::Assign(pairs))
        }
        S::BecomesElement(targets, set) => {
            let needs = all(targets.iter().flat_map(indices).chain([d(&set)]), span);
            (needs, S::BecomesElement(targets, set))
        }
        S::BecomesSuch { targets, fresh, pred } => {
            // Before the substitution the old values are the values.
            let mut now = d(&pred);
            now.replace(&|kind| match kind {
                ExprKind::Old(v) => Some(ExprKind::Var(*v)),
                ExprKind::OldLocal(l) => Some(ExprKind::Local(*l)),
                _ => None,
            });
            (for_all(&fresh, now), S::BecomesSuch { targets, fresh, pred })
        }
        S::Pre(p, body) => (d(&p), S::Pre(p, inside(body))),
        S::Assert(p, body) => (d(&p), S::Assert(p, inside(body))),
        S::Select(list, otherwise) => {
            let needs = all(list.iter().map(|(g, _)| d(g)), span);
            (needs, S::Select(arms(list), otherwise.map(inside)))
        }
        S::Choice(parts) => (truth(span), S::Choice(parts.into_iter().map(strictly).collect())),
        S::If(list, otherwise) => {
            let needs =
                list.iter().rev().fold(truth(span), |later, (c, _)| and(d(c), implies(&not(c), later)));
            (needs, S::If(arms(list), otherwise.map(inside)))
        }
        S::Case(subject, list, otherwise) => {
            let labels = list.iter().flat_map(|(labels, _)| labels).map(d);
            let needs = all([d(&subject)].into_iter().chain(labels), span);
            let list = list.into_iter().map(|(labels, s)| (labels, strictly(s))).collect();
            (needs, S::Case(subject, list, otherwise.map(inside)))
        }
        S::Any(locals, p, body) => (for_all(&locals, d(&p)), S::Any(locals, p, inside(body))),
        S::Let(defs, body) => {
            let whole = pred(ExprKind::Let(defs.clone(), Box::new(truth(span))), span);
            (d(&whole), S::Let(defs, inside(body)))
        }
        S::Var(locals, body) => (truth(span), S::Var(locals, inside(body))),
        S::Seq(parts) => (truth(span), S::Seq(parts.into_iter().map(strictly).collect())),
        S::Par(parts) => (truth(span), S::Par(parts.into_iter().map(strictly).collect())),
        S::While { cond, body, invariant, variant } => {
            let needs =
                || all([d(&invariant), implies(&invariant, d(&cond)), implies(&cond, d(&variant))], span);
            let again = demanding(needs(), Stmt { kind: S::Skip, span });
            let body = Box::new(Stmt { kind: S::Seq(vec![strictly(*body), again]), span });
            (needs(), S::While { cond, body, invariant, variant })
        }
        S::Call { results, op, args } => {
            let needs = all(results.iter().flat_map(indices).chain(args.iter().map(d)), span);
            (needs, S::Call { results, op, args })
        }
    };
    demanding(needs, Stmt { kind, span })
}

/// The definedness of what stands in the left side of an assignment.
fn indices(lhs: &super::Lhs) -> Vec<Expr> {
    let index = |a: &super::Access| match a {
        super::Access::Index(e) => Some(definedness(e)),
        super::Access::Field(_) => None,
    };
    lhs.path.iter().filter_map(index).collect()
}

/// Guards in which a conjunct without a value is false.
fn disable(s: &mut Stmt) {
    s.for_each_part_mut(&mut |s| match &mut s.kind {
        StmtKind::Pre(p, _) | StmtKind::Any(_, p, _) | StmtKind::BecomesSuch { pred: p, .. } => settle(p),
        StmtKind::Select(arms, _) => arms.iter_mut().for_each(|(p, _)| settle(p)),
        _ => {}
    });
}

fn settle(p: &mut Expr) {
    if let ExprKind::Binary(BinOp::And, a, b) = &mut p.kind {
        settle(a);
        settle(b);
    } else if !is_true(&definedness(p)) {
        *p = and(has_value(p), p.clone());
    }
}
