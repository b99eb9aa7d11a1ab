//! The answer: one verdict for every engine, and one list of reasons for having none.
//!
//! `Holds` cannot be said, only earned: [`Verdict::Holds`] carries a [`Proof`], and a proof is made here, of tokens that
//! exist only at the end of what they stand for: [`Complete`] (no start of the system is missing), the kernel's
//! [`Pass`] or an exhausted search, and an exact way of telling states apart. Whatever was cut short, limited or
//! approximate on the way is a [`Why`], and a run that has one cannot make the proof.
//!
//! ```
//! use kanon::verdict::{Verdict, Why};
//!
//! fn exit_code<F>(verdict: &Verdict<F>) -> u8 {
//!     match verdict {
//!         Verdict::Holds(_) => 0,
//!         Verdict::Fails(_) => 1,
//!         Verdict::Unknown(_) => 3,
//!     }
//! }
//! assert_eq!(exit_code(&Verdict::<()>::Unknown(Why::Approximate)), 3);
//! ```
//!
//! Whoever implements a system vouches for its [`Complete`]; everything else is made by the engines of this crate. So
//! nobody outside can say Holds, neither by writing a proof down, nor by putting tokens together:
//!
//! ```compile_fail,E0451
//! let verdict: kanon::verdict::Verdict<()> = kanon::verdict::Verdict::Holds(kanon::verdict::Proof { states: 1 });
//! ```
//!
//! ```compile_fail,E0624
//! use kanon::verdict::{Complete, Ended, Exact, Proof};
//! fn forged(ended: Ended, exact: Exact) {
//!     let _ = Proof::new(ended, Complete::every_start_was_visited(), Some(exact), 1);
//! }
//! ```

mod together;

pub use together::{Closed, Share, Together};

use crate::lang::diag::Span;
use crate::value::fault::Fault;
use kanon_refinement::kernel::Pass;
use std::fmt;
use std::time::Duration;

/// The answer of an engine; `F` is what it finds.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict<F> {
    /// Nothing was found, and everything was looked at.
    Holds(Proof),
    /// Something was found.
    Fails(F),
    /// Nothing was found, and not everything was looked at.
    Unknown(Why),
}

impl<F> Verdict<F> {
    /// Whether it is proved.
    pub fn holds(&self) -> bool {
        matches!(self, Verdict::Holds(_))
    }

    /// Whether something was found.
    pub fn fails(&self) -> bool {
        matches!(self, Verdict::Fails(_))
    }

    /// The verdict without its details.
    pub fn word(&self) -> Decision {
        match self {
            Verdict::Holds(_) => Decision::Holds,
            Verdict::Fails(_) => Decision::Fails,
            Verdict::Unknown(_) => Decision::Unknown,
        }
    }

    /// The same verdict about something else.
    pub fn map<G>(self, f: impl FnOnce(F) -> G) -> Verdict<G> {
        match self {
            Verdict::Holds(proof) => Verdict::Holds(proof),
            Verdict::Fails(found) => Verdict::Fails(f(found)),
            Verdict::Unknown(why) => Verdict::Unknown(why),
        }
    }
}

/// A verdict without its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing was found, and everything was looked at.
    Holds,
    /// Something was found.
    Fails,
    /// Nothing was found, and not everything was looked at.
    Unknown,
}

impl Decision {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Holds => "holds",
            Decision::Fails => "fails",
            Decision::Unknown => "unknown",
        }
    }
}

/// Every start of a system was visited: valuations of constants, and what else its initial states depend on.
///
/// Only a system makes one, at the end of [`crate::system::System::starts`]. It can be spent once:
///
/// ```compile_fail,E0382
/// use kanon::verdict::Complete;
/// let complete = Complete::every_start_was_visited();
/// let searches = [complete, complete];
/// ```
#[must_use = "without it there is no Holds"]
#[derive(Debug)]
pub struct Complete(());

impl Complete {
    /// A system's word that it has visited every start it has, and that it has one.
    pub fn every_start_was_visited() -> Complete {
        Complete(())
    }
}

/// A search that has followed every edge of what it searched, to the end. A search of this crate says so, and nobody
/// else:
///
/// ```compile_fail,E0624
/// let _ = kanon::verdict::Ended::Searched(kanon::verdict::Exhausted::nothing_is_left());
/// ```
#[must_use = "without it there is no Holds"]
#[derive(Debug)]
pub struct Exhausted(());

impl Exhausted {
    /// Made by a search when nothing is left of what it had to follow.
    pub(crate) fn nothing_is_left() -> Exhausted {
        Exhausted(())
    }
}

/// How an engine came to its end without a finding.
#[derive(Debug)]
pub enum Ended {
    /// The kernel's events ended in `pass`.
    Passed(Pass),
    /// Another search was exhausted.
    Searched(Exhausted),
    /// All shares of a search have passed.
    Together(Together),
}

