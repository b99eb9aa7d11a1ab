//! A process of CSP-M as a [`System`]: a row is the number of a process term, a transition an event, `tau` or `tick`.
//!
//! Terms are numbered when they are met, by one evaluator that all workers share, so whoever explores a process does so
//! in one thread: otherwise the numbers, and with them the order of transitions, would depend on who comes first. What
//! cannot be computed is a fault of every operation, since any of them may be missing. To have terminated is no
//! deadlock. Absent on purpose: reading scripts, and symmetry: data are values that a script may compare and count.

use crate::lang::diag::{NOWHERE, SourceMap};
use crate::lang::stack::with_large_stack;
use crate::system::{
    Check, Complete, Fault, Label, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor, Width,
};
use kanon_csp::process::{Label as Does, Processes, Step};
use kanon_csp::term::EventId;
use kanon_csp::value::{ConstantId, Fault as Why, NodeId, Value};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The silent step, for formulas and in answers.
pub const TAU: &str = "tau";
/// Successful termination.
pub const TICK: &str = "tick";

/// A set of transitions that a formula speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The silent step.
    Tau,
    /// Termination.
    Tick,
    /// All events that begin so: a channel, a channel with some of its fields, an event.
    Begins(Value),
}

/// A process, and what is asked of its steps.
pub struct ProcessSystem {
    inner: Mutex<Inner>,
    start: NodeId,
    over: NodeId,
    operations: Vec<Operation>,
    channels: HashMap<ConstantId, usize>,
    names: Vec<Arc<str>>,
    patterns: Vec<Pattern>,
    sources: Arc<SourceMap>,
}

/// For each pattern whether a transition is in it.
type Fits = Arc<[bool]>;

struct Inner {
    processes: Processes,
    /// Which patterns an event is in.
    fits: HashMap<EventId, Fits>,
}

/// The step that led to the state at hand; there is nothing to ask of a state itself.
#[derive(Clone, Debug)]
pub struct Here {
    event: Option<EventId>,
    fits: Fits,
}

impl ProcessSystem {
    /// The process that `start` is, with the patterns of formulas, by name, and the texts that faults are in.
    pub fn new(
        mut processes: Processes,
        start: NodeId,
        patterns: Vec<(Arc<str>, Pattern)>,
        sources: Arc<SourceMap>,
    ) -> ProcessSystem {
        let mut operations = vec![Operation::named(TAU), Operation::named(TICK)];
        let mut channels = HashMap::new();
        for (place, constant) in processes.machine().program().constants.iter().enumerate() {
            if constant.data.is_none() {
                channels.insert(ConstantId(place as u32), operations.len());
                operations.push(Operation { name: Arc::clone(&constant.name), may_repeat: true });
            }
        }
        // What cannot be looked at yet is found out with its transitions.
        let start = deep(|| processes.state(start)).unwrap_or(start);
        let over = processes.omega();
        let (names, patterns) = patterns.into_iter().unzip();
        let inner = Mutex::new(Inner { processes, fits: HashMap::new() });
        ProcessSystem { inner, start, over, operations, channels, names, patterns, sources }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Tables only grow, and an entry is complete when it is made.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fault with its place in words, since an answer has no texts to look it up in.
    fn fault(&self, why: &Why) -> Box<Fault> {
        let place = match self.sources.get(why.span.file) {
            Some(_) if why.span != NOWHERE => format!(" ({})", self.sources.place(why.span)),
            _ => String::new(),
        };
        Fault::limit(format!("{}{place}", why.message))
    }

    fn nothing(&self) -> Here {
        Here { event: None, fits: Arc::from([]) }
    }
}

/// The evaluator recurses as deeply as a script makes it.
pub(crate) fn deep<T: Send>(act: impl FnOnce() -> Result<T, Box<Why>> + Send) -> Result<T, Box<Why>> {
    with_large_stack(act).unwrap_or_else(|e| Why::limit(NOWHERE, format!("no thread to evaluate with: {e}")))
}

impl Inner {
    /// The transitions of a state, each with the operation of its event and the patterns that it is in.
    fn steps(&mut self, state: NodeId, all: &[Pattern]) -> Result<Vec<(Step, Fits)>, Box<Why>> {
        let processes = &mut self.processes;
        let steps = deep(|| processes.transitions(state))?;
        Ok(steps.iter().map(|step| (*step, self.fits(step.0, all))).collect())
    }

