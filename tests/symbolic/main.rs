//! Formulas made from typed predicates, against the reference evaluator.

#[path = "../support/mod.rs"]
mod support;

mod dense;
mod export;
mod ground;
mod hidden;
mod machines;
mod models;
mod mutants;
mod prove;
mod sequents;
mod simulation;
mod solutions;
