//! The search through the states: what it answers, in which order, with how many threads, and its audit.

mod audit;
mod certificates;
mod checkpoints;
mod choices;
mod datatypes;
mod disk;
mod distributed;
mod elements;
mod eventb;
mod fixed;
mod follow;
mod formulas;
mod invariant;
mod models;
mod mutations;
mod obligations;
mod proofs;
mod refine;
mod refine_events;
mod refine_faults;
mod refine_pairs;
mod shares;
mod starts;
#[path = "../support/mod.rs"]
mod support;
mod theories;
mod threads;
mod traces;
