//! Replay: run the system along recorded steps and say where it cannot go on.
//!
//! A recording may say less than a trace (no parameters, no states): then several states may fit, and all of them
//! are followed.

use super::{Step, Trace, params, results, variables};
use crate::model::{LocalId, Model, OpId};
use crate::system::{Label, Machine, Path, Stop, System, Transition, Visitor, Worker};
use crate::value::Value;
use crate::value::fault::Fault;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// States followed at once.
const MAX_WIDTH: usize = 4096;

/// What is known of a run: values by the place of their declaration, as far as they are given.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub constants: Vec<Option<Value>>,
    pub steps: Vec<RecordedStep>,
}

#[derive(Clone, Debug, Default)]
pub struct RecordedStep {
    pub name: String,
    /// `None`: INITIALISATION.
    pub op: Option<OpId>,
    /// It is not said which operation it is: any that leads to such a state.
    pub is_any: bool,
    pub params: Vec<Option<Value>>,
    pub results: Vec<Option<Value>>,
    pub state: Vec<Option<Value>>,
    /// Why the step cannot be understood.
    pub problem: Option<String>,
}

/// How far a replay got.
#[derive(Debug)]
pub struct Replayed {
    /// The steps that worked, with everything about them.
    pub trace: Trace,
    /// What is wrong with the step after those.
    pub failure: Option<String>,
}

impl Recorded {
    /// All that a trace says.
    pub fn of(trace: &Trace, model: &Model) -> Recorded {
        let step = |s: &Step| RecordedStep {
            name: s.name(model).to_string(),
            op: s.op,
            is_any: false,
            params: s.params.clone(),
            results: s.results.clone(),
            state: s.state.iter().cloned().map(Some).collect(),
            problem: None,
        };
        Recorded { constants: trace.constants.clone(), steps: trace.steps.iter().map(step).collect() }
    }
}

/// Runs a counterexample from its values alone. An error is a bug of ours.
pub fn confirm(system: &Machine, trace: &Trace) -> Result<(), String> {
    if trace.steps.is_empty() {
        return Ok(());
    }
    let replayed = replay(system, &Recorded::of(trace, &system.model), &Stop::default());
    match replayed.failure {
        None => Ok(()),
        Some(why) => {
            Err(format!("its trace does not replay: step {}: {why}", replayed.trace.steps.len() + 1))
        }
    }
}

/// A state on the way, and how it was reached.
struct Node {
    row: Vec<u64>,
    from: usize,
    /// None for an initial state.
    label: Option<Label>,
    step: Step,
}

pub fn replay(system: &Machine, recorded: &Recorded, stop: &Stop) -> Replayed {
    let Levels { levels, constants, failure } = levels(system, recorded, stop);
    let (steps, of) = back(system, &levels, 0);
    debug_assert!(steps.iter().all(|s| s.state.len() == system.model.variables.len()));
    Replayed { trace: Trace { constants: of.unwrap_or(constants), steps }, failure }
}

/// The same as a path of the system, and what is wrong with the step after it.
pub fn path(system: &Machine, recorded: &Recorded, stop: &Stop) -> (Path, Option<String>) {
    let Levels { levels, failure, .. } = levels(system, recorded, stop);
    let mut path = Path::default();
    let mut at = 0;
    for level in levels.iter().rev() {
        let node = &level[at];
        path.rows.push(node.row.clone());
        path.labels.extend(node.label.clone());
        at = node.from;
    }
    path.rows.reverse();
    path.labels.reverse();
    (path, failure)
}

/// All ends of the recorded steps: the row of the last state, and the trace that leads there.
///
/// # Errors
/// A step that the machine does not take.
pub fn ends(system: &Machine, recorded: &Recorded, stop: &Stop) -> Result<Vec<(Vec<u64>, Trace)>, String> {
    let Levels { levels, constants, failure } = levels(system, recorded, stop);
    if let Some(why) = failure {
        return Err(format!("step {}: {why}", levels.len() + 1));
    }
    let Some(last) = levels.last() else { return Ok(vec![]) };
    let end = |at: usize| {
        let (steps, of) = back(system, &levels, at);
        (last[at].row.clone(), Trace { constants: of.unwrap_or_else(|| constants.clone()), steps })
    };
    Ok((0..last.len()).map(end).collect())
}

