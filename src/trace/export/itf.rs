//! Apalache's Informal Trace Format (ADR 015): constants as `params`, variables as `vars`, one state per step.
//!
//! Functions are `#map`, sequences are lists, other relations sets of pairs, elements of given sets strings.

use crate::lang::decimal;
use crate::model::{Model, Type};
use crate::trace::Trace;
use crate::trace::values::Reader;
use crate::value::{Value, element_name};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

pub fn export(t: &Trace, model: &Model) -> Json {
    let names =
        |decls: &[crate::model::Decl]| -> Vec<String> { decls.iter().map(|d| d.name.to_string()).collect() };
    let set_name = |s: crate::model::SetId| model.sets[s.index()].name.clone();
    let decls = model.constants.iter().chain(&model.variables);
    let types: Map<String, Json> =
        decls.map(|d| (d.name.to_string(), d.ty.show(&set_name).to_string().into())).collect();
    let states: Vec<Json> = t
        .steps
        .iter()
        .enumerate()
        .map(|(i, step)| {
            let mut o = Map::new();
            let params = super::strings(super::params(step, model));
            o.insert("#meta".into(), json!({ "index": i, "action": step.name(model), "parameters": params }));
            for (d, v) in model.constants.iter().zip(&t.constants) {
                let value = match v {
                    Some(v) => value(v, &d.ty, model),
                    None => json!({ "#unserializable": "symbolic" }),
                };
                o.insert(d.name.to_string(), value);
            }
            for (d, v) in model.variables.iter().zip(&step.state) {
                o.insert(d.name.to_string(), value(v, &d.ty, model));
            }
            Json::Object(o)
        })
        .collect();
    json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": "counterexample of kanon",
            "source": &*model.name,
            "varTypes": types,
        },
        "params": names(&model.constants),
        "vars": names(&model.variables),
        "states": states,
    })
}

fn value(v: &Value, ty: &Type, model: &Model) -> Json {
    match (v, ty) {
        (Value::Bool(b), _) => (*b).into(),
        (Value::Int(i), _) => json!({ "#bigint": i.to_string() }),
        (Value::Str(s), _) => (**s).into(),
        // The format has integers only.
        (Value::Real(r), _) => json!({ "#unserializable": decimal::text(r) }),
        (Value::Free(case, argument), Type::Free(free)) => {
            let tag = free.case(*case).map_or("?", |c| &c.name);
            let inside = match (argument, free.argument(*case)) {
                (Some(v), Some(t)) => value(v, &t, model),
                _ => "U_OF_UNIT".into(),
            };
            json!({ "tag": tag, "value": inside })
        }
        (Value::Elem(s, i), _) => element_name(model, *s, *i).into(),
        (Value::Pair(p), Type::Pair(t)) => {
            json!({ "#tup": [value(&p.0, &t.0, model), value(&p.1, &t.1, model)] })
        }
        (Value::Rec(fields), Type::Rec(types)) => {
            let pairs = fields.iter().zip(types.iter());
            Json::Object(pairs.map(|(v, (n, t))| (n.to_string(), value(v, t, model))).collect())
        }
        (Value::Set(set), Type::Pow(elem)) => collection(set, elem, model),
        // A value that does not have its type is our bug.
        (v, _) => json!({ "#unserializable": format!("{v:?}") }),
    }
}

fn collection(set: &BTreeSet<Value>, elem: &Type, model: &Model) -> Json {
    if let Some((a, b)) = elem.as_pair() {
        let split = |v: &Value| match v {
            Value::Pair(p) => Some((p.0.clone(), p.1.clone())),
            _ => None,
        };
        let pairs: Vec<(Value, Value)> = set.iter().filter_map(split).collect();
        let is_sequence =
            !pairs.is_empty() && pairs.iter().enumerate().all(|(i, (x, _))| *x == Value::int(i + 1));
        if is_sequence {
            return pairs.iter().map(|(_, y)| value(y, b, model)).collect();
        }
        // Pairs come ordered, so equal first parts are neighbours.
        if pairs.windows(2).all(|w| w[0].0 != w[1].0) {
            let pairs: Vec<Json> =
                pairs.iter().map(|(x, y)| json!([value(x, a, model), value(y, b, model)])).collect();
            return json!({ "#map": pairs });
        }
    }
    let items: Vec<Json> = set.iter().map(|v| value(v, elem, model)).collect();
    json!({ "#set": items })
}

