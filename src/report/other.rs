//! Answers about files in languages that are not B, in the words and the JSON that answers about B have.

use super::json::{fixed_sets, object, permuted_sets};
use super::simulated::{counted, counts};
use crate::run::numbers::plural;
use crate::run::other::{About, Answered, Checked, Step, Strolled};
use crate::symmetry::Strategy;
use crate::verdict::Decision;
use serde_json::{Value, json};
use std::fmt::Write;

fn paint(text: &str, code: &str, colour: bool) -> String {
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}

fn word(verdict: Decision, colour: bool) -> String {
    let code = match verdict {
        Decision::Holds => "1;32",
        Decision::Fails => "1;31",
        Decision::Unknown => "1;33",
    };
    paint(verdict.name(), code, colour)
}

fn steps(out: &mut String, steps: &[Step], back: Option<usize>) {
    let last = steps.len().saturating_sub(1);
    for (i, step) in steps.iter().enumerate() {
        let (number, bar) = match back {
            Some(back) if i == last && back < last => (format!("→{}", back + 1), " | "),
            Some(back) if i > back => ((i + 1).to_string(), " | "),
            _ => ((i + 1).to_string(), "  "),
        };
        let by = step.by.as_deref().unwrap_or("(initial state)");
        let state: Vec<String> = step.state.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let state = if state.is_empty() { "(nothing)".to_string() } else { state.join(", ") };
        let _ = writeln!(out, "{number:>4}{bar}{by}\n        {state}");
    }
}

fn sets(out: &mut String, about: &About) {
    if !about.permuted.is_empty() {
        let sets: Vec<String> = about.permuted.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "permuted: {}", sets.join(", "));
    }
    for fixed in &about.fixed {
        let _ = writeln!(out, "{fixed}");
    }
}

/// The answer of `check`.
pub fn checked(c: &Checked, about: &About, colour: bool) -> String {
    let mut out = match (c.verdict, c.finding, &c.reason) {
        (Decision::Fails, Some("goal"), _) => {
            format!("{}: {}\n", about.name, paint("the goal is reached", "1;36", colour))
        }
        (_, _, None) => format!("{}: {}\n", about.name, word(c.verdict, colour)),
        (_, _, Some(reason)) => format!("{}: {}: {reason}\n", about.name, word(c.verdict, colour)),
    };
    if let Some(trace) = &c.trace {
        steps(&mut out, trace, None);
    }
    let (states, transitions) =
        (plural(c.counts.states as u64, "state"), plural(c.counts.transitions, "transition"));
    let _ = write!(out, "{states}, {transitions}");
    if c.counts.deadlocks > 0 {
        let _ = write!(out, ", {}", plural(c.counts.deadlocks, "deadlock"));
    }
    if c.counts.goals > 0 {
        let _ = write!(out, ", {} with the goal", plural(c.counts.goals, "state"));
    }
    let _ = writeln!(out, " in {:.3} s", c.seconds);
    if c.strategy != Strategy::Off {
        sets(&mut out, about);
    }
    notes(&mut out, about);
    out
}

fn notes(out: &mut String, about: &About) {
    for note in &about.notes {
        let _ = writeln!(out, "note: {note}");
    }
}

/// The answer of `simulate`.
pub fn strolled(s: &Strolled, about: &About, colour: bool) -> String {
    let verdict = s.walked.verdict.unwrap_or(Decision::Unknown);
    let reason = s.walked.reason.as_ref().map_or(String::new(), |r| format!(": {r}"));
    let mut out = format!("{}: {}{reason}\n", about.name, word(verdict, colour));
    if let Some((_, trace)) = &s.finding {
        steps(&mut out, trace, None);
    }
    out.push_str(&counts(&s.walked, colour));
    out
}

/// The same as JSON.
pub fn strolled_json(s: &Strolled, about: &About, seed: u64, depth: usize) -> Value {
    let mut answer = counted(&s.walked, seed, depth);
    answer["machine"] = about.name.clone().into();
    answer["language"] = about.language.name().into();
    answer["total_seconds"] = s.walked.seconds.into();
    if let Some((kind, trace)) = &s.finding {
        let steps: Vec<Value> = trace.iter().map(step).collect();
        let message = s.walked.reason.clone().unwrap_or_default();
        answer["finding"] = json!({
            "kind": kind,
            "message": message,
            "why": [],
            "trace": { "constants": {}, "steps": steps },
        });
    }
    answer
}

