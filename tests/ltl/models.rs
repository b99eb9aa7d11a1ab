//! The formulas in the headers of `models/ltl`: `ltl: holds: F` and `ltl: fails: F` in the first comment.

use kanon::model::load::with_large_stack;
use kanon::model::scope::ScopeArgs;
use kanon::run::Deadline;
use kanon::run::ltl::{Task, check_file};
use kanon::symmetry::Strategy;
use std::path::{Path, PathBuf};

/// Sizes of sets, and the formulas with what they must be.
pub type Header = (Vec<(String, u64)>, Vec<(String, String)>);

pub fn header(text: &str) -> Header {
    let comment = text.trim_start().strip_prefix("/*").and_then(|t| t.split("*/").next()).unwrap_or_default();
    let mut header = (vec![], vec![]);
    for line in comment.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("expect:") {
            let card = rest.split_whitespace().find_map(|p| p.strip_prefix("card="));
            let sizes = card.into_iter().flat_map(|c| c.split(',')).filter_map(|p| p.split_once(':'));
            header.0 = sizes.map(|(s, n)| (s.to_string(), n.parse().expect("a size"))).collect();
        } else if let Some((word, formula)) = line.strip_prefix("ltl: ").and_then(|l| l.split_once(": ")) {
            header.1.push((word.to_string(), formula.to_string()));
        }
    }
    header
}

pub fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ltl");
    let files = std::fs::read_dir(folder).expect("the folder is there").map(|e| e.expect("readable").path());
    files.filter(|p| p.extension().is_some_and(|e| e == "mch")).collect()
}

#[test]
fn models_fulfil_the_formulas_that_they_should() {
    let mut wrong = vec![];
    let mut formulas = 0;
    for path in models() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let (card, expected) = header(&text);
        assert!(!expected.is_empty(), "{}: no formulas", path.display());
        let named = expected.iter().map(|(_, f)| (f.clone(), f.clone())).collect();
        let mut task = Task { formulas: named, ..Task::default() };
        let scope = ScopeArgs { card, ..ScopeArgs::default() };
        for symmetry in [Strategy::Off, Strategy::Auto] {
            task.symmetry = symmetry;
            task.audit = true;
            let answer =
                with_large_stack(|| check_file(&path, &scope, &task, &Deadline::never())).expect("a thread");
            match answer {
                Ok((_, answers)) => {
                    for ((word, formula), found) in expected.iter().zip(&answers) {
                        formulas += 1;
                        if found.verdict.name() != word {
                            let said = format!("{} {:?}", found.verdict.name(), found.reason);
                            wrong.push(format!(
                                "{}: {formula}: expected {word}, found {said}",
                                path.display()
                            ));
                        }
                        assert_eq!(found.finding.is_some(), found.verdict.name() == "fails");
                        let is_audited = found.notes.iter().any(|n| n.starts_with("audit: "));
                        assert_eq!(is_audited, found.verdict.name() == "holds", "{formula}");
                    }
                }
                Err(refused) => wrong.push(format!("{}: {:?}", path.display(), refused.diagnostics)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(formulas > 120, "{formulas} formulas");
}
