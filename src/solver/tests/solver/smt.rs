//! SMT solvers as processes: against enumeration, and when they do not do what they should.

use crate::support::systems::explored;
use crate::support::*;
use kanon_solver::bmc::bmc;
use kanon_solver::engine::{Answer, Settings, Why};
use kanon_solver::ic3::ic3;
use kanon_solver::kinduction::k_induction;
use kanon_solver::sat::Sat;
use kanon_solver::smt::{Smt, installed};
use kanon_solver::solver::{NoAnswer, Outcome, Solver, Stop};
use kanon_solver::term::{Bool, Bounds, Terms};
use std::time::{Duration, Instant};

/// The solvers to test with. None is an error only where the tests of the repository demand them.
fn solvers() -> Vec<&'static str> {
    let all = installed();
    if all.is_empty() {
        assert!(std::env::var_os("KANON_REQUIRE_SMT").is_none(), "neither z3 nor cvc5 is installed");
        eprintln!("skipped: neither z3 nor cvc5 is installed");
    }
    all
}

#[test]
fn smt_agrees_with_enumeration_and_sat() {
    for program in solvers() {
        for seed in 0..cases(60) {
            let mut r = Random::new(seed);
            let mut terms = Terms::new();
            let vars = small_variables(&mut terms, &mut r);
            let all = assignments(&terms, &vars, 0);
            let mut smt = Smt::start(program, Stop::after(Duration::from_secs(20))).unwrap();
            let mut sat = Sat::new(Stop::never());
            for _ in 0..4 {
                let depth = 1 + r.below(3);
                let assumed: Vec<Bool> =
                    (0..r.between(1, 3)).map(|_| formula(&mut terms, &mut r, &vars, depth)).collect();
                let expected = all.iter().any(|a| assumed.iter().all(|&c| is_true(&terms, c, a)));
                for solver in [&mut smt as &mut dyn Solver, &mut sat] {
                    match solver.check(&terms, &assumed) {
                        Outcome::Sat(model) => {
                            assert!(expected, "{program}, seed {seed}");
                            assert!(
                                assumed.iter().all(|&c| is_true(&terms, c, &model)),
                                "{program}, seed {seed}: {model:?} is no model"
                            );
                        }
                        Outcome::Unsat(core) => {
                            assert!(!expected, "{program}, seed {seed}");
                            let is_unsat = |a| core.iter().any(|&c| !is_true(&terms, c, a));
                            assert!(all.iter().all(is_unsat), "{program}, seed {seed}: {core:?}");
                        }
                        // Products of variables may be too hard for it.
                        Outcome::Unknown(NoAnswer::GaveUp(_)) if solver.is_unbounded() => {}
                        Outcome::Unknown(why) => panic!("{program}, seed {seed}: {why:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn engines_on_smt_agree_with_enumeration() {
    for program in solvers() {
        let mut undecided = 0;
        for seed in 0..cases(12) {
            for engine in [bmc, k_induction, ic3] {
                let (mut terms, system, explicit) = explored(seed);
                let stop = Stop::after(Duration::from_secs(5));
                let (inner, other) = (stop.clone(), |stop: Stop| Box::new(Sat::new(stop)) as Box<dyn Solver>);
                let make = || Ok(Box::new(Smt::start(program, inner.clone())?) as Box<dyn Solver>);
                let sat = || Ok(other(inner.clone()));
                let mut settings = Settings::new(&make);
                settings.depth = 20;
                settings.stop = stop.clone();
                settings.other = Some(&sat);
                match (engine(&mut terms, &system, &settings), explicit.shortest) {
                    (Answer::Fails(path), Some(shortest)) => {
                        assert!(path.steps.len() >= shortest);
                        assert!(!path.is_shortest || path.steps.len() == shortest);
                    }
                    (Answer::Holds(proof), None) => assert!(proof.is_seen_unbounded),
                    (Answer::Unknown(u), None) if u.why == Why::Depth => {}
                    (Answer::Unknown(u), _) => {
                        eprintln!("{program}, seed {seed}: {u:?}");
                        undecided += 1;
                    }
                    (answer, _) => panic!("{program}, seed {seed}: {answer:?}"),
                }
            }
        }
        assert!(undecided <= cases(12) / 10, "{program} has no answer in {undecided} cases");
    }
}

/// What no width decides: a number that is even and odd.
#[test]
fn all_integers() {
    for program in solvers() {
        let mut terms = Terms::new();
        let (x, y) = (terms.int_var("x", Bounds::default()), terms.int_var("y", Bounds::default()));
        let (x, y) = (terms.of_int(x), terms.of_int(y));
        let even = terms.sum([(x, 2.into())]);
        let one = terms.constant(1);
        let odd = terms.sum([(y, 2.into()), (one, 1.into())]);
        let claim = terms.eq(even, odd);
        let mut smt = Smt::start(program, Stop::after(Duration::from_secs(20))).unwrap();
        match smt.check(&terms, &[claim]) {
            Outcome::Unsat(core) => assert_eq!(core, [claim]),
            other => panic!("{program}: {other:?}"),
        }
        assert!(matches!(
            Sat::new(Stop::never()).check(&terms, &[claim]),
            Outcome::Unknown(NoAnswer::Overflow)
        ));
    }
}

#[test]
fn a_missing_solver_is_named() {
    let error = Smt::run("z3", "/nowhere/z3", &[], Stop::never()).err().unwrap();
    assert!(error.contains("install the package z3"), "{error}");
    assert!(Smt::start("yices", Stop::never()).err().unwrap().contains("z3 and cvc5"));
}

/// Programs that are no solvers: each ends in an Unknown, and soon.
#[test]
fn a_broken_solver_has_no_answer() {
    let scripts = [
        ("dies", "exit 1"),
        ("dies later", "read x; exit 3"),
        ("talks nonsense", "read x; echo 'I do not know'; cat >/dev/null"),
        ("errs", "read x; echo '(error \"no\")'; cat >/dev/null"),
        ("closes too often", "read x; echo '))))'; cat >/dev/null"),
        (
            "nests",
            "read x; i=0; while [ $i -lt 500 ]; do printf '('; i=$((i+1)); done; \
                  while [ $i -gt 0 ]; do printf ')'; i=$((i-1)); done; echo; cat >/dev/null",
        ),
        ("says sat and no more", "read x; echo sat; exit 0"),
        ("says sat and then nonsense", "read x; echo sat; echo '((x 1 2))'; cat >/dev/null"),
        ("says sat and other values", "read x; echo sat; echo '((p0 maybe))'; cat >/dev/null"),
        ("needs too much", "read x; echo unsat; echo '(q)'; cat >/dev/null"),
        ("says unknown", "read x; echo unknown; echo '(:reason-unknown tired)'; cat >/dev/null"),
        ("is silent", "cat >/dev/null"),
        ("does not even read", "sleep 100"),
    ];
    for (what, script) in scripts {
        let mut terms = Terms::new();
        let b = terms.bool_var("b");
        let b = terms.of_bool(b);
        let stop = Stop::after(Duration::from_secs(1));
        let mut smt = Smt::run("z3", "sh", &["-c", script], stop).unwrap();
        let begin = Instant::now();
        for _ in 0..2 {
            match smt.check(&terms, &[b]) {
                Outcome::Unknown(NoAnswer::GaveUp(_) | NoAnswer::Stopped) => {}
                other => panic!("{what}: {other:?}"),
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(5), "{what}");
    }
}
