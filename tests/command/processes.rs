//! Processes of CSP-M as people explore them: `check --process`, `ltl`, `export`, and what is refused.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, json, kanon};
use std::collections::BTreeMap;

struct Model {
    path: String,
    expect: BTreeMap<String, String>,
    /// The verdict and the formula.
    formulas: Vec<(String, String)>,
}

/// The models of models/csp with what their first comment says. ProB says the same: scripts/versus-prob-csp.
fn models() -> Vec<Model> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models/csp");
    let entries = std::fs::read_dir(folder).expect("models/csp");
    let mut all = vec![];
    for path in entries.map(|e| e.expect("an entry").path()) {
        let text = std::fs::read_to_string(&path).expect("a model");
        let comment: Vec<&str> = text.lines().map_while(|l| l.strip_prefix("-- ")).collect();
        let line = comment.iter().find_map(|l| l.strip_prefix("expect:"));
        let line = line.unwrap_or_else(|| panic!("{}: no expectation", path.display()));
        let pair = |p: &str| p.split_once('=').map(|(k, v)| (k.to_string(), v.to_string()));
        let formulas = comment.iter().filter_map(|l| l.strip_prefix("ltl ")?.split_once(": "));
        all.push(Model {
            path: path.display().to_string(),
            expect: line.split_whitespace().filter_map(pair).collect(),
            formulas: formulas.map(|(v, f)| (v.to_string(), f.to_string())).collect(),
        });
    }
    assert!(all.len() >= 30, "{} models", all.len());
    all
}

fn code(verdict: &str) -> i32 {
    match verdict {
        "holds" => HOLDS,
        "fails" => FAILS,
        other => panic!("`{other}` is no verdict"),
    }
}

#[test]
fn every_process_answers_as_its_header_says() {
    for m in models() {
        let get = |key: &str| m.expect.get(key).unwrap_or_else(|| panic!("{}: no {key}", m.path)).as_str();
        let args = ["check", &m.path, "--process", "MAIN", "--all", "--json"];
        let answer = json(&args, code(get("verdict")));
        for key in ["states", "transitions", "deadlocks"] {
            assert_eq!(answer[key].to_string(), get(key), "{args:?}: {key}");
        }
        assert!(answer["complete"] == true && ["strong", "silent"].contains(&get("prob")), "{}", m.path);
        assert!(m.formulas.len() >= 3, "{}", m.path);
        let texts = m.formulas.iter().map(|(_, f)| &**f);
        let args: Vec<&str> = ["ltl", &m.path, "--json"].into_iter().chain(texts).collect();
        let fails = m.formulas.iter().any(|(v, _)| v == "fails");
        let answer = json(&args, if fails { FAILS } else { HOLDS });
        for (i, (verdict, formula)) in m.formulas.iter().enumerate() {
            assert_eq!(answer[i]["verdict"], **verdict, "{}: {formula}", m.path);
        }
    }
}

#[test]
fn a_process_is_a_name_or_an_expression() {
    let buffer = "models/csp/Buffer.csp";
    let ran = kanon(&["check", buffer, "--process", "Buffer(<>)"]);
    assert!(ran.code == HOLDS && ran.out.contains("15 states, 28 transitions"), "{}{}", ran.out, ran.err);
    let ran = kanon(&["check", buffer, "--process", "Copy ; STOP"]);
    assert!(ran.code == HOLDS && ran.out.contains("3 states"), "{}{}", ran.out, ran.err);
    for (process, what) in [
        ("Buffer", "is no process: its type is"),
        ("N", "is no process: its type is `Int`"),
        ("Bufer(<>)", "`Bufer`"),
        ("Copy ->", "expected"),
    ] {
        let ran = kanon(&["check", buffer, "--process", process]);
        assert!(ran.code == WRONG && ran.err.contains(what), "{process}: {}", ran.err);
    }
    // Without assertions it is MAIN that is checked, and without MAIN there must be a name.
    let silent = file("processes", "silent.csp", "channel a\nP = a -> STOP\n").display().to_string();
    let ran = kanon(&["check", &silent]);
    assert!(ran.code == WRONG && ran.err.contains("the script has no process `MAIN`"), "{}", ran.err);
    assert!(ran.err.contains("there is: P"), "{}", ran.err);
    let main = file("processes", "main.csp", "channel a\nMAIN = a -> STOP\n").display().to_string();
    let ran = kanon(&["check", &main]);
    assert!(ran.code == FAILS && ran.out.contains("MAIN: fails: deadlock"), "{}", ran.out);
    assert_eq!(kanon(&["check", &main, "--process", "MAIN", "--no-deadlock"]).code, HOLDS);
}

