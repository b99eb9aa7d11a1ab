//! Tokens to a tree, by recursive descent; operators by precedence climbing.
//!
//! Every function either consumes what it describes or returns the one error that stopped
//! it. Whole clauses, operations, definitions and conjuncts catch that error, report it and
//! go on behind it, so that one run shows several mistakes.
//!
//! Absent on purpose: backtracking (but for the choice expression or substitution in a
//! definition's body), and any knowledge of what a name means.

pub(in crate::lang) mod expr;
mod machine;
mod subst;

use super::lex::{Clause, Kw, T, Token};
use crate::lang::ast::{BinOp, Expr, ExprKind, Fun, Ident, Lit, Name};
use crate::lang::diag::{Diagnostic, FileId, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(super) use machine::{RawDefinition, RawMachine};

/// Boxed, because a diagnostic is large and errors are rare.
type Fail = Box<Diagnostic>;
type Res<X> = Result<X, Fail>;

// Long chains of `&`, `\/` and the like are balanced and do not count.
pub(super) use crate::lang::stack::MAX_DEPTH;

/// More errors than this help nobody.
pub(super) const MAX_ERRORS: usize = 25;

pub(super) struct Parser<'a> {
    text: &'a str,
    file: FileId,
    tokens: &'a [Token],
    at: usize,
    /// One past the last token that may be read; less than all of them in a definition's body.
    end: usize,
    /// Nesting of the recursive functions.
    depth: u32,
    /// Greatest height of the expressions returned since the surrounding one began.
    height: u32,
    names: HashMap<&'a str, Name>,
    layout: Layout,
    /// The first block whose END stands further left than the block: probably another block's.
    misplaced_end: Option<(Span, Span)>,
    /// The blocks around the next token, outermost first.
    blocks: Vec<Span>,
    /// Constructs that were read but have no place in the tree.
    unsupported: Vec<(Span, String)>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Brackets of the file, found in one pass before parsing.
#[derive(Default)]
struct Layout {
    /// How many brackets are open before each token; a clause closes all.
    open: Vec<u32>,
    /// The `{` that have a `|` of their own.
    with_bar: HashSet<usize>,
}

impl Layout {
    fn of(tokens: &[Token]) -> Layout {
        let mut open = Vec::with_capacity(tokens.len());
        let mut with_bar = HashSet::new();
        let mut stack: Vec<usize> = vec![];
        for (i, token) in tokens.iter().enumerate() {
            match token.kind {
                T::RParen | T::RBrace | T::RBracket => {
                    stack.pop();
                }
                // Not INVARIANT: a loop has one too, and it may stand in parentheses nowhere.
                T::Clause(_) => stack.clear(),
                T::Bar => {
                    if let Some(&top) = stack.last()
                        && tokens[top].kind == T::LBrace
                    {
                        with_bar.insert(top);
                    }
                }
                _ => {}
            }
            open.push(stack.len() as u32);
            if matches!(token.kind, T::LParen | T::LBrace | T::LBracket) {
                stack.push(i);
            }
        }
        Layout { open, with_bar }
    }
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, file: FileId, tokens: &'a [Token]) -> Self {
        Parser {
            text,
            file,
            tokens,
            at: 0,
            end: tokens.len(),
            depth: 0,
            height: 0,
            names: HashMap::new(),
            layout: Layout::of(tokens),
            misplaced_end: None,
            blocks: vec![],
            unsupported: vec![],
            diagnostics: vec![],
        }
    }

    /// One expression or predicate and nothing behind it.
    pub(super) fn only_expr(&mut self) -> Option<Expr> {
        let result = self.expr_in_brackets().and_then(|e| match self.peek() {
            T::Eof => Ok(e),
            _ => Err(self.unexpected("the end of the expression")),
        });
        match result {
            Ok(e) => Some(e),
            Err(fail) => {
                self.report(*fail);
                None
            }
        }
    }

    /// Where errors about the end of the file are reported.
    pub(super) fn end_of_file(&self) -> Span {
        self.span_of(self.token(self.tokens.len()))
    }

    // ---- tokens ----

    fn token(&self, at: usize) -> Token {
        if at < self.end {
            return self.tokens[at];
        }
        // The end of a definition's body is reported at what follows it, the end of a file at its end.
        match self.tokens.get(at.min(self.end)) {
            Some(next) => Token { kind: T::Eof, ..*next },
            None => {
                let lo = self.tokens.last().map_or(0, |t| t.hi);
                Token { kind: T::Eof, lo, hi: lo }
            }
        }
    }

    fn peek(&self) -> T {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> T {
        match self.at.checked_add(ahead) {
            Some(i) if i < self.end => self.tokens[i].kind,
            _ => T::Eof,
        }
    }

    fn advance(&mut self) -> Token {
        let token = self.token(self.at);
        if self.at < self.end {
            self.at += 1;
        }
        token
    }

    fn span_of(&self, token: Token) -> Span {
        Span { file: self.file, lo: token.lo, hi: token.hi }
    }

    /// The place of the token to be read next.
    fn here(&self) -> Span {
        self.span_of(self.token(self.at))
    }

    /// The place of the token read last.
    fn last(&self) -> Span {
        match self.at.checked_sub(1) {
            Some(i) => self.span_of(self.tokens[i]),
            None => self.here(),
        }
    }

    fn text_of(&self, token: Token) -> &'a str {
        self.text.get(token.lo as usize..token.hi as usize).unwrap_or("")
    }

    fn eat(&mut self, kind: T) -> bool {
        let found = self.peek() == kind;
        if found {
            self.at += 1;
        }
        found
    }

    fn eat_kw(&mut self, kw: Kw) -> bool {
        self.eat(T::Kw(kw))
    }

    fn expect(&mut self, kind: T, what: &str) -> Res<Span> {
        if self.peek() == kind {
            return Ok({
                let token = self.advance();
                self.span_of(token)
            });
        }
        Err(self.unexpected(what))
    }

    fn expect_kw(&mut self, kw: Kw, what: &str) -> Res<Span> {
        self.expect(T::Kw(kw), what)
    }

    /// The END of a block, with the place of its beginning when it is missing.
    fn expect_end(&mut self, opened: Span, what: &str) -> Res<Span> {
        match self.peek() {
            T::Kw(Kw::End) => {
                let end = self.expect_kw(Kw::End, "`END`")?;
                if self.misplaced_end.is_none() && self.indent(end) < self.indent(opened) {
                    self.misplaced_end = Some((opened, end));
                }
                Ok(end)
            }
            T::Eof | T::Clause(_) => {
                let found = self.found();
                Err(Box::new(
                    Diagnostic::error("B0107", self.here(), format!("expected `END`, found {found}"))
                        .note(opened, format!("this {what} is not closed"))
                        .help("every block ends with its own `END`"),
                ))
            }
            _ => Err(Box::new(self.unexpected("`END`").note(opened, format!("to close this {what}")))),
        }
    }

    /// What to say where the next operation begins and a block of this one is still open; `semi` is the `;`
    /// between the two.
    fn missing_end(&self, semi: Span, operation: &str) -> Option<Fail> {
        let innermost = *self.blocks.last()?;
        let next = format!("the operation `{operation}` begins inside this one");
        Some(Box::new(match self.misplaced_end {
            // By their layout this END belongs to a block further out.
            Some((opened, end)) => Diagnostic::error("B0107", end, "an `END` is missing before this one")
                .note(opened, "this is closed by it, and has no `END` of its own")
                .note(semi, next),
            None => Diagnostic::error("B0107", semi, "an `END` is missing before this `;`")
                .note(innermost, "this is not closed")
                .help(format!("otherwise {next}")),
        }))
    }

    /// How far the line of a place is indented; of very long lines nothing is known.
    fn indent(&self, place: Span) -> Option<usize> {
        let before = self.text.as_bytes().get(..place.lo as usize)?;
        let length = before.iter().rev().take(200).position(|b| *b == b'\n')?;
        let line = &self.text.as_bytes()[place.lo as usize - length..];
        Some(line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count())
    }

    // ---- names ----

    fn intern(&mut self, text: &'a str) -> Name {
        self.names.entry(text).or_insert_with(|| Arc::from(text)).clone()
    }

    fn is_name(kind: T) -> bool {
        matches!(kind, T::Ident | T::Quoted)
    }

    /// One name without dots.
    fn name(&mut self, what: &str) -> Res<Ident> {
        if !Self::is_name(self.peek()) {
            return Err(self.unexpected(what));
        }
        let token = self.advance();
        Ok(Ident { name: self.name_text(token), span: self.span_of(token) })
    }

    fn name_text(&mut self, token: Token) -> Name {
        let text = self.text_of(token);
        if token.kind == T::Quoted {
            let inner = text.strip_prefix('`').unwrap_or(text);
            Arc::from(unescape(inner.strip_suffix('`').unwrap_or(inner)))
        } else {
            self.intern(text)
        }
    }

    /// `a` or `prefix.a`
    fn dotted(&mut self, what: &str) -> Res<Ident> {
        let first = self.name(what)?;
        self.dots(first)
    }

    fn dots(&mut self, first: Ident) -> Res<Ident> {
        if self.peek() != T::Dot || !Self::is_name(self.peek_at(1)) {
            return Ok(first);
        }
        let mut text = first.name.to_string();
        let mut span = first.span;
        while self.peek() == T::Dot && Self::is_name(self.peek_at(1)) {
            self.at += 1;
            let part = self.name("a name")?;
            text.push('.');
            text.push_str(&part.name);
            span = span.to(part.span);
        }
        Ok(Ident { name: Arc::from(text), span })
    }

    /// `x, y, z`
    fn names(&mut self, what: &str) -> Res<Vec<Ident>> {
        let mut names = vec![self.name(what)?];
        while self.eat(T::Comma) {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn dotted_names(&mut self, what: &str) -> Res<Vec<Ident>> {
        let mut names = vec![self.dotted(what)?];
        while self.eat(T::Comma) {
            names.push(self.dotted(what)?);
        }
        Ok(names)
    }

    // ---- errors ----

    fn found(&self) -> String {
        let token = self.token(self.at);
        if token.kind == T::Eof && self.end < self.tokens.len() {
            return "the end of the definition".to_string();
        }
        token.kind.describe(self.text_of(token))
    }

    /// "expected … found …" at the next token, with a hint where the mistake is a known one.
    fn unexpected(&self, what: &str) -> Fail {
        let token = self.token(self.at);
        let wants_name = what.contains("name");
        let (code, message) = if wants_name && token.kind.is_word() {
            let text = self.text_of(token);
            ("B0108", format!("expected {what}, but `{text}` is a reserved word"))
        } else {
            ("B0101", format!("expected {what}, found {}", self.found()))
        };
        let d = Diagnostic::error(code, self.here(), message);
        Box::new(match self.hint(token, code, what) {
            Some(help) => d.help(help),
            None => d,
        })
    }

    fn hint(&self, token: Token, code: &str, wanted: &str) -> Option<String> {
        let text = self.text_of(token);
        if let Some(clause) = self.misspelt_clause() {
            return Some(format!("did you mean the clause `{clause}`?"));
        }
        Some(match token.kind {
            _ if code == "B0108" => format!("use another name, or quote it: `` `{text}` ``"),
            T::DefEq => "equality is written `=`; `==` belongs to DEFINITIONS".to_string(),
            T::Assign => "equality is written `=`; `:=` belongs to substitutions".to_string(),
            T::Ident => {
                let before = self.at.checked_sub(1).map(|i| self.tokens[i]).filter(|t| t.kind == T::Ident);
                let before = before.map(|t| self.text_of(t));
                let words = [Some(text), before];
                let foreign = words.into_iter().flatten().find_map(foreign_word);
                let meant =
                    words.into_iter().flatten().find_map(|w| Some((w, machine::resembled_keyword(w)?)));
                match (foreign, meant, before) {
                    (Some(help), ..) => help.to_string(),
                    (None, Some((word, keyword)), _) => format!("`{word}`: did you mean `{keyword}`?"),
                    (None, None, Some(_)) => {
                        "is an operator, a comma or a `;` missing between the two names?".to_string()
                    }
                    (None, None, None) => return None,
                }
            }
            T::Kw(Kw::Or) => "disjunction is written `or`; `OR` belongs to CHOICE and CASE".to_string(),
            T::Bar => "disjunction is written `or`".to_string(),
            // After a predicate, not between substitutions.
            T::Parallel if wanted.contains("`&`") => {
                "disjunction is written `or`; `||` joins substitutions and, in parentheses, relations"
                    .to_string()
            }
            T::Kw(Kw::In) if wanted.contains("`&`") => {
                "membership is written `x : S`; `IN` belongs to LET and VAR".to_string()
            }
            T::Lambda => "the remainder is written `mod`; `%` begins a function, `%x.(P | E)`".to_string(),
            T::Lit(Lit::EmptySeq) => "inequality is written `/=`; `<>` is the empty sequence".to_string(),
            T::Fun(Fun::GenUnion) => {
                "the union of two sets is written `S \\/ T`; `union(SS)` is that of a set of sets".to_string()
            }
            T::Fun(Fun::GenInter) => {
                "the intersection of two sets is written `S /\\ T`; `inter(SS)` is that of a set of sets"
                    .to_string()
            }
            _ => return None,
        })
    }

    /// The clause that the word before the next token resembles.
    fn misspelt_clause(&self) -> Option<&'static str> {
        let before = *self.tokens.get(self.at.checked_sub(1)?)?;
        machine::resembled_clause(self.text_of(before)).filter(|_| before.kind == T::Ident)
    }

    fn report(&mut self, d: Diagnostic) {
        // One mistake may be met twice (a body tried in two ways, a clause resumed at its own error).
        if !self.diagnostics.iter().any(|other| other.span == d.span) {
            self.diagnostics.push(d);
        }
    }

    fn gives_up(&self) -> bool {
        self.diagnostics.len() >= MAX_ERRORS
    }

    // ---- depth ----

    /// Runs `inner` one level deeper, or fails cleanly when that is too deep.
    fn nested<X>(&mut self, inner: impl FnOnce(&mut Self) -> Res<X>) -> Res<X> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep(self.here()));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&self, place: Span) -> Fail {
        Box::new(
            Diagnostic::error("B0106", place, format!("this nests more than {MAX_DEPTH} levels deep"))
                .help("split it: give parts of it names as constants, variables or operations"),
        )
    }
}

