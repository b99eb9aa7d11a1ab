//! Modules and their instances.

use super::{Compiler, Global, Result, ScopeId};
use crate::tree::{Decl, DeclKind, Path};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModuleId(pub usize);

pub(super) struct Module<'t> {
    pub decl: &'t Decl,
    /// Around the declaration.
    pub outside: ScopeId,
    /// None when it has parameters and is no instance, or is an instance that nobody has asked for.
    pub inside: Option<ScopeId>,
    pub exported: HashSet<Arc<str>>,
    pub timed: bool,
    opened: bool,
}

impl<'t> Compiler<'t> {
    pub(super) fn declare_module(&mut self, decl: &'t Decl, scope: ScopeId) -> Result<()> {
        let DeclKind::Module { name, parameters, .. } = &decl.kind else { return Ok(()) };
        let id = self.module(decl, scope);
        self.put(scope, name, Global::Module(id));
        if parameters.is_empty() {
            let inside = self.super_scope(scope);
            self.fill(id, decl, inside)?;
        }
        Ok(())
    }

    pub(super) fn declare_instance(&mut self, decl: &'t Decl, scope: ScopeId) {
        let DeclKind::Instance { name, .. } = &decl.kind else { return };
        let id = self.module(decl, scope);
        self.put(scope, name, Global::Module(id));
    }

    fn module(&mut self, decl: &'t Decl, outside: ScopeId) -> ModuleId {
        let (exported, timed) = (HashSet::new(), self.timed);
        self.modules.push(Module { decl, outside, inside: None, exported, timed, opened: false });
        ModuleId(self.modules.len() - 1)
    }

    fn super_scope(&mut self, scope: ScopeId) -> ScopeId {
        self.scope(Some(scope))
    }

    /// Declares what is in a module.
    fn fill(&mut self, id: ModuleId, decl: &'t Decl, inside: ScopeId) -> Result<()> {
        let DeclKind::Module { private, exported, .. } = &decl.kind else { return Ok(()) };
        self.modules[id.0].inside = Some(inside);
        self.modules[id.0].opened = true;
        let timed = std::mem::replace(&mut self.timed, false);
        let declared = self.declare(private, inside).and_then(|()| {
            let before: HashSet<Arc<str>> = self.scopes[inside.0].names.keys().cloned().collect();
            self.declare(exported, inside)?;
            let names = self.scopes[inside.0].names.keys();
            self.modules[id.0].exported = names.filter(|n| !before.contains(*n)).cloned().collect();
            Ok(())
        });
        self.timed = timed;
        declared
    }

    /// Makes the parts of an instance, once.
    pub(super) fn open(&mut self, id: ModuleId) -> Result<()> {
        let decl = self.modules[id.0].decl;
        let DeclKind::Instance { module, arguments, .. } = &decl.kind else { return Ok(()) };
        if std::mem::replace(&mut self.modules[id.0].opened, true) {
            return Ok(());
        }
        let outside = self.modules[id.0].outside;
        let Some(Global::Module(source)) = self.global(outside, module)? else {
            return self.error(module.span(), format!("`{}` is no module", module.text()));
        };
        let source_decl = self.modules[source.0].decl;
        let DeclKind::Module { parameters, .. } = &source_decl.kind else {
            return self.error(module.span(), "an instance is made of a module, not of an instance");
        };
        if parameters.len() != arguments.len() || self.modules.len() > 10_000 {
            return self.error(decl.span, format!("`{}` has no such instance", module.text()));
        }
        let inside = self.super_scope(self.modules[source.0].outside);
        let timed = std::mem::replace(&mut self.timed, self.modules[id.0].timed);
        for (parameter, argument) in parameters.iter().zip(arguments) {
            self.bind_pattern(inside, outside, parameter, argument, argument.span);
        }
        self.timed = timed;
        self.fill(id, source_decl, inside)
    }

    /// What a path stands for outside of all functions.
    pub(super) fn global(&mut self, scope: ScopeId, path: &Path) -> Result<Option<Global>> {
        let Some((first, rest)) = path.parts.split_first() else { return Ok(None) };
        let Some(mut at) = self.find(scope, &first.text) else { return Ok(None) };
        for part in rest {
            let Global::Module(module) = at else { return Ok(None) };
            self.open(module)?;
            let module = &self.modules[module.0];
            let inside = module.inside.filter(|_| module.exported.contains(&part.text));
            match inside.and_then(|s| self.scopes[s.0].names.get(&part.text)) {
                Some(found) => at = *found,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    pub(super) fn find(&self, scope: ScopeId, name: &str) -> Option<Global> {
        let mut at = Some(scope);
        while let Some(s) = at {
            if let Some(found) = self.scopes[s.0].names.get(name) {
                return Some(*found);
            }
            at = self.scopes[s.0].parent;
        }
        None
    }
}
