//! Answers as a list of claims, for programs that gate a merge or keep results: what was asked, and how each part of it
//! ended. [`sarif`], [`junit`] and [`annotations`] are three ways to write one [`Record`].
//!
//! A claim passes only if the answer it belongs to is Holds. When a run ends at a finding, nothing is known about what
//! else was asked, and it is skipped, not passed.
//!
//! Absent on purpose: any judgement of its own; the time of day, so that two runs write the same file but for durations.

mod annotations;
mod junit;
mod sarif;

pub use annotations::annotations;
pub use junit::junit;
pub use sarif::sarif;

use super::text;
use crate::explore::Options;
use crate::lang::diag::{Diagnostic, Severity, SourceMap, Span};
use crate::model::open::{Opened, Refused};
use crate::run::answer::{Checked, Counterexample, Place};
use crate::run::ltl::Answered;
use crate::run::prove::{Proved, Status};
use crate::run::refine::Refined;
use crate::run::symbolic;
use crate::trace::explain::Part;
use crate::trace::{self, Trace};
use crate::verdict::Decision;

/// How a claim ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Holds,
    /// What is wrong.
    Fails(String),
    /// Why there is no answer.
    Unknown(String),
    /// Why nobody looked to the end.
    Skipped(String),
}

/// A part of a file; lines and columns are counted from 1, columns in characters, and the end is behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
}

impl Spot {
    fn of(sources: &SourceMap, span: Span) -> Option<Spot> {
        let source = sources.get(span.file)?;
        let (from, to) = (source.line_col(span.lo), source.line_col(span.hi.max(span.lo)));
        Some(Spot {
            file: source.path.display().to_string(),
            line: from.line,
            column: from.col,
            end_line: to.line,
            end_column: to.col,
        })
    }
}

/// Something that was asked, with its answer.
#[derive(Clone, Debug)]
pub struct Claim {
    /// What kind of claim: the rule of SARIF.
    pub rule: &'static str,
    /// What is claimed.
    pub name: String,
    pub outcome: Outcome,
    /// What is false, has no value, or was asked.
    pub place: Option<Spot>,
    /// The way there, a line per step.
    pub steps: Vec<String>,
    /// Values that explain it.
    pub why: Vec<String>,
    pub seconds: f64,
}

/// An error or a warning of the front end.
#[derive(Clone, Debug)]
pub struct Remark {
    pub severity: Severity,
    pub code: &'static str,
    pub message: String,
    pub place: Option<Spot>,
}

/// All that one run has to say.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The machine; the file, if it could not be read.
    pub name: String,
    /// As it was given.
    pub file: String,
    pub claims: Vec<Claim>,
    pub remarks: Vec<Remark>,
    /// What the answers are about: sizes, and what else should be known.
    pub notes: Vec<String>,
}

/// What a model can be asked about single states: rule and claim.
const STATES: [(&str, &str); 5] = [
    ("invariant", "the invariant is true"),
    ("assertion", "the assertions are true"),
    ("deadlock", "there is no deadlock"),
    ("goal", "the goal is not reached"),
    ("well-definedness", "everything has a value"),
];

const OTHER_FINDING: &str = "the run ended at another finding";

impl Record {
    pub fn new(file: &str, opened: &Opened) -> Record {
        Record {
            name: opened.model.name.to_string(),
            file: file.to_string(),
            remarks: remarks(&opened.warnings, &opened.sources),
            ..Record::default()
        }
    }

    /// Adds warnings that came with an answer.
    pub fn warn(&mut self, warnings: &[Diagnostic], opened: &Opened) {
        self.remarks.extend(remarks(warnings, &opened.sources));
    }

    /// Of a model that was refused.
    pub fn refused(file: &str, refused: &Refused) -> Record {
        Record {
            name: file.to_string(),
            file: file.to_string(),
            remarks: remarks(&refused.diagnostics, &refused.sources),
            ..Record::default()
        }
    }

    /// The answer of `check`, or of an engine: what was looked for, and what came of it.
    pub fn states(&mut self, looked: &Options, answer: &States, opened: &Opened) {
        self.notes.extend(answer.notes.iter().cloned());
        let model = &opened.model;
        for (rule, name) in STATES {
            let asked = match rule {
                "invariant" => looked.invariant,
                "assertion" => looked.assertions && !model.assertions.is_empty(),
                "deadlock" => looked.deadlock && !model.operations.is_empty(),
                "goal" => looked.goal && model.goal.is_some(),
                _ => true,
            };
            let found = answer.finding.filter(|f| f.kind == rule);
            if !asked && found.is_none() {
                continue;
            }
            let outcome = match (answer.verdict, found) {
                (Decision::Holds, _) => Outcome::Holds,
                (Decision::Fails, Some(f)) => Outcome::Fails(f.message.clone()),
                (Decision::Fails, None) => Outcome::Skipped(OTHER_FINDING.into()),
                (Decision::Unknown, _) => unknown(answer.reason),
            };
            let mut claim = Claim::new(rule, name, outcome, answer.seconds);
            if let Some(f) = found {
                claim.show(f.place.as_ref(), &f.trace, &f.why, opened);
            }
            self.claims.push(claim);
        }
        // Nothing that fails is lost, whatever it is called.
        if answer.verdict == Decision::Fails && !self.claims.iter().any(Claim::is_failed) {
            let why = answer.reason.unwrap_or("there is a finding").to_string();
            self.claims.push(Claim::new(
                "finding",
                "nothing goes wrong",
                Outcome::Fails(why),
                answer.seconds,
            ));
        }
    }

