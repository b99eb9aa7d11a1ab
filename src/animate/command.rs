//! The lines that people type: commands and questions, the same in the REPL and on the terminal's command line.

use super::scene::{Animated, History, refused};
use super::session::{Call, Conjunct, Loaded, Tree, Value, Watched};
use super::walk::{End, From, Limits, Place, Sought};
use crate::lang::diag::Diagnostic;
use crate::model::open::Refused;
use crate::system::{Role, Stop};
use crate::trace::explain::Disabled;
use crate::trace::question::Reply;
use std::path::{Path, PathBuf};

/// Random steps at once.
pub const MAX_STEPS: usize = 100_000;

/// Names of commands, what follows them, and what they do.
pub const COMMANDS: [(&str, &str, &str); 18] = [
    ("vars", "", "the constants and variables and their values"),
    ("ops", "", "the transitions of this state, numbered"),
    ("step", "[N]", "take transition N of `:ops`, or the first"),
    ("op", "NAME [ARGS]", "take the first transition of an operation: `1, TRUE` or `x = 1, y = TRUE`"),
    ("init", "[N]", "show the initial states, or go to one"),
    ("state", "[N]", "show the states visited so far, or go to one"),
    ("undo", "", "take back the last step"),
    ("redo", "", "take it again"),
    ("random", "[N [SEED]]", "take N random steps, 10 otherwise; the same ones for the same seed"),
    ("goto", "P", "go to a nearest state that fulfils a predicate"),
    ("why", "NAME [ARGS] | [N]", "why an operation is not enabled; why conjunct N is true or false"),
    ("inv", "", "the invariant, conjunct by conjunct, numbered"),
    ("watch", "[E]", "show the value of an expression from now on, or all of them"),
    ("unwatch", "N", "do not show it any more"),
    ("trace", "", "how this state was reached"),
    ("save", "FILE", "write how it was reached: `.itf.json`, `.prob2trace`, JSON otherwise"),
    ("load", "FILE", "go the way that such a file has"),
    ("type", "E", "the type of an expression"),
];

/// A line, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// An empty line.
    Nothing,
    /// Leave.
    Quit,
    /// What there is.
    Help,
    /// A command and what follows it.
    Command(&'static str, String),
    /// An expression or a predicate.
    Question(String),
}

/// Reads a line. Commands begin with a colon, unless `is_command`: then all lines are commands, and `= E` or `eval E` asks.
///
/// # Errors
/// No such command.
pub fn read(line: &str, is_command: bool) -> Result<Line, String> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(Line::Nothing);
    }
    let text = match line.strip_prefix(':') {
        Some(text) => text,
        None if is_command => line,
        None => return Ok(Line::Question(line.to_string())),
    };
    if let Some(question) = text.strip_prefix('=').filter(|_| is_command) {
        return Ok(Line::Question(question.trim().to_string()));
    }
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim().to_string();
    let full = match name {
        "q" | "quit" | "exit" => return Ok(Line::Quit),
        "h" | "help" | "?" => return Ok(Line::Help),
        "eval" | "print" => return Ok(Line::Question(rest)),
        "v" => "vars",
        "s" => "step",
        "t" => "type",
        name => name,
    };
    match COMMANDS.iter().find(|(n, ..)| *n == full) {
        Some((name, ..)) => Ok(Line::Command(name, rest)),
        None => Err(format!("no command `{name}`; `help` lists them")),
    }
}

/// A step was taken, or the walk went somewhere else.
#[derive(Clone, Debug, Default)]
pub struct Moved {
    /// The place, counted from 0; none before the first state.
    pub place: Option<Place>,
    /// The step, if it was one.
    pub call: Option<Call>,
    /// The state.
    pub state: Vec<Value>,
    /// Conjuncts of the invariant that are false there, or have no value.
    pub broken: Vec<Conjunct>,
}

/// What a line led to.
#[derive(Clone, Debug)]
pub enum Said {
    /// Nothing to tell.
    Nothing,
    /// Constants and variables.
    Values(Vec<Value>),
    /// What can be done, and what has no value.
    Calls(Vec<Call>, Vec<Diagnostic>),
    /// The history.
    History(History),
    /// A step, or another place.
    Moved(Moved),
    /// Random steps: how many, why they ended, and where.
    Wandered(usize, End, Moved),
    /// A search: how it ended, and where.
    Sought(Sought, Moved),
    /// A trace that was followed.
    Loaded(Loaded, Moved),
    /// A file that was written.
    Saved(PathBuf),
    /// A type.
    Type(String),
    /// A value, a truth, solutions.
    Reply(Reply),
    /// Why an operation is not enabled.
    WhyNot(String, Disabled),
    /// An operation that is enabled, in so many ways.
    IsEnabled(String, usize),
    /// Why a conjunct has the truth that it has.
    Why(Conjunct, Vec<Tree>),
    /// The invariant.
    Conjuncts(Vec<Conjunct>),
    /// Watched expressions.
    Watched(Vec<Watched>),
    /// The way here: constants, and each step with what it changed.
    Trace(Vec<(String, Vec<(String, String)>)>),
}

