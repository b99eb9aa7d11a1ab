//! Expressions, by precedence climbing.

use super::{Parser, Result};
use crate::lex::{Kind, Word};
use crate::tree::{
    Binary, Collection, Expr, ExprKind, Field, FieldKind, Items, Literal, Pairs, Process, Replicated, Stmt,
    StmtKind, Synchronised, Unary,
};
use kanon_language::lang::diag::Span;
use kanon_language::lang::stack::MAX_DEPTH;

/// How tightly operators bind; FDR's order, loosest first.
mod level {
    pub const BOTH: u8 = 1;
    pub const HIDE: u8 = 2;
    pub const INTERLEAVE: u8 = 3;
    pub const PARALLEL: u8 = 4;
    pub const INTERNAL: u8 = 5;
    pub const EXTERNAL: u8 = 6;
    pub const INTERRUPT: u8 = 7;
    pub const SLIDING: u8 = 8;
    pub const SEQUENCE: u8 = 9;
    pub const PREFIX: u8 = 10;
    pub const FIELD: u8 = 11;
    pub const DOT: u8 = 12;
    pub const OR: u8 = 13;
    pub const AND: u8 = 14;
    pub const NOT: u8 = 15;
    pub const COMPARE: u8 = 16;
    pub const ADD: u8 = 17;
    pub const MULTIPLY: u8 = 18;
    pub const LENGTH: u8 = 19;
    pub const CONCATENATE: u8 = 20;
    pub const APPLY: u8 = 21;
}

/// An infix operator that groups to the left, with one operand on each side.
enum Infix {
    Binary(Binary),
    Process(Process),
}

fn infix(sign: &str) -> Option<(u8, Infix)> {
    use Infix::{Binary as B, Process as P};
    Some(match sign {
        "|||" => (level::INTERLEAVE, P(Process::Interleave)),
        "|~|" => (level::INTERNAL, P(Process::InternalChoice)),
        "[]" => (level::EXTERNAL, P(Process::ExternalChoice)),
        "/\\" => (level::INTERRUPT, P(Process::Interrupt)),
        "[>" => (level::SLIDING, P(Process::Sliding)),
        ";" => (level::SEQUENCE, P(Process::Sequence)),
        "==" => (level::COMPARE, B(Binary::Equal)),
        "!=" => (level::COMPARE, B(Binary::Different)),
        "<" => (level::COMPARE, B(Binary::Less)),
        "<=" => (level::COMPARE, B(Binary::AtMost)),
        ">" => (level::COMPARE, B(Binary::Greater)),
        ">=" => (level::COMPARE, B(Binary::AtLeast)),
        "+" => (level::ADD, B(Binary::Add)),
        "-" => (level::ADD, B(Binary::Subtract)),
        "*" => (level::MULTIPLY, B(Binary::Multiply)),
        "/" => (level::MULTIPLY, B(Binary::Divide)),
        "%" => (level::MULTIPLY, B(Binary::Modulo)),
        "^" => (level::CONCATENATE, B(Binary::Concatenate)),
        "and" => (level::AND, B(Binary::And)),
        "or" => (level::OR, B(Binary::Or)),
        _ => return None,
    })
}

/// How tightly an infix or postfix operator binds to what stands before it.
fn level_of(sign: &str) -> Option<u8> {
    if let Some((level, _)) = infix(sign) {
        return Some(level);
    }
    Some(match sign {
        "@@" => level::BOTH,
        "\\" | "|\\" => level::HIDE,
        "[|" | "[" => level::PARALLEL,
        "[+" => level::EXTERNAL,
        "/+" => level::INTERRUPT,
        "&" | "->" | "?" | "!" | "$" => level::PREFIX,
        "." => level::DOT,
        "(" | "[[" => level::APPLY,
        _ => return None,
    })
}

/// Signs that continue an expression only on its own line: a declaration may begin with them.
const AMBIGUOUS: [&str; 3] = ["(", "<", "-"];

fn make(span: Span, kind: ExprKind) -> Expr {
    Expr { span, kind }
}

impl Parser<'_, '_> {
    pub fn expr(&mut self) -> Result<Expr> {
        self.climb(level::BOTH)
    }

    fn boxed(&mut self, least: u8) -> Result<Box<Expr>> {
        Ok(Box::new(self.climb(least)?))
    }

