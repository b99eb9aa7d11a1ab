//! JUnit's XML, which build servers read: a suite per run, a test case per claim.
//!
//! What fails is a `failure`, what has no answer an `error`, what was not looked at to the end `skipped`; errors of the
//! model are an `error` of a test case of their own, so that a file that cannot be read is never a green suite.

use super::{Claim, Outcome, Record, Remark, Spot};
use crate::lang::diag::Severity;
use std::fmt::Write;

pub fn junit(records: &[Record]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kanon\">\n");
    for record in records {
        suite(&mut out, record);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, r: &Record) {
    let errors: Vec<&Remark> = r.remarks.iter().filter(|m| m.severity == Severity::Error).collect();
    let count = |test: fn(&Outcome) -> bool| r.claims.iter().filter(|c| test(&c.outcome)).count();
    let seconds = r.claims.iter().map(|c| c.seconds).fold(0.0, f64::max);
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" file=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" \
         time=\"{seconds:.3}\">",
        escaped(&r.name),
        escaped(&r.file),
        r.claims.len() + errors.len(),
        count(|o| matches!(o, Outcome::Fails(_))),
        count(|o| matches!(o, Outcome::Unknown(_))) + errors.len(),
        count(|o| matches!(o, Outcome::Skipped(_))),
    );
    for remark in errors {
        case(out, &r.name, "the model can be read", 0.0);
        let at = remark.place.as_ref().map(at).unwrap_or_default();
        let _ = writeln!(
            out,
            "      <error type=\"{}\" message=\"{}\">{}</error>\n    </testcase>",
            escaped(remark.code),
            escaped(&remark.message),
            escaped(&at),
        );
    }
    for claim in &r.claims {
        case(out, &r.name, &claim.name, claim.seconds);
        outcome(out, claim);
        out.push_str("    </testcase>\n");
    }
    let said = r.remarks.iter().filter(|m| m.severity != Severity::Error);
    let said: Vec<String> = said.map(said_at).chain(r.notes.iter().map(|n| format!("note: {n}"))).collect();
    if !said.is_empty() {
        let _ = writeln!(out, "    <system-out>{}</system-out>", escaped(&said.join("\n")));
    }
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, class: &str, name: &str, seconds: f64) {
    let _ = writeln!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\">",
        escaped(class),
        escaped(name)
    );
}

fn outcome(out: &mut String, claim: &Claim) {
    let (tag, message) = match &claim.outcome {
        Outcome::Holds => return,
        Outcome::Fails(message) => ("failure", message),
        Outcome::Unknown(message) => ("error", message),
        Outcome::Skipped(message) => {
            let _ = writeln!(out, "      <skipped message=\"{}\"/>", escaped(message));
            return;
        }
    };
    let mut body: Vec<String> = claim.place.iter().map(at).collect();
    body.extend(claim.steps.iter().enumerate().map(|(i, s)| format!("{:>4}  {s}", i + 1)));
    body.extend(claim.why.iter().cloned());
    let _ = writeln!(
        out,
        "      <{tag} type=\"{}\" message=\"{}\">{}</{tag}>",
        claim.rule,
        escaped(message),
        escaped(&body.join("\n"))
    );
}

fn at(spot: &Spot) -> String {
    format!("{}:{}:{}", spot.file, spot.line, spot.column)
}

fn said_at(remark: &Remark) -> String {
    let place = remark.place.as_ref().map_or(String::new(), |s| format!("{}: ", at(s)));
    format!("{place}{}: {}", remark.code, remark.message)
}

/// Text as XML has it; characters that it cannot have become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // In attributes a reader would make spaces of these.
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
