//! `kanon check`: explore all states.

use super::processes::{self, Children, Processes};
use super::records::Records;
use super::symbolic::{self, Asked, Choice, Formulas};
use super::wanted::Wanted;
use super::{Exit, ScopeOptions, Sketch, Written, interrupt};
use crate::animate::{Graph, Session};
use crate::checkpoint::{EVERY, Folder, Wish};
use crate::explore::audit::Audit;
use crate::explore::plan::MAX_THREADS;
use crate::explore::{Options, Order, Progress, Spill};
use crate::ltl::space;
use crate::model::open::Refused;
use crate::report::html::{self, Report, Samples};
use crate::report::progress::Line;
use crate::report::record::{Record, States};
use crate::report::{self, json, refined, text};
use crate::run::answer::Checked;
use crate::run::constants::Constants;
use crate::run::distributed::{self, Joined};
use crate::run::ltl::{self, Answered};
use crate::run::refine::{self, Refined};
use crate::run::symbolic::Engine;
use crate::run::{Deadline, Project, Task, check};
use crate::symmetry::Strategy;
use crate::trace::export::Shown;
use crate::trace::fault::plain_error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How far an exploration goes and what it looks for.
#[derive(clap::Args, Clone, Debug)]
pub struct Limits {
    /// Stop after this many states
    #[arg(long, value_name = "N")]
    pub max_states: Option<usize>,
    /// Take at most this many valuations of the constants
    #[arg(long, value_name = "N")]
    pub max_constants: Option<usize>,
    /// Which valuations of the constants: `all`, or those that `prob` takes, which makes constants of a deferred set its
    /// first elements; that is a reduction by symmetry, and is done only where it is one
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = constants)]
    pub constants: Constants,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub wanted: Wanted,
}

fn constants(text: &str) -> Result<Constants, String> {
    match text {
        "all" => Ok(Constants::All),
        "prob" => Ok(Constants::Prob),
        _ => Err("expected all or prob".into()),
    }
}

impl Limits {
    /// What is asked of the constants.
    pub fn prepare(&self, project: &mut Project) {
        (project.max_constants, project.constants) = (self.max_constants, self.constants);
    }

