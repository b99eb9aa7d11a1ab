//! Expressions.

use super::pattern::literal;
use super::scope::ScopeId;
use super::{BindingKind, Checker, Result, UnitId, UnitState};
use crate::tree::{
    Binary, Collection, Constraint, Expr, ExprKind, Field, FieldKind, Items, Pairs, Path, Replicated, Stmt,
    StmtKind, Unary,
};
use crate::types::Type;
use std::rc::Rc;

/// What a generator runs through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Set,
    Seq,
}

impl Source {
    fn of(self, t: Type) -> Type {
        match self {
            Source::Set => Type::set(t),
            Source::Seq => Type::seq(t),
        }
    }
}

impl<'t> Checker<'t> {
    /// The type of a use of a name.
    pub(super) fn value(&mut self, scope: ScopeId, path: &Path) -> Result<Type> {
        let b = self.lookup(scope, path)?;
        let no_value = match self.bindings[b.0].kind {
            BindingKind::Module(_) => Some("a module"),
            BindingKind::TypeVariable => Some("a type"),
            _ => None,
        };
        if let Some(what) = no_value {
            return self.error("C0218", path.span(), format!("`{}` is {what}, not a value", path.text()));
        }
        if let Some(unit) = self.bindings[b.0].unit {
            self.ensure(unit);
            if self.units[unit.0].state == UnitState::Failed {
                return Ok(self.table.fresh()); // reported already
            }
        }
        let scheme = self.bindings[b.0].scheme.clone();
        Ok(self.table.instantiate(&scheme))
    }

    /// Makes sure that an expression has this type.
    pub(super) fn expect(&mut self, scope: ScopeId, e: &'t Expr, t: &Type) -> Result<()> {
        let found = self.expr(scope, e)?;
        let fit = self.table.unify(t, &found);
        self.fit(e.span, fit)
    }

