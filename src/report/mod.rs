//! Answers made readable: the only room that decides how things look, and the only one that prints.

pub mod animated;
pub mod asserted;
pub mod cases;
pub mod chart;
pub mod compared;
mod coverage;
mod cut;
pub mod diagnostic;
pub mod dot;
pub mod drawing;
pub mod followed;
pub mod html;
pub mod json;
pub mod layout;
pub mod ltl;
pub mod other;
pub mod picture;
pub mod probcli;
pub mod progress;
pub mod project;
pub mod proved;
pub mod record;
pub mod refined;
pub mod simulated;
pub mod space;
pub mod svg;
pub mod symbolic;
pub mod system;
pub mod text;
pub mod typed;
pub mod version;

use serde_json::Value;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

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

/// Whether JSON is a line per event instead of one pretty object.
static STREAMED: AtomicBool = AtomicBool::new(false);

/// From here on JSON is a line per event.
pub fn stream() {
    STREAMED.store(true, Ordering::Relaxed);
}

/// Whether anybody reads events.
pub fn is_streamed() -> bool {
    STREAMED.load(Ordering::Relaxed)
}

/// The answer as JSON: the last thing that is said with `--json` or `--json-stream`.
pub fn answer(answer: Value) {
    let answer = json::versioned(answer);
    if is_streamed() {
        event("answer", &serde_json::json!({ "answer": answer }));
    } else {
        out(&format!("{answer:#}\n"));
    }
}

/// A line of `--json-stream`; nothing without it.
pub fn event(name: &str, fields: &Value) {
    if is_streamed() {
        let mut line = serde_json::json!({ "event": name });
        if let (Some(line), Some(fields)) = (line.as_object_mut(), fields.as_object()) {
            line.extend(fields.clone());
        }
        out(&format!("{line}\n"));
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

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set or the terminal calls itself dumb.
    #[default]
    Auto,
    Always,
    Never,
}

/// What [`set_colour`] was told: the place of a [`Colour`].
static COLOUR: AtomicU8 = AtomicU8::new(0);

/// Decides for the rest of the run.
pub fn set_colour(colour: Colour) {
    COLOUR.store(colour as u8, Ordering::Relaxed);
}

/// Whether to colour what goes to standard error.
pub fn colour_err() -> bool {
    is_colour_wanted(std::io::stderr().is_terminal())
}

/// Whether to colour what goes to standard output.
pub fn colour_out() -> bool {
    is_colour_wanted(std::io::stdout().is_terminal())
}

fn is_colour_wanted(is_terminal: bool) -> bool {
    match COLOUR.load(Ordering::Relaxed) {
        c if c == Colour::Always as u8 => true,
        c if c == Colour::Never as u8 => false,
        _ => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && !is_dumb(),
    }
}

/// A terminal that calls itself dumb shows control sequences as they are.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|t| t == "dumb")
}
