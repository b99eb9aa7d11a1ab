//! Answers to temporal formulas.

use super::progress::grouped;
use super::text::call;
use crate::model::Model;
use crate::model::open::Opened;
use crate::run::ltl::{Answered, Bindings, Refutation};
use crate::symmetry::Strategy;
use crate::trace::{self, export};
use crate::value::Value as BValue;
use crate::verdict::Decision;
use serde_json::{Value, json};
use std::fmt::Write;

/// Values are cut here; JSON has them whole.
const WIDTH: usize = 400;

fn cut(text: String) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn list(pairs: Vec<(&str, String)>) -> String {
    pairs.into_iter().map(|(n, v)| format!("{n} = {}", cut(v))).collect::<Vec<_>>().join(", ")
}

pub fn text(all: &[Answered], model: &Model, explain: bool, colour: bool) -> String {
    let mut out = String::new();
    for f in all {
        let paint = |text: &str, code: &str| {
            if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
        };
        let (word, code) = match f.verdict {
            Decision::Holds => ("holds", "1;32"),
            Decision::Fails => ("fails", "1;31"),
            Decision::Unknown => ("unknown", "1;33"),
        };
        let reason = f.reason.as_ref().map_or(String::new(), |r| format!(": {r}"));
        let _ = writeln!(out, "{}: {}{reason}", f.text, paint(word, code));
        if let Some(found) = &f.finding {
            out.push('\n');
            path(&mut out, f, found, model, explain);
            out.push('\n');
        }
        for fixed in &f.fixed {
            let _ = writeln!(out, "{fixed}");
        }
        for note in &f.notes {
            let _ = writeln!(out, "note: {note}");
        }
        for idle in f.vacuous.iter().flatten() {
            let _ = writeln!(out, "{}: {idle}", paint("warning", "1;33"));
        }
        let n = &f.counts;
        let _ = writeln!(
            out,
            "{} {}, {} with atoms, in {:.3} s",
            grouped(n.states as u64),
            if f.strategy == Strategy::Off { "states" } else { "representatives" },
            grouped(n.nodes as u64),
            f.seconds
        );
    }
    out
}

/// The numbered steps with what they change, the loop marked.
fn path(out: &mut String, f: &Answered, found: &Refutation, model: &Model, explain: bool) {
    let t = &found.trace;
    let constants = trace::constants(t, model);
    if !constants.is_empty() {
        let _ = writeln!(out, "   constants: {}", list(constants));
    }
    let states = found.values.first().map_or(t.steps.len(), Vec::len);
    let mut before: Option<&[BValue]> = None;
    for (i, step) in t.steps.iter().enumerate() {
        let closes = i == states;
        let changes = match before {
            None => trace::variables(&step.state, model),
            Some(b) => trace::changed(b, &step.state, model),
        };
        let changes = if changes.is_empty() { "(nothing changes)".to_string() } else { list(changes) };
        let name = match i {
            0 if !found.is_from_initial => "(chosen state)".to_string(),
            _ => call(step, model),
        };
        let (number, bar) = match found.back {
            Some(b) if closes => (format!("→{}", b + 1), " | "),
            Some(b) if i > b => ((i + 1).to_string(), " | "),
            _ => ((i + 1).to_string(), "  "),
        };
        let _ = writeln!(out, "{number:>4}{bar}{name}\n        {changes}");
        before = Some(&step.state);
        if explain && !closes {
            explained(out, f, found, i);
        }
    }
    match found.back {
        Some(b) => {
            let _ = writeln!(
                out,
                "the steps marked with | are repeated for ever, from state {} to itself",
                b + 1
            );
        }
        None => out.push_str("the last state is a deadlock\n"),
    }
}

