//! Front-ends: text becomes a syntax tree, one machine after composition.
//!
//! Every language ends in the tree of [`ast`]; its meaning starts in [`crate::model`].
//! Absent on purpose: types, values, anything that prints.

pub mod ast;
pub mod b;
pub mod composed;
pub mod decimal;
pub mod diag;
pub mod eventb;
pub mod external;
pub mod files;
pub mod front;
pub mod index;
pub mod languages;
pub mod macros;
pub mod notation;
pub mod print;
pub mod spelling;
pub mod stack;
pub mod style;
pub mod walk;
pub mod z;
