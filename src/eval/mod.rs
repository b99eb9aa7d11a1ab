//! Evaluation. The reference evaluator of kanon-semantics is the meaning: short, complete, enumerating naively. The
//! production evaluator runs plans on words and must agree with it, faults included.
//!
//! Undefined terms follow Kleene's logic (see [`kanon_semantics`]), so a plan may evaluate conjuncts in any order.

pub mod code;
pub mod compile;
pub mod env;
pub mod memo;
pub mod node;
pub mod plan;
pub mod tier;
pub mod word;

pub use crate::value::fault::{Fault, Wd, WdKind};
pub use kanon_semantics::reference;
