//! Freetypes: `T = c, d(S)`.
//!
//! The values of `T` are `c` and `d(x)` for all x in S, and no others: whoever applies `d` to something else has no value.
//! So `T` is its type as a whole, and `x : T` says nothing but the type. A constructor is a function, `%x.(x : S | d(x))`
//! with an operator of the typed model in its body; applied, it is that operator where S is a whole type.
//!
//! Freetypes may use themselves and each other, inside products, records, finite sets, sequences and the values of
//! functions: there the least solution exists. Elsewhere (`d(POW(T))`) no such set does, and it is refused.

use super::Checker;
use super::unify::is_unknown;
use crate::lang::ast::{self, BinOp, Binder, Fun, Lit};
use crate::lang::composed::{Composed, Entity};
use crate::lang::diag::{Diagnostic, Span};
use crate::model::{Expr, ExprKind, FreeCase, FreeDecl, FreeDef, FreeType, LocalId, Type};
use std::sync::Arc;

fn node(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

impl Checker<'_> {
    /// Declares the freetypes: everything else may use them.
    pub(super) fn freetypes(&mut self, composed: &Composed) {
        if composed.freetypes.iter().any(|f| f.decl.parameters.is_some()) {
            // No language has both.
            return self.datatypes(composed);
        }
        self.free = composed.freetypes.iter().map(|_| self.uni.fresh()).collect();
        let mut arguments = vec![];
        for def in &composed.freetypes {
            self.instance = def.instance;
            let mut of = vec![];
            for (_, e) in &def.decl.cases {
                of.push(e.as_ref().map(|e| {
                    let element = self.uni.fresh();
                    (self.expect(e, &element.clone().pow()), element)
                }));
            }
            arguments.push(of);
        }
        self.solve_deferred(true);
        // What an unknown was made equal to stands for it from here on.
        let open: Vec<Type> = self.free.iter().map(|t| self.uni.shallow(t)).collect();
        for (at, ty) in open.iter().enumerate() {
            if !is_unknown(ty) || open[..at].contains(ty) {
                let id = &composed.freetypes[at].decl.name;
                self.error("B0203", id.span, format!("`{}` is used as a set of another type", id.name));
                return;
            }
        }
        let mut family = vec![];
        for (def, of) in composed.freetypes.iter().zip(&arguments) {
            let mut cases = vec![];
            for ((id, _), argument) in def.decl.cases.iter().zip(of) {
                if let Some((e, _)) = argument {
                    self.closed(e);
                }
                let argument = argument.as_ref().map(|(e, ty)| self.declared(ty, &open, e.span));
                cases.push(FreeCase { name: id.name.clone(), argument });
            }
            let name = def.decl.name.name.clone();
            let (is_recursive, is_infinite, parameters) = (false, false, None);
            family.push(FreeDef { name, cases, is_recursive, is_infinite, parameters });
        }
        let uses: Vec<Vec<bool>> = family.iter().map(|d| reached(d, &family)).collect();
        for (f, def) in composed.freetypes.iter().enumerate() {
            family[f].is_recursive = uses[f][f];
            if !has_values(f, &family) {
                let message = format!("the freetype `{}` has no values", def.decl.name.name);
                let help = "a constructor has to do without values that do not exist yet";
                self.diags.push(Diagnostic::error("B0223", def.decl.name.span, message).help(help));
            }
            for e in arguments[f].iter().flatten().map(|(e, _)| e) {
                let which = |ty: &Type| open.iter().position(|o| *o == self.uni.shallow(ty));
                if let Some(span) = not_positive(e, &|ty| which(ty).is_some_and(|g| g == f || uses[g][f])) {
                    let name = &def.decl.name.name;
                    self.unsupported(span, format!("the freetype `{name}` inside of itself at this place"));
                }
            }
        }
        // Certain only where nothing but types decides.
        let by_types = |f: usize| {
            let members = (0..family.len()).filter(|g| *g == f || uses[f][*g]);
            let (mut whole, mut endless) = (true, family[f].is_recursive);
            for g in members {
                whole &= arguments[g].iter().flatten().all(|(e, _)| is_whole(e));
                let types = family[g].cases.iter().filter_map(|c| c.argument.as_ref());
                endless |= family[g].is_recursive || types.into_iter().any(Type::is_infinite);
            }
            whole && endless
        };
        let infinite: Vec<bool> = (0..family.len()).map(by_types).collect();
        family.iter_mut().zip(infinite).for_each(|(d, infinite)| d.is_infinite = infinite);
        let family: Arc<[FreeDef]> = family.into();
        for (at, unknown) in open.iter().enumerate() {
            let ty = FreeType { family: family.clone(), at: at as u32 };
            // It is unknown, and no part of what it becomes.
            let _ = self.uni.unify(unknown, &Type::Free(ty));
        }
        if self.failed() {
            return;
        }
        for (at, of) in arguments.into_iter().enumerate() {
            let arguments = of
                .into_iter()
                .map(|argument| {
                    argument.map(|(mut e, _)| {
                        self.fill_expr(&mut e);
                        e
                    })
                })
                .collect();
            let span = composed.freetypes[at].decl.name.span;
            let ty = FreeType { family: family.clone(), at: at as u32 };
            self.model.freetypes.push(FreeDecl { ty, arguments, span });
        }
    }

    /// A set that is the same everywhere.
    fn closed(&mut self, e: &Expr) {
        let mut free = None;
        e.for_each_part(&mut |part| {
            if let ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Old(_) = part.kind {
                free.get_or_insert(part.span);
            }
        });
        if let Some(span) = free {
            self.unsupported(span, "a constant or variable in FREETYPES".into());
        }
    }

    /// A type in which the freetypes that are being declared are numbers.
    fn declared(&mut self, ty: &Type, open: &[Type], span: Span) -> Type {
        let ty = self.uni.deep(ty);
        let known = match &ty {
            Type::Pair(p) => {
                return Type::pair(self.declared(&p.0, open, span), self.declared(&p.1, open, span));
            }
            Type::Pow(t) => return self.declared(t, open, span).pow(),
            Type::Rec(fields) => {
                let field = |(n, t): &(Arc<str>, Type)| (n.clone(), self.declared(t, open, span));
                return Type::Rec(fields.iter().map(field).collect());
            }
            _ => open.iter().position(|o| *o == ty),
        };
        match known {
            Some(at) => Type::Again(at as u32),
            None if is_unknown(&ty) => {
                self.error("B0204", span, "cannot infer the type of the constructor's argument");
                Type::Int
            }
            None => ty,
        }
    }

    /// A freetype's name.
    pub(super) fn freetype(&mut self, f: usize, span: Span) -> Expr {
        node(ExprKind::Lit(Lit::Whole), self.free_type(f).pow(), span)
    }

    /// A datatype's parameters are new unknowns each time.
    fn free_type(&mut self, f: usize) -> Type {
        match self.model.freetypes.get(f).map(|decl| decl.ty.clone()) {
            Some(ty) => Type::Free(self.instantiated(&ty)),
            // Being declared, or not declared because of errors.
            None => self.free.get(f).cloned().unwrap_or(Type::Int),
        }
    }

    /// The set that a constructor of this type takes its argument from.
    fn argument_set(&self, ty: &Type, f: usize, case: usize, span: Span) -> Option<Expr> {
        match ty {
            Type::Free(free) if free.def().parameters.is_some() => {
                let argument = free.argument(case as u32)?;
                Some(node(ExprKind::Lit(Lit::Whole), argument.pow(), span))
            }
            _ => self.model.freetypes.get(f)?.arguments.get(case)?.clone(),
        }
    }

    fn construct(ty: Type, case: usize, args: Vec<Expr>, span: Span) -> Expr {
        node(ExprKind::Call(Fun::Construct(case as u32), args), ty, span)
    }

    /// A new bound variable, which nothing else can name.
    pub(super) fn bound(&mut self, ty: &Type, span: Span) -> (LocalId, Expr) {
        let local = self.declare_one(&"x".into(), span);
        self.scope.pop();
        self.model.locals[local.index()].ty = ty.clone();
        (local, node(ExprKind::Local(local), ty.clone(), span))
    }

    /// A constructor's name: a value, or a function.
    pub(super) fn constructor(&mut self, f: usize, case: usize, span: Span) -> Expr {
        let ty = self.free_type(f);
        self.function(ty, f, case, span)
    }

    fn function(&mut self, of: Type, f: usize, case: usize, span: Span) -> Expr {
        let Some(set) = self.argument_set(&of, f, case, span) else {
            return Self::construct(of, case, vec![], span);
        };
        let element = set.ty.elem().cloned().unwrap_or(Type::Int);
        let (local, x) = self.bound(&element, span);
        let inside = node(ExprKind::Binary(BinOp::In, Box::new(x.clone()), Box::new(set)), Type::Pred, span);
        let body = Self::construct(of, case, vec![x], span);
        let ty = Type::rel(element, body.ty.clone());
        node(ExprKind::Bind(Binder::Lambda, vec![local], Box::new(inside), Box::new(body)), ty, span)
    }

    pub(super) fn is_case(case: usize, x: Expr) -> Expr {
        let span = x.span;
        let truth = node(ExprKind::Lit(Lit::True), Type::Bool, span);
        let made_by = node(ExprKind::Call(Fun::IsCase(case as u32), vec![x]), Type::Bool, span);
        node(ExprKind::Binary(BinOp::Eq, Box::new(made_by), Box::new(truth)), Type::Pred, span)
    }

    /// The constructor with an argument that a name stands for, if it is one.
    fn case_named(&self, e: &ast::Expr) -> Option<(usize, usize)> {
        let ast::ExprKind::Name(name) = &e.kind else { return None };
        if self.local_named(name).is_some() {
            return None;
        }
        match self.entity(name)? {
            Entity::Case(f, i) => {
                let case = self.model.freetypes.get(f)?.ty.case(i as u32)?;
                case.argument.as_ref().map(|_| (f, i))
            }
            _ => None,
        }
    }

    /// `c(x)` and `c~(x)` of a constructor.
    pub(super) fn apply_case(&mut self, f: &ast::Expr, args: &[ast::Expr], span: Span) -> Option<Expr> {
        if let ast::ExprKind::Unary(ast::UnOp::Inverse, c) = &f.kind {
            let (free, case) = self.case_named(c)?;
            let ty = self.free_type(free);
            let element = self.argument_set(&ty, free, case, span)?.ty.elem().cloned()?;
            let x = self.tuple_of(args, &ty, span);
            return Some(node(ExprKind::Call(Fun::Destruct(case as u32), vec![x]), element, span));
        }
        let (free, case) = self.case_named(f)?;
        let ty = self.free_type(free);
        let set = self.argument_set(&ty, free, case, span)?;
        let x = self.tuple_of(args, set.ty.elem()?, span);
        if is_whole(&set) {
            return Some(Self::construct(ty, case, vec![x], span));
        }
        let function = self.function(ty.clone(), free, case, f.span);
        Some(node(ExprKind::Apply(Box::new(function), Box::new(x)), ty, span))
    }

    /// `c~` of a constructor: from what it made to the argument.
    pub(super) fn inverse_case(&mut self, c: &ast::Expr, span: Span) -> Option<Expr> {
        let (free, case) = self.case_named(c)?;
        let of = self.free_type(free);
        let element = self.argument_set(&of, free, case, span)?.ty.elem().cloned()?;
        let (local, x) = self.bound(&of, span);
        let ty = Type::rel(x.ty.clone(), element.clone());
        let made = Self::made(case, &x);
        let body = node(ExprKind::Call(Fun::Destruct(case as u32), vec![x]), element, span);
        Some(node(ExprKind::Bind(Binder::Lambda, vec![local], Box::new(made), Box::new(body)), ty, span))
    }

    /// `x : T` and x was made by the constructor.
    fn made(case: usize, x: &Expr) -> Expr {
        let whole = node(ExprKind::Lit(Lit::Whole), x.ty.clone().pow(), x.span);
        let (a, b) = (Box::new(x.clone()), Box::new(whole));
        let typed = node(ExprKind::Binary(BinOp::In, a, b), Type::Pred, x.span);
        let made = Self::is_case(case, x.clone());
        node(ExprKind::Binary(BinOp::And, Box::new(typed), Box::new(made)), Type::Pred, x.span)
    }

    /// `dom(c)` and `ran(c)` of a constructor.
    pub(super) fn ends_of_case(&mut self, fun: Fun, args: &[ast::Expr], span: Span) -> Option<Expr> {
        let ([c], Fun::Dom | Fun::Ran) = (args, fun) else { return None };
        let (free, case) = self.case_named(c)?;
        let of = self.free_type(free);
        if fun == Fun::Dom {
            return self.argument_set(&of, free, case, span);
        }
        let (local, x) = self.bound(&of, span);
        let ty = x.ty.clone().pow();
        let made = Self::made(case, &x);
        Some(node(ExprKind::Compr(vec![local], Box::new(made)), ty, span))
    }
}

