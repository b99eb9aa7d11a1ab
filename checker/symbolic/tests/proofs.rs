//! From a model to a certificate and back, without any engine: the questions of an argument are refuted and written down,
//! and the check accepts them; one thing is changed, and it does not.

use kanon_checker::check::{files, sizes};
use kanon_checker::codec::{Bytes, put_number};
use kanon_checker::container::{Kind, Writer};
use kanon_checker::statement::{Argument, Claims, Constants, Formulas, Goal, Statement};
use kanon_language::model::open::open;
use kanon_language::model::scope::ScopeArgs;
use kanon_solver::blast::Width;
use kanon_solver::refute::{Clausal, refute};
use kanon_solver::sat::least_width;
use kanon_solver::solver::Stop;
use kanon_symbolic::symbolic::encode::Mutant;
use kanon_symbolic_checker::argument::questions;
use kanon_symbolic_checker::check::{Rejected, asked, check, encode, hash};
use kanon_symbolic_checker::steps::{self, Wrong};
use std::path::{Path, PathBuf};

/// Chunks of a certificate, and its statement.
type Parts = (Statement, Vec<(Kind, Vec<u8>)>);

/// The proof of a model, if the argument is one.
fn proved(path: &Path, argument: Argument, lemmas: &[Vec<u8>], mutant: Mutant) -> Option<Parts> {
    let args = ScopeArgs::default();
    let opened = open(path, &args).expect("a model");
    let statement = Statement {
        kanon: "test".into(),
        files: files(&opened.sources),
        machine: opened.model.name.to_string(),
        sets: sizes(&opened.model, &opened.scope),
        minint: opened.scope.minint.clone(),
        maxint: opened.scope.maxint.clone(),
        wd: "kleene".into(),
        constants: Constants::Enumerated,
        claims: Claims {
            invariant: true,
            assertions: true,
            no_deadlock: false,
            goal: Goal::Ignored,
            goal_text: None,
            formula: None,
        },
        symmetry: vec![],
        valuations: 0,
        states: 0,
        formulas: Some(Formulas { argument, lemmas: vec![], solver: None }),
    };
    let mut encoded = encode(&opened, &statement, mutant).expect("formulas");
    let asked = questions(&mut encoded, &argument, lemmas).expect("an argument");
    let mut chunks = vec![];
    for lemma in lemmas {
        let mut bytes = vec![];
        put_number(&mut bytes, lemma.len() as u64);
        bytes.extend(lemma);
        chunks.push((Kind::Lemmas, bytes));
    }
    let terms = &encoded.encoder.terms;
    for q in &asked {
        let width = least_width(terms, q.claims.iter().copied()).max(8);
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
        if !bytes.is_empty() {
            chunks.push((Kind::Steps, bytes));
        }
    }
    Some((statement, chunks))
}

fn sealed((statement, chunks): &Parts) -> Vec<u8> {
    let mut writer = Writer::new(vec![], &statement.json()).expect("memory");
    chunks.iter().for_each(|(kind, content)| writer.chunk(*kind, content).expect("memory"));
    writer.seal().expect("memory")
}

/// A file of this text; the name of the test keeps them apart.
fn model(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kanon-proofs-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("M.mch");
    std::fs::write(&path, text).expect("a file");
    path
}

/// x never is 9: it needs that y is even. Integers that have bounds, a relation, a constant, choices.
const TEXT: &str = "MACHINE M
CONSTANTS most PROPERTIES most : 3..5
VARIABLES x, y, r
INVARIANT x : 0..100 & y : 0..100 & r : 1..3 <-> 1..3 & x <= most + 20 & (x = 0 or r /= {})
INITIALISATION x := 0 || y := 0 || r := {}
OPERATIONS
  up(k) = PRE k : 1..2 & x + k <= most THEN x := x + k || y := y / 2 || r := r \\/ {k |-> 3} END;
  back = PRE x > 0 THEN x := 0 || r := {} END;
  lose(a) = PRE a : dom(r) & x = 0 THEN r := {a} <<| r END
END
";

