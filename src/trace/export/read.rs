//! Trace files read back: kanon's JSON (also a whole answer of `check --json` or `ltl --json`) and ProB's.

use super::prob::{INITIALISE, SETUP};
use crate::model::scope::ScopeArgs;
use crate::model::{Decl, LocalId, Model, OpId};
use crate::trace::INITIALISATION;
use crate::trace::replay::{Recorded, RecordedStep, position};
use crate::trace::values::Reader;
use crate::value::{Scope, Value};
use serde_json::Value as Json;
use std::path::Path;

/// A trace file before its values are understood, which needs the model.
pub struct ReadTrace {
    json: Json,
    is_prob: bool,
}

/// Reads the file.
pub fn read(path: &Path) -> Result<ReadTrace, String> {
    let text = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let wrong = |why: &str| format!("{} is no trace: {why}", path.display());
    let json: Json = serde_json::from_slice(&text).map_err(|e| wrong(&e.to_string()))?;
    if json.get("transitionList").is_some_and(Json::is_array) {
        return Ok(ReadTrace { json, is_prob: true });
    }
    if json.get("#meta").is_some() {
        return Err(wrong("an ITF file says which states there are, but not by which operations"));
    }
    // `ltl --json` answers with a list: the first counterexample in it is meant.
    if let Some(answers) = json.as_array() {
        let found = answers.iter().find(|a| a.get("finding").is_some_and(Json::is_object));
        let Some(answer) = found else {
            return Err(wrong("no answer in it has a counterexample"));
        };
        return path_of(answer).map(|json| ReadTrace { json, is_prob: false }).ok_or_else(|| {
            wrong("its path starts in a state that was chosen with `--from`, and not in an initial one")
        });
    }
    // The answer of `check --json` holds its trace inside the finding.
    if json.get("steps").is_none() && json.get("verdict").is_some() {
        let Some(inner) = json.get("finding").and_then(|f| f.get("trace")).and_then(Json::as_object) else {
            return Err(wrong("the answer in it has no counterexample"));
        };
        let mut inner = inner.clone();
        if let Some(scope) = json.get("scope") {
            inner.insert("scope".into(), scope.clone());
        }
        return Ok(ReadTrace { json: Json::Object(inner), is_prob: false });
    }
    if json.get("steps").is_some_and(Json::is_array) {
        return Ok(ReadTrace { json, is_prob: false });
    }
    Err(wrong("it has neither `steps` (kanon) nor `transitionList` (ProB)"))
}

/// The path of an answer to a formula as a trace: once around its loop, if it has one.
fn path_of(answer: &Json) -> Option<Json> {
    let finding = answer.get("finding")?;
    if finding.get("from_initial").and_then(Json::as_bool) == Some(false) {
        return None;
    }
    let list = |key: &str| finding.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
    let steps = [list("stem"), list("loop")].concat();
    let get = |from: &Json, key: &str| from.get(key).cloned().unwrap_or_default();
    Some(serde_json::json!({
        "constants": get(finding, "constants"),
        "scope": get(answer, "scope"),
        "steps": steps,
    }))
}

/// The sizes with which the trace was made, for all that the command line leaves open.
pub fn sizes(trace: &ReadTrace, model: &Model, over: &ScopeArgs) -> ScopeArgs {
    let mut out = over.clone();
    let Some(scope) = trace.json.get("scope") else { return out };
    let number = |key: &str| match scope.get(key)? {
        Json::Number(n) => n.as_i64().map(Into::into),
        Json::String(s) => s.parse().ok(),
        _ => None,
    };
    out.minint = out.minint.or_else(|| number("minint"));
    out.maxint = out.maxint.or_else(|| number("maxint"));
    for (name, n) in scope.get("sets").and_then(Json::as_object).into_iter().flatten() {
        let deferred = model.set_named(name).is_some_and(|s| model.sets[s.index()].elements.is_none());
        let given = out.card.iter().any(|(s, _)| s == name);
        if let (Some(n), true, false) = (n.as_u64(), deferred, given) {
            out.card.push((name.clone(), n));
        }
    }
    out
}

