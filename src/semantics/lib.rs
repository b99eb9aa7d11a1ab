//! What a typed model means: plain values, what can go wrong when one is computed, and the reference evaluator. With
//! kanon-language this is all that a checker of certificates needs; the engines are tested against it.
//!
//! **Logic of undefined terms.** A predicate is true, false or faulty, and the connectives are strong
//! Kleene's: a conjunction with a false conjunct is false whatever the others are, and faulty if none is
//! false and one is faulty; dually for disjunction; `P => Q` is `not P or Q`; quantifiers are conjunctions and
//! disjunctions over all values of the type. So the order of conjuncts does not matter, and a plan may evaluate
//! them in any order. An expression with a faulty part is faulty, except `IF`, whose untaken branch is not looked at.
//!
//! ```
//! use kanon_language::model::{ConstId, load::load_text, scope};
//! use kanon_semantics::{plain::Value, reference};
//!
//! let text = "MACHINE M CONSTANTS c PROPERTIES c = max({x | x : 1..9 & x * x < 20}) END";
//! let model = load_text("M.mch", text).model.expect("a machine without errors");
//! let (scope, _) = scope::scope(&model, &scope::ScopeArgs::default()).expect("no sets to size");
//! let valuations = reference::constants(&reference::Cx::new(&model, &scope)).found;
//! assert_eq!(valuations.len(), 1);
//! assert_eq!(valuations[0].constants[ConstId(0).index()], Some(Value::int(4).into()));
//! ```
//!
//! Absent on purpose: representations, plans, stores, anything that an engine has.

#![deny(unsafe_code)]

pub mod plain;
pub mod reference;

use kanon_language::{lang, model};
