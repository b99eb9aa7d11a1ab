//! All states symmetric to one, each once.

use super::action::Action;
use super::group::Perm;

/// Finds orbits by generators: what a generator makes of a member is a member.
pub struct Orbits<'a, 's, 'm> {
    action: &'a Action<'s, 'm>,
    generators: Vec<Perm>,
    open: Vec<Vec<u64>>,
    image: Vec<u64>,
}

impl<'a, 's, 'm> Orbits<'a, 's, 'm> {
    #[must_use]
    pub fn new(action: &'a Action<'s, 'm>) -> Orbits<'a, 's, 'm> {
        Orbits { action, generators: action.group.generators(), open: vec![], image: vec![] }
    }

    /// Calls `add` for states of the orbit until it has answered for each whether it is new. The row itself is
    /// known to be. A state whose constants have no known image is left alone.
    pub fn each(&mut self, row: &[u64], add: &mut dyn FnMut(&[u64]) -> bool) {
        self.open.push(row.to_vec());
        while let Some(s) = self.open.pop() {
            for p in &self.generators {
                if self.action.row(&s, p, &mut self.image) && add(&self.image) {
                    self.open.push(self.image.clone());
                }
            }
        }
    }

    /// The first valuation of the constants of every orbit.
    #[must_use]
    pub fn valuations(&self) -> Vec<usize> {
        let count = self.action.system.valuations();
        let mut seen = vec![false; count];
        let mut firsts = vec![];
        for v in 0..count {
            if seen[v] {
                continue;
            }
            firsts.push(v);
            seen[v] = true;
            let mut open = vec![v];
            while let Some(at) = open.pop() {
                for p in &self.generators {
                    if let Some(next) = self.action.valuation(at, p)
                        && !std::mem::replace(&mut seen[next], true)
                    {
                        open.push(next);
                    }
                }
            }
        }
        firsts
    }
}