/// The states that fit, step by step.
struct Levels {
    levels: Vec<Vec<Node>>,
    /// Of the first valuation that fits.
    constants: Vec<Option<Value>>,
    failure: Option<String>,
}

/// Back from a state of the last level; with the constants that it belongs to.
fn back(system: &Machine, levels: &[Vec<Node>], mut at: usize) -> (Vec<Step>, Option<Vec<Option<Value>>>) {
    let mut steps = vec![];
    let mut constants = None;
    for level in levels.iter().rev() {
        let node = &level[at];
        steps.push(node.step.clone());
        constants = Some(system.constant_values(system.start_of(&node.row)));
        at = node.from;
    }
    steps.reverse();
    (steps, constants)
}

fn levels(system: &Machine, recorded: &Recorded, stop: &Stop) -> Levels {
    let mut worker = system.worker(stop);
    let fits = |v: &usize| agree(&recorded.constants, &system.constant_values(*v));
    let valuations: Vec<usize> = (0..system.valuations()).filter(fits).collect();
    let constants = valuations.first().map_or(vec![], |v| system.constant_values(*v));
    let mut levels: Vec<Vec<Node>> = vec![];
    let mut failure = None;
    if valuations.is_empty() {
        failure = Some("the constants cannot have these values".to_string());
    }
    for step in &recorded.steps {
        if failure.is_some() {
            break;
        }
        if let Some(problem) = &step.problem {
            failure = Some(problem.clone());
            break;
        }
        let next = match (levels.last(), step.op) {
            (None, None) => initial(system, &mut worker, &valuations, step),
            (Some(last), None) if step.is_any => follow(system, &mut worker, last, None, step),
            (Some(_), None) => Err("INITIALISATION comes first and once".to_string()),
            (None, Some(_)) => Err("a trace starts with INITIALISATION".to_string()),
            (Some(last), Some(op)) => follow(system, &mut worker, last, Some(op), step),
        };
        match next {
            Ok(nodes) => levels.push(nodes),
            Err(why) => failure = Some(why),
        }
    }
    Levels { levels, constants, failure }
}

fn agree(wanted: &[Option<Value>], found: &[Option<Value>]) -> bool {
    wanted.iter().zip(found).all(|(w, f)| match (w, f) {
        (Some(w), Some(f)) => w == f,
        _ => true,
    })
}

fn agree_state(wanted: &[Option<Value>], found: &[Value]) -> bool {
    wanted.iter().zip(found).all(|(w, f)| w.as_ref().is_none_or(|w| w == f))
}

