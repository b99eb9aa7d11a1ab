//! States on disk change nothing but the time: the same verdict, counts, states in the same order with the same parents,
//! and the same finding as in memory, with so little of it that nearly all states are on disk.

use crate::support::random::Machine;
use crate::support::{explore, solved};
use kanon::explore::{Explored, Options, Spill};
use kanon::model::load::{load, load_text, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{Expr, ExprKind, Model};
use kanon::symmetry::Strategy;
use kanon::system::{self, Stop, System};
use kanon::value::{Scope, Value};
use kanon::verdict::{Verdict, Why};
use std::path::{Path, PathBuf};

fn spill(states: usize) -> Option<Spill> {
    Some(Spill { states: Some(states), ..Spill::new(std::env::temp_dir()) })
}

/// States as values: names of interned values depend on who came first.
fn states(system: &system::Machine, e: &Explored) -> Vec<(Option<u32>, usize, Vec<Value>)> {
    let state = |id: u32| {
        let row = e.store.row(id);
        (e.store.parent(id), system.start_of(&row), system.variable_values(&row))
    };
    (0..e.store.len() as u32).map(state).collect()
}

/// Compares a search in memory with one on disk; how many states were there.
fn same(what: &str, model: &Model, scope: &Scope, options: &Options, most: usize) -> usize {
    let stop = Stop::default();
    let explored = |spill: Option<Spill>| {
        let (system, setup) = solved(model, scope, 2_000, &stop);
        if setup.fault.is_some() || setup.valuations == 0 {
            return None;
        }
        let e = explore(&system, &Options { spill, threads: Some(1), ..options.clone() }, &stop);
        let states = states(&system, &e);
        Some((e, states))
    };
    let Some((memory, expected)) = explored(None) else { return 0 };
    let Some((disk, found)) = explored(spill(most)) else { panic!("{what}: constants") };
    let what = format!("{what}, {}", options.symmetry);
    assert_eq!(disk.store.trouble(), None, "{what}");
    assert_eq!(disk.verdict, memory.verdict, "{what}");
    assert_eq!(disk.finding, memory.finding, "{what}");
    assert_eq!(format!("{:?}", disk.counts), format!("{:?}", memory.counts), "{what}");
    assert_eq!((disk.is_complete, disk.is_early), (memory.is_complete, memory.is_early), "{what}");
    let at = found.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(at.map(|i| (i, &found[i], &expected[i])), None, "{what}");
    assert_eq!(found.len(), expected.len(), "{what}");
    assert_eq!(disk.store.depths(), memory.store.depths(), "{what}");
    let here = disk.store.used().map_or(0, |used| used.states);
    assert!(here + most >= found.len(), "{what}: {here} of {} on disk", found.len());
    here
}

fn of_paper(file: &str, set: &str, n: u64) -> (Model, Scope) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/papers").join(file);
    let model = load(&path).model.expect("a model");
    let args = ScopeArgs { card: vec![(set.to_string(), n)], ..ScopeArgs::default() };
    let scope = scope(&model, &args).expect("sizes").0;
    (model, scope)
}

fn strategies() -> Vec<Strategy> {
    let with = |s: &Strategy| !matches!(s, Strategy::Flood | Strategy::Markers);
    Strategy::ALL
        .into_iter()
        .filter(with)
        .filter(|s| *s != Strategy::Nauty || cfg!(feature = "nauty"))
        .collect()
}

#[test]
fn the_models_of_the_papers() {
    let models = [
        ("scheduler0.mch", "PROC", 6),
        ("scheduler1.mch", "PROC", 4),
        ("RussianPostalPuzzle.mch", "LOCK", 4),
        ("USB_4Endpoints.mch", "TRANSFER", 2),
        ("TokenRing.mch", "Server", 4),
    ];
    for (file, set, n) in models {
        let (model, scope) = of_paper(file, set, n);
        for all in [false, true] {
            let options = Options { all, ..Options::default() };
            assert!(same(file, &model, &scope, &options, 64) > 200, "{file}");
        }
    }
    // Reduced ones have few states.
    let (model, scope) = of_paper("TokenRing.mch", "Server", 6);
    for symmetry in strategies().into_iter().filter(|s| *s != Strategy::Off) {
        let options = Options { symmetry, ..Options::default() };
        assert!(same("TokenRing", &model, &scope, &options, 64) > 200, "{symmetry}");
    }
}

