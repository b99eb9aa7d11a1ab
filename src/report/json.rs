//! The JSON objects that `--json` prints; docs/json.md describes them.

use crate::explore::Reduction;
use crate::lang::diag::{Diagnostic, Severity, SourceMap, Span};
use crate::model::Model;
use crate::model::open::{Opened, Refused};
use crate::run::answer::{Audited, Checked, Counterexample, FalseConjunct, Place};
use crate::run::coverage::Coverage;
use crate::run::coverage::values::Variable;
use crate::symmetry::note::{Fixed, Permuted};
use crate::trace::explain::{Part, PartKind};
use crate::trace::export;
use crate::trace::replay::{Recorded, Replayed};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Of everything that is printed as JSON: what it says stays, and a change that takes something away raises it.
pub const VERSION: u64 = 1;

/// The answer with the version first; in a list, every one of them.
pub(super) fn versioned(answer: Value) -> Value {
    match answer {
        Value::Object(fields) => object([("version".to_string(), VERSION.into())].into_iter().chain(fields)),
        Value::Array(all) => all.into_iter().map(versioned).collect(),
        other => other,
    }
}

pub(super) fn object(pairs: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::Object(pairs.into_iter().collect())
}

pub fn command_line(message: &str) -> Value {
    json!({ "verdict": "error", "reason": message, "errors": [{ "severity": "error", "code": "command-line", "message": message }] })
}

pub fn unknown(reason: &str) -> Value {
    json!({ "verdict": "unknown", "reason": reason })
}

/// The answer of `check` when a single evaluation did not end: all fields are there, and what nobody knows is `null`.
pub fn unanswered(reason: &str, model: Option<&Value>) -> Value {
    let mut answer = unknown(reason);
    let fields = [
        "finding",
        "states",
        "transitions",
        "operations",
        "initialisations",
        "constants",
        "deadlocks",
        "violations",
        "assertion_failures",
        "goals",
        "wd_errors",
        "open",
        "complete",
        "seconds",
        "notes",
        "rests_on",
        "total_seconds",
        "bytes",
        "machine",
        "scope",
        "warnings",
    ];
    for key in fields {
        answer[key] = model.and_then(|m| m.get(key)).cloned().unwrap_or_default();
    }
    answer["complete"] = false.into();
    answer
}

/// What is known of an answer as soon as the model is read.
pub fn of_model(opened: &Opened) -> Value {
    let mut scope = export::scope(&opened.model, &opened.scope);
    scope["truncated"] = Value::Null;
    let warnings: Vec<Value> = opened.warnings.iter().map(|d| diagnostic(d, &opened.sources)).collect();
    json!({ "machine": &*opened.model.name, "scope": scope, "warnings": warnings })
}

/// Where in the sources; nothing when the span is not in them.
pub fn place(sources: &SourceMap, span: Span, into: &mut Map<String, Value>) {
    if let Some(source) = sources.get(span.file) {
        let at = source.line_col(span.lo);
        into.insert("file".into(), source.path.display().to_string().into());
        into.insert("line".into(), at.line.into());
        into.insert("column".into(), at.col.into());
    }
}

pub fn diagnostic(d: &Diagnostic, sources: &SourceMap) -> Value {
    let severity = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut o = Map::new();
    o.insert("severity".into(), severity.into());
    o.insert("code".into(), d.code.into());
    o.insert("message".into(), d.message.clone().into());
    place(sources, d.span, &mut o);
    let note = |(span, message): &(Span, String)| {
        let mut o = Map::new();
        o.insert("message".into(), message.clone().into());
        place(sources, *span, &mut o);
        Value::Object(o)
    };
    if !d.notes.is_empty() {
        o.insert("notes".into(), d.notes.iter().map(note).collect());
    }
    if let Some(help) = &d.help {
        o.insert("help".into(), help.clone().into());
    }
    Value::Object(o)
}

pub fn refused(refused: &Refused) -> Value {
    let first = refused.diagnostics.iter().find(|d| d.is_error());
    let reason = first.map_or("the model was refused", |d| &d.message);
    let errors: Vec<Value> = refused.diagnostics.iter().map(|d| diagnostic(d, &refused.sources)).collect();
    json!({ "verdict": "error", "reason": reason, "errors": errors })
}

