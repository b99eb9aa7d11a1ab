//! A project: files, model and scope, read once; and its machine with the constants solved, made once.

use super::blame;
use super::deadline::Deadline;
use crate::lang::diag::Diagnostic;
use crate::model::open::{self, Opened, Refused};
use crate::model::scope::ScopeArgs;
use crate::symmetry::{Action, MachineAction};
use crate::system::{Machine, Setup};
use std::path::Path;
use std::sync::Arc;

/// Valuations of the constants that are looked for at most.
pub const MAX_VALUATIONS: usize = 2_000_000;

/// A model with its files and its scope. What adds to the model (a goal, formulas) comes before [`Project::solve`].
#[derive(Default)]
pub struct Project {
    /// The files, the typed model and its scope.
    pub opened: Opened,
}

/// A project whose constants are solved.
pub struct Solved<'p> {
    /// What was solved.
    pub project: &'p Project,
    /// The model made executable.
    pub machine: Arc<Machine>,
    /// How the search for constants ended.
    pub setup: Setup,
    /// What permutations of the model's sets do to its states.
    action: std::sync::OnceLock<Arc<dyn Action>>,
}

impl Project {
    /// Reads a machine with all that it refers to.
    ///
    /// # Errors
    /// What is wrong with the model or its sizes.
    pub fn open(path: &Path, scope: &ScopeArgs) -> Result<Project, Refused> {
        Ok(Project { opened: open::open(path, scope)? })
    }

    /// Looks for states that fulfil this predicate, instead of the machine's GOAL.
    ///
    /// # Errors
    /// What is wrong with the predicate.
    pub fn set_goal(&mut self, text: &str) -> Result<(), Vec<Diagnostic>> {
        self.opened.model.goal = Some(self.opened.predicate("--goal", text)?);
        Ok(())
    }

    /// Solves the constants.
    ///
    /// # Errors
    /// PROPERTIES that no valuation fulfils are an error of the model; not so where it is open whether one does.
    pub fn solve(&self, deadline: &Deadline) -> Result<Solved<'_>, Vec<Diagnostic>> {
        let mut machine = Machine::new(self.opened.model.clone(), self.opened.scope.clone());
        let setup = machine.setup(MAX_VALUATIONS, &deadline.flag);
        let is_decided = setup.fault.is_none() && setup.truncated.is_none() && !deadline.is_set();
        if setup.valuations == 0 && is_decided {
            return Err(vec![blame::properties(&self.opened)]);
        }
        Ok(Solved { project: self, machine: Arc::new(machine), setup, action: Default::default() })
    }

    /// The user's errors, with the texts that they point into.
    pub fn refuse(self, diagnostics: Vec<Diagnostic>) -> Refused {
        self.opened.refuse(diagnostics)
    }
}

impl Solved<'_> {
    /// What permutations that the model allows do to its states.
    pub fn action(&self) -> &Arc<dyn Action> {
        self.action.get_or_init(|| Arc::new(MachineAction::of(&self.machine)))
    }
}