    /// Answers to temporal formulas.
    pub fn formulas(&mut self, all: &[Answered], opened: &Opened) {
        for f in all {
            let outcome = outcome(f.verdict, f.reason.as_deref());
            let mut claim = Claim::new("formula", &f.text, outcome, f.seconds);
            if let Some(found) = &f.finding {
                claim.show(None, &found.trace, &[], opened);
                claim.steps.push(match found.back {
                    Some(back) => format!("from here on it repeats, beginning at step {}", back + 1),
                    None => "the last state is a deadlock".into(),
                });
            }
            self.claims.push(claim);
            self.notes.extend(f.notes.iter().cloned());
        }
    }

    /// Whether a machine refines what it says it refines.
    pub fn refinement(&mut self, r: &Refined, opened: &Opened) {
        let name = match &r.levels[..] {
            [machine, above @ ..] if !above.is_empty() => format!("{machine} refines {}", above.join(", ")),
            _ => "the refinement is correct".into(),
        };
        let mut claim =
            Claim::new("refinement", &name, outcome(r.verdict, r.reason.as_deref()), r.total_seconds);
        if let Some(f) = &r.finding {
            claim.show(f.place.as_ref(), &f.trace, &f.why, opened);
        }
        self.claims.push(claim);
        self.notes.extend(r.notes.iter().cloned());
    }

    /// Proof obligations, one claim each.
    pub fn obligations(&mut self, p: &Proved, opened: &Opened) {
        for o in &p.obligations {
            let outcome = match &o.status {
                Status::Proved => Outcome::Holds,
                Status::Disproved(_) if o.is_alarm() => {
                    Outcome::Fails("disproved, although the file says that it is proved".into())
                }
                Status::Disproved(_) => Outcome::Fails("disproved".into()),
                Status::Undecided(why) => Outcome::Unknown(why.clone()),
            };
            let mut claim = Claim::new("obligation", &o.name, outcome, o.seconds);
            claim.place = o.place.as_ref().and_then(|p| Spot::of(&opened.sources, p.span));
            self.claims.push(claim);
        }
        if let Some(why) = &p.refused {
            self.claims.push(Claim::new(
                "obligation",
                "all obligations",
                Outcome::Unknown(why.clone()),
                p.seconds,
            ));
        }
    }
}

/// What `check` and the engines have in common.
pub struct States<'a> {
    pub verdict: Decision,
    pub reason: Option<&'a str>,
    pub finding: Option<&'a Counterexample>,
    pub notes: &'a [String],
    pub seconds: f64,
}

impl<'a> States<'a> {
    pub fn of(c: &'a Checked) -> States<'a> {
        let (reason, finding) = (c.reason.as_deref(), c.finding.as_ref());
        States { verdict: c.verdict, reason, finding, notes: &c.notes, seconds: c.total_seconds }
    }

    /// Nobody has an answer.
    pub fn unknown(reason: &'a str, seconds: f64) -> States<'a> {
        States { verdict: Decision::Unknown, reason: Some(reason), finding: None, notes: &[], seconds }
    }

    /// Of an engine that works with formulas.
    pub fn of_formulas(a: &'a symbolic::Answered) -> States<'a> {
        let (reason, finding) = (a.reason.as_deref(), a.finding.as_ref());
        States { verdict: a.verdict, reason, finding, notes: &a.notes, seconds: a.total_seconds }
    }
}

impl Claim {
    pub(super) fn new(rule: &'static str, name: &str, outcome: Outcome, seconds: f64) -> Claim {
        Claim { rule, name: name.to_string(), outcome, place: None, steps: vec![], why: vec![], seconds }
    }

    fn show(&mut self, place: Option<&Place>, trace: &Trace, why: &[Part], opened: &Opened) {
        self.place = place.and_then(|p| Spot::of(&opened.sources, p.span));
        self.steps = steps(trace, opened);
        self.why = why.iter().map(part).collect();
    }

    fn is_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Fails(_))
    }
}

fn unknown(reason: Option<&str>) -> Outcome {
    Outcome::Unknown(reason.unwrap_or("there is no answer").to_string())
}

fn outcome(verdict: Decision, reason: Option<&str>) -> Outcome {
    match verdict {
        Decision::Holds => Outcome::Holds,
        Decision::Fails => Outcome::Fails(reason.unwrap_or("there is a finding").to_string()),
        Decision::Unknown => unknown(reason),
    }
}

fn remarks(all: &[Diagnostic], sources: &SourceMap) -> Vec<Remark> {
    let remark = |d: &Diagnostic| {
        let help = d.help.as_ref().map_or(String::new(), |h| format!(" ({h})"));
        Remark {
            severity: d.severity,
            code: d.code,
            message: format!("{}{help}", d.message),
            place: Spot::of(sources, d.span),
        }
    };
    all.iter().map(remark).collect()
}

/// The constants, and each step with what it changes.
fn steps(trace: &Trace, opened: &Opened) -> Vec<String> {
    let model = &opened.model;
    let mut lines = vec![];
    let constants = trace::constants(trace, model);
    if !constants.is_empty() {
        lines.push(format!("constants: {}", text::list(constants)));
    }
    let mut before = None;
    for step in &trace.steps {
        let changes = match before {
            None => trace::variables(&step.state, model),
            Some(before) => trace::changed(before, &step.state, model),
        };
        let changes = if changes.is_empty() { "nothing changes".into() } else { text::list(changes) };
        lines.push(format!("{}: {changes}", text::call(step, model)));
        before = Some(&*step.state);
    }
    lines
}

fn part(p: &Part) -> String {
    let indent = "  ".repeat(p.depth);
    if p.value.is_empty() {
        format!("{indent}{}", p.text)
    } else {
        format!("{indent}{} = {}", p.text, p.value)
    }
}
