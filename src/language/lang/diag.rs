//! Places in source files and the messages that point at them.
//!
//! A [`Diagnostic`] is the user's error: code, place, cause and a way out. How it looks
//! on a terminal is `report`'s business.

use crate::lang::files::{Disk, Files};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: FileId,
    pub lo: u32,
    pub hi: u32,
}

/// A span that points nowhere: something failed before it was known who asked.
pub const NOWHERE: Span = Span { file: FileId(u32::MAX), lo: 0, hi: 0 };

impl Span {
    pub fn new(file: FileId, lo: usize, hi: usize) -> Self {
        // Files over 4 GiB are refused by the reader, so the casts lose nothing.
        Span { file, lo: lo as u32, hi: hi as u32 }
    }

    /// Whether the other range is a part of this one.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.lo <= other.lo && other.hi <= self.hi
    }

    /// The smallest range that covers both; the left one's file wins.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }
}

/// The text of one file and where its lines start.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: PathBuf,
    pub text: Arc<str>,
    lines: Vec<u32>,
}

/// A place for people: one-based line and column (in characters).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCol {
    pub line: usize,
    pub col: usize,
}

impl Source {
    fn new(path: PathBuf, text: Arc<str>) -> Self {
        let mut lines = vec![0];
        lines.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1));
        Source { path, text, lines }
    }

    pub fn line_col(&self, at: u32) -> LineCol {
        let at = (at as usize).min(self.text.len());
        let line = self.lines.partition_point(|&l| l as usize <= at).max(1);
        let start = self.lines[line - 1] as usize;
        let col = self.text.get(start..at).map_or(at - start, |s| s.chars().count());
        LineCol { line, col: col + 1 }
    }

    /// The text of a one-based line, without its end.
    pub fn line(&self, line: usize) -> &str {
        let Some(&start) = self.lines.get(line.wrapping_sub(1)) else { return "" };
        let rest = &self.text[start as usize..];
        rest.split('\n').next().unwrap_or("").trim_end_matches('\r')
    }
}

/// All files that took part in reading a model, and where they come from.
#[derive(Clone, Debug)]
pub struct SourceMap {
    files: Vec<Source>,
    from: Arc<dyn Files>,
}

impl Default for SourceMap {
    fn default() -> Self {
        SourceMap::over(Arc::new(Disk))
    }
}

impl SourceMap {
    /// A map whose files are read from there.
    pub fn over(from: Arc<dyn Files>) -> SourceMap {
        SourceMap { files: vec![], from }
    }

    /// Where files are read from.
    pub fn files(&self) -> &dyn Files {
        &*self.from
    }

    /// Reads a file into the map. Bytes that are no UTF-8 become U+FFFD, which lexers refuse outside comments.
    pub fn read(&mut self, path: &Path) -> Result<FileId, String> {
        let bytes = self.from.read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        if bytes.len() >= u32::MAX as usize {
            return Err(format!("{} is larger than 4 GiB", path.display()));
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
        };
        Ok(self.add(path, text))
    }

    /// What the next text that is added will be.
    pub fn next(&self) -> FileId {
        FileId(self.files.len() as u32)
    }

    pub fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> FileId {
        let id = self.next();
        self.files.push(Source::new(path.into(), text.into()));
        id
    }

    pub fn get(&self, id: FileId) -> Option<&Source> {
        self.files.get(id.0 as usize)
    }

    pub fn path(&self, id: FileId) -> Option<&Path> {
        self.get(id).map(|s| s.path.as_path())
    }

    /// The text a span covers; empty when the span is not one of ours.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).and_then(|s| s.text.get(span.lo as usize..span.hi as usize)).unwrap_or("")
    }

    /// `file:line:column`, for messages that fit a line.
    pub fn place(&self, span: Span) -> String {
        match self.get(span.file) {
            Some(s) => {
                let at = s.line_col(span.lo);
                format!("{}:{}:{}", s.path.display(), at.line, at.col)
            }
            None => "?".to_string(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
    Note,
}

/// One message to the user. Codes: B01xx lexing and parsing, B02xx names, composition and
/// types, B03xx well-definedness, B04xx scope and unsupported constructs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: &'static str,
    pub span: Span,
    pub message: String,
    pub notes: Vec<(Span, String)>,
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            code,
            span,
            message: message.into(),
            notes: vec![],
            help: None,
        }
    }

    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    pub fn note(mut self, span: Span, message: impl Into<String>) -> Self {
        self.notes.push((span, message.into()));
        self
    }

    pub fn help(mut self, message: impl Into<String>) -> Self {
        self.help = Some(message.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
