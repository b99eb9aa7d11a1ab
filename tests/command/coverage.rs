//! What a complete search has never seen: with every answer, with `--coverage`, and of temporal formulas.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, json, kanon, text};
use serde_json::{Value, json};

/// Something of everything that coverage speaks of.
const IDLE: &str = "MACHINE idle SETS COLOUR = {red, green, blue}; THING
VARIABLES x, y, c, k, t
INVARIANT x : 0..20 & y : NATURAL & c : COLOUR & k : 0..3 & t <: THING
  & (x > 15 => y = 0) & !z.(z : t & x = 19 => y = 1) & (x > 3 => (y > 100 => c = red))
INITIALISATION x := 0 || y := 0 || c := red || k := 2 || t := {}
OPERATIONS
  step = SELECT x < 8 & y >= 0 THEN x := x + 2 || c := green END;
  back = SELECT x = 8 THEN x := 0 || y := 5 END;
  put(e, n) = PRE e : THING & n : 1..2 & e /: t & card(t) < 1 THEN t := t \\/ {e} END;
  drop(e) = PRE e : t THEN t := {} END;
  idle(n) = PRE n : 1..3 & n + x < 9 THEN skip END;
  dead = SELECT x = 3 THEN y := 1 END;
  stuck = SELECT x = 4 THEN ANY v WHERE v : {} & v : NAT THEN y := v END END
END
";

fn texts(places: &Value) -> Vec<&str> {
    places
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|p| p["conjunct"]["text"].as_str().or(p["text"].as_str()))
        .collect()
}

#[test]
fn every_complete_run_has_coverage() {
    let path = file("coverage", "idle.mch", IDLE);
    for symmetry in ["off", "auto", "flood"] {
        let v = json(&["check", text(&path), "--json", "--symmetry", symmetry], HOLDS);
        let c = &v["coverage"];
        assert_eq!(c["up_to_symmetry"], json!(symmetry != "off"));
        assert_eq!(c["never_fire"], json!(["dead", "stuck"]));
        let expected = json!([
            { "name": "x", "min": "0", "max": "8", "values": 9, "never": ["1", "3", "5", "7"] },
            { "name": "y", "min": "0", "max": "5", "values": 6, "never": ["1", "2", "3", "4"] },
            { "name": "c", "values": 3, "never": ["blue"] },
            { "name": "k", "min": "2", "max": "2", "values": 1, "never": [] },
            { "name": "t", "values": 4, "never": ["{THING1,THING2}"] },
        ]);
        assert_eq!(c["variables"], expected, "{symmetry}");
        assert_eq!(texts(&c["unbroken"]), ["k : 0..3"]);
        let unused = json!([
            { "operation": "put", "parameter": "n" },
            { "operation": "drop", "parameter": "e" },
        ]);
        assert_eq!(c["unused_parameters"], unused);
        assert_eq!(c.get("details"), None);
        // A Holds warns about what it does not speak of.
        let warnings: Vec<_> =
            v["warnings"].as_array().expect("a list").iter().map(|w| &w["message"]).collect();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert_eq!(*warnings[0], json!("`dead` never fires, so nothing that it does was checked"));
        assert_eq!(v["warnings"][0]["line"], 12);
    }
    let ran = kanon(&["check", text(&path)]);
    assert_eq!(ran.code, HOLDS);
    assert!(ran.err.contains("warning[B0501]: `dead` never fires"), "{}", ran.err);
    for line in [
        "coverage (of whole orbits):\n  never fires: dead, stuck\n",
        "  x : 0..8, y : 0..5, k : 2..2\n",
        "  c is never blue\n",
        "  no operation could break k : 0..3 (3:50)\n",
        "  parameters that are not used: n of put, e of drop\n",
    ] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.out);
    }
}

#[test]
fn conjuncts_and_parameters_are_looked_at_on_request() {
    let path = file("coverage", "details.mch", IDLE);
    let mut all = vec![];
    for symmetry in ["off", "auto", "canon", "flood"] {
        let v = json(&["check", text(&path), "--json", "--coverage", "--symmetry", symmetry], HOLDS);
        let d = &v["coverage"]["details"];
        // `stuck` is blocked by its ANY, which stands at its beginning: that is its guard.
        assert_eq!(d["guard_holds"], json!([]));
        assert_eq!(texts(&d["never_false"]), ["y >= 0"]);
        assert_eq!(d["never_false"][0]["operation"], "step");
        assert_eq!(texts(&d["never_true"]), ["x > 15", "z : t & x = 19", "y > 100"]);
        let idle = |op: &str| json!({ "operation": op, "parameter": "n" });
        assert_eq!(d["idle_parameters"], json!([idle("put"), idle("idle")]));
        assert_eq!(d["undecided"], 0);
        all.push(d.clone());
    }
    assert!(all.iter().all(|d| *d == all[0]), "{all:?}");
    let ran = kanon(&["check", text(&path), "--coverage"]);
    assert!(ran.out.contains("  never false in step: y >= 0 (7:25)\n"), "{}", ran.out);
    assert!(ran.out.contains("  never true before =>: x > 15 (4:6)\n"), "{}", ran.out);
}

