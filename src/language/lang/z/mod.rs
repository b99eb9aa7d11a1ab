//! Z: LaTeX with Spivey's and the standard's commands, and Unicode with boxes. Both become one tree, that one
//! declarations with types of Z, and these one machine (docs/z.md).
//!
//! [`lex`] and [`symbols`] know the two markups, [`parse`] the grammar, [`check`] names, types and meanings,
//! [`machine`] which schemas are the state and its operations. Absent on purpose: operators of one's own, sections with
//! parents, proofs.

pub mod check;
pub mod lex;
pub mod machine;
mod make;
pub mod parse;
mod pretty;
pub mod symbols;
pub mod tree;
pub mod types;
mod walk;

use crate::lang::ast::Ident;
use crate::lang::b::{Parsed, compose};
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::front::{FrontEnd, Read};
use crate::lang::stack::catch_with_large_stack;
use std::path::PathBuf;

/// Z as a front end.
#[derive(Clone, Copy, Debug)]
pub struct Z;

impl FrontEnd for Z {
    fn language(&self) -> &'static str {
        "Z"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["tex", "zed", "utf8"]
    }

    fn read(&self, sources: &mut SourceMap, file: FileId) -> Read {
        let failed = |why: String| Read {
            diagnostics: vec![Diagnostic::error("B0199", Span::new(file, 0, 0), why)],
            ..Read::default()
        };
        match catch_with_large_stack(|| read(sources, file)) {
            Ok(Ok(read)) => read,
            Ok(Err(_)) => failed("the reader failed; this is a bug of kanon".to_string()),
            Err(e) => failed(format!("cannot start a thread to read in: {e}")),
        }
    }
}

/// The tree of a text of the map, in either markup.
pub fn parse_file(sources: &SourceMap, file: FileId) -> (tree::Spec, Vec<Diagnostic>) {
    let Some(source) = sources.get(file) else { return Default::default() };
    let text = source.text.clone();
    let is_latex = source.path.extension().is_some_and(|e| e == "tex") || lex::is_latex(&text);
    parse::parse(lex::lex(&text, file, is_latex), file, text.len())
}

fn read(sources: &mut SourceMap, file: FileId) -> Read {
    let path: PathBuf = sources.path(file).map(Into::into).unwrap_or_default();
    let (spec, mut diagnostics) = parse_file(sources, file);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Read { diagnostics, ..Read::default() };
    }
    let place = Span::new(file, 0, 0);
    if spec.paragraphs.is_empty() {
        let message = "there is no paragraph of Z in this file";
        let help = "`\\begin{schema}{S} … \\end{schema}` in LaTeX, `┌ S … └` in Unicode";
        diagnostics.push(Diagnostic::error("B0102", place, message).help(help));
        return Read { diagnostics, ..Read::default() };
    }
    let mut found = check::check(&spec.paragraphs);
    diagnostics.append(&mut found.diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Read { diagnostics, ..Read::default() };
    }
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let name = Ident { name: stem.into(), span: place };
    let mut machine = machine::machine(name, &spec, found, &mut diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Read { diagnostics, ..Read::default() };
    }
    pretty::machine(&mut machine);
    let parsed = Parsed { machine: Some(machine.clone()), ..Parsed::default() };
    let composed = compose::compose(sources, parsed, &path, &mut diagnostics);
    Read { composed, tree: Some(machine), diagnostics, ..Read::default() }
}
