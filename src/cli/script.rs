//! `kanon check` of a CSP-M script: its assertions; a script without any has its process `MAIN` explored.

use super::{Exit, Sketch, check, interrupt, other, refuse};
use crate::report::{self, asserted, json};
use crate::run::csp::{self, Answer, Asserted};
use clap::{Args as _, FromArgMatches};

/// Whether a script is what is to be checked.
pub fn is_asked(args: &check::Args) -> bool {
    args.file.as_deref().is_some_and(csp::is_script)
}

pub fn check(args: &check::Args) -> Exit {
    let Some(file) = args.file.as_deref() else { return super::wrong("there is no FILE", args.json) };
    if !plain(args) {
        let why = "the assertions of a CSP-M script are checked with `--max-states`, `--max-memory`, `--timeout` and \
                   `--json` only; `--process MAIN` explores a process, and has more options";
        return super::wrong(why, args.json);
    }
    let bounds = super::bounds(args.limits.timeout, args.max_memory);
    let stop = super::bounded(bounds, args.json, &Sketch::default(), |_, why| json::unanswered(why, None));
    interrupt::listen(&stop);
    let states = args.limits.max_states.unwrap_or(csp::STATES);
    let answer = csp::check(file, states, &stop.flag);
    stop.settle();
    let mut answer = match answer {
        Ok(answer) => answer,
        Err(refused) => return refuse(&refused, args.json),
    };
    if let Some(why) = stop.why() {
        answer.stopped_by(&why);
    }
    if answer.claims.is_empty() {
        return other::explore(file, args);
    }
    if args.json {
        report::answer(asserted::json(&answer));
    } else {
        report::out(&asserted::text(&answer, report::colour_out()));
    }
    exit(&answer)
}

fn exit(answer: &Asserted) -> Exit {
    let any = |of: fn(&Answer) -> bool| answer.claims.iter().any(|c| of(&c.answer));
    if any(|a| matches!(a, Answer::Fails(_))) {
        Exit::Fails
    } else if any(|a| matches!(a, Answer::Unknown(_))) {
        Exit::Unknown
    } else {
        Exit::Holds
    }
}

/// Whether nothing was asked for that is about machines: an option is refused, never ignored.
fn plain(args: &check::Args) -> bool {
    let command = check::Args::augment_args(clap::Command::new("check"));
    let Ok(matches) = command.try_get_matches_from(["check"]) else { return false };
    let Ok(mut plain) = check::Args::from_arg_matches(&matches) else { return false };
    plain.file.clone_from(&args.file);
    plain.json = args.json;
    plain.limits.max_states = args.limits.max_states;
    plain.limits.timeout = args.limits.timeout;
    plain.max_memory = args.max_memory;
    format!("{plain:?}") == format!("{args:?}")
}
