//! What has no start has no Holds: constants that were not solved, no valuation, no initial state, or an enumeration that was
//! cut short before any was found. And starts are explored as they come, which changes no answer.

use crate::support::random::Machine;
use crate::support::{explore, solved};
use kanon::explore::Options;
use kanon::model::load::load_text;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::run::{Deadline, Task, check_file};
use kanon::symmetry::Strategy;
use kanon::system::{self, First, Stop};
use kanon::verdict::{Decision, Verdict, Why};
use std::sync::Arc;
use std::time::Duration;

fn machine(head: &str, initialisation: &str) -> String {
    format!(
        "MACHINE m {head} VARIABLES x INVARIANT x : INTEGER INITIALISATION {initialisation} \
         OPERATIONS step = x := x + 0 END"
    )
}

fn verdict(text: &str, options: &Options) -> Verdict<kanon::explore::Finding> {
    let model = load_text("m.mch", text).model.expect("a model");
    let args = ScopeArgs { maxint: Some(3.into()), ..ScopeArgs::default() };
    let scope = scope(&model, &args).expect("sizes").0;
    let (machine, _) = solved(&model, &scope, 100, &Stop::default());
    explore(&machine, options, &Stop::default()).verdict
}

fn without_deadlock() -> Options {
    Options { deadlock: false, ..Options::default() }
}

#[test]
fn an_initialisation_without_outcome_is_not_a_holds() {
    let text = machine("", "x :: {}");
    assert_eq!(verdict(&text, &without_deadlock()), Verdict::Unknown(Why::NoInitialState));
    // With several valuations, too.
    let text = machine("CONSTANTS n PROPERTIES n : 1..3", "SELECT n > 5 THEN x := 0 END");
    assert_eq!(verdict(&text, &without_deadlock()), Verdict::Unknown(Why::NoInitialState));
    // Some have one: the others are deadlocks of their own, and what is there holds.
    let text = machine("CONSTANTS n PROPERTIES n : 1..3", "SELECT n > 1 THEN x := 0 END");
    assert!(verdict(&text, &without_deadlock()).holds());
}

#[test]
fn properties_without_valuation_are_not_a_holds() {
    let text = machine("CONSTANTS n PROPERTIES n : 1..3 & n > 7", "x := 0");
    assert_eq!(verdict(&text, &Options::default()), Verdict::Unknown(Why::NoInitialState));
}

#[test]
fn what_was_cut_off_is_open() {
    // There are such numbers, but integers run to 3 only.
    let text = machine("CONSTANTS n PROPERTIES n : INTEGER & n > 100 & n mod 2 = 0", "x := 0");
    let found = verdict(&text, &Options::default());
    assert!(matches!(found, Verdict::Unknown(Why::Truncated(_))), "{found:?}");
    let text = machine("", "ANY n WHERE n : INTEGER & n > 100 & n mod 2 = 0 THEN x := n END");
    for options in [Options::default(), without_deadlock()] {
        let found = verdict(&text, &options);
        assert!(matches!(found, Verdict::Unknown(Why::Truncated(_))), "{found:?}");
    }
}

/// Whichever tier runs the operation: one with a loop is run by the general one.
#[test]
fn an_operation_that_was_cut_off_is_open() {
    let cut = "ANY n WHERE n : INTEGER & n > 100 & n mod 2 = 0 THEN x := 0 END";
    let ends = "WHILE x < 0 DO x := x + 1 INVARIANT x : INTEGER VARIANT 0 - x END";
    let answer = |body: &str, one_by_one: bool| {
        let text = format!(
            "MACHINE m VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 0 \
             OPERATIONS idle = skip; step = {body} END"
        );
        verdict(&text, &Options { one_by_one, ..Options::default() })
    };
    for one_by_one in [false, true] {
        for body in [cut.to_string(), format!("BEGIN {cut} ; {ends} END")] {
            let found = answer(&body, one_by_one);
            assert!(matches!(found, Verdict::Unknown(Why::Truncated(_))), "{body}: {found:?}");
        }
        assert!(answer(ends, one_by_one).holds(), "without the part that is cut off");
    }
}

/// A machine whose constants nobody has looked for.
#[test]
fn constants_that_were_not_solved_are_not_a_holds() {
    let model = load_text("m.mch", &machine("", "x := 0")).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    let machine = Arc::new(system::Machine::new(model, scope));
    let found = explore(&machine, &Options::default(), &Stop::default()).verdict;
    assert!(matches!(found, Verdict::Unknown(Why::Limit(_))), "{found:?}");
}

/// The whole way: an error of the model where it is certain, unknown where it is open.
#[test]
fn a_file_without_a_start() {
    let file = std::env::temp_dir().join(format!("kanon_starts_{}.mch", std::process::id()));
    let ask = |text: &str| {
        std::fs::write(&file, text.replace("MACHINE m", &format!("MACHINE {}", name(&file))))
            .expect("a file");
        let task = Task { options: without_deadlock(), ..Task::default() };
        let args = ScopeArgs { maxint: Some(3.into()), ..ScopeArgs::default() };
        let answer = check_file(&file, &args, &task, &Deadline::never());
        answer.map(|(_, c)| c.verdict).map_err(|r| r.diagnostics.first().map_or("", |d| d.code))
    };
    assert_eq!(ask(&machine("", "x :: {}")), Err("B0414"));
    assert_eq!(ask(&machine("CONSTANTS n PROPERTIES n : 1..3 & n > 7", "x := 0")), Err("B0413"));
    let open = machine("CONSTANTS n, m PROPERTIES n : INTEGER & m : INTEGER & n + m = 1000", "x := 0");
    assert_eq!(ask(&open), Ok(Decision::Unknown));
    let _ = std::fs::remove_file(&file);
}

