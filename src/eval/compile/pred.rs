//! Predicates become tests. Membership is compiled by the shape of the set, so that symbolic sets are tested
//! and never built.

use super::{Compiler, fun_kind};
use crate::eval::node::{Atom, Cmp, Node, Slot, Test};
use crate::model::{BinOp, Binder, Expr, ExprKind, Fun, Lit, Quant, Type, UnOp};
use crate::value::rep::Shape;
use crate::value::val::{IntSet, SeqKind, Val};
use std::sync::Arc;

impl Compiler<'_> {
    pub fn test(&mut self, e: &Expr) -> Test {
        match &e.kind {
            ExprKind::Lit(Lit::BTrue | Lit::True) => Test::Const(true),
            ExprKind::Lit(Lit::BFalse | Lit::False) => Test::Const(false),
            ExprKind::Unary(UnOp::Not, a) => Test::Not(Box::new(self.test(a))),
            ExprKind::Binary(op, a, b) => self.comparison(*op, a, b, e),
            ExprKind::Quant(q, locals, body) => {
                let slots: Vec<Slot> = locals.iter().map(|l| self.local_slot(*l)).collect();
                match q {
                    Quant::Exists => Test::Exists(Arc::new(self.plan_of_one(&slots, &[body]))),
                    Quant::Forall => {
                        let mut antecedents = Vec::new();
                        let mut body: &Expr = body;
                        while let ExprKind::Binary(BinOp::Implies, p, q) = &body.kind {
                            antecedents.push(&**p);
                            body = q;
                        }
                        let plan = self.plan_of_all(&slots, &antecedents, body);
                        Test::Forall(Arc::new(plan), Box::new(self.test(body)))
                    }
                }
            }
            ExprKind::If(c, a, b) => {
                Test::If(Box::new(self.test(c)), Box::new(self.test(a)), Box::new(self.test(b)))
            }
            ExprKind::Let(defs, body) => {
                let defs = self.let_defs(defs);
                Test::Let(defs, Box::new(self.test(body)))
            }
            ExprKind::HasValue(a) if a.ty == Type::Pred => Test::HasValue(Box::new(self.test(a))),
            ExprKind::HasValue(a) => {
                Test::HasValue(Box::new(Test::Atom(Atom::Defined(Box::new(self.expr(a))))))
            }
            ExprKind::Demand(a) => Test::Demand(Box::new(self.test(a)), a.span),
            // An expression of type BOOL is no predicate; the type checker saw to it.
            _ => Test::Atom(Atom::EqW(Box::new(self.expr(e)), Box::new(Node::Const(Val::TRUE)))),
        }
    }

    fn comparison(&mut self, op: BinOp, a: &Expr, b: &Expr, e: &Expr) -> Test {
        let not = |t| Test::Not(Box::new(t));
        let at = |t| Test::At(Box::new(t), e.span);
        match op {
            BinOp::And | BinOp::Or => {
                let mut parts = Vec::new();
                let mut stack = vec![b, a];
                while let Some(p) = stack.pop() {
                    match &p.kind {
                        ExprKind::Binary(o, x, y) if *o == op => stack.extend([&**y, &**x]),
                        _ => parts.push(self.test(p)),
                    }
                }
                if op == BinOp::And { Test::And(parts) } else { Test::Or(parts) }
            }
            BinOp::Implies => Test::Implies(Box::new(self.test(a)), Box::new(self.test(b))),
            BinOp::Iff => Test::Iff(Box::new(self.test(a)), Box::new(self.test(b))),
            BinOp::Eq => at(self.equality(a, b)),
            BinOp::Neq => at(not(self.equality(a, b))),
            BinOp::In => at(self.membership(a, b)),
            BinOp::NotIn => at(not(self.membership(a, b))),
            BinOp::Subset => at(self.inclusion(a, b, false)),
            BinOp::NotSubset => at(not(self.inclusion(a, b, false))),
            BinOp::StrictSubset => at(self.inclusion(a, b, true)),
            BinOp::NotStrictSubset => at(not(self.inclusion(a, b, true))),
            BinOp::Lt => self.ordered(a, b, Cmp::Lt),
            BinOp::Le => self.ordered(a, b, Cmp::Le),
            BinOp::Gt => self.ordered(a, b, Cmp::Gt),
            BinOp::Ge => self.ordered(a, b, Cmp::Ge),
            _ => Test::Atom(Atom::EqW(Box::new(self.expr(e)), Box::new(Node::Const(Val::TRUE)))),
        }
    }

    fn ordered(&mut self, a: &Expr, b: &Expr, cmp: Cmp) -> Test {
        let (x, y) = (self.boxed(a), self.boxed(b));
        Test::Atom(if a.ty == Type::Real { Atom::CmpReal(x, y, cmp) } else { Atom::Cmp(x, y, cmp) })
    }

    fn equality(&mut self, a: &Expr, b: &Expr) -> Test {
        let rep = self.rep(&a.ty);
        let (x, y) = (self.boxed(a), self.boxed(b));
        if rep.is_word() { Test::Atom(Atom::EqW(x, y)) } else { Test::Atom(Atom::Eq(x, y, rep)) }
    }

    fn inclusion(&mut self, a: &Expr, b: &Expr, strict: bool) -> Test {
        let rep = self.rep(&a.ty);
        let (x, y) = (self.boxed(a), self.boxed(b));
        match (rep.mask_len().is_some(), strict) {
            (true, false) => Test::Atom(Atom::SubsetW(x, y)),
            (true, true) => Test::Atom(Atom::StrictW(x, y)),
            (false, false) => Test::Atom(Atom::Subset(x, y, rep)),
            (false, true) => Test::Atom(Atom::Strict(x, y, rep)),
        }
    }

    pub(super) fn membership(&mut self, x: &Expr, set: &Expr) -> Test {
        let rep = self.rep(&set.ty);
        let elem = rep.elem().clone();
        if let Some(kind) = seq_kind(set) {
            let ExprKind::Call(_, args) = &set.kind else { return Test::Const(false) };
            return Test::Atom(Atom::InSeq { kind, s: self.boxed(x), of: self.boxed(&args[0]), rep: elem });
        }
        match &set.kind {
            ExprKind::Given(_) | ExprKind::Lit(Lit::BoolSet | Lit::StringSet | Lit::RealSet | Lit::Whole) => {
                return Test::Atom(Atom::Defined(self.boxed(x)));
            }
            // Only a type: a relation that is infinite has it too.
            ExprKind::Binary(BinOp::Rel, from, to)
                if elem.elem().carrier == 0 && is_type(from) && is_type(to) =>
            {
                return Test::Atom(Atom::Defined(self.boxed(x)));
            }
            ExprKind::Lit(Lit::Integer) => return Test::Atom(Atom::InInts(self.boxed(x), IntSet::Integer)),
            ExprKind::Lit(Lit::Natural) => return Test::Atom(Atom::InInts(self.boxed(x), IntSet::Natural)),
            ExprKind::Lit(Lit::Natural1) => return Test::Atom(Atom::InInts(self.boxed(x), IntSet::Natural1)),
            ExprKind::Binary(BinOp::Interval, lo, hi) => {
                return Test::Atom(Atom::InInterval {
                    x: self.boxed(x),
                    lo: self.boxed(lo),
                    hi: self.boxed(hi),
                });
            }
            ExprKind::Call(f @ (Fun::Pow | Fun::Fin | Fun::Pow1 | Fun::Fin1), args) => {
                // Over a finite type all sets are finite.
                let inside = if matches!(f, Fun::Fin | Fun::Fin1) && elem.elem().carrier == 0 {
                    Test::Atom(Atom::FiniteSubset(self.boxed(x), self.boxed(&args[0]), elem.clone()))
                } else {
                    self.inclusion(x, &args[0], false)
                };
                if matches!(f, Fun::Pow1 | Fun::Fin1) {
                    let empty = Box::new(Node::Const(Val::empty(&elem)));
                    let x = self.boxed(x);
                    let is_empty = if elem.is_word() {
                        Test::Atom(Atom::EqW(x, empty))
                    } else {
                        Test::Atom(Atom::Eq(x, empty, elem))
                    };
                    return Test::All(vec![inside, Test::Not(Box::new(is_empty))]);
                }
                return inside;
            }
            ExprKind::Binary(op, a, b) => {
                if let Some(kind) = fun_kind(*op) {
                    let (f, from, to) = (self.boxed(x), self.boxed(a), self.boxed(b));
                    return Test::Atom(Atom::InFun { kind, f, from, to, rep: elem });
                }
                // x is compiled twice: fine while it is small, and it nearly always is a name.
                match op {
                    BinOp::Union if is_small(x) => {
                        return Test::Any(vec![self.membership(x, a), self.membership(x, b)]);
                    }
                    BinOp::Inter if is_small(x) => {
                        return Test::All(vec![self.membership(x, a), self.membership(x, b)]);
                    }
                    BinOp::Diff if is_small(x) => {
                        let out = Test::Not(Box::new(self.membership(x, b)));
                        return Test::All(vec![self.membership(x, a), out]);
                    }
                    _ => {}
                }
            }
            ExprKind::Product(a, b) => {
                if let ExprKind::Binary(BinOp::Pair, l, r) = &x.kind {
                    return Test::All(vec![self.membership(l, a), self.membership(r, b)]);
                }
            }
            ExprKind::Compr(locals, pred) => {
                let over = self.comprehension(set, locals, pred);
                return Test::Atom(Atom::InCompr { x: self.boxed(x), over });
            }
            ExprKind::Bind(Binder::Lambda, locals, pred, body) => {
                let over = self.lambda(set, locals, pred, body);
                return Test::Atom(Atom::InCompr { x: self.boxed(x), over });
            }
            ExprKind::Struct(_) if matches!(elem.shape, Shape::Rec(_)) => {
                let ExprKind::Struct(parts) = &set.kind else { return Test::Const(false) };
                if let ExprKind::Rec(fields) = &x.kind {
                    let tests = fields.iter().zip(parts).map(|(f, p)| self.membership(f, p));
                    return Test::All(tests.collect());
                }
            }
            _ => {}
        }
        let (x, s) = (self.boxed(x), self.boxed(set));
        if rep.mask_len().is_some() { Test::Atom(Atom::InW(x, s)) } else { Test::Atom(Atom::In(x, s, rep)) }
    }
}

