//! The expansion of the root: initial states arrive as they are found, and what has arrived is explored in between.
//!
//! There may be more initial states than anybody wants to wait for: as many as a choice of numbers has, for each of as
//! many valuations of constants as a function space has. So the kernel's root is expanded in parts
//! (`kanon_refinement::kernel`, *In parts*): after so many arrivals, or after some time, the search runs until no state is
//! open, and then goes on with the next initial states. The root stays in `runex` all the while; its `Expanded` is had,
//! and spent, when the enumeration of starts has come to its end.
//!
//! A search that explores early finds what is nearest to the initial states that it knows. [`Options::shortest`] lets all
//! of them arrive first. So does an audit.

use super::Options;
use super::hooks::{Driven, Fired, Hooks, Visited};
use super::search::{Firsts, Loop, arrive};
use super::store::ROOT;
use crate::lang::diag::Span;
use crate::system::{Starts, System};
use crate::value::fault::Fault;
use kanon_refinement::kernel::{self, Outcome};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How long initial states may arrive, about, before those that have arrived are explored.
const PATIENCE: Duration = Duration::from_secs(1);
/// The clock is looked at after so many.
const TURNS: usize = 64;

/// A search that can be run whenever states are open.
pub(super) trait Engine<'a, 'b, S: System + 'a, V, H> {
    fn parts(&mut self) -> (&mut Loop<'a, S, H>, &mut Driven<'b, V>);

    /// Searches until no state is open. Break: the search is over.
    fn explore(&mut self) -> ControlFlow<()>;

    /// Writes the search down if somebody wants that now: no state is taken. Break: it is to end here.
    fn keep(&mut self) -> ControlFlow<()>
    where
        V: Visited,
    {
        let (main, kernel) = self.parts();
        main.keep(kernel, std::iter::empty())
    }
}

/// Lent to the expansion of the root.
impl<'a, 'b, S: System + 'a, V, H, E: Engine<'a, 'b, S, V, H>> Engine<'a, 'b, S, V, H> for &mut E {
    fn parts(&mut self) -> (&mut Loop<'a, S, H>, &mut Driven<'b, V>) {
        (**self).parts()
    }

    fn explore(&mut self) -> ControlFlow<()> {
        (**self).explore()
    }
}

/// Searches from the root on, to the end.
pub(super) fn run<'a, 'b, S: System + 'a, V: Visited, H: Hooks<V>>(
    mut engine: impl Engine<'a, 'b, S, V, H>,
    token: kernel::Root<'b>,
    options: &Options,
    firsts: Firsts,
) -> ControlFlow<()> {
    let (main, _) = engine.parts();
    main.hooks.expand(ROOT, &[])?;
    let system = main.system;
    // Not the loop's own, which is busy in between.
    let mut worker = system.worker(main.stop);
    // A root that had been expanded yields nothing new, so that nothing has to be explored before its end.
    let has_patience = !options.shortest && !H::WATCHES && !main.before.is_over;
    let patience = has_patience.then_some(options.initial_first.max(1));
    let mut root = Root {
        engine: &mut engine,
        token: Some(token),
        firsts,
        flow: ControlFlow::Continue(()),
        patience,
        arrived: 0,
        since: Instant::now(),
        kinds: std::marker::PhantomData,
    };
    let complete = system.starts(&mut worker, &mut root);
    let Root { token, flow, .. } = root;
    let (main, kernel) = engine.parts();
    main.watch.cut(system.cut(&mut worker));
    main.complete = complete;
    flow?;
    main.place.is_over = true;
    // With the system's word, every start was visited, and every initial state of each has arrived. Without it the root
    // stays where it is.
    if main.complete.is_some()
        && let Some(i) = token
        && let Outcome::Exhausted(i) = kernel.expand_root(i, |_| ControlFlow::Continue(()))
    {
        kernel.remove_root(i);
        main.hooks.event(Fired::Remove { s1: ROOT }, kernel)?;
    }
    engine.explore()
}

