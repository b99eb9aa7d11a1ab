//! The shadow of a search: the same system, explored once more beside the kernel, as constants and variables of
//! the chain's machines, on which the refinement crate's own clauses are executed.
//!
//! The shadow finds successors and evaluates the invariant by itself, when the kernel is about to expand a
//! state, and names states by their rows: it shares neither the store nor an id with the kernel. What it knows
//! of `tr` and `reach` is what has been explored so far, which is all that the clauses speak of.

use super::Options;
use super::hooks::{Driven, Visited};
use super::store::{ROOT, StateId, Store};
use crate::system::{Role, System, Transition, Visitor, initial_states};
use crate::value::fault::Fault;
use kanon_refinement::concrete::{Bits, Concrete, Large};
use kanon_refinement::frontier::Frontier;
use kanon_refinement::glue::mc0_mc1::Mc0Mc1;
use kanon_refinement::glue::mc1_mc2::Mc1Mc2;
use kanon_refinement::glue::{Glue, Simulates};
use kanon_refinement::logic::{Event, Logic, Machine};
use kanon_refinement::mc1::Mc1;
use kanon_refinement::mc2::Mc2;
use kanon_refinement::rmc2::Rmc2;
use kanon_refinement::wmc::Wmc;
use kanon_refinement::{mc0, mc1, mc2, rmc1, rmc2, wmc};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

pub(super) type L = Concrete<Large>;

/// The special state `i`.
pub(super) const I: usize = 0;
/// What any row is that the shadow has not reached.
pub(super) const ELSEWHERE: usize = 1;
/// `wmc/inv5` looks for a witness among all states, for each state: only where that is quick.
const WMC_STATES: usize = 256;

/// Which clauses were executed and how often, and the first one that did not hold.
#[derive(Default)]
pub(super) struct Tally {
    pub clauses: Vec<(&'static str, u64)>,
    pub broken: Option<&'static str>,
}

impl Tally {
    pub fn take(&mut self, label: &'static str, holds: bool) {
        match self.clauses.iter_mut().find(|(l, _)| *l == label) {
            Some((_, n)) => *n += 1,
            None => self.clauses.push((label, 1)),
        }
        if !holds && self.broken.is_none() {
            self.broken = Some(label);
        }
    }
}

pub(super) struct Shadow<S: System> {
    worker: S::Worker,
    /// All states satisfy the invariant: it is not checked, or an observer does it.
    no_invariant: bool,
    most: usize,
    index: HashMap<Box<[u64]>, usize>,
    l: L,
    /// With `rep = id(S)` and `aut = {id(S)}`: without reduction.
    k: rmc1::Constants<L>,
    /// While there are few states.
    w: Option<wmc::Constants<L>>,
    /// What the events' actions make of the variables.
    expected: Mc2<L>,
}

impl<S: System> Shadow<S> {
    /// At most `most` states.
    pub fn new(worker: S::Worker, options: &Options, most: usize) -> Shadow<S> {
        let l = L::new(most.saturating_add(2).min(64), 1);
        let inv = l.set_where(|s| *s == I || *s == ELSEWHERE);
        let k: mc0::Constants<L> = mc0::Constants { i: I, tr: l.no_pairs(), inv, reach: l.single(&I) };
        let expected = Mc2::initialisation(&l, &k);
        let no_invariant = options.all || !options.invariant;
        let (k, w) = symmetry(&l, k);
        Shadow { worker, no_invariant, most, index: HashMap::new(), l, k, w, expected }
    }

    /// How many states it may have.
    pub fn most(&self) -> usize {
        self.most
    }

    /// How many states it has.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    fn at(&self, row: &[u64]) -> usize {
        self.index.get(row).copied().unwrap_or(ELSEWHERE)
    }

    fn state(&self, id: StateId, store: &Store) -> usize {
        if id == ROOT { I } else { self.at(&store.row(id)) }
    }

