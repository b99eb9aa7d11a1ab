//! Type variables and what they stand for.

use super::{Clash, Data, Fit, Type, Var};
use crate::tree::Constraint;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct State {
    pub bound: Option<Type>,
    pub constraints: Vec<Constraint>,
    /// How deep in definitions it was made: variables of outer ones are not generalised.
    pub level: u32,
    /// It stands for itself: a variable of a written type.
    pub rigid: Option<Arc<str>>,
}

/// A type for all values of some variables.
#[derive(Clone, Debug)]
pub struct Scheme {
    pub vars: Vec<Var>,
    pub ty: Type,
}

impl Scheme {
    pub fn mono(ty: Type) -> Scheme {
        Scheme { vars: vec![], ty }
    }
}

#[derive(Debug, Default)]
pub struct Table {
    pub(super) vars: Vec<State>,
    pub level: u32,
    /// Whether a list in a pattern, or in a parameter, may be taken for a single value.
    pub(super) splits: bool,
    /// Names of datatypes, for messages.
    pub data: Vec<Arc<str>>,
    /// How deep in a comparison of types.
    pub(super) depth: u32,
    /// Datatypes whose values were compared.
    pub compared: Vec<Data>,
}

impl Table {
    pub fn new() -> Table {
        Table { splits: true, ..Table::default() }
    }

    pub fn fresh(&mut self) -> Type {
        Type::Var(self.fresh_var(vec![]))
    }

    pub fn fresh_with(&mut self, constraints: &[Constraint]) -> Type {
        Type::Var(self.fresh_var(constraints.to_vec()))
    }

    pub fn fresh_var(&mut self, constraints: Vec<Constraint>) -> Var {
        self.vars.push(State { bound: None, constraints, level: self.level, rigid: None });
        Var(self.vars.len() as u32 - 1)
    }

    pub fn rigid(&mut self, name: Arc<str>, constraints: Vec<Constraint>) -> Var {
        let var = self.fresh_var(constraints);
        self.vars[var.0 as usize].rigid = Some(name);
        var
    }

    pub(super) fn state(&self, var: Var) -> &State {
        &self.vars[var.0 as usize] // variables are only made by this table
    }

    pub(super) fn state_mut(&mut self, var: Var) -> &mut State {
        &mut self.vars[var.0 as usize]
    }

    pub fn is_rigid(&self, var: Var) -> bool {
        self.state(var).rigid.is_some()
    }

    /// The type with its outermost form visible: bound variables followed, lists flat.
    pub fn look(&self, t: &Type) -> Type {
        match t {
            Type::Var(v) => match &self.state(*v).bound {
                Some(t) => self.look(t),
                None => t.clone(),
            },
            Type::Extendable(t, v) => self.look_extendable(t, *v),
            Type::Dot(parts) => Type::dot(parts.iter().map(|p| self.look(p)).collect()),
            t => t.clone(),
        }
    }

    /// What is missing has become known, in part perhaps.
    fn look_extendable(&self, t: &Rc<Type>, v: Var) -> Type {
        match &self.state(v).bound {
            None => Type::Extendable(Rc::clone(t), v),
            Some(missing) => self.extended(t, missing),
        }
    }

    fn extended(&self, t: &Rc<Type>, missing: &Type) -> Type {
        match missing {
            Type::Nothing => self.look(t),
            Type::Var(v) => self.look_extendable(t, *v),
            Type::Dotable(a, rest) => Type::Dotable(Rc::clone(a), Rc::new(self.extended(t, rest))),
            // Nothing else is bound to such a variable; as it stands it unifies with little.
            other => Type::dotable(other.clone(), self.look(t)),
        }
    }

    /// The type with all bound variables replaced.
    pub fn resolve(&self, t: &Type) -> Type {
        let all = |parts: &[Type]| parts.iter().map(|p| self.resolve(p)).collect::<Vec<_>>();
        match self.look(t) {
            Type::Seq(t) => Type::seq(self.resolve(&t)),
            Type::Set(t) => Type::set(self.resolve(&t)),
            Type::Map(k, v) => Type::map(self.resolve(&k), self.resolve(&v)),
            Type::Tuple(parts) => Type::tuple(all(&parts)),
            Type::Function(a, r) => Type::function(all(&a), self.resolve(&r)),
            Type::Dot(parts) => Type::dot(all(&parts)),
            Type::Dotable(a, r) => Type::dotable(self.resolve(&a), self.resolve(&r)),
            Type::Extendable(t, v) => Type::Extendable(Rc::new(self.resolve(&t)), v),
            t => t,
        }
    }

