//! Refinements of the shared corpus: what `kanon refine` says of each, and that nothing which the file says is proved is
//! disproved by `kanon prove`.
//!
//! `tests/corpus/refine.csv` has the answers. They are our own: ProB has none to compare with, since its `-refchk` looks
//! at traces only. So a change of one has to be argued. `tests/corpus/traces.csv` has what `-refchk` answered, for
//! `--traces`; where the two differ, the reason is in the row. Rows that are not `short` run with `KANON_CORPUS_ALL=1` only
//! (`./test --long`).

use crate::tables::{corpus, seconds, walk};
use kanon::model::open::open_sequents;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::Decision;
use kanon::run::prove::{Status, Task as Proving};
use kanon::run::refine::{Task, refine};
use kanon::run::{Deadline, sequents};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A line of the list: the file, `short` or `long`, and the answer.
struct Row {
    file: String,
    run: String,
    answer: String,
}

fn list() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/refine.csv")
}

fn rows() -> (String, Vec<Row>) {
    let text = std::fs::read_to_string(list()).expect("the list of refinements");
    let head: String = text.lines().filter(|l| l.starts_with('#')).map(|l| format!("{l}\n")).collect();
    let row = |line: &str| {
        let mut cells = line.splitn(3, ',').map(str::to_string);
        let mut next = || cells.next().expect("three cells");
        Row { file: next(), run: next(), answer: next() }
    };
    (head, text.lines().filter(|l| !l.starts_with('#')).map(row).collect())
}

fn is_long() -> bool {
    std::env::var_os("KANON_CORPUS_ALL").is_some()
}

/// `holds`, `fails: obligation (level)`, `unknown`, `refused`.
fn answer(path: &Path) -> String {
    let deadline = Deadline::after(Some(seconds()));
    match refine(path, &ScopeArgs::default(), &Task::default(), &deadline, &mut |_| {}) {
        Err(_) => "refused".into(),
        Ok((_, r)) => match (r.verdict, r.finding) {
            (Decision::Fails, Some(f)) => {
                let name = f.name.unwrap_or_else(|| format!("{}/{}", f.operation, f.obligation));
                format!("fails: {name} ({})", f.level)
            }
            (verdict, _) => verdict.name().into(),
        },
    }
}

#[test]
fn refinements_of_the_corpus() {
    let Some(dir) = corpus("expected.csv") else { return };
    let (head, all) = rows();
    let is_wanted = |r: &&Row| (is_long() || r.run == "short") && dir.join(&r.file).exists();
    let wanted: Vec<&Row> = all.iter().filter(is_wanted).collect();
    let mut seen = walk(&wanted, |row| answer(&dir.join(&row.file)));
    seen.sort_by(|(a, _), (b, _)| a.file.cmp(&b.file));
    let mut wrong = String::new();
    for (row, found) in &seen {
        let found = found.as_ref().map_or_else(|e| e.clone(), Clone::clone);
        if found != row.answer {
            let _ = writeln!(wrong, "{}: {found}, not {}", row.file, row.answer);
        }
    }
    if std::env::var_os("KANON_CORPUS_UPDATE").is_some() && is_long() {
        let lines = seen.iter().map(|(r, a)| {
            let answer = a.as_ref().map_or("unknown", |a| a);
            format!("{},{},{answer}\n", r.file, r.run)
        });
        std::fs::write(list(), head + &lines.collect::<String>()).expect("the list can be written");
        return;
    }
    println!("{} of {} refinements answer as listed", wanted.len() - wrong.lines().count(), wanted.len());
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn traces_of_the_corpus() {
    let Some(dir) = corpus("expected.csv") else { return };
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/traces.csv");
    let text = std::fs::read_to_string(list).expect("the list of ProB's answers");
    let mut compared = 0;
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let cells: Vec<&str> = line.splitn(4, ',').collect();
        let [file, prob, ours, reason] = cells[..] else { panic!("four cells: {line}") };
        assert!(prob == ours || !reason.is_empty(), "{file}: why do the two differ?");
        let path = dir.join(file);
        if !path.exists() {
            continue;
        }
        let task = Task { traces: true, ..Task::default() };
        let deadline = Deadline::after(Some(seconds()));
        let found = refine(&path, &ScopeArgs::default(), &task, &deadline, &mut |_| {});
        let found = found.map_or("refused", |(_, r)| r.verdict.name());
        assert_eq!(found, ours, "{file}; ProB: {prob}");
        compared += 1;
    }
    println!("{compared} trace refinements answer as listed");
}

/// Rodin's proofs are for all sizes of sets, so one of them and a counterexample at any size contradict each other.
#[test]
fn no_proof_of_the_corpus_is_wrong() {
    let Some(dir) = corpus("expected.csv") else { return };
    let (_, all) = rows();
    let wanted: Vec<&Row> = all
        .iter()
        .filter(|r| {
            r.file.ends_with(".eventb") && (is_long() || r.run == "short") && dir.join(&r.file).exists()
        })
        .collect();
    let time = if is_long() { seconds() } else { Duration::from_secs(1) };
    let seen = walk(&wanted, |row| {
        let project = open_sequents(&dir.join(&row.file), &ScopeArgs::default()).ok().flatten()?;
        let task = Proving { limit: time, ..Proving::default() };
        let deadline = Deadline::after(Some(time));
        let proved = sequents::prove(&project, &task, &deadline, &mut |_, _| {}).ok()?;
        let alarms = proved.obligations.iter().filter(|o| o.is_alarm()).map(|o| o.name.clone());
        let agree =
            proved.obligations.iter().filter(|o| o.discharged == Some(true) && o.status == Status::Proved);
        Some((alarms.collect::<Vec<_>>(), agree.count()))
    });
    let (mut alarms, mut agree) = (String::new(), 0);
    for (row, found) in &seen {
        if let Ok(Some((wrong, proved))) = found {
            agree += proved;
            wrong.iter().for_each(|name| {
                let _ = writeln!(alarms, "{}: {name}", row.file);
            });
        }
    }
    println!("{agree} obligations that are discharged in the files are proved here, too");
    assert!(alarms.is_empty(), "{alarms}");
    assert!(agree > 0 || wanted.is_empty(), "nothing was compared");
}
