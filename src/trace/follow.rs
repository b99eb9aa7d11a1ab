//! Which behaviours of a machine explain a log: after each line the set of all states in which the machine may be.
//!
//! The sets are exact: a state is in the set of a line if and only if some behaviour agrees with all lines up to it and is
//! in that state then. Where that cannot be had (a limit, something without a value, an enumeration that was cut short,
//! a value that cannot be compared) the sets may lack states, and [`Followed::missing`] says so: then a set that is not
//! empty still proves that the lines are explained, and an empty one proves nothing.
//!
//! Absent on purpose: symmetry (a log names elements), the invariant (a log is explained or not, whatever holds).

use super::explain::{Explainer, Part};
use super::log::{Happens, Known, Told};
use super::{Step, params, shown};
use crate::lang::diag::Span;
use crate::model::Decl;
use crate::system::{Label, Machine, Path, Stop, System, Transition, Visitor, Worker, initial_states};
use crate::value::Value;
use crate::value::fault::Fault;
use crate::verdict::Why;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// What a behaviour may be beside what the log says.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// Steps that the log may have left out before each line.
    pub hidden: usize,
    /// Of these operations only, by their places in [`Machine::events`]; of any otherwise.
    pub hidden_events: Option<Vec<usize>>,
    /// States that are possible after one line, at most.
    pub max_states: usize,
}

/// A state that is possible after some line, and how it is reached.
struct Node {
    row: Box<[u64]>,
    from: Option<u32>,
    /// None for an initial state.
    label: Option<Label>,
    /// The line that tells of the step; none for a step that the log left out.
    line: Option<usize>,
}

/// How far a log is explained.
pub struct Followed {
    /// How many states are possible after each line that is explained.
    pub counts: Vec<usize>,
    /// Initial states.
    pub initial: usize,
    /// Why sets may lack states, if they may.
    pub missing: Option<Why>,
    /// A behaviour that explains these lines.
    pub path: Path,
    /// For every state of the path after the first, the line of the step that leads to it.
    pub lines: Vec<Option<usize>>,
    /// The states before the first line that is not explained.
    pub before: Vec<Vec<u64>>,
}

/// A state before a line that nothing explains, and why not.
#[derive(Clone, Debug)]
pub struct Possible {
    pub constants: Vec<(String, String)>,
    pub state: Vec<(String, String)>,
    /// Sentences.
    pub why: Vec<String>,
    /// The parts of a condition that is false, with their values.
    pub parts: Vec<Part>,
}

/// Steps and values of parameters that are told of one state.
const TOLD: usize = 4;

/// Follows a log.
pub fn follow(system: &Machine, log: &[Told], allowed: &Allowed, stop: &Stop) -> Followed {
    let mut following =
        Following { system, worker: system.worker(stop), allowed, stop, nodes: vec![], missing: None };
    let mut possible = following.initial();
    let initial = possible.len();
    let mut counts = vec![];
    let mut before = vec![];
    for told in log {
        let from = match told.happens {
            Happens::Initial => possible.clone(),
            _ => following.with_hidden(possible.clone()),
        };
        let next = following.after(told, &from);
        if following.is_over() || next.is_empty() {
            let rows = from.iter().map(|n| following.nodes[*n as usize].row.to_vec());
            before = rows.collect();
            break;
        }
        counts.push(next.len());
        possible = next;
    }
    let (path, lines) = following.path(possible.first().copied());
    Followed { counts, initial, missing: following.missing, path, lines, before }
}

struct Following<'a> {
    system: &'a Machine,
    worker: Worker,
    allowed: &'a Allowed,
    stop: &'a Stop,
    nodes: Vec<Node>,
    missing: Option<Why>,
}

