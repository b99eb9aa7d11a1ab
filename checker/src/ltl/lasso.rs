//! What a formula is worth on a path that can be written down: a stem and a loop that is repeated for ever, or a path into
//! a deadlock. This follows the definition of the semantics; it knows neither rules nor nodes.
//!
//! With past operators nested h deep, the values of a formula repeat from round h + 1 of the loop on; so many rounds are
//! looked at.

use super::tableau::Here;
use kanon_language::temporal::syntax::{Binary, Fairness, Formula, Prop, Property, Unary};
use std::collections::BTreeSet;

/// A place on a path.
#[derive(Clone, Debug)]
pub struct Letter {
    pub here: Here,
    /// The propositions of the step that is taken; none at the end of a path.
    pub taken: Option<u64>,
    /// Which instance is taken, and which are possible: any numbers that tell them apart.
    pub instance: Option<u32>,
    pub instances: BTreeSet<u32>,
}

/// A path: the last step leads back to the letter at `back`; without it the path ends.
#[derive(Clone, Debug)]
pub struct Word {
    pub letters: Vec<Letter>,
    pub back: Option<usize>,
}

impl Word {
    /// Whether the path fulfils the premise and not the formula.
    pub fn refutes(&self, property: &Property<Prop, u32>) -> bool {
        !self.letters.is_empty()
            && self.back.is_none_or(|b| b < self.letters.len())
            && property.premise.as_ref().is_none_or(|p| self.is_fair(p))
            && !self.holds(&property.formula)
    }

    /// Whether a formula is true at the beginning.
    pub fn holds(&self, f: &Formula<Prop>) -> bool {
        let n = self.letters.len();
        let mut places: Vec<usize> = (0..n).collect();
        let mut back = None;
        if let Some(b) = self.back {
            for _ in 0..past_depth(f) {
                places.extend(b..n);
            }
            back = Some(places.len() - (n - b));
        }
        let rounds = Rounds { word: self, places, back };
        rounds.values(f).first().copied().unwrap_or(false)
    }

    /// A path that ends fulfils every premise.
    fn is_fair(&self, premise: &Fairness<u32>) -> bool {
        let Some(back) = self.back else { return true };
        let round = &self.letters[back..];
        let bit = |word: u64, i: u32| i < 64 && word >> i & 1 == 1;
        let takes = |i: u32| round.iter().any(|l| l.taken.is_some_and(|t| bit(t, i)));
        let mut instances = round.iter().flat_map(|l| &l.instances);
        let is_taken = |i: &u32| round.iter().any(|l| l.instance == Some(*i));
        match premise {
            Fairness::Weak(i) => takes(*i) || round.iter().any(|l| !bit(l.here.enabled, *i)),
            Fairness::Strong(i) => takes(*i) || !round.iter().any(|l| bit(l.here.enabled, *i)),
            Fairness::WeakAll => {
                instances.all(|i| is_taken(i) || round.iter().any(|l| !l.instances.contains(i)))
            }
            Fairness::StrongAll => instances.all(is_taken),
            Fairness::And(a, b) => self.is_fair(a) && self.is_fair(b),
            Fairness::Or(a, b) => self.is_fair(a) || self.is_fair(b),
        }
    }
}

fn past_depth(f: &Formula<Prop>) -> usize {
    match f {
        Formula::True | Formula::False | Formula::Atom(_) => 0,
        Formula::Not(g) => past_depth(g),
        Formula::Unary(op, g) => past_depth(g) + usize::from(op.is_past()),
        Formula::Binary(op, g, h) => past_depth(g).max(past_depth(h)) + usize::from(op.is_past()),
    }
}

struct Rounds<'w> {
    word: &'w Word,
    /// Places of the word, the loop as often as it is needed.
    places: Vec<usize>,
    /// Where the last round begins, to which the last step leads.
    back: Option<usize>,
}

impl Rounds<'_> {
    /// The value of a formula at every place.
    fn values(&self, f: &Formula<Prop>) -> Vec<bool> {
        let all = |value| vec![value; self.places.len()];
        match f {
            Formula::True => all(true),
            Formula::False => all(false),
            Formula::Atom(p) => self.places.iter().map(|i| holds(*p, &self.word.letters[*i])).collect(),
            Formula::Not(g) => not(&self.values(g)),
            Formula::Unary(op, g) => {
                let g = self.values(g);
                match op {
                    Unary::Next => (0..g.len()).map(|i| self.after(i).is_some_and(|j| g[j])).collect(),
                    Unary::Yesterday => (0..g.len()).map(|i| i > 0 && g[i - 1]).collect(),
                    Unary::Finally => self.until(&all(true), &g),
                    Unary::Globally => not(&self.until(&all(true), &not(&g))),
                    Unary::Once => since(&all(true), &g),
                    Unary::Historically => not(&since(&all(true), &not(&g))),
                }
            }
            Formula::Binary(op, g, h) => {
                let (g, h) = (self.values(g), self.values(h));
                let each = |f: fn(bool, bool) -> bool| g.iter().zip(&h).map(|(a, b)| f(*a, *b)).collect();
                match op {
                    Binary::And => each(|a, b| a && b),
                    Binary::Or => each(|a, b| a || b),
                    Binary::Implies => each(|a, b| !a || b),
                    Binary::Iff => each(|a, b| a == b),
                    Binary::Until => self.until(&g, &h),
                    Binary::Release => not(&self.until(&not(&g), &not(&h))),
                    Binary::WeakUntil => {
                        let always = not(&self.until(&all(true), &not(&g)));
                        let until = self.until(&g, &h);
                        always.iter().zip(until).map(|(a, u)| *a || u).collect()
                    }
                    Binary::Since => since(&g, &h),
                    Binary::Trigger => not(&since(&not(&g), &not(&h))),
                }
            }
        }
    }

    fn after(&self, i: usize) -> Option<usize> {
        if i + 1 < self.places.len() { Some(i + 1) } else { self.back }
    }

    /// The least u with `u = h or (g and X u)`: from the end to the beginning, and once more for what the loop brings.
    fn until(&self, g: &[bool], h: &[bool]) -> Vec<bool> {
        let mut u = vec![false; g.len()];
        for _ in 0..2 {
            for i in (0..g.len()).rev() {
                u[i] = h[i] || g[i] && self.after(i).is_some_and(|j| u[j]);
            }
        }
        u
    }
}

fn holds(p: Prop, l: &Letter) -> bool {
    let bit = |word: u64, i: u32| i < 64 && word >> i & 1 == 1;
    match p {
        Prop::State(i) => bit(l.here.props, i),
        Prop::Step(i) => l.taken.is_some_and(|t| bit(t, i)),
        Prop::Enabled(i) => bit(l.here.enabled, i),
        Prop::Deadlock => l.here.deadlock,
        Prop::Sink => l.here.sink,
    }
}

fn since(g: &[bool], h: &[bool]) -> Vec<bool> {
    let mut s = vec![false; g.len()];
    for i in 0..g.len() {
        s[i] = h[i] || g[i] && i > 0 && s[i - 1];
    }
    s
}

fn not(v: &[bool]) -> Vec<bool> {
    v.iter().map(|b| !b).collect()
}
