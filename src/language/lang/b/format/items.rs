//! Tokens and comments in the order of the text, and what stood between them.

use super::spelling::spelt;
use crate::lang::b::lex::{T, Token};
use crate::lang::style::Operators;
use std::borrow::Cow;

pub(super) struct Item<'a> {
    pub what: What,
    pub text: Cow<'a, str>,
    /// Where it begins in the text.
    pub lo: u32,
    /// Ends of lines between it and what is before it.
    pub newlines: usize,
    /// Blanks before it on its line; of tabs nothing is known.
    pub blanks: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    Token {
        kind: T,
        /// A minus before its only operand.
        is_unary: bool,
    },
    Comment {
        is_line: bool,
    },
}

impl Item<'_> {
    pub fn kind(&self) -> Option<T> {
        match self.what {
            What::Token { kind, .. } => Some(kind),
            What::Comment { .. } => None,
        }
    }

    pub fn is_unary(&self) -> bool {
        matches!(self.what, What::Token { is_unary: true, .. })
    }
}

/// How the lines of a text end.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// A comment without the blanks at the ends of its lines: those are not what it says.
pub(super) fn words(comment: &str) -> String {
    comment.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Whether a value may end with this token.
pub(super) fn ends_operand(kind: T) -> bool {
    use crate::lang::b::lex::Kw;
    matches!(
        kind,
        T::Ident | T::Quoted | T::Int | T::Hex | T::Real | T::Str | T::MultiStr | T::Template | T::Lit(_)
    ) || matches!(
        kind,
        T::RParen | T::RBrace | T::RBracket | T::Tilde | T::DollarZero | T::Kw(Kw::End) | T::Fun(_)
    )
}

pub(super) fn items<'a>(text: &'a str, tokens: &[Token], operators: Operators) -> Vec<Item<'a>> {
    let mut items = Vec::with_capacity(tokens.len());
    let mut at = 0;
    let mut before: Option<T> = None;
    for token in tokens {
        let (lo, hi) = (token.lo as usize, token.hi as usize);
        let (newlines, blanks) = between(text, at, lo, &mut items);
        let minus = T::Op(crate::lang::ast::BinOp::Sub);
        let is_unary = token.kind == minus && !before.is_some_and(ends_operand);
        let written = &text[lo..hi];
        items.push(Item {
            what: What::Token { kind: token.kind, is_unary },
            text: spelt(token.kind, written, operators),
            lo: token.lo,
            newlines,
            blanks,
        });
        before = Some(token.kind);
        at = hi;
    }
    between(text, at, text.len(), &mut items);
    items
}

/// Adds the comments of a gap; says what is between the last of them and the end of the gap.
fn between<'a>(text: &'a str, from: usize, to: usize, items: &mut Vec<Item<'a>>) -> (usize, Option<usize>) {
    let (mut newlines, mut blanks) = (0, Some(0));
    let mut at = from;
    while let Some(c) = text[at..to].chars().next() {
        let rest = &text[at..to];
        let is_line = rest.starts_with("//") || at <= '\u{feff}'.len_utf8() && rest.starts_with("#!");
        if is_line || rest.starts_with("/*") {
            let len = match is_line {
                true => rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len()),
                // The lexer has seen its end.
                false => rest[2..].find("*/").map_or(rest.len(), |n| n + 4),
            };
            let shown = if is_line { rest[..len].trim_end() } else { &rest[..len] };
            items.push(Item {
                what: What::Comment { is_line },
                text: shown.into(),
                lo: at as u32,
                newlines,
                blanks,
            });
            (newlines, blanks) = (0, Some(0));
            at += len;
            continue;
        }
        match c {
            '\r' if rest.starts_with("\r\n") => {}
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => (newlines, blanks) = (newlines + 1, Some(0)),
            ' ' => blanks = blanks.map(|n| n + 1),
            '\u{feff}' => {}
            _ => blanks = None,
        }
        at += c.len_utf8();
    }
    (newlines, blanks)
}
