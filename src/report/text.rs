//! Answers for a terminal.

pub(super) use super::cut::cut;
use super::diagnostic;
use super::progress::grouped;
use crate::explore::{FindingKind, Reduction};
use crate::lang::diag::{Diagnostic, Severity};
use crate::model::Model;
use crate::model::open::Opened;
use crate::run::answer::{Audited, Checked, Counterexample, Decision, FalseConjunct, Place};
use crate::run::numbers::plural;
use crate::symmetry::Strategy;
use crate::trace::explain::{NO_VALUE, Part, PartKind};
use crate::trace::question::Reply;
use crate::trace::replay::Replayed;
use crate::trace::{self, Step, Trace};
use crate::value::Value;
use std::fmt::Write;

pub fn warnings(opened: &Opened, colour: bool) -> String {
    more_warnings(&opened.warnings, opened, colour)
}

/// Those that come with an answer.
pub fn more_warnings(all: &[Diagnostic], opened: &Opened, colour: bool) -> String {
    all.iter().map(|d| diagnostic::render(d, &opened.sources, colour) + "\n").collect()
}

pub(super) fn paint(text: &str, code: &str, colour: bool) -> String {
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}

/// The whole answer of `check`.
pub fn checked(c: &Checked, opened: &Opened, stats: bool, colour: bool) -> String {
    let mut out = verdict(c.verdict, c.reason.as_deref(), c.finding.as_ref(), opened, colour);
    if let Some(a) = &c.audit
        && let Some(trace) = &a.trace
    {
        audit_trace(&mut out, trace, &opened.model);
    }
    summary(&mut out, c, opened);
    broken(&mut out, &c.broken);
    if let Some(covered) = &c.coverage {
        out.push_str(&super::coverage::text(covered));
    }
    out.push_str(&notes(&c.notes, colour));
    if let Some(a) = &c.audit {
        audit(&mut out, a);
    }
    if stats {
        statistics(&mut out, c, opened);
    }
    out
}

/// The verdict, and the counterexample if there is one.
pub(super) fn verdict(
    verdict: Decision,
    reason: Option<&str>,
    found: Option<&Counterexample>,
    opened: &Opened,
    colour: bool,
) -> String {
    let mut out = String::new();
    let name = &opened.model.name;
    match verdict {
        Decision::Holds => {
            let _ = writeln!(out, "{name}: {}", paint("holds", "1;32", colour));
        }
        Decision::Unknown => {
            let why = reason.unwrap_or("no answer");
            let _ = writeln!(out, "{name}: {}: {why}", paint("unknown", "1;33", colour));
        }
        Decision::Fails if found.is_some_and(is_goal) => {
            let _ = writeln!(out, "{name}: {}", paint("the goal is reached", "1;36", colour));
        }
        Decision::Fails => {
            let why = reason.unwrap_or_default();
            let _ = writeln!(out, "{name}: {}: {why}", paint("fails", "1;31", colour));
        }
    }
    if let Some(f) = found {
        finding(&mut out, f, opened, colour);
    }
    out
}

pub(super) fn notes(notes: &[String], colour: bool) -> String {
    notes.iter().map(|note| format!("{}: {note}\n", paint("note", "1;36", colour))).collect()
}

fn summary(out: &mut String, c: &Checked, opened: &Opened) {
    let n = &c.counts;
    let mut parts = vec![plural(n.states as u64, "state"), plural(n.transitions, "transition")];
    if c.constants > 0 {
        parts.push(plural(c.constants as u64, "valuation") + " of the constants");
    }
    let counts = [
        (n.deadlocks, "deadlock"),
        (n.violations, "invariant violation"),
        (n.assertion_failures, "assertion failure"),
        (n.goals, "goal state"),
        (n.wd_errors, "well-definedness error"),
    ];
    parts.extend(counts.iter().filter(|(n, _)| *n > 0).map(|(n, one)| plural(*n, one)));
    if n.open > 0 {
        parts.push(format!("{} not explored", grouped(n.open as u64)));
    }
    let _ = writeln!(out, "{} in {:.3} s", parts.join(", "), c.seconds);
    if let Some(r) = &c.reduction {
        symmetry(out, r, opened);
    }
}

