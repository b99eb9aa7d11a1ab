//! A room uses only the rooms before it (ARCHITECTURE.md), and the modules inside a room do not use each other in
//! circles. Read off the sources: `use` lines and other paths that begin with `crate`, `super` or `self`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of src in the way of the data. A room may use those before it.
const ORDER: [&str; 32] = [
    "lang",
    "model",
    "temporal",
    "csp",
    "pnml",
    "plain",
    "reference",
    "value",
    "eval",
    "solver",
    "symbolic",
    "verdict",
    "system",
    "symmetry",
    "net",
    "process",
    "xtl",
    "explore",
    "checkpoint",
    "distribute",
    "refine",
    "ltl",
    "guided",
    "certify",
    "trace",
    "run",
    "animate",
    "report",
    "terminal",
    "serve",
    "lsp",
    "cli",
];

/// Folders of src that are crates of several rooms.
const CRATES: [&str; 2] = ["language", "semantics"];

/// Folders of src that are crates and one room.
const ROOM_CRATES: [&str; 3] = ["csp", "pnml", "solver"];

/// How a room names the crates that have earlier rooms, and where these rooms are.
const NAMES: [(&str, &str); 5] = [
    ("kanon_csp::", "crate::csp::"),
    ("kanon_language::", "crate::"),
    ("kanon_pnml::", "crate::pnml::"),
    ("kanon_semantics::", "crate::"),
    ("kanon_solver::", "crate::solver::"),
];

/// Rooms that use a later one, to be repaired, as `a uses b`. What is repaired leaves the list.
const ROOMS_LEFT: [&str; 0] = [];

/// Circles inside rooms, to be repaired: the modules of each circle.
const CIRCLES_LEFT: [&str; 0] = [];

