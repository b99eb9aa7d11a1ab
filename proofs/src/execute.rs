//! The readings that execute: one run of an obligation on small arrays of bits.
//!
//! [`Run`] is generic over where its numbers come from ([`Pick`]): all of them in turn ([`Every`]), a tape of
//! random words ([`Tape`]), or Kani's `any`.

use kanon_refinement::concrete::{Bits, Concrete, Group, Labelled, Pairs, Small, Table};
use kanon_refinement::logic::{Logic, name_of};
use kanon_refinement::{lab, mc0, path, rmc1, wmc};

use crate::choose::{Choose, hint_stands};
use crate::groups;

/// A source of numbers.
pub trait Pick {
    /// A number below `below`, which is at least 1.
    fn pick(&mut self, below: usize) -> usize;
    /// Any word with the low `bits` bits.
    fn word(&mut self, bits: usize) -> u64;
    /// Whether constants should be built symmetric, not guessed and filtered: for sources that do not come
    /// back to a choice.
    fn builds(&self) -> bool;
    /// Any group on `n` states that fixes `i`.
    fn group<const N: usize, const G: usize>(
        &mut self,
        l: &Concrete<Small<N, G>>,
        i: usize,
    ) -> Group<Small<N, G>>;
    /// Hears of an assumption; Kani assumes it.
    fn assume(&mut self, _holds: bool) {}
}

/// One run on at most `N` states and `G` permutations.
#[derive(Debug)]
pub struct Run<P, const N: usize, const G: usize> {
    /// Where the numbers come from.
    pub pick: P,
    logic: Concrete<Small<N, G>>,
    planted: Option<&'static str>,
    alive: bool,
    /// What was claimed and did not hold.
    pub refuted: Option<&'static str>,
    /// How many claims were reached with all assumptions true.
    pub claims: u64,
}

impl<P: Pick, const N: usize, const G: usize> Run<P, N, G> {
    /// A run over `n` states.
    pub fn new(pick: P, n: usize) -> Self {
        Self::planting(pick, n, None)
    }

    /// A run with a mistake in it: the clause or action of this name is dropped.
    pub fn planting(pick: P, n: usize, planted: Option<&'static str>) -> Self {
        let logic = Concrete::new(n, 2);
        let logic = match planted {
            Some(label) => logic.forgetting(label),
            None => logic,
        };
        Self { pick, logic, planted, alive: true, refuted: None, claims: 0 }
    }

    /// Whether all assumptions held so far.
    pub fn alive(&self) -> bool {
        self.alive
    }

    fn below(&mut self, below: usize) -> usize {
        // A run that is over makes no more choices, so none is tried in vain.
        if self.alive { self.pick.pick(below) } else { 0 }
    }

    fn bits(&mut self, room: &Bits<Small<N, G>>) -> Bits<Small<N, G>> {
        let n = self.logic.states();
        let mut word = if self.alive { self.pick.word(room.len()) } else { 0 };
        let mut out = self.logic.empty();
        for s in 0..n {
            if room.contains(s) {
                if word & 1 == 1 {
                    out.insert(s);
                }
                word >>= 1;
            }
        }
        out
    }

    fn everything(&self) -> Bits<Small<N, G>> {
        self.logic.set_where(|_| true)
    }

    /// Some member; the run is over if there is none.
    fn member(&mut self, set: &Bits<Small<N, G>>) -> usize {
        if set.is_empty() {
            self.stop();
            return 0;
        }
        let k = self.below(set.len());
        (0..self.logic.states()).filter(|&s| set.contains(s)).nth(k).unwrap_or(0)
    }

    fn stop(&mut self) {
        self.pick.assume(false);
        self.alive = false;
    }

    fn drops(&self, label: &str) -> bool {
        self.planted.is_some_and(|p| p == name_of(label))
    }

    /// `tr`, `inv`, symmetric under the group if the source builds, and `reach`.
    fn constants(&mut self, i: usize, aut: &Group<Small<N, G>>) -> mc0::Constants<Concrete<Small<N, G>>> {
        let l = self.logic;
        let n = l.states();
        let mut targets = self.everything();
        if hint_stands(&["mc0/prp4"], self.planted) {
            targets.remove(i);
        }
        let rows = if self.pick.builds() { self.sparse_rows(&targets) } else { self.all_rows(&targets) };
        let builds = self.pick.builds();
        let mut tr = l.no_pairs();
        for a in 0..n {
            for b in 0..n {
                if rows.contains(a, b) {
                    tr.insert(a, b);
                    for k in 0..if builds { aut.len() } else { 0 } {
                        let p = aut.get(k);
                        tr.insert(p.at(a), p.at(b));
                    }
                }
            }
        }
        let mut bad = self.everything();
        if hint_stands(&["mc0/prp3"], self.planted) {
            bad.remove(i);
        }
        let mut bad = self.bits(&bad);
        if builds {
            // Few errors, or the runs end early.
            let thin = self.everything();
            let (a, b) = (self.bits(&thin), self.bits(&thin));
            bad = l.inter(&bad, &l.inter(&a, &b));
            bad = l.set_where(|s| (0..aut.len()).any(|k| bad.contains(aut.get(k).at(*s))));
        }
        let inv = l.minus(&self.everything(), &bad);
        let reach = l.least(i, &tr);
        mc0::Constants { i, tr, inv, reach }
    }

