//! Where names get their values while something is evaluated.

use super::memo::Memo;
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res};
use crate::value::table::Table;
use crate::value::val::Val;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Called with every solution or outcome; `Ok(false)` ends the search.
pub type Then<'a> = &'a mut dyn FnMut(&mut Env) -> Res<bool>;

/// Where a name's value lives while evaluating.
pub type Slot = u32;

/// Values of constants, variables and locals, by slot.
#[derive(Debug, Default)]
pub struct Env {
    pub slots: Vec<Val>,
    /// The first fault of the conjunction being solved; the solution counts only if nothing is false.
    pub pending: Option<Box<Fault>>,
    /// Set when an unbounded integer was enumerated from MININT to MAXINT, or as far as `reach` says.
    pub truncated: Option<Span>,
    /// How far from 0 an unbounded integer is enumerated, instead of from MININT to MAXINT.
    pub reach: Option<i64>,
    /// Asked in every enumeration: time is up, or the user has had enough.
    pub stop: Option<Arc<AtomicBool>>,
    /// The same values as words, for the fast tier ([`super::word`]); which of the two is up to date is the caller's
    /// business.
    pub words: Vec<u64>,
    /// Names of values that are no words.
    pub table: Arc<Table>,
    /// The number of the constants' valuation.
    pub valuation: u64,
    /// What places that remember have seen.
    pub memos: Vec<Memo>,
    pub lists: Vec<HashMap<u64, Arc<[u64]>, foldhash::fast::FixedState>>,
}

impl Env {
    pub fn new(slots: usize) -> Env {
        Env { slots: vec![Val::None; slots], ..Env::default() }
    }

    /// A fault when evaluation shall end.
    #[inline]
    pub fn go_on(&self) -> Res<()> {
        match &self.stop {
            Some(flag) if flag.load(std::sync::atomic::Ordering::Relaxed) => Err(Fault::limit("interrupted")),
            _ => Ok(()),
        }
    }

    #[inline]
    pub fn set(&mut self, slot: Slot, v: Val) {
        self.slots[slot as usize] = v;
    }
}
