//! Bytes as a proof by formulas, for kanon-symbolic-checker: lemmas, widths, numbers of clauses, and the steps of
//! refutations. What is claimed is false, whatever the lemmas are, so that a proof that is accepted is a wrong answer, and a
//! panic here. Only what no input would ever hit is put in by us: the hash of the clauses, and mostly the number of a step.

use kanon::model::load::load_text;
use kanon::model::open::Opened;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::symbolic::encode::Mutant;
use kanon_checker::check::sizes;
use kanon_checker::codec::put_number;
use kanon_checker::container::{Kind, Reader, Writer};
use kanon_checker::statement::{Argument, Claims, Constants, Formulas, Goal, Statement};
use kanon_solver::blast::Width;
use kanon_solver::refute::Clausal;
use kanon_solver::sat::least_width;
use kanon_solver::solver::Stop;
use kanon_symbolic_checker::argument::questions;
use kanon_symbolic_checker::check::{Rejected, check_opened, encode, hash};
use std::sync::OnceLock;

/// n is 3 and b is TRUE after three steps. Its questions have a few dozen clauses.
const TEXT: &str = "MACHINE m VARIABLES n, b INVARIANT n : 0..3 & b : BOOL & not(n = 3 & b = TRUE)
    INITIALISATION n := 0 || b := FALSE
    OPERATIONS up = SELECT n < 3 THEN n := n + 1 || b := bool(n = 2) END; stay = skip END";

/// Whether the checker has come to a step.
pub fn read(bytes: &[u8]) -> bool {
    static OPENED: OnceLock<Opened> = OnceLock::new();
    let opened = OPENED.get_or_init(|| {
        let model = load_text("fuzzed/m.mch", TEXT).model.expect("our own model");
        let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
        Opened { model, scope, ..Opened::default() }
    });
    let mut bytes = bytes.iter().copied();
    let mut next = || bytes.next().unwrap_or_default();
    let argument = match next() % 4 {
        0 => Argument::Induction(u64::from(next() % 4)),
        1 => Argument::End(u64::from(next() % 6)),
        _ => Argument::Invariant,
    };
    let lemmas: Vec<Vec<u8>> = (0..next() % 3).map(|_| (0..next() % 16).map(|_| next()).collect()).collect();
    let statement = Statement {
        kanon: "fuzzed".into(),
        files: vec![],
        machine: "m".into(),
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
    let mut chunks = vec![];
    for lemma in &lemmas {
        let mut content = vec![];
        put_number(&mut content, lemma.len() as u64);
        content.extend(lemma);
        chunks.push((Kind::Lemmas, content));
    }
    // The clauses as they should be, mostly.
    let mut encoded = encode(opened, &statement, Mutant::None).expect("our own model");
    let asked = questions(&mut encoded, &argument, &lemmas).unwrap_or_default();
    let terms = &encoded.encoder.terms;
    for q in asked {
        let width = least_width(terms, q.claims.iter().copied());
        let Some(clauses) = Clausal::of(terms, &q.claims, Width(width), &Stop::never()) else { continue };
        let (width, count, hash) = (width as u64, clauses.len() as u64, hash(&clauses));
        let mut question = vec![];
        let how = next();
        put_number(&mut question, if how == 1 { u64::from(next()) } else { width });
        put_number(&mut question, if how == 2 { u64::from(next()) } else { count });
        question.extend(hash);
        if how == 3 {
            question.pop();
        }
        chunks.push((Kind::Question, question));
        let mut steps = vec![];
        for number in 0..u64::from(next() % 8) {
            let how = next();
            put_number(&mut steps, if how == 1 { u64::from(next()) } else { count + number });
            for _ in 0..2 {
                let n = next() % 5;
                put_number(&mut steps, u64::from(n));
                (0..n).for_each(|_| put_number(&mut steps, u64::from(next())));
            }
        }
        if !steps.is_empty() {
            chunks.push((Kind::Steps, steps));
        }
    }
    let mut writer = Writer::new(vec![], &statement.json()).expect("memory");
    chunks.iter().for_each(|(kind, content)| writer.chunk(*kind, content).expect("memory"));
    let file = writer.seal().expect("memory");
    let (reader, text) = Reader::new(&file[..]).expect("our own container");
    let statement = Statement::read(&text).expect("our own statement");
    match check_opened(opened, statement, reader, None) {
        Ok(accepted) => panic!("accepted, and it does not hold: {accepted:?}"),
        Err(Rejected::Step { .. }) => true,
        Err(_) => false,
    }
}
