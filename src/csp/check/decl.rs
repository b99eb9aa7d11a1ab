//! Declarations.

use super::scope::{Module, ModuleId, ScopeId};
use super::{BindingKind, Checker, Result, UnitId};
use crate::tree::{
    Assertion, Claim, Clause, Constraint, Constructor, Decl, DeclKind, Expr, Ident, ModelOption, Path,
};
use crate::types::{Scheme, Type};
use std::collections::HashMap;
use std::rc::Rc;

impl<'t> Checker<'t> {
    pub(super) fn decl(&mut self, decl: &'t Decl, id: UnitId) -> Result<()> {
        let scope = self.units[id.0].scope;
        match &decl.kind {
            DeclKind::Function { name, clauses, annotation } => {
                let inner = self.scope(Some(scope));
                if let Some(written) = annotation {
                    let scheme = self.written_scheme(inner, written)?;
                    let ty = scheme.ty.clone();
                    self.announce(id, &name.text, scheme);
                    return clauses.iter().try_for_each(|c| self.clause_of(inner, c, &ty));
                }
                let ty = self.own(id, &name.text);
                for c in clauses {
                    let found = self.clause(inner, c)?;
                    let fit = self.table.unify(&ty, &found);
                    self.fit(c.span, fit)?;
                }
                Ok(())
            }
            DeclKind::Pattern { pattern, body, annotation } => {
                let inner = self.scope(Some(scope));
                if let Some(written) = annotation {
                    let scheme = self.written_scheme(inner, written)?;
                    let ty = scheme.ty.clone();
                    if let Some(name) = self.units[id.0].names.first().copied() {
                        self.bindings[name.0].scheme = scheme;
                    }
                    return self.expect(inner, body, &ty);
                }
                let wanted = self.pattern(scope, pattern)?;
                let found = self.expr(inner, body)?;
                let fit = self.table.settle(&wanted).and_then(|wanted| {
                    let found = self.table.settle(&found)?;
                    self.table.unify_without_splitting(&wanted, &found)
                });
                self.fit(decl.span, fit)
            }
            DeclKind::Channel { names, fields, annotation } => {
                let inner = self.scope(Some(scope));
                let fields = match fields {
                    Some(e) => self.fields(inner, e, &[Constraint::Eq, Constraint::Complete])?,
                    None => vec![],
                };
                let ty = Type::arrow(fields, Type::Event);
                if let Some(written) = annotation {
                    let scheme = self.written_scheme(inner, written)?;
                    let fit = self.table.unify(&scheme.ty, &ty);
                    self.fit(written.span, fit)?;
                }
                names.iter().try_for_each(|n| self.agree(id, n, &ty))
            }
            DeclKind::Datatype { name, clauses } => self.constructors(id, name, clauses),
            DeclKind::Subtype { name, clauses } => {
                let parent = self.table.fresh();
                for c in clauses {
                    self.belongs(scope, c, &parent)?;
                    self.parts.push((scope, c, parent.clone()));
                }
                self.agree(id, name, &Type::set(parent))
            }
            DeclKind::Nametype { name, body, annotation } => {
                let inner = self.scope(Some(scope));
                let found = self.expr(inner, body)?;
                let element = self.element(body, &found)?;
                let fit = self.table.demand(Constraint::Complete, &element);
                self.fit(body.span, fit)?;
                let ty = Type::set(element);
                if let Some(written) = annotation {
                    let scheme = self.written_scheme(inner, written)?;
                    let fit = self.table.unify(&scheme.ty, &ty);
                    self.fit(written.span, fit)?;
                }
                self.agree(id, name, &ty)
            }
            DeclKind::Assert(assertion) => self.assertion(scope, assertion),
            DeclKind::Print(e) => self.expr(scope, e).map(|_| ()),
            DeclKind::Timed { steps, .. } => {
                let span = steps.as_ref().map_or(decl.span, |s| s.span);
                let tock = Path { parts: vec![Ident { text: "tock".into(), span }] };
                let found = self.value(scope, &tock)?;
                let fit = self.table.unify(&Type::Event, &found);
                self.fit(span, fit)?;
                match steps {
                    Some(steps) => self.expect(scope, steps, &Type::function(vec![Type::Event], Type::Int)),
                    None => Ok(()),
                }
            }
            DeclKind::Module { parameters, .. } if parameters.is_empty() => Ok(()),
            DeclKind::Module { .. } => self.generic(decl, scope),
            DeclKind::Instance { name, .. } => {
                let id = self.scopes[scope.0].names.get(&name.text).map(|b| self.bindings[b.0].kind);
                match id {
                    Some(BindingKind::Module(m)) => self.instantiate(m),
                    _ => Ok(()),
                }
            }
            DeclKind::External(_) | DeclKind::Transparent(_) | DeclKind::Annotation { .. } => Ok(()),
        }
    }

