//! Graphs as SVG: a state graph as forces place it, an encoding in rows, one per layer.

use super::drawing::{Drawing, Edge, Look, Node};
use super::layout::{Vec2, places};
use super::svg::{AREAS, Anchor, At, CHARACTER, LINES, Svg, colour};
use std::collections::HashMap;

const MARGIN: f64 = 24.0;
const HEAD: f64 = 44.0;
const FONT: f64 = 12.0;
/// Longer names are cut.
const LONGEST: usize = 26;
/// More lines of a name are left out.
const MOST_LINES: usize = 8;
/// From one line of a name to the next.
const STEP: f64 = 15.0;
/// Longer notes are cut.
const LINE: usize = 110;

#[must_use]
pub fn svg(d: &Drawing) -> String {
    let (at, below) = if d.is_layered { rows(d) } else { free(d) };
    let sizes: Vec<Vec2> = d.nodes.iter().map(size).collect();
    let corners = at.iter().zip(&sizes);
    let right = corners.fold(0.0, |m, (p, s)| f64::max(m, p.x + s.x / 2.0)) + MARGIN;
    let said: Vec<String> = d.notes.iter().map(|n| cut(n, LINE)).collect();
    let legend: Vec<(bool, usize, &str)> = legend(d);
    let words = said.iter().chain(std::iter::once(&d.title)).map(|t| t.chars().count()).max().unwrap_or(0);
    let width = right.max(words as f64 * FONT * CHARACTER + 2.0 * MARGIN).max(320.0);
    let rows = legend_lines(&legend, width);
    let height = below + 18.0 * (rows.len() + said.len()) as f64 + MARGIN;
    let mut svg = Svg::new(width, height, &d.title);
    arrows(&mut svg, d.labels.len().min(LINES.len()));
    svg.text((MARGIN, 28.0), 15.0, Anchor::Start, "", &d.title);
    if d.is_layered {
        layer_names(&mut svg, d, &at, right);
    }
    edges(&mut svg, d, &at, &sizes);
    for ((n, p), s) in d.nodes.iter().zip(&at).zip(&sizes) {
        node(&mut svg, n, *p, *s);
    }
    let mut y = below;
    for line in rows {
        let mut x = MARGIN;
        for (is_edge, number, name) in line {
            swatch(&mut svg, *is_edge, *number, (x, y));
            svg.text((x + 24.0, y), 11.0, Anchor::Start, "dim", name);
            x += swatch_width(name);
        }
        y += 18.0;
    }
    for line in &said {
        svg.text((MARGIN, y), 11.0, Anchor::Start, "", line);
        y += 18.0;
    }
    svg.finish()
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// What is shown of a name.
fn lines(name: &str) -> Vec<String> {
    let mut all: Vec<String> = name.split('\n').take(MOST_LINES).map(|l| cut(l, LONGEST)).collect();
    if name.split('\n').count() > MOST_LINES {
        all.pop();
        all.push("…".into());
    }
    all
}

fn size(n: &Node) -> Vec2 {
    let lines = lines(&n.name);
    let characters = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    let width = characters as f64 * FONT * CHARACTER + 18.0;
    match n.colour {
        // Room for `colour 100`.
        Some(_) => Vec2::new(width.max(66.0), 36.0),
        None => Vec2::new(width.max(34.0), 26.0 + STEP * (lines.len() - 1) as f64),
    }
}

/// Places of a state graph, and where the picture ends below.
fn free(d: &Drawing) -> (Vec<Vec2>, f64) {
    let sizes: Vec<Vec2> = d.nodes.iter().map(size).collect();
    // The force of an edge counts once, however many labels it has.
    let mut pairs: Vec<(usize, usize)> =
        d.edges.iter().map(|e| (e.from.min(e.to), e.from.max(e.to))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.retain(|(a, b)| a != b);
    // Room for a loop above.
    let corner = Vec2::new(MARGIN + 20.0, HEAD + 30.0);
    let at: Vec<Vec2> = places(&sizes, &pairs).into_iter().map(|p| p.plus(corner)).collect();
    let below = at.iter().zip(&sizes).fold(HEAD, |m, (p, s)| f64::max(m, p.y + s.y / 2.0));
    (at, below + 44.0)
}

/// Places in rows, and where the picture ends below. Edges of a layer are arcs above its row.
fn rows(d: &Drawing) -> (Vec<Vec2>, f64) {
    let columns = d.nodes.iter().map(|n| n.column + 1).max().unwrap_or(0);
    let layers = d.nodes.iter().map(|n| n.layer + 1).max().unwrap_or(0);
    let mut widths = vec![0.0f64; columns];
    for n in &d.nodes {
        widths[n.column] = widths[n.column].max(size(n).x);
    }
    let names = d.labels.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    let mut x = MARGIN + names.min(LONGEST) as f64 * FONT * CHARACTER + 24.0;
    let mut xs = vec![];
    for w in &widths {
        xs.push(x + w / 2.0);
        x += w + 30.0;
    }
    let mut ys = vec![];
    let mut y = HEAD;
    for layer in 0..layers {
        let inside = d.edges.iter().filter(|e| e.label.is_some() && d.nodes[e.from].layer == layer);
        let reach = inside.map(|e| rise(d, e)).fold(16.0, f64::max);
        y += reach * 0.75 + 34.0;
        ys.push(y);
        y += 24.0;
    }
    let at = d.nodes.iter().map(|n| Vec2::new(xs[n.column], ys[n.layer])).collect();
    (at, y + 34.0)
}

/// How high the control points of an arc in a layer lie above its ends.
fn rise(d: &Drawing, e: &Edge) -> f64 {
    let far = d.nodes[e.from].column.abs_diff(d.nodes[e.to].column);
    (26.0 + 9.0 * far as f64).min(150.0)
}

fn layer_names(svg: &mut Svg, d: &Drawing, at: &[Vec2], right: f64) {
    for (layer, name) in d.labels.iter().enumerate() {
        let Some((p, _)) = at.iter().zip(&d.nodes).find(|(_, n)| n.layer == layer) else { continue };
        let (x, y, end) = (At(MARGIN), At(p.y + 26.0), At(right));
        svg.shape("path", format_args!("class=\"grid\" d=\"M{x} {y}H{end}\""));
        let style = format!("c{}", layer % LINES.len());
        svg.text((MARGIN, p.y + 4.0), FONT, Anchor::Start, &style, &cut(name, LONGEST));
    }
}

/// Colours of lines as classes, and the heads of arrows in them.
fn arrows(svg: &mut Svg, count: usize) {
    let mut text = String::from("<style>");
    for (i, c) in LINES.iter().enumerate().take(count) {
        text += &format!(".c{i}{{fill:{c}}}.e{i}{{stroke:{c};fill:none;stroke-width:1.5}}");
    }
    text += ".between{stroke:#6a737d;fill:none;stroke-width:1;stroke-dasharray:2 3}";
    text += "@media(prefers-color-scheme:dark){.between{stroke:#8b949e}}</style>\n<defs>";
    for i in 0..count {
        text += &format!(
            "<marker id=\"a{i}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto\"><path class=\"c{i}\" d=\"M0 0L8 4L0 8z\"/></marker>"
        );
    }
    svg.raw(&(text + "</defs>"));
}

fn node(svg: &mut Svg, n: &Node, p: Vec2, s: Vec2) {
    let (x, y, w, h) = (p.x - s.x / 2.0, p.y - s.y / 2.0, s.x, s.y);
    let round = match n.look {
        Look::Point => h / 2.0,
        Look::Nested => 8.0,
        Look::Root | Look::Value => 1.0,
    };
    let look = match n.look {
        Look::Root => " stroke-width=\"2.5\"",
        Look::Nested => " stroke-dasharray=\"4 2\"",
        Look::Point | Look::Value => "",
    };
    let (fill, line) = (colour(&AREAS, n.kind), colour(&LINES, n.kind));
    svg.shape(
        "rect",
        format_args!(
            "class=\"vertex\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{fill}\" stroke=\"{line}\"{look}",
            At(x), At(y), At(w), At(h), At(round)
        ),
    );
    match n.colour {
        None => {
            let lines = lines(&n.name);
            let first = p.y + 4.0 - STEP * (lines.len() - 1) as f64 / 2.0;
            for (i, line) in lines.iter().enumerate() {
                svg.text((p.x, first + STEP * i as f64), FONT, Anchor::Middle, "dark", line);
            }
        }
        Some(c) => {
            let name = cut(&n.name.replace('\n', " "), LONGEST);
            svg.text((p.x, p.y - 2.0), FONT, Anchor::Middle, "dark", &name);
            svg.text((p.x, p.y + 11.0), 9.5, Anchor::Middle, "dark", &format!("colour {c}"));
        }
    }
}

fn edges(svg: &mut Svg, d: &Drawing, at: &[Vec2], sizes: &[Vec2]) {
    // How many there were already between two vertices.
    let mut between: HashMap<(usize, usize), usize> = HashMap::new();
    let mut parallel: HashMap<(usize, usize), f64> = HashMap::new();
    for e in &d.edges {
        *parallel.entry((e.from.min(e.to), e.from.max(e.to))).or_default() += 1.0;
    }
    for e in &d.edges {
        let (a, b) = (at[e.from], at[e.to]);
        match e.label {
            None => {
                // Next to each other: straight. Else around the layers between.
                let far = d.nodes[e.from].layer.abs_diff(d.nodes[e.to].layer) as f64 - 1.0;
                let x = a.x + sizes[e.from].x / 2.0 * f64::from(u8::from(far > 0.0)) * 0.6 + 9.0 * far;
                let (from, to) = (a.y + sizes[e.from].y / 2.0, b.y - sizes[e.to].y / 2.0);
                let path = if far > 0.0 {
                    format!(
                        "M{0} {1}C{2} {1} {2} {3} {0} {3}",
                        At(a.x + sizes[e.from].x / 4.0),
                        At(from),
                        At(x + 14.0),
                        At(to)
                    )
                } else {
                    format!("M{0} {1}V{2}", At(a.x), At(from), At(to))
                };
                svg.shape("path", format_args!("class=\"between\" d=\"{path}\""));
            }
            Some(l) if d.is_layered => {
                let up = rise(d, e);
                let top = |p: Vec2, s: Vec2, x: f64| (At(p.x + x), At(p.y - s.y / 2.0));
                // A loop needs two ends; otherwise what comes and what goes are a little apart.
                let out = if e.from == e.to { -9.0 } else { 4.0 };
                let ((x1, y1), (x2, y2)) = (top(a, sizes[e.from], out), top(b, sizes[e.to], -out));
                let (above, back) =
                    (At(a.y - sizes[e.from].y / 2.0 - up), if e.from == e.to { 14.0 } else { 0.0 });
                let (c1, c2) = (At(a.x + out - back), At(b.x - out + back));
                arrow(svg, l, &format!("M{x1} {y1}C{c1} {above} {c2} {above} {x2} {y2}"));
            }
            Some(l) if e.from == e.to => {
                let n = between.entry((e.from, e.to)).or_default();
                let (y, up) = (a.y - sizes[e.from].y / 2.0, 34.0 + 16.0 * *n as f64);
                *n += 1;
                let xs = [a.x - 8.0, a.x - 8.0 - up / 1.6, a.x + 8.0 + up / 1.6, a.x + 8.0].map(At);
                let (y, top) = (At(y), At(y - up));
                arrow(svg, l, &format!("M{} {y}C{} {top} {} {top} {} {y}", xs[0], xs[1], xs[2], xs[3]));
                name(svg, d, l, Vec2::new(a.x, a.y - sizes[e.from].y / 2.0 - up * 0.75));
            }
            Some(l) => {
                let pair = (e.from.min(e.to), e.from.max(e.to));
                let n = between.entry(pair).or_default();
                // Side by side; seen from the smaller vertex, whichever way an edge leads.
                let side = *n as f64 - (parallel[&pair] - 1.0) / 2.0;
                *n += 1;
                let along = at[pair.1].minus(at[pair.0]);
                let length = along.length().max(1.0);
                let across = Vec2::new(-along.y / length, along.x / length);
                let bend = a.plus(b).times(0.5).plus(across.times(52.0 * side));
                let (from, to) = (border(a, sizes[e.from], bend), border(b, sizes[e.to], bend));
                let path = format!(
                    "M{} {}Q{} {} {} {}",
                    At(from.x),
                    At(from.y),
                    At(bend.x),
                    At(bend.y),
                    At(to.x),
                    At(to.y)
                );
                arrow(svg, l, &path);
                // Names not beside each other.
                let t = (0.5 + 0.14 * side).clamp(0.2, 0.8);
                let (x, y) = if pair.0 == e.from { (from, to) } else { (to, from) };
                let p =
                    x.times((1.0 - t) * (1.0 - t)).plus(bend.times(2.0 * t * (1.0 - t))).plus(y.times(t * t));
                name(svg, d, l, p);
            }
        }
    }
}

fn arrow(svg: &mut Svg, label: usize, path: &str) {
    let c = label % LINES.len();
    svg.shape("path", format_args!("class=\"e{c}\" marker-end=\"url(#a{c})\" d=\"{path}\""));
}

fn name(svg: &mut Svg, d: &Drawing, label: usize, p: Vec2) {
    let class = format!("halo c{}", label % LINES.len());
    svg.text((p.x, p.y + 4.0), 11.0, Anchor::Middle, &class, &cut(&d.labels[label], LONGEST));
}

/// Where the line from the middle of a box to a place leaves the box.
fn border(middle: Vec2, size: Vec2, to: Vec2) -> Vec2 {
    let d = to.minus(middle);
    let (w, h) = (size.x / 2.0 + 1.0, size.y / 2.0 + 1.0);
    let k = (w / d.x.abs().max(1e-9)).min(h / d.y.abs().max(1e-9)).min(1.0);
    middle.plus(d.times(k))
}

/// Whether it is an edge, its number, and its name.
fn legend(d: &Drawing) -> Vec<(bool, usize, &str)> {
    let kinds = d.kinds.iter().enumerate().filter(|(_, k)| *k != "root");
    let edges = d.labels.iter().enumerate();
    let kinds = kinds.map(|(i, name)| (false, i, &**name));
    kinds.chain(edges.map(|(i, name)| (true, i, &**name))).collect()
}

fn swatch_width(name: &str) -> f64 {
    name.chars().count() as f64 * 11.0 * CHARACTER + 40.0
}

fn legend_lines<'l, 'd>(
    legend: &'l [(bool, usize, &'d str)],
    width: f64,
) -> Vec<&'l [(bool, usize, &'d str)]> {
    let mut lines = vec![];
    let (mut first, mut x) = (0, MARGIN);
    for (i, (_, _, name)) in legend.iter().enumerate() {
        let w = swatch_width(name);
        if x + w > width && i > first {
            lines.push(&legend[first..i]);
            (first, x) = (i, MARGIN);
        }
        x += w;
    }
    if first < legend.len() {
        lines.push(&legend[first..]);
    }
    lines
}

fn swatch(svg: &mut Svg, is_edge: bool, number: usize, (x, y): (f64, f64)) {
    let line = colour(&LINES, number);
    if is_edge {
        let (x, y) = (At(x), At(y - 4.0));
        svg.shape("path", format_args!("d=\"M{x} {y}h18\" stroke=\"{line}\" stroke-width=\"2.5\""));
    } else {
        let (x, y, fill) = (At(x + 2.0), At(y - 9.0), colour(&AREAS, number));
        svg.shape(
            "rect",
            format_args!(
                "x=\"{x}\" y=\"{y}\" width=\"14\" height=\"11\" rx=\"2\" fill=\"{fill}\" stroke=\"{line}\""
            ),
        );
    }
}
