//! The pipeline: a project is read once, solved once, and then asked; every question has a plain answer.
//!
//! | question | asked by | answer |
//! |---|---|---|
//! | does anything go wrong in a state? | [`check::check`] | [`answer::Checked`] |
//! | do formulas hold on all paths? | [`ltl::check`] | [`ltl::Answered`] |
//! | does it refine what it says it refines? | [`refine::refine`] | [`refine::Refined`] |
//! | do the strategies agree? | [`compare::Compared`] | itself |
//! | the first question, asked of formulas | [`symbolic::answer`] | [`symbolic::Answered`] |
//! | what do random walks meet? | [`simulate::simulate`] | [`simulate::Simulated`] |
//! | how is everything reached? | [`cases::cases`] | [`cases::Cases`] |
//! | what does it define? | [`types::types`] | [`types::Typed`] |
//! | what do other tools say? | [`export::export`] | [`export::Exported`] |
//! | does a log fit? | [`follow::follow`] | [`follow::Answered`] |
//! | what is a definition of a CSP-M script worth? | [`csp::eval`] | [`csp::Evaluated`] |
//! | the first questions of a file that is not in B | [`other::open`] | [`other::Checked`], [`other::Answered`] |
//! | are its assertions true? | [`csp::check`] | [`csp::Asserted`] |
//! | the same of a system written in Rust | [`system`] | [`system::Answer`] |
//!
//! ```
//! use kanon::run::{Deadline, Task, check_file};
//! use kanon::verdict::Decision;
//! use std::path::Path;
//!
//! let file = Path::new("models/demo/Library.mch");
//! let (project, checked) = check_file(file, &Default::default(), &Task::default(), &Deadline::never())
//!     .map_err(|refused| refused.diagnostics)
//!     .expect("a model without errors");
//! assert_eq!(&*project.opened.model.name, "Library");
//! assert_eq!(checked.verdict, Decision::Fails);
//! ```
//!
//! Nothing here prints or looks at arguments: how an answer looks is the business of [`crate::report`], and what was asked
//! for that of [`crate::cli`].

pub mod answer;
mod blame;
pub mod cases;
mod certificate;
pub mod check;
pub mod compare;
pub mod constants;
pub mod coverage;
pub mod csp;
pub mod deadline;
pub mod distributed;
pub mod export;
pub mod follow;
pub mod format;
mod kept;
pub mod ltl;
pub mod manifest;
pub mod notes;
pub mod numbers;
pub mod other;
pub mod project;
mod proofs;
pub mod prove;
pub mod reference;
pub mod refine;
pub mod sequents;
pub mod simulate;
pub mod suite;
pub mod symbolic;
pub mod system;
mod table;
pub mod types;
pub mod vacuity;
pub mod watch;
pub mod why;

pub use check::{Task, check_file, explore};
pub use deadline::{Bounds, Deadline};
pub use project::{Project, Solved};
pub use reference::Reference;