    pub fn options(&self) -> Options {
        Options { max_states: self.max_states, ..self.wanted.options() }
    }
}

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine, or a CSP-M script, whose assertions are checked, or, if it has none, its process MAIN. Without one, or with a `kanon.toml`, all machines of a project
    pub file: Option<PathBuf>,
    /// Breadth first, depth first, or depth first with probability A: `bfs`, `dfs`, `mixed=A`
    #[arg(long, value_name = "ORDER", default_value = "bfs", value_parser = order)]
    pub order: Order,
    /// Find all constants and initial states before the search begins, so that a trace is a shortest one even where they
    /// are very many; they are explored as they come otherwise
    #[arg(long)]
    pub shortest: bool,
    /// Makes `mixed` repeatable
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub limits: Limits,
    /// How to look for errors: `explicit` explores all states; `bmc`, `bmc-star`, `kinduction` and `ic3` work with
    /// formulas; `portfolio` runs them beside explicit search and takes the first answer
    #[arg(long, value_name = "ENGINE", default_value = "explicit", value_parser = symbolic::choice)]
    pub engine: Choice,
    #[command(flatten)]
    pub formulas: Formulas,
    /// Look for states that fulfil this predicate, instead of the machine's GOAL
    #[arg(long, value_name = "PREDICATE", conflicts_with = "no_goal")]
    pub goal: Option<String>,
    /// Explore this process of a CSP-M script, its name or an expression, instead of checking what the script asserts;
    /// with `--hosts`, which of the processes there this one is
    #[arg(long, value_name = "PROCESS")]
    pub process: Option<String>,
    /// The script of CSP-M whose channels and operations happen together: its process `MAIN`, or `--process`, guides the
    /// machine
    #[arg(long, value_name = "SCRIPT")]
    pub csp: Option<PathBuf>,
    /// Run the file, if it is a program in XTL: confined, without files, network and other processes
    #[arg(long)]
    pub run_programs: bool,
    /// Do not stop at a finding: explore everything and count
    #[arg(long)]
    pub all: bool,
    /// Also check the machine's ASSERT_LTL definitions, as `kanon ltl` does
    #[arg(long)]
    pub ltl: bool,
    /// Also compare the machine with what it refines, as `kanon refine` does
    #[arg(long)]
    pub refinement: bool,
    /// Show transitions by operation, and operations that are never enabled
    #[arg(long)]
    pub stats: bool,
    /// When everything was explored, look at every state once more: for conjuncts of guards that are never false,
    /// antecedents in the invariant that are never true, parameters that make no difference; with `--ltl` for parts of
    /// formulas that do not matter. What is cheap is always said
    #[arg(long)]
    pub coverage: bool,
    /// Check the checker while it runs: after every event, or every N-th, the refinement chain's invariants, and
    /// sampled states by a second evaluator; slow
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub audit: Option<u64>,
    /// Write a certificate of a "holds", which kanon-checker checks without any of the code that found it, or, with
    /// `--engine`, kanon-symbolic-checker
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Write the search down into this folder now and then, and when it is interrupted; `kanon resume` goes on with it
    #[arg(long, value_name = "DIR", conflicts_with = "on")]
    pub checkpoint: Option<PathBuf>,
    /// The time between two checkpoints: `30s`, `5m`, or seconds; 60 seconds unless given
    #[arg(long, value_name = "TIME", requires = "checkpoint", value_parser = super::every)]
    pub every: Option<Duration>,
    /// What becomes of the two, and of what is taken up.
    #[arg(skip)]
    pub kept: Option<Wish>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Print a line of JSON per event: `start`, `progress` while states are explored, and `answer` with the object of
    /// `--json`
    #[arg(long, conflicts_with = "json")]
    pub json_stream: bool,
    /// Write the answer as one page of HTML to send or print: verdict, trace, explanation, coverage, charts, hashes
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the counterexample: `*.itf.json`, `*.prob2trace`, or kanon's own JSON
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub watch: super::Watch,
    #[command(flatten)]
    pub records: Records,
    #[command(flatten)]
    pub scope: ScopeOptions,
    /// How symmetric states are recognised: `off`, `flood`, `markers` (approximate: no "holds" if sets are permuted),
    /// `canon`, `nauty`, or `auto`, the fastest exact one
    #[arg(long, value_name = "STRATEGY", default_value = "auto", value_parser = symmetry)]
    pub symmetry: Strategy,
    /// Threads; all that the machine has unless this is given. Answers and counts do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Stop when the program has more memory than this: `500M`, `8G`, or bytes
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_memory: Option<u64>,
    /// Where states are kept: `memory`, and when that is used up the search ends; or `disk`, and then it goes on with
    /// files in the folder DIR, which has to have room (without one, in that for temporary files)
    #[arg(long, value_name = "memory|disk[=DIR]", default_value = "memory", value_parser = place)]
    pub store: Place,
    #[command(flatten)]
    pub processes: Processes,
}

/// Where states are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Memory,
    Disk(Box<Spill>),
}

impl Place {
    fn spill(&self) -> Option<Spill> {
        match self {
            Place::Memory => None,
            Place::Disk(spill) => Some((**spill).clone()),
        }
    }

    /// Whether files can be written where states are to be kept.
    pub(super) fn try_folder(&self) -> Result<(), String> {
        self.spill().map_or(Ok(()), |spill| spill.try_folder())
    }
}

fn place(text: &str) -> Result<Place, String> {
    match text.split_once('=') {
        None if text == "memory" => Ok(Place::Memory),
        None if text == "disk" => Ok(Place::Disk(Box::new(Spill::somewhere()))),
        Some(("disk", dir)) if !dir.is_empty() => Ok(Place::Disk(Box::new(Spill::new(dir.into())))),
        _ => Err("expected memory, disk, or disk=DIR with the name of a folder".into()),
    }
}

