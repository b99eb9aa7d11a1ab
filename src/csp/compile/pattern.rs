//! Patterns.

use super::local::Place;
use super::{Compiler, Global, Result, ScopeId};
use crate::tree::{Ident, Literal, Path, Pattern, PatternKind};
use crate::value::code::{Length, Pattern as Code};
use crate::value::{ConstantId, Value};
use std::sync::Arc;

impl<'t> Compiler<'t> {
    /// The constructor or channel that a name in a pattern stands for.
    fn constant_of(&self, scope: ScopeId, path: &Path) -> Option<ConstantId> {
        let [name] = &path.parts[..] else { return None };
        let hidden = self.locals.iter().any(|l| l.names.iter().any(|(n, _)| *n == name.text));
        match self.find(scope, &name.text) {
            Some(Global::Constant(id)) if !hidden => Some(id),
            _ => None,
        }
    }

    /// The variables that a pattern binds.
    pub(super) fn variables(&self, scope: ScopeId, p: &Pattern, into: &mut Vec<Ident>) {
        match &p.kind {
            PatternKind::Name(path) => {
                if path.parts.len() == 1 && self.constant_of(scope, path).is_none() {
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

    /// Compiles a pattern; its variables are known from here on.
    pub(super) fn pattern(&mut self, scope: ScopeId, p: &Pattern) -> Result<Code> {
        Ok(match &p.kind {
            PatternKind::Wild => Code::Wild,
            PatternKind::Name(path) => match (self.constant_of(scope, path), &path.parts[..]) {
                (Some(id), _) => Code::Value(Value::Constant(id)),
                (None, [name]) => {
                    let slot = self.fresh();
                    self.bind(Arc::clone(&name.text), Place::Slot(slot));
                    Code::Slot(slot)
                }
                _ => match self.global(scope, path)? {
                    Some(Global::Constant(id)) => Code::Value(Value::Constant(id)),
                    _ => return self.error(p.span, format!("`{}` is no pattern", path.text())),
                },
            },
            PatternKind::Literal(value) => Code::Value(self.literal(p.span, value)?),
            PatternKind::Tuple(all) => Code::Tuple(self.patterns(scope, all)?),
            PatternKind::Seq(all) => Code::Seq(self.patterns(scope, all)?),
            PatternKind::Set(all) => {
                if all.len() > 1 {
                    return self.error(p.span, "a pattern for a set has at most one element");
                }
                Code::Set(self.patterns(scope, all)?)
            }
            PatternKind::Paren(p) => self.pattern(scope, p)?,
            PatternKind::Dot(a, b) => {
                let mut parts = vec![];
                for side in [a, b] {
                    match self.pattern(scope, side)? {
                        Code::Dot(all) => parts.extend(all),
                        one => parts.push(one),
                    }
                }
                Code::Dot(parts)
            }
            PatternKind::Concatenate(a, b) => {
                let length = match (length(a), length(b)) {
                    (Some(n), _) => Length::Left(n),
                    (None, Some(n)) => Length::Right(n),
                    (None, None) => {
                        return self.error(p.span, "one side of `^` in a pattern has a known length");
                    }
                };
                let (a, b) = (self.pattern(scope, a)?, self.pattern(scope, b)?);
                Code::Concatenate(Box::new(a), Box::new(b), length)
            }
            PatternKind::Both(a, b) => {
                Code::Both(Box::new(self.pattern(scope, a)?), Box::new(self.pattern(scope, b)?))
            }
        })
    }

    fn patterns(&mut self, scope: ScopeId, all: &[Pattern]) -> Result<Vec<Code>> {
        all.iter().map(|p| self.pattern(scope, p)).collect()
    }

    pub(super) fn literal(&self, span: kanon_language::lang::diag::Span, value: &Literal) -> Result<Value> {
        Ok(match value {
            Literal::Int(n) => match i64::try_from(n) {
                Ok(n) => Value::Int(n),
                Err(_) => return self.error(span, "this number is too large: integers have 64 bits"),
            },
            Literal::Bool(b) => Value::Bool(*b),
            Literal::Char(c) => Value::Char(*c),
            Literal::String(s) => Value::string(s),
        })
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
