//! Compiled expressions and predicates: a tree with slots instead of names and operations chosen by
//! representation, walked directly.
//!
//! Word nodes answer [`Node::word`] without building a value. Predicates follow Kleene (see [`crate::eval`]).
//! Here are the trees and the environment; `eval` walks them, `closure` has comprehensions and what is made of those that
//! cannot be expanded.

pub mod by_element;
mod closure;
mod eval;
mod function;
mod generate;
pub mod grow;
mod solved;
mod special;

pub use super::env::{Env, Slot};
pub use closure::{Recursive, tuple_rep};
pub use eval::settled;
pub(super) use eval::{binary, unary};
pub use function::{Arith, Function};
pub use generate::{Cut, Generator, Pattern};
pub use solved::{Answer, Asking, Name, Oracle, Question, Solved};
pub use special::{Part, Special, While};

use super::env::Then;
use super::plan::{Formula, Plan, PlanStep};
use super::tier::{Tier, Values};
use crate::lang::diag::Span;
use crate::lang::external::External;
use crate::model::{LocalId, Type};
use crate::value::external::Names;
use crate::value::fault::Res;
use crate::value::ops::{self, Restrict};
use crate::value::rep::R;
use crate::value::val::{FunKind, IntSet, SeqKind, Val};
use std::cmp::Ordering;
use std::sync::{Arc, Mutex};

pub type N = Box<Node>;

#[derive(Clone, Debug)]
pub enum Node {
    Const(Val),
    Slot(Slot, Span),
    /// `bool(P)`
    Bool(Box<Test>),
    // -- words: ordinals and masks
    PairW {
        a: N,
        b: N,
        nb: u64,
    },
    FirstW {
        p: N,
        nb: u64,
    },
    SecondW {
        p: N,
        nb: u64,
    },
    OrW(N, N),
    AndW(N, N),
    AndNotW(N, N),
    SingleW(N),
    ApplyW {
        f: N,
        x: N,
        nb: u32,
        span: Span,
    },
    ImageW {
        r: N,
        s: N,
        nb: u32,
    },
    DomW {
        r: N,
        na: u32,
        nb: u32,
    },
    RanW {
        r: N,
        na: u32,
        nb: u32,
    },
    InverseW {
        r: N,
        na: u32,
        nb: u32,
    },
    ComposeW {
        r: N,
        s: N,
        na: u32,
        nb: u32,
        nc: u32,
    },
    OverrideW {
        r: N,
        s: N,
        na: u32,
        nb: u32,
    },
    UpdateW {
        f: N,
        x: N,
        y: N,
        nb: u32,
    },
    RestrictW {
        how: Restrict,
        r: N,
        s: N,
        na: u32,
        nb: u32,
    },
    ProductW {
        a: N,
        b: N,
        nb: u32,
    },
    // -- everything else
    Unary {
        op: Unary,
        a: N,
        rep: R,
        out: R,
        span: Span,
    },
    Binary {
        op: Binary,
        a: N,
        b: N,
        ra: R,
        rb: R,
        out: R,
        span: Span,
    },
    Update {
        f: N,
        x: N,
        y: N,
        rep: R,
        span: Span,
    },
    SetExt(Vec<Node>, R),
    SeqExt(Vec<Node>, R),
    Rec(Vec<Node>, R),
    Field {
        a: N,
        index: usize,
        rep: R,
    },
    WithField {
        a: N,
        index: usize,
        v: N,
        rep: R,
    },
    Fun {
        kind: FunKind,
        from: N,
        to: N,
        out: R,
    },
    Struct(Vec<Node>, R),
    Compr(Arc<Compr>),
    Sum {
        over: Arc<Compr>,
        product: bool,
    },
    /// UNION, INTER over a comprehension of sets.
    Gather {
        over: Arc<Compr>,
        inter: bool,
        span: Span,
    },
    If(Box<Test>, N, N),
    Let(Vec<(Slot, Node)>, N),
    /// Expands a symbolic set whose representation is bits.
    Force(N, R),
    External(Box<Call>),
    Typed(Box<Typed>),
}

