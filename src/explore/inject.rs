//! Planted mistakes, so that tests can see that the audit catches them: in the visited set, in the search, in batches, and
//! in the system itself.

use super::hooks::{ByKey, Effort, Visited};
use super::store::{Arriving, Packed, StateId, Store};
use crate::lang::diag::Span;
use crate::system::{
    Check, Complete, Label, Operation, Role, Starts, Stop, System, Transition, Visit, Visitor, Width,
};
use crate::value::fault::{Fault, Res};
use kanon_refinement::kernel::{Insertion, Rrac};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mistake, made at the n-th occasion, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A key that is stored is inserted again.
    Forgets(u64),
    /// A key that is absent is said to be there.
    ClaimsPresent(u64),
    /// A transition is passed over.
    Drops(u64),
    /// The invariant is said to hold where it does not, or the other way round.
    Lies(u64),
    /// In a batch: a key is taken for stored or handed on, and is neither.
    ViewClaims(u64),
    /// In a batch: a state about which there is something to tell is said to be quiet.
    QuietLies(u64),
    /// In a batch: a successor is not looked at.
    BatchDrops(u64),
    /// In a batch: a view that is older than the store shows a key as absent, and nobody looks again.
    Stale(u64),
    /// A block of states that somebody has prepared is lost: its states count as expanded, and lead nowhere.
    LosesBlock(u64),
}

/// A mistake of a batch, whichever thread makes it.
pub(super) struct Planted {
    mistake: Mistake,
    occasions: AtomicU64,
}

impl Planted {
    pub fn new(mistake: Mistake) -> Planted {
        Planted { mistake, occasions: AtomicU64::new(0) }
    }

    pub fn view(m: Mistake) -> Option<u64> {
        if let Mistake::ViewClaims(n) = m { Some(n) } else { None }
    }

    pub fn quiet(m: Mistake) -> Option<u64> {
        if let Mistake::QuietLies(n) = m { Some(n) } else { None }
    }

    pub fn successor(m: Mistake) -> Option<u64> {
        if let Mistake::BatchDrops(n) = m { Some(n) } else { None }
    }

    pub fn stale(m: Mistake) -> Option<u64> {
        if let Mistake::Stale(n) = m { Some(n) } else { None }
    }

    pub fn block(m: Mistake) -> Option<u64> {
        if let Mistake::LosesBlock(n) = m { Some(n) } else { None }
    }

    /// Whether it is the turn of a mistake of this kind.
    pub fn errs(&self, kind: fn(Mistake) -> Option<u64>) -> bool {
        kind(self.mistake).is_some_and(|n| self.occasions.fetch_add(1, Ordering::Relaxed) + 1 == n)
    }
}

/// The visited set that makes the first two.
pub(super) struct Faulty<V> {
    pub inner: V,
    pub mistake: Option<Mistake>,
    pub occasions: u64,
}

impl<V: Visited> Faulty<V> {
    /// Whether it errs about a key that is known, or is not.
    fn errs(&mut self, is_known: bool) -> bool {
        let n = match (self.mistake, is_known) {
            (Some(Mistake::Forgets(n)), true) => n,
            (Some(Mistake::ClaimsPresent(n)), false) => n,
            // What a stale view says is believed.
            (Some(Mistake::Stale(_)), true) => return true,
            _ => return false,
        };
        self.occasions += 1;
        // There has to be a state that it can be taken for.
        self.occasions == n && !self.inner.store().is_empty()
    }
}

impl<V: Visited> Rrac<Arriving<'_>> for Faulty<V> {
    type Id = StateId;

    fn insert_if_absent(&mut self, key: Arriving) -> Insertion<StateId> {
        let is_known = self.mistake.and_then(|_| self.inner.find(key.row)).is_some();
        match self.errs(is_known) {
            true if is_known => Insertion::Inserted(self.inner.append(key)),
            true => Insertion::Present(0),
            false => self.inner.insert_if_absent(key),
        }
    }
}

impl<V: ByKey> Rrac<Packed<'_>> for Faulty<V> {
    type Id = StateId;

    fn insert_if_absent(&mut self, key: Packed) -> Insertion<StateId> {
        let Packed { key: words, parent, .. } = key;
        let is_known = self.mistake.and_then(|_| self.inner.store().find_key(words)).is_some();
        match self.errs(is_known) {
            true if is_known => {
                let row = self.inner.store().unpacked(words);
                Insertion::Inserted(self.inner.append(Arriving { row: &row, parent }))
            }
            true => Insertion::Present(0),
            false => self.inner.insert_if_absent(key),
        }
    }
}

impl<V: ByKey> ByKey for Faulty<V> {
    type Keys = V::Keys;

    fn keys(&self) -> V::Keys {
        self.inner.keys()
    }
    fn merge(&mut self, keys: impl Iterator<Item = V::Keys>) {
        self.inner.merge(keys);
    }
}

impl<V: Visited> Visited for Faulty<V> {
    const REDUCES: bool = V::REDUCES;
    const EXACT: Option<crate::verdict::Exact> = V::EXACT;

    fn store(&self) -> &Store {
        self.inner.store()
    }
    fn kept(&self) -> u64 {
        self.inner.kept()
    }
    fn finish(self) -> (Store, Effort) {
        self.inner.finish()
    }
    fn find(&mut self, row: &[u64]) -> Option<StateId> {
        self.inner.find(row)
    }
    fn append(&mut self, key: Arriving) -> StateId {
        self.inner.append(key)
    }
}

