//! The models of `models/symbolic` say in their headers what each engine must answer: `formulas: bmc=fails:4 ic3=holds`, where
//! the number is that of the steps.

use kanon::model::scope::ScopeArgs;
use kanon::run::symbolic::{Engine, Task, answer};
use kanon::run::{Deadline, Project};
use kanon_solver::smt;
use std::path::Path;

#[test]
fn engines_answer_as_the_headers_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/symbolic");
    let has_smt = !smt::installed().is_empty();
    let (mut asked, mut wrong) = (0, vec![]);
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a model");
        let Some(line) = text.lines().find_map(|l| l.split_once("formulas:")).map(|(_, l)| l) else {
            continue;
        };
        for pair in line.trim_end_matches("*/").split_whitespace() {
            let (engine, expected) = pair.split_once('=').expect("an engine and an answer");
            let engine = Engine::ALL.into_iter().find(|e| e.name() == engine).expect("an engine");
            let project = Project::open(&path, &ScopeArgs::default()).expect("a model");
            let has_integers = text.contains("INTEGER");
            if has_integers && !has_smt {
                continue;
            }
            // What is proved may be left out; the answers are the same.
            for proof_info in [false, engine == Engine::Ic3] {
                let task = Task { depth: 6, proof_info, ..Task::new(engine) };
                let a =
                    answer(&project, &task, &Deadline::never(), &|_| {}).expect("options that go together");
                let mut found = a.verdict.name().to_string();
                if expected.contains(':') {
                    let steps = a.finding.as_ref().map_or(0, |f| f.trace.steps.len() - 1);
                    found += &format!(":{steps}");
                }
                asked += 1;
                if found != expected {
                    wrong.push(format!(
                        "{} {}: {found}, not {expected}: {:?}",
                        path.display(),
                        engine.name(),
                        a.reason
                    ));
                }
            }
        }
    }
    assert!(asked >= 30, "only {asked} answers");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
