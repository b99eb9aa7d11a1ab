//! Runs the questions of a project, each in a process of its own, on all cores, and compares the answers with what is
//! expected of them.
//!
//! Processes, not threads: an option means what it means on the command line, since it is one; a machine that needs all
//! memory, or an evaluation that does not end, costs its own answer and no other.

use super::manifest::{Entry, Expected};
use crate::system::Stop;
use serde_json::Value as Json;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a process may take to end by itself when the run is interrupted.
const GRACE: Duration = Duration::from_secs(2);
/// How often it is looked whether a process has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// What a process answered.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The JSON that it printed; why there is none otherwise.
    pub answer: Result<Json, String>,
    /// From its beginning to its end.
    pub seconds: f64,
}

/// A machine's answers beside what was expected of them.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// The file, as it was given.
    pub file: String,
    /// Of the states: holds, fails, unknown, or error.
    pub verdict: String,
    /// The verdict that was expected.
    pub expected: String,
    /// What is not as expected.
    pub differences: Vec<Difference>,
    /// The answer of `check --json`.
    pub answer: Json,
    /// The answers of `ltl --json`.
    pub formulas: Vec<Json>,
    /// Of its processes.
    pub seconds: f64,
}

/// Something that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it is about.
    pub of: String,
    /// In a sentence.
    pub text: String,
    /// What it means.
    pub kind: Kind,
}

/// What a difference means for the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// There is no answer.
    Unknown,
    /// There is another one.
    Fails,
    /// The machine is wrong, or the process could not be run.
    Wrong,
}

/// Runs all command lines, so many at once, in their order. `done` hears of each as it ends.
pub fn run_all(
    program: &Path,
    lines: &[Vec<OsString>],
    at_once: usize,
    stop: &Stop,
    done: &(dyn Fn(usize) + Sync),
) -> Vec<Ran> {
    let next = AtomicUsize::new(0);
    let all: Mutex<Vec<Option<Ran>>> = Mutex::new(vec![None; lines.len()]);
    thread::scope(|scope| {
        for _ in 0..at_once.min(lines.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(line) = lines.get(at) else { return };
                    let ran = run(program, line, stop);
                    if let Ok(mut all) = all.lock() {
                        all[at] = Some(ran);
                    }
                    done(at);
                }
            });
        }
    });
    let missing = || Ran { answer: Err("it was not run".into()), seconds: 0.0 };
    all.into_inner().unwrap_or_default().into_iter().map(|r| r.unwrap_or_else(missing)).collect()
}

/// One process, from beginning to end.
fn run(program: &Path, line: &[OsString], stop: &Stop) -> Ran {
    let begin = Instant::now();
    let answer =
        if stop.load(Ordering::Relaxed) { Err("interrupted".into()) } else { ran(program, line, stop) };
    Ran { answer, seconds: begin.elapsed().as_secs_f64() }
}

