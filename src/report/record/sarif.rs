//! SARIF 2.1.0, which code hosts and editors read: a result per claim and per error or warning of the front end.
//!
//! What holds is a result of kind `pass`, what has no answer one of kind `open`, what was not looked at to the end one of
//! kind `notApplicable`. The way to a finding is a code flow.

use super::{Claim, Outcome, Record, Remark, Spot};
use crate::lang::diag::Severity;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Rules and what they are about.
const RULES: [(&str, &str); 10] = [
    ("invariant", "The invariant is true in every reachable state."),
    ("assertion", "The assertions are true in every reachable state."),
    ("deadlock", "Some operation is enabled in every reachable state."),
    ("goal", "No reachable state fulfils the goal."),
    ("well-definedness", "Every expression that is evaluated has a value."),
    ("finding", "Nothing goes wrong in a reachable state."),
    ("formula", "Every path fulfils the temporal formula."),
    ("refinement", "Every step of the machine is followed by what it refines."),
    ("obligation", "The proof obligation holds."),
    ("model", "The model can be read, typed and given a size."),
];

pub fn sarif(records: &[Record]) -> String {
    let rule = |(id, text): &(&str, &str)| json!({ "id": id, "shortDescription": { "text": text } });
    let results: Vec<Value> = records.iter().flat_map(results).collect();
    let failed = records.iter().flat_map(|r| &r.remarks).any(|m| m.severity == Severity::Error);
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "kanon",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": !failed }],
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn results(r: &Record) -> Vec<Value> {
    let claims = r.claims.iter().map(|c| claim(c, r));
    r.remarks.iter().map(|m| remark(m, r)).chain(claims).collect()
}

fn remark(m: &Remark, r: &Record) -> Value {
    let level = match m.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    json!({
        "ruleId": "model",
        "kind": "fail",
        "level": level,
        "message": { "text": format!("{}: {}", m.code, m.message) },
        "locations": [location(m.place.as_ref(), r)],
    })
}

fn claim(c: &Claim, r: &Record) -> Value {
    let (kind, level, text) = match &c.outcome {
        Outcome::Holds => ("pass", "none", c.name.clone()),
        Outcome::Fails(why) => ("fail", "error", format!("{}: {why}", c.name)),
        Outcome::Unknown(why) => ("open", "none", format!("{}: unknown: {why}", c.name)),
        Outcome::Skipped(why) => ("notApplicable", "none", format!("{}: {why}", c.name)),
    };
    let text = c.why.iter().fold(text, |text, line| format!("{text}\n{line}"));
    let mut result = json!({
        "ruleId": c.rule,
        "kind": kind,
        "level": level,
        "message": { "text": text },
        "locations": [location(c.place.as_ref(), r)],
    });
    if !c.steps.is_empty() {
        let step = |text: &String| json!({ "location": { "message": { "text": text } } });
        let steps: Vec<Value> = c.steps.iter().map(step).collect();
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    result
}

fn location(spot: Option<&Spot>, r: &Record) -> Value {
    let mut physical = Map::new();
    let file = spot.map_or(&r.file, |s| &s.file);
    physical.insert("artifactLocation".into(), json!({ "uri": uri(file) }));
    if let Some(s) = spot {
        let region = json!({
            "startLine": s.line, "startColumn": s.column, "endLine": s.end_line, "endColumn": s.end_column,
        });
        physical.insert("region".into(), region);
    }
    json!({ "physicalLocation": physical })
}

/// A path as a reference that a URI may have: relative unless it is absolute.
fn uri(file: &str) -> String {
    let mut out = String::from(if Path::new(file).is_absolute() { "file://" } else { "" });
    for (i, part) in file.split(['/', std::path::MAIN_SEPARATOR]).enumerate() {
        if i > 0 {
            out.push('/');
        }
        for byte in part.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
                _ => out.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    out
}
