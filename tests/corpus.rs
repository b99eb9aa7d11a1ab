//! Every classical-B machine of the shared corpus against ProB's own counts.
//!
//! The corpus is not ours and not in the repository: it is looked for in `$KANON_CORPUS` or beside the
//! repository, and the test says so when it is not there. What does not agree yet is listed with its reason in
//! `tests/corpus/known.csv`; a machine that is not on the list has to agree. `KANON_CORPUS_SECONDS` (default 30)
//! is the time a machine gets, `KANON_CORPUS_ALL=1` also runs those listed as endless, `KANON_CORPUS_UPDATE=1`
//! rewrites the list (arguments of disputed rows are kept).

use kanon::explore::{Explored, Options, Verdict, Why, explore};
use kanon::model::load::{load, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::symmetry::Strategy;
use kanon::system::System;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A row of expected.csv.
#[derive(Clone, Debug)]
struct Row {
    file: String,
    states: u64,
    transitions: u64,
    deadlocks: u64,
    /// `None` where ProB's run was not comparable.
    invariant_violated: Option<bool>,
    /// States under ProB's nauty mode, where it was run.
    nauty_states: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Agrees,
    /// Refused by name, or no answer, with the reason.
    Unsupported(String),
    Unknown(String),
    /// What differs; and whether ProB's count under nauty, where there is one, is ours under every exact strategy.
    Differs(String, bool),
    /// Agrees without reduction, differs with it.
    ReducedDiffers(String),
}

/// A line of known.csv: what a machine may do instead of agreeing.
#[derive(Clone, Debug)]
struct Known {
    /// unsupported, unknown, slow, endless or disputed
    kind: String,
    reason: String,
}

fn corpus() -> Option<PathBuf> {
    let dir = match std::env::var_os("KANON_CORPUS") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("shared").join("corpus"),
    };
    dir.join("expected.csv").exists().then_some(dir)
}

fn rows(dir: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(dir.join("expected.csv")).expect("it exists");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).expect("a known column");
    let [file, language, states, transitions, deadlocks, violated, nauty] =
        ["file", "language", "states", "transitions", "deadlocks", "invariant_violated", "nauty_states"]
            .map(column);
    let mut out = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[language] != "b" {
            continue;
        }
        let number = |i: usize| cells[i].parse().expect("a count");
        out.push(Row {
            file: cells[file].to_string(),
            states: number(states),
            transitions: number(transitions),
            deadlocks: number(deadlocks),
            invariant_violated: cells[violated].parse().ok(),
            nauty_states: cells[nauty].parse().ok(),
        });
    }
    out
}

fn known_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/known.csv")
}

fn known() -> BTreeMap<String, Known> {
    let text = std::fs::read_to_string(known_file()).unwrap_or_default();
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    lines
        .map(|l| {
            let mut cells = l.splitn(3, ',');
            let mut next = || cells.next().unwrap_or_default().to_string();
            let (file, kind, reason) = (next(), next(), next());
            (file, Known { kind, reason })
        })
        .collect()
}

