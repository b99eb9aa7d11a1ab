//! `kanon bmc`, `kanon kinduction`, `kanon ic3`, and `kanon check --engine`: engines that work with formulas.

use super::records::Records;
use super::wanted::Wanted;
use super::{Exit, ScopeOptions, Sketch, Written, interrupt};
use crate::explore::Options;
use crate::explore::plan::Refusal;
use crate::model::open::Refused;
use crate::report::record::{Record, States};
use crate::report::{self, json, symbolic as shown, text};
use crate::run::constants::Constants;
use crate::run::symbolic::{self, Answered, Backend, DEPTH, Decided, Engine, Task};
use crate::run::{Deadline, Project};
use crate::trace::Trace;
use crate::trace::export::Shown;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How `check` looks for errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Explores all states.
    #[default]
    Explicit,
    Formulas(Engine),
    /// All of them at once.
    Portfolio,
}

pub(super) fn choice(text: &str) -> Result<Choice, String> {
    match Engine::ALL.into_iter().find(|e| e.name() == text) {
        Some(engine) => Ok(Choice::Formulas(engine)),
        None if text == "explicit" => Ok(Choice::Explicit),
        None if text == "portfolio" => Ok(Choice::Portfolio),
        None => Err("expected explicit, bmc, bmc-star, kinduction, ic3 or portfolio".into()),
    }
}

pub(super) fn solver(text: &str) -> Result<Backend, String> {
    let known = Backend::ALL.into_iter().find(|b| b.name() == text);
    known.ok_or_else(|| "expected auto, sat, z3 or cvc5".into())
}

/// What engines that work with formulas are told.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Formulas {
    /// Not deeper than this: steps of a path, k of a k-induction, frames of IC3
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,
    /// Who decides formulas: `sat` (built in), `z3` or `cvc5` (if they are installed), or `auto`: SAT where every
    /// integer is bounded, and an SMT solver where one is not
    #[arg(long, value_name = "SOLVER", value_parser = solver)]
    pub solver: Option<Backend>,
    /// Leave out what is proved of operations and conjuncts of the invariant: by the word of an Event-B file, and with
    /// formulas also by the solver's, which is asked first. Explicit search with `--audit` evaluates everything and names
    /// the proofs that are wrong
    #[arg(long)]
    pub proof_info: bool,
}

impl Formulas {
    /// An option that only such engines have.
    pub fn given(&self) -> Option<&'static str> {
        let all = [("--depth", self.depth.is_some()), ("--solver", self.solver.is_some())];
        all.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// What is looked for.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Looked {
    #[command(flatten)]
    pub wanted: Wanted,
    /// Look for states that fulfil this predicate, instead of the machine's GOAL
    #[arg(long, value_name = "PREDICATE", conflicts_with = "no_goal")]
    pub goal: Option<String>,
}

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    #[command(flatten)]
    pub formulas: Formulas,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub looked: Looked,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Write the counterexample: `*.itf.json`, `*.prob2trace`, or kanon's own JSON
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write a certificate of a "holds", which kanon-symbolic-checker checks without any solver
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    #[command(flatten)]
    pub records: Records,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

/// What is asked, by whichever command.
pub(super) struct Asked<'a> {
    pub file: &'a PathBuf,
    pub goal: Option<&'a String>,
    pub timeout: Option<Duration>,
    pub json: bool,
    pub trace: Option<&'a PathBuf>,
    pub records: &'a Records,
    pub scope: &'a ScopeOptions,
    /// All at once.
    pub portfolio: bool,
    pub task: Task,
    /// How many valuations of the constants, and which.
    pub constants: (Option<usize>, Constants),
}

pub(super) fn task(engine: Engine, formulas: &Formulas, options: Options) -> Task {
    Task {
        depth: formulas.depth.unwrap_or(DEPTH),
        solver: formulas.solver.unwrap_or_default(),
        proof_info: formulas.proof_info,
        options,
        ..Task::new(engine)
    }
}

/// One engine.
pub fn run(args: &Args, engine: Engine) -> Exit {
    ask(&Asked {
        file: &args.file,
        goal: args.looked.goal.as_ref(),
        timeout: args.timeout,
        json: args.json,
        trace: args.trace.as_ref(),
        records: &args.records,
        scope: &args.scope,
        portfolio: false,
        task: Task {
            certificate: args.certificate.clone(),
            ..task(engine, &args.formulas, args.looked.wanted.options())
        },
        constants: (None, Constants::All),
    })
}

/// What came back.
enum Answer {
    Formulas(Box<Answered>),
    Decided(Decided),
}

