//! Pictures of a model, as ProB's users draw them (VisB): an SVG file with a JSON file of items and events, found by the
//! definition `VISB_JSON_FILE` or beside the machine (`Name.visb.json`), and the definitions `VISB_SVG_…` of the machine
//! itself.
//!
//! What comes out is made of elements and attributes that only draw ([`super::svg`]): whoever shows it needs no parser for
//! markup.

use super::session::Session;
use super::svg::{ATTRIBUTES, ELEMENTS, Element, is_harmless, read_svg};
use crate::model::check::{Want, check_expr};
use crate::model::{Model, Type};
use crate::system::{Stop, System};
use crate::trace::ask::{Answer, Ask};
use crate::trace::question::Reply;
use crate::trace::shown;
use crate::value::Value;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Bytes of a file, items of a file, files that include each other.
const MAX_FILE: usize = 4 << 20;
const MAX_ITEMS: usize = 5_000;
const MAX_INCLUDES: usize = 20;
/// Problems that are told, and bytes of a text after its definitions are put in.
const MAX_PROBLEMS: usize = 20;
const MAX_TEXT: usize = 100_000;

/// A picture of the present state.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The outermost element.
    pub root: Element,
    /// What clicks do.
    pub events: Vec<Event>,
    /// What changes while the pointer is over an element.
    pub hovers: Vec<Hover>,
    /// What could not be drawn.
    pub problems: Vec<String>,
}

/// An element that fires an operation when it is clicked.
#[derive(Clone, Debug, Default)]
pub struct Event {
    /// The element.
    pub id: String,
    /// The operation.
    pub operation: String,
    /// What its parameters have to fulfil.
    pub predicates: Vec<String>,
}

/// An attribute while the pointer is over an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The element that the pointer is over.
    pub over: String,
    /// The element that changes.
    pub id: String,
    /// Its attribute.
    pub attribute: String,
    /// Its value then.
    pub enter: String,
    /// Its value afterwards; as before if none is given.
    pub leave: Option<String>,
}

impl Picture {
    fn problem(&mut self, text: String) {
        if self.problems.len() < MAX_PROBLEMS && !self.problems.contains(&text) {
            self.problems.push(text);
        }
    }

    fn hover(&mut self, hover: Hover) {
        let leave = hover.leave.as_deref().unwrap_or_default();
        if is_harmless(&hover.attribute, &hover.enter) && is_harmless(&hover.attribute, leave) {
            self.hovers.push(hover);
        } else {
            self.problem(format!("`{}` cannot be set", hover.attribute));
        }
    }
}

/// The files of a picture while they are read.
#[derive(Default)]
struct Files {
    seen: HashSet<PathBuf>,
    /// Names of `definitions`, and what they stand for.
    definitions: BTreeMap<String, String>,
}

