//! Expressions and predicates of the typed model as terms, at a scope.
//!
//! **Shapes.** A truth value is a boolean term; an integer, an element of a given set or a string is a list of
//! [`Sym::One`] options, exactly one of which is true, or an integer term if its values are many or unbounded; pairs
//! and records are their parts; a set is [`Sym::Set`], rows of values that may be elements, each with the condition
//! under which it is one. Whatever has no row is no element. A relation is such a set, so its rows are a matrix.
//! Sets that are infinite or that nobody has listed yet stay [`Lazy`], a constructor over encoded parts, as they do in
//! [`crate::eval::reference`], whose four questions (`has`, `images`, `expand`, is it infinite) are asked here too.
//!
//! **Definedness.** An expression is a value and the condition under which it has one ([`Val`]); when it has none the
//! value is anything. A predicate is the condition under which it is true and the one under which it is false
//! ([`Truth`]); the connectives over these two are the chosen reading of undefined terms, all of it in `logic.rs`.
//!
//! **Quantifiers** unfold over what the predicate lets the bound variables be (`sweep.rs`), within a budget. In
//! PROPERTIES one over too many values may become a question of its own (`kanon_solver::quantified`).
//!
//! Absent on purpose: solvers; guesses. What has no formula is refused with its place.

mod expand;
mod expr;
mod images;
mod logic;
mod number;
mod pred;
mod seq;
mod set;
mod shape;
mod sweep;
mod value;

pub use shape::{Hull, Shape};
pub use sweep::Slot;
pub(in crate::symbolic) use sweep::attempt;

use super::{Refused, RefusedKind, Res};
use crate::lang::diag::Span;
use crate::model::{BinOp, ConstId, Expr, ExprKind, Fun, LocalId, Model, Type, VarId};
use crate::value::{Scope, Value};
use hashbrown::HashMap;
use kanon_solver::quantified::Quantifiers;
use kanon_solver::term::{Bool, Int, Terms};
use num_bigint::BigInt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The values that may be elements, with the condition under which each is.
pub type Rows = BTreeMap<Value, Bool>;

/// Values with the conditions under which each is the one; several conditions for a value are alternatives.
pub type Options = BTreeMap<Value, Vec<Bool>>;

/// A value by its parts.
#[derive(Clone, Debug)]
pub enum Sym<'m> {
    /// What an expression has that never has a value.
    Absent,
    Bool(Bool),
    /// An integer, element or string: exactly one of these, in the order of values.
    One(Arc<Vec<(Value, Bool)>>),
    /// An integer with many values.
    Int(Int),
    Pair(Arc<(Sym<'m>, Sym<'m>)>),
    Rec(Arc<Vec<Sym<'m>>>),
    Set(Arc<Rows>),
    /// A function by its arguments: whether each has a value, and which. For values that have no rows, because they are
    /// many or sets themselves.
    Fun(Arc<Points<'m>>),
    Lazy(Arc<Lazy<'m>>),
}

/// Arguments of a function, with the condition under which each has a value, and the value.
pub type Points<'m> = BTreeMap<Value, (Bool, Sym<'m>)>;

/// An expression: its value where `def` is true.
#[derive(Clone, Debug)]
pub struct Val<'m> {
    pub sym: Sym<'m>,
    pub def: Bool,
}

/// A predicate: when it is true, when it is false. Never both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    pub yes: Bool,
    pub no: Bool,
}

/// `{x | P}`, `%x.(P | E)`, `{x . P | E}` with what is free in them.
#[derive(Clone, Debug)]
pub struct Closure<'m> {
    pub locals: &'m [LocalId],
    pub pred: &'m Expr,
    pub body: Option<&'m Expr>,
    pub env: Env<'m>,
}

