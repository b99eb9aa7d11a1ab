//! Planted mistakes, so that tests can see that the audit catches them.

use super::hooks::Visited;
use super::store::{Arriving, StateId, Store, hash};
use kanon_refinement::kernel::{Insertion, Rrac};

/// A mistake, made at the n-th occasion, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A key that is stored is inserted again.
    Forgets(u64),
    /// A key that is absent is said to be there.
    ClaimsPresent(u64),
    /// A transition is passed over.
    Drops(u64),
    /// The invariant is said to hold where it does not, or the other way round.
    Lies(u64),
}

/// The store that makes the first two.
pub(super) struct Faulty {
    pub store: Store,
    pub mistake: Option<Mistake>,
    pub occasions: u64,
}

impl Rrac<Arriving<'_>> for Faulty {
    type Id = StateId;

    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        let known = self.store.find(key.row);
        match (self.mistake, known) {
            (Some(Mistake::Forgets(n)), Some(_)) => {
                self.occasions += 1;
                if self.occasions == n {
                    return Insertion::Inserted(self.store.append(hash(key.row), key));
                }
            }
            (Some(Mistake::ClaimsPresent(n)), None) => {
                self.occasions += 1;
                // There has to be a state that it can be taken for.
                if self.occasions == n && !self.store.is_empty() {
                    return Insertion::Present(0);
                }
            }
            _ => {}
        }
        self.store.insert_if_absent(key)
    }
}

impl Visited for Faulty {
    fn store(&self) -> &Store {
        &self.store
    }
    fn into_store(self) -> Store {
        self.store
    }
}