    /// Finds the successors of a state. False when there are too many states.
    pub fn expand(&mut self, system: &S, id: StateId, row: &[u64]) -> bool {
        let mut targets: Vec<Box<[u64]>> = Vec::new();
        if id == ROOT {
            initial(system, &mut self.worker, &mut targets);
        } else {
            let _ = system.successors(&mut self.worker, row, &mut Targets(&mut targets));
        }
        let s1 = if id == ROOT { I } else { self.at(row) };
        for row in targets {
            let s2 = match self.index.get(&row) {
                Some(s2) => *s2,
                None if self.len() >= self.most => return false,
                None => self.enter(system, row),
            };
            self.k.mc0.tr.insert(s1, s2);
            if let Some(w) = &mut self.w {
                w.mc0.tr.insert(s1, s2);
            }
        }
        true
    }

    /// A state that is new to the shadow.
    fn enter(&mut self, system: &S, row: Box<[u64]>) -> usize {
        let s = self.len() + 2;
        if s >= self.l.states() {
            self.grow();
        }
        let holds = self.no_invariant || is_good(system, &mut self.worker, &row);
        let copies = std::iter::once(&mut self.k.mc0).chain(self.w.as_mut().map(|w| &mut w.mc0));
        for k in copies {
            k.reach.insert(s);
            if holds {
                k.inv.insert(s);
            }
        }
        self.index.insert(row, s);
        s
    }

    /// Room for more states.
    fn grow(&mut self) {
        let old = self.l.states();
        let l = L::new(old.saturating_mul(4).min(self.most.saturating_add(2)), 1);
        let wider = |set: &Bits<Large>| l.set_where(|s| *s < old && set.contains(*s));
        let k = &self.k.mc0;
        let mut tr = l.no_pairs();
        for a in 0..old {
            for b in 0..old {
                if k.tr.contains(a, b) {
                    tr.insert(a, b);
                }
            }
        }
        let k = mc0::Constants { i: I, tr, inv: wider(&k.inv), reach: wider(&k.reach) };
        let m = &self.expected;
        self.expected = Mc2 { unex: wider(&m.unex), rac: wider(&m.rac), err: wider(&m.err) };
        (self.k, self.w) = symmetry(&l, k);
        self.l = l;
    }

    pub fn add_inv(&mut self, s1: StateId, s2: StateId, store: &Store, tally: Option<&mut Tally>) {
        let (s1, s2) = (self.state(s1, store), self.state(s2, store));
        if let Some(tally) = tally {
            self.guards(&mc2::AddInv { s1, s2 }, &rmc2::AddInv { s1, s2 }, tally);
            if let Some(w) = &self.w {
                let e = wmc::AddInv { s1, s2, t: s2 };
                e.guard(&self.l, w, &stored(&self.expected), &mut |label, b| tally.take(label, b));
            }
            self.variant(&mc2::AddInv { s1, s2 }, "mc2/add_inv/VAR: makes the variant smaller", tally);
        }
        self.act(&mc2::AddInv { s1, s2 });
    }

    pub fn add_err(&mut self, s1: StateId, s2: StateId, store: &Store, tally: Option<&mut Tally>) {
        let (s1, s2) = (self.state(s1, store), self.state(s2, store));
        if let Some(tally) = tally {
            self.guards(&mc2::AddErr { s1, s2 }, &rmc2::AddErr { s1, s2 }, tally);
            if let Some(w) = &self.w {
                let e = wmc::AddErr { s1, s2, t: s2 };
                e.guard(&self.l, w, &stored(&self.expected), &mut |label, b| tally.take(label, b));
            }
            self.variant(&mc2::AddErr { s1, s2 }, "mc2/add_err/VAR: makes the variant smaller", tally);
        }
        self.act(&mc2::AddErr { s1, s2 });
    }

    pub fn remove(&mut self, s1: StateId, store: &Store, tally: Option<&mut Tally>) {
        let s1 = self.state(s1, store);
        if let Some(tally) = tally {
            self.guards(&mc2::Remove { s1 }, &rmc2::Remove { s1 }, tally);
            if let Some(w) = &self.w {
                let e = wmc::Remove { s1 };
                e.guard(&self.l, w, &stored(&self.expected), &mut |label, b| tally.take(label, b));
            }
            self.variant(&mc2::Remove { s1 }, "mc2/remove/VAR: makes the variant smaller", tally);
        }
        self.act(&mc2::Remove { s1 });
    }

