//! Words of a CSP-M script.
//!
//! Line ends separate declarations, and are white space wherever a line cannot be at its end. So a token only says
//! whether it is the first of its line, and the parser decides.

use kanon_language::lang::diag::{Diagnostic, FileId, Span};
use num_bigint::BigInt;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub span: Span,
    pub kind: Kind,
    /// A line end stands before it.
    pub first: bool,
    /// White space or a comment stands before it.
    pub spaced: bool,
    /// Its column, counted in bytes from 0.
    pub column: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Ident(Arc<str>),
    Word(Word),
    Sign(&'static str),
    Int(BigInt),
    Char(char),
    String(Arc<str>),
    /// `[T=` and its like: what stands between `[` and `=`.
    Refines(Arc<str>),
    /// `:[words [model]]`, or with `]:` at its end: the words, and what stands in the inner brackets.
    Property(Arc<str>, Option<Arc<str>>),
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    And,
    Assert,
    Channel,
    Datatype,
    Else,
    Endmodule,
    Exports,
    External,
    False,
    If,
    Include,
    Instance,
    Let,
    Module,
    Nametype,
    Not,
    Or,
    Print,
    Subtype,
    Then,
    Timed,
    Transparent,
    True,
    Within,
}

pub const WORDS: [(&str, Word); 24] = [
    ("and", Word::And),
    ("assert", Word::Assert),
    ("channel", Word::Channel),
    ("datatype", Word::Datatype),
    ("else", Word::Else),
    ("endmodule", Word::Endmodule),
    ("exports", Word::Exports),
    ("external", Word::External),
    ("false", Word::False),
    ("if", Word::If),
    ("include", Word::Include),
    ("instance", Word::Instance),
    ("let", Word::Let),
    ("module", Word::Module),
    ("nametype", Word::Nametype),
    ("not", Word::Not),
    ("or", Word::Or),
    ("print", Word::Print),
    ("subtype", Word::Subtype),
    ("then", Word::Then),
    ("Timed", Word::Timed),
    ("transparent", Word::Transparent),
    ("true", Word::True),
    ("within", Word::Within),
];

/// Longer ones first, so that the first that fits is the longest.
const SIGNS: [&str; 59] = [
    "|||", "|~|", "<->", "=>*", "[]", "[[", "]]", "[|", "|]", "[>", "[+", "+]", "/\\", "/+", "+\\", "|\\",
    "|>", "||", "{|", "|}", "|)", "->", "<-", "<=", ">=", "==", "!=", "=>", "::", "..", "@@", "[", "]", "{",
    "}", "(", ")", "|", "\\", "/", "+", "-", "*", "%", "^", "#", "<", ">", "=", "!", "?", "$", ".", ",", ":",
    ";", "&", "@", "_",
];

/// All tokens of a text, with an `End` behind them; what is none is reported and left out.
pub fn lex(file: FileId, text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { file, text, at: 0, line: 0, tokens: vec![], errors: vec![] };
    lexer.run();
    (lexer.tokens, lexer.errors)
}

