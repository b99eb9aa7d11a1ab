//! The answers of engines that work with formulas.

use super::{json, text};
use crate::model::open::Opened;
use crate::run::answer::Decision;
use crate::run::symbolic::Answered;
use serde_json::{Value, json};
use std::fmt::Write;

/// Clauses of an inductive invariant that a terminal is given; JSON has them all.
const CLAUSES: usize = 20;

/// For a terminal.
pub fn answered(a: &Answered, opened: &Opened, colour: bool) -> String {
    let mut out = text::verdict(a.verdict, a.reason.as_deref(), a.finding.as_ref(), opened, colour);
    let steps = match (a.verdict, a.engine) {
        (Decision::Fails, _) => format!("{} steps", a.depth),
        (_, crate::run::symbolic::Engine::KInduction) => format!("k = {}", a.depth),
        (_, crate::run::symbolic::Engine::Ic3) => format!("depth {}", a.depth),
        _ => format!("{} steps", a.depth),
    };
    let (cells, terms) = a.size;
    let _ = write!(out, "{} with {}: {steps}, ", a.engine.name(), a.solver);
    let _ = writeln!(out, "{cells} variables of formulas per state, {terms} terms, {:.3} s", a.seconds);
    if let Some((yes, all)) = a.preserved {
        let _ = writeln!(out, "proof information: {yes} of {all} pairs of operation and property");
    }
    if !a.invariant.is_empty() {
        let _ = writeln!(out, "inductive together with the invariant:");
        for clause in a.invariant.iter().take(CLAUSES) {
            let _ = writeln!(out, "  {}", text::cut(clause));
        }
        if a.invariant.len() > CLAUSES {
            let _ = writeln!(out, "  … and {} more (`--json` has them all)", a.invariant.len() - CLAUSES);
        }
    }
    let uncovered = a.uncovered.iter().map(|what| format!("not looked at: {what}"));
    let notes: Vec<String> = uncovered.chain(a.notes.iter().cloned()).collect();
    out.push_str(&text::notes(&notes, colour));
    out
}

/// The object that `--json` prints.
pub fn json(a: &Answered, opened: &Opened) -> Value {
    let mut object = json::of_model(opened);
    object["verdict"] = a.verdict.name().into();
    object["reason"] = a.reason.clone().into();
    object["finding"] = a.finding.as_ref().map_or(Value::Null, |f| json::finding(f, &opened.model));
    object["engine"] = a.engine.name().into();
    object["solver"] = a.solver.clone().into();
    object["depth"] = a.depth.into();
    object["depths"] = a.depths.iter().map(|(depth, seconds)| json!([depth, seconds])).collect();
    object["invariant"] = a.invariant.clone().into();
    object["checked_by"] = a.checked_by.clone().into();
    object["preserved"] =
        a.preserved.map_or(Value::Null, |(yes, all)| json!({ "proved": yes, "asked": all }));
    if let Some(Ok(path)) = &a.certificate {
        object["certificate"] = path.display().to_string().into();
    }
    object["rests_on"] = a.rests_on.clone().into();
    object["uncovered"] = a.uncovered.clone().into();
    object["cells"] = a.size.0.into();
    object["terms"] = a.size.1.into();
    object["notes"] = a.notes.clone().into();
    object["seconds"] = a.seconds.into();
    object["total_seconds"] = a.total_seconds.into();
    object
}

/// Nobody has an answer: what each says.
pub fn nobody(reasons: &[(&'static str, String)], seconds: f64, opened: &Opened, colour: bool) -> String {
    let mut out = text::verdict(Decision::Unknown, Some("no engine has an answer"), None, opened, colour);
    for (engine, why) in reasons {
        let _ = writeln!(out, "  {engine}: {why}");
    }
    let _ = writeln!(out, "portfolio: {seconds:.3} s");
    out
}

/// The same for `--json`.
pub fn nobody_json(reasons: &[(&'static str, String)], seconds: f64, opened: &Opened) -> Value {
    let mut object = json::of_model(opened);
    object["verdict"] = Decision::Unknown.name().into();
    let all: Vec<String> = reasons.iter().map(|(engine, why)| format!("{engine}: {why}")).collect();
    object["reason"] = all.join("; ").into();
    object["finding"] = Value::Null;
    object["engine"] = "portfolio".into();
    object["seconds"] = seconds.into();
    object
}
