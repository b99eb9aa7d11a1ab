//! From a file to a typed model.

use super::Model;
use super::check;
use super::sequents::{self, Sequents};
use super::simulation;
use super::tower::{self, Purpose, Tower};
use crate::lang::ast::Machine;
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::files::{Disk, Files};
use crate::lang::front::Read;
use crate::lang::languages::{self, Language};
use crate::lang::macros::Definitions;
pub use crate::lang::stack::with_large_stack;
use std::path::Path;
use std::sync::Arc;

/// What came of a file: the model, unless the diagnostics hold an error.
#[derive(Debug, Default)]
pub struct Loaded {
    pub sources: SourceMap,
    pub model: Option<Model>,
    /// The machine itself as far as it could be read, also beside errors.
    pub tree: Option<Machine>,
    pub diagnostics: Vec<Diagnostic>,
    /// The machine's macros, for expressions that are read later.
    pub definitions: Definitions,
    /// The language that these are written in.
    pub language: Language,
}

/// Reads the machine at `path` with all machines that it refers to, and types it.
pub fn load(path: &Path) -> Loaded {
    load_from(Arc::new(Disk), path)
}

/// The same with files from elsewhere than the disk.
pub fn load_from(files: Arc<dyn Files>, path: &Path) -> Loaded {
    let loaded = load_with(SourceMap::over(files), |sources| languages::read(sources, path));
    Loaded { language: Language::of(path), ..loaded }
}

/// The same for a machine given as text; `name` stands for its file, beside which others are looked for.
pub fn load_text(name: &str, text: &str) -> Loaded {
    let loaded = load_with(SourceMap::default(), |sources| languages::read_text(sources, name, text));
    Loaded { language: Language::of(Path::new(name)), ..loaded }
}

/// A chain of refinements, unless the diagnostics hold an error.
#[derive(Debug, Default)]
pub struct LoadedTower {
    pub sources: SourceMap,
    pub tower: Option<Tower>,
    pub diagnostics: Vec<Diagnostic>,
}

/// The obligations of a machine that refines another, and the model that they are about.
#[derive(Debug, Default)]
pub struct LoadedSequents {
    pub loaded: Loaded,
    pub sequents: Option<Sequents>,
}

/// Reads a machine with its proof obligations; there are none of a machine that refines nothing, or of a language that
/// says them only by operations.
pub fn load_sequents(files: Arc<dyn Files>, path: &Path) -> LoadedSequents {
    let (mut stated, mut built) = (None, None);
    let loaded = load_with(SourceMap::over(files), |sources| {
        let read = languages::read(sources, path);
        if let Some(composed) = &read.composed {
            stated = composed.refining.as_ref().and_then(|r| r.sequents());
            if composed.refining.is_none() && composed.levels.len() > 1 {
                // What has no tower is left to those who can do without.
                built = tower::tower(composed, Purpose::default(), &mut vec![]);
            }
        }
        read
    });
    let mut loaded = Loaded { language: Language::of(path), ..loaded };
    let mut sequents = None;
    if let (Some(model), Some(mut tower)) = (&mut loaded.model, built)
        && let Ok(found) = with_large_stack(|| simulation::sequents(&mut tower))
    {
        *model = tower.model;
        sequents = Some(found);
    }
    if let (Some(model), Some(stated)) = (&mut loaded.model, stated) {
        match with_large_stack(|| sequents::typed(model, &stated)) {
            Ok(Ok(found)) => sequents = Some(found),
            Ok(Err(mut diags)) => {
                loaded.diagnostics.append(&mut diags);
                loaded.model = None;
            }
            Err(e) => {
                let message = format!("cannot start the reader: {e}");
                loaded.diagnostics.push(Diagnostic::error("B0100", Span::default(), message));
                loaded.model = None;
            }
        }
    }
    LoadedSequents { loaded, sequents }
}

/// Reads the machine at `path` and all that it refines, as one model.
pub fn load_tower(files: Arc<dyn Files>, path: &Path, purpose: Purpose) -> LoadedTower {
    let mut sources = SourceMap::over(files);
    let load = || {
        let Read { composed, mut diagnostics, .. } = languages::read(&mut sources, path);
        let tower = composed.and_then(|composed| tower::tower(&composed, purpose, &mut diagnostics));
        let tower = tower.filter(|_| !diagnostics.iter().any(Diagnostic::is_error));
        diagnostics.sort_by_key(|d| d.span);
        LoadedTower { sources, tower, diagnostics }
    };
    with_large_stack(load).unwrap_or_else(|e| {
        let message = format!("cannot start the reader: {e}");
        let diagnostics = vec![Diagnostic::error("B0100", Span::default(), message)];
        LoadedTower { diagnostics, ..LoadedTower::default() }
    })
}

fn load_with(mut sources: SourceMap, read: impl FnOnce(&mut SourceMap) -> Read + Send) -> Loaded {
    let load = || {
        let Read { composed, tree, definitions, mut diagnostics } = read(&mut sources);
        let model = composed.and_then(|composed| check::check(&composed, &mut diagnostics));
        let model = model.filter(|_| !diagnostics.iter().any(Diagnostic::is_error));
        diagnostics.sort_by_key(|d| d.span);
        Loaded { sources, model, tree, diagnostics, definitions, ..Loaded::default() }
    };
    with_large_stack(load).unwrap_or_else(|e| {
        let message = format!("cannot start the reader: {e}");
        let diagnostics = vec![Diagnostic::error("B0100", Span::default(), message)];
        Loaded { diagnostics, ..Loaded::default() }
    })
}
