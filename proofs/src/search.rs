//! The reading that enumerates: every system of exactly `N` states, by a search that jumps back.
//!
//! Every choice is a wheel, a bit of a set or a relation or a number, and all wheels are turned. A truth value
//! carries the wheels it was computed from ([`Fact`]). When an assumption fails, only those wheels can mend it: the
//! search goes back to the last of them at once and skips what lies between. A wheel that nothing was computed from
//! is not turned at all. That is all the pruning there is; it is justified by what the clauses read, as they stand
//! in the machines' text, and by nothing that is known about them.

use std::array;

use kanon_refinement::concrete::{Bits, Concrete, Group, Pairs, Small, Table, Trial};
use kanon_refinement::logic::{Logic, name_of};
use kanon_refinement::{lab, mc0, path, rmc1, wmc};

use crate::choose::Choose;

/// Wheels, by their number; the last bit stands for all from there on.
type Wheels = u128;
/// Labels of transitions.
const OPS: usize = 2;

/// A truth value and the wheels it depends on: whatever the others show, it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    holds: bool,
    by: Wheels,
}

/// A state or a label and the wheels it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    at: usize,
    by: Wheels,
}

impl Fact {
    const TRUE: Fact = Fact { holds: true, by: 0 };
    const FALSE: Fact = Fact { holds: false, by: 0 };

    fn not(self) -> Self {
        Fact { holds: !self.holds, ..self }
    }
    /// Conjunction. One false side is reason enough; of two, that which is older.
    fn and(self, other: Self) -> Self {
        match (self.holds, other.holds) {
            (true, true) => Fact { holds: true, by: self.by | other.by },
            (true, false) => other,
            (false, true) => self,
            (false, false) => Fact { holds: false, by: self.by.min(other.by) },
        }
    }
    fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }
    fn also(self, by: Wheels) -> Self {
        Fact { by: self.by | by, ..self }
    }
}

impl Item {
    fn of(at: usize) -> Self {
        Item { at, by: 0 }
    }
    /// Which one.
    pub fn at(self) -> usize {
        self.at
    }
    fn is(self, at: usize) -> Fact {
        Fact { holds: self.at == at, by: self.by }
    }
}

/// A set.
pub type Facts<const N: usize> = [Fact; N];
/// A relation.
pub type Square<const N: usize> = [[Fact; N]; N];

/// The logic of facts, over `N` states and `G` functions in the group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Space<const N: usize, const G: usize> {
    planted: Option<&'static str>,
}

impl<const N: usize, const G: usize> Space<N, G> {
    fn every(parts: impl Iterator<Item = Fact>) -> Fact {
        parts.fold(Fact::TRUE, Fact::and)
    }
    fn some(parts: impl Iterator<Item = Fact>) -> Fact {
        parts.fold(Fact::FALSE, Fact::or)
    }
}

impl<const N: usize, const G: usize> Logic for Space<N, G> {
    type Bool = Fact;
    type State = Item;
    type Set = Facts<N>;
    type Rel = Square<N>;
    type Map = [Item; N];
    type Aut = [[Item; N]; G];
    type Op = Item;
    type Steps = [Square<N>; OPS];

