//! Refutations: each step is a clause that follows from earlier ones by unit propagation, in the order that is given. The
//! last one is empty. This is LRAT without deletions and without steps that add more than follows.
//!
//! A step in the file: its number, counted with the clauses, from 0; how many literals, each as a number; how many earlier
//! clauses, each as the distance back from the step, from 1. A literal is twice its wire, one more if it is inverted. The
//! numbers have no gaps: they are there so that a step that is missing is named, and not the first one that misses it.

use kanon_checker::codec::{Bytes, put_number};
use kanon_solver::gates::Lit;
use kanon_solver::refute::{Clausal, Step};
use std::cmp::Ordering;

/// What is wrong with a step; the first one is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is not written as one.
    Malformed { step: u64 },
    /// It is not there: the one after it stands in its place, or one further on.
    Missing { step: u64 },
    /// It uses a clause that comes later, or none.
    NoClause { step: u64 },
    /// One of the clauses that it uses leaves more than one literal, or one that is true already.
    NoUnit { step: u64 },
    /// All of them are used, and there is no contradiction.
    NoConflict { step: u64 },
    /// The last clause is not the empty one.
    NotEmpty,
    /// Something comes after the empty clause.
    TooMany { step: u64 },
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Wrong::Malformed { step } => write!(f, "step {step} is not written as one"),
            Wrong::Missing { step } => write!(f, "step {step} is missing: a later one stands in its place"),
            Wrong::NoClause { step } => write!(f, "step {step} uses a clause that is not there before it"),
            Wrong::NoUnit { step } => write!(f, "step {step} uses a clause that leaves no single literal"),
            Wrong::NoConflict { step } => write!(f, "step {step} does not follow from what it uses"),
            Wrong::NotEmpty => f.write_str("it does not end in the empty clause"),
            Wrong::TooMany { step } => write!(f, "step {step} comes after the empty clause"),
        }
    }
}

/// Appends a step that has this number, counted with the clauses, from 0.
pub fn put(out: &mut Vec<u8>, step: &Step, number: u64) {
    put_number(out, number);
    put_number(out, step.clause.len() as u64);
    step.clause.iter().for_each(|l| put_number(out, u64::from(l.0)));
    put_number(out, step.from.len() as u64);
    step.from.iter().for_each(|f| put_number(out, number - u64::from(*f)));
}

/// Clauses that are given and those that were derived.
pub struct Refutation {
    literals: Vec<Lit>,
    ends: Vec<usize>,
    given: u64,
    wires: u32,
    is_refuted: bool,
    /// The value of each literal while a step is followed: by wire, with the inversion.
    values: Vec<Option<bool>>,
    assigned: Vec<u32>,
}

impl Refutation {
    pub fn of(clauses: &Clausal) -> Refutation {
        let mut all = Refutation {
            literals: vec![],
            ends: vec![],
            given: clauses.len() as u64,
            wires: clauses.wires(),
            is_refuted: false,
            values: vec![None; clauses.wires() as usize],
            assigned: vec![],
        };
        for clause in clauses.iter() {
            all.is_refuted |= clause.is_empty();
            all.keep(clause);
        }
        all
    }

    fn keep(&mut self, clause: &[Lit]) {
        self.literals.extend(clause);
        self.ends.push(self.literals.len());
    }

    fn steps(&self) -> u64 {
        self.ends.len() as u64 - self.given
    }

    /// Whether the empty clause is there.
    pub fn end(&self) -> Result<u64, Wrong> {
        if self.is_refuted { Ok(self.steps()) } else { Err(Wrong::NotEmpty) }
    }

