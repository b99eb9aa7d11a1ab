//! Production values: words and shared parts, chosen by type. What people see and files hold, and what the reference
//! evaluator computes with, is the plain tree [`Value`] of kanon-semantics.

pub mod hash;
pub mod mask;
pub mod ops;
pub mod packed;
pub mod ranges;
pub mod rep;
pub mod table;
pub mod val;

pub use kanon_semantics::plain::{Scope, Show, Value, element_name, external, fault};
