//! Symmetry reduction: every strategy against brute force, the papers' tables, and the libraries beside it.

mod nauty;
mod petgraph_oracle;
mod strategies;
#[path = "../support/mod.rs"]
mod support;
mod tables;
