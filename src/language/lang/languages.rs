//! The languages that there are: which file is read by whom.

use crate::lang::ast::Expr;
use crate::lang::b::ClassicalB;
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::eventb::EventB;
use crate::lang::front::{FrontEnd, Read};
use crate::lang::index::Index;
use crate::lang::macros::Definitions;
use crate::lang::style::Style;
use crate::lang::z::Z;
use std::path::{Path, PathBuf};

/// All front ends. The first one reads files of unknown endings, too.
pub static ALL: [&dyn FrontEnd; 3] = [&ClassicalB, &EventB, &Z];

/// Languages that are known and not read, by the endings of their files.
const REFUSED: [(&str, &str); 10] = [
    ("bcm", "checked Event-B machine of Rodin"),
    ("bcc", "checked Event-B context of Rodin"),
    ("csp", "CSP-M specification"),
    ("cspm", "CSP-M specification"),
    ("tla", "TLA+ module"),
    ("als", "Alloy model"),
    ("rmch", "machine of B rules"),
    ("pml", "Promela model"),
    ("pnml", "Petri net"),
    ("p", "program in XTL"),
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
            let elsewhere = match *what {
                "CSP-M specification" => {
                    " by this command; `check`, `ltl`, `eval`, `export`, `simulate`, `repl`, `animate`, `serve` and `types` read it"
                }
                "Petri net" => {
                    " by this command; `check`, `ltl`, `compare`, `eval`, `export`, `simulate`, `repl`, `animate` and `serve` read it"
                }
                "program in XTL" => {
                    " by this command; `check`, `ltl`, `eval`, `export`, `simulate`, `repl` and `animate` read it, with `--run-programs`"
                }
                _ => "",
            };
            Err(format!(
                "`.{ending}`: a file of this kind ({what}) is not supported, only {}{elsewhere}",
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

/// A text of the map in a tidy layout, its meaning unchanged.
///
/// # Errors
/// What is wrong with the text, or why there is no layout for files like it.
pub fn format(sources: &SourceMap, file: FileId, style: Style) -> Result<String, Vec<Diagnostic>> {
    let (text, path) = match sources.get(file) {
        Some(source) => (source.text.clone(), source.path.clone()),
        None => Default::default(),
    };
    let refused = |code, why: String| Err(vec![Diagnostic::error(code, Span::new(file, 0, 0), why)]);
    let front = match for_path(&path) {
        Ok(front) => front,
        Err(why) => return refused("B0401", why),
    };
    if text.contains('\u{fffd}') {
        // What stood there would be lost.
        return refused("B0105", "the file is not valid UTF-8, so it is not formatted".to_string());
    }
    front.format(&text, file, style).unwrap_or_else(|| {
        refused("B0401", format!("files of this kind ({}) are not formatted, only texts", path.display()))
    })
}

/// Who is who in the text of a file; `None` where nobody writes such files by hand.
pub fn index(path: &Path, text: &str, file: FileId) -> Option<Index> {
    for_path(path).ok()?.index(text, file)
}

/// The language of a model.
#[derive(Clone, Copy)]
pub struct Language(&'static dyn FrontEnd);

impl Language {
    /// That of the model at a path.
    pub fn of(path: &Path) -> Language {
        for_path(path).map_or(Language::default(), Language)
    }
}

impl Default for Language {
    /// The one that reads files of unknown endings.
    fn default() -> Language {
        Language(ALL[0])
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.language())
    }
}

/// Reads one expression or predicate of a text that comes later, with a model's macros expanded in it. The language of
/// the model says how such texts are written; one that does not say has them in classical B.
pub fn parse_expr(
    language: Language,
    sources: &mut SourceMap,
    name: &str,
    text: &str,
    definitions: &Definitions,
) -> Result<Expr, Vec<Diagnostic>> {
    language.0.expressions().unwrap_or(&ClassicalB).parse_expr(sources, name, text, definitions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::ast::ExprKind;
    use crate::lang::front::Expressions;

    /// A language in which `+` is a number.
    struct Strokes;

    impl FrontEnd for Strokes {
        fn language(&self) -> &'static str {
            "strokes"
        }
        fn extensions(&self) -> &'static [&'static str] {
            &[]
        }
        fn read(&self, _: &mut SourceMap, _: FileId) -> Read {
            Read::default()
        }
        fn expressions(&self) -> Option<&dyn Expressions> {
            Some(self)
        }
    }

    impl Expressions for Strokes {
        fn parse_expr(
            &self,
            sources: &mut SourceMap,
            name: &str,
            text: &str,
            definitions: &Definitions,
        ) -> Result<Expr, Vec<Diagnostic>> {
            ClassicalB.parse_expr(sources, name, &text.len().to_string(), definitions)
        }
    }

    #[test]
    fn a_language_says_how_later_texts_are_written() {
        let read = |language: Language, text: &str| {
            let (mut sources, none) = (SourceMap::default(), Definitions::default());
            let e = parse_expr(language, &mut sources, "goal", text, &none);
            e.ok().and_then(|e| if let ExprKind::Int(i) = e.kind { i.try_into().ok() } else { None })
        };
        assert_eq!(read(Language(&Strokes), "+++"), Some(3));
        assert_eq!(read(Language(&EventB), "+++"), None);
        assert_eq!(read(Language(&EventB), "7"), Some(7), "packages do not say, so it is classical B");
        assert_eq!(read(Language::of(Path::new("M.mch")), "7"), Some(7));
        assert_eq!(format!("{:?}", Language::of(Path::new("M.eventb"))), EventB.language());
    }
}
