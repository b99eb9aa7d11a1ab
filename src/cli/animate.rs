//! `kanon animate`: the animator on a terminal.

use super::{Exit, ScopeOptions, refuse};
use crate::animate::{Animated, Limits, Session};
use crate::report;
use crate::run::Deadline;
use crate::system::Stop;
use crate::terminal::{self, Settings};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

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
    /// A trace to begin with: kanon's JSON, ITF, or ProB's `.prob2trace`
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Use the mouse: clicks select and take, the wheel scrolls
    #[arg(long)]
    pub mouse: bool,
    /// Seconds for a search
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds, default_value = "10")]
    pub timeout: Duration,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    if let Err(exit) = super::not_strict(&args.scope) {
        return exit;
    }
    if let Err(exit) = on_terminal() {
        return exit;
    }
    let stop = Deadline::never();
    let mut session = match Session::open(&args.file, &args.scope.args(), &stop) {
        Ok(session) => session,
        Err(refused) => return refuse(&refused, false),
    };
    match &args.trace {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|e| e.to_string());
            if let Err(why) = text.and_then(|text| session.load(&text, &stop.flag)) {
                return super::wrong(&format!("cannot follow {}: {why}", path.display()), false);
            }
        }
        None => {
            session.walk_mut().step(0, &stop.flag);
        }
    }
    screen(Box::new(session), args)
}

fn on_terminal() -> Result<(), Exit> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(super::wrong("`kanon animate` needs a terminal; `kanon repl` reads lines", false))
}

/// The same for a system that is not a machine.
pub(super) fn show(mut session: Box<dyn Animated>, args: &Args) -> Exit {
    if let Err(exit) = on_terminal() {
        return exit;
    }
    session.step(0, &Stop::default());
    screen(session, args)
}

fn screen(session: Box<dyn Animated>, args: &Args) -> Exit {
    let limits = Limits { time: args.timeout, ..Limits::default() };
    let settings =
        Settings { mouse: args.mouse, colour: report::colour_out(), limits, ..Settings::default() };
    // In its own mode a terminal sends no Ctrl-C; whoever ends the program from outside leaves the terminal as it was.
    let flag = settings.leave.clone();
    let set = ctrlc::set_handler(move || leave(&flag));
    drop(set);
    let flag = settings.leave.clone();
    // Without the thread the program ends by a signal only.
    drop(std::thread::Builder::new().spawn(move || {
        if is_hung_up() {
            leave(&flag);
        }
    }));
    match terminal::run(session, &settings) {
        Ok(()) => Exit::Holds,
        Err(e) => super::failed(&format!("the terminal cannot be used: {e}")),
    }
}

/// How long the screen may take to be left.
const GRACE: Duration = Duration::from_secs(1);

/// Leaves the screen. If it is not left, the terminal has gone, and crossterm reads it for ever; or nobody reads what is
/// written to it.
fn leave(flag: &Stop) {
    flag.store(true, Ordering::Relaxed);
    std::thread::sleep(GRACE);
    std::process::exit(Exit::Unknown as i32);
}

/// Waits until the terminal has gone; false if that cannot be waited for.
#[cfg(unix)]
fn is_hung_up() -> bool {
    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let stdin = std::io::stdin();
    // Nothing is asked for but what is always told: that it has gone.
    let mut terminal = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
    loop {
        match poll(&mut terminal, PollTimeout::NONE) {
            Ok(n) if n > 0 => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(not(unix))]
fn is_hung_up() -> bool {
    false
}
