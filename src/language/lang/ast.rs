//! The syntax tree that every front-end ends in. Predicates and expressions are one type:
//! B's macro definitions may be either, and the type checker tells them apart.

use crate::lang::diag::Span;
use crate::lang::external::External;
use num_bigint::BigInt;
use std::sync::Arc;

/// An identifier as written; a renamed one carries its prefix (`x.M` style: `"left.count"`).
pub type Name = Arc<str>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

impl Expr {
    /// `a op b op c`: its operands from left to right; itself if it is no such chain.
    pub fn operands(&self, op: BinOp) -> Vec<&Expr> {
        let (mut found, mut open) = (vec![], vec![self]);
        while let Some(e) = open.pop() {
            match &e.kind {
                ExprKind::Binary(o, a, b) if *o == op => open.extend([&**b, &**a]),
                _ => found.push(e),
            }
        }
        found
    }

    /// Its conjuncts from left to right.
    pub fn conjuncts(&self) -> Vec<&Expr> {
        self.operands(BinOp::And)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A name: variable, constant, set, element, parameter, local, or an argumentless definition.
    Name(Name),
    /// `x$0`, the value before, in `x :(P)` and WHILE invariants.
    Old(Name),
    Int(BigInt),
    Str(Arc<str>),
    /// A real number as written: `1.5`.
    Real(Arc<str>),
    Lit(Lit),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `f(x, y)`; several arguments mean `f(x |-> y)`. Also a call of a definition with parameters.
    Apply(Box<Expr>, Vec<Expr>),
    /// `r[S]`
    Image(Box<Expr>, Box<Expr>),
    /// A built-in function with its arguments: `card(S)`, `iterate(r, n)`.
    Call(Fun, Vec<Expr>),
    Quant(Quant, Vec<Ident>, Box<Expr>),
    /// `%x.(P|E)`, SIGMA, PI, UNION, INTER: the predicate, then the expression.
    Bind(Binder, Vec<Ident>, Box<Expr>, Box<Expr>),
    /// `{x, y | P}`
    Compr(Vec<Ident>, Box<Expr>),
    /// `{x, y . P | E}` (ProB and Event-B)
    ComprMap(Vec<Ident>, Box<Expr>, Box<Expr>),
    SetExt(Vec<Expr>),
    SeqExt(Vec<Expr>),
    /// `rec(a: 1, b: 2)`; a missing field name (`rec(1, 2)`) is a syntax error.
    Rec(Vec<(Ident, Expr)>),
    /// `struct(a: S, b: T)`
    Struct(Vec<(Ident, Expr)>),
    /// `r'a`
    Field(Box<Expr>, Ident),
    /// `bool(P)`
    Bool(Box<Expr>),
    /// `IF P THEN E ELSE F END` as expression or predicate
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `LET x, y BE x = E & y = F IN G END` as expression or predicate
    Let(Vec<Ident>, Box<Expr>, Box<Expr>),
    /// `E ⦂ T` (Event-B): the first, which has the type of the second's elements.
    Typed(Box<Expr>, Box<Expr>),
    /// True; the first has the type of the second's elements (Event-B says types in predicates).
    HasType(Box<Expr>, Box<Expr>),
    /// The first is less than the second: a smaller number, the second not negative, or a strict subset, as the types
    /// decide. What a variant (Event-B) demands.
    Below(Box<Expr>, Box<Expr>),
    /// A number that is not negative, or any set, as the type decides. What a variant has to be.
    Bounded(Box<Expr>),
}

/// Names of fixed meaning without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lit {
    True,
    False,
    /// The predicates `btrue` and `bfalse` (also `true`/`false` where ProB accepts them).
    BTrue,
    BFalse,
    BoolSet,
    Integer,
    Natural,
    Natural1,
    IntSet,
    NatSet,
    Nat1Set,
    MaxInt,
    MinInt,
    StringSet,
    EmptySet,
    EmptySeq,
    /// `id` and projections without argument belong to Event-B; here they are [`Fun`]s.
    Succ,
    Pred,
    RealSet,
    FloatSet,
    /// All values of a type, which where it stands decides (Event-B: `id` and `prj1` are about whole types). The typed
    /// model has the set itself instead.
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    Not,
    /// Arithmetic minus
    Neg,
    /// `r~`
    Inverse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    // predicates over predicates
    And,
    Or,
    Implies,
    Iff,
    // predicates over expressions
    Eq,
    Neq,
    In,
    NotIn,
    Subset,
    NotSubset,
    StrictSubset,
    NotStrictSubset,
    Lt,
    Le,
    Gt,
    Ge,
    // arithmetic; `-` and `*` are also set difference and product: the types decide
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    Interval,
    // pairs and sets
    Pair,
    Union,
    Inter,
    /// `S \ T`, set difference only
    Diff,
    /// `S × T`, sets only (Event-B, where numbers are multiplied by another operator)
    Product,
    // relations and functions
    Rel,
    TotalRel,
    SurjRel,
    TotalSurjRel,
    PartialFun,
    TotalFun,
    PartialInj,
    TotalInj,
    PartialSurj,
    TotalSurj,
    PartialBij,
    TotalBij,
    DomRestrict,
    DomSubtract,
    RanRestrict,
    RanSubtract,
    Override,
    /// `f >< g`, direct product
    DirectProduct,
    /// `f || g`, parallel product
    ParallelProduct,
    /// `r ; s`
    Compose,
    // sequences
    Concat,
    /// `E -> s`
    Prepend,
    /// `s <- E`
    Append,
    /// `s /|\ n`
    TakeFirst,
    /// `s \|/ n`
    DropFirst,
}

