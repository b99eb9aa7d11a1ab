//! `kanon serve`: the animator in a browser.

use super::{Exit, ScopeOptions};
use crate::lang::languages::for_path;
use crate::report;
use crate::run::other::{Asked, Guide, Language};
use crate::serve::{Limits, Server, Settings};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A machine, a net, a CSP-M script, or a directory with such files
    pub path: PathBuf,
    /// The process of a CSP-M script: its name or an expression; `MAIN` unless given
    #[arg(long, value_name = "PROCESS")]
    pub process: Option<String>,
    /// The script of CSP-M whose channels and operations happen together: its process `MAIN`, or `--process`, guides the
    /// machine
    #[arg(long, value_name = "SCRIPT")]
    pub csp: Option<PathBuf>,
    /// Port; any that is free if none is given
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Address to listen at. Any other than this machine's own lets others in who know the link
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub listen: IpAddr,
    /// Seconds for a step or a question
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds, default_value = "10")]
    pub timeout: Duration,
    /// Seconds for a check
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds, default_value = "3600")]
    pub check_timeout: Duration,
    /// States of a check
    #[arg(long, value_name = "N", default_value_t = Limits::default().states)]
    pub max_states: usize,
    /// Bytes of memory, for a check
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().memory)]
    pub max_memory: u64,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    if let Err(exit) = super::not_strict(&args.scope) {
        return exit;
    }
    let language = if args.path.is_file() { Language::of(&args.path) } else { None };
    if let Err(why) = allowed(args, language) {
        return super::wrong(&why, false);
    }
    let limits = Limits {
        time: args.timeout,
        check_time: args.check_timeout,
        states: args.max_states,
        memory: args.max_memory,
    };
    let scope = args.scope.args();
    let guide = |script: &PathBuf| Guide {
        script: script.canonicalize().unwrap_or_else(|_| script.clone()),
        scope: scope.clone(),
        max_constants: None,
    };
    let asked =
        Asked { process: args.process.clone(), guide: args.csp.as_ref().map(guide), ..Asked::default() };
    let settings = Settings { address: args.listen, port: args.port, scope, asked, limits };
    let server = match Server::bind(&args.path, settings) {
        Ok(server) => server,
        Err(why) => return super::wrong(&why, false),
    };
    if !args.listen.is_loopback() {
        report::err(
            "warning: others can reach this address; the link lets whoever knows it read the models and use this machine\n",
        );
    }
    report::out(&format!("{}\n", server.url()));
    report::err("open this link in a browser; Ctrl-C ends\n");
    server.run();
    Exit::Holds
}

/// A page for a file that nothing can be asked about would only say so.
fn allowed(args: &Args, language: Option<Language>) -> Result<(), String> {
    let shown = args.path.display();
    match (&args.csp, language) {
        (Some(_), _) if !args.path.is_file() => {
            Err(format!("a script guides a machine, and {shown} is no file: name one, or leave out `--csp`"))
        }
        (Some(_), Some(language)) => {
            let name = language.name();
            Err(format!("a script guides a machine, and {shown} is {name}: leave out `--csp`"))
        }
        (None, Some(Language::Xtl)) => Err(
            "a program in XTL runs only where a command line names it and has `--run-programs`, which `serve` has \
             not: `kanon animate` steps through it on the terminal"
                .into(),
        ),
        (None, Some(_)) => Ok(()),
        (_, None) if args.path.is_file() => {
            for_path(&args.path)?;
            if args.process.is_some() && args.csp.is_none() {
                return Err(format!("`--process` is for CSP-M, and {shown} is something else"));
            }
            Ok(())
        }
        (_, None) => Ok(()),
    }
}
