//! What is asked of a marking: `eats + 2 * waits(p1) >= 3 and not enabled(take)`.
//!
//! A place without colours stands for all of its tokens, `place(a, _)` for those whose first component is `a`.

use crate::unfold::{LIMIT, Unfolded};
use kanon_language::lang::diag::{Diagnostic, FileId, Span};
use std::collections::BTreeMap;

/// Parentheses and negations within each other.
const MAX_DEPTH: usize = 200;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Constant(bool),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// A sum of tokens, and a number: which is at most which.
    AtLeast(Sum),
    /// The sum is zero.
    Zero(Sum),
    /// Some mode of the transition has its tokens.
    Enabled(u32),
}

/// A sum of tokens by cell, none of the factors zero, and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub factors: BTreeMap<u32, i64>,
    pub constant: i64,
}

/// Factors and numbers of a condition, so that a sum of all tokens that there can be fits into 128 bits.
const MOST: i64 = u32::MAX as i64;

impl Sum {
    /// The value in a marking.
    pub fn value(&self, marking: &[u64]) -> i128 {
        let of = |(cell, factor): (&u32, &i64)| {
            i128::from(*factor) * i128::from(marking.get(*cell as usize).copied().unwrap_or(0))
        };
        self.factors.iter().map(of).sum::<i128>() + i128::from(self.constant)
    }
}

impl Condition {
    /// The value in a marking.
    pub fn holds(&self, net: &Unfolded, marking: &[u64]) -> bool {
        match self {
            Condition::Constant(b) => *b,
            Condition::All(parts) => parts.iter().all(|p| p.holds(net, marking)),
            Condition::Any(parts) => parts.iter().any(|p| p.holds(net, marking)),
            Condition::Not(inner) => !inner.holds(net, marking),
            Condition::AtLeast(sum) => sum.value(marking) >= 0,
            Condition::Zero(sum) => sum.value(marking) == 0,
            Condition::Enabled(t) => {
                let has = |(cell, n): &(u32, u64)| marking[*cell as usize] >= *n;
                net.modes.iter().any(|m| m.transition == *t && m.takes.iter().all(has))
            }
        }
    }

    /// The same condition with every cell replaced.
    pub fn moved(&self, to: &impl Fn(u32) -> u32) -> Condition {
        let all = |parts: &[Condition]| parts.iter().map(|p| p.moved(to)).collect();
        let sum = |s: &Sum| Sum {
            factors: s.factors.iter().map(|(cell, n)| (to(*cell), *n)).collect(),
            constant: s.constant,
        };
        match self {
            Condition::All(parts) => Condition::All(all(parts)),
            Condition::Any(parts) => Condition::Any(all(parts)),
            Condition::Not(inner) => Condition::Not(Box::new(inner.moved(to))),
            Condition::AtLeast(s) => Condition::AtLeast(sum(s)),
            Condition::Zero(s) => Condition::Zero(sum(s)),
            Condition::Constant(_) | Condition::Enabled(_) => self.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Number(i64),
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 19] =
    ["<=", ">=", "!=", "/=", "==", "&&", "||", "=>", "<", ">", "=", "(", ")", "+", "-", "*", ",", "&", "!"];

type Res<T> = Result<T, Diagnostic>;

fn lex(text: &str, file: FileId) -> Res<Vec<(Token, Span)>> {
    let mut all = vec![];
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let begin = at;
        let span = |end| Span::new(file, begin, end);
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if c == '`' {
            let rest = &text[at + 1..];
            let end = rest.find('`');
            let end =
                end.ok_or_else(|| Diagnostic::error("N0402", span(text.len()), "this name has no end"))?;
            at += end + 2;
            all.push((Token::Name(rest[..end].to_string()), span(at)));
        } else if c.is_ascii_digit() {
            at += text[at..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - at);
            let n = text[begin..at].parse::<i64>().ok().filter(|n| *n <= MOST);
            let too_large = || Diagnostic::error("N0402", span(at), format!("numbers go to {MOST}"));
            all.push((Token::Number(n.ok_or_else(too_large)?), span(at)));
        } else if is_name(c) {
            at += text[at..].find(|c: char| !is_name(c)).unwrap_or(text.len() - at);
            all.push((Token::Name(text[begin..at].to_string()), span(at)));
        } else if let Some(sign) = SIGNS.iter().find(|s| text[at..].starts_with(**s)) {
            at += sign.len();
            all.push((Token::Sign(sign), span(at)));
        } else {
            let end = at + c.len_utf8();
            return Err(Diagnostic::error("N0402", span(end), format!("`{c}` has no meaning here")));
        }
    }
    all.push((Token::End, Span::new(file, text.len(), text.len())));
    Ok(all)
}

/// Reads a condition.
///
/// # Errors
/// What cannot be read, and names that the net does not have.
pub fn parse(net: &Unfolded, file: FileId, text: &str) -> Res<Condition> {
    let mut p = Parser { net, tokens: lex(text, file)?, at: 0, depth: 0 };
    let found = p.any()?;
    p.end()?;
    Ok(found)
}

/// Reads a sum of tokens, such as `eats + 2 * waits(p1)`; none if the text is a condition.
///
/// # Errors
/// The same.
pub fn parse_sum(net: &Unfolded, file: FileId, text: &str) -> Res<Option<Sum>> {
    let mut p = Parser { net, tokens: lex(text, file)?, at: 0, depth: 0 };
    if p.begins_condition() {
        return Ok(None);
    }
    let sum = p.sum()?;
    Ok(matches!(p.token(), Token::End).then_some(sum))
}

struct Parser<'n> {
    net: &'n Unfolded,
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn next(&mut self) -> Token {
        let token = self.token().clone();
        // The end stays.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, all: &[&str]) -> bool {
        let is = match self.token() {
            Token::Sign(s) => all.contains(s),
            Token::Name(n) => all.contains(&&**n) && n.chars().all(char::is_alphabetic),
            _ => false,
        };
        if is {
            self.next();
        }
        is
    }

