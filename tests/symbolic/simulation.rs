//! Proof obligations of classical refinements: kept and broken, by their names.

use crate::sequents::{asked, names};
use kanon::run::prove::Status;
use std::path::{Path, PathBuf};

const MACHINE: &str = "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS
  step = PRE x < 3 THEN x := x + 1 END;
  r <-- get = r := x;
  put(nn) = PRE nn : 0..3 THEN x := nn END;
  pick = ANY v WHERE v : 0..3 & v /= x THEN x := v END;
  s <-- any = CHOICE s := x OR s := 3 - x END
END";

const BELOW: &str = "REFINEMENT R REFINES M VARIABLES y INVARIANT y : 0..3 & y = 3 - x
ASSERTIONS x + y = 3
INITIALISATION y := 3
OPERATIONS
  step = PRE y > 0 THEN y := y - 1 END;
  r <-- get = VAR t IN t := 3; r := t - y END;
  put(nn) = IF nn > 1 THEN y := 3 - nn ELSE y := 2; y := y + 1 - nn END;
  pick = y := (y + 1) mod 4;
  s <-- any = IF y = 3 THEN s := 0 ELSE s := y END
END";

fn files(name: &str, below: &str, machine: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulation").join(name);
    std::fs::create_dir_all(&dir).expect("a folder for temporary files");
    std::fs::write(dir.join("M.mch"), machine).expect("a temporary file");
    std::fs::write(dir.join("R.ref"), below).expect("a temporary file");
    dir.join("R.ref")
}

#[test]
fn classical_obligations_have_their_names() {
    let rows: &[(&str, &str, &[&str])] = &[
        ("y := 3\n", "y := 3\n", &[]),
        ("y := 3\n", "y := 2\n", &["R/INITIALISATION/inv2/INV"]),
        ("y := y - 1", "y := y - 2", &["R/step/inv1/INV", "R/step/inv2/INV"]),
        ("PRE y > 0", "PRE y > 1", &["R/step/PRE"]),
        ("PRE y > 0 THEN y := y - 1 END", "SELECT y > 1 THEN y := y - 1 END", &["R/step/ENA"]),
        ("PRE y > 0 THEN y := y - 1 END", "ASSERT y < 3 THEN y := y - 1 END", &["R/step/WD"]),
        ("r := t - y", "r := y", &["R/get/SIM"]),
        ("y := 2; y", "y := 3; y", &["R/put/inv1/INV", "R/put/inv2/INV"]),
        ("IF nn > 1", "IF 6 / y > 1", &["R/put/WD"]),
        ("(y + 1) mod 4", "y", &["R/pick/SIM"]),
        ("(y + 1) mod 4", "y + 1", &["R/pick/SIM"]),
        ("(y + 1) mod 4", "3 - y", &[]),
        ("s := y END", "s := 2 END", &["R/any/SIM"]),
        ("x + y = 3", "x + y = 3; x < 3", &["R/assertion2/THM"]),
    ];
    for (i, (from, to, expected)) in rows.iter().enumerate() {
        assert!(BELOW.contains(from), "{from}");
        let p = asked(&files(&format!("row{i}"), &BELOW.replace(from, to), MACHINE));
        assert_eq!(names(&p, |s| matches!(s, Status::Undecided(_))), [""; 0], "{to}");
        assert_eq!(names(&p, |s| matches!(s, Status::Disproved(_))), *expected, "{to}");
        assert!(names(&p, |s| *s == Status::Proved).len() > 10, "{to}");
    }
    // The machine above has to keep its own invariant; what it promises too much is not asked of the refinement.
    let p = asked(&files("above", BELOW, &MACHINE.replace("x < 3", "x <= 3")));
    let wrong = names(&p, |s| matches!(s, Status::Disproved(_)));
    assert_eq!(wrong, ["M/step/inv1/INV", "R/step/PRE"]);
    // A loop of an operation that is refined has no predicate: that one is not decided, and the others are.
    let put = "x := nn END";
    let above = "x := nn; WHILE x < 0 DO x := x + 1 INVARIANT x : 0..3 VARIANT 3 - x END END";
    assert!(MACHINE.contains(put));
    let p = asked(&files("above-loop", BELOW, &MACHINE.replace(put, above)));
    assert_eq!(names(&p, |s| matches!(s, Status::Undecided(_))), ["R/put/SIM"]);
}

/// A loop is what its invariant says of it: that it holds before, is kept by the body, and that the variant decreases.
#[test]
fn loops_have_obligations_of_their_own() {
    // 3 - nn is reached from 3, one step after the other.
    let loop_ = "y := 3; WHILE y > 3 - nn DO y := y - 1 INVARIANT y : 3 - nn..3 VARIANT y END";
    let rows: &[(&str, &str, &[&str])] = &[
        ("y > 3", "y > 3", &[]),
        ("y > 3 - nn", "y /= 3 - nn", &[]),
        // Too weak: after the loop y may be anything up to 3 - nn.
        ("y : 3 - nn..3", "y : 0..3", &["R/put/inv2/INV"]),
        // Not kept.
        ("y := y - 1", "y := y - 2", &["R/put/LOOP"]),
        // Not so at the start.
        ("y := 3; WHILE", "y := 0; WHILE", &["R/put/LOOP"]),
        // Grows, and is negative.
        ("VARIANT y", "VARIANT 3 - y", &["R/put/LOOP"]),
        ("VARIANT y", "VARIANT y - 1", &["R/put/LOOP"]),
        // The body has no value at some turn, or cannot go on.
        ("y := y - 1", "y := y - 4 / (y - 1)", &["R/put/WD"]),
        ("y := y - 1", "ANY v WHERE v : 2..3 & v = y - 1 THEN y := v END", &["R/put/ENA"]),
        ("y := y - 1", "ANY v WHERE v : 0..2 & v = y - 1 THEN y := v END", &[]),
        ("y := y - 1", "ASSERT y > 1 THEN y := y - 1 END", &["R/put/WD"]),
    ];
    let whole = "IF nn > 1 THEN y := 3 - nn ELSE y := 2; y := y + 1 - nn END";
    // After a loop more is possible than there is, so that this says nothing about whether there is a way on.
    let below = BELOW.replace(whole, &format!("BEGIN {loop_}; SELECT y < 4 THEN skip END END"));
    let p = asked(&files("loop-select", &below, MACHINE));
    assert_eq!(names(&p, |s| matches!(s, Status::Undecided(_))), ["R/put/ENA"]);
    assert_eq!(names(&p, |s| matches!(s, Status::Disproved(_))), [""; 0]);
    assert!(BELOW.contains(whole));
    for (i, (from, to, expected)) in rows.iter().enumerate() {
        assert!(loop_.contains(from), "{from}");
        let below = BELOW.replace(whole, &format!("BEGIN {} END", loop_.replacen(from, to, 1)));
        let p = asked(&files(&format!("loop{i}"), &below, MACHINE));
        assert_eq!(names(&p, |s| matches!(s, Status::Undecided(_))), [""; 0], "{to}");
        let mut wrong = names(&p, |s| matches!(s, Status::Disproved(_)));
        wrong.dedup();
        for name in *expected {
            assert!(wrong.iter().any(|w| w == name), "{to}: {name} is not among {wrong:?}");
        }
        assert_eq!(wrong.is_empty(), expected.is_empty(), "{to}: {wrong:?}");
    }
}
