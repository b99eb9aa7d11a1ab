//! Exploration: drives the events of rmc2 ([`kanon_refinement::kernel`]) over a [`System`](crate::system::System).
//!
//! The kernel owns the visited set, the open states and the error states; nothing else changes them. What is
//! found beside the invariant (deadlocks, assertions, goals, well-definedness errors) is the work of observers:
//! their "none" rests on `pass`, which says that every reachable state was expanded.

pub mod audit;
mod batch;
pub mod clause;
mod drive;
mod hooks;
#[doc(hidden)]
pub mod inject;
mod line;
pub(crate) mod memory;
mod observe;
mod orbits;
pub mod order;
pub mod plan;
mod reduced;
mod root;
mod sample;
pub mod search;
mod shadow;
pub mod store;
mod watch;

pub use audit::Audit;
pub use drive::explore;
pub use hooks::{Effort, Fired};
pub use order::Order;
pub use search::{Explored, Progress, Reduction};
pub use store::{Layout, StateId, Store};
pub use watch::Counts;

use crate::symmetry::Strategy;
use crate::value::fault::Fault;

#[derive(Clone, Debug)]
pub struct Options {
    pub order: Order,
    /// For [`Order::Mixed`], so that a run can be repeated.
    pub seed: Option<u64>,
    pub max_states: Option<usize>,
    pub invariant: bool,
    pub deadlock: bool,
    pub assertions: bool,
    pub goal: bool,
    /// Go on after a finding.
    pub all: bool,
    pub symmetry: Strategy,
    /// None: as many as go with the other options ([`plan`]).
    pub threads: Option<usize>,
    /// With fewer open states than this, and little to do with them, one of the threads goes on alone.
    #[doc(hidden)]
    pub alone_below: usize,
    /// One state after the other, as the chain has it, instead of in batches: what these are compared with.
    #[doc(hidden)]
    pub one_by_one: bool,
    /// All initial states arrive before the first is expanded, so that what is found is the nearest to any of them.
    pub shortest: bool,
    /// Otherwise so many arrive before those that have arrived are explored.
    #[doc(hidden)]
    pub initial_first: usize,
    /// Stop when the program has more bytes than this.
    pub max_memory: Option<u64>,
    /// Measure what the strategy costs.
    pub timed: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            order: Order::Bfs,
            seed: None,
            max_states: None,
            invariant: true,
            deadlock: true,
            assertions: true,
            goal: true,
            all: false,
            symmetry: Strategy::Off,
            threads: Some(1),
            alone_below: 256,
            one_by_one: false,
            shortest: false,
            initial_first: 1 << 16,
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
    /// The start (a valuation of the constants) when there is no state yet; `usize::MAX` when there is none either.
    pub start: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FindingKind {
    /// Index of the conjunct.
    Invariant(usize),
    Deadlock,
    /// Index of the assertion.
    Assertion(usize),
    Goal,
    /// What failed, and in which operation (`None`: initialisation, invariant, assertion or goal).
    WellDefinedness {
        fault: Box<Fault>,
        operation: Option<usize>,
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
