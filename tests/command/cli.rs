//! The whole program: what people type, what they get, how it ends.

use crate::program::{FAILS, HOLDS, Ran, UNKNOWN, WRONG, file, json as answer, kanon, program, text};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Never ends: the states are the natural numbers.
fn endless(folder: &str) -> PathBuf {
    let machine = "MACHINE endless VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0\n\
                   OPERATIONS up = x := x + 1; back = SELECT x > 0 THEN x := x - 1 END END\n";
    file(folder, "endless.mch", machine)
}

const SCHEDULER: &str = "models/papers/scheduler0.mch";
const BROKEN: &str = "models/lang/errors/find_invariant.mch";

#[test]
fn exit_codes() {
    let rows: &[(&[&str], i32)] = &[
        (&["check", SCHEDULER], HOLDS),
        (&["check", BROKEN], FAILS),
        (&["check", BROKEN, "--no-invariant"], HOLDS),
        (&["check", "models/lang/errors/find_deadlock.mch"], FAILS),
        (&["check", "models/lang/errors/find_deadlock.mch", "--no-deadlock"], HOLDS),
        (&["check", "models/lang/errors/find_assertion.mch", "--no-assertions"], HOLDS),
        (&["check", "models/lang/errors/find_goal.mch", "--no-goal"], HOLDS),
        (&["check", "models/lang/errors/wd_apply.mch"], FAILS),
        (&["check", "models/lang/errors/type_mismatch.mch"], WRONG),
        (&["check", "models/lang/errors/syntax_several.mch"], WRONG),
        (&["check", SCHEDULER, "--max-states", "3"], UNKNOWN),
        (&["check", SCHEDULER, "--goal", "card(known) = 2"], FAILS),
        (&["check", SCHEDULER, "--goal", "card(known) = 3"], HOLDS),
        (&["check", SCHEDULER, "--goal", "known"], WRONG),
        (&["check", SCHEDULER, "--goal", "card(known = "], WRONG),
        (&["check", SCHEDULER, "--order", "dfs"], HOLDS),
        (&["check", SCHEDULER, "--order", "mixed=0.3", "--seed", "7"], HOLDS),
        (&["check", SCHEDULER, "--order", "mixed=2"], WRONG),
        (&["check", SCHEDULER, "--order", "depth"], WRONG),
        (
            &["check", SCHEDULER, "--card", "PROC=3", "--minint", "-5", "--maxint", "9", "--setsize", "4"],
            HOLDS,
        ),
        (&["check", SCHEDULER, "--card", "PROC=0"], WRONG),
        (&["check", SCHEDULER, "--card", "PROC"], WRONG),
        (&["check", SCHEDULER, "--card", "STATUS=2"], WRONG),
        (&["check", SCHEDULER, "--card", "NOBODY=2"], WRONG),
        (&["check", SCHEDULER, "--minint", "5", "--maxint", "1"], WRONG),
        (&["check", SCHEDULER, "--timeout", "-1"], WRONG),
        (&["check", SCHEDULER, "--symmetry", "off", "--threads", "1"], HOLDS),
        (&["check", SCHEDULER, "--threads", "4", "--max-memory", "8G"], HOLDS),
        (&["check", SCHEDULER, "--threads", "0"], WRONG),
        (&["check", SCHEDULER, "--threads", "2", "--order", "dfs"], WRONG),
        (&["check", SCHEDULER, "--threads", "2", "--audit"], HOLDS),
        (&["check", SCHEDULER, "--order", "dfs"], HOLDS),
        (&["check", SCHEDULER, "--max-memory", "much"], WRONG),
        (&["check", SCHEDULER, "--symmetry", "canon"], HOLDS),
        (&["check", SCHEDULER, "--symmetry", "markers"], UNKNOWN),
        (&["check", SCHEDULER, "--symmetry", "markers", "--order", "dfs"], WRONG),
        (&["check", SCHEDULER, "--symmetry", "markers", "--audit"], WRONG),
        (&["check", SCHEDULER, "--symmetry", "rotate"], WRONG),
        (&["check", "models/no/such/file.mch"], WRONG),
        (&["check", "models"], WRONG),
        (&["check"], WRONG),
        (&["chekc", SCHEDULER], WRONG),
        (&[], WRONG),
        (&["--help"], HOLDS),
        (&["check", "--help"], HOLDS),
        (&["--version"], HOLDS),
    ];
    for (args, code) in rows {
        let ran = kanon(args);
        assert_eq!(ran.code, *code, "{args:?}: {}{}", ran.out, ran.err);
        if *code == WRONG {
            assert!(!ran.err.is_empty(), "{args:?}: an error says what is wrong");
        }
        if !args.is_empty() && args[0] != "--help" && *code == WRONG {
            let mut with_json = args.to_vec();
            with_json.push("--json");
            let v = answer(&with_json, WRONG);
            assert_eq!(v["verdict"], "error", "{args:?}");
            assert!(v["errors"][0]["message"].is_string(), "{args:?}");
        }
    }
}

