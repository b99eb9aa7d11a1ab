//! Symmetry: the group of a system, its action on states, and the strategies that find one state for an orbit.
//!
//! - [`group`]: which permutations there are, and what keeps a set out of them.
//! - [`action`]: what a permutation does to values, rows and constants.
//! - [`reduce`]: a [`Reducer`] gives a row its key: the image of the row under a permutation of the group, the
//!   *witness*. Whoever made the witness, it is checked to be a member and applied, so a key is symmetric to its
//!   state whatever a labelling did; a wrong one costs states, never an answer (machine `lab` of the chain).
//! - [`sketch`] and [`canon`]: our own canonical labelling, and the cheap answer before it.
//! - [`encode`], [`graph`], `nauty` (feature `nauty`): the state graph, its layers, and nauty.
//! - [`orbit`]: all states symmetric to one, for flooding.
//! - [`markers`]: seed 001's markers; approximate.
//!
//! Absent on purpose: exploration, threads, and what is done with the keys.

pub mod action;
mod canon;
pub mod encode;
pub mod graph;
pub mod group;
pub mod markers;
#[cfg(feature = "nauty")]
#[allow(unsafe_code)] // Calls into C, in one file, and nowhere else in this crate.
pub mod nauty;
pub mod orbit;
pub mod reduce;
mod sketch;

pub use action::Action;
pub use graph::{Edges, Graph};
pub use group::{Group, Perm, Reason};
pub use reduce::{Reducer, Stats, Strategy};
