//! A search that is written down and ends between any two events, and is taken up again by another run, as often as one
//! likes: the same verdict, counts, states in the same order with the same parents, and the same finding.

use crate::support::random::Machine;
use kanon::checkpoint::{Asked, Checkpoints, Folder, Resumed, Wish};
use kanon::explore::keep::{self, Again, Keeper, Keeping, Kept};
use kanon::explore::{Explored, Options, Order, explore_keeping};
use kanon::lang::diag::SourceMap;
use kanon::model::Model;
use kanon::model::load::{load, load_text, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::symmetry::{Action, MachineAction, Strategy};
use kanon::system::{self, First, Setup, Stop, System};
use kanon::value::{Scope, Value};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Ends the search at the n-th place where it could be written down.
struct Death {
    inner: Checkpoints,
    left: Cell<u32>,
    is_dead: Arc<AtomicBool>,
}

impl Keeper for Death {
    fn is_due(&self) -> bool {
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        if left == 0 {
            self.is_dead.store(true, Ordering::SeqCst);
        }
        left == 0
    }
    fn is_last(&self) -> bool {
        true
    }
    fn keep(&mut self, kept: Kept) {
        self.inner.keep(kept);
    }
}

/// A run of its own, with its own names of values.
fn machine(
    model: &Model,
    scope: &Scope,
    first: Option<usize>,
    again: Option<&Resumed>,
) -> (Arc<system::Machine>, Setup) {
    let (mut machine, stop) = (system::Machine::new(model.clone(), scope.clone()), Stop::default());
    let setup = match (again.map(|a| a.first_valuations().expect("it says")), first) {
        (Some(Some(n)), _) => machine.setup_as_before(n, usize::MAX, &stop),
        (None, Some(valuations)) => {
            machine.setup_first(First { valuations, patience: Duration::MAX }, usize::MAX, &stop)
        }
        _ => machine.setup(2_000, &stop),
    };
    (Arc::new(machine), setup)
}

fn searched(machine: &Arc<system::Machine>, options: &Options, keeping: Keeping) -> Explored {
    let action: Option<Arc<dyn Action>> =
        (options.symmetry != Strategy::Off).then(|| Arc::new(MachineAction::of(machine)) as _);
    let stop = Stop::default();
    let explored = explore_keeping(&**machine, action.as_ref(), options, keeping, &stop, &mut |_| {});
    explored.unwrap_or_else(|why| panic!("{why}"))
}

/// States as values, their parents, and the constants that they belong to.
type States = Vec<(Option<u32>, Vec<Option<Value>>, Vec<Value>)>;

fn states(system: &system::Machine, e: &Explored) -> States {
    let state = |id: u32| {
        let row = e.store.row(id);
        (e.store.parent(id), system.constant_values(system.start_of(&row)), system.variable_values(&row))
    };
    (0..e.store.len() as u32).map(state).collect()
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoints").join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn wish(folder: &Arc<Folder>, again: Option<Arc<Resumed>>) -> Wish {
    Wish {
        folder: folder.clone(),
        every: Duration::from_secs(3600),
        command: vec![],
        place: PathBuf::new(),
        audit: false,
        asked: Arc::new(Asked::default()),
        again,
    }
}

/// Compares a search with one that dies after so many places, and then after one more each time; how often it died.
fn same(name: &str, model: &Model, scope: &Scope, first: Option<usize>, options: &Options, step: u32) -> u32 {
    let (undisturbed, setup) = machine(model, scope, first, None);
    if setup.fault.is_some() || setup.valuations == 0 {
        return 0;
    }
    let expected = searched(&undisturbed, options, Keeping::default());
    let folder = Arc::new(Folder::begin(&folder(name)).expect("a folder"));
    let options = &Options { checkpoint: true, ..options.clone() };
    let (mut again, mut left) = (None, step);
    let mut deaths = 0;
    loop {
        let (machine, setup) = machine(model, scope, first, again.as_deref());
        let sources = SourceMap::default();
        let inner = Checkpoints::begin(&wish(&folder, again.clone()), &machine, &setup, &sources);
        let is_dead = Arc::new(AtomicBool::new(false));
        let keeper =
            Death { inner: inner.expect("a thread"), left: Cell::new(left), is_dead: is_dead.clone() };
        let taken_up = again.as_ref().map(|a| {
            a.same_model(&machine, &sources).expect("the same model");
            a.read(&machine).unwrap_or_else(|why| panic!("{name}: {why}"))
        });
        if let Some(taken_up) = &taken_up {
            let action: Arc<dyn Action> = Arc::new(MachineAction::of(&machine));
            let audited = keep::audit(&*machine, Some(&action), options, taken_up, &Stop::default());
            assert!(audited.is_ok(), "{name}: {audited:?}");
        }
        let found = searched(&machine, options, Keeping { keeper: Some(Box::new(keeper)), again: taken_up });
        if is_dead.load(Ordering::SeqCst) && deaths < 200 {
            deaths += 1;
            left += 1;
            again = Some(Arc::new(Resumed::find(&folder).unwrap_or_else(|why| panic!("{name}: {why}"))));
            continue;
        }
        let name = format!("{name}, {options:?}");
        assert_eq!(found.verdict, expected.verdict, "{name}");
        assert_eq!(found.finding.is_some(), expected.finding.is_some(), "{name}");
        if first.is_none() {
            assert_eq!(found.finding, expected.finding, "{name}");
        }
        assert_eq!(found.counts, expected.counts, "{name}");
        assert_eq!(found.is_complete, expected.is_complete, "{name}");
        let (expected, found) = (states(&undisturbed, &expected), states(&machine, &found));
        let at = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(at.map(|i| (i, &found[i], &expected[i])), None, "{name}");
        return deaths;
    }
}

fn of_text(text: &str) -> (Model, Scope) {
    let model = load_text("m.mch", text).model.expect("a model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    (model, scope)
}

/// Sets of sequences and large integers are interned, and get other names in each run; so are sequences of more than six
/// items of nine bits, and relations that are no sequences. Shorter ones are words.
const NAMES: &str = "MACHINE m SETS P; Q = {one, two}
    VARIABLES q, n, marks, wide
    INVARIANT q : seq(P) & n : INTEGER & marks : POW(seq(Q)) & size(q) < 4
      & wide : INTEGER <-> POW(BOOL * BOOL * Q)
    INITIALISATION q, n, marks, wide := [], 0, {}, []
    OPERATIONS
      put(p) = PRE p : P & size(q) < 3 THEN q := q <- p END;
      get = PRE size(q) > 0 THEN q, n := tail(q), (n * 10000000000 + size(q)) mod 100000000000000000007 END;
      mark(x) = PRE x : Q & card(marks) < 2 & n < 100000 THEN marks := marks \\/ {[x, x]} END;
      grow = PRE card(wide) < 8 THEN wide := wide \\/ {card(wide) + 1 |-> {TRUE |-> TRUE |-> one}} END;
      odd = PRE card(wide) = 2 THEN wide := wide \\/ {0 |-> {}} END;
      reset = PRE n > 100000000000000000 THEN n := 0 END
    END";

#[test]
fn values_that_have_names() {
    let (model, scope) = of_text(NAMES);
    for symmetry in [Strategy::Off, Strategy::Auto] {
        for (threads, one_by_one) in [(1, true), (1, false), (3, false)] {
            let options = Options {
                symmetry,
                one_by_one,
                threads: Some(threads),
                alone_below: 2,
                max_states: Some(3_000),
                ..Options::default()
            };
            let step = if one_by_one { 400 } else { 3 };
            let deaths = same(
                &format!("names-{symmetry}-{threads}-{one_by_one}"),
                &model,
                &scope,
                None,
                &options,
                step,
            );
            assert!(deaths > 2, "{symmetry}, {threads}: {deaths}");
        }
    }
}

#[test]
fn models_of_the_papers() {
    for (file, set, n) in
        [("scheduler1.mch", "PROC", 4), ("TokenRing.mch", "Server", 3), ("Towns.mch", "TOWN", 3)]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/papers").join(file);
        let model = load(&path).model.expect("a model");
        let args = ScopeArgs { card: vec![(set.to_string(), n)], ..ScopeArgs::default() };
        let scope = scope(&model, &args).expect("sizes").0;
        for symmetry in [Strategy::Off, Strategy::Canon] {
            for order in [Order::Bfs, Order::Dfs, Order::Mixed(0.5)] {
                let options = Options { symmetry, order, ..Options::default() };
                same(&format!("{file}-{symmetry}-{order:?}"), &model, &scope, None, &options, 2);
            }
        }
    }
}

/// Valuations of the constants that are still looked for, initial states that come in parts, starts without an outcome, and
/// terms without a value, all of which are counted of the root.
#[test]
fn a_root_that_is_open() {
    let (model, scope) = of_text(
        "MACHINE m SETS D CONSTANTS f, d PROPERTIES f : 1..3 --> 0..2 & d : D
         VARIABLES x, s INVARIANT x < 5 & s : seq(INTEGER)
         INITIALISATION ANY y WHERE y : 0..2 & f(1) /= 2 & 6 / (2 - f(3)) > 2 THEN x, s := y + f(2), [] END
         OPERATIONS
           up = PRE x < 6 THEN x := x + f(1) + f(3) END;
           note = PRE size(s) < 2 THEN s := s <- x * f(2) END
         END",
    );
    let mut all_deaths = 0;
    for symmetry in [Strategy::Off, Strategy::Auto] {
        for (all, invariant) in [(true, true), (true, false), (false, false)] {
            for (valuations, initial_first) in [(1, 1), (7, 64)] {
                for (one_by_one, step) in [(true, 1), (false, 2)] {
                    let options =
                        Options { symmetry, all, invariant, one_by_one, initial_first, ..Options::default() };
                    let name = format!(
                        "root-{symmetry}-{all}-{invariant}-{valuations}-{initial_first}-{one_by_one}"
                    );
                    all_deaths += same(&name, &model, &scope, Some(valuations), &options, step);
                }
            }
        }
    }
    assert!(all_deaths > 100, "{all_deaths}");
}

/// An integer without bounds in an invariant is cut short, which is seen in an initial state that is known afterwards, or in
/// states that others have prepared: no Holds comes of having forgotten it.
#[test]
fn what_was_cut_short_is_not_forgotten() {
    let (model, scope) = of_text(
        "MACHINE m VARIABLES x, y INVARIANT x : 0..50 & #z.(z : INTEGER & z = z * z & z + y >= 0 & z > x - 51)
         INITIALISATION x :: 0..20 || y := 0
         OPERATIONS up = PRE x < 50 THEN x := x + 1 END; turn = y := 1 - y END",
    );
    for (one_by_one, initial_first, step) in
        [(true, 3, 1), (true, 1 << 16, 5), (false, 3, 1), (false, 1 << 16, 2)]
    {
        let options = Options { one_by_one, initial_first, ..Options::default() };
        let (machine, _) = machine(&model, &scope, None, None);
        let undisturbed = searched(&machine, &options, Keeping::default());
        println!("{:?}", undisturbed.verdict);
        same(&format!("cut-{one_by_one}-{initial_first}"), &model, &scope, None, &options, step);
    }
}

#[test]
fn random_machines() {
    // Each is searched a few dozen times.
    let machines = std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_200u64) / 20;
    let deaths: u32 = (0..machines)
        .map(|seed| {
            let m = Machine::new(seed, 8);
            let options = Options {
                all: seed % 2 == 0,
                order: [Order::Bfs, Order::Bfs, Order::Dfs, Order::Mixed(0.5)][seed as usize % 4],
                symmetry: [Strategy::Off, Strategy::Auto, Strategy::Canon][seed as usize / 2 % 3],
                one_by_one: seed % 5 == 0,
                max_states: Some(200),
                ..Options::default()
            };
            let first = (seed % 3 == 0).then_some(2);
            with_large_stack(|| same(&format!("random-{seed}"), &m.model, &m.scope, first, &options, 1))
                .expect("a thread")
        })
        .sum();
    println!("{deaths} deaths of {machines} machines");
    assert!(u64::from(deaths) > machines, "only {deaths}");
}

