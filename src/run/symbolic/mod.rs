//! Checks a machine with formulas: bounded model checking, its variant over sequences of operations, k-induction, IC3,
//! and all of them beside explicit search.
//!
//! The observers are those of [`super::check`]: conjuncts of the invariant, assertions, the goal, deadlocks, and that
//! everything has a value. A finding counts when the evaluator has run its path and judged its last state itself
//! ([`path`]). Holds needs a proof of an engine that a fresh solver has checked, and formulas for all observers.

pub(super) mod clauses;
mod path;
mod portfolio;

pub use portfolio::{Decided, portfolio};

use super::answer::{Counterexample, Decision};
use super::blame;
use super::certificate;
use super::deadline::Deadline;
use super::notes;
use super::project::Project;
use super::proofs;
use super::why;
use crate::certify::Argued;
use crate::explore::plan::Refusal;
use crate::explore::{Options, Order};
use crate::lang::diag::{Diagnostic, Span};
use crate::model::open::Opened;
use crate::model::reading::{self, Reading};
use crate::model::{Fact, Model};
use crate::run::constants::Constants;
use crate::symbolic::Refused;
use crate::symbolic::encode::{Limits, Mutant};
use crate::symbolic::machine::{self, Encoded, Observer, Wanted};
use crate::symmetry::Strategy;
use crate::value::fault::Fault;
use crate::verdict::{Inductive, Proof, Verdict, Why};
use kanon_checker::statement::Argument;
use kanon_solver::engine::{Answer, Preserved, Settings};
use kanon_solver::sat::Sat;
use kanon_solver::smt::{self, Smt};
use kanon_solver::solver::{Outcome, Solver, Stop};
use kanon_solver::term::Bool;
use kanon_solver::unroll::{Unrolling, good};
use kanon_solver::{bmc, ic3, kinduction, sequences};
use kanon_symbolic_checker::lemma::Places;
use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How a machine is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Paths of 0, 1, 2 … steps.
    Bmc,
    /// The same, sequence of operations by sequence of operations.
    BmcStar,
    /// Induction over the length of paths.
    KInduction,
    /// Frames, strengthened until one is inductive.
    Ic3,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 4] = [Engine::Bmc, Engine::BmcStar, Engine::KInduction, Engine::Ic3];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Bmc => "bmc",
            Engine::BmcStar => "bmc-star",
            Engine::KInduction => "kinduction",
            Engine::Ic3 => "ic3",
        }
    }
}

/// Who decides formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// SAT where every integer is bounded, an SMT solver where one is not, if one is installed.
    #[default]
    Auto,
    /// Circuits, and the built-in SAT solver.
    Sat,
    /// As a process.
    Z3,
    /// As a process.
    Cvc5,
}

impl Backend {
    /// All of them.
    pub const ALL: [Backend; 4] = [Backend::Auto, Backend::Sat, Backend::Z3, Backend::Cvc5];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Auto => "auto",
            Backend::Sat => "sat",
            Backend::Z3 => "z3",
            Backend::Cvc5 => "cvc5",
        }
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub struct Task {
    /// How.
    pub engine: Engine,
    /// Steps of a path, k of a k-induction, frames of IC3.
    pub depth: usize,
    /// Who decides formulas.
    pub solver: Backend,
    /// Ask first which operation preserves which conjunct, and use it.
    pub proof_info: bool,
    /// What is looked for.
    pub options: Options,
    /// A file for the certificate of a Holds.
    pub certificate: Option<PathBuf>,
    /// A wrong encoding, planted by a test.
    #[doc(hidden)]
    pub mutant: Mutant,
}

impl Task {
    /// Everything is looked for, without a limit.
    pub fn new(engine: Engine) -> Task {
        Task {
            engine,
            depth: DEPTH,
            solver: Backend::Auto,
            proof_info: false,
            options: Options::default(),
            certificate: None,
            mutant: Mutant::None,
        }
    }
}

/// So deep if nothing is said.
pub const DEPTH: usize = 1000;

/// Sequences of operations that are looked at.
const MOST_SEQUENCES: usize = 1_000_000;

