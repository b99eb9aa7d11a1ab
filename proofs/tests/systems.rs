//! Reduced and unreduced exploration give the same answer, and a quotient has the same symmetric LTL formulas.

use std::cell::RefCell;
use std::collections::BTreeSet;

use kanon_proofs::execute::{Pick, Tape};
use kanon_proofs::groups::{Perm, random_perms};
use kanon_refinement::frontier::{Mixed, Queue, Stack};
use kanon_refinement::system::{System, Verdict, check, check_by, check_in};
use proptest::prelude::*;

/// A system whose transitions and errors are unions of orbits, so that the group really is one.
#[derive(Debug)]
struct Symmetric {
    perms: Vec<Perm>,
    initial: BTreeSet<u32>,
    tr: BTreeSet<(u32, u32)>,
    bad: BTreeSet<u32>,
    mark: BTreeSet<u32>,
}

impl Symmetric {
    fn random(tape: &mut Tape<'_>, n: usize) -> Self {
        let perms = random_perms(n, 0, 8, &mut |below| tape.pick(below));
        let mut s = Self { perms, initial: [].into(), tr: [].into(), bad: [].into(), mark: [].into() };
        let some = |tape: &mut Tape<'_>| 1 + tape.pick(n - 1) as u32;
        for _ in 0..=tape.pick(2) {
            let a = some(tape);
            s.initial.extend(s.orbit(a));
        }
        for a in 1..n as u32 {
            for _ in 0..tape.pick(3) {
                let b = some(tape);
                let step = s.perms.iter().map(|p| (p[a as usize], p[b as usize]));
                s.tr.extend(step.collect::<Vec<_>>());
            }
        }
        if tape.pick(2) == 1 {
            let a = some(tape);
            s.bad.extend(s.orbit(a));
        }
        let a = some(tape);
        s.mark.extend(s.orbit(a));
        s
    }
    fn orbit(&self, s: u32) -> Vec<u32> {
        self.perms.iter().map(|p| p[s as usize]).collect()
    }
    fn canon(&self, s: u32) -> u32 {
        self.orbit(s).into_iter().min().unwrap_or(s)
    }
}

impl System for Symmetric {
    type State = u32;
    type Op = ();
    fn initial(&self) -> impl IntoIterator<Item = ((), u32)> {
        self.initial.iter().map(|&s| ((), s))
    }
    fn successors(&self, s: &u32) -> impl IntoIterator<Item = ((), u32)> {
        let s = *s;
        self.tr.range((s, 0)..=(s, u32::MAX)).map(|&(_, t)| ((), t))
    }
    fn invariant(&self, s: &u32) -> bool {
        !self.bad.contains(s)
    }
}

/// The verdict, and the orbits that arrived.
fn explore(system: &Symmetric, order: usize, rep: impl Fn(u32) -> u32) -> (Verdict<(), u32>, BTreeSet<u32>) {
    let seen = RefCell::new(BTreeSet::new());
    let rep = |s: &u32| {
        seen.borrow_mut().insert(system.canon(*s));
        rep(*s)
    };
    let verdict = match order {
        0 => check_in(system, rep, Queue::new()),
        1 => check_in(system, rep, Stack::new()),
        _ => check_in(system, rep, Mixed::new(3)),
    };
    (verdict, seen.into_inner())
}

