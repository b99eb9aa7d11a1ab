//! k-induction: no path of k steps from an initial state is bad, and k + 1 good states in a row are never followed by a
//! bad one. Algorithm 1 and formulas (6) and (7) of *Proof Assisted Checking*, the last step event by
//! event. States of a path differ in some cell, all cells compared: a shortest path to a bad state has no state twice,
//! so nothing is lost.

use crate::bmc::{Depth, Paths, check_proof, confirm_end};
use crate::engine::{Answer, Asked, Settings, Why, answered, ask};
use crate::solver::Solver;
use crate::term::{Bool, Terms};
use crate::transition::Transitions;
use crate::unroll::{Unrolling, good};

/// Paths of good states, none twice, from anywhere.
struct Steps<'a> {
    unrolling: Unrolling<'a>,
    solver: Box<dyn Solver>,
    /// States so far.
    length: usize,
}

impl<'a> Steps<'a> {
    fn new(terms: &Terms, system: &'a Transitions, mut solver: Box<dyn Solver>) -> Steps<'a> {
        solver.assert(terms, system.axioms);
        Steps { unrolling: Unrolling::new(system), solver, length: 0 }
    }

    /// One more state.
    fn extend(&mut self, terms: &mut Terms) {
        let time = self.length;
        if time > 0 {
            let step = self.unrolling.any_step(terms, time - 1);
            self.solver.assert(terms, step);
        }
        let good = self.unrolling.is_good(terms, time);
        self.solver.assert(terms, good);
        for before in 0..time {
            let differ = self.unrolling.differ(terms, before, time);
            self.solver.assert(terms, differ);
        }
        self.length += 1;
    }

    /// No event leads from the last state to a bad one.
    fn is_inductive(&mut self, terms: &mut Terms, settings: &Settings) -> Result<bool, Why> {
        let (time, system) = (self.length, self.unrolling.system);
        let undefined = self.unrolling.is_undefined(terms, time);
        for e in 0..system.events.len() {
            let open: Vec<usize> =
                (0..system.properties.len()).filter(|&p| !settings.is_preserved(e, p)).collect();
            let mut bad: Vec<Bool> =
                open.into_iter().map(|p| self.unrolling.is_bad(terms, time, p)).collect();
            bad.push(undefined);
            let (step, bad) = (self.unrolling.step(terms, time - 1, e), terms.or(bad));
            if bad == Bool::FALSE {
                continue;
            }
            if let Asked::Sat(_) = ask(&mut *self.solver, terms, &[step, bad])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The whole argument for one k.
fn confirm(
    terms: &mut Terms,
    system: &Transitions,
    settings: &Settings,
    make: &mut dyn FnMut() -> Result<Box<dyn Solver>, Why>,
    k: usize,
) -> Result<bool, Why> {
    let mut paths = Paths::new(system, make()?);
    for _ in 0..=k {
        match paths.next(terms, settings)? {
            Depth::Clean => {}
            Depth::Ended => return Ok(true),
            Depth::Fails(_) => return Err(Why::Internal("two solvers do not agree".into())),
        }
    }
    let mut steps = Steps::new(terms, system, make()?);
    for _ in 0..=k {
        steps.extend(terms);
    }
    steps.is_inductive(terms, settings)
}

/// A proof by induction over the length of paths, or a shortest counterexample.
pub fn k_induction(terms: &mut Terms, system: &Transitions, settings: &Settings) -> Answer {
    answered(|depth| search(terms, system, settings, depth))
}

fn search(
    terms: &mut Terms,
    system: &Transitions,
    settings: &Settings,
    depth: &mut usize,
) -> Result<Answer, Why> {
    let mut paths = Paths::new(system, settings.solver()?);
    let mut steps = Steps::new(terms, system, settings.solver()?);
    // Why the last step had no answer: the next one may have one, and there may be counterexamples.
    let mut no_step = None;
    for k in 0..=settings.depth {
        let is_ended = match paths.next(terms, settings)? {
            Depth::Fails(path) => return Ok(Answer::Fails(*path)),
            Depth::Clean => false,
            Depth::Ended => true,
        };
        *depth = k;
        let is_proved = is_ended || {
            steps.extend(terms);
            no_step = None;
            steps.is_inductive(terms, settings).unwrap_or_else(|why| {
                no_step = Some(why);
                false
            })
        };
        if is_proved {
            let checkers: Vec<_> = settings.checkers().collect();
            let mut n = 0;
            let checked = check_proof(settings, |solver| {
                // Two fresh solvers of a kind: one for paths, one for steps.
                let make = checkers[n];
                n += 1;
                if is_ended {
                    return confirm_end(terms, system, settings, solver, k);
                }
                let mut solver = Some(solver);
                let mut next = || match solver.take() {
                    Some(solver) => Ok(solver),
                    None => make().map_err(Why::NoSolver),
                };
                confirm(terms, system, settings, &mut next, k)
            })?;
            let has_inputs = system.properties.iter().any(|p| !p.inputs.is_empty())
                || system.events.iter().any(|e| !e.inputs.is_empty() && e.is_undefined != Bool::FALSE);
            let invariant = (k == 0 && !is_ended && !has_inputs).then(|| vec![good(terms, system)]);
            return Ok(Answer::Holds(checked.proof(invariant, k, settings)));
        }
        settings.tell(k);
        if let Some(why) = no_step.take_if(|why| !matches!(why, Why::Solver(_)) || settings.stop.is_over()) {
            return Err(why);
        }
    }
    Err(no_step.unwrap_or(Why::Depth))
}
