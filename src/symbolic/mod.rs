//! Typed predicates and whole machines as formulas, and what uses them: all solutions of a predicate, constants.
//!
//! The formulas are those of `kanon_solver`. What they mean is [`crate::eval::reference`]'s business: every value that a
//! solver finds is checked by it before anybody sees it, and random predicates are compared with it.
//! Absent on purpose: which solver runs and for how long is the caller's choice; verdicts.

pub mod decode;
pub mod encode;
pub mod machine;
pub mod solve;

use crate::lang::diag::Span;

/// Why something has no formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub kind: RefusedKind,
    pub span: Span,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedKind {
    /// A set that would have to be listed is infinite, too large, or not known to be finite. Whoever only tests
    /// membership can do without the list.
    Unlisted,
    /// There is no encoding of this operator here.
    Unsupported,
    /// The formula became too large, or the time is over.
    Budget,
}

pub type Res<T> = Result<T, Box<Refused>>;

pub(crate) fn unlisted<T>(span: Span, why: impl Into<String>) -> Res<T> {
    Err(Box::new(Refused { kind: RefusedKind::Unlisted, span, why: why.into() }))
}

pub(crate) fn unsupported<T>(span: Span, why: impl Into<String>) -> Res<T> {
    Err(Box::new(Refused { kind: RefusedKind::Unsupported, span, why: why.into() }))
}
