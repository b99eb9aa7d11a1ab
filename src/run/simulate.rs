//! Random walks through a machine: finds errors in models that are too large to be explored, and proves nothing.
//!
//! Every walk has a number and draws of its own, made from the seed and the number, so what a walk does depends on neither
//! the threads nor the other walks. Walks end at the first finding, at a deadlock, or at the greatest depth. If several walks
//! find something, the one with the least number counts, and the statistics are those of the walks up to it. So an answer
//! depends on the seed, the depth and the number of walks only, unless the time is over before the end.
//!
//! In a state, one of the enabled operations is drawn, each with the same probability, and then one of its transitions.

use super::answer::{Counterexample, Decision};
use super::check::{doubted, shown};
use super::deadline::Deadline;
use super::notes;
use super::project::Solved;
use super::why;
use crate::explore::plan::MAX_THREADS;
use crate::explore::{FindingKind, Options};
use crate::lang::diag::Diagnostic;
use crate::system::{Label, Path, Role, Stop, System, Transition, Visitor, initial_states};
use crate::trace::{Trace, replay};
use crate::value::fault::Fault;
use crate::value::hash::{Sequence, join};
use crate::verdict::Why;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Initial states that are drawn from at most.
pub(super) const MAX_INITIAL: usize = 1 << 16;

/// How many walks, and how far.
#[derive(Clone, Debug)]
pub struct Task {
    /// Random walks.
    pub walks: u64,
    /// Steps of a walk after INITIALISATION, at most.
    pub depth: usize,
    /// What all draws are made from.
    pub seed: u64,
    /// What is looked for, and with how many threads.
    pub options: Options,
}

/// What the walks were like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulated {
    /// Fails or Unknown: never Holds.
    pub verdict: Option<Decision>,
    /// What was found, or that nothing was.
    pub reason: Option<String>,
    /// How many walks were made, up to the one that found something.
    pub walks: u64,
    /// The number of that walk, from 1.
    pub found_by: Option<u64>,
    /// Steps of all walks.
    pub steps: u64,
    /// Steps of the shortest and of the longest walk.
    pub shortest: u64,
    /// See [`Simulated::shortest`].
    pub longest: u64,
    /// Walks that ended in a deadlock, where that is no finding.
    pub deadlocks: u64,
    /// How often operations fired.
    pub operations: Vec<(Arc<str>, u64)>,
    /// Initial states that were drawn from.
    pub initial: usize,
    /// Of all walks.
    pub seconds: f64,
    /// What should be known beside the answer.
    pub notes: Vec<String>,
}

/// What a walk came to.
#[derive(Clone, Debug, Default)]
struct Walked {
    number: u64,
    steps: u64,
    operations: Vec<u64>,
    end: End,
}

#[derive(Clone, Debug, Default)]
enum End {
    #[default]
    Deep,
    Deadlock,
    Found(FindingKind),
    /// The time was over.
    Stopped,
}

