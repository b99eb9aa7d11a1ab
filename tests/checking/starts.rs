//! What has no start has no Holds: constants that were not solved, no valuation, no initial state, or an enumeration that was
//! cut short before any was found.

use crate::support::{explore, solved};
use kanon::explore::Options;
use kanon::model::load::load_text;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::run::{Deadline, Task, check_file};
use kanon::system::{Machine, Stop};
use kanon::verdict::{Decision, Verdict, Why};
use std::sync::Arc;

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

/// A machine whose constants nobody has looked for.
#[test]
fn constants_that_were_not_solved_are_not_a_holds() {
    let model = load_text("m.mch", &machine("", "x := 0")).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    let machine = Arc::new(Machine::new(model, scope));
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
