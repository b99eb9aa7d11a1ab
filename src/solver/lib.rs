//! Formulas over booleans and exact integers, solvers for them, and the engines that need nothing else: bounded model
//! checking, k-induction and IC3 on transition systems given by formulas.
//! Absent on purpose: B. `kanon::symbolic` makes the formulas from a typed model and reads the answers back.

#![deny(unsafe_code)]

pub mod aiger;
pub mod blast;
pub mod bmc;
mod cadical;
pub mod engine;
pub mod eval;
pub mod export;
pub mod gates;
pub mod ic3;
pub mod kinduction;
pub mod quantified;
pub mod range;
pub mod refute;
pub mod sat;
pub mod sequences;
pub mod smt;
pub mod smtlib;
pub mod solver;
pub mod substitute;
pub mod term;
pub mod transition;
pub mod unroll;
