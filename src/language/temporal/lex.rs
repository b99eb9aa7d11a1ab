//! Words of LTL formulas. Operators may run together (`GF`, `XX`), so the longest word that fits is taken; B text in
//! braces, brackets and parentheses is passed on whole.

use crate::lang::diag::{Diagnostic, FileId, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    True,
    False,
    Not,
    And,
    Or,
    Implies,
    Iff,
    Next,
    Finally,
    Globally,
    Yesterday,
    Once,
    Historically,
    Until,
    WeakUntil,
    Release,
    Since,
    Trigger,
    Deadlock,
    Sink,
    Goal,
    Current,
    WeakAll,
    StrongAll,
    Open,
    Close,
    /// `{P}`
    Predicate,
    /// `[Op(…)]`
    Step,
    /// Words with text in parentheses.
    Enabled,
    DeadlockOf,
    Deterministic,
    Controller,
    Weak,
    Strong,
    Before,
    Changed,
    Unchanged,
    Increasing,
    Decreasing,
    /// ProB has it, we do not.
    Unsupported(&'static str),
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub word: Symbol,
    pub span: Span,
    /// The text between the brackets.
    pub inner: Span,
}

const PLAIN: [(&str, Symbol); 66] = [
    ("true", Symbol::True),
    ("false", Symbol::False),
    ("not", Symbol::Not),
    ("¬", Symbol::Not),
    ("!", Symbol::Not),
    ("&&", Symbol::And),
    ("&", Symbol::And),
    ("and", Symbol::And),
    ("∧", Symbol::And),
    ("||", Symbol::Or),
    ("or", Symbol::Or),
    ("∨", Symbol::Or),
    ("=>", Symbol::Implies),
    ("->", Symbol::Implies),
    ("implies", Symbol::Implies),
    ("⇒", Symbol::Implies),
    ("<=>", Symbol::Iff),
    ("<->", Symbol::Iff),
    ("equivalent", Symbol::Iff),
    ("⇔", Symbol::Iff),
    ("X", Symbol::Next),
    ("next", Symbol::Next),
    ("F", Symbol::Finally),
    ("finally", Symbol::Finally),
    ("eventually", Symbol::Finally),
    ("<>", Symbol::Finally),
    ("⋄", Symbol::Finally),
    ("◇", Symbol::Finally),
    ("G", Symbol::Globally),
    ("globally", Symbol::Globally),
    ("always", Symbol::Globally),
    ("□", Symbol::Globally),
    ("Y", Symbol::Yesterday),
    ("yesterday", Symbol::Yesterday),
    ("O", Symbol::Once),
    ("once", Symbol::Once),
    ("H", Symbol::Historically),
    ("historically", Symbol::Historically),
    ("U", Symbol::Until),
    ("until", Symbol::Until),
    ("stronguntil", Symbol::Until),
    ("W", Symbol::WeakUntil),
    ("weakuntil", Symbol::WeakUntil),
    ("R", Symbol::Release),
    ("release", Symbol::Release),
    ("S", Symbol::Since),
    ("since", Symbol::Since),
    ("T", Symbol::Trigger),
    ("trigger", Symbol::Trigger),
    ("deadlock", Symbol::Deadlock),
    ("sink", Symbol::Sink),
    ("goal", Symbol::Goal),
    ("current", Symbol::Current),
    ("WEF", Symbol::WeakAll),
    ("SEF", Symbol::StrongAll),
    ("(", Symbol::Open),
    (")", Symbol::Close),
    ("{", Symbol::Predicate),
    ("[", Symbol::Step),
    ("det_output", Symbol::Unsupported("det_output")),
    ("error", Symbol::Unsupported("error")),
    ("#", Symbol::Unsupported("#")),
    ("E", Symbol::Unsupported("E")),
    ("A", Symbol::Unsupported("A")),
    ("~>", Symbol::Unsupported("~>")),
    ("[]", Symbol::Globally),
];

/// These take text in parentheses, and only with it are they words.
const CALLS: [(&str, Symbol); 20] = [
    ("e", Symbol::Enabled),
    ("enabled", Symbol::Enabled),
    ("deadlock", Symbol::DeadlockOf),
    ("deterministic", Symbol::Deterministic),
    ("controller", Symbol::Controller),
    ("WF", Symbol::Weak),
    ("wf", Symbol::Weak),
    ("SF", Symbol::Strong),
    ("sf", Symbol::Strong),
    ("BA", Symbol::Before),
    ("before_after", Symbol::Before),
    ("changed", Symbol::Changed),
    ("unchanged", Symbol::Unchanged),
    ("UNCHANGED", Symbol::Unchanged),
    ("increasing", Symbol::Increasing),
    ("decreasing", Symbol::Decreasing),
    ("available", Symbol::Unsupported("available")),
    ("Av", Symbol::Unsupported("Av")),
    ("EF", Symbol::Unsupported("EF")),
    ("AG", Symbol::Unsupported("AG")),
];

pub fn lex(text: &str, file: FileId) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = vec![];
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        if rest.is_empty() {
            let span = Span::new(file, at, at);
            tokens.push(Token { word: Symbol::End, span, inner: span });
            return Ok(tokens);
        }
        let (word, len) = longest(rest).ok_or_else(|| unknown(rest, at, file))?;
        let open = match word {
            Symbol::Predicate | Symbol::Step => Some(at),
            Symbol::Open | Symbol::Close => None,
            _ if rest[..len].ends_with('(') => Some(at + len - 1),
            _ => None,
        };
        let (end, inner) = match open {
            Some(open) => {
                let close = matching(text, open).ok_or_else(|| {
                    let bracket = &text[open..open + 1];
                    Diagnostic::error(
                        "L0102",
                        Span::new(file, open, open + 1),
                        format!("`{bracket}` is not closed"),
                    )
                })?;
                (close + 1, Span::new(file, open + 1, close))
            }
            None => (at + len, Span::new(file, at, at + len)),
        };
        tokens.push(Token { word, span: Span::new(file, at, end), inner });
        at = end;
    }
}

