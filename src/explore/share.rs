//! One share of a search that several processes make together ([`crate::distribute`]): the states whose keys belong to
//! this process, in a kernel of its own.
//!
//! A successor that belongs to another process is handed on ([`Others::hand_on`]), and its state's expansion is stopped
//! there (`kanon_refinement::kernel`, *In shares*): the token is held, so that the state stays in `runex`, until somebody
//! knows that whatever was handed on at that depth has arrived ([`Part::settle`]). What comes from others arrives by
//! [`Part::arrive`]. So the events are wmc's on the unions of all shares, and the observers are those of every other
//! search ([`super::observe`]).
//!
//! States wait in the order of their depth. A finding ends nothing here: whoever drives the share decides before the next
//! depth, so that what was explored does not depend on who found something first.
//!
//! Absent on purpose: processes, bytes, time. Batches and threads, too: the other processes are the threads.

use super::drive::{Search, reduce};
use super::hooks::{ByKey, Driven, Keys, Off, Runex, Visited};
use super::keep::{Course, Homes, Kept, KeptShare, Place, ShareAgain};
use super::observe::Observers;
use super::others::{Mine, Others, Process, Recent, Successors};
use super::plan::{Asked, Refusal, plan, reducible};
use super::search::{Explored, Firsts, scope, waiting};
use super::store::{Changed, Layout, Looked, Packed, ROOT, Row, StateId, Store};
use super::watch::{Counts, SoFar, Watch};
use super::{Finding, FindingKind, Options};
use crate::lang::diag::Span;
use crate::symmetry::Action;
use crate::system::{Starts, Stop, System};
use crate::value::fault::Fault;
use crate::verdict::{Complete, Ended, Exact, Verdict, Why};
use kanon_refinement::kernel::{self, Arrival, Expansion, Outcome, Pass, Taken};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What was found first: the least in an order that all processes know.
#[derive(Clone, Debug)]
pub struct Nearest {
    /// Steps from an initial state.
    pub depth: u64,
    /// The state's key as [`Others::portable`] has it.
    pub key: Vec<u8>,
    /// What, and in which state of this share.
    pub finding: Finding,
}

impl Nearest {
    /// Of two findings in one state, one is told.
    pub fn rank(kind: &FindingKind) -> usize {
        match kind {
            FindingKind::Invariant(place) => *place,
            FindingKind::Assertion(place) => 1 << 20 | *place,
            FindingKind::Goal => 2 << 20,
            FindingKind::WellDefinedness { operation, .. } => 3 << 20 | operation.map_or(0, |o| o + 1),
            FindingKind::Deadlock => 4 << 20,
        }
    }

    /// Whether it is told before another.
    pub fn is_before(&self, other: &Nearest) -> bool {
        let order = |n: &Nearest| (n.depth, Nearest::rank(&n.finding.kind));
        (order(self), &self.key) < (order(other), &other.key)
    }
}

/// What a share can say when its process has come to the end.
pub struct Evidence {
    /// Its kernel's answer: no state of this share is open, the root included, and none is an error state.
    pub pass: Option<Pass>,
    /// The system's word that this process has visited every start.
    pub complete: Option<Complete>,
    /// The visited set's.
    pub exact: Option<Exact>,
    /// Counts, findings, limits.
    pub found: SoFar,
    /// What was stored and expanded here.
    pub counts: Counts,
    /// Why it ended early, if it did.
    pub why: Option<Why>,
}

/// An event, for whoever writes them down: states by process and number, [`ROOT`] for `i`.
#[derive(Clone, Copy, Debug)]
pub enum Event<'r> {
    /// A state was stored, with this key, as a successor of another; as an error state or not.
    Stored { from: (Process, StateId), state: (Process, StateId), key: &'r [u64], is_error: bool },
    /// A state was removed.
    Removed { state: (Process, StateId) },
}

/// Hears of every event, at its time.
pub type Log = Arc<dyn Fn(Event) + Send + Sync>;