    fn all_rows(&mut self, targets: &Bits<Small<N, G>>) -> Pairs<Small<N, G>> {
        let mut tr = self.logic.no_pairs();
        for a in 0..self.logic.states() {
            let row = self.bits(targets);
            for b in 0..self.logic.states() {
                if row.contains(b) {
                    tr.insert(a, b);
                }
            }
        }
        tr
    }

    /// One to three successors a state.
    fn sparse_rows(&mut self, targets: &Bits<Small<N, G>>) -> Pairs<Small<N, G>> {
        let mut tr = self.logic.no_pairs();
        if targets.is_empty() {
            return tr;
        }
        for a in 0..self.logic.states() {
            for _ in 0..=self.below(3) {
                let b = self.member(targets);
                tr.insert(a, b);
            }
        }
        tr
    }

    /// A representative function: constructed, since few functions are one.
    fn representatives(&mut self, aut: &Group<Small<N, G>>) -> Table<Small<N, G>> {
        let l = self.logic;
        let n = l.states();
        let mut rep = l.identity();
        let anything = self.drops("rmc1/prp9");
        let untrusted = self.drops("rmc1/prp8") || self.drops("rmc1/prp10");
        for s in 0..n {
            let orbit = l.set_where(|t| (0..aut.len()).any(|k| aut.get(k).at(s) == *t));
            let first = (0..n).find(|&t| orbit.contains(t)).unwrap_or(s);
            if anything {
                let t = self.below(n);
                rep.set(s, t);
            } else if untrusted || first == s {
                let t = self.member(&orbit);
                rep.set(s, t);
            } else {
                rep.set(s, rep.at(first));
            }
        }
        rep
    }

    /// Any equivalence, as the number of its class for each state: a new class or one seen before.
    fn partition(&mut self) -> Table<Small<N, G>> {
        let mut class = self.logic.identity();
        let mut classes = 0;
        for s in 0..self.logic.states() {
            let c = self.below(classes + 1);
            class.set(s, c);
            classes = classes.max(c + 1);
        }
        class
    }

    fn root(&mut self) -> usize {
        // Which state is called i makes no difference, but all are tried where it costs little.
        let n = self.logic.states();
        if n <= 2 { self.below(n) } else { 0 }
    }
}

type Logic0<const N: usize, const G: usize> = Concrete<Small<N, G>>;

impl<P: Pick, const N: usize, const G: usize> Choose for Run<P, N, G> {
    type L = Logic0<N, G>;

    fn logic(&self) -> Self::L {
        self.logic
    }

    fn mc0(&mut self) -> mc0::Constants<Self::L> {
        let i = self.root();
        let trivial = groups::trivial(&self.logic);
        self.constants(i, &trivial)
    }

    fn rmc1(&mut self) -> rmc1::Constants<Self::L> {
        let i = self.root();
        // Without prp4 a group may move i: fix a state that does not exist.
        let fixed = if self.drops("rmc1/prp4") { usize::MAX } else { i };
        let aut = match self.alive {
            true => self.pick.group(&self.logic, fixed),
            false => groups::trivial(&self.logic),
        };
        let mc0 = self.constants(i, &aut);
        let rep = self.representatives(&aut);
        rmc1::Constants { mc0, aut, rep }
    }

    fn wmc(&mut self) -> wmc::Constants<Self::L> {
        let l = self.logic;
        if self.pick.builds() {
            let rmc1::Constants { mc0, aut, .. } = self.rmc1();
            let orb = l.rel_where(|s, t| (0..aut.len()).any(|k| aut.get(k).at(*s) == *t));
            return wmc::Constants { mc0, orb };
        }
        let i = self.root();
        let orb = if hint_stands(&["wmc/prp1", "wmc/prp2", "wmc/prp3"], self.planted) {
            let class = self.partition();
            l.rel_where(|s, t| class.at(*s) == class.at(*t))
        } else {
            let everything = self.everything();
            self.all_rows(&everything)
        };
        // Known so early that nothing is built upon a relation that cannot be one.
        let alone = l.forall(|s| *s == i || !orb.contains(i, *s));
        if hint_stands(&["wmc/prp4"], self.planted) && !alone {
            self.stop();
        }
        let symmetric =
            l.forall(|s| orb.contains(*s, *s) && l.forall(|t| orb.contains(*s, *t) == orb.contains(*t, *s)));
        if hint_stands(&["wmc/prp1", "wmc/prp2"], self.planted) && !symmetric {
            self.stop();
        }
        let trivial = groups::trivial(&l);
        wmc::Constants { mc0: self.constants(i, &trivial), orb }
    }