#[test]
fn refusals_say_what_is_missing() {
    for (args, words) in [
        (["--threads", "0"], "at least one thread"),
        (["--symmetry", "rotate"], "expected off, flood, markers, canon, nauty or auto"),
        (["--card", "NOBODY=2"], "no set `NOBODY`"),
        (["--goal", "unheard > 1"], "unheard"),
    ] {
        let ran = kanon(&["check", SCHEDULER, args[0], args[1]]);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
}

#[test]
fn json_of_what_holds() {
    let v = answer(&["check", SCHEDULER, "--card", "PROC=3", "--symmetry", "off", "--json"], HOLDS);
    for (key, expected) in [
        ("verdict", Value::from("holds")),
        ("reason", Value::Null),
        ("finding", Value::Null),
        ("states", 54.into()),
        ("transitions", 189.into()),
        ("initialisations", 1.into()),
        ("constants", 0.into()),
        ("deadlocks", 0.into()),
        ("violations", 0.into()),
        ("complete", true.into()),
    ] {
        assert_eq!(v[key], expected, "{key}");
    }
    let operations = v["operations"].as_object().expect("operations");
    let names: Vec<&str> = operations.keys().map(String::as_str).collect();
    assert_eq!(names, ["create", "remove", "wake", "start", "stop"], "in the order of the machine");
    assert_eq!(operations.values().filter_map(Value::as_u64).sum::<u64>(), 189);
    assert_eq!(v["scope"]["sets"]["PROC"], 3);
    assert_eq!((&v["scope"]["minint"], &v["scope"]["maxint"]), (&(-1).into(), &3.into()));
    assert!(v["scope"]["truncated"].is_null());
    let (seconds, total) =
        (v["seconds"].as_f64().expect("seconds"), v["total_seconds"].as_f64().expect("total"));
    assert!(0.0 <= seconds && seconds <= total);
}

#[test]
fn json_of_what_fails() {
    let v = answer(&["check", BROKEN, "--json"], FAILS);
    assert_eq!((&v["verdict"], &v["violations"]), (&"fails".into(), &1.into()));
    let f = &v["finding"];
    assert_eq!(f["kind"], "invariant");
    assert_eq!(f["conjunct"]["text"], "x + y < 3");
    assert_eq!(f["conjunct"]["file"], BROKEN);
    assert!(f["conjunct"]["line"].is_u64() && f["conjunct"]["column"].is_u64());
    let steps = f["trace"]["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 4, "breadth first finds a shortest one");
    assert_eq!(steps[0]["operation"], "INITIALISATION");
    assert_eq!(steps[3]["state"].as_object().map(|s| s.len()), Some(2));
    let why: Vec<String> =
        f["why"].as_array().expect("why").iter().map(|p| format!("{} = {}", p["text"], p["value"])).collect();
    assert!(why.contains(&"\"x + y\" = \"3\"".to_string()), "{why:?}");

    let all = answer(&["check", BROKEN, "--json", "--all"], FAILS);
    assert!(all["states"].as_u64() > v["states"].as_u64());
    assert!(all["violations"].as_u64() > Some(0));
    assert_eq!(all["complete"], true);
}

#[test]
fn findings_of_every_kind_are_explained() {
    for (name, kind, words) in [
        ("find_deadlock", "deadlock", "is false"),
        ("find_assertion", "assertion", "x * x"),
        ("find_goal", "goal", "five"),
        ("wd_apply", "well-definedness", "f(x)"),
        ("wd_division", "well-definedness", ""),
    ] {
        let path = format!("models/lang/errors/{name}.mch");
        let v = answer(&["check", &path, "--json"], FAILS);
        let f = &v["finding"];
        assert_eq!(f["kind"], kind, "{name}");
        assert!(f["why"].to_string().contains(words), "{name}: {}", f["why"]);
        assert!(!f["trace"]["steps"].as_array().expect("steps").is_empty(), "{name}");
        if kind == "well-definedness" {
            assert!(f["code"].as_str().is_some_and(|c| c.starts_with("B03")), "{name}");
            assert!(f["operation"].is_string() && f["place"]["line"].is_u64(), "{name}");
        }
        let ran = kanon(&["check", &path]);
        assert!(ran.out.contains("INITIALISATION") && ran.out.contains("state "), "{name}: {}", ran.out);
    }
}

/// Read strictly, guards have to have values in every state, which is a part of the invariant: it is told of the
/// operation all the same.
#[test]
fn a_guard_without_a_value_is_told_of_its_operation() {
    let machine = "MACHINE guarded VARIABLES x INVARIANT x : 0..2 & 2 / (3 - x) >= 0 INITIALISATION x := 1\n\
                   OPERATIONS t = SELECT 1 / x = 1 & x > 0 THEN x := 0 END; v = x := 2 END\n";
    let path = file("guarded", "guarded.mch", machine);
    let v = answer(&["check", text(&path), "--no-deadlock", "--wd", "strict", "--json"], FAILS);
    assert_eq!(
        (&v["finding"]["kind"], &v["finding"]["operation"]),
        (&"well-definedness".into(), &"t".into())
    );
    // The guard is false there for those who do not read from left to right.
    answer(&["check", text(&path), "--no-deadlock", "--json"], HOLDS);
    let path = file("guarded", "guarded.mch", machine.replace("2 / (3 - x)", "2 / x"));
    let v = answer(&["check", text(&path), "--no-deadlock", "--wd", "strict", "--json"], FAILS);
    assert_eq!(v["finding"]["operation"], "INVARIANT");
}

#[test]
fn a_quantifier_gets_a_witness() {
    let machine = "MACHINE quantified VARIABLES f INVARIANT f : 1..4 --> 0..9 & !i.(i : 1..3 => f(i) <= f(i+1))\n\
                   INITIALISATION f := [1,2,3,4]\nOPERATIONS swap(i, j) = PRE i : 1..4 & j : 1..4 THEN f := f <+ {i |-> f(j), j |-> f(i)} END END\n";
    let path = file("witness", "quantified.mch", machine);
    let v = answer(&["check", text(&path), "--json"], FAILS);
    let why = v["finding"]["why"].as_array().expect("why");
    let witness = why.iter().find(|p| p["kind"] == "witness").expect("a witness");
    assert_eq!(witness["text"], "i");
    let value = |text: &str| why.iter().find(|p| p["text"] == text).map(|p| p["value"].to_string());
    let (left, right) = (value("f(i)").expect("f(i)"), value("f(i + 1)").expect("f(i + 1)"));
    assert!(left > right, "{why:?}");
}

#[test]
fn a_seed_repeats_a_run() {
    let args =
        ["check", SCHEDULER, "--order", "mixed=0.5", "--json", "--goal", "card(known) = 2", "--seed", "3"];
    let trace = || answer(&args, FAILS)["finding"]["trace"].to_string();
    assert_eq!(trace(), trace());
}

#[test]
fn stats_name_what_never_happens() {
    let machine = "MACHINE lame VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0\n\
                   OPERATIONS go = x := (x + 1) mod 3; stay = SELECT x > 5 THEN skip END END\n";
    let ran = kanon(&["check", text(&file("stats", "lame.mch", machine)), "--stats"]);
    assert_eq!(ran.code, HOLDS);
    assert!(ran.out.contains("never fires: stay"), "{}", ran.out);
}

/// Without being asked for, when nothing was cut short; and only then.
#[test]
fn what_never_happens_is_noted() {
    let machine = "MACHINE lame VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0\n\
                   OPERATIONS go = x := (x + 1) mod 3; stay = SELECT x > 5 THEN skip END END\n";
    let path = file("never", "lame.mch", machine);
    assert!(kanon(&["check", text(&path)]).err.contains("`stay` never fires"));
    let v = answer(&["check", text(&path), "--json"], HOLDS);
    assert_eq!((&v["notes"], &v["warnings"][0]["code"]), (&Value::Array(vec![]), &Value::from("B0501")));
    // Of what fails it is a note.
    let v = answer(&["check", text(&path), "--json", "--all", "--goal", "x = 1"], FAILS);
    assert_eq!(v["notes"], Value::from(vec!["never enabled: stay"]));
    let ran = kanon(&["check", text(&path), "--max-states", "1", "--stats"]);
    assert!(!ran.out.contains("never enabled:") && ran.out.contains("never enabled so far"), "{}", ran.out);
    // An operation whose guard has no value is not one that is never enabled.
    let undefined = machine.replace("x > 5", "1 / x > 5").replace("lame", "undefined");
    let ran = kanon(&["check", text(&file("never", "undefined.mch", undefined)), "--all"]);
    assert!(ran.code == FAILS && !ran.out.contains("never enabled"), "{}", ran.out);
}

#[test]
fn all_findings_are_a_table_by_conjunct_and_operation() {
    let machine = "MACHINE many SETS S VARIABLES x, y, w\n\
                   INVARIANT x : 0..4 & y : 0..4 & w <: S & /*@label small */ x + y < 4 & (x = 4 => y < 1)\n\
                   INITIALISATION x := 0 || y := 0 || w := {} OPERATIONS\n\
                   right = SELECT x < 4 THEN x := x + 1 END;\n\
                   up = SELECT y < 4 THEN y := y + 1 END;\n\
                   put(s) = SELECT s : S & s /: w & x = 0 & y = 0 THEN w := w \\/ {s} END;\n\
                   back = BEGIN x := 0 || y := 0 END END\n";
    let path = file("table", "many.mch", machine);
    for symmetry in ["off", "auto", "flood"] {
        let v = answer(&["check", text(&path), "--all", "--symmetry", symmetry, "--json"], FAILS);
        let rows = v["broken"].as_array().expect("a table");
        let states = |label: &str, operation: &str| -> u64 {
            let fits = |r: &&Value| {
                let c = &r["conjunct"];
                r["operation"] == operation && (c["label"] == label || c["text"] == label)
            };
            rows.iter().filter(fits).filter_map(|r| r["states"].as_u64()).sum()
        };
        // The states with x + y >= 4, of 25 with each w, or with each size of w.
        let sets = if symmetry == "off" { 4 } else { 3 };
        let all = states("small", "right") + states("small", "up");
        assert_eq!(all, 15 * sets, "{symmetry}: {v}");
        assert_eq!(v["violations"], 15 * sets, "{symmetry}");
        let second = states("(x = 4 => y < 1)", "right") + states("(x = 4 => y < 1)", "up");
        assert_eq!(second, 4 * sets, "{symmetry}");
    }
    let ran = kanon(&["check", text(&path), "--all", "--symmetry", "off"]);
    let line = ran.out.lines().find(|l| l.contains("2:60 small")).unwrap_or_default();
    assert!(ran.out.contains("the invariant is violated: small") && !line.is_empty(), "{}", ran.out);
    // Only what was asked for.
    let v = answer(&["check", text(&path), "--json"], FAILS);
    assert!(v.get("broken").is_none() && v["finding"]["conjunct"]["label"] == "small", "{v}");
}

#[test]
fn a_machine_without_operations_has_no_deadlock() {
    let machine =
        "MACHINE still VARIABLES x INVARIANT x : 0..LAST DEFINITIONS LAST == 2 INITIALISATION x :: 0..2 END";
    let path = file("still", "still.mch", machine);
    let v = answer(&["check", text(&path), "--json"], HOLDS);
    assert_eq!((&v["verdict"], &v["states"]), (&"holds".into(), &3.into()));
    assert!(v["notes"][0].as_str().is_some_and(|n| n.contains("no operations")), "{v}");
    // All of its states are looked at.
    let wrong =
        file("still", "wrong.mch", machine.replace("LAST == 2", "LAST == 1").replace("still", "wrong"));
    assert_eq!(answer(&["check", text(&wrong), "--json"], FAILS)["finding"]["kind"], "invariant");
    assert_eq!(
        answer(&["check", text(&path), "--no-deadlock", "--json"], HOLDS)["notes"],
        Value::Array(vec![])
    );
}

#[test]
fn a_goal_is_reached_or_not_reachable() {
    let ran = kanon(&["check", SCHEDULER, "--goal", "card(known) = 2"]);
    assert_eq!(ran.code, FAILS);
    assert!(ran.out.starts_with("scheduler0: the goal is reached\n"), "{}", ran.out);
    assert!(ran.out.contains("note[goal]") && !ran.out.contains("error"), "{}", ran.out);
    let ran = kanon(&["check", SCHEDULER, "--goal", "card(known) = 3"]);
    assert!(ran.code == HOLDS && ran.out.contains("note: the goal is not reachable\n"), "{}", ran.out);
    let ran = kanon(&["check", SCHEDULER, "--goal", "card(known) = 3", "--max-states", "2"]);
    assert!(ran.code == UNKNOWN && !ran.out.contains("not reachable"), "{}", ran.out);
}

/// The sizes that an answer is about.
#[test]
fn the_scope_is_beside_the_answer() {
    let ran = kanon(&["check", SCHEDULER]);
    assert!(ran.out.contains("note: this is for card(PROC) = 2 (default size)\n"), "{}", ran.out);
    let machine = "MACHINE bounded VARIABLES x INVARIANT x : NAT INITIALISATION x := 0\n\
                   OPERATIONS go = SELECT x < 5 THEN x := x + 1 END; back = SELECT x > 0 THEN x := 0 END END\n";
    let path = file("scope", "bounded.mch", machine);
    let note = "note: NAT is 0..3 here (MAXINT = 3; `--maxint`)\n";
    let ran = kanon(&["check", text(&path)]);
    assert!(ran.code == FAILS && ran.out.contains(note), "{}", ran.out);
    let ran = kanon(&["check", text(&path), "--maxint", "5"]);
    assert!(ran.code == HOLDS && ran.out.contains(&note.replace('3', "5")), "{}", ran.out);
    // Nothing is said of what bounds nothing.
    let free = file("scope", "free.mch", machine.replace("NAT ", "0..5 ").replace("bounded", "free"));
    let v = answer(&["check", text(&free), "--json"], HOLDS);
    assert_eq!(v["notes"], Value::Array(vec![]));
}

#[test]
fn unknown_says_what_to_do() {
    let machine = "MACHINE open VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 0\n\
                   OPERATIONS go(y) = PRE y : NATURAL & y mod 2 = 0 THEN x := y END END\n";
    let open = file("advice", "open.mch", machine);
    let endless = endless("advice");
    for (args, words) in [
        (&["check", text(&open)][..], "bound the integer where it is chosen"),
        (&["check", text(&endless), "--max-states", "10"], "raise `--max-states`"),
        (&["check", text(&endless), "--timeout", "0.2"], "give it more time (`--timeout`)"),
        (&["ltl", text(&endless), "G {x >= 0}", "--max-states", "10"], "raise `--max-states`"),
    ] {
        let ran = kanon(args);
        assert_eq!(ran.code, UNKNOWN, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(&format!("note: {words}")), "{args:?}: {}", ran.out);
    }
}

/// Fewer valuations of the constants, where a symmetry of the model allows for it.
#[test]
fn constants_as_prob_takes_them() {
    let machine = "MACHINE Chosen SETS D; E CONSTANTS a, b, f PROPERTIES a : D & b : D & a /= b & f : D >->> E\n\
                   VARIABLES x INVARIANT x : D INITIALISATION x :: D\n\
                   OPERATIONS go(d) = PRE d : D & d /= x THEN x := d END END\n";
    let path = file("constants", "Chosen.mch", machine);
    let states = |more: &[&str]| {
        let mut args = vec!["check", text(&path), "--setsize", "3", "--symmetry", "off", "--json"];
        args.extend(more);
        let ran = kanon(&args);
        let v: serde_json::Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.out));
        (v["constants"].as_u64(), v["states"].as_u64(), v["notes"].to_string())
    };
    assert_eq!(states(&[]).0, Some(36));
    let (constants, states_of_one, note) = states(&["--constants", "prob"]);
    assert_eq!((constants, states_of_one), (Some(1), Some(3)), "{note}");
    assert!(
        note.contains("6 of 36 valuations with a, b as the first of D; 1 of 6 valuations with f in order"),
        "{note}"
    );
    // An element that is named is not to be exchanged for another.
    let (_, _, note) = states(&["--constants", "prob", "--goal", "a = D2"]);
    assert!(note.contains("not taken: a, b as the first of D"), "{note}");
    assert!(note.contains("6 of 36 valuations with f in order"), "{note}");
    let ran = kanon(&["check", text(&path), "--constants", "prob", "--audit"]);
    assert_eq!(ran.code, WRONG, "{}", ran.err);
}

