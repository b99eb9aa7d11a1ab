//! Temporal logic: the search against a second one, its laws, models with formulas, and reduction.

mod audit;
mod brute;
mod buechi;
mod laws;
mod models;
mod random;
#[path = "../support/mod.rs"]
mod support;
mod symmetry;
