//! Where an audit looks at the search. Without one ([`Off`]) nothing of this is left in the compiled loop.

use super::order::Waiting;
use super::store::{Arriving, StateId, Store};
use kanon_refinement::frontier::{All, Open};
use kanon_refinement::kernel::{Kernel, Rrac};
use std::fmt;
use std::ops::ControlFlow;

pub(super) type Runex = Open<Waiting>;
pub(super) type Rerr = All<StateId>;
/// The kernel that a search with these hooks drives.
pub(super) type Driven<H> = Kernel<<H as Hooks>::Visited, Runex, Rerr>;

/// An event of the kernel. [`super::store::ROOT`] is the special state `i`, from which the initial states come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    AddInv { s1: StateId, s2: StateId },
    AddErr { s1: StateId, s2: StateId },
    Remove { s1: StateId },
    Pass,
    Fail,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Event::AddInv { .. } => "add_inv",
            Event::AddErr { .. } => "add_err",
            Event::Remove { .. } => "remove",
            Event::Pass => "pass",
            Event::Fail => "fail",
        })
    }
}

/// The visited set: the store, or one with a planted mistake.
pub(super) trait Visited: for<'a> Rrac<Arriving<'a>, Id = StateId> {
    fn store(&self) -> &Store;
    fn into_store(self) -> Store;
}

impl Visited for Store {
    #[inline]
    fn store(&self) -> &Store {
        self
    }
    #[inline]
    fn into_store(self) -> Store {
        self
    }
}

/// What the search tells, and (planted mistakes) what it lets be changed. `Break` ends the search.
pub(super) trait Hooks: Sized {
    type Visited: Visited;

    fn visited(&mut self, width: usize) -> Self::Visited;

    /// A state will be expanded.
    fn expand(&mut self, id: StateId, row: &[u64]) -> ControlFlow<()>;

    /// An event has happened.
    fn event(&mut self, event: Event, kernel: &Driven<Self>) -> ControlFlow<()>;

    /// The first false conjunct of the invariant, as the search takes it.
    fn invariant(&mut self, broken: Option<usize>) -> Option<usize>;

    /// Whether a transition is passed over.
    fn passes_over(&mut self) -> bool;
}

/// No audit.
pub(super) struct Off;

impl Hooks for Off {
    type Visited = Store;

    #[inline]
    fn visited(&mut self, width: usize) -> Store {
        Store::new(width)
    }
    #[inline(always)]
    fn expand(&mut self, _: StateId, _: &[u64]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    #[inline(always)]
    fn event(&mut self, _: Event, _: &Driven<Self>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    #[inline(always)]
    fn invariant(&mut self, broken: Option<usize>) -> Option<usize> {
        broken
    }
    #[inline(always)]
    fn passes_over(&mut self) -> bool {
        false
    }
}
