//! Certificates by somebody who lies as well as he can: every element may be renamed into every other one, and a state in
//! which something claimed is not true is replaced by one that it becomes so. The file is complete then, and all that it
//! says of the states in it is true; the claim is false. The checker has to say which element is named.
//!
//! Whether a claim is true is found out here by following all states as they are.

mod cut;
mod liar;
mod statements;
mod texts;

use kanon_checker::Rejected;
use kanon_language::model::load::with_large_stack;
use kanon_language::model::open::open;
use kanon_language::model::scope::ScopeArgs;
use liar::{Claim, Files, forged};
use std::path::Path;

/// A machine with a variable x that is any element but the one that is meant by `BAD`, and becomes any other.
const FRAME: &str = "MACHINE m SETS S = {a, b, c} VARIABLES x INVARIANT true = true INITIALISATION x :: S
    OPERATIONS move = x :: S END";

fn frame(invariant: &str) -> String {
    FRAME.replace("true = true", &format!("x : S & ({invariant})"))
}

/// Where an element can be named: each of these is false of one element at least, and of none that the liar shows.
#[test]
fn elements_are_named_wherever_they_stand() {
    let invariants = [
        "x /= a",
        "x /: {a}",
        "x /: ran([a])",
        "x |-> 1 /: {a |-> 1}",
        "x /= prj1(S, NATURAL)(a |-> 1)",
        "not(#y.(y : {a} & y = x))",
        "x : {y | y : S & y /= a}",
        "x : dom(%y.(y : S & y /= a | 1))",
        "rec(f : a)'f /= x",
        "IF x = a THEN 1 ELSE 2 END = 2",
        "LET y BE y = a IN x /= y END",
        "bool(x = a) = FALSE",
        "x : S - {a}",
        "{a} <<| {x |-> 1} /= {}",
        "x /= NAMED",
        "SIGMA(y).(y : {a} /\\ {x} | 1) = 0",
        "{x} /<: {a}",
        "SORT({b, x})(1) /= a",
        "LESS(a, x)",
        "CHOOSE(S) /= x",
        "TO_STRING(x) /= \"a\"",
        "FORMAT_TO_STRING(\"~w\", [x]) /= \"a\"",
        "x /= STRING_TO_ENUM(\"a\")",
        "TYPED_STRING_TO_ENUM(S, \"a\") /= x",
        "SORT(S)(1) /= x",
        "SORT({[x], [b]})(1) /= [a]",
        "SORT({{x}, {b}})(1) /= {a}",
        "TO_STRING({x}) /= \"{a}\"",
        "LESS(x, SORT(S)(3))",
    ];
    let mut untried = vec![];
    for (i, invariant) in invariants.iter().enumerate() {
        let text = frame(invariant).replace("OPERATIONS", "DEFINITIONS NAMED == a OPERATIONS");
        let files = Files::new(&format!("invariant-{i}"), &[("m.mch", &text)]);
        let path = files.0.join("m.mch");
        if let Err(refused) = open(&path, &ScopeArgs::default()) {
            untried.push(format!("{invariant}: {:?}", refused.diagnostics.first().map(|d| &d.message)));
            continue;
        }
        expect_named(&path, &Claim::States, invariant);
        // The same said by a goal and by a formula of a machine that names nothing.
        let files = Files::new(&format!("claim-{i}"), &[("m.mch", &frame("x : S"))]);
        if !invariant.contains("NAMED") {
            let path = files.0.join("m.mch");
            let never: &'static str = Box::leak(format!("not({invariant})").into_boxed_str());
            let always: &'static str = Box::leak(format!("G {{{invariant}}}").into_boxed_str());
            for claim in [Claim::Never(never), Claim::Always(always)] {
                expect_named(&path, &claim, invariant);
            }
        }
    }
    assert!(untried.is_empty(), "{untried:#?}");
}

