//! Questions as clauses, without assumptions, and why they have no model: steps that anybody can follow.
//!
//! [`Clausal::of`] makes the clauses of claims at a width, with every overflow allowed: if they have no model, the claims
//! have none, whatever the integers are (`blast`). It depends on nothing but the terms and the width, so whoever has the
//! terms can make the same clauses again. [`refute`] has CaDiCaL derive the empty clause, and keeps of what it did the
//! steps that were needed.
//! Absent on purpose: checking the steps. That is somebody else's business.

use crate::blast::{Blaster, Width};
use crate::gates::{Clauses, Lit, Tseitin};
use crate::solver::{NoAnswer, Stop};
use crate::term::{Bool, Terms};

/// Clauses, one after the other. Wire 0 is in none of them.
#[derive(Clone, Debug, Default)]
pub struct Clausal {
    wires: u32,
    literals: Vec<Lit>,
    /// Where each clause ends.
    ends: Vec<usize>,
}

impl Clausal {
    /// The clauses that say that these claims are true together. None if there is no time.
    pub fn of(terms: &Terms, claims: &[Bool], width: Width, stop: &Stop) -> Option<Clausal> {
        let empty = Clausal { wires: 1, ..Clausal::default() };
        let mut blaster = Blaster::new(Tseitin(empty), width, None);
        for &claim in claims {
            let (lit, _) = blaster.bool(terms, claim, stop)?;
            blaster.circuit.require(lit);
        }
        Some(blaster.circuit.sink.0)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// So many wires, with the one that is in no clause.
    pub fn wires(&self) -> u32 {
        self.wires
    }

    pub fn iter(&self) -> impl Iterator<Item = &[Lit]> + '_ {
        let mut begin = 0;
        self.ends.iter().map(move |&end| {
            let clause = &self.literals[begin..end];
            begin = end;
            clause
        })
    }
}

impl Clauses for Clausal {
    fn wire(&mut self) -> u32 {
        self.wires += 1;
        self.wires - 1
    }

    fn clause(&mut self, parts: &[Lit]) {
        self.literals.extend(parts);
        self.ends.push(self.literals.len());
    }
}

/// A clause that follows, and from which: if all its literals are false, each of `from` leaves one literal that has to be
/// true, in this order, and the last one leaves none. Clauses have numbers from 0, steps go on counting after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub clause: Vec<Lit>,
    pub from: Vec<u32>,
}

/// The steps to the empty clause; none if there is a model.
///
/// # Errors
/// Why there is no answer.
pub fn refute(clauses: &Clausal, stop: &Stop) -> Result<Option<Vec<Step>>, NoAnswer> {
    if clauses.iter().any(<[Lit]>::is_empty) {
        return Ok(Some(vec![]));
    }
    here::refute(clauses, stop)
}

/// The steps that the last one needs, counted anew.
#[cfg_attr(not(feature = "cadical"), allow(dead_code))]
fn needed(steps: Vec<Step>, clauses: u32) -> Vec<Step> {
    let mut is_needed = vec![false; steps.len()];
    if let Some(last) = is_needed.last_mut() {
        *last = true;
    }
    for at in (0..steps.len()).rev() {
        if is_needed[at] {
            for from in steps[at].from.iter().filter_map(|f| f.checked_sub(clauses)) {
                is_needed[from as usize] = true;
            }
        }
    }
    let mut number = vec![0; steps.len()];
    let mut kept: Vec<Step> = vec![];
    for (at, mut step) in steps.into_iter().enumerate().filter(|(at, _)| is_needed[*at]) {
        number[at] = clauses + kept.len() as u32;
        for from in &mut step.from {
            if let Some(earlier) = from.checked_sub(clauses) {
                *from = number[earlier as usize];
            }
        }
        kept.push(step);
    }
    kept
}

