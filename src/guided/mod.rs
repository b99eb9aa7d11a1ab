//! A B machine that a process of CSP-M guides: both in lock-step, as one [`System`].
//!
//! A state is a state of the machine and one of the process. An operation and the channel of its name happen together:
//! the fields of an event are the operation's first parameters, and then its results. An event of another channel,
//! `tau` and `tick` leave the machine where it is; an operation that no channel has never happens. What a process hides
//! is its own affair: the machine takes no part in it. This is what ProB does with `-csp-guide`.
//!
//! Parameters that an event has are not looked for, they are given ([`Machine::guided`]): so an operation has no value
//! only where it has none for what the process offers. As with a process alone, one thread explores.
//!
//! Absent on purpose: reading files, formulas.

pub mod action;
pub mod formulas;
pub mod values;

use crate::eval::env::WordEnv;
use crate::lang::diag::{NOWHERE, SourceMap, Span};
use crate::process::{Pattern, TAU, TICK, begins, deep};
use crate::system::{
    Check, Complete, Fault, Label, Machine, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor,
    Width,
};
use crate::value::Show;
use kanon_csp::process::{Label as Does, Processes};
use kanon_csp::term::EventId;
use kanon_csp::value::{ConstantId, Fault as Why, NodeId, Value};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An operation and the channel of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Its place among the events of the machine.
    pub event: usize,
    /// The channel.
    pub channel: ConstantId,
    /// How many fields the channel has: parameters, and then results.
    pub fields: usize,
}

/// A machine and the process that guides it.
pub struct Guided {
    machine: Arc<Machine>,
    inner: Mutex<Inner>,
    start: NodeId,
    over: NodeId,
    pairs: Vec<Pair>,
    /// The operations of the machine, `tau`, `tick`, and the channels that are no operations.
    operations: Vec<Operation>,
    checks: Vec<Check>,
    channels: HashMap<ConstantId, Kind>,
    patterns: Vec<Pattern>,
    sources: Arc<SourceMap>,
}

/// What happens with an event of a channel.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Together with an operation, by its place among the pairs.
    Together(usize),
    /// Alone, as this operation of the product.
    Alone(usize),
}

struct Inner {
    processes: Processes,
    events: HashMap<EventId, Known>,
}

/// What is known of an event.
#[derive(Clone)]
struct Known {
    /// For each pattern whether the event is in it.
    fits: Arc<[bool]>,
    does: How,
}

#[derive(Clone)]
enum How {
    Alone(usize),
    /// The words of the parameters and results that the event has; none if there is no such state of the machine.
    Together {
        pair: usize,
        given: Arc<[u64]>,
        results: Arc<[u64]>,
    },
    /// The event has a value that the machine has not.
    Wrong {
        pair: usize,
        why: Box<Fault>,
    },
}

/// What one thread evaluates with.
#[derive(Default)]
pub struct Worker {
    inner: <Machine as System>::Worker,
    here: Here,
    /// The machine's words are in `here`.
    is_out: bool,
}

/// A state or a transition at hand.
#[derive(Debug, Default)]
pub struct Here {
    /// The machine's part.
    pub(crate) words: WordEnv,
    /// The event that happens; none for `tau` and `tick`, and in a state.
    pub(crate) event: Option<EventId>,
    fits: Option<Arc<[bool]>>,
}

/// Events that an operation may happen with, all with the same parameters.
struct Offer {
    pair: usize,
    given: Arc<[u64]>,
    events: Vec<Wanted>,
}

/// One of these events, the results that it wants, and the states that it leads to.
struct Wanted {
    event: EventId,
    fits: Arc<[bool]>,
    results: Arc<[u64]>,
    targets: Vec<NodeId>,
}

/// A step that the process takes alone.
struct Alone {
    operation: usize,
    event: Option<(EventId, Arc<[bool]>)>,
    target: NodeId,
}

/// What the process can do in a state.
#[derive(Default)]
struct Can {
    alone: Vec<Alone>,
    offers: Vec<Offer>,
    /// Events that the machine cannot have, by operation.
    wrong: Vec<(usize, Box<Fault>)>,
}

