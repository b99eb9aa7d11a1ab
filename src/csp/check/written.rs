//! Written types.

use super::scope::ScopeId;
use super::{BindingKind, Checker, Result};
use crate::tree::{Constraint, Ident, Path, Scheme as Written, WrittenKind, WrittenType};
use crate::types::{Scheme, Type, Var};
use std::rc::Rc;

impl Checker<'_> {
    /// A written type. Its variables are put into the scope, where they stand for themselves.
    pub(super) fn written_scheme(&mut self, scope: ScopeId, written: &Written) -> Result<Scheme> {
        let mut names: Vec<Ident> = vec![];
        self.type_variables(scope, &written.ty, &mut names);
        for (_, name) in &written.constraints {
            if !names.iter().any(|n| n.text == name.text) {
                let message = format!("`{}` is no variable of this type", name.text);
                return self.error("C0222", name.span, message);
            }
        }
        let mut vars: Vec<Var> = vec![];
        for name in names {
            let wanted = written.constraints.iter().filter(|(_, n)| n.text == name.text);
            let constraints: Vec<Constraint> = wanted.map(|(c, _)| *c).collect();
            let var = self.table.rigid(name.text.clone(), constraints);
            vars.push(var);
            let id = self.bind(name, BindingKind::TypeVariable, Scheme::mono(Type::Var(var)), None);
            self.put(scope, id)?;
        }
        let ty = self.written(scope, &written.ty)?;
        Ok(Scheme { vars, ty })
    }

    /// The variables in a written type that are not known around it.
    fn type_variables(&self, scope: ScopeId, t: &WrittenType, into: &mut Vec<Ident>) {
        match &t.kind {
            WrittenKind::Name(path) => self.type_variable(scope, path, into),
            WrittenKind::Set(t) | WrittenKind::Seq(t) | WrittenKind::Paren(t) => {
                self.type_variables(scope, t, into)
            }
            WrittenKind::Tuple(all) => all.iter().for_each(|t| self.type_variables(scope, t, into)),
            WrittenKind::Map(a, b) | WrittenKind::Dot(a, b) | WrittenKind::Dotable(a, b) => {
                self.type_variables(scope, a, into);
                self.type_variables(scope, b, into);
            }
            WrittenKind::Function(all, r) => {
                all.iter().for_each(|t| self.type_variables(scope, t, into));
                self.type_variables(scope, r, into);
            }
            WrittenKind::Extendable(path, t) => {
                self.type_variable(scope, path, into);
                self.type_variables(scope, t, into);
            }
        }
    }

    fn type_variable(&self, scope: ScopeId, path: &Path, into: &mut Vec<Ident>) {
        let [name] = &path.parts[..] else { return };
        let known = Self::builtin_type(&name.text).is_some()
            || self.find(scope, &name.text).is_some_and(|b| {
                matches!(self.bindings[b.0].kind, BindingKind::Datatype(_) | BindingKind::TypeVariable)
            });
        if !known && !into.iter().any(|n| n.text == name.text) {
            into.push(name.clone());
        }
    }

    fn written(&mut self, scope: ScopeId, t: &WrittenType) -> Result<Type> {
        let all = |this: &mut Self, ts: &[WrittenType]| {
            ts.iter().map(|t| this.written(scope, t)).collect::<Result<Vec<Type>>>()
        };
        Ok(match &t.kind {
            WrittenKind::Name(path) => self.named(scope, path)?,
            WrittenKind::Set(t) => Type::set(self.written(scope, t)?),
            WrittenKind::Seq(t) => Type::seq(self.written(scope, t)?),
            WrittenKind::Paren(t) => self.written(scope, t)?,
            WrittenKind::Tuple(ts) => Type::tuple(all(self, ts)?),
            WrittenKind::Map(k, v) => Type::map(self.written(scope, k)?, self.written(scope, v)?),
            WrittenKind::Function(a, r) => Type::function(all(self, a)?, self.written(scope, r)?),
            WrittenKind::Dot(a, b) => Type::dot(vec![self.written(scope, a)?, self.written(scope, b)?]),
            WrittenKind::Dotable(a, b) => Type::dotable(self.written(scope, a)?, self.written(scope, b)?),
            WrittenKind::Extendable(path, t) => {
                let Type::Var(v) = self.named(scope, path)? else {
                    return self.error("C0222", path.span(), "before `=>*` stands a variable");
                };
                Type::Extendable(Rc::new(self.written(scope, t)?), v)
            }
        })
    }

    fn named(&mut self, scope: ScopeId, path: &Path) -> Result<Type> {
        if let [name] = &path.parts[..]
            && let Some(t) = Self::builtin_type(&name.text)
        {
            return Ok(t);
        }
        let b = self.lookup(scope, path)?;
        match self.bindings[b.0].kind {
            BindingKind::Datatype(data) => Ok(Type::Data(data)),
            BindingKind::TypeVariable => Ok(self.bindings[b.0].scheme.ty.clone()),
            _ => self.error("C0222", path.span(), format!("`{}` is no type", path.text())),
        }
    }
}
