//! Temporal logic: the search against a second one, its laws, models with formulas, reduction, and certificates.

mod audit;
mod brute;
mod buechi;
mod certificates;
mod certified;
mod laws;
mod models;
mod random;
#[path = "../support/mod.rs"]
mod support;
mod symmetry;
