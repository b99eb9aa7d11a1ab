//! Chooses the search for a run: the visited set of its strategy, one state after the other or in batches, with one thread
//! or several, with an audit or without.

use super::Options;
use super::batch::{Block, Common, Helper, Leader, MOST};
use super::hooks::{ByKey, Driven, Effort, Hooks, Off, Visited};
use super::inject::Planted;
use super::keep::Keeping;
use super::line;
use super::memory::Limit;
use super::observe::Observers;
use super::order::Order;
use super::plan::{Asked, Plan, Refusal, plan, reducible};
use super::reduced::{Flooded, Keyed, Marked};
use super::root::{self, Engine};
use super::search::{Explored, Firsts, Loop, Progress, Reduction, scope};
use super::store::{Layout, StateId, Store};
use crate::symmetry::orbit::Orbits;
use crate::symmetry::{Action, Reducer, Strategy};
use crate::system::{Stop, System};
use kanon_refinement::kernel::Taken;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Explores all states. `action` is what the options' strategy permutes by; without one nothing is reduced. `stop` ends
/// the search; `progress` is called every few hundred states.
///
/// # Errors
/// Options that do not go together.
pub fn explore<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    options: &Options,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Explored, Refusal> {
    explore_keeping(system, action, options, Keeping::default(), stop, progress)
}

/// The same for a search that is written down now and then, or goes on with one that was.
///
/// # Errors
/// As [`explore`].
pub fn explore_keeping<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    options: &Options,
    keeping: Keeping,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Explored, Refusal> {
    let plan = plan(options, Asked::States, false)?;
    reducible(options, action)?;
    Ok(reduce(system, action, options, Plain { system, options, plan, keeping, stop, progress }))
}

/// A search that waits for its visited set.
pub(super) trait Search {
    fn run<V: Visited>(self, visited: V, firsts: Firsts, action: Option<&Arc<dyn Action>>) -> Explored;

    /// The states that it begins with, if it goes on with another.
    fn store(&mut self) -> Option<Store> {
        None
    }

    /// The same with a visited set that allows for batches.
    fn run_by_key<V: ByKey>(self, visited: V, firsts: Firsts, action: Option<&Arc<dyn Action>>) -> Explored
    where
        Self: Sized,
    {
        self.run(visited, firsts, action)
    }
}

struct Plain<'a, S> {
    system: &'a S,
    options: &'a Options,
    plan: Plan,
    keeping: Keeping,
    stop: &'a Stop,
    progress: &'a mut (dyn FnMut(Progress) + 'a),
}

impl<S: System> Search for Plain<'_, S> {
    fn run<V: Visited>(self, visited: V, firsts: Firsts, _: Option<&Arc<dyn Action>>) -> Explored {
        let Plain { system, options, keeping, stop, progress, .. } = self;
        run(system, options, keeping, stop, progress, Off, visited, firsts).0
    }

    fn store(&mut self) -> Option<Store> {
        let again = self.keeping.again.as_mut()?;
        let none = Store::new(Layout::new(&self.system.widths()));
        Some(std::mem::replace(&mut again.store, none))
    }

    fn run_by_key<V: ByKey>(self, visited: V, firsts: Firsts, _: Option<&Arc<dyn Action>>) -> Explored {
        let Plain { system, options, plan, keeping, stop, progress } = self;
        if options.one_by_one {
            return run(system, options, keeping, stop, progress, Off, visited, firsts).0;
        }
        in_batches(system, (options, plan), keeping, stop, progress, (Off, None), visited, firsts).0
    }
}

/// Runs a search with the visited set of the strategy: chosen once, out here.
pub(super) fn reduce<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    options: &Options,
    mut search: impl Search,
) -> Explored {
    let layout = Layout::new(&system.widths());
    let limit = Limit(options.max_memory);
    let store = search.store().unwrap_or_else(|| Store::new(layout.clone())).within(limit);
    let store = store.spilling(options.spill.as_ref());
    let Some(action) = action.filter(|_| options.symmetry != Strategy::Off) else {
        return search.run_by_key(store, Firsts::All, None);
    };
    let reduction = Reduction { group: action.group().clone(), ..Reduction::default() };
    if action.group().is_trivial() {
        let mut explored = search.run_by_key(store, Firsts::All, None);
        explored.reduction = Some(reduction);
        return explored;
    }
    let orbits = || match Reducer::new(action, Strategy::Canon, false) {
        Some(reducer) if action.start_row(0).is_some() => Firsts::Keys(Box::new(reducer), HashSet::new()),
        _ => Firsts::Orbits(Orbits::new(action), HashSet::new()),
    };
    let mut explored = match options.symmetry {
        Strategy::Flood => {
            let visited =
                Flooded { store, rac: Store::new(layout).within(limit), orbits: Orbits::new(action) };
            search.run(visited, orbits(), Some(action))
        }
        Strategy::Markers => match (action.clone().marking(), action.clone().marking()) {
            (Some(marking), Some(of_starts)) => {
                let visited = Marked { store, index: HashMap::default(), marking };
                search.run(visited, Firsts::Marked(of_starts, HashSet::new()), Some(action))
            }
            _ => search.run_by_key(store, Firsts::All, None),
        },
        strategy => match Reducer::new(action, strategy, options.timed) {
            Some(reducer) => search.run_by_key(Keyed { store, reducer }, orbits(), Some(action)),
            None => search.run_by_key(store, Firsts::All, None),
        },
    };
    // A program without nauty, and a system without markers, do not reduce, and say so.
    let (strategy, effort) = match explored.reduction.take() {
        Some(r) => (options.symmetry, r.effort),
        None => (Strategy::Off, Effort::default()),
    };
    explored.reduction = Some(Reduction { strategy, effort, ..reduction });
    explored
}