/// The answer of `check`.
pub fn checked(c: &Checked, opened: &Opened) -> Value {
    let model = &opened.model;
    let operations = c.operations.iter().map(|(n, t)| (n.to_string(), (*t).into()));
    let mut scope = export::scope(model, &opened.scope);
    scope["truncated"] = c.truncated.as_ref().map_or(Value::Null, placed);
    let warnings = opened.warnings.iter().chain(&c.warnings);
    let warnings: Vec<Value> = warnings.map(|d| diagnostic(d, &opened.sources)).collect();
    let mut answer = json!({
        "verdict": c.verdict.name(),
        "reason": c.reason,
        "finding": c.finding.as_ref().map(|f| finding(f, model)),
        "states": c.counts.states,
        "transitions": c.counts.transitions,
        "operations": object(operations),
        "initialisations": c.counts.initialisations,
        "constants": c.constants,
        "deadlocks": c.counts.deadlocks,
        "violations": c.counts.violations,
        "assertion_failures": c.counts.assertion_failures,
        "goals": c.counts.goals,
        "wd_errors": c.counts.wd_errors,
        "open": c.counts.open,
        "complete": c.complete,
        "seconds": c.seconds,
        "total_seconds": c.total_seconds,
        "bytes": c.bytes,
        "machine": &*model.name,
        "scope": scope,
        "warnings": warnings,
        "notes": c.notes,
        "rests_on": c.rests_on,
    });
    if let Some(Ok(path)) = &c.certificate {
        answer["certificate"] = path.display().to_string().into();
    }
    if !c.broken.is_empty() {
        let row = |b: &FalseConjunct| json!({ "kind": b.kind, "conjunct": placed(&b.conjunct), "operation": b.operation, "states": b.states });
        answer["broken"] = c.broken.iter().map(row).collect();
    }
    if let Some(covered) = &c.coverage {
        answer["coverage"] = coverage(covered);
    }
    if let Some(r) = &c.reduction {
        if let Some(n) = r.effort.flooded {
            answer["flooded"] = n.into();
        }
        answer["symmetry"] = symmetry(r, model);
    }
    if let Some(a) = &c.audit {
        answer["audit"] = audit(a, model);
    }
    answer
}

fn coverage(c: &Coverage) -> Value {
    let pair = |(operation, parameter): &(Arc<str>, Arc<str>)| json!({ "operation": **operation, "parameter": **parameter });
    let variable = |v: &Variable| {
        let mut o = json!({ "name": &*v.name });
        if let Some((least, greatest)) = &v.range {
            o["min"] = least.to_string().into();
            o["max"] = greatest.to_string().into();
        }
        if let Some(n) = v.values {
            o["values"] = n.into();
            o["never"] = v.never.clone().into();
        }
        o
    };
    let mut answer = json!({
        "up_to_symmetry": c.up_to_symmetry,
        "never_fire": c.never.iter().map(|n| &**n).collect::<Vec<&str>>(),
        "variables": c.variables.iter().map(variable).collect::<Vec<Value>>(),
        "unbroken": c.unbroken.iter().map(placed).collect::<Vec<Value>>(),
        "unused_parameters": c.unused.iter().map(pair).collect::<Vec<Value>>(),
    });
    if let Some(d) = &c.details {
        let conjunct = |(operation, place): &(Arc<str>, Place)| json!({ "operation": **operation, "conjunct": placed(place) });
        answer["details"] = json!({
            "guard_holds": d.blocked.iter().map(|n| &**n).collect::<Vec<&str>>(),
            "never_false": d.never_false.iter().map(conjunct).collect::<Vec<Value>>(),
            "never_true": d.never_true.iter().map(placed).collect::<Vec<Value>>(),
            "idle_parameters": d.idle.iter().map(pair).collect::<Vec<Value>>(),
            "looked_at": d.looked_at,
            "undecided": d.undecided,
        });
    }
    answer
}

pub(super) fn permuted_sets(sets: &[Permuted]) -> Value {
    let set = |p: &Permuted| match &p.elements {
        None => json!({ "set": p.set, "size": p.size }),
        Some(elements) => json!({ "set": p.set, "size": p.size, "elements": elements }),
    };
    sets.iter().map(set).collect()
}

