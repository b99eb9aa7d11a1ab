//! How much may be done for a shorter counterexample: a share of what the search has done, in counted steps. Seconds
//! would make the answer depend on the machine.

/// Steps that are left.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    left: u64,
}

impl Work {
    /// Even after the smallest search there is time for so much; this takes milliseconds.
    const LEAST: u64 = 1_000_000;
    /// So many times as much as the search: its steps are evaluations, and these are not.
    const SHARE: u64 = 4;

    /// What a search of so many steps allows.
    pub fn after(steps: usize) -> Work {
        Work { left: (steps as u64).saturating_mul(Self::SHARE).max(Self::LEAST) }
    }

    /// Whether so many steps could still be done; they are done now.
    pub fn spend(&mut self, steps: usize) -> bool {
        let is_enough = self.left >= steps as u64;
        self.left = self.left.saturating_sub(steps as u64);
        is_enough
    }

    pub fn is_spent(&self) -> bool {
        self.left == 0
    }
}
