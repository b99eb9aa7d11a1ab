//! The options that say what is looked for in states.

use crate::explore::Options;

/// What is looked for.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Wanted {
    /// Do not check the invariant
    #[arg(long)]
    pub no_invariant: bool,
    /// Do not look for deadlocks
    #[arg(long)]
    pub no_deadlock: bool,
    /// Do not check ASSERTIONS
    #[arg(long)]
    pub no_assertions: bool,
    /// Do not look for states that fulfil GOAL
    #[arg(long)]
    pub no_goal: bool,
}

impl Wanted {
    /// Whether anything is not looked for.
    pub fn is_given(&self) -> bool {
        self.no_invariant || self.no_deadlock || self.no_assertions || self.no_goal
    }

    pub fn options(&self) -> Options {
        Options {
            invariant: !self.no_invariant,
            deadlock: !self.no_deadlock,
            assertions: !self.no_assertions,
            goal: !self.no_goal,
            ..Options::default()
        }
    }
}