impl Session {
    /// The picture of the present state; none if the model has no picture, or there is no state.
    ///
    /// # Errors
    /// What is wrong with its files.
    pub fn picture(&mut self, stop: &Stop) -> Result<Option<Picture>, String> {
        if self.walk().row().is_none() {
            return Ok(None);
        }
        let mut picture = Picture::default();
        let mut is_there = false;
        let folder = self.file().parent().unwrap_or(Path::new("")).to_path_buf();
        if let Some(svg) = self.string("VISB_SVG_FILE", stop).filter(|name| !name.is_empty()) {
            picture.root = read_svg(&self.read_text(&folder.join(svg))?)?;
            is_there = true;
        }
        // An empty name says that there is no such file.
        let file = match self.string("VISB_JSON_FILE", stop) {
            Some(name) => (!name.is_empty()).then(|| folder.join(name)),
            None => Some(self.file().with_extension("visb.json")).filter(|f| self.files().is_file(f)),
        };
        if let Some(file) = &file {
            self.draw_file(file, true, &mut Files::default(), &mut picture, stop)?;
            is_there = true;
        }
        if picture.root.tag.is_empty() {
            picture.root = Element::new("svg");
        }
        is_there |= self.draw_definitions(&mut picture, stop);
        if !picture.root.attributes.iter().any(|(n, _)| n == "viewBox") {
            let size = |name: &str| {
                let found = picture.root.attributes.iter().find(|(n, _)| n == name);
                found.map(|(_, v)| v.trim_end_matches("px").to_string()).unwrap_or("400".into())
            };
            let all = format!("0 0 {} {}", size("width"), size("height"));
            picture.root.set("viewBox", &all);
        }
        if stop.load(Ordering::Relaxed) {
            picture.problem("the time is over: something may be missing".into());
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

    /// A JSON file: those that it includes first, so that its own items win.
    fn draw_file(
        &mut self,
        file: &Path,
        is_main: bool,
        files: &mut Files,
        picture: &mut Picture,
        stop: &Stop,
    ) -> Result<(), String> {
        if files.seen.len() >= MAX_INCLUDES || !files.seen.insert(self.files().identity(file)) {
            picture.problem(format!("{} is included again, or too many files are", name_of(file)));
            return Ok(());
        }
        let text = self.read_text(file)?;
        let json: Json = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", name_of(file)))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        // The picture is that of the main file.
        if let Some(svg) = json.get("svg").and_then(Json::as_str).filter(|s| is_main && !s.is_empty()) {
            picture.root = read_svg(&self.read_text(&folder.join(svg))?)?;
        }
        if picture.root.tag.is_empty() {
            picture.root = Element::new("svg");
        }
        let included = match json.get("include") {
            Some(Json::String(name)) => vec![name.clone()],
            Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).map(String::from).collect(),
            _ => vec![],
        };
        for name in included.iter().filter(|n| !n.is_empty()) {
            self.draw_file(&folder.join(name), false, files, picture, stop)?;
        }
        let list = |key: &str| json.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
        for definition in list("definitions") {
            if let (Some(name), Some(value)) = (text_of(&definition, "name"), text_of(&definition, "value")) {
                let value = expanded(&value, &files.definitions);
                files.definitions.insert(name, format!("({value})"));
            }
        }
        for object in list("svg_objects").iter().flat_map(repeated).take(MAX_ITEMS) {
            self.draw_object(&object, picture, stop);
        }
        for item in list("items").iter().flat_map(repeated).take(MAX_ITEMS) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let id = text_of(&item, "id").unwrap_or_default();
            for (name, value) in attributes(&item) {
                let value = self.evaluated(&expanded(&value, &files.definitions), stop);
                update(picture, &id, &name, value, item["optional"] == true);
            }
        }
        for event in list("events").iter().flat_map(repeated).take(MAX_ITEMS) {
            self.draw_event(&event, &files.definitions, picture, stop);
        }
        Ok(())
    }

    /// A new element: its attributes are what they are; sums of numbers, which a repetition makes, are computed.
    fn draw_object(&self, object: &Json, picture: &mut Picture, stop: &Stop) {
        let mut record = BTreeMap::new();
        for (name, value) in object.as_object().into_iter().flatten() {
            let text = match value {
                Json::String(s) => s.clone(),
                Json::Number(n) => n.to_string(),
                _ => continue,
            };
            let is_sum =
                text.contains(['+', '*', '/', '(']) || text.trim().get(1..).is_some_and(|t| t.contains('-'));
            let is_number = text.chars().all(|c| c.is_ascii_digit() || " .+-*/()".contains(c));
            let value = match is_sum && is_number {
                true => self.evaluated(&text, stop).unwrap_or(text),
                false => text,
            };
            record.insert(name.clone(), value);
        }
        put(picture, record, true);
    }

    /// What a click on an element does, and the pointer over it.
    fn draw_event(
        &mut self,
        event: &Json,
        definitions: &BTreeMap<String, String>,
        picture: &mut Picture,
        stop: &Stop,
    ) {
        let list = |key: &str| event.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
        let id = text_of(event, "id").unwrap_or_default();
        let predicates = list("predicates");
        let predicates =
            predicates.iter().filter_map(Json::as_str).map(|p| expanded(p, definitions)).collect();
        for hover in list("hovers") {
            if let (Some(attribute), Some(enter)) = (text_of(&hover, "attr"), text_of(&hover, "enter")) {
                let target = text_of(&hover, "id").unwrap_or_else(|| id.clone());
                let leave = text_of(&hover, "leave");
                picture.hover(Hover { over: id.clone(), id: target, attribute, enter, leave });
            }
        }
        let Some(operation) = text_of(event, "event").filter(|o| !o.is_empty()) else { return };
        let event = Event { id, operation, predicates };
        for item in list("items") {
            // Values for when it is enabled, and when it is not.
            let key = if self.choice_of(&event, stop).is_some() { "enabled" } else { "disabled" };
            if let (Some(name), Some(value)) = (text_of(&item, "attr"), text_of(&item, key)) {
                let target = text_of(&item, "id").unwrap_or_else(|| event.id.clone());
                let value = self.evaluated(&expanded(&value, definitions), stop);
                update(picture, &target, &name, value, false);
            }
        }
        picture.events.push(event);
    }

