//! Substitutions. `||` binds tighter than `;`, and `;` is only read where a sequence may stand
//! (in blocks and INITIALISATION): between operations it separates them.

use super::super::lex::{Kw, T};
use super::expr::TOP;
use super::{Fail, Parser, Res};
use crate::lang::ast::{BinOp, Expr, ExprKind, Ident, Subst, SubstKind};
use crate::lang::diag::{Diagnostic, Span};

type Arms = Vec<(Expr, Subst)>;

impl Parser<'_> {
    /// `S ; T ; …`
    pub(super) fn sequence(&mut self) -> Res<Subst> {
        let first = self.parallel()?;
        if self.peek() != T::Semi {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.peek() == T::Semi {
            self.advance();
            let semi = self.last();
            if self.ends_block() {
                return Err(Box::new(
                    Diagnostic::error("B0101", semi, "a substitution is missing after this `;`")
                        .help("`;` stands between substitutions; remove it before the end of the block"),
                ));
            }
            if let Some(operation) = self.operation_header()
                && let Some(fail) = self.missing_end(semi, operation)
            {
                // Reading goes on at the `;` before it.
                self.at -= 1;
                return Err(fail);
            }
            parts.push(self.parallel()?);
        }
        let span = whole(&parts);
        Ok(Subst { kind: SubstKind::Seq(parts), span })
    }

    fn ends_block(&self) -> bool {
        use Kw::*;
        matches!(self.peek(), T::Kw(End | Else | Elsif | Or | When) | T::Clause(_) | T::Eof)
    }

    /// `S || T || …`
    pub(super) fn parallel(&mut self) -> Res<Subst> {
        let first = self.nested(Self::single)?;
        if self.peek() != T::Parallel {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat(T::Parallel) {
            parts.push(self.nested(Self::single)?);
        }
        let span = whole(&parts);
        Ok(Subst { kind: SubstKind::Par(parts), span })
    }

    fn single(&mut self) -> Res<Subst> {
        let T::Kw(kw) = self.peek() else { return self.simple() };
        self.blocks.push(self.here());
        let result = self.block(kw);
        self.blocks.pop();
        result
    }

    fn block(&mut self, kw: Kw) -> Res<Subst> {
        let start = self.here();
        let kind = match kw {
            Kw::Skip => {
                self.advance();
                SubstKind::Skip
            }
            Kw::Begin => {
                self.advance();
                let body = self.sequence()?;
                self.expect_end(start, "BEGIN")?;
                SubstKind::Block(Box::new(body))
            }
            Kw::Pre => {
                let (p, body) = self.guarded(start, "PRE")?;
                SubstKind::Pre(p, Box::new(body))
            }
            Kw::Assert => {
                let (p, body) = self.guarded(start, "ASSERT")?;
                SubstKind::Assert(p, Box::new(body))
            }
            Kw::Choice => {
                self.advance();
                let mut arms = vec![self.sequence()?];
                while self.eat_kw(Kw::Or) {
                    arms.push(self.sequence()?);
                }
                self.expect_end(start, "CHOICE")?;
                SubstKind::Choice(arms)
            }
            Kw::If => {
                let (arms, otherwise) = self.arms(Kw::Elsif)?;
                self.expect_end(start, "IF")?;
                SubstKind::If(arms, otherwise)
            }
            Kw::Select => {
                let (arms, otherwise) = self.arms(Kw::When)?;
                self.expect_end(start, "SELECT")?;
                SubstKind::Select(arms, otherwise)
            }
            Kw::Case => self.case(start)?,
            Kw::Any => {
                self.advance();
                let names = self.names("the name of a local variable")?;
                self.expect_kw(Kw::Where, "`WHERE` after the variables of ANY")?;
                let p = self.expr(TOP)?;
                self.expect_kw(Kw::Then, "`THEN`")?;
                let body = self.sequence()?;
                self.expect_end(start, "ANY")?;
                SubstKind::Any(names, p, Box::new(body))
            }
            Kw::Let => {
                self.advance();
                let names = self.names("the name of a local variable")?;
                self.expect_kw(Kw::Be, "`BE` after the variables of LET")?;
                let p = self.expr(TOP)?;
                self.expect_kw(Kw::In, "`IN`")?;
                let body = self.sequence()?;
                self.expect_end(start, "LET")?;
                SubstKind::Let(names, p, Box::new(body))
            }
            Kw::Var => {
                self.advance();
                let names = self.names("the name of a local variable")?;
                self.expect_kw(Kw::In, "`IN` after the variables of VAR")?;
                let body = self.sequence()?;
                self.expect_end(start, "VAR")?;
                SubstKind::Var(names, Box::new(body))
            }
            Kw::While => self.while_loop(start)?,
            Kw::Witness => {
                return Err(Box::new(Diagnostic::error("B0403", start, "WITNESS is not supported")));
            }
            _ => return Err(self.unexpected("a substitution")),
        };
        Ok(Subst { kind, span: start.to(self.last()) })
    }

    /// `PRE P THEN S END` and ASSERT alike.
    fn guarded(&mut self, start: Span, what: &str) -> Res<(Expr, Subst)> {
        self.advance();
        let p = self.expr(TOP)?;
        self.expect_kw(Kw::Then, "`THEN`")?;
        let body = self.sequence()?;
        self.expect_end(start, what)?;
        Ok((p, body))
    }

    /// `P THEN S again P THEN S ELSE S`, for IF … ELSIF and SELECT … WHEN.
    fn arms(&mut self, again: Kw) -> Res<(Arms, Option<Box<Subst>>)> {
        self.advance();
        let mut arms = vec![];
        loop {
            let p = self.expr(TOP)?;
            self.expect_kw(Kw::Then, "`THEN`")?;
            arms.push((p, self.sequence()?));
            if !self.eat_kw(again) {
                break;
            }
        }
        let otherwise = if self.eat_kw(Kw::Else) { Some(Box::new(self.sequence()?)) } else { None };
        Ok((arms, otherwise))
    }

    fn case(&mut self, start: Span) -> Res<SubstKind> {
        self.advance();
        let subject = self.expr_in_brackets()?;
        self.expect_kw(Kw::Of, "`OF` after the expression of CASE")?;
        let inner = self.expect_kw(Kw::Either, "`EITHER`")?;
        let mut arms = vec![];
        loop {
            let mut values = vec![self.expr(TOP)?];
            while self.eat(T::Comma) {
                values.push(self.expr(TOP)?);
            }
            self.expect_kw(Kw::Then, "`THEN`")?;
            arms.push((values, self.sequence()?));
            if !self.eat_kw(Kw::Or) {
                break;
            }
        }
        let otherwise = if self.eat_kw(Kw::Else) { Some(Box::new(self.sequence()?)) } else { None };
        self.expect_end(inner, "EITHER (CASE needs two ENDs)")?;
        self.expect_end(start, "CASE (it needs two ENDs)")?;
        Ok(SubstKind::Case(subject, arms, otherwise))
    }

    fn while_loop(&mut self, start: Span) -> Res<SubstKind> {
        use super::super::lex::Clause;
        self.advance();
        let cond = self.expr(TOP)?;
        self.expect_kw(Kw::Do, "`DO`")?;
        let body = Box::new(self.sequence()?);
        self.expect(T::Clause(Clause::Invariant), "`INVARIANT` of the loop")?;
        let invariant = self.expr(TOP)?;
        self.expect_kw(Kw::Variant, "`VARIANT` of the loop")?;
        let variant = self.expr(TOP)?;
        self.expect_end(start, "WHILE")?;
        Ok(SubstKind::While { cond, body, invariant, variant })
    }

    /// What starts with a name: assignments and calls.
    fn simple(&mut self) -> Res<Subst> {
        let start = self.here();
        if !Self::is_name(self.peek()) {
            return Err(self.unexpected("a substitution"));
        }
        let mut targets = vec![self.target()?];
        while self.eat(T::Comma) {
            targets.push(self.target()?);
        }
        let kind = match self.peek() {
            T::Assign => {
                self.advance();
                let mut values = vec![self.expr(TOP)?];
                while self.eat(T::Comma) {
                    values.push(self.expr(TOP)?);
                }
                SubstKind::Assign(targets, values)
            }
            T::BecomesElement => {
                self.advance();
                SubstKind::BecomesElement(targets, self.expr(TOP)?)
            }
            T::Op(BinOp::In) if self.peek_at(1) == T::LParen => {
                let names = variables(targets)?;
                self.advance();
                let open = self.here();
                self.advance();
                let p = self.expr(TOP)?;
                self.expect(T::RParen, "`)`").map_err(|f| Box::new(f.note(open, "to close this one")))?;
                SubstKind::BecomesSuch(names, p)
            }
            T::BecomesSuch => {
                let names = variables(targets)?;
                self.advance();
                SubstKind::BecomesSuch(names, self.expr(TOP)?)
            }
            T::Results => {
                self.advance();
                let op = self.dotted("the name of an operation")?;
                let args = self.call_arguments()?;
                SubstKind::Call { results: targets, op, args }
            }
            _ if targets.len() == 1 => match targets.pop().map(call) {
                Some(Ok(kind)) => kind,
                Some(Err(span)) => return Err(self.no_substitution(span)),
                None => return Err(self.unexpected("a substitution")),
            },
            _ => return Err(self.unexpected("`:=`, `::`, `:(` or `<--`")),
        };
        // `x = 1`: found here because `x` alone is a call.
        if self.peek() == T::Op(BinOp::Eq) && matches!(kind, SubstKind::Call { .. }) {
            return Err(Box::new(
                Diagnostic::error("B0101", self.here(), "`=` is not a substitution")
                    .help("assignment is written `:=`"),
            ));
        }
        Ok(Subst { kind, span: start.to(self.last()) })
    }

    fn target(&mut self) -> Res<Expr> {
        self.height = 0;
        self.postfixed()
    }

    fn call_arguments(&mut self) -> Res<Vec<Expr>> {
        let mut args = vec![];
        let open = self.here();
        if !self.eat(T::LParen) {
            return Ok(args);
        }
        loop {
            args.push(self.expr_in_brackets()?);
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect(T::RParen, "`)`").map_err(|f| Box::new(f.note(open, "to close this one")))?;
        Ok(args)
    }

    fn no_substitution(&self, span: Span) -> Fail {
        Box::new(
            Diagnostic::error("B0101", span, "this is an expression, not a substitution")
                .help("assign with `:=`, or call an operation by its name"),
        )
    }
}

/// A lone name or application is a call of an operation or of a definition.
fn call(e: Expr) -> Result<SubstKind, Span> {
    let span = e.span;
    match e.kind {
        ExprKind::Name(name) => {
            Ok(SubstKind::Call { results: vec![], op: Ident { name, span }, args: vec![] })
        }
        ExprKind::Apply(f, args) => match f.kind {
            ExprKind::Name(name) => {
                Ok(SubstKind::Call { results: vec![], op: Ident { name, span: f.span }, args })
            }
            _ => Err(span),
        },
        _ => Err(span),
    }
}

fn variables(targets: Vec<Expr>) -> Res<Vec<Ident>> {
    let mut names = vec![];
    for e in targets {
        match e.kind {
            ExprKind::Name(name) => names.push(Ident { name, span: e.span }),
            _ => {
                return Err(Box::new(
                    Diagnostic::error("B0101", e.span, "only variables can stand before `:(`")
                        .help("choose a value for the whole function or record"),
                ));
            }
        }
    }
    Ok(names)
}

fn whole(parts: &[Subst]) -> Span {
    match (parts.first(), parts.last()) {
        (Some(a), Some(b)) => a.span.to(b.span),
        _ => Span::default(),
    }
}