    /// Follows one step.
    pub fn follow(&mut self, bytes: &mut Bytes) -> Result<(), Wrong> {
        let step = self.steps() + 1;
        if self.is_refuted {
            return Err(Wrong::TooMany { step });
        }
        let malformed = Wrong::Malformed { step };
        match bytes.number().ok_or(malformed.clone())?.cmp(&(self.ends.len() as u64)) {
            Ordering::Less => return Err(malformed),
            Ordering::Equal => {}
            Ordering::Greater => return Err(Wrong::Missing { step }),
        }
        let mut clause = vec![];
        for _ in 0..bytes.number().ok_or(malformed.clone())? {
            let literal = bytes.number().and_then(|n| u32::try_from(n).ok()).ok_or(malformed.clone())?;
            let lit = Lit(literal);
            if lit.is_constant() || lit.wire() >= self.wires {
                return Err(malformed);
            }
            clause.push(lit);
        }
        for lit in &clause {
            self.assign(!*lit);
        }
        let followed = self.propagate(bytes, step, &malformed);
        for wire in self.assigned.drain(..) {
            self.values[wire as usize] = None;
        }
        followed?;
        self.is_refuted = clause.is_empty();
        self.keep(&clause);
        Ok(())
    }

    fn assign(&mut self, lit: Lit) {
        self.values[lit.wire() as usize] = Some(!lit.is_inverted());
        self.assigned.push(lit.wire());
    }

    fn value(&self, lit: Lit) -> Option<bool> {
        self.values[lit.wire() as usize].map(|v| v != lit.is_inverted())
    }

