//! CSP-M: the suite of FDR's front end, scripts of our own, and texts that nobody would write.

mod compressed;
mod evaluated;
mod libcspm;
mod random;
mod refined;
mod scripts;
mod textbook;

use kanon_csp::check::{Types, check};
use kanon_csp::parse::parse;
use kanon_language::lang::diag::{Diagnostic, FileId, SourceMap};

/// Reads a text of the map, and types it if it could be read.
pub fn typed(sources: &mut SourceMap, file: FileId) -> Types {
    let script = parse(sources, file);
    if script.has_errors() {
        return Types { diagnostics: script.diagnostics, ..Types::default() };
    }
    check(&script.decls)
}

/// One line for each.
pub fn shown(sources: &SourceMap, all: &[Diagnostic]) -> Vec<String> {
    all.iter().map(|d| format!("{}: {} {}", sources.place(d.span), d.code, d.message)).collect()
}
