//! Expressions, functions and `let`.

use super::local::{Local, Place};
use super::{Compiler, Global, Result, ScopeId};
use crate::builtin::COMPRESSIONS;
use crate::tree::{self, Clause, Decl, DeclKind, Expr, ExprKind, Path, StmtKind};
use crate::value::Value;
use crate::value::code::{
    self, Code, Comprehension, Field, FieldKind, Group, GroupId, Items, Kind, Member, Pairs, Replicated,
    Stmt, Unit, UnitId,
};
use kanon_language::lang::diag::Span;
use std::sync::Arc;

impl<'t> Compiler<'t> {
    pub(super) fn expr(&mut self, scope: ScopeId, e: &'t Expr) -> Result<Code> {
        let kind = match &e.kind {
            ExprKind::Literal(value) => Kind::Value(self.literal(e.span, value)?),
            ExprKind::Name(path) => self.name(scope, path)?,
            ExprKind::Wild | ExprKind::Both(..) => {
                return self.error(e.span, "this may only stand in a pattern");
            }
            ExprKind::Paren(e) => return self.expr(scope, e),
            ExprKind::Tuple(all) => Kind::Tuple(self.exprs(scope, all)?),
            ExprKind::Dot(a, b) => Kind::Dot(Box::new(self.expr(scope, a)?), Box::new(self.expr(scope, b)?)),
            ExprKind::Apply(f, all) => {
                let function = self.expr(scope, f)?;
                match (&function.kind, &all[..]) {
                    // What only makes a process smaller need not look at it.
                    (Kind::Value(Value::Builtin(name)), [p]) if COMPRESSIONS.contains(name) => {
                        Kind::Later(self.later(scope, p)?)
                    }
                    _ => Kind::Apply(Box::new(function), self.exprs(scope, all)?),
                }
            }
            ExprKind::Lambda(parameters, body) => {
                self.locals.push(Local::default());
                let clause = self.parameters(scope, std::slice::from_ref(parameters), body);
                let local = self.locals.pop().unwrap_or_default();
                let clauses = vec![clause?];
                let unit = Unit {
                    span: e.span,
                    name: None,
                    captures: local.captures,
                    size: local.size,
                    lists: 1,
                    clauses,
                };
                Kind::Function(self.unit(unit))
            }
            ExprKind::Let(decls, body) => return self.group(scope, e.span, decls, body),
            ExprKind::If(a, b, c) => Kind::If(
                Box::new(self.expr(scope, a)?),
                Box::new(self.expr(scope, b)?),
                Box::new(self.expr(scope, c)?),
            ),
            ExprKind::Unary(op, e) => Kind::Unary(*op, Box::new(self.expr(scope, e)?)),
            ExprKind::Binary(op, a, b) => {
                Kind::Binary(*op, Box::new(self.expr(scope, a)?), Box::new(self.expr(scope, b)?))
            }
            ExprKind::Seq(c) => Kind::Seq(self.comprehension(scope, e.span, &c.items, &c.stmts)?),
            ExprKind::Set(c) => Kind::Set(self.comprehension(scope, e.span, &c.items, &c.stmts)?),
            ExprKind::Productions(all, stmts) => {
                let known = self.known();
                let stmts = self.stmts(scope, stmts)?;
                let items = Items::Listed(self.exprs(scope, all)?);
                self.forget(known);
                Kind::Productions(Arc::new(Comprehension { span: e.span, stmts, items }))
            }
            ExprKind::Map(all) => {
                let pair = |(k, v): &'t (Expr, Expr)| Ok((self.expr(scope, k)?, self.expr(scope, v)?));
                Kind::Map(all.iter().map(pair).collect::<Result<_>>()?)
            }
            ExprKind::Guarded(b, p) => {
                Kind::Guarded(Box::new(self.expr(scope, b)?), Box::new(self.expr(scope, p)?))
            }
            _ if self.timed => Kind::Refused("a process of a timed section"),
            _ => self.process(scope, e)?,
        };
        Ok(Code { span: e.span, kind })
    }

    fn exprs(&mut self, scope: ScopeId, all: &'t [Expr]) -> Result<Vec<Code>> {
        all.iter().map(|e| self.expr(scope, e)).collect()
    }

