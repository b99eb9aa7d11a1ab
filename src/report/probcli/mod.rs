//! Answers in the words of ProB's command line (1.8.2), as scripts search for them.
//!
//! What is an error there goes to standard error with `!` before it, as there.

mod questions;
mod steps;

pub use questions::{Wrote, operation_table, variable_table};
pub use steps::{Asserted, Ended, Evaluated, Shown, equations, history, history_table, reply, state, truth};

use crate::run::suite::Ran;
use serde_json::Value as Json;
use std::fmt::Write;

/// How ProB is told to speak.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// An error ends with 1.
    pub strict: bool,
    pub silent: bool,
    /// Errors that should occur.
    pub expected: Vec<String>,
}

/// What is said.
#[derive(Clone, Debug, Default)]
pub struct Told {
    pub out: String,
    pub err: String,
    /// It ends with 1.
    pub is_failed: bool,
    /// There is no such machine, or it is wrong.
    pub is_refused: bool,
}

/// The first line of ProB's, and who answers really.
pub fn version() -> String {
    format!("kanon {} in the words of ProB's command line 1.8.2\n", env!("CARGO_PKG_VERSION"))
}

/// The name of a finding there.
fn name(kind: &str) -> &str {
    match kind {
        "invariant" => "invariant_violation",
        "assertion" => "assertion_violation",
        "goal" => "goal_found",
        "well-definedness" => "well_definedness_error",
        other => other,
    }
}

/// What is said about a file, as it becomes known.
pub struct Telling<'a> {
    told: Told,
    said: &'a Said,
    /// Names of errors and of warnings.
    errors: Vec<String>,
    warnings: Vec<String>,
    is_refused: bool,
    /// It ends with 1 in any case.
    is_abnormal: bool,
}

impl<'a> Telling<'a> {
    /// Nothing is said yet.
    pub fn new(said: &'a Said) -> Telling<'a> {
        Telling {
            told: Told::default(),
            said,
            errors: vec![],
            warnings: vec![],
            is_refused: false,
            is_abnormal: false,
        }
    }
}

impl Telling<'_> {
    fn out(&mut self, text: &str) {
        self.told.out.push_str(text);
        self.told.out.push('\n');
    }

    /// Said unless ProB is to be silent.
    fn detail(&mut self, text: &str) {
        if !self.said.silent {
            self.out(text);
        }
    }

    /// A line of its own.
    pub fn say(&mut self, text: &str) {
        self.out(text);
    }

    /// An error, which ProB names by its source.
    pub fn error(&mut self, source: &str, text: &str) {
        let _ = writeln!(self.told.err, "! An error occurred (source: {source}) !\n! {text}");
        self.errors.push(source.to_string());
    }

    /// The same of a warning.
    pub fn warning(&mut self, source: &str, text: &str) {
        let _ = writeln!(self.told.err, "! A warning occurred (source: {source}) !\n! {text}");
        self.warnings.push(source.to_string());
    }

    /// Whether the machine was refused: then nothing else is asked.
    pub fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// The machine was refused. It is said once.
    pub fn refused(&mut self, answer: &Json) {
        let empty = vec![];
        if std::mem::replace(&mut self.is_refused, true) {
            return;
        }
        for e in answer["errors"].as_array().unwrap_or(&empty) {
            let source = match e["code"].as_str().unwrap_or_default() {
                code if code.starts_with("B01") => "parse_error",
                code if code.starts_with("B02") => "type_error",
                _ => "load_main_file",
            };
            self.error(source, e["message"].as_str().unwrap_or_default());
            if let (Some(line), Some(column), Some(file)) =
                (e["line"].as_u64(), e["column"].as_u64(), e["file"].as_str())
            {
                let column = column.saturating_sub(1);
                let _ = writeln!(self.told.err, "! Line: {line} Column: {column} in file: {file}");
            }
        }
        self.told.err.push_str("! ### Loading Machine Failed\n");
        self.errors.push("load_main_file".into());
    }

