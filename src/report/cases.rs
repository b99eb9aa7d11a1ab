//! Test cases.

use super::json::{diagnostic, placed};
use super::text::cut;
use crate::model::open::Opened;
use crate::run::cases::{Cases, Goal};
use crate::run::numbers::plural;
use crate::trace::export;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

fn goal(g: &Goal) -> String {
    match g {
        Goal::Operation(name) => name.to_string(),
        Goal::Pair(a, b) => format!("{a}, then {b}"),
        Goal::Conjunct(op, place, value) => {
            let text = place.label.clone().unwrap_or_else(|| cut(&place.text));
            format!("{text} is {value} in {op} ({}:{})", place.line, place.column)
        }
    }
}

pub fn text(c: &Cases, files: &[impl AsRef<Path>]) -> String {
    let mut out = String::new();
    for (i, case) in c.cases.iter().enumerate() {
        let file = files.get(i).map_or(String::new(), |f| format!(", {}", f.as_ref().display()));
        let _ = writeln!(out, "case {}: {}{file}", i + 1, plural(case.trace.steps.len() as u64, "step"));
        for (g, steps) in &case.covers {
            let _ = writeln!(out, "  after {steps}: {}", goal(g));
        }
    }
    for g in &c.uncovered {
        let why = if c.is_proved(g) { "not possible" } else { "unknown" };
        let _ = writeln!(out, "not covered, {why}: {}", goal(g));
    }
    let covered: usize = c.cases.iter().map(|case| case.covers.len()).sum();
    let _ = writeln!(
        out,
        "{} for {covered} of {} goals, {} explored in {:.3} s",
        plural(c.cases.len() as u64, "trace"),
        covered + c.uncovered.len(),
        plural(c.states as u64, "state"),
        c.seconds
    );
    if let Some(why) = &c.reason {
        let _ = writeln!(out, "note: the search is not complete: {why}");
    }
    out
}

fn goal_json(g: &Goal) -> Value {
    match g {
        Goal::Operation(name) => json!({ "kind": "operation", "operation": &**name }),
        Goal::Pair(a, b) => json!({ "kind": "pair", "operation": &**a, "then": &**b }),
        Goal::Conjunct(op, place, value) => {
            json!({ "kind": "conjunct", "operation": &**op, "conjunct": placed(place), "value": value })
        }
    }
}

pub fn json(c: &Cases, files: &[impl AsRef<Path>], opened: &Opened) -> Value {
    let case = |(i, case): (usize, &crate::run::cases::Case)| {
        let covers = case.covers.iter().map(|(g, steps)| {
            let mut o = goal_json(g);
            o["steps"] = (*steps).into();
            o
        });
        let covers: Vec<Value> = covers.collect();
        let mut o = json!({ "covers": covers, "trace": export::trace(&case.trace, &opened.model) });
        if let Some(file) = files.get(i) {
            o["file"] = file.as_ref().display().to_string().into();
        }
        o
    };
    let uncovered = c.uncovered.iter().map(|g| {
        let mut o = goal_json(g);
        o["proved"] = c.is_proved(g).into();
        o
    });
    let warnings: Vec<Value> = opened.warnings.iter().map(|d| diagnostic(d, &opened.sources)).collect();
    json!({
        "cases": c.cases.iter().enumerate().map(case).collect::<Vec<Value>>(),
        "uncovered": uncovered.collect::<Vec<Value>>(),
        "complete": c.is_complete,
        "reason": c.reason,
        "states": c.states,
        "seconds": c.seconds,
        "machine": &*opened.model.name,
        "scope": export::scope(&opened.model, &opened.scope),
        "warnings": warnings,
    })
}