/// A set as a constructor over encoded parts, all of which have values.
#[derive(Clone, Debug)]
pub enum Lazy<'m> {
    All(Type),
    /// Between two bounds, or without one.
    Ints(Option<Sym<'m>>, Option<Sym<'m>>),
    /// The elements one by one.
    Ext(Vec<Sym<'m>>),
    Compr(Closure<'m>),
    Lambda(Closure<'m>),
    Map(Closure<'m>),
    Pow(Fun, Sym<'m>),
    Seq(Fun, Sym<'m>),
    Space(BinOp, Sym<'m>, Sym<'m>),
    Product(Sym<'m>, Sym<'m>),
    Boole(BinOp, Sym<'m>, Sym<'m>),
    Struct(Vec<Sym<'m>>),
    Id(Sym<'m>),
    Prj(Fun, Sym<'m>, Sym<'m>),
    Shift(i8),
    Inverse(Sym<'m>),
    /// The relation, then the set.
    Restrict(BinOp, Sym<'m>, Sym<'m>),
    Override(Sym<'m>, Sym<'m>),
    Compose(Sym<'m>, Sym<'m>),
    Direct(Sym<'m>, Sym<'m>),
    Parallel(Sym<'m>, Sym<'m>),
    Dom(Sym<'m>),
    /// The second or the third, by the first.
    If(Bool, Sym<'m>, Sym<'m>),
}

#[derive(Debug)]
struct Bound<'m> {
    id: LocalId,
    value: Val<'m>,
    next: Option<Arc<Bound<'m>>>,
}

/// Where names get their values. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Env<'m> {
    constants: Arc<Vec<Val<'m>>>,
    variables: Arc<Vec<Val<'m>>>,
    locals: Option<Arc<Bound<'m>>>,
    before: Option<Arc<Env<'m>>>,
}

impl<'m> Val<'m> {
    pub fn sure(sym: Sym<'m>) -> Self {
        Val { sym, def: Bool::TRUE }
    }

    pub fn none() -> Self {
        Val { sym: Sym::Absent, def: Bool::FALSE }
    }

    pub fn is_none(&self) -> bool {
        self.def == Bool::FALSE
    }
}

impl<'m> From<Lazy<'m>> for Sym<'m> {
    fn from(lazy: Lazy<'m>) -> Self {
        Sym::Lazy(Arc::new(lazy))
    }
}

impl<'m> Env<'m> {
    /// Nothing assigned.
    pub fn new(model: &Model) -> Self {
        Env {
            constants: Arc::new(vec![Val::none(); model.constants.len()]),
            variables: Arc::new(vec![Val::none(); model.variables.len()]),
            locals: None,
            before: None,
        }
    }

    pub fn constant(&self, id: ConstId) -> Val<'m> {
        self.constants.get(id.index()).cloned().unwrap_or_else(Val::none)
    }

    pub fn variable(&self, id: VarId) -> Val<'m> {
        self.variables.get(id.index()).cloned().unwrap_or_else(Val::none)
    }

    pub fn local(&self, id: LocalId) -> Val<'m> {
        let mut at = self.locals.as_ref();
        while let Some(b) = at {
            if b.id == id {
                return b.value.clone();
            }
            at = b.next.as_ref();
        }
        Val::none()
    }

    /// Whether an expression names something that has no value here: an unknown whose turn has not come, above all.
    fn names_open(&self, e: &Expr) -> bool {
        e.any(&|x| match x.kind {
            ExprKind::Const(id) => self.constant(id).is_none(),
            ExprKind::Var(id) => self.variable(id).is_none(),
            // Those that are bound inside the expression are not bound here.
            ExprKind::Local(id) => {
                let mut bound = std::iter::successors(self.locals.as_ref(), |b| b.next.as_ref());
                bound.find(|b| b.id == id).is_some_and(|b| b.value.is_none())
            }
            _ => false,
        })
    }

    pub fn with_constant(mut self, id: ConstId, value: Val<'m>) -> Self {
        if let Some(place) = Arc::make_mut(&mut self.constants).get_mut(id.index()) {
            *place = value;
        }
        self
    }

    pub fn with_variable(mut self, id: VarId, value: Val<'m>) -> Self {
        if let Some(place) = Arc::make_mut(&mut self.variables).get_mut(id.index()) {
            *place = value;
        }
        self
    }

    pub fn with_local(mut self, id: LocalId, value: Val<'m>) -> Self {
        self.locals = Some(Arc::new(Bound { id, value, next: self.locals.take() }));
        self
    }

    /// What `x$0` means from here on.
    pub fn with_before(self, before: Env<'m>) -> Self {
        Env { before: Some(Arc::new(before)), ..self }
    }

    /// `x$0` means what x means here.
    pub fn without_before(mut self) -> Self {
        self.before = None;
        self
    }

    /// No locals: what a called operation sees.
    pub fn without_locals(mut self) -> Self {
        self.locals = None;
        self
    }

    fn with(self, slot: Slot, value: Val<'m>) -> Self {
        match slot {
            Slot::Local(id) => self.with_local(id, value),
            Slot::Const(id) => self.with_constant(id, value),
            Slot::Var(id) => self.with_variable(id, value),
        }
    }
}

/// A wrong encoding, planted so that the tests can show that they would find it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mutant {
    #[default]
    None,
    /// `dom` and `ran` change places.
    DomIsRan,
    /// `card` counts one too many.
    CardPlusOne,
    /// A function applied outside of its domain has a value.
    AppliedAnywhere,
    /// A total function may leave out arguments.
    PartialIsTotal,
    /// Override keeps the old pairs.
    OverrideIsUnion,
    /// A step whose values have no room in the shapes of the variables is left out.
    NothingOutside,
    /// The ELSE of a SELECT may run whatever the guards are.
    ElseAlways,
    /// Two different values for one variable are no fault.
    ClashIsFine,
    /// A PRE inside of an operation blocks where it is false.
    InnerPreIsGuard,
    /// An ASSERT that is false blocks.
    AssertIsGuard,
    /// Nobody looks at the invariant of a loop.
    LoopInvariantForgotten,
    /// A variant need not become smaller.
    VariantForgotten,
    /// `ran` is `dom`.
    RanIsDom,
    /// `a..b` goes up to b + 1.
    IntervalOneLonger,
    /// `<|` and `<<|` change places.
    RestrictIsSubtract,
    /// `(r ; s)` is `(s ; r)`.
    ComposeSwapped,
    /// A closure is looked for in half as many steps as it may take.
    ClosureTooShort,
    /// `<<:` is `<:`.
    StrictIsSubset,
    /// `min` and `max` change places.
    MinIsMax,
    /// A relation may be an element of a set of functions, injections or surjections that it is not.
    FunctionalForgotten,
    InjectiveForgotten,
    SurjectiveForgotten,
    /// `x -> s` is `s <- x`.
    PrependIsAppend,
    /// A false part does not decide a conjunction if another one has no value.
    AndIsStrict,
    /// A quantifier takes what has no value for false.
    QuantifierForgets,
    /// These have a value where they have none: a division by zero,
    DivisionAnywhere,
    /// a remainder of or by a negative number,
    RemainderAnywhere,
    /// a power with a negative exponent,
    PowerAnywhere,
    /// min and max of the empty set,
    ExtremeAnywhere,
    /// the intersection of no sets,
    IntersectionAnywhere,
    /// a sum, product, union or intersection whose body has none for some element,
    BodyAnywhere,
    /// or whose condition has none,
    ConditionAnywhere,
    /// a set one of whose elements has none,
    ExtensionAnywhere,
    /// IF with a condition that has none,
    IfAnywhere,
    /// LET with a definition that has none,
    LetAnywhere,
    /// a comparison or an equation one side of which has none,
    ComparisonAnywhere,
    /// a negative power of a relation,
    IterateAnywhere,
    /// a relation applied where it has several values,
    AppliedToMany,
    /// an operator on sequences, applied to what is none,
    SequenceAnywhere,
    /// `first`, `last`, `front` and `tail` of the empty sequence,
    FirstAnywhere,
    /// the first n of fewer than n,
    TakeAnywhere,
    /// the one element of a set that has another number of them.
    MuAnywhere,
}

impl Mutant {
    /// All that are no [`Mutant::None`].
    pub const ALL: [Mutant; 42] = {
        use Mutant::*;
        [
            DomIsRan,
            CardPlusOne,
            AppliedAnywhere,
            PartialIsTotal,
            OverrideIsUnion,
            NothingOutside,
            ElseAlways,
            ClashIsFine,
            InnerPreIsGuard,
            AssertIsGuard,
            LoopInvariantForgotten,
            VariantForgotten,
            RanIsDom,
            IntervalOneLonger,
            RestrictIsSubtract,
            ComposeSwapped,
            ClosureTooShort,
            StrictIsSubset,
            FunctionalForgotten,
            InjectiveForgotten,
            SurjectiveForgotten,
            PrependIsAppend,
            AndIsStrict,
            QuantifierForgets,
            DivisionAnywhere,
            RemainderAnywhere,
            PowerAnywhere,
            ExtremeAnywhere,
            IntersectionAnywhere,
            BodyAnywhere,
            ConditionAnywhere,
            ExtensionAnywhere,
            IfAnywhere,
            LetAnywhere,
            ComparisonAnywhere,
            IterateAnywhere,
            AppliedToMany,
            SequenceAnywhere,
            FirstAnywhere,
            TakeAnywhere,
            MuAnywhere,
            MinIsMax,
        ]
    };
}

/// How much may be made.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Steps of the encoder, about the number of terms.
    pub steps: u64,
    /// Rows of one set.
    pub rows: usize,
    pub deadline: Option<Instant>,
    /// Whether quantifiers in PROPERTIES that cannot be unfolded may become questions of their own.
    pub open_quantifiers: bool,
    /// Somebody else's word that it is enough.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// Whether somebody or the clock says that it is enough.
    pub fn is_stopped(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 20_000_000, rows: 1 << 16, deadline: None, open_quantifiers: false, stop: None }
    }
}

