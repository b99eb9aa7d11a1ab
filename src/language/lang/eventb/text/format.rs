//! A text of Event-B in a tidy layout: lines stay as they are, and are indented as [`super::write`] indents them.
//!
//! Absent on purpose: blanks inside a line are not touched, and no line is broken or joined: where a line begins can
//! matter to the reader.

use super::is_word;
use crate::lang::diag::{Diagnostic, FileId, Span};
use crate::lang::eventb::math::lex::{At, T, Token, tokens};
use crate::lang::eventb::text::read;

/// The text in a tidy layout.
///
/// # Errors
/// What is wrong with the text, if it cannot be read: it is then not touched.
pub fn format(text: &str, file: FileId) -> Result<String, Vec<Diagnostic>> {
    let mut diagnostics = vec![];
    read::read(text, file, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let all = tokens(text, At::File(file, 0), true).map_err(|d| vec![d])?;
    let result = laid_out(text, &all);
    let again = tokens(&result, At::File(file, 0), true).map_err(|d| vec![d])?;
    let same = |(a, b): (&Token, &Token)| a.t == b.t && a.comment == b.comment && a.is_first == b.is_first;
    match all.len() == again.len() && all.iter().zip(&again).all(same) {
        true => Ok(result),
        false => {
            let message = "the text was not formatted: its meaning would have changed";
            let d = Diagnostic::error("B0199", Span::new(file, 0, 0), message);
            Err(vec![d.help("this is a bug of kanon, please report it")])
        }
    }
}

/// Where in a component a line stands.
#[derive(Clone, Copy, Default)]
struct Place {
    in_events: bool,
    in_event: bool,
    /// A label has been seen in this clause, so that a line without one goes on with a formula.
    is_labelled: bool,
}

impl Place {
    /// How far a line is indented that begins with this token. The next token tells a status from a name.
    fn indent(&mut self, token: &Token, next: Option<&Token>) -> usize {
        let is = |token: &Token, words: &[&str]| matches!(&token.t, T::Name(name) if words.iter().any(|w| is_word(name, w)));
        const EVENT: [&str; 10] =
            ["any", "where", "when", "with", "witness", "then", "begin", "refines", "extends", "status"];
        const COMPONENT: [&str; 12] = [
            "machine",
            "context",
            "extends",
            "refines",
            "sees",
            "sets",
            "constants",
            "variables",
            "invariants",
            "axioms",
            "theorems",
            "variant",
        ];
        if is(token, &["end"]) {
            self.is_labelled = false;
            if self.in_event {
                self.in_event = false;
                return 2;
            }
            self.in_events = false;
            return 0;
        }
        let is_status = is(token, &["convergent", "anticipated", "ordinary"]);
        if self.in_events && !self.in_event {
            let begins = is(token, &["event", "initialisation"])
                || is_status && next.is_some_and(|n| is(n, &["event", "initialisation"]));
            self.in_event |= begins;
            self.is_labelled = false;
            return 2;
        }
        let clauses: &[&str] = if self.in_event { &EVENT } else { &COMPONENT };
        let base = if self.in_event { 4 } else { 0 };
        if is(token, clauses) || self.in_event && is_status || !self.in_event && is(token, &["events"]) {
            self.is_labelled = false;
            self.in_events |= is(token, &["events"]);
            return base;
        }
        if matches!(token.t, T::Label(_)) || is(token, &["theorem"]) {
            self.is_labelled = true;
            return base + 2;
        }
        base + if self.is_labelled { 4 } else { 2 }
    }

    /// What the rest of a line opens: `events` and an event may stand behind another word.
    fn see(&mut self, token: &Token) {
        match &token.t {
            T::Label(_) => self.is_labelled = true,
            T::Name(name) if is_word(name, "end") => {
                self.in_events &= self.in_event;
                self.in_event = false;
            }
            T::Name(name) if is_word(name, "events") && !self.in_event => self.in_events = true,
            T::Name(name) if is_word(name, "event") && self.in_events => self.in_event = true,
            _ => {}
        }
    }
}

fn laid_out(text: &str, tokens: &[Token]) -> String {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut place = Place::default();
    let mut out = String::new();
    let mut blank = false;
    let mut lo = 0;
    let mut seen = 0;
    for whole in text.split_inclusive('\n') {
        let hi = lo + whole.len();
        let line = whole.trim_end();
        let words = line.trim_start();
        let inside = in_comment(text, tokens, lo);
        if words.is_empty() && !inside {
            blank = !out.is_empty();
            lo = hi;
            continue;
        }
        if std::mem::take(&mut blank) {
            out.push_str(line_end);
        }
        let of_line = tokens[seen..].iter().take_while(|t| (t.span.lo as usize) < hi).count();
        let indent = match tokens.get(seen) {
            // Comments stand where what they are about does.
            Some(first) if of_line > 0 => place.indent(first, tokens.get(seen + 1)),
            Some(first) => {
                let mut there = place;
                there.indent(first, tokens.get(seen + 1))
            }
            None => 0,
        };
        if inside {
            out.push_str(line);
        } else {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(words);
        }
        out.push_str(line_end);
        for token in tokens[seen..].iter().take(of_line).skip(1) {
            place.see(token);
        }
        seen += of_line;
        lo = hi;
    }
    out
}

/// Whether a line begins inside a comment of several lines.
fn in_comment(text: &str, tokens: &[Token], at: usize) -> bool {
    let before = tokens.partition_point(|t| (t.span.lo as usize) < at);
    let mut from = before.checked_sub(1).map_or(0, |i| tokens[i].span.hi as usize);
    while from < at {
        let rest = &text[from..];
        if rest.starts_with("//") {
            from += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(inside) = rest.strip_prefix("/*") {
            from += inside.find("*/").map_or(rest.len(), |n| n + 4);
        } else {
            from += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    from > at
}
