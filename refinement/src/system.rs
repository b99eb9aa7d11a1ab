//! The trait-level checker: a system of the reader's own, checked by the kernel in a few lines.
//!
//! ```
//! use kanon_refinement::system::{System, Verdict, check, check_by};
//!
//! /// Two clients share a lock; client 2 forgets to ask.
//! struct Lock;
//! impl System for Lock {
//!     type State = [bool; 2]; // who is inside
//!     type Op = &'static str;
//!     fn initial(&self) -> impl IntoIterator<Item = (&'static str, [bool; 2])> { [("init", [false; 2])] }
//!     fn successors(&self, s: &[bool; 2]) -> impl IntoIterator<Item = (&'static str, [bool; 2])> {
//!         let enter1 = (*s == [false, false]).then_some(("enter1", [true, false]));
//!         let enter2 = (!s[1]).then_some(("enter2", [s[0], true]));
//!         enter1.into_iter().chain(enter2)
//!     }
//!     fn invariant(&self, s: &[bool; 2]) -> bool { !(s[0] && s[1]) }
//! }
//!
//! let Verdict::Fails { trace, .. } = check(&Lock) else { panic!("both may be inside") };
//! let ops: Vec<_> = trace.iter().map(|step| step.0).collect();
//! assert_eq!(ops, ["init", "enter1", "enter2"]);
//!
//! // A reduction is a function that picks one state of each orbit.
//! struct Coins(usize); // n equal coins, thrown one at a time
//! impl System for Coins {
//!     type State = Vec<Option<bool>>;
//!     type Op = (usize, bool);
//!     fn initial(&self) -> impl IntoIterator<Item = (Self::Op, Self::State)> { [((0, true), vec![None; self.0])] }
//!     fn successors(&self, s: &Self::State) -> impl IntoIterator<Item = (Self::Op, Self::State)> {
//!         let throw = |(n, up): (usize, bool)| { let mut t = s.clone(); t[n] = Some(up); ((n, up), t) };
//!         (0..s.len()).filter(|&n| s[n].is_none()).flat_map(|n| [(n, true), (n, false)]).map(throw).collect::<Vec<_>>()
//!     }
//!     fn invariant(&self, _: &Self::State) -> bool { true }
//! }
//! let sorted = |s: &Vec<Option<bool>>| { let mut t = s.clone(); t.sort(); t };
//! assert_eq!(check(&Coins(4)), Verdict::Holds { states: 81 });
//! assert_eq!(check_by(&Coins(4), sorted), Verdict::Holds { states: 15 });
//! ```

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::frontier::{First, Frontier, Open, Queue};
use crate::kernel::{Insertion, Kernel, Outcome, Pass, Rrac, Visit};

/// A labelled transition system with an invariant: the constants of `mc0`, as functions.
pub trait System {
    /// A state; equal states are the same state.
    type State: Clone + Ord;
    /// What a step is called.
    type Op: Clone;
    /// `tr[{i}]`, each with the label of the step from `i`.
    fn initial(&self) -> impl IntoIterator<Item = (Self::Op, Self::State)>;
    /// `tr[{s}]` with labels.
    fn successors(&self, s: &Self::State) -> impl IntoIterator<Item = (Self::Op, Self::State)>;
    /// `s ∈ inv`.
    fn invariant(&self, s: &Self::State) -> bool;
}

/// The answer about a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<Op, State> {
    /// Every reachable state satisfies the invariant.
    Holds {
        /// States stored, one per orbit under a reduction.
        states: usize,
    },
    /// The last state of the trace does not.
    Fails {
        /// States stored.
        states: usize,
        /// A path of the system from its initialisation to the violation.
        trace: Vec<(Op, State)>,
    },
    /// No violation was found, and not everything was looked at: the frontier of [`check_in`] ended early.
    Incomplete {
        /// States stored.
        states: usize,
    },
}

impl<Op, State> Verdict<Op, State> {
    /// Whether the invariant holds.
    pub fn holds(&self) -> bool {
        matches!(self, Verdict::Holds { .. })
    }
}

/// Why a state is in the store: the stored state it was reached from, and the label.
#[derive(Clone, Debug)]
struct Link<Op> {
    from: Option<usize>,
    op: Op,
}

/// A store for small systems: keys in a map, concrete states in an arena.
#[derive(Debug)]
struct Arena<S, Op> {
    ids: BTreeMap<S, usize>,
    rows: Vec<(S, Link<Op>)>,
}

struct Key<S, Op> {
    canonical: S,
    concrete: S,
    link: Link<Op>,
}

impl<S: Ord, Op> Rrac<Key<S, Op>> for Arena<S, Op> {
    type Id = usize;
    fn insert_if_absent(&mut self, key: Key<S, Op>) -> Insertion<usize> {
        match self.ids.entry(key.canonical) {
            Entry::Occupied(e) => Insertion::Present(*e.get()),
            Entry::Vacant(e) => {
                let id = self.rows.len();
                e.insert(id);
                // Not the canonical state: it may lie on no path, and then no trace reaches it.
                self.rows.push((key.concrete, key.link));
                Insertion::Inserted(id)
            }
        }
    }
}

impl<S: Clone, Op: Clone> Arena<S, Op> {
    fn trace(&self, end: usize) -> Vec<(Op, S)> {
        let mut trace = Vec::new();
        let mut at = Some(end);
        while let Some(id) = at {
            let (state, link) = &self.rows[id];
            trace.push((link.op.clone(), state.clone()));
            at = link.from;
        }
        trace.reverse();
        trace
    }
}