/// What another solver has to look at a proof.
const SECOND_LOOK: Duration = Duration::from_secs(4);

pub(super) const WD: Refusal =
    Refusal("formulas follow the default reading of undefined terms: leave out `--wd`");
const PROB: Refusal = Refusal(
    "`--constants prob` leaves out valuations of the constants, and formulas are about all of them: leave it out",
);
const SYMMETRY: Refusal = Refusal(
    "engines that work with formulas meet no single states, so there is nothing to permute: leave out `--symmetry`",
);
const ORDER: Refusal =
    Refusal("engines that work with formulas have an order of their own: leave out `--order`");
const ALL: Refusal =
    Refusal("`--all` counts states, which only explicit search does: leave out `--all` or `--engine`");
const COUNTS: Refusal = Refusal(
    "`--max-states`, `--max-constants`, `--max-memory` and `--stats` are about states, which only explicit search has: \
     leave them out, or take `--engine explicit`",
);
const PROVED: Refusal = Refusal(
    "what is only said to be proved is in no certificate: leave out `--certificate` or `--proof-info`",
);
const SHORTEST: Refusal =
    Refusal("`--shortest` is for explicit search; `--engine bmc` always finds a shortest trace");

/// Whether options go together with an engine that works with formulas.
///
/// # Errors
/// What does not.
pub fn plan(options: &Options, constants: Constants, max_constants: Option<usize>) -> Result<(), Refusal> {
    let is_limited = options.max_states.is_some() || options.max_memory.is_some() || max_constants.is_some();
    let rules = [
        (PROB, constants != Constants::All),
        (SYMMETRY, !matches!(options.symmetry, Strategy::Auto | Strategy::Off)),
        (ORDER, options.order != Order::Bfs || options.seed.is_some()),
        (ALL, options.all),
        (COUNTS, is_limited || options.timed),
        (SHORTEST, options.shortest),
    ];
    rules.into_iter().find(|(_, applies)| *applies).map_or(Ok(()), |(why, _)| Err(why))
}

/// The answer of an engine.
pub struct Answered {
    /// Whose answer it is.
    pub engine: Engine,
    /// The verdict without its details.
    pub verdict: Decision,
    /// What was found, or why there is no answer.
    pub reason: Option<String>,
    /// The run that leads to a bad state.
    pub finding: Option<Counterexample>,
    /// Who decided formulas.
    pub solver: String,
    /// No path up to this length is bad; k; or frames.
    pub depth: usize,
    /// When each depth, k or frame was done, in seconds from the beginning.
    pub depths: Vec<(usize, f64)>,
    /// Of a proof: the inductive invariant beside the machine's own, as B.
    pub invariant: Vec<String>,
    /// Of a proof: the solvers that agree.
    pub checked_by: Vec<String>,
    /// What is known to be preserved, of how many questions.
    pub preserved: Option<(usize, usize)>,
    /// Obligations that the file says are discharged, and that this rests on.
    pub rests_on: Vec<String>,
    /// Where the certificate was written that was asked for, or why it was not.
    pub certificate: Option<Result<PathBuf, String>>,
    /// What has no formula, and why: no answer is about it.
    pub uncovered: Vec<String>,
    /// Variables of a state, and terms.
    pub size: (usize, usize),
    /// The model is wrong: no constants fulfil PROPERTIES.
    pub refuted: Option<Diagnostic>,
    /// What should be known beside the verdict.
    pub notes: Vec<String>,
    /// Formulas and the engine.
    pub seconds: f64,
    /// The whole run.
    pub total_seconds: f64,
}

impl Answered {
    fn new(task: &Task) -> Answered {
        Answered {
            engine: task.engine,
            verdict: Decision::Unknown,
            reason: None,
            finding: None,
            solver: String::new(),
            depth: 0,
            depths: vec![],
            invariant: vec![],
            checked_by: vec![],
            preserved: None,
            rests_on: vec![],
            certificate: None,
            uncovered: vec![],
            size: (0, 0),
            refuted: None,
            notes: vec![],
            seconds: 0.0,
            total_seconds: 0.0,
        }
    }
}

