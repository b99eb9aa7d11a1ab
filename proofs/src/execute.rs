//! The readings that execute one choice at a time, on small arrays of bits: a tape of random words ([`Tape`]), or
//! Kani's `any`. (The one that tries all of them is [`crate::search`].)
//!
//! Every choice is any value of its type. A source may ask for a guided one instead ([`Pick::guided`]), of which
//! something is likely to come: that serves large random systems, where few arbitrary relations are a symmetric
//! system. Kani's never is.

use kanon_refinement::concrete::{Bits, Concrete, Group, Labelled, Pairs, Small, Sound, Table, Trial};
use kanon_refinement::logic::Logic;
use kanon_refinement::{lab, mc0, path, rmc1, wmc};

use crate::choose::Choose;
use crate::groups;

/// A source of numbers.
pub trait Pick {
    /// A number below `below`, which is at least 1.
    fn pick(&mut self, below: usize) -> usize;
    /// Any word with the low `bits` bits.
    fn word(&mut self, bits: usize) -> u64;
    /// Whether the next choice may follow its hint.
    fn guided(&mut self) -> bool {
        false
    }
    /// Hears of an assumption, and says whether the run goes on. Kani assumes it, and so always goes on: a constant,
    /// which spares its solver a case distinction at every choice that follows.
    fn assume(&mut self, holds: bool) -> bool {
        holds
    }
}

/// One run on at most `N` states and `G` permutations.
#[derive(Debug)]
pub struct Run<P, const N: usize, const G: usize, T = Sound> {
    /// Where the numbers come from.
    pub pick: P,
    logic: Concrete<Small<N, G>, T>,
    alive: bool,
    /// What was claimed and did not hold.
    pub refuted: Option<&'static str>,
    /// How many claims were reached with all assumptions true.
    pub claims: u64,
}

type Reading<const N: usize, const G: usize, T> = Concrete<Small<N, G>, T>;

impl<P: Pick, const N: usize, const G: usize, T: Trial> Run<P, N, G, T> {
    /// A run over `n` states.
    pub fn new(pick: P, n: usize, trial: T) -> Self {
        Self { pick, logic: Concrete::on_trial(n, 2, trial), alive: true, refuted: None, claims: 0 }
    }

    fn below(&mut self, below: usize) -> usize {
        // A run that is over makes no more choices, so none is tried in vain.
        if self.alive { self.pick.pick(below) } else { 0 }
    }

    fn guided(&mut self) -> bool {
        self.alive && self.pick.guided()
    }

    fn bits(&mut self) -> Bits<Small<N, G>> {
        Bits::from_word(if self.alive { self.pick.word(self.logic.states()) } else { 0 })
    }

    fn pairs(&mut self) -> Pairs<Small<N, G>> {
        let l = self.logic;
        let mut out = l.no_pairs();
        l.each(l.states(), |s| out.set_row(s, &self.bits()));
        out
    }

    fn steps(&mut self) -> Labelled<Small<N, G>> {
        let l = self.logic;
        let mut out = l.no_steps();
        l.each(l.ops(), |op| l.each(l.states(), |s| out.set_row(s, op, &self.bits())));
        out
    }

    fn table(&mut self) -> Table<Small<N, G>> {
        let l = self.logic;
        let mut out = l.identity();
        l.each(l.states(), |s| out.set(s, self.below(l.states())));
        out
    }

    fn stop(&mut self) {
        self.alive &= self.pick.assume(false);
    }
}

/// Guided choices: never Kani's, so loops and allocation are as they come.
impl<P: Pick, const N: usize, const G: usize, T: Trial> Run<P, N, G, T> {
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

    /// A system that the group leaves as it is, with one to three successors for most states, few errors (or the
    /// runs end early), and `reach` as it follows.
    fn system(&mut self, aut: &Group<Small<N, G>>) -> mc0::Constants<Reading<N, G, T>> {
        let l = self.logic;
        let n = l.states();
        let images = |s: usize| (0..aut.len()).map(move |k| aut.get(k).at(s));
        let mut tr = l.no_pairs();
        let mut targets = self.everything();
        targets.remove(0);
        if !targets.is_empty() {
            for a in 0..n {
                for _ in 0..=self.below(3) {
                    let b = self.member(&targets);
                    images(a).zip(images(b)).for_each(|(a, b)| tr.insert(a, b));
                }
            }
        }
        let (some, half) = (self.bits(), l.inter(&self.bits(), &self.bits()));
        let mut bad = l.inter(&some, &half);
        bad.remove(0);
        let inv = l.set_where(|s| !images(*s).any(|t| bad.contains(t)));
        let reach = l.least(0, &tr);
        mc0::Constants { i: 0, tr, inv, reach }
    }

