//! What a script asserts: refinement of traces, failures, and failures and divergences; deadlocks, divergence,
//! determinism, traces.
//!
//! The specification is made [`normal`], the implementation is explored beside it; what is found is replayed on the
//! processes themselves ([`replay`]) before anybody hears of it. Components are made smaller first ([`compress`]). A search that does not come to its end says nothing.
//!
//! Termination is as in Roscoe's *The Theory and Practice of Concurrency*: nobody can keep a process from it, so one
//! that can terminate may refuse everything else; to have terminated is no deadlock. Divergence hides all that could
//! follow it.

mod compress;
mod normal;
mod replay;

use crate::process::{Label, Processes};
use crate::tree::{Model, Property};
use crate::value::code::{Assertion, Claim};
use crate::value::{Fault, NodeId, Res, Value};
use kanon_language::lang::diag::{NOWHERE, Span};
use normal::{Normal, Offer, View, circles, offer};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// How far a search goes.
pub struct Limits<'a> {
    pub states: usize,
    pub stop: &'a AtomicBool,
    /// Components of so many states have equivalent ones taken for one; 0 leaves all as they are.
    pub compress: usize,
}

/// What an assertion claims, whether it is negated or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The claim is true; so many states were explored, some of them beside several of the specification.
    True {
        states: usize,
    },
    False(Counterexample),
    /// Not known, and why.
    Unknown(Box<Fault>),
}

/// Why a claim is false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// What was seen; taus are not.
    pub trace: Vec<Label>,
    pub violation: Violation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The last event of the trace is none of the specification's.
    Event,
    /// After the trace the implementation may offer only the first; the specification always offers all of one of the
    /// others.
    Refusal {
        offered: Vec<Label>,
        wanted: Vec<Vec<Label>>,
    },
    /// After the trace the process may go on in silence for ever.
    Divergence,
    Deadlock,
    /// After the trace the label can be had and can be refused.
    Nondeterminism {
        label: Label,
        offered: Vec<Label>,
    },
    /// The trace is the longest part from the front that the process has.
    NoTrace,
}

/// What is said of an assertion when the flag of its limits was set.
pub const STOPPED: &str = "the search was stopped";

/// Checks one assertion of a script.
pub fn check(processes: &mut Processes, assertion: &Assertion, limits: &Limits) -> Outcome {
    let found = judged(processes, assertion, limits);
    match found {
        Ok(outcome) => outcome,
        Err(mut fault) => {
            if fault.span == NOWHERE {
                fault.span = assertion.span;
            }
            Outcome::Unknown(fault)
        }
    }
}

fn judged(processes: &mut Processes, assertion: &Assertion, limits: &Limits) -> Res<Outcome> {
    let span = assertion.span;
    if assertion.prioritised {
        return Fault::limit(span, "assertions with priorities of tau are not checked");
    }
    let mut process = |unit| {
        processes.machine_mut().begin();
        match processes.machine_mut().closed(unit)? {
            Value::Process(node) => Ok(node),
            _ => Fault::wrong(span, "this is no process"),
        }
    };
    match &assertion.claim {
        Claim::Refines(spec, model, implementation) => {
            let model = known(*model, span)?;
            let (spec, implementation) = (process(*spec)?, process(*implementation)?);
            let (p, q) = (smaller(processes, spec, limits), smaller(processes, implementation, limits));
            let outcome = refines(processes, p, model, q, limits)?;
            // With all their states these may be too large.
            confirmed(outcome, span, |c| {
                let replayed = replay::refutes(processes, spec, model, implementation, c);
                replayed.or_else(|_| replay::refutes(processes, p, model, q, c))
            })
        }
        Claim::Property(p, property, model) => {
            let model = known(model.unwrap_or(Model::FailuresDivergences), span)?;
            let whole = process(*p)?;
            if model == Seen::Traces {
                return Fault::limit(
                    span,
                    "the traces of a process do not tell whether it has this property",
                );
            }
            let p = smaller(processes, whole, limits);
            let outcome = match property {
                Property::Deterministic => deterministic(processes, p, model, limits)?,
                Property::DeadlockFree => never(processes, p, true, model == Seen::Divergences, limits)?,
                Property::DivergenceFree => never(processes, p, false, true, limits)?,
            };
            confirmed(outcome, span, |c| {
                replay::shows(processes, whole, c).or_else(|_| replay::shows(processes, p, c))
            })
        }
        Claim::HasTrace(p, trace, model) => {
            if known(model.unwrap_or(Model::Traces), span)? != Seen::Traces {
                return Fault::limit(span, "`has trace` is checked in the traces model only");
            }
            let p = process(*p)?;
            let mut labels = vec![];
            for unit in trace {
                let value = processes.machine_mut().closed(*unit)?;
                labels.push(Label::Event(processes.machine_mut().event(&value, span)?));
            }
            let mut normal = Normal::new(limits.states);
            let mut view = normal.first(processes, p)?;
            for (place, label) in labels.iter().enumerate() {
                match normal.after(processes, view, *label)? {
                    Some(next) => view = next,
                    None => {
                        let trace = labels[..place].to_vec();
                        return Ok(Outcome::False(Counterexample { trace, violation: Violation::NoTrace }));
                    }
                }
            }
            Ok(Outcome::True { states: labels.len() + 1 })
        }
    }
}

