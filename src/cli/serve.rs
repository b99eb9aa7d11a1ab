//! `kanon serve`: the animator in a browser.

use super::{Exit, ScopeOptions};
use crate::lang::languages::for_path;
use crate::report;
use crate::serve::{Limits, Server, Settings};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A machine, or a directory with machines
    pub path: PathBuf,
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
    // A page for a file that nothing can be asked about would only say so.
    if args.path.is_file()
        && let Err(why) = for_path(&args.path)
    {
        return super::wrong(&why, false);
    }
    let limits = Limits {
        time: args.timeout,
        check_time: args.check_timeout,
        states: args.max_states,
        memory: args.max_memory,
    };
    let settings = Settings { address: args.listen, port: args.port, scope: args.scope.args(), limits };
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
