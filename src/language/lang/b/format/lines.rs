//! Where lines begin, how far they are indented, and where those are broken that are too long.

use super::items::{Item, What, ends_operand};
use super::{Marks, space};
use crate::lang::ast::BinOp;
use crate::lang::b::lex::{Clause, Kw, T};
use crate::lang::style::Style;

/// A line: its items, and whether a blank line is before it.
struct Line {
    from: usize,
    to: usize,
    is_apart: bool,
}

/// What is open where a line begins.
#[derive(Clone, Copy)]
struct Frame {
    kind: Open,
    /// Where the token that opened it begins.
    at: u32,
    /// How far its middle words and its end are indented.
    base: usize,
    /// How far its contents are.
    content: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Clause,
    /// An operation or a definition.
    Entry,
    /// A keyword with an END.
    Block,
    Bracket,
}

pub(super) fn lay_out(items: &[Item], marks: &Marks, style: Style, end: &str) -> String {
    let mut layout = Layout { items, marks, style, frames: vec![], leads: leads(items) };
    let mut open: Vec<Line> = layout.lines();
    open.reverse();
    let mut out = String::new();
    while let Some(line) = open.pop() {
        let indent = layout.indent(&line);
        if let Some(breaks) = layout.too_long(&line, indent) {
            let mut ends = breaks;
            ends.push(line.to);
            let mut parts = vec![];
            let mut from = line.from;
            for to in ends {
                parts.push(Line { from, to, is_apart: line.is_apart && from == line.from });
                from = to;
            }
            open.extend(parts.into_iter().rev());
            continue;
        }
        if line.is_apart && !out.is_empty() {
            out.push_str(end);
        }
        layout.write(&line, indent, end, &mut out);
        layout.advance(&line, indent);
        out.push_str(end);
    }
    out
}

fn is_logical(kind: Option<T>) -> bool {
    use BinOp::*;
    matches!(kind, Some(T::Op(And | Or | Implies | Iff)))
}

/// Whether lines of this text begin with `&` and the like, rather than end with them.
fn leads(items: &[Item]) -> bool {
    let (mut first, mut last) = (0, 0);
    for pair in items.windows(2) {
        if pair[1].newlines > 0 {
            first += usize::from(is_logical(pair[1].kind()));
            last += usize::from(is_logical(pair[0].kind()));
        }
    }
    first >= last
}

fn opens_block(kind: T) -> bool {
    use Kw::*;
    matches!(
        kind,
        T::Kw(
            Begin | Pre | Assert | Choice | If | Witness | Select | Any | Var | While | Let | Case | Either
        )
    )
}

/// Words inside a block that stand where its first word stands.
fn divides_block(kind: T) -> bool {
    use Kw::*;
    matches!(kind, T::Kw(Then | Else | Elsif | When | Or | Where | Be | In | Do | Of | Variant | End))
        || kind == T::Clause(Clause::Invariant)
}

fn opens_bracket(kind: T) -> bool {
    matches!(kind, T::LParen | T::LBrace | T::LBracket)
}

fn closes_bracket(kind: T) -> bool {
    matches!(kind, T::RParen | T::RBrace | T::RBracket)
}

struct Layout<'a> {
    items: &'a [Item<'a>],
    marks: &'a Marks,
    style: Style,
    /// What is open before the line that comes next.
    frames: Vec<Frame>,
    /// Long lines are broken before `&` and the like.
    leads: bool,
}

