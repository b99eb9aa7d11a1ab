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
//!
//! Where states are on disk ([`super::store`]) a batch has as many states as there is room for, since whoever looks there
//! reads a lot. Keys that are found are dropped, like those that were found in memory; the others come with the word that
//! somebody has looked. If states were written to disk since, the word is not enough: the keys that are left are looked up
//! again, and those of a state that is just fired one by one ([`Looked`]). A state stays open until all of that is done.

use super::hooks::{ByKey, Driven, Fired, Hooks, Keys};
use super::inject::Planted;
use super::observe::{Judged, Observers, Quiet};
use super::search::{self, Loop};
use super::store::{Changed, Looked, Packed, Seen, StateId, Store, View};
use crate::lang::diag::Span;
use crate::system::{Label, Stop, System, Transition, Visitor};
use crate::value::fault::Fault;
use kanon_refinement::kernel::{Arrival, Outcome, Taken};
use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// States in a batch of one thread, at most: what was looked up should still be near when it is stored.
pub(super) const MOST: usize = 1 << 8;
/// How long a batch may take, about: the clock and other limits are looked at when events are fired.
const TIME: Duration = Duration::from_millis(4);
/// Successors that wait until their places have come from memory.
const AHEAD: usize = 96;
/// Of these, the rows with which some will be compared are asked for in time.
const NEAR: usize = 16;
/// Keys that are asked for before they are inserted.
const SOON: usize = 12;

/// What was found out about some states.
#[derive(Default)]
pub(super) struct Block {
    states: Vec<Judged>,
    /// Transitions by operation, state by state.
    operations: Vec<u64>,
    /// The keys of successors that were not stored, one after the other.
    keys: Vec<u64>,
    /// It was prepared to its end.
    is_complete: bool,
    /// Where an enumeration was cut short.
    cut: Option<Span>,
    /// How long that took.
    time: Duration,
}

impl Block {
    pub fn clear(&mut self) {
        self.states.clear();
        self.operations.clear();
        self.keys.clear();
        self.is_complete = false;
        self.cut = None;
        self.time = Duration::ZERO;
    }

    /// Bytes that it takes, and that it takes to look its keys up.
    fn bytes(&self, words: usize) -> usize {
        let of_keys = self.keys.len() / words * (8 * words + 17);
        self.states.len() * (size_of::<Judged>() + size_of::<StateId>()) + self.operations.len() * 8 + of_keys
    }

    /// Drops the keys of states from some place on that are known.
    fn drop_known(&mut self, from: Place, known: &[bool], words: usize) {
        let mut known = known.iter();
        let (mut read, mut write) = (from.key, from.key);
        for state in &mut self.states[from.state..] {
            let mut kept = 0;
            for is_known in known.by_ref().take(state.keys()) {
                if !is_known {
                    self.keys.copy_within(read * words..(read + 1) * words, write * words);
                    (write, kept) = (write + 1, kept + 1);
                }
                read += 1;
            }
            state.keep(kept);
        }
        self.keys.truncate(write * words);
    }
}

/// How far a block has been fired: the next state, and the first of its keys.
#[derive(Clone, Copy, Default)]
struct Place {
    state: usize,
    key: usize,
}

/// One thread's tools.
pub(super) struct Helper<S: System, K> {
    pub worker: S::Worker,
    /// Has the new states at hand that are looked at.
    pub judge: S::Worker,
    row: Vec<u64>,
    pub keys: K,
    labels: HashSet<Label, foldhash::fast::FixedState>,
    recent: Recent,
    ahead: Ahead,
    /// By operation: what it changes. Made when the first view tells how rows are packed.
    changed: Vec<Changed>,
}

impl<S: System, K> Helper<S, K> {
    pub fn new(system: &S, stop: &Stop, keys: K, store: &Store) -> Helper<S, K> {
        Helper {
            worker: system.worker(stop),
            judge: system.worker(stop),
            row: vec![],
            keys,
            labels: HashSet::default(),
            recent: Recent::new(store.key_words(), Recent::places(store)),
            ahead: Ahead::default(),
            changed: vec![],
        }
    }
}

/// A successor whose place has been asked for.
#[derive(Clone, Copy)]
struct Soon {
    operation: u32,
    /// The number of the source in its block.
    state: u32,
    hash: u64,
    /// The state that it most probably is, where somebody has looked already.
    guess: Option<StateId>,
}

/// Successors whose places have been asked for.
#[derive(Default)]
struct Ahead {
    items: Vec<Soon>,
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

