//! The audit: silent on models without fault, and planted mistakes are caught by a clause with a name.

use crate::support::{explore, solved};
use kanon::explore::audit::{self, Audit, Broken, Report};
use kanon::explore::inject::{Flaw, Flawed, Mistake};
use kanon::explore::{Explored, Options, Order};
use kanon::model::Model;
use kanon::model::load::{load, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::run::{Deadline, Reference, Task, check_file};
use kanon::symmetry::{Action, MachineAction};
use kanon::symmetry::{Reason, Strategy};
use kanon::system::{Machine, Role, Stop};
use kanon::value::Scope;
use kanon::verdict::{Verdict, Why};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

fn models(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(folder)
}

fn machine(file: &str) -> PathBuf {
    models("").join(file)
}

fn opened(path: &Path, size: u64) -> Option<(Model, Scope)> {
    let model = load(path).model?;
    let args = ScopeArgs { setsize: Some(size), ..ScopeArgs::default() };
    let scope = scope(&model, &args).ok()?.0;
    Some((model, scope))
}

/// Explores a machine under audit, after `change` has been made to the system.
fn audited(
    file: &str,
    options: &Options,
    audit: &Audit,
    change: impl FnOnce(&mut Machine),
) -> (Explored, Report) {
    let (model, scope) = opened(&machine(file), 3).expect("a model");
    let mut system = Machine::new(model, scope);
    system.setup(1_000, &Stop::default());
    change(&mut system);
    watched(&Arc::new(system), options, audit)
}

/// Explores a machine under audit, with the reference evaluator's opinion.
fn watched(system: &Arc<Machine>, options: &Options, audit: &Audit) -> (Explored, Report) {
    let action: Arc<dyn Action> = Arc::new(MachineAction::of(system));
    let stop = Stop::default();
    let second = Box::new(Reference::new(system, options));
    let by = (audit, Some(second as Box<dyn audit::Second>));
    audit::explore(&**system, Some(&action), options, &stop, &mut |_| {}, by).expect("they go together")
}

const SCHEDULER: &str = "papers/scheduler0.mch";
const TOWNS: &str = "lang/decl_constants.mch";
const RING: &str = "papers/TokenRing.mch";
const VIOLATED: &str = "lang/errors/find_invariant.mch";

fn orders() -> [Options; 3] {
    [Order::Bfs, Order::Dfs, Order::Mixed(0.5)].map(|order| Options {
        order,
        seed: matches!(order, Order::Mixed(_)).then_some(3),
        ..one()
    })
}

/// One state after the other: these mistakes are made there.
fn one() -> Options {
    Options { one_by_one: true, ..Options::default() }
}

fn planted(mistake: Mistake) -> Audit {
    Audit { mistake: Some(mistake), ..Audit::default() }
}

/// The clause that caught it; the verdict says so too.
fn caught(file: &str, options: &Options, audit: &Audit) -> Broken {
    let (explored, report) = audited(file, options, audit, |_| {});
    let broken = report.broken.unwrap_or_else(|| panic!("{audit:?} was not caught on {file}"));
    assert_eq!(explored.verdict, Verdict::Unknown(Why::Audit(Box::new(broken.clone()))));
    assert!(explored.finding.is_none(), "no finding of a search that errs");
    broken
}

#[test]
fn a_store_that_forgets() {
    for n in [1, 5, 40] {
        for options in orders() {
            let broken = caught(SCHEDULER, &options, &planted(Mistake::Forgets(n)));
            assert_eq!(broken.clause, "mc2/add_inv/grd4: s2 ∉ rac");
            assert!(broken.event == Some("add_inv"));
        }
    }
    // Where the guard is not looked at, the store is still wrong afterwards.
    let audit = Audit { every: 1_000_000, ..planted(Mistake::Forgets(5)) };
    let broken = caught(SCHEDULER, &one(), &audit);
    assert_eq!(broken.clause, "kernel/rrac: every state under one id");
    assert_eq!(broken.event, Some("pass"), "the answer is always audited");
}

#[test]
fn a_store_that_claims_what_it_does_not_have() {
    for n in [2, 10, 50] {
        for options in orders() {
            let broken = caught(SCHEDULER, &options, &planted(Mistake::ClaimsPresent(n)));
            assert_eq!(broken.clause, "mc2/remove/grd2: tr[{s1}] ⊆ rac");
            assert!(broken.event == Some("remove"));
        }
    }
}

#[test]
fn a_transition_that_is_dropped() {
    // Nothing else leads to its target.
    let broken = caught("lang/errors/find_deadlock.mch", &one(), &planted(Mistake::Drops(1)));
    assert_eq!(broken.clause, "mc2/remove/grd2: tr[{s1}] ⊆ rac");
    let options = Options { deadlock: false, ..one() };
    let audit = Audit { every: 1_000_000, ..planted(Mistake::Drops(1)) };
    let broken = caught("lang/errors/find_deadlock.mch", &options, &audit);
    assert_eq!((broken.clause, broken.event), ("mc1/pass/grd1: reach ⊆ rac", Some("pass")));
    let caught = (1..=189)
        .filter(|n| {
            let audit = planted(Mistake::Drops(*n));
            audited(SCHEDULER, &one(), &audit, |_| {}).1.broken.is_some()
        })
        .count();
    // A dropped transition breaks a clause only if its target is not yet known when the source is removed.
    assert!(caught >= 10, "{caught} of 189");
}

#[test]
fn an_invariant_test_that_lies() {
    for n in [1, 20, 54] {
        for options in orders() {
            let broken = caught(SCHEDULER, &options, &planted(Mistake::Lies(n)));
            assert_eq!(broken.clause, "mc2/add_err/grd2: s2 ∉ inv", "a good state is called bad");
        }
    }
    let (explored, _) = audited(VIOLATED, &one(), &Audit::default(), |_| {});
    assert!(matches!(explored.verdict, Verdict::Fails(_)));
    let n = explored.counts.states as u64;
    let broken = caught(VIOLATED, &one(), &planted(Mistake::Lies(n)));
    assert_eq!(broken.clause, "mc2/add_inv/grd2: s2 ∈ inv", "a bad state is called good");
}

#[test]
fn an_evaluator_that_forgets_an_operation() {
    let (_, report) =
        audited(SCHEDULER, &Options::default(), &Audit::default(), |system| drop(system.events.pop()));
    let broken = report.broken.expect("the reference evaluator knows it");
    assert_eq!((broken.clause, broken.event), ("evaluator/successors", None));
    assert!(broken.state.is_some() && broken.detail.is_some());
}

#[test]
fn an_evaluator_that_tests_the_wrong_predicate() {
    // Conjuncts change places: the answer of one is taken for that of another.
    let options = Options { all: true, ..Options::default() };
    let (_, report) = audited(VIOLATED, &options, &Audit::default(), |system| system.misjudge());
    let broken = report.broken.expect("x + y < 3 is false where y : 0..5 is true");
    assert_eq!((broken.clause, broken.event), ("evaluator/invariant", None));
}

/// The search that ships goes in batches, with one thread or several: it is watched, too.
#[test]
fn mistakes_in_batches_are_caught() {
    let mut by_threads = vec![];
    for threads in [1, 3] {
        let options = Options { threads: Some(threads), alone_below: 2, ..Options::default() };
        let lost = [
            Mistake::ClaimsPresent(9),
            Mistake::ViewClaims(1),
            Mistake::BatchDrops(1),
            Mistake::LosesBlock(1),
        ];
        for mistake in lost {
            let broken = caught(SCHEDULER, &options, &planted(mistake));
            assert_eq!(broken.clause, "mc2/remove/grd2: tr[{s1}] ⊆ rac", "{mistake:?}");
        }
        let broken = caught(VIOLATED, &options, &planted(Mistake::QuietLies(1)));
        assert_eq!(broken.clause, "mc2/add_inv/grd2: s2 ∈ inv", "a bad state is called quiet");
        for file in ["lang/errors/find_assertion.mch", "lang/errors/find_goal.mch"] {
            let broken = caught(file, &options, &planted(Mistake::QuietLies(1)));
            assert!(broken.clause.starts_with("observer"), "{file}: {}", broken.clause);
        }
        let drops =
            |n: &u64| audited(SCHEDULER, &options, &planted(Mistake::BatchDrops(*n)), |_| {}).1.broken;
        by_threads.push((1..=189).filter_map(|n| drops(&n)).count());
    }
    assert!(by_threads.iter().all(|n| *n >= 10), "{by_threads:?} of 189");
    for symmetry in reducing().into_iter().filter(|s| *s != Strategy::Flood) {
        let options = Options { symmetry, ..Options::default() };
        let broken = caught(SCHEDULER, &options, &planted(Mistake::ViewClaims(3)));
        assert_eq!(broken.clause, "rmc1/remove/grd2: rep[tr[{s1}]] ⊆ rrac", "{symmetry}");
    }
}

/// A machine with a flaw of its own, under audit; what the reference evaluator says to it.
fn flawed(file: &str, flaw: Flaw, options: &Options) -> Report {
    let (model, scope) = opened(&machine(file), 3).expect("a model");
    let (system, _) = solved(&model, &scope, 1_000, &Stop::default());
    let inner = Arc::try_unwrap(system).ok().expect("nobody else has it");
    let (twin, _) = solved(&model, &scope, 1_000, &Stop::default());
    let second = Box::new(Reference::new(&twin, options));
    // Rows mean the same to both: neither has met a value that is interned in another order.
    let by = (&Audit::default(), Some(second as Box<dyn audit::Second>));
    let system = Flawed { inner, flaw };
    audit::explore(&system, None, options, &Stop::default(), &mut |_| {}, by).expect("they go together").1
}

#[test]
fn flaws_of_the_system_itself_are_caught() {
    let options = Options::default();
    let clause = |file, flaw| flawed(file, flaw, &options).broken.map_or("nothing", |b| b.clause);
    assert_eq!(clause(TOWNS, Flaw::LosesStart(2)), "evaluator/constants");
    assert_eq!(clause(RING, Flaw::LosesInitial(1)), "evaluator/initial");
    assert_eq!(clause(SCHEDULER, Flaw::LosesInitial(1)), "evaluator/initial");
    assert_eq!(clause(SCHEDULER, Flaw::LosesOperation(0)), "evaluator/successors");
    for n in [1, 3, 20, 60] {
        assert_eq!(clause(SCHEDULER, Flaw::LosesSuccessor(n)), "evaluator/successors", "one in {n}");
    }
    assert_eq!(
        clause("lang/errors/find_assertion.mch", Flaw::Ignores(Role::Assertion)),
        "evaluator/assertion"
    );
    assert_eq!(clause("lang/errors/find_goal.mch", Flaw::Ignores(Role::Goal)), "evaluator/goal");
    assert_eq!(clause(VIOLATED, Flaw::Ignores(Role::Invariant)), "evaluator/invariant");
    assert_eq!(clause(RING, Flaw::KeepsWord(3)), "evaluator/successors");
    assert_eq!(clause("lang/errors/wd_division.mch", Flaw::Silences), "evaluator/successors");
    assert_eq!(clause("lang/errors/wd_precondition.mch", Flaw::Silences), "evaluator/successors");
    assert_eq!(clause("lang/errors/wd_invariant.mch", Flaw::Silences), "evaluator/invariant");
    let name = format!("kanon_start_{}", std::process::id());
    let path = std::env::temp_dir().join(format!("{name}.mch"));
    let text = format!(
        "MACHINE {name} VARIABLES x INVARIANT x : 0..3 INITIALISATION ANY n WHERE n : 0..2 THEN x := 2 / n END \
         OPERATIONS step = x := (x + 1) mod 4 END"
    );
    std::fs::write(&path, text).expect("a temporary file");
    let found = clause(&path.to_string_lossy(), Flaw::Silences);
    let _ = std::fs::remove_file(&path);
    assert_eq!(found, "evaluator/initial");
}

/// What the answer rests on must have been compared: otherwise it is not audited.
#[test]
fn an_audit_that_gave_up_does_not_say_holds() {
    // The reference lists all relations, of which there are 2 ** 30; plans make them pair by pair.
    let text = "MACHINE Wide CONSTANTS r PROPERTIES r : 1..5 <-> 1..6 & !(i,j).(i : 1..5 & j : 1..6 => i |-> j : r) \
                VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0 OPERATIONS step = x := (x + 1) mod 4 END";
    let path = std::env::temp_dir().join(format!("kanon-wide-{}.mch", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    let (model, scope) = opened(&path, 3).expect("a model");
    let _ = std::fs::remove_file(&path);
    let (system, _) = solved(&model, &scope, 1_000, &Stop::default());
    let (explored, report) = watched(&system, &Options::default(), &Audit::default());
    assert!(report.broken.is_none() && report.unaudited.is_some(), "{report:?}");
    assert!(matches!(explored.verdict, Verdict::Unknown(Why::Unaudited(_))), "{:?}", explored.verdict);
}

/// A machine without operations is not searched for deadlocks: an audit does not ask for one to be told.
#[test]
fn a_machine_without_operations_is_audited() {
    let path = std::env::temp_dir().join(format!("kanon_still_{}.mch", std::process::id()));
    let name = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let text = format!("MACHINE {name} VARIABLES x INVARIANT x : 0..2 INITIALISATION x :: 0..2 END");
    std::fs::write(&path, text).expect("a temporary file");
    let task = Task { audit: Some(Audit::default()), ..Task::default() };
    let answer = check_file(&path, &ScopeArgs::default(), &task, &Deadline::never());
    let _ = std::fs::remove_file(&path);
    let Ok((_, checked)) = answer else { panic!("a model without fault") };
    assert_eq!(checked.verdict.name(), "holds", "{:?}", checked.reason);
}

/// What one evaluator lists and the other keeps symbolic is no difference.
#[test]
fn a_constant_that_is_listed_or_not_is_no_alarm() {
    for (i, set) in
        ["dom({1, 2} * NATURAL)", "NATURAL /\\ (1..2)", "{y | y : NATURAL & y > 3}"].iter().enumerate()
    {
        let name = format!("kanon_listed_{}_{i}", std::process::id());
        let path = std::env::temp_dir().join(format!("{name}.mch"));
        let text = format!(
            "MACHINE {name} CONSTANTS k, n PROPERTIES k = {set} & n : 0..1 VARIABLES x INVARIANT x : 0..1 \
             INITIALISATION x := n OPERATIONS step = x := 1 - x END"
        );
        std::fs::write(&path, text).expect("a temporary file");
        let task = Task { audit: Some(Audit::default()), ..Task::default() };
        let answer = check_file(&path, &ScopeArgs::default(), &task, &Deadline::never());
        let _ = std::fs::remove_file(&path);
        let Ok((_, checked)) = answer else { panic!("{set}: a model without fault") };
        assert_eq!(checked.verdict.name(), "holds", "{set}: {:?}", checked.reason);
    }
}

/// Every machine of a folder: the same answer with and without an audit, and no clause is broken.
fn silent(folder: &str, most: usize) {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(models(folder)).expect("models").filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    let (mut machines, mut compared, mut audited) = (0, 0, 0);
    for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "mch" || e == "ref")) {
        let Some((model, scope)) = opened(path, 3) else { continue };
        let stop = Stop::default();
        let (system, setup) = solved(&model, &scope, 1_000, &stop);
        if setup.fault.is_some() {
            continue;
        }
        for all in [false, true] {
            let options = Options { all, max_states: Some(most), ..Options::default() };
            let plain = explore(&system, &options, &stop);
            let audit = Audit { every: 1 + plain.counts.states as u64 / 100, ..Audit::default() };
            let (explored, report) = watched(&system, &options, &audit);
            let name = path.display();
            assert_eq!(report.broken, None, "{name}");
            // Where the reference evaluator gave up on what a Holds rests on, there is none.
            let lost = report.unaudited.is_some() && plain.verdict.holds();
            assert!(explored.verdict == plain.verdict || lost, "{name}: {:?}", explored.verdict);
            assert!(!lost || matches!(explored.verdict, Verdict::Unknown(Why::Unaudited(_))), "{name}");
            audited += u64::from(!lost);
            assert_eq!(explored.counts.states, plain.counts.states, "{name}");
            assert!(report.events > 0 || plain.counts.states == 0, "{name}");
            if report.ended.is_none() && plain.verdict.holds() {
                assert_eq!(report.states, plain.counts.states, "{name}: the shadow has them all");
                assert_eq!(report.events as usize, 2 * plain.counts.states + 2, "{name}: in, out, i, pass");
            }
            let of = |c: &&(&str, u64)| c.0.starts_with("evaluator/");
            compared += report.clauses.iter().filter(of).map(|c| c.1).sum::<u64>();
        }
        machines += 1;
    }
    println!("{folder}: {machines} machines, {compared} comparisons with the reference evaluator");
    assert!(audited * 10 >= machines * 2 * 9, "{folder}: {audited} of {} runs were audited", machines * 2);
    assert!(
        machines > 0 && compared > 10 * machines,
        "{folder}: {machines} machines, {compared} comparisons"
    );
}

#[test]
fn the_models_of_the_papers_are_silent() {
    with_large_stack(|| silent("papers", 3_000)).expect("a thread");
}

#[test]
fn the_language_tests_are_silent() {
    with_large_stack(|| silent("lang", 300)).expect("a thread");
}

#[test]
fn models_with_errors_are_silent() {
    with_large_stack(|| silent("lang/errors", 300)).expect("a thread");
}

fn reducing() -> Vec<Strategy> {
    let mut all = vec![Strategy::Flood, Strategy::Canon, Strategy::Auto];
    if cfg!(feature = "nauty") {
        all.push(Strategy::Nauty);
    }
    all
}

/// Under reduction too: the same answers, no clause broken, and the shadow has all states of all orbits.
#[test]
fn reduced_searches_are_silent() {
    let mut symmetric = 0;
    for file in ["scheduler0.mch", "scheduler1.mch", "RussianPostalPuzzle.mch", "TokenRing.mch", "Towns.mch"]
    {
        let (model, scope) = opened(&machine("papers").join(file), 3).expect("a model");
        let stop = Stop::default();
        let (system, _) = solved(&model, &scope, 1_000, &stop);
        let off = explore(&system, &Options::default(), &stop);
        for symmetry in reducing() {
            let options = Options { symmetry, ..Options::default() };
            let plain = explore(&system, &options, &stop);
            let audit = Audit { every: 1 + plain.counts.states as u64 / 30, ..Audit::default() };
            let (explored, report) = watched(&system, &options, &audit);
            assert_eq!((report.broken, report.ended), (None, None), "{file} {symmetry}");
            assert_eq!(explored.verdict, plain.verdict, "{file} {symmetry}");
            assert_eq!(explored.counts.states, plain.counts.states, "{file} {symmetry}");
            assert_eq!(report.states, off.counts.states, "{file} {symmetry}: rac");
            let times = |name: &str| report.clauses.iter().find(|c| c.0.starts_with(name)).map_or(0, |c| c.1);
            for clause in ["rmc1/inv6", "rmc1/inv9", "rmc2/inv2", "mc2/inv2", "rmc1/REA", "symmetry/tr"] {
                assert!(times(clause) > 0, "{file} {symmetry}: {clause} was never executed");
            }
            symmetric += times("symmetry/inv");
        }
    }
    assert!(symmetric > 500, "{symmetric}");
}

#[test]
fn mistakes_of_a_reduced_search_are_caught() {
    for symmetry in reducing() {
        let options = Options { symmetry, ..one() };
        for (mistake, clause) in [
            (Mistake::Forgets(5), "rmc1/add_inv/grd4: rep(s2) ∉ rrac"),
            (Mistake::ClaimsPresent(10), "rmc1/remove/grd2: rep[tr[{s1}]] ⊆ rrac"),
            (Mistake::Lies(3), "rmc1/add_err/grd2: s2 ∉ inv"),
        ] {
            let broken = caught(SCHEDULER, &options, &planted(mistake));
            assert_eq!(broken.clause, clause, "{symmetry} {mistake:?}");
        }
    }
}

/// A system that is not symmetric although its sets are: one operation is fired by one process only.
#[test]
fn a_broken_symmetry_is_seen() {
    let text = "MACHINE Picky SETS PROC = {a, b, c} VARIABLES on INVARIANT on <: PROC INITIALISATION on := {} \
                OPERATIONS add(p) = PRE p : PROC - on & p = a THEN on := on \\/ {p} END END";
    let path = std::env::temp_dir().join(format!("kanon-picky-{}.mch", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    let mut model = load(&path).model.expect("a model");
    let _ = std::fs::remove_file(&path);
    // Nobody can write this in B: the element of a deferred set has a name.
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    model.sets[0].elements = None;
    let stop = Stop::default();
    let (system, _) = solved(&model, &scope, 10, &stop);
    let options = Options { symmetry: Strategy::Canon, deadlock: false, ..Options::default() };
    let explored = explore(&system, &options, &stop);
    let reduction = explored.reduction.expect("a deferred set");
    assert_eq!(reduction.group.moved(), [1, 2], "a named element is fixed, the others are permuted");
    assert_eq!(reduction.group.fixed.len(), 1);
    assert_eq!(reduction.group.fixed[0].1, Reason::Named(vec!["PROC1".into()]));
    assert_eq!(explored.counts.states, 2);
}

#[test]
fn the_chain_has_all_its_clauses() {
    let (_, report) = audited(SCHEDULER, &Options::default(), &Audit::default(), |_| {});
    let times = |name: &str| {
        let of = |c: &&(&str, u64)| c.0.split(':').next() == Some(name);
        report.clauses.iter().find(of).map_or(0, |c| c.1)
    };
    assert_eq!((report.states, report.events, report.audited), (54, 110, 110));
    for inv in ["mc1/inv1", "mc1/inv4", "mc2/inv1", "mc2/inv2", "rmc2/inv1", "rmc2/inv5", "wmc/inv5"] {
        assert_eq!(times(inv), 110, "{inv}");
    }
    assert_eq!((times("mc2/add_inv/grd3"), times("mc2/remove/grd2"), times("mc2/REA")), (54, 55, 1));
}

#[test]
fn a_shadow_that_is_too_small_says_so() {
    let audit = Audit { shadow_states: 20, ..Audit::default() };
    let (explored, report) = audited(SCHEDULER, &Options::default(), &audit, |_| {});
    assert!(explored.verdict.holds());
    assert!(report.ended.is_some() && report.audited < report.events && report.states == 20, "{report:?}");
}

#[test]
fn the_command_line() {
    let kanon = |args: &[&str]| {
        let mut c = Command::new(env!("CARGO_BIN_EXE_kanon"));
        c.current_dir(env!("CARGO_MANIFEST_DIR")).args(args).output().expect("the program starts")
    };
    let file = "models/papers/scheduler0.mch";
    let ran = kanon(&["check", file, "--card", "PROC=3", "--symmetry", "off", "--audit=2", "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let audit = &answer["audit"];
    assert_eq!((ran.status.code(), &answer["verdict"]), (Some(0), &"holds".into()));
    assert_eq!((&audit["every"], &audit["events"], &audit["audited"]), (&2.into(), &110.into(), &55.into()));
    assert_eq!((&audit["states"], &audit["broken"]), (&54.into(), &serde_json::Value::Null));
    assert_eq!(audit["clauses"]["mc2/inv1: unex ⊆ rac"], 55);
    let ran = kanon(&["check", file, "--audit"]);
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && text.contains("none is broken"), "{text}");
    assert_eq!(kanon(&["check", file, "--audit=0"]).status.code(), Some(2));
    let ran = kanon(&["check", file, "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert!(answer.get("audit").is_none());
}
