//! The shadow of a reduced search: the unreduced system beside it, orbit by orbit, on which the clauses of rmc1,
//! rmc2 and, for the flooded variables, mc2 are executed.
//!
//! When the kernel is about to expand a state, the shadow enters all states symmetric to it and expands each of
//! them by itself. It finds orbits by generators of the group and asks no strategy for anything: what stands for an
//! orbit (`rep`) is read off the kernel's store, and the clauses say whether that is a representative.

use super::Options;
use super::hooks::{Driven, Fired, Visited};
use super::shadow::{ELSEWHERE, I, L, Tally, Targets, initial, is_good, named};
use super::store::{ROOT, StateId, Store};
use crate::symmetry::Action;
use crate::symmetry::orbit::Orbits;
use crate::system::System;
use kanon_refinement::concrete::{Large, Table};
use kanon_refinement::glue::mc0_mc1::Mc0Mc1;
use kanon_refinement::glue::mc1_mc2::Mc1Mc2;
use kanon_refinement::glue::{Glue, Simulates};
use kanon_refinement::logic::{Event, Logic, Machine};
use kanon_refinement::mc1::Mc1;
use kanon_refinement::mc2::Mc2;
use kanon_refinement::rmc1::Rmc1;
use kanon_refinement::rmc2::Rmc2;
use kanon_refinement::{mc0, mc1, rmc1, rmc2};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

type Row = Box<[u64]>;

pub(super) struct OrbitShadow<S: System> {
    worker: S::Worker,
    no_invariant: bool,
    most: usize,
    index: HashMap<Row, usize>,
    /// The orbit of each state, and the states of each orbit.
    orbit: Vec<usize>,
    members: Vec<Vec<usize>>,
    expanded: HashSet<usize>,
    l: L,
    k: mc0::Constants<L>,
    /// What the events' actions make of the variables.
    expected: Rmc1<L>,
}

