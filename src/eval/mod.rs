//! Evaluation. `reference` is the semantics: short, complete, enumerating naively. The production
//! evaluator runs plans on words and must agree with it, faults included.
//!
//! **Logic of undefined terms.** A predicate is true, false or faulty, and the connectives are strong
//! Kleene's: a conjunction with a false conjunct is false whatever the others are, and faulty if none is
//! false and one is faulty; dually for disjunction; `P => Q` is `not P or Q`; quantifiers are conjunctions and
//! disjunctions over all values of the type. So the order of conjuncts does not matter, and a plan may evaluate
//! them in any order. An expression with a faulty part is faulty, except `IF`, whose untaken branch is not looked at.

pub mod reference;

pub mod code;
pub mod compile;
pub mod env;
pub mod memo;
pub mod node;
pub mod plan;
pub mod tier;
pub mod word;

pub use crate::value::fault::{Fault, Wd, WdKind};
