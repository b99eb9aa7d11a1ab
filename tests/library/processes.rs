//! Random processes of CSP-M as a system: what can be seen of their graphs against the equations of a textbook.

#[path = "../../src/csp/tests/csp/textbook.rs"]
#[allow(dead_code)]
mod textbook;

use kanon::explore::Options;
use kanon::lang::stack::with_large_stack;
use kanon::run::Deadline;
use kanon::run::other::{Asked, Language, Model, States, open};
use kanon::verdict::Decision;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use textbook::{ALL, Meaning, Proc, Set, TICK, bit, meaning, processes, written};

fn opened(name: &str, text: &str) -> Box<dyn Model> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("random-{name}.csp"));
    std::fs::write(&path, text).expect("a file");
    let model = open(&path, Language::Csp, &Asked::default(), &Deadline::never());
    model.unwrap_or_else(|e| panic!("{:?}: {text}", e.diagnostics))
}

/// The places that silent steps lead to, and whether these can go on for ever.
fn silent(graph: &[Vec<(String, usize)>], from: &BTreeSet<usize>) -> (BTreeSet<usize>, bool) {
    let (mut all, mut open) = (from.clone(), from.iter().copied().collect::<Vec<_>>());
    while let Some(at) = open.pop() {
        for (_, to) in graph[at].iter().filter(|(l, _)| l == "tau") {
            if all.insert(*to) {
                open.push(*to);
            }
        }
    }
    // What has no silent step is taken away until circles, and what leads to them, are left.
    let mut left = all.clone();
    loop {
        let goes_on = |at: &usize| graph[*at].iter().any(|(l, to)| l == "tau" && left.contains(to));
        let next: BTreeSet<usize> = left.iter().copied().filter(goes_on).collect();
        if next.len() == left.len() {
            return (all, !left.is_empty());
        }
        left = next;
    }
}

/// What can be seen of a graph, trace by trace. Without recursion there are finitely many.
fn seen(graph: &[Vec<(String, usize)>], first: usize) -> Meaning {
    let mut m = Meaning::default();
    let mut open = vec![(String::new(), BTreeSet::from([first]))];
    while let Some((trace, from)) = open.pop() {
        let (all, diverges) = silent(graph, &from);
        m.traces.insert(trace.clone());
        if diverges {
            m.divergences.insert(trace.clone());
        }
        for at in &all {
            let has = |l: &str| graph[*at].iter().any(|(label, _)| label == l);
            let offered =
                ["a", "b"].iter().filter(|l| has(l)).fold(0, |set, l| set | bit(l.as_bytes()[0] as char));
            let offered: Set = offered | if has("tick") { TICK } else { 0 };
            // Nobody keeps a process from terminating: then it may refuse all the rest.
            let rest = if has("tick") { Some(TICK) } else { (!has("tau")).then_some(offered) };
            let refused = |x: &Set| rest.is_some_and(|rest| x & rest == 0);
            m.failures.extend((0..=ALL).filter(refused).map(|x| (trace.clone(), x)));
        }
        for (label, letter) in [("a", 'a'), ("b", 'b'), ("tick", 't')] {
            let targets = all.iter().flat_map(|at| graph[*at].iter()).filter(|(l, _)| l == label);
            let targets: BTreeSet<usize> = targets.map(|(_, to)| *to).collect();
            if !targets.is_empty() {
                open.push((format!("{trace}{letter}"), targets));
            }
        }
    }
    m
}

fn graph(states: &States) -> (Vec<Vec<(String, usize)>>, usize) {
    let mut graph = vec![vec![]; states.nodes.len()];
    for (from, to, labels) in &states.edges {
        graph[*from].extend(labels.iter().map(|l| (l.clone(), *to)));
    }
    (graph, states.nodes.iter().position(|n| n.initial).expect("an initial state"))
}

fn compare(name: &str, p: &Proc) -> Result<(), TestCaseError> {
    let text = format!("channel a, b\nMAIN = {}\n", written(p));
    let model = opened(name, &text);
    let states = model.states(100_000, &Deadline::never()).expect("options that go together");
    prop_assert!(!states.more, "{}", text);
    let (graph, first) = graph(&states);
    let (found, expected) = (seen(&graph, first), meaning(p));
    prop_assert_eq!(&found.traces, &expected.traces, "{}", text);
    prop_assert_eq!(&found.divergences, &expected.divergences, "{}", text);
    // The equations leave out refusals of silent steps' sources, and so do graphs: sets are closed below in both.
    prop_assert_eq!(&found.failures, &expected.failures, "{}", text);
    let checked = model.check(&Options { all: true, ..Options::default() }, &Deadline::never(), &mut |_| {});
    let checked = checked.expect("options that go together");
    prop_assert_eq!(checked.verdict == Decision::Fails, expected.deadlocks(), "{}", text);
    prop_assert_eq!(checked.counts.states, states.nodes.len(), "{}", text);
    Ok(())
}

/// More with `KANON_CASES`.
fn cases() -> u32 {
    std::env::var("KANON_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_mean_what_the_equations_say(p in processes()) {
        with_large_stack(|| compare("meaning", &p)).expect("a thread")?;
    }
}
