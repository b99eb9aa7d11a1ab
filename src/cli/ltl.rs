//! `kanon ltl`: temporal formulas.

use super::records::Records;
use super::{Exit, ScopeOptions, Sketch, Written, interrupt};
use crate::explore::Options;
use crate::explore::plan::{Asked, plan};
use crate::lang::diag::Diagnostic;
use crate::ltl::space::Limits;
use crate::model::open::Refused;
use crate::report::record::Record;
use crate::report::{self, text};
use crate::run::ltl::{self, Answered, Task};
use crate::run::{Deadline, Project};
use crate::symmetry::Strategy;
use crate::trace::fault::plain_error;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// Formulas; without any the machine's ASSERT_LTL definitions
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    /// More formulas, one per line; lines that start with `#` are comments
    #[arg(long, value_name = "FILE")]
    pub formulas_from: Option<PathBuf>,
    /// Paths that start in this state (its number breadth first, or a predicate), instead of an initial one
    #[arg(long, value_name = "N|PREDICATE")]
    pub from: Option<String>,
    /// The state that the atom `current` means (its number breadth first, or a predicate)
    #[arg(long, value_name = "N|PREDICATE")]
    pub current: Option<String>,
    /// The process of a CSP-M script that is asked: its name or an expression; `MAIN` unless given
    #[arg(long, value_name = "PROCESS")]
    pub process: Option<String>,
    /// The script of CSP-M whose channels and operations happen together: its process `MAIN`, or `--process`, guides the
    /// machine
    #[arg(long, value_name = "SCRIPT")]
    pub csp: Option<PathBuf>,
    /// Run the file, if it is a program in XTL: confined, without files, network and other processes
    #[arg(long)]
    pub run_programs: bool,
    /// Show for every state of a counterexample which subformulas hold
    #[arg(long)]
    pub explain: bool,
    /// Expand at most this many states per formula
    #[arg(long, value_name = "N")]
    pub max_states: Option<usize>,
    /// Take at most this many valuations of the constants
    #[arg(long, value_name = "N")]
    pub max_constants: Option<usize>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    /// Stop when the program has more memory than this: `500M`, `8G`, or bytes
    #[arg(long, value_name = "BYTES", value_parser = super::check::bytes)]
    pub max_memory: Option<u64>,
    /// Threads: the search for paths has one
    #[arg(long, value_name = "N", value_parser = super::check::threads)]
    pub threads: Option<usize>,
    /// Write the first counterexample: `*.itf.json`, `*.prob2trace`, or kanon's own JSON
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub trace: Option<PathBuf>,
    /// Write a certificate of a "holds", which kanon-checker checks without any of the code that found it: of one
    /// formula, on all paths
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "current"])]
    pub certificate: Option<PathBuf>,
    /// Say which parts of a formula that holds do not matter: it holds whatever is put in their place. A search for each
    #[arg(long)]
    pub vacuity: bool,
    /// When nothing was found, look once more: at the search's own store, and at its states by a second evaluator; slow
    #[arg(long)]
    pub audit: bool,
    /// Print a JSON array with an object per formula instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub watch: super::Watch,
    #[command(flatten)]
    pub records: Records,
    #[command(flatten)]
    pub scope: ScopeOptions,
    /// How symmetric states are recognised: `off`, `flood`, `canon`, `nauty`, or `auto`, which leaves out what a
    /// formula is not symmetric in
    #[arg(long, value_name = "STRATEGY", default_value = "auto", value_parser = super::check::symmetry)]
    pub symmetry: Strategy,
}

impl Args {
    /// Those of the command line, then those of a file, with what they are called.
    pub(super) fn all_formulas(&self) -> Result<Vec<(String, String)>, Diagnostic> {
        let numbered = |(i, text): (usize, &String)| (format!("formula {}", i + 1), text.clone());
        let mut all: Vec<(String, String)> = self.formulas.iter().enumerate().map(numbered).collect();
        if let Some(path) = &self.formulas_from {
            all.extend(from_file(path)?);
        }
        Ok(all)
    }
}

