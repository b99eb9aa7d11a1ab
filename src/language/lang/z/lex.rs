//! Words of Z, in LaTeX and in Unicode: the same words of both.
//!
//! Text outside of paragraphs is for people and is passed over, except for lines that begin with `%%`. Line ends that
//! cannot separate anything are taken out: next to an operator, and inside brackets.

use super::symbols;
use crate::lang::ast::Name;
use crate::lang::diag::{Diagnostic, FileId, Span};
use crate::lang::spelling::closest;
use num_bigint::BigInt;

/// A paragraph's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Given sets, definitions, free types, predicates.
    Plain,
    Schema,
    Axiom,
}

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    /// A name with its strokes.
    Word(Name),
    Num(BigInt),
    /// By its first spelling in [`symbols::SYMBOLS`]; `'`, `?` and `!` are strokes behind something else than a name.
    Sym(&'static str),
    NewLine,
    Open(Frame),
    Where,
    Close,
}

/// A word and its place.
#[derive(Clone, Debug)]
pub struct Token {
    pub tok: Tok,
    pub span: Span,
}

/// A line `%%kanon …`: its words.
#[derive(Clone, Debug)]
pub struct Directive {
    pub words: Vec<(Name, Span)>,
    pub span: Span,
}

/// What a text is made of.
#[derive(Debug, Default)]
pub struct Words {
    pub tokens: Vec<Token>,
    pub directives: Vec<Directive>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Environments of LaTeX that are paragraphs.
const FRAMES: [(&str, Frame); 6] = [
    ("zed", Frame::Plain),
    ("syntax", Frame::Plain),
    ("schema", Frame::Schema),
    ("axdef", Frame::Axiom),
    ("gendef", Frame::Axiom),
    ("zsection", Frame::Plain),
];
/// Environments that are easily taken for a misspelled paragraph and are none.
const OTHERS: [&str; 6] = ["quote", "center", "theorem", "lemma", "proof", "itemize"];
/// Commands that only make room.
const SPACES: [&str; 20] = [
    "quad",
    "qquad",
    "t",
    "M",
    "O",
    "zbreak",
    "znewpage",
    "strut",
    "rm",
    "it",
    "left",
    "right",
    "hfill",
    "noindent",
    "smallskip",
    "medskip",
    "bigskip",
    "displaystyle",
    "inrel",
    "ignorespaces",
];
/// So many messages are enough.
const MAX_ERRORS: usize = 20;

/// Whether a text is LaTeX rather than Unicode.
pub fn is_latex(text: &str) -> bool {
    FRAMES.iter().any(|(name, _)| text.contains(&format!("\\begin{{{name}}}")))
}

/// The words of a text.
pub fn lex(text: &str, file: FileId, latex: bool) -> Words {
    let mut lexer = Lexer { text, file, at: 0, latex, words: Words::default(), inside: None, braces: vec![] };
    lexer.run();
    let mut words = lexer.words;
    words.tokens = without_idle_line_ends(words.tokens);
    words.diagnostics.truncate(MAX_ERRORS);
    words
}

struct Lexer<'t> {
    text: &'t str,
    file: FileId,
    at: usize,
    latex: bool,
    words: Words,
    /// The paragraph that is open: where it begins.
    inside: Option<Span>,
    /// Braces of LaTeX that are open, and whether each is a superscript.
    braces: Vec<bool>,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn span(&self, lo: usize) -> Span {
        Span::new(self.file, lo, self.at)
    }

    fn push(&mut self, tok: Tok, lo: usize) {
        let span = self.span(lo);
        self.words.tokens.push(Token { tok, span });
    }

    fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.words.diagnostics.push(Diagnostic::error("B0101", span, message));
        let last = self.words.diagnostics.len() - 1;
        &mut self.words.diagnostics[last]
    }

    fn run(&mut self) {
        let mut last = usize::MAX;
        while self.at < self.text.len() {
            debug_assert!(self.at != last, "every step takes something");
            last = self.at;
            match (self.inside.is_some(), self.latex) {
                (false, true) => self.prose(),
                (false, false) => self.outside(),
                (true, true) => self.latex_word(),
                (true, false) => self.unicode_word(),
            }
        }
        if let Some(span) = self.inside {
            self.error(span, "this paragraph does not end");
        }
    }

    fn open(&mut self, frame: Frame, lo: usize) {
        self.inside = Some(self.span(lo));
        self.braces.clear();
        self.push(Tok::Open(frame), lo);
    }

    fn close(&mut self, lo: usize) {
        self.inside = None;
        self.push(Tok::Close, lo);
    }

    /// `{schema}` behind `\end`: what has begun ends, and nothing else.
    fn environment_ends(&mut self, lo: usize) {
        let begun = self.inside.and_then(|s| environment(&self.text[s.lo as usize..], "\\begin{"));
        let ended = environment(self.rest(), "{").filter(|name| !name.contains('\n'));
        self.at += ended.map_or(0, |name| name.len() + "{}".len());
        if begun.is_some() && begun != ended {
            let span = self.span(lo);
            let name = begun.unwrap_or_default();
            self.error(span, format!("expected `\\end{{{name}}}`, since `{name}` has begun"));
        }
        self.close(lo);
    }

    /// Takes the rest of the line.
    fn line(&mut self) -> &'t str {
        let line = self.rest().split('\n').next().unwrap_or_default();
        self.at += line.len();
        line
    }

    /// A comment. A line `%%word …` speaks to a tool.
    fn comment(&mut self) {
        let lo = self.at;
        let is_first = self.text[..lo].rsplit('\n').next().is_none_or(|before| before.trim().is_empty());
        let line = self.line();
        let Some(command) =
            line.strip_prefix("%%").filter(|c| is_first && c.starts_with(char::is_alphabetic))
        else {
            return;
        };
        let span = self.span(lo);
        let word = command.split_whitespace().next().unwrap_or_default();
        match word {
            "kanon" => {
                let mut words = vec![];
                let mut from = lo + 2;
                for word in command.split_whitespace() {
                    let start = from + self.text[from..].find(word).unwrap_or_default();
                    from = start + word.len();
                    words.push((word.into(), Span::new(self.file, start, from)));
                }
                words.remove(0);
                self.words.directives.push(Directive { words, span });
            }
            // How others lay out or check what is defined elsewhere.
            "Zchar" | "Zword" | "Zinword" | "Zprechar" | "Zpreword" | "Zpostword" | "Zpostchar" | "inop"
            | "postop" | "inrel" | "prerel" | "ingen" | "pregen" | "ignore" | "type" | "tame"
            | "unchecked" | "line" | "abbrev" | "syntax" | "pname" => {
                let message = format!("the directive `%%{word}` (operators of one's own) is not supported");
                self.words.diagnostics.push(Diagnostic::error("B0401", span, message));
            }
            _ => {}
        }
    }

    // ---- LaTeX ----

    fn prose(&mut self) {
        let lo = self.at;
        let rest = self.rest();
        if let Some(name) = environment(rest, "\\begin{") {
            self.at += "\\begin{".len() + name.len() + 1;
            match FRAMES.iter().find(|(n, _)| *n == name) {
                Some((_, frame)) => {
                    if name == "zsection" {
                        return self.section(lo);
                    }
                    self.open(*frame, lo);
                    if *frame == Frame::Schema {
                        self.schema_name();
                    }
                }
                None => {
                    let names = FRAMES.iter().map(|(n, _)| *n).chain(["argue", "infrule"]).chain(OTHERS);
                    let meant = closest(name, names);
                    if let Some(meant) = meant.filter(|m| *m != name && FRAMES.iter().any(|(n, _)| n == m)) {
                        let span = self.span(lo);
                        let message = format!("`{name}` is no paragraph of Z");
                        self.error(span, message).help = Some(format!("did you mean `{meant}`?"));
                    }
                }
            }
        } else if let Some(name) =
            environment(rest, "\\end{").filter(|n| FRAMES.iter().any(|(frame, _)| frame == n))
        {
            self.at += "\\end{".len() + name.len() + 1;
            let span = self.span(lo);
            self.error(span, format!("`\\end{{{name}}}` without a beginning"));
        } else if rest.starts_with('%') {
            self.comment();
        } else if rest.starts_with('\\') {
            self.at += 1;
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        } else {
            self.at += rest.find(['\\', '%']).unwrap_or(rest.len());
        }
    }

    /// `\SECTION name \parents …`: the toolkit is always there, and nothing else.
    fn section(&mut self, lo: usize) {
        let rest = self.rest();
        let end = rest.find("\\end{zsection}");
        let text = &rest[..end.unwrap_or(rest.len())];
        self.at += end.map_or(rest.len(), |end| end + "\\end{zsection}".len());
        self.parents(text, "\\parents", lo);
    }

    fn parents(&mut self, text: &str, word: &str, lo: usize) {
        let span = self.span(lo);
        let parents = text.split(word).nth(1).unwrap_or_default().replace('\\', "");
        for parent in parents.split(|c: char| c == ',' || c.is_whitespace()).filter(|p| !p.is_empty()) {
            let is_known = parent == "prelude" || parent.ends_with("_toolkit");
            if !is_known {
                let message = format!("the section `{parent}`, a parent of this one, is not supported");
                let help = "put all paragraphs into one file";
                self.words.diagnostics.push(Diagnostic::error("B0401", span, message).help(help));
            }
        }
    }

    /// `{Name}` behind `\begin{schema}`.
    fn schema_name(&mut self) {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start().len();
        let Some(inside) = rest.trim_start().strip_prefix('{') else {
            let span = self.span(self.at);
            self.error(span, "expected `{` and the name of the schema");
            return;
        };
        self.at += blank + 1;
        self.braces.push(false);
        // What stands there is lexed like everything else.
        let end = inside.find('}').map_or(self.text.len(), |end| self.at + end);
        while self.at < end {
            self.latex_word();
        }
    }

    fn latex_word(&mut self) {
        let (lo, rest) = (self.at, self.rest());
        let Some(c) = rest.chars().next() else { return };
        match c {
            '\\' => self.command(lo),
            '%' => self.comment(),
            '~' | '&' => self.at += 1,
            '{' => {
                self.at += 1;
                self.braces.push(false);
            }
            '}' => {
                self.at += 1;
                match self.braces.pop() {
                    Some(true) => self.push(Tok::Sym("↙"), lo),
                    Some(false) => {}
                    None => {
                        let span = self.span(lo);
                        self.error(span, "`}` without `{`").help =
                            Some("braces of sets are `\\{` and `\\}`".into());
                    }
                }
            }
            '^' => {
                self.at += 1;
                match self.rest().chars().next() {
                    Some('{') => {
                        self.at += 1;
                        self.braces.push(true);
                        self.push(Tok::Sym("↗"), lo);
                    }
                    Some('+') => {
                        self.at += 1;
                        self.push(Tok::Sym("⁺"), lo);
                    }
                    Some('*') => {
                        self.at += 1;
                        self.push(Tok::Sym("∗"), lo);
                    }
                    _ => {
                        let span = self.span(lo);
                        self.error(span, "expected `{`, `+` or `*` behind `^`");
                    }
                }
            }
            _ if c.is_whitespace() => self.at += c.len_utf8(),
            _ if c.is_alphabetic() => self.name(lo, String::new()),
            _ if c.is_ascii_digit() => self.number(lo),
            _ => self.symbol(lo),
        }
    }

    fn command(&mut self, lo: usize) {
        self.at += 1;
        let letters = self.rest().find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest().len());
        if letters == 0 {
            let Some(c) = self.rest().chars().next() else { return };
            self.at += c.len_utf8();
            match c {
                '\\' => {
                    // `\\[2pt]`
                    let space = self.rest().strip_prefix('[').and_then(|r| r.split_once(']'));
                    if let Some((length, _)) = space.filter(|(l, _)| l.ends_with("pt") || l.ends_with("ex")) {
                        self.at += length.len() + 2;
                    }
                    self.push(Tok::NewLine, lo);
                }
                '{' => self.push(Tok::Sym("{"), lo),
                '}' => self.push(Tok::Sym("}"), lo),
                '#' => self.push(Tok::Sym("#"), lo),
                '_' => self.underscore(lo),
                ',' | ':' | ';' | '!' | ' ' | '>' | '@' | '/' | '-' | '\n' => {}
                _ => {
                    let span = self.span(lo);
                    self.error(span, format!("unknown command `\\{c}`"));
                }
            }
            return;
        }
        let name = &self.rest()[..letters];
        self.at += letters;
        match name {
            "end" => self.environment_ends(lo),
            "begin" => {
                let span = self.span(lo);
                self.error(span, "a paragraph begins inside of another");
                let end = self.rest().find('}').map_or(self.rest().len(), |end| end + 1);
                self.at += end;
            }
            "where" | "ST" => self.push(Tok::Where, lo),
            "also" | "Also" | "ALSO" => self.push(Tok::NewLine, lo),
            "vdash" if self.rest().starts_with('?') => {
                self.at += 1;
                self.push(Tok::Sym("⊢?"), lo);
            }
            "Delta" | "Xi" => {
                let greek = if name == "Delta" { "Δ" } else { "Ξ" };
                self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\n', '\t', '~']).len();
                self.name(lo, greek.to_string());
            }
            // `\t1`: as far as this tab.
            "t" => self.at += usize::from(self.rest().starts_with(|c: char| c.is_ascii_digit())),
            _ if SPACES.contains(&name) => {}
            _ => {
                let subscript = format!("{name}_1");
                let one = self.rest().strip_prefix("_1").map(|_| 2);
                let one = one.or_else(|| self.rest().strip_prefix("_{1}").map(|_| 4));
                if let (Some(length), Some(symbol)) = (one, symbols::command(&subscript)) {
                    self.at += length;
                    return self.push(Tok::Sym(symbol), lo);
                }
                match symbols::command(name) {
                    Some(symbol) => self.push(Tok::Sym(symbol), lo),
                    None => {
                        let span = self.span(lo);
                        let all = symbols::SYMBOLS.iter().flat_map(|s| s.latex.iter().copied());
                        let help = closest(name, all).map(|m| format!("did you mean `\\{m}`?"));
                        self.error(span, format!("unknown command `\\{name}`")).help = help;
                    }
                }
            }
        }
    }

    // ---- Unicode ----

    /// Between paragraphs.
    fn outside(&mut self) {
        let (lo, rest) = (self.at, self.rest());
        let Some(c) = rest.chars().next() else { return };
        let before = self.text[..lo].rsplit('\n').next().unwrap_or_default().trim_end();
        let is_first = before.is_empty() || before.ends_with(['└', '╵', '┘']);
        match c {
            '┌' | '╔' => self.box_begins(Frame::Schema, lo, c),
            '╷' | '╒' => self.box_begins(Frame::Axiom, lo, c),
            '─' if is_first => {
                self.at += rest.len() - rest.trim_start_matches('─').len();
                let line = self.rest().split('\n').next().unwrap_or_default().trim_start();
                if let Some(section) = line.strip_prefix("section ") {
                    let section = section.split(['└', '╵']).next().unwrap_or_default();
                    let section = section.to_string();
                    let rest = self.rest();
                    let end = rest.find(['└', '╵']).unwrap_or(rest.len());
                    self.at += end;
                    self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                    return self.parents(&section, "parents", lo);
                }
                self.open(Frame::Plain, lo);
            }
            '└' | '╵' | '├' | '│' => {
                self.at += c.len_utf8();
                let span = self.span(lo);
                self.error(span, format!("`{c}` without the beginning of a box"));
            }
            '%' => self.comment(),
            _ => {
                self.at += c.len_utf8();
                let next = self.rest().find(['┌', '╔', '╷', '╒', '─', '└', '╵', '├', '│', '%']);
                self.at += next.unwrap_or(self.rest().len());
            }
        }
    }

    fn box_begins(&mut self, frame: Frame, lo: usize, c: char) {
        self.at += c.len_utf8();
        self.strokes_of_box();
        self.open(frame, lo);
    }

    fn strokes_of_box(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(['─', '═', '┐', '╕']).len();
    }

    fn unicode_word(&mut self) {
        let (lo, rest) = (self.at, self.rest());
        let Some(c) = rest.chars().next() else { return };
        match c {
            '└' | '╵' | '╘' | '╚' => {
                self.at += c.len_utf8();
                self.strokes_of_box();
                let rest = self.rest();
                self.at += rest.len() - rest.trim_start_matches(['┘', '╛']).len();
                self.close(lo);
            }
            '├' | '╞' => {
                self.at += c.len_utf8();
                self.strokes_of_box();
                let rest = self.rest();
                self.at += rest.len() - rest.trim_start_matches(['┤', '╡']).len();
                self.push(Tok::Where, lo);
            }
            // The sides of a box, and the rest of its upper edge.
            '│' | '║' => self.at += c.len_utf8(),
            '─' | '═' | '┐' | '╕' => self.strokes_of_box(),
            '\n' => {
                self.at += 1;
                self.push(Tok::NewLine, lo);
            }
            '%' => self.comment(),
            '┌' | '╷' | '╒' | '╔' => {
                self.at += c.len_utf8();
                let span = self.span(lo);
                self.error(span, "a paragraph begins inside of another");
            }
            '|' if self.is_alone(lo) => {
                self.at += 1;
                self.push(Tok::Where, lo);
            }
            _ if c.is_whitespace() => self.at += c.len_utf8(),
            _ if c.is_ascii_digit() => self.number(lo),
            _ if symbols::at(rest).is_some() => self.symbol(lo),
            _ if c.is_alphabetic() || c == '_' => self.name(lo, String::new()),
            _ => self.symbol(lo),
        }
    }

    /// Whether nothing else is on the line.
    fn is_alone(&self, at: usize) -> bool {
        let is_side = |c: char| c.is_whitespace() || c == '│';
        let before = self.text[..at].rsplit('\n').next().unwrap_or_default();
        let behind = self.text[at + 1..].split('\n').next().unwrap_or_default();
        before.chars().all(is_side) && behind.chars().all(is_side)
    }

    // ---- both ----

    fn number(&mut self, lo: usize) {
        let digits = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        self.at += digits;
        const LONGEST: usize = 2000;
        if digits > LONGEST {
            let span = self.span(lo);
            self.error(span, "this number is too long");
            return;
        }
        let value = self.text[lo..self.at].parse().unwrap_or_default();
        self.push(Tok::Num(value), lo);
    }

    fn underscore(&mut self, lo: usize) {
        let span = self.span(lo);
        let help = "operators of one's own are not supported: write a function of a pair";
        self.error(span, "a name cannot begin with `_`").help = Some(help.into());
    }

    /// A name with its strokes, of which some letters have been read.
    fn name(&mut self, lo: usize, mut name: String) {
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { break };
            if self.latex && rest.starts_with("\\_") {
                name.push('_');
                self.at += 2;
            } else if (c.is_alphanumeric() && subscript(c).is_none() && symbols::at(rest).is_none())
                || (c == '_' && !self.latex)
            {
                name.push(c);
                self.at += c.len_utf8();
            } else {
                break;
            }
        }
        let plain = name.len();
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { break };
            if let Some(digit) = subscript(c) {
                name.push(digit);
                self.at += c.len_utf8();
            } else if matches!(c, '\'' | '?' | '!' | '′') {
                name.push(if c == '′' { '\'' } else { c });
                self.at += c.len_utf8();
            } else if c == '_' && self.latex {
                // `x_1`, `x_{12}`
                self.at += 1;
                let digits = self.rest().strip_prefix('{').unwrap_or(self.rest());
                let braces = self.rest().len() - digits.len();
                let n = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                let n = if braces == 0 { n.min(1) } else { n };
                if n == 0 || (braces == 1 && !digits[n..].starts_with('}')) {
                    let span = self.span(lo);
                    self.error(span, "expected a number behind `_`").help =
                        Some("in a name write `\\_`".into());
                    break;
                }
                let digits = &digits[..n];
                name.extend(digits.chars().filter_map(|d| char::from_u32(d as u32 - 48 + 0x2080)));
                self.at += n + 2 * braces;
            } else {
                break;
            }
        }
        if plain == 0 || name.is_empty() {
            let span = self.span(lo);
            self.error(span, "a name cannot begin with this");
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            return;
        }
        if name == "Δ" || name == "Ξ" {
            let span = self.span(lo);
            self.error(span, format!("expected the name of a schema behind `{name}`"));
            return;
        }
        match symbols::word(&name) {
            Some(symbol) => self.push(Tok::Sym(symbol), lo),
            None => self.push(Tok::Word(name.into()), lo),
        }
    }

    fn symbol(&mut self, lo: usize) {
        let rest = self.rest();
        if let Some(c) = rest.chars().next().filter(|c| matches!(c, '\'' | '′' | '?' | '!')) {
            self.at += c.len_utf8();
            let stroke = match c {
                '?' => "?",
                '!' => "!",
                _ => "'",
            };
            return self.push(Tok::Sym(stroke), lo);
        }
        if let Some((symbol, length)) = symbols::at(rest) {
            self.at += length;
            return self.push(Tok::Sym(symbol), lo);
        }
        let Some(c) = rest.chars().next() else { return };
        self.at += c.len_utf8();
        let span = self.span(lo);
        self.error(span, format!("`{}` is no symbol of Z", c.escape_debug()));
    }
}

