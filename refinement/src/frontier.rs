//! Orders of exploration, and the plain sets of ids that the kernel needs beside a store.
//!
//! The chain does not care which member of `runex` is taken next; so order is a type parameter.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::kernel::{Rerr, Runex};

/// The waiting members of `runex`, in some order.
///
/// Contract: what is taken out was put in, and is taken out once. A frontier that loses a state, or ends before it is
/// empty, costs the answer ([`Open`] counts for itself); one that yields a state twice for two that were put in would
/// make it wrong.
pub trait Frontier {
    /// Names a stored state.
    type Id: Copy;
    /// Puts a state in.
    fn push(&mut self, s: Self::Id);
    /// Takes the next one out.
    fn pop(&mut self) -> Option<Self::Id>;
    /// How many wait.
    fn len(&self) -> usize;
    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// `runex` for one thread: a frontier, and the number of states put into it and not yet removed, whatever the frontier
/// says.
#[derive(Clone, Debug, Default)]
pub struct Open<F> {
    waiting: F,
    members: usize,
}

impl<F: Frontier> Open<F> {
    /// `runex` with the waiting states of the frontier.
    pub fn new(waiting: F) -> Self {
        let members = waiting.len();
        Self { waiting, members }
    }

    /// How many states are taken and not yet removed.
    pub fn taken(&self) -> usize {
        self.members.saturating_sub(self.waiting.len())
    }
}

impl<F> Open<F> {
    /// The waiting states.
    pub fn waiting(&self) -> &F {
        &self.waiting
    }
}

impl<F: Frontier> Runex for Open<F> {
    type Id = F::Id;

    #[inline]
    fn insert(&mut self, s: F::Id) {
        // Counted first: a frontier that panics may have taken it.
        self.members += 1;
        self.waiting.push(s);
    }

    #[inline]
    fn take(&mut self) -> Option<F::Id> {
        self.waiting.pop()
    }

    #[inline]
    fn remove(&mut self, _s: F::Id) {
        // Not below zero: more removed than put in is no empty set.
        self.members = self.members.wrapping_sub(1);
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.members == 0
    }
}

/// Breadth first: shortest traces.
#[derive(Clone, Debug)]
pub struct Queue<Id>(VecDeque<Id>);

/// Depth first: a short frontier where the system is deep.
#[derive(Clone, Debug)]
pub struct Stack<Id>(Vec<Id>);

/// Depth first, but every `period`-th state is the oldest: deep, without starving what is near.
#[derive(Clone, Debug)]
pub struct Mixed<Id> {
    waiting: VecDeque<Id>,
    period: u32,
    turn: u32,
}

impl<Id> Queue<Id> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self(VecDeque::new())
    }
}

impl<Id> Stack<Id> {
    /// An empty stack.
    pub const fn new() -> Self {
        Self(Vec::new())
    }
}

impl<Id> Mixed<Id> {
    /// An empty frontier; a period of 0 counts as 1 (a queue).
    pub const fn new(period: u32) -> Self {
        let period = if period == 0 { 1 } else { period };
        Self { waiting: VecDeque::new(), period, turn: 0 }
    }
}

impl<Id> Default for Queue<Id> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Id> Default for Stack<Id> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Id: Copy> Frontier for Queue<Id> {
    type Id = Id;
    #[inline]
    fn push(&mut self, s: Id) {
        self.0.push_back(s);
    }
    #[inline]
    fn pop(&mut self) -> Option<Id> {
        self.0.pop_front()
    }
    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<Id: Copy> Frontier for Stack<Id> {
    type Id = Id;
    #[inline]
    fn push(&mut self, s: Id) {
        self.0.push(s);
    }
    #[inline]
    fn pop(&mut self) -> Option<Id> {
        self.0.pop()
    }
    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<Id: Copy> Frontier for Mixed<Id> {
    type Id = Id;
    #[inline]
    fn push(&mut self, s: Id) {
        self.waiting.push_back(s);
    }
    #[inline]
    fn pop(&mut self) -> Option<Id> {
        self.turn += 1;
        if self.turn >= self.period {
            self.turn = 0;
            self.waiting.pop_front()
        } else {
            self.waiting.pop_back()
        }
    }
    #[inline]
    fn len(&self) -> usize {
        self.waiting.len()
    }
}

/// `rerr` of a run that stops at the first error: keeps that one.
#[derive(Clone, Debug)]
pub struct First<Id>(Option<Id>);

impl<Id> First<Id> {
    /// No error yet.
    pub const fn new() -> Self {
        Self(None)
    }
}

impl<Id: Copy> First<Id> {
    /// The first error.
    pub fn get(&self) -> Option<Id> {
        self.0
    }
}

impl<Id> Default for First<Id> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Id: Copy> Rerr for First<Id> {
    type Id = Id;
    #[inline]
    fn insert(&mut self, s: Id) {
        self.0.get_or_insert(s);
    }
    #[inline]
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// `rerr` that keeps every error, in order of discovery.
#[derive(Clone, Debug)]
pub struct All<Id>(Vec<Id>);

impl<Id> All<Id> {
    /// No error yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }
}

impl<Id: Copy> All<Id> {
    /// The errors.
    pub fn get(&self) -> &[Id] {
        &self.0
    }
}

impl<Id> Default for All<Id> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Id: Copy> Rerr for All<Id> {
    type Id = Id;
    #[inline]
    fn insert(&mut self, s: Id) {
        self.0.push(s);
    }
    #[inline]
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(mut f: impl Frontier<Id = u32>) -> Vec<u32> {
        (1..=6).for_each(|s| f.push(s));
        core::iter::from_fn(|| f.pop()).collect()
    }

    #[test]
    fn orders() {
        assert_eq!(order(Queue::new()), [1, 2, 3, 4, 5, 6]);
        assert_eq!(order(Stack::new()), [6, 5, 4, 3, 2, 1]);
        assert_eq!(order(Mixed::new(3)), [6, 5, 1, 4, 3, 2]);
        assert_eq!(order(Mixed::new(1)), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_taken_state_is_still_open() {
        let mut runex = Open::new(Queue::new());
        runex.insert(4u32);
        assert_eq!(runex.take(), Some(4));
        assert!(!runex.is_empty() && runex.waiting().is_empty());
        assert_eq!(runex.take(), None);
        runex.remove(4);
        assert!(runex.is_empty());
    }

    /// Yields what is put in until it has had enough, and then says that it is empty.
    struct Lazy(Vec<u32>, usize);

    impl Frontier for Lazy {
        type Id = u32;
        fn push(&mut self, s: u32) {
            self.0.push(s);
        }
        fn pop(&mut self) -> Option<u32> {
            self.1 = self.1.checked_sub(1)?;
            self.0.pop()
        }
        fn len(&self) -> usize {
            if self.1 == 0 { 0 } else { self.0.len() }
        }
    }

    #[test]
    fn a_frontier_that_ends_early_leaves_states_open() {
        let mut runex = Open::new(Lazy(Vec::new(), 1));
        runex.insert(4);
        runex.insert(5);
        let s = runex.take().expect("two wait");
        runex.remove(s);
        assert_eq!(runex.take(), None);
        assert!(runex.waiting().is_empty() && !runex.is_empty());
    }
}
