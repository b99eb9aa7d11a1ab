//! The command line: one file per command, and the exit codes. A command reads its arguments, asks [`crate::run`], and has
//! the answer rendered.
//!
//! 0 holds, 1 fails, 2 the model or the command line is wrong (or what was asked for could not be written), 3 unknown.
//! Nothing here prints: `report` does.

mod animate;
mod cases;
pub mod check;
pub mod compare;
pub mod convert;
pub mod eval;
pub mod export;
pub mod fmt;
pub mod follow;
pub mod graph;
mod interrupt;
mod lsp;
pub mod ltl;
mod manual;
mod other;
mod probcli;
mod processes;
mod project;
pub mod prove;
mod records;
mod refine;
pub mod repl;
pub mod replay;
mod resume;
pub mod script;
mod serve;
mod simulate;
pub mod symbolic;
mod types;
mod wanted;
mod watch;

use crate::explore::memory::Limit;
use crate::lang::diag::SourceMap;
use crate::model::load::with_large_stack;
use crate::model::open::{Opened, Refused};
use crate::model::reading::Reading;
use crate::model::scope::ScopeArgs;
use crate::report::{self, Colour, diagnostic, json};
use crate::run::symbolic::Engine;
use crate::run::{Bounds, Deadline};
use crate::trace::export as trace_file;
use crate::trace::fault::plain_error;
use crate::verdict::{Decision, Why};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use num_bigint::BigInt;
use serde_json::Value;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Holds = 0,
    Fails = 1,
    Wrong = 2,
    Unknown = 3,
}

impl Exit {
    /// Of several answers: one that fails decides, then one that is unknown.
    fn of(verdicts: impl IntoIterator<Item = Decision>) -> Exit {
        verdicts.into_iter().fold(Exit::Holds, |exit, word| match (exit, word) {
            (Exit::Fails, _) | (_, Decision::Fails) => Exit::Fails,
            (Exit::Unknown, _) | (_, Decision::Unknown) => Exit::Unknown,
            _ => exit,
        })
    }
}

#[derive(Parser)]
#[command(name = "kanon", version, about = "A model checker for the B method", max_term_width = 100)]
#[command(after_help = "Exit codes: 0 holds, 1 fails, 2 the model or the command line is wrong, 3 unknown.")]
struct Cli {
    /// When to colour: `auto` (on a terminal), `always`, `never`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = colour)]
    color: Colour,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, as long as the program runs")]
enum Command {
    /// Explore all states and look for errors
    Check(check::Args),
    /// Look for a shortest path to an error, with formulas instead of single states
    Bmc(symbolic::Args),
    /// Prove by induction over paths that there is no error, or find one
    Kinduction(symbolic::Args),
    /// Find an inductive invariant that excludes all errors, or an error
    Ic3(symbolic::Args),
    /// Check temporal formulas
    Ltl(ltl::Args),
    /// Decide the proof obligations of a machine with a solver, for all states that fulfil its invariant
    Prove(prove::Args),
    /// Compare a refinement with what it refines
    Refine(refine::Args),
    /// Go on with a check that was written down: `check --checkpoint`
    Resume(resume::Args),
    /// Run all symmetry strategies and compare what they find and how long they take
    Compare(compare::Args),
    /// Draw the state graph of a state, or what nauty is given of it
    Graph(graph::Args),
    /// Read a model and type it, and evaluate nothing
    Types(types::Args),
    /// Evaluate an expression or a predicate in the initial state
    Eval(eval::Args),
    /// Ask questions about a machine, step through it
    Repl(repl::Args),
    /// Step through a machine on the terminal: state, operations, history, invariant, why
    Animate(animate::Args),
    /// Animate, check and see models in a browser
    Serve(serve::Args),
    /// Talk to an editor: the language server
    Lsp(lsp::Args),
    /// Replay a trace, step by step
    Replay(replay::Args),
    /// Follow a log of an implementation: which line does no behaviour of the machine explain?
    Follow(follow::Args),
    /// Walk through a machine at random and look for errors
    Simulate(simulate::Args),
    /// Find shortest traces that cover operations, pairs of them, or the conjuncts of their guards
    TestCases(cases::Args),
    /// Write a machine as a circuit or a formula, or its states as a graph, for other tools
    Export(export::Args),
    /// Put models into a tidy layout, comments kept and meaning unchanged
    Fmt(fmt::Args),
    /// Take flags of ProB's command line, and answer in its words
    Probcli(probcli::Args),
    /// Write an Event-B project in another form
    Convert(convert::Args),
    /// Print a script that completes commands and options: for bash, elvish, fish, powershell or zsh
    Completions(manual::Completions),
    /// Print the manual page, or that of a command
    Man(manual::Man),
}

/// `--watch`, where a command has it.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Watch {
    /// Run again whenever a file that was read changes, until Ctrl-C
    #[arg(long = "watch")]
    pub on: bool,
}

