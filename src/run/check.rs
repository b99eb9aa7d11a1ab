//! Explores all states of a machine.

use super::answer::{Audited, Checked, Counterexample, Place};
use super::blame;
use super::certificate;
use super::constants::Constants;
use super::coverage;
use super::deadline::Deadline;
use super::distributed::{self, Joined};
use super::kept;
use super::notes;
use super::project::{Project, Solved};
use super::proofs;
use super::reference::Reference;
use super::table;
use super::why;
use crate::explore::audit::{self, Audit};
use crate::explore::plan::{Asked, Refusal, plan};
use crate::explore::store::Trouble;
use crate::explore::{self, Explored, Finding, FindingKind, Options, Order, Progress, StateId};
use crate::lang::diag::Diagnostic;
use crate::model::open::{Opened, Refused};
use crate::model::reading::Reading;
use crate::model::scope::ScopeArgs;
use crate::model::{Model, OpId, Promise, tower};
use crate::symmetry::{Action, MachineAction, Strategy};
use crate::system::{Machine, Path, Stop, System, initial_states};
use crate::trace::explain::{Context, Explainer};
use crate::trace::fault::{fault_message, plain_error};
use crate::trace::{Trace, rebuild, replay};
use crate::value::fault::{Fault, WdKind};
use crate::verdict::{Broken, Decision, Verdict, Why};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

const STRICT_INVARIANT: Refusal = Refusal(
    "with `--wd strict` it is a part of the invariant that guards have values: leave out `--no-invariant` or `--wd`",
);

const PROB_CONSTANTS: Refusal = Refusal(
    "`--constants prob` leaves out valuations, which `--audit` would miss, and `--ltl` may tell apart: leave out one \
     of them",
);

const PROB_CERTIFICATE: Refusal = Refusal(
    "`--constants prob` leaves out valuations, and a certificate has all of them: leave out one of the two options",
);

const PROOFS_ALL: Refusal = Refusal(
    "what is proved of a step is proved for a state in which the whole invariant holds, and with `--all` the search \
     goes on from states in which it does not: leave out `--all` or `--proof-info`",
);

const PROOFS_INVARIANT: Refusal = Refusal(
    "what is proved is proved for states in which the invariant holds: leave out `--no-invariant` or `--proof-info`",
);

const PROOFS_ASSERTIONS: Refusal = Refusal(
    "proofs use the theorems, which are checked as assertions: leave out `--no-assertions` or `--proof-info`",
);

const PROOFS_READING: Refusal = Refusal(
    "proofs are about terms that have values, and `--wd` reads the others in another way: leave out `--wd` or \
     `--proof-info`",
);

const SHARED_CERTIFICATE: Refusal = Refusal(
    "a certificate has all states, and each of several processes has its share of them: leave out `--certificate` or \
     `--processes`",
);

const SHARED_COVERAGE: Refusal = Refusal(
    "coverage looks at all states, and each of several processes has its share of them: leave out `--coverage` or \
     `--processes`",
);

const SHARED_REPORT: Refusal = Refusal(
    "a report tells of all states, and each of several processes has its share of them: leave out `--report` or \
     `--processes`",
);

/// What to check.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// How far to go and what to look for.
    pub options: Options,
    /// Check the checker while it runs.
    pub audit: Option<Audit>,
    /// Formulas are checked as well.
    pub with_formulas: bool,
    /// What the file says is proved need not be evaluated.
    pub proof_info: bool,
    /// A file for the certificate of a Holds.
    pub certificate: Option<PathBuf>,
    /// Look at every state once more: [`coverage::Details`].
    pub coverage: bool,
    /// Count states by their distance from the initial ones.
    pub depths: bool,
    /// Write the search down now and then, or go on with one that was.
    pub checkpoint: Option<crate::checkpoint::Wish>,
    /// Search together with other processes, which were met.
    pub joined: Option<Joined>,
}

impl Task {
    /// Whether the options go together.
    ///
    /// # Errors
    /// Those that do not.
    pub fn refused(&self) -> Result<(), Refusal> {
        let asked = if self.with_formulas { Asked::Both } else { Asked::States };
        let Options { all, invariant, assertions, .. } = self.options;
        match self.proof_info {
            true if all => return Err(PROOFS_ALL),
            true if !invariant => return Err(PROOFS_INVARIANT),
            true if !assertions => return Err(PROOFS_ASSERTIONS),
            _ => {}
        }
        let is_shared = self.options.processes;
        match is_shared {
            true if self.certificate.is_some() => return Err(SHARED_CERTIFICATE),
            true if self.coverage => return Err(SHARED_COVERAGE),
            true if self.depths => return Err(SHARED_REPORT),
            _ => {}
        }
        if self.certificate.is_some() {
            certificate::refused(&self.options, self.proof_info, self.with_formulas)?;
        }
        plan(&self.options, asked, self.audit.is_some()).map(drop)
    }

