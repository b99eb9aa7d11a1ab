//! From text to a typed model: what every engine starts from, and all that a checker of certificates needs to know
//! of a language. Nothing here computes a value.

#![deny(unsafe_code)]

pub mod lang;
pub mod model;
pub mod temporal;
