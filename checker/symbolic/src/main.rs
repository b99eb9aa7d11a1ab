//! `kanon-symbolic-checker MODEL CERTIFICATE`

use kanon_checker::check::Effort;
use kanon_checker::said::{claim, scope};
use kanon_checker::statement::Argument;
use kanon_language::model::load::with_large_stack;
use kanon_symbolic_checker::{Accepted, AcceptedStates, Rejected, check, check_states};
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: kanon-symbolic-checker MODEL CERTIFICATE [--solver NAME]

Checks a certificate that `kanon check MODEL --engine ENGINE --certificate CERTIFICATE` wrote, or
`kanon bmc`, `kinduction` or `ic3`. The model is made into formulas again, and each refutation is
followed step by step; the encoder is trusted. Where the certificate rests on an SMT solver, another
one is asked: z3 or cvc5, whichever is installed, or the one that --solver names.

A certificate of states is checked as kanon-checker does it; and if its constants are such that only
a solver finds them all, the proof in it that there are no others is followed.

Exit code: 0 accepted, 1 rejected, 2 wrong arguments, 3 accepted relative to a solver, or not decided.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (model, certificate, solver) = match &arguments[..] {
        ["-h" | "--help"] => return said(0, USAGE),
        [model, certificate] => (*model, *certificate, None),
        [model, certificate, "--solver", name @ ("z3" | "cvc5")] => (*model, *certificate, Some(*name)),
        _ => return said(2, USAGE),
    };
    let file = match File::open(certificate) {
        Ok(file) => BufReader::new(file),
        Err(e) => return said(1, &format!("rejected: the certificate cannot be read: {e}")),
    };
    // Formulas nest deeply.
    match with_large_stack(|| check(Path::new(model), file, solver)) {
        Ok(Err(Rejected::NoProofByFormulas)) => states(model, certificate),
        Ok(answer) => answered(answer),
        Err(e) => said(3, &format!("not decided: {e}")),
    }
}

fn answered(answer: Result<Accepted, Rejected>) -> ExitCode {
    match answer {
        Ok(a) => said(if a.relative.is_some() { 3 } else { 0 }, &text(&a)),
        Err(why) if why.is_undecided() => said(3, &format!("not decided: {why}")),
        Err(why) => said(1, &format!("rejected: {why}")),
    }
}

/// A certificate of states, or of a temporal formula.
fn states(model: &str, certificate: &str) -> ExitCode {
    let mut open = || File::open(certificate).map(BufReader::new);
    match with_large_stack(|| check_states(Path::new(model), &mut open, Effort::default())) {
        Ok(Ok(answer)) => said(if answer.accepted.relative.is_empty() { 0 } else { 3 }, &of_states(&answer)),
        Ok(Err(why)) if why.is_undecided() => said(3, &format!("not decided: {why}")),
        Ok(Err(why)) => said(1, &format!("rejected: {why}")),
        Err(e) => said(3, &format!("not decided: {e}")),
    }
}

fn of_states(answer: &AcceptedStates) -> String {
    let mut out = kanon_checker::said::text(&answer.accepted);
    if let Some((clauses, steps)) = answer.refuted {
        out += &format!(
            "\n  other valuations are refuted: {clauses} clauses, {steps} steps\n  believed: the encoder, which made \
             the formulas of PROPERTIES again"
        );
    }
    out
}

fn text(accepted: &Accepted) -> String {
    let Accepted { statement: s, questions, clauses, steps, relative } = accepted;
    let how = match s.formulas.as_ref().map(|f| f.argument) {
        Some(Argument::Invariant) | None => "by an inductive invariant".to_string(),
        Some(Argument::Induction(k)) => format!("by induction over paths, k = {k}"),
        Some(Argument::End(n)) => format!("because no path has {n} steps"),
    };
    let head = match relative {
        None => "accepted".to_string(),
        Some((_, solver)) => format!("accepted, relative to {solver}"),
    };
    let mut out = format!("{head}: {}\n  {}\n  {}\n", s.machine, claim(s), scope(s));
    out += &format!("  {how}: {questions} questions, {clauses} clauses, {steps} steps\n");
    if let Some((n, solver)) = relative {
        out += &format!("  believed: {solver}, which says that {n} of the questions have no model\n");
    }
    out += "  believed: the encoder, which made the formulas of the model again";
    out
}

/// Prints and ends. Where nothing can be printed, nobody was told.
fn said(code: u8, text: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::from(2),
    }
}
