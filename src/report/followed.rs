//! The answer of `follow`, for a terminal and as JSON.

use super::{diagnostic, json, text};
use crate::lang::diag::Diagnostic;
use crate::model::open::Opened;
use crate::run::answer::Decision;
use crate::run::follow::{Answered, Stuck};
use crate::run::numbers::plural;
use crate::trace::export;
use crate::trace::follow::Possible;
use serde_json::{Value, json};
use std::fmt::Write;

/// Steps of a behaviour that are told before a line that is not explained.
const STEPS: usize = 10;

/// For a terminal.
pub fn text(a: &Answered, opened: &Opened, colour: bool) -> String {
    let mut out = String::new();
    let (name, reason) = (&opened.model.name, a.reason.as_deref().unwrap_or_default());
    let paint = |word: &str, code| text::paint(word, code, colour);
    let _ = match a.verdict {
        Decision::Holds => {
            writeln!(out, "{name}: {}: a behaviour explains every line", paint("holds", "1;32"))
        }
        Decision::Fails => writeln!(out, "{name}: {}: {reason}", paint("fails", "1;31")),
        Decision::Unknown => writeln!(out, "{name}: {}: {reason}", paint("unknown", "1;33")),
    };
    if let Some(stuck) = &a.stuck {
        told(&mut out, stuck, a, opened, colour);
    }
    let mut parts = vec![format!("{} of {} explained", a.counts.len(), plural(a.lines as u64, "line"))];
    if let (Some(most), Some(last)) = (a.counts.iter().max(), a.counts.last()) {
        let last = plural(*last as u64, "state");
        parts.push(format!("{last} possible after the last of them, at most {most} after one"));
    }
    let _ = writeln!(out, "{} in {:.3} s", parts.join(", "), a.seconds);
    out.push_str(&text::notes(&a.notes, colour));
    out
}

fn equations(pairs: &[(String, String)]) -> String {
    let shown: Vec<String> = pairs.iter().map(|(n, v)| format!("{n} = {}", text::cut(v))).collect();
    shown.join(", ")
}

fn told(out: &mut String, stuck: &Stuck, a: &Answered, opened: &Opened, colour: bool) {
    out.push('\n');
    let message = match a.verdict {
        Decision::Fails => "no behaviour explains this line",
        _ => "nothing was found that explains this line",
    };
    let d = Diagnostic::error("log", stuck.place.span, message);
    out.push_str(&diagnostic::render(&d, &opened.sources, colour));
    let all = stuck.possible.len() + stuck.more;
    let _ = writeln!(
        out,
        "\nbefore it {} possible:",
        if all == 1 { "1 state was".into() } else { format!("{all} states were") }
    );
    for p in &stuck.possible {
        possible(out, p);
    }
    if stuck.more > 0 {
        let _ = writeln!(out, "  and {} others", stuck.more);
    }
    let steps = a.trace.steps.len();
    if steps > 0 {
        let _ = writeln!(
            out,
            "\na behaviour that explains what comes before it{}:",
            match steps > STEPS {
                true => format!(
                    ", its last {STEPS} of {} (`--trace` writes all of it)",
                    plural(steps as u64, "step")
                ),
                false => String::new(),
            }
        );
    }
    for (i, step) in a.trace.steps.iter().enumerate().skip(steps.saturating_sub(STEPS)) {
        let line = match i.checked_sub(1).map(|i| a.steps.get(i).copied().flatten()) {
            None => String::new(),
            Some(Some(line)) => format!("   (line {line})"),
            Some(None) => "   (not in the log)".to_string(),
        };
        let _ = writeln!(out, "{:4}  {}{line}", i + 1, text::call(step, &opened.model));
    }
    out.push('\n');
}

fn possible(out: &mut String, p: &Possible) {
    let whole: Vec<(String, String)> = p.constants.iter().chain(&p.state).cloned().collect();
    let _ = writeln!(out, "  {}", if whole.is_empty() { "(no variables)".into() } else { equations(&whole) });
    for why in &p.why {
        let _ = writeln!(out, "      {}", text::cut(why));
    }
    if !p.parts.is_empty() {
        let mut inside = String::new();
        text::parts(&mut inside, &p.parts);
        for line in inside.lines() {
            let _ = writeln!(out, "      {line}");
        }
    }
}

/// As JSON; docs/json.md describes it.
pub fn json(a: &Answered, opened: &Opened) -> Value {
    let warnings: Vec<Value> = opened.warnings.iter().map(|d| json::diagnostic(d, &opened.sources)).collect();
    let mut scope = export::scope(&opened.model, &opened.scope);
    scope["truncated"] = Value::Null;
    json!({
        "verdict": a.verdict.name(),
        "reason": a.reason,
        "finding": a.stuck.as_ref().map(finding),
        "lines": a.lines,
        "explained": a.counts.len(),
        "possible": a.counts,
        "initial": a.initial,
        "trace": export::trace(&a.trace, &opened.model),
        "trace_lines": a.steps,
        "seconds": a.seconds,
        "machine": &*opened.model.name,
        "scope": scope,
        "warnings": warnings,
        "notes": a.notes,
    })
}

fn values(pairs: &[(String, String)]) -> Value {
    json::object(pairs.iter().map(|(n, v)| (n.clone(), v.clone().into())))
}

fn finding(stuck: &Stuck) -> Value {
    let state = |p: &Possible| {
        json!({
            "constants": values(&p.constants),
            "state": values(&p.state),
            "why": p.why,
            "parts": p.parts.iter().map(json::part).collect::<Vec<_>>(),
        })
    };
    json!({
        "line": stuck.place.line,
        "place": json::placed(&stuck.place),
        "before": stuck.possible.iter().map(state).collect::<Vec<_>>(),
        "others": stuck.more,
    })
}

/// The answer when a single evaluation did not end: all fields are there, and what nobody knows is `null`.
pub fn unanswered(_: &Value, reason: &str) -> Value {
    let mut answer = json::unknown(reason);
    let fields = [
        "finding",
        "lines",
        "explained",
        "possible",
        "initial",
        "trace",
        "trace_lines",
        "seconds",
        "machine",
        "scope",
        "warnings",
        "notes",
    ];
    fields.into_iter().for_each(|key| answer[key] = Value::Null);
    answer
}