#[test]
fn to_have_terminated_is_no_deadlock() {
    let text = "channel a\nMAIN = a -> SKIP\nTWO = MAIN ||| MAIN\nBAD = (a -> SKIP) ; STOP\n";
    let path = file("processes", "over.csp", text).display().to_string();
    let answer = json(&["check", &path, "--process", "TWO", "--json", "--all"], HOLDS);
    assert_eq!((answer["deadlocks"].to_string(), &answer["language"]), ("0".into(), &"CSP-M".into()));
    assert_eq!(answer["operations"]["tick"].to_string(), "1");
    let ran = kanon(&["check", &path, "--process", "BAD"]);
    assert!(ran.code == FAILS && ran.out.contains("deadlock"), "{}", ran.out);
    // For formulas it is the end of a path, as for ProB.
    assert_eq!(kanon(&["ltl", &path, "F deadlock", "F [tick]", "G([tick] => X deadlock)"]).code, HOLDS);
}

#[test]
fn formulas_speak_of_events_and_of_what_begins_so() {
    let text = "datatype T = A.{0..1} | B\nchannel c : {0..1}.T\nchannel d, e\n\
                MAIN = c!0!A.1 -> c!1!B -> d -> MAIN\nLOOP = d -> LOOP\nQUIET = LOOP \\ {d}\n";
    let path = file("processes", "steps.csp", text).display().to_string();
    let formulas = [
        "[c.0.A.1]",
        "[c!0!A!1]",
        "[c.0.A]",
        "[c.0]",
        "[c]",
        "not [c.1]",
        "not [c.0.A.0]",
        "not [c.0.B]",
        "X [c.1.B]",
        "X X [d]",
        "e(c.0) & not e(c.1) & not e(d)",
        "G F [d]",
        "G not [e]",
        "G not [tau]",
        "G([c.0] => X [c.1])",
    ];
    let args: Vec<&str> = ["ltl", &path].into_iter().chain(formulas).collect();
    let ran = kanon(&args);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    assert_eq!(kanon(&["ltl", &path, "--process", "QUIET", "G [tau]", "G not e(d)"]).code, HOLDS);
    let ran = kanon(&["ltl", &path, "F [e]"]);
    assert!(ran.code == FAILS && ran.out.contains("c.0.A.1\n"), "{}", ran.out);
    // Fairness is about the step that is written there.
    let free = "channel a : {0..1}\nMAIN = a?x -> MAIN\n";
    let free = file("processes", "free.csp", free).display().to_string();
    assert_eq!(kanon(&["ltl", &free, "G F [a.0]"]).code, FAILS);
    assert_eq!(kanon(&["ltl", &free, "WF(a.0) => G F [a.0]"]).code, HOLDS);
    assert_eq!(kanon(&["ltl", &free, "WF(a) => G F [a.0]"]).code, FAILS);
    for (formula, what) in [
        ("F [c.7]", "`7` is no value of field 1 of `c`"),
        ("F [d.1]", "no event"),
        ("F [f]", "`f`"),
        ("F [N]", "`N`"),
        ("F {x = 1}", "is about variables, and a process has none"),
        ("F [c & x = 1]", ""),
    ] {
        let ran = kanon(&["ltl", &path, formula]);
        assert!(ran.code == WRONG && ran.err.contains(what), "{formula}: {}{}", ran.out, ran.err);
    }
    let own = file("processes", "own.csp", "channel tau\nMAIN = tau -> MAIN\n").display().to_string();
    let ran = kanon(&["ltl", &own, "F [tau]"]);
    assert!(ran.code == WRONG && ran.err.contains("give the channel another name"), "{}", ran.err);
}

