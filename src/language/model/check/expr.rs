//! Expressions and predicates: names become ids, every node gets a type (maybe still open).

use super::unify::is_unknown;
use super::{Checker, Deferred, rules, trees};
use crate::lang::ast::{self, BinOp, Binder, Fun, Ident, Lit, Name, UnOp};
use crate::lang::composed::Entity;
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::external::External;
use crate::lang::notation;
use crate::lang::spelling::closest;
use crate::model::{ConstId, Decl, Expr, ExprKind, LocalId, SetId, Type, VarId};
use std::sync::Arc;

/// An expression of a type that the rules fixed.
fn node(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

/// Whether this is a predicate by its form.
fn is_predicate(e: &ast::Expr) -> bool {
    use BinOp::*;
    match &e.kind {
        ast::ExprKind::Quant(..) | ast::ExprKind::Unary(UnOp::Not, _) => true,
        ast::ExprKind::Binary(op, ..) => {
            matches!(op, And | Or | Implies | Iff | Eq | Neq | In | NotIn | Lt | Le | Gt | Ge)
                || matches!(op, Subset | NotSubset | StrictSubset | NotStrictSubset)
        }
        _ => false,
    }
}

impl Checker<'_> {
    /// The expression, which must have the type wanted.
    pub(super) fn expect(&mut self, e: &ast::Expr, want: &Type) -> Expr {
        let typed = self.infer(e);
        if !self.uni.unify(&typed.ty, want) {
            self.mismatch(&typed, want);
            // Go on with what was wanted: one mistake, one message.
            return Expr { ty: want.clone(), ..typed };
        }
        typed
    }

    pub(super) fn predicate(&mut self, e: &ast::Expr) -> Expr {
        self.expect(e, &Type::Pred)
    }

    /// An expression that is a value, whatever its type.
    fn value(&mut self, e: &ast::Expr) -> Expr {
        let typed = self.infer(e);
        if typed.ty == Type::Pred {
            let ty = self.uni.fresh();
            self.mismatch(&typed, &ty);
            return Expr { ty, ..typed };
        }
        typed
    }

    pub(super) fn infer(&mut self, e: &ast::Expr) -> Expr {
        use ast::ExprKind as A;
        let span = e.span;
        match &e.kind {
            A::Name(name) => self.name(name, span),
            A::Old(name) => self.old(name, span),
            A::Int(i) => node(ExprKind::Int(i.clone()), Type::Int, span),
            A::Str(s) => node(ExprKind::Str(s.clone()), Type::Str, span),
            A::Real(text) => self.real(text, span),
            A::Lit(lit) => match rules::lit(&mut self.uni, *lit) {
                Some(ty) => node(ExprKind::Lit(*lit), ty, span),
                None => {
                    self.unsupported(span, "`FLOAT`".into());
                    self.hole(span)
                }
            },
            A::Unary(UnOp::Neg, a) => self.negative(a, span),
            A::Unary(op, a) => {
                if *op == UnOp::Inverse
                    && let Some(inverse) = self.inverse_case(a, span)
                {
                    return inverse;
                }
                let rule = rules::unary(&mut self.uni, *op);
                let a = self.expect(a, &rule.args[0]);
                node(ExprKind::Unary(*op, Box::new(a)), rule.result, span)
            }
            A::Binary(op, a, b) => self.binary(*op, a, b, span),
            A::Apply(f, args) => self.apply(f, args, span),
            A::Image(r, s) => {
                let (a, b) = (self.uni.fresh(), self.uni.fresh());
                let r = self.expect(r, &Type::rel(a.clone(), b.clone()));
                let s = self.expect(s, &a.pow());
                node(ExprKind::Image(Box::new(r), Box::new(s)), b.pow(), span)
            }
            A::Call(fun, args) => self.call_fun(*fun, args, span),
            A::Quant(q, ids, body) => self.scoped(ids, |c, locals| {
                let body = c.predicate(body);
                node(ExprKind::Quant(*q, locals, Box::new(body)), Type::Pred, span)
            }),
            A::Bind(binder, ids, pred, body) => self.scoped(ids, |c, locals| {
                let pred = c.predicate(pred);
                let (body, ty) = match binder {
                    Binder::Lambda => {
                        let body = c.value(body);
                        let ty = Type::rel(c.tuple(&locals), body.ty.clone());
                        (body, ty)
                    }
                    Binder::Sigma | Binder::Pi => {
                        let body = c.summand(body);
                        let ty = body.ty.clone();
                        (body, ty)
                    }
                    Binder::Union | Binder::Inter => {
                        let ty = c.uni.fresh().pow();
                        (c.expect(body, &ty), ty)
                    }
                };
                node(ExprKind::Bind(*binder, locals, Box::new(pred), Box::new(body)), ty, span)
            }),
            A::Compr(ids, pred) => self.scoped(ids, |c, locals| {
                let pred = c.predicate(pred);
                let ty = c.tuple(&locals).pow();
                node(ExprKind::Compr(locals, Box::new(pred)), ty, span)
            }),
            A::ComprMap(ids, pred, body) => self.scoped(ids, |c, locals| {
                let pred = c.predicate(pred);
                let body = c.value(body);
                let ty = body.ty.clone().pow();
                node(ExprKind::ComprMap(locals, Box::new(pred), Box::new(body)), ty, span)
            }),
            A::SetExt(items) => {
                let elem = self.uni.fresh();
                let items = items.iter().map(|i| self.expect(i, &elem)).collect();
                node(ExprKind::SetExt(items), elem.pow(), span)
            }
            A::SeqExt(items) => {
                let elem = self.uni.fresh();
                let items = items.iter().map(|i| self.expect(i, &elem)).collect();
                node(ExprKind::SeqExt(items), Type::seq(elem), span)
            }
            A::Rec(fields) => {
                let (exprs, ty) = self.record(fields, |c, e| {
                    let e = c.value(e);
                    let ty = e.ty.clone();
                    (e, ty)
                });
                node(ExprKind::Rec(exprs), ty, span)
            }
            A::Struct(fields) => {
                let (exprs, ty) = self.record(fields, |c, e| {
                    let elem = c.uni.fresh();
                    (c.expect(e, &elem.clone().pow()), elem)
                });
                node(ExprKind::Struct(exprs), ty.pow(), span)
            }
            A::Field(record, field) => {
                let record = self.value(record);
                let (at, ty) = self.field(record.ty.clone(), field);
                node(ExprKind::Field(Box::new(record), at), ty, span)
            }
            A::Bool(p) => {
                let p = self.predicate(p);
                node(ExprKind::Bool(Box::new(p)), Type::Bool, span)
            }
            A::If(cond, yes, no) => {
                let cond = self.predicate(cond);
                let yes = self.infer(yes);
                let no = self.expect(no, &yes.ty);
                let ty = yes.ty.clone();
                node(ExprKind::If(Box::new(cond), Box::new(yes), Box::new(no)), ty, span)
            }
            A::Typed(e, of) => {
                let e = self.value(e);
                self.expect(of, &e.ty.clone().pow());
                e
            }
            A::HasType(e, of) => {
                let e = self.value(e);
                self.expect(of, &e.ty.pow());
                node(ExprKind::Lit(Lit::BTrue), Type::Pred, span)
            }
            A::Below(a, b) => {
                let a = self.value(a);
                let b = self.expect(b, &a.ty.clone());
                // Numbers or sets: that is decided when the types are put in. Below 0 and {} there is nothing.
                let bottom = node(ExprKind::Lit(Lit::EmptySet), a.ty.clone(), span);
                let claim = |op, a, b| node(ExprKind::Binary(op, Box::new(a), Box::new(b)), Type::Pred, span);
                let is_bounded = claim(BinOp::Le, bottom, b.clone());
                claim(BinOp::And, is_bounded, claim(BinOp::Lt, a, b))
            }
            A::Bounded(a) => {
                let a = self.value(a);
                let bottom = node(ExprKind::Lit(Lit::EmptySet), a.ty.clone(), span);
                node(ExprKind::Binary(BinOp::Le, Box::new(bottom), Box::new(a)), Type::Pred, span)
            }
            A::Let(ids, defs, body) => self.scoped(ids, |c, locals| {
                let defs = c.let_definitions(ids, &locals, defs);
                let body = c.infer(body);
                let ty = body.ty.clone();
                node(ExprKind::Let(defs, Box::new(body)), ty, span)
            }),
        }
    }

    /// Stands where something could not be understood; an error has been reported.
    pub(super) fn hole(&mut self, span: Span) -> Expr {
        let ty = self.uni.fresh();
        node(ExprKind::Lit(Lit::EmptySet), ty, span)
    }

    // ---- names ----

    fn name(&mut self, name: &Name, span: Span) -> Expr {
        if let Some(local) = self.local_named(name) {
            let ty = self.model.local(local).ty.clone();
            return node(ExprKind::Local(local), ty, span);
        }
        match self.entity(name) {
            Some(Entity::Set(s)) => {
                let set = SetId(s as u32);
                node(ExprKind::Given(set), Type::Given(set).pow(), span)
            }
            Some(Entity::Elem(s, i)) => {
                let set = SetId(s as u32);
                node(ExprKind::Elem(set, i as u32), Type::Given(set), span)
            }
            Some(Entity::Free(f)) => self.freetype(f, span),
            Some(Entity::Case(f, i)) => self.constructor(f, i, span),
            Some(Entity::Const(c)) => {
                let ty = self.model.constants[c].ty.clone();
                node(ExprKind::Const(ConstId(c as u32)), ty, span)
            }
            Some(Entity::Var(v)) => {
                let ty = self.model.variables[v].ty.clone();
                node(ExprKind::Var(VarId(v as u32)), ty, span)
            }
            Some(Entity::Actual(at, actual)) => {
                // The actual parameter lives in the scope of the machine that includes this one.
                let locals = std::mem::take(&mut self.scope);
                let instance = std::mem::replace(&mut self.instance, at);
                let typed = self.infer(&actual);
                self.scope = locals;
                self.instance = instance;
                typed
            }
            None => self.unknown_name(name, span),
        }
    }

    fn unknown_name(&mut self, name: &Name, span: Span) -> Expr {
        if &**name == "REAL" {
            return node(ExprKind::Lit(Lit::RealSet), Type::Real.pow(), span);
        }
        if let Some(open) = &mut self.open {
            if let Some((_, local)) = open.iter().find(|(n, _)| n == name) {
                let local = *local;
                return node(ExprKind::Local(local), self.model.local(local).ty.clone(), span);
            }
            let ty = self.uni.fresh();
            let local = LocalId(self.model.locals.len() as u32);
            self.model.locals.push(Decl { name: name.clone(), ty: ty.clone(), span });
            open.push((name.clone(), local));
            return node(ExprKind::Local(local), ty, span);
        }
        if !self.refused(name, span) && self.reported.insert(name.clone()) {
            let mut diag = match self.operation_named(name) {
                Some(_) => Diagnostic::error("B0201", span, format!("`{name}` is an operation, not a value"))
                    .help("operations are called as substitutions: `r <-- op(x)`"),
                None => Diagnostic::error("B0201", span, format!("unknown identifier `{name}`")),
            };
            let near = match &**name {
                "true" => Some("btrue".into()),
                "false" => Some("bfalse".into()),
                _ => self.nearest(name),
            };
            if let Some(near) = near {
                diag = diag.help(format!("did you mean `{near}`?"));
            }
            self.diags.push(diag);
        }
        self.hole(span)
    }

    fn old(&mut self, name: &Name, span: Span) -> Expr {
        let local = self.scope.iter().rev().find(|(n, l)| n == name && !self.fresh.contains(l));
        if let Some((_, local)) = local {
            let local = *local;
            return node(ExprKind::OldLocal(local), self.model.local(local).ty.clone(), span);
        }
        match self.entity(name) {
            Some(Entity::Var(v)) => {
                let ty = self.model.variables[v].ty.clone();
                node(ExprKind::Old(VarId(v as u32)), ty, span)
            }
            Some(_) => {
                self.error("B0205", span, format!("`{name}$0` needs a variable: `{name}` never changes"));
                self.hole(span)
            }
            None => self.unknown_name(name, span),
        }
    }

    /// Declares the names as locals, runs `body` with them in scope, and forgets the names.
    pub(super) fn scoped<R>(&mut self, ids: &[Ident], body: impl FnOnce(&mut Self, Vec<LocalId>) -> R) -> R {
        let depth = self.scope.len();
        let locals = self.declare(ids);
        let result = body(self, locals);
        self.scope.truncate(depth);
        result
    }

    pub(super) fn declare(&mut self, ids: &[Ident]) -> Vec<LocalId> {
        let mut locals = Vec::with_capacity(ids.len());
        for (i, id) in ids.iter().enumerate() {
            if let Some(first) = ids[..i].iter().find(|o| o.name == id.name) {
                let message = format!("`{}` is declared twice here", id.name);
                self.diags.push(
                    Diagnostic::error("B0202", id.span, message).note(first.span, "first declared here"),
                );
            }
            locals.push(self.declare_one(&id.name, id.span));
        }
        locals
    }

    pub(super) fn declare_one(&mut self, name: &Name, span: Span) -> LocalId {
        let ty = self.uni.fresh();
        let local = LocalId(self.model.locals.len() as u32);
        self.model.locals.push(Decl { name: name.clone(), ty, span });
        self.scope.push((name.clone(), local));
        local
    }

    /// The type of the left-nested tuple of these locals.
    fn tuple(&self, locals: &[LocalId]) -> Type {
        let mut types = locals.iter().map(|l| self.model.local(*l).ty.clone());
        let first = types.next().unwrap_or(Type::Int);
        types.fold(first, Type::pair)
    }

    // ---- operators ----

    fn binary(&mut self, op: BinOp, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        if op == BinOp::ParallelProduct && is_predicate(a) && is_predicate(b) {
            let diag = Diagnostic::error("B0203", span, "`||` does not join predicates");
            self.diags.push(diag.help("disjunction is written `or`"));
            let (a, b) = (self.predicate(a), self.predicate(b));
            return node(ExprKind::Binary(BinOp::Or, Box::new(a), Box::new(b)), Type::Pred, span);
        }
        if matches!(op, BinOp::Add | BinOp::Div | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge) {
            return self.arithmetic(op, a, b, span);
        }
        if op == BinOp::Concat {
            return self.concatenation(a, b, span);
        }
        if let Some(rule) = rules::binary(&mut self.uni, op) {
            let a = self.expect(a, &rule.args[0]);
            let b = match op {
                // Two values are compared: say what the other one is.
                BinOp::Eq | BinOp::Neq => {
                    let typed = self.infer(b);
                    if !self.uni.unify(&typed.ty, &rule.args[1]) {
                        self.incomparable(&a, &typed, op);
                    }
                    typed
                }
                _ => self.expect(b, &rule.args[1]),
            };
            return node(ExprKind::Binary(op, Box::new(a), Box::new(b)), rule.result, span);
        }
        let (a, b) = (self.value(a), self.value(b));
        let ty = self.uni.fresh();
        self.defer(Deferred::Arith {
            product: op == BinOp::Mul,
            left: (a.ty.clone(), a.span),
            right: (b.ty.clone(), b.span),
            result: ty.clone(),
            span,
        });
        node(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span)
    }

    /// `a ^ b` of two sequences, or of two strings where one of them is known to be a string.
    fn concatenation(&mut self, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        let (mut a, mut b) = (self.infer(a), self.infer(b));
        let are_strings = [&a, &b].iter().any(|e| self.uni.shallow(&e.ty) == Type::Str);
        let ty = if are_strings { Type::Str } else { Type::seq(self.uni.fresh()) };
        for e in [&mut a, &mut b] {
            if !self.uni.unify(&e.ty, &ty) {
                self.mismatch(e, &ty);
                e.ty = ty.clone();
            }
        }
        let kind = match are_strings {
            true => ExprKind::Call(Fun::External(External::StringAppend), vec![a, b]),
            false => ExprKind::Binary(BinOp::Concat, Box::new(a), Box::new(b)),
        };
        node(kind, ty, span)
    }

    fn apply(&mut self, f: &ast::Expr, args: &[ast::Expr], span: Span) -> Expr {
        if let ast::ExprKind::Name(name) = &f.kind
            && let Some(fun) = External::named(name, args.len())
            && self.local_named(name).is_none()
            && self.entity(name).is_none()
        {
            return self.call_fun(Fun::External(fun), args, span);
        }
        if let Some(applied) = self.apply_case(f, args, span) {
            return applied;
        }
        if let Some(set) = self.apply_datatype(f, args, span) {
            return set;
        }
        if let ast::ExprKind::Name(name) = &f.kind
            && let Some(fun) = Self::real_function(name)
            && self.local_named(name).is_none()
            && self.entity(name).is_none()
        {
            return self.call_fun(fun, args, span);
        }
        if let (ast::ExprKind::Name(name), [of]) = (&f.kind, args)
            && matches!(&**name, "tree" | "btree")
            && self.local_named(name).is_none()
            && self.entity(name).is_none()
        {
            return self.infer(&trees::all(of, &**name == "btree", span));
        }
        // `prj1(S,T)(x)` and the like are applications of a built-in; `succ(x)` of a built-in constant.
        if let ast::ExprKind::Name(name) = &f.kind
            && self.local_named(name).is_none()
            && self.entity(name).is_none()
            && self.open.is_none()
        {
            if !self.refused(name, f.span) && self.reported.insert(name.clone()) {
                let message = format!("unknown function or definition `{name}`");
                let mut diag = Diagnostic::error("B0201", f.span, message);
                let near =
                    self.nearest(name).or_else(|| closest(name, notation::functions()).map(Name::from));
                if let Some(near) = near {
                    diag = diag.help(format!("did you mean `{near}`?"));
                }
                self.diags.push(diag);
            }
            for arg in args {
                self.infer(arg);
            }
            return self.hole(span);
        }
        let (a, b) = (self.uni.fresh(), self.uni.fresh());
        let f = self.expect(f, &Type::rel(a.clone(), b.clone()));
        let arg = self.tuple_of(args, &a, span);
        node(ExprKind::Apply(Box::new(f), Box::new(arg)), b, span)
    }

    /// Several arguments are one left-nested pair, of the type wanted.
    pub(super) fn tuple_of(&mut self, args: &[ast::Expr], want: &Type, span: Span) -> Expr {
        let [first, rest @ ..] = args else {
            self.error("B0206", span, "an application needs an argument");
            return self.hole(span);
        };
        if rest.is_empty() {
            return self.expect(first, want);
        }
        let mut types = vec![];
        let mut whole = want.clone();
        for _ in rest {
            let (a, b) = (self.uni.fresh(), self.uni.fresh());
            if !self.uni.unify(&whole, &Type::pair(a.clone(), b.clone())) {
                let found = self.show(&whole);
                self.error(
                    "B0206",
                    span,
                    format!("{} arguments for a function whose argument is {found}", args.len()),
                );
                args.iter().for_each(|e| {
                    self.infer(e);
                });
                return self.hole(span);
            }
            types.push(b);
            whole = a;
        }
        let mut tuple = self.expect(first, &whole);
        for (arg, ty) in rest.iter().zip(types.iter().rev()) {
            let arg = self.expect(arg, ty);
            let ty = Type::pair(tuple.ty.clone(), arg.ty.clone());
            let span = tuple.span.to(arg.span);
            tuple = node(ExprKind::Binary(BinOp::Pair, Box::new(tuple), Box::new(arg)), ty, span);
        }
        tuple
    }

    fn call_fun(&mut self, fun: Fun, args: &[ast::Expr], span: Span) -> Expr {
        if let Some(set) = self.ends_of_case(fun, args, span) {
            return set;
        }
        if let (Fun::Min | Fun::Max, [set]) = (fun, args) {
            return self.extreme(fun, set, span);
        }
        if let (Fun::Prj1 | Fun::Prj2, [pair]) = (fun, args) {
            let (a, b) = (self.uni.fresh(), self.uni.fresh());
            let pair = Box::new(self.expect(pair, &Type::pair(a.clone(), b.clone())));
            return match fun {
                Fun::Prj1 => node(ExprKind::First(pair), a, span),
                _ => node(ExprKind::Second(pair), b, span),
            };
        }
        let Some((types, result)) = rules::fun(&mut self.uni, fun, args.len()) else {
            let (name, n) = (notation::fun_name(fun), args.len());
            self.error("B0206", span, format!("`{name}` does not take {n} argument{}", plural(n)));
            return self.hole(span);
        };
        let args = args.iter().zip(&types).map(|(e, t)| self.expect(e, t)).collect();
        let call = node(ExprKind::Call(fun, args), result, span);
        match fun {
            Fun::External(f) if f.is_predicate() => {
                let truth = node(ExprKind::Lit(Lit::True), Type::Bool, span);
                node(ExprKind::Binary(BinOp::Eq, Box::new(call), Box::new(truth)), Type::Pred, span)
            }
            _ => call,
        }
    }

    // ---- records ----

    /// The fields' expressions in the order of the type, and the record type.
    fn record(
        &mut self,
        fields: &[(Ident, ast::Expr)],
        mut each: impl FnMut(&mut Self, &ast::Expr) -> (Expr, Type),
    ) -> (Vec<Expr>, Type) {
        let mut typed: Vec<(Name, Expr, Type)> = vec![];
        for (id, e) in fields {
            let (e, ty) = each(self, e);
            if typed.iter().any(|(n, ..)| *n == id.name) {
                self.error("B0202", id.span, format!("the field `{}` is given twice", id.name));
                continue;
            }
            typed.push((id.name.clone(), e, ty));
        }
        typed.sort_by(|a, b| a.0.cmp(&b.0));
        let ty: Arc<[(Name, Type)]> = typed.iter().map(|(n, _, t)| (n.clone(), t.clone())).collect();
        (typed.into_iter().map(|(_, e, _)| e).collect(), Type::Rec(ty))
    }

    /// A use of a field: its number in the table of uses (its place when the types are filled in) and its type.
    pub(super) fn field(&mut self, record: Type, field: &Ident) -> (u32, Type) {
        let result = self.uni.fresh();
        let at = self.fields.len() as u32;
        self.fields.push((field.name.clone(), record.clone()));
        self.defer(Deferred::Field { record, field: field.clone(), result: result.clone() });
        (at, result)
    }

    // ---- LET ----

    /// `x = E & y = F` as definitions in an order in which each uses only earlier ones.
    pub(super) fn let_definitions(
        &mut self,
        ids: &[Ident],
        locals: &[LocalId],
        defs: &ast::Expr,
    ) -> Vec<(LocalId, Expr)> {
        let mut found: Vec<(LocalId, Expr)> = vec![];
        for part in defs.conjuncts() {
            let equation = match &part.kind {
                ast::ExprKind::Binary(BinOp::Eq, a, b) => [(a, b), (b, a)].into_iter().find_map(|(x, e)| {
                    let ast::ExprKind::Name(x) = &x.kind else { return None };
                    let at = ids.iter().position(|id| id.name == *x)?;
                    (found.iter().all(|(l, _)| *l != locals[at])).then_some((locals[at], e))
                }),
                _ => None,
            };
            match equation {
                Some((local, e)) => {
                    let ty = self.model.local(local).ty.clone();
                    let e = self.expect(e, &ty);
                    found.push((local, e));
                }
                None => {
                    self.predicate(part);
                    let diag =
                        Diagnostic::error("B0207", part.span, "LET needs equations `x = E`, one per name");
                    self.diags.push(diag.help("use a quantifier or ANY for other predicates"));
                }
            }
        }
        for (id, local) in ids.iter().zip(locals) {
            if found.iter().all(|(l, _)| l != local) && !self.failed() {
                self.error("B0207", id.span, format!("LET gives `{}` no value", id.name));
            }
        }
        self.in_order(found)
    }

    fn in_order(&mut self, mut left: Vec<(LocalId, Expr)>) -> Vec<(LocalId, Expr)> {
        let mut done = vec![];
        while !left.is_empty() {
            let ready = left.iter().position(|(_, e)| left.iter().all(|(l, _)| !e.mentions_local(*l)));
            match ready {
                Some(i) => done.push(left.remove(i)),
                None => {
                    let span = left[0].1.span;
                    self.error("B0207", span, "the equations of this LET depend on each other in a circle");
                    return done;
                }
            }
        }
        done
    }
}

