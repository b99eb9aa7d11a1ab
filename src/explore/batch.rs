//! The search in batches: successors are found first, the events are fired afterwards.
//!
//! A batch of open states is taken at a time. Its states are prepared ([`prepare`]): evaluated, the keys of their
//! successors found, those dropped that are stored already, and new ones looked at for findings. Then the kernel's
//! events are fired ([`Leader::fire`]), in the order of the states, with only those keys left that may be new. So the
//! events are those of a search that takes one state after the other, in the same order, and so are ids, parents,
//! counts, findings and traces. A state with anything unusual (a finding, a fault, a deadlock) is expanded again when
//! its turn comes, as if nobody had looked.
//!
//! What makes this sound: preparing only reads. A successor that was found stored stays stored, since `rrac` only
//! grows; one that was not found is looked up again when it arrives.
//!
//! It pays in two ways. Between the finding of a successor and its lookup there is time for the memory to answer. And
//! preparing can be done by other threads ([`super::line`]).
//!
//! Other orders than breadth first have batches of one state.

use super::hooks::{ByKey, Driven, Keys, Off};
use super::search::{self, Explored, Loop, Progress};
use super::store::{Packed, StateId, Store, View};
use super::{Options, Order, line};
use crate::eval::node::Env;
use crate::system::{Check, Step, System, Visitor, Worker};
use crate::value::fault::Fault;
use kanon_refinement::kernel::{Arrival, Outcome, Taken};
use smallvec::SmallVec;
use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// States in a batch of one thread, at most: what was looked up should still be near when it is stored.
const MOST: usize = 1 << 8;
/// How long a batch may take, about: the clock and other limits are looked at when events are fired.
const TIME: Duration = Duration::from_millis(4);
/// Successors that wait until their places have come from memory.
const AHEAD: usize = 96;
/// Keys that are asked for before they are inserted.
const SOON: usize = 12;

/// What was found out about some states.
#[derive(Default)]
pub(super) struct Block {
    states: Vec<Prepared>,
    /// Transitions by event, state by state.
    events: Vec<u64>,
    /// The keys of successors that were not stored, one after the other.
    keys: Vec<u64>,
    /// It was prepared to its end.
    is_complete: bool,
    /// How long that took.
    time: Duration,
}

struct Prepared {
    /// There is nothing but successors without a finding, at least one.
    is_plain: bool,
    /// How many of the block's keys are its own.
    keys: u32,
}

impl Block {
    pub fn clear(&mut self) {
        self.states.clear();
        self.events.clear();
        self.keys.clear();
        self.is_complete = false;
    }
}

/// One thread's tools.
pub(super) struct Helper<K> {
    worker: Worker,
    /// The environment of the new states that are looked at.
    judge: Worker,
    row: Vec<u64>,
    pub keys: K,
    labels: HashSet<SmallVec<[u64; 8]>, foldhash::fast::FixedState>,
    recent: Recent,
    ahead: Ahead,
}

impl<K> Helper<K> {
    fn new(system: &System, stop: &Arc<AtomicBool>, keys: K, words: usize) -> Helper<K> {
        Helper {
            worker: system.worker(stop).lean().only_words(),
            judge: system.worker(stop).lean().only_words(),
            row: vec![],
            keys,
            labels: HashSet::default(),
            recent: Recent::new(words),
            ahead: Ahead::default(),
        }
    }
}

/// Successors whose places have been asked for.
#[derive(Default)]
struct Ahead {
    /// Event, and number of the source in its block.
    items: Vec<(u32, u32)>,
    keys: Vec<u64>,
    /// How many have been looked up.
    done: usize,
    row: Vec<u64>,
}

impl Ahead {
    fn clear(&mut self) {
        self.items.clear();
        self.keys.clear();
        self.done = 0;
    }
}

/// The keys that a helper has handed on lately. It goes through its states in their order, so what it has handed on
/// will have arrived before what comes now, and need not be handed on again.
struct Recent {
    words: usize,
    keys: Vec<u64>,
    is_used: Vec<bool>,
}

impl Recent {
    const PLACES: usize = 1 << 11;

