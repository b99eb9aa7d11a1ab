//! Every model in `models/` says in its first comment what a check must answer (models/README.md); here it is
//! asked. What stands behind `nauty:` is for the symmetry strategies.

use kanon::explore::Options;
use kanon::lang::diag::{Diagnostic, SourceMap};
use kanon::model::load::with_large_stack;
use kanon::model::open::Refused;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::{Checked, Decision};
use kanon::run::{Deadline, Task, check_file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Expectation = BTreeMap<String, String>;

/// The expectations of the first comment.
fn expectations(text: &str) -> Vec<Expectation> {
    let in_b = text.trim_start().strip_prefix("/*").and_then(|t| t.split("*/").next());
    let in_z = text.lines().take_while(|l| l.starts_with('%')).map(|l| l.trim_start_matches('%'));
    let comment = in_b.map_or_else(|| in_z.collect(), |comment| comment.lines().collect::<Vec<_>>());
    let lines = comment.into_iter().filter_map(|l| l.trim().strip_prefix("expect:"));
    let pairs = |line: &str| -> Expectation {
        let plain = line.split(';').next().unwrap_or_default();
        let pair = |p: &str| p.split_once('=').map(|(k, v)| (k.to_string(), v.to_string()));
        plain.split_whitespace().filter_map(pair).collect()
    };
    lines.map(pairs).collect()
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|e| Some(e.ok()?.path())) {
        let kind = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() {
            files(&path, out);
        } else if matches!(kind, "mch" | "ref" | "imp" | "eventb" | "tex" | "zed" | "utf8") {
            out.push(path);
        }
    }
}

fn sizes(e: &Expectation) -> ScopeArgs {
    let mut scope = ScopeArgs::default();
    for pair in e.get("card").iter().flat_map(|c| c.split(',')) {
        if let Some((set, n)) = pair.split_once(':') {
            scope.card.push((set.to_string(), n.parse().unwrap_or(0)));
        }
    }
    scope
}

fn task(all: bool) -> Task {
    Task { options: Options { all, ..Options::default() }, ..Task::default() }
}

/// What kind of error a code is.
fn category(code: &str) -> &'static str {
    match code {
        "B0100" | "B0114" | "B0211" | "B0212" => "file",
        "B0111" | "B0210" => "cycle",
        "B0113" | "B0206" => "arity",
        "B0201" | "B0202" | "B0217" | "B0207" | "B0209" => "name",
        "B0412" => "scope",
        "B0413" => "properties",
        "B0414" | "B0415" => "initialisation",
        c if c.starts_with("B01") => "syntax",
        c if c.starts_with("B02") => "type",
        _ => "other",
    }
}

fn lines(d: &Diagnostic, sources: &SourceMap) -> Vec<String> {
    let spans = std::iter::once(d.span).chain(d.notes.iter().map(|(s, _)| *s));
    spans.filter_map(|s| Some(sources.get(s.file)?.line_col(s.lo).line.to_string())).collect()
}

/// What differs from the expectation.
fn judge(e: &Expectation, answer: &Result<Checked, Refused>) -> Vec<String> {
    let mut wrong = vec![];
    let mut compare = |key: &str, found: String| {
        if let Some(expected) = e.get(key).filter(|x| **x != found) {
            wrong.push(format!("{key}: expected {expected}, found {found}"));
        }
    };
    match answer {
        Ok(c) => {
            let n = &c.counts;
            compare("states", n.states.to_string());
            compare("transitions", n.transitions.to_string());
            compare("deadlocks", n.deadlocks.to_string());
            compare("initialisations", n.initialisations.to_string());
            compare("constants", c.constants.to_string());
            let verdict = match (&c.verdict, &c.finding) {
                (Decision::Fails, Some(f)) => format!("fails:{}", f.kind),
                (word, _) if e.get("verdict").is_some_and(|v| v == word.name()) => word.name().to_string(),
                (word, _) => format!(
                    "{}{}",
                    word.name(),
                    c.reason.as_ref().map_or(String::new(), |r| format!(": {r}"))
                ),
            };
            compare("error", verdict.clone());
            compare("verdict", verdict);
            if let Some(place) = c.finding.as_ref().and_then(|f| f.place.as_ref()) {
                compare("line", place.line.to_string());
            }
        }
        Err(refused) => {
            let first = refused.diagnostics.iter().find(|d| d.is_error());
            let Some(first) = first else { return vec!["refused without an error".into()] };
            compare("error", category(first.code).to_string());
            compare("verdict", format!("{}: {}", first.code, first.message));
            let places = lines(first, &refused.sources);
            let expected = e.get("line");
            if let (Some(line), Some(found)) = (expected.filter(|l| !places.contains(l)), places.first()) {
                compare("line", format!("{found} ({line} is not among the places)"));
            }
            let errors = refused.diagnostics.iter().filter(|d| d.is_error()).count();
            let least: usize = e.get("errors").and_then(|n| n.parse().ok()).unwrap_or(0);
            if errors < least {
                compare("errors", errors.to_string());
            }
        }
    }
    wrong
}

#[test]
fn every_model_answers_as_its_header_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut all = vec![];
    files(&root, &mut all);
    all.sort();
    let (asked, wrong) = with_large_stack(|| {
        let mut wrong = vec![];
        let mut asked = 0;
        for path in &all {
            let text =
                std::fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
            for e in expectations(&text) {
                if e.get("slow").is_some_and(|s| s == "yes") {
                    continue;
                }
                asked += 1;
                let name = path.strip_prefix(&root).unwrap_or(path).display();
                // Counts are of everything; the finding is the first one of the ordinary run.
                for all in [true, false] {
                    let mut e = e.clone();
                    if !all {
                        if !e.contains_key("verdict") {
                            continue;
                        }
                        e.retain(|k, _| matches!(&**k, "card" | "verdict" | "line"));
                    }
                    let answer = check_file(path, &sizes(&e), &task(all), &Deadline::never())
                        .map(|(_, checked)| checked);
                    wrong.extend(judge(&e, &answer).into_iter().map(|w| format!("{name}: {e:?}: {w}")));
                }
            }
        }
        (asked, wrong)
    })
    .expect("a thread for deep trees");
    assert!(asked > 50, "only {asked} expectations found in {}", root.display());
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn headers_are_read() {
    let text = "/* expect: card=S:3,T:2 states=9 verdict=holds; nauty: states=4\n   expect: error=type line=2 */ MACHINE m";
    let all = expectations(text);
    assert_eq!(all.len(), 2);
    assert_eq!(all[0]["states"], "9");
    assert_eq!(sizes(&all[0]).card, [("S".to_string(), 3), ("T".to_string(), 2)]);
    assert_eq!(all[1]["error"], "type");
    assert!(expectations("MACHINE m /* expect: states=1 */").is_empty());
}
