//! Expressions.

use super::schema::binding;
use super::{Checker, Global, Res, Value, preds};
use crate::lang::ast::{self, BinOp, Binder, ExprKind, Fun, Ident, Lit, Name};
use crate::lang::diag::Span;
use crate::lang::z::make;
use crate::lang::z::tree::{Expr, Kind};
use crate::lang::z::types::Ty;

impl Checker {
    pub(super) fn value(&mut self, e: &Expr) -> Res<Value> {
        let span = e.span;
        match &e.kind {
            _ if self.is_schema(e) => self.schema_value(e),
            Kind::Name(n) => self.named(n, None, span),
            Kind::Number(n) => Ok(Value { ty: Ty::Int, e: make::node(ExprKind::Int(n.clone()), span) }),
            Kind::Op(op, args) => self.operator(op, args, span),
            Kind::Tuple(parts) => {
                let (types, parts) = self.values(parts)?.into_iter().map(|v| (v.ty, v.e)).unzip();
                Ok(Value { ty: Ty::Tuple(types), e: make::tuple(parts, span) })
            }
            Kind::Set(items) => {
                let (ty, items) = self.alike(items)?;
                let kind =
                    if items.is_empty() { ExprKind::Lit(Lit::EmptySet) } else { ExprKind::SetExt(items) };
                Ok(Value { ty: ty.power(), e: make::node(kind, span) })
            }
            Kind::Seq(items) => {
                let (ty, items) = self.alike(items)?;
                Ok(Value { ty: Ty::seq(ty), e: sequence(items, span) })
            }
            Kind::Bag(items) => {
                let (ty, items) = self.alike(items)?;
                if items.is_empty() {
                    return Ok(Value { ty: Ty::bag(ty), e: make::lit(Lit::EmptySet, span) });
                }
                let e = self.items(sequence(items, span), span);
                Ok(Value { ty: Ty::bag(ty), e })
            }
            Kind::Binding(fields) => {
                let mut values: Vec<(Name, Value)> = vec![];
                for (id, e) in fields {
                    if values.iter().any(|(n, _)| *n == id.name) {
                        return self.fail("B0202", id.span, format!("`{}` is bound twice here", id.name));
                    }
                    values.push((id.name.clone(), self.value(e)?));
                }
                Ok(binding(values, span))
            }
            Kind::Compr(text, body) => {
                let opened = self.open(text)?;
                let body = match body {
                    Some(body) => Some(self.value(body)?),
                    None => None,
                };
                self.scope.truncate(opened.depth);
                let ids = opened.ids();
                if ids.is_empty() {
                    return self.unsupported(span, "a set without declarations");
                }
                let is_plain = opened.is_plain();
                let tuple = opened.tuple(span);
                let p = Box::new(make::all(opened.schema.conjuncts, span));
                let is_tuple = body.is_none() && is_plain;
                let of = body.unwrap_or(tuple);
                let kind = if is_tuple {
                    ExprKind::Compr(ids, p)
                } else {
                    ExprKind::ComprMap(ids, p, Box::new(of.e))
                };
                Ok(Value { ty: of.ty.power(), e: make::node(kind, span) })
            }
            Kind::Bind("λ", text, Some(body)) => {
                let opened = self.open(text)?;
                let body = self.value(body)?;
                self.scope.truncate(opened.depth);
                let (ids, is_plain, tuple) = (opened.ids(), opened.is_plain(), opened.tuple(span));
                if ids.is_empty() {
                    return self.unsupported(span, "`λ` without declarations");
                }
                let p = Box::new(make::all(opened.schema.conjuncts, span));
                let kind = if is_plain {
                    ExprKind::Bind(Binder::Lambda, ids, p, Box::new(body.e))
                } else {
                    let pair = make::bin(BinOp::Pair, tuple.e, body.e, span);
                    ExprKind::ComprMap(ids, p, Box::new(pair))
                };
                Ok(Value { ty: Ty::rel(tuple.ty, body.ty), e: make::node(kind, span) })
            }
            Kind::Bind("μ", text, body) => {
                let opened = self.open(text)?;
                let body = match body {
                    Some(body) => self.value(body)?,
                    None => opened.tuple(span),
                };
                self.scope.truncate(opened.depth);
                let ids = opened.ids();
                if ids.is_empty() {
                    return self.unsupported(span, "`μ` without declarations");
                }
                let p = Box::new(make::all(opened.schema.conjuncts, span));
                let set = make::node(ExprKind::ComprMap(ids, p, Box::new(body.e)), span);
                Ok(Value { ty: body.ty, e: make::call(Fun::Mu, vec![set], span) })
            }
            Kind::Bind("let", text, Some(body)) => {
                let opened = self.open(text)?;
                let body = self.value(body)?;
                self.scope.truncate(opened.depth);
                let e = preds::let_in(opened.ids(), opened.schema.conjuncts, body.e, span);
                Ok(Value { ty: body.ty, e })
            }
            Kind::Bind(symbol, ..) => {
                self.fail("B0203", span, format!("expected an expression, found a predicate (`{symbol}`)"))
            }
            Kind::If(p, a, b) => {
                let (p, a, v) = (self.pred(p)?, self.value(a)?, self.value(b)?);
                self.unify(&v.ty, &a.ty, b.span)?;
                Ok(Value { ty: a.ty, e: make::cond(p, a.e, v.e, span) })
            }
            Kind::Apply(f, x) => self.application(f, x, span),
            Kind::Instance(of, args) => self.instance(of, args, span),
            Kind::Select(of, field) => {
                let v = self.value(of)?;
                let Ty::Schema(fields) = self.uni.shallow(&v.ty) else {
                    let found = self.uni.show(&v.ty);
                    return self.fail("B0203", of.span, format!("expected a binding, found {found}"));
                };
                let Some((_, ty)) = fields.iter().find(|(n, _)| *n == field.name) else {
                    let found = self.uni.show(&v.ty);
                    let message = format!("there is no component `{}` in {found}", field.name);
                    return self.fail("B0201", field.span, message);
                };
                Ok(Value {
                    ty: ty.clone(),
                    e: make::node(ExprKind::Field(Box::new(v.e), field.clone()), span),
                })
            }
            Kind::Pick(of, at) => {
                let v = self.value(of)?;
                let Ty::Tuple(parts) = self.uni.shallow(&v.ty) else {
                    let found = self.uni.show(&v.ty);
                    return self.fail("B0203", of.span, format!("expected a tuple, found {found}"));
                };
                let Some(ty) = at.checked_sub(1).and_then(|i| parts.get(i)) else {
                    let message = format!("the tuple has {} parts", parts.len());
                    return self.fail("B0206", span, message);
                };
                let mut e = v.e;
                for _ in *at.max(&1)..parts.len() {
                    e = make::call(Fun::Prj1, vec![e], span);
                }
                if *at > 1 {
                    e = make::call(Fun::Prj2, vec![e], span);
                }
                Ok(Value { ty: ty.clone(), e })
            }
            Kind::Theta(of) => self.theta(of, span),
            Kind::Text(_) | Kind::Hide(..) => self.schema_value(e),
            Kind::Rename(of, _) => self.fail("B0203", of.span, "only schemas are renamed"),
            Kind::Decorated(of, _) => self.fail("B0203", of.span, "only names and schemas have strokes"),
        }
    }

