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
pub mod svg;
pub mod system;
pub mod text;

use std::io::{IsTerminal, Write};

/// Writes to standard output. A reader that has gone away is nobody's error.
pub fn out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Writes to standard error.
pub fn err(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Whether to colour what goes to standard error.
pub fn colour_err() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Whether to colour what goes to standard output.
pub fn colour_out() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
