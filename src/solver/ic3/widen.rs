//! What makes a cube larger that is kept out of a frame: fewer literals, and bounds that are further out.

use super::{Cube, Entered, Search, Why};
use crate::eval::Evaluator;
use crate::term::{Bool, BoolNode, IntNode, Terms, Var};
use hashbrown::HashSet;
use num_bigint::BigInt;
use num_integer::Integer;

/// Literals of one cube that may turn out to be needed before no more are tried.
const MOST_FAILURES: usize = 24;

/// Bounds of one state that are tried on their own.
const MOST_UNITS: usize = 64;

/// Steps in which a bound is moved.
const MOST_TRIES: usize = 16;

/// Bounds of one cube that are moved.
const MOST_MOVED: usize = 8;

impl Search<'_, '_> {
    /// Whether a literal bounds a constant of the system.
    fn is_rigid(&self, terms: &Terms, literal: Bool) -> bool {
        match terms.bool_node(literal) {
            BoolNode::Le(a, b) => [*a, *b]
                .into_iter()
                .any(|i| matches!(terms.int_node(i), IntNode::Var(v) if self.rigid.contains(&Var::Int(*v)))),
            _ => false,
        }
    }

    /// Bounds of single integers that exclude a state and that no step breaks, whatever the frame. They are few and cheap
    /// to try, and without them a bound that holds for good (y ≤ 1000) is easily missed for one that holds for some
    /// steps (x ≤ 7).
    pub(super) fn learn_units(&mut self, terms: &mut Terms, state: &Cube, frame: usize) -> Result<bool, Why> {
        let is_bound = |l: &&Bool| match *terms.bool_node(**l) {
            BoolNode::Le(a, b) => !l.is_negated() && terms.known(a).is_some() != terms.known(b).is_some(),
            _ => false,
        };
        // What is true of constants in initial states is true of them everywhere, and needs no lemma.
        let bounds = state.iter().filter(is_bound).filter(|l| !self.is_rigid(terms, **l));
        let bounds: Vec<Bool> = bounds.take(MOST_UNITS).copied().collect();
        let mut is_learnt = false;
        for literal in bounds {
            self.check_time()?;
            let mut unit = vec![literal];
            if self.away(terms, &unit)?.is_some()
                && matches!(self.enters(terms, frame, &unit, true)?, Entered::None(_))
            {
                // As if the next frame were the one in question.
                self.move_bounds(terms, &mut unit, frame + 1)?;
                self.learn(terms, unit, frame + 1);
                is_learnt = true;
            }
        }
        Ok(is_learnt)
    }

    /// A cube with fewer literals that can be kept out of the frame as well, and the highest frame it is kept out of.
    pub(super) fn generalised(
        &mut self,
        terms: &mut Terms,
        mut cube: Cube,
        mut level: usize,
        frame: usize,
    ) -> Result<(Cube, usize), Why> {
        let atoms: HashSet<Bool> = self.atoms.iter().map(|a| a.plain()).collect();
        // Numbers go first: what the system itself compares is more likely to be what matters.
        let rank = |terms: &Terms, l: Bool| match terms.bool_node(l) {
            _ if atoms.contains(&l.plain()) => 2,
            BoolNode::Var(_) => 1,
            _ => 0,
        };
        let mut order = cube.clone();
        order.sort_by_key(|&l| (rank(terms, l), l));
        // What is tried last stands first: then most assumptions of a question are those of the one before, in its order.
        cube = order.iter().rev().copied().collect();
        let mut failures = 0;
        for literal in order {
            if cube.len() <= 1 || failures >= MOST_FAILURES {
                break;
            }
            if !cube.contains(&literal) {
                continue;
            }
            self.check_time()?;
            let fewer: Cube = cube.iter().copied().filter(|&l| l != literal).collect();
            let Some(away) = self.away(terms, &fewer)? else {
                failures += 1;
                continue;
            };
            match self.enters(terms, level - 1, &fewer, true)? {
                Entered::From(..) => failures += 1,
                Entered::None(mut used) => {
                    used.extend(away);
                    cube = fewer.into_iter().filter(|l| used.contains(l)).collect();
                }
            }
        }
        cube.sort_unstable();
        self.move_bounds(terms, &mut cube, level)?;
        while level < frame {
            match self.enters(terms, level, &cube, true)? {
                Entered::From(..) => break,
                Entered::None(_) => level += 1,
            }
        }
        Ok((cube, level))
    }