    /// Whether anything is left out because it is proved. An audit evaluates everything, and names proofs that are wrong.
    fn relies(&self) -> bool {
        self.proof_info && self.audit.is_none()
    }

    /// Solves the constants, as far as this task wants them before it begins: an audit compares all valuations with the
    /// reference evaluator's, and the search for paths starts from all of them.
    ///
    /// # Errors
    /// As [`Project::solve`].
    pub fn solve<'p>(
        &self,
        project: &'p Project,
        deadline: &Deadline,
    ) -> Result<Solved<'p>, Vec<Diagnostic>> {
        // Several processes number them alike only if they know all.
        let is_whole = self.options.shortest || self.options.processes;
        let first = !(is_whole || self.audit.is_some() || self.with_formulas);
        if let Some(again) = self.checkpoint.as_ref().and_then(|wish| wish.again.as_ref()) {
            let before = again.first_valuations().map_err(|why| vec![plain_error(why)])?;
            return project.solve_as_before(deadline, false, self.relies(), before);
        }
        project.solve_relying(deadline, first, self.relies())
    }
}

/// Checks a machine whose constants are solved. `progress` is called now and then.
///
/// # Errors
/// Options that do not go together, and a model without an initial state.
pub fn check(
    solved: &Solved,
    task: &Task,
    deadline: &Deadline,
    progress: &mut dyn FnMut(Progress),
) -> Result<Checked, Vec<Diagnostic>> {
    let begin = Instant::now();
    let (opened, system) = (&solved.project.opened, &*solved.machine);
    let action = (task.options.symmetry != Strategy::Off && !system.is_unsolved()).then(|| solved.action());
    let refused = |why: Refusal| vec![plain_error(why.to_string())];
    task.refused().map_err(refused)?;
    let is_more = task.audit.is_some() || task.with_formulas;
    if solved.project.constants == Constants::Prob && is_more {
        return Err(refused(PROB_CONSTANTS));
    }
    if solved.project.constants == Constants::Prob && task.certificate.is_some() {
        return Err(refused(PROB_CERTIFICATE));
    }
    if opened.reading == Reading::Strict && !task.options.invariant {
        return Err(refused(STRICT_INVARIANT));
    }
    if task.proof_info && opened.reading != Reading::Kleene {
        return Err(refused(PROOFS_READING));
    }
    // Nothing can be enabled, and that is no news.
    let has_operations = !system.operations().is_empty();
    let options = &Options { deadlock: task.options.deadlock && has_operations, ..task.options.clone() };
    let (mut of_checkpoints, mut is_elsewhere) = (vec![], None);
    let (explored, report) = match (&task.audit, &task.checkpoint) {
        (None, wish) if options.processes => {
            let Some(joined) = &task.joined else {
                return Err(vec![plain_error("the other processes were not met")]);
            };
            let ended = distributed::explore(solved, action, joined, wish.as_ref(), options, deadline)?;
            of_checkpoints = ended.notes;
            is_elsewhere = (!joined.is_first()).then_some(ended.decision);
            (ended.explored, None)
        }
        (None, Some(wish)) => {
            let (explored, said) = kept::explore(solved, action, wish, options, deadline, progress)?;
            of_checkpoints = said;
            (explored, None)
        }
        (None, None) => {
            let explored = explore::explore(system, action, options, &deadline.flag, progress);
            (explored.map_err(refused)?, None)
        }
        (Some(audit), _) => {
            let second = Box::new(Reference::new(system, options));
            let by = (audit, Some(second as Box<dyn audit::Second>));
            let explored = audit::explore(system, action, options, &deadline.flag, progress, by);
            let (explored, report) = explored.map_err(refused)?;
            (explored, Some(report))
        }
    };
    let audit = report.map(|report| {
        let trace = match &report.broken {
            Some(Broken { state: Some(id), .. }) => {
                Some(path(solved, &explored, *id).map(|p| Trace::of(system, &p)))
            }
            _ => None,
        };
        Audited { report, trace }
    });
    let seconds = begin.elapsed().as_secs_f64();
    no_start(solved, &explored, deadline)?;
    // The others have their share, and the word of the first.
    if let Some(decision) = is_elsewhere {
        return Ok(elsewhere(&explored, decision, solved, seconds));
    }
    let verdict = deadline.explain(explored.verdict.clone());
    let truncated = match &verdict {
        Verdict::Unknown(Why::Truncated(span)) => Some(*span),
        _ => solved.setup.truncated,
    };
    let (mut word, mut reason) = (verdict.word(), None);
    let mut finding = None;
    match &verdict {
        Verdict::Holds(_) => {}
        Verdict::Unknown(why) => reason = Some(why::text(why, opened)),
        Verdict::Fails(f) => match deadline.telling(|| counterexample(solved, &explored, f)) {
            Ok(shown) => match doubted(solved, &f.kind, &shown) {
                None => {
                    reason = Some(shown.message.clone());
                    finding = Some(shown);
                }
                why => (word, reason) = (Decision::Unknown, why),
            },
            // Never a counterexample that does not run: that is a bug of ours, and no answer.
            Err(why) if explored.store.trouble().is_some() => {
                (word, reason) = (Decision::Unknown, Some(why::text(&Why::Disk(why), opened)));
            }
            Err(why) => {
                word = Decision::Unknown;
                let what = format!("{} found, but {why}", f.kind.name());
                reason = Some(why::text(&Why::Internal(what), opened));
            }
        },
    }
    let is_broken = explored.counts.violations + explored.counts.assertion_failures > 0;
    // Only what one process knows of the states can be told, and that is the way to the finding.
    let has_states = !options.processes;
    let broken = match task.options.all && is_broken && has_states {
        true => table::table(solved, &explored, &task.options, deadline),
        false => vec![],
    };
    let flooded = explored.reduction.as_ref().map_or(0, |r| r.effort.bytes);
    let bytes = explored.store.bytes() + flooded;
    let complete = explored.is_complete && !deadline.is_set();
    let certificate = task.certificate.as_deref().filter(|_| word == Decision::Holds);
    let mut certificate =
        certificate.map(|path| certificate::write(path, solved, &explored, options, &deadline.flag));
    let counts = explored.counts.clone();
    // PROPERTIES without constants are solved too, as ProB does it.
    let no_constants = !opened.model.has_constants();
    let named = system.operations().iter().zip(&counts.operations);
    let operations: Vec<(Arc<str>, u64)> = named.map(|(o, n)| (o.name.clone(), *n)).collect();
    let mut notes = of_checkpoints;
    if task.options.deadlock && !has_operations {
        notes.push(notes::NO_OPERATIONS.to_string());
    }
    notes.extend(notes::reading(opened.reading));
    notes.extend(solved.note.clone());
    let rests_on =
        if word == Decision::Fails { vec![] } else { proofs::names(&opened.model, &solved.relied) };
    if task.proof_info {
        notes.extend(proofs::note(task.relies(), rests_on.len(), &opened.model));
        notes.extend(finding.as_ref().and_then(|f| proofs::refuted(&opened.model, &verdict, f)));
    }
    notes.extend(system.is_solved_by_solver().then(|| notes::BY_SOLVER.to_string()));
    notes.extend(system.has_asked_solver().then(|| notes::CHOSEN_BY_SOLVER.to_string()));
    match (&verdict, word) {
        (Verdict::Holds(_), _) => {
            notes.extend((task.options.goal && opened.model.goal.is_some()).then(|| notes::NO_GOAL.into()));
            notes.extend(notes::scope(opened));
        }
        (Verdict::Fails(f), Decision::Fails) => {
            let is_nearest = !explored.is_early || task.options.order != Order::Bfs;
            notes.extend((!is_nearest).then(|| notes::nearest(&counts)));
            notes.extend(notes::of_finding(&f.kind, opened));
        }
        (Verdict::Unknown(why), _) => {
            notes.extend(solved.setup.is_open.then(|| notes::taken(&counts)));
            notes.extend(notes::advice(why));
            let is_full = matches!(why, Why::MaxMemory(_)) && explored.store.used().is_some();
            notes.extend(is_full.then(|| notes::values_in_memory(system.interned())));
        }
        _ => {}
    }
    let used = explored.store.used();
    notes.extend(used.filter(|_| task.options.timed).map(|used| notes::on_disk(&used)));
    // Only what nothing has cut short says that something never happens.
    let is_exact = explored.reduction.as_ref().is_none_or(|r| r.strategy.is_exact());
    let (mut coverage, mut warnings) = (None, vec![]);
    if complete && is_exact && truncated.is_none() && counts.wd_errors == 0 && has_states {
        let mut covered = coverage::of(opened, system, &explored, &operations);
        match word {
            Decision::Holds => warnings.extend(notes::never_fires(&opened.model, &covered.never)),
            _ => notes.extend(notes::never_enabled(&operations)),
        }
        if task.coverage {
            covered.details = coverage::details(opened, system, &explored, &operations, deadline);
            notes.extend(covered.details.is_none().then(|| notes::NOT_COVERED.to_string()));
        }
        coverage = Some(covered);
    } else if !has_states {
        let named = (complete && truncated.is_none()).then(|| notes::never_enabled(&operations));
        notes.extend(named.flatten());
    } else if task.coverage {
        notes.push(notes::PARTIAL.to_string());
    }
    let depths = if task.depths { explored.store.depths() } else { vec![] };
    if let (Some(Trouble(why)), Decision::Holds) = (explored.store.trouble(), word) {
        (coverage, warnings) = (None, vec![]);
        certificate = certificate.map(|_| Err(why.clone()));
        notes.push(notes::unread(why));
    }
    Ok(Checked {
        verdict: word,
        reason,
        finding,
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
        notes,
        rests_on,
        certificate,
        broken,
        coverage,
        depths,
        warnings,
    })
}

