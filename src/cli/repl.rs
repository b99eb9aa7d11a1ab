//! `kanon repl`: questions and steps, one per line. A view of [`crate::animate::Session`].

use super::{Exit, ScopeOptions, interrupt, refuse};
use crate::animate::command::{self, Line, Said};
use crate::animate::{Animated, Limits, Session};
use crate::lang::diag::SourceMap;
use crate::model::open::Refused;
use crate::report::{self, animated};
use crate::run::Deadline;
use crate::trace::fault::plain_error;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

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
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    let stop = Deadline::never();
    let mut session = match begin(args, &stop) {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    interrupt::listen(&stop);
    talk(&mut session, &stop)
}

/// The same for a system that is not a machine.
pub(super) fn walk(mut session: Box<dyn Animated>, stop: &Deadline) -> Exit {
    interrupt::listen(stop);
    match session.step(0, &stop.flag) {
        Some(_) => say_if_broken(&*session, stop),
        None => tell(&nowhere("there is no initial state")),
    }
    talk(&mut *session, stop)
}

fn talk(session: &mut dyn Animated, stop: &Deadline) -> Exit {
    if std::io::stdin().is_terminal() { interactive(session, stop) } else { piped(session, stop) }
}

fn begin(args: &Args, stop: &Deadline) -> Result<Session, Exit> {
    super::not_strict(&args.scope)?;
    let mut session = Session::open(&args.file, &args.scope.args(), stop).map_err(|r| refuse(&r, false))?;
    let warnings = animated::warnings(session.warnings(), session.sources(), report::colour_err());
    report::err(&warnings);
    let choices = session.walk_mut().choices(&stop.flag);
    let faults: Vec<_> =
        choices.faults.iter().map(|(_, f)| crate::trace::fault::fault_diagnostic(f)).collect();
    report::err(&animated::warnings(faults.iter(), session.sources(), report::colour_err()));
    match session.walk_mut().step(0, &stop.flag) {
        Some(_) => say_if_broken(&session, stop),
        None => tell(&nowhere("INITIALISATION has no outcome: there is no state yet")),
    }
    Ok(session)
}

/// An initial state may break the invariant already.
fn say_if_broken(session: &dyn Animated, stop: &Deadline) {
    let said = Said::Moved(command::here(session, None, &stop.flag));
    if said.is_broken() {
        report::out(&animated::said(&said));
    }
}

fn nowhere(why: &str) -> Refused {
    Refused { sources: SourceMap::default(), diagnostics: vec![plain_error(why)] }
}

fn tell(refused: &Refused) {
    report::err(&animated::wrong(refused, report::colour_err()));
}

/// What a line led to, for the exit code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Led {
    On,
    Wrong,
    Broken,
    Unknown,
    Out,
}

/// Completes the last word of a line with the names of the model.
struct Names {
    operations: Vec<String>,
    all: Vec<String>,
}

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> Result<(usize, Vec<String>), ReadlineError> {
        let before = line.get(..at).unwrap_or(line);
        Ok(command::complete(before, false, &self.operations, &self.all))
    }
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}

fn interactive(session: &mut dyn Animated, stop: &Deadline) -> Exit {
    let history = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".kanon_history"));
    let config = Config::builder().completion_type(CompletionType::List).build();
    let Ok(mut editor) = Editor::<Names, FileHistory>::with_config(config) else {
        return piped(session, stop);
    };
    editor.set_helper(Some(Names { operations: session.operation_names(), all: session.names() }));
    if let Some(path) = &history {
        // The first time there is none.
        let _ = editor.load_history(path);
    }
    report::out(&format!("{} — :help for help, Tab completes, Ctrl-D to leave\n", session.title()));
    loop {
        match editor.readline("kanon> ") {
            Ok(line) => {
                let _ = editor.add_history_entry(&line);
                if obey(session, &line, stop) == Led::Out {
                    break;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(_) => break,
        }
    }
    if let Some(path) = &history {
        let _ = editor.save_history(path);
    }
    Exit::Holds
}

/// Lines that nobody watches: the exit code says whether all of them could be done, and what they led to.
fn piped(session: &mut dyn Animated, stop: &Deadline) -> Exit {
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    let start = Said::Moved(command::here(session, None, &stop.flag));
    let mut exit = if start.is_broken() { Exit::Fails } else { Exit::Holds };
    loop {
        line.clear();
        let led = match input.read_until(b'\n', &mut line) {
            Ok(0) => Led::Out,
            Err(e) => {
                tell(&nowhere(&format!("standard input cannot be read: {e}")));
                return Exit::Wrong;
            }
            Ok(_) => obey(session, &String::from_utf8_lossy(&line), stop),
        };
        exit = match (exit, led) {
            (exit, Led::Out) => return exit,
            (exit, Led::On) => exit,
            (Exit::Wrong, _) | (_, Led::Wrong) => Exit::Wrong,
            (Exit::Fails, _) | (_, Led::Broken) => Exit::Fails,
            (_, Led::Unknown) => Exit::Unknown,
        };
    }
}

/// Does what a line says.
fn obey(session: &mut dyn Animated, line: &str, stop: &Deadline) -> Led {
    // An earlier Ctrl-C ended an earlier question.
    stop.flag.store(false, Ordering::Relaxed);
    let said = match command::read(line, false) {
        Ok(Line::Nothing) => return Led::On,
        Ok(Line::Quit) => return Led::Out,
        Ok(Line::Help) => {
            report::out(&animated::help(":"));
            return Led::On;
        }
        Ok(Line::Command(name, rest)) => command::obey(session, name, &rest, Limits::default(), &stop.flag),
        Ok(Line::Question(text)) => session.ask(&text, &stop.flag).map(Said::Reply),
        Err(why) => Err(nowhere(&why)),
    };
    match said {
        Ok(said) => {
            report::out(&animated::said(&said));
            match () {
                () if said.is_incomplete() => Led::Wrong,
                () if said.is_broken() => Led::Broken,
                () if said.is_unknown() => Led::Unknown,
                () => Led::On,
            }
        }
        Err(refused) => {
            tell(&refused);
            let is_limit = |d: &crate::lang::diag::Diagnostic| d.code == crate::trace::fault::LIMIT;
            if refused.diagnostics.iter().all(is_limit) { Led::Unknown } else { Led::Wrong }
        }
    }
}
