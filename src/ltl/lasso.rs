//! Paths that can be written down, and what a formula is worth on them: the second opinion on every counterexample.
//!
//! This knows neither tableau nor search; it follows the definition of §5.1. On a path of a stem and a loop that
//! is repeated for ever the value of a formula with past operators need not be the same in every round: with past
//! operators nested h deep it is from round h + 1 on. So the loop is unrolled that often.

use super::structure::{Expansion, Known, StateId, Structure};
use crate::temporal::syntax::{Binary, Fairness, Formula, Prop, Resolved, Unary};
use std::collections::BTreeSet;
use std::sync::Arc;

#[cfg(any(test, kani))]
mod tests;

/// Which step is taken: its propositions as far as the property speaks of them, and its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub props: u64,
    pub instance: u32,
}

/// A maximal path. Without `back` it is finite and ends in a deadlock; with it the last step leads to the state at
/// that place, and there is a step for every state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    pub states: Vec<StateId>,
    pub steps: Vec<Taken>,
    pub back: Option<usize>,
}

impl Lasso {
    /// The state after a step.
    pub fn after(&self, step: usize) -> StateId {
        match self.states.get(step + 1) {
            Some(s) => *s,
            // The last step of a loop.
            None => self.states[self.back.unwrap_or(0)],
        }
    }
}

/// A place on a path, with all that a formula may ask there.
#[derive(Clone, Debug)]
pub struct Letter {
    pub here: Arc<Expansion>,
    /// The step that is taken; `None` at a deadlock.
    pub taken: Option<Taken>,
}

/// A lasso as a word.
#[derive(Clone, Debug)]
pub struct LassoWord {
    pub letters: Vec<Letter>,
    pub back: Option<usize>,
}

impl LassoWord {
    /// Reads a path from the structure again. `steps` are the propositions of steps that the property speaks of.
    pub fn read<S: Structure>(
        structure: &mut S,
        lasso: &Lasso,
        steps: u64,
        instances: bool,
    ) -> Result<LassoWord, String> {
        let mut letters = vec![];
        for (i, s) in lasso.states.iter().enumerate() {
            let mut here = Expansion::default();
            let known = structure.expand(*s, &mut here);
            if known == Known::Nothing {
                return Err(format!("state {i} of the path cannot be expanded again"));
            }
            let taken = lasso.steps.get(i).copied();
            if let Some(t) = taken {
                let after = lasso.after(i);
                let same = |e: &super::structure::Edge| {
                    e.target == after
                        && e.props & steps == t.props
                        && (!instances || e.instance == t.instance)
                };
                if !here.edges.iter().any(same) {
                    return Err(format!("step {} of the path was not found again", i + 1));
                }
            } else if !here.edges.is_empty() {
                return Err("the path ends where it could go on".to_string());
            } else if known != Known::All {
                return Err("the path ends where some steps are not known".to_string());
            }
            letters.push(Letter { here: Arc::new(here), taken });
        }
        if lasso.back.is_some_and(|b| b >= letters.len())
            || lasso.steps.len() != lasso.states.len() - usize::from(lasso.back.is_none())
        {
            return Err("the path does not close".to_string());
        }
        Ok(LassoWord { letters, back: lasso.back })
    }

    /// Whether the path fulfils the premise and not the formula.
    pub fn refutes(&self, property: &Resolved) -> bool {
        let fair = property.premise.as_ref().is_none_or(|p| self.is_fair(p));
        fair && !self.holds(&property.formula)
    }

    /// Whether a formula holds at the beginning.
    pub fn holds(&self, f: &Formula<Prop>) -> bool {
        let unrolled = self.unrolled(f);
        unrolled.values(f)[0]
    }

    /// The values of all subformulas (in the order of [`Formula::subformulas`]) at every place of the word.
    pub fn explain(&self, f: &Formula<Prop>) -> Vec<Vec<bool>> {
        let unrolled = self.unrolled(f);
        f.subformulas().iter().map(|g| unrolled.values(g)[..self.letters.len()].to_vec()).collect()
    }

    fn unrolled(&self, f: &Formula<Prop>) -> Unrolled<'_> {
        let n = self.letters.len();
        let mut places: Vec<usize> = (0..n).collect();
        if let Some(back) = self.back {
            for _ in 0..past_height(f) {
                places.extend(back..n);
            }
        }
        let back = self.back.map(|back| places.len() - (n - back));
        Unrolled { word: self, places, back }
    }

    fn is_fair(&self, f: &Fairness<u32>) -> bool {
        let Some(back) = self.back else { return true };
        let round = &self.letters[back..];
        let enabled = |l: &Letter, t: u32| l.here.edges.iter().any(|e| e.props >> t & 1 == 1);
        let takes = |l: &Letter, t: u32| l.taken.is_some_and(|s| s.props >> t & 1 == 1);
        let offers = |l: &Letter, i: u32| l.here.edges.iter().any(|e| e.instance == i);
        let is = |l: &Letter, i: u32| l.taken.is_some_and(|s| s.instance == i);
        let instances =
            || round.iter().flat_map(|l| &l.here.edges).map(|e| e.instance).collect::<BTreeSet<_>>();
        match f {
            Fairness::Weak(t) => round.iter().any(|l| !enabled(l, *t) || takes(l, *t)),
            Fairness::Strong(t) => {
                !round.iter().any(|l| enabled(l, *t)) || round.iter().any(|l| takes(l, *t))
            }
            Fairness::WeakAll => {
                instances().into_iter().all(|i| round.iter().any(|l| !offers(l, i) || is(l, i)))
            }
            Fairness::StrongAll => instances().into_iter().all(|i| round.iter().any(|l| is(l, i))),
            Fairness::And(a, b) => self.is_fair(a) && self.is_fair(b),
            Fairness::Or(a, b) => self.is_fair(a) || self.is_fair(b),
        }
    }
}