fn symmetry(out: &mut String, r: &Reduction, opened: &Opened) {
    if r.strategy != Strategy::Off {
        let permuted = r.group.permuted_sets(&opened.model);
        let sets: Vec<String> = permuted.iter().map(ToString::to_string).collect();
        let flooded = match r.effort.flooded {
            Some(n) => format!(", {} flooded", plural(n as u64, "state")),
            None => String::new(),
        };
        let what = if r.strategy.is_exact() { "one state per orbit" } else { "one state per marker" };
        let _ = writeln!(out, "symmetry: {what} of {} ({}){flooded}", sets.join(", "), r.strategy);
    }
    for fixed in r.group.fixed_sets(&opened.model) {
        let _ = writeln!(out, "symmetry: {fixed}");
    }
}

fn audit_trace(out: &mut String, trace: &Result<Trace, String>, model: &Model) {
    out.push('\n');
    match trace {
        Ok(t) => steps(out, t, model),
        Err(why) => {
            let _ = writeln!(out, "no trace: {why}");
        }
    }
    out.push('\n');
}

fn audit(out: &mut String, a: &Audited) {
    let r = &a.report;
    let checks: u64 = r.clauses.iter().map(|(_, n)| n).sum();
    let mut parts = vec![
        format!("{} {} times", plural(r.clauses.len() as u64, "clause"), grouped(checks)),
        format!("after {} of {}", grouped(r.audited), plural(r.events, "event")),
        format!("{} of the shadow", plural(r.states as u64, "state")),
    ];
    if r.skipped > 0 {
        parts.push(format!("the reference evaluator gave up {} times", grouped(r.skipped)));
    }
    parts.extend(r.ended.clone());
    let word = if r.broken.is_some() { "one is broken" } else { "none is broken" };
    let _ = writeln!(out, "audit: {}: {word}", parts.join(", "));
}

fn statistics(out: &mut String, c: &Checked, opened: &Opened) {
    let _ = writeln!(out, "\ninitialisations: {}", grouped(c.counts.initialisations));
    if !opened.sizes.is_empty() {
        let _ = writeln!(out, "sizes: {}", opened.sizes.join(", "));
    }
    let scope = &opened.scope;
    let _ = writeln!(out, "MININT = {}, MAXINT = {}", scope.minint, scope.maxint);
    if let Some(p) = &c.truncated {
        let _ = writeln!(out, "cut off at MININT..MAXINT: {} ({}:{}:{})", p.text, p.file, p.line, p.column);
    }
    let _ = writeln!(out, "store: {} bytes", grouped(c.bytes as u64));
    if let Some(r) = &c.reduction {
        labelling(out, r, c.seconds);
    }
    let _ = writeln!(out, "transitions by operation:");
    let wide = c.operations.iter().map(|(n, _)| n.chars().count()).max().unwrap_or(0);
    for (name, n) in &c.operations {
        let _ = writeln!(out, "  {name:wide$}  {}", grouped(*n));
    }
    let never: Vec<&str> = c.operations.iter().filter(|(_, n)| *n == 0).map(|(n, _)| &**n).collect();
    // What never happens at all is a note.
    if !never.is_empty() && !c.complete {
        let _ = writeln!(out, "never enabled so far: {}", never.join(", "));
    }
}