    /// A module with parameters, for any arguments.
    fn generic(&mut self, decl: &'t Decl, scope: ScopeId) -> Result<()> {
        let DeclKind::Module { parameters, .. } = &decl.kind else { return Ok(()) };
        let within = self.open.last().and_then(|u| self.units[u.0].instance);
        self.modules.push(Module {
            decl,
            outside: scope,
            inside: None,
            exported: HashMap::new(),
            generic: true,
            instance: false,
            within,
            opened: true,
        });
        let id = ModuleId(self.modules.len() - 1);
        let inside = self.scope(Some(scope));
        for p in parameters {
            self.parameter(inside, p)?;
        }
        let first = self.units.len();
        self.open_module(id, inside, true, Some(id))?;
        for unit in first..self.units.len() {
            self.ensure(UnitId(unit));
        }
        Ok(())
    }

    /// The type of one of a unit's own names while it is being typed.
    fn own(&mut self, id: UnitId, name: &str) -> Type {
        let found = self.units[id.0].names.iter().find(|b| &*self.bindings[b.0].ident.text == name).copied();
        match found {
            Some(b) => self.bindings[b.0].scheme.ty.clone(),
            None => self.table.fresh(), // defined twice, and reported
        }
    }

    fn agree(&mut self, id: UnitId, name: &Ident, ty: &Type) -> Result<()> {
        let own = self.own(id, &name.text);
        let fit = self.table.unify(ty, &own);
        self.fit(name.span, fit)
    }

    fn announce(&mut self, id: UnitId, name: &str, scheme: Scheme) {
        let found = self.units[id.0].names.iter().find(|b| &*self.bindings[b.0].ident.text == name).copied();
        if let Some(b) = found {
            self.bindings[b.0].scheme = scheme;
        }
    }

    fn clause(&mut self, scope: ScopeId, c: &'t Clause) -> Result<Type> {
        let inner = self.scope(Some(scope));
        for p in c.parameters.iter().flatten() {
            let found = self.parameter(inner, p)?;
            let fit = self.table.settle(&found);
            self.fit(p.span, fit)?;
        }
        let found = self.expr(inner, &c.body)?;
        let fit = self.table.settle(&found);
        let mut ty = self.fit(c.body.span, fit)?;
        // What the body says of the parameters may take more of their lists together.
        for list in c.parameters.iter().rev() {
            let mut types = vec![];
            for p in list {
                let found = self.pattern(inner, p)?;
                let fit = self.table.settle(&found);
                types.push(self.fit(p.span, fit)?);
            }
            ty = Type::function(types, ty);
        }
        Ok(ty)
    }

    /// A clause of a function whose type is written down.
    fn clause_of(&mut self, scope: ScopeId, c: &'t Clause, ty: &Type) -> Result<()> {
        let inner = self.scope(Some(scope));
        let mut ty = ty.clone();
        for list in &c.parameters {
            let wanted: Vec<Type> = list.iter().map(|_| self.table.fresh()).collect();
            let result = self.table.fresh();
            let fit = self.table.unify(&ty, &Type::function(wanted.clone(), result.clone()));
            self.fit(c.span, fit)?;
            for (p, wanted) in list.iter().zip(&wanted) {
                let found = self.parameter(inner, p)?;
                let fit = self.table.settle(&found).and_then(|found| {
                    let wanted = self.table.settle(wanted)?;
                    self.table.unify_without_splitting(&found, &wanted)
                });
                self.fit(p.span, fit)?;
            }
            ty = result;
        }
        self.expect(inner, &c.body, &ty)
    }

    /// What a set of values has as elements: `{0..3}.Bool` has those of `Int.Bool`.
    fn element(&mut self, e: &Expr, found: &Type) -> Result<Type> {
        let fit = self.table.settle(found);
        let found = self.fit(e.span, fit)?;
        self.element_of(e, &found)
    }

