//! Planted mistakes, so that tests can see that the audit catches them.

use super::hooks::{Effort, Visited};
use super::store::{Arriving, StateId, Store};
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

/// The visited set that makes the first two.
pub(super) struct Faulty<V> {
    pub inner: V,
    pub mistake: Option<Mistake>,
    pub occasions: u64,
}

impl<V: Visited> Rrac<Arriving<'_>> for Faulty<V> {
    type Id = StateId;

    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        let known = self.mistake.and_then(|_| self.inner.find(key.row));
        match (self.mistake, known) {
            (Some(Mistake::Forgets(n)), Some(_)) => {
                self.occasions += 1;
                if self.occasions == n {
                    return Insertion::Inserted(self.inner.append(key));
                }
            }
            (Some(Mistake::ClaimsPresent(n)), None) => {
                self.occasions += 1;
                // There has to be a state that it can be taken for.
                if self.occasions == n && !self.inner.store().is_empty() {
                    return Insertion::Present(0);
                }
            }
            _ => {}
        }
        self.inner.insert_if_absent(key)
    }
}

impl<V: Visited> Visited for Faulty<V> {
    const REDUCES: bool = V::REDUCES;
    const EXACT: Option<crate::verdict::Exact> = V::EXACT;

    fn store(&self) -> &Store {
        self.inner.store()
    }
    fn kept(&self) -> u64 {
        self.inner.kept()
    }
    fn finish(self) -> (Store, Effort) {
        self.inner.finish()
    }
    fn find(&mut self, row: &[u64]) -> Option<StateId> {
        self.inner.find(row)
    }
    fn append(&mut self, key: Arriving) -> StateId {
        self.inner.append(key)
    }
}
