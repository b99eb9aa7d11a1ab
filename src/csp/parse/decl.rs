//! Declarations.

use super::{Parser, Result, annotate};
use crate::lex::{Kind, Word};
use crate::tree::{
    Assertion, Claim, Clause, Constructor, Decl, DeclKind, Expr, ExprKind, Ident, Model, ModelOption,
    Property,
};
use kanon_language::lang::diag::{Diagnostic, Span};
use kanon_language::lang::spelling::closest;
use std::sync::Arc;

/// Where declarations stand: not all of them may stand everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Top,
    Module,
    Timed,
    Let,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Top => "a script",
            Place::Module => "a module",
            Place::Timed => "a timed section",
            Place::Let => "`let`",
        }
    }

    fn allows(self, kind: &DeclKind) -> bool {
        let global = matches!(
            kind,
            DeclKind::Channel { .. }
                | DeclKind::Datatype { .. }
                | DeclKind::Subtype { .. }
                | DeclKind::Nametype { .. }
                | DeclKind::Module { .. }
                | DeclKind::Instance { .. }
        );
        let report = matches!(kind, DeclKind::Assert(_) | DeclKind::Print(_));
        match self {
            Place::Top => true,
            Place::Module => !report,
            Place::Timed => !matches!(kind, DeclKind::Print(_)),
            Place::Let => !global && !report,
        }
    }
}

impl Parser<'_, '_> {
    /// Whether a declaration may stand in all that is open around it.
    fn allowed(&self, place: Place, kind: &DeclKind) -> Result<()> {
        let refusing = |p: &Place| !p.allows(kind);
        match [place].iter().chain(self.places.iter().rev()).find(|p| refusing(p)) {
            Some(p) => {
                let message = format!("this declaration may not stand in {}", p.name());
                self.error("C0111", self.before(), message)
            }
            None => Ok(()),
        }
    }

    /// The declarations of a whole file.
    pub fn script(&mut self) -> Vec<Decl> {
        let mut decls = vec![];
        loop {
            self.decls(Place::Top, &mut decls);
            if *self.kind() == Kind::End {
                return decls;
            }
            let d = self.unexpected("a declaration");
            self.recover(*d, self.at, 0);
        }
    }

    /// Up to `within`, which is not taken.
    pub fn local_decls(&mut self) -> Result<Vec<Decl>> {
        self.block("within", Place::Let)
    }

    /// Declarations until one cannot begin here.
    fn decls(&mut self, place: Place, into: &mut Vec<Decl>) {
        while self.begins_decl() {
            let (start, column) = (self.at, self.token().column);
            if place == Place::Top {
                self.closers.clear();
                self.height = 0;
                self.depth = 0;
            }
            let (brackets, wild) = (self.closers.len(), self.wild.len());
            let read = self.decl(place, into).and_then(|()| match self.wild.get(wild) {
                Some(span) => self.error("C0120", *span, "this may only stand in a pattern"),
                None => Ok(()),
            });
            self.wild.truncate(wild);
            self.closers.truncate(brackets);
            let read = read.and_then(|()| {
                let ends = self.token().first || !self.begins_decl() && self.ends_decls();
                if ends { Ok(()) } else { Err(self.unexpected("the end of the line")) }
            });
            if let Err(d) = read {
                self.recover(*d, start, column);
            }
        }
        annotate::join(into, &mut self.files.errors);
    }

    fn begins_decl(&self) -> bool {
        !matches!(
            self.kind(),
            Kind::End
                | Kind::Word(Word::Within | Word::Exports | Word::Endmodule | Word::Then | Word::Else)
                | Kind::Sign("}" | ")" | "]" | "|}" | "|]" | "]]" | ">" | ",")
        )
    }

    fn ends_decls(&self) -> bool {
        matches!(
            self.kind(),
            Kind::End | Kind::Sign("}") | Kind::Word(Word::Within | Word::Exports | Word::Endmodule)
        )
    }

    /// Reports a mistake and goes on at the next line that is indented no deeper than the declaration that had it.
    fn recover(&mut self, d: Diagnostic, start: usize, column: u32) {
        self.files.errors.push(d);
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        while !(self.token().first && self.token().column <= column) {
            if *self.kind() == Kind::End {
                return;
            }
            self.at += 1;
        }
    }

    fn decl(&mut self, place: Place, into: &mut Vec<Decl>) -> Result<()> {
        let from = self.span();
        if self.take_word(Word::Include) {
            return self.include(place, from, into);
        }
        let kind = match self.kind() {
            Kind::Word(word) => self.keyword(*word)?,
            _ => self.definition()?,
        };
        let span = from.to(self.before());
        self.allowed(place, &kind).map_err(|mut d| {
            d.span = span;
            d
        })?;
        match (kind, into.last_mut()) {
            (
                DeclKind::Function { name, mut clauses, .. },
                Some(Decl { span: before, kind: DeclKind::Function { name: same, clauses: all, .. } }),
            ) if name.text == same.text && name.span.file == same.span.file => {
                // The clauses of a function stand together.
                all.append(&mut clauses);
                *before = before.to(span);
            }
            (kind, _) => into.push(Decl { span, kind }),
        }
        Ok(())
    }