/// A trace is a path of the system that ends in an error.
fn is_path(system: &Symmetric, trace: &[((), u32)]) -> bool {
    let states: Vec<u32> = trace.iter().map(|step| step.1).collect();
    states.first().is_some_and(|s| system.initial.contains(s))
        && states.windows(2).all(|w| system.tr.contains(&(w[0], w[1])))
        && states.last().is_some_and(|s| system.bad.contains(s))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reduced_is_unreduced(n in 2usize..=40, tape in prop::collection::vec(any::<u64>(), 1..80), lie: u64) {
        let system = Symmetric::random(&mut Tape::new(&tape), n);
        let (plain, orbits) = explore(&system, 0, |s| s);
        let canon = |s| system.canon(s);
        // Some state of the orbit, another one for another state: an untrusted labelling.
        let lying = |s: u32| {
            let orbit = system.orbit(s);
            orbit[(lie.rotate_left(s % 64) % orbit.len() as u64) as usize]
        };
        for order in 0..3 {
            for (verdict, seen) in [explore(&system, order, |s| s), explore(&system, order, canon), explore(&system, order, lying)] {
                prop_assert_eq!(verdict.holds(), plain.holds());
                match &verdict {
                    Verdict::Holds { states } => {
                        prop_assert_eq!(&seen, &orbits);
                        prop_assert!(*states >= orbits.len());
                    }
                    Verdict::Fails { trace, .. } => prop_assert!(is_path(&system, trace)),
                    Verdict::Incomplete { .. } => prop_assert!(false, "no order ends early"),
                }
            }
            if let (Verdict::Holds { states }, _) = explore(&system, order, canon) {
                prop_assert_eq!(states, orbits.len(), "one state per orbit");
            }
        }
        prop_assert_eq!(check(&system).holds(), check_by(&system, |s| system.canon(*s)).holds());
    }

    /// Design: symmetry-reduced exploration preserves LTL for symmetric formulas.
    #[test]
    fn quotient_preserves_ltl(n in 2usize..=7, tape in prop::collection::vec(any::<u64>(), 1..40)) {
        let system = Symmetric::random(&mut Tape::new(&tape), n);
        let full = Kripke::new(&system, |s| s);
        let quotient = Kripke::new(&system, |s| system.canon(s));
        prop_assert!(quotient.states.len() <= full.states.len());
        for formula in formulas() {
            prop_assert_eq!(full.all_paths(&formula), quotient.all_paths(&formula), "{:?}", formula);
        }
    }
}

/// The quotient test can tell formulas apart: an asymmetric proposition is not preserved.
#[test]
fn asymmetric_formulas_are_not_preserved() {
    let system = Symmetric {
        perms: vec![vec![0, 1, 2], vec![0, 2, 1]],
        initial: [1, 2].into(),
        tr: [(1, 2), (2, 1)].into(),
        bad: [].into(),
        mark: [1].into(), // not an orbit
    };
    let always = Ltl::not(Ltl::until(Ltl::True, Ltl::not(Ltl::Mark)));
    let full = Kripke::new(&system, |s| s);
    let quotient = Kripke::new(&system, |s| system.canon(s));
    assert!(!full.all_paths(&always) && quotient.all_paths(&always));
}

/// Formulas of two symmetric propositions.
#[derive(Clone, Debug, PartialEq)]
enum Ltl {
    True,
    Inv,
    Mark,
    Not(Box<Ltl>),
    And(Box<Ltl>, Box<Ltl>),
    Next(Box<Ltl>),
    Until(Box<Ltl>, Box<Ltl>),
}

impl Ltl {
    fn not(f: Ltl) -> Ltl {
        Ltl::Not(Box::new(f))
    }
    fn until(f: Ltl, g: Ltl) -> Ltl {
        Ltl::Until(Box::new(f), Box::new(g))
    }
    fn next(f: Ltl) -> Ltl {
        Ltl::Next(Box::new(f))
    }
    /// The subformulas that speak of the future, inner ones first.
    fn temporal(&self, out: &mut Vec<Ltl>) {
        match self {
            Ltl::True | Ltl::Inv | Ltl::Mark => return,
            Ltl::Not(f) | Ltl::Next(f) => f.temporal(out),
            Ltl::And(f, g) | Ltl::Until(f, g) => {
                f.temporal(out);
                g.temporal(out);
            }
        }
        if matches!(self, Ltl::Next(_) | Ltl::Until(..)) && !out.contains(self) {
            out.push(self.clone());
        }
    }
}

/// All formulas up to two nested temporal operators over the propositions, their negations included.
fn formulas() -> Vec<Ltl> {
    let base = [Ltl::Inv, Ltl::Mark, Ltl::not(Ltl::Mark)];
    let mut one = Vec::new();
    for f in &base {
        one.push(Ltl::next(f.clone()));
        one.push(Ltl::until(Ltl::True, f.clone()));
        one.push(Ltl::not(Ltl::until(Ltl::True, Ltl::not(f.clone()))));
        one.push(Ltl::until(Ltl::Inv, f.clone()));
    }
    let mut all = base.to_vec();
    all.extend(one.clone());
    for f in &one {
        all.push(Ltl::next(f.clone()));
        all.push(Ltl::until(Ltl::True, f.clone()));
        all.push(Ltl::not(Ltl::until(Ltl::True, Ltl::not(f.clone()))));
        all.push(Ltl::And(Box::new(f.clone()), Box::new(Ltl::next(Ltl::not(f.clone())))));
    }
    all
}