fn expect_named(path: &Path, claim: &Claim, what: &str) {
    let found = with_large_stack(|| forged(path, claim)).expect("a thread");
    match found {
        None => panic!("{what}: there is no way to lie"),
        Some((true, _)) => panic!("{what}: it is true"),
        Some((false, Err(Rejected::NoSymmetry { why, .. }))) if why.contains("which is named") => {}
        Some((false, answer)) => panic!("{what}: {answer:?}"),
    }
}

/// What happens is wrong for one element, which is named by a substitution.
#[test]
fn elements_are_named_by_what_happens() {
    let operations = [
        "hit = SELECT x = a THEN bad := TRUE END",
        "hit = PRE x = a THEN bad := TRUE END",
        "hit = IF x = a THEN bad := TRUE END",
        "hit = IF x = b THEN skip ELSIF x = a THEN bad := TRUE END",
        "hit = CASE x OF EITHER a THEN bad := TRUE END END",
        "hit = CASE a OF EITHER x THEN bad := TRUE END END",
        "hit = ANY y WHERE y : S & y = x & y = a THEN bad := TRUE END",
        "hit = LET y BE y = a IN IF x = y THEN bad := TRUE END END",
        "hit = ASSERT x /= a THEN skip END",
        "hit = bad :: {v | v : BOOL & (v = TRUE => x = a)}",
        "hit = bad :( bad : BOOL & (bad = TRUE => x = a) )",
        "hit = bad := bool(x = a)",
        "hit = VAR y IN y := a; IF x = y THEN bad := TRUE END END",
        "hit = VAR i IN i := 0; WHILE i < 1 DO i := i + 1 INVARIANT x /= a VARIANT 1 - i END END",
        "hit = VAR i IN i := 0; WHILE i < 1 DO i := i + 1 INVARIANT TRUE = TRUE
            VARIANT 1 - i - 2 * card({x} /\\ {a}) END END",
        "hit = VAR i IN i := 0; WHILE i < 1 & x = a DO i := i + 1; bad := TRUE INVARIANT TRUE = TRUE
            VARIANT 1 - i END END",
        "hit(y) = PRE y : {a} & y = x THEN bad := TRUE END",
        "hit = CHOICE skip OR SELECT x = a THEN bad := TRUE END END",
        "hit = SELECT x = b THEN skip WHEN x = a THEN bad := TRUE ELSE skip END",
        "hit = bad, x := bool(x = a), x",
        "r <-- hit = BEGIN r := x; IF r = a THEN bad := TRUE END END",
        "hit = BEGIN skip || IF x = a THEN bad := TRUE END END",
    ];
    for (i, operation) in operations.iter().enumerate() {
        let text = format!(
            "MACHINE m SETS S = {{a, b, c}} VARIABLES x, bad INVARIANT x : S & bad : BOOL & bad = FALSE
             INITIALISATION x :: S || bad := FALSE OPERATIONS {operation}; move = x :: S END"
        );
        let files = Files::new(&format!("operation-{i}"), &[("m.mch", &text)]);
        expect_named(&files.0.join("m.mch"), &Claim::States, operation);
    }
}

/// The place that is written to is named, and nothing else.
#[test]
fn elements_are_named_on_the_left() {
    let machine = |written: &str| {
        format!(
            "MACHINE m SETS S = {{a, b, c}} VARIABLES f, done
             INVARIANT f : S --> BOOL & done : BOOL & not(done = TRUE & f~[{{TRUE}}] = {{}})
             INITIALISATION f := S * {{FALSE}} || done := FALSE
             OPERATIONS pick(y) = PRE y : S & f~[{{TRUE}}] = {{}} & done = FALSE THEN f(y) := TRUE END;
             clear = SELECT f~[{{TRUE}}] /= {{}} THEN {written} || done := TRUE END END"
        )
    };
    for (i, written) in ["f(a) := FALSE", "f(a) :: {FALSE}", "f := f <+ {a |-> FALSE}"].iter().enumerate() {
        let files = Files::new(&format!("left-{i}"), &[("m.mch", &machine(written))]);
        expect_named(&files.0.join("m.mch"), &Claim::States, written);
    }
}

