//! Exploration: drives the events of rmc2 ([`kanon_refinement::kernel`]) over a [`System`](crate::system::System).
//!
//! The kernel owns the visited set, the open states and the error states; nothing else changes them. What is
//! found beside the invariant (deadlocks, assertions, goals, well-definedness errors) is the work of observers:
//! their "none" rests on `pass`, which says that every reachable state was expanded.

pub mod audit;
mod batch;
pub mod clause;
mod drive;
mod handover;
mod hooks;
#[doc(hidden)]
pub mod inject;
pub mod keep;
mod line;
pub(crate) mod memory;
mod observe;
mod orbits;
pub mod order;
pub mod others;
pub mod plan;
mod reduced;
mod root;
mod sample;
pub mod search;
mod shadow;
pub mod share;
pub mod store;
mod watch;

pub use audit::Audit;
pub use drive::{explore, explore_keeping};
pub use hooks::{Effort, Fired};
pub use order::Order;
pub use search::{Explored, Progress, Reduction};
pub use store::{Layout, Spill, StateId, Store};
pub use watch::Counts;

use crate::symmetry::Strategy;
use crate::value::fault::Fault;

/// What is asked of a search, and how it goes about it. Which options go together: [`plan`].
#[warn(missing_docs)]
#[derive(Clone, Debug)]
pub struct Options {
    /// Which of the open states is expanded next.
    pub order: Order,
    /// For [`Order::Mixed`], so that a run can be repeated.
    pub seed: Option<u64>,
    /// Stop when so many states are stored.
    pub max_states: Option<usize>,
    /// Look for states that violate the invariant.
    pub invariant: bool,
    /// Look for states without a transition.
    pub deadlock: bool,
    /// Look for states in which an assertion is false.
    pub assertions: bool,
    /// Look for states in which the goal is true.
    pub goal: bool,
    /// Go on after a finding.
    pub all: bool,
    /// How symmetric states are recognised.
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
    /// When the memory is used up, states are written to disk and the search goes on; otherwise it ends.
    pub spill: Option<store::Spill>,
    /// The search is written down now and then, or was.
    pub checkpoint: bool,
    /// Several processes search together.
    pub processes: bool,
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
            spill: None,
            checkpoint: false,
            processes: false,
            timed: false,
        }
    }
}

/// What was found, and in which state.
#[warn(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The state, `None` when it happened before there was one.
    pub state: Option<StateId>,
    /// The start (a valuation of the constants) when there is no state yet; `usize::MAX` when there is none either.
    pub start: usize,
}

/// What can be found in a state.
#[warn(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
pub enum FindingKind {
    /// A conjunct of the invariant, by its index, is false.
    Invariant(usize),
    /// There is no transition.
    Deadlock,
    /// An assertion, by its index, is false.
    Assertion(usize),
    /// The goal is true.
    Goal,
    /// Something has no value.
    WellDefinedness {
        /// What failed.
        fault: Box<Fault>,
        /// In which operation; none: in the initialisation, the invariant, an assertion or the goal.
        operation: Option<usize>,
    },
}

#[warn(missing_docs)]
impl FindingKind {
    /// As it is printed.
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
