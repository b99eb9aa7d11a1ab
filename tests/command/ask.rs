//! `kanon eval` and `kanon repl`: questions, and steps taken by hand.

use crate::cli::SCHEDULER;
use crate::limits::wait;
use crate::program::{FAILS, HOLDS, Ran, UNKNOWN, WRONG, file, kanon, program};
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

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
