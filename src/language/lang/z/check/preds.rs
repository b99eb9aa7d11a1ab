//! Predicates.

use super::schema::{quantified, truth};
use super::{Checker, Res, Value};
use crate::lang::ast::{self, BinOp, ExprKind, Fun, Ident, Lit, Quant, UnOp};
use crate::lang::diag::Span;
use crate::lang::z::make;
use crate::lang::z::tree::{Expr, Kind};
use crate::lang::z::types::Ty;

impl Checker {
    pub(super) fn pred(&mut self, e: &Expr) -> Res<ast::Expr> {
        let span = e.span;
        match &e.kind {
            Kind::Op("true", _) => Ok(truth(true, span)),
            Kind::Op("false", _) => Ok(truth(false, span)),
            Kind::Op("¬", args) => Ok(make::un(UnOp::Not, self.pred(&args[0])?, span)),
            Kind::Op(op @ ("∧" | "∨" | "⇒" | "⇔"), args) => {
                let (a, b) = (self.pred(&args[0])?, self.pred(&args[1])?);
                let op = match *op {
                    "∧" => BinOp::And,
                    "∨" => BinOp::Or,
                    "⇒" => BinOp::Implies,
                    _ => BinOp::Iff,
                };
                Ok(make::bin(op, a, b, span))
            }
            Kind::Bind(q @ ("∀" | "∃" | "∃₁"), text, Some(body)) => {
                let opened = self.open(text)?;
                let body = self.pred(body)?;
                self.scope.truncate(opened.depth);
                let ids = opened.ids();
                Ok(quantified(q, ids, opened.schema.conjuncts, body, span))
            }
            Kind::Bind("let", text, Some(body)) => {
                let opened = self.open(text)?;
                let body = self.pred(body)?;
                self.scope.truncate(opened.depth);
                Ok(let_in(opened.ids(), opened.schema.conjuncts, body, span))
            }
            Kind::If(..) => self.fail("B0203", span, "expected a predicate, found an expression"),
            Kind::Op(op, args) if args.len() == 2 && is_relation(op) => {
                let (a, b) = (self.value(&args[0])?, self.value(&args[1])?);
                self.relation(op, a, b, span)
            }
            Kind::Op("disjoint", args) => {
                let family = self.value(&args[0])?;
                let (index, element) = (self.uni.fresh(), self.uni.fresh());
                self.unify(&family.ty, &Ty::rel(index.clone(), element.power()), args[0].span)?;
                Ok(self.named_value(family.e, span, &mut |c, f| c.disjoint(f, span)))
            }
            _ if self.is_schema(e) => self.schema_pred(e),
            _ => {
                let v = self.value(e)?;
                let found = self.uni.show(&v.ty);
                self.fail("B0203", span, format!("expected a predicate, found an expression of type {found}"))
            }
        }
    }

    /// `f(i)` and `f(j)` have nothing in common.
    fn disjoint(&mut self, f: ast::Expr, span: Span) -> ast::Expr {
        let (i, j) = (self.bound("i", span), self.bound("j", span));
        let var = |id: &Ident| make::name(&id.name, span);
        let dom = make::call(Fun::Dom, vec![f.clone()], span);
        let inside = |id| make::bin(BinOp::In, var(id), dom.clone(), span);
        let differ = make::bin(BinOp::Neq, var(&i), var(&j), span);
        let at = |id| make::apply(f.clone(), var(id), span);
        let both = make::bin(BinOp::Inter, at(&i), at(&j), span);
        let nothing = make::bin(BinOp::Eq, both, make::lit(Lit::EmptySet, span), span);
        let premise = make::all(vec![inside(&i), inside(&j), differ], span);
        let body = make::bin(BinOp::Implies, premise, nothing, span);
        make::quant(Quant::Forall, vec![i, j], body, span)
    }

    pub(super) fn bound(&mut self, base: &str, span: Span) -> Ident {
        Ident { name: self.fresh(base), span }
    }

    /// Something that is made with a value which is used more than once.
    pub(super) fn named_value(
        &mut self,
        value: ast::Expr,
        span: Span,
        make: &mut dyn FnMut(&mut Self, ast::Expr) -> ast::Expr,
    ) -> ast::Expr {
        if let ExprKind::Name(_) | ExprKind::Int(_) = value.kind {
            return make(self, value);
        }
        let id = self.bound("v", span);
        let var = make::name(&id.name, span);
        let body = make(self, var.clone());
        let is = make::bin(BinOp::Eq, var, value, span);
        let_in(vec![id], vec![is], body, span)
    }

