//! Answers of random walks.

use super::json::{diagnostic, finding, object};
use super::progress::grouped;
use super::text::{notes, verdict};
use crate::model::open::Opened;
use crate::run::answer::{Counterexample, Decision};
use crate::run::numbers::plural;
use crate::run::simulate::Simulated;
use crate::trace::export;
use serde_json::{Value, json};
use std::fmt::Write;

fn decision(s: &Simulated) -> Decision {
    s.verdict.unwrap_or(Decision::Unknown)
}

/// Steps of a walk on average.
fn mean(s: &Simulated) -> f64 {
    if s.walks == 0 { 0.0 } else { s.steps as f64 / s.walks as f64 }
}

pub fn text(s: &Simulated, found: Option<&Counterexample>, opened: &Opened, colour: bool) -> String {
    let mut out = verdict(decision(s), s.reason.as_deref(), found, opened, colour);
    out.push_str(&counts(s, colour));
    out
}

/// What the walks were like.
pub(super) fn counts(s: &Simulated, colour: bool) -> String {
    let mut out = String::new();
    let walks = plural(s.walks, "walk");
    let _ = writeln!(
        out,
        "{walks}, {} in {:.3} s; {} to {} steps each, {:.1} on average",
        plural(s.steps, "step"),
        s.seconds,
        grouped(s.shortest),
        grouped(s.longest),
        mean(s),
    );
    if s.deadlocks > 0 {
        let _ = writeln!(out, "{} ended where nothing is enabled", plural(s.deadlocks, "walk"));
    }
    if s.operations.iter().any(|(_, n)| *n > 0) {
        out.push_str("steps by operation:\n");
        let wide = s.operations.iter().map(|(n, _)| n.chars().count()).max().unwrap_or(0);
        for (name, n) in &s.operations {
            let _ = writeln!(out, "  {name:wide$}  {}", grouped(*n));
        }
    }
    out.push_str(&notes(&s.notes, colour));
    out
}

pub fn json(
    s: &Simulated,
    found: Option<&Counterexample>,
    opened: &Opened,
    seed: u64,
    depth: usize,
) -> Value {
    let warnings: Vec<Value> = opened.warnings.iter().map(|d| diagnostic(d, &opened.sources)).collect();
    let mut object = counted(s, seed, depth);
    object["finding"] = found.map(|f| finding(f, &opened.model)).into();
    object["machine"] = (&*opened.model.name).into();
    object["scope"] = export::scope(&opened.model, &opened.scope);
    object["warnings"] = warnings.into();
    object
}

/// What is the same in all languages.
pub(super) fn counted(s: &Simulated, seed: u64, depth: usize) -> Value {
    let operations = s.operations.iter().map(|(n, count)| (n.to_string(), (*count).into()));
    json!({
        "verdict": decision(s).name(),
        "reason": s.reason,
        "finding": null,
        "walks": s.walks,
        "found_by": s.found_by,
        "steps": s.steps,
        "depth": { "limit": depth, "min": s.shortest, "max": s.longest, "mean": mean(s) },
        "deadlocks": s.deadlocks,
        "operations": object(operations),
        "initial": s.initial,
        "seed": seed,
        "seconds": s.seconds,
        "machine": null,
        "scope": null,
        "warnings": [],
        "notes": s.notes,
    })
}