/// Checks one machine as ProB was run: everything explored, only the invariant looked at.
fn check(path: &Path, row: &Row, time: Duration) -> Outcome {
    let loaded = load(path);
    let Some(model) = &loaded.model else {
        let first = loaded.diagnostics.iter().find(|d| d.is_error());
        let (code, message) = first.map_or(("?", "no model".to_string()), |d| (d.code, d.message.clone()));
        // B04xx names what is not supported; any other error is a difference, since ProB reads the machine.
        return if code.starts_with("B04") {
            Outcome::Unsupported(message)
        } else {
            Outcome::Differs(format!("{code} {message}"), false)
        };
    };
    let scope = match scope(model, &ScopeArgs::default()) {
        Ok((scope, _)) => scope,
        Err(ds) => {
            return Outcome::Differs(ds.first().map_or(String::new(), |d| d.message.clone()), false);
        }
    };
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicBool::new(false));
    let timer = {
        let (stop, done) = (stop.clone(), done.clone());
        std::thread::spawn(move || {
            let start = std::time::Instant::now();
            while !done.load(Ordering::Relaxed) && start.elapsed() < time {
                std::thread::park_timeout(Duration::from_millis(50));
            }
            stop.store(true, Ordering::Relaxed);
        })
    };
    let mut system = System::new(model, &scope);
    let setup = system.setup(1_000_000, &stop);
    let options = Options {
        all: true,
        deadlock: false,
        assertions: false,
        goal: false,
        max_states: Some(500_000),
        ..Options::default()
    };
    let explored = explore(&system, &options, &stop, &mut |_| {});
    let reduced = row.nauty_states.and_then(|_| reduced(&system, &options, &explored, row, &stop));
    let timed_out = stop.load(Ordering::Relaxed);
    done.store(true, Ordering::Relaxed);
    timer.thread().unpark();
    timer.join().expect("the timer does not panic");
    if timed_out {
        return Outcome::Unknown("time".to_string());
    }
    if let Some(fault) = &setup.fault {
        return Outcome::Unknown(format!("PROPERTIES: {}", describe(fault)));
    }
    if setup.truncated.is_some() {
        return Outcome::Unknown("an unbounded integer in PROPERTIES".to_string());
    }
    let c = &explored.counts;
    let violated = c.violations > 0;
    let same = (c.states as u64, c.transitions, c.deadlocks) == (row.states, row.transitions, row.deadlocks)
        && row.invariant_violated.is_none_or(|v| v == violated);
    match &explored.verdict {
        Verdict::Unknown(Why::Limit(f)) => Outcome::Unknown(describe(f)),
        Verdict::Unknown(Why::Truncated(_)) => Outcome::Unknown("an unbounded integer".to_string()),
        Verdict::Unknown(why) => Outcome::Unknown(format!("{why:?}")),
        _ if same => reduced.map_or(Outcome::Agrees, Outcome::ReducedDiffers),
        _ => Outcome::Differs(
            format!(
                "{} states, {} transitions, {} deadlocks, violated {violated}, {} well-definedness errors; \
             ProB has {}, {}, {}, {:?}",
                c.states,
                c.transitions,
                c.deadlocks,
                c.wd_errors,
                row.states,
                row.transitions,
                row.deadlocks,
                row.invariant_violated
            ),
            row.nauty_states.is_some() && reduced.is_none(),
        ),
    }
}

/// Every strategy on a machine whose reduced states ProB has counted: what does not agree.
fn reduced(
    system: &System,
    options: &Options,
    off: &Explored,
    row: &Row,
    stop: &Arc<AtomicBool>,
) -> Option<String> {
    let kind = |v: &Verdict| std::mem::discriminant(v);
    let expected = row.nauty_states?;
    for symmetry in Strategy::ALL {
        let options = Options { symmetry, ..options.clone() };
        let e = explore(system, &options, stop, &mut |_| {});
        let states = e.counts.states as u64;
        let fine = match symmetry {
            Strategy::Off => true,
            Strategy::Nauty if !cfg!(feature = "nauty") => true,
            Strategy::Markers => {
                states <= expected
                    && (e.reduction.is_none()
                        || !matches!(e.verdict, Verdict::Holds)
                        || states as usize == off.counts.states)
            }
            _ => states == expected && kind(&e.verdict) == kind(&off.verdict),
        };
        if !fine && !stop.load(Ordering::Relaxed) {
            return Some(format!(
                "{symmetry}: {states} states, {:?}; ProB's nauty has {expected}, without reduction {:?}",
                e.verdict, off.verdict
            ));
        }
    }
    None
}

fn describe(fault: &kanon::eval::Fault) -> String {
    match fault {
        kanon::eval::Fault::Wd(w) => w.kind.describe().1.to_string(),
        kanon::eval::Fault::Limit(_, why) => why.clone(),
    }
}