fn smaller(processes: &mut Processes, node: NodeId, limits: &Limits) -> NodeId {
    compress::compressed(processes, node, limits.compress, limits.stop)
}

/// Never a counterexample that does not run.
fn confirmed(
    outcome: Outcome,
    span: Span,
    replays: impl FnOnce(&Counterexample) -> Res<bool>,
) -> Res<Outcome> {
    if let Outcome::False(c) = &outcome
        && !replays(c)?
    {
        return Fault::limit(span, "a counterexample could not be replayed: this is a mistake in kanon");
    }
    Ok(outcome)
}

/// What of a process is compared, of what kanon compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Traces,
    Failures,
    Divergences,
}

fn known(model: Model, span: Span) -> Res<Seen> {
    match model {
        Model::Traces => Ok(Seen::Traces),
        Model::Failures => Ok(Seen::Failures),
        Model::FailuresDivergences => Ok(Seen::Divergences),
        _ => Fault::limit(span, "of the models only T, F and FD are computed"),
    }
}

/// A search: states in the order in which they were met, each with the way back.
struct Search<'a, K> {
    all: Vec<(K, usize, Label)>,
    index: HashMap<K, usize>,
    limits: &'a Limits<'a>,
}

impl<'a, K: Copy + Eq + std::hash::Hash> Search<'a, K> {
    fn new(first: K, limits: &'a Limits<'a>) -> Self {
        let mut search = Search { all: vec![], index: HashMap::new(), limits };
        search.index.insert(first, 0);
        search.all.push((first, 0, Label::Tau));
        search
    }

    fn meet(&mut self, key: K, from: usize, label: Label) -> Res<usize> {
        if let Some(known) = self.index.get(&key) {
            return Ok(*known);
        }
        let place = self.all.len();
        if place >= self.limits.states {
            return Fault::limit(NOWHERE, format!("there are more than {} states", self.limits.states));
        }
        if self.limits.stop.load(Ordering::Relaxed) {
            return Fault::limit(NOWHERE, STOPPED);
        }
        self.index.insert(key, place);
        self.all.push((key, from, label));
        Ok(place)
    }

    fn trace(&self, mut at: usize) -> Vec<Label> {
        let mut trace = vec![];
        while at != 0 {
            let (_, from, label) = self.all[at];
            trace.push(label);
            at = from;
        }
        trace.retain(|l| *l != Label::Tau);
        trace.reverse();
        trace
    }
}

