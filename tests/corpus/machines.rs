//! Every machine of the shared corpus, in classical B or Event-B, against ProB's own counts.
//!
//! What does not agree yet is listed with its reason in `tests/corpus/known.csv` and `tests/corpus/eventb-known.csv`; a
//! machine that is not on the list has to agree. Those listed as slow or endless run with `KANON_CORPUS_ALL=1` only (`./test --long`); `tests/corpus/tables.rs`
//! has the other settings.

use crate::support::{explore, solved};
use crate::tables::{List, corpus, first_error, seconds, table, walk};
use kanon::explore::{Explored, Finding, Options};
use kanon::model::load::load;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::run::constants::kept;
use kanon::symmetry::Strategy;
use kanon::system::{Machine, Stop};
use kanon::verdict::{Verdict, Why};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// Only with `--constants prob`; and whether ProB's count under nauty, where there is one, is ours.
    AgreesAsProb(bool),
    /// Refused by name, or no answer, with the reason.
    Unsupported(String),
    Unknown(String),
    /// What differs; and whether ProB's count under nauty, where there is one, is ours under every exact strategy.
    Differs(String, bool),
    /// Agrees without reduction, differs with it.
    ReducedDiffers(String),
}

fn rows(dir: &Path, wanted: &str) -> Vec<Row> {
    let columns =
        ["file", "language", "states", "transitions", "deadlocks", "invariant_violated", "nauty_states"];
    let mut out = Vec::new();
    for [file, language, states, transitions, deadlocks, violated, nauty] in
        table(&dir.join("expected.csv"), columns)
    {
        if language != wanted {
            continue;
        }
        let number = |cell: String| cell.parse().expect("a count");
        out.push(Row {
            file,
            states: number(states),
            transitions: number(transitions),
            deadlocks: number(deadlocks),
            invariant_violated: violated.parse().ok(),
            nauty_states: nauty.parse().ok(),
        });
    }
    out
}