/// Rows of several words, and integers that need numbers of their own; every second run is merged with others.
#[test]
fn many_wide_states() {
    let text = "MACHINE m VARIABLES x, y, z INVARIANT x : INTEGER & y : INTEGER & z : INTEGER
        INITIALISATION x := 0 || y := 0 || z := 10000000000
        OPERATIONS
          right = PRE x < 120 THEN x := x + 1 END;
          up = PRE y < 120 THEN y := y + 1 END;
          back = PRE x > 0 & y > 0 THEN x, y := x - 1, y - 1 END;
          turn = z := 10000000001 - z
        END";
    let model = load_text("m.mch", text).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    for most in [64, 1_000, 5_000] {
        let on_disk = same("wide", &model, &scope, &Options::default(), most);
        assert!(on_disk > 2 * 121 * 121 - most);
    }
}

/// Very many initial states, which arrive one by one, and are explored before all of them have arrived.
#[test]
fn many_initial_states() {
    let text =
        "MACHINE m VARIABLES x, y INVARIANT x : 0..99 & y : 0..49 INITIALISATION x :: 0..99 || y :: 0..39
        OPERATIONS step = x, y := (x * 7 + 3) mod 100, (y + 1) mod 50 END";
    let model = load_text("m.mch", text).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    // Not by the clock, which differs.
    for (initial_first, shortest) in [(10, false), (10, true)] {
        let options = Options { initial_first, shortest, ..Options::default() };
        assert!(same("initial", &model, &scope, &options, 64) > 4_500);
    }
}

/// A goal that some states fulfil, with a trace over states on disk; deadlocks, violations and errors in the middle; a
/// limit of states.
#[test]
fn findings_and_limits() {
    let (mut model, scope) = of_paper("scheduler1.mch", "PROC", 5);
    let serving = model.variables.iter().position(|v| &*v.name == "serving").expect("it has one") as u32;
    let of = |kind| Expr { kind, ty: kanon::model::Type::Bool, span: model.variables[0].span };
    let (a, b) =
        (of(ExprKind::Var(kanon::model::VarId(serving))), of(ExprKind::Lit(kanon::model::Lit::True)));
    let span = a.span;
    let kind = ExprKind::Binary(kanon::model::BinOp::Eq, Box::new(a), Box::new(b));
    model.goal = Some(Expr { kind, ty: kanon::model::Type::Pred, span });
    let all = Options { all: true, ..Options::default() };
    assert!(same("a goal", &model, &scope, &all, 64) > 1_000);
    same("a goal", &model, &scope, &Options::default(), 64);
    let limit = Options { goal: false, max_states: Some(1_700), ..Options::default() };
    assert!(same("a limit", &model, &scope, &limit, 64) > 1_000);
    let text = "MACHINE m VARIABLES x, y INVARIANT x : 0..60 & y : 0..60 & x + y < 90 INITIALISATION x := 0 || y := 0
        OPERATIONS
          right = SELECT x < 60 THEN x := x + 1 END;
          up = SELECT y < 60 THEN y := y + 60 / (60 - x) END
        END";
    let model = load_text("m.mch", text).model.expect("a model");
    let scope = kanon::model::scope::scope(&model, &ScopeArgs::default()).expect("sizes").0;
    for all in [false, true] {
        let options = Options { all, ..Options::default() };
        assert!(same("faults", &model, &scope, &options, 64) > 1_000);
    }
}

#[test]
fn random_machines() {
    let machines = std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let on_disk: usize = (0..machines)
        .map(|seed| {
            let m = Machine::new(seed, 8);
            let options = Options {
                all: seed % 4 != 0,
                symmetry: strategies()[seed as usize / 2 % strategies().len()],
                max_states: Some(1_000),
                ..Options::default()
            };
            with_large_stack(|| same(&format!("seed {seed}"), &m.model, &m.scope, &options, 4))
                .expect("a thread")
        })
        .sum();
    println!("{on_disk} states of {machines} machines on disk");
    assert!(on_disk as u64 > machines, "only {on_disk}");
}

/// A disk that fails is no answer, and what was found before still counts.
#[test]
fn a_disk_that_fails_is_an_unknown_answer() {
    let (model, scope) = of_paper("scheduler0.mch", "PROC", 7);
    let stop = Stop::default();
    let (system, _) = solved(&model, &scope, 10, &stop);
    let spill = Spill { states: Some(64), ..Spill::new(PathBuf::from("/nowhere/at/all")) };
    let e = explore(&system, &Options { spill: Some(spill), threads: Some(1), ..Options::default() }, &stop);
    let Verdict::Unknown(Why::Disk(why)) = &e.verdict else { panic!("{:?}", e.verdict) };
    assert!(why.contains("/nowhere/at/all"), "{why}");
    assert!(!e.is_complete && e.counts.states >= 64 && e.counts.open > 0, "{:?}", e.counts);
}
