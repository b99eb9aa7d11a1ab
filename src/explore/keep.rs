//! A search that is written down between two events, and taken up again later.
//!
//! What is written down is a state of wmc: the stored states, and which of them are open. A state that was taken and not
//! removed is open again. It is asked for where every event of the states before has been fired and counted, and none
//! of the next ([`super::batch::Leader::fire`], [`super::root`]); so nothing in it is half done. Beside it go counts and
//! findings, whatever was cut short or could not be computed (otherwise the search that is taken up could say Holds where
//! this one could not), and how far the root had come.
//!
//! **The root** is open again whatever was written, and its successors are yielded all over again
//! (`kanon_refinement::kernel::Kernel::reopen`): those that are stored are known and cost a lookup each. So the system's
//! token that no start is missing is earned anew. What is written of the root's place only keeps the order: nothing is
//! explored before as many initial states have arrived as had arrived by then. What the root has counted is counted
//! anew, too, and left out of what is written.
//!
//! **Of several processes** each writes its share ([`KeptShare`]), and the shares together are a state of wmc whose sets are
//! the unions of theirs, if they are taken at a time t that timely has closed (or when nothing is on its way any more):
//!
//! - all states of depth t or less have arrived where they belong, so whatever a state that is not open has as a successor
//!   is in some share: states of lesser depth were expanded, and what they have handed on was looked up by its owner
//!   *before* the owner took its share;
//! - no state of depth t has been expanded: those are what is open. A process that is late takes its share before it looks
//!   at what has come at depth t + 1, which the others have sent after they took theirs.
//!
//! A state that is held (all its successors yielded, some handed on, and nobody has told yet that they have arrived) is of
//! lesser depth, and closed: that its successors have arrived is known of the time, not of the process. So the obligation
//! of taking it up is that of one process, wmc/reopen, on the unions; and every process expands the root again, as at the
//! beginning, and earns its own token that no start is missing. What was handed on and received is counted anew. Another
//! number of processes takes the same union, divided in another way: each state belongs to whom its key belongs to, and
//! has the parent that it had.
//!
//! Absent on purpose: files, values, threads, clocks.

use super::order::{Order, Waiting};
use super::others::Process;
use super::store::{Frozen, Layout, StateId, Store};
pub use super::watch::SoFar;
use crate::symmetry::{Action, Reducer, Strategy};
use crate::system::{Role, Starts, Stop, System, Transition, Visitor};
use crate::value::fault::Fault;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How far the root had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Initial states that had arrived, known ones included.
    pub arrived: u64,
    /// Of these, since something was explored the last time.
    pub since: usize,
    /// What had arrived was being explored.
    pub is_exploring: bool,
    /// The last start had been visited.
    pub is_over: bool,
}

/// What there is to say of a search beside its states.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    pub found: SoFar,
    pub place: Place,
    pub is_early: bool,
    /// What the next draw of the order depends on.
    pub draws: u64,
}

/// A search between two events.
pub struct Kept {
    pub layout: Arc<Layout>,
    pub states: Frozen,
    /// The open states, in the order in which they would be taken.
    pub open: Vec<StateId>,
    pub course: Course,
}

/// The same, to be taken up. The store is that of the system's own layout.
pub struct Again {
    pub store: Store,
    pub open: Vec<StateId>,
    pub course: Course,
}

/// Which processes the parents of states belong to, in the order of the states. Copies share what is full.
#[derive(Clone, Debug, Default)]
pub struct Homes {
    full: Vec<Arc<[Process]>>,
    last: Vec<Process>,
}

impl Homes {
    const CHUNK: usize = 1 << 12;

    pub fn push(&mut self, home: Process) {
        self.last.push(home);
        if self.last.len() == Homes::CHUNK {
            self.full.push(std::mem::take(&mut self.last).into());
        }
    }

    pub fn get(&self, id: StateId) -> Option<Process> {
        let (chunk, at) = (id as usize / Homes::CHUNK, id as usize % Homes::CHUNK);
        match self.full.get(chunk) {
            Some(full) => full.get(at).copied(),
            None if chunk == self.full.len() => self.last.get(at).copied(),
            None => None,
        }
    }

    pub fn len(&self) -> usize {
        self.full.len() * Homes::CHUNK + self.last.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = Process> + '_ {
        self.full.iter().flat_map(|chunk| chunk.iter().copied()).chain(self.last.iter().copied())
    }
}

/// One process's share of a search ([`super::share`]), when nothing that it has handed on is still on its way.
pub struct KeptShare {
    pub kept: Kept,
    pub homes: Homes,
    /// How many states there are at each depth; they have their numbers in this order.
    pub depths: Vec<u32>,
}

/// The same, to be taken up.
pub struct ShareAgain {
    pub again: Again,
    pub homes: Homes,
    pub depths: Vec<u32>,
}

impl ShareAgain {
    /// The depths at which states wait, and how many; none if they do not wait in the order of their depths.
    pub(super) fn levels(&self) -> Option<VecDeque<(u64, usize)>> {
        let mut levels: VecDeque<(u64, usize)> = VecDeque::new();
        let (mut depth, mut end) = (0, self.depths.first().map_or(0, |n| *n as usize));
        let mut last = None;
        for id in &self.again.open {
            while *id as usize >= end {
                depth += 1;
                end += *self.depths.get(depth)? as usize;
            }
            if last.replace(*id).is_some_and(|last| last >= *id) {
                return None;
            }
            match levels.back_mut() {
                Some((at, n)) if *at == depth as u64 => *n += 1,
                _ => levels.push_back((depth as u64, 1)),
            }
        }
        Some(levels)
    }

