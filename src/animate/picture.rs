//! Pictures of a model, as ProB's users draw them (VisB): an SVG file with a JSON file of items and events, found by the
//! definition `VISB_JSON_FILE` or beside the machine (`Name.visb.json`), and the definitions `VISB_SVG_OBJECTS…` and
//! `VISB_SVG_UPDATES…` of the machine itself.
//!
//! What comes out is a tree of elements and attributes that are known to do nothing but draw: no script, no link, no style
//! sheet, no address. Whoever shows it needs no parser for markup.

use super::session::Session;
use crate::model::check::{Want, check_expr};
use crate::model::{Model, Type};
use crate::system::{Stop, System};
use crate::trace::ask::{Answer, Ask};
use crate::trace::question::Reply;
use crate::trace::shown;
use crate::value::Value;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::path::Path;

/// Bytes of a file, elements of a picture, items of a file.
const MAX_FILE: usize = 4 << 20;
const MAX_ELEMENTS: usize = 20_000;
const MAX_ITEMS: usize = 5_000;
/// How deep elements may stand in each other.
const MAX_DEPTH: usize = 100;

/// Elements that draw.
const ELEMENTS: [&str; 21] = [
    "svg",
    "g",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "path",
    "text",
    "tspan",
    "title",
    "desc",
    "defs",
    "linearGradient",
    "radialGradient",
    "stop",
    "clipPath",
    "marker",
    "mask",
    "pattern",
];

/// Attributes that say where and how.
const ATTRIBUTES: [&str; 66] = [
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "rx",
    "ry",
    "fx",
    "fy",
    "dx",
    "dy",
    "width",
    "height",
    "d",
    "points",
    "viewBox",
    "preserveAspectRatio",
    "transform",
    "fill",
    "fill-opacity",
    "fill-rule",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-miterlimit",
    "opacity",
    "visibility",
    "display",
    "color",
    "font-family",
    "font-size",
    "font-weight",
    "font-style",
    "text-anchor",
    "dominant-baseline",
    "alignment-baseline",
    "letter-spacing",
    "text-decoration",
    "offset",
    "stop-color",
    "stop-opacity",
    "gradientUnits",
    "gradientTransform",
    "clip-path",
    "clip-rule",
    "mask",
    "marker-start",
    "marker-mid",
    "marker-end",
    "markerWidth",
    "markerHeight",
    "refX",
    "refY",
    "orient",
    "rotate",
    "pathLength",
    "textLength",
    "vector-effect",
];

/// A picture of the present state.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The outermost element.
    pub root: Element,
    /// Elements that do something when they are clicked, by their names: the operation, and predicates about its
    /// parameters.
    pub events: Vec<(String, String, Vec<String>)>,
    /// What could not be drawn.
    pub problems: Vec<String>,
}

/// An element of a picture.
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// What it is.
    pub tag: String,
    /// Its name, if it has one.
    pub id: Option<String>,
    /// Where and how.
    pub attributes: Vec<(String, String)>,
    /// What it says.
    pub text: String,
    /// What is in it.
    pub inside: Vec<Element>,
}

impl Element {
    fn new(tag: &str) -> Element {
        Element { tag: tag.to_string(), ..Element::default() }
    }

    /// Sets what is known to be harmless.
    fn set(&mut self, name: &str, value: &str) {
        if name == "style" {
            for part in value.split(';') {
                if let Some((name, value)) = part.split_once(':')
                    && name.trim() != "style"
                {
                    self.set(name.trim(), value.trim());
                }
            }
            return;
        }
        let lower = value.to_lowercase();
        // Only to a part of the picture itself.
        let leads_out = lower
            .match_indices("url(")
            .any(|(at, _)| !lower[at + 4..].trim_start_matches([' ', '"', '\'']).starts_with('#'));
        if !ATTRIBUTES.contains(&name) || leads_out {
            return;
        }
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value.to_string(),
            None => self.attributes.push((name.to_string(), value.to_string())),
        }
    }

    fn find<'e>(&'e mut self, id: &str) -> Option<&'e mut Element> {
        if self.id.as_deref() == Some(id) {
            return Some(self);
        }
        self.inside.iter_mut().find_map(|e| e.find(id))
    }

    /// Sets the text or an attribute, as VisB calls them.
    fn update(&mut self, name: &str, value: &str) {
        match name {
            "text" => {
                self.text = value.to_string();
                self.inside.clear();
            }
            _ => self.set(name, value),
        }
    }
}