fn order(text: &str) -> Result<Order, String> {
    match text {
        "bfs" => Ok(Order::Bfs),
        "dfs" => Ok(Order::Dfs),
        _ => match text.strip_prefix("mixed=").map(str::parse::<f64>) {
            Some(Ok(a)) if (0.0..=1.0).contains(&a) => Ok(Order::Mixed(a)),
            Some(_) => Err("mixed=A needs a probability from 0 to 1, for instance mixed=0.3".into()),
            None => Err("expected bfs, dfs or mixed=A".into()),
        },
    }
}

pub(super) fn symmetry(text: &str) -> Result<Strategy, String> {
    match Strategy::ALL.into_iter().find(|s| s.name() == text) {
        Some(Strategy::Nauty) if !cfg!(feature = "nauty") => {
            Err("this program was built without nauty; `canon` and `auto` are exact too".into())
        }
        Some(strategy) => Ok(strategy),
        None => Err("expected off, flood, markers, canon, nauty or auto".into()),
    }
}

/// `500M`, `8G`, or bytes.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let units = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift))).unwrap_or((text, 0));
    let n: u64 = number.trim().parse().map_err(|_| "expected bytes, for instance 500M or 8G".to_string())?;
    n.checked_mul(1 << shift)
        .filter(|n| *n > 0)
        .ok_or_else(|| "expected a number of bytes that exists".into())
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("at least one thread is needed".into()),
        Ok(n) if n > MAX_THREADS => Err(format!("at most {MAX_THREADS} threads")),
        Ok(n) => Ok(n),
        Err(_) => Err("expected a number".into()),
    }
}

impl Args {
    pub(super) fn task(&self) -> Task {
        Task {
            options: Options {
                order: self.order,
                shortest: self.shortest,
                seed: self.seed,
                all: self.all,
                symmetry: self.symmetry,
                threads: self.threads,
                max_memory: self.max_memory,
                spill: self.store.spill(),
                checkpoint: self.checkpoint.is_some() || self.kept.is_some(),
                processes: self.processes.are_several(),
                timed: self.stats,
                ..self.limits.options()
            },
            audit: self.audit.map(|every| Audit { every, ..Audit::default() }),
            with_formulas: self.ltl,
            proof_info: self.formulas.proof_info,
            certificate: self.certificate.clone(),
            coverage: self.coverage,
            depths: self.report.is_some(),
            checkpoint: self.kept.clone(),
            joined: None,
        }
    }

    /// The machine's own formulas.
    fn formulas(&self) -> ltl::Task {
        let limits = space::Limits { max_states: self.limits.max_states, max_memory: self.max_memory };
        ltl::Task {
            limits,
            symmetry: self.symmetry,
            audit: self.audit.is_some(),
            vacuity: self.coverage,
            ..ltl::Task::default()
        }
    }
}

/// `kanon check --engine`, not explicit.
fn with_formulas(file: &PathBuf, args: &Args, options: Options) -> Exit {
    let (engine, portfolio) = match args.engine {
        Choice::Formulas(engine) => (engine, false),
        _ => (Engine::Ic3, true),
    };
    symbolic::ask(&Asked {
        file,
        goal: args.goal.as_ref(),
        timeout: args.limits.timeout,
        json: args.json,
        trace: args.trace.as_ref(),
        records: &args.records,
        scope: &args.scope,
        portfolio,
        task: crate::run::symbolic::Task {
            certificate: args.certificate.clone(),
            ..symbolic::task(engine, &args.formulas, options)
        },
        constants: (args.limits.max_constants, args.limits.constants),
    })
}

