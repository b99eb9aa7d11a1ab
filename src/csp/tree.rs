//! The tree of a CSP-M script. One type of expressions for values and processes: CSP-M has no border between the two.

use kanon_language::lang::diag::Span;
use num_bigint::BigInt;
use std::sync::Arc;

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    pub text: Arc<str>,
    pub span: Span,
}

/// `x`, or `M::N::x`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// At least one.
    pub parts: Vec<Ident>,
}

impl Path {
    pub fn span(&self) -> Span {
        match (self.parts.first(), self.parts.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => kanon_language::lang::diag::NOWHERE,
        }
    }

    /// As it is written.
    pub fn text(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|p| &*p.text).collect();
        parts.join("::")
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Literal(Literal),
    Name(Path),
    /// `_`: only in what turns out to be a pattern.
    Wild,
    /// `p @@ q`: only in what turns out to be a pattern.
    Both(Box<Expr>, Box<Expr>),
    Paren(Box<Expr>),
    /// At least two parts.
    Tuple(Vec<Expr>),
    Dot(Box<Expr>, Box<Expr>),
    Apply(Box<Expr>, Vec<Expr>),
    Lambda(Vec<Pattern>, Box<Expr>),
    Let(Vec<Decl>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Seq(Collection),
    Set(Collection),
    /// `{| c, d | stmts |}`
    Productions(Vec<Expr>, Vec<Stmt>),
    /// `(| k => v, … |)`
    Map(Vec<(Expr, Expr)>),
    /// `event fields -> process`
    Prefix(Box<Expr>, Vec<Field>, Box<Expr>),
    /// `P op Q`
    Process(Process, Box<Expr>, Box<Expr>),
    /// `P op set op Q`
    Synchronised(Synchronised, Box<Expr>, Box<Expr>, Box<Expr>),
    /// `P [A || B] Q`
    Alphabetised(Box<Expr>, Box<Expr>, Box<Expr>, Box<Expr>),
    /// `P [a <-> b | stmts] Q`
    Linked(Box<Expr>, Pairs, Box<Expr>),
    /// `P[[a <- b | stmts]]`
    Renamed(Box<Expr>, Pairs),
    /// `P \ A`
    Hidden(Box<Expr>, Box<Expr>),
    /// `P |\ A`
    Projected(Box<Expr>, Box<Expr>),
    /// `b & P`
    Guarded(Box<Expr>, Box<Expr>),
    /// `op stmts @ P`
    Replicated(Replicated, Vec<Stmt>, Box<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Int(BigInt),
    Bool(bool),
    Char(char),
    String(Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Negate,
    Not,
    Length,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
    And,
    Or,
    Concatenate,
}

/// What stands between `<` and `>`, or between `{` and `}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Collection {
    pub items: Items,
    pub stmts: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    Listed(Vec<Expr>),
    /// `from ..`, `from .. to`
    Range(Box<Expr>, Option<Box<Expr>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    ExternalChoice,
    InternalChoice,
    Interleave,
    Interrupt,
    Sliding,
    Sequence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronised {
    /// `[| A |]`
    Share,
    /// `[| A |>`
    Exception,
    /// `[+ A +]`
    ExternalChoice,
    /// `/+ A +\`
    Interrupt,
}

/// `a <- b, …` or `a <-> b, …`, with what runs through their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs {
    pub pairs: Vec<(Expr, Expr)>,
    pub stmts: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Replicated {
    ExternalChoice,
    InternalChoice,
    Interleave,
    Sequence,
    /// `[| A |] …`
    Share(Box<Expr>),
    /// `[+ A +] …`
    SynchronisedChoice(Box<Expr>),
    /// `|| … @ [A] P`
    Alphabetised(Box<Expr>),
    /// `[a <-> b] …`
    Linked(Pairs),
}

/// A part of a communication.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub span: Span,
    pub kind: FieldKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// `!e`
    Output(Expr),
    /// `?p`, `?p : S`
    Input(Pattern, Option<Expr>),
    /// `$p`, `$p : S`
    Chosen(Pattern, Option<Expr>),
}

/// A part of a comprehension.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    pub span: Span,
    pub kind: StmtKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `p <- S`, `p : S`
    From(Pattern, Expr),
    If(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    pub span: Span,
    pub kind: PatternKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    Wild,
    /// A variable, or a constructor or channel: the names in scope decide.
    Name(Path),
    Literal(Literal),
    Tuple(Vec<Pattern>),
    Paren(Box<Pattern>),
    Dot(Box<Pattern>, Box<Pattern>),
    Seq(Vec<Pattern>),
    Set(Vec<Pattern>),
    Concatenate(Box<Pattern>, Box<Pattern>),
    Both(Box<Pattern>, Box<Pattern>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Decl {
    pub span: Span,
    pub kind: DeclKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DeclKind {
    /// All clauses of a function, which stand together.
    Function {
        name: Ident,
        clauses: Vec<Clause>,
        annotation: Option<Scheme>,
    },
    Pattern {
        pattern: Pattern,
        body: Expr,
        annotation: Option<Scheme>,
    },
    Channel {
        names: Vec<Ident>,
        fields: Option<Expr>,
        annotation: Option<Scheme>,
    },
    Datatype {
        name: Ident,
        clauses: Vec<Constructor>,
    },
    Subtype {
        name: Ident,
        clauses: Vec<Constructor>,
    },
    Nametype {
        name: Ident,
        body: Expr,
        annotation: Option<Scheme>,
    },
    External(Vec<Ident>),
    Transparent(Vec<Ident>),
    Assert(Assertion),
    Print(Expr),
    Module {
        name: Ident,
        parameters: Vec<Pattern>,
        private: Vec<Decl>,
        exported: Vec<Decl>,
    },
    Instance {
        name: Ident,
        module: Path,
        arguments: Vec<Expr>,
    },
    Timed {
        steps: Option<Expr>,
        decls: Vec<Decl>,
    },
    /// `f :: T`, before it is joined with what it speaks of.
    Annotation {
        names: Vec<Ident>,
        scheme: Scheme,
    },
}

/// `f(p, q)(r) = body`
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    pub span: Span,
    /// One list per pair of parentheses.
    pub parameters: Vec<Vec<Pattern>>,
    pub body: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Constructor {
    pub span: Span,
    pub name: Ident,
    pub fields: Option<Expr>,
    pub annotation: Option<Scheme>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Assertion {
    pub span: Span,
    pub negated: bool,
    pub claim: Claim,
    pub options: Vec<ModelOption>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    Refines(Expr, Model, Expr),
    Property(Expr, Property, Option<Model>),
    HasTrace(Expr, Vec<Expr>, Option<Model>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    DeadlockFree,
    DivergenceFree,
    Deterministic,
}

/// What of a process is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    Traces,
    Failures,
    FailuresDivergences,
    Revivals,
    RevivalsDivergences,
    Refusals,
    RefusalsDivergences,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ModelOption {
    TauPriority(Expr),
    PartialOrder(Option<Arc<str>>),
}

/// `(Eq a, Ord b) => T`
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    pub span: Span,
    pub constraints: Vec<(Constraint, Ident)>,
    pub ty: WrittenType,
}

/// What may be asked of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constraint {
    Eq,
    Ord,
    Set,
    Complete,
    Yieldable,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WrittenType {
    pub span: Span,
    pub kind: WrittenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WrittenKind {
    Name(Path),
    Set(Box<WrittenType>),
    Seq(Box<WrittenType>),
    Tuple(Vec<WrittenType>),
    Map(Box<WrittenType>, Box<WrittenType>),
    Function(Vec<WrittenType>, Box<WrittenType>),
    Dot(Box<WrittenType>, Box<WrittenType>),
    /// `a => b`
    Dotable(Box<WrittenType>, Box<WrittenType>),
    /// `a =>* b`
    Extendable(Path, Box<WrittenType>),
    Paren(Box<WrittenType>),
}
