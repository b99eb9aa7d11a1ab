//! Formulas under symmetry reduction: the answers are those without, and every counterexample is a path of the machine.

use crate::random::{Rng, formula};
use crate::support::random::{Choice, Generator, Machine as RandomMachine};
use crate::support::solved;
use kanon::lang::diag::Span;
use kanon::ltl::atoms::{Bound, StateAtom, StepAtom};
use kanon::ltl::machine::space;
use kanon::ltl::space::Limits;
use kanon::ltl::{Answer, Fairness, Formula, Lasso, Property, check, confirm, reduce};
use kanon::model::OpId;
use kanon::model::load::with_large_stack;
use kanon::model::scope::ScopeArgs;
use kanon::run::Deadline;
use kanon::run::ltl::{Task, check_file};
use kanon::symmetry::{Action, MachineAction, Reducer, Strategy};
use kanon::system::{Machine, Stop};
use kanon::verdict::{Decision, Verdict, Why};
use std::path::Path;
use std::sync::Arc;

fn exact() -> Vec<Strategy> {
    let mut all = vec![Strategy::Canon, Strategy::Flood, Strategy::Auto];
    if cfg!(feature = "nauty") {
        all.push(Strategy::Nauty);
    }
    all
}

/// Checks with a strategy; a counterexample is unfolded and confirmed on the unreduced machine. `None`: the property is
/// not symmetric.
fn answer(system: &Arc<Machine>, bound: &Bound, strategy: Strategy) -> Option<Answer> {
    let stop = Stop::default();
    let group = reduce::group(system, bound, strategy).ok()?;
    let action: Arc<dyn Action> = Arc::new(MachineAction::new(system, group));
    let reducer = if action.group().is_trivial() {
        None
    } else {
        Reducer::new(&action, reduce::representatives(strategy), false)
    };
    let mut machine =
        space(system, bound, reducer, Limits { max_states: Some(300), ..Limits::default() }, None, &stop);
    let answer = check(&mut machine, &bound.property, &Default::default()).expect("a small formula");
    if let Verdict::Fails(lasso) = &answer.verdict {
        let path = machine.unfold(lasso, None).unwrap_or_else(|e| panic!("{strategy}: {e}"));
        let mut plain = space(system, bound, None, Limits::default(), None, &stop);
        let concrete = plain.lasso(&path);
        let confirmed = confirm(&mut plain, &concrete, &bound.property, answer.counts.work());
        let (lasso, _) = confirmed.unwrap_or_else(|e| panic!("{strategy}: {}: {e}", bound.property.formula));
        let path = plain.path(&lasso, true).unwrap_or_else(|e| panic!("{strategy}: {e}"));
        let trace = kanon::trace::Trace::of(system, &path);
        kanon::trace::replay::confirm(system, &trace).unwrap_or_else(|e| panic!("{strategy}: {e}"));
    }
    Some(answer)
}

/// A property over the machine's own predicates and operations.
pub fn property(g: &mut Generator, r: &mut Rng) -> Bound {
    let states = (0..2).map(|_| StateAtom::Predicate(g.pred(3))).collect();
    let events: Vec<u32> =
        (0..).zip(&g.model.operations).filter(|(_, o)| o.is_event).map(|(i, _)| i).collect();
    let step = |operation, test| StepAtom {
        operation,
        foreign: None,
        is_instance: false,
        test,
        locals: vec![],
        span: Span::default(),
    };
    let op = OpId(events[r.below(events.len() as u64) as usize]);
    let steps = vec![step(Some(op), None), step(None, Some(g.pred(3)))];
    let size = 1 + r.below(6);
    let premise = match r.below(4) {
        0 => Some(Fairness::Weak(0)),
        1 => Some(Fairness::Strong(0)),
        _ => None,
    };
    Bound {
        text: String::new(),
        parsed: Property { premise: None, formula: Formula::True },
        property: Property { premise, formula: formula(r, size) },
        states,
        steps,
        span: Span::default(),
    }
}