impl ReadTrace {
    /// Understands names and values.
    pub fn recorded(&self, model: &Model, scope: &Scope) -> Recorded {
        let reading = Reading { model, reader: Reader::new(model, scope) };
        let mut out = Recorded { constants: vec![None; model.constants.len()], steps: vec![] };
        let mut constants_problem = None;
        let (list, keys) = if self.is_prob {
            ("transitionList", ["name", "params", "results", "destState"])
        } else {
            if let Some(constants) = self.json.get("constants") {
                constants_problem = reading.decls(constants, &model.constants, &mut out.constants).err();
            }
            ("steps", ["operation", "parameters", "results", "state"])
        };
        for step in self.json.get(list).and_then(Json::as_array).into_iter().flatten() {
            let name = step.get(keys[0]).and_then(Json::as_str).unwrap_or_default();
            if self.is_prob && name == SETUP {
                if let Some(state) = step.get(keys[3]) {
                    constants_problem = reading.decls(state, &model.constants, &mut out.constants).err();
                }
                continue;
            }
            let mut recorded = reading.step(step, name, &keys);
            recorded.problem = constants_problem.take().or(recorded.problem);
            out.steps.push(recorded);
        }
        out
    }
}

struct Reading<'m> {
    model: &'m Model,
    reader: Reader<'m>,
}

impl Reading<'_> {
    fn step(&self, step: &Json, name: &str, keys: &[&str; 4]) -> RecordedStep {
        let model = self.model;
        let mut out = RecordedStep { name: name.to_string(), ..RecordedStep::default() };
        out.state = vec![None; model.variables.len()];
        let empty = Json::Null;
        let get = |key: &str| step.get(key).unwrap_or(&empty);
        let read = |out: &mut RecordedStep| -> Result<(), String> {
            if name != INITIALISATION && name != INITIALISE {
                let at = model.operations.iter().position(|o| o.is_event && *o.name == *name);
                let at = at.ok_or_else(|| format!("the machine has no operation `{name}`"))?;
                out.op = Some(OpId(at as u32));
                let op = &model.operations[at];
                out.params = self.locals(get(keys[1]), &op.params)?;
                out.results = self.locals(get(keys[2]), &op.results)?;
            }
            self.decls(get(keys[3]), &model.variables, &mut out.state)
        };
        out.problem = read(&mut out).err();
        out
    }

    fn locals(&self, values: &Json, locals: &[LocalId]) -> Result<Vec<Option<Value>>, String> {
        let mut out = vec![None; locals.len()];
        for (name, text) in values.as_object().into_iter().flatten() {
            let at = position(self.model, locals, name);
            let at = at.ok_or_else(|| format!("the operation has no parameter or result `{name}`"))?;
            out[at] = Some(self.value(name, text, &self.model.local(locals[at]).ty)?);
        }
        Ok(out)
    }

    fn decls(&self, values: &Json, decls: &[Decl], out: &mut [Option<Value>]) -> Result<(), String> {
        for (name, text) in values.as_object().into_iter().flatten() {
            match decls.iter().position(|d| *d.name == **name) {
                Some(at) => out[at] = Some(self.value(name, text, &decls[at].ty)?),
                // ProB repeats constants in states.
                None if self.model.constants.iter().any(|d| *d.name == **name) => {}
                None => return Err(format!("the machine has no `{name}`")),
            }
        }
        Ok(())
    }

    fn value(&self, name: &str, text: &Json, ty: &crate::model::Type) -> Result<Value, String> {
        let text = text.as_str().ok_or_else(|| format!("the value of `{name}` is no string"))?;
        self.reader.read(text, ty).map_err(|why| format!("`{name}`: {why}"))
    }
}
