//! `check --report FILE`: the answer as one page to send or to print. It is read by browsers with scripts switched off and
//! fetches nothing; it is also well-formed XML. Whatever comes from a model or a file is escaped, here and nowhere else.

mod plot;

use super::progress::grouped;
use super::svg::escape;
use super::{coverage, space, text};
use crate::animate::Graph;
use crate::lang::diag::{FileId, Span};
use crate::model::open::Opened;
use crate::run::answer::{Checked, Counterexample, Decision};
use crate::run::ltl::Answered;
use crate::run::numbers::plural;
use crate::run::refine::Refined;
use crate::symmetry::Strategy;
use crate::trace::explain::{NO_VALUE, Part, PartKind};
use crate::trace::{self, Trace};
pub use plot::Samples;
use std::fmt::Write;

/// Longer traces are cut in the middle; a file of the trace has all.
const MAX_STEPS: usize = 400;

/// Sources larger than this are named, not shown.
const MAX_SOURCE: usize = 200_000;

/// What a report is made of.
pub struct Report<'a> {
    /// The model, as it was read.
    pub opened: &'a Opened,
    /// How many texts were read for it.
    pub texts: usize,
    /// The answer about states.
    pub checked: &'a Checked,
    /// Temporal formulas that were checked as well.
    pub formulas: &'a [Answered],
    /// The comparison with an abstraction.
    pub refined: Option<&'a Refined>,
    /// How far the run was, and when.
    pub samples: &'a Samples,
    /// All states, if they are few.
    pub graph: Option<&'a Graph>,
    /// What was typed.
    pub command: &'a str,
}

/// The page.
pub fn page(r: &Report) -> String {
    let name = escape(&r.opened.model.name);
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n");
    out.push_str("<meta charset=\"utf-8\"/>\n");
    // Nothing runs and nothing is fetched, whatever a model has made of its names.
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
    );
    let word = overall(r).0.name();
    let _ = writeln!(
        out,
        "<title>{name}: {word} (kanon)</title>\n<style>\n{}</style>\n</head>",
        include_str!("page.css")
    );
    out.push_str("<body>\n");
    header(&mut out, r);
    out.push_str("<main>\n");
    rests(&mut out, r);
    if let Some(f) = &r.checked.finding {
        finding(&mut out, f, r.opened);
    }
    formulas(&mut out, r);
    refinement(&mut out, r);
    covered(&mut out, r);
    run(&mut out, r);
    reproduce(&mut out, r);
    // The largest comes last: on paper it would leave half a page empty before what follows.
    pictures(&mut out, r);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The verdict on everything that was asked, as the exit code has it, and why, if it is not that on the states.
fn overall(r: &Report) -> (Decision, Option<String>) {
    let formulas = r.formulas.iter().map(|f| (f.verdict, format!("the formula {}", f.text)));
    let refined = r.refined.map(|a| (a.verdict, "the refinement".to_string()));
    let others: Vec<(Decision, String)> = formulas.chain(refined).collect();
    let find = |wanted: Decision| others.iter().filter(move |(v, _)| *v == wanted).map(|(_, what)| &**what);
    for (wanted, word) in [(Decision::Fails, "fails"), (Decision::Unknown, "is not decided")] {
        if r.checked.verdict == wanted {
            break;
        }
        let all: Vec<&str> = find(wanted).collect();
        match &all[..] {
            [] => {}
            [one] => return (wanted, Some(format!("{one} {word}"))),
            [first, rest @ ..] => {
                let word = if wanted == Decision::Fails { "fail" } else { "are not decided" };
                return (wanted, Some(format!("{first} and {} {word}", plural(rest.len() as u64, "other"))));
            }
        }
    }
    (r.checked.verdict, None)
}

fn header(out: &mut String, r: &Report) {
    let c = r.checked;
    let (verdict, why) = overall(r);
    let is_goal = c.finding.as_ref().is_some_and(|f| f.kind == "goal");
    let word = match c.verdict {
        Decision::Fails if is_goal => "the goal is reached",
        _ => verdict.name(),
    };
    let _ = write!(
        out,
        "<header>\n<h1>{}</h1>\n<span class=\"verdict {}\">{word}</span>\n",
        escape(&r.opened.model.name),
        verdict.name()
    );
    let reason = match (why.as_ref().or(c.reason.as_ref()), c.verdict) {
        (Some(reason), _) => escape(reason),
        (None, Decision::Holds) => "Every reachable state was explored, and nothing was found.".to_string(),
        (None, _) => String::new(),
    };
    let _ = writeln!(out, "<p class=\"reason\">{reason}</p>");
    let _ = writeln!(out, "<p class=\"about\">Checked by kanon {}</p>\n</header>", env!("CARGO_PKG_VERSION"));
}

