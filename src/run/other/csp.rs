//! Scripts of CSP-M: one process of theirs is explored.

use super::{About, Asked, Language, Loaded, Model, Reply};
use crate::lang::diag::{Diagnostic, NOWHERE, SourceMap, Span};
use crate::lang::stack::with_large_stack;
use crate::model::open::Opened;
use crate::process::{Pattern, ProcessSystem, TAU, TICK};
use crate::run::Deadline;
use crate::run::csp::{ASKED, Extra, LIMIT, Ready, STATES, Worth, eval, ready};
use kanon_csp::eval::Machine;
use kanon_csp::process::Processes;
use kanon_csp::value::{Fault, NodeId, Value};
use std::path::Path;
use std::sync::Arc;

/// The process that is explored unless somebody says otherwise: ProB's.
pub(super) const MAIN: &str = "MAIN";

pub(super) fn open(
    sources: &mut SourceMap,
    file: &Path,
    asked: &Asked,
    deadline: &Deadline,
) -> Result<Box<dyn Model>, Vec<Diagnostic>> {
    if asked.goal.is_some() {
        let why =
            "a goal is about variables, and a process has none: `kanon ltl` asks whether an event can happen";
        return Err(vec![Diagnostic::error("C0406", Span::default(), why)]);
    }
    if let Some(atom) = asked.atoms().first() {
        let why = format!("`{{{atom}}}` is about variables, and a process has none");
        let d = Diagnostic::error("C0406", Span::default(), why);
        return Err(vec![d.help("`[event]` is a step, `e(event)` says that it is possible")]);
    }
    let made = with_large_stack(|| system(sources, file, asked, deadline)).unwrap_or_else(|e| {
        let d = Diagnostic::error("C0405", Span::default(), format!("no thread to evaluate with: {e}"));
        Err(vec![d])
    });
    let name = asked.process.clone().unwrap_or_else(|| MAIN.to_string());
    let about = About { language: Language::Csp, name, permuted: vec![], fixed: vec![], notes: vec![] };
    let script = file.to_path_buf();
    let evaluate = Box::new(move |_: &mut SourceMap, text: &str| evaluate(&script, text));
    Ok(Box::new(Loaded {
        about,
        system: made?,
        action: None,
        alone: true,
        most: Some(STATES),
        opened: Opened::default(),
        evaluate,
    }))
}

fn system(
    sources: &mut SourceMap,
    file: &Path,
    asked: &Asked,
    deadline: &Deadline,
) -> Result<ProcessSystem, Vec<Diagnostic>> {
    let steps = asked.steps();
    let Ready { mut machine, types } = ready(sources, file, &extras(asked.process.as_deref(), &steps))?;
    machine.stop_with(&deadline.flag);
    let start = first(&mut machine, &types, asked.process.as_deref())?;
    let patterns = patterns(&mut machine, &steps).map_err(|d| vec![d])?;
    let names = steps.iter().map(|text| Arc::from(&**text));
    let patterns = names.zip(patterns).collect();
    Ok(ProcessSystem::new(Processes::new(machine), start, patterns, Arc::new(sources.clone())))
}

/// What is added to a script: the process that is asked for, and the steps of formulas.
pub(super) fn extras(process: Option<&str>, steps: &[String]) -> Vec<Extra> {
    let start = |text: &str| Extra { name: ASKED.into(), text: text.into(), from: "--process" };
    let step = |(i, text): (usize, &String)| Extra {
        name: step_name(i),
        // ProB writes `c!0!1` for what the language calls `c.0.1`.
        text: text.replace('!', "."),
        from: "a step of the formula",
    };
    let silent = |text: &str| text == TAU || text == TICK;
    let events = steps.iter().enumerate().filter(|(_, text)| !silent(text));
    process.into_iter().map(start).chain(events.map(step)).collect()
}