/// An operation on real numbers or values of freetypes, which are never words.
#[derive(Clone, Debug)]
pub struct Typed {
    pub op: TypedOp,
    pub args: Vec<Node>,
    pub out: R,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TypedOp {
    Real(ops::Real),
    Neg,
    FromInt,
    Floor,
    Ceiling,
    /// The constructor, and the form of its argument.
    Construct(u32, Option<R>),
    Destruct(u32),
    IsCase(u32),
    /// A freetype: for each constructor whether its arguments are in the next of the sets, and their form.
    Freetype(Vec<Option<R>>),
}

/// A call of a function of ProB's kernel.
#[derive(Clone, Debug)]
pub struct Call {
    pub fun: External,
    pub args: Vec<Node>,
    pub types: Vec<Type>,
    pub reps: Vec<R>,
    pub ty: Type,
    pub out: R,
    pub names: Names,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Neg,
    First,
    Second,
    Card,
    Min,
    Max,
    Dom,
    Ran,
    Inverse,
    GenUnion,
    GenInter,
    Pow { nonempty: bool, finite: bool },
    Seqs(SeqKind),
    Identity,
    Closure,
    Closure1,
    Size,
    FirstItem,
    LastItem,
    Front,
    Tail,
    Rev,
    Conc,
    Mu,
    Fnc,
    Rel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Power,
    Interval,
    Pair,
    Union,
    Inter,
    Diff,
    Product,
    Apply,
    Image,
    /// `closure1(r)[s]`
    Reached,
    Restrict(Restrict),
    Override,
    Compose,
    DirectProduct,
    ParallelProduct,
    Concat,
    Prepend,
    Append,
    TakeFirst,
    DropFirst,
    /// The sequences over a set that are not longer than a number.
    Seqs(SeqKind),
    Iterate,
    Prj1,
    Prj2,
}

/// A comprehension, lambda or quantified sum: how to enumerate it and how to test it.
#[derive(Clone, Debug)]
pub struct Compr {
    pub locals: Vec<LocalId>,
    pub plan: Plan,
    /// The bound slots, left to right, and how an element splits into them (left-nested pairs).
    pub slots: Vec<Slot>,
    pub slot_reps: Vec<R>,
    /// The whole predicate, for membership tests.
    pub test: Test,
    /// What an element is: the tuple of the bound variables, or an expression over them.
    pub element: Node,
    /// For a lambda: the value at the bound variables.
    pub value: Option<Node>,
    /// Representation of the set of elements (for sums: of the elements' set, by solution).
    pub rep: R,
    /// Whether the tuple determines the element (no second solution gives the same one by another way).
    pub is_map: bool,
    pub infinite: bool,
    /// For an infinite relation `{x, y | P}`: how to find y when x is known.
    pub pointwise: Option<Plan>,
    /// For an infinite set of integers: what is demanded of an element, if that is all.
    pub ranges: Option<Vec<RangePart>>,
    /// For an infinite lambda: what its form says of it as a whole.
    pub function: Option<Function>,
    pub span: Span,
    /// What it was computed to last; not for sums and the like.
    pub last: Option<Arc<Last>>,
}

/// The last value of a comprehension, which is the same as long as what it reads is.
#[derive(Debug)]
pub struct Last {
    pub reads: Vec<Slot>,
    pub value: Mutex<Option<(Vec<Val>, Val)>>,
}

/// What a conjunct says of the one integer that is bound: it is in a set, or it compares with a number.
#[derive(Clone, Debug)]
pub enum RangePart {
    In { set: Node, rep: R, negated: bool },
    Cmp(Cmp, Node),
    Is { value: Node, negated: bool },
}

/// A predicate of the general tier.
pub type Test = Formula<Values>;

/// A test without connectives.
#[derive(Clone, Debug)]
pub enum Atom {
    EqW(N, N),
    InW(N, N),
    SubsetW(N, N),
    /// Strict subset of words
    StrictW(N, N),
    Eq(N, N, R),
    Cmp(N, N, Cmp),
    /// Real numbers.
    CmpReal(N, N, Cmp),
    /// The representation is the set's.
    In(N, N, R),
    Subset(N, N, R),
    /// A finite subset.
    FiniteSubset(N, N, R),
    Strict(N, N, R),
    InInts(N, IntSet),
    InInterval {
        x: N,
        lo: N,
        hi: N,
    },
    InFun {
        kind: FunKind,
        f: N,
        from: N,
        to: N,
        rep: R,
    },
    InSeq {
        kind: SeqKind,
        s: N,
        of: N,
        rep: R,
    },
    /// x ∈ {y | P}: x is split into the bound slots and P is tested.
    InCompr {
        x: N,
        over: Arc<Compr>,
    },
    /// The expression has a value; the type says the rest.
    Defined(N),
}

impl Tier for Values {
    type Env = Env;
    type Value = Val;
    type Node = Node;
    type Assigned = (Slot, Node, R);
    type Atom = Atom;
    type Generator = Generator;
    type Special = Special;

    #[inline]
    fn slots(env: &mut Env) -> &mut [Val] {
        &mut env.slots
    }

    #[inline]
    fn value(node: &Node, env: &mut Env) -> Res<Val> {
        node.val(env)
    }

    #[inline]
    fn target(a: &(Slot, Node, R)) -> Slot {
        a.0
    }

    #[inline]
    fn assigned((_, node, rep): &(Slot, Node, R), env: &mut Env) -> Res<Val> {
        settled(node.val(env)?, rep)
    }

    #[inline]
    fn integer(node: &Node, env: &mut Env) -> Res<Val> {
        node.val(env)
    }

    #[inline]
    fn of_integer(i: i64, _: &Env) -> Val {
        Val::I(i)
    }

    #[inline]
    fn of_ordinal(w: u64) -> Val {
        Val::W(w)
    }

    #[inline]
    fn holds(atom: &Atom, env: &mut Env) -> Res<bool> {
        atom.holds(env)
    }

    #[inline(always)]
    fn once(_: &Generator, _: &mut Env) -> Option<bool> {
        None
    }

    fn generate(g: &Generator, env: &mut Env, mut next: impl FnMut(&mut Env) -> Res<bool>) -> Res<bool> {
        g.run(env, &mut next)
    }

    fn special(s: &Special, env: &mut Env, then: Then) -> Res<bool> {
        s.run(env, then)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cmp {
    Lt,
    Le,
    Gt,
    Ge,
}

impl Cmp {
    #[inline]
    pub(super) fn holds(self, o: Ordering) -> bool {
        match self {
            Cmp::Lt => o == Ordering::Less,
            Cmp::Le => o != Ordering::Greater,
            Cmp::Gt => o == Ordering::Greater,
            Cmp::Ge => o != Ordering::Less,
        }
    }
}