/// A share of a search, whatever its visited set is.
pub trait Part {
    /// Finds all initial states, and stores those that belong here.
    fn initial(&mut self, others: &mut dyn Others);
    /// The least depth at which states wait.
    fn depth(&self) -> Option<u64>;
    /// Whether states of a depth wait.
    fn waits_at(&self, depth: u64) -> bool;
    /// Expands states of the least depth, at most so many. Break: the search is to end.
    fn expand(&mut self, most: usize, others: &mut dyn Others) -> ControlFlow<()>;
    /// A state that another process has found arrives. Break: there is something wrong with it.
    fn arrive(
        &mut self,
        from: Process,
        depth: u64,
        key: &[u64],
        parent: StateId,
        operation: usize,
        others: &mut dyn Others,
    ) -> ControlFlow<()>;
    /// A key will arrive soon; another one sooner.
    fn prefetch(&self, soon: Option<&[u64]>, sooner: Option<&[u64]>);
    /// Whatever was handed on by states before this depth has arrived: they are removed.
    fn settle(&mut self, before: u64);
    /// Whether this process has to end the search.
    fn must_stop(&mut self) -> bool;
    /// Somebody else has.
    fn interrupt(&mut self);
    /// Whether a search that ends now could be taken up where it is: nothing was cut short, and there is memory left.
    fn may_go_on(&self) -> bool;
    /// What was found first.
    fn nearest(&self) -> Option<&Nearest>;
    /// States, and transitions.
    fn progress(&self) -> (usize, u64);
    /// The share's word at the end. What was found at this depth or deeper is not counted: who finds it there depends on
    /// which way was taken.
    fn evidence(&mut self, but: Option<u64>) -> Evidence;
    /// The key of a state, and its parent.
    fn link(&self, state: StateId) -> Option<(Row, Option<(Process, StateId)>)>;
    /// An empty store for keys.
    fn no_states(&self) -> Store;
    /// How keys are packed.
    fn layout(&self) -> Arc<Layout>;
    /// The answer of all, made of what all have found.
    fn conclude(&self, all: All, ended: Option<Ended>, complete: Option<Complete>, path: Store) -> Explored;
    /// The share as it is, to be written down: none if it has found what ends the search, or something is half done. With a
    /// depth: nothing of that depth has been expanded, and what is before it has arrived.
    fn keep(&mut self, depth: Option<u64>) -> Option<KeptShare>;
    /// Somebody wants to hear of every event.
    fn log_to(&mut self, log: Log);
}

/// What all shares have found.
pub struct All {
    /// Counts, limits; the finding is one of the path's store.
    pub found: SoFar,
    /// Everything that was counted.
    pub counts: Counts,
    /// Why the search ended early.
    pub why: Option<Why>,
}

/// Makes a share of a search, which somebody drives. `parts`: how many there are; `again`: what is taken up.
///
/// # Errors
/// Options that do not go together.
pub fn share<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    options: &Options,
    (parts, me): (usize, Process),
    stop: &Stop,
    again: Option<ShareAgain>,
    drive: impl FnOnce(&mut dyn Part) -> Explored,
) -> Result<Explored, Refusal> {
    plan(&Options { processes: true, ..options.clone() }, Asked::States, false)?;
    reducible(options, action)?;
    // As many states in all as is wanted: keys are spread evenly.
    let max_states = options.max_states.map(|n| n.div_ceil(parts.max(1)));
    let options = &Options { max_states, ..options.clone() };
    Ok(reduce(system, action, options, Shared { system, options, me, stop, again, drive }))
}

struct Shared<'a, S, D> {
    system: &'a S,
    options: &'a Options,
    me: Process,
    stop: &'a Stop,
    again: Option<ShareAgain>,
    drive: D,
}

