//! Substitutions.

use super::Checker;
use super::expr::plural;
use super::fill::conjunction;
use crate::lang::ast::{self, BinOp, Ident, Lit, SubstKind};
use crate::lang::composed::Entity;
use crate::lang::diag::{Diagnostic, Span};
use crate::model::{
    Access, Expr, ExprKind, Lhs, LocalId, OpId, Operation, Stmt, StmtKind, Target, Type, VarId,
};

impl Checker<'_> {
    pub(super) fn stmt(&mut self, s: &ast::Subst) -> Stmt {
        Stmt { kind: self.stmt_kind(s), span: s.span }
    }

    fn boxed(&mut self, s: &ast::Subst) -> Box<Stmt> {
        Box::new(self.stmt(s))
    }

    fn stmts(&mut self, parts: &[ast::Subst]) -> Vec<Stmt> {
        parts.iter().map(|s| self.stmt(s)).collect()
    }

    fn arms(&mut self, arms: &[(ast::Expr, ast::Subst)]) -> Vec<(Expr, Stmt)> {
        arms.iter().map(|(cond, s)| (self.predicate(cond), self.stmt(s))).collect()
    }

    fn rest(&mut self, rest: &Option<Box<ast::Subst>>) -> Option<Box<Stmt>> {
        rest.as_ref().map(|s| self.boxed(s))
    }

    fn stmt_kind(&mut self, s: &ast::Subst) -> StmtKind {
        match &s.kind {
            SubstKind::Skip => StmtKind::Skip,
            SubstKind::Assign(left, right) => self.assign(left, right, s.span),
            SubstKind::BecomesElement(left, set) => {
                let (left, ty) = self.targets(left);
                let set = self.expect(set, &ty.pow());
                StmtKind::BecomesElement(left, set)
            }
            SubstKind::BecomesSuch(ids, pred) => self.becomes_such(ids, pred),
            SubstKind::Pre(p, s) => StmtKind::Pre(self.predicate(p), self.boxed(s)),
            SubstKind::Assert(p, s) => StmtKind::Assert(self.predicate(p), self.boxed(s)),
            SubstKind::Select(arms, rest) => StmtKind::Select(self.arms(arms), self.rest(rest)),
            SubstKind::If(arms, rest) => StmtKind::If(self.arms(arms), self.rest(rest)),
            SubstKind::Choice(parts) => StmtKind::Choice(self.stmts(parts)),
            SubstKind::Seq(parts) => StmtKind::Seq(self.stmts(parts)),
            SubstKind::Par(parts) => {
                let parts = self.stmts(parts);
                self.disjoint(&parts);
                StmtKind::Par(parts)
            }
            SubstKind::Block(s) => self.stmt_kind(s),
            SubstKind::Case(of, arms, rest) => {
                self.distinct_labels(arms);
                let of = self.infer(of);
                let arms = arms
                    .iter()
                    .map(|(labels, s)| {
                        let labels = labels.iter().map(|l| self.expect(l, &of.ty)).collect();
                        (labels, self.stmt(s))
                    })
                    .collect();
                StmtKind::Case(of, arms, self.rest(rest))
            }
            SubstKind::Any(ids, pred, s) => self.scoped(ids, |c, locals| {
                let pred = c.predicate(pred);
                StmtKind::Any(locals, pred, c.boxed(s))
            }),
            SubstKind::Let(ids, defs, s) => self.scoped(ids, |c, locals| {
                let defs = c.let_definitions(ids, &locals, defs);
                StmtKind::Let(defs, c.boxed(s))
            }),
            SubstKind::Var(ids, s) => self.scoped(ids, |c, locals| {
                c.writable.extend(&locals);
                StmtKind::Var(locals, c.boxed(s))
            }),
            SubstKind::While { cond, body, invariant, variant } => StmtKind::While {
                cond: self.predicate(cond),
                body: self.boxed(body),
                invariant: self.predicate(invariant),
                variant: self.expect(variant, &Type::Int),
            },
            SubstKind::Call { results, op, args } => self.call(results, op, args),
        }
    }

    fn assign(&mut self, left: &[ast::Expr], right: &[ast::Expr], span: Span) -> StmtKind {
        if left.len() == right.len() {
            let pairs = left.iter().zip(right).filter_map(|(l, r)| {
                let Some((lhs, ty)) = self.lhs(l) else {
                    self.infer(r);
                    return None;
                };
                Some((lhs, self.expect(r, &ty)))
            });
            return StmtKind::Assign(pairs.collect());
        }
        let [tuple] = right else {
            let (n, m) = (left.len(), right.len());
            let message = format!("{n} variable{} but {m} value{}", plural(n), plural(m));
            self.error("B0206", span, message);
            return StmtKind::Skip;
        };
        let (targets, ty) = self.targets(left);
        let mut tuple = self.expect(tuple, &ty);
        // x, y, z := t means x := t'1'1, y := t'1'2, z := t'2 for the left-nested t.
        let mut values = vec![];
        for _ in 1..targets.len() {
            let (a, b) = (self.uni.fresh(), self.uni.fresh());
            self.uni.unify(&tuple.ty, &Type::pair(a.clone(), b.clone()));
            let span = tuple.span;
            values.push(Expr { kind: ExprKind::Second(Box::new(tuple.clone())), ty: b, span });
            tuple = Expr { kind: ExprKind::First(Box::new(tuple)), ty: a, span };
        }
        values.push(tuple);
        values.reverse();
        StmtKind::Assign(targets.into_iter().zip(values).collect())
    }

    /// The left sides and the type of their left-nested tuple.
    fn targets(&mut self, left: &[ast::Expr]) -> (Vec<Lhs>, Type) {
        let mut targets = vec![];
        let mut tuple: Option<Type> = None;
        for l in left {
            let ty = match self.lhs(l) {
                Some((lhs, ty)) => {
                    targets.push(lhs);
                    ty
                }
                None => self.uni.fresh(),
            };
            tuple = Some(match tuple {
                Some(t) => Type::pair(t, ty),
                None => ty,
            });
        }
        let ty = tuple.unwrap_or_else(|| self.uni.fresh());
        (targets, ty)
    }

    /// What is written to, and the type of what is written.
    fn lhs(&mut self, e: &ast::Expr) -> Option<(Lhs, Type)> {
        match &e.kind {
            ast::ExprKind::Name(name) => {
                let (target, ty) = self.target(&Ident { name: name.clone(), span: e.span })?;
                Some((Lhs { target, path: vec![], span: e.span }, ty))
            }
            ast::ExprKind::Apply(f, args) => {
                let (mut lhs, ty) = self.lhs(f)?;
                let (a, b) = (self.uni.fresh(), self.uni.fresh());
                let want = Type::rel(a.clone(), b.clone());
                if !self.uni.unify(&ty, &want) {
                    let found = self.show(&ty);
                    self.error("B0203", f.span, format!("expected a function, found {found}"));
                }
                lhs.path.push(Access::Index(self.tuple_of(args, &a, e.span)));
                lhs.span = e.span;
                Some((lhs, b))
            }
            ast::ExprKind::Field(record, field) => {
                let (mut lhs, ty) = self.lhs(record)?;
                let (at, ty) = self.field(ty, field);
                lhs.path.push(Access::Field(at));
                lhs.span = e.span;
                Some((lhs, ty))
            }
            _ => {
                self.error("B0209", e.span, "this cannot be assigned to");
                None
            }
        }
    }

    fn target(&mut self, id: &Ident) -> Option<(Target, Type)> {
        if let Some(local) = self.local_named(&id.name) {
            let decl = self.model.local(local);
            let (ty, span) = (decl.ty.clone(), decl.span);
            if !self.writable.contains(&local) {
                let message = format!("`{}` cannot be assigned to: it is a parameter or bound name", id.name);
                self.diags
                    .push(Diagnostic::error("B0209", id.span, message).note(span, "it is declared here"));
            }
            return Some((Target::Local(local), ty));
        }
        match self.entity(&id.name) {
            Some(Entity::Var(v)) => {
                let ty = self.model.variables[v].ty.clone();
                Some((Target::Var(VarId(v as u32)), ty))
            }
            Some(_) => {
                let message = format!("`{}` is not a variable and cannot be assigned to", id.name);
                self.error("B0209", id.span, message);
                None
            }
            None => {
                self.infer(&ast::Expr { kind: ast::ExprKind::Name(id.name.clone()), span: id.span });
                None
            }
        }
    }

    fn becomes_such(&mut self, ids: &[Ident], pred: &ast::Expr) -> StmtKind {
        let found: Vec<(Ident, Target, Type)> =
            ids.iter().filter_map(|id| self.target(id).map(|(t, ty)| (id.clone(), t, ty))).collect();
        let names: Vec<Ident> = found.iter().map(|(id, ..)| id.clone()).collect();
        self.scoped(&names, |c, fresh| {
            for (local, (.., ty)) in fresh.iter().zip(&found) {
                let new = c.model.local(*local).ty.clone();
                // A fresh unknown takes any type.
                c.uni.unify(&new, ty);
                c.fresh.insert(*local);
            }
            let pred = c.predicate(pred);
            StmtKind::BecomesSuch { targets: found.iter().map(|(_, t, _)| *t).collect(), fresh, pred }
        })
    }

    /// A result has no value before the body runs, so what the operation's guard says of one can only be its type:
    /// `r : S` is left out, with a warning. Anything else stays, and has no value.
    pub(super) fn type_results(&mut self, body: &mut Stmt, results: &[LocalId]) {
        let guard = match &mut body.kind {
            StmtKind::Pre(p, _) | StmtKind::Any(_, p, _) => p,
            StmtKind::Select(arms, None) if arms.len() == 1 => &mut arms[0].0,
            _ => return,
        };
        let is_result = |e: &Expr| matches!(e.kind, ExprKind::Local(l) if results.contains(&l));
        let is_type = |e: &&Expr| match &e.kind {
            ExprKind::Binary(BinOp::In | BinOp::Subset, r, s) => is_result(r) && !s.any(&is_result),
            _ => false,
        };
        let (types, rest): (Vec<&Expr>, Vec<&Expr>) = guard.conjuncts().into_iter().partition(is_type);
        if types.is_empty() {
            return;
        }
        for t in types {
            let message = "what a guard says of a result can only be its type, and is not tested";
            let help = "a result has no value before the operation assigns one";
            self.diags.push(Diagnostic::warning("B0423", t.span, message).help(help));
        }
        let span = guard.span;
        let rest = conjunction(rest.into_iter().cloned().collect(), span);
        *guard = rest.unwrap_or(Expr { kind: ExprKind::Lit(Lit::BTrue), ty: Type::Pred, span });
    }

    fn call(&mut self, results: &[ast::Expr], op: &Ident, args: &[ast::Expr]) -> StmtKind {
        let Some(at) = self.operation_named(&op.name) else {
            if !self.refused(&op.name, op.span) {
                let message = format!("unknown operation `{}`", op.name);
                let mut diag = Diagnostic::error("B0201", op.span, message);
                if let Some(near) = self.nearest_operation(&op.name) {
                    diag = diag.help(format!("did you mean `{near}`?"));
                }
                self.diags.push(diag);
            }
            args.iter().for_each(|e| {
                self.infer(e);
            });
            results.iter().for_each(|e| {
                self.lhs(e);
            });
            return StmtKind::Skip;
        };
        if self.uncallable.contains(&at) {
            let message =
                format!("`{}` belongs to this machine, which may not call its own operations", op.name);
            let help =
                "make it a LOCAL_OPERATION, or put the common part into a definition or an included machine";
            self.diags.push(Diagnostic::error("B0217", op.span, message).help(help));
        }
        let callee = &self.model.operations[at];
        let (params, outs, span) = (callee.params.clone(), callee.results.clone(), callee.span);
        for (what, wanted, given) in
            [("argument", params.len(), args.len()), ("result", outs.len(), results.len())]
        {
            if wanted != given {
                let message = format!("`{}` has {wanted} {what}{}, not {given}", op.name, plural(wanted));
                self.diags.push(
                    Diagnostic::error("B0206", op.span, message).note(span, "the operation is declared here"),
                );
            }
        }
        let ty_of = |c: &Self, l: Option<&LocalId>| l.map(|l| c.model.local(*l).ty.clone());
        let mut typed_args = vec![];
        for (i, arg) in args.iter().enumerate() {
            let want = ty_of(self, params.get(i)).unwrap_or_else(|| self.uni.fresh());
            typed_args.push(self.expect(arg, &want));
        }
        let mut typed_results = vec![];
        for (i, result) in results.iter().enumerate() {
            let Some((lhs, ty)) = self.lhs(result) else { continue };
            if let Some(want) = ty_of(self, outs.get(i))
                && !self.uni.unify(&ty, &want)
            {
                let (found, want) = (self.show(&ty), self.show(&want));
                let message = format!("type mismatch: the result is {want}, assigned to {found}");
                self.error("B0203", result.span, message);
            }
            typed_results.push(lhs);
        }
        StmtKind::Call { results: typed_results, op: OpId(at as u32), args: typed_args }
    }

    /// In a call a result stands for what it is given to. If the operation does not assign it in every case, what it is
    /// given to keeps its value there, which nobody may have meant.
    pub(super) fn check_results(&mut self) {
        let model = &self.model;
        let mut found = vec![];
        for op in &model.operations {
            calls_of(&op.body, &mut |callee, span| {
                let callee = &model.operations[callee.index()];
                let lost = callee.results.iter().find(|r| !always_assigns(&callee.body, **r));
                found.extend(lost.map(|r| (callee, model.local(*r).name.clone(), span)));
            });
        }
        let warning = |(callee, name, span): (&Operation, _, _)| {
            let message = format!("`{}` does not assign its result `{name}` in every case", callee.name);
            let help = "where it does not, the variable keeps its value";
            Diagnostic::warning("B0424", span, message).note(callee.span, "it is defined here").help(help)
        };
        let warnings: Vec<Diagnostic> = found.into_iter().map(warning).collect();
        self.diags.extend(warnings);
    }

    /// No value may lead into two branches of a CASE.
    fn distinct_labels(&mut self, arms: &[(Vec<ast::Expr>, ast::Subst)]) {
        let mut seen: Vec<&ast::Expr> = vec![];
        for label in arms.iter().flat_map(|(labels, _)| labels) {
            if let Some(first) = seen.iter().find(|e| e.kind == label.kind) {
                let diag = Diagnostic::error("B0218", label.span, "this value of CASE has a branch already");
                self.diags.push(diag.note(first.span, "the first one"));
            }
            seen.push(label);
        }
    }

    /// The parts of `||` must write to different variables, unless the model says that they need not.
    fn disjoint(&mut self, parts: &[Stmt]) {
        if self.simultaneous {
            return;
        }
        let mut seen: Vec<(Target, Span)> = vec![];
        for part in parts {
            let mut written = vec![];
            targets_of(part, &mut written);
            for (target, span) in &written {
                if let Some((_, first)) = seen.iter().find(|(t, _)| t == target) {
                    let name = match target {
                        Target::Var(v) => self.model.variables[v.index()].name.clone(),
                        Target::Local(l) => self.model.local(*l).name.clone(),
                    };
                    let message = format!("`{name}` is assigned on both sides of `||`");
                    let diag = Diagnostic::error("B0215", *span, message)
                        .help("combine the two: `f := f <+ {a |-> x, b |-> y}`");
                    self.diags.push(diag.note(*first, "also assigned here"));
                    return;
                }
            }
            seen.extend(written);
        }
    }
}

