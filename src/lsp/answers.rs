//! Questions of an editor about a document, and their answers.

use super::text::Text;
use super::world::{Document, Page, World, is_classical, is_csp, uri_of};
use crate::lang::b::index::index;
use crate::lang::diag::{Diagnostic, FileId, Severity, SourceMap, Span};
use crate::lang::index::{Declared, Index, Kind};
use crate::lang::languages;
use crate::lang::notation::{functions, is_reserved};
use crate::lang::style::Style;
use serde_json::{Value as Json, json};
use std::path::Path;

/// Words that are offered beside names.
const WORDS: [&str; 53] = [
    "ABSTRACT_CONSTANTS",
    "ANY",
    "ASSERT",
    "ASSERTIONS",
    "BE",
    "BEGIN",
    "BOOL",
    "CASE",
    "CHOICE",
    "CONCRETE_VARIABLES",
    "CONSTANTS",
    "CONSTRAINTS",
    "DEFINITIONS",
    "DO",
    "EITHER",
    "ELSE",
    "ELSIF",
    "END",
    "EXTENDS",
    "FREETYPES",
    "IF",
    "IMPORTS",
    "IN",
    "INCLUDES",
    "INITIALISATION",
    "INTEGER",
    "INVARIANT",
    "LET",
    "MACHINE",
    "NATURAL",
    "NATURAL1",
    "OF",
    "OPERATIONS",
    "OR",
    "PRE",
    "PROMOTES",
    "PROPERTIES",
    "REFINEMENT",
    "REFINES",
    "SEES",
    "SELECT",
    "SETS",
    "STRING",
    "THEN",
    "USES",
    "VALUES",
    "VAR",
    "VARIABLES",
    "VARIANT",
    "WHEN",
    "WHERE",
    "WHILE",
    "skip",
];

/// Words of texts of Event-B, which are offered beside names.
const EVENT_B_WORDS: [&str; 30] = [
    "any",
    "anticipated",
    "axioms",
    "begin",
    "bool",
    "card",
    "constants",
    "context",
    "convergent",
    "dom",
    "end",
    "event",
    "events",
    "extends",
    "finite",
    "inter",
    "invariants",
    "machine",
    "partition",
    "ran",
    "refines",
    "sees",
    "sets",
    "then",
    "theorem",
    "union",
    "variables",
    "variant",
    "where",
    "with",
];

/// What an editor is told of a diagnostic.
pub fn diagnostic(d: &Diagnostic, document: &Document, sources: &SourceMap) -> Json {
    let is_here = d.span.file == FileId(0) && sources.path(FileId(0)) == Some(&document.path);
    let mut message = d.message.clone();
    let range = if is_here {
        document.text.range(d.span.lo, d.span.hi)
    } else {
        // In a file that this one refers to: shown where it does.
        message = format!("{}: {message}", sources.place(d.span));
        let stem = sources.path(d.span.file).and_then(|p| p.file_stem()?.to_str());
        let named = document.index().and_then(|i| {
            i.references.iter().find(|r| Some(&*r.machine.name) == stem).map(|r| r.machine.span)
        });
        named.map_or(document.text.range(0, 0), |s| document.text.range(s.lo, s.hi))
    };
    if let Some(help) = &d.help {
        message = format!("{message}\n{help}");
    }
    let note = |(span, words): &(Span, String)| {
        let source = sources.get(span.file)?;
        let range = Text::new(source.text.clone()).range(span.lo, span.hi);
        Some(json!({ "location": { "uri": uri_of(&source.path), "range": range }, "message": words }))
    };
    let severity = match d.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    };
    let mut told = json!({ "range": range, "severity": severity, "code": d.code, "source": "kanon",
                           "message": message });
    let notes: Vec<Json> = d.notes.iter().filter_map(note).collect();
    if !notes.is_empty() {
        told["relatedInformation"] = notes.into();
    }
    told
}

fn location(path: &Path, text: &Text, span: Span) -> Json {
    json!({ "uri": uri_of(path), "range": text.range(span.lo, span.hi) })
}

/// What a name at a place means: a declaration of this document or of a file that it refers to.
enum Meaning {
    Here(usize),
    There(Page, usize),
    Unknown(String),
}

