//! Random systems: what the engines say against enumeration.

use crate::support::systems::explored;
use crate::support::*;
use kanon_solver::blast::Mistake;
use kanon_solver::bmc::bmc;
use kanon_solver::engine::{Answer, Preserved, Settings, Why, replay};
use kanon_solver::ic3::ic3;
use kanon_solver::kinduction::k_induction;
use kanon_solver::sat::{Options, Sat};
use kanon_solver::sequences::sequences;
use kanon_solver::solver::{Solver, Stop};
use kanon_solver::term::{Bool, Bounds, Int, Terms, Var};
use kanon_solver::transition::{Cell, EventFormula, Property, Transitions};
use num_bigint::BigInt;

type Engine = fn(&mut Terms, &Transitions, &Settings) -> Answer;

fn sat() -> Result<Box<dyn Solver>, String> {
    Ok(Box::new(Sat::new(Stop::never())))
}

/// An engine's answer about a random system, with what is known about its events or without.
fn compare(seed: u64, name: &str, engine: Engine, informed: bool) -> Result<bool, String> {
    let (mut terms, system, explicit) = explored(seed);
    let mut known = Preserved::nothing(&system);
    for (e, row) in explicit.preserved.iter().enumerate() {
        for (p, _) in row.iter().enumerate().filter(|(_, is)| **is) {
            known.set(e, p);
        }
    }
    let mut settings = Settings::new(&sat);
    settings.depth = 40;
    settings.preserved = informed.then_some(&known);
    let answer = engine(&mut terms, &system, &settings);
    let error = |what: &str| Err(format!("{name}, seed {seed}: {what}; {explicit:?}"));
    match (&answer, explicit.shortest) {
        (Answer::Fails(path), Some(shortest)) => {
            if let Err(why) = replay(&terms, &system, path) {
                return error(&why);
            }
            if path.is_shortest && path.steps.len() != shortest || path.steps.len() < shortest {
                return error(&format!("{} steps", path.steps.len()));
            }
            Ok(true)
        }
        (Answer::Holds(_), None) => Ok(true),
        (Answer::Unknown(u), None) if name == "bmc" && u.why == Why::Depth => Ok(true),
        (Answer::Unknown(u), _) if name == "sequences" && matches!(u.why, Why::Depth | Why::TooMany) => {
            Ok(true)
        }
        (Answer::Unknown(u), _) if u.why == Why::Depth => Ok(false),
        _ => error(&format!("{answer:?}")),
    }
}

/// So many sequences as the random systems here need.
fn all_sequences(terms: &mut Terms, system: &Transitions, settings: &Settings) -> Answer {
    sequences(terms, system, settings, 300)
}

/// Those that can only find counterexamples come first.
const ENGINES: [(&str, Engine); 4] =
    [("bmc", bmc), ("sequences", all_sequences), ("k-induction", k_induction), ("ic3", ic3)];

/// Compares one of them on all random systems. Each has a test of its own, so that they run side by side.
fn agrees(at: usize, informed: bool) {
    let (n, (name, engine)) = (cases(150), ENGINES[at]);
    let decided = (0..n).filter(|&seed| compare(seed, name, engine, informed).unwrap()).count() as u64;
    assert!(decided == n, "{name} decided only {decided} of {n}");
}

macro_rules! agreement {
    ($($name:ident $informed_name:ident $at:literal;)*) => {
        $(
            #[test]
            fn $name() {
                agrees($at, false);
            }

            #[test]
            fn $informed_name() {
                agrees($at, true);
            }
        )*
        const _: () = assert!([$($at),*].len() == ENGINES.len(), "an engine without a test");
    };
}

agreement! {
    bmc_agrees_with_enumeration bmc_agrees_when_informed 0;
    sequences_agree_with_enumeration sequences_agree_when_informed 1;
    k_induction_agrees_with_enumeration k_induction_agrees_when_informed 2;
    ic3_agrees_with_enumeration ic3_agrees_when_informed 3;
}

