//! From a path to a model with its scope: what every command starts with.

use super::check::{Want, check_expr};
use super::load;
use super::reading::{self, Reading};
use super::scope::{Scope, ScopeArgs, scope};
use super::sequents::Sequents;
use super::tower::{Claim, Level, Move, Purpose, Tower};
use super::{Expr, Model, OpId, Promise};
use crate::lang::diag::{Diagnostic, SourceMap};
use crate::lang::files::{Disk, Files};
use crate::lang::languages::parse_expr;
use crate::lang::macros::Definitions;
use std::path::Path;
use std::sync::Arc;

/// A model that is ready to become a system.
#[derive(Default)]
pub struct Opened {
    pub sources: SourceMap,
    pub model: Model,
    pub scope: Scope,
    /// How terms without a value are read; the model is rewritten accordingly.
    pub reading: Reading,
    /// Where the size of each deferred set comes from.
    pub sizes: Vec<String>,
    pub definitions: Definitions,
    /// The language of texts that come later.
    pub language: crate::lang::languages::Language,
    pub warnings: Vec<Diagnostic>,
}

/// The user's errors, with the texts that they point into.
#[derive(Debug, Default)]
pub struct Refused {
    pub sources: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
}

pub fn open(path: &Path, over: &ScopeArgs) -> Result<Opened, Refused> {
    opened(load::load(path), over)
}

/// The same with files from elsewhere than the disk: the texts of an editor, for instance.
pub fn open_from(files: Arc<dyn Files>, path: &Path, over: &ScopeArgs) -> Result<Opened, Refused> {
    opened(load::load_from(files, path), over)
}

/// A chain of refinements that is ready to become a system.
pub struct OpenedTower {
    /// The model of the tower, with its files and its scope.
    pub opened: Opened,
    pub levels: Vec<Level>,
    pub moves: Vec<Move>,
    pub claims: Vec<Claim>,
    pub theorems: Vec<Claim>,
    pub in_sets: bool,
    pub above: Vec<OpId>,
    pub places: Vec<Promise>,
}

/// Reads a machine and all that it refines as one model.
pub fn open_tower(path: &Path, over: &ScopeArgs, purpose: Purpose) -> Result<OpenedTower, Refused> {
    open_tower_from(Arc::new(Disk), path, over, purpose)
}

/// The same with files from elsewhere than the disk.
pub fn open_tower_from(
    files: Arc<dyn Files>,
    path: &Path,
    over: &ScopeArgs,
    purpose: Purpose,
) -> Result<OpenedTower, Refused> {
    let load::LoadedTower { sources, tower, diagnostics } = load::load_tower(files, path, purpose);
    let Some(Tower { model, levels, moves, claims, theorems, in_sets, above, places }) = tower else {
        return Err(Refused { sources, diagnostics });
    };
    let loaded = load::Loaded { sources, model: Some(model), diagnostics, ..load::Loaded::default() };
    let opened = opened(loaded, over)?;
    Ok(OpenedTower { opened, levels, moves, claims, theorems, in_sets, above, places })
}

/// A model with the proof obligations of all its levels.
pub struct OpenedSequents {
    /// The model of the machine, with the variables of all levels.
    pub opened: Opened,
    pub sequents: Sequents,
}

/// Reads a machine that refines another with its proof obligations; `None` if there are none to be had.
pub fn open_sequents(path: &Path, over: &ScopeArgs) -> Result<Option<OpenedSequents>, Refused> {
    let load::LoadedSequents { loaded, sequents } = load::load_sequents(Arc::new(Disk), path);
    if loaded.model.is_some() && sequents.is_none() {
        return Ok(None);
    }
    let opened = opened(loaded, over)?;
    Ok(sequents.map(|sequents| OpenedSequents { opened, sequents }))
}

fn opened(loaded: load::Loaded, over: &ScopeArgs) -> Result<Opened, Refused> {
    let Some(mut model) = loaded.model else {
        return Err(Refused { sources: loaded.sources, diagnostics: loaded.diagnostics });
    };
    match scope(&model, over) {
        Ok((scope, sizes)) => {
            model.scope.sizes = scope.card.clone();
            if let Err(refused) = reading::read(&mut model, over.reading) {
                return Err(Refused { sources: loaded.sources, diagnostics: vec![refused] });
            }
            Ok(Opened {
                reading: over.reading,
                sources: loaded.sources,
                model,
                scope,
                sizes,
                definitions: loaded.definitions,
                language: loaded.language,
                warnings: loaded.diagnostics,
            })
        }
        Err(diagnostics) => Err(Refused { sources: loaded.sources, diagnostics }),
    }
}

impl Opened {
    /// A predicate of the command line.
    pub fn predicate(&mut self, name: &str, text: &str) -> Result<Expr, Vec<Diagnostic>> {
        let ast = self.parse_expr(name, text)?;
        let p = check_expr(&mut self.model, &ast, Want::Predicate)?;
        Ok(reading::predicate(p, self.reading))
    }

    /// An expression or predicate in the language of the model, its macros expanded.
    pub fn parse_expr(&mut self, name: &str, text: &str) -> Result<crate::lang::ast::Expr, Vec<Diagnostic>> {
        parse_expr(self.language, &mut self.sources, name, text, &self.definitions)
    }

    pub fn refuse(self, diagnostics: Vec<Diagnostic>) -> Refused {
        Refused { sources: self.sources, diagnostics }
    }
}
