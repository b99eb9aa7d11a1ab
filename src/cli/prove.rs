//! `kanon prove`: the proof obligations of a model, decided by a solver.

use super::records::Records;
use super::symbolic::solver;
use super::{Exit, ScopeOptions, Sketch, Written, interrupt, seconds};
use crate::model::open::{Opened, open_sequents};
use crate::report::record::Record;
use crate::report::{self, json, proved, text};
use crate::run::prove::{Proved, Task, prove};
use crate::run::sequents;
use crate::run::symbolic::Backend;
use crate::run::{Deadline, Project};
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// Who decides formulas: `sat` (built in), `z3` or `cvc5` (if they are installed), or `auto`: SAT where every
    /// integer is bounded, and an SMT solver where one is not
    #[arg(long, value_name = "SOLVER", value_parser = solver)]
    pub solver: Option<Backend>,
    /// Seconds for each obligation
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub limit: Duration,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub watch: super::Watch,
    #[command(flatten)]
    pub records: Records,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    if let Err(exit) = args.records.try_files(args.json) {
        return exit;
    }
    let deadline = super::deadline(args.timeout, args.json, &Sketch::default(), |_, why| json::unknown(why));
    interrupt::listen(&deadline);
    let exit = answer(args, &deadline);
    deadline.settle();
    exit
}

fn answer(args: &Args, deadline: &Deadline) -> Exit {
    let task = Task { solver: args.solver.unwrap_or_default(), limit: args.limit, ..Task::default() };
    // A refinement whose language says what it promises has obligations of its own.
    match open_sequents(&args.file, &args.scope.args()) {
        Err(refused) => return args.records.refuse(&args.file, &refused, args.json),
        Ok(Some(project)) => {
            return match sequents::prove(&project, &task, deadline, &mut |_, _| {}) {
                Ok(answer) => tell(args, &answer, &project.opened),
                Err(why) => super::wrong(why.0, args.json),
            };
        }
        Ok(None) => {}
    }
    let project = match Project::open(&args.file, &args.scope.args()) {
        Ok(project) => project,
        Err(refused) => return args.records.refuse(&args.file, &refused, args.json),
    };
    let answer = match prove(&project, &task, deadline, &mut |_, _| {}) {
        Ok(answer) => answer,
        Err(why) => return super::wrong(why.0, args.json),
    };
    tell(args, &answer, &project.opened)
}

fn tell(args: &Args, answer: &Proved, opened: &Opened) -> Exit {
    let recorded = args.records.write(|| {
        let mut record = Record::new(&args.file.display().to_string(), opened);
        record.obligations(answer, opened);
        record
    });
    if args.json {
        let mut object = proved::json(answer, opened);
        recorded.iter().for_each(|w| w.add_to(&mut object["warnings"]));
        report::answer(object);
    } else {
        report::err(&text::warnings(opened, report::colour_err()));
        report::out(&proved::text(answer, opened));
        recorded.iter().for_each(Written::complain);
    }
    recorded.iter().fold(Exit::of([proved::decision(answer)]), |exit, w| w.exit(exit))
}
