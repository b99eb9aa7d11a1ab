//! kanon: a symmetry-reducing model checker for the B method with a verified kernel.
//!
//! The way of the data: text → [`lang`] → [`model`] → words and plans → a system → the
//! kernel's events → a verdict → a report. See ARCHITECTURE.md.

#![deny(unsafe_code)]

pub mod cli;
pub mod eval;
pub mod explore;
pub mod lang;
pub mod ltl;
pub mod model;
pub mod report;
pub mod run;
pub mod symmetry;
pub mod system;
pub mod trace;
pub mod value;
pub mod verdict;
