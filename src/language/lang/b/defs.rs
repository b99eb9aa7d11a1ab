//! Macro DEFINITIONS: those of a machine and of the files it includes, checked for circles.
//! How they are put in place of their uses is in `expand`.

use super::Parsed;
use super::expand::{Expander, mentioned};
use super::library::{self, Meaning};
use super::parse::{MAX_ERRORS, Parser, RawDefinition, RawMachine};
use crate::lang::ast::*;
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::external::External as Function;
use crate::lang::files::in_other_case;
use crate::lang::macros::{Body, Definition, Definitions, External};
use crate::lang::walk::subst_children;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

impl Definitions {
    /// Expands every use of a definition in an expression.
    pub fn expand_expr(&self, mut e: Expr) -> Result<Expr, Vec<Diagnostic>> {
        let mut expander = Expander::new(self);
        expander.expr(&mut e, 0);
        if expander.diagnostics.iter().any(Diagnostic::is_error) { Err(expander.diagnostics) } else { Ok(e) }
    }

    fn add(&mut self, definition: Definition, diagnostics: &mut Vec<Diagnostic>) {
        let name = definition.name.name.clone();
        if let Some(first) = self.all.get(&name) {
            // A file may be included twice; a machine may not define twice.
            if first.name.span.file == definition.name.span.file {
                diagnostics.push(
                    Diagnostic::error(
                        "B0118",
                        definition.name.span,
                        format!("`{name}` is defined a second time"),
                    )
                    .note(first.name.span, "the first definition is here"),
                );
            }
        } else {
            self.order.push(name.clone());
        }
        self.all.insert(name, definition);
    }

    /// Marks the macros that ProB replaces by functions of its own.
    fn mark_external(&mut self) {
        let externals: Vec<String> = self
            .order
            .iter()
            .filter_map(|n| {
                ["EXTERNAL_FUNCTION_", "EXTERNAL_PREDICATE_", "EXTERNAL_SUBSTITUTION_"]
                    .iter()
                    .find_map(|prefix| n.strip_prefix(prefix))
                    .map(str::to_string)
            })
            .collect();
        for name in externals {
            let Some(definition) = self.all.get_mut(name.as_str()) else { continue };
            let arity = definition.params.len();
            let known = |f: &Function| f.arity() == arity && !f.is_of_trees();
            match Function::named(&name, arity).filter(known) {
                Some(function) => definition.body = call(function, &definition.params),
                None if library::is_harmless(&name) => {}
                None => definition.external = Some(External::Declared),
            }
        }
    }

    /// Reports each circle of definitions once.
    fn check_circles(&self, diagnostics: &mut Vec<Diagnostic>) {
        let mut finished: HashSet<Name> = HashSet::new();
        for start in &self.order {
            // Depth first with an explicit stack: the chain of definitions may be long.
            let mut path: Vec<(Name, Vec<Name>)> = vec![];
            self.enter(start, &finished, &mut path);
            while let Some((_, rest)) = path.last_mut() {
                match rest.pop() {
                    Some(next) => {
                        if let Some(at) = path.iter().position(|(n, _)| *n == next) {
                            diagnostics.push(self.circle(&path[at..]));
                            finished.extend(path.iter().map(|(n, _)| n.clone()));
                            path.clear();
                        } else {
                            self.enter(&next, &finished, &mut path);
                        }
                    }
                    None => {
                        if let Some((name, _)) = path.pop() {
                            finished.insert(name);
                        }
                    }
                }
            }
        }
    }

    fn enter(&self, name: &Name, finished: &HashSet<Name>, path: &mut Vec<(Name, Vec<Name>)>) {
        if let Some(definition) = self.all.get(name)
            && !finished.contains(name)
            && definition.external.is_none()
        {
            path.push((name.clone(), self.uses(definition)));
        }
    }

    /// The other definitions a body mentions.
    fn uses(&self, definition: &Definition) -> Vec<Name> {
        let mut names = vec![];
        let mut see = |name: &Name| {
            if self.all.contains_key(name) && !definition.params.iter().any(|p| p.name == *name) {
                names.push(name.clone());
            }
        };
        match &definition.body {
            Body::Expr(e) => mentioned(e, &mut see),
            Body::Subst(s) => mentioned_in_subst(s, &mut see),
        }
        names
    }

    fn circle(&self, path: &[(Name, Vec<Name>)]) -> Diagnostic {
        let names: Vec<&str> = path.iter().map(|(n, _)| &**n).collect();
        let place = |n: &str| self.all.get(n).map(|d| d.name.span).unwrap_or_default();
        let mut d = Diagnostic::error(
            "B0111",
            place(names[0]),
            format!("the definition `{}` is recursive", names[0]),
        );
        for (i, n) in names.iter().enumerate().take(8) {
            d = d.note(place(n), format!("`{n}` uses `{}`", names[(i + 1) % names.len()]));
        }
        d.help("definitions are macros; write a recursive function as a constant")
    }
}

/// What a definition that declares a function of ProB's kernel means.
fn call(function: Function, params: &[Ident]) -> Body {
    let span = params.first().map(|p| p.span).unwrap_or_default();
    let args = params.iter().map(|p| Expr { kind: ExprKind::Name(p.name.clone()), span: p.span });
    Body::Expr(Expr { kind: ExprKind::Call(Fun::External(function), args.collect()), span })
}

fn mentioned_in_subst(s: &Subst, see: &mut dyn FnMut(&Name)) {
    if let SubstKind::Call { op, .. } = &s.kind {
        see(&op.name);
    }
    let mut parts = vec![];
    subst_children(s, &mut |c| mentioned(c, see), &mut |c| parts.push(c));
    for part in parts {
        mentioned_in_subst(part, see);
    }
}

