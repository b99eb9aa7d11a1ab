//! Random machines: every engine that works with formulas against explicit search.

use crate::support::random::Machine;
use kanon::explore::Options;
use kanon::model::open::Opened;
use kanon::model::{BinOp, Expr, ExprKind, Type, VarId};
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

/// The integer of every second machine is bounded by the invariant, so that it can leave its shape.
pub fn machine(seed: u64) -> Machine {
    let mut machine = Machine::new(seed, 10);
    let i = machine.model.variables.iter().position(|v| v.ty == Type::Int);
    if let Some(i) = i.filter(|_| seed % 2 == 0) {
        let span = machine.model.variables[i].span;
        let node = |kind, ty| Expr { kind, ty, span };
        let int = |n: i32| Box::new(node(ExprKind::Int(n.into()), Type::Int));
        let set = node(ExprKind::Binary(BinOp::Interval, int(-3), int(4)), Type::Int.pow());
        let var = node(ExprKind::Var(VarId(i as u32)), Type::Int);
        let kind = ExprKind::Binary(BinOp::In, Box::new(var), Box::new(set));
        machine.model.invariant.push(node(kind, Type::Pred));
    }
    machine
}

pub fn project(machine: &Machine) -> Project {
    let (model, scope) = (machine.model.clone(), machine.scope.clone());
    Project { opened: Opened { model, scope, ..Opened::default() }, ..Project::default() }
}

fn explicit(project: &Project, options: &Options) -> Option<Checked> {
    let deadline = Deadline::after(Some(Duration::from_secs(2)));
    let options =
        Options { max_states: Some(STATES), symmetry: Strategy::Off, shortest: true, ..options.clone() };
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

fn length(found: &Option<kanon::run::answer::Counterexample>) -> usize {
    found.as_ref().map_or(0, |f| f.trace.steps.len().saturating_sub(1))
}

/// What is wrong with an engine's answer.
fn disagreement(
    machine: &Machine,
    engine: Engine,
    mutant: Mutant,
    counts: &mut BTreeMap<String, usize>,
) -> Option<String> {
    let mut count = |what: String| *counts.entry(what).or_default() += 1;
    let project = project(machine);
    let options = Options { deadlock: machine.seed % 3 == 0, ..Options::default() };
    let Some(expected) = explicit(&project, &options) else {
        count("no start, or an error of the model".into());
        return None;
    };
    let found = by_formulas(&project, engine, &options, mutant);
    let reason = found.reason.clone().unwrap_or_default();
    count(format!("{} {} / {}", engine.name(), expected.verdict.name(), found.verdict.name()));
    if found.verdict == Decision::Unknown {
        let short: String = reason.split([':', '(']).take(2).collect::<Vec<_>>().join(":");
        count(format!("unknown: {short}"));
    }
    let is_exact = matches!(engine, Engine::Bmc | Engine::BmcStar | Engine::KInduction);
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
    let machines = count("KANON_SYMBOLIC_MACHINES", 120);
    let first = count("KANON_SEED", 0);
    let mut counts = BTreeMap::new();
    for seed in first..first + machines {
        let machine = machine(seed);
        for engine in Engine::ALL {
            if let Some(why) = disagreement(&machine, engine, Mutant::None, &mut counts) {
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

/// Mistakes of the encoder are found by some machine.
#[test]
fn planted_mistakes_are_found() {
    let machines = count("KANON_SYMBOLIC_MACHINES", 400);
    for mutant in [Mutant::NothingOutside, Mutant::ElseAlways, Mutant::ClashIsFine] {
        let mut counts = BTreeMap::new();
        let found = (0..machines).find_map(|seed| {
            let machine = machine(seed);
            disagreement(&machine, Engine::Bmc, mutant, &mut counts).map(|why| (seed, why))
        });
        let Some((seed, why)) = found else { panic!("{mutant:?} is not found: {counts:?}") };
        println!("{mutant:?}: seed {seed}: {why}");
    }
}
