//! `kanon refine` against mistakes in itself: the smallest models by which each check that might be forgotten is seen.

use super::refine::{ask, folder};
use kanon::run::answer::Decision;
use kanon::run::refine::Task;

/// `holds`, `unknown`, or the obligation that is broken, by its name where it has one, and the level.
fn answer(name: &str, files: &[(&str, &str)], task: &Task) -> String {
    let dir = folder(name, files);
    match ask(&dir.join(files[0].0), task) {
        Err(why) => format!("refused: {why}"),
        Ok(r) => match (r.verdict, r.finding) {
            (Decision::Fails, Some(f)) => format!("{} {}", f.name.unwrap_or(f.obligation.into()), f.level),
            (verdict, _) => verdict.name().into(),
        },
    }
}

/// The names of files and their texts.
type Files = Vec<(&'static str, String)>;

/// Everything that is not as expected, told at once. With `true` by traces.
fn all(kind: &str, table: &[(&str, Files, bool, &str)]) {
    let mut wrong = String::new();
    for (i, (what, files, traces, expected)) in table.iter().enumerate() {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let task = Task { traces: *traces, ..Task::default() };
        let found = answer(&format!("{kind}{i}"), &files, &task);
        if found != *expected {
            wrong += &format!("{what}: {found}, expected {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// An abstract machine with x, which is 0 at first, and one with y instead.
fn events(above: &str, glue: &str, start: u64, below: &str) -> Files {
    let text = format!(
        "machine M variables x invariants @t x ∈ ℕ events\n event INITIALISATION then @i x ≔ 0 end\n {above}\nend\n\
         machine R refines M variables y invariants @glue {glue} events\n \
         event INITIALISATION then @i y ≔ {start} end\n {below}\nend\n"
    );
    vec![("t.eventb", text)]
}

#[test]
fn of_events() {
    let table = [
        (
            "of two ways to go, only one is followed",
            events("event e then @a x ≔ 1 end", "x = y", 0, "event e refines e then @b y :∈ {1, 2} end"),
            "e/glue/INV R",
        ),
        (
            "a parameter that nothing but the guard sees",
            events(
                "event e any q where @g q = 1 end",
                "x = y",
                0,
                "event e refines e any q where @h q ∈ 1‥2 end",
            ),
            "e/g/GRD R",
        ),
        (
            "a theorem in an abstract guard",
            events(
                "event e where @g x ≥ 0 theorem @t x ≥ 1 then @a x ≔ 1 end",
                "x = y",
                0,
                "event e refines e where @h y ≥ 0 then @b y ≔ 1 end",
            ),
            "e/t/THM M",
        ),
        (
            "an element that the abstract variable cannot be",
            events("event e then @a x :∈ {0, 1} end", "x = y", 0, "event e refines e then @b y ≔ 2 end"),
            "e/glue/INV R",
        ),
        (
            "the same of a predicate",
            events("event e then @a x :∣ x' ∈ {0, 1} end", "x = y", 0, "event e refines e then @b y ≔ 2 end"),
            "e/glue/INV R",
        ),
        (
            "a witness for a new value that is not glued",
            events(
                "event e then @a x :∈ 0‥3 end",
                "x ≥ y",
                0,
                "event e refines e with @x' x' < 1 then @b y ≔ 1 end",
            ),
            "e/glue/INV R",
        ),
        ("another start", events("", "x = y", 1, ""), "INITIALISATION/glue/INV R"),
        (
            "a variable of both with another start",
            vec![(
                "t.eventb",
                "machine M variables x invariants @t x ∈ ℕ events event INITIALISATION then @i x ≔ 0 end end\n\
                 machine R refines M variables x events event INITIALISATION then @j x ≔ 1 end end\n"
                    .to_string(),
            )],
            "INITIALISATION/i/SIM R",
        ),
        (
            "one of two abstract states goes on",
            events(
                "event c then @a x :∈ {0, 1} end event u where @g x = 1 then @a x ≔ 0 end",
                "x ≤ y",
                0,
                "event c refines c then @b y ≔ 1 end event u refines u where @h y = 1 then @b y ≔ 0 end",
            ),
            "holds",
        ),
        (
            "the abstract state that goes on is beyond MAXINT",
            events(
                "event c then @a x :∈ ℕ end event u where @g x = 1000 then @a x ≔ 0 end",
                "y ∈ 0‥1",
                0,
                "event c refines c then @b y ≔ 1 end event u refines u where @h y = 1 then @b y ≔ 0 end",
            ),
            "unknown",
        ),
        (
            "not all values of a parameter are tried",
            events(
                "event e then @a x ≔ 0 end",
                "x = y",
                0,
                "event e refines e any z where @h z ∈ ℕ then @b y ≔ 0 end",
            ),
            "unknown",
        ),
        (
            "a variant that an anticipated event has left to its refinement",
            vec![(
                "t.eventb",
                "machine M variables x invariants @t x ∈ ℕ events\n event INITIALISATION then @i x ≔ 0 end\n \
                 anticipated event e then @a x ≔ 0 end\nend\n\
                 machine R refines M variables y invariants @glue x = y variant @v y events\n \
                 event INITIALISATION then @i y ≔ 0 end\n \
                 convergent event e refines e then @b y ≔ 0 end\nend\n"
                    .to_string(),
            )],
            "e/VAR R",
        ),
    ];
    all("events", &table.map(|(what, files, expected)| (what, files, false, expected)));
}

/// An abstract machine with x, which is 0 at first, and one with y instead.
fn classical(above: &str, glue: &str, below: &str) -> Files {
    vec![
        (
            "R.ref",
            format!(
                "REFINEMENT R REFINES M VARIABLES y INVARIANT {glue} INITIALISATION y := 0 OPERATIONS {below} END"
            ),
        ),
        (
            "M.mch",
            format!("MACHINE M VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0 OPERATIONS {above} END"),
        ),
    ]
}

/// A tower above R, the operation of each level with its own variable for `v`.
fn tower(operations: &[&str]) -> Files {
    let names = [("M.mch", "M", "a"), ("N.ref", "N", "b"), ("P.ref", "P", "c"), ("R.ref", "R", "d")];
    let level = |(i, operation): (usize, &&str)| {
        let (file, name, v) = names[i];
        let operation = operation.replace('v', v);
        let text = match i {
            0 => format!(
                "MACHINE M VARIABLES a INVARIANT a : 0..9 INITIALISATION a := 0 OPERATIONS {operation} END"
            ),
            _ => {
                let (_, above, w) = names[i - 1];
                format!(
                    "REFINEMENT {name} REFINES {above} VARIABLES {v} INVARIANT {v} = {w} INITIALISATION {v} := 0 \
                     OPERATIONS {operation} END"
                )
            }
        };
        (file, text)
    };
    operations.iter().enumerate().map(level).rev().collect()
}

#[test]
fn of_operations() {
    let up = "go = SELECT v < 2 THEN v := v + 1 END";
    let seen = |bound: u64| {
        vec![
            (
                "R.ref",
                format!(
                    "REFINEMENT R REFINES M SEES S VARIABLES y INVARIANT y = x & v <= {bound} INITIALISATION y := 0 END"
                ),
            ),
            ("M.mch", "MACHINE M SEES S VARIABLES x INVARIANT x = 0 INITIALISATION x := 0 END".into()),
            (
                "S.mch",
                "MACHINE S VARIABLES v INVARIANT v : 0..2 INITIALISATION v := 0 \
                 OPERATIONS up = PRE v < 2 THEN v := v + 1 END END"
                    .into(),
            ),
        ]
    };
    let table = [
        (
            "an assertion is false with the second of two abstract states",
            classical("set = x :: 0..1", "y : 0..1 & x >= y ASSERTIONS x + y = 0", "set = y := 0"),
            false,
            "THM R",
        ),
        ("what another machine does is allowed for", seen(2), false, "holds"),
        ("what another machine does breaks the invariant", seen(1), false, "INV R"),
        ("four levels", tower(&[up, up, up, up]), false, "holds"),
        (
            "a level in between is blocked",
            tower(&[
                "go = BEGIN v := 1 END",
                "go = SELECT v = 5 THEN v := 1 END",
                "go = SELECT v = 5 THEN v := 1 END",
            ]),
            false,
            "ENA N",
        ),
        (
            "blocked for one parameter",
            classical("go(p) = PRE p : 0..1 THEN x := p END", "y = x", "go(p) = SELECT p = 0 THEN y := p END"),
            false,
            "ENA R",
        ),
        ("no value below", classical("go = x := 0", "y = x", "go = y := 1 / y"), false, "WD R"),
        ("no value below, by traces", classical("go = x := 0", "y = x", "go = y := 1 / y"), true, "WD R"),
        ("no value above", classical("go = x := 1 / x", "y = x", "go = y := 0"), false, "WD R"),
        ("no value above, by traces", classical("go = x := 1 / x", "y = x", "go = y := 0"), true, "WD R"),
        (
            "not all choices are tried",
            classical("go = x := 0", "y = x", "go = ANY z WHERE z : NATURAL & z * z >= 0 THEN y := 0 END"),
            false,
            "unknown",
        ),
        (
            "not all choices are tried, by traces",
            classical("go = x := 0", "y = x", "go = ANY z WHERE z : NATURAL & z * z >= 0 THEN y := 0 END"),
            true,
            "unknown",
        ),
        (
            "not all constants are tried",
            vec![
                ("R.ref", "REFINEMENT R REFINES M VARIABLES y INVARIANT y = x INITIALISATION y := 0 OPERATIONS go = y := 0 END".into()),
                (
                    "M.mch",
                    "MACHINE M CONSTANTS k PROPERTIES k : NATURAL & k * k >= 0 VARIABLES x INVARIANT x = 0 \
                     INITIALISATION x := 0 OPERATIONS go = x := 0 END"
                        .into(),
                ),
            ],
            false,
            "unknown",
        ),
    ];
    all("operations", &table);
}
