//! The concrete reading: sets are bits, quantifiers are loops.
//!
//! [`Small`] keeps everything in arrays (no allocation, bounded loops: for Kani and enumeration), [`Large`] in
//! vectors (for the audit of a run). The text of the operations is the same for both.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use crate::logic::Logic;

/// Where the bits live.
pub trait Shape: Copy + Debug + PartialEq {
    /// The words of one set.
    type Words: AsRef<[u64]> + AsMut<[u64]> + Clone + Debug + PartialEq;
    /// A set for each state.
    type Rows: Index<usize, Output = Self::Words> + IndexMut<usize> + Clone + Debug + PartialEq;
    /// A state for each state.
    type Table: Index<usize, Output = u32> + IndexMut<usize> + Clone + Debug + PartialEq;
    /// Several tables.
    type Tables: AsRef<[Self::Table]> + AsMut<[Self::Table]> + Clone + Debug + PartialEq;
    /// Rows for each label.
    type Sheets: AsRef<[Self::Rows]> + AsMut<[Self::Rows]> + Clone + Debug + PartialEq;
    /// No bits.
    fn words(n: usize) -> Self::Words;
    /// No bits in any row.
    fn rows(n: usize) -> Self::Rows;
    /// The identity.
    fn table(n: usize) -> Self::Table;
    /// Room for `k` tables, all the identity.
    fn tables(n: usize, k: usize) -> Self::Tables;
    /// No bits, for each of `ops` labels.
    fn sheets(n: usize, ops: usize) -> Self::Sheets;
}

/// At most `N` ≤ 64 states and `G` permutations, two labels, in arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Small<const N: usize, const G: usize>;

/// Any number of states, in vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Large;

/// Labels of the small shape.
pub const SMALL_OPS: usize = 2;

fn identity<const N: usize>() -> [u32; N] {
    let mut t = [0; N];
    let mut s = 0;
    while s < N {
        t[s] = s as u32;
        s += 1;
    }
    t
}

impl<const N: usize, const G: usize> Shape for Small<N, G> {
    type Words = [u64; 1];
    type Rows = [[u64; 1]; N];
    type Table = [u32; N];
    type Tables = [[u32; N]; G];
    type Sheets = [[[u64; 1]; N]; SMALL_OPS];
    fn words(_: usize) -> [u64; 1] {
        [0]
    }
    fn rows(_: usize) -> Self::Rows {
        [[0]; N]
    }
    fn table(_: usize) -> Self::Table {
        identity()
    }
    fn tables(_: usize, k: usize) -> Self::Tables {
        debug_assert!(k <= G);
        [identity(); G]
    }
    fn sheets(_: usize, _: usize) -> Self::Sheets {
        [[[0]; N]; SMALL_OPS]
    }
}

impl Shape for Large {
    type Words = Vec<u64>;
    type Rows = Vec<Vec<u64>>;
    type Table = Vec<u32>;
    type Tables = Vec<Vec<u32>>;
    type Sheets = Vec<Vec<Vec<u64>>>;
    fn words(n: usize) -> Vec<u64> {
        vec![0; n.div_ceil(64)]
    }
    fn rows(n: usize) -> Self::Rows {
        vec![Self::words(n); n]
    }
    fn table(n: usize) -> Self::Table {
        (0..n as u32).collect()
    }
    fn tables(n: usize, k: usize) -> Self::Tables {
        vec![Self::table(n); k]
    }
    fn sheets(n: usize, ops: usize) -> Self::Sheets {
        vec![Self::rows(n); ops]
    }
}

/// A set of states.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits<S: Shape>(S::Words);

impl<S: Shape> Bits<S> {
    /// Whether `s` is in it.
    pub fn contains(&self, s: usize) -> bool {
        self.0.as_ref()[s / 64] >> (s % 64) & 1 == 1
    }
    /// Puts `s` in; whether it was absent.
    pub fn insert(&mut self, s: usize) -> bool {
        let new = !self.contains(s);
        self.0.as_mut()[s / 64] |= 1 << (s % 64);
        new
    }
    /// Takes `s` out.
    pub fn remove(&mut self, s: usize) {
        self.0.as_mut()[s / 64] &= !(1 << (s % 64));
    }
    /// How many states it has.
    pub fn len(&self) -> usize {
        self.0.as_ref().iter().map(|w| w.count_ones() as usize).sum()
    }
    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().iter().all(|&w| w == 0)
    }
    /// The words of the set.
    pub fn words(&self) -> &[u64] {
        self.0.as_ref()
    }
    fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut out = self.clone();
        for (a, b) in out.0.as_mut().iter_mut().zip(other.0.as_ref()) {
            *a = f(*a, *b);
        }
        out
    }
}

/// A relation, as the set of successors of each state.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<S: Shape>(S::Rows);

