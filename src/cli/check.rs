//! `kanon check`: explore all states.

use super::open::{Opened, Refused, fault_message, open, plain_error, start};
use super::stop::Stop;
use super::{Exit, ScopeOptions, blame};
use crate::explore::audit::{Audit, Broken};
use crate::explore::search::Progress;
use crate::explore::{self, Explored, Finding, FindingKind, Options, Order, Verdict, Why};
use crate::lang::diag::{Diagnostic, Span};
use crate::model::scope::ScopeArgs;
use crate::report::answer::{Audited, Checked, Found, Place, Word};
use crate::report::progress::Line;
use crate::report::{self, json, text};
use crate::symmetry::Strategy;
use crate::system::{Setup, System};
use crate::trace::explain::{Context, Explainer};
use crate::trace::rebuild::{self, Rebuilt};
use crate::trace::{export, replay};
use crate::value::fault::{Fault, WdKind};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How far an exploration goes and what it looks for.
#[derive(clap::Args, Clone, Debug)]
pub struct Limits {
    /// Stop after this many states
    #[arg(long, value_name = "N")]
    pub max_states: Option<usize>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Do not check the invariant
    #[arg(long)]
    pub no_invariant: bool,
    /// Do not look for deadlocks
    #[arg(long)]
    pub no_deadlock: bool,
    /// Do not check ASSERTIONS
    #[arg(long)]
    pub no_assertions: bool,
    /// Do not look for states that fulfil GOAL
    #[arg(long)]
    pub no_goal: bool,
}

impl Limits {
    pub fn options(&self) -> Options {
        Options {
            max_states: self.max_states,
            invariant: !self.no_invariant,
            deadlock: !self.no_deadlock,
            assertions: !self.no_assertions,
            goal: !self.no_goal,
            ..Options::default()
        }
    }
}

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// Breadth first, depth first, or depth first with probability A: `bfs`, `dfs`, `mixed=A`
    #[arg(long, value_name = "ORDER", default_value = "bfs", value_parser = order)]
    pub order: Order,
    /// Makes `mixed` repeatable
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub limits: Limits,
    /// Look for states that fulfil this predicate, instead of the machine's GOAL
    #[arg(long, value_name = "PREDICATE", conflicts_with = "no_goal")]
    pub goal: Option<String>,
    /// Do not stop at a finding: explore everything and count
    #[arg(long)]
    pub all: bool,
    /// Also check the machine's ASSERT_LTL definitions, as `kanon ltl` does
    #[arg(long)]
    pub ltl: bool,
    /// Show transitions by operation, and operations that are never enabled
    #[arg(long)]
    pub stats: bool,
    /// Check the checker while it runs: after every event, or every N-th, the refinement chain's invariants, and
    /// sampled states by a second evaluator; slow
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub audit: Option<u64>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Write the counterexample: `*.itf.json`, `*.prob2trace`, or kanon's own JSON
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub scope: ScopeOptions,
    /// How symmetric states are recognised: `off`, `flood`, `markers` (approximate: never answers "holds"),
    /// `canon`, `nauty`, or `auto`, the fastest exact one
    #[arg(long, value_name = "STRATEGY", default_value = "auto", value_parser = symmetry)]
    pub symmetry: Strategy,
    /// Threads; all that the machine has unless this is given. Answers and counts do not depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Stop when the program has more memory than this: `500M`, `8G`, or bytes
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_memory: Option<u64>,
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

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(d) if !d.is_zero() => Ok(d),
        _ => Err("expected a positive number of seconds".into()),
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

const MAX_THREADS: usize = 256;

fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("at least one thread is needed".into()),
        Ok(n) if n > MAX_THREADS => Err(format!("at most {MAX_THREADS} threads")),
        Ok(n) => Ok(n),
        Err(_) => Err("expected a number".into()),
    }
}

/// What to check; the command line without its looks.
#[derive(Clone, Debug, Default)]
pub struct Task {
    pub options: Options,
    pub goal: Option<String>,
    pub scope: ScopeArgs,
    pub audit: Option<Audit>,
}

impl Args {
    /// An audit, and any order but breadth first, have one thread.
    fn threads(&self) -> usize {
        if self.audit.is_some() || self.order != Order::Bfs {
            return 1;
        }
        let all = || std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS));
        self.threads.unwrap_or_else(all)
    }

    fn task(&self) -> Task {
        Task {
            options: Options {
                order: self.order,
                seed: self.seed,
                all: self.all,
                symmetry: self.symmetry,
                threads: self.threads(),
                max_memory: self.max_memory,
                timed: self.stats,
                ..self.limits.options()
            },
            goal: self.goal.clone(),
            scope: self.scope.args(),
            audit: self.audit.map(|every| Audit { every, ..Audit::default() }),
        }
    }
}

