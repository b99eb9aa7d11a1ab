//! The concrete reading: sets are bits, quantifiers are loops.
//!
//! [`Small`] keeps everything in arrays (no allocation: for Kani), [`Large`] in vectors (for the audit of a run).
//! The text of the operations is the same for both. Every loop is one of two ([`Concrete::each`] and the quantifier
//! beside it), over states, labels or members of the group. In [`Small`] nothing ends a loop early: a bounded model
//! checker unwinds each as often as the system has states, and a test counts the turns.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::marker::PhantomData;

use crate::logic::{Logic, name_of};

/// Where the bits live. `s` is below the number of states throughout.
pub trait Shape: Copy + Debug + PartialEq {
    /// Whether a quantifier stops at the first state that decides it. A model checker that unwinds loops is better
    /// off without the case distinction.
    const STOPS: bool;
    /// A set.
    type Words: Clone + Debug + PartialEq;
    /// A set for each state.
    type Rows: Clone + Debug + PartialEq;
    /// A state for each state.
    type Table: Clone + Debug + PartialEq;
    /// Several tables.
    type Tables: Clone + Debug + PartialEq;
    /// Rows for each label.
    type Sheets: Clone + Debug + PartialEq;
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
    /// Whether bit `s` is set.
    fn has(a: &Self::Words, s: usize) -> bool;
    /// Sets bit `s`, or clears it.
    fn put(a: &mut Self::Words, s: usize, on: bool);
    /// Both sets, word by word.
    fn zip(a: &Self::Words, b: &Self::Words, f: impl Fn(u64, u64) -> u64) -> Self::Words;
    /// Whether no bit is set.
    fn is_zero(a: &Self::Words) -> bool;
    /// The words as they are.
    fn slice(a: &Self::Words) -> &[u64];
    /// One of the rows.
    fn row(a: &Self::Rows, s: usize) -> &Self::Words;
    /// One of the rows.
    fn row_mut(a: &mut Self::Rows, s: usize) -> &mut Self::Words;
    /// An entry.
    fn at(a: &Self::Table, s: usize) -> usize;
    /// Sets an entry.
    fn set(a: &mut Self::Table, s: usize, t: usize);
    /// One of the tables.
    fn pick(a: &Self::Tables, k: usize) -> &Self::Table;
    /// One of the tables.
    fn pick_mut(a: &mut Self::Tables, k: usize) -> &mut Self::Table;
    /// How many tables there is room for.
    fn room(a: &Self::Tables) -> usize;
    /// The rows of a label.
    fn sheet(a: &Self::Sheets, op: usize) -> &Self::Rows;
    /// The rows of a label.
    fn sheet_mut(a: &mut Self::Sheets, op: usize) -> &mut Self::Rows;
}

/// At most `N` ≤ 64 states and `G` permutations, two labels, in arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Small<const N: usize, const G: usize>;

/// Any number of states, in vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Large;

/// Labels of the small shape.
pub const SMALL_OPS: usize = 2;

impl<const N: usize, const G: usize> Small<N, G> {
    const IDENTITY: [u32; N] = {
        let (mut t, mut s) = ([0; N], 0);
        while s < N {
            t[s] = s as u32;
            s += 1;
        }
        t
    };
}

