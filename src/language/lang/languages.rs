//! The languages that there are: which file is read by whom.

use crate::lang::ast::Expr;
use crate::lang::b::ClassicalB;
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::eventb::EventB;
use crate::lang::front::{FrontEnd, Read};
use crate::lang::macros::Definitions;
use std::fmt;
use std::path::Path;

/// All front ends. The first one reads files of unknown endings, too.
pub static ALL: [&dyn FrontEnd; 2] = [&ClassicalB, &EventB];

/// Languages that are known and not read, by the endings of their files.
const REFUSED: [(&str, &str); 11] = [
    ("bum", "Event-B machine of Rodin"),
    ("buc", "Event-B context of Rodin"),
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

/// The language of a model.
#[derive(Clone, Copy)]
pub struct Language(&'static dyn FrontEnd);

impl Default for Language {
    /// The one that reads files of unknown endings.
    fn default() -> Language {
        Language(ALL[0])
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.language())
    }
}

impl Language {
    /// Reads one expression or predicate of a text that comes later, with the model's macros expanded in it.
    pub fn parse_expr(
        self,
        sources: &mut SourceMap,
        name: &str,
        text: &str,
        definitions: &Definitions,
    ) -> Result<Expr, Vec<Diagnostic>> {
        self.0.expressions().unwrap_or(&ClassicalB).parse_expr(sources, name, text, definitions)
    }
}

/// Reads the model in a file.
pub fn read(sources: &mut SourceMap, path: &Path) -> (Read, Language) {
    let front = match for_path(path) {
        Ok(front) => front,
        Err(message) => return refused(sources.add(path, ""), "B0401", message),
    };
    match sources.read(path) {
        Ok(file) => (front.read(sources, file), Language(front)),
        Err(message) => refused(sources.add(path, ""), "B0100", message),
    }
}

/// Reads a model from a string; `name` stands for its file, beside which others are looked for.
pub fn read_text(sources: &mut SourceMap, name: &str, text: &str) -> (Read, Language) {
    let file = sources.add(name, text);
    match for_path(Path::new(name)) {
        Ok(front) => (front.read(sources, file), Language(front)),
        Err(message) => refused(file, "B0401", message),
    }
}

fn refused(file: FileId, code: &'static str, message: String) -> (Read, Language) {
    let d = Diagnostic::error(code, Span::new(file, 0, 0), message);
    (Read { diagnostics: vec![d], ..Read::default() }, Language::default())
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
            let e = language.parse_expr(&mut SourceMap::default(), "goal", text, &Definitions::default());
            e.ok().and_then(|e| if let ExprKind::Int(i) = e.kind { i.try_into().ok() } else { None })
        };
        assert_eq!(read(Language(&Strokes), "+++"), Some(3));
        assert_eq!(read(Language(&EventB), "+++"), None);
        assert_eq!(read(Language(&EventB), "7"), Some(7), "packages do not say, so it is classical B");
        assert_eq!(read(Language::default(), "7"), Some(7));
    }
}
