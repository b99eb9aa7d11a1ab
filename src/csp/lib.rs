//! CSP-M, the machine-readable form of CSP, as FDR reads it: from text to processes.
//!
//! [`lex`] and [`parse`] make the [`tree`] of a file and of all that it includes, [`check`] finds its names and
//! [`types`], [`compile`] makes [`code`](value::code) of it, and [`eval`] says which [`value`]s and which [`term`]s of processes its
//! definitions are; [`process`] what these do, and [`refine`] whether a script's assertions are true. Absent on purpose:
//! anything that prints.

#![deny(unsafe_code)]
#![allow(
    clippy::mutable_key_type,
    reason = "sequences without end are told apart by where they are, not by what is known of them"
)]

/// The endings of its files, without the dot.
pub const EXTENSIONS: [&str; 2] = ["csp", "cspm"];

mod builtin;
pub mod check;
pub mod compile;
pub mod eval;
pub mod lex;
pub mod parse;
pub mod process;
pub mod refine;
pub mod term;
pub mod tree;
pub mod types;
pub mod value;