impl<const N: usize, const G: usize> Shape for Small<N, G> {
    const STOPS: bool = false;
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
        Self::IDENTITY
    }
    fn tables(_: usize, k: usize) -> Self::Tables {
        debug_assert!(k <= G);
        [Self::IDENTITY; G]
    }
    fn sheets(_: usize, _: usize) -> Self::Sheets {
        [[[0]; N]; SMALL_OPS]
    }
    fn has(a: &[u64; 1], s: usize) -> bool {
        a[0] >> s & 1 == 1
    }
    fn put(a: &mut [u64; 1], s: usize, on: bool) {
        a[0] = a[0] & !(1 << s) | u64::from(on) << s;
    }
    fn zip(a: &[u64; 1], b: &[u64; 1], f: impl Fn(u64, u64) -> u64) -> [u64; 1] {
        [f(a[0], b[0])]
    }
    fn is_zero(a: &[u64; 1]) -> bool {
        a[0] == 0
    }
    fn slice(a: &[u64; 1]) -> &[u64] {
        a
    }
    fn row(a: &Self::Rows, s: usize) -> &[u64; 1] {
        &a[s]
    }
    fn row_mut(a: &mut Self::Rows, s: usize) -> &mut [u64; 1] {
        &mut a[s]
    }
    fn at(a: &Self::Table, s: usize) -> usize {
        a[s] as usize
    }
    fn set(a: &mut Self::Table, s: usize, t: usize) {
        a[s] = t as u32;
    }
    fn pick(a: &Self::Tables, k: usize) -> &Self::Table {
        &a[k]
    }
    fn pick_mut(a: &mut Self::Tables, k: usize) -> &mut Self::Table {
        &mut a[k]
    }
    fn room(_: &Self::Tables) -> usize {
        G
    }
    fn sheet(a: &Self::Sheets, op: usize) -> &Self::Rows {
        &a[op]
    }
    fn sheet_mut(a: &mut Self::Sheets, op: usize) -> &mut Self::Rows {
        &mut a[op]
    }
}

impl Shape for Large {
    const STOPS: bool = true;
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
    fn has(a: &Vec<u64>, s: usize) -> bool {
        a[s / 64] >> (s % 64) & 1 == 1
    }
    fn put(a: &mut Vec<u64>, s: usize, on: bool) {
        a[s / 64] = a[s / 64] & !(1 << (s % 64)) | u64::from(on) << (s % 64);
    }
    fn zip(a: &Vec<u64>, b: &Vec<u64>, f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
        a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
    }
    fn is_zero(a: &Vec<u64>) -> bool {
        a.iter().all(|&w| w == 0)
    }
    fn slice(a: &Vec<u64>) -> &[u64] {
        a
    }
    fn row(a: &Self::Rows, s: usize) -> &Vec<u64> {
        &a[s]
    }
    fn row_mut(a: &mut Self::Rows, s: usize) -> &mut Vec<u64> {
        &mut a[s]
    }
    fn at(a: &Self::Table, s: usize) -> usize {
        a[s] as usize
    }
    fn set(a: &mut Self::Table, s: usize, t: usize) {
        a[s] = t as u32;
    }
    fn pick(a: &Self::Tables, k: usize) -> &Self::Table {
        &a[k]
    }
    fn pick_mut(a: &mut Self::Tables, k: usize) -> &mut Self::Table {
        &mut a[k]
    }
    fn room(a: &Self::Tables) -> usize {
        a.len()
    }
    fn sheet(a: &Self::Sheets, op: usize) -> &Self::Rows {
        &a[op]
    }
    fn sheet_mut(a: &mut Self::Sheets, op: usize) -> &mut Self::Rows {
        &mut a[op]
    }
}

/// A set of states.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits<S: Shape>(S::Words);

impl<S: Shape> Bits<S> {
    /// Whether `s` is in it.
    pub fn contains(&self, s: usize) -> bool {
        S::has(&self.0, s)
    }
    /// Puts `s` in; whether it was absent.
    pub fn insert(&mut self, s: usize) -> bool {
        let new = !self.contains(s);
        S::put(&mut self.0, s, true);
        new
    }
    /// Takes `s` out.
    pub fn remove(&mut self, s: usize) {
        S::put(&mut self.0, s, false);
    }
    /// How many states it has.
    pub fn len(&self) -> usize {
        self.words().iter().map(|w| w.count_ones() as usize).sum()
    }
    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        S::is_zero(&self.0)
    }
    /// The words of the set.
    pub fn words(&self) -> &[u64] {
        S::slice(&self.0)
    }
    fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(S::zip(&self.0, &other.0, f))
    }
}

impl<const N: usize, const G: usize> Bits<Small<N, G>> {
    /// The set of these bits.
    pub fn from_word(word: u64) -> Self {
        Self([word])
    }
}

/// A relation, as the set of successors of each state.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<S: Shape>(S::Rows);

