//! Traces in files: what is written, and what is replayed.

use crate::cli::{BROKEN, SCHEDULER};
use crate::limits::endless;
use crate::program::{FAILS, HOLDS, WRONG, file, json as answer, kanon, text};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn traces_are_written_and_replayed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("traces");
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in ["find_invariant", "find_deadlock", "find_goal", "wd_apply"] {
        let model = format!("models/lang/errors/{name}.mch");
        for kind in ["json", "prob2trace"] {
            let path = folder.join(format!("{name}.{kind}"));
            assert_eq!(kanon(&["check", &model, "--trace", text(&path)]).code, FAILS);
            let v = answer(&["replay", &model, text(&path), "--json"], HOLDS);
            assert_eq!(v["steps"], v["replayed"], "{name}.{kind}");
        }
        let answered = file("traces", &format!("{name}.answer"), kanon(&["check", &model, "--json"]).out);
        assert_eq!(kanon(&["replay", &model, text(&answered)]).code, HOLDS, "{name}: the answer itself");
    }
}

#[test]
fn a_trace_keeps_its_sizes() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sizes.json");
    let args = ["check", SCHEDULER, "--card", "PROC=4", "--goal", "card(known) = 4", "--trace", text(&path)];
    assert_eq!(kanon(&args).code, FAILS);
    assert_eq!(kanon(&["replay", SCHEDULER, text(&path)]).code, HOLDS);
    assert_eq!(kanon(&["replay", SCHEDULER, text(&path), "--card", "PROC=2"]).code, FAILS);
}

