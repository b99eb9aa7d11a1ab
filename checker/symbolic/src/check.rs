//! The check of a certificate by formulas.
//!
//! A question in the file: the width of the circuits as a number. If it is 0, there is no refutation, and behind it stands
//! what an SMT solver was asked; otherwise how many clauses as a number, their hash, and behind it the steps. The hash is BLAKE3 of the number of wires and, for each clause, how many
//! literals and each literal, all as numbers.

use crate::argument::{Question, questions};
use crate::steps::{Refutation, Wrong};
use kanon_checker::check::{goal, opened};
use kanon_checker::codec::{Bytes, put_number};
use kanon_checker::container::{Kind, Reader};
use kanon_checker::statement::{Goal, Statement};
use kanon_language::model::open::Opened;
use kanon_language::model::reading::Reading;
use kanon_solver::blast::Width;
use kanon_solver::refute::Clausal;
use kanon_solver::sat::least_width;
use kanon_solver::smt::{self, Smt};
use kanon_solver::smtlib::query;
use kanon_solver::solver::{Outcome, Solver, Stop};
use kanon_solver::term::Terms;
use kanon_symbolic::symbolic::encode::{Limits, Mutant};
use kanon_symbolic::symbolic::machine::{self, Encoded, Wanted};
use std::fmt;
use std::io::Read;
use std::path::Path;

/// Bits of an integer at most.
pub const MAX_WIDTH: usize = 256;

/// A certificate that is accepted, the encoder and its circuits being trusted.
#[derive(Debug)]
pub struct Accepted {
    pub statement: Statement,
    /// What was asked.
    pub questions: u64,
    pub clauses: u64,
    pub steps: u64,
    /// Questions that have no refutation, and the solver that agrees that they have no model: it is believed.
    pub relative: Option<(u64, String)>,
}

/// The first thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// The file, the statement, the model, or how they fit.
    Form(kanon_checker::Rejected),
    /// This program has nothing to say about it.
    NoProofByFormulas,
    /// The encoder refuses the machine, or a part of what is claimed.
    NoFormula(String),
    /// The argument is none, or does not fit the machine.
    Argument(&'static str),
    Malformed {
        chunk: usize,
        why: &'static str,
    },
    /// The proof ends before all questions are answered.
    Missing {
        question: String,
    },
    /// There are more answers than questions.
    TooMany,
    /// Circuits that are too narrow for the numbers in them, or too wide.
    Width {
        question: String,
    },
    /// The clauses are not those that the model has.
    OtherClauses {
        question: String,
    },
    Step {
        question: String,
        wrong: Wrong,
    },
    /// A question without a refutation, though no solver is named.
    NoRefutation {
        question: String,
    },
    /// What a solver was asked is not what the model asks.
    OtherQuery {
        question: String,
    },
    /// The statement names somebody who is no solver, or one who was not asked anything.
    NoSolver(String),
    /// Another solver has found a model.
    HasModel {
        question: String,
        solver: String,
    },
    /// Another solver is needed, and has no answer. Then nobody knows.
    Undecided {
        question: String,
        why: String,
    },
}

impl Rejected {
    /// Whether nothing is known to be wrong.
    pub fn is_undecided(&self) -> bool {
        match self {
            Rejected::Form(why) => why.is_undecided(),
            other => matches!(other, Rejected::Undecided { .. }),
        }
    }
}

impl From<kanon_checker::Rejected> for Rejected {
    fn from(why: kanon_checker::Rejected) -> Rejected {
        Rejected::Form(why)
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Rejected::Form(why) => write!(f, "{why}"),
            Rejected::NoProofByFormulas => {
                f.write_str("this is no proof by formulas: kanon-checker checks the others")
            }
            Rejected::NoFormula(why) => write!(f, "there is no formula for it: {why}"),
            Rejected::Argument(why) => write!(f, "the argument: {why}"),
            Rejected::Malformed { chunk, why } => write!(f, "chunk {chunk}: {why}"),
            Rejected::Missing { question } => write!(f, "nothing is said about this: {question}"),
            Rejected::TooMany => f.write_str("the proof answers more than is asked"),
            Rejected::Width { question } => write!(f, "{question}: circuits of this width are not taken"),
            Rejected::OtherClauses { question } => {
                write!(f, "{question}: the clauses are not those of the model")
            }
            Rejected::Step { question, wrong } => write!(f, "{question}: {wrong}"),
            Rejected::NoRefutation { question } => write!(f, "{question}: there is no refutation"),
            Rejected::OtherQuery { question } => {
                write!(f, "{question}: what a solver was asked is not what the model asks")
            }
            Rejected::NoSolver(name) => write!(f, "{name} is no solver that was asked"),
            Rejected::HasModel { question, solver } => write!(f, "{question}: {solver} has found a model"),
            Rejected::Undecided { question, why } => write!(f, "{question}: {why}"),
        }
    }
}

