//! The parser: a file and what it includes become declarations.
//!
//! Expressions are read by precedence climbing (`expr`), in FDR's order of operators. Patterns are read as
//! expressions and converted (`pattern`), since `f(x).y` shows only at `=`, `<-` or `@` what it was. A declaration
//! with a mistake is left out and reported; the next one starts on a line that is indented no deeper.

mod annotate;
mod decl;
mod expr;
mod pattern;
mod types;

use crate::lex::{Kind, Token, Word, lex};
use crate::tree::{Decl, Ident, Path, Scheme};
use kanon_language::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use kanon_language::lang::stack::{MAX_DEPTH, catch_with_large_stack};
use std::path::PathBuf;
use std::sync::Arc;

/// A script as far as it could be read.
#[derive(Debug, Default)]
pub struct Script {
    pub decls: Vec<Decl>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Script {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads a text of the map and all files that it includes.
pub fn parse(sources: &mut SourceMap, file: FileId) -> Script {
    let read = catch_with_large_stack(|| {
        let mut files = Files { sources, open: vec![], errors: vec![] };
        let decls = files.read(file);
        Script { decls, diagnostics: files.errors }
    });
    let reason = match read {
        Ok(Ok(script)) => return script,
        Ok(Err(_)) => "the parser failed: this is a mistake in kanon".to_string(),
        Err(e) => format!("no thread to read this file with: {e}"),
    };
    let d = Diagnostic::error("C0100", Span::new(file, 0, 0), reason);
    Script { decls: vec![], diagnostics: vec![d] }
}

/// Reads lines `name :: type`, of a text that is a part of kanon.
pub fn signatures(text: &str) -> Vec<(Ident, Scheme)> {
    let mut sources = SourceMap::default();
    let file = sources.add("built in", text);
    let mut files = Files { sources: &mut sources, open: vec![], errors: vec![] };
    let (tokens, _) = lex(file, text);
    let mut parser = Parser::new(&mut files, file, tokens);
    let mut found = vec![];
    while let Some(names) = parser.annotated() {
        let Ok(scheme) = parser.scheme() else { break };
        found.extend(names.into_iter().map(|n| (n, scheme.clone())));
    }
    found
}

/// The files that are being read.
struct Files<'s> {
    sources: &'s mut SourceMap,
    /// One inside the other.
    open: Vec<PathBuf>,
    errors: Vec<Diagnostic>,
}

impl Files<'_> {
    fn read(&mut self, file: FileId) -> Vec<Decl> {
        let Some(source) = self.sources.get(file) else { return vec![] };
        let (path, text) = (source.path.clone(), Arc::clone(&source.text));
        self.open.push(self.sources.files().identity(&path));
        let (tokens, errors) = lex(file, &text);
        self.errors.extend(errors);
        let mut parser = Parser::new(self, file, tokens);
        let decls = parser.script();
        self.open.pop();
        decls
    }

    /// The declarations of a file that is named by another.
    fn include(&mut self, from: FileId, name: &str, span: Span) -> Vec<Decl> {
        let folder = self.sources.path(from).and_then(|p| p.parent()).map(PathBuf::from).unwrap_or_default();
        let path = folder.join(name);
        if self.open.contains(&self.sources.files().identity(&path)) {
            self.errors.push(Diagnostic::error("C0103", span, format!("`{name}` includes itself")));
            return vec![];
        }
        match self.sources.read(&path) {
            Ok(file) => self.read(file),
            Err(message) => {
                self.errors.push(Diagnostic::error("C0102", span, message));
                vec![]
            }
        }
    }
}

/// One error ends a declaration.
type Result<T> = std::result::Result<T, Box<Diagnostic>>;

struct Parser<'f, 's> {
    files: &'f mut Files<'s>,
    file: FileId,
    /// The last one is the end.
    tokens: Vec<Token>,
    at: usize,
    /// What the open brackets are closed by; `>` closes a sequence only if it is the last of them.
    closers: Vec<&'static str>,
    depth: u32,
    /// The height of the tallest expression read since this was last set to 0.
    height: u32,
    /// `_` and `@@` that have not become patterns yet.
    wild: Vec<Span>,
    /// What is open around a declaration, outermost first.
    places: Vec<decl::Place>,
}

impl<'f, 's> Parser<'f, 's> {
    fn new(files: &'f mut Files<'s>, file: FileId, tokens: Vec<Token>) -> Self {
        let (closers, wild, places) = (vec![], vec![], vec![]);
        Parser { files, file, tokens, at: 0, closers, depth: 0, height: 0, wild, places }
    }
}

impl Parser<'_, '_> {
    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)] // there is always the end
    }

    fn kind(&self) -> &Kind {
        &self.token().kind
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The span of the token before this one.
    fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].span
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.kind(), Kind::Sign(s) if *s == sign)
    }

    fn is_word(&self, word: Word) -> bool {
        *self.kind() == Kind::Word(word)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        if is {
            self.at += 1;
        }
        is
    }

    fn take_word(&mut self, word: Word) -> bool {
        let is = self.is_word(word);
        if is {
            self.at += 1;
        }
        is
    }

    fn expect(&mut self, sign: &str, where_: &str) -> Result<Span> {
        let span = self.span();
        if self.take(sign) { Ok(span) } else { Err(self.unexpected(&format!("`{sign}` {where_}"))) }
    }

    fn expect_word(&mut self, word: Word, text: &str, where_: &str) -> Result<Span> {
        let span = self.span();
        if self.take_word(word) { Ok(span) } else { Err(self.unexpected(&format!("`{text}` {where_}"))) }
    }

    fn ident(&mut self, what: &str) -> Result<Ident> {
        match self.kind() {
            Kind::Ident(text) => {
                let ident = Ident { text: Arc::clone(text), span: self.span() };
                self.at += 1;
                Ok(ident)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn idents(&mut self, what: &str) -> Result<Vec<Ident>> {
        let mut names = vec![self.ident(what)?];
        while self.take(",") {
            names.push(self.ident(what)?);
        }
        Ok(names)
    }

    /// `M::x`; with white space around it, `::` begins a type instead.
    fn path(&mut self, what: &str) -> Result<Path> {
        let mut parts = vec![self.ident(what)?];
        while self.is("::") && !self.token().spaced && !self.tokens[self.at + 1].spaced {
            self.at += 1;
            parts.push(self.ident("a name behind `::`")?);
        }
        Ok(Path { parts })
    }

    fn unexpected(&self, wanted: &str) -> Box<Diagnostic> {
        let found = match self.kind() {
            Kind::End => "the end of the file".to_string(),
            _ => format!("`{}`", self.files.sources.text(self.span())),
        };
        let d = Diagnostic::error("C0110", self.span(), format!("expected {wanted}, found {found}"));
        Box::new(if self.token().first && *self.kind() != Kind::End {
            d.note(self.before(), "the line before it ends here")
        } else {
            d
        })
    }

    fn error<T>(&self, code: &'static str, span: Span, message: impl Into<String>) -> Result<T> {
        Err(Box::new(Diagnostic::error(code, span, message)))
    }

    /// Runs `f` one level deeper, unless that is too deep.
    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return self.error("C0104", self.span(), format!("nested more than {MAX_DEPTH} levels deep"));
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Runs `f` inside brackets whose closing sign is given; does not take that sign.
    fn inside<T>(&mut self, closer: &'static str, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.closers.push(closer);
        let result = f(self);
        self.closers.pop();
        result
    }

    /// `a, b, …`: at least one.
    fn separated<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.take(",") {
            all.push(one(self)?);
        }
        Ok(all)
    }
}
