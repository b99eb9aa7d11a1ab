//! The product as a transition system.

use super::Mistake;
use super::follow::{Follower, Known, Next};
use super::joint::{Compiled, Joint, Way};
use crate::lang::diag::Span;
use crate::model::OpId;
use crate::model::tower::{Claim, How, Level, Move, Promise};
use crate::system::{
    Check, Complete, Fault, Label, Machine, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor,
    Width,
};
use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A tower of levels as a system.
pub struct Product {
    /// The levels, and how they are followed.
    pub joint: Joint,
    /// The events of the level above by themselves, where the moves do not have them.
    above: Vec<usize>,
    /// A state without a transition is followed by one without.
    pub(super) deadlock: bool,
    operations: Vec<Operation>,
    checks: Vec<Check>,
    sets: Sets,
    /// Some abstract state may be missing in a set.
    shaky: AtomicBool,
}

/// Sets of rows, each with a word of its own: how many, and the rows one after the other, in order.
#[derive(Default)]
struct Sets {
    all: boxcar::Vec<Arc<[u64]>>,
    words: Mutex<HashMap<Arc<[u64]>, u64, FixedState>>,
}

impl Sets {
    fn word(&self, rows: Vec<u64>) -> u64 {
        // An insertion is the last thing that happens under the lock, so a panic leaves the map whole.
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(word) = words.get(&*rows) {
            return *word;
        }
        let rows: Arc<[u64]> = rows.into();
        let word = self.all.push(rows.clone()) as u64;
        words.insert(rows, word);
        word
    }
}

/// What one thread evaluates with.
pub struct Worker {
    pub(super) inner: <Machine as System>::Worker,
    here: Here,
    /// Where something was cut short.
    pub(super) cut: Option<Span>,
    known: Known,
}

/// A state or a transition at hand.
#[derive(Clone, Debug, Default)]
pub struct Here {
    is_stuck: bool,
    label: Label,
}

impl Product {
    /// The product of a tower whose machine has its constants solved. With `deadlock` a state in which only the levels
    /// above can go on is stuck.
    pub fn new(
        machine: Arc<Machine>,
        (levels, moves, above): (Vec<Level>, &[Move], &[OpId]),
        (claims, theorems): (Vec<Claim>, Vec<Claim>),
        way: Way,
        deadlock: bool,
    ) -> Product {
        let event = |op| machine.events.iter().position(|e| e.op == op);
        let compiled = moves.iter().filter_map(|m| {
            let (above, is_environment) = match &m.how {
                How::Levels(ops) => (ops.iter().map(|op| op.and_then(event)).collect(), false),
                How::Whole(op, _) => (vec![event(*op)], false),
                How::Environment => (vec![], true),
            };
            let stages = match &m.how {
                How::Whole(_, ways) => {
                    let staged = |(op, p): &(OpId, Promise)| Some((event(*op)?, p.clone()));
                    ways.iter().map(|way| way.iter().filter_map(staged).collect()).collect()
                }
                How::Levels(_) | How::Environment => vec![],
            };
            // Every operation of a move is an event of its model.
            let alone = event(m.alone)?;
            Some(Compiled { alone, above, is_environment, is_guarded: m.is_guarded.clone(), stages })
        });
        let compiled: Vec<Compiled> = compiled.collect();
        let above = above.iter().filter_map(|op| event(*op)).collect();
        let named = |m: &Move| Operation { name: m.name.clone(), may_repeat: true };
        let mut operations: Vec<Operation> = moves.iter().skip(1).map(named).collect();
        operations.push(Operation::named("(no operation)"));
        let checks = vec![Check::invariant("followed")];
        let (sets, shaky) = (Sets::default(), AtomicBool::new(false));
        Product {
            joint: Joint { machine, levels, claims, theorems, moves: compiled, way, planted: None },
            above,
            deadlock,
            operations,
            checks,
            sets,
            shaky,
        }
    }

    /// The same with a mistake.
    #[doc(hidden)]
    pub fn planted(mut self, mistake: Option<Mistake>) -> Product {
        self.joint.planted = mistake;
        self
    }

    /// Whether an abstract state may be missing in a set, so that one that is not followed may be so nevertheless.
    pub fn is_shaky(&self) -> bool {
        self.shaky.load(Ordering::Relaxed)
    }

    fn is_paired(&self) -> bool {
        self.joint.way == Way::Pairs
    }

    /// The rows of the machine that a state of the product stands for; one at least, unless the state is stuck.
    pub fn members(&self, row: &[u64]) -> Vec<Vec<u64>> {
        let width = self.joint.machine.width();
        if self.is_paired() {
            return vec![row[..width].to_vec()];
        }
        let word = row[row.len() - 2] as usize;
        // The number of rows comes first: they may have no words.
        let Some((n, words)) = self.sets.all.get(word).and_then(|s| s.split_first()) else { return vec![] };
        (0..*n as usize).map(|i| words[i * width..(i + 1) * width].to_vec()).collect()
    }

    /// Whether nobody follows.
    pub fn is_stuck(&self, row: &[u64]) -> bool {
        row.last().is_some_and(|status| *status != 0)
    }