    fn wrong<T>(&self, what: &str) -> Res<T> {
        Err(Diagnostic::error("N0403", self.span(), format!("expected {what}")))
    }

    fn expect(&mut self, sign: &str) -> Res<()> {
        if self.eat(&[sign]) { Ok(()) } else { self.wrong(&format!("`{sign}`")) }
    }

    fn end(&self) -> Res<()> {
        match self.token() {
            Token::End => Ok(()),
            _ => self.wrong("the end, or `and`, `or`"),
        }
    }

    fn begins_condition(&self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|(t, _)| t);
        match self.token() {
            Token::Sign(s) => ["(", "!"].contains(s),
            Token::Name(n) => match &**n {
                "true" | "false" | "not" => !matches!(next, Some(Token::Sign("("))) || n == "not",
                "enabled" => matches!(next, Some(Token::Sign("("))),
                _ => false,
            },
            _ => false,
        }
    }

    fn any(&mut self) -> Res<Condition> {
        let mut parts = vec![self.all()?];
        loop {
            if self.eat(&["or", "||"]) {
                parts.push(self.all()?);
            } else if self.eat(&["=>"]) {
                self.deeper()?;
                let then = self.any()?;
                self.depth -= 1;
                let before = parts.into_iter().map(|p| Condition::Not(Box::new(p))).collect();
                return Ok(Condition::Any(vec![Condition::All(before), then]));
            } else {
                return Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) });
            }
        }
    }

    fn all(&mut self) -> Res<Condition> {
        let mut parts = vec![self.one()?];
        while self.eat(&["and", "&", "&&"]) {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn deeper(&mut self) -> Res<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error("N0404", self.span(), format!("more than {MAX_DEPTH} deep")));
        }
        Ok(())
    }

    fn one(&mut self) -> Res<Condition> {
        if !self.begins_condition() {
            return self.comparison();
        }
        if self.eat(&["not", "!"]) {
            self.deeper()?;
            let inner = self.one()?;
            self.depth -= 1;
            return Ok(Condition::Not(Box::new(inner)));
        }
        if self.eat(&["("]) {
            self.deeper()?;
            let inner = self.any()?;
            self.depth -= 1;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.eat(&["true"]) {
            return Ok(Condition::Constant(true));
        }
        if self.eat(&["false"]) {
            return Ok(Condition::Constant(false));
        }
        self.next();
        self.expect("(")?;
        let mut parts = vec![];
        loop {
            let span = self.span();
            let Token::Name(name) = self.next() else {
                return Err(Diagnostic::error("N0403", span, "expected the name of a transition"));
            };
            let all = &self.net.net.transitions;
            let found = all.iter().position(|t| t.name == name).or(all.iter().position(|t| t.id == name));
            let Some(t) = found else {
                let names: Vec<&str> = all.iter().map(|t| &*t.name).take(12).collect();
                return Err(Diagnostic::error("N0401", span, format!("the net has no transition `{name}`"))
                    .help(format!("there is: {}", names.join(", "))));
            };
            parts.push(Condition::Enabled(t as u32));
            if !self.eat(&[","]) {
                break;
            }
        }
        self.expect(")")?;
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    fn comparison(&mut self) -> Res<Condition> {
        let left = self.sum()?;
        let span = self.span();
        let sign = match self.next() {
            Token::Sign(s) => s,
            _ => "",
        };
        let right = self.sum_of_the_right(sign, span)?;
        // left - right, or right - left.
        let difference = |a: &Sum, b: &Sum, less: i64| {
            let mut d = a.clone();
            d.constant -= less;
            self.add(&mut d, b, -1, span)?;
            Ok::<Sum, Diagnostic>(d)
        };
        Ok(match sign {
            ">=" => Condition::AtLeast(difference(&left, &right, 0)?),
            ">" => Condition::AtLeast(difference(&left, &right, 1)?),
            "<=" => Condition::AtLeast(difference(&right, &left, 0)?),
            "<" => Condition::AtLeast(difference(&right, &left, 1)?),
            "!=" | "/=" => Condition::Not(Box::new(Condition::Zero(difference(&left, &right, 0)?))),
            _ => Condition::Zero(difference(&left, &right, 0)?),
        })
    }

    fn sum_of_the_right(&mut self, sign: &str, span: Span) -> Res<Sum> {
        if ![">=", ">", "<=", "<", "=", "==", "!=", "/="].contains(&sign) {
            return Err(Diagnostic::error("N0403", span, "expected `>=`, `>`, `<=`, `<`, `=` or `!=`"));
        }
        self.sum()
    }

    fn add(&self, into: &mut Sum, other: &Sum, times: i64, span: Span) -> Res<()> {
        let too_large = || Diagnostic::error(LIMIT, span, "the numbers of this sum are too large");
        let fits = |n: &i64| n.abs() <= MOST * 16;
        for (cell, n) in &other.factors {
            let known = into.factors.entry(*cell).or_default();
            let sum = n.checked_mul(times).and_then(|n| known.checked_add(n));
            *known = sum.filter(fits).ok_or_else(too_large)?;
        }
        into.factors.retain(|_, n| *n != 0);
        let sum = other.constant.checked_mul(times).and_then(|n| into.constant.checked_add(n));
        into.constant = sum.filter(fits).ok_or_else(too_large)?;
        Ok(())
    }

    fn sum(&mut self) -> Res<Sum> {
        let mut all = Sum::default();
        let mut sign = if self.eat(&["-"]) { -1 } else { 1 };
        loop {
            let span = self.span();
            let product = self.product()?;
            self.add(&mut all, &product, sign, span)?;
            sign = match self.token() {
                Token::Sign("+") => 1,
                Token::Sign("-") => -1,
                _ => return Ok(all),
            };
            self.next();
        }
    }

    fn product(&mut self) -> Res<Sum> {
        let span = self.span();
        match self.next() {
            Token::Number(n) if self.eat(&["*"]) => {
                let of = self.place()?;
                let mut all = Sum::default();
                self.add(&mut all, &of, n, span)?;
                Ok(all)
            }
            Token::Number(n) => Ok(Sum { constant: n, ..Sum::default() }),
            Token::Name(_) => {
                self.at -= 1;
                self.place()
            }
            _ => {
                self.at = self.at.saturating_sub(1);
                self.wrong("a place or a number")
            }
        }
    }

    fn place(&mut self) -> Res<Sum> {
        let span = self.span();
        let Token::Name(name) = self.next() else {
            return Err(Diagnostic::error("N0403", span, "expected the name of a place"));
        };
        let all = &self.net.net.places;
        let found = all.iter().position(|p| p.name == name).or(all.iter().position(|p| p.id == name));
        let Some(place) = found else {
            let names: Vec<&str> = all.iter().map(|p| &*p.name).take(12).collect();
            return Err(Diagnostic::error("N0401", span, format!("the net has no place `{name}`")).help(
                format!("there is: {}; names with other signs stand in backquotes", names.join(", ")),
            ));
        };
        let mut wanted: Vec<Option<u32>> = vec![];
        if self.eat(&["("]) {
            for (i, class) in all[place].domain.iter().enumerate() {
                if i > 0 {
                    self.expect(",")?;
                }
                let span = self.span();
                let colours = &self.net.net.classes[*class].colours;
                let named = match self.next() {
                    Token::Name(n) if n == "_" => {
                        wanted.push(None);
                        continue;
                    }
                    Token::Name(n) => n,
                    Token::Number(n) => n.to_string(),
                    Token::Sign("-") => match self.next() {
                        Token::Number(n) => format!("-{n}"),
                        _ => "-".to_string(),
                    },
                    _ => String::new(),
                };
                let Some(colour) = colours.iter().position(|c| *c == named) else {
                    let names: Vec<&str> = colours.iter().map(|c| &**c).take(12).collect();
                    return Err(Diagnostic::error("N0401", span, "no colour of this place's tokens")
                        .help(format!("there is: {}, and `_` for any", names.join(", "))));
                };
                wanted.push(Some(colour as u32));
            }
            self.expect(")")?;
        }
        let fits = |cell: &usize| {
            let (_, colours) = self.net.cell(*cell);
            wanted.iter().zip(colours).all(|(w, c)| w.is_none_or(|w| w == c))
        };
        let factors = self.net.cells(place).filter(fits).map(|cell| (cell as u32, 1)).collect();
        Ok(Sum { factors, constant: 0 })
    }
}
