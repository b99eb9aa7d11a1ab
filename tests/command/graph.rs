//! `kanon graph`: state graphs and what nauty is given of them, in DOT and in SVG.

use crate::program;
use crate::support::xml;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn kanon(args: &[&str]) -> (i32, String, String) {
    let ran = program::kanon(&[&["graph"], args].concat());
    (ran.code, ran.out, ran.err)
}

fn drawn(args: &[&str]) -> String {
    let (code, out, err) = kanon(args);
    assert_eq!((code, &*err), (0, ""), "{args:?}: {out}");
    out
}

#[derive(Default, Debug)]
struct Dot {
    notes: Vec<String>,
    /// By name in the file: the label.
    nodes: BTreeMap<String, String>,
    fills: BTreeMap<String, String>,
    /// From, to, label.
    edges: Vec<(String, String, String)>,
    between: usize,
    clusters: Vec<String>,
}

/// The value of an attribute.
fn attribute(list: &str, key: &str) -> Option<String> {
    let at = list.find(&format!("{key}="))? + key.len() + 1;
    let rest = &list[at..];
    let Some(text) = rest.strip_prefix('"') else {
        return Some(rest.split([',', ']']).next().unwrap_or_default().into());
    };
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Some(out),
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some(c @ ('"' | '\\')) => out.push(c),
                other => panic!("no escape of ours: {other:?} in {text}"),
            },
            c => out.push(c),
        }
    }
    panic!("a string without an end: {text}")
}

/// Reads what we write, line by line, and nothing else.
fn dot(text: &str) -> Dot {
    let mut d = Dot::default();
    let mut depth = 0;
    for line in text.lines().map(str::trim) {
        if let Some(note) = line.strip_prefix("// ") {
            d.notes.push(note.into());
        } else if line.ends_with('{') {
            assert!(line.starts_with("digraph \"") || line.starts_with("subgraph cluster_"), "{line}");
            depth += 1;
        } else if line == "}" {
            depth -= 1;
        } else if let Some(name) = line.strip_prefix("label=") {
            assert_eq!(depth, 2, "{line}");
            d.clusters.push(name.trim_matches(['"', ';']).into());
        } else if line.starts_with("graph [") || line.starts_with("node [") || line.starts_with("edge [") {
            assert!(line.ends_with("];"), "{line}");
        } else {
            let (what, list) = line.split_once(" [").unwrap_or_else(|| panic!("no statement: {line}"));
            assert!(list.ends_with("];"), "{line}");
            match what.split_once(" -> ") {
                Some(_) if list.contains("dir=none") => d.between += 1,
                Some((a, b)) => {
                    d.edges.push((a.into(), b.into(), attribute(list, "label").unwrap_or_default()));
                }
                None => {
                    let label = attribute(list, "label").unwrap_or_else(|| panic!("no label: {line}"));
                    assert!(d.nodes.insert(what.into(), label).is_none(), "{what} twice");
                    d.fills.insert(what.into(), attribute(list, "fillcolor").unwrap_or_default());
                }
            }
        }
    }
    assert_eq!(depth, 0, "{text}");
    assert!(d.edges.iter().all(|(a, b, _)| d.nodes.contains_key(a) && d.nodes.contains_key(b)));
    d
}

impl Dot {
    /// Edges by names.
    fn named(&self) -> BTreeSet<(String, String, String)> {
        let name = |n: &String| self.nodes[n].clone();
        self.edges.iter().map(|(a, b, l)| (name(a), name(b), l.clone())).collect()
    }
}

/// Vertices, edges of labels and edges between layers of a picture.
fn counted(svg: &str) -> (usize, usize, usize) {
    let all = xml::elements(svg);
    assert_eq!(all[0].name, "svg");
    let class = |e: &xml::Element| e.attributes.get("class").cloned().unwrap_or_default();
    let number = |e: &xml::Element, key: &str| e.attributes[key].parse::<f64>().expect("a number");
    let (width, height) = (number(&all[0], "width"), number(&all[0], "height"));
    let vertices: Vec<&xml::Element> = all.iter().filter(|e| class(e) == "vertex").collect();
    for v in &vertices {
        let (x, y) = (number(v, "x"), number(v, "y"));
        assert!(x >= 0.0 && y >= 0.0 && x + number(v, "width") <= width, "{v:?} in {width} × {height}");
        assert!(y + number(v, "height") <= height, "{v:?} in {width} × {height}");
    }
    let arrows = all.iter().filter(|e| e.attributes.contains_key("marker-end")).count();
    let between = all.iter().filter(|e| class(e) == "between").count();
    (vertices.len(), arrows, between)
}

fn triples(list: &[(&str, &str, &str)]) -> BTreeSet<(String, String, String)> {
    list.iter().map(|(a, b, c)| (a.to_string(), b.to_string(), c.to_string())).collect()
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a test file");
    path
}

