//! Text to tokens: maximal munch, ASCII and Unicode spellings, comments dropped.
//!
//! Tokens are small and carry no text; the parser reads names, numbers and strings through
//! their range. A lexical error never stops the lexer: it is reported, the nearest sensible
//! token is delivered, and the parser goes on.

use crate::lang::ast::{BinOp, Fun, Lit};
use crate::lang::diag::{Diagnostic, FileId, Span};

/// One token: what it is and which bytes it covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: T,
    pub lo: u32,
    pub hi: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum T {
    Ident,
    /// `` `any text` ``
    Quoted,
    Int,
    Hex,
    Real,
    Str,
    /// `'''…'''`
    MultiStr,
    /// ```` ```…``` ````
    Template,
    Lit(Lit),
    Fun(Fun),
    Op(BinOp),
    /// An operator that takes its operands the other way round: `⊇` is `⊆`, `∘` is `;`.
    Swapped(BinOp),
    Kw(Kw),
    Clause(Clause),
    Semi,
    Parallel,
    Comma,
    Bar,
    Dot,
    /// `·`: a dot that never joins two names
    Dot2,
    LParen,
    RParen,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    Tilde,
    /// `'` before a field
    Prime,
    /// `$0`
    DollarZero,
    Forall,
    Exists,
    Lambda,
    Not,
    Assign,
    BecomesElement,
    /// `:∣`, which Rodin writes for `:(P)`
    BecomesSuch,
    Results,
    DefEq,
    Eof,
}

/// Keywords inside predicates, expressions and substitutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kw {
    Any,
    Assert,
    Be,
    Begin,
    Bool,
    Case,
    Choice,
    Do,
    Either,
    Else,
    Elsif,
    End,
    If,
    In,
    Let,
    Of,
    Or,
    Pre,
    Rec,
    Select,
    Skip,
    Struct,
    Then,
    Var,
    Variant,
    When,
    Where,
    While,
    Witness,
    Sigma,
    Pi,
    Union,
    Inter,
}

/// Words that start a clause of a machine, or a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Clause {
    Machine,
    Refinement,
    Implementation,
    Refines,
    Sees,
    Uses,
    Includes,
    Extends,
    Imports,
    Promotes,
    Constraints,
    Sets,
    Constants,
    AbstractConstants,
    Properties,
    Variables,
    ConcreteVariables,
    Invariant,
    Assertions,
    Definitions,
    Initialisation,
    Operations,
    LocalOperations,
    Values,
    Freetypes,
    Expressions,
    Predicates,
    References,
}

impl T {
    /// How the token is named in messages.
    pub fn describe(self, text: &str) -> String {
        match self {
            T::Eof => "the end of the file".to_string(),
            T::Ident | T::Quoted => format!("the name `{}`", text.trim_matches('`')),
            T::Int | T::Hex | T::Real => format!("the number `{}`", shorten(text)),
            T::Str | T::MultiStr | T::Template => "a string".to_string(),
            _ => format!("`{}`", shorten(text)),
        }
    }

    /// Reserved words: what the user may have meant as a name.
    pub fn is_word(self) -> bool {
        matches!(self, T::Kw(_) | T::Clause(_) | T::Fun(_) | T::Lit(_) | T::Not)
            || matches!(self, T::Op(BinOp::Mod | BinOp::Or))
    }
}