fn step(s: &Step) -> Value {
    let state = s.state.iter().map(|(n, v)| (n.clone(), v.clone().into()));
    json!({
        "operation": s.by.as_deref().unwrap_or("(initial state)"),
        "parameters": {},
        "results": {},
        "state": object(state),
    })
}

/// The same as JSON.
pub fn checked_json(c: &Checked, about: &About) -> Value {
    let finding = c.finding.map(|kind| {
        let steps: Vec<Value> = c.trace.iter().flatten().map(step).collect();
        let message = c.reason.clone().unwrap_or_default();
        json!({ "kind": kind, "message": message, "why": [], "trace": { "constants": {}, "steps": steps } })
    });
    let n = &c.counts;
    let mut answer = json!({
        "verdict": c.verdict.name(),
        "reason": c.reason,
        "finding": finding,
        "states": n.states,
        "transitions": n.transitions,
        "operations": object(c.operations.iter().map(|(o, n)| (o.clone(), (*n).into()))),
        "initialisations": n.initialisations,
        "constants": 0,
        "deadlocks": n.deadlocks,
        "violations": n.violations,
        "assertion_failures": n.assertion_failures,
        "goals": n.goals,
        "wd_errors": n.wd_errors,
        "open": n.open,
        "complete": c.complete,
        "seconds": c.seconds,
        "total_seconds": c.seconds,
        "bytes": c.bytes,
        "machine": about.name,
        "language": about.language.name(),
        "scope": null,
        "warnings": [],
        "notes": about.notes,
        "rests_on": [],
    });
    if let Some(n) = c.flooded {
        answer["flooded"] = n.into();
    }
    if c.strategy != Strategy::Off {
        let (sets, fixed) = (permuted_sets(&about.permuted), fixed_sets(&about.fixed));
        answer["symmetry"] = json!({ "strategy": c.strategy.name(), "sets": sets, "fixed": fixed });
    }
    answer
}

/// The answers of `ltl`.
pub fn formulas(texts: &[(String, String)], all: &[Answered], about: &About, colour: bool) -> String {
    let mut out = String::new();
    for ((_, text), a) in texts.iter().zip(all) {
        let reason = a.reason.as_ref().map_or(String::new(), |r| format!(": {r}"));
        let _ = writeln!(out, "{text}: {}{reason}", word(a.verdict, colour));
        if let Some((path, back)) = &a.finding {
            steps(&mut out, path, *back);
            let _ = match back {
                Some(back) => writeln!(
                    out,
                    "the steps marked with | are repeated for ever, from state {} to itself",
                    back + 1
                ),
                None if a.is_over => writeln!(out, "in the last state it has terminated"),
                None => writeln!(out, "the last state is a deadlock"),
            };
        }
        if a.strategy != Strategy::Off {
            sets(&mut out, about);
        }
        let states = if a.strategy == Strategy::Off { "state" } else { "representative" };
        let _ = writeln!(out, "{} in {:.3} s", plural(a.counts.states as u64, states), a.seconds);
    }
    notes(&mut out, about);
    out
}

/// The same as JSON.
pub fn formulas_json(texts: &[(String, String)], all: &[Answered], about: &About) -> Value {
    let one = |((name, text), a): (&(String, String), &Answered)| {
        let finding = a.finding.as_ref().map(|(path, back)| {
            let all: Vec<Value> = path.iter().map(step).collect();
            let at = back.map_or(all.len(), |b| (b + 1).min(all.len()));
            let (stem, rest) = all.split_at(at);
            json!({
                "kind": match back {
                    Some(_) => "lasso",
                    None if a.is_over => "end",
                    None => "deadlock",
                },
                "from_initial": true,
                "constants": {},
                "stem": stem,
                "loop": back.map(|_| rest),
            })
        });
        json!({
            "name": name,
            "formula": text,
            "verdict": a.verdict.name(),
            "reason": a.reason,
            "finding": finding,
            "symmetry": a.strategy.name(),
            "fixed": fixed_sets(&about.fixed),
            "states": a.counts.states,
            "edges": a.counts.edges,
            "nodes": a.counts.nodes,
            "atoms": a.counts.atoms,
            "depth": a.counts.depth,
            "node_bytes": a.counts.node_bytes,
            "state_bytes": a.counts.state_bytes,
            "seconds": a.seconds,
            "machine": about.name,
            "scope": null,
            "warnings": [],
            "notes": about.notes,
        })
    };
    texts.iter().zip(all).map(one).collect()
}
