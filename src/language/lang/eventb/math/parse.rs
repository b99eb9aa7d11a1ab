//! Tokens to trees, by precedence climbing.
//!
//! Predicates and expressions are read by the same functions, since a parenthesis may hold either; what came out is
//! checked against what is wanted. Operators that are not compatible need parentheses, as in Rodin. Absent on purpose:
//! backtracking.

use super::lex::{At, T, Token, tokens};
use super::tree::{applied, balanced, finite, free, has_type, pair};
use super::words::{self, Infix, Sign, are_compatible};
use crate::lang::ast::{BinOp, Binder, Expr, ExprKind, Fun, Ident, Lit, Quant, UnOp};
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::eventb::formula::{comprehension, identity, join, partition, projection, with};
use crate::lang::eventb::project::ActionKind;
use crate::lang::eventb::shape::Res;
use crate::lang::stack::MAX_DEPTH;

/// Chains of one associative operator that are longer become trees of small height.
const LONG_CHAIN: usize = 100;

/// More parts than this are not made of one formula.
const MAX_PARTS: u64 = 1_000_000;

/// A predicate that stands alone in a text.
pub fn predicate(text: &str, at: At<'_>) -> Res<Expr> {
    let tokens = tokens(text, at, false).map_err(Box::new)?;
    predicate_of(&tokens, at.span(text.len(), text.len()))
}

/// An expression that stands alone in a text.
pub fn expression(text: &str, at: At<'_>) -> Res<Expr> {
    let tokens = tokens(text, at, false).map_err(Box::new)?;
    expression_of(&tokens, at.span(text.len(), text.len()))
}

/// An action that stands alone in a text; none for `skip`.
pub fn action(text: &str, at: At<'_>) -> Res<Option<ActionKind>> {
    let tokens = tokens(text, at, false).map_err(Box::new)?;
    action_of(&tokens, at.span(text.len(), text.len()))
}

/// A predicate that is all of these tokens; `end` is the place behind them.
pub fn predicate_of(tokens: &[Token], end: Span) -> Res<Expr> {
    whole(tokens, end, |p| {
        let node = p.formula()?;
        p.as_predicate(node)
    })
}

/// An expression that is all of these tokens.
pub fn expression_of(tokens: &[Token], end: Span) -> Res<Expr> {
    whole(tokens, end, |p| {
        let node = p.formula()?;
        p.as_expression(node)
    })
}

/// An action that is all of these tokens; none for `skip`.
pub fn action_of(tokens: &[Token], end: Span) -> Res<Option<ActionKind>> {
    match tokens {
        [Token { t: T::Name(word), .. }] if word.eq_ignore_ascii_case("skip") => Ok(None),
        _ => whole(tokens, end, |p| p.action()).map(Some),
    }
}