    /// What the machine draws by itself; whether it draws anything.
    fn draw_definitions(&self, picture: &mut Picture, stop: &Stop) -> bool {
        let names = self.project().opened.definitions.names();
        let mut names: Vec<String> = names
            .filter(|(n, params)| *params == 0 && n.starts_with("VISB_SVG_"))
            .map(|(n, _)| n.to_string())
            .collect();
        names.sort();
        let mut is_there = false;
        let mut each = |prefix: &str,
                        picture: &mut Picture,
                        draw: &mut dyn FnMut(&mut Picture, BTreeMap<String, String>)| {
            for name in names.iter().filter(|n| n.starts_with(prefix)) {
                is_there = true;
                match self.records(name, stop) {
                    Ok(records) => records.into_iter().take(MAX_ITEMS).for_each(|r| draw(picture, r)),
                    Err(why) => picture.problem(format!("{name}: {why}")),
                }
            }
        };
        each("VISB_SVG_BOX", picture, &mut |p, record| {
            for (name, value) in record {
                p.root.set(&name, &value);
            }
        });
        each("VISB_SVG_OBJECTS", picture, &mut |p, record| put(p, record, true));
        each("VISB_SVG_UPDATES", picture, &mut |p, record| put(p, record, false));
        each("VISB_SVG_EVENTS", picture, &mut |p, record| put(p, record, false));
        each("VISB_SVG_HOVERS", picture, &mut |p, mut record| {
            let id = id_of(&mut record);
            let over = record.remove("trigger_id").unwrap_or_else(|| id.clone());
            for (attribute, enter) in record {
                let attribute = attribute.replace('_', "-");
                p.hover(Hover { over: over.clone(), id: id.clone(), attribute, enter, leave: None });
            }
        });
        let contents = names.iter().filter(|n| n.starts_with("VISB_SVG_CONTENTS"));
        let mut last = contents.peekable();
        is_there |= last.peek().is_some();
        for name in last {
            let text = self.string(name, stop).unwrap_or_default();
            // A part of a picture, read like a file.
            match read_svg(&format!("<svg>{text}</svg>")) {
                Ok(e) => picture.root.inside.extend(e.inside),
                Err(why) => picture.problem(format!("{name}: {why}")),
            }
        }
        is_there
    }

    /// The first choice that an element of the picture stands for when it is clicked.
    ///
    /// # Errors
    /// No such element, or nothing that fits.
    pub fn clicked(&mut self, id: &str, stop: &Stop) -> Result<usize, String> {
        let picture = self.picture(stop)?.ok_or("there is no picture")?;
        let mine: Vec<Event> = picture.events.into_iter().filter(|e| e.id == id).collect();
        let first = mine.first().ok_or_else(|| format!("`{id}` does nothing"))?;
        let found = mine.iter().find_map(|event| self.choice_of(event, stop));
        found.ok_or_else(|| format!("`{}` is not enabled", first.operation))
    }

    /// The first choice that an event stands for.
    fn choice_of(&mut self, event: &Event, stop: &Stop) -> Option<usize> {
        let choices = self.walk_mut().choices(stop);
        let calls = self.calls(&choices);
        let fits = |call: &&super::session::Call| {
            // Parameters are unknown to the machine: what is asked is solved for them.
            let given = call.parameters.iter().map(|(n, v)| format!("{n} = {v}"));
            let all: Vec<String> = event.predicates.iter().map(|p| format!("({p})")).chain(given).collect();
            event.predicates.is_empty() || self.is_solved(&all, stop)
        };
        calls.iter().filter(|c| c.operation == event.operation).find(fits).map(|c| c.choice)
    }

    fn is_solved(&self, all: &[String], stop: &Stop) -> bool {
        match self.ask(&all.join(" & "), stop) {
            Ok(Reply::Truth(b)) => b,
            Ok(Reply::Solutions { found, .. }) => !found.is_empty(),
            _ => false,
        }
    }

    /// The value of an expression as an attribute has it.
    fn evaluated(&self, text: &str, stop: &Stop) -> Result<String, String> {
        match self.ask(text, stop) {
            Ok(reply) => Ok(plain(&reply)),
            Err(refused) => Err(refused.diagnostics.first().map_or("no value".into(), |d| d.message.clone())),
        }
    }