/// Checks one machine as ProB was run: everything explored, only the invariant looked at.
fn check(path: &Path, row: &Row, time: Duration) -> Outcome {
    let loaded = load(path);
    let Some(model) = &loaded.model else {
        let (code, message) = first_error(&loaded.diagnostics);
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
    let (system, setup) = solved(model, &scope, 1_000_000, &stop);
    let options = Options {
        all: true,
        deadlock: false,
        assertions: false,
        goal: false,
        max_states: Some(500_000),
        ..Options::default()
    };
    let explored = explore(&system, &options, &stop);
    let counts = |e: &Explored| {
        let c = &e.counts;
        (c.states as u64, c.transitions, c.deadlocks) == (row.states, row.transitions, row.deadlocks)
            && row.invariant_violated.is_none_or(|v| v == (c.violations > 0))
    };
    let same = counts(&explored);
    let as_prob = !same && setup.valuations > 1 && {
        let mut machine = Machine::new(model.clone(), scope.clone());
        // The time may be over by now.
        let again = machine.setup(1_000_000, &stop).valuations;
        let fewer = kept(&system).filter(|_| again == setup.valuations);
        fewer.is_some_and(|(fewer, _)| {
            machine.keep(&fewer);
            counts(&explore(&Arc::new(machine), &options, &stop))
        })
    };
    let reduced = row.nauty_states.and_then(|_| reduced(&system, &options, &explored, row, &stop));
    let timed_out = stop.load(Ordering::Relaxed);
    done.store(true, Ordering::Relaxed);
    timer.thread().unpark();
    timer.join().expect("the timer does not panic");
    if timed_out {
        return Outcome::Unknown("time".to_string());
    }
    // A property without a value is a finding, and the counts are compared all the same.
    if let Some(fault @ kanon::eval::Fault::Limit(..)) = setup.fault.as_deref() {
        return Outcome::Unknown(format!("PROPERTIES: {}", describe(fault)));
    }
    if setup.truncated.is_some() {
        return Outcome::Unknown("an unbounded integer in PROPERTIES".to_string());
    }
    let c = &explored.counts;
    let violated = c.violations > 0;
    match &explored.verdict {
        Verdict::Unknown(Why::Limit(f)) => Outcome::Unknown(describe(f)),
        Verdict::Unknown(Why::Truncated(_)) => Outcome::Unknown("an unbounded integer".to_string()),
        // What a refinement says of its abstraction is left out: no verdict, but the counts are those of all states.
        Verdict::Unknown(why) if !matches!(why, Why::LeftOut(_)) => Outcome::Unknown(format!("{why:?}")),
        _ if same => reduced.map_or(Outcome::Agrees, Outcome::ReducedDiffers),
        _ if as_prob => Outcome::AgreesAsProb(row.nauty_states.is_some() && reduced.is_none()),
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
    system: &Arc<Machine>,
    options: &Options,
    off: &Explored,
    row: &Row,
    stop: &Stop,
) -> Option<String> {
    let kind = |v: &Verdict<Finding>| std::mem::discriminant(v);
    let expected = row.nauty_states?;
    for symmetry in Strategy::ALL {
        let options = Options { symmetry, ..options.clone() };
        let e = explore(system, &options, stop);
        let states = e.counts.states as u64;
        let fine = match symmetry {
            Strategy::Off => true,
            Strategy::Nauty if !cfg!(feature = "nauty") => true,
            Strategy::Markers => {
                states <= expected
                    && (e.reduction.is_none() || !e.verdict.holds() || states as usize == off.counts.states)
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
    // Two are disputed, and one is slow. (What ProB fixes before it counts is symmetric, so the orbits are the same.)
    let others = if std::env::var_os("KANON_CORPUS_ALL").is_some() { 3 } else { 2 };
    agree("b", "known.csv", Bars { agree: 92, other_under_nauty: others });
}

#[test]
fn the_event_b_corpus_agrees_with_prob() {
    // Three are disputed.
    agree("eventb", "eventb-known.csv", Bars { agree: 90, other_under_nauty: 3 });
}

/// What must be reached.
struct Bars {
    /// Per cent that agree.
    agree: usize,
    /// How many may have other states than ProB under nauty.
    other_under_nauty: usize,
}

/// All rows of a language against the list of those that do not agree.
fn agree(language: &str, list: &str, bars: Bars) {
    let Some(dir) = corpus("expected.csv") else { return };
    let time = seconds();
    let run_all = std::env::var_os("KANON_CORPUS_ALL").is_some();
    let rows = rows(&dir, language);
    // file, kind, reason. The kinds are unsupported, unknown, slow, endless, prob and disputed.
    let known = List::read(list, ',', 1);
    let is_left_out = |row: &Row| match known.kind(&row.file) {
        Some("endless") => !run_all,
        Some("slow") => !run_all && !known.is_to_be_rewritten(),
        _ => false,
    };
    let asked = walk(&rows, |row| match known.kind(&row.file) {
        Some(kind) if is_left_out(row) => Outcome::Unknown(format!("{kind}, not run")),
        _ => check(&dir.join(&row.file), row, time),
    });
    let outcomes: BTreeMap<String, Outcome> =
        asked.into_iter().map(|(row, o)| (row.file.clone(), o.unwrap_or_else(Outcome::Unknown))).collect();
    let count = |f: fn(&Outcome) -> bool| outcomes.values().filter(|o| f(o)).count();
    let agree = count(|o| matches!(o, Outcome::Agrees | Outcome::ReducedDiffers(_)));
    println!(
        "{} machines: {agree} agree ({:.1} %), {} more with --constants prob, {} unsupported, {} unknown, {} differ",
        outcomes.len(),
        100.0 * agree as f64 / outcomes.len() as f64,
        count(|o| matches!(o, Outcome::AgreesAsProb(_))),
        count(|o| matches!(o, Outcome::Unsupported(_))),
        count(|o| matches!(o, Outcome::Unknown(_))),
        count(|o| matches!(o, Outcome::Differs(..))),
    );
    let counted = rows.iter().filter(|r| r.nauty_states.is_some() && !is_left_out(r));
    let same = |r: &&Row| match outcomes.get(&r.file) {
        Some(Outcome::Agrees | Outcome::Differs(_, true) | Outcome::AgreesAsProb(true)) => true,
        Some(_) | None => false,
    };
    let both = counted.clone().filter(same).count();
    let counted = counted.count();
    println!("{both} of {counted} machines have ProB's states under nauty with every exact strategy");
    if known.is_to_be_rewritten() {
        known.rewrite(outcomes.iter().filter_map(line));
        return;
    }
    let mut wrong = String::new();
    for (file, outcome) in &outcomes {
        let listed = known.kind(file);
        let fine = match (outcome, listed) {
            (Outcome::Agrees, _) => true,
            (Outcome::AgreesAsProb(_), listed) => listed == Some("prob"),
            (Outcome::Differs(..) | Outcome::ReducedDiffers(_), listed) => listed == Some("disputed"),
            (_, listed) => listed.is_some(),
        };
        if !fine {
            let _ = writeln!(wrong, "{file}: {outcome:?} (listed as {listed:?})");
        }
    }
    assert!(wrong.is_empty(), "not as the list says:\n{wrong}");
    let is_ours = std::env::var_os("KANON_CORPUS").is_none();
    // What is listed as slow agrees when it is run and gets its time; on a loaded machine it may not.
    let is_late = |(file, o): &(&String, &Outcome)| {
        matches!(o, Outcome::Unknown(why) if why == "time" || why == "slow, not run")
            && known.kind(file) == Some("slow")
    };
    let late = outcomes.iter().filter(is_late).count();
    println!("{late} of the slow ones were not run or ran out of time");
    let (others, percent) = (bars.other_under_nauty, bars.agree);
    assert!(!is_ours || both + others >= counted, "{both} machines have ProB's states under nauty");
    assert!(!is_ours || (agree + late) * 100 >= outcomes.len() * percent, "fewer than {percent} % agree");
}

/// A line of the list.
fn line((file, outcome): (&String, &Outcome)) -> Option<(String, &'static str, String)> {
    let (kind, reason) = match outcome {
        Outcome::Agrees => return None,
        Outcome::AgreesAsProb(_) => ("prob", "agrees with --constants prob".to_string()),
        Outcome::Unsupported(why) => ("unsupported", why.clone()),
        Outcome::Unknown(why) if why == "time" || why.starts_with("endless") => {
            ("endless", "no answer in the time given".to_string())
        }
        Outcome::Unknown(why) => ("unknown", why.clone()),
        Outcome::Differs(how, _) | Outcome::ReducedDiffers(how) => ("DIFFERS", how.clone()),
    };
    Some((file.clone(), kind, reason))
}