impl<S: System, D: FnOnce(&mut dyn Part) -> Explored> Search for Shared<'_, S, D> {
    fn run<V: Visited>(self, visited: V, _: Firsts, _: Option<&Arc<dyn Action>>) -> Explored {
        // `plan` has refused the strategies that come here.
        let why = "a strategy without keys was to be shared".to_string();
        let (store, _) = visited.finish();
        Explored {
            verdict: Verdict::Unknown(Why::Internal(why)),
            counts: Counts::default(),
            finding: None,
            store,
            reduction: None,
            is_complete: false,
            is_early: false,
        }
    }

    fn store(&mut self) -> Option<Store> {
        let again = &mut self.again.as_mut()?.again;
        let none = Store::new(Layout::new(&self.system.widths()));
        Some(std::mem::replace(&mut again.store, none))
    }

    fn run_by_key<V: ByKey>(self, visited: V, firsts: Firsts, _: Option<&Arc<dyn Action>>) -> Explored {
        let Shared { system, options, me, stop, mut again, drive } = self;
        let observers = Observers::new::<V>(system, options);
        // A finding does not end the share: see above.
        let mut watch = Watch::new(system, &Options { all: true, ..options.clone() });
        let (mut levels, mut depths, mut homes) = (VecDeque::new(), vec![], Homes::default());
        let (mut before, mut told) = (None, Told::default());
        if let Some(share) = &mut again {
            // Whoever has read it has seen that states wait in the order of their depths.
            levels = share.levels().unwrap_or_default();
            watch.go_on(share.again.course.found.clone());
            told.so_far = Told::of(&watch.counts);
            before = watch.finding.take().map(|f| (f.state.and_then(|s| share.depth(s)), f));
            (depths, homes) = (std::mem::take(&mut share.depths), std::mem::take(&mut share.homes));
        }
        scope(options, visited, again.as_mut().map(|share| &mut share.again), |kernel, root| {
            let store = kernel.rrac().store();
            let recent = Recent::new(store.key_words());
            let operations = 0..system.operations().len();
            let changed = operations.map(|o| store.changed(system.writes(o).as_deref())).collect();
            let keys = kernel.rrac().keys();
            let mut share = Share::<S, V> {
                system,
                observers: &observers,
                options,
                stop,
                worker: system.worker(stop),
                judge: system.worker(stop),
                watch,
                kernel,
                keys,
                root: Some(root),
                firsts: Some(firsts),
                complete: None,
                me,
                homes,
                depths,
                levels,
                held: VecDeque::new(),
                given_up: vec![],
                recent,
                changed,
                mine: Mine::default(),
                block: vec![],
                nearest: None,
                before,
                told,
                log: None,
                row: vec![],
                next: vec![],
                packed: vec![],
                turn: 0,
            };
            let mut explored = drive(&mut share);
            let Share { kernel, keys, .. } = share;
            let (mut visited, _, _) = kernel.into_parts();
            visited.merge(std::iter::once(keys));
            let (_, effort) = visited.finish();
            if V::REDUCES {
                explored.reduction = Some(super::Reduction { effort, ..super::Reduction::default() });
            }
            explored
        })
    }
}

struct Share<'a, 'b, S: System, V: ByKey> {
    system: &'a S,
    observers: &'a Observers<'a, S>,
    options: &'a Options,
    stop: &'a Stop,
    worker: S::Worker,
    judge: S::Worker,
    watch: Watch,
    kernel: Driven<'b, V>,
    keys: V::Keys,
    root: Option<kernel::Root<'b>>,
    firsts: Option<Firsts>,
    complete: Option<Complete>,
    me: Process,
    /// By state: which process its parent belongs to.
    homes: Homes,
    /// How many states there are at each depth.
    depths: Vec<u32>,
    /// How many states wait at each depth, in its order.
    levels: VecDeque<(u64, usize)>,
    /// By depth: states all of whose successors were yielded, and some handed on.
    held: VecDeque<(u64, Vec<Taken<'b, StateId>>)>,
    /// States whose expansion the search has ended: they stay open.
    given_up: Vec<Taken<'b, StateId>>,
    recent: Recent,
    /// By operation: what it changes.
    changed: Vec<Changed>,
    mine: Mine,
    block: Vec<Prepared<'b>>,
    nearest: Option<Nearest>,
    /// What had been found before the search was taken up, and how deep.
    before: Option<(Option<u64>, Finding)>,
    told: Told,
    log: Option<Log>,
    row: Vec<u64>,
    next: Vec<u64>,
    packed: Vec<u64>,
    turn: u32,
}

/// What was found, counted by depth: violations, failed assertions, goals, terms without a value.
#[derive(Default)]
struct Told {
    by_depth: BTreeMap<u64, [u64; 4]>,
    so_far: [u64; 4],
}

impl Told {
    fn of(counts: &Counts) -> [u64; 4] {
        [counts.violations, counts.assertion_failures, counts.goals, counts.wd_errors]
    }

