//! The order in which open states are taken: breadth first, depth first, or a mixture of both.

use crate::value::hash::Sequence;
use kanon_refinement::frontier::Frontier;
use std::collections::VecDeque;

use super::store::StateId;

#[cfg(any(test, kani))]
mod tests;

/// Which of the open states is expanded next.
#[warn(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Breadth first: shortest counterexamples.
    Bfs,
    /// Depth first.
    Dfs,
    /// Depth first with this probability (*ProB gets Nauty*, Algorithm 3.7), breadth first otherwise.
    Mixed(f64),
}

/// The waiting states; the order is chosen once, when the search starts.
///
/// They are kept as runs of numbers that follow one another: the first, and how many. States come in the order of their
/// numbers, so breadth first there is one run, however many wait.
#[derive(Debug)]
pub struct Waiting {
    runs: VecDeque<(StateId, u32)>,
    len: usize,
    /// Depth first when a draw is below this; all draws when it is `u64::MAX`.
    depth_first: u64,
    draws: Sequence,
}

impl Waiting {
    pub fn new(order: Order, seed: u64) -> Waiting {
        let depth_first = match order {
            Order::Bfs => 0,
            Order::Dfs => u64::MAX,
            Order::Mixed(a) => (a.clamp(0.0, 1.0) * u64::MAX as f64) as u64,
        };
        Waiting { runs: VecDeque::new(), len: 0, depth_first, draws: Sequence(seed) }
    }

    /// The same with states in it, in the order in which they were put in, and after so many draws as have led to this.
    pub fn again(order: Order, draws: u64, states: Vec<StateId>) -> Waiting {
        let mut waiting = Waiting::new(order, draws);
        states.into_iter().for_each(|s| waiting.push(s));
        waiting
    }

    /// What the next draw depends on.
    pub fn draws(&self) -> u64 {
        self.draws.0
    }

    /// The states that wait, in the order in which they were put in.
    pub fn iter(&self) -> impl Iterator<Item = StateId> + '_ {
        self.runs.iter().flat_map(|(first, n)| (0..*n).map(move |i| first.wrapping_add(i)))
    }

    #[inline]
    fn first(&mut self) -> Option<StateId> {
        let (first, n) = self.runs.front_mut()?;
        let s = *first;
        (*first, *n) = (s.wrapping_add(1), *n - 1);
        if *n == 0 {
            self.runs.pop_front();
        }
        self.len -= 1;
        Some(s)
    }

    #[inline]
    fn last(&mut self) -> Option<StateId> {
        let (first, n) = self.runs.back_mut()?;
        *n -= 1;
        let s = first.wrapping_add(*n);
        if *n == 0 {
            self.runs.pop_back();
        }
        self.len -= 1;
        Some(s)
    }
}

impl Frontier for Waiting {
    type Id = StateId;

    #[inline]
    fn push(&mut self, s: StateId) {
        self.len += 1;
        match self.runs.back_mut() {
            Some((first, n)) if first.wrapping_add(*n) == s && *n < u32::MAX => *n += 1,
            _ => self.runs.push_back((s, 1)),
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<StateId> {
        match self.depth_first {
            0 => self.first(),
            u64::MAX => self.last(),
            bound => {
                if self.draws.draw() < bound {
                    self.last()
                } else {
                    self.first()
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.len
    }
}
