//! What is explored: a transition system over rows of words.
//!
//! [`System`] is the one seam between languages and engines. A system says how wide its rows are, in which states it
//! starts, where each leads, and whether a check holds of a state. Exploration, temporal logic, symmetry, traces and
//! reports ask for nothing else. A B machine is one ([`Machine`]), and [`Interned`] makes one of a typed system
//! of kanon-refinement.
//!
//! A system of one's own takes some twenty lines:
//!
//! ```
//! use kanon::system::{Check, Complete, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor, Width};
//! use std::ops::ControlFlow;
//!
//! /// A counter that goes up to a bound, and starts again.
//! struct Counter { bound: u64, operations: Vec<Operation>, checks: Vec<Check> }
//!
//! impl System for Counter {
//!     type Worker = u64;
//!     type Here = u64; // the state that is looked at
//!     fn widths(&self) -> Vec<Width> { vec![Width::Bits(8)] }
//!     fn operations(&self) -> &[Operation] { &self.operations }
//!     fn checks(&self) -> &[Check] { &self.checks }
//!     fn worker(&self, _: &Stop) -> u64 { 0 }
//!     fn starts(&self, w: &mut u64, visit: &mut dyn Starts<u64>) -> Option<Complete> {
//!         visit.start(w, 0).is_continue().then(Complete::every_start_was_visited)
//!     }
//!     fn initial(&self, w: &mut u64, _: usize, visit: &mut Visit<'_, u64>) -> Res<ControlFlow<()>> {
//!         *w = 0;
//!         Ok(visit(w, &[0]))
//!     }
//!     fn successors(&self, w: &mut u64, row: &[u64], visit: &mut dyn Visitor<u64>) -> ControlFlow<()> {
//!         *w = (row[0] + 1) % self.bound;
//!         visit.transition(Transition { operation: 0, target: &[*w], here: w })
//!     }
//!     fn load<'w>(&self, w: &'w mut u64, row: &[u64]) -> &'w mut u64 {
//!         *w = row[0];
//!         w
//!     }
//!     fn holds(&self, _check: usize, here: &mut u64) -> Res<bool> { Ok(*here != 7) }
//! }
//!
//! let counter = |bound| Counter {
//!     bound,
//!     operations: vec![Operation::named("tick")],
//!     checks: vec![Check::invariant("not seven")],
//! };
//! let options = kanon::explore::Options { deadlock: false, ..Default::default() };
//! let seven = kanon::run::system::check(&counter(7), None, &options).expect("they go together");
//! assert!(seven.verdict.holds() && seven.counts.states == 7);
//! let eight = kanon::run::system::check(&counter(8), None, &options).expect("they go together");
//! assert_eq!(eight.path.expect("a counterexample").rows.len(), 8);
//! ```

mod by_solver;
mod constants;
mod interned;
mod machine;
mod machine_system;
mod oracle;
pub mod planted;
mod solve;
pub mod watch;

pub use crate::value::fault::{Fault, Res};
pub use crate::verdict::Complete;
pub use constants::Setup;
pub use interned::Interned;
pub use machine::{Labelled, Machine, Worker};
pub use oracle::BySolver;
pub use solve::First;
pub(crate) use solve::watched;

use crate::lang::diag::Span;
use crate::value::packed::Packing;
use smallvec::SmallVec;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The flag that ends whatever is long: everything that enumerates looks at it.
pub type Stop = Arc<AtomicBool>;

/// What a transition is beside its target: the operation, then its parameters and results, as words.
pub type Label = SmallVec<[u64; 8]>;

/// What a word of a row can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A number of so many bits.
    Bits(u32),
    /// The name of an interned value.
    Name,
    /// A tagged integer.
    Integer,
    /// A short sequence, or a name with a tag.
    Sequence(Packing),
}

/// What transitions are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// For people, and for formulas.
    pub name: Arc<str>,
    /// One state may have several transitions of it to one target, told apart by their labels only.
    pub may_repeat: bool,
}

impl Operation {
    /// An operation that never repeats.
    pub fn named(name: impl Into<Arc<str>>) -> Operation {
        Operation { name: name.into(), may_repeat: false }
    }
}

/// What a check is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A conjunct of the invariant: decides between add_inv and add_err.
    Invariant,
    /// Should be true in every state.
    Assertion,
    /// Is looked for.
    Goal,
}

/// A closed question about states. Its number is its place in [`System::checks`].
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What it is for.
    pub role: Role,
    /// For people, and for formulas.
    pub name: Arc<str>,
    /// Where it stands in a text, if it does.
    pub span: Span,
    /// The same in all states of a start.
    pub is_static: bool,
    /// By operation: whether it may change the answer. An operation that is not mentioned may.
    pub changed_by: Vec<bool>,
    /// By operation: whether it is proved, and relied on, that it leads from a state in which the whole invariant holds
    /// only to states in which this does. An operation that is not mentioned is not proved to.
    pub kept_by: Vec<bool>,
}

