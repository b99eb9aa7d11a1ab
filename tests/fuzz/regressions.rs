//! What the fuzzers found, in small: each ended in an abort or ran on when it was told to stop.

use kanon::explore::{Explored, Options};
use kanon::model::load::load_text;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::system::Machine;
use kanon::verdict::{Verdict, Why};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Checks a text, and tells it to stop after a while.
fn check(text: &str, patience: Duration) -> Explored {
    let loaded = load_text("M.mch", text);
    let model = loaded.model.unwrap_or_else(|| panic!("{text}: {:#?}", loaded.diagnostics));
    let (sizes, _) = scope(&model, &ScopeArgs::default()).unwrap_or_else(|d| panic!("{d:#?}"));
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(patience);
        flag.store(true, Ordering::Relaxed);
    });
    let mut system = Machine::new(model, sizes);
    system.setup(usize::MAX, &stop);
    kanon::run::explore(&Arc::new(system), &Options::default(), &stop, &mut |_| {}).expect("they go together")
}

/// It stops soon after it is told to, on a slow machine too.
fn stops(text: &str) {
    let begin = Instant::now();
    let explored = check(text, Duration::from_millis(100));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}: {text}", begin.elapsed());
    assert!(!explored.verdict.holds(), "{text}");
}

#[test]
fn choices_in_a_row() {
    let choices = vec!["CHOICE x := x + 1 OR x := x + 2 END"; 40].join("; ");
    stops(&format!(
        "MACHINE M VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 0 OPERATIONS op = BEGIN {choices} END END"
    ));
}

#[test]
fn alternatives_for_each_constant() {
    let names: Vec<String> = (0..40).map(|i| format!("c{i}")).collect();
    let either: Vec<String> = names.iter().map(|c| format!("({c} = 1 or {c} = 2)")).collect();
    stops(&format!("MACHINE M CONSTANTS {} PROPERTIES {} END", names.join(", "), either.join(" & ")));
}

/// A set of that many elements is not written down, and still has elements.
#[test]
fn a_set_of_four_thousand_million_elements() {
    let text = "MACHINE M DEFINITIONS scope_S == 4294967295 SETS S VARIABLES x INVARIANT x : S & #s.(s : S & s = x) \
                INITIALISATION x :: S OPERATIONS idle = skip END";
    let explored = check(text, Duration::from_millis(300));
    assert!(
        matches!(explored.verdict, Verdict::Unknown(Why::Interrupted | Why::Limit(_))),
        "{:?}",
        explored.verdict
    );
}

/// Functions from many functions: each of them is small enough, all of them together are not.
#[test]
fn functions_from_functions() {
    stops(
        "MACHINE M VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 0
         OPERATIONS op = ANY f WHERE f : (((0..1 +-> 0..1) +-> 0..1) +-> 0..1) +-> 0..1 THEN skip END END",
    );
}

/// Every step squares a number: without a bound its digits fill the memory.
#[test]
fn numbers_that_square_themselves() {
    let text = "MACHINE Square VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 3 \
                OPERATIONS square = BEGIN x := x * x END END";
    let explored = check(text, Duration::from_secs(60));
    let Verdict::Unknown(Why::Limit(fault)) = explored.verdict else { panic!("{:?}", explored.verdict) };
    assert!(format!("{fault:?}").contains("digits"), "{fault:?}");
    assert!(explored.counts.states < 30, "{} states", explored.counts.states);
}

/// A `;` in braces or brackets is a composition, also in a definition.
#[test]
fn a_composition_in_braces() {
    let text = "MACHINE m DEFINITIONS A == {x ; x}; B == [x ; x]
        VARIABLES x INVARIANT x : INTEGER <-> INTEGER & x : A & B(1) = x INITIALISATION x := {1 |-> 1} END";
    assert_eq!(check(text, Duration::from_secs(60)).counts.states, 1);
}