/// Collects the definitions of a parsed machine and expands them in it. Beside errors the second is what could be
/// read of it.
pub(super) fn finish(
    sources: &mut SourceMap,
    file: FileId,
    raw: RawMachine,
    mut diagnostics: Vec<Diagnostic>,
) -> (Parsed, Option<Machine>) {
    let mut definitions = Definitions::default();
    let mut loader = Loader {
        sources,
        definitions: &mut definitions,
        diagnostics: &mut diagnostics,
        loaded: HashSet::new(),
    };
    let path = loader.sources.path(file).map(Path::to_path_buf).unwrap_or_default();
    loader.loaded.insert(loader.sources.files().identity(&path));
    loader.add(raw.definitions, &path, &mut vec![]);
    definitions.mark_external();
    definitions.check_circles(&mut diagnostics);

    let mut machine = raw.machine;
    if diagnostics.iter().all(|d| !d.is_error()) {
        let mut expander = Expander::new(&definitions);
        expander.machine(&mut machine);
        expander.sets(&mut machine, raw.sets_by_definition);
        expander.tools(&mut machine);
        diagnostics.append(&mut expander.diagnostics);
        diagnostics.truncate(MAX_ERRORS);
    }
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    let (machine, partial) = if failed { (None, Some(machine)) } else { (Some(machine), None) };
    (Parsed { machine, definitions, diagnostics }, partial)
}

/// Reads definition files, each once.
struct Loader<'a> {
    sources: &'a mut SourceMap,
    definitions: &'a mut Definitions,
    diagnostics: &'a mut Vec<Diagnostic>,
    loaded: HashSet<PathBuf>,
}

impl Loader<'_> {
    /// `stack` holds the files being read, to find circles.
    fn add(&mut self, raw: Vec<RawDefinition>, from: &Path, stack: &mut Vec<PathBuf>) {
        // Files first: what the machine says itself wins over what it includes.
        let (files, macros): (Vec<_>, Vec<_>) =
            raw.into_iter().partition(|d| matches!(d, RawDefinition::File { .. }));
        for d in files {
            if let RawDefinition::File { path, span } = d {
                self.include(&path, span, from, stack);
            }
        }
        for d in macros {
            if let RawDefinition::Macro { name, params, body } = d {
                self.definitions
                    .add(Definition { name, params, body: *body, external: None }, self.diagnostics);
            }
        }
    }

    fn include(&mut self, name: &str, span: Span, from: &Path, stack: &mut Vec<PathBuf>) {
        let mut path = from.parent().unwrap_or(Path::new("")).join(name);
        if !self.sources.files().is_file(&path)
            && let Some(found) = in_other_case(self.sources.files(), &path, from)
        {
            self.diagnostics.push(super::other_case(name, &found, span));
            path = found;
        }
        if !self.sources.files().is_file(&path) {
            let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
            if let Some(functions) = library::contents(last) {
                for (function, meaning) in functions {
                    self.library_function(last, function, *meaning, span);
                }
                return;
            }
            self.diagnostics.push(if library::is_library(last) {
                Diagnostic::error("B0405", span, format!("ProB library {last} is not supported"))
                    .help("it declares functions that only ProB's kernel has")
            } else {
                Diagnostic::error("B0114", span, format!("cannot find the definition file `{name}`"))
                    .help(format!("it is looked for as {}", path.display()))
            });
            return;
        }
        // Two spellings of a path are one file.
        let known = self.sources.files().identity(&path);
        if stack.contains(&known) {
            let d = Diagnostic::error("B0115", span, "definition files include each other in a circle");
            self.diagnostics.push(d);
            return;
        }
        if !self.loaded.insert(known.clone()) {
            return;
        }
        let file = match self.sources.read(&path) {
            Ok(file) => file,
            Err(message) => {
                self.diagnostics.push(Diagnostic::error("B0114", span, message));
                return;
            }
        };
        let text = super::source_text(self.sources, file);
        let (tokens, mut lexical) = super::lex::lex(&text, file);
        let mut parser = Parser::new(&text, file, &tokens);
        let raw = parser.definition_file();
        lexical.append(&mut parser.diagnostics);
        lexical.truncate(MAX_ERRORS);
        self.diagnostics.extend(lexical.into_iter().map(|d| d.note(span, "included from here")));
        stack.push(known);
        self.add(raw, &path, stack);
        stack.pop();
    }
}

impl Loader<'_> {
    /// A function of a library file that is not there; unless the machine defines that name too.
    fn library_function(&mut self, file: &str, name: &str, meaning: Meaning, span: Span) {
        let ident = |name: String| Ident { name: name.into(), span };
        let expr = |kind| Expr { kind, span };
        let truth = Body::Expr(expr(ExprKind::Lit(Lit::BTrue)));
        let (arity, body, external) = match meaning {
            Meaning::True(n) => (n, truth, None),
            Meaning::Skip(n) => (n, Body::Subst(Subst { kind: SubstKind::Skip, span }), None),
            Meaning::Last(n) => (n, Body::Expr(expr(ExprKind::Name(format!("p{n}").into()))), None),
            Meaning::Kernel => match Function::named(name, 0) {
                Some(f) => (f.arity(), truth, None),
                None => (0, truth, Some(External::Library(file.to_string()))),
            },
        };
        let params: Vec<Ident> = (1..=arity).map(|i| ident(format!("p{i}"))).collect();
        let body = match Function::named(name, 0) {
            Some(f) if meaning == Meaning::Kernel => call(f, &params),
            _ => body,
        };
        let name = ident(name.to_string());
        if !self.definitions.all.contains_key(&name.name) {
            self.definitions.add(Definition { name, params, body, external }, self.diagnostics);
        }
    }
}
