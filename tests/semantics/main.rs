//! What a text means: the reference evaluator, and production's against it.

mod algebra;
mod differential;
mod differential_machines;
mod random_trees;
mod readings;
mod reference;
mod reference_machines;
#[path = "../support/mod.rs"]
mod support;
