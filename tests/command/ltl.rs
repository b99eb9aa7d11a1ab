//! `kanon ltl` as people use it: what they type, what they get, how it ends; and what its formulas mean as text.

use crate::program::{self, FAILS, HOLDS, UNKNOWN, WRONG, json};
use kanon::lang::diag::SourceMap;
use kanon::ltl::parse::parse;
use serde_json::Value;
use std::path::PathBuf;

fn kanon(args: &[&str]) -> (i32, String, String) {
    let ran = program::kanon(args);
    (ran.code, ran.out, ran.err)
}

fn file(name: &str, text: &str) -> PathBuf {
    program::file("ltl", name, text)
}

const ROBOT: &str = "models/ltl/Robot.mch";
const MEMBERS: &str = "models/ltl/Members.mch";

#[test]
fn an_array_with_one_object_per_formula() {
    let all = json(&["ltl", ROBOT, "--json", "G {1 = 1}", "G F [Load]", "F deadlock"], FAILS);
    let all = all.as_array().expect("an array");
    let verdicts: Vec<&str> = all.iter().map(|o| o["verdict"].as_str().expect("a word")).collect();
    assert_eq!(verdicts, ["holds", "fails", "fails"]);
    assert_eq!(all[0]["formula"], "G {1 = 1}");
    assert_eq!(all[0]["states"], 4);
    assert!(all[0]["finding"].is_null() && all[0]["reason"].is_null());
    assert!(all[1]["seconds"].as_f64().is_some_and(|s| s >= 0.0));
    let finding = &all[1]["finding"];
    assert_eq!(finding["kind"], "lasso");
    assert_eq!(finding["stem"][0]["operation"], "INITIALISATION");
    let round = finding["loop"].as_array().expect("a loop");
    assert_eq!(round.len(), 1, "the shortest: looking for ever");
    assert_eq!(round[0]["operation"], "Look");
    let last = finding["stem"].as_array().and_then(|s| s.last()).expect("a stem");
    assert_eq!(round[0]["state"], last["state"], "the loop closes");
}

#[test]
fn exit_codes() {
    let code = |args: &[&str]| kanon(args).0;
    assert_eq!(code(&["ltl", ROBOT, "G not deadlock"]), HOLDS);
    assert_eq!(code(&["ltl", ROBOT, "G not deadlock", "F deadlock"]), FAILS);
    assert_eq!(code(&["ltl", ROBOT, "G not deadlock", "--max-states", "2"]), UNKNOWN);
    assert_eq!(code(&["ltl", ROBOT, "G not deadlock", "F deadlock", "--max-states", "2"]), FAILS);
    assert_eq!(code(&["ltl", ROBOT]), WRONG, "it has no formula of its own");
    assert_eq!(code(&["ltl", ROBOT, "G ("]), WRONG);
    assert_eq!(code(&["ltl", ROBOT, "G true", "--symmetry", "markers"]), WRONG);
    assert_eq!(code(&["ltl", "nowhere.mch", "G true"]), WRONG);
}

/// A counterexample that was found counts although the rest was not explored; nothing else does.
#[test]
fn a_limit_makes_it_unknown_and_never_wrong() {
    for limit in 1..27 {
        let limit = limit.to_string();
        let formulas = [
            "G not sink",
            "G {card(member) < 3}",
            "G (e(Join) => O [Wait])",
            "F G {member = {}} or F [Join]",
        ];
        let mut args =
            vec!["ltl", MEMBERS, "--json", "--card", "PERSON=3", "--symmetry", "off", "--max-states", &limit];
        args.extend(formulas);
        let found: Value = serde_json::from_str(&kanon(&args).1).expect("JSON");
        for (o, whole) in found.as_array().expect("an array").iter().zip(["holds", "fails", "holds", "holds"])
        {
            let word = o["verdict"].as_str().expect("a word");
            assert!(word == whole || word == "unknown", "{limit} states: {} {word}", o["formula"]);
            if word == "unknown" {
                assert!(o["reason"].as_str().is_some_and(|r| r.contains("states is reached")), "{o}");
            }
        }
    }
}