/// What the steps of formulas mean, which were added to the script.
pub(super) fn patterns(machine: &mut Machine, steps: &[String]) -> Result<Vec<Pattern>, Diagnostic> {
    let mut patterns = vec![];
    for (i, text) in steps.iter().enumerate() {
        let is_channel = machine.program().constants.iter().any(|c| c.data.is_none() && *c.name == **text);
        patterns.push(match &**text {
            TAU | TICK if is_channel => {
                let why = format!("`{text}` is a channel of the script and a step of every process");
                let d = Diagnostic::error("C0407", Span::default(), why);
                return Err(d.help("give the channel another name"));
            }
            TAU => Pattern::Tau,
            TICK => Pattern::Tick,
            _ => Pattern::Begins(event(machine, &step_name(i)).map_err(|f| wrong(&f))?),
        });
    }
    Ok(patterns)
}

/// No script can have such a name by accident.
fn step_name(place: usize) -> String {
    format!("kanon_step{place}'")
}

fn value(machine: &mut Machine, name: &str) -> Option<Result<Value, Box<Fault>>> {
    let place = machine.program().names.iter().find(|(n, _)| *n.text == *name).map(|(_, place)| *place)?;
    Some(machine.global(place))
}

/// The process that is asked for.
pub(super) fn first(
    machine: &mut Machine,
    types: &[(String, String)],
    process: Option<&str>,
) -> Result<NodeId, Vec<Diagnostic>> {
    let name = if process.is_some() { ASKED } else { MAIN };
    let shown = process.unwrap_or(MAIN);
    let at = |name: &str| {
        let names = &machine.program().names;
        names.iter().find(|(n, _)| *n.text == *name).map_or_else(Span::default, |(n, _)| n.span)
    };
    let ty = types.iter().find(|(n, _)| n == name).map(|(_, ty)| ty.as_str());
    match ty {
        Some("Proc") => {}
        Some(ty) => {
            let why = format!("`{shown}` is no process: its type is `{ty}`");
            return Err(vec![Diagnostic::error("C0408", at(name), why)]);
        }
        None => {
            let all: Vec<&str> = types.iter().filter(|(_, ty)| ty == "Proc").map(|(n, _)| &**n).collect();
            let d =
                Diagnostic::error("C0408", Span::default(), format!("the script has no process `{shown}`"));
            let which =
                if all.is_empty() { String::new() } else { format!("; there is: {}", all.join(", ")) };
            return Err(vec![d.help(format!("say which: `--process \"P(0)\"`{which}"))]);
        }
    }
    let span = at(name);
    match value(machine, name) {
        Some(Ok(Value::Process(node))) => Ok(node),
        // As with any other state that has no value: there is no answer.
        Some(Err(fault)) => {
            let place = if fault.span == NOWHERE { span } else { fault.span };
            Err(vec![Diagnostic::error(LIMIT, place, fault.message)])
        }
        _ => Err(vec![Diagnostic::error("C0408", span, format!("`{shown}` is no process"))]),
    }
}

/// What begins as a step of a formula says.
fn event(machine: &mut Machine, name: &str) -> Result<Value, Box<Fault>> {
    match value(machine, name) {
        Some(found) => machine.front(&found?, Span::default()),
        None => Fault::wrong(Span::default(), "this is no event"),
    }
}

fn wrong(fault: &Fault) -> Diagnostic {
    Diagnostic::error(if fault.is_limit { LIMIT } else { "C0407" }, fault.span, fault.message.clone())
}

/// `eval` of the program asks the same.
fn evaluate(script: &Path, text: &str) -> Result<Reply, Diagnostic> {
    let none = || Diagnostic::error("C0404", Span::default(), "this is no expression");
    let mut evaluated =
        eval(script, Some(text)).map_err(|r| r.diagnostics.into_iter().next().unwrap_or_else(none))?;
    match evaluated.values.pop() {
        Some((_, Ok(Worth { text, is_false }))) if is_false || text == "true" => Ok(Reply::Truth(!is_false)),
        Some((_, Ok(Worth { text, .. }))) => Ok(Reply::Value(text)),
        Some((_, Err(d))) => Err(d),
        None => Err(none()),
    }
}