fn list(out: &mut String, items: impl IntoIterator<Item = String>) {
    out.push_str("<ul>\n");
    for item in items {
        let _ = writeln!(out, "<li>{}</li>", escape(&item));
    }
    out.push_str("</ul>\n");
}

/// What the answer is about and what it rests on.
fn rests(out: &mut String, r: &Report) {
    let (c, n) = (r.checked, &r.checked.counts);
    out.push_str("<section>\n<h2>What the answer is about</h2>\n<div class=\"facts\">\n");
    let mut fact = |value: String, what: &str| {
        let _ = writeln!(out, "<div><b>{value}</b><span>{what}</span></div>");
    };
    fact(grouped(n.states as u64), "states");
    fact(grouped(n.transitions), "transitions");
    if c.constants > 0 {
        fact(grouped(c.constants as u64), "valuations of the constants");
    }
    for (count, what) in [
        (n.deadlocks, "deadlocks"),
        (n.violations, "states that break the invariant"),
        (n.assertion_failures, "assertion failures"),
        (n.goals, "goal states"),
        (n.wd_errors, "terms without a value"),
        (n.open as u64, "states not explored"),
    ] {
        if count > 0 {
            fact(grouped(count), what);
        }
    }
    fact(format!("{:.3} s", c.seconds), "search");
    out.push_str("</div>\n");
    let opened = r.opened;
    let sizes =
        opened.model.sets.iter().zip(&opened.scope.card).map(|(s, n)| format!("card({}) = {n}", s.name));
    let scope = sizes.chain([format!("MININT..MAXINT = {}..{}", opened.scope.minint, opened.scope.maxint)]);
    let mut items = vec![scope.collect::<Vec<_>>().join(", ")];
    items.push(match c.complete {
        true => "Every reachable state was explored, or one that is symmetric to it.".to_string(),
        false => "Not every reachable state was explored.".to_string(),
    });
    if let Some(reduction) = c.reduction.as_ref().filter(|r| r.strategy != Strategy::Off) {
        let sets: Vec<String> =
            reduction.group.permuted_sets(&opened.model).iter().map(ToString::to_string).collect();
        items.push(format!("Symmetry: one state per orbit of {} ({})", sets.join(", "), reduction.strategy));
    }
    if let Some(a) = &c.audit {
        let word = if a.report.broken.is_some() { "a clause is broken" } else { "no clause is broken" };
        items.push(format!("Audit: {} clauses were executed: {word}", a.report.clauses.len()));
    }
    if !c.rests_on.is_empty() {
        items.push(format!("Rests on proofs in the file: {}", c.rests_on.join(", ")));
    }
    match &c.certificate {
        Some(Ok(path)) => items.push(format!("Certificate: {}", path.display())),
        Some(Err(why)) => items.push(format!("Certificate: {why}")),
        None => {}
    }
    items.extend(c.notes.iter().cloned());
    list(out, items);
    let warnings: Vec<String> =
        opened.warnings.iter().chain(&c.warnings).map(|d| format!("{}: {}", d.code, d.message)).collect();
    if !warnings.is_empty() {
        out.push_str("<h3>Warnings</h3>\n");
        list(out, warnings);
    }
    out.push_str("</section>\n");
}

fn finding(out: &mut String, f: &Counterexample, opened: &Opened) {
    out.push_str("<section>\n<h2>What was found</h2>\n");
    let _ = writeln!(out, "<p>{}</p>", escape(&f.message));
    if let Some(p) = &f.place {
        let label = p.label.as_ref().map_or(String::new(), |l| format!(" ({})", escape(l)));
        let _ = writeln!(out, "<pre>{}</pre>", escape(opened.sources.text(p.span)));
        let _ = writeln!(out, "<p class=\"small\">{}, line {}{label}</p>", escape(&p.file), p.line);
    }
    if let Some(op) = &f.operation {
        let values: Vec<String> = f.parameters.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let with = if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
        let _ = writeln!(out, "<p>in <code>{}</code></p>", escape(&format!("{op}{with}")));
    }
    if !f.why.is_empty() {
        out.push_str("<h3>Why</h3>\n");
        why(out, &f.why);
    }
    out.push_str("<h3>How it happens</h3>\n");
    steps(out, &f.trace, None, opened);
    out.push_str("</section>\n");
}