/// Checks a machine with one engine. `progress` is told of every depth.
///
/// # Errors
/// Another reading of undefined terms than the default.
pub fn answer(
    project: &Project,
    task: &Task,
    deadline: &Deadline,
    progress: &dyn Fn(usize),
) -> Result<Answered, Refusal> {
    let begin = Instant::now();
    if project.opened.reading != Reading::Kleene {
        return Err(WD);
    }
    plan(&task.options, project.constants, project.max_constants)?;
    if task.certificate.is_some() && task.proof_info {
        return Err(PROVED);
    }
    let mut answered = Answered::new(task);
    let depths = RefCell::new(vec![]);
    let tell = |depth: usize| {
        depths.borrow_mut().push((depth, begin.elapsed().as_secs_f64()));
        progress(depth);
    };
    let verdict = came(project, task, deadline, &tell, &mut answered);
    answered.depths = depths.into_inner();
    let verdict = deadline.explain(verdict);
    let opened = &project.opened;
    answered.verdict = verdict.word();
    match verdict {
        Verdict::Holds(_) => {
            answered.notes.extend(
                (task.options.goal && opened.model.goal.is_some()).then(|| notes::NO_GOAL.to_string()),
            );
            answered.notes.extend(notes::scope(opened));
        }
        Verdict::Fails(found) => {
            answered.reason = Some(found.message.clone());
            answered.finding = Some(*found);
        }
        Verdict::Unknown(why) => answered.reason = Some(why::text(&why, opened)),
    }
    answered.seconds = begin.elapsed().as_secs_f64();
    answered.total_seconds = answered.seconds;
    Ok(answered)
}

/// Something that has no formula, in words.
pub(super) fn refused(opened: &Opened, r: &Refused) -> String {
    match opened.sources.get(r.span.file) {
        Some(_) => format!("{} ({})", r.why, opened.sources.place(r.span)),
        None => r.why.clone(),
    }
}

pub(super) fn named(opened: &Opened, observer: Observer) -> String {
    let model = &opened.model;
    let text = |e: Option<&crate::model::Expr>| match e {
        Some(e) => {
            format!("`{}`", opened.sources.text(e.span).split_whitespace().collect::<Vec<_>>().join(" "))
        }
        None => String::new(),
    };
    match observer {
        Observer::Invariant(i) => format!("the conjunct {} of the invariant", text(model.invariant.get(i))),
        Observer::Assertion(i) => format!("the assertion {}", text(model.assertions.get(i))),
        Observer::Goal => "the goal".into(),
        Observer::Deadlock => "whether there are deadlocks (`--no-deadlock` leaves the question out)".into(),
        Observer::Definedness(op) => match model.operations.get(op.index()) {
            Some(op) => format!("whether {} has a value", op.name),
            None => "whether an operation has a value".into(),
        },
        Observer::Outside => "whether the formulas have room for all states".into(),
    }
}

/// The solvers for a run.
pub(super) struct Solvers {
    pub(super) first: Backend,
    other: Option<Backend>,
    stop: Stop,
}

pub(super) fn start(backend: Backend, stop: &Stop) -> Result<Box<dyn Solver>, String> {
    Ok(match backend {
        Backend::Auto | Backend::Sat => Box::new(Sat::new(stop.clone())),
        Backend::Z3 | Backend::Cvc5 => Box::new(Smt::start(backend.name(), stop.clone())?),
    })
}

impl Solvers {
    pub(super) fn choose(asked: Backend, encoded: &Encoded, stop: Stop) -> Solvers {
        let installed = smt::installed();
        let smt = [Backend::Z3, Backend::Cvc5].into_iter().filter(|b| installed.contains(&b.name()));
        let smt: Vec<Backend> = smt.collect();
        let first = match asked {
            Backend::Auto if encoded.has_unbounded_integers() => smt.first().copied().unwrap_or(Backend::Sat),
            Backend::Auto => Backend::Sat,
            asked => asked,
        };
        // Circuits are another kind than both programs, and decide where nothing overflows.
        let other = match first {
            Backend::Z3 | Backend::Cvc5 if !encoded.has_unbounded_integers() => Some(Backend::Sat),
            _ => smt.into_iter().find(|b| *b != first),
        };
        Solvers { first, other, stop }
    }

