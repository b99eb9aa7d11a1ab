//! `kanon repl`: questions and steps, one per line.

use super::{Exit, ScopeOptions, interrupt, refuse};
use crate::lang::diag::Diagnostic;
use crate::model::open::Refused;
use crate::report::{self, diagnostic, text};
use crate::run::Deadline;
use crate::system::System;
use crate::trace::fault::plain_error;
use crate::trace::session::{Session, Visited};
use rustyline::error::ReadlineError;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

const HELP: &str = "\
An expression or a predicate is evaluated in the present state. Names that the machine does not know are
solved for: `x : 1..9 & x * x = 49`.
  :vars            the constants and variables and their values
  :ops             the transitions of this state, numbered
  :step [N]        take transition N of `:ops` (the first without a number)
  :op NAME [ARGS]  take the first transition of an operation; arguments `1, TRUE` or `x = 1, y = TRUE`
  :init [N]        show the initial states, or go to one
  :state [N]       show the states visited so far, or go back to one
  :trace           how this state was reached
  :type E          the type of an expression
  :help            this
  :quit            leave
";

pub fn run(args: &Args) -> Exit {
    let stop = Deadline::never();
    let mut project = match super::open_for_questions(&args.file, &args.scope) {
        Ok(project) => project,
        Err(exit) => return exit,
    };
    let mut sources = std::mem::take(&mut project.opened.sources);
    let definitions = std::mem::take(&mut project.opened.definitions);
    let language = project.opened.language;
    let system = match project.solve_first(&stop) {
        Ok(solved) => solved.machine,
        Err(diagnostics) => return refuse(&Refused { sources, diagnostics }, false),
    };
    interrupt::listen(&stop);
    let mut session = Session::new(&system, &mut sources, &definitions, language);
    begin(&mut session, &stop);
    if std::io::stdin().is_terminal() {
        interactive(&mut session, &stop)
    } else {
        piped(&mut session, &stop)
    }
    Exit::Holds
}

fn begin(session: &mut Session, stop: &Deadline) {
    let (initial, fault) = session.initial(&stop.flag);
    if let Some(d) = fault {
        tell(session, &[d]);
    }
    match initial.into_iter().next() {
        Some(first) => {
            session.go(first);
        }
        None => tell(session, &[plain_error("INITIALISATION has no outcome: there is no state yet")]),
    }
}

fn tell(session: &Session, diagnostics: &[Diagnostic]) {
    for d in diagnostics {
        report::err(&diagnostic::render(d, session.sources, report::colour_err()));
    }
}

fn interactive(session: &mut Session, stop: &Deadline) {
    let history = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".kanon_history"));
    let Ok(mut editor) = rustyline::DefaultEditor::new() else { return piped(session, stop) };
    if let Some(path) = &history {
        // The first time there is none.
        let _ = editor.load_history(path);
    }
    report::out(&format!("{} — :help for help, Ctrl-D to leave\n", session.system.model.name));
    loop {
        match editor.readline("kanon> ") {
            Ok(line) => {
                let _ = editor.add_history_entry(&line);
                if !obey(session, &line, stop) {
                    break;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(_) => break,
        }
    }
    if let Some(path) = &history {
        let _ = editor.save_history(path);
    }
}

fn piped(session: &mut Session, stop: &Deadline) {
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                if !obey(session, &String::from_utf8_lossy(&line), stop) {
                    return;
                }
            }
        }
    }
}

