//! `kanon-checker MODEL CERTIFICATE`, `kanon-checker MODEL TRACE.json`

use kanon_checker::check::{Effort, Part};
use kanon_checker::said::text;
use kanon_checker::{Refuted, check, check_trace};
use kanon_language::model::reading::Reading;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: kanon-checker MODEL CERTIFICATE [--part I/N]
       kanon-checker MODEL TRACE.json [--wd READING]

Checks a certificate that `kanon check MODEL --certificate CERTIFICATE` wrote. With --part, one of N
parts of the states is looked at: if each of the parts 1/N to N/N is accepted, the certificate is.

A certificate of a temporal formula is one that `kanon ltl MODEL FORMULA --certificate CERTIFICATE` wrote.

A trace that `kanon check MODEL --trace TRACE.json` wrote is followed step by step, and accepted if
the model runs like this and something is wrong at the end; one that `kanon ltl` wrote (or its answer
as JSON) if its formula is false on it. --wd says how undefined terms are read:
kleene unless given, strict or prob.

`Accepted, relative to` something means that all else was checked and this was not.

Exit code: 0 accepted, 1 rejected, 2 wrong arguments, 3 accepted relative to something, or the
evaluator cannot follow it.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (model, certificate, part) = match &arguments[..] {
        ["-h" | "--help"] => return said(0, USAGE),
        [model, trace] if is_json(trace) => return counterexample(model, trace, "kleene"),
        [model, trace, "--wd", reading] if is_json(trace) => return counterexample(model, trace, reading),
        [model, certificate] => (*model, *certificate, Some(Part::WHOLE)),
        [model, certificate, "--part", part] => (*model, *certificate, parsed(part)),
        _ => (".", ".", None),
    };
    let Some(part) = part else { return said(2, USAGE) };
    let mut open = || File::open(certificate).map(BufReader::new);
    match check(Path::new(model), &mut open, part, Effort::default()) {
        Ok(accepted) => said(if accepted.relative.is_empty() { 0 } else { 3 }, &text(&accepted)),
        Err(why) if why.is_undecided() => said(3, &format!("not decided: {why}")),
        Err(why) => said(1, &format!("rejected: {why}")),
    }
}

fn is_json(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|e| e == "json")
}

fn counterexample(model: &str, trace: &str, reading: &str) -> ExitCode {
    let Some(reading) = Reading::ALL.into_iter().find(|r| r.name() == reading) else { return said(2, USAGE) };
    let text = match std::fs::read_to_string(trace) {
        Ok(text) => text,
        Err(e) => return said(1, &format!("rejected: the trace cannot be read: {e}")),
    };
    match check_trace(Path::new(model), &text, reading, Effort::default()) {
        Ok(Refuted { machine, steps, wrong }) => {
            let wrong: Vec<String> = wrong.iter().map(|w| format!("\n  {w}")).collect();
            said(0, &format!("accepted: {machine} fails\n  after {steps} steps{}", wrong.concat()))
        }
        Err(why) if why.is_undecided() => said(3, &format!("not decided: {why}")),
        Err(why) => said(1, &format!("rejected: {why}")),
    }
}

/// `2/4`
fn parsed(text: &str) -> Option<Part> {
    let (part, of) = text.split_once('/')?;
    let (part, of): (u64, u64) = (part.parse().ok()?, of.parse().ok()?);
    (1 <= part && part <= of).then(|| Part { part: part - 1, of })
}

/// Prints and ends. Where nothing can be printed, nobody was told.
fn said(code: u8, text: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::from(2),
    }
}
