//! Constants: what the evaluator does not come to the end of is believed by name, and what the text determines is not
//! enumerated. The certificates are made here, from what the evaluator finds when it has time.

use kanon_checker::check::{Effort, Part, files, sizes};
use kanon_checker::codec::{put, put_number};
use kanon_checker::container::{Kind, Writer};
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use kanon_checker::{Accepted, Believed, Rejected, check};
use kanon_language::model::open::{Opened, open};
use kanon_language::model::scope::ScopeArgs;
use kanon_semantics::plain::Value;
use kanon_semantics::reference::{self, Cx, State};
use std::path::{Path, PathBuf};

type Parts = (Statement, Vec<(Kind, Vec<u8>)>);

fn model(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kanon-constants-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("M.mch");
    std::fs::write(&path, text).expect("a file");
    path
}

fn valuation(opened: &Opened, values: &[Option<Value>]) -> Vec<u8> {
    let mut out = vec![];
    for (value, d) in values.iter().zip(&opened.model.constants) {
        put_number(&mut out, 1);
        assert!(put(&mut out, value.as_ref().expect("a value"), &d.ty));
    }
    out
}

/// The certificate of a machine with one valuation.
fn certified(path: &Path) -> Parts {
    let opened = open(path, &ScopeArgs::default()).expect("a model");
    let (model, scope) = (&opened.model, &opened.scope);
    let cx = || Cx::new(model, scope).with_fuel(2_000_000_000);
    let starts = reference::constants(&cx()).found;
    let [start] = &starts[..] else { panic!("one valuation") };
    let values: Vec<Option<Value>> =
        start.constants.iter().map(|c| c.as_ref().and_then(|i| i.value().cloned())).collect();
    let mut states: Vec<State> = reference::initial_states(&cx(), start).found;
    let mut at = 0;
    while at < states.len() {
        for step in reference::successors(&cx(), &states[at].clone()).steps {
            if !states.iter().any(|s| s.variables == step.state.variables) {
                states.push(step.state);
            }
        }
        at += 1;
    }
    let mut records = vec![];
    for s in &states {
        put_number(&mut records, 0);
        for (value, d) in s.variables.iter().zip(&model.variables) {
            assert!(put(&mut records, value.as_ref().expect("a value"), &d.ty));
        }
        put_number(&mut records, 0);
    }
    let statement = Statement {
        kanon: "test".into(),
        files: files(&opened.sources),
        machine: model.name.to_string(),
        sets: sizes(model, scope),
        minint: scope.minint.clone(),
        maxint: scope.maxint.clone(),
        wd: "kleene".into(),
        constants: Constants::Solved,
        claims: Claims {
            invariant: true,
            assertions: true,
            no_deadlock: true,
            goal: Goal::Ignored,
            goal_text: None,
            formula: None,
        },
        symmetry: vec![],
        valuations: 1,
        states: states.len() as u64,
        formulas: None,
    };
    let chunks = vec![
        (Kind::Valuations, valuation(&opened, &values)),
        (Kind::Initial, vec![0]),
        (Kind::States, records),
    ];
    (statement, chunks)
}

fn run(path: &Path, (statement, chunks): &Parts, effort: Effort) -> Result<Accepted, Rejected> {
    let mut writer = Writer::new(vec![], &statement.json()).expect("memory");
    chunks.iter().for_each(|(kind, content)| writer.chunk(*kind, content).expect("memory"));
    let bytes = writer.seal().expect("memory");
    check(path, &mut || Ok(&bytes[..]), Part::WHOLE, effort)
}

