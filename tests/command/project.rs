//! `kanon.toml`: several machines, and what is expected of them.

use crate::program::{FAILS, HOLDS, Ran, UNKNOWN, WRONG, file, program, text};
use crate::schema;
use serde_json::Value;
use std::path::Path;

/// A project in a folder of its own, with some machines beside it.
fn project(folder: &str, toml: &str) -> std::path::PathBuf {
    let folder = format!("project/{folder}");
    for name in ["papers/scheduler0.mch", "demo/Library.mch", "lang/errors/type_mismatch.mch"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name);
        let machine = std::fs::read(from).expect("a model");
        file(&folder, name.rsplit('/').next().expect("a name"), machine);
    }
    file(&folder, "kanon.toml", toml)
}

/// In the folder of the project.
fn check(toml: &Path, args: &[&str]) -> Ran {
    let folder = toml.parent().expect("a folder");
    program().arg("check").args(args).current_dir(folder).output().expect("the program starts").into()
}

const RIGHT: &str = r#"
[all]
timeout = 60

[[machine]]
file = "scheduler0.mch"
card = { PROC = 3 }
symmetry = "off"
formulas = ["G {card(known) <= 3}", { formula = "G {known = {}}", expect = "fails" }]
expect = { verdict = "holds", states = 54, transitions = 189, complete = true }

[[machine]]
name = "two books"
file = "Library.mch"
card = ["BOOK=2", "READER=2"]
expect = { verdict = "fails", finding = "invariant" }

[[machine]]
file = "type_mismatch.mch"
expect = "error"
"#;

#[test]
fn answers_as_expected() {
    let toml = project("right", RIGHT);
    let ran = check(&toml, &[]);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    for part in ["two books", "fails: invariant", "54", "189", "3 machines: 3 as expected, 0 not"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let folder = toml.parent().expect("a folder");
    let (junit, sarif) = (folder.join("out.xml"), folder.join("out.sarif"));
    let ran = check(&toml, &["--json", "--threads", "1", "--junit", text(&junit), "--sarif", text(&sarif)]);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    let answer: Value = serde_json::from_str(&ran.out).expect("JSON");
    schema::validate_as("project", &answer);
    for machine in answer["machines"].as_array().expect("machines") {
        assert_eq!(machine["as_expected"], true, "{machine:#}");
    }
    schema::validate_as("check", &answer["machines"][0]["answer"]);
    assert_eq!(answer["machines"][0]["formulas"].as_array().map(Vec::len), Some(2));
    let junit = std::fs::read_to_string(junit).expect("a record");
    assert_eq!(junit.matches("<testcase").count(), 5, "{junit}");
    assert!(!junit.contains("<failure") && !junit.contains("<error"), "{junit}");
    let sarif: Value = serde_json::from_slice(&std::fs::read(sarif).expect("a record")).expect("JSON");
    assert!(sarif["runs"].is_array(), "{sarif:#}");
    // By its path, from elsewhere.
    let ran: Ran = program().args(["check", text(&toml)]).output().expect("the program starts").into();
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
}

#[test]
fn other_answers() {
    let rows = [
        ("count", "file = \"scheduler0.mch\"\nexpect = { states = 53 }", FAILS, "expected states 53"),
        ("verdict", "file = \"Library.mch\"", FAILS, "expected holds, but it fails"),
        ("opposite", "file = \"scheduler0.mch\"\nexpect = \"fails\"", FAILS, "expected fails, but it holds"),
        ("limit", "file = \"scheduler0.mch\"\nmax-states = 3", UNKNOWN, "is unknown"),
        ("refused", "file = \"type_mismatch.mch\"", WRONG, "is refused"),
        ("none", "file = \"nowhere.mch\"", WRONG, "is refused"),
        (
            "formula",
            "file = \"scheduler0.mch\"\nformulas = [\"G {known = {}}\"]",
            FAILS,
            "expected holds, but it fails",
        ),
        ("syntax", "file = \"scheduler0.mch\"\nformulas = [\"F {\"]", WRONG, "formulas: `{` is not closed"),
        ("engine", "file = \"scheduler0.mch\"\nengine = \"kinduction\"\ndepth = 20", HOLDS, "as expected"),
    ];
    for (folder, machine, code, words) in rows {
        let toml = project(folder, &format!("[[machine]]\n{machine}\n"));
        let ran = check(&toml, &[]);
        assert_eq!(ran.code, code, "{folder}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(words), "{folder}: {}", ran.out);
        let ran = check(&toml, &["--json"]);
        assert_eq!(ran.code, code, "{folder}: {}{}", ran.out, ran.err);
        schema::validate_as("project", &serde_json::from_str(&ran.out).expect("JSON"));
    }
}

#[test]
fn mistakes_have_places() {
    let rows = [
        ("[[machine]]\nfile = \"M.mch\"\nmax-state = 3", "3:1", "did you mean `max-states`?"),
        ("[[machine]]\nfile = \"M.mch\"\nmax-states = \"many\"", "3:1", "invalid value"),
        ("[[machine]]\nfile = \"M.mch\"\nsymmetry = \"rotate\"", "3:1", "expected off, flood"),
        ("[[machine]]\nfile = \"M.mch\"\nno-deadlock = 1", "3:15", "true or false"),
        ("[[machine]]\nfile = \"M.mch\"\norder = \"dfs\"\nthreads = 2", "2:8", "thread"),
        ("[[machine]]\nfile = \"M.mch\"\ndepth = 3", "2:8", "engines that work with formulas"),
        ("[[machine]]\nfile = \"M.mch\"\nexpect = { state = 3 }", "3:12", "did you mean `states`?"),
        ("[[machine]]\nfile = \"M.mch\"\nexpect = \"hold\"", "3:10", "verdict"),
        ("[[machine]]\nfile = \"M.mch\"\njson = true", "3:1", "has no `json`"),
        ("[[machine]]\nname = \"M\"", "1:1", "no `file`"),
        ("[[machin]]\nfile = \"M.mch\"", "1:3", "did you mean `machine`?"),
        ("[all]\ntimeuot = 3\n[[machine]]\nfile = \"M.mch\"", "2:1", "did you mean `timeout`?"),
        ("[[machine]]\nfile = ", "2:8", ""),
        ("", "1:1", "no machine"),
    ];
    for (i, (toml, place, words)) in rows.iter().enumerate() {
        let path = project(&format!("wrong{i}"), toml);
        let ran = check(&path, &[]);
        assert_eq!(ran.code, WRONG, "{toml}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("kanon.toml:{place}")), "{toml}: {}", ran.err);
        assert!(ran.err.contains(words), "{toml}: {}", ran.err);
    }
    let nowhere = file("project/nowhere", "empty", "");
    let ran = check(&nowhere, &[]);
    assert!(ran.code == WRONG && ran.err.contains("kanon.toml"), "{}", ran.err);
    let ran = check(&project("beside", RIGHT), &["--max-states", "3"]);
    assert!(ran.code == WRONG && ran.err.contains("--max-states"), "{}", ran.err);
}
