//! Steps, and what is asked where they end. A view of [`crate::animate::Session`].

use super::super::ScopeOptions;
use super::flags::{Asked, Steps, Walk};
use crate::animate::{Choices, End, Missing, Place, Session};
use crate::model::open::Refused;
use crate::report::probcli::{Asserted, Ended, Evaluated, Shown, Telling, Wrote};
use crate::report::{json, probcli as shown};
use crate::run::Deadline;
use crate::system::{Role, System};
use crate::trace::fault::{LIMIT, fault_diagnostic};
use serde_json::Value as Json;
use std::collections::HashSet;
use std::path::Path;

/// Opens the machine, or says why not.
pub fn open(file: &Path, sizes: &ScopeOptions, stop: &Deadline, tell: &mut Telling) -> Option<Session> {
    match Session::open(file, &sizes.args(), stop) {
        Ok(session) => Some(session),
        Err(refused) => {
            tell.refused(&json::refused(&refused));
            None
        }
    }
}

/// The steps that are counted before the first of an operation.
fn before_first(session: &Session) -> usize {
    1 + usize::from(session.model().has_constants())
}

/// What cannot be done or not be listed is said.
fn choices(session: &mut Session, stop: &Deadline, tell: &mut Telling) -> std::sync::Arc<Choices> {
    let found = session.walk_mut().choices(&stop.flag);
    for (_, fault) in &found.faults {
        let d = fault_diagnostic(fault);
        tell.error(if d.code == LIMIT { "time_out" } else { "well_definedness_error" }, &d.message);
    }
    match &found.missing {
        None => {}
        Some(Missing::More) => tell.warning("max_operations_reached", "there are more steps than are listed"),
        Some(Missing::Stopped) => tell.error("time_out", "the time is up, or it was interrupted"),
        Some(Missing::Cut(_)) => tell.warning("enumeration_warning", "an enumeration was cut short"),
    }
    found
}

/// To the first state, and all steps that are asked for.
pub fn steps(session: &mut Session, walk: &Walk, stop: &Deadline, tell: &mut Telling) {
    let needs_start = walk.init || !walk.steps.is_empty() || walk.det_check;
    if walk.det_check {
        determined(session, stop, tell);
    }
    let offered = choices(session, stop, tell);
    let is_random = walk.steps.first().is_some_and(|s| s.is_random);
    let (taken, _) = match is_random {
        true => session.walk_mut().random(1, 0, &stop.flag),
        false => (usize::from(session.walk_mut().step(0, &stop.flag).is_some()), End::Done),
    };
    if taken == 0 {
        if needs_start && offered.faults.is_empty() && offered.missing.is_none() {
            tell.error("initialisation_fails", "INITIALISATION FAILS");
        }
        return;
    }
    for one in &walk.steps {
        match one.is_random {
            true => animate(session, *one, walk.det_check, stop, tell),
            false => execute(session, *one, stop, tell),
        }
    }
}

/// More than one way on is an error.
fn determined(session: &mut Session, stop: &Deadline, tell: &mut Telling) {
    let found = session.walk_mut().choices(&stop.flag);
    if found.all.len() > 1 {
        let ways = session.calls(&found);
        let state: Vec<String> = shown::equations(&session.state());
        tell.not_determined(&state, &ways);
    }
}

/// The state, one equation after the other, as it is shown after a finding.
fn variables(session: &Session) -> Vec<String> {
    let values = session.state();
    shown::equations(&values.into_iter().filter(|v| !v.is_constant).collect::<Vec<_>>())
}

/// The first check of this kind that is not true here.
fn broken(session: &Session, role: Role, stop: &Deadline) -> bool {
    session.walk().judge(&stop.flag).iter().any(|j| j.role == role && !matches!(j.truth, Ok(true)))
}

/// Steps that chance chooses; it always chooses the same ones.
fn animate(session: &mut Session, steps: Steps, det_check: bool, stop: &Deadline, tell: &mut Telling) {
    let before = before_first(session);
    let mut taken = before;
    let mut fired: HashSet<String> = HashSet::new();
    let mut seen: HashSet<Vec<u64>> = HashSet::new();
    let mut ended = Ended::Done;
    loop {
        let is_new = session.walk().row().is_some_and(|row| seen.insert(row.to_vec()));
        if is_new && broken(session, Role::Invariant, stop) {
            tell.violated("invariant_violation", taken, None, &variables(session));
        }
        if steps.limit.is_some_and(|n| taken >= n) {
            break;
        }
        if det_check {
            determined(session, stop, tell);
        }
        let offered = choices(session, stop, tell);
        if offered.missing == Some(Missing::Stopped) {
            ended = Ended::Stopped;
            break;
        }
        if session.walk_mut().random(1, taken as u64, &stop.flag).0 == 0 {
            ended = Ended::Deadlock;
            break;
        }
        taken += 1;
        fired.extend(last(session));
    }
    let is_covered = session.machine().operations().iter().all(|o| fired.contains(&*o.name));
    tell.animated(steps.limit, taken, ended, is_covered);
}

/// The operation that led here.
fn last(session: &Session) -> Option<String> {
    let walk = session.walk();
    let here = &walk.visited()[walk.at()?.0];
    let operation = *here.label.as_ref()?.first()?;
    session.machine().operations().get(operation as usize).map(|o| o.name.to_string())
}

