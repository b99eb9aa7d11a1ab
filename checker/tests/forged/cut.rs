//! What the evaluator has not looked at: it has to say so.

use crate::liar::{Claim, EFFORT, Files, certificate_of, forged};
use kanon_checker::check::Part;
use kanon_checker::{Refuted, check, check_trace};
use kanon_language::model::load::with_large_stack;
use kanon_language::model::reading::Reading;

/// An integer that nothing bounds runs only as far as MAXINT, so that the evaluator believes the claim, too. It has to
/// say that it does not know.
#[test]
fn what_was_cut_short_is_not_accepted() {
    // True of y = 10 and y = -10, which nobody looks at.
    let far = "#y.(y : INTEGER & y * y = 100)";
    let machine = |invariant: &str, initialisation: &str, operation: &str| {
        format!(
            "MACHINE m VARIABLES n, bad INVARIANT n : 0..1 & bad : BOOL & bad = FALSE & {invariant}
             INITIALISATION {initialisation} OPERATIONS flip = n := 1 - n; {operation} END"
        )
    };
    let (plain, start) = ("n = n", "n := 0 || bad := FALSE");
    let hit = |body: &str| machine(plain, start, &format!("hit = {body}"));
    let rows = [
        ("an invariant", machine(&format!("not({far} & n = 1)"), start, "stay = skip"), Claim::States),
        ("a guard", hit(&format!("SELECT {far} THEN bad := TRUE END")), Claim::States),
        ("a condition", hit(&format!("IF {far} THEN bad := TRUE END")), Claim::States),
        ("a choice", hit("ANY y WHERE y : INTEGER & y * y = 100 THEN bad := TRUE END"), Claim::States),
        (
            "a parameter",
            machine(plain, start, "hit(y) = PRE y : INTEGER & y * y = 100 THEN bad := TRUE END"),
            Claim::States,
        ),
        (
            "a value that is chosen",
            machine(plain, "n := 0 || bad :( bad : BOOL & (bad = FALSE or PLENTY) )", "stay = skip")
                .replace("PLENTY", far),
            Claim::States,
        ),
        ("a truth value", hit(&format!("bad := bool({far})")), Claim::States),
        (
            "a loop",
            hit(&format!(
                "VAR i IN i := 0; WHILE i < 1 & {far} DO i := i + 1; bad := TRUE INVARIANT 0 = 0 VARIANT 1 - i END END"
            )),
            Claim::States,
        ),
        ("what is never true", hit("skip"), Claim::Never("n = 1 & #y.(y : INTEGER & y * y = 100)")),
        ("a state of a formula", hit("skip"), Claim::Always("G {not(#y.(y : INTEGER & y * y = 100))}")),
        ("a step of a formula", hit("skip"), Claim::Always("G not [hit & #y.(y : INTEGER & y * y = 100)]")),
        (
            "all of them",
            machine("n : 0..1", start, "stay = skip"),
            Claim::Never("not(!y.(y : INTEGER => y < 50))"),
        ),
    ];
    for (i, (what, text, claim)) in rows.iter().enumerate() {
        let files = Files::new(&format!("cut-{i}"), &[("m.mch", text)]);
        let found = with_large_stack(|| forged(&files.0.join("m.mch"), claim)).expect("a thread");
        match found {
            Some((true, Err(why))) if why.is_undecided() => {}
            other => panic!("{what}: {other:?}"),
        }
    }
    // Of PROPERTIES: that there are no others is believed of somebody, who is named.
    let text = "MACHINE m CONSTANTS c PROPERTIES c : INTEGER & (c = 1 or c * c = 100) VARIABLES n
                INVARIANT n : INTEGER & n = 1 INITIALISATION n := c OPERATIONS stay = skip END";
    let files = Files::new("cut-constants", &[("m.mch", text)]);
    let path = files.0.join("m.mch");
    let bytes = certificate_of(&path, |_| {});
    let accepted = check(&path, &mut || Ok(&bytes[..]), Part::WHOLE, EFFORT).expect("it is relative");
    assert_eq!(accepted.relative.len(), 1);
}

/// Paths to something that looks wrong because nobody has looked as far as 10: the model is fine.
#[test]
fn paths_that_rest_on_what_was_cut_short_are_not_accepted() {
    let far = "#y.(y : INTEGER & y * y = 100)";
    let machine = |invariant: &str, initialisation: &str, operation: &str| {
        format!(
            "MACHINE m VARIABLES n INVARIANT n : 0..1 & {invariant} INITIALISATION {initialisation}
             OPERATIONS hit{operation} END"
        )
    };
    let step = |operation: &str, n: u32| {
        format!("{{\"operation\": \"{operation}\", \"parameters\": {{}}, \"state\": {{\"n\": \"{n}\"}}}}")
    };
    let trace = |steps: &[String]| {
        format!(
            "{{\"format\": \"kanon-trace\", \"version\": 1, \"machine\": \"m\", \"constants\": {{}},
              \"scope\": {{\"sets\": {{}}, \"minint\": -1, \"maxint\": 3}}, \"steps\": [{}]}}",
            steps.join(", ")
        )
    };
    let (one, two) = (vec![step("INITIALISATION", 0)], vec![step("INITIALISATION", 0), step("hit", 1)]);
    let rows = [
        ("an invariant that is true", machine(far, "n := 0", " = skip"), &one),
        (
            "no deadlock",
            machine("n = n", "n := 0", "(y) = PRE y : INTEGER & y * y = 100 THEN skip END"),
            &one,
        ),
        ("no step", machine("n = 0", "n := 0", &format!(" = SELECT not({far}) THEN n := 1 END")), &two),
        (
            "no state to begin with",
            machine("n = 1", &format!("IF {far} THEN n := 1 ELSE n := 0 END"), " = skip"),
            &one,
        ),
        (
            "a term that has a value",
            machine("n = n", "n := 0", &format!(" = IF {far} THEN skip ELSE n := 1 / 0 END")),
            &one,
        ),
    ];
    let asked = |name: &str, text: &str, steps: &[String]| {
        let files = Files::new(name, &[("m.mch", text)]);
        let path = files.0.join("m.mch");
        let (text, effort) = (trace(steps), EFFORT);
        let found = with_large_stack(|| check_trace(&path, &text, Reading::Kleene, effort));
        found.expect("a thread")
    };
    for (i, (what, text, steps)) in rows.iter().enumerate() {
        match asked(&format!("path-{i}"), text, steps) {
            Err(why) if why.is_undecided() => {}
            other => panic!("{what}: {other:?}"),
        }
    }
    // A step that is there whatever was cut short: its parameter is bounded by nothing, and nothing else is open.
    let text = machine("n = 0", "n := 0", "(y) = PRE y : INTEGER & y > 1 THEN n := 1 END");
    let found = asked("path-certain", &text, &two);
    assert!(matches!(&found, Ok(Refuted { steps: 2, .. })), "{found:?}");
}