/// What several files say of one system.
#[test]
fn elements_are_named_in_other_files() {
    let set = "MACHINE c SETS S = {a, b, c1} END";
    let rows: [(&str, &[(&str, &str)]); 7] = [
        (
            "SEES",
            &[
                ("c.mch", set),
                (
                    "m.mch",
                    "MACHINE m SEES c VARIABLES x INVARIANT x : S & x /= a INITIALISATION x :: S
                     OPERATIONS move = x :: S END",
                ),
            ],
        ),
        (
            "INCLUDES with parameters",
            &[
                (
                    "sub.mch",
                    "MACHINE sub(T, p) CONSTRAINTS p : T VARIABLES x, bad INVARIANT x : T & bad : BOOL
                     INITIALISATION x :: T || bad := FALSE
                     OPERATIONS hit = SELECT x = p THEN bad := TRUE END; move = x :: T END",
                ),
                (
                    "m.mch",
                    "MACHINE m SETS S = {a, b, c} INCLUDES sub(S, a) INVARIANT bad = FALSE
                     PROMOTES hit, move END",
                ),
            ],
        ),
        (
            "a call with a parameter",
            &[
                ("c.mch", set),
                (
                    "sub.mch",
                    "MACHINE sub SEES c VARIABLES x, bad INVARIANT x : S & bad : BOOL
                     INITIALISATION x :: S || bad := FALSE
                     OPERATIONS hit(p) = PRE p : S THEN IF x = p THEN bad := TRUE END END; move = x :: S END",
                ),
                (
                    "m.mch",
                    "MACHINE m SEES c INCLUDES sub INVARIANT bad = FALSE PROMOTES move
                     OPERATIONS strike = hit(a) END",
                ),
            ],
        ),
        (
            "two instances",
            &[
                ("c.mch", set),
                (
                    "sub.mch",
                    "MACHINE sub SEES c VARIABLES x INVARIANT x : S INITIALISATION x :: S
                     OPERATIONS move = x :: S END",
                ),
                (
                    "m.mch",
                    "MACHINE m SEES c INCLUDES l.sub, r.sub INVARIANT l.x /= a or r.x /= l.x
                     PROMOTES l.move, r.move END",
                ),
            ],
        ),
        (
            "a definition file",
            &[
                ("names.def", "DEFINITIONS FIRST == a"),
                (
                    "m.mch",
                    "MACHINE m DEFINITIONS \"names.def\" SETS S = {a, b, c} VARIABLES x
                     INVARIANT x : S & x /= FIRST INITIALISATION x :: S OPERATIONS move = x :: S END",
                ),
            ],
        ),
        (
            "an abstraction",
            &[
                ("c.mch", set),
                (
                    "top.mch",
                    "MACHINE top SEES c VARIABLES x INVARIANT x : S & x /= a INITIALISATION x :: S - {a}
                     OPERATIONS move = x :: S - {a} END",
                ),
                (
                    "m.mch",
                    "REFINEMENT m REFINES top SEES c VARIABLES x INITIALISATION x :: S
                     OPERATIONS move = x :: S END",
                ),
            ],
        ),
        (
            "a precondition above",
            &[
                ("c.mch", set),
                (
                    "top.mch",
                    "MACHINE top SEES c VARIABLES x, bad INVARIANT x : S & bad : BOOL & bad = FALSE
                     INITIALISATION x :: S || bad := FALSE
                     OPERATIONS hit = PRE x = a THEN bad :: BOOL END; move = x :: S END",
                ),
                (
                    "m.mch",
                    "REFINEMENT m REFINES top SEES c VARIABLES x, bad
                     INITIALISATION x :: S || bad := FALSE
                     OPERATIONS hit = bad := TRUE; move = x :: S END",
                ),
            ],
        ),
    ];
    for (i, (what, texts)) in rows.iter().enumerate() {
        let files = Files::new(&format!("files-{i}"), texts);
        expect_named(&files.0.join("m.mch"), &Claim::States, what);
    }
}