    /// The value of a definition that the machine has.
    fn typed(&self, text: &str, stop: &Stop) -> Result<(Value, Type, Model), String> {
        let ast = self.parse(text).map_err(|r| first_message(&r.diagnostics))?;
        let mut model = self.named().clone();
        let e = check_expr(&mut model, &ast, Want::Either).map_err(|d| first_message(&d))?;
        let row = self.walk().row().ok_or("there is no state yet")?;
        let machine = self.machine();
        let values = machine.values(machine.start_of(row), Some(row));
        let value = {
            let mut ask = Ask::new(&model, &machine.scope, &values, stop.clone());
            match ask.value(&e) {
                Ok(Answer::Value(v)) => v,
                Ok(Answer::Symbolic) => return Err("it has too many elements".into()),
                Err(fault) => return Err(crate::trace::fault::fault_message(&fault).1),
            }
        };
        Ok((value, e.ty, model))
    }

    fn string(&self, name: &str, stop: &Stop) -> Option<String> {
        match self.typed(name, stop).ok()? {
            (Value::Str(s), ..) => Some(s.to_string()),
            _ => None,
        }
    }

    /// A record, or a set or a sequence of records, as names and texts.
    fn records(&self, name: &str, stop: &Stop) -> Result<Vec<BTreeMap<String, String>>, String> {
        let (value, ty, model) = self.typed(name, stop)?;
        let text = |(v, (n, t)): (&Value, &(std::sync::Arc<str>, Type))| {
            let text = match v {
                Value::Str(s) => s.to_string(),
                v => shown(v, t, &model),
            };
            (n.to_string(), text)
        };
        let one = |v: &Value, ty: &Type| -> Option<BTreeMap<String, String>> {
            // The records of a sequence or of any other function.
            let (v, ty) = match (v, ty) {
                (Value::Pair(p), Type::Pair(t)) => (&p.1, &t.1),
                other => other,
            };
            let (Value::Rec(values), Some(fields)) = (v, ty.fields()) else { return None };
            Some(values.iter().zip(fields).map(text).collect())
        };
        let wrong = || "expected a record, or a set or a sequence of records".to_string();
        match (&value, ty.elem()) {
            (Value::Set(all), Some(elem)) => {
                all.iter().map(|v| one(v, elem)).collect::<Option<_>>().ok_or_else(wrong)
            }
            _ => Ok(vec![one(&value, &ty).ok_or_else(wrong)?]),
        }
    }
}

fn first_message(all: &[crate::lang::diag::Diagnostic]) -> String {
    all.first().map_or("it has no value".into(), |d| d.message.clone())
}

