//! Constants that only a solver finds: the proof that there are no others is accepted, and a changed one is not.

use kanon_checker::check::{Constants as Values, Effort, files, sizes};
use kanon_checker::codec::{put, put_number};
use kanon_checker::container::{Kind, Writer};
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use kanon_language::model::open::{Opened, open};
use kanon_language::model::scope::ScopeArgs;
use kanon_semantics::plain::Value;
use kanon_semantics::reference::{self, Cx};
use kanon_solver::blast::Width;
use kanon_solver::refute::{Clausal, refute};
use kanon_solver::sat::least_width;
use kanon_solver::solver::Stop;
use kanon_symbolic::symbolic::encode::Limits;
use kanon_symbolic_checker::check::hash;
use kanon_symbolic_checker::constants::no_others;
use kanon_symbolic_checker::steps::{self, Wrong};
use kanon_symbolic_checker::{AcceptedStates, Rejected, check_states};
use std::path::{Path, PathBuf};

/// So little that the evaluator gives up on PROPERTIES.
const LITTLE: Effort = Effort { root: 30_000, solved: 100, state: 30_000 };

type Parts = (Statement, Vec<(Kind, Vec<u8>)>);

fn model(name: &str, properties: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kanon-others-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("M.mch");
    let text = format!(
        "MACHINE M SETS S = {{a, b, c}} CONSTANTS {properties}
        VARIABLES x INVARIANT x : BOOL INITIALISATION x := TRUE OPERATIONS o = skip END"
    );
    std::fs::write(&path, text).expect("a file");
    path
}

/// All valuations of the constants.
fn valuations(opened: &Opened) -> Vec<Values> {
    let cx = Cx::new(&opened.model, &opened.scope);
    let plain = |s: &reference::State| {
        s.constants
            .iter()
            .map(|c| c.as_ref().and_then(|i| i.value().cloned()))
            .collect::<Vec<Option<Value>>>()
    };
    let mut all: Vec<Values> = reference::constants(&cx).found.iter().map(plain).collect();
    all.sort();
    all
}

/// The questions with their refutations; none if one has a model.
fn proof(opened: &Opened, listed: &[Values]) -> Option<Vec<(Kind, Vec<u8>)>> {
    let (encoded, questions) =
        no_others(&opened.model, &opened.scope, listed, Limits::default()).expect("formulas");
    let (terms, mut chunks) = (&encoded.encoder.terms, vec![]);
    for q in &questions {
        let width = least_width(terms, q.claims.iter().copied()).max(12);
        let clauses = Clausal::of(terms, &q.claims, Width(width), &Stop::never()).expect("clauses");
        let found = refute(&clauses, &Stop::never()).expect("an answer")?;
        let mut question = vec![];
        put_number(&mut question, width as u64);
        put_number(&mut question, clauses.len() as u64);
        question.extend(hash(&clauses));
        chunks.push((Kind::Question, question));
        let mut bytes = vec![];
        for (number, step) in (clauses.len() as u64..).zip(&found) {
            steps::put(&mut bytes, step, number);
        }
        chunks.push((Kind::Steps, bytes));
    }
    chunks.retain(|(kind, content)| *kind != Kind::Steps || !content.is_empty());
    Some(chunks)
}

/// A certificate that lists these valuations, without any proof that there are no others.
fn certified(opened: &Opened, listed: &[Values]) -> Parts {
    let (model, scope) = (&opened.model, &opened.scope);
    let (mut constants, mut initial, mut states) = (vec![], vec![], vec![]);
    for (number, values) in listed.iter().enumerate() {
        for (v, d) in values.iter().zip(&model.constants) {
            put_number(&mut constants, 1);
            assert!(put(&mut constants, v.as_ref().expect("a value"), &d.ty));
        }
        initial.push(0);
        put_number(&mut states, number as u64);
        // x = TRUE, no witness
        states.extend([1, 0]);
    }
    let n = listed.len() as u64;
    let statement = Statement {
        kanon: "test".into(),
        files: files(&opened.sources),
        machine: model.name.to_string(),
        sets: sizes(model, scope),
        minint: scope.minint.clone(),
        maxint: scope.maxint.clone(),
        wd: opened.reading.name().into(),
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
        valuations: n,
        states: n,
        formulas: None,
    };
    (statement, vec![(Kind::Valuations, constants), (Kind::Initial, initial), (Kind::States, states)])
}

fn run(path: &Path, (statement, chunks): &Parts) -> Result<AcceptedStates, Rejected> {
    let mut writer = Writer::new(vec![], &statement.json()).expect("memory");
    chunks.iter().for_each(|(kind, content)| writer.chunk(*kind, content).expect("memory"));
    let bytes = writer.seal().expect("memory");
    check_states(path, &mut || Ok(&bytes[..]), LITTLE)
}

