//! Rodin's files: `.bum` and `.buc` (machines and contexts as they are written, before they are checked), `.bps`,
//! `.bpo` and `.bpr` (which obligations there are, and which are proved), `.bcm` and `.bcc` (of which sources they were
//! made), in a folder or in an archive.
//!
//! [`xml`] keeps the places of attributes, [`component`] reads machines and contexts, [`proofs`] what is proved, [`built`]
//! whether that is about the sources as they are now, [`handle`] how one file refers to what is in another,
//! [`archive`] opens and makes `.zip` files, [`write`] writes all of it.

pub mod archive;
pub mod built;
pub mod component;
pub mod handle;
pub mod proofs;
pub mod write;
pub mod xml;

use super::gather::Kind;

/// The ending of the file of a component.
pub fn ending(kind: Kind) -> &'static str {
    match kind {
        Kind::Machine => "bum",
        Kind::Context => "buc",
    }
}

/// What all words of Rodin's core begin with.
pub const CORE: &str = "org.eventb.core.";
