//! A check that runs while the page looks at it.

use super::limits::{Limits, lock};
use super::models;
use super::other::{self, Origin, Way};
use crate::explore::Options;
use crate::explore::memory::Limit;
use crate::explore::search::Progress;
use crate::lang::files::Files;
use crate::ltl::space;
use crate::model::scope::ScopeArgs;
use crate::report;
use crate::run::compare::Compared;
use crate::run::{Bounds, Deadline, Project, Task, check, ltl};
use crate::symmetry::Strategy;
use serde_json::{Value as Json, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often the curve gets a point, and how many it has before every other one is dropped.
const PAUSE: Duration = Duration::from_millis(100);
const MAX_POINTS: usize = 400;

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Work {
    Check(Options, Option<String>),
    Ltl(String, Strategy),
    Compare,
}

/// What it is done with.
pub enum Subject {
    /// A machine of B: the files that it may refer to, its own, and its sizes.
    Machine(Arc<dyn Files>, PathBuf, ScopeArgs),
    Other(Origin),
}

/// A check that runs, or has run. Dropping it stops it.
pub struct Job {
    deadline: Arc<Deadline>,
    watched: Arc<Mutex<Watched>>,
    begun: Instant,
}

#[derive(Default)]
struct Watched {
    /// Seconds, states, open, transitions, depth, bytes.
    points: Vec<[f64; 6]>,
    last: Option<Instant>,
    pause: Duration,
    result: Option<Json>,
    seconds: f64,
    way: Option<Way>,
}

impl Job {
    pub fn start(subject: Subject, limits: Limits, work: Work) -> Result<Job, String> {
        let bounds = Bounds { time: Some(limits.check_time), memory: Limit(Some(limits.memory)) };
        let deadline = Arc::new(Deadline::within(bounds));
        let watched = Arc::new(Mutex::new(Watched { pause: PAUSE, ..Watched::default() }));
        let begun = Instant::now();
        let (flag, told) = (deadline.clone(), watched.clone());
        let body = move || {
            let run = AssertUnwindSafe(|| run(&subject, limits, &work, &flag, &told, begun));
            let (result, way) = catch_unwind(run).unwrap_or_else(|_| {
                (json!({ "verdict": "unknown", "reason": "internal error, please report it" }), None)
            });
            let mut told = lock(&told);
            told.seconds = begun.elapsed().as_secs_f64();
            (told.result, told.way) = (Some(result), way);
        };
        crate::lang::stack::thread().spawn(body).map_err(|e| format!("cannot start a check: {e}"))?;
        Ok(Job { deadline, watched, begun })
    }

    pub fn stop(&self) {
        self.deadline.flag.store(true, Ordering::Relaxed);
    }

    /// How far it is: the points after the first `from`.
    pub fn look(&self, from: usize) -> Json {
        let told = lock(&self.watched);
        let points = told.points.get(from..).unwrap_or(&told.points);
        let seconds = if told.result.is_some() { told.seconds } else { self.begun.elapsed().as_secs_f64() };
        json!({
            "running": told.result.is_none(),
            "seconds": seconds,
            "points": points,
            "of": told.points.len(),
            "result": told.result,
        })
    }

    /// The counterexample, if there is one.
    pub fn way(&self) -> Option<Way> {
        lock(&self.watched).way.clone()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.stop();
    }
}

fn note(told: &Mutex<Watched>, begun: Instant, p: &Progress) {
    let mut told = lock(told);
    let now = Instant::now();
    if told.last.is_some_and(|last| now - last < told.pause) {
        return;
    }
    told.last = Some(now);
    if told.points.len() >= MAX_POINTS {
        let mut keep = false;
        told.points.retain(|_| {
            keep = !keep;
            keep
        });
        told.pause *= 2;
    }
    let depth = p.depth().unwrap_or(0) as f64;
    let seconds = (now - begun).as_secs_f64();
    told.points.push([seconds, p.states as f64, p.open as f64, p.transitions as f64, depth, p.bytes as f64]);
}

fn run(
    subject: &Subject,
    limits: Limits,
    work: &Work,
    deadline: &Deadline,
    told: &Mutex<Watched>,
    begun: Instant,
) -> (Json, Option<Way>) {
    let refused = |r| (report::json::refused(&r), None);
    let mut progress = |p: Progress| note(told, begun, &p);
    let bounded = |options: &Options| Options {
        max_states: Some(limits.states.min(options.max_states.unwrap_or(usize::MAX))),
        max_memory: Some(limits.memory),
        ..options.clone()
    };
    let (files, file, scope) = match subject {
        Subject::Machine(files, file, scope) => (files, file, scope),
        Subject::Other(origin) => {
            let plain = |symmetry| Box::new(bounded(&Options { symmetry, ..Options::default() }));
            let task = match work {
                Work::Check(options, goal) => other::Task::Check(Box::new(bounded(options)), goal.clone()),
                Work::Ltl(formula, symmetry) => other::Task::Ltl(formula.clone(), plain(*symmetry)),
                Work::Compare => other::Task::Compare(plain(Strategy::Auto)),
            };
            return other::run(origin, task, deadline, &mut progress);
        }
    };
    let mut project = match Project::open_from(files.clone(), file, scope) {
        Ok(project) => project,
        Err(r) => return refused(r),
    };
    match work {
        Work::Check(options, goal) => {
            if let Some(Err(diagnostics)) = goal.as_ref().map(|goal| project.set_goal(goal)) {
                return refused(project.refuse(diagnostics));
            }
            let task = Task { options: bounded(options), ..Task::default() };
            let checked =
                task.solve(&project, deadline).and_then(|s| check::check(&s, &task, deadline, &mut progress));
            match checked {
                Ok(checked) => {
                    let mut json = report::json::checked(&checked, &project.opened);
                    if let Some(place) = checked.finding.as_ref().and_then(|f| f.place.as_ref()) {
                        json["source"] = models::place(place);
                    }
                    (json, checked.finding.map(|f| Way::Trace(f.trace)))
                }
                Err(diagnostics) => refused(project.refuse(diagnostics)),
            }
        }
        Work::Ltl(formula, symmetry) => {
            let limits = space::Limits { max_states: Some(limits.states), max_memory: Some(limits.memory) };
            let formulas = match formula.trim() {
                "" => vec![],
                text => vec![("formula".to_string(), text.to_string())],
            };
            let task = ltl::Task { formulas, limits, symmetry: *symmetry, ..ltl::Task::default() };
            let answered = ltl::bind(&mut project, &task)
                .and_then(|b| ltl::check(&project.solve(deadline)?, &b, &task, deadline));
            match answered {
                Ok(all) => {
                    let json = report::ltl::json(&all, &project.opened, false);
                    let trace = all.into_iter().find_map(|a| a.finding).map(|f| Way::Trace(f.trace));
                    (json!({ "formulas": json }), trace)
                }
                Err(diagnostics) => refused(project.refuse(diagnostics)),
            }
        }
        Work::Compare => {
            let mut compared = Compared::new(&project);
            for symmetry in
                [Strategy::Off, Strategy::Flood, Strategy::Canon, Strategy::Nauty, Strategy::Markers]
            {
                if (symmetry == Strategy::Nauty && !cfg!(feature = "nauty")) || deadline.is_set() {
                    continue;
                }
                let options = bounded(&Options { symmetry, ..Options::default() });
                let task = Task { options, ..Task::default() };
                let answer =
                    project.solve(deadline).and_then(|s| check::check(&s, &task, deadline, &mut progress));
                match answer {
                    Ok(checked) => compared.add(&project, symmetry, &checked, deadline.is_set()),
                    Err(diagnostics) => return refused(project.refuse(diagnostics)),
                }
            }
            (json!({ "compared": report::compared::json(&compared) }), None)
        }
    }
}
