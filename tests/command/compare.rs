//! `kanon compare`: all strategies on one model, the table, and what the exit code says.

use crate::program::{self, WRONG};
use crate::support::xml;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const AGREE: i32 = 0;
const OPEN: i32 = 3;

fn kanon(args: &[&str]) -> (i32, String, String) {
    let ran = program::kanon(&[&["compare"], args].concat());
    (ran.code, ran.out, ran.err)
}

fn answer(args: &[&str], code: i32) -> Value {
    program::json(&[&["compare"], args, &["--json"]].concat(), code)
}

/// By strategy.
fn runs(answer: &Value) -> BTreeMap<String, Value> {
    let all = answer["strategies"].as_array().expect("runs");
    all.iter().map(|r| (r["strategy"].as_str().expect("a name").to_string(), r.clone())).collect()
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn the_tables_of_the_paper() {
    // Model, options, states without reduction, orbits.
    let rows: [(&str, &[&str], u64, u64); 5] = [
        ("scheduler0", &["--card", "PROC=3"], 54, 16),
        ("scheduler1", &["--card", "PROC=4"], 824, 50),
        ("RussianPostalPuzzle", &["--card", "LOCK=3"], 440, 118),
        ("TokenRing", &["--card", "Server=4"], 3072, 168),
        ("Dining", &["--card", "Phil=3", "--card", "Fork=3"], 324, 11),
    ];
    for (model, options, states, orbits) in rows {
        let path = format!("models/papers/{model}.mch");
        let a = answer(&[&[&*path], options].concat(), AGREE);
        assert_eq!(
            (&a["agree"], &a["verdict"], &a["baseline"]),
            (&true.into(), &"holds".into(), &"off".into())
        );
        let runs = runs(&a);
        let nauty = usize::from(cfg!(feature = "nauty"));
        assert_eq!(runs.len(), 5 + nauty, "{model}");
        for (strategy, r) in &runs {
            assert_eq!(r["finished"], true, "{model} {strategy}");
            assert!(r["seconds"].as_f64() > Some(0.0) && r["speedup"].as_f64() > Some(0.0), "{r}");
            match &**strategy {
                "off" => assert_eq!(r["states"], states, "{model}"),
                "markers" => {
                    assert!(r["states"].as_u64() <= Some(orbits), "{model}: {r}");
                    assert_eq!(r["verdict"], "unknown", "markers are approximate");
                }
                _ => assert_eq!(
                    (&r["states"], &r["verdict"]),
                    (&orbits.into(), &"holds".into()),
                    "{model} {strategy}"
                ),
            }
        }
        assert_eq!(runs["flood"]["flooded"], states, "{model}");
        assert_eq!(runs["off"]["flooded"], Value::Null);
    }
}

#[test]
fn a_table_for_people() {
    let (code, out, err) = kanon(&["models/papers/scheduler0.mch", "--card", "PROC=3"]);
    assert_eq!((code, &*err), (AGREE, ""));
    let words = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = out.lines().map(words).collect();
    assert_eq!(out.lines().next(), Some("scheduler0: permuted: PROC (3)"));
    assert_eq!(lines[1], ["strategy", "states", "transitions", "flooded", "verdict", "seconds", "speed-up"]);
    assert_eq!(lines[2][..4], ["off", "54", "189", "holds"]);
    assert_eq!(lines[3][..5], ["flood", "16", "58", "54", "holds"]);
    assert_eq!(lines[4][..5], ["markers", "16", "58", "nothing", "found"]);
    let last = out.lines().last().unwrap_or_default();
    assert!(last.ends_with("holds, 16 orbits; flooded states are those of off (54 = 54)"), "{last}");
}

#[test]
fn findings_do_not_end_a_run() {
    for (model, kind, counted) in [
        ("find_invariant", "invariant", "violations"),
        ("find_deadlock", "deadlock", "deadlocks"),
        ("find_goal", "goal", "goals"),
        ("find_assertion", "assertion", "assertion_failures"),
    ] {
        let path = format!("models/lang/errors/{model}.mch");
        let a = answer(&[&path], AGREE);
        assert_eq!(a["verdict"], "fails", "{model}");
        for (strategy, r) in runs(&a) {
            assert_eq!(r["finding"], kind, "{model} {strategy}");
            assert!(r[counted].as_u64() > Some(0), "{model} {strategy}: {r}");
            assert_eq!(r["finished"], true, "{model} {strategy}");
        }
    }
    let a = answer(&["models/lang/errors/find_invariant.mch", "--no-invariant"], AGREE);
    assert_eq!(a["verdict"], "holds");
}

#[test]
fn limits_leave_it_open() {
    let scheduler = "models/papers/scheduler1.mch";
    let a = answer(&[scheduler, "--max-states", "3"], OPEN);
    assert_eq!((&a["agree"], &a["baseline"], &a["verdict"]), (&Value::Null, &Value::Null, &"unknown".into()));
    assert!(runs(&a).values().all(|r| r["finished"] == false && r["speedup"].is_null()));
    // Enough for orbits, not for all states.
    let a = answer(&[scheduler, "--card", "PROC=5", "--max-states", "200"], AGREE);
    let runs = runs(&a);
    assert_eq!((&runs["off"]["finished"], &runs["canon"]["finished"]), (&false.into(), &true.into()));
    assert_ne!(a["baseline"], "off");
    let (code, out, _) = kanon(&[scheduler, "--card", "PROC=5", "--max-states", "200"]);
    assert_eq!(code, AGREE);
    assert!(out.contains("off: the limit of 200 states is reached\n"), "{out}");
    assert!(out.contains("off did not finish; speed-up is against "), "{out}");
}

#[test]
fn a_clock_for_each_strategy() {
    let a = answer(&["models/papers/scheduler1.mch", "--card", "PROC=12", "--timeout", "1"], AGREE);
    let runs = runs(&a);
    for (strategy, is_done) in [("off", false), ("flood", false), ("canon", true), ("auto", true)] {
        assert_eq!(runs[strategy]["finished"], is_done, "{strategy}: {}", runs[strategy]);
    }
    assert_eq!(runs["off"]["reason"], "timeout after 1 s");
}

#[test]
fn a_model_without_deferred_sets() {
    let a = answer(&["models/lang/op_arith.mch"], AGREE);
    assert_eq!(a["sets"], Value::Array(vec![]));
    let all = runs(&a);
    assert!(all.values().all(|r| r["states"] == all["off"]["states"] && r["verdict"] == "holds"));
}

#[test]
fn what_is_wrong_is_said() {
    let (code, _, err) = kanon(&["models/lang/errors/type_mismatch.mch"]);
    assert!(code == WRONG && err.contains("error["), "{err}");
    let a = answer(&["no/such/file.mch"], WRONG);
    assert_eq!(a["verdict"], "error");
    let (code, out, err) = kanon(&["models/papers/scheduler0.mch", "--plot", "no/such/folder/x.svg"]);
    assert_eq!((code, &*out), (WRONG, ""));
    assert!(err.contains("cannot write no/such/folder/x.svg"), "{err}");
}

#[test]
fn the_chart_is_an_svg_with_a_bar_a_strategy() {
    let path = temporary("compare.svg");
    let (code, ..) = kanon(&["models/papers/TokenRing.mch", "--plot", path.to_str().expect("a plain path")]);
    assert_eq!(code, AGREE);
    let svg = std::fs::read_to_string(&path).expect("the chart");
    let elements = xml::elements(&svg);
    assert_eq!(elements[0].name, "svg");
    // The ground, and the bars.
    let bars = elements.iter().filter(|e| e.name == "rect").count() - 1;
    assert_eq!(bars, 5 + usize::from(cfg!(feature = "nauty")));
    let texts: Vec<&str> = elements.iter().filter(|e| e.name == "text").map(|e| &*e.text).collect();
    for name in ["TokenRing", "off", "flood", "markers", "canon", "auto", "time, logarithmic"] {
        assert!(texts.contains(&name), "{name}: {texts:?}");
    }
    assert!(svg.contains("prefers-color-scheme:dark"));
    assert!(!svg.contains("var("), "not every viewer knows variables");
}