/// Makes terms from the expressions of a model.
pub struct Encoder<'m> {
    pub model: &'m Model,
    pub scope: &'m Scope,
    pub terms: Terms,
    pub mutant: Mutant,
    /// Whether unknowns were bounded by a fact that may be undefined: then the predicate may be undefined, and not only
    /// false, for values that they cannot have.
    pub has_partial_hulls: bool,
    /// Whether unknowns are bounded by such facts at all. If not, whatever they cannot be makes the predicate false.
    pub(in crate::symbolic) only_total_hulls: bool,
    /// Quantifiers over too many values, while somebody wants them as questions of their own instead of a refusal.
    pub(in crate::symbolic) quantifiers: Option<Quantifiers>,
    limits: Limits,
    steps: u64,
    depth: u32,
    ranges: HashMap<Int, number::Range>,
    /// The values of types that were listed.
    carriers: HashMap<Type, BTreeSet<Value>>,
}

/// The deepest nesting of expressions.
const MAX_DEPTH: u32 = 200;

impl<'m> Encoder<'m> {
    pub fn new(model: &'m Model, scope: &'m Scope, limits: Limits) -> Self {
        Encoder {
            model,
            scope,
            terms: Terms::new(),
            mutant: Mutant::None,
            has_partial_hulls: false,
            only_total_hulls: false,
            quantifiers: None,
            limits,
            steps: 0,
            depth: 0,
            ranges: HashMap::new(),
            carriers: HashMap::new(),
        }
    }

