//! Programs in XTL that do not answer in time.

use kanon::explore::Options;
use kanon::run::system::check;
use kanon::symmetry::Action;
use kanon::system::Check;
use kanon::verdict::Verdict;
use kanon::xtl::{Limits, Program, XtlSystem};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Arithmetic of long numbers is one inference, however long it takes: this one takes a minute.
const SLOW: &str = "start(0). start(1). start(2).
    trans(a, 0, 1).
    trans(never, 1, X) :- X is (3 ** 1000000000) mod 7.
    trans(b, 2, 0).
    prop(2, two).
    prop(1, X) :- Y is (3 ** 1000000000) mod 7, X = seven(Y).";

/// The program with what is asked of its states, where no answer may take longer than three seconds.
fn slow(checks: Vec<Check>) -> XtlSystem {
    let limits = Limits { late: Duration::from_secs(3), ..Limits::default() };
    let names = checks.iter().map(|c| c.name.to_string()).collect();
    let include = &mut |_: &str, _: &str| Err("there is none".to_string());
    let program = Program::read("slow.P", SLOW, names, vec![], limits, &Arc::default(), include);
    XtlSystem::new(program.expect("SWI-Prolog is installed"), checks, vec![])
}

#[test]
fn a_goal_without_an_answer_is_unknown_and_another_process_answers_for_the_other_states() {
    let none: Option<&Arc<dyn Action>> = None;
    let options = Options { all: true, deadlock: false, ..Options::default() };
    let begin = Instant::now();
    let answer = check(&slow(vec![]), none, &options).expect("they go together");
    let Verdict::Unknown(why) = &answer.verdict else { panic!("{:?}", answer.verdict) };
    assert!(format!("{why:?}").contains("trans(A, 1, B): no answer for 3 s"), "{why:?}");
    // Nothing is missing but what was not answered.
    assert_eq!((answer.counts.states, answer.counts.transitions), (3, 2));
    // A counterexample is one, whatever else is unknown; whether there is one is not known without an answer.
    let goal = |name: &str| check(&slow(vec![Check::goal(name)]), none, &options).expect("they go together");
    assert!(matches!(goal("two").verdict, Verdict::Fails(_)));
    let Verdict::Unknown(why) = goal("three").verdict else { panic!("a property that nobody knows") };
    assert!(format!("{why:?}").contains("no answer for 3 s"), "{why:?}");
    assert!(begin.elapsed() < Duration::from_secs(150), "{:?}: nobody was ended", begin.elapsed());
}
