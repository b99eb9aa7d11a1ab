//! Texts in a tidy layout, and files replaced by them. A file is never half written: the new text is put beside it and
//! takes its place in one step.

use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::languages;
pub use crate::lang::style::{Operators, Style};
use crate::model::open::Refused;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A text that was laid out.
#[derive(Clone, Debug)]
pub struct Formatted {
    /// The text in its layout.
    pub text: String,
    /// Whether that is another one than before.
    pub is_changed: bool,
}

/// A text in a tidy layout; `name` stands for its file, and its ending says the language.
///
/// # Errors
/// What is wrong with the text, if it cannot be read.
pub fn text(name: &Path, text: &str, style: Style) -> Result<Formatted, Refused> {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    match languages::format(&sources, file, style) {
        Ok(formatted) => Ok(Formatted { is_changed: formatted != text, text: formatted }),
        Err(diagnostics) => Err(Refused { sources, diagnostics }),
    }
}

/// Lays a file out; with `write` it is replaced if that changes it.
///
/// # Errors
/// What is wrong with the file, which is then as it was.
pub fn file(path: &Path, style: Style, write: bool) -> Result<Formatted, Refused> {
    let refused = |message: String| {
        let mut sources = SourceMap::default();
        let file = sources.add(path, "");
        let diagnostics = vec![Diagnostic::error("B0100", Span::new(file, 0, 0), message)];
        Refused { sources, diagnostics }
    };
    let bytes = fs::read(path).map_err(|e| refused(format!("cannot read {}: {e}", path.display())))?;
    let before = String::from_utf8(bytes)
        .map_err(|_| refused(format!("{} is not valid UTF-8, so it is not formatted", path.display())))?;
    let formatted = text(path, &before, style)?;
    if write && formatted.is_changed {
        replace(path, before.as_bytes(), formatted.text.as_bytes())
            .map_err(|e| refused(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(formatted)
}

/// Puts a text in place of a file that still is what was read.
fn replace(path: &Path, before: &[u8], text: &[u8]) -> io::Result<()> {
    // A link stays a link.
    let path = fs::canonicalize(path)?;
    let beside = beside(&path);
    let written = write_new(&beside, &path, text).and_then(|()| {
        if fs::read(&path)? != before {
            return Err(io::Error::other("it was changed by somebody else meanwhile"));
        }
        fs::rename(&beside, &path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.kanon", std::process::id()))
}

fn write_new(path: &Path, like: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.set_permissions(fs::metadata(like)?.permissions())?;
    file.write_all(text)?;
    file.sync_all()
}