impl Said {
    /// Whether the walk went where the invariant is broken.
    pub fn is_broken(&self) -> bool {
        match self {
            Said::Moved(m) | Said::Wandered(_, _, m) | Said::Sought(_, m) | Said::Loaded(_, m) => {
                !m.broken.is_empty()
            }
            _ => false,
        }
    }

    /// Whether what was asked has no answer, because of a limit.
    pub fn is_unknown(&self) -> bool {
        match self {
            Said::Sought(Sought::Unknown(..), _) | Said::Wandered(_, End::Stopped, _) => true,
            Said::Reply(Reply::Solutions { found, truncated, .. }) => found.is_empty() && *truncated,
            _ => false,
        }
    }

    /// Whether it went only a part of the way.
    pub fn is_incomplete(&self) -> bool {
        matches!(self, Said::Loaded(Loaded { failure: Some(_), .. }, _))
    }
}

/// Whether a conjunct of the invariant is false, or has no value.
pub fn is_broken(c: &Conjunct) -> bool {
    c.judged.role == Role::Invariant && !matches!(c.judged.truth, Ok(true))
}

/// Where the walk is, with what is broken there.
pub fn here(session: &dyn Animated, call: Option<Call>, stop: &Stop) -> Moved {
    let broken = session.conjuncts(stop).into_iter().filter(is_broken).collect();
    Moved { place: session.history().at, call, state: session.state(), broken }
}

/// Does what a command says.
///
/// # Errors
/// What is wrong with it.
pub fn obey(
    session: &mut dyn Animated,
    command: &str,
    rest: &str,
    limits: Limits,
    stop: &Stop,
) -> Result<Said, Refused> {
    match command {
        "vars" => Ok(Said::Values(session.state())),
        "ops" => {
            let all = session.operations(stop);
            let faults = all.iter().flat_map(|o| o.faults.clone()).collect();
            let mut calls: Vec<Call> = all.into_iter().flat_map(|o| o.calls).collect();
            calls.sort_by_key(|c| c.choice);
            Ok(Said::Calls(calls, faults))
        }
        "step" => take(session, number(rest)?.unwrap_or(1), "transitions", stop),
        "op" => {
            let (name, arguments) = call(rest);
            let at = session.find(&name, &arguments, stop).map_err(refused)?;
            take(session, at + 1, "transitions", stop)
        }
        "init" => {
            let before = session.history().at;
            session.go(None);
            match number(rest)? {
                Some(n) => take(session, n, "initial states", stop).inspect_err(|_| {
                    session.go(before);
                }),
                None => {
                    let all = session.operations(stop);
                    session.go(before);
                    let faults = all.iter().flat_map(|o| o.faults.clone()).collect();
                    Ok(Said::Calls(all.into_iter().flat_map(|o| o.calls).collect(), faults))
                }
            }
        }
        "state" => match number(rest)? {
            None => Ok(Said::History(session.history())),
            Some(n) => {
                let count = session.history().places.len();
                match n.checked_sub(1).is_some_and(|n| session.go(Some(Place(n)))) {
                    true => Ok(Said::Moved(here(session, None, stop))),
                    false => Err(refused(format!("there are {count} states"))),
                }
            }
        },
        "undo" | "redo" => {
            let moved = if command == "undo" { session.undo() } else { session.redo() };
            match moved {
                true => Ok(Said::Moved(here(session, None, stop))),
                false => Err(refused(format!("there is nothing to {command}"))),
            }
        }
        "random" => {
            let mut numbers = rest.split_whitespace();
            let steps = number(numbers.next().unwrap_or(""))?.unwrap_or(10);
            let seed = number(numbers.next().unwrap_or(""))?.unwrap_or(0);
            if steps > MAX_STEPS || numbers.next().is_some() {
                return Err(refused(format!("expected a number up to {MAX_STEPS}, and a seed")));
            }
            let (taken, end) = session.random(steps, seed as u64, stop);
            Ok(Said::Wandered(taken, end, here(session, None, stop)))
        }
        "goto" => {
            let found = session.seek(rest, From::Here, limits, stop)?;
            Ok(Said::Sought(found, here(session, None, stop)))
        }
        "why" => why(session, rest, stop),
        "inv" => Ok(Said::Conjuncts(session.conjuncts(stop))),
        "watch" => {
            if !rest.is_empty() {
                session.watch(rest)?;
            }
            Ok(Said::Watched(session.watched(stop)))
        }
        "unwatch" => {
            let at = number(rest)?.and_then(|n| n.checked_sub(1));
            match at.is_some_and(|n| session.unwatch(n)) {
                true => Ok(Said::Watched(session.watched(stop))),
                false => Err(refused("there is no such expression")),
            }
        }
        "trace" => Ok(Said::Trace(trace(session))),
        "save" => {
            let path = file(rest)?;
            std::fs::write(&path, session.save(&path))
                .map_err(|e| refused(format!("cannot write {}: {e}", path.display())))?;
            Ok(Said::Saved(path))
        }
        "load" => {
            let path = file(rest)?;
            let text = std::fs::read_to_string(&path)
                .map_err(|e| refused(format!("cannot read {}: {e}", path.display())))?;
            let loaded = session.load(&text, stop).map_err(refused)?;
            Ok(Said::Loaded(loaded, here(session, None, stop)))
        }
        "type" => session.type_of(rest).map(Said::Type),
        other => Err(refused(format!("no command `{other}`"))),
    }
}

