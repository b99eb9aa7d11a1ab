//! `kanon refine` against mistakes in itself: the smallest models by which each check that might be forgotten is seen.

use super::refine::{ask, folder};
use kanon::refine::Mistake;
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

/// How it is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Plain,
    Traces,
    Deadlock,
}

/// What a model is for, its files, how it is asked, and the answer.
type Row = (&'static str, Files, How, &'static str);

/// The answer to a row where a mistake is planted.
fn answered(folder: &str, (_, files, how, _): &Row, planted: Option<Mistake>) -> String {
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let (traces, deadlock) = (*how == How::Traces, *how == How::Deadlock);
    answer(folder, &files, &Task { traces, deadlock, planted, ..Task::default() })
}

/// Everything that is not as expected, told at once.
fn all(kind: &str, table: &[Row]) {
    let mut wrong = String::new();
    for (i, row) in table.iter().enumerate() {
        let found = answered(&format!("{kind}{i}"), row, None);
        if found != row.3 {
            wrong += &format!("{}: {found}, expected {}\n", row.0, row.3);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Each mistake of following a step is seen by the answer to one of the models at least.
#[test]
fn every_planted_mistake_is_found_by_name() {
    let table: Vec<Row> = of_events_table().into_iter().chain(of_operations_table()).collect();
    let mut missed = vec![];
    for mistake in Mistake::ALL {
        let found = table.iter().enumerate().find_map(|(i, row)| {
            let answer = answered(&format!("planted{mistake:?}{i}"), row, Some(mistake));
            (answer != row.3).then(|| format!("{}: {answer} instead of {}", row.0, row.3))
        });
        match found {
            Some(found) => println!("{mistake:?}: {found}"),
            None => missed.push(mistake),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
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
    all("events", &of_events_table());
}

fn of_events_table() -> Vec<Row> {
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
    let plain = table.into_iter().map(|(what, files, expected)| (what, files, How::Plain, expected));
    let blocked = (
        "the abstract event goes on where its refinement is stuck",
        events(
            "event e where @g x < 2 then @a x ≔ x + 1 end",
            "x = y",
            0,
            "event e refines e where @h y < 1 then @b y ≔ y + 1 end",
        ),
        How::Deadlock,
        "DLF R",
    );
    plain.chain([blocked]).collect()
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
    all("operations", &of_operations_table());
}

fn of_operations_table() -> Vec<Row> {
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
    vec![
        (
            "an assertion is false with the second of two abstract states",
            classical("set = x :: 0..1", "y : 0..1 & x >= y ASSERTIONS x + y = 0", "set = y := 0"),
            How::Plain,
            "THM R",
        ),
        ("what another machine does is allowed for", seen(2), How::Plain, "holds"),
        ("what another machine does breaks the invariant", seen(1), How::Plain, "INV R"),
        ("four levels", tower(&[up, up, up, up]), How::Plain, "holds"),
        (
            "a level in between is blocked",
            tower(&[
                "go = BEGIN v := 1 END",
                "go = SELECT v = 5 THEN v := 1 END",
                "go = SELECT v = 5 THEN v := 1 END",
            ]),
            How::Plain,
            "ENA N",
        ),
        (
            "the level above follows, and the one above that does not",
            tower(&["go = BEGIN v := 1 END", "go = BEGIN v := 2 END", "go = BEGIN v := 2 END"]),
            How::Plain,
            "SIM N",
        ),
        (
            "blocked for one parameter",
            classical("go(p) = PRE p : 0..1 THEN x := p END", "y = x", "go(p) = SELECT p = 0 THEN y := p END"),
            How::Plain,
            "ENA R",
        ),
        ("no value below", classical("go = x := 0", "y = x", "go = y := 1 / y"), How::Plain, "WD R"),
        ("no value below, by traces", classical("go = x := 0", "y = x", "go = y := 1 / y"), How::Traces, "WD R"),
        ("no value above", classical("go = x := 1 / x", "y = x", "go = y := 0"), How::Plain, "WD R"),
        ("no value above, by traces", classical("go = x := 1 / x", "y = x", "go = y := 0"), How::Traces, "WD R"),
        (
            "not all choices are tried",
            classical("go = x := 0", "y = x", "go = ANY z WHERE z : NATURAL & z * z >= 0 THEN y := 0 END"),
            How::Plain,
            "unknown",
        ),
        (
            "not all choices are tried, by traces",
            classical("go = x := 0", "y = x", "go = ANY z WHERE z : NATURAL & z * z >= 0 THEN y := 0 END"),
            How::Traces,
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
            How::Plain,
            "unknown",
        ),
        (
            "results differ",
            classical("r <-- get = r := x", "y = x", "r <-- get = r := y + 1"),
            How::Plain,
            "SIM R",
        ),
        (
            "results differ, by traces",
            classical("r <-- get = r := x", "y = x", "r <-- get = r := y + 1"),
            How::Traces,
            "TRACE R",
        ),
        (
            "a conjunct about concrete variables only",
            classical("go = x := 0", "y : 0..1 & x = 0", "go = y := 2"),
            How::Plain,
            "INV R",
        ),
        (
            "an operation of the refinement changes a variable that it shares",
            vec![
                (
                    "R.ref",
                    "REFINEMENT R REFINES M VARIABLES x, y INVARIANT y : 0..9 INITIALISATION x, y := 0, 0 OPERATIONS \
                     go = BEGIN x := 1; y := 1 END END"
                        .into(),
                ),
                (
                    "M.mch",
                    "MACHINE M VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0 OPERATIONS go = x := 2 END".into(),
                ),
            ],
            How::Plain,
            "SIM R",
        ),
        (
            "an operation that only the refinement has changes a variable that it shares",
            vec![
                (
                    "R.ref",
                    "REFINEMENT R REFINES M VARIABLES x INITIALISATION x := 0 OPERATIONS other = x := 1 END".into(),
                ),
                ("M.mch", "MACHINE M VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0 END".into()),
            ],
            How::Plain,
            "EQL R",
        ),
    ]
}