/// What does not satisfy wmc's invariant is not taken up when it is audited, and the clause is named.
#[test]
fn an_audit_names_the_clause() {
    let (model, scope) = of_text(NAMES);
    let options = Options { checkpoint: true, max_states: Some(400), ..Options::default() };
    let folder = Arc::new(Folder::begin(&folder("audit")).expect("a folder"));
    let (written, setup) = machine(&model, &scope, None, None);
    let sources = SourceMap::default();
    let keeper = Checkpoints::begin(&wish(&folder, None), &written, &setup, &sources).expect("a thread");
    let stopped = searched(&written, &options, Keeping { keeper: Some(Box::new(keeper)), again: None });
    assert!(stopped.counts.open > 10, "{:?}", stopped.counts);
    let audit = |change: &dyn Fn(&mut Again)| {
        let resumed = Resumed::find(&folder).expect("a checkpoint at the limit");
        let (machine, _) = machine(&model, &scope, None, Some(&resumed));
        let mut again = resumed.read(&machine).expect("states");
        change(&mut again);
        keep::audit(&*machine, None, &options, &again, &Stop::default()).map_err(|(clause, _)| clause)
    };
    assert!(audit(&|_| {}).is_ok());
    // An open state that is said to be expanded: its successors are missing.
    let lost = audit(&|again| again.open.truncate(again.open.len() - 1));
    assert!(lost.is_err_and(|clause| clause.starts_with("wmc/inv5")));
    let strange = audit(&|again| again.open.push(1_000_000));
    assert!(strange.is_err_and(|clause| clause.starts_with("wmc/inv3")));
    // A state that nothing leads to.
    let unreached = audit(&|again| {
        use kanon_refinement::kernel::Rrac;
        let mut row = again.store.row(0).to_vec();
        row[1] = 77 << 1;
        let _ = again.store.insert_if_absent(kanon::explore::store::Arriving { row: &row, parent: 0 });
        again.open.push(again.store.len() as u32 - 1);
    });
    assert!(unreached.is_err_and(|clause| clause.starts_with("wmc/inv2")));
}