fn name(file: &std::path::Path) -> String {
    file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

/// Texts whose starts are many; `f` in the second is symmetric, `n` in the third is a choice of INITIALISATION.
const MANY: [&str; 3] = [
    "MACHINE m CONSTANTS f PROPERTIES f : 1..12 --> 1..6 VARIABLES n INVARIANT n < 2 INITIALISATION n := 0
     OPERATIONS step = PRE n < 5 THEN n := n + 1 END END",
    "MACHINE m SETS D CONSTANTS f PROPERTIES f : D --> D VARIABLES n, s INVARIANT n < 2 & s <: D
     INITIALISATION n := 0 || s := {} DEFINITIONS scope_D == 9
     OPERATIONS step(d) = PRE d : D & n < 5 THEN n := n + 1 || s := s \\/ {f(d)} END END",
    "MACHINE m VARIABLES n, k INVARIANT k < 2 INITIALISATION n :: 1..1000000000 || k := 0
     OPERATIONS step = PRE k < 5 THEN k := k + 1 END END",
];

/// An error two steps away from the first of very many starts is found, and said to be the nearest to some of them only.
#[test]
fn starts_are_explored_as_they_come() {
    let folder = std::env::temp_dir().join(format!("kanon-starts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (i, text) in MANY.iter().enumerate() {
        let file = folder.join(format!("m{i}.mch"));
        std::fs::write(&file, text).expect("a file");
        let deadline = Deadline::after(Some(std::time::Duration::from_secs(60)));
        for symmetry in [Strategy::Off, Strategy::Auto] {
            let task = Task { options: Options { symmetry, ..Options::default() }, ..Task::default() };
            let (_, checked) = check_file(&file, &ScopeArgs::default(), &task, &deadline)
                .unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(checked.verdict, Decision::Fails, "{text}");
            assert_eq!(checked.finding.expect("a finding").trace.steps.len(), 3, "{text}");
            assert!(checked.notes.iter().any(|n| n.contains("--shortest")), "{:?}", checked.notes);
        }
        // The limit on states holds for starts too.
        let options = Options { max_states: Some(50), invariant: false, ..Options::default() };
        let task = Task { options, ..Task::default() };
        let (_, checked) =
            check_file(&file, &ScopeArgs::default(), &task, &deadline).unwrap_or_else(|_| panic!("{text}"));
        assert_eq!((checked.verdict, checked.counts.states), (Decision::Unknown, 50), "{text}");
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// Exploring between starts changes neither the answer nor what is counted, whatever the strategy and the threads, with
/// every split of the starts into parts.
#[test]
fn in_parts_or_at_once() {
    let (mut open, mut failed, mut held) = (0, 0, 0);
    for seed in 0..400 {
        let random = Machine::new(seed, 14);
        let (model, scope, stop) = (&random.model, &random.scope, Stop::default());
        for symmetry in [Strategy::Off, Strategy::Canon, Strategy::Flood, Strategy::Markers] {
            let threads = if symmetry == Strategy::Canon { Some(2) } else { Some(1) };
            let options = Options { symmetry, threads, max_states: Some(3_000), ..Options::default() };
            let (at_once, setup) = solved(model, scope, 300, &stop);
            if setup.fault.is_some() || setup.valuations < 2 {
                continue;
            }
            let expected = explore(&at_once, &options, &stop);
            for (valuations, initial_first) in [(1, 1), (2, 3)] {
                let mut machine = system::Machine::new(model.clone(), scope.clone());
                let first = First { valuations, patience: Duration::MAX };
                let setup = machine.setup_first(first, usize::MAX, &stop);
                open += usize::from(setup.is_open);
                let options = Options { initial_first, ..options.clone() };
                let found = explore(&Arc::new(machine), &options, &stop);
                let what = format!("seed {seed}, {symmetry}, {valuations} first\n{random:?}");
                // What stops a search early may stop it elsewhere, before or after another finding.
                if expected.verdict.holds() || found.verdict.holds() {
                    held += 1;
                    assert_eq!(found.verdict, expected.verdict, "{what}");
                    assert_eq!(format!("{:?}", found.counts), format!("{:?}", expected.counts), "{what}");
                }
                if !matches!(expected.verdict, Verdict::Unknown(_)) {
                    assert_eq!(found.verdict.fails(), expected.verdict.fails(), "{what}");
                    failed += usize::from(found.verdict.fails());
                }
            }
        }
    }
    assert!(open > 300 && failed > 100 && held > 20, "{open} open, {failed} failed, {held} held");
}

/// At most so many valuations are taken, and then there is no Holds.
#[test]
fn a_limit_on_constants() {
    let text = "MACHINE m CONSTANTS n PROPERTIES n : 1..100 VARIABLES x INVARIANT x : INTEGER
                INITIALISATION x := n OPERATIONS step = x := x + 0 END";
    let model = load_text("m.mch", text).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    let run = |most: usize| {
        let mut machine = system::Machine::new(model.clone(), scope.clone());
        machine.setup_first(First { valuations: 10, patience: Duration::MAX }, most, &Stop::default());
        explore(&Arc::new(machine), &Options::default(), &Stop::default())
    };
    assert!(run(100).verdict.holds());
    let cut = run(99);
    assert!(matches!(cut.verdict, Verdict::Unknown(Why::Limit(_))), "{:?}", cut.verdict);
    assert_eq!(cut.counts.constants, 99);
}