/// Checks the invariant on every reachable state, breadth first.
pub fn check<T: System>(system: &T) -> Verdict<T::Op, T::State> {
    check_by(system, T::State::clone)
}

/// Checks the invariant on one state per orbit, breadth first. `rep(s)` must lie in the orbit of `s`; if it is
/// not the same for the whole orbit, more states are stored and the answer is still right
/// ([`crate::lab`]).
pub fn check_by<T: System>(system: &T, rep: impl Fn(&T::State) -> T::State) -> Verdict<T::Op, T::State> {
    check_in(system, rep, Queue::new())
}

/// [`check_by`] in an order of the caller's choice. `Holds` is the kernel's `Pass` and nothing else.
pub fn check_in<T: System>(
    system: &T,
    rep: impl Fn(&T::State) -> T::State,
    order: impl Frontier<Id = usize>,
) -> Verdict<T::Op, T::State> {
    let arena = Arena { ids: BTreeMap::new(), rows: Vec::new() };
    let key = |from, op, s: T::State| Key { canonical: rep(&s), concrete: s, link: Link { from, op } };
    let inv = |arena: &Arena<T::State, T::Op>, id: usize| system.invariant(&arena.rows[id].0);

    Kernel::scope(arena, Open::new(order), First::new(), |mut kernel, root| {
        let outcome = kernel.expand_root(root, |x| {
            for (op, s) in system.initial() {
                if let Visit::Err(_) = x.visit(key(None, op, s), inv) {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        let mut going = match outcome {
            Outcome::Exhausted(i) => {
                kernel.remove_root(i);
                true
            }
            Outcome::Stopped(_) => false,
        };
        while going && let Some(s1) = kernel.take() {
            let here = kernel.rrac().rows[s1.id()].0.clone();
            match kernel.expand(s1, |from, x| {
                for (op, s) in system.successors(&here) {
                    if let Visit::Err(_) = x.visit(key(Some(from), op, s), inv) {
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            }) {
                Outcome::Exhausted(s1) => kernel.remove(s1),
                Outcome::Stopped(_) => going = false,
            }
        }
        let states = kernel.rrac().rows.len();
        match (kernel.rerr().get(), kernel.pass()) {
            (Some(end), _) => Verdict::Fails { states, trace: kernel.rrac().trace(end) },
            (None, Some(Pass { .. })) => Verdict::Holds { states },
            (None, None) => Verdict::Incomplete { states },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::{Mixed, Stack};

    /// Counts up to a bound, by one or by two.
    struct Count {
        bound: u32,
        bad: u32,
    }

    impl System for Count {
        type State = u32;
        type Op = u32;
        fn initial(&self) -> impl IntoIterator<Item = (u32, u32)> {
            [(0, 0)]
        }
        fn successors(&self, s: &u32) -> impl IntoIterator<Item = (u32, u32)> {
            let s = *s;
            [1, 2].into_iter().map(move |d| (d, s + d)).filter(|&(_, t)| t <= self.bound)
        }
        fn invariant(&self, s: &u32) -> bool {
            *s != self.bad
        }
    }

    #[test]
    fn every_order_gives_the_same_answer() {
        let ok = Count { bound: 9, bad: 10 };
        assert_eq!(check(&ok), Verdict::Holds { states: 10 });
        assert_eq!(check_in(&ok, u32::clone, Stack::new()), Verdict::Holds { states: 10 });
        let bad = Count { bound: 9, bad: 7 };
        for verdict in
            [check(&bad), check_in(&bad, u32::clone, Stack::new()), check_in(&bad, u32::clone, Mixed::new(2))]
        {
            let Verdict::Fails { trace, .. } = verdict else { panic!("7 is reachable") };
            assert!(trace.windows(2).all(|w| w[0].1 != 7 && w[0].1 + w[1].0 == w[1].1));
            assert_eq!(trace.last().map(|step| step.1), Some(7));
        }
    }

    /// A queue that ends after so many states.
    struct Short(Queue<usize>, usize);

    impl Frontier for Short {
        type Id = usize;
        fn push(&mut self, s: usize) {
            self.0.push(s);
        }
        fn pop(&mut self) -> Option<usize> {
            self.1 = self.1.checked_sub(1)?;
            self.0.pop()
        }
        fn len(&self) -> usize {
            0 // not even this is believed
        }
    }

    #[test]
    fn an_order_that_ends_early_is_no_answer() {
        let bad = Count { bound: 9, bad: 7 };
        let early = check_in(&bad, u32::clone, Short(Queue::new(), 2));
        assert_eq!(early, Verdict::Incomplete { states: 4 });
        assert!(!early.holds());
        assert!(check_in(&Count { bound: 9, bad: 10 }, u32::clone, Short(Queue::new(), 10)).holds());
    }

    #[test]
    fn breadth_first_traces_are_shortest() {
        let Verdict::Fails { trace, .. } = check(&Count { bound: 9, bad: 6 }) else {
            panic!("6 is reachable")
        };
        assert_eq!(trace.iter().map(|step| step.1).collect::<Vec<_>>(), [0, 2, 4, 6]);
    }

    #[test]
    fn an_initial_state_can_be_the_error() {
        let verdict = check(&Count { bound: 3, bad: 0 });
        assert_eq!(verdict, Verdict::Fails { states: 1, trace: alloc::vec![(0, 0)] });
        assert!(!verdict.holds());
    }
}
