//! ProB 2's trace files (`*.prob2trace`): a list of transitions with values as B text.

use super::{constants, params, results, strings, variables};
use crate::model::Model;
use crate::trace::{Trace, changed};
use serde_json::{Map, Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

pub const SETUP: &str = "$setup_constants";
pub const INITIALISE: &str = "$initialise_machine";
const FORMAT_VERSION: u32 = 5;

pub fn export(t: &Trace, model: &Model) -> Value {
    let transition = |name: &str, params: Value, results: Value, state: Value, same: Vec<&str>| {
        json!({
            "name": name,
            "params": params,
            "results": results,
            "destState": state,
            "destStateNotChanged": same,
            "preds": [],
            "postconditions": [],
            "description": "",
        })
    };
    let none = || Value::Object(Map::new());
    let mut list = vec![];
    if !model.constants.is_empty() {
        list.push(transition(SETUP, none(), none(), strings(constants(t, model)), vec![]));
    }
    for (i, step) in t.steps.iter().enumerate() {
        let name = if step.op.is_none() { INITIALISE } else { step.name(model) };
        let (state, same) = match i.checked_sub(1).and_then(|b| t.steps.get(b)) {
            None => (variables(&step.state, model), vec![]),
            Some(before) => {
                let state = changed(&before.state, &step.state, model);
                let is_same = |n: &&str| state.iter().all(|(c, _)| c != n);
                let same = model.variables.iter().map(|d| &*d.name).filter(is_same).collect();
                (state, same)
            }
        };
        list.push(transition(
            name,
            strings(params(step, model)),
            strings(results(step, model)),
            strings(state),
            same,
        ));
    }
    let names =
        |decls: &[crate::model::Decl]| -> Vec<String> { decls.iter().map(|d| d.name.to_string()).collect() };
    let sets: Vec<String> = model.sets.iter().map(|s| s.name.to_string()).collect();
    json!({
        "description": "counterexample of kanon",
        "transitionList": list,
        "variableNames": names(&model.variables),
        "constantNames": names(&model.constants),
        "setNames": sets,
        "machineOperationInfos": {},
        "globalIdentifierTypes": {},
        "metadata": {
            "fileType": "Trace",
            "formatVersion": FORMAT_VERSION,
            "savedAt": now(),
            "creator": "kanon",
            "modelName": &*model.name,
        },
    })
}

/// The time as `2024-05-06T07:08:09Z`.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    date(seconds)
}

fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years from March, in eras of 400 years, so that the leap day comes last.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + carry;
    let (h, m, s) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{of_month:02}T{h:02}:{m:02}:{s:02}Z")
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_210_096, "2024-02-29T12:34:56Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
        ] {
            assert_eq!(super::date(seconds), text);
        }
    }
}