/// Which subformulas hold in a state, and which do not.
fn explained(out: &mut String, f: &Answered, found: &Refutation, at: usize) {
    for (word, wanted) in [("true", true), ("false", false)] {
        let mut parts: Vec<&str> = vec![];
        for (text, values) in f.parts.iter().zip(&found.values) {
            if values.get(at) == Some(&wanted)
                && !parts.contains(&&**text)
                && text != "true"
                && text != "false"
            {
                parts.push(text);
            }
        }
        if !parts.is_empty() {
            let _ = writeln!(out, "        {word:5}: {}", parts.join(" · "));
        }
    }
}

pub fn json(all: &[Answered], opened: &Opened, explain: bool) -> Value {
    all.iter().map(|f| formula(f, opened, explain)).collect()
}

/// What is known of the answers before there are any.
pub fn asked(bindings: &Bindings, opened: &Opened) -> Value {
    let of = |(name, text): (&str, &str)| {
        json!({
            "name": name,
            "formula": text,
            "machine": &*opened.model.name,
            "scope": export::scope(&opened.model, &opened.scope),
            "warnings": super::json::of_model(opened)["warnings"],
        })
    };
    bindings.texts().map(of).collect()
}

/// The answers when a single evaluation did not end: all fields are there, and what nobody knows is `null`. When it is
/// not even known what the formulas are, there is one answer, to none of them.
pub fn unanswered(asked: &Value, reason: &str) -> Value {
    let unknown = |known: &Value| {
        let mut o =
            json!({ "name": null, "formula": null, "verdict": Decision::Unknown.name(), "reason": reason });
        let fields = [
            "name",
            "formula",
            "finding",
            "symmetry",
            "fixed",
            "states",
            "edges",
            "nodes",
            "atoms",
            "depth",
            "node_bytes",
            "state_bytes",
            "seconds",
            "machine",
            "scope",
            "warnings",
            "notes",
        ];
        for key in fields {
            o[key] = known.get(key).cloned().unwrap_or_default();
        }
        o
    };
    match asked.as_array() {
        Some(all) => all.iter().map(unknown).collect(),
        None => json!([unknown(&Value::Null)]),
    }
}

fn formula(f: &Answered, opened: &Opened, explain: bool) -> Value {
    let (n, model) = (&f.counts, &opened.model);
    let mut answer = json!({
        "name": f.name,
        "formula": f.text,
        "verdict": f.verdict.name(),
        "reason": f.reason,
        "finding": f.finding.as_ref().map(|x| finding(f, x, model, explain)),
        "symmetry": f.strategy.name(),
        "fixed": super::json::fixed_sets(&f.fixed),
        "states": n.states,
        "edges": n.edges,
        "nodes": n.nodes,
        "atoms": n.atoms,
        "depth": n.depth,
        "node_bytes": n.node_bytes,
        "state_bytes": n.state_bytes,
        "seconds": f.seconds,
        "machine": &*model.name,
        "scope": export::scope(model, &opened.scope),
        "warnings": super::json::of_model(opened)["warnings"],
        "notes": f.notes,
    });
    if let Some(vacuous) = &f.vacuous {
        answer["vacuous"] = vacuous.iter().map(|idle| idle.part.clone()).collect();
    }
    answer
}

fn finding(f: &Answered, found: &Refutation, model: &Model, explain: bool) -> Value {
    let mut whole = export::trace(&found.trace, model);
    let constants = whole["constants"].take();
    let mut steps = match whole["steps"].take() {
        Value::Array(steps) => steps,
        _ => vec![],
    };
    if explain {
        for (i, step) in steps.iter_mut().enumerate() {
            let holds =
                |(text, values): (&String, &Vec<bool>)| Some((text.clone(), Value::from(*values.get(i)?)));
            let all = f.parts.iter().zip(&found.values).filter_map(holds);
            step["subformulas"] = Value::Object(all.collect());
        }
    }
    let repeated = match found.back {
        Some(b) => Value::Array(steps.split_off((b + 1).min(steps.len()))),
        None => Value::Null,
    };
    let kind = if found.back.is_some() { "lasso" } else { "deadlock" };
    json!({
        "kind": kind,
        "from_initial": found.is_from_initial,
        "constants": constants,
        "stem": steps,
        "loop": repeated,
    })
}
