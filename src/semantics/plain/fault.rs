//! What can go wrong when a value is computed.

pub use crate::lang::diag::NOWHERE;
use crate::lang::diag::Span;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The expression has no value: 1/0, f(x) outside dom(f), min({}).
    Wd(Wd),
    /// It has one, but we cannot compute it: an infinite set to expand, a limit reached.
    Limit(Span, String),
}

pub type Res<T> = Result<T, Box<Fault>>;

impl Fault {
    pub fn wd(kind: WdKind) -> Box<Fault> {
        Box::new(Fault::Wd(Wd { kind, span: NOWHERE, values: None }))
    }

    /// A loop's variant that does not do what it has to: its value before the body, if it was run, and now.
    pub fn loop_variant(before: Option<String>, now: &str) -> Box<Fault> {
        let values = match before {
            Some(before) => format!("{before} before the body, {now} after it"),
            None => now.to_string(),
        };
        Box::new(Fault::Wd(Wd { kind: WdKind::LoopVariant, span: NOWHERE, values: Some(values.into()) }))
    }

    pub fn limit(why: impl Into<String>) -> Box<Fault> {
        Box::new(Fault::Limit(NOWHERE, why.into()))
    }

    /// Says where, unless that is known already.
    pub fn at(mut self: Box<Self>, here: Span) -> Box<Self> {
        let (Fault::Wd(Wd { span, .. }) | Fault::Limit(span, _)) = &mut *self;
        if *span == NOWHERE {
            *span = here;
        }
        self
    }

    /// Whether something is known to be infinite that has to be finite.
    pub fn is_infinite(&self) -> bool {
        matches!(self, Fault::Wd(w) if w.kind == WdKind::Infinite)
    }

    /// Of two faults of one conjunction: what could not be computed might have decided it, so a limit wins.
    pub fn worse(self: Box<Self>, other: Box<Self>) -> Box<Self> {
        match (&*self, &*other) {
            (Fault::Wd(_), Fault::Limit(..)) => other,
            _ => self,
        }
    }

    /// Keeps the worse of the faults seen so far and this one.
    #[cold]
    pub fn gather(seen: &mut Option<Box<Fault>>, fault: Box<Fault>) {
        *seen = Some(match seen.take() {
            Some(before) => before.worse(fault),
            None => fault,
        });
    }

    pub fn span(&self) -> Span {
        match self {
            Fault::Wd(w) => w.span,
            Fault::Limit(s, _) => *s,
        }
    }
}

/// A well-definedness error. Two are the same if they are of one kind and in one place.
#[derive(Clone, Debug, Eq)]
pub struct Wd {
    pub kind: WdKind,
    pub span: Span,
    /// The values to blame, for people, where the place does not say it.
    pub values: Option<Box<str>>,
}

