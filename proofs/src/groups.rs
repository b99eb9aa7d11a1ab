//! Groups of permutations that fix one state, for random systems.

use std::collections::BTreeSet;

use kanon_refinement::concrete::{Concrete, Group, Small, Table};

/// A permutation as a list.
pub type Perm = Vec<u32>;

/// The group of the identity.
pub fn trivial<const N: usize, const G: usize, T>(l: &Concrete<Small<N, G>, T>) -> Group<Small<N, G>> {
    let mut aut = l.no_group(1);
    aut.push(&l.identity());
    aut
}

/// The permutations listed.
pub fn listed<const N: usize, const G: usize, T>(
    l: &Concrete<Small<N, G>, T>,
    perms: &[Perm],
) -> Group<Small<N, G>> {
    let mut aut = l.no_group(perms.len());
    for p in perms {
        aut.push(&table(l, p));
    }
    aut
}

fn table<const N: usize, const G: usize, T>(l: &Concrete<Small<N, G>, T>, p: &[u32]) -> Table<Small<N, G>> {
    let mut t = l.identity();
    for (s, &image) in p.iter().enumerate() {
        t.set(s, image as usize);
    }
    t
}

/// The group generated, sorted, the identity first; none if it has more than `cap` members.
pub fn closure(n: usize, generators: &[Perm], cap: usize) -> Option<Vec<Perm>> {
    let id: Perm = (0..n as u32).collect();
    let mut all = BTreeSet::from([id.clone()]);
    let mut fresh = vec![id];
    while let Some(p) = fresh.pop() {
        for g in generators {
            let q: Perm = p.iter().map(|&s| g[s as usize]).collect();
            if all.insert(q.clone()) {
                fresh.push(q);
            }
        }
        if all.len() > cap {
            return None;
        }
    }
    Some(all.into_iter().collect())
}

/// A group of at most `G` permutations that fix `i`: trivial, the swap of some pairs, a rotation, or the
/// exchange of equal blocks, as the members of a deferred set make it.
pub fn random<const N: usize, const G: usize, T>(
    l: &Concrete<Small<N, G>, T>,
    i: usize,
    mut pick: impl FnMut(usize) -> usize,
) -> Group<Small<N, G>> {
    listed(l, &random_perms(l.states(), i, G, &mut pick))
}

/// [`random`] as a list, with at most `cap` members.
pub fn random_perms(n: usize, i: usize, cap: usize, pick: &mut impl FnMut(usize) -> usize) -> Vec<Perm> {
    let id: Perm = (0..n as u32).collect();
    let movable: Vec<u32> = id.iter().copied().filter(|&s| s as usize != i).collect();
    // Cycles of the length `len` over the movable states, `stride` of them side by side.
    let cycles = |len: usize, turn: &dyn Fn(usize) -> usize| {
        let mut p = id.clone();
        let blocks = movable.len() / len;
        for b in 0..blocks {
            for j in 0..len {
                p[movable[b + blocks * j] as usize] = movable[b + blocks * turn(j)];
            }
        }
        p
    };
    let kind = pick(4);
    let len = 2 + pick(3);
    let generators = match kind {
        0 => vec![],
        1 => {
            let mut p = id.clone();
            for pair in movable.chunks_exact(2) {
                if pick(2) == 1 {
                    p.swap(pair[0] as usize, pair[1] as usize);
                }
            }
            vec![p]
        }
        2 => vec![cycles(len, &|j| (j + 1) % len)],
        _ => vec![cycles(3, &|j| (j + 1) % 3), cycles(3, &|j| [1, 0, 2][j])],
    };
    closure(n, &generators, cap).unwrap_or_else(|| vec![id])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_groups_are_groups() {
        for seed in 0..200usize {
            let mut x = seed * 2_654_435_761 + 1;
            let mut pick = |below| {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (x >> 33) % below
            };
            let perms = random_perms(10, 0, 8, &mut pick);
            assert!(perms.len() <= 8 && perms.iter().all(|p| p[0] == 0));
            assert_eq!(closure(10, &perms, usize::MAX), Some(perms));
        }
    }
}