/// The first step each time. It is a function of the state: who comes to a state again comes to it for ever.
fn execute(session: &mut Session, steps: Steps, stop: &Deadline, tell: &mut Telling) {
    let before = before_first(session);
    let mut taken = before;
    let mut seen: HashSet<Vec<u64>> = HashSet::new();
    let ended = loop {
        if broken(session, Role::Invariant, stop) {
            break Ended::Invariant;
        }
        if broken(session, Role::Assertion, stop) {
            break Ended::Assertion;
        }
        let is_new = session.walk().row().is_some_and(|row| seen.insert(row.to_vec()));
        if !is_new {
            break Ended::Loop;
        }
        if steps.limit.is_some_and(|n| taken >= n) {
            break Ended::Done;
        }
        let offered = choices(session, stop, tell);
        match session.walk_mut().step(0, &stop.flag) {
            Some(_) => taken += 1,
            None if offered.missing == Some(Missing::Stopped) => break Ended::Stopped,
            None => break Ended::Deadlock,
        }
    };
    let after = last(session).unwrap_or_else(|| crate::trace::INITIALISATION.to_string());
    tell.executed(steps.limit, taken, &after, ended, &variables(session));
}

/// Goes to the end of a counterexample.
pub fn to_finding(session: &mut Session, answer: &Json, stop: &Deadline, tell: &mut Telling) {
    let has_steps = answer["finding"]["trace"]["steps"].as_array().is_some_and(|s| !s.is_empty());
    if !has_steps {
        return;
    }
    let why = match session.load(&answer.to_string(), &stop.flag) {
        Ok(loaded) if loaded.steps == loaded.of => return,
        Ok(loaded) => loaded.failure.unwrap_or_else(|| "it ends early".into()),
        Err(why) => why,
    };
    // Whatever is asked now would be about another state.
    tell.error("trace", &format!("the counterexample cannot be followed: {why}"));
}

/// What is asked about the state, and files about the way to it.
pub fn questions(session: &mut Session, asked: &Asked, stop: &Deadline, tell: &mut Telling) {
    let walk = &asked.walk;
    if walk.assertions {
        judged(session, Role::Assertion, stop, tell);
    }
    if walk.check_goal {
        match &asked.goal {
            Some(goal) => {
                let truth = session.ask(goal, &stop.flag).map(|r| shown::truth(&r)).ok().flatten();
                tell.asserted("GOAL", &[Asserted { text: goal.clone(), truth }]);
            }
            None => judged(session, Role::Goal, stop, tell),
        }
    }
    let evals: Vec<Evaluated> =
        walk.evals.iter().map(|(text, of)| evaluated(session, text, of, stop)).collect();
    if !evals.is_empty() {
        tell.evaluated(&evals);
    }
    for (by, to) in &walk.histories {
        let text = history_of(session, by, stop);
        let text = text.map_err(|why| format!("{by}: {why}"));
        write(to, text, tell);
    }
    if let Some(to) = &walk.history {
        let way: Vec<_> = session.walk().way(session.walk().at());
        let text =
            shown::history(&session.trace(), session.model(), walk.history_with_init && !way.is_empty());
        write(to, Ok(text), tell);
    }
    if let Some(to) = &walk.state {
        write(to, Ok(shown::state(&session.state())), tell);
    }
}

fn write(to: &Path, text: Result<String, String>, tell: &mut Telling) {
    let wrote = text.and_then(|text| std::fs::write(to, text).map_err(|e| e.to_string()));
    if let Err(why) = wrote {
        tell.wrote(to, Wrote::Failed(&why));
    }
}

fn judged(session: &Session, role: Role, stop: &Deadline, tell: &mut Telling) {
    let all: Vec<Asserted> = session
        .conjuncts(&stop.flag)
        .into_iter()
        .filter(|c| c.judged.role == role)
        .map(|c| {
            let text = c.text.map_or_else(|| c.judged.name.to_string(), |place| place.text);
            Asserted { text, truth: c.judged.truth.ok() }
        })
        .collect();
    match (role, all.is_empty()) {
        (Role::Goal, true) => tell.error("cli_check_goal", "No GOAL DEFINITION found"),
        (Role::Goal, false) => tell.asserted("GOAL", &all),
        _ => tell.asserted("ASSERTIONS", &all),
    }
}

fn evaluated(session: &Session, text: &str, of: &Option<String>, stop: &Deadline) -> Evaluated {
    let reply = session.ask(text, &stop.flag).map_err(|r| problem(&r));
    Evaluated { text: text.to_string(), of: of.clone(), reply }
}

/// The first of what is wrong: its code, and what it says.
fn problem(refused: &Refused) -> (String, String) {
    let first = refused.diagnostics.iter().find(|d| d.is_error()).or(refused.diagnostics.first());
    first.map_or_else(Default::default, |d| (d.code.to_string(), d.message.clone()))
}

/// A line for each state on the way here: the operation that led to it, and the value of the expression.
fn history_of(session: &mut Session, by: &str, stop: &Deadline) -> Result<String, String> {
    let at = session.walk().at();
    let way: Vec<Place> = session.walk().way(at);
    let steps = session.trace().steps;
    let mut rows = vec![];
    let mut wrong = None;
    for (place, step) in way.iter().zip(&steps) {
        session.walk_mut().go(Some(*place));
        match session.ask(by, &stop.flag) {
            Ok(reply) => rows.push(Shown {
                operation: step.name(session.model()).to_string(),
                value: shown::reply(&reply),
            }),
            Err(refused) => wrong = Some(problem(&refused).1),
        }
    }
    session.walk_mut().go(at);
    wrong.map_or_else(|| Ok(shown::history_table(by, &rows)), Err)
}