#[test]
fn a_wrong_trace_is_told_where_and_why() {
    let step = |operation: &str, state: &str| {
        format!(r#"{{"operation":"{operation}","parameters":{{}},"results":{{}},"state":{{{state}}}}}"#)
    };
    let start = step("INITIALISATION", r#""x":"0""#);
    for (steps, number, words) in [
        (vec![step("INITIALISATION", r#""x":"5""#)], 1, "INITIALISATION does not lead there"),
        (vec![start.clone(), step("nothing", "")], 2, "no operation `nothing`"),
        (vec![start.clone(), step("a", r#""x":"7""#)], 2, "x = 1, not 7"),
        (vec![start.clone(), step("a", ""), step("a", ""), step("a", "")], 4, "not enabled"),
        (vec![start.clone(), step("a", r#""z":"7""#)], 2, "`z`"),
        (vec![start.clone(), step("a", r#""x":"TRUE""#)], 2, "`TRUE`"),
        (vec![step("a", "")], 1, "starts with INITIALISATION"),
    ] {
        let trace = format!(r#"{{"format":"kanon-trace","version":1,"steps":[{}]}}"#, steps.join(","));
        let path = file("wrong", &format!("{number}-{}.json", words.len()), trace);
        let v = answer(&["replay", BROKEN, text(&path), "--json"], FAILS);
        assert_eq!(v["failure"]["step"], number, "{words}: {v}");
        let reason = v["failure"]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(words), "{words}: {reason}");
    }
    for (name, content) in
        [("no.json", "{}"), ("bad.json", "{"), ("itf.json", r##"{"#meta":{},"states":[]}"##)]
    {
        let path = file("wrong", name, content);
        assert_eq!(kanon(&["replay", BROKEN, text(&path)]).code, WRONG, "{name}");
    }
    assert_eq!(kanon(&["replay", BROKEN, "no/such/trace.json"]).code, WRONG);
}

#[test]
fn itf_has_its_own_values() {
    let machine = "MACHINE shapes SETS S; T = {a, b} CONSTANTS c PROPERTIES c = 7\n\
        VARIABLES n, b1, f, r, s, q, p, t\n\
        INVARIANT n : INTEGER & b1 : BOOL & f : S +-> T & r : S <-> T & s <: S & q : seq(T) & p : struct(u: INTEGER, v: BOOL) & t : STRING & n < 1\n\
        INITIALISATION n := 0 || b1 := TRUE || f := S * {a} || r := S * T || s := {} || q := [b, a] || p := rec(u: 1, v: FALSE) || t := \"hi\"\n\
        OPERATIONS up = n := n + 99999999999999999999 END\n";
    let model = file("itf", "shapes.mch", machine);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("itf/shapes.itf.json");
    let ran = kanon(&["check", text(&model), "--trace", text(&path)]);
    assert_eq!(ran.code, FAILS, "{}{}", ran.out, ran.err);
    let again = kanon(&["replay", text(&model), text(&path)]);
    assert_eq!(again.code, HOLDS, "{}{}", again.out, again.err);
    let v: Value = serde_json::from_slice(&std::fs::read(&path).expect("the file")).expect("JSON");
    assert_eq!(v["#meta"]["format"], "ITF");
    assert_eq!(v["vars"].as_array().map(Vec::len), Some(8));
    assert_eq!(v["params"], serde_json::json!(["c"]));
    let last = &v["states"][1];
    for (name, expected) in [
        ("n", serde_json::json!({"#bigint": "99999999999999999999"})),
        ("b1", serde_json::json!(true)),
        ("f", serde_json::json!({"#map": [["S1", "a"], ["S2", "a"]]})),
        ("s", serde_json::json!({"#set": []})),
        ("q", serde_json::json!(["b", "a"])),
        ("p", serde_json::json!({"u": {"#bigint": "1"}, "v": false})),
        ("t", serde_json::json!("hi")),
        ("c", serde_json::json!({"#bigint": "7"})),
    ] {
        assert_eq!(last[name], expected, "{name}");
    }
    assert_eq!(last["r"]["#set"].as_array().map(Vec::len), Some(4));
    assert_eq!(last["r"]["#set"][0], serde_json::json!({"#tup": ["S1", "a"]}));
}

#[test]
fn prob_traces_have_prob_shape() {
    let machine = "MACHINE constant CONSTANTS c PROPERTIES c : 1..2 VARIABLES x INVARIANT x < c + 2\n\
        INITIALISATION x := c OPERATIONS r <-- up(d) = PRE d : 1..2 THEN x := x + d || r := x END END\n";
    let model = file("prob", "constant.mch", machine);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prob/constant.prob2trace");
    assert_eq!(kanon(&["check", text(&model), "--trace", text(&path)]).code, FAILS);
    let v: Value = serde_json::from_slice(&std::fs::read(&path).expect("the file")).expect("JSON");
    let list = v["transitionList"].as_array().expect("transitions");
    assert_eq!(list[0]["name"], "$setup_constants");
    assert!(list[0]["destState"]["c"].is_string());
    assert_eq!(list[1]["name"], "$initialise_machine");
    assert_eq!(list[2]["name"], "up");
    assert!(list[2]["params"]["d"].is_string() && list[2]["results"]["r"].is_string());
    assert_eq!(v["metadata"]["fileType"], "Trace");
    assert_eq!(kanon(&["replay", text(&model), text(&path)]).code, HOLDS);
}

/// A file that cannot be written is no reason to lose a finding, nor to find out after hours.
#[test]
fn trace_files_are_tried_first() {
    for args in [["check", BROKEN], ["check", text(&endless("tried"))]] {
        let begin = Instant::now();
        let ran = kanon(&[&args[..], &["--trace", "no/such/folder/trace.json"]].concat());
        assert_eq!((ran.code, &*ran.out), (WRONG, ""), "{}", ran.err);
        assert!(ran.err.contains("cannot write no/such/folder/trace.json"), "{}", ran.err);
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
    // Trying leaves nothing behind, and takes nothing away.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tried");
    let none = folder.join("none.json");
    assert_eq!(kanon(&["check", SCHEDULER, "--trace", text(&none)]).code, HOLDS);
    assert!(!none.exists());
    let kept = file("tried", "kept.json", "what was there");
    assert_eq!(kanon(&["check", SCHEDULER, "--trace", text(&kept)]).code, HOLDS);
    assert_eq!(std::fs::read_to_string(&kept).expect("it is there"), "what was there");
}