/// What only the text of an abstraction names stays where it is, too, although nothing here depends on it.
#[test]
fn elements_that_are_named_above_stay() {
    let texts = [
        ("c.mch", "MACHINE c SETS S = {a, b, c1} END"),
        (
            "top.mch",
            "MACHINE top SEES c VARIABLES x INVARIANT x : S INITIALISATION x := a OPERATIONS move = x := a END",
        ),
        (
            "m.mch",
            "REFINEMENT m REFINES top SEES c VARIABLES x INITIALISATION x :: S OPERATIONS move = x :: S END",
        ),
    ];
    let files = Files::new("above", &texts);
    let found = with_large_stack(|| forged(&files.0.join("m.mch"), &Claim::States)).expect("a thread");
    let Some((true, Err(Rejected::NoSymmetry { why, .. }))) = &found else { panic!("{found:?}") };
    assert_eq!(why, "it moves a, which is named");
}

/// Steps of a formula, and elements of a deferred set, which have names there.
#[test]
fn elements_are_named_by_formulas_and_goals() {
    let machine = "MACHINE m SETS S VARIABLES x INVARIANT x : S INITIALISATION x :: S
                   OPERATIONS pick(y) = PRE y : S & y = x THEN skip END; move = x :: S;
                   r <-- tell = r := x END";
    let files = Files::new("steps", &[("m.mch", machine)]);
    let path = files.0.join("m.mch");
    for claim in [
        Claim::Always("G not [pick(S1)]"),
        Claim::Always("G not [pick & y = S2]"),
        Claim::Always("G {x /= S1}"),
        Claim::Never("x = S3"),
        Claim::Never("x : {S1}"),
    ] {
        let what = match &claim {
            Claim::Always(text) | Claim::Never(text) => *text,
            Claim::States => "",
        };
        expect_named(&path, &claim, what);
    }
}

/// A path of representatives mixes up the instances that fairness speaks of: then no element may be moved.
#[test]
fn fairness_of_instances_moves_nothing() {
    let machine = "MACHINE m SETS S VARIABLES x INVARIANT x : S INITIALISATION x :: S
                   OPERATIONS pick(y) = PRE y : S & y /= x THEN x := y END; move = x :: S END";
    let files = Files::new("fair", &[("m.mch", machine)]);
    let asked = |formula| {
        let found = with_large_stack(|| forged(&files.0.join("m.mch"), &Claim::Always(formula)));
        found.expect("a thread")
    };
    for formula in ["WEF => G {x : S}", "SEF => G {x : S}", "WF(pick(_)) & SF(pick & y /= x) => G {x : S}"] {
        let found = asked(formula);
        assert!(matches!(&found, Some((true, Err(Rejected::NoSymmetry { .. })))), "{formula}: {found:?}");
    }
    for formula in ["G {x : S}", "WF(move) & SF(pick) => G {x : S}"] {
        let found = asked(formula);
        assert!(matches!(&found, Some((true, Ok(n))) if *n > 0), "{formula}: {found:?}");
    }
}

/// Where no element is named the liar says what is true, and is believed: he knows how to write.
#[test]
fn what_is_true_is_accepted() {
    let rows = [
        (frame("x : S"), Claim::States),
        (frame("{y | y : S & y = x} = {x}"), Claim::Never("x /: S")),
        (frame("card({x}) = 1"), Claim::Always("G {card(S - {x}) = 2}")),
        (
            "MACHINE m SETS S; T CONSTANTS k, g PROPERTIES k : S & g : S --> T VARIABLES q
             INVARIANT q : iseq(S) & (q /= [] => g(last(q)) : T) INITIALISATION q := []
             OPERATIONS put(x) = PRE x : S - ran(q) & x /= k THEN q := q <- x END END"
                .to_string(),
            Claim::Never("k : ran(q)"),
        ),
    ];
    for (i, (text, claim)) in rows.iter().enumerate() {
        let files = Files::new(&format!("true-{i}"), &[("m.mch", text)]);
        let found = with_large_stack(|| forged(&files.0.join("m.mch"), claim)).expect("a thread");
        assert!(matches!(found, Some((true, Ok(n))) if n > 0), "{text}: {found:?}");
    }
}
