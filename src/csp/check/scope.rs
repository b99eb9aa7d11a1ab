//! Scopes, modules, and who a name stands for.

use super::{BindingKind, Checker, Result, Unit, UnitId, UnitState};
use crate::tree::{Decl, DeclKind, Ident, Path};
use crate::types::{Scheme, Type};
use kanon_language::lang::diag::{Diagnostic, Span};
use kanon_language::lang::spelling::closest;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScopeId(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BindingId(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub usize);

#[derive(Debug, Default)]
pub struct Scope {
    pub parent: Option<ScopeId>,
    pub names: HashMap<Arc<str>, BindingId>,
    /// The scope of a module, or of an instance of one.
    pub module: Option<ModuleId>,
}

/// A module, or an instance of one.
pub struct Module<'t> {
    /// What it was declared by.
    pub decl: &'t Decl,
    /// Around the declaration.
    pub outside: ScopeId,
    /// Inside it: none when it has parameters and is no instance.
    pub inside: Option<ScopeId>,
    pub exported: HashMap<Arc<str>, BindingId>,
    /// Typed with any arguments.
    pub generic: bool,
    pub instance: bool,
    /// The module around an instance's declaration.
    pub within: Option<ModuleId>,
    /// An instance whose parts have been made, or whose making has begun.
    pub opened: bool,
}

impl<'t> Checker<'t> {
    pub(super) fn scope(&mut self, parent: Option<ScopeId>) -> ScopeId {
        self.scopes.push(Scope { parent, ..Scope::default() });
        ScopeId(self.scopes.len() - 1)
    }

    /// Puts a name into a scope, once.
    pub(super) fn put(&mut self, scope: ScopeId, name: BindingId) -> Result<()> {
        let ident = self.bindings[name.0].ident.clone();
        let names = &mut self.scopes[scope.0].names;
        if let Some(first) = names.get(&ident.text) {
            let first = self.bindings[first.0].ident.span;
            let d = Diagnostic::error("C0210", ident.span, format!("`{}` is defined twice", ident.text));
            return Err(Box::new(d.note(first, "the first definition is here")));
        }
        names.insert(ident.text, name);
        Ok(())
    }

    /// A variable that a pattern binds.
    pub(super) fn local(&mut self, scope: ScopeId, ident: &Ident) -> Result<()> {
        let ty = self.table.fresh();
        let name = self.bind(ident.clone(), BindingKind::Value, Scheme::mono(ty), None);
        self.put(scope, name)
    }

    pub(super) fn find(&self, scope: ScopeId, name: &str) -> Option<BindingId> {
        let mut at = Some(scope);
        while let Some(s) = at {
            if let Some(b) = self.scopes[s.0].names.get(name) {
                let hidden = self.bindings[b.0].kind == BindingKind::Timed && !self.timed;
                if !hidden {
                    return Some(*b);
                }
            }
            at = self.scopes[s.0].parent;
        }
        None
    }

    /// Who a path stands for.
    pub(super) fn lookup(&mut self, scope: ScopeId, path: &Path) -> Result<BindingId> {
        let Some((first, rest)) = path.parts.split_first() else {
            return self.error("C0211", path.span(), "no name");
        };
        let Some(mut at) = self.find(scope, &first.text) else {
            let mut names = vec![];
            let mut s = Some(scope);
            while let Some(id) = s {
                names.extend(self.scopes[id.0].names.keys().cloned());
                s = self.scopes[id.0].parent;
            }
            return Err(unknown(first, names));
        };
        for part in rest {
            let module = self.module_of(at, first.span)?;
            if self.modules[module.0].inside.is_none() {
                let name = &self.bindings[at.0].ident.text;
                let message = format!("`{name}` has parameters: only an instance of it has parts");
                return self.error("C0212", part.span, message);
            }
            self.not_inside(scope, module, part.span)?;
            match self.modules[module.0].exported.get(&part.text) {
                Some(b) => at = *b,
                None => {
                    let names = self.modules[module.0].exported.keys().cloned().collect();
                    return Err(unknown(part, names));
                }
            }
        }
        Ok(at)
    }

    /// The module that a name stands for; an instance is made when it is first asked for.
    fn module_of(&mut self, name: BindingId, span: Span) -> Result<ModuleId> {
        match self.bindings[name.0].kind {
            BindingKind::Module(module) => {
                self.instantiate(module)?;
                Ok(module)
            }
            _ => self.error("C0212", span, format!("`{}` is no module", self.bindings[name.0].ident.text)),
        }
    }

    /// The innermost module around a scope.
    fn around(&self, scope: ScopeId) -> Option<ModuleId> {
        let mut at = Some(scope);
        while let Some(s) = at {
            if self.scopes[s.0].module.is_some() {
                return self.scopes[s.0].module;
            }
            at = self.scopes[s.0].parent;
        }
        None
    }