impl std::error::Error for Rejected {}

/// Checks a certificate of a model. `solver` is the one to ask where there is no refutation; unless given, one that is
/// installed and is not the one of the certificate.
///
/// # Errors
/// The first thing that is wrong.
pub fn check<R: Read>(model: &Path, certificate: R, solver: Option<&str>) -> Result<Accepted, Rejected> {
    let (reader, text) = Reader::new(certificate)?;
    let statement = Statement::read(&text)?;
    if statement.formulas.is_none() {
        return Err(Rejected::NoProofByFormulas);
    }
    let mut opened = opened(model, &statement)?;
    opened.model.goal = goal(&mut opened, &statement)?;
    check_opened(&opened, statement, reader, solver)
}

/// The machine as formulas: the same for whoever writes a certificate and for whoever checks it.
///
/// # Errors
/// What has no formula.
pub fn encode<'m>(
    opened: &'m Opened,
    statement: &Statement,
    mutant: Mutant,
) -> Result<Encoded<'m>, Rejected> {
    let (model, claims) = (&opened.model, &statement.claims);
    if statement.wd != Reading::Kleene.name() {
        return Err(Rejected::NoFormula("formulas follow the default reading of undefined terms".into()));
    }
    if claims.no_deadlock && !model.operations.iter().any(|o| o.is_event) {
        return Err(Rejected::NoFormula("without operations every state is a deadlock".into()));
    }
    if let Some(why) = model.not_covered(claims.no_deadlock) {
        return Err(Rejected::NoFormula(why));
    }
    let wanted = Wanted {
        invariant: claims.invariant,
        assertions: claims.assertions,
        goal: claims.goal != Goal::Ignored,
        deadlock: claims.no_deadlock,
    };
    let limits = Limits { open_quantifiers: true, ..Limits::default() };
    let encoded = machine::encode(model, &opened.scope, wanted, limits, mutant)
        .map_err(|r| Rejected::NoFormula(r.why.clone()))?;
    match encoded.uncovered.first() {
        Some((_, refused)) => Err(Rejected::NoFormula(refused.why.clone())),
        None => Ok(encoded),
    }
}

/// A question as SMT-LIB 2.
pub fn asked(terms: &Terms, q: &Question) -> String {
    let mut text = String::new();
    query(terms, q.claims.iter().copied(), &mut text);
    text
}

/// The hash of clauses.
pub fn hash(clauses: &Clausal) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = vec![];
    put_number(&mut bytes, u64::from(clauses.wires()));
    for clause in clauses.iter() {
        put_number(&mut bytes, clause.len() as u64);
        clause.iter().for_each(|l| put_number(&mut bytes, u64::from(l.0)));
        hasher.update(&bytes);
        bytes.clear();
    }
    hasher.update(&bytes);
    *hasher.finalize().as_bytes()
}

/// The chunks of a file, one after the other.
pub(crate) struct Unread<R: Read> {
    reader: Reader<R>,
    number: usize,
    /// The next one, with its number.
    pub chunk: Option<(usize, Kind, Vec<u8>)>,
}

impl<R: Read> Unread<R> {
    pub fn new(reader: Reader<R>) -> Unread<R> {
        Unread { reader, number: 0, chunk: None }
    }

    pub fn advance(&mut self) -> Result<(), Rejected> {
        self.number += 1;
        self.chunk = self.reader.chunk()?.map(|(kind, content)| (self.number, kind, content));
        Ok(())
    }

    /// Whether the next chunk belongs to a proof without formulas.
    pub fn is_before_questions(&self) -> bool {
        self.chunk.as_ref().is_some_and(|(_, kind, _)| kind.place() < Kind::Question.place())
    }
}

/// Follows the refutation of a question: its clauses are made again, and the steps are those of the chunks behind it. Its
/// clauses and steps. `rest` is what its chunk, of this number, says after the width.
pub(crate) fn refutation<R: Read>(
    terms: &Terms,
    q: &Question,
    width: usize,
    (number, rest): (usize, &mut Bytes),
    unread: &mut Unread<R>,
) -> Result<(u64, u64), Rejected> {
    let question = || q.name.clone();
    let malformed = Rejected::Malformed { chunk: number, why: "a question is not written as one" };
    let claimed = rest.number().ok_or(malformed.clone())?;
    let claimed_hash = rest.take(32).ok_or(malformed.clone())?;
    if !rest.is_empty() {
        return Err(malformed);
    }
    if width > MAX_WIDTH || width < least_width(terms, q.claims.iter().copied()) {
        return Err(Rejected::Width { question: question() });
    }
    // Nobody stops it.
    let made = Clausal::of(terms, &q.claims, Width(width), &Stop::never());
    let made = made.ok_or(Rejected::OtherClauses { question: question() })?;
    if made.len() as u64 != claimed || hash(&made) != *claimed_hash {
        return Err(Rejected::OtherClauses { question: question() });
    }
    let mut refutation = Refutation::of(&made);
    let wrong = |wrong| Rejected::Step { question: question(), wrong };
    unread.advance()?;
    while let Some((_, Kind::Steps, content)) = &unread.chunk {
        let mut bytes = Bytes::new(content);
        while !bytes.is_empty() {
            refutation.follow(&mut bytes).map_err(wrong)?;
        }
        unread.advance()?;
    }
    Ok((claimed, refutation.end().map_err(wrong)?))
}