impl Check {
    fn of(role: Role, name: impl Into<Arc<str>>) -> Check {
        let (span, changed_by, kept_by) = (Span::default(), vec![], vec![]);
        Check { role, name: name.into(), span, is_static: false, changed_by, kept_by }
    }

    /// A conjunct of the invariant.
    pub fn invariant(name: impl Into<Arc<str>>) -> Check {
        Check::of(Role::Invariant, name)
    }

    /// An assertion.
    pub fn assertion(name: impl Into<Arc<str>>) -> Check {
        Check::of(Role::Assertion, name)
    }

    /// A goal.
    pub fn goal(name: impl Into<Arc<str>>) -> Check {
        Check::of(Role::Goal, name)
    }

    /// Whether an operation may change the answer.
    #[inline]
    pub fn is_changed_by(&self, operation: usize) -> bool {
        self.changed_by.get(operation).copied().unwrap_or(true)
    }

    /// Whether an operation is known to keep it true.
    #[inline]
    pub fn is_kept_by(&self, operation: usize) -> bool {
        self.kept_by.get(operation).copied().unwrap_or(false)
    }
}

/// A transition, while it is being visited.
pub struct Transition<'a, H> {
    /// Its place in [`System::operations`].
    pub operation: usize,
    /// The row of its target.
    pub target: &'a [u64],
    /// The target at hand, for [`System::holds`] and [`System::label`].
    pub here: &'a mut H,
}

/// What hears of the transitions of a state.
pub trait Visitor<H> {
    /// A transition; `Break` ends the visit.
    fn transition(&mut self, t: Transition<H>) -> ControlFlow<()>;

    /// An operation has no value for some parameters.
    fn fault(&mut self, operation: usize, fault: Box<Fault>) -> ControlFlow<()>;

    /// A transition with this target will be visited soon, if nothing stops the visit: time to fetch what is known of
    /// it.
    fn prefetch(&mut self, target: &[u64]) {
        let _ = target;
    }

    /// Whether anybody asks for the labels of the transitions that are visited.
    fn reads_labels(&self) -> bool {
        true
    }
}

/// What hears of initial states: each at hand, and as a row.
pub type Visit<'v, H> = dyn FnMut(&mut H, &[u64]) -> ControlFlow<()> + 'v;

/// What hears of the starts of a system.
pub trait Starts<W> {
    /// Time for the initial states of this start: [`System::initial`].
    fn start(&mut self, worker: &mut W, start: usize) -> ControlFlow<()>;

    /// Something that decides about starts has no value, or could not be computed; some start may be missing.
    fn fault(&mut self, fault: Box<Fault>) -> ControlFlow<()>;

    /// An enumeration of starts was cut short here; some may be missing.
    fn cut(&mut self, at: Span);
}

/// A labelled transition system with checks. It is shared by all threads and does not change while it is explored; what
/// does is in its workers.
pub trait System: Send + Sync {
    /// What one thread evaluates with.
    type Worker: Send;
    /// A state or a transition at hand. Engines hand it on and never look into it.
    type Here;

    /// What the words of a row can be.
    fn widths(&self) -> Vec<Width>;

    /// What transitions are called; a transition gives its place in this list.
    fn operations(&self) -> &[Operation];

    /// What can be asked of a state.
    fn checks(&self) -> &[Check];

    /// What one thread needs.
    fn worker(&self, stop: &Stop) -> Self::Worker;

    /// Visits every start: what the initial states depend on, such as a valuation of constants, in ascending order.
    ///
    /// The token says that none is missing. It is made here, at the end of the enumeration, and nowhere else; without it
    /// there is no Holds. A system with no start at all has nothing to be complete about and returns `None`.
    fn starts(&self, w: &mut Self::Worker, visit: &mut dyn Starts<Self::Worker>) -> Option<Complete>;

    /// Visits the initial states of a start, each once.
    fn initial(
        &self,
        w: &mut Self::Worker,
        start: usize,
        visit: &mut Visit<'_, Self::Here>,
    ) -> Res<ControlFlow<()>>;

    /// Visits the transitions of a state, each once.
    fn successors(
        &self,
        w: &mut Self::Worker,
        source: &[u64],
        visit: &mut dyn Visitor<Self::Here>,
    ) -> ControlFlow<()>;

