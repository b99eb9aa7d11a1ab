//! Datatypes of Event-B's theories: freetypes with type parameters, `List(T) = nil, cons(T × List(T))`.
//!
//! The declaration is a pattern whose parameters are unknown types; each use makes an instance of it with unknowns of
//! its own, and two instances are one type when their parameters are. The argument of a constructor is a whole type, so
//! that everything else is as for freetypes. `List(S)` of a set S is the set of lists with elements of S only.
//!
//! Refused: a datatype inside of itself other than in products, datatypes that need each other, and `List(S)` of a set
//! that is no whole type, where the datatype is recursive.

use super::Checker;
use super::free::{has_values, is_whole};
use super::unify::is_unknown;
use crate::lang::ast::{self, BinOp, Fun, Lit};
use crate::lang::composed::{Composed, Entity};
use crate::lang::diag::{Diagnostic, Span};
use crate::model::whole::whole;
use crate::model::{Expr, ExprKind, FreeCase, FreeDecl, FreeDef, FreeType, Type};
use std::sync::Arc;

impl Checker<'_> {
    /// Declares the datatypes, each by itself: it may use those before it.
    pub(super) fn datatypes(&mut self, composed: &Composed) {
        for (at, def) in composed.freetypes.iter().enumerate() {
            self.instance = def.instance;
            let own = self.uni.fresh();
            self.free.push(own.clone());
            let before = (self.scope.len(), self.model.locals.len());
            let mut parameters = vec![];
            for id in def.decl.parameters.iter().flatten() {
                let local = self.declare_one(&id.name, id.span);
                let unknown = self.uni.fresh();
                self.model.locals[local.index()].ty = unknown.clone().pow();
                parameters.push(unknown);
            }
            let mut arguments = vec![];
            for (_, argument) in &def.decl.cases {
                arguments.push(argument.as_ref().map(|e| {
                    let element = self.uni.fresh();
                    self.expect(e, &element.clone().pow());
                    (element, e.span)
                }));
            }
            // Of unknowns that were made equal one stands for all.
            let own = self.uni.shallow(&own);
            let parameters: Vec<Type> = parameters.iter().map(|t| self.uni.shallow(t)).collect();
            let mut distinct = parameters.iter().chain([&own]).enumerate();
            let all = || parameters.iter().chain([&own]);
            if distinct.any(|(i, t)| !is_unknown(t) || all().skip(i + 1).any(|other| other == t)) {
                let id = &def.decl.name;
                self.error("B0203", id.span, format!("`{}` is used as a set of another type", id.name));
                return;
            }
            let mut cases = vec![];
            for ((id, _), argument) in def.decl.cases.iter().zip(arguments) {
                let argument = argument.map(|(ty, span)| {
                    let ty = self.uni.deep(&ty);
                    self.again(&ty, &own, span)
                });
                cases.push(FreeCase { name: id.name.clone(), argument });
            }
            self.scope.truncate(before.0);
            self.model.locals.truncate(before.1);
            let is_again = |t: &Type| *t == Type::Again(0);
            let is_recursive =
                cases.iter().any(|c| c.argument.as_ref().is_some_and(|t| has_part(t, &is_again)));
            let is_endless = |c: &FreeCase| c.argument.as_ref().is_some_and(Type::is_infinite);
            let is_infinite = is_recursive || cases.iter().any(is_endless);
            let id = &def.decl.name;
            let parameters = Some(parameters.clone());
            let family = [FreeDef { name: id.name.clone(), cases, is_recursive, is_infinite, parameters }];
            if !has_values(0, &family) {
                let message = format!("the datatype `{}` has no values", id.name);
                let help = "a constructor has to do without values that do not exist yet";
                self.diags.push(Diagnostic::error("B0223", id.span, message).help(help));
            }
            let ty = FreeType { family: family.into(), at: 0 };
            debug_assert_eq!(self.model.freetypes.len(), at, "one after the other");
            self.model.freetypes.push(FreeDecl { ty, arguments: vec![], span: id.span });
        }
    }

    /// A constructor's argument, in which the datatype that is being declared is a number.
    fn again(&mut self, ty: &Type, own: &Type, span: Span) -> Type {
        match ty {
            _ if ty == own => Type::Again(0),
            Type::Pair(p) => Type::pair(self.again(&p.0, own, span), self.again(&p.1, own, span)),
            Type::Rec(fields) => {
                let field = |(n, t): &(Arc<str>, Type)| (n.clone(), self.again(t, own, span));
                Type::Rec(fields.iter().map(field).collect())
            }
            Type::Pow(_) | Type::Free(_) if has_part(ty, &|t| t == own) => {
                self.unsupported(span, "a datatype inside of itself at this place".into());
                ty.clone()
            }
            _ => ty.clone(),
        }
    }

    /// The datatype with parameters that are not known yet.
    pub(super) fn instantiated(&mut self, pattern: &FreeType) -> FreeType {
        let pairs: Vec<(Type, Type)> =
            pattern.parameters().iter().map(|p| (p.clone(), self.uni.fresh())).collect();
        pattern.with_parameters(&mut |t| replaced(t, &pairs))
    }

    /// The set of all values of a datatype that are made of these sets.
    pub(super) fn apply_datatype(&mut self, f: &ast::Expr, args: &[ast::Expr], span: Span) -> Option<Expr> {
        let ast::ExprKind::Name(name) = &f.kind else { return None };
        if self.local_named(name).is_some() {
            return None;
        }
        let Some(Entity::Free(at)) = self.entity(name) else { return None };
        let Some(decl) = self.model.freetypes.get(at).cloned() else {
            return Some(self.own_type(at, args, span));
        };
        decl.ty.def().parameters.as_ref()?;
        let wanted = decl.ty.parameters().len();
        if wanted != args.len() {
            self.error(
                "B0206",
                span,
                format!("`{name}` takes {wanted} arguments and has {} here", args.len()),
            );
            return Some(self.hole(span));
        }
        let free = self.instantiated(&decl.ty);
        let mut sets = vec![];
        for (arg, parameter) in args.iter().zip(free.parameters()) {
            sets.push(self.expect(arg, &parameter.clone().pow()));
        }
        let ty = Type::Free(free.clone());
        let is_declared = self.free.len() > self.model.freetypes.len();
        if is_declared || sets.iter().all(is_whole) {
            return Some(whole_set(ty, span));
        }
        if decl.ty.def().is_recursive {
            self.unsupported(span, format!("`{name}` of sets that are not whole types"));
            return Some(self.hole(span));
        }
        let is_endless = sets.iter().any(is_endless);
        let sets: Vec<(Type, Expr)> = decl.ty.parameters().iter().cloned().zip(sets).collect();
        let (one, value) = self.bound(&ty, span);
        let mut parts = vec![];
        for (case, pattern) in (0u32..).zip(&decl.ty.def().cases) {
            let made = |args| Expr { kind: ExprKind::Call(Fun::Construct(case), args), ty: ty.clone(), span };
            // By membership or, where that might be asked for, by elements.
            let set = match &pattern.argument {
                _ if is_endless => {
                    let is_made = Self::is_case(case as usize, value.clone());
                    let both = match &pattern.argument {
                        None => is_made,
                        Some(pattern) => {
                            let from = self.set_of(pattern, &sets, span);
                            let Some(from) = from else { return Some(self.hole(span)) };
                            let destruct = ExprKind::Call(Fun::Destruct(case), vec![value.clone()]);
                            let argument = Expr { kind: destruct, ty: from.ty.elem().cloned()?, span };
                            let inside = ExprKind::Binary(BinOp::In, Box::new(argument), Box::new(from));
                            let inside = Expr { kind: inside, ty: Type::Pred, span };
                            predicate(BinOp::And, is_made, inside)
                        }
                    };
                    parts.push(both);
                    continue;
                }
                None => ExprKind::SetExt(vec![made(vec![])]),
                Some(pattern) => {
                    let Some(from) = self.set_of(pattern, &sets, span) else { return Some(self.hole(span)) };
                    let element = from.ty.elem().cloned()?;
                    let (local, x) = self.bound(&element, span);
                    let inside = ExprKind::Binary(BinOp::In, Box::new(x.clone()), Box::new(from));
                    let inside = Expr { kind: inside, ty: Type::Pred, span };
                    ExprKind::ComprMap(vec![local], Box::new(inside), Box::new(made(vec![x])))
                }
            };
            parts.push(Expr { kind: set, ty: ty.clone().pow(), span });
        }
        if is_endless {
            let any = parts.into_iter().reduce(|a, b| predicate(BinOp::Or, a, b))?;
            return Some(Expr { kind: ExprKind::Compr(vec![one], Box::new(any)), ty: ty.pow(), span });
        }
        let union = |a, b| ExprKind::Binary(BinOp::Union, Box::new(a), Box::new(b));
        parts.into_iter().reduce(|a, b| Expr { kind: union(a, b), ty: ty.clone().pow(), span })
    }

    /// A datatype inside of its own declaration: with its own parameters only.
    fn own_type(&mut self, at: usize, args: &[ast::Expr], span: Span) -> Expr {
        let Some(own) = self.free.get(at).cloned() else {
            self.unsupported(span, "a datatype that needs a later one".into());
            return self.hole(span);
        };
        let parameters: Vec<ast::Name> = self.scope.iter().map(|(n, _)| n.clone()).collect();
        let is_same = |(e, n): (&ast::Expr, &ast::Name)| matches!(&e.kind, ast::ExprKind::Name(m) if m == n);
        if args.len() != parameters.len() || !args.iter().zip(&parameters).all(is_same) {
            self.unsupported(span, "a datatype inside of itself with other parameters".into());
        }
        whole_set(own, span)
    }

    /// The values of a type in which these unknowns are restricted to sets.
    fn set_of(&mut self, ty: &Type, sets: &[(Type, Expr)], span: Span) -> Option<Expr> {
        if let Some((_, set)) = sets.iter().find(|(unknown, _)| unknown == ty) {
            return Some(set.clone());
        }
        let kind = match ty {
            Type::Pair(p) => {
                let (a, b) = (self.set_of(&p.0, sets, span)?, self.set_of(&p.1, sets, span)?);
                let ty = Type::pair(a.ty.elem()?.clone(), b.ty.elem()?.clone()).pow();
                return Some(Expr { kind: ExprKind::Product(Box::new(a), Box::new(b)), ty, span });
            }
            Type::Pow(t) => {
                let of = self.set_of(t, sets, span)?;
                let ty = of.ty.clone().pow();
                return Some(Expr { kind: ExprKind::Call(Fun::Pow, vec![of]), ty, span });
            }
            _ if !has_part(ty, &is_unknown) => whole(ty, span),
            _ => {
                self.unsupported(
                    span,
                    "a datatype inside of another, of sets that are not whole types,".into(),
                );
                return None;
            }
        };
        Some(kind)
    }
}