impl<S: Shape> Pairs<S> {
    /// Whether `a ↦ b` is in it.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        S::has(S::row(&self.0, a), b)
    }
    /// Puts `a ↦ b` in.
    pub fn insert(&mut self, a: usize, b: usize) {
        S::put(S::row_mut(&mut self.0, a), b, true);
    }
    /// `r[{a}]`.
    pub fn row(&self, a: usize) -> Bits<S> {
        Bits(S::row(&self.0, a).clone())
    }
    /// `r[{a}] := set`.
    pub fn set_row(&mut self, a: usize, set: &Bits<S>) {
        *S::row_mut(&mut self.0, a) = set.0.clone();
    }
}

/// A function on the states.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<S: Shape>(S::Table);

impl<S: Shape> Table<S> {
    /// `f(s)`.
    pub fn at(&self, s: usize) -> usize {
        S::at(&self.0, s)
    }
    /// `f(s) := t`.
    pub fn set(&mut self, s: usize, t: usize) {
        S::set(&mut self.0, s, t);
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
        S::room(&self.tables)
    }
    /// The `k`-th.
    pub fn get(&self, k: usize) -> Table<S> {
        debug_assert!(k < self.len);
        Table(S::pick(&self.tables, k).clone())
    }
    /// Lists one more; room is the caller's part.
    pub fn push(&mut self, p: &Table<S>) {
        *S::pick_mut(&mut self.tables, self.len) = p.0.clone();
        self.len += 1;
    }
}

/// A relation with labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled<S: Shape>(S::Sheets);

impl<S: Shape> Labelled<S> {
    /// Whether `(a, op, b)` is in it.
    pub fn contains(&self, a: usize, op: usize, b: usize) -> bool {
        S::has(S::row(S::sheet(&self.0, op), a), b)
    }
    /// Puts `(a, op, b)` in.
    pub fn insert(&mut self, a: usize, op: usize, b: usize) {
        S::put(S::row_mut(S::sheet_mut(&mut self.0, op), a), b, true);
    }
    /// Where `op` leads from `a`: that set.
    pub fn set_row(&mut self, a: usize, op: usize, set: &Bits<S>) {
        *S::row_mut(S::sheet_mut(&mut self.0, op), a) = set.0.clone();
    }
}

/// What a test does to a reading: plants a mistake in the machines' text, or counts the turns of loops.
pub trait Trial: Copy + Debug + PartialEq {
    /// Whether the text has this clause or action ([`Logic::keeps`]).
    #[inline]
    fn keeps(&self, _label: &'static str) -> bool {
        true
    }
    /// A loop took so many turns.
    #[inline]
    fn looped(&self, _turns: usize) {}
}

/// Nothing: the text as it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sound;

impl Trial for Sound {}

/// The clause or action of this name (`mc2/inv1`, `mc2/add_inv/act1`) is missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Without(pub &'static str);

impl Trial for Without {
    fn keeps(&self, label: &'static str) -> bool {
        name_of(label) != self.0
    }
}

/// The reading itself: `S = 0..n`, labels `0..ops`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concrete<S: Shape, T = Sound> {
    n: usize,
    ops: usize,
    trial: T,
    shape: PhantomData<S>,
}

impl<S: Shape> Concrete<S> {
    /// Over `n` states and `ops` labels.
    pub const fn new(n: usize, ops: usize) -> Self {
        Self::on_trial(n, ops, Sound)
    }
}

