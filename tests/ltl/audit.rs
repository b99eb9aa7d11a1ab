//! The audit of the search for paths: silent where the search is right, and no wrong Holds gets past it.

use crate::random::{Rng, formula, premise, system};
use kanon::ltl::{Mistake, Options, Property, check};
use kanon::verdict::{Verdict, Why};

#[test]
fn no_wrong_holds_gets_past_the_audit() {
    let (mut caught, mut fooled, mut silent) = ([0u32; 3], 0, 0);
    for case in 0..6_000u64 {
        let mut r = Rng(case.wrapping_mul(7_000_003) + 11);
        let whole = system(&mut r);
        let size = 1 + r.below(6);
        let fair = (r.below(3) == 0).then(|| premise(&mut r, 1));
        let property = Property { premise: fair, formula: formula(&mut r, size) };
        let ask = |audit, mistake| {
            let options = Options { audit, mistake, ..Options::default() };
            check(&mut whole.clone(), &property, &options).expect("the formula is small")
        };
        let right = ask(true, None);
        assert!(!matches!(right.verdict, Verdict::Unknown(_)), "case {case}: {:?}", right.verdict);
        assert_eq!(right.audited.is_some(), right.verdict.holds());
        silent += u32::from(right.verdict.holds());
        let n = 1 + r.below(6);
        let mistakes = [Mistake::LosesStep(n), Mistake::LosesNode(n), Mistake::Silent];
        for (i, mistake) in mistakes.into_iter().enumerate() {
            let alone = ask(false, Some(mistake)).verdict;
            let audited = ask(true, Some(mistake)).verdict;
            fooled += u32::from(alone.holds() && right.verdict.fails());
            assert!(!audited.holds() || right.verdict.holds(), "case {case}: {mistake:?} was not caught");
            caught[i] += u32::from(matches!(audited, Verdict::Unknown(Why::Audit(_))));
        }
    }
    println!("{silent} silent, {caught:?} caught, {fooled} wrong answers without an audit");
    assert!(
        silent > 1_000 && fooled > 500 && caught.iter().all(|n| *n > 100),
        "{silent} {caught:?} {fooled}"
    );
}