fn ran(program: &Path, line: &[OsString], stop: &Stop) -> Result<Json, String> {
    let failed = |e: std::io::Error| format!("cannot run {}: {e}", program.display());
    let mut child = Command::new(program)
        .args(line)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // Both are read while it runs: a full pipe would stop it.
    let read = |from: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut text = vec![];
            if let Some(mut from) = from {
                // What was read before an error is what there is.
                let _ = from.read_to_end(&mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = read(child.stdout.take().map(|s| Box::new(s) as Box<dyn Read + Send>));
    let err = read(child.stderr.take().map(|s| Box::new(s) as Box<dyn Read + Send>));
    let mut interrupted: Option<Instant> = None;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if stop.load(Ordering::Relaxed) {
            let since = *interrupted.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE {
                // It may have ended just now.
                let _ = child.kill();
            }
        }
        thread::sleep(PAUSE);
    };
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    serde_json::from_str(&out).map_err(|_| {
        if interrupted.is_some() {
            return "interrupted".to_string();
        }
        let said = err.trim().lines().next().unwrap_or_default();
        format!("it ended without an answer ({status}) {said}").trim_end().to_string()
    })
}

impl Row {
    /// Compares the answers of a machine with what is expected of them.
    pub fn of(entry: &Entry, states: &Ran, formulas: Option<&Ran>) -> Row {
        let answer = match &states.answer {
            Ok(answer) => answer.clone(),
            Err(why) => serde_json::json!({ "verdict": "unknown", "reason": why }),
        };
        let verdict = answer["verdict"].as_str().unwrap_or("unknown").to_string();
        let named = |e: &&Expected| e.field == "verdict";
        let expected = entry.expected.iter().find(named).map_or("holds", |e| &e.value).to_string();
        let mut row = Row {
            name: entry.name.clone(),
            file: entry.file.display().to_string(),
            verdict,
            expected,
            differences: vec![],
            answer,
            formulas: vec![],
            seconds: states.seconds + formulas.map_or(0.0, |f| f.seconds),
        };
        row.compare(entry);
        row.compare_formulas(entry, formulas);
        row
    }

    /// Everything is as expected.
    pub fn is_right(&self) -> bool {
        self.differences.is_empty()
    }

    fn differ(&mut self, of: &str, text: String, kind: Kind) {
        self.differences.push(Difference { of: of.to_string(), text, kind });
    }

    fn compare(&mut self, entry: &Entry) {
        let reason = |of: &Json| of["reason"].as_str().map_or(String::new(), |why| format!(" ({why})"));
        let kind = match &*self.verdict {
            "unknown" => Kind::Unknown,
            "error" => Kind::Wrong,
            _ => Kind::Fails,
        };
        if self.verdict != self.expected {
            let text =
                format!("expected {}, but it {}{}", self.expected, told(&self.verdict), reason(&self.answer));
            self.differ("verdict", text, kind);
        }
        for e in entry.expected.iter().filter(|e| e.field != "verdict") {
            let found = match &*e.field {
                "finding" => self.answer["finding"]["kind"].clone(),
                field => self.answer[field].clone(),
            };
            let found = match &found {
                Json::Null => "nothing".to_string(),
                Json::String(s) => s.clone(),
                other => other.to_string(),
            };
            if found != e.value {
                let text = format!("expected {} {}, found {found}", e.field, e.value);
                self.differ(&e.field, text, kind);
            }
        }
        // What `ltl = true` and `refinement = true` ask for besides.
        let formulas = self.answer["ltl"].as_array().cloned().unwrap_or_default();
        let besides = formulas.into_iter().chain([self.answer["refinement"].clone()]);
        for one in besides.collect::<Vec<_>>() {
            let Some(verdict) = one["verdict"].as_str().filter(|v| *v != "holds") else { continue };
            let of = one["formula"].as_str().unwrap_or("refinement").to_string();
            let kind = if verdict == "unknown" { Kind::Unknown } else { Kind::Fails };
            self.differ(&of, format!("{of}: {}{}", told(verdict), reason(&one)), kind);
        }
    }

    fn compare_formulas(&mut self, entry: &Entry, ran: Option<&Ran>) {
        let Some(ran) = ran else { return };
        let answers = match &ran.answer {
            Ok(Json::Array(all)) => all.clone(),
            Ok(refused) => {
                let why = refused["reason"].as_str().unwrap_or("the formulas were refused").to_string();
                let kind = if refused["verdict"] == "error" { Kind::Wrong } else { Kind::Unknown };
                return self.differ("formulas", format!("formulas: {why}"), kind);
            }
            Err(why) => return self.differ("formulas", format!("formulas: {why}"), Kind::Unknown),
        };
        if answers.len() != entry.formulas.len() {
            self.differ("formulas", "some formula has no answer".into(), Kind::Unknown);
        }
        for (formula, answer) in entry.formulas.iter().zip(&answers) {
            let verdict = answer["verdict"].as_str().unwrap_or("unknown");
            if verdict != formula.expected {
                let kind = if verdict == "unknown" { Kind::Unknown } else { Kind::Fails };
                let text =
                    format!("{}: expected {}, but it {}", formula.text, formula.expected, told(verdict));
                self.differ(&formula.text, text, kind);
            }
        }
        self.formulas = answers;
    }
}

/// A verdict as a verb.
fn told(verdict: &str) -> &str {
    match verdict {
        "unknown" => "is unknown",
        "error" => "is refused",
        other => other,
    }
}
