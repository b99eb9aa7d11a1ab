//! The languages that there are: which file is read by whom.

use crate::lang::ast::Expr;
use crate::lang::b::{self, ClassicalB};
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::eventb::EventB;
use crate::lang::front::{FrontEnd, Read};
use crate::lang::macros::Definitions;
use std::path::{Path, PathBuf};

/// All front ends. The first one reads files of unknown endings, too.
pub static ALL: [&dyn FrontEnd; 2] = [&ClassicalB, &EventB];

/// Languages that are known and not read, by the endings of their files.
const REFUSED: [(&str, &str); 9] = [
    ("bcm", "checked Event-B machine of Rodin"),
    ("bcc", "checked Event-B context of Rodin"),
    ("csp", "CSP-M specification"),
    ("cspm", "CSP-M specification"),
    ("tla", "TLA+ module"),
    ("zed", "Z specification"),
    ("als", "Alloy model"),
    ("rmch", "machine of B rules"),
    ("pml", "Promela model"),
];

/// Who reads a file, by its ending; or what to say instead.
pub fn for_path(path: &Path) -> Result<&'static dyn FrontEnd, String> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    if let Some(front) = ALL.iter().find(|f| f.extensions().contains(&&*ending)) {
        return Ok(*front);
    }
    match REFUSED.iter().find(|(e, _)| *e == ending) {
        Some((_, what)) => {
            let known: Vec<&str> = ALL.iter().map(|f| f.language()).collect();
            Err(format!(
                "`.{ending}`: a file of this kind ({what}) is not supported, only {}",
                known.join(", ")
            ))
        }
        None => Ok(ALL[0]),
    }
}

/// Reads the model in a file.
pub fn read(sources: &mut SourceMap, path: &Path) -> Read {
    let refused = |sources: &mut SourceMap, code, message| {
        let file = sources.add(path, "");
        let d = Diagnostic::error(code, Span::new(file, 0, 0), message);
        Read { diagnostics: vec![d], ..Read::default() }
    };
    let (whole, part) = split(sources, path);
    for front in ALL {
        if let Some(read) = front.read_path(sources, &whole, part.as_deref()) {
            return read;
        }
    }
    let front = match for_path(path) {
        Ok(front) => front,
        Err(message) => return refused(sources, "B0401", message),
    };
    match sources.read(path) {
        Ok(file) => front.read(sources, file),
        Err(message) => refused(sources, "B0100", message),
    }
}

/// `project.zip#Machine`: what is before the `#`, and what is behind it. A file whose name has one is that file.
pub fn split(sources: &SourceMap, path: &Path) -> (PathBuf, Option<String>) {
    let whole = path.to_str().filter(|_| !sources.files().is_file(path));
    match whole.and_then(|text| text.split_once('#')) {
        Some((file, part)) => (PathBuf::from(file), Some(part.to_string())),
        None => (path.to_path_buf(), None),
    }
}

/// Reads a model from a string; `name` stands for its file, beside which others are looked for.
pub fn read_text(sources: &mut SourceMap, name: &str, text: &str) -> Read {
    let file = sources.add(name, text);
    match for_path(Path::new(name)) {
        Ok(front) => front.read(sources, file),
        Err(message) => {
            let d = Diagnostic::error("B0401", Span::new(file, 0, 0), message);
            Read { diagnostics: vec![d], ..Read::default() }
        }
    }
}

/// Reads one expression or predicate of a text that comes later, with a model's macros expanded in it. Such texts are
/// classical B whatever the language of the model.
pub fn parse_expr(
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    definitions: &Definitions,
) -> Result<Expr, Vec<Diagnostic>> {
    b::parse_expr(sources, name, text, definitions)
}