    fn truth(&self) -> Fact {
        Fact::TRUE
    }
    fn not(&self, a: &Fact) -> Fact {
        a.not()
    }
    fn and(&self, a: &Fact, b: &Fact) -> Fact {
        a.and(*b)
    }
    fn or(&self, a: &Fact, b: &Fact) -> Fact {
        a.or(*b)
    }
    fn forall(&self, body: impl Fn(&Item) -> Fact) -> Fact {
        Self::every((0..N).map(|s| body(&Item::of(s))))
    }
    fn exists(&self, body: impl Fn(&Item) -> Fact) -> Fact {
        Self::some((0..N).map(|s| body(&Item::of(s))))
    }
    fn eq(&self, a: &Item, b: &Item) -> Fact {
        a.is(b.at).also(b.by)
    }
    fn member(&self, x: &Item, a: &Facts<N>) -> Fact {
        a[x.at].also(x.by)
    }
    fn set_where(&self, body: impl Fn(&Item) -> Fact) -> Facts<N> {
        array::from_fn(|s| body(&Item::of(s)))
    }
    fn empty(&self) -> Facts<N> {
        [Fact::FALSE; N]
    }
    fn single(&self, x: &Item) -> Facts<N> {
        array::from_fn(|s| x.is(s))
    }
    fn union(&self, a: &Facts<N>, b: &Facts<N>) -> Facts<N> {
        array::from_fn(|s| a[s].or(b[s]))
    }
    fn inter(&self, a: &Facts<N>, b: &Facts<N>) -> Facts<N> {
        array::from_fn(|s| a[s].and(b[s]))
    }
    fn minus(&self, a: &Facts<N>, b: &Facts<N>) -> Facts<N> {
        array::from_fn(|s| a[s].and(b[s].not()))
    }
    fn subset(&self, a: &Facts<N>, b: &Facts<N>) -> Fact {
        Self::every((0..N).map(|s| a[s].not().or(b[s])))
    }
    fn is_empty(&self, a: &Facts<N>) -> Fact {
        Self::every(a.iter().map(|f| f.not()))
    }
    fn related(&self, r: &Square<N>, a: &Item, b: &Item) -> Fact {
        r[a.at][b.at].also(a.by | b.by)
    }
    fn rel_where(&self, body: impl Fn(&Item, &Item) -> Fact) -> Square<N> {
        array::from_fn(|a| array::from_fn(|b| body(&Item::of(a), &Item::of(b))))
    }
    fn image(&self, r: &Square<N>, a: &Facts<N>) -> Facts<N> {
        array::from_fn(|y| Self::some((0..N).map(|x| a[x].and(r[x][y]))))
    }
    fn range(&self, r: &Square<N>) -> Facts<N> {
        array::from_fn(|y| Self::some((0..N).map(|x| r[x][y])))
    }
    fn apply(&self, f: &[Item; N], x: &Item) -> Item {
        Item { at: f[x.at].at, by: f[x.at].by | x.by }
    }
    fn map_image(&self, f: &[Item; N], a: &Facts<N>) -> Facts<N> {
        array::from_fn(|y| Self::some((0..N).map(|x| a[x].and(f[x].is(y)))))
    }
    fn preimage(&self, f: &[Item; N], a: &Facts<N>) -> Facts<N> {
        array::from_fn(|x| a[f[x].at].also(f[x].by))
    }
    fn map_range(&self, f: &[Item; N]) -> Facts<N> {
        array::from_fn(|y| Self::some((0..N).map(|x| f[x].is(y))))
    }
    fn forall_in(&self, aut: &[[Item; N]; G], body: impl Fn(&[Item; N]) -> Fact) -> Fact {
        Self::every(aut.iter().map(body))
    }
    fn exists_in(&self, aut: &[[Item; N]; G], body: impl Fn(&[Item; N]) -> Fact) -> Fact {
        Self::some(aut.iter().map(body))
    }
    fn exists_op(&self, body: impl Fn(&Item) -> Fact) -> Fact {
        Self::some((0..OPS).map(|op| body(&Item::of(op))))
    }
    fn same_op(&self, a: &Item, b: &Item) -> Fact {
        self.eq(a, b)
    }
    fn step(&self, t: &[Square<N>; OPS], s1: &Item, op: &Item, s2: &Item) -> Fact {
        t[op.at][s1.at][s2.at].also(op.by | s1.by | s2.by)
    }
    fn steps_where(&self, body: impl Fn(&Item, &Item, &Item) -> Fact) -> [Square<N>; OPS] {
        array::from_fn(|o| self.rel_where(|a, b| body(a, &Item::of(o), b)))
    }
    fn keeps(&self, label: &'static str) -> bool {
        self.planted.is_none_or(|p| p != name_of(label))
    }
}

