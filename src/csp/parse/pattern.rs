//! From what was read as an expression to a pattern.

use super::{Parser, Result};
use crate::tree::{Binary, Collection, Expr, ExprKind, Items, Literal, Pattern, PatternKind, Unary};

impl Parser<'_, '_> {
    pub fn pattern_of(&mut self, e: Expr) -> Result<Pattern> {
        let span = e.span;
        if matches!(e.kind, ExprKind::Wild | ExprKind::Both(..)) {
            self.wild.retain(|s| *s != span);
        }
        let pair = |p: &mut Self, a: Box<Expr>, b: Box<Expr>| {
            Ok::<_, Box<_>>((Box::new(p.pattern_of(*a)?), Box::new(p.pattern_of(*b)?)))
        };
        let kind = match e.kind {
            ExprKind::Wild => PatternKind::Wild,
            ExprKind::Name(path) => PatternKind::Name(path),
            ExprKind::Literal(value) => PatternKind::Literal(value),
            ExprKind::Unary(Unary::Negate, inner) => match inner.kind {
                ExprKind::Literal(Literal::Int(i)) => PatternKind::Literal(Literal::Int(-i)),
                _ => return self.error("C0120", span, "in a pattern only a number may be negated"),
            },
            ExprKind::Paren(inner) => PatternKind::Paren(Box::new(self.pattern_of(*inner)?)),
            ExprKind::Tuple(parts) => PatternKind::Tuple(self.patterns_of(parts)?),
            ExprKind::Dot(a, b) => {
                let (a, b) = pair(self, a, b)?;
                PatternKind::Dot(a, b)
            }
            ExprKind::Both(a, b) => {
                let (a, b) = pair(self, a, b)?;
                PatternKind::Both(a, b)
            }
            ExprKind::Binary(Binary::Concatenate, a, b) => {
                let (a, b) = pair(self, a, b)?;
                PatternKind::Concatenate(a, b)
            }
            ExprKind::Seq(Collection { items: Items::Listed(items), stmts }) if stmts.is_empty() => {
                PatternKind::Seq(self.patterns_of(items)?)
            }
            ExprKind::Set(Collection { items: Items::Listed(items), stmts })
                if stmts.is_empty() && items.len() < 2 =>
            {
                PatternKind::Set(self.patterns_of(items)?)
            }
            ExprKind::Set(Collection { items: Items::Listed(_), .. }) => {
                return self.error(
                    "C0120",
                    span,
                    "a pattern for sets has at most one element: `{}` or `{x}`",
                );
            }
            _ => return self.error("C0120", span, "this is no pattern"),
        };
        Ok(Pattern { span, kind })
    }

    pub fn patterns_of(&mut self, all: Vec<Expr>) -> Result<Vec<Pattern>> {
        all.into_iter().map(|e| self.pattern_of(e)).collect()
    }
}