/// What is told of findings whose reason is not on the surface.
#[test]
fn reasons_are_looked_for() {
    let why = |name: &str, machine: &str| {
        let ran = kanon(&["check", text(&file("reasons", name, machine))]);
        assert_eq!(ran.code, FAILS, "{}{}", ran.out, ran.err);
        ran.out
    };
    // The precondition of an operation that was called.
    let called = "MACHINE Called VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0\n\
                  OPERATIONS put(v) = PRE v : 0..9 & v < 3 THEN x := v END END\n";
    file("reasons", "Called.mch", called);
    let caller = "MACHINE Caller INCLUDES Called VARIABLES y INVARIANT y : 0..9 INITIALISATION y := 0\n\
                  OPERATIONS go = SELECT y < 5 THEN put(y + 1) || y := y + 1 END END\n";
    let out = why("Caller.mch", caller);
    assert!(out.contains("why:\n  for v = 3:\n  v < 3 = FALSE\n    v = 3"), "{out}");
    // Which element is doubled, and where.
    let doubled = "MACHINE Doubled VARIABLES s INVARIANT s : iseq(0..3) INITIALISATION s := [2,1,0,1]\n\
                   OPERATIONS keep = skip END\n";
    let out = why("Doubled.mch", doubled);
    assert!(out.contains("1 is in it more than once, at 2 and 4"), "{out}");
    // What a loop's variant was, and is.
    let looped = "MACHINE Looped VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0 OPERATIONS\n\
                  go = WHILE x < 3 DO x := x + 1 INVARIANT x : 0..9 VARIANT x + 4 END END\n";
    let out = why("Looped.mch", looped);
    assert!(out.contains("does not decrease: 4 before the body, 5 after it"), "{out}");
    // Which conjunct blocks each operation.
    let stuck = "MACHINE Stuck SETS P = {a,b} VARIABLES w, act INVARIANT w <: P & act <: P\n\
                 INITIALISATION w := {} || act := {a} OPERATIONS\n\
                 wake(p) = PRE p : P & p : w THEN w := w - {p} END;\n\
                 both(p, q) = SELECT p : act & q : act & p /= q THEN skip END;\n\
                 ways = SELECT w /= {} THEN skip WHEN act = {} THEN skip END;\n\
                 some = ANY z WHERE z : act & z = b THEN w := {z} END;\n\
                 deep = PRE act /= {} THEN SELECT w = {a} THEN skip END END;\n\
                 later = ANY z WHERE z : 1..3 THEN SELECT z > 5 THEN skip END END END\n";
    let out = why("Stuck.mch", stuck);
    for line in [
        "  wake: no p with p : w and what comes before it\n",
        "  both: no p, q with p /= q and what comes before it\n",
        "  ways: none of its conditions is fulfilled\n    w /= {} is false\n    act = {} is false\n",
        "  some: no z with z = b and what comes before it\n",
        "  deep: w = {a} is false\n",
        "  later: no z with z > 5 and what comes before it\n",
    ] {
        assert!(out.contains(line), "{line:?} is not in:\n{out}");
    }
}

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