/// An SVG text as elements that draw; others are left out, with all that is in them.
fn read_svg(text: &str) -> Result<Element, String> {
    // Entities are not expanded: a document type is refused.
    let document = roxmltree::Document::parse(text).map_err(|e| format!("the SVG file is wrong: {e}"))?;
    let mut left = MAX_ELEMENTS;
    element(document.root_element(), 0, &mut left)
        .filter(|e| e.tag == "svg")
        .ok_or_else(|| "the SVG file has no picture".to_string())
}

fn element(node: roxmltree::Node, depth: usize, left: &mut usize) -> Option<Element> {
    let tag = node.tag_name().name();
    if depth > MAX_DEPTH || *left == 0 || !ELEMENTS.contains(&tag) {
        return None;
    }
    *left -= 1;
    let mut out = Element::new(tag);
    for a in node.attributes().filter(|a| a.namespace().is_none()) {
        match a.name() {
            "id" => out.id = Some(a.value().to_string()),
            name => out.set(name, a.value()),
        }
    }
    for child in node.children() {
        if child.is_element() {
            out.inside.extend(element(child, depth + 1, left));
        } else if let Some(text) = child.text().filter(|_| child.is_text()) {
            out.text.push_str(text.trim());
        }
    }
    Some(out)
}

impl Session {
    /// The picture of the present state; none if the model has no picture, or there is no state.
    ///
    /// # Errors
    /// What is wrong with its files.
    pub fn picture(&self, stop: &Stop) -> Result<Option<Picture>, String> {
        if self.walk().row().is_none() {
            return Ok(None);
        }
        let mut picture = Picture::default();
        let mut is_there = false;
        let folder = self.file().parent().unwrap_or(Path::new(""));
        let named = self.string("VISB_JSON_FILE", stop).filter(|name| !name.is_empty());
        let beside = self.file().with_extension("visb.json");
        let file = named.map(|name| folder.join(name)).or(Some(beside).filter(|f| self.files().is_file(f)));
        if let Some(file) = &file {
            let json = self.read_text(file)?;
            let json: Json = serde_json::from_str(&json).map_err(|e| format!("{}: {e}", file.display()))?;
            self.draw_file(&json, file, &mut picture, stop)?;
            is_there = true;
        }
        if picture.root.tag.is_empty() {
            picture.root = Element::new("svg");
        }
        for suffix in std::iter::once(String::new()).chain((1..=9).map(|i| i.to_string())) {
            for (name, is_new) in
                [("VISB_SVG_OBJECTS", true), ("VISB_SVG_UPDATES", false), ("VISB_SVG_EVENTS", false)]
            {
                let Some(records) = self.records(&format!("{name}{suffix}"), stop) else { continue };
                is_there = true;
                for record in records.into_iter().take(MAX_ITEMS) {
                    put(&mut picture, record, is_new);
                }
            }
        }
        if !picture.root.attributes.iter().any(|(n, _)| n == "viewBox") {
            let size = |name: &str| {
                let found = picture.root.attributes.iter().find(|(n, _)| n == name);
                found.map(|(_, v)| v.trim_end_matches("px").to_string()).unwrap_or("400".into())
            };
            let all = format!("0 0 {} {}", size("width"), size("height"));
            picture.root.set("viewBox", &all);
        }
        Ok(is_there.then_some(picture))
    }

