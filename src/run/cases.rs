//! Test cases: shortest traces that reach what is to be covered.
//!
//! The machine is explored breadth first and without reduction, all initial states first, so that the states in the
//! store stand in the order of their distance. What is to be covered (a *goal*) is then looked for in that order, and the
//! first state or step found is a nearest one. A trace that is the beginning of another is left out, and what it covers is
//! said of the longer one. What was not found is proved not to be there if the search was complete, and unknown otherwise.

use super::answer::Place;
use super::blame;
use super::coverage::conjuncts::{self, Tests};
use super::deadline::Deadline;
use super::project::Solved;
use super::why;
use crate::eval::env::WordEnv;
use crate::explore::{self, Explored, Options, StateId};
use crate::lang::diag::Diagnostic;
use crate::system::{Label, Machine, Path, System, Transition, Visitor};
use crate::trace::fault::plain_error;
use crate::trace::{Trace, rebuild, replay};
use crate::value::fault::Fault;
use crate::verdict::{Verdict, Why};
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// What is to be covered beside every operation, and how far to look.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Every pair of operations, one directly after the other.
    pub pairs: bool,
    /// Every conjunct of every guard, true and false.
    pub conjuncts: bool,
    /// States that are explored at most.
    pub max_states: Option<usize>,
    /// Threads of the search.
    pub threads: Option<usize>,
}

/// Something to be covered.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// An operation fires in the last step.
    Operation(Arc<str>),
    /// These fire in the last two steps.
    Pair(Arc<str>, Arc<str>),
    /// In the last state this conjunct of the guard of an operation has this value for some parameters for which all before
    /// it are true.
    Conjunct(Arc<str>, Place, bool),
}

/// A trace, and what it covers.
#[derive(Clone, Debug)]
pub struct Case {
    /// From INITIALISATION.
    pub trace: Trace,
    /// With the number of steps after which it is covered, INITIALISATION included.
    pub covers: Vec<(Goal, usize)>,
}

/// The answer.
#[derive(Clone, Debug, Default)]
pub struct Cases {
    /// The shortest first.
    pub cases: Vec<Case>,
    /// What no trace covers.
    pub uncovered: Vec<Goal>,
    /// The search was complete: what is not covered cannot be.
    pub is_complete: bool,
    /// Why it was not.
    pub reason: Option<String>,
    /// Conjuncts that have no value somewhere, so that nothing is proved of them.
    pub undecided: Vec<Goal>,
    /// States that were explored.
    pub states: usize,
    /// The whole search.
    pub seconds: f64,
}

impl Cases {
    /// Whether it is known that a goal which is not covered cannot be covered.
    pub fn is_proved(&self, goal: &Goal) -> bool {
        self.is_complete && !self.undecided.contains(goal)
    }
}

/// Looks for test cases.
///
/// # Errors
/// A model without an initial state, and mistakes of ours: a trace that is not found again.
pub fn cases(solved: &Solved, task: &Task, deadline: &Deadline) -> Result<Cases, Vec<Diagnostic>> {
    let begin = Instant::now();
    let (opened, machine) = (&solved.project.opened, &*solved.machine);
    let options = Options {
        invariant: false,
        deadlock: false,
        assertions: false,
        goal: false,
        all: true,
        shortest: true,
        max_states: task.max_states,
        threads: task.threads,
        ..Options::default()
    };
    let explored = explore::explore(machine, None, &options, &deadline.flag, &mut |_| {});
    let explored = explored.map_err(|why| vec![plain_error(why.to_string())])?;
    if let Verdict::Unknown(Why::NoInitialState) = &explored.verdict
        && !deadline.is_set()
    {
        return Err(vec![blame::initialisation(opened)]);
    }
    let mut answer = Cases { states: explored.store.len(), ..Cases::default() };
    answer.is_complete = explored.verdict.holds() && !deadline.is_set();
    answer.reason = match &explored.verdict {
        _ if answer.is_complete => None,
        Verdict::Unknown(why) => Some(why::text(&deadline.why().unwrap_or(why.clone()), opened)),
        _ => Some("something has no value, so that steps may be missing".to_string()),
    };
    let mut found = Covering { solved, explored: &explored, covered: vec![] };
    found.steps(task, deadline, &mut answer);
    if task.conjuncts {
        found.conjuncts(deadline, &mut answer);
    }
    if deadline.is_set() {
        answer.is_complete = false;
        answer.reason = deadline.why().map(|why| why::text(&why, opened));
    }
    answer.cases = found.traces().map_err(|why| vec![plain_error(why)])?;
    answer.seconds = begin.elapsed().as_secs_f64();
    Ok(answer)
}

/// Steps after a stored state.
type Steps = Vec<(Label, Vec<u64>)>;

struct Covering<'s, 'p> {
    solved: &'s Solved<'p>,
    explored: &'s Explored,
    /// A stored state, steps after it, and what they cover.
    covered: Vec<(StateId, Steps, Goal)>,
}

