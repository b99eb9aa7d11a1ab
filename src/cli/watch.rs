//! `--watch`: runs a command again whenever a file that it read has changed.
//!
//! Each run is a process of its own, so that one that does not end costs nothing but itself. It is told to end when a
//! file changes under it.

use super::{Command, Exit, project};
use crate::report;
use crate::run::watch::{Watched, files};
use crate::system::Stop;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{Child, Command as Process, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often the files are looked at, and how long they must stay the same: an editor may write in several steps.
const PAUSE: Duration = Duration::from_millis(150);
/// How often it is looked whether a run has ended.
const STEP: Duration = Duration::from_millis(15);
/// How long a run may take to end by itself. What Ctrl-C sends, a terminal sends to it as well.
const GRACE: Duration = Duration::from_secs(3);

/// What is to be watched for a command, if it is.
fn subject(command: &Command) -> Option<Box<dyn Fn() -> Vec<PathBuf> + '_>> {
    Some(match command {
        Command::Check(args) if args.watch.on && args.is_project() => Box::new(|| project::files(args)),
        Command::Check(args) if args.watch.on => {
            let file = args.file.as_deref()?;
            Box::new(|| files(file))
        }
        Command::Ltl(args) if args.watch.on => {
            Box::new(|| files(&args.file).into_iter().chain(args.formulas_from.clone()).collect())
        }
        Command::Prove(args) if args.watch.on => Box::new(|| files(&args.file)),
        Command::Refine(args) if args.watch.on => Box::new(|| files(&args.file)),
        _ => return None,
    })
}

/// The command line without `--watch`.
fn line() -> Vec<OsString> {
    let mut is_option = true;
    let keep = |word: &OsString| {
        is_option &= word != "--";
        !(is_option && word == "--watch")
    };
    std::env::args_os().skip(1).filter(keep).collect()
}

/// Runs the command until it is interrupted, if it is to be watched.
pub fn run(command: &Command) -> Option<Exit> {
    let files = subject(command)?;
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(e) => return Some(super::failed(&format!("this program cannot be found, to run it again: {e}"))),
    };
    let leave: Stop = Arc::new(AtomicBool::new(false));
    let flag = leave.clone();
    // Without a handler Ctrl-C ends both processes at once, which is no worse.
    drop(ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)));
    let mut last = Exit::Unknown;
    while !leave.load(Ordering::Relaxed) {
        // As they are before the run: what is written while it reads is seen below.
        let watched = Watched::new(files());
        clear();
        let mut child = match Process::new(&program).args(line()).stdin(Stdio::null()).spawn() {
            Ok(child) => child,
            Err(e) => return Some(super::failed(&format!("cannot run {}: {e}", program.display()))),
        };
        match wait(&mut child, &watched, &leave) {
            Ended::Itself(status) => {
                last = exit(status);
                // Nobody reads what would come.
                if last == Exit::Wrong && report::unwritten().is_some() {
                    return Some(last);
                }
                let (n, s) = (watched.count(), if watched.count() == 1 { "" } else { "s" });
                say(&format!("kanon: watching {n} file{s}; Ctrl-C ends"));
                unchanged(&watched, &leave);
            }
            Ended::Changed => {
                say("kanon: a file has changed: once more");
                settle(&watched, &leave);
            }
            Ended::Left(status) => last = status.map_or(last, exit),
            Ended::Lost(e) => return Some(super::failed(&format!("a run cannot be waited for: {e}"))),
        }
    }
    Some(last)
}

/// How a run ended.
enum Ended {
    Itself(ExitStatus),
    Changed,
    Left(Option<ExitStatus>),
    Lost(std::io::Error),
}

/// Waits for a run, and ends it if a file changes or the user leaves.
fn wait(child: &mut Child, watched: &Watched, leave: &Stop) -> Ended {
    let mut looked = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ended::Itself(status),
            Ok(None) => {}
            Err(e) => return Ended::Lost(e),
        }
        if leave.load(Ordering::Relaxed) {
            return Ended::Left(end(child, true));
        }
        if looked.elapsed() >= PAUSE {
            looked = Instant::now();
            if watched.again() != *watched {
                end(child, false);
                return Ended::Changed;
            }
        }
        sleep(STEP);
    }
}

/// Ends a run: it may have been told to already, else it is, and in the end it is not asked.
fn end(child: &mut Child, is_told: bool) -> Option<ExitStatus> {
    for told in [is_told, false] {
        if !told {
            interrupt(child);
        }
        let begun = Instant::now();
        while begun.elapsed() < GRACE {
            if let Ok(Some(status)) = child.try_wait() {
                return Some(status);
            }
            sleep(STEP);
        }
    }
    // It may have ended just now.
    let _ = child.kill();
    child.wait().ok()
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    // The child was not waited for, so that the number is still its own. It may have ended.
    if let Ok(id) = i32::try_from(child.id()) {
        let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
    }
}

#[cfg(not(unix))]
fn interrupt(_child: &Child) {}

/// Waits until something changes, and no more.
fn unchanged(watched: &Watched, leave: &Stop) {
    while !leave.load(Ordering::Relaxed) && watched.again() == *watched {
        sleep(PAUSE);
    }
    settle(watched, leave);
}

/// Waits until nothing changes any more.
fn settle(watched: &Watched, leave: &Stop) {
    let mut before = watched.again();
    while !leave.load(Ordering::Relaxed) {
        sleep(PAUSE);
        let now = watched.again();
        if now == before {
            return;
        }
        before = now;
    }
}

fn exit(status: ExitStatus) -> Exit {
    match status.code() {
        Some(0) => Exit::Holds,
        Some(1) => Exit::Fails,
        Some(2) => Exit::Wrong,
        _ => Exit::Unknown,
    }
}

/// A terminal shows the last answer only; a file has all of them.
fn clear() {
    if std::io::stdout().is_terminal() && !report::is_dumb() {
        report::out("\x1b[2J\x1b[3J\x1b[H");
    }
}

fn say(text: &str) {
    report::err(&format!("{text}\n"));
}