impl<S: Shape> Pairs<S> {
    /// Whether `a ↦ b` is in it.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.0[a].as_ref()[b / 64] >> (b % 64) & 1 == 1
    }
    /// Puts `a ↦ b` in.
    pub fn insert(&mut self, a: usize, b: usize) {
        self.0[a].as_mut()[b / 64] |= 1 << (b % 64);
    }
    /// `r[{a}]`.
    pub fn row(&self, a: usize) -> Bits<S> {
        Bits(self.0[a].clone())
    }
}

/// A function on the states.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<S: Shape>(S::Table);

impl<S: Shape> Table<S> {
    /// `f(s)`.
    pub fn at(&self, s: usize) -> usize {
        self.0[s] as usize
    }
    /// `f(s) := t`.
    pub fn set(&mut self, s: usize, t: usize) {
        self.0[s] = t as u32;
    }
}

/// A set of functions, listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<S: Shape> {
    tables: S::Tables,
    len: usize,
}

impl<S: Shape> Group<S> {
    /// How many.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// How many there is room for.
    pub fn capacity(&self) -> usize {
        self.tables.as_ref().len()
    }
    /// The `k`-th.
    pub fn get(&self, k: usize) -> Table<S> {
        debug_assert!(k < self.len);
        Table(self.tables.as_ref()[k].clone())
    }
    /// Lists one more; room is the caller's part.
    pub fn push(&mut self, p: &Table<S>) {
        self.tables.as_mut()[self.len] = p.0.clone();
        self.len += 1;
    }
}

/// A relation with labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled<S: Shape>(S::Sheets);

impl<S: Shape> Labelled<S> {
    /// Whether `(a, op, b)` is in it.
    pub fn contains(&self, a: usize, op: usize, b: usize) -> bool {
        self.0.as_ref()[op][a].as_ref()[b / 64] >> (b % 64) & 1 == 1
    }
    /// Puts `(a, op, b)` in.
    pub fn insert(&mut self, a: usize, op: usize, b: usize) {
        self.0.as_mut()[op][a].as_mut()[b / 64] |= 1 << (b % 64);
    }
}

/// The reading itself: `S = 0..n`, labels `0..ops`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concrete<S: Shape> {
    n: usize,
    ops: usize,
    forgotten: Option<&'static str>,
    shape: PhantomData<S>,
}

impl<S: Shape> Concrete<S> {
    /// Over `n` states and `ops` labels.
    pub const fn new(n: usize, ops: usize) -> Self {
        Self { n, ops, forgotten: None, shape: PhantomData }
    }
    /// The same with a planted mistake: the action with this label (`mc2/add_inv/act1`) does nothing. So a test
    /// can see that the mistake is caught.
    pub const fn forgetting(self, action: &'static str) -> Self {
        Self { forgotten: Some(action), ..self }
    }
    /// `|S|`.
    pub const fn states(&self) -> usize {
        self.n
    }
    /// How many labels there are.
    pub const fn ops(&self) -> usize {
        self.ops
    }
    /// An empty relation.
    pub fn no_pairs(&self) -> Pairs<S> {
        Pairs(S::rows(self.n))
    }
    /// An empty relation with labels.
    pub fn no_steps(&self) -> Labelled<S> {
        Labelled(S::sheets(self.n, self.ops))
    }
    /// The identity function.
    pub fn identity(&self) -> Table<S> {
        Table(S::table(self.n))
    }
    /// A list of functions with room for `k`, empty.
    pub fn no_group(&self, k: usize) -> Group<S> {
        Group { tables: S::tables(self.n, k), len: 0 }
    }
    /// The least set with `i` that `tr` does not leave, by iteration.
    pub fn least(&self, i: usize, tr: &Pairs<S>) -> Bits<S> {
        let mut r = self.single(&i);
        // Each round but the last adds a state, so |S| rounds suffice.
        for _ in 0..self.n {
            r = self.union(&r, &self.image(tr, &r));
        }
        r
    }
}

impl<S: Shape> Logic for Concrete<S> {
    type Bool = bool;
    type State = usize;
    type Set = Bits<S>;
    type Rel = Pairs<S>;
    type Map = Table<S>;
    type Aut = Group<S>;
    type Op = usize;
    type Steps = Labelled<S>;