fn shorten(text: &str) -> String {
    let mut cut: String = text.chars().take(40).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// The meaning of a reserved word; `None` for a name.
pub(crate) fn word(text: &str) -> Option<T> {
    use Clause as C;
    Some(match text {
        "MACHINE" | "MODEL" | "SYSTEM" => T::Clause(C::Machine),
        "REFINEMENT" => T::Clause(C::Refinement),
        "IMPLEMENTATION" => T::Clause(C::Implementation),
        "REFINES" => T::Clause(C::Refines),
        "SEES" => T::Clause(C::Sees),
        "USES" => T::Clause(C::Uses),
        "INCLUDES" => T::Clause(C::Includes),
        "EXTENDS" => T::Clause(C::Extends),
        "IMPORTS" => T::Clause(C::Imports),
        "PROMOTES" => T::Clause(C::Promotes),
        "CONSTRAINTS" => T::Clause(C::Constraints),
        "SETS" => T::Clause(C::Sets),
        "CONSTANTS" | "CONCRETE_CONSTANTS" | "VISIBLE_CONSTANTS" => T::Clause(C::Constants),
        "ABSTRACT_CONSTANTS" | "HIDDEN_CONSTANTS" => T::Clause(C::AbstractConstants),
        "PROPERTIES" => T::Clause(C::Properties),
        "VARIABLES" | "ABSTRACT_VARIABLES" | "HIDDEN_VARIABLES" => T::Clause(C::Variables),
        "CONCRETE_VARIABLES" | "VISIBLE_VARIABLES" => T::Clause(C::ConcreteVariables),
        "INVARIANT" => T::Clause(C::Invariant),
        "ASSERTIONS" => T::Clause(C::Assertions),
        "DEFINITIONS" => T::Clause(C::Definitions),
        "INITIALISATION" | "INITIALIZATION" => T::Clause(C::Initialisation),
        "OPERATIONS" | "EVENTS" => T::Clause(C::Operations),
        "LOCAL_OPERATIONS" => T::Clause(C::LocalOperations),
        "VALUES" => T::Clause(C::Values),
        "FREETYPES" => T::Clause(C::Freetypes),
        "EXPRESSIONS" => T::Clause(C::Expressions),
        "PREDICATES" => T::Clause(C::Predicates),
        "REFERENCES" => T::Clause(C::References),
        "ANY" => T::Kw(Kw::Any),
        "ASSERT" => T::Kw(Kw::Assert),
        "BE" => T::Kw(Kw::Be),
        "BEGIN" => T::Kw(Kw::Begin),
        "bool" => T::Kw(Kw::Bool),
        "CASE" => T::Kw(Kw::Case),
        "CHOICE" => T::Kw(Kw::Choice),
        "DO" => T::Kw(Kw::Do),
        "EITHER" => T::Kw(Kw::Either),
        "ELSE" => T::Kw(Kw::Else),
        "ELSIF" => T::Kw(Kw::Elsif),
        "END" => T::Kw(Kw::End),
        "IF" => T::Kw(Kw::If),
        "IN" => T::Kw(Kw::In),
        "LET" => T::Kw(Kw::Let),
        "OF" => T::Kw(Kw::Of),
        "OR" => T::Kw(Kw::Or),
        "PRE" => T::Kw(Kw::Pre),
        "rec" => T::Kw(Kw::Rec),
        "SELECT" => T::Kw(Kw::Select),
        "skip" => T::Kw(Kw::Skip),
        "struct" => T::Kw(Kw::Struct),
        "THEN" => T::Kw(Kw::Then),
        "VAR" => T::Kw(Kw::Var),
        "VARIANT" => T::Kw(Kw::Variant),
        "WHEN" => T::Kw(Kw::When),
        "WHERE" => T::Kw(Kw::Where),
        "WHILE" => T::Kw(Kw::While),
        "WITNESS" => T::Kw(Kw::Witness),
        "SIGMA" => T::Kw(Kw::Sigma),
        "PI" => T::Kw(Kw::Pi),
        "UNION" => T::Kw(Kw::Union),
        "INTER" => T::Kw(Kw::Inter),
        "or" => T::Op(BinOp::Or),
        "mod" => T::Op(BinOp::Mod),
        "not" => T::Not,
        "TRUE" => T::Lit(Lit::True),
        "FALSE" => T::Lit(Lit::False),
        "btrue" => T::Lit(Lit::BTrue),
        "bfalse" => T::Lit(Lit::BFalse),
        "BOOL" => T::Lit(Lit::BoolSet),
        "INTEGER" | "ℤ" => T::Lit(Lit::Integer),
        "NATURAL" | "ℕ" => T::Lit(Lit::Natural),
        "NATURAL1" | "ℕ1" | "ℕ₁" => T::Lit(Lit::Natural1),
        "INT" => T::Lit(Lit::IntSet),
        "NAT" => T::Lit(Lit::NatSet),
        "NAT1" => T::Lit(Lit::Nat1Set),
        "MAXINT" => T::Lit(Lit::MaxInt),
        "MININT" => T::Lit(Lit::MinInt),
        "STRING" => T::Lit(Lit::StringSet),
        "ℝ" => T::Lit(Lit::RealSet),
        "succ" => T::Lit(Lit::Succ),
        "pred" => T::Lit(Lit::Pred),
        "card" => T::Fun(Fun::Card),
        "min" => T::Fun(Fun::Min),
        "max" => T::Fun(Fun::Max),
        "dom" => T::Fun(Fun::Dom),
        "ran" => T::Fun(Fun::Ran),
        "id" => T::Fun(Fun::Id),
        "prj1" => T::Fun(Fun::Prj1),
        "prj2" => T::Fun(Fun::Prj2),
        "union" => T::Fun(Fun::GenUnion),
        "inter" => T::Fun(Fun::GenInter),
        "POW" | "ℙ" => T::Fun(Fun::Pow),
        "POW1" | "ℙ1" | "ℙ₁" => T::Fun(Fun::Pow1),
        "FIN" => T::Fun(Fun::Fin),
        "FIN1" => T::Fun(Fun::Fin1),
        "seq" => T::Fun(Fun::Seq),
        "seq1" => T::Fun(Fun::Seq1),
        "iseq" => T::Fun(Fun::Iseq),
        "iseq1" => T::Fun(Fun::Iseq1),
        "perm" => T::Fun(Fun::Perm),
        "size" => T::Fun(Fun::Size),
        "first" => T::Fun(Fun::First),
        "last" => T::Fun(Fun::Last),
        "front" => T::Fun(Fun::Front),
        "tail" => T::Fun(Fun::Tail),
        "rev" => T::Fun(Fun::Rev),
        "conc" => T::Fun(Fun::Conc),
        "closure" => T::Fun(Fun::Closure),
        "closure1" => T::Fun(Fun::Closure1),
        "iterate" => T::Fun(Fun::Iterate),
        "fnc" => T::Fun(Fun::Fnc),
        "rel" => T::Fun(Fun::Rel),
        _ => return None,
    })
}

/// ASCII symbols by their first byte, longest first.
fn symbols(first: u8) -> &'static [(&'static str, T)] {
    use BinOp as B;
    match first {
        b'<' => &[
            ("<<->>", T::Op(B::TotalSurjRel)),
            ("<<->", T::Op(B::TotalRel)),
            ("<->>", T::Op(B::SurjRel)),
            ("<->", T::Op(B::Rel)),
            ("<--", T::Results),
            ("<=>", T::Op(B::Iff)),
            ("<<:", T::Op(B::StrictSubset)),
            ("<<|", T::Op(B::DomSubtract)),
            ("<-", T::Op(B::Append)),
            ("<+", T::Op(B::Override)),
            ("<:", T::Op(B::Subset)),
            ("<|", T::Op(B::DomRestrict)),
            ("<=", T::Op(B::Le)),
            ("<>", T::Lit(Lit::EmptySeq)),
            ("<", T::Op(B::Lt)),
        ],
        b'>' => &[
            (">+>>", T::Op(B::PartialBij)),
            (">->>", T::Op(B::TotalBij)),
            (">+>", T::Op(B::PartialInj)),
            (">->", T::Op(B::TotalInj)),
            ("><", T::Op(B::DirectProduct)),
            (">=", T::Op(B::Ge)),
            (">", T::Op(B::Gt)),
        ],
        b'+' => &[("+->>", T::Op(B::PartialSurj)), ("+->", T::Op(B::PartialFun)), ("+", T::Op(B::Add))],
        b'-' => &[
            ("-->>", T::Op(B::TotalSurj)),
            ("-->", T::Op(B::TotalFun)),
            ("->", T::Op(B::Prepend)),
            ("-", T::Op(B::Sub)),
        ],
        b'*' => &[("**", T::Op(B::Pow)), ("*", T::Op(B::Mul))],
        b'/' => &[
            ("/<<:", T::Op(B::NotStrictSubset)),
            ("/<:", T::Op(B::NotSubset)),
            ("/|\\", T::Op(B::TakeFirst)),
            ("/\\", T::Op(B::Inter)),
            ("/:", T::Op(B::NotIn)),
            ("/=", T::Op(B::Neq)),
            ("/", T::Op(B::Div)),
        ],
        b'\\' => &[("\\|/", T::Op(B::DropFirst)), ("\\/", T::Op(B::Union)), ("\\", T::Op(B::Diff))],
        b'|' => &[
            ("|->", T::Op(B::Pair)),
            ("|>>", T::Op(B::RanSubtract)),
            ("|>", T::Op(B::RanRestrict)),
            ("||", T::Parallel),
            ("|", T::Bar),
        ],
        b':' => &[
            (":=", T::Assign),
            ("::", T::BecomesElement),
            (":∈", T::BecomesElement),
            (":∣", T::BecomesSuch),
            (":|", T::BecomesSuch),
            (":", T::Op(B::In)),
        ],
        b'=' => &[("==", T::DefEq), ("=>", T::Op(B::Implies)), ("=", T::Op(B::Eq))],
        b'.' => &[("..", T::Op(B::Interval)), (".", T::Dot)],
        b'^' => &[("^", T::Op(B::Concat))],
        b'&' => &[("&", T::Op(B::And))],
        b'!' => &[("!", T::Forall)],
        b'#' => &[("#", T::Exists)],
        b'%' => &[("%", T::Lambda)],
        b'~' => &[("~", T::Tilde)],
        b'\'' => &[("'", T::Prime)],
        b'$' => &[("$0", T::DollarZero)],
        b';' => &[(";", T::Semi)],
        b',' => &[(",", T::Comma)],
        b'(' => &[("(", T::LParen)],
        b')' => &[(")", T::RParen)],
        b'[' => &[("[", T::LBracket)],
        b']' => &[("]", T::RBracket)],
        b'{' => &[("{", T::LBrace)],
        b'}' => &[("}", T::RBrace)],
        _ => &[],
    }
}