fn initial(
    system: &Machine,
    worker: &mut Worker,
    valuations: &[usize],
    wanted: &RecordedStep,
) -> Result<Vec<Node>, String> {
    let mut nodes = vec![];
    let mut others: Option<Vec<Value>> = None;
    // A state with a value for each variable is found once.
    let is_whole =
        wanted.state.len() == system.model.variables.len() && wanted.state.iter().all(Option::is_some);
    for v in valuations {
        let before = nodes.len();
        let run = system.initial(worker, *v, &mut |_, row| {
            let state = system.variable_values(row);
            if agree_state(&wanted.state, &state) {
                let step = Step { op: None, params: vec![], results: vec![], state };
                nodes.push(Node { row: row.to_vec(), from: 0, label: None, step });
            } else if others.is_none() {
                others = Some(state);
            }
            let most = if is_whole { MAX_WIDTH.min(before + 1) } else { MAX_WIDTH };
            if nodes.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if let (Err(fault), true) = (run, nodes.is_empty()) {
            return Err(format!("INITIALISATION fails: {}", words(&fault)));
        }
    }
    if nodes.is_empty() {
        return Err(match others {
            Some(state) => {
                format!(
                    "INITIALISATION does not lead there, but for instance to {}",
                    list(&variables(&state, &system.model))
                )
            }
            None => "INITIALISATION has no outcome".to_string(),
        });
    }
    Ok(nodes)
}

fn follow(
    system: &Machine,
    worker: &mut Worker,
    last: &[Node],
    op: Option<OpId>,
    wanted: &RecordedStep,
) -> Result<Vec<Node>, String> {
    let mut look = Follow {
        system,
        op,
        wanted,
        from: 0,
        nodes: vec![],
        seen: HashSet::new(),
        other_params: vec![],
        other_targets: vec![],
        fault: None,
    };
    for (i, node) in last.iter().enumerate() {
        look.from = i;
        if system.successors(worker, &node.row, &mut look).is_break() {
            break;
        }
    }
    if look.nodes.is_empty() { Err(look.diagnosis()) } else { Ok(look.nodes) }
}

struct Follow<'a> {
    system: &'a Machine,
    /// None: any.
    op: Option<OpId>,
    wanted: &'a RecordedStep,
    from: usize,
    nodes: Vec<Node>,
    seen: HashSet<Vec<u64>>,
    /// Transitions of the operation with other parameters; with these, but other results or targets.
    other_params: Vec<Step>,
    other_targets: Vec<Step>,
    fault: Option<Box<Fault>>,
}

/// Alternatives that are told.
const TOLD: usize = 4;

impl Visitor<<Machine as System>::Here> for Follow<'_> {
    fn transition(&mut self, t: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        if self.op.is_some_and(|op| op != self.system.events[t.operation].op) {
            return ControlFlow::Continue(());
        }
        let label = self.system.label(t.operation, t.here);
        let step = Step::of(self.system, &label, t.target);
        if !agree(&self.wanted.params, &step.params) {
            if self.other_params.len() <= TOLD {
                self.other_params.push(step);
            }
        } else if !agree(&self.wanted.results, &step.results) || !agree_state(&self.wanted.state, &step.state)
        {
            if self.other_targets.len() <= TOLD {
                self.other_targets.push(step);
            }
        } else if self.seen.insert(t.target.to_vec()) {
            let row = t.target.to_vec();
            self.nodes.push(Node { row, from: self.from, label: Some(label), step });
        }
        if self.nodes.len() < MAX_WIDTH { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn fault(&mut self, event: usize, fault: Box<Fault>) -> ControlFlow<()> {
        if self.op.is_none_or(|op| op == self.system.events[event].op) {
            self.fault.get_or_insert(fault);
        }
        ControlFlow::Continue(())
    }
}

impl Follow<'_> {
    fn diagnosis(&self) -> String {
        let model = &*self.system.model;
        if self.op.is_none() {
            return "no operation leads to this state".to_string();
        }
        let name = &self.wanted.name;
        if let Some(step) = self.other_targets.first() {
            let wanted = named(&self.wanted.state, &step.state, model);
            let mut parts = vec![];
            if !agree(&self.wanted.results, &step.results) {
                parts.push(format!("gives {}", list(&results(step, model))));
            }
            if !wanted.is_empty() {
                parts.push(format!("leads to {}", wanted.join(", ")));
            }
            return format!("`{name}` {}", parts.join(" and "));
        }
        if !self.other_params.is_empty() {
            let mut told: Vec<String> = vec![];
            for s in &self.other_params {
                let text = format!("({})", list(&params(s, model)));
                if told.len() < TOLD && !told.contains(&text) {
                    told.push(text);
                }
            }
            return format!(
                "`{name}` is enabled, but not with these parameters; for instance with {}",
                told.join(", ")
            );
        }
        match &self.fault {
            Some(fault) => format!("`{name}` fails: {}", words(fault)),
            None => format!("`{name}` is not enabled"),
        }
    }
}

/// `x = 1, not 2` for every variable that differs.
fn named(wanted: &[Option<Value>], found: &[Value], model: &Model) -> Vec<String> {
    let rows = model.variables.iter().zip(wanted.iter().zip(found));
    let differing = rows.filter_map(|(d, (w, f))| Some((d, w.as_ref()?, f)).filter(|(_, w, f)| w != f));
    let show = |v, ty| super::shown(v, ty, model);
    differing.map(|(d, w, f)| format!("{} = {}, not {}", d.name, show(f, &d.ty), show(w, &d.ty))).collect()
}

fn list(pairs: &[(&str, String)]) -> String {
    pairs.iter().map(|(n, v)| format!("{n} = {v}")).collect::<Vec<_>>().join(", ")
}

fn words(fault: &Fault) -> String {
    match fault {
        Fault::Wd(wd) => wd.kind.describe().1.to_string(),
        Fault::Limit(_, why) => why.clone(),
    }
}

/// The place of a local among others, by name.
pub fn position(model: &Model, locals: &[LocalId], name: &str) -> Option<usize> {
    locals.iter().position(|l| &*model.local(*l).name == name)
}
