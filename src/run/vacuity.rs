//! Parts of a temporal formula that do not matter: it holds whatever stands in their place.
//!
//! A formula in which a part stands positively grows with the part (if the part is true at more places of a path, so is
//! the formula), and one in which it stands negatively shrinks. So a formula that holds with *false* in place of a positive
//! part, or *true* in place of a negative one, holds with anything there; and that is decided by one more search. Parts of
//! an equivalence stand both ways and are not tried. The whole formula counts as a part: with *false* it holds only if no
//! path fulfils its premise of fairness.

use crate::temporal::syntax::{Binary, Formula};
use std::fmt;

/// A part that does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// As it was written.
    pub part: String,
    /// It is the whole formula.
    pub is_whole: bool,
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.is_whole {
            true => write!(f, "it holds since no path counts: none fulfils what is assumed of fairness"),
            false => write!(f, "it holds vacuously: `{}` does not matter", self.part),
        }
    }
}

/// A place in a formula: which operand to take, from the outside.
pub type Place = [u8];

/// Tries the parts of a formula from the outside. `holds` is given the formula without a part, and the place of the part; if
/// it says yes, what is inside of that part is not tried.
pub fn idle<A: Clone>(formula: &Formula<A>, holds: &mut dyn FnMut(Formula<A>, &Place) -> bool) {
    inside(formula, formula, &mut vec![], true, holds);
}

fn inside<A: Clone>(
    whole: &Formula<A>,
    part: &Formula<A>,
    place: &mut Vec<u8>,
    positive: bool,
    holds: &mut dyn FnMut(Formula<A>, &Place) -> bool,
) {
    if matches!(part, Formula::True | Formula::False) {
        return;
    }
    let with = if positive { Formula::False } else { Formula::True };
    if holds(replaced(whole, place, &with), place) {
        return;
    }
    let mut go = |child: &Formula<A>, at: u8, positive: bool| {
        place.push(at);
        inside(whole, child, place, positive, holds);
        place.pop();
    };
    match part {
        Formula::True | Formula::False | Formula::Atom(_) => {}
        Formula::Not(f) => go(f, 0, !positive),
        Formula::Unary(_, f) => go(f, 0, positive),
        Formula::Binary(Binary::Iff, ..) => {}
        Formula::Binary(op, f, g) => {
            go(f, 0, positive != (*op == Binary::Implies));
            go(g, 1, positive);
        }
    }
}

fn replaced<A: Clone>(f: &Formula<A>, place: &Place, with: &Formula<A>) -> Formula<A> {
    let Some((at, rest)) = place.split_first() else { return with.clone() };
    match f {
        Formula::Not(g) => replaced(g, rest, with).not(),
        Formula::Unary(op, g) => replaced(g, rest, with).unary(*op),
        Formula::Binary(op, g, h) if *at == 0 => replaced(g, rest, with).binary(*op, (**h).clone()),
        Formula::Binary(op, g, h) => (**g).clone().binary(*op, replaced(h, rest, with)),
        // Places are made from the formula, and these have no parts.
        Formula::True | Formula::False | Formula::Atom(_) => f.clone(),
    }
}

/// The part at a place.
pub fn part<'f, A>(f: &'f Formula<A>, place: &Place) -> &'f Formula<A> {
    let Some((at, rest)) = place.split_first() else { return f };
    match f {
        Formula::Not(g) | Formula::Unary(_, g) => part(g, rest),
        Formula::Binary(_, g, h) => part(if *at == 0 { g } else { h }, rest),
        Formula::True | Formula::False | Formula::Atom(_) => f,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::syntax::Unary;

    /// G (a => F b), with what is put in the place of each part, from the outside.
    #[test]
    fn parts_are_replaced_by_what_is_least_for_the_formula() {
        let atom = |a: char| Formula::atom(a);
        let f = atom('a').binary(Binary::Implies, atom('b').unary(Unary::Finally)).unary(Unary::Globally);
        let mut tried = vec![];
        idle(&f, &mut |changed, place| {
            tried.push((changed.to_string(), part(&f, place).to_string()));
            false
        });
        let expected = [
            ("false", "G (a => F b)"),
            ("G false", "a => F b"),
            ("G (true => F b)", "a"),
            ("G (a => false)", "F b"),
            ("G (a => F false)", "b"),
        ];
        assert_eq!(tried, expected.map(|(a, b)| (a.to_string(), b.to_string())));
        // Inside of what does not matter nothing is tried, and nothing in an equivalence.
        let mut tried = 0;
        idle(&f, &mut |_, place| {
            tried += 1;
            place == [0]
        });
        assert_eq!(tried, 2);
        let iff = atom('a').binary(Binary::Iff, atom('b')).not();
        let mut tried = vec![];
        idle(&iff, &mut |changed, _| {
            tried.push(changed.to_string());
            false
        });
        assert_eq!(tried, ["false", "not true"]);
    }
}
