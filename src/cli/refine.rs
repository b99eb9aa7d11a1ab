//! `kanon refine`: a machine against what it refines.

use super::{Exit, ScopeOptions, Sketch, interrupt};
use crate::report::progress::Line;
use crate::report::{self, json, refined, text};
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
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    let task = Task {
        traces: args.traces,
        deadlock: args.deadlock,
        max_states: args.max_states,
        max_memory: args.max_memory,
        max_constants: args.max_constants,
    };
    let deadline = super::deadline(args.timeout, args.json, &Sketch::default(), refined::unanswered);
    interrupt::listen(&deadline);
    let mut line = Line::new();
    let answer = refine(&args.file, &args.scope.args(), &task, &deadline, &mut |p| line.show(&p));
    deadline.settle();
    line.clear();
    let (project, answer) = match answer {
        Ok(answer) => answer,
        Err(refused) => return super::refuse(&refused, args.json),
    };
    if args.json {
        report::out(&json::text(&refined::json(&answer, &project.opened)));
    } else {
        report::err(&text::warnings(&project.opened, report::colour_err()));
        report::out(&refined::text(&answer, &project.opened, report::colour_out()));
    }
    Exit::of([answer.verdict])
}
