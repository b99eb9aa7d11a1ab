//! Every formula of the shared corpus against ProB's answer.
//!
//! What does not agree is listed with its reason in `tests/corpus/ltl-known.tsv`; a formula that is not on the list has to
//! agree. `tests/corpus/tables.rs` has the settings.

use crate::tables::{List, corpus, first_error, seconds, table, walk};
use kanon::ltl::space::Limits;
use kanon::model::reading::Reading;
use kanon::model::scope::ScopeArgs;
use kanon::run::Deadline;
use kanon::run::ltl::{Task, check_file};
use kanon::symmetry::Strategy;
use kanon::verdict::Decision;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    file: String,
    formula: String,
    answer: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Agrees,
    /// Only with `--wd prob`.
    AgreesAsProb,
    Unsupported(String),
    Unknown(String),
    Differs(String),
}

fn rows(dir: &Path) -> Vec<Row> {
    let rows = table(&dir.join("ltl.csv"), ["file", "formula", "answer"]);
    rows.into_iter().map(|[file, formula, answer]| Row { file, formula, answer: answer == "true" }).collect()
}

impl Row {
    /// Its key in the list.
    fn key(&self) -> String {
        format!("{}\t{}", self.file, self.formula.replace('\n', " "))
    }
}

/// Without reduction and with it: the answers have to be the same.
fn ask(dir: &Path, row: &Row, time: Duration) -> Outcome {
    let plain = ask_with(dir, row, time, (Strategy::Off, Reading::Kleene));
    let reduced = ask_with(dir, row, time, (Strategy::Auto, Reading::Kleene));
    match (&plain, &reduced) {
        (Outcome::Agrees, Outcome::Agrees) => Outcome::Agrees,
        (Outcome::Agrees, other) => Outcome::Differs(format!("under reduction: {other:?}")),
        // Where guards have no value, ProB has a reading of its own.
        (Outcome::Unknown(_), _) => match ask_with(dir, row, time, (Strategy::Off, Reading::Prob)) {
            Outcome::Agrees => Outcome::AgreesAsProb,
            Outcome::Differs(how) => Outcome::Differs(format!("with --wd prob: {how}")),
            _ => plain,
        },
        _ => plain,
    }
}

fn ask_with(dir: &Path, row: &Row, time: Duration, (symmetry, reading): (Strategy, Reading)) -> Outcome {
    let task = Task {
        symmetry,
        formulas: vec![("formula".to_string(), row.formula.clone())],
        limits: Limits { max_states: Some(500_000), ..Limits::default() },
        ..Task::default()
    };
    let deadline = Deadline::after(Some(time));
    let scope = ScopeArgs { reading, ..ScopeArgs::default() };
    match check_file(&dir.join(&row.file), &scope, &task, &deadline) {
        Ok((_, answers)) => match (answers[0].verdict, &answers[0].reason) {
            (Decision::Unknown, why) => Outcome::Unknown(why.clone().unwrap_or_default()),
            (word, _) if (word == Decision::Holds) == row.answer => Outcome::Agrees,
            (word, _) => Outcome::Differs(format!("{}; ProB says {}", word.name(), row.answer)),
        },
        Err(refused) => {
            let (code, message) = first_error(&refused.diagnostics);
            if code.starts_with("B04") || code.starts_with("L04") {
                Outcome::Unsupported(message)
            } else {
                Outcome::Differs(format!("{code} {message}"))
            }
        }
    }
}

#[test]
fn formulas_of_the_corpus_agree_with_prob() {
    let Some(dir) = corpus("ltl.csv") else { return };
    let time = seconds();
    let rows = rows(&dir);
    // file, formula, kind, reason. The kinds are unsupported, unknown, prob and disputed.
    let known = List::read("ltl-known.tsv", '\t', 2);
    let asked = walk(&rows, |row| ask(&dir, row, time));
    let outcomes: BTreeMap<&Row, Outcome> =
        asked.into_iter().map(|(row, o)| (row, o.unwrap_or_else(Outcome::Unknown))).collect();
    let count = |f: fn(&Outcome) -> bool| outcomes.values().filter(|o| f(o)).count();
    println!(
        "{} formulas: {} agree, {} more with --wd prob, {} unsupported, {} unknown, {} differ",
        outcomes.len(),
        count(|o| *o == Outcome::Agrees),
        count(|o| *o == Outcome::AgreesAsProb),
        count(|o| matches!(o, Outcome::Unsupported(_))),
        count(|o| matches!(o, Outcome::Unknown(_))),
        count(|o| matches!(o, Outcome::Differs(_))),
    );
    if known.is_to_be_rewritten() {
        known.rewrite(outcomes.iter().filter_map(|(row, outcome)| line(&known, row, outcome)));
        return;
    }
    let mut wrong = String::new();
    for (row, outcome) in &outcomes {
        let key = row.key();
        let listed = known.kind(&key);
        let fine = match outcome {
            Outcome::Agrees => true,
            Outcome::AgreesAsProb => listed == Some("prob"),
            Outcome::Differs(_) => listed == Some("disputed"),
            Outcome::Unsupported(_) => listed == Some("unsupported"),
            Outcome::Unknown(_) => matches!(listed, Some("unknown" | "disputed")),
        };
        if !fine {
            let _ = writeln!(wrong, "{}: {}: {outcome:?} (listed as {listed:?})", row.file, row.formula);
        }
    }
    assert!(wrong.is_empty(), "not as the list says:\n{wrong}");
}

/// A line of the list.
fn line(known: &List, row: &Row, outcome: &Outcome) -> Option<(String, &'static str, String)> {
    let key = row.key();
    let (kind, reason) = match outcome {
        Outcome::Agrees => return None,
        Outcome::AgreesAsProb => ("prob", "agrees with --wd prob".to_string()),
        Outcome::Unsupported(why) => ("unsupported", why.clone()),
        Outcome::Unknown(why) if known.kind(&key) != Some("disputed") => ("unknown", why.clone()),
        Outcome::Unknown(how) | Outcome::Differs(how) => ("DIFFERS", how.clone()),
    };
    Some((key, kind, reason))
}