    /// The answer of a search for states, or of an engine on formulas.
    pub fn states(&mut self, ran: &Ran, limit: Option<usize>) {
        let answer = match &ran.answer {
            Ok(answer) => answer,
            Err(why) => return self.error("kanon", why),
        };
        if answer["verdict"] == "error" {
            return self.refused(answer);
        }
        let count = |key: &str| answer[key].as_u64().unwrap_or(0);
        let finding = answer["finding"]["kind"].as_str().map(name);
        let is_complete = answer["complete"] == true || answer["verdict"] == "holds";
        let operations = answer["operations"].as_object();
        if operations.is_some_and(|all| all.values().all(|n| n.as_u64() > Some(0))) {
            self.detail("\nALL OPERATIONS COVERED");
        }
        match finding {
            Some(found) => self.detail(&format!("% Found \"{found}\" error")),
            None if is_complete => self.detail("% All open nodes visited"),
            None => {}
        }
        let milliseconds = |key: &str| (answer[key].as_f64().unwrap_or(0.0) * 1000.0).round();
        let (seconds, total) = (milliseconds("seconds"), milliseconds("total_seconds"));
        self.detail(&format!("Model Checking Time: {seconds} ms ({total} ms walltime)"));
        if answer.get("states").is_some() {
            self.detail(&format!("States analysed: {}", count("states") + count("constants")));
            let fired = count("transitions") + count("initialisations") + count("constants");
            self.detail(&format!("Transitions fired: {fired}"));
        }
        match finding {
            Some(found) => {
                self.out("*** COUNTER EXAMPLE FOUND ***\n");
                self.out(found);
                self.trace(&answer["finding"]["trace"]);
                self.errors.push(found.to_string());
            }
            None if answer["verdict"] == "holds" => {
                self.out("No Counter Example found. ALL nodes visited.\n")
            }
            None => {
                let reason = answer["reason"].as_str().unwrap_or_default();
                let why = match limit.filter(|_| reason.contains("states is reached")) {
                    Some(n) => format!("Not all nodes examined due to limit set by user: {n}"),
                    None => format!("Not all nodes examined: {reason}"),
                };
                self.warning("model_check_incomplete", &why);
                self.out("No Counter Example Found, not all nodes visited\n");
            }
        }
    }

    fn trace(&mut self, trace: &Json) {
        if self.said.silent {
            return;
        }
        let values = |of: &Json, with_names: bool| {
            let pairs = of.as_object().into_iter().flatten();
            let text = |(n, v): (&String, &Json)| match (with_names, v.as_str().unwrap_or_default()) {
                (true, v) => format!("{n}={v}"),
                (false, v) => v.to_string(),
            };
            pairs.map(text).collect::<Vec<_>>().join(",")
        };
        let mut lines = vec![];
        let constants = values(&trace["constants"], true);
        if !constants.is_empty() {
            lines.push(format!("SETUP_CONSTANTS({constants})"));
        }
        for step in trace["steps"].as_array().into_iter().flatten() {
            let name = step["operation"].as_str().unwrap_or_default();
            let inside = match name {
                crate::trace::INITIALISATION => values(&step["state"], true),
                _ => values(&step["parameters"], false),
            };
            lines.push(if inside.is_empty() { name.to_string() } else { format!("{name}({inside})") });
        }
        self.out("*** TRACE: ");
        lines.iter().enumerate().for_each(|(i, line)| self.out(&format!(" {}: {line}: ", i + 1)));
        self.out("\n");
    }

    /// What was expected and did not occur, what was not and did, and how it ends.
    pub fn end(mut self, file: &str) -> Told {
        let missing: Vec<&String> = self
            .said
            .expected
            .iter()
            .filter(|e| !self.errors.contains(e) && !self.warnings.contains(e))
            .collect();
        let is_expected = |e: &&String| self.said.expected.contains(e);
        let unexpected: Vec<&String> =
            self.errors.iter().chain(&self.warnings).filter(|e| !is_expected(e)).collect();
        let mut out = String::new();
        missing.iter().for_each(|e| {
            let _ = writeln!(out, "*** Expected Error of following type to occur: {e}");
        });
        let mut err = String::new();
        let is_wrong = !(missing.is_empty() && unexpected.is_empty());
        let is_strict = self.is_abnormal || self.said.strict && is_wrong;
        if is_strict {
            // It ends at the first.
            if let Some(first) = unexpected.first() {
                let _ = writeln!(err, "! *** Unexpected error occurred ***\n! {first}");
            }
            let _ =
                writeln!(err, "! *** Abnormal termination of probcli !\n! *** for_file({file})\n\n! halt(1)");
        } else {
            for e in &unexpected {
                let kind = if self.warnings.contains(e) { "warning" } else { "error" };
                let _ = writeln!(err, "! *** {kind} occurred ***\n! {e}");
            }
            let errors = unexpected.iter().filter(|e| !self.warnings.contains(e)).count();
            let warnings = unexpected.len() - errors;
            if !unexpected.is_empty() {
                let _ = writeln!(err, "! Total Errors: {errors}, Warnings:{warnings}");
            }
            match (self.said.expected.is_empty(), missing.is_empty()) {
                (true, _) => {}
                (false, true) => out.push_str("All expected errors occurred.\n"),
                (false, false) => out.push_str("*** Some expected errors did NOT occur !\n"),
            }
        }
        self.told.is_failed = is_strict;
        self.told.is_refused = self.errors.iter().any(|e| e == "load_main_file");
        self.told.out.push_str(&out);
        self.told.err.push_str(&err);
        self.told
    }
}
