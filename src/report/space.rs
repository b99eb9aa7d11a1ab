//! The states of a machine and what leads from one to the other, for other tools: DOT, SVG, CSV, JSON.

use super::drawing::{Drawing, Edge, Look, Node};
use super::json::versioned;
use super::{dot, picture};
use crate::animate::Graph;
use serde_json::{Value, json};
use std::fmt::Write;

/// States that are written unless more are asked for.
pub const MOST: u64 = 1000;

/// Nodes of a picture, at most: with more nothing could be seen.
const MOST_DRAWN: usize = 300;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Dot,
    Svg,
    Csv,
    Json,
}

/// The graph as text.
///
/// # Errors
/// A picture of too many nodes.
pub fn text(g: &Graph, name: &str, form: Form) -> Result<String, String> {
    match form {
        Form::Dot => Ok(dot::dot(&drawing(g, name, ", "))),
        Form::Svg if g.nodes.len() > MOST_DRAWN => Err(format!(
            "a picture of {} nodes cannot be read: `--project EXPRESSION` makes one node of many states, `--max-states` \
             takes the first, and `--dot` is for tools that draw large graphs",
            g.nodes.len()
        )),
        // A line for each variable: what tells states apart may be in the last one.
        Form::Svg => Ok(picture::svg(&drawing(g, name, "\n"))),
        Form::Csv => Ok(csv(g)),
        Form::Json => Ok(format!("{:#}\n", json(g, name))),
    }
}

/// What nodes are told apart by, in this order: what is wrong comes first.
const KINDS: [&str; 5] = ["state", "not expanded", "initial state", "invariant broken", "deadlock"];

fn kind(n: &crate::animate::Node) -> usize {
    match n {
        n if n.broken => 3,
        n if n.deadlock => 4,
        n if n.open => 1,
        n if n.initial => 2,
        _ => 0,
    }
}

fn drawing(g: &Graph, name: &str, between: &str) -> Drawing {
    let mut labels: Vec<String> = vec![];
    let mut edges = vec![];
    for (from, to, names) in &g.edges {
        for operation in names {
            let label = labels.iter().position(|l| l == operation).unwrap_or_else(|| {
                labels.push(operation.clone());
                labels.len() - 1
            });
            edges.push(Edge { from: *from, to: *to, label: Some(label) });
        }
    }
    let node = |(column, n): (usize, &crate::animate::Node)| {
        let text = n.text.replace('\n', between);
        Node {
            name: if n.states > 1 { format!("{text} ({})", n.states) } else { text },
            look: if n.initial { Look::Root } else { Look::Value },
            kind: kind(n),
            colour: None,
            layer: 0,
            column,
        }
    };
    let mut notes = vec![format!("{} states, {} nodes, {} edges", g.states, g.nodes.len(), edges.len())];
    if g.more {
        notes.push("there are more states, or some may be missing".into());
    }
    Drawing {
        title: name.to_string(),
        notes,
        nodes: g.nodes.iter().enumerate().map(node).collect(),
        edges,
        labels,
        kinds: KINDS.map(String::from).to_vec(),
        is_layered: false,
    }
}

/// A field of a table, as RFC 4180 has it. What a spreadsheet would take for a formula is text here.
fn field(text: &str) -> String {
    let text = text.replace('\n', ", ");
    let text = if text.starts_with(['=', '+', '-', '@']) { format!(" {text}") } else { text };
    if text.contains(['"', ',', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A line per edge and operation; a node from which nothing leads has a line without target.
fn csv(g: &Graph) -> String {
    let mut out = String::from("source,operation,target,source_state,target_state\r\n");
    let mut line = |from: usize, operation: &str, to: Option<usize>| {
        let target = to.map_or(String::new(), |to| (to + 1).to_string());
        let state = to.map_or(String::new(), |to| field(&g.nodes[to].text));
        let _ = write!(
            out,
            "{},{},{target},{},{state}\r\n",
            from + 1,
            field(operation),
            field(&g.nodes[from].text)
        );
    };
    for (from, to, names) in &g.edges {
        names.iter().for_each(|name| line(*from, name, Some(*to)));
    }
    for from in 0..g.nodes.len() {
        if !g.edges.iter().any(|(f, ..)| *f == from) {
            line(from, "", None);
        }
    }
    out
}

fn json(g: &Graph, name: &str) -> Value {
    let node = |(i, n): (usize, &crate::animate::Node)| {
        json!({
            "id": i + 1,
            "text": n.text,
            "states": n.states,
            "initial": n.initial,
            "broken": n.broken,
            "deadlock": n.deadlock,
            "open": n.open,
        })
    };
    let edge = |(from, to, names): &(usize, usize, Vec<String>)| json!({ "from": from + 1, "to": to + 1, "operations": names });
    versioned(json!({
        "machine": name,
        "states": g.states,
        "complete": !g.more,
        "nodes": g.nodes.iter().enumerate().map(node).collect::<Vec<Value>>(),
        "edges": g.edges.iter().map(edge).collect::<Vec<Value>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_stay_fields() {
        assert_eq!(field("a\nb"), "\"a, b\"");
        assert_eq!(field("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(field("=1+1"), " =1+1");
        assert_eq!(field("plain"), "plain");
    }
}