    fn name(&mut self, scope: ScopeId, path: &Path) -> Result<Kind> {
        if let [name] = &path.parts[..]
            && let Some(place) = self.local(&name.text)
        {
            return Ok(match place {
                Place::Slot(s) => Kind::Slot(s),
                Place::Member(s, m) => Kind::Member(s, m),
                Place::Builtin(b) => Kind::Value(Value::Builtin(b)),
            });
        }
        Ok(match self.global(scope, path)? {
            Some(Global::Member(m)) => Kind::Global(m),
            Some(Global::Constant(id)) => Kind::Value(Value::Constant(id)),
            Some(Global::Builtin(b)) => Kind::Value(Value::Builtin(b)),
            Some(Global::Module(_)) | None => {
                // In a timed section some names are known to it alone.
                if self.timed && matches!(&*path.text(), "WAIT" | "TSTOP" | "TSKIP" | "timed_priority") {
                    return Ok(Kind::Value(Value::Builtin("timed")));
                }
                return self.error(path.span(), format!("`{}` is not defined", path.text()));
            }
        })
    }

    /// An expression that is looked at later, with what it captures.
    fn later(&mut self, scope: ScopeId, e: &'t Expr) -> Result<UnitId> {
        self.locals.push(Local::default());
        let body = self.expr(scope, e);
        let local = self.locals.pop().unwrap_or_default();
        let clauses = vec![code::Clause { patterns: vec![], body: body? }];
        let (captures, size) = (local.captures, local.size);
        Ok(self.unit(Unit { span: e.span, name: None, captures, size, lists: 0, clauses }))
    }

    pub(super) fn function(
        &mut self,
        scope: ScopeId,
        name: Option<Arc<str>>,
        span: Span,
        clauses: &'t [Clause],
    ) -> Result<UnitId> {
        self.locals.push(Local::default());
        let all: Result<Vec<code::Clause>> =
            clauses.iter().map(|c| self.parameters(scope, &c.parameters, &c.body)).collect();
        let local = self.locals.pop().unwrap_or_default();
        let lists = clauses.first().map_or(0, |c| c.parameters.len());
        if clauses.iter().any(|c| c.parameters.len() != lists) {
            return self.error(span, "the clauses of this function take different numbers of arguments");
        }
        let (captures, size) = (local.captures, local.size);
        Ok(self.unit(Unit { span, name, captures, size, lists, clauses: all? }))
    }

    fn parameters(
        &mut self,
        scope: ScopeId,
        lists: &'t [Vec<tree::Pattern>],
        body: &'t Expr,
    ) -> Result<code::Clause> {
        let known = self.known();
        let mut patterns = vec![];
        for list in lists {
            let list: Result<Vec<code::Pattern>> = list.iter().map(|p| self.pattern(scope, p)).collect();
            patterns.push(list?);
        }
        let body = self.expr(scope, body)?;
        self.forget(known);
        Ok(code::Clause { patterns, body })
    }

    fn group(&mut self, scope: ScopeId, span: Span, decls: &'t [Decl], body: &'t Expr) -> Result<Code> {
        self.locals.push(Local { size: 1, ..Local::default() });
        let mut members = vec![];
        let compiled = self.members(scope, decls, &mut members);
        let local = self.locals.pop().unwrap_or_default();
        compiled?;
        self.program.groups.push(Group { captures: local.captures, size: local.size, members });
        let group = GroupId(self.program.groups.len() as u32 - 1);
        let known = self.known();
        let frame = self.fresh();
        for (name, place) in local.names {
            let place = match place {
                Place::Member(0, m) => Place::Member(frame, m),
                other => other,
            };
            self.bind(name, place);
        }
        let body = self.expr(scope, body)?;
        self.forget(known);
        Ok(Code { span, kind: Kind::Let(group, frame, Box::new(body)) })
    }

