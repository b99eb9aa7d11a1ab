//! The models of models/z by plain search with the reference evaluator: the counts that their first comments state.

use kanon_language::model::load::load;
use kanon_language::model::scope::{ScopeArgs, scope};
use kanon_semantics::reference::{Cx, Env, State, Successor, constants, holds, initial_states, successors};
use std::path::Path;

/// States, transitions and initial states; panics at a violated invariant and at anything without a value.
fn counted(path: &Path, sizes: &[(String, u64)]) -> [usize; 3] {
    let loaded = load(path);
    let said: Vec<&str> = loaded.diagnostics.iter().map(|d| &*d.message).collect();
    let model = loaded.model.unwrap_or_else(|| panic!("{}: {said:?}", path.display()));
    let args = ScopeArgs { card: sizes.to_vec(), ..ScopeArgs::default() };
    let (scope, _) = scope(&model, &args).unwrap_or_else(|d| panic!("{d:?}"));
    let cx = Cx::new(&model, &scope).with_fuel(u64::MAX);
    let valuations = constants(&cx);
    assert!(valuations.faults.is_empty());
    let mut states: Vec<State<'_>> = vec![];
    for valuation in &valuations.found {
        let begin = initial_states(&cx, valuation);
        assert!(begin.faults.is_empty(), "{:?}", begin.faults);
        for state in begin.found {
            if !states.contains(&state) {
                states.push(state);
            }
        }
    }
    let (initial, mut transitions, mut at) = (states.len(), 0, 0);
    while at < states.len() {
        let state = states[at].clone();
        let env = Env::of(&state);
        for conjunct in &model.invariant {
            assert_eq!(holds(&cx, &env, conjunct), Ok(true), "{}: {conjunct:?}", path.display());
        }
        let next = successors(&cx, &state);
        assert!(next.faults.is_empty(), "{}: a fault in a step", path.display());
        assert!(!next.steps.is_empty(), "{}: a deadlock", path.display());
        let mut seen: Vec<Successor<'_>> = vec![];
        for step in next.steps {
            let is_same = |s: &Successor<'_>| {
                s.op == step.op
                    && s.params == step.params
                    && s.results == step.results
                    && s.state == step.state
            };
            if seen.iter().all(|s| !is_same(s)) {
                seen.push(step);
            }
        }
        transitions += seen.len();
        for step in seen {
            if !states.contains(&step.state) {
                states.push(step.state);
            }
        }
        at += 1;
    }
    [states.len(), transitions, initial]
}

#[test]
fn models_have_the_counts_that_they_state() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/z");
    let mut files: Vec<_> =
        std::fs::read_dir(&root).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    let mut asked = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for line in text.lines().filter_map(|l| l.strip_prefix("% expect: ")) {
            let plain = line.split(';').next().unwrap_or_default();
            let get =
                |key: &str| plain.split_whitespace().find_map(|p| p.strip_prefix(key)?.strip_prefix('='));
            let number = |key: &str| get(key).and_then(|n| n.parse::<usize>().ok());
            let pair = |p: &str| p.split_once(':').and_then(|(s, n)| Some((s.to_string(), n.parse().ok()?)));
            let sizes: Vec<(String, u64)> =
                get("card").iter().flat_map(|c| c.split(',')).filter_map(pair).collect();
            let [states, transitions, initial] = counted(&path, &sizes);
            let name = path.display();
            assert_eq!(number("states"), Some(states), "{name}: states");
            assert_eq!(number("transitions"), Some(transitions), "{name}: transitions");
            assert!(
                number("initialisations").is_none_or(|n| n == initial),
                "{name}: {initial} initial states"
            );
            asked += 1;
        }
    }
    assert!(asked >= 6, "{asked} expectations");
}

/// The scheduler in Z and the one in B.
#[test]
fn a_model_in_z_has_the_states_of_the_one_in_b() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    for n in [2, 3] {
        let sizes = [("PROC".to_string(), n)];
        let z = counted(&root.join("z/Scheduler.tex"), &sizes);
        assert_eq!(z, counted(&root.join("papers/scheduler1.mch"), &sizes), "{n} processes");
    }
}