pub(super) fn fixed_sets(sets: &[Fixed]) -> Value {
    sets.iter().map(|f| json!({ "set": f.set, "reason": f.reason })).collect()
}

fn symmetry(r: &Reduction, model: &Model) -> Value {
    let (sets, fixed) =
        (permuted_sets(&r.group.permuted_sets(model)), fixed_sets(&r.group.fixed_sets(model)));
    let mut answer = json!({ "strategy": r.strategy.name(), "sets": sets, "fixed": fixed });
    let s = &r.effort.stats;
    if s.calls > 0 {
        answer["calls"] = s.calls.into();
        answer["cached"] = s.cached.into();
        answer["by_colour"] = s.by_colour.into();
        answer["labelled"] = s.labelled.into();
        answer["kept"] = s.kept.into();
        answer["nodes"] = s.nodes.into();
    }
    // Only with `--stats` are the strategies timed.
    if !s.sizes.is_empty() {
        answer["labelling_seconds"] = s.labelling.as_secs_f64().into();
        answer["longest_labelling_seconds"] = s.longest.as_secs_f64().into();
        answer["witness_seconds"] = s.witnesses.as_secs_f64().into();
        answer["graph_sizes"] = object(s.sizes.iter().map(|(n, count)| (n.to_string(), (*count).into())));
    }
    answer
}

fn audit(a: &Audited, model: &Model) -> Value {
    let r = &a.report;
    let clauses = r.clauses.iter().map(|(label, n)| ((*label).to_string(), (*n).into()));
    let broken = r.broken.as_ref().map(|b| {
        let trace = a.trace.as_ref().map(|t| match t {
            Ok(t) => export::trace(t, model),
            Err(why) => json!({ "error": why }),
        });
        json!({
            "clause": b.clause,
            "event": b.event.map(|e| e.to_string()),
            "number": b.number,
            "detail": b.detail,
            "trace": trace,
        })
    });
    json!({
        "every": r.every,
        "events": r.events,
        "audited": r.audited,
        "states": r.states,
        "clauses": object(clauses),
        "skipped": r.skipped,
        "ended": r.ended,
        "broken": broken,
    })
}

pub(super) fn placed(p: &Place) -> Value {
    let mut o = json!({ "text": p.text, "file": p.file, "line": p.line, "column": p.column });
    if let Some(label) = &p.label {
        o["label"] = label.clone().into();
    }
    o
}

pub(super) fn finding(f: &Counterexample, model: &Model) -> Value {
    let mut o = Map::new();
    o.insert("kind".into(), f.kind.into());
    o.insert("message".into(), f.message.clone().into());
    if let Some(code) = f.code {
        o.insert("code".into(), code.into());
    }
    if let Some(p) = &f.place {
        let key = if f.code.is_some() { "place" } else { "conjunct" };
        o.insert(key.into(), placed(p));
    }
    if let Some(op) = &f.operation {
        o.insert("operation".into(), op.clone().into());
        let pairs = f.parameters.iter().map(|(n, v)| (n.clone(), v.clone().into()));
        o.insert("parameters".into(), object(pairs));
    }
    o.insert("why".into(), f.why.iter().map(part).collect());
    o.insert("trace".into(), export::trace(&f.trace, model));
    Value::Object(o)
}

pub(super) fn part(p: &Part) -> Value {
    let kind = match p.kind {
        PartKind::Value => "value",
        PartKind::Witness => "witness",
        PartKind::Note => "note",
    };
    json!({ "kind": kind, "text": p.text, "value": p.value, "depth": p.depth })
}

/// The answer of `replay`.
pub fn replayed(recorded: &Recorded, r: &Replayed, model: &Model) -> Value {
    let done = r.trace.steps.len();
    let failure = r.failure.as_ref().map(|why| {
        let name = recorded.steps.get(done).map(|s| s.name.clone());
        json!({ "step": done + 1, "operation": name, "reason": why })
    });
    json!({
        "verdict": if failure.is_none() { "holds" } else { "fails" },
        "reason": r.failure,
        "steps": recorded.steps.len(),
        "replayed": done,
        "failure": failure,
        "trace": export::trace(&r.trace, model),
    })
}