/// Checks the proof of a statement about this model at this scope: that they are those of the statement is up to the
/// caller.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_opened<R: Read>(
    opened: &Opened,
    statement: Statement,
    reader: Reader<R>,
    solver: Option<&str>,
) -> Result<Accepted, Rejected> {
    let Some(formulas) = &statement.formulas else { return Err(Rejected::NoProofByFormulas) };
    let mut unread = Unread::new(reader);
    let mut lemmas = vec![];
    unread.advance()?;
    while let Some((number, Kind::Lemmas, content)) = &unread.chunk {
        let malformed = Rejected::Malformed { chunk: *number, why: "a lemma is not written as one" };
        let mut bytes = Bytes::new(content);
        while !bytes.is_empty() {
            let length = bytes.number().and_then(|n| usize::try_from(n).ok());
            let lemma = length.and_then(|n| bytes.take(n)).ok_or(malformed.clone())?;
            lemmas.push(lemma.to_vec());
        }
        unread.advance()?;
    }
    let mut encoded = encode(opened, &statement, Mutant::None)?;
    let all = questions(&mut encoded, &formulas.argument, &lemmas).map_err(Rejected::Argument)?;
    let terms = &encoded.encoder.terms;
    let (mut clauses, mut steps, mut without) = (0, 0, vec![]);
    for q in &all {
        let Some((number, Kind::Question, content)) = unread.chunk.take() else {
            return Err(Rejected::Missing { question: q.name.clone() });
        };
        let malformed = Rejected::Malformed { chunk: number, why: "a question is not written as one" };
        let mut bytes = Bytes::new(&content);
        let width = bytes.number().and_then(|n| usize::try_from(n).ok()).ok_or(malformed.clone())?;
        if width == 0 {
            if !bytes.is_empty() {
                return Err(malformed);
            }
            let mut text: Vec<u8> = vec![];
            unread.advance()?;
            while let Some((_, Kind::Query, content)) = &unread.chunk {
                text.extend(content);
                unread.advance()?;
            }
            if text != asked(terms, q).as_bytes() {
                return Err(Rejected::OtherQuery { question: q.name.clone() });
            }
            without.push(q);
            continue;
        }
        let (c, s) = refutation(terms, q, width, (number, &mut bytes), &mut unread)?;
        clauses += c;
        steps += s;
    }
    if unread.chunk.is_some() {
        return Err(Rejected::TooMany);
    }
    let relative = match (without.first(), &formulas.solver) {
        (None, None) => None,
        // Whoever is named is believed, so nobody is named for nothing.
        (None, Some(name)) => return Err(Rejected::NoSolver(name.clone())),
        (Some(first), None) => return Err(Rejected::NoRefutation { question: first.name.clone() }),
        (Some(_), Some(theirs)) if !smt::KNOWN.contains(&theirs.as_str()) => {
            return Err(Rejected::NoSolver(theirs.clone()));
        }
        (Some(_), Some(theirs)) => Some((without.len() as u64, another(&encoded, &without, theirs, solver)?)),
    };
    Ok(Accepted { questions: all.len() as u64, clauses, steps, relative, statement })
}

/// Asks another solver than the one of the certificate; its name if it has found no model of any question.
fn another(
    encoded: &Encoded,
    questions: &[&Question],
    theirs: &str,
    given: Option<&str>,
) -> Result<String, Rejected> {
    let undecided = |q: &Question, why: String| Rejected::Undecided { question: q.name.clone(), why };
    let installed = smt::installed();
    let Some(name) = given.or_else(|| installed.iter().copied().find(|s| *s != theirs)) else {
        let why = format!("it rests on {theirs}, and no other solver is installed");
        return Err(undecided(questions[0], why));
    };
    if name == theirs {
        return Err(undecided(questions[0], format!("it rests on {theirs} already: another one is needed")));
    }
    for q in questions {
        let mut solver = Smt::start(name, Stop::never()).map_err(|why| undecided(q, why))?;
        for &claim in &q.claims {
            solver.assert(&encoded.encoder.terms, claim);
        }
        match solver.check(&encoded.encoder.terms, &[]) {
            Outcome::Unsat(_) => {}
            Outcome::Sat(_) => {
                return Err(Rejected::HasModel { question: q.name.clone(), solver: name.to_string() });
            }
            Outcome::Unknown(why) => return Err(undecided(q, format!("{name} has no answer ({why:?})"))),
        }
    }
    Ok(name.to_string())
}
