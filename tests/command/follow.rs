//! `kanon follow`: logs of an implementation.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, json, kanon, text};

const LIBRARY: &str = "models/demo/Library.mch";

fn machine(name: &str, body: &str) -> String {
    text(&file("follow", &format!("{name}.mch"), format!("MACHINE {name}\n{body}\nEND\n"))).to_string()
}

fn log(name: &str, lines: &[&str]) -> String {
    text(&file("follow", &format!("{name}.ndjson"), lines.join("\n") + "\n")).to_string()
}

fn counter() -> String {
    machine(
        "Counter",
        "CONSTANTS n PROPERTIES n : 2..4\n\
         VARIABLES x, s INVARIANT x : NATURAL & s : seq(BOOL) INITIALISATION x := 0 || s := []\n\
         OPERATIONS\n\
           up(d) = PRE d : 1..2 & x + d <= n THEN x := x + d || s := s <- bool(d = 2) END;\n\
           r <-- read = r := x;\n\
           reset = SELECT x = n THEN x := 0 || s := [] END",
    )
}

#[test]
fn what_a_log_leaves_out_is_unknown() {
    let m = counter();
    let rows: &[(&[&str], i32, usize)] = &[
        (&[r#"{"operation": "up"}"#, r#"{"operation": "up"}"#], HOLDS, 2),
        (&[r#"{"operation": "up", "parameters": {"d": 2}}"#, r#"{"operation": "reset"}"#], HOLDS, 2),
        // n is 2 after this, so that there is no room for another.
        (
            &[
                r#"{"operation": "up", "parameters": [2]}"#,
                r#"{"operation": "reset"}"#,
                r#"{"operation": "up", "parameters": [1], "state": {"s": [false]}}"#,
                r#"{"operation": "up", "parameters": ["3 - 2"]}"#,
                r#"{"operation": "up"}"#,
            ],
            FAILS,
            4,
        ),
        (&[r#"{"state": {"x": 0}}"#, r#"{"operation": "read", "results": {"r": 0}}"#], HOLDS, 2),
        (&[r#"{"operation": "read", "results": {"r": 1}}"#], FAILS, 0),
        (&[r#"{"operation": null, "state": {"x": 2}}"#, r#"{"state": {"s": [true]}}"#], HOLDS, 2),
        (&[r#"{"operation": null, "state": {"x": 2, "s": [false]}}"#], FAILS, 0),
        (&[r#"{"constants": {"n": 5}}"#], FAILS, 0),
        (&[r#"{"constants": {"n": "2 + 1"}}"#, r#"{"operation": "up", "before": {"x": 1}}"#], FAILS, 1),
        (&["", r#"{"operation": "INITIALISATION", "state": {"x": 0, "s": null}}"#, ""], HOLDS, 1),
    ];
    for (i, (lines, code, explained)) in rows.iter().enumerate() {
        let log = log(&format!("row{i}"), lines);
        let v = json(&["follow", &m, &log, "--json"], *code);
        assert_eq!(v["explained"], *explained, "{lines:?}: {v:#}");
        assert_eq!(v["possible"].as_array().map(Vec::len), Some(*explained));
    }
}

#[test]
fn steps_that_are_left_out_only_if_asked_for() {
    let m = counter();
    let log = log("hidden", &[r#"{"state": {"x": 2}}"#, r#"{"operation": "reset"}"#]);
    let run = |more: &[&str], code: i32| json(&[&["follow", &m, &log, "--json"], more].concat(), code);
    run(&[], FAILS);
    let one = run(&["--hidden", "1"], HOLDS);
    assert_eq!(one["trace_lines"], serde_json::json!([null, 2]), "{one:#}");
    run(&["--hidden", "1", "--hidden-operation", "up"], HOLDS);
    run(&["--hidden", "1", "--hidden-operation", "read"], FAILS);
    run(&["--hidden", "1", "--hidden-operation", "dawn"], WRONG);
    run(&["--hidden-operation", "up"], WRONG);
    run(&["--hidden", "1", "--max-states", "2"], UNKNOWN);
}

#[test]
fn why_nothing_explains_a_line() {
    let m = counter();
    let lines = [r#"{"constants": {"n": 2}, "operation": "up", "parameters": {"d": 1}}"#; 3];
    let ran = kanon(&["follow", &m, &log("why", &lines)]);
    assert_eq!(ran.code, FAILS, "{}{}", ran.out, ran.err);
    for part in [
        "line 3",
        "why.ndjson:3:1",
        "1 state was possible",
        "n = 2, x = 2",
        "x + d <= n is false",
        "(line 2)",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let wrong = log("wrong", &[r#"{"operation": "up", "parameters": {"d": 1}, "state": {"x": 7}}"#]);
    let v = json(&["follow", &m, &wrong, "--json"], FAILS);
    assert_eq!(v["finding"]["line"], 1);
    assert_eq!(v["finding"]["before"].as_array().map(Vec::len), Some(3), "one for each n");
    let why = v["finding"]["before"][0]["why"][0].as_str().unwrap_or_default();
    assert_eq!(why, "after `up` `x` is 1, the log says 7");
}

#[test]
fn bad_lines_have_places() {
    let m = counter();
    let rows = [
        (r#"{"operation": "up""#, "1:18", "no JSON"),
        (r#"{"operation": "upp"}"#, "1:15", "did you mean `up`?"),
        (r#"{"operaton": "up"}"#, "1:14", "did you mean `operation`?"),
        (r#"{"operation": "up", "parameters": {"e": 1}}"#, "1:41", "no parameter `e`"),
        (r#"{"operation": "up", "parameters": [1, 2]}"#, "1:35", "1 parameter"),
        (r#"{"state": {"x": 1.5}}"#, "1:17", "INTEGER"),
        (r#"{"state": {"x": "y"}}"#, "1:17", "unknown identifier"),
        (r#"{"state": {"x": "x + 1"}}"#, "1:17", "constants or variables"),
        (r#"{"state": {"x": "1 / 0"}}"#, "1:17", "division by zero"),
        (r#"{"state": {"x": 1, "x": 2}}"#, "1:11", "twice"),
        (r#"{"state": {"s": [true, 1]}}"#, "1:24", "BOOL"),
        (r#"{"state": {"s": {"1": null}}}"#, "1:23", "null"),
        (r#"["up"]"#, "1:1", "object"),
        (r#"{"parameters": {"d": 1}}"#, "1:16", "belong to an `operation`"),
        ("", "1:1", "no line"),
    ];
    for (line, place, words) in rows {
        let log = log("bad", &[line]);
        let ran = kanon(&["follow", &m, &log]);
        assert_eq!(ran.code, WRONG, "{line}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("bad.ndjson:{place}")), "{line}: {}", ran.err);
        assert!(ran.err.contains(words), "{line}: {}", ran.err);
        json(&["follow", &m, &log, "--json"], WRONG);
    }
    let log = log("ignored", &[r#"{"time": "12:00", "operation": "up"}"#]);
    assert_eq!(kanon(&["follow", &m, &log]).code, WRONG);
    assert_eq!(kanon(&["follow", &m, &log, "--ignore", "time"]).code, HOLDS);
    let bytes = file("follow", "bytes.ndjson", b"{}\n\xff\n");
    let ran = kanon(&["follow", &m, text(&bytes)]);
    assert!(ran.code == WRONG && ran.err.contains("line 2"), "{}", ran.err);
}

#[test]
fn elements_functions_and_files() {
    let lines = [
        r#"{"operation": "borrow", "parameters": {"b": "BOOK1"}, "state": {"lent": {"BOOK1": "READER2"}}}"#,
        r#"{"operation": "reserve", "state": {"reserved": [["BOOK1", "READER1"]]}}"#,
        r#"{"operation": "return", "parameters": ["BOOK1"], "state": {"lent": "{BOOK1 |-> READER1}"}}"#,
    ];
    let log = log("library", &lines);
    let trace = file("follow", "library.json", "");
    let args = ["follow", LIBRARY, &log, "--card", "BOOK=2", "--card", "READER=2", "--trace", text(&trace)];
    let ran = kanon(&args);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    let replayed = kanon(&["replay", LIBRARY, text(&trace)]);
    assert_eq!(replayed.code, HOLDS, "{}{}", replayed.out, replayed.err);
}

/// What has no value, and what was cut off, proves nothing about lines that are not explained.
#[test]
fn what_may_be_missing_is_unknown() {
    let faulty = machine(
        "Faulty",
        "VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0\n\
         OPERATIONS half(d) = PRE d : 0..1 & x = 0 THEN x := 6 / d END; stay = skip",
    );
    let six = log("six", &[r#"{"operation": "half", "state": {"x": 6}}"#]);
    let seven = log("seven", &[r#"{"operation": "half", "state": {"x": 7}}"#]);
    let other = log("other", &[r#"{"operation": "stay", "state": {"x": 7}}"#]);
    assert_eq!(kanon(&["follow", &faulty, &six]).code, HOLDS);
    assert_eq!(kanon(&["follow", &faulty, &seven]).code, UNKNOWN);
    assert_eq!(kanon(&["follow", &faulty, &other]).code, FAILS);
    let cut = machine(
        "Cut",
        "VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 0\n\
         OPERATIONS set = ANY y WHERE y : INTEGER & y * y > 100 THEN x := y END",
    );
    let far = log("far", &[r#"{"operation": "set", "state": {"x": 100000}}"#]);
    let ran = kanon(&["follow", &cut, &far, "--maxint", "20"]);
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
}
