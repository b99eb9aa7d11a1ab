//! Operators on numbers: `+`, `/`, `<`, SIGMA and others are those of integers or of real numbers, as their operands
//! decide. Where nothing decides they are integers.

use super::unify::is_unknown;
use super::{Checker, Deferred};
use crate::lang::ast::{self, BinOp, Fun, UnOp};
use crate::lang::decimal;
use crate::lang::diag::Span;
use crate::model::{Expr, ExprKind, Type};

fn node(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

impl Checker<'_> {
    /// A number as written.
    pub(super) fn real(&mut self, text: &str, span: Span) -> Expr {
        match decimal::parse(text) {
            Some(r) => node(ExprKind::Real(r), Type::Real, span),
            None => {
                self.unsupported(span, format!("the real number `{text}`"));
                self.hole(span)
            }
        }
    }

    /// Numbers of one kind, which is decided as soon as one of them is known.
    fn numbers(&mut self, of: Vec<(Type, Span)>) {
        self.defer(Deferred::Number(of));
    }

    /// Whether it could be decided (also when that was an error).
    pub(super) fn solve_number(&mut self, of: &[(Type, Span)]) -> bool {
        let known = of.iter().map(|(t, _)| self.uni.shallow(t)).find(|t| !is_unknown(t));
        let want = match known {
            None => return false,
            Some(Type::Real) => Type::Real,
            Some(_) => Type::Int,
        };
        for (ty, span) in of {
            if !self.uni.unify(ty, &want) {
                let (want, found) = (self.show(&want), self.show(ty));
                self.error("B0203", *span, format!("type mismatch: expected {want}, found {found}"));
            }
        }
        true
    }

    /// Whether the first operand is known to be no integer: then the second is of the same kind.
    fn kind_of(&self, e: &Expr) -> Option<Type> {
        match self.uni.shallow(&e.ty) {
            t if is_unknown(&t) => None,
            Type::Real => Some(Type::Real),
            _ => Some(Type::Int),
        }
    }

    /// `a + b`, `a / b`, `a < b` and the like, whose operands are two numbers of one kind.
    pub(super) fn arithmetic(&mut self, op: BinOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        let (a, mut b) = (self.infer(a), self.infer(b));
        let compares = matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        let kind = self.kind_of(&a).or_else(|| self.kind_of(&b));
        let mut a = a;
        let result = match kind {
            Some(kind) => {
                for e in [&mut a, &mut b] {
                    if !self.uni.unify(&e.ty, &kind) {
                        self.mismatch(e, &kind);
                        e.ty = kind.clone();
                    }
                }
                kind
            }
            None => {
                self.numbers(vec![(a.ty.clone(), a.span), (b.ty.clone(), b.span)]);
                // What is decided of one is decided of the other.
                let _ = self.uni.unify(&a.ty, &b.ty);
                a.ty.clone()
            }
        };
        let ty = if compares { Type::Pred } else { result };
        node(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span)
    }

    /// `-a`
    pub(super) fn negative(&mut self, a: &ast::Expr, span: Span) -> Expr {
        let mut a = self.infer(a);
        match (&a.kind, self.kind_of(&a)) {
            // A negative number is a number: engines need not look through the minus.
            (ExprKind::Int(i), _) => return node(ExprKind::Int(-i.clone()), Type::Int, span),
            (ExprKind::Real(r), _) => return node(ExprKind::Real(-r.clone()), Type::Real, span),
            (_, Some(kind)) => {
                if !self.uni.unify(&a.ty, &kind) {
                    self.mismatch(&a, &kind);
                    a.ty = kind;
                }
            }
            (_, None) => self.numbers(vec![(a.ty.clone(), a.span)]),
        }
        let ty = a.ty.clone();
        node(ExprKind::Unary(UnOp::Neg, Box::new(a)), ty, span)
    }

    /// What SIGMA or PI adds or multiplies.
    pub(super) fn summand(&mut self, body: &ast::Expr) -> Expr {
        let mut body = self.infer(body);
        match self.kind_of(&body) {
            Some(kind) => {
                if !self.uni.unify(&body.ty, &kind) {
                    self.mismatch(&body, &kind);
                    body.ty = kind;
                }
            }
            None => self.numbers(vec![(body.ty.clone(), body.span)]),
        }
        body
    }

    /// `min(S)`, `max(S)`
    pub(super) fn extreme(&mut self, fun: Fun, set: &ast::Expr, span: Span) -> Expr {
        let element = self.uni.fresh();
        let set = self.expect(set, &element.clone().pow());
        self.numbers(vec![(element.clone(), set.span)]);
        node(ExprKind::Call(fun, vec![set]), element, span)
    }

    /// `real(i)`, `floor(r)`, `ceiling(r)`, `REAL`: no keywords, since models use the names.
    pub(super) fn real_function(name: &str) -> Option<Fun> {
        match name {
            "real" => Some(Fun::Real),
            "floor" => Some(Fun::Floor),
            "ceiling" => Some(Fun::Ceiling),
            _ => None,
        }
    }
}