/// Whether infinite sets of numbers are in it, as far as its form tells.
fn is_endless(e: &Expr) -> bool {
    let mut found = false;
    e.for_each_part(&mut |part| {
        found |= matches!(part.kind, ExprKind::Lit(Lit::Natural | Lit::Natural1 | Lit::Integer));
    });
    found
}

fn predicate(op: BinOp, a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty: Type::Pred, span }
}

fn whole_set(ty: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Lit(Lit::Whole), ty: ty.pow(), span }
}

/// Whether this, or something in it, is such a type.
fn has_part(ty: &Type, is_it: &dyn Fn(&Type) -> bool) -> bool {
    is_it(ty)
        || match ty {
            Type::Pair(p) => has_part(&p.0, is_it) || has_part(&p.1, is_it),
            Type::Pow(t) => has_part(t, is_it),
            Type::Rec(fields) => fields.iter().any(|(_, t)| has_part(t, is_it)),
            Type::Free(free) => free.parameters().iter().any(|t| has_part(t, is_it)),
            _ => false,
        }
}

/// The type with others in place of these unknowns.
fn replaced(ty: &Type, pairs: &[(Type, Type)]) -> Type {
    if let Some((_, new)) = pairs.iter().find(|(old, _)| old == ty) {
        return new.clone();
    }
    match ty {
        Type::Pair(p) => Type::pair(replaced(&p.0, pairs), replaced(&p.1, pairs)),
        Type::Pow(t) => replaced(t, pairs).pow(),
        Type::Rec(fields) => Type::Rec(fields.iter().map(|(n, t)| (n.clone(), replaced(t, pairs))).collect()),
        Type::Free(free) => Type::Free(free.with_parameters(&mut |t| replaced(t, pairs))),
        other => other.clone(),
    }
}