fn meaning(world: &mut World, uri: &str, position: &Json) -> Option<(Meaning, Span)> {
    let d = world.looked_at(uri)?;
    let (path, offset) = (d.path.clone(), d.text.offset(position) as u32);
    let index = d.index()?.clone();
    if let Some((of, name, span)) = index.at(offset) {
        let name = name.to_string();
        let meaning = match of {
            Some(i) => Meaning::Here(i),
            None => match world.elsewhere(&path, &name) {
                Some((page, i)) => Meaning::There(page, i),
                None => Meaning::Unknown(name),
            },
        };
        return Some((meaning, span));
    }
    // The name of another machine.
    let covers = |s: Span| s.lo <= offset && offset <= s.hi;
    let machine = index.references.iter().find(|r| covers(r.machine.span))?;
    let (name, span) = (machine.machine.name.clone(), machine.machine.span);
    let pages = world.related(&path);
    let found = pages.into_iter().skip(1).find_map(|page| {
        let at = page.index.names.iter().position(|d| d.kind.is_component() && d.name == name)?;
        Some((page, at))
    });
    let meaning =
        found.map_or_else(|| Meaning::Unknown(name.to_string()), |(page, at)| Meaning::There(page, at));
    Some((meaning, span))
}

fn described(declared: &Declared, text: &Text, ty: Option<&String>) -> String {
    let of = |span: Span| text.text.get(span.lo as usize..span.hi as usize).unwrap_or_default();
    let shown = match declared.kind {
        Kind::Operation => {
            let head = of(declared.head);
            // The parameters end before the bracket that closes them.
            if head.contains('(') { format!("{head})") } else { head.to_string() }
        }
        Kind::Event => {
            let parameters = of(declared.whole);
            let head = parameters.lines().next().unwrap_or_default().trim();
            head.chars().take(200).collect()
        }
        Kind::Definition => of(declared.whole).chars().take(600).collect(),
        _ => match ty {
            Some(ty) => format!("{} : {ty}", declared.name),
            None => declared.name.to_string(),
        },
    };
    format!("```b\n{shown}\n```\n{}", declared.kind.word())
}

pub fn hover(world: &mut World, uri: &str, position: &Json) -> Option<Json> {
    let (meaning, span) = meaning(world, uri, position)?;
    let d = world.document(uri)?;
    let (mut words, name) = match &meaning {
        Meaning::Here(i) => {
            let declared = d.index()?.names.get(*i)?;
            (described(declared, &d.text, d.type_of(declared)), declared.name.to_string())
        }
        Meaning::There(page, i) => {
            let declared = page.index.names.get(*i)?;
            let file = page.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (format!("{} of {file}", described(declared, &page.text, None)), declared.name.to_string())
        }
        Meaning::Unknown(_) => return None,
    };
    if let Some((from, values)) = &d.values
        && let Some(value) = values.get(&name)
    {
        words = format!("{words}\n\n```b\n{name} = {value}\n```\n{from}");
    }
    let range = d.text.range(span.lo, span.hi);
    Some(json!({ "contents": { "kind": "markdown", "value": words }, "range": range }))
}

pub fn definition(world: &mut World, uri: &str, position: &Json) -> Option<Json> {
    let (meaning, _) = meaning(world, uri, position)?;
    match meaning {
        Meaning::Here(i) => {
            let d = world.document(uri)?;
            Some(location(&d.path, &d.text, d.index()?.names.get(i)?.span))
        }
        Meaning::There(page, i) => Some(location(&page.path, &page.text, page.index.names.get(i)?.span)),
        Meaning::Unknown(_) => None,
    }
}

/// Places in files where a declaration is used or, if it is wanted, declared.
struct Places {
    page: Page,
    spans: Vec<Span>,
}

/// All places of what a name means, the file of the declaration first.
fn places(world: &mut World, uri: &str, position: &Json) -> Option<(Vec<Places>, Page, usize)> {
    let (meaning, _) = meaning(world, uri, position)?;
    let (path, at) = match meaning {
        Meaning::Here(i) => (world.document(uri)?.path.clone(), i),
        Meaning::There(page, i) => (page.path, i),
        Meaning::Unknown(_) => return None,
    };
    let mut pages = world.related(&path);
    if pages.is_empty() {
        return None;
    }
    let home = pages.swap_remove(0);
    let declared = home.index.names.get(at)?.clone();
    let mut spans: Vec<Span> = vec![declared.span];
    spans.extend(home.index.uses_of(at).map(|u| u.span));
    let text = home.text.clone();
    let first = Page { path: home.path.clone(), text, index: home.index.clone() };
    let mut found = vec![Places { page: first, spans }];
    if declared.scope.is_none() {
        for page in world.relating(&path).into_iter().skip(1) {
            let spans: Vec<Span> = match declared.kind {
                Kind::Machine | Kind::Context => {
                    let named = page.index.references.iter().filter(|r| r.machine.name == declared.name);
                    named.map(|r| r.machine.span).collect()
                }
                _ => {
                    let suffix = format!(".{}", declared.name);
                    let means = |name: &str| name == &*declared.name || name.ends_with(&suffix);
                    let uses = page.index.uses.iter().filter(|u| u.of.is_none() && means(&u.name));
                    uses.map(|u| u.span).collect()
                }
            };
            if !spans.is_empty() {
                found.push(Places { page, spans });
            }
        }
    }
    Some((found, home, at))
}