/// How large everything is: wins over what the file says.
#[derive(Args, Clone, Debug, Default)]
pub struct ScopeOptions {
    /// Size of a deferred set; may be given several times
    #[arg(long, value_name = "SET=N", value_parser = card)]
    pub card: Vec<(String, u64)>,
    /// Smallest implementable integer
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub minint: Option<BigInt>,
    /// Largest implementable integer
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub maxint: Option<BigInt>,
    /// Size of deferred sets that nothing else sizes
    #[arg(long, value_name = "N")]
    pub setsize: Option<u64>,
    /// How terms without a value are read: `kleene` (what is false decides a conjunction), `strict` (from left to
    /// right), or `prob` (a guard without a value is false)
    #[arg(long, value_name = "READING", default_value = "kleene", value_parser = reading)]
    pub wd: Reading,
}

impl ScopeOptions {
    pub fn args(&self) -> ScopeArgs {
        ScopeArgs {
            card: self.card.clone(),
            minint: self.minint.clone(),
            maxint: self.maxint.clone(),
            setsize: self.setsize,
            reading: self.wd,
        }
    }
}

/// Questions have unknowns, which are found in any order.
fn not_strict(scope: &ScopeOptions) -> Result<(), Exit> {
    match scope.wd {
        Reading::Strict => Err(wrong("`--wd strict` is for `check`, `compare` and `graph`", false)),
        _ => Ok(()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(d) if !d.is_zero() => Ok(d),
        _ => Err("expected a positive number of seconds".into()),
    }
}

fn colour(text: &str) -> Result<Colour, String> {
    match text {
        "auto" => Ok(Colour::Auto),
        "always" => Ok(Colour::Always),
        "never" => Ok(Colour::Never),
        _ => Err("expected auto, always or never".into()),
    }
}

fn reading(text: &str) -> Result<Reading, String> {
    let known = Reading::ALL.into_iter().find(|r| r.name() == text);
    known.ok_or_else(|| "expected kleene, strict or prob".into())
}

fn card(text: &str) -> Result<(String, u64), String> {
    let (set, n) = text.split_once('=').ok_or("expected SET=N, for instance PROC=3")?;
    let n = n.trim().parse().map_err(|e| format!("`{n}` is no size: {e}"))?;
    Ok((set.trim().to_string(), n))
}

static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Runs the program; the arguments include its name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    let exit = answer(args.into_iter().collect());
    // An answer that nobody can read is none.
    match report::unwritten() {
        Some(why) => {
            report::err(&format!("error: standard output cannot be written: {why}\n"));
            Exit::Wrong
        }
        None => exit,
    }
}

/// The names of the options of a command that were given, and not left to their defaults.
fn given(command: &clap::Command, matches: &ArgMatches) -> Vec<String> {
    let Some((name, matches)) = matches.subcommand() else { return vec![] };
    let options = command.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
    // Those of the whole program are none of the command's.
    let options = options.filter(|a| !a.is_global_set());
    let is_given = |a: &&clap::Arg| {
        let source =
            matches.try_contains_id(a.get_id().as_str()).ok().and(matches.value_source(a.get_id().as_str()));
        source == Some(ValueSource::CommandLine)
    };
    options.filter(is_given).filter_map(|a| a.get_long().map(str::to_string)).collect()
}

fn answer(args: Vec<OsString>) -> Exit {
    let is_given = |option: &str| args.iter().any(|a| a == option);
    if is_given("--json-stream") {
        report::stream();
    }
    let as_json = report::is_streamed() || is_given("--json");
    // Made once, and never taken apart: each takes as long as reading a small model.
    let command = Box::leak(Box::new(Cli::command()));
    let parsed = command
        .try_get_matches_from_mut(&args)
        .and_then(|matches| Cli::from_arg_matches(&matches).map(|cli| (cli, given(command, &matches))));
    let (cli, given) = match parsed {
        Ok(parsed) => parsed,
        Err(e) => return refused(&e, as_json),
    };
    // A panic is reported below, once; one in an explanation costs only the explanation.
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = info.to_string().replace('\n', " ");
        }
    }));
    let ran = catch_unwind(AssertUnwindSafe(|| with_large_stack(|| run(&cli, &given))));
    match ran {
        Ok(Ok(exit)) => exit,
        Ok(Err(e)) => {
            unanswered(&cli.command, &format!("cannot start a thread with a large stack: {e}"), as_json)
        }
        Err(_) => {
            let what = LAST_PANIC.lock().map(|text| text.clone()).unwrap_or_default();
            unanswered(&cli.command, &format!("internal error, please report it: {what}"), as_json)
        }
    }
}

