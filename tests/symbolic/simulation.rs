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
    // A loop has no predicate: the operation is not decided, and the others are.
    let below = "WHILE y > 0 DO y := y - 1 INVARIANT y : 0..3 VARIANT y END; y := 3 - nn";
    let below = BELOW.replace("y := 3 - nn", below);
    let p = asked(&files("loop", &below, MACHINE));
    assert_eq!(names(&p, |s| *s != Status::Proved), ["R/put/SIM"]);
}
