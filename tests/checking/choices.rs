//! Choices that the solver makes (parameters, ANY, `:(P)`, comprehensions, quantifiers): the same states and transitions as
//! without it, and a wrong answer of it is noticed or has no effect.

use crate::support::random::Machine;
use crate::support::{explore, solved};
use kanon::eval::compile::Compiler;
use kanon::eval::env::StopFlag;
use kanon::eval::node::{Answer, Asking, Env, Oracle, Question};
use kanon::explore::{Explored, Options};
use kanon::model::ExprKind;
use kanon::model::load::{load_text, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::symmetry::Strategy;
use kanon::system::{self, Stop};
use kanon::value::Value;
use kanon::verdict::Verdict;
use std::path::Path;
use std::sync::Arc;

/// Whatever is chosen is put to the solver.
const ALWAYS: Asking = Asking { step: 1.0, all: 1.0, patience: 0 };

fn everything() -> Options {
    Options { all: true, symmetry: Strategy::Off, max_states: Some(2_000), ..Options::default() }
}

#[test]
fn the_solver_chooses_what_a_plan_chooses() {
    let machines = std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let (mut compared, mut asked) = (0, 0);
    for seed in 0..machines {
        let (same, by_solver) = with_large_stack(|| agrees(seed)).expect("a thread");
        compared += u64::from(same);
        asked += u64::from(by_solver);
    }
    println!("{compared} of {machines} machines compared, the solver was asked in {asked}");
    assert!(compared * 3 >= machines, "only {compared} of {machines} machines say anything");
    assert!(asked * 10 >= machines, "the solver was asked in {asked} of {machines} machines only");
}

/// Whether both ways came to an end, and whether the solver had a word in one.
fn agrees(seed: u64) -> (bool, bool) {
    let Machine { model, scope, .. } = Machine::new(seed, 40);
    let stop = Stop::default();
    let (plain, setup) = solved(&model, &scope, 500, &stop);
    let mut asking = system::Machine::asking(model.clone(), scope.clone(), ALWAYS);
    let setup_too = asking.setup(500, &stop);
    if setup.fault.is_some() || setup_too.fault.is_some() {
        return (false, false);
    }
    assert_eq!(setup.valuations, setup_too.valuations, "seed {seed}");
    let asking = Arc::new(asking);
    let (one, other) = (explore(&plain, &everything(), &stop), explore(&asking, &everything(), &stop));
    let by_solver = asking.has_asked_solver();
    let is_open = |e: &Explored| matches!(e.verdict, Verdict::Unknown(_));
    // The solver may have an answer where the plan has none.
    if is_open(&one) {
        return (false, by_solver);
    }
    assert_eq!(std::mem::discriminant(&one.verdict), std::mem::discriminant(&other.verdict), "seed {seed}");
    assert_eq!(format!("{:?}", one.counts), format!("{:?}", other.counts), "seed {seed}");
    (true, by_solver)
}

/// Explores a text.
fn explored(text: &str) -> (Arc<system::Machine>, Explored) {
    let model = load_text("choice.mch", text).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    let stop = Stop::default();
    let (machine, _) = solved(&model, &scope, 1000, &stop);
    let explored = explore(&machine, &Options { deadlock: false, ..everything() }, &stop);
    (machine, explored)
}

#[test]
fn choices_without_end_for_a_plan() {
    // (transitions, the operation)
    let rows = [
        // All of 60 but two.
        (1770, "op(x) = PRE x <: 1..60 & card(x) = 58 & 0 /: x THEN skip END"),
        // z has no bounds, and the guard leaves it one value.
        (
            6,
            "op(x,y,z) = PRE x >= 0 & not(x : {0,1,2} & z /= 0 & y : {2,32}) & not(x > 2 & y : {2,32}) & \
             not(y /: {2,32}) THEN skip END",
        ),
        (1, "op(p) = PRE p : perm(1..12) & !i.(i : 1..11 => p(i) > p(i+1)) THEN skip END"),
        (0, "op(x) = PRE x <: 1..60 & card(x) = 3 & SIGMA(i).(i : x | i) = 3 THEN skip END"),
        (1, "op = ANY f WHERE f : 1..40 --> 0..3 & SIGMA(i).(i : 1..40 | f(i)) = 120 THEN skip END"),
        (1, "op = SELECT !x.(x <: 1..60 & card(x) = 58 => x /= {}) THEN skip END"),
        (0, "op = SELECT #x.(x <: 1..60 & card(x - {0}) = 61) THEN skip END"),
    ];
    for (transitions, operation) in rows {
        let text = format!(
            "MACHINE choice VARIABLES v INVARIANT v = 0 INITIALISATION v := 0 OPERATIONS {operation} END"
        );
        let (machine, explored) = explored(&text);
        assert!(matches!(explored.verdict, Verdict::Holds(_)), "{operation}: {:?}", explored.verdict);
        assert_eq!(explored.counts.transitions, transitions, "{operation}");
        assert!(machine.has_asked_solver(), "{operation}");
    }
}

/// Sizes and single elements leave so little of the subsets that a plan makes them, whatever the solver could do.
#[test]
fn subsets_by_size_and_by_element() {
    // (transitions, the operation)
    let rows = [
        (2300, "op(x) = PRE x <: grid & card(x) = 3 THEN skip END"),
        (
            2047,
            "op(x) = PRE x <: grid & card(x) < 4 & x /\\ {1 |-> 1, 2 |-> 2} = {} & x /= {} & v = 0 THEN skip END",
        ),
        (1, "op(x) = PRE x <: grid & x /\\ {1 |-> 1} = {} & x \\/ {1 |-> 1} = grid THEN skip END"),
        (0, "op = SELECT #x.(x <: grid & card(x) = 26) THEN skip END"),
        (26, "op(f) = PRE f : 1..25 +-> {7} & card(f) <= 1 THEN skip END"),
    ];
    for (transitions, operation) in rows {
        let text = format!(
            "MACHINE choice CONSTANTS grid PROPERTIES grid = (1..5) * (1..5) VARIABLES v INVARIANT v = 0 \
             INITIALISATION v := 0 OPERATIONS {operation} END"
        );
        let (machine, explored) = explored(&text);
        assert!(matches!(explored.verdict, Verdict::Holds(_)), "{operation}: {:?}", explored.verdict);
        assert_eq!(explored.counts.transitions, transitions, "{operation}");
        assert!(!machine.has_asked_solver(), "{operation}");
    }
}

/// A plan that goes from one valuation to the next is not given up for a solver that makes each of them anew.
#[test]
fn many_valuations_are_left_to_the_plan() {
    let text = "MACHINE choice CONSTANTS s, f PROPERTIES s = 0..15 & f : s * s +-> s END";
    let model = load_text("choice.mch", text).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    let (machine, setup) = solved(&model, &scope, 1000, &Stop::default());
    assert_eq!(setup.valuations, 1000);
    assert!(setup.fault.is_some(), "there are more");
    assert!(!machine.has_asked_solver());
}

#[test]
fn plans_find_what_the_reference_evaluator_cannot() {
    // The reference evaluator has no answer to these, so they are not among the models.
    let rows =
        [("choice_ends", 9, 27), ("choice_opened", 1, 1), ("choice_table", 1, 1), ("op_cardinals", 1, 1)];
    for (name, states, transitions) in rows {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/choices");
        let text = std::fs::read_to_string(folder.join(name).with_extension("mch")).expect("a fixture");
        let (_, explored) = explored(&text);
        assert!(matches!(explored.verdict, Verdict::Holds(_)), "{name}: {:?}", explored.verdict);
        assert_eq!((explored.counts.states, explored.counts.transitions), (states, transitions), "{name}");
    }
}

#[test]
fn what_the_solver_does_not_decide_is_unknown() {
    let text = "MACHINE choice VARIABLES v INVARIANT v = 0 INITIALISATION v := 0 \
                OPERATIONS op(x) = PRE x > 5 THEN skip END END";
    let (machine, explored) = explored(text);
    assert!(matches!(explored.verdict, Verdict::Unknown(_)), "{:?}", explored.verdict);
    assert!(!machine.has_asked_solver());
}

/// Says whatever it was told to say.
struct Liar(Option<Vec<Vec<Value>>>);

impl Oracle for Liar {
    fn solve(&self, _: &Question, _: &[Value], _: &StopFlag) -> Option<Answer> {
        Some(Answer { found: self.0.clone()?, left_out: vec![] })
    }
}

#[test]
fn a_solution_that_is_none_is_noticed() {
    let text = "MACHINE choice CONSTANTS c PROPERTIES c = {x | x : 1..30 & x * x > 800 & x mod 2 = 1} END";
    let model = load_text("choice.mch", text).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    let ExprKind::Binary(_, _, set) = &model.properties[0].kind else { panic!("an equation") };
    let said = |answer: Option<&[i64]>| {
        let answer = answer.map(|a| a.iter().map(|i| vec![Value::int(*i)]).collect());
        let mut compiler = Compiler::new(&model, &scope).with_oracle(Arc::new(Liar(answer)), ALWAYS);
        let node = compiler.expr(set);
        let mut env = Env::new(compiler.slots.len());
        let v = node.val(&mut env).expect("a value");
        v.count()
    };
    assert_eq!(said(None), 1);
    assert_eq!(said(Some(&[29])), 1);
    // The plan decides where a solution is not confirmed.
    assert_eq!(said(Some(&[28, 29])), 1);
    assert_eq!(said(Some(&[29, 31])), 1);
    // That there are no others is the oracle's word.
    assert_eq!(said(Some(&[])), 0);
}