    fn process(&mut self, scope: ScopeId, all: &[&'t Expr]) -> Result<Type> {
        for e in all {
            self.expect(scope, e, &Type::Proc)?;
        }
        Ok(Type::Proc)
    }

    fn events(&mut self, scope: ScopeId, e: &'t Expr) -> Result<()> {
        self.expect(scope, e, &Type::set(Type::Event))
    }

    pub(super) fn expr(&mut self, scope: ScopeId, e: &'t Expr) -> Result<Type> {
        Ok(match &e.kind {
            ExprKind::Literal(value) => literal(value),
            ExprKind::Name(path) => self.value(scope, path)?,
            ExprKind::Wild | ExprKind::Both(..) => {
                return self.error("C0120", e.span, "this may only stand in a pattern");
            }
            ExprKind::Paren(e) => self.expr(scope, e)?,
            ExprKind::Tuple(all) => {
                let parts: Result<Vec<Type>> = all.iter().map(|e| self.expr(scope, e)).collect();
                Type::tuple(parts?)
            }
            ExprKind::Dot(a, b) => Type::dot(vec![self.expr(scope, a)?, self.expr(scope, b)?]),
            ExprKind::Apply(f, arguments) => self.call(scope, f, arguments)?,
            ExprKind::Lambda(parameters, body) => {
                let inner = self.scope(Some(scope));
                let types: Result<Vec<Type>> = parameters.iter().map(|p| self.parameter(inner, p)).collect();
                let types = types?;
                let result = self.expr(inner, body)?;
                Type::function(types, result)
            }
            ExprKind::Let(decls, body) => {
                let inner = self.scope(Some(scope));
                let instance = self.open.last().and_then(|u| self.units[u.0].instance);
                let first = self.units.len();
                self.declare(decls, inner, false, instance)?;
                for unit in first..self.units.len() {
                    self.ensure(UnitId(unit));
                }
                self.expr(inner, body)?
            }
            ExprKind::If(test, then, otherwise) => {
                self.expect(scope, test, &Type::Bool)?;
                let t = self.expr(scope, then)?;
                self.expect(scope, otherwise, &t)?;
                t
            }
            ExprKind::Unary(op, inner) => match op {
                Unary::Not => {
                    self.expect(scope, inner, &Type::Bool)?;
                    Type::Bool
                }
                Unary::Negate => {
                    self.expect(scope, inner, &Type::Int)?;
                    Type::Int
                }
                Unary::Length => {
                    let t = Type::seq(self.table.fresh());
                    self.expect(scope, inner, &t)?;
                    Type::Int
                }
            },
            ExprKind::Binary(op, a, b) => self.binary(scope, *op, a, b)?,
            ExprKind::Seq(c) => self.collection(scope, c, Source::Seq)?,
            ExprKind::Set(c) => self.collection(scope, c, Source::Set)?,
            ExprKind::Productions(items, stmts) => {
                let inner = self.statements(scope, stmts, Source::Set)?;
                let t = self.table.fresh_with(&[Constraint::Yieldable]);
                for item in items {
                    self.extendable(inner, item, &t)?;
                }
                Type::set(t)
            }
            ExprKind::Map(pairs) => {
                let (key, value) = (self.table.fresh_with(&[Constraint::Set]), self.table.fresh());
                for (k, v) in pairs {
                    self.expect(scope, k, &key)?;
                    self.expect(scope, v, &value)?;
                }
                Type::map(key, value)
            }
            ExprKind::Prefix(event, fields, then) => self.prefix(scope, event, fields, then)?,
            ExprKind::Process(_, a, b) => self.process(scope, &[a, b])?,
            ExprKind::Synchronised(_, a, set, b) => {
                self.events(scope, set)?;
                self.process(scope, &[a, b])?
            }
            ExprKind::Alphabetised(a, left, right, b) => {
                self.events(scope, left)?;
                self.events(scope, right)?;
                self.process(scope, &[a, b])?
            }
            ExprKind::Linked(a, pairs, b) => {
                self.untimed(e, "a linked parallel composition")?;
                self.process(scope, &[a, b])?;
                self.pairs(scope, pairs)?
            }
            ExprKind::Renamed(a, pairs) => {
                self.process(scope, &[a])?;
                self.pairs(scope, pairs)?
            }
            ExprKind::Hidden(a, set) | ExprKind::Projected(a, set) => {
                self.process(scope, &[a])?;
                self.events(scope, set)?;
                Type::Proc
            }
            ExprKind::Guarded(test, then) => {
                self.expect(scope, test, &Type::Bool)?;
                self.process(scope, &[then])?
            }
            ExprKind::Replicated(op, stmts, body) => self.replicated(scope, e, op, stmts, body)?,
        })
    }

    fn untimed(&self, e: &Expr, what: &str) -> Result<()> {
        if self.timed {
            return self.error("C0219", e.span, format!("{what} cannot stand in a timed section"));
        }
        Ok(())
    }

    fn call(&mut self, scope: ScopeId, f: &'t Expr, arguments: &'t [Expr]) -> Result<Type> {
        let wanted: Vec<Type> = arguments.iter().map(|_| self.table.fresh()).collect();
        let result = self.table.fresh();
        self.expect(scope, f, &Type::function(wanted.clone(), result.clone()))?;
        let mut found = vec![];
        for a in arguments {
            found.push(self.expr(scope, a)?);
        }
        for ((a, wanted), found) in arguments.iter().zip(&wanted).zip(&found) {
            let fit = self.table.settle(found).and_then(|found| {
                let wanted = self.table.settle(wanted)?;
                self.table.unify_without_splitting(&wanted, &found)
            });
            self.fit(a.span, fit)?;
        }
        Ok(result)
    }

    fn binary(&mut self, scope: ScopeId, op: Binary, a: &'t Expr, b: &'t Expr) -> Result<Type> {
        let both = |this: &mut Self, t: Type| {
            this.expect(scope, a, &t)?;
            this.expect(scope, b, &t)
        };
        let compare = match op {
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Modulo => {
                both(self, Type::Int)?;
                return Ok(Type::Int);
            }
            Binary::And | Binary::Or => {
                both(self, Type::Bool)?;
                return Ok(Type::Bool);
            }
            Binary::Concatenate => {
                let t = Type::seq(self.table.fresh());
                both(self, t.clone())?;
                return Ok(t);
            }
            Binary::Equal | Binary::Different => Constraint::Eq,
            Binary::Less | Binary::AtMost | Binary::Greater | Binary::AtLeast => Constraint::Ord,
        };
        let t = self.expr(scope, a)?;
        self.expect(scope, b, &t)?;
        let fit = self.table.demand(compare, &t);
        self.fit(a.span.to(b.span), fit)?;
        Ok(Type::Bool)
    }

    fn collection(&mut self, scope: ScopeId, c: &'t Collection, source: Source) -> Result<Type> {
        let inner = self.statements(scope, &c.stmts, source)?;
        let t = match &c.items {
            Items::Range(from, to) => {
                self.expect(inner, from, &Type::Int)?;
                if let Some(to) = to {
                    self.expect(inner, to, &Type::Int)?;
                }
                Type::Int
            }
            Items::Listed(items) => {
                let constraints: &[Constraint] = if source == Source::Set { &[Constraint::Set] } else { &[] };
                let t = self.table.fresh_with(constraints);
                for item in items {
                    self.expect(inner, item, &t)?;
                }
                t
            }
        };
        Ok(source.of(t))
    }

    /// A channel, or something else that becomes a `t` when enough is dotted to it.
    pub(super) fn extendable(&mut self, scope: ScopeId, e: &'t Expr, t: &Type) -> Result<Type> {
        let missing = self.table.fresh_var(vec![]);
        let wanted = Type::Extendable(Rc::new(t.clone()), missing);
        self.expect(scope, e, &wanted)?;
        Ok(wanted)
    }

    /// `a <- b`, `a <-> b`: both sides become events by the same.
    fn pairs(&mut self, scope: ScopeId, pairs: &'t Pairs) -> Result<Type> {
        let inner = self.statements(scope, &pairs.stmts, Source::Set)?;
        for (a, b) in &pairs.pairs {
            let wanted = self.extendable(inner, a, &Type::Event)?;
            self.expect(inner, b, &wanted)?;
        }
        Ok(Type::Proc)
    }

    fn replicated(
        &mut self,
        scope: ScopeId,
        e: &Expr,
        op: &'t Replicated,
        stmts: &'t [Stmt],
        body: &'t Expr,
    ) -> Result<Type> {
        let source = match op {
            Replicated::Sequence | Replicated::Linked(_) => Source::Seq,
            _ => Source::Set,
        };
        match op {
            Replicated::Share(set) | Replicated::SynchronisedChoice(set) => self.events(scope, set)?,
            Replicated::Linked(_) => self.untimed(e, "a linked parallel composition")?,
            _ => {}
        }
        let inner = self.statements(scope, stmts, source)?;
        match op {
            Replicated::Alphabetised(set) => self.events(inner, set)?,
            Replicated::Linked(pairs) => {
                self.pairs(inner, pairs)?;
            }
            _ => {}
        }
        self.process(inner, &[body])
    }

    /// The scope behind statements: each sees the names of those before it.
    fn statements(&mut self, scope: ScopeId, stmts: &'t [Stmt], source: Source) -> Result<ScopeId> {
        if stmts.is_empty() {
            return Ok(scope);
        }
        let inner = self.scope(Some(scope));
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::If(test) => self.expect(inner, test, &Type::Bool)?,
                StmtKind::From(pattern, from) => {
                    let found = self.expr(inner, from)?;
                    let fit = self.table.settle(&found);
                    let found = self.fit(from.span, fit)?;
                    let wanted = self.parameter(inner, pattern)?;
                    let fit = self
                        .table
                        .settle(&wanted)
                        .and_then(|wanted| self.table.unify_without_splitting(&source.of(wanted), &found));
                    self.fit(stmt.span, fit)?;
                }
            }
        }
        Ok(inner)
    }

    fn prefix(
        &mut self,
        scope: ScopeId,
        event: &'t Expr,
        fields: &'t [Field],
        then: &'t Expr,
    ) -> Result<Type> {
        if fields.is_empty() {
            self.expect(scope, event, &Type::Event)?;
            return self.process(scope, &[then]);
        }
        let mut parts = vec![self.expr(scope, event)?];
        let inner = self.scope(Some(scope));
        let (mut span, mut inputs) = (event.span, false);
        for field in fields {
            span = span.to(field.span);
            let (pattern, set) = match &field.kind {
                FieldKind::Output(e) => {
                    parts.push(self.expr(inner, e)?);
                    continue;
                }
                FieldKind::Input(pattern, set) => {
                    inputs = true;
                    (pattern, set)
                }
                FieldKind::Chosen(..) if inputs => {
                    return self.error("C0219", field.span, "`$` stands before the first `?`");
                }
                FieldKind::Chosen(pattern, set) => {
                    if self.timed {
                        return self.error("C0219", field.span, "`$` cannot stand in a timed section");
                    }
                    (pattern, set)
                }
            };
            let from = match set {
                Some(set) => Some((set.span, self.expr(inner, set)?)),
                None => None,
            };
            let t = self.parameter(inner, pattern)?;
            if let Some((at, from)) = from {
                let fit = self.table.unify(&Type::set(t.clone()), &from);
                self.fit(at, fit)?;
            }
            let fit = self.table.demand(Constraint::Complete, &t);
            self.fit(field.span, fit)?;
            parts.push(t);
        }
        let fit = self.table.unify(&Type::Event, &Type::dot(parts));
        self.fit(span, fit)?;
        self.process(inner, &[then])
    }
}