fn targets_of(s: &Stmt, out: &mut Vec<(Target, Span)>) {
    match &s.kind {
        StmtKind::Assign(pairs) => out.extend(pairs.iter().map(|(l, _)| (l.target, l.span))),
        StmtKind::BecomesElement(lhs, _) => out.extend(lhs.iter().map(|l| (l.target, l.span))),
        StmtKind::BecomesSuch { targets, .. } => out.extend(targets.iter().map(|t| (*t, s.span))),
        StmtKind::Call { results, .. } => out.extend(results.iter().map(|l| (l.target, l.span))),
        _ => {}
    }
    s.for_each_child(&mut |c| targets_of(c, out));
}

fn calls_of(s: &Stmt, see: &mut dyn FnMut(OpId, Span)) {
    if let StmtKind::Call { op, results, .. } = &s.kind
        && !results.is_empty()
    {
        see(*op, s.span);
    }
    s.for_each_child(&mut |c| calls_of(c, see));
}

/// Whether it assigns the local however it runs, as far as its text shows.
fn always_assigns(s: &Stmt, local: LocalId) -> bool {
    let is_target = |l: &Lhs| l.target == Target::Local(local);
    let always = |s: &Stmt| always_assigns(s, local);
    match &s.kind {
        StmtKind::Skip | StmtKind::While { .. } => false,
        StmtKind::Assign(pairs) => pairs.iter().any(|(l, _)| is_target(l)),
        StmtKind::BecomesElement(lhs, _) => lhs.iter().any(is_target),
        StmtKind::BecomesSuch { targets, .. } => targets.contains(&Target::Local(local)),
        StmtKind::Call { results, .. } => results.iter().any(is_target),
        StmtKind::Pre(_, s) | StmtKind::Assert(_, s) | StmtKind::Any(_, _, s) => always(s),
        StmtKind::Let(_, s) | StmtKind::Var(_, s) => always(s),
        StmtKind::Seq(parts) | StmtKind::Par(parts) => parts.iter().any(always),
        StmtKind::Choice(ways) => ways.iter().all(always),
        // Without ELSE, SELECT is not enabled where no guard holds, and IF and CASE do nothing there.
        StmtKind::Select(arms, other) => {
            arms.iter().all(|(_, s)| always(s)) && other.as_deref().is_none_or(always)
        }
        StmtKind::If(arms, other) => {
            arms.iter().all(|(_, s)| always(s)) && other.as_deref().is_some_and(always)
        }
        StmtKind::Case(_, arms, other) => {
            arms.iter().all(|(_, s)| always(s)) && other.as_deref().is_some_and(always)
        }
    }
}
