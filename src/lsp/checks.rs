//! What takes longer than a keystroke: checks of machines and opened traces, each in a thread of its own. A thread works
//! on the texts as they were when it began and says for which version its answer is.

use super::world::{Document, World};
use crate::animate::Session;
use crate::lang::diag::FileId;
use crate::lang::files::Files;
use crate::lang::stack::thread;
use crate::report::text::call;
use crate::run::answer::{Checked, Decision};
use crate::run::{Deadline, Project, Task, check};
use crate::system::Stop;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long a trace may take to be followed.
const TRACE: Duration = Duration::from_secs(60);

/// An answer of a thread, about a version of a document.
pub struct Finished {
    pub uri: String,
    pub version: i64,
    /// The run that it comes from: one that was stopped says nothing any more.
    pub run: u64,
    pub answer: Answer,
}

pub enum Answer {
    Checked(Outcome),
    /// Values by name and where they are from; or why there are none.
    Values(Result<(String, HashMap<String, String>), String>),
}

/// How a check ended.
pub struct Outcome {
    /// `holds`, `fails`, `unknown` or `wrong`.
    pub verdict: &'static str,
    pub words: String,
    /// The part of the document that it is about, if there is one, and what is said there.
    pub found: Option<(u32, u32, String)>,
    pub states: u64,
    pub transitions: u64,
}

/// A check that runs.
struct Running {
    uri: String,
    run: u64,
    stop: Stop,
}

pub struct Checks {
    sender: crossbeam_channel::Sender<Finished>,
    running: Vec<Running>,
    runs: u64,
}

impl Checks {
    pub fn new(sender: crossbeam_channel::Sender<Finished>) -> Checks {
        Checks { sender, running: vec![], runs: 0 }
    }

    pub fn is_running(&self, uri: &str) -> bool {
        self.running.iter().any(|r| r.uri == uri)
    }

    /// Stops what runs for a document; says whether anything did.
    pub fn cancel(&mut self, uri: &str) -> bool {
        let before = self.running.len();
        self.running.retain(|r| {
            if r.uri == uri {
                r.stop.store(true, Ordering::Relaxed);
            }
            r.uri != uri
        });
        self.running.len() < before
    }

    pub fn cancel_all(&mut self) {
        self.running.drain(..).for_each(|r| r.stop.store(true, Ordering::Relaxed));
    }

    /// Whether an answer is still waited for; it is not any more from here on.
    pub fn ended(&mut self, finished: &Finished) -> bool {
        let before = self.running.len();
        self.running.retain(|r| r.run != finished.run);
        self.running.len() < before
    }

    /// Checks a document in the background.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn check(&mut self, world: &World, d: &Document) -> Result<(), String> {
        let (files, path) = (world.files(), d.path.clone());
        self.start(d, Deadline::never(), move |deadline| {
            let outcome = catch_unwind(AssertUnwindSafe(|| outcome(files, &path, deadline)));
            Answer::Checked(outcome.unwrap_or_else(|_| {
                Outcome::failed("unknown", "the check failed; this is a bug of kanon".to_string())
            }))
        })
    }

    /// Follows a trace in the background, for the values of its last state.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn trace(&mut self, world: &World, d: &Document, trace: PathBuf) -> Result<(), String> {
        let (files, path) = (world.files(), d.path.clone());
        self.start(d, Deadline::after(Some(TRACE)), move |deadline| {
            let values = catch_unwind(AssertUnwindSafe(|| values(files, &path, &trace, deadline)));
            Answer::Values(values.unwrap_or_else(|_| Err("it failed; this is a bug of kanon".to_string())))
        })
    }

    fn start(
        &mut self,
        d: &Document,
        deadline: Deadline,
        work: impl FnOnce(&Deadline) -> Answer + Send + 'static,
    ) -> Result<(), String> {
        self.cancel(&d.uri);
        self.runs += 1;
        let (uri, version, run, sender) = (d.uri.clone(), d.version, self.runs, self.sender.clone());
        let stop = deadline.flag.clone();
        let started = thread().spawn(move || {
            let answer = work(&deadline);
            // Nobody listens any more when the editor is gone.
            let _ = sender.send(Finished { uri, version, run, answer });
        });
        started.map_err(|e| format!("cannot start a thread: {e}"))?;
        self.running.push(Running { uri: d.uri.clone(), run, stop });
        Ok(())
    }
}

