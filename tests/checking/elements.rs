//! Goals and formulas may name the elements of deferred sets as traces do. Such a name fixes the element, so that
//! reduction does not take another one for it.

use kanon::explore::Options;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::Decision;
use kanon::run::check::check;
use kanon::run::{Deadline, Project, Task, ltl};
use kanon::symmetry::Strategy;
use std::path::{Path, PathBuf};

/// `x` runs through S, whichever element it begins with; `began` is where that was.
const TURN: &str = "MACHINE Turn SETS S VARIABLES x, began INVARIANT x : S & began : S
INITIALISATION ANY s WHERE s : S THEN x, began := s, s END
OPERATIONS turn = ANY s WHERE s : S & x = began & s /= x THEN x := s END;
  stay = SELECT x /= began THEN skip END
END";

/// The machine in a file of its own: tests run side by side.
fn written(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, TURN).expect("a folder for temporary files");
    path
}

fn scope() -> ScopeArgs {
    ScopeArgs { card: vec![("S".into(), 3)], ..ScopeArgs::default() }
}

const STRATEGIES: [Strategy; 5] =
    [Strategy::Off, Strategy::Flood, Strategy::Canon, Strategy::Auto, Strategy::Nauty];

#[test]
fn a_goal_names_one_element() {
    let path = written("goal.mch");
    let built = |s: &Strategy| cfg!(feature = "nauty") || *s != Strategy::Nauty;
    for strategy in STRATEGIES.into_iter().filter(built) {
        for (goal, reached) in [
            ("began = S1 & x = S3", true),
            ("began = S3 & x = S1", true),
            ("began = S2 & x = S2", true),
            ("x /: {S1, S2, S3}", false),
        ] {
            let mut project =
                Project::open(&path, &scope()).unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
            project.set_goal(goal).unwrap_or_else(|d| panic!("{goal}: {d:?}"));
            let deadline = Deadline::never();
            let task =
                Task { options: Options { symmetry: strategy, ..Options::default() }, ..Task::default() };
            let solved = project.solve(&deadline).unwrap_or_else(|d| panic!("{d:?}"));
            let answer = check(&solved, &task, &deadline, &mut |_| {}).unwrap_or_else(|d| panic!("{d:?}"));
            let kind = answer.finding.as_ref().map(|f| f.kind);
            assert_eq!(kind, reached.then_some("goal"), "{goal} with {strategy:?}");
            assert_eq!(answer.verdict == Decision::Holds, !reached, "{goal} with {strategy:?}");
        }
        let mut project = Project::open(&path, &scope()).unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        assert!(project.set_goal("x = S4").is_err());
    }
}

#[test]
fn a_formula_names_one_element() {
    let path = written("formula.mch");
    for strategy in [Strategy::Off, Strategy::Auto] {
        for (formula, holds) in [
            ("G not({began = S2 & x = S3})", false),
            ("G not({began = S3 & x = S2})", false),
            ("{began = S1} => F {x /= S1}", true),
            ("F {x = S1}", false),
        ] {
            let task = ltl::Task {
                formulas: vec![("f".into(), formula.into())],
                symmetry: strategy,
                ..ltl::Task::default()
            };
            let answer = ltl::check_file(&path, &scope(), &task, &Deadline::never());
            let (_, answers) = answer.unwrap_or_else(|r| panic!("{formula}: {:?}", r.diagnostics));
            let found = answers[0].verdict;
            assert_eq!(
                found,
                if holds { Decision::Holds } else { Decision::Fails },
                "{formula} with {strategy:?}"
            );
        }
    }
}
