//! Whatever the order, each state that waits is taken once, and nothing else is.

use super::*;
use crate::harness::{Choose, claim};

/// Three states, pushed and taken as the choices say.
fn frontiers(c: &mut impl Choose) -> bool {
    let order = match c.below(3) {
        0 => Order::Bfs,
        1 => Order::Dfs,
        _ => Order::Mixed(0.5),
    };
    let mut waiting = Waiting::new(order, c.below(1 << 32));
    // Whether each of them waits.
    let mut waits = [false; 3];
    let mut taken_between = false;
    for s in 0..3 {
        waiting.push(s);
        waits[s as usize] = true;
        if c.below(2) == 1 {
            let Some(taken) = waiting.pop() else { panic!("something waits") };
            assert!(std::mem::replace(&mut waits[taken as usize], false), "it waits no longer");
            taken_between = true;
        }
    }
    let left = waits.into_iter().filter(|w| *w).count();
    assert_eq!(waiting.len(), left);
    for _ in 0..left {
        let Some(taken) = waiting.pop() else { panic!("something waits") };
        assert!(std::mem::replace(&mut waits[taken as usize], false), "it waits no longer");
    }
    assert_eq!((waiting.pop(), waiting.len()), (None, 0));
    taken_between && left > 1
}

mod claims {
    use super::claim;
    // Three states.
    claim!(frontiers, 5);
}

#[cfg(test)]
mod examples {
    use super::super::*;

    fn drain(order: Order, seed: u64) -> Vec<StateId> {
        let mut w = Waiting::new(order, seed);
        (0..64).for_each(|i| w.push(i));
        std::iter::from_fn(|| w.pop()).collect()
    }

    /// Runs are a queue with two ends, whatever numbers come.
    #[test]
    fn runs_are_a_queue() {
        use proptest::prelude::*;
        let steps = prop::collection::vec((0u32..6, 0u8..5), 0..200);
        // Each once, as in a search.
        let before = Just((0..9).collect::<Vec<u32>>()).prop_shuffle();
        let all = (steps, before, 0usize..3);
        proptest!(|((steps, before, order) in all)| {
            let order = [Order::Bfs, Order::Dfs, Order::Mixed(0.5)][order];
            let mut queue: VecDeque<StateId> = before.iter().copied().collect();
            let (mut waiting, mut next) = (Waiting::again(order, 3, before), 9);
            for (jump, step) in steps {
                if step < 3 {
                    // Mostly the next number.
                    next += 1 + jump / 5;
                    waiting.push(next);
                    queue.push_back(next);
                } else {
                    let front = queue.front().copied();
                    let popped = waiting.pop();
                    match order {
                        Order::Bfs => prop_assert_eq!(popped, queue.pop_front()),
                        Order::Dfs => prop_assert_eq!(popped, queue.pop_back()),
                        _ if popped == front => drop(queue.pop_front()),
                        _ => prop_assert_eq!(popped, queue.pop_back()),
                    }
                }
                prop_assert_eq!(waiting.len(), queue.len());
                prop_assert!(waiting.iter().eq(queue.iter().copied()));
            }
        });
        let mut ends = Waiting::again(Order::Bfs, 0, vec![StateId::MAX - 1, StateId::MAX, 0]);
        assert_eq!(
            std::iter::from_fn(|| ends.pop()).collect::<Vec<_>>(),
            [StateId::MAX - 1, StateId::MAX, 0]
        );
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
