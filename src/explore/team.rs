//! Several threads: helpers find successors, one thread fires the events.
//!
//! Breadth first, a batch of open states is taken at a time. While the visited set does not change, all threads expand
//! states of the batch: they evaluate, find keys, drop every successor that is stored already, and look whether a
//! new one would be a finding. Then one thread goes through the batch in order and fires the kernel's events, with
//! only those successors left that may be new. So an interleaving of threads is no question: the events are those of
//! a search with one thread, in the same order, and so are ids, parents, counts, findings and traces. A state with
//! anything unusual (a finding, a fault, a deadlock) is expanded again by the one thread, as if nobody had looked.
//!
//! What the helpers must keep (and the type of the lock sees to it): they only read. A successor that a helper
//! found stored stays stored, since `rrac` only grows; one that it did not find is looked up again.
//!
//! Not a visited set that all threads write: this way nothing depends on the threads. The price is that what is new is
//! stored by one of them, which costs most where evaluation is cheap (docs/performance.md).

use super::hooks::{Driven, Keys, Off, Visited};
use super::search::{Explored, Loop, Progress};
use super::store::{Arriving, StateId};
use super::{Options, search};
use crate::eval::node::Env;
use crate::model::load::STACK;
use crate::system::{Check, Step, System, Visitor, Worker};
use crate::value::fault::Fault;
use kanon_refinement::kernel::{Arrival, Outcome, Taken};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

/// States that a thread takes at a time.
const BLOCK: usize = 64;
/// Blocks in a batch, a thread.
const BLOCKS: usize = 32;
/// What a helper found out about a block of states.
#[derive(Default)]
struct Block {
    states: Vec<Prepared>,
    /// Transitions by event, state by state.
    events: Vec<u64>,
    /// The keys of successors that were not stored, one after the other.
    keys: Vec<u64>,
}

struct Prepared {
    /// There is nothing but successors without a finding, at least one.
    is_plain: bool,
    /// Where its keys end.
    keys: usize,
}

/// The states that are expanded together.
#[derive(Default)]
struct Batch {
    rows: Vec<u64>,
    states: usize,
}

/// One thread's tools.
struct Helper<K> {
    worker: Worker,
    keys: K,
    labels: HashSet<SmallVec<[u64; 8]>, foldhash::fast::FixedState>,
    recent: Recent,
}

/// The keys that a helper has handed on lately. It goes through its states in their order, so what it has handed on
/// will have arrived before what comes now, and need not be handed on again.
struct Recent {
    width: usize,
    keys: Vec<u64>,
    /// The batch in which each place was filled.
    batches: Vec<u64>,
    batch: u64,
}

impl Recent {
    const PLACES: usize = 1 << 11;

    fn new(width: usize) -> Recent {
        let batches = vec![0; Recent::PLACES];
        Recent { width, keys: vec![0; width * Recent::PLACES], batches, batch: 0 }
    }

    /// Whether the key was handed on in this batch, as far as is remembered; now it is.
    #[inline]
    fn had(&mut self, key: &[u64]) -> bool {
        const K: u64 = 0x9E37_79B9_7F4A_7C15;
        let hash = key.iter().fold(0u64, |h, w| (h.rotate_left(23) ^ w).wrapping_mul(K));
        let place = (hash >> 40) as usize % Recent::PLACES;
        let known = &mut self.keys[place * self.width..(place + 1) * self.width];
        if self.batches[place] == self.batch && *known == *key {
            return true;
        }
        self.batches[place] = self.batch;
        known.copy_from_slice(key);
        false
    }
}