#[test]
fn a_counterexample_is_shown_with_its_loop_and_explained() {
    let (code, out, _) = kanon(&["ltl", ROBOT, "G ([Load] => F [Unload])", "--explain"]);
    assert_eq!(code, FAILS);
    for part in [
        "G ([Load] => F [Unload]): fails: a path does not fulfil it",
        "   1  INITIALISATION",
        "  →2 | Look",
        "repeated for ever, from state 2 to itself",
        "true : [Load]",
        "false: [Unload] · F [Unload] · [Load] => F [Unload]",
    ] {
        assert!(out.contains(part), "{part:?} is not in:\n{out}");
    }
    let (_, out, _) = kanon(&["ltl", "models/ltl/Forks.mch", "G not deadlock"]);
    assert!(out.contains("the last state is a deadlock") && out.contains("a path into a deadlock"), "{out}");
}

#[test]
fn formulas_come_from_files_and_from_the_machine() {
    let formulas = file("robot.ltl", "# of the robot\nG not deadlock\n\nG F [Load]\n");
    let all = json(&["ltl", ROBOT, "--json", "--formulas-from", formulas.to_str().expect("UTF-8")], FAILS);
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    let text = "MACHINE Own DEFINITIONS ASSERT_LTL1 == \"G {x < 3}\"; ASSERT_LTL_two == \"F {x = 2}\"\n\
                VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0\n\
                OPERATIONS inc = SELECT x < 2 THEN x := x + 1 END END";
    let own = file("Own.mch", text);
    let path = own.to_str().expect("UTF-8");
    let all = json(&["ltl", path, "--json"], HOLDS);
    assert_eq!((&all[0]["name"], &all[1]["name"]), (&"ASSERT_LTL1".into(), &"ASSERT_LTL_two".into()));
    // `check` looks at them only when it is asked to.
    let checked = json(&["check", path, "--no-deadlock", "--json"], HOLDS);
    assert!(checked.get("ltl").is_none());
    let checked = json(&["check", path, "--no-deadlock", "--json", "--ltl"], HOLDS);
    assert_eq!(checked["ltl"].as_array().map(Vec::len), Some(2));
    let wrong = file("Wrong.mch", &text.replace("Own", "Wrong").replace("G {x < 3}", "G {x < 2}"));
    let path = wrong.to_str().expect("UTF-8");
    assert_eq!(kanon(&["check", path, "--no-deadlock"]).0, HOLDS);
    let (code, out, _) = kanon(&["check", path, "--no-deadlock", "--ltl"]);
    assert!(code == FAILS && out.contains("G {x < 2}: fails") && out.contains("Wrong: holds"), "{out}");
    assert_eq!(kanon(&["check", path, "--ltl", "--symmetry", "markers"]).0, WRONG);
}

#[test]
fn paths_from_a_chosen_state_have_no_past() {
    // States breadth first: 1 nothing loaded, 2 loaded, 3 unloaded, 4 both.
    let ask = |args: &[&str], code| {
        let (found, out, err) = kanon(&[&["ltl", ROBOT][..], args].concat());
        assert_eq!(found, code, "{args:?}: {out}{err}");
        out
    };
    ask(&["{Dt = TRUE & De = FALSE}", "--from", "2"], HOLDS);
    ask(&["O [Load]", "--from", "2"], FAILS);
    let out = ask(&["Y true", "--from", "De = TRUE"], FAILS);
    assert!(out.contains("(chosen state)"), "{out}");
    ask(&["G not [Load]", "--from", "5"], WRONG);
    ask(&["G true", "--from", "0"], WRONG);
    // `current` is a state on the paths from the initial ones.
    ask(&["G (current => Y O [Load])", "--current", "2"], HOLDS);
    ask(&["G (current => Y O [Unload])", "--current", "De = TRUE"], HOLDS);
    ask(&["G (current => Y O [Evacuate])", "--current", "De = TRUE"], FAILS);
    let (code, _, err) = kanon(&["ltl", ROBOT, "current"]);
    assert!(code == WRONG && err.contains("--current"), "{err}");
}

/// Counts up to a number, and down again.
fn counter(name: &str, most: usize) -> PathBuf {
    let text = format!(
        "MACHINE Counter VARIABLES n INVARIANT n : 0..{most} INITIALISATION n := 0 OPERATIONS\n\
         up = SELECT n < {most} THEN n := n + 1 END;\n\
         over = SELECT n = {most} THEN n := 1 END END\n"
    );
    file(name, &text)
}

/// The path of the counterexample is long, so that time runs out in the search, while it is read again, or not at all.
#[test]
fn a_time_limit_is_never_a_mistake_of_ours() {
    let path = counter("Counter.mch", 60_000);
    let path = path.to_str().expect("UTF-8");
    for limit in ["0.01", "0.03", "0.06", "0.1", "0.2", "0.4", "0.8"] {
        // The helper refuses an internal error.
        let (code, out, err) = kanon(&["ltl", path, "G F {n = 0}", "--timeout", limit]);
        assert!(code == FAILS || code == UNKNOWN && out.contains("timeout after"), "{limit}: {out}{err}");
    }
}