    /// Something was found at this depth.
    fn count(&mut self, counts: &Counts, depth: u64) {
        let now = Told::of(counts);
        let here = self.by_depth.entry(depth).or_default();
        for (here, (now, before)) in here.iter_mut().zip(now.iter().zip(&self.so_far)) {
            *here += now - before;
        }
        self.so_far = now;
    }
}

/// What is told of a new state.
struct Entering<'e> {
    homes: &'e mut Homes,
    depths: &'e mut Vec<u32>,
    levels: &'e mut VecDeque<(u64, usize)>,
    nearest: &'e mut Option<Nearest>,
    told: &'e mut Told,
    log: Option<&'e Log>,
    me: Process,
}

impl Entering<'_> {
    /// A state has been stored, at a depth, for the first time; `open` says whether it waits.
    fn entered(&mut self, from: (Process, StateId), id: StateId, depth: u64, is_open: bool, key: &[u64]) {
        self.homes.push(from.0);
        let at = usize::try_from(depth).unwrap_or(usize::MAX);
        // Others may have had states at a depth at which there was none here.
        if at >= self.depths.len() && at <= u32::MAX as usize {
            self.depths.resize(at + 1, 0);
        }
        if let Some(n) = self.depths.get_mut(at) {
            *n += 1;
        }
        if is_open {
            match self.levels.back_mut() {
                Some((last, n)) if *last == depth => *n += 1,
                _ => self.levels.push_back((depth, 1)),
            }
        }
        if let Some(log) = self.log {
            log(Event::Stored { from, state: (self.me, id), key, is_error: !is_open });
        }
    }

    /// What the watch has found by now, in a state of this depth.
    fn harvest(&mut self, watch: &mut Watch, depth: u64, others: &mut dyn Others, key: &[u64]) {
        let Some(finding) = watch.finding.take() else { return };
        self.told.count(&watch.counts, depth);
        let key = if finding.state.is_some() { others.portable(key) } else { vec![] };
        let found = Nearest { depth, key, finding };
        if self.nearest.as_ref().is_none_or(|n| found.is_before(n)) {
            *self.nearest = Some(found);
        }
    }
}

