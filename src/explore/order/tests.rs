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
