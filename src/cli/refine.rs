//! `kanon refine`: a machine against what it refines.

use super::records::Records;
use super::{Exit, ScopeOptions, Sketch, Written, interrupt};
use crate::report::progress::Line;
use crate::report::record::Record;
use crate::report::{self, refined, text};
use crate::run::refine::{Task, refine};
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The refinement: classical B or Event-B
    pub file: PathBuf,
    /// Compare sequences of operations, with parameters and results, only; not the gluing invariant (classical B)
    #[arg(long)]
    pub traces: bool,
    /// Also demand that the machine can go on where its abstraction can
    #[arg(long, conflicts_with = "traces")]
    pub deadlock: bool,
    /// Stop after this many states
    #[arg(long, value_name = "N")]
    pub max_states: Option<usize>,
    /// Take at most this many valuations of the constants
    #[arg(long, value_name = "N")]
    pub max_constants: Option<usize>,
    /// Stop when the program has more memory than this: `500M`, `8G`, or bytes
    #[arg(long, value_name = "BYTES", value_parser = super::check::bytes)]
    pub max_memory: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Print a line of JSON per event: `start`, `progress` while states are explored, and `answer` with the object of
    /// `--json`
    #[arg(long, conflicts_with = "json")]
    pub json_stream: bool,
    #[command(flatten)]
    pub watch: super::Watch,
    #[command(flatten)]
    pub records: Records,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    super::announce("refine", &args.file);
    let args = &Args { json: args.json || args.json_stream, ..args.clone() };
    let task = Task {
        traces: args.traces,
        deadlock: args.deadlock,
        max_states: args.max_states,
        max_memory: args.max_memory,
        max_constants: args.max_constants,
        ..Task::default()
    };
    if let Err(exit) = args.records.try_files(args.json) {
        return exit;
    }
    let bounds = super::bounds(args.timeout, args.max_memory);
    let deadline = super::bounded(bounds, args.json, &Sketch::default(), refined::unanswered);
    interrupt::listen(&deadline);
    let mut line = Line::new();
    let answer = refine(&args.file, &args.scope.args(), &task, &deadline, &mut |p| line.show(&p));
    deadline.settle();
    line.clear();
    let (project, answer) = match answer {
        Ok(answer) => answer,
        Err(refused) => return args.records.refuse(&args.file, &refused, args.json),
    };
    let recorded = args.records.write(|| {
        let mut record = Record::new(&args.file.display().to_string(), &project.opened);
        record.refinement(&answer, &project.opened);
        record
    });
    if args.json {
        let mut object = refined::json(&answer, &project.opened);
        recorded.iter().for_each(|w| w.add_to(&mut object["warnings"]));
        report::answer(object);
    } else {
        report::err(&text::warnings(&project.opened, report::colour_err()));
        report::out(&refined::text(&answer, &project.opened, report::colour_out()));
        recorded.iter().for_each(Written::complain);
    }
    recorded.iter().fold(Exit::of([answer.verdict]), |exit, w| w.exit(exit))
}
