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
use kanon_checker::Rejected;
use kanon_checker::check::{Effort, Part};
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

/// What kanon-checker says of an answer.
#[derive(Clone, Debug, PartialEq)]
enum Judged {
    Accepted,
    Refuted,
    NotDecided(String),
    /// More states than the evaluator is asked about, or no answer in time.
    TooSlow,
    NotWritten(String),
    Rejected(String),
}

/// Certificates of what holds and paths of what fails. States are limited, since the reference evaluator is slow.
fn judge(dir: &Path, row: &Row, (time, max_states): (Duration, usize), file: &Path) -> Judged {
    let task = Task {
        symmetry: Strategy::Auto,
        formulas: vec![("formula".to_string(), row.formula.clone())],
        limits: Limits { max_states: Some(max_states), ..Limits::default() },
        certificate: Some(file.to_path_buf()),
        ..Task::default()
    };
    let path = dir.join(&row.file);
    let effort = Effort { root: 50_000_000, solved: 20_000_000, state: 1_000_000 };
    let Ok((project, answers)) =
        check_file(&path, &ScopeArgs::default(), &task, &Deadline::after(Some(time)))
    else {
        return Judged::NotWritten("refused".into());
    };
    // The checker takes nothing but whole machines.
    if !project.opened.model.left_out.is_empty() {
        return Judged::NotWritten("a part of the machine is left out".into());
    }
    let said = |why: Rejected| match why.is_undecided() {
        true => Judged::NotDecided(why.to_string()),
        false => Judged::Rejected(why.to_string()),
    };
    match (answers[0].verdict, &answers[0].certificate) {
        (Decision::Holds, Some(Ok(_))) => {
            match kanon_checker::check(&path, &mut || std::fs::File::open(file), Part::WHOLE, effort) {
                Ok(a) if a.relative.is_empty() => Judged::Accepted,
                Ok(a) => Judged::NotDecided(format!("relative to {}", a.relative[0])),
                Err(why) => said(why),
            }
        }
        (Decision::Holds, Some(Err(why))) => Judged::NotWritten(why.clone()),
        (Decision::Fails, _) => {
            let Some(shown) = answers[0].shown() else { return Judged::TooSlow };
            kanon::trace::export::write(file, shown, &project.opened).expect("a trace");
            let text = std::fs::read_to_string(file).expect("a trace");
            match kanon_checker::check_trace(&path, &text, Reading::Kleene, effort) {
                Ok(_) => Judged::Refuted,
                Err(why) => said(why),
            }
        }
        _ => Judged::TooSlow,
    }
}

/// A sample of the formulas; all with `KANON_CORPUS_ALL`. No certificate and no path is rejected.
#[test]
fn formulas_of_the_corpus_are_certified() {
    let Some(dir) = corpus("ltl.csv") else { return };
    let is_all = std::env::var_os("KANON_CORPUS_ALL").is_some();
    let limits = if is_all { (seconds(), 20_000) } else { (Duration::from_secs(5), 1_000) };
    let rows = rows(&dir);
    let sample: Vec<(usize, &Row)> = rows.iter().enumerate().filter(|(i, _)| is_all || i % 20 == 3).collect();
    let folder = std::env::temp_dir().join(format!("kanon-corpus-formulas-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let judged = walk(&sample, |(i, row)| judge(&dir, row, limits, &folder.join(format!("{i}.json"))));
    let _ = std::fs::remove_dir_all(&folder);
    let mut wrong = String::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for ((_, row), outcome) in judged {
        let outcome = outcome.unwrap_or(Judged::TooSlow);
        let kind = match &outcome {
            Judged::Accepted => "accepted",
            Judged::Refuted => "refuted",
            Judged::NotDecided(_) => "not decided",
            Judged::TooSlow => "too slow or unknown",
            Judged::NotWritten(_) => "not written",
            Judged::Rejected(_) => "rejected",
        };
        *counts.entry(kind).or_default() += 1;
        match &outcome {
            Judged::Rejected(why) => {
                let _ = writeln!(wrong, "{}: {}: {why}", row.file, row.formula);
            }
            Judged::NotDecided(why) | Judged::NotWritten(why) => {
                println!("{kind}: {}: {}: {why}", row.file, row.formula.replace('\n', " "));
            }
            _ => {}
        }
    }
    println!("{} formulas: {counts:?}", sample.len());
    assert!(wrong.is_empty(), "rejected:\n{wrong}");
    let both = counts.get("accepted").copied().unwrap_or(0) + counts.get("refuted").copied().unwrap_or(0);
    assert!(both * 2 > sample.len(), "{counts:?}");
}