/// Built-in functions with arguments in parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fun {
    Card,
    Min,
    Max,
    Dom,
    Ran,
    Id,
    Prj1,
    Prj2,
    /// `union(S)`, `inter(S)`
    GenUnion,
    GenInter,
    Pow,
    Pow1,
    Fin,
    Fin1,
    Seq,
    Seq1,
    Iseq,
    Iseq1,
    Perm,
    Size,
    First,
    Last,
    Front,
    Tail,
    Rev,
    Conc,
    Closure,
    Closure1,
    Iterate,
    Fnc,
    Rel,
    Succ,
    Pred,
    /// `mu(S)`: the element of a singleton
    Mu,
    /// A function of ProB's kernel, or an operator on trees
    External(External),
    /// `real(i)`, `floor(r)`, `ceiling(r)`
    Real,
    Floor,
    Ceiling,
    /// A constructor of a freetype, by its place in the declaration. Not written by anybody: the typed model has it where a
    /// name stands, which the type checker knows to be a constructor. So are the next two.
    Construct(u32),
    /// The argument that the constructor was given.
    Destruct(u32),
    /// Whether the value was made by the constructor, as a truth value.
    IsCase(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quant {
    Forall,
    Exists,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binder {
    Lambda,
    Sigma,
    Pi,
    Union,
    Inter,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Subst {
    pub kind: SubstKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SubstKind {
    Skip,
    /// `x, f(y), r'a := E, F, G`. A single right side may be a pair for several left sides.
    Assign(Vec<Expr>, Vec<Expr>),
    /// `x, y :: S`
    BecomesElement(Vec<Expr>, Expr),
    /// `x, y :(P)`
    BecomesSuch(Vec<Ident>, Expr),
    Pre(Expr, Box<Subst>),
    Assert(Expr, Box<Subst>),
    /// `SELECT P THEN S WHEN … ELSE T END`
    Select(Vec<(Expr, Subst)>, Option<Box<Subst>>),
    Choice(Vec<Subst>),
    If(Vec<(Expr, Subst)>, Option<Box<Subst>>),
    /// `CASE E OF EITHER l THEN S OR … ELSE T END END`
    Case(Expr, Vec<(Vec<Expr>, Subst)>, Option<Box<Subst>>),
    Any(Vec<Ident>, Expr, Box<Subst>),
    /// `LET x BE x = E IN S END`
    Let(Vec<Ident>, Expr, Box<Subst>),
    Var(Vec<Ident>, Box<Subst>),
    Block(Box<Subst>),
    Seq(Vec<Subst>),
    Par(Vec<Subst>),
    While {
        cond: Expr,
        body: Box<Subst>,
        invariant: Expr,
        variant: Expr,
    },
    /// `r, s <-- op(x, y)`; also a call of a definition that is a substitution.
    Call {
        results: Vec<Expr>,
        op: Ident,
        args: Vec<Expr>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineKind {
    /// MACHINE, MODEL or SYSTEM
    Machine,
    Refinement,
    Implementation,
}

/// One machine as written, definitions expanded, other machines not yet looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub kind: MachineKind,
    pub name: Ident,
    /// Set parameters are upper case, scalar ones lower case.
    pub params: Vec<Ident>,
    pub constraints: Option<Expr>,
    pub refines: Option<Ident>,
    pub sees: Vec<Ident>,
    pub uses: Vec<Ident>,
    pub includes: Vec<MachineRef>,
    pub extends: Vec<MachineRef>,
    pub imports: Vec<MachineRef>,
    pub promotes: Vec<Ident>,
    pub sets: Vec<SetDecl>,
    pub freetypes: Vec<FreeDecl>,
    /// CONSTANTS and CONCRETE_CONSTANTS, then ABSTRACT_CONSTANTS.
    pub constants: Vec<Ident>,
    pub abstract_constants: Vec<Ident>,
    pub properties: Option<Expr>,
    /// CONCRETE_VARIABLES; VARIABLES and ABSTRACT_VARIABLES are in `variables`.
    pub concrete_variables: Vec<Ident>,
    pub variables: Vec<Ident>,
    pub invariant: Option<Expr>,
    pub assertions: Vec<Expr>,
    pub initialisation: Option<Subst>,
    pub operations: Vec<Operation>,
    pub local_operations: Vec<Operation>,
    /// VALUES: `S = {a, b}; c = 3`
    pub values: Vec<(Ident, Expr)>,
    /// Clauses that are parsed only to be refused with their place.
    pub unsupported: Vec<(Span, String)>,
    /// Definitions that are kept because tools give them a meaning: GOAL, ASSERT_LTL…, scope_…,
    /// SET_PREF_…, ANIMATION_… are dropped here unless listed; expanded like everything else.
    pub tool_definitions: Vec<(Ident, Expr)>,
    pub span: Span,
}

impl Machine {
    /// A machine without a clause.
    pub fn empty(kind: MachineKind, name: Ident, span: Span) -> Machine {
        Machine {
            kind,
            name,
            params: vec![],
            constraints: None,
            refines: None,
            sees: vec![],
            uses: vec![],
            includes: vec![],
            extends: vec![],
            imports: vec![],
            promotes: vec![],
            sets: vec![],
            freetypes: vec![],
            constants: vec![],
            abstract_constants: vec![],
            properties: None,
            concrete_variables: vec![],
            variables: vec![],
            invariant: None,
            assertions: vec![],
            initialisation: None,
            operations: vec![],
            local_operations: vec![],
            values: vec![],
            unsupported: vec![],
            tool_definitions: vec![],
            span,
        }
    }
}

/// `prefix.Name(args)` in INCLUDES, EXTENDS, IMPORTS (SEES and USES take `prefix.Name` too).
#[derive(Clone, Debug, PartialEq)]
pub struct MachineRef {
    /// The last part of the dotted name; what stands before it is the prefix.
    pub name: Ident,
    pub prefix: Option<Name>,
    pub args: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SetDecl {
    pub name: Ident,
    /// `None` for a deferred set.
    pub elements: Option<Vec<Ident>>,
}

/// `T = c, d(S)`: a freetype and its constructors, each with the set that its argument is from.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeDecl {
    pub name: Ident,
    /// The type parameters of a datatype of Event-B, `T(A, B)`; the sets of its arguments are whole types.
    pub parameters: Option<Vec<Ident>>,
    pub cases: Vec<(Ident, Option<Expr>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub name: Ident,
    pub results: Vec<Ident>,
    pub params: Vec<Ident>,
    pub body: Subst,
}
