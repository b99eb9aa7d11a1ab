//! Assertions: scripts of our own, and random processes against the equations of a textbook.

use crate::textbook::{meaning, processes, written};
use kanon_csp::compile::compile;
use kanon_csp::eval::Machine;
use kanon_csp::parse::parse;
use kanon_csp::process::Processes;
use kanon_csp::refine::{Limits, Outcome, Violation, check, show_label};
use kanon_language::lang::diag::SourceMap;
use kanon_language::lang::stack::with_large_stack;
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

pub const STATES: usize = 20_000;

/// The answers to all assertions of a script: `true`, or what is wrong after which trace. They are the same with smaller
/// components, but for the trace.
fn answers(text: &str) -> Vec<String> {
    // Which of several counterexamples is found first may differ.
    let kinds = |all: &[String]| -> Vec<String> {
        let kind =
            |a: &String| if a == "true" || a.starts_with("unknown") { a.clone() } else { "false".into() };
        all.iter().map(kind).collect()
    };
    let (all, smaller) = (asked(text, STATES, 0), asked(text, STATES, 1000));
    let counts = |all: Vec<(String, usize)>| all.into_iter().unzip::<String, usize, Vec<_>, Vec<_>>().0;
    let (all, smaller) = (counts(all), counts(smaller));
    assert_eq!(kinds(&all), kinds(&smaller), "{text}: with smaller components");
    all
}

/// The same, with or without smaller components; and how many states were explored, where the answer is `true`.
pub fn asked(text: &str, states: usize, compress: usize) -> Vec<(String, usize)> {
    let mut sources = SourceMap::default();
    let file = sources.add("s.csp", text);
    let types = crate::typed(&mut sources, file);
    assert!(types.diagnostics.is_empty(), "{text}: {:?}", types.diagnostics);
    let run = || {
        let script = parse(&mut sources, file);
        let program = compile(&script.decls).expect("what has types is compiled");
        let assertions = program.assertions.clone();
        let mut processes = Processes::new(Machine::new(program));
        let stop = AtomicBool::new(false);
        let limits = Limits { states, stop: &stop, compress };
        let mut answer = |a| match check(&mut processes, a, &limits) {
            Outcome::True { states } => ("true".to_string(), states),
            Outcome::Unknown(fault) => (format!("unknown: {}", fault.message), 0),
            Outcome::False(c) => {
                let trace: Vec<String> = c.trace.iter().map(|l| show_label(&processes, *l)).collect();
                let what = match c.violation {
                    Violation::Event => "event",
                    Violation::Refusal { .. } => "refusal",
                    Violation::Divergence => "divergence",
                    Violation::Deadlock => "deadlock",
                    Violation::Nondeterminism { .. } => "choice",
                    Violation::NoTrace => "no trace",
                };
                (format!("{what} <{}>", trace.join(",")), 0)
            }
        };
        assertions.iter().map(&mut answer).collect()
    };
    with_large_stack(run).expect("a thread")
}

