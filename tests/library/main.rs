//! Systems written in Rust: the examples, and kanon-refinement's own, get everything that a B machine gets.

#[path = "../../examples/caches.rs"]
#[allow(dead_code)]
mod caches;
#[path = "../../examples/petri.rs"]
#[allow(dead_code)]
mod petri;

mod animate;
mod guided;
mod nets;
mod processes;
mod xtl;

use caches::{Caches, Exchange};
use kanon::explore::{FindingKind, Options, Order};
use kanon::report::system as report;
use kanon::run::system::{check, ltl};
use kanon::symmetry::Strategy;
use kanon::system::Interned;
use kanon::verdict::Verdict;
use petri::Net;

fn exact() -> Vec<Strategy> {
    let all = [Strategy::Flood, Strategy::Canon, Strategy::Nauty, Strategy::Auto];
    all.into_iter().filter(|s| *s != Strategy::Nauty || cfg!(feature = "nauty")).collect()
}

fn without_goal() -> Options {
    Options { goal: false, ..Options::default() }
}

/// Multisets of `n` lines of which at most one is modified, and then nobody shares: by hand.
fn orbits(n: u64) -> usize {
    // Without a modified line: n lines of four kinds; with one: n - 1 of three.
    let choose = |n: u64, k: u64| (1..=k).fold(1, |c, i| c * (n - k + i) / i);
    (choose(n + 3, 3) + choose(n + 1, 2)) as usize
}

#[test]
fn caches_hold_and_reduce_to_their_orbits() {
    for n in [2, 3, 5] {
        let caches = Caches::new(n, false);
        let exchange = Exchange::of(&caches);
        let off = check(&caches, None, &without_goal()).expect("they go together");
        assert!(off.verdict.holds());
        for threads in [1, 3] {
            let options = Options { threads: Some(threads), ..without_goal() };
            let several = check(&caches, None, &options).expect("they go together");
            assert_eq!(several.counts.transitions, off.counts.transitions);
        }
        for symmetry in exact() {
            let options = Options { symmetry, ..without_goal() };
            let reduced = check(&caches, Some(&exchange), &options).expect("they go together");
            assert!(reduced.verdict.holds(), "{symmetry}");
            assert_eq!(reduced.counts.states, orbits(n as u64), "{symmetry}, {n} caches");
            let flooded = reduced.explored.reduction.and_then(|r| r.effort.flooded);
            assert_eq!(flooded, (symmetry == Strategy::Flood).then_some(off.counts.states));
        }
    }
}

/// A counterexample under reduction is a path of the system itself, label by label.
#[test]
fn a_mistake_has_a_path_that_runs() {
    use kanon::system::{Label, Stop, System, Transition, Visitor};
    use std::ops::ControlFlow;
    struct Wanted<'a>(&'a Caches, &'a [u64], &'a Label, bool);
    impl Visitor<caches::Here> for Wanted<'_> {
        fn transition(&mut self, t: Transition<caches::Here>) -> ControlFlow<()> {
            self.3 |= t.target == self.1 && self.0.label(t.operation, t.here) == *self.2;
            ControlFlow::Continue(())
        }
        fn fault(&mut self, _: usize, _: Box<kanon::system::Fault>) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let caches = Caches::new(4, true);
    let exchange = Exchange::of(&caches);
    let shortest = check(&caches, None, &without_goal()).expect("they go together").path.expect("a path");
    for symmetry in exact() {
        let options = Options { symmetry, ..without_goal() };
        let answer = check(&caches, Some(&exchange), &options).expect("they go together");
        let Verdict::Fails(found) = &answer.verdict else { panic!("{symmetry}") };
        assert_eq!(found.kind, FindingKind::Invariant(0));
        let path = answer.path.as_ref().expect("a path");
        assert_eq!(path.rows.len(), shortest.rows.len(), "{symmetry}");
        let mut worker = caches.worker(&Stop::default());
        for (i, label) in path.labels.iter().enumerate() {
            let mut wanted = Wanted(&caches, &path.rows[i + 1], label, false);
            let _ = caches.successors(&mut worker, &path.rows[i], &mut wanted);
            assert!(wanted.3, "{symmetry}: step {i}");
        }
        let text = report::text(&caches, &answer);
        assert!(text.starts_with("fails: invariant (one writer)"), "{text}");
        let json = report::json(&caches, &answer);
        assert_eq!(json["trace"].as_array().map(Vec::len), Some(path.rows.len()));
    }
}

