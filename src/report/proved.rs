//! Proof obligations: a table, and JSON.

use super::{json, text};
use crate::model::open::Opened;
use crate::run::answer::{Decision, Place};
use crate::run::prove::{Example, Obligation, Proved, Shown, Status};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// What the obligations say together.
pub fn decision(p: &Proved) -> Decision {
    let any = |test: fn(&Status) -> bool| p.obligations.iter().any(|o| test(&o.status));
    match () {
        () if any(|s| matches!(s, Status::Disproved(_))) => Decision::Fails,
        () if p.refused.is_some() || any(|s| matches!(s, Status::Undecided(_))) => Decision::Unknown,
        () => Decision::Holds,
    }
}

fn word(status: &Status) -> &'static str {
    match status {
        Status::Proved => "proved",
        Status::Disproved(_) => "disproved",
        Status::Undecided(_) => "not decided",
    }
}

/// For a terminal.
pub fn text(p: &Proved, opened: &Opened) -> String {
    let mut out = String::new();
    let model = &opened.model;
    if let Some(why) = &p.refused {
        let _ = writeln!(out, "{}: unknown: there is no formula for the machine: {why}", model.name);
        return out;
    }
    let width = p.obligations.iter().map(|o| o.name.chars().count()).max().unwrap_or(0);
    for o in &p.obligations {
        let place = o.place.as_ref().map(|p| text::cut(&p.text)).unwrap_or_default();
        let alarm = if o.is_alarm() { "  (the file says that it is discharged)" } else { "" };
        let line = format!("{:<11}  {:<width$}  {place}{alarm}", word(&o.status), o.name);
        let _ = writeln!(out, "{}", line.trim_end());
        match &o.status {
            Status::Disproved(Some(example)) => example_text(&mut out, example),
            Status::Disproved(None) => {
                out.push_str("             it is enabled in no state that fulfils the invariant\n")
            }
            Status::Undecided(why) => {
                let _ = writeln!(out, "             {why}");
            }
            Status::Proved => {}
        }
    }
    let count = |w: &str| p.obligations.iter().filter(|o| word(&o.status) == w).count();
    let (yes, no, open) = (count("proved"), count("disproved"), count("not decided"));
    let _ = writeln!(
        out,
        "{}: {yes} proved, {no} disproved, {open} not decided, with {} in {:.3} s",
        model.name, p.solver, p.seconds
    );
    let alarms: Vec<&str> = p.obligations.iter().filter(|o| o.is_alarm()).map(|o| &*o.name).collect();
    if !alarms.is_empty() {
        let _ = writeln!(
            out,
            "alarm: the file says that these are discharged, and they are wrong: {}",
            alarms.join(", ")
        );
    }
    out.push_str(
        "note: these are about all states that fulfil the invariant, not only about reachable ones\n",
    );
    for (name, place) in &p.redundant {
        let place = place.as_ref().map(|p| format!(": {}", text::cut(&p.text))).unwrap_or_default();
        let _ = writeln!(out, "note: {name} follows from the other conjuncts of the invariant{place}");
    }
    for note in crate::run::notes::scope(opened) {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

fn listed(values: &Shown) -> String {
    values.iter().map(|(n, v)| format!("{n} = {v}")).collect::<Vec<_>>().join(", ")
}

fn example_text(out: &mut String, example: &Example) {
    let mut row = |what: &str, values: &Shown| {
        if !values.is_empty() {
            let _ = writeln!(out, "             {what:<11} {}", text::cut(&listed(values)));
        }
    };
    row("constants", &example.constants);
    row(if example.after.is_some() { "before" } else { "state" }, example.before.as_ref().unwrap_or(&vec![]));
    row("parameters", &example.parameters);
    row("after", example.after.as_ref().unwrap_or(&vec![]));
}

/// The object that `--json` prints.
pub fn json(p: &Proved, opened: &Opened) -> Value {
    let mut object = json::of_model(opened);
    object["verdict"] = decision(p).name().into();
    object["reason"] = p.refused.clone().into();
    object["solver"] = p.solver.clone().into();
    object["obligations"] = p.obligations.iter().map(obligation).collect();
    let redundant = |(name, place): &(String, Option<Place>)| json!({ "name": name, "formula": place.as_ref().map(|p| &p.text), "line": place.as_ref().map(|p| p.line) });
    object["redundant"] = p.redundant.iter().map(redundant).collect();
    object["seconds"] = p.seconds.into();
    object
}

fn obligation(o: &Obligation) -> Value {
    let reason = match &o.status {
        Status::Undecided(why) => Some(why),
        _ => None,
    };
    let example = match &o.status {
        Status::Disproved(Some(e)) => json!({
            "constants": named(&e.constants),
            "before": e.before.as_ref().map(named),
            "parameters": named(&e.parameters),
            "after": e.after.as_ref().map(named),
        }),
        _ => Value::Null,
    };
    json!({
        "name": o.name,
        "status": word(&o.status),
        "reason": reason,
        "formula": o.place.as_ref().map(|p| &p.text),
        "line": o.place.as_ref().map(|p| p.line),
        "discharged": o.discharged,
        "alarm": o.is_alarm(),
        "example": example,
        "seconds": o.seconds,
    })
}

fn named(values: &Shown) -> Value {
    Value::Object(values.iter().map(|(n, v)| (n.clone(), v.clone().into())).collect::<Map<_, _>>())
}