    /// Who is asked first.
    pub(super) fn first_name(&self) -> &'static str {
        match self.first {
            Backend::Auto | Backend::Sat => "cadical",
            other => other.name(),
        }
    }
}

/// What the engines look for.
pub(super) fn wanted(model: &Model, options: &Options) -> Wanted {
    Wanted {
        invariant: options.invariant,
        assertions: options.assertions,
        goal: options.goal,
        deadlock: options.deadlock && model.operations.iter().any(|o| o.is_event),
    }
}

/// The machine as formulas.
pub(super) fn formulas<'m>(
    opened: &'m Opened,
    wanted: Wanted,
    mutant: Mutant,
    deadline: &Deadline,
) -> Result<Encoded<'m>, Why> {
    let limits = Limits { stop: Some(deadline.flag.clone()), open_quantifiers: true, ..Limits::default() };
    machine::encode(&opened.model, &opened.scope, wanted, limits, mutant).map_err(|r| {
        match deadline.is_set() {
            true => Why::Limit(Fault::limit(r.why)),
            false => Why::Formulas(format!("there is no formula for the machine: {}", refused(opened, &r))),
        }
    })
}

/// Why an engine cannot begin.
pub(super) enum NoStart {
    /// No constants fulfil PROPERTIES, not even this conjunct alone, if it is known.
    Unsatisfiable(Option<Span>),
    Other(Why),
}

impl NoStart {
    pub(super) fn why(self) -> Why {
        match self {
            NoStart::Unsatisfiable(_) => {
                Why::Formulas("PROPERTIES cannot be satisfied, so there is nothing that could hold".into())
            }
            NoStart::Other(why) => why,
        }
    }
}

/// What a conjunct of PROPERTIES that is false by itself may cost to find.
const BLAME: Duration = Duration::from_secs(2);

/// Whether there is an initial state. If not, INITIALISATION has no value for some constants, which is bad.
///
/// # Errors
/// There is nothing that could hold, PROPERTIES have no value, or nobody knows.
pub(super) fn has_start(solvers: &Solvers, encoded: &mut Encoded) -> Result<bool, NoStart> {
    let no = |why: &str| Err(NoStart::Other(Why::Formulas(why.into())));
    let ask = |encoded: &mut Encoded, claims: &[Bool]| {
        ask(solvers, &solvers.stop, encoded, claims).map_err(|why| NoStart::Other(Why::Formulas(why)))
    };
    // PROPERTIES that have no value for some constants are the business of explicit search.
    let undefined_properties = encoded.undefined_properties;
    match undefined_properties {
        Some(undefined) if ask(encoded, &[undefined])? => {
            return no("PROPERTIES have no value for some constants: use explicit search");
        }
        Some(_) => {}
        None => return no("PROPERTIES bound a constant by what may have no value: use explicit search"),
    }
    let t = &encoded.transitions;
    let (axioms, init, init_undefined) = (t.axioms, t.init, t.init_undefined);
    if ask(encoded, &[axioms, init])? {
        return Ok(true);
    }
    if !ask(encoded, &[axioms])? {
        let stop = solvers.stop.within(BLAME);
        let mut culprit = None;
        for (span, conjunct) in encoded.conjuncts.clone() {
            if stop.is_over() {
                break;
            }
            if self::ask(solvers, &stop, encoded, &[conjunct]) == Ok(false) {
                culprit = Some(span);
                break;
            }
        }
        return Err(NoStart::Unsatisfiable(culprit));
    }
    if !ask(encoded, &[axioms, init_undefined])? {
        return Err(NoStart::Other(Why::NoInitialState));
    }
    Ok(false)
}

