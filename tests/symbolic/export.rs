//! Files for other tools: what abc, z3 and CaDiCaL say about a machine's file against explicit search. Without a program
//! its test is skipped, unless KANON_REQUIRE_ABC or KANON_REQUIRE_SMT demands it.

use crate::dense::{expected, options, project, text};
use crate::machines::count;
use kanon::explore::Options;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::Decision;
use kanon::run::export::{Form, Task, export};
use kanon::run::{Deadline, Project};
use kanon::symbolic::encode::Mutant;
use kanon_solver::aiger::Beyond;
use kanon_solver::sat::Sat;
use kanon_solver::solver::{Outcome, Solver, Stop};
use kanon_solver::term::{Bool, Terms};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

fn has(program: &str, demanded: &str) -> bool {
    let found = Command::new(program).arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        assert!(std::env::var_os(demanded).is_none(), "{program} is not installed");
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// A file that is gone when its user is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(std::env::temp_dir().join(format!("kanon-{}-{name}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn written(project: &Project, form: Form, options: &Options, mutant: Mutant) -> Option<Vec<u8>> {
    let deadline = Deadline::after(Some(Duration::from_secs(4)));
    let task = Task { options: options.clone(), mutant, ..Task::new(form) };
    export(project, &task, &deadline).ok().map(|e| e.bytes)
}

/// Whether abc proves that nothing bad is reached.
fn pdr(bytes: &[u8], file: &Path) -> Option<bool> {
    std::fs::write(file, bytes).expect("a file");
    let script = format!("read_aiger {}; orpos; pdr -T 20", file.display());
    let out = Command::new("berkeley-abc").args(["-c", &script]).output().expect("abc");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    match (said.contains("Property proved"), said.contains("was asserted in frame")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => {
            assert!(!said.contains("rror"), "{said}");
            None
        }
    }
}

#[test]
fn abc_agrees_with_explicit_search() {
    if !has("berkeley-abc", "KANON_REQUIRE_ABC") {
        return;
    }
    let file = Scratch::new("machine.aig");
    let (mut holds, mut fails) = (0, 0);
    for seed in 0..count("KANON_DENSE_MACHINES", 50) {
        let machine = text(seed);
        let project = project(&machine);
        let options = options(seed);
        let Some((verdict, _)) = expected(&project, seed) else { continue };
        let form = Form::Aiger { is_text: false };
        let Some(bytes) = written(&project, form, &options, Mutant::None) else { continue };
        let Some(proved) = pdr(&bytes, &file.0) else { continue };
        assert_eq!(proved, verdict == Decision::Holds, "seed {seed}\n{machine}");
        holds += usize::from(proved);
        fails += usize::from(!proved);
    }
    println!("{holds} proved, {fails} failed");
    assert!(holds >= 15 && fails >= 10, "{holds} proved, {fails} failed: the machines say nothing");
}

/// The models whose headers say what engines answer; and one of them with a planted mistake.
#[test]
fn abc_agrees_about_models() {
    if !has("berkeley-abc", "KANON_REQUIRE_ABC") {
        return;
    }
    let file = Scratch::new("model.aig");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/symbolic");
    for (name, expected) in [("Blocks", true), ("Breaks", false), ("Levels", true), ("Undefined", false)] {
        let path = folder.join(format!("{name}.mch"));
        let project = Project::open(&path, &ScopeArgs::default()).expect("a model");
        let options = Options { deadlock: false, ..Options::default() };
        let form = Form::Aiger { is_text: false };
        let bytes = written(&project, form, &options, Mutant::None).expect(name);
        assert_eq!(pdr(&bytes, &file.0), Some(expected), "{name}");
        if name == "Breaks" {
            // What breaks the invariant has no room; if that were forgotten, abc would prove it.
            let bytes = written(&project, form, &options, Mutant::NothingOutside).expect(name);
            assert_eq!(pdr(&bytes, &file.0), Some(true), "the planted mistake is not found");
        }
    }
}

/// Whether CaDiCaL finds a model of a DIMACS file.
fn cadical(text: &str) -> bool {
    let mut terms = Terms::new();
    let mut lines = text.lines().skip_while(|l| l.starts_with('c'));
    let header: Vec<&str> = lines.next().expect("a header").split(' ').collect();
    let wires: usize = header[2].parse().expect("a number");
    let vars: Vec<Bool> = (0..wires)
        .map(|n| {
            let v = terms.bool_var(n.to_string());
            terms.of_bool(v)
        })
        .collect();
    let mut solver = Sat::new(Stop::never());
    let mut clauses = 0;
    for line in lines {
        let parts: Vec<i64> = line.split(' ').map(|n| n.parse().expect("a number")).collect();
        assert_eq!(parts.last(), Some(&0));
        let lits = parts[..parts.len() - 1].iter().map(|&n| {
            let var = vars[n.unsigned_abs() as usize - 1];
            if n < 0 { !var } else { var }
        });
        let clause = terms.or(lits.collect::<Vec<_>>());
        solver.assert(&terms, clause);
        clauses += 1;
    }
    assert_eq!(header[3], clauses.to_string());
    match solver.check(&terms, &[]) {
        Outcome::Sat(_) => true,
        Outcome::Unsat(_) => false,
        Outcome::Unknown(why) => panic!("{why:?}"),
    }
}

