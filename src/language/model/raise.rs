//! From typed expressions back to syntax, so that they can be printed: definitions are expanded in them and
//! names are the model's, which the source text under their span need not be.

use super::whole::whole;
use super::{Expr, ExprKind as E, FreeType, LocalId, Model, Type, element_name};
use crate::lang::ast::{self, BinOp, ExprKind as A, Fun, Ident, Name};
use crate::lang::diag::Span;
use crate::lang::{decimal, print};
use num_traits::Signed;

/// An expression as B text.
pub fn text(e: &Expr, model: &Model) -> String {
    print::expr(&raise(e, model))
}

pub fn raise(e: &Expr, model: &Model) -> ast::Expr {
    let one = |e: &Expr| Box::new(raise(e, model));
    let all = |list: &[Expr]| -> Vec<ast::Expr> { list.iter().map(|e| raise(e, model)).collect() };
    let ident = |name: &Name| Ident { name: name.clone(), span: e.span };
    let local = |l: &LocalId| ident(&model.local(*l).name);
    let locals = |list: &[LocalId]| -> Vec<Ident> { list.iter().map(local).collect() };
    let fields = |ty: &Type, list: &[Expr]| -> Vec<(Ident, ast::Expr)> {
        let names = ty.fields().unwrap_or_default();
        names.iter().zip(list).map(|((n, _), e)| (ident(n), raise(e, model))).collect()
    };
    let kind = match &e.kind {
        E::Const(c) => A::Name(model.constants[c.index()].name.clone()),
        E::Var(v) => A::Name(model.variables[v.index()].name.clone()),
        E::Old(v) => A::Old(model.variables[v.index()].name.clone()),
        E::Local(l) => A::Name(model.local(*l).name.clone()),
        E::OldLocal(l) => A::Old(model.local(*l).name.clone()),
        E::Given(s) => A::Name(model.sets[s.index()].name.clone()),
        E::Elem(s, i) => A::Name(element_name(model, *s, *i).into()),
        E::Int(i) => A::Int(i.clone()),
        E::Str(s) => A::Str(s.clone()),
        E::Real(r) if r.is_negative() => {
            let positive = Expr { kind: E::Real(-r.clone()), ..e.clone() };
            A::Unary(ast::UnOp::Neg, one(&positive))
        }
        E::Real(r) => A::Real(decimal::text(r).into()),
        E::Lit(ast::Lit::Whole) => match e.ty.elem() {
            Some(Type::Free(free)) => freetype(free, model, e.span),
            _ => A::Lit(ast::Lit::Whole),
        },
        E::Lit(l) => A::Lit(*l),
        E::Unary(op, a) => A::Unary(*op, one(a)),
        E::Binary(op, a, b) => A::Binary(*op, one(a), one(b)),
        E::Product(a, b) => A::Binary(BinOp::Mul, one(a), one(b)),
        E::Apply(f, x) => A::Apply(one(f), vec![raise(x, model)]),
        E::Image(r, s) => A::Image(one(r), one(s)),
        E::Call(f @ (Fun::Construct(case) | Fun::Destruct(case) | Fun::IsCase(case)), args) => {
            let free = if let Fun::Construct(_) = f { Some(&e.ty) } else { args.first().map(|a| &a.ty) };
            let name = match free {
                Some(Type::Free(free)) => free.case(*case).map(|c| c.name.clone()),
                _ => None,
            };
            let at = |kind| Box::new(ast::Expr { kind, span: e.span });
            let name = at(A::Name(name.unwrap_or_else(|| "?".into())));
            match f {
                Fun::Construct(_) if args.is_empty() => name.kind,
                Fun::Construct(_) => A::Apply(name, all(args)),
                Fun::Destruct(_) => A::Apply(at(A::Unary(ast::UnOp::Inverse, name)), all(args)),
                _ => {
                    let made = at(A::Call(Fun::Ran, vec![*name]));
                    let value = args.first().map_or_else(|| made.clone(), one);
                    A::Bool(at(A::Binary(BinOp::In, value, made)))
                }
            }
        }
        E::Call(f, args) => A::Call(*f, all(args)),
        E::First(p) => A::Call(Fun::Prj1, vec![raise(p, model)]),
        E::Second(p) => A::Call(Fun::Prj2, vec![raise(p, model)]),
        E::Quant(q, l, p) => A::Quant(*q, locals(l), one(p)),
        E::Bind(b, l, p, v) => A::Bind(*b, locals(l), one(p), one(v)),
        E::Compr(l, p) => A::Compr(locals(l), one(p)),
        E::ComprMap(l, p, v) => A::ComprMap(locals(l), one(p), one(v)),
        E::SetExt(items) => A::SetExt(all(items)),
        E::SeqExt(items) => A::SeqExt(all(items)),
        E::Rec(items) => A::Rec(fields(&e.ty, items)),
        E::Struct(items) => A::Struct(fields(e.ty.elem().unwrap_or(&e.ty), items)),
        E::Field(r, i) => {
            let name = r.ty.fields().and_then(|f| f.get(*i as usize)).map(|(n, _)| n.clone());
            A::Field(one(r), ident(&name.unwrap_or_else(|| "?".into())))
        }
        E::Bool(p) => A::Bool(one(p)),
        // What B has for it.
        E::HasValue(a) if a.ty == Type::Pred => A::Binary(BinOp::Iff, one(a), one(a)),
        E::HasValue(a) => A::Binary(BinOp::Eq, one(a), one(a)),
        E::Demand(a) => return raise(a, model),
        E::If(c, a, b) => A::If(one(c), one(a), one(b)),
        E::Let(defs, body) => {
            let equation = |(l, v): &(LocalId, Expr)| {
                let name = Box::new(ast::Expr { kind: A::Name(model.local(*l).name.clone()), span: e.span });
                ast::Expr { kind: A::Binary(BinOp::Eq, name, one(v)), span: e.span }
            };
            let and =
                |a, b| ast::Expr { kind: A::Binary(BinOp::And, Box::new(a), Box::new(b)), span: e.span };
            let none = || ast::Expr { kind: A::Lit(ast::Lit::BTrue), span: e.span };
            let names = defs.iter().map(|(l, _)| local(l)).collect();
            A::Let(names, Box::new(defs.iter().map(equation).reduce(and).unwrap_or_else(none)), one(body))
        }
    };
    ast::Expr { kind, span: e.span }
}

/// A freetype's name, or a datatype with its parameters.
fn freetype(free: &FreeType, model: &Model, span: Span) -> A {
    let name = A::Name(free.name().clone());
    if free.parameters().is_empty() {
        return name;
    }
    let set = |ty: &Type| raise(&whole(ty, span), model);
    A::Apply(Box::new(ast::Expr { kind: name, span }), free.parameters().iter().map(set).collect())
}
