//! Where an audit looks at the search. Without one ([`Off`]) nothing of this is left in the compiled loop.

use super::order::Waiting;
use super::store::{Arriving, Packed, StateId, Store};
use crate::verdict::Exact;
use kanon_refinement::frontier::{All, Open};
use kanon_refinement::kernel::{Kernel, Rrac};
use std::ops::ControlFlow;

pub(super) type Runex = Open<Waiting>;
pub(super) type Rerr = All<StateId>;
/// The kernel that a search with this visited set drives.
pub(super) type Driven<'b, V> = Kernel<'b, V, Runex, Rerr>;

/// An event of the kernel. [`super::store::ROOT`] is the special state `i`, from which the initial states come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fired {
    AddInv { s1: StateId, s2: StateId },
    AddErr { s1: StateId, s2: StateId },
    Remove { s1: StateId },
    Pass,
    Fail,
}

impl Fired {
    pub fn name(self) -> &'static str {
        match self {
            Fired::AddInv { .. } => "add_inv",
            Fired::AddErr { .. } => "add_err",
            Fired::Remove { .. } => "remove",
            Fired::Pass => "pass",
            Fired::Fail => "fail",
        }
    }
}

/// What a reduction did.
#[derive(Clone, Debug, Default)]
pub struct Effort {
    pub stats: crate::symmetry::Stats,
    /// Flooding: the states put into the visited set.
    pub flooded: Option<usize>,
    pub bytes: usize,
}

/// The visited set: the store, one that reduces ([`super::reduced`]), or one with a planted mistake.
pub(super) trait Visited: for<'a> Rrac<Arriving<'a>, Id = StateId> {
    /// Whether different targets of a transition may be one state here.
    const REDUCES: bool;
    /// That states which are one state here are equal or symmetric. A set that has no such word, since it is approximate,
    /// does not lead to a Holds.
    const EXACT: Option<Exact>;

    fn store(&self) -> &Store;
    /// The store, and what the reduction did.
    fn finish(self) -> (Store, Effort);

    /// How many states were kept as they are, so that an orbit may have several that stand for it.
    fn kept(&self) -> u64 {
        0
    }

    /// Whether the limit of memory has kept one of its tables from growing.
    fn is_cramped(&self) -> bool {
        self.store().is_cramped()
    }

    /// The stored state that stands for a row.
    fn find(&mut self, row: &[u64]) -> Option<StateId>;
    /// Stores a row, whether or not something stands for it.
    fn append(&mut self, key: Arriving) -> StateId;
}

/// A visited set in which states that are one have one key, which is what it stores.
pub(super) trait ByKey: Visited + for<'a> Rrac<Packed<'a>, Id = StateId> {
    /// What finds keys for a helper.
    type Keys: Keys;

    fn keys(&self) -> Self::Keys;
    /// Adds what the helpers' strategies did.
    fn merge(&mut self, keys: impl Iterator<Item = Self::Keys>);
}

/// Finds keys, for one thread.
pub(super) trait Keys: Send {
    fn key<'r>(&'r mut self, row: &'r [u64]) -> &'r [u64];
}

/// A row is its own key.
pub(super) struct Itself;

impl Keys for Itself {
    #[inline(always)]
    fn key<'r>(&'r mut self, row: &'r [u64]) -> &'r [u64] {
        row
    }
}

impl ByKey for Store {
    type Keys = Itself;

    fn keys(&self) -> Itself {
        Itself
    }
    fn merge(&mut self, _: impl Iterator<Item = Itself>) {}
}

impl Visited for Store {
    const REDUCES: bool = false;
    const EXACT: Option<Exact> = Some(Exact::BY_KEY);

    #[inline]
    fn store(&self) -> &Store {
        self
    }
    fn finish(self) -> (Store, Effort) {
        (self, Effort::default())
    }
    fn find(&mut self, row: &[u64]) -> Option<StateId> {
        Store::find(self, row)
    }
    fn append(&mut self, key: Arriving) -> StateId {
        Store::append(self, key)
    }
}

/// What the search tells, and (planted mistakes) what it lets be changed. `Break` ends the search.
pub(super) trait Hooks<V>: Sized {
    /// Whether anybody listens: what is only for an audit is left out otherwise.
    const WATCHES: bool;

    /// An open state was taken; it will be expanded in its turn.
    fn take(&mut self, id: StateId);

    /// A state will be expanded.
    fn expand(&mut self, id: StateId, row: &[u64]) -> ControlFlow<()>;

    /// An event has happened.
    fn event(&mut self, event: Fired, kernel: &Driven<'_, V>) -> ControlFlow<()>;

    /// The first false conjunct of the invariant, as the search takes it.
    fn invariant(&mut self, broken: Option<usize>) -> Option<usize>;

    /// Whether a transition is passed over.
    fn passes_over(&mut self) -> bool;
}

/// No audit.
pub(super) struct Off;

impl<V> Hooks<V> for Off {
    const WATCHES: bool = false;

    #[inline(always)]
    fn take(&mut self, _: StateId) {}
    #[inline(always)]
    fn expand(&mut self, _: StateId, _: &[u64]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    #[inline(always)]
    fn event(&mut self, _: Fired, _: &Driven<'_, V>) -> ControlFlow<()> {
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
