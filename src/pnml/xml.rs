//! The document: elements by local name, spans, and messages with a place.

use kanon_language::lang::diag::{Diagnostic, FileId, Span};
use roxmltree::{Document, Node, ParsingOptions};

/// What is wrong.
pub type Res<T> = Result<T, Diagnostic>;

/// Elements within elements.
const MAX_DEPTH: usize = 400;

/// Elements, attributes and texts of a document.
const MAX_NODES: u32 = 20_000_000;

/// Reads a document whose elements are not too deep to be followed. roxmltree limits what entities become; PNML
/// documents have no document type, so one that has is refused with all its entities.
pub fn document(file: FileId, text: &str) -> Res<Document<'_>> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|e| {
        let at = offset(text, e.pos());
        Diagnostic::error("N0101", Span::new(file, at, at), format!("no XML document: {e}"))
    })?;
    too_deep(file, &document)?;
    Ok(document)
}

fn offset(text: &str, pos: roxmltree::TextPos) -> usize {
    let row = (pos.row as usize).saturating_sub(1);
    let line: usize = text.split_inclusive('\n').take(row).map(str::len).sum();
    let within = text[line.min(text.len())..].chars().take((pos.col as usize).saturating_sub(1));
    (line + within.map(char::len_utf8).sum::<usize>()).min(text.len())
}

/// Terms and pages are followed by functions that call themselves.
fn too_deep(file: FileId, document: &Document) -> Res<()> {
    let mut open = vec![];
    for node in document.descendants().filter(Node::is_element) {
        // Parents come before their children, so the elements around this one are at the end of the list.
        let parent = node.parent_element().map(|p| p.id());
        while open.last().copied() != parent && open.pop().is_some() {}
        open.push(node.id());
        if open.len() > MAX_DEPTH {
            let message = format!("elements are nested more than {MAX_DEPTH} deep");
            return Err(El { node, file }.error("N0102", message));
        }
    }
    Ok(())
}

/// An element and the file that it is in.
#[derive(Clone, Copy)]
pub struct El<'a, 'i> {
    pub node: Node<'a, 'i>,
    pub file: FileId,
}

impl<'a, 'i: 'a> El<'a, 'i> {
    /// Its name, whatever the namespace: there are several editions of PNML.
    pub fn name(self) -> &'a str {
        self.node.tag_name().name()
    }

    pub fn span(self) -> Span {
        let range = self.node.range();
        // The opening tag, not the whole element.
        let text = &self.node.document().input_text()[range.clone()];
        let end = text.find('>').map_or(range.end, |i| range.start + i + 1);
        Span::new(self.file, range.start, end)
    }

    pub fn error(self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.span(), message)
    }

    /// What is read by name, and not supported.
    pub fn unsupported(self, what: &str) -> Diagnostic {
        self.error("N0301", format!("{what} (`{}`) is not supported", self.name()))
            .help("docs/nets.md lists what is")
    }

    pub fn children(self) -> impl Iterator<Item = El<'a, 'i>> {
        let file = self.file;
        self.node.children().filter(Node::is_element).map(move |node| El { node, file })
    }

    pub fn child(self, name: &str) -> Option<El<'a, 'i>> {
        self.children().find(|c| c.name() == name)
    }

    /// The one child element.
    pub fn only(self) -> Res<El<'a, 'i>> {
        let mut all = self.children();
        match (all.next(), all.next()) {
            (Some(one), None) => Ok(one),
            _ => Err(self.error("N0103", format!("`{}` has to have one element in it", self.name()))),
        }
    }

    pub fn attribute(self, name: &str) -> Res<&'a str> {
        self.node
            .attribute(name)
            .ok_or_else(|| self.error("N0103", format!("`{}` has no attribute `{name}`", self.name())))
    }

    /// The text of a child such as `<name><text>…</text></name>`.
    pub fn text(self, child: &str) -> Option<&'a str> {
        self.child(child)?.child("text")?.node.text().map(str::trim)
    }

    /// A number of tokens.
    pub fn number(self, text: &str) -> Res<u64> {
        text.trim().parse::<u64>().ok().filter(|n| *n <= MOST_TOKENS).ok_or_else(|| {
            let shown: String = text.trim().chars().take(40).collect();
            self.error("N0104", format!("`{shown}` is no number of tokens from 0 to {MOST_TOKENS}"))
        })
    }
}

/// Larger numbers in a document are mistakes, and sums of these cannot overflow a word.
pub const MOST_TOKENS: u64 = u32::MAX as u64;
