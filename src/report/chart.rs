//! The times of all strategies as bars, on a logarithmic scale.

use super::svg::{AREAS, Anchor, At, LINES, Svg, colour};
use crate::run::compare::{Compared, Ran};
use crate::run::numbers::plural;

const LEFT: f64 = 90.0;
const WIDTH: f64 = 380.0;
const RIGHT: f64 = 320.0;
const TOP: f64 = 64.0;
const ROW: f64 = 30.0;

/// Decades that the axis shows: the times lie between 10^lowest and 10^highest.
struct Axis {
    lowest: i32,
    highest: i32,
}

impl Axis {
    fn of(runs: &[Ran]) -> Axis {
        let decades = runs.iter().map(|r| r.seconds.max(1e-7).log10());
        let lowest = decades.clone().fold(f64::INFINITY, f64::min);
        let highest = decades.fold(f64::NEG_INFINITY, f64::max);
        if lowest > highest {
            return Axis { lowest: -3, highest: 0 };
        }
        // The shortest bar can be seen too.
        let lowest = (lowest - 0.05).floor() as i32;
        Axis { lowest, highest: (highest.ceil() as i32).max(lowest + 1) }
    }

    fn x(&self, seconds: f64) -> f64 {
        let span = f64::from(self.highest - self.lowest);
        LEFT + WIDTH * (seconds.max(1e-7).log10() - f64::from(self.lowest)) / span
    }
}

fn decade(d: i32) -> String {
    let (unit, below) = match d {
        ..=-4 => ("µs", -6),
        -3..=-1 => ("ms", -3),
        _ => ("s", 0),
    };
    format!("{} {unit}", 10f64.powi(d - below))
}

#[must_use]
pub fn svg(c: &Compared) -> String {
    let axis = Axis::of(&c.runs);
    let bottom = TOP + ROW * c.runs.len() as f64;
    let (width, height) = (LEFT + WIDTH + RIGHT, bottom + 44.0);
    let mut svg = Svg::new(width, height, &format!("{}: time by symmetry strategy", c.machine));
    let sets: Vec<String> = c.permuted.iter().map(ToString::to_string).collect();
    let what =
        if sets.is_empty() { "nothing to permute".into() } else { format!("permuted: {}", sets.join(", ")) };
    svg.text((14.0, 26.0), 15.0, Anchor::Start, "", &c.machine);
    svg.text((14.0, 46.0), 12.0, Anchor::Start, "dim", &what);
    for d in axis.lowest..=axis.highest {
        let x = axis.x(10f64.powi(d));
        svg.shape(
            "path",
            format_args!("class=\"grid\" d=\"M{0} {1}V{2}\"", At(x), At(TOP - 4.0), At(bottom + 4.0)),
        );
        svg.text((x, bottom + 20.0), 11.0, Anchor::Middle, "dim", &decade(d));
    }
    svg.text((LEFT + WIDTH / 2.0, bottom + 37.0), 11.0, Anchor::Middle, "dim", "time, logarithmic");
    for (i, r) in c.runs.iter().enumerate() {
        let y = TOP + ROW * i as f64;
        svg.text((LEFT - 10.0, y + 19.0), 13.0, Anchor::End, "", r.strategy.name());
        bar(&mut svg, &axis, c, i, r, y);
    }
    svg.finish()
}

fn bar(svg: &mut Svg, axis: &Axis, c: &Compared, i: usize, r: &Ran, y: f64) {
    let end = axis.x(r.seconds).max(LEFT + 2.0);
    let (fill, line) = (colour(&AREAS, i), colour(&LINES, i));
    // What did not finish would be longer, and is not filled.
    let look = if r.finished {
        format!("fill=\"{fill}\" stroke=\"{line}\"")
    } else {
        format!("fill=\"none\" stroke=\"{line}\" stroke-dasharray=\"5 3\"")
    };
    let (x, top, w, h) = (At(LEFT), At(y + 4.0), At(end - LEFT), At(ROW - 8.0));
    svg.shape("rect", format_args!("x=\"{x}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" rx=\"2\" {look}"));
    let states = plural(r.states, "state");
    let said = match c.speedup(r) {
        Some(_) if c.baseline().is_some_and(|b| b.strategy == r.strategy) => {
            format!("{}, {states}", time(r.seconds))
        }
        Some(x) => {
            let factor = if x < 10.0 { format!("{x:.1}") } else { format!("{x:.0}") };
            format!("{}, {states}, × {factor}", time(r.seconds))
        }
        None => format!("not finished after {}, {states}", time(r.seconds)),
    };
    svg.text((end + 8.0, y + 19.0), 12.0, Anchor::Start, "halo", &said);
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_have_names() {
        let names: Vec<String> = (-5..=2).map(decade).collect();
        assert_eq!(names, ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"]);
    }
}