    /// The same, and [`Visitor::prefetch`] is called some time before a transition is visited, where that is possible.
    fn successors_ahead(
        &self,
        w: &mut Self::Worker,
        source: &[u64],
        visit: &mut dyn Visitor<Self::Here>,
    ) -> ControlFlow<()> {
        self.successors(w, source, visit)
    }

    /// The places of a row that an operation may write, if that is known: the others are in its targets as they are in
    /// their sources.
    fn writes(&self, operation: usize) -> Option<Vec<usize>> {
        let _ = operation;
        None
    }

    /// Puts a state at hand.
    fn load<'w>(&self, w: &'w mut Self::Worker, row: &[u64]) -> &'w mut Self::Here;

    /// How many parts of what is to be checked are not among the checks, or are open although nothing was found (whether
    /// there are deadlocks, for instance, where operations may be enabled too often): with one of them there is no Holds.
    fn left_out(&self, deadlock: bool) -> usize {
        let _ = deadlock;
        0
    }

    /// Whether a check holds of the state at hand.
    fn holds(&self, check: usize, here: &mut Self::Here) -> Res<bool>;

    /// Where something that was evaluated was cut short since this was asked the last time: then "none" means nothing.
    fn cut(&self, w: &mut Self::Worker) -> Option<Span> {
        let _ = w;
        None
    }

    /// The label of the transition at hand. The default is the operation alone.
    #[inline]
    fn label(&self, operation: usize, here: &Self::Here) -> Label {
        let _ = here;
        Label::from_slice(&[operation as u64])
    }

    /// Whether a state without transitions is where a run may end: then it is no deadlock.
    fn is_over(&self, row: &[u64]) -> bool {
        let _ = row;
        false
    }

    /// Sets of transitions that formulas may name, beside the operations: as they are written there.
    fn patterns(&self) -> &[Arc<str>] {
        &[]
    }

    /// Whether the transition at hand is in one of the sets of [`System::patterns`], given by its place.
    fn fits(&self, pattern: usize, operation: usize, here: &Self::Here) -> bool {
        let _ = (pattern, operation, here);
        false
    }

    /// Which start a state belongs to.
    fn start_of(&self, row: &[u64]) -> usize {
        let _ = row;
        0
    }

    /// Names and values of a state, for people. The default shows words.
    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        row.iter().enumerate().map(|(i, w)| (format!("word {}", i + 1), w.to_string())).collect()
    }

    /// A transition, for people.
    fn show_label(&self, label: &Label) -> String {
        let Some((operation, rest)) = label.split_first() else { return String::new() };
        let name = self.operations().get(*operation as usize).map_or("?", |o| &*o.name);
        if rest.is_empty() {
            return name.to_string();
        }
        let rest: Vec<String> = rest.iter().map(u64::to_string).collect();
        format!("{name}({})", rest.join(", "))
    }
}

/// States one after the other, and the label of the transition between each two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The states.
    pub rows: Vec<Vec<u64>>,
    /// One fewer than there are states.
    pub labels: Vec<Label>,
}

/// Visits the initial states of all starts, and says whether that is all of them. `Break` ends it; a fault is the first
/// one, and a place where an enumeration of starts was cut short the first one, too.
pub fn initial_states<S: System>(
    system: &S,
    worker: &mut S::Worker,
    visit: &mut Visit<'_, S::Here>,
) -> Initial {
    let initial = Initial { complete: None, fault: None, cut: None };
    let mut all = All { system, visit, initial };
    let complete = system.starts(worker, &mut all);
    let cut = system.cut(worker);
    let mut initial = all.initial;
    initial.cut = initial.cut.or(cut);
    initial.complete = complete.filter(|_| initial.fault.is_none() && initial.cut.is_none());
    initial
}

/// What is known about the initial states that were visited.
#[derive(Debug)]
pub struct Initial {
    /// There are no others.
    pub complete: Option<Complete>,
    /// The first fault.
    pub fault: Option<Box<Fault>>,
    /// The first place where an enumeration was cut short.
    pub cut: Option<Span>,
}

struct All<'a, 'v, S: System> {
    system: &'a S,
    visit: &'a mut Visit<'v, S::Here>,
    initial: Initial,
}

impl<S: System> Starts<S::Worker> for All<'_, '_, S> {
    fn start(&mut self, worker: &mut S::Worker, start: usize) -> ControlFlow<()> {
        match self.system.initial(worker, start, self.visit) {
            Ok(flow) => flow,
            Err(fault) => self.fault(fault),
        }
    }

    fn fault(&mut self, fault: Box<Fault>) -> ControlFlow<()> {
        self.initial.fault.get_or_insert(fault);
        ControlFlow::Continue(())
    }

    fn cut(&mut self, at: Span) {
        self.initial.cut.get_or_insert(at);
    }
}
