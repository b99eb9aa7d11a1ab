//! Formulas over booleans and exact integers, solvers for them, and the engines that need nothing else: bounded model
//! checking, k-induction and IC3 on transition systems given by formulas.
//! Absent on purpose: B. `kanon::symbolic` makes the formulas from a typed model and reads the answers back.

#![deny(unsafe_code)]

pub mod blast;
mod cadical;
pub mod eval;
pub mod gates;
pub mod range;
pub mod sat;
pub mod solver;
pub mod substitute;
pub mod term;
pub mod transition;
