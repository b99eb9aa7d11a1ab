//! `kanon follow`: a log of an implementation against a machine.

use super::{Exit, ScopeOptions, Sketch, interrupt, refuse};
use crate::model::open::Refused;
use crate::report::{self, followed, text};
use crate::run::Project;
use crate::run::follow::{Task, follow};
use crate::trace::export::Shown;
use crate::trace::fault::plain_error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// The log, a JSON object per line; `-` reads standard input
    pub log: PathBuf,
    /// Steps that the log may have left out before each line
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub hidden: usize,
    /// The log may have left out steps of this operation only; may be given several times
    #[arg(long, value_name = "OPERATION", requires = "hidden")]
    pub hidden_operation: Vec<String>,
    /// A key of the log's lines that is not looked at; may be given several times
    #[arg(long, value_name = "KEY")]
    pub ignore: Vec<String>,
    /// Stop when more states than this are possible after one line
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub max_states: usize,
    /// Take at most this many valuations of the constants
    #[arg(long, value_name = "N")]
    pub max_constants: Option<usize>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    /// Write a behaviour that explains the lines, as far as they are: `*.itf.json`, `*.prob2trace`, or kanon's own JSON
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

/// The text of the log.
fn read(args: &Args) -> Result<String, String> {
    let why = |e: std::io::Error| format!("cannot read {}: {e}", args.log.display());
    let bytes = if args.log.as_os_str() == "-" {
        let mut bytes = vec![];
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(why)?;
        bytes
    } else {
        std::fs::read(&args.log).map_err(why)?
    };
    String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        format!("{}, line {line}: this is no UTF-8", args.log.display())
    })
}

pub fn run(args: &Args) -> Exit {
    if let Err(exit) = super::try_file(args.trace.as_deref(), args.json) {
        return exit;
    }
    let deadline = super::deadline(args.timeout, args.json, &Sketch::default(), followed::unanswered);
    interrupt::listen(&deadline);
    let log = match read(args) {
        Ok(log) => log,
        Err(why) => {
            let refused = Refused { diagnostics: vec![plain_error(why)], ..Refused::default() };
            return refuse(&refused, args.json);
        }
    };
    let name = if args.log.as_os_str() == "-" { Path::new("standard input") } else { &args.log };
    let task = Task {
        hidden: args.hidden,
        hidden_operations: args.hidden_operation.clone(),
        ignored: args.ignore.clone(),
        max_states: args.max_states,
    };
    let answer = Project::open(&args.file, &args.scope.args()).and_then(|mut project| {
        project.max_constants = args.max_constants;
        match follow(&mut project, name, log, &task, &deadline) {
            Ok(answer) => Ok((project, answer)),
            Err(diagnostics) => Err(project.refuse(diagnostics)),
        }
    });
    deadline.settle();
    let (project, answer) = match answer {
        Ok(answer) => answer,
        Err(refused) => return refuse(&refused, args.json),
    };
    let shown = Shown { trace: &answer.trace, back: None, formula: None };
    let written = super::write_trace(args.trace.as_deref(), Some(shown), &project.opened);
    if args.json {
        let mut object = followed::json(&answer, &project.opened);
        written.add_to(&mut object["warnings"]);
        report::answer(object);
    } else {
        report::err(&text::warnings(&project.opened, report::colour_err()));
        report::out(&followed::text(&answer, &project.opened, report::colour_out()));
        written.say("behaviour");
    }
    written.exit(Exit::of([answer.verdict]))
}
