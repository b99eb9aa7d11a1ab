//! The group: all permutations of given sets, each set by itself, and what keeps elements out of it.
//!
//! Elements of a deferred set have no names in B, so no predicate tells them apart, and permuting them in a
//! state, constants included, gives a state that behaves in the same way (*Symmetry Markers*, §2).
//!
//! The argument needs only that nothing names an element. So elements of enumerated sets that are named nowhere are
//! permuted too, as ProB does, and an element that is named is fixed without its set: the others still cannot be told
//! apart. A set is fixed as a whole where something sees more of it than the names of some elements.
//!
//! Beside names, only operators that see the order or the names of all elements tell two of them apart: a
//! deterministic choice, a conversion to a string ([`External::sees_elements`]). They fix the sets in the types of
//! their arguments and results.

use crate::lang::external::External;
use crate::model::{Expr, ExprKind, FreeType, Fun, Model, SetId, Type};
use crate::value::Scope;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Elements of all permuted sets together. Larger sets are fixed: labelling them would cost more than it saves.
pub const MAX_ELEMENTS: u64 = 1024;

/// A set that is permuted: its elements are the points `first..first + size`, most often all of them moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orbital {
    pub set: SetId,
    pub first: u32,
    pub size: u32,
    /// The place of its first moved point among those of all sets.
    begin: u32,
    /// How many of its points are moved: at least two, or none.
    pub moved: u32,
}

impl Orbital {
    /// Whether none of its points is fixed.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.moved == self.size
    }

    /// Where its moved points stand in [`Group::moved`].
    #[must_use]
    pub fn places(&self) -> std::ops::Range<usize> {
        self.begin as usize..(self.begin + self.moved) as usize
    }
}

/// Why a set is not permuted, or only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Expressions name these elements.
    Named(Vec<String>),
    /// A constant of a type with this set has no expanded value.
    Symbolic(String),
    /// A function sees the order or the names of all its elements.
    Seen(&'static str),
    /// Values of this freetype are made of its elements.
    InFreetype(String),
    TooLarge(u64),
    /// Asked for, by whoever checks something that is not symmetric in it.
    Asked(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Reason::Named(elements) => match &elements[..] {
                [element] => write!(f, "its element {element} is named"),
                [most @ .., last] => write!(f, "its elements {} and {last} are named", most.join(", ")),
                [] => f.write_str("elements of it are named"),
            },
            Reason::Symbolic(constant) => write!(f, "the constant {constant} is symbolic"),
            Reason::Seen(function) => write!(f, "{function} sees the order or the names of its elements"),
            Reason::InFreetype(name) => write!(f, "values of the freetype {name} are made of its elements"),
            Reason::TooLarge(n) => {
                write!(f, "with its {n} elements more than {MAX_ELEMENTS} would be permuted")
            }
            Reason::Asked(why) => f.write_str(why),
        }
    }
}

/// The product of the symmetric groups on the moved points of the permuted sets.
#[warn(missing_docs)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The permuted sets.
    pub orbitals: Vec<Orbital>,
    /// The sets that are permuted only in part, and the fixed ones of at least two elements, unless the model names
    /// the elements of an enumerated set: that is no news.
    pub fixed: Vec<(SetId, Reason)>,
    /// Where a given set's points begin, by [`SetId`].
    first: Vec<Option<u32>>,
    /// The points that are moved, set by set, in order.
    moved: Vec<u32>,
    /// The other ones, in order.
    still: Vec<u32>,
}

#[warn(missing_docs)]
impl Group {
    /// Everything that the model's own text allows, abstractions of a refinement included. `also` are further predicates
    /// that are evaluated.
    #[must_use]
    pub fn of(model: &Model, scope: &Scope, also: &[&Expr]) -> Group {
        let by_model = named(model, &[]);
        let by_all = named(model, also);
        let mut group = Group { first: vec![None; model.sets.len()], ..Group::default() };
        for (i, given) in model.sets.iter().enumerate() {
            let set = SetId(i as u32);
            let size = scope.size(set);
            let is_moved = |named: &BTreeSet<u32>| size >= 2 + named.len() as u64;
            let named = &by_all[i];
            if size < 2 || (given.elements.is_some() && !is_moved(&by_model[i])) {
                continue;
            }
            if is_moved(named) && group.points() as u64 + size > MAX_ELEMENTS {
                group.fixed.push((set, Reason::TooLarge(size)));
                continue;
            }
            if !named.is_empty() {
                let names = named.iter().map(|i| crate::value::element_name(model, set, *i));
                group.fixed.push((set, Reason::Named(names.collect())));
            }
            if is_moved(named) {
                group.add(set, size as u32, |i| named.contains(&i));
            }
        }
        for (set, function) in seen(model, also) {
            group.fix(set, Reason::Seen(function.name()));
        }
        for free in freetypes(model, also) {
            let name = free.name().to_string();
            Type::Free(free).for_each_set(&mut |set| group.fix(set, Reason::InFreetype(name.clone())));
        }
        group
    }