fn z3(text: &[u8], file: &Path) -> Option<bool> {
    std::fs::write(file, text).expect("a file");
    let out = Command::new("z3").arg("-T:20").arg(file).output().expect("z3");
    match String::from_utf8_lossy(&out.stdout).trim() {
        "sat" => Some(true),
        "unsat" => Some(false),
        "unknown" | "timeout" => None,
        other => panic!("{other}"),
    }
}

#[test]
fn paths_are_as_long_as_those_of_explicit_search() {
    let has_z3 = has("z3", "KANON_REQUIRE_SMT");
    let file = Scratch::new("path.smt2");
    let (mut found, mut none) = (0, 0);
    for seed in 0..count("KANON_DENSE_MACHINES", 50) {
        let machine = text(seed);
        let project = project(&machine);
        let options = options(seed);
        let Some((verdict, steps)) = expected(&project, seed) else { continue };
        let shortest = (verdict == Decision::Fails).then_some(steps);
        for depth in [0, shortest.unwrap_or(2).saturating_sub(1).min(4), shortest.unwrap_or(2).min(4)] {
            let is_there = shortest.is_some_and(|n| n <= depth);
            let Some(text) = written(&project, Form::Dimacs { depth }, &options, Mutant::None) else {
                continue;
            };
            let text = String::from_utf8(text).expect("text");
            let said = cadical(&text);
            assert_eq!(said, is_there, "seed {seed}, {depth} steps\n{machine}");
            found += usize::from(said);
            none += usize::from(!said);
            if has_z3 && seed.is_multiple_of(4) {
                let form = Form::Smt2 { depth };
                let text = written(&project, form, &options, Mutant::None).expect("what DIMACS had");
                let said = z3(&text, &file.0);
                assert!(
                    said.is_none_or(|s| s == is_there),
                    "seed {seed}, {depth} steps: {said:?}\n{machine}"
                );
            }
        }
    }
    println!("{found} with a path, {none} without");
    assert!(found >= 20 && none >= 20, "{found} with a path, {none} without");
}

/// What cannot be said in full is not said in part.
#[test]
fn what_has_no_formula_is_refused_by_name() {
    let text = |text: &str| {
        let loaded = kanon::model::load::load_text("m.mch", text);
        let model = loaded.model.expect("a machine");
        let (scope, _) = kanon::model::scope::scope(&model, &ScopeArgs::default()).expect("a scope");
        let opened = kanon::model::open::Opened { model, scope, ..Default::default() };
        Project { opened, ..Project::default() }
    };
    let why = |machine: &str| {
        let task = Task::new(Form::Aiger { is_text: true });
        export(&text(machine), &task, &Deadline::never()).err().unwrap_or_default()
    };
    let set =
        "MACHINE m VARIABLES s INVARIANT s <: INTEGER INITIALISATION s := {1} OPERATIONS op = s := {2} END";
    assert!(why(set).contains("there is no formula"), "{}", why(set));
    let empty = "MACHINE m CONSTANTS c PROPERTIES c : 1..3 & c > 5 VARIABLES x INVARIANT x : 0..3 INITIALISATION x := c \
                 OPERATIONS op = x := 1 END";
    assert!(why(empty).contains("PROPERTIES cannot be satisfied"), "{}", why(empty));
    let undefined = "MACHINE m CONSTANTS c PROPERTIES c : 0..3 & 6 / c > 2 VARIABLES x INVARIANT x : 0..3 \
                     INITIALISATION x := c OPERATIONS op = x := 1 END";
    assert!(why(undefined).contains("PROPERTIES have no value"), "{}", why(undefined));
}

/// Numbers that do not fit: with all of them allowed there is no proof that is none, without them no error that is none.
#[test]
fn numbers_beyond_the_width() {
    if !has("berkeley-abc", "KANON_REQUIRE_ABC") {
        return;
    }
    let file = Scratch::new("width.aig");
    let machine = |bad: &str| {
        let text = format!(
            "MACHINE m VARIABLES x INVARIANT x : INTEGER & {bad} INITIALISATION x := 0 OPERATIONS op = x := x + 7 END"
        );
        let loaded = kanon::model::load::load_text("m.mch", &text);
        let model = loaded.model.expect("a machine");
        let (scope, _) = kanon::model::scope::scope(&model, &ScopeArgs::default()).expect("a scope");
        let opened = kanon::model::open::Opened { model, scope, ..Default::default() };
        Project { opened, ..Project::default() }
    };
    let ask = |bad: &str, beyond: Beyond| {
        let task = Task { width: 4, beyond, ..Task::new(Form::Aiger { is_text: false }) };
        let exported = export(&machine(bad), &task, &Deadline::never()).unwrap_or_else(|w| panic!("{w}"));
        assert!(exported.notes.iter().any(|n| n.contains("4 bits")));
        pdr(&exported.bytes, &file.0)
    };
    // True, and provable at any width: numbers beyond are no smaller than the largest.
    assert_eq!(ask("x >= 0", Beyond::Allowed), Some(true));
    // False, but only beyond four bits.
    assert_eq!(ask("x < 21", Beyond::Allowed), Some(false));
    assert_eq!(ask("x < 21", Beyond::Excluded), Some(true));
    assert_eq!(ask("x < 7", Beyond::Excluded), Some(false));
}