/// The freetypes that a type being declared mentions.
fn mentioned(ty: &Type, found: &mut dyn FnMut(usize)) {
    match ty {
        Type::Again(at) => found(*at as usize),
        Type::Pair(p) => {
            mentioned(&p.0, found);
            mentioned(&p.1, found);
        }
        Type::Pow(t) => mentioned(t, found),
        Type::Rec(fields) => fields.iter().for_each(|(_, t)| mentioned(t, found)),
        _ => {}
    }
}

/// The freetypes of which values may be in values of this one.
fn reached(of: &FreeDef, family: &[FreeDef]) -> Vec<bool> {
    let mut seen = vec![false; family.len()];
    let mut todo = vec![of];
    while let Some(def) = todo.pop() {
        for ty in def.cases.iter().filter_map(|c| c.argument.as_ref()) {
            mentioned(ty, &mut |at| {
                if !std::mem::replace(&mut seen[at], true) {
                    todo.push(&family[at]);
                }
            });
        }
    }
    seen
}

/// Whether it has a value, as far as types tell.
pub(super) fn has_values(f: usize, family: &[FreeDef]) -> bool {
    fn made_of(ty: &Type, known: &[bool]) -> bool {
        match ty {
            Type::Again(at) => known[*at as usize],
            Type::Pair(p) => made_of(&p.0, known) && made_of(&p.1, known),
            Type::Rec(fields) => fields.iter().all(|(_, t)| made_of(t, known)),
            // The empty set.
            _ => true,
        }
    }
    let mut known = vec![false; family.len()];
    for _ in 0..family.len() {
        for (at, def) in family.iter().enumerate() {
            known[at] |= def.cases.iter().any(|c| c.argument.as_ref().is_none_or(|t| made_of(t, &known)));
        }
    }
    known[f]
}

