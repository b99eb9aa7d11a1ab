//! What terms of a package have in common: lists, names, and what to say when a term is something else.

use super::term::Term;
use crate::lang::ast::Ident;
use crate::lang::diag::{Diagnostic, Span};

/// Boxed, because a diagnostic is large and errors are rare.
pub type Res<X> = Result<X, Box<Diagnostic>>;

pub fn refused(span: Span, what: impl Into<String>) -> Box<Diagnostic> {
    let message = format!("{} is not supported", what.into());
    Box::new(Diagnostic::error("B0401", span, message))
}

pub fn malformed(term: &Term, wanted: &str) -> Box<Diagnostic> {
    let message = format!("expected {wanted}, found {}", term.shape());
    Box::new(Diagnostic::error("B0102", term.span, message))
}

pub fn list(term: &Term) -> Res<&[Term]> {
    term.list().ok_or_else(|| malformed(term, "a list"))
}

/// `identifier(Pos, Name)`, or an atom.
pub fn ident(term: &Term) -> Res<Ident> {
    let name = match term.parts() {
        Some(("identifier", [_, name])) => name.atom(),
        Some((_, [])) => term.atom(),
        _ => None,
    };
    match name {
        Some(name) => Ok(Ident { name: name.clone(), span: term.span }),
        None => Err(malformed(term, "an identifier")),
    }
}

pub fn idents(term: &Term) -> Res<Vec<Ident>> {
    list(term)?.iter().map(ident).collect()
}