fn file(text: &str) -> Result<PathBuf, Refused> {
    match text {
        "" => Err(refused("the name of a file is missing")),
        text => Ok(Path::new(text).to_path_buf()),
    }
}

fn number(text: &str) -> Result<Option<usize>, Refused> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| refused(format!("`{text}` is no number"))),
    }
}

/// Takes a step by its number, counted from 1.
fn take(session: &mut dyn Animated, n: usize, what: &str, stop: &Stop) -> Result<Said, Refused> {
    let all: Vec<Call> = session.operations(stop).into_iter().flat_map(|o| o.calls).collect();
    let call = all.iter().find(|c| c.choice + 1 == n).cloned();
    let taken = n.checked_sub(1).and_then(|choice| session.step(choice, stop));
    match taken {
        Some(_) => Ok(Said::Moved(here(session, call, stop))),
        None => Err(refused(format!("there are {} {what} to choose from", all.len()))),
    }
}

fn why(session: &dyn Animated, rest: &str, stop: &Stop) -> Result<Said, Refused> {
    let all = session.conjuncts(stop);
    let told = |c: &Conjunct| Said::Why(c.clone(), session.why(c.judged.check, stop));
    if let Ok(n) = rest.parse::<usize>() {
        let found = n.checked_sub(1).and_then(|n| all.get(n));
        return found.map(told).ok_or_else(|| refused(format!("there are {} conjuncts", all.len())));
    }
    if rest.is_empty() {
        // What is wrong here.
        let broken = all.iter().find(|c| is_broken(c)).map(told);
        return Ok(broken.unwrap_or(Said::Conjuncts(all)));
    }
    let (name, arguments) = call(rest);
    why_not(session, &name, &arguments)
}

/// Why an operation is not enabled.
///
/// # Errors
/// No such operation or parameter, or a value that cannot be read.
pub fn why_not(session: &dyn Animated, name: &str, arguments: &[String]) -> Result<Said, Refused> {
    let told = session.why_not(name, arguments).map_err(refused)?;
    Ok(Said::WhyNot(name.to_string(), told))
}

fn trace(session: &mut dyn Animated) -> Vec<(String, Vec<(String, String)>)> {
    let history = session.history();
    let mut steps: Vec<(String, Vec<(String, String)>)> = vec![];
    for place in &history.way {
        session.go(Some(*place));
        let is_first = steps.is_empty();
        let is_told = |v: &Value| is_first || v.before.is_some();
        let changes = session.state().into_iter().filter(is_told).map(|v| (v.name, v.value)).collect();
        steps.push((history.places[place.0].1.clone(), changes));
    }
    session.go(history.at);
    steps
}

/// `name 1, 2`, `name(1, 2)` or `name(x = 1)`: a name and arguments. Brackets around all of them are those of the call.
fn call(text: &str) -> (String, Vec<String>) {
    let end = text.find([' ', '(']).unwrap_or(text.len());
    let (name, arguments) = (&text[..end], text[end..].trim());
    let mut depth = 0i32;
    // Where the first bracket is closed.
    let close = arguments.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0).then_some(at)
    });
    let is_around = arguments.starts_with('(') && close == Some(arguments.len() - 1);
    let arguments = if is_around { &arguments[1..arguments.len() - 1] } else { arguments };
    (name.to_string(), split(arguments))
}