impl<'b, S: System, V: ByKey> Share<'_, 'b, S, V> {
    /// Looks at the clock and at the memory now and then.
    fn look(&mut self) -> bool {
        self.turn = self.turn.wrapping_add(1);
        if self.turn.is_multiple_of(256) {
            self.watch.look_at_memory(self.kernel.rrac());
        }
        self.watch.must_stop(self.stop, self.kernel.rrac().store())
    }

    /// Looks at the successors of a state that was taken: those that belong to others are handed on, and those that
    /// belong here are put down.
    fn prepare(&mut self, s1: Taken<'b, StateId>, depth: u64, others: &mut dyn Others) {
        let Share { system, observers, worker, watch, kernel, keys, me, row, packed, .. } = self;
        let Share { recent, changed, mine, block, .. } = self;
        let Share { homes, depths, levels, nearest, told, log, .. } = self;
        let mut entering = Entering { homes, depths, levels, nearest, told, log: log.as_ref(), me: *me };
        let id = s1.id();
        let store = kernel.rrac().store();
        let key = store.key(id);
        store.unpack(&key, row);
        let (before, faults) = (watch.counts.transitions, watch.faults);
        watch.labels.clear();
        let mut visit = Successors::<S, V> {
            system: *system,
            store,
            watch,
            keys,
            packed,
            recent,
            changed,
            source: &key,
            mine,
            others,
            id,
            me: *me,
            handed_on: 0,
        };
        // Nobody breaks it: a finding ends no share.
        let flow = system.successors(worker, row, &mut visit);
        let has_handed_on = visit.handed_on > 0;
        if flow.is_continue()
            && watch.counts.transitions == before
            && watch.faults == faults
            && !system.is_over(row)
        {
            let _ = observers.deadlock(watch, Some(id), 0);
        }
        // What was found in this state is told of it, and not of those that it leads to.
        entering.harvest(watch, depth, others, &key);
        block.push(Prepared { s1, mine: mine.operations.len(), has_handed_on, is_whole: flow.is_continue() });
    }

    /// The events of the states that were prepared, in their order.
    fn fire(&mut self, depth: u64, others: &mut dyn Others) {
        let Share { system, observers, judge, watch, kernel, me, next, mine, block, .. } = self;
        let Share { homes, depths, levels, held, given_up, nearest, told, log, .. } = self;
        let mut entering = Entering { homes, depths, levels, nearest, told, log: log.as_ref(), me: *me };
        (0..NEAR).filter_map(|i| mine.get(i)).for_each(|(key, _)| kernel.rrac().store().approach(key));
        let mut at = 0;
        for Prepared { s1, mine: end, has_handed_on, is_whole } in block.drain(..) {
            let id = s1.id();
            let outcome = kernel.expand(s1, |id, x| {
                while at < end {
                    if let Some((soon, _)) = mine.get(at + NEAR) {
                        x.rrac().store().approach(soon);
                    }
                    let Some((key, by)) = mine.get(at) else { break };
                    at += 1;
                    let Arrival::New(s2) = x.arrive(Packed { key, parent: id, looked: Looked::NOWHERE })
                    else {
                        continue;
                    };
                    let s2_id = s2.id();
                    x.rrac().store().unpack(key, next);
                    let here = system.load(judge, next);
                    let errors = x.kernel().rerr().get().len();
                    // It ends no share.
                    let _ = observers.enter(watch, &mut Off, x, here, s2, (id, Some(by)));
                    let is_open = x.kernel().rerr().get().len() == errors;
                    entering.entered((*me, id), s2_id, depth + 1, is_open, key);
                    entering.harvest(watch, depth + 1, others, key);
                }
                let is_over = is_whole && !has_handed_on;
                if is_over { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            match outcome {
                Outcome::Exhausted(s1) => {
                    kernel.remove(s1);
                    if let Some(log) = entering.log {
                        log(Event::Removed { state: (*me, id) });
                    }
                }
                Outcome::Stopped(s1) if is_whole => match held.back_mut() {
                    Some((last, all)) if *last == depth => all.push(s1),
                    _ => held.push_back((depth, vec![s1])),
                },
                Outcome::Stopped(s1) => given_up.push(s1),
            }
        }
        mine.clear();
    }
}

impl<S: System, V: ByKey> Part for Share<'_, '_, S, V> {
    fn initial(&mut self, others: &mut dyn Others) {
        if let Some((depth, finding)) = self.before.take() {
            let key = finding.state.map(|state| others.portable(&self.kernel.rrac().store().key(state)));
            let (depth, key) = (depth.unwrap_or(0), key.unwrap_or_default());
            self.nearest = Some(Nearest { depth, key, finding });
        }
        let (Some(token), Some(firsts)) = (self.root.take(), self.firsts.take()) else { return };
        let Share { system, observers, worker, watch, kernel, keys, me, packed, stop, .. } = self;
        let Share { homes, depths, levels, nearest, told, log, .. } = self;
        let mut entering = Entering { homes, depths, levels, nearest, told, log: log.as_ref(), me: *me };
        let mut complete = None;
        let outcome = kernel.expand_root(token, |x| {
            let mut initial = Initial::<S, V> {
                system: *system,
                observers,
                x,
                watch,
                keys,
                packed,
                stop,
                firsts,
                entering: &mut entering,
                others,
                flow: ControlFlow::Continue(()),
            };
            complete = system.starts(worker, &mut initial);
            let flow = initial.flow;
            watch.cut(system.cut(worker));
            flow?;
            if complete.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.complete = complete;
        if let Outcome::Exhausted(i) = outcome {
            self.kernel.remove_root(i);
            if let Some(log) = &self.log {
                log(Event::Removed { state: (self.me, ROOT) });
            }
        }
    }

    fn depth(&self) -> Option<u64> {
        self.levels.front().map(|(depth, _)| *depth)
    }

    fn waits_at(&self, depth: u64) -> bool {
        self.levels.iter().any(|(d, _)| *d == depth)
    }

    fn expand(&mut self, most: usize, others: &mut dyn Others) -> ControlFlow<()> {
        let Some((depth, waiting)) = self.levels.front().copied() else { return ControlFlow::Continue(()) };
        self.recent.fit(self.kernel.rrac().store().len());
        let mut flow = ControlFlow::Continue(());
        let mut taken = 0;
        while taken < waiting.min(most) && flow.is_continue() {
            if self.look() {
                flow = ControlFlow::Break(());
            } else if let Some(s1) = self.kernel.take() {
                taken += 1;
                self.prepare(s1, depth, others);
            } else {
                flow = ControlFlow::Break(());
            }
        }
        // The last of a depth takes its place in the list with it: what it leads to comes behind.
        match self.levels.front_mut() {
            Some((_, n)) if taken < waiting => *n -= taken,
            _ => drop(self.levels.pop_front()),
        }
        self.fire(depth, others);
        flow
    }

    fn arrive(
        &mut self,
        from: Process,
        depth: u64,
        key: &[u64],
        parent: StateId,
        operation: usize,
        others: &mut dyn Others,
    ) -> ControlFlow<()> {
        if self.levels.back().is_some_and(|(last, _)| *last > depth) {
            return ControlFlow::Break(());
        }
        let Share { system, observers, watch, kernel, judge, me, row, .. } = self;
        let Share { homes, depths, levels, nearest, told, log, .. } = self;
        let mut entering = Entering { homes, depths, levels, nearest, told, log: log.as_ref(), me: *me };
        kernel.receive(|x| match x.arrive(Packed { key, parent, looked: Looked::NOWHERE }) {
            Arrival::Known(_) => {}
            Arrival::New(s2) => {
                let id = s2.id();
                x.rrac().store().unpack(key, row);
                let here = system.load(judge, row);
                let (errors, by) = (x.kernel().rerr().get().len(), Some(operation));
                // It ends no share.
                let _ = observers.enter(watch, &mut Off, x, here, s2, (parent, by));
                let is_open = x.kernel().rerr().get().len() == errors;
                entering.entered((from, parent), id, depth, is_open, key);
                entering.harvest(watch, depth, others, key);
            }
        });
        ControlFlow::Continue(())
    }

    fn prefetch(&self, soon: Option<&[u64]>, sooner: Option<&[u64]>) {
        let store = self.kernel.rrac().store();
        soon.into_iter().for_each(|key| store.prefetch(key));
        sooner.into_iter().for_each(|key| store.approach(key));
    }

    fn settle(&mut self, before: u64) {
        while self.held.front().is_some_and(|(depth, _)| *depth < before) {
            for s1 in self.held.pop_front().map(|(_, states)| states).unwrap_or_default() {
                let id = s1.id();
                // All successors were yielded, those that were handed on have arrived: nothing is left of the expansion.
                match self.kernel.expand(s1, |_, _| ControlFlow::Continue(())) {
                    Outcome::Exhausted(s1) => self.kernel.remove(s1),
                    Outcome::Stopped(s1) => self.given_up.push(s1),
                }
                if let Some(log) = &self.log {
                    log(Event::Removed { state: (self.me, id) });
                }
            }
        }
    }

    fn must_stop(&mut self) -> bool {
        self.watch.look_at_memory(self.kernel.rrac());
        self.watch.must_stop(self.stop, self.kernel.rrac().store())
    }

    fn interrupt(&mut self) {
        self.watch.interrupt();
    }

    fn may_go_on(&self) -> bool {
        let is_end = |why: &Why| matches!(why, Why::MaxStates(_) | Why::Interrupted);
        !self.stop.load(Ordering::Relaxed) && self.watch.why().as_ref().is_none_or(is_end)
    }

    fn nearest(&self) -> Option<&Nearest> {
        self.nearest.as_ref()
    }

    fn progress(&self) -> (usize, u64) {
        (self.kernel.rrac().store().len(), self.watch.counts.transitions)
    }

    fn evidence(&mut self, but: Option<u64>) -> Evidence {
        for (_, deep) in self.told.by_depth.range(but.unwrap_or(u64::MAX)..) {
            let Counts { violations, assertion_failures, goals, wd_errors, .. } = &mut self.watch.counts;
            for (n, deep) in [violations, assertion_failures, goals, wd_errors].into_iter().zip(deep) {
                *n = n.saturating_sub(*deep);
            }
        }
        self.watch.cut(self.system.cut(&mut self.worker));
        self.watch.cut(self.system.cut(&mut self.judge));
        // An evaluation that was stopped may have left something out, and nobody has looked since.
        if self.stop.load(Ordering::Relaxed) {
            self.watch.interrupt();
        }
        let states = self.kernel.rrac().store().len();
        self.watch.counts.states = states;
        self.watch.counts.open = waiting(&self.kernel) + self.kernel.runex().taken();
        let mut found = self.watch.so_far();
        found.finding = self.nearest.as_ref().map(|n| n.finding.clone());
        let counts = Counts { initialisations: self.watch.counts.initialisations, ..found.counts.clone() };
        // What every process counts of the root is counted by one of them.
        let counts = if self.me == 0 { self.watch.counts.clone() } else { counts };
        Evidence {
            pass: self.kernel.pass(),
            complete: self.complete.take(),
            exact: V::EXACT,
            found,
            counts,
            why: self.watch.why(),
        }
    }

    fn link(&self, state: StateId) -> Option<(Row, Option<(Process, StateId)>)> {
        let store = self.kernel.rrac().store();
        let home = self.homes.get(state)?;
        Some((store.key(state), store.parent(state).map(|parent| (home, parent))))
    }

    fn no_states(&self) -> Store {
        Store::new(Layout::new(&self.system.widths()))
    }

    fn layout(&self) -> Arc<Layout> {
        self.kernel.rrac().store().layout()
    }

    fn conclude(&self, all: All, ended: Option<Ended>, complete: Option<Complete>, path: Store) -> Explored {
        let All { found, counts, why } = all;
        let mut watch = Watch::new(self.system, self.options);
        watch.go_on(found);
        watch.counts = counts;
        watch.ended(why);
        let is_complete = ended.is_some() && complete.is_some() && V::EXACT.is_some();
        let verdict = watch.verdict_of(ended, complete, V::EXACT);
        let (counts, finding) = (std::mem::take(&mut watch.counts), watch.finding.take());
        Explored { verdict, counts, finding, store: path, reduction: None, is_complete, is_early: false }
    }

    fn keep(&mut self, depth: Option<u64>) -> Option<KeptShare> {
        let kernel = &self.kernel;
        // As [`super::handover`] has it; and the root has been expanded.
        let is_whole = !self.stop.load(Ordering::Relaxed)
            && !kernel.root_open()
            && kernel.unclassified() == 0
            && kernel.rerr().get().is_empty()
            && self.given_up.is_empty()
            && (self.nearest.is_none() || self.options.all);
        let is_closed = match depth {
            Some(depth) => self.levels.front().is_none_or(|(first, _)| *first >= depth),
            None => self.held.is_empty(),
        };
        // Whoever reads it wants to know the depth of each.
        let is_told = self.depths.iter().map(|n| *n as usize).sum::<usize>() == kernel.rrac().store().len();
        if !is_whole || !is_closed || !is_told {
            return None;
        }
        for worker in [&mut self.worker, &mut self.judge] {
            self.watch.cut(self.system.cut(worker));
        }
        let (layout, states) = kernel.rrac().store().freeze();
        let open = kernel.runex().waiting().iter().collect();
        let finding = self.nearest.as_ref().map(|n| n.finding.clone());
        let found = SoFar { finding, ..self.watch.so_far() };
        let course =
            Course { found, place: Place { is_over: true, ..Place::default() }, ..Course::default() };
        let kept = Kept { layout, states, open, course };
        Some(KeptShare { kept, homes: self.homes.clone(), depths: self.depths.clone() })
    }

    fn log_to(&mut self, log: Log) {
        self.log = Some(log);
    }
}

/// A state whose successors have been seen, and not yet stored.
struct Prepared<'b> {
    s1: Taken<'b, StateId>,
    /// Where those that belong here end.
    mine: usize,
    has_handed_on: bool,
    is_whole: bool,
}

/// So long before a key is looked up, the memory is asked for the row that it will be compared with.
const NEAR: usize = 8;

/// The initial states of all starts.
struct Initial<'v, 'k, 'b, 'e, S: System, V: ByKey> {
    system: &'v S,
    observers: &'v Observers<'v, S>,
    x: &'v mut Expansion<'k, 'b, V, Runex, super::hooks::Rerr>,
    watch: &'v mut Watch,
    keys: &'v mut V::Keys,
    packed: &'v mut Vec<u64>,
    stop: &'v Stop,
    firsts: Firsts,
    entering: &'v mut Entering<'e>,
    others: &'v mut dyn Others,
    flow: ControlFlow<()>,
}

impl<S: System, V: ByKey> Starts<S::Worker> for Initial<'_, '_, '_, '_, S, V> {
    fn start(&mut self, worker: &mut S::Worker, start: usize) -> ControlFlow<()> {
        if self.flow.is_break() || !self.firsts.is_first(start) {
            return self.flow;
        }
        let Initial { system, observers, x, watch, keys, packed, stop, entering, others, .. } = self;
        watch.counts.constants += 1;
        let mut any = false;
        let mut targets = HashSet::new();
        let run = system.initial(worker, start, &mut |here, row| {
            any = true;
            let key = keys.key(row);
            packed.clear();
            x.rrac().store().pack_to(key, packed);
            if others.owner(packed).0 == entering.me {
                let id = match x.arrive(Packed { key: packed, parent: ROOT, looked: Looked::NOWHERE }) {
                    Arrival::Known(id) => id,
                    Arrival::New(s2) => {
                        let id = s2.id();
                        let errors = x.kernel().rerr().get().len();
                        let _ = observers.enter(watch, &mut Off, x, here, s2, (ROOT, None));
                        let is_open = x.kernel().rerr().get().len() == errors;
                        entering.entered((entering.me, ROOT), id, 0, is_open, packed);
                        entering.harvest(watch, 0, *others, packed);
                        id
                    }
                };
                // As the root of other searches counts them.
                if !V::REDUCES || targets.insert(id) {
                    watch.counts.initialisations += 1;
                }
                if watch.counts.initialisations.is_multiple_of(256) {
                    watch.look_at_memory(x.rrac());
                }
            }
            if watch.must_stop(stop, x.rrac().store()) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let cut = system.cut(worker);
        watch.cut(cut);
        self.flow = match run {
            // Where something was left out, that there is none means nothing.
            Ok(flow) if any || cut.is_some() => flow,
            Ok(_) => observers.deadlock(watch, None, start),
            Err(fault) => watch.fault(fault, None, None, start),
        };
        entering.harvest(watch, 0, *others, &[]);
        self.flow
    }

    fn fault(&mut self, fault: Box<Fault>) -> ControlFlow<()> {
        if self.flow.is_continue() {
            self.flow = self.watch.fault(fault, None, None, usize::MAX);
            self.entering.harvest(self.watch, 0, self.others, &[]);
        }
        self.flow
    }

    fn cut(&mut self, at: Span) {
        self.watch.cut(Some(at));
    }
}