/// What a check with checkpoints needs that begins.
fn wish(folder: &Path, every: Option<Duration>, is_first: bool) -> Result<Wish, String> {
    let words = std::env::args_os().skip(1).map(|w| w.into_string());
    let command = words.collect::<Result<Vec<_>, _>>();
    let command = command.map_err(|_| "a checkpoint has its command, which has to be UTF-8".to_string())?;
    let place = std::env::current_dir().map_err(|e| format!("there is no current folder: {e}"))?;
    let folder = Arc::new(if is_first { Folder::begin(folder)? } else { Folder::beside(folder) });
    let every = every.unwrap_or(EVERY);
    Ok(Wish { folder, every, command, place, audit: false, asked: Arc::default(), again: None })
}

/// What `check` has and engines that work with formulas have not.
fn refused(args: &Args) -> Option<&'static str> {
    let rules = [
        (
            args.audit.is_some(),
            "`--audit` executes the clauses of the refinement chain, which explicit search follows: leave out `--audit` \
             or `--engine`",
        ),
        (
            args.ltl,
            "formulas of temporal logic are checked by explicit search: leave out `--ltl` or `--engine`",
        ),
        (
            args.refinement,
            "refinements are checked by explicit search: leave out `--refinement` or `--engine`",
        ),
        (
            args.certificate.is_some() && args.engine == Choice::Portfolio,
            "a certificate says how its proof argues: take one engine, or leave out `--certificate`",
        ),
        (args.coverage, "coverage is that of explored states: leave out `--coverage` or `--engine`"),
        (
            args.checkpoint.is_some(),
            "a checkpoint has the states of explicit search: leave out `--checkpoint` or `--engine`",
        ),
        (args.store != Place::Memory, "only explicit search keeps states: leave out `--store` or `--engine`"),
        (args.report.is_some(), "a report tells of explored states: leave out `--report` or `--engine`"),
        (
            args.processes.are_several(),
            "several processes share the states of explicit search: leave out `--processes` or `--engine`",
        ),
        (
            args.threads.is_some(),
            "engines that work with formulas have one thread each: leave out `--threads`",
        ),
    ];
    rules.into_iter().find(|(applies, _)| *applies).map(|(_, why)| why)
}

/// The answers to what was asked of a file.
struct Answers {
    project: Project,
    checked: Checked,
    formulas: Option<Vec<Answered>>,
    refined: Option<(Project, Refined)>,
    /// Which of several processes this is, and those that it has started.
    joined: Option<(u16, Children)>,
}

/// Why options do not go together, if they do not.
pub(super) fn refusal(args: &Args) -> Option<String> {
    if args.engine != Choice::Explicit {
        return refused(args).map(str::to_string);
    }
    if let Some(option) = args.formulas.given() {
        return Some(format!("`{option}` is for engines that work with formulas: see `--engine`"));
    }
    if args.refinement && args.store != Place::Memory {
        let why = "a refinement is searched with its states in memory: leave out `--refinement` or `--store`";
        return Some(why.to_string());
    }
    if args.processes.are_several() && args.refinement {
        return Some(
            "refinements are checked by one process: leave out `--refinement` or `--processes`".to_string(),
        );
    }
    args.task().refused().err().map(|why| why.0.to_string())
}

impl Args {
    /// Whether a project is meant: there is no file, or one that has it.
    pub(super) fn is_project(&self) -> bool {
        self.file.as_ref().is_none_or(|file| file.extension().is_some_and(|e| e == "toml"))
    }
}

/// One machine.
pub fn run(args: &Args) -> Exit {
    match &args.file {
        Some(file) => run_file(file, args),
        None => super::wrong("there is no FILE", args.json),
    }
}

