//! Bounded model checking: is there a path of this length to a bad state? Length by length, so that the first one that
//! is found is a shortest one. With what is known about events (`engine::Preserved`) the last step is taken apart by
//! event: formula (4) of *Proof Assisted Checking*.
//!
//! It proves something only where paths end: if there is none of some length, all have been looked at.

use crate::engine::{Answer, Asked, Bad, Counterexample, Proof, Settings, Why, answered, ask, copy, replay};
use crate::solver::Solver;
use crate::term::{Assignment, Bool, Terms};
use crate::transition::Transitions;
use crate::unroll::Unrolling;

/// What is known about the paths of one length.
pub(crate) enum Depth {
    Fails(Box<Counterexample>),
    /// None of them is bad.
    Clean,
    /// There are none.
    Ended,
}

/// The paths from initial states, one length after the other.
pub(crate) struct Paths<'a> {
    unrolling: Unrolling<'a>,
    solver: Box<dyn Solver>,
    /// The next length.
    length: usize,
}

impl<'a> Paths<'a> {
    pub fn new(system: &'a Transitions, solver: Box<dyn Solver>) -> Paths<'a> {
        Paths { unrolling: Unrolling::new(system), solver, length: 0 }
    }

    /// Looks at the paths of the next length.
    pub fn next(&mut self, terms: &mut Terms, settings: &Settings) -> Result<Depth, Why> {
        let system = self.unrolling.system;
        if self.length == 0 {
            self.solver.assert(terms, system.axioms);
            if let Asked::Sat(model) = ask(&mut *self.solver, terms, &[system.init_undefined])? {
                return undefined_start(terms, system, &model).map(|path| Depth::Fails(path.into()));
            }
            let init = self.unrolling.init(terms);
            self.solver.assert(terms, init);
        } else {
            let step = self.unrolling.any_step(terms, self.length - 1);
            self.solver.assert(terms, step);
        }
        let bad = self.bad(terms, settings);
        let depth = match ask(&mut *self.solver, terms, &[bad])? {
            Asked::Sat(model) => {
                let path = self.unrolling.path(terms, &model, self.length, true).map_err(Why::Internal)?;
                Depth::Fails(path.into())
            }
            // Impossible even without anything bad: there is no such path. Where nothing can be bad, that has to be
            // asked.
            Asked::Unsat(core) if core.is_empty() => Depth::Ended,
            Asked::Unsat(_) if bad == Bool::FALSE => match ask(&mut *self.solver, terms, &[])? {
                Asked::Sat(_) => Depth::Clean,
                Asked::Unsat(_) => Depth::Ended,
            },
            Asked::Unsat(_) => Depth::Clean,
        };
        if matches!(depth, Depth::Clean) {
            let good = self.unrolling.is_good(terms, self.length);
            self.solver.assert(terms, good);
        }
        self.length += 1;
        Ok(depth)
    }

    /// The last state is bad. What the last event is known to preserve is left out: no state before is bad.
    fn bad(&mut self, terms: &mut Terms, settings: &Settings) -> Bool {
        let (time, system) = (self.length, self.unrolling.system);
        let properties = 0..system.properties.len();
        let mut all = vec![self.unrolling.is_undefined(terms, time)];
        if time == 0 || settings.preserved.is_none() {
            all.extend(properties.map(|p| self.unrolling.is_bad(terms, time, p)));
            return terms.or(all);
        }
        for e in 0..system.events.len() {
            let open: Vec<usize> = properties.clone().filter(|&p| !settings.is_preserved(e, p)).collect();
            let open: Vec<Bool> = open.into_iter().map(|p| self.unrolling.is_bad(terms, time, p)).collect();
            let (step, open) = (self.unrolling.step(terms, time - 1, e), terms.or(open));
            all.push(terms.and([step, open]));
        }
        terms.or(all)
    }
}

pub(crate) fn undefined_start(
    terms: &Terms,
    system: &Transitions,
    model: &Assignment,
) -> Result<Counterexample, Why> {
    let mut first = Assignment::default();
    for vars in [&system.rigid, &system.axiom_inputs, &system.init_inputs] {
        copy(terms, model, vars, &mut first);
    }
    let path = Counterexample {
        first,
        steps: vec![],
        why: Bad::Initialisation,
        inputs: Assignment::default(),
        is_shortest: true,
    };
    replay(terms, system, &path).map_err(Why::Internal)?;
    Ok(path)
}

/// Whether no path of this length is there, and no shorter one is bad, in the eyes of a fresh solver.
pub(crate) fn confirm_end(
    terms: &mut Terms,
    system: &Transitions,
    settings: &Settings,
    solver: Box<dyn Solver>,
    length: usize,
) -> Result<bool, Why> {
    let mut paths = Paths::new(system, solver);
    for _ in 0..=length {
        match paths.next(terms, settings)? {
            Depth::Clean => {}
            Depth::Ended => return Ok(true),
            Depth::Fails(_) => return Err(Why::Internal("two solvers do not agree".into())),
        }
    }
    // A core may have more in it than is needed, so the question has to be asked.
    Ok(matches!(ask(&mut *paths.solver, terms, &[])?, Asked::Unsat(_)))
}

/// Shortest counterexamples first.
pub fn bmc(terms: &mut Terms, system: &Transitions, settings: &Settings) -> Answer {
    answered(|depth| search(terms, system, settings, depth))
}

fn search(
    terms: &mut Terms,
    system: &Transitions,
    settings: &Settings,
    depth: &mut usize,
) -> Result<Answer, Why> {
    let mut paths = Paths::new(system, settings.solver()?);
    for length in 0..=settings.depth {
        match paths.next(terms, settings)? {
            Depth::Fails(path) => return Ok(Answer::Fails(*path)),
            Depth::Ended => {
                let checked =
                    check_proof(settings, |solver| confirm_end(terms, system, settings, solver, length))?;
                return Ok(Answer::Holds(checked.proof(None, length, settings)));
            }
            Depth::Clean => {
                *depth = length;
                settings.tell(length);
            }
        }
    }
    Err(Why::Depth)
}

/// Who agrees with a proof.
pub(crate) struct Checked {
    names: Vec<String>,
    is_unbounded: bool,
}

impl Checked {
    pub fn proof(self, invariant: Option<Vec<Bool>>, depth: usize, settings: &Settings) -> Proof {
        Proof {
            invariant,
            depth,
            is_seen_unbounded: self.is_unbounded,
            rests_on_preserved: settings.preserved.is_some(),
            checked_by: self.names,
        }
    }
}

/// Has a proof checked by a fresh solver, which must agree, and by the other back end, which must not disagree. The
/// check answers whether the proof is one.
pub(crate) fn check_proof(
    settings: &Settings,
    mut check: impl FnMut(Box<dyn Solver>) -> Result<bool, Why>,
) -> Result<Checked, Why> {
    let mut checked = Checked { names: vec![], is_unbounded: false };
    for (n, make) in settings.checkers().enumerate() {
        let solver = match make() {
            Ok(solver) => solver,
            Err(why) if n == 0 => return Err(Why::NoSolver(why)),
            Err(_) => continue,
        };
        let (name, is_unbounded) = (solver.name().to_string(), solver.is_unbounded());
        match check(solver) {
            Ok(true) => {
                checked.names.push(name);
                checked.is_unbounded |= is_unbounded;
            }
            Ok(false) => return Err(Why::Internal(format!("{name} does not accept the proof"))),
            // The other one may have no opinion, but a contradiction is one.
            Err(why @ Why::Internal(_)) => return Err(why),
            Err(why) if n == 0 => return Err(why),
            Err(_) => {}
        }
    }
    Ok(checked)
}