fn run(cli: &Cli, given: &[String]) -> Exit {
    report::set_colour(cli.color);
    if let Some(exit) = watch::run(&cli.command) {
        return exit;
    }
    if let Some(exit) = other::answer(&cli.command, given) {
        return exit;
    }
    match &cli.command {
        Command::Check(args) if script::is_asked(args) => script::check(args),
        Command::Check(args) if args.is_project() => project::run(args, given),
        Command::Check(args) => check::run(args),
        Command::Bmc(args) => symbolic::run(args, Engine::Bmc),
        Command::Kinduction(args) => symbolic::run(args, Engine::KInduction),
        Command::Ic3(args) => symbolic::run(args, Engine::Ic3),
        Command::Ltl(args) => ltl::run(args),
        Command::Prove(args) => prove::run(args),
        Command::Refine(args) => refine::run(args),
        Command::Resume(args) => resume::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Graph(args) => graph::run(args),
        Command::Types(args) => types::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Repl(args) => repl::run(args),
        Command::Animate(args) => animate::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Lsp(args) => lsp::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Follow(args) => follow::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::TestCases(args) => cases::run(args),
        Command::Export(args) => export::run(args),
        Command::Fmt(args) => fmt::run(args),
        Command::Probcli(args) => probcli::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
    }
}

fn refused(e: &clap::Error, as_json: bool) -> Exit {
    if e.kind() == clap::error::ErrorKind::DisplayVersion {
        report::out(&report::version::text());
        return Exit::Holds;
    }
    let text = e.to_string();
    if !e.use_stderr() {
        report::out(&text);
        return Exit::Holds;
    }
    if as_json {
        let message = text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
        report::answer(json::command_line(message.trim()));
    } else {
        report::err(&text);
    }
    Exit::Wrong
}

/// The model is wrong.
fn refuse(refused: &Refused, as_json: bool) -> Exit {
    if as_json {
        report::answer(json::refused(refused));
    } else {
        let text = diagnostic::render_all(&refused.diagnostics, &refused.sources, report::colour_err());
        report::err(&text);
    }
    Exit::Wrong
}

/// `30s`, `5m`, `1h`, or seconds.
fn every(text: &str) -> Result<Duration, String> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let (number, unit) =
        units.iter().find_map(|(unit, n)| Some((text.strip_suffix(unit)?, *n))).unwrap_or((text, 1.0));
    let n: f64 = number.trim().parse().map_err(|_| "expected a time, for instance 30s or 5m".to_string())?;
    seconds(&(n * unit).to_string())
}

/// The first event of a stream.
fn announce(command: &str, file: &Path) {
    let fields = serde_json::json!({
        "version": json::VERSION,
        "kanon": env!("CARGO_PKG_VERSION"),
        "command": command,
        "file": file.display().to_string(),
    });
    report::event("start", &fields);
}

/// The command line is wrong.
fn wrong(why: &str, as_json: bool) -> Exit {
    if as_json {
        report::answer(json::command_line(why));
    } else {
        report::err(&format!("error: {why}\n"));
    }
    Exit::Wrong
}

/// What is to be said, with `--json`, if a run is not heard of again. It grows as the run learns more.
type Sketch = Arc<Mutex<Value>>;

/// A deadline with a last resort: when a single evaluation does not end, the answer is made of the sketch by `answer`.
fn deadline(
    limit: Option<Duration>,
    as_json: bool,
    sketch: &Sketch,
    answer: fn(&Value, &str) -> Value,
) -> Deadline {
    bounded(Bounds { time: limit, ..Bounds::default() }, as_json, sketch, answer)
}