/// One choice.
#[derive(Clone, Copy, Debug)]
struct Wheel {
    value: usize,
    below: usize,
    /// Something was computed from it that mattered.
    matters: bool,
}

/// The search, and one run of an obligation at a time.
#[derive(Debug, Default)]
pub struct Search<const N: usize, const G: usize> {
    logic: Space<N, G>,
    wheels: Vec<Wheel>,
    at: usize,
    /// Why the run is over: the wheels that made an assumption fail.
    failed: Option<Wheels>,
    /// What the run has read.
    read: Wheels,
    claims: u64,
    refuted: Option<&'static str>,
}

impl<const N: usize, const G: usize> Search<N, G> {
    /// Any number below `below`.
    pub fn pick(&mut self, below: usize) -> Item {
        // A run that is over chooses nothing, and what is no choice needs no wheel.
        if self.failed.is_some() || below < 2 {
            return Item::of(0);
        }
        if self.at == self.wheels.len() {
            self.wheels.push(Wheel { value: 0, below, matters: false });
        }
        let item = Item { at: self.wheels[self.at].value, by: 1 << self.at.min(127) };
        self.at += 1;
        item
    }

    fn bit(&mut self) -> Fact {
        let item = self.pick(2);
        item.is(1)
    }
    fn facts(&mut self) -> Facts<N> {
        array::from_fn(|_| self.bit())
    }
    fn square(&mut self) -> Square<N> {
        array::from_fn(|_| self.facts())
    }
    fn map(&mut self) -> [Item; N] {
        array::from_fn(|_| self.pick(N))
    }

    /// Everything chosen so far matters: what follows is not computed with facts.
    pub fn reads_all(&mut self) {
        self.read = Wheels::MAX;
    }

    /// Ends a run and turns the wheels; false when all combinations have been seen.
    fn advance(&mut self) -> bool {
        let by = self.failed.unwrap_or(self.read);
        for (at, wheel) in self.wheels.iter_mut().enumerate() {
            wheel.matters |= by >> at.min(127) & 1 == 1;
        }
        if self.failed.is_some() && by >> 127 == 0 {
            // Whatever the wheels behind the last reason show, the assumption fails.
            self.wheels.truncate(128 - by.leading_zeros() as usize);
        }
        (self.at, self.failed, self.read) = (0, None, 0);
        while let Some(wheel) = self.wheels.last_mut() {
            if wheel.matters && wheel.value + 1 < wheel.below {
                wheel.value += 1;
                return true;
            }
            self.wheels.pop();
        }
        false
    }
}

impl<const N: usize, const G: usize> Choose for Search<N, G> {
    type L = Space<N, G>;