/// A graph with two propositions; a state without successors stays where it is.
struct Kripke {
    states: Vec<(bool, bool)>,
    next: Vec<Vec<usize>>,
    initial: Vec<usize>,
}

impl Kripke {
    /// What is reached from the initial states when every state is replaced by its representative.
    fn new(system: &Symmetric, rep: impl Fn(u32) -> u32) -> Self {
        let mut names: Vec<u32> = Vec::new();
        let number = |names: &mut Vec<u32>, s: u32| {
            let s = rep(s);
            names.iter().position(|&t| t == s).unwrap_or_else(|| {
                names.push(s);
                names.len() - 1
            })
        };
        let initial = system.initial.iter().map(|&s| number(&mut names, s)).collect();
        let mut next = Vec::new();
        while next.len() < names.len() {
            let s = names[next.len()];
            let steps: BTreeSet<usize> =
                system.successors(&s).into_iter().map(|(_, t)| number(&mut names, t)).collect();
            let here = next.len();
            next.push(if steps.is_empty() { vec![here] } else { steps.into_iter().collect() });
        }
        let states = names.iter().map(|s| (system.invariant(s), system.mark.contains(s))).collect();
        Self { states, next, initial }
    }

    /// Whether every path from every initial state satisfies the formula: no path satisfies its negation.
    ///
    /// Brute force: a node is a state with a guess for each temporal subformula; edges keep the guesses
    /// consistent; a path is real if it can go on for ever and keeps every until.
    fn all_paths(&self, formula: &Ltl) -> bool {
        let negation = Ltl::not(formula.clone());
        let mut temporal = Vec::new();
        negation.temporal(&mut temporal);
        let guesses = 1usize << temporal.len();
        let nodes = self.states.len() * guesses;
        let value = |node: usize, f: &Ltl| self.value(node / guesses, node % guesses, &temporal, f);
        let edge = |a: usize, b: usize| {
            self.next[a / guesses].contains(&(b / guesses))
                && temporal.iter().enumerate().all(|(at, f)| {
                    let guessed = |node: usize| (node % guesses) >> at & 1 == 1;
                    guessed(a)
                        == match f {
                            Ltl::Next(g) => value(b, g),
                            Ltl::Until(g, h) => value(a, h) || (value(a, g) && guessed(b)),
                            _ => unreachable!("only temporal subformulas are guessed"),
                        }
                })
        };
        let successors: Vec<Vec<usize>> =
            (0..nodes).map(|a| (0..nodes).filter(|&b| edge(a, b)).collect()).collect();
        let reach = |from: &[usize]| {
            let mut seen = vec![false; nodes];
            let mut todo = from.to_vec();
            while let Some(a) = todo.pop() {
                if !std::mem::replace(&mut seen[a], true) {
                    todo.extend(&successors[a]);
                }
            }
            seen
        };
        let kept = |node: usize, f: &Ltl| match f {
            Ltl::Until(_, h) => !value(node, f) || value(node, h),
            _ => true,
        };
        let fair: Vec<bool> = (0..nodes)
            .map(|a| {
                // On a cycle through `a` whose component keeps every until.
                let out = reach(&successors[a]);
                let component: Vec<usize> =
                    (0..nodes).filter(|&b| out[b] && reach(&successors[b])[a]).collect();
                out[a] && temporal.iter().all(|f| component.iter().any(|&b| kept(b, f)))
            })
            .collect();
        let starts: Vec<usize> =
            (0..nodes).filter(|&a| self.initial.contains(&(a / guesses)) && value(a, &negation)).collect();
        let bad = reach(&starts);
        !(0..nodes).any(|a| bad[a] && fair[a])
    }

    fn value(&self, state: usize, guess: usize, temporal: &[Ltl], f: &Ltl) -> bool {
        match f {
            Ltl::True => true,
            Ltl::Inv => self.states[state].0,
            Ltl::Mark => self.states[state].1,
            Ltl::Not(g) => !self.value(state, guess, temporal, g),
            Ltl::And(g, h) => self.value(state, guess, temporal, g) && self.value(state, guess, temporal, h),
            Ltl::Next(_) | Ltl::Until(..) => {
                temporal.iter().position(|t| t == f).is_some_and(|at| guess >> at & 1 == 1)
            }
        }
    }
}
