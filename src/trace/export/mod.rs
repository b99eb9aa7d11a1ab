//! Traces as files. The file's name chooses: `*.itf.json` is Apalache's ITF, `*.prob2trace` is ProB's, anything
//! else kanon's own JSON.

mod itf;
mod prob;
mod read;

pub use read::{ReadTrace, parse, read, sizes};

use super::{Step, Trace, constants, params, results, variables};
use crate::model::Model;
use crate::model::open::Opened;
use crate::value::Scope;
use serde_json::{Value, json};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Kanon,
    Itf,
    Prob,
}

impl Format {
    pub fn of(path: &Path) -> Format {
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().to_lowercase());
        if name.ends_with(".itf.json") {
            Format::Itf
        } else if name.ends_with(".prob2trace") {
            Format::Prob
        } else {
            Format::Kanon
        }
    }
}

/// A trace, and what it shows.
#[derive(Clone, Copy)]
pub struct Shown<'t> {
    pub trace: &'t Trace,
    /// The last step leads to the state at this place again.
    pub back: Option<usize>,
    /// The temporal formula that it does not fulfil.
    pub formula: Option<&'t str>,
}

/// Writes a trace in the format of the file's name. Only kanon's own names the formula, and ProB's cannot say where a loop
/// begins.
///
/// # Errors
/// Those of the file system.
pub fn write(path: &Path, shown: Shown, opened: &Opened) -> std::io::Result<()> {
    let value = render(Format::of(path), shown, opened);
    std::fs::write(path, format!("{value:#}\n"))
}

/// The same as a value.
pub fn render(format: Format, shown: Shown, opened: &Opened) -> Value {
    let Shown { trace: t, back, formula } = shown;
    let mut value = match format {
        Format::Kanon => kanon(t, &opened.model, &opened.scope),
        Format::Itf => itf::export(t, &opened.model),
        Format::Prob => prob::export(t, &opened.model),
    };
    match (format, back) {
        (Format::Kanon, Some(back)) => value["loop"] = back.into(),
        (Format::Itf, Some(back)) => {
            // The state to which the loop leads is there once.
            if let Some(states) = value["states"].as_array_mut() {
                states.pop();
            }
            value["loop"] = back.into();
        }
        _ => {}
    }
    if let (Format::Kanon, Some(formula)) = (format, formula) {
        value["formula"] = formula.into();
    }
    value
}

/// Whether a file can be written: it is tried before a run that may take hours. Nothing is changed.
///
/// # Errors
/// Those of the file system.
pub fn is_writable(path: &Path) -> std::io::Result<()> {
    let is_new = !path.exists();
    std::fs::OpenOptions::new().append(true).create(true).open(path)?;
    if is_new { std::fs::remove_file(path) } else { Ok(()) }
}

fn strings(pairs: Vec<(&str, String)>) -> Value {
    Value::Object(pairs.into_iter().map(|(n, v)| (n.to_string(), v.into())).collect())
}

/// Constants, then every step with the whole state after it; values as B text.
pub fn trace(t: &Trace, model: &Model) -> Value {
    let step = |s: &Step| {
        json!({
            "operation": s.name(model),
            "parameters": strings(params(s, model)),
            "results": strings(results(s, model)),
            "state": strings(variables(&s.state, model)),
        })
    };
    let steps: Vec<Value> = t.steps.iter().map(step).collect();
    json!({ "constants": strings(constants(t, model)), "steps": steps })
}

/// How large everything was.
pub fn scope(model: &Model, scope: &Scope) -> Value {
    let sets = model.sets.iter().zip(&scope.card).map(|(s, n)| (s.name.to_string(), (*n).into()));
    json!({
        "sets": Value::Object(sets.collect()),
        "minint": number(&scope.minint),
        "maxint": number(&scope.maxint),
    })
}

/// A JSON number where it is exact everywhere, a string otherwise.
fn number(n: &num_bigint::BigInt) -> Value {
    match i64::try_from(n) {
        Ok(small) if small.unsigned_abs() < 1 << 53 => small.into(),
        _ => n.to_string().into(),
    }
}

fn kanon(t: &Trace, model: &Model, sizes: &Scope) -> Value {
    let mut value = json!({
        "format": "kanon-trace",
        "version": 1,
        "machine": &*model.name,
        "scope": scope(model, sizes),
    });
    if let (Value::Object(all), Value::Object(parts)) = (&mut value, trace(t, model)) {
        all.extend(parts);
    }
    value
}
