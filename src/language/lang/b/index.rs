//! Who is who in a text of classical B: names are looked up in the tree as it is written, before definitions are
//! expanded, and beside mistakes.

use super::lex::{self, Clause, Kw, T, Token};
use super::parse::{Parser, RawDefinition, RawMachine};
use crate::lang::ast::*;
use crate::lang::diag::{FileId, Span};
use crate::lang::index::{Declared, Index, Kind, Reference, Use, comments};
use crate::lang::macros::Body;
use crate::lang::walk::{children, subst_children};
use std::collections::HashMap;

/// Reads a text: a machine, or a file of definitions.
pub fn index(text: &str, file: FileId) -> Index {
    super::with_deep_stack(file, || indexed(text, file))
        .unwrap_or_else(|d| Index { diagnostics: vec![d], ..Index::default() })
}

fn indexed(text: &str, file: FileId) -> Index {
    let (tokens, mut diagnostics) = lex::lex(text, file);
    let mut parser = Parser::new(text, file, &tokens);
    let mut of = Indexer { text, found: Index::default(), globals: HashMap::new(), scope: vec![], macros: 0 };
    if tokens.first().is_some_and(|t| t.kind == T::Clause(Clause::Definitions)) {
        let definitions = parser.definition_file();
        of.declare_definitions(&definitions);
        of.definitions(&definitions);
    } else if let Some(raw) = parser.machine() {
        of.machine(&raw);
    }
    diagnostics.append(&mut parser.diagnostics);
    diagnostics.sort_by_key(|d| d.span);
    let mut found = of.found;
    found.sort();
    found.folds = folds(text, file, &tokens);
    found.diagnostics = diagnostics;
    found
}

struct Indexer<'t> {
    text: &'t str,
    found: Index,
    globals: HashMap<Name, usize>,
    scope: Vec<(Name, usize)>,
    /// Inside the body of a definition: how many of the names in scope were there before it.
    macros: usize,
}

