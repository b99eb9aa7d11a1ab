//! Steps, states and values.

use super::Telling;
use super::questions::cell;
use crate::animate::{Call, Value};
use crate::model::Model;
use crate::trace::question::Reply;
use crate::trace::{Trace, params, results, shown, variables};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All were taken.
    Done,
    Deadlock,
    /// A state was met again.
    Loop,
    Invariant,
    Assertion,
    /// The time was up, or it was interrupted.
    Stopped,
}

/// A predicate, and what it is worth; nothing if it has no value.
#[derive(Clone, Debug)]
pub struct Asserted {
    pub text: String,
    pub truth: Option<bool>,
}

/// An expression or a predicate, the file that it is from, and the reply, or the code and the text of an error.
#[derive(Clone, Debug)]
pub struct Evaluated {
    pub text: String,
    pub of: Option<String>,
    pub reply: Result<Reply, (String, String)>,
}

/// A row of a history: what led to a state, and a value in it.
#[derive(Clone, Debug)]
pub struct Shown {
    pub operation: String,
    pub value: String,
}

/// `name=value`, of every constant and variable.
pub fn equations(values: &[Value]) -> Vec<String> {
    values.iter().map(|v| format!("{}={}", v.name, v.value)).collect()
}

/// What a predicate is worth.
pub fn truth(reply: &Reply) -> Option<bool> {
    match reply {
        Reply::Truth(is) => Some(*is),
        Reply::Value(_) => None,
        Reply::Solutions { found, .. } if !found.is_empty() => Some(true),
        Reply::Solutions { truncated, .. } => (!truncated).then_some(false),
    }
}

/// A value, or the word that a predicate is worth.
pub fn reply(reply: &Reply) -> String {
    match (reply, truth(reply)) {
        (Reply::Value(value), _) => value.clone(),
        (_, Some(is)) => if is { "TRUE" } else { "FALSE" }.into(),
        (_, None) => "UNKNOWN".into(),
    }
}

/// The state as a predicate, constants apart.
pub fn state(values: &[Value]) -> String {
    let mut out = String::new();
    let mut is_first = true;
    for (is_constant, head) in [(true, "Constants"), (false, "Variables")] {
        let mut of_kind = values.iter().filter(|v| v.is_constant == is_constant).peekable();
        if of_kind.peek().is_some() {
            let _ = writeln!(out, "/* {head} */");
        }
        for v in of_kind {
            let _ = writeln!(out, " {} {} = {}", if is_first { " " } else { "&" }, v.name, v.value);
            is_first = false;
        }
    }
    out
}

/// The operations on the way here, one per line; before them, if it is asked for, where it began.
pub fn history(trace: &Trace, model: &Model, with_init: bool) -> String {
    let mut out = String::new();
    if let Some(first) = trace.steps.first().filter(|_| with_init) {
        let constants = model.constants.iter().zip(&trace.constants);
        let constants: Vec<String> = constants
            .filter_map(|(d, v)| Some(format!("   {} = {}\n", d.name, shown(v.as_ref()?, &d.ty, model))))
            .collect();
        if !constants.is_empty() {
            let _ = write!(out, "/* Constants\n{}*/\n", constants.concat());
        }
        let values: Vec<String> =
            variables(&first.state, model).into_iter().map(|(n, v)| format!("   {n} = {v}\n")).collect();
        let _ = write!(out, "/* Initialisation */\n/* Variables\n{}*/\n", values.concat());
    }
    let steps = trace.steps.iter().skip(1).map(|step| {
        let values = |of: Vec<(&str, String)>| of.into_iter().map(|(_, v)| v).collect::<Vec<_>>().join(",");
        let (given, back) = (values(params(step, model)), values(results(step, model)));
        let given = if given.is_empty() { given } else { format!("({given})") };
        let back = if back.is_empty() { back } else { format!("-->{back}") };
        format!("{}{given}{back}", step.name(model))
    });
    out + &steps.collect::<Vec<_>>().join(";\n") + "\n"
}

/// The table of a history.
pub fn history_table(by: &str, rows: &[Shown]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let rows = rows.iter().map(|r| format!("{},{}\n", cell(&r.operation), quoted(&r.value)));
    format!("OPERATION,{}\n{}", quoted(by), rows.collect::<String>())
}

/// A step with its parameters.
fn call(call: &Call) -> String {
    let of = if call.operation == crate::trace::INITIALISATION { &call.changes } else { &call.parameters };
    let with = |(n, v): &(String, String)| {
        if call.operation == crate::trace::INITIALISATION { format!("{n}={v}") } else { v.clone() }
    };
    let inside = of.iter().map(with).collect::<Vec<_>>().join(",");
    if inside.is_empty() { call.operation.clone() } else { format!("{}({inside})", call.operation) }
}