/// A lock whose holder panicked has been given up in the middle of a block, which then is too short to be used.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// [`search::run`] with helpers.
pub(super) fn run<V: Visited>(
    system: &System,
    options: &Options,
    stop: &Arc<AtomicBool>,
    progress: &mut dyn FnMut(Progress),
    visited: V,
    starts: &[usize],
) -> Explored {
    let mut main = Loop::new(system, options, stop, progress, Off);
    let mut kernel = search::kernel(options, visited);
    let mut flow = main.start(&mut kernel, starts);
    let threads = options.threads.max(1);
    let helper = |keys| {
        let (worker, recent) = (system.worker(stop).lean(), Recent::new(system.width()));
        Helper { worker, keys, labels: HashSet::default(), recent }
    };
    let mut mine = helper(kernel.rrac().keys());
    let tools: Vec<Helper<V::Keys>> = (1..threads).map(|_| helper(kernel.rrac().keys())).collect();
    let kernel = RwLock::new(kernel);
    let batch = RwLock::new(Batch::default());
    let blocks: Vec<Mutex<Block>> = (0..threads * BLOCKS).map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let quiet = Quiet::new(system, options);
    let help = |helper: &mut Helper<V::Keys>| {
        // Nobody panics while writing to either: what writes is this module, between batches.
        let kernel = kernel.read().unwrap_or_else(|e| e.into_inner());
        let batch = batch.read().unwrap_or_else(|e| e.into_inner());
        let width = system.width();
        helper.recent.batch += 1;
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let states = i * BLOCK..((i + 1) * BLOCK).min(batch.states);
            if states.is_empty() {
                return;
            }
            let mut block = locked(&blocks[i]);
            for s in states {
                let row = &batch.rows[s * width..(s + 1) * width];
                prepare(system, &quiet, kernel.rrac(), helper, row, &mut block);
            }
        }
    };
    let mut done = vec![];
    std::thread::scope(|scope| {
        let (finished, wait) = channel();
        let mut begin = vec![];
        let mut others = vec![];
        for mut helper in tools {
            let (go, orders) = channel::<()>();
            let (help, finished) = (&help, finished.clone());
            let body = move || {
                while orders.recv().is_ok() {
                    // A panic is a bug; the state that shows it is expanded again by the one thread, which reports it.
                    let _ = catch_unwind(AssertUnwindSafe(|| help(&mut helper)));
                    if finished.send(()).is_err() {
                        break;
                    }
                }
                helper
            };
            // A thread that cannot be started is a helper less.
            if let Ok(thread) = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body) {
                begin.push(go);
                others.push(thread);
            }
        }
        let mut tokens: Vec<Taken<StateId>> = vec![];
        while flow.is_continue() {
            let mut k = kernel.write().unwrap_or_else(|e| e.into_inner());
            if begin.is_empty() || search::waiting(&k) < options.alone_below {
                let Some(s1) = k.take() else { break };
                flow = main.step(&mut k, s1);
                continue;
            }
            let most = (begin.len() + 1) * BLOCKS * BLOCK;
            batch.write().unwrap_or_else(|e| e.into_inner()).fill(&mut k, &mut tokens, most);
            drop(k);
            blocks.iter().for_each(|b| locked(b).clear());
            next.store(0, Ordering::Relaxed);
            // A helper that is gone has panicked beyond help; the others do its part.
            let sent = begin.iter().filter(|go| go.send(()).is_ok()).count();
            help(&mut mine);
            for _ in 0..sent {
                let _ = wait.recv();
            }
            let mut k = kernel.write().unwrap_or_else(|e| e.into_inner());
            for (i, s1) in tokens.drain(..).enumerate() {
                flow = fire(&mut main, &mut k, s1, &locked(&blocks[i / BLOCK]), i % BLOCK, system);
                if flow.is_break() {
                    break;
                }
            }
        }
        drop(begin);
        done.extend(others.into_iter().filter_map(|t| t.join().ok()));
    });
    done.push(mine);
    let kernel = kernel.into_inner().unwrap_or_else(|e| e.into_inner());
    let mut keys = vec![];
    for helper in done {
        main.truncated(helper.worker.env.truncated);
        keys.push(helper.keys);
    }
    main.finish(kernel, keys).0
}

impl Batch {
    /// Takes open states, in their order.
    fn fill<V: Visited>(&mut self, kernel: &mut Driven<V>, tokens: &mut Vec<Taken<StateId>>, most: usize) {
        self.rows.clear();
        let mut row = vec![];
        while tokens.len() < most {
            let Some(s1) = kernel.take() else { break };
            kernel.rrac().store().read(s1.id(), &mut row);
            self.rows.extend_from_slice(&row);
            tokens.push(s1);
        }
        self.states = tokens.len();
    }
}

impl Block {
    fn clear(&mut self) {
        self.states.clear();
        self.events.clear();
        self.keys.clear();
    }
}