impl<S: Shape, T> Concrete<S, T> {
    /// The same in a test of the text.
    pub const fn on_trial(n: usize, ops: usize, trial: T) -> Self {
        Self { n, ops, trial, shape: PhantomData }
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
}

impl<S: Shape, T: Trial> Concrete<S, T> {
    /// Every number below `below`, in order: the loop.
    #[inline]
    pub fn each(&self, below: usize, mut body: impl FnMut(usize)) {
        let mut turn = 0;
        while turn < below {
            body(turn);
            turn += 1;
        }
        self.trial.looped(turn);
    }
    /// Whether `body` is `wanted` for some number below `below`.
    #[inline]
    fn some(&self, below: usize, wanted: bool, body: impl Fn(usize) -> bool) -> bool {
        let (mut found, mut turn) = (false, 0);
        while turn < below && !(S::STOPS && found) {
            found |= body(turn) == wanted;
            turn += 1;
        }
        self.trial.looped(turn);
        found
    }
    /// The least set with `i` that `tr` does not leave, by iteration.
    pub fn least(&self, i: usize, tr: &Pairs<S>) -> Bits<S> {
        let mut r = self.single(&i);
        // Each round but the last adds a state, so |S| rounds suffice.
        self.each(self.n, |_| r = self.union(&r, &self.image(tr, &r)));
        r
    }
}

impl<S: Shape, T: Trial> Logic for Concrete<S, T> {
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
        *a & *b
    }
    fn or(&self, a: &bool, b: &bool) -> bool {
        *a | *b
    }
    fn forall(&self, body: impl Fn(&usize) -> bool) -> bool {
        !self.some(self.n, false, |s| body(&s))
    }
    fn exists(&self, body: impl Fn(&usize) -> bool) -> bool {
        self.some(self.n, true, |s| body(&s))
    }
    fn eq(&self, a: &usize, b: &usize) -> bool {
        a == b
    }
    fn member(&self, x: &usize, a: &Bits<S>) -> bool {
        a.contains(*x)
    }
    fn set_where(&self, body: impl Fn(&usize) -> bool) -> Bits<S> {
        let mut out = S::words(self.n);
        self.each(self.n, |s| S::put(&mut out, s, body(&s)));
        Bits(out)
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
        self.each(self.n, |a| out.set_row(a, &self.set_where(|b| body(&a, b))));
        out
    }
    fn image(&self, r: &Pairs<S>, a: &Bits<S>) -> Bits<S> {
        let mut out = self.empty();
        self.each(self.n, |s| {
            if a.contains(s) {
                out = self.union(&out, &r.row(s));
            }
        });
        out
    }
    fn range(&self, r: &Pairs<S>) -> Bits<S> {
        let mut out = self.empty();
        self.each(self.n, |s| out = self.union(&out, &r.row(s)));
        out
    }
    fn apply(&self, f: &Table<S>, x: &usize) -> usize {
        f.at(*x)
    }
    fn map_image(&self, f: &Table<S>, a: &Bits<S>) -> Bits<S> {
        let mut out = self.empty();
        self.each(self.n, |s| {
            if a.contains(s) {
                out.insert(f.at(s));
            }
        });
        out
    }
    fn preimage(&self, f: &Table<S>, a: &Bits<S>) -> Bits<S> {
        self.set_where(|s| a.contains(f.at(*s)))
    }
    fn map_range(&self, f: &Table<S>) -> Bits<S> {
        let mut out = self.empty();
        self.each(self.n, |s| {
            out.insert(f.at(s));
        });
        out
    }
    fn forall_in(&self, aut: &Group<S>, body: impl Fn(&Table<S>) -> bool) -> bool {
        !self.some(aut.len, false, |k| body(&aut.get(k)))
    }
    fn exists_in(&self, aut: &Group<S>, body: impl Fn(&Table<S>) -> bool) -> bool {
        self.some(aut.len, true, |k| body(&aut.get(k)))
    }
    fn exists_op(&self, body: impl Fn(&usize) -> bool) -> bool {
        self.some(self.ops, true, |op| body(&op))
    }
    fn same_op(&self, a: &usize, b: &usize) -> bool {
        a == b
    }
    fn step(&self, t: &Labelled<S>, s1: &usize, op: &usize, s2: &usize) -> bool {
        t.contains(*s1, *op, *s2)
    }
    fn steps_where(&self, body: impl Fn(&usize, &usize, &usize) -> bool) -> Labelled<S> {
        let mut out = self.no_steps();
        self.each(self.ops, |op| {
            self.each(self.n, |a| out.set_row(a, op, &self.set_where(|b| body(&a, &op, b))));
        });
        out
    }
    fn keeps(&self, label: &'static str) -> bool {
        self.trial.keeps(label)
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