    /// A row of the machine with the concrete variables of a state of the product; the others are somebody's.
    pub fn concrete(&self, row: &[u64], blank: &[u64]) -> Vec<u64> {
        if self.is_paired() {
            return row[..self.joint.machine.width()].to_vec();
        }
        let offset = self.joint.offset();
        let mut found = blank.to_vec();
        found[..offset].copy_from_slice(&row[..offset]);
        for (i, v) in self.joint.levels[0].variables.iter().enumerate() {
            found[self.joint.place(*v)] = row[offset + i];
        }
        found
    }

    /// The state of the product: concrete variables of one row, the members, and whether it is stuck.
    fn encode(&self, concrete: &[u64], mut members: Vec<Vec<u64>>, is_stuck: bool) -> Vec<u64> {
        if self.is_paired() {
            let row = if is_stuck { concrete } else { members.first().map_or(concrete, |m| &**m) };
            return row.iter().copied().chain([u64::from(is_stuck)]).collect();
        }
        members.sort_unstable();
        members.dedup();
        let word = self.sets.word(std::iter::once(members.len() as u64).chain(members.concat()).collect());
        let offset = self.joint.offset();
        let own = self.joint.levels[0].variables.iter().map(|v| concrete[self.joint.place(*v)]);
        concrete[..offset].iter().copied().chain(own).chain([word, u64::from(is_stuck)]).collect()
    }

    /// The only state before INITIALISATION: every variable has some value.
    pub(super) fn blank(&self, w: &mut <Machine as System>::Worker, start: usize) -> Res<Vec<u64>> {
        let mut blank = None;
        let _ = self.joint.machine.initial(w, start, &mut |_, row: &[u64]| {
            blank = Some(row.to_vec());
            ControlFlow::Break(())
        })?;
        blank.ok_or_else(|| Fault::limit("the evaluation was stopped"))
    }

    /// A label of the product as one of the machine.
    pub fn machine_label(&self, label: &Label) -> Label {
        let mut own = label.clone();
        if let Some(first) = own.first_mut() {
            *first = self.joint.moves.get(*first as usize + 1).map_or(u64::MAX, |m| m.alone as u64);
        }
        own
    }

    /// All steps of a move, as states of the product, each once.
    fn steps(
        &self,
        w: &mut Worker,
        at: usize,
        from: &Source,
        visit: &mut dyn FnMut(&mut Worker, Visited) -> ControlFlow<()>,
    ) -> (ControlFlow<()>, bool) {
        let mut follower = Follower::new(&self.joint, &mut w.inner, at, &from.concrete, &from.members);
        follower.known = Some(&mut w.known);
        let next = follower.next();
        let (cut, is_open, moved) = (follower.cut, follower.is_open, follower.has_moved);
        w.cut = w.cut.or(cut);
        if is_open && !self.is_paired() {
            self.shaky.store(true, Ordering::Relaxed);
        }
        // One step of a set is just one.
        let is_single = next.len() == 1 && !self.is_paired();
        let mut seen: HashSet<(Label, Vec<u64>), FixedState> = HashSet::default();
        let mut visit = |w: &mut Worker, found: Visited| {
            if let Visited::State(args, row) = &found
                && !is_single
                && !seen.insert((args.clone(), row.clone()))
            {
                return ControlFlow::Continue(());
            }
            visit(w, found)
        };
        for n in next {
            let flow = match n {
                Next::Fault(fault) => visit(w, Visited::Fault(fault)),
                Next::Followed { args, concrete, members } if self.is_paired() => {
                    let mut flow = ControlFlow::Continue(());
                    for m in members {
                        let row = self.encode(&concrete, vec![m], false);
                        flow = visit(w, Visited::State(args.clone(), row));
                        if flow.is_break() {
                            break;
                        }
                    }
                    flow
                }
                Next::Followed { args, concrete, members } => {
                    let row = self.encode(&concrete, members, false);
                    visit(w, Visited::State(args, row))
                }
                Next::Stuck { args, concrete } => {
                    let row = self.encode(&concrete, vec![], true);
                    visit(w, Visited::State(args, row))
                }
            };
            if flow.is_break() {
                return (flow, moved);
            }
        }
        (ControlFlow::Continue(()), moved)
    }

    /// Whether a level above can go on.
    fn goes_on_above(&self, w: &mut Worker, from: &Source) -> bool {
        if self.joint.errs(Mistake::Deadlock) {
            return false;
        }
        let by_move = self.joint.moves[1..].iter().flat_map(|m| m.above.iter().flatten());
        let events: Vec<usize> = match self.joint.way {
            Way::Sets => self.above.clone(),
            Way::Pairs | Way::Traces(_) => by_move.copied().collect(),
        };
        let mut follower = Follower::new(&self.joint, &mut w.inner, 0, &from.concrete, &from.members);
        let goes_on = follower.has_step(&events);
        w.cut = w.cut.or(follower.cut);
        goes_on
    }
}

enum Visited {
    State(Label, Vec<u64>),
    Fault(Box<Fault>),
}

