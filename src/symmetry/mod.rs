//! Symmetry: coloured graphs and their canonical labellings.
//!
//! What is here: [`Graph`], a vertex-coloured graph, and `nauty::Labeller` (feature `nauty`), a safe
//! wrapper of nauty that labels such a graph canonically.
//!
//! Absent on purpose: the group of a model, the graph of a state, and every strategy. `kanon check` does not
//! reduce yet and calls nothing of this room.

pub mod graph;
#[cfg(feature = "nauty")]
#[allow(unsafe_code)] // Calls into C, in one file, and nowhere else in this crate.
pub mod nauty;

pub use graph::{Edges, Graph};