impl Guided {
    /// The product of a machine, whose constants are solved and whose parameters are given as `pairs` say, with the
    /// process that `start` is. `patterns` are what formulas speak of, and `sources` the texts that faults are in.
    pub fn new(
        machine: Arc<Machine>,
        mut processes: Processes,
        start: NodeId,
        pairs: Vec<Pair>,
        patterns: Vec<Pattern>,
        sources: Arc<SourceMap>,
    ) -> Guided {
        let again = |o: &Operation| Operation { name: o.name.clone(), may_repeat: true };
        let mut operations: Vec<Operation> = machine.operations().iter().map(again).collect();
        operations.extend([Operation::named(TAU), Operation::named(TICK)]);
        let mut channels = HashMap::new();
        for (place, constant) in processes.machine().program().constants.iter().enumerate() {
            if constant.data.is_none() {
                let id = ConstantId(place as u32);
                let kind = match pairs.iter().position(|p| p.channel == id) {
                    Some(pair) => Kind::Together(pair),
                    None => {
                        operations.push(Operation { name: constant.name.clone(), may_repeat: true });
                        Kind::Alone(operations.len() - 1)
                    }
                };
                channels.insert(id, kind);
            }
        }
        let text = |span: Span| sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        let named = |c: &Check| Check { name: text(c.span).into(), ..c.clone() };
        let checks = machine.checks().iter().map(named).collect();
        // What cannot be looked at yet is found out with its transitions.
        let start = deep(|| processes.state(start)).unwrap_or(start);
        let over = processes.omega();
        let inner = Mutex::new(Inner { processes, events: HashMap::new() });
        Guided { machine, inner, start, over, pairs, operations, checks, channels, patterns, sources }
    }

    /// The machine.
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// The operations that happen with a channel.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The words of a row that are the machine's.
    pub fn row<'r>(&self, row: &'r [u64]) -> &'r [u64] {
        &row[..self.machine.width().min(row.len())]
    }

    /// Whether the transition at hand is in a pattern of formulas.
    pub(crate) fn is_in(&self, pattern: usize, operation: usize, here: &Here) -> bool {
        let silent = self.machine.operations().len();
        match &self.patterns[pattern] {
            Pattern::Tau => operation == silent,
            Pattern::Tick => operation == silent + 1,
            Pattern::Begins(_) => here.fits.as_ref().and_then(|f| f.get(pattern).copied()).unwrap_or(false),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Tables only grow, and an entry is complete when it is made.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fault with its place in words, since the machine's places are in other texts.
    fn fault(&self, why: &Why) -> Box<Fault> {
        let place = match self.sources.get(why.span.file) {
            Some(_) if why.span != NOWHERE => format!(" ({})", self.sources.place(why.span)),
            _ => String::new(),
        };
        Fault::limit(format!("{}{place}", why.message))
    }

    /// What an event is for the machine.
    fn known(&self, inner: &mut Inner, event: EventId) -> Known {
        if let Some(known) = inner.events.get(&event) {
            return known.clone();
        }
        let csp = inner.processes.machine();
        let value = csp.event_value(event);
        let is = |p: &Pattern| matches!(p, Pattern::Begins(front) if begins(front, value));
        let fits: Arc<[bool]> = self.patterns.iter().map(is).collect();
        let kind = csp.channel_of(event).and_then(|c| self.channels.get(&c));
        let does = match kind {
            // Every event has a channel.
            None => How::Alone(self.machine.operations().len()),
            Some(Kind::Alone(operation)) => How::Alone(*operation),
            Some(Kind::Together(pair)) => self.together(csp, *pair, value),
        };
        let known = Known { fits, does };
        inner.events.insert(event, known.clone());
        known
    }

    /// What the process can do, alone and together with the machine.
    fn can(&self, node: NodeId) -> Result<Can, Box<Why>> {
        let silent = self.machine.operations().len();
        let mut can = Can::default();
        let mut inner = self.inner();
        let processes = &mut inner.processes;
        let steps = deep(|| processes.transitions(node))?;
        for (label, target) in steps.iter() {
            let target = *target;
            let event = match label {
                Does::Tau => {
                    can.alone.push(Alone { operation: silent, event: None, target });
                    continue;
                }
                Does::Tick => {
                    can.alone.push(Alone { operation: silent + 1, event: None, target });
                    continue;
                }
                Does::Event(event) => *event,
            };
            let Known { fits, does } = self.known(&mut inner, event);
            match does {
                How::Alone(operation) => {
                    can.alone.push(Alone { operation, event: Some((event, fits)), target });
                }
                How::Wrong { pair, why } => {
                    if !can.wrong.iter().any(|(_, known)| *known == why) {
                        can.wrong.push((self.pairs[pair].event, why));
                    }
                }
                How::Together { pair, given, results } => {
                    let at = can.offers.iter().position(|o| o.pair == pair && o.given == given);
                    let at = at.unwrap_or_else(|| {
                        can.offers.push(Offer { pair, given, events: vec![] });
                        can.offers.len() - 1
                    });
                    let events = &mut can.offers[at].events;
                    match events.iter_mut().find(|wanted| wanted.event == event) {
                        Some(wanted) => wanted.targets.push(target),
                        None => events.push(Wanted { event, fits, results, targets: vec![target] }),
                    }
                }
            }
        }
        Ok(can)
    }

    fn together(&self, csp: &kanon_csp::eval::Machine, pair: usize, value: &Value) -> How {
        let Pair { event, .. } = self.pairs[pair];
        let fields = match value {
            Value::Dot(parts) => &parts[1..],
            _ => &[],
        };
        let model = &*self.machine.model;
        let op = &model.operations[self.machine.events[event].op.index()];
        let params = op.params.len();
        let (mut given, mut results) = (vec![], vec![]);
        for (place, field) in fields.iter().enumerate() {
            let Some(local) = op.params.iter().chain(&op.results).nth(place) else { break };
            let local = model.local(*local);
            let word = values::of(field, &local.ty, model, &self.machine.scope, csp)
                .map(|v| self.machine.word_of(event, place, &v));
            match word {
                Ok(Some(word)) if place < params => given.push(word),
                Ok(Some(word)) => results.push(word),
                why => {
                    let why = why.err().unwrap_or_else(|| "it is outside of its type".to_string());
                    let text = csp.show(value);
                    let channel = csp.program().constants[self.pairs[pair].channel.0 as usize].span;
                    let message = format!(
                        "`{text}` ({}) is no event of the machine: {why}, as `{}` of `{}` ({})",
                        self.sources.place(channel),
                        local.name,
                        op.name,
                        self.sources.place(local.span),
                    );
                    return How::Wrong { pair, why: Fault::limit(message) };
                }
            }
        }
        How::Together { pair, given: given.into(), results: results.into() }
    }
}

impl Worker {
    /// The machine's words go back to its worker.
    fn settle(&mut self, machine: &Machine) -> &mut <Machine as System>::Worker {
        if std::mem::take(&mut self.is_out) {
            machine.exchange(&mut self.inner, &mut self.here.words);
        }
        &mut self.inner
    }

    /// A state of the machine comes to hand.
    fn load(&mut self, machine: &Machine, row: &[u64]) -> &mut Here {
        let inner = self.settle(machine);
        machine.load(inner, row);
        machine.exchange(&mut self.inner, &mut self.here.words);
        self.is_out = true;
        self.here.event = None;
        self.here.fits = None;
        &mut self.here
    }
}

/// The steps of the machine with what the process offers.
struct Joined<'a> {
    guided: &'a Guided,
    offer: &'a Offer,
    here: &'a mut Here,
    visit: &'a mut dyn Visitor<Here>,
}

