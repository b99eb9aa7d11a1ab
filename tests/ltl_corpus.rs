//! Every formula of the shared corpus against ProB's answer.
//!
//! The corpus is looked for in `$KANON_CORPUS` or beside the repository, and the test says so when it is not there. What
//! does not agree is listed with its reason in `tests/corpus/ltl-known.tsv`; a formula that is not on the list has to
//! agree. `KANON_CORPUS_SECONDS` (default 30) is the time a formula gets, `KANON_CORPUS_UPDATE=1` rewrites the list
//! (arguments of disputed rows are kept).

use kanon::cli::ltl::{Task, check};
use kanon::cli::stop::Stop;
use kanon::model::load::with_large_stack;
use kanon::report::answer::Word;
use kanon::symmetry::Strategy;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    Unsupported(String),
    Unknown(String),
    Differs(String),
}

fn corpus() -> Option<PathBuf> {
    let dir = match std::env::var_os("KANON_CORPUS") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("shared").join("corpus"),
    };
    dir.join("ltl.csv").exists().then_some(dir)
}

/// The cells of a CSV file; quoted ones may contain commas and line ends.
fn cells(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().expect("there is always a row");
        let cell = row.last_mut().expect("there is always a cell");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\n' if !quoted => rows.push(vec![String::new()]),
            '\r' if !quoted => {}
            c => cell.push(c),
        }
    }
    rows
}

fn rows(dir: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(dir.join("ltl.csv")).expect("it exists");
    let rows = cells(&text).into_iter().skip(1).filter(|r| r.len() == 3);
    rows.map(|r| Row { file: r[0].clone(), formula: r[1].clone(), answer: r[2] == "true" }).collect()
}

fn known_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/ltl-known.tsv")
}

/// By file and formula: kind and reason.
fn known() -> BTreeMap<(String, String), (String, String)> {
    let text = std::fs::read_to_string(known_file()).unwrap_or_default();
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    lines
        .map(|l| {
            let mut cells = l.splitn(4, '\t');
            let mut next = || cells.next().unwrap_or_default().to_string();
            ((next(), next()), (next(), next()))
        })
        .collect()
}

/// Without reduction and with it: the answers have to be the same.
fn ask(dir: &Path, row: &Row, time: Duration) -> Outcome {
    let plain = ask_with(dir, row, time, Strategy::Off);
    let reduced = ask_with(dir, row, time, Strategy::Auto);
    match (&plain, &reduced) {
        (Outcome::Agrees, Outcome::Agrees) => Outcome::Agrees,
        (Outcome::Agrees, other) => Outcome::Differs(format!("under reduction: {other:?}")),
        _ => plain,
    }
}

fn ask_with(dir: &Path, row: &Row, time: Duration, symmetry: Strategy) -> Outcome {
    let task = Task {
        symmetry,
        formulas: vec![("formula".to_string(), row.formula.clone())],
        max_states: Some(500_000),
        ..Task::default()
    };
    let stop = Stop::after(Some(time));
    match check(&dir.join(&row.file), &task, &stop) {
        Ok(checked) => match (checked.formulas[0].verdict, &checked.formulas[0].reason) {
            (Word::Unknown, why) => Outcome::Unknown(why.clone().unwrap_or_default()),
            (word, _) if (word == Word::Holds) == row.answer => Outcome::Agrees,
            (word, _) => Outcome::Differs(format!("{}; ProB says {}", word.name(), row.answer)),
        },
        Err(refused) => {
            let first = refused.diagnostics.iter().find(|d| d.is_error());
            let (code, message) = first.map_or(("?", String::new()), |d| (d.code, d.message.clone()));
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
    let Some(dir) = corpus() else {
        println!("no corpus here: nothing compared (set KANON_CORPUS)");
        return;
    };
    let seconds = std::env::var("KANON_CORPUS_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(30);
    let rows = rows(&dir);
    let known = known();
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get());
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = with_large_stack(|| ask(&dir, row, Duration::from_secs(seconds)))
                        .unwrap_or_else(|e| Outcome::Unknown(e.to_string()));
                    outcomes.lock().expect("no panic while it is held").insert(row.clone(), outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no panic while it was held");
    let count = |f: fn(&Outcome) -> bool| outcomes.values().filter(|o| f(o)).count();
    println!(
        "{} formulas: {} agree, {} unsupported, {} unknown, {} differ",
        outcomes.len(),
        count(|o| *o == Outcome::Agrees),
        count(|o| matches!(o, Outcome::Unsupported(_))),
        count(|o| matches!(o, Outcome::Unknown(_))),
        count(|o| matches!(o, Outcome::Differs(_))),
    );
    if std::env::var_os("KANON_CORPUS_UPDATE").is_some() {
        update(&outcomes, &known);
        return;
    }
    let mut wrong = String::new();
    for (row, outcome) in &outcomes {
        let listed = known.get(&(row.file.clone(), row.formula.clone())).map(|(kind, _)| kind.as_str());
        let fine = match outcome {
            Outcome::Agrees => true,
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

/// Rewrites the list from what was seen.
fn update(outcomes: &BTreeMap<Row, Outcome>, known: &BTreeMap<(String, String), (String, String)>) {
    let mut text = String::from(
        "# Formulas of the corpus that do not agree with ProB's answers (see tests/ltl_corpus.rs).\n\
         # file, formula, kind, reason, with tabs between. unsupported: the machine is refused by name. unknown: no answer.\n\
         # disputed: differs, and the reason is the argument.\n",
    );
    for (row, outcome) in outcomes {
        let old = known.get(&(row.file.clone(), row.formula.clone()));
        let (kind, reason) = match outcome {
            Outcome::Agrees => continue,
            Outcome::Unsupported(why) => ("unsupported", why.clone()),
            Outcome::Unknown(why) => match old.filter(|(kind, _)| kind == "disputed") {
                Some((_, argument)) => ("disputed", argument.clone()),
                None => ("unknown", why.clone()),
            },
            Outcome::Differs(how) => match old.filter(|(kind, _)| kind == "disputed") {
                Some((_, argument)) => ("disputed", argument.clone()),
                None => ("DIFFERS", how.clone()),
            },
        };
        let reason = reason.replace(['\n', '\t'], " ");
        let _ = writeln!(text, "{}\t{}\t{kind}\t{reason}", row.file, row.formula.replace('\n', " "));
    }
    std::fs::write(known_file(), text).expect("the list can be written");
}