/// Whether the set is all of its type, by its form.
pub(super) fn is_whole(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Given(_) => true,
        ExprKind::Lit(l) => {
            matches!(l, Lit::Whole | Lit::Integer | Lit::BoolSet | Lit::StringSet | Lit::RealSet)
        }
        ExprKind::Product(a, b) | ExprKind::Binary(BinOp::Mul | BinOp::Product | BinOp::Rel, a, b) => {
            is_whole(a) && is_whole(b)
        }
        ExprKind::Call(Fun::Pow, args) => args.iter().all(is_whole),
        ExprKind::Struct(fields) => fields.iter().all(is_whole),
        _ => false,
    }
}

/// Where one of the freetypes stands at a place where there may be no least solution.
fn not_positive(e: &Expr, is_recursive: &dyn Fn(&Type) -> bool) -> Option<Span> {
    use BinOp::*;
    let inside = |e: &Expr| not_positive(e, is_recursive);
    let mentions = |e: &Expr| {
        let mut found = None;
        e.for_each_part(&mut |part| {
            if let (ExprKind::Lit(Lit::Whole), Type::Pow(t)) = (&part.kind, &part.ty)
                && is_recursive(t)
            {
                found.get_or_insert(part.span);
            }
        });
        found
    };
    match &e.kind {
        ExprKind::Lit(Lit::Whole) => None,
        ExprKind::Product(a, b) | ExprKind::Binary(Mul | Product, a, b) => inside(a).or_else(|| inside(b)),
        ExprKind::Struct(fields) => fields.iter().find_map(inside),
        ExprKind::Call(Fun::Fin | Fun::Fin1 | Fun::Seq | Fun::Seq1 | Fun::Iseq | Fun::Iseq1, args) => {
            args.iter().find_map(inside)
        }
        ExprKind::Binary(PartialFun | TotalFun | PartialInj | TotalInj, a, b) => {
            mentions(a).or_else(|| inside(b))
        }
        _ => mentions(e),
    }
}