fn unicode_symbol(c: char) -> Option<T> {
    use BinOp as B;
    Some(match c {
        '∀' => T::Forall,
        '∃' => T::Exists,
        '∧' => T::Op(B::And),
        '∨' => T::Op(B::Or),
        '⇒' | '⟹' => T::Op(B::Implies),
        '⇔' | '⟺' => T::Op(B::Iff),
        '¬' => T::Not,
        '⊤' => T::Lit(Lit::BTrue),
        '⊥' => T::Lit(Lit::BFalse),
        '≠' => T::Op(B::Neq),
        '≤' => T::Op(B::Le),
        '≥' => T::Op(B::Ge),
        '∈' => T::Op(B::In),
        '∉' => T::Op(B::NotIn),
        '∋' => T::Swapped(B::In),
        '∌' => T::Swapped(B::NotIn),
        '⊆' => T::Op(B::Subset),
        '⊈' => T::Op(B::NotSubset),
        '⊂' | '⊊' => T::Op(B::StrictSubset),
        '⊄' => T::Op(B::NotStrictSubset),
        '⊇' => T::Swapped(B::Subset),
        '⊉' => T::Swapped(B::NotSubset),
        '⊃' => T::Swapped(B::StrictSubset),
        '⊅' | '⊋' => T::Swapped(B::NotStrictSubset),
        '∪' => T::Op(B::Union),
        '∩' => T::Op(B::Inter),
        '∖' => T::Op(B::Diff),
        '↔' => T::Op(B::Rel),
        '\u{e100}' => T::Op(B::TotalRel),
        '\u{e101}' => T::Op(B::SurjRel),
        '\u{e102}' => T::Op(B::TotalSurjRel),
        '⇸' => T::Op(B::PartialFun),
        '→' => T::Op(B::TotalFun),
        '⤔' => T::Op(B::PartialInj),
        '↣' => T::Op(B::TotalInj),
        '⤀' => T::Op(B::PartialSurj),
        '↠' => T::Op(B::TotalSurj),
        '⤖' => T::Op(B::TotalBij),
        '↦' => T::Op(B::Pair),
        '◁' => T::Op(B::DomRestrict),
        '⩤' | '◀' => T::Op(B::DomSubtract),
        '▷' => T::Op(B::RanRestrict),
        '⩥' | '▶' => T::Op(B::RanSubtract),
        '\u{e103}' | '⋖' => T::Op(B::Override),
        '⊗' => T::Op(B::DirectProduct),
        '∘' => T::Swapped(B::Compose),
        '∥' | '‖' => T::Parallel,
        '∼' => T::Tilde,
        '×' | '⨯' | '∗' => T::Op(B::Mul),
        '÷' => T::Op(B::Div),
        '−' => T::Op(B::Sub),
        '˄' => T::Op(B::Pow),
        '⌒' => T::Op(B::Concat),
        '↑' => T::Op(B::TakeFirst),
        '↓' => T::Op(B::DropFirst),
        '⇾' => T::Op(B::Prepend),
        '⇽' => T::Op(B::Append),
        '‥' | '…' => T::Op(B::Interval),
        '≔' => T::Assign,
        '≜' => T::DefEq,
        '←' | '⟵' => T::Results,
        '∣' => T::Bar,
        '·' | '⋅' | '•' => T::Dot2,
        'λ' | '𝜆' => T::Lambda,
        '∅' => T::Lit(Lit::EmptySet),
        'ℤ' => T::Lit(Lit::Integer),
        'ℕ' => T::Lit(Lit::Natural),
        'ℝ' => T::Lit(Lit::RealSet),
        'ℙ' => T::Fun(Fun::Pow),
        '𝔹' => T::Lit(Lit::BoolSet),
        '∑' => T::Kw(Kw::Sigma),
        '∏' => T::Kw(Kw::Pi),
        '⋃' => T::Kw(Kw::Union),
        '⋂' => T::Kw(Kw::Inter),
        _ => return None,
    })
}

