//! What has no formula, no solver or no time: the program says so, in words and in its exit code, and soon.

use crate::program::{FAILS, HOLDS, Ran, UNKNOWN, WRONG, file, kanon, program, text};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn machine(name: &str, body: &str) -> PathBuf {
    file("formulas", &format!("{name}.mch"), format!("MACHINE {name} {body} END"))
}

/// Everything that an engine can do within this time has to be done, and little more.
fn within(seconds: u64, run: impl FnOnce() -> Ran) -> Ran {
    let begin = Instant::now();
    let ran = run();
    let took = begin.elapsed();
    // The machine may be busy with other tests.
    assert!(took < Duration::from_secs(seconds + 10), "{took:?}: {}{}", ran.out, ran.err);
    ran
}

const ENGINES: [&str; 4] = ["bmc", "bmc-star", "kinduction", "ic3"];

/// Products of unknowns without bounds: no width of integers decides them, and an SMT solver need not.
#[test]
fn products_of_integers_without_bounds() {
    let body = "VARIABLES x, y INVARIANT x : INTEGER & y : INTEGER & x * x * x + y * y * y /= 33 \
                INITIALISATION x :: INTEGER || y :: INTEGER OPERATIONS op = skip";
    let path = machine("Products", body);
    for solver in ["sat", "auto"] {
        let ran = within(4, || {
            kanon(&[
                "check",
                text(&path),
                "--engine",
                "bmc",
                "--solver",
                solver,
                "--timeout",
                "4",
                "--depth",
                "1",
            ])
        });
        // There are such numbers, but they have 16 digits: a path that is found is run by the evaluator.
        assert!([UNKNOWN, FAILS].contains(&ran.code), "{solver}: {}{}", ran.out, ran.err);
    }
    // The same with a proof that needs no numbers.
    let path = machine(
        "Squares",
        "VARIABLES x INVARIANT x : INTEGER & x * x >= 0 INITIALISATION x := 0 OPERATIONS op = x := x * x - x",
    );
    let ran =
        within(4, || kanon(&["check", text(&path), "--engine", "ic3", "--solver", "sat", "--timeout", "4"]));
    assert!([UNKNOWN, HOLDS].contains(&ran.code), "{}{}", ran.out, ran.err);
}

/// A state that is a set over an infinite type, and functions of functions: refused with the place.
#[test]
fn what_has_no_shape_is_refused_by_name_and_place() {
    let rows = [
        (
            "Infinite",
            "VARIABLES s INVARIANT s <: INTEGER INITIALISATION s := {} OPERATIONS op = s := s \\/ {1}",
        ),
        (
            "Whole",
            "VARIABLES s INVARIANT s <: INTEGER INITIALISATION s := NATURAL OPERATIONS op = s := s - {1}",
        ),
        (
            "Higher",
            "VARIABLES f INVARIANT f : (INTEGER --> INTEGER) --> (INTEGER --> INTEGER) \
             INITIALISATION f := %g.(g : INTEGER --> INTEGER | %x.(x : INTEGER | g(x) + 1)) \
             OPERATIONS op = f := %g.(g : INTEGER --> INTEGER | f(f(g)))",
        ),
        (
            "Many",
            "SETS S CONSTANTS k PROPERTIES k : POW(POW(S)) VARIABLES x INVARIANT x : POW(POW(POW(S))) \
             INITIALISATION x := {k} OPERATIONS op = x := {}",
        ),
    ];
    for (name, body) in rows {
        let path = machine(name, body);
        for engine in ENGINES {
            let ran = within(5, || {
                kanon(&["check", text(&path), "--engine", engine, "--timeout", "5", "--setsize", "5"])
            });
            assert_eq!(ran.code, UNKNOWN, "{name} {engine}: {}{}", ran.out, ran.err);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(
                said.contains("no formula") && said.contains(&format!("{name}.mch")),
                "{name} {engine}: {said}"
            );
        }
    }
}

/// Quantifiers over very many values cost time in the encoder, not in a solver: the limit is kept all the same.
#[test]
fn a_time_limit_ends_the_encoder_too() {
    let body = "SETS S CONSTANTS f, g, h PROPERTIES f : POW(S) --> POW(S) & g : POW(S) --> POW(S) & h : POW(S) <-> POW(S) & \
                !(a, b, c).(a <: S & b <: S & c <: S => f(a \\/ b) \\/ g(b \\/ c) /= f(c) \\/ h[{a}](c)) & f /= g \
                VARIABLES x INVARIANT x : POW(S) <-> POW(S) INITIALISATION x := {} OPERATIONS op = x := x <+ f";
    let body = body.replace("h[{a}](c)", "union(h[{a, c}])");
    let path = machine("Slow", &body);
    for engine in ENGINES {
        let ran = within(2, || {
            kanon(&["check", text(&path), "--engine", engine, "--timeout", "2", "--setsize", "7"])
        });
        assert_eq!(ran.code, UNKNOWN, "{engine}: {}{}", ran.out, ran.err);
    }
}

/// Programs in the place of z3 and cvc5: they die, hang or talk nonsense. Nothing is believed, and the run ends.
#[cfg(unix)]
#[test]
fn a_solver_that_is_none() {
    use std::os::unix::fs::PermissionsExt;
    let path = machine(
        "Free",
        "VARIABLES x INVARIANT x : INTEGER & x /= 5 INITIALISATION x := 0 OPERATIONS up = x := x + 1",
    );
    let scripts = [
        ("dies", "exit 1"),
        ("dies-later", "read x; read x; kill -9 $$"),
        ("nonsense", "while read x; do echo 'perhaps (maybe'; done"),
        ("liar", "while read x; do echo unsat; done"),
        ("sat-always", "while read x; do echo sat; done"),
        ("garbage", "head -c 5000 /dev/urandom; cat >/dev/null"),
        ("errors", "while read x; do echo '(error \"out of memory\")'; done"),
        ("hangs", "sleep 100"),
        ("floods", "yes '('"),
    ];
    for (name, script) in scripts {
        let folder = file(&format!("formulas/{name}"), "z3", format!("#!/bin/sh\n{script}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&folder, mode.clone()).expect("a program");
        let cvc5 = file(&format!("formulas/{name}"), "cvc5", format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(&cvc5, mode).expect("a program");
        let bin = folder.parent().expect("a folder").display().to_string();
        let search = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        for solver in ["z3", "cvc5"] {
            let args = [
                "check",
                text(&path),
                "--engine",
                "bmc",
                "--no-deadlock",
                "--solver",
                solver,
                "--timeout",
                "3",
            ];
            let ran = within(3, || {
                program().args(args).env("PATH", &search).output().expect("the program starts").into()
            });
            // One that says there is nothing at all may be believed that there is no initial state, and no more.
            let codes: &[i32] = if name == "liar" { &[UNKNOWN, WRONG] } else { &[UNKNOWN] };
            assert!(codes.contains(&ran.code), "{name} {solver}: {}{}", ran.out, ran.err);
        }
    }
    // Without one there is the built-in solver, and an explicit wish names the package.
    let empty = file("formulas/empty", "none", "").parent().expect("a folder").display().to_string();
    let ask = |solver: &str| -> Ran {
        let args =
            ["check", text(&path), "--engine", "bmc", "--no-deadlock", "--solver", solver, "--timeout", "20"];
        program().args(args).env("PATH", &empty).output().expect("the program starts").into()
    };
    assert_eq!(ask("auto").code, FAILS);
    let ran = ask("z3");
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    assert!(format!("{}{}", ran.out, ran.err).contains("install the package z3"), "{}{}", ran.out, ran.err);
}
