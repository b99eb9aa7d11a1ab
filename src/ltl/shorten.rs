//! Shorter counterexamples: what can be left out is left out, as long as the path still refutes the property.
//!
//! A path that comes to the same state twice can be cut between the two or closed there. Whether the rest is still a
//! counterexample is for [`LassoWord::refutes`] to say, so nothing here has to be believed.

use super::lasso::{Lasso, LassoWord};
use super::structure::StateId;
use super::work::Work;
use crate::temporal::syntax::Resolved;
use std::collections::HashMap;

/// A path as places of the one that was found.
#[derive(Clone)]
struct Chosen {
    places: Vec<usize>,
    back: Option<usize>,
}

/// A path is read letter by letter, once for each part of the formula. When the work is spent, the best so far counts.
pub fn shorten(lasso: &Lasso, word: &LassoWord, property: &Resolved, work: &mut Work) -> (Lasso, LassoWord) {
    let mut best = Chosen { places: (0..lasso.states.len()).collect(), back: lasso.back };
    let parts = property.formula.subformulas().len();
    // A premise looks at the edges of every state.
    let edges = |c: &Chosen| match property.premise {
        Some(_) => c.places.iter().map(|i| word.letters[*i].here.edges.len()).sum(),
        None => 0,
    };
    'again: loop {
        let mut candidates = shorter(&best, lasso);
        if !work.spend(candidates.iter().map(|c| c.places.len()).sum()) {
            break;
        }
        candidates.sort_by_key(|c| c.places.len());
        for c in candidates {
            if !work.spend(c.places.len() * parts + edges(&c)) {
                break 'again;
            }
            if chosen_word(&c, word).refutes(property) {
                best = c;
                continue 'again;
            }
        }
        break;
    }
    (chosen_lasso(&best, lasso), chosen_word(&best, word))
}

/// Many pairs of equal states on a long path would be too many to write down: places in all candidates together.
const MAX_CANDIDATE_PLACES: usize = 1_000_000;

fn shorter(path: &Chosen, lasso: &Lasso) -> Vec<Chosen> {
    let mut found = vec![];
    let n = path.places.len();
    let mut visits: HashMap<StateId, Vec<usize>> = HashMap::new();
    for (at, place) in path.places.iter().enumerate() {
        visits.entry(lasso.states[*place]).or_default().push(at);
    }
    let mut repeated: Vec<Vec<usize>> = visits.into_values().filter(|v| v.len() > 1).collect();
    repeated.sort_unstable();
    for visits in repeated {
        let pairs = visits.iter().enumerate().flat_map(|(k, i)| visits[k + 1..].iter().map(|j| (*i, *j)));
        for (i, j) in pairs {
            if (found.len() + 2) * n > MAX_CANDIDATE_PLACES {
                return found;
            }
            let Some(back) = path.back else {
                found.push(without(path, i, j, None));
                continue;
            };
            // Closed at the second visit.
            found.push(Chosen { places: path.places[..j].to_vec(), back: Some(i) });
            if j <= back {
                found.push(without(path, i, j, Some(back - (j - i))));
            } else if i >= back {
                found.push(without(path, i, j, Some(back)));
            } else {
                // From the stem into the middle of the loop, and then around it.
                let mut places = [&path.places[..i], &path.places[j..]].concat();
                let back_again = places.len();
                places.extend(&path.places[back..]);
                if places.len() < n {
                    found.push(Chosen { places, back: Some(back_again) });
                }
            }
        }
    }
    // The loop may start earlier when the stem ends as the loop does.
    if let Some(back) = path.back.filter(|b| *b > 0) {
        let (before, last) = (path.places[back - 1], path.places[n - 1]);
        if lasso.states[before] == lasso.states[last] && lasso.steps[before] == lasso.steps[last] {
            found.push(Chosen { places: path.places[..n - 1].to_vec(), back: Some(back - 1) });
        }
    }
    found
}

fn without(path: &Chosen, i: usize, j: usize, back: Option<usize>) -> Chosen {
    Chosen { places: [&path.places[..i], &path.places[j..]].concat(), back }
}

fn chosen_word(c: &Chosen, word: &LassoWord) -> LassoWord {
    LassoWord { letters: c.places.iter().map(|i| word.letters[*i].clone()).collect(), back: c.back }
}

fn chosen_lasso(c: &Chosen, lasso: &Lasso) -> Lasso {
    let steps = c.places.iter().filter_map(|i| lasso.steps.get(*i).copied()).collect();
    Lasso { states: c.places.iter().map(|i| lasso.states[*i]).collect(), steps, back: c.back }
}