#[cfg(unix)]
#[test]
fn signals_end_it_with_what_is_known() {
    let text = "MACHINE Endless VARIABLES n INVARIANT n : NATURAL INITIALISATION n := 0\n\
                OPERATIONS up = n := n + 1 END";
    let path = file("Endless.mch", text);
    for signal in ["-INT", "-TERM"] {
        let mut command = program::program();
        command.args(["ltl", path.to_str().expect("UTF-8"), "G {n >= 0}", "--json"]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = command.spawn().expect("the program starts");
        std::thread::sleep(std::time::Duration::from_millis(700));
        let killed = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.is_ok_and(|s| s.success()));
        let ran = program::Ran::from(child.wait_with_output().expect("it ends"));
        assert_eq!(ran.code, UNKNOWN, "{signal}: {}{}", ran.out, ran.err);
        let v: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!((&v[0]["verdict"], &v[0]["reason"]), (&"unknown".into(), &"interrupted".into()));
    }
}

#[test]
fn a_state_that_was_not_found_may_be_there() {
    let path = counter("Chosen.mch", 70);
    let path = path.to_str().expect("UTF-8");
    let ask = |args: &[&str]| kanon(&[&["ltl", path, "G true", "--max-states", "5"][..], args].concat());
    let (code, out, _) = ask(&["--from", "n = 50"]);
    assert!(code == UNKNOWN && out.contains("limit of 5 states"), "{out}");
    let (code, out, _) = ask(&["--current", "60"]);
    assert!(code == UNKNOWN && out.contains("limit of 5 states"), "{out}");
    let (code, _, err) = kanon(&["ltl", path, "G true", "--from", "n = 71"]);
    assert!(code == WRONG && err.contains("none of the 71 states"), "{err}");
}

#[test]
fn a_path_is_written_and_replayed() {
    for (model, formulas, name) in [
        (ROBOT, &["G not deadlock", "G ([Load] => F [Unload])"][..], "robot"),
        ("models/ltl/Forks.mch", &["G not deadlock"], "forks"),
        (MEMBERS, &["G {card(member) < 3}", "--card", "PERSON=3"], "members"),
    ] {
        let asked = [&["ltl", model][..], formulas].concat();
        for kind in ["json", "prob2trace", "itf.json"] {
            let path = file(&format!("{name}.{kind}"), "");
            let path = path.to_str().expect("UTF-8");
            let (code, out, err) = kanon(&[&asked[..], &["--trace", path]].concat());
            assert_eq!(code, FAILS, "{out}{err}");
            assert!(out.contains(&format!("trace written to {path}")), "{out}");
            let written: Value =
                serde_json::from_str(&std::fs::read_to_string(path).expect("the file")).expect("JSON");
            if kind == "itf.json" {
                let (states, back) = (written["states"].as_array().expect("states"), &written["loop"]);
                assert_eq!(back.is_u64(), name != "forks", "{written}");
                assert!(back.as_u64().is_none_or(|b| (b as usize) < states.len()));
                continue;
            }
            let args = if kind == "json" { vec![] } else { vec!["--card", "PERSON=3"] };
            let args = if name == "members" { args } else { vec![] };
            let v = json(&[&["replay", model, path, "--json"][..], &args].concat(), HOLDS);
            assert_eq!(v["steps"], v["replayed"], "{name}.{kind}");
        }
        let (_, out, _) = kanon(&[&asked[..], &["--json"]].concat());
        let all: Value = serde_json::from_str(&out).expect("JSON");
        let failed =
            all.as_array().and_then(|a| a.iter().find(|o| o["verdict"] == "fails")).expect("one fails");
        let length = |part: &str| failed["finding"][part].as_array().map_or(0, Vec::len);
        let answer = file(&format!("{name}.answer"), &out);
        let v = json(&["replay", model, answer.to_str().expect("UTF-8"), "--json"], HOLDS);
        assert_eq!(v["replayed"], length("stem") + length("loop"), "{name}");
    }
    let held = file("held.answer", &kanon(&["ltl", ROBOT, "G not deadlock", "--json"]).1);
    let (code, _, err) = kanon(&["replay", ROBOT, held.to_str().expect("UTF-8")]);
    assert!(code == WRONG && err.contains("no answer in it has a counterexample"), "{err}");
    let chosen = file("chosen.answer", &kanon(&["ltl", ROBOT, "O [Load]", "--from", "2", "--json"]).1);
    let (code, _, err) = kanon(&["replay", ROBOT, chosen.to_str().expect("UTF-8")]);
    assert!(code == WRONG && err.contains("--from"), "{err}");
}

