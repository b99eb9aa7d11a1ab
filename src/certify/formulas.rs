//! Writes certificates of proofs by formulas. The machine is made into formulas once more, as the checker will do it
//! (`kanon_symbolic_checker`), and every question of the argument is decided from scratch, without assumptions: by a
//! refutation where the SAT solver finds one, otherwise by the word of an SMT solver. Also the proof that constants have
//! no other valuations, which stands behind the states of those certificates that need it.
//!
//! Absent on purpose: anything of the run that found the proof, apart from its lemmas.

use super::{Chunks, Failed};
use crate::model::Model;
use crate::model::open::Opened;
use crate::symbolic::encode::{Limits, Mutant};
use crate::value::Scope;
use kanon_checker::check::Constants;
use kanon_checker::codec::put_number;
use kanon_checker::container::{FULL, Kind, Writer};
use kanon_checker::statement::{Argument, Formulas, Statement};
use kanon_solver::blast::Width;
use kanon_solver::refute::{Clausal, Step, refute};
use kanon_solver::sat::least_width;
use kanon_solver::solver::{Make, NoAnswer, Outcome, Stop};
use kanon_solver::term::{Bool, Terms};
use kanon_symbolic_checker::argument::{Question, questions};
use kanon_symbolic_checker::check::{MAX_WIDTH, asked, encode, hash};
use kanon_symbolic_checker::constants::no_others;
use kanon_symbolic_checker::steps;
use std::io::Write;
use std::time::Duration;

/// A proof that was found.
pub struct Argued<'a> {
    /// The ways to argue, the first that succeeds.
    pub arguments: Vec<Argument>,
    /// The lemmas of an invariant, as bytes.
    pub lemmas: Vec<Vec<u8>>,
    /// The same as B.
    pub shown: Vec<String>,
    /// The SMT solver that may be asked where there is no refutation.
    pub solver: Option<(&'a str, &'a Make<'a>)>,
    /// A wrong encoding, planted by a test.
    pub mutant: Mutant,
}

/// What a refutation may take where somebody else can be asked.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the refutation of other valuations may cost, as the solver counts it, and its formula: as much as finding them.
const EFFORT: u64 = 60_000_000;
const STEPS: u64 = 4_000_000;

/// The least bits of integers without bounds.
const WIDTH: usize = 8;

/// Why a question has no model.
enum Decided {
    Refuted {
        width: usize,
        clauses: usize,
        hash: [u8; 32],
        steps: Vec<Step>,
    },
    /// By the word of the SMT solver, which was asked this.
    Told(String),
}

/// Writes the certificate of a proof: the statement, and the proof after it.
///
/// # Errors
/// Why there is none.
pub fn write_formulas<W: Write>(
    out: W,
    mut statement: Statement,
    opened: &Opened,
    found: &Argued,
    stop: &Stop,
) -> Result<W, Failed> {
    let mut last = Failed::Inside("there is no argument".into());
    for &argument in &found.arguments {
        let lemmas: &[Vec<u8>] = if argument == Argument::Invariant { &found.lemmas } else { &[] };
        match decided(&statement, opened, argument, lemmas, found, stop) {
            Ok(answers) => {
                let is_told = answers.iter().any(|a| matches!(a, Decided::Told(_)));
                let solver = found.solver.filter(|_| is_told).map(|(name, _)| name.to_string());
                let shown = if argument == Argument::Invariant { found.shown.clone() } else { vec![] };
                statement.formulas = Some(Formulas { argument, lemmas: shown, solver });
                return written(out, &statement.json(), lemmas, &answers);
            }
            Err(Failed::Stopped) => return Err(Failed::Stopped),
            Err(why) => last = why,
        }
    }
    Err(last)
}

fn decided(
    statement: &Statement,
    opened: &Opened,
    argument: Argument,
    lemmas: &[Vec<u8>],
    found: &Argued,
    stop: &Stop,
) -> Result<Vec<Decided>, Failed> {
    let inside = |why: String| Failed::Inside(why);
    let mut encoded = encode(opened, statement, found.mutant).map_err(|why| inside(why.to_string()))?;
    let all = questions(&mut encoded, &argument, lemmas).map_err(|why| inside(why.into()))?;
    all.iter().map(|q| decide(&encoded.encoder.terms, q, found, stop)).collect()
}

