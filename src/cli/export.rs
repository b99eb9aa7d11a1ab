//! `kanon export`: a machine as a circuit or a formula, or its states as a graph, for other tools.

use super::symbolic::Looked;
use super::{Exit, ScopeOptions, Sketch, interrupt, refuse, seconds, wrong};
use crate::animate::{Graph, Session};
use crate::report::{self, json, space, text};
use crate::run::export::{Form, Task, WIDTH, export};
use crate::run::{Deadline, Project};
use kanon_solver::aiger::Beyond;
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("form").required(true).args(["aiger", "smt2", "dimacs", "dot", "svg", "csv", "json"]))]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// A circuit with latches, for model checkers: text, or bytes if the output ends in `.aig`
    #[arg(long)]
    pub aiger: bool,
    /// The paths of up to `--depth` steps as a formula for SMT solvers
    #[arg(long, requires = "depth")]
    pub smt2: bool,
    /// The same as clauses, for SAT solvers
    #[arg(long, requires = "depth")]
    pub dimacs: bool,
    /// The states and what leads from one to the other, for Graphviz
    #[arg(long)]
    pub dot: bool,
    /// The same as a picture
    #[arg(long)]
    pub svg: bool,
    /// The same as a table, a line per edge
    #[arg(long)]
    pub csv: bool,
    /// The same as a JSON object
    #[arg(long)]
    pub json: bool,
    /// States that are written at most, breadth first
    #[arg(long, value_name = "N", default_value_t = space::MOST)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["aiger", "smt2", "dimacs"])]
    pub max_states: u64,
    /// The process of a CSP-M script that is drawn: its name or an expression; `MAIN` unless given
    #[arg(long, value_name = "PROCESS")]
    pub process: Option<String>,
    /// The script of CSP-M whose channels and operations happen together: its process `MAIN`, or `--process`, guides the
    /// machine
    #[arg(long, value_name = "SCRIPT")]
    pub csp: Option<PathBuf>,
    /// Run the file, if it is a program in XTL: confined, without files, network and other processes
    #[arg(long)]
    pub run_programs: bool,
    /// One node for all states in which this expression has the same value
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = ["aiger", "smt2", "dimacs"])]
    pub project: Option<String>,
    /// Steps of a path
    #[arg(long, value_name = "K", conflicts_with_all = ["aiger", "dot", "svg", "csv", "json"])]
    pub depth: Option<usize>,
    /// Bits of integers without bounds, in AIGER and DIMACS
    #[arg(long, value_name = "BITS", default_value_t = WIDTH, value_parser = width)]
    #[arg(conflicts_with_all = ["smt2", "dot", "svg", "csv", "json"])]
    pub width: usize,
    /// What becomes of numbers that need more: `allow` (they may be anything, so that only the absence of errors is
    /// certain) or `exclude` (they are left out, so that only errors are)
    #[arg(long, value_name = "HOW", default_value = "allow", value_parser = beyond)]
    #[arg(conflicts_with_all = ["smt2", "dot", "svg", "csv", "json"])]
    pub beyond: Beyond,
    /// Where to write, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub looked: Looked,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

impl Args {
    /// How states are to be drawn, if they are.
    pub(super) fn form(&self) -> Option<space::Form> {
        let forms = [
            (self.dot, space::Form::Dot),
            (self.svg, space::Form::Svg),
            (self.csv, space::Form::Csv),
            (self.json, space::Form::Json),
        ];
        forms.into_iter().find(|(asked, _)| *asked).map(|(_, form)| form)
    }
}

fn width(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=128) => Ok(n),
        _ => Err("expected 1 to 128".into()),
    }
}

fn beyond(text: &str) -> Result<Beyond, String> {
    match text {
        "allow" => Ok(Beyond::Allowed),
        "exclude" => Ok(Beyond::Excluded),
        _ => Err("expected allow or exclude".into()),
    }
}

