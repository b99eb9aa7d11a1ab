//! Symmetry: the group of a system, its action on states, and the strategies that find one state per orbit.
//!
//! - [`Action`]: what permutations do to the states of a system. A B machine has one ([`MachineAction`]); a system of
//!   one's own gets the same strategies by implementing it.
//! - [`group`]: which permutations there are, and what keeps an element out of them; [`note`]: how the user is told.
//! - [`action`]: what a permutation does to the values, rows and constants of a machine.
//! - [`reduce`]: a [`Reducer`] gives a row its key: the image of the row under a permutation of the group, the
//!   *witness*. Whoever made the witness, it is checked to be a member and applied, so a key is symmetric to its
//!   state whatever a labelling did; a wrong one costs states, never an answer (machine `lab` of the chain).
//! - [`sketch`] and [`canon`]: our own canonical labelling, and the cheap answer before it.
//! - [`encode`], [`graph`], `cells`, `nauty` (feature `nauty`): the state graph, its layers, what of it nauty is asked,
//!   and nauty.
//! - [`orbit`]: all states symmetric to one, for flooding.
//! - [`markers`]: the markers of the paper on symmetry markers; approximate.
//!
//! Absent on purpose: exploration, threads, and what is done with the keys.

pub mod action;
mod canon;
#[cfg(feature = "nauty")]
mod cells;
pub mod encode;
pub mod graph;
pub mod group;
mod machine;
pub mod markers;
#[cfg(feature = "nauty")]
#[allow(unsafe_code)] // The calls of nauty, all in this file.
pub mod nauty;
pub mod note;
pub mod orbit;
pub mod reduce;
mod sketch;

pub use action::MachineAction;
pub use graph::{Edges, Graph};
pub use group::{Group, Perm, Reason};
pub use reduce::{Reducer, Stats, Strategy};
pub use sketch::Sketch;

use crate::system::Label;
use std::sync::Arc;

/// What the permutations of a group do to the states of a system.
///
/// Whoever implements it says that it is an action by automorphisms: a permutation takes initial states to initial
/// states and transitions to transitions, and no check tells a state from its image. `--audit` looks for a state where
/// that is not so.
#[warn(missing_docs)]
pub trait Action: Send + Sync {
    /// The permutations there are.
    fn group(&self) -> &Group;

    /// Puts the image of a row into `out`; false if it is not known.
    fn row(&self, row: &[u64], p: &Perm, out: &mut Vec<u64>) -> bool;

    /// The image of a start; none if it is not known.
    fn start(&self, start: usize, p: &Perm) -> Option<usize> {
        let _ = p;
        Some(start)
    }

    /// A start as a row of its own, which can be labelled and permuted as a state is. For systems that look for starts
    /// while others are explored: then the orbit of a start is not enumerated, it is known by its key.
    fn start_row(&self, start: usize) -> Option<Vec<u64>> {
        let _ = start;
        None
    }

    /// The image of a label.
    fn label(&self, label: &Label, p: &Perm) -> Label {
        let _ = p;
        label.clone()
    }

    /// What draws states for the labellings. Symmetric states must have isomorphic sketches; the more a sketch tells
    /// states apart that are not symmetric, the better the reduction.
    fn sketcher(self: Arc<Self>) -> Box<dyn Sketcher>;

    /// What draws states for nauty.
    #[cfg(feature = "nauty")]
    fn grapher(self: Arc<Self>) -> Box<dyn Grapher> {
        Box::new(sketch::Itself(self.sketcher()))
    }

    /// What finds the markers of states, where there are any.
    fn marking(self: Arc<Self>) -> Option<Box<dyn Marks>> {
        None
    }
}

/// Draws states, for one thread.
#[warn(missing_docs)]
pub trait Sketcher: Send {
    /// Draws one state, beginning with [`Sketch::start`] or a copy of what was drawn before.
    fn sketch(&mut self, row: &[u64], out: &mut Sketch);
}

impl<F: FnMut(&[u64], &mut Sketch) + Send> Sketcher for F {
    fn sketch(&mut self, row: &[u64], out: &mut Sketch) {
        self(row, out);
    }
}

/// Draws states for nauty, for one thread. Vertices `0..points` are the points, as in every sketch.
pub trait Grapher: Send {
    fn graph(&mut self, row: &[u64], out: &mut Sketch);
}

/// Finds markers, for one thread.
pub trait Marks: Send {
    fn of_row(&mut self, row: &[u64]) -> markers::Marker;
    fn of_start(&mut self, start: usize) -> markers::Marker;
}