/// Options that do not go together, and why.
fn refused(args: &Args) -> Option<&'static str> {
    if args.ltl
        && let Some(why) = crate::ltl::reduce::refused(args.symmetry)
    {
        return Some(why);
    }
    let markers = args.symmetry == Strategy::Markers;
    if markers && args.order != Order::Bfs {
        return Some(
            "with `--symmetry markers` the states that are met depend on the order, so there is one order only: \
             leave out `--order`",
        );
    }
    let several = args.threads.is_some_and(|n| n > 1);
    if several && args.order != Order::Bfs {
        return Some("several threads search breadth first: leave out `--order` or `--threads`");
    }
    if several && args.audit.is_some() {
        return Some("an audit follows the events of one thread: leave out `--threads`");
    }
    if markers && args.audit.is_some() {
        return Some(
            "`--audit` executes the clauses of the refinement chain, and `--symmetry markers`, which is \
             approximate, is no machine of it",
        );
    }
    None
}

pub fn run(args: &Args) -> Exit {
    if let Some(why) = refused(args) {
        return super::wrong(why, args.json);
    }
    let (limit, as_json) = (args.limits.timeout, args.json);
    let stop = Stop::with_last_resort(limit, move || {
        let why = Why::Timeout(limit.unwrap_or_default());
        let why = format!("{}, in a single evaluation that did not end", why_text(&why, &Opened::default()));
        let exit = super::failed(&why, as_json);
        std::process::exit(exit as i32);
    });
    stop.on_interrupt();
    let mut line = Line::new();
    let answer = check(&args.file, &args.task(), &stop, &mut |p| line.show(&p));
    let formulas = if args.ltl && answer.is_ok() { Some(super::ltl::of_machine(args, &stop)) } else { None };
    stop.settle();
    line.clear();
    let mut checked = match answer {
        Ok(checked) => checked,
        Err(refused) => return super::refuse(&refused, args.json),
    };
    let formulas = match formulas.transpose() {
        Ok(formulas) => formulas,
        Err(refused) => return super::refuse(&refused, args.json),
    };
    if let (Some(path), Some(found)) = (&args.trace, &checked.finding)
        && let Err(e) = export::write(path, &found.trace, &checked.opened)
    {
        let d = plain_error(format!("cannot write {}: {e}", path.display()));
        let opened = std::mem::take(&mut checked.opened);
        return super::refuse(&opened.refuse(vec![d]), args.json);
    }
    if args.json {
        let mut object = json::checked(&checked);
        if let Some(f) = &formulas {
            object["ltl"] = report::ltl::json(f, false);
        }
        report::out(&json::text(&object));
    } else {
        report::err(&text::warnings(&checked.opened, report::colour_err()));
        report::out(&text::checked(&checked, args.stats, report::colour_out()));
        if let (Some(path), Some(_)) = (&args.trace, &checked.finding) {
            report::out(&format!("trace written to {}\n", path.display()));
        }
        if let Some(f) = &formulas {
            report::out(&format!("\n{}", report::ltl::text(f, false, report::colour_out())));
        }
    }
    let of_formulas = formulas.iter().flat_map(|f| &f.formulas).map(|f| f.verdict);
    Exit::of(of_formulas.chain([checked.verdict]))
}

