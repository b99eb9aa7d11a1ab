//! What others ask of the states and steps of a machine, beyond its own checks: tests on words wherever there are words.

use super::machine::{Machine, Values};
use super::{Stop, System};
use crate::eval::compile::SlotInfo;
use crate::eval::env::WordEnv;
use crate::eval::node::{Slot, Test};
use crate::eval::word;
use crate::eval::word::lower::Lower;
use crate::eval::word::memo::Memo;
use crate::value::fault::{Fault, Res};
use std::sync::Arc;

/// Tests, with an environment of their own. Its first slots are those of the machine; the others are names that a test
/// gives to something of a step.
pub struct Watch {
    tests: Vec<Watched>,
    slots: Vec<SlotInfo>,
    words: WordEnv,
    /// The valuation that is in the words now.
    valuation: usize,
    /// For steps that have no form on words.
    values: Values,
}

/// A test of a state, or of a step.
pub struct Question {
    /// Over the slots of the machine, and those that are given.
    pub test: Test,
    /// The names that it gives to something of a step.
    pub given: Vec<Given>,
}

/// Something of a step, and the slot where a test reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// What is read.
    pub from: From,
    /// By which slot.
    pub to: Slot,
}

/// What a step has beside the state it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// A variable before the step, by its slot.
    Before(Slot),
    /// A parameter, by its place.
    Parameter(usize),
    /// A result, by its place.
    Result(usize),
}

struct Watched {
    question: Question,
    /// The test on words.
    fast: Option<word::Pred>,
}

impl Watch {
    /// The first of the slots are the machine's, whose constants are known by now.
    pub fn new(machine: &Machine, slots: Vec<SlotInfo>, questions: Vec<Question>, stop: &Stop) -> Watch {
        let vars = machine.var_slots();
        let vars = vars.start as Slot..vars.end as Slot;
        let mut lower = Lower::new(&slots, &machine.table, &machine.known, vars);
        let watched = |question: Question| {
            let fast = lower.open(&question.test, question.given.iter().map(|g| g.to));
            Watched { question, fast }
        };
        let tests = questions.into_iter().map(watched).collect();
        let memos = (0..lower.sites).map(|_| Memo::new(&Arc::default())).collect();
        let words = WordEnv::new(slots.len(), machine.table.clone(), memos, Some(stop.clone()));
        let values = machine.new_values(slots.len(), stop);
        Watch { tests, slots, words, valuation: usize::MAX, values }
    }

    /// Whether a test reads something of steps beside the states.
    pub fn reads_labels(&self) -> bool {
        let mut given = self.tests.iter().flat_map(|t| &t.question.given);
        given.any(|g| !matches!(g.from, From::Before(_)))
    }

    /// The steps of a state are about to be visited.
    pub fn before(&mut self, machine: &Machine, row: &[u64]) {
        let (first, words) = (machine.const_slots(), machine.words(row));
        for given in self.tests.iter().flat_map(|t| &t.question.given) {
            if let From::Before(slot) = given.from {
                self.words.words[given.to as usize] = words[slot as usize - first];
            }
        }
    }

    fn load(&mut self, machine: &Machine, valuation: usize, variables: &[u64]) {
        if self.valuation != valuation {
            machine.put_constants(&mut self.words, valuation);
            self.valuation = valuation;
        }
        self.words.words[machine.var_slots()].copy_from_slice(variables);
    }

    /// Puts a state at hand.
    #[inline]
    pub fn at_state(&mut self, machine: &Machine, row: &[u64]) {
        self.load(machine, machine.start_of(row), machine.words(row));
    }

    /// Whether a test holds of the state at hand.
    #[inline]
    pub fn holds(&mut self, test: usize, here: &mut WordEnv) -> Res<bool> {
        let holds = match &self.tests[test].fast {
            Some(fast) => fast.holds(&mut self.words),
            // It reads only what is known of every state, so this does not happen; and if it did, nothing would be claimed.
            None => Err(Fault::limit("a test without a form on words")),
        };
        // That an enumeration was cut short is noticed at what the engines have at hand.
        here.truncated = here.truncated.or(self.words.truncated.take());
        holds
    }

    /// Puts a step at hand: the state it leads to. What it has beside it is fetched for each test.
    #[inline]
    pub fn at_step(&mut self, machine: &Machine, here: &WordEnv) {
        self.load(machine, here.valuation as usize, &here.words[machine.var_slots()]);
    }

    /// Whether a test holds of the step at hand, which is of this event.
    #[inline]
    pub fn holds_of_step(
        &mut self,
        machine: &Machine,
        event: usize,
        test: usize,
        here: &mut WordEnv,
    ) -> Res<bool> {
        if machine.fast[event].is_none() {
            return self.holds_by_values(machine, event, test, here);
        }
        let compiled = &machine.events[event];
        for given in &self.tests[test].question.given {
            let from = match given.from {
                From::Before(_) => continue,
                From::Parameter(p) => compiled.params[p],
                From::Result(r) => compiled.results[r],
            };
            self.words.words[given.to as usize] = here.words[from as usize];
        }
        self.holds(test, here)
    }

    /// The same for an event that runs on values: a result that nothing was assigned to has no word.
    fn holds_by_values(
        &mut self,
        machine: &Machine,
        event: usize,
        test: usize,
        here: &mut WordEnv,
    ) -> Res<bool> {
        machine.load_step(&mut self.values, event, here);
        let compiled = &machine.events[event];
        let question = &self.tests[test].question;
        for given in &question.given {
            let to = given.to as usize;
            let slots = &mut self.values.env.slots;
            slots[to] = match given.from {
                From::Before(_) => machine.table.decode(self.words.words[to], &self.slots[to].rep),
                From::Parameter(p) => slots[compiled.params[p] as usize].clone(),
                From::Result(r) => slots[compiled.results[r] as usize].clone(),
            };
        }
        self.values.holds(&question.test, here)
    }
}