/// What the strategy cost (*ProB gets Nauty*, §4).
fn labelling(out: &mut String, r: &Reduction, seconds: f64) {
    let s = &r.effort.stats;
    if s.calls == 0 {
        return;
    }
    let kept = if s.kept > 0 { format!(", {} kept as they are", grouped(s.kept)) } else { String::new() };
    let _ = writeln!(
        out,
        "keys: {} asked for, {} remembered, {} by colours alone, {} by labelling{kept}",
        grouped(s.calls),
        grouped(s.cached),
        grouped(s.by_colour),
        grouped(s.labelled),
    );
    let made = (s.calls - s.cached).max(1) as f64;
    let micros = |d: std::time::Duration| d.as_secs_f64() * 1e6;
    let _ = writeln!(
        out,
        "labelling: {:.2} µs on average, {:.2} µs at most, {:.1} % of the run; witnesses applied and checked: \
         {:.2} µs on average",
        micros(s.labelling) / made,
        micros(s.longest),
        100.0 * s.labelling.as_secs_f64() / seconds.max(1e-9),
        micros(s.witnesses) / made,
    );
    let sizes: Vec<String> = s.sizes.iter().map(|(n, count)| format!("{} of {n}", grouped(*count))).collect();
    let _ = writeln!(out, "graphs by vertices: {}", sizes.join(", "));
}

/// States by conjunct and operation, as a table.
fn broken(out: &mut String, all: &[FalseConjunct]) {
    const LONGEST: usize = 40;
    let mut operations: Vec<&str> = vec![];
    let mut rows: Vec<(&Place, String)> = vec![];
    for b in all {
        if !operations.contains(&&*b.operation) {
            operations.push(&b.operation);
        }
        if rows.iter().all(|(p, _)| p.span != b.conjunct.span) {
            let text = b.conjunct.label.as_ref().unwrap_or(&b.conjunct.text);
            let text = match text.char_indices().nth(LONGEST) {
                Some((at, _)) => format!("{}…", &text[..at]),
                None => text.clone(),
            };
            rows.push((&b.conjunct, format!("{}:{} {text}", b.conjunct.line, b.conjunct.column)));
        }
    }
    if rows.is_empty() {
        return;
    }
    let wide = rows.iter().map(|(_, t)| t.chars().count()).max().unwrap_or(0);
    let _ =
        write!(out, "states by conjunct that is false and operation that leads there first:\n  {:wide$}", "");
    operations.iter().for_each(|op| {
        let _ = write!(out, "  {op:>6}");
    });
    out.push('\n');
    for (place, text) in &rows {
        let _ = write!(out, "  {text:wide$}");
        for op in &operations {
            let states = all.iter().find(|b| b.conjunct.span == place.span && b.operation == *op);
            let states = states.map_or("-".to_string(), |b| grouped(b.states));
            let _ = write!(out, "  {states:>0$}", op.chars().count().max(6));
        }
        out.push('\n');
    }
}

/// Somebody looked for it, so it is no error.
fn is_goal(f: &Counterexample) -> bool {
    f.kind == FindingKind::Goal.name()
}

fn finding(out: &mut String, f: &Counterexample, opened: &Opened, colour: bool) {
    let model = &opened.model;
    out.push('\n');
    if let Some(p) = &f.place {
        let message = match &f.operation {
            None if p.label.is_some() => format!("{}: {}", f.message, p.label.as_deref().unwrap_or_default()),
            Some(op) if f.parameters.is_empty() => format!("{} (in {op})", f.message),
            Some(op) => format!("{} (in {op}({}))", f.message, equations(&f.parameters)),
            None => f.message.clone(),
        };
        let mut d = Diagnostic::error(f.code.unwrap_or(f.kind), p.span, message);
        if is_goal(f) {
            d.severity = Severity::Note;
        }
        out.push_str(&diagnostic::render(&d, &opened.sources, colour));
        out.push('\n');
    }
    steps(out, &f.trace, model);
    if let Some(last) = f.trace.steps.last() {
        let _ = writeln!(out, "\nstate {}:", f.trace.steps.len());
        for (n, v) in trace::variables(&last.state, model) {
            let _ = writeln!(out, "  {n} = {}", cut(&v));
        }
    }
    why(out, &f.why);
    out.push('\n');
}

fn equations(pairs: &[(String, String)]) -> String {
    pairs.iter().map(|(n, v)| format!("{n} = {}", cut(v))).collect::<Vec<_>>().join(", ")
}

pub(super) fn why(out: &mut String, parts: &[Part]) {
    if parts.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nwhy:");
    self::parts(out, parts);
}