#[test]
fn proofs_are_accepted_and_changed_ones_are_not() {
    let path = model("accepted", TEXT);
    for (argument, lemmas) in [
        (Argument::Invariant, vec![]),
        // A lemma that is true: not(outside), the first cell.
        (Argument::Invariant, vec![vec![1, 6, 0]]),
        (Argument::Induction(0), vec![]),
        (Argument::Induction(1), vec![]),
    ] {
        let whole = proved(&path, argument, &lemmas, Mutant::None).expect("it holds");
        let rejected = |parts: &Parts| check(&path, &sealed(parts)[..], None).expect_err("it is wrong");
        let accepted =
            check(&path, &sealed(&whole)[..], None).unwrap_or_else(|why| panic!("{argument:?}: {why}"));
        assert!(accepted.relative.is_none() && accepted.steps > 5, "{accepted:?}");
        // One step is missing: for every chunk of steps the first one.
        let mut seen = 0;
        for at in 0..whole.1.len() {
            if whole.1[at].0 != Kind::Steps {
                continue;
            }
            seen += 1;
            let mut cut = whole.clone();
            cut.1.remove(at);
            let wrong = rejected(&cut);
            assert!(matches!(wrong, Rejected::Step { wrong: Wrong::NotEmpty, .. }), "{wrong}");
            let mut cut = whole.clone();
            cut.1[at].1.pop();
            let wrong = rejected(&cut);
            assert!(matches!(wrong, Rejected::Step { wrong: Wrong::Malformed { .. }, .. }), "{wrong}");
        }
        assert!(seen > 1);
        let longest =
            (0..whole.1.len()).filter(|i| whole.1[*i].0 == Kind::Steps).max_by_key(|i| whole.1[*i].1.len());
        every_step_is_named(&whole, longest.expect("steps"), &rejected);
        // Another argument.
        let mut other = whole.clone();
        other.0.formulas.as_mut().expect("formulas").argument = Argument::Induction(2);
        assert!(matches!(rejected(&other), Rejected::OtherClauses { .. } | Rejected::Argument(_)));
    }
}

/// One step is dropped, or one of the clauses that it uses, or one of the clauses that it derives is another one: the
/// rejection says which step. Some steps of a chunk, the last one among them.
fn every_step_is_named(whole: &Parts, at: usize, rejected: &dyn Fn(&Parts) -> Rejected) {
    let content = &whole.1[at].1;
    let question = &whole.1[at - 1];
    assert_eq!(question.0, Kind::Question);
    let steps = taken(content);
    let with = |steps: &[Taken]| {
        let mut changed = whole.clone();
        changed.1[at].1 = steps.iter().flat_map(Taken::bytes).collect();
        match rejected(&changed) {
            Rejected::Step { wrong, .. } => wrong,
            other => panic!("{other}"),
        }
    };
    assert_eq!(steps.iter().flat_map(Taken::bytes).collect::<Vec<u8>>(), *content);
    for n in [2, steps.len() / 2, steps.len() - 1] {
        let step = n as u64 + 1;
        let mut dropped = steps.clone();
        dropped.remove(n);
        let expected = if n + 1 == steps.len() { Wrong::NotEmpty } else { Wrong::Missing { step } };
        assert_eq!(with(&dropped), expected);
        // Without the last clause that it uses there is no contradiction.
        let mut fewer = steps.clone();
        fewer[n].uses.pop();
        assert_eq!(with(&fewer), Wrong::NoConflict { step });
        let mut later = steps.clone();
        later[n].uses[0] = 0;
        assert_eq!(with(&later), Wrong::NoClause { step });
    }
}

/// A step as it stands in the file.
#[derive(Clone)]
struct Taken {
    number: u64,
    literals: Vec<u64>,
    uses: Vec<u64>,
}

impl Taken {
    fn bytes(&self) -> Vec<u8> {
        let mut out = vec![];
        put_number(&mut out, self.number);
        for list in [&self.literals, &self.uses] {
            put_number(&mut out, list.len() as u64);
            list.iter().for_each(|n| put_number(&mut out, *n));
        }
        out
    }
}

fn taken(content: &[u8]) -> Vec<Taken> {
    let mut bytes = Bytes::new(content);
    let mut steps = vec![];
    while !bytes.is_empty() {
        let number = bytes.number().expect("a number");
        let mut list = || -> Vec<u64> {
            let n = bytes.number().expect("how many");
            (0..n).map(|_| bytes.number().expect("one of them")).collect()
        };
        steps.push(Taken { number, literals: list(), uses: list() });
    }
    steps
}