fn run_file(file: &PathBuf, args: &Args) -> Exit {
    super::announce("check", file);
    let args = &mut Args { json: args.json || args.json_stream, ..args.clone() };
    if let Some(why) = refusal(args) {
        return super::wrong(&why, args.json);
    }
    if args.kept.is_none()
        && let Some(folder) = &args.checkpoint
    {
        match wish(folder, args.every, args.processes.is_first(args.process.as_deref())) {
            Ok(wish) => args.kept = Some(wish),
            Err(why) => return super::wrong(&why, args.json),
        }
    }
    let (args, task) = (&*args, args.task());
    if args.engine != Choice::Explicit {
        return with_formulas(file, args, task.options);
    }
    if let Err(why) = args.store.try_folder() {
        return super::wrong(&why, args.json);
    }
    for file in [args.trace.as_deref(), args.certificate.as_deref(), args.report.as_deref()] {
        if let Err(exit) = super::try_file(file, args.json) {
            return exit;
        }
    }
    if let Err(exit) = args.records.try_files(args.json) {
        return exit;
    }
    let sketch = Sketch::default();
    let bounds = super::bounds(args.limits.timeout, args.max_memory);
    let deadline =
        super::bounded(bounds, args.json, &sketch, |known, why| json::unanswered(why, Some(known)));
    interrupt::listen_asking(&deadline, args.kept.as_ref().map(|wish| wish.asked.clone()));
    let mut line = Line::new();
    let mut samples = Samples::default();
    let mut show = |p: Progress| {
        line.show(&p);
        if args.report.is_some() {
            samples.add(&p);
        }
    };
    let answers = answers(file, args, &task, &deadline, &sketch, &mut show);
    deadline.settle();
    line.clear();
    let Answers { project, checked, formulas, refined, joined } = match answers {
        Ok(answers) => answers,
        Err(refused) => return args.records.refuse(file, &refused, args.json),
    };
    if let Some((process, _children)) = joined.filter(|(process, _)| *process > 0) {
        // Process 0 has told it.
        let reason = checked.reason.as_deref().unwrap_or_default();
        if checked.verdict == crate::verdict::Decision::Unknown && args.processes.hosts.is_some() {
            report::err(&format!("process {process}: {reason}\n"));
        }
        return Exit::of([checked.verdict]);
    }
    let opened = &project.opened;
    let of_states = checked.finding.as_ref().map(|f| Shown { trace: &f.trace, back: None, formula: None });
    let of_paths = formulas.iter().flatten().find_map(Answered::shown);
    let written = super::write_trace(args.trace.as_deref(), of_states.or(of_paths), opened);
    let certified = match (&args.certificate, &checked.certificate) {
        (Some(path), Some(Ok(_))) => Written::To(path),
        (_, Some(Err(why))) => Written::Failed(why.clone()),
        _ => Written::Nothing,
    };
    let recorded = args.records.write(|| {
        let mut record = Record::new(&file.display().to_string(), opened);
        record.states(&task.options, &States::of(&checked), opened);
        record.warn(&checked.warnings, opened);
        record.formulas(formulas.as_deref().unwrap_or_default(), opened);
        if let Some((tower, r)) = &refined {
            record.refinement(r, &tower.opened);
        }
        record
    });
    let reported = match &args.report {
        None => Written::Nothing,
        Some(path) => {
            let graph = few_states(args, &checked);
            let page = html::page(&Report {
                opened,
                texts: project.texts,
                checked: &checked,
                formulas: formulas.as_deref().unwrap_or_default(),
                refined: refined.as_ref().map(|(_, r)| r),
                samples: &samples,
                graph: graph.as_ref(),
                command: &super::typed(),
            });
            Written::of(path, std::fs::write(path, page))
        }
    };
    if args.json {
        let mut object = json::checked(&checked, opened);
        if let Some(f) = &formulas {
            object["ltl"] = report::ltl::json(f, opened, false);
        }
        if let Some((tower, r)) = &refined {
            object["refinement"] = refined::json(r, &tower.opened);
        }
        written.add_to(&mut object["warnings"]);
        certified.add_to(&mut object["warnings"]);
        reported.add_to(&mut object["warnings"]);
        recorded.iter().for_each(|w| w.add_to(&mut object["warnings"]));
        report::answer(object);
    } else {
        report::err(&text::warnings(opened, report::colour_err()));
        report::err(&text::more_warnings(&checked.warnings, opened, report::colour_err()));
        report::out(&text::checked(&checked, opened, args.stats, report::colour_out()));
        if let Some(f) = &formulas {
            report::out(&format!("\n{}", report::ltl::text(f, &opened.model, false, report::colour_out())));
        }
        if let Some((tower, r)) = &refined {
            report::out(&format!("\n{}", refined::text(r, &tower.opened, report::colour_out())));
        }
        written.say("trace");
        certified.say("certificate");
        reported.say("report");
        recorded.iter().for_each(Written::complain);
    }
    let of_refinement = refined.iter().map(|(_, r)| r.verdict);
    let of_formulas = formulas.iter().flatten().map(|f| f.verdict);
    let exit = Exit::of(of_formulas.chain(of_refinement).chain([checked.verdict]));
    let exit = recorded.iter().chain([&written, &certified, &reported]).fold(exit, |exit, w| w.exit(exit));
    // The run has its answer, and nothing is left to go on with.
    if let (Some(wish), Exit::Holds | Exit::Fails) = (&args.kept, exit) {
        wish.folder.clear();
    }
    exit
}