/// The error of a model whose PROPERTIES are false because of conjuncts that have formulas, though others have none.
fn refuted(opened: &Opened, solver: Backend, stop: &Stop, deadline: &Deadline) -> Option<Diagnostic> {
    let limits = Limits { stop: Some(deadline.flag.clone()), ..Limits::default() };
    let alone = machine::properties_alone(&opened.model, &opened.scope, limits).ok()?;
    let machine::Alone { mut encoder, mut quantifiers, is_not_false, conjuncts } = alone;
    let stop = stop.within(BLAME);
    let backend = match (solver, smt::installed().first()) {
        (Backend::Auto, Some(&"z3")) => Backend::Z3,
        (Backend::Auto, Some(&"cvc5")) => Backend::Cvc5,
        (solver, _) => solver,
    };
    let make = || start(backend, &stop);
    let mut is_false = |claim: Bool| {
        let decided = quantifiers.decide(&mut encoder.terms, &[claim], &make, &stop);
        decided.is_ok_and(|d| d.model.is_none())
    };
    if !is_false(is_not_false) {
        return None;
    }
    let culprit = conjuncts.into_iter().find(|(_, claim)| is_false(*claim)).map(|(span, _)| span);
    Some(blame::unsatisfiable(opened, culprit))
}

fn came(
    project: &Project,
    task: &Task,
    deadline: &Deadline,
    progress: &dyn Fn(usize),
    answered: &mut Answered,
) -> Verdict<Box<Counterexample>> {
    let opened = &project.opened;
    let model = &opened.model;
    let no = |why: String| Verdict::Unknown(Why::Formulas(why));
    let wanted = wanted(model, &task.options);
    if task.options.deadlock && !wanted.deadlock {
        answered.notes.push(notes::NO_OPERATIONS.to_string());
    }
    let stop = Stop::never().with_flag(deadline.flag.clone());
    let mut encoded = match formulas(opened, wanted, task.mutant, deadline) {
        Ok(encoded) => encoded,
        Err(why) => {
            answered.refuted = refuted(opened, task.solver, &stop, deadline);
            return Verdict::Unknown(why);
        }
    };
    answered.size = (encoded.transitions.cells.len(), encoded.encoder.terms.size());
    for (observer, r) in &encoded.uncovered {
        answered.uncovered.push(format!("{}: {}", named(opened, *observer), refused(opened, r)));
    }
    let solvers = Solvers::choose(task.solver, &encoded, stop.clone());
    answered.solver = solvers.first_name().into();
    let has_start = match has_start(&solvers, &mut encoded) {
        Ok(has) => has,
        Err(why) => {
            if let NoStart::Unsatisfiable(culprit) = &why {
                answered.refuted = Some(blame::unsatisfiable(opened, *culprit));
            }
            return Verdict::Unknown(why.why());
        }
    };
    let make = || start(solvers.first, &solvers.stop);
    let other_kind = solvers.other;
    let other = || match other_kind {
        Some(kind) => start(kind, &solvers.stop.within(SECOND_LOOK)),
        None => Err("no other solver is installed".into()),
    };
    let preserved = if task.proof_info {
        let facts = match may_rely(&task.options, &encoded) {
            true => model.kept.as_slice(),
            false => &[],
        };
        match preserved(&mut encoded, model, facts, &make, &stop) {
            Ok((known, (yes, all), by)) => {
                answered.preserved = Some((yes, all));
                answered.rests_on = proofs::names(model, &by);
                let is_used = !answered.rests_on.is_empty();
                let note = is_used.then(|| proofs::note(true, answered.rests_on.len(), model)).flatten();
                answered.notes.extend(note);
                Some(known)
            }
            Err(why) => return no(why),
        }
    } else {
        None
    };
    let settings = Settings {
        other: other_kind.map(|_| &other as _),
        stop: stop.clone(),
        depth: task.depth,
        preserved: preserved.as_ref(),
        on_depth: Some(progress),
        ..Settings::new(&make)
    };
    let found = loop {
        let (transitions, terms) = (encoded.transitions.clone(), &mut encoded.encoder.terms);
        let found = match task.engine {
            Engine::Bmc => bmc::bmc(terms, &transitions, &settings),
            Engine::BmcStar => sequences::sequences(terms, &transitions, &settings, MOST_SEQUENCES),
            Engine::KInduction => kinduction::k_induction(terms, &transitions, &settings),
            Engine::Ic3 => ic3::ic3(terms, &transitions, &settings),
        };
        // The axioms say less than PROPERTIES do where quantifiers were not unfolded: a path counts only for constants
        // that fulfil all of them. What these lack is an axiom from here on.
        let Answer::Fails(path) = &found else { break found };
        if encoded.quantifiers.is_empty() {
            break found;
        }
        let mut claims = encoded.same_constants(&path.first);
        claims.push(encoded.transitions.axioms);
        match ask(&solvers, &stop, &mut encoded, &claims) {
            Ok(true) => break found,
            Ok(false) => {}
            Err(why) => return no(why),
        }
    };
    match found {
        Answer::Unknown(unknown) => {
            answered.depth = unknown.depth;
            if deadline.is_set() {
                let why = deadline.why().unwrap_or(Why::Interrupted);
                answered.notes.push(format!("no path of up to {} steps ends in a bad state", unknown.depth));
                return Verdict::Unknown(why);
            }
            no(format!("{} (no path of up to {} steps ends in a bad state)", unknown.why, unknown.depth))
        }
        Answer::Fails(ce) => {
            answered.depth = ce.steps.len();
            if !ce.is_shortest {
                answered
                    .notes
                    .push("there may be a shorter trace (`--engine bmc` finds a shortest one)".into());
            }
            deadline.telling(|| path::confirmed(project, task, &encoded, &ce, deadline))
        }
        Answer::Holds(proof) => {
            answered.depth = proof.depth;
            answered.checked_by = proof.checked_by.clone();
            if let Some(why) = model.not_covered(wanted.deadlock) {
                return no(why);
            }
            if let Some(what) = answered.uncovered.first() {
                return no(format!("nothing was found, but there is no formula for {what}"));
            }
            match Inductive::of(&proof, encoded.uncovered.len(), has_start) {
                Ok(token) => {
                    answered.invariant = clauses::shown(&mut encoded, &proof, model);
                    let how = match task.engine {
                        Engine::Bmc | Engine::BmcStar => {
                            format!("no path has more than {} steps", proof.depth)
                        }
                        Engine::KInduction => format!("proved by induction over paths, k = {}", proof.depth),
                        Engine::Ic3 => {
                            format!("an inductive invariant was found with {} frames", proof.depth)
                        }
                    };
                    let who = proof.checked_by.join(" and ");
                    answered.notes.push(format!("{how}; checked again by {who}"));
                    if let Some(path) = &task.certificate {
                        let options = Options { deadlock: wanted.deadlock, ..task.options.clone() };
                        let found = certified(task, &mut encoded, &proof, &answered.invariant);
                        let smt = smt_name(&solvers).map(|name| (name, &make as _));
                        let written = found.and_then(|found| {
                            let found = Argued { solver: smt, ..found };
                            certificate::write_formulas(path, project, &options, &found, &stop)
                        });
                        answered.certificate = Some(written);
                    }
                    if encoded.has_unbounded_integers() {
                        answered.notes.push("this is for all integers: none was cut off".into());
                    }
                    Verdict::Holds(Proof::by_formulas(token))
                }
                Err(why) => Verdict::Unknown(why),
            }
        }
    }
}