pub(super) fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

impl Checker<'_> {
    /// Decides what can be decided now and keeps the rest.
    pub(super) fn defer(&mut self, d: Deferred) {
        if !self.solve(&d) {
            self.deferred.push(d);
        }
    }

    /// Decides what has become decidable; at the end (`all`) the rest is arithmetic.
    pub(super) fn solve_deferred(&mut self, all: bool) {
        loop {
            let before = self.deferred.len();
            for d in std::mem::take(&mut self.deferred) {
                self.defer(d);
            }
            if self.deferred.is_empty() {
                return;
            }
            if self.deferred.len() == before {
                if !all {
                    return;
                }
                // Nothing else decides: `x - y` of unknown operands means numbers. One at a time, since
                // it may decide others.
                match self.deferred.remove(0) {
                    Deferred::Arith { left, right, result, .. } => {
                        for t in [&left.0, &right.0, &result] {
                            self.uni.unify(t, &Type::Int);
                        }
                    }
                    Deferred::Number(of) => {
                        for (ty, _) in &of {
                            self.uni.unify(ty, &Type::Int);
                        }
                    }
                    Deferred::Field { field, .. } => {
                        if !self.failed() {
                            let message =
                                format!("cannot infer the record that `'{}` selects from", field.name);
                            self.error("B0204", field.span, message);
                        }
                    }
                }
            }
        }
    }

    /// Whether it could be decided (also when that was an error).
    fn solve(&mut self, d: &Deferred) -> bool {
        match d {
            Deferred::Number(of) => self.solve_number(of),
            Deferred::Field { record, field, result } => match self.uni.shallow(record) {
                Type::Rec(fields) => {
                    match fields.iter().find(|(n, _)| *n == field.name) {
                        Some((_, ty)) => {
                            if !self.uni.unify(ty, result) {
                                let (want, found) = (self.show(result), self.show(ty));
                                let message = format!("the field is {found}, but {want} is needed here");
                                self.error("B0203", field.span, message);
                            }
                        }
                        None => {
                            let names: Vec<&str> = fields.iter().map(|(n, _)| &**n).collect();
                            let message = format!("the record has no field `{}`", field.name);
                            let help = format!("its fields are {}", names.join(", "));
                            self.diags.push(Diagnostic::error("B0208", field.span, message).help(help));
                        }
                    }
                    true
                }
                ty if is_unknown(&ty) => false,
                ty => {
                    let found = self.show(&ty);
                    self.error("B0203", field.span, format!("expected a record, found {found}"));
                    true
                }
            },
            Deferred::Arith { product, left, right, result, span } => {
                let known = [&left.0, &right.0, result].map(|t| self.uni.shallow(t));
                let Some(first) = known.iter().find(|t| !is_unknown(t)) else { return false };
                let (want_left, want_right, want_result) = match first {
                    Type::Pow(_) if *product => {
                        let (a, b) = (self.uni.fresh(), self.uni.fresh());
                        (a.clone().pow(), b.clone().pow(), Type::rel(a, b))
                    }
                    Type::Pow(_) => {
                        let t = self.uni.fresh().pow();
                        (t.clone(), t.clone(), t)
                    }
                    Type::Real => (Type::Real, Type::Real, Type::Real),
                    _ => (Type::Int, Type::Int, Type::Int),
                };
                for (ty, want, span) in [
                    (&left.0, &want_left, left.1),
                    (&right.0, &want_right, right.1),
                    (result, &want_result, *span),
                ] {
                    if !self.uni.unify(ty, want) {
                        let (want, found) = (self.show(want), self.show(ty));
                        self.error("B0203", span, format!("type mismatch: expected {want}, found {found}"));
                    }
                }
                true
            }
        }
    }
}
