//! The answer of `refine`, for a terminal and as JSON.

use super::{diagnostic, json, text};
use crate::lang::diag::Diagnostic;
use crate::model::open::Opened;
use crate::run::answer::Decision;
use crate::run::numbers::plural;
use crate::run::refine::{Broken, Refined};
use crate::trace::export;
use serde_json::{Value, json};
use std::fmt::Write;

/// For a terminal.
pub fn text(r: &Refined, opened: &Opened, colour: bool) -> String {
    let mut out = String::new();
    let chain = r.levels.join(" refines ");
    let paint = |word: &str, code| text::paint(word, code, colour);
    let _ = match r.verdict {
        Decision::Holds => writeln!(out, "{chain}: {}", paint("holds", "1;32")),
        Decision::Fails => {
            writeln!(out, "{chain}: {}: {}", paint("fails", "1;31"), r.reason.as_deref().unwrap_or_default())
        }
        Decision::Unknown => {
            writeln!(
                out,
                "{chain}: {}: {}",
                paint("unknown", "1;33"),
                r.reason.as_deref().unwrap_or("no answer")
            )
        }
    };
    if let Some(f) = &r.finding {
        finding(&mut out, f, opened, colour);
    }
    let what = if r.way == "pairs" { "state of all levels" } else { "state with its abstract states" };
    let states = match r.counts.states {
        1 => format!("1 {what}"),
        n => format!(
            "{} {}",
            super::progress::grouped(n as u64),
            what.replacen("state", "states", 1).replace("its", "their")
        ),
    };
    let mut parts = vec![states, plural(r.counts.transitions, "transition")];
    if r.constants > 0 {
        parts.push(plural(r.constants as u64, "valuation") + " of the constants");
    }
    if r.counts.open > 0 {
        parts.push(format!("{} not explored", super::progress::grouped(r.counts.open as u64)));
    }
    let _ = writeln!(out, "{} in {:.3} s", parts.join(", "), r.seconds);
    for note in &r.notes {
        let _ = writeln!(out, "{}: {note}", paint("note", "1;36"));
    }
    out
}

fn equations(pairs: &[(String, String)]) -> String {
    if pairs.is_empty() {
        return "(no variables)".into();
    }
    pairs.iter().map(|(n, v)| format!("{n} = {}", text::cut(v))).collect::<Vec<_>>().join(", ")
}

fn finding(out: &mut String, f: &Broken, opened: &Opened, colour: bool) {
    out.push('\n');
    if let Some(p) = &f.place {
        let message = f.name.clone().unwrap_or_else(|| f.message.clone());
        let d = Diagnostic::error(f.code.unwrap_or(f.obligation), p.span, message);
        out.push_str(&diagnostic::render(&d, &opened.sources, colour));
        out.push('\n');
    }
    text::steps(out, &f.trace, &opened.model);
    if !f.parameters.is_empty() {
        let _ = writeln!(out, "\n{}({})", f.operation, equations(&f.parameters));
    }
    match &f.before[..] {
        [] => {}
        [one] => {
            let _ = writeln!(out, "\nthe levels above before this step: {}", equations(one));
        }
        many => {
            let _ = writeln!(out, "\nthe levels above before this step, one of:");
            many.iter().for_each(|s| {
                let _ = writeln!(out, "  {}", equations(s));
            });
        }
    }
    if !f.candidates.is_empty() {
        let _ = writeln!(out, "\nwhat {} could do, and why that does not match:", f.above);
        for (state, why) in &f.candidates {
            let _ = writeln!(out, "  {}: {}", equations(state), text::cut(why));
        }
        if f.has_more {
            let _ = writeln!(out, "  …");
        }
    }
    text::why(out, &f.why);
    out.push('\n');
}

/// As JSON; docs/json.md describes it.
pub fn json(r: &Refined, opened: &Opened) -> Value {
    let mut scope = export::scope(&opened.model, &opened.scope);
    scope["truncated"] = r.truncated.as_ref().map_or(Value::Null, json::placed);
    let warnings: Vec<Value> = opened.warnings.iter().map(|d| json::diagnostic(d, &opened.sources)).collect();
    json!({
        "verdict": r.verdict.name(),
        "reason": r.reason,
        "finding": r.finding.as_ref().map(|f| broken(f, opened)),
        "levels": r.levels,
        "way": r.way,
        "states": r.counts.states,
        "transitions": r.counts.transitions,
        "initialisations": r.counts.initialisations,
        "constants": r.constants,
        "open": r.counts.open,
        "complete": r.complete,
        "seconds": r.seconds,
        "total_seconds": r.total_seconds,
        "scope": scope,
        "warnings": warnings,
        "notes": r.notes,
    })
}

fn values(pairs: &[(String, String)]) -> Value {
    json::object(pairs.iter().map(|(n, v)| (n.clone(), v.clone().into())))
}

fn broken(f: &Broken, opened: &Opened) -> Value {
    let candidates = f.candidates.iter().map(|(s, why)| json!({ "state": values(s), "why": why }));
    json!({
        "obligation": f.obligation,
        "name": f.name,
        "message": f.message,
        "code": f.code,
        "level": f.level,
        "above": f.above,
        "operation": f.operation,
        "parameters": values(&f.parameters),
        "place": f.place.as_ref().map(json::placed),
        "before": f.before.iter().map(|s| values(s)).collect::<Vec<_>>(),
        "candidates": candidates.collect::<Vec<_>>(),
        "why": f.why.iter().map(json::part).collect::<Vec<_>>(),
        "trace": export::trace(&f.trace, &opened.model),
    })
}

/// The answer when a single evaluation did not end: all fields are there, and what nobody knows is `null`.
pub fn unanswered(_: &Value, reason: &str) -> Value {
    let mut answer = json::unknown(reason);
    let fields = [
        "finding",
        "levels",
        "way",
        "states",
        "transitions",
        "initialisations",
        "constants",
        "open",
        "seconds",
        "total_seconds",
        "scope",
        "warnings",
        "notes",
    ];
    fields.into_iter().for_each(|key| answer[key] = Value::Null);
    answer["complete"] = false.into();
    answer
}
