//! Counterexamples are followed by kanon-checker: what fails has a trace that it accepts, for the reason that kanon gave; a
//! changed trace is rejected at the step that was changed.

use crate::certificates::{EFFORT, Folder, models};
use kanon::model::load::with_large_stack;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::Decision;
use kanon::run::{Deadline, Task, check_file};
use kanon::symmetry::Strategy;
use kanon::trace::export::Shown;
use kanon_checker::{Refuted, Rejected, check_trace};
use kanon_language::model::reading::Reading;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn followed(model: &Path, trace: &Value) -> Result<Refuted, Rejected> {
    check_trace(model, &trace.to_string(), Reading::Kleene, EFFORT)
}

/// The trace of a failure that kanon has found, and what kind of failure it is.
fn counterexample(path: &Path, symmetry: Strategy, file: &Path) -> Option<(&'static str, Value)> {
    let mut task = Task::default();
    (task.options.symmetry, task.options.max_states) = (symmetry, Some(2_000));
    let found = with_large_stack(|| check_file(path, &ScopeArgs::default(), &task, &Deadline::never()).ok());
    let (project, found) = found.ok()??;
    let finding = found.finding.filter(|_| found.verdict == Decision::Fails)?;
    kanon::trace::export::write(
        file,
        Shown { trace: &finding.trace, back: None, formula: None },
        &project.opened,
    )
    .expect("a trace");
    let text = std::fs::read_to_string(file).expect("a trace");
    Some((finding.kind, serde_json::from_str(&text).expect("JSON")))
}

#[test]
fn what_fails_has_a_trace_that_is_accepted_for_the_same_reason() {
    let folder = Folder::new("traces");
    let file = folder.0.join("t.json");
    let mut files = vec![];
    models(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), &mut files);
    files.sort();
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut changed, mut undecided) = (0, vec![]);
    for path in &files {
        for symmetry in [Strategy::Off, Strategy::Auto] {
            let Some((kind, trace)) = counterexample(path, symmetry, &file) else { continue };
            let refuted = match followed(path, &trace) {
                Ok(refuted) => refuted,
                Err(why) if why.is_undecided() => {
                    undecided.push(format!("{}: {why}", path.display()));
                    continue;
                }
                Err(why) => panic!("{} ({kind}): {why}\n{trace:#}", path.display()),
            };
            let expected = match kind {
                "invariant" => "the invariant is false",
                "assertion" => "an assertion is false",
                "goal" => "the goal is true",
                "deadlock" => "no ",
                _ => "has no value",
            };
            assert!(refuted.wrong.iter().any(|w| w.contains(expected)), "{}: {refuted:?}", path.display());
            *kinds.entry(kind).or_default() += 1;
            // Each change is followed from the start again: a few are enough.
            if symmetry == Strategy::Off && kinds[kind] <= 12 {
                changed += changes(path, &trace);
            }
        }
    }
    for kind in ["invariant", "assertion", "goal", "deadlock", "well-definedness"] {
        assert!(kinds.contains_key(kind), "{kind}: {kinds:?}");
    }
    assert!(changed > 60, "{changed} changes");
    assert!(undecided.len() <= 4, "{undecided:#?}");
}

/// One thing of a trace is changed at a time; how many of these were rejected.
fn changes(model: &Path, trace: &Value) -> usize {
    let steps = trace["steps"].as_array().expect("steps");
    let mut rejected = 0;
    for at in [0, steps.len().saturating_sub(1)].into_iter().take(steps.len()) {
        let other = |change: &dyn Fn(&mut Value)| {
            let mut other = trace.clone();
            change(&mut other["steps"][at]);
            followed(model, &other).expect_err("a step that is not one")
        };
        let is_here = |why: &Rejected| {
            assert!(matches!(why, Rejected::Trace { step, .. } if *step == at + 1), "step {}: {why}", at + 1);
        };
        is_here(&other(&|s| s["operation"] = "no such operation".into()));
        is_here(&other(&|s| s["state"]["no such variable"] = "1".into()));
        rejected += 2;
        let first = steps[at]["state"].as_object().and_then(|s| s.keys().next().cloned());
        if let Some(name) = first {
            is_here(&other(&|s| s["state"][&name] = "no value".into()));
            rejected += 1;
        }
        is_here(&other(&|s| s["parameters"]["no such parameter"] = "1".into()));
        rejected += 1;
    }
    rejected
}

fn machine(folder: &Folder) -> PathBuf {
    let path = folder.0.join("m.mch");
    let text = "MACHINE m CONSTANTS c PROPERTIES c : 1..3 VARIABLES x INVARIANT x : 0..2
                INITIALISATION x := 0
                OPERATIONS add(n) = PRE n : 1..c THEN x := x + n END END";
    std::fs::write(&path, text).expect("a file");
    path
}

#[test]
fn a_trace_is_rejected_for_the_right_reason() {
    let folder = Folder::new("wrong-traces");
    let path = machine(&folder);
    let (_, trace) =
        counterexample(&path, Strategy::Off, &folder.0.join("t.json")).expect("x gets too large");
    assert!(followed(&path, &trace).is_ok());
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut trace = trace.clone();
        change(&mut trace);
        followed(&path, &trace).expect_err("it is wrong")
    };
    let said = |why: Rejected, text: &str| assert!(why.to_string().contains(text), "{why}");
    // Without its last step nothing is wrong.
    let shorter = changed(&|t| drop(t["steps"].as_array_mut().map(Vec::pop)));
    assert_eq!(shorter, Rejected::NothingWrong);
    said(changed(&|t| t["steps"][1]["parameters"]["n"] = "9".into()), "step 2 of the trace");
    said(changed(&|t| t["steps"] = Value::Array(vec![])), "nothing is wrong");
    said(changed(&|t| t["steps"][0]["operation"] = "add".into()), "INITIALISATION");
    said(changed(&|t| t["constants"]["c"] = "4".into()), "is false");
    said(changed(&|t| t["constants"]["c"] = "TRUE".into()), "is no value");
    said(changed(&|t| t["constants"]["d"] = "1".into()), "there is no constant");
    said(changed(&|t| t["machine"] = "other".into()), "the machine is m");
    said(changed(&|t| t["scope"]["sets"]["S"] = 3.into()), "other sizes");
    said(changed(&|t| t["scope"]["maxint"] = "much".into()), "`maxint`");
    said(changed(&|t| t["loop"] = 0.into()), "without an end");
    said(changed(&|t| t["version"] = 2.into()), "version");
    said(changed(&|t| t["format"] = "another".into()), "format");
    said(check_trace(&path, "{", Reading::Kleene, EFFORT).expect_err("no JSON"), "JSON");
    // Cut anywhere, it is rejected and nothing panics.
    let text = trace.to_string();
    for end in (0..text.len()).filter(|i| text.is_char_boundary(*i)) {
        assert!(check_trace(&path, &text[..end], Reading::Kleene, EFFORT).is_err());
    }
}
