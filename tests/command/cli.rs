//! The whole program: what people type, what they get, how it ends.

use crate::limits::endless;
use crate::program::{FAILS, HOLDS, Ran, UNKNOWN, WRONG, file, json as answer, kanon, program, text};
use serde_json::Value;
use std::time::{Duration, Instant};

pub const SCHEDULER: &str = "models/papers/scheduler0.mch";
pub const BROKEN: &str = "models/lang/errors/find_invariant.mch";

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
    // Telling the reason ends, and finds it: that the part has a value is demanded by a predicate of its own.
    let why: Vec<&str> =
        v["finding"]["why"].as_array().expect("why").iter().filter_map(|p| p["text"].as_str()).collect();
    assert_eq!(why, ["1 / x", "x"]);
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

/// Fields that every answer of `check` has, as docs/json.md lists them.
pub const FIELDS: [&str; 22] = [
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

/// Which program this is, for a report of a mistake.
#[cfg(unix)]
#[test]
fn the_version_has_parts_and_solvers() {
    let folder = file("version", "z3", "not run").parent().expect("a folder").to_path_buf();
    let make =
        std::fs::set_permissions(folder.join("z3"), std::os::unix::fs::PermissionsExt::from_mode(0o755));
    make.expect("a program");
    for option in ["--version", "-V"] {
        let ran: Ran = program().arg(option).env("PATH", &folder).output().expect("it starts").into();
        assert_eq!(ran.code, HOLDS);
        let lines: Vec<&str> = ran.out.lines().collect();
        assert_eq!(lines[0], concat!("kanon ", env!("CARGO_PKG_VERSION")));
        assert!(lines.iter().any(|l| l.starts_with("commit ")), "{}", ran.out);
        let nauty = if cfg!(feature = "nauty") { "features  nauty" } else { "not nauty" };
        assert!(ran.out.contains(nauty), "{}", ran.out);
        assert!(ran.out.contains(&format!("z3: {}", folder.join("z3").display())), "{}", ran.out);
        assert!(ran.out.contains("cvc5: not found"), "{}", ran.out);
    }
}
