//! ProB's notation of LTL[e]: a formula of text with B inside.
//!
//! Binding, as in ProB: `not` and the unary temporal operators, then `U W R S T`, then `&` and `or` (which bind alike!),
//! then `=>`, then `<=>`; binary ones associate to the left. A fairness premise stands before the whole formula; in it
//! strong and weak parts are grouped first. B text is not looked at here, that is [`super::atoms`]' business.

use super::lex::{Symbol, Token, lex, matching};
use super::syntax::{Binary, Fairness, Formula, Property, Unary};
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use std::fmt;

/// A piece of B text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Text {
    pub text: String,
    pub span: Span,
}

/// An atomic proposition as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    Predicate(Text),
    Step(Pattern),
    Enabled(Pattern),
    Deadlock,
    Sink,
    /// The machine's GOAL.
    Goal(Span),
    Current(Span),
}

/// Which steps are meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// `None`: any operation.
    pub operation: Option<Text>,
    /// `None` for one that may be anything; no list: nothing is said of them.
    pub args: Option<Vec<Option<Text>>>,
    pub results: Option<Vec<Option<Text>>>,
    pub condition: Option<Condition>,
    pub span: Span,
}

/// What is said of the states before and after a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// `x$0` is the value before, `x` the one after; parameters and results by their names.
    Predicate(Text),
    /// The value of an expression after the step stands in this relation to the one before.
    Compare(Change, Text),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    Changed,
    Unchanged,
    Increasing,
    Decreasing,
}

pub type Parsed = Property<Atom, Pattern>;

/// Operators within operators; the evaluation of a formula follows its tree.
const MAX_DEPTH: usize = 400;

type Res<T> = Result<T, Diagnostic>;

/// Reads a formula; `name` stands for its file in messages.
pub fn parse(sources: &mut SourceMap, name: &str, text: &str) -> Result<(FileId, Parsed), Diagnostic> {
    let file = sources.add(name, text);
    let tokens = lex(text, file)?;
    let mut p = Parser { text, file, tokens, at: 0, depth: 0 };
    let property = p.property()?;
    p.expect(Symbol::End, "the end of the formula")?;
    Ok((file, property))
}

