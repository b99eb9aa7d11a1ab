//! `kanon simulate`: random walks.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, json, kanon, text};
use serde_json::{Value, json};

/// Never ends, and is wrong after 12 steps up.
const DEEP: &str = "MACHINE deep SETS S VARIABLES x, s INVARIANT x : NATURAL & x < 12 & s <: S
INITIALISATION x := 0 || s := {}
OPERATIONS
  up = x := x + 1;
  down = SELECT x > 0 THEN x := x - 1 END;
  add(e) = PRE e : S & e /: s THEN s := s \\/ {e} END;
  clear = SELECT s /= {} THEN s := {} END
END
";

fn without_times(mut v: Value) -> Value {
    for key in ["seconds", "total_seconds"] {
        v[key] = Value::Null;
    }
    v
}

/// The answer depends on the seed, not on the threads.
#[test]
fn a_seed_repeats_all_walks_whatever_the_threads() {
    let path = file("simulate", "deep.mch", DEEP);
    let run = |seed: &str, threads: &str, depth: &str, code| {
        let args = ["simulate", text(&path), "--json", "--seed", seed, "--threads", threads];
        without_times(json(&[&args[..], &["--walks", "300", "--depth", depth]].concat(), code))
    };
    let one = run("7", "1", "200", FAILS);
    for threads in ["2", "5"] {
        assert_eq!(run("7", threads, "200", FAILS), one);
    }
    assert_ne!(run("8", "2", "200", FAILS)["finding"]["trace"], one["finding"]["trace"]);
    assert_eq!((&one["verdict"], &one["finding"]["kind"]), (&json!("fails"), &json!("invariant")));
    assert_eq!(one["walks"], one["found_by"]);
    // Too short to get there: that is not a Holds.
    let short = run("7", "2", "5", UNKNOWN);
    assert_eq!((&short["verdict"], &short["walks"]), (&json!("unknown"), &json!(300)));
    assert_eq!(short, run("7", "1", "5", UNKNOWN));
    assert_eq!(short["depth"], json!({ "limit": 5, "min": 5, "max": 5, "mean": 5.0 }));
    let fired: u64 =
        short["operations"].as_object().expect("an object").values().filter_map(Value::as_u64).sum();
    assert_eq!((short["steps"].as_u64(), fired), (Some(1500), 1500));
    assert_eq!(short["finding"], Value::Null);
}

/// What a walk finds is a trace that replays.
#[test]
fn a_finding_is_a_trace() {
    let path = file("simulate", "traced.mch", DEEP);
    for name in ["found.json", "found.prob2trace"] {
        let trace = file("simulate", name, "");
        let args = ["simulate", text(&path), "--depth", "300", "--trace", text(&trace)];
        let ran = kanon(&args);
        assert_eq!(ran.code, FAILS, "{}{}", ran.out, ran.err);
        assert!(ran.out.starts_with("deep: fails: the invariant is violated\n"), "{}", ran.out);
        for part in ["x < 12", "steps by operation:\n  up", "on average"] {
            assert!(ran.out.contains(part), "{part}: {}", ran.out);
        }
        assert_eq!(kanon(&["replay", text(&path), text(&trace)]).code, HOLDS, "{name}");
    }
}

#[test]
fn everything_that_check_looks_for_is_found() {
    let rows = [
        ("find_invariant", "invariant"),
        ("find_deadlock", "deadlock"),
        ("find_assertion", "assertion"),
        ("find_goal", "goal"),
        ("wd_apply", "well-definedness"),
    ];
    for (name, kind) in rows {
        let path = format!("models/lang/errors/{name}.mch");
        let v = json(&["simulate", &path, "--json"], FAILS);
        assert_eq!(v["finding"]["kind"], kind, "{name}");
    }
    let path = "models/lang/errors/find_deadlock.mch";
    let v = json(&["simulate", path, "--json", "--no-deadlock", "--walks", "10"], UNKNOWN);
    assert_eq!((&v["deadlocks"], &v["walks"]), (&json!(10), &json!(10)));
    let goal =
        json(&["simulate", "models/papers/scheduler0.mch", "--json", "--goal", "card(known) = 2"], FAILS);
    assert_eq!(goal["finding"]["kind"], "goal");
}

#[test]
fn it_never_holds_and_says_why_not() {
    let ran = kanon(&["simulate", "models/papers/scheduler0.mch", "--walks", "20"]);
    assert_eq!(ran.code, UNKNOWN);
    assert!(ran.out.contains("nothing was found in 20 random walks, which proves nothing"), "{}", ran.out);
    let path =
        file("simulate", "none.mch", "MACHINE m VARIABLES x INVARIANT x : 0..3 INITIALISATION x :: {} END\n");
    assert_eq!(kanon(&["simulate", text(&path)]).code, WRONG, "there is no initial state");
    assert_eq!(kanon(&["simulate", text(&path), "--walks", "0"]).code, WRONG);
    assert_eq!(kanon(&["simulate", "models/lang/errors/type_mismatch.mch", "--json"]).code, WRONG);
    // The time is over long before the walks are.
    let endless = DEEP.replace(" & x < 12", "").replace("deep", "endless");
    let path = file("simulate", "endless.mch", endless);
    let args = ["simulate", text(&path), "--walks", "1000000000", "--timeout", "0.3", "--json"];
    let v = json(&args, UNKNOWN);
    assert!(v["reason"].as_str().is_some_and(|r| r.contains("timeout")), "{v}");
}