impl Following<'_> {
    /// There is no sense in going on: sets would lack most of their states.
    fn is_over(&self) -> bool {
        matches!(self.missing, Some(Why::MaxStates(_) | Why::Interrupted))
    }

    fn lack(&mut self, why: Why) {
        // A limit ends it, so that it is what should be told.
        let is_end = matches!(why, Why::MaxStates(_) | Why::Interrupted);
        if self.missing.is_none() || (is_end && !self.is_over()) {
            self.missing = Some(why);
        }
    }

    fn look_at_the_clock(&mut self) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            self.lack(Why::Interrupted);
        }
        self.is_over()
    }

    fn put(&mut self, node: Node) -> Option<u32> {
        let at = u32::try_from(self.nodes.len()).ok();
        match at {
            Some(_) => self.nodes.push(node),
            None => self.lack(Why::MaxStates(u32::MAX as usize)),
        }
        at
    }

    fn initial(&mut self) -> Vec<u32> {
        let most = self.allowed.max_states;
        let mut rows: Vec<Box<[u64]>> = vec![];
        let mut is_cut_off = false;
        let all = initial_states(self.system, &mut self.worker, &mut |_, row| {
            is_cut_off = rows.len() >= most;
            if is_cut_off {
                return ControlFlow::Break(());
            }
            rows.push(row.into());
            ControlFlow::Continue(())
        });
        if is_cut_off {
            self.lack(Why::MaxStates(most));
        } else if all.complete.is_none() {
            self.lack(match (all.fault, all.cut) {
                (Some(fault), _) => Why::Limit(fault),
                (None, Some(at)) => Why::Truncated(at),
                (None, None) => Why::Starts,
            });
        }
        self.look_at_the_clock();
        let node = |row| Node { row, from: None, label: None, line: None };
        rows.into_iter().map(node).filter_map(|n| self.put(n)).collect()
    }

    /// These states, and those that steps lead to that the log may have left out.
    fn with_hidden(&mut self, mut all: Vec<u32>) -> Vec<u32> {
        if self.allowed.hidden == 0 {
            return all;
        }
        let events: Vec<Range<usize>> = match &self.allowed.hidden_events {
            Some(events) => events.iter().map(|e| *e..e + 1).collect(),
            None => std::iter::once(0..self.system.events.len()).collect(),
        };
        let mut seen: HashSet<Box<[u64]>> = all.iter().map(|n| self.nodes[*n as usize].row.clone()).collect();
        let mut open = 0..all.len();
        for _ in 0..self.allowed.hidden {
            for at in open.clone() {
                for events in &events {
                    let found = self.steps(all[at], events.clone(), None, &mut seen, all.len());
                    all.extend(found);
                    if self.is_over() {
                        return all;
                    }
                }
            }
            open = open.end..all.len();
            if open.is_empty() {
                break;
            }
        }
        all
    }

    /// The states after a line.
    fn after(&mut self, told: &Told, from: &[u32]) -> Vec<u32> {
        let mut next = vec![];
        let mut seen = HashSet::new();
        for at in from {
            if self.look_at_the_clock() {
                break;
            }
            let row = &self.nodes[*at as usize].row;
            let valuation = self.system.start_of(row);
            match agree(&told.constants, &self.system.constant_values(valuation)) {
                Agree::Yes => {}
                Agree::No => continue,
                Agree::Unclear => {
                    self.lack(uncomparable(told.span));
                    continue;
                }
            }
            match told.happens {
                Happens::Nothing | Happens::Initial => {
                    if agree_all(&told.state, &self.system.variable_values(row)) {
                        next.push(*at);
                    }
                }
                _ if !agree_all(&told.before, &self.system.variable_values(row)) => {}
                _ => {
                    for events in events_of(self.system, told.happens) {
                        let found = self.steps(*at, events, Some(told), &mut seen, next.len());
                        next.extend(found);
                    }
                }
            }
        }
        next
    }

    /// The states that steps lead to which agree with the line, as far as they were not seen; `so_far` are there already.
    fn steps(
        &mut self,
        at: u32,
        events: Range<usize>,
        told: Option<&Told>,
        seen: &mut HashSet<Box<[u64]>>,
        so_far: usize,
    ) -> Vec<u32> {
        let row = self.nodes[at as usize].row.clone();
        let mut look = Look {
            system: self.system,
            told,
            seen,
            found: vec![],
            most: self.allowed.max_states.saturating_sub(so_far),
            is_over: false,
            fault: None,
            is_unclear: false,
        };
        let _ = self.system.visit_events(&mut self.worker, &row, events, &mut look);
        let Look { found, is_over, fault, is_unclear, .. } = look;
        if is_over {
            self.lack(Why::MaxStates(self.allowed.max_states));
        }
        if let Some(fault) = fault {
            self.lack(match &*fault {
                Fault::Wd(_) => Why::NoValue(fault),
                Fault::Limit(..) => Why::Limit(fault),
            });
        }
        if let (true, Some(told)) = (is_unclear, told) {
            self.lack(uncomparable(told.span));
        }
        if let Some(span) = self.system.cut(&mut self.worker) {
            self.lack(Why::Truncated(span));
        }
        self.look_at_the_clock();
        let line = told.map(|t| t.line);
        let node = |(row, label): (Box<[u64]>, Label)| Node { row, from: Some(at), label: Some(label), line };
        found.into_iter().map(node).filter_map(|n| self.put(n)).collect()
    }

    /// The way to a state.
    fn path(&self, end: Option<u32>) -> (Path, Vec<Option<usize>>) {
        let (mut path, mut lines) = (Path::default(), vec![]);
        let mut at = end;
        while let Some(node) = at.map(|n| &self.nodes[n as usize]) {
            path.rows.push(node.row.to_vec());
            if let Some(label) = &node.label {
                path.labels.push(label.clone());
                lines.push(node.line);
            }
            at = node.from;
        }
        path.rows.reverse();
        path.labels.reverse();
        lines.reverse();
        (path, lines)
    }
}

