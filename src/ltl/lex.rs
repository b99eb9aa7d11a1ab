//! Words of LTL formulas. Operators may run together (`GF`, `XX`), so the longest word that fits is taken; B text in
//! braces, brackets and parentheses is passed on whole.

use crate::lang::diag::{Diagnostic, FileId, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
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
    pub word: Word,
    pub span: Span,
    /// The text between the brackets.
    pub inner: Span,
}

const PLAIN: [(&str, Word); 66] = [
    ("true", Word::True),
    ("false", Word::False),
    ("not", Word::Not),
    ("¬", Word::Not),
    ("!", Word::Not),
    ("&&", Word::And),
    ("&", Word::And),
    ("and", Word::And),
    ("∧", Word::And),
    ("||", Word::Or),
    ("or", Word::Or),
    ("∨", Word::Or),
    ("=>", Word::Implies),
    ("->", Word::Implies),
    ("implies", Word::Implies),
    ("⇒", Word::Implies),
    ("<=>", Word::Iff),
    ("<->", Word::Iff),
    ("equivalent", Word::Iff),
    ("⇔", Word::Iff),
    ("X", Word::Next),
    ("next", Word::Next),
    ("F", Word::Finally),
    ("finally", Word::Finally),
    ("eventually", Word::Finally),
    ("<>", Word::Finally),
    ("⋄", Word::Finally),
    ("◇", Word::Finally),
    ("G", Word::Globally),
    ("globally", Word::Globally),
    ("always", Word::Globally),
    ("□", Word::Globally),
    ("Y", Word::Yesterday),
    ("yesterday", Word::Yesterday),
    ("O", Word::Once),
    ("once", Word::Once),
    ("H", Word::Historically),
    ("historically", Word::Historically),
    ("U", Word::Until),
    ("until", Word::Until),
    ("stronguntil", Word::Until),
    ("W", Word::WeakUntil),
    ("weakuntil", Word::WeakUntil),
    ("R", Word::Release),
    ("release", Word::Release),
    ("S", Word::Since),
    ("since", Word::Since),
    ("T", Word::Trigger),
    ("trigger", Word::Trigger),
    ("deadlock", Word::Deadlock),
    ("sink", Word::Sink),
    ("goal", Word::Goal),
    ("current", Word::Current),
    ("WEF", Word::WeakAll),
    ("SEF", Word::StrongAll),
    ("(", Word::Open),
    (")", Word::Close),
    ("{", Word::Predicate),
    ("[", Word::Step),
    ("det_output", Word::Unsupported("det_output")),
    ("error", Word::Unsupported("error")),
    ("#", Word::Unsupported("#")),
    ("E", Word::Unsupported("E")),
    ("A", Word::Unsupported("A")),
    ("~>", Word::Unsupported("~>")),
    ("[]", Word::Globally),
];

/// These take text in parentheses, and only with it are they words.
const CALLS: [(&str, Word); 20] = [
    ("e", Word::Enabled),
    ("enabled", Word::Enabled),
    ("deadlock", Word::DeadlockOf),
    ("deterministic", Word::Deterministic),
    ("controller", Word::Controller),
    ("WF", Word::Weak),
    ("wf", Word::Weak),
    ("SF", Word::Strong),
    ("sf", Word::Strong),
    ("BA", Word::Before),
    ("before_after", Word::Before),
    ("changed", Word::Changed),
    ("unchanged", Word::Unchanged),
    ("UNCHANGED", Word::Unchanged),
    ("increasing", Word::Increasing),
    ("decreasing", Word::Decreasing),
    ("available", Word::Unsupported("available")),
    ("Av", Word::Unsupported("Av")),
    ("EF", Word::Unsupported("EF")),
    ("AG", Word::Unsupported("AG")),
];

pub fn lex(text: &str, file: FileId) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = vec![];
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        if rest.is_empty() {
            let span = Span::new(file, at, at);
            tokens.push(Token { word: Word::End, span, inner: span });
            return Ok(tokens);
        }
        let (word, len) = longest(rest).ok_or_else(|| unknown(rest, at, file))?;
        let open = match word {
            Word::Predicate | Word::Step => Some(at),
            Word::Open | Word::Close => None,
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

fn longest(rest: &str) -> Option<(Word, usize)> {
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
