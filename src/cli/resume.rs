//! `kanon resume`: goes on with a check that was written down, as if the same command had not been interrupted.
//!
//! A checkpoint has the command that it belongs to, which is read as it was typed and where it was typed; a few limits may
//! be others.

use super::check;
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

fn prepared(args: &Args) -> Result<check::Args, String> {
    // The place changes below.
    let dir = std::fs::canonicalize(&args.dir).map_err(|e| format!("{}: {e}", args.dir.display()))?;
    let folder = Folder::again(&dir)?;
    let resumed = Resumed::find(&folder)?;
    let mut check = command(&resumed)?;
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
