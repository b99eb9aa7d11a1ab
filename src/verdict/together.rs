//! The end of a search that several processes have made together, each with a share of the states.
//!
//! `pass` of the whole is had of every share's own `pass`, never of a frontier alone: a dropped operator empties a
//! frontier, too. So a [`Together`] takes the last word of each process, and all of them have to fit.

use super::{Complete, Exact, Why};
use kanon_refinement::kernel::Pass;

/// The last word of one process about its share. That of this process is made of its tokens; another's is what it has
/// said, which it has made of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub(crate) process: usize,
    /// Its kernel has passed, its starts are complete, its visited set is exact: all three, or it is worth nothing.
    pub(crate) passed: bool,
    pub(crate) complete: bool,
    pub(crate) exact: bool,
    /// By process: how many states were handed on to it, and how many were received from it and looked up.
    pub(crate) handed_on: Vec<u64>,
    pub(crate) received: Vec<u64>,
    /// Why it has ended early.
    pub(crate) is_cut: bool,
}

impl Share {
    /// Of this process. The tokens are lent: one process of several also needs its own for the proof.
    pub(crate) fn of(
        process: usize,
        pass: Option<Pass>,
        complete: Option<&Complete>,
        exact: Option<Exact>,
        (handed_on, received): (Vec<u64>, Vec<u64>),
        is_cut: bool,
    ) -> Share {
        let (passed, complete, exact) = (pass.is_some(), complete.is_some(), exact.is_some());
        Share { process, passed, complete, exact, handed_on, received, is_cut }
    }
}

/// Nothing is on its way between the processes, and nobody can send any more: timely's frontier is empty. Made where that
/// is seen.
#[derive(Debug)]
pub struct Closed(());

impl Closed {
    pub(crate) fn the_frontier_is_empty() -> Closed {
        Closed(())
    }
}

/// All shares of a search have passed, and what they have handed on to each other adds up.
///
/// ```compile_fail,E0624
/// use kanon::verdict::{Share, Together};
/// fn forged(shares: Vec<Share>) {
///     let _ = Together::of(1, &shares, None);
/// }
/// ```
#[must_use = "without it there is no Holds"]
#[derive(Debug)]
pub struct Together(());

impl Together {
    /// Of the last words of so many processes.
    ///
    /// # Errors
    /// What is missing. A share that has ended early says why itself, and is none of our mistakes.
    pub(crate) fn of(processes: usize, shares: &[Share], closed: Option<Closed>) -> Result<Together, Why> {
        let wrong = |why: String| Err(Why::Internal(why));
        let in_order = shares.iter().enumerate().all(|(i, s)| s.process == i);
        if shares.len() != processes || !in_order || processes == 0 {
            return wrong("not every process has said how it ended".into());
        }
        if shares.iter().any(|s| s.is_cut) {
            return Err(Why::Interrupted);
        }
        let Some(Closed(())) = closed else { return wrong("states may be on their way".into()) };
        for s in shares {
            if s.handed_on.len() != processes || s.received.len() != processes {
                return wrong(format!("process {} has not counted what it sent", s.process));
            }
            for t in shares {
                let (sent, received) = (s.handed_on[t.process], t.received.get(s.process).copied());
                if received != Some(sent) {
                    let received = received.unwrap_or(0);
                    return wrong(format!(
                        "process {} has handed {sent} states on to process {}, which has received {received}",
                        s.process, t.process
                    ));
                }
            }
        }
        if !shares.iter().all(|s| s.exact) {
            return Err(Why::Approximate);
        }
        if !shares.iter().all(|s| s.complete) {
            return Err(Why::Starts);
        }
        match shares.iter().find(|s| !s.passed) {
            Some(s) => {
                wrong(format!("states of process {} are open, and nobody ended the search", s.process))
            }
            None => Ok(Together(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(process: usize) -> Share {
        let mut s = Share {
            process,
            passed: true,
            complete: true,
            exact: true,
            handed_on: vec![5, 5, 5],
            received: vec![5, 5, 5],
            is_cut: false,
        };
        (s.handed_on[process], s.received[process]) = (0, 0);
        s
    }

    fn of(change: impl FnOnce(&mut Vec<Share>)) -> Result<(), Why> {
        let mut shares: Vec<Share> = (0..3).map(good).collect();
        change(&mut shares);
        Together::of(3, &shares, Some(Closed::the_frontier_is_empty())).map(drop)
    }

    #[test]
    fn every_word_is_needed() {
        assert_eq!(of(|_| {}), Ok(()));
        let internal = |change: fn(&mut Vec<Share>)| matches!(of(change), Err(Why::Internal(_)));
        assert!(internal(|s| s[1].passed = false));
        assert!(internal(|s| s[2].handed_on[0] = 6));
        assert!(internal(|s| s[2].received[1] = 4));
        assert!(internal(|s| drop(s.pop())));
        assert!(internal(|s| s[1].process = 0));
        assert!(internal(|s| s[0].received.clear()));
        assert_eq!(of(|s| s[0].complete = false), Err(Why::Starts));
        assert_eq!(of(|s| s[1].exact = false), Err(Why::Approximate));
        assert_eq!(of(|s| s[1].is_cut = true), Err(Why::Interrupted));
        let shares: Vec<Share> = (0..3).map(good).collect();
        assert!(Together::of(3, &shares, None).is_err());
        assert!(Together::of(0, &[], Some(Closed::the_frontier_is_empty())).is_err());
    }
}