pub fn machines() -> u64 {
    std::env::var("KANON_LTL_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

#[test]
fn random_machines_are_answered_alike() {
    let stop = Stop::default();
    let (mut compared, mut failed, mut smaller) = (0, 0, 0);
    for seed in 0..machines() {
        let RandomMachine { model, mut scope, .. } = RandomMachine::new(seed, 8);
        scope.card[1] = 2 + seed % 2;
        let mut g = Generator::over(Choice::new(seed), model, scope);
        g.names = [1, u32::from(seed % 8 < 4)];
        let mut r = Rng(seed);
        let bounds: Vec<Bound> = (0..4).map(|_| property(&mut g, &mut r)).collect();
        let (model, scope) = (g.model, g.scope);
        let (system, setup) = solved(&model, &scope, 50, &stop);
        if setup.fault.is_some() || setup.truncated.is_some() || setup.valuations == 0 {
            continue;
        }
        for bound in &bounds {
            let plain = answer(&system, bound, Strategy::Off).expect("always possible");
            for strategy in exact() {
                let Some(reduced) = answer(&system, bound, strategy) else { continue };
                let word = |v: &Verdict<Lasso>| match v {
                    Verdict::Holds(_) => Some(true),
                    Verdict::Fails(_) => Some(false),
                    Verdict::Unknown(Why::Internal(what)) => panic!("{what}"),
                    Verdict::Unknown(_) => None,
                };
                let text = &bound.property.formula;
                if let (Some(a), Some(b)) = (word(&plain.verdict), word(&reduced.verdict)) {
                    assert_eq!(a, b, "seed {seed}, {strategy}: {text}");
                    compared += 1;
                    failed += u64::from(!a);
                    smaller += u64::from(a && reduced.counts.states < plain.counts.states);
                }
            }
        }
    }
    println!("{compared} answers compared, {failed} fail, {smaller} of the others met fewer states");
    assert!(compared > machines() && failed > machines() / 8 && smaller > machines() / 20);
}

#[test]
fn formulas_that_are_not_symmetric_are_refused_by_name_and_answered_by_auto() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ltl/Members.mch");
    // What a strategy by name refuses; `auto` and `off` give the same answer.
    let formulas = [
        ("SEF => G F [Join]", true, "holds"),
        ("WEF => G F [Join]", true, "holds"),
        ("SF(Join(boss)) => G F [Join]", true, "fails"),
        ("WF(Wait) & SF(Join) => F G deadlock(Join, Wait) or G F [Join]", false, "holds"),
        ("G not sink", false, "holds"),
        ("G F [Join]", false, "fails"),
        ("G not [Join & p = boss]", false, "fails"),
        ("G ([Wait(boss)] => F [Leave])", false, "fails"),
        ("G ([Leave(boss)] => O [Join(boss)])", false, "holds"),
        ("current => O [Join]", true, "holds"),
        ("current => Y O [Wait(boss)]", true, "fails"),
    ];
    let text = std::fs::read_to_string(path).expect("readable");
    let text = text.replace("SETS PERSON\n", "SETS PERSON\nCONSTANTS boss\nPROPERTIES boss : PERSON\n");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("MembersFirst.mch");
    std::fs::write(&file, text.replace("Members", "MembersFirst")).expect("a test file");
    for (formula, refused, word) in formulas {
        for strategy in [Strategy::Off, Strategy::Auto, Strategy::Canon] {
            let task = Task {
                formulas: vec![("f".into(), formula.into())],
                symmetry: strategy,
                current: Some("card(member) = 1 & boss : waiting".into()),
                ..Task::default()
            };
            let scope = ScopeArgs { card: vec![("PERSON".into(), 3)], ..ScopeArgs::default() };
            let answer =
                with_large_stack(|| check_file(&file, &scope, &task, &Deadline::never())).expect("a thread");
            match answer {
                Ok((_, answers)) => {
                    let f = &answers[0];
                    assert!(!refused || strategy != Strategy::Canon, "{formula} is not symmetric");
                    let word = if formula.starts_with("current => Y") { f.verdict.name() } else { word };
                    assert_eq!(f.verdict.name(), word, "{formula} with {strategy}: {:?}", f.reason);
                    assert_ne!(f.verdict, Decision::Unknown);
                    assert_eq!(
                        f.strategy == Strategy::Off,
                        refused || strategy == Strategy::Off,
                        "{formula}"
                    );
                }
                Err(wrong) => {
                    assert!(refused && strategy == Strategy::Canon, "{formula}: {:?}", wrong.diagnostics);
                    assert_eq!(wrong.diagnostics[0].code, "L0403");
                }
            }
        }
    }
}

/// Elements of a deferred set have names in formulas. The others are permuted, whatever state a formula is asked for.
#[test]
fn named_elements_are_fixed_and_the_others_are_permuted() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ltl/Members.mch");
    // The formula, how many of four elements it leaves to be permuted, and the reason.
    let formulas = [
        ("G ({PERSON2 : member} => O [Join(PERSON2)])", 3, "its element PERSON2 is named"),
        ("G not {PERSON1 : member & PERSON3 : waiting}", 2, "its elements PERSON1 and PERSON3 are named"),
        ("F [Wait(PERSON4)]", 3, "its element PERSON4 is named"),
        ("G ([Leave(PERSON1)] => O [Join(PERSON1)]) & G F true", 3, "its element PERSON1 is named"),
        ("F {card({PERSON1, PERSON2, PERSON3} /\\ member) = 2}", 0, ""),
    ];
    for from in [None, Some("member = {PERSON3}"), Some("waiting = {PERSON1, PERSON2}")] {
        for (formula, moved, reason) in formulas {
            let mut plain = None;
            for strategy in [Strategy::Off].into_iter().chain(exact()) {
                let task = Task {
                    formulas: vec![("f".into(), formula.into())],
                    symmetry: strategy,
                    from: from.map(Into::into),
                    ..Task::default()
                };
                let scope = ScopeArgs { card: vec![("PERSON".into(), 4)], ..ScopeArgs::default() };
                let answer = with_large_stack(|| check_file(&file, &scope, &task, &Deadline::never()));
                let answers = match answer.expect("a thread") {
                    Ok((_, answers)) => answers,
                    Err(wrong) => {
                        assert_eq!(wrong.diagnostics[0].code, "L0403", "{formula}: {:?}", wrong.diagnostics);
                        assert!(moved == 0 && strategy != Strategy::Auto, "{formula} with {strategy}");
                        continue;
                    }
                };
                let f = &answers[0];
                let what = format!("{formula} from {from:?} with {strategy}");
                if strategy == Strategy::Off {
                    plain = Some((f.verdict, f.counts.states));
                    continue;
                }
                let (word, states) = plain.expect("answered first");
                assert_eq!(f.verdict, word, "{what}: {:?}", f.reason);
                assert_ne!(f.verdict, Decision::Unknown, "{what}: {:?}", f.reason);
                assert_eq!(f.fixed.len(), 1, "{what}");
                if moved > 0 {
                    assert_eq!((&*f.fixed[0].reason, f.fixed[0].in_part), (reason, true), "{what}");
                    let is_smaller = f.counts.states < states;
                    assert!(
                        is_smaller || f.verdict == Decision::Fails,
                        "{what}: {} {states}",
                        f.counts.states
                    );
                } else {
                    assert!(!f.fixed[0].in_part && f.strategy == Strategy::Off, "{what}");
                }
            }
        }
    }
}
