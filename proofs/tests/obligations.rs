//! The readings that execute, on every obligation.

use kanon_proofs::obligations::{self, Obligation, plain, reduced, refining, stored};
use kanon_proofs::search::Count;
use kanon_proofs::solve;
use proptest::test_runner::{Config, TestRunner};

/// All systems of up to three states; the counts are printed with `--nocapture`.
fn enumerate(table: &[Obligation]) {
    for o in table {
        let mut cases = 0;
        let counts = [
            obligations::enumerate(o.function, 1, None),
            obligations::enumerate(o.function, 2, None),
            // Labels and histories multiply, and so do functions of which nothing is assumed: `kanon-proofs exhaustive
            // 3` takes its time for them.
            if o.id.contains("path/") || o.id.starts_with("wmc_rmc2/ORB-") {
                Count::default()
            } else {
                obligations::enumerate(o.function, 3, None)
            },
        ];
        for (n, count) in (1..).zip(counts) {
            println!("{:28} {n} states: {:8} runs {:8} cases", o.id, count.runs, count.cases);
            assert_eq!(count.refuted, None, "{} with {n} states", o.id);
            cases += count.cases;
        }
        assert!(cases > 0, "{} is vacuous", o.id);
    }
}

#[test]
fn plain_exhaustive() {
    enumerate(plain::TABLE);
}

#[test]
fn reduced_exhaustive() {
    enumerate(reduced::TABLE);
}

#[test]
fn stored_exhaustive() {
    enumerate(stored::TABLE);
}

#[test]
fn refining_exhaustive() {
    enumerate(refining::TABLE);
}

/// Up to 64 states, by proptest: a failing tape shrinks.
#[test]
fn random_proptest() {
    use proptest::prelude::*;
    let mut reached = vec![0u32; obligations::all().count()];
    for (at, o) in obligations::all().enumerate() {
        let cases = std::cell::Cell::new(0);
        let size = prop_oneof![5 => 2usize..=12, 1 => 33usize..=64];
        let tapes = (size, prop::collection::vec(any::<u64>(), 1..200));
        // Another round for what was not reached: some guards are rarely true of a random system.
        for _ in 0..40 {
            let mut runner =
                TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
            let result = runner.run(&tapes, |(n, tape)| {
                let seen = obligations::try_once(o.function, n, &tape);
                cases.set(cases.get() + u32::from(seen.case));
                prop_assert_eq!(seen.refuted, None);
                Ok(())
            });
            assert!(result.is_ok(), "{}: {result:?}", o.id);
            if cases.get() > 0 {
                break;
            }
        }
        reached[at] = cases.get();
    }
    let vacuous = reached.iter().filter(|&&n| n == 0).count();
    println!("{vacuous} of {} obligations were never reached", reached.len());
    assert!(vacuous * 10 < reached.len(), "{vacuous} of {} obligations were never reached", reached.len());
}

/// Up to 24 states, by quickcheck.
#[test]
fn random_quickcheck() {
    for o in obligations::all() {
        let function = o.function;
        let mut check = quickcheck::QuickCheck::new().tests(8);
        check.quicktest(Property(function)).unwrap_or_else(|failure| panic!("{}: {failure:?}", o.id));
    }
}

/// An obligation as a property of a tape.
struct Property(&'static str);

impl quickcheck::Testable for Property {
    fn result(&self, g: &mut quickcheck::Gen) -> quickcheck::TestResult {
        let function = self.0;
        // A plain function, so that quickcheck shrinks the tape for us.
        let words: Vec<u64> = quickcheck::Arbitrary::arbitrary(g);
        let fails = |tape: &[u64]| {
            let n = 2 + tape.first().map_or(0, |w| (w % 23) as usize);
            obligations::try_once(function, n, tape).refuted
        };
        match fails(&words) {
            None => quickcheck::TestResult::passed(),
            Some(_) => {
                let mut small = words;
                while let Some(less) = quickcheck::Arbitrary::shrink(&small).find(|t| fails(t).is_some()) {
                    small = less;
                }
                quickcheck::TestResult::error(format!("{:?} by the tape {small:?}", fails(&small)))
            }
        }
    }
}

/// Every obligation prints claims, and prints the same twice.
#[test]
fn scripts_are_printed() {
    for o in obligations::all() {
        let script = solve::script(o);
        assert!(script.claims() > 0, "{} claims nothing", o.id);
        let text = script.text(o.id);
        assert_eq!(text, solve::script(o).text(o.id));
        let open = text.matches('(').count();
        assert_eq!(open, text.matches(')').count(), "{}", o.id);
    }
}