fn is_small(e: &Expr) -> bool {
    let count = std::cell::Cell::new(0);
    e.any(&|_| {
        count.set(count.get() + 1);
        count.get() > 6
    });
    count.get() <= 6
}

/// The kind of sequences `seq(S)`, `iseq(S)` … stands for.
/// Whether the set has all values of its type.
pub(super) fn is_type(set: &Expr) -> bool {
    match &set.kind {
        ExprKind::Given(_) => true,
        ExprKind::Lit(l) => {
            matches!(l, Lit::BoolSet | Lit::StringSet | Lit::Integer | Lit::RealSet | Lit::Whole)
        }
        ExprKind::Product(a, b) | ExprKind::Binary(BinOp::Rel, a, b) => is_type(a) && is_type(b),
        ExprKind::Call(Fun::Pow, args) => args.iter().all(is_type),
        _ => false,
    }
}

pub(super) fn seq_kind(set: &Expr) -> Option<SeqKind> {
    let ExprKind::Call(fun, _) = &set.kind else { return None };
    let kind = |nonempty, injective, surjective| SeqKind { nonempty, injective, surjective };
    Some(match fun {
        Fun::Seq => kind(false, false, false),
        Fun::Seq1 => kind(true, false, false),
        Fun::Iseq => kind(false, true, false),
        Fun::Iseq1 => kind(true, true, false),
        Fun::Perm => kind(false, true, true),
        _ => return None,
    })
}