/// What does not hold is not refuted, and the proof of a machine is none of another.
#[test]
fn what_is_wrong_has_no_proof() {
    let wrong = TEXT.replace("x = 0 or r /= {}", "x < 2 or card(r) > 1");
    assert!(proved(&model("wrong", &wrong), Argument::Invariant, &[], Mutant::None).is_none());
    assert!(proved(&model("wrong", &wrong), Argument::Induction(2), &[], Mutant::None).is_none());
    let path = model("other", TEXT);
    let whole = proved(&path, Argument::Invariant, &[], Mutant::None).expect("it holds");
    std::fs::write(&path, &wrong).expect("a file");
    let opened = open(&path, &ScopeArgs::default()).expect("a model");
    let fitted = (Statement { files: files(&opened.sources), ..whole.0.clone() }, whole.1.clone());
    let why = check(&path, &sealed(&fitted)[..], None).expect_err("it does not hold");
    assert!(matches!(why, Rejected::OtherClauses { .. }), "{why}");
}

/// An encoder that is wrong when the proof is made.
#[test]
fn another_encoder_makes_other_clauses() {
    let text = TEXT.replace("r := r \\/ {k |-> 3}", "r := r <+ {k |-> 3}");
    let path = model("mutant", &text);
    let mut found = 0;
    for mutant in [Mutant::OverrideIsUnion, Mutant::DomIsRan, Mutant::NothingOutside] {
        if let Some(parts) = proved(&path, Argument::Invariant, &[], mutant) {
            let why = check(&path, &sealed(&parts)[..], None).expect_err("another encoder");
            assert!(matches!(why, Rejected::OtherClauses { .. }), "{mutant:?}: {why}");
            found += 1;
        }
    }
    assert!(found > 0);
}

/// Paths that end.
#[test]
fn paths_that_end() {
    let text = "MACHINE M VARIABLES x INVARIANT x : 0..9 & x < 3 INITIALISATION x := 0
        OPERATIONS up = PRE x < 2 THEN x := x + 1 END END";
    let path = model("end", text);
    let whole = proved(&path, Argument::End(3), &[], Mutant::None).expect("no path has three steps");
    assert!(check(&path, &sealed(&whole)[..], None).is_ok());
    assert!(proved(&path, Argument::End(2), &[], Mutant::None).is_none(), "one has two");
}

/// The proof of a model where a solver is believed for every question: what it was asked is in the file.
fn told(path: &Path, solver: &str) -> Parts {
    let (mut statement, chunks) = proved(path, Argument::Invariant, &[], Mutant::None).expect("it holds");
    let formulas = Formulas { argument: Argument::Invariant, lemmas: vec![], solver: Some(solver.into()) };
    statement.formulas = Some(formulas);
    let opened = open(path, &ScopeArgs::default()).expect("a model");
    let mut encoded = encode(&opened, &statement, Mutant::None).expect("formulas");
    let all = questions(&mut encoded, &Argument::Invariant, &[]).expect("an argument");
    assert_eq!(chunks.iter().filter(|c| c.0 == Kind::Question).count(), all.len());
    let mut told = vec![];
    for q in &all {
        told.push((Kind::Question, vec![0]));
        told.push((Kind::Query, asked(&encoded.encoder.terms, q).into_bytes()));
    }
    (statement, told)
}

/// Where z3 and cvc5 are installed, one confirms the other, and the answer is relative to it.
#[test]
fn another_solver_agrees() {
    let path = model("smt", TEXT);
    let installed = kanon_solver::smt::installed();
    for (theirs, other) in [("z3", "cvc5"), ("cvc5", "z3")] {
        if !installed.contains(&other) {
            assert!(std::env::var_os("KANON_REQUIRE_SMT").is_none() || !installed.is_empty());
            println!("{other} is not installed: not asked");
            continue;
        }
        let whole = told(&path, theirs);
        let accepted = check(&path, &sealed(&whole)[..], Some(other)).expect("both agree");
        assert_eq!(accepted.relative, Some((accepted.questions, other.to_string())));
        // A solver confirms nobody but others.
        let why = check(&path, &sealed(&whole)[..], Some(theirs)).expect_err("it is the same");
        assert!(why.is_undecided(), "{why}");
    }
}