#[test]
fn the_corpus_agrees_with_prob() {
    let Some(dir) = corpus() else {
        println!("no corpus here: nothing compared (set KANON_CORPUS)");
        return;
    };
    let seconds = std::env::var("KANON_CORPUS_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(30);
    let run_endless = std::env::var_os("KANON_CORPUS_ALL").is_some();
    let rows = rows(&dir);
    let known = known();
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get());
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let endless = known.get(&row.file).is_some_and(|k| k.kind == "endless");
                    let outcome = if endless && !run_endless {
                        Outcome::Unknown("endless, not run".to_string())
                    } else {
                        let path = dir.join(&row.file);
                        with_large_stack(|| check(&path, row, Duration::from_secs(seconds)))
                            .unwrap_or_else(|e| Outcome::Unknown(e.to_string()))
                    };
                    outcomes.lock().expect("no panic while it is held").insert(row.file.clone(), outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no panic while it was held");
    let count = |f: fn(&Outcome) -> bool| outcomes.values().filter(|o| f(o)).count();
    let agree = count(|o| matches!(o, Outcome::Agrees | Outcome::ReducedDiffers(_)));
    println!(
        "{} machines: {agree} agree ({:.1} %), {} unsupported, {} unknown, {} differ",
        outcomes.len(),
        100.0 * agree as f64 / outcomes.len() as f64,
        count(|o| matches!(o, Outcome::Unsupported(_))),
        count(|o| matches!(o, Outcome::Unknown(_))),
        count(|o| matches!(o, Outcome::Differs(..))),
    );
    let counted = rows.iter().filter(|r| r.nauty_states.is_some());
    let same = |r: &&Row| matches!(outcomes.get(&r.file), Some(Outcome::Agrees | Outcome::Differs(_, true)));
    let both = counted.clone().filter(same).count();
    let counted = counted.count();
    println!("{both} of {counted} machines have ProB's states under nauty with every exact strategy");
    if std::env::var_os("KANON_CORPUS_UPDATE").is_some() {
        update(&outcomes, &known);
        return;
    }
    let mut wrong = String::new();
    for (file, outcome) in &outcomes {
        let listed = known.get(file).map(|k| k.kind.as_str());
        let fine = match (outcome, listed) {
            (Outcome::Agrees, _) => true,
            (Outcome::Differs(..) | Outcome::ReducedDiffers(_), listed) => listed == Some("disputed"),
            (_, listed) => listed.is_some(),
        };
        if !fine {
            let _ = writeln!(wrong, "{file}: {outcome:?} (listed as {listed:?})");
        }
    }
    assert!(wrong.is_empty(), "not as the list says:\n{wrong}");
    let is_ours = std::env::var_os("KANON_CORPUS").is_none();
    // What is listed as slow agrees when it gets its time; on a loaded machine it may not.
    let is_late = |(file, o): &(&String, &Outcome)| {
        **o == Outcome::Unknown("time".to_string()) && known.get(*file).is_some_and(|k| k.kind == "slow")
    };
    let late = outcomes.iter().filter(is_late).count();
    println!("{late} of the slow ones ran out of time");
    // Two are disputed, and one is slow. (What ProB fixes before it counts is symmetric, so the orbits are the same.)
    assert!(!is_ours || both + 3 >= counted, "{both} machines have ProB's states under nauty");
    assert!(!is_ours || (agree + late) * 100 >= outcomes.len() * 85, "fewer than 85 % agree");
}

/// Rewrites the list from what was seen.
fn update(outcomes: &BTreeMap<String, Outcome>, known: &BTreeMap<String, Known>) {
    let mut text = String::from(
        "# Machines of the corpus that do not agree with ProB's counts (see tests/corpus.rs).\n\
         # file, kind, reason. unsupported: refused by name. unknown: no answer. slow: agrees, but may run out of time.\n\
         # endless: no answer in reasonable time, not run. disputed: differs, and the reason is the argument.\n",
    );
    for (file, outcome) in outcomes {
        let old = known.get(file);
        let (kind, reason) = match outcome {
            Outcome::Agrees => continue,
            Outcome::Unsupported(why) => ("unsupported", why.clone()),
            Outcome::Unknown(why) if why == "time" || why.starts_with("endless") => {
                ("endless", "no answer in the time given".to_string())
            }
            Outcome::Unknown(why) => ("unknown", why.clone()),
            Outcome::Differs(how, _) | Outcome::ReducedDiffers(how) => {
                match old.filter(|k| k.kind == "disputed") {
                    Some(k) => ("disputed", k.reason.clone()),
                    None => ("DIFFERS", how.clone()),
                }
            }
        };
        let reason = reason.replace('\n', " ");
        let _ = writeln!(text, "{file},{kind},{reason}");
    }
    std::fs::write(known_file(), text).expect("the list can be written");
}
