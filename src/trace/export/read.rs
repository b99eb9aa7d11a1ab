//! Trace files read back: kanon's JSON (also a whole answer of `check --json` or `ltl --json`), ITF and ProB's.

use super::itf;
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
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Kanon,
    Itf,
    Prob,
}

/// Reads the file.
pub fn read(path: &Path) -> Result<ReadTrace, String> {
    let text = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    parse_bytes(&text).map_err(|why| format!("{} is no trace: {why}", path.display()))
}

/// Reads the text of a file.
pub fn parse(text: &str) -> Result<ReadTrace, String> {
    parse_bytes(text.as_bytes()).map_err(|why| format!("this is no trace: {why}"))
}

fn parse_bytes(text: &[u8]) -> Result<ReadTrace, String> {
    let wrong = |why: &str| why.to_string();
    let json: Json = serde_json::from_slice(text).map_err(|e| wrong(&e.to_string()))?;
    if json.get("transitionList").is_some_and(Json::is_array) {
        return Ok(ReadTrace { json, form: Form::Prob });
    }
    if let Some(states) = json.get("states").and_then(Json::as_array) {
        if states.is_empty() {
            return Err(wrong("it has no state"));
        }
        return Ok(ReadTrace { json, form: Form::Itf });
    }
    // `ltl --json` answers with a list: the first counterexample in it is meant.
    if let Some(answers) = json.as_array() {
        let found = answers.iter().find(|a| a.get("finding").is_some_and(Json::is_object));
        let Some(answer) = found else {
            return Err(wrong("no answer in it has a counterexample"));
        };
        return path_of(answer).map(|json| ReadTrace { json, form: Form::Kanon }).ok_or_else(|| {
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
        return Ok(ReadTrace { json: Json::Object(inner), form: Form::Kanon });
    }
    if json.get("steps").is_some_and(Json::is_array) {
        return Ok(ReadTrace { json, form: Form::Kanon });
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
        if self.form == Form::Itf {
            return reading.itf(&self.json);
        }
        let is_prob = self.form == Form::Prob;
        let (list, keys) = if is_prob {
            ("transitionList", ["name", "params", "results", "destState"])
        } else {
            if let Some(constants) = self.json.get("constants") {
                constants_problem = reading.decls(constants, &model.constants, &mut out.constants).err();
            }
            ("steps", ["operation", "parameters", "results", "state"])
        };
        for step in self.json.get(list).and_then(Json::as_array).into_iter().flatten() {
            let name = step.get(keys[0]).and_then(Json::as_str).unwrap_or_default();
            if is_prob && name == SETUP {
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
    /// States, and by which operations they were reached if kanon wrote it: other tools do not say so.
    fn itf(&self, json: &Json) -> Recorded {
        let model = self.model;
        let mut out = Recorded { constants: vec![None; model.constants.len()], steps: vec![] };
        let empty = Json::Null;
        for (i, state) in json.get("states").and_then(Json::as_array).into_iter().flatten().enumerate() {
            let meta = state.get("#meta").unwrap_or(&empty);
            let name = meta.get("action").and_then(Json::as_str);
            let parameters = meta.get("parameters").unwrap_or(&empty);
            let step = serde_json::json!({ "parameters": parameters });
            let mut recorded = match name {
                Some(name) => self.step(&step, name, &["operation", "parameters", "results", "state"]),
                None => RecordedStep { is_any: i > 0, ..RecordedStep::default() },
            };
            recorded.state = vec![None; model.variables.len()];
            let read = |decls: &[Decl], out: &mut [Option<Value>]| -> Result<(), String> {
                for (d, out) in decls.iter().zip(out) {
                    if let Some(json) = state.get(&*d.name) {
                        *out = itf::read(json, &d.ty, &self.reader)
                            .map_err(|why| format!("`{}`: {why}", d.name))?;
                    }
                }
                Ok(())
            };
            let wrong = read(&model.constants, &mut out.constants).err();
            let wrong = wrong.or(read(&model.variables, &mut recorded.state).err());
            recorded.problem = recorded.problem.or(wrong);
            out.steps.push(recorded);
        }
        out
    }

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
