//! Prolog terms as ProB's packages have them: atoms, numbers, strings, variables, compound terms, lists, and as much
//! of operators as is needed to step over what is not a package.
//!
//! The reader keeps its own stack, so depth costs memory and nothing else; [`MAX_DEPTH`] limits it because whoever
//! walks a term recurses. Absent on purpose: what a term means.

use crate::lang::diag::{Diagnostic, FileId, Span};
use crate::lang::stack::MAX_DEPTH;
use num_bigint::BigInt;
use std::sync::Arc;

/// A term with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    pub kind: Kind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Atom(Arc<str>),
    Int(BigInt),
    /// `"…"`, and `0'c` as a string of one character.
    Str(Arc<str>),
    Var(Arc<str>),
    Compound(Arc<str>, Vec<Term>),
    /// A list whose end is not a list (`[a|T]`) is read with that end as last element.
    List(Vec<Term>),
}

impl Term {
    /// Functor and arguments; an atom has none.
    pub fn parts(&self) -> Option<(&str, &[Term])> {
        match &self.kind {
            Kind::Atom(name) => Some((name, &[])),
            Kind::Compound(name, args) => Some((name, args)),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Term]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            // `[]` in quotes is the empty list in older Prolog.
            Kind::Atom(name) if &**name == "[]" => Some(&[]),
            _ => None,
        }
    }

    pub fn atom(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Kind::Atom(name) => Some(name),
            _ => None,
        }
    }

    /// How the term would be called in a message: `functor/arity`.
    pub fn shape(&self) -> String {
        match &self.kind {
            Kind::Atom(name) => format!("`{name}`"),
            Kind::Int(i) => format!("the number {i}"),
            Kind::Str(_) => "a string".to_string(),
            Kind::Var(name) => format!("the variable {name}"),
            Kind::Compound(name, args) => format!("`{name}/{}`", args.len()),
            Kind::List(items) => format!("a list of {}", items.len()),
        }
    }
}

/// The clauses of a text, each ended by a full stop. Directives (`:- …`) are not among them.
pub fn clauses(text: &str, file: FileId) -> Result<Vec<Term>, Diagnostic> {
    let mut reader = Reader { lexer: Lexer { text, at: 0, file }, next: None, open: vec![] };
    let mut found = vec![];
    while let Some((first, _)) = reader.peek()? {
        let is_directive = matches!(first, Token::Symbol(name, _) if &**name == ":-");
        let clause = reader.clause()?;
        if !is_directive {
            found.push(clause);
        }
    }
    Ok(found)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// An atom; whether an opening parenthesis follows at once.
    Name(Arc<str>, bool),
    /// The same of characters such as `:-`.
    Symbol(Arc<str>, bool),
    Int(BigInt),
    Str(Arc<str>),
    Var(Arc<str>),
    /// One of `( ) [ ] { } , |`.
    Punct(char),
    /// The full stop that ends a clause.
    End,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    file: FileId,
}

