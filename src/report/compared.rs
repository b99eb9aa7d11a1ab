//! What `compare` has to say.

use super::progress::grouped;
use crate::run::compare::{Agreement, Compared, Ran};
use crate::symmetry::Strategy;
use crate::verdict::Decision;
use serde_json::{Value, json};
use std::fmt::Write;

/// A table, and what follows from it.
pub fn text(c: &Compared) -> String {
    let mut out = String::new();
    let sets: Vec<String> = c.permuted.iter().map(ToString::to_string).collect();
    let what =
        if sets.is_empty() { "nothing to permute".into() } else { format!("permuted: {}", sets.join(", ")) };
    let _ = writeln!(out, "{}: {what}", c.machine);
    for fixed in &c.fixed {
        let _ = writeln!(out, "{fixed}");
    }
    let count = |n: Option<u64>| n.map_or(String::new(), grouped);
    let has_constants = c.runs.iter().any(|r| r.constants > 0);
    let has_flooded = c.runs.iter().any(|r| r.flooded.is_some());
    let mut rows =
        vec![vec!["strategy", "states", "transitions"].into_iter().map(String::from).collect::<Vec<_>>()];
    rows[0].extend(has_constants.then(|| "constants".into()));
    rows[0].extend(has_flooded.then(|| "flooded".into()));
    rows[0].extend(["verdict".into(), "seconds".into(), "speed-up".into()]);
    for r in &c.runs {
        let mut row = vec![r.strategy.to_string(), grouped(r.states), grouped(r.transitions)];
        row.extend(has_constants.then(|| count(Some(r.constants))));
        row.extend(has_flooded.then(|| count(r.flooded)));
        let speedup = c
            .speedup(r)
            .map_or(String::new(), |x| if x < 10.0 { format!("{x:.2}") } else { format!("{x:.0}") });
        row.extend([r.word(), format!("{:.4}", r.seconds), speedup]);
        rows.push(row);
    }
    let left = [0, rows[0].len() - 3];
    let wide: Vec<usize> =
        (0..rows[0].len()).map(|i| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0)).collect();
    for row in &rows {
        let cell = |(i, text): (usize, &String)| {
            let n = wide[i];
            if left.contains(&i) { format!("{text:<n$}") } else { format!("{text:>n$}") }
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        let _ = writeln!(out, "{}", cells.join("  ").trim_end());
    }
    for r in
        c.runs.iter().filter(|r| r.verdict == Decision::Unknown && (r.strategy.is_exact() || !r.finished))
    {
        let _ = writeln!(out, "{}: {}", r.strategy, r.reason.as_deref().unwrap_or("no answer"));
    }
    for r in c.runs.iter().filter(|r| r.kept > 0) {
        let _ = writeln!(
            out,
            "{}: {} states were too hard to label and kept as they are, so there may be several an orbit",
            r.strategy,
            grouped(r.kept)
        );
    }
    if c.runs.iter().any(|r| r.wd_errors > 0) {
        let _ = writeln!(
            out,
            "counts are not compared: after an error of well-definedness they depend on the order of evaluation"
        );
    }
    if let Some(base) = c.baseline().filter(|b| b.strategy != Strategy::Off) {
        let _ =
            writeln!(out, "off did not finish; speed-up is against {}, the slowest that did", base.strategy);
    }
    match c.agreement() {
        Agreement::Agree(what) => {
            let _ = writeln!(out, "{what}");
        }
        Agreement::Open(why) => {
            let _ = writeln!(out, "nothing can be said: {why}");
        }
        Agreement::Differ(differences) => {
            let _ = writeln!(out, "the strategies DISAGREE; this is a mistake of kanon, please report it:");
            for d in differences {
                let _ = writeln!(out, "  {d}");
            }
        }
    }
    out
}

pub fn json(c: &Compared) -> Value {
    let run = |r: &Ran| {
        let mut o = json!({
            "strategy": r.strategy.name(),
            "verdict": r.verdict.name(),
            "finding": r.found,
            "reason": r.reason,
            "finished": r.finished,
            "states": r.states,
            "transitions": r.transitions,
            "constants": r.constants,
            "initialisations": r.initialisations,
            "deadlocks": r.deadlocks,
            "violations": r.violations,
            "assertion_failures": r.assertion_failures,
            "goals": r.goals,
            "wd_errors": r.wd_errors,
            "kept": r.kept,
            "seconds": r.seconds,
            "speedup": c.speedup(r),
            "bytes": r.bytes,
        });
        if let Some(n) = r.flooded {
            o["flooded"] = n.into();
        }
        o
    };
    let (agree, differences, sentence) = match c.agreement() {
        Agreement::Agree(what) => (Some(true), vec![], what),
        Agreement::Open(why) => (None, vec![], format!("nothing can be said: {why}")),
        Agreement::Differ(d) => {
            (Some(false), d, "the strategies disagree; this is a mistake of kanon".into())
        }
    };
    let verdict = c.runs.iter().filter(|r| r.strategy.is_exact() && r.verdict != Decision::Unknown);
    let verdict = verdict.map(|r| r.verdict.name()).next().filter(|_| agree != Some(false));
    json!({
        "machine": c.machine,
        "verdict": verdict.unwrap_or("unknown"),
        "agree": agree,
        "reason": sentence,
        "differences": differences,
        "baseline": c.baseline().map(|r| r.strategy.name()),
        "strategies": c.runs.iter().map(run).collect::<Vec<_>>(),
        "sets": super::json::permuted_sets(&c.permuted),
        "fixed": super::json::fixed_sets(&c.fixed),
        "scope": c.scope,
    })
}

/// The answer when a single evaluation did not end: what the strategies before it found, and no more.
pub fn unanswered(known: &Value, reason: &str) -> Value {
    let mut answer = json!({ "verdict": "unknown", "agree": null, "reason": reason, "baseline": null });
    for key in ["machine", "scope", "differences", "strategies", "sets", "fixed"] {
        answer[key] = known.get(key).cloned().unwrap_or_default();
    }
    answer
}
