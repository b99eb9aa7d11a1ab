//! Charts of a run, drawn in the colours of the page around them.

use crate::explore::search::Progress;
use crate::report::progress::grouped;
use crate::report::svg::{At, escape};
use std::fmt::Write;
use std::time::{Duration, Instant};

const WIDTH: f64 = 860.0;
/// Rows or columns that are drawn at most.
const MOST: usize = 60;

/// How far a run was at some times.
pub struct Samples {
    begun: Instant,
    last: Duration,
    pause: Duration,
    /// Seconds, states, open states.
    all: Vec<(f64, usize, usize)>,
}

impl Default for Samples {
    fn default() -> Samples {
        let pause = Duration::from_millis(5);
        Samples { begun: Instant::now(), last: Duration::ZERO, pause, all: vec![] }
    }
}

impl Samples {
    /// Samples that are kept at most: when there are more, every other one goes, and the next come half as often.
    const MOST: usize = 400;

    /// Looks at a run.
    pub fn add(&mut self, p: &Progress) {
        let now = self.begun.elapsed();
        if now.saturating_sub(self.last) < self.pause {
            return;
        }
        self.last = now;
        self.all.push((now.as_secs_f64(), p.states, p.open));
        if self.all.len() >= Samples::MOST {
            let mut keep = false;
            self.all.retain(|_| {
                keep = !keep;
                keep
            });
            self.pause *= 2;
        }
    }
}

fn begin(height: f64, title: &str) -> String {
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" \
         aria-label=\"{title}\">\n<title>{title}</title>\n",
        At(WIDTH),
        At(height)
    )
}

/// Names with numbers, as bars from left to right; nothing if there are none.
pub fn bars(all: &[(String, u64)], title: &str) -> Option<String> {
    const ROW: f64 = 26.0;
    const LEFT: f64 = 220.0;
    const NAME: usize = 28;
    let most = all.iter().map(|(_, n)| *n).max()?.max(1) as f64;
    let shown = &all[..all.len().min(MOST)];
    let mut out = begin(ROW * shown.len() as f64 + 16.0, title);
    for (i, (name, n)) in shown.iter().enumerate() {
        let y = 8.0 + ROW * i as f64;
        let width = (WIDTH - LEFT - 110.0) * *n as f64 / most;
        let name = match name.char_indices().nth(NAME) {
            Some((at, _)) => format!("{}…", &name[..at]),
            None => name.clone(),
        };
        let _ = writeln!(
            out,
            "<text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            At(LEFT - 12.0),
            At(y + 17.0),
            escape(&name)
        );
        let _ = writeln!(
            out,
            "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\"/>",
            At(LEFT),
            At(y + 4.0),
            At(width.max(if *n > 0 { 1.5 } else { 0.0 })),
            At(ROW - 8.0)
        );
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            At(LEFT + width + 8.0),
            At(y + 17.0),
            grouped(*n)
        );
    }
    out.push_str("</svg>\n");
    Some(out)
}

/// Numbers as columns from 0; nothing if there are fewer than two.
pub fn columns(all: &[u64], title: &str) -> Option<String> {
    const HEIGHT: f64 = 220.0;
    const LEFT: f64 = 60.0;
    if all.len() < 2 {
        return None;
    }
    // Several to a column where there are very many.
    let each = all.len().div_ceil(MOST);
    let sums: Vec<u64> = all.chunks(each).map(|c| c.iter().sum()).collect();
    let most = sums.iter().copied().max()?.max(1) as f64;
    let wide = (WIDTH - LEFT - 20.0) / sums.len() as f64;
    let floor = HEIGHT - 34.0;
    let mut out = begin(HEIGHT, title);
    for (i, n) in sums.iter().enumerate() {
        let height = (floor - 24.0) * *n as f64 / most;
        let _ = writeln!(
            out,
            "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"/>",
            At(LEFT + wide * i as f64 + wide * 0.1),
            At(floor - height),
            At((wide * 0.8).min(60.0)),
            At(height)
        );
    }
    axes(&mut out, (LEFT, floor), grouped(most as u64), (0.to_string(), (all.len() - 1).to_string()));
    out.push_str("</svg>\n");
    Some(out)
}

/// States and open states by time; nothing of a run that was too short.
pub fn curves(samples: &Samples) -> Option<String> {
    const HEIGHT: f64 = 240.0;
    const LEFT: f64 = 90.0;
    let all = &samples.all;
    let (first, last) = (all.first().filter(|_| all.len() > 2)?, all.last()?);
    let span = (last.0 - first.0).max(1e-9);
    let most = all.iter().map(|s| s.1.max(s.2)).max()?.max(1) as f64;
    let floor = HEIGHT - 34.0;
    let mut out = begin(HEIGHT, "States by time");
    for (class, pick) in [("curve", true), ("curve second", false)] {
        let mut path = String::new();
        for (i, (t, states, open)) in all.iter().enumerate() {
            let n = if pick { *states } else { *open } as f64;
            let (x, y) =
                (LEFT + (WIDTH - LEFT - 20.0) * (t - first.0) / span, floor - (floor - 24.0) * n / most);
            let _ = write!(path, "{}{} {}", if i == 0 { "M" } else { "L" }, At(x), At(y));
        }
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>");
    }
    let seconds = |t: f64| format!("{t:.2} s");
    axes(&mut out, (LEFT, floor), grouped(most as u64), (seconds(first.0), seconds(last.0)));
    out.push_str("</svg>\n");
    Some(out)
}

/// The two axes with their ends.
fn axes(out: &mut String, (left, floor): (f64, f64), top: String, (from, to): (String, String)) {
    let (x, y, right) = (At(left), At(floor), At(WIDTH - 16.0));
    let _ = writeln!(out, "<path class=\"axis\" d=\"M{x} 16V{y}H{right}\"/>");
    let mut text = |x: f64, y: f64, anchor: &str, text: &str| {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            At(x),
            At(y),
            escape(text)
        );
    };
    text(left - 8.0, 28.0, "end", &top);
    text(left - 8.0, floor + 4.0, "end", "0");
    text(left, floor + 20.0, "start", &from);
    text(WIDTH - 16.0, floor + 20.0, "end", &to);
}