/// What a process has to say that is not the first of several.
fn elsewhere(explored: &Explored, decision: Decision, solved: &Solved, seconds: f64) -> Checked {
    let reason = match &explored.verdict {
        Verdict::Unknown(why) => Some(why::text(why, &solved.project.opened)),
        _ => None,
    };
    Checked {
        verdict: decision,
        reason,
        finding: None,
        operations: vec![],
        constants: 0,
        reduction: None,
        complete: false,
        truncated: None,
        seconds,
        total_seconds: seconds,
        bytes: 0,
        counts: explored.counts.clone(),
        audit: None,
        notes: vec![],
        rests_on: vec![],
        certificate: None,
        broken: vec![],
        coverage: None,
        depths: vec![],
        warnings: vec![],
    }
}

/// Explores a machine whose constants are solved, reduced by all that its own text allows.
///
/// # Errors
/// Options that do not go together.
pub fn explore(
    machine: &Arc<Machine>,
    options: &Options,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Explored, Refusal> {
    let action: Option<Arc<dyn Action>> =
        (options.symmetry != Strategy::Off).then(|| Arc::new(MachineAction::of(machine)) as _);
    explore::explore(&**machine, action.as_ref(), options, stop, progress)
}

/// Reads a file and checks it.
///
/// # Errors
/// What is wrong with the model or the task.
pub fn check_file(
    path: &std::path::Path,
    scope: &ScopeArgs,
    task: &Task,
    deadline: &Deadline,
) -> Result<(Project, Checked), Refused> {
    let begin = Instant::now();
    let project = Project::open(path, scope)?;
    let answer = task.solve(&project, deadline).and_then(|s| check(&s, task, deadline, &mut |_| {}));
    match answer {
        Ok(mut checked) => {
            checked.total_seconds = begin.elapsed().as_secs_f64();
            Ok((project, checked))
        }
        Err(diagnostics) => Err(project.refuse(diagnostics)),
    }
}

/// The path to a state.
fn path(solved: &Solved, explored: &Explored, state: StateId) -> Result<Path, String> {
    let action = explored.reduction.as_ref().map(|_| solved.action());
    rebuild::rebuild(&*solved.machine, action, explored, state)
}

/// The constants of a start, and no step.
fn constants(system: &Machine, start: usize) -> Trace {
    let constants = if start < system.valuations() { system.constant_values(start) } else { vec![] };
    Trace { constants, steps: vec![] }
}

/// INITIALISATION that never succeeds, or that forgets a variable, is an error of the model.
fn no_start(solved: &Solved, explored: &Explored, deadline: &Deadline) -> Result<(), Vec<Diagnostic>> {
    let opened = &solved.project.opened;
    if let Verdict::Unknown(Why::NoInitialState) = &explored.verdict {
        return if deadline.is_set() { Ok(()) } else { Err(vec![blame::initialisation(opened)]) };
    }
    let Some(Finding { kind, state: None, .. }) = &explored.finding else { return Ok(()) };
    match kind {
        FindingKind::WellDefinedness { fault, operation: None } => {
            let Fault::Wd(wd) = &**fault else { return Ok(()) };
            let decl = opened.model.variables.iter().position(|d| d.span == wd.span);
            match decl {
                Some(i) if wd.kind == WdKind::Unassigned => Err(vec![blame::unassigned(opened, i)]),
                _ => Ok(()),
            }
        }
        FindingKind::Deadlock if explored.counts.initialisations == 0 => {
            let mut worker = solved.machine.worker(&deadline.flag);
            let mut any = false;
            let all = initial_states(&*solved.machine, &mut worker, &mut |_, _| {
                any = true;
                ControlFlow::Break(())
            });
            if any || all.complete.is_none() { Ok(()) } else { Err(vec![blame::initialisation(opened)]) }
        }
        _ => Ok(()),
    }
}

/// What an ASSERT that is violated was for, where the language of the model says it.
fn promise(model: &Model, fault: &Fault, operation: &str) -> Option<String> {
    let Fault::Wd(wd) = fault else { return None };
    let is_it = |p: &&Promise| &*p.operation == operation && p.span == wd.span;
    let p = model.promises.iter().find(is_it).filter(|_| wd.kind == WdKind::AssertFailed)?;
    let what = tower::broken(p.kind);
    Some(format!("{} of {}, which the refinement promises, does not hold: {what}", p.name(), p.level))
}

/// Why a finding need not be one: an operation on its path has lost a part of its precondition.
pub(super) fn doubted(solved: &Solved, kind: &FindingKind, shown: &Counterexample) -> Option<String> {
    let failing = match kind {
        FindingKind::WellDefinedness { operation: Some(e), .. } => {
            solved.machine.events.get(*e).map(|e| e.op)
        }
        _ => None,
    };
    let name = lacking(&solved.project.opened.model, &shown.trace, failing)?;
    let steps = shown.trace.steps.len();
    let s = if steps == 1 { "" } else { "s" };
    Some(format!(
        "{} after {steps} step{s}, but a part of the precondition of `{name}` speaks of the abstraction and was \
         left out, so that this path need not exist",
        shown.message
    ))
}

/// An operation on a path that has lost a part of its precondition.
pub(super) fn lacking<'m>(model: &'m Model, trace: &Trace, also: Option<OpId>) -> Option<&'m str> {
    let path = trace.steps.iter().filter_map(|s| s.op);
    let op = path.chain(also).find(|op| model.lacks_precondition(*op))?;
    Some(&model.operations[op.index()].name)
}