/// Letters that start a name. The set symbols and λ are letters to Unicode but operators here.
fn starts_name(c: char) -> bool {
    c == '_' || (c.is_alphabetic() && !matches!(c, 'λ' | '𝜆' | 'ℤ' | 'ℕ' | 'ℝ' | 'ℙ' | '𝔹'))
}

fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit() || matches!(c, 'λ' | '𝜆' | '₀'..='₉' | '′' | '‘' | '’')
}

/// All tokens of a file, and what was wrong with its characters.
pub(crate) fn lex(text: &str, file: FileId) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer =
        Lexer { text, file, at: 0, tokens: Vec::with_capacity(text.len() / 4), diagnostics: vec![] };
    lexer.run();
    (lexer.tokens, lexer.diagnostics)
}

/// After this many lexical errors the file is not B text at all.
const MAX_LEX_ERRORS: usize = 20;

struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span(&self, lo: usize, hi: usize) -> Span {
        Span::new(self.file, lo, hi)
    }

    fn push(&mut self, kind: T, len: usize) {
        self.tokens.push(Token { kind, lo: self.at as u32, hi: (self.at + len) as u32 });
        self.at += len;
    }

    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        if self.rest().starts_with("#!") {
            self.skip_line();
        }
        while let Some(c) = self.rest().chars().next() {
            if self.diagnostics.len() >= MAX_LEX_ERRORS {
                return;
            }
            match c {
                ' ' | '\t' | '\n' | '\r' | '\u{a0}' | '\u{b}' | '\u{c}' | '\u{2028}' | '\u{2029}' => {
                    self.at += c.len_utf8();
                }
                '/' if self.rest().starts_with("//") => self.skip_line(),
                '/' if self.rest().starts_with("/*") => self.comment(),
                '"' => self.string(),
                '\'' if self.rest().starts_with("'''") => self.long_string("'''", T::MultiStr),
                '`' if self.rest().starts_with("```") => self.long_string("```", T::Template),
                '`' => self.quoted_name(),
                '0'..='9' => self.number(),
                _ if starts_name(c) => self.name(),
                _ => self.symbol(c),
            }
        }
    }

    fn skip_line(&mut self) {
        let end = self.rest().find(['\n', '\r', '\u{2028}', '\u{2029}']);
        self.at = end.map_or(self.text.len(), |n| self.at + n);
    }

    fn comment(&mut self) {
        match self.rest()[2..].find("*/") {
            Some(n) => self.at += 2 + n + 2,
            None => {
                let place = self.span(self.at, self.at + 2);
                self.diagnostics.push(
                    Diagnostic::error("B0103", place, "this comment is never closed")
                        .help("end it with `*/`; comments do not nest"),
                );
                self.at = self.text.len();
            }
        }
    }

    fn name(&mut self) {
        let rest = self.rest();
        let len = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        self.push(word(&rest[..len]).unwrap_or(T::Ident), len);
    }

    fn number(&mut self) {
        let rest = self.rest().as_bytes();
        let digits = |from: usize| rest[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        if rest.len() > 2 && rest[0] == b'0' && rest[1] == b'x' && rest[2].is_ascii_hexdigit() {
            let len = 2 + rest[2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
            return self.push(T::Hex, len);
        }
        let mut len = digits(0);
        if rest.get(len) == Some(&b'.') && rest.get(len + 1).is_some_and(u8::is_ascii_digit) {
            len += 1 + digits(len + 1);
            if matches!(rest.get(len), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(rest.get(len + 1), Some(b'+' | b'-')));
                let exponent = digits((len + 1 + sign).min(rest.len()));
                if exponent > 0 {
                    len += 1 + sign + exponent;
                }
            }
            return self.push(T::Real, len);
        }
        self.push(T::Int, len);
    }

    /// `"…"` on one line; a backslash hides the character after it.
    fn string(&mut self) {
        match self.closing('"') {
            Ok(len) => self.checked(T::Str, len),
            Err(len) => {
                let place = self.span(self.at, self.at + len);
                self.diagnostics.push(
                    Diagnostic::error("B0104", place, "this string is not closed on its line")
                        .help("end it with `\"`, or write a string of several lines as '''…'''"),
                );
                self.push(T::Str, len);
            }
        }
    }

    fn quoted_name(&mut self) {
        match self.closing('`') {
            Ok(2) => {
                let place = self.span(self.at, self.at + 2);
                self.diagnostics.push(Diagnostic::error("B0104", place, "a quoted name cannot be empty"));
                self.push(T::Quoted, 2);
            }
            Ok(len) => self.checked(T::Quoted, len),
            Err(len) => {
                let place = self.span(self.at, self.at + len);
                self.diagnostics.push(
                    Diagnostic::error("B0104", place, "this quoted name is not closed on its line")
                        .help("end it with a second backquote"),
                );
                self.push(T::Quoted, len);
            }
        }
    }

    /// The length up to and with the closing quote, or without one up to the end of the line.
    fn closing(&self, quote: char) -> Result<usize, usize> {
        let rest = self.rest();
        let mut escaped = false;
        for (i, c) in rest.char_indices().skip(1) {
            match c {
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => return Err(i),
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if c == quote => return Ok(i + c.len_utf8()),
                _ => {}
            }
        }
        Err(rest.len())
    }

    fn long_string(&mut self, quote: &str, kind: T) {
        let rest = self.rest();
        let mut i = quote.len();
        while i < rest.len() {
            if rest.as_bytes()[i] == b'\\' {
                i += 2;
            } else if rest.as_bytes()[i..].starts_with(quote.as_bytes()) {
                return self.checked(kind, i + quote.len());
            } else {
                i += 1;
            }
        }
        let place = self.span(self.at, self.at + quote.len());
        self.diagnostics.push(
            Diagnostic::error("B0104", place, "this string is never closed")
                .help(format!("end it with `{quote}`")),
        );
        self.push(kind, rest.len());
    }

    /// Bytes that were no UTF-8 have become U+FFFD; in a comment nobody minds, in a value we do.
    fn checked(&mut self, kind: T, len: usize) {
        if let Some(n) = self.rest()[..len].find('\u{fffd}') {
            self.not_utf8(self.at + n);
        }
        self.push(kind, len);
    }

    fn not_utf8(&mut self, at: usize) {
        let place = self.span(at, at + '\u{fffd}'.len_utf8());
        self.diagnostics.push(
            Diagnostic::error("B0105", place, "the file is not valid UTF-8 here")
                .help("save the file as UTF-8; other encodings are only accepted in comments"),
        );
    }

    fn symbol(&mut self, c: char) {
        let rest = self.rest();
        if let Some((kind, len, help)) = foreign(rest) {
            let place = self.span(self.at, self.at + len);
            let message = format!("`{}` is not an operator of B", &rest[..len]);
            self.diagnostics.push(Diagnostic::error("B0102", place, message).help(help));
            return self.push(kind, len);
        }
        if c == '<' {
            // `< >` is the empty sequence, however far apart.
            let gap = rest[1..].len() - rest[1..].trim_start_matches([' ', '\t', '\n', '\r']).len();
            if gap > 0 && rest[1 + gap..].starts_with('>') {
                return self.push(T::Lit(Lit::EmptySeq), gap + 2);
            }
        }
        let first = rest.as_bytes()[0];
        if let Some((text, kind)) = symbols(first).iter().find(|(s, _)| rest.starts_with(s)) {
            return self.push(*kind, text.len());
        }
        // Two characters of Unicode that make one symbol.
        for (text, kind) in [
            ("ℕ₁", T::Lit(Lit::Natural1)),
            ("ℕ1", T::Lit(Lit::Natural1)),
            ("ℙ₁", T::Fun(Fun::Pow1)),
            ("ℙ1", T::Fun(Fun::Pow1)),
            ("⁻¹", T::Tilde),
        ] {
            if rest.starts_with(text) {
                return self.push(kind, text.len());
            }
        }
        if let Some(kind) = unicode_symbol(c) {
            return self.push(kind, c.len_utf8());
        }
        if c == '\u{fffd}' {
            self.not_utf8(self.at);
        } else {
            let place = self.span(self.at, self.at + c.len_utf8());
            let shown = c.escape_debug();
            self.diagnostics.push(Diagnostic::error(
                "B0102",
                place,
                format!("the character `{shown}` has no meaning in B"),
            ));
        }
        self.at += c.len_utf8();
        while self.rest().starts_with(c) {
            self.at += c.len_utf8();
        }
    }
}

