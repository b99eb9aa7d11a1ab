//! A search of several processes that is written down, dies at any event, and is taken up by as many processes, by more, by
//! fewer, or by one: the same verdict and counts, a counterexample that is no longer; and what was written is a state of wmc.

use crate::distributed::{PATIENT, depth, mesh, numbers, processes, text, with_card};
use crate::support::random::Machine as Random;
use crate::support::{explore, solved};
use kanon::checkpoint::shares::Shares;
use kanon::checkpoint::{Asked, Folder, Resumed, Wish};
use kanon::distribute::link::Net;
use kanon::distribute::{self, Found, Keeping, Task, portable};
use kanon::explore::keep;
use kanon::explore::share::Log;
use kanon::explore::{Explored, Options, explore_keeping};
use kanon::lang::diag::SourceMap;
use kanon::model::Model;
use kanon::model::load::with_large_stack;
use kanon::symmetry::{Action, MachineAction, Strategy};
use kanon::system::Stop;
use kanon::value::Scope;
use kanon::value::hash::Sequence;
use kanon::verdict::{Verdict, Why};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shares").join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// How long a run that is over may still have the folder.
const LEAVING: Duration = Duration::from_secs(20);

/// What is searched, and where it is written down.
struct Search<'s> {
    model: &'s Model,
    sizes: &'s Scope,
    options: &'s Options,
    path: &'s Path,
}

impl Search<'_> {
    fn action(&self, machine: &Arc<kanon::system::Machine>) -> Option<Arc<dyn Action>> {
        (self.options.symmetry != Strategy::Off).then(|| Arc::new(MachineAction::of(machine)) as _)
    }

    /// By so many processes, of which one is stopped after so many events.
    fn by(&self, n: usize, is_again: bool, death: Option<usize>) -> Vec<Found> {
        // Who writes what a run before had to say may need a moment to leave the folder.
        let begun = Instant::now();
        let first = loop {
            match if is_again { Folder::again(self.path) } else { Folder::begin(self.path) } {
                Err(why) if why.contains("another program") && begun.elapsed() < LEAVING => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                first => break Arc::new(first.expect("a folder")),
            }
        };
        processes(mesh(n, |_, _| None), PATIENT, |net| self.one(net, &first, is_again, death))
    }

    fn one(&self, net: &mut Net, first: &Arc<Folder>, is_again: bool, death: Option<usize>) -> Found {
        let (me, n) = (net.me(), net.processes());
        let folder = match me {
            0 => first.clone(),
            _ => Arc::new(Folder::beside(self.path)),
        };
        folder.find_run().expect("the first has it");
        let again = is_again.then(|| Arc::new(Resumed::find(&folder).expect("a checkpoint")));
        let stop = Stop::default();
        let (machine, setup) = solved(self.model, self.sizes, 2_000, &stop);
        let wish = Wish {
            folder,
            every: Duration::ZERO,
            command: vec![],
            place: PathBuf::new(),
            audit: false,
            asked: Arc::new(Asked::default()),
            again: again.clone(),
        };
        let shares = Shares::begin(&wish, &machine, &setup, &SourceMap::default(), (me, n));
        let again = again.map(|resumed| {
            let mut codec = None;
            let share = resumed.read_share(&machine, (me, n), &mut |layout, key| {
                let codec = codec.get_or_insert_with(|| portable::of_machine(&machine, layout.clone()));
                codec.hash(key).map(|hash| portable::owner(hash, n))
            });
            share.unwrap_or_else(|why| panic!("{why}"))
        });
        let events = AtomicUsize::new(0);
        let (death, dies) = (death.unwrap_or(usize::MAX), stop.clone());
        let is_mine = death % n == usize::from(me);
        let log: Log = Arc::new(move |_| {
            if events.fetch_add(1, Ordering::Relaxed) == death && is_mine {
                dies.store(true, Ordering::Relaxed);
            }
        });
        let task = Task {
            options: self.options,
            codec: &|layout| Some(portable::of_machine(&machine, layout)),
            stop: &stop,
            log: Some(log),
        };
        let keeping = Keeping { shares: Some(shares.expect("a thread")), again };
        let action = self.action(&machine);
        let found = distribute::explore(&*machine, action.as_ref(), task, net, keeping, &mut |_, _| {});
        let found = found.expect("they go together");
        if let Some(state) = found.explored.finding.as_ref().and_then(|f| f.state) {
            let path = kanon::trace::rebuild::rebuild(&*machine, action.as_ref(), &found.explored, state);
            assert!(path.is_ok(), "{:?}", path.err());
        }
        found
    }

    /// By one process, which looks at what was written first.
    fn alone(&self) -> Explored {
        let folder = Folder::again(self.path).expect("a folder");
        let resumed = Resumed::find(&folder).expect("a checkpoint");
        let stop = Stop::default();
        let (machine, _) = solved(self.model, self.sizes, 2_000, &stop);
        let again = resumed.read(&machine).unwrap_or_else(|why| panic!("{why}"));
        let options = &Options { processes: false, shortest: true, max_states: None, ..self.options.clone() };
        let action = self.action(&machine);
        let audited = keep::audit(&*machine, action.as_ref(), options, &again, &stop);
        assert!(audited.is_ok(), "{audited:?}");
        let keeping = keep::Keeping { keeper: None, again: Some(again) };
        explore_keeping(&*machine, action.as_ref(), options, keeping, &stop, &mut |_| {})
            .unwrap_or_else(|why| panic!("{why}"))
    }
}

