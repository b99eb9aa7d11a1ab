//! The group: all permutations of the deferred sets, each set by itself, and what keeps a set out of it.
//!
//! Elements of a deferred set have no names in B, so no predicate tells them apart, and permuting them in a
//! state, constants included, gives a state that behaves alike (*Symmetry Markers*, §2). What would break this is looked
//! for, and then that set is fixed point by point, with the reason.
//!
//! The argument needs only that nothing names an element. So an enumerated set of which no element is named
//! anywhere is permuted too, as ProB does.

use crate::model::{Expr, ExprKind, Model, SetId};
use crate::value::Scope;
use std::fmt;

/// Elements of all permuted sets together. Larger sets are fixed: labelling them would cost more than it saves.
pub const MAX_ELEMENTS: u64 = 1024;

/// A set that is permuted: its elements are the points `first..first + size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orbital {
    pub set: SetId,
    pub first: u32,
    pub size: u32,
}

/// Why a deferred set is not permuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An expression names an element.
    Named(String),
    /// A constant of a type with this set has no expanded value.
    Symbolic(String),
    TooLarge(u64),
    /// Asked for, by whoever checks something that is not symmetric in it.
    Asked(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Reason::Named(element) => write!(f, "its element {element} is named"),
            Reason::Symbolic(constant) => write!(f, "the constant {constant} is symbolic"),
            Reason::TooLarge(n) => {
                write!(f, "with its {n} elements more than {MAX_ELEMENTS} would be permuted")
            }
            Reason::Asked(why) => f.write_str(why),
        }
    }
}

/// The product of the symmetric groups on the permuted sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    pub orbitals: Vec<Orbital>,
    /// The deferred sets of at least two elements that are fixed. (That an enumerated set is, is no news.)
    pub fixed: Vec<(SetId, Reason)>,
    /// Where a given set's points begin, by [`SetId`].
    first: Vec<Option<u32>>,
}

impl Group {
    /// Everything that the model's own text allows. `also` are further predicates that are evaluated.
    #[must_use]
    pub fn of(model: &Model, scope: &Scope, also: &[&Expr]) -> Group {
        let mut named: Vec<Option<u32>> = vec![None; model.sets.len()];
        let mut look = |e: &Expr| {
            if let ExprKind::Elem(s, i) = e.kind {
                named[s.index()].get_or_insert(i);
            }
        };
        model.for_each_expr(&mut |e| e.for_each_part(&mut look));
        also.iter().for_each(|e| e.for_each_part(&mut look));
        let mut group = Group { first: vec![None; model.sets.len()], ..Group::default() };
        let mut points = 0;
        for (i, given) in model.sets.iter().enumerate() {
            let set = SetId(i as u32);
            let size = scope.size(set);
            if size < 2 || (given.elements.is_some() && named[i].is_some()) {
                continue;
            }
            if let Some(element) = named[i] {
                let name = crate::value::element_name(model, set, element);
                group.fixed.push((set, Reason::Named(name)));
            } else if u64::from(points) + size > MAX_ELEMENTS {
                group.fixed.push((set, Reason::TooLarge(size)));
            } else {
                group.orbitals.push(Orbital { set, first: points, size: size as u32 });
                group.first[i] = Some(points);
                points += size as u32;
            }
        }
        group
    }

    /// All permutations of sets of these sizes, each set by itself, for a system of one's own: the points of the first
    /// set come first.
    #[must_use]
    pub fn of_sizes(sizes: &[u32]) -> Group {
        let mut group = Group::default();
        for (i, size) in sizes.iter().enumerate() {
            let first = group.points() as u32;
            group.orbitals.push(Orbital { set: SetId(i as u32), first, size: *size });
            group.first.push(Some(first));
        }
        group.orbitals.retain(|o| o.size > 1);
        group
    }

    /// The same group with one set fixed.
    pub fn fix(&mut self, set: SetId, reason: Reason) {
        if !self.moves(set) {
            return;
        }
        self.fixed.push((set, reason));
        self.first[set.index()] = None;
        self.orbitals.retain(|o| o.set != set);
        let mut points = 0;
        for o in &mut self.orbitals {
            o.first = points;
            self.first[o.set.index()] = Some(points);
            points += o.size;
        }
    }

    /// Nothing to permute.
    #[must_use]
    pub fn is_trivial(&self) -> bool {
        self.orbitals.is_empty()
    }

    #[must_use]
    pub fn moves(&self, set: SetId) -> bool {
        self.first(set).is_some()
    }

    /// The first point of a permuted set.
    #[must_use]
    pub fn first(&self, set: SetId) -> Option<u32> {
        self.first.get(set.index()).copied().flatten()
    }