/// Rebuilds the trace, replays it, and explains.
fn counterexample(solved: &Solved, explored: &Explored, finding: &Finding) -> Result<Counterexample, String> {
    let (opened, system) = (&solved.project.opened, &*solved.machine);
    let (trace, row) = match finding.state {
        Some(state) => {
            let mut path = path(solved, explored, state)?;
            (Trace::of(system, &path), path.rows.pop())
        }
        None => (constants(system, finding.start), None),
    };
    replay::confirm(system, &trace)?;
    Ok(shown(opened, system, (&finding.kind, finding.start), trace, row.as_deref()))
}

/// What is wrong with the last state of a run, or with the constants, explained.
pub(super) fn shown(
    opened: &Opened,
    system: &Machine,
    (kind, start): (&FindingKind, usize),
    trace: Trace,
    row: Option<&[u64]>,
) -> Counterexample {
    let model = &opened.model;
    let explainer = Explainer::new(system, row, start);
    let place = |span| Place::of(&opened.sources, span);
    let mut found = Counterexample {
        kind: kind.name(),
        message: String::new(),
        code: None,
        place: None,
        operation: None,
        parameters: vec![],
        why: vec![],
        trace,
    };
    match kind {
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
            found.message = match row {
                Some(_) => "deadlock: no operation is enabled".into(),
                None => "INITIALISATION has no outcome for these constants".into(),
            };
        }
        FindingKind::WellDefinedness { fault, operation } => {
            let (code, message) = fault_message(fault);
            found.code = Some(code);
            found.message = message;
            found.place = place(fault.span());
            let in_properties = start == usize::MAX;
            let context = Context { event: *operation, in_properties, has_state: row.is_some() };
            let (operation, parameters, why) = explainer.fault(fault, context);
            if let Some(promise) = promise(model, fault, &operation) {
                found.message = promise;
            }
            (found.operation, found.parameters, found.why) = (Some(operation), parameters, why);
        }
    }
    found
}
