//! Proof obligations: what is proved is true of every state that the reference is shown; what is disproved it has confirmed
//! already; planted mistakes are found.

use crate::machines::{count, machine, project};
use crate::support::random::{Choice, Generator, Machine};
use kanon::eval::Fault;
use kanon::eval::reference::{self, Cx, Env, State};
use kanon::model::load::load_text;
use kanon::model::open::Opened;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::run::answer::Decision;
use kanon::run::prove::{Kind, Obligation, Status, Task, prove};
use kanon::run::symbolic::{self, Backend, Engine};
use kanon::run::{Deadline, Project};
use kanon::symbolic::encode::Mutant;
use kanon::value::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const FUEL: u64 = 300_000;
/// States that are tried of a machine.
const TRIED: usize = 60;

/// A statement about states that one of them refutes.
fn refuted(obligations: &[Obligation], machine: &Machine, counts: &mut [usize; 2]) -> Option<String> {
    let (model, scope) = (&machine.model, &machine.scope);
    let cx = Cx::new(model, scope).with_fuel(20_000_000);
    let constants = reference::constants(&cx);
    let mut generator = Generator::over(Choice::new(machine.seed), model.clone(), scope.clone());
    let breaks = |cx: &Cx<'_>, s: &State, p| match reference::holds(cx, &Env::of(s), p) {
        Ok(truth) => Some(!truth),
        Err(Fault::Wd(_)) => Some(true),
        Err(Fault::Limit(..)) => None,
    };
    let status = |kind: Kind| obligations.iter().find(|o| o.kind == kind).map(|o| &o.status);
    let is_proved = |kind| status(kind) == Some(&Status::Proved);
    let mut states = vec![];
    for start in constants.found.iter().take(4) {
        let cx = Cx::new(model, scope).with_fuel(FUEL);
        let initial = reference::initial_states(&cx, start);
        for s in &initial.found {
            for i in 0..model.invariant.len() {
                if is_proved(Kind::Invariant(None, i)) && breaks(&cx, s, &model.invariant[i]) == Some(true) {
                    return Some(format!("INITIALISATION breaks conjunct {i}: {s:?}"));
                }
            }
        }
        states.extend(initial.found);
        for _ in 0..TRIED {
            let variables: Vec<Option<Value>> =
                model.variables.iter().map(|d| Some(generator.value(&d.ty))).collect();
            states.push(State { constants: start.constants.clone(), variables });
        }
    }
    for s in &states {
        let cx = Cx::new(model, scope).with_fuel(FUEL);
        if !model.invariant.iter().all(|p| breaks(&cx, s, p) == Some(false)) {
            continue;
        }
        counts[0] += 1;
        let next = reference::successors(&cx, s);
        if next.faults.iter().any(|f| matches!(f.fault, Fault::Limit(..))) || !cx.truncated().is_empty() {
            continue;
        }
        for f in &next.faults {
            if is_proved(Kind::Defined(f.op)) {
                return Some(format!("{:?} has no value in {s:?}", f.op));
            }
        }
        for step in &next.steps {
            counts[1] += 1;
            if matches!(status(Kind::Feasible(step.op)), Some(Status::Disproved(_))) {
                return Some(format!("{:?} is enabled in {s:?}", step.op));
            }
            for i in 0..model.invariant.len() {
                let kind = Kind::Invariant(Some(step.op), i);
                if is_proved(kind) && breaks(&cx, &step.state, &model.invariant[i]) == Some(true) {
                    return Some(format!("{:?} breaks conjunct {i} from {s:?}", step.op));
                }
            }
        }
        if is_proved(Kind::NoDeadlock) && next.steps.is_empty() && next.faults.is_empty() {
            return Some(format!("a deadlock: {s:?}"));
        }
        for (i, p) in model.assertions.iter().enumerate() {
            let earlier = model.assertions[..i].iter().all(|q| breaks(&cx, s, q) == Some(false));
            if earlier && is_proved(Kind::Assertion(i)) && breaks(&cx, s, p) == Some(true) {
                return Some(format!("assertion {i} is false in {s:?}"));
            }
        }
    }
    None
}