/// A strategy that cannot act is refused, also where the options alone would do.
#[test]
fn what_cannot_be_reduced_is_refused() {
    let caches = Caches::new(2, false);
    for symmetry in [Strategy::Canon, Strategy::Auto] {
        let options = Options { symmetry, ..without_goal() };
        assert!(check(&caches, None, &options).is_err(), "{symmetry} without an action");
        assert!(ltl(&caches, None, "G {one writer}", &options).is_err(), "{symmetry} without an action");
    }
    let markers = Options { symmetry: Strategy::Markers, ..without_goal() };
    assert!(check(&caches, Some(&Exchange::of(&caches)), &markers).is_err(), "it has no markers");
}

#[test]
fn formulas_over_checks_and_operations() {
    let caches = Caches::new(3, false);
    let exchange = Exchange::of(&caches);
    for symmetry in [Strategy::Off, Strategy::Canon, Strategy::Auto] {
        let options = Options { symmetry, ..without_goal() };
        let ask = |text: &str| ltl(&caches, Some(&exchange), text, &options).map(|(v, _)| v.word().name());
        assert_eq!(ask("G {one writer}").ok(), Some("holds"), "{symmetry}");
        assert_eq!(ask("F {all share}").ok(), Some("fails"), "{symmetry}");
        assert_eq!(ask("G ([grant] => Y O [ask])").ok(), Some("holds"), "{symmetry}");
        assert_eq!(ask("G F [grant]").ok(), Some("holds"), "asking ends, evicting too");
        assert!(ask("G {no such check}").is_err());
        assert!(ask("G [grant(1)]").is_err());
    }
}

const PHILOSOPHERS: &str = include_str!("../../examples/nets/philosophers.pnml");

#[test]
fn a_net_from_pnml() {
    let net = Net::read(PHILOSOPHERS).expect("a net");
    let starved = check(&net, None, &Options::default()).expect("they go together");
    let Verdict::Fails(found) = &starved.verdict else { panic!("they may starve") };
    assert_eq!(found.kind, FindingKind::Deadlock);
    assert_eq!(starved.path.as_ref().map(|p| p.rows.len()), Some(3), "both take the left fork");
    for order in [Order::Bfs, Order::Dfs] {
        let options = Options { order, deadlock: false, ..Options::default() };
        let all = check(&net, None, &options).expect("they go together");
        assert!(all.verdict.holds(), "the net is safe");
        assert_eq!((all.counts.states, all.counts.deadlocks), (6, 1));
        let dot = report::dot(&net, &all);
        assert_eq!(dot.matches(" -> ").count() as u64, all.counts.transitions);
    }
    let options = Options::default();
    let word = |text| ltl(&net, None, text, &options).map(|(v, _)| v.word().name()).ok();
    assert_eq!(word("G ([right1] => F [done1])"), Some("holds"));
    assert_eq!(word("G F [done1]"), Some("fails"));
    for broken in ["", "<pnml/>", "<net><place/></net>", "<net><arc source='a' target='b'/></net>"] {
        assert!(Net::read(broken).is_err(), "{broken}");
    }
}

/// The tutorial's kind of system is one of ours by way of [`Interned`].
#[test]
fn a_typed_system_of_the_refinement_crate() {
    struct Walk;
    impl kanon_refinement::system::System for Walk {
        type State = (i8, i8);
        type Op = usize;
        fn initial(&self) -> impl IntoIterator<Item = (usize, (i8, i8))> {
            [(0, (0, 0))]
        }
        fn successors(&self, s: &(i8, i8)) -> impl IntoIterator<Item = (usize, (i8, i8))> {
            let all = [(0, (s.0 + 1, s.1)), (1, (s.0, s.1 + 1))];
            all.into_iter().filter(|(_, (x, y))| *x < 10 && *y < 10)
        }
        fn invariant(&self, s: &(i8, i8)) -> bool {
            s.0 + s.1 < 18
        }
    }
    let walk = Interned::new(Walk, &["right", "up"], |op| *op, |s| format!("{s:?}"));
    let options = Options { deadlock: false, ..Options::default() };
    let answer = check(&walk, None, &options).expect("they go together");
    assert_eq!(answer.path.map(|p| p.rows.len()), Some(19));
    let (verdict, _) = ltl(&walk, None, "F deadlock", &options).expect("a formula");
    assert!(verdict.holds());
}