    /// All permutations of sets of these sizes, each set by itself, for a system of one's own: the points of the first
    /// set come first.
    #[must_use]
    pub fn of_sizes(sizes: &[u32]) -> Group {
        let mut group = Group { first: vec![None; sizes.len()], ..Group::default() };
        for (i, size) in sizes.iter().enumerate() {
            group.add(SetId(i as u32), *size, |_| false);
        }
        group
    }

    /// Adds the points of a set, of which some are fixed. One that is not moves nothing without a second one.
    fn add(&mut self, set: SetId, size: u32, is_fixed: impl Fn(u32) -> bool) {
        let (first, begin) = (self.points() as u32, self.moved.len() as u32);
        let is_alone = (0..size).filter(|i| !is_fixed(*i)).count() < 2;
        let (still, moved): (Vec<u32>, Vec<u32>) = (0..size).partition(|i| is_alone || is_fixed(*i));
        self.orbitals.push(Orbital { set, first, size, begin, moved: moved.len() as u32 });
        self.first[set.index()] = Some(first);
        self.still.extend(still.iter().map(|i| first + i));
        self.moved.extend(moved.iter().map(|i| first + i));
    }

    /// The same group with one set fixed.
    pub fn fix(&mut self, set: SetId, reason: Reason) {
        if !self.moves(set) {
            return;
        }
        self.fixed.retain(|(s, _)| *s != set);
        self.fixed.push((set, reason));
        self.first[set.index()] = None;
        let still = std::mem::take(&mut self.still);
        self.moved.clear();
        for o in std::mem::take(&mut self.orbitals).into_iter().filter(|o| o.set != set) {
            self.add(o.set, o.size, |i| still.binary_search(&(o.first + i)).is_ok());
        }
    }

    /// Nothing to permute.
    #[must_use]
    pub fn is_trivial(&self) -> bool {
        self.moved.is_empty()
    }

    /// Whether elements of this set are moved.
    #[must_use]
    pub fn moves(&self, set: SetId) -> bool {
        self.first(set).is_some()
    }

    /// The first point of a permuted set.
    #[must_use]
    pub fn first(&self, set: SetId) -> Option<u32> {
        self.first.get(set.index()).copied().flatten()
    }

    /// How many points there are: the elements of all permuted sets, fixed ones included.
    #[must_use]
    pub fn points(&self) -> usize {
        self.moved.len() + self.still.len()
    }

    /// The points that are moved, set by set.
    #[must_use]
    pub fn moved(&self) -> &[u32] {
        &self.moved
    }

    /// The points that are fixed although points of their set are moved.
    #[must_use]
    pub fn still(&self) -> &[u32] {
        &self.still
    }

    /// Whether this point is one of [`Group::still`].
    #[must_use]
    pub fn is_still(&self, point: u32) -> bool {
        !self.still.is_empty() && self.still.binary_search(&point).is_ok()
    }

    /// The moved elements of a permuted set.
    pub fn elements<'a>(&'a self, o: &'a Orbital) -> impl Iterator<Item = u32> + 'a {
        self.moved[o.places()].iter().map(|point| point - o.first)
    }

    /// How many permutations there are, as far as that can be counted.
    #[must_use]
    pub fn order(&self) -> Option<u128> {
        let sizes = self.orbitals.iter().flat_map(|o| 2..=u128::from(o.moved));
        sizes.into_iter().try_fold(1u128, u128::checked_mul)
    }

    /// Whether a permutation of the points is a member: a bijection that keeps every set and every fixed point.
    #[must_use]
    pub fn contains(&self, p: &Perm) -> bool {
        if p.0.len() != self.points() || self.still.iter().any(|point| p.0[*point as usize] != *point) {
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

    /// Generators: the transposition of the first two moved elements and the cycle of all, set by set.
    #[must_use]
    pub fn generators(&self) -> Vec<Perm> {
        let mut all = vec![];
        for o in &self.orbitals {
            let moved = &self.moved[o.places()];
            let mut cycle = |points: &[u32]| {
                let mut turn = Perm::identity(self.points());
                for (point, next) in points.iter().zip(points.iter().cycle().skip(1)) {
                    turn.0[*point as usize] = *next;
                }
                all.push(turn);
            };
            if let [first, second, rest @ ..] = moved {
                cycle(&[*first, *second]);
                if !rest.is_empty() {
                    cycle(moved);
                }
            }
        }
        all
    }
}

/// By set: the elements that are named anywhere in the model, the abstractions of a refinement included, or in `also`.
fn named(model: &Model, also: &[&Expr]) -> Vec<BTreeSet<u32>> {
    let mut named: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); model.sets.len()];
    for (set, element) in &model.named_above {
        named[set.index()].insert(*element);
    }
    let mut look = |e: &Expr| {
        if let ExprKind::Elem(set, element) = e.kind {
            named[set.index()].insert(element);
        }
    };
    model.for_each_expr(&mut |e| e.for_each_part(&mut look));
    also.iter().for_each(|e| e.for_each_part(&mut look));
    named
}