const SYMBOLS: &str = "+-*/\\^<>=~:.?@#&$";

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn error(&self, from: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("B0101", Span::new(self.file, from, self.at.max(from)), message)
    }

    fn take_while(&mut self, is: impl Fn(char) -> bool) -> &str {
        let from = self.at;
        let length = self.rest().find(|c| !is(c)).unwrap_or(self.rest().len());
        self.at += length;
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn space(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest().starts_with('%') {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                let from = self.at;
                match self.rest().find("*/") {
                    Some(length) => self.at += length + 2,
                    None => {
                        self.at = self.text.len();
                        return Err(self.error(from, "this comment does not end"));
                    }
                }
            } else {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<Option<(Token, Span)>, Diagnostic> {
        self.space()?;
        let from = self.at;
        let Some(first) = self.peek() else { return Ok(None) };
        let token = match first {
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | '|' => {
                self.at += 1;
                Token::Punct(first)
            }
            '!' | ';' => {
                self.at += 1;
                Token::Symbol(first.to_string().into(), self.opens())
            }
            '\'' => {
                let name = self.quoted('\'')?;
                Token::Name(name.into(), self.opens())
            }
            '"' => Token::Str(self.quoted('"')?.into()),
            '0'..='9' => self.number()?,
            c if c == '_' || c.is_uppercase() => {
                Token::Var(self.take_while(|c| c == '_' || c.is_alphanumeric()).into())
            }
            c if c.is_alphabetic() => {
                let name: Arc<str> = self.take_while(|c| c == '_' || c.is_alphanumeric()).into();
                Token::Name(name, self.opens())
            }
            c if SYMBOLS.contains(c) => {
                let mut after = self.rest().chars().skip(1);
                if c == '.' && after.next().is_none_or(|c| c.is_whitespace() || c == '%') {
                    self.at += 1;
                    Token::End
                } else {
                    let name: Arc<str> = self.take_while(|c| SYMBOLS.contains(c)).into();
                    Token::Symbol(name, self.opens())
                }
            }
            c => {
                self.at += c.len_utf8();
                return Err(self.error(from, format!("`{}` has no place in a Prolog term", c.escape_debug())));
            }
        };
        Ok(Some((token, Span::new(self.file, from, self.at))))
    }

    fn opens(&self) -> bool {
        self.rest().starts_with('(')
    }

    fn number(&mut self) -> Result<Token, Diagnostic> {
        let from = self.at;
        if let Some(rest) = self.rest().strip_prefix("0'")
            && let Some(c) = rest.chars().next().filter(|c| *c != '\\' && *c != '\'')
        {
            self.at += 2 + c.len_utf8();
            return Ok(Token::Str(c.to_string().into()));
        }
        let digits = self.take_while(|c| c.is_ascii_digit()).to_string();
        let mut after = self.rest().chars();
        let (next, then) = (after.next(), after.next());
        if next == Some('.') && then.is_some_and(|c| c.is_ascii_digit()) || next == Some('\'') {
            return Err(self.error(from, "only whole decimal numbers are read here"));
        }
        match digits.parse() {
            Ok(number) => Ok(Token::Int(number)),
            Err(_) => Err(self.error(from, "this is not a number")),
        }
    }

    /// What stands between two quotation marks.
    fn quoted(&mut self, mark: char) -> Result<String, Diagnostic> {
        let from = self.at;
        self.at += 1;
        let mut inside = String::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(self.error(from, "this quotation does not end"));
            };
            self.at += c.len_utf8();
            match c {
                '\\' => self.escape(from, &mut inside)?,
                c if c == mark && self.peek() == Some(mark) => {
                    self.at += 1;
                    inside.push(mark);
                }
                c if c == mark => return Ok(inside),
                c => inside.push(c),
            }
        }
    }

    /// What follows a backslash. `\x…\` and `\…\` are the numbers of characters.
    fn escape(&mut self, from: usize, inside: &mut String) -> Result<(), Diagnostic> {
        let at = self.at;
        let Some(c) = self.peek() else { return Err(self.error(from, "this quotation does not end")) };
        self.at += c.len_utf8();
        let code = match c {
            '\n' => return Ok(()),
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'e' => '\u{1b}',
            's' => ' ',
            '\\' | '\'' | '"' | '`' => c,
            'x' | '0'..='7' => {
                let radix = if c == 'x' { 16 } else { 8 };
                if c != 'x' {
                    self.at = at;
                }
                let digits = self.take_while(|c| c.is_digit(radix)).to_string();
                let number = u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32);
                if self.peek() == Some('\\') {
                    self.at += 1;
                }
                match number {
                    Some(c) => c,
                    None => return Err(self.error(at - 1, "this is not the number of a character")),
                }
            }
            _ => return Err(self.error(at - 1, format!("unknown escape `\\{}`", c.escape_debug()))),
        };
        inside.push(code);
        Ok(())
    }
}

/// Something that was begun and is not finished.
enum Open {
    Call(Arc<str>, Vec<Term>, Span),
    List(Vec<Term>, Span),
    Parens(Span),
    /// An operator that waits for its right side, with the left one if it has one.
    Operator(Arc<str>, Option<Term>, Span),
}

