//! The program as people use it: what they type, what they get, how it ends.

mod cli;
mod compare;
mod convert;
mod formulas;
mod graph;
mod ltl;
mod program;
mod refine;
#[path = "../support/mod.rs"]
mod support;