pub fn references(world: &mut World, uri: &str, position: &Json, with_declaration: bool) -> Option<Json> {
    let (found, home, at) = places(world, uri, position)?;
    let declared = home.index.names.get(at)?.span;
    let mut all = vec![];
    for (i, Places { page, spans }) in found.iter().enumerate() {
        let wanted = spans.iter().filter(|s| with_declaration || i > 0 || **s != declared);
        all.extend(wanted.map(|s| location(&page.path, &page.text, *s)));
    }
    Some(all.into())
}

pub fn highlights(world: &mut World, uri: &str, position: &Json) -> Option<Json> {
    let d = world.looked_at(uri)?;
    let index = d.index()?;
    let (of, name, _) = index.at(d.text.offset(position) as u32)?;
    let declared = of.and_then(|i| index.names.get(i)).map(|n| n.span);
    let uses = index.uses.iter().filter(|u| u.of == of && (of.is_some() || u.name == *name)).map(|u| u.span);
    let all = declared.into_iter().chain(uses);
    Some(all.map(|s| json!({ "range": d.text.range(s.lo, s.hi) })).collect::<Vec<_>>().into())
}

/// Whether a name can be typed as it is.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic())
        && chars.all(|c| c.is_alphanumeric() || c == '_')
        && !is_reserved(name)
        && index(&format!("MACHINE M CONSTANTS {name} END"), FileId(0)).diagnostics.is_empty()
}

/// A refinement of Event-B has the names of its abstraction, which declares them again: they would have to be renamed
/// together.
fn can_rename(world: &World, uri: &str) -> Result<(), String> {
    match world.document(uri).is_some_and(|d| is_classical(&d.path)) {
        true => Ok(()),
        false => Err("only names of classical B can be renamed".to_string()),
    }
}

/// The range of a name that can be renamed.
///
/// # Errors
/// Why there is none.
pub fn renamable(world: &mut World, uri: &str, position: &Json) -> Result<Json, String> {
    can_rename(world, uri)?;
    let (meaning, span) = meaning(world, uri, position).ok_or("there is no name here")?;
    if let Meaning::Unknown(name) = meaning {
        return Err(format!("it is not known what `{name}` means"));
    }
    let d = world.document(uri).ok_or("the document is not open")?;
    Ok(d.text.range(span.lo, span.hi))
}

/// The edits that give something another name.
///
/// # Errors
/// Why that would change the meaning of a model, or cannot be done.
pub fn rename(world: &mut World, uri: &str, position: &Json, new: &str) -> Result<Json, String> {
    can_rename(world, uri)?;
    if !is_plain(new) {
        return Err(format!("`{new}` is no name, or a reserved word"));
    }
    let (found, home, at) =
        places(world, uri, position).ok_or("there is no name here whose meaning is known")?;
    let declared = home.index.names[at].clone();
    if declared.kind == Kind::Machine {
        return Err("a machine is called like its file: rename both by hand".to_string());
    }
    related_declarations(world, &home, &declared, new)?;
    definitions_allow(&found, &declared, new)?;
    let mut changes = serde_json::Map::new();
    for Places { page, spans } in &found {
        let file = page.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut text = page.text.text.to_string();
        let mut spans = spans.clone();
        spans.sort();
        for s in spans.iter().rev() {
            if page.text.text.get(s.lo as usize..s.hi as usize) != Some(&*declared.name) {
                return Err(format!("`{}` is written in another way in {file}", declared.name));
            }
            text.replace_range(s.lo as usize..s.hi as usize, new);
        }
        let after = index(&text, FileId(0));
        if shape(&page.index, None) != shape(&after, Some((new, &declared.name))) {
            return Err(format!("`{new}` means something else in {file}: a name would be captured or clash"));
        }
        let edits = spans.iter().map(|s| json!({ "range": page.text.range(s.lo, s.hi), "newText": new }));
        changes.insert(uri_of(&page.path), edits.collect::<Vec<_>>().into());
    }
    Ok(json!({ "changes": changes }))
}

