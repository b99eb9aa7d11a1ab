//! What a refinement says that is not checked: the abstraction's variables are not part of the system, so a
//! conjunct that speaks of them has no value here. Nothing of it goes without a word.

use super::{Model, OpId};
use crate::lang::diag::{Diagnostic, Span};

/// What kind of predicate was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Left {
    /// Of INVARIANT, mostly a gluing invariant.
    Invariant,
    /// Of ASSERTIONS.
    Assertion,
    /// Of the precondition that an operation inherits.
    Precondition,
    /// Of the INVARIANT of a WHILE.
    LoopInvariant,
    /// Of an ASSERT in an operation.
    Assert,
    /// The definition GOAL.
    Goal,
}

impl Left {
    /// A conjunct of it, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Left::Invariant => "the invariant",
            Left::Assertion => "the assertion",
            Left::Precondition => "the inherited precondition",
            Left::LoopInvariant => "the loop invariant",
            Left::Assert => "the ASSERT",
            Left::Goal => "the goal",
        }
    }
}

/// One conjunct that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub what: Left,
    pub span: Span,
    /// As B text, definitions expanded.
    pub text: String,
    /// The operation it belongs to; `None` of INVARIANT, ASSERTIONS, GOAL and INITIALISATION.
    pub operation: Option<OpId>,
}

impl Model {
    /// How many of the claims that a check answers for were left out: with any, "holds" is more than was
    /// checked. A missing precondition is no claim; see [`Model::lacks_precondition`].
    pub fn unchecked(&self) -> usize {
        self.left_out.iter().filter(|l| l.what != Left::Precondition).count()
    }

    /// Whether a part of the operation's precondition was left out. Such an operation is enabled too often:
    /// a path on which it occurs need not exist, and a state in which only it is enabled may be a deadlock.
    pub fn lacks_precondition(&self, op: OpId) -> bool {
        self.lacks_precondition_within(op, &mut vec![])
    }

    /// The operation itself, or one that it calls; `seen` are those looked at already.
    fn lacks_precondition_within(&self, op: OpId, seen: &mut Vec<OpId>) -> bool {
        if self.left_out.is_empty() || seen.contains(&op) {
            return false;
        }
        seen.push(op);
        let own = |l: &LeftOut| l.what == Left::Precondition && l.operation == Some(op);
        if self.left_out.iter().any(own) {
            return true;
        }
        let mut called = vec![];
        self.operations[op.index()].body.calls(&mut called);
        called.into_iter().any(|op| self.lacks_precondition_within(op, seen))
    }
}

impl Model {
    /// Why "holds" would say more than was checked, if it would.
    pub fn not_covered(&self, deadlock: bool) -> Option<String> {
        let (claims, all) = (self.unchecked(), self.left_out.len());
        let about = "of the refinement, which speaks of variables of the abstraction,";
        match (claims, all) {
            (0, 0) => None,
            (0, _) if !deadlock => None,
            (0, _) => Some(format!(
                "nothing was found, but a precondition {about} was left out, and a state in which only that \
                 operation is enabled may be a deadlock (`--no-deadlock` leaves the question out)"
            )),
            (1, _) => Some(format!("nothing was found, but one claim {about} was not checked")),
            (n, _) => Some(format!(
                "nothing was found, but {n} claims of the refinement, which speak of variables of the \
                 abstraction, were not checked"
            )),
        }
    }
}

impl LeftOut {
    pub(super) fn warning(&self, model: &Model) -> Diagnostic {
        let of = match self.operation.and_then(|op| model.operations.get(op.index())) {
            Some(op) => format!(" of `{}`", op.name),
            None => String::new(),
        };
        let message = format!("{}{of} is not checked: `{}`", self.what.name(), self.text);
        let help = match self.what {
            Left::Precondition => {
                "it speaks of variables of the abstraction; the operation may be enabled where it should not be"
            }
            _ => {
                "it speaks of variables of the abstraction, which are not part of the refinement's states; `kanon refine` \
                 looks at both"
            }
        };
        Diagnostic::warning("B0416", self.span, message).help(help)
    }
}