/// The search by one thread, one state after the other, with an audit or none.
#[allow(clippy::too_many_arguments)] // What a search is made of.
pub(super) fn run<S: System, V: Visited, H: Hooks<V>>(
    system: &S,
    options: &Options,
    keeping: Keeping,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
    hooks: H,
    visited: V,
    firsts: Firsts,
) -> (Explored, H) {
    let observers = Observers::new::<V>(system, options);
    let mut main = Loop::new(system, &observers, options, stop, progress, hooks);
    let mut again = main.keeping(keeping);
    scope(options, visited, again.as_mut(), |kernel, token| {
        let mut one = OneByOne { main, kernel, held: vec![] };
        // However it ended: what is open, and what was found, says how.
        let _ = root::run(&mut one, token, options, firsts);
        one.main.keep_at_limit(&one.kernel, one.held);
        one.main.finish(one.kernel, |_| {})
    })
}

struct OneByOne<'a, 'b, S: System, V, H> {
    main: Loop<'a, S, H>,
    kernel: Driven<'b, V>,
    /// The state before which the search ended.
    held: Vec<StateId>,
}

impl<'a, 'b, S: System + 'a, V: Visited, H: Hooks<V>> Engine<'a, 'b, S, V, H> for OneByOne<'a, 'b, S, V, H> {
    fn parts(&mut self) -> (&mut Loop<'a, S, H>, &mut Driven<'b, V>) {
        (&mut self.main, &mut self.kernel)
    }

    fn explore(&mut self) -> ControlFlow<()> {
        loop {
            self.keep()?;
            let Some(s1) = self.kernel.take() else { return ControlFlow::Continue(()) };
            self.main.hooks.take(s1.id());
            if self.main.look(&self.kernel, &s1).is_break() {
                self.held.push(s1.id());
                return ControlFlow::Break(());
            }
            self.main.step(&mut self.kernel, s1)?;
        }
    }
}

/// [`run`] in batches, by as many threads as are planned.
#[allow(clippy::too_many_arguments)] // The same, and who prepares states.
pub(super) fn in_batches<S: System, V: ByKey, H: Hooks<V>>(
    system: &S,
    (options, plan): (&Options, Plan),
    keeping: Keeping,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
    (hooks, planted): (H, Option<&Planted>),
    visited: V,
    firsts: Firsts,
) -> (Explored, H) {
    let observers = Observers::new::<V>(system, options);
    let mut main = Loop::new(system, &observers, options, stop, progress, hooks);
    let mut again = main.keeping(keeping);
    let common = Common { system, observers: &observers, stop, planted };
    scope(options, visited, again.as_mut(), |kernel, token| {
        let view = Arc::new(kernel.rrac().store().view());
        let helper =
            |kernel: &Driven<'_, V>| Helper::new(system, stop, kernel.rrac().keys(), kernel.rrac().store());
        let mine = helper(&kernel);
        let others: Vec<Helper<S, V::Keys>> = (1..plan.threads()).map(|_| helper(&kernel)).collect();
        let tokens = VecDeque::new();
        let cost = Duration::ZERO;
        let leader = Leader { common: &common, main, kernel, view, tokens, mine, cost, is_over: false };
        let mut batches = Batches { leader, others, options };
        let _ = root::run(&mut batches, token, options, firsts);
        let Batches { leader: Leader { mut main, kernel, mine, tokens, .. }, others: mut done, .. } = batches;
        main.keep_at_limit(&kernel, tokens.iter().map(Taken::id).collect());
        done.push(mine);
        for helper in &mut done {
            main.cut(system.cut(&mut helper.worker));
            main.cut(system.cut(&mut helper.judge));
        }
        main.finish(kernel, |visited| visited.merge(done.into_iter().map(|h| h.keys)))
    })
}

struct Batches<'a, 'b, S: System, V: ByKey, H> {
    leader: Leader<'a, 'b, S, V, H>,
    others: Vec<Helper<S, V::Keys>>,
    options: &'a Options,
}

impl<'a, 'b, S: System + 'a, V: ByKey, H: Hooks<V>> Engine<'a, 'b, S, V, H> for Batches<'a, 'b, S, V, H> {
    fn parts(&mut self) -> (&mut Loop<'a, S, H>, &mut Driven<'b, V>) {
        (&mut self.leader.main, &mut self.leader.kernel)
    }

    fn explore(&mut self) -> ControlFlow<()> {
        let Batches { leader, others, options } = self;
        if others.is_empty() {
            let most = if options.order == Order::Bfs { MOST } else { 1 };
            let (mut rows, mut block, mut known) = (vec![], Block::default(), vec![]);
            loop {
                let flow = match leader.store().on_disk() {
                    0 => leader.alone(most, &mut rows, &mut block),
                    _ => leader.alone_with_disk(&mut rows, &mut block, &mut known),
                };
                if flow.is_break() {
                    break;
                }
            }
        } else {
            *others = line::run(leader, std::mem::take(others), options.alone_below);
        }
        if leader.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