    fn lab(&mut self, wmc: wmc::Constants<Self::L>) -> lab::Constants<Self::L> {
        let mut rep = self.logic.identity();
        for s in 0..self.logic.states() {
            let room = match hint_stands(&["lab/prp1"], self.planted) {
                true => wmc.orb.row(s),
                false => self.everything(),
            };
            let t = self.member(&room);
            rep.set(s, t);
        }
        lab::Constants { wmc, rep }
    }

    fn path(&mut self, sym: wmc::Constants<Self::L>) -> path::Constants<Self::L> {
        let l = self.logic;
        // Every step has one label or both; symmetric ones have the same.
        let mut ltr = l.no_steps();
        for a in 0..l.states() {
            for b in 0..l.states() {
                if sym.mc0.tr.contains(a, b) && !ltr.contains(a, 0, b) && !ltr.contains(a, 1, b) {
                    let which = self.below(3) + 1;
                    for (a, b) in (0..l.states() * l.states())
                        .map(|n| (n / l.states(), n % l.states()))
                        .filter(|&(c, d)| {
                            sym.orb.contains(a, c) && sym.orb.contains(b, d) && sym.mc0.tr.contains(c, d)
                        })
                    {
                        for op in 0..2 {
                            if which >> op & 1 == 1 {
                                ltr.insert(a, op, b);
                            }
                        }
                    }
                }
            }
        }
        path::Constants { sym, ltr }
    }

    fn set(
        &mut self,
        _: &'static str,
        by: &[&str],
        hint: impl FnOnce(&Self::L) -> [Bits<Small<N, G>>; 2],
    ) -> Bits<Small<N, G>> {
        if !hint_stands(by, self.planted) {
            let room = self.everything();
            return self.bits(&room);
        }
        let l = self.logic;
        let [lo, hi] = hint(&l);
        if !l.subset(&lo, &hi) {
            self.stop();
        }
        // A random subset is neither empty nor full, but the guards ask for such sets.
        match if self.pick.builds() { self.below(4) } else { 3 } {
            0 | 1 => return lo,
            2 => return hi,
            _ => {}
        }
        let free = self.bits(&l.minus(&hi, &lo));
        l.union(&lo, &free)
    }

    fn state(
        &mut self,
        _: &'static str,
        by: &[&str],
        hint: impl FnOnce(&Self::L) -> Bits<Small<N, G>>,
    ) -> usize {
        let room = match hint_stands(by, self.planted) {
            true => hint(&self.logic),
            false => self.everything(),
        };
        self.member(&room)
    }

    fn automorphism(&mut self, _: &'static str, aut: &Group<Small<N, G>>) -> Table<Small<N, G>> {
        let k = self.below(aut.len());
        aut.get(k)
    }

    fn op(&mut self, _: &'static str) -> usize {
        self.below(2)
    }

    fn history(
        &mut self,
        k: &path::Constants<Self::L>,
        stored: &Bits<Small<N, G>>,
        rrac: &Bits<Small<N, G>>,
    ) -> (Labelled<Small<N, G>>, Pairs<Small<N, G>>) {
        let l = self.logic;
        // Stores one state after the other, each reached from one before it by a step up to symmetry. Whoever
        // cannot be reached so makes the run end. It does not try every history, only plausible ones.
        let (mut par, mut old) = (l.no_steps(), l.no_pairs());
        let mut before = l.single(&k.sym.mc0.i);
        for _ in 1..stored.len() {
            let comes = |s1: usize, op: usize, s: usize| {
                l.exists(|t| k.sym.orb.contains(*t, s) && k.ltr.contains(s1, op, *t))
            };
            let from = l.inter(&before, rrac);
            let next = l.set_where(|s| {
                stored.contains(*s)
                    && !before.contains(*s)
                    && l.exists(|s1| from.contains(*s1) && (comes(*s1, 0, *s) || comes(*s1, 1, *s)))
            });
            let s = self.member(&next);
            if !self.alive {
                break;
            }
            let parents = l.set_where(|s1| from.contains(*s1) && (comes(*s1, 0, s) || comes(*s1, 1, s)));
            let s1 = self.member(&parents);
            let op = usize::from(!comes(s1, 0, s));
            par.insert(s1, op, s);
            for a in 0..l.states() {
                if before.contains(a) {
                    old.insert(a, s);
                }
            }
            before.insert(s);
        }
        (par, old)
    }

