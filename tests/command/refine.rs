//! `kanon refine` and `kanon check --refinement`: options, output, exit codes.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, json, kanon, text};

const LIGHTS: &str = "models/eventb/Lights.eventb";
const BROKEN: &str = "models/eventb/LightsBroken.eventb";
const CHAIN: &str = "models/eventb/chain/mc2.eventb";

#[test]
fn exit_codes() {
    let rows: &[(&[&str], i32)] = &[
        (&["refine", LIGHTS], HOLDS),
        (&["refine", BROKEN], FAILS),
        (&["refine", CHAIN, "--card", "S=3", "--deadlock", "--max-memory", "8G"], HOLDS),
        (&["refine", CHAIN, "--max-states", "3"], UNKNOWN),
        (&["refine", CHAIN, "--max-constants", "3"], UNKNOWN),
        (&["refine", "models/eventb/Turns.eventb"], WRONG),
        (&["refine", "models/papers/scheduler0.mch"], WRONG),
        (&["refine", LIGHTS, "--traces"], WRONG),
        (&["refine", LIGHTS, "--wd", "strict"], WRONG),
        (&["refine", LIGHTS, "--traces", "--deadlock"], WRONG),
        (&["check", LIGHTS, "--refinement"], HOLDS),
        (&["check", BROKEN, "--refinement"], FAILS),
        (&["check", "models/papers/scheduler0.mch", "--refinement"], WRONG),
    ];
    for (args, code) in rows {
        let ran = kanon(args);
        assert_eq!(ran.code, *code, "{args:?}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_failure_is_named_and_shown() {
    let v = json(&["refine", BROKEN, "--json"], FAILS);
    assert_eq!(v["verdict"], "fails");
    assert_eq!(v["levels"], serde_json::json!(["Lights", "Crossing"]));
    let f = &v["finding"];
    assert_eq!((&f["obligation"], &f["name"]), (&"GRD".into(), &"go/grd2/GRD".into()));
    assert_eq!((&f["level"], &f["above"]), (&"Lights".into(), &"Crossing".into()));
    assert_eq!(f["operation"], "go");
    assert_eq!(f["before"], serde_json::json!([{ "cars": "FALSE", "people": "TRUE" }]));
    assert_eq!(f["trace"]["steps"].as_array().map(Vec::len), Some(4));
    // What was looked at is said, and what it is not.
    let reason = v["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("not simulated by this gluing invariant"), "{reason}");
    let v = json(&["check", BROKEN, "--json", "--refinement"], FAILS);
    assert_eq!(v["refinement"]["finding"]["name"], "go/grd2/GRD");
    // `check` by itself names it, too.
    let reason = v["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("go/grd2/GRD of Lights"), "{reason}");
}

#[test]
fn classical_refinements() {
    let top = "MACHINE Top VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS rr <-- up(nn) = PRE nn : 1..2 & x + nn <= 3 THEN x := x + nn || rr := x END END";
    file("refine", "Top.mch", top);
    let below = |value: &str| {
        format!(
            "REFINEMENT Low REFINES Top VARIABLES y INVARIANT y = 3 - x INITIALISATION y := 3
OPERATIONS rr <-- up(nn) = BEGIN rr := {value}; y := y - nn END END"
        )
    };
    let path = file("refine", "Low.ref", below("3 - y"));
    let v = json(&["refine", text(&path), "--json"], HOLDS);
    assert_eq!((&v["way"], &v["states"], &v["transitions"]), (&"pairs".into(), &4.into(), &5.into()));
    assert_eq!(json(&["refine", text(&path), "--traces", "--json"], FAILS)["finding"]["obligation"], "TRACE");
    let path = file("refine", "Low.ref", below("y"));
    let ran = kanon(&["refine", text(&path)]);
    assert_eq!(ran.code, FAILS);
    for part in ["Low refines Top: fails", "`up` of Low", "up(nn = 1) --> rr = 3", "it returns rr = 0"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    // A check alone leaves out the gluing invariant, and says who looks at it.
    let ran = kanon(&["check", text(&path), "--max-states", "50"]);
    assert_eq!(ran.code, UNKNOWN, "{}", ran.out);
    assert!(ran.err.contains("kanon refine"), "{}", ran.err);
}

#[test]
fn nothing_panics_on_damaged_refinements() {
    let top = "MACHINE Top VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0 OPERATIONS op = skip END";
    file("refine-damaged", "Top.mch", top);
    let rows = [
        "REFINEMENT Low REFINES Top END",
        "REFINEMENT Low REFINES Low END",
        "REFINEMENT Low REFINES Nobody END",
        "REFINEMENT Low REFINES Top VARIABLES x END",
        "REFINEMENT Low REFINES Top VARIABLES x INITIALISATION x := 0 OPERATIONS op(p) = skip END",
        "REFINEMENT Low REFINES Top VARIABLES y INVARIANT y = x INITIALISATION y := x END",
        "IMPLEMENTATION Low REFINES Top IMPORTS Top END",
    ];
    for row in rows {
        let path = file("refine-damaged", "Low.ref", row);
        for traces in [&["--json"][..], &["--json", "--traces"]] {
            let args: Vec<&str> = ["refine", text(&path)].into_iter().chain(traces.iter().copied()).collect();
            let ran = kanon(&args);
            assert!([WRONG, FAILS, HOLDS].contains(&ran.code), "{row}: {}", ran.out);
            assert!(!ran.out.contains("internal error"), "{row}: {}", ran.out);
        }
    }
}