/// Arguments between commas that stand in no brackets or strings.
pub fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut quoted) = (0i32, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        match (c, parts.last_mut()) {
            (',', _) if depth == 0 && !quoted => parts.push(String::new()),
            (_, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    if text.trim().is_empty() { vec![] } else { parts }
}

/// What a line could go on with: where the last word begins (in bytes), and the words that begin with it. Commands first,
/// then operations behind `op` and `why`, names of the model anywhere else.
pub fn complete(
    line: &str,
    is_command: bool,
    operations: &[String],
    names: &[String],
) -> (usize, Vec<String>) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '\'';
    let at = line
        .rfind(|c: char| !is_part(c))
        .map_or(0, |i| i + line[i..].chars().next().map_or(1, char::len_utf8));
    let word = &line[at..];
    let before = line[..at].trim_start();
    let is_first = before == ":" || (is_command && before.is_empty());
    let command = before.strip_prefix(':').or(is_command.then_some(before)).map(str::trim);
    let mut found: Vec<String> = if is_first {
        let all =
            COMMANDS.iter().map(|(n, ..)| *n).chain(["help", "quit"]).chain(is_command.then_some("eval"));
        all.filter(|n| n.starts_with(word)).map(String::from).collect()
    } else {
        let is_operation = matches!(command, Some("op" | "why"));
        let all = if is_operation { operations } else { names };
        // Behind nothing, all names would be too many.
        let is_told = |n: &&String| n.starts_with(word) && (is_operation || !word.is_empty());
        all.iter().filter(is_told).cloned().collect()
    };
    found.sort();
    found.dedup();
    (at, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_outside_brackets() {
        for (text, parts) in [
            ("", vec![]),
            ("1", vec!["1"]),
            ("1, x = {1,2}", vec!["1", " x = {1,2}"]),
            ("(1,2),\"a,b\"", vec!["(1,2)", "\"a,b\""]),
        ] {
            assert_eq!(split(text), parts, "{text}");
        }
        assert_eq!(call("borrow(b = BOOK1)"), ("borrow".into(), vec!["b = BOOK1".to_string()]));
        assert_eq!(call("borrow (1,2)"), ("borrow".into(), vec!["1".to_string(), "2".to_string()]));
        assert_eq!(call("borrow ((1,2))"), ("borrow".into(), vec!["(1,2)".to_string()]));
        assert_eq!(call("borrow (1,2),3"), ("borrow".into(), vec!["(1,2)".to_string(), "3".to_string()]));
        assert_eq!(call("borrow("), ("borrow".into(), vec!["(".to_string()]));
        assert_eq!(call("borrow"), ("borrow".into(), vec![]));
    }

    #[test]
    fn lines_are_read() {
        assert_eq!(read("  ", false), Ok(Line::Nothing));
        assert_eq!(read("x + 1", false), Ok(Line::Question("x + 1".into())));
        assert_eq!(read(":op a 1", false), Ok(Line::Command("op", "a 1".into())));
        assert_eq!(read("op a 1", true), Ok(Line::Command("op", "a 1".into())));
        assert_eq!(read("= x", true), Ok(Line::Question("x".into())));
        assert_eq!(read("eval x", true), Ok(Line::Question("x".into())));
        assert_eq!(read(":q", false), Ok(Line::Quit));
        assert!(read(":nothing", false).is_err() && read("nothing", true).is_err());
    }

    #[test]
    fn lines_are_completed() {
        let (operations, names) = (["borrow".to_string()], ["lent".to_string(), "BOOK1".to_string()]);
        let complete = |line: &str| complete(line, false, &operations, &names);
        assert_eq!(complete(":ra"), (1, vec!["random".to_string()]));
        assert_eq!(complete(":op "), (4, vec!["borrow".to_string()]));
        assert_eq!(complete(":why b"), (5, vec!["borrow".to_string()]));
        assert_eq!(complete("card(le"), (5, vec!["lent".to_string()]));
        assert_eq!(complete(":op borrow(BO"), (11, vec!["BOOK1".to_string()]));
        assert_eq!(complete("é + le"), (5, vec!["lent".to_string()]));
        assert_eq!(complete("card("), (5, vec![]));
    }
}