#[test]
fn models_that_cannot_start() {
    for (folder, machine, words) in [
        (
            "unsat",
            "MACHINE unsat CONSTANTS n PROPERTIES n : 1..9 & n > 3 & n < 2 & n /= 5 END",
            "PROPERTIES cannot be satisfied",
        ),
        ("unsat1", "MACHINE unsat1 CONSTANTS n PROPERTIES n : 1..9 & 1 = 2 END", "this is false"),
        (
            "noinit",
            "MACHINE noinit VARIABLES x INVARIANT x : 1..3 INITIALISATION x :: {} END",
            "INITIALISATION has no outcome",
        ),
        (
            "forgot",
            "MACHINE forgot VARIABLES x, y INVARIANT x : 1..3 & y : 1..3 INITIALISATION x := 1 END",
            "`y` a value",
        ),
    ] {
        let path = file(folder, &format!("{folder}.mch"), machine);
        let ran = kanon(&["check", text(&path)]);
        assert_eq!(ran.code, WRONG, "{folder}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{folder}: {}", ran.err);
    }
}

#[test]
fn strange_files_are_refused_politely() {
    let deep = |n: usize| {
        let (open, close) = ("(".repeat(n), ")".repeat(n));
        format!(
            "MACHINE deep VARIABLES x INVARIANT x = {open}1{close} INITIALISATION x := 1 OPERATIONS o = skip END"
        )
    };
    let nots = format!(
        "MACHINE nots VARIABLES x INVARIANT {}x = 1{} INITIALISATION x := 1 OPERATIONS o = skip END",
        "not(".repeat(20_000),
        ")".repeat(20_000)
    );
    let megabytes = |text: &str| text.repeat(10_000_000 / text.len());
    let rows: Vec<(&str, Vec<u8>)> = vec![
        ("deep", deep(10_000).into()),
        ("deeper", deep(1_000_000).into()),
        ("nots", nots.into()),
        ("noise", megabytes("x := { ( [ ").into()),
        ("operators", megabytes("+ ").into()),
        ("comment", format!("MACHINE comment /* {} */ END", megabytes("no ")).into()),
        ("open", format!("MACHINE open /* {}", megabytes("no ")).into()),
        ("latin", b"MACHINE latin VARIABLES \xe4\xf6 INVARIANT \xe4\xf6 : NAT END".to_vec()),
        ("binary", (0..=255u8).cycle().take(100_000).collect()),
        ("empty", vec![]),
        ("nul", b"MACHINE nul\0 END".to_vec()),
    ];
    for (name, bytes) in rows {
        let path = file("strange", &format!("{name}.mch"), &bytes);
        let begin = Instant::now();
        let ran = kanon(&["check", text(&path)]);
        assert!(
            (HOLDS..=WRONG).contains(&ran.code),
            "{name}: {} {}",
            ran.code,
            &ran.err[..ran.err.len().min(2000)]
        );
        assert!(ran.err.len() < 100_000, "{name}: {} bytes of errors", ran.err.len());
        assert!(begin.elapsed() < Duration::from_secs(60), "{name}: took {:?}", begin.elapsed());
    }
    assert_eq!(kanon(&["check", "models/lang/errors/cycle_a.mch"]).code, WRONG);
}

