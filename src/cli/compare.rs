//! `kanon compare`: every strategy on one model, and whether they agree.
//!
//! Each run explores everything, whatever it finds, so that counts can be compared.

use super::check::Limits;
use super::{Exit, ScopeOptions, Sketch, interrupt};
use crate::explore::Options;
use crate::model::open::Refused;
use crate::report::progress::Line;
use crate::report::{self, chart, compared, text};
use crate::run::compare::{Agreement, Compared};
use crate::run::{Project, Task, check};
use crate::symmetry::Strategy;
use crate::verdict::Why;
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("max_states", |a| a.help("Stop each strategy after this many states")))]
#[command(mut_arg("timeout", |a| a.help("Stop each strategy after this many seconds")))]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// The script of CSP-M whose channels and operations happen together: its process `MAIN` guides the
    /// machine
    #[arg(long, value_name = "SCRIPT")]
    pub csp: Option<PathBuf>,
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
        Task { options: Options { all: true, symmetry, ..self.limits.options() }, ..Task::default() }
    }
}

/// Those that this program has.
fn strategies() -> impl Iterator<Item = Strategy> {
    Strategy::ALL.into_iter().filter(|s| *s != Strategy::Nauty || cfg!(feature = "nauty"))
}

pub fn run(args: &Args) -> Exit {
    if let Err(exit) = super::try_file(args.plot.as_deref(), args.json) {
        return exit;
    }
    let compared = match compare(args) {
        Ok(compared) => compared,
        Err(refused) => return super::refuse(&refused, args.json),
    };
    answer(args, &compared)
}

/// Shows and draws what was compared, of whatever language.
pub(super) fn answer(args: &Args, compared: &Compared) -> Exit {
    let written = match &args.plot {
        Some(path) => super::Written::of(path, std::fs::write(path, chart::svg(compared))),
        None => super::Written::Nothing,
    };
    if args.json {
        let mut object = compared::json(compared);
        written.add_to(&mut object["warnings"]);
        report::answer(object);
    } else {
        report::out(&compared::text(compared));
        written.complain();
    }
    written.exit(match compared.agreement() {
        Agreement::Agree(_) => Exit::Holds,
        Agreement::Differ(_) => Exit::Fails,
        Agreement::Open(_) => Exit::Unknown,
    })
}

/// The file is read once; the constants are solved once per strategy, since their time is part of each run's.
fn compare(args: &Args) -> Result<Compared, Refused> {
    let sketch = Sketch::default();
    let mut project = Project::open(&args.file, &args.scope.args())?;
    args.limits.prepare(&mut project);
    if !args.json {
        report::err(&text::warnings(&project.opened, report::colour_err()));
    }
    let mut compared = Compared::new(&project);
    for strategy in strategies() {
        if let Ok(mut sketch) = sketch.lock() {
            *sketch = compared::json(&compared);
        }
        let deadline = super::deadline(args.limits.timeout, args.json, &sketch, compared::unanswered);
        interrupt::listen(&deadline);
        let mut line = Line::new();
        let answer = project.solve(&deadline).and_then(|solved| {
            check::check(&solved, &args.task(strategy), &deadline, &mut |p| line.show(&p))
        });
        deadline.settle();
        line.clear();
        match answer {
            Ok(checked) => compared.add(&project, strategy, &checked, deadline.is_set()),
            Err(diagnostics) => return Err(project.refuse(diagnostics)),
        }
        // The user has had enough, of the others too.
        if deadline.why() == Some(Why::Interrupted) {
            break;
        }
    }
    Ok(compared)
}
