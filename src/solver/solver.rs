//! What an engine asks of a solver, whichever it is: incremental, under assumptions, with cores.

use crate::term::{Assignment, Bool, Terms};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The answer to a query.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Values for which everything asserted and assumed is true. Whoever uses them evaluates again.
    Sat(Assignment),
    /// There are none, whatever the integers are: a solver that computes with limited widths says so only if it is true
    /// with every overflow allowed. The assumptions that were needed for it.
    Unsat(Vec<Bool>),
    Unknown(NoAnswer),
}

/// Why a solver has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The widths of integers do not suffice.
    Overflow,
    /// The time is over, or somebody interrupted.
    Stopped,
    /// The solver gave up or broke; in its words.
    GaveUp(String),
}

pub trait Solver {
    /// For good.
    fn assert(&mut self, terms: &Terms, claim: Bool);
    /// Is there a model of all that was asserted and of these?
    fn check(&mut self, terms: &Terms, assumptions: &[Bool]) -> Outcome;
    /// "cadical", "z3", "cvc5": for reports.
    fn name(&self) -> &str;
    /// Whether integers of any size are decided, so that a proof is one for all integers.
    fn is_unbounded(&self) -> bool;

    /// Questions will be much like one another: what follows from the assumptions that the last one and the next one have in
    /// common may be kept. It changes no answer.
    fn keep_assumptions(&mut self) {}
}

/// When to give up: at a point in time, when somebody says so, or when so much was done. Copies are about the same flag
/// and the same effort.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
    /// What may still be done; see [`Stop::with_effort`].
    effort: Option<Arc<AtomicU64>>,
}

impl Stop {
    pub fn never() -> Stop {
        Stop::default()
    }

    pub fn after(time: Duration) -> Stop {
        // A time that is too long to be a point in time never comes.
        Stop { deadline: Instant::now().checked_add(time), ..Stop::default() }
    }

    /// Whoever sets the flag stops all that look at it.
    pub fn with_flag(mut self, flag: Arc<AtomicBool>) -> Stop {
        self.flag = flag;
        self
    }

    /// So much may be done: a clause of a circuit is one, and a conflict of the search costs what [`conflict_cost`] says.
    /// This does not depend on the machine, as a time does.
    pub fn with_effort(mut self, effort: u64) -> Stop {
        self.effort = Some(Arc::new(AtomicU64::new(effort)));
        self
    }

    /// What may still be done, if there is an end to it.
    pub fn effort(&self) -> Option<u64> {
        self.effort.as_ref().map(|e| e.load(Ordering::Relaxed))
    }

    // Only the solver that is built in counts.
    #[cfg_attr(not(feature = "cadical"), allow(dead_code))]
    pub(crate) fn spend(&self, effort: u64) {
        if let Some(left) = &self.effort {
            // One thread spends: nothing is lost between reading and writing.
            left.store(left.load(Ordering::Relaxed).saturating_sub(effort), Ordering::Relaxed);
        }
    }

    /// Not later than this one, and after this time at the latest.
    pub fn within(&self, time: Duration) -> Stop {
        let then = Instant::now().checked_add(time);
        let deadline = match (self.deadline, then) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Stop { flag: self.flag.clone(), deadline, effort: self.effort.clone() }
    }

    pub fn interrupt(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
            || self.effort() == Some(0)
            || self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// How long there is, if there is an end.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }
}

/// What a conflict costs of an effort: the search looks at more between two of them where there are more clauses.
pub fn conflict_cost(clauses: usize) -> u64 {
    CONFLICT + clauses as u64 / CLAUSES_LOOKED_AT
}

/// What a conflict costs at least.
const CONFLICT: u64 = 50;
/// A clause is looked at in one conflict of so many.
const CLAUSES_LOOKED_AT: u64 = 500;

/// Makes solvers: engines need several, and a fresh one to check what another one found. An error says what is missing.
pub type Make<'a> = dyn Fn() -> Result<Box<dyn Solver>, String> + 'a;
