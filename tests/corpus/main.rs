//! The shared corpus: machines and formulas that are not ours, and ProB's answers to them.

mod certificates;
mod formulas;
mod machines;
mod refinements;
mod tables;

#[path = "../support/mod.rs"]
mod support;
