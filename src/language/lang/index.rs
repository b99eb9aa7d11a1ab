//! Who is who in a text: what is declared where, and which name means which declaration. For editors: each language
//! makes one of a text as it is written, also beside mistakes.
//!
//! A name of another file is a use without a declaration here. Absent on purpose: types, other files.

use crate::lang::ast::{Ident, Name};
use crate::lang::diag::{Diagnostic, FileId, Span};

/// What a declared name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Machine,
    /// Of Event-B.
    Context,
    Parameter,
    Set,
    Element,
    Constant,
    Variable,
    Operation,
    /// Of Event-B.
    Event,
    Definition,
    Freetype,
    Constructor,
    /// A parameter or result of an operation or a definition, or a bound variable.
    Local,
}

impl Kind {
    /// Something that stands in a file of its own, or could.
    pub fn is_component(self) -> bool {
        matches!(self, Kind::Machine | Kind::Context)
    }

    pub fn word(self) -> &'static str {
        match self {
            Kind::Machine => "machine",
            Kind::Context => "context",
            Kind::Parameter => "machine parameter",
            Kind::Set => "set",
            Kind::Element => "element",
            Kind::Constant => "constant",
            Kind::Variable => "variable",
            Kind::Operation => "operation",
            Kind::Event => "event",
            Kind::Definition => "definition",
            Kind::Freetype => "freetype",
            Kind::Constructor => "constructor",
            Kind::Local => "local",
        }
    }
}

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    pub name: Name,
    pub kind: Kind,
    /// The name where it is declared.
    pub span: Span,
    /// All that belongs to it: an operation with its body.
    pub whole: Span,
    /// What comes before its body, or the definition: `r <-- op(x)`.
    pub head: Span,
    /// Where a local can be seen; everything else can be seen everywhere.
    pub scope: Option<Span>,
}

/// A name that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub name: Name,
    pub span: Span,
    /// The declaration that it means, by its place in [`Index::names`]; `None` if it is not in this text.
    pub of: Option<usize>,
    /// In the body of a definition, which is read where the definition is used.
    pub in_definition: bool,
}

/// Another machine that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub machine: Ident,
    pub refines: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Index {
    /// In the order of the text.
    pub names: Vec<Declared>,
    /// In the order of the text.
    pub uses: Vec<Use>,
    pub references: Vec<Reference>,
    /// Definition files that are included.
    pub files: Vec<(String, Span)>,
    /// What can be folded: clauses, operations, blocks and comments, as far as they have several lines.
    pub folds: Vec<Span>,
    /// The end of the first clause word and name: `MACHINE M`.
    pub header: Option<Span>,
    /// What is wrong with the text by itself.
    pub diagnostics: Vec<Diagnostic>,
}

impl Index {
    /// The declaration that a name at this place means, or is; and the name's own span.
    pub fn at(&self, offset: u32) -> Option<(Option<usize>, &Name, Span)> {
        let covers = |span: Span| span.lo <= offset && offset <= span.hi;
        let declared = self.names.iter().position(|d| covers(d.span));
        if let Some(i) = declared {
            let d = &self.names[i];
            return Some((Some(i), &d.name, d.span));
        }
        self.uses.iter().find(|u| covers(u.span)).map(|u| (u.of, &u.name, u.span))
    }

    /// A declaration that other machines see.
    pub fn global(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|d| &*d.name == name && d.scope.is_none() && !d.kind.is_component())
    }

    /// All places where a declaration is used, without the declaration itself.
    pub fn uses_of(&self, declared: usize) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |u| u.of == Some(declared))
    }

    pub fn machine(&self) -> Option<&Declared> {
        self.names.iter().find(|d| d.kind == Kind::Machine)
    }
}

impl Index {
    /// Puts everything into the order of the text.
    pub fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by_key(|i| self.names[*i].span);
        let mut place = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new;
        }
        self.names = order.iter().map(|i| self.names[*i].clone()).collect();
        for u in &mut self.uses {
            u.of = u.of.map(|i| place[i]);
        }
        self.uses.sort_by_key(|u| u.span);
    }
}

/// Comments of several lines between two places, which can be folded.
pub fn comments(text: &str, file: FileId, from: u32, to: u32, found: &mut Vec<Span>) {
    let Some(gap) = text.get(from as usize..to as usize) else { return };
    let mut at = 0;
    while let Some(next) = gap[at..].find('/') {
        let rest = &gap[at + next..];
        let len = match () {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => {
                let len = rest[2..].find("*/").map_or(rest.len(), |n| n + 4);
                let lo = from + (at + next) as u32;
                found.push(Span { file, lo, hi: lo + len as u32 });
                len
            }
            _ => 1,
        };
        at += next + len;
    }
}
