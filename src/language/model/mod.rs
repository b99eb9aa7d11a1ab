//! The typed model: what every front-end ends in and every engine starts from.
//!
//! Names are resolved, types are known, machines are composed, definitions are gone. Operation
//! calls are still calls. Absent on purpose: values, sizes of deferred sets, how anything is computed.

pub mod check;
pub mod fixing;
pub mod left_out;
pub mod load;
pub mod open;
pub mod paths;
pub mod raise;
pub mod reading;
pub mod scope;
pub mod sequents;
pub mod simulation;
pub mod tower;
pub mod types;
pub mod variants;
pub mod visit;
pub mod whole;

pub use crate::lang::ast::{BinOp, Binder, Fun, Lit, Quant, UnOp};
pub use crate::lang::composed::{Fact, Obligation, Promise};
use crate::lang::diag::Span;
pub use left_out::{Left, LeftOut};
use num_bigint::BigInt;
use num_rational::BigRational;
use std::collections::BTreeSet;
use std::sync::Arc;
pub use types::{FreeCase, FreeDef, FreeType, Type};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            pub fn index(self) -> usize { self.0 as usize }
        }
    )*};
}

ids! {
    /// A given set: deferred or enumerated, index into [`Model::sets`].
    SetId,
    /// Index into [`Model::constants`].
    ConstId,
    /// Index into [`Model::variables`].
    VarId,
    /// A bound variable, parameter or result; unique in the whole model, index into [`Model::locals`].
    LocalId,
    /// Index into [`Model::operations`].
    OpId
}

#[derive(Clone, Debug)]
pub struct GivenSet {
    pub name: Arc<str>,
    /// The names of an enumerated set's elements; `None` for a deferred set.
    pub elements: Option<Vec<Arc<str>>>,
    /// The names of a deferred set's first elements, as many as have one.
    pub named: Vec<Arc<str>>,
    /// A set that is a machine parameter counts as deferred.
    pub is_parameter: bool,
    pub span: Span,
}

/// A freetype as it is declared.
#[derive(Clone, Debug)]
pub struct FreeDecl {
    pub ty: FreeType,
    /// For each constructor the set that its argument is from, if it takes one. Nothing in it is free: it has the same
    /// value everywhere. A value of the type that is not made of such arguments does not exist. Nothing is listed of a
    /// datatype with type parameters: its type is only a pattern, and see [`Model::arguments`].
    pub arguments: Vec<Option<Expr>>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Decl {
    pub name: Arc<str>,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub name: Arc<str>,
    pub params: Vec<LocalId>,
    pub results: Vec<LocalId>,
    pub body: Stmt,
    /// Whether it is a transition of the machine; otherwise it is only called.
    pub is_event: bool,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub name: Arc<str>,
    pub sets: Vec<GivenSet>,
    /// In the order of the family of their types.
    pub freetypes: Vec<FreeDecl>,
    /// CONSTANTS, and scalar machine parameters.
    pub constants: Vec<Decl>,
    /// PROPERTIES and CONSTRAINTS, conjunct by conjunct.
    pub properties: Vec<Expr>,
    pub variables: Vec<Decl>,
    /// Conjunct by conjunct.
    pub invariant: Vec<Expr>,
    pub assertions: Vec<Expr>,
    pub initialisation: Stmt,
    pub operations: Vec<Operation>,
    pub locals: Vec<Decl>,
    pub goal: Option<Expr>,
    /// `ASSERT_LTL…` definitions: name and formula, kept as text.
    pub ltl: Vec<(Arc<str>, Arc<str>)>,
    pub scope: ScopeHints,
    /// What a refinement says about variables of its abstraction, which are no part of the model.
    pub left_out: Vec<LeftOut>,
    /// Elements that are named in what was left out, or in the text of an abstraction.
    pub named_above: BTreeSet<(SetId, u32)>,
    /// What the file says about proofs.
    pub obligations: Vec<Obligation>,
    /// What follows from it about events: nobody relies on it who was not told to.
    pub kept: Vec<Fact>,
    /// What ASSERTs in the operations are for, of a language whose refinements promise something.
    pub promises: Vec<Promise>,
}

/// What the model itself says about sizes; the command line wins over it.
#[derive(Clone, Debug, Default)]
pub struct ScopeHints {
    /// `scope_S == 3` or `scope_S == 1..3`
    pub card: Vec<(SetId, u64, Span)>,
    pub minint: Option<BigInt>,
    pub maxint: Option<BigInt>,
    pub default_setsize: Option<u64>,
    /// Least sizes that the language knows of.
    pub least: Vec<(SetId, u64, Span)>,
    /// The size of each given set, once it has been chosen: then elements of deferred sets have names.
    pub sizes: Vec<u64>,
}

/// Predicates have [`Type::Pred`]; everything else is an expression. Two are equal when they read alike,
/// wherever they stand.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.kind == other.kind && self.ty == other.ty
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Const(ConstId),
    Var(VarId),
    /// `x$0`: the value of a variable before the substitution.
    Old(VarId),
    /// `y$0` of a local (a VAR or result).
    OldLocal(LocalId),
    Local(LocalId),
    /// A given set as a whole.
    Given(SetId),
    /// An element of an enumerated set, by its place in the declaration.
    Elem(SetId, u32),
    Int(BigInt),
    Str(Arc<str>),
    /// An exact real number.
    Real(BigRational),
    /// `Lit::EmptySet` and `Lit::EmptySeq` have a concrete set type in `ty`. `btrue`, `bfalse` are predicates.
    Lit(Lit),
    /// Arithmetic negation is `UnOp::Neg`; `UnOp::Not` has type Pred.
    Unary(UnOp, Box<Expr>),
    /// `Sub` and `Mul` are arithmetic here; on sets they became `Diff` and `Product`.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `S * T` on sets
    Product(Box<Expr>, Box<Expr>),
    /// `f(x)`, one argument: several became a pair.
    Apply(Box<Expr>, Box<Expr>),
    Image(Box<Expr>, Box<Expr>),
    /// `prj1(S,T)(x)` is an `Apply` of `Call(Prj1, [S, T])`; `prj1(p)` with one argument, a pair, is `First`/`Second`.
    Call(Fun, Vec<Expr>),
    First(Box<Expr>),
    Second(Box<Expr>),
    Quant(Quant, Vec<LocalId>, Box<Expr>),
    Bind(Binder, Vec<LocalId>, Box<Expr>, Box<Expr>),
    /// `{x, y | P}`; elements are left-nested pairs `(x |-> y) |-> z`.
    Compr(Vec<LocalId>, Box<Expr>),
    ComprMap(Vec<LocalId>, Box<Expr>, Box<Expr>),
    SetExt(Vec<Expr>),
    SeqExt(Vec<Expr>),
    /// Fields in the order of the record type (sorted by name).
    Rec(Vec<Expr>),
    Struct(Vec<Expr>),
    /// Field by its place in the record type.
    Field(Box<Expr>, u32),
    /// `bool(P)`
    Bool(Box<Expr>),
    /// A predicate when its branches are, an expression otherwise.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Each local with its value, in an order in which each may use the earlier ones.
    Let(Vec<(LocalId, Expr)>, Box<Expr>),
    /// Whether an expression or a predicate has a value; it always has one itself. Not written by anybody: see
    /// [`reading`].
    HasValue(Box<Expr>),
    /// True if the predicate is; has no value if it is false.
    Demand(Box<Expr>),
}