    /// One representative for each orbit.
    fn representatives(&mut self, aut: &Group<Small<N, G>>) -> Table<Small<N, G>> {
        let l = self.logic;
        let mut rep = l.identity();
        for s in 0..l.states() {
            let orbit = l.set_where(|t| (0..aut.len()).any(|k| aut.get(k).at(s) == *t));
            let first = (0..l.states()).find(|&t| orbit.contains(t)).unwrap_or(s);
            let t = if first == s { self.member(&orbit) } else { rep.at(first) };
            rep.set(s, t);
        }
        rep
    }

    /// Labels for the steps of `tr`, the same for symmetric ones.
    fn labels(&mut self, sym: &wmc::Constants<Reading<N, G, T>>) -> Labelled<Small<N, G>> {
        let l = self.logic;
        let n = l.states();
        let mut ltr = l.no_steps();
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
            if sym.mc0.tr.contains(a, b) && !ltr.contains(a, 0, b) && !ltr.contains(a, 1, b) {
                let which = self.below(3) + 1;
                for (c, d) in (0..n).flat_map(|c| (0..n).map(move |d| (c, d))) {
                    let same = sym.orb.contains(a, c) && sym.orb.contains(b, d) && sym.mc0.tr.contains(c, d);
                    for op in (0..2).filter(|op| same && which >> op & 1 == 1) {
                        ltr.insert(c, op, d);
                    }
                }
            }
        }
        ltr
    }

    /// One state after the other is stored, each reached from one before it by a step up to symmetry. A state that
    /// cannot be reached so makes the run end.
    fn stored_in_turn(
        &mut self,
        k: &path::Constants<Reading<N, G, T>>,
        stored: &Bits<Small<N, G>>,
        rrac: &Bits<Small<N, G>>,
    ) -> (Labelled<Small<N, G>>, Pairs<Small<N, G>>) {
        let l = self.logic;
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
            par.insert(s1, usize::from(!comes(s1, 0, s)), s);
            (0..l.states()).filter(|&a| before.contains(a)).for_each(|a| old.insert(a, s));
            before.insert(s);
        }
        (par, old)
    }
}

impl<P: Pick, const N: usize, const G: usize, T: Trial> Choose for Run<P, N, G, T> {
    type L = Reading<N, G, T>;

    fn logic(&self) -> Self::L {
        self.logic
    }

    fn alive(&self) -> bool {
        self.alive
    }

    fn mc0(&mut self) -> mc0::Constants<Self::L> {
        if self.guided() {
            let trivial = groups::trivial(&self.logic);
            return self.system(&trivial);
        }
        // Renaming the states of a system with i = s makes one with i = 0.
        mc0::Constants { i: 0, tr: self.pairs(), inv: self.bits(), reach: self.bits() }
    }

    fn rmc1(&mut self) -> rmc1::Constants<Self::L> {
        let l = self.logic;
        if self.guided() {
            let aut = groups::random(&l, 0, |below| self.pick.pick(below));
            let (mc0, rep) = (self.system(&aut), self.representatives(&aut));
            return rmc1::Constants { mc0, aut, rep };
        }
        let (tr, inv, reach) = (self.pairs(), self.bits(), self.bits());
        let mut aut = l.no_group(G);
        l.each(G, |_| aut.push(&self.table()));
        rmc1::Constants { mc0: mc0::Constants { i: 0, tr, inv, reach }, aut, rep: self.table() }
    }

