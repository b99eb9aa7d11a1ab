//! Permutations of three points act on words as a group does, and whatever the check of a witness takes is a member of the
//! group.

use super::*;
use crate::harness::{Choose, claim};

/// All permutations of three points.
const ALL: [[u32; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn permutation(c: &mut impl Choose) -> Perm {
    Perm(ALL[c.below(6) as usize].to_vec())
}

/// A representation over three points, and how many values it has: an element, a set, a relation, a pair with a
/// boolean, a record of two elements, a set of pairs with a boolean.
fn representation(c: &mut impl Choose) -> (Moves, u64) {
    let point = || Box::new(Moves::Point(0));
    let tagged = || Moves::Pair(point(), Box::new(Moves::Still), 2);
    match c.below(6) {
        0 => (Moves::Point(0), 3),
        1 => (Moves::Points(0), 1 << 3),
        2 => (Moves::Matrix(point(), point(), 3), 1 << 9),
        3 => (tagged(), 6),
        4 => (Moves::Rec(vec![(Moves::Point(0), 3), (Moves::Point(0), 3)]), 9),
        _ => (Moves::Mask(Box::new(tagged())), 1 << 6),
    }
}

fn actions(c: &mut impl Choose) -> bool {
    let (moves, values) = representation(c);
    let (word, p, q) = (c.below(values), permutation(c), permutation(c));
    let image = moves.word(word, &p);
    assert!(image < values);
    assert_eq!(moves.word(image, &q), moves.word(word, &p.then(&q)), "one after the other");
    assert_eq!(moves.word(word, &Perm::identity(3)), word, "the identity");
    assert_eq!(moves.word(image, &p.inverse()), word, "the inverse undoes it");
    assert!(p.then(&p.inverse()).is_identity());
    image != word
}

/// Two sets of two elements: the members are those that exchange elements within the sets.
fn members(c: &mut impl Choose) -> bool {
    let group = Group::of_sizes(&[2, 2]);
    let p = Perm(vec![c.below(5) as u32, c.below(5) as u32, c.below(5) as u32, c.below(5) as u32]);
    let is_exchange =
        |a: u32, b: u32, first: u32| (a == first && b == first + 1) || (a == first + 1 && b == first);
    let is_member = is_exchange(p.0[0], p.0[1], 0) && is_exchange(p.0[2], p.0[3], 2);
    assert_eq!(group.contains(&p), is_member);
    if is_member {
        assert!(group.contains(&p.inverse()) && group.contains(&p.then(&p)));
    }
    p.0[0] < 2 && p.0[1] < 2
}

mod claims {
    use super::claim;
    // Nine bits of a relation.
    claim!(actions, 11);
    // Four points.
    claim!(members, 6);
}
