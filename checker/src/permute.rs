//! Permutations of elements that a model does not name.
//!
//! No predicate of a model tells two elements of a given set apart if neither is named in it: renaming them in a
//! valuation of the constants gives a valuation, in a state a state with the same truths, and in a transition a
//! transition. So a state may stand for all that it becomes by such renamings. [`Movable`] says which elements these
//! are, by a rule of its own: an element is named where it stands in the model, in what is claimed, or in the text of an
//! abstraction; a function that sees the order or the names of elements fixes all sets in its types.

use kanon_language::model::{Expr, ExprKind, Fun, Model, SetId, Type};
use kanon_semantics::plain::{Scope, Value};
use std::collections::BTreeSet;

/// Which elements may be moved.
pub struct Movable {
    /// By set and element.
    fixed: Vec<Vec<bool>>,
}

impl Movable {
    /// The elements that neither the model nor these predicates name.
    pub fn of(model: &Model, scope: &Scope, also: &[&Expr]) -> Movable {
        let fixed = scope.card.iter().map(|n| vec![false; usize::try_from(*n).unwrap_or(0)]).collect();
        let mut movable = Movable { fixed };
        model.for_each_expr(&mut |e| movable.look(e));
        also.iter().for_each(|e| movable.look(e));
        for (set, i) in &model.named_above {
            movable.fix(*set, *i);
        }
        movable
    }

    fn look(&mut self, e: &Expr) {
        if let ExprKind::Elem(set, i) = &e.kind {
            self.fix(*set, *i);
        }
        if let ExprKind::Call(Fun::External(f), args) = &e.kind
            && f.sees_elements()
        {
            self.fix_type(&e.ty);
            args.iter().for_each(|a| self.fix_type(&a.ty));
        }
        e.for_each_child(&mut |c| self.look(c));
    }

    fn fix(&mut self, set: SetId, i: u32) {
        if let Some(is_fixed) = self.fixed.get_mut(set.index()).and_then(|s| s.get_mut(i as usize)) {
            *is_fixed = true;
        }
    }

    /// Nothing that a value of this type is made of may be moved.
    pub fn fix_type(&mut self, ty: &Type) {
        match ty {
            Type::Given(set) => {
                if let Some(all) = self.fixed.get_mut(set.index()) {
                    all.fill(true);
                }
            }
            Type::Pow(t) => self.fix_type(t),
            Type::Pair(p) => {
                self.fix_type(&p.0);
                self.fix_type(&p.1);
            }
            Type::Rec(fields) => fields.iter().for_each(|(_, t)| self.fix_type(t)),
            Type::Free(_) => ty.for_each_set(&mut |set| self.fix_type(&Type::Given(set))),
            _ => {}
        }
    }

    fn is_fixed(&self, set: SetId, i: u32) -> bool {
        self.fixed.get(set.index()).and_then(|s| s.get(i as usize)).is_none_or(|f| *f)
    }
}

/// What is wrong with a permutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Not every element is the image of one.
    NoBijection(SetId),
    /// An element is moved that is named.
    Named(SetId, u32),
}

/// A permutation of elements, set by set.
#[derive(Clone, Debug, Default)]
pub struct Permutation {
    images: Vec<(SetId, Vec<u32>)>,
}

impl Permutation {
    /// The permutation with these images, if it is one that moves only what may be moved.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(images: Vec<(SetId, Vec<u32>)>, movable: &Movable) -> Result<Permutation, Wrong> {
        for (set, of) in &images {
            let distinct: BTreeSet<u32> = of.iter().copied().collect();
            if distinct.len() != of.len() || distinct.last().is_some_and(|i| *i as usize >= of.len()) {
                return Err(Wrong::NoBijection(*set));
            }
            let mut moved = of.iter().zip(0u32..).filter(|(image, i)| *image != i);
            if let Some((_, i)) = moved.find(|(_, i)| movable.is_fixed(*set, *i)) {
                return Err(Wrong::Named(*set, i));
            }
        }
        Ok(Permutation { images })
    }

    /// The value with all elements renamed.
    pub fn apply(&self, value: &Value) -> Value {
        match value {
            Value::Elem(set, i) => {
                let of = self.images.iter().find(|(s, _)| s == set);
                let image = of.and_then(|(_, images)| images.get(*i as usize)).copied();
                Value::Elem(*set, image.unwrap_or(*i))
            }
            Value::Pair(p) => Value::pair(self.apply(&p.0), self.apply(&p.1)),
            Value::Rec(fields) => Value::Rec(fields.iter().map(|v| self.apply(v)).collect()),
            Value::Set(elements) => Value::set(elements.iter().map(|v| self.apply(v))),
            Value::Free(case, argument) => {
                Value::Free(*case, argument.as_ref().map(|v| Box::new(self.apply(v))))
            }
            Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Real(_) => value.clone(),
        }
    }
}