#[test]
fn the_figures_of_the_paper() {
    // Figs. 1 to 3.
    let d = dot(&drawn(&["models/lang/graph_flat.mch"]));
    assert_eq!(d.nodes.len(), 5);
    let expected = [
        ("root", "S1", "atom"),
        ("root", "S1", "some"),
        ("root", "S2", "some"),
        ("S1", "T1", "pairs"),
        ("S1", "T2", "pairs"),
    ];
    assert_eq!(d.named(), triples(&expected));
    let fill = |name: &str| &d.fills[d.nodes.iter().find(|(_, l)| *l == name).expect("a vertex").0];
    assert_eq!((fill("S1") == fill("S2"), fill("S1") == fill("T1")), (true, false), "a colour a set");
    assert!(
        d.notes.iter().any(|n| n == "left out, since no permutation changes them: count"),
        "{:?}",
        d.notes
    );
    // Fig. 4.
    let d = dot(&drawn(&["models/lang/graph_nested.mch"]));
    assert_eq!(d.nodes.len(), 7);
    let expected = [
        ("{S1}", "{S2}", "v1"),
        ("root", "{S3}", "v2"),
        ("{S1}", "S1", "element"),
        ("{S2}", "S2", "element"),
        ("{S3}", "S3", "element"),
    ];
    assert_eq!(d.named(), triples(&expected));
    // Figs. 5 and 6.
    let d = dot(&drawn(&["models/lang/graph_status.mch"]));
    assert_eq!(d.nodes.len(), 6);
    let expected = [
        ("root", "NAME2", "member"),
        ("root", "NAME3", "member"),
        ("NAME1", "single", "status"),
        ("NAME2", "married", "status"),
        ("NAME3", "single", "status"),
    ];
    assert_eq!(d.named(), triples(&expected));
}

#[test]
fn the_encoding_has_every_vertex_in_every_layer() {
    // Model, vertices, labels, edges.
    for (model, labels, vertices, edges) in [
        ("graph_flat", vec!["atom", "some", "pairs"], 5, 5),
        ("graph_nested", vec!["v1", "v2", "element"], 7, 5),
        ("graph_status", vec!["member", "status"], 6, 5),
    ] {
        let path = format!("models/lang/{model}.mch");
        let d = dot(&drawn(&[&path, "--encoding"]));
        let layers = labels.len();
        let between = vertices * layers * (layers - 1) / 2;
        assert_eq!(d.clusters, labels, "{model}");
        assert_eq!((d.nodes.len(), d.edges.len(), d.between), (vertices * layers, edges, between), "{model}");
        let svg = drawn(&[&path, "--encoding", "--svg"]);
        assert_eq!(counted(&svg), (vertices * layers, edges, between), "{model}");
        assert_eq!(counted(&drawn(&[&path, "--svg"])), (vertices, edges, 0), "{model}");
    }
    // Fig. 7: the same colour for the elements of a set in a layer, another in the next.
    let d = dot(&drawn(&["models/lang/graph_status.mch", "--encoding"]));
    let colours = |layer: usize| -> Vec<u32> {
        let of = |v: usize| {
            d.nodes[&format!("n{}", layer * 6 + v)].rsplit('\n').next().and_then(|c| c.parse().ok())
        };
        (0..6).map(|v| of(v).expect("a colour")).collect()
    };
    let (first, second) = (colours(0), colours(1));
    assert_eq!((first[1], first[2]), (first[2], first[3]), "NAME has one colour");
    let different: BTreeSet<u32> = first.iter().chain(&second).copied().collect();
    assert_eq!(different.len(), 2 * 4, "root, NAME, single, married in each of two layers");
}

#[test]
fn records_sequences_and_odd_names() {
    let machine = "MACHINE odd SETS S VARIABLES rs, qs, words, next\n\
        INVARIANT rs : POW(struct(who : S, n : 0..3)) & qs : POW(seq(S)) & words : S +-> STRING & next : S +-> S\n\
        INITIALISATION ANY a WHERE a : S THEN rs := {rec(who : a, n : 2)} || qs := {[a, a]} ||\n\
        words := {a |-> \"<x> & y\"} || next := {a |-> a} END\nOPERATIONS stay = skip END\n";
    let path = file("odd.mch", machine);
    let path = path.to_str().expect("a plain path");
    let d = dot(&drawn(&[path]));
    let expected = [
        ("root", "rec(n:2,who:S1)", "rs"),
        ("rec(n:2,who:S1)", "S1", "who"),
        ("rec(n:2,who:S1)", "2", "n"),
        ("root", "[S1,S1]", "qs"),
        ("[S1,S1]", "1|->S1", "element"),
        ("[S1,S1]", "2|->S1", "element"),
        ("1|->S1", "1", "left"),
        ("1|->S1", "S1", "right"),
        ("2|->S1", "2", "left"),
        ("2|->S1", "S1", "right"),
        ("S1", "\"<x> & y\"", "words"),
        ("S1", "S1", "next"),
    ];
    assert_eq!(d.named(), triples(&expected));
    let vertices = d.nodes.len();
    let svg = drawn(&[path, "--svg"]);
    assert_eq!(counted(&svg), (vertices, expected.len(), 0));
    assert!(xml::elements(&svg).iter().any(|e| e.text == "\"<x> & y\""), "{svg}");
    counted(&drawn(&[path, "--svg", "--encoding"]));
}

