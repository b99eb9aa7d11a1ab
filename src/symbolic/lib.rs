//! The room [`symbolic`] as a crate of its own, which `kanon` and the checker of symbolic certificates share: typed
//! predicates and whole machines as formulas. It knows no engine; of kanon-solver it needs terms.

#![deny(unsafe_code)]

#[path = "mod.rs"]
pub mod symbolic;

use kanon_language::{lang, model};
use kanon_semantics::plain as value;

mod eval {
    pub use kanon_semantics::reference;
}