struct Root<'a, 'b, S: System, V, H, E> {
    engine: E,
    /// The root's; only a mistake in here could lose it, and without it there is no pass.
    token: Option<kernel::Root<'b>>,
    firsts: Firsts,
    flow: ControlFlow<()>,
    /// After so many arrivals the search runs; never before the end if there is no number.
    patience: Option<usize>,
    /// Since it ran the last time.
    arrived: usize,
    since: Instant,
    kinds: std::marker::PhantomData<(Loop<'a, S, H>, V)>,
}

impl<'a, 'b, S: System + 'a, V: Visited, H: Hooks<V>, E: Engine<'a, 'b, S, V, H>> Root<'a, 'b, S, V, H, E> {
    fn initial(&mut self, worker: &mut S::Worker, start: usize) -> ControlFlow<()> {
        let system = self.engine.parts().0.system;
        let mut any = false;
        let mut targets = HashSet::new();
        let run = system.initial(worker, start, &mut |here, row| {
            any = true;
            let (main, kernel) = self.engine.parts();
            let is_again = main.is_again();
            let Some(token) = self.token.take() else { return ControlFlow::Break(()) };
            let Loop { observers, stop, hooks, watch, .. } = main;
            let mut flow = ControlFlow::Continue(());
            let outcome = kernel.expand_root(token, |x| {
                if is_again {
                    observers.look_again(here);
                }
                let id;
                (id, flow) = arrive(observers, watch, hooks, x, here, row, (ROOT, None));
                // One start's initial states are different rows; under reduction they may be one state.
                if !V::REDUCES || targets.insert(id) {
                    watch.counts.initialisations += 1;
                }
                // Others may come.
                ControlFlow::Break(())
            });
            if let Outcome::Stopped(token) = outcome {
                self.token = Some(token);
            }
            flow?;
            if watch.counts.initialisations.is_multiple_of(256) {
                watch.look_at_memory(kernel.rrac());
            }
            if watch.must_stop(stop, kernel.rrac().store()) {
                return ControlFlow::Break(());
            }
            self.arrived()
        });
        let (main, _) = self.engine.parts();
        let cut = system.cut(worker);
        main.watch.cut(cut);
        match run {
            // Where something was left out, that there is none means nothing.
            Ok(flow) if any || cut.is_some() => flow,
            Ok(_) => main.observers.deadlock(&mut main.watch, None, start),
            Err(fault) => main.watch.fault(fault, None, None, start),
        }
    }

    /// An initial state has arrived: time to explore?
    fn arrived(&mut self) -> ControlFlow<()> {
        let (main, _) = self.engine.parts();
        main.place.arrived += 1;
        let before = main.before;
        if main.place.arrived < before.arrived || before.is_over {
            return self.engine.keep();
        }
        if main.place.arrived == before.arrived {
            // As far as it had come before the search was taken up.
            if before.is_exploring {
                return self.explore();
            }
            self.arrived = before.since;
        } else {
            self.arrived += 1;
        }
        main.place.since = self.arrived;
        self.engine.keep()?;
        let Some(most) = self.patience else { return ControlFlow::Continue(()) };
        let is_late = self.arrived.is_multiple_of(TURNS) && self.since.elapsed() > PATIENCE;
        if self.arrived >= most || is_late { self.explore() } else { ControlFlow::Continue(()) }
    }

    fn explore(&mut self) -> ControlFlow<()> {
        let (main, _) = self.engine.parts();
        (main.is_early, main.place.is_exploring) = (true, true);
        let flow = self.engine.explore();
        let (main, _) = self.engine.parts();
        (main.place.is_exploring, main.place.since) = (false, 0);
        (self.arrived, self.since) = (0, Instant::now());
        flow
    }
}

impl<'a, 'b, S: System + 'a, V: Visited, H: Hooks<V>, E: Engine<'a, 'b, S, V, H>> Starts<S::Worker>
    for Root<'a, 'b, S, V, H, E>
{
    fn start(&mut self, worker: &mut S::Worker, start: usize) -> ControlFlow<()> {
        if self.flow.is_continue() && self.firsts.is_first(start) {
            self.engine.parts().0.watch.counts.constants += 1;
            self.flow = self.initial(worker, start);
        }
        self.flow
    }

    fn fault(&mut self, fault: Box<Fault>) -> ControlFlow<()> {
        if self.flow.is_continue() {
            self.flow = self.engine.parts().0.watch.fault(fault, None, None, usize::MAX);
        }
        self.flow
    }

    fn cut(&mut self, at: Span) {
        self.engine.parts().0.watch.cut(Some(at));
    }
}