fn longest(rest: &str) -> Option<(Symbol, usize)> {
    let plain = PLAIN.iter().filter(|(w, _)| rest.starts_with(w)).map(|(w, word)| (*word, w.len()));
    let call = CALLS.iter().filter_map(|(w, word)| {
        let after = rest.strip_prefix(w)?;
        let open = after.len() - after.trim_start().len();
        after[open..].starts_with('(').then_some((*word, w.len() + open + 1))
    });
    plain.chain(call).max_by_key(|(_, len)| *len)
}

/// The place of the bracket that closes the one at `open`. Strings may contain anything.
pub fn matching(text: &str, open: usize) -> Option<usize> {
    let mut inside = vec![];
    let mut in_string = false;
    let mut escaped = false;
    for (i, c) in text[open..].char_indices() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => in_string = true,
            '(' => inside.push(')'),
            '[' => inside.push(']'),
            '{' => inside.push('}'),
            ')' | ']' | '}' => {
                if inside.pop() != Some(c) {
                    return None;
                }
                if inside.is_empty() {
                    return Some(open + i);
                }
            }
            _ => {}
        }
    }
    None
}

fn unknown(rest: &str, at: usize, file: FileId) -> Diagnostic {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let name: String = rest.chars().take_while(|c| is_name(*c)).collect();
    let len = name.len().max(rest.chars().next().map_or(0, char::len_utf8));
    let span = Span::new(file, at, at + len);
    let what = &rest[..len];
    let d = Diagnostic::error("L0101", span, format!("`{what}` is no word of LTL"));
    if name.is_empty() {
        d
    } else if rest[name.len()..].trim_start().starts_with('(') {
        d.help(format!("`[{name}(…)]` is the next step, `e({name}(…))` says that it is enabled"))
    } else {
        d.help(format!(
            "write `{{{name}…}}` for a predicate, `[{name}]` for a step, `e({name})` for an enabled operation"
        ))
    }
}
