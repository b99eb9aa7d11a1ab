//! The proof obligations of the refinement chain, each written once and read four ways.
//!
//! | reading | drives an obligation with | shows it for |
//! |---|---|---|
//! | Kani (`kani_reading`, `cargo kani -p kanon-proofs`) | `kani::any` | all systems of 3 states |
//! | enumeration ([`search::every`]) | every choice in turn | all systems of up to 3 states |
//! | random ([`execute::once`]) | a tape that shrinks | some larger systems, up to 64 states |
//! | SMT ([`smt`], `kanon-proofs obligations`) | symbols | every size |
//!
//! Kani has not been run on the harnesses as they are now; docs/refinement.md says what it proved of the earlier ones.
//!
//! An obligation ([`obligations`]) is a function over a source of choices ([`choose::Choose`]): it chooses
//! constants, a state that satisfies the invariant and an event ([`any`]), assumes the guard, and claims
//! ([`schema`]). `OBLIGATIONS.md` ([`table`]) is the way from the paper to each.
#![forbid(unsafe_code)]

pub use kanon_refinement::kernel;

pub mod any;
pub mod choose;
pub mod execute;
pub mod groups;
#[cfg(any(kani, test))]
pub mod kani_reading;
pub mod kernel_form;
pub mod obligations;
pub mod schema;
pub mod search;
pub mod smt;
pub mod solve;
pub mod table;
