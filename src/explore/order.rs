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
#[derive(Debug)]
pub struct Waiting {
    queue: VecDeque<StateId>,
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
        Waiting { queue: VecDeque::new(), depth_first, draws: Sequence(seed) }
    }

    /// The same with states in it, in the order in which they were put in, and after so many draws as have led to this.
    pub fn again(order: Order, draws: u64, states: Vec<StateId>) -> Waiting {
        Waiting { queue: states.into(), ..Waiting::new(order, draws) }
    }

    /// What the next draw depends on.
    pub fn draws(&self) -> u64 {
        self.draws.0
    }

    /// The states that wait, in the order in which they were put in.
    pub fn iter(&self) -> impl Iterator<Item = StateId> + '_ {
        self.queue.iter().copied()
    }
}

impl Frontier for Waiting {
    type Id = StateId;

    #[inline]
    fn push(&mut self, s: StateId) {
        self.queue.push_back(s);
    }

    #[inline]
    fn pop(&mut self) -> Option<StateId> {
        match self.depth_first {
            0 => self.queue.pop_front(),
            u64::MAX => self.queue.pop_back(),
            bound => {
                if self.draws.draw() < bound {
                    self.queue.pop_back()
                } else {
                    self.queue.pop_front()
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