    pub(super) fn values(&mut self, all: &[Expr]) -> Res<Vec<Value>> {
        all.iter().map(|e| self.value(e)).collect()
    }

    /// Expressions of one type.
    fn alike(&mut self, items: &[Expr]) -> Res<(Ty, Vec<ast::Expr>)> {
        let ty = self.uni.fresh();
        let mut all = vec![];
        for item in items {
            let v = self.value(item)?;
            self.unify(&v.ty, &ty, item.span)?;
            all.push(v.e);
        }
        Ok((ty, all))
    }

    /// What a name stands for.
    pub(super) fn named(&mut self, name: &Name, given: Option<Vec<Value>>, span: Span) -> Res<Value> {
        if let Some(local) = self.local(name).cloned() {
            let mut e = local.e;
            self.spend(make::size(&e), span)?;
            e.span = span;
            return Ok(Value { ty: local.ty, e });
        }
        match self.globals.get(name).cloned() {
            Some(Global::Given) if given.is_none() => {
                Ok(Value { ty: Ty::Given(name.clone()).power(), e: make::name(name, span) })
            }
            Some(Global::Constant(ty)) if given.is_none() => Ok(Value { ty, e: make::name(name, span) }),
            Some(Global::Value(v)) if given.is_none() => {
                self.spend(make::size(&v.e), span)?;
                let mut v = (*v).clone();
                v.e.span = span;
                Ok(v)
            }
            Some(Global::Generic(at, ty)) => self.use_generic(at, name, &ty, given, span),
            Some(Global::GenericValue(def)) => {
                let args = self.arguments(&def.0, given, span)?;
                let mut v = self.apart(args, |c| c.value(&def.1))?;
                v.e.span = span;
                Ok(v)
            }
            // It has been reported.
            Some(Global::Broken) => Err(super::Failed),
            Some(_) => self.fail("B0206", span, format!("`{name}` has no generic parameters")),
            None if super::ops::FUNCTIONS.contains(&&**name) => self.function(name, span),
            None => self.unknown_name(name, span),
        }
    }

