//! Event-B. Read are ProB's packages (`.eventb`); they become a [`project::Project`], and that one composed machine.
//!
//! [`term`] reads Prolog, [`shape`], [`package`], [`theory`] and [`formula`] know what the terms of a package mean; [`listing`]
//! gives everything a place that people can read; [`normal`], [`event`] and [`translate`] are Event-B itself, and know nothing of
//! packages; [`proved`] says what follows from discharged obligations. Absent on purpose: Rodin's files, text.

pub mod event;
pub mod formula;
pub mod listing;
pub mod normal;
pub mod package;
pub mod project;
pub mod proved;
pub mod shape;
pub mod term;
pub mod theory;
pub mod translate;

use crate::lang::ast::Machine;
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::front::{FrontEnd, Read};
use crate::lang::stack::catch_with_large_stack;
use project::Project;
use std::path::PathBuf;

/// Event-B as a front end.
#[derive(Clone, Copy, Debug)]
pub struct EventB;

impl FrontEnd for EventB {
    fn language(&self) -> &'static str {
        "Event-B packages of ProB"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["eventb"]
    }

    fn read(&self, sources: &mut SourceMap, file: FileId) -> Read {
        let failed = |why: String| Read {
            diagnostics: vec![Diagnostic::error("B0199", Span::new(file, 0, 0), why)],
            ..Read::default()
        };
        match catch_with_large_stack(|| read_here(sources, file)) {
            Ok(Ok(read)) => read,
            Ok(Err(_)) => failed("the reader failed; this is a bug of kanon".to_string()),
            Err(e) => failed(format!("cannot start a thread to read in: {e}")),
        }
    }
}

fn read_here(sources: &mut SourceMap, file: FileId) -> Read {
    let path: PathBuf = sources.path(file).map(Into::into).unwrap_or_default();
    let mut diagnostics = vec![];
    let composed = match project(sources, file) {
        Ok(mut project) => {
            listing::list(&mut project, sources, &path);
            normal::normalise(&mut project);
            translate::translate(&project, &mut diagnostics)
        }
        Err(mut errors) => {
            diagnostics.append(&mut errors);
            None
        }
    };
    let tree: Option<Machine> =
        composed.as_ref().and_then(|c| c.instances.get(c.top)).map(|i| (*i.machine).clone());
    Read { composed, tree, diagnostics, ..Read::default() }
}

/// The project in a package of the map.
///
/// # Errors
/// What is wrong with it or not supported.
pub fn project(sources: &SourceMap, file: FileId) -> Result<Project, Vec<Diagnostic>> {
    let text = sources.get(file).map_or_else(|| "".into(), |s| s.text.clone());
    let clauses = term::clauses(&text, file).map_err(|e| vec![e])?;
    package::read(&clauses, Span::new(file, 0, 0))
}
