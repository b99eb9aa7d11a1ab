//! What an engine asks of a solver, whichever it is: incremental, under assumptions, with cores.

use crate::term::{Assignment, Bool, Terms};

/// The answer to a query.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Values for which everything asserted and assumed is true. Whoever uses them evaluates again.
    Sat(Assignment),
    /// There are none, whatever the integers are: a solver that computes with limited widths says so only if it is true
    /// with every overflow allowed. The assumptions that were needed for it.
    Unsat(Vec<Bool>),
    Unknown(NoAnswer),
}

/// Why a solver has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The widths of integers do not suffice.
    Overflow,
    /// The time is over, or somebody interrupted.
    Stopped,
    /// The solver gave up or broke; in its words.
    GaveUp(String),
}

pub trait Solver {
    /// For good.
    fn assert(&mut self, terms: &Terms, claim: Bool);
    /// Is there a model of all that was asserted and of these?
    fn check(&mut self, terms: &Terms, assumptions: &[Bool]) -> Outcome;
    /// "cadical", "z3", "cvc5": for reports.
    fn name(&self) -> &str;
    /// Whether integers of any size are decided, so that a proof is one for all integers.
    fn is_unbounded(&self) -> bool;
}