    /// The definitions of a `let`: first their names, then what they are.
    fn members(&mut self, scope: ScopeId, decls: &'t [Decl], members: &mut Vec<Member>) -> Result<()> {
        let mut jobs = vec![];
        self.announce(scope, decls, members, &mut jobs);
        let outer = self.timed;
        for (member, decl, timed) in jobs {
            self.timed = timed;
            let compiled = match &decl.kind {
                DeclKind::Function { name, clauses, .. } => Member::Function(self.function(
                    scope,
                    Some(Arc::clone(&name.text)),
                    name.span,
                    clauses,
                )?),
                DeclKind::Nametype { body, .. } => Member::Nametype(self.later(scope, body)?),
                DeclKind::Pattern { pattern, body, .. } => {
                    let unit = self.later(scope, body)?;
                    match &pattern.kind {
                        tree::PatternKind::Name(_) => Member::Value(unit),
                        _ => {
                            let mut names = vec![];
                            self.variables(scope, pattern, &mut names);
                            let names: Vec<Arc<str>> = names.into_iter().map(|n| n.text).collect();
                            self.matched(scope, pattern, &names, unit, decl.span)?
                        }
                    }
                }
                _ => continue,
            };
            members[member] = compiled;
        }
        self.timed = outer;
        Ok(())
    }

    fn announce(
        &mut self,
        scope: ScopeId,
        decls: &'t [Decl],
        members: &mut Vec<Member>,
        jobs: &mut Vec<(usize, &'t Decl, bool)>,
    ) {
        for decl in decls {
            match &decl.kind {
                DeclKind::Function { name, .. } | DeclKind::Nametype { name, .. } => {
                    self.bind(Arc::clone(&name.text), Place::Member(0, members.len()));
                    jobs.push((members.len(), decl, self.timed));
                    members.push(Member::Nothing);
                }
                DeclKind::Pattern { pattern, .. } => {
                    let mut names = vec![];
                    self.variables(scope, pattern, &mut names);
                    let whole = members.len();
                    jobs.push((whole, decl, self.timed));
                    members.push(Member::Nothing);
                    let single = matches!(pattern.kind, tree::PatternKind::Name(_));
                    for (place, name) in names.into_iter().enumerate() {
                        if single {
                            self.bind(name.text, Place::Member(0, whole));
                        } else {
                            self.bind(name.text, Place::Member(0, members.len()));
                            members.push(Member::Part(whole, place));
                        }
                    }
                }
                DeclKind::External(names) | DeclKind::Transparent(names) => {
                    for name in names {
                        if let Some(known) = crate::builtin::library(&name.text) {
                            self.bind(Arc::clone(&name.text), Place::Builtin(known));
                        }
                    }
                }
                DeclKind::Timed { decls, .. } => {
                    let timed = std::mem::replace(&mut self.timed, true);
                    self.announce(scope, decls, members, jobs);
                    self.timed = timed;
                }
                _ => {}
            }
        }
    }

    fn comprehension(
        &mut self,
        scope: ScopeId,
        span: Span,
        items: &'t tree::Items,
        stmts: &'t [tree::Stmt],
    ) -> Result<Arc<Comprehension>> {
        let known = self.known();
        let stmts = self.stmts(scope, stmts)?;
        let items = match items {
            tree::Items::Listed(all) => Items::Listed(self.exprs(scope, all)?),
            tree::Items::Range(from, to) => {
                let to = to.as_ref().map(|to| self.expr(scope, to)).transpose()?;
                Items::Range(Box::new(self.expr(scope, from)?), to.map(Box::new))
            }
        };
        self.forget(known);
        Ok(Arc::new(Comprehension { span, stmts, items }))
    }

    /// The names of the statements stay known.
    fn stmts(&mut self, scope: ScopeId, stmts: &'t [tree::Stmt]) -> Result<Vec<Stmt>> {
        let one = |s: &'t tree::Stmt| {
            Ok(match &s.kind {
                StmtKind::If(test) => Stmt::If(self.expr(scope, test)?),
                StmtKind::From(pattern, from) => {
                    let from = self.expr(scope, from)?;
                    Stmt::From(self.pattern(scope, pattern)?, from)
                }
            })
        };
        stmts.iter().map(one).collect()
    }