fn name_of(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

fn text_of(json: &Json, key: &str) -> Option<String> {
    json.get(key).and_then(Json::as_str).map(String::from)
}

fn id_of(record: &mut BTreeMap<String, String>) -> String {
    record.remove("id").or_else(|| record.remove("svg_id")).unwrap_or_default()
}

/// Sets an attribute of an element that is there.
fn update(picture: &mut Picture, id: &str, name: &str, value: Result<String, String>, is_optional: bool) {
    match (value, picture.root.find(id)) {
        (Ok(value), Some(e)) => e.update(name, &value),
        (Ok(_), None) if is_optional => {}
        (Ok(_), None) => picture.problem(format!("the picture has no `{id}`")),
        (Err(why), _) => picture.problem(format!("{id}.{name}: {why}")),
    }
}

/// A new element, or other attributes of one that is there.
fn put(picture: &mut Picture, mut record: BTreeMap<String, String>, is_new: bool) {
    let id = id_of(&mut record);
    let tag = record.remove("svg_class").unwrap_or_default();
    if is_new && picture.root.find(&id).is_none() {
        if !ELEMENTS.contains(&&*tag) {
            return picture.problem(format!("`{tag}` cannot be drawn"));
        }
        picture.root.inside.push(Element { id: Some(id.clone()), ..Element::new(&tag) });
    }
    if let Some(operation) = record.remove("event").filter(|o| !o.is_empty()) {
        let predicate = record.remove("predicate").or_else(|| record.remove("predicates"));
        let predicates = predicate.into_iter().filter(|p| !p.is_empty()).collect();
        picture.events.push(Event { id: id.clone(), operation, predicates });
    }
    let Some(e) = picture.root.find(&id) else {
        return picture.problem(format!("the picture has no `{id}`"));
    };
    for (name, value) in record {
        // Names of fields have no hyphens.
        e.update(&name.replace('_', "-"), &value);
    }
}

/// What an item sets: `attr` to `value`, or each attribute that it names.
fn attributes(item: &Json) -> Vec<(String, String)> {
    if let (Some(name), Some(value)) = (text_of(item, "attr"), text_of(item, "value")) {
        return vec![(name, value)];
    }
    let all = item.as_object().into_iter().flatten();
    let named =
        all.filter(|(n, _)| matches!(n.as_str(), "text" | "title") || ATTRIBUTES.contains(&n.as_str()));
    named.filter_map(|(n, v)| Some((n.clone(), v.as_str()?.to_string()))).collect()
}

/// Names of definitions in an expression become what they stand for; what is in quotes stays.
fn expanded(text: &str, definitions: &BTreeMap<String, String>) -> String {
    if definitions.is_empty() {
        return text.to_string();
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '"' => rest[1..].find('"').map_or(rest.len(), |at| at + 2),
            c if is_part(c) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let word = &rest[..end];
        out.push_str(definitions.get(word).map_or(word, |value| value));
        rest = &rest[end..];
        if out.len() > MAX_TEXT {
            return text.to_string();
        }
    }
    out
}

/// An item, or one for each value of `for` and `repeat`, which stand in its texts as `%0`, `%1` and so on: first the number
/// of `for`, then a value of `repeat`, or several if its elements are lists.
fn repeated(item: &Json) -> Vec<Json> {
    let bound = |key: &str| item.get("for").and_then(|f| f.get(key)).and_then(Json::as_i64);
    let numbers: Vec<Vec<String>> = match (bound("from"), bound("to")) {
        (Some(from), Some(to)) => {
            let step = bound("step").filter(|s| *s > 0).and_then(|s| usize::try_from(s).ok()).unwrap_or(1);
            (from..=to).step_by(step).take(MAX_ITEMS).map(|i| vec![i.to_string()]).collect()
        }
        _ => vec![vec![]],
    };
    let text = |v: &Json| v.as_str().map_or_else(|| v.to_string(), String::from);
    let values: Vec<Vec<String>> = match item.get("repeat").and_then(Json::as_array) {
        Some(all) => {
            let one = |v: &Json| match v.as_array() {
                Some(several) => several.iter().map(text).collect(),
                None => vec![text(v)],
            };
            all.iter().map(one).collect()
        }
        None => vec![vec![]],
    };
    fn put(json: &Json, values: &[String]) -> Json {
        match json {
            Json::String(s) => {
                // The last first, so that %1 is no part of %10.
                let all = values.iter().enumerate().rev();
                all.fold(s.clone(), |s, (i, value)| s.replace(&format!("%{i}"), value)).into()
            }
            Json::Array(all) => all.iter().map(|j| put(j, values)).collect(),
            Json::Object(all) => Json::Object(all.iter().map(|(k, j)| (k.clone(), put(j, values))).collect()),
            other => other.clone(),
        }
    }
    let all = numbers.iter().flat_map(|n| values.iter().map(move |v| [&n[..], &v[..]].concat()));
    all.take(MAX_ITEMS).map(|v| if v.is_empty() { item.clone() } else { put(item, &v) }).collect()
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
    fn items_are_repeated() {
        let told = |item: Json| -> Vec<String> {
            repeated(&item).iter().map(|i| format!("{}{}", i["id"], i["predicates"])).collect()
        };
        let item =
            serde_json::json!({ "for": { "from": 1, "to": 3 }, "id": "x%0", "predicates": ["p = %0"] });
        assert_eq!(told(item), ["\"x1\"[\"p = 1\"]", "\"x2\"[\"p = 2\"]", "\"x3\"[\"p = 3\"]"]);
        let item = serde_json::json!({ "repeat": [["a", "b"], ["c", "d"]], "id": "%1%0", "predicates": [] });
        assert_eq!(told(item), ["\"ba\"[]", "\"dc\"[]"]);
        let both =
            serde_json::json!({ "for": { "from": 0, "to": 4, "step": 4 }, "repeat": ["a"], "id": "%0%1" });
        assert_eq!(told(both), ["\"0a\"null", "\"4a\"null"]);
        let endless = serde_json::json!({ "for": { "from": i64::MIN, "to": i64::MAX }, "id": "%0" });
        assert_eq!(repeated(&endless).len(), MAX_ITEMS);
    }

    #[test]
    fn definitions_stand_for_their_values() {
        let all = BTreeMap::from([("h".to_string(), "(2 * x)".to_string())]);
        assert_eq!(expanded("h + hh + \"h\" + h'", &all), "(2 * x) + hh + \"h\" + (2 * x)'");
        assert_eq!(expanded("\"open", &all), "\"open");
    }
}