impl Covering<'_, '_> {
    /// Operations, and pairs of them.
    fn steps(&mut self, task: &Task, deadline: &Deadline, answer: &mut Cases) {
        let machine = &*self.solved.machine;
        let count = machine.operations().len();
        let name = |o: usize| machine.operations()[o].name.clone();
        let mut worker = machine.worker(&deadline.flag);
        let mut after = machine.worker(&deadline.flag);
        let mut fired = vec![false; count];
        let mut pairs: HashSet<(usize, usize)> = HashSet::new();
        let all_pairs = if task.pairs { count * count } else { 0 };
        let mut row = vec![];
        for id in 0..self.explored.store.len() as StateId {
            let is_done = fired.iter().all(|f| *f) && pairs.len() >= all_pairs;
            if is_done || deadline.is_set() {
                break;
            }
            self.explored.store.read(id, &mut row);
            let mut seen = Seen { machine, all: vec![], first_only: !task.pairs };
            let _ = machine.successors(&mut worker, &row, &mut seen);
            let mut looked: HashSet<(usize, Vec<u64>)> = HashSet::new();
            for (operation, label, target) in seen.all {
                if !std::mem::replace(&mut fired[operation], true) {
                    let steps = vec![(label.clone(), target.clone())];
                    self.covered.push((id, steps, Goal::Operation(name(operation))));
                }
                let is_open = task.pairs && (0..count).any(|o| !pairs.contains(&(operation, o)));
                if !is_open || !looked.insert((operation, target.clone())) {
                    continue;
                }
                let mut next = Seen { machine, all: vec![], first_only: true };
                let _ = machine.successors(&mut after, &target, &mut next);
                for (second, its_label, its_target) in next.all {
                    if pairs.insert((operation, second)) {
                        let steps = vec![(label.clone(), target.clone()), (its_label, its_target)];
                        self.covered.push((id, steps, Goal::Pair(name(operation), name(second))));
                    }
                }
            }
        }
        answer.uncovered.extend((0..count).filter(|o| !fired[*o]).map(|o| Goal::Operation(name(o))));
        if task.pairs {
            let all = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
            let open = all.filter(|pair| !pairs.contains(pair));
            answer.uncovered.extend(open.map(|(a, b)| Goal::Pair(name(a), name(b))));
        }
    }

    /// Conjuncts of guards, both ways.
    fn conjuncts(&mut self, deadline: &Deadline, answer: &mut Cases) {
        let (opened, machine) = (&self.solved.project.opened, &*self.solved.machine);
        let (mut goals, mut exprs) = (vec![], vec![]);
        for c in conjuncts::of_guards(machine) {
            let Some(place) = Place::of(&opened.sources, c.expr.span) else { continue };
            let name = machine.operations()[c.event].name.clone();
            let mut add = |value, e| {
                goals.push(Goal::Conjunct(name.clone(), place.clone(), value));
                exprs.push(e);
            };
            add(true, c.is_true());
            // That a parameter has no other values is no condition.
            if !c.is_binding {
                add(false, c.is_false());
            }
        }
        let mut tests = Tests::new(machine, &exprs, &deadline.flag);
        let mut at: Vec<Option<StateId>> = vec![None; goals.len()];
        let mut is_odd = vec![false; goals.len()];
        let mut row = vec![];
        for id in 0..self.explored.store.len() as StateId {
            if deadline.is_set() || at.iter().all(Option::is_some) {
                break;
            }
            self.explored.store.read(id, &mut row);
            tests.at(machine, &row);
            for i in 0..goals.len() {
                if at[i].is_none() {
                    match tests.holds(machine, i) {
                        Some(true) => at[i] = Some(id),
                        Some(false) => {}
                        None => is_odd[i] = true,
                    }
                }
            }
        }
        for ((goal, at), is_odd) in goals.into_iter().zip(at).zip(is_odd) {
            match at {
                Some(id) => self.covered.push((id, vec![], goal)),
                None => {
                    answer.undecided.extend(is_odd.then(|| goal.clone()));
                    answer.uncovered.push(goal);
                }
            }
        }
    }

    /// The traces, without those that are the beginning of another.
    fn traces(&self) -> Result<Vec<Case>, String> {
        let machine = &*self.solved.machine;
        let mut known: BTreeMap<StateId, Path> = BTreeMap::new();
        let mut paths: Vec<(Path, Vec<(Goal, usize)>)> = vec![];
        for (id, steps, goal) in &self.covered {
            let mut path = match known.get(id) {
                Some(path) => path.clone(),
                None => {
                    let path = rebuild::rebuild(machine, None, self.explored, *id)?;
                    known.insert(*id, path.clone());
                    path
                }
            };
            for (label, target) in steps {
                path.labels.push(label.clone());
                path.rows.push(target.clone());
            }
            let steps = path.rows.len();
            paths.push((path, vec![(goal.clone(), steps)]));
        }
        // The longest first, so that what begins one of them is met after it.
        paths.sort_by_key(|(path, _)| std::cmp::Reverse(path.rows.len()));
        let mut kept: Vec<(Path, Vec<(Goal, usize)>)> = vec![];
        for (path, goals) in paths {
            let begins = |(other, _): &&mut (Path, Vec<_>)| {
                other.rows.starts_with(&path.rows) && other.labels.starts_with(&path.labels)
            };
            match kept.iter_mut().find(begins) {
                Some((_, all)) => all.extend(goals),
                None => kept.push((path, goals)),
            }
        }
        kept.reverse();
        let case = |(path, mut covers): (Path, Vec<(Goal, usize)>)| {
            let trace = Trace::of(machine, &path);
            replay::confirm(machine, &trace)?;
            covers.sort_by_key(|(_, steps)| *steps);
            Ok(Case { trace, covers })
        };
        kept.into_iter().map(case).collect()
    }
}

/// The steps of a state.
struct Seen<'m> {
    machine: &'m Machine,
    all: Vec<(usize, Label, Vec<u64>)>,
    /// One of each operation is enough.
    first_only: bool,
}

impl Visitor<WordEnv> for Seen<'_> {
    fn transition(&mut self, t: Transition<WordEnv>) -> ControlFlow<()> {
        if self.first_only && self.all.last().is_some_and(|(operation, ..)| *operation == t.operation) {
            return ControlFlow::Continue(());
        }
        self.all.push((t.operation, self.machine.label(t.operation, t.here), t.target.to_vec()));
        ControlFlow::Continue(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