pub fn run(args: &Args) -> Exit {
    let options = Options { symmetry: args.symmetry, threads: args.threads, ..Options::default() };
    if let Err(why) = plan(&options, Asked::Paths, args.audit) {
        return super::wrong(why.0, args.json);
    }
    for file in [args.trace.as_deref(), args.certificate.as_deref()] {
        if let Err(exit) = super::try_file(file, args.json) {
            return exit;
        }
    }
    if let Err(exit) = args.records.try_files(args.json) {
        return exit;
    }
    let sketch = Sketch::default();
    let bounds = super::bounds(args.timeout, args.max_memory);
    let deadline = super::bounded(bounds, args.json, &sketch, report::ltl::unanswered);
    interrupt::listen(&deadline);
    let mut task = Task {
        formulas: vec![],
        from: args.from.clone(),
        current: args.current.clone(),
        limits: Limits { max_states: args.max_states, max_memory: args.max_memory },
        symmetry: args.symmetry,
        audit: args.audit,
        vacuity: args.vacuity,
        certificate: args.certificate.clone(),
    };
    task.formulas = match args.all_formulas() {
        Ok(formulas) => formulas,
        Err(d) => return super::refuse(&Refused { diagnostics: vec![d], ..Refused::default() }, args.json),
    };
    let answers = answers(args, &task, &deadline, &sketch);
    deadline.settle();
    let (project, formulas) = match answers {
        Ok(answers) => answers,
        Err(refused) => return args.records.refuse(&args.file, &refused, args.json),
    };
    let opened = &project.opened;
    let found = formulas.iter().find_map(Answered::shown);
    let written = super::write_trace(args.trace.as_deref(), found, opened);
    let certified = match (&args.certificate, formulas.first().and_then(|f| f.certificate.as_ref())) {
        (Some(path), Some(Ok(_))) => Written::To(path),
        (_, Some(Err(why))) => Written::Failed(why.clone()),
        _ => Written::Nothing,
    };
    let recorded = args.records.write(|| {
        let mut record = Record::new(&args.file.display().to_string(), opened);
        record.formulas(&formulas, opened);
        record
    });
    if args.json {
        let mut all = report::ltl::json(&formulas, opened, args.explain);
        recorded.iter().chain([&written, &certified]).for_each(|w| w.add_to(&mut all[0]["warnings"]));
        report::answer(all);
    } else {
        report::err(&text::warnings(opened, report::colour_err()));
        report::out(&report::ltl::text(&formulas, &opened.model, args.explain, report::colour_out()));
        written.say("trace");
        certified.say("certificate");
        recorded.iter().for_each(Written::complain);
    }
    let exit = Exit::of(formulas.iter().map(|f| f.verdict));
    recorded.iter().chain([&written, &certified]).fold(exit, |exit, w| w.exit(exit))
}

/// Reads the file, and asks.
fn answers(
    args: &Args,
    task: &Task,
    deadline: &Deadline,
    sketch: &Sketch,
) -> Result<(Project, Vec<Answered>), Refused> {
    let mut project = Project::open(&args.file, &args.scope.args())?;
    project.max_constants = args.max_constants;
    let asked = ltl::bind(&mut project, task).and_then(|bindings| {
        if let Ok(mut sketch) = sketch.lock() {
            *sketch = report::ltl::asked(&bindings, &project.opened);
        }
        ltl::check(&project.solve(deadline)?, &bindings, task, deadline)
    });
    match asked {
        Ok(formulas) => Ok((project, formulas)),
        Err(diagnostics) => Err(project.refuse(diagnostics)),
    }
}

fn from_file(path: &Path) -> Result<Vec<(String, String)>, Diagnostic> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| plain_error(format!("cannot read {}: {e}", path.display())))?;
    let lines = text.lines().enumerate();
    let formulas = lines.filter(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
    Ok(formulas.map(|(i, l)| (format!("{} line {}", path.display(), i + 1), l.to_string())).collect())
}