    fn new(words: usize) -> Recent {
        Recent { words, keys: vec![0; words * Recent::PLACES], is_used: vec![false; Recent::PLACES] }
    }

    /// Whether the key was handed on, as far as is remembered; now it is.
    #[inline]
    fn had(&mut self, key: &[u64]) -> bool {
        const K: u64 = 0x9E37_79B9_7F4A_7C15;
        let hash = key.iter().fold(0u64, |h, w| (h.rotate_left(23) ^ w).wrapping_mul(K));
        let place = (hash >> 40) as usize % Recent::PLACES;
        let known = &mut self.keys[place * self.words..(place + 1) * self.words];
        // Word by word: there is mostly one.
        if self.is_used[place] && known.iter().zip(key).all(|(a, b)| a == b) {
            return true;
        }
        self.is_used[place] = true;
        known.copy_from_slice(key);
        false
    }
}

/// [`search::run`] in batches, by as many threads as are wanted.
pub(super) fn run<V: ByKey>(
    system: &System,
    options: &Options,
    stop: &Arc<AtomicBool>,
    progress: &mut dyn FnMut(Progress),
    visited: V,
    starts: &[usize],
) -> Explored {
    let mut main = Loop::new(system, options, stop, progress, Off);
    let mut kernel = search::kernel(options, visited);
    let flow = main.start(&mut kernel, starts);
    let store = kernel.rrac().store();
    let (words, view) = (store.key_words(), Arc::new(store.view()));
    let (threads, most) = match options.order {
        Order::Bfs => (options.threads.max(1), MOST),
        Order::Dfs | Order::Mixed(_) => (1, 1),
    };
    let helper = |kernel: &Driven<V>| Helper::new(system, stop, kernel.rrac().keys(), words);
    let mine = helper(&kernel);
    let others: Vec<Helper<V::Keys>> = (1..threads).map(|_| helper(&kernel)).collect();
    let common = Common { system, quiet: Quiet::new::<V>(system, options), stop };
    let tokens = VecDeque::new();
    let mut leader = Leader { common: &common, main, kernel, view, tokens, mine, cost: Duration::ZERO };
    let mut done = vec![];
    if flow.is_continue() {
        if others.is_empty() {
            let (mut rows, mut block) = (vec![], Block::default());
            while leader.alone(most, &mut rows, &mut block).is_continue() {}
        } else {
            done = line::run(&mut leader, others, options.alone_below);
        }
    }
    let Leader { mut main, kernel, mine, .. } = leader;
    done.push(mine);
    for helper in &done {
        main.truncated(helper.worker.env.truncated);
        main.truncated(helper.judge.env.truncated);
    }
    main.finish(kernel, |visited| visited.merge(done.into_iter().map(|h| h.keys))).0
}

/// What all threads share.
pub(super) struct Common<'a, 'm> {
    system: &'a System<'m>,
    quiet: Quiet<'a>,
    stop: &'a AtomicBool,
}

/// The thread that fires the events.
pub(super) struct Leader<'a, 'm, 'p, V: ByKey> {
    pub common: &'a Common<'a, 'm>,
    main: Loop<'a, 'm, 'p, Off>,
    kernel: Driven<V>,
    view: Arc<View>,
    /// The states that were taken, in the order in which they will be fired.
    tokens: VecDeque<Taken<StateId>>,
    pub mine: Helper<V::Keys>,
    /// What it takes to prepare a state, about.
    cost: Duration,
}