/// A program in place of cvc5 that says the same to every question: agreement, disagreement, no answer. The certificate is
/// of a machine that holds, or is changed.
#[cfg(unix)]
#[test]
fn answers_of_another_solver() {
    use std::os::unix::fs::PermissionsExt;
    let path = model("fake", TEXT);
    let whole = told(&path, "z3");
    let folder = path.parent().expect("a folder").join("bin");
    std::fs::create_dir_all(&folder).expect("a folder");
    let certificate = folder.join("c.cert");
    let says = |script: &str, parts: &Parts| {
        let program = folder.join("cvc5");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
        std::fs::write(&certificate, sealed(parts)).expect("a file");
        // Nothing else is in its path.
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_kanon-symbolic-checker"))
            .args([&path, &certificate])
            .env("PATH", &folder)
            .output()
            .expect("it runs");
        (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned())
    };
    let answer = |word: &str| {
        format!(
            "while read line; do case $line in *check-sat*) echo '{word}';; *get-*) echo '()';; esac; done"
        )
    };
    let (code, text) = says(&answer("unsat"), &whole);
    assert!(code == Some(3) && text.starts_with("accepted, relative to cvc5"), "{text}");
    assert!(text.contains("believed: cvc5, which says that 6 of the questions have no model"), "{text}");
    let (code, text) = says(&answer("unknown"), &whole);
    assert!(code == Some(3) && text.starts_with("not decided"), "{text}");
    let (code, text) = says("exit 0", &whole);
    assert!(code == Some(3) && text.starts_with("not decided"), "{text}");
    // One that finds a model has to show it, where there is anything to show.
    let (code, text) = says(&answer("sat"), &whole);
    let is_told = code == Some(1) && text.contains("cvc5 has found a model");
    assert!(is_told || (code == Some(3) && text.starts_with("not decided")), "{text}");
    std::fs::remove_file(folder.join("cvc5")).expect("it was there");
    // What is wrong with the file is found before anybody is asked.
    let rejected = |parts: &Parts| check(&path, &sealed(parts)[..], Some("cvc5")).expect_err("it is wrong");
    let mut other = whole.clone();
    other.1[1].1[20] ^= 1;
    assert!(matches!(rejected(&other), Rejected::OtherQuery { .. }));
    let mut none = whole.clone();
    none.1.remove(1);
    assert!(matches!(rejected(&none), Rejected::OtherQuery { .. }));
    let mut long = whole.clone();
    long.1[0].1.push(0);
    assert!(matches!(rejected(&long), Rejected::Malformed { .. }));
    let solver = |name: Option<&str>, parts: &Parts| {
        let mut parts = parts.clone();
        if let Some(formulas) = &mut parts.0.formulas {
            formulas.solver = name.map(Into::into);
        }
        rejected(&parts)
    };
    assert!(matches!(solver(None, &whole), Rejected::NoRefutation { .. }));
    assert_eq!(solver(Some("me"), &whole), Rejected::NoSolver("me".into()));
    // Nobody is believed for nothing.
    let refuted = proved(&path, Argument::Invariant, &[], Mutant::None).expect("it holds");
    assert_eq!(solver(Some("z3"), &refuted), Rejected::NoSolver("z3".into()));
}

/// A false claim, with everything in the file as it should be: another solver finds the state.
#[test]
fn a_solver_that_lies_is_found_out() {
    let path = model("lie", TEXT);
    let (statement, _) = told(&path, "z3");
    let wrong = TEXT.replace("x = 0 or r /= {}", "x < 2 or card(r) > 1");
    std::fs::write(&path, &wrong).expect("a file");
    let opened = open(&path, &ScopeArgs::default()).expect("a model");
    let statement = Statement { files: files(&opened.sources), ..statement };
    let mut encoded = encode(&opened, &statement, Mutant::None).expect("formulas");
    let mut chunks = vec![];
    for q in &questions(&mut encoded, &Argument::Invariant, &[]).expect("an argument") {
        chunks.push((Kind::Question, vec![0]));
        chunks.push((Kind::Query, asked(&encoded.encoder.terms, q).into_bytes()));
    }
    let bytes = sealed(&(statement, chunks));
    match kanon_solver::smt::installed().contains(&"cvc5") {
        true => {
            let why = check(&path, &bytes[..], Some("cvc5")).expect_err("it does not hold");
            assert!(matches!(&why, Rejected::HasModel { solver, .. } if solver == "cvc5"), "{why}");
        }
        false => println!("cvc5 is not installed: not asked"),
    }
}