    fn relation(&mut self, op: &str, a: Value, b: Value, span: Span) -> Res<ast::Expr> {
        let plain = |op, a: Value, b: Value| Ok(make::bin(op, a.e, b.e, span));
        let any = self.uni.fresh();
        match op {
            "=" | "≠" => {
                self.unify(&b.ty, &a.ty, span)?;
                plain(if op == "=" { BinOp::Eq } else { BinOp::Neq }, a, b)
            }
            "∈" | "∉" => {
                self.unify(&b.ty, &a.ty.clone().power(), span)?;
                plain(if op == "∈" { BinOp::In } else { BinOp::NotIn }, a, b)
            }
            "⊆" | "⊂" => {
                let set = any.power();
                self.unify(&a.ty, &set, a.e.span)?;
                self.unify(&b.ty, &set, b.e.span)?;
                plain(if op == "⊆" { BinOp::Subset } else { BinOp::StrictSubset }, a, b)
            }
            "<" | "≤" | ">" | "≥" => {
                self.unify(&a.ty, &Ty::Int, a.e.span)?;
                self.unify(&b.ty, &Ty::Int, b.e.span)?;
                let op = match op {
                    "<" => BinOp::Lt,
                    "≤" => BinOp::Le,
                    ">" => BinOp::Gt,
                    _ => BinOp::Ge,
                };
                plain(op, a, b)
            }
            "prefix" | "suffix" | "infix" => {
                let seq = Ty::seq(any.clone());
                self.unify(&a.ty, &seq, a.e.span)?;
                self.unify(&b.ty, &seq, b.e.span)?;
                let all = make::call(Fun::Seq, vec![self.carrier(&any, span)], span);
                let op = op.to_string();
                Ok(self.named_value(a.e, span, &mut |c, s| {
                    c.named_value(b.e.clone(), span, &mut |c, t| {
                        c.part_of(&op, s.clone(), t, all.clone(), span)
                    })
                }))
            }
            "⋿" => {
                self.unify(&b.ty, &Ty::bag(a.ty.clone()), span)?;
                let dom = make::call(Fun::Dom, vec![b.e], span);
                Ok(make::bin(BinOp::In, a.e, dom, span))
            }
            "⊑" => {
                let bag = Ty::bag(any);
                self.unify(&a.ty, &bag, a.e.span)?;
                self.unify(&b.ty, &bag, b.e.span)?;
                Ok(self.named_value(a.e, span, &mut |c, a| {
                    c.named_value(b.e.clone(), span, &mut |c, b| {
                        let x = c.bound("x", span);
                        let var = make::name(&x.name, span);
                        let inside = |b: &ast::Expr| {
                            make::bin(
                                BinOp::In,
                                var.clone(),
                                make::call(Fun::Dom, vec![b.clone()], span),
                                span,
                            )
                        };
                        let at = |b: &ast::Expr| make::apply(b.clone(), var.clone(), span);
                        let less = make::bin(BinOp::Le, at(&a), at(&b), span);
                        let body = make::bin(BinOp::And, inside(&b), less, span);
                        let body = make::bin(BinOp::Implies, inside(&a), body, span);
                        make::quant(Quant::Forall, vec![x.clone()], body, span)
                    })
                }))
            }
            // `partition`
            _ => {
                let element = self.uni.fresh();
                self.unify(&a.ty, &Ty::rel(any, element.clone().power()), a.e.span)?;
                self.unify(&b.ty, &element.power(), b.e.span)?;
                Ok(self.named_value(a.e, span, &mut |c, f| {
                    let disjoint = c.disjoint(f.clone(), span);
                    let ran = make::call(Fun::Ran, vec![f], span);
                    let union = make::call(Fun::GenUnion, vec![ran], span);
                    let whole = make::bin(BinOp::Eq, union, b.e.clone(), span);
                    make::bin(BinOp::And, disjoint, whole, span)
                }))
            }
        }
    }

    /// A sequence stands at the beginning, at the end, or anywhere in another.
    fn part_of(&mut self, op: &str, s: ast::Expr, t: ast::Expr, all: ast::Expr, span: Span) -> ast::Expr {
        let is_seq = |s: &ast::Expr| make::bin(BinOp::In, s.clone(), all.clone(), span);
        let mut parts = vec![is_seq(&s), is_seq(&t)];
        let card = |s: &ast::Expr| make::call(Fun::Card, vec![s.clone()], span);
        let spare = make::bin(BinOp::Sub, card(&t), card(&s), span);
        match op {
            "prefix" => parts.push(make::bin(BinOp::Subset, s, t, span)),
            "suffix" => {
                parts.push(make::bin(BinOp::Le, card(&s), card(&t), span));
                let end = make::bin(BinOp::DropFirst, t, spare, span);
                parts.push(make::bin(BinOp::Eq, end, s, span));
            }
            _ => {
                let i = self.bound("i", span);
                let var = make::name(&i.name, span);
                let range = make::bin(BinOp::Interval, make::int(0, span), spare, span);
                let inside = make::bin(BinOp::In, var.clone(), range, span);
                let rest = make::bin(BinOp::DropFirst, t, var, span);
                let piece = make::bin(BinOp::TakeFirst, rest, card(&s), span);
                let is = make::bin(BinOp::Eq, piece, s, span);
                let both = make::bin(BinOp::And, inside, is, span);
                parts.push(make::quant(Quant::Exists, vec![i], both, span));
            }
        }
        make::all(parts, span)
    }
}

fn is_relation(op: &str) -> bool {
    matches!(
        op,
        "=" | "≠"
            | "∈"
            | "∉"
            | "⊆"
            | "⊂"
            | "<"
            | "≤"
            | ">"
            | "≥"
            | "prefix"
            | "suffix"
            | "infix"
            | "⋿"
            | "⊑"
            | "partition"
    )
}

pub(super) fn let_in(ids: Vec<Ident>, is: Vec<ast::Expr>, body: ast::Expr, span: Span) -> ast::Expr {
    if ids.is_empty() {
        return body;
    }
    make::node(ExprKind::Let(ids, Box::new(make::all(is, span)), Box::new(body)), span)
}