/// Operators of other languages that are words.
fn foreign_word(text: &str) -> Option<&'static str> {
    Some(match text {
        "and" | "AND" => "conjunction is written `&`",
        "in" | "member" => "membership is written `x : S`",
        "notin" => "that x is no element of S is written `x /: S`",
        "subset" | "subseteq" => "that S is a subset of T is written `S <: T`",
        "implies" => "implication is written `=>`",
        "iff" => "equivalence is written `<=>`",
        "forall" | "all" => "for all x is written `!x.(P => Q)`",
        "exists" => "there is an x is written `#x.(P & Q)`",
        "intersect" => "the intersection of two sets is written `S /\\ T`",
        "div" | "DIV" => "division is written `/`",
        "MOD" => "the remainder is written `mod`",
        _ => return None,
    })
}

/// `\n`, `\t`, `\r`, `\"`, `\'`, `\\`, and `` \` ``; any other backslash stands for itself. An end
/// of line in a long string is one `\n`, however the file writes it.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(q @ ('"' | '\'' | '\\' | '`')) => out.push(q),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            _ => out.push(c),
        }
    }
    out
}

/// `a op b op c` as a tree: to the left when short, as B says; balanced when long, which for
/// these operators means the same and keeps trees low.
fn fold(op: BinOp, mut operands: Vec<Expr>) -> Expr {
    const LONG: usize = 64;
    if operands.len() > LONG {
        let right = operands.split_off(operands.len() / 2);
        return binary(op, fold(op, operands), fold(op, right));
    }
    let mut operands = operands.into_iter();
    let mut left = match operands.next() {
        Some(first) => first,
        // Callers always have one operand; a neutral tree is still no panic.
        None => Expr { kind: ExprKind::SetExt(vec![]), span: Span::default() },
    };
    for right in operands {
        left = binary(op, left, right);
    }
    left
}

fn binary(op: BinOp, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
}

fn is_machine_start(clause: Clause) -> bool {
    matches!(clause, Clause::Machine | Clause::Refinement | Clause::Implementation)
}
