//! The order in which open states are taken: breadth first, depth first, or a mixture of both.

use kanon_refinement::frontier::Frontier;
use std::collections::VecDeque;

use super::store::StateId;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Shortest counterexamples.
    Bfs,
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
    seed: u64,
}

impl Waiting {
    pub fn new(order: Order, seed: u64) -> Waiting {
        let depth_first = match order {
            Order::Bfs => 0,
            Order::Dfs => u64::MAX,
            Order::Mixed(a) => (a.clamp(0.0, 1.0) * u64::MAX as f64) as u64,
        };
        Waiting { queue: VecDeque::new(), depth_first, seed }
    }

    /// The states that wait, in no order that matters.
    pub fn iter(&self) -> impl Iterator<Item = StateId> + '_ {
        self.queue.iter().copied()
    }

    /// The next of a fixed sequence of numbers (splitmix64): a run can be repeated.
    fn draw(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
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
                if self.draw() < bound {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(order: Order, seed: u64) -> Vec<StateId> {
        let mut w = Waiting::new(order, seed);
        (0..64).for_each(|i| w.push(i));
        std::iter::from_fn(|| w.pop()).collect()
    }

    #[test]
    fn orders() {
        assert_eq!(drain(Order::Bfs, 1), (0..64).collect::<Vec<_>>());
        assert_eq!(drain(Order::Dfs, 1), (0..64).rev().collect::<Vec<_>>());
        let mixed = drain(Order::Mixed(0.5), 7);
        assert_eq!(mixed, drain(Order::Mixed(0.5), 7), "a seed repeats a run");
        assert_ne!(mixed, drain(Order::Mixed(0.5), 8));
        let backwards = mixed.windows(2).filter(|w| w[1] < w[0]).count();
        assert!(backwards > 8 && backwards < 56, "both ends are used");
    }
}
