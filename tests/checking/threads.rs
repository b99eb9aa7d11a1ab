//! Batches and threads change nothing but the time: the same verdict, counts, states in the same order with the same
//! parents, and the same finding, one state after the other, in batches, and with several threads.

use crate::support::random::Machine;
use crate::support::{explore, solved};
use kanon::explore::{Explored, Options, Order};
use kanon::model::load::{load, load_text, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{Expr, ExprKind, Model};
use kanon::symmetry::Strategy;
use kanon::system::{self, Stop, System};
use kanon::value::{Scope, Value};
use kanon::verdict::{Verdict, Why};
use std::path::Path;

fn strategies() -> Vec<Strategy> {
    Strategy::ALL.into_iter().filter(|s| *s != Strategy::Nauty || cfg!(feature = "nauty")).collect()
}

/// States as values: names of interned values depend on who came first.
fn states(system: &system::Machine, e: &Explored) -> Vec<(Option<u32>, usize, Vec<Value>)> {
    let state = |id: u32| {
        let row = e.store.row(id);
        (e.store.parent(id), system.start_of(&row), system.variable_values(&row))
    };
    (0..e.store.len() as u32).map(state).collect()
}

/// Compares a search one by one with batches and several threads; how many states there are.
fn same(what: &str, model: &Model, scope: &Scope, options: &Options) -> usize {
    let stop = Stop::default();
    let explored = |threads: Option<usize>| {
        // A system for each: nothing that one thread has interned helps the others.
        let (system, setup) = solved(model, scope, 2_000, &stop);
        if setup.fault.is_some() || setup.valuations == 0 {
            return None;
        }
        let one_by_one = threads.is_none();
        // Some strategies and orders have one thread, and say so.
        let alone =
            matches!(options.symmetry, Strategy::Flood | Strategy::Markers) || options.order != Order::Bfs;
        let threads = threads.filter(|_| !alone).or(Some(1));
        let options = Options { one_by_one, threads, alone_below: 2, ..options.clone() };
        let e = explore(&system, &options, &stop);
        let states = states(&system, &e);
        Some((e, states))
    };
    let Some((one, expected)) = explored(None) else { return 0 };
    for threads in [1, 2, 3, 5] {
        let Some((several, found)) = explored(Some(threads)) else { panic!("{what}: constants") };
        let what = format!("{what}, {threads} threads, {}", options.symmetry);
        assert_eq!(several.verdict, one.verdict, "{what}");
        assert_eq!(several.finding, one.finding, "{what}");
        assert_eq!(format!("{:?}", several.counts), format!("{:?}", one.counts), "{what}");
        let at = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(at.map(|i| (i, &found[i], &expected[i])), None, "{what}");
        assert_eq!(found.len(), expected.len(), "{what}");
    }
    expected.len()
}

fn of_paper(file: &str, set: &str, n: u64) -> (Model, Scope) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/papers").join(file);
    let model = load(&path).model.expect("a model");
    let args = ScopeArgs { card: vec![(set.to_string(), n)], ..ScopeArgs::default() };
    let scope = scope(&model, &args).expect("sizes").0;
    (model, scope)
}

#[test]
fn the_models_of_the_papers_with_every_strategy() {
    let models = [
        ("scheduler0.mch", "PROC", 5),
        ("scheduler1.mch", "PROC", 4),
        ("RussianPostalPuzzle.mch", "LOCK", 4),
        ("USB_4Endpoints.mch", "TRANSFER", 2),
        ("TokenRing.mch", "Server", 4),
        ("Towns.mch", "TOWN", 3),
    ];
    for (file, set, n) in models {
        let (model, scope) = of_paper(file, set, n);
        for symmetry in strategies() {
            let states = same(file, &model, &scope, &Options { symmetry, ..Options::default() });
            assert!(states > 10, "{file}");
        }
    }
}

