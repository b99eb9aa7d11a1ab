//! Exploration: drives the events of rmc2 ([`kanon_refinement::kernel`]) over a [`System`].
//!
//! The kernel owns the visited set, the open states and the error states; nothing else changes them. What is
//! found beside the invariant (deadlocks, assertions, goals, well-definedness errors) is the work of observers:
//! their "none" rests on `pass`, which says that every reachable state was expanded.

pub mod audit;
mod batch;
mod hooks;
#[doc(hidden)]
pub mod inject;
mod line;
mod memory;
mod orbits;
pub mod order;
mod reduced;
mod sample;
pub mod search;
mod shadow;
pub mod store;

pub use audit::Audit;
pub use hooks::{Effort, Event};
pub use order::Order;
pub use search::{Counts, Explored, Reduction, explore};
pub use store::{Layout, StateId, Store};

use crate::symmetry::Strategy;
use crate::value::fault::Fault;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Options {
    pub order: Order,
    pub seed: u64,
    pub max_states: Option<usize>,
    pub invariant: bool,
    pub deadlock: bool,
    pub assertions: bool,
    pub goal: bool,
    /// Go on after a finding.
    pub all: bool,
    pub symmetry: Strategy,
    /// Breadth first only: other orders have one thread.
    pub threads: usize,
    /// With fewer open states than this, and little to do with them, one of the threads goes on alone.
    #[doc(hidden)]
    pub alone_below: usize,
    /// One state after the other, as the chain has it, instead of in batches: what these are compared with.
    #[doc(hidden)]
    pub one_by_one: bool,
    /// Stop when the program has more bytes than this.
    pub max_memory: Option<u64>,
    /// Measure what the strategy costs.
    pub timed: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            order: Order::Bfs,
            seed: 0,
            max_states: None,
            invariant: true,
            deadlock: true,
            assertions: true,
            goal: true,
            all: false,
            symmetry: Strategy::Off,
            threads: 1,
            alone_below: 256,
            one_by_one: false,
            max_memory: None,
            timed: false,
        }
    }
}

/// What was found, and in which state.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kind: FindingKind,
    /// The state, `None` when it happened before there was one.
    pub state: Option<StateId>,
    /// The valuation of the constants, when there is no state yet.
    pub valuation: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FindingKind {
    /// Index of the conjunct.
    Invariant(usize),
    Deadlock,
    /// Index of the assertion.
    Assertion(usize),
    Goal,
    /// What failed, and in which event (`None`: initialisation, invariant, assertion or goal).
    WellDefinedness {
        fault: Box<Fault>,
        event: Option<usize>,
    },
}

impl FindingKind {
    pub fn name(&self) -> &'static str {
        match self {
            FindingKind::Invariant(_) => "invariant",
            FindingKind::Deadlock => "deadlock",
            FindingKind::Assertion(_) => "assertion",
            FindingKind::Goal => "goal",
            FindingKind::WellDefinedness { .. } => "well-definedness",
        }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Holds,
    Fails(Finding),
    Unknown(Why),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Stopped by the user, by the clock, or by a bound on states.
    Interrupted,
    Timeout(Duration),
    MaxStates(usize),
    MaxMemory(u64),
    /// An unbounded integer was enumerated only from MININT to MAXINT.
    Truncated(crate::lang::diag::Span),
    /// No state was found that breaks anything, but states that differ may have been taken for one.
    Approximate,
    /// Something could not be computed.
    Limit(Box<Fault>),
    /// The audit found a mistake of ours.
    Audit(Box<audit::Broken>),
}
