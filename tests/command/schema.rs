//! Everything that the program prints as JSON, against docs/kanon.schema.json.

use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/kanon.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema");
    let schema = serde_json::from_str(&text).expect("JSON");
    jsonschema::meta::validate(&schema).expect("a schema");
    schema
});

static VALIDATORS: LazyLock<Mutex<HashMap<String, Validator>>> = LazyLock::new(Mutex::default);

/// The names of the schema's parts that a command may print.
fn parts(command: &str) -> Vec<&'static str> {
    match command {
        "check" => vec!["error", "check", "engine", "assertions"],
        "bmc" | "kinduction" | "ic3" => vec!["error", "engine"],
        "ltl" => vec!["error", "ltl"],
        "refine" => vec!["error", "refine"],
        "prove" => vec!["error", "prove"],
        "compare" => vec!["error", "compare"],
        "replay" => vec!["error", "replay"],
        "simulate" => vec!["error", "simulate"],
        "test-cases" => vec!["error", "test-cases"],
        "export" => vec!["error", "graph"],
        "types" => vec!["error", "types"],
        "follow" => vec!["error", "follow"],
        // Wrong command lines end before there is a command.
        _ => vec!["error"],
    }
}

fn with<T>(names: &[&str], look: impl FnOnce(&Validator) -> T) -> T {
    let mut all = VALIDATORS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let validator = all.entry(names.join(" ")).or_insert_with(|| {
        let any: Vec<Value> = names.iter().map(|n| json!({ "$ref": format!("#/$defs/{n}") })).collect();
        let schema = json!({ "$schema": SCHEMA["$schema"], "$defs": SCHEMA["$defs"], "anyOf": any });
        jsonschema::validator_for(&schema).expect("a schema")
    });
    look(validator)
}

pub fn is_valid_as(part: &str, answer: &Value) -> bool {
    with(&[part], |v| v.is_valid(answer))
}

fn complain(names: &[&str], answer: &Value) {
    let errors: Vec<String> =
        with(names, |v| v.iter_errors(answer).map(|e| format!("{}: {e}", e.instance_path())).collect());
    assert!(errors.is_empty(), "{names:?}: {}\n{answer:#}", errors.join("\n"));
}

pub fn validate_as(part: &str, answer: &Value) {
    complain(&[part], answer);
}

/// Panics with what is wrong.
pub fn validate(command: &str, answer: &Value) {
    let parts = parts(command);
    // One part, so that the message says what is wrong with it.
    let part = match answer["verdict"].as_str() {
        Some("error") => vec!["error"],
        _ if answer.get("engine").is_some() && answer.get("states").is_none() => vec!["engine"],
        _ => parts.into_iter().filter(|p| *p != "error" && (command != "check" || *p != "engine")).collect(),
    };
    complain(&part, answer);
}
