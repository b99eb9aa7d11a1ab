//! Z: both markups give one tree, what is wrong has a place, and specifications become machines.

mod diagnostics;
mod expressions;
mod machines;
mod mutants;

use kanon_language::lang::diag::{Diagnostic, SourceMap};
use kanon_language::lang::z::{parse_file, tree};

/// The tree of a text; `name` says which markup it is in.
fn parsed(name: &str, text: &str) -> (tree::Spec, Vec<Diagnostic>) {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    parse_file(&sources, file)
}
