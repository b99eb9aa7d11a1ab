//! What a product is made of: the machine of all levels, and who follows whom.

use super::Mistake;
use crate::model::VarId;
use crate::model::tower::{Claim, Level, Promise};
use crate::system::Machine;
use std::sync::Arc;

/// How the levels above are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One state of each level; each that matches is gone on with by itself.
    Pairs,
    /// All states that match, together.
    Sets,
    /// All states of one level that have the same trace.
    Traces(usize),
}

/// A move with its events.
pub(super) struct Compiled {
    pub alone: usize,
    /// By level above, or one for all of them.
    pub above: Vec<Option<usize>>,
    pub is_environment: bool,
    pub is_guarded: Vec<bool>,
    /// For each way to follow: events that demand one thing more than the one before.
    pub stages: Vec<Vec<(usize, Promise)>>,
}

/// The levels, and how they are followed.
pub struct Joint {
    /// All levels as one machine, whose constants are solved.
    pub machine: Arc<Machine>,
    /// The levels, the most concrete one first.
    pub levels: Vec<Level>,
    /// Whose the conjuncts of the machine's invariant are.
    pub claims: Vec<Claim>,
    /// Whose the machine's assertions are.
    pub theorems: Vec<Claim>,
    pub(super) moves: Vec<Compiled>,
    /// How the levels above are followed.
    pub way: Way,
    /// For tests of the tests.
    pub(super) planted: Option<Mistake>,
}

impl Joint {
    /// Whether this mistake is planted.
    #[inline]
    pub(super) fn errs(&self, mistake: Mistake) -> bool {
        self.planted == Some(mistake)
    }

    /// Words of a row of the machine that are no variables.
    pub(super) fn offset(&self) -> usize {
        self.machine.width() - self.machine.model.variables.len()
    }

    /// The place of a variable in a row of the machine.
    pub(super) fn place(&self, v: VarId) -> usize {
        self.offset() + v.index()
    }
}
