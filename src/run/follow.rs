//! A log of an implementation against a machine: is there a behaviour that explains it, and if not, from which line on?

use super::answer::Place;
use super::deadline::Deadline;
use super::project::Project;
use super::{notes, why};
use crate::lang::diag::Diagnostic;
use crate::lang::spelling::closest;
use crate::system::System;
use crate::trace::Trace;
use crate::trace::fault::plain_error;
use crate::trace::follow::{Allowed, Possible, follow as follow_log, why_not};
use crate::trace::log;
use crate::trace::replay::confirm;
use crate::verdict::{Decision, Why};
use std::path::Path;
use std::time::Instant;

/// States before a line that are told at most.
const TOLD: usize = 10;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Task {
    /// Steps that the log may have left out before each line.
    pub hidden: usize,
    /// Of these operations only, if there are any.
    pub hidden_operations: Vec<String>,
    /// Keys of lines that are not looked at.
    pub ignored: Vec<String>,
    /// States that are possible after one line, at most.
    pub max_states: usize,
}

/// The first line that no behaviour explains.
pub struct Stuck {
    /// Where it stands, and its text.
    pub place: Place,
    /// The states that were possible before it, and why it does not follow on each; some of them.
    pub possible: Vec<Possible>,
    /// How many others there are.
    pub more: usize,
}

/// The whole answer.
pub struct Answered {
    /// Holds: a behaviour explains all lines.
    pub verdict: Decision,
    /// What is not explained, or why there is no answer.
    pub reason: Option<String>,
    /// Lines of the log that say something.
    pub lines: usize,
    /// How many states are possible after each line that is explained.
    pub counts: Vec<usize>,
    /// Initial states.
    pub initial: usize,
    /// The first line that is not explained.
    pub stuck: Option<Stuck>,
    /// A behaviour that explains the lines before it, or all.
    pub trace: Trace,
    /// For every step of it after INITIALISATION, the number of the line; none for a step that the log left out.
    pub steps: Vec<Option<usize>>,
    /// Of the search.
    pub seconds: f64,
    /// What should be known beside the verdict.
    pub notes: Vec<String>,
}

/// Reads a log into the project's texts, and follows it.
///
/// # Errors
/// What is wrong with the log or the model.
pub fn follow(
    project: &mut Project,
    path: &Path,
    text: String,
    task: &Task,
    deadline: &Deadline,
) -> Result<Answered, Vec<Diagnostic>> {
    let begin = Instant::now();
    if u32::try_from(text.len()).is_err() {
        return Err(vec![plain_error(format!("{} is larger than 4 GiB", path.display()))]);
    }
    let file = project.opened.sources.add(path, text);
    let project = &*project;
    let opened = &project.opened;
    let log = log::read(opened, file, &task.ignored, &deadline.flag)?;
    let solved = project.solve(deadline)?;
    let machine = &*solved.machine;
    let mut hidden_events = vec![];
    for name in &task.hidden_operations {
        let Some(at) = machine.events.iter().position(|e| *e.name == **name) else {
            let error = plain_error(format!("the machine has no operation `{name}` that could be hidden"));
            let near = closest(name, machine.events.iter().map(|e| &*e.name));
            return Err(vec![match near {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            }]);
        };
        hidden_events.push(at);
    }
    let allowed = Allowed {
        hidden: task.hidden,
        hidden_events: (!hidden_events.is_empty()).then_some(hidden_events),
        max_states: task.max_states,
    };
    let followed = follow_log(machine, &log, &allowed, &deadline.flag);
    let trace = Trace::of(machine, &followed.path);
    let missing = match (followed.missing, deadline.why()) {
        (Some(Why::Interrupted | Why::Limit(_)), Some(why)) => Some(why),
        (missing, _) => missing,
    };
    let mut stuck = None;
    let (verdict, reason) = match (log.get(followed.counts.len()), &missing) {
        (None, _) => explained(machine, &trace),
        (Some(told), missing) => {
            let place = Place::of(&opened.sources, told.span);
            let at = told.line;
            let (verdict, reason) = match missing {
                None => (Decision::Fails, format!("line {at}: no behaviour explains it")),
                Some(why) => {
                    let why = why::text(why, opened);
                    (Decision::Unknown, format!("whether anything explains line {at} is open: {why}"))
                }
            };
            let is_over = matches!(missing, Some(Why::MaxStates(_) | Why::Interrupted | Why::Timeout(_)));
            if let Some(place) = place.filter(|_| !is_over) {
                let rows = &followed.before[..followed.before.len().min(TOLD)];
                let possible = deadline
                    .telling(|| rows.iter().map(|row| why_not(machine, row, told, &deadline.flag)).collect());
                stuck = Some(Stuck { place, possible, more: followed.before.len() - rows.len() });
            }
            (verdict, Some(reason))
        }
    };
    let mut all_notes = notes::scope(opened);
    all_notes.extend(notes::reading(opened.reading));
    if followed.initial == 0 && missing.is_none() {
        all_notes.push("the machine has no initial state".into());
    }
    Ok(Answered {
        verdict,
        reason,
        lines: log.len(),
        counts: followed.counts,
        initial: followed.initial,
        stuck,
        trace,
        steps: followed.lines,
        seconds: begin.elapsed().as_secs_f64(),
        notes: all_notes,
    })
}

/// All lines are explained by this behaviour, if it is one: it is run again from its values alone.
fn explained(machine: &crate::system::Machine, trace: &Trace) -> (Decision, Option<String>) {
    if let Err(why) = confirm(machine, trace) {
        let why = format!("internal error, please report it: the behaviour found does not run: {why}");
        return (Decision::Unknown, Some(why));
    }
    let mut lacking =
        trace.steps.iter().filter_map(|s| s.op).filter(|op| machine.model.lacks_precondition(*op));
    if let Some(op) = lacking.next() {
        let name = &machine.model.operations[op.index()].name;
        let why = format!(
            "a behaviour was found, but a precondition of `{name}` that speaks of variables of the abstraction was \
             left out, so that it need not be one"
        );
        return (Decision::Unknown, Some(why));
    }
    debug_assert!(!machine.operations().is_empty() || trace.steps.len() <= 1);
    (Decision::Holds, None)
}