struct Parser<'t> {
    text: &'t str,
    file: FileId,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn word(&self) -> Symbol {
        self.token().word
    }

    fn next(&mut self) -> Token {
        let t = self.token();
        // The last token is the end and stays.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        t
    }

    fn eat(&mut self, word: Symbol) -> bool {
        let is = self.word() == word;
        if is {
            self.next();
        }
        is
    }

    fn expect(&mut self, word: Symbol, what: &str) -> Res<()> {
        if self.eat(word) {
            return Ok(());
        }
        let t = self.token();
        let mut d = match t.word {
            Symbol::End => Diagnostic::error("L0103", t.span, format!("expected {what}, found the end")),
            _ => {
                Diagnostic::error("L0103", t.span, format!("expected {what}, found `{}`", self.shown(t.span)))
            }
        };
        if matches!(t.word, Symbol::Iff) {
            d = d.help("`<=>` does not chain: use parentheses");
        }
        Err(d)
    }

    fn shown(&self, span: Span) -> &str {
        self.text.get(span.lo as usize..span.hi as usize).unwrap_or("")
    }

    /// A formula, or a premise and a formula, perhaps in parentheses as a whole.
    fn property(&mut self) -> Res<Parsed> {
        let begin = self.at;
        if let Some(premise) = self.premise()? {
            let formula = self.equivalence()?;
            return Ok(Property { premise: Some(premise), formula });
        }
        if self.eat(Symbol::Open)
            && let Some(premise) = self.premise()?
        {
            let formula = self.equivalence()?;
            self.expect(Symbol::Close, "`)`")?;
            if self.word() == Symbol::End {
                return Ok(Property { premise: Some(premise), formula });
            }
        }
        self.at = begin;
        Ok(Property { premise: None, formula: self.equivalence()? })
    }

    /// A premise with its `=>`; nothing is consumed if there is none.
    fn premise(&mut self) -> Res<Option<Fairness<Pattern>>> {
        let begin = self.at;
        if let Some((premise, _)) = self.fairness()?
            && self.eat(Symbol::Implies)
        {
            return Ok(Some(premise));
        }
        self.at = begin;
        Ok(None)
    }

    fn fairness(&mut self) -> Res<Option<(Fairness<Pattern>, Sort)>> {
        // Groups of one sort, each with the operator before it.
        let mut groups: Vec<(bool, Fairness<Pattern>, Sort)> = vec![];
        let mut is_and = true;
        loop {
            let Some((f, sort)) = self.fair_literal()? else { return Ok(None) };
            match groups.last_mut() {
                Some((_, group, last)) if *last == sort && sort != Sort::Mixed => {
                    let left = std::mem::replace(group, Fairness::WeakAll);
                    *group = join(is_and, left, f);
                }
                _ => groups.push((is_and, f, sort)),
            }
            match self.word() {
                Symbol::And => is_and = true,
                Symbol::Or => is_and = false,
                _ => break,
            }
            self.next();
        }
        let first = groups[0].2;
        let sort = if groups.iter().all(|g| g.2 == first) { first } else { Sort::Mixed };
        let joined = groups.into_iter().reduce(|(at, a, s), (is_and, b, _)| (at, join(is_and, a, b), s));
        Ok(joined.map(|(_, f, _)| (f, sort)))
    }

    fn fair_literal(&mut self) -> Res<Option<(Fairness<Pattern>, Sort)>> {
        let t = self.token();
        Ok(Some(match t.word {
            Symbol::WeakAll => (Fairness::WeakAll, Sort::Weak),
            Symbol::StrongAll => (Fairness::StrongAll, Sort::Strong),
            Symbol::Weak => (Fairness::Weak(self.pattern(t.inner)?), Sort::Weak),
            Symbol::Strong => (Fairness::Strong(self.pattern(t.inner)?), Sort::Strong),
            Symbol::Open => {
                self.next();
                let inner = self.fairness()?;
                if inner.is_none() || self.word() != Symbol::Close {
                    return Ok(None);
                }
                self.next();
                return Ok(inner);
            }
            _ => return Ok(None),
        })
        .inspect(|_| {
            self.next();
        }))
    }

    fn equivalence(&mut self) -> Res<Formula<Atom>> {
        let left = self.implication()?;
        if self.eat(Symbol::Iff) {
            return Ok(left.binary(Binary::Iff, self.implication()?));
        }
        Ok(left)
    }

    fn implication(&mut self) -> Res<Formula<Atom>> {
        let mut left = self.junction()?;
        while self.eat(Symbol::Implies) {
            left = left.binary(Binary::Implies, self.junction()?);
        }
        Ok(left)
    }

    fn junction(&mut self) -> Res<Formula<Atom>> {
        let mut left = self.binary()?;
        loop {
            let op = match self.word() {
                Symbol::And => Binary::And,
                Symbol::Or => Binary::Or,
                _ => return Ok(left),
            };
            self.next();
            left = left.binary(op, self.binary()?);
        }
    }

    fn binary(&mut self) -> Res<Formula<Atom>> {
        let mut left = self.unary()?;
        loop {
            let op = match self.word() {
                Symbol::Until => Binary::Until,
                Symbol::WeakUntil => Binary::WeakUntil,
                Symbol::Release => Binary::Release,
                Symbol::Since => Binary::Since,
                Symbol::Trigger => Binary::Trigger,
                _ => return Ok(left),
            };
            self.next();
            left = left.binary(op, self.unary()?);
        }
    }

    fn unary(&mut self) -> Res<Formula<Atom>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the formula is nested more than {MAX_DEPTH} deep");
            return Err(Diagnostic::error("L0106", self.token().span, message));
        }
        let found = self.unary_here();
        self.depth -= 1;
        found
    }

    fn unary_here(&mut self) -> Res<Formula<Atom>> {
        let t = self.next();
        let op = match t.word {
            Symbol::Next => Unary::Next,
            Symbol::Finally => Unary::Finally,
            Symbol::Globally => Unary::Globally,
            Symbol::Yesterday => Unary::Yesterday,
            Symbol::Once => Unary::Once,
            Symbol::Historically => Unary::Historically,
            Symbol::Not => return Ok(self.unary()?.not()),
            Symbol::Open => {
                let inner = self.equivalence()?;
                self.expect(Symbol::Close, "`)`")?;
                return Ok(inner);
            }
            _ => return self.atom(t),
        };
        Ok(self.unary()?.unary(op))
    }

    fn atom(&mut self, t: Token) -> Res<Formula<Atom>> {
        let step = |condition, span| Pattern { operation: None, args: None, results: None, condition, span };
        let change = |p: &Self, how| -> Res<Formula<Atom>> {
            let expression = p.braced(t)?;
            Ok(Formula::Atom(Atom::Step(step(Some(Condition::Compare(how, expression)), t.span))))
        };
        Ok(match t.word {
            Symbol::True => Formula::True,
            Symbol::False => Formula::False,
            Symbol::Deadlock => Formula::Atom(Atom::Deadlock),
            Symbol::Sink => Formula::Atom(Atom::Sink),
            Symbol::Goal => Formula::Atom(Atom::Goal(t.span)),
            Symbol::Current => Formula::Atom(Atom::Current(t.span)),
            Symbol::Predicate => Formula::Atom(Atom::Predicate(self.piece(t.inner)?)),
            Symbol::Step => Formula::Atom(Atom::Step(self.pattern(t.inner)?)),
            Symbol::Enabled => Formula::Atom(Atom::Enabled(self.pattern(t.inner)?)),
            Symbol::Before => {
                let predicate = self.braced(t)?;
                Formula::Atom(Atom::Step(step(Some(Condition::Predicate(predicate)), t.span)))
            }
            Symbol::Changed => change(self, Change::Changed)?,
            Symbol::Unchanged => change(self, Change::Unchanged)?,
            Symbol::Increasing => change(self, Change::Increasing)?,
            Symbol::Decreasing => change(self, Change::Decreasing)?,
            Symbol::DeadlockOf => {
                let none = self.enabled_list(t)?.into_iter().map(Formula::not);
                none.reduce(|a, b| a.binary(Binary::And, b)).unwrap_or(Formula::True)
            }
            Symbol::Deterministic => at_most_one(&self.enabled_list(t)?),
            Symbol::Controller => {
                let all = self.enabled_list(t)?;
                let one =
                    all.iter().cloned().reduce(|a, b| a.binary(Binary::Or, b)).unwrap_or(Formula::False);
                one.binary(Binary::And, at_most_one(&all))
            }
            Symbol::Weak | Symbol::Strong | Symbol::WeakAll | Symbol::StrongAll => {
                return Err(Diagnostic::error("L0104", t.span, "fairness is a premise of the whole formula")
                    .help("write `WF(A) & SF(B) => formula`, with nothing before the premise"));
            }
            Symbol::Unsupported(what) => {
                let d = Diagnostic::error("L0401", t.span, format!("`{what}` is not supported in LTL"));
                return Err(match what {
                    "E" | "A" | "EF" | "AG" => {
                        d.help("LTL speaks of all paths: there are no path quantifiers")
                    }
                    "~>" => d.help("write `G (p => F q)`"),
                    _ => d,
                });
            }
            Symbol::End => {
                return Err(Diagnostic::error("L0103", t.span, "expected a formula, found the end"));
            }
            _ => {
                let message = format!("expected a formula, found `{}`", self.shown(t.span));
                return Err(Diagnostic::error("L0103", t.span, message));
            }
        })
    }

    fn piece(&self, span: Span) -> Res<Text> {
        let text = self.shown(span);
        if text.trim().is_empty() {
            return Err(Diagnostic::error("L0103", span, "there is nothing between these brackets"));
        }
        Ok(Text { text: text.to_string(), span })
    }

    /// `({E})`, as ProB writes it; `(E)` will do.
    fn braced(&self, t: Token) -> Res<Text> {
        let piece = self.piece(t.inner)?;
        let lead = piece.text.len() - piece.text.trim_start().len();
        let trimmed = piece.text.trim();
        if trimmed.starts_with('{') && matching(trimmed, 0) == Some(trimmed.len() - 1) {
            let lo = t.inner.lo as usize + lead + 1;
            return self.piece(Span::new(self.file, lo, lo + trimmed.len() - 2));
        }
        Ok(piece)
    }

    fn enabled_list(&self, t: Token) -> Res<Vec<Formula<Atom>>> {
        let parts = split(self.text, t.inner, |c, _| c == ',').into_iter();
        parts.map(|s| Ok(Formula::Atom(Atom::Enabled(self.pattern(s)?)))).collect()
    }

    /// `Op`, `Op(5, _)`, `Op(5) --> 3`, each perhaps with `& P`.
    fn pattern(&self, span: Span) -> Res<Pattern> {
        let whole = self.piece(span)?;
        let (head, condition) = match cut(self.text, span, "&") {
            Some((head, rest)) => (head, Some(Condition::Predicate(self.piece(rest)?))),
            None => (span, None),
        };
        let (head, results) = match cut(self.text, head, "-->") {
            Some((head, rest)) => (head, Some(self.arguments(rest)?)),
            None => (head, None),
        };
        let text = self.shown(head);
        let lead = text.len() - text.trim_start().len();
        let text = text.trim();
        let lo = head.lo as usize + lead;
        // `c.0!1` is an event of CSP.
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '!');
        let len = text.find(|c| !is_name(c)).unwrap_or(text.len());
        let name = Text { text: text[..len].to_string(), span: Span::new(self.file, lo, lo + len) };
        if len == 0 {
            let d = Diagnostic::error("L0105", whole.span, "expected the name of an operation");
            return Err(
                d.help("`[Op]`, `[Op(5, _)]`, `[Op & x$0 < x]`; without an operation: `BA({x$0 < x})`")
            );
        }
        let rest = &text[len..];
        let lead = rest.len() - rest.trim_start().len();
        let open = lo + len + lead;
        let args = match rest.trim() {
            "" => None,
            list if list.starts_with('(') && matching(list, 0) == Some(list.len() - 1) => {
                let inner = Span::new(self.file, open + 1, open + list.len() - 1);
                Some(self.arguments(inner)?)
            }
            _ => {
                let d = Diagnostic::error(
                    "L0105",
                    Span::new(self.file, open, head.hi as usize),
                    "expected `(`, `-->` or `&`",
                );
                return Err(d.help(
                    "a step is written `[Op(5, _) --> 3 & x$0 < x]`; all but the name may be left out",
                ));
            }
        };
        Ok(Pattern { operation: Some(name), args, results, condition, span: whole.span })
    }

    /// Patterns between commas, perhaps in parentheses.
    fn arguments(&self, span: Span) -> Res<Vec<Option<Text>>> {
        if self.shown(span).trim().is_empty() {
            return Ok(vec![]);
        }
        let parts = split(self.text, span, |c, _| c == ',').into_iter();
        parts.map(|s| Ok(Some(self.piece(s)?).filter(|t| t.text.trim() != "_"))).collect()
    }
}