    fn logic(&self) -> Self::L {
        self.logic
    }
    fn alive(&self) -> bool {
        self.failed.is_none()
    }
    fn mc0(&mut self) -> mc0::Constants<Self::L> {
        // Renaming the states of a system with i = s makes one with i = 0; where it costs little, all are tried.
        let i = self.pick(if N <= 2 { N } else { 1 });
        mc0::Constants { i, tr: self.square(), inv: self.facts(), reach: self.facts() }
    }
    fn rmc1(&mut self) -> rmc1::Constants<Self::L> {
        let mc0 = self.mc0();
        rmc1::Constants { mc0, aut: array::from_fn(|_| self.map()), rep: self.map() }
    }
    fn wmc(&mut self) -> wmc::Constants<Self::L> {
        let mc0 = self.mc0();
        wmc::Constants { mc0, orb: self.square() }
    }
    fn lab(&mut self, wmc: wmc::Constants<Self::L>) -> lab::Constants<Self::L> {
        lab::Constants { wmc, rep: self.map() }
    }
    fn path(&mut self, sym: wmc::Constants<Self::L>) -> path::Constants<Self::L> {
        path::Constants { sym, ltr: array::from_fn(|_| self.square()) }
    }
    fn set(&mut self, _: &'static str, _: impl FnOnce(&Self::L) -> [Facts<N>; 2]) -> Facts<N> {
        self.facts()
    }
    fn state(&mut self, _: &'static str, _: impl FnOnce(&Self::L) -> Facts<N>) -> Item {
        self.pick(N)
    }
    fn automorphism(&mut self, _: &'static str, aut: &[[Item; N]; G]) -> [Item; N] {
        let k = self.pick(G);
        aut[k.at].map(|item| Item { by: item.by | k.by, ..item })
    }
    fn op(&mut self, _: &'static str) -> Item {
        self.pick(OPS)
    }
    fn history(
        &mut self,
        _: &path::Constants<Self::L>,
        _: &Facts<N>,
        _: &Facts<N>,
    ) -> ([Square<N>; OPS], Square<N>) {
        (array::from_fn(|_| self.square()), self.square())
    }
    fn assume(&mut self, _: &'static str, fact: Fact) {
        if self.alive() {
            self.read |= fact.by;
            self.failed = (!fact.holds).then_some(fact.by);
        }
    }
    fn prove(&mut self, label: &'static str, fact: Fact) {
        if self.alive() {
            self.claims += 1;
            self.read |= fact.by;
            if !fact.holds && self.refuted.is_none() {
                self.refuted = Some(label);
            }
        }
    }
}

/// What an enumeration saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Runs, those given up early included.
    pub runs: u64,
    /// Runs that satisfied every assumption. Choices that nothing was computed from count once.
    pub cases: u64,
    /// The first claim that did not hold.
    pub refuted: Option<&'static str>,
}

/// Runs an obligation on every choice over exactly `N` states, until a claim fails. `planted` is the name of a clause
/// or action that is missing in the machines' text.
pub fn every<const N: usize, const G: usize>(
    planted: Option<&'static str>,
    obligation: &dyn Fn(&mut Search<N, G>),
) -> Count {
    let mut search = Search { logic: Space { planted }, ..Search::default() };
    let mut count = Count::default();
    loop {
        search.claims = 0;
        obligation(&mut search);
        count.runs += 1;
        count.cases += u64::from(search.alive() && search.claims > 0);
        count.refuted = search.refuted;
        if count.refuted.is_some() || !search.advance() {
            return count;
        }
    }
}

/// The values of constants, for code that is no formula.
pub fn values<const N: usize, const G: usize, T: Trial>(
    k: &mc0::Constants<Space<N, G>>,
) -> mc0::Constants<Concrete<Small<N, G>, T>> {
    mc0::Constants { i: k.i.at, tr: pairs(&k.tr), inv: set(&k.inv), reach: set(&k.reach) }
}

/// A set's value.
pub fn set<const N: usize, const G: usize>(a: &Facts<N>) -> Bits<Small<N, G>> {
    Bits::from_word((0..N).fold(0, |word, s| word | u64::from(a[s].holds) << s))
}

/// A relation's value.
pub fn pairs<const N: usize, const G: usize>(r: &Square<N>) -> Pairs<Small<N, G>> {
    let mut out = Concrete::<Small<N, G>>::new(N, OPS).no_pairs();
    (0..N).for_each(|s| out.set_row(s, &set(&r[s])));
    out
}

/// A function's value.
pub fn table<const N: usize, const G: usize>(f: &[Item; N]) -> Table<Small<N, G>> {
    let mut out = Concrete::<Small<N, G>>::new(N, OPS).identity();
    (0..N).for_each(|s| out.set(s, f[s].at));
    out
}

/// A group's value.
pub fn group<const N: usize, const G: usize>(aut: &[[Item; N]; G]) -> Group<Small<N, G>> {
    let mut out = Concrete::<Small<N, G>>::new(N, OPS).no_group(G);
    aut.iter().for_each(|p| out.push(&table(p)));
    out
}