fn proved(machine: &Machine, mutant: Mutant) -> Vec<Obligation> {
    let task = Task { solver: Backend::Sat, limit: Duration::from_secs(2), mutant };
    let deadline = Deadline::after(Some(Duration::from_secs(5)));
    prove(&project(machine), &task, &deadline, &mut |_, _| {}).expect("the default reading").obligations
}

#[test]
fn what_is_proved_is_true() {
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    let mut counts = [0; 2];
    for seed in 0..count("KANON_SYMBOLIC_MACHINES", 120) {
        let machine = machine(seed);
        let obligations = proved(&machine, Mutant::None);
        for o in &obligations {
            let word = match &o.status {
                Status::Proved => "proved",
                Status::Disproved(_) => "disproved",
                Status::Undecided(why) if why.contains("does not confirm") => "not confirmed",
                Status::Undecided(_) => "not decided",
            };
            *words.entry(word).or_default() += 1;
        }
        if let Some(why) = refuted(&obligations, &machine, &mut counts) {
            panic!("seed {seed}: {why}\n{machine:?}");
        }
    }
    let of = |w: &str| words.get(w).copied().unwrap_or(0);
    assert!(of("proved") > 140 && of("disproved") > 45, "{words:?}");
    assert!(of("not confirmed") * 20 < of("disproved") + of("proved"), "{words:?}");
    assert!(counts[0] > 90 && counts[1] > 90, "{counts:?} states and steps");
}

/// A wrong encoding proves what is not true.
#[test]
fn wrong_encodings_prove_too_much() {
    let found = (0..400).any(|seed| {
        let machine = machine(seed);
        refuted(&proved(&machine, Mutant::NothingOutside), &machine, &mut [0; 2]).is_some()
    });
    assert!(found, "steps that leave the bounds are forgotten, and nobody notices");
    let text = "MACHINE m VARIABLES f, x INVARIANT f : 1..2 +-> 1..2 & x : 1..2
                INITIALISATION f, x := {}, 1 OPERATIONS look = x := f(1) END";
    let model = load_text("m.mch", text).model.expect("a machine");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    let opened = Opened { model, scope, ..Opened::default() };
    let project = Project { opened, ..Project::default() };
    let status = |mutant| {
        let task = Task { solver: Backend::Sat, mutant, ..Task::default() };
        let found = prove(&project, &task, &Deadline::never(), &mut |_, _| {}).expect("kleene").obligations;
        found.into_iter().find(|o| o.name == "look/WD").expect("it is there").status
    };
    assert!(matches!(status(Mutant::None), Status::Disproved(Some(_))));
    assert_eq!(status(Mutant::AppliedAnywhere), Status::Proved, "the mistake");
}

/// The shape of a total function has no room for one that is not: a step to such a one is not forgotten.
#[test]
fn a_total_function_that_loses_an_argument() {
    for range in ["0..2", "0..1000", "INTEGER"] {
        let text = format!(
            "MACHINE m VARIABLES f INVARIANT f : 1..3 --> {range} INITIALISATION f := (1..3) * {{0}}
             OPERATIONS lose = f := {{1}} <<| f; keep = f(1) := 1 END"
        );
        let model = load_text("m.mch", &text).model.expect("a machine");
        let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
        let opened = Opened { model, scope, ..Opened::default() };
        let project = Project { opened, ..Project::default() };
        let task = Task { solver: Backend::Sat, ..Task::default() };
        let found = prove(&project, &task, &Deadline::never(), &mut |_, _| {}).expect("kleene").obligations;
        let status = |name: &str| found.iter().find(|o| o.name == name).map(|o| &o.status);
        assert!(matches!(status("lose/inv1/INV"), Some(Status::Disproved(Some(_)))), "{range}");
        assert_eq!(status("keep/inv1/INV"), Some(&Status::Proved), "{range}");
        for engine in Engine::ALL {
            let task = symbolic::Task { solver: Backend::Sat, depth: 5, ..symbolic::Task::new(engine) };
            let found = symbolic::answer(&project, &task, &Deadline::never(), &|_| {}).expect("kleene");
            assert_eq!(found.verdict, Decision::Fails, "{range}, {}: {:?}", engine.name(), found.reason);
        }
    }
}