/// How often a search died, and how often it was taken up.
#[derive(Default)]
struct Lives {
    deaths: usize,
    again: usize,
    alone: usize,
}

/// Compares a search that dies and is taken up with one that is not disturbed.
fn same(name: &str, model: &Model, sizes: &Scope, options: &Options, seed: u64, lives: &mut Lives) {
    let stop = Stop::default();
    let (machine, setup) = solved(model, sizes, 2_000, &stop);
    if setup.fault.is_some() || setup.valuations == 0 {
        return;
    }
    let limited = Options { threads: Some(1), shortest: true, max_states: Some(3_000), ..options.clone() };
    let one = explore(&machine, &limited, &stop);
    let is_endless = matches!(one.verdict, Verdict::Unknown(Why::MaxStates(_)));
    if is_endless || options.all && one.counts.open > 0 || one.counts.states < 4 {
        return;
    }
    let mut draws = Sequence(seed);
    let mut draw = move |below: usize| (draws.draw() >> 16) as usize % below;
    let (path, mut dead) = (folder(name), 0);
    let options = Options { checkpoint: true, processes: true, ..options.clone() };
    let several = loop {
        let is_again = Folder::again(&path).is_ok_and(|folder| Resumed::find(&folder).is_ok());
        lives.again += usize::from(is_again);
        if is_again && draw(5) == 0 {
            lives.alone += 1;
            break Search { model, sizes, options: &options, path: &path }.alone();
        }
        // By a signal that does not wait, by a limit, or not at all.
        let kind = if dead > 3 { 9 } else { draw(6) };
        let death = (kind < 2).then(|| draw(2 * one.counts.states));
        let limit = (2..5).contains(&kind).then(|| draw(one.counts.states) + 1);
        let options = Options { max_states: limit, ..options.clone() };
        let search = Search { model, sizes, options: &options, path: &path };
        let n = 2 + draw(3);
        let explored = search.by(n, is_again, death).swap_remove(0).explored;
        // What was found before it died is told; but with `all` it is not over.
        let has_died = matches!(explored.verdict, Verdict::Unknown(Why::Interrupted | Why::MaxStates(_)));
        let is_disturbed = death.is_some() || limit.is_some();
        if !(has_died || options.all && is_disturbed && !explored.is_complete) {
            break explored;
        }
        (dead, lives.deaths) = (dead + 1, lives.deaths + 1);
    };
    let name = format!("{name}, {}, all {}", options.symmetry, options.all);
    assert_eq!(several.verdict.word(), one.verdict.word(), "{name}: {:?}", several.verdict);
    if one.is_complete || options.all {
        assert_eq!(numbers(&several.counts), numbers(&one.counts), "{name}");
        assert_eq!(several.is_complete, one.is_complete, "{name}");
    }
    if let (Some(several), Some(one)) = (depth(&several), depth(&one)) {
        assert!(several == one || several + 1 == one, "{name}: {several} and {one} steps");
    }
}

#[test]
fn a_search_that_dies_is_taken_up_by_any_number() {
    let machines = std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(250);
    let mut lives = Lives::default();
    for seed in 0..machines {
        let m = Random::new(seed, 8);
        let options = Options {
            all: seed.is_multiple_of(2),
            symmetry: [Strategy::Off, Strategy::Canon, Strategy::Auto][seed as usize / 2 % 3],
            ..Options::default()
        };
        let lives = &mut lives;
        with_large_stack(|| same(&format!("seed-{seed}"), &m.model, &m.scope, &options, seed, lives))
            .expect("a thread");
    }
    println!("{} deaths, {} taken up, {} by one process", lives.deaths, lives.again, lives.alone);
    assert!(lives.again > machines as usize / 50, "{} {}", lives.again, lives.alone);
}

/// Names of values differ from process to process and from run to run; several valuations of the constants.
#[test]
fn names_are_those_of_each_process() {
    let queues = "MACHINE queues SETS P = {a, b} CONSTANTS k PROPERTIES k : 1..2
        VARIABLES q, n, s INVARIANT q : seq(P) & n : INTEGER & s : POW(POW(P))
        INITIALISATION q, n, s := [], 0, {}
        OPERATIONS
          put(p) = PRE p : P & size(q) < 2 + k THEN q := q <- p END;
          get = PRE size(q) > 0 THEN q, n := tail(q), 100000000000000000000 + size(q) END;
          drop = BEGIN n := -size(q) END;
          add(t) = PRE t : POW(P) & card(s) < 2 THEN s := s \\/ {t} END
        END";
    let (model, sizes) = text(queues);
    let mut lives = Lives::default();
    for seed in 0..6 {
        let options = Options { all: seed % 2 == 0, ..Options::default() };
        same(&format!("queues-{seed}"), &model, &sizes, &options, 77 + seed, &mut lives);
    }
    for (seed, (file, set, n)) in
        [("papers/scheduler1.mch", "PROC", 4), ("papers/TokenRing.mch", "Server", 3)].into_iter().enumerate()
    {
        let (model, sizes) = with_card(file, set, n);
        for symmetry in [Strategy::Off, Strategy::Auto] {
            let options = Options { symmetry, deadlock: false, ..Options::default() };
            same(&format!("paper-{seed}-{symmetry}"), &model, &sizes, &options, seed as u64, &mut lives);
        }
    }
    assert!(lives.again > 3, "{}", lives.again);
}