    pub fn pass(&self, tally: &mut Tally) {
        let (l, k) = (&self.l, &self.k.mc0);
        self.guards(&mc2::Pass, &rmc2::Pass, tally);
        self.answer(mc1::Pass, tally);
        tally.take(mc0::LEAST, k.least(l, &self.expected.rac));
        tally.take("mc2/REA: pass ⇒ rac = reach", l.same(&self.expected.rac, &k.reach));
        k.properties(l, &mut |label, b| tally.take(label, b));
    }

    pub fn fail(&self, tally: &mut Tally) {
        self.guards(&mc2::Fail, &rmc2::Fail, tally);
        self.answer(mc1::Fail, tally);
        self.k.mc0.properties(&self.l, &mut |label, b| tally.take(label, b));
    }

    /// The guards of an event before it: of mc2's, of mc1's that it stands for, of rmc2's.
    fn guards<E, R>(&self, e: &E, r: &R, tally: &mut Tally)
    where
        E: Simulates<L, Mc1Mc2>,
        R: Event<L, Machine = Rmc2<L>>,
    {
        let (l, k, m) = (&self.l, &self.k, &self.expected);
        e.guard(l, &k.mc0, m, &mut |label, b| tally.take(label, b));
        let above: Mc1<L> = Mc1Mc2::abstraction(l, &k.mc0, m);
        e.abstract_event(l, &k.mc0, m).guard(l, &k.mc0, &above, &mut |label, b| tally.take(label, b));
        r.guard(l, k, &reduced(m), &mut |label, b| tally.take(label, b));
    }

    /// What an answer of mc1 says about the system.
    fn answer<E: Simulates<L, Mc0Mc1>>(&self, e: E, tally: &mut Tally) {
        let (l, k) = (&self.l, &self.k.mc0);
        let m: Mc1<L> = Mc1Mc2::abstraction(l, k, &self.expected);
        let above = Mc0Mc1::abstraction(l, k, &m);
        e.abstract_event(l, k, &m).guard(l, k, &above, &mut |label, b| tally.take(label, b));
    }