/// A state that is expanded.
struct Source {
    concrete: Vec<u64>,
    members: Vec<Vec<u64>>,
}

impl System for Product {
    type Worker = Worker;
    type Here = Here;

    fn widths(&self) -> Vec<Width> {
        let mut widths = self.joint.machine.widths();
        if !self.is_paired() {
            let offset = self.joint.offset();
            let own: Vec<Width> =
                self.joint.levels[0].variables.iter().map(|v| widths[self.joint.place(*v)]).collect();
            widths.truncate(offset);
            widths.extend(own);
            widths.push(Width::Name);
        }
        widths.push(Width::Bits(1));
        widths
    }

    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    fn worker(&self, stop: &Stop) -> Worker {
        let (inner, here) = (self.joint.machine.worker(stop), Here::default());
        Worker { inner, here, cut: None, known: Known::default() }
    }

    fn starts(&self, w: &mut Worker, visit: &mut dyn Starts<Worker>) -> Option<Complete> {
        let mut starts = Inner { product: self, visit, here: std::mem::take(&mut w.here) };
        self.joint.machine.starts(&mut w.inner, &mut starts)
    }

    fn initial(&self, w: &mut Worker, start: usize, visit: &mut Visit<'_, Here>) -> Res<ControlFlow<()>> {
        let blank = self.blank(&mut w.inner, start)?;
        let from = Source { concrete: blank.clone(), members: vec![blank] };
        let mut fault = None;
        let mut seen = HashSet::new();
        let (flow, _) = self.steps(w, 0, &from, &mut |w, found| match found {
            Visited::Fault(e) => {
                Fault::gather(&mut fault, e);
                ControlFlow::Continue(())
            }
            Visited::State(_, row) => {
                if !seen.insert(row.clone()) {
                    return ControlFlow::Continue(());
                }
                w.here = Here { is_stuck: self.is_stuck(&row), label: Label::new() };
                visit(&mut w.here, &row)
            }
        });
        match fault {
            Some(fault) => Err(fault),
            None => Ok(flow),
        }
    }

    fn successors(&self, w: &mut Worker, source: &[u64], visit: &mut dyn Visitor<Here>) -> ControlFlow<()> {
        // The search ends at a state that is stuck.
        if self.is_stuck(source) {
            return ControlFlow::Continue(());
        }
        let members = self.members(source);
        let Some(first) = members.first() else { return ControlFlow::Continue(()) };
        let concrete = self.concrete(source, first);
        let from = Source { concrete, members };
        let mut has_moved = false;
        for at in 1..self.joint.moves.len() {
            let (flow, moved) = self.steps(w, at, &from, &mut |w, found| match found {
                Visited::Fault(fault) => visit.fault(at - 1, fault),
                Visited::State(args, row) => {
                    let label: Label = std::iter::once(at as u64 - 1).chain(args).collect();
                    w.here = Here { is_stuck: self.is_stuck(&row), label };
                    visit.transition(Transition { operation: at - 1, target: &row, here: &mut w.here })
                }
            });
            flow?;
            has_moved |= moved;
        }
        if self.deadlock && !has_moved && self.goes_on_above(w, &from) {
            let operation = self.operations.len() - 1;
            let target = self.encode(&from.concrete, vec![], true);
            w.here = Here { is_stuck: true, label: Label::from_slice(&[operation as u64]) };
            return visit.transition(Transition { operation, target: &target, here: &mut w.here });
        }
        ControlFlow::Continue(())
    }

    fn load<'w>(&self, w: &'w mut Worker, row: &[u64]) -> &'w mut Here {
        w.here = Here { is_stuck: self.is_stuck(row), label: Label::new() };
        &mut w.here
    }

    fn holds(&self, _: usize, here: &mut Here) -> Res<bool> {
        Ok(!here.is_stuck)
    }

    fn cut(&self, w: &mut Worker) -> Option<Span> {
        w.cut.take().or_else(|| self.joint.machine.cut(&mut w.inner))
    }

    fn label(&self, _: usize, here: &Here) -> Label {
        here.label.clone()
    }

    fn start_of(&self, row: &[u64]) -> usize {
        self.joint.machine.start_of(&row[..self.joint.offset()])
    }
}

/// The starts of the machine are those of the product.
struct Inner<'a> {
    product: &'a Product,
    visit: &'a mut dyn Starts<Worker>,
    here: Here,
}

impl Starts<<Machine as System>::Worker> for Inner<'_> {
    fn start(&mut self, worker: &mut <Machine as System>::Worker, start: usize) -> ControlFlow<()> {
        let inner = std::mem::take(worker);
        let here = std::mem::take(&mut self.here);
        let mut w = Worker { inner, here, cut: None, known: Known::default() };
        let flow = self.visit.start(&mut w, start);
        if let Some(at) = self.product.cut(&mut w) {
            self.visit.cut(at);
        }
        *worker = w.inner;
        flow
    }

    fn fault(&mut self, fault: Box<Fault>) -> ControlFlow<()> {
        self.visit.fault(fault)
    }

    fn cut(&mut self, at: Span) {
        self.visit.cut(at);
    }
}
