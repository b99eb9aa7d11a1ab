//! XML read strictly, as far as our pictures use it: elements, attributes, text, entities.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    /// Its own text, without that of the elements in it.
    pub text: String,
}

/// All elements in the order in which they begin. Panics if the text is not well-formed or has several roots.
pub fn elements(text: &str) -> Vec<Element> {
    let mut all: Vec<Element> = vec![];
    let mut open: Vec<usize> = vec![];
    let mut rest = text.trim();
    while !rest.is_empty() {
        let at = rest.find('<').unwrap_or(rest.len());
        let (plain, tag) = rest.split_at(at);
        match open.last() {
            Some(i) => all[*i].text.push_str(&unescaped(plain)),
            None => assert!(plain.is_empty(), "text outside of the root: {plain}"),
        }
        if tag.is_empty() {
            break;
        }
        let end = tag.find('>').unwrap_or_else(|| panic!("a tag without an end: {tag}"));
        let inside = &tag[1..end];
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            let i = open.pop().unwrap_or_else(|| panic!("nothing is open, but {name} ends"));
            assert_eq!(all[i].name, name);
            continue;
        }
        let (inside, is_empty) = inside.strip_suffix('/').map_or((inside, false), |i| (i, true));
        assert!(!open.is_empty() || all.is_empty(), "a second root: {inside}");
        all.push(element(inside));
        if !is_empty {
            open.push(all.len() - 1);
        }
    }
    assert!(open.is_empty() && !all.is_empty(), "not all elements end");
    all
}

fn element(inside: &str) -> Element {
    let (name, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
    assert!(!name.is_empty() && name.chars().all(char::is_alphanumeric), "no name: {inside}");
    let mut e = Element { name: name.into(), ..Element::default() };
    rest = rest.trim();
    while !rest.is_empty() {
        let (key, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("no attribute: {rest}"));
        let (value, more) = value.split_once('"').unwrap_or_else(|| panic!("no end of {key}"));
        let key = key.trim().to_string();
        assert!(!key.is_empty() && !key.contains(char::is_whitespace), "no attribute: {key}");
        assert!(!e.attributes.contains_key(&key), "{key} twice");
        e.attributes.insert(key, unescaped(value));
        rest = more.trim();
    }
    e
}

fn unescaped(text: &str) -> String {
    assert!(!text.contains(['<', '>']), "not escaped: {text}");
    let mut out = String::new();
    let mut parts = text.split('&');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (entity, plain) = part.split_once(';').unwrap_or_else(|| panic!("not escaped: &{part}"));
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            other => panic!("no entity of XML: {other}"),
        });
        out.push_str(plain);
    }
    out
}