/// Who means whom, in the order of the text, with the names of what is not declared here.
fn shape(index: &Index, back: Option<(&str, &str)>) -> Vec<(Option<usize>, String)> {
    let name = |n: &str| match back {
        Some((new, old)) if n == new => old.to_string(),
        _ => n.to_string(),
    };
    let declared = index.names.iter().map(|d| (None, format!("{} {}", d.kind.word(), name(&d.name))));
    let uses = index.uses.iter().map(|u| (u.of, name(&u.name)));
    declared.chain(uses).collect()
}

/// Names are shared by machines that refine or see each other: neither may another one have the new name, nor may one
/// that refines this one, or is refined by it, declare the old one again.
fn related_declarations(
    world: &mut World,
    home: &Page,
    declared: &Declared,
    new: &str,
) -> Result<(), String> {
    if declared.scope.is_some() {
        return Ok(());
    }
    let mut pages = vec![];
    for user in world.relating(&home.path) {
        pages.extend(world.related(&user.path));
    }
    for page in pages.iter().filter(|p| p.path != home.path) {
        let file = page.path.file_name().unwrap_or_default().to_string_lossy();
        if page.index.global(new).is_some() {
            return Err(format!("{file} has a `{new}` already"));
        }
        if page.index.global(&declared.name).is_some() {
            return Err(format!("{file} declares `{}`, too, and the two belong together", declared.name));
        }
    }
    Ok(())
}

/// The body of a definition means what its names mean where it is used: no local may come to stand for one of them.
fn definitions_allow(found: &[Places], declared: &Declared, new: &str) -> Result<(), String> {
    for Places { page, .. } in found {
        let mut free = page.index.uses.iter().filter(|u| u.in_definition);
        let is_local = declared.scope.is_some();
        if is_local && free.clone().any(|u| *u.name == *new || u.name == declared.name) {
            return Err("a definition mentions the old or the new name, and is read where it is used".into());
        }
        let has_local = page.index.names.iter().any(|d| d.scope.is_some() && *d.name == *new);
        if !is_local && has_local && free.any(|u| u.name == declared.name) {
            return Err(format!("a definition mentions `{}`, and `{new}` is a local name", declared.name));
        }
    }
    Ok(())
}

pub fn completion(world: &mut World, uri: &str, position: &Json) -> Option<Json> {
    let d = world.looked_at(uri)?;
    let offset = d.text.offset(position) as u32;
    let path = d.path.clone();
    let mut items: Vec<Json> = vec![];
    let mut add = |name: &str, kind: u32, detail: String| {
        if !items.iter().any(|i| i["label"] == name) {
            items.push(json!({ "label": name, "kind": kind, "detail": detail }));
        }
    };
    for declared in &d.index()?.names {
        let is_seen = declared.scope.is_none_or(|s| s.lo <= offset && offset <= s.hi);
        if is_seen && !declared.kind.is_component() {
            let ty = d.type_of(declared).map(|ty| format!(" : {ty}")).unwrap_or_default();
            add(&declared.name, completion_kind(declared.kind), format!("{}{ty}", declared.kind.word()));
        }
    }
    if !is_csp(&path) {
        for page in world.related(&path).iter().skip(1) {
            let file = page.path.file_name().unwrap_or_default().to_string_lossy();
            let globals = page.index.names.iter().filter(|d| d.scope.is_none() && !d.kind.is_component());
            for declared in globals {
                let detail = format!("{} of {file}", declared.kind.word());
                add(&declared.name, completion_kind(declared.kind), detail);
            }
        }
    }
    if is_classical(&path) {
        WORDS.iter().for_each(|w| add(w, 14, String::new()));
        functions().for_each(|w| add(w, 3, "function".to_string()));
    } else if !is_csp(&path) {
        EVENT_B_WORDS.iter().for_each(|w| add(w, 14, String::new()));
    }
    Some(json!({ "isIncomplete": false, "items": items }))
}

fn completion_kind(kind: Kind) -> u32 {
    match kind {
        Kind::Machine | Kind::Context => 9,
        Kind::Parameter | Kind::Variable | Kind::Local => 6,
        Kind::Set | Kind::Freetype => 13,
        Kind::Element | Kind::Constructor => 20,
        Kind::Constant => 21,
        Kind::Operation | Kind::Event => 2,
        Kind::Definition => 15,
    }
}

