//! A script with all its names resolved: what is evaluated.
//!
//! A [`Unit`] is a piece of code with places (*slots*) for its names: a function, a definition, a process that is
//! looked at later. What it needs from around it is *captured*: copied into its slots when it is made. So a unit and
//! the values that it has captured say all about it, and two that are equal are one.

use super::{ConstantId, DataId, Value};
use crate::tree::{Binary, Model, Property, Synchronised, Unary};
use kanon_language::lang::diag::Span;
use std::sync::Arc;

pub type Slot = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u32);

#[derive(Clone, Debug)]
pub struct Code {
    pub span: Span,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Value(Value),
    Slot(Slot),
    Global(usize),
    /// A definition of a `let` whose frame is in the slot.
    Member(Slot, usize),
    Tuple(Vec<Code>),
    Dot(Box<Code>, Box<Code>),
    Apply(Box<Code>, Vec<Code>),
    Function(UnitId),
    /// The frame goes into the slot.
    Let(GroupId, Slot, Box<Code>),
    If(Box<Code>, Box<Code>, Box<Code>),
    Unary(Unary, Box<Code>),
    Binary(Binary, Box<Code>, Box<Code>),
    Seq(Arc<Comprehension>),
    Set(Arc<Comprehension>),
    Productions(Arc<Comprehension>),
    Map(Vec<(Code, Code)>),
    // From here on the value is a process; operands are looked at later.
    Prefix(Box<Code>, Vec<Field>, UnitId),
    Process(crate::tree::Process, UnitId, UnitId),
    Synchronised(Synchronised, UnitId, Box<Code>, UnitId),
    Alphabetised(UnitId, Box<Code>, Box<Code>, UnitId),
    Linked(UnitId, Pairs, UnitId),
    Renamed(UnitId, Pairs),
    Hidden(UnitId, Box<Code>),
    Projected(UnitId, Box<Code>),
    Guarded(Box<Code>, Box<Code>),
    Replicated(Replicated, Vec<Stmt>, UnitId),
    /// The process itself, looked at later.
    Later(UnitId),
    /// A process that kanon does not run.
    Refused(&'static str),
}

/// What a comprehension makes of each valuation of its statements.
#[derive(Clone, Debug)]
pub struct Comprehension {
    pub span: Span,
    pub stmts: Vec<Stmt>,
    pub items: Items,
}

#[derive(Clone, Debug)]
pub enum Items {
    Listed(Vec<Code>),
    Range(Box<Code>, Option<Box<Code>>),
}

#[derive(Clone, Debug)]
pub enum Stmt {
    From(Pattern, Code),
    If(Code),
}

#[derive(Clone, Debug)]
pub struct Pairs {
    pub pairs: Vec<(Code, Code)>,
    pub stmts: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub enum Replicated {
    ExternalChoice,
    InternalChoice,
    Interleave,
    Sequence,
    Share(Box<Code>),
    SynchronisedChoice(Box<Code>),
    Alphabetised(Box<Code>),
    Linked(Pairs),
}

#[derive(Clone, Debug)]
pub struct Field {
    pub span: Span,
    pub kind: FieldKind,
}

#[derive(Clone, Debug)]
pub enum FieldKind {
    Output(Code),
    Input(Pattern, Option<Code>),
    Chosen(Pattern, Option<Code>),
}

#[derive(Clone, Debug)]
pub enum Pattern {
    Wild,
    Slot(Slot),
    Value(Value),
    Tuple(Vec<Pattern>),
    /// At least two, none of them a list itself.
    Dot(Vec<Pattern>),
    Seq(Vec<Pattern>),
    Set(Vec<Pattern>),
    /// One side has this length.
    Concatenate(Box<Pattern>, Box<Pattern>, Length),
    Both(Box<Pattern>, Box<Pattern>),
}

#[derive(Clone, Copy, Debug)]
pub enum Length {
    Left(usize),
    Right(usize),
}

#[derive(Clone, Debug)]
pub struct Unit {
    pub span: Span,
    pub name: Option<Arc<str>>,
    /// From a slot of what is around it to one of its own.
    pub captures: Vec<(Slot, Slot)>,
    pub size: usize,
    /// How many lists of arguments it takes.
    pub lists: usize,
    pub clauses: Vec<Clause>,
}

#[derive(Clone, Debug)]
pub struct Clause {
    pub patterns: Vec<Vec<Pattern>>,
    pub body: Code,
}

/// The definitions of a `let`. Slot 0 is the frame of the group itself.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub captures: Vec<(Slot, Slot)>,
    pub size: usize,
    pub members: Vec<Member>,
}

/// How a definition gets its value.
#[derive(Clone, Debug)]
pub enum Member {
    Function(UnitId),
    Value(UnitId),
    /// The values of the slots, as a tuple, after the value of the unit has been matched.
    Pattern {
        unit: UnitId,
        slots: Vec<Slot>,
        pattern: Pattern,
        size: usize,
        span: Span,
    },
    /// One of these.
    Part(usize, usize),
    Constant(ConstantId),
    Data(DataId),
    Subtype(Vec<(ConstantId, Option<UnitId>, Span)>),
    Nametype(UnitId),
    Known(Value),
    /// Nothing reads it before it is replaced.
    Nothing,
}

/// A constructor or a channel.
#[derive(Clone, Debug)]
pub struct Constant {
    pub name: Arc<str>,
    pub span: Span,
    /// None for a channel.
    pub data: Option<DataId>,
    pub fields: Option<UnitId>,
}

#[derive(Clone, Debug)]
pub struct Datatype {
    pub name: Arc<str>,
    pub constructors: Vec<ConstantId>,
}

/// What a script claims.
#[derive(Clone, Debug)]
pub struct Assertion {
    pub span: Span,
    pub negated: bool,
    pub claim: Claim,
    /// Some events are to be less urgent than tau.
    pub prioritised: bool,
}

#[derive(Clone, Debug)]
pub enum Claim {
    Refines(UnitId, Model, UnitId),
    Property(UnitId, Property, Option<Model>),
    HasTrace(UnitId, Vec<UnitId>, Option<Model>),
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub units: Vec<Unit>,
    pub groups: Vec<Group>,
    pub globals: Vec<Member>,
    pub constants: Vec<Constant>,
    pub data: Vec<Datatype>,
    /// What is defined at the top, in the order of the text.
    pub names: Vec<(crate::tree::Ident, usize)>,
    /// The channels that are declared at the top.
    pub channels: Vec<ConstantId>,
    pub assertions: Vec<Assertion>,
    /// What `print` says.
    pub prints: Vec<UnitId>,
}