impl Visitor<WordEnv> for Joined<'_> {
    fn transition(&mut self, t: Transition<WordEnv>) -> ControlFlow<()> {
        let event = t.operation;
        for wanted in &self.offer.events {
            let mut is_wanted = true;
            for (found, result) in self.guided.machine.results(event, t.here).zip(wanted.results.iter()) {
                let Some(found) = found else {
                    let why = "a result that the channel has was assigned no value";
                    return self.visit.fault(event, Fault::limit(why));
                };
                is_wanted &= found == *result;
            }
            if !is_wanted {
                continue;
            }
            for target in &wanted.targets {
                let row: Vec<u64> = t.target.iter().copied().chain([target.0.into()]).collect();
                std::mem::swap(t.here, &mut self.here.words);
                self.here.event = Some(wanted.event);
                self.here.fits = Some(wanted.fits.clone());
                let here = &mut *self.here;
                let flow = self.visit.transition(Transition { operation: event, target: &row, here });
                std::mem::swap(t.here, &mut self.here.words);
                flow?;
            }
        }
        ControlFlow::Continue(())
    }

    fn fault(&mut self, operation: usize, fault: Box<Fault>) -> ControlFlow<()> {
        self.visit.fault(operation, fault)
    }
}

impl System for Guided {
    type Worker = Worker;
    type Here = Here;

    fn widths(&self) -> Vec<Width> {
        let mut widths = self.machine.widths();
        widths.push(Width::Bits(u32::BITS));
        widths
    }

    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    fn worker(&self, stop: &Stop) -> Worker {
        self.inner().processes.machine_mut().stop_with(stop);
        Worker { inner: self.machine.worker(stop), ..Worker::default() }
    }

    fn left_out(&self, deadlock: bool) -> usize {
        self.machine.left_out(deadlock)
    }

    fn starts(&self, w: &mut Worker, visit: &mut dyn Starts<Worker>) -> Option<Complete> {
        w.settle(&self.machine);
        let mut starts = Inside { guided: self, visit };
        self.machine.starts(&mut w.inner, &mut starts)
    }

    fn initial(&self, w: &mut Worker, start: usize, visit: &mut Visit<'_, Here>) -> Res<ControlFlow<()>> {
        w.settle(&self.machine);
        let Worker { inner, here, .. } = w;
        here.event = None;
        here.fits = None;
        self.machine.initial(inner, start, &mut |words: &mut WordEnv, row: &[u64]| {
            let row: Vec<u64> = row.iter().copied().chain([self.start.0.into()]).collect();
            std::mem::swap(words, &mut here.words);
            let flow = visit(here, &row);
            std::mem::swap(words, &mut here.words);
            flow
        })
    }

