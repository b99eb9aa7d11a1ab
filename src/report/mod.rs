//! Answers made readable: the only room that decides how things look, and the only one that prints.

pub mod chart;
pub mod compared;
pub mod diagnostic;
pub mod dot;
pub mod drawing;
pub mod json;
pub mod layout;
pub mod ltl;
pub mod picture;
pub mod progress;
pub mod proved;
pub mod refined;
pub mod svg;
pub mod symbolic;
pub mod system;
pub mod text;

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::Mutex;

/// Why standard output could not be written, if it could not.
static UNWRITTEN: Mutex<Option<String>> = Mutex::new(None);

/// Writes to standard output. A reader that has gone away is nobody's error; any other is remembered.
pub fn out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if let Err(e) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        && e.kind() != ErrorKind::BrokenPipe
        && let Ok(mut why) = UNWRITTEN.lock()
    {
        *why = Some(e.to_string());
    }
}

/// Why something that was to go to standard output is not there.
pub fn unwritten() -> Option<String> {
    UNWRITTEN.lock().ok().and_then(|why| why.clone())
}

/// Writes to standard error.
pub fn err(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Whether to colour what goes to standard error.
pub fn colour_err() -> bool {
    std::io::stderr().is_terminal() && is_colour_wanted()
}

/// Whether to colour what goes to standard output.
pub fn colour_out() -> bool {
    std::io::stdout().is_terminal() && is_colour_wanted()
}

fn is_colour_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && !is_dumb()
}

/// A terminal that calls itself dumb shows control sequences as they are.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|t| t == "dumb")
}