/// The tests above mean something: systems of either kind, paths that are not all short, and events that preserve
/// something but not everything.
#[test]
fn random_systems_are_not_trivial() {
    let (mut fail, mut hold, mut long, mut partly) = (0, 0, 0, 0);
    for seed in 0..150 {
        let (_, _, explicit) = explored(seed);
        match explicit.shortest {
            Some(n) => {
                fail += 1;
                long += usize::from(n >= 2);
            }
            None => {
                hold += 1;
                long += usize::from(explicit.diameter >= 2);
            }
        }
        let all: Vec<bool> = explicit.preserved.iter().flatten().copied().collect();
        partly += usize::from(all.contains(&true) && all.contains(&false));
    }
    assert!(fail > 30 && hold > 30 && long > 20 && partly > 20, "{fail} {hold} {long} {partly}");
}

/// One integer without bounds.
struct Counter {
    terms: Terms,
    x: Int,
    next: Int,
    system: Transitions,
}

impl Counter {
    fn from(first: i64) -> Counter {
        let mut terms = Terms::new();
        let now = terms.int_var("x", Bounds::default());
        let next_var = terms.int_var("x'", Bounds::default());
        let (x, next) = (terms.of_int(now), terms.of_int(next_var));
        let first = terms.constant(first);
        let system = Transitions {
            cells: vec![Cell { now: Var::Int(now), next: Var::Int(next_var) }],
            rigid: vec![],
            axioms: Bool::TRUE,
            axiom_inputs: vec![],
            init: terms.eq(next, first),
            init_inputs: vec![],
            init_undefined: Bool::FALSE,
            events: vec![],
            properties: vec![],
        };
        Counter { terms, x, next, system }
    }

    /// An event with its guard and what it does.
    fn event(
        mut self,
        inputs: &[(&str, Bounds)],
        make: impl Fn(&mut Terms, Int, &[Int]) -> (Bool, Int),
    ) -> Counter {
        let vars: Vec<_> = inputs.iter().map(|(n, b)| self.terms.int_var(*n, b.clone())).collect();
        let ints: Vec<Int> = vars.iter().map(|&v| self.terms.of_int(v)).collect();
        let (guard, value) = make(&mut self.terms, self.x, &ints);
        let change = self.terms.eq(self.next, value);
        self.system.events.push(EventFormula {
            name: "event".into(),
            inputs: vars.into_iter().map(Var::Int).collect(),
            step: self.terms.and([guard, change]),
            is_enabled: None,
            is_undefined: Bool::FALSE,
        });
        self
    }

    fn bad(mut self, make: impl Fn(&mut Terms, Int) -> Bool) -> Counter {
        let is_bad = make(&mut self.terms, self.x);
        self.system.properties.push(Property { name: "property".into(), is_bad, inputs: vec![] });
        self
    }

    fn adds(self, step: i64, below: i64) -> Counter {
        self.event(&[], move |terms, x, _| {
            let (step, below) = (terms.constant(step), terms.constant(below));
            (terms.lt(x, below), terms.add(x, step))
        })
    }

    fn bad_at(self, value: impl Into<BigInt> + Clone) -> Counter {
        self.bad(|terms, x| {
            let value = terms.constant(value.clone());
            terms.eq(x, value)
        })
    }

    fn bad_above(self, value: i64) -> Counter {
        self.bad(|terms, x| {
            let value = terms.constant(value);
            terms.lt(value, x)
        })
    }

    fn ask(mut self, engine: Engine) -> Answer {
        let mut settings = Settings::new(&sat);
        settings.depth = 60;
        engine(&mut self.terms, &self.system, &settings)
    }
}

fn doubling() -> Counter {
    Counter::from(1).event(&[], |terms, x, _| (Bool::TRUE, terms.add(x, x))).bad_at(BigInt::from(2).pow(40))
}

