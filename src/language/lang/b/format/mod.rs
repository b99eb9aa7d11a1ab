//! A text of classical B in a tidy layout: `kanon fmt`.
//!
//! The formatter works on tokens, not on the tree: it changes the white space between them and nothing else, so that
//! comments, macros and labels stay where they are and what is written. The tree only says where clauses, operations
//! and substitutions begin. Before a result is handed out it is read again: its tokens and comments must be those of
//! the text. Since the parser sees tokens only, the meaning is then the same.
//!
//! Absent on purpose: joining lines. Where the author broke a line, it stays broken.

mod items;
mod lines;
mod space;
mod spelling;

use super::lex::{self, Token};
use super::parse::{Parser, RawDefinition, RawMachine};
use crate::lang::ast::{Operation, Subst, SubstKind};
use crate::lang::diag::{Diagnostic, FileId, Span};
use crate::lang::macros::Body;
use crate::lang::style::{Operators, Style};
use crate::lang::walk::subst_children;
use items::{Item, What};
use std::collections::HashSet;

/// The text in a tidy layout.
///
/// # Errors
/// What is wrong with the text, if it cannot be read: it is then not touched.
pub fn format(text: &str, file: FileId, style: Style) -> Result<String, Vec<Diagnostic>> {
    super::with_deep_stack(file, || formatted(text, file, style)).unwrap_or_else(|d| Err(vec![d]))
}

fn formatted(text: &str, file: FileId, style: Style) -> Result<String, Vec<Diagnostic>> {
    let (tokens, mut diagnostics) = lex::lex(text, file);
    let mut parser = Parser::new(text, file, &tokens);
    let is_definitions = tokens.first().is_some_and(|t| t.kind == lex::T::Clause(lex::Clause::Definitions));
    let marks = if is_definitions {
        let mut marks = Marks::default();
        marks.definitions(&parser.definition_file());
        Some(marks)
    } else {
        parser.machine().map(|raw| Marks::of(&raw))
    };
    // Beside what is missing: a layout does not depend on it.
    diagnostics.extend(parser.diagnostics.drain(..).filter(|d| d.code != "B0120"));
    diagnostics.sort_by_key(|d| d.span);
    let Some(marks) = marks.filter(|_| diagnostics.is_empty()) else { return Err(diagnostics) };
    let items = items::items(text, &tokens, style.operators);
    let laid_out = lines::lay_out(&items, &marks, style, items::line_end(text));
    match changed(text, &tokens, &items, &laid_out, style) {
        None => Ok(laid_out),
        Some(at) => {
            let place = Span::new(file, at as usize, at as usize);
            let message = "the text was not formatted: its meaning would have changed here";
            let d =
                Diagnostic::error("B0199", place, message).help("this is a bug of kanon, please report it");
            Err(vec![d])
        }
    }
}

/// Where the result says something else than the text, if it does.
fn changed(text: &str, tokens: &[Token], items: &[Item], result: &str, style: Style) -> Option<u32> {
    let (again, diagnostics) = lex::lex(result, FileId::default());
    let mut lost = again.len() != tokens.len() || !diagnostics.is_empty();
    for (old, new) in tokens.iter().zip(&again) {
        let written = text[old.lo as usize..old.hi as usize] == result[new.lo as usize..new.hi as usize];
        if old.kind != new.kind || !written && style.operators == Operators::AsWritten {
            return Some(old.lo);
        }
    }
    let comments = |items: &[Item]| -> Vec<(u32, String)> {
        let of = |i: &Item| matches!(i.what, What::Comment { .. }).then(|| (i.lo, items::words(&i.text)));
        items.iter().filter_map(of).collect()
    };
    let (old, new) = (comments(items), comments(&items::items(result, &again, Operators::AsWritten)));
    lost |= old.len() != new.len();
    let differs = old.iter().zip(&new).find(|(a, b)| a.1 != b.1).map(|(a, _)| a.0);
    // Something is missing at the end.
    differs.or(lost.then(|| tokens.last().map_or(0, |t| t.lo)))
}

/// What the tree says about the places of tokens.
#[derive(Default)]
pub(super) struct Marks {
    /// Where operations begin.
    operations: HashSet<u32>,
    /// Where the bodies of operations begin.
    bodies: HashSet<u32>,
    /// Where definitions begin.
    definitions: HashSet<u32>,
    /// From where to where substitutions go that have no others inside, in the order of the text.
    simple: Vec<(u32, u32)>,
}

impl Marks {
    fn of(raw: &RawMachine) -> Marks {
        let mut marks = Marks::default();
        marks.definitions(&raw.definitions);
        let m = &raw.machine;
        if let Some(s) = &m.initialisation {
            marks.subst(s);
        }
        m.operations.iter().chain(&m.local_operations).for_each(|o| marks.operation(o));
        marks.simple.sort_unstable();
        marks
    }

    fn definitions(&mut self, definitions: &[RawDefinition]) {
        for d in definitions {
            match d {
                RawDefinition::Macro { name, body, .. } => {
                    self.definitions.insert(name.span.lo);
                    if let Body::Subst(s) = &**body {
                        self.subst(s);
                    }
                }
                RawDefinition::File { span, .. } => {
                    self.definitions.insert(span.lo);
                }
            }
        }
        self.simple.sort_unstable();
    }

    fn operation(&mut self, o: &Operation) {
        self.operations.insert(o.results.first().unwrap_or(&o.name).span.lo);
        self.bodies.insert(o.body.span.lo);
        self.subst(&o.body);
    }

    fn subst(&mut self, s: &Subst) {
        use SubstKind::*;
        if matches!(s.kind, Skip | Assign(..) | BecomesElement(..) | BecomesSuch(..) | Call { .. }) {
            self.simple.push((s.span.lo, s.span.hi));
        }
        subst_children(s, &mut |_| {}, &mut |part| self.subst(part));
    }

    /// Where the simple substitution began that goes on at this place.
    fn goes_on(&self, at: u32) -> Option<u32> {
        let before = self.simple.partition_point(|(lo, _)| *lo < at);
        let (lo, hi) = *self.simple.get(before.checked_sub(1)?)?;
        (at < hi).then_some(lo)
    }
}
