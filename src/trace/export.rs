//! Traces as files: kanon's own JSON.

use super::{Step, Trace, constants, params, results, variables};
use crate::model::Model;
use serde_json::{Value, json};

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

/// Writes a trace in the format of the file's name.
pub fn write(path: &std::path::Path, t: &Trace, opened: &crate::model::open::Opened) -> std::io::Result<()> {
    std::fs::write(path, format!("{:#}\n", trace(t, &opened.model)))
}