#[test]
fn assertions_have_answers() {
    let table = [
        (
            "P = a -> P\nassert P [T= P\nassert P [F= STOP\nassert P :[deadlock free]",
            &["true", "refusal <>", "true"][..],
        ),
        (
            "assert STOP [T= a -> b -> STOP\nassert a -> STOP [T= a -> b -> STOP",
            &["event <a>", "event <a,b>"],
        ),
        (
            "assert a -> STOP |~| b -> STOP [F= a -> STOP\nassert a -> STOP [] b -> STOP [F= a -> STOP",
            &["true", "refusal <>"],
        ),
        ("assert a -> STOP [] b -> STOP [T= a -> STOP |~| b -> STOP", &["true"]),
        (
            "assert STOP [FD= DIV\nassert STOP [F= DIV\nassert DIV [FD= a -> STOP",
            &["divergence <>", "true", "true"],
        ),
        (
            "P = a -> P\nassert P \\ {a} :[divergence free]\nassert P :[divergence free]",
            &["divergence <>", "true"],
        ),
        (
            "assert SKIP :[deadlock free]\nassert STOP :[deadlock free]\nassert a -> SKIP ; STOP :[deadlock free [F]]",
            &["true", "deadlock <>", "deadlock <a>"],
        ),
        (
            "assert a -> STOP |~| STOP :[deterministic]\nassert a -> STOP [] b -> STOP :[deterministic]",
            &["choice <>", "true"],
        ),
        ("assert (a -> a -> STOP) [] (a -> b -> STOP) :[deterministic]", &["choice <a>"]),
        (
            "assert SKIP [] a -> STOP :[deterministic]\nassert SKIP [] a -> STOP [F= SKIP",
            &["choice <>", "true"],
        ),
        (
            "assert a -> b -> SKIP :[has trace]: <a, b>\nassert a -> STOP :[has trace]: <a, b>",
            &["true", "no trace <a>"],
        ),
        (
            "assert a -> b -> SKIP [T= (a -> SKIP) ; b -> SKIP\nassert SKIP ||| SKIP [FD= SKIP",
            &["true", "true"],
        ),
        (
            "assert b -> STOP [FD= (a -> b -> STOP) \\ {a}\nassert b -> STOP [FD= (a -> STOP)[[a <- b]]",
            &["true", "true"],
        ),
        (
            "assert a -> b -> STOP [T= (a -> STOP) [| {a} |] (a -> b -> STOP)\nassert STOP [T= (a -> STOP) [| {a, b} |] (b -> STOP)",
            &["true", "true"],
        ),
        ("assert a -> STOP [T= (a -> STOP) [{a} || {b}] (a -> STOP)", &["true"]),
        ("P = a -> P\nassert STOP [FD= P [a <-> b] STOP\nassert STOP [F= P [a <-> a] P", &["true", "true"]),
        ("P = a -> P\nassert STOP [FD= P [a <-> a] P", &["divergence <>"]),
        (
            "assert a -> STOP [] b -> STOP [T= (a -> STOP) /\\ (b -> STOP)\nassert a -> b -> STOP [] b -> STOP [FD= (a -> STOP) /\\ (b -> STOP)",
            &["event <a,b>", "true"],
        ),
        ("assert a -> b -> STOP [FD= (a -> STOP) [| {a} |> (b -> STOP)", &["true"]),
        (
            "assert RUN({a, b}) [T= CHAOS({a, b})\nassert RUN({a, b}) [F= CHAOS({a, b})\nassert CHAOS({a, b}) [FD= RUN({a})",
            &["true", "refusal <>", "true"],
        ),
        (
            "assert a -> STOP [F= (a -> STOP) [> STOP\nassert STOP |~| a -> STOP [FD= (a -> STOP) [> STOP",
            &["refusal <>", "true"],
        ),
        ("P = P\nassert P :[deadlock free]", &["unknown: this definition needs its own value"]),
        (
            "P = P [] a -> P\nassert P :[deadlock free]",
            &["unknown: what this process does depends on what it does: its recursion is unguarded"],
        ),
        (
            "P = a -> P ||| P\nassert P :[deadlock free]",
            &["unknown: what this process does depends on what it does: its recursion is unguarded"],
        ),
        (
            "channel c : Int\nP(n) = c.n -> P(n + 1)\nassert P(0) :[deadlock free]",
            &["unknown: there are more than 20000 states"],
        ),
        (
            "channel c : Int\nP = c?x -> P\nassert P :[deadlock free]",
            &["unknown: a finite set is needed here, and this is `Int`"],
        ),
        (
            "external prioritise\nassert prioritise(a -> STOP, <{a}>) :[deadlock free]",
            &["unknown: prioritise is not run"],
        ),
        ("assert STOP [V= STOP", &["unknown: of the models only T, F and FD are computed"]),
        ("assert not STOP [F= SKIP", &["event <✓>"]),
        ("assert a -> STOP [F= a -> head(<>)", &["unknown: the empty sequence has no head"]),
    ];
    let mut wrong = vec![];
    for (text, expected) in table {
        let script = format!("channel a, b\n{text}");
        let found = answers(&script);
        if found != expected {
            wrong.push(format!("{text}\n  {found:?}\n  not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_models_answer() {
    for file in ["Buffer", "Philosophers"] {
        let path = format!("{}/../../models/csp/{file}.csp", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("it is there");
        let found = answers(&text);
        let expected = if file == "Buffer" { ["true"; 3].to_vec() } else { ["deadlock", "true"].to_vec() };
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(f, e)| f.starts_with(e)), "{file}: {found:?}");
    }
}

/// More with `KANON_CASES`.
fn cases() -> u32 {
    std::env::var("KANON_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(600)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn random_processes_mean_what_the_equations_say(p in processes(), q in processes()) {
        let (mp, mq) = (meaning(&p), meaning(&q));
        let text = format!(
            "channel a, b\nP = {}\nQ = {}\nassert P [T= Q\nassert P [F= Q\nassert P [FD= Q\nassert P [FD= P |~| P\n\
             assert P :[deterministic [F]]\nassert P :[deterministic [FD]]\nassert P :[deadlock free [F]]\n\
             assert P :[divergence free]\nassert P |~| Q [FD= Q",
            written(&p), written(&q)
        );
        let [t, f, fd] = mp.refined(&mq);
        let [df, dfd] = mp.deterministic();
        let expected =
            [t, f, fd, true, df, dfd, !mp.deadlocks(), mp.divergences.is_empty(), true];
        let found: Vec<bool> = answers(&text).iter().map(|a| {
            assert!(!a.starts_with("unknown"), "{text}\n{a}");
            a == "true"
        }).collect();
        prop_assert_eq!(&found[..], &expected[..], "{}", text);
    }
}