    /// From here on there may be so many steps in all; returns how many there might be before.
    pub(in crate::symbolic) fn set_most_steps(&mut self, steps: u64) -> u64 {
        std::mem::replace(&mut self.limits.steps, steps)
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    pub(in crate::symbolic) fn spend(&mut self, steps: usize, span: Span) -> Res<()> {
        let before = self.steps;
        self.steps += steps as u64;
        let why = if self.steps > self.limits.steps {
            "the formula is too large"
        } else if before >> 10 != self.steps >> 10 && self.limits.is_stopped() {
            "the time is over"
        } else {
            return Ok(());
        };
        Err(Box::new(Refused { kind: RefusedKind::Budget, span, why: why.into() }))
    }

    pub(in crate::symbolic) fn enter(&mut self, span: Span) -> Res<()> {
        self.spend(1, span)?;
        if self.depth >= MAX_DEPTH {
            return super::unsupported(span, "nested too deeply");
        }
        self.depth += 1;
        Ok(())
    }

    pub(in crate::symbolic) fn leave(&mut self) {
        self.depth -= 1;
    }
}

impl Encoder<'_> {
    /// A condition, unless it is the one that a mutant forgets.
    pub(super) fn unless(&self, mutant: Mutant, condition: Bool) -> Bool {
        if self.mutant == mutant { Bool::TRUE } else { condition }
    }
}

fn truth(value: bool) -> Bool {
    Terms::truth(value)
}

fn ill_typed<T>(span: Span) -> Res<T> {
    super::unsupported(span, "ill-typed expression in the typed model")
}

fn big(n: usize) -> BigInt {
    BigInt::from(n)
}