/// The same with a limit of memory, which a single evaluation may fill as well.
fn bounded(bounds: Bounds, as_json: bool, sketch: &Sketch, answer: fn(&Value, &str) -> Value) -> Deadline {
    let sketch = sketch.clone();
    Deadline::with_last_resort(bounds, move |why| {
        let why = match why {
            Why::MaxMemory(bytes) => {
                format!("the limit of {bytes} bytes of memory is reached, in a single step")
            }
            _ => {
                let seconds = bounds.time.unwrap_or_default().as_secs_f64();
                format!("timeout after {seconds} s, in a single evaluation that did not end")
            }
        };
        if as_json {
            let known = sketch.lock().map(|s| s.clone()).unwrap_or_default();
            report::answer(answer(&known, &why));
        } else {
            report::err(&format!("kanon: {why}\n"));
        }
        std::process::exit(Exit::Unknown as i32);
    })
}

/// What a run may have by its options.
fn bounds(time: Option<Duration>, memory: Option<u64>) -> Bounds {
    Bounds { time, memory: Limit(memory) }
}

/// What was typed, for a shell.
fn typed() -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%#".contains(c);
    let quoted = |word: OsString| {
        let word = word.to_string_lossy().into_owned();
        let is_plain = !word.is_empty() && word.chars().all(plain);
        if is_plain { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let words = std::env::args_os().skip(1).map(quoted);
    std::iter::once("kanon".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A file that is to be written in the end is tried first.
fn try_file(path: Option<&Path>, as_json: bool) -> Result<(), Exit> {
    // Elsewhere it is standard output. Nobody wants a file of that name, which is hard to remove besides.
    if path == Some(Path::new("-")) {
        let why = "`-` is no name of a file: the answer itself goes to standard output; `/dev/stdout` is that as a file";
        return Err(wrong(why, as_json));
    }
    match path.map(|p| (p, trace_file::is_writable(p))) {
        Some((p, Err(e))) => Err(wrong(&format!("cannot write {}: {e}", p.display()), as_json)),
        _ => Ok(()),
    }
}

/// A file that was asked for: written, not written, or not wanted.
enum Written<'p> {
    Nothing,
    To(&'p Path),
    Failed(String),
}

fn write_trace<'p>(path: Option<&'p Path>, found: Option<trace_file::Shown>, opened: &Opened) -> Written<'p> {
    match (path, found) {
        (Some(path), Some(shown)) => Written::of(path, trace_file::write(path, shown, opened)),
        _ => Written::Nothing,
    }
}

impl<'p> Written<'p> {
    fn of(path: &'p Path, result: std::io::Result<()>) -> Written<'p> {
        match result {
            Ok(()) => Written::To(path),
            Err(e) => Written::Failed(format!("cannot write {}: {e}", path.display())),
        }
    }

    /// Puts a failure into the warnings of an answer, which need not have any.
    fn add_to(&self, warnings: &mut Value) {
        if let Written::Failed(why) = self {
            let d = json::diagnostic(&plain_error(why.as_str()), &SourceMap::default());
            match warnings.as_array_mut() {
                Some(warnings) => warnings.push(d),
                None => *warnings = Value::Array(vec![d]),
            }
        }
    }

    /// Says where it is: the trace, or whatever was asked for.
    fn say(&self, what: &str) {
        if let Written::To(path) = self {
            report::out(&format!("{what} written to {}\n", path.display()));
        }
        self.complain();
    }

    fn complain(&self) {
        if let Written::Failed(why) = self {
            report::err(&format!("error: {why}\n"));
        }
    }

    /// The finding is shown, but what was asked for is not there.
    fn exit(&self, exit: Exit) -> Exit {
        if matches!(self, Written::Failed(_)) { Exit::Wrong } else { exit }
    }
}

/// There is no answer, and it is not the model's fault.
fn failed(why: &str) -> Exit {
    report::err(&format!("kanon: {why}\n"));
    Exit::Unknown
}

/// The same of a command that may have to answer with JSON.
fn unanswered(command: &Command, why: &str, as_json: bool) -> Exit {
    if !as_json {
        return failed(why);
    }
    let answer = match command {
        Command::Check(_) | Command::Resume(_) => json::unanswered(why, None),
        Command::Ltl(_) => report::ltl::unanswered(&Value::Null, why),
        Command::Refine(_) => report::refined::unanswered(&Value::Null, why),
        Command::Compare(_) => report::compared::unanswered(&Value::Null, why),
        Command::Follow(_) => report::followed::unanswered(&Value::Null, why),
        _ => json::unknown(why),
    };
    report::answer(answer);
    Exit::Unknown
}