/// Operators of other languages, with what B calls them.
fn foreign(rest: &str) -> Option<(T, usize, &'static str)> {
    let known = [
        ("!=", T::Op(BinOp::Neq), "inequality is written `/=`"),
        ("=/=", T::Op(BinOp::Neq), "inequality is written `/=`"),
        ("&&", T::Op(BinOp::And), "conjunction is written `&`"),
        ("<==>", T::Op(BinOp::Iff), "equivalence is written `<=>`"),
        ("==>", T::Op(BinOp::Implies), "implication is written `=>`"),
        ("=<", T::Op(BinOp::Le), "less or equal is written `<=`"),
        ("=:", T::Assign, "assignment is written `:=`"),
        ("...", T::Op(BinOp::Interval), "an interval is written `a..b`"),
    ];
    let (text, kind, help) = known.into_iter().find(|(text, ..)| rest.starts_with(text))?;
    let gap = rest[text.len()..].trim_start_matches([' ', '\t', '\n', '\r']);
    // `s=<>` compares with the empty sequence, however far apart.
    (text != "=<" || !gap.starts_with('>')).then_some((kind, text.len(), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserved_words_are_those_of_the_lexer() {
        let source = include_str!("lex.rs");
        let table = source.split("fn word(").nth(1).and_then(|s| s.split("_ => return None").next());
        let quoted: Vec<&str> = table.unwrap_or_default().split('"').skip(1).step_by(2).collect();
        assert!(quoted.len() > 100);
        for text in quoted {
            assert!(word(text).is_some() && crate::lang::notation::is_reserved(text), "{text}");
        }
        assert!(!crate::lang::notation::is_reserved("REAL") && word("REAL").is_none());
    }
}
