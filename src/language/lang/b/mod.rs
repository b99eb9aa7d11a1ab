//! Classical B: lexer, parser, macro definitions, composition of machines.
//!
//! [`parse_machine`] reads one file up to a [`Machine`] whose definitions are expanded; which
//! other machines it needs is for the composition to find out.

pub mod compose;
pub mod defs;
mod expand;
pub mod format;
pub mod index;
pub(in crate::lang) mod lex;
mod library;
pub(in crate::lang) mod parse;

use crate::lang::ast::{Expr, Machine};
use crate::lang::composed::Composed;
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::front::{Expressions, FrontEnd, Read};
use crate::lang::index::Index;
pub use crate::lang::macros::Definitions;
use crate::lang::stack::catch_with_large_stack;
use crate::lang::style::Style;
use std::path::Path;

/// Classical B as a front end.
#[derive(Clone, Copy, Debug)]
pub struct ClassicalB;

impl FrontEnd for ClassicalB {
    fn language(&self) -> &'static str {
        "classical B"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["mch", "ref", "imp", "sys"]
    }

    fn read(&self, sources: &mut SourceMap, file: FileId) -> Read {
        let (mut parsed, partial) = parse_file(sources, file);
        let path = sources.path(file).map(Path::to_path_buf).unwrap_or_default();
        let tree = parsed.machine.clone().or(partial);
        let definitions = std::mem::take(&mut parsed.definitions);
        let mut diagnostics = vec![];
        let composed: Option<Composed> = compose::compose(sources, parsed, &path, &mut diagnostics);
        Read { composed, tree, definitions, diagnostics }
    }

    fn expressions(&self) -> Option<&dyn Expressions> {
        Some(self)
    }

    fn format(&self, text: &str, file: FileId, style: Style) -> Option<Result<String, Vec<Diagnostic>>> {
        Some(format::format(text, file, style))
    }

    fn index(&self, text: &str, file: FileId) -> Option<Index> {
        Some(index::index(text, file))
    }
}

impl Expressions for ClassicalB {
    fn parse_expr(
        &self,
        sources: &mut SourceMap,
        name: &str,
        text: &str,
        definitions: &Definitions,
    ) -> Result<Expr, Vec<Diagnostic>> {
        parse_expr(sources, name, text, definitions)
    }
}

/// What reading a machine gave. `machine` is there exactly when no error was reported.
#[derive(Debug, Default)]
pub struct Parsed {
    pub machine: Option<Machine>,
    /// The machine's macros, for expressions that are read later (command line, REPL, LTL).
    pub definitions: Definitions,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the machine in a file.
pub fn parse_machine(sources: &mut SourceMap, path: &Path) -> Parsed {
    match sources.read(path) {
        Ok(file) => parse_file(sources, file).0,
        Err(message) => {
            let file = sources.add(path, "");
            let d = Diagnostic::error("B0100", Span::new(file, 0, 0), message);
            Parsed { diagnostics: vec![d], ..Parsed::default() }
        }
    }
}

/// Reads a machine from a string; `name` stands for the file in messages, and the files of its
/// definitions are looked for beside it.
pub fn parse_text(sources: &mut SourceMap, name: &str, text: &str) -> Parsed {
    let file = sources.add(name, text);
    parse_file(sources, file).0
}

/// Reads one expression or predicate, with a machine's definitions expanded in it.
pub fn parse_expr(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    definitions: &Definitions,
) -> Result<Expr, Vec<Diagnostic>> {
    let file = sources.add(name, text);
    let text = source_text(sources, file);
    with_deep_stack(file, || {
        let (tokens, mut diagnostics) = lex::lex(&text, file);
        let mut parser = parse::Parser::new(&text, file, &tokens);
        let e = parser.only_expr();
        diagnostics.append(&mut parser.diagnostics);
        match e {
            Some(e) if diagnostics.is_empty() => definitions.expand_expr(e),
            _ => Err(diagnostics),
        }
    })
    .unwrap_or_else(|d| Err(vec![d]))
}

/// The machine; beside errors, what could be read of it: the clauses and operations without a mistake, their
/// definitions not expanded.
fn parse_file(sources: &mut SourceMap, file: FileId) -> (Parsed, Option<Machine>) {
    let text = source_text(sources, file);
    let result = with_deep_stack(file, || {
        let (tokens, mut diagnostics) = lex::lex(&text, file);
        let mut parser = parse::Parser::new(&text, file, &tokens);
        let raw = parser.machine();
        if diagnostics.iter().any(|d| d.code == "B0103") {
            // The rest of the file was a comment: what is missing at its end is no news.
            let end = parser.end_of_file();
            parser.diagnostics.retain(|d| d.span != end);
        }
        diagnostics.append(&mut parser.diagnostics);
        diagnostics.sort_by_key(|d| d.span);
        diagnostics.truncate(parse::MAX_ERRORS);
        match raw {
            Some(raw) => defs::finish(sources, file, raw, diagnostics),
            None => (Parsed { diagnostics, ..Parsed::default() }, None),
        }
    });
    result.unwrap_or_else(|d| (Parsed { diagnostics: vec![d], ..Parsed::default() }, None))
}

fn source_text(sources: &SourceMap, file: FileId) -> std::sync::Arc<str> {
    sources.get(file).map_or_else(|| "".into(), |s| s.text.clone())
}

/// Runs the recursive passes where [`parse::MAX_DEPTH`] levels fit whatever the caller's stack is.
fn with_deep_stack<X: Send>(file: FileId, work: impl FnOnce() -> X + Send) -> Result<X, Diagnostic> {
    let failed = |why: String| Diagnostic::error("B0199", Span::new(file, 0, 0), why);
    catch_with_large_stack(work)
        .map_err(|e| failed(format!("cannot start a thread to parse in: {e}")))?
        .map_err(|_| failed("the parser failed; this is a bug of kanon".to_string()))
}

/// The warning about a file that is found although its name differs in capitals.
fn other_case(name: &str, found: &Path, span: Span) -> Diagnostic {
    let file = found.file_name().map(|f| f.to_string_lossy()).unwrap_or_default();
    let message = format!("`{name}` was found as {file}: they differ in capitals");
    let help = "where file names are case-sensitive, other tools do not find it";
    Diagnostic::warning("B0219", span, message).help(help)
}