    fn read_text(&self, file: &Path) -> Result<String, String> {
        let bytes = self.files().read(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        if bytes.len() > MAX_FILE {
            return Err(format!("{} is too large", file.display()));
        }
        String::from_utf8(bytes).map_err(|_| format!("{} is no text", file.display()))
    }

    /// An SVG file with items and events.
    fn draw_file(&self, json: &Json, file: &Path, picture: &mut Picture, stop: &Stop) -> Result<(), String> {
        let folder = file.parent().unwrap_or(Path::new(""));
        if let Some(svg) = json.get("svg").and_then(Json::as_str).filter(|s| !s.is_empty()) {
            picture.root = read_svg(&self.read_text(&folder.join(svg))?)?;
        }
        let list = |key: &str| json.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
        let field =
            |item: &Json, key: &str| item.get(key).and_then(Json::as_str).unwrap_or_default().to_string();
        for item in list("items").iter().flat_map(repeated).take(MAX_ITEMS) {
            let id = field(&item, "id");
            for (name, value) in attributes(&item) {
                let value = match self.ask(&value, stop) {
                    Ok(reply) => plain(&reply),
                    Err(refused) => {
                        let why = refused.diagnostics.first().map_or("no value", |d| &d.message);
                        picture.problems.push(format!("{id}.{name}: {why}"));
                        continue;
                    }
                };
                match picture.root.find(&id) {
                    Some(e) => e.update(&name, &value),
                    None => picture.problems.push(format!("the picture has no `{id}`")),
                }
            }
        }
        for event in list("events").iter().flat_map(repeated).take(MAX_ITEMS) {
            let predicates = event.get("predicates").and_then(Json::as_array).cloned().unwrap_or_default();
            let predicates = predicates.iter().filter_map(Json::as_str).map(String::from).collect();
            let (id, operation) = (field(&event, "id"), field(&event, "event"));
            if !operation.is_empty() {
                picture.events.push((id, operation, predicates));
            }
        }
        Ok(())
    }

    /// The first choice that an element of the picture stands for when it is clicked.
    ///
    /// # Errors
    /// No such element, or nothing that fits.
    pub fn clicked(&mut self, id: &str, stop: &Stop) -> Result<usize, String> {
        let picture = self.picture(stop)?.ok_or("there is no picture")?;
        let mine: Vec<_> = picture.events.into_iter().filter(|(name, ..)| name == id).collect();
        let (_, first, _) = mine.first().ok_or_else(|| format!("`{id}` does nothing"))?;
        let first = first.clone();
        let choices = self.walk_mut().choices(stop);
        let calls = self.calls(&choices);
        for (_, operation, predicates) in &mine {
            for call in calls.iter().filter(|c| c.operation == *operation) {
                // Parameters are unknown to the machine: what is asked is solved for them.
                let given = call.parameters.iter().map(|(n, v)| format!("{n} = {v}"));
                let all: Vec<String> = predicates.iter().map(|p| format!("({p})")).chain(given).collect();
                if predicates.is_empty() || self.is_solved(&all, stop) {
                    return Ok(call.choice);
                }
            }
        }
        Err(format!("`{first}` is not enabled"))
    }

    fn is_solved(&self, all: &[String], stop: &Stop) -> bool {
        match self.ask(&all.join(" & "), stop) {
            Ok(Reply::Truth(b)) => b,
            Ok(Reply::Solutions { found, .. }) => !found.is_empty(),
            _ => false,
        }
    }

    /// The value of a definition that the machine may have.
    fn typed(&self, text: &str, stop: &Stop) -> Option<(Value, Type, Model)> {
        let ast = self.parse(text).ok()?;
        let mut model = self.named().clone();
        let e = check_expr(&mut model, &ast, Want::Either).ok()?;
        let row = self.walk().row()?;
        let machine = self.machine();
        let values = machine.values(machine.start_of(row), Some(row));
        let value = {
            let mut ask = Ask::new(&model, &machine.scope, &values, stop.clone());
            match ask.value(&e) {
                Ok(Answer::Value(v)) => v,
                _ => return None,
            }
        };
        Some((value, e.ty, model))
    }

    fn string(&self, name: &str, stop: &Stop) -> Option<String> {
        match self.typed(name, stop)? {
            (Value::Str(s), ..) => Some(s.to_string()),
            _ => None,
        }
    }

    /// A record or a set of records, as names and texts.
    fn records(&self, name: &str, stop: &Stop) -> Option<Vec<HashMap<String, String>>> {
        let (value, ty, model) = self.typed(name, stop)?;
        let one = |v: &Value, ty: &Type| -> Option<HashMap<String, String>> {
            let (Value::Rec(values), Some(fields)) = (v, ty.fields()) else { return None };
            let text = |(v, (n, t)): (&Value, &(std::sync::Arc<str>, Type))| {
                let text = match v {
                    Value::Str(s) => s.to_string(),
                    v => shown(v, t, &model),
                };
                (n.to_string(), text)
            };
            Some(values.iter().zip(fields).map(text).collect())
        };
        match (&value, ty.elem()) {
            (Value::Set(all), Some(elem)) => all.iter().map(|v| one(v, elem)).collect(),
            _ => Some(vec![one(&value, &ty)?]),
        }
    }
}

/// A new element, or other attributes of one that is there.
fn put(picture: &mut Picture, mut record: HashMap<String, String>, is_new: bool) {
    let id = record.remove("id").or_else(|| record.remove("svg_id")).unwrap_or_default();
    let tag = record.remove("svg_class").unwrap_or_default();
    if is_new && picture.root.find(&id).is_none() {
        if !ELEMENTS.contains(&&*tag) {
            return picture.problems.push(format!("`{tag}` cannot be drawn"));
        }
        picture.root.inside.push(Element { id: Some(id.clone()), ..Element::new(&tag) });
    }
    if let Some(operation) = record.remove("event").filter(|o| !o.is_empty()) {
        let predicates = record.remove("predicate").into_iter().filter(|p| !p.is_empty()).collect();
        picture.events.push((id.clone(), operation, predicates));
    }
    let Some(e) = picture.root.find(&id) else {
        return picture.problems.push(format!("the picture has no `{id}`"));
    };
    let mut all: Vec<(String, String)> = record.into_iter().collect();
    all.sort();
    for (name, value) in all {
        // Names of fields have no hyphens.
        e.update(&name.replace('_', "-"), &value);
    }
}

/// What an item sets: `attr` to `value`, or each attribute that it names.
fn attributes(item: &Json) -> Vec<(String, String)> {
    let text = |key: &str| item.get(key).and_then(Json::as_str).map(String::from);
    if let (Some(name), Some(value)) = (text("attr"), text("value")) {
        return vec![(name, value)];
    }
    let all = item.as_object().into_iter().flatten();
    let named = all.filter(|(n, _)| *n == "text" || ATTRIBUTES.contains(&n.as_str()));
    named.filter_map(|(n, v)| Some((n.clone(), v.as_str()?.to_string()))).collect()
}

/// An item, or one for each value of `repeat` or `for`, which stand in its texts as `%0`.
fn repeated(item: &Json) -> Vec<Json> {
    let bound = |key: &str| item.get("for").and_then(|f| f.get(key)).and_then(Json::as_i64);
    let values: Vec<String> = match (item.get("repeat").and_then(Json::as_array), bound("from"), bound("to"))
    {
        (Some(all), ..) => {
            all.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), String::from)).collect()
        }
        (None, Some(from), Some(to)) => {
            (from..=to.min(from + MAX_ITEMS as i64)).map(|i| i.to_string()).collect()
        }
        _ => return vec![item.clone()],
    };
    fn put(json: &Json, value: &str) -> Json {
        match json {
            Json::String(s) => s.replace("%0", value).into(),
            Json::Array(all) => all.iter().map(|j| put(j, value)).collect(),
            Json::Object(all) => Json::Object(all.iter().map(|(k, j)| (k.clone(), put(j, value))).collect()),
            other => other.clone(),
        }
    }
    values.iter().map(|v| put(item, v)).collect()
}