pub(super) fn ask(asked: &Asked) -> Exit {
    let as_json = asked.json;
    for file in [asked.trace.map(PathBuf::as_path), asked.task.certificate.as_deref()] {
        if let Err(exit) = super::try_file(file, as_json) {
            return exit;
        }
    }
    if let Err(exit) = asked.records.try_files(as_json) {
        return exit;
    }
    let sketch = Sketch::default();
    let deadline = super::deadline(asked.timeout, as_json, &sketch, |known, why| {
        let mut answer = json::unknown(why);
        for key in ["machine", "scope", "warnings"] {
            answer[key] = known.get(key).cloned().unwrap_or_default();
        }
        answer
    });
    interrupt::listen(&deadline);
    let answers = answers(asked, &deadline, &sketch);
    deadline.settle();
    let (project, answer) = match answers {
        Ok(Ok(both)) => both,
        Ok(Err(why)) => return super::wrong(why.0, as_json),
        Err(refused) => return asked.records.refuse(asked.file, &refused, as_json),
    };
    let opened = &project.opened;
    let finding: Option<&Trace> = match &answer {
        Answer::Formulas(a) => a.finding.as_ref().map(|f| &f.trace),
        Answer::Decided(Decided::Formulas(a)) => a.finding.as_ref().map(|f| &f.trace),
        Answer::Decided(Decided::Explicit(c)) => c.finding.as_ref().map(|f| &f.trace),
        Answer::Decided(Decided::Nobody { .. }) => None,
    };
    let written = super::write_trace(
        asked.trace.map(PathBuf::as_path),
        finding.map(|trace| Shown { trace, back: None, formula: None }),
        opened,
    );
    let certified = match (&asked.task.certificate, &answer) {
        (Some(path), Answer::Formulas(a)) => match &a.certificate {
            Some(Ok(_)) => Written::To(path),
            Some(Err(why)) => Written::Failed(why.clone()),
            None => Written::Nothing,
        },
        _ => Written::Nothing,
    };
    let by = match &answer {
        Answer::Decided(Decided::Formulas(a)) => Some(a.engine.name()),
        Answer::Decided(Decided::Explicit(_)) => Some("explicit search"),
        _ => None,
    };
    let (object, text, exit) = match &answer {
        Answer::Formulas(a) | Answer::Decided(Decided::Formulas(a)) => {
            (shown::json(a, opened), shown::answered(a, opened, report::colour_out()), Exit::of([a.verdict]))
        }
        Answer::Decided(Decided::Explicit(c)) => {
            let mut object = json::checked(c, opened);
            object["engine"] = "explicit".into();
            (object, text::checked(c, opened, false, report::colour_out()), Exit::of([c.verdict]))
        }
        Answer::Decided(Decided::Nobody { reasons, seconds }) => (
            shown::nobody_json(reasons, *seconds, opened),
            shown::nobody(reasons, *seconds, opened, report::colour_out()),
            Exit::Unknown,
        ),
    };
    let recorded = asked.records.write(|| {
        let mut record = Record::new(&asked.file.display().to_string(), opened);
        let nobody = match &answer {
            Answer::Decided(Decided::Nobody { reasons, .. }) => {
                reasons.iter().map(|(who, why)| format!("{who}: {why}")).collect::<Vec<_>>().join("; ")
            }
            _ => String::new(),
        };
        let states = match &answer {
            Answer::Formulas(a) | Answer::Decided(Decided::Formulas(a)) => States::of_formulas(a),
            Answer::Decided(Decided::Explicit(c)) => States::of(c),
            Answer::Decided(Decided::Nobody { seconds, .. }) => States::unknown(&nobody, *seconds),
        };
        record.states(&asked.task.options, &states, opened);
        record
    });
    if as_json {
        let mut object = object;
        recorded.iter().chain([&written, &certified]).for_each(|w| w.add_to(&mut object["warnings"]));
        report::answer(object);
    } else {
        report::err(&text::warnings(opened, report::colour_err()));
        report::out(&text);
        if let Some(by) = by {
            report::out(&format!("decided by {by}\n"));
        }
        written.say("trace");
        certified.say("certificate");
        recorded.iter().for_each(Written::complain);
    }
    recorded.iter().chain([&written, &certified]).fold(exit, |exit, w| w.exit(exit))
}

/// Reads the file, and asks.
fn answers(
    asked: &Asked,
    deadline: &Deadline,
    sketch: &Sketch,
) -> Result<Result<(Project, Answer), Refusal>, Refused> {
    let begin = Instant::now();
    let mut project = Project::open(asked.file, &asked.scope.args())?;
    (project.max_constants, project.constants) = asked.constants;
    if let Ok(mut sketch) = sketch.lock() {
        *sketch = json::of_model(&project.opened);
    }
    if let Some(goal) = asked.goal
        && let Err(diagnostics) = project.set_goal(goal)
    {
        return Err(project.refuse(diagnostics));
    }
    if asked.portfolio {
        return match symbolic::portfolio(&project, &asked.task, deadline) {
            Ok(Ok(decided)) => Ok(Ok((project, Answer::Decided(decided)))),
            Ok(Err(diagnostics)) => Err(project.refuse(diagnostics)),
            Err(why) => Ok(Err(why)),
        };
    }
    match symbolic::answer(&project, &asked.task, deadline, &|_| {}) {
        Ok(mut answered) => {
            if let Some(wrong) = answered.refuted.take() {
                return Err(project.refuse(vec![wrong]));
            }
            answered.total_seconds = begin.elapsed().as_secs_f64();
            Ok(Ok((project, Answer::Formulas(Box::new(answered)))))
        }
        Err(why) => Ok(Err(why)),
    }
}
