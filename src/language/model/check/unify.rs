//! Unification of types.
//!
//! While inference runs, a type not yet known is written `Type::Given` with an id beyond
//! [`FIRST_UNKNOWN`]; no model has that many sets, and [`super::fill`] replaces every one of them before
//! a model leaves the checker. So the typed tree is built once, with the types still open.

use crate::model::{SetId, Type};
use std::sync::Arc;

const FIRST_UNKNOWN: u32 = 1 << 31;

/// The substitution: what is known about each unknown.
#[derive(Debug, Default)]
pub struct Unifier {
    bound: Vec<Option<Type>>,
}

fn index(ty: &Type) -> Option<usize> {
    match ty {
        Type::Given(SetId(n)) if *n >= FIRST_UNKNOWN => Some((n - FIRST_UNKNOWN) as usize),
        _ => None,
    }
}

/// Whether this very type is an open one (not looking at what is known about it).
pub fn is_unknown(ty: &Type) -> bool {
    index(ty).is_some()
}

impl Unifier {
    pub fn fresh(&mut self) -> Type {
        self.bound.push(None);
        // The parser's size limit keeps the number of nodes far below 2^31.
        Type::Given(SetId(FIRST_UNKNOWN + (self.bound.len() - 1) as u32))
    }

    /// Looks through known unknowns at the top only.
    pub fn shallow(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Some(known) = index(ty).and_then(|i| self.bound.get(i)).and_then(Option::as_ref) {
            ty = known;
        }
        ty.clone()
    }

    /// Replaces all that is known; what stays open stays in.
    pub fn deep(&self, ty: &Type) -> Type {
        match self.shallow(ty) {
            Type::Pair(p) => Type::pair(self.deep(&p.0), self.deep(&p.1)),
            Type::Pow(t) => self.deep(&t).pow(),
            Type::Rec(fields) => Type::Rec(fields.iter().map(|(n, t)| (n.clone(), self.deep(t))).collect()),
            Type::Free(free) => Type::Free(free.with_parameters(&mut |t| self.deep(t))),
            other => other,
        }
    }

    /// Whether anything in the type is still open.
    pub fn is_open(&self, ty: &Type) -> bool {
        match self.shallow(ty) {
            Type::Pair(p) => self.is_open(&p.0) || self.is_open(&p.1),
            Type::Pow(t) => self.is_open(&t),
            Type::Rec(fields) => fields.iter().any(|(_, t)| self.is_open(t)),
            Type::Free(free) => free.parameters().iter().any(|t| self.is_open(t)),
            other => is_unknown(&other),
        }
    }

    /// Binds everything open in the type to INTEGER: for places where any type would do.
    pub fn close(&mut self, ty: &Type) {
        match self.shallow(ty) {
            Type::Pair(p) => {
                self.close(&p.0);
                self.close(&p.1);
            }
            Type::Pow(t) => self.close(&t),
            Type::Rec(fields) => fields.iter().for_each(|(_, t)| self.close(t)),
            Type::Free(free) => free.parameters().iter().for_each(|t| self.close(t)),
            other => {
                if let Some(slot) = index(&other).and_then(|i| self.bound.get_mut(i)) {
                    *slot = Some(Type::Int);
                }
            }
        }
    }

    fn occurs(&self, at: usize, ty: &Type) -> bool {
        match self.shallow(ty) {
            Type::Pair(p) => self.occurs(at, &p.0) || self.occurs(at, &p.1),
            Type::Pow(t) => self.occurs(at, &t),
            Type::Rec(fields) => fields.iter().any(|(_, t)| self.occurs(at, t)),
            Type::Free(free) => free.parameters().iter().any(|t| self.occurs(at, t)),
            other => index(&other) == Some(at),
        }
    }

    /// Makes the two equal. `false` when they cannot be; parts may have been bound by then, which is
    /// harmless: an error is reported and nothing is built.
    pub fn unify(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.shallow(a), self.shallow(b));
        if a == b && !matches!(a, Type::Pair(_) | Type::Pow(_) | Type::Rec(_)) {
            return true;
        }
        match (index(&a), index(&b)) {
            (Some(i), _) => return self.bind(i, b),
            (_, Some(j)) => return self.bind(j, a),
            _ => {}
        }
        match (&a, &b) {
            (Type::Pair(p), Type::Pair(q)) => {
                Arc::ptr_eq(p, q) || self.unify(&p.0, &q.0) && self.unify(&p.1, &q.1)
            }
            (Type::Pow(s), Type::Pow(t)) => Arc::ptr_eq(s, t) || self.unify(s, t),
            (Type::Rec(f), Type::Rec(g)) => {
                f.len() == g.len()
                    && f.iter().zip(g.iter()).all(|((m, s), (n, t))| m == n && self.unify(s, t))
            }
            // A datatype of Event-B; whatever else is in it follows from its parameters.
            (Type::Free(f), Type::Free(g)) if f.name() == g.name() => {
                let mut pairs = f.parameters().iter().zip(g.parameters());
                pairs.all(|(s, t)| self.unify(s, t))
                    && f.def().parameters.is_some()
                    && f.parameters().len() == g.parameters().len()
            }
            _ => false,
        }
    }

    fn bind(&mut self, at: usize, ty: Type) -> bool {
        // A value's type is never `Pred`: predicates and expressions do not mix.
        if ty == Type::Pred || self.occurs(at, &ty) {
            return false;
        }
        match self.bound.get_mut(at) {
            Some(slot) => {
                *slot = Some(ty);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unifies_through_unknowns() {
        let mut u = Unifier::default();
        let (a, b) = (u.fresh(), u.fresh());
        assert!(u.unify(&a.clone().pow(), &b));
        assert!(u.unify(&b, &Type::Int.pow()));
        assert_eq!(u.deep(&a), Type::Int);
        assert!(!u.unify(&a, &Type::Bool));
    }

    #[test]
    fn refuses_infinite_types_and_predicates() {
        let mut u = Unifier::default();
        let a = u.fresh();
        assert!(!u.unify(&a, &a.clone().pow()));
        assert!(!u.unify(&a, &Type::Pred));
        assert!(u.is_open(&a));
        u.close(&a);
        assert_eq!(u.deep(&a), Type::Int);
    }
}