/// A value as an attribute has it.
fn plain(reply: &Reply) -> String {
    match reply {
        Reply::Truth(b) => if *b { "TRUE" } else { "FALSE" }.to_string(),
        Reply::Value(v) => match v.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
            Some(inside) => inside.to_string(),
            None => v.clone(),
        },
        Reply::Solutions { .. } => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_draws_is_left_of_an_svg() {
        let text = r##"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="a()">
            <script>a()</script><style>*{}</style><foreignObject><p/></foreignObject>
            <a xlink:href="javascript:a()"><rect/></a><image href="http://x/"/><use href="#r"/>
            <rect id="r" x="1" onclick="a()" style="fill:red;background:url(http://x/)" fill="url(http://x/)"
              stroke="url(#g)" class="card"/><text>hello<tspan>there</tspan></text></svg>"##;
        let svg = read_svg(text).expect("a picture");
        assert!(svg.attributes.is_empty());
        let tags: Vec<&str> = svg.inside.iter().map(|e| &*e.tag).collect();
        assert_eq!(tags, ["rect", "text"]);
        let expected: Vec<(String, String)> =
            [("x", "1"), ("fill", "red"), ("stroke", "url(#g)")].map(|(a, b)| (a.into(), b.into())).into();
        let mut found = svg.inside[0].attributes.clone();
        found.sort();
        let mut expected = expected;
        expected.sort();
        assert_eq!(found, expected);
        assert!(read_svg("<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>").is_err());
        assert!(read_svg("<p/>").is_err() && read_svg("nonsense").is_err());
    }

    #[test]
    fn items_are_repeated() {
        let item =
            serde_json::json!({ "for": { "from": 1, "to": 3 }, "id": "x%0", "predicates": ["p = %0"] });
        let ids: Vec<String> =
            repeated(&item).iter().map(|i| format!("{}{}", i["id"], i["predicates"])).collect();
        assert_eq!(ids, ["\"x1\"[\"p = 1\"]", "\"x2\"[\"p = 2\"]", "\"x3\"[\"p = 3\"]"]);
    }
}