/// The name in `\begin{name}`.
fn environment<'t>(text: &'t str, begin: &str) -> Option<&'t str> {
    let name = text.strip_prefix(begin)?.split_once('}')?.0;
    (name.len() < 40).then_some(name)
}

/// A digit below the line.
fn subscript(c: char) -> Option<char> {
    ('₀'..='₉').contains(&c).then_some(c)
}

/// Symbols after which a line cannot end, and with which none can begin.
fn joins(symbol: &str, is_behind: bool) -> bool {
    const BOTH: [&str; 71] = [
        "==",
        "≙",
        "::=",
        "•",
        "|",
        ";",
        ":",
        ",",
        "/",
        "∧",
        "∨",
        "⇒",
        "⇔",
        "⨟",
        "⨠",
        "⧹",
        "⨡",
        "then",
        "else",
        "=",
        "≠",
        "∈",
        "∉",
        "⊆",
        "⊂",
        "<",
        "≤",
        ">",
        "≥",
        "prefix",
        "suffix",
        "infix",
        "⋿",
        "⊑",
        "partition",
        "↔",
        "⇸",
        "→",
        "⤔",
        "↣",
        "⤀",
        "↠",
        "⤖",
        "⇻",
        "⤕",
        "×",
        "↦",
        "..",
        "+",
        "*",
        "div",
        "mod",
        "∪",
        "∩",
        "∖",
        "⊖",
        "⁀",
        "⊎",
        "⩁",
        "↿",
        "↾",
        "⨾",
        "∘",
        "⊗",
        "♯",
        "⊕",
        "◁",
        "▷",
        "⩤",
        "⩥",
        ".",
    ];
    const OPENS: [&str; 22] = [
        "(", "[", "{", "⟨", "⟦", "⟪", "⦉", "⦇", "↗", "¬", "∀", "∃", "∃₁", "λ", "μ", "θ", "let", "if", "pre",
        "#", "ℙ", "⊢?",
    ];
    const CLOSES: [&str; 9] = [")", "]", "}", "⟩", "⟧", "⟫", "⦊", "⦈", "↙"];
    BOTH.contains(&symbol)
        || (is_behind && (OPENS.contains(&symbol) || symbol == "-"))
        || (!is_behind && CLOSES.contains(&symbol))
}