#[derive(Clone, Debug, Default)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// What an assignment writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Var(VarId),
    Local(LocalId),
}

/// The left side of an assignment: `x`, `f(a)`, `f(a)(b)`, `r'a`: a target and the path into it.
#[derive(Clone, Debug)]
pub struct Lhs {
    pub target: Target,
    pub path: Vec<Access>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Access {
    /// `f(E)`: the function is overridden at E.
    Index(Expr),
    /// Field by its place in the record type.
    Field(u32),
}

#[derive(Clone, Debug, Default)]
pub enum StmtKind {
    #[default]
    Skip,
    /// As many left as right sides, all evaluated before anything is written.
    Assign(Vec<(Lhs, Expr)>),
    /// Several left sides take a left-nested pair.
    BecomesElement(Vec<Lhs>, Expr),
    /// The predicate speaks of the new values by `fresh` locals (one for each target) and of the old ones
    /// by `Old`/`OldLocal`.
    BecomesSuch {
        targets: Vec<Target>,
        fresh: Vec<LocalId>,
        pred: Expr,
    },
    Pre(Expr, Box<Stmt>),
    Assert(Expr, Box<Stmt>),
    Select(Vec<(Expr, Stmt)>, Option<Box<Stmt>>),
    Choice(Vec<Stmt>),
    If(Vec<(Expr, Stmt)>, Option<Box<Stmt>>),
    Case(Expr, Vec<(Vec<Expr>, Stmt)>, Option<Box<Stmt>>),
    Any(Vec<LocalId>, Expr, Box<Stmt>),
    Let(Vec<(LocalId, Expr)>, Box<Stmt>),
    Var(Vec<LocalId>, Box<Stmt>),
    Seq(Vec<Stmt>),
    Par(Vec<Stmt>),
    While {
        cond: Expr,
        body: Box<Stmt>,
        invariant: Expr,
        variant: Expr,
    },
    Call {
        results: Vec<Lhs>,
        op: OpId,
        args: Vec<Expr>,
    },
}

/// The name of a given set's element: as declared, or `S1`, `S2`, … where a deferred set has none.
pub fn element_name(model: &Model, set: SetId, index: u32) -> String {
    let given = &model.sets[set.index()];
    match given.elements.as_ref().unwrap_or(&given.named).get(index as usize) {
        Some(name) => name.to_string(),
        None => format!("{}{}", given.name, index + 1),
    }
}

/// Whether a constant is one that nobody wrote: it stands for a recursive operator of a theory.
pub fn is_made_up(name: &str) -> bool {
    name.contains('·')
}

impl Model {
    pub fn local(&self, id: LocalId) -> &Decl {
        &self.locals[id.index()]
    }

    /// Whether there is anything to choose for constants, or to check. Constants that a language made up (see
    /// [`is_made_up`]) are defined each by one property.
    pub fn has_constants(&self) -> bool {
        let made_up = self.constants.iter().filter(|c| is_made_up(&c.name)).count();
        self.constants.len() > made_up || self.properties.len() > made_up
    }

    /// For each constructor of a freetype the set that its argument is from, if it takes one.
    pub fn arguments(&self, free: &FreeType) -> Option<Vec<Option<Expr>>> {
        if free.def().parameters.is_none() {
            return self.freetypes.get(free.at as usize).map(|decl| decl.arguments.clone());
        }
        let set = |case| free.argument(case).map(|ty| whole::whole(&ty, Span::default()));
        Some((0..free.def().cases.len() as u32).map(set).collect())
    }

    pub fn set_named(&self, name: &str) -> Option<SetId> {
        self.sets.iter().position(|s| &*s.name == name).map(|i| SetId(i as u32))
    }
}