/// A line per part.
pub(super) fn parts(out: &mut String, parts: &[Part]) {
    for p in parts {
        let indent = 2 + 2 * p.depth;
        let _ = match p.kind {
            // Without a value it is a sentence.
            PartKind::Value if p.value == NO_VALUE => writeln!(out, "{:indent$}{} {NO_VALUE}", "", p.text),
            PartKind::Value => writeln!(out, "{:indent$}{} = {}", "", p.text, cut(&p.value)),
            PartKind::Witness => writeln!(out, "{:indent$}for {} = {}:", "", p.text, cut(&p.value)),
            PartKind::Note if p.value.is_empty() => writeln!(out, "{:indent$}{}", "", cut(&p.text)),
            PartKind::Note => writeln!(out, "{:indent$}{}: {}", "", p.text, cut(&p.value)),
        };
    }
}

pub(super) fn list(pairs: Vec<(&str, String)>) -> String {
    pairs.into_iter().map(|(n, v)| format!("{n} = {}", cut(&v))).collect::<Vec<_>>().join(", ")
}

/// A step as people write it: `r <-- op(x = 1)`.
pub fn call(step: &Step, model: &Model) -> String {
    let params = trace::params(step, model);
    let results = trace::results(step, model);
    let mut text = step.name(model).to_string();
    if !params.is_empty() {
        let _ = write!(text, "({})", list(params));
    }
    if !results.is_empty() {
        let _ = write!(text, " --> {}", list(results));
    }
    text
}

/// The numbered steps with what they change.
pub fn steps(out: &mut String, t: &Trace, model: &Model) {
    let constants = trace::constants(t, model);
    if !constants.is_empty() {
        let _ = writeln!(out, "   constants: {}", list(constants));
    }
    let mut before: Option<&[Value]> = None;
    for (i, step) in t.steps.iter().enumerate() {
        let changes = match before {
            None => trace::variables(&step.state, model),
            Some(b) => trace::changed(b, &step.state, model),
        };
        let changes = if changes.is_empty() { "(nothing changes)".to_string() } else { list(changes) };
        let _ = writeln!(out, "{:4}  {}\n        {changes}", i + 1, call(step, model));
        before = Some(&step.state);
    }
}

pub fn replayed(r: &Replayed, total: usize, model: &Model, colour: bool) -> String {
    let mut out = String::new();
    steps(&mut out, &r.trace, model);
    let done = r.trace.steps.len();
    match &r.failure {
        None => {
            let _ = writeln!(out, "{}: {}", paint("replays", "1;32", colour), plural(done as u64, "step"));
        }
        Some(why) => {
            let word = paint("does not replay", "1;31", colour);
            let _ = writeln!(out, "{word}: step {} of {total}: {why}", done + 1);
        }
    }
    out
}

/// The answer to a question.
pub fn reply(r: &Reply) -> String {
    match r {
        Reply::Truth(b) => format!("{}\n", if *b { "TRUE" } else { "FALSE" }),
        Reply::Value(v) => format!("{v}\n"),
        Reply::Solutions { found, more, truncated, reach } => {
            let mut out = String::from(match (found.is_empty(), truncated) {
                (false, _) => "TRUE\n",
                (true, false) => "FALSE: no solution\n",
                // No answer is not FALSE.
                (true, true) => "unknown: no solution was found\n",
            });
            for solution in found {
                let _ = writeln!(out, "  {}", equations(solution));
            }
            if *more {
                out.push_str("  … and more\n");
            }
            if *truncated {
                let tried = match reach {
                    Some(reach) => format!("from -{reach} to {reach}"),
                    None => "from MININT to MAXINT".to_string(),
                };
                let _ = writeln!(out, "  (integers without bounds were tried only {tried}: bound them)");
            }
            out
        }
    }
}

pub fn numbered(rows: &[String]) -> String {
    let row = |(i, text): (usize, &String)| format!("{:4}  {text}\n", i + 1);
    if rows.is_empty() { "none\n".to_string() } else { rows.iter().enumerate().map(row).collect() }
}