/// The events that a line may be about.
fn events_of(system: &Machine, happens: Happens) -> Vec<Range<usize>> {
    match happens {
        Happens::Nothing | Happens::Initial => vec![],
        Happens::Any => std::iter::once(0..system.events.len()).collect(),
        Happens::Step(op) => {
            let events = system.events.iter().enumerate().filter(|(_, e)| e.op == op);
            events.map(|(i, _)| i..i + 1).collect()
        }
    }
}

fn uncomparable(span: Span) -> Why {
    Why::Limit(
        Fault::limit("a value that is symbolic or unassigned cannot be compared with the log's").at(span),
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Agree {
    Yes,
    No,
    /// One of them is not known as a plain value.
    Unclear,
}

fn agree(known: &Known, values: &[Option<Value>]) -> Agree {
    let mut all = Agree::Yes;
    for (at, wanted) in known {
        match values.get(*at).and_then(Option::as_ref) {
            Some(value) if value == wanted => {}
            Some(_) => return Agree::No,
            None => all = Agree::Unclear,
        }
    }
    all
}

fn agree_all(known: &Known, values: &[Value]) -> bool {
    known.iter().all(|(at, wanted)| values.get(*at) == Some(wanted))
}

/// Collects the targets of steps that agree with a line.
struct Look<'a> {
    system: &'a Machine,
    told: Option<&'a Told>,
    seen: &'a mut HashSet<Box<[u64]>>,
    found: Vec<(Box<[u64]>, Label)>,
    most: usize,
    is_over: bool,
    fault: Option<Box<Fault>>,
    is_unclear: bool,
}

impl Visitor<<Machine as System>::Here> for Look<'_> {
    fn transition(&mut self, t: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        if self.seen.contains(t.target) {
            return ControlFlow::Continue(());
        }
        let label = self.system.label(t.operation, t.here);
        if let Some(told) = self.told {
            let step = Step::of(self.system, &label, t.target);
            let labels = [(&told.parameters, &step.params), (&told.results, &step.results)];
            let labels = labels.map(|(known, values)| agree(known, values));
            if labels.contains(&Agree::No) || !agree_all(&told.state, &step.state) {
                return ControlFlow::Continue(());
            }
            if labels.contains(&Agree::Unclear) {
                self.is_unclear = true;
                return ControlFlow::Continue(());
            }
        }
        if self.found.len() >= self.most {
            self.is_over = true;
            return ControlFlow::Break(());
        }
        let row: Box<[u64]> = t.target.into();
        self.seen.insert(row.clone());
        self.found.push((row, label));
        ControlFlow::Continue(())
    }

    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        self.fault.get_or_insert(fault);
        ControlFlow::Continue(())
    }
}

// ---- why not ------------------------------------------------------------------------------------------------

/// Why a line does not follow on a state.
pub fn why_not(system: &Machine, row: &[u64], told: &Told, stop: &Stop) -> Possible {
    let model = &*system.model;
    let values = system.constant_values(system.start_of(row));
    let named =
        |(d, v): (&Decl, &Option<Value>)| Some((d.name.to_string(), shown(v.as_ref()?, &d.ty, model)));
    let constants = model.constants.iter().zip(&values).filter_map(named).collect();
    let state = system.variable_values(row);
    let mut possible = Possible {
        constants,
        state: super::variables(&state, model).into_iter().map(|(n, v)| (n.to_string(), v)).collect(),
        why: vec![],
        parts: vec![],
    };
    let mut differing: Vec<String> = vec![];
    for (at, wanted) in &told.constants {
        let decl = &model.constants[*at];
        match &values[*at] {
            Some(v) if v == wanted => {}
            Some(v) => differing.push(differs(&decl.name, v, wanted, decl, system)),
            None => differing.push(format!("`{}` is symbolic, and was not compared", decl.name)),
        }
    }
    let now =
        if matches!(told.happens, Happens::Nothing | Happens::Initial) { &told.state } else { &told.before };
    differing.extend(variables_that_differ(system, now, &state));
    if !differing.is_empty() {
        possible.why = differing;
        return possible;
    }
    let mut all = Others { system, steps: vec![], faults: vec![] };
    for events in events_of(system, told.happens) {
        let _ = system.visit_events(&mut system.worker(stop), row, events, &mut all);
    }
    let Others { steps, faults, .. } = all;
    let fits = |s: &&Step| agree(&told.parameters, &s.params) == Agree::Yes;
    let mut missed: Vec<Vec<String>> =
        steps.iter().filter(fits).map(|s| step_differs(system, told, s)).collect();
    // The nearest first.
    missed.sort_by_key(Vec::len);
    missed.dedup();
    let more = missed.len().saturating_sub(TOLD);
    possible.why = missed.into_iter().take(TOLD).map(|parts| parts.join(", ")).collect();
    if more > 0 {
        possible.why.push(format!("and {more} other outcomes"));
    }
    if possible.why.is_empty()
        && let Happens::Step(op) = told.happens
    {
        not_enabled(system, row, told, op, &steps, &mut possible);
    }
    let fault = |f: &Fault| format!("something has no value here: {}", super::fault::fault_message(f).1);
    possible.why.extend(faults.iter().take(1).map(fault));
    if possible.why.is_empty() {
        possible.why.push("no operation is enabled here".into());
    }
    possible
}