    /// Makes the parts of an instance, once.
    pub(super) fn instantiate(&mut self, id: ModuleId) -> Result<()> {
        let DeclKind::Instance { module, arguments, .. } = &self.modules[id.0].decl.kind else {
            return Ok(());
        };
        let (decl, outside) = (self.modules[id.0].decl, self.modules[id.0].outside);
        if self.modules[id.0].opened {
            return Ok(());
        }
        self.modules[id.0].opened = true;
        let name = self.lookup(outside, module)?;
        let source = match self.bindings[name.0].kind {
            BindingKind::Module(source) if !self.modules[source.0].instance => source,
            BindingKind::Module(_) => {
                return self.error(
                    "C0212",
                    module.span(),
                    "an instance is made of a module, not of an instance",
                );
            }
            _ => return self.error("C0212", module.span(), format!("`{}` is no module", module.text())),
        };
        // An instance inside of what it is an instance of would never end.
        let mut at = self.around(outside);
        while let Some(m) = at {
            if std::ptr::eq(self.modules[m.0].decl, self.modules[source.0].decl) {
                return self.error("C0213", decl.span, "a module cannot contain an instance of itself");
            }
            at = self.modules[m.0].within;
        }
        let DeclKind::Module { parameters, .. } = &self.modules[source.0].decl.kind else { return Ok(()) };
        if parameters.len() != arguments.len() {
            let (wanted, found) = (parameters.len(), arguments.len());
            let message = format!("`{}` has {wanted} parameters, and gets {found} arguments", module.text());
            return self.error("C0214", decl.span, message);
        }
        let within = self.around(outside);
        let inside = self.scope(Some(self.modules[source.0].outside));
        let generic = within.is_some_and(|m| self.modules[m.0].generic);
        self.table.level += 1;
        let first = self.bindings.len();
        let bound = parameters.iter().zip(arguments).try_for_each(|(parameter, argument)| {
            let found = self.expr(outside, argument)?;
            let wanted = self.parameter(inside, parameter)?;
            let fit = self.table.settle(&found).and_then(|t| self.table.unify_without_splitting(&wanted, &t));
            self.fit(argument.span, fit)
        });
        self.table.level -= 1;
        bound?;
        for b in first..self.bindings.len() {
            if self.bindings[b].unit.is_none() && self.bindings[b].kind == BindingKind::Value {
                let scheme = self.table.generalise(&self.bindings[b].scheme.ty);
                self.bindings[b].scheme = scheme;
            }
        }
        let decl = self.modules[source.0].decl;
        let module = &mut self.modules[id.0];
        module.within = within;
        module.generic = generic;
        module.decl = decl;
        self.open_module(id, inside, true, Some(id))
    }

    /// Declares what is in a module.
    pub(super) fn open_module(
        &mut self,
        id: ModuleId,
        inside: ScopeId,
        generalised: bool,
        instance: Option<ModuleId>,
    ) -> Result<()> {
        let DeclKind::Module { private, exported, .. } = &self.modules[id.0].decl.kind else { return Ok(()) };
        let timed = std::mem::replace(&mut self.timed, false);
        self.scopes[inside.0].module = Some(id);
        self.modules[id.0].inside = Some(inside);
        let hidden = self.declare(private, inside, generalised, instance);
        let before: Vec<Arc<str>> = self.scopes[inside.0].names.keys().cloned().collect();
        let shown = self.declare(exported, inside, generalised, instance);
        let names = self.scopes[inside.0].names.iter();
        let exported = names.filter(|(n, _)| !before.contains(n)).map(|(n, b)| (Arc::clone(n), *b)).collect();
        self.modules[id.0].exported = exported;
        self.timed = timed;
        hidden.and(shown)
    }

    /// A module cannot be made of its own instances.
    fn not_inside(&self, scope: ScopeId, module: ModuleId, span: Span) -> Result<()> {
        let used = &self.modules[module.0];
        if !used.instance {
            return Ok(());
        }
        let mut at = Some(scope);
        while let Some(s) = at {
            if let Some(around) = self.scopes[s.0].module
                && around != module
                && std::ptr::eq(self.modules[around.0].decl, used.decl)
            {
                return self.error("C0213", span, "a module cannot use an instance of itself");
            }
            at = self.scopes[s.0].parent;
        }
        // Inside the instance itself its name is known only from outside.
        let inside = used.inside;
        let mut at = Some(scope);
        while let Some(s) = at {
            if Some(s) == inside {
                return self.error("C0213", span, "a module cannot use an instance of itself");
            }
            at = self.scopes[s.0].parent;
        }
        Ok(())
    }