/// How deep past operators are nested.
fn past_height(f: &Formula<Prop>) -> usize {
    match f {
        Formula::True | Formula::False | Formula::Atom(_) => 0,
        Formula::Not(g) => past_height(g),
        Formula::Unary(op, g) => past_height(g) + usize::from(op.is_past()),
        Formula::Binary(op, g, h) => past_height(g).max(past_height(h)) + usize::from(op.is_past()),
    }
}

/// A word whose loop was repeated often enough: from `back` on all values repeat.
struct Unrolled<'w> {
    word: &'w LassoWord,
    places: Vec<usize>,
    back: Option<usize>,
}

impl Unrolled<'_> {
    fn values(&self, f: &Formula<Prop>) -> Vec<bool> {
        let n = self.places.len();
        match f {
            Formula::True => vec![true; n],
            Formula::False => vec![false; n],
            Formula::Atom(p) => self.places.iter().map(|i| self.prop(*p, *i)).collect(),
            Formula::Not(g) => self.values(g).iter().map(|v| !v).collect(),
            Formula::Unary(op, g) => {
                let g = self.values(g);
                match op {
                    Unary::Next => (0..n).map(|i| self.after(i).is_some_and(|j| g[j])).collect(),
                    Unary::Yesterday => (0..n).map(|i| i > 0 && g[i - 1]).collect(),
                    Unary::Finally => self.until(&vec![true; n], &g),
                    Unary::Once => since(&vec![true; n], &g),
                    Unary::Globally => not(self.until(&vec![true; n], &not(g))),
                    Unary::Historically => not(since(&vec![true; n], &not(g))),
                }
            }
            Formula::Binary(op, g, h) => {
                let (g, h) = (self.values(g), self.values(h));
                let pairs = || g.iter().copied().zip(h.iter().copied());
                match op {
                    Binary::And => pairs().map(|(a, b)| a && b).collect(),
                    Binary::Or => pairs().map(|(a, b)| a || b).collect(),
                    Binary::Implies => pairs().map(|(a, b)| !a || b).collect(),
                    Binary::Iff => pairs().map(|(a, b)| a == b).collect(),
                    Binary::Until => self.until(&g, &h),
                    Binary::Since => since(&g, &h),
                    Binary::Release => not(self.until(&not(g), &not(h))),
                    Binary::Trigger => not(since(&not(g), &not(h))),
                    // G g or (g U h)
                    Binary::WeakUntil => {
                        let always = not(self.until(&vec![true; n], &not(g.clone())));
                        always.iter().zip(self.until(&g, &h)).map(|(a, u)| *a || u).collect()
                    }
                }
            }
        }
    }

    /// The next place.
    fn after(&self, i: usize) -> Option<usize> {
        if i + 1 < self.places.len() { Some(i + 1) } else { self.back }
    }

    /// The least solution of u = h or (g and X u): twice backwards reaches it, since a promise is kept within one
    /// more round or never.
    fn until(&self, g: &[bool], h: &[bool]) -> Vec<bool> {
        let mut u = vec![false; g.len()];
        for _ in 0..2 {
            for i in (0..g.len()).rev() {
                u[i] = h[i] || g[i] && self.after(i).is_some_and(|j| u[j]);
            }
        }
        u
    }

    fn prop(&self, p: Prop, i: usize) -> bool {
        let letter = &self.word.letters[i];
        match p {
            Prop::State(b) => letter.here.props >> b & 1 == 1,
            Prop::Step(b) => letter.taken.is_some_and(|t| t.props >> b & 1 == 1),
            Prop::Enabled(b) => letter.here.edges.iter().any(|e| e.props >> b & 1 == 1),
            Prop::Deadlock => letter.here.edges.is_empty(),
            Prop::Sink => letter.here.edges.iter().all(|e| e.stays),
        }
    }
}

fn since(g: &[bool], h: &[bool]) -> Vec<bool> {
    let mut s = vec![false; g.len()];
    for i in 0..g.len() {
        s[i] = h[i] || g[i] && i > 0 && s[i - 1];
    }
    s
}

fn not(mut v: Vec<bool>) -> Vec<bool> {
    v.iter_mut().for_each(|b| *b = !*b);
    v
}