/// Walks.
///
/// # Errors
/// A model without an initial state.
pub fn simulate(
    solved: &Solved,
    task: &Task,
    deadline: &Deadline,
) -> Result<(Simulated, Option<Counterexample>), Vec<Diagnostic>> {
    let begin = Instant::now();
    let (opened, machine) = (&solved.project.opened, &*solved.machine);
    let mut first: Vec<Vec<u64>> = vec![];
    let mut worker = machine.worker(&deadline.flag);
    let initial = initial_states(machine, &mut worker, &mut |_, row| {
        first.push(row.to_vec());
        if first.len() < MAX_INITIAL { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let mut answer = Simulated { initial: first.len(), ..Simulated::default() };
    answer.notes.extend(notes::reading(opened.reading));
    if first.len() == MAX_INITIAL {
        answer.notes.push(format!("walks begin in the first {MAX_INITIAL} initial states only"));
    }
    if first.is_empty() {
        if let Some(fault) = initial.fault.filter(|f| matches!(**f, Fault::Wd(_))) {
            let kind = FindingKind::WellDefinedness { fault, operation: None };
            let trace = Trace { constants: vec![], steps: vec![] };
            let found = shown(opened, machine, (&kind, usize::MAX), trace, None);
            (answer.verdict, answer.reason) = (Some(Decision::Fails), Some(found.message.clone()));
            return Ok((answer, Some(found)));
        }
        if initial.complete.is_some() || (initial.cut.is_none() && !deadline.is_set()) {
            return Err(vec![super::blame::initialisation(opened)]);
        }
        let why = deadline.why().unwrap_or(Why::NoInitialState);
        (answer.verdict, answer.reason) = (Some(Decision::Unknown), Some(why::text(&why, opened)));
        return Ok((answer, None));
    }
    let Findings { answer: walked, found } = walks(machine, &first, task, &deadline.flag);
    answer = Simulated { notes: answer.notes, ..walked };
    let mut counterexample = None;
    if let Some((kind, path)) = &found {
        let trace = Trace::of(machine, path);
        match replay::confirm(machine, &trace) {
            Ok(()) => {
                let row = path.rows.last().map(|r| &r[..]);
                let found = deadline.telling(|| shown(opened, machine, (kind, 0), trace, row));
                match doubted(solved, kind, &found) {
                    None => {
                        (answer.verdict, answer.reason) =
                            (Some(Decision::Fails), Some(found.message.clone()));
                        counterexample = Some(found);
                    }
                    why => (answer.verdict, answer.reason) = (Some(Decision::Unknown), why),
                }
            }
            Err(why) => {
                let what = format!("{} found, but {why}", kind.name());
                let why = why::text(&Why::Internal(what), opened);
                (answer.verdict, answer.reason) = (Some(Decision::Unknown), Some(why));
            }
        }
    } else {
        let reason = nothing(answer.walks, deadline.why().map(|why| why::text(&why, opened)));
        (answer.verdict, answer.reason) = (Some(Decision::Unknown), Some(reason));
    }
    if machine.left_out(task.options.deadlock) > 0 {
        answer.notes.push("a part of the model speaks of its abstraction and was left out".to_string());
    }
    answer.seconds = begin.elapsed().as_secs_f64();
    Ok((answer, counterexample))
}

/// What walks through a system found, with the path to it.
pub(super) struct Findings {
    /// What the walks were like; the verdict is still to come.
    pub answer: Simulated,
    /// What the least walk that found something has found.
    pub found: Option<(FindingKind, Path)>,
}

/// Walks through any system, from these initial states, of which there is one at least.
pub(super) fn walks<S: System>(system: &S, first: &[Vec<u64>], task: &Task, stop: &Stop) -> Findings {
    let mut answer = Simulated { initial: first.len(), ..Simulated::default() };
    let walker = Walker { machine: system, first, task };
    let mut walked = walker.all(stop);
    walked.sort_by_key(|w| w.number);
    let found = walked.iter().position(|w| matches!(w.end, End::Found(_)));
    walked.truncate(found.map_or(usize::MAX, |i| i + 1));
    let names = system.operations().iter().map(|o| o.name.clone());
    answer.operations = names.map(|n| (n, 0)).collect();
    answer.shortest = u64::MAX;
    for w in walked.iter().filter(|w| !matches!(w.end, End::Stopped)) {
        answer.walks += 1;
        answer.steps += w.steps;
        answer.shortest = answer.shortest.min(w.steps);
        answer.longest = answer.longest.max(w.steps);
        answer.deadlocks += u64::from(matches!(w.end, End::Deadlock));
        for (all, n) in answer.operations.iter_mut().zip(&w.operations) {
            all.1 += n;
        }
    }
    answer.shortest = answer.shortest.min(answer.longest);
    let mut findings = Findings { answer, found: None };
    if let Some(Walked { number, end: End::Found(kind), .. }) = found.and_then(|i| walked.get(i)) {
        findings.answer.found_by = Some(number + 1);
        let (path, _) = walker.walk(*number, &Stop::default(), true);
        findings.found = Some((kind.clone(), path));
    }
    findings
}

/// That walks have found nothing, in words; and why they ended early, if they did.
pub(super) fn nothing(walks: u64, over: Option<String>) -> String {
    let over = over.map(|why| format!("{why}: ")).unwrap_or_default();
    format!("{over}nothing was found in {walks} random walks, which proves nothing")
}

struct Walker<'a, S> {
    machine: &'a S,
    first: &'a [Vec<u64>],
    task: &'a Task,
}

impl<S: System> Walker<'_, S> {
    /// All walks up to the first that finds something, and perhaps some more.
    fn all(&self, stop: &Stop) -> Vec<Walked> {
        let threads = self.task.options.threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_THREADS)
        });
        let (next, least) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let walk = || {
            let mut done = vec![];
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                // What comes after a walk that has found something does not count; all before it do.
                if number >= self.task.walks || number > least.load(Ordering::Relaxed) {
                    return done;
                }
                let (_, walked) = self.walk(number, stop, false);
                match walked.end {
                    End::Found(_) => {
                        least.fetch_min(number, Ordering::Relaxed);
                    }
                    End::Stopped => return done,
                    _ => {}
                }
                done.push(walked);
            }
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(walk)).collect();
            let mut all = walk();
            for other in others {
                match other.join() {
                    Ok(done) => all.extend(done),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    }

    /// One walk; its path only if that is asked for.
    fn walk(&self, number: u64, stop: &Stop, keep: bool) -> (Path, Walked) {
        let Walker { machine, first, task } = self;
        let mut draws = Sequence(join(join(0, task.seed), number));
        let mut worker = machine.worker(stop);
        let mut judge = machine.worker(stop);
        let mut walked =
            Walked { number, steps: 0, operations: vec![0; machine.operations().len()], end: End::Deep };
        let mut row = first[below(&mut draws, first.len())].clone();
        let mut path = Path::default();
        if keep {
            path.rows.push(row.clone());
        }
        let mut choices = Choices { keep, ..Choices::of(*machine, row.len()) };
        loop {
            if stop.load(Ordering::Relaxed) {
                walked.end = End::Stopped;
                return (path, walked);
            }
            if let Some(kind) = self.judge(&mut judge, &row) {
                walked.end = End::Found(kind);
                return (path, walked);
            }
            if walked.steps as usize >= task.depth {
                return (path, walked);
            }
            choices.clear();
            let _ = machine.successors(&mut worker, &row, &mut choices);
            if stop.load(Ordering::Relaxed) {
                walked.end = End::Stopped;
                return (path, walked);
            }
            if let Some((fault, operation)) = choices.fault.take() {
                walked.end = End::Found(FindingKind::WellDefinedness { fault, operation: Some(operation) });
                return (path, walked);
            }
            let Some((operation, at)) = choices.draw(&mut draws) else {
                // Where an enumeration was cut short there may be a step.
                let is_cut = choices.is_odd || machine.cut(&mut worker).is_some();
                let is_end = is_cut || machine.operations().is_empty() || machine.is_over(&row);
                walked.end = match task.options.deadlock && !is_end {
                    true => End::Found(FindingKind::Deadlock),
                    false => End::Deadlock,
                };
                return (path, walked);
            };
            choices.target(at, &mut row);
            walked.steps += 1;
            walked.operations[operation] += 1;
            if keep {
                path.labels.push(choices.labels[at].clone());
                path.rows.push(row.clone());
            }
        }
    }

    /// What is wrong with a state, or wanted.
    fn judge(&self, worker: &mut S::Worker, row: &[u64]) -> Option<FindingKind> {
        let options = &self.task.options;
        let (mut places, mut fault) = ([0; 3], None);
        for (check, about) in self.machine.checks().iter().enumerate() {
            let (wanted, quiet, role) = match about.role {
                Role::Invariant => (options.invariant, true, 0),
                Role::Assertion => (options.assertions, true, 1),
                Role::Goal => (options.goal, false, 2),
            };
            let place = places[role];
            places[role] += 1;
            if !wanted {
                continue;
            }
            let here = self.machine.load(worker, row);
            match self.machine.holds(check, here) {
                Ok(value) if value == quiet => {}
                Ok(_) => {
                    return Some(match about.role {
                        Role::Invariant => FindingKind::Invariant(place),
                        Role::Assertion => FindingKind::Assertion(place),
                        Role::Goal => FindingKind::Goal,
                    });
                }
                Err(e) if matches!(*e, Fault::Wd(_)) => {
                    fault.get_or_insert(e);
                }
                // A limit is no finding.
                Err(_) => {}
            }
        }
        fault.map(|fault| FindingKind::WellDefinedness { fault, operation: None })
    }
}

