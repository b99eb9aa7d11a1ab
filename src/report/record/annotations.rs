//! Lines that GitHub's runners show beside the source: `::error file=…,line=…::message`.
//!
//! They are commands to the runner, so nothing of a model may end one or begin another: percent signs, line ends and, in
//! properties, colons and commas are written as the runner decodes them.

use super::{Outcome, Record, Spot};
use crate::lang::diag::Severity;

pub fn annotations(record: &Record) -> String {
    let mut out = String::new();
    for m in &record.remarks {
        let level = match m.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        line(&mut out, level, m.place.as_ref(), &record.file, m.code, &m.message);
    }
    for c in &record.claims {
        let (level, message) = match &c.outcome {
            Outcome::Fails(message) => ("error", message),
            // No answer is not a pass.
            Outcome::Unknown(message) => ("warning", message),
            Outcome::Holds | Outcome::Skipped(_) => continue,
        };
        let mut text = message.clone();
        for more in c.steps.iter().chain(&c.why) {
            text.push('\n');
            text.push_str(more);
        }
        line(&mut out, level, c.place.as_ref(), &record.file, &c.name, &text);
    }
    out
}

fn line(out: &mut String, level: &str, spot: Option<&Spot>, file: &str, title: &str, message: &str) {
    let place = match spot {
        Some(s) => format!(
            "file={},line={},endLine={},col={},endColumn={}",
            property(&s.file),
            s.line,
            s.end_line,
            s.column,
            s.end_column
        ),
        None => format!("file={}", property(file)),
    };
    out.push_str(&format!("::{level} {place},title={}::{}\n", property(title), data(message)));
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