    fn variant<E>(&self, e: &E, label: &'static str, tally: &mut Tally)
    where
        E: Event<L, Machine = Mc2<L>>,
    {
        let (l, k) = (&self.l, &self.k.mc0);
        let [first, second] = self.expected.variant(l, k);
        let [first2, second2] = e.action(l, k, &self.expected).variant(l, k);
        let smaller = l.strict_subset(&first2, &first)
            || (l.same(&first2, &first) && l.strict_subset(&second2, &second));
        tally.take(label, smaller);
    }

    fn act<E: Event<L, Machine = Mc2<L>>>(&mut self, e: &E) {
        self.expected = e.action(&self.l, &self.k.mc0, &self.expected);
    }

    /// The invariants of the machines, on the kernel's variables. `taken` are the states that wait for their turn, or are being expanded.
    pub fn invariants<V: Visited>(
        &self,
        kernel: &Driven<'_, V>,
        taken: &BTreeSet<StateId>,
        tally: &mut Tally,
    ) {
        let (l, k) = (&self.l, &self.k);
        let m = self.actual(kernel, taken, tally);
        let same = l.same(&m.rac, &self.expected.rac)
            && l.same(&m.unex, &self.expected.unex)
            && l.same(&m.err, &self.expected.err);
        tally.take("kernel/AGR: rrac, runex and rerr are what the event's action makes of them", same);
        let mut take = |label: &'static str, b: bool| tally.take(label, b);
        m.invariant(l, &k.mc0, &mut take);
        let above: Mc1<L> = Mc1Mc2::abstraction(l, &k.mc0, &m);
        above.invariant(l, &k.mc0, &mut take);
        reduced(&m).invariant(l, k, &mut take);
        if let Some(w) = &self.w {
            stored(&m).invariant(l, w, &mut take);
        }
    }

    /// The kernel's variables, with its states named as the shadow names them.
    fn actual<V: Visited>(
        &self,
        kernel: &Driven<'_, V>,
        taken: &BTreeSet<StateId>,
        tally: &mut Tally,
    ) -> Mc2<L> {
        let Rmc2 { rrac, runex, rerr } = named(&self.l, kernel, taken, |row| self.at(row), tally);
        Mc2 { unex: runex, rac: rrac, err: rerr }
    }
}

/// The kernel's variables, with its states named by their rows. `taken` are the states that wait for their turn, or are being expanded.
pub(super) fn named<V: Visited>(
    l: &L,
    kernel: &Driven<'_, V>,
    taken: &BTreeSet<StateId>,
    at: impl Fn(&[u64]) -> usize,
    tally: &mut Tally,
) -> Rmc2<L> {
    let store = kernel.rrac().store();
    let errors: HashSet<StateId> = kernel.rerr().get().iter().copied().collect();
    let mut m: Rmc2<L> = Rmc2 { rrac: l.single(&I), runex: l.empty(), rerr: l.empty() };
    for id in 0..store.len() as StateId {
        let set = if errors.contains(&id) { &mut m.rerr } else { &mut m.rrac };
        set.insert(at(&store.row(id)));
    }
    let waiting = kernel.runex().waiting();
    for id in waiting.iter().chain(taken.iter().copied()) {
        m.runex.insert(at(&store.row(id)));
    }
    let open = waiting.len() + kernel.runex().taken();
    tally.take("kernel/runex: every member once", open == m.runex.len());
    let both = m.rrac.len() - 1 + m.rerr.len();
    tally.take("kernel/rrac: every state under one id", store.len() == both);
    if kernel.root_open() {
        m.runex.insert(I);
    }
    m
}

/// mc2's variables as rmc2's, since the representative is the state itself.
fn reduced(m: &Mc2<L>) -> Rmc2<L> {
    Rmc2 { rrac: m.rac.clone(), runex: m.unex.clone(), rerr: m.err.clone() }
}

fn stored(m: &Mc2<L>) -> Wmc<L> {
    Wmc { rrac: m.rac.clone(), runex: m.unex.clone(), rerr: m.err.clone() }
}

/// The constants with no symmetry but the identity.
fn symmetry(l: &L, k: mc0::Constants<L>) -> (rmc1::Constants<L>, Option<wmc::Constants<L>>) {
    let w = (l.states() <= WMC_STATES).then(|| {
        let mut orb = l.no_pairs();
        (0..l.states()).for_each(|s| orb.insert(s, s));
        wmc::Constants { mc0: k.clone(), orb }
    });
    let rep = l.identity();
    let mut aut = l.no_group(1);
    aut.push(&rep);
    (rmc1::Constants { mc0: k, aut, rep }, w)
}

/// The initial states of all starts. A fault ends the search or is counted by it; the transitions before it count.
pub(super) fn initial<S: System>(system: &S, worker: &mut S::Worker, targets: &mut Vec<Box<[u64]>>) {
    let _ = initial_states(system, worker, &mut |_, row| {
        targets.push(row.into());
        ControlFlow::Continue(())
    });
}

/// Whether a state satisfies the invariant, or at least no conjunct is false.
pub(super) fn is_good<S: System>(system: &S, worker: &mut S::Worker, row: &[u64]) -> bool {
    let here = system.load(worker, row);
    let checks = system.checks().iter().enumerate();
    let mut invariant = checks.filter(|(_, c)| c.role == Role::Invariant);
    !invariant.any(|(i, _)| system.holds(i, here) == Ok(false))
}

/// Collects targets.
pub(super) struct Targets<'a>(pub &'a mut Vec<Box<[u64]>>);

impl<H> Visitor<H> for Targets<'_> {
    fn transition(&mut self, t: Transition<H>) -> ControlFlow<()> {
        self.0.push(t.target.into());
        ControlFlow::Continue(())
    }
    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
