//! Texts to tokens. Comments, labels (`@inv1`) and words of a component's structure are told apart here, too; in
//! Rodin's files none of them occurs.

use super::words::{Sign, begins_name, continues_name, symbol, word};
use crate::lang::ast::Name;
use crate::lang::diag::{Diagnostic, FileId, Span};
use num_bigint::BigInt;

#[derive(Clone, Debug, PartialEq)]
pub enum T {
    /// A name; one of a new value ends with a prime.
    Name(Name),
    Int(BigInt),
    Sign(Sign),
    /// `@label`; none is `@` alone.
    Label(Option<Name>),
}

#[derive(Clone, Debug)]
pub struct Token {
    pub t: T,
    pub span: Span,
    /// The comments between the token before and this one.
    pub comment: Option<Name>,
    /// Whether it is the first of its line.
    pub is_first: bool,
}

/// Where a text stands: the span of each byte of it.
#[derive(Clone, Copy, Debug)]
pub enum At<'m> {
    /// In a file, from this byte on.
    File(FileId, usize),
    /// In a file, with escapes in between: where each byte is, and the end.
    Escaped(FileId, &'m [u32]),
    /// All of it has one place.
    One(Span),
}

impl At<'_> {
    pub fn span(&self, lo: usize, hi: usize) -> Span {
        match self {
            At::File(file, from) => Span::new(*file, from + lo, from + hi),
            At::Escaped(file, places) => {
                let at = |i: usize| places.get(i).or(places.last()).copied().unwrap_or_default() as usize;
                Span::new(*file, at(lo), at(hi))
            }
            At::One(span) => *span,
        }
    }
}

/// How a label is written: as it is, or in quotes.
pub fn label_text(label: &str) -> Option<String> {
    let is_plain = !label.is_empty()
        && !label.starts_with('"')
        && !label.ends_with(':')
        && !label.contains(|c: char| c.is_whitespace());
    match is_plain {
        true => Some(format!("@{label}")),
        false if label.contains(['"', '\n', '\r']) => None,
        false => Some(format!("@\"{label}\"")),
    }
}

/// All tokens of a text; labels and comments only where `is_component`.
///
/// # Errors
/// A character that means nothing, a comment or a quote without an end.
pub fn tokens(text: &str, at: At<'_>, is_component: bool) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = vec![];
    let mut i = 0;
    let mut comment: Option<String> = None;
    let mut is_first = true;
    let fail = |lo: usize, hi: usize, message: String| Diagnostic::error("B0101", at.span(lo, hi), message);
    while let Some(c) = text[i..].chars().next() {
        let rest = &text[i..];
        if c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c) || i == 0 && c == '\u{feff}' {
            is_first |= c == '\n';
            i += c.len_utf8();
            continue;
        }
        if is_component && (rest.starts_with("//") || rest.starts_with("/*")) {
            let is_line = rest.starts_with("//");
            let inside = &rest[2..];
            let end = match is_line {
                true => inside.find('\n').unwrap_or(inside.len()),
                false => {
                    let end = inside.find("*/");
                    end.ok_or_else(|| fail(i, i + 2, "this comment has no end (`*/`)".to_string()))?
                }
            };
            let words = inside[..end].trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
            let so_far = comment.get_or_insert_with(String::new);
            if !so_far.is_empty() {
                so_far.push('\n');
            }
            so_far.push_str(&words);
            i += 2 + end + if is_line { 0 } else { 2 };
            continue;
        }
        let (t, len) = if is_component && c == '@' {
            let inside = &rest[1..];
            if let Some(quoted) = inside.strip_prefix('"') {
                let Some(end) = quoted.find(['"', '\n']).filter(|e| quoted[*e..].starts_with('"')) else {
                    return Err(fail(i, i + 2, "this label has no closing quote".to_string()));
                };
                (T::Label(Some(quoted[..end].into())), end + 3)
            } else {
                let end = inside.find(char::is_whitespace).unwrap_or(inside.len());
                let label = inside[..end].strip_suffix(':').unwrap_or(&inside[..end]);
                (T::Label((!label.is_empty()).then(|| label.into())), end + 1)
            }
        } else if c.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            // Digits only, so it is a number.
            (T::Int(rest[..end].parse().unwrap_or_default()), end)
        } else if begins_name(c) {
            let end = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
            match word(&rest[..end]) {
                Some(sign) => (T::Sign(sign), end),
                None => {
                    let end = if rest[end..].starts_with('\'') { end + 1 } else { end };
                    (T::Name(rest[..end].into()), end)
                }
            }
        } else if let Some((sign, len)) = symbol(rest) {
            (T::Sign(sign), len)
        } else {
            let message = match c {
                '\u{fffd}' => "this is no text in UTF-8".to_string(),
                '$' => "`$` is not part of the language: patterns of rules are not supported".to_string(),
                '"' => "strings are not part of Event-B".to_string(),
                '\'' => "a prime stands right behind the name of a variable, and only once".to_string(),
                c => format!("`{c}` is not part of the language"),
            };
            return Err(fail(i, i + c.len_utf8(), message));
        };
        let comment = comment.take().map(Name::from);
        tokens.push(Token { t, span: at.span(i, i + len), comment, is_first });
        is_first = false;
        i += len;
    }
    Ok(tokens)
}

impl Token {
    /// How it looks, for messages.
    pub fn show(&self) -> String {
        match &self.t {
            T::Name(name) => format!("`{name}`"),
            T::Int(i) => format!("`{i}`"),
            T::Sign(sign) => format!("`{}`", super::words::spelling(*sign).unwrap_or("?")),
            T::Label(Some(label)) => format!("the label `@{label}`"),
            T::Label(None) => "`@`".to_string(),
        }
    }
}