/// Each listed valuation is evaluated, and that there are no others is believed.
#[test]
fn what_only_a_solver_knows_is_believed() {
    let path = model(
        "believed",
        "MACHINE M CONSTANTS f PROPERTIES f : 1..6 >->> 1..6 & !i.(i : 1..5 => f(i) < f(i + 1))
        VARIABLES x INVARIANT x : 1..6 INITIALISATION x := f(1)
        OPERATIONS next = PRE x < 6 THEN x := f(x + 1) END; back = PRE x = 6 THEN x := f(1) END END",
    );
    let whole = certified(&path);
    let little = Effort { root: 30_000, solved: 300, state: 30_000 };
    let accepted = run(&path, &whole, little).expect("it is right");
    let [Believed::NoOtherValuations { listed: 1, how: Constants::Solved, .. }] = &accepted.relative[..]
    else {
        panic!("{:?}", accepted.relative)
    };
    assert!(
        accepted.relative[0].to_string().starts_with("the SAT solver: PROPERTIES have no other valuation")
    );
    // With more effort nothing has to be believed.
    let much = Effort { solved: 1_000_000_000, root: 1_000_000_000, ..little };
    assert!(run(&path, &whole, much).expect("it is right").relative.is_empty());
    // A valuation that PROPERTIES do not allow: 5 |-> 5, 6 |-> 6 become 5 |-> 6, 6 |-> 5.
    let mut wrong = whole.clone();
    let content = &mut wrong.1[0].1;
    let end = content.len();
    content.swap(end - 3, end - 1);
    assert_eq!(run(&path, &wrong, little).expect_err("wrong"), Rejected::NoValuation { valuation: 1 });
    assert_eq!(run(&path, &wrong, much).expect_err("wrong"), Rejected::NoValuation { valuation: 1 });
    // One that is listed twice, and none.
    let mut twice = whole.clone();
    twice.0.valuations = 2;
    let again = twice.1[0].1.clone();
    twice.1[0].1.extend(again);
    assert_eq!(run(&path, &twice, little).expect_err("twice"), Rejected::NoValuation { valuation: 2 });
    let mut none = whole.clone();
    (none.0.valuations, none.0.states) = (0, 0);
    none.1.clear();
    assert_eq!(run(&path, &none, little).expect_err("none"), Rejected::NoInitialState);
    // An invariant that is wrong is rejected all the same.
    let mut lost = whole.clone();
    lost.0.states -= 1;
    let states = lost.1[2].1.len();
    lost.1[2].1.truncate(states - 3);
    assert!(matches!(run(&path, &lost, little), Err(Rejected::MissingSuccessor { .. })));
}

/// What equations determine is taken from them, and functions are made point by point: nothing has to be believed, though
/// there are far more candidates than steps.
#[test]
fn what_the_text_determines_is_not_enumerated() {
    let little = Effort { root: 60_000, solved: 60_000, state: 60_000 };
    for (name, properties) in [
        ("equation", "f : 1..5 --> 1..5 & n : 1..5 & f = %x.(x : 1..5 | 6 - x) & f(n) = 2"),
        ("points", "f : 1..5 --> 1..5 & n = 4 & !i.(i : 1..5 => f(i) = 6 - i)"),
        ("given", "f : 1..5 --> INTEGER & n = 4 & f(1) = 5 & f(2) = 4 & f(3) = 3 & f(4) = 2 & f(5) = 1"),
    ] {
        let text = format!(
            "MACHINE M CONSTANTS f, n PROPERTIES {properties} VARIABLES x INVARIANT x : 1..5
            INITIALISATION x := n OPERATIONS turn = BEGIN x := f(x) END END"
        );
        let path = model(name, &text);
        let whole = certified(&path);
        let accepted = run(&path, &whole, little).expect("it is right");
        assert_eq!((accepted.relative, accepted.statement.states), (vec![], 2), "{name}");
        // f(4) = 2 and f(5) = 1 become f(4) = 1 and f(5) = 2.
        let mut wrong = whole.clone();
        let content = &mut wrong.1[0].1;
        content.swap(9, 11);
        assert_eq!(run(&path, &wrong, little).expect_err("wrong"), Rejected::NoValuation { valuation: 1 });
    }
}
