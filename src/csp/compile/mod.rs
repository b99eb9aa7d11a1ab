//! From the tree of a script whose types are known to [`code`](crate::value::code): every name gets its place.
//!
//! A module's definitions are definitions of the script under names of their own; an instance of a module with
//! parameters is a copy of it, whose parameters are definitions, too. A mistake that the type checker would have
//! reported is an error here as well, never a guess.

mod expr;
mod local;
mod module;
mod pattern;

use crate::tree::{self, Clause, Decl, DeclKind, Expr, Ident, Path, Pattern};
use crate::value::code::{self, Claim, Constant, Datatype, Member, Program, Unit, UnitId};
use crate::value::{ConstantId, DataId};
use kanon_language::lang::diag::{Diagnostic, NOWHERE, Span};
use kanon_language::lang::stack::catch_with_large_stack;
use local::Local;
use module::{Module, ModuleId};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScopeId(usize);

/// What a name outside of all functions stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Global {
    Member(usize),
    Constant(ConstantId),
    Module(ModuleId),
    Builtin(&'static str),
}

#[derive(Default)]
struct Scope {
    parent: Option<ScopeId>,
    names: HashMap<Arc<str>, Global>,
}

/// Definitions that are not compiled yet.
enum Job<'t> {
    Function(usize, Ident, &'t [Clause]),
    Value(usize, Ident, &'t Expr),
    Nametype(usize, &'t Expr),
    Pattern { whole: usize, pattern: &'t Pattern, names: Vec<Arc<str>>, body: &'t Expr, span: Span },
    Subtype(usize, &'t [tree::Constructor]),
    Fields(ConstantId, &'t Expr),
    Assert(&'t tree::Assertion),
    Print(&'t Expr),
}

struct Compiler<'t> {
    program: Program,
    scopes: Vec<Scope>,
    modules: Vec<Module<'t>>,
    /// Where each belongs, and where the names of its pattern are.
    jobs: VecDeque<(ScopeId, ScopeId, bool, Job<'t>)>,
    /// The functions around what is being compiled, the innermost last.
    locals: Vec<Local>,
    timed: bool,
}

/// Compiles a script that has types.
///
/// # Errors
/// What cannot be compiled.
pub fn compile(decls: &[Decl]) -> std::result::Result<Program, Box<Diagnostic>> {
    let run = || {
        let mut c = Compiler {
            program: Program::default(),
            scopes: vec![Scope::default()],
            modules: vec![],
            jobs: VecDeque::new(),
            locals: vec![],
            timed: false,
        };
        for name in crate::builtin::EVERYWHERE {
            c.scopes[0].names.insert(Arc::from(*name), Global::Builtin(name));
        }
        c.run(decls)
    };
    match catch_with_large_stack(run) {
        Ok(Ok(program)) => program,
        Ok(Err(_)) => Err(failed("the compiler failed: this is a mistake in kanon".to_string())),
        Err(e) => Err(failed(format!("no thread to compile with: {e}"))),
    }
}

fn failed(message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("C0300", NOWHERE, message))
}

impl<'t> Compiler<'t> {
    fn run(mut self, decls: &'t [Decl]) -> Result<Program> {
        let top = self.scope(Some(ScopeId(0)));
        self.declare(decls, top)?;
        for module in 0..self.modules.len() {
            self.open(ModuleId(module))?;
        }
        let mut names: Vec<(Ident, usize)> = vec![];
        self.listed(decls, top, &mut names);
        self.program.names = names;
        let at_top = self.scopes[top.0].names.values().filter_map(|global| match global {
            Global::Constant(id) => Some(*id),
            _ => None,
        });
        let mut channels: Vec<ConstantId> = at_top.collect();
        channels.retain(|id| self.program.constants[id.0 as usize].data.is_none());
        channels.sort_unstable();
        self.program.channels = channels;
        // Compiling may open instances, which have definitions.
        while let Some((scope, inside, timed, job)) = self.jobs.pop_front() {
            self.timed = timed;
            self.job(scope, inside, job)?;
        }
        Ok(self.program)
    }

    /// What stands at the top, in the order of the text.
    fn listed(&self, decls: &'t [Decl], top: ScopeId, into: &mut Vec<(Ident, usize)>) {
        for decl in decls {
            let mut names = vec![];
            match &decl.kind {
                DeclKind::Function { name, .. }
                | DeclKind::Nametype { name, .. }
                | DeclKind::Subtype { name, .. }
                | DeclKind::Datatype { name, .. } => names.push(name.clone()),
                DeclKind::Pattern { pattern, .. } => self.variables(top, pattern, &mut names),
                DeclKind::Timed { decls, .. } => self.listed(decls, top, into),
                _ => {}
            }
            for name in names {
                if let Some(Global::Member(m)) = self.scopes[top.0].names.get(&name.text) {
                    into.push((name, *m));
                }
            }
        }
    }

    fn error<T>(&self, span: Span, message: impl Into<String>) -> Result<T> {
        Err(Box::new(Diagnostic::error("C0300", span, message)))
    }

    fn scope(&mut self, parent: Option<ScopeId>) -> ScopeId {
        self.scopes.push(Scope { parent, ..Scope::default() });
        ScopeId(self.scopes.len() - 1)
    }

    fn put(&mut self, scope: ScopeId, name: &Ident, what: Global) {
        self.scopes[scope.0].names.insert(Arc::clone(&name.text), what);
    }

    fn member(&mut self) -> usize {
        self.program.globals.push(Member::Nothing);
        self.program.globals.len() - 1
    }

    fn unit(&mut self, unit: Unit) -> UnitId {
        self.program.units.push(unit);
        UnitId(self.program.units.len() as u32 - 1)
    }

    fn job_later(&mut self, scope: ScopeId, job: Job<'t>) {
        self.jobs.push_back((scope, scope, self.timed, job));
    }

    /// Declares a list: constructors and channels first, since they tell what a name in a pattern is.
    fn declare(&mut self, decls: &'t [Decl], scope: ScopeId) -> Result<()> {
        for constants in [true, false] {
            for decl in decls {
                let is = matches!(decl.kind, DeclKind::Channel { .. } | DeclKind::Datatype { .. });
                // A timed section may have some, too.
                if is == constants || matches!(decl.kind, DeclKind::Timed { .. }) {
                    self.declare_one(decl, scope, constants)?;
                }
            }
        }
        Ok(())
    }

    fn declare_one(&mut self, decl: &'t Decl, scope: ScopeId, constants: bool) -> Result<()> {
        match &decl.kind {
            DeclKind::Channel { names, fields, .. } => {
                for name in names {
                    self.constant(scope, name, None, fields.as_ref());
                }
            }
            DeclKind::Datatype { name, clauses } => {
                let data = DataId(self.program.data.len() as u32);
                self.program.data.push(Datatype { name: Arc::clone(&name.text), constructors: vec![] });
                let member = self.member();
                self.program.globals[member] = Member::Data(data);
                self.put(scope, name, Global::Member(member));
                for c in clauses {
                    let id = self.constant(scope, &c.name, Some(data), c.fields.as_ref());
                    self.program.data[data.0 as usize].constructors.push(id);
                }
            }
            DeclKind::Function { name, clauses, .. } => {
                let member = self.named(scope, name);
                self.job_later(scope, Job::Function(member, name.clone(), clauses));
            }
            DeclKind::Nametype { name, body, .. } => {
                let member = self.named(scope, name);
                self.job_later(scope, Job::Nametype(member, body));
            }
            DeclKind::Subtype { name, clauses } => {
                let member = self.named(scope, name);
                self.job_later(scope, Job::Subtype(member, clauses));
            }
            DeclKind::Pattern { pattern, body, .. } => {
                self.bind_pattern(scope, scope, pattern, body, decl.span)
            }
            DeclKind::External(names) | DeclKind::Transparent(names) => {
                for name in names {
                    match crate::builtin::library(&name.text) {
                        Some(known) => self.put(scope, name, Global::Builtin(known)),
                        None => {
                            return self.error(name.span, format!("there is no function `{}`", name.text));
                        }
                    }
                }
            }
            DeclKind::Timed { decls, .. } => {
                let timed = std::mem::replace(&mut self.timed, true);
                for decl in decls {
                    let is = matches!(decl.kind, DeclKind::Channel { .. } | DeclKind::Datatype { .. });
                    if is == constants || matches!(decl.kind, DeclKind::Timed { .. }) {
                        self.declare_one(decl, scope, constants)?;
                    }
                }
                self.timed = timed;
            }
            DeclKind::Module { .. } => self.declare_module(decl, scope)?,
            DeclKind::Instance { .. } => self.declare_instance(decl, scope),
            DeclKind::Assert(a) => self.job_later(scope, Job::Assert(a)),
            DeclKind::Print(e) => self.job_later(scope, Job::Print(e)),
            DeclKind::Annotation { .. } => {}
        }
        Ok(())
    }

    fn named(&mut self, scope: ScopeId, name: &Ident) -> usize {
        let member = self.member();
        self.put(scope, name, Global::Member(member));
        member
    }

    /// `pattern = body`: the body belongs to `outside`, which differs for the parameters of an instance.
    fn bind_pattern(
        &mut self,
        scope: ScopeId,
        outside: ScopeId,
        pattern: &'t Pattern,
        body: &'t Expr,
        span: Span,
    ) {
        let mut names = vec![];
        self.variables(scope, pattern, &mut names);
        if let (tree::PatternKind::Name(_), [name]) = (&pattern.kind, &names[..]) {
            let member = self.named(scope, name);
            self.job_later(outside, Job::Value(member, name.clone(), body));
            return;
        }
        let whole = self.member();
        for (place, name) in names.iter().enumerate() {
            let member = self.named(scope, name);
            self.program.globals[member] = Member::Part(whole, place);
        }
        let names = names.into_iter().map(|n| n.text).collect();
        let job = Job::Pattern { whole, pattern, names, body, span };
        self.jobs.push_back((outside, scope, self.timed, job));
    }

    fn constant(
        &mut self,
        scope: ScopeId,
        name: &Ident,
        data: Option<DataId>,
        fields: Option<&'t Expr>,
    ) -> ConstantId {
        let id = ConstantId(self.program.constants.len() as u32);
        let (text, span) = (Arc::clone(&name.text), name.span);
        self.program.constants.push(Constant { name: text, span, data, fields: None });
        self.put(scope, name, Global::Constant(id));
        if let Some(e) = fields {
            self.job_later(scope, Job::Fields(id, e));
        }
        id
    }

    fn job(&mut self, scope: ScopeId, inside: ScopeId, job: Job<'t>) -> Result<()> {
        match job {
            Job::Function(member, name, clauses) => {
                let unit = self.function(scope, Some(name.text), name.span, clauses)?;
                self.program.globals[member] = Member::Function(unit);
            }
            Job::Value(member, name, body) => {
                let unit = self.closed(scope, Some(name.text), body)?;
                self.program.globals[member] = Member::Value(unit);
            }
            Job::Nametype(member, body) => {
                self.program.globals[member] = Member::Nametype(self.closed(scope, None, body)?);
            }
            Job::Pattern { whole, pattern, names, body, span } => {
                let unit = self.closed(scope, None, body)?;
                self.program.globals[whole] = self.matched(inside, pattern, &names, unit, span)?;
            }
            Job::Subtype(member, clauses) => {
                let mut all = vec![];
                for c in clauses {
                    let path = Path { parts: vec![c.name.clone()] };
                    let Some(Global::Constant(id)) = self.global(scope, &path)? else {
                        return self.error(c.span, format!("`{}` is no constructor", c.name.text));
                    };
                    let fields = c.fields.as_ref().map(|e| self.closed(scope, None, e)).transpose()?;
                    all.push((id, fields, c.span));
                }
                self.program.globals[member] = Member::Subtype(all);
            }
            Job::Fields(id, e) => {
                let unit = self.closed(scope, None, e)?;
                self.program.constants[id.0 as usize].fields = Some(unit);
            }
            Job::Assert(a) => self.assertion(scope, a)?,
            Job::Print(e) => {
                let unit = self.closed(scope, None, e)?;
                self.program.prints.push(unit);
            }
        }
        Ok(())
    }

    /// An expression that is a unit of its own and captures nothing.
    fn closed(&mut self, scope: ScopeId, name: Option<Arc<str>>, e: &'t Expr) -> Result<UnitId> {
        self.locals.push(Local::default());
        let body = self.expr(scope, e);
        let size = self.locals.pop().map_or(0, |l| l.size);
        let clauses = vec![code::Clause { patterns: vec![], body: body? }];
        Ok(self.unit(Unit { span: e.span, name, captures: vec![], size, lists: 0, clauses }))
    }

    /// A definition by a pattern, outside of all functions.
    fn matched(
        &mut self,
        scope: ScopeId,
        pattern: &'t Pattern,
        names: &[Arc<str>],
        unit: UnitId,
        span: Span,
    ) -> Result<Member> {
        self.locals.push(Local::default());
        let compiled = self.pattern(scope, pattern);
        let local = self.locals.pop().unwrap_or_default();
        let slots = names.iter().filter_map(|n| local.slot(n)).collect();
        Ok(Member::Pattern { unit, slots, pattern: compiled?, size: local.size, span })
    }

    fn assertion(&mut self, scope: ScopeId, a: &'t tree::Assertion) -> Result<()> {
        let claim = match &a.claim {
            tree::Claim::Refines(p, model, q) => {
                Claim::Refines(self.closed(scope, None, p)?, *model, self.closed(scope, None, q)?)
            }
            tree::Claim::Property(p, property, model) => {
                Claim::Property(self.closed(scope, None, p)?, *property, *model)
            }
            tree::Claim::HasTrace(p, trace, model) => {
                let events: Result<Vec<UnitId>> = trace.iter().map(|e| self.closed(scope, None, e)).collect();
                Claim::HasTrace(self.closed(scope, None, p)?, events?, *model)
            }
        };
        let prioritised = a.options.iter().any(|o| matches!(o, tree::ModelOption::TauPriority(_)));
        let assertion = code::Assertion { span: a.span, negated: a.negated, claim, prioritised };
        self.program.assertions.push(assertion);
        Ok(())
    }
}
