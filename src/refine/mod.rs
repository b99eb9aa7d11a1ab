//! A machine against what it refines: the levels of a tower ([`crate::model::tower`]) in lock-step.
//!
//! [`Product`] is a [`System`](crate::system::System): a state is a state of the most concrete machine together with a state
//! of all levels above, or with the set of all that match. Its transitions are those of the concrete machine. One that the
//! levels above cannot follow leads to a state that breaks the product's only invariant, so that the kernel's events, its
//! store and its verdict are those of every other search. [`explain`] says afterwards which promise was broken, and why each
//! abstract state does not do.
//!
//! | way | a state has | a step must be matched |
//! |---|---|---|
//! | [`Way::Pairs`] | one state of each level | from every pair that is reached, with the gluing invariants |
//! | [`Way::Sets`] | the set of all that match | from one of the set, with the gluing invariants |
//! | [`Way::Traces`] | the set of all with the same trace | from one of the set, by name, parameters and results only |
//!
//! Absent on purpose: reading, printing, symmetry. (A permutation acts on both sides at once, so reduction should be sound; it
//! is not argued for sets of states, and it is off.)

pub mod explain;
mod follow;
mod joint;
mod mistake;
mod product;

pub use explain::{Candidate, Reason, Stuck, explain, faulty};
pub use joint::{Joint, Way};
pub use mistake::Mistake;
pub use product::Product;
