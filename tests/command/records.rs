//! What programs read: JSON by its schema, streams, SARIF, JUnit's XML, annotations, completions, manual pages.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, json, kanon, text};
use crate::schema;
use serde_json::Value;
use std::path::{Path, PathBuf};

const LIBRARY: &str = "models/demo/Library.mch";
const SCHEDULER: &str = "models/papers/scheduler0.mch";

fn target(name: &str) -> PathBuf {
    file("records", name, "")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file that the program wrote")
}

fn sarif(args: &[&str], name: &str, code: i32) -> Value {
    let out = target(name);
    let args: Vec<&str> = args.iter().copied().chain(["--sarif", text(&out)]).collect();
    let ran = kanon(&args);
    assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
    let log: Value = serde_json::from_str(&read(&out)).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let rules: Vec<&Value> = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .expect("rules")
        .iter()
        .map(|r| &r["id"])
        .collect();
    for result in log["runs"][0]["results"].as_array().expect("results") {
        assert!(rules.contains(&&result["ruleId"]), "{result}");
        assert!(result["message"]["text"].is_string(), "{result}");
        // SARIF: a result that is no failure has no level.
        assert_eq!(result["kind"] == "fail", result["level"] != "none", "{result}");
        let at = &result["locations"][0]["physicalLocation"];
        assert!(at["artifactLocation"]["uri"].is_string(), "{result}");
    }
    log["runs"][0]["results"].clone()
}