/// The SMT solver that is asked first, if it is one.
fn smt_name(solvers: &Solvers) -> Option<&'static str> {
    match solvers.first {
        Backend::Auto | Backend::Sat => None,
        smt => Some(smt.name()),
    }
}

/// A proof as a certificate has it.
fn certified<'a>(
    task: &Task,
    encoded: &mut Encoded,
    proof: &kanon_solver::engine::Proof,
    shown: &[String],
) -> Result<Argued<'a>, String> {
    let depth = proof.depth as u64;
    let arguments = match task.engine {
        Engine::Ic3 => vec![Argument::Invariant],
        // Paths may have ended before anything was inductive.
        Engine::KInduction => vec![Argument::Induction(depth), Argument::End(depth)],
        Engine::Bmc | Engine::BmcStar => vec![Argument::End(depth), Argument::End(depth + 1)],
    };
    let own = good(&mut encoded.encoder.terms, &encoded.transitions);
    let places = Places::of(&encoded.transitions);
    let mut lemmas = vec![];
    for &lemma in proof.invariant.iter().flatten().filter(|b| **b != own) {
        let mut bytes = vec![];
        let put = places.put(&mut bytes, &encoded.encoder.terms, lemma);
        put.ok_or("a lemma has no form in a certificate")?;
        lemmas.push(bytes);
    }
    Ok(Argued { arguments, lemmas, shown: shown.to_vec(), solver: None, mutant: task.mutant })
}