    /// Where what is handed on is looked up on disk, it may take a part of the memory that there is for that.
    fn places(store: &Store) -> usize {
        if !store.is_spilling() {
            return Recent::PLACES;
        }
        let most = store.together() / 4 / (8 * store.key_words() + 1);
        1 << most.clamp(Recent::PLACES, 1 << 20).ilog2()
    }

    fn new(words: usize, places: usize) -> Recent {
        Recent { words, keys: vec![0; words * places], is_used: vec![false; places] }
    }

    /// Whether the key was handed on, as far as is remembered; now it is.
    #[inline]
    fn had(&mut self, key: &[u64], hash: u64) -> bool {
        let place = (hash >> 40) as usize & (self.is_used.len() - 1);
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

/// What all threads share.
pub(super) struct Common<'a, S> {
    pub system: &'a S,
    pub observers: &'a Observers<'a, S>,
    pub stop: &'a Stop,
    /// A mistake of a test's, which an audit has to catch.
    pub planted: Option<&'a Planted>,
}

/// The thread that fires the events.
pub(super) struct Leader<'a, 'b, S: System, V: ByKey, H> {
    pub common: &'a Common<'a, S>,
    pub main: Loop<'a, S, H>,
    pub kernel: Driven<'b, V>,
    pub view: Arc<View>,
    /// The states that were taken, in the order in which they will be fired.
    pub tokens: VecDeque<Taken<'b, StateId>>,
    pub mine: Helper<S, V::Keys>,
    /// What it takes to prepare a state, about.
    pub cost: Duration,
    /// Something has ended the search.
    pub is_over: bool,
}

impl<S: System, V: ByKey, H: Hooks<V>> Leader<'_, '_, S, V, H> {
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
        store.tell();
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
            self.main.hooks.take(s1.id());
            self.kernel.rrac().store().read_key(s1.id(), rows);
            self.tokens.push_back(s1);
        }
    }

    /// Expands some states, at most `most`. Break: there is none, or the search is over.
    pub fn alone(&mut self, most: usize, rows: &mut Vec<u64>, block: &mut Block) -> ControlFlow<()> {
        self.keep()?;
        self.take(most.min(self.worth(TIME)), rows);
        if self.tokens.is_empty() {
            return ControlFlow::Break(());
        }
        self.view();
        prepare::<S, V, H>(self.common, &self.view, &mut self.mine, rows, block);
        self.fire(self.tokens.len(), block)
    }

    /// Writes the search down if somebody wants that now, between two blocks. In other orders than breadth first, which
    /// draw for each state, none is taken then. Break: it is to end here.
    pub fn keep(&mut self) -> ControlFlow<()> {
        let flow = self.main.keep(&self.kernel, self.tokens.iter().map(Taken::id));
        self.is_over |= flow.is_break();
        flow
    }

    /// The same where states are on disk: as many states as there is room for.
    pub fn alone_with_disk(
        &mut self,
        rows: &mut Vec<u64>,
        block: &mut Block,
        known: &mut Vec<bool>,
    ) -> ControlFlow<()> {
        self.view();
        block.clear();
        let (words, room) = (self.store().key_words(), self.store().together());
        loop {
            let before = self.tokens.len();
            self.take(MOST, rows);
            // Rows that could not be read are not those of the states.
            if self.store().trouble().is_some() {
                self.is_over = true;
                return ControlFlow::Break(());
            }
            if self.tokens.len() == before {
                break;
            }
            extend::<S, V, H>(self.common, &self.view, &mut self.mine, rows, block);
            if !block.is_complete || block.bytes(words) >= room {
                break;
            }
        }
        let states = self.tokens.len();
        if states == 0 {
            return ControlFlow::Break(());
        }
        let mut place = Place::default();
        while place.state < states {
            // What could not be prepared is expanded as if nobody had looked.
            let mut looked = Looked::NOWHERE;
            if block.is_complete && self.store().on_disk() > 0 {
                let Some(here) = self.store().look_up(&block.keys[place.key * words..], known) else {
                    self.is_over = true;
                    return ControlFlow::Break(());
                };
                looked = here;
                block.drop_known(place, known, words);
            }
            let flow = self.fire_from(&mut place, states, block, Some(looked));
            self.is_over |= flow.is_break();
            flow?;
        }
        ControlFlow::Continue(())
    }

    /// The events of the first states that were taken and not fired yet, which are those of this block.
    pub fn fire(&mut self, states: usize, block: &Block) -> ControlFlow<()> {
        let flow = self.fire_from(&mut Place::default(), states, block, None);
        self.is_over |= flow.is_break();
        flow
    }

    /// The same from some place on, until the word about the keys on disk is out of date. Without such a word all are
    /// fired, and keys that may be on disk are looked up one by one.
    fn fire_from(
        &mut self,
        place: &mut Place,
        states: usize,
        block: &Block,
        looked: Option<Looked>,
    ) -> ControlFlow<()> {
        let Leader { main, kernel, tokens, .. } = self;
        main.cut(block.cut);
        let words = kernel.rrac().store().key_words();
        let operations = self.common.system.operations().len();
        let begin = place.key * words;
        for key in block.keys[begin..].chunks_exact(words).take(SOON) {
            kernel.rrac().store().prefetch(key);
        }
        let mut keys = block.keys[begin..].chunks_exact(words);
        let mut soon = block.keys[begin..].chunks_exact(words).skip(SOON);
        let is_lost = H::WATCHES && self.common.planted.is_some_and(|p| p.errs(Planted::block));
        let may_pause = looked.is_some() && block.is_complete;
        let looked = looked.unwrap_or(Looked::NOWHERE);
        while place.state < states {
            let i = place.state;
            if may_pause && !looked.covers(kernel.rrac().store().on_disk()) {
                break;
            }
            // One that the search ends before stays where it is: somebody may want to go on with it.
            let Some(next) = tokens.front() else { break };
            main.look(kernel, next)?;
            let Some(s1) = tokens.pop_front() else { break };
            let state = block.states.get(i);
            let count = state.map_or(0, Judged::keys);
            (place.state, place.key) = (i + 1, place.key + count);
            let Some(plain) = state.and_then(Judged::plain).filter(|_| block.is_complete) else {
                keys.by_ref().take(count).for_each(drop);
                main.step(kernel, s1)?;
                continue;
            };
            let id = s1.id();
            if H::WATCHES {
                let row = kernel.rrac().store().row(id);
                main.hooks.expand(id, &row)?;
            }
            let outcome = kernel.expand(s1, |parent, x| {
                for key in keys.by_ref().take(count).skip_while(|_| is_lost) {
                    if let Some(key) = soon.next() {
                        x.rrac().store().prefetch(key);
                    }
                    match x.arrive(Packed { key, parent, looked }) {
                        Arrival::Known(_) => {}
                        // Who found it looked at it.
                        Arrival::New(s2) => {
                            let s2_id = s2.id();
                            plain.add_inv(x, s2);
                            main.hooks.event(Fired::AddInv { s1: parent, s2: s2_id }, x.kernel())?;
                        }
                    }
                }
                ControlFlow::Continue(())
            });
            match outcome {
                Outcome::Exhausted(s1) => kernel.remove(s1),
                Outcome::Stopped(_) => return ControlFlow::Break(()),
            }
            main.hooks.event(Fired::Remove { s1: id }, kernel)?;
            main.count(&block.operations[i * operations..(i + 1) * operations]);
        }
        if let Ok(n) = u32::try_from(states) {
            self.cost = (self.cost * 3 + block.time / n.max(1)) / 4;
        }
        ControlFlow::Continue(())
    }
}

