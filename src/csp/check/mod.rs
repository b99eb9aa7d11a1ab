//! Names and types of a script.
//!
//! A definition is looked at when something asks for it, or at last by itself; so what it needs is known first, and
//! definitions that need each other are typed together: Tarjan's algorithm on the way. Variables that are deeper than
//! the level around such a group are generalised. In `let` nothing is, unless its type is written down.
//!
//! A module with parameters is typed once with any arguments, and once more for each instance, in a scope of its own:
//! so each instance has its own datatypes and channels.

mod builtin;
mod decl;
mod expr;
mod pattern;
mod scope;
mod written;

use crate::tree::{Constructor, Decl, Ident};
use crate::types::{Clash, Data, Scheme, Table, Type};
use kanon_language::lang::diag::{Diagnostic, Span};
use kanon_language::lang::stack::catch_with_large_stack;
use scope::{BindingId, Module, ModuleId, Scope, ScopeId};
use std::sync::Arc;

/// The types of a script's definitions.
#[derive(Debug, Default)]
pub struct Types {
    /// Names and types as one would write them, in the order of the text.
    pub definitions: Vec<(Ident, String)>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Types a script that could be read.
pub fn check(decls: &[Decl]) -> Types {
    let checked = catch_with_large_stack(|| Checker::new().run(decls));
    match checked {
        Ok(Ok(types)) => types,
        Ok(Err(_)) => Types::refused("the type checker failed: this is a mistake in kanon".to_string()),
        Err(e) => Types::refused(format!("no thread to check types with: {e}")),
    }
}

impl Types {
    fn refused(message: String) -> Types {
        let d = Diagnostic::error("C0200", kanon_language::lang::diag::NOWHERE, message);
        Types { definitions: vec![], diagnostics: vec![d] }
    }
}

/// One error ends a definition.
type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A declaration in a scope.
struct Unit<'t> {
    decl: &'t Decl,
    scope: ScopeId,
    names: Vec<BindingId>,
    state: UnitState,
    /// Inside a timed section.
    timed: bool,
    /// Not in `let`.
    generalised: bool,
    /// The instance that it belongs to.
    instance: Option<ModuleId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitState {
    New,
    /// Being typed: its place among those that are, and the first of them that it needs.
    Open {
        index: usize,
        low: usize,
    },
    Done,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UnitId(usize);

/// Something that has a name.
struct Binding {
    ident: Ident,
    kind: BindingKind,
    scheme: Scheme,
    unit: Option<UnitId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BindingKind {
    Value,
    /// A constructor or a channel: in a pattern it stands for itself.
    Constant,
    /// The name of a datatype is the set of its values.
    Datatype(Data),
    Module(ModuleId),
    /// A variable of a written type.
    TypeVariable,
    /// Exists in timed sections only.
    Timed,
}

struct Checker<'t> {
    table: Table,
    scopes: Vec<Scope>,
    bindings: Vec<Binding>,
    modules: Vec<Module<'t>>,
    units: Vec<Unit<'t>>,
    /// Units that are being typed, the first one at the bottom.
    open: Vec<UnitId>,
    /// The same, those included that are waiting for the others of their group.
    group: Vec<UnitId>,
    /// The fields of each datatype.
    fields: Vec<Vec<Type>>,
    /// Clauses of subtypes, with the datatype: they are looked at when all constructors are known.
    parts: Vec<(ScopeId, &'t Constructor, Type)>,
    timed: bool,
    errors: Vec<Diagnostic>,
}

impl<'t> Checker<'t> {
    fn new() -> Checker<'t> {
        let mut checker = Checker {
            table: Table::new(),
            scopes: vec![Scope::default()],
            bindings: vec![],
            modules: vec![],
            units: vec![],
            open: vec![],
            group: vec![],
            fields: vec![],
            parts: vec![],
            timed: false,
            errors: vec![],
        };
        checker.builtins(ScopeId(0));
        checker
    }

    fn run(mut self, decls: &'t [Decl]) -> Types {
        let top = self.scope(Some(ScopeId(0)));
        if let Err(d) = self.declare(decls, top, true, None) {
            self.errors.push(*d);
        }
        // Modules make new units.
        let mut next = 0;
        while next < self.units.len() {
            self.ensure(UnitId(next));
            next += 1;
        }
        for (scope, clause, parent) in std::mem::take(&mut self.parts) {
            if let Err(d) = self.part(scope, clause, &parent) {
                self.errors.push(*d);
            }
        }
        self.comparable();
        let mut definitions = vec![];
        let mut names: Vec<BindingId> = self.scopes[top.0].names.values().copied().collect();
        names.sort_by_key(|b| self.bindings[b.0].ident.span);
        for id in names {
            let binding = &self.bindings[id.0];
            let failed = binding.unit.is_some_and(|u| self.units[u.0].state == UnitState::Failed);
            if !failed && !matches!(binding.kind, BindingKind::Module(_)) {
                definitions.push((binding.ident.clone(), self.table.text(&binding.scheme.ty)));
            }
        }
        self.errors.sort_by_key(|d| d.span);
        Types { definitions, diagnostics: self.errors }
    }

    /// Datatypes whose values are compared have fields that can be.
    fn comparable(&mut self) {
        let mut next = 0;
        // Looking at the fields of one may ask for others.
        while next < self.table.compared.len() {
            let data = self.table.compared[next];
            next += 1;
            for field in self.fields[data.0 as usize].clone() {
                if let Err(clash) = self.table.demand(crate::tree::Constraint::Eq, &field) {
                    let name = &self.table.data[data.0 as usize];
                    let binding = self.bindings.iter().find(|b| b.kind == BindingKind::Datatype(data));
                    let span = binding.map_or(kanon_language::lang::diag::NOWHERE, |b| b.ident.span);
                    let message =
                        format!("values of `{name}` are compared by `==`; {}", self.table.clash(&clash));
                    self.errors.push(Diagnostic::error("C0230", span, message));
                    break;
                }
            }
        }
    }

    /// Types a unit, unless that has been done; says whether it is still being typed.
    fn ensure(&mut self, id: UnitId) -> bool {
        match self.units[id.0].state {
            UnitState::Done | UnitState::Failed => return false,
            UnitState::Open { index, .. } => {
                // Everything above it on the stack needs it.
                if let Some(top) = self.open.last()
                    && let UnitState::Open { low, .. } = &mut self.units[top.0].state
                {
                    *low = (*low).min(index);
                }
                return true;
            }
            UnitState::New => {}
        }
        let index = self.group.len();
        self.units[id.0].state = UnitState::Open { index, low: index };
        self.open.push(id);
        self.group.push(id);
        let timed = std::mem::replace(&mut self.timed, self.units[id.0].timed);
        self.table.level += 1;
        for name in self.units[id.0].names.clone() {
            if self.bindings[name.0].scheme.ty == Type::Nothing {
                self.bindings[name.0].scheme = Scheme::mono(self.table.fresh());
            }
        }
        let decl = self.units[id.0].decl;
        let result = self.decl(decl, id);
        self.table.level -= 1;
        self.timed = timed;
        self.open.pop();
        let UnitState::Open { low, .. } = self.units[id.0].state else { return false };
        if let Err(d) = result {
            self.errors.push(*d);
            self.units[id.0].state = UnitState::Failed;
        }
        if low < index {
            // A member of a group whose first one is below.
            if let Some(below) = self.open.last()
                && let UnitState::Open { low: other, .. } = &mut self.units[below.0].state
            {
                *other = (*other).min(low);
            }
            return true;
        }
        let members = self.group.split_off(index);
        self.close(&members);
        false
    }

    /// All members of a group are typed.
    fn close(&mut self, members: &[UnitId]) {
        let first = self.units[members[0].0].instance;
        if let Some(other) = members.iter().find(|m| self.units[m.0].instance != first) {
            let message = "a module and its instance need each other";
            let span = self.units[members[0].0].decl.span;
            let d = Diagnostic::error("C0213", span, message).note(self.units[other.0].decl.span, "by this");
            self.errors.push(d);
        }
        for id in members {
            if matches!(self.units[id.0].state, UnitState::Open { .. }) {
                self.units[id.0].state = UnitState::Done;
            }
            for name in self.units[id.0].names.clone() {
                let binding = &self.bindings[name.0];
                if !binding.scheme.vars.is_empty() || !self.units[id.0].generalised {
                    continue;
                }
                let scheme = self.table.generalise(&binding.scheme.ty);
                self.bindings[name.0].scheme = scheme;
            }
            if self.units[id.0].state == UnitState::Done
                && let Err(d) = self.unambiguous(*id)
            {
                self.errors.push(*d);
            }
        }
    }

    /// The fields of channels and constructors have one type each.
    fn unambiguous(&self, id: UnitId) -> Result<()> {
        let generic = self.units[id.0].instance.is_some_and(|m| self.modules[m.0].generic);
        let names = &self.units[id.0].names;
        let open = |b: &&BindingId| {
            let binding = &self.bindings[b.0];
            binding.kind == BindingKind::Constant && !self.table.open_vars(&binding.scheme.ty).is_empty()
        };
        match names.iter().find(open) {
            Some(b) if !generic => {
                let Binding { ident, scheme, .. } = &self.bindings[b.0];
                let message = format!(
                    "what `{}` carries has no definite type: `{}`",
                    ident.text,
                    self.table.text(&scheme.ty)
                );
                self.error("C0221", ident.span, message)
            }
            _ => Ok(()),
        }
    }

    fn error<T>(&self, code: &'static str, span: Span, message: impl Into<String>) -> Result<T> {
        Err(Box::new(Diagnostic::error(code, span, message)))
    }

    /// A clash of types becomes an error at a place.
    fn fit<T>(&self, span: Span, fit: std::result::Result<T, Box<Clash>>) -> Result<T> {
        fit.map_err(|clash| Box::new(Diagnostic::error("C0220", span, self.table.clash(&clash))))
    }

    fn bind(&mut self, ident: Ident, kind: BindingKind, scheme: Scheme, unit: Option<UnitId>) -> BindingId {
        self.bindings.push(Binding { ident, kind, scheme, unit });
        BindingId(self.bindings.len() - 1)
    }
}

fn nowhere(text: &str) -> Ident {
    Ident { text: Arc::from(text), span: kanon_language::lang::diag::NOWHERE }
}