fn whole<X>(tokens: &[Token], end: Span, read: impl FnOnce(&mut Parser<'_>) -> Res<X>) -> Res<X> {
    let mut parser = Parser { tokens, at: 0, end, depth: 0 };
    let result = read(&mut parser)?;
    match parser.tokens.get(parser.at) {
        None => Ok(result),
        Some(_) => Err(parser.expected("an operator or the end of the formula")),
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    end: Span,
    depth: u32,
}

struct Node {
    e: Expr,
    is_predicate: bool,
    size: Size,
}

/// How high a tree is, and how many parts it has: `finite` and `partition` repeat theirs.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    height: u32,
    parts: u64,
}

impl Size {
    const ONE: Size = Size { height: 1, parts: 1 };

    fn and(self, other: Size) -> Size {
        Size { height: self.height.max(other.height), parts: self.parts.saturating_add(other.parts) }
    }

    /// So many levels and times more.
    fn grown(self, levels: u32, times: u64) -> Size {
        Size { height: self.height + levels, parts: self.parts.saturating_mul(times) }
    }
}

/// Names that something binds, with the types that were written.
#[derive(Default)]
struct Bound {
    ids: Vec<Ident>,
    types: Vec<Expr>,
}

impl Bound {
    /// The predicate with the types in it.
    fn typed(self, p: Expr, op: BinOp) -> (Vec<Ident>, Expr) {
        let span = p.span;
        let p = match self.types.is_empty() {
            true => p,
            false => with(op, join(BinOp::And, Lit::BTrue, self.types, span), p, span),
        };
        (self.ids, p)
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<&T> {
        self.tokens.get(self.at).map(|t| &t.t)
    }

    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |t| t.span)
    }

    /// The place of what was read last.
    fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(self.end, |t| t.span)
    }

    fn is(&self, sign: Sign) -> bool {
        self.peek() == Some(&T::Sign(sign))
    }

    fn takes(&mut self, sign: Sign) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn expected(&self, wanted: &str) -> Box<Diagnostic> {
        let (span, found) = match self.tokens.get(self.at) {
            Some(token) => (token.span, token.show()),
            None => (self.end, "the end of the formula".to_string()),
        };
        Box::new(Diagnostic::error("B0102", span, format!("expected {wanted}, found {found}")))
    }

    fn expect(&mut self, sign: Sign) -> Res<()> {
        match self.takes(sign) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{}`", words::spelling(sign).unwrap_or("?")))),
        }
    }

    /// Something whose parts have this size together.
    fn node(&self, kind: ExprKind, span: Span, is_predicate: bool, size: Size) -> Res<Node> {
        if size.height >= MAX_DEPTH {
            return Err(too_deep(span));
        }
        let size = Size { height: size.height + 1, parts: size.parts.saturating_add(1) };
        Ok(Node { e: Expr { kind, span }, is_predicate, size })
    }

    /// Before something is made that repeats its parts.
    fn may_grow(&self, size: Size, span: Span) -> Res<Size> {
        match size.parts > MAX_PARTS {
            true => Err(Box::new(Diagnostic::error("B0106", span, "this stands for too much"))),
            false => Ok(size),
        }
    }

    fn as_predicate(&self, node: Node) -> Res<Expr> {
        match node.is_predicate {
            true => Ok(node.e),
            false => {
                let message = "expected a predicate, found an expression";
                Err(Box::new(
                    Diagnostic::error("B0102", node.e.span, message)
                        .help("a value of type BOOL becomes a predicate with `= TRUE`"),
                ))
            }
        }
    }

    fn as_expression(&self, node: Node) -> Res<Expr> {
        match node.is_predicate {
            false => Ok(node.e),
            true => {
                let message = "expected an expression, found a predicate";
                Err(Box::new(
                    Diagnostic::error("B0102", node.e.span, message)
                        .help("a predicate becomes a value of type BOOL with `bool(…)`"),
                ))
            }
        }
    }

    /// Anything: what stands alone or in parentheses.
    fn formula(&mut self) -> Res<Node> {
        self.infix(0)
    }

    fn predicate(&mut self) -> Res<(Expr, Size)> {
        let node = self.formula()?;
        let size = node.size;
        Ok((self.as_predicate(node)?, size))
    }

    fn expression(&mut self) -> Res<(Expr, Size)> {
        let node = self.formula()?;
        let size = node.size;
        Ok((self.as_expression(node)?, size))
    }

    fn operator(&self) -> Option<Infix> {
        match self.peek()? {
            T::Sign(Sign::Op(op)) => Some(Infix::Op(*op)),
            T::Sign(Sign::Ring) => Some(Infix::Ring),
            T::Sign(Sign::OfType) => Some(Infix::Typed),
            _ => None,
        }
    }

    /// A formula whose operators outside parentheses bind at least so tightly.
    fn infix(&mut self, least: u8) -> Res<Node> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep(self.here()));
        }
        self.depth += 1;
        let result = self.infix_here(least);
        self.depth -= 1;
        result
    }

    fn infix_here(&mut self, least: u8) -> Res<Node> {
        let (mut left, mut last) = self.operand(least)?;
        while let Some(op) = self.operator().filter(|op| op.priority() >= least) {
            if let Some(last) = last.filter(|l| l.priority() == op.priority() && !are_compatible(*l, op)) {
                return Err(self.incompatible(last, op));
            }
            last = Some(op);
            let mut parts = vec![left];
            while self.operator() == Some(op) && (parts.len() == 1 || are_compatible(op, op)) {
                self.at += 1;
                parts.push(self.infix(op.priority() + 1)?);
            }
            left = self.joined(op, parts)?;
        }
        Ok(left)
    }

    fn incompatible(&self, left: Infix, right: Infix) -> Box<Diagnostic> {
        let (a, b) = (left.spelling(), right.spelling());
        let message = format!("`{a}` and `{b}` beside each other need parentheses");
        let help = format!("write `(x {a} y) {b} z` or `x {a} (y {b} z)`");
        Box::new(Diagnostic::error("B0102", self.here(), message).help(help))
    }

    /// Operands of a chain of one operator.
    fn joined(&self, op: Infix, parts: Vec<Node>) -> Res<Node> {
        let wants_predicates = matches!(op, Infix::Op(BinOp::And | BinOp::Or | BinOp::Implies | BinOp::Iff));
        let is_predicate = op.priority() <= words::COMPARISON;
        let mut operands = Vec::with_capacity(parts.len());
        for part in parts {
            let size = part.size;
            operands.push(match wants_predicates {
                true => (self.as_predicate(part)?, size),
                false => (self.as_expression(part)?, size),
            });
        }
        let is_long = operands.len() > LONG_CHAIN;
        let is_associative = matches!(
            op,
            Infix::Op(
                BinOp::Union | BinOp::Inter | BinOp::Add | BinOp::Mul | BinOp::Compose | BinOp::Override
            )
        );
        if let Infix::Op(bin) = op
            && (matches!(bin, BinOp::And | BinOp::Or) || is_associative && is_long)
        {
            let levels = operands.len().next_power_of_two().trailing_zeros();
            let size = operands.iter().map(|(_, size)| *size).fold(Size::default(), Size::and);
            let size = size.and(Size { parts: operands.len() as u64, height: 0 }).grown(levels, 1);
            let parts = operands.into_iter().map(|(e, _)| e).collect();
            let Some(e) = balanced(bin, parts) else { return Err(self.expected("an operand")) };
            return self.node(e.kind, e.span, is_predicate, size);
        }
        let mut operands = operands.into_iter();
        let Some((mut e, mut size)) = operands.next() else { return Err(self.expected("an operand")) };
        for (b, other) in operands {
            let span = e.span.to(b.span);
            let (a, b) = (Box::new(e), Box::new(b));
            let kind = match op {
                Infix::Op(bin) => ExprKind::Binary(bin, a, b),
                Infix::Ring => ExprKind::Binary(BinOp::Compose, b, a),
                Infix::Typed => ExprKind::Typed(a, b),
            };
            Node { e, size, .. } = self.node(kind, span, is_predicate, size.and(other))?;
        }
        Ok(Node { e, is_predicate, size })
    }

    /// What an operator stands before or behind; also the operator that it is itself, where that is a minus.
    fn operand(&mut self, least: u8) -> Res<(Node, Option<Infix>)> {
        let start = self.here();
        let needs = |what: &str, limit: u8| match least > limit {
            true => Err(Box::new(
                Diagnostic::error("B0102", start, format!("{what} needs parentheses here"))
                    .help("write `(…)` around it"),
            )),
            false => Ok(()),
        };
        let Some(T::Sign(sign)) = self.peek() else {
            let primary = self.primary()?;
            return Ok((self.postfix(primary)?, None));
        };
        let sign = *sign;
        match sign {
            Sign::Op(BinOp::Sub) => {
                needs("a negative number", words::SUM)?;
                self.at += 1;
                let from = self.at;
                let node = self.infix(words::TERM)?;
                let is_literal = self.at == from + 1;
                let size = node.size;
                let e = self.as_expression(node)?;
                let span = start.to(e.span);
                let kind = match e.kind {
                    ExprKind::Int(i) if is_literal => ExprKind::Int(-i),
                    kind => ExprKind::Unary(UnOp::Neg, Box::new(Expr { kind, span: e.span })),
                };
                Ok((self.node(kind, span, false, size)?, Some(Infix::Op(BinOp::Sub))))
            }
            Sign::Not => {
                needs("a negation", words::NEGATION)?;
                self.at += 1;
                let node = self.infix(words::NEGATION)?;
                let size = node.size;
                let p = self.as_predicate(node)?;
                let span = start.to(p.span);
                let node = self.node(ExprKind::Unary(UnOp::Not, Box::new(p)), span, true, size)?;
                Ok((node, None))
            }
            Sign::Forall | Sign::Exists => {
                needs("a quantifier", 0)?;
                self.at += 1;
                let bound = self.names()?;
                self.expect(Sign::Dot)?;
                let (p, size) = self.predicate()?;
                let span = start.to(p.span);
                let (q, op) = match sign {
                    Sign::Forall => (Quant::Forall, BinOp::Implies),
                    _ => (Quant::Exists, BinOp::And),
                };
                let (ids, p) = bound.typed(p, op);
                Ok((self.node(ExprKind::Quant(q, ids, Box::new(p)), span, true, size.grown(2, 1))?, None))
            }
            Sign::Lambda => {
                needs("a function (`λ`)", 0)?;
                self.at += 1;
                let mut bound = Bound::default();
                let (pattern, size) = self.pattern(&mut bound)?;
                self.distinct(&bound.ids)?;
                self.expect(Sign::Dot)?;
                let (p, of_p) = self.predicate()?;
                self.expect(Sign::Bar)?;
                let (e, of_e) = self.expression()?;
                let span = start.to(e.span);
                let (ids, p) = bound.typed(p, BinOp::And);
                let value = with(BinOp::Pair, pattern, e, span);
                let size = size.and(of_p).and(of_e).grown(3, 1);
                Ok((self.node(comprehension(ids, p, value), span, false, size)?, None))
            }
            Sign::BigUnion | Sign::BigInter => {
                needs("a quantified union or intersection", 0)?;
                self.at += 1;
                let (ids, p, e, size) = self.bound_set()?;
                let binder = if sign == Sign::BigUnion { Binder::Union } else { Binder::Inter };
                let span = start.to(self.before());
                let kind = ExprKind::Bind(binder, ids, Box::new(p), Box::new(e));
                Ok((self.node(kind, span, false, size)?, None))
            }
            _ => {
                let primary = self.primary()?;
                Ok((self.postfix(primary)?, None))
            }
        }
    }

    /// `x, y·P∣E` or `E∣P`: the names, the predicate, the expression.
    fn bound_set(&mut self) -> Res<(Vec<Ident>, Expr, Expr, Size)> {
        let head = self.list()?;
        self.bound_by(head)
    }

    /// The same behind the list that it begins with.
    fn bound_by(&mut self, head: Vec<Node>) -> Res<(Vec<Ident>, Expr, Expr, Size)> {
        if self.is(Sign::Dot) {
            let mut bound = Bound::default();
            for node in head {
                self.bind(node, &mut bound)?;
            }
            self.distinct(&bound.ids)?;
            self.expect(Sign::Dot)?;
            let (p, of_p) = self.predicate()?;
            self.expect(Sign::Bar)?;
            let (e, of_e) = self.expression()?;
            let (ids, p) = bound.typed(p, BinOp::And);
            return Ok((ids, p, e, of_p.and(of_e).grown(2, 1)));
        }
        let bar = self.here();
        if !self.is(Sign::Bar) {
            return Err(self.expected("`·` or `∣`"));
        }
        let mut head = head.into_iter();
        let (Some(first), None) = (head.next(), head.next()) else {
            let message = "a list of names is followed by `·`, a predicate, `∣` and an expression";
            let help = "write `{x ↦ y ∣ P}` for the couples that fulfil P";
            return Err(Box::new(Diagnostic::error("B0102", bar, message).help(help)));
        };
        self.expect(Sign::Bar)?;
        let (p, of_p) = self.predicate()?;
        let size = first.size.and(of_p);
        let e = self.as_expression(first)?;
        let mut names = vec![];
        free(&e, &mut vec![], &mut names);
        if names.is_empty() {
            let message = "this binds no name: there is none in the expression before `∣`";
            return Err(Box::new(Diagnostic::error("B0102", e.span, message)));
        }
        if let Some(id) = names.iter().find(|id| id.name.contains('\'')) {
            let message = format!("`{}` is a new value and cannot be bound", id.name);
            return Err(Box::new(Diagnostic::error("B0102", id.span, message)));
        }
        Ok((names, p, e, size))
    }

    fn list(&mut self) -> Res<Vec<Node>> {
        let mut all = vec![self.formula()?];
        while self.takes(Sign::Comma) {
            all.push(self.formula()?);
        }
        Ok(all)
    }

    /// A name that is bound, which was read as an expression.
    fn bind(&self, node: Node, bound: &mut Bound) -> Res<()> {
        let span = node.e.span;
        let (name, ty) = match node.e.kind {
            ExprKind::Name(name) => (Some(name), None),
            ExprKind::Typed(e, ty) => match e.kind {
                ExprKind::Name(name) => (Some(name), Some(*ty)),
                _ => (None, None),
            },
            _ => (None, None),
        };
        let Some(name) = name.filter(|name| !name.contains('\'')) else {
            let message = "expected a name before `·`";
            return Err(Box::new(Diagnostic::error("B0102", span, message)));
        };
        bound.types.extend(ty.map(|ty| has_type(&name, ty, span)));
        bound.ids.push(Ident { name, span });
        Ok(())
    }

    fn names(&mut self) -> Res<Bound> {
        let mut bound = Bound::default();
        loop {
            self.name(&mut bound)?;
            if !self.takes(Sign::Comma) {
                break;
            }
        }
        self.distinct(&bound.ids)?;
        Ok(bound)
    }

    fn name(&mut self, bound: &mut Bound) -> Res<Ident> {
        let span = self.here();
        let name = match self.peek() {
            Some(T::Name(name)) if !name.contains('\'') => name.clone(),
            _ => return Err(self.expected("a name")),
        };
        self.at += 1;
        if self.takes(Sign::OfType) {
            let node = self.infix(words::RELATION)?;
            let ty = self.as_expression(node)?;
            bound.types.push(has_type(&name, ty, span));
        }
        let id = Ident { name, span };
        bound.ids.push(id.clone());
        Ok(id)
    }

    fn distinct(&self, ids: &[Ident]) -> Res<()> {
        for (i, id) in ids.iter().enumerate() {
            if ids[..i].iter().any(|other| other.name == id.name) {
                let message = format!("`{}` is bound twice", id.name);
                return Err(Box::new(Diagnostic::error("B0202", id.span, message)));
            }
        }
        Ok(())
    }

    /// What `λ` binds: names, in couples.
    fn pattern(&mut self, bound: &mut Bound) -> Res<(Expr, Size)> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep(self.here()));
        }
        self.depth += 1;
        let mut whole: Option<(Expr, Size)> = None;
        loop {
            let (part, size) = if self.takes(Sign::Open) {
                let part = self.pattern(bound)?;
                self.expect(Sign::Close)?;
                part
            } else {
                let id = self.name(bound)?;
                (Expr { kind: ExprKind::Name(id.name), span: id.span }, Size::ONE)
            };
            whole = Some(match whole {
                None => (part, size),
                Some((before, other)) => {
                    let span = before.span.to(part.span);
                    let Node { e, size, .. } = self.node(pair(before, part), span, false, size.and(other))?;
                    (e, size)
                }
            });
            if !self.takes(Sign::Op(BinOp::Pair)) {
                break;
            }
        }
        self.depth -= 1;
        whole.ok_or_else(|| self.expected("a name"))
    }

    /// `(…)`, `[…]` and `∼` behind something.
    fn postfix(&mut self, mut node: Node) -> Res<Node> {
        loop {
            let is_image = self.is(Sign::OpenImage);
            if self.takes(Sign::Inverse) {
                let span = node.e.span.to(self.before());
                let size = node.size;
                let e = self.as_expression(node)?;
                node = self.node(ExprKind::Unary(UnOp::Inverse, Box::new(e)), span, false, size)?;
            } else if is_image || self.is(Sign::Open) && !node.is_predicate {
                self.at += 1;
                let (arg, size) = self.expression()?;
                if self.is(Sign::Comma) && !is_image {
                    let message = "a function has one argument";
                    let help = "write `f(x ↦ y)` for a function of couples";
                    return Err(Box::new(Diagnostic::error("B0102", self.here(), message).help(help)));
                }
                self.expect(if is_image { Sign::CloseImage } else { Sign::Close })?;
                let span = node.e.span.to(self.before());
                let size = node.size.and(size);
                let f = self.as_expression(node)?;
                let kind = match is_image {
                    true => ExprKind::Image(Box::new(f), Box::new(arg)),
                    false => applied(f, arg),
                };
                node = self.node(kind, span, false, size)?;
            } else {
                return Ok(node);
            }
        }
    }

    fn primary(&mut self) -> Res<Node> {
        let start = self.here();
        let Some(t) = self.peek().cloned() else { return Err(self.expected("a formula")) };
        let atom = |kind| Ok(Node { e: Expr { kind, span: start }, is_predicate: false, size: Size::ONE });
        let sign = match t {
            T::Name(name) => {
                self.at += 1;
                return atom(ExprKind::Name(name));
            }
            T::Int(i) => {
                self.at += 1;
                return atom(ExprKind::Int(i));
            }
            T::Sign(sign) => sign,
            T::Label(_) => return Err(self.expected("a formula")),
        };
        match sign {
            Sign::Lit(lit) => {
                self.at += 1;
                let is_predicate = matches!(lit, Lit::BTrue | Lit::BFalse);
                Ok(Node { e: Expr { kind: ExprKind::Lit(lit), span: start }, is_predicate, size: Size::ONE })
            }
            Sign::Generic(fun) => {
                self.at += 1;
                match fun {
                    Fun::Id => atom(identity(start).kind),
                    fun => atom(projection(fun, start).kind),
                }
            }
            Sign::Fun(fun) => {
                self.at += 1;
                self.expect(Sign::Open)?;
                let (e, size) = self.expression()?;
                self.expect(Sign::Close)?;
                self.node(ExprKind::Call(fun, vec![e]), start.to(self.before()), false, size)
            }
            Sign::Bool => {
                self.at += 1;
                self.expect(Sign::Open)?;
                let (p, size) = self.predicate()?;
                self.expect(Sign::Close)?;
                self.node(ExprKind::Bool(Box::new(p)), start.to(self.before()), false, size)
            }
            Sign::Finite => {
                self.at += 1;
                self.expect(Sign::Open)?;
                let (s, size) = self.expression()?;
                self.expect(Sign::Close)?;
                let span = start.to(self.before());
                let size = self.may_grow(size.grown(1, 2), span)?;
                self.node(finite(s, span), span, true, size)
            }
            Sign::Partition => {
                self.at += 1;
                self.expect(Sign::Open)?;
                let mut parts = vec![];
                let mut size = Size::default();
                loop {
                    let (e, of_e) = self.expression()?;
                    size = size.and(of_e);
                    parts.push(e);
                    if !self.takes(Sign::Comma) {
                        break;
                    }
                }
                self.expect(Sign::Close)?;
                let span = start.to(self.before());
                let set = parts.remove(0);
                let levels = parts.len().max(1).next_power_of_two().trailing_zeros() * 2;
                let size = self.may_grow(size.grown(levels + 4, 2 + parts.len() as u64), span)?;
                self.node(partition(set, parts, span).kind, span, true, size)
            }
            Sign::Cond => {
                self.at += 1;
                self.expect(Sign::Open)?;
                let (c, of_c) = self.predicate()?;
                self.expect(Sign::Comma)?;
                let (a, of_a) = self.expression()?;
                self.expect(Sign::Comma)?;
                let (b, of_b) = self.expression()?;
                self.expect(Sign::Close)?;
                let kind = ExprKind::If(Box::new(c), Box::new(a), Box::new(b));
                self.node(kind, start.to(self.before()), false, of_c.and(of_a).and(of_b))
            }
            Sign::Open => {
                self.at += 1;
                let node = self.formula()?;
                self.expect(Sign::Close)?;
                Ok(node)
            }
            Sign::OpenSet => {
                self.at += 1;
                self.set(start)
            }
            _ => Err(self.expected("a formula")),
        }
    }

    /// A set in braces, behind the first of them.
    fn set(&mut self, start: Span) -> Res<Node> {
        if self.takes(Sign::CloseSet) {
            return self.node(ExprKind::Lit(Lit::EmptySet), start.to(self.before()), false, Size::default());
        }
        let items = self.list()?;
        if self.takes(Sign::CloseSet) {
            let size = items.iter().map(|n| n.size).fold(Size::default(), Size::and);
            let items = items.into_iter().map(|n| self.as_expression(n)).collect::<Res<Vec<_>>>()?;
            return self.node(ExprKind::SetExt(items), start.to(self.before()), false, size);
        }
        if !self.is(Sign::Dot) && !self.is(Sign::Bar) {
            return Err(self.expected("`,`, `·`, `∣` or `}`"));
        }
        let (ids, p, e, size) = self.bound_by(items)?;
        self.expect(Sign::CloseSet)?;
        self.node(comprehension(ids, p, e), start.to(self.before()), false, size)
    }

    fn variable(&mut self) -> Res<Ident> {
        let span = self.here();
        match self.peek() {
            Some(T::Name(name)) if !name.contains('\'') => {
                let name = name.clone();
                self.at += 1;
                Ok(Ident { name, span })
            }
            _ => Err(self.expected("a variable")),
        }
    }

    fn action(&mut self) -> Res<ActionKind> {
        let first = self.variable()?;
        if self.takes(Sign::Open) {
            let (x, _) = self.expression()?;
            self.expect(Sign::Close)?;
            self.expect(Sign::Becomes)?;
            let (value, _) = self.expression()?;
            let span = first.span.to(value.span);
            let f = Expr { kind: ExprKind::Name(first.name.clone()), span: first.span };
            let couple = with(BinOp::Pair, x, value, span);
            let change = Expr { kind: ExprKind::SetExt(vec![couple]), span };
            return Ok(ActionKind::Assign(vec![(first, with(BinOp::Override, f, change, span))]));
        }
        let mut variables = vec![first];
        while self.takes(Sign::Comma) {
            variables.push(self.variable()?);
        }
        self.distinct(&variables)?;
        let at = self.here();
        if self.takes(Sign::Becomes) {
            let mut values = vec![];
            loop {
                values.push(self.expression()?.0);
                if !self.takes(Sign::Comma) {
                    break;
                }
            }
            if values.len() != variables.len() {
                let message = format!("{} variables but {} values", variables.len(), values.len());
                return Err(Box::new(Diagnostic::error("B0206", at, message)));
            }
            return Ok(ActionKind::Assign(variables.into_iter().zip(values).collect()));
        }
        if self.takes(Sign::BecomesIn) {
            let (set, _) = self.expression()?;
            let mut variables = variables.into_iter();
            let (Some(x), None) = (variables.next(), variables.next()) else {
                let message = "`:∈` has one variable before it";
                let help = "write `x, y :∣ x' ↦ y' ∈ S` for several";
                return Err(Box::new(Diagnostic::error("B0102", at, message).help(help)));
            };
            return Ok(ActionKind::Element(x, set));
        }
        if self.takes(Sign::BecomesSuch) {
            return Ok(ActionKind::Such(variables, self.predicate()?.0));
        }
        Err(self.expected("`≔`, `:∈` or `:∣`"))
    }
}

fn too_deep(span: Span) -> Box<Diagnostic> {
    let message = format!("this nests more than {MAX_DEPTH} levels deep");
    Box::new(Diagnostic::error("B0106", span, message))
}
