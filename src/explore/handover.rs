//! Where a running search is handed over to be written down ([`super::keep`]).

use super::hooks::{Driven, Visited};
use super::keep::{Course, Kept};
use super::order::Order;
use super::search::Loop;
use super::store::StateId;
use crate::system::System;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

impl<S: System, H> Loop<'_, S, H> {
    /// Whether the root has not come as far again as it had come before.
    pub(super) fn is_again(&self) -> bool {
        let before = &self.before;
        self.place.arrived < before.arrived || before.is_over && !self.place.is_over
    }

    /// Writes the search down if somebody wants that now. Break: it is to end here. `taken` has been taken, in this order.
    #[inline]
    pub(super) fn keep<V: Visited>(
        &mut self,
        kernel: &Driven<'_, V>,
        taken: impl Iterator<Item = StateId>,
    ) -> ControlFlow<()> {
        match &self.keeper {
            Some(keeper) if keeper.is_due() => self.keep_now(kernel, taken.collect()),
            _ => ControlFlow::Continue(()),
        }
    }

    #[cold]
    pub(super) fn keep_now<V: Visited>(
        &mut self,
        kernel: &Driven<'_, V>,
        taken: Vec<StateId>,
    ) -> ControlFlow<()> {
        // An evaluation that was stopped may have left something out: what is in the file by now is better.
        // And a search that has found what ends it has nothing to go on with.
        let is_whole = !self.stop.load(Ordering::Relaxed)
            && kernel.unclassified() == 0
            && kernel.rerr().get().is_empty()
            && (self.watch.finding.is_none() || self.watch.options.all);
        let Some(keeper) = self.keeper.as_deref().filter(|_| is_whole) else {
            return ControlFlow::Continue(());
        };
        let is_last = keeper.is_last();
        // What the root would be found at is less than what was taken up, and that is still in its file.
        if !self.is_again() {
            self.watch.cut(self.system.cut(&mut self.worker));
            let (layout, states) = kernel.rrac().store().freeze();
            let waiting = kernel.runex().waiting();
            // Breadth first they come from the front, depth first from the back.
            let is_bfs = self.watch.options.order == Order::Bfs;
            let (first, second) = if is_bfs { (taken, vec![]) } else { (vec![], taken) };
            let open = first.into_iter().chain(waiting.iter()).chain(second).collect();
            let course = Course {
                found: self.watch.so_far(),
                place: self.place,
                is_early: self.is_early,
                draws: waiting.draws(),
            };
            if let Some(keeper) = self.keeper.as_deref_mut() {
                keeper.keep(Kept { layout, states, open, course });
            }
        }
        if is_last {
            self.watch.interrupt();
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Writes down a search that has come to a limit, where it could go on with another.
    pub(super) fn keep_at_limit<V: Visited>(&mut self, kernel: &Driven<'_, V>, taken: Vec<StateId>) {
        if self.watch.is_at_limit() {
            let _ = self.keep_now(kernel, taken);
        }
    }
}
