//! BMC*: the tree of feasible sequences of events, level by level, each asked for something bad at its end. Queries are
//! about one event per step, so they are easier than those of `bmc` about any; there are more of them.
//! After the paper's section 2.1 (*Proof Assisted Checking*), with its static analysis: an event that can
//! never follow another one is not tried after it.
//!
//! If no sequence of some length is feasible, all paths have been looked at, and it is a proof.

use crate::bmc::{check_proof, confirm_end, undefined_start};
use crate::engine::{Answer, Asked, Settings, Why, answered, ask};
use crate::solver::{NoAnswer, Outcome, Solver};
use crate::term::{Bool, Terms};
use crate::transition::Transitions;
use crate::unroll::Unrolling;

/// Whether one event can follow another, asked when it is needed.
struct Followers<'a> {
    unrolling: Unrolling<'a>,
    solver: Box<dyn Solver>,
    known: Vec<Vec<Option<bool>>>,
}

impl<'a> Followers<'a> {
    fn new(terms: &mut Terms, system: &'a Transitions, mut solver: Box<dyn Solver>) -> Followers<'a> {
        let mut unrolling = Unrolling::new(system);
        solver.assert(terms, system.axioms);
        for time in 0..2 {
            // Of the states before a step: a bad one ends the search.
            let good = unrolling.is_good(terms, time);
            solver.assert(terms, good);
        }
        let events = system.events.len();
        Followers { unrolling, solver, known: vec![vec![None; events]; events] }
    }

    /// False only if it cannot.
    fn can_follow(&mut self, terms: &mut Terms, first: usize, second: usize) -> bool {
        if let Some(known) = self.known[first][second] {
            return known;
        }
        let steps = [self.unrolling.step(terms, 0, first), self.unrolling.step(terms, 1, second)];
        let can = !matches!(self.solver.check(terms, &steps), Outcome::Unsat(_));
        self.known[first][second] = Some(can);
        can
    }
}

/// Looks at sequences of events, not more than `most`, shortest first.
pub fn sequences(terms: &mut Terms, system: &Transitions, settings: &Settings, most: usize) -> Answer {
    answered(|depth| search(terms, system, settings, most, depth))
}

fn search(
    terms: &mut Terms,
    system: &Transitions,
    settings: &Settings,
    most: usize,
    depth: &mut usize,
) -> Result<Answer, Why> {
    let mut solver = settings.solver()?;
    let mut followers = Followers::new(terms, system, settings.solver()?);
    let mut unrolling = Unrolling::new(system);
    solver.assert(terms, system.axioms);
    if let Asked::Sat(model) = ask(&mut *solver, terms, &[system.init_undefined])? {
        return Ok(Answer::Fails(undefined_start(terms, system, &model)?));
    }
    let init = unrolling.init(terms);
    solver.assert(terms, init);
    let mut level: Vec<Vec<usize>> = vec![];
    let mut seen = 0usize;
    for length in 0..=settings.depth {
        let candidates: Vec<Vec<usize>> = if length == 0 {
            vec![vec![]]
        } else {
            let mut longer = vec![];
            for path in &level {
                for e in 0..system.events.len() {
                    let can = path.last().is_none_or(|&last| followers.can_follow(terms, last, e));
                    if can {
                        longer.push(path.iter().copied().chain([e]).collect());
                    }
                }
            }
            longer
        };
        level.clear();
        for path in candidates {
            if settings.stop.is_over() {
                return Err(NoAnswer::Stopped.into());
            }
            seen += 1;
            if seen > most {
                return Err(Why::TooMany);
            }
            let mut assumed: Vec<Bool> =
                path.iter().enumerate().map(|(time, &e)| unrolling.step(terms, time, e)).collect();
            if let Asked::Unsat(_) = ask(&mut *solver, terms, &assumed)? {
                continue;
            }
            // What the last event preserves cannot be bad: no shorter path is.
            let last = path.last().copied();
            let open: Vec<usize> = (0..system.properties.len())
                .filter(|&p| !last.is_some_and(|e| settings.is_preserved(e, p)))
                .collect();
            let mut bad: Vec<Bool> = open.into_iter().map(|p| unrolling.is_bad(terms, length, p)).collect();
            bad.push(unrolling.is_undefined(terms, length));
            let bad = terms.or(bad);
            if bad != Bool::FALSE {
                assumed.push(bad);
                if let Asked::Sat(model) = ask(&mut *solver, terms, &assumed)? {
                    let path = unrolling.path(terms, &model, length, true).map_err(Why::Internal)?;
                    return Ok(Answer::Fails(path));
                }
            }
            level.push(path);
        }
        if level.is_empty() {
            let checked =
                check_proof(settings, |solver| confirm_end(terms, system, settings, solver, length))?;
            return Ok(Answer::Holds(checked.proof(None, length, settings)));
        }
        *depth = length;
        settings.tell(length);
    }
    Err(Why::Depth)
}