impl Layout<'_> {
    /// The lines as the author has them; clauses, operations and definitions begin lines of their own.
    fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = vec![];
        let mut blocks = 0usize;
        let mut is_first_definition = true;
        // Whether the line has nothing but comments so far.
        let mut is_bare = true;
        for (i, item) in self.items.iter().enumerate() {
            let mut begins = false;
            if let Some(kind) = item.kind() {
                begins = match kind {
                    T::Clause(_) if blocks == 0 => {
                        is_first_definition = true;
                        true
                    }
                    T::Kw(Kw::End) if blocks == 0 => true,
                    _ if self.marks.operations.contains(&item.lo) => true,
                    _ if self.marks.definitions.contains(&item.lo) => {
                        !std::mem::replace(&mut is_first_definition, false)
                    }
                    _ => false,
                };
                if opens_block(kind) {
                    blocks += 1;
                } else if kind == T::Kw(Kw::End) {
                    blocks = blocks.saturating_sub(1);
                }
            }
            let after_line = i > 0 && matches!(self.items[i - 1].what, What::Comment { is_line: true });
            if i == 0 || item.newlines > 0 || after_line || begins && !is_bare {
                lines.push(Line { from: i, to: i + 1, is_apart: item.newlines > 1 });
                is_bare = true;
            } else if let Some(line) = lines.last_mut() {
                line.to = i + 1;
            }
            is_bare &= item.kind().is_none();
        }
        lines
    }

    fn unit(&self) -> usize {
        self.style.indent
    }

    /// How far a line is indented.
    fn indent(&self, line: &Line) -> usize {
        let first = (line.from..line.to).find(|i| self.items[*i].kind().is_some());
        match first {
            Some(i) => self.indent_of(i, false),
            None => match (line.to..self.items.len()).find(|i| self.items[*i].kind().is_some()) {
                Some(next) => self.indent_of(next, true),
                None => 0,
            },
        }
    }

    /// The same for a line that begins with this token, or for comments before it.
    fn indent_of(&self, i: usize, is_comment: bool) -> usize {
        let (item, top) = (&self.items[i], self.frames.last());
        let Some(kind) = item.kind() else { return 0 };
        let in_block = self.frames.iter().any(|f| f.kind == Open::Block);
        if self.marks.operations.contains(&item.lo) || self.marks.definitions.contains(&item.lo) {
            return self.unit();
        }
        let Some(top) = top else { return 0 };
        match kind {
            T::Clause(_) if !in_block => 0,
            T::Kw(Kw::End) if !in_block => {
                if is_comment {
                    self.unit()
                } else {
                    0
                }
            }
            _ if closes_bracket(kind) || divides_block(kind) && top.kind == Open::Block => {
                if is_comment {
                    top.content
                } else {
                    top.base
                }
            }
            _ => match self.marks.goes_on(item.lo) {
                Some(began) if top.at <= began => top.content + self.unit(),
                _ => top.content,
            },
        }
    }

    /// Opens and closes what a line does.
    fn advance(&mut self, line: &Line, indent: usize) {
        for i in line.from..line.to {
            let item = &self.items[i];
            let Some(kind) = item.kind() else { continue };
            let at = item.lo;
            let unit = self.unit();
            let in_block = self.frames.iter().any(|f| f.kind == Open::Block);
            if self.marks.operations.contains(&at) || self.marks.definitions.contains(&at) {
                self.frames.truncate(1);
                self.frames.push(Frame { kind: Open::Entry, at, base: unit, content: 2 * unit });
            }
            let content = self.frames.last().map_or(0, |f| f.content);
            match kind {
                T::Clause(_) if !in_block => {
                    self.frames.clear();
                    self.frames.push(Frame { kind: Open::Clause, at, base: 0, content: unit });
                }
                _ if opens_block(kind) => {
                    let base = indent.max(content);
                    self.frames.push(Frame { kind: Open::Block, at, base, content: base + unit });
                }
                _ if opens_bracket(kind) => {
                    let content = content.max(indent + unit);
                    self.frames.push(Frame { kind: Open::Bracket, at, base: indent, content });
                }
                T::Kw(Kw::End) if in_block => {
                    while self.frames.pop().is_some_and(|f| f.kind != Open::Block) {}
                }
                _ if closes_bracket(kind) && self.frames.last().is_some_and(|f| f.kind == Open::Bracket) => {
                    self.frames.pop();
                }
                _ => {}
            }
        }
    }

    /// How many brackets are open since the last block or clause.
    fn in_brackets(&self) -> bool {
        self.frames.last().is_some_and(|f| f.kind == Open::Bracket)
    }

    /// The blanks before each item of a line but the first.
    fn blanks(&self, line: &Line) -> Vec<usize> {
        // A `;` in a bracket of this line, or of one before it.
        let mut open: Vec<bool> = self.frames.iter().map(|f| f.kind == Open::Bracket).collect();
        let mut blanks = vec![];
        for i in line.from..line.to {
            let item = &self.items[i];
            if i > line.from {
                let in_brackets = open.last().copied().unwrap_or(self.in_brackets());
                let is_last_comment = item.kind().is_none() && i + 1 == line.to;
                blanks.push(if is_last_comment {
                    // The author's columns.
                    item.blanks.map_or(2, |n| n.max(1))
                } else {
                    usize::from(space::is_wanted(&self.items[i - 1], item, in_brackets))
                });
            }
            match item.kind() {
                Some(kind) if opens_bracket(kind) => open.push(true),
                Some(kind) if opens_block(kind) => open.push(false),
                Some(kind) if closes_bracket(kind) || kind == T::Kw(Kw::End) => {
                    open.pop();
                }
                _ => {}
            }
        }
        blanks
    }

    fn write(&self, line: &Line, indent: usize, end: &str, out: &mut String) {
        let blanks = self.blanks(line);
        out.extend(std::iter::repeat_n(' ', indent));
        for i in line.from..line.to {
            let item = &self.items[i];
            if i > line.from {
                out.extend(std::iter::repeat_n(' ', blanks[i - line.from - 1]));
                out.push_str(&item.text);
            } else if matches!(item.what, What::Comment { is_line: false }) {
                shifted(item, indent, end, out);
            } else {
                out.push_str(&item.text);
            }
        }
    }

    /// Where to break a line that is too long: before these items. `None` if it fits, or cannot be broken.
    fn too_long(&self, line: &Line, indent: usize) -> Option<Vec<usize>> {
        let items = &self.items[line.from..line.to];
        // The text up to the end of each item; comments behind it do not count.
        let blanks = self.blanks(line);
        let mut ends = vec![];
        let mut width = indent;
        for (i, item) in items.iter().enumerate() {
            width += if i > 0 { blanks[i - 1] } else { 0 } + item.text.chars().count();
            ends.push(width);
        }
        let last = items.iter().rposition(|i| i.kind().is_some())?;
        if ends[last] <= self.style.width || items.iter().any(|i| i.text.contains('\n')) {
            return None;
        }
        let mut depth = 0i32;
        let mut gaps: Vec<(i32, Rank, usize)> = vec![];
        for (i, pair) in items.windows(2).enumerate().take(last) {
            let (Some(a), Some(b)) = (pair[0].kind(), pair[1].kind()) else { continue };
            if opens_block(a) || opens_bracket(a) {
                depth += 1;
            }
            let closes = closes_bracket(b) || b == T::Kw(Kw::End);
            if let Some(rank) = self.rank(&pair[0], a, &pair[1], b) {
                gaps.push((depth - i32::from(rank == Rank::Divides), rank, line.from + i + 1));
            }
            if closes {
                depth -= 1;
            }
        }
        let (depth, rank, _) = *gaps.iter().min_by_key(|(depth, rank, _)| (*depth, *rank))?;
        let mut chosen: Vec<usize> =
            gaps.iter().filter(|g| g.0 == depth && g.1 == rank).map(|g| g.2).collect();
        if matches!(rank, Rank::Comma | Rank::Operator) {
            // Lists and sums fill their lines.
            let fits = |at: &usize| ends[at - 1 - line.from] <= self.style.width;
            let at = chosen.iter().rev().find(|at| fits(at)).or(chosen.first()).copied();
            chosen = at.into_iter().collect();
        }
        Some(chosen)
    }

    /// Whether a line may be broken between two tokens, and how gladly.
    fn rank(&self, prev: &Item, a: T, next: &Item, b: T) -> Option<Rank> {
        use BinOp::*;
        let operator = |kind: T, item: &Item| match kind {
            T::Op(Interval) => None,
            T::Op(Implies | Iff) => Some(Rank::Implies),
            T::Op(And | Or) => Some(Rank::And),
            T::Op(
                Eq | Neq | In | NotIn | Subset | NotSubset | StrictSubset | NotStrictSubset | Lt | Le | Gt
                | Ge,
            ) => Some(Rank::Compares),
            T::Op(_) | T::Swapped(_) if !item.is_unary() => Some(Rank::Operator),
            _ => None,
        };
        if divides_block(b) {
            return Some(Rank::Divides);
        }
        match a {
            T::Clause(clause) => {
                return (!matches!(clause, Clause::Machine | Clause::Refinement | Clause::Implementation))
                    .then_some(Rank::Begins);
            }
            T::Semi | T::Parallel => return Some(Rank::Ends),
            T::DefEq => return Some(Rank::Begins),
            T::Op(Eq) if self.marks.bodies.contains(&next.lo) => return Some(Rank::Begins),
            T::Bar => return Some(Rank::Bar),
            T::Comma => return Some(Rank::Comma),
            T::Assign | T::BecomesElement => return Some(Rank::Assigns),
            _ if is_logical(Some(a)) && !self.leads => return operator(a, prev),
            _ => {}
        }
        match operator(b, next) {
            Some(Rank::Implies | Rank::And) if !self.leads => None,
            // `:(` belongs to the name before it.
            Some(Rank::Compares) if self.marks.goes_on(next.lo).is_some() && b == T::Op(In) => None,
            rank if ends_operand(a) => rank,
            _ => None,
        }
    }
}

/// Places where a line may be broken, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// After a clause's word, `==`, or the `=` of an operation.
    Begins,
    /// After `;` and `||`.
    Ends,
    /// Before THEN, ELSE, END and the like.
    Divides,
    Assigns,
    Implies,
    And,
    Bar,
    Compares,
    Comma,
    Operator,
}

/// A comment of several lines that begins a line: the others move with the first.
fn shifted(item: &Item, indent: usize, end: &str, out: &mut String) {
    let Some(was) = item.blanks else { return out.push_str(&item.text) };
    for (i, line) in item.text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if i == 0 {
            out.push_str(line);
            continue;
        }
        out.push_str(end);
        let words = line.trim_start_matches(' ');
        let blanks = line.len() - words.len();
        match words.starts_with('\t') || words.is_empty() {
            true => out.push_str(line),
            false => {
                out.extend(std::iter::repeat_n(' ', (blanks + indent).saturating_sub(was)));
                out.push_str(words);
            }
        }
    }
}