#[test]
fn what_the_search_for_paths_cannot_do_is_refused() {
    let (code, _, err) = kanon(&["ltl", ROBOT, "G true", "--threads", "4"]);
    assert!(code == WRONG && err.contains("the search for paths has one thread"), "{err}");
    assert_eq!(kanon(&["ltl", ROBOT, "G true", "--threads", "1"]).0, HOLDS);
    let (code, _, err) = kanon(&["ltl", ROBOT, "G true", "--from", "2", "--trace", "x.json"]);
    assert!(code == WRONG && err.contains("--from"), "{err}");
    let (code, out, err) = kanon(&["ltl", ROBOT, "G F [Load]", "--trace", "no/such/folder/x.json"]);
    assert_eq!((code, &*out), (WRONG, ""));
    assert!(err.contains("cannot write no/such/folder/x.json"), "{err}");
}

#[test]
fn messages_say_where_and_what_to_do() {
    let rows = [
        ("G x", "`x` is no word of LTL", "formula 1:1:3", "write `{x…}`"),
        ("G (F {Dt = TRUE}", "expected `)`", "formula 1:1:17", ""),
        ("G {Dt = TRUE", "`{` is not closed", "formula 1:1:3", ""),
        ("G [load]", "no operation `load`", "formula 1:1:4", "there is `Load`"),
        ("G [Nothing]", "no operation `Nothing`", "formula 1:1:4", "its operations are: Load, Unload"),
        ("G {Dt = 3}", "type mismatch", "formula 1:1:9", ""),
        ("G {Unknown = 3}", "unknown identifier `Unknown`", "formula 1:1:4", ""),
        ("G {Dt$0 = TRUE}", "`$0` belongs to steps", "formula 1:1:4", "BA({x$0 < x})"),
        ("G [Load(3)]", "has 0 parameters, but 1 are given", "formula 1:1:4", "`_` stands for any value"),
        (
            "F WF(Load)",
            "fairness is a premise of the whole formula",
            "formula 1:1:3",
            "WF(A) & SF(B) => formula",
        ),
        ("G true true", "expected the end of the formula, found `true`", "formula 1:1:8", ""),
        ("true <=> true <=> false", "expected the end", "formula 1:1:15", "does not chain"),
        ("", "expected a formula, found the end", "formula 1:1:1", ""),
        ("AG {Dt = TRUE}", "`A` is not supported", "formula 1:1:1", "no path quantifiers"),
        ("G {}", "nothing between these brackets", "formula 1:1:4", ""),
        ("G [& Dt = TRUE]", "expected the name of an operation", "formula 1:1:4", "BA({x$0 < x})"),
        ("increasing({Dt})", "`increasing` needs a number", "formula 1:1:13", ""),
    ];
    for (formula, message, place, help) in rows {
        let (code, _, err) = kanon(&["ltl", ROBOT, formula]);
        assert_eq!(code, WRONG, "{formula}: {err}");
        for part in [message, place, help] {
            assert!(err.contains(part), "{formula}: {part:?} is not in\n{err}");
        }
    }
    let deep = format!("{}true{}", "not (".repeat(500), ")".repeat(500));
    let (code, _, err) = kanon(&["ltl", ROBOT, &deep]);
    assert!(code == WRONG && err.contains("nested more than"), "{err}");
}