    fn truth(&self) -> bool {
        true
    }
    fn not(&self, a: &bool) -> bool {
        !*a
    }
    fn and(&self, a: &bool, b: &bool) -> bool {
        *a && *b
    }
    fn or(&self, a: &bool, b: &bool) -> bool {
        *a || *b
    }
    fn forall(&self, body: impl Fn(&usize) -> bool) -> bool {
        (0..self.n).all(|s| body(&s))
    }
    fn exists(&self, body: impl Fn(&usize) -> bool) -> bool {
        (0..self.n).any(|s| body(&s))
    }
    fn eq(&self, a: &usize, b: &usize) -> bool {
        a == b
    }
    fn member(&self, x: &usize, a: &Bits<S>) -> bool {
        a.contains(*x)
    }
    fn set_where(&self, body: impl Fn(&usize) -> bool) -> Bits<S> {
        let mut out = self.empty();
        for s in 0..self.n {
            if body(&s) {
                out.insert(s);
            }
        }
        out
    }
    fn empty(&self) -> Bits<S> {
        Bits(S::words(self.n))
    }
    fn single(&self, x: &usize) -> Bits<S> {
        let mut out = self.empty();
        out.insert(*x);
        out
    }
    fn union(&self, a: &Bits<S>, b: &Bits<S>) -> Bits<S> {
        a.zip(b, |a, b| a | b)
    }
    fn inter(&self, a: &Bits<S>, b: &Bits<S>) -> Bits<S> {
        a.zip(b, |a, b| a & b)
    }
    fn minus(&self, a: &Bits<S>, b: &Bits<S>) -> Bits<S> {
        a.zip(b, |a, b| a & !b)
    }
    fn subset(&self, a: &Bits<S>, b: &Bits<S>) -> bool {
        self.minus(a, b).is_empty()
    }
    fn is_empty(&self, a: &Bits<S>) -> bool {
        a.is_empty()
    }
    fn related(&self, r: &Pairs<S>, a: &usize, b: &usize) -> bool {
        r.contains(*a, *b)
    }
    fn rel_where(&self, body: impl Fn(&usize, &usize) -> bool) -> Pairs<S> {
        let mut out = self.no_pairs();
        for a in 0..self.n {
            for b in 0..self.n {
                if body(&a, &b) {
                    out.insert(a, b);
                }
            }
        }
        out
    }
    fn image(&self, r: &Pairs<S>, a: &Bits<S>) -> Bits<S> {
        let mut out = self.empty();
        for s in 0..self.n {
            if a.contains(s) {
                out = self.union(&out, &r.row(s));
            }
        }
        out
    }
    fn range(&self, r: &Pairs<S>) -> Bits<S> {
        let mut out = self.empty();
        for s in 0..self.n {
            out = self.union(&out, &r.row(s));
        }
        out
    }
    fn apply(&self, f: &Table<S>, x: &usize) -> usize {
        f.at(*x)
    }
    fn map_image(&self, f: &Table<S>, a: &Bits<S>) -> Bits<S> {
        let mut out = self.empty();
        for s in 0..self.n {
            if a.contains(s) {
                out.insert(f.at(s));
            }
        }
        out
    }
    fn preimage(&self, f: &Table<S>, a: &Bits<S>) -> Bits<S> {
        self.set_where(|s| a.contains(f.at(*s)))
    }
    fn map_range(&self, f: &Table<S>) -> Bits<S> {
        let mut out = self.empty();
        for s in 0..self.n {
            out.insert(f.at(s));
        }
        out
    }
    fn forall_in(&self, aut: &Group<S>, body: impl Fn(&Table<S>) -> bool) -> bool {
        (0..aut.len).all(|k| body(&aut.get(k)))
    }
    fn exists_in(&self, aut: &Group<S>, body: impl Fn(&Table<S>) -> bool) -> bool {
        (0..aut.len).any(|k| body(&aut.get(k)))
    }
    fn exists_op(&self, body: impl Fn(&usize) -> bool) -> bool {
        (0..self.ops).any(|op| body(&op))
    }
    fn same_op(&self, a: &usize, b: &usize) -> bool {
        a == b
    }
    fn assign(&self, label: &'static str, old: &Bits<S>, new: Bits<S>) -> Bits<S> {
        if self.forgotten == Some(label) { old.clone() } else { new }
    }
    fn step(&self, t: &Labelled<S>, s1: &usize, op: &usize, s2: &usize) -> bool {
        t.contains(*s1, *op, *s2)
    }
    fn steps_where(&self, body: impl Fn(&usize, &usize, &usize) -> bool) -> Labelled<S> {
        let mut out = self.no_steps();
        for op in 0..self.ops {
            for a in 0..self.n {
                for b in 0..self.n {
                    if body(&a, &op, &b) {
                        out.insert(a, op, b);
                    }
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both shapes compute the same, on a relation that reaches beyond one word.
    #[test]
    fn shapes_agree() {
        let large = Concrete::<Large>::new(60, 1);
        let small = Concrete::<Small<60, 1>>::new(60, 1);
        let (mut a, mut b) = (large.no_pairs(), small.no_pairs());
        for s in 0..59 {
            a.insert(s, s + 1);
            b.insert(s, s + 1);
        }
        assert_eq!(large.least(7, &a).words(), small.least(7, &b).words(), "the tail from 7");
        assert_eq!(large.least(7, &a).len(), 53);
    }

    #[test]
    fn more_than_a_word() {
        let l = Concrete::<Large>::new(200, 1);
        let mut tr = l.no_pairs();
        for s in 0..199 {
            tr.insert(s, s + 1);
        }
        let r = l.least(0, &tr);
        assert_eq!(r.len(), 200);
        assert!(l.subset(&l.single(&150), &r) && !l.subset(&r, &l.single(&150)));
        let shift = l.set_where(|s| s % 2 == 0);
        assert_eq!(l.image(&tr, &shift).len(), 100);
        assert!(l.is_empty(&l.inter(&shift, &l.image(&tr, &shift))));
    }
}