/// The events of one state of the batch.
fn fire<V: Visited>(
    main: &mut Loop<Off>,
    kernel: &mut Driven<V>,
    s1: Taken<StateId>,
    block: &Block,
    i: usize,
    system: &System,
) -> ControlFlow<()> {
    let Some(Prepared { is_plain: true, keys }) = block.states.get(i) else { return main.step(kernel, s1) };
    main.look(kernel, &s1)?;
    // What the next state but one brings will soon be asked for.
    let ahead =
        block.states.get(i + 1).map_or(*keys, |s| s.keys)..block.states.get(i + 2).map_or(*keys, |s| s.keys);
    if !V::REDUCES {
        for row in block.keys.get(ahead).unwrap_or_default().chunks_exact(system.width().max(1)) {
            kernel.rrac().store().announce(row);
        }
    }
    let begin = if i == 0 { 0 } else { block.states[i - 1].keys };
    let outcome = kernel.expand(s1, |id, x| {
        let width = system.width().max(1);
        for row in block.keys[begin..*keys].chunks_exact(width) {
            match x.arrive(Arriving { row, parent: id, is_key: true }) {
                Arrival::Known(_) => {}
                // The helper that found it looked at the invariant.
                Arrival::New(s2) => x.add_inv(s2),
            }
        }
        ControlFlow::Continue(())
    });
    match outcome {
        Outcome::Exhausted(s1) => kernel.remove(s1),
        Outcome::Stopped(_) => return ControlFlow::Break(()),
    }
    let events = system.events.len();
    main.count(&block.events[i * events..(i + 1) * events]);
    ControlFlow::Continue(())
}

/// What must be quiet in a new state.
struct Quiet<'s> {
    invariant: Vec<&'s Check>,
    goal: Option<&'s Check>,
}

impl<'s> Quiet<'s> {
    fn new(system: &'s System, options: &Options) -> Quiet<'s> {
        let invariant = system.invariant.iter().filter(|_| options.invariant);
        let assertions = system.assertions.iter().filter(|_| options.assertions);
        // Those without a variable were looked at in the initial states.
        let invariant = invariant.chain(assertions).filter(|c| !c.is_static).collect();
        Quiet { invariant, goal: system.goal.as_ref().filter(|_| options.goal) }
    }

    fn is_quiet(&self, env: &mut Env) -> bool {
        self.invariant.iter().all(|c| c.holds(env) == Ok(true))
            && self.goal.is_none_or(|goal| goal.holds(env) == Ok(false))
    }
}

/// Expands a state as far as that is possible without an event.
fn prepare<V: Visited>(
    system: &System,
    quiet: &Quiet,
    visited: &V,
    helper: &mut Helper<V::Keys>,
    row: &[u64],
    block: &mut Block,
) {
    let begin = block.events.len();
    block.events.resize(begin + system.events.len(), 0);
    let Helper { worker, keys, labels, recent } = helper;
    labels.clear();
    let mut look = Look { system, quiet, visited, keys, labels, recent, block, begin, is_plain: true };
    let done = system.successors(worker, row, &mut look);
    let is_plain = done.is_continue() && look.is_plain && block.events[begin..].iter().any(|n| *n > 0);
    block.states.push(Prepared { is_plain, keys: block.keys.len() });
}

struct Look<'h, 'm, V: Visited> {
    system: &'h System<'m>,
    quiet: &'h Quiet<'h>,
    visited: &'h V,
    keys: &'h mut V::Keys,
    labels: &'h mut HashSet<SmallVec<[u64; 8]>, foldhash::fast::FixedState>,
    recent: &'h mut Recent,
    block: &'h mut Block,
    begin: usize,
    is_plain: bool,
}

impl<V: Visited> Visitor for Look<'_, '_, V> {
    #[inline]
    fn step(&mut self, step: Step) -> ControlFlow<()> {
        let key = self.keys.key(step.target);
        let merges = V::REDUCES && self.system.events[step.event].may_repeat;
        if merges && !V::IS_KEYED {
            // Which transitions are one is known only when their targets have arrived.
            self.is_plain = false;
            return ControlFlow::Break(());
        }
        let is_new_label = if merges {
            let mut label = self.system.label(step.event, step.env);
            label.extend_from_slice(key);
            self.labels.insert(label)
        } else {
            true
        };
        self.block.events[self.begin + step.event] += u64::from(is_new_label);
        if self.visited.has(key) || self.recent.had(key) {
            return ControlFlow::Continue(());
        }
        self.block.keys.extend_from_slice(key);
        if self.quiet.is_quiet(step.env) {
            return ControlFlow::Continue(());
        }
        self.is_plain = false;
        ControlFlow::Break(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        self.is_plain = false;
        ControlFlow::Break(())
    }

    #[inline]
    fn announce(&mut self, target: &[u64]) {
        if !V::REDUCES {
            self.visited.store().announce(target);
        }
    }
}