/// What is wrong with a system, at the n-th occasion or always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A start (a valuation of the constants) is lost.
    LosesStart(u64),
    LosesInitial(u64),
    /// In some state, always the same one: a successor is lost.
    LosesSuccessor(u64),
    /// In some state, always the same one: a successor keeps a word of the state before, as if it had no room for the new
    /// one.
    KeepsWord(u64),
    /// Checks of this role are said to be as they should.
    Ignores(Role),
    /// An operation is never tried.
    LosesOperation(usize),
    /// What has no value is not told: of an operation, of a check, of INITIALISATION.
    Silences,
}

/// A system with a flaw.
pub struct Flawed<S> {
    pub inner: S,
    pub flaw: Flaw,
}

impl<S: System> Flawed<S> {
    /// The same answer whenever a state is asked for: a hash of its row decides.
    fn loses(&self, row: &[u64], at: u64) -> bool {
        let hash = row.iter().fold(at + 1, |h, w| crate::value::hash::join(h, *w));
        let (Flaw::LosesSuccessor(n) | Flaw::KeepsWord(n)) = self.flaw else { return false };
        (hash >> 32).is_multiple_of(n.max(1))
    }
}

struct Losing<'a, 'v, S: System> {
    system: &'a Flawed<S>,
    source: &'a [u64],
    at: u64,
    visit: &'a mut (dyn Visitor<S::Here> + 'v),
}

impl<S: System> Visitor<S::Here> for Losing<'_, '_, S> {
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        self.at += 1;
        let errs = self.system.loses(self.source, self.at);
        if errs && matches!(self.system.flaw, Flaw::KeepsWord(_)) {
            let mut target = t.target.to_vec();
            if let Some(i) = target.iter().zip(self.source).rposition(|(new, old)| new != old) {
                target[i] = self.source[i];
            }
            return self.visit.transition(Transition { target: &target, ..t });
        }
        let is_lost = errs || matches!(self.system.flaw, Flaw::LosesOperation(o) if o == t.operation);
        if is_lost { ControlFlow::Continue(()) } else { self.visit.transition(t) }
    }
    fn fault(&mut self, operation: usize, fault: Box<Fault>) -> ControlFlow<()> {
        match self.system.flaw {
            Flaw::Silences => ControlFlow::Continue(()),
            _ => self.visit.fault(operation, fault),
        }
    }
    fn prefetch(&mut self, target: &[u64]) {
        self.visit.prefetch(target);
    }

    fn reads_labels(&self) -> bool {
        self.visit.reads_labels()
    }
}

struct Starting<'a, 'v, W> {
    lost: Option<u64>,
    at: u64,
    visit: &'a mut (dyn Starts<W> + 'v),
}

impl<W> Starts<W> for Starting<'_, '_, W> {
    fn start(&mut self, worker: &mut W, start: usize) -> ControlFlow<()> {
        self.at += 1;
        if self.lost == Some(self.at) { ControlFlow::Continue(()) } else { self.visit.start(worker, start) }
    }
    fn fault(&mut self, fault: Box<Fault>) -> ControlFlow<()> {
        self.visit.fault(fault)
    }
    fn cut(&mut self, at: Span) {
        self.visit.cut(at);
    }
}

impl<S: System> System for Flawed<S> {
    type Worker = S::Worker;
    type Here = S::Here;

    fn widths(&self) -> Vec<Width> {
        self.inner.widths()
    }
    fn operations(&self) -> &[Operation] {
        self.inner.operations()
    }
    fn checks(&self) -> &[Check] {
        self.inner.checks()
    }
    fn worker(&self, stop: &Stop) -> S::Worker {
        self.inner.worker(stop)
    }
    fn starts(&self, w: &mut S::Worker, visit: &mut dyn Starts<S::Worker>) -> Option<Complete> {
        let lost = if let Flaw::LosesStart(n) = self.flaw { Some(n) } else { None };
        self.inner.starts(w, &mut Starting { lost, at: 0, visit })
    }
    fn initial(
        &self,
        w: &mut S::Worker,
        start: usize,
        visit: &mut Visit<'_, S::Here>,
    ) -> Res<ControlFlow<()>> {
        let mut at = 0;
        let run = self.inner.initial(w, start, &mut |here, row| {
            at += 1;
            if self.flaw == Flaw::LosesInitial(at) { ControlFlow::Continue(()) } else { visit(here, row) }
        });
        if self.flaw == Flaw::Silences { run.or(Ok(ControlFlow::Continue(()))) } else { run }
    }
    fn successors(
        &self,
        w: &mut S::Worker,
        row: &[u64],
        visit: &mut dyn Visitor<S::Here>,
    ) -> ControlFlow<()> {
        self.inner.successors(w, row, &mut Losing { system: self, source: row, at: 0, visit })
    }
    fn load<'w>(&self, w: &'w mut S::Worker, row: &[u64]) -> &'w mut S::Here {
        self.inner.load(w, row)
    }
    fn holds(&self, check: usize, here: &mut S::Here) -> Res<bool> {
        match self.flaw {
            Flaw::Ignores(role) if self.checks()[check].role == role => Ok(role != Role::Goal),
            Flaw::Silences => self.inner.holds(check, here).or(Ok(self.checks()[check].role != Role::Goal)),
            _ => self.inner.holds(check, here),
        }
    }
    fn cut(&self, w: &mut S::Worker) -> Option<Span> {
        self.inner.cut(w)
    }
    fn label(&self, operation: usize, here: &S::Here) -> Label {
        self.inner.label(operation, here)
    }
    fn start_of(&self, row: &[u64]) -> usize {
        self.inner.start_of(row)
    }
    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        self.inner.show_state(row)
    }
    fn show_label(&self, label: &Label) -> String {
        self.inner.show_label(label)
    }
}