/// Whether these are true together for some values. What is learned of quantifiers on the way becomes an axiom.
fn ask(solvers: &Solvers, stop: &Stop, encoded: &mut Encoded, claims: &[Bool]) -> Result<bool, String> {
    if claims.contains(&Bool::FALSE) {
        return Ok(false);
    }
    let (quantifiers, terms) = (&mut encoded.quantifiers, &mut encoded.encoder.terms);
    let make = || start(solvers.first, stop);
    let decided = quantifiers.decide(terms, claims, &make, stop).map_err(|why| why.to_string())?;
    encoded.learn(&decided.lemmas);
    Ok(decided.model.is_some())
}

/// Whether what a file says is proved may be relied on: it is about states in which the whole invariant holds, with the
/// theorems, so these have to be among what is looked for, all of them.
fn may_rely(options: &Options, encoded: &Encoded) -> bool {
    let is_open = |o: &Observer| matches!(o, Observer::Invariant(_) | Observer::Assertion(_));
    options.invariant && options.assertions && !encoded.uncovered.iter().any(|(o, _)| is_open(o))
}

/// What is known, of how many questions, and by which obligations of the file.
type Known = (Preserved, (usize, usize), Vec<usize>);

/// Which operation preserves which property, from every state in which nothing is bad: by the file's word, or by the
/// solver's, who is asked one by one; what it does not decide is not used.
///
/// A fact of the file is about conjuncts of the invariant in states of the machine. A step that leads outside, where
/// cells say nothing, is bad in any case: that is a property of its own, about which no file says anything.
fn preserved(
    encoded: &mut Encoded,
    model: &Model,
    facts: &[Fact],
    make: &dyn Fn() -> Result<Box<dyn Solver>, String>,
    stop: &Stop,
) -> Result<Known, String> {
    let system = encoded.transitions.clone();
    let mut known = Preserved::nothing(&system);
    let (mut yes, mut all) = (0, 0);
    let mut by = vec![];
    for (e, op) in encoded.events.iter().enumerate() {
        for (p, observer) in encoded.observers.iter().enumerate() {
            let Observer::Invariant(i) = observer else { continue };
            let (Some(op), Some(conjunct)) = (model.operations.get(op.index()), model.invariant.get(*i))
            else {
                continue;
            };
            let is_total = reading::is_total(conjunct);
            let mut facts = facts.iter().filter(|k| is_total || !k.needs_total);
            if let Some(fact) = facts.find(|k| k.event == op.name && k.invariant.contains(conjunct.span)) {
                known.set(e, p);
                by.extend(fact.by.iter().copied());
            }
        }
    }
    let terms = &mut encoded.encoder.terms;
    let mut unrolling = Unrolling::new(&system);
    let mut solver = make()?;
    solver.assert(terms, system.axioms);
    let good = unrolling.is_good(terms, 0);
    solver.assert(terms, good);
    for e in 0..system.events.len() {
        for p in 0..system.properties.len() {
            if stop.is_over() {
                return Err("the time is over".into());
            }
            all += 1;
            if known.contains(e, p) {
                yes += 1;
                continue;
            }
            let (step, bad) = (unrolling.step(terms, 0, e), unrolling.is_bad(terms, 1, p));
            if let Outcome::Unsat(_) = solver.check(terms, &[step, bad]) {
                known.set(e, p);
                yes += 1;
            }
        }
    }
    Ok((known, (yes, all), by))
}
