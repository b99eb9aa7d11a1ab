//! Petri nets in PNML, as the Model Checking Contest writes them: place/transition nets and symmetric nets.
//!
//! [`read`] makes a [`net::Net`] of a document, declarations resolved and sorts checked; [`unfold`] makes places with
//! one kind of token and transitions without variables of it; [`condition`] reads what is asked of a marking;
//! [`symmetry`] finds the colours that nothing tells apart. Absent on purpose: exploration, anything that prints.

#![deny(unsafe_code)]

/// The endings of its files, without the dot.
pub const EXTENSIONS: [&str; 1] = ["pnml"];

pub mod condition;
pub mod net;
pub mod read;
pub mod symmetry;
mod terms;
pub mod unfold;
mod xml;
