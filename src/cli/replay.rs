//! `kanon replay`: run a machine along a trace.

use super::{Exit, ScopeOptions, interrupt, refuse};
use crate::model::open::Refused;
use crate::report::{self, json, text};
use crate::run::{Deadline, Project};
use crate::trace::export;
use crate::trace::fault::plain_error;
use crate::trace::replay::replay;
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// A trace: kanon's JSON, the answer of `check --json` or `ltl --json`, or ProB's `.prob2trace`
    pub trace: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

pub fn run(args: &Args) -> Exit {
    let stop = Deadline::never();
    interrupt::listen(&stop);
    let read = match export::read(&args.trace) {
        Ok(read) => read,
        Err(why) => {
            let refused = Refused { diagnostics: vec![plain_error(why)], ..Refused::default() };
            return refuse(&refused, args.json);
        }
    };
    let over = args.scope.args();
    let project = match Project::open(&args.file, &over) {
        // Once more, with the sizes of the trace.
        Ok(p) => Project::open(&args.file, &export::sizes(&read, &p.opened.model, &over)),
        Err(refused) => Err(refused),
    };
    let project = match project {
        Ok(project) => project,
        Err(refused) => return refuse(&refused, args.json),
    };
    let opened = &project.opened;
    let answer = project.solve(&stop).map(|solved| {
        let recorded = read.recorded(&opened.model, &opened.scope);
        let replayed = replay(&solved.machine, &recorded, &stop.flag);
        (recorded, replayed)
    });
    let (recorded, replayed) = match answer {
        Ok(answer) => answer,
        Err(diagnostics) => return refuse(&project.refuse(diagnostics), args.json),
    };
    if args.json {
        report::answer(json::replayed(&recorded, &replayed, &opened.model));
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
