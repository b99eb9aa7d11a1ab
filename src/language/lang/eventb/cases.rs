//! Datatypes in formulas, and operators that are defined for each constructor of an argument.
//!
//! A constructor is a name that is applied, a destructor the inverse of it (and a part of the tuple). An operator by cases
//! is a conditional expression. One that uses itself is a constant that nobody wrote, a recursive function or, for a
//! predicate, a set; each use has one of its own, because a constant has one type and an operator has many. So has a
//! recursive datatype of sets that are not whole types: `List(1 ‥ 3)`.

use super::formula::{Formulas, join, literal_at, names, with};
use super::shape::{Res, refused};
use super::theory::{Case, Datatype, Operator, mentions};
use crate::lang::ast::{BinOp, Binder, Expr, ExprKind, FreeDecl, Fun, Ident, Lit, Name, UnOp};
use crate::lang::diag::Span;
use std::collections::HashSet;

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

fn named(name: &Name, span: Span) -> Expr {
    expr(ExprKind::Name(name.clone()), span)
}

fn applied(f: Expr, args: Vec<Expr>, span: Span) -> ExprKind {
    ExprKind::Apply(Box::new(expr(f.kind, span)), args)
}

fn tuple(args: Vec<Expr>, span: Span) -> Option<Expr> {
    args.into_iter().reduce(|a, b| with(BinOp::Pair, a, b, span))
}

