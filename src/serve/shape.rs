//! What a page is told of a session.

use super::models::{Models, place};
use super::tabs::{Opened, Tab};
use crate::animate::{
    Call, Conjunct, Element, Graph, History, Hover, Operation, Orbit, Picture, Relation, Scene, Tree,
};
use crate::lang::diag::{FileId, SourceMap};
use crate::model::open::Refused;
use crate::report::animated::{self, words};
use crate::report::json::diagnostic;
use crate::system::{Role, Stop};
use crate::trace::explain::{Disabled, Part, PartKind, Truth};
use crate::trace::fault::fault_message;
use crate::trace::question::Reply;
use serde_json::{Value as Json, json};

/// Places of the history that are told: the others are still there.
const MAX_HISTORY: usize = 2000;

/// All that is on screen while a model is animated.
pub fn view(tab: &mut Tab, models: &Models, stop: &Stop) -> Json {
    let mut view = told(tab, stop);
    shorten(&mut view, models);
    view
}

fn told(tab: &mut Tab, stop: &Stop) -> Json {
    let refused = tab.refused.as_ref().map(errors);
    let Some(opened) = &mut tab.opened else {
        return json!({ "model": tab.model, "errors": refused });
    };
    let scene = Scene::of(opened.animated(), stop);
    let address = opened.animated().address(stop);
    // What a language that is not B has no answers to is not offered.
    let (language, warnings): (_, Vec<Json>) = match &*opened {
        Opened::Machine(s) => (None, s.warnings().map(|d| diagnostic(d, s.sources())).collect()),
        Opened::Other(o) => {
            (Some(o.about.language.name()), o.about.notes.iter().map(|n| json!({ "message": n })).collect())
        }
    };
    let state: Vec<Json> = scene
        .state
        .iter()
        .map(|v| json!({ "name": v.name, "value": v.value, "before": v.before, "constant": v.is_constant }))
        .collect();
    let watched: Vec<Json> = scene
        .watched
        .iter()
        .map(|w| {
            let value = w.reply.as_ref().map(reply).map_err(|d| words(d));
            json!({ "text": w.text, "value": value.as_ref().ok(), "error": value.as_ref().err() })
        })
        .collect();
    json!({
        "model": tab.model,
        "machine": scene.title,
        "language": language,
        "errors": refused,
        "warnings": warnings,
        "begun": scene.history.at.is_some(),
        "state": state,
        "operations": scene.operations.iter().map(operation).collect::<Vec<Json>>(),
        "missing": scene.missing.map(animated::missing),
        "conjuncts": conjuncts(&scene.conjuncts),
        "watched": watched,
        "history": history(&scene.history),
        "address": address,
    })
}

fn operation(o: &Operation) -> Json {
    let calls: Vec<Json> = o.calls.iter().map(call).collect();
    json!({
        "name": o.name,
        "parameters": o.parameters,
        "calls": calls,
        "faults": words(&o.faults),
        "line": o.text.as_ref().map(|t| t.line),
    })
}

fn call(c: &Call) -> Json {
    json!({ "choice": c.choice, "parameters": c.parameters, "results": c.results, "changes": c.changes })
}

fn conjuncts(all: &[Conjunct]) -> Vec<Json> {
    let one = |c: &Conjunct| {
        let role = match c.judged.role {
            Role::Invariant => "invariant",
            Role::Assertion => "assertion",
            Role::Goal => "goal",
        };
        json!({
            "check": c.judged.check,
            "role": role,
            "text": c.text.as_ref().map_or(&*c.judged.name, |t| &t.text),
            "place": c.text.as_ref().map(place),
            "truth": c.judged.truth.as_ref().ok(),
            "error": c.judged.truth.as_ref().err().map(|f| fault_message(f).1),
        })
    };
    all.iter().map(one).collect()
}

/// Files by their names below the directory: what is above it is nobody's business.
pub fn shorten(json: &mut Json, models: &Models) {
    match json {
        Json::Array(all) => all.iter_mut().for_each(|j| shorten(j, models)),
        Json::Object(all) => {
            for (key, value) in all.iter_mut() {
                match value {
                    Json::String(file) if key == "file" => *file = models.short(file),
                    value => shorten(value, models),
                }
            }
        }
        _ => {}
    }
}