/// Values of every form, and PROPERTIES that two questions are needed for.
const MODELS: [(&str, &str); 8] = [
    ("numbers", "n, m PROPERTIES n : 2..40 & m : 2..40 & n * m = 323 & n < m"),
    ("functions", "f PROPERTIES f : S --> 1..9 & f(a) + f(b) * f(c) = 80"),
    ("sets", "r, s PROPERTIES s <: S & r : S <-> S & (r ; r) = r & closure1(r) = S * S & card(s) = 2"),
    (
        "records",
        "t, u PROPERTIES t : struct(p : BOOL, q : 1..30) & t'q * t'q = 49 & u : POW(S * BOOL) & u = S * {t'p}",
    ),
    ("sequences", "q, z PROPERTIES q : iseq(S) & size(q) = 3 & first(q) = b & z : {\"one\", \"two\"}"),
    // One is a part of another: a formula that says too little of a listed one would exclude others with it.
    ("parts", "s PROPERTIES s <: S & (a : s => b : s)"),
    ("partial", "f PROPERTIES f : {a} +-> 1..400 & (f = {} or f(a) = 11 or f(a) = 300)"),
    ("points", "g PROPERTIES g : 1..2 --> POW(S) & g(1) \\/ g(2) = S & g(1) /\\ g(2) = {} & card(g(1)) = 1"),
];

#[test]
fn other_valuations_are_refuted() {
    for (name, properties) in MODELS {
        let path = model(name, properties);
        let opened = open(&path, &ScopeArgs::default()).expect("a model");
        let all = valuations(&opened);
        assert!(!all.is_empty(), "{name}: no valuations");
        let (statement, states) = certified(&opened, &all);
        // Without the proof it is believed; with it, it is not.
        let without = run(&path, &(statement.clone(), states.clone())).expect("believed");
        assert_eq!((without.accepted.relative.len(), without.refuted), (1, None), "{name}");
        let refuted = proof(&opened, &all).expect("a proof");
        let whole = (statement, [states, refuted].concat());
        let accepted = run(&path, &whole).expect("it is right");
        assert!(accepted.accepted.relative.is_empty() && accepted.refuted.is_some(), "{name}");
        // If one is left out, there is no proof, and that of the others does not fit.
        for i in 0..all.len() {
            let mut fewer = all.clone();
            fewer.remove(i);
            assert!(proof(&opened, &fewer).is_none(), "{name}: {i} is not missed");
            if fewer.is_empty() {
                continue;
            }
            let (statement, states) = certified(&opened, &fewer);
            let old = whole.1[3..].to_vec();
            let wrong = run(&path, &(statement, [states, old].concat())).expect_err("one is missing");
            assert!(matches!(wrong, Rejected::OtherClauses { .. }), "{name}: {wrong:?}");
        }
    }
}

#[test]
fn changed_proofs_are_rejected() {
    let path = model("changed", MODELS[0].1);
    let opened = open(&path, &ScopeArgs::default()).expect("a model");
    let all = valuations(&opened);
    let (statement, states) = certified(&opened, &all);
    let whole = (statement, [states, proof(&opened, &all).expect("a proof")].concat());
    let changed = |change: &dyn Fn(&mut Parts)| {
        let mut parts = whole.clone();
        change(&mut parts);
        run(&path, &parts).expect_err("it was changed")
    };
    let last = whole.1.len() - 1;
    assert_eq!(whole.1[last].0, Kind::Steps);
    let question = || "PROPERTIES have no other valuations".to_string();
    let wrong = changed(&|p| p.1.truncate(last));
    assert_eq!(wrong, Rejected::Step { question: question(), wrong: Wrong::NotEmpty });
    let wrong = changed(&|p| p.1.truncate(last - 1));
    assert_eq!(wrong, Rejected::Missing { question: question() });
    let wrong = changed(&|p| p.1.push(p.1[last - 1].clone()));
    assert_eq!(wrong, Rejected::TooMany);
    let wrong = changed(&|p| {
        p.1[last - 1].1.truncate(1);
        p.1[last - 1].1[0] = 0;
    });
    assert_eq!(wrong, Rejected::NoRefutation { question: question() });
    let wrong = changed(&|p| p.1[last - 1].1[0] = 1);
    assert_eq!(wrong, Rejected::Width { question: question() });
    // The first step is dropped: what used it uses something else now.
    let wrong = changed(&|p| {
        let steps = p.1[last].1.len() / 2;
        p.1[last].1.drain(..steps);
    });
    assert!(matches!(wrong, Rejected::Step { .. }), "{wrong:?}");
    // kanon-checker alone does not read it, and believes.
    // Whoever says that the constants were enumerated has no use for it.
    let wrong = changed(&|p| p.0.constants = Constants::Enumerated);
    assert!(matches!(wrong, Rejected::Form(kanon_checker::Rejected::Malformed { .. })), "{wrong:?}");
}

/// PROPERTIES that may have no value: the valuation that has none is not listed, and the first question has a model.
#[test]
fn what_may_have_no_value_is_asked() {
    let path = model("undefined", "n, m PROPERTIES n : 0..20 & m : 0..20 & 100 / n = 25 & m = n");
    let opened = open(&path, &ScopeArgs::default()).expect("a model");
    let four = Value::Int(4.into());
    assert!(proof(&opened, &[vec![Some(four.clone()), Some(four)]]).is_none());
}
