//! `kanon simulate`: random walks.

use super::wanted::Wanted;
use super::{Exit, ScopeOptions, Sketch, interrupt};
use crate::model::open::Refused;
use crate::report::{self, json, simulated, text};
use crate::run::answer::{Counterexample, Decision};
use crate::run::simulate::{Simulated, Task, simulate};
use crate::run::{Deadline, Project};
use crate::trace::export::Shown;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine, a net, or a CSP-M script
    pub file: PathBuf,
    /// The process of a CSP-M script: its name or an expression; `MAIN` unless given
    #[arg(long, value_name = "PROCESS")]
    pub process: Option<String>,
    /// The script of CSP-M whose channels and operations happen together: its process `MAIN`, or `--process`, guides the
    /// machine
    #[arg(long, value_name = "SCRIPT")]
    pub csp: Option<PathBuf>,
    /// Run the file, if it is a program in XTL: confined, without files, network and other processes
    #[arg(long)]
    pub run_programs: bool,
    /// Random walks
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub walks: u64,
    /// Steps of a walk, at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub depth: usize,
    /// What chance is made from: an answer depends on it, the depth and the number of walks only
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Take at most this many valuations of the constants
    #[arg(long, value_name = "N")]
    pub max_constants: Option<usize>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    /// Look for states that fulfil this predicate, instead of the machine's GOAL
    #[arg(long, value_name = "PREDICATE", conflicts_with = "no_goal")]
    pub goal: Option<String>,
    #[command(flatten)]
    pub wanted: Wanted,
    /// Threads; all that the machine has unless this is given. Answers do not depend on it
    #[arg(long, value_name = "N", value_parser = super::check::threads)]
    pub threads: Option<usize>,
    /// Write the counterexample: `*.itf.json`, `*.prob2trace`, or kanon's own JSON
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

impl Args {
    pub(super) fn task(&self) -> Task {
        let options = crate::explore::Options { threads: self.threads, ..self.wanted.options() };
        Task { walks: self.walks, depth: self.depth, seed: self.seed, options }
    }
}

pub fn run(args: &Args) -> Exit {
    if let Err(exit) = super::not_strict(&args.scope) {
        return exit;
    }
    if let Err(exit) = super::try_file(args.trace.as_deref(), args.json) {
        return exit;
    }
    let deadline = super::deadline(args.timeout, args.json, &Sketch::default(), |_, why| json::unknown(why));
    interrupt::listen(&deadline);
    let begin = Instant::now();
    let answered = answer(args, &deadline);
    deadline.settle();
    let (project, walked, found) = match answered {
        Ok(answered) => answered,
        Err(refused) => return super::refuse(&refused, args.json),
    };
    let opened = &project.opened;
    let shown = found.as_ref().map(|f| Shown { trace: &f.trace, back: None, formula: None });
    let written = super::write_trace(args.trace.as_deref(), shown, opened);
    if args.json {
        let mut object = simulated::json(&walked, found.as_ref(), opened, args.seed, args.depth);
        object["total_seconds"] = begin.elapsed().as_secs_f64().into();
        written.add_to(&mut object["warnings"]);
        report::answer(object);
    } else {
        report::err(&text::warnings(opened, report::colour_err()));
        report::out(&simulated::text(&walked, found.as_ref(), opened, report::colour_out()));
        written.say("trace");
    }
    written.exit(Exit::of([walked.verdict.unwrap_or(Decision::Unknown)]))
}

fn answer(args: &Args, deadline: &Deadline) -> Result<(Project, Simulated, Option<Counterexample>), Refused> {
    let mut project = Project::open(&args.file, &args.scope.args())?;
    project.max_constants = args.max_constants;
    let prepared = args.goal.as_ref().map_or(Ok(()), |goal| project.set_goal(goal));
    let task = args.task();
    let walked = prepared
        .and_then(|()| project.solve_first(deadline))
        .and_then(|solved| simulate(&solved, &task, deadline));
    match walked {
        Ok((walked, found)) => Ok((project, walked, found)),
        Err(diagnostics) => Err(project.refuse(diagnostics)),
    }
}
