//! XML with the places of attributes, so that a mistake in a formula is pointed at where it stands in the file.

use super::CORE;
use crate::lang::diag::{Diagnostic, FileId, Span};
use crate::lang::eventb::math::lex::At;
use roxmltree::{Attribute, Document, Node, ParsingOptions};

/// Elements and texts of one file at most.
const MAX_NODES: u32 = 4_000_000;

/// Reads a file. There are no document types, so no entities that stand for more than a character.
///
/// # Errors
/// Damaged XML.
pub fn parse(text: &str, file: FileId) -> Result<Document<'_>, Diagnostic> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|e| {
        let pos = e.pos();
        let line: usize =
            text.split('\n').take(pos.row.saturating_sub(1) as usize).map(|l| l.len() + 1).sum();
        let at = text.get(line..).unwrap_or_default();
        let col = at.char_indices().nth(pos.col.saturating_sub(1) as usize).map_or(at.len(), |(i, _)| i);
        let span = Span::new(file, (line + col).min(text.len()), (line + col).min(text.len()));
        Diagnostic::error("B0101", span, format!("damaged XML: {e}"))
            .help("files of Rodin are written by Rodin; take the file from a backup or an archive")
    })
}

/// An element of Rodin's, without the beginning that all of them share.
pub fn kind<'a>(node: &Node<'a, '_>) -> Option<&'a str> {
    let name: &'a str = node.tag_name().name();
    name.strip_prefix(CORE)
}

/// An attribute of Rodin's core.
pub fn attribute<'a, 'd>(node: &Node<'a, 'd>, name: &str) -> Option<Attribute<'a, 'd>> {
    node.attributes().find(|a| a.name().strip_prefix(CORE) == Some(name))
}

pub fn value<'a>(node: &Node<'a, '_>, name: &str) -> Option<&'a str> {
    attribute(node, name).map(|a| a.value())
}

pub fn is_true(node: &Node<'_, '_>, name: &str) -> bool {
    value(node, name) == Some("true")
}

/// The place of an element's opening.
pub fn place(node: &Node<'_, '_>, file: FileId) -> Span {
    let range = node.range();
    let name = node.tag_name().name().len() + 1;
    Span::new(file, range.start, (range.start + name).min(range.end))
}

/// Where the value of an attribute is, character by character.
pub struct Value<'a> {
    pub text: &'a str,
    file: FileId,
    /// For each byte of the text, and for its end.
    places: Vec<u32>,
}

impl<'a> Value<'a> {
    pub fn of(attribute: &Attribute<'a, '_>, text: &str, file: FileId) -> Value<'a> {
        let range = attribute.range_value();
        let value = attribute.value();
        let raw = text.get(range.clone()).unwrap_or_default();
        let mut places = Vec::with_capacity(value.len() + 1);
        let mut at = 0;
        for c in value.chars() {
            let rest = raw.get(at..).unwrap_or_default();
            places.extend(std::iter::repeat_n((range.start + at) as u32, c.len_utf8()));
            let is_escaped = rest.starts_with('&');
            let is_line = rest.starts_with("\r\n");
            at += match rest.chars().next() {
                Some(_) if is_escaped => rest.find(';').map_or(1, |i| i + 1),
                Some(_) if is_line => 2,
                Some(c) => c.len_utf8(),
                None => 0,
            };
        }
        places.push((range.start + at).min(range.end) as u32);
        Value { text: value, file, places }
    }

    pub fn at(&self) -> At<'_> {
        At::Escaped(self.file, &self.places)
    }

    pub fn span(&self) -> Span {
        let (from, to) = (self.places.first().copied(), self.places.last().copied());
        Span::new(self.file, from.unwrap_or_default() as usize, to.unwrap_or_default() as usize)
    }
}

/// A text as the value of an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            // No XML has these.
            c if c < ' ' || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
