//! Laws of LTL with past on finite and infinite paths, as properties of random systems: both sides get the same answer.
//! And what the search must be able to bear.

use crate::random::{Rng, formula, system};
use kanon::ltl::{
    Binary as B, Edge, Expansion, Explicit, Formula as F, Known, Prop, Property, StateId, Structure,
    Unary as U, check,
};
use kanon::verdict::{Complete, Verdict};

type Law = (&'static str, fn([F<Prop>; 3]) -> (F<Prop>, F<Prop>));

fn n(f: F<Prop>) -> F<Prop> {
    f.not()
}
fn u(op: U, f: &F<Prop>) -> F<Prop> {
    f.clone().unary(op)
}
fn b(op: B, f: &F<Prop>, g: &F<Prop>) -> F<Prop> {
    f.clone().binary(op, g.clone())
}
fn not(f: &F<Prop>) -> F<Prop> {
    f.clone().not()
}

/// Duality, unfolding, distribution, and separations of past from future after Gabbay.
const LAWS: [Law; 30] = [
    ("G p = not F not p", |[p, ..]| (u(U::Globally, &p), n(u(U::Finally, &not(&p))))),
    ("H p = not O not p", |[p, ..]| (u(U::Historically, &p), n(u(U::Once, &not(&p))))),
    ("F p = true U p", |[p, ..]| (u(U::Finally, &p), b(B::Until, &F::True, &p))),
    ("O p = true S p", |[p, ..]| (u(U::Once, &p), b(B::Since, &F::True, &p))),
    ("p R q = not (not p U not q)", |[p, q, _]| (b(B::Release, &p, &q), n(b(B::Until, &not(&p), &not(&q))))),
    ("p T q = not (not p S not q)", |[p, q, _]| (b(B::Trigger, &p, &q), n(b(B::Since, &not(&p), &not(&q))))),
    ("p W q = G p or (p U q)", |[p, q, _]| {
        (b(B::WeakUntil, &p, &q), b(B::Or, &u(U::Globally, &p), &b(B::Until, &p, &q)))
    }),
    ("p W q = q R (p or q)", |[p, q, _]| (b(B::WeakUntil, &p, &q), b(B::Release, &q, &b(B::Or, &p, &q)))),
    ("p U q = q or (p & X (p U q))", |[p, q, _]| {
        let whole = b(B::Until, &p, &q);
        (whole.clone(), b(B::Or, &q, &b(B::And, &p, &u(U::Next, &whole))))
    }),
    ("p S q = q or (p & Y (p S q))", |[p, q, _]| {
        let whole = b(B::Since, &p, &q);
        (whole.clone(), b(B::Or, &q, &b(B::And, &p, &u(U::Yesterday, &whole))))
    }),
    ("not X p = deadlock or X not p", |[p, ..]| {
        (n(u(U::Next, &p)), b(B::Or, &F::Atom(Prop::Deadlock), &u(U::Next, &not(&p))))
    }),
    ("X true = not deadlock", |_| (u(U::Next, &F::True), n(F::Atom(Prop::Deadlock)))),
    ("X (p or q) = X p or X q", |[p, q, _]| {
        (u(U::Next, &b(B::Or, &p, &q)), b(B::Or, &u(U::Next, &p), &u(U::Next, &q)))
    }),
    ("X (p U q) = X p U X q, on steps", |[p, q, _]| {
        (u(U::Next, &b(B::Until, &p, &q)), b(B::Until, &u(U::Next, &p), &u(U::Next, &q)))
    }),
    ("F F p = F p", |[p, ..]| (u(U::Finally, &u(U::Finally, &p)), u(U::Finally, &p))),
    ("G G p = G p", |[p, ..]| (u(U::Globally, &u(U::Globally, &p)), u(U::Globally, &p))),
    ("G (p & q) = G p & G q", |[p, q, _]| {
        (u(U::Globally, &b(B::And, &p, &q)), b(B::And, &u(U::Globally, &p), &u(U::Globally, &q)))
    }),
    ("G F (p or q) = G F p or G F q", |[p, q, _]| {
        let gf = |f: &F<Prop>| u(U::Globally, &u(U::Finally, f));
        (gf(&b(B::Or, &p, &q)), b(B::Or, &gf(&p), &gf(&q)))
    }),
    ("F G p = G F G p", |[p, ..]| {
        let fg = u(U::Finally, &u(U::Globally, &p));
        (fg.clone(), u(U::Globally, &fg))
    }),
    ("p <=> q = (p => q) & (q => p)", |[p, q, _]| {
        (b(B::Iff, &p, &q), b(B::And, &b(B::Implies, &p, &q), &b(B::Implies, &q, &p)))
    }),
    ("at the start Y p is false", |[p, ..]| (u(U::Yesterday, &p), F::False)),
    ("at the start O p = p", |[p, ..]| (u(U::Once, &p), p)),
    ("at the start p S q = q", |[p, q, _]| (b(B::Since, &p, &q), q)),
    ("X Y p = p & not deadlock", |[p, ..]| {
        (u(U::Next, &u(U::Yesterday, &p)), b(B::And, &p, &n(F::Atom(Prop::Deadlock))))
    }),
    ("F O p = F p", |[p, ..]| (u(U::Finally, &u(U::Once, &p)), u(U::Finally, &p))),
    ("G O p = p, at the start", |[p, ..]| (u(U::Globally, &u(U::Once, &p)), p)),
    ("F H p = p", |[p, ..]| (u(U::Finally, &u(U::Historically, &p)), p)),
    ("F (q & O p) = F (p & F q)", |[p, q, _]| {
        let left = u(U::Finally, &b(B::And, &q, &u(U::Once, &p)));
        (left, u(U::Finally, &b(B::And, &p, &u(U::Finally, &q))))
    }),
    ("F (q & H p) = p U (p & q)", |[p, q, _]| {
        (u(U::Finally, &b(B::And, &q, &u(U::Historically, &p))), b(B::Until, &p, &b(B::And, &p, &q)))
    }),
    // Gabbay: a since under an eventually is pulled out.
    ("F (r & (p S q)) = F (q & (r or X (p U (p & r))))", |[p, q, r]| {
        let left = u(U::Finally, &b(B::And, &r, &b(B::Since, &p, &q)));
        let later = u(U::Next, &b(B::Until, &p, &b(B::And, &p, &r)));
        (left, u(U::Finally, &b(B::And, &q, &b(B::Or, &r, &later))))
    }),
];

fn holds(system: &Explicit, f: &F<Prop>) -> bool {
    let property = Property { premise: None, formula: f.clone() };
    match check(&mut system.clone(), &property, &Default::default()).expect("the formula is small").verdict {
        Verdict::Holds(_) => true,
        Verdict::Fails(_) => false,
        Verdict::Unknown(why) => panic!("{f}: {why:?}"),
    }
}

#[test]
fn both_sides_of_a_law_hold_on_the_same_systems() {
    for (number, (name, law)) in LAWS.iter().enumerate() {
        let mut met = [0; 2];
        for case in 0..60 {
            let mut r = Rng((number * 1000 + case) as u64);
            let system = system(&mut r);
            // Laws of the start of a path have parts without past.
            let parts = std::array::from_fn(|_| {
                let size = 1 + r.below(3);
                formula(&mut r, size)
            });
            let (left, right) = law(parts);
            // Also where the path has a past and a future.
            let wrapped = |f: &F<Prop>| u(U::Globally, &u(U::Finally, f));
            let is_of_start = name.contains("start")
                || name.starts_with("F (")
                || name.starts_with("F H")
                || name.starts_with("F O");
            let sides: &[(F<Prop>, F<Prop>)] =
                &[(left.clone(), right.clone()), (wrapped(&left), wrapped(&right))];
            for (l, r) in &sides[..if is_of_start { 1 } else { 2 }] {
                let answer = holds(&system, l);
                met[usize::from(answer)] += 1;
                assert_eq!(answer, holds(&system, r), "{name}: {l} and {r} on {system:#?}");
                assert!(holds(&system, &l.clone().binary(B::Iff, r.clone())), "{name}: {l} <=> {r}");
            }
        }
        assert!(met[0] + met[1] >= 60, "{name}");
    }
}

/// A path of this many states, and then a deadlock or a loop over all of it.
struct Long {
    states: u32,
    closed: bool,
}

impl Structure for Long {
    fn initial(&mut self, out: &mut Vec<StateId>) -> Option<Complete> {
        out.push(0);
        Some(Complete::every_start_was_visited())
    }

    fn expand(&mut self, s: StateId, out: &mut Expansion) -> Known {
        out.props = u64::from(s + 1 == self.states);
        if s + 1 < self.states {
            out.edges.push(Edge::new(s, 0, s + 1));
        } else if self.closed {
            out.edges.push(Edge::new(s, 1, 0));
        }
        Known::All
    }
}

/// A million states with `KANON_LONG=1` (`./test --long`).
#[test]
fn a_long_path_overflows_nothing() {
    let states = if std::env::var_os("KANON_LONG").is_some() { 1_000_000 } else { 100_000 };
    let last = F::Atom(Prop::State(0));
    let cases = [
        (false, u(U::Globally, &u(U::Next, &F::True)), false),
        (true, u(U::Globally, &u(U::Finally, &last)), true),
        (true, u(U::Globally, &b(B::Implies, &last, &u(U::Historically, &not(&last)))), false),
    ];
    for (closed, formula, expected) in cases {
        let text = formula.to_string();
        let property = Property { premise: None, formula };
        // A small stack: whatever grows with the path must be elsewhere.
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let run = move || check(&mut Long { states, closed }, &property, &Default::default());
        let answer =
            small.spawn(run).expect("a thread").join().expect("no overflow").expect("a small formula");
        match (answer.verdict, expected) {
            (Verdict::Holds(_), true) | (Verdict::Fails(_), false) => {}
            (verdict, _) => panic!("{text}: {:?}", verdict.holds()),
        }
        assert!(answer.counts.depth + 1 >= states as usize, "{text}: {} deep", answer.counts.depth);
    }
}

#[test]
fn fairness_on_a_long_loop() {
    let property = Property {
        premise: Some(kanon::ltl::Fairness::Strong(0)),
        formula: u(U::Finally, &u(U::Globally, &F::Atom(Prop::State(0)))),
    };
    let mut long = Long { states: 200_000, closed: true };
    let answer = check(&mut long, &property, &Default::default()).expect("a small formula");
    let Verdict::Fails(lasso) = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert_eq!((lasso.states.len(), lasso.back), (200_000, Some(0)));
}