#[cfg(feature = "cadical")]
mod here {
    use super::*;
    use hashbrown::HashMap;
    use rustsat::solvers::{ControlSignal, Solve, SolverResult, Terminate};
    use rustsat::types::Lit as Foreign;
    use rustsat_cadical::{CaDiCaL, CaDiCaLClause, ClauseId, TraceProof};

    /// Writes down what CaDiCaL derives.
    #[derive(Default)]
    struct Recorder {
        /// How many clauses were given.
        given: u32,
        numbers: HashMap<i64, u32>,
        steps: Vec<Step>,
        /// A clause that is used and was never seen, or one that came too late.
        is_broken: bool,
        is_done: bool,
    }

    impl TraceProof for Recorder {
        fn add_original_clause(&mut self, id: ClauseId, _: bool, _: &CaDiCaLClause, restored: bool) {
            if restored {
                return;
            }
            self.numbers.insert(id.0, self.given);
            self.given += 1;
        }

        fn add_derived_clause(&mut self, id: ClauseId, _: bool, clause: &CaDiCaLClause, from: &[ClauseId]) {
            if self.is_done {
                return;
            }
            let own = |l: Foreign| Lit(l.vidx32() << 1 | u32::from(l.is_neg()));
            let clause: Vec<Lit> = clause.iter().map(own).collect();
            let from: Option<Vec<u32>> = from.iter().map(|id| self.numbers.get(&id.0).copied()).collect();
            let Some(from) = from else {
                self.is_broken = true;
                return;
            };
            self.is_done = clause.is_empty();
            // Counted on from `LATER` until it is known how many clauses there are.
            self.numbers.insert(id.0, LATER + self.steps.len() as u32);
            self.steps.push(Step { clause, from });
        }
    }

    /// Clauses may be added while others are derived, so that steps are counted from here first.
    const LATER: u32 = 1 << 31;

    pub fn refute(clauses: &Clausal, stop: &Stop) -> Result<Option<Vec<Step>>, NoAnswer> {
        let gave_up = |e: &dyn std::fmt::Display| NoAnswer::GaveUp(e.to_string());
        if clauses.len() as u64 >= u64::from(LATER) {
            return Err(gave_up(&"there are too many clauses"));
        }
        let mut solver = CaDiCaL::default();
        // New variables would need steps of another kind.
        solver.set_option("factor", 0).map_err(|e| gave_up(&e))?;
        let watched = stop.clone();
        solver.attach_terminator(move || {
            if watched.is_over() { ControlSignal::Terminate } else { ControlSignal::Continue }
        });
        let handle = solver.connect_proof_tracer(Recorder::default(), true);
        let mut buffer: Vec<Foreign> = vec![];
        for clause in clauses.iter() {
            buffer.clear();
            buffer.extend(clause.iter().map(|l| Foreign::new(l.wire(), l.is_inverted())));
            solver.add_clause_ref(buffer.as_slice()).map_err(|e| gave_up(&e))?;
        }
        let answer = solver.solve().map_err(|e| gave_up(&e))?;
        let recorder = solver.disconnect_proof_tracer(handle).map_err(|e| gave_up(&e))?;
        match answer {
            SolverResult::Sat => Ok(None),
            SolverResult::Interrupted => Err(NoAnswer::Stopped),
            SolverResult::Unsat => {
                let Recorder { given, mut steps, is_broken, is_done, .. } = recorder;
                if is_broken || !is_done || given as usize != clauses.len() {
                    return Err(gave_up(&"the solver does not say how it came to its answer"));
                }
                for from in steps.iter_mut().flat_map(|s| &mut s.from).filter(|f| **f >= LATER) {
                    *from = *from - LATER + given;
                }
                Ok(Some(needed(steps, given)))
            }
        }
    }
}

#[cfg(not(feature = "cadical"))]
mod here {
    use super::*;

    pub fn refute(_: &Clausal, _: &Stop) -> Result<Option<Vec<Step>>, NoAnswer> {
        Err(NoAnswer::GaveUp("this program was built without CaDiCaL".into()))
    }
}