    fn pairs(&mut self, scope: ScopeId, pairs: &'t tree::Pairs) -> Result<Pairs> {
        let known = self.known();
        let stmts = self.stmts(scope, &pairs.stmts)?;
        let pair = |(a, b): &'t (Expr, Expr)| Ok((self.expr(scope, a)?, self.expr(scope, b)?));
        let pairs = pairs.pairs.iter().map(pair).collect::<Result<_>>()?;
        self.forget(known);
        Ok(Pairs { pairs, stmts })
    }

    fn boxed(&mut self, scope: ScopeId, e: &'t Expr) -> Result<Box<Code>> {
        self.expr(scope, e).map(Box::new)
    }

    fn process(&mut self, scope: ScopeId, e: &'t Expr) -> Result<Kind> {
        Ok(match &e.kind {
            ExprKind::Prefix(event, fields, then) => {
                let known = self.known();
                let event = self.boxed(scope, event)?;
                let mut all = vec![];
                for field in fields {
                    let kind = match &field.kind {
                        tree::FieldKind::Output(e) => FieldKind::Output(self.expr(scope, e)?),
                        tree::FieldKind::Input(p, set) => {
                            let set = set.as_ref().map(|e| self.expr(scope, e)).transpose()?;
                            FieldKind::Input(self.pattern(scope, p)?, set)
                        }
                        tree::FieldKind::Chosen(p, set) => {
                            let set = set.as_ref().map(|e| self.expr(scope, e)).transpose()?;
                            FieldKind::Chosen(self.pattern(scope, p)?, set)
                        }
                    };
                    all.push(Field { span: field.span, kind });
                }
                let then = self.later(scope, then)?;
                self.forget(known);
                Kind::Prefix(event, all, then)
            }
            ExprKind::Process(op, p, q) => Kind::Process(*op, self.later(scope, p)?, self.later(scope, q)?),
            ExprKind::Synchronised(op, p, set, q) => {
                let (p, q) = (self.later(scope, p)?, self.later(scope, q)?);
                Kind::Synchronised(*op, p, self.boxed(scope, set)?, q)
            }
            ExprKind::Alphabetised(p, a, b, q) => {
                let (p, q) = (self.later(scope, p)?, self.later(scope, q)?);
                Kind::Alphabetised(p, self.boxed(scope, a)?, self.boxed(scope, b)?, q)
            }
            ExprKind::Linked(p, pairs, q) => {
                let (p, q) = (self.later(scope, p)?, self.later(scope, q)?);
                Kind::Linked(p, self.pairs(scope, pairs)?, q)
            }
            ExprKind::Renamed(p, pairs) => Kind::Renamed(self.later(scope, p)?, self.pairs(scope, pairs)?),
            ExprKind::Hidden(p, set) => Kind::Hidden(self.later(scope, p)?, self.boxed(scope, set)?),
            ExprKind::Projected(p, set) => Kind::Projected(self.later(scope, p)?, self.boxed(scope, set)?),
            ExprKind::Replicated(op, stmts, body) => {
                let before = match op {
                    tree::Replicated::Share(set) => Some(self.boxed(scope, set)?),
                    tree::Replicated::SynchronisedChoice(set) => Some(self.boxed(scope, set)?),
                    _ => None,
                };
                let known = self.known();
                let stmts = self.stmts(scope, stmts)?;
                let op = match (op, before) {
                    (tree::Replicated::ExternalChoice, _) => Replicated::ExternalChoice,
                    (tree::Replicated::InternalChoice, _) => Replicated::InternalChoice,
                    (tree::Replicated::Interleave, _) => Replicated::Interleave,
                    (tree::Replicated::Sequence, _) => Replicated::Sequence,
                    (tree::Replicated::Share(_), Some(set)) => Replicated::Share(set),
                    (tree::Replicated::SynchronisedChoice(_), Some(set)) => {
                        Replicated::SynchronisedChoice(set)
                    }
                    (tree::Replicated::Alphabetised(set), _) => {
                        Replicated::Alphabetised(self.boxed(scope, set)?)
                    }
                    (tree::Replicated::Linked(pairs), _) => Replicated::Linked(self.pairs(scope, pairs)?),
                    _ => return self.error(e.span, "a set is missing"),
                };
                let body = self.later(scope, body)?;
                self.forget(known);
                Kind::Replicated(op, stmts, body)
            }
            _ => return self.error(e.span, "this is no expression"),
        })
    }
}
