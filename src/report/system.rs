//! Answers about a system that is written in Rust: as text, as JSON, and as a picture of the state space.

use crate::run::numbers::plural;
use crate::run::system::{Answer, Refuted, name};
use crate::system::{Label, Path, Stop, System, Transition, Visitor};
use crate::value::fault::Fault;
use crate::verdict::{Verdict, Why};
use serde_json::{Value, json};
use std::fmt::Write;
use std::ops::ControlFlow;

fn why(why: &Why) -> String {
    crate::run::why::text(why, &Default::default())
}

fn state<S: System>(system: &S, row: &[u64]) -> String {
    let pairs = system.show_state(row).into_iter().map(|(n, v)| format!("{n} = {v}"));
    pairs.collect::<Vec<_>>().join(", ")
}

/// A path, one line per state.
pub fn path<S: System>(system: &S, path: &Path) -> String {
    let mut out = String::new();
    for (i, row) in path.rows.iter().enumerate() {
        let by = match i.checked_sub(1).and_then(|i| path.labels.get(i)) {
            Some(label) => system.show_label(label),
            None => "start".to_string(),
        };
        let _ = writeln!(out, "{i:4}  {by:<24} {}", state(system, row));
    }
    out
}

/// The verdict, the counts and the path.
pub fn text<S: System>(system: &S, answer: &Answer) -> String {
    let mut out = match &answer.verdict {
        Verdict::Holds(_) => "holds\n".to_string(),
        Verdict::Fails(f) => format!("fails: {} ({})\n", f.kind.name(), name(system, f)),
        Verdict::Unknown(reason) => format!("unknown: {}\n", why(reason)),
    };
    if let Some(p) = &answer.path {
        out += &path(system, p);
    }
    let c = &answer.counts;
    let _ = writeln!(out, "{}, {}", plural(c.states as u64, "state"), plural(c.transitions, "transition"));
    out
}

/// The same as one JSON object.
pub fn json<S: System>(system: &S, answer: &Answer) -> Value {
    let (reason, kind) = match &answer.verdict {
        Verdict::Holds(_) => (None, None),
        Verdict::Fails(f) => (Some(name(system, f)), Some(f.kind.name())),
        Verdict::Unknown(reason) => (Some(why(reason)), None),
    };
    let c = &answer.counts;
    let named = system.operations().iter().zip(&c.operations);
    let operations: serde_json::Map<String, Value> =
        named.map(|(o, n)| (o.name.to_string(), (*n).into())).collect();
    json!({
        "verdict": answer.verdict.word().name(),
        "reason": reason,
        "finding": kind,
        "states": c.states,
        "transitions": c.transitions,
        "operations": operations,
        "deadlocks": c.deadlocks,
        "violations": c.violations,
        "complete": answer.explored.is_complete,
        "trace": answer.path.as_ref().map(|p| steps(system, p)),
    })
}

/// The answer to a formula, as text.
pub fn formula<S: System>(system: &S, verdict: &Verdict<Refuted>) -> String {
    match verdict {
        Verdict::Holds(_) => "holds\n".to_string(),
        Verdict::Unknown(reason) => format!("unknown: {}\n", why(reason)),
        Verdict::Fails(r) => {
            let round = match r.back {
                Some(back) => format!("the last state is state {back} again\n"),
                None => "the path ends in a deadlock\n".to_string(),
            };
            format!("fails\n{}{round}", path(system, &r.path))
        }
    }
}

fn steps<S: System>(system: &S, path: &Path) -> Vec<Value> {
    let shown = |row: &[u64]| -> serde_json::Map<String, Value> {
        system.show_state(row).into_iter().map(|(n, v)| (n, v.into())).collect()
    };
    let step = |(i, row): (usize, &Vec<u64>)| {
        let label = i.checked_sub(1).and_then(|i| path.labels.get(i));
        json!({ "operation": label.map(|l| system.show_label(l)), "state": shown(row) })
    };
    path.rows.iter().enumerate().map(step).collect()
}

/// The states that were explored and the transitions among them, in Graphviz's language. A transition to a state that is
/// stored under another name (an image of it, under reduction) is left out.
pub fn dot<S: System>(system: &S, answer: &Answer) -> String {
    struct Edges<'a, S> {
        system: &'a S,
        found: Vec<(Vec<u64>, Label)>,
    }
    impl<S: System> Visitor<S::Here> for Edges<'_, S> {
        fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
            self.found.push((t.target.to_vec(), self.system.label(t.operation, t.here)));
            ControlFlow::Continue(())
        }
        fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let store = &answer.explored.store;
    let mut worker = system.worker(&Stop::default());
    let mut out = String::from("digraph states {\n");
    for id in 0..store.len() as u32 {
        let row = store.row(id);
        let _ = writeln!(out, "  s{id} [label={}];", quoted(&state(system, &row)));
        let mut edges = Edges { system, found: vec![] };
        let _ = system.successors(&mut worker, &row, &mut edges);
        for (target, label) in &edges.found {
            if let Some(to) = store.find(target) {
                let _ = writeln!(out, "  s{id} -> s{to} [label={}];", quoted(&system.show_label(label)));
            }
        }
    }
    out.push_str("}\n");
    out
}