    /// The depth of a state.
    pub(super) fn depth(&self, id: StateId) -> Option<u64> {
        let ends = self.depths.iter().scan(0u64, |end, n| {
            *end += u64::from(*n);
            Some(*end)
        });
        ends.zip(0..).find(|(end, _)| u64::from(id) < *end).map(|(_, depth)| depth)
    }
}

/// Who writes searches down.
pub trait Keeper {
    /// Whether one is wanted now. This is asked often.
    fn is_due(&self) -> bool;

    /// Whether the search is to end with it.
    fn is_last(&self) -> bool;

    /// Takes it, to be written while the search goes on.
    fn keep(&mut self, kept: Kept);
}

/// What a search is given beside its options.
#[derive(Default)]
pub struct Keeping {
    /// It is dropped when the search has ended.
    pub keeper: Option<Box<dyn Keeper>>,
    pub again: Option<Again>,
}

/// The machine's part of what is taken up.
pub(super) fn waiting(order: Order, again: &mut Again) -> Waiting {
    Waiting::again(order, again.course.draws, std::mem::take(&mut again.open))
}

/// Executes the clauses of wmc's invariant on what is to be taken up: every state that is not open is expanded once more.
/// How many were; the error is the clause that does not hold, and the state.
///
/// # Errors
/// The clause.
pub fn audit<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    options: &super::Options,
    again: &Again,
    stop: &Stop,
) -> Result<u64, (&'static str, Option<StateId>)> {
    let store = &again.store;
    let n = store.len();
    let mut is_open = vec![false; n];
    for id in &again.open {
        match is_open.get_mut(*id as usize) {
            Some(open) if !*open => *open = true,
            _ => return Err(("wmc/inv3: runex ⊆ rrac", Some(*id))),
        }
    }
    let reducer = action
        .filter(|a| options.symmetry != Strategy::Off && !a.group().is_trivial())
        .and_then(|action| Reducer::new(action, options.symmetry, false));
    let mut seen = Seen {
        store,
        reducer,
        reached: vec![false; n],
        from: None,
        is_missing: false,
        left: (0..n as StateId).filter(|id| store.parent(*id).is_none()).count(),
    };
    let mut worker = system.worker(stop);
    let _ = system.starts(&mut worker, &mut Initial { system, seen: &mut seen });
    let mut row = vec![];
    let mut expanded = 0;
    for id in 0..n as StateId {
        if stop.load(Ordering::Relaxed) {
            return Ok(expanded);
        }
        store.read(id, &mut row);
        if options.invariant && !options.all {
            let here = system.load(&mut worker, &row);
            let mut invariant = system.checks().iter().enumerate().filter(|(_, c)| c.role == Role::Invariant);
            if invariant.any(|(check, _)| system.holds(check, here) == Ok(false)) {
                return Err(("wmc/inv2: rrac ⊆ inv", Some(id)));
            }
        }
        if !is_open[id as usize] {
            seen.from = Some(id);
            let _ = system.successors(&mut worker, &row, &mut seen);
            expanded += 1;
            if seen.is_missing {
                let clause =
                    "wmc/inv5: s1 ∈ rrac ∖ runex ∧ s1 ↦ s2 ∈ tr ⇒ ∃t.(s2 ↦ t ∈ orb ∧ t ∈ rrac ∪ rerr)";
                return Err((clause, Some(id)));
            }
        }
    }
    match seen.reached.iter().position(|reached| !reached) {
        Some(id) => Err(("wmc/inv2: rrac ⊆ reach", Some(id as StateId))),
        None => Ok(expanded),
    }
}

/// Successors, as they are stored.
struct Seen<'a> {
    store: &'a Store,
    reducer: Option<Reducer>,
    /// By state: the step from its parent exists.
    reached: Vec<bool>,
    from: Option<StateId>,
    is_missing: bool,
    /// Initial states that have not been met.
    left: usize,
}

impl Seen<'_> {
    fn meet(&mut self, row: &[u64]) {
        let key = match &mut self.reducer {
            Some(reducer) => reducer.key(row),
            None => row,
        };
        match self.store.find(key) {
            Some(id) if self.store.parent(id) == self.from => {
                let reached = std::mem::replace(&mut self.reached[id as usize], true);
                self.left -= usize::from(self.from.is_none() && !reached);
            }
            Some(_) => {}
            None => self.is_missing |= self.from.is_some(),
        }
    }
}

impl<H> Visitor<H> for Seen<'_> {
    fn transition(&mut self, t: Transition<H>) -> ControlFlow<()> {
        self.meet(t.target);
        ControlFlow::Continue(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Initial states, until all that are stored have been met.
struct Initial<'i, 'a, S> {
    system: &'i S,
    seen: &'i mut Seen<'a>,
}

impl<S: System> Starts<S::Worker> for Initial<'_, '_, S> {
    fn start(&mut self, worker: &mut S::Worker, start: usize) -> ControlFlow<()> {
        let seen = &mut *self.seen;
        let run = self.system.initial(worker, start, &mut |_, row| {
            seen.meet(row);
            if seen.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        run.unwrap_or(ControlFlow::Continue(()))
    }

    fn fault(&mut self, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn cut(&mut self, _: crate::lang::diag::Span) {}
}
