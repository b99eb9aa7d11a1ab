//! `kanon eval`: one question about the initial state; the definitions of a CSP-M script.

use super::{Exit, ScopeOptions, interrupt, refuse};
use crate::animate::Session;
use crate::report::{self, diagnostic, text};
use crate::run::{Deadline, csp};
use crate::trace::fault::{LIMIT, fault_diagnostic};
use crate::trace::question::Reply;
use crate::value::fault::Fault;
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine, or a CSP-M script
    pub file: PathBuf,
    /// An expression or a predicate; names that the machine does not know are solved for. Without one, all definitions of
    /// a CSP-M script
    #[arg(allow_hyphen_values = true)]
    pub expression: Option<String>,
    /// Run the file, if it is a program in XTL: confined, without files, network and other processes
    #[arg(long)]
    pub run_programs: bool,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    let stop = Deadline::after(args.timeout);
    interrupt::listen(&stop);
    if csp::is_script(&args.file) {
        return script(args);
    }
    let Some(expression) = &args.expression else {
        report::err("kanon eval needs an expression or a predicate\n");
        return Exit::Wrong;
    };
    if let Err(exit) = super::not_strict(&args.scope) {
        return exit;
    }
    let mut session = match Session::open(&args.file, &args.scope.args(), &stop) {
        Ok(session) => session,
        Err(refused) => return refuse(&refused, false),
    };
    if let Some(fault) = session.fault().filter(|_| session.machine().valuations() == 0) {
        let exit = if matches!(fault, Fault::Wd(_)) { Exit::Fails } else { Exit::Unknown };
        let d = fault_diagnostic(fault);
        report::err(&diagnostic::render(&d, session.sources(), report::colour_err()));
        return exit;
    }
    let choices = session.walk_mut().choices(&stop.flag);
    if session.walk_mut().step(0, &stop.flag).is_none()
        && let Some((_, fault)) = choices.faults.first()
    {
        let d = fault_diagnostic(fault);
        report::err(&diagnostic::render(&d, session.sources(), report::colour_err()));
    }
    let reply = session.ask(expression, &stop.flag);
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
        Err(refused) => {
            let limit = refused.diagnostics.iter().any(|d| d.code == LIMIT);
            refuse(&refused, false);
            if limit { Exit::Unknown } else { Exit::Wrong }
        }
    }
}

/// The definitions of a CSP-M script, or an expression over them.
fn script(args: &Args) -> Exit {
    let evaluated = match csp::eval(&args.file, args.expression.as_deref()) {
        Ok(evaluated) => evaluated,
        Err(refused) => return refuse(&refused, false),
    };
    let mut exit = Exit::Holds;
    for (name, value) in &evaluated.values {
        match value {
            Ok(worth) if args.expression.is_some() => {
                report::out(&format!("{}\n", worth.text));
                if worth.is_false {
                    exit = Exit::Fails;
                }
            }
            Ok(worth) => report::out(&format!("{name} = {}\n", worth.text)),
            Err(d) => {
                report::err(&diagnostic::render(d, &evaluated.sources, report::colour_err()));
                match (d.code == csp::LIMIT, &exit) {
                    (false, _) => exit = Exit::Fails,
                    (true, Exit::Holds) => exit = Exit::Unknown,
                    (true, _) => {}
                }
            }
        }
    }
    exit
}