    /// An expression whose operators outside of brackets bind at least that tightly.
    fn climb(&mut self, least: u8) -> Result<Expr> {
        self.deeper(|p| {
            let beside = std::mem::take(&mut p.height);
            let mut left = p.operand()?;
            let mut height = p.height + 1;
            while let Some(sign) = p.infix_sign(least) {
                p.height = 0;
                left = p.continued(left, sign)?;
                height = height.max(p.height) + 1;
                if height > MAX_DEPTH {
                    let message = format!("this nests more than {MAX_DEPTH} levels deep");
                    return p.error("C0104", left.span, message);
                }
            }
            p.height = beside.max(height);
            Ok(left)
        })
    }

    /// The infix or postfix operator that stands here, if it binds at least that tightly.
    fn infix_sign(&self, least: u8) -> Option<&'static str> {
        let sign = match self.kind() {
            Kind::Sign(sign) => *sign,
            Kind::Word(Word::And) => "and",
            Kind::Word(Word::Or) => "or",
            _ => return None,
        };
        let ends = (self.token().first && AMBIGUOUS.contains(&sign))
            || (sign == ">" && self.closers.last() == Some(&">"));
        (level_of(sign)? >= least && !ends).then_some(sign)
    }

    /// The expression with one more operator at its end.
    fn continued(&mut self, left: Expr, sign: &'static str) -> Result<Expr> {
        let from = left.span;
        let left = Box::new(left);
        if let Some((level, what)) = infix(sign) {
            self.at += 1;
            let right = self.boxed(level + 1)?;
            let span = from.to(right.span);
            return Ok(match what {
                Infix::Binary(op) => make(span, ExprKind::Binary(op, left, right)),
                Infix::Process(op) => make(span, ExprKind::Process(op, left, right)),
            });
        }
        let made = match sign {
            "@@" => {
                self.at += 1;
                let right = self.boxed(level::BOTH + 1)?;
                self.wild.push(from.to(self.before()));
                ExprKind::Both(left, right)
            }
            // The set binds tightly: `P \ A ||| Q` interleaves.
            "\\" => {
                self.at += 1;
                ExprKind::Hidden(left, self.boxed(level::FIELD)?)
            }
            "|\\" => {
                self.at += 1;
                ExprKind::Projected(left, self.boxed(level::FIELD)?)
            }
            "[|" => {
                self.at += 1;
                let set = Box::new(self.inside("|]", Self::expr)?);
                let op = if self.take("|>") { Synchronised::Exception } else { Synchronised::Share };
                if op == Synchronised::Share {
                    self.expect("|]", "or `|>` behind the events of a parallel composition")?;
                }
                ExprKind::Synchronised(op, left, set, self.boxed(level::PARALLEL + 1)?)
            }
            "[" => {
                self.at += 1;
                self.bracketed(left)?
            }
            "[+" => {
                self.at += 1;
                let set = Box::new(self.inside("+]", Self::expr)?);
                self.expect("+]", "behind the events of a synchronised choice")?;
                let right = self.boxed(level::EXTERNAL + 1)?;
                ExprKind::Synchronised(Synchronised::ExternalChoice, left, set, right)
            }
            "/+" => {
                self.at += 1;
                let set = Box::new(self.inside("+\\", Self::expr)?);
                self.expect("+\\", "behind the events of a synchronised interrupt")?;
                let right = self.boxed(level::INTERRUPT + 1)?;
                ExprKind::Synchronised(Synchronised::Interrupt, left, set, right)
            }
            "&" => {
                self.at += 1;
                ExprKind::Guarded(left, self.boxed(level::PREFIX)?)
            }
            "->" => {
                self.at += 1;
                ExprKind::Prefix(left, vec![], self.boxed(level::PREFIX)?)
            }
            "?" | "!" | "$" => {
                let fields = self.fields()?;
                self.expect("->", "behind a communication")?;
                ExprKind::Prefix(left, fields, self.boxed(level::PREFIX)?)
            }
            "." => {
                self.at += 1;
                ExprKind::Dot(left, self.boxed(level::DOT)?)
            }
            "(" => {
                self.at += 1;
                let arguments =
                    self.inside(")", |p| if p.is(")") { Ok(vec![]) } else { p.separated(Self::expr) })?;
                self.expect(")", "behind the arguments")?;
                ExprKind::Apply(left, arguments)
            }
            "[[" => {
                self.at += 1;
                let pairs = self.inside("]]", |p| p.pairs("<-", "a renaming"))?;
                self.expect("]]", "behind a renaming")?;
                ExprKind::Renamed(left, pairs)
            }
            _ => return Err(self.unexpected("an operator")),
        };
        Ok(make(from.to(self.before()), made))
    }

    /// Behind `P [`: `A || B] Q`, or `a <-> b] Q`.
    fn bracketed(&mut self, left: Box<Expr>) -> Result<ExprKind> {
        self.closers.push("]");
        let first = self.expr()?;
        let kind = if self.take("||") {
            let second = self.expr()?;
            self.expect("]", "behind the second alphabet")?;
            self.closers.pop();
            let right = self.boxed(level::PARALLEL + 1)?;
            ExprKind::Alphabetised(left, Box::new(first), Box::new(second), right)
        } else {
            let pairs = self.pairs_from(first, "<->", "a linked parallel composition")?;
            self.expect("]", "behind the links")?;
            self.closers.pop();
            ExprKind::Linked(left, pairs, self.boxed(level::PARALLEL + 1)?)
        };
        Ok(kind)
    }

    fn pairs(&mut self, sign: &'static str, what: &str) -> Result<Pairs> {
        let first = self.expr()?;
        self.pairs_from(first, sign, what)
    }

    /// `first <- b, c <- d | stmts`
    fn pairs_from(&mut self, first: Expr, sign: &'static str, what: &str) -> Result<Pairs> {
        let place = format!("in {what}");
        self.expect(sign, &place)?;
        let mut pairs = vec![(first, self.expr()?)];
        while self.take(",") {
            let left = self.expr()?;
            self.expect(sign, &place)?;
            pairs.push((left, self.expr()?));
        }
        let stmts = if self.take("|") { self.stmts()? } else { vec![] };
        Ok(Pairs { pairs, stmts })
    }

    fn fields(&mut self) -> Result<Vec<Field>> {
        let mut fields = vec![];
        loop {
            let from = self.span();
            let kind = if self.take("!") {
                FieldKind::Output(self.climb(level::DOT)?)
            } else if self.is("?") || self.is("$") {
                let input = self.is("?");
                self.at += 1;
                let read = self.climb(level::DOT)?;
                let pattern = self.pattern_of(read)?;
                let set = if self.take(":") { Some(self.climb(level::DOT)?) } else { None };
                if input { FieldKind::Input(pattern, set) } else { FieldKind::Chosen(pattern, set) }
            } else {
                return Ok(fields);
            };
            fields.push(Field { span: from.to(self.before()), kind });
        }
    }

    pub fn stmts(&mut self) -> Result<Vec<Stmt>> {
        self.separated(|p| {
            let read = p.expr()?;
            let from = read.span;
            let kind = if p.take("<-") || p.take(":") {
                let pattern = p.pattern_of(read)?;
                StmtKind::From(pattern, p.expr()?)
            } else {
                StmtKind::If(read)
            };
            Ok(Stmt { span: from.to(p.before()), kind })
        })
    }

    /// What an expression begins with, up to its first infix operator.
    fn operand(&mut self) -> Result<Expr> {
        let from = self.span();
        let kind = match self.kind().clone() {
            Kind::Ident(_) => ExprKind::Name(self.path("a name")?),
            Kind::Int(value) => self.literal(Literal::Int(value)),
            Kind::Char(value) => self.literal(Literal::Char(value)),
            Kind::String(value) => self.literal(Literal::String(value)),
            Kind::Word(Word::True) => self.literal(Literal::Bool(true)),
            Kind::Word(Word::False) => self.literal(Literal::Bool(false)),
            Kind::Word(Word::Not) => {
                self.at += 1;
                ExprKind::Unary(Unary::Not, self.boxed(level::NOT)?)
            }
            Kind::Word(Word::If) => {
                self.at += 1;
                let test = Box::new(self.expr()?);
                self.expect_word(Word::Then, "then", "behind the condition")?;
                let then = Box::new(self.expr()?);
                self.expect_word(Word::Else, "else", "behind the first branch")?;
                ExprKind::If(test, then, Box::new(self.expr()?))
            }
            Kind::Word(Word::Let) => {
                self.at += 1;
                let decls = self.local_decls()?;
                self.expect_word(Word::Within, "within", "behind local declarations")?;
                ExprKind::Let(decls, Box::new(self.expr()?))
            }
            Kind::Sign(sign) => return self.signed(sign),
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(make(from.to(self.before()), kind))
    }

    fn literal(&mut self, value: Literal) -> ExprKind {
        self.at += 1;
        ExprKind::Literal(value)
    }

    /// An operand that begins with a sign.
    fn signed(&mut self, sign: &'static str) -> Result<Expr> {
        let from = self.span();
        let at = self.at;
        self.at += 1;
        let kind = match sign {
            "_" => {
                self.wild.push(from);
                ExprKind::Wild
            }
            "-" => ExprKind::Unary(Unary::Negate, self.boxed(level::ADD)?),
            "#" => ExprKind::Unary(Unary::Length, self.boxed(level::LENGTH)?),
            "\\" => {
                let parameters = self.separated(|p| {
                    let read = p.expr()?;
                    p.pattern_of(read)
                })?;
                self.expect("@", "behind the parameters of a function")?;
                ExprKind::Lambda(parameters, Box::new(self.expr()?))
            }
            "(" => {
                let mut parts = self.inside(")", |p| p.separated(Self::expr))?;
                self.expect(")", "to close a parenthesis")?;
                match parts.len() {
                    1 => ExprKind::Paren(Box::new(parts.remove(0))),
                    _ => ExprKind::Tuple(parts),
                }
            }
            "<" => {
                let collection = self.inside(">", |p| p.collection(">"))?;
                self.expect(">", "to close a sequence")?;
                ExprKind::Seq(collection)
            }
            "{" => {
                let collection = self.inside("}", |p| p.collection("}"))?;
                self.expect("}", "to close a set")?;
                ExprKind::Set(collection)
            }
            "{|" => {
                let (items, stmts) = self.inside("|}", |p| {
                    let items = if p.is("|}") || p.is("|") { vec![] } else { p.separated(Self::expr)? };
                    Ok((items, if p.take("|") { p.stmts()? } else { vec![] }))
                })?;
                self.expect("|}", "to close a set of productions")?;
                ExprKind::Productions(items, stmts)
            }
            "(|" => {
                let pairs =
                    self.inside("|)", |p| if p.is("|)") { Ok(vec![]) } else { p.separated(Self::entry) })?;
                self.expect("|)", "to close a map")?;
                ExprKind::Map(pairs)
            }
            "[]" => self.replicated(Replicated::ExternalChoice)?,
            "|~|" => self.replicated(Replicated::InternalChoice)?,
            "|||" => self.replicated(Replicated::Interleave)?,
            ";" => self.replicated(Replicated::Sequence)?,
            "||" => {
                let stmts = self.stmts()?;
                self.expect("@", "behind what a replicated operator runs through")?;
                self.expect("[", "before the alphabet of a replicated parallel composition")?;
                let set = Box::new(self.inside("]", Self::expr)?);
                self.expect("]", "behind the alphabet")?;
                ExprKind::Replicated(Replicated::Alphabetised(set), stmts, Box::new(self.expr()?))
            }
            "[|" => {
                let set = Box::new(self.inside("|]", Self::expr)?);
                self.expect("|]", "behind the events of a parallel composition")?;
                self.replicated(Replicated::Share(set))?
            }
            "[+" => {
                let set = Box::new(self.inside("+]", Self::expr)?);
                self.expect("+]", "behind the events of a synchronised choice")?;
                self.replicated(Replicated::SynchronisedChoice(set))?
            }
            "[" => {
                let pairs = self.inside("]", |p| p.pairs("<->", "a linked parallel composition"))?;
                self.expect("]", "behind the links")?;
                self.replicated(Replicated::Linked(pairs))?
            }
            _ => {
                self.at = at;
                return Err(self.unexpected("an expression"));
            }
        };
        Ok(make(from.to(self.before()), kind))
    }

    fn entry(&mut self) -> Result<(Expr, Expr)> {
        let key = self.expr()?;
        self.expect("=>", "between a key and its value")?;
        Ok((key, self.expr()?))
    }

    fn replicated(&mut self, op: Replicated) -> Result<ExprKind> {
        let stmts = self.stmts()?;
        self.expect("@", "behind what a replicated operator runs through")?;
        Ok(ExprKind::Replicated(op, stmts, Box::new(self.expr()?)))
    }

    /// Up to the closing sign, which is not taken.
    fn collection(&mut self, closer: &str) -> Result<Collection> {
        if self.is(closer) {
            return Ok(Collection { items: Items::Listed(vec![]), stmts: vec![] });
        }
        let first = self.expr()?;
        let items = if self.take("..") {
            let open = self.is(closer) || self.is("|");
            let to = if open { None } else { Some(Box::new(self.expr()?)) };
            Items::Range(Box::new(first), to)
        } else {
            let mut items = vec![first];
            while self.take(",") {
                items.push(self.expr()?);
            }
            Items::Listed(items)
        };
        let stmts = if self.take("|") { self.stmts()? } else { vec![] };
        Ok(Collection { items, stmts })
    }
}
