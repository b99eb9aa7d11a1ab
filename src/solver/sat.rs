//! The embedded solver: terms as circuits of a certain width (`blast`), decided by CaDiCaL, and widened where the width
//! does not suffice.
//!
//! A question is asked first with the assumption that nothing overflows. A model then is one of the terms. If there is
//! none, and the assumption was not needed for it, there is none at any width. Otherwise it is asked again with every
//! overflow allowed: what is impossible even so is impossible, and what is possible calls for more bits.

use crate::blast::{Blaster, Mistake, Width, number};
use crate::cadical::{Cadical, Decided};
use crate::gates::{Clauses, Lit, Tseitin};
use crate::range::signed_width;
use crate::solver::{NoAnswer, Outcome, Solver, Stop};
use crate::term::{Assignment, Bool, IntNode, Term, Terms};
use hashbrown::HashMap;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bits of an integer without bounds, at first; more if a constant needs more.
    pub width: usize,
    /// Bits of an integer without bounds, at most.
    pub limit: usize,
    /// For tests of the tests.
    pub mistake: Option<Mistake>,
}

impl Default for Options {
    fn default() -> Options {
        Options { width: 8, limit: 128, mistake: None }
    }
}

/// The circuit of one width.
struct Level {
    blaster: Blaster<Tseitin<Cadical>>,
    /// How many of the claims are in it.
    loaded: usize,
    /// If this is true, nothing overflows in a claim.
    is_exact: Lit,
    /// Whether anything can overflow in a claim.
    can_overflow: bool,
}

pub struct Sat {
    options: Options,
    stop: Stop,
    claims: Vec<Bool>,
    levels: Vec<Level>,
    /// The level that had the last answer for which more bits were needed: where the next question begins.
    first: usize,
    keeps_assumptions: bool,
}

impl Sat {
    pub fn new(stop: Stop) -> Sat {
        Sat::with(Options::default(), stop)
    }

    pub fn with(options: Options, stop: Stop) -> Sat {
        Sat { options, stop, claims: vec![], levels: vec![], first: 0, keeps_assumptions: false }
    }

    /// Wires and clauses of all circuits, and the width of the last one.
    pub fn size(&self) -> (usize, usize, usize) {
        let sizes = self.levels.iter().map(|l| l.blaster.circuit.sink.0.size());
        let (wires, clauses) = sizes.fold((0, 0), |(w, c), (x, y)| (w + x, c + y));
        (wires, clauses, self.levels.last().map_or(0, |l| l.blaster.width().0))
    }

    fn add_level(&mut self, terms: &Terms, assumptions: &[Bool]) {
        let width = match self.levels.last() {
            Some(last) => 2 * last.blaster.width().0,
            None => {
                let claims = self.claims.iter().chain(assumptions).copied();
                self.options.width.max(least_width(terms, claims))
            }
        };
        let width = Width(width.min(self.options.limit).max(1));
        let mut cadical = Cadical::new(self.stop.clone());
        if self.keeps_assumptions {
            cadical.keep_assumptions();
        }
        let mut blaster = Blaster::new(Tseitin(cadical), width, self.options.mistake);
        let is_exact = blaster.circuit.input();
        self.levels.push(Level { blaster, loaded: 0, is_exact, can_overflow: false });
    }

    fn ask(&mut self, level: usize, terms: &Terms, assumptions: &[Bool]) -> Outcome {
        match self.try_ask(level, terms, assumptions) {
            Ok(outcome) => outcome,
            Err(why) => Outcome::Unknown(why),
        }
    }