#[test]
fn what_has_no_end_is_unknown_with_the_reason() {
    let cases = [
        ("MAIN = let P = P ; STOP within P", "recursion"),
        ("MAIN = MAIN [] a -> MAIN", "its recursion is unguarded"),
        ("MAIN = (a -> STOP) ||| MAIN", "its recursion is unguarded"),
        ("P(n) = c.n -> P(n + 1)\nMAIN = P(0)", "the limit of 300 states is reached"),
        ("MAIN = a -> (MAIN ||| MAIN)", "the limit of 300 states is reached"),
        ("MAIN = a -> (MAIN ; STOP)", "the limit of 300 states is reached"),
        ("MAIN = (a -> MAIN) \\ {a}", "the limit of 300 states is reached"),
        ("MAIN = c?x -> STOP", "a finite set is needed here, and this is `Int`"),
        ("f(n) = f(n + 1)\nMAIN = a -> f(0)", "perhaps a recursion has no end"),
        ("P = Q\nQ = P\nMAIN = a -> P", "this definition needs its own value"),
        ("MAIN = a -> head(<>)", "the empty sequence has no head"),
        ("MAIN = [| {a} |] i : {0..40} @ (a -> STOP [] a -> SKIP)", "a hundred million steps"),
        ("channel w : {0..3000000}\nMAIN = w?x -> MAIN", "this range is too large"),
        ("external prioritise\nMAIN = a -> prioritise(RUN({a}), <{a}>)", "is not run"),
    ];
    for (i, (text, what)) in cases.into_iter().enumerate() {
        let script = format!("channel a\nchannel c : Int\n{text}\n");
        let path = file("processes", &format!("endless{i}.csp"), script).display().to_string();
        let ran = kanon(&["check", &path, "--max-states", "300", "--timeout", "60"]);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(ran.code == UNKNOWN && said.contains(what), "{text}: {}: {said}", ran.code);
        if i % 3 != 0 {
            continue;
        }
        let ran = kanon(&["ltl", &path, "G not [c.17]", "--max-states", "10", "--timeout", "60"]);
        assert_eq!(ran.code, UNKNOWN, "{text}: {}{}", ran.out, ran.err);
    }
    // What is wrong on a branch does not hide what is found on another.
    let text = "channel a, b\nMAIN = a -> STOP [] b -> head(<>)\n";
    let path = file("processes", "half.csp", text).display().to_string();
    assert_eq!(kanon(&["check", &path, "--process", "MAIN", "--all"]).code, FAILS);
    assert_eq!(kanon(&["ltl", &path, "G not [a]"]).code, FAILS);
    assert_eq!(kanon(&["ltl", &path, "G([b] => X not e(a))"]).code, UNKNOWN);
}

#[test]
fn pictures_and_what_is_refused() {
    let ring = "models/csp/TokenRing.csp";
    let graph = json(&["export", ring, "--json"], HOLDS);
    assert_eq!(graph["states"], 8);
    assert!(kanon(&["export", ring, "--dot"]).out.contains("work.0"));
    assert!(kanon(&["export", ring, "--svg", "--process", "Idle(1)"]).out.contains("<svg"));
    let cases: [(&[&str], &str); 12] = [
        (&["graph", ring], "a state of CSP-M is a process"),
        (&["compare", ring], "none is used for CSP-M"),
        (&["check", ring, "--process", "MAIN", "--symmetry", "canon"], "no symmetry is known of CSP-M"),
        (&["check", ring, "--process", "MAIN", "--threads", "2"], "explored in one thread"),
        (&["check", ring, "--process", "MAIN", "--goal", "1 = 1"], "a goal is about variables"),
        (&["check", ring, "--process", "MAIN", "--audit"], "`--audit` is for B, Event-B and Z"),
        (&["check", ring, "--no-deadlock"], "`--process MAIN` explores a process"),
        (&["check", "models/demo/Library.mch", "--process", "MAIN"], "`--process` is for CSP-M"),
        (&["ltl", "models/nets/database.pnml", "true", "--process", "P"], "`--process` is for CSP-M"),
        (&["ltl", ring], "there is no formula"),
        (&["prove", ring], "`simulate`, `repl`, `animate`, `serve` and `types` read it"),
        (&["export", ring, "--aiger"], "`--aiger` is for B"),
    ];
    for (args, what) in cases {
        let ran = kanon(args);
        assert!(ran.code == WRONG && ran.err.contains(what), "{args:?}: {}{}", ran.out, ran.err);
    }
}