fn without_idle_line_ends(tokens: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut depth = 0usize;
    let mut i = 0;
    while i < tokens.len() {
        let token = &tokens[i];
        match &token.tok {
            Tok::Sym("(" | "[" | "{" | "⟨" | "⟦" | "⟪" | "⦉" | "⦇" | "↗") => depth += 1,
            Tok::Sym(")" | "]" | "}" | "⟩" | "⟧" | "⟫" | "⦊" | "⦈" | "↙") => {
                depth = depth.saturating_sub(1)
            }
            Tok::Open(_) | Tok::Close | Tok::Where => depth = 0,
            Tok::NewLine => {
                let next = tokens[i..].iter().find(|t| t.tok != Tok::NewLine).map(|t| &t.tok);
                let last = kept.last().map(|t| &t.tok);
                let is_idle = depth > 0
                    || matches!(last, None | Some(Tok::NewLine | Tok::Open(_) | Tok::Where | Tok::Close))
                    || matches!(next, None | Some(Tok::Where | Tok::Close))
                    || matches!(last, Some(Tok::Sym(s)) if joins(s, true))
                    || matches!(next, Some(Tok::Sym(s)) if joins(s, false));
                if is_idle {
                    i += 1;
                    continue;
                }
            }
            _ => {}
        }
        kept.push(token.clone());
        i += 1;
    }
    kept
}
