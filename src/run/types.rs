//! Reads a model and types it, and evaluates nothing: for every language, those included that cannot be run yet.

use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::languages;
use crate::model::load::{Loaded, load};
use crate::model::{Model, SetId, Type};
use std::path::Path;
use std::sync::Arc;

/// What a model defines.
#[derive(Debug, Default)]
pub struct Typed {
    /// All files that were read.
    pub sources: SourceMap,
    /// `classical B`, `Event-B`, `CSP-M`
    pub language: &'static str,
    /// In the order of the text; none where there are errors.
    pub definitions: Vec<Definition>,
    /// What is wrong, and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Something that has a name and a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// `constant`, `variable`, `operation`; `definition` in CSP-M.
    pub kind: &'static str,
    /// As it is written.
    pub name: String,
    /// As the language writes it.
    pub ty: String,
    /// Where it is defined.
    pub span: Span,
}

impl Typed {
    /// Whether the model is wrong.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Types the model at a path.
pub fn types(path: &Path) -> Typed {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    if kanon_csp::EXTENSIONS.contains(&&*ending) { csp(path, None) } else { composed(path) }
}

/// What is wrong with a script of CSP-M, whose text may be that of an editor.
pub fn script(path: &Path, text: Option<Arc<str>>) -> (SourceMap, Vec<Diagnostic>) {
    let typed = csp(path, text);
    (typed.sources, typed.diagnostics)
}

fn csp(path: &Path, text: Option<Arc<str>>) -> Typed {
    let mut sources = SourceMap::default();
    let language = "CSP-M";
    let read = match text {
        Some(text) => Ok(sources.add(path, text)),
        None => sources.read(path),
    };
    let file = match read {
        Ok(file) => file,
        Err(message) => {
            let file = sources.add(path, "");
            let diagnostics = vec![Diagnostic::error("C0100", Span::new(file, 0, 0), message)];
            return Typed { sources, language, diagnostics, ..Typed::default() };
        }
    };
    let script = kanon_csp::parse::parse(&mut sources, file);
    // Names that were not read are not missing.
    if script.has_errors() {
        return Typed { sources, language, diagnostics: script.diagnostics, ..Typed::default() };
    }
    let types = kanon_csp::check::check(&script.decls);
    let definition = |(name, ty): (kanon_csp::tree::Ident, String)| {
        let (name, span) = (name.text.to_string(), name.span);
        Definition { kind: "definition", name, ty, span }
    };
    let diagnostics = [script.diagnostics, types.diagnostics].concat();
    let mut typed = Typed { sources, language, diagnostics, ..Typed::default() };
    if !typed.has_errors() {
        typed.definitions = types.definitions.into_iter().map(definition).collect();
    }
    typed
}

/// A machine, with all that it refers to.
fn composed(path: &Path) -> Typed {
    let Loaded { sources, model, diagnostics, .. } = load(path);
    let definitions = model.as_ref().map(of_model).unwrap_or_default();
    let (whole, _) = languages::split(&sources, path);
    let language = languages::for_path(&whole).map_or("classical B", |front| front.language());
    Typed { sources, language, definitions, diagnostics }
}

fn of_model(model: &Model) -> Vec<Definition> {
    let set = |s: SetId| model.sets[s.index()].name.clone();
    let show = |ty: &Type| ty.show(&set).to_string();
    let mut all = vec![];
    for (kind, decls) in [("constant", &model.constants), ("variable", &model.variables)] {
        let of = |d: &crate::model::Decl| Definition {
            kind,
            name: d.name.to_string(),
            ty: show(&d.ty),
            span: d.span,
        };
        all.extend(decls.iter().map(of));
    }
    for o in &model.operations {
        let listed = |ids: &[crate::model::LocalId]| {
            let one = |id: &crate::model::LocalId| {
                let local = &model.locals[id.index()];
                format!("{} : {}", local.name, show(&local.ty))
            };
            ids.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let mut ty = format!("({})", listed(&o.params));
        if !o.results.is_empty() {
            ty = format!("{ty} --> ({})", listed(&o.results));
        }
        all.push(Definition { kind: "operation", name: o.name.to_string(), ty, span: o.span });
    }
    all
}