fn kinds(results: &Value) -> Vec<(String, String)> {
    let word = |v: &Value| v.as_str().expect("a word").to_string();
    results.as_array().expect("results").iter().map(|r| (word(&r["ruleId"]), word(&r["kind"]))).collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

#[test]
fn sarif_of_a_finding_has_its_place_and_its_way() {
    let results = sarif(&["check", LIBRARY], "finding.sarif", FAILS);
    // The others were not looked at to the end: they are no passes.
    let expected =
        [("invariant", "fail"), ("deadlock", "notApplicable"), ("well-definedness", "notApplicable")];
    assert_eq!(kinds(&results), pairs(&expected));
    let found = &results[0];
    let answer = json(&["check", LIBRARY, "--json"], FAILS);
    let place = &answer["finding"]["conjunct"];
    let region = &found["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&place["line"], &place["column"]));
    let source = read(Path::new(env!("CARGO_MANIFEST_DIR")).join(LIBRARY).as_path());
    let line =
        source.lines().nth(region["startLine"].as_u64().expect("a line") as usize - 1).expect("a line");
    let begin = region["startColumn"].as_u64().expect("a column") as usize - 1;
    let first = place["text"].as_str().expect("a text").split_whitespace().next().expect("a word");
    assert!(line[begin..].starts_with(first), "{line}");
    let steps = answer["finding"]["trace"]["steps"].as_array().expect("steps").len();
    let flow = found["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("a flow");
    // The constants come first.
    assert_eq!(flow.len(), 1 + steps);
}

#[test]
fn sarif_of_other_answers() {
    let holds = sarif(&["check", SCHEDULER], "holds.sarif", HOLDS);
    let expected = [("invariant", "pass"), ("deadlock", "pass"), ("well-definedness", "pass")];
    assert_eq!(kinds(&holds), pairs(&expected));
    let only = sarif(&["check", SCHEDULER, "--no-invariant", "--no-deadlock"], "only.sarif", HOLDS);
    assert_eq!(kinds(&only), pairs(&[("well-definedness", "pass")]));
    let limit = sarif(&["check", SCHEDULER, "--max-states", "3"], "limit.sarif", UNKNOWN);
    assert!(kinds(&limit).iter().all(|(_, kind)| kind == "open"), "{limit}");
    let wrong = sarif(&["check", "models/lang/errors/type_mismatch.mch"], "wrong.sarif", WRONG);
    assert_eq!(wrong[0]["level"], "error");
    assert!(wrong[0]["locations"][0]["physicalLocation"]["region"]["startLine"].is_u64(), "{wrong}");
    let formulas = sarif(&["ltl", SCHEDULER, "G not deadlock", "G {card(known) < 2}"], "ltl.sarif", FAILS);
    assert_eq!(kinds(&formulas), pairs(&[("formula", "pass"), ("formula", "fail")]));
    let engine = sarif(&["ic3", SCHEDULER, "--no-deadlock"], "ic3.sarif", HOLDS);
    assert_eq!(kinds(&engine), pairs(&[("invariant", "pass"), ("well-definedness", "pass")]));
    let proved = sarif(&["prove", SCHEDULER], "prove.sarif", HOLDS);
    assert!(kinds(&proved).iter().all(|(rule, kind)| rule == "obligation" && kind == "pass"), "{proved}");
}

#[test]
fn junit_has_passes_failures_errors_and_what_was_skipped() {
    let rows: [(&[&str], i32, [usize; 4]); 4] = [
        (&["check", SCHEDULER], HOLDS, [3, 0, 0, 0]),
        (&["check", LIBRARY], FAILS, [3, 1, 0, 2]),
        (&["check", SCHEDULER, "--max-states", "3"], UNKNOWN, [3, 0, 3, 0]),
        (&["check", "models/lang/errors/type_mismatch.mch"], WRONG, [1, 0, 1, 0]),
    ];
    for (args, code, [tests, failures, errors, skipped]) in rows {
        let out = target("out.xml");
        let args: Vec<&str> = args.iter().copied().chain(["--junit", text(&out)]).collect();
        let ran = kanon(&args);
        assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
        let written = read(&out);
        let xml = roxmltree::Document::parse(&written).unwrap_or_else(|e| panic!("{args:?}: {e}: {written}"));
        let suite = xml.descendants().find(|n| n.has_tag_name("testsuite")).expect("a suite");
        for (attribute, tag, n) in [
            ("tests", "testcase", tests),
            ("failures", "failure", failures),
            ("errors", "error", errors),
            ("skipped", "skipped", skipped),
        ] {
            assert_eq!(suite.attribute(attribute), Some(&*n.to_string()), "{args:?} {attribute}");
            let there = suite.descendants().filter(|d| d.has_tag_name(tag)).count();
            assert_eq!(there, n, "{args:?} {tag}: {written}");
        }
    }
}

/// Names, labels and values of a model are data in every form.
#[test]
fn hostile_texts_stay_data() {
    let machine = "MACHINE m VARIABLES s INVARIANT s /= \"]]>&<b>\\\"::error::%0A\" INITIALISATION s := \"\"\n\
                   OPERATIONS put = s := \"]]>&<b>\\\"::error::%0A\" END\n";
    let model = file("records", "hostile, 100%: <x>.mch", machine);
    let (log, xml) = (target("hostile.sarif"), target("hostile.xml"));
    let args = [
        "check",
        text(&model),
        "--sarif",
        text(&log),
        "--junit",
        text(&xml),
        "--annotations",
        "--no-deadlock",
    ];
    let ran = kanon(&args);
    assert_eq!(ran.code, FAILS, "{}{}", ran.out, ran.err);
    let log: Value = serde_json::from_str(&read(&log)).expect("JSON");
    let uri = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(uri.as_str().is_some_and(|u| u.ends_with("hostile%2C%20100%25%3A%20%3Cx%3E.mch")), "{uri}");
    let written = read(&xml);
    let xml = roxmltree::Document::parse(&written).unwrap_or_else(|e| panic!("{e}: {written}"));
    let failure = xml.descendants().find(|n| n.has_tag_name("failure")).expect("a failure");
    assert!(failure.text().is_some_and(|t| t.contains("]]>&<b>")), "{written}");
    let lines: Vec<&str> = ran.out.lines().filter(|l| l.starts_with("::")).collect();
    let [line] = lines[..] else { panic!("one command to the runner: {lines:?}") };
    assert!(line.starts_with("::error file="), "{line}");
    assert!(line.contains("hostile%2C 100%25%3A <x>.mch,line=1,"), "{line}");
    assert!(line.contains("::error::%250A"), "a percent sign of the model is one afterwards: {line}");
}

#[test]
fn a_record_that_cannot_be_written_is_an_error_before_the_run() {
    for option in ["--sarif", "--junit"] {
        let ran = kanon(&["check", SCHEDULER, option, "no/such/folder/out"]);
        assert_eq!(ran.code, WRONG, "{}", ran.out);
        assert!(ran.err.contains("cannot write no/such/folder/out"), "{}", ran.err);
    }
    let ran = kanon(&["check", SCHEDULER, "--sarif", "/dev/full"]);
    assert_eq!(ran.code, WRONG, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("holds"), "the answer is shown all the same: {}", ran.out);
}

#[test]
fn a_stream_has_a_start_and_an_answer() {
    for (args, code) in [
        (&["check", SCHEDULER][..], HOLDS),
        (&["check", LIBRARY], FAILS),
        (&["check", "models/no/such/file.mch"], WRONG),
        (&["check", SCHEDULER, "--threads", "0"], WRONG),
    ] {
        let all: Vec<&str> = args.iter().copied().chain(["--json-stream"]).collect();
        let ran = kanon(&all);
        assert_eq!((ran.code, &*ran.err), (code, ""), "{all:?}: {}", ran.out);
        let events: Vec<Value> =
            ran.out.lines().map(|l| serde_json::from_str(l).expect("a line is an object")).collect();
        let last = events.last().expect("an event");
        assert_eq!(last["event"], "answer");
        schema::validate("check", &last["answer"]);
        if code != WRONG {
            schema::validate_as("start", &events[0]);
            let plain: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
            assert_eq!(last["answer"]["states"], json(&plain, code)["states"]);
        }
    }
}

#[test]
fn a_stream_tells_how_far_it_is() {
    let machine = "MACHINE endless VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0\n\
                   OPERATIONS up = x := x + 1; back = SELECT x > 0 THEN x := x - 1 END END\n";
    let model = file("records", "endless.mch", machine);
    let ran = kanon(&["check", text(&model), "--json-stream", "--timeout", "1.5"]);
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    let events: Vec<Value> = ran.out.lines().map(|l| serde_json::from_str(l).expect("an object")).collect();
    let progress: Vec<&Value> = events.iter().filter(|e| e["event"] == "progress").collect();
    assert!(progress.len() >= 2, "{}", ran.out);
    let states: Vec<u64> = progress.iter().map(|e| e["states"].as_u64().expect("a count")).collect();
    assert!(states.is_sorted(), "{states:?}");
    progress.iter().for_each(|e| schema::validate_as("progress", e));
}

#[test]
fn the_schema_refuses_what_is_not_an_answer() {
    let answer = json(&["check", SCHEDULER, "--json"], HOLDS);
    for (field, value) in [
        ("verdict", Value::from("maybe")),
        ("states", (-1).into()),
        ("version", 2.into()),
        ("scope", Value::from("large")),
        ("warnings", serde_json::json!([{ "message": "no code" }])),
    ] {
        let mut changed = answer.clone();
        changed[field] = value;
        assert!(!schema::is_valid_as("check", &changed), "{field}");
    }
    let mut changed = answer;
    changed.as_object_mut().expect("an object").remove("transitions");
    assert!(!schema::is_valid_as("check", &changed));
}

#[test]
fn colour_is_decided_by_the_option() {
    let coloured = kanon(&["check", LIBRARY, "--color", "always"]).out;
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    let plain = kanon(&["--color", "never", "check", LIBRARY]).out;
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert_eq!(kanon(&["check", LIBRARY, "--color", "blue"]).code, WRONG);
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let help = kanon(&["--help"]).out;
    let from = help.find("Commands:").expect("a list of commands");
    let rows = help[from..].lines().skip(1).take_while(|l| !l.is_empty());
    let commands: Vec<&str> =
        rows.filter_map(|l| l.split_whitespace().next()).filter(|c| *c != "help").collect();
    assert!(commands.contains(&"check") && commands.contains(&"completions"), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = kanon(&["completions", shell]);
        assert_eq!(script.code, HOLDS);
        for command in &commands {
            assert!(script.out.contains(command), "{shell}: {command}");
        }
        assert!(script.out.contains("symmetry"), "{shell}");
    }
    // A dash of a name is written so that it stays one.
    let page = kanon(&["man"]).out.replace("\\-", "-");
    assert!(page.starts_with(".ie") || page.contains(".TH"), "{page}");
    for command in &commands {
        assert!(page.contains(command), "{command}");
        let page = kanon(&["man", command]);
        assert_eq!(page.code, HOLDS, "{command}: {}", page.err);
        assert!(page.out.contains(".TH"), "{command}: {}", page.out);
    }
    assert_eq!(kanon(&["man", "chekc"]).code, WRONG);
}

/// `-` would be a file that nobody meant.
#[test]
fn a_dash_is_no_file() {
    for option in ["--sarif", "--junit", "--report", "--trace"] {
        let ran = kanon(&["check", "models/papers/scheduler0.mch", option, "-"]);
        assert_eq!(ran.code, WRONG, "{option}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("`-` is no name of a file") && ran.out.is_empty(), "{option}: {}", ran.err);
    }
    assert!(!std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("-").exists());
}
