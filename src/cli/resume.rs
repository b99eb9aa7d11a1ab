//! `kanon resume`: goes on with a check that was written down, as if the same command had not been interrupted.
//!
//! A checkpoint has the command that it belongs to, which is read as it was typed and where it was typed; a few limits may
//! be others.

use super::check;
use super::processes::{self, Processes};
use super::{Cli, Command, Exit};
use crate::checkpoint::{EVERY, Folder, Resumed, Wish};
use crate::report;
use clap::{CommandFactory, FromArgMatches};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The folder that was given to `check --checkpoint`
    pub dir: PathBuf,
    /// The time between two checkpoints from here on: `30s`, `5m`, or seconds
    #[arg(long, value_name = "TIME", value_parser = super::every)]
    pub every: Option<Duration>,
    /// Before going on, execute the invariant of the refinement chain on what was written down: every state that is not
    /// open is expanded once more
    #[arg(long)]
    pub audit: bool,
    /// Stop after this many states, instead of as many as the command says
    #[arg(long, value_name = "N")]
    pub max_states: Option<usize>,
    /// Stop after this many seconds, counted from now; without it there is no such limit
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    /// Stop when the program has more memory than this, instead of what the command says
    #[arg(long, value_name = "BYTES", value_parser = check::bytes)]
    pub max_memory: Option<u64>,
    /// Threads, instead of those that the command says
    #[arg(long, value_name = "N", value_parser = check::threads)]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub processes: Processes,
    /// Which process this is, with `--hosts`, counted from 0
    #[arg(long, value_name = "N")]
    pub process: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// The command of a checkpoint.
fn command(resumed: &Resumed) -> Result<check::Args, String> {
    let wrong = || format!("its command is none of this program: kanon {}", resumed.command.join(" "));
    let words = std::iter::once("kanon").chain(resumed.command.iter().map(String::as_str));
    let matches = Cli::command().try_get_matches_from(words).map_err(|_| wrong())?;
    match Cli::from_arg_matches(&matches).map_err(|_| wrong())?.command {
        Command::Check(args) => Ok(args),
        _ => Err(wrong()),
    }
}

/// How many processes go on: as many as have written the checkpoint, unless it is said otherwise.
fn share(check: &mut check::Args, args: &Args, resumed: &Resumed) -> Result<(), String> {
    let (before, had_hosts) = (resumed.processes(), check.processes.hosts.is_some());
    if args.processes.processes.is_some() || args.processes.hosts.is_some() {
        check.processes = args.processes.clone();
    } else if check.processes.hosts.is_none() || before == 1 {
        check.processes = Processes { processes: Some(before), ..Processes::default() };
    }
    if args.process.is_some() {
        check.process = args.process.clone();
    } else if had_hosts && check.processes.hosts.is_none() {
        check.process = None;
    }
    if check.processes.are_several() && before == 1 {
        return Err(
            "this is a checkpoint of one process, whose states are in no order that several could go on \
                    with: leave out `--processes`"
                .into(),
        );
    }
    Ok(())
}

fn prepared(args: &Args) -> Result<check::Args, String> {
    // The place changes below.
    let dir = processes::folder().unwrap_or_else(|| args.dir.clone());
    let dir = std::fs::canonicalize(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    // Of several processes, the first has the folder.
    let is_first = processes::folder().is_none() && args.process.as_deref().is_none_or(|n| n == "0");
    let folder = if is_first { Folder::again(&dir)? } else { Folder::beside(&dir) };
    let resumed = Resumed::find(&folder)?;
    let mut check = command(&resumed)?;
    share(&mut check, args, &resumed)?;
    // A folder that has come from elsewhere: the files may be here.
    if resumed.place.is_dir() {
        std::env::set_current_dir(&resumed.place).map_err(|e| format!("{}: {e}", resumed.place.display()))?;
    }
    check.limits.timeout = args.timeout;
    check.limits.max_states = args.max_states.or(check.limits.max_states);
    check.max_memory = args.max_memory.or(check.max_memory);
    check.threads = args.threads.or(check.threads);
    check.json |= args.json;
    check.kept = Some(Wish {
        folder: Arc::new(folder),
        every: args.every.or(check.every).unwrap_or(EVERY),
        command: resumed.command.clone(),
        place: resumed.place.clone(),
        audit: args.audit,
        asked: Arc::default(),
        again: Some(Arc::new(resumed)),
    });
    Ok(check)
}

pub fn run(args: &Args) -> Exit {
    match prepared(args) {
        Ok(check) => {
            if check.json_stream {
                report::stream();
            }
            check::run(&check)
        }
        Err(why) => super::wrong(&why, args.json),
    }
}