impl<V: ByKey> Leader<'_, '_, '_, V> {
    /// How many states wait.
    pub fn waiting(&self) -> usize {
        search::waiting(&self.kernel)
    }

    /// The store, to read.
    pub fn store(&self) -> &Store {
        self.kernel.rrac().store()
    }

    pub fn cost(&self) -> Duration {
        self.cost
    }

    /// How many states can be prepared in some time.
    pub fn worth(&self, time: Duration) -> usize {
        (time.as_nanos() / self.cost.as_nanos().max(1)).clamp(1, 1 << 20) as usize
    }

    /// The store as it is now.
    pub fn view(&mut self) -> &Arc<View> {
        let store = self.kernel.rrac().store();
        if store.is_beyond(&self.view) {
            self.view = Arc::new(store.view());
        }
        &self.view
    }

    /// Takes open states; their packed rows are put into `rows`.
    pub fn take(&mut self, most: usize, rows: &mut Vec<u64>) {
        rows.clear();
        for _ in 0..most {
            let Some(s1) = self.kernel.take() else { break };
            rows.extend_from_slice(self.kernel.rrac().store().key(s1.id()));
            self.tokens.push_back(s1);
        }
    }

    /// Expands some states, at most `most`. Break: there is none, or the search is over.
    pub fn alone(&mut self, most: usize, rows: &mut Vec<u64>, block: &mut Block) -> ControlFlow<()> {
        self.take(most.min(self.worth(TIME)), rows);
        if self.tokens.is_empty() {
            return ControlFlow::Break(());
        }
        self.view();
        prepare::<V>(self.common, &self.view, &mut self.mine, rows, block);
        self.fire(self.tokens.len(), block)
    }

    /// The events of the first states that were taken and not fired yet, which are those of this block.
    pub fn fire(&mut self, states: usize, block: &Block) -> ControlFlow<()> {
        let Leader { main, kernel, tokens, .. } = self;
        let words = kernel.rrac().store().key_words();
        let events = self.common.system.events.len();
        for key in block.keys.chunks_exact(words).take(SOON) {
            kernel.rrac().store().expect(key);
        }
        let mut keys = block.keys.chunks_exact(words);
        let mut soon = block.keys.chunks_exact(words).skip(SOON);
        for (i, s1) in tokens.drain(..states).enumerate() {
            let Some(state) = block.states.get(i).filter(|s| s.is_plain && block.is_complete) else {
                keys.by_ref().take(block.states.get(i).map_or(0, |s| s.keys as usize)).for_each(drop);
                main.step(kernel, s1)?;
                continue;
            };
            main.look(kernel, &s1)?;
            let outcome = kernel.expand(s1, |parent, x| {
                for key in keys.by_ref().take(state.keys as usize) {
                    if let Some(key) = soon.next() {
                        x.rrac().store().expect(key);
                    }
                    match x.arrive(Packed { key, parent }) {
                        Arrival::Known(_) => {}
                        // Who found it looked at the invariant.
                        Arrival::New(s2) => x.add_inv(s2),
                    }
                }
                ControlFlow::Continue(())
            });
            match outcome {
                Outcome::Exhausted(s1) => kernel.remove(s1),
                Outcome::Stopped(_) => return ControlFlow::Break(()),
            }
            main.count(&block.events[i * events..(i + 1) * events]);
        }
        if let Ok(n) = u32::try_from(states) {
            self.cost = (self.cost * 3 + block.time / n.max(1)) / 4;
        }
        ControlFlow::Continue(())
    }
}

/// What must be quiet in a new state.
struct Quiet<'s> {
    checks: Vec<&'s Check>,
    goal: Option<&'s Check>,
    /// Every check, whether or not the event can have changed it (see [`search::Watch::broken_conjunct`]).
    all: bool,
}

impl<'s> Quiet<'s> {
    fn new<V: ByKey>(system: &'s System, options: &Options) -> Quiet<'s> {
        let invariant = system.invariant.iter().filter(|_| options.invariant);
        let assertions = system.assertions.iter().filter(|_| options.assertions);
        // Those without a variable were looked at in the initial states.
        let checks = invariant.chain(assertions).filter(|c| !c.is_static).collect();
        let goal = system.goal.as_ref().filter(|_| options.goal);
        Quiet { checks, goal, all: options.all || V::REDUCES }
    }

    fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.goal.is_none()
    }

    /// Whether nothing would be found in the state whose words are in the environment, which this event leads to.
    fn holds(&self, env: &mut Env, event: usize) -> bool {
        let is_due = |c: &Check| self.all || c.is_changed_by(event);
        self.checks.iter().all(|c| !is_due(c) || c.holds(env) == Ok(true))
            && self.goal.is_none_or(|goal| !is_due(goal) || goal.holds(env) == Ok(false))
    }
}

