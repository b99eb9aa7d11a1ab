//! The tree of a Z specification, the same for both markups. Expressions, predicates and schemas are one kind of tree,
//! as in the standard: which one something is depends on the names in it.

use super::lex::Directive;
use crate::lang::ast::{Ident, Name};
use crate::lang::diag::Span;
use num_bigint::BigInt;

/// A specification.
#[derive(Debug, Default)]
pub struct Spec {
    pub paragraphs: Vec<Paragraph>,
    pub directives: Vec<Directive>,
}

/// A paragraph and its place.
#[derive(Clone, Debug)]
pub struct Paragraph {
    pub kind: ParagraphKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ParagraphKind {
    /// `[A, B]`
    Given(Vec<Ident>),
    /// An axiomatic definition, a generic one where it has parameters.
    Axiom(Vec<Ident>, Text),
    /// A schema in a box.
    Schema(Ident, Vec<Ident>, Text),
    /// `X == E`, `S ≙ E`
    Define(Ident, Vec<Ident>, Expr),
    /// `T ::= a | b⟪E⟫`
    Free(Ident, Vec<(Ident, Option<Expr>)>),
    /// A predicate that holds.
    Predicate(Expr),
    /// `⊢? P`: one that is claimed.
    Conjecture(Expr),
}

/// Declarations and what is said of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    pub decls: Vec<Decl>,
    pub preds: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Decl {
    /// `x, y : E`
    Names(Vec<Ident>, Expr),
    /// `x == E`
    Value(Ident, Expr),
    /// A schema, all of whose components are declared.
    Schema(Expr),
}

/// Two trees are equal if they read alike, wherever they stand.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: Kind,
    pub span: Span,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.kind == other.kind
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Name(Name),
    Number(BigInt),
    /// A symbol of the toolkit with its operands, none for a constant.
    Op(&'static str, Vec<Expr>),
    Tuple(Vec<Expr>),
    Set(Vec<Expr>),
    Seq(Vec<Expr>),
    Bag(Vec<Expr>),
    /// `⦉ x == 1, y == 2 ⦊`
    Binding(Vec<(Ident, Expr)>),
    /// `{ x : A | P • E }`
    Compr(Text, Option<Box<Expr>>),
    /// `λ`, `μ`, `∀`, `∃`, `∃₁`, `let`; only `μ` may have no body.
    Bind(&'static str, Text, Option<Box<Expr>>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Apply(Box<Expr>, Box<Expr>),
    /// `S[A, B]`
    Instance(Box<Expr>, Vec<Expr>),
    /// `S[new/old]`
    Rename(Box<Expr>, Vec<(Ident, Ident)>),
    /// `(S)'`
    Decorated(Box<Expr>, Name),
    /// `b.x`
    Select(Box<Expr>, Ident),
    /// `t.1`
    Pick(Box<Expr>, usize),
    /// `[x : A | P]`
    Text(Text),
    /// `S ⧹ (x, y)`
    Hide(Box<Expr>, Vec<Ident>),
    /// `θ S`
    Theta(Box<Expr>),
}

/// A name without its strokes, and these.
pub fn strokes(name: &str) -> (&str, &str) {
    let plain = name.trim_end_matches(|c| matches!(c, '\'' | '?' | '!' | '₀'..='₉'));
    name.split_at(plain.len())
}
