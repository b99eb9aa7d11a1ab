//! `kanon replay`: run a machine along a trace.

use super::open::{open, plain_error, start};
use super::stop::Stop;
use super::{Exit, ScopeOptions, refuse};
use crate::model::open::Refused;
use crate::report::{self, json, text};
use crate::trace::export;
use crate::trace::replay::replay;
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// A trace: kanon's JSON, the answer of `check --json`, or ProB's `.prob2trace`
    pub trace: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    let stop = Stop::never();
    stop.on_interrupt();
    let read = match export::read(&args.trace) {
        Ok(read) => read,
        Err(why) => {
            let refused = Refused { diagnostics: vec![plain_error(why)], ..Refused::default() };
            return refuse(&refused, args.json);
        }
    };
    let over = args.scope.args();
    let opened = match open(&args.file, &over) {
        // Once more, with the sizes of the trace.
        Ok(o) => open(&args.file, &export::sizes(&read, &o.model, &over)),
        Err(refused) => Err(refused),
    };
    let opened = match opened {
        Ok(opened) => opened,
        Err(refused) => return refuse(&refused, args.json),
    };
    let (recorded, replayed) = match start(&opened, &stop) {
        Ok((system, _)) => {
            let recorded = read.recorded(&opened.model, &opened.scope);
            let replayed = replay(&system, &recorded, &stop.flag);
            (recorded, replayed)
        }
        Err(diagnostics) => return refuse(&opened.refuse(diagnostics), args.json),
    };
    if args.json {
        report::out(&json::text(&json::replayed(&recorded, &replayed, &opened.model)));
    } else {
        let total = recorded.steps.len();
        report::out(&text::replayed(&replayed, total, &opened.model, report::colour_out()));
    }
    match replayed.failure {
        _ if stop.is_set() => Exit::Unknown,
        None => Exit::Holds,
        Some(_) => Exit::Fails,
    }
}