impl<S: System> OrbitShadow<S> {
    /// At most `most` states.
    pub fn new(worker: S::Worker, options: &Options, most: usize) -> OrbitShadow<S> {
        let l = L::new(most.saturating_add(2), 1);
        let inv = l.set_where(|s| *s == I || *s == ELSEWHERE);
        let k: mc0::Constants<L> = mc0::Constants { i: I, tr: l.no_pairs(), inv, reach: l.single(&I) };
        let rk = constants(&l, &k, l.identity());
        let expected = Rmc1::initialisation(&l, &rk);
        let no_invariant = options.all || !options.invariant;
        OrbitShadow {
            worker,
            no_invariant,
            most,
            index: HashMap::new(),
            orbit: vec![0, 1],
            members: vec![vec![I], vec![ELSEWHERE]],
            expanded: HashSet::new(),
            l,
            k,
            expected,
        }
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    fn at(&self, row: &[u64]) -> usize {
        self.index.get(row).copied().unwrap_or(ELSEWHERE)
    }

    fn state(&self, id: StateId, store: &Store) -> usize {
        if id == ROOT { I } else { self.at(&store.row(id)) }
    }

    /// Finds the successors of a state and of all that are symmetric to it. False when there are too many states.
    pub fn expand(&mut self, system: &S, action: &Arc<dyn Action>, id: StateId, row: &[u64]) -> bool {
        if id == ROOT {
            let mut targets: Vec<Row> = vec![];
            initial(system, &mut self.worker, &mut targets);
            return self.transitions(system, action, I, targets);
        }
        let Some(s) = self.enter(system, action, row) else { return false };
        if !self.expanded.insert(self.orbit[s]) {
            return true;
        }
        let members: HashSet<usize> = self.members[self.orbit[s]].iter().copied().collect();
        let rows: Vec<(Row, usize)> =
            self.index.iter().filter(|(_, s)| members.contains(s)).map(|(r, s)| (r.clone(), *s)).collect();
        rows.into_iter().all(|(row, s1)| {
            let mut targets: Vec<Row> = vec![];
            let _ = system.successors(&mut self.worker, &row, &mut Targets(&mut targets));
            self.transitions(system, action, s1, targets)
        })
    }

    fn transitions(&mut self, system: &S, action: &Arc<dyn Action>, s1: usize, targets: Vec<Row>) -> bool {
        targets.into_iter().all(|row| match self.enter(system, action, &row) {
            Some(s2) => {
                self.k.tr.insert(s1, s2);
                true
            }
            None => false,
        })
    }

    /// The number of a state, with its whole orbit if it is new.
    fn enter(&mut self, system: &S, action: &Arc<dyn Action>, row: &[u64]) -> Option<usize> {
        if let Some(s) = self.index.get(row) {
            return Some(*s);
        }
        let orbit = self.members.len();
        let mut rows: Vec<Row> = vec![row.into()];
        let mut seen: HashSet<Row> = rows.iter().cloned().collect();
        let room = self.most - self.len().min(self.most);
        Orbits::new(action).each(row, &mut |image| {
            if seen.len() > room || seen.contains(image) {
                return false;
            }
            seen.insert(image.into());
            rows.push(image.into());
            true
        });
        if rows.len() > room {
            return None;
        }
        let mut members = vec![];
        for row in rows {
            let s = self.len() + 2;
            let holds = self.no_invariant || is_good(system, &mut self.worker, &row);
            self.k.reach.insert(s);
            if holds {
                self.k.inv.insert(s);
            }
            self.index.insert(row, s);
            self.orbit.push(orbit);
            members.push(s);
        }
        self.members.push(members);
        self.index.get(row).copied()
    }

    /// What stands for each state: the first stored one of its orbit, or any.
    fn rep(&self, store: &Store) -> Table<Large> {
        let mut rep = self.l.identity();
        let mut firsts: Vec<Option<usize>> = vec![None; self.members.len()];
        for id in 0..store.len() as StateId {
            let s = self.at(&store.row(id));
            firsts[self.orbit[s]].get_or_insert(s);
        }
        for (members, first) in self.members.iter().zip(firsts) {
            let first = first.unwrap_or(members[0]);
            members.iter().for_each(|s| rep.set(*s, first));
        }
        rep
    }

    /// An event has happened: its guards before it, and the invariants after it.
    pub fn event<V: Visited>(
        &mut self,
        event: Fired,
        kernel: &Driven<'_, V>,
        taken: &BTreeSet<StateId>,
        tally: Option<&mut Tally>,
    ) {
        let store = kernel.rrac().store();
        let rk = constants(&self.l, &self.k, self.rep(store));
        let mut unheard = Tally::default();
        let due = tally.is_some();
        let tally = tally.unwrap_or(&mut unheard);
        match event {
            Fired::AddInv { s1, s2 } => {
                let (s1, s2) = self.step(s1, s2, store);
                self.fire(&rk, &rmc1::AddInv { s1, s2 }, &rmc2::AddInv { s1, s2 }, tally);
            }
            Fired::AddErr { s1, s2 } => {
                let (s1, s2) = self.step(s1, s2, store);
                self.fire(&rk, &rmc1::AddErr { s1, s2 }, &rmc2::AddErr { s1, s2 }, tally);
            }
            Fired::Remove { s1 } => {
                let s1 = self.state(s1, store);
                self.fire(&rk, &rmc1::Remove { s1 }, &rmc2::Remove { s1 }, tally);
            }
            Fired::Pass => {
                self.fire(&rk, &rmc1::Pass, &rmc2::Pass, tally);
                self.answer(mc1::Pass, tally);
                tally.take(mc0::LEAST, self.k.least(&self.l, &self.expected.rac));
                let all = self.l.same(&self.expected.rac, &self.k.reach);
                tally.take("rmc1/REA: pass ⇒ rac = reach", all);
                self.k.properties(&self.l, &mut |label, b| tally.take(label, b));
            }
            Fired::Fail => {
                self.fire(&rk, &rmc1::Fail, &rmc2::Fail, tally);
                self.answer(mc1::Fail, tally);
            }
        }
        if due {
            self.invariants(&rk, kernel, taken, tally);
        }
    }

    /// The successor of `s1` in whose place `s2` is stored.
    fn step(&self, s1: StateId, s2: StateId, store: &Store) -> (usize, usize) {
        let (s1, t) = (self.state(s1, store), self.state(s2, store));
        let successor = self.members[self.orbit[t]].iter().find(|s| self.k.tr.contains(s1, **s));
        (s1, successor.copied().unwrap_or(ELSEWHERE))
    }

    /// The guards of an event, and its action.
    fn fire<E, R>(&mut self, rk: &rmc1::Constants<L>, e: &E, r: &R, tally: &mut Tally)
    where
        E: Event<L, Machine = Rmc1<L>>,
        R: Event<L, Machine = Rmc2<L>>,
    {
        let (l, m) = (&self.l, &self.expected);
        let mut take = |label: &'static str, b: bool| tally.take(label, b);
        e.guard(l, rk, m, &mut take);
        let reduced = Rmc2 { rrac: m.rrac.clone(), runex: m.runex.clone(), rerr: m.rerr.clone() };
        r.guard(l, rk, &reduced, &mut take);
        self.expected = e.action(l, rk, m);
    }

    /// What an answer of mc1 says about the unreduced system.
    fn answer<E: Simulates<L, Mc0Mc1>>(&self, e: E, tally: &mut Tally) {
        let (l, k) = (&self.l, &self.k);
        let m: Mc1<L> = Mc1Mc2::abstraction(l, k, &self.flooded());
        let above = Mc0Mc1::abstraction(l, k, &m);
        e.abstract_event(l, k, &m).guard(l, k, &above, &mut |label, b| tally.take(label, b));
    }

    /// The unreduced variables, as mc2's.
    fn flooded(&self) -> Mc2<L> {
        let m = &self.expected;
        Mc2 { unex: m.unex.clone(), rac: m.rac.clone(), err: m.err.clone() }
    }

    fn invariants<V: Visited>(
        &self,
        rk: &rmc1::Constants<L>,
        kernel: &Driven<'_, V>,
        taken: &BTreeSet<StateId>,
        tally: &mut Tally,
    ) {
        let l = &self.l;
        let m = named(l, kernel, taken, |row| self.at(row), tally);
        let e = &self.expected;
        let same = l.same(&m.rrac, &e.rrac) && l.same(&m.runex, &e.runex) && l.same(&m.rerr, &e.rerr);
        tally.take("kernel/AGR: rrac, runex and rerr are what the event's action makes of them", same);
        let mut take = |label: &'static str, b: bool| tally.take(label, b);
        m.invariant(l, rk, &mut take);
        let Rmc2 { rrac, runex, rerr } = m;
        let (rac, unex, err) = (e.rac.clone(), e.unex.clone(), e.err.clone());
        Rmc1 { rac, unex, err, rrac, runex, rerr }.invariant(l, rk, &mut take);
        self.flooded().invariant(l, &self.k, &mut take);
    }
}

/// The group itself is not among them: only the properties of the constants speak of it, and the audit's own
/// clauses `symmetry/tr` and `symmetry/inv` look at those.
fn constants(l: &L, k: &mc0::Constants<L>, rep: Table<Large>) -> rmc1::Constants<L> {
    rmc1::Constants { mc0: k.clone(), aut: l.no_group(1), rep }
}
