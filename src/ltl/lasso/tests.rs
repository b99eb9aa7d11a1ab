//! The judge accepts a path as a counterexample only if it is one, by a definition that is written in another way: moments
//! are counted, and nothing is unrolled or computed backwards.

use super::super::structure::Edge;
use super::*;
use crate::harness::{Choose, claim};

/// Letters of a word at most, and moments that are looked at: from any place of a loop of three letters, six moments on,
/// everything that will ever be was seen.
const MOST: u64 = 3;
const FAR: usize = 6;

/// What two propositions of states and one of steps are at each moment.
struct Moments {
    p: Vec<bool>,
    q: Vec<bool>,
    is_enabled: Vec<bool>,
    is_taken: Vec<bool>,
    /// The first moment from which on only places of the loop come; none if the path ends.
    round: Option<usize>,
}

impl Moments {
    fn of(word: &LassoWord) -> Moments {
        let n = word.letters.len();
        let last = if word.back.is_some() { n + 2 * FAR } else { n };
        let place = |k: usize| match word.back {
            Some(back) if k >= n => back + (k - back) % (n - back),
            _ => k,
        };
        let of = |f: &dyn Fn(&Letter) -> bool| (0..last).map(|k| f(&word.letters[place(k)])).collect();
        Moments {
            p: of(&|l| l.here.props & 1 == 1),
            q: of(&|l| l.here.props >> 1 & 1 == 1),
            is_enabled: of(&|l| l.here.edges.iter().any(|e| e.props & 1 == 1)),
            is_taken: of(&|l| l.taken.is_some_and(|t| t.props & 1 == 1)),
            round: word.back.map(|_| n),
        }
    }

    /// Whether the k-th formula of [`formula`] holds at the beginning.
    fn holds(&self, which: u64) -> bool {
        let (p, q, end) = (&self.p, &self.q, self.p.len());
        // What comes again and again, or the last moment of a path that ends.
        let late = self.round.unwrap_or(end - 1)..end;
        match which {
            0 => p.iter().all(|p| *p),
            1 => q.iter().any(|q| *q),
            2 => (0..end).any(|j| q[j] && p[..j].iter().all(|p| *p)),
            3 => p.get(1).is_some_and(|p| *p),
            4 => p[late].iter().any(|p| *p),
            5 => q[late].iter().all(|q| *q),
            6 => (0..end).all(|k| !p[k] || q[..=k].iter().any(|q| *q)),
            7 => (1..end).any(|k| q[k] && p[k - 1]),
            _ => (0..end).any(|k| q[k] && (0..=k).any(|j| q[j] && p[j..=k].iter().all(|p| *p))),
        }
    }

    /// Whether it fulfils the k-th premise of [`premise`].
    fn is_fair(&self, which: u64) -> bool {
        let Some(round) = self.round else { return true };
        let is_taken = self.is_taken[round..].iter().any(|t| *t);
        let mut enabled = self.is_enabled[round..].iter();
        match which {
            0 => true,
            1 => is_taken || enabled.any(|e| !e),
            _ => is_taken || enabled.all(|e| !e),
        }
    }
}

fn formula(which: u64) -> Formula<Prop> {
    let atom = |n| Formula::Atom(Prop::State(n));
    let unary = |op, f| Formula::Unary(op, Box::new(f));
    let binary = |op, f, g| Formula::Binary(op, Box::new(f), Box::new(g));
    let (p, q) = (atom(0), atom(1));
    match which {
        0 => unary(Unary::Globally, p),
        1 => unary(Unary::Finally, q),
        2 => binary(Binary::Until, p, q),
        3 => unary(Unary::Next, p),
        4 => unary(Unary::Globally, unary(Unary::Finally, p)),
        5 => unary(Unary::Finally, unary(Unary::Globally, q)),
        6 => unary(Unary::Globally, binary(Binary::Implies, p, unary(Unary::Once, q))),
        7 => unary(Unary::Finally, binary(Binary::And, q, unary(Unary::Yesterday, p))),
        // p holds since a moment at which q did, that moment included.
        _ => {
            let both = binary(Binary::And, p.clone(), q.clone());
            unary(Unary::Finally, binary(Binary::And, q, binary(Binary::Since, p, both)))
        }
    }
}

fn premise(which: u64) -> Option<Fairness<u32>> {
    match which {
        0 => None,
        1 => Some(Fairness::Weak(0)),
        _ => Some(Fairness::Strong(0)),
    }
}

/// A path of up to three states, which closes or ends in a deadlock.
fn refutations(c: &mut impl Choose) -> bool {
    let n = 1 + c.below(MOST) as usize;
    let back = Some(c.below(n as u64 + 1) as usize).filter(|back| *back < n);
    let mut letters = vec![];
    for i in 0..n {
        let mut here = Expansion { props: c.below(4), ..Expansion::default() };
        let mut taken = None;
        if i + 1 < n || back.is_some() {
            let props = c.below(2);
            taken = Some(Taken { props, instance: 0 });
            for props in [props, c.below(2)] {
                here.edges.push(Edge { target: 0, props, instance: 0, stays: false });
            }
        }
        letters.push(Letter { here: Arc::new(here), taken });
    }
    let word = LassoWord { letters, back };
    let (f, fair) = (c.below(9), c.below(3));
    let property = Resolved { premise: premise(fair), formula: formula(f) };
    let moments = Moments::of(&word);
    let is_one = moments.is_fair(fair) && !moments.holds(f);
    assert_eq!(word.refutes(&property), is_one, "formula {f}, premise {fair}: {word:?}");
    is_one && back.is_some()
}

mod claims {
    use super::claim;
    // Three letters and twelve moments.
    claim!(refutations, 17);
}