fn history(h: &History) -> Json {
    let all = h.places.iter().enumerate().skip(h.places.len().saturating_sub(MAX_HISTORY));
    let places: Vec<Json> =
        all.map(|(i, (from, text))| json!({ "place": i, "from": from.map(|p| p.0), "text": text })).collect();
    let way: Vec<usize> = h.way.iter().map(|p| p.0).collect();
    json!({ "at": h.at.map(|p| p.0), "way": way, "places": places })
}

/// An answer to a question.
pub fn reply(r: &Reply) -> Json {
    match r {
        Reply::Truth(b) => json!({ "truth": b }),
        Reply::Value(v) => json!({ "value": v }),
        Reply::Solutions { found, more, truncated, reach } => {
            json!({ "solutions": found, "more": more, "truncated": truncated, "reach": reach })
        }
    }
}

/// Errors with their places.
fn errors(refused: &Refused) -> Vec<Json> {
    refused.diagnostics.iter().map(|d| diagnostic(d, &refused.sources)).collect()
}

/// The texts of a model.
pub fn texts(sources: &SourceMap, count: usize, models: &Models) -> Vec<Json> {
    let all = (0..count as u32).filter_map(|i| sources.get(FileId(i)));
    all.map(|s| json!({ "file": models.short(&s.path.display().to_string()), "text": &*s.text })).collect()
}

pub fn tree(all: &[Tree]) -> Vec<Json> {
    let one = |t: &Tree| {
        let mut json = part(&t.part);
        json["below"] = tree(&t.below).into();
        json
    };
    all.iter().map(one).collect()
}

fn part(p: &Part) -> Json {
    let kind = match p.kind {
        PartKind::Value => "value",
        PartKind::Witness => "witness",
        PartKind::Note => "note",
    };
    json!({ "kind": kind, "text": p.text, "value": p.value })
}

pub fn disabled(d: &Disabled) -> Json {
    let condition = |c: &crate::trace::explain::Condition| {
        let (truth, open) = match &c.truth {
            Truth::True => ("true", vec![]),
            Truth::False => ("false", vec![]),
            Truth::NoValue => ("none", vec![]),
            Truth::Open(names) => ("open", names.clone()),
        };
        json!({
            "text": c.text,
            "truth": truth,
            "open": open,
            "blocking": c.is_blocking,
            "why": tree(&crate::animate::tree(&c.why)),
            "wanted": c.wanted,
            "more": c.more,
        })
    };
    let ways: Vec<Json> = d
        .ways
        .iter()
        .map(|w| {
            let conditions: Vec<Json> = w.conditions.iter().map(condition).collect();
            json!({ "summary": w.summary, "conditions": conditions })
        })
        .collect();
    json!({ "ways": ways })
}

pub fn graph(g: &Graph) -> Json {
    let node = |n: &crate::animate::Node| {
        json!({
            "text": n.text,
            "states": n.states,
            "initial": n.initial,
            "here": n.here,
            "broken": n.broken,
            "deadlock": n.deadlock,
            "open": n.open,
        })
    };
    json!({
        "nodes": g.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": g.edges,
        "states": g.states,
        "more": g.more,
    })
}

pub fn relations(all: &[Relation]) -> Json {
    let one = |r: &Relation| json!({ "name": r.name, "pairs": r.pairs, "same": r.is_homogeneous });
    json!({ "relations": all.iter().map(one).collect::<Vec<_>>() })
}

pub fn orbit(o: &Orbit) -> Json {
    json!({
        "representative": o.representative,
        "is_representative": o.is_representative,
        "permutation": o.permutation,
        "states": o.states,
        "more": o.more,
        "fixed": o.fixed,
    })
}

/// A picture as a tree of elements; `null` if the model has none.
pub fn picture(p: Option<&Picture>) -> Json {
    fn element(e: &Element) -> Json {
        let inside: Vec<Json> = e.inside.iter().map(element).collect();
        json!({ "tag": e.tag, "id": e.id, "attributes": e.attributes, "text": e.text, "inside": inside })
    }
    let told = |p: &Picture| {
        let clicks: Vec<&String> = p.events.iter().map(|e| &e.id).collect();
        let hover = |h: &Hover| json!({ "over": h.over, "id": h.id, "attribute": h.attribute, "enter": h.enter, "leave": h.leave });
        let hovers: Vec<Json> = p.hovers.iter().map(hover).collect();
        json!({ "root": element(&p.root), "clicks": clicks, "hovers": hovers, "problems": p.problems })
    };
    json!({ "picture": p.map(told) })
}