impl Outcome {
    fn failed(verdict: &'static str, words: String) -> Outcome {
        Outcome { verdict, words, found: None, states: 0, transitions: 0 }
    }

    pub fn json(&self, uri: &str, version: i64) -> Json {
        json!({ "uri": uri, "version": version, "verdict": self.verdict, "message": self.words,
                "states": self.states, "transitions": self.transitions })
    }
}

fn outcome(files: Arc<dyn Files>, path: &Path, deadline: &Deadline) -> Outcome {
    let project = match Project::open_from(files, path, &Default::default()) {
        Ok(project) => project,
        Err(refused) => {
            let first = refused.diagnostics.iter().find(|d| d.is_error());
            let words = first.map_or("it cannot be read".to_string(), |d| d.message.clone());
            return Outcome::failed("wrong", words);
        }
    };
    let task = Task::default();
    let checked = task.solve(&project, deadline).and_then(|s| check::check(&s, &task, deadline, &mut |_| {}));
    match checked {
        Ok(checked) => told(&checked, &project, path),
        Err(diagnostics) => {
            let first = diagnostics.iter().find(|d| d.is_error());
            let mut outcome = Outcome::failed("wrong", first.map_or(String::new(), |d| d.message.clone()));
            let here = first.map(|d| d.span).filter(|s| project.opened.sources.path(s.file) == Some(path));
            outcome.found = here.map(|s| (s.lo, s.hi, outcome.words.clone()));
            outcome
        }
    }
}

fn told(checked: &Checked, project: &Project, path: &Path) -> Outcome {
    let (sources, model) = (&project.opened.sources, &project.opened.model);
    let counts = &checked.counts;
    let verdict = match checked.verdict {
        Decision::Holds => "holds",
        Decision::Fails => "fails",
        Decision::Unknown => "unknown",
    };
    let reason = checked.finding.as_ref().map(|f| f.message.clone()).or(checked.reason.clone());
    let size = format!("{} states, {} transitions", counts.states, counts.transitions);
    let words = match &reason {
        Some(reason) => format!("{verdict}: {reason} ({size})"),
        None => format!("{verdict} ({size})"),
    };
    let found = checked.finding.as_ref().map(|finding| {
        let place = finding.place.as_ref().map(|p| p.span);
        let here = place.filter(|s| s.file == FileId(0) && sources.path(s.file) == Some(path));
        let way: Vec<String> = finding.trace.steps.iter().take(20).map(|s| call(s, model)).collect();
        let words = format!("{}\nafter {}", finding.message, way.join(", "));
        here.map_or((0, 0, words.clone()), |s| (s.lo, s.hi, words))
    });
    Outcome { verdict, words, found, states: counts.states as u64, transitions: counts.transitions }
}

fn values(
    files: Arc<dyn Files>,
    path: &Path,
    trace: &Path,
    deadline: &Deadline,
) -> Result<(String, HashMap<String, String>), String> {
    let text = std::fs::read_to_string(trace).map_err(|e| format!("cannot read {}: {e}", trace.display()))?;
    let refused = |r: crate::model::open::Refused| {
        let first = r.diagnostics.into_iter().find(|d| d.is_error());
        first.map_or("the model cannot be opened".to_string(), |d| d.message)
    };
    let mut session = Session::open_from(files, path, &Default::default(), deadline).map_err(refused)?;
    let loaded = session.load(&text, &deadline.flag)?;
    if let Some(why) = loaded.failure {
        return Err(format!("the trace is not one of this machine: {why}"));
    }
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    let from = format!("after {} of {} steps of {name}", loaded.steps, loaded.of);
    Ok((from, session.state().into_iter().map(|v| (v.name, v.value)).collect()))
}
