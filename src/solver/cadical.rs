//! The SAT solver itself: CaDiCaL, linked in. Without the feature `cadical` it is one that always gives up.

use crate::gates::{Clauses, Lit};
use crate::solver::{NoAnswer, Stop};

#[cfg_attr(not(feature = "cadical"), allow(dead_code))] // then nothing is found
pub enum Decided {
    Sat,
    /// Those of the assumptions that were needed.
    Unsat(Vec<Lit>),
}

pub use here::Cadical;

#[cfg(feature = "cadical")]
mod here {
    use super::*;
    use crate::solver::conflict_cost;
    use rustsat::solvers::{
        ControlSignal, GetInternalStats, Solve, SolveIncremental, SolverResult, Terminate,
    };
    use rustsat::types::{Lit as Foreign, TernaryVal};
    use rustsat_cadical::{CaDiCaL, Limit};

    pub struct Cadical {
        solver: CaDiCaL<'static, 'static>,
        wires: u32,
        clauses: usize,
        /// What went wrong when clauses were added: from then on there are no answers.
        broken: Option<String>,
        buffer: Vec<Foreign>,
        stop: Stop,
    }

    fn foreign(lit: Lit) -> Foreign {
        Foreign::new(lit.wire(), lit.is_inverted())
    }

    impl Cadical {
        pub fn new(stop: Stop) -> Cadical {
            let mut solver = CaDiCaL::default();
            let watched = stop.clone();
            solver.attach_terminator(move || {
                if watched.is_over() { ControlSignal::Terminate } else { ControlSignal::Continue }
            });
            // Wire 0 is the constant, and no clause has it.
            Cadical { solver, wires: 1, clauses: 0, broken: None, buffer: vec![], stop }
        }

        /// Incremental lazy backtracking: the trail is kept as far as the next assumptions are on it. Before any clause.
        pub fn keep_assumptions(&mut self) {
            if let Err(e) = self.solver.set_option("ilb", 1) {
                self.broken.get_or_insert_with(|| e.to_string());
            }
        }

        pub fn solve(&mut self, assumptions: &[Lit]) -> Result<Decided, NoAnswer> {
            if let Some(why) = &self.broken {
                return Err(NoAnswer::GaveUp(why.clone()));
            }
            let assumed: Vec<Foreign> = assumptions.iter().map(|&l| foreign(l)).collect();
            let gave_up = |e: &dyn std::fmt::Display| NoAnswer::GaveUp(e.to_string());
            let cost = conflict_cost(self.clauses);
            if let Some(left) = self.stop.effort() {
                let most = i32::try_from(left / cost).unwrap_or(i32::MAX).max(1);
                self.solver.set_limit(Limit::Conflicts(most)).map_err(|e| gave_up(&e))?;
            }
            let before = self.solver.conflicts();
            let answer = self.solver.solve_assumps(&assumed);
            let conflicts = self.solver.conflicts().saturating_sub(before) as u64;
            // A question costs something even if no conflict answers it: its model is read.
            self.stop.spend((conflicts + 1).saturating_mul(cost));
            match answer.map_err(|e| gave_up(&e))? {
                SolverResult::Sat => Ok(Decided::Sat),
                SolverResult::Interrupted => Err(NoAnswer::Stopped),
                SolverResult::Unsat => {
                    // The core is a clause: it has the inverses of the assumptions.
                    let core = self.solver.core().map_err(|e| gave_up(&e))?;
                    let used = core.into_iter().map(|l| Lit(l.vidx32() << 1 | u32::from(l.is_pos())));
                    Ok(Decided::Unsat(used.collect()))
                }
            }
        }

        /// After an answer that there is a model.
        pub fn value(&self, lit: Lit) -> bool {
            if lit.is_constant() {
                return !lit.is_inverted();
            }
            matches!(self.solver.lit_val(foreign(lit)), Ok(TernaryVal::True))
        }

        /// Wires and clauses so far.
        pub fn size(&self) -> (usize, usize) {
            (self.wires as usize, self.clauses)
        }
    }

    impl Clauses for Cadical {
        fn wire(&mut self) -> u32 {
            self.wires += 1;
            self.wires - 1
        }

        fn clause(&mut self, parts: &[Lit]) {
            self.clauses += 1;
            self.stop.spend(1);
            self.buffer.clear();
            self.buffer.extend(parts.iter().map(|&l| foreign(l)));
            if let Err(e) = self.solver.add_clause_ref(self.buffer.as_slice()) {
                self.broken.get_or_insert_with(|| e.to_string());
            }
        }
    }
}

#[cfg(not(feature = "cadical"))]
mod here {
    use super::*;

    pub struct Cadical {
        wires: u32,
        clauses: usize,
    }

    impl Cadical {
        pub fn new(_: Stop) -> Cadical {
            Cadical { wires: 1, clauses: 0 }
        }

        pub fn keep_assumptions(&mut self) {}

        pub fn solve(&mut self, _: &[Lit]) -> Result<Decided, NoAnswer> {
            Err(NoAnswer::GaveUp("this program was built without CaDiCaL".into()))
        }

        pub fn value(&self, _: Lit) -> bool {
            false
        }

        pub fn size(&self) -> (usize, usize) {
            (self.wires as usize, self.clauses)
        }
    }

    impl Clauses for Cadical {
        fn wire(&mut self) -> u32 {
            self.wires += 1;
            self.wires - 1
        }

        fn clause(&mut self, _: &[Lit]) {
            self.clauses += 1;
        }
    }
}
