//! The documents: lines that fit, links and paths that lead somewhere, commands that exist, papers by name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const COLUMNS: usize = 100;
/// A row of a table cannot be broken, so it may be wider, but not because a cell has become a paragraph.
const CELL: usize = 60;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files of ours below a folder, relative to the root.
fn files(folder: &Path, keep: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                let is_ours = name != "target"
                    && name != "node_modules"
                    && (!name.to_string_lossy().starts_with('.') || name == ".ci");
                if is_ours && !path.ends_with("fuzz/corpus") {
                    folders.push(path);
                }
            } else if keep(&path) {
                found.push(path.strip_prefix(root()).expect("below the root").to_path_buf());
            }
        }
    }
    found.sort();
    found
}

fn ends_in(endings: &'static [&'static str]) -> impl Fn(&Path) -> bool {
    move |path| path.extension().is_some_and(|e| endings.iter().any(|x| e == *x))
}

fn documents() -> Vec<(PathBuf, String)> {
    let found = files(root(), &ends_in(&["md"]));
    assert!(found.len() > 10, "only {found:?}");
    found.into_iter().map(|f| (f.clone(), std::fs::read_to_string(root().join(f)).expect("text"))).collect()
}

/// Whole files that a program writes; parts of a file stand between `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
const GENERATED: &[&str] = &["proofs/OBLIGATIONS.md"];

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_fit() {
    let mut wrong = Vec::new();
    for (file, text) in documents() {
        if GENERATED.iter().any(|f| *f == file.to_string_lossy()) {
            continue;
        }
        let mut by_program = false;
        for (number, line) in text.lines().enumerate() {
            if let Some(mark) = line.strip_prefix("<!-- ") {
                by_program = mark.contains(": begin");
            }
            let is_row = line.starts_with('|');
            let widest = line.split('|').map(|cell| cell.trim().chars().count()).max().unwrap_or(0);
            let fits = line.chars().count() <= COLUMNS || by_program || is_row && widest <= CELL;
            if !fits {
                wrong.push(format!("{}:{}: {} columns", file.display(), number + 1, line.chars().count()));
            }
            if line != line.trim_end() {
                wrong.push(format!("{}:{}: white space at the end", file.display(), number + 1));
            }
        }
    }
    assert_none(&wrong);
}

/// `[text](target)` and `![text](target)`.
fn links(text: &str) -> Vec<&str> {
    let parts = text.split("](").skip(1);
    parts.filter_map(|rest| rest.split(')').next()).collect()
}

/// Headings as the anchors that a reader's program makes of them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|l| l.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        words
            .chars()
            .filter(|c| c.is_alphanumeric() || *c == '-' || *c == ' ')
            .collect::<String>()
            .replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for (file, text) in documents() {
        for link in links(&text).into_iter().filter(|l| !l.contains("://")) {
            looked_at += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let from = root().join(&file);
            let target = if path.is_empty() { from.clone() } else { from.with_file_name("").join(path) };
            let is_there = target.exists();
            let has_anchor = anchor.is_empty()
                || std::fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor));
            if !(is_there && has_anchor) {
                wrong.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(looked_at > 20, "only {looked_at} links");
    assert_none(&wrong);
}

/// What stands between single backticks, and the lines that are code.
fn code(text: &str) -> Vec<String> {
    let is_code = |l: &&str| l.starts_with("    ");
    let mut found: Vec<String> = text.lines().filter(is_code).map(|l| l.trim().to_string()).collect();
    // A span may go on in the next line, but not beyond its paragraph.
    for paragraph in text.split("\n\n") {
        let prose: Vec<&str> = paragraph.lines().filter(|l| !is_code(l)).collect();
        let prose = prose.join(" ");
        found.extend(
            prose.split('`').skip(1).step_by(2).map(|s| s.split_whitespace().collect::<Vec<_>>().join(" ")),
        );
    }
    found
}

#[test]
fn paths_lead_somewhere() {
    let tops = [
        "src/",
        "tests/",
        "docs/",
        "models/",
        "benches/",
        "scripts/",
        "proofs/",
        "refinement/",
        "fuzz/",
        ".ci/",
    ];
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for (file, text) in documents() {
        for span in code(&text) {
            for word in span.split_whitespace() {
                let word = word.trim_matches(|c: char| "`'\"(),;:".contains(c));
                let is_path =
                    tops.iter().any(|t| word.starts_with(t)) && !word.contains(['*', '{', '…', '$']);
                // A path without its beginning is meant from the root, or from the document's own folder.
                let near = root().join(&file).with_file_name("").join(word);
                if is_path {
                    looked_at += 1;
                    if !root().join(word).exists() && !near.exists() {
                        wrong.push(format!("{}: {word}", file.display()));
                    }
                }
            }
        }
    }
    assert!(looked_at > 40, "only {looked_at} paths");
    assert_none(&wrong);
}

fn help(arguments: &[&str]) -> String {
    let mut kanon = Command::new(env!("CARGO_BIN_EXE_kanon"));
    let out = kanon.args(arguments).arg("--help").output().expect("the program starts");
    assert!(out.status.success(), "{arguments:?}");
    String::from_utf8(out.stdout).expect("UTF-8")
}

fn options(text: &str) -> BTreeSet<String> {
    let cut = |w: &str| {
        w.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
            .next()
            .map(String::from)
    };
    let words = text.split(|c: char| c.is_whitespace() || "`[(,".contains(c));
    words.filter(|w| w.starts_with("--") && w.len() > 2).filter_map(cut).collect()
}

