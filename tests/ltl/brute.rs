//! The search against a textbook construction, on random systems with deadlocks and random formulas with past.
//!
//! `KANON_LTL_CASES` (default 10,000) is how many formulas are compared, `KANON_LTL_SEED` where the random numbers start.

use crate::buechi;
use crate::random::{INSTANCE, INSTANCES, Rng, formula, premise, system};
use kanon::ltl::{Expansion, Explicit, Known, Property, Resolved, StateId, Structure, Unary, check};
use kanon::verdict::{Complete, Verdict, Why};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

/// The verdict as a word, and the length of the counterexample.
fn answer(system: &Explicit, property: &Resolved) -> (bool, usize) {
    let found = check(&mut system.clone(), property, &Default::default()).expect("the formula is small");
    match found.verdict {
        Verdict::Holds(_) => (true, 0),
        Verdict::Fails(lasso) => (false, lasso.states.len()),
        Verdict::Unknown(why) => panic!("{why:?} for {} on {system:?}", property.formula),
    }
}

#[test]
fn formulas_are_answered_as_by_generalised_buechi_automata() {
    let cases = number("KANON_LTL_CASES", 10_000);
    let seed = number("KANON_LTL_SEED", 1);
    let (mut failed, mut letters) = (0, 0);
    for case in 0..cases {
        let mut r = Rng(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let system = system(&mut r);
        let size = 1 + r.below(8);
        let property = Property { premise: None, formula: formula(&mut r, size) };
        let expected = buechi::holds(&system, &property.formula);
        let (found, length) = answer(&system, &property);
        assert_eq!(found, expected, "case {case}: {} on {system:#?}", property.formula);
        failed += u64::from(!found);
        letters += length;
    }
    println!("{cases} formulas, {failed} fail, {letters} states in their counterexamples");
    assert!(failed * 5 > cases && failed * 5 < cases * 4, "both answers occur often");
}

#[test]
fn fairness_is_answered_as_by_trying_all_ways_to_be_fair() {
    let cases = number("KANON_LTL_CASES", 10_000);
    let seed = number("KANON_LTL_SEED", 1);
    let instances: Vec<u32> = (0..INSTANCES as u32).map(|i| INSTANCE + i).collect();
    let mut differ = 0;
    for case in 0..cases {
        let mut r = Rng(seed.wrapping_mul(2_000_003).wrapping_add(case));
        let system = system(&mut r);
        let size = 1 + r.below(3);
        let fair = premise(&mut r, size);
        let size = 1 + r.below(3);
        let part = formula(&mut r, size);
        // What fairness is for: something happens, once or again and again.
        let goal = match r.below(3) {
            0 => part,
            1 => part.unary(Unary::Finally),
            _ => part.unary(Unary::Finally).unary(Unary::Globally),
        };
        let expected = buechi::holds_fairly(&system, &fair, &goal, &instances);
        let unfair = buechi::holds(&system, &goal);
        let text = format!("{fair} => {goal}");
        let (found, _) = answer(&system, &Property { premise: Some(fair), formula: goal });
        assert_eq!(found, expected, "case {case}: {text} on {system:#?}");
        differ += u64::from(found != unfair);
    }
    println!("{cases} premises, {differ} change the answer");
    assert!(differ * 50 > cases, "fairness matters now and then");
}

/// A system of which only a part is told: some states stay open, some steps are kept back.
struct Partial {
    whole: Explicit,
    /// By state: nothing is told, or these steps are not.
    hidden: Vec<(bool, u64)>,
}

impl Structure for Partial {
    fn initial(&mut self, out: &mut Vec<StateId>) -> Option<Complete> {
        self.whole.initial(out)
    }

    fn expand(&mut self, s: StateId, out: &mut Expansion) -> Known {
        let (open, kept_back) = self.hidden[s as usize];
        if open {
            return Known::Nothing;
        }
        let state = &self.whole.states[s as usize];
        out.props = state.props;
        out.unsure = 0;
        for (i, e) in state.edges.iter().enumerate() {
            match kept_back >> i & 1 {
                0 => out.edges.push(*e),
                _ => out.unsure |= e.props,
            }
        }
        if out.edges.len() == state.edges.len() { Known::All } else { Known::Part }
    }
}

#[test]
fn what_is_not_known_makes_an_answer_unknown_and_never_wrong() {
    let cases = number("KANON_LTL_CASES", 10_000);
    let seed = number("KANON_LTL_SEED", 1);
    let mut said = [0u64; 3];
    for case in 0..cases {
        let mut r = Rng(seed.wrapping_mul(3_000_017).wrapping_add(case));
        let whole = system(&mut r);
        let size = 1 + r.below(6);
        let fair = (r.below(3) == 0).then(|| premise(&mut r, 1));
        let property = Property { premise: fair, formula: formula(&mut r, size) };
        let truth = answer(&whole, &property).0;
        let hidden = whole.states.iter().map(|_| match r.below(4) {
            0 => (true, 0),
            1 => (false, r.below(8)),
            _ => (false, 0),
        });
        let mut partial = Partial { hidden: hidden.collect(), whole: whole.clone() };
        let found = check(&mut partial, &property, &Default::default()).expect("the formula is small");
        let text = || format!("case {case}: {} on {whole:#?}, hidden {:?}", property.formula, partial.hidden);
        match found.verdict {
            Verdict::Holds(_) => assert!(truth, "{}", text()),
            Verdict::Fails(_) => assert!(!truth, "{}", text()),
            Verdict::Unknown(Why::Starts) => said[2] += 1,
            Verdict::Unknown(why) => panic!("{why:?}: {}", text()),
        }
        said[usize::from(truth)] += 1;
    }
    println!("{cases} formulas on parts of systems, {} unknown", said[2]);
    assert!(said.iter().all(|n| n * 10 > cases), "{said:?}");
}