    fn instance(&mut self, of: &Expr, args: &[Expr], span: Span) -> Res<Value> {
        let values = self.values(args)?;
        match &of.kind {
            Kind::Name(n) => self.named(n, Some(values), span),
            Kind::Op("∅", _) => match &values[..] {
                [set] => {
                    let element = self.element(set, span)?;
                    Ok(Value { ty: element.power(), e: make::lit(Lit::EmptySet, span) })
                }
                _ => self.fail("B0206", span, "`∅` has one generic parameter"),
            },
            _ => self.fail("B0206", span, "this has no generic parameters"),
        }
    }

    fn application(&mut self, f: &Expr, x: &Expr, span: Span) -> Res<Value> {
        if let Kind::Name(n) = &f.kind
            && self.is_built_in(n)
        {
            let v = self.value(x)?;
            return self.call(n, v, span);
        }
        if let Kind::Apply(count, bag) = &f.kind
            && let Kind::Name(n) = &count.kind
            && &**n == "count"
            && self.is_built_in(n)
        {
            let (bag, x) = (self.value(bag)?, self.value(x)?);
            return self.count(bag, x, span);
        }
        let (g, v) = (self.value(f)?, self.value(x)?);
        let result = self.uni.fresh();
        let wanted = Ty::rel(v.ty.clone(), result.clone());
        if !self.uni.unify(&g.ty, &wanted) {
            let (of, arg) = (self.uni.show(&g.ty), self.uni.show(&v.ty));
            let message = format!("type mismatch: {of} is applied to {arg}");
            return self.fail("B0203", span, message);
        }
        Ok(Value { ty: result, e: make::apply(g.e, v.e, span) })
    }

    pub(super) fn is_built_in(&self, name: &str) -> bool {
        super::ops::FUNCTIONS.contains(&name)
            && self.local(name).is_none()
            && !self.globals.contains_key(name)
    }

    /// The bag of a sequence's elements.
    pub(super) fn items(&mut self, s: ast::Expr, span: Span) -> ast::Expr {
        self.named_value(s, span, &mut |c, s| {
            let x: Ident = c.bound("x", span);
            let var = make::name(&x.name, span);
            let ran = make::call(Fun::Ran, vec![s.clone()], span);
            let inside = make::bin(BinOp::In, var.clone(), ran, span);
            let one = make::node(ExprKind::SetExt(vec![var]), span);
            let places = make::bin(BinOp::RanRestrict, s, one, span);
            make::lambda(x, inside, make::call(Fun::Card, vec![places], span), span)
        })
    }
}

fn sequence(items: Vec<ast::Expr>, span: Span) -> ast::Expr {
    let kind = if items.is_empty() { ExprKind::Lit(Lit::EmptySeq) } else { ExprKind::SeqExt(items) };
    make::node(kind, span)
}