/// How text groups, as ProB has it: `&` and `or` bind alike, binary operators associate to the left.
#[test]
fn text_groups_as_in_prob() {
    let rows = [
        ("GF{a}", "G F {a}"),
        ("XXX {a}", "X X X {a}"),
        ("YO[A]", "Y O [A]"),
        ("not {a} U {b}", "not {a} U {b}"),
        ("!{a} & {b} or {c}", "(not {a} & {b}) or {c}"),
        ("{a} or {b} & {c}", "({a} or {b}) & {c}"),
        ("{a} => {b} => {c}", "({a} => {b}) => {c}"),
        ("{a} U {b} W {c}", "({a} U {b}) W {c}"),
        ("{a} R {b} & {c} S {d}", "({a} R {b}) & ({c} S {d})"),
        ("G {a} => {b} <=> {c}", "(G {a} => {b}) <=> {c}"),
        ("{x = \"}\"} T {{1} /= {}}", "{x = \"}\"} T {{1} /= {}}"),
        ("G([A(1, _)] => X e(B(x+1,{2,3})))", "G ([A(1, _)] => X e(B(x+1, {2,3})))"),
        ("[A(f(1,2)) --> 3, _ & x$0 < x]", "[A(f(1,2)) --> 3, _ & x$0 < x]"),
        ("deadlock(A,B)", "not e(A) & not e(B)"),
        ("deterministic(A,B,C)", "(not (e(A) & e(B)) & not (e(A) & e(C))) & not (e(B) & e(C))"),
        ("controller(A,B)", "(e(A) or e(B)) & not (e(A) & e(B))"),
        ("deadlock or sink & current", "(deadlock or sink) & current"),
        ("always (eventually {a} or {b} until {c})", "G (F {a} or ({b} U {c}))"),
        ("unchanged({x}) & BA({x$0 < x})", "unchanged({x}) & BA({x$0 < x})"),
        ("□ ◇ {a} ∧ ¬ {b} ⇒ {c}", "(G F {a} & not {b}) => {c}"),
    ];
    for (text, expected) in rows {
        let (_, parsed) =
            parse(&mut SourceMap::default(), "f", text).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        assert!(parsed.premise.is_none());
        assert_eq!(parsed.formula.to_string(), expected, "{text}");
        // What is printed can be read again, and means the same.
        let (_, again) = parse(&mut SourceMap::default(), "f", expected).expect("it can be read");
        assert_eq!(again.formula.to_string(), expected);
    }
    let premises = [
        ("WF(A) => true", "WF(A)"),
        ("SEF => true", "SEF"),
        ("SF(A) & SF(B) or SF(C) => true", "((SF(A) & SF(B)) or SF(C))"),
        ("SF(A) & WF(B) or WF(C) => true", "(SF(A) & (WF(B) or WF(C)))"),
        ("(SF(A(1,_)) & WF(B)) or SF(C) => true", "((SF(A(1, _)) & WF(B)) or SF(C))"),
        ("(WF(A) => true)", "WF(A)"),
    ];
    for (text, expected) in premises {
        let (_, parsed) =
            parse(&mut SourceMap::default(), "f", text).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        assert_eq!(parsed.premise.map(|p| p.to_string()).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn nothing_that_is_typed_makes_the_reader_fail() {
    let words = [
        "G",
        "F",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "e(",
        "WF(",
        "=>",
        "&",
        "or",
        "not",
        "{x=1}",
        "[A]",
        "\"",
        "é",
        "-->",
        "_",
        ",",
        "U",
        "$0",
        "deadlock(",
        "⇒",
    ];
    let mut seed = 1u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(words[(seed >> 33) as usize % words.len()]);
        }
        let _ = parse(&mut SourceMap::default(), "f", &text);
    }
}

/// A certificate is about one formula and all paths; what fails has none, and its path is judged instead.
#[test]
fn certificates_and_paths_are_for_the_checker() {
    let out = file("robot.cert", "");
    std::fs::remove_file(&out).expect("it was just written");
    let cert = out.display().to_string();
    let ask = |more: &[&str]| kanon(&[&["ltl", ROBOT, "--certificate", &cert], more].concat());
    assert_eq!(ask(&["G not deadlock", "G F true"]).0, WRONG, "two formulas");
    assert_eq!(ask(&["G not deadlock", "--from", "1"]).0, WRONG, "other paths");
    assert_eq!(ask(&["F deadlock"]).0, FAILS);
    assert!(!out.exists(), "nothing holds so far");
    let (code, text, _) = ask(&["G not deadlock"]);
    assert_eq!(code, HOLDS);
    assert!(text.contains("certificate written to"), "{text}");
    let (part, effort) = (kanon_checker::check::Part::WHOLE, kanon_checker::check::Effort::default());
    let robot = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(ROBOT);
    let found = kanon_checker::check(&robot, &mut || std::fs::File::open(&out), part, effort);
    assert_eq!(found.map(|a| (a.statement.states, a.nodes)).map_err(|e| e.to_string()), Ok((4, 4)));
    let answers = kanon(&["ltl", ROBOT, "--json", "G {1 = 1}", "G F [Load]"]).1;
    let reading = kanon::model::reading::Reading::Kleene;
    let refuted = kanon_checker::check_trace(&robot, &answers, reading, effort);
    assert!(refuted.is_ok_and(|r| r.wrong[0].ends_with("G F [Load]")));
}
