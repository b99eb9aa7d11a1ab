//! What has to be refuted so that a claim is proved: the questions of an argument, in their order. None of them may have a
//! model.
//!
//! A state is *bad* if a property of the system is bad in it or an event has no value; *good*, if it is not bad in any
//! way that needs no inputs to be said. In every argument: PROPERTIES have a value for all constants, INITIALISATION has
//! one for all that fulfil them.
//!
//! - **Invariant** L: no initial state is bad or outside L; no event leads from a good state in L to one that is bad or
//!   outside L. So by induction every reachable state is in L and not bad.
//! - **Induction** with k: no path of 0 to k steps from an initial state ends in a bad state; and k + 1 good states in a
//!   row, no two of them the same, are not followed by a bad one. A shortest path to a bad state has no state twice, so
//!   it would be one of these two.
//! - **End** with n: no path of 0 to n − 1 steps ends in a bad state, and there is none of n steps.

use crate::lemma::Over;
use kanon_checker::codec::Bytes;
use kanon_checker::statement::Argument;
use kanon_solver::term::{Bool, Terms};
use kanon_solver::transition::Transitions;
use kanon_solver::unroll::Unrolling;
use kanon_symbolic::symbolic::machine::Encoded;

/// What must not have a model.
#[derive(Clone, Debug)]
pub struct Question {
    pub name: String,
    pub claims: Vec<Bool>,
}

/// k of an induction, or the length of paths, at most.
const MAX_DEPTH: u64 = 10_000;

/// The questions of an argument about a machine. The lemmas are those of [`crate::lemma`], one after the other.
///
/// # Errors
/// Why there is no such argument.
pub fn questions(
    encoded: &mut Encoded,
    argument: &Argument,
    lemmas: &[Vec<u8>],
) -> Result<Vec<Question>, &'static str> {
    let Some(undefined) = encoded.undefined_properties else {
        return Err("PROPERTIES bound a constant by what may have no value");
    };
    let (system, terms) = (encoded.transitions.clone(), &mut encoded.encoder.terms);
    let mut all = vec![
        Question { name: "PROPERTIES have a value".into(), claims: vec![undefined] },
        Question {
            name: "INITIALISATION has a value".into(),
            claims: vec![system.axioms, system.init_undefined],
        },
    ];
    let depth = |n: u64| (n <= MAX_DEPTH).then_some(n as usize).ok_or("it is too deep");
    if !lemmas.is_empty() && *argument != Argument::Invariant {
        return Err("only an invariant has lemmas");
    }
    match argument {
        Argument::Invariant => invariant(terms, &system, lemmas, &mut all)?,
        Argument::Induction(k) => {
            let k = depth(*k)?;
            paths(terms, &system, k + 1, &mut all);
            induction(terms, &system, k, &mut all);
        }
        Argument::End(n) => {
            let n = depth(*n)?;
            let claims = paths(terms, &system, n, &mut all);
            all.push(Question { name: format!("no path has {n} steps"), claims });
        }
    }
    Ok(all)
}

fn bad(terms: &mut Terms, system: &Transitions, along: &mut Unrolling, time: usize) -> Bool {
    let mut ways: Vec<Bool> = (0..system.properties.len()).map(|p| along.is_bad(terms, time, p)).collect();
    ways.push(along.is_undefined(terms, time));
    terms.or(ways)
}

fn invariant(
    terms: &mut Terms,
    system: &Transitions,
    lemmas: &[Vec<u8>],
    all: &mut Vec<Question>,
) -> Result<(), &'static str> {
    let mut along = Unrolling::new(system);
    let mut inside = vec![];
    for time in 0..2 {
        let state = along.state(terms, time).to_vec();
        let over = Over { state: &state, rigid: &system.rigid };
        let mut parts = vec![];
        for lemma in lemmas {
            let mut bytes = Bytes::new(lemma);
            let read = over.take(&mut bytes, terms).filter(|_| bytes.is_empty());
            parts.push(read.ok_or("a lemma is not written as one")?);
        }
        inside.push(terms.and(parts));
    }
    let init = along.init(terms);
    let [bad_now, bad_then] = [0, 1].map(|time| bad(terms, system, &mut along, time));
    let broken = terms.or([bad_now, !inside[0]]);
    let claims = vec![system.axioms, init, broken];
    all.push(Question { name: "initial states are in the invariant".into(), claims });
    let good = along.is_good(terms, 0);
    let broken = terms.or([bad_then, !inside[1]]);
    for (e, event) in system.events.iter().enumerate() {
        let step = along.step(terms, 0, e);
        let claims = vec![system.axioms, inside[0], good, step, broken];
        all.push(Question { name: format!("{} preserves the invariant", event.name), claims });
    }
    Ok(())
}

/// No path of fewer than so many steps ends in a bad state. What is true of all paths of so many steps.
fn paths(terms: &mut Terms, system: &Transitions, length: usize, all: &mut Vec<Question>) -> Vec<Bool> {
    let mut along = Unrolling::new(system);
    let mut known = vec![system.axioms, along.init(terms)];
    for time in 0..length {
        let mut claims = known.clone();
        claims.push(bad(terms, system, &mut along, time));
        all.push(Question { name: format!("no path of {time} steps ends in a bad state"), claims });
        known.push(along.is_good(terms, time));
        known.push(along.any_step(terms, time));
    }
    known
}

fn induction(terms: &mut Terms, system: &Transitions, k: usize, all: &mut Vec<Question>) {
    let mut along = Unrolling::new(system);
    let mut known = vec![system.axioms];
    for time in 0..=k {
        if time > 0 {
            known.push(along.any_step(terms, time - 1));
        }
        known.push(along.is_good(terms, time));
        for before in 0..time {
            known.push(along.differ(terms, before, time));
        }
    }
    let broken = bad(terms, system, &mut along, k + 1);
    for (e, event) in system.events.iter().enumerate() {
        let mut claims = known.clone();
        claims.push(along.step(terms, k, e));
        claims.push(broken);
        let name = format!("after {} good states {} leads to no bad one", k + 1, event.name);
        all.push(Question { name, claims });
    }
}