fn decide(terms: &Terms, q: &Question, found: &Argued, stop: &Stop) -> Result<Decided, Failed> {
    let within = if found.solver.is_some() { stop.within(PATIENCE) } else { stop.clone() };
    let why = match refuted(terms, &q.claims, &within) {
        Ok(Some(decided)) => return Ok(decided),
        Ok(None) => "a model of its circuits was found".to_string(),
        Err(NoAnswer::Stopped) => "the time is up".to_string(),
        Err(why) => format!("{why:?}"),
    };
    if stop.is_over() {
        return Err(Failed::Stopped);
    }
    let Some((_, make)) = found.solver else {
        return Err(Failed::Inside(format!("{}: {why}", q.name)));
    };
    let mut solver = make().map_err(Failed::Inside)?;
    q.claims.iter().for_each(|c| solver.assert(terms, *c));
    match solver.check(terms, &[]) {
        Outcome::Unsat(_) => Ok(Decided::Told(asked(terms, q))),
        _ => Err(Failed::Inside(format!("{}: no solver has an answer", q.name))),
    }
}

/// A refutation at the first width that has one; none if wider circuits do not help.
fn refuted(terms: &Terms, claims: &[Bool], stop: &Stop) -> Result<Option<Decided>, NoAnswer> {
    let mut width = WIDTH.max(least_width(terms, claims.iter().copied()));
    let mut before = None;
    while width <= MAX_WIDTH {
        let clauses = Clausal::of(terms, claims, Width(width), stop).ok_or(NoAnswer::Stopped)?;
        let hash = hash(&clauses);
        if before == Some(hash) {
            return Ok(None);
        }
        if let Some(steps) = refute(&clauses, stop)? {
            return Ok(Some(Decided::Refuted { width, clauses: clauses.len(), hash, steps }));
        }
        before = Some(hash);
        width *= 2;
    }
    Ok(None)
}

/// Appends the proof that PROPERTIES have no other valuations than those that are listed, if it can be had soon:
/// otherwise that is believed, and whoever checks the certificate says so.
pub(super) fn write_no_others<W: Write>(
    writer: &mut Writer<W>,
    model: &Model,
    scope: &Scope,
    listed: &[Constants],
    flag: &crate::system::Stop,
) -> Result<(), Failed> {
    let stop = Stop::never().with_flag(flag.clone()).with_effort(EFFORT);
    let limits = Limits { steps: STEPS, stop: Some(flag.clone()), ..Limits::default() };
    let Ok((encoded, questions)) = no_others(model, scope, listed, limits) else { return Ok(()) };
    let mut answers = vec![];
    for q in &questions {
        match refuted(&encoded.encoder.terms, &q.claims, &stop) {
            Ok(Some(answer)) => answers.push(answer),
            Ok(None) | Err(_) => return Ok(()),
        }
    }
    answers.iter().try_for_each(|answer| put_answer(writer, answer))
}

fn written<W: Write>(out: W, statement: &str, lemmas: &[Vec<u8>], answers: &[Decided]) -> Result<W, Failed> {
    let mut writer = Writer::new(out, statement)?;
    let mut chunks = Chunks { writer: &mut writer, kind: Kind::Lemmas, bytes: vec![] };
    for lemma in lemmas {
        put_number(&mut chunks.bytes, lemma.len() as u64);
        chunks.bytes.extend(lemma);
        chunks.end_of_record()?;
    }
    chunks.flush()?;
    for answer in answers {
        put_answer(&mut writer, answer)?;
    }
    Ok(writer.seal()?)
}

fn put_answer<W: Write>(writer: &mut Writer<W>, answer: &Decided) -> Result<(), Failed> {
    let mut question = vec![];
    let (width, clauses, hash, steps) = match answer {
        Decided::Refuted { width, clauses, hash, steps } => (width, clauses, hash, steps),
        Decided::Told(query) => {
            put_number(&mut question, 0);
            writer.chunk(Kind::Question, &question)?;
            for part in query.as_bytes().chunks(FULL) {
                writer.chunk(Kind::Query, part)?;
            }
            return Ok(());
        }
    };
    put_number(&mut question, *width as u64);
    put_number(&mut question, *clauses as u64);
    question.extend(hash);
    writer.chunk(Kind::Question, &question)?;
    let mut chunks = Chunks { writer, kind: Kind::Steps, bytes: vec![] };
    for (number, step) in (*clauses as u64..).zip(steps) {
        steps::put(&mut chunks.bytes, step, number);
        chunks.end_of_record()?;
    }
    Ok(chunks.flush()?)
}