    /// How many points there are.
    #[must_use]
    pub fn points(&self) -> usize {
        self.orbitals.iter().map(|o| o.size as usize).sum()
    }

    /// How many permutations there are, as far as that can be counted.
    #[must_use]
    pub fn order(&self) -> Option<u128> {
        let sizes = self.orbitals.iter().flat_map(|o| 2..=u128::from(o.size));
        sizes.into_iter().try_fold(1u128, u128::checked_mul)
    }

    /// Whether a permutation of the points is a member: a bijection that keeps every set.
    #[must_use]
    pub fn contains(&self, p: &Perm) -> bool {
        if p.0.len() != self.points() {
            return false;
        }
        self.orbitals.iter().all(|o| {
            let images = &p.0[o.first as usize..(o.first + o.size) as usize];
            let inside = |i: u32| (o.first..o.first + o.size).contains(&i);
            if o.size <= 64 {
                let seen = images.iter().filter(|i| inside(**i)).fold(0u64, |m, i| m | 1 << (i - o.first));
                return seen == crate::value::rep::low(o.size);
            }
            let mut seen = vec![false; o.size as usize];
            images.iter().all(|i| inside(*i) && !std::mem::replace(&mut seen[(i - o.first) as usize], true))
        })
    }

    /// Generators: the transposition of the first two elements and the cycle of all, set by set.
    #[must_use]
    pub fn generators(&self) -> Vec<Perm> {
        let mut all = vec![];
        for o in &self.orbitals {
            let (first, end) = (o.first as usize, (o.first + o.size) as usize);
            let mut swap = Perm::identity(self.points());
            swap.0.swap(first, first + 1);
            all.push(swap);
            if o.size > 2 {
                let mut turn = Perm::identity(self.points());
                turn.0[first..end].rotate_left(1);
                all.push(turn);
            }
        }
        all
    }
}

/// A permutation of the points: the image of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Perm(pub Vec<u32>);

impl Perm {
    #[must_use]
    pub fn identity(points: usize) -> Perm {
        Perm((0..points as u32).collect())
    }

    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.0.iter().zip(0..).all(|(a, b)| *a == b)
    }

    #[must_use]
    pub fn inverse(&self) -> Perm {
        let mut q = vec![0; self.0.len()];
        for (i, j) in self.0.iter().enumerate() {
            q[*j as usize] = i as u32;
        }
        Perm(q)
    }

    /// First `self`, then `next`.
    #[must_use]
    pub fn then(&self, next: &Perm) -> Perm {
        Perm(self.0.iter().map(|i| next.0[*i as usize]).collect())
    }

    /// How often it has to be repeated to be the identity.
    #[must_use]
    pub fn order(&self) -> u64 {
        let mut seen = vec![false; self.0.len()];
        let mut order = 1u64;
        for start in 0..self.0.len() {
            let (mut at, mut length) = (start, 0);
            while !std::mem::replace(&mut seen[at], true) {
                at = self.0[at] as usize;
                length += 1;
            }
            if length > 1 {
                order = num_integer::lcm(order, length);
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_every_set() {
        let g = Group::of_sizes(&[2, 3]);
        assert_eq!(g.order(), Some(12));
        for (images, member) in [
            (vec![1, 0, 4, 2, 3], true),
            (vec![0, 1, 2, 3, 4], true),
            (vec![2, 1, 0, 3, 4], false), // another set's
            (vec![0, 0, 2, 3, 4], false), // not injective
            (vec![0, 1, 2, 3], false),    // too short
            (vec![0, 1, 2, 3, 5], false), // no such point
        ] {
            assert_eq!(g.contains(&Perm(images.clone())), member, "{images:?}");
        }
        assert!(g.generators().iter().all(|p| g.contains(p)));
        let mut fixed = g.clone();
        fixed.fix(SetId(0), Reason::Asked("a test".into()));
        assert_eq!((fixed.points(), fixed.first(SetId(1)), fixed.moves(SetId(0))), (3, Some(0), false));
    }

    #[test]
    fn large_sets_are_checked_too() {
        let g = Group::of_sizes(&[100]);
        let mut p = Perm::identity(100);
        p.0.rotate_left(37);
        assert!(g.contains(&p));
        p.0[3] = p.0[4];
        assert!(!g.contains(&p));
    }

    #[test]
    fn a_permutation_and_its_inverse() {
        let p = Perm(vec![1, 2, 0, 4, 3]);
        assert!(p.then(&p.inverse()).is_identity());
        assert_eq!(p.order(), 6);
        let mut q = Perm::identity(5);
        (0..p.order()).for_each(|_| q = q.then(&p));
        assert!(q.is_identity());
    }
}
