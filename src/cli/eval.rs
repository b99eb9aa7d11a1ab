//! `kanon eval`: one question about the initial state.

use super::{Exit, ScopeOptions, interrupt, refuse};
use crate::model::open::Refused;
use crate::report::{self, diagnostic, text};
use crate::run::Deadline;
use crate::trace::fault::{LIMIT, fault_diagnostic};
use crate::trace::question::Reply;
use crate::trace::session::Session;
use crate::value::fault::Fault;
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// An expression or a predicate; names that the machine does not know are solved for
    #[arg(allow_hyphen_values = true)]
    pub expression: String,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    let stop = Deadline::after(args.timeout);
    interrupt::listen(&stop);
    let mut project = match super::open_for_questions(&args.file, &args.scope) {
        Ok(project) => project,
        Err(exit) => return exit,
    };
    let mut sources = std::mem::take(&mut project.opened.sources);
    let definitions = std::mem::take(&mut project.opened.definitions);
    let language = project.opened.language;
    let system = match project.solve_first(&stop) {
        Ok(solved) => match &solved.setup.fault {
            Some(f) if solved.setup.valuations == 0 => {
                let diagnostics = vec![fault_diagnostic(f)];
                refuse(&Refused { sources, diagnostics }, false);
                return if matches!(**f, Fault::Wd(_)) { Exit::Fails } else { Exit::Unknown };
            }
            _ => solved.machine,
        },
        Err(diagnostics) => return refuse(&Refused { sources, diagnostics }, false),
    };
    let mut session = Session::new(&system, &mut sources, &definitions, language);
    let (initial, fault) = session.initial(&stop.flag);
    match initial.into_iter().next() {
        Some(first) => {
            session.go(first);
        }
        None => {
            if let Some(d) = fault {
                report::err(&diagnostic::render(&d, session.sources, report::colour_err()));
            }
        }
    }
    let reply = session.ask(&args.expression, &stop.flag);
    match reply {
        Ok(reply) => {
            report::out(&text::reply(&reply));
            match &reply {
                Reply::Truth(false) => Exit::Fails,
                Reply::Solutions { found, truncated, .. } if found.is_empty() => {
                    if *truncated {
                        Exit::Unknown
                    } else {
                        Exit::Fails
                    }
                }
                _ => Exit::Holds,
            }
        }
        Err(diagnostics) => {
            let limit = diagnostics.iter().any(|d| d.code == LIMIT);
            refuse(&Refused { sources, diagnostics }, false);
            if limit { Exit::Unknown } else { Exit::Wrong }
        }
    }
}
