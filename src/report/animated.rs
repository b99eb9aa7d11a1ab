//! What a session says, as text: for the REPL, and for the messages of the other views.

use super::diagnostic;
use super::text;
use crate::animate::command::{COMMANDS, Moved, Said, is_broken};
use crate::animate::{Call, Conjunct, End, History, Loaded, Missing, Sought, Tree, Unseen, Value, Watched};
use crate::lang::diag::{Diagnostic, SourceMap};
use crate::model::open::Refused;
use crate::trace::explain::{Condition, Disabled, Part, PartKind, Truth};
use crate::trace::fault::fault_message;
use std::fmt::Write;

/// Longer values are cut.
const MAX_VALUE: usize = 2000;

/// What a line led to.
pub fn said(said: &Said) -> String {
    match said {
        Said::Nothing => String::new(),
        Said::Values(all) => values(all),
        Said::Calls(all, faults) => calls(all) + &problems(faults),
        Said::History(h) => history(h),
        Said::Moved(m) => moved(m),
        Said::Wandered(taken, end, m) => format!("{}\n{}", wandered(*taken, *end), moved(m)),
        Said::Sought(s, m) => match s {
            Sought::Reached(_) => format!("{}\n{}", sought(s), moved(m)),
            _ => format!("{}\n", sought(s)),
        },
        Said::Loaded(l, m) => format!("{}\n{}", loaded(l), moved(m)),
        Said::Saved(path) => format!("written to {}\n", path.display()),
        Said::Type(t) => format!("{t}\n"),
        Said::Reply(r) => text::reply(r),
        Said::WhyNot(name, d) => disabled(name, d),
        Said::IsEnabled(name, n) => format!("`{name}` is enabled: {n} transitions\n"),
        Said::Why(c, why) => format!("{}\n{}", conjunct(c), tree(why)),
        Said::Conjuncts(all) => text::numbered(&all.iter().map(conjunct).collect::<Vec<_>>()),
        Said::Watched(all) => text::numbered(&all.iter().map(watched).collect::<Vec<_>>()),
        Said::Trace(steps) => trace(steps),
    }
}

/// What is wrong with a line.
pub fn wrong(refused: &Refused, colour: bool) -> String {
    diagnostic::render_all(&refused.diagnostics, &refused.sources, colour)
}

/// The commands.
pub fn help(colon: &str) -> String {
    let mut out = String::from(
        "An expression or a predicate is evaluated in the present state. Names that the model does not\n\
         know are solved for: `x : 1..9 & x * x = 49`.\n",
    );
    for (name, arguments, what) in COMMANDS {
        let left = format!("{colon}{name} {arguments}");
        let _ = writeln!(out, "  {left:<24}  {what}");
    }
    let _ = writeln!(out, "  {:<24}  this\n  {:<24}  leave", format!("{colon}help"), format!("{colon}quit"));
    out
}

fn problems(all: &[Diagnostic]) -> String {
    all.iter().map(|d| format!("  no value: {}\n", d.message)).collect()
}

fn list(pairs: &[(String, String)]) -> String {
    pairs.iter().map(|(n, v)| equation(n, v)).collect::<Vec<_>>().join(", ")
}

