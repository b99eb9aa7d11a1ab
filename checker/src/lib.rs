//! Checks certificates: a "no error" of kanon, written down so that it can be checked again by a program that shares
//! nothing with the engines that found it.
//!
//! What is here: whether a statement fits the files ([`fits`]), the file's form ([`container`], [`codec`], [`statement`]), permutations of elements that a model does
//! not name ([`permute`]), and the check itself ([`check`]; [`ltl`] for
//! temporal formulas, `inductive` for invariants that are small enough to be listed); counterexamples are followed by [`trace`];
//! [`said`] puts an answer into words. The model is read by kanon-language, and what it means is
//! said by the reference evaluator of kanon-semantics. docs/certificate.md describes the file well enough to write
//! another checker.
//!
//! Absent on purpose: plans, words, stores, symmetry strategies, the kernel, threads; any search. Nothing is guessed:
//! what the file does not say is rejected, and a rejection ([`Rejected`]) says what is missing, in the model's terms.

#![deny(unsafe_code)]

pub mod check;
pub mod codec;
pub mod container;
pub mod fits;
mod inductive;
pub mod ltl;
pub mod permute;
mod reject;
pub mod said;
pub mod statement;
mod states;
pub mod trace;

pub use check::{Accepted, Believed, check, check_model};
pub use reject::{Place, Rejected};
pub use trace::{Refuted, check_trace};