impl<'t> Formulas<'t> {
    fn uses(&mut self, at: usize) -> Datatype<'t> {
        if !self.used.datatypes.contains(&at) {
            self.used.datatypes.push(at);
        }
        self.theories.datatypes[at].clone()
    }

    pub(super) fn construct(&mut self, at: usize, i: usize, args: Vec<Expr>, span: Span) -> ExprKind {
        let make = self.uses(at).constructors[i].name.name.clone();
        if args.is_empty() { ExprKind::Name(make) } else { applied(named(&make, span), args, span) }
    }

    /// The argument at this place of what the constructor made.
    pub(super) fn part(&mut self, at: usize, i: usize, place: usize, of: Expr, span: Span) -> Expr {
        let make = &self.uses(at).constructors[i];
        let back = expr(ExprKind::Unary(UnOp::Inverse, Box::new(named(&make.name.name, span))), span);
        let mut e = expr(applied(back, vec![of], span), span);
        let call = |f, e| expr(ExprKind::Call(f, vec![e]), span);
        // ((a ↦ b) ↦ c)
        for _ in place + 1..make.fields.len() {
            e = call(Fun::Prj1, e);
        }
        if place > 0 { call(Fun::Prj2, e) } else { e }
    }

    /// Whether a value was made by the constructor.
    fn is_made(&mut self, at: usize, i: usize, of: Expr, span: Span) -> Expr {
        let make = &self.uses(at).constructors[i];
        let name = named(&make.name.name, span);
        if make.fields.is_empty() {
            return with(BinOp::Eq, of, name, span);
        }
        with(BinOp::In, of, expr(ExprKind::Call(Fun::Ran, vec![name]), span), span)
    }

    /// A datatype as a set.
    pub(super) fn datatype(&mut self, at: usize, args: Vec<Expr>, span: Span) -> Res<ExprKind> {
        let of = self.uses(at);
        let name = &of.name.name;
        if let Some((_, constant)) = self.used.defining.iter().rev().find(|(n, _)| n == name) {
            return Ok(ExprKind::Name(constant.clone()));
        }
        let set = named(name, span);
        if args.is_empty() {
            return Ok(set.kind);
        }
        let is_fixed = args.iter().all(|e| {
            let mut inside = HashSet::new();
            names(e, &mut inside);
            inside.iter().all(|n| self.used.sets.contains(n) || self.used.constants.contains(n))
        });
        // The type checker refuses those that depend on a state or a bound name.
        if !of.is_recursive() || !is_fixed || args.iter().all(|e| self.is_whole(e)) {
            return Ok(applied(set, args, span));
        }
        let constant: Name = format!("{name}·{}", self.number()).into();
        let x = Ident { name: format!("{name}··").into(), span };
        let value = || named(&x.name, span);
        self.used.defining.push((name.clone(), constant.clone()));
        self.enter(name, of.types.iter().cloned().zip(args));
        let mut ways = vec![];
        let mut failed = None;
        for (i, make) in of.constructors.iter().enumerate() {
            let mut parts = vec![self.is_made(at, i, value(), span)];
            for (place, (_, ty)) in make.fields.iter().enumerate() {
                match self.formula(ty) {
                    Ok(set) => {
                        let part = self.part(at, i, place, value(), span);
                        parts.push(with(BinOp::In, part, set, span));
                    }
                    Err(e) => failed = Some(e),
                }
            }
            ways.push(join(BinOp::And, Lit::BTrue, parts, span));
        }
        self.leave();
        self.used.defining.pop();
        if let Some(e) = failed {
            return Err(e);
        }
        let whole = vec![literal_at(Lit::Whole, span); of.types.len()];
        let typed = with(BinOp::In, value(), expr(applied(set, whole, span), span), span);
        let inside = with(BinOp::And, typed, join(BinOp::Or, Lit::BFalse, ways, span), span);
        let set = expr(ExprKind::Compr(vec![x], Box::new(inside)), span);
        self.used.definitions.push((Ident { name: constant.clone(), span }, set));
        Ok(ExprKind::Name(constant))
    }

    /// Whether the set is certainly a whole type.
    fn is_whole(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Lit(l) => matches!(l, Lit::Whole | Lit::Integer | Lit::BoolSet | Lit::StringSet),
            ExprKind::Name(n) => {
                self.used.sets.contains(n) || self.theories.datatypes.iter().any(|d| d.name.name == *n)
            }
            ExprKind::Binary(BinOp::Product | BinOp::Rel, a, b) => self.is_whole(a) && self.is_whole(b),
            ExprKind::Call(Fun::Pow, args) => args.iter().all(|e| self.is_whole(e)),
            ExprKind::Apply(f, args) => self.is_whole(f) && args.iter().all(|e| self.is_whole(e)),
            _ => false,
        }
    }

    /// An operator that is defined case by case.
    pub(super) fn by_cases(
        &mut self,
        name: &Name,
        op: &Operator<'t>,
        args: Vec<Expr>,
        is_predicate: bool,
        span: Span,
    ) -> Res<ExprKind> {
        if let Some((_, constant)) = self.used.defining.iter().rev().find(|(n, _)| n == name) {
            return Ok(called(&constant.clone(), args, is_predicate, span));
        }
        let is_recursive = op.cases.is_empty() || op.cases.iter().any(|c| mentions(c.value, name));
        if !is_recursive {
            return Ok(self.cases(name, op, &args, is_predicate, span)?.kind);
        }
        if args.is_empty() {
            return Err(refused(span, format!("`{name}` (an operator by cases without an argument)")));
        }
        if let Some(constant) = self.used.known.get(name) {
            return Ok(called(&constant.clone(), args, is_predicate, span));
        }
        let constant: Name = format!("{name}·{}", self.number()).into();
        let ident = |n: &Name| Ident { name: format!("{n}··").into(), span };
        let ids: Vec<Ident> = op.arguments.iter().map(ident).collect();
        let values: Vec<Expr> = ids.iter().map(|id| named(&id.name, span)).collect();
        self.used.defining.push((name.clone(), constant.clone()));
        let body = match op.cases.is_empty() {
            true => self.natural(op, &constant, &values, span),
            false => self.cases(name, op, &values, is_predicate, span),
        };
        self.used.defining.pop();
        let body = body?;
        let mut inside = vec![];
        let whole = |t: &Name| (t.clone(), literal_at(Lit::Whole, span));
        self.enter(name, op.types.iter().map(whole));
        let sets: Res<Vec<Expr>> = op.sets.iter().map(|ty| self.formula(ty)).collect();
        self.leave();
        for (value, set) in values.iter().zip(sets?) {
            inside.push(with(BinOp::In, value.clone(), set, span));
        }
        let definition = if is_predicate {
            inside.push(body);
            ExprKind::Compr(ids, Box::new(join(BinOp::And, Lit::BTrue, inside, span)))
        } else {
            let inside = join(BinOp::And, Lit::BTrue, inside, span);
            ExprKind::Bind(Binder::Lambda, ids, Box::new(inside), Box::new(body))
        };
        self.used.definitions.push((Ident { name: constant.clone(), span }, expr(definition, span)));
        if op.types.is_empty() {
            self.used.known.insert(name.clone(), constant.clone());
        }
        Ok(called(&constant, args, is_predicate, span))
    }

    /// The cases of an operator with these arguments, one after the other.
    fn cases(
        &mut self,
        name: &Name,
        op: &Operator<'t>,
        args: &[Expr],
        is_predicate: bool,
        span: Span,
    ) -> Res<Expr> {
        let mut ways = vec![];
        let mut on: Option<(usize, usize)> = None;
        for case in &op.cases {
            let Some((argument, at, i)) = self.place(op, case) else {
                return Err(refused(case.span, format!("this case of `{name}`")));
            };
            if *on.get_or_insert((argument, at)) != (argument, at) {
                return Err(refused(case.span, format!("cases of several arguments of `{name}`")));
            }
            let whole = |t: &Name| (t.clone(), literal_at(Lit::Whole, span));
            let mut stand: Vec<(Name, Expr)> = op.types.iter().map(whole).collect();
            stand.extend(op.arguments.iter().cloned().zip(args.iter().cloned()));
            for (place, n) in case.names.iter().enumerate() {
                stand.push((n.clone(), self.part(at, i, place, args[argument].clone(), span)));
            }
            self.enter(name, stand.into_iter());
            let value = self.formula(case.value);
            self.leave();
            ways.push((i, self.is_made(at, i, args[argument].clone(), span), value?));
        }
        // Each constructor has its case, and just one.
        let mut covered: Vec<usize> = ways.iter().map(|(i, ..)| *i).collect();
        covered.sort_unstable();
        let all = on.map_or(0, |(_, at)| self.theories.datatypes[at].constructors.len());
        if covered != (0..all).collect::<Vec<_>>() {
            return Err(refused(
                span,
                format!("`{name}` (a definition that has not one case for each constructor)"),
            ));
        }
        if is_predicate {
            let one = |(_, is, p)| with(BinOp::Implies, is, p, span);
            return Ok(join(BinOp::And, Lit::BTrue, ways.into_iter().map(one).collect(), span));
        }
        let last = ways.pop().map(|(.., value)| value);
        let last = last.ok_or_else(|| refused(span, format!("`{name}` (an operator without cases)")))?;
        let either = |rest: Expr, (_, is, value): (usize, Expr, Expr)| {
            expr(ExprKind::If(Box::new(is), Box::new(value), Box::new(rest)), span)
        };
        Ok(ways.into_iter().rev().fold(last, either))
    }

    /// The argument, the datatype and the constructor that a case is about.
    fn place(&self, op: &Operator<'t>, case: &Case<'t>) -> Option<(usize, usize, usize)> {
        let argument = op.arguments.iter().position(|a| *a == case.argument)?;
        let (at, i) = self.theories.constructor(&case.constructor)?;
        (self.theories.datatypes[at].constructors[i].fields.len() == case.names.len())
            .then_some((argument, at, i))
    }

    /// ProB's `mkinat`: the number of a datatype of natural numbers, `zero` and `succ(n)`.
    fn natural(&mut self, op: &Operator<'t>, constant: &Name, args: &[Expr], span: Span) -> Res<Expr> {
        let found = op.near.clone().find_map(|at| match &self.theories.datatypes[at].constructors[..] {
            [zero, succ] if zero.fields.is_empty() && succ.fields.len() == 1 => Some((at, 0, 1)),
            [succ, zero] if zero.fields.is_empty() && succ.fields.len() == 1 => Some((at, 1, 0)),
            _ => None,
        });
        let (Some((at, zero, succ)), [n]) = (found, args) else {
            return Err(refused(span, "the tag `mkinat` without a datatype of natural numbers"));
        };
        let number = |i: i32| expr(ExprKind::Int(i.into()), span);
        let less = with(BinOp::Sub, n.clone(), number(1), span);
        let before = expr(called(constant, vec![less], false, span), span);
        let (zero, next) =
            (self.construct(at, zero, vec![], span), self.construct(at, succ, vec![before], span));
        let is_zero = with(BinOp::Eq, n.clone(), number(0), span);
        Ok(expr(
            ExprKind::If(Box::new(is_zero), Box::new(expr(zero, span)), Box::new(expr(next, span))),
            span,
        ))
    }

    /// The datatypes that were used, each behind those that it needs.
    pub fn declarations(&mut self) -> Res<Vec<FreeDecl>> {
        let mut done: Vec<(usize, FreeDecl)> = vec![];
        let mut from = 0;
        // Types of arguments use further ones.
        while from < self.used.datatypes.len() {
            let at = self.used.datatypes[from];
            from += 1;
            let of = self.theories.datatypes[at].clone();
            let parameter = |t: &Name| (t.clone(), named(t, of.name.span));
            let mut cases = vec![];
            for make in &of.constructors {
                self.enter(&of.name.name, of.types.iter().map(parameter));
                let types: Res<Vec<Expr>> = make.fields.iter().map(|(_, ty)| self.formula(ty)).collect();
                self.leave();
                let product = |a, b| with(BinOp::Product, a, b, make.name.span);
                cases.push((make.name.clone(), types?.into_iter().reduce(product)));
            }
            let parameters = of.types.iter().map(|t| Ident { name: t.clone(), span: of.name.span }).collect();
            done.push((at, FreeDecl { name: of.name, parameters: Some(parameters), cases }));
        }
        // Theories are listed behind those that they import, and datatypes behind those they use.
        done.sort_by_key(|(at, _)| *at);
        Ok(done.into_iter().map(|(_, decl)| decl).collect())
    }
}

fn called(constant: &Name, args: Vec<Expr>, is_predicate: bool, span: Span) -> ExprKind {
    let f = named(constant, span);
    if !is_predicate {
        return applied(f, args, span);
    }
    match tuple(args, span) {
        Some(element) => with(BinOp::In, element, f, span).kind,
        None => ExprKind::Lit(Lit::BTrue),
    }
}