/// An operation that has no step with these parameters.
fn not_enabled(
    system: &Machine,
    row: &[u64],
    told: &Told,
    op: crate::model::OpId,
    steps: &[Step],
    into: &mut Possible,
) {
    let model = &*system.model;
    let operation = &model.operations[op.index()];
    let name = &operation.name;
    let mut given: Vec<Option<Value>> = vec![None; operation.params.len()];
    for (at, v) in &told.parameters {
        given[*at] = Some(v.clone());
    }
    let Some(event) = system.events.iter().position(|e| e.op == op) else { return };
    let disabled = Explainer::new(system, Some(row), 0).disabled(event, &given);
    for way in disabled.ways {
        let Some(summary) = way.summary else { continue };
        into.why.push(format!("`{name}` is not enabled: {summary}"));
        let blocking = way.conditions.into_iter().filter(|c| c.is_blocking);
        into.parts.extend(blocking.flat_map(|c| c.why));
    }
    if into.why.is_empty() && !steps.is_empty() {
        let mut told: Vec<String> = vec![];
        for s in steps {
            let pairs: Vec<String> =
                params(s, model).into_iter().map(|(n, v)| format!("{n} = {v}")).collect();
            let text = format!("({})", pairs.join(", "));
            if told.len() < TOLD && !told.contains(&text) {
                told.push(text);
            }
        }
        let told = told.join(", ");
        into.why
            .push(format!("`{name}` is enabled, but not with these parameters; for instance with {told}"));
    }
    if into.why.is_empty() {
        into.why.push(format!("`{name}` is not enabled"));
    }
}

fn differs(name: &str, value: &Value, wanted: &Value, decl: &Decl, system: &Machine) -> String {
    let show = |v| shown(v, &decl.ty, &system.model);
    format!("`{name}` is {}, the log says {}", show(value), show(wanted))
}

fn variables_that_differ(system: &Machine, known: &Known, state: &[Value]) -> Vec<String> {
    let differing = known.iter().filter(|(at, wanted)| state[*at] != *wanted);
    differing
        .map(|(at, wanted)| {
            let decl = &system.model.variables[*at];
            differs(&decl.name, &state[*at], wanted, decl, system)
        })
        .collect()
}

/// What a step has that the line says otherwise.
fn step_differs(system: &Machine, told: &Told, step: &Step) -> Vec<String> {
    let model = &*system.model;
    let mut parts = vec![];
    if let Happens::Step(op) = told.happens {
        let locals = &model.operations[op.index()].results;
        for (at, wanted) in &told.results {
            let decl = model.local(locals[*at]);
            let (name, log) = (step.name(model), shown(wanted, &decl.ty, model));
            match &step.results[*at] {
                Some(v) if v == wanted => {}
                Some(v) => {
                    let given = shown(v, &decl.ty, model);
                    parts.push(format!("`{name}` gives {} = {given}, the log says {log}", decl.name));
                }
                None => {
                    parts.push(format!("`{name}` gives no plain value of {}, the log says {log}", decl.name));
                }
            }
        }
    }
    let after = variables_that_differ(system, &told.state, &step.state);
    parts.extend(after.into_iter().map(|text| format!("after `{}` {text}", step.name(model))));
    parts
}

/// All steps of a state.
struct Others<'a> {
    system: &'a Machine,
    steps: Vec<Step>,
    faults: Vec<Fault>,
}

/// Steps that are looked at to say what is near.
const MOST: usize = 10_000;

impl Visitor<<Machine as System>::Here> for Others<'_> {
    fn transition(&mut self, t: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        let label = self.system.label(t.operation, t.here);
        self.steps.push(Step::of(self.system, &label, t.target));
        if self.steps.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        self.faults.push(*fault);
        ControlFlow::Continue(())
    }
}