/// Weak or strong fairness, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Weak,
    Strong,
    Mixed,
}

fn join(is_and: bool, a: Fairness<Pattern>, b: Fairness<Pattern>) -> Fairness<Pattern> {
    let (a, b) = (Box::new(a), Box::new(b));
    if is_and { Fairness::And(a, b) } else { Fairness::Or(a, b) }
}

fn at_most_one(all: &[Formula<Atom>]) -> Formula<Atom> {
    let pairs = (0..all.len()).flat_map(|i| (i + 1..all.len()).map(move |j| (i, j)));
    let not_both = pairs.map(|(i, j)| all[i].clone().binary(Binary::And, all[j].clone()).not());
    not_both.reduce(|a, b| a.binary(Binary::And, b)).unwrap_or(Formula::True)
}

/// The pieces between separators that stand outside all brackets and strings.
fn split(text: &str, span: Span, is_separator: impl Fn(char, &str) -> bool) -> Vec<Span> {
    let (lo, hi) = (span.lo as usize, span.hi as usize);
    let mut parts = vec![];
    let mut begin = lo;
    let mut skip = lo;
    for (i, c) in text[lo..hi].char_indices() {
        let at = lo + i;
        if at < skip {
            continue;
        }
        if matches!(c, '(' | '[' | '{') {
            skip = matching(text, at).map_or(hi, |close| close + 1);
        } else if c == '"' {
            skip = text[at + 1..hi].find('"').map_or(hi, |close| at + 1 + close + 1);
        } else if is_separator(c, &text[at..hi]) {
            parts.push(Span::new(span.file, begin, at));
            begin = at + c.len_utf8();
        }
    }
    parts.push(Span::new(span.file, begin, hi));
    parts
}

