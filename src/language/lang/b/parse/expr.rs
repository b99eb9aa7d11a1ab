//! Predicates and expressions: one type, one climber.
//!
//! Priorities are those of the B reference manual as ProB reads them: `;` `||` 20 (inside brackets
//! only), `=>` 30, `&` `or` 40, `<=>` 60, comparisons 70 and not chained, arrows 125, set and
//! relation operators 160, `..` 170, `+ - \` 180, `* / mod` 190, `**` 200 to the right, unary
//! minus 210, then what stands behind an operand: `~`, `[S]`, `(x)`, `'f`.

use super::super::lex::{Kw, T};
use super::{Fail, MAX_DEPTH, Parser, Res, binary, fold, unescape};
use crate::lang::ast::{BinOp, Binder, Expr, ExprKind, Fun, Ident, Lit, Quant, UnOp};
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::notation::{COMPARISON, IN_BRACKETS, fun_name, priority};
use num_bigint::BigInt;
use num_traits::Num;
use std::sync::Arc;

/// Outside brackets: everything but `;` and `||`, which there belong to substitutions.
pub(super) const TOP: u8 = 30;

enum Assoc {
    Left,
    Right,
    None,
}

fn assoc(op: BinOp) -> Assoc {
    match op {
        BinOp::Pow => Assoc::Right,
        _ if priority(op) == COMPARISON => Assoc::None,
        _ => Assoc::Left,
    }
}

/// Operators whose long chains may be balanced: the same value, the same order of evaluation.
fn associative(op: BinOp) -> bool {
    use BinOp::*;
    matches!(op, And | Or | Union | Inter | Add | Concat | Override | Compose)
}

/// The binary operator a token stands for, and whether its operands change places.
fn operator(kind: T) -> Option<(BinOp, bool)> {
    match kind {
        T::Op(op) => Some((op, false)),
        // `∘` is written among the operators of 160 but means `;`: its priority is looked up apart.
        T::Swapped(op) => Some((op, true)),
        T::Semi => Some((BinOp::Compose, false)),
        T::Parallel => Some((BinOp::ParallelProduct, false)),
        _ => None,
    }
}

