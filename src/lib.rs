//! kanon: a symmetry-reducing model checker for the B method with a verified kernel.
//!
//! The program is `kanon`; this is the library behind it. What is meant for others is small:
//!
//! - [`run`]: a project is read, solved and asked; [`run::system`] asks a system that is written in Rust.
//! - [`system`]: the trait that such a system implements, in some twenty lines, and B's implementation of it.
//! - [`animate`]: a model explored by hand, behind every view of it.
//! - [`terminal`]: one of these views, on a terminal.
//! - [`verdict`]: the answer, and why there is none.
//! - [`Options`], [`Action`] and what belongs to them; [`show`] writes answers as text, JSON and pictures.
//!
//! The rooms behind these (see ARCHITECTURE.md) are public for the program's own tests and benches, and may change at any
//! time: text → lang → model → words and plans → a system → the kernel's events → a verdict → a report.

#![deny(unsafe_code)]
#![warn(missing_docs)]

#[doc(hidden)]
pub use kanon_language::{lang, model, temporal};

pub mod animate;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod certify;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod checkpoint;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod cli;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod distribute;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod eval;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod explore;
#[doc(hidden)]
pub mod guided;
#[cfg(any(test, kani))]
mod harness;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod lsp;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod ltl;
#[doc(hidden)]
pub mod net;
#[doc(hidden)]
pub mod process;
#[doc(hidden)]
pub mod refine;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod report;
pub mod run;
#[doc(hidden)]
pub mod serve;
#[doc(hidden)]
pub use kanon_symbolic::symbolic;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod symmetry;
pub mod system;
pub mod terminal;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod trace;
#[allow(missing_docs)]
#[doc(hidden)]
pub mod value;
pub mod verdict;
#[doc(hidden)]
pub mod xtl;

pub use explore::plan::Refusal;
pub use explore::{Counts, Finding, FindingKind, Options, Order};
pub use report::system as show;
pub use symmetry::{Action, Group, Perm, Sketch, Sketcher, Strategy};