fn equation(name: &str, value: &str) -> String {
    if name.is_empty() { cut(value) } else { format!("{name} = {}", cut(value)) }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

fn values(all: &[Value]) -> String {
    all.iter().map(|v| format!("{} = {}\n", v.name, cut(&v.value))).collect()
}

/// `borrow(b = BOOK1) --> ok = TRUE`.
pub fn call(c: &Call) -> String {
    let mut out = c.operation.clone();
    if !c.parameters.is_empty() {
        let _ = write!(out, "({})", list(&c.parameters));
    }
    if !c.results.is_empty() {
        let _ = write!(out, " --> {}", list(&c.results));
    }
    out
}

fn calls(all: &[Call]) -> String {
    let row = |c: &Call| match c.operation == crate::trace::INITIALISATION {
        true => list(&c.changes),
        false => call(c),
    };
    text::numbered(&all.iter().map(row).collect::<Vec<_>>())
}

fn history(h: &History) -> String {
    let row = |(i, (from, text)): (usize, &(Option<crate::animate::Place>, String))| {
        let mark = if h.at.is_some_and(|p| p.0 == i) { "*" } else { " " };
        let from = from.map_or(String::new(), |p| format!(" after {}", p.0 + 1));
        format!("{mark}{:4}  {text}{from}\n", i + 1)
    };
    match h.places.is_empty() {
        true => "no state yet\n".into(),
        false => h.places.iter().enumerate().map(row).collect(),
    }
}

fn moved(m: &Moved) -> String {
    let Some(place) = m.place else { return "before the first state: `init` has the choices\n".into() };
    let mut out = format!("state {}", place.0 + 1);
    if let Some(c) = &m.call {
        let _ = write!(out, ": {}", call(c));
    }
    out.push('\n');
    let changes = match &m.call {
        Some(c) => c.changes.clone(),
        None => {
            m.state.iter().filter(|v| !v.is_constant).map(|v| (v.name.clone(), v.value.clone())).collect()
        }
    };
    let changes = if changes.is_empty() { "(nothing changes)".to_string() } else { list(&changes) };
    let _ = writeln!(out, "  {changes}");
    for c in &m.broken {
        let how = if c.judged.truth.is_ok() { "is broken" } else { "has no value" };
        let _ = writeln!(out, "  the invariant {how}: {}", told(c));
    }
    out
}

fn told(c: &Conjunct) -> &str {
    c.text.as_ref().map_or(&*c.judged.name, |t| &t.text)
}

/// A conjunct with its truth.
pub fn conjunct(c: &Conjunct) -> String {
    let truth = match &c.judged.truth {
        Ok(true) => "true ".to_string(),
        Ok(false) if is_broken(c) => "FALSE".to_string(),
        Ok(false) => "false".to_string(),
        Err(_) => "none ".to_string(),
    };
    let role = match c.judged.role {
        crate::system::Role::Invariant => "",
        crate::system::Role::Assertion => " (assertion)",
        crate::system::Role::Goal => " (goal)",
    };
    let why = c.judged.truth.as_ref().err().map_or(String::new(), |f| format!(": {}", fault_message(f).1));
    format!("{truth}  {}{role}{why}", told(c))
}

/// A watched expression with its value.
pub fn watched(w: &Watched) -> String {
    let value = match &w.reply {
        Ok(reply) => text::reply(reply).trim_end().replace('\n', ";"),
        Err(diagnostics) => words(diagnostics),
    };
    format!("{} = {}", w.text, cut(&value))
}

/// Messages in a line.
pub fn words(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
}

/// An explanation.
pub fn part(p: &Part) -> String {
    match p.kind {
        PartKind::Note if p.value.is_empty() => p.text.clone(),
        PartKind::Note => format!("{}: {}", p.text, p.value),
        PartKind::Value | PartKind::Witness => format!("{} = {}", p.text, cut(&p.value)),
    }
}

fn tree(all: &[Tree]) -> String {
    fn put(out: &mut String, all: &[Tree], depth: usize) {
        for t in all {
            let _ = writeln!(out, "{:1$}{2}", "", 2 + 2 * depth, part(&t.part));
            put(out, &t.below, depth + 1);
        }
    }
    let mut out = String::new();
    put(&mut out, all, 0);
    out
}

/// A condition of an operation: `FALSE  x < 3`.
pub fn condition(c: &Condition) -> String {
    let truth = match &c.truth {
        Truth::True => "true ".to_string(),
        Truth::False => "FALSE".to_string(),
        Truth::NoValue => "none ".to_string(),
        Truth::Open(names) => format!("depends on {}:", names.join(", ")),
    };
    let mark = if c.is_blocking { "> " } else { "  " };
    format!("{mark}{truth}  {}", c.text)
}

/// Values that would fulfil a condition.
pub fn wanted(c: &Condition) -> Option<String> {
    let all: Vec<String> = c.wanted.iter().map(|w| list(w)).collect();
    let more = if c.more { "; …" } else { "" };
    (!all.is_empty()).then(|| format!("holds for {}{more}", all.join("; ")))
}

fn disabled(name: &str, d: &Disabled) -> String {
    let mut out = String::new();
    if d.ways.is_empty() {
        let _ = writeln!(out, "there is nothing to tell about `{name}`");
    }
    for way in &d.ways {
        match &way.summary {
            Some(summary) => _ = writeln!(out, "{name}: {summary}"),
            None => _ = writeln!(out, "{name}: nothing at its beginning keeps it from being enabled"),
        }
        for c in &way.conditions {
            let _ = writeln!(out, "{}", condition(c));
            if let Some(wanted) = wanted(c) {
                let _ = writeln!(out, "         {wanted}");
            }
            for line in tree(&crate::animate::tree(&c.why)).lines() {
                let _ = writeln!(out, "       {line}");
            }
        }
    }
    out
}

fn trace(steps: &[(String, Vec<(String, String)>)]) -> String {
    let mut out = String::new();
    for (i, (step, changes)) in steps.iter().enumerate() {
        let changes = if changes.is_empty() { "(nothing changes)".to_string() } else { list(changes) };
        let _ = writeln!(out, "{:4}  {step}\n        {changes}", i + 1);
    }
    if out.is_empty() { "no state yet\n".into() } else { out }
}

/// How a search for a state ended.
pub fn sought(s: &Sought) -> String {
    match s {
        Sought::Reached(0) => "the present state fulfils it".into(),
        Sought::Reached(1) => "reached after 1 step".into(),
        Sought::Reached(n) => format!("reached after {n} steps, and no fewer lead there"),
        Sought::Nowhere(n) => format!("none of the {n} states that can be reached fulfils it"),
        Sought::Unknown(why, n) => {
            let why = match why {
                Unseen::States(n) => format!("the limit of {n} states is reached"),
                Unseen::Time(t) => format!("the limit of {} s is reached", t.as_secs()),
                Unseen::Stopped => "it was stopped".into(),
                Unseen::Fault(f) => fault_message(f).1,
                Unseen::Cut(_) => "an enumeration was cut short".into(),
            };
            format!("unknown: none of {n} states fulfils it, but {why}")
        }
    }
}

/// Random steps.
pub fn wandered(taken: usize, end: End) -> String {
    let why = match end {
        End::Done => "",
        End::Deadlock => "; then nothing is enabled",
        End::Broken => "; then the invariant is broken",
        End::Stopped => "; then it was stopped",
    };
    format!("{taken} random step{}{why}", if taken == 1 { "" } else { "s" })
}

/// A trace that was followed.
pub fn loaded(l: &Loaded) -> String {
    let all = format!("{} of {} states of the trace", l.steps, l.of);
    match &l.failure {
        Some(why) => format!("{all}; step {}: {why}", l.steps + 1),
        None => all,
    }
}

/// Why there may be other steps.
pub fn missing(m: Missing) -> &'static str {
    match m {
        Missing::More => "there are more than are shown",
        Missing::Stopped => "it took too long to find all of them",
        Missing::Cut(_) => "an enumeration was cut short, so some may be missing",
    }
}

/// A line of the warnings that a model comes with.
pub fn warnings<'d>(all: impl Iterator<Item = &'d Diagnostic>, sources: &SourceMap, colour: bool) -> String {
    all.map(|d| diagnostic::render(d, sources, colour)).collect()
}