impl Parser<'_> {
    /// An expression in brackets of any kind, where `;` and `||` are operators.
    pub(super) fn expr_in_brackets(&mut self) -> Res<Expr> {
        self.expr(IN_BRACKETS)
    }

    /// Precedence climbing: operators of at least `min`.
    pub(super) fn expr(&mut self, min: u8) -> Res<Expr> {
        self.nested(|p| {
            let outer = std::mem::replace(&mut p.height, 0);
            let result = p.climb(min);
            p.height = p.height.max(outer);
            result
        })
    }

    fn climb(&mut self, min: u8) -> Res<Expr> {
        let mut left = self.prefixed()?;
        let mut height = self.height + 1;
        while let Some((op, swapped)) = operator(self.peek()) {
            let level = if swapped && op == BinOp::Compose { 160 } else { priority(op) };
            if level < min {
                break;
            }
            if associative(op) && !swapped {
                (left, height) = self.chain(op, level, left, height)?;
            } else {
                self.advance();
                self.height = 0;
                let right = self.expr(if matches!(assoc(op), Assoc::Right) { level } else { level + 1 })?;
                height = height.max(self.height) + 1;
                left = if swapped { swap(op, left, right) } else { binary(op, left, right) };
            }
            if height > MAX_DEPTH {
                return Err(self.too_deep(self.last()));
            }
            if level == COMPARISON
                && let Some((next, _)) = operator(self.peek())
                && priority(next) == COMPARISON
            {
                return Err(self.chained());
            }
        }
        self.height = height;
        Ok(left)
    }

    /// `left op b op c …` for one associative operator.
    fn chain(&mut self, op: BinOp, level: u8, left: Expr, height: u32) -> Res<(Expr, u32)> {
        let kind = self.peek();
        let mut operands = vec![left];
        let mut highest = height;
        while self.eat(kind) {
            self.height = 0;
            operands.push(self.expr(level + 1)?);
            highest = highest.max(self.height);
        }
        let count = operands.len();
        let grown = if count > 64 { 64 + count.ilog2() } else { count as u32 };
        Ok((fold(op, operands), highest + grown))
    }

    fn chained(&self) -> Fail {
        Box::new(
            Diagnostic::error("B0101", self.here(), "comparisons cannot be chained")
                .help("write `a < b & b < c`, or put one comparison in `bool(…)`"),
        )
    }

    fn prefixed(&mut self) -> Res<Expr> {
        if self.peek() != T::Op(BinOp::Sub) {
            return self.postfixed();
        }
        let minus = self.advance();
        let start = self.span_of(minus);
        let inner = self.nested(Self::prefixed)?;
        self.height += 1;
        Ok(unary(UnOp::Neg, inner, start))
    }

    /// An operand and what stands behind it.
    pub(super) fn postfixed(&mut self) -> Res<Expr> {
        let mut e = self.atom()?;
        loop {
            match self.peek() {
                T::Tilde => {
                    self.advance();
                    let end = self.last();
                    e = unary(UnOp::Inverse, e, end);
                }
                T::LParen => {
                    let (args, end) = self.arguments()?;
                    let span = e.span.to(end);
                    e = Expr { kind: ExprKind::Apply(Box::new(e), args), span };
                }
                T::LBracket => {
                    self.advance();
                    let set = self.expr_in_brackets()?;
                    let end = self.expect(T::RBracket, "`]` after the argument of an image")?;
                    let span = e.span.to(end);
                    e = Expr { kind: ExprKind::Image(Box::new(e), Box::new(set)), span };
                }
                T::Prime => {
                    self.advance();
                    let field = self.name("a field name after `'`")?;
                    let span = e.span.to(field.span);
                    e = Expr { kind: ExprKind::Field(Box::new(e), field), span };
                }
                _ => return Ok(e),
            }
            self.height += 1;
            if self.height > MAX_DEPTH {
                return Err(self.too_deep(e.span));
            }
        }
    }

    /// `(a, b, c)` with at least one argument.
    fn arguments(&mut self) -> Res<(Vec<Expr>, Span)> {
        let open = self.expect(T::LParen, "`(`")?;
        let args = self.list(T::RParen)?;
        let end = self.close(T::RParen, open)?;
        if args.is_empty() {
            return Err(Box::new(
                Diagnostic::error("B0101", open.to(end), "an argument is missing between the parentheses")
                    .help("functions have arguments; operations and definitions without them are called without `()`"),
            ));
        }
        Ok((args, end))
    }

    /// Expressions between commas, up to but without the closing bracket.
    fn list(&mut self, close: T) -> Res<Vec<Expr>> {
        let mut items = vec![];
        if self.peek() == close {
            return Ok(items);
        }
        items.push(self.expr_in_brackets()?);
        while self.eat(T::Comma) {
            items.push(self.expr_in_brackets()?);
        }
        Ok(items)
    }

    fn close(&mut self, close: T, open: Span) -> Res<Span> {
        let what = match close {
            T::RParen => "`)`",
            T::RBrace => "`}`",
            _ => "`]`",
        };
        self.expect(close, what).map_err(|fail| Box::new(fail.note(open, "to close this one")))
    }

    fn atom(&mut self) -> Res<Expr> {
        let token = self.token(self.at);
        let span = self.span_of(token);
        let simple = |kind| Ok(Expr { kind, span });
        match token.kind {
            T::Ident | T::Quoted => self.named(),
            T::Int => {
                self.advance();
                simple(ExprKind::Int(number(self.text_of(token), 10)))
            }
            T::Hex => {
                self.advance();
                simple(ExprKind::Int(number(&self.text_of(token)[2..], 16)))
            }
            T::Real => {
                self.advance();
                simple(ExprKind::Real(Arc::from(self.text_of(token))))
            }
            T::Str => {
                self.advance();
                simple(ExprKind::Str(Arc::from(unescape(strip(self.text_of(token), "\"")))))
            }
            T::MultiStr => {
                self.advance();
                simple(ExprKind::Str(Arc::from(unescape(strip(self.text_of(token), "'''")))))
            }
            T::Template => {
                let inner = strip(self.text_of(token), "```");
                if inner.contains("${") || inner.contains("$«") {
                    return Err(Box::new(
                        Diagnostic::error("B0401", span, "template strings with `${…}` are not supported")
                            .help("write a plain string"),
                    ));
                }
                self.advance();
                simple(ExprKind::Str(Arc::from(unescape(inner))))
            }
            T::Lit(lit @ (Lit::Succ | Lit::Pred)) if self.peek_at(1) == T::LParen => {
                self.advance();
                let fun = if lit == Lit::Succ { Fun::Succ } else { Fun::Pred };
                self.call(fun, span)
            }
            T::Lit(lit) => {
                self.advance();
                simple(ExprKind::Lit(lit))
            }
            T::Fun(fun) => {
                self.advance();
                self.call(fun, span)
            }
            T::LParen => self.parenthesised(),
            T::LBrace => self.braces(),
            T::LBracket => self.brackets(),
            T::Forall => self.quantifier(Quant::Forall),
            T::Exists => self.quantifier(Quant::Exists),
            T::Lambda => self.binder(Binder::Lambda),
            T::Kw(Kw::Sigma) => self.binder(Binder::Sigma),
            T::Kw(Kw::Pi) => self.binder(Binder::Pi),
            T::Kw(Kw::Union) => self.binder(Binder::Union),
            T::Kw(Kw::Inter) => self.binder(Binder::Inter),
            T::Not => self.negation(),
            T::Kw(Kw::Bool) => {
                self.advance();
                let open = self.expect(T::LParen, "`(` after `bool`")?;
                let p = self.expr(TOP)?;
                let end = self.close(T::RParen, open)?;
                Ok(Expr { kind: ExprKind::Bool(Box::new(p)), span: span.to(end) })
            }
            T::Kw(Kw::Rec) => self.record(ExprKind::Rec),
            T::Kw(Kw::Struct) => self.record(ExprKind::Struct),
            T::Kw(Kw::If) => self.if_expr(),
            T::Kw(Kw::Let) => self.let_expr(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn named(&mut self) -> Res<Expr> {
        let name = self.dotted("a name")?;
        if self.eat(T::DollarZero) {
            let span = name.span.to(self.last());
            return Ok(Expr { kind: ExprKind::Old(name.name), span });
        }
        Ok(Expr { span: name.span, kind: ExprKind::Name(name.name) })
    }

    fn call(&mut self, fun: Fun, start: Span) -> Res<Expr> {
        if self.peek() != T::LParen {
            let what = format!("`(` after the function `{}`", fun_name(fun));
            return Err(self.unexpected(&what));
        }
        let (args, end) = self.arguments()?;
        let span = start.to(end);
        let wanted = match fun {
            Fun::Prj1 | Fun::Prj2 => 1..=2,
            Fun::Iterate => 2..=2,
            _ => 1..=1,
        };
        if wanted.contains(&args.len()) {
            return Ok(Expr { kind: ExprKind::Call(fun, args), span });
        }
        let (lo, hi) = (wanted.start(), wanted.end());
        let count = if lo == hi { lo.to_string() } else { format!("{lo} or {hi}") };
        let message = format!("`{}` takes {count} argument(s), not {}", fun_name(fun), args.len());
        let d = Diagnostic::error("B0101", span, message);
        Err(Box::new(match fun {
            Fun::Max | Fun::Min => d.help("give it a set: `max({a, b})`"),
            _ => d,
        }))
    }

    /// `(E)`, `(P)` or the pairs `(a, b, c)`.
    fn parenthesised(&mut self) -> Res<Expr> {
        let open = self.expect(T::LParen, "`(`")?;
        let mut e = self.pairs(open)?;
        let end = self.close(T::RParen, open)?;
        e.span = open.to(end);
        Ok(e)
    }

    /// `a, b, c` as pairs, after an opening bracket.
    fn pairs(&mut self, open: Span) -> Res<Expr> {
        let mut e = self.expr_in_brackets()?;
        while self.eat(T::Comma) {
            let right = self.expr_in_brackets()?;
            e = binary(BinOp::Pair, e, right);
            self.height += 1;
            if self.height > MAX_DEPTH {
                return Err(self.too_deep(open));
            }
        }
        Ok(e)
    }

    /// `{}`, `{a, b}`, `{x, y | P}`, `{x, y . P | E}`
    fn braces(&mut self) -> Res<Expr> {
        let at = self.at;
        let open = self.expect(T::LBrace, "`{`")?;
        if self.eat(T::RBrace) {
            return Ok(Expr { kind: ExprKind::Lit(Lit::EmptySet), span: open.to(self.last()) });
        }
        if self.layout.with_bar.contains(&at) && self.names_then_dot() {
            let names = self.names("a name")?;
            return self.mapped(open, names);
        }
        let items = self.list(T::RBrace)?;
        match self.peek() {
            T::Bar => {
                let names = bound_names(items)?;
                self.advance();
                let p = self.expr(TOP)?;
                let end = self.close(T::RBrace, open)?;
                Ok(Expr { kind: ExprKind::Compr(names, Box::new(p)), span: open.to(end) })
            }
            T::Dot | T::Dot2 => {
                let names = bound_names(items)?;
                self.mapped(open, names)
            }
            _ => {
                let end = self.close(T::RBrace, open)?;
                Ok(Expr { kind: ExprKind::SetExt(items), span: open.to(end) })
            }
        }
    }

    /// Whether names and then a dot follow. Only asked inside `{ … | … }`, where `x.P` cannot
    /// be a name with a prefix.
    fn names_then_dot(&self) -> bool {
        let mut ahead = 0;
        while Self::is_name(self.peek_at(ahead)) {
            match self.peek_at(ahead + 1) {
                T::Comma => ahead += 2,
                T::Dot | T::Dot2 => return true,
                _ => return false,
            }
        }
        false
    }

    fn mapped(&mut self, open: Span, names: Vec<Ident>) -> Res<Expr> {
        self.advance();
        let p = self.expr(TOP)?;
        self.expect(T::Bar, "`|` and an expression")?;
        let e = self.expr_in_brackets()?;
        let end = self.close(T::RBrace, open)?;
        Ok(Expr { kind: ExprKind::ComprMap(names, Box::new(p), Box::new(e)), span: open.to(end) })
    }

    fn brackets(&mut self) -> Res<Expr> {
        let open = self.expect(T::LBracket, "`[`")?;
        if self.eat(T::RBracket) {
            return Ok(Expr { kind: ExprKind::Lit(Lit::EmptySeq), span: open.to(self.last()) });
        }
        let items = self.list(T::RBracket)?;
        if self.peek() == T::Assign {
            return Err(Box::new(Diagnostic::error(
                "B0402",
                open.to(self.here()),
                "a substitution applied to a predicate, `[x := E]P`, is not supported",
            )));
        }
        let end = self.close(T::RBracket, open)?;
        Ok(Expr { kind: ExprKind::SeqExt(items), span: open.to(end) })
    }

    /// `x`, `x, y` or `(x, y)`, then the dot.
    fn bound(&mut self, what: &str) -> Res<Vec<Ident>> {
        let open = self.here();
        let names = if self.eat(T::LParen) {
            let names = self.names("the name of a bound variable")?;
            self.close(T::RParen, open)?;
            names
        } else {
            self.names("the name of a bound variable")?
        };
        if !self.eat(T::Dot2) {
            self.expect(T::Dot, &format!("`.` after the variables of {what}"))?;
        }
        if self.peek() != T::LParen {
            let fail = self.unexpected(&format!("`(` after the dot of {what}"));
            return Err(Box::new(match fail.help {
                Some(_) => *fail,
                None => fail.help("the body stands in parentheses: `!x.(P => Q)`, `%x.(P | E)`"),
            }));
        }
        Ok(names)
    }

    fn quantifier(&mut self, quant: Quant) -> Res<Expr> {
        let token = self.advance();
        let start = self.span_of(token);
        let names = self.bound("a quantifier")?;
        let open = self.expect(T::LParen, "`(`")?;
        let p = self.expr(TOP)?;
        let end = self.close(T::RParen, open)?;
        Ok(Expr { kind: ExprKind::Quant(quant, names, Box::new(p)), span: start.to(end) })
    }

    fn binder(&mut self, binder: Binder) -> Res<Expr> {
        let token = self.advance();
        let start = self.span_of(token);
        let names = self.bound("this operator")?;
        let open = self.expect(T::LParen, "`(`")?;
        let p = self.expr(TOP)?;
        self.expect(T::Bar, "`|` between the predicate and the expression")?;
        // `%x.(P | a, b)`: pairs without parentheses of their own, as Atelier B has them.
        let e = self.pairs(open)?;
        let end = self.close(T::RParen, open)?;
        Ok(Expr { kind: ExprKind::Bind(binder, names, Box::new(p), Box::new(e)), span: start.to(end) })
    }

    fn negation(&mut self) -> Res<Expr> {
        let token = self.advance();
        let start = self.span_of(token);
        if self.peek() != T::LParen {
            let fail = self.unexpected("`(` after `not`");
            return Err(Box::new(fail.help("write `not(P)`")));
        }
        let p = self.parenthesised()?;
        Ok(unary(UnOp::Not, p, start))
    }

    /// `rec(a: E, b: F)` and `struct(…)`; each entry may stand in parentheses.
    fn record(&mut self, build: fn(Vec<(Ident, Expr)>) -> ExprKind) -> Res<Expr> {
        let token = self.advance();
        let start = self.span_of(token);
        let open = self.expect(T::LParen, "`(` and the fields of a record")?;
        let mut fields = vec![];
        loop {
            let inner = self.here();
            let wrapped = self.eat(T::LParen);
            let name = self.name("a field name")?;
            self.expect(T::Op(BinOp::In), "`:` after the field name")?;
            fields.push((name, self.expr_in_brackets()?));
            if wrapped {
                self.close(T::RParen, inner)?;
            }
            if !self.eat(T::Comma) {
                break;
            }
        }
        let end = self.close(T::RParen, open)?;
        Ok(Expr { kind: build(fields), span: start.to(end) })
    }

    fn if_expr(&mut self) -> Res<Expr> {
        let token = self.advance();
        let start = self.span_of(token);
        let mut arms = vec![];
        loop {
            let condition = self.expr(TOP)?;
            self.expect_kw(Kw::Then, "`THEN`")?;
            arms.push((condition, self.expr(TOP)?));
            if !self.eat_kw(Kw::Elsif) {
                break;
            }
        }
        if self.peek() != T::Kw(Kw::Else) {
            let fail = self.unexpected("`ELSE`");
            return Err(Box::new(fail.help("IF as an expression or predicate always has an ELSE")));
        }
        self.advance();
        let mut e = self.expr(TOP)?;
        let end = self.expect_end(start, "IF")?;
        self.height += arms.len() as u32;
        if self.height > MAX_DEPTH {
            return Err(self.too_deep(start));
        }
        for (condition, then) in arms.into_iter().rev() {
            let kind = ExprKind::If(Box::new(condition), Box::new(then), Box::new(e));
            e = Expr { kind, span: start.to(end) };
        }
        Ok(e)
    }

    fn let_expr(&mut self) -> Res<Expr> {
        let token = self.advance();
        let start = self.span_of(token);
        let names = self.names("the name of a local variable")?;
        self.expect_kw(Kw::Be, "`BE`")?;
        let p = self.expr(TOP)?;
        self.expect_kw(Kw::In, "`IN`")?;
        let e = self.expr(TOP)?;
        let end = self.expect_end(start, "LET")?;
        Ok(Expr { kind: ExprKind::Let(names, Box::new(p), Box::new(e)), span: start.to(end) })
    }
}

fn unary(op: UnOp, inner: Expr, mark: Span) -> Expr {
    let span = if op == UnOp::Inverse { inner.span.to(mark) } else { mark.to(inner.span) };
    Expr { kind: ExprKind::Unary(op, Box::new(inner)), span }
}

fn swap(op: BinOp, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { span, ..binary(op, right, left) }
}

/// The variables of a comprehension, which were read as expressions: names, or pairs of names.
fn bound_names(items: Vec<Expr>) -> Res<Vec<Ident>> {
    let mut names = vec![];
    let mut todo: Vec<Expr> = items.into_iter().rev().collect();
    while let Some(e) = todo.pop() {
        match e.kind {
            ExprKind::Name(name) => names.push(Ident { name, span: e.span }),
            ExprKind::Binary(BinOp::Pair, left, right) => {
                todo.push(*right);
                todo.push(*left);
            }
            _ => {
                return Err(Box::new(
                    Diagnostic::error("B0101", e.span, "only names of variables can stand before the `|`")
                        .help("write `{x | x : S & P}`; for `{E | P}` use `{y | #x.(P & y = E)}`"),
                ));
            }
        }
    }
    Ok(names)
}

fn strip<'t>(text: &'t str, quote: &str) -> &'t str {
    let inner = text.strip_prefix(quote).unwrap_or(text);
    inner.strip_suffix(quote).unwrap_or(inner)
}

fn number(digits: &str, radix: u32) -> BigInt {
    // The lexer delivers digits only, so this cannot fail; zero is no answer but no panic either.
    BigInt::from_str_radix(digits, radix).unwrap_or_default()
}
