//! All states symmetric to one, each once.

use super::Action;
use super::group::Perm;
use std::collections::HashSet;
use std::sync::Arc;

/// Finds orbits by generators: what a generator makes of a member is a member.
pub struct Orbits {
    action: Arc<dyn Action>,
    generators: Vec<Perm>,
    open: Vec<Vec<u64>>,
    image: Vec<u64>,
}

impl Orbits {
    #[must_use]
    pub fn new(action: &Arc<dyn Action>) -> Orbits {
        let generators = action.group().generators();
        Orbits { action: action.clone(), generators, open: vec![], image: vec![] }
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

    /// Whether a start is the first of its orbit that is asked for; `seen` has the starts of the orbits so far.
    pub fn is_first(&self, start: usize, seen: &mut HashSet<usize>) -> bool {
        if !seen.insert(start) {
            return false;
        }
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            for p in &self.generators {
                if let Some(next) = self.action.start(at, p)
                    && seen.insert(next)
                {
                    open.push(next);
                }
            }
        }
        true
    }
}
