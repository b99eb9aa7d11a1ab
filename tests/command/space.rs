//! `kanon export --dot | --svg | --csv | --json`: the states of a machine as a graph.

use crate::program::{HOLDS, UNKNOWN, WRONG, file, json, kanon, text};
use crate::support::xml;
use serde_json::{Value, json};

const RING: &str = "MACHINE ring VARIABLES x, b INVARIANT x : 0..3 & (x = 2 => b = FALSE) & b : BOOL
INITIALISATION x := 0 || b := TRUE
OPERATIONS
  go = SELECT x < 3 THEN x := x + 1 END;
  back = SELECT x = 1 THEN x := 0 END
END
";

#[test]
fn a_graph_has_all_states_and_steps() {
    let path = file("space", "ring.mch", RING);
    let v = json(&["export", text(&path), "--json"], HOLDS);
    assert_eq!((&v["states"], &v["complete"]), (&json!(4), &json!(true)));
    let node = |i: usize| &v["nodes"][i];
    assert_eq!(node(0)["text"], "x = 0\nb = TRUE");
    let flag = |i: usize, name: &str| node(i)[name] == true;
    assert!(flag(0, "initial") && flag(2, "broken") && flag(3, "deadlock") && !flag(3, "broken"), "{v}");
    let edges = json!([
        { "from": 1, "to": 2, "operations": ["go"] },
        { "from": 2, "to": 3, "operations": ["go"] },
        { "from": 2, "to": 1, "operations": ["back"] },
        { "from": 3, "to": 4, "operations": ["go"] },
    ]);
    assert_eq!(v["edges"], edges);
    let csv = kanon(&["export", text(&path), "--csv"]);
    let lines: Vec<&str> = csv.out.lines().collect();
    assert_eq!(lines[0], "source,operation,target,source_state,target_state");
    assert_eq!(lines[1], "1,go,2,\"x = 0, b = TRUE\",\"x = 1, b = TRUE\"");
    assert_eq!(lines[5], "4,,,\"x = 3, b = TRUE\",", "nothing leads from it");
    let dot = kanon(&["export", text(&path), "--dot"]);
    assert!(dot.code == HOLDS && dot.out.contains("n0 -> n1 [label=\"go\""), "{}", dot.out);
    let svg = kanon(&["export", text(&path), "--svg"]);
    let elements = xml::elements(&svg.out);
    let is_vertex = |e: &&xml::Element| e.attributes.get("class").is_some_and(|c| c == "vertex");
    assert_eq!((svg.code, elements.iter().filter(is_vertex).count()), (HOLDS, 4), "{}", svg.out);
}

#[test]
fn projections_make_one_node_of_many_states() {
    let path = file("space", "projected.mch", RING);
    let v = json(&["export", text(&path), "--json", "--project", "x mod 2"], HOLDS);
    let nodes: Vec<(&Value, &Value)> =
        v["nodes"].as_array().expect("a list").iter().map(|n| (&n["text"], &n["states"])).collect();
    assert_eq!(nodes, [(&json!("0"), &json!(2)), (&json!("1"), &json!(2))]);
    let wrong = kanon(&["export", text(&path), "--json", "--project", "x +"]);
    assert_eq!(wrong.code, WRONG);
    assert_eq!(kanon(&["export", text(&path), "--dot", "--project", "nobody"]).code, WRONG);
}

/// A part of a graph says that it is one.
#[test]
fn limits_are_said() {
    let path = file("space", "limited.mch", RING);
    let v = json(&["export", text(&path), "--json", "--max-states", "2"], UNKNOWN);
    assert_eq!(
        (&v["complete"], &v["states"], &v["nodes"][1]["open"]),
        (&json!(false), &json!(2), &json!(true))
    );
    let dot = kanon(&["export", text(&path), "--dot", "--max-states", "2"]);
    assert!(dot.code == UNKNOWN && dot.err.contains("there are more than these 2 states"), "{}", dot.err);
    let large = RING.replace("0..3", "0..900").replace("x < 3", "x < 900").replace("ring", "large");
    let path = file("space", "large.mch", large);
    let ran = kanon(&["export", text(&path), "--svg"]);
    assert!(ran.code == WRONG && ran.err.contains("--project EXPRESSION"), "{}", ran.err);
    for more in [&["--goal", "x = 1"][..], &["--no-deadlock"], &["--depth", "3"], &["--aiger"]] {
        assert_eq!(kanon(&[&["export", text(&path), "--dot"], more].concat()).code, WRONG, "{more:?}");
    }
    assert_eq!(kanon(&["export", text(&path), "--aiger", "--max-states", "3"]).code, WRONG);
}