/// Nothing is cut off where a number leaves the width that the solver began with.
#[test]
fn successors_are_never_cut_off() {
    for (name, engine) in ENGINES {
        match doubling().ask(engine) {
            Answer::Fails(path) => assert_eq!(path.steps.len(), 40, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
        // From 120 to 140 by ones: beyond eight bits.
        match Counter::from(120).adds(1, 1000).bad_at(140).ask(engine) {
            Answer::Fails(path) => assert_eq!(path.steps.len(), 20, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    // With a width that cannot hold the number nobody may say that it is never reached.
    let narrow = || {
        let options = Options { limit: 16, ..Options::default() };
        Ok(Box::new(Sat::with(options, Stop::never())) as Box<dyn Solver>)
    };
    for (name, engine) in ENGINES {
        let mut counter = doubling();
        let mut settings = Settings::new(&narrow);
        settings.depth = 60;
        match engine(&mut counter.terms, &counter.system, &settings) {
            Answer::Unknown(u) => assert!(matches!(u.why, Why::Solver(_) | Why::Depth), "{name}: {u:?}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn unbounded_counters_are_proved() {
    for (name, engine) in &ENGINES[2..] {
        // It stops at 10.
        assert!(
            matches!(Counter::from(0).adds(1, 10).bad_above(10).ask(*engine), Answer::Holds(_)),
            "{name}"
        );
        // It never becomes negative: no bound above, and inductive.
        let grows = Counter::from(0).adds(1, i64::MAX).bad(|terms, x| {
            let zero = terms.constant(0);
            terms.lt(x, zero)
        });
        match (grows.ask(*engine), *name) {
            (Answer::Holds(_), _) => {}
            // The proof needs that there is no end to the integers: words have one.
            (Answer::Unknown(_), _) => {}
            (other, name) => panic!("{name}: {other:?}"),
        }
    }
}

/// Fig. 1 of *Proof Assisted Checking*: c grows by up to 64 and must not exceed m, 127 or 255.
#[test]
fn the_paper_s_counter() {
    for (name, engine) in ENGINES {
        let mut counter = Counter::from(0)
            .event(&[("i", Bounds::new(1, 64))], |terms, x, inputs| (Bool::TRUE, terms.add(x, inputs[0])));
        let m = counter.terms.int_var("m", Bounds::default());
        let (terms, x) = (&mut counter.terms, counter.x);
        let int = terms.of_int(m);
        let values = [127, 255].map(|v| terms.constant(v));
        let either = values.map(|v| terms.eq(int, v));
        counter.system.axioms = terms.or(either);
        counter.system.rigid = vec![Var::Int(m)];
        let too_large = terms.lt(int, x);
        match counter.bad(|_, _| too_large).ask(engine) {
            Answer::Fails(path) => {
                assert!(path.steps.len() >= 2);
                assert!(!path.is_shortest || path.steps.len() == 2, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn an_end_is_in_sight() {
    for (name, engine) in ENGINES {
        let stop = Stop::after(std::time::Duration::from_millis(300));
        let inner = stop.clone();
        let make = move || Ok(Box::new(Sat::new(inner.clone())) as Box<dyn Solver>);
        let mut settings = Settings::new(&make);
        settings.stop = stop;
        settings.depth = usize::MAX;
        // It goes on for ever, and what is bad needs a reason that words do not have.
        let mut counter = Counter::from(0).adds(2, i64::MAX).bad_at(10_000_001);
        let begin = std::time::Instant::now();
        match engine(&mut counter.terms, &counter.system, &settings) {
            Answer::Unknown(_) => {}
            other => panic!("{name}: {other:?}"),
        }
        assert!(begin.elapsed().as_secs() < 10, "{name}");
    }
}

/// Mistakes of the encoding are seen in systems too; and with another back end that does not make them, no proof is
/// wrong.
#[test]
fn planted_mistakes_are_found_in_systems() {
    for mistake in [Mistake::SwapsIte, Mistake::ForgetsSign, Mistake::CountsOneMore, Mistake::DividesUnsigned]
    {
        let options = Options { mistake: Some(mistake), ..Options::default() };
        let broken = || Ok(Box::new(Sat::with(options, Stop::never())) as Box<dyn Solver>);
        let mut is_found = false;
        for seed in 0..cases(150) {
            let (mut terms, system, explicit) = explored(seed);
            let mut settings = Settings::new(&broken);
            settings.depth = 10;
            settings.other = Some(&sat);
            let answer = ic3(&mut terms, &system, &settings);
            match (&answer, explicit.shortest) {
                (Answer::Holds(_), Some(n)) => panic!("{mistake:?}, seed {seed}: bad after {n} steps"),
                (Answer::Fails(path), shortest) => {
                    assert!(replay(&terms, &system, path).is_ok() && shortest.is_some());
                }
                (Answer::Unknown(u), _) => is_found |= matches!(u.why, Why::Internal(_)),
                _ => {}
            }
        }
        // The others need terms that are rare in these systems.
        assert!(is_found || mistake != Mistake::ForgetsSign, "nobody noticed {mistake:?}");
    }
}