fn symbol_kind(kind: Kind) -> u32 {
    match kind {
        Kind::Machine | Kind::Context => 5,
        Kind::Parameter | Kind::Variable | Kind::Local => 13,
        Kind::Set | Kind::Freetype => 10,
        Kind::Element | Kind::Constructor => 22,
        Kind::Constant => 14,
        Kind::Operation | Kind::Event => 6,
        Kind::Definition => 12,
    }
}

pub fn symbols(world: &mut World, uri: &str) -> Option<Json> {
    let d = world.looked_at(uri)?;
    let symbol = |n: &Declared| {
        json!({ "name": &*n.name, "kind": symbol_kind(n.kind), "detail": n.kind.word(),
                "range": d.text.range(n.whole.lo, n.whole.hi),
                "selectionRange": d.text.range(n.span.lo, n.span.hi) })
    };
    // What a machine or a context declares is inside of it; a file of definitions has neither.
    let mut all: Vec<Json> = vec![];
    let mut children: Vec<Json> = vec![];
    let mut is_inside = false;
    let close = |children: &mut Vec<Json>, all: &mut Vec<Json>, is_inside: bool| {
        let found = std::mem::take(children);
        match all.last_mut().filter(|_| is_inside) {
            Some(component) => component["children"] = found.into(),
            None => all.extend(found),
        }
    };
    for n in d.index()?.names.iter().filter(|n| n.scope.is_none()) {
        if n.kind.is_component() {
            close(&mut children, &mut all, is_inside);
            is_inside = true;
            all.push(symbol(n));
        } else {
            children.push(symbol(n));
        }
    }
    close(&mut children, &mut all, is_inside);
    Some(all.into())
}

pub fn folds(world: &mut World, uri: &str) -> Option<Json> {
    let d = world.looked_at(uri)?;
    let fold = |s: &Span| {
        let line = |at: u32| d.text.position(at as usize)["line"].clone();
        let is_comment = d.text.text[s.lo as usize..].starts_with("/*");
        let mut fold = json!({ "startLine": line(s.lo), "endLine": line(s.hi) });
        if is_comment {
            fold["kind"] = "comment".into();
        }
        fold
    };
    Some(d.index()?.folds.iter().map(fold).collect::<Vec<_>>().into())
}

/// The edit that lays a document out.
///
/// # Errors
/// The text cannot be read.
pub fn formatting(world: &World, uri: &str, indent: Option<u64>) -> Result<Json, String> {
    let d = world.document(uri).ok_or("the document is not open")?;
    let mut sources = SourceMap::default();
    let file = sources.add(d.path.clone(), d.text.text.clone());
    let style = match indent {
        Some(n @ 1..=16) => Style { indent: n as usize, ..Style::default() },
        _ => Style::default(),
    };
    match languages::format(&sources, file, style) {
        Ok(text) if text == *d.text.text => Ok(json!([])),
        Ok(text) => Ok(json!([{ "range": d.text.whole(), "newText": text }])),
        Err(diagnostics) => {
            let first = diagnostics.first();
            Err(first
                .map_or("it cannot be read".into(), |d| format!("{}: {}", sources.place(d.span), d.message)))
        }
    }
}

/// The line that checks a machine, above it.
pub fn lenses(world: &mut World, uri: &str, is_running: bool) -> Option<Json> {
    let d = world.looked_at(uri)?;
    let (name, range) = match d.index()?.header {
        Some(header) => {
            let name = d.index()?.machine().map(|m| m.name.to_string()).unwrap_or_default();
            (name, d.text.range(header.lo, header.hi))
        }
        None if is_classical(&d.path) || is_csp(&d.path) => return Some(json!([])),
        None => (d.path.file_stem()?.to_string_lossy().into_owned(), d.text.range(0, 0)),
    };
    let lens = |title: String, command: &str| json!({ "range": range, "command": { "title": title, "command": command, "arguments": [uri] } });
    Some(match (&d.checked, is_running) {
        (_, true) => json!([lens(format!("checking {name}: cancel"), "kanon.cancel")]),
        (Some((_, answer)), false) => json!([lens(format!("{answer}: check again"), "kanon.check")]),
        (None, false) => json!([lens(format!("check {name}"), "kanon.check")]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_words_of_the_language() {
        assert_eq!(WORDS.iter().find(|w| !is_reserved(w)), None);
    }
}