#[test]
fn symmetric_states_have_one_representative() {
    let mut strategies = vec!["canon", "auto"];
    if cfg!(feature = "nauty") {
        strategies.push("nauty");
    }
    for strategy in strategies {
        let graphs: BTreeSet<_> = (1..=6)
            .map(|n| {
                let d = dot(&drawn(&[
                    "models/lang/graph_nested.mch",
                    "--state",
                    &n.to_string(),
                    "--symmetry",
                    strategy,
                ]));
                assert!(d.notes[0].starts_with("witness: "), "{:?}", d.notes);
                d.named()
            })
            .collect();
        assert_eq!(graphs.len(), 1, "{strategy}");
    }
    let all: BTreeSet<_> = (1..=6)
        .map(|n| dot(&drawn(&["models/lang/graph_nested.mch", "--state", &n.to_string()])).named())
        .collect();
    assert_eq!(all.len(), 6, "six states, numbered");
}

#[test]
fn what_is_wrong_is_said() {
    let scheduler = "models/papers/scheduler0.mch";
    let last = ["--card", "PROC=3", "--state"];
    drawn(&[&[scheduler], &last[..], &["54"]].concat());
    let rows: &[(&[&str], i32, &str)] = &[
        (&["--state", "0"], 2, "0 is not in 1.."),
        (&["--card", "PROC=3", "--state", "55"], 2, "there is no state 55: the model has 54 states"),
        (&["--symmetry", "flood"], 2, "`canon`, `nauty` and `auto` have one"),
        (&["-o", "no/such/folder/x.svg"], 2, "cannot write no/such/folder/x.svg"),
        (
            &["--card", "PROC=12", "--state", "4000000", "--timeout", "0.2"],
            3,
            "before state 4000000 was found",
        ),
    ];
    for (args, code, message) in rows {
        let (found, out, err) = kanon(&[&[scheduler], *args].concat());
        assert_eq!((found, &*out), (*code, ""), "{args:?}");
        assert!(err.contains(message), "{args:?}: {err}");
    }
    let (code, _, err) = kanon(&["models/lang/errors/type_mismatch.mch"]);
    assert!(code == 2 && err.contains("error["), "{err}");
}

#[test]
fn nothing_to_permute_is_a_root() {
    let d = dot(&drawn(&["models/lang/op_arith.mch"]));
    assert_eq!(d.nodes.values().collect::<Vec<_>>(), ["root"]);
    assert!(d.notes.iter().any(|n| n.starts_with("nothing to permute")), "{:?}", d.notes);
    let d = dot(&drawn(&["models/lang/op_arith.mch", "--encoding"]));
    assert_eq!(d.nodes.len(), 1);
    assert_eq!(counted(&drawn(&["models/lang/op_arith.mch", "--encoding", "--svg"])), (1, 0, 0));
}

#[test]
fn files_by_their_name_and_always_the_same() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, is_svg) in [("graph.svg", true), ("graph.dot", false), ("graph.SVG", true)] {
        let path = folder.join(name);
        let shown = path.to_str().expect("a plain path");
        let out = drawn(&["models/papers/Dining.mch", "--state", "7", "-o", shown]);
        assert_eq!(out, "");
        let text = std::fs::read_to_string(&path).expect("the file");
        assert_eq!(text.starts_with("<svg"), is_svg, "{name}");
        let format: &[&str] = if is_svg { &["--svg"] } else { &[] };
        let again = drawn(&[&["models/papers/Dining.mch", "--state", "7"], format].concat());
        assert_eq!(text, again, "{name}");
    }
}

#[test]
fn graphs_of_the_papers_models_are_well_formed() {
    for (model, state) in [
        ("scheduler0", "9"),
        ("scheduler1", "20"),
        ("RussianPostalPuzzle", "30"),
        ("USB_4Endpoints", "100"),
        ("TokenRing", "8"),
        ("Dining", "3"),
        ("Towns", "11"),
    ] {
        let path = format!("models/papers/{model}.mch");
        let d = dot(&drawn(&[&path, "--state", state]));
        let (vertices, edges) = (d.nodes.len(), d.edges.len());
        assert_eq!(counted(&drawn(&[&path, "--state", state, "--svg"])), (vertices, edges, 0), "{model}");
        let e = dot(&drawn(&[&path, "--state", state, "--encoding"]));
        assert_eq!((e.nodes.len(), e.edges.len()), (vertices * e.clusters.len(), edges), "{model}");
        let expected = (e.nodes.len(), e.edges.len(), e.between);
        assert_eq!(counted(&drawn(&[&path, "--state", state, "--encoding", "--svg"])), expected, "{model}");
    }
}
