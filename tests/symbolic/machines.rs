//! Random machines: every engine that works with formulas against explicit search.

use crate::support::random::Machine;
use kanon::explore::Options;
use kanon::lang::diag::Span;
use kanon::model::load::load_text;
use kanon::model::open::Opened;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{BinOp, ConstId, Expr, ExprKind, Fun, Lit, StmtKind, Type, VarId};
use kanon::run::answer::{Checked, Decision};
use kanon::run::symbolic::{Answered, Backend, Engine, Task, answer};
use kanon::run::{self, Deadline, Project};
use kanon::symbolic::encode::Mutant;
use kanon::symmetry::Strategy;
use std::collections::BTreeMap;
use std::time::Duration;

/// States that explicit search may have.
const STATES: usize = 400;
/// Steps that the engines may take.
const DEPTH: usize = 5;

pub fn count(var: &str, default: u64) -> u64 {
    std::env::var(var).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A random machine whose variables and constants of infinite types are bounded, so that they have formulas: variables by
/// the invariant, which they may leave. A third of them has no other invariant, so that some of them hold.
pub fn machine(seed: u64) -> Machine {
    let mut machine = Machine::new(seed, 10);
    let model = &mut machine.model;
    if seed % 3 == 1 {
        model.invariant.clear();
    }
    for (i, decl) in model.variables.iter().enumerate() {
        if decl.ty != Type::Int || seed.is_multiple_of(2) {
            let var = Expr { kind: ExprKind::Var(VarId(i as u32)), ty: decl.ty.clone(), span: decl.span };
            model.invariant.push(member(var));
        }
    }
    for (i, decl) in model.constants.iter().enumerate() {
        let constant =
            Expr { kind: ExprKind::Const(ConstId(i as u32)), ty: decl.ty.clone(), span: decl.span };
        model.properties.push(member(constant));
    }
    machine
}

/// `e : S` for a finite set of its type.
fn member(e: Expr) -> Expr {
    let (ty, span) = (e.ty.clone(), e.span);
    let kind = ExprKind::Binary(BinOp::In, Box::new(e), Box::new(finite(&ty, span)));
    Expr { kind, ty: Type::Pred, span }
}

fn finite(ty: &Type, span: Span) -> Expr {
    let of = |ty: &Type| Box::new(finite(ty, span));
    let node = |kind, ty| Expr { kind, ty, span };
    let int = |n: i32| Box::new(node(ExprKind::Int(n.into()), Type::Int));
    let kind = match ty {
        Type::Int => ExprKind::Binary(BinOp::Interval, int(-2), int(4)),
        Type::Bool => ExprKind::Lit(Lit::BoolSet),
        Type::Given(set) => ExprKind::Given(*set),
        Type::Pair(p) => ExprKind::Product(of(&p.0), of(&p.1)),
        Type::Pow(t) => ExprKind::Call(Fun::Pow, vec![*of(t)]),
        Type::Rec(fields) => ExprKind::Struct(fields.iter().map(|(_, t)| *of(t)).collect()),
        _ => ExprKind::SetExt(["s", "t"].map(|s| node(ExprKind::Str(s.into()), Type::Str)).to_vec()),
    };
    node(kind, ty.clone().pow())
}

pub fn project(machine: &Machine) -> Project {
    let (model, scope) = (machine.model.clone(), machine.scope.clone());
    Project { opened: Opened { model, scope, ..Opened::default() }, ..Project::default() }
}

fn explicit(project: &Project, options: &Options) -> Option<Checked> {
    explored(project, options, STATES)
}

/// The answer of explicit search, within so many states.
pub fn explored(project: &Project, options: &Options, states: usize) -> Option<Checked> {
    let deadline = Deadline::after(Some(Duration::from_secs(2)));
    let options =
        Options { max_states: Some(states), symmetry: Strategy::Off, shortest: true, ..options.clone() };
    let task = run::Task { options, ..run::Task::default() };
    let solved = task.solve(project, &deadline).ok()?;
    run::check::check(&solved, &task, &deadline, &mut |_| {}).ok()
}

fn by_formulas(project: &Project, engine: Engine, options: &Options, mutant: Mutant) -> Answered {
    let deadline = Deadline::after(Some(Duration::from_secs(4)));
    let proof_info = engine == Engine::Ic3;
    let task = Task {
        depth: DEPTH,
        solver: Backend::Sat,
        proof_info,
        options: options.clone(),
        mutant,
        ..Task::new(engine)
    };
    answer(project, &task, &deadline, &|_| {}).expect("the options go together")
}

pub fn length(found: &Option<kanon::run::answer::Counterexample>) -> usize {
    found.as_ref().map_or(0, |f| f.trace.steps.len().saturating_sub(1))
}

/// What is wrong with an engine's answer.
fn disagreement(
    project: &Project,
    seed: u64,
    engine: Engine,
    mutant: Mutant,
    counts: &mut BTreeMap<String, usize>,
) -> Option<String> {
    let mut count = |what: String| *counts.entry(what).or_default() += 1;
    let options = Options { deadlock: seed.is_multiple_of(3), ..Options::default() };
    let Some(expected) = explicit(project, &options) else {
        count("no start, or an error of the model".into());
        return None;
    };
    let found = by_formulas(project, engine, &options, mutant);
    let reason = found.reason.clone().unwrap_or_default();
    count(format!("{} {} / {}", engine.name(), expected.verdict.name(), found.verdict.name()));
    if found.verdict == Decision::Unknown {
        let short: String = reason.split([':', '(']).take(2).collect::<Vec<_>>().join(":");
        count(format!("unknown: {short}"));
    }
    let finds_shortest = matches!(engine, Engine::Bmc | Engine::BmcStar | Engine::KInduction);
    let is_exact = finds_shortest && found.uncovered.is_empty();
    let steps = (length(&expected.finding), length(&found.finding));
    match (expected.verdict, found.verdict) {
        (Decision::Fails, Decision::Holds) => Some("formulas miss a finding".into()),
        (Decision::Holds, Decision::Fails) => Some("formulas find what is not there".into()),
        (Decision::Fails, Decision::Fails) if is_exact && steps.0 != steps.1 => {
            Some(format!("{} steps, and {} for explicit search", steps.1, steps.0))
        }
        (Decision::Fails, Decision::Unknown)
            if is_exact && steps.0 <= DEPTH && reason.contains("the depth to which") =>
        {
            Some("formulas miss a finding that is near".into())
        }
        (Decision::Holds | Decision::Fails, Decision::Unknown)
            if reason.contains("does not confirm")
                || reason.contains("have room for")
                || reason.contains("internal error")
                || reason.contains("not in the evaluator") =>
        {
            Some(format!("a path that is none: {reason}"))
        }
        _ => None,
    }
}

#[test]
fn engines_agree_with_explicit_search() {
    let machines = count("KANON_SYMBOLIC_MACHINES", 60);
    let first = count("KANON_SEED", 0);
    let mut counts = BTreeMap::new();
    for seed in first..first + machines {
        let machine = machine(seed);
        for engine in Engine::ALL {
            if let Some(why) = disagreement(&project(&machine), seed, engine, Mutant::None, &mut counts) {
                panic!("{}: {why}\n{machine:?}", engine.name());
            }
        }
    }
    for (what, n) in &counts {
        println!("{n:6} {what}");
    }
    let of = |a: &str| counts.iter().filter(|(k, _)| k.ends_with(a)).map(|(_, n)| n).sum::<usize>();
    let decided = of("/ fails") + of("/ holds");
    assert!(decided as u64 * 4 >= machines, "only {decided} answers: the machines say nothing");
}

/// Whether BMC disagrees with explicit search because of a planted mistake, and only because of it.
pub fn planted(project: &Project, seed: u64, mutant: Mutant) -> bool {
    let mut counts = BTreeMap::new();
    let found = disagreement(project, seed, Engine::Bmc, mutant, &mut counts).is_some();
    found && disagreement(project, seed, Engine::Bmc, Mutant::None, &mut counts).is_none()
}

/// A machine with this operation; its variable x is 0 at first, and has to be in 0..9 and never 5.
pub fn bounded(operation: &str) -> Project {
    let head = "MACHINE m VARIABLES x INVARIANT x : 0..9 & x /= 5 INITIALISATION x := 0 OPERATIONS op =";
    let text = format!("{head} {operation} END");
    let loaded = load_text("m.mch", &text);
    let model = loaded.model.unwrap_or_else(|| panic!("{text}: {:?}", loaded.diagnostics));
    let (scope, _) = scope(&model, &ScopeArgs::default()).expect("a scope");
    Project { opened: Opened { model, scope, ..Opened::default() }, ..Project::default() }
}

/// Mistakes of the encoder that no predicate and no text of a machine shows; `mutants.rs` has the others.
#[test]
fn planted_mistakes_are_found() {
    let outside = (270..600).find(|seed| planted(&project(&machine(*seed)), *seed, Mutant::NothingOutside));
    println!("seed {outside:?}");
    assert!(outside.is_some(), "bounds of the invariant that are assumed are not found");
    // Nobody can write this, but renamed machines may have it.
    let mut clash = bounded("CHOICE x := 1 OR x := 2 END");
    for op in &mut clash.opened.model.operations {
        if let StmtKind::Choice(parts) = &op.body.kind {
            op.body.kind = StmtKind::Par(parts.clone());
        }
    }
    assert!(planted(&clash, 1, Mutant::ClashIsFine));
}

/// Quantifiers over more values than can be listed: PROPERTIES with them are decided, and engines answer under them.
#[test]
fn quantifiers_of_properties_that_are_not_unfolded() {
    let project = |text: &str| {
        let loaded = load_text("m.mch", text);
        let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let (scope, _) = scope(&model, &ScopeArgs::default()).expect("a scope");
        Project { opened: Opened { model, scope, ..Opened::default() }, ..Project::default() }
    };
    let ask = |properties: &str, engine: Engine| {
        let text = format!(
            "MACHINE m CONSTANTS g, k PROPERTIES g : 1..20 <-> 1..20 & k : 1..20 & {properties} VARIABLES x INVARIANT x : \
             1..20 & x /= 13 INITIALISATION x := 1 OPERATIONS op = ANY y WHERE x |-> y : g THEN x := y END END"
        );
        let options = Options { deadlock: false, ..Options::default() };
        let task = Task { depth: 30, solver: Backend::Sat, options, ..Task::new(engine) };
        let deadline = Deadline::after(Some(Duration::from_secs(60)));
        let found = answer(&project(&text), &task, &deadline, &|_| {}).expect("the options go together");
        println!("{properties}: {:?} {:?} {} s", found.verdict, found.reason, found.seconds);
        found
    };
    // Every set that has 1 and is closed has k, and k is 5: then there is a way from 1 to 5. Nothing says that there is
    // one to 13; without more edges than 1 to 5 there is none.
    let way = "!s.(s <: 1..20 & 1 : s & g[s] <: s => k : s) & k = 5";
    let short = "g <: %i.(i : 1..4 | i + 1)";
    for engine in [Engine::KInduction, Engine::Ic3] {
        let found = ask(&format!("{way} & {short}"), engine);
        assert_eq!(found.verdict, Decision::Holds, "{:?}", found.reason);
    }
    // There is no such way if an edge is missing.
    let found = ask(&format!("{way} & {short} & 3 |-> 4 /: g"), Engine::Ic3);
    let wrong = found.refuted.expect("PROPERTIES that cannot be satisfied");
    assert_eq!(wrong.code, "B0413");
    assert_eq!(found.verdict, Decision::Unknown);
    // A quantifier inside of the other: for every set there is one that is disjoint from it and has k, unless it has k.
    let two = "!s.(s <: 1..20 & k /: s => #t.(t <: 1..20 & t /\\ s = {} & k : t)) & g = {1 |-> 2}";
    assert_eq!(ask(two, Engine::Ic3).verdict, Decision::Holds);
    // The other way round it is false, and one conjunct is to blame.
    let none = "#t.(t <: 1..20 & k : t & !s.(s <: 1..20 & k : s => t /\\ s = {})) & g = {}";
    assert!(ask(none, Engine::Ic3).refuted.is_some());
    // A path counts only for constants that fulfil PROPERTIES: 13 is reached where it has to be.
    let far = "!s.(s <: 1..20 & 1 : s & g[s] <: s => 13 : s) & g <: {1 |-> 4, 4 |-> 13, 13 |-> 1}";
    let found = ask(far, Engine::Bmc);
    assert_ne!(found.verdict, Decision::Holds, "{:?}", found.reason);
    assert!(found.refuted.is_none());
    // Some of PROPERTIES have no formula, and another is false.
    let text = "MACHINE m CONSTANTS f, c PROPERTIES f : INTEGER --> INTEGER & c : INTEGER & c * c = 3 VARIABLES x \
                INVARIANT x : INTEGER INITIALISATION x := f(0) OPERATIONS op = x := c END";
    let task = Task::new(Engine::Bmc);
    let found = answer(&project(text), &task, &Deadline::never(), &|_| {}).expect("the options go together");
    assert_eq!(found.refuted.map(|d| d.code), Some("B0413"));
    // That it may be undefined is not that it is false.
    let text = text.replace("c * c = 3", "c : 0..3 & 3 / c > 5");
    let found = answer(&project(&text), &task, &Deadline::never(), &|_| {}).expect("the options go together");
    assert!(found.refuted.is_none());
}

/// A set that the formulas cannot list, because its bound is an unknown integer, and the evaluator can: a fault that hides
/// in it is found, or there is no answer. (A test of membership in the set itself looks at one element only, for everybody.)
#[test]
fn faults_in_sets_that_are_not_listed() {
    let set = "{i | i : 0..n & 6 / i > 1}";
    let assigned = "r |> B, r |>> B, B <| r, B <<| r, r /\\ (B * B), r - (B * B), r \\/ (B * B), r <+ (B * {1}), \
                    (B * {1}) <+ r, (id(B) ; r), (r ; id(B)), B * r[B], (B <| r)~, r /\\ (r |> B), r |> ((0..3) - B), \
                    r |> ((0..3) /\\ B), r |> dom(B * {1}), r |> (B \\/ {1}), {1} * B, id(r[B]), {1} <| (r |> B), \
                    r |> ran({1} * B), {} <| (B * B), {} |> B, {} - (B * B), B <| {}";
    let tested = "(1 |-> 1) : r |> B, (1 |-> 1) : B <| r, (1 |-> 1) /: r |>> B, (1 |-> 1) : id(B), \
                  (1 |-> 1) : (id(B))~, 1 : dom(id(B)), (1 |-> 1) : (r ; id(B)), (1 |-> 1) : (r <+ id(B)), \
                  {1} : POW(B), {1} <: B, [1] : seq(B), {1 |-> 1} : B <-> B, 0 /: (1..3) - B, 1 : B, 1 : B \\/ {1}, \
                  1 : B /\\ (0..3), (1 |-> 1) : B * B, 1 : (IF n = 2 THEN B ELSE {1} END), B : POW(0..n), 1 : ran(r |> B)";
    let machine = |invariant: &str, value: &str| {
        format!(
            "MACHINE m VARIABLES n, r INVARIANT n : INTEGER & r : 0..3 <-> 0..3 & {invariant} \
             INITIALISATION n := 2 || r := {{1 |-> 1}} OPERATIONS op = r := {value} END"
        )
    };
    let assigned = assigned.split(", ").map(|e| machine("1 = 1", &e.trim().replace('B', set)));
    let tested = tested.split(", ").map(|p| machine(&p.trim().replace('B', set), "r"));
    let (mut wrong, mut faulty) = (vec![], 0);
    for text in assigned.chain(tested) {
        let loaded = load_text("m.mch", &text);
        let model = loaded.model.unwrap_or_else(|| panic!("{text}: {:?}", loaded.diagnostics));
        let (scope, _) = scope(&model, &ScopeArgs::default()).expect("a scope");
        let project = Project { opened: Opened { model, scope, ..Opened::default() }, ..Project::default() };
        let options = Options { deadlock: false, ..Options::default() };
        let expected = explicit(&project, &options).map(|c| c.verdict);
        let task = Task { depth: 3, solver: Backend::Sat, options, ..Task::new(Engine::Ic3) };
        let deadline = Deadline::after(Some(Duration::from_secs(10)));
        let found = answer(&project, &task, &deadline, &|_| {}).expect("the options go together");
        println!("{text}: {expected:?}, {:?} {:?}", found.verdict, found.reason);
        faulty += usize::from(expected == Some(Decision::Fails));
        if expected == Some(Decision::Fails) && found.verdict == Decision::Holds {
            wrong.push(text);
        }
    }
    assert!(faulty > 25, "{faulty} of them have a fault");
    assert!(wrong.is_empty(), "faults are missed in {wrong:#?}");
}