    fn propagate(&mut self, bytes: &mut Bytes, step: u64, malformed: &Wrong) -> Result<(), Wrong> {
        let here = self.ends.len() as u64;
        let (mut is_conflict, uses) = (false, bytes.number().ok_or(malformed.clone())?);
        for _ in 0..uses {
            let back = bytes.number().ok_or(malformed.clone())?;
            let number = here.checked_sub(back).filter(|n| *n < here).ok_or(Wrong::NoClause { step })?;
            if is_conflict {
                // What follows a contradiction is not needed.
                return Err(Wrong::NoUnit { step });
            }
            let number = number as usize;
            let begin = if number == 0 { 0 } else { self.ends[number - 1] };
            let mut open = None;
            for at in begin..self.ends[number] {
                let lit = self.literals[at];
                match self.value(lit) {
                    Some(false) => {}
                    None if open.is_none() || open == Some(lit) => open = Some(lit),
                    Some(true) | None => return Err(Wrong::NoUnit { step }),
                }
            }
            match open {
                Some(lit) => self.assign(lit),
                None => is_conflict = true,
            }
        }
        if is_conflict { Ok(()) } else { Err(Wrong::NoConflict { step }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kanon_solver::gates::Clauses;

    fn clauses(of: &[&[u32]]) -> Clausal {
        let mut clauses = Clausal::default();
        (0..8).for_each(|_| {
            clauses.wire();
        });
        of.iter().for_each(|c| clauses.clause(&c.iter().map(|l| Lit(*l)).collect::<Vec<_>>()));
        clauses
    }

    fn run(given: &Clausal, steps: &[(&[u32], &[u32])]) -> Result<u64, Wrong> {
        let mut refutation = Refutation::of(given);
        let mut out = vec![];
        for (n, (clause, from)) in steps.iter().enumerate() {
            let step = Step { clause: clause.iter().map(|l| Lit(*l)).collect(), from: from.to_vec() };
            put(&mut out, &step, (given.len() + n) as u64);
        }
        let mut bytes = Bytes::new(&out);
        while !bytes.is_empty() {
            refutation.follow(&mut bytes)?;
        }
        refutation.end()
    }

    /// a or b, a or not b, not a or b, not a or not b; wires 1 and 2.
    const FOUR: [&[u32]; 4] = [&[2, 4], &[2, 5], &[3, 4], &[3, 5]];

    #[test]
    fn only_what_follows_is_a_step() {
        let four = clauses(&FOUR);
        assert_eq!(run(&four, &[(&[2], &[0, 1]), (&[], &[4, 2, 3])]), Ok(2));
        // Each thing that can be wrong.
        assert_eq!(run(&four, &[(&[2], &[0, 1])]), Err(Wrong::NotEmpty));
        assert_eq!(run(&four, &[(&[], &[0, 1])]), Err(Wrong::NoUnit { step: 1 }));
        assert_eq!(run(&four, &[(&[2], &[0])]), Err(Wrong::NoConflict { step: 1 }));
        assert_eq!(run(&four, &[(&[2], &[0, 2])]), Err(Wrong::NoUnit { step: 1 }));
        assert_eq!(run(&four, &[(&[2], &[0, 1]), (&[], &[4, 2])]), Err(Wrong::NoConflict { step: 2 }));
        assert_eq!(run(&four, &[(&[2], &[0, 1, 2])]), Err(Wrong::NoUnit { step: 1 }));
        let twice: [(&[u32], &[u32]); 3] = [(&[2], &[0, 1]), (&[], &[4, 2, 3]), (&[2], &[0, 1])];
        assert_eq!(run(&four, &twice), Err(Wrong::TooMany { step: 3 }));
        assert_eq!(run(&four, &[(&[99], &[0, 1])]), Err(Wrong::Malformed { step: 1 }));
        assert_eq!(run(&clauses(&[&[2, 4], &[]]), &[]), Ok(0));
        // Without the last of the four there is a model.
        assert_eq!(
            run(&clauses(&FOUR[..3]), &[(&[2], &[0, 1]), (&[], &[3, 2])]),
            Err(Wrong::NoConflict { step: 2 })
        );
        // A clause that is not there yet, and one before the first.
        let mut refutation = Refutation::of(&four);
        for bytes in [[4, 0, 1, 0], [4, 0, 1, 5]] {
            assert_eq!(refutation.follow(&mut Bytes::new(&bytes)), Err(Wrong::NoClause { step: 1 }));
        }
        // A number that was there already, and one too many.
        assert_eq!(refutation.follow(&mut Bytes::new(&[3, 1, 2, 1, 4])), Err(Wrong::Malformed { step: 1 }));
        assert_eq!(refutation.follow(&mut Bytes::new(&[5, 1, 2, 1, 4])), Err(Wrong::Missing { step: 1 }));
    }

    /// Random steps over random clauses: what is accepted is true of every assignment that the clauses allow.
    #[test]
    fn random_refutations_are_right() {
        let mut seed = 1u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        let (mut accepted, mut refuted) = (0, 0);
        for _ in 0..20_000 {
            let clause = |random: &mut dyn FnMut(u64) -> u64| -> Vec<u32> {
                (0..1 + random(2)).map(|_| 2 + random(6) as u32).collect()
            };
            let given: Vec<Vec<u32>> = (0..8).map(|_| clause(&mut random)).collect();
            let given: Vec<&[u32]> = given.iter().map(|c| &c[..]).collect();
            let all = clauses(&given);
            let mut refutation = Refutation::of(&all);
            for n in 0..6 {
                let step = Step {
                    clause: clause(&mut random).into_iter().map(Lit).skip(random(3) as usize).collect(),
                    from: (0..1 + random(3)).map(|_| random(8 + n) as u32).collect(),
                };
                let mut out = vec![];
                let number = 8 + refutation.steps();
                let step =
                    Step { from: step.from.into_iter().map(|f| f.min(number as u32 - 1)).collect(), ..step };
                put(&mut out, &step, number);
                if refutation.follow(&mut Bytes::new(&out)).is_err() {
                    continue;
                }
                accepted += 1;
                let is_true =
                    |model: u32, c: &[Lit]| c.iter().any(|l| (model >> l.wire() & 1 == 1) != l.is_inverted());
                let mut models = (0..16u32).filter(|m| all.iter().all(|c| is_true(*m, c)));
                assert!(models.all(|m| is_true(m, &step.clause)), "{step:?} of {given:?}");
                refuted += u64::from(refutation.is_refuted);
            }
        }
        assert!(accepted > 1_000 && refuted > 100, "{accepted} accepted, {refuted} refuted");
    }
}