/// What a refinement says of its abstraction is not in the model: nothing is called proved without it.
#[test]
fn a_refinement_with_a_gluing_invariant_is_not_proved_by_half() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/lang/marks_glued.ref");
    let project = Project::open(&path, &ScopeArgs::default()).unwrap_or_else(|_| panic!("a model"));
    assert!(!project.opened.model.left_out.is_empty());
    let answer = prove(&project, &Task::default(), &Deadline::never(), &mut |_, _| {}).expect("kleene");
    assert!(answer.obligations.is_empty() && answer.refused.is_some());
    assert_eq!(kanon::report::proved::decision(&answer), Decision::Unknown);
}

/// A machine of our own, obligation by obligation.
#[test]
fn obligations_of_a_model() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ltl/Peterson.mch");
    let project = Project::open(&path, &ScopeArgs::default()).unwrap_or_else(|_| panic!("a model"));
    let answer = prove(&project, &Task::default(), &Deadline::never(), &mut |_, _| {}).expect("kleene");
    let find = |name: &str| answer.obligations.iter().find(|o| o.name == name).map(|o| o.status.clone());
    assert_eq!(find("leave/inv3/INV"), Some(Status::Proved));
    assert_eq!(find("DLF"), Some(Status::Proved));
    assert_eq!(find("enter/FIS"), Some(Status::Proved));
    // It is not inductive: with a critical and the turn of b, b enters as well.
    let Some(Status::Disproved(Some(example))) = find("enter/inv3/INV") else { panic!("it is inductive?") };
    let after = example.after.expect("a state").iter().map(|(_, v)| v.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(after.matches("critical").count(), 2, "{after}");
    assert_eq!(answer.obligations.iter().filter(|o| o.status != Status::Proved).count(), 1);
}

/// A conjunct that follows from the others is named; one that only bounds a variable, or declares it, is not.
#[test]
fn redundant_conjuncts_are_named() {
    let redundant = |invariant: &str| {
        let text = format!(
            "MACHINE m SETS S = {{a, b}} CONSTANTS c PROPERTIES c : 1..3 VARIABLES x, y, s INVARIANT {invariant} \
             INITIALISATION x, y, s := 0, 0, {{}} OPERATIONS op = skip END"
        );
        let project = crate::dense::project(&text);
        let task = kanon::run::prove::Task::default();
        let proved =
            kanon::run::prove::prove(&project, &task, &kanon::run::Deadline::never(), &mut |_, _| {});
        let proved = proved.expect("the default reading");
        assert_eq!(proved.refused, None, "{invariant}");
        proved.redundant.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(redundant("x : 0..9 & y : 0..9 & s <: S"), none);
    // The last is what bounds x more closely, so it is not the first that is needed.
    assert_eq!(redundant("x : INTEGER & x : 0..9 & y : 0..9 & s <: S & x : 0..3"), ["inv2"]);
    assert_eq!(redundant("x : 0..9 & y : 0..9 & s <: S & x <= y + 9"), ["inv4"]);
    assert_eq!(redundant("x : 0..9 & y : 0..9 & s <: S & x <= y + 8"), none);
    assert_eq!(redundant("x : 0..9 & y : 0..9 & s <: S & card(s) <= 2"), ["inv4"]);
    assert_eq!(redundant("x : 0..9 & y : 0..9 & s <: S & x < c & x < 3"), ["inv5"]);
    // What may have no value does not follow.
    assert_eq!(redundant("x : 0..9 & y : 0..9 & s <: S & x / y >= 0"), none);
}