    fn include(&mut self, place: Place, from: Span, into: &mut Vec<Decl>) -> Result<()> {
        if place == Place::Let {
            return self.error("C0111", from, "a file is not included in `let`");
        }
        let Kind::String(name) = self.kind().clone() else {
            return Err(self.unexpected("the name of a file in quotation marks"));
        };
        if self.token().first {
            return self.error("C0110", from, "the name of the file stands on the line of `include`");
        }
        let span = self.span();
        self.at += 1;
        let decls = self.files.include(self.file, &name, span);
        match decls.iter().find(|d| !place.allows(&d.kind)) {
            Some(d) => {
                let message = format!("this declaration may not stand in {}", place.name());
                Err(Box::new(Diagnostic::error("C0111", d.span, message).note(span, "it is included here")))
            }
            None => {
                into.extend(decls);
                Ok(())
            }
        }
    }

    fn keyword(&mut self, word: Word) -> Result<DeclKind> {
        let from = self.span();
        match word {
            // A definition may begin with these.
            Word::True | Word::False | Word::Not | Word::If | Word::Let => return self.definition(),
            _ => self.at += 1,
        }
        Ok(match word {
            Word::Channel => {
                let names = self.idents("the name of a channel")?;
                let fields = if self.take(":") { Some(self.expr()?) } else { None };
                DeclKind::Channel { names, fields, annotation: None }
            }
            Word::Datatype | Word::Subtype => {
                let name = self.ident("the name of a datatype")?;
                self.expect("=", "behind the name of a datatype")?;
                let mut clauses = vec![self.constructor()?];
                while self.take("|") {
                    clauses.push(self.constructor()?);
                }
                if word == Word::Datatype {
                    DeclKind::Datatype { name, clauses }
                } else {
                    DeclKind::Subtype { name, clauses }
                }
            }
            Word::Nametype => {
                let name = self.ident("the name of a type")?;
                self.expect("=", "behind the name of a type")?;
                DeclKind::Nametype { name, body: self.expr()?, annotation: None }
            }
            Word::External => DeclKind::External(self.idents("the name of a function")?),
            Word::Transparent => DeclKind::Transparent(self.idents("the name of a function")?),
            Word::Assert => DeclKind::Assert(self.assertion(from)?),
            Word::Print => DeclKind::Print(self.expr()?),
            Word::Module => self.module()?,
            Word::Instance => {
                let name = self.ident("the name of an instance")?;
                self.expect("=", "behind the name of an instance")?;
                let module = self.path("the name of a module")?;
                let arguments = if self.is("(") && !self.token().first {
                    self.at += 1;
                    let arguments = self.inside(")", |p| p.separated(Self::expr))?;
                    self.expect(")", "behind the arguments of a module")?;
                    arguments
                } else {
                    vec![]
                };
                DeclKind::Instance { name, module, arguments }
            }
            Word::Timed => {
                let steps = if self.take("(") {
                    let steps = self.inside(")", Self::expr)?;
                    self.expect(")", "behind the function of a timed section")?;
                    Some(steps)
                } else {
                    None
                };
                self.expect("{", "before the declarations of a timed section")?;
                let decls = self.block("}", Place::Timed)?;
                self.expect("}", "behind the declarations of a timed section")?;
                DeclKind::Timed { steps, decls }
            }
            _ => {
                self.at -= 1;
                return Err(self.unexpected("a declaration"));
            }
        })
    }

    /// Declarations inside of others.
    fn block(&mut self, closer: &'static str, place: Place) -> Result<Vec<Decl>> {
        self.deeper(|p| {
            p.inside(closer, |p| {
                let mut decls = vec![];
                p.places.push(place);
                p.decls(place, &mut decls);
                p.places.pop();
                Ok(decls)
            })
        })
    }

    fn module(&mut self) -> Result<DeclKind> {
        let name = self.ident("the name of a module")?;
        let parameters = if self.is("(") && !self.token().first {
            self.at += 1;
            let parameters = self.inside(")", |p| p.separated(Self::expr))?;
            self.expect(")", "behind the parameters of a module")?;
            self.patterns_of(parameters)?
        } else {
            vec![]
        };
        let private = self.block("exports", Place::Module)?;
        self.expect_word(Word::Exports, "exports", "before what a module exports")?;
        let exported = self.block("endmodule", Place::Module)?;
        self.expect_word(Word::Endmodule, "endmodule", "at the end of a module")?;
        Ok(DeclKind::Module { name, parameters, private, exported })
    }

    fn constructor(&mut self) -> Result<Constructor> {
        let name = self.ident("the name of a constructor")?;
        let fields = if self.take(".") { Some(self.expr()?) } else { None };
        Ok(Constructor { span: name.span.to(self.before()), name, fields, annotation: None })
    }

