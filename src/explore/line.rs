//! Several threads: blocks of states stand in line.
//!
//! One thread takes open states, puts them into the line block by block, and fires the events of the first block as
//! soon as it is prepared ([`super::batch`]). Whoever has nothing to do, this thread included, prepares the next block
//! that nobody has claimed. Nobody waits for anybody at the end of a round, since there are no rounds.
//!
//! Not a visited set that all threads write: helpers see a view of the store, and only what the one thread does changes
//! anything. So no interleaving of threads is a question, and nothing but the time depends on their number. The price is
//! that what is new is stored by one of them; it has nothing else to do while the others prepare.

use super::batch::{Block, Common, Helper, Leader, prepare};
use super::hooks::{ByKey, Hooks};
use super::store::{Store, View};
use crate::system::System;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// States of a block, at most.
const BLOCK: usize = 64;
/// Blocks in line, a thread: as many as are needed, so that they are fired soon.
const BLOCKS: usize = 8;
/// Blocks in line when the index is about to grow, which takes its time: work for the helpers.
const DEEP: usize = 1 << 10;
/// So many states are moved to a larger index while a block is prepared, about.
const MOVED: usize = 1 << 11;
/// How long a block may take, about.
const TIME: Duration = Duration::from_millis(1);
/// Waking somebody up pays for so much work.
const PAYS: Duration = Duration::from_millis(1);

/// A block in line.
#[derive(Default)]
struct Place {
    task: Mutex<Task>,
    is_prepared: AtomicBool,
}

#[derive(Default)]
struct Task {
    /// Packed, one after the other.
    rows: Vec<u64>,
    states: usize,
    view: Option<Arc<View>>,
    block: Block,
}

/// The blocks from `posted` backwards, as many as there are places.
struct Line {
    places: Vec<Place>,
    /// Blocks put into the line, ever.
    posted: AtomicUsize,
    /// Blocks that somebody prepares or has prepared.
    claimed: AtomicUsize,
    is_over: AtomicBool,
    /// How many sleep, of those who wait for blocks and of those who wait for a block to be prepared.
    asleep: AtomicUsize,
    sleep: Mutex<()>,
    woken: Condvar,
}

/// A lock whose holder panicked: a block that was not prepared to its end is not used.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Line {
    fn new(places: usize) -> Line {
        Line {
            places: (0..places).map(|_| Place::default()).collect(),
            posted: AtomicUsize::new(0),
            claimed: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            sleep: Mutex::default(),
            woken: Condvar::new(),
        }
    }

    fn place(&self, i: usize) -> &Place {
        &self.places[i % self.places.len()]
    }

    /// A block that nobody has claimed; now it is.
    fn claim(&self) -> Option<usize> {
        let next = |i: usize| (i < self.posted.load(Ordering::SeqCst)).then_some(i + 1);
        self.claimed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).ok()
    }

    fn prepare<S: System, V: ByKey, H: Hooks<V>>(
        &self,
        i: usize,
        common: &Common<S>,
        helper: &mut Helper<S, V::Keys>,
    ) {
        let place = self.place(i);
        // A panic is a bug; the states of the block are expanded by the one thread, which reports it.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let Task { rows, view, block, .. } = &mut *locked(&place.task);
            if let Some(view) = view {
                prepare::<S, V, H>(common, view, helper, rows, block);
            }
        }));
        place.is_prepared.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Something has changed that somebody may wait for.
    fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            drop(locked(&self.sleep));
            self.woken.notify_all();
        }
    }

    /// Waits until something is so, at first awake.
    fn wait_until(&self, is_so: impl Fn() -> bool) {
        for _ in 0..100 {
            for _ in 0..50 {
                if is_so() {
                    return;
                }
                std::hint::spin_loop();
            }
            std::thread::yield_now();
        }
        let mut guard = locked(&self.sleep);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while !is_so() {
            guard = self.woken.wait(guard).unwrap_or_else(|e| e.into_inner());
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }

    /// The work of a helper.
    fn help<S: System, V: ByKey, H: Hooks<V>>(&self, common: &Common<S>, helper: &mut Helper<S, V::Keys>) {
        while !self.is_over.load(Ordering::SeqCst) {
            match self.claim() {
                Some(i) => self.prepare::<S, V, H>(i, common, helper),
                None => self.wait_until(|| {
                    self.is_over.load(Ordering::SeqCst)
                        || self.claimed.load(Ordering::SeqCst) < self.posted.load(Ordering::SeqCst)
                }),
            }
        }
    }
}

