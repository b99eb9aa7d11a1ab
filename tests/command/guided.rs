//! Machines that a script of CSP-M guides: `--csp` of `check`, `ltl`, `export`, `compare`, `simulate` and `repl`.

use crate::program::{FAILS, HOLDS, Ran, UNKNOWN, WRONG, json, kanon, program, text};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

struct Model {
    script: String,
    machine: String,
    expect: BTreeMap<String, String>,
    /// The verdict and the formula.
    formulas: Vec<(String, String)>,
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/guided");

/// The scripts of models/guided with what their first comment says. ProB says the same: scripts/versus-prob-csp.
fn models() -> Vec<Model> {
    let mut all = vec![];
    for path in std::fs::read_dir(FOLDER).expect("models/guided").map(|e| e.expect("an entry").path()) {
        if path.extension().is_none_or(|e| e != "csp") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a script");
        let comment: Vec<&str> = text.lines().map_while(|l| l.strip_prefix("-- ")).collect();
        let line = |key: &str| {
            let found = comment.iter().find_map(|l| l.strip_prefix(key));
            found.unwrap_or_else(|| panic!("{}: no {key}", path.display()))
        };
        let pair = |p: &str| p.split_once('=').map(|(k, v)| (k.to_string(), v.to_string()));
        let formulas = comment.iter().filter_map(|l| l.strip_prefix("ltl ")?.split_once(": "));
        all.push(Model {
            script: path.display().to_string(),
            machine: format!("{FOLDER}/{}", line("guides: ").trim()),
            expect: line("expect: ").split_whitespace().filter_map(pair).collect(),
            formulas: formulas.map(|(v, f)| (v.to_string(), f.to_string())).collect(),
        });
    }
    assert!(all.len() >= 10, "{} models", all.len());
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
fn every_guided_machine_answers_as_its_header_says() {
    for m in models() {
        let get = |key: &str| m.expect.get(key).unwrap_or_else(|| panic!("{}: no {key}", m.script)).as_str();
        let args = ["check", &m.machine, "--csp", &m.script, "--all", "--symmetry", "off", "--json"];
        let answer = json(&args, code(get("verdict")));
        for key in ["states", "transitions", "deadlocks", "violations"] {
            assert_eq!(answer[key].to_string(), get(key), "{args:?}: {key}");
        }
        assert!(answer["complete"] == true && ["strong", "silent"].contains(&get("prob")), "{}", m.script);
        // Whatever is permuted, the verdict is the same, and there are no more states.
        for strategy in ["flood", "canon", "auto"] {
            let args = ["check", &m.machine, "--csp", &m.script, "--all", "--symmetry", strategy, "--json"];
            let reduced = json(&args, code(get("verdict")));
            let states = |a: &serde_json::Value| a["states"].as_u64().expect("a number");
            assert!(reduced["complete"] == true && states(&reduced) <= states(&answer), "{args:?}");
        }
        assert!(m.formulas.len() >= 2, "{}", m.script);
        for strategy in ["off", "auto"] {
            let texts = m.formulas.iter().map(|(_, f)| &**f);
            let args = ["ltl", &m.machine, "--csp", &m.script, "--json", "--symmetry", strategy];
            let args: Vec<&str> = args.into_iter().chain(texts).collect();
            let fails = m.formulas.iter().any(|(v, _)| v == "fails");
            let answer = json(&args, if fails { FAILS } else { HOLDS });
            for (i, (verdict, formula)) in m.formulas.iter().enumerate() {
                assert_eq!(answer[i]["verdict"], **verdict, "{}: {formula}", m.script);
            }
        }
    }
}

fn file(name: &str, content: &str) -> String {
    text(&crate::program::file("guided", name, content)).to_string()
}

fn kanon_with_input(args: &[&str], input: &str) -> Ran {
    let mut child = program()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    child.wait_with_output().expect("it ends").into()
}

const TANK: &str = "MACHINE Tank\nSETS S = {s1, s2}\nVARIABLES x, on\nINVARIANT x : 0..3 & on : BOOL\n\
                    INITIALISATION x := 0 || on := FALSE\nOPERATIONS\n\
                    up(n) = PRE n : NATURAL & (x + n) mod 7 <= 3 THEN x := x + n END;\n\
                    r <-- get = BEGIN r := x END;\n\
                    set(s) = PRE s : S THEN on := bool(s = s1) END;\n\
                    ratio(n) = PRE n : 0..2 THEN x := 2 / n END;\n\
                    pair(p) = PRE p : (0..1) * BOOL THEN skip END\nEND\n";

fn guided(name: &str, script: &str, more: &[&str]) -> (i32, String) {
    let machine = file(&format!("{name}.mch"), TANK);
    let script = file(&format!("{name}.csp"), script);
    let args: Vec<&str> = ["check", &machine, "--csp", &script].iter().chain(more).copied().collect();
    let ran = kanon(&args);
    (ran.code, ran.out + &ran.err)
}

#[test]
fn parameters_that_the_script_has_are_not_looked_for() {
    // `n : NATURAL` has no end, and is only asked about 0, 1 and 2.
    let script = "channel up : {0..2}\nchannel reset\nMAIN = up?n -> MAIN [] reset -> MAIN\n";
    let (code, out) = guided("given", script, &[]);
    assert!(code == HOLDS && out.contains("holds"), "{out}");
    assert!(out.contains("the operations `get`, `set`, `ratio`, `pair` have no channels"), "{out}");
    // Without the field it is enumerated, and the answer is honest about it.
    let (code, out) = guided("open", "channel up, reset\nMAIN = up -> MAIN [] reset -> MAIN\n", &[]);
    assert!(code == UNKNOWN && out.contains("an integer without bounds"), "{out}");
}

#[test]
fn a_fault_is_one_only_where_the_script_goes() {
    let safe = "channel ratio : {1..2}\nMAIN = ratio?n -> MAIN\n";
    assert_eq!(guided("safe", safe, &[]).0, HOLDS);
    let wrong = "channel ratio : {0..2}\nMAIN = ratio!1 -> ratio?n -> MAIN\n";
    let (code, out) = guided("wrong", wrong, &[]);
    assert!(
        code == FAILS && out.contains("division by zero in `ratio` at") && out.contains("ratio(1)"),
        "{out}"
    );
    let (code, out) = guided("open-fault", "channel ratio\nMAIN = ratio -> MAIN\n", &[]);
    assert!(code == FAILS && out.contains("division by zero"), "{out}");
}

#[test]
fn a_result_that_the_script_does_not_take_blocks() {
    let script = "channel up : {0..3}\nchannel get : {0..3}\nMAIN = up!2 -> get!1 -> STOP\n";
    let (code, out) = guided("blocked", script, &[]);
    assert!(code == FAILS && out.contains("deadlock") && !out.contains("get --> "), "{out}");
    let script = "channel up : {0..3}\nchannel get : {0..3}\nMAIN = up!2 -> get?x -> (x == 2 & SKIP)\n";
    let (code, out) = guided("taken", script, &[]);
    assert!(code == HOLDS && out.contains("4 states, 3 transitions"), "{out}");
}

#[test]
fn what_does_not_fit_is_told_with_both_places() {
    for (name, script, expected) in [
        ("many", "channel get : {0..3}.Bool\nMAIN = STOP\n", "more fields than the operation has"),
        (
            "kind",
            "channel up : Bool\nMAIN = STOP\n",
            "field 1 of the channel `up` cannot be the parameter `n`",
        ),
        ("pair", "channel pair : {0..1}.Bool\nMAIN = STOP\n", "the channel `pair` has more fields"),
        ("none", "channel a\nMAIN = a -> STOP\n", "no channel of the script has the name of an operation"),
        ("main", "channel get : {0..3}\nP = STOP\n", "the script has no process `MAIN`"),
    ] {
        let (code, out) = guided(name, script, &[]);
        assert!(code == WRONG && out.contains(expected), "{name}: {out}");
        let has_both = out.contains(&format!("{name}.mch:")) && out.contains(&format!("{name}.csp:"));
        assert!(has_both || matches!(name, "none" | "main"), "{name}: {out}");
    }
    let script = "datatype T = s1 | t9\nchannel set : T\nMAIN = set?s -> MAIN\n";
    let (code, out) = guided("element", script, &[]);
    assert!(code == UNKNOWN && out.contains("`t9` is no element of S"), "{out}");
    assert!(out.contains("element.mch:9") && out.contains("element.csp:2"), "{out}");
    let script = "channel pair : ({0..1}, Bool)\nMAIN = pair?(n, b) -> MAIN\n";
    assert_eq!(guided("tuple", script, &[]).0, HOLDS);
}

#[test]
fn hidden_events_are_the_process_s_own() {
    let script = "channel up : {0..3}\nchannel a\nMAIN = (up!1 -> a -> STOP) \\ {| up |}\n";
    let (code, out) = guided("hidden", script, &["--goal", "x = 1"]);
    assert!(code == FAILS && out.contains("tau") && out.contains("deadlock"), "{out}");
}

#[test]
fn channels_of_modules_are_the_process_s_own() {
    let script = "module M\nexports\nchannel up : {0..3}\nendmodule\nchannel up : {0..3}\n\
                  MAIN = M::up!1 -> up!2 -> SKIP\n";
    let (code, out) = guided("modules", script, &["--goal", "x = 2"]);
    assert!(code == FAILS && out.contains("up(2)") && !out.contains("up(1)"), "{out}");
}

#[test]
fn sets_that_no_event_has_are_permuted_and_others_are_not() {
    let machine = format!("{FOLDER}/Library.mch");
    let script = format!("{FOLDER}/Library.csp");
    let states = |strategy: &str| {
        let args = ["check", &*machine, "--csp", &*script, "--symmetry", strategy, "--json", "--all"];
        json(&args, HOLDS)["states"].as_u64().expect("a number")
    };
    assert!(states("canon") < states("off") && states("canon") == states("flood"));
    let seen = "datatype BOOK = BOOK1 | BOOK2\nchannel lend, back : BOOK\nMAIN = lend?b -> back!b -> MAIN\n";
    let seen = file("seen.csp", seen);
    let answer = json(&["check", &*machine, "--csp", &*seen, "--json"], HOLDS);
    let fixed = answer["symmetry"]["fixed"].to_string();
    assert!(fixed.contains("its elements are in the events of the channel"), "{answer}");
    assert!(answer["symmetry"]["sets"].to_string().contains("READER"), "{answer}");
    let ran = kanon(&["compare", &machine, "--csp", &script]);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
}

#[test]
fn formulas_speak_of_both() {
    let machine = file("both.mch", TANK);
    let script = "channel up : {0..3}\nchannel get : {0..3}\nchannel log : {0..3}\n\
                  MAIN = up?n -> get?x -> log!x -> SKIP\n";
    let script = file("both.csp", script);
    for (formula, expected) in [
        ("G ([up(2)] => X {x = 2})", HOLDS),
        ("G ([up.2] => X {x = 2})", HOLDS),
        ("G ([get] => X [log])", HOLDS),
        ("G ([log.3] => {x = 3})", HOLDS),
        ("G not [log.3]", FAILS),
        ("F [tick]", HOLDS),
        ("G not [tau]", HOLDS),
        ("G [up & x$0 <= x]", FAILS),
        ("G ([up & x$0 = x] => X F [log.0])", HOLDS),
        ("G (BA({x$0 = x}) or [up] or deadlock)", HOLDS),
        ("F deadlock", HOLDS),
    ] {
        let ran = kanon(&["ltl", &machine, "--csp", &script, formula]);
        assert_eq!(ran.code, expected, "{formula}: {}{}", ran.out, ran.err);
    }
    let ran = kanon(&["ltl", &machine, "--csp", &script, "F {x = 3}"]);
    assert!(ran.out.contains("in the last state it has terminated"), "{}", ran.out);
    for (formula, expected) in [("G [nothing]", "nothing"), ("G {y > 1}", "y"), ("G [log(1)]", "log")] {
        let ran = kanon(&["ltl", &machine, "--csp", &script, formula]);
        assert!(ran.code == WRONG && ran.err.contains(expected), "{formula}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn walks_and_steps_by_hand() {
    let machine = format!("{FOLDER}/Broken.mch");
    let script = format!("{FOLDER}/Broken.csp");
    let ran = kanon(&["simulate", &machine, "--csp", &script]);
    assert!(ran.code == FAILS && ran.out.contains("fill"), "{}{}", ran.out, ran.err);
    let again = json(&["simulate", &machine, "--csp", &script, "--json"], FAILS);
    assert_eq!(again["finding"]["kind"], "invariant", "{again}");
    let ran = kanon_with_input(&["repl", &machine, "--csp", &script], ":op fill\n:op fill\nlevel\n:state\n");
    assert!(ran.out.contains("2"), "{}{}", ran.out, ran.err);
    let philosophers = concat!(env!("CARGO_MANIFEST_DIR"), "/models/csp/PhilosophersGreedy.csp");
    let ran = kanon(&["simulate", philosophers, "--walks", "200"]);
    assert!(ran.code == FAILS && ran.out.contains("deadlock"), "{}{}", ran.out, ran.err);
    let ran = kanon_with_input(&["repl", philosophers], ":random 3\n:state\n");
    assert!(ran.code == HOLDS && ran.out.contains("process"), "{}{}", ran.out, ran.err);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let machine = file("refused.mch", TANK);
    let script = file("refused.csp", "channel get\nMAIN = get -> MAIN\n");
    for (args, expected) in [
        (vec!["check", &*script, "--csp", &*script], "a script guides a machine"),
        (vec!["check", &*machine, "--csp", &*script, "--threads", "2"], "explored in one thread"),
        (vec!["check", &*machine, "--csp", &*script, "--certificate", "c"], "does not go with `--csp`"),
        (vec!["check", &*machine, "--csp", &*script, "--symmetry", "markers"], "markers"),
        (vec!["check", &*machine, "--csp", &*script, "--wd", "strict"], "`--wd strict`"),
        (vec!["check", &*machine, "--process", "MAIN"], "`--process` is for CSP-M"),
        (vec!["ltl", &*machine, "--csp", &*script], "the machine's own formulas"),
        (vec!["ltl", &*machine, "--csp", &*script, "G current"], "`current`"),
    ] {
        let ran = kanon(&args);
        assert!(ran.code == WRONG && ran.err.contains(expected), "{args:?}: {}{}", ran.out, ran.err);
    }
}