impl Indexer<'_> {
    fn add(&mut self, id: &Ident, kind: Kind, whole: Span, head: Span, scope: Option<Span>) -> usize {
        let name = id.name.clone();
        self.found.names.push(Declared { name, kind, span: id.span, whole, head, scope });
        self.found.names.len() - 1
    }

    fn global(&mut self, id: &Ident, kind: Kind, whole: Span, head: Span) {
        let at = self.add(id, kind, whole, head, None);
        self.globals.entry(id.name.clone()).or_insert(at);
    }

    fn globals(&mut self, ids: &[Ident], kind: Kind) {
        for id in ids {
            self.global(id, kind, id.span, id.span);
        }
    }

    fn see(&mut self, name: &Name, span: Span) {
        let local = self.scope.iter().rev().find(|(n, _)| n == name).map(|(_, i)| *i);
        let of = local.or_else(|| self.globals.get(name).copied());
        let in_definition = self.macros > 0 && local.is_none();
        self.found.uses.push(Use { name: name.clone(), span, of, in_definition });
    }

    /// Declares names that can be seen in a span while something is done.
    fn with(&mut self, ids: &[Ident], scope: Span, inside: impl FnOnce(&mut Self)) {
        let before = self.scope.len();
        for id in ids {
            let at = self.add(id, Kind::Local, id.span, id.span, Some(scope));
            self.scope.push((id.name.clone(), at));
        }
        inside(self);
        self.scope.truncate(before);
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Name(name) => self.see(name, e.span),
            ExprKind::Old(name) => {
                // Without the `$0`.
                let rest = self.text.get(e.span.lo as usize..e.span.hi as usize).unwrap_or_default();
                let len = rest.rfind("$0").map_or(rest.len(), |n| rest[..n].trim_end().len());
                self.see(name, Span { hi: e.span.lo + len as u32, ..e.span });
            }
            ExprKind::Quant(_, ids, _)
            | ExprKind::Bind(_, ids, ..)
            | ExprKind::Compr(ids, _)
            | ExprKind::ComprMap(ids, ..)
            | ExprKind::Let(ids, ..) => self.with(ids, e.span, |s| s.parts(e)),
            _ => self.parts(e),
        }
    }

    fn parts(&mut self, e: &Expr) {
        children(e, &mut |part| self.expr(part));
    }

    fn subst(&mut self, s: &Subst) {
        match &s.kind {
            SubstKind::Any(ids, ..) | SubstKind::Let(ids, ..) | SubstKind::Var(ids, _) => {
                self.with(ids, s.span, |i| i.subst_parts(s));
            }
            SubstKind::BecomesSuch(ids, _) => {
                ids.iter().for_each(|id| self.see(&id.name, id.span));
                self.subst_parts(s);
            }
            SubstKind::Call { op, .. } => {
                self.see(&op.name, op.span);
                self.subst_parts(s);
            }
            _ => self.subst_parts(s),
        }
    }

    fn subst_parts(&mut self, s: &Subst) {
        enum Part<'t> {
            Expr(&'t Expr),
            Subst(&'t Subst),
        }
        let parts = std::cell::RefCell::new(vec![]);
        subst_children(s, &mut |e| parts.borrow_mut().push(Part::Expr(e)), &mut |s| {
            parts.borrow_mut().push(Part::Subst(s))
        });
        for part in parts.into_inner() {
            match part {
                Part::Expr(e) => self.expr(e),
                Part::Subst(s) => self.subst(s),
            }
        }
    }

    fn declare_definitions(&mut self, definitions: &[RawDefinition]) {
        for d in definitions {
            match d {
                RawDefinition::Macro { name, params, body } => {
                    let end = match &**body {
                        Body::Expr(e) => e.span,
                        Body::Subst(s) => s.span,
                    };
                    let whole = name.span.to(end);
                    let head = params.last().map_or(name.span, |p| name.span.to(p.span));
                    self.global(name, Kind::Definition, whole, head);
                }
                RawDefinition::File { path, span } => self.found.files.push((path.clone(), *span)),
            }
        }
    }

    fn definitions(&mut self, definitions: &[RawDefinition]) {
        for d in definitions {
            let RawDefinition::Macro { name, params, body } = d else { continue };
            self.macros += 1;
            match &**body {
                Body::Expr(e) => self.with(params, name.span.to(e.span), |i| i.expr(e)),
                Body::Subst(s) => self.with(params, name.span.to(s.span), |i| i.subst(s)),
            }
            self.macros -= 1;
        }
    }

    fn operation(&mut self, o: &Operation) {
        let locals: Vec<Ident> = o.results.iter().chain(&o.params).cloned().collect();
        let first = o.results.first().unwrap_or(&o.name).span;
        self.with(&locals, first.to(o.body.span), |i| i.subst(&o.body));
    }

    fn machine(&mut self, raw: &RawMachine) {
        let m = &raw.machine;
        self.found.header = Some(Span { hi: m.name.span.hi, ..m.span });
        self.add(&m.name, Kind::Machine, m.span, m.name.span, None);
        // Definitions come first: they win over what else has their name.
        self.declare_definitions(&raw.definitions);
        self.globals(&m.params, Kind::Parameter);
        for set in &m.sets {
            self.global(&set.name, Kind::Set, set.name.span, set.name.span);
            self.globals(set.elements.as_deref().unwrap_or_default(), Kind::Element);
        }
        for free in &m.freetypes {
            self.global(&free.name, Kind::Freetype, free.name.span, free.name.span);
            free.cases
                .iter()
                .for_each(|(case, _)| self.global(case, Kind::Constructor, case.span, case.span));
        }
        self.globals(&m.constants, Kind::Constant);
        self.globals(&m.abstract_constants, Kind::Constant);
        self.globals(&m.concrete_variables, Kind::Variable);
        self.globals(&m.variables, Kind::Variable);
        for o in m.operations.iter().chain(&m.local_operations) {
            let first = o.results.first().unwrap_or(&o.name).span;
            let head = o.params.last().map_or(first.to(o.name.span), |p| first.to(p.span));
            self.global(&o.name, Kind::Operation, first.to(o.body.span), head);
        }
        self.refer(m);
        self.definitions(&raw.definitions);
        raw.sets_by_definition.iter().for_each(|(_, by)| self.see(&by.name, by.span));
        m.freetypes.iter().flat_map(|f| &f.cases).filter_map(|(_, e)| e.as_ref()).for_each(|e| self.expr(e));
        m.values.iter().for_each(|(id, e)| {
            self.see(&id.name, id.span);
            self.expr(e);
        });
        let predicates = [&m.constraints, &m.properties, &m.invariant].into_iter().flatten();
        predicates.chain(&m.assertions).for_each(|e| self.expr(e));
        if let Some(s) = &m.initialisation {
            self.subst(s);
        }
        m.operations.iter().chain(&m.local_operations).for_each(|o| self.operation(o));
    }

    fn refer(&mut self, m: &Machine) {
        let refer = |machine: &Ident, refines| {
            // `prefix.M`: the last part is the machine.
            let name: Name = machine.name.rsplit('.').next().unwrap_or_default().into();
            let lo = machine.span.hi.saturating_sub(name.len() as u32);
            let machine = Ident { name, span: Span { lo, ..machine.span } };
            Reference { machine, refines }
        };
        let mut all = vec![];
        all.extend(m.refines.iter().map(|id| refer(id, true)));
        all.extend(m.sees.iter().chain(&m.uses).map(|id| refer(id, false)));
        for r in m.includes.iter().chain(&m.extends).chain(&m.imports) {
            all.push(refer(&r.name, false));
            r.args.iter().for_each(|e| self.expr(e));
        }
        m.promotes.iter().for_each(|id| self.see(&id.name, id.span));
        self.found.references = all;
    }
}

/// Clauses, blocks and comments that have several lines.
fn folds(text: &str, file: FileId, tokens: &[Token]) -> Vec<Span> {
    use Kw::*;
    let mut found = vec![];
    let mut blocks: Vec<u32> = vec![];
    let mut clause: Option<u32> = None;
    let mut last = 0u32;
    for token in tokens {
        comments(text, file, last, token.lo, &mut found);
        match token.kind {
            T::Kw(
                Begin | Pre | Assert | Choice | If | Witness | Select | Any | Var | While | Let | Case
                | Either,
            ) => blocks.push(token.lo),
            T::Kw(End) => match blocks.pop() {
                Some(lo) => found.push(Span { file, lo, hi: token.hi }),
                None => found.extend(clause.take().map(|lo| Span { file, lo, hi: last })),
            },
            T::Clause(_) if blocks.is_empty() => {
                found.extend(clause.replace(token.lo).map(|lo| Span { file, lo, hi: last }));
            }
            _ => {}
        }
        last = token.hi;
    }
    comments(text, file, last, text.len() as u32, &mut found);
    found.retain(|s| text.get(s.lo as usize..s.hi as usize).is_some_and(|t| t.contains('\n')));
    found.sort();
    found
}