    fn assume(&mut self, label: &'static str, holds: bool) {
        if self.alive && !self.drops(label) {
            self.pick.assume(holds);
            self.alive = holds;
        }
    }

    fn prove(&mut self, label: &'static str, holds: bool) {
        if self.alive && !self.drops(label) {
            self.claims += 1;
            if !holds && self.refuted.is_none() {
                self.refuted = Some(label);
            }
        }
    }
}

/// Every number in turn, like an odometer.
#[derive(Debug, Default)]
pub struct Every {
    wheels: Vec<(usize, usize)>,
    at: usize,
}

impl Every {
    /// Goes to the next sequence of numbers; false when there is none.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((value, below)) = self.wheels.pop() {
            if value + 1 < below {
                self.wheels.push((value + 1, below));
                return true;
            }
        }
        false
    }
}

impl Pick for &mut Every {
    fn pick(&mut self, below: usize) -> usize {
        if self.at == self.wheels.len() {
            self.wheels.push((0, below));
        }
        let (value, _) = self.wheels[self.at];
        self.at += 1;
        value
    }
    fn word(&mut self, bits: usize) -> u64 {
        self.pick(1 << bits) as u64
    }
    fn builds(&self) -> bool {
        false
    }
    fn group<const N: usize, const G: usize>(
        &mut self,
        l: &Concrete<Small<N, G>>,
        i: usize,
    ) -> Group<Small<N, G>> {
        let all = groups::subgroups(l.states(), i);
        let k = self.pick(all.len());
        groups::listed(l, &all[k])
    }
}

/// A tape of words, zeros when it is used up. Shrinking a tape shrinks the case.
#[derive(Debug)]
pub struct Tape<'t> {
    words: &'t [u64],
    at: usize,
}

impl<'t> Tape<'t> {
    /// Reads these words.
    pub fn new(words: &'t [u64]) -> Self {
        Self { words, at: 0 }
    }
    fn next(&mut self) -> u64 {
        self.at += 1;
        // The tape repeats itself with a twist: a short one still gives a large case.
        match self.words.len() {
            0 => 0,
            len => {
                let turn = ((self.at - 1) / len) as u64;
                let word = self.words[(self.at - 1) % len];
                if word == 0 {
                    0
                } else {
                    word.rotate_left((turn * 7 % 64) as u32) ^ turn.wrapping_mul(0x9e37_79b9)
                }
            }
        }
    }
}

impl Pick for Tape<'_> {
    fn pick(&mut self, below: usize) -> usize {
        (self.next() % below as u64) as usize
    }
    fn word(&mut self, bits: usize) -> u64 {
        match bits {
            0 => 0,
            64.. => self.next(),
            _ => self.next() & ((1 << bits) - 1),
        }
    }
    fn builds(&self) -> bool {
        true
    }
    fn group<const N: usize, const G: usize>(
        &mut self,
        l: &Concrete<Small<N, G>>,
        i: usize,
    ) -> Group<Small<N, G>> {
        groups::random(l, i, |below| self.pick(below))
    }
}

/// What an enumeration saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Runs, those given up early included.
    pub runs: u64,
    /// Runs that satisfied every assumption.
    pub cases: u64,
    /// The first claim that did not hold.
    pub refuted: Option<&'static str>,
}

/// Runs an obligation on every choice over exactly `n` states, until a claim fails.
pub fn every<const N: usize, const G: usize>(
    n: usize,
    planted: Option<&'static str>,
    obligation: impl Fn(&mut Run<&mut Every, N, G>),
) -> Count {
    let mut source = Every::default();
    let mut count = Count::default();
    loop {
        let mut run = Run::planting(&mut source, n, planted);
        obligation(&mut run);
        count.runs += 1;
        count.cases += u64::from(run.alive);
        count.refuted = run.refuted;
        if count.refuted.is_some() || !source.advance() {
            return count;
        }
    }
}

/// Runs an obligation on one tape.
pub fn once<const N: usize, const G: usize>(
    n: usize,
    words: &[u64],
    obligation: impl Fn(&mut Run<Tape<'_>, N, G>),
) -> Count {
    let mut run = Run::new(Tape::new(words), n);
    obligation(&mut run);
    Count { runs: 1, cases: u64::from(run.alive), refuted: run.refuted }
}