    fn try_ask(&mut self, level: usize, terms: &Terms, assumptions: &[Bool]) -> Result<Outcome, NoAnswer> {
        let Sat { stop, claims, levels, .. } = self;
        let level = &mut levels[level];
        while let Some(&claim) = claims.get(level.loaded) {
            let (lit, overflow) = level.blaster.bool(terms, claim, stop).ok_or(NoAnswer::Stopped)?;
            level.blaster.circuit.require(lit);
            if overflow != Lit::FALSE {
                level.can_overflow = true;
                let exact = level.is_exact;
                let parts: &[Lit] = if overflow == Lit::TRUE { &[!exact] } else { &[!exact, !overflow] };
                level.blaster.circuit.sink.0.clause(parts);
            }
            level.loaded += 1;
        }
        // Which assumption a literal stands for.
        let mut named: HashMap<Lit, Bool> = HashMap::new();
        let mut assumed = vec![];
        let mut exact = vec![];
        let mut is_never_exact = false;
        if level.can_overflow {
            exact.push(level.is_exact);
        }
        for &a in assumptions {
            let (lit, overflow) = level.blaster.bool(terms, a, stop).ok_or(NoAnswer::Stopped)?;
            match overflow {
                Lit::FALSE => {}
                Lit::TRUE => is_never_exact = true,
                _ => exact.push(!overflow),
            }
            match lit {
                Lit::TRUE => {}
                // Nothing else is needed.
                Lit::FALSE => return Ok(Outcome::Unsat(vec![a])),
                _ => {
                    if named.insert(lit, a).is_none() {
                        assumed.push(lit);
                    }
                }
            }
        }
        let core = |used: &[Lit]| used.iter().filter_map(|l| named.get(l).copied()).collect::<Vec<Bool>>();
        if !is_never_exact {
            let all: Vec<Lit> = exact.iter().chain(&assumed).copied().collect();
            let cadical = &mut level.blaster.circuit.sink.0;
            match cadical.solve(&all)? {
                Decided::Sat => return Ok(Outcome::Sat(level.model(terms))),
                Decided::Unsat(used) if !used.iter().any(|l| exact.contains(l) && !named.contains_key(l)) => {
                    return Ok(Outcome::Unsat(core(&used)));
                }
                Decided::Unsat(_) => {}
            }
        }
        match level.blaster.circuit.sink.0.solve(&assumed)? {
            Decided::Sat => Err(NoAnswer::Overflow),
            Decided::Unsat(used) => Ok(Outcome::Unsat(core(&used))),
        }
    }
}

/// One bit more than the largest number that is written somewhere has: no circuit of fewer bits.
pub fn least_width(terms: &Terms, claims: impl IntoIterator<Item = Bool>) -> usize {
    let roots: Vec<Term> = claims.into_iter().map(Term::from).collect();
    let bits = |t: Term| match t {
        Term::Bool(_) => 0,
        Term::Int(i) => match terms.int_node(i) {
            IntNode::Const(c) | IntNode::Sum(_, c) => signed_width(c),
            IntNode::Var(v) => {
                let bounds = terms.bounds(*v);
                // Bounded variables have their own width.
                let side = if bounds.width().is_some() { &None } else { &bounds.low };
                side.as_ref().or(bounds.high.as_ref()).map_or(0, signed_width)
            }
            _ => 0,
        },
    };
    1 + terms.children_first(&roots, |_| false).into_iter().map(bits).max().unwrap_or(0)
}

impl Level {
    fn model(&self, terms: &Terms) -> Assignment {
        let cadical = &self.blaster.circuit.sink.0;
        let mut model = Assignment::default();
        for (v, lit) in self.blaster.bool_vars() {
            model.bools.insert(v, cadical.value(lit));
        }
        for (v, bits) in self.blaster.int_vars() {
            let value = number(bits.iter().map(|&b| cadical.value(b)));
            // Outside its bounds only if it has nothing to do with the question.
            if terms.bounds(v).contains(&value) {
                model.ints.insert(v, value);
            }
        }
        model
    }
}

impl Solver for Sat {
    fn assert(&mut self, _: &Terms, claim: Bool) {
        if claim != Bool::TRUE {
            self.claims.push(claim);
        }
    }

    fn check(&mut self, terms: &Terms, assumptions: &[Bool]) -> Outcome {
        let mut level = self.first;
        loop {
            if self.stop.is_over() {
                return Outcome::Unknown(NoAnswer::Stopped);
            }
            if level == self.levels.len() {
                self.add_level(terms, assumptions);
            }
            let outcome = self.ask(level, terms, assumptions);
            let is_last = self.levels[level].blaster.width().0 >= self.options.limit;
            match &outcome {
                Outcome::Unknown(NoAnswer::Overflow) if !is_last => level += 1,
                Outcome::Unknown(_) => return outcome,
                _ => {
                    self.first = level;
                    return outcome;
                }
            }
        }
    }

    fn name(&self) -> &str {
        "cadical"
    }

    fn is_unbounded(&self) -> bool {
        false
    }

    fn keep_assumptions(&mut self) {
        self.keeps_assumptions = true;
    }
}