/// Expands states as far as that is possible without an event.
pub(super) fn prepare<V: ByKey>(
    common: &Common,
    view: &View,
    helper: &mut Helper<V::Keys>,
    rows: &[u64],
    block: &mut Block,
) {
    let begun = Instant::now();
    block.clear();
    let Common { system, quiet, stop } = common;
    let Helper { worker, judge, row, keys, labels, recent, ahead } = helper;
    ahead.clear();
    let mut look = Look::<V> { system, quiet, view, keys, labels, recent, judge, ahead, block };
    for packed in rows.chunks_exact(view.key_words()) {
        // What is not prepared now never will be.
        if stop.load(Ordering::Relaxed) {
            return;
        }
        view.unpack(packed, row);
        look.labels.clear();
        look.block.states.push(Prepared { is_plain: true, keys: 0 });
        let begin = look.block.events.len();
        look.block.events.resize(begin + system.events.len(), 0);
        let done = system.successors(worker, row, &mut look);
        let is_deadlock = look.block.events[begin..].iter().all(|n| *n == 0);
        if done.is_break() || is_deadlock {
            look.is_unusual(look.block.states.len() - 1);
        }
    }
    look.look_up(0);
    block.is_complete = true;
    block.time = begun.elapsed();
}

struct Look<'h, 'm, V: ByKey> {
    system: &'h System<'m>,
    quiet: &'h Quiet<'h>,
    view: &'h View,
    keys: &'h mut V::Keys,
    labels: &'h mut HashSet<SmallVec<[u64; 8]>, foldhash::fast::FixedState>,
    recent: &'h mut Recent,
    judge: &'h mut Worker,
    ahead: &'h mut Ahead,
    block: &'h mut Block,
}

impl<V: ByKey> Look<'_, '_, V> {
    /// The one thread has to expand this state of the block.
    #[cold]
    fn is_unusual(&mut self, state: usize) {
        self.block.states[state].is_plain = false;
    }

    /// Looks successors up, but for the last `rest` of them.
    fn look_up(&mut self, rest: usize) {
        let words = self.recent.words;
        let end = self.ahead.items.len().saturating_sub(rest);
        for i in self.ahead.done..end {
            let key = &self.ahead.keys[i * words..(i + 1) * words];
            if self.view.has(key) || self.recent.had(key) {
                continue;
            }
            let (event, state) = self.ahead.items[i];
            self.block.keys.extend_from_slice(key);
            self.block.states[state as usize].keys += 1;
            let is_quiet = self.quiet.is_empty() || {
                // Without reduction, which does not come here, the key is the state.
                self.view.unpack(key, &mut self.ahead.row);
                self.system.load(self.judge, &self.ahead.row);
                self.quiet.holds(&mut self.judge.env, event as usize)
            };
            if !is_quiet {
                self.is_unusual(state as usize);
            }
        }
        self.ahead.done = end;
        if rest == 0 {
            self.ahead.clear();
        }
    }
}

impl<V: ByKey> Visitor for Look<'_, '_, V> {
    #[inline]
    fn step(&mut self, step: Step) -> ControlFlow<()> {
        let state = self.block.states.len() - 1;
        let count = self.block.events.len() - self.system.events.len() + step.event;
        if V::REDUCES {
            let key = self.keys.key(step.target);
            let is_new = !self.system.events[step.event].may_repeat || {
                let mut label = self.system.label(step.event, step.env);
                label.extend_from_slice(key);
                self.labels.insert(label)
            };
            self.block.events[count] += u64::from(is_new);
            let begin = self.block.keys.len();
            self.view.pack(key, &mut self.block.keys);
            let key = &self.block.keys[begin..];
            if self.view.has(key) || self.recent.had(key) {
                self.block.keys.truncate(begin);
            } else {
                self.block.states[state].keys += 1;
                if !self.quiet.holds(step.env, step.event) {
                    self.is_unusual(state);
                }
            }
        } else {
            self.block.events[count] += 1;
            self.view.pack(step.target, &mut self.ahead.keys);
            self.ahead.items.push((step.event as u32, state as u32));
            if self.ahead.items.len() - self.ahead.done > 2 * AHEAD {
                self.look_up(AHEAD);
            }
        }
        ControlFlow::Continue(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}