struct Reader<'t> {
    lexer: Lexer<'t>,
    next: Option<(Token, Span)>,
    open: Vec<Open>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Result<Option<&(Token, Span)>, Diagnostic> {
        if self.next.is_none() {
            self.next = self.lexer.next()?;
        }
        Ok(self.next.as_ref())
    }

    fn take(&mut self) -> Result<(Token, Span), Diagnostic> {
        self.peek()?;
        self.next.take().ok_or_else(|| {
            let at = self.lexer.text.len();
            let end = Span::new(self.lexer.file, at, at);
            let diag = Diagnostic::error("B0102", end, "the text ends within a term");
            match self.open.iter().rev().find_map(Open::place) {
                Some(place) => diag.note(place, "which begins here"),
                None => diag,
            }
        })
    }

    fn unexpected(token: &Token, span: Span, wanted: &str) -> Diagnostic {
        let found = match token {
            Token::Name(name, _) | Token::Symbol(name, _) => format!("`{name}`"),
            Token::Var(name) => format!("the variable {name}"),
            Token::Int(i) => format!("the number {i}"),
            Token::Str(_) => "a string".to_string(),
            Token::Punct(c) => format!("`{c}`"),
            Token::End => "the end of the clause".to_string(),
        };
        Diagnostic::error("B0102", span, format!("expected {wanted}, found {found}"))
    }

    /// Reads up to a full stop.
    fn clause(&mut self) -> Result<Term, Diagnostic> {
        self.open.clear();
        loop {
            // A term is to begin here.
            if self.open.len() > MAX_DEPTH as usize {
                let (_, span) = self.take()?;
                let message = format!("this nests more than {MAX_DEPTH} levels deep");
                return Err(Diagnostic::error("B0106", span, message));
            }
            let (token, span) = self.take()?;
            let term = match token {
                Token::Name(name, true) | Token::Symbol(name, true) => {
                    self.take()?;
                    self.open.push(Open::Call(name, vec![], span));
                    continue;
                }
                Token::Name(name, false) => Term { kind: Kind::Atom(name), span },
                Token::Symbol(name, false) => match self.peek()? {
                    // A minus before a number belongs to it; `-` alone, as in `f(-)`, is an atom.
                    Some((Token::Punct(')' | ']' | ',' | '|') | Token::End, _)) | None => {
                        Term { kind: Kind::Atom(name), span }
                    }
                    Some((Token::Int(i), end)) if &*name == "-" => {
                        let term = Term { kind: Kind::Int(-i.clone()), span: span.to(*end) };
                        self.take()?;
                        term
                    }
                    _ => {
                        self.open.push(Open::Operator(name, None, span));
                        continue;
                    }
                },
                Token::Int(i) => Term { kind: Kind::Int(i), span },
                Token::Str(s) => Term { kind: Kind::Str(s), span },
                Token::Var(name) => Term { kind: Kind::Var(name), span },
                Token::Punct('[') => {
                    if let Some((Token::Punct(']'), end)) = self.peek()? {
                        let span = span.to(*end);
                        self.take()?;
                        Term { kind: Kind::List(vec![]), span }
                    } else {
                        self.open.push(Open::List(vec![], span));
                        continue;
                    }
                }
                Token::Punct('(') => {
                    self.open.push(Open::Parens(span));
                    continue;
                }
                Token::Punct(_) | Token::End => return Err(Self::unexpected(&token, span, "a term")),
            };
            if let Some(clause) = self.complete(term)? {
                return Ok(clause);
            }
        }
    }

    /// A term is read; puts it where it belongs. The clause, when that was all of it.
    fn complete(&mut self, mut term: Term) -> Result<Option<Term>, Diagnostic> {
        loop {
            let (token, span) = self.take()?;
            // Operators of one level, to the right: enough to step over directives.
            if let Token::Symbol(name, _) = token {
                self.open.push(Open::Operator(name, Some(term), span));
                return Ok(None);
            }
            if let Token::Name(name, false) = &token
                && matches!(self.open.last(), Some(Open::Operator(..)) | None)
                && !matches!(term.kind, Kind::Compound(..))
            {
                // `dynamic a/1`: a prefix operator whose name is a word.
                let word = Term { kind: Kind::Atom(name.clone()), span };
                let Kind::Atom(functor) = &term.kind else {
                    return Err(Self::unexpected(&token, span, "`.`"));
                };
                let span = term.span.to(span);
                term = Term { kind: Kind::Compound(functor.clone(), vec![word]), span };
                continue;
            }
            while matches!(self.open.last(), Some(Open::Operator(..))) {
                if let Some(Open::Operator(name, left, at)) = self.open.pop() {
                    let begin = left.as_ref().map_or(at, |l| l.span);
                    let span = begin.to(term.span);
                    let args = left.into_iter().chain([term]).collect();
                    term = Term { kind: Kind::Compound(name, args), span };
                }
            }
            match (self.open.last_mut(), &token) {
                (None, Token::End) => return Ok(Some(term)),
                // A conjunction of directives.
                (None, Token::Punct(',')) => {
                    self.open.push(Open::Operator(",".into(), Some(term), span));
                    return Ok(None);
                }
                (Some(Open::Call(_, items, _)), Token::Punct(',')) => {
                    items.push(term);
                    return Ok(None);
                }
                (Some(Open::List(items, _)), Token::Punct(',' | '|')) => {
                    items.push(term);
                    return Ok(None);
                }
                (Some(Open::Parens(_)), Token::Punct(')')) => {
                    self.open.pop();
                    continue;
                }
                (Some(Open::Parens(_)), Token::Punct(',')) => {
                    self.open.push(Open::Operator(",".into(), Some(term), span));
                    return Ok(None);
                }
                (Some(Open::Call(..)), Token::Punct(')')) | (Some(Open::List(..)), Token::Punct(']')) => {}
                (None, _) => return Err(Self::unexpected(&token, span, "`.`")),
                (Some(Open::List(..)), _) => return Err(Self::unexpected(&token, span, "`,` or `]`")),
                (Some(_), _) => return Err(Self::unexpected(&token, span, "`,` or `)`")),
            }
            term = match self.open.pop() {
                Some(Open::Call(name, mut items, at)) => {
                    items.push(term);
                    Term { kind: Kind::Compound(name, items), span: at.to(span) }
                }
                Some(Open::List(mut items, at)) => {
                    items.push(term);
                    Term { kind: Kind::List(items), span: at.to(span) }
                }
                _ => term,
            };
        }
    }
}