/// Checks a file. `progress` is called now and then.
pub fn check(
    path: &Path,
    task: &Task,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Checked, Refused> {
    let begin = Instant::now();
    let mut opened = open(path, &task.scope)?;
    if let Some(goal) = &task.goal {
        match opened.predicate("--goal", goal) {
            Ok(goal) => opened.model.goal = Some(goal),
            Err(diagnostics) => return Err(opened.refuse(diagnostics)),
        }
    }
    match explored(&opened, task, stop, progress) {
        Ok(mut checked) => {
            checked.total_seconds = begin.elapsed().as_secs_f64();
            checked.opened = opened;
            Ok(checked)
        }
        Err(diagnostics) => Err(opened.refuse(diagnostics)),
    }
}

fn explored(
    opened: &Opened,
    task: &Task,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Checked, Vec<Diagnostic>> {
    let begin = Instant::now();
    let (system, setup) = start(opened, stop)?;
    let stopped = !task.options.all && matches!(setup.fault.as_deref(), Some(Fault::Wd(_)));
    let (explored, audit) = match &task.audit {
        _ if stopped || setup.valuations == 0 => (nothing(&system), None),
        None => (explore::explore(&system, &task.options, &stop.flag, progress), None),
        Some(audit) => {
            let (explored, report) =
                explore::audit::explore(&system, &task.options, &stop.flag, progress, audit);
            (explored, Some(report))
        }
    };
    let audit = audit.map(|report| {
        let trace = match &report.broken {
            Some(Broken { state: Some(id), .. }) => {
                Some(rebuild::rebuild(&system, &explored, Some(*id), 0).map(|r| r.trace))
            }
            _ => None,
        };
        Audited { report, trace }
    });
    let seconds = begin.elapsed().as_secs_f64();
    no_start(opened, &system, &explored, stop)?;
    let verdict = verdict(&setup, &explored, stop);
    let finding = match &verdict {
        Verdict::Fails(f) => Some(f.clone()),
        _ => None,
    };
    let truncated = match &verdict {
        Verdict::Unknown(Why::Truncated(span)) => Some(*span),
        _ => setup.truncated,
    };
    let (word, mut reason) = match &verdict {
        Verdict::Holds => (Word::Holds, None),
        Verdict::Fails(_) => (Word::Fails, None),
        Verdict::Unknown(why) => (Word::Unknown, Some(why_text(why, opened))),
    };
    let mut word = word;
    let mut found = None;
    if let Some(f) = &finding {
        match show_finding(opened, &system, &explored, f, setup.fault.is_some()) {
            Ok(shown) => {
                reason = Some(shown.message.clone());
                found = Some(shown);
            }
            // Never a counterexample that does not run: that is a bug of ours, and no answer.
            Err(why) => {
                word = Word::Unknown;
                reason =
                    Some(format!("internal error, please report it: {} found, but {why}", f.kind.name()));
            }
        }
    }
    let flooded = explored.reduction.as_ref().map_or(0, |r| r.effort.bytes);
    let bytes = explored.store.bytes() + flooded;
    let counts = explored.counts;
    // PROPERTIES without constants are solved too, as ProB does it.
    let no_constants = opened.model.constants.is_empty() && opened.model.properties.is_empty();
    let operations = system.events.iter().zip(&counts.events).map(|(e, n)| (e.name.clone(), *n)).collect();
    let complete = matches!(verdict, Verdict::Holds)
        || (task.options.all
            && task.options.symmetry.is_exact()
            && counts.open == 0
            && !stop.is_set()
            && setup.fault.is_none());
    Ok(Checked {
        opened: Opened::default(),
        verdict: word,
        reason,
        finding: found,
        operations,
        constants: if no_constants { 0 } else { counts.constants },
        reduction: explored.reduction,
        complete,
        truncated: truncated.and_then(|span| Place::of(&opened.sources, span)),
        seconds,
        total_seconds: seconds,
        bytes,
        counts,
        audit,
    })
}

fn nothing(system: &System) -> Explored {
    let events = vec![0; system.events.len()];
    let counts = explore::Counts { events, constants: system.valuations(), ..explore::Counts::default() };
    let store = explore::Store::new(explore::Layout::new(&system.widths()));
    Explored { verdict: Verdict::Unknown(Why::Interrupted), counts, finding: None, store, reduction: None }
}

/// Constants first: what could not be decided about them weakens everything after.
fn verdict(setup: &Setup, explored: &Explored, stop: &Stop) -> Verdict {
    if let Verdict::Unknown(Why::Audit(_)) = &explored.verdict {
        return explored.verdict.clone();
    }
    if let Some(fault @ Fault::Wd(_)) = setup.fault.as_deref() {
        let kind = FindingKind::WellDefinedness { fault: Box::new(fault.clone()), event: None };
        return Verdict::Fails(Finding { kind, state: None, valuation: usize::MAX });
    }
    match (&explored.verdict, stop.why()) {
        (Verdict::Unknown(Why::Interrupted | Why::Limit(_)), Some(why)) => Verdict::Unknown(why),
        (Verdict::Holds | Verdict::Unknown(_), _) if setup.fault.is_some() => {
            Verdict::Unknown(setup.fault.clone().map_or(Why::Interrupted, Why::Limit))
        }
        (Verdict::Holds, _) => match setup.truncated {
            Some(span) => Verdict::Unknown(Why::Truncated(span)),
            None => Verdict::Holds,
        },
        (other, _) => other.clone(),
    }
}

/// INITIALISATION that never succeeds, or that forgets a variable, is an error of the model.
fn no_start(
    opened: &Opened,
    system: &System,
    explored: &Explored,
    stop: &Stop,
) -> Result<(), Vec<Diagnostic>> {
    let Some(Finding { kind, state: None, .. }) = &explored.finding else { return Ok(()) };
    match kind {
        FindingKind::WellDefinedness { fault, event: None } => {
            let Fault::Wd(wd) = &**fault else { return Ok(()) };
            let decl = opened.model.variables.iter().position(|d| d.span == wd.span);
            match decl {
                Some(i) if wd.kind == WdKind::Unassigned => Err(vec![blame::unassigned(opened, i)]),
                _ => Ok(()),
            }
        }
        FindingKind::Deadlock if explored.counts.initialisations == 0 => {
            let mut worker = system.worker(&stop.flag);
            let started = (0..system.valuations()).any(|v| {
                let mut any = false;
                let run = system.initial(&mut worker, v, &mut |_, _| {
                    any = true;
                    ControlFlow::Break(())
                });
                any || run.is_err()
            });
            if started { Ok(()) } else { Err(vec![blame::initialisation(opened)]) }
        }
        _ => Ok(()),
    }
}

pub fn why_text(why: &Why, opened: &Opened) -> String {
    let at = |span: Span| match opened.sources.get(span.file) {
        Some(_) => format!(" at {}", opened.sources.place(span)),
        None => String::new(),
    };
    match why {
        Why::Interrupted => "interrupted".into(),
        Why::Timeout(limit) => format!("timeout after {} s", limit.as_secs_f64()),
        Why::MaxMemory(n) => format!("the limit of {n} bytes of memory is reached"),
        Why::MaxStates(n) => format!("the limit of {n} states is reached"),
        Why::Truncated(span) => format!(
            "an integer without bounds was enumerated only from MININT = {} to MAXINT = {}{}",
            opened.scope.minint,
            opened.scope.maxint,
            at(*span)
        ),
        Why::Approximate => {
            "no counterexample found, but markers are approximate: states that differ may have \
                             been taken for one (`--symmetry auto` is exact)"
                .into()
        }
        Why::Limit(fault) => format!("{}{}", fault_message(fault).1, at(fault.span())),
        Why::Audit(broken) => broken.to_string(),
    }
}

/// Rebuilds the trace, replays it, and explains.
fn show_finding(
    opened: &Opened,
    system: &System,
    explored: &Explored,
    finding: &Finding,
    in_properties: bool,
) -> Result<Found, String> {
    let model = &opened.model;
    let Rebuilt { trace, row } = rebuild::rebuild(system, explored, finding.state, finding.valuation)?;
    replay::confirm(system, &trace)?;
    let explainer = Explainer::new(system, row.as_deref(), finding.valuation);
    let place = |span| Place::of(&opened.sources, span);
    let mut found = Found {
        kind: finding.kind.name(),
        message: String::new(),
        code: None,
        place: None,
        operation: None,
        parameters: vec![],
        why: vec![],
        trace,
    };
    match &finding.kind {
        FindingKind::Invariant(i) => {
            let e = &model.invariant[*i];
            found.place = place(e.span);
            found.why = explainer.predicate(e, false);
            found.message = "the invariant is violated".into();
        }
        FindingKind::Assertion(i) => {
            let e = &model.assertions[*i];
            found.place = place(e.span);
            found.why = explainer.predicate(e, false);
            found.message = "an assertion is false".into();
        }
        FindingKind::Goal => {
            if let Some(e) = &model.goal {
                found.place = place(e.span);
                found.why = explainer.predicate(e, true);
            }
            found.message = "the goal is reached".into();
        }
        FindingKind::Deadlock => {
            found.why = explainer.deadlock();
            found.message = match finding.state {
                Some(_) => "deadlock: no operation is enabled".into(),
                None => "INITIALISATION has no outcome for these constants".into(),
            };
        }
        FindingKind::WellDefinedness { fault, event } => {
            let (code, message) = fault_message(fault);
            found.code = Some(code);
            found.message = message;
            found.place = place(fault.span());
            let context = Context { event: *event, in_properties, has_state: row.is_some() };
            let (operation, parameters, why) = explainer.fault(fault, context);
            (found.operation, found.parameters, found.why) = (Some(operation), parameters, why);
        }
    }
    Ok(found)
}