/// One source file: its module, and the modules and items that it names.
struct Source {
    module: Vec<String>,
    uses: Vec<Vec<String>>,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![];
    collect(&root, &mut files);
    files.sort();
    files
        .into_iter()
        .filter_map(|path| {
            let inside = path.strip_prefix(&root).ok()?.with_extension("");
            let mut module: Vec<String> = inside.iter().map(|s| s.to_string_lossy().into_owned()).collect();
            if module.last().is_some_and(|m| m == "mod") {
                module.pop();
            }
            // A crate of its own below src: its rooms are rooms like the others.
            if module.len() > 1 && CRATES.contains(&&*module[0]) {
                module.remove(0);
            }
            // Tests look at everything, harness is what they share, and lib and main put the rooms together.
            let of_tests =
                module.iter().any(|m| m == "tests") || module.first().is_some_and(|m| m == "harness");
            let skipped = of_tests || module.last().is_none_or(|m| m == "tests" || m == "lib" || m == "main");
            let text = fs::read_to_string(&path).ok().filter(|_| !skipped)?;
            let mut code = production(&text);
            if ROOM_CRATES.contains(&&*module[0]) {
                code = code.replace("crate::", &format!("crate::{}::", module[0]));
            }
            for (name, root) in NAMES {
                code = code.replace(name, root);
            }
            let uses = paths(&code, &module);
            Some(Source { module, uses })
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// The text without comments and without the tests at its end.
fn production(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let line = |l: &str| l.split("//").next().unwrap_or_default().to_string();
    code.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// All paths that begin with `crate`, `super` or `self`, from the crate's root; lists in braces are taken apart.
fn paths(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut found = vec![];
    for head in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(head) {
            let before = code[..at].chars().next_back();
            // `super::super::x` begins at its first word; `$crate::` and `in crate::x` are no uses.
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$')
                || code[..at].ends_with("pub(in ")
            {
                continue;
            }
            let mut rest = &code[at..];
            let mut base = module.to_vec();
            while let Some((word, tail)) = rest.split_once("::") {
                match word {
                    "crate" => base.clear(),
                    "super" => {
                        base.pop();
                    }
                    "self" => {}
                    _ => break,
                }
                rest = tail;
            }
            tree(rest, &base, &mut found);
        }
    }
    found
}

/// Reads `a::b`, `a::{b, c::d}` at the beginning of a text; returns what follows.
fn tree<'t>(text: &'t str, base: &[String], found: &mut Vec<Vec<String>>) -> &'t str {
    let mut text = text.trim_start();
    let mut path = base.to_vec();
    loop {
        if let Some(inside) = text.strip_prefix('{') {
            text = inside;
            loop {
                text = tree(text, &path, found).trim_start();
                // `as x`
                let stop = text.find([',', '}']).unwrap_or(text.len());
                text = &text[stop..];
                match text.strip_prefix(',') {
                    Some(next) if !next.trim_start().starts_with('}') => text = next,
                    Some(next) => return next.trim_start().strip_prefix('}').unwrap_or(""),
                    None => return text.strip_prefix('}').unwrap_or(""),
                }
            }
        }
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        if end == 0 {
            found.push(path);
            return text;
        }
        if &text[..end] != "self" {
            path.push(text[..end].to_string());
        }
        match text[end..].strip_prefix("::") {
            Some(rest) => text = rest,
            None => {
                found.push(path);
                return &text[end..];
            }
        }
    }
}

#[test]
fn a_room_uses_only_the_rooms_before_it() {
    let place = |room: &str| ORDER.iter().position(|r| *r == room);
    let mut wrong: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    for source in sources() {
        let room = &source.module[0];
        let Some(own) = place(room) else {
            unknown.insert(room.clone());
            continue;
        };
        for target in source.uses.iter().filter_map(|u| u.first()) {
            if place(target).is_some_and(|other| other > own) {
                wrong.entry((room.clone(), target.clone())).or_default().insert(source.module.join("::"));
            }
        }
    }
    assert!(unknown.is_empty(), "rooms without a place in the order: {unknown:?}");
    let wrong: BTreeMap<String, String> =
        wrong.into_iter().map(|((a, b), files)| (format!("{a} uses {b}"), format!("in {files:?}"))).collect();
    compare(&wrong, &ROOMS_LEFT);
}

#[test]
fn the_modules_of_a_room_use_each_other_in_no_circle() {
    let sources = sources();
    let modules: BTreeSet<Vec<String>> =
        sources.iter().flat_map(|s| (1..=s.module.len()).map(|n| s.module[..n].to_vec())).collect();
    // Inside each module: which of its direct parts uses which.
    let mut graphs: BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for source in &sources {
        for used in &source.uses {
            for depth in 1..source.module.len().min(used.len()) {
                let (inside, part, other) = (&used[..depth], &source.module[depth], &used[depth]);
                if source.module[..depth] != *inside || part == other || !modules.contains(&used[..=depth]) {
                    continue;
                }
                let graph = graphs.entry(inside.to_vec()).or_default();
                graph.entry(part.clone()).or_default().insert(other.clone());
            }
        }
    }
    let mut circles = BTreeMap::new();
    for (inside, graph) in &graphs {
        for knot in knots(graph) {
            let uses = |a: &String| -> Vec<String> {
                let inside = graph[a].iter().filter(|b| knot.contains(b));
                inside.map(|b| format!("{a} uses {b}")).collect()
            };
            let edges: Vec<String> = knot.iter().flat_map(uses).collect();
            circles.insert(format!("{}: {}", inside.join("::"), knot.join(" ")), edges.join(", "));
        }
    }
    compare(&circles, &CIRCLES_LEFT);
}

/// Walls that are crates: what is behind them, with all that this uses. A checker of certificates rests on it.
#[test]
fn a_crate_below_src_has_only_the_crates_before_it() {
    for (folder, allowed) in [
        ("language", &[][..]),
        ("semantics", &["kanon-language"][..]),
        ("solver", &[][..]),
        ("symbolic", &["kanon-language", "kanon-semantics", "kanon-solver"][..]),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder).join("Cargo.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let dependencies = text.split_once("[dependencies]").expect("every crate has some").1;
        let ours: Vec<&str> = dependencies
            .lines()
            .filter_map(|l| l.split(['.', ' ', '=']).next())
            .filter(|name| name.starts_with("kanon"))
            .collect();
        assert_eq!(ours, allowed, "crates that src/{folder} depends on");
    }
}

/// What was found, with its details, must be what is known, neither more nor less.
fn compare(found: &BTreeMap<String, String>, known: &[&str]) {
    let new = found.iter().filter(|(what, _)| !known.contains(&&***what));
    let gone = known.iter().filter(|what| !found.contains_key(**what));
    let new = new.map(|(what, details)| format!("{what} ({details})"));
    let all: Vec<String> =
        new.chain(gone.map(|what| format!("{what}: repaired, take it off the list"))).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// The sets of nodes that reach each other.
fn knots(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reach = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut todo = vec![from.to_string()];
        while let Some(node) = todo.pop() {
            for next in graph.get(&node).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    todo.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|n| (n, reach(n))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (node, seen) in &reached {
        let knot: Vec<String> =
            seen.iter().filter(|o| reached.get(o).is_some_and(|r| r.contains(*node))).cloned().collect();
        if knot.len() > 1 {
            found.insert(knot);
        }
    }
    found.into_iter().collect()
}

#[test]
fn paths_are_read() {
    let module: Vec<String> = ["model", "check", "expr"].map(String::from).into();
    let code = "use super::{Checker, rules as r, unify::{self, a}};\nuse crate::lang::ast::{self, Ident};
        pub(in crate::lang) fn f() { super::super::Type::Int; crate::value::val::x(); macro_rules!($crate::no) }
        use self::inner::Thing; // crate::report
        #[cfg(test)]\nmod tests {\n use crate::cli;\n}";
    let mut found: Vec<String> = paths(&production(code), &module).iter().map(|p| p.join("::")).collect();
    found.sort();
    let expected = [
        "lang::ast",
        "lang::ast::Ident",
        "model::Type::Int",
        "model::check::Checker",
        "model::check::expr::inner::Thing",
        "model::check::rules",
        "model::check::unify",
        "model::check::unify::a",
        "value::val::x",
    ];
    assert_eq!(found, expected);
}

#[test]
fn circles_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (a, b) in edges {
            graph.entry(a.to_string()).or_default().insert(b.to_string());
        }
        graph
    };
    assert!(knots(&graph(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    assert_eq!(knots(&graph(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])), [["b", "c"]]);
}