    fn successors(&self, w: &mut Worker, source: &[u64], visit: &mut dyn Visitor<Here>) -> ControlFlow<()> {
        let Some((node, row)) = source.split_last() else { return ControlFlow::Continue(()) };
        let Can { alone, offers, wrong } = match self.can(NodeId(*node as u32)) {
            Ok(can) => can,
            // Any operation may be missing.
            Err(why) => return (0..self.operations.len()).try_for_each(|o| visit.fault(o, self.fault(&why))),
        };
        for (operation, fault) in wrong {
            visit.fault(operation, fault)?;
        }
        for Alone { operation, event, target } in alone {
            let target: Vec<u64> = row.iter().copied().chain([target.0.into()]).collect();
            let here = w.load(&self.machine, row);
            if let Some((event, fits)) = event {
                here.event = Some(event);
                here.fits = Some(fits);
            }
            visit.transition(Transition { operation, target: &target, here })?;
        }
        w.settle(&self.machine);
        for offer in &offers {
            let event = self.pairs[offer.pair].event;
            let Worker { inner, here, .. } = w;
            let mut joined = Joined { guided: self, offer, here, visit };
            self.machine.visit_given(inner, row, event, &offer.given, &mut joined)?;
        }
        ControlFlow::Continue(())
    }

    fn load<'w>(&self, w: &'w mut Worker, row: &[u64]) -> &'w mut Here {
        w.load(&self.machine, self.row(row))
    }

    fn holds(&self, check: usize, here: &mut Here) -> Res<bool> {
        self.machine.holds(check, &mut here.words)
    }

    fn cut(&self, w: &mut Worker) -> Option<Span> {
        let inner = w.settle(&self.machine);
        self.machine.cut(inner)
    }

    fn label(&self, operation: usize, here: &Here) -> Label {
        let event = here.event.map_or(0, |e| u64::from(e.0) + 1);
        let mut label = Label::from_slice(&[operation as u64, event]);
        if operation < self.machine.operations().len() {
            label.extend_from_slice(&self.machine.label(operation, &here.words)[1..]);
        }
        label
    }

    fn is_over(&self, row: &[u64]) -> bool {
        row.last() == Some(&u64::from(self.over.0))
    }

    fn start_of(&self, row: &[u64]) -> usize {
        self.machine.start_of(self.row(row))
    }

    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        let model = &*self.machine.model;
        let constants = self.machine.constant_values(self.start_of(row));
        let constants = model.constants.iter().zip(constants).filter_map(|(d, v)| {
            let value = v?;
            Some((d.name.to_string(), Show { value: &value, ty: &d.ty, model }.to_string()))
        });
        let mut shown: Vec<(String, String)> = constants.collect();
        shown.extend(self.machine.show_state(self.row(row)));
        let node = row.last().map_or(self.over, |n| NodeId(*n as u32));
        shown.push(("process".to_string(), self.inner().processes.machine().show_process(node)));
        shown
    }

    fn show_label(&self, label: &Label) -> String {
        let Some((operation, rest)) = label.split_first() else { return String::new() };
        let silent = self.machine.operations().len() as u64;
        let event = rest.first().copied().unwrap_or(0);
        if *operation == silent || *operation == silent + 1 {
            return self.operations[*operation as usize].name.to_string();
        }
        if *operation > silent {
            return self.inner().processes.machine().show_event(EventId(event.saturating_sub(1) as u32));
        }
        let own: Label = std::iter::once(*operation).chain(rest.iter().skip(1).copied()).collect();
        let results = self.machine.labelled(&own).map(|t| {
            let op = &self.machine.model.operations[t.op.index()];
            let model = &*self.machine.model;
            let show = |(l, v): (&crate::model::LocalId, &Option<crate::value::Value>)| match v {
                Some(value) => Show { value, ty: &model.local(*l).ty, model }.to_string(),
                None => "?".to_string(),
            };
            op.results.iter().zip(&t.results).map(show).collect::<Vec<_>>()
        });
        let results = results.unwrap_or_default();
        let back = if results.is_empty() { String::new() } else { format!(" --> {}", results.join(",")) };
        format!("{}{back}", self.machine.show_label(&own))
    }
}

/// The starts of the machine are those of the product.
struct Inside<'a> {
    guided: &'a Guided,
    visit: &'a mut dyn Starts<Worker>,
}

impl Starts<<Machine as System>::Worker> for Inside<'_> {
    fn start(&mut self, worker: &mut <Machine as System>::Worker, start: usize) -> ControlFlow<()> {
        let mut w = Worker { inner: std::mem::take(worker), ..Worker::default() };
        let flow = self.visit.start(&mut w, start);
        if let Some(at) = self.guided.cut(&mut w) {
            self.visit.cut(at);
        }
        w.settle(&self.guided.machine);
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