#[test]
fn commands_and_options_exist() {
    let listed = help(&[]);
    let commands = listed.lines().skip_while(|l| !l.starts_with("Commands:")).skip(1);
    let commands = commands.take_while(|l| l.starts_with("  ")).filter_map(|l| l.split_whitespace().next());
    let commands = commands.filter(|c| *c != "help");
    let known: BTreeMap<&str, BTreeSet<String>> = commands.map(|c| (c, options(&help(&[c])))).collect();
    assert!(known.len() > 4, "{known:?}");
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for (file, text) in documents() {
        for span in code(&text) {
            let line = span.strip_prefix("$ ").unwrap_or(&span);
            let line = line.split('#').next().unwrap_or_default();
            let Some(rest) = line.strip_prefix("./kanon ").or_else(|| line.strip_prefix("kanon ")) else {
                continue;
            };
            let command = rest.split_whitespace().next().unwrap_or_default();
            let Some(options_of) = known.get(command) else {
                // `kanon --version` has no command.
                let top = options(&listed);
                if !options(rest).is_subset(&top) || !command.starts_with('-') {
                    wrong.push(format!("{}: {span}: there is no command {command}", file.display()));
                }
                continue;
            };
            looked_at += 1;
            for option in options(rest).difference(options_of) {
                wrong.push(format!("{}: {span}: {command} has no {option}", file.display()));
            }
        }
    }
    assert!(looked_at > 15, "only {looked_at} commands");
    let manual = std::fs::read_to_string(root().join("docs/cli.md")).expect("docs/cli.md");
    let explained = options(&manual);
    for (command, options) in &known {
        let missing = options.difference(&explained).filter(|o| *o != "--help" && *o != "--output");
        wrong.extend(missing.map(|o| format!("docs/cli.md does not explain {o} of {command}")));
    }
    assert_none(&wrong);
}

#[test]
fn tests_and_variables_that_are_named_exist() {
    let programs = files(root(), &|p| p.extension().is_none_or(|e| e == "rs" || e == "sh"));
    let programs = programs.iter().filter(|f| !f.ends_with("repository/documents.rs"));
    let programs: String = programs.filter_map(|f| std::fs::read_to_string(root().join(f)).ok()).collect();
    let mut wrong = Vec::new();
    for (file, text) in documents() {
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || "`()".contains(c)).collect();
        for pair in words.windows(2).filter(|p| p[0] == "--test") {
            let packages = ["tests", "proofs/tests"].map(|t| root().join(t));
            let is_there = |t: &PathBuf| {
                t.join(pair[1]).join("main.rs").exists() || t.join(format!("{}.rs", pair[1])).exists()
            };
            if !packages.iter().any(is_there) {
                wrong.push(format!("{}: no test {}", file.display(), pair[1]));
            }
        }
        for word in words.iter().filter(|w| w.starts_with("KANON_")) {
            let name = word.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).next().unwrap_or_default();
            if !programs.contains(name) {
                wrong.push(format!("{}: nothing reads {name}", file.display()));
            }
        }
    }
    assert_none(&wrong);
}

/// Texts of ours: sources, documents, models, scripts.
fn texts() -> Vec<(PathBuf, String)> {
    let is_text = |p: &Path| {
        p.extension().is_none_or(|e| ["rs", "md", "mch", "ref", "imp", "toml", "sh"].iter().any(|x| e == *x))
    };
    let found = files(root(), &is_text).into_iter().filter(|f| !f.ends_with("repository/documents.rs"));
    found.filter_map(|f| Some((f.clone(), std::fs::read_to_string(root().join(f)).ok()?))).collect()
}

/// Where a text says something that no text should, with the line.
fn occurrences(texts: &[(PathBuf, String)], unwanted: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (file, text) in texts {
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            let said = unwanted.iter().filter(|u| lower.contains(**u));
            found.extend(said.map(|u| format!("{}:{}: {u:?}", file.display(), number + 1)));
        }
    }
    found
}

#[test]
fn papers_have_names() {
    let texts = texts();
    assert!(texts.len() > 200, "only {} texts", texts.len());
    assert_none(&occurrences(&texts, &["seed 00", "seeds 00"]));
}

#[test]
fn documents_say_per() {
    let slips =
        ["state an orbit", "one an orbit", "once a state", "word a slot", "word a variable", "bytes a state"];
    assert_none(&occurrences(&documents(), &slips));
}

/// Numbers that documents state and sources decide: the number before a text in the document, as the source has it.
#[test]
fn numbers_are_current() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).expect(file);
    let table = [
        ("README.md", " random expressions and", "tests/semantics/differential.rs"),
        ("README.md", " random machines in every test run", "tests/semantics/differential_machines.rs"),
        ("README.md", " random machines (`tests/symmetry/", "tests/symmetry/strategies.rs"),
        ("ARCHITECTURE.md", " random expressions and", "tests/semantics/differential.rs"),
        ("ARCHITECTURE.md", " random machines in every test run", "tests/semantics/differential_machines.rs"),
    ];
    let stated = |document: &str, text: &str| {
        let words = read(document).split_whitespace().collect::<Vec<_>>().join(" ");
        let (before, _) = words.split_once(text).unwrap_or_else(|| panic!("{document} has no{text}"));
        before.rsplit(' ').next().unwrap_or_default().to_string()
    };
    let mut wrong = Vec::new();
    for (document, text, source) in table {
        let number = stated(document, text);
        if !read(source).contains(&number.replace(',', "_")) {
            wrong.push(format!("{document}: {number}{text}: not in {source}"));
        }
    }
    let rows = read("proofs/OBLIGATIONS.md").lines().filter(|l| l.starts_with("| `")).count();
    let number = stated("README.md", " obligations");
    if number != rows.to_string() {
        wrong.push(format!("README.md: {number} obligations, but OBLIGATIONS.md has {rows}"));
    }
    assert_none(&wrong);
}