/// What stands before and after the first separator outside all brackets.
fn cut(text: &str, span: Span, separator: &str) -> Option<(Span, Span)> {
    let parts = split(text, span, |_, rest| rest.starts_with(separator));
    let first = *parts.first().filter(|_| parts.len() > 1)?;
    let after = first.hi as usize + separator.len();
    Some((first, Span::new(span.file, after, span.hi as usize)))
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Atom::Predicate(t) => write!(f, "{{{}}}", t.text.trim()),
            Atom::Step(p) => match (&p.operation, &p.condition) {
                (None, Some(Condition::Predicate(t))) => write!(f, "BA({{{}}})", t.text.trim()),
                (None, Some(Condition::Compare(how, t))) => {
                    write!(f, "{}({{{}}})", how.name(), t.text.trim())
                }
                _ => write!(f, "[{p}]"),
            },
            Atom::Enabled(p) => write!(f, "e({p})"),
            Atom::Deadlock => f.write_str("deadlock"),
            Atom::Sink => f.write_str("sink"),
            Atom::Goal(_) => f.write_str("goal"),
            Atom::Current(_) => f.write_str("current"),
        }
    }
}

impl Change {
    pub fn name(self) -> &'static str {
        match self {
            Change::Changed => "changed",
            Change::Unchanged => "unchanged",
            Change::Increasing => "increasing",
            Change::Decreasing => "decreasing",
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let list = |all: &[Option<Text>]| {
            let one = |t: &Option<Text>| t.as_ref().map_or("_", |t| t.text.trim()).to_string();
            all.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        f.write_str(self.operation.as_ref().map_or("", |t| &t.text))?;
        if let Some(args) = &self.args {
            write!(f, "({})", list(args))?;
        }
        if let Some(results) = &self.results {
            write!(f, " --> {}", list(results))?;
        }
        if let Some(Condition::Predicate(t)) = &self.condition {
            write!(f, " & {}", t.text.trim())?;
        }
        Ok(())
    }
}
