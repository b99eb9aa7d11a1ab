//! kanon-solver against enumeration, and its solvers against each other.

mod engines;
mod export;
mod measure;
mod quantified;
mod smt;
mod support;
mod terms;