impl PartialEq for Wd {
    fn eq(&self, other: &Wd) -> bool {
        (self.kind, self.span) == (other.kind, other.span)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WdKind {
    /// `x / 0`
    DivisionByZero,
    /// `x mod y` with y ≤ 0 or x < 0
    ModUndefined,
    /// `x ** y` with y < 0
    NegativeExponent,
    /// f(x) with x outside dom(f)
    OutsideDomain,
    /// f(x) where f relates x to several values
    NotFunctional,
    /// min or max of the empty set
    EmptyMinMax,
    /// inter({}) and INTER over nothing
    EmptyInter,
    /// first, last, front, tail of the empty sequence
    EmptySequence,
    /// a sequence operator on something that is no sequence
    NotASequence,
    /// `s /|\ n`, `s \|/ n` with n outside 0..size(s)
    BadLength,
    /// `iterate(r, n)` with n < 0
    NegativeIterate,
    /// `mu(S)` where S is not a singleton
    NotSingleton,
    /// card, SIGMA … of an infinite set
    Infinite,
    /// a precondition of a called operation, or of an inner PRE, is false
    Precondition,
    /// an ASSERT substitution's predicate is false
    AssertFailed,
    /// a WHILE loop's invariant is false, or its variant negative or not decreasing
    LoopInvariant,
    LoopVariant,
    /// a variable or local is read before anything was assigned to it
    Unassigned,
    /// one variable gets two different values at once: `x := 1 || x := 2`
    Clash,
    /// a string that should be a number is none
    NotANumber,
    /// a string that should name an element names none
    NotAName,
    /// `CHOOSE({})`
    EmptyChoice,
    /// a format string that does not fit its values
    BadFormat,
    /// an operator on trees, applied to something that is no tree, or no binary one
    NotATree,
    /// something has no value where it is read from left to right
    NoValue,
}

impl WdKind {
    /// All of them.
    pub const ALL: [WdKind; 25] = [
        WdKind::DivisionByZero,
        WdKind::ModUndefined,
        WdKind::NegativeExponent,
        WdKind::OutsideDomain,
        WdKind::NotFunctional,
        WdKind::EmptyMinMax,
        WdKind::EmptyInter,
        WdKind::EmptySequence,
        WdKind::NotASequence,
        WdKind::BadLength,
        WdKind::NegativeIterate,
        WdKind::NotSingleton,
        WdKind::Infinite,
        WdKind::Precondition,
        WdKind::AssertFailed,
        WdKind::LoopInvariant,
        WdKind::LoopVariant,
        WdKind::Unassigned,
        WdKind::Clash,
        WdKind::NotANumber,
        WdKind::NotAName,
        WdKind::EmptyChoice,
        WdKind::BadFormat,
        WdKind::NotATree,
        WdKind::NoValue,
    ];

    /// Code and message for people.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            WdKind::DivisionByZero => ("B0301", "division by zero"),
            WdKind::ModUndefined => ("B0302", "`mod` needs a non-negative left and a positive right operand"),
            WdKind::NegativeExponent => ("B0303", "negative exponent"),
            WdKind::OutsideDomain => ("B0304", "function applied outside its domain"),
            WdKind::NotFunctional => {
                ("B0305", "application of a relation that is not a function at this point")
            }
            WdKind::EmptyMinMax => ("B0306", "`min` or `max` of the empty set"),
            WdKind::EmptyInter => ("B0307", "intersection of no sets"),
            WdKind::EmptySequence => ("B0308", "sequence operator applied to the empty sequence"),
            WdKind::NotASequence => {
                ("B0309", "sequence operator applied to something that is not a sequence")
            }
            WdKind::BadLength => ("B0310", "length outside 0..size of the sequence"),
            WdKind::NegativeIterate => ("B0311", "`iterate` with a negative count"),
            WdKind::NotSingleton => ("B0312", "`mu` of a set that does not have exactly one element"),
            WdKind::Infinite => ("B0313", "operation on an infinite set that needs a finite one"),
            WdKind::Precondition => ("B0314", "precondition violated"),
            WdKind::AssertFailed => ("B0315", "ASSERT violated"),
            WdKind::LoopInvariant => ("B0316", "loop invariant violated"),
            WdKind::LoopVariant => ("B0317", "loop variant is negative or does not decrease"),
            WdKind::Unassigned => ("B0318", "read before anything was assigned"),
            WdKind::Clash => ("B0319", "a variable gets two different values at once"),
            WdKind::NotANumber => ("B0320", "the string is not a number"),
            WdKind::NotAName => ("B0321", "the string is not the name of an element"),
            WdKind::EmptyChoice => ("B0322", "`CHOOSE` of the empty set"),
            WdKind::BadFormat => ("B0323", "the format string does not fit its values"),
            WdKind::NotATree => ("B0324", "operator on trees applied to something that is not such a tree"),
            WdKind::NoValue => {
                ("B0325", "something has no value here, read from left to right (`--wd strict`)")
            }
        }
    }
}
