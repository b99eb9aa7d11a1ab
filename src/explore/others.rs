//! The other processes of a search that several make together, as one of them sees them: what belongs to them is handed
//! on when a state is expanded ([`Successors`]).
//!
//! *Absent:* how it gets there ([`crate::distribute`]); events.

use super::hooks::{ByKey, Keys};
use super::observe;
use super::store::{Changed, StateId, Store};
use super::watch::Watch;
use crate::system::{Label, System, Transition, Visitor};
use crate::value::fault::Fault;
use std::ops::ControlFlow;

/// A process, by its number.
pub type Process = u16;

/// The other processes, as a share sees them.
pub trait Others {
    /// How many processes there are, and which one this is.
    fn processes(&self) -> (usize, Process);

    /// Which process a packed key belongs to, and a hash of it.
    fn owner(&mut self, key: &[u64]) -> (Process, u64);

    /// Hands on a key: a successor of a state of this process, by an operation.
    fn hand_on(&mut self, to: Process, key: &[u64], parent: StateId, operation: usize);

    /// The key in a form that all processes know, and in which keys are ordered.
    fn portable(&mut self, key: &[u64]) -> Vec<u8>;
}
/// Keys that were handed on lately: they have arrived where they belong, or will have before what comes now.
pub(super) struct Recent {
    words: usize,
    places: usize,
    keys: Vec<u64>,
}

impl Recent {
    const LEAST: usize = 1 << 14;
    const MOST: usize = 1 << 20;

    pub(super) fn new(words: usize) -> Recent {
        // No packed word has all bits: fields have 63 of them.
        Recent { words, places: Recent::LEAST, keys: vec![u64::MAX; words * Recent::LEAST] }
    }

    /// Has room for as many as there are states, unless these are very many.
    pub(super) fn fit(&mut self, states: usize) {
        if states > self.places && self.places < Recent::MOST {
            self.places = (4 * self.places).min(Recent::MOST);
            self.keys = vec![u64::MAX; self.words * self.places];
        }
    }

    #[inline]
    pub(super) fn had(&mut self, key: &[u64], hash: u64) -> bool {
        let place = (hash as usize & (self.places - 1)) * self.words;
        let known = &mut self.keys[place..place + self.words];
        // Word by word: there is mostly one.
        if known.iter().zip(key).all(|(a, b)| a == b) {
            return true;
        }
        known.copy_from_slice(key);
        false
    }
}

/// Successors that belong here: their keys, one after the other, and the operations.
#[derive(Default)]
pub(super) struct Mine {
    keys: Vec<u64>,
    pub(super) operations: Vec<u32>,
}

impl Mine {
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.operations.clear();
    }

    #[inline]
    pub(super) fn get(&self, i: usize) -> Option<(&[u64], usize)> {
        let by = *self.operations.get(i)?;
        let words = self.keys.len() / self.operations.len();
        Some((&self.keys[i * words..(i + 1) * words], by as usize))
    }
}
/// The successors of a state: those that belong to others are handed on, and those that belong here are put down, and
/// asked for, until all have been seen.
pub(super) struct Successors<'v, S: System, V: ByKey> {
    pub(super) system: &'v S,
    pub(super) store: &'v Store,
    pub(super) watch: &'v mut Watch,
    pub(super) keys: &'v mut V::Keys,
    pub(super) packed: &'v mut Vec<u64>,
    pub(super) recent: &'v mut Recent,
    pub(super) changed: &'v [Changed],
    /// The key of the state that is expanded.
    pub(super) source: &'v [u64],
    pub(super) mine: &'v mut Mine,
    pub(super) others: &'v mut dyn Others,
    pub(super) id: StateId,
    pub(super) me: Process,
    pub(super) handed_on: usize,
}

impl<S: System, V: ByKey> Visitor<S::Here> for Successors<'_, S, V> {
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        let Successors { store, watch, others, packed, .. } = self;
        packed.clear();
        if V::REDUCES {
            store.pack_to(self.keys.key(t.target), packed);
        } else {
            // Without reduction the key is the state.
            store.pack_changed(self.source, &self.changed[t.operation], t.target, packed);
        }
        let is_new = !(V::REDUCES && self.system.operations()[t.operation].may_repeat) || {
            let mut label: Label = self.system.label(t.operation, t.here);
            label.extend_from_slice(packed);
            watch.labels.insert(label)
        };
        watch.counts.transitions += u64::from(is_new);
        watch.counts.operations[t.operation] += u64::from(is_new);
        let (owner, hash) = others.owner(packed);
        if owner == self.me {
            store.prefetch(packed);
            self.mine.keys.extend_from_slice(packed);
            self.mine.operations.push(t.operation as u32);
            return ControlFlow::Continue(());
        }
        // Also where it was handed on before: it may not have arrived yet.
        self.handed_on += 1;
        if !self.recent.had(packed, hash) {
            others.hand_on(owner, packed, self.id, t.operation);
        }
        ControlFlow::Continue(())
    }

    fn fault(&mut self, operation: usize, fault: Box<Fault>) -> ControlFlow<()> {
        observe::fault(self.watch, fault, operation, self.id)
    }
}