/// Rows of several words, more than a chunk of the store has, and an index that grows many times.
#[test]
fn many_wide_states() {
    let text = "MACHINE m VARIABLES x, y, z INVARIANT x : INTEGER & y : INTEGER & z : INTEGER
        INITIALISATION x := 0 || y := 0 || z := 0
        OPERATIONS
          right = PRE x < 120 THEN x := x + 1 END;
          up = PRE y < 120 THEN y := y + 1 END;
          back = PRE x > 0 & y > 0 THEN x, y := x - 1, y - 1 END;
          turn = z := 1 - z
        END";
    let model = load_text("m.mch", text).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    for order in [Order::Bfs, Order::Dfs, Order::Mixed(0.5)] {
        assert_eq!(same("wide", &model, &scope, &Options { order, ..Options::default() }), 2 * 121 * 121);
    }
}

/// More threads than blocks are usually in line, and an index that grows meanwhile.
#[test]
fn very_many_threads() {
    let (model, scope) = of_paper("scheduler0.mch", "PROC", 7);
    let stop = Stop::default();
    let (system, _) = solved(&model, &scope, 10, &stop);
    for threads in [130, 256] {
        let options = Options { threads: Some(threads), ..Options::default() };
        let e = explore(&system, &options, &stop);
        assert_eq!((e.verdict.holds(), e.counts.states, e.counts.transitions), (true, 7290, 56133));
    }
}

/// Findings in the middle of a level: a goal that some states fulfil, and a limit of states.
#[test]
fn searches_that_end_early() {
    let (mut model, scope) = of_paper("scheduler1.mch", "PROC", 5);
    // `serving` is TRUE: the fifth variable, of type BOOL.
    let serving = model.variables.iter().position(|v| &*v.name == "serving").expect("it has one") as u32;
    let eq = |a: Expr, b: Expr| {
        let span = a.span;
        let kind = ExprKind::Binary(kanon::model::BinOp::Eq, Box::new(a), Box::new(b));
        Expr { kind, ty: kanon::model::Type::Pred, span }
    };
    let of = |kind| Expr { kind, ty: kanon::model::Type::Bool, span: model.variables[0].span };
    let truth = of(ExprKind::Lit(kanon::model::Lit::True));
    let goal = eq(of(ExprKind::Var(kanon::model::VarId(serving))), truth);
    model.goal = Some(goal);
    for symmetry in [Strategy::Off, Strategy::Auto] {
        for all in [false, true] {
            let options = Options { symmetry, all, ..Options::default() };
            assert!(same("a goal", &model, &scope, &options) > 5);
        }
        let options = Options { symmetry, goal: false, max_states: Some(60), ..Options::default() };
        same("a limit", &model, &scope, &options);
    }
}

#[test]
fn random_machines() {
    let machines = std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let compared: usize = (0..machines)
        .map(|seed| {
            let m = Machine::new(seed, 8);
            let options = Options {
                all: seed % 2 == 0,
                order: [Order::Bfs, Order::Bfs, Order::Dfs, Order::Mixed(0.5)][seed as usize % 4],
                symmetry: strategies()[seed as usize / 2 % strategies().len()],
                max_states: Some(300),
                ..Options::default()
            };
            with_large_stack(|| same(&format!("seed {seed}"), &m.model, &m.scope, &options))
                .expect("a thread")
        })
        .sum();
    println!("{compared} states of {machines} machines compared");
    assert!(compared as u64 > machines, "only {compared}");
}

#[test]
fn a_memory_limit_is_an_unknown_answer() {
    let (model, scope) = of_paper("scheduler0.mch", "PROC", 7);
    let stop = Stop::default();
    let (system, _) = solved(&model, &scope, 10, &stop);
    for threads in [1, 2] {
        let options = Options { threads: Some(threads), max_memory: Some(1), ..Options::default() };
        let e = explore(&system, &options, &stop);
        if cfg!(target_os = "linux") {
            assert_eq!(e.verdict, Verdict::Unknown(Why::MaxMemory(1)));
        }
    }
}