    fn element_of(&mut self, e: &Expr, t: &Type) -> Result<Type> {
        let all = |this: &mut Self, ts: &[Type]| {
            ts.iter().map(|t| this.element_of(e, t)).collect::<Result<Vec<_>>>()
        };
        Ok(match self.table.look(t) {
            Type::Tuple(parts) => Type::tuple(all(self, &parts)?),
            Type::Dot(parts) => Type::dot(all(self, &parts)?),
            t => {
                let element = self.table.fresh();
                let fit = self.table.unify(&Type::set(element.clone()), &t);
                self.fit(e.span, fit)?;
                element
            }
        })
    }

    /// The types of the fields of a channel or constructor.
    fn fields(&mut self, scope: ScopeId, e: &'t Expr, constraints: &[Constraint]) -> Result<Vec<Type>> {
        let found = self.expr(scope, e)?;
        let element = self.element(e, &found)?;
        for c in constraints {
            let fit = self.table.demand(*c, &element);
            self.fit(e.span, fit)?;
        }
        Ok(match self.table.look(&element) {
            Type::Dot(parts) => parts.to_vec(),
            t => vec![t],
        })
    }

    fn constructors(&mut self, id: UnitId, name: &Ident, clauses: &'t [Constructor]) -> Result<()> {
        let scope = self.units[id.0].scope;
        let data = self.units[id.0].names.first().map(|b| self.bindings[b.0].kind);
        let Some(BindingKind::Datatype(data)) = data else {
            return self.error("C0210", name.span, format!("`{}` is defined twice", name.text));
        };
        // Fields may be sets of values of this very datatype.
        for c in clauses {
            let known = match &c.fields {
                Some(_) => Type::dotable(self.table.fresh(), Type::Data(data)),
                None => Type::Data(data),
            };
            self.agree(id, &c.name, &known)?;
        }
        for c in clauses {
            let inner = self.scope(Some(scope));
            let fields = match &c.fields {
                Some(e) => self.fields(inner, e, &[Constraint::Complete])?,
                None => vec![],
            };
            self.fields[data.0 as usize].extend(fields.iter().cloned());
            let ty = Type::arrow(fields, Type::Data(data));
            if let Some(written) = &c.annotation {
                let scheme = self.written_scheme(inner, written)?;
                let fit = self.table.unify(&scheme.ty, &ty);
                self.fit(written.span, fit)?;
            }
            self.agree(id, &c.name, &ty)?;
            self.announce(id, &c.name.text, Scheme::mono(ty));
        }
        Ok(())
    }

    /// A clause of a subtype is a constructor of its datatype.
    fn belongs(&mut self, scope: ScopeId, c: &'t Constructor, parent: &Type) -> Result<()> {
        let path = Path { parts: vec![c.name.clone()] };
        let constructor = self.value(scope, &path)?;
        let (_, result) = self.table.spine(&constructor);
        let missing = self.table.fresh_var(vec![]);
        let fit = self.table.unify(&Type::Extendable(Rc::new(parent.clone()), missing), &result);
        self.fit(c.span, fit)
    }

    /// Its fields are those of the constructor, with fewer values perhaps; the last ones may be left out.
    pub(super) fn part(&mut self, scope: ScopeId, c: &'t Constructor, parent: &Type) -> Result<()> {
        self.belongs(scope, c, parent)?;
        let Some(e) = &c.fields else { return Ok(()) };
        let found = self.fields(scope, e, &[Constraint::Complete])?;
        let path = Path { parts: vec![c.name.clone()] };
        let constructor = self.value(scope, &path)?;
        let (wanted, _) = self.table.spine(&constructor);
        if found.len() > wanted.len() {
            let message = format!("`{}` has {} fields, not {}", c.name.text, wanted.len(), found.len());
            return self.error("C0223", c.span, message);
        }
        for (wanted, found) in wanted.iter().zip(&found) {
            let fit = self.table.unify(wanted, found);
            self.fit(c.span, fit)?;
        }
        Ok(())
    }

    fn assertion(&mut self, scope: ScopeId, a: &'t Assertion) -> Result<()> {
        match &a.claim {
            Claim::Refines(left, _, right) => {
                self.expect(scope, left, &Type::Proc)?;
                self.expect(scope, right, &Type::Proc)?;
            }
            Claim::Property(e, ..) => self.expect(scope, e, &Type::Proc)?,
            Claim::HasTrace(e, trace, _) => {
                self.expect(scope, e, &Type::Proc)?;
                trace.iter().try_for_each(|e| self.expect(scope, e, &Type::Event))?;
            }
        }
        a.options.iter().try_for_each(|o| match o {
            ModelOption::TauPriority(e) => self.expect(scope, e, &Type::set(Type::Event)),
            ModelOption::PartialOrder(_) => Ok(()),
        })
    }
}