    /// `pattern = e`, `f(p)(q) = e`, `f, g :: T`.
    fn definition(&mut self) -> Result<DeclKind> {
        if let Some(names) = self.annotated() {
            return Ok(DeclKind::Annotation { names, scheme: self.scheme()? });
        }
        let left = self.expr()?;
        self.expect("=", "in a definition")?;
        let body = self.expr()?;
        let span = left.span.to(body.span);
        match head(left) {
            Ok((name, parameters)) => {
                let mut lists = vec![];
                for list in parameters {
                    lists.push(self.patterns_of(list)?);
                }
                let clauses = vec![Clause { span, parameters: lists, body }];
                Ok(DeclKind::Function { name, clauses, annotation: None })
            }
            Err(left) => Ok(DeclKind::Pattern { pattern: self.pattern_of(left)?, body, annotation: None }),
        }
    }

    /// `f, g ::`: takes it, if it stands here.
    pub fn annotated(&mut self) -> Option<Vec<Ident>> {
        let start = self.at;
        let names = self.idents("a name").ok().filter(|_| self.is("::"));
        match names {
            // Without white space around it, `::` joins a module and a name in it.
            Some(names) if self.token().spaced || self.tokens[self.at + 1].spaced => {
                self.at += 1;
                Some(names)
            }
            _ => {
                self.at = start;
                None
            }
        }
    }

    fn assertion(&mut self, from: Span) -> Result<Assertion> {
        let negated = self.take_word(Word::Not);
        let left = self.expr()?;
        let claim = match self.kind().clone() {
            Kind::Refines(model) => {
                self.at += 1;
                Claim::Refines(left, self.model(&model)?, self.expr()?)
            }
            Kind::Property(words, model) => {
                let model = match model {
                    Some(text) => Some(self.model(&text)?),
                    None => None,
                };
                let property = match &*words {
                    "deadlock free" => Some(Property::DeadlockFree),
                    "livelock free" | "divergence free" => Some(Property::DivergenceFree),
                    "deterministic" => Some(Property::Deterministic),
                    "has trace" => None,
                    _ => return Err(self.no_property(&words)),
                };
                self.at += 1;
                match property {
                    Some(property) => Claim::Property(left, property, model),
                    None => {
                        self.expect("<", "before a trace")?;
                        let trace = self
                            .inside(">", |p| if p.is(">") { Ok(vec![]) } else { p.separated(Self::expr) })?;
                        self.expect(">", "behind a trace")?;
                        Claim::HasTrace(left, trace, model)
                    }
                }
            }
            _ => return Err(self.unexpected("`[T=` and its like, or `:[` and a property")),
        };
        let options = self.options()?;
        Ok(Assertion { span: from.to(self.before()), negated, claim, options })
    }

    fn options(&mut self) -> Result<Vec<ModelOption>> {
        let mut options = vec![];
        let mut seen: Vec<Arc<str>> = vec![];
        while let Kind::Property(words, inner) = self.kind().clone() {
            let span = self.span();
            let option = match &*words {
                "tau priority" | "tau priority over" => {
                    self.at += 1;
                    ModelOption::TauPriority(self.expr()?)
                }
                "partial order reduce" => {
                    self.at += 1;
                    ModelOption::PartialOrder(inner)
                }
                _ => return Err(self.no_property(&words)),
            };
            let key: Arc<str> =
                if matches!(option, ModelOption::TauPriority(_)) { "tau".into() } else { words };
            if seen.contains(&key) {
                return self.error("C0112", span, "this option is given twice");
            }
            seen.push(key);
            options.push(option);
        }
        Ok(options)
    }

    fn no_property(&self, words: &str) -> Box<Diagnostic> {
        let known = [
            "deadlock free",
            "divergence free",
            "livelock free",
            "deterministic",
            "has trace",
            "tau priority over",
            "partial order reduce",
        ];
        let mut d = Diagnostic::error("C0113", self.span(), format!("there is no property `{words}`"));
        d.help = closest(words, known.iter().copied()).map(|n| format!("did you mean `{n}`?"));
        Box::new(d)
    }

    fn model(&self, text: &str) -> Result<Model> {
        Ok(match text {
            "T" => Model::Traces,
            "F" => Model::Failures,
            "FD" => Model::FailuresDivergences,
            "V" => Model::Revivals,
            "VD" => Model::RevivalsDivergences,
            "R" => Model::Refusals,
            "RD" => Model::RefusalsDivergences,
            _ => return self.error("C0113", self.span(), format!("there is no semantic model `{text}`")),
        })
    }
}

/// `f(p)(q)`: the name and its lists of parameters. Anything else comes back as it was.
fn head(e: Expr) -> std::result::Result<(Ident, Vec<Vec<Expr>>), Expr> {
    let is_function = {
        let mut at = &e;
        while let ExprKind::Apply(f, _) = &at.kind {
            at = f;
        }
        matches!(&at.kind, ExprKind::Name(path) if path.parts.len() == 1)
            && matches!(e.kind, ExprKind::Apply(..))
    };
    if !is_function {
        return Err(e);
    }
    let (mut at, mut lists) = (e, vec![]);
    loop {
        match at.kind {
            ExprKind::Apply(f, parameters) => {
                lists.push(parameters);
                at = *f;
            }
            ExprKind::Name(mut path) if path.parts.len() == 1 => {
                lists.reverse();
                return Ok((path.parts.remove(0), lists));
            }
            _ => return Err(at),
        }
    }
}