/// Does what a line says; whether to go on.
fn obey(session: &mut Session, line: &str, stop: &Deadline) -> bool {
    let line = line.trim();
    if line.is_empty() {
        return true;
    }
    // An earlier Ctrl-C ended an earlier question.
    stop.flag.store(false, Ordering::Relaxed);
    let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let model = &*session.system.model;
    let result = match command {
        ":q" | ":quit" | ":exit" => return false,
        ":help" | ":h" | ":?" => {
            report::out(HELP);
            Ok(())
        }
        ":vars" | ":v" => {
            report::out(&values(session));
            Ok(())
        }
        ":type" | ":t" => session.type_of(rest).map(|ty| report::out(&format!("{ty}\n"))),
        ":ops" => {
            let (all, faults) = session.transitions(&stop.flag);
            let rows: Vec<String> = all.iter().map(|v| text::call(&v.step, model)).collect();
            report::out(&text::numbered(&rows));
            tell(session, &faults);
            Ok(())
        }
        ":step" | ":s" => {
            let (all, faults) = session.transitions(&stop.flag);
            tell(session, &faults);
            choose(session, all, rest, "transitions")
        }
        ":op" => {
            let (name, arguments) = rest.split_once([' ', '(']).unwrap_or((rest, ""));
            let arguments = arguments.trim().trim_start_matches('(');
            let arguments = if rest.contains('(') && rest.ends_with(')') && !balanced(arguments) {
                &arguments[..arguments.len() - 1]
            } else {
                arguments
            };
            let found = session.matching(name.trim(), &split(arguments), &stop.flag);
            found.and_then(|all| choose(session, all, "", "transitions"))
        }
        ":init" => {
            let (all, fault) = session.initial(&stop.flag);
            if let Some(d) = fault {
                tell(session, &[d]);
            }
            if rest.is_empty() {
                report::out(&text::states(&all, model));
                Ok(())
            } else {
                choose(session, all, rest, "initial states")
            }
        }
        ":state" => {
            if rest.is_empty() {
                report::out(&text::states(&session.visited, model));
                Ok(())
            } else {
                match rest.parse::<usize>() {
                    Ok(n) if (1..=session.visited.len()).contains(&n) => {
                        session.at = Some(n - 1);
                        Ok(())
                    }
                    _ => Err(vec![plain_error(format!("there are {} states", session.visited.len()))]),
                }
            }
        }
        ":trace" => {
            report::out(&text::path(&path(session), session.system));
            Ok(())
        }
        _ if command.starts_with(':') => {
            Err(vec![plain_error(format!("no command `{command}`; `:help` lists them"))])
        }
        _ => session.ask(line, &stop.flag).map(|reply| report::out(&text::reply(&reply))),
    };
    if let Err(diagnostics) = result {
        tell(session, &diagnostics);
    }
    true
}

fn balanced(text: &str) -> bool {
    text.matches('(').count() == text.matches(')').count()
}

/// Arguments between commas that stand in no brackets or strings.
fn split(text: &str) -> Vec<String> {
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

/// Goes to one of several states; the first when no number is given.
fn choose(session: &mut Session, all: Vec<Visited>, number: &str, what: &str) -> Result<(), Vec<Diagnostic>> {
    let count = all.len();
    let index = if number.is_empty() { Some(1) } else { number.parse::<usize>().ok() };
    let chosen = index.and_then(|n| all.into_iter().nth(n.checked_sub(1)?));
    let Some(chosen) = chosen else {
        return Err(vec![plain_error(format!("there are {count} {what} to choose from"))]);
    };
    let before = session.state().map(|s| s.step.state.clone());
    let step = chosen.step.clone();
    let at = session.go(chosen);
    report::out(&text::moved(at + 1, &step, before.as_deref(), &session.system.model));
    Ok(())
}

fn path<'a>(session: &'a Session) -> Vec<&'a Visited> {
    let mut path = vec![];
    let mut at = session.at;
    while let Some(state) = at.and_then(|i| session.visited.get(i)) {
        path.push(state);
        at = state.from;
    }
    path.reverse();
    path
}

fn values(session: &Session) -> String {
    let valuation = session.state().map_or(0, |s| session.system.start_of(&s.row));
    text::values(session.system, valuation, session.state().map(|s| &s.step.state[..]))
}

#[cfg(test)]
mod tests {
    #[test]
    fn arguments_are_split_outside_brackets() {
        for (text, parts) in [
            ("", vec![]),
            ("1", vec!["1"]),
            ("1, x = {1,2}", vec!["1", " x = {1,2}"]),
            ("(1,2),\"a,b\"", vec!["(1,2)", "\"a,b\""]),
        ] {
            assert_eq!(super::split(text), parts, "{text}");
        }
    }
}