/// A number below a bound, which is not 0.
fn below(draws: &mut Sequence, bound: usize) -> usize {
    ((u128::from(draws.draw()) * bound as u128) >> 64) as usize
}

/// The steps of a state.
struct Choices<'m, S> {
    machine: &'m S,
    /// Words of a row.
    width: usize,
    /// Operation and where its first step is; steps of an operation stand together.
    operations: Vec<(usize, usize)>,
    targets: Vec<u64>,
    labels: Vec<Label>,
    steps: usize,
    keep: bool,
    fault: Option<(Box<Fault>, usize)>,
    is_odd: bool,
}

impl<'m, S: System> Choices<'m, S> {
    fn of(machine: &'m S, width: usize) -> Choices<'m, S> {
        Choices {
            machine,
            width,
            operations: vec![],
            targets: vec![],
            labels: vec![],
            steps: 0,
            keep: false,
            fault: None,
            is_odd: false,
        }
    }

    fn clear(&mut self) {
        self.operations.clear();
        self.targets.clear();
        self.labels.clear();
        (self.steps, self.fault, self.is_odd) = (0, None, false);
    }

    /// Operation and number of a step; none if there is no step.
    fn draw(&self, draws: &mut Sequence) -> Option<(usize, usize)> {
        if self.operations.is_empty() {
            return None;
        }
        let i = below(draws, self.operations.len());
        let (operation, begin) = self.operations[i];
        let end = self.operations.get(i + 1).map_or(self.steps, |(_, begin)| *begin);
        Some((operation, begin + below(draws, end - begin)))
    }

    fn target(&self, step: usize, row: &mut Vec<u64>) {
        let width = self.width;
        row.clear();
        row.extend_from_slice(&self.targets[step * width..(step + 1) * width]);
    }
}

impl<S: System> Visitor<S::Here> for Choices<'_, S> {
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        if self.operations.last().is_none_or(|(operation, _)| *operation != t.operation) {
            self.operations.push((t.operation, self.steps));
        }
        self.targets.extend_from_slice(t.target);
        if self.keep {
            self.labels.push(self.machine.label(t.operation, t.here));
        }
        self.steps += 1;
        ControlFlow::Continue(())
    }

    fn fault(&mut self, operation: usize, fault: Box<Fault>) -> ControlFlow<()> {
        match *fault {
            Fault::Wd(_) => {
                self.fault.get_or_insert((fault, operation));
            }
            // A limit: there may be steps that nobody sees.
            _ => self.is_odd = true,
        }
        ControlFlow::Continue(())
    }
}