/// States are taken for one only if they are one, or symmetric. Which visited sets are exact is decided in this crate:
///
/// ```compile_fail,E0624
/// let _ = kanon::verdict::Exact::BY_KEY;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Exact(());

impl Exact {
    /// Equal states have equal keys, and equal keys are those of equal or symmetric states.
    pub(crate) const BY_KEY: Exact = Exact(());
}

/// An engine that works with formulas has a proof of all that was wanted, and solvers that did not find it agree.
///
/// Made of a proof of `kanon_solver`, which nobody outside of it can make. That it is about this model, and not about
/// some other transition system, is known where it is asked for, so it is made only there:
///
/// ```compile_fail,E0624
/// fn forged(of_something_else: &kanon_solver::engine::Proof) {
///     let _ = kanon::verdict::Inductive::of(of_something_else, 0, true);
/// }
/// ```
#[must_use = "without it there is no Holds"]
#[derive(Debug)]
pub struct Inductive(());

impl Inductive {
    /// The proof of an engine: the solvers that checked it are not none, it is about everything that was wanted
    /// (`uncovered` is how many observers have no formula), and a solver has seen an initial state.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn of(
        proof: &kanon_solver::engine::Proof,
        uncovered: usize,
        has_start: bool,
    ) -> Result<Inductive, Why> {
        if proof.checked_by.is_empty() {
            return Err(Why::Internal("a proof that nobody has checked".into()));
        }
        if uncovered > 0 {
            return Err(Why::LeftOut(uncovered));
        }
        if has_start { Ok(Inductive(())) } else { Err(Why::NoInitialState) }
    }
}

/// That something holds, and on what that rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    states: usize,
}

impl Proof {
    /// All tokens together are a proof, unless there is no state that it would be about. A search whose states are
    /// only alike has no [`Exact`], so it has no proof.
    pub(crate) fn new(
        ended: Ended,
        complete: Complete,
        exact: Option<Exact>,
        states: usize,
    ) -> Result<Proof, Why> {
        let (Ended::Passed(_) | Ended::Searched(_) | Ended::Together(_)) = ended;
        let Complete(()) = complete;
        let Some(Exact(())) = exact else { return Err(Why::Approximate) };
        if states == 0 { Err(Why::NoInitialState) } else { Ok(Proof { states }) }
    }

    /// A proof by formulas looks at no single state.
    pub(crate) fn by_formulas(inductive: Inductive) -> Proof {
        let Inductive(()) = inductive;
        Proof { states: 0 }
    }

    /// The states that were looked at.
    pub fn states(&self) -> usize {
        self.states
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Stopped by the user.
    Interrupted,
    /// The time limit.
    Timeout(Duration),
    /// The limit of states.
    MaxStates(usize),
    /// The limit of memory, in bytes.
    MaxMemory(u64),
    /// States were to be on disk, and that failed, in its words.
    Disk(String),
    /// An unbounded integer was enumerated only from MININT to MAXINT.
    Truncated(Span),
    /// Nothing was found, but states that differ may have been taken for one.
    Approximate,
    /// Something could not be computed.
    Limit(Box<Fault>),
    /// Something that a formula asks for has no value in some state, which stays open.
    NoValue(Box<Fault>),
    /// The starts of the system were not all visited.
    Starts,
    /// An engine that works with formulas has no answer, in its words.
    Formulas(String),
    /// There is no initial state, so there is nothing that could hold.
    NoInitialState,
    /// A part of what was to be checked was left out.
    LeftOut(usize),
    /// Nothing was found, but what the answer rests on could not be audited.
    Unaudited(&'static str),
    /// The audit found a mistake of ours.
    Audit(Box<Broken>),
    /// A process that took part in the search is gone, or has something else to do.
    Processes(String),
    /// Another mistake of ours.
    Internal(String),
}

/// A clause of the refinement chain, or an agreement of two evaluators, that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// `mc2/inv1: unex ⊆ rac`, or `evaluator/successors`
    pub clause: &'static str,
    /// The kernel's event after which it was broken; none when two evaluators differ.
    pub event: Option<&'static str>,
    /// Events so far, that one included.
    pub number: u64,
    /// The state that the event was about.
    pub state: Option<u32>,
    /// What differs.
    pub detail: Option<String>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.event {
            Some(event) => {
                write!(f, "audit: clause {} broken after event {} ({event})", self.clause, self.number)?;
            }
            None => write!(f, "audit: clause {} broken after event {}", self.clause, self.number)?,
        }
        if let Some(detail) = &self.detail {
            write!(f, ": {detail}")?;
        }
        f.write_str("; this is a mistake of kanon, please report it")
    }
}