impl Open {
    fn place(&self) -> Option<Span> {
        match self {
            Open::Call(_, _, span) | Open::List(_, span) | Open::Parens(span) => Some(*span),
            Open::Operator(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Term>, Diagnostic> {
        clauses(text, FileId(0))
    }

    /// A term without its places.
    fn show(t: &Term) -> String {
        let all = |items: &[Term]| items.iter().map(show).collect::<Vec<_>>().join(",");
        match &t.kind {
            Kind::Atom(name) => name.to_string(),
            Kind::Int(i) => i.to_string(),
            Kind::Str(s) => format!("{s:?}"),
            Kind::Var(name) => format!("?{name}"),
            Kind::Compound(name, args) => format!("{name}({})", all(args)),
            Kind::List(items) => format!("[{}]", all(items)),
        }
    }

    #[test]
    fn terms_of_every_kind() {
        for (text, expected) in [
            ("a.", "a"),
            ("f(a,[],-3,X,_).", "f(a,[],-3,?X,?_)"),
            ("f([a|T]).", "f([a,?T])"),
            ("'it''s\\'q'('\\x41\\\\344\\').", "it's'q(Aä)"),
            ("f(-,'*',\"text\").", "f(-,*,\"text\")"),
            ("f(grüße, % to the end\n 1 /* and */ ).", "f(grüße,1)"),
            ("a:b/c.", ":(a,/(b,c))"),
            ("f((a,b)).", "f(,(a,b))"),
            ("'[]'.", "[]"),
        ] {
            let found = read(text).map(|c| c.iter().map(show).collect::<Vec<_>>().join(" "));
            assert_eq!(found, Ok(expected.to_string()), "{text}");
        }
    }

    #[test]
    fn directives_are_stepped_over() {
        let text = ":- dynamic package/1.\n:- dynamic(a/1), foo.\npackage(a).\n";
        let found: Vec<String> = read(text).expect("a text").iter().map(show).collect();
        assert_eq!(found, ["package(a)"]);
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, code, at) in [
            ("f(a", "B0102", 3),
            ("f(a,).", "B0102", 4),
            ("f(a]).", "B0102", 3),
            ("f('a).", "B0101", 2),
            ("a b c", "B0102", 4),
            ("f(1.5).", "B0101", 2),
            ("/* x", "B0101", 0),
            ("f(\u{fffd}).", "B0101", 2),
        ] {
            let e = read(text).expect_err(text);
            assert_eq!((e.code, e.span.lo), (code, at), "{text}: {}", e.message);
        }
    }

    #[test]
    fn depth_is_limited() {
        let deep = |n: usize| format!("{}a{}.", "f(".repeat(n), ")".repeat(n));
        assert!(read(&deep(900)).is_ok());
        assert_eq!(read(&deep(200_000)).expect_err("too deep").code, "B0106");
        assert_eq!(read(&"[".repeat(200_000)).expect_err("too deep").code, "B0106");
        assert_eq!(read(&"- ".repeat(200_000)).expect_err("too deep").code, "B0106");
    }
}