/// Parts with their values, indented as they depend on each other.
fn why(out: &mut String, parts: &[Part]) {
    out.push_str("<ul class=\"why\">\n");
    for p in parts {
        let (text, value) = (escape(&p.text), escape(&p.value));
        let line = match p.kind {
            PartKind::Value if p.value == NO_VALUE => format!("<code>{text}</code> {NO_VALUE}"),
            PartKind::Value => format!("<code>{text} = {value}</code>"),
            PartKind::Witness => format!("for <code>{text} = {value}</code>:"),
            PartKind::Note if p.value.is_empty() => text,
            PartKind::Note => format!("{text}: {value}"),
        };
        let _ = writeln!(out, "<li style=\"padding-left: {}rem\">{line}</li>", p.depth as f32 * 1.25);
    }
    out.push_str("</ul>\n");
}

/// A trace as a table: what changes is marked.
fn steps(out: &mut String, t: &Trace, back: Option<usize>, opened: &Opened) {
    let model = &opened.model;
    let constants = trace::constants(t, model);
    if !constants.is_empty() {
        let all: Vec<String> = constants.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let _ = writeln!(out, "<p>Constants: <code>{}</code></p>", escape(&all.join(", ")));
    }
    if t.steps.is_empty() {
        return;
    }
    out.push_str("<table>\n<thead><tr><th class=\"number\">Step</th><th>Operation</th><th>State after it</th></tr></thead>\n<tbody>\n");
    let mut left_out = 0;
    for (i, step) in t.steps.iter().enumerate() {
        if t.steps.len() > MAX_STEPS && (MAX_STEPS / 2..t.steps.len() - MAX_STEPS / 2).contains(&i) {
            left_out += 1;
            continue;
        }
        if std::mem::take(&mut left_out) > 0 {
            let n = t.steps.len() - MAX_STEPS;
            let _ = writeln!(out, "<tr><td></td><td colspan=\"2\">… {n} steps are not shown …</td></tr>");
        }
        let before = (i > 0).then(|| &t.steps[i - 1].state);
        let values =
            trace::variables(&step.state, model).into_iter().enumerate().map(|(v, (name, value))| {
                let is_new = before.is_some_and(|b| b.get(v) != step.state.get(v));
                let text = escape(&format!("{name} = {value}"));
                if is_new { format!("<b class=\"changed\">{text}</b>") } else { text }
            });
        let values: Vec<String> = values.collect();
        let repeats = back.filter(|b| i + 1 == t.steps.len() && *b < i);
        let repeats =
            repeats.map_or(String::new(), |b| format!(" (state {} again, and so on for ever)", b + 1));
        let _ = writeln!(
            out,
            "<tr><td class=\"number\">{}</td><td><code>{}</code>{repeats}</td><td class=\"value\">{}</td></tr>",
            i + 1,
            escape(&text::call(step, model)),
            values.join("<br/>"),
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

fn formulas(out: &mut String, r: &Report) {
    if r.formulas.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>Temporal formulas</h2>\n");
    for f in r.formulas {
        let word = f.verdict.name();
        let _ =
            writeln!(out, "<h3><code>{}</code> <span class=\"{word}\">{word}</span></h3>", escape(&f.text));
        let said = f.reason.iter().cloned().chain(f.notes.iter().cloned());
        list(out, said.chain(f.vacuous.iter().flatten().map(ToString::to_string)));
        if let Some(found) = &f.finding {
            steps(out, &found.trace, found.back, r.opened);
        }
    }
    out.push_str("</section>\n");
}

fn refinement(out: &mut String, r: &Report) {
    let Some(refined) = r.refined else { return };
    let word = refined.verdict.name();
    let _ = writeln!(out, "<section>\n<h2>Refinement: <span class=\"{word}\">{word}</span></h2>");
    list(out, refined.reason.iter().cloned());
    out.push_str("</section>\n");
}

fn covered(out: &mut String, r: &Report) {
    let Some(c) = &r.checked.coverage else { return };
    let of = if c.up_to_symmetry { " (of whole orbits)" } else { "" };
    let _ = writeln!(out, "<section>\n<h2>Coverage{of}</h2>");
    let lines = coverage::lines(c);
    match lines.is_empty() {
        true => out.push_str("<p>Every operation fires. Nothing else is to be said.</p>\n"),
        false => list(out, lines),
    }
    out.push_str("</section>\n");
}

/// Charts of the run.
fn run(out: &mut String, r: &Report) {
    out.push_str("<section>\n<h2>The run</h2>\n");
    let operations: Vec<(String, u64)> =
        r.checked.operations.iter().map(|(n, count)| (n.to_string(), *count)).collect();
    let mut figure = |svg: Option<String>, caption: &str| {
        if let Some(svg) = svg {
            let _ = writeln!(out, "<figure>\n{svg}<figcaption>{caption}</figcaption>\n</figure>");
        }
    };
    figure(plot::bars(&operations, "Transitions by operation"), "Transitions by operation");
    figure(
        plot::columns(&r.checked.depths, "States by distance"),
        "States by the number of steps from INITIALISATION",
    );
    figure(plot::curves(r.samples), "States stored, and states still open, by seconds");
    let _ = writeln!(
        out,
        "<p class=\"small\">{} in {:.3} s, {} bytes for the store; {:.3} s in total.</p>\n</section>",
        plural(r.checked.counts.states as u64, "state"),
        r.checked.seconds,
        grouped(r.checked.bytes as u64),
        r.checked.total_seconds
    );
}

fn pictures(out: &mut String, r: &Report) {
    let Some(graph) = r.graph else { return };
    let Ok(svg) = space::text(graph, &r.opened.model.name, space::Form::Svg) else { return };
    // As an image of its own: its style and its names stay inside.
    let data: String = svg
        .bytes()
        .map(|b| match b {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'/'
            | b' '
            | b'='
            | b':'
            | b';' => (b as char).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    let is_reduced = r.checked.reduction.as_ref().is_some_and(|r| r.strategy != Strategy::Off);
    let all = if is_reduced { ": all of them, not one for each orbit" } else { "" };
    let _ = writeln!(
        out,
        "<section>\n<h2>All states</h2>\n<figure><img alt=\"The states and the operations between them\" \
         src=\"data:image/svg+xml;charset=utf-8,{data}\"/>\n<figcaption>{}{all}</figcaption></figure>\n</section>",
        plural(graph.states as u64, "state")
    );
}

/// What it takes to have the same answer again.
fn reproduce(out: &mut String, r: &Report) {
    out.push_str("<section>\n<h2>To have this answer again</h2>\n");
    let _ = writeln!(out, "<pre>{}</pre>", escape(r.command));
    out.push_str("<table>\n<thead><tr><th>File</th><th>BLAKE3</th></tr></thead>\n<tbody>\n");
    let sources = &r.opened.sources;
    let files = (0..r.texts as u32).filter_map(|i| sources.get(FileId(i)).map(|s| (FileId(i), s)));
    for (_, source) in files.clone() {
        // The bytes of the file; what is not read from one has its text only.
        let bytes = sources.files().read(&source.path).unwrap_or_else(|_| source.text.as_bytes().to_vec());
        let hash = blake3::hash(&bytes).to_hex();
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"value\">{hash}</td></tr>",
            escape(&source.path.display().to_string())
        );
    }
    out.push_str("</tbody>\n</table>\n");
    let marked = r.checked.finding.as_ref().and_then(|f| f.place.as_ref()).map(|p| p.span);
    for (id, source) in files {
        if source.text.len() > MAX_SOURCE {
            continue;
        }
        let _ = writeln!(out, "<details><summary>{}</summary>", escape(&source.path.display().to_string()));
        let lines = marked_lines(marked.filter(|m| m.file == id), &source.text);
        out.push_str("<pre class=\"source\">");
        for (i, line) in source.text.lines().enumerate() {
            let class = if lines.contains(&i) { " class=\"marked\"" } else { "" };
            // An empty line would have no height.
            let line = if line.is_empty() { " " } else { line };
            let _ = write!(out, "<span{class}>{}</span>", escape(line));
        }
        out.push_str("</pre></details>\n");
    }
    out.push_str("</section>\n");
}

/// The lines that a span touches.
fn marked_lines(span: Option<Span>, text: &str) -> std::ops::Range<usize> {
    let Some(span) = span else { return 0..0 };
    let before = |at: u32| text.bytes().take(at as usize).filter(|b| *b == b'\n').count();
    before(span.lo)..before(span.hi) + 1
}