/// A value of this type; none where the format cannot say what it is.
pub fn read(json: &Json, ty: &Type, reader: &Reader) -> Result<Option<Value>, String> {
    if json.get("#unserializable").is_some() {
        return Ok(None);
    }
    let wrong = || format!("`{json}` is no value of the right type");
    let all = |items: &[Json], elem: &Type| -> Result<Option<BTreeSet<Value>>, String> {
        items.iter().map(|j| read(j, elem, reader)).collect::<Result<Option<_>, _>>()
    };
    let list = |key: &str| json.get(key).and_then(Json::as_array);
    Ok(match (json, ty) {
        (Json::Bool(b), Type::Bool) => Some(Value::Bool(*b)),
        (Json::Number(n), Type::Int) => Some(Value::Int(n.as_i64().ok_or_else(wrong)?.into())),
        (Json::Object(_), Type::Int) => {
            let text = json.get("#bigint").and_then(Json::as_str).ok_or_else(wrong)?;
            Some(Value::Int(text.parse().map_err(|_| wrong())?))
        }
        (Json::String(s), Type::Str) => Some(Value::Str(s.as_str().into())),
        // An element of a given set.
        (Json::String(s), Type::Given(_)) => Some(reader.read(s, ty)?),
        (Json::Object(_), Type::Free(free)) => {
            let tag = json.get("tag").and_then(Json::as_str).ok_or_else(wrong)?;
            let case = (0..).map_while(|i| Some((i, free.case(i)?))).find(|(_, c)| *c.name == *tag);
            let case = case.ok_or_else(wrong)?.0;
            match (free.argument(case), json.get("value")) {
                (Some(t), Some(inside)) => {
                    read(inside, &t, reader)?.map(|v| Value::Free(case, Some(Box::new(v))))
                }
                _ => Some(Value::Free(case, None)),
            }
        }
        (Json::Object(_), Type::Pair(t)) => match list("#tup").map(Vec::as_slice) {
            Some([a, b]) => match (read(a, &t.0, reader)?, read(b, &t.1, reader)?) {
                (Some(a), Some(b)) => Some(Value::pair(a, b)),
                _ => None,
            },
            _ => return Err(wrong()),
        },
        (Json::Object(fields), Type::Rec(types)) => {
            let field = |(n, t): &(_, Type)| {
                let n: &std::sync::Arc<str> = n;
                read(fields.get(&**n).ok_or_else(wrong)?, t, reader)
            };
            let values: Option<Vec<Value>> = types.iter().map(field).collect::<Result<_, _>>()?;
            values.map(Value::Rec)
        }
        (Json::Array(items), Type::Pow(elem)) => {
            let (_, ran) = elem.as_pair().ok_or_else(wrong)?;
            let items: Option<Vec<Value>> =
                items.iter().map(|j| read(j, ran, reader)).collect::<Result<_, _>>()?;
            let numbered = |items: Vec<Value>| {
                items.into_iter().enumerate().map(|(i, v)| Value::pair(Value::int(i + 1), v)).collect()
            };
            items.map(|items| Value::Set(numbered(items)))
        }
        (Json::Object(_), Type::Pow(elem)) => match (list("#set"), list("#map"), elem.as_pair()) {
            (Some(items), ..) => all(items, elem)?.map(Value::Set),
            (None, Some(pairs), Some(_)) => {
                let pairs: Vec<Json> = pairs.iter().map(|p| json!({ "#tup": p })).collect();
                all(&pairs, elem)?.map(Value::Set)
            }
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    })
}
