//! What a front end is: a language whose texts become composed machines. Which there are is in
//! [`super::languages`].

use crate::lang::ast::{Expr, Machine};
use crate::lang::composed::Composed;
use crate::lang::diag::{Diagnostic, FileId, SourceMap};
use crate::lang::index::Index;
use crate::lang::macros::Definitions;
use crate::lang::style::Style;
use std::path::Path;

/// A language.
pub trait FrontEnd: Sync {
    /// For messages: `classical B`.
    fn language(&self) -> &'static str;

    /// The endings of its files, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// How texts that come later are written: goals, atoms of formulas, questions. Unless the language says otherwise,
    /// in classical B.
    fn expressions(&self) -> Option<&dyn Expressions> {
        None
    }

    /// Reads a text of the map, and through the map all files that it refers to.
    fn read(&self, sources: &mut SourceMap, file: FileId) -> Read;

    /// Reads what is at a path and is no text of its own, like a folder, or a part of it that has a name. `None` when
    /// there is no such thing, and the file is to be read as a text.
    fn read_path(&self, _sources: &mut SourceMap, _path: &Path, _part: Option<&str>) -> Option<Read> {
        None
    }

    /// The text in a tidy layout, its meaning unchanged; `None` when files like this one are not laid out by people.
    ///
    /// # Errors
    /// What is wrong with the text, if it cannot be read.
    fn format(&self, _text: &str, _file: FileId, _style: Style) -> Option<Result<String, Vec<Diagnostic>>> {
        None
    }

    /// Who is who in the text; `None` when people do not write files like this one.
    fn index(&self, _text: &str, _file: FileId) -> Option<Index> {
        None
    }
}

/// What reading a model gave.
#[derive(Debug, Default)]
pub struct Read {
    /// There when it could be composed; the diagnostics may hold errors nevertheless.
    pub composed: Option<Composed>,
    /// The machine itself as far as it could be read, also beside errors: for editors.
    pub tree: Option<Machine>,
    /// Its macros, for texts that are read later.
    pub definitions: Definitions,
    pub diagnostics: Vec<Diagnostic>,
}

/// A notation for expressions and predicates.
pub trait Expressions {
    /// Reads one of them, with a model's macros expanded in it. The text becomes one of the map, so that messages can
    /// point into it.
    fn parse_expr(
        &self,
        sources: &mut SourceMap,
        name: &str,
        text: &str,
        definitions: &Definitions,
    ) -> Result<Expr, Vec<Diagnostic>>;
}
