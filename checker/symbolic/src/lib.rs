//! Checks certificates of proofs by formulas: k-induction, IC3, or paths that all end.
//!
//! The model is read again and made into formulas again, by the encoder (kanon-symbolic) and the circuits (kanon-solver)
//! that kanon uses: these two are trusted, which docs/trust.md says. What is to be proved follows from the formulas and
//! from the argument that the certificate names ([`argument`]); the clauses of each question are made here, compared with
//! those of the certificate by their hash, and refuted step by step ([`steps`]). No solver is asked, unless the proof is
//! one of an SMT solver: then another one has to agree, and the answer is relative to it.
//!
//! Of a certificate of states whose constants only a solver finds, all but that is checked by kanon-checker, and here
//! that there are no others ([`constants`]).
//!
//! Absent on purpose: engines. The features of kanon-solver that link a SAT solver are off.

#![deny(unsafe_code)]

pub mod argument;
pub mod check;
pub mod constants;
pub mod lemma;
pub mod steps;

pub use check::{Accepted, Rejected, check};
pub use constants::{AcceptedStates, check_states};