/// Searches to the end, with helpers; gives them back. With fewer open states than `alone_below`, and little work in
/// them, nobody is woken up for it.
pub(super) fn run<S: System, V: ByKey, H: Hooks<V>>(
    leader: &mut Leader<S, V, H>,
    helpers: Vec<Helper<S, V::Keys>>,
    alone_below: usize,
) -> Vec<Helper<S, V::Keys>> {
    let line = Line::new(((helpers.len() + 1) * BLOCKS).max(DEEP));
    let common = leader.common;
    std::thread::scope(|scope| {
        let mut threads = vec![];
        for mut helper in helpers {
            let line = &line;
            let body = move || {
                line.help::<S, V, H>(common, &mut helper);
                helper
            };
            // A thread that cannot be started is a helper less.
            if let Ok(thread) = crate::lang::stack::thread().spawn_scoped(scope, body) {
                threads.push(thread);
            }
        }
        let all = threads.len() + 1;
        // However this ends, also by a panic, the helpers hear of it.
        let over = Over(&line);
        lead(leader, &line, all, alone_below);
        drop(over);
        threads.into_iter().filter_map(|t| t.join().ok()).collect()
    })
}

struct Over<'l>(&'l Line);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
        self.0.wake();
    }
}

/// The work of the thread that fires the events.
fn lead<S: System, V: ByKey, H: Hooks<V>>(
    leader: &mut Leader<S, V, H>,
    line: &Line,
    threads: usize,
    alone_below: usize,
) {
    let (mut rows, mut block) = (vec![], Block::default());
    let mut fired = 0;
    let mut flow = ControlFlow::Continue(());
    while flow.is_continue() {
        let posted = line.posted.load(Ordering::SeqCst);
        let waiting = leader.waiting();
        let is_little = waiting < alone_below && leader.cost() * (waiting as u32) < PAYS;
        if fired == posted && (waiting < 2 || is_little) {
            flow = leader.alone(BLOCK, &mut rows, &mut block);
            continue;
        }
        // A short rest may become longer, as long as there are other blocks.
        let size = BLOCK.min(leader.worth(TIME)).min(waiting.div_ceil(threads)).max(1);
        if posted - fired < depth(leader.store(), threads)
            && waiting > 0
            && (waiting >= BLOCK || posted - fired < threads)
        {
            post(leader, line, posted, size);
            continue;
        }
        let first = line.place(fired);
        if first.is_prepared.load(Ordering::SeqCst) {
            let task = locked(&first.task);
            flow = leader.keep();
            if flow.is_continue() {
                flow = leader.fire(task.states, &task.block);
            }
            fired += 1;
        } else if let Some(i) = line.claim() {
            line.prepare::<S, V, H>(i, leader.common, &mut leader.mine);
        } else {
            line.wait_until(|| first.is_prepared.load(Ordering::SeqCst));
        }
    }
}

/// How many blocks should be in line.
fn depth(store: &Store, threads: usize) -> usize {
    let usual = threads * BLOCKS;
    if store.room() > usual * BLOCK {
        usual
    } else {
        (store.len() / MOVED * (threads - 1)).clamp(usual, usual.max(DEEP))
    }
}

/// Puts open states into the line.
fn post<S: System, V: ByKey, H: Hooks<V>>(
    leader: &mut Leader<S, V, H>,
    line: &Line,
    posted: usize,
    states: usize,
) {
    let place = line.place(posted);
    let mut task = locked(&place.task);
    leader.take(states, &mut task.rows);
    task.states = states;
    task.block.clear();
    task.view = Some(leader.view().clone());
    drop(task);
    place.is_prepared.store(false, Ordering::SeqCst);
    line.posted.store(posted + 1, Ordering::SeqCst);
    line.wake();
}