    fn wmc(&mut self) -> wmc::Constants<Self::L> {
        let l = self.logic;
        if self.guided() {
            let aut = groups::random(&l, 0, |below| self.pick.pick(below));
            let orb = l.rel_where(|s, t| (0..aut.len()).any(|k| aut.get(k).at(*s) == *t));
            return wmc::Constants { mc0: self.system(&aut), orb };
        }
        let (tr, inv, reach) = (self.pairs(), self.bits(), self.bits());
        wmc::Constants { mc0: mc0::Constants { i: 0, tr, inv, reach }, orb: self.pairs() }
    }

    fn lab(&mut self, wmc: wmc::Constants<Self::L>) -> lab::Constants<Self::L> {
        if !self.guided() {
            return lab::Constants { wmc, rep: self.table() };
        }
        let mut rep = self.logic.identity();
        for s in 0..self.logic.states() {
            let t = self.member(&wmc.orb.row(s));
            rep.set(s, t);
        }
        lab::Constants { wmc, rep }
    }

    fn path(&mut self, sym: wmc::Constants<Self::L>) -> path::Constants<Self::L> {
        let ltr = if self.guided() { self.labels(&sym) } else { self.steps() };
        path::Constants { sym, ltr }
    }

    fn set(
        &mut self,
        _: &'static str,
        hint: impl FnOnce(&Self::L) -> [Bits<Small<N, G>>; 2],
    ) -> Bits<Small<N, G>> {
        if !self.guided() {
            return self.bits();
        }
        let l = self.logic;
        let [lo, hi] = hint(&l);
        // A random subset is neither empty nor full, but the guards ask for such sets.
        match self.below(4) {
            0 | 1 => lo,
            2 => hi,
            _ => l.union(&lo, &l.inter(&hi, &self.bits())),
        }
    }

    fn state(&mut self, _: &'static str, hint: impl FnOnce(&Self::L) -> Bits<Small<N, G>>) -> usize {
        if !self.guided() {
            return self.below(self.logic.states());
        }
        let room = hint(&self.logic);
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
        if self.guided() { self.stored_in_turn(k, stored, rrac) } else { (self.steps(), self.pairs()) }
    }

    fn assume(&mut self, _: &'static str, holds: bool) {
        if self.alive {
            self.alive = self.pick.assume(holds);
        }
    }

    fn prove(&mut self, label: &'static str, holds: bool) {
        if self.alive {
            self.claims += 1;
            if !holds && self.refuted.is_none() {
                self.refuted = Some(label);
            }
        }
    }
}

/// A tape of words, zeros when it is used up. Shrinking a tape shrinks the case.
#[derive(Debug)]
pub struct Tape<'t> {
    words: &'t [u64],
    at: usize,
    /// Of so many choices one is not guided; 0 for none that is.
    freely: u64,
}

impl<'t> Tape<'t> {
    /// Reads these words. The first decides how many choices follow their hints: all (five of eight tapes), 15 of 16, 3
    /// of 4, or none. So nothing is out of reach, and on large systems something is within it.
    pub fn new(words: &'t [u64]) -> Self {
        let freely = match words.first() {
            None => u64::MAX,
            Some(word) => [16, 4, 0].get((word % 8) as usize).copied().unwrap_or(u64::MAX),
        };
        Self { words, at: 0, freely }
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
        // The low bits of the first word are the tape's own.
        (self.next() / 8 % below as u64) as usize
    }
    fn word(&mut self, bits: usize) -> u64 {
        match bits {
            0 => 0,
            64.. => self.next(),
            _ => self.next() & ((1 << bits) - 1),
        }
    }
    fn guided(&mut self) -> bool {
        match self.freely {
            0 => false,
            u64::MAX => true,
            freely => !self.next().is_multiple_of(freely),
        }
    }
}

/// What a run saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Whether every assumption was satisfied and something was claimed.
    pub case: bool,
    /// The first claim that did not hold.
    pub refuted: Option<&'static str>,
}

/// Runs an obligation on one tape.
pub fn once<const N: usize, const G: usize, T: Trial>(
    n: usize,
    words: &[u64],
    trial: T,
    obligation: &dyn Fn(&mut Run<Tape<'_>, N, G, T>),
) -> Seen {
    let mut run = Run::new(Tape::new(words), n, trial);
    obligation(&mut run);
    Seen { case: run.alive && run.claims > 0, refuted: run.refuted }
}
