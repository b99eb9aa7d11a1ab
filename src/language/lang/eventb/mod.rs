//! Event-B. Read are ProB's packages, Rodin's files and text; all become a [`project::Project`], and that one composed
//! machine.
//!
//! [`open`] knows the forms of files. [`term`] reads Prolog, [`shape`], [`package`], [`theory`], [`formula`] and [`cases`] know what
//! the terms of a package mean, and [`pack`] writes them; [`rodin`] and [`text`] read and write the other forms, with
//! [`math`] for their formulas, and [`gather`] makes a project of their components. [`listing`] gives everything a place
//! that people can read; [`normal`], [`event`] and [`translate`] are Event-B itself, and know nothing of files;
//! [`proved`] says what follows from discharged obligations.

pub mod cases;
pub mod convert;
pub mod event;
pub mod formula;
pub mod gather;
pub mod listing;
pub mod math;
pub mod normal;
pub mod open;
pub mod pack;
pub mod package;
pub mod project;
pub mod proved;
pub mod rodin;
pub mod sequents;
pub mod shape;
pub mod term;
pub mod text;
pub mod theory;
pub mod translate;

use crate::lang::ast::Machine;
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::front::{FrontEnd, Read};
use crate::lang::index::Index;
use crate::lang::stack::catch_with_large_stack;
use crate::lang::style::Style;
use open::Opened;
use std::path::{Path, PathBuf};

/// Event-B as a front end.
#[derive(Clone, Copy, Debug)]
pub struct EventB;

impl FrontEnd for EventB {
    fn language(&self) -> &'static str {
        "Event-B"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["eventb", "bum", "buc", "mchx", "ctxx", "zip"]
    }

    fn read(&self, sources: &mut SourceMap, file: FileId) -> Read {
        guarded(sources, file, |sources| {
            let path: PathBuf = sources.path(file).map(Into::into).unwrap_or_default();
            let opened = open::open_file(sources, file, None);
            composed(sources, opened, &path)
        })
    }

    fn read_path(&self, sources: &mut SourceMap, path: &Path, part: Option<&str>) -> Option<Read> {
        let is_collection = open::is_collection(sources.files(), path);
        if !is_collection && (part.is_none() || !open::is_known(path)) {
            return None;
        }
        let place = sources.next();
        Some(guarded(sources, place, |sources| {
            let opened = project(sources, path, part);
            composed(sources, opened, path)
        }))
    }

    fn format(&self, text: &str, file: FileId, _: Style) -> Option<Result<String, Vec<Diagnostic>>> {
        let formatted = || text::format::format(text, file);
        let failed = |why: String| Err(vec![Diagnostic::error("B0199", Span::new(file, 0, 0), why)]);
        text::is_text(text).then(|| match catch_with_large_stack(formatted) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => failed("the formatter failed; this is a bug of kanon".to_string()),
            Err(e) => failed(format!("cannot start a thread to format in: {e}")),
        })
    }

    fn index(&self, text: &str, file: FileId) -> Option<Index> {
        // Without a thread, or by a mistake of ours, nothing is known of the text.
        let indexed = || catch_with_large_stack(|| text::index::index(text, file));
        text::is_text(text).then(|| indexed().ok().and_then(Result::ok).unwrap_or_default())
    }
}

/// The project at a path, as its files have it.
pub fn project(sources: &mut SourceMap, path: &Path, part: Option<&str>) -> Opened {
    if open::is_collection(sources.files(), path) {
        return open::open_collection(sources, path, part);
    }
    match sources.read(path) {
        Ok(file) => open::open_file(sources, file, part),
        Err(message) => {
            let file = sources.add(path, "");
            let e = Diagnostic::error("B0100", Span::new(file, 0, 0), message);
            Opened { diagnostics: vec![e], ..Opened::default() }
        }
    }
}

/// Runs on a stack of its own; a failure of ours is a message.
fn guarded(sources: &mut SourceMap, file: FileId, read: impl FnOnce(&mut SourceMap) -> Read + Send) -> Read {
    let failed = |why: String| Read {
        diagnostics: vec![Diagnostic::error("B0199", Span::new(file, 0, 0), why)],
        ..Read::default()
    };
    match catch_with_large_stack(|| read(sources)) {
        Ok(Ok(read)) => read,
        Ok(Err(_)) => failed("the reader failed; this is a bug of kanon".to_string()),
        Err(e) => failed(format!("cannot start a thread to read in: {e}")),
    }
}

fn composed(sources: &mut SourceMap, opened: Opened, path: &Path) -> Read {
    let has_errors = opened.has_errors();
    let Opened { mut project, is_coded, mut diagnostics } = opened;
    if project.machines.is_empty() && project.contexts.is_empty() && has_errors {
        return Read { diagnostics, ..Read::default() };
    }
    // Errors keep their places in the files; findings are shown in the listing.
    if is_coded && !has_errors {
        listing::list(&mut project, sources, path);
    }
    normal::normalise(&mut project);
    let mut found = vec![];
    let composed = translate::translate(&project, &mut found);
    // Beside errors, what follows from them says nothing new.
    if !has_errors {
        diagnostics.append(&mut found);
    }
    let tree: Option<Machine> =
        composed.as_ref().and_then(|c| c.instances.get(c.top)).map(|i| (*i.machine).clone());
    Read { composed: composed.filter(|_| !has_errors), tree, diagnostics, ..Read::default() }
}