    /// The variables in a type that stand for nothing yet, in the order in which they occur.
    pub fn open_vars(&self, t: &Type) -> Vec<Var> {
        let mut found = vec![];
        self.each_var(t, &mut |v| {
            if !found.contains(&v) {
                found.push(v);
            }
        });
        found
    }

    fn each_var(&self, t: &Type, f: &mut impl FnMut(Var)) {
        match self.look(t) {
            Type::Var(v) => f(v),
            Type::Seq(t) | Type::Set(t) => self.each_var(&t, f),
            Type::Map(a, b) | Type::Dotable(a, b) => {
                self.each_var(&a, f);
                self.each_var(&b, f);
            }
            Type::Tuple(parts) | Type::Dot(parts) => parts.iter().for_each(|p| self.each_var(p, f)),
            Type::Function(a, r) => {
                a.iter().for_each(|p| self.each_var(p, f));
                self.each_var(&r, f);
            }
            Type::Extendable(t, v) => {
                self.each_var(&t, f);
                f(v);
            }
            _ => {}
        }
    }

    /// Binds a variable, unless the type contains it or it stands for itself.
    pub(super) fn bind(&mut self, var: Var, t: &Type) -> Fit {
        let mut ty = self.resolve(t);
        if ty == Type::Var(var) {
            return Ok(());
        }
        if self.is_rigid(var) {
            return Err(Box::new(Clash::Different(Type::Var(var), ty)));
        }
        if self.open_vars(&ty).contains(&var) {
            // What a list stands for may not contain it.
            ty = self.settle(&ty)?;
            if ty == Type::Var(var) {
                return Ok(());
            }
            if self.open_vars(&ty).contains(&var) {
                return Err(Box::new(Clash::Infinite(Type::Var(var), ty)));
            }
        }
        let level = self.state(var).level;
        for v in self.open_vars(&ty) {
            let state = self.state_mut(v);
            state.level = state.level.min(level);
        }
        self.state_mut(var).bound = Some(ty);
        Ok(())
    }

    /// The scheme of a type: its variables that are deeper than the current level.
    pub fn generalise(&self, t: &Type) -> Scheme {
        let ty = self.resolve(t);
        let vars = self.open_vars(&ty).into_iter().filter(|v| self.state(*v).level > self.level).collect();
        Scheme { vars, ty }
    }

    /// The type of one use of a scheme.
    pub fn instantiate(&mut self, scheme: &Scheme) -> Type {
        if scheme.vars.is_empty() {
            return scheme.ty.clone();
        }
        let mut fresh = HashMap::new();
        for v in &scheme.vars {
            let constraints = self.state(*v).constraints.clone();
            fresh.insert(*v, self.fresh_var(constraints));
        }
        self.replaced(&scheme.ty, &fresh)
    }

    fn replaced(&self, t: &Type, by: &HashMap<Var, Var>) -> Type {
        let all = |parts: &[Type]| parts.iter().map(|p| self.replaced(p, by)).collect::<Vec<_>>();
        match self.look(t) {
            Type::Var(v) => Type::Var(by.get(&v).copied().unwrap_or(v)),
            Type::Seq(t) => Type::seq(self.replaced(&t, by)),
            Type::Set(t) => Type::set(self.replaced(&t, by)),
            Type::Map(k, v) => Type::map(self.replaced(&k, by), self.replaced(&v, by)),
            Type::Tuple(parts) => Type::tuple(all(&parts)),
            Type::Function(a, r) => Type::function(all(&a), self.replaced(&r, by)),
            Type::Dot(parts) => Type::dot(all(&parts)),
            Type::Dotable(a, r) => Type::dotable(self.replaced(&a, by), self.replaced(&r, by)),
            Type::Extendable(t, v) => {
                Type::Extendable(Rc::new(self.replaced(&t, by)), by.get(&v).copied().unwrap_or(v))
            }
            t => t,
        }
    }
}
