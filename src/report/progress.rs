//! The line that moves while states are explored, and the same as events of `--json-stream`.

use crate::explore::search::Progress;
pub use crate::run::numbers::grouped;
use serde_json::json;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Prints on a terminal, or for a program that reads events, a few times a second.
pub struct Line {
    on: bool,
    start: Instant,
    last: Instant,
    last_states: usize,
    shown: bool,
}

const PAUSE: Duration = Duration::from_millis(200);

impl Line {
    pub fn new() -> Line {
        let now = Instant::now();
        Line {
            on: super::is_streamed() || std::io::stderr().is_terminal() && !super::is_dumb(),
            start: now,
            last: now,
            last_states: 0,
            shown: false,
        }
    }

    pub fn show(&mut self, p: &Progress) {
        if !self.on {
            return;
        }
        let now = Instant::now();
        let passed = now - self.last;
        if passed < PAUSE {
            return;
        }
        if super::is_streamed() {
            self.last = now;
            return self.tell(p, now);
        }
        let rate = (p.states - self.last_states.min(p.states)) as f64 / passed.as_secs_f64();
        let depth = p.depth().map_or(String::new(), |d| format!(", depth {d}"));
        let memory = resident().unwrap_or(p.bytes) as f64 / f64::from(1 << 20);
        let line = format!(
            "\r\x1b[2K{:.0} s: {} states ({}/s), {} open{depth}, {} transitions, {memory:.0} MiB",
            (now - self.start).as_secs_f64(),
            grouped(p.states as u64),
            grouped(rate as u64),
            grouped(p.open as u64),
            grouped(p.transitions),
        );
        super::err(&line);
        (self.last, self.last_states, self.shown) = (now, p.states, true);
    }

    fn tell(&self, p: &Progress, now: Instant) {
        let fields = json!({
            "seconds": (now - self.start).as_secs_f64(),
            "states": p.states,
            "open": p.open,
            "transitions": p.transitions,
            "depth": p.depth(),
            "bytes": resident().unwrap_or(p.bytes),
        });
        super::event("progress", &fields);
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            super::err("\r\x1b[2K");
        }
    }
}

impl Default for Line {
    fn default() -> Self {
        Line::new()
    }
}

/// The memory of this process, where the system tells.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|l| l.starts_with("VmRSS:"))?;
    let kib: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_in_groups() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1 000"), (1234567, "1 234 567")] {
            assert_eq!(super::grouped(n), text);
        }
    }
}
