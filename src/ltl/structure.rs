//! What is checked: a labelled Kripke structure with possible deadlocks (*Seven at one stroke*, Definition 1), explored on demand.
//!
//! [`super::space`] makes one of any [`System`](crate::system::System), a B machine for instance. One that is written by
//! hand is another:
//!
//! ```
//! use kanon::ltl::{self, Edge, Expansion, Formula, Known, Prop, Property, StateId, Structure, Unary};
//! use kanon::verdict::Complete;
//!
//! /// A counter that can be reset, from 0 to 3.
//! struct Counter;
//! const ZERO: u32 = 0; // a proposition of states
//! const RESET: u32 = 0; // a proposition of steps
//!
//! impl Structure for Counter {
//!     fn initial(&mut self, out: &mut Vec<StateId>) -> Option<Complete> {
//!         out.push(0);
//!         Some(Complete::every_start_was_visited())
//!     }
//!     fn expand(&mut self, s: StateId, out: &mut Expansion) -> Known {
//!         out.props = u64::from(s == 0) << ZERO;
//!         if s < 3 {
//!             out.edges.push(Edge::new(s, 0, s + 1));
//!         }
//!         if s > 0 {
//!             out.edges.push(Edge::new(s, 1 << RESET, 0));
//!         }
//!         Known::All
//!     }
//! }
//!
//! let zero = Formula::Atom(Prop::State(ZERO));
//! let again = zero.unary(Unary::Finally).unary(Unary::Globally); // G F zero
//! let property = Property { premise: None, formula: again };
//! let answer = ltl::check(&mut Counter, &property, &Default::default()).expect("a small formula");
//! assert!(answer.verdict.holds(), "after 3 there is only the reset");
//! ```

use crate::verdict::{Complete, Why};

/// States are numbers; the structure knows what they stand for.
pub type StateId = u32;

/// A step to another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    pub target: StateId,
    /// The propositions of steps that hold of this one, a bit each.
    pub props: u64,
    /// Which operation with which parameters this is, for `WEF` and `SEF`; any number that tells them apart.
    pub instance: u32,
    /// It leads back to the very state it comes from. Under symmetry reduction that is more than having the same
    /// representative.
    pub stays: bool,
}

impl Edge {
    pub fn new(source: StateId, props: u64, target: StateId) -> Edge {
        Edge { target, props, instance: 0, stays: source == target }
    }
}

/// A state with its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The propositions of states that hold in this one, a bit each.
    pub props: u64,
    pub edges: Vec<Edge>,
    /// When not all steps are known: the propositions that a missing one may have.
    pub unsure: u64,
}

impl Default for Expansion {
    fn default() -> Self {
        Expansion { props: 0, edges: vec![], unsure: u64::MAX }
    }
}

impl Expansion {
    pub fn clear(&mut self) {
        (self.props, self.unsure) = (0, u64::MAX);
        self.edges.clear();
    }
}

/// How much an expansion says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    All,
    /// Everything said is true, but there may be more steps, with propositions out of `unsure`.
    Part,
    /// Nothing: the state stays open (§4.5).
    Nothing,
}

pub trait Structure {
    /// The initial states, each once, and the word that there are no others.
    fn initial(&mut self, out: &mut Vec<StateId>) -> Option<Complete>;

    /// The propositions and the steps of a state. `out` is empty before. The search asks once per state; whoever
    /// checks its answer asks again, and must be told the same.
    fn expand(&mut self, s: StateId, out: &mut Expansion) -> Known;

    /// The first reason for which something stayed open.
    fn open(&self) -> Option<Why> {
        None
    }
}

/// A structure that is written down whole.
#[derive(Clone, Debug, Default)]
pub struct Explicit {
    pub initial: Vec<StateId>,
    pub states: Vec<Expansion>,
}

impl Structure for Explicit {
    fn initial(&mut self, out: &mut Vec<StateId>) -> Option<Complete> {
        out.extend_from_slice(&self.initial);
        Some(Complete::every_start_was_visited())
    }

    fn expand(&mut self, s: StateId, out: &mut Expansion) -> Known {
        match self.states.get(s as usize) {
            Some(state) => {
                out.clone_from(state);
                Known::All
            }
            None => Known::Nothing,
        }
    }
}
