//! The types of a model's definitions.

use super::json;
use crate::run::types::{Definition, Typed};
use serde_json::{Map, Value, json};

/// A line for each definition.
pub fn text(typed: &Typed) -> String {
    let one = |d: &Definition| match d.kind {
        "operation" => format!("{}{}\n", d.name, d.ty),
        "definition" => format!("{} :: {}\n", d.name, d.ty),
        _ => format!("{} : {}\n", d.name, d.ty),
    };
    typed.definitions.iter().map(one).collect()
}

pub fn json(typed: &Typed) -> Value {
    let one = |d: &Definition| {
        let mut o = Map::new();
        o.insert("kind".into(), d.kind.into());
        o.insert("name".into(), d.name.clone().into());
        o.insert("type".into(), d.ty.clone().into());
        json::place(&typed.sources, d.span, &mut o);
        Value::Object(o)
    };
    let definitions: Vec<Value> = typed.definitions.iter().map(one).collect();
    let diagnostics: Vec<Value> =
        typed.diagnostics.iter().map(|d| json::diagnostic(d, &typed.sources)).collect();
    json!({
        "typed": !typed.has_errors(),
        "language": typed.language,
        "definitions": definitions,
        "diagnostics": diagnostics,
    })
}