    /// Moves the bounds of a cube as far out as the numbers of the system go, if it can still be kept out: otherwise a
    /// cube with x ≥ 1005 would be followed by one with x ≥ 1004, and so on.
    fn move_bounds(&mut self, terms: &mut Terms, cube: &mut Cube, level: usize) -> Result<(), Why> {
        let mut moved = 0;
        for mut literal in cube.clone() {
            let BoolNode::Le(a, b) = *terms.bool_node(literal) else { continue };
            // A step does not move a constant, so the next cube does not differ by one of them.
            if moved >= MOST_MOVED || self.is_rigid(terms, literal) {
                continue;
            }
            // c ≤ x or x ≤ c, and not negated: as the values of cells are.
            let (value, is_low) = match (terms.known(a), terms.known(b)) {
                (Some(value), None) if !literal.is_negated() => (value.clone(), true),
                (None, Some(value)) if !literal.is_negated() => (value.clone(), false),
                _ => continue,
            };
            moved += 1;
            // The nearest bound that was too far, by a state that shows it: no bound beyond that state can be had.
            let (mut near, mut far) = (value, None);
            for attempt in 0..MOST_TRIES {
                let Some(bound) = self.farther(&near, far.as_ref(), is_low, attempt % 2 == 1) else { break };
                match self.with_bound(terms, cube, literal, &bound, level)? {
                    Ok((wider, moved)) => {
                        *cube = wider;
                        (literal, near) = (moved, bound);
                    }
                    Err(state) => far = Some(state),
                }
                // It has become one that is always true, or the same as another one.
                if !cube.contains(&literal) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The bound to try next between one that can be had and one that cannot, or as far as the numbers of the system go.
    fn farther(
        &self,
        near: &BigInt,
        far: Option<&BigInt>,
        is_low: bool,
        is_next_to_far: bool,
    ) -> Option<BigInt> {
        let Some(far) = far else {
            let farthest = if is_low { self.thresholds.first() } else { self.thresholds.last() };
            return farthest.filter(|t| if is_low { *t < near } else { *t > near }).cloned();
        };
        let next = if is_low { far + 1 } else { far - 1 };
        let is_met = if is_low { next >= *near } else { next <= *near };
        if is_met {
            return None;
        }
        if is_next_to_far {
            return Some(next);
        }
        let is_between = |t: &&BigInt| if is_low { far < *t && *t < near } else { near < *t && *t < far };
        let between: Vec<&BigInt> = self.thresholds.iter().filter(is_between).collect();
        match between.get(between.len() / 2) {
            Some(&middle) => Some(middle.clone()),
            None => Some((near + far).div_floor(&BigInt::from(2))).filter(|m| m != near && m != far),
        }
    }

    /// A cube with another bound in the place of a literal, and that bound, if it can still be kept out. Otherwise what
    /// is bounded there, in a state of it that is reached.
    fn with_bound(
        &mut self,
        terms: &mut Terms,
        cube: &Cube,
        literal: Bool,
        bound: &BigInt,
        level: usize,
    ) -> Result<Result<(Cube, Bool), BigInt>, Why> {
        self.check_time()?;
        let BoolNode::Le(a, b) = *terms.bool_node(literal) else { return Ok(Err(bound.clone())) };
        let (is_low, limit) = (terms.known(a).is_some(), terms.constant(bound.clone()));
        let (moved, bounded) = if is_low { (terms.le(limit, b), b) } else { (terms.le(a, limit), a) };
        let mut wider: Cube = cube.iter().copied().filter(|&l| l != literal).collect();
        if moved != Bool::TRUE {
            wider.push(moved);
        }
        wider.sort_unstable();
        wider.dedup();
        let reached = match self.start_in(terms, &wider)? {
            Err(start) => Evaluator::new(terms, &self.starts[start].0).int(bounded),
            Ok(_) => match self.enters(terms, level - 1, &wider, true)? {
                Entered::None(_) => return Ok(Ok((wider, moved))),
                Entered::From(model, _) => {
                    let after = self.after.int(terms, bounded);
                    Evaluator::new(terms, &model).int(after)
                }
            },
        };
        // A solver that is wrong must not make it go on for ever.
        Ok(Err(if is_low { reached.max(bound.clone()) } else { reached.min(bound.clone()) }))
    }
}
