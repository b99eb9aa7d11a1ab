//! The animator: a model is explored by hand. One session behind every view of it, in the terminal or in a browser.
//!
//! Two types, by what the system can tell:
//!
//! - [`Walk`] is for every [`System`]: states, steps, a history that branches, random steps, the
//!   way to a state that passes a test, checks, links, files.
//! - [`Session`] is a walk through a B machine, with what needs a model: constants, parameters and results by name, why an
//!   operation is not enabled, questions and watched expressions, explanations, traces that other tools read.
//!
//! [`Animated`] is what views ask of either, [`Scene`] all that they show of a state, and [`command`] the lines that people
//! type in them.
//!
//! ```
//! use kanon::animate::{From, Session, Sought};
//! use kanon::run::Deadline;
//! use std::path::Path;
//!
//! let stop = Deadline::never();
//! let file = Path::new("models/demo/Library.mch");
//! let mut session = Session::open(file, &Default::default(), &stop).expect("a model without errors");
//! // Before the first state the initial states are the choices.
//! session.walk_mut().step(0, &stop.flag).expect("an initial state");
//! let found = session.seek("lent /= {}", From::Here, Default::default(), &stop.flag).expect("a predicate");
//! assert!(matches!(found, Sought::Reached(_)));
//! let steps = session.walk().way(session.walk().at()).len();
//! assert!(session.walk_mut().undo() && session.walk_mut().redo());
//! // The way here is a trace, which any session of the machine can take.
//! let trace = session.save(kanon::trace::export::Format::Prob);
//! let mut other = Session::open(file, &Default::default(), &stop).expect("the same model");
//! let loaded = other.load(&trace.to_string(), &stop.flag).expect("a trace");
//! assert_eq!(loaded.steps, steps);
//! assert_eq!(other.walk().row(), session.walk().row());
//! ```
//!
//! *Absent:* printing, arguments, requests (views have them), verdicts: what a search by hand has not found is nowhere only
//! if all that can be reached was looked at, and unknown otherwise. [`crate::run`] checks.
//!
//! [`System`]: crate::system::System

pub mod command;
pub mod other;
mod picture;
mod scene;
mod see;
mod session;
mod svg;
mod walk;

pub use picture::{Event, Hover, Picture};
pub use scene::{Animated, History, Scene};
pub use see::{Graph, Node, Orbit, Relation};
pub use session::{Call, Conjunct, Loaded, Operation, Session, Tree, Value, Watched, tree};
pub use svg::Element;
pub use walk::{
    Choice, Choices, End, From, Judged, Limits, MAX_CHOICES, Missing, Place, Sought, Unseen, Visited, Walk,
};
