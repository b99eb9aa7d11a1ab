//! `kanon test-cases`: traces that cover a machine.

use super::{Exit, ScopeOptions, Sketch, interrupt};
use crate::model::open::Refused;
use crate::report::{self, cases as shown, json, text};
use crate::run::cases::{Cases, Task, cases};
use crate::run::{Deadline, Project};
use crate::trace::export::{Shown, write};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// Cover every pair of operations, one directly after the other
    #[arg(long)]
    pub pairs: bool,
    /// Cover every conjunct of every guard, true and false
    #[arg(long)]
    pub conjuncts: bool,
    /// Write a file per trace into this folder, which is made if it is not there
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// What the files are: `json` (kanon's own) or `prob2trace`
    #[arg(long, value_name = "FORMAT", default_value = "json", value_parser = format)]
    pub format: &'static str,
    /// Explore at most this many states
    #[arg(long, value_name = "N")]
    pub max_states: Option<usize>,
    /// Take at most this many valuations of the constants
    #[arg(long, value_name = "N")]
    pub max_constants: Option<usize>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    /// Threads of the search; all that the machine has unless this is given
    #[arg(long, value_name = "N", value_parser = super::check::threads)]
    pub threads: Option<usize>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

fn format(text: &str) -> Result<&'static str, String> {
    match text {
        "json" => Ok("json"),
        "prob2trace" => Ok("prob2trace"),
        _ => Err("expected json or prob2trace".into()),
    }
}

pub fn run(args: &Args) -> Exit {
    if let Err(exit) = super::not_strict(&args.scope) {
        return exit;
    }
    let deadline = super::deadline(args.timeout, args.json, &Sketch::default(), |_, why| json::unknown(why));
    interrupt::listen(&deadline);
    let answered = answer(args, &deadline);
    deadline.settle();
    let (project, found) = match answered {
        Ok(answered) => answered,
        Err(refused) => return super::refuse(&refused, args.json),
    };
    let opened = &project.opened;
    let files = match args
        .output
        .as_deref()
        .map_or(Ok(vec![]), |folder| written(folder, &found, args.format, opened))
    {
        Ok(files) => files,
        Err(why) => return super::wrong(&why, args.json),
    };
    if args.json {
        report::answer(shown::json(&found, &files, opened));
    } else {
        report::err(&text::warnings(opened, report::colour_err()));
        report::out(&shown::text(&found, &files));
    }
    let is_known = found.uncovered.iter().all(|goal| found.is_proved(goal));
    if is_known { Exit::Holds } else { Exit::Unknown }
}

fn answer(args: &Args, deadline: &Deadline) -> Result<(Project, Cases), Refused> {
    let mut project = Project::open(&args.file, &args.scope.args())?;
    project.max_constants = args.max_constants;
    let task = Task {
        pairs: args.pairs,
        conjuncts: args.conjuncts,
        max_states: args.max_states,
        threads: args.threads,
    };
    let found = project.solve(deadline).and_then(|solved| cases(&solved, &task, deadline));
    match found {
        Ok(found) => Ok((project, found)),
        Err(diagnostics) => Err(project.refuse(diagnostics)),
    }
}

/// Writes the traces; returns their names.
fn written(
    folder: &Path,
    found: &Cases,
    format: &str,
    opened: &crate::model::open::Opened,
) -> Result<Vec<PathBuf>, String> {
    let failed = |path: &Path, e: std::io::Error| format!("cannot write {}: {e}", path.display());
    std::fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
    let wide = found.cases.len().to_string().len().max(3);
    let mut files = vec![];
    for (i, case) in found.cases.iter().enumerate() {
        let path = folder.join(format!("case-{:0wide$}.{format}", i + 1));
        let shown = Shown { trace: &case.trace, back: None, formula: None };
        write(&path, shown, opened).map_err(|e| failed(&path, e))?;
        files.push(path);
    }
    Ok(files)
}
