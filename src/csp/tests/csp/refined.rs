//! Assertions: scripts of our own, and random processes against the equations of a textbook.

use kanon_csp::compile::compile;
use kanon_csp::eval::Machine;
use kanon_csp::parse::parse;
use kanon_csp::process::Processes;
use kanon_csp::refine::{Limits, Outcome, Violation, check, show_label};
use kanon_language::lang::diag::SourceMap;
use kanon_language::lang::stack::with_large_stack;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// The answers to all assertions of a script: `true`, or what is wrong after which trace.
fn answers(text: &str) -> Vec<String> {
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
        let limits = Limits { states: 20_000, stop: &stop };
        let mut answer = |a| match check(&mut processes, a, &limits) {
            Outcome::True { .. } => "true".to_string(),
            Outcome::Unknown(fault) => format!("unknown: {}", fault.message),
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
                format!("{what} <{}>", trace.join(","))
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

/// A process without recursion, over two events.
#[derive(Clone, Debug)]
enum Proc {
    Stop,
    Skip,
    Div,
    Prefix(char, Box<Proc>),
    External(Box<Proc>, Box<Proc>),
    Internal(Box<Proc>, Box<Proc>),
    Sliding(Box<Proc>, Box<Proc>),
    Sequence(Box<Proc>, Box<Proc>),
    Parallel(Set, Box<Proc>, Box<Proc>),
    Hidden(Set, Box<Proc>),
    Renamed(Box<Proc>),
}

/// Of `a` (1), `b` (2) and termination (4).
type Set = u8;
const ALL: Set = 7;
const TICK: Set = 4;

fn bit(c: char) -> Set {
    match c {
        'a' => 1,
        'b' => 2,
        _ => TICK,
    }
}

fn written(p: &Proc) -> String {
    let set = |s: Set| ["{}", "{a}", "{b}", "{a, b}"][s as usize];
    match p {
        Proc::Stop => "STOP".into(),
        Proc::Skip => "SKIP".into(),
        Proc::Div => "DIV".into(),
        Proc::Prefix(c, p) => format!("({c} -> {})", written(p)),
        Proc::External(p, q) => format!("({} [] {})", written(p), written(q)),
        Proc::Internal(p, q) => format!("({} |~| {})", written(p), written(q)),
        Proc::Sliding(p, q) => format!("({} [> {})", written(p), written(q)),
        Proc::Sequence(p, q) => format!("({} ; {})", written(p), written(q)),
        Proc::Parallel(a, p, q) => format!("({} [| {} |] {})", written(p), set(*a), written(q)),
        Proc::Hidden(a, p) => format!("({} \\ {})", written(p), set(*a)),
        Proc::Renamed(p) => format!("({}[[a <- b]])", written(p)),
    }
}

fn processes() -> impl Strategy<Value = Proc> {
    let leaf = prop_oneof![4 => Just(Proc::Stop), 4 => Just(Proc::Skip), 1 => Just(Proc::Div)];
    leaf.prop_recursive(4, 10, 2, |inner| {
        let two = (inner.clone(), inner.clone()).prop_map(|(p, q)| (Box::new(p), Box::new(q)));
        prop_oneof![
            6 => (prop::sample::select(vec!['a', 'b']), inner.clone()).prop_map(|(c, p)| Proc::Prefix(c, Box::new(p))),
            2 => two.clone().prop_map(|(p, q)| Proc::External(p, q)),
            2 => two.clone().prop_map(|(p, q)| Proc::Internal(p, q)),
            1 => two.clone().prop_map(|(p, q)| Proc::Sliding(p, q)),
            2 => two.clone().prop_map(|(p, q)| Proc::Sequence(p, q)),
            2 => (0..4u8, two).prop_map(|(a, (p, q))| Proc::Parallel(a, p, q)),
            1 => (0..4u8, inner.clone()).prop_map(|(a, p)| Proc::Hidden(a, Box::new(p))),
            1 => inner.prop_map(|p| Proc::Renamed(Box::new(p))),
        ]
    })
}

type Trace = String;

/// What a process means: traces, stable failures, and the traces after which it may diverge at once.
#[derive(Clone, Debug, Default)]
struct Meaning {
    traces: BTreeSet<Trace>,
    failures: BTreeSet<(Trace, Set)>,
    divergences: BTreeSet<Trace>,
}

fn sets() -> impl Iterator<Item = Set> {
    0..=ALL
}

fn meaning(p: &Proc) -> Meaning {
    let mut m = Meaning::default();
    m.traces.insert(String::new());
    match p {
        Proc::Stop => m.failures.extend(sets().map(|x| (String::new(), x))),
        Proc::Skip => {
            m.traces.insert("t".into());
            m.failures.extend(sets().filter(|x| x & TICK == 0).map(|x| (String::new(), x)));
            m.failures.extend(sets().map(|x| ("t".into(), x)));
        }
        Proc::Div => {
            m.divergences.insert(String::new());
        }
        Proc::Prefix(c, p) => {
            let p = meaning(p);
            m.traces.extend(p.traces.iter().map(|s| format!("{c}{s}")));
            m.failures.extend(sets().filter(|x| x & bit(*c) == 0).map(|x| (String::new(), x)));
            m.failures.extend(p.failures.iter().map(|(s, x)| (format!("{c}{s}"), *x)));
            m.divergences.extend(p.divergences.iter().map(|s| format!("{c}{s}")));
        }
        Proc::Internal(p, q) => {
            let (p, q) = (meaning(p), meaning(q));
            m.traces.extend(p.traces.union(&q.traces).cloned());
            m.failures.extend(p.failures.union(&q.failures).cloned());
            m.divergences.extend(p.divergences.union(&q.divergences).cloned());
        }
        Proc::External(p, q) => {
            let (p, q) = (meaning(p), meaning(q));
            m.traces.extend(p.traces.union(&q.traces).cloned());
            m.failures.extend(p.failures.intersection(&q.failures).filter(|(s, _)| s.is_empty()).cloned());
            m.failures.extend(p.failures.union(&q.failures).filter(|(s, _)| !s.is_empty()).cloned());
            if m.traces.contains("t") {
                m.failures.extend(sets().filter(|x| x & TICK == 0).map(|x| (String::new(), x)));
            }
            m.divergences.extend(p.divergences.union(&q.divergences).cloned());
        }
        Proc::Sliding(p, q) => {
            let first = Proc::Internal(p.clone(), Box::new(Proc::Stop));
            return meaning(&Proc::External(Box::new(first), q.clone()));
        }
        Proc::Sequence(p, q) => {
            let (p, q) = (meaning(p), meaning(q));
            let ended: Vec<&str> = p.traces.iter().filter_map(|s| s.strip_suffix('t')).collect();
            m.traces.extend(p.traces.iter().filter(|s| !s.ends_with('t')).cloned());
            let open = p.failures.iter().filter(|(s, x)| !s.ends_with('t') && x & TICK != 0);
            for (s, x) in open {
                m.failures.insert((s.clone(), *x));
                m.failures.insert((s.clone(), x & !TICK));
            }
            m.divergences.extend(p.divergences.iter().cloned());
            for s in ended {
                m.traces.extend(q.traces.iter().map(|t| format!("{s}{t}")));
                m.failures.extend(q.failures.iter().map(|(t, x)| (format!("{s}{t}"), *x)));
                m.divergences.extend(q.divergences.iter().map(|t| format!("{s}{t}")));
            }
        }
        Proc::Parallel(a, p, q) => {
            let (p, q) = (meaning(p), meaning(q));
            let both = a | TICK;
            for s in &p.traces {
                for t in &q.traces {
                    let merged = merged(s, t, both);
                    if p.divergences.contains(s) || q.divergences.contains(t) {
                        m.divergences.extend(merged.iter().filter(|u| !u.ends_with('t')).cloned());
                    }
                    m.traces.extend(merged);
                }
            }
            for (s, y) in &p.failures {
                for (t, z) in q.failures.iter().filter(|(_, z)| y & !both == z & !both) {
                    m.failures.extend(merged(s, t, both).into_iter().map(|u| (u, y | z)));
                }
            }
        }
        Proc::Hidden(a, p) => {
            let p = meaning(p);
            let left = |s: &str| -> Trace { s.chars().filter(|c| bit(*c) & a == 0).collect() };
            m.traces.extend(p.traces.iter().map(|s| left(s)));
            m.failures.extend(p.failures.iter().filter(|(_, x)| x & a == *a).flat_map(|(s, x)| {
                let s = left(s);
                // With a set its subsets are refused; what is hidden may be among them or not.
                sets().filter(move |y| y & !x == 0).map(move |y| (s.clone(), y))
            }));
            m.divergences.extend(p.divergences.iter().map(|s| left(s)));
        }
        Proc::Renamed(p) => {
            let p = meaning(p);
            let to = |s: &str| s.replace('a', "b");
            m.traces.extend(p.traces.iter().map(|s| to(s)));
            for x in sets() {
                // What is renamed to something refused: `a` and `b` for `b`, nothing for `a`.
                let before = (x & TICK) | if x & 2 != 0 { 3 } else { 0 };
                let found = p.failures.iter().filter(|(_, y)| *y == before);
                m.failures.extend(found.map(|(s, _)| (to(s), x)));
            }
            m.divergences.extend(p.divergences.iter().map(|s| to(s)));
        }
    }
    m
}

/// All ways in which two traces are one, with the events of the set together.
fn merged(s: &str, t: &str, both: Set) -> BTreeSet<Trace> {
    let mut all = BTreeSet::new();
    match (s.chars().next(), t.chars().next()) {
        (None, None) => {
            all.insert(String::new());
        }
        (x, y) => {
            if let Some(c) = x.filter(|c| bit(*c) & both == 0) {
                all.extend(merged(&s[1..], t, both).into_iter().map(|u| format!("{c}{u}")));
            }
            if let Some(c) = y.filter(|c| bit(*c) & both == 0) {
                all.extend(merged(s, &t[1..], both).into_iter().map(|u| format!("{c}{u}")));
            }
            if let (Some(c), Some(d)) = (x, y)
                && c == d
                && bit(c) & both != 0
            {
                all.extend(merged(&s[1..], &t[1..], both).into_iter().map(|u| format!("{c}{u}")));
            }
        }
    }
    all
}

impl Meaning {
    fn diverged(&self, s: &str) -> bool {
        (0..=s.len()).any(|n| self.divergences.contains(&s[..n]))
    }

    /// Refined by the other in traces, in failures, in failures and divergences.
    fn refined(&self, q: &Meaning) -> [bool; 3] {
        let traces = q.traces.is_subset(&self.traces);
        let failures = traces && q.failures.is_subset(&self.failures);
        let open = |s: &str| !self.diverged(s);
        let strict = q.divergences.iter().all(|s| !open(s))
            && q.traces.iter().all(|s| !open(s) || self.traces.contains(s))
            && q.failures.iter().all(|f| !open(&f.0) || self.failures.contains(f));
        [traces, failures, strict]
    }

    /// No event can be had and refused.
    fn deterministic(&self) -> [bool; 2] {
        let clear = self.traces.iter().all(|s| match s.chars().next_back() {
            Some(c) => !self.failures.contains(&(s[..s.len() - 1].to_string(), bit(c))),
            None => true,
        });
        [clear, clear && self.divergences.is_empty()]
    }

    fn deadlocks(&self) -> bool {
        self.failures.iter().any(|(s, x)| *x == ALL && !s.ends_with('t'))
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