#[test]
fn limits_end_a_run() {
    let path = endless("limits");
    let v = answer(&["check", text(&path), "--max-states", "1000", "--json"], UNKNOWN);
    assert!(v["reason"].as_str().is_some_and(|r| r.contains("1000")), "{}", v["reason"]);
    assert_eq!((&v["verdict"], &v["complete"]), (&"unknown".into(), &false.into()));
    assert!(v["states"].as_u64() >= Some(1000) && v["open"].as_u64() > Some(0));
    // Also while initial states are made.
    let machine = "MACHINE many VARIABLES x, y INVARIANT 1 = 1 INITIALISATION x :: 0..999 || y :: 0..999 END";
    let many = file("limits", "many.mch", machine);
    let v = answer(&["check", text(&many), "--max-states", "1000", "--json"], UNKNOWN);
    assert_eq!(v["states"], 1000);
    let begin = Instant::now();
    let v = answer(&["check", text(&path), "--timeout", "0.5", "--json"], UNKNOWN);
    assert!(v["reason"].as_str().is_some_and(|r| r.contains("timeout")), "{}", v["reason"]);
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_timeout_ends_the_search_for_constants() {
    let machine =
        "MACHINE hard CONSTANTS f PROPERTIES f : 1..12 >->> 1..12 & SIGMA(i).(i : 1..12 | f(i) * i) = 3 END";
    let path = file("hard", "hard.mch", machine);
    let begin = Instant::now();
    let ran = kanon(&["check", text(&path), "--timeout", "1", "--json"]);
    // A clever search finds that there is none.
    assert!([WRONG, UNKNOWN].contains(&ran.code), "{}{}", ran.out, ran.err);
    assert!(begin.elapsed() < Duration::from_secs(30));
}

fn wait(child: Child, limit: Duration) -> Ran {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(limit).expect("the program ends").expect("its output").into()
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_what_is_known() {
    let path = endless("interrupt");
    let mut command = program();
    command.args(["check", text(&path), "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    std::thread::sleep(Duration::from_secs(1));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.is_ok_and(|s| s.success()));
    let ran = wait(child, Duration::from_secs(30));
    assert_eq!(ran.code, UNKNOWN, "{}", ran.err);
    let v: Value = serde_json::from_str(&ran.out).expect("one object");
    assert_eq!((&v["verdict"], &v["reason"]), (&"unknown".into(), &"interrupted".into()));
    assert!(v["states"].as_u64() > Some(0));
}

/// Fields that every answer of `check` has, as docs/json.md lists them.
const FIELDS: [&str; 22] = [
    "verdict",
    "reason",
    "finding",
    "states",
    "transitions",
    "operations",
    "initialisations",
    "constants",
    "deadlocks",
    "violations",
    "assertion_failures",
    "goals",
    "wd_errors",
    "open",
    "complete",
    "seconds",
    "total_seconds",
    "bytes",
    "machine",
    "scope",
    "warnings",
    "notes",
];

/// A single evaluation that takes minutes and looks at no clock.
fn deaf(folder: &str) -> PathBuf {
    let machine = "MACHINE deaf VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 3\n\
                   OPERATIONS go = x := card(iterate(%i.(i : 1..3000 | i mod 3000 + 1), 2000000)) END\n";
    file(folder, "deaf.mch", machine)
}

#[test]
fn an_evaluation_that_does_not_end_is_answered_in_time_and_in_full() {
    let path = deaf("deaf");
    let documented = std::fs::read_to_string("docs/json.md").expect("docs/json.md");
    for f in FIELDS {
        assert!(documented.contains(&format!("`{f}`")), "{f} is documented");
    }
    let begin = Instant::now();
    let v = answer(&["check", text(&path), "--timeout", "0.5", "--json"], UNKNOWN);
    // A second and what it takes to start, on a machine that is busy.
    assert!(begin.elapsed() < Duration::from_millis(2500), "{:?}", begin.elapsed());
    for f in FIELDS {
        assert!(v.get(f).is_some(), "{f} is missing: {v}");
    }
    assert_eq!(
        (&v["verdict"], &v["machine"], &v["complete"]),
        (&"unknown".into(), &"deaf".into(), &false.into())
    );
    assert!(v["reason"].as_str().is_some_and(|r| r.contains("timeout after 0.5 s")), "{}", v["reason"]);
    assert_eq!(v["scope"]["maxint"], 3);
    assert!(v["states"].is_null(), "nobody knows how many there are");
    let v = answer(&["ltl", text(&path), "G {x > 0}", "F {x = 0}", "--timeout", "0.5", "--json"], UNKNOWN);
    for (i, formula) in ["G {x > 0}", "F {x = 0}"].iter().enumerate() {
        assert_eq!((&v[i]["formula"], &v[i]["verdict"]), (&(*formula).into(), &"unknown".into()), "{v}");
        assert!(v[i].get("finding").is_some_and(Value::is_null), "{v}");
    }
    let v = answer(&["compare", text(&path), "--timeout", "0.5", "--json"], UNKNOWN);
    assert_eq!((&v["verdict"], &v["machine"]), (&"unknown".into(), &"deaf".into()), "{v}");
    assert!(v["strategies"].is_array() && v["agree"].is_null(), "{v}");
}

/// Every answer has the fields, whatever it is.
#[test]
fn json_always_has_its_fields() {
    for (model, code) in [(SCHEDULER, HOLDS), (BROKEN, FAILS), (text(&endless("fields")), UNKNOWN)] {
        let v = answer(&["check", model, "--max-states", "100", "--json"], code);
        for f in FIELDS {
            assert!(v.get(f).is_some(), "{model}: {f} is missing");
        }
    }
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

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_an_error_and_the_finding_is_shown() {
    // The device takes no byte, but it can be opened.
    let ran = kanon(&["check", BROKEN, "--trace", "/dev/full"]);
    assert_eq!(ran.code, WRONG);
    assert!(ran.out.contains("fails: the invariant is violated"), "{}", ran.out);
    assert!(ran.err.contains("cannot write /dev/full"), "{}", ran.err);
    let v = answer(&["check", BROKEN, "--trace", "/dev/full", "--json"], WRONG);
    assert_eq!(v["verdict"], "fails");
    assert!(v["warnings"][0]["message"].as_str().is_some_and(|m| m.contains("cannot write")), "{v}");
    for args in
        [&["check", BROKEN][..], &["check", SCHEDULER, "--json"], &["--help"], &["eval", SCHEDULER, "1"]]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
        let child = program().args(args).stdout(full).stderr(Stdio::piped()).spawn();
        let ran = wait(child.expect("the program starts"), Duration::from_secs(30));
        assert_eq!(ran.code, WRONG, "{args:?}: {}", ran.err);
        assert!(ran.err.contains("standard output cannot be written"), "{args:?}: {}", ran.err);
    }
}

/// No answer is not FALSE.
#[test]
fn a_search_that_was_cut_off_says_nothing() {
    // No integer is a solution, but nobody sees that by trying.
    let question = "nn : NATURAL & nn > 3 & nn mod 100 = 17 & nn mod 50 = 18";
    let ran = kanon(&["eval", SCHEDULER, question, "--timeout", "1"]);
    assert_eq!(ran.code, UNKNOWN, "{}", ran.out);
    assert!(ran.out.starts_with("unknown: no solution was found\n"), "{}", ran.out);
    assert!(ran.out.contains("without bounds") && !ran.out.contains("FALSE"), "{}", ran.out);
    let ran = repl(SCHEDULER, &[question]);
    assert!(ran.out.contains("unknown: no solution") && !ran.out.contains("FALSE"), "{}", ran.out);
}

/// Integers without bounds are tried outwards, beyond MAXINT.
#[test]
fn what_has_no_bounds_is_tried_outwards() {
    for (question, first) in [
        ("nn : NATURAL & nn > 3 & nn mod 1000 = 517", "  nn = 517"),
        ("ii : INTEGER & ii * ii * ii = -27000", "  ii = -30"),
        ("nn : NATURAL & nn > 3 & nn * nn < 50", "  nn = 4"),
    ] {
        let ran = kanon(&["eval", SCHEDULER, question]);
        let lines: Vec<&str> = ran.out.lines().take(2).collect();
        assert_eq!((ran.code, &lines[..]), (HOLDS, &["TRUE", first][..]), "{question}: {}", ran.out);
    }
}

#[test]
fn nobody_reading_is_no_error() {
    for args in
        [vec!["check", BROKEN, "--json"], vec!["check", BROKEN], vec!["--help"], vec!["eval", SCHEDULER, "1"]]
    {
        let mut child = program()
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let ran = wait(child, Duration::from_secs(30));
        assert!((0..=3).contains(&ran.code), "{args:?}: {} {}", ran.code, ran.err);
    }
}

#[test]
fn eval_answers() {
    for (question, code, expected) in [
        ("card(PROC)", HOLDS, "2"),
        ("PROC", HOLDS, "{PROC1,PROC2}"),
        ("PROC1", HOLDS, "PROC1"),
        ("known", HOLDS, "{}"),
        ("known = {}", HOLDS, "TRUE"),
        ("known /= {}", FAILS, "FALSE"),
        ("2 ** 100", HOLDS, "1267650600228229401496703205376"),
        ("-3 + 1", HOLDS, "-2"),
        ("{x | x : 1..9 & x mod 3 = 0}", HOLDS, "{3,6,9}"),
        ("NATURAL", HOLDS, "NATURAL"),
        ("%x.(x : NATURAL | x * x)(12)", HOLDS, "144"),
        ("xx : 1..20 & xx * xx = 49", HOLDS, "TRUE\n  xx = 7"),
        ("xx : 1..5 & xx * xx = 49", FAILS, "FALSE: no solution"),
        ("[TRUE, FALSE]", HOLDS, "[TRUE,FALSE]"),
    ] {
        let ran = kanon(&["eval", SCHEDULER, question]);
        assert_eq!((ran.out.trim(), ran.code), (expected, code), "{question}: {}", ran.err);
    }
    for (question, words) in
        [("1 / 0", "B0301"), ("1 +", "B01"), ("1 + TRUE", "B0203"), ("unheard + 1", "unheard"), ("", "B01")]
    {
        let ran = kanon(&["eval", SCHEDULER, question]);
        assert_eq!(ran.code, WRONG, "{question}");
        assert!(ran.err.contains(words), "{question}: {}", ran.err);
    }
}

fn repl(model: &str, lines: &[&str]) -> Ran {
    let mut command = program();
    command.args(["repl", model]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all((lines.join("\n") + "\n").as_bytes()).expect("lines are read");
    drop(stdin);
    wait(child, Duration::from_secs(60))
}

#[test]
fn repl_steps_and_answers() {
    let ran = repl(
        SCHEDULER,
        &[
            "known",
            ":op create PROC2",
            "known",
            ":op create(p = PROC1)",
            "card(known)",
            ":state 1",
            "known",
            ":type known",
            ":quit",
            "1",
        ],
    );
    assert_eq!(ran.code, HOLDS);
    let lines: Vec<&str> =
        ran.out.lines().filter(|l| !l.starts_with("state") && !l.starts_with(' ')).collect();
    assert_eq!(lines, ["{}", "{PROC2}", "2", "{}", "POW(PROC)"], "{}{}", ran.out, ran.err);
}

#[test]
fn repl_survives_nonsense() {
    let ran = repl(
        SCHEDULER,
        &[
            "",
            ":",
            ":nothing",
            ":step 99",
            ":op nobody",
            ":op create 7",
            ":state 0",
            ":state x",
            "((",
            "1/0",
            ":type",
            ":init 9",
            ":vars",
            ":ops",
            ":trace",
            ":help",
            "1 + 1",
        ],
    );
    assert_eq!(ran.code, WRONG, "something could not be done");
    assert!(ran.out.ends_with("2\n"), "{}", ran.out);
    assert!(ran.err.contains("B0301") && ran.err.contains("no command"), "{}", ran.err);
}

const LIBRARY: &str = "models/demo/Library.mch";

#[test]
fn repl_tells_why_an_operation_is_not_enabled() {
    let ran = repl(LIBRARY, &[":why return", ":op borrow BOOK1", ":why return BOOK2", ":inv", ":why 1"]);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("return: no b with b : dom(lent)"), "{}", ran.out);
    assert!(ran.out.contains("> FALSE  b : dom(lent)"), "{}", ran.out);
    assert!(ran.out.contains("   1  true   lent : BOOK +-> READER"), "{}", ran.out);
}

#[test]
fn repl_says_at_once_that_the_invariant_is_broken() {
    let ran = repl(LIBRARY, &[":random 50 3", ":why", ":undo", ":redo"]);
    assert_eq!(ran.code, FAILS, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("then the invariant is broken"), "{}", ran.out);
    assert!(ran.out.contains("  the invariant is broken: !r.("), "{}", ran.out);
    assert!(ran.out.contains("FALSE  !r.("), "why: {}", ran.out);
}

#[test]
fn repl_ends_with_what_its_lines_led_to() {
    for (lines, code) in [
        (&[":goto lent /= {}", ":undo", ":redo", ":watch card(lent)", ":unwatch 1"][..], HOLDS),
        (&["1 = 2"], HOLDS),
        (&[":goto card(lent) > 2"], HOLDS),
        (&[":undo", ":undo"], WRONG),
        (&[":load nowhere.json"], WRONG),
        (&["1 +", ":goto lent /= {}"], WRONG),
    ] {
        let ran = repl(LIBRARY, lines);
        assert_eq!(ran.code, code, "{lines:?}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn repl_saves_and_loads_traces() {
    for name in ["way.json", "way.itf.json", "way.prob2trace"] {
        let path = file("repl", name, "");
        let path = path.to_str().expect("a path");
        let (save, load) = (format!(":save {path}"), format!(":load {path}"));
        let ran = repl(LIBRARY, &[":goto card(lent) = 2", &save]);
        assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
        let ran = repl(LIBRARY, &[&load, "card(lent)", ":trace"]);
        assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("3 of 3 states") && ran.out.contains("\n2\n"), "{name}: {}", ran.out);
        assert!(ran.out.contains("   3  borrow("), "{name}: {}", ran.out);
    }
}
