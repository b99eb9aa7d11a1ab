//! The language: from text to a typed model, and back.

mod compose;
mod diagnostics;
mod format;
mod parser;
mod roundtrip;
mod trees {
    pub mod generate;
    pub mod plain;
}
