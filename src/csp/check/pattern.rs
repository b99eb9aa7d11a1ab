//! Patterns.

use super::scope::ScopeId;
use super::{BindingKind, Checker, Result};
use crate::tree::{Constraint, Ident, Literal, Path, Pattern, PatternKind};
use crate::types::Type;

impl Checker<'_> {
    /// Whether a name in a pattern stands for itself.
    fn is_constant(&self, scope: ScopeId, path: &Path) -> bool {
        match &path.parts[..] {
            [name] => {
                self.find(scope, &name.text).is_some_and(|b| self.bindings[b.0].kind == BindingKind::Constant)
            }
            _ => true,
        }
    }

    /// The variables that a pattern binds.
    pub(super) fn variables(&self, scope: ScopeId, p: &Pattern, into: &mut Vec<Ident>) {
        match &p.kind {
            PatternKind::Name(path) => {
                if !self.is_constant(scope, path) {
                    into.extend(path.parts.first().cloned());
                }
            }
            PatternKind::Tuple(all) | PatternKind::Seq(all) | PatternKind::Set(all) => {
                all.iter().for_each(|p| self.variables(scope, p, into));
            }
            PatternKind::Paren(p) => self.variables(scope, p, into),
            PatternKind::Dot(a, b) | PatternKind::Concatenate(a, b) | PatternKind::Both(a, b) => {
                self.variables(scope, a, into);
                self.variables(scope, b, into);
            }
            PatternKind::Wild | PatternKind::Literal(_) => {}
        }
    }

    /// Puts the variables of a pattern into a scope; says its type.
    pub(super) fn parameter(&mut self, scope: ScopeId, p: &Pattern) -> Result<Type> {
        let mut names = vec![];
        self.variables(scope, p, &mut names);
        for name in &names {
            self.local(scope, name)?;
        }
        self.pattern(scope, p)
    }

    /// The type of a pattern whose variables are in scope.
    pub(super) fn pattern(&mut self, scope: ScopeId, p: &Pattern) -> Result<Type> {
        Ok(match &p.kind {
            PatternKind::Wild => self.table.fresh(),
            PatternKind::Name(path) => {
                let b = self.lookup(scope, path)?;
                match self.bindings[b.0].kind {
                    BindingKind::Constant => self.value(scope, path)?,
                    BindingKind::Value if path.parts.len() == 1 => self.bindings[b.0].scheme.ty.clone(),
                    _ => return self.error("C0216", p.span, format!("`{}` is no pattern", path.text())),
                }
            }
            PatternKind::Literal(value) => literal(value),
            PatternKind::Tuple(all) => {
                let parts: Result<Vec<Type>> = all.iter().map(|p| self.pattern(scope, p)).collect();
                Type::tuple(parts?)
            }
            PatternKind::Paren(p) => self.pattern(scope, p)?,
            PatternKind::Dot(a, b) => Type::dot(vec![self.pattern(scope, a)?, self.pattern(scope, b)?]),
            PatternKind::Seq(all) => Type::seq(self.alike(scope, all)?),
            PatternKind::Set(all) => {
                let t = self.alike(scope, all)?;
                // Taking a set apart tells whether its elements are equal.
                let fit = self.table.demand(Constraint::Eq, &t);
                self.fit(p.span, fit)?;
                Type::set(t)
            }
            PatternKind::Concatenate(a, b) => {
                if length(a).is_none() && length(b).is_none() {
                    return self.error("C0217", p.span, "one side of `^` in a pattern has a known length");
                }
                let t = Type::seq(self.table.fresh());
                for side in [a, b] {
                    let found = self.pattern(scope, side)?;
                    let fit = self.table.unify(&t, &found);
                    self.fit(side.span, fit)?;
                }
                t
            }
            PatternKind::Both(a, b) => {
                let t = self.pattern(scope, a)?;
                let found = self.pattern(scope, b)?;
                let fit = self.table.unify(&t, &found);
                self.fit(b.span, fit)?;
                t
            }
        })
    }

    fn alike(&mut self, scope: ScopeId, all: &[Pattern]) -> Result<Type> {
        let t = self.table.fresh();
        for p in all {
            let found = self.pattern(scope, p)?;
            let fit = self.table.unify(&t, &found);
            self.fit(p.span, fit)?;
        }
        Ok(t)
    }
}

pub(super) fn literal(value: &Literal) -> Type {
    match value {
        Literal::Int(_) => Type::Int,
        Literal::Bool(_) => Type::Bool,
        Literal::Char(_) => Type::Char,
        Literal::String(_) => Type::seq(Type::Char),
    }
}

/// The length of the sequences that a pattern matches, if they have one.
fn length(p: &Pattern) -> Option<usize> {
    match &p.kind {
        PatternKind::Seq(all) => Some(all.len()),
        PatternKind::Literal(Literal::String(s)) => Some(s.chars().count()),
        PatternKind::Paren(p) => length(p),
        PatternKind::Concatenate(a, b) => Some(length(a)? + length(b)?),
        PatternKind::Both(a, b) => length(a).or_else(|| length(b)),
        _ => None,
    }
}