pub fn run(args: &Args) -> Exit {
    if let Err(exit) = super::try_file(args.output.as_deref(), false) {
        return exit;
    }
    if let Some(form) = args.form() {
        return states(args, form);
    }
    let deadline = super::deadline(args.timeout, false, &Sketch::default(), |_, why| json::unknown(why));
    interrupt::listen(&deadline);
    let exit = write(args, &deadline);
    deadline.settle();
    exit
}

/// The states as a graph.
fn states(args: &Args, form: space::Form) -> Exit {
    let is_looked_for = args.looked.goal.is_some() || args.looked.wanted.is_given();
    if is_looked_for {
        let why = "a graph has all states, whatever is looked for in them: leave out `--goal` and what begins with `--no-`";
        return wrong(why, args.json);
    }
    if let Err(exit) = super::not_strict(&args.scope) {
        return exit;
    }
    let deadline = super::deadline(args.timeout, args.json, &Sketch::default(), |_, why| json::unknown(why));
    interrupt::listen(&deadline);
    let most = usize::try_from(args.max_states).unwrap_or(usize::MAX);
    let drawn = Session::open(&args.file, &args.scope.args(), &deadline).and_then(|session| {
        let graph = session.graph(args.project.as_deref(), most, &deadline.flag)?;
        Ok((session, graph))
    });
    deadline.settle();
    let (session, graph) = match drawn {
        Ok(drawn) => drawn,
        Err(refused) => return refuse(&refused, args.json),
    };
    write_graph(args, &graph, &session.model().name, form)
}

/// Writes states in a form.
pub(super) fn write_graph(args: &Args, graph: &Graph, name: &str, form: space::Form) -> Exit {
    let text = match space::text(graph, name, form) {
        Ok(text) => text,
        Err(why) => return wrong(&why, args.json),
    };
    if graph.more && form != space::Form::Json {
        let n = graph.states;
        report::err(&format!(
            "note: there are more than these {n} states (`--max-states`), or some may be missing\n"
        ));
    }
    match &args.output {
        None => report::out(&text),
        Some(path) => {
            if let Err(e) = std::fs::write(path, text) {
                return wrong(&format!("cannot write {}: {e}", path.display()), args.json);
            }
        }
    }
    if graph.more { Exit::Unknown } else { Exit::Holds }
}

fn write(args: &Args, deadline: &Deadline) -> Exit {
    let mut project = match Project::open(&args.file, &args.scope.args()) {
        Ok(project) => project,
        Err(refused) => return refuse(&refused, false),
    };
    if let Some(goal) = &args.looked.goal
        && let Err(diagnostics) = project.set_goal(goal)
    {
        return refuse(&project.refuse(diagnostics), false);
    }
    let depth = args.depth.unwrap_or_default();
    let is_text = args.output.as_ref().is_none_or(|o| o.extension().is_none_or(|e| e != "aig"));
    let form = match (args.smt2, args.dimacs) {
        (true, _) => Form::Smt2 { depth },
        (_, true) => Form::Dimacs { depth },
        _ => Form::Aiger { is_text },
    };
    let task = Task {
        width: args.width,
        beyond: args.beyond,
        options: args.looked.wanted.options(),
        ..Task::new(form)
    };
    report::err(&text::warnings(&project.opened, report::colour_err()));
    let exported = match export(&project, &task, deadline) {
        Ok(exported) => exported,
        Err(why) if deadline.is_set() => {
            report::err(&format!("kanon: {why}\n"));
            return Exit::Unknown;
        }
        Err(why) => {
            return wrong(&format!("{} cannot be exported: {why}", project.opened.model.name), false);
        }
    };
    let Some(path) = &args.output else {
        // Text in every case: bytes need an output that ends in `.aig`.
        report::out(&String::from_utf8_lossy(&exported.bytes));
        return say(&exported.notes);
    };
    match std::fs::write(path, exported.bytes) {
        Ok(()) => say(&exported.notes),
        Err(e) => wrong(&format!("cannot write {}: {e}", path.display()), false),
    }
}

fn say(notes: &[String]) -> Exit {
    notes.iter().for_each(|note| report::err(&format!("note: {note}\n")));
    Exit::Holds
}