    fn fits(&mut self, label: Does, all: &[Pattern]) -> Fits {
        let Does::Event(event) = label else {
            let is =
                |p: &Pattern| matches!((label, p), (Does::Tau, Pattern::Tau) | (Does::Tick, Pattern::Tick));
            return all.iter().map(is).collect();
        };
        if let Some(known) = self.fits.get(&event) {
            return Arc::clone(known);
        }
        let value = self.processes.machine().event_value(event);
        let is = |p: &Pattern| matches!(p, Pattern::Begins(front) if begins(front, value));
        let fits: Fits = all.iter().map(is).collect();
        self.fits.insert(event, Arc::clone(&fits));
        fits
    }
}

/// Whether a dotted value begins so: part by part, the last of them perhaps with more to come.
pub(crate) fn begins(front: &Value, whole: &Value) -> bool {
    if front == whole {
        return true;
    }
    let Value::Dot(parts) = whole else { return false };
    let front = match front {
        Value::Dot(front) => &front[..],
        one => std::slice::from_ref(one),
    };
    match front.split_last() {
        Some((last, before)) if before.len() < parts.len() => {
            parts[..before.len()] == *before && begins(last, &parts[before.len()])
        }
        _ => false,
    }
}

impl System for ProcessSystem {
    type Worker = Here;
    type Here = Here;

    fn widths(&self) -> Vec<Width> {
        vec![Width::Bits(u32::BITS)]
    }
    fn operations(&self) -> &[Operation] {
        &self.operations
    }
    fn checks(&self) -> &[Check] {
        &[]
    }
    fn worker(&self, stop: &Stop) -> Here {
        self.inner().processes.machine_mut().stop_with(stop);
        self.nothing()
    }
    fn starts(&self, w: &mut Here, visit: &mut dyn Starts<Here>) -> Option<Complete> {
        visit.start(w, 0).is_continue().then(Complete::every_start_was_visited)
    }
    fn initial(&self, w: &mut Here, _: usize, visit: &mut Visit<'_, Here>) -> Res<ControlFlow<()>> {
        *w = self.nothing();
        Ok(visit(w, &[self.start.0.into()]))
    }
    fn successors(&self, w: &mut Here, row: &[u64], visit: &mut dyn Visitor<Here>) -> ControlFlow<()> {
        let steps = self.inner().steps(NodeId(row[0] as u32), &self.patterns);
        let steps = match steps {
            Ok(steps) => steps,
            Err(why) => {
                return (0..self.operations.len()).try_for_each(|o| visit.fault(o, self.fault(&why)));
            }
        };
        for ((label, target), fits) in steps {
            let (operation, event) = match label {
                Does::Tau => (0, None),
                Does::Tick => (1, None),
                Does::Event(e) => {
                    let channel = self.inner().processes.machine().channel_of(e);
                    match channel.and_then(|c| self.channels.get(&c)) {
                        Some(operation) => (*operation, Some(e)),
                        None => {
                            let why = Fault::limit("an event without a channel: this is a mistake in kanon");
                            visit.fault(0, why)?;
                            continue;
                        }
                    }
                }
            };
            *w = Here { event, fits };
            visit.transition(Transition { operation, target: &[target.0.into()], here: w })?;
        }
        ControlFlow::Continue(())
    }
    fn load<'w>(&self, w: &'w mut Here, _: &[u64]) -> &'w mut Here {
        *w = self.nothing();
        w
    }
    fn holds(&self, _: usize, _: &mut Here) -> Res<bool> {
        // There are no checks that could be asked for.
        Err(Fault::limit("a process has no checks"))
    }
    fn label(&self, operation: usize, here: &Here) -> Label {
        Label::from_slice(&[operation as u64, here.event.map_or(0, |e| u64::from(e.0))])
    }
    fn is_over(&self, row: &[u64]) -> bool {
        row[0] == u64::from(self.over.0)
    }
    fn patterns(&self) -> &[Arc<str>] {
        &self.names
    }
    fn fits(&self, pattern: usize, _: usize, here: &Here) -> bool {
        here.fits.get(pattern).copied().unwrap_or(false)
    }
    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        let inner = self.inner();
        vec![("process".to_string(), inner.processes.machine().show_process(NodeId(row[0] as u32)))]
    }
    fn show_label(&self, label: &Label) -> String {
        match (label.first(), label.get(1)) {
            (Some(0), _) => TAU.to_string(),
            (Some(1), _) => TICK.to_string(),
            (Some(_), Some(event)) => self.inner().processes.machine().show_event(EventId(*event as u32)),
            _ => String::new(),
        }
    }
}