impl Telling<'_> {
    /// There is more than one way on.
    pub fn not_determined(&mut self, state: &[String], ways: &[Call]) {
        self.told.err.push_str(
            "! ### Non-deterministic step in animate or init\n! ### State:\n! ### Enabled Operations: \n",
        );
        self.errors.push("det_check".into());
        self.detail(&state.join(", "));
        for (at, way) in ways.iter().enumerate() {
            self.detail(&format!(" {}:{}", at + 1, call(way)));
        }
    }

    /// A state that is not as it should be.
    pub fn violated(&mut self, error: &str, steps: usize, after: Option<&str>, state: &[String]) {
        let what = if error == "assertion_violation" { "ASSERTION" } else { "INVARIANT" };
        let after = after.map_or(String::new(), |op| format!(" (after {op})"));
        self.out(&format!("{what} VIOLATED after {steps} steps{after}."));
        self.out(&format!("     ( {} )", state.join(" &\n       ")));
        self.errors.push(error.into());
    }

    /// Random steps are over.
    pub fn animated(&mut self, limit: Option<usize>, taken: usize, ended: Ended, is_covered: bool) {
        if is_covered {
            self.detail("\nALL OPERATIONS COVERED");
        }
        match (ended, limit) {
            (Ended::Deadlock, Some(_)) => {
                let text = "! ### Deadlock occurred during -animate, at step number:\n";
                let _ = writeln!(self.told.err, "{text}! {taken}");
                self.errors.push("animate".into());
                if self.said.strict && !self.said.expected.iter().any(|e| e == "animate") {
                    // It ends there.
                    return;
                }
            }
            (Ended::Deadlock, None) => {
                self.out(&format!("% Deadlock occurred during -animate, at step number:{taken}"));
            }
            _ => {}
        }
        // What ProB has for all of them.
        let all = limit.unwrap_or(i32::MAX as usize);
        self.out(&format!("finished_random_animate({all},[steps/{taken}])\n"));
    }

    /// First steps are over.
    pub fn executed(
        &mut self,
        limit: Option<usize>,
        taken: usize,
        after: &str,
        ended: Ended,
        state: &[String],
    ) {
        let shown = format!("     ( {} )", state.join(" &\n       "));
        match ended {
            Ended::Done => self.out(&format!("Stopping execution after {taken} steps\n{shown}")),
            Ended::Deadlock => {
                self.out(&format!("Deadlock reached after {taken} steps (after {after}).\n{shown}"));
                if limit.is_some() {
                    self.errors.push("deadlock".into());
                }
            }
            Ended::Loop => {
                self.out(&format!("Infinite loop reached after {taken} steps (looping on {after})."));
            }
            Ended::Invariant => self.violated("invariant_violation", taken, Some(after), state),
            Ended::Assertion => self.violated("assertion_violation", taken, Some(after), state),
            Ended::Stopped => self.out(&format!("Execution was interrupted after {taken} steps\n{shown}")),
        }
    }

    /// Predicates that should be true here.
    pub fn asserted(&mut self, what: &str, all: &[Asserted]) {
        let predicate = if what == "GOAL" { "GOAL predicate" } else { what };
        self.out(&format!("% Checking {predicate}: "));
        let count = |truth: Option<bool>| all.iter().filter(|a| a.truth == truth).count();
        for a in all {
            let word = match a.truth {
                Some(true) => "TRUE",
                Some(false) => "FALSE",
                None => "UNKNOWN",
            };
            self.out(&format!("\n==> {}\n{word}", a.text));
        }
        self.out(&format!(
            "=======\nSUMMARY\n=======\n{} predicates: {} TRUE, {} FALSE, {} UNKNOWN (0 timeouts)",
            all.len(),
            count(Some(true)),
            count(Some(false)),
            count(None)
        ));
        if count(Some(true)) != all.len() {
            self.out(&format!("*** Unexpected result while checking: {what}"));
            let error = if what == "GOAL" { "check_goal" } else { "check_assertions" };
            self.errors.push(error.into());
        }
    }

    /// Values.
    pub fn evaluated(&mut self, all: &[Evaluated]) {
        let mut results: BTreeMap<String, usize> = BTreeMap::new();
        for e in all {
            match &e.of {
                Some(file) => self.out(&format!("\nEvaluating file: {file}\n")),
                None => self.out(&format!("eval: {}", e.text)),
            }
            let result = match &e.reply {
                Ok(found) => self.replied(found),
                Err((code, text)) => {
                    let (source, word) = match &**code {
                        code if code.starts_with("B01") => ("parse_machine_predicate_error", "SYNTAX ERROR"),
                        code if code.starts_with("B02") => ("type_expression_error", "TYPE ERROR"),
                        crate::trace::fault::LIMIT => ("time_out", "TIME-OUT"),
                        _ => ("well_definedness_error", "NOT-WELL-DEFINED"),
                    };
                    self.error(source, text);
                    self.out(&format!("\n### {} \n{word}", e.text));
                    word.to_string()
                }
            };
            *results.entry(result).or_default() += 1;
        }
        let results: Vec<String> = results.into_iter().map(|(result, n)| format!("{result}/{n}")).collect();
        self.out(&format!("Evaluation results: [{}]\n", results.join(",")));
    }

    fn replied(&mut self, found: &Reply) -> String {
        let word = reply(found);
        match found {
            Reply::Value(value) => self.out(&format!("Expression Value = \n{value}")),
            Reply::Truth(_) => self.out(&format!("Predicate is {word}\n{word}")),
            Reply::Solutions { found, .. } => {
                let names = found.first().into_iter().flatten().map(|(name, _)| &**name);
                let names = names.collect::<Vec<_>>().join(",");
                let over = if names.is_empty() { String::new() } else { format!(" over {names}") };
                self.out(&format!("Existentially Quantified Predicate{over} is {word}"));
                if let Some(first) = found.first() {
                    let values: Vec<String> = first.iter().map(|(n, v)| format!("{n} = {v}")).collect();
                    self.out(&format!("Solution: \n       {}\n", values.join(" &\n       ")));
                }
                self.out(&word);
            }
        }
        word
    }
}