/// A guard that is fulfilled and a body without an outcome; a conjunct that only those before it give a value.
#[test]
fn what_has_no_value_is_not_judged() {
    let machine = "MACHINE m VARIABLES x, f INVARIANT x : 0..3 & f : 0..3 +-> 0..3 & (f(x) > 9 => x = 1)\n\
                   INITIALISATION x := 0 || f := {0 |-> 0, 1 |-> 1, 2 |-> 2, 3 |-> 3}\n\
                   OPERATIONS up = SELECT x < 3 THEN x := x + 1 END;\n\
                   again = SELECT x = 3 THEN x := 0 || f := {0 |-> 1, 1 |-> 0, 2 |-> 2, 3 |-> 3} END;\n\
                   look = SELECT x : dom(f) & f(x) > 0 THEN skip END;\n\
                   none = IF x > 1 THEN SELECT x = 0 THEN skip END ELSE SELECT x = 2 THEN skip END END END\n";
    let path = file("coverage", "values.mch", machine);
    let v = json(&["check", text(&path), "--json", "--coverage"], HOLDS);
    let d = &v["coverage"]["details"];
    assert_eq!(d["guard_holds"], json!(["none"]), "it has no guard, and never an outcome");
    assert_eq!(texts(&d["never_false"]), ["x : dom(f)"]);
    assert_eq!(d["undecided"], 0);
}

/// Nothing is said of searches that did not see everything.
#[test]
fn partial_runs_have_none() {
    let path = file("coverage", "partial.mch", IDLE);
    let v = json(&["check", text(&path), "--json", "--coverage", "--max-states", "2"], UNKNOWN);
    assert_eq!(v.get("coverage"), None);
    let note = "so nothing is said about coverage";
    assert!(
        v["notes"].as_array().expect("a list").iter().any(|n| n.as_str().is_some_and(|n| n.ends_with(note)))
    );
    let broken = json(&["check", "models/lang/errors/find_invariant.mch", "--json"], FAILS);
    assert_eq!(broken.get("coverage"), None, "the search ended at a finding");
    let markers = json(&["check", text(&path), "--json", "--symmetry", "markers"], UNKNOWN);
    assert_eq!(markers.get("coverage"), None, "markers may miss states");
    assert_eq!(kanon(&["check", text(&path), "--coverage", "--engine", "bmc"]).code, WRONG);
    // Everything was explored, and something was found.
    let all = json(&["check", text(&path), "--json", "--all", "--goal", "x = 4"], FAILS);
    assert_eq!(all["coverage"]["never_fire"], json!(["dead", "stuck"]));
    assert_eq!(all["warnings"], json!([]), "it is no Holds");
}

#[test]
fn parts_of_formulas_that_do_not_matter() {
    let machine = "MACHINE turns VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0\n\
                   OPERATIONS turn = x := (x + 1) mod 3; rest = SELECT x = 2 THEN skip END END\n";
    let path = file("coverage", "turns.mch", machine);
    let rows: &[(&str, &[&str])] = &[
        // The antecedent is never true: what follows does not matter.
        ("G({x = 7} => F {x = 1})", &["F {x = 1}"]),
        // It holds whatever comes before.
        ("G({x = 1} => {x < 3})", &["{x = 1}"]),
        ("G({x = 1} => X {x = 2})", &[]),
        ("G({x = 0} => F({x = 2} or {x = 9}))", &["{x = 0}", "{x = 9}"]),
        ("F({x = 0} & {x < 5})", &[]),
        ("{x = 9} U {x = 0}", &["{x = 9}"]),
        ("not F {x = 7}", &[]),
    ];
    for (formula, expected) in rows {
        let v = json(&["ltl", text(&path), formula, "--vacuity", "--json"], HOLDS);
        assert_eq!(v[0]["vacuous"], json!(expected), "{formula}");
        let plain = json(&["ltl", text(&path), formula, "--json"], HOLDS);
        assert_eq!(plain[0].get("vacuous"), None);
    }
    let ran = kanon(&["ltl", text(&path), "G({x = 7} => F {x = 1})", "--vacuity"]);
    assert!(ran.out.contains("warning: it holds vacuously: `F {x = 1}` does not matter\n"), "{}", ran.out);
    let fails = json(&["ltl", text(&path), "G {x < 2}", "--vacuity", "--json"], FAILS);
    assert_eq!(fails[0].get("vacuous"), None);
}
