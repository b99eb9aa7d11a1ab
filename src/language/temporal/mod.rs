//! Temporal formulas, LTL[e] with past: from ProB's notation ([`parse`]) to a tree ([`syntax`]) whose atomic propositions
//! are typed predicates over a model ([`atoms`]).
//!
//! Absent on purpose: what a formula is worth on a path, and how that is found out.

pub mod atoms;
mod lex;
pub mod parse;
pub mod syntax;
