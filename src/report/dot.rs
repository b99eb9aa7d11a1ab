//! Graphs in the language of Graphviz.

use super::drawing::{Drawing, Edge, Look, Node};
use super::svg::{AREAS, LINES, colour};
use std::fmt::Write;

#[must_use]
pub fn dot(d: &Drawing) -> String {
    let mut out = String::new();
    for note in &d.notes {
        let _ = writeln!(out, "// {}", note.replace(['\n', '\r'], " "));
    }
    let _ = writeln!(out, "digraph {} {{", quoted(&d.title));
    let _ = writeln!(out, "  graph [label={}, labelloc=t, fontname=monospace];", quoted(&d.title));
    let _ = writeln!(out, "  node [style=filled, fontname=monospace];\n  edge [fontname=monospace];");
    if d.is_layered {
        for (layer, name) in d.labels.iter().enumerate() {
            let _ = writeln!(out, "  subgraph cluster_{layer} {{\n    label={};", quoted(name));
            nodes(&mut out, d, "    ", |n| n.layer == layer);
            out.push_str("  }\n");
        }
        // Without a label there is one layer all the same.
        nodes(&mut out, d, "  ", |n| n.layer >= d.labels.len());
    } else {
        nodes(&mut out, d, "  ", |_| true);
    }
    for e in &d.edges {
        edge(&mut out, d, e);
    }
    out.push_str("}\n");
    out
}

fn nodes(out: &mut String, d: &Drawing, indent: &str, wanted: impl Fn(&Node) -> bool) {
    for (i, n) in d.nodes.iter().enumerate().filter(|(_, n)| wanted(n)) {
        let shape = match n.look {
            Look::Root => "house",
            Look::Point => "ellipse",
            Look::Value => "box",
            Look::Nested => "hexagon",
        };
        let name = match n.colour {
            Some(c) => format!("{}\n{c}", n.name),
            None => n.name.clone(),
        };
        let _ = writeln!(
            out,
            "{indent}n{i} [label={}, shape={shape}, fillcolor=\"{}\"];",
            quoted(&name),
            colour(&AREAS, n.kind)
        );
    }
}

fn edge(out: &mut String, d: &Drawing, e: &Edge) {
    let (from, to) = (e.from, e.to);
    let _ = match e.label {
        None => writeln!(out, "  n{from} -> n{to} [dir=none, style=dotted];"),
        Some(l) if d.is_layered => writeln!(out, "  n{from} -> n{to} [color=\"{}\"];", colour(&LINES, l)),
        Some(l) => {
            let (name, c) = (quoted(&d.labels[l]), colour(&LINES, l));
            writeln!(out, "  n{from} -> n{to} [label={name}, color=\"{c}\", fontcolor=\"{c}\"];")
        }
    };
}

/// A string of DOT.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_in_a_name_ends_the_string() {
        assert_eq!(super::quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\nd\"");
    }
}