fn refines(
    processes: &mut Processes,
    spec: NodeId,
    model: Seen,
    implementation: NodeId,
    limits: &Limits,
) -> Res<Outcome> {
    let mut normal = Normal::new(limits.states);
    let first: (NodeId, View) = (processes.state(implementation)?, normal.first(processes, spec)?);
    let mut search = Search::new(first, limits);
    let mut silent: Vec<(usize, Vec<usize>)> = vec![];
    let mut at = 0;
    while at < search.all.len() {
        let ((node, view), ..) = search.all[at];
        let diverges = model == Seen::Divergences && normal.diverges(view);
        let mut taus = vec![];
        // What diverges may do anything.
        if !diverges {
            let steps = processes.transitions(node)?;
            for (label, target) in steps.iter() {
                if *label == Label::Tau {
                    taus.push(search.meet((*target, view), at, *label)?);
                    continue;
                }
                match normal.after(processes, view, *label)? {
                    Some(next) => {
                        search.meet((*target, next), at, *label)?;
                    }
                    None => {
                        let mut trace = search.trace(at);
                        trace.push(*label);
                        return Ok(Outcome::False(Counterexample { trace, violation: Violation::Event }));
                    }
                }
            }
            if model != Seen::Traces
                && let Some(offered) = offer(&steps)
                && !normal.offers(view).iter().any(|o| within(o, &offered))
            {
                let wanted = normal.offers(view).iter().map(|o| o.to_vec()).collect();
                let violation = Violation::Refusal { offered, wanted };
                return Ok(Outcome::False(Counterexample { trace: search.trace(at), violation }));
            }
        }
        silent.push((at, taus));
        at += 1;
    }
    if model == Seen::Divergences
        && let Some(at) = circles(&silent).first()
    {
        let violation = Violation::Divergence;
        return Ok(Outcome::False(Counterexample { trace: search.trace(*at), violation }));
    }
    Ok(Outcome::True { states: search.all.len() })
}

fn within(few: &Offer, many: &[Label]) -> bool {
    few.iter().all(|l| many.contains(l))
}

/// No deadlock, or no divergence, or neither.
fn never(
    processes: &mut Processes,
    p: NodeId,
    deadlock: bool,
    divergence: bool,
    limits: &Limits,
) -> Res<Outcome> {
    let mut search = Search::new(processes.state(p)?, limits);
    let mut silent: Vec<(usize, Vec<usize>)> = vec![];
    let mut at = 0;
    while at < search.all.len() {
        let (node, ..) = search.all[at];
        let steps = processes.transitions(node)?;
        if deadlock && steps.is_empty() && node != processes.omega() {
            let violation = Violation::Deadlock;
            return Ok(Outcome::False(Counterexample { trace: search.trace(at), violation }));
        }
        let mut taus = vec![];
        for (label, target) in steps.iter() {
            let place = search.meet(*target, at, *label)?;
            if *label == Label::Tau {
                taus.push(place);
            }
        }
        silent.push((at, taus));
        at += 1;
    }
    if divergence && let Some(at) = circles(&silent).first() {
        let violation = Violation::Divergence;
        return Ok(Outcome::False(Counterexample { trace: search.trace(*at), violation }));
    }
    Ok(Outcome::True { states: search.all.len() })
}

fn deterministic(processes: &mut Processes, p: NodeId, model: Seen, limits: &Limits) -> Res<Outcome> {
    let mut normal = Normal::new(limits.states);
    let mut search = Search::new(normal.first(processes, p)?, limits);
    let mut at = 0;
    while at < search.all.len() {
        let (view, ..) = search.all[at];
        if model == Seen::Divergences && normal.diverges(view) {
            let violation = Violation::Divergence;
            return Ok(Outcome::False(Counterexample { trace: search.trace(at), violation }));
        }
        for label in normal.labels(view) {
            if let Some(o) = normal.offers(view).iter().find(|o| !o.contains(&label)) {
                let violation = Violation::Nondeterminism { label, offered: o.to_vec() };
                return Ok(Outcome::False(Counterexample { trace: search.trace(at), violation }));
            }
            if let Some(next) = normal.after(processes, view, label)? {
                search.meet(next, at, label)?;
            }
        }
        at += 1;
    }
    Ok(Outcome::True { states: search.all.len() })
}

/// For people.
pub fn show_label(processes: &Processes, label: Label) -> String {
    match label {
        Label::Tau => "τ".to_string(),
        Label::Tick => "✓".to_string(),
        Label::Event(e) => processes.machine().show_event(e),
    }
}