/// The sets of which some function sees the order or the names of all elements, each with the first such function.
fn seen(model: &Model, also: &[&Expr]) -> BTreeMap<SetId, External> {
    let mut seen = BTreeMap::new();
    let mut look = |e: &Expr| {
        if let ExprKind::Call(Fun::External(f), args) = &e.kind
            && f.sees_elements()
        {
            args.iter().map(|a| &a.ty).chain([&e.ty]).for_each(|ty| {
                ty.for_each_set(&mut |set| {
                    seen.entry(set).or_insert(*f);
                });
            });
        }
    };
    model.for_each_expr(&mut |e| e.for_each_part(&mut look));
    also.iter().for_each(|e| e.for_each_part(&mut look));
    seen
}

/// The freetypes, and the datatypes with what their parameters are where they are used.
fn freetypes(model: &Model, also: &[&Expr]) -> BTreeSet<FreeType> {
    let is_pattern = |free: &FreeType| !free.parameters().is_empty();
    let declared = model.freetypes.iter().map(|decl| decl.ty.clone());
    let mut found: BTreeSet<FreeType> = declared.filter(|free| !is_pattern(free)).collect();
    if model.freetypes.len() > found.len() {
        let mut look = |ty: &Type| inside(ty, &mut found);
        let declared = model.constants.iter().chain(&model.variables).chain(&model.locals);
        declared.for_each(|d| look(&d.ty));
        model.for_each_expr(&mut |e| e.for_each_part(&mut |part| look(&part.ty)));
        also.iter().for_each(|e| e.for_each_part(&mut |part| look(&part.ty)));
    }
    found
}

fn inside(ty: &Type, found: &mut BTreeSet<FreeType>) {
    match ty {
        Type::Free(free) => {
            found.insert(free.clone());
        }
        Type::Pair(p) => {
            inside(&p.0, found);
            inside(&p.1, found);
        }
        Type::Pow(t) => inside(t, found),
        Type::Rec(fields) => fields.iter().for_each(|(_, t)| inside(t, found)),
        _ => {}
    }
}

/// A permutation of the points: the image of each.
#[warn(missing_docs)]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Perm(pub Vec<u32>);

#[warn(missing_docs)]
impl Perm {
    /// Every point stays where it is.
    #[must_use]
    pub fn identity(points: usize) -> Perm {
        Perm((0..points as u32).collect())
    }

    /// Whether every point stays where it is.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.0.iter().zip(0..).all(|(a, b)| *a == b)
    }

    /// What undoes it.
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
        // A set of one element has a point, which stays where it is.
        let g = Group::of_sizes(&[1, 2, 1]);
        assert_eq!((g.points(), g.moved(), g.order()), (4, &[1, 2][..], Some(2)));
        assert_eq!(g.generators(), [Perm(vec![0, 2, 1, 3])]);
        assert!(g.contains(&Perm(vec![0, 2, 1, 3])) && !g.contains(&Perm(vec![3, 1, 2, 0])));
        assert!(Group::of_sizes(&[1, 0, 1]).is_trivial());
    }

    #[test]
    fn members_keep_fixed_points() {
        let mut g = Group { first: vec![None; 3], ..Group::default() };
        g.add(SetId(0), 2, |_| false);
        g.add(SetId(1), 5, |i| i == 1 || i == 4);
        g.add(SetId(2), 70, |i| i == 69);
        assert_eq!((g.points(), g.moved().len(), g.still()), (77, 74, &[3, 6, 76][..]));
        let with = |swaps: &[(usize, usize)]| {
            let mut p = Perm::identity(77);
            swaps.iter().for_each(|(a, b)| p.0.swap(*a, *b));
            p
        };
        assert!(g.contains(&with(&[(0, 1), (2, 4), (4, 5), (7, 75)])));
        assert!(
            !g.contains(&with(&[(2, 3)])) && !g.contains(&with(&[(3, 6)])) && !g.contains(&with(&[(75, 76)]))
        );
        assert!(g.generators().iter().all(|p| g.contains(p)));
        g.fix(SetId(0), Reason::Asked("a test".into()));
        assert_eq!(g.still(), [1, 4, 74]);
        assert_eq!(g.elements(&g.orbitals[0]).collect::<Vec<_>>(), [0, 2, 3]);
        g.fix(SetId(2), Reason::Asked("a test".into()));
        assert_eq!((g.points(), g.order()), (5, Some(6)));
        assert_eq!(g.generators(), [Perm(vec![2, 1, 0, 3, 4]), Perm(vec![2, 1, 3, 0, 4])]);
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