/// Expands states as far as that is possible without an event.
pub(super) fn prepare<S: System, V: ByKey, H: Hooks<V>>(
    common: &Common<S>,
    view: &View,
    helper: &mut Helper<S, V::Keys>,
    rows: &[u64],
    block: &mut Block,
) {
    block.clear();
    extend::<S, V, H>(common, view, helper, rows, block);
}

/// The same for states that follow those that a block has.
fn extend<S: System, V: ByKey, H: Hooks<V>>(
    common: &Common<S>,
    view: &View,
    helper: &mut Helper<S, V::Keys>,
    rows: &[u64],
    block: &mut Block,
) {
    let begun = Instant::now();
    block.is_complete = false;
    let Common { system, observers, stop, planted } = common;
    let planted = planted.filter(|_| H::WATCHES);
    let Helper { worker, judge, row, keys, labels, recent, ahead, changed } = helper;
    ahead.clear();
    let all = system.operations().len();
    if changed.len() < all {
        changed.extend((0..all).map(|o| view.changed(system.writes(o).as_deref())));
    }
    let seen = view.seen();
    let mut look = Look::<S, V> {
        planted,
        system: *system,
        observers,
        view,
        seen,
        keys,
        labels,
        recent,
        judge,
        ahead,
        changed,
        source: &[],
        block,
    };
    for packed in rows.chunks_exact(view.key_words()) {
        // What is not prepared now never will be.
        if stop.load(Ordering::Relaxed) {
            return;
        }
        view.unpack(packed, row);
        look.source = packed;
        look.labels.clear();
        look.block.states.push(Judged::begin());
        let begin = look.block.operations.len();
        look.block.operations.resize(begin + all, 0);
        let visit = system.successors(worker, row, &mut look);
        let transitions = look.block.operations[begin..].iter().sum();
        look.judged(look.block.states.len() - 1).end(visit, transitions);
    }
    look.look_up(0);
    block.is_complete = true;
    block.cut = block.cut.or(system.cut(worker)).or(system.cut(judge));
    block.time += begun.elapsed();
}

