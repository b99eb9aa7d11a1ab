//! Where names get their values while something is evaluated: one environment for each tier, so that what is a value here and
//! a word there cannot be mixed up.

use super::memo::Memo;
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res};
use crate::value::rep::R;
use crate::value::table::Table;
use crate::value::val::Val;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Called with every solution or outcome; `Ok(false)` ends the search.
pub type Then<'a, E = Env> = &'a mut dyn FnMut(&mut E) -> Res<bool>;

/// Where a name's value lives while evaluating.
pub type Slot = u32;

/// What is set to end an evaluation.
pub type StopFlag = Arc<AtomicBool>;

/// What the environments of both tiers keep account of.
pub trait Account {
    /// The first fault of the conjunction being solved; the solution counts only if nothing is false.
    fn pending(&mut self) -> &mut Option<Box<Fault>>;

    /// Set when an unbounded integer was enumerated from MININT to MAXINT.
    fn truncated(&mut self) -> &mut Option<Span>;

    /// How far from 0 an unbounded integer is enumerated, instead of from MININT to MAXINT.
    fn reach(&self) -> Option<i64> {
        None
    }

    /// A fault when evaluation shall end.
    fn go_on(&self) -> Res<()>;
}

/// The environment of the general tier: values of constants, variables and locals, by slot.
#[derive(Debug, Default)]
pub struct Env {
    pub slots: Vec<Val>,
    /// See [`Account::pending`].
    pub pending: Option<Box<Fault>>,
    /// Set when an unbounded integer was enumerated from MININT to MAXINT, or as far as `reach` says.
    pub truncated: Option<Span>,
    /// See [`Account::reach`].
    pub reach: Option<i64>,
    /// Asked in every enumeration: time is up, or the user has had enough.
    pub stop: Option<StopFlag>,
    /// Steps of enumerations that may be taken, if not 0; and those that were.
    pub most: u64,
    pub spent: Cell<u64>,
}

impl Env {
    pub fn new(slots: usize) -> Env {
        Env { slots: vec![Val::None; slots], ..Env::default() }
    }

    /// A fault when evaluation shall end.
    #[inline]
    pub fn go_on(&self) -> Res<()> {
        if self.most > 0 {
            let spent = self.spent.get() + 1;
            self.spent.set(spent);
            if spent > self.most {
                return Err(Fault::limit("too many steps"));
            }
        }
        go_on(&self.stop)
    }

    #[inline]
    pub fn set(&mut self, slot: Slot, v: Val) {
        self.slots[slot as usize] = v;
    }
}

impl Account for Env {
    #[inline(always)]
    fn pending(&mut self) -> &mut Option<Box<Fault>> {
        &mut self.pending
    }

    #[inline(always)]
    fn truncated(&mut self) -> &mut Option<Span> {
        &mut self.truncated
    }

    #[inline(always)]
    fn reach(&self) -> Option<i64> {
        self.reach
    }

    #[inline(always)]
    fn go_on(&self) -> Res<()> {
        Env::go_on(self)
    }
}

/// The lists that one place remembers.
pub type Lists = HashMap<u64, Arc<[u64]>, foldhash::fast::FixedState>;

/// The environment of the fast tier: the same as words ([`super::word`]).
#[derive(Debug, Default)]
pub struct WordEnv {
    pub words: Vec<u64>,
    /// See [`Account::pending`].
    pub pending: Option<Box<Fault>>,
    /// See [`Account::truncated`].
    pub truncated: Option<Span>,
    /// As in [`Env`].
    pub stop: Option<StopFlag>,
    /// Names of values that are no words.
    pub table: Arc<Table>,
    /// The number of the constants' valuation.
    pub valuation: u64,
    /// What places that remember have seen.
    pub memos: Vec<Memo>,
    pub lists: Vec<Lists>,
    /// What parts without a form on words are evaluated in. Nobody else sees it: what such a part reads is put here
    /// before it runs, or by [`WordEnv::keep`].
    general: Env,
}

impl WordEnv {
    /// So many slots; a memory for each place that remembers.
    pub fn new(slots: usize, table: Arc<Table>, memos: Vec<Memo>, stop: Option<StopFlag>) -> WordEnv {
        let lists = vec![Lists::default(); memos.len()];
        let general = Env { stop: stop.clone(), ..Env::new(slots) };
        WordEnv { words: vec![0; slots], stop, table, memos, lists, general, ..WordEnv::default() }
    }

    /// The value of a constant that is symbolic, or the same in all valuations: parts without a form on words read it
    /// as a value.
    pub fn keep(&mut self, slot: usize, v: &Val) {
        self.general.slots[slot] = v.clone();
    }

    /// Evaluates something that has no form on words, with these slots read from the words; and says whether that was
    /// cut short, which has to be noticed each time.
    pub(super) fn slowly<T>(
        &mut self,
        reads: &[(Slot, R)],
        run: impl FnOnce(&mut Env) -> Res<T>,
    ) -> (Res<T>, bool) {
        for (slot, rep) in reads {
            let slot = *slot as usize;
            self.general.slots[slot] = self.table.decode(self.words[slot], rep);
        }
        let out = run(&mut self.general);
        let cut = self.general.truncated.take();
        if let Some(span) = cut {
            self.truncated.get_or_insert(span);
        }
        (out, cut.is_some())
    }
}

impl Account for WordEnv {
    #[inline(always)]
    fn pending(&mut self) -> &mut Option<Box<Fault>> {
        &mut self.pending
    }

    #[inline(always)]
    fn truncated(&mut self) -> &mut Option<Span> {
        &mut self.truncated
    }

    #[inline(always)]
    fn go_on(&self) -> Res<()> {
        go_on(&self.stop)
    }
}

#[inline(always)]
fn go_on(stop: &Option<StopFlag>) -> Res<()> {
    match stop {
        Some(flag) if flag.load(Ordering::Relaxed) => Err(Fault::limit("interrupted")),
        _ => Ok(()),
    }
}