/// All states, if there are so few that they can be drawn.
fn few_states(args: &Args, checked: &Checked) -> Option<Graph> {
    const MOST: usize = 40;
    const STEPS: u64 = 2_000;
    if !checked.complete || checked.counts.states > MOST || checked.counts.transitions > STEPS {
        return None;
    }
    // A picture is not worth waiting for.
    let deadline = Deadline::after(Some(Duration::from_secs(2)));
    let session = Session::open(args.file.as_deref()?, &args.scope.args(), &deadline).ok()?;
    session.graph(None, MOST, &deadline.flag).ok().filter(|g| !g.more)
}

/// Reads the file and solves its constants once, and asks.
fn answers(
    file: &Path,
    args: &Args,
    task: &Task,
    deadline: &Deadline,
    sketch: &Sketch,
    progress: &mut dyn FnMut(Progress),
) -> Result<Answers, Refused> {
    let begin = Instant::now();
    let mut project = Project::open(file, &args.scope.args())?;
    args.limits.prepare(&mut project);
    if let Ok(mut sketch) = sketch.lock() {
        *sketch = json::of_model(&project.opened);
    }
    let formulas = args.formulas();
    let prepared = match &args.goal {
        Some(goal) => project.set_goal(goal),
        None => Ok(()),
    };
    let bindings = match prepared
        .and_then(|()| if args.ltl { ltl::bind(&mut project, &formulas).map(Some) } else { Ok(None) })
    {
        Ok(bindings) => bindings,
        Err(diagnostics) => return Err(project.refuse(diagnostics)),
    };
    let (mut joined, mut task) = (None, task.clone());
    if args.processes.are_several() {
        let folder = task.checkpoint.as_ref().map(|wish| wish.folder.path());
        match args.processes.join(args.process.as_deref(), &distributed::about(&project, &task), folder) {
            Ok((net, children)) => {
                processes::watch(&net, deadline);
                let net = Joined::of(net);
                joined = Some((net.process(), children));
                task.joined = Some(net);
            }
            Err(why) => return Err(project.refuse(vec![plain_error(why)])),
        }
    }
    let asked = task.solve(&project, deadline).and_then(|solved| {
        let mut checked = check::check(&solved, &task, deadline, progress)?;
        checked.total_seconds = begin.elapsed().as_secs_f64();
        let formulas = bindings.map(|b| ltl::check(&solved, &b, &formulas, deadline));
        Ok((checked, formulas.transpose()?))
    });
    let (checked, formulas) = match asked {
        Ok(asked) => asked,
        Err(diagnostics) => return Err(project.refuse(diagnostics)),
    };
    let mut refined = None;
    if args.refinement {
        let task = refine::Task {
            max_states: args.limits.max_states,
            max_memory: args.max_memory,
            max_constants: args.limits.max_constants,
            ..refine::Task::default()
        };
        let scope = args.scope.args();
        refined = Some(refine::refine(file, &scope, &task, deadline, progress)?);
    }
    Ok(Answers { project, checked, formulas, refined, joined })
}