    /// Declares a list: names first, so that they may be used before their definitions.
    pub(super) fn declare(
        &mut self,
        decls: &'t [Decl],
        scope: ScopeId,
        generalised: bool,
        instance: Option<ModuleId>,
    ) -> Result<()> {
        let mut problem = None;
        // Constructors and channels tell what a name in a pattern is.
        let constant = |d: &&Decl| matches!(d.kind, DeclKind::Channel { .. } | DeclKind::Datatype { .. });
        let timed = self.timed;
        let (constants, others): (Vec<&Decl>, Vec<&Decl>) = decls.iter().partition(constant);
        for decl in constants.into_iter().chain(others) {
            let result = self.declare_one(decl, scope, generalised, instance);
            self.timed = timed;
            if let Err(d) = result {
                // One name that is there twice does not keep others from being looked at.
                match &problem {
                    None => problem = Some(d),
                    Some(_) => self.errors.push(*d),
                }
            }
        }
        problem.map_or(Ok(()), Err)
    }

    /// A module, or an instance of one, and its name.
    fn declare_module(
        &mut self,
        decl: &'t Decl,
        name: &Ident,
        scope: ScopeId,
        instance: bool,
    ) -> Result<ModuleId> {
        self.modules.push(Module {
            decl,
            outside: scope,
            inside: None,
            exported: HashMap::new(),
            generic: false,
            instance,
            within: None,
            opened: false,
        });
        let id = ModuleId(self.modules.len() - 1);
        let binding = self.bind(name.clone(), BindingKind::Module(id), Scheme::mono(Type::Nothing), None);
        self.put(scope, binding)?;
        Ok(id)
    }

    fn declare_one(
        &mut self,
        decl: &'t Decl,
        scope: ScopeId,
        generalised: bool,
        instance: Option<ModuleId>,
    ) -> Result<()> {
        let unit = UnitId(self.units.len());
        let timed = self.timed;
        let new = Unit { decl, scope, names: vec![], state: UnitState::New, timed, generalised, instance };
        self.units.push(new);
        let mut names: Vec<(Ident, BindingKind)> = vec![];
        match &decl.kind {
            DeclKind::Function { name, .. }
            | DeclKind::Nametype { name, .. }
            | DeclKind::Subtype { name, .. } => {
                names.push((name.clone(), BindingKind::Value));
            }
            DeclKind::Pattern { pattern, .. } => {
                let mut bound = vec![];
                self.variables(scope, pattern, &mut bound);
                names.extend(bound.into_iter().map(|i| (i, BindingKind::Value)));
            }
            DeclKind::Channel { names: all, .. } => {
                names.extend(all.iter().map(|n| (n.clone(), BindingKind::Constant)));
            }
            DeclKind::Datatype { name, clauses } => {
                let data = self.datatype(&name.text);
                names.push((name.clone(), BindingKind::Datatype(data)));
                names.extend(clauses.iter().map(|c| (c.name.clone(), BindingKind::Constant)));
            }
            DeclKind::External(all) | DeclKind::Transparent(all) => {
                let external = matches!(decl.kind, DeclKind::External(_));
                for name in all {
                    self.library(scope, name, external)?;
                }
            }
            DeclKind::Module { name, parameters, .. } => {
                let id = self.declare_module(decl, name, scope, false)?;
                if parameters.is_empty() {
                    let inside = self.scope(Some(scope));
                    self.open_module(id, inside, generalised, instance)?;
                }
            }
            DeclKind::Instance { name, .. } => {
                // Its parts are made when something asks for them: see `instantiate`.
                self.declare_module(decl, name, scope, true)?;
            }
            DeclKind::Timed { decls, .. } => {
                self.timed = true;
                self.declare(decls, scope, generalised, instance)?;
            }
            DeclKind::Assert(_) | DeclKind::Print(_) | DeclKind::Annotation { .. } => {}
        }
        for (ident, kind) in names {
            let ty = match kind {
                BindingKind::Datatype(data) => Type::set(Type::Data(data)),
                _ => Type::Nothing, // until it is looked at
            };
            let name = self.bind(ident, kind, Scheme::mono(ty), Some(unit));
            self.units[unit.0].names.push(name);
            self.put(scope, name)?;
        }
        Ok(())
    }
}

fn unknown(ident: &Ident, mut names: Vec<Arc<str>>) -> Box<Diagnostic> {
    names.sort();
    let mut d = Diagnostic::error("C0211", ident.span, format!("`{}` is not defined", ident.text));
    d.help = closest(&ident.text, names.iter().map(|n| &**n)).map(|n| format!("did you mean `{n}`?"));
    Box::new(d)
}
