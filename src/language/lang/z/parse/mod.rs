//! The grammar: words become a tree.
//!
//! Priorities are the standard's. Where Spivey's manual has others (hiding, composition, piping and projection of
//! schemas beside logical operators), brackets are demanded: one text must not mean two things.

mod formula;

use super::lex::{Frame, Tok, Token, Words};
use super::tree::{Decl, Expr, Paragraph, ParagraphKind, Spec, Text};
use crate::lang::ast::Ident;
use crate::lang::diag::{Diagnostic, FileId, Span};

/// Reading went wrong, and a message says how.
#[derive(Debug)]
pub struct Failed;

type Res<T> = Result<T, Failed>;

/// So many messages are enough.
const MAX_ERRORS: usize = 20;
/// The tree of a text, as far as it can be read; messages are added to those of the lexer.
pub fn parse(words: Words, file: FileId, end: usize) -> (Spec, Vec<Diagnostic>) {
    let Words { tokens, directives, mut diagnostics } = words;
    let end = Span::new(file, end, end);
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, end, diagnostics: vec![] };
    let paragraphs = parser.paragraphs();
    diagnostics.append(&mut parser.diagnostics);
    diagnostics.sort_by_key(|d| d.span);
    diagnostics.truncate(MAX_ERRORS);
    (Spec { paragraphs, directives }, diagnostics)
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: u32,
    end: Span,
    diagnostics: Vec<Diagnostic>,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Tok> {
        self.tokens.get(self.at).map(|t| &t.tok)
    }

    fn sym(&self) -> &'static str {
        match self.peek() {
            Some(Tok::Sym(s)) => s,
            _ => "",
        }
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |t| t.span)
    }

    /// From there to the last word that was taken.
    fn from(&self, start: Span) -> Span {
        match self.at.checked_sub(1).and_then(|i| self.tokens.get(i)) {
            Some(last) if last.span.hi > start.lo => start.to(last.span),
            _ => start,
        }
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let is_it = self.sym() == symbol;
        self.at += usize::from(is_it);
        is_it
    }

    fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Res<T> {
        self.diagnostics.push(Diagnostic::error("B0102", span, message));
        Err(Failed)
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Res<T> {
        let found = match self.peek() {
            None => "the end of the file".to_string(),
            Some(Tok::Word(w)) => format!("`{w}`"),
            Some(Tok::Num(n)) => format!("`{n}`"),
            Some(Tok::Sym(s)) => format!("`{s}`"),
            Some(Tok::NewLine) => "the end of the line".to_string(),
            Some(Tok::Where) => "the line between declarations and predicates".to_string(),
            Some(Tok::Open(_) | Tok::Close) => "the end of the paragraph".to_string(),
        };
        let span = self.span();
        self.fail(span, format!("expected {wanted}, found {found}"))
    }

    fn expect(&mut self, symbol: &'static str) -> Res<()> {
        if self.eat(symbol) { Ok(()) } else { self.unexpected(&format!("`{symbol}`")) }
    }

    fn ident(&mut self) -> Res<Ident> {
        let span = self.span();
        match self.peek() {
            Some(Tok::Word(w)) => {
                self.at += 1;
                Ok(Ident { name: w.clone(), span })
            }
            _ => self.unexpected("a name"),
        }
    }

    fn line_ends(&mut self) {
        while let Some(Tok::NewLine) = self.peek() {
            self.at += 1;
        }
    }

    // ---- paragraphs ----

    fn paragraphs(&mut self) -> Vec<Paragraph> {
        let mut all = vec![];
        while let Some(tok) = self.peek() {
            let start = self.at;
            if let Tok::Open(frame) = tok {
                self.at += 1;
                let read = match frame {
                    Frame::Plain => self.plain(&mut all),
                    Frame::Schema | Frame::Axiom => self.boxed(*frame).map(|p| all.push(p)),
                };
                if read.is_ok() && self.peek() == Some(&Tok::Close) {
                    self.at += 1;
                    continue;
                }
                if read.is_ok() && self.unexpected::<()>("the end of the paragraph").is_ok() {
                    continue;
                }
            }
            // Go on behind this paragraph.
            self.at = self.at.max(start + 1);
            while !matches!(self.peek(), None | Some(Tok::Open(_))) {
                self.at += 1;
            }
        }
        all
    }

    fn parameters(&mut self) -> Res<Vec<Ident>> {
        let mut all = vec![];
        if self.eat("[") {
            loop {
                all.push(self.ident()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("]")?;
        }
        Ok(all)
    }

    fn boxed(&mut self, frame: Frame) -> Res<Paragraph> {
        let start = self.span();
        let name = if frame == Frame::Schema { Some(self.ident()?) } else { None };
        let parameters = self.parameters()?;
        self.line_ends();
        let decls = match self.peek() {
            Some(Tok::Where | Tok::Close) => vec![],
            _ => self.decls(true)?,
        };
        self.line_ends();
        let mut preds = vec![];
        if self.peek() == Some(&Tok::Where) {
            self.at += 1;
            preds = self.predicates()?;
        }
        let span = self.from(start);
        let text = Text { decls, preds };
        let kind = match name {
            Some(name) => ParagraphKind::Schema(name, parameters, text),
            None => ParagraphKind::Axiom(parameters, text),
        };
        Ok(Paragraph { kind, span })
    }

    /// Predicates one below the other.
    fn predicates(&mut self) -> Res<Vec<Expr>> {
        let mut all = vec![];
        loop {
            while matches!(self.peek(), Some(Tok::NewLine)) || self.sym() == ";" {
                self.at += 1;
            }
            if matches!(self.peek(), None | Some(Tok::Close)) {
                return Ok(all);
            }
            all.push(self.formula(0)?);
            match self.peek() {
                None | Some(Tok::Close | Tok::NewLine | Tok::Sym(";")) => {}
                _ => return self.unexpected("the end of the predicate"),
            }
        }
    }

    fn plain(&mut self, all: &mut Vec<Paragraph>) -> Res<()> {
        loop {
            self.line_ends();
            if matches!(self.peek(), None | Some(Tok::Close)) {
                return Ok(());
            }
            let start = self.span();
            let kind = self.item()?;
            all.push(Paragraph { kind, span: self.from(start) });
            match self.peek() {
                None | Some(Tok::Close | Tok::NewLine) => {}
                Some(Tok::Sym(";")) => self.at += 1,
                _ => return self.unexpected("the end of the paragraph"),
            }
        }
    }

    fn item(&mut self) -> Res<ParagraphKind> {
        let start = self.at;
        if self.sym() == "[" {
            let is_given = |tok: &Tok| matches!(tok, Tok::Word(_) | Tok::Sym("," | "[" | "]"));
            let end = self.tokens[start..].iter().position(|t| !is_given(&t.tok));
            let end = end.map_or(self.tokens.len(), |n| start + n);
            if self.tokens.get(end - 1).is_some_and(|t| t.tok == Tok::Sym("]")) {
                return Ok(ParagraphKind::Given(self.parameters()?));
            }
        }
        if self.eat("⊢?") {
            return Ok(ParagraphKind::Conjecture(self.formula(0)?));
        }
        if let Some(Tok::Word(_)) = self.peek() {
            let name = self.ident()?;
            let is_definition = |p: &Parser| matches!(p.sym(), "==" | "≙");
            if self.eat("::=") {
                return Ok(ParagraphKind::Free(name, self.cases()?));
            }
            let mut parameters = vec![];
            if self.sym() == "[" {
                // A generic definition, or an expression.
                let errors = self.diagnostics.len();
                match self.parameters() {
                    Ok(read) => parameters = read,
                    Err(Failed) => self.diagnostics.truncate(errors),
                }
            }
            if is_definition(self) {
                self.at += 1;
                return Ok(ParagraphKind::Define(name, parameters, self.formula(0)?));
            }
            self.at = start;
        }
        Ok(ParagraphKind::Predicate(self.formula(0)?))
    }

    fn cases(&mut self) -> Res<Vec<(Ident, Option<Expr>)>> {
        let mut all = vec![];
        loop {
            let name = self.ident()?;
            let mut argument = None;
            if self.eat("⟪") {
                argument = Some(self.formula(0)?);
                self.expect("⟫")?;
            }
            all.push((name, argument));
            if !self.eat("|") {
                return Ok(all);
            }
        }
    }

    // ---- declarations ----

    /// `x, y :` or `x ==` comes.
    fn declares(&self) -> bool {
        let mut at = self.at;
        loop {
            let Some(Tok::Word(_)) = self.tokens.get(at).map(|t| &t.tok) else { return false };
            match self.tokens.get(at + 1).map(|t| &t.tok) {
                Some(Tok::Sym(":")) => return true,
                Some(Tok::Sym("==")) => return at == self.at,
                Some(Tok::Sym(",")) => at += 2,
                _ => return false,
            }
        }
    }

    fn decls(&mut self, lines: bool) -> Res<Vec<Decl>> {
        let mut all = vec![];
        loop {
            if lines {
                self.line_ends();
            }
            all.push(self.decl()?);
            let goes_on = self.eat(";")
                || (lines && {
                    let before = self.at;
                    self.line_ends();
                    self.at > before && !matches!(self.peek(), None | Some(Tok::Where | Tok::Close))
                });
            if !goes_on {
                return Ok(all);
            }
        }
    }

    fn decl(&mut self) -> Res<Decl> {
        if !self.declares() {
            return Ok(Decl::Schema(self.formula(formula::NOT)?));
        }
        let mut names = vec![self.ident()?];
        if self.eat("==") {
            return Ok(Decl::Value(names.remove(0), self.formula(formula::ARROW)?));
        }
        while self.eat(",") {
            names.push(self.ident()?);
        }
        self.expect(":")?;
        Ok(Decl::Names(names, self.formula(formula::ARROW)?))
    }

    /// What stands in `∀ … •` and `{ … }`.
    fn text(&mut self) -> Res<Text> {
        let decls = self.decls(false)?;
        Ok(Text { decls, preds: self.condition()? })
    }

    fn condition(&mut self) -> Res<Vec<Expr>> {
        let mut preds = vec![];
        if self.eat("|") {
            preds.push(self.formula(0)?);
            while self.eat(";") {
                preds.push(self.formula(0)?);
            }
        }
        Ok(preds)
    }
}
