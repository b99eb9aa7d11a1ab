//! `kanon compare`: every strategy on one model, and whether they agree.
//!
//! Each run explores everything, whatever it finds, so that counts can be compared.

use super::check::{Limits, Task, check};
use super::open::plain_error;
use super::stop::Stop;
use super::{Exit, ScopeOptions};
use crate::explore::{Options, Why};
use crate::model::open::Refused;
use crate::report::compared::{self, Agreement, Compared};
use crate::report::progress::Line;
use crate::report::{self, chart, json, text};
use crate::symmetry::Strategy;
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("max_states", |a| a.help("Stop each strategy after this many states")))]
#[command(mut_arg("timeout", |a| a.help("Stop each strategy after this many seconds")))]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    #[command(flatten)]
    pub limits: Limits,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Draw the times as a bar chart, in SVG
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

impl Args {
    fn task(&self, symmetry: Strategy) -> Task {
        let options = Options { all: true, symmetry, ..self.limits.options() };
        Task { options, scope: self.scope.args(), ..Task::default() }
    }
}

/// Those that this program has.
fn strategies() -> impl Iterator<Item = Strategy> {
    Strategy::ALL.into_iter().filter(|s| *s != Strategy::Nauty || cfg!(feature = "nauty"))
}

pub fn run(args: &Args) -> Exit {
    let compared = match compare(args) {
        Ok(compared) => compared,
        Err(refused) => return super::refuse(&refused, args.json),
    };
    if let Some(path) = &args.plot
        && let Err(e) = std::fs::write(path, chart::svg(&compared))
    {
        let d = plain_error(format!("cannot write {}: {e}", path.display()));
        return super::refuse(&Refused { diagnostics: vec![d], ..Refused::default() }, args.json);
    }
    if args.json {
        report::out(&json::text(&compared::json(&compared)));
    } else {
        report::out(&compared::text(&compared));
    }
    match compared.agreement() {
        Agreement::Agree(_) => Exit::Holds,
        Agreement::Differ(_) => Exit::Fails,
        Agreement::Open(_) => Exit::Unknown,
    }
}

fn compare(args: &Args) -> Result<Compared, Refused> {
    let mut compared: Option<Compared> = None;
    for strategy in strategies() {
        let (limit, as_json) = (args.limits.timeout.unwrap_or_default(), args.json);
        let stop = Stop::with_last_resort(args.limits.timeout, move || {
            let limit = limit.as_secs_f64();
            let why = format!("{strategy}: timeout after {limit} s, in a single evaluation that did not end");
            std::process::exit(super::failed(&why, as_json) as i32);
        });
        stop.on_interrupt();
        let mut line = Line::new();
        let answer = check(&args.file, &args.task(strategy), &stop, &mut |p| line.show(&p));
        stop.settle();
        line.clear();
        let checked = answer?;
        let is_first = compared.is_none();
        let all = compared.get_or_insert_with(|| Compared::new(&checked));
        all.add(strategy, &checked, stop.is_set());
        if is_first && !args.json {
            report::err(&text::warnings(&checked.opened, report::colour_err()));
        }
        // The user has had enough, of the others too.
        if stop.why() == Some(Why::Interrupted) {
            break;
        }
    }
    compared.ok_or_else(Refused::default)
}
