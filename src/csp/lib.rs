//! CSP-M, the machine-readable form of CSP, as FDR reads it: from text to typed definitions.
//!
//! [`lex`] and [`parse`] make the [`tree`] of a file and of all that it includes, [`check`] finds its names and
//! [`types`]. Absent on purpose: values, processes that run, anything that prints.

#![deny(unsafe_code)]

/// The endings of its files, without the dot.
pub const EXTENSIONS: [&str; 2] = ["csp", "cspm"];

pub mod check;
pub mod lex;
pub mod parse;
pub mod tree;
pub mod types;
