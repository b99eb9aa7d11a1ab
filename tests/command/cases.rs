//! `kanon test-cases`: traces that cover a machine.

use crate::program::{HOLDS, UNKNOWN, WRONG, file, json, kanon, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// `c` needs three steps before it; `never` cannot fire.
const STEPS: &str = "MACHINE steps VARIABLES x INVARIANT x : 0..4
INITIALISATION x := 0
OPERATIONS
  a = SELECT x < 3 THEN x := x + 1 END;
  b(n) = PRE n : 0..1 & x = 2 & n > 0 THEN x := 0 END;
  c = SELECT x = 3 & x >= 0 THEN x := 4 END;
  d = SELECT x = 4 THEN x := 0 END;
  never = SELECT x > 7 THEN x := 0 END
END
";

fn list(v: &Value) -> Vec<Value> {
    v.as_array().cloned().expect("a list")
}

/// The steps of a case, by name.
fn names(case: &Value) -> Vec<String> {
    list(&case["trace"]["steps"])
        .iter()
        .map(|s| s["operation"].as_str().expect("a name").to_string())
        .collect()
}

#[test]
fn every_operation_is_covered_by_a_shortest_trace() {
    let path = file("cases", "steps.mch", STEPS);
    let v = json(&["test-cases", text(&path), "--json"], HOLDS);
    let cases: Vec<Vec<String>> = list(&v["cases"]).iter().map(names).collect();
    // `a` and `c` are met on the way to `d`.
    let expected = [vec!["INITIALISATION", "a", "a", "b"], vec!["INITIALISATION", "a", "a", "a", "c", "d"]];
    assert_eq!(cases, expected);
    let covers = |case: usize| -> Vec<(Value, Value)> {
        let all = list(&v["cases"][case]["covers"]);
        all.iter().map(|c| (c["operation"].clone(), c["steps"].clone())).collect()
    };
    let rows = |all: &[(&str, u64)]| all.iter().map(|(n, s)| (json!(n), json!(s))).collect::<Vec<_>>();
    assert_eq!([covers(0), covers(1)].concat().len(), 4);
    let all = [covers(0), covers(1)].concat();
    for (name, steps) in [("a", 2), ("b", 4), ("c", 5), ("d", 6)] {
        assert!(all.contains(&rows(&[(name, steps)])[0]), "{name}: {all:?}");
    }
    assert_eq!(v["uncovered"], json!([{ "kind": "operation", "operation": "never", "proved": true }]));
    assert_eq!((&v["complete"], &v["states"]), (&json!(true), &json!(5)));
}

#[test]
fn pairs_and_conjuncts_on_request() {
    let path = file("cases", "more.mch", STEPS);
    let v = json(&["test-cases", text(&path), "--json", "--pairs"], HOLDS);
    let covered: BTreeSet<(String, String)> = list(&v["cases"])
        .iter()
        .flat_map(|case| list(&case["covers"]))
        .filter(|c| c["kind"] == "pair")
        .map(|c| (c["operation"].to_string(), c["then"].to_string()))
        .collect();
    let pairs = [("a", "a"), ("a", "b"), ("a", "c"), ("b", "a"), ("c", "d"), ("d", "a")];
    let quoted = |(a, b): (&str, &str)| (format!("\"{a}\""), format!("\"{b}\""));
    assert_eq!(covered, pairs.map(quoted).into());
    // Of 25 pairs and 5 operations.
    assert_eq!(list(&v["uncovered"]).len(), 20);
    assert!(list(&v["uncovered"]).iter().all(|u| u["proved"] == true));
    // In each case the pair is where it is said to be.
    for case in list(&v["cases"]) {
        let names = names(&case);
        for c in list(&case["covers"]) {
            let steps = c["steps"].as_u64().expect("a number") as usize;
            let last = if c["kind"] == "pair" { "then" } else { "operation" };
            assert_eq!(json!(names[steps - 1]), c[last]);
        }
    }
    let v = json(&["test-cases", text(&path), "--json", "--conjuncts"], HOLDS);
    let mut both: Vec<(String, bool)> = list(&v["cases"])
        .iter()
        .flat_map(|case| list(&case["covers"]))
        .filter(|c| c["kind"] == "conjunct")
        .map(|c| (c["conjunct"]["text"].as_str().expect("a text").to_string(), c["value"] == true))
        .collect();
    both.sort();
    let expected = [
        ("n : 0..1", true),
        ("n > 0", false),
        ("n > 0", true),
        ("x < 3", false),
        ("x < 3", true),
        ("x = 2", false),
        ("x = 2", true),
        ("x = 3", false),
        ("x = 3", true),
        ("x = 4", false),
        ("x = 4", true),
        ("x > 7", false),
        ("x >= 0", true),
    ];
    assert_eq!(both, expected.map(|(t, b)| (t.to_string(), b)));
    let open: Vec<(Value, Value, Value)> = list(&v["uncovered"])
        .iter()
        .filter(|u| u["kind"] == "conjunct")
        .map(|u| (u["conjunct"]["text"].clone(), u["value"].clone(), u["proved"].clone()))
        .collect();
    let proved = |text: &str, value: bool| (json!(text), json!(value), json!(true));
    assert_eq!(open, [proved("x >= 0", false), proved("x > 7", true)]);
}

#[test]
fn the_files_replay() {
    let path = file("cases", "files.mch", STEPS);
    for format in ["json", "prob2trace"] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cases/{format}"));
        let _ = std::fs::remove_dir_all(&folder);
        let args = ["test-cases", text(&path), "--pairs", "--conjuncts", "--format", format, "--output"];
        let v = json(&[&args[..], &[text(&folder), "--json"]].concat(), HOLDS);
        let files: Vec<String> =
            list(&v["cases"]).iter().map(|c| c["file"].as_str().expect("a file").to_string()).collect();
        assert!(files.len() >= 2 && files[0].ends_with(&format!("case-001.{format}")), "{files:?}");
        for f in &files {
            let ran = kanon(&["replay", text(&path), f]);
            assert_eq!(ran.code, HOLDS, "{f}: {}{}", ran.out, ran.err);
        }
    }
}

/// A limit leaves it open whether something can be covered.
#[test]
fn what_was_not_looked_for_is_unknown() {
    let path = file("cases", "open.mch", STEPS);
    let v = json(&["test-cases", text(&path), "--json", "--max-states", "2"], UNKNOWN);
    assert_eq!(v["complete"], false);
    assert!(list(&v["uncovered"]).iter().all(|u| u["proved"] == false), "{v}");
    let ran = kanon(&["test-cases", text(&path)]);
    assert_eq!(ran.code, HOLDS);
    assert!(ran.out.contains("case 1: 4 steps\n  after 4: b\n"), "{}", ran.out);
    assert!(ran.out.contains("not covered, not possible: never\n"), "{}", ran.out);
    assert!(ran.out.contains("2 traces for 4 of 5 goals, 5 states explored"), "{}", ran.out);
    assert_eq!(kanon(&["test-cases", text(&path), "--format", "xml"]).code, WRONG);
    let nowhere = text(&path).to_string() + "/folder";
    assert_eq!(kanon(&["test-cases", text(&path), "--output", &nowhere]).code, WRONG);
}

/// Constants, and operations with results.
#[test]
fn models_with_constants_have_cases_too() {
    let ran = kanon(&["test-cases", "models/demo/Library.mch", "--pairs"]);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("traces for"), "{}", ran.out);
}
