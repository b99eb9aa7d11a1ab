//! The answers of a project: a table, JSON, and a record per machine.

use super::progress::grouped;
use super::record::{Claim, Outcome, Record, Spot};
use super::text;
use crate::run::numbers::plural;
use crate::run::suite::{Kind, Row};
use serde_json::{Value, json};
use std::fmt::Write;

/// For a terminal.
pub fn table(rows: &[Row], seconds: f64, colour: bool) -> String {
    let count = |row: &Row, field: &str| row.answer[field].as_u64().map_or("-".to_string(), grouped);
    let cells = |row: &Row| -> [String; 5] {
        let verdict = match row.answer["finding"]["kind"].as_str() {
            Some(kind) => format!("{}: {kind}", row.verdict),
            None => row.verdict.clone(),
        };
        let (states, transitions) = (count(row, "states"), count(row, "transitions"));
        [row.name.clone(), verdict, states, transitions, format!("{:.2}", row.seconds)]
    };
    let head = ["machine", "verdict", "states", "transitions", "seconds"].map(String::from);
    let all: Vec<[String; 5]> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    let wide = |i: usize| all.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let wide: Vec<usize> = (0..5).map(wide).collect();
    let mut out = String::new();
    for (i, cells) in all.iter().enumerate() {
        let _ = write!(out, "{:2$}  {:3$}", cells[0], cells[1], wide[0], wide[1]);
        for c in 2..5 {
            let _ = write!(out, "  {:>1$}", cells[c], wide[c]);
        }
        let mark = match i.checked_sub(1).map(|i| &rows[i]) {
            None => String::new(),
            Some(row) if row.is_right() && row.verdict == "holds" => text::paint("ok", "1;32", colour),
            Some(row) if row.is_right() => text::paint("as expected", "1;32", colour),
            Some(_) => text::paint("not as expected", "1;31", colour),
        };
        let _ = writeln!(out, "  {mark}");
    }
    let wrong: Vec<&Row> = rows.iter().filter(|r| !r.is_right()).collect();
    for row in &wrong {
        let _ = writeln!(out, "\n{}:", text::paint(&row.name, "1", colour));
        row.differences.iter().for_each(|d| {
            let _ = writeln!(out, "  {}", text::cut(&d.text));
        });
        if let Some(place) = place(row) {
            let _ = writeln!(out, "  at {}:{}:{}", place.file, place.line, place.column);
        }
        for step in steps(row) {
            let _ = writeln!(out, "    {step}");
        }
    }
    let right = rows.len() - wrong.len();
    let _ = writeln!(
        out,
        "\n{}: {right} as expected, {} not, in {seconds:.2} s",
        plural(rows.len() as u64, "machine"),
        wrong.len()
    );
    out
}

/// As JSON; docs/json.md describes it.
pub fn json(rows: &[Row], project: &str, seconds: f64) -> Value {
    let verdict = match worst(rows) {
        None => "holds",
        Some(Kind::Unknown) => "unknown",
        Some(Kind::Fails | Kind::Wrong) => "fails",
    };
    let first = rows.iter().find_map(|r| Some((r, r.differences.first()?)));
    let row = |r: &Row| {
        let differences: Vec<&str> = r.differences.iter().map(|d| &*d.text).collect();
        json!({
            "name": r.name,
            "file": r.file,
            "verdict": r.verdict,
            "expected": r.expected,
            "as_expected": r.is_right(),
            "differences": differences,
            "seconds": r.seconds,
            "answer": r.answer,
            "formulas": r.formulas,
        })
    };
    json!({
        "verdict": verdict,
        "reason": first.map(|(r, d)| format!("{}: {}", r.name, d.text)),
        "project": project,
        "machines": rows.iter().map(row).collect::<Vec<_>>(),
        "seconds": seconds,
    })
}

/// Where the first thing that is wrong stands.
fn place(row: &Row) -> Option<Spot> {
    let finding = &row.answer["finding"];
    let first = [&finding["conjunct"], &finding["place"], &row.answer["errors"][0]];
    let at = first.into_iter().find(|p| p["line"].is_u64())?;
    let number = |key: &str| at[key].as_u64().and_then(|n| usize::try_from(n).ok());
    let (line, column) = (number("line")?, number("column")?);
    let file = at["file"].as_str()?.to_string();
    Some(Spot { file, line, column, end_line: line, end_column: column })
}

/// The way to what is wrong, a line per step.
fn steps(row: &Row) -> Vec<String> {
    let equations = |of: &Value| {
        let pairs = of.as_object().into_iter().flatten();
        let pairs = pairs.map(|(n, v)| format!("{n} = {}", text::cut(v.as_str().unwrap_or_default())));
        pairs.collect::<Vec<_>>().join(", ")
    };
    let all = row.answer["finding"]["trace"]["steps"].as_array();
    let step = |s: &Value| {
        let name = s["operation"].as_str().unwrap_or_default();
        let parameters = equations(&s["parameters"]);
        let call = if parameters.is_empty() { name.to_string() } else { format!("{name}({parameters})") };
        format!("{call}: {}", equations(&s["state"]))
    };
    all.into_iter().flatten().map(step).collect()
}

/// For build servers and code hosts: that each machine, and each formula, answers as expected.
pub fn record(row: &Row) -> Record {
    let outcome = |of: &dyn Fn(&str) -> bool| {
        let found: Vec<_> = row.differences.iter().filter(|d| of(&d.of)).collect();
        let text = || found.iter().map(|d| &*d.text).collect::<Vec<_>>().join("; ");
        match found.iter().map(|d| d.kind).max() {
            None => Outcome::Holds,
            Some(Kind::Unknown) => Outcome::Unknown(text()),
            Some(Kind::Fails | Kind::Wrong) => Outcome::Fails(text()),
        }
    };
    let formulas: Vec<&str> = row.formulas.iter().filter_map(|f| f["formula"].as_str()).collect();
    let name = match &*row.expected {
        "holds" => "nothing goes wrong, as expected",
        "fails" => "something goes wrong, as expected",
        "error" => "the machine is refused, as expected",
        _ => "there is no answer, as expected",
    };
    let mut states = Claim::new("expectation", name, outcome(&|of| !formulas.contains(&of)), row.seconds);
    states.place = place(row);
    if states.outcome != Outcome::Holds {
        states.steps = steps(row);
    }
    let mut claims = vec![states];
    for formula in &formulas {
        claims.push(Claim::new("formula", formula, outcome(&|of| of == *formula), 0.0));
    }
    let notes = row.answer["notes"].as_array().into_iter().flatten();
    let notes = notes.filter_map(|n| n.as_str().map(str::to_string)).collect();
    Record { name: row.name.clone(), file: row.file.clone(), claims, notes, ..Record::default() }
}

/// The worst of what is not as expected.
pub fn worst(rows: &[Row]) -> Option<Kind> {
    rows.iter().flat_map(|r| &r.differences).map(|d| d.kind).max()
}
