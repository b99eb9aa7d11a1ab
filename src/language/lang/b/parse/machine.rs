//! Machines: header, clauses in any order, operations, and the DEFINITIONS before expansion.

use super::super::lex::{Clause, Kw, T};
use super::expr::TOP;
use super::{Parser, Res, is_machine_start, unescape};
use crate::lang::ast::{
    BinOp, Expr, ExprKind, FreeDecl, Ident, Machine, MachineKind, MachineRef, Operation, SetDecl,
};
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::macros::Body;
use crate::lang::spelling::distance;
use std::collections::HashMap;

/// A machine with its definitions not yet expanded.
pub(in crate::lang::b) struct RawMachine {
    pub machine: Machine,
    pub definitions: Vec<RawDefinition>,
    /// `S = D` in SETS, where the definition D lists the elements: index in `machine.sets`, D.
    pub sets_by_definition: Vec<(usize, Ident)>,
}

pub(in crate::lang::b) enum RawDefinition {
    Macro {
        name: Ident,
        params: Vec<Ident>,
        body: Box<Body>,
    },
    /// `"file.def"`
    File {
        path: String,
        span: Span,
    },
}

impl Parser<'_> {
    /// A whole machine; `None` when it has no header to hang anything on.
    pub(in crate::lang::b) fn machine(&mut self) -> Option<RawMachine> {
        let header = self.header();
        let mut raw = match header {
            Ok(machine) => RawMachine { machine, definitions: vec![], sets_by_definition: vec![] },
            Err(fail) => {
                self.report(*fail);
                return None;
            }
        };
        self.clauses(&mut raw);
        raw.machine.unsupported.append(&mut self.unsupported);
        self.check_initialised(&raw.machine);
        raw.machine.span = raw.machine.span.to(self.last());
        Some(raw)
    }

    /// A refinement may leave the initialisation to its abstraction; a machine may not.
    fn check_initialised(&mut self, m: &Machine) {
        let first = m.variables.iter().chain(&m.concrete_variables).next();
        if let Some(variable) = first
            && m.kind == MachineKind::Machine
            && m.initialisation.is_none()
            && self.diagnostics.is_empty()
        {
            self.report(
                Diagnostic::error("B0120", variable.span, "the variables have no INITIALISATION")
                    .help(format!("add one: `INITIALISATION {} := …`", variable.name)),
            );
        }
    }

    /// The definitions of a file that holds nothing else, or those of a whole machine.
    pub(in crate::lang::b) fn definition_file(&mut self) -> Vec<RawDefinition> {
        if self.peek() != T::Clause(Clause::Definitions) {
            return self.machine().map(|raw| raw.definitions).unwrap_or_default();
        }
        self.advance();
        let mut definitions = vec![];
        self.definitions(&mut definitions);
        self.eat_kw(Kw::End);
        if self.peek() != T::Eof {
            let fail = self.unexpected("the end of the definition file");
            self.report(*fail);
        }
        definitions
    }

    fn header(&mut self) -> Res<Machine> {
        let start = self.here();
        let kind = match self.peek() {
            T::Clause(Clause::Machine) => MachineKind::Machine,
            T::Clause(Clause::Refinement) => MachineKind::Refinement,
            T::Clause(Clause::Implementation) => MachineKind::Implementation,
            T::Eof => {
                return Err(Box::new(
                    Diagnostic::error("B0101", start, "the file is empty")
                        .help("a machine is `MACHINE Name … END`"),
                ));
            }
            _ => {
                let fail = self.unexpected("`MACHINE`, `REFINEMENT` or `IMPLEMENTATION`");
                return Err(Box::new(fail.help("a file holds one machine: `MACHINE Name … END`")));
            }
        };
        self.advance();
        let name = self.dotted("the name of the machine")?;
        let mut params = vec![];
        if self.eat(T::LParen) {
            params = self.names("the name of a parameter")?;
            self.expect(T::RParen, "`)` after the parameters")?;
        }
        Ok(Machine { params, ..Machine::empty(kind, name, start) })
    }

    fn clauses(&mut self, raw: &mut RawMachine) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        loop {
            if self.gives_up() {
                return;
            }
            let place = self.here();
            match self.peek() {
                T::Kw(Kw::End) => {
                    self.advance();
                    break;
                }
                T::Clause(clause) if !is_machine_start(clause) => {
                    let token = self.advance();
                    let text = self.text_of(token);
                    if let Some(&first) = seen.get(text) {
                        self.diagnostics.push(
                            Diagnostic::error("B0110", place, format!("a second {text} clause"))
                                .note(first, "the first one is here")
                                .help("join the two"),
                        );
                    }
                    seen.insert(text, place);
                    if let Err(fail) = self.clause(clause, text, place, raw) {
                        self.report(*fail);
                        self.skip_to_clause();
                    } else if !self.at_clause() {
                        self.stray(text);
                        self.skip_to_clause();
                    }
                }
                T::Eof => {
                    self.report(match self.misplaced_end {
                        Some((opened, end)) => {
                            Diagnostic::error("B0107", end, "an `END` is missing before this one")
                                .note(opened, "this is closed by it, and has no `END` of its own")
                                .note(place, "so that the machine is not closed")
                        }
                        None => Diagnostic::error("B0107", place, "the machine is not closed")
                            .note(raw.machine.span, "it begins here")
                            .help("end it with `END`"),
                    });
                    return;
                }
                _ => {
                    self.stray("the machine's header");
                    self.skip_to_clause();
                }
            }
        }
        if self.peek() != T::Eof {
            let fail = self.unexpected("the end of the file after the machine's `END`");
            self.report(fail.help("is there one `END` too many before this?"));
        }
    }

    fn at_clause(&self) -> bool {
        matches!(self.peek(), T::Clause(_) | T::Kw(Kw::End) | T::Eof)
    }

    /// Something behind a complete clause that does not belong there.
    fn stray(&mut self, clause: &str) {
        let token = self.token(self.at);
        let text = self.text_of(token);
        let fail = if let Some(meant) = resembled_clause(text).filter(|_| token.kind == T::Ident) {
            Box::new(
                Diagnostic::error("B0109", self.here(), format!("`{text}` is not a clause of a machine"))
                    .help(format!("did you mean `{meant}`?")),
            )
        } else {
            self.unexpected(&format!("the next clause or `END` after {clause}"))
        };
        self.report(*fail);
        self.advance();
    }

    fn skip_to_clause(&mut self) {
        while !matches!(self.peek(), T::Clause(_) | T::Eof) {
            // The machine's own END is the last word of the file; others belong to blocks.
            if self.peek() == T::Kw(Kw::End) && self.at + 1 >= self.end {
                return;
            }
            self.advance();
        }
    }

    fn clause(&mut self, clause: Clause, text: &str, place: Span, raw: &mut RawMachine) -> Res<()> {
        let m = &mut raw.machine;
        match clause {
            // Named expressions and predicates are definitions that take a value: macros do for them.
            Clause::Definitions | Clause::Expressions | Clause::Predicates => {
                self.definitions(&mut raw.definitions);
            }
            Clause::Refines => m.refines = Some(self.dotted("the name of the refined machine")?),
            Clause::Sees => m.sees.extend(self.dotted_names("the name of a machine")?),
            Clause::Uses => m.uses.extend(self.dotted_names("the name of a machine")?),
            Clause::Includes => m.includes.extend(self.machine_refs()?),
            Clause::Extends => m.extends.extend(self.machine_refs()?),
            Clause::Imports => m.imports.extend(self.machine_refs()?),
            Clause::Promotes => m.promotes.extend(self.dotted_names("the name of an operation")?),
            Clause::Sets => self.sets(raw)?,
            Clause::Constants => m.constants.extend(self.names("the name of a constant")?),
            Clause::AbstractConstants => {
                m.abstract_constants.extend(self.names("the name of a constant")?);
            }
            Clause::Variables => m.variables.extend(self.names("the name of a variable")?),
            Clause::ConcreteVariables => {
                m.concrete_variables.extend(self.names("the name of a variable")?);
            }
            Clause::Constraints => m.constraints = self.predicate(),
            Clause::Properties => m.properties = self.predicate(),
            Clause::Invariant => m.invariant = self.predicate(),
            Clause::Assertions => self.assertions(&mut m.assertions),
            Clause::Initialisation => m.initialisation = Some(self.sequence()?),
            Clause::Operations => self.operations(&mut m.operations),
            Clause::LocalOperations => self.operations(&mut m.local_operations),
            Clause::Values => m.values.extend(self.values()?),
            Clause::Freetypes => m.freetypes.extend(self.freetypes()?),
            Clause::References => {
                m.unsupported.push((place, format!("the clause {text}")));
                self.skip_to_clause();
            }
            // `clauses` does not come here with the words that start a machine.
            Clause::Machine | Clause::Refinement | Clause::Implementation => {}
        }
        Ok(())
    }

    /// The predicate of a clause. After a mistake it goes on at the next `&` of the clause.
    fn predicate(&mut self) -> Option<Expr> {
        let mut whole = None;
        let level = self.layout.open.get(self.at).copied().unwrap_or(0);
        loop {
            let fail = match self.expr(TOP) {
                Ok(e) if self.at_clause() || self.peek() == T::Semi => {
                    whole.get_or_insert(e);
                    return whole;
                }
                Ok(_) => {
                    let fail = self.unexpected("`&`, the next clause or `END`");
                    match self.peek() {
                        T::Op(_) | T::DefEq | T::Ident => fail,
                        _ if Self::closes(self.peek()) => {
                            Box::new(fail.help("there is no bracket that this one closes"))
                        }
                        _ => fail,
                    }
                }
                Err(fail) => fail,
            };
            self.report(*fail);
            if self.gives_up() || !self.skip_to_conjunct(level) {
                return None;
            }
        }
    }

    fn closes(kind: T) -> bool {
        matches!(kind, T::RParen | T::RBrace | T::RBracket)
    }

    /// Behind the next `&` outside brackets; false when the clause ends before one.
    fn skip_to_conjunct(&mut self, level: u32) -> bool {
        loop {
            match self.peek() {
                T::Eof | T::Clause(_) | T::Semi => return false,
                T::Kw(Kw::End) if self.at + 1 >= self.end => return false,
                T::Op(BinOp::And) if self.layout.open.get(self.at) == Some(&level) => {
                    self.advance();
                    return true;
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    fn assertions(&mut self, assertions: &mut Vec<Expr>) {
        loop {
            assertions.extend(self.predicate());
            if !self.eat(T::Semi) {
                return;
            }
        }
    }

    fn machine_refs(&mut self) -> Res<Vec<MachineRef>> {
        let mut refs = vec![];
        loop {
            let full = self.dotted("the name of a machine")?;
            let (prefix, name) = match full.name.rsplit_once('.') {
                Some((prefix, name)) => {
                    let cut = name.len() as u32;
                    let span = Span { lo: full.span.hi.saturating_sub(cut), ..full.span };
                    (Some(prefix.into()), Ident { name: name.into(), span })
                }
                None => (None, full),
            };
            let mut args = vec![];
            if self.eat(T::LParen) {
                loop {
                    args.push(self.expr_in_brackets()?);
                    if !self.eat(T::Comma) {
                        break;
                    }
                }
                self.expect(T::RParen, "`)` after the parameters of the machine")?;
            }
            refs.push(MachineRef { name, prefix, args });
            if !self.eat(T::Comma) {
                return Ok(refs);
            }
        }
    }

    fn sets(&mut self, raw: &mut RawMachine) -> Res<()> {
        loop {
            let name = self.dotted("the name of a set")?;
            let mut elements = None;
            if self.eat(T::Op(BinOp::Eq)) {
                if Self::is_name(self.peek()) {
                    let by = self.name("the name of a definition")?;
                    raw.sets_by_definition.push((raw.machine.sets.len(), by));
                } else {
                    self.expect(T::LBrace, "`{` and the elements of the set")?;
                    elements = Some(self.names("the name of an element")?);
                    self.expect(T::RBrace, "`}` after the elements of the set")?;
                }
            }
            raw.machine.sets.push(SetDecl { name, elements });
            if self.peek() == T::Comma {
                let fail = self.unexpected("`;` and the next set, or the next clause");
                return Err(Box::new(fail.help("sets are separated by `;`")));
            }
            if !self.eat(T::Semi) {
                return Ok(());
            }
        }
    }

    /// `T = c, d(S); U = …`
    fn freetypes(&mut self) -> Res<Vec<FreeDecl>> {
        let mut all = vec![];
        loop {
            let name = self.dotted("the name of a freetype")?;
            self.expect(T::Op(BinOp::Eq), "`=` and the constructors of the freetype")?;
            let mut cases = vec![];
            loop {
                let case = self.name("the name of a constructor")?;
                let mut argument = None;
                if self.eat(T::LParen) {
                    argument = Some(self.expr(TOP)?);
                    self.expect(T::RParen, "`)` after the set of the constructor's arguments")?;
                }
                cases.push((case, argument));
                if !self.eat(T::Comma) {
                    break;
                }
            }
            all.push(FreeDecl { name, parameters: None, cases });
            if !self.eat(T::Semi) {
                return Ok(all);
            }
        }
    }

    fn values(&mut self) -> Res<Vec<(Ident, Expr)>> {
        let mut values = vec![];
        loop {
            let name = self.dotted("the name of a set or constant")?;
            self.expect(T::Op(BinOp::Eq), "`=` and its value")?;
            values.push((name, self.expr(TOP)?));
            if !self.eat(T::Semi) {
                return Ok(values);
            }
        }
    }

    // ---- operations ----

    fn operations(&mut self, operations: &mut Vec<Operation>) {
        loop {
            match self.operation() {
                Ok(op) => operations.push(op),
                Err(fail) => {
                    self.report(*fail);
                    if self.gives_up() || !self.skip_to_operation() {
                        return;
                    }
                    continue;
                }
            }
            let semi = self.here();
            if self.eat(T::Semi) {
                if self.at_clause() {
                    self.report(
                        Diagnostic::error("B0101", semi, "an operation is missing after this `;`")
                            .help("`;` stands between operations; remove it after the last one"),
                    );
                    return;
                }
            } else if self.starts_operation(self.at) {
                let fail = self.unexpected("`;` between two operations");
                self.report(*fail);
            } else {
                return;
            }
        }
    }

    fn operation(&mut self) -> Res<Operation> {
        self.misplaced_end = None;
        let mut results = vec![];
        let mut name = self.dotted("the name of an operation")?;
        if matches!(self.peek(), T::Comma | T::Results) {
            results.push(name);
            while self.eat(T::Comma) {
                results.push(self.name("the name of a result")?);
            }
            self.expect(T::Results, "`<--` after the results of the operation")?;
            name = self.dotted("the name of an operation")?;
        }
        let mut params = vec![];
        if self.eat(T::LParen) {
            params = self.names("the name of a parameter")?;
            self.expect(T::RParen, "`)` after the parameters of the operation")?;
        }
        if self.peek() == T::Ident && self.text_of(self.token(self.at)) == "ref" {
            let start = self.here();
            self.advance();
            let event = self.name("the name of the refined event")?;
            let what = format!("an event that refines `{}` by `ref`", event.name);
            self.unsupported.push((start.to(event.span), what));
        }
        if self.peek() != T::Op(BinOp::Eq) {
            let fail = self.unexpected(&format!("`=` and the body of the operation `{}`", name.name));
            return Err(match self.peek() {
                T::DefEq | T::Assign => Box::new(fail.help("an operation is written `name(params) = body`")),
                _ => fail,
            });
        }
        self.advance();
        let body = self.parallel()?;
        Ok(Operation { name, results, params, body })
    }

    /// Whether a header `op =`, `op(p) =` or `r <-- op` stands at this token.
    fn starts_operation(&self, at: usize) -> bool {
        let kind = |i: usize| if i < self.end { self.tokens[i].kind } else { T::Eof };
        if !Self::is_name(kind(at)) {
            return false;
        }
        let mut i = at + 1;
        while matches!(kind(i), T::Comma | T::Dot) && Self::is_name(kind(i + 1)) {
            i += 2;
        }
        if kind(i) == T::Results {
            return true;
        }
        if kind(i) == T::LParen {
            i += 1;
            while Self::is_name(kind(i)) || kind(i) == T::Comma {
                i += 1;
            }
            if kind(i) != T::RParen {
                return false;
            }
            i += 1;
        }
        kind(i) == T::Op(BinOp::Eq)
    }

    /// The name of the operation whose header stands here, inside the body of another. `x = 1` alone is rather
    /// an assignment, mistyped: the body of an operation must begin like one.
    pub(super) fn operation_header(&self) -> Option<&str> {
        if !self.starts_operation(self.at) || !self.defines_operation(self.at) {
            return None;
        }
        let kind = |i: usize| self.tokens.get(i).filter(|_| i < self.end).map_or(T::Eof, |t| t.kind);
        let is = (self.at..self.end).find(|i| kind(*i) == T::Op(BinOp::Eq))?;
        let mut body = is + 1;
        if Self::is_name(kind(body)) {
            while Self::is_name(kind(body)) || matches!(kind(body), T::Comma | T::Dot) {
                body += 1;
            }
            if !matches!(kind(body), T::Assign | T::BecomesElement | T::BecomesSuch | T::Results) {
                return None;
            }
        } else if !matches!(kind(body), T::Kw(_)) {
            return None;
        }
        let results = (self.at..is).find(|i| kind(*i) == T::Results);
        let name = results.map_or(self.at, |i| i + 1);
        Some(self.text_of(self.tokens[name]))
    }

    /// To the next operation behind a `;`; false when the clause ends before one.
    fn skip_to_operation(&mut self) -> bool {
        loop {
            match self.peek() {
                T::Eof => return false,
                // A loop's INVARIANT is not the end of the operations.
                T::Clause(clause) if clause != Clause::Invariant => return false,
                T::Kw(Kw::End) if self.at + 1 >= self.end => return false,
                T::Semi if self.starts_operation(self.at + 1) && self.defines_operation(self.at + 1) => {
                    self.advance();
                    return true;
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// `r <-- op(x)` inside a body looks like a header until its `=`.
    fn defines_operation(&self, mut at: usize) -> bool {
        while at < self.end {
            match self.tokens[at].kind {
                T::Op(BinOp::Eq) => return true,
                T::Ident | T::Quoted | T::Comma | T::Dot | T::Results | T::LParen | T::RParen => at += 1,
                _ => return false,
            }
        }
        false
    }

    // ---- definitions ----

    fn definitions(&mut self, definitions: &mut Vec<RawDefinition>) {
        while !self.at_clause() {
            if self.gives_up() {
                return;
            }
            match self.definition() {
                Ok(definition) => definitions.push(definition),
                Err(fail) => {
                    self.report(*fail);
                    self.at = self.definition_end(self.at);
                }
            }
            if !self.eat(T::Semi) && !self.at_clause() {
                let fail = self.unexpected("`;` between two definitions");
                self.report(*fail);
                let next = self.definition_end(self.at);
                self.at = next;
                self.eat(T::Semi);
            }
        }
    }

    fn definition(&mut self) -> Res<RawDefinition> {
        let span = self.here();
        if self.peek() == T::Str {
            let token = self.advance();
            let text = self.text_of(token);
            let path = unescape(text.trim_matches('"'));
            return Ok(RawDefinition::File { path, span });
        }
        let name = self.name("the name of a definition or a file name in quotes")?;
        let mut params = vec![];
        if self.eat(T::LParen) {
            params = self.names("the name of a parameter")?;
            self.expect(T::RParen, "`)` after the parameters of the definition")?;
        }
        if self.peek() == T::Op(BinOp::Eq) {
            let fail = self.unexpected("`==`");
            return Err(Box::new(fail.help("a definition is written `name == body`")));
        }
        self.expect(T::DefEq, "`==` and the body of the definition")?;
        let body = Box::new(self.body()?);
        Ok(RawDefinition::Macro { name, params, body })
    }

    /// The body is what its tokens can be: an expression (or predicate), else a substitution.
    fn body(&mut self) -> Res<Body> {
        let start = self.at;
        let end = self.definition_end(start);
        let outer = std::mem::replace(&mut self.end, end);
        let result = self.bounded_body(start);
        self.end = outer;
        if result.is_ok() {
            self.at = end;
        }
        result
    }

    fn bounded_body(&mut self, start: usize) -> Res<Body> {
        let (first, reached) = match self.whole(Self::body_expr) {
            Ok(e) => return Ok(Body::Expr(e)),
            Err(fail) => (fail, self.at),
        };
        self.at = start;
        match self.whole(Self::sequence) {
            Ok(s) => Ok(Body::Subst(s)),
            // The reading that got further is what the author meant.
            Err(second) => Err(if self.at > reached { second } else { first }),
        }
    }

    /// An expression, or names with commas, which stand for a pair.
    fn body_expr(&mut self) -> Res<Expr> {
        let mut e = self.expr(TOP)?;
        while matches!(e.kind, ExprKind::Name(_) | ExprKind::Binary(BinOp::Pair, ..)) && self.eat(T::Comma) {
            let right = self.name("a name")?;
            let right = Expr { span: right.span, kind: ExprKind::Name(right.name) };
            e = super::binary(BinOp::Pair, e, right);
        }
        Ok(e)
    }

    fn whole<X>(&mut self, part: impl FnOnce(&mut Self) -> Res<X>) -> Res<X> {
        let x = part(self)?;
        if self.peek() == T::Eof { Ok(x) } else { Err(self.unexpected("the end of the definition")) }
    }

    /// Where a definition's body ends: at a `;` outside brackets and blocks, or at the next
    /// clause outside blocks (a loop has an INVARIANT of its own).
    fn definition_end(&self, from: usize) -> usize {
        use Kw::*;
        let mut brackets = 0usize;
        let mut blocks = 0usize;
        for i in from..self.end {
            match self.tokens[i].kind {
                T::LParen | T::LBrace | T::LBracket => brackets += 1,
                T::RParen | T::RBrace | T::RBracket => brackets = brackets.saturating_sub(1),
                T::Kw(Begin | Pre | Assert | Choice | If | Witness | Select | Any | Var | While | Let) => {
                    blocks += 1;
                }
                // CASE has two ENDs; its EITHER opens the second block.
                T::Kw(Case | Either) => blocks += 1,
                T::Kw(End) if blocks == 0 => return i,
                T::Kw(End) => blocks -= 1,
                T::Clause(_) if blocks == 0 => return i,
                T::Semi if blocks == 0 && brackets == 0 => return i,
                _ => {}
            }
        }
        self.end
    }
}

const CLAUSES: [&str; 28] = [
    "REFINES",
    "SEES",
    "USES",
    "INCLUDES",
    "EXTENDS",
    "IMPORTS",
    "PROMOTES",
    "CONSTRAINTS",
    "SETS",
    "CONSTANTS",
    "CONCRETE_CONSTANTS",
    "ABSTRACT_CONSTANTS",
    "VISIBLE_CONSTANTS",
    "HIDDEN_CONSTANTS",
    "PROPERTIES",
    "VARIABLES",
    "ABSTRACT_VARIABLES",
    "CONCRETE_VARIABLES",
    "VISIBLE_VARIABLES",
    "HIDDEN_VARIABLES",
    "INVARIANT",
    "ASSERTIONS",
    "DEFINITIONS",
    "INITIALISATION",
    "OPERATIONS",
    "EVENTS",
    "LOCAL_OPERATIONS",
    "VALUES",
];

/// The clause that a word in capitals was probably meant to be.
pub(super) fn resembled_clause(text: &str) -> Option<&'static str> {
    let capitals = text.len() > 3 && text.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let most = if text.len() > 6 { 3 } else { 1 };
    let closest = CLAUSES.iter().copied().min_by_key(|c| distance(text, c))?;
    (capitals && distance(text, closest) <= most).then_some(closest)
}

/// The keyword of a substitution that a word was probably meant to be.
pub(super) fn resembled_keyword(text: &str) -> Option<&'static str> {
    const KEYWORDS: [&str; 25] = [
        "ANY", "ASSERT", "BE", "BEGIN", "CASE", "CHOICE", "DO", "EITHER", "ELSE", "ELSIF", "END", "IF", "IN",
        "LET", "OF", "OR", "PRE", "SELECT", "skip", "THEN", "VAR", "VARIANT", "WHEN", "WHERE", "WHILE",
    ];
    let other_case = KEYWORDS.into_iter().find(|k| k.eq_ignore_ascii_case(text));
    other_case.or_else(|| {
        let capitals = text.len() > 2 && text.chars().all(|c| c.is_ascii_uppercase());
        let most = if text.len() > 4 { 2 } else { 1 };
        let closest = KEYWORDS.into_iter().min_by_key(|k| distance(text, k))?;
        (capitals && distance(text, closest) <= most).then_some(closest)
    })
}