struct Lexer<'t> {
    file: FileId,
    text: &'t str,
    at: usize,
    /// Where the current line starts.
    line: usize,
    tokens: Vec<Token>,
    errors: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn run(&mut self) {
        let (mut first, mut spaced) = (true, true);
        loop {
            let from = self.at;
            let Some(c) = self.rest().chars().next() else { break };
            if c == '\n' {
                self.at += 1;
                self.line = self.at;
                (first, spaced) = (true, true);
                continue;
            }
            if c.is_whitespace() || c == '\u{feff}' {
                self.at += c.len_utf8();
                spaced = true;
                continue;
            }
            if self.rest().starts_with("--") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                spaced = true;
                continue;
            }
            if self.rest().starts_with("{-") {
                self.comment(from);
                spaced = true;
                continue;
            }
            let column = (from - self.line) as u32;
            if let Some(kind) = self.token(c) {
                let span = Span::new(self.file, from, self.at);
                self.tokens.push(Token { span, kind, first, spaced, column });
            }
            (first, spaced) = (false, false);
        }
        let span = Span::new(self.file, self.text.len(), self.text.len());
        self.tokens.push(Token { span, kind: Kind::End, first: true, spaced: true, column: 0 });
    }

    /// Comments nest.
    fn comment(&mut self, from: usize) {
        let mut depth = 0usize;
        while let Some(c) = self.rest().chars().next() {
            if self.rest().starts_with("{-") {
                depth += 1;
                self.at += 2;
            } else if self.rest().starts_with("-}") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                self.at += c.len_utf8();
                if c == '\n' {
                    self.line = self.at;
                }
            }
        }
        self.error(from, from + 2, "this comment does not end", "close it with `-}`");
    }

    fn error(&mut self, from: usize, to: usize, message: impl Into<String>, help: &str) {
        let d = Diagnostic::error("C0101", Span::new(self.file, from, to), message);
        self.errors.push(if help.is_empty() { d } else { d.help(help) });
    }

    fn token(&mut self, c: char) -> Option<Kind> {
        let from = self.at;
        if c.is_ascii_alphabetic() {
            return Some(self.word());
        }
        if c.is_ascii_digit() {
            let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
            let digits = &self.text[from..from + length];
            let value = digits.parse().unwrap_or_default(); // digits alone are always a number
            self.at += length;
            return Some(Kind::Int(value));
        }
        match c {
            '"' => return self.string(),
            '\'' => return self.character(),
            _ => {}
        }
        if self.rest().starts_with(":[") {
            return self.property();
        }
        if let Some(model) = self.rest().strip_prefix('[').and_then(|r| r.split_once('=')).map(|(m, _)| m)
            && ["T", "F", "FD", "V", "VD", "R", "RD"].contains(&model)
        {
            let model: Arc<str> = model.into();
            self.at += model.len() + 2;
            return Some(Kind::Refines(model));
        }
        // `(|||` and `(|~|` begin with a parenthesis; a map has white space behind its sign.
        if self.rest().starts_with("(|") && self.rest()[2..].starts_with([' ', '\t', '\r', '\n']) {
            self.at += 2;
            return Some(Kind::Sign("(|"));
        }
        match SIGNS.iter().find(|s| self.rest().starts_with(**s)) {
            Some(sign) => {
                self.at += sign.len();
                Some(Kind::Sign(sign))
            }
            None => {
                self.at += c.len_utf8();
                let shown: String = c.escape_default().collect();
                self.error(from, self.at, format!("`{shown}` is not a sign of CSP-M"), "");
                None
            }
        }
    }

    fn word(&mut self) -> Kind {
        let from = self.at;
        let rest = self.rest().as_bytes();
        let letters = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let primes = rest[letters..].iter().take_while(|b| **b == b'\'').count();
        self.at += letters + primes;
        let text = &self.text[from..self.at];
        match WORDS.iter().find(|(w, _)| *w == text) {
            Some((_, word)) => Kind::Word(*word),
            None => Kind::Ident(text.into()),
        }
    }

    fn string(&mut self) -> Option<Kind> {
        let from = self.at;
        let mut value = String::new();
        let mut chars = self.text[from + 1..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '\n' => break,
                '"' => {
                    self.at = from + 1 + i + 1;
                    return Some(Kind::String(value.into()));
                }
                '\\' => match chars.next() {
                    Some((_, c)) if c != '\n' => value.push(escaped(c)),
                    _ => break,
                },
                c => value.push(c),
            }
        }
        let end = self.rest().find('\n').map_or(self.text.len(), |i| from + i);
        self.at = end;
        self.error(from, end, "this string does not end on its line", "close it with `\"`");
        None
    }

    fn character(&mut self) -> Option<Kind> {
        let from = self.at;
        let mut chars = self.text[from + 1..].chars();
        let (value, length) = match chars.next() {
            Some('\\') => match chars.next() {
                Some(c) => (escaped(c), 1 + c.len_utf8()),
                None => ('\\', 1),
            },
            Some(c) => (c, c.len_utf8()),
            None => ('\'', 0),
        };
        let end = from + 1 + length;
        if value != '\n' && self.text[end.min(self.text.len())..].starts_with('\'') {
            self.at = end + 1;
            return Some(Kind::Char(value));
        }
        self.at = from + 1;
        self.error(from, self.at, "a character is written `'c'`", "a string is written with `\"`");
        None
    }

    /// `:[deadlock free [F]]`
    fn property(&mut self) -> Option<Kind> {
        let from = self.at;
        let body = &self.text[from + 2..];
        let end = body.find(']').unwrap_or(body.len());
        let (words, model, length) = match body[..end].find('[') {
            Some(open) => {
                let model = body[open + 1..end].trim();
                let behind = &body[(end + 1).min(body.len())..];
                let gap = behind.len() - behind.trim_start().len();
                let closes = behind.trim_start().starts_with(']');
                let length = (end + 1 + gap + usize::from(closes)).min(body.len());
                if !closes {
                    self.at += 2 + length;
                    self.error(from, self.at, "this property does not end", "close it with `]`");
                    return None;
                }
                (&body[..open], Some(model), length)
            }
            None if end == body.len() => {
                self.at = self.text.len();
                self.error(from, from + 2, "this property does not end", "close it with `]`");
                return None;
            }
            None => (&body[..end], None, end + 1),
        };
        let words: Vec<&str> = words.split(|c: char| c.is_whitespace() || c == '-').collect();
        let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
        let kind = Kind::Property(words.join(" ").into(), model.map(Arc::from));
        self.at += 2 + length;
        // `:[tau priority]: A`
        if self.rest().starts_with(':') && !self.rest().starts_with(":[") {
            self.at += 1;
        }
        Some(kind)
    }
}

fn escaped(c: char) -> char {
    match c {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        c => c,
    }
}