struct Look<'h, S: System, V: ByKey> {
    planted: Option<&'h Planted>,
    system: &'h S,
    observers: &'h Observers<'h, S>,
    view: &'h View,
    seen: Seen,
    keys: &'h mut V::Keys,
    labels: &'h mut HashSet<Label, foldhash::fast::FixedState>,
    recent: &'h mut Recent,
    judge: &'h mut S::Worker,
    ahead: &'h mut Ahead,
    changed: &'h [Changed],
    /// The key of the state at hand.
    source: &'h [u64],
    block: &'h mut Block,
}

impl<S: System, V: ByKey> Look<'_, S, V> {
    /// What is known of a state of the block.
    #[inline]
    fn judged(&mut self, state: usize) -> &mut Judged {
        &mut self.block.states[state]
    }

    /// A planted mistake: what is not quiet is said to be.
    #[cold]
    fn lie(&self) -> Option<Quiet> {
        self.planted.filter(|p| p.errs(Planted::quiet)).map(|_| Quiet::lie())
    }

    /// The same: what is known is not seen.
    #[inline]
    fn is_stale(&self) -> bool {
        self.planted.is_some_and(|p| p.errs(Planted::stale))
    }

    /// Looks successors up, but for the last `rest` of them.
    fn look_up(&mut self, rest: usize) {
        let words = self.recent.words;
        let end = self.ahead.items.len().saturating_sub(rest);
        for i in self.ahead.done..end {
            if let Some(next) = self.ahead.items.get_mut(i + NEAR) {
                next.guess = self.view.approach(next.hash);
            }
            let Soon { operation, state, hash, guess } = self.ahead.items[i];
            let key = &self.ahead.keys[i * words..(i + 1) * words];
            let is_known = guess.is_some_and(|id| self.view.is(id, key, self.seen))
                || self.view.has(key, hash, self.seen)
                || self.recent.had(key, hash);
            let is_known = is_known && !self.is_stale();
            if is_known || self.planted.is_some_and(|p| p.errs(Planted::view)) {
                continue;
            }
            self.block.keys.extend_from_slice(key);
            let quiet = self.observers.always_quiet().or_else(|| {
                // Without reduction, which does not come here, the key is the state.
                self.view.unpack(key, &mut self.ahead.row);
                let here = self.system.load(self.judge, &self.ahead.row);
                self.observers.quiet(here, operation as usize)
            });
            let quiet = quiet.or_else(|| self.lie());
            self.judged(state as usize).successor(quiet);
        }
        self.ahead.done = end;
        if rest == 0 {
            self.ahead.clear();
        }
    }
}

impl<S: System, V: ByKey> Visitor<S::Here> for Look<'_, S, V> {
    #[inline]
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        if self.planted.is_some_and(|p| p.errs(Planted::successor)) {
            return ControlFlow::Continue(());
        }
        let state = self.block.states.len() - 1;
        let all = self.system.operations();
        let count = self.block.operations.len() - all.len() + t.operation;
        if V::REDUCES {
            let key = self.keys.key(t.target);
            let is_new = !all[t.operation].may_repeat || {
                let mut label = self.system.label(t.operation, t.here);
                label.extend_from_slice(key);
                self.labels.insert(label)
            };
            self.block.operations[count] += u64::from(is_new);
            let begin = self.block.keys.len();
            let hash = self.view.pack(key, &mut self.block.keys);
            let key = &self.block.keys[begin..];
            let is_known = self.view.has(key, hash, self.seen) || self.recent.had(key, hash);
            let is_known = is_known && !self.is_stale();
            if is_known || self.planted.is_some_and(|p| p.errs(Planted::view)) {
                self.block.keys.truncate(begin);
            } else {
                let quiet = self.observers.quiet(t.here, t.operation).or_else(|| self.lie());
                self.judged(state).successor(quiet);
            }
        } else {
            self.block.operations[count] += 1;
            let changed = &self.changed[t.operation];
            let hash = self.view.pack_changed(self.source, changed, t.target, &mut self.ahead.keys);
            // Back where it began: what is expanded is stored.
            let Some(hash) = hash else { return ControlFlow::Continue(()) };
            let (operation, state) = (t.operation as u32, state as u32);
            self.ahead.items.push(Soon { operation, state, hash, guess: None });
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
