//! A project: files, model and scope, read once; and its machine with the constants solved, made once.

use super::blame;
use super::constants::{self, Constants};
use super::deadline::Deadline;
use crate::lang::diag::Diagnostic;
use crate::lang::files::{Disk, Files};
use crate::model::open::{self, Opened, Refused};
use crate::model::scope::ScopeArgs;
use crate::symmetry::{Action, MachineAction};
use crate::system::{First, Machine, Setup};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Valuations of the constants that are looked for at most, where all are found first and no other limit is given.
pub const MAX_VALUATIONS: usize = 2_000_000;

/// Otherwise so many are found before they are explored, and the others as they come.
const FIRST: First = First { valuations: 1 << 16, patience: Duration::from_secs(3) };

/// A model with its files and its scope. What adds to the model (a goal, formulas) comes before [`Project::solve`].
#[derive(Default)]
pub struct Project {
    /// The files, the typed model and its scope.
    pub opened: Opened,
    /// Valuations of the constants that are taken at most, if there is such a limit.
    pub max_constants: Option<usize>,
    /// Which of them.
    pub constants: Constants,
    /// How many texts were read for the model; others come from the command line.
    pub texts: usize,
    /// The goal, if it is not the machine's own.
    pub goal: Option<String>,
    /// By operation of the model: how many of its parameters come from outside ([`Machine::guided`]).
    pub given: Vec<usize>,
}

/// A project whose constants are solved.
pub struct Solved<'p> {
    /// What was solved.
    pub project: &'p Project,
    /// The model made executable.
    pub machine: Arc<Machine>,
    /// How the search for constants ended.
    pub setup: Setup,
    /// Obligations that are relied on, by their places in the model's list.
    pub relied: Vec<usize>,
    /// What should be known about the valuations that were taken.
    pub note: Option<String>,
    /// What permutations of the model's sets do to its states.
    action: std::sync::OnceLock<Arc<dyn Action>>,
}

impl Project {
    /// Reads a machine with all that it refers to.
    ///
    /// # Errors
    /// What is wrong with the model or its sizes.
    pub fn open(path: &Path, scope: &ScopeArgs) -> Result<Project, Refused> {
        Project::open_from(Arc::new(Disk), path, scope)
    }

    /// The same with files from elsewhere than the disk, or with some of its files only.
    ///
    /// # Errors
    /// What is wrong with the model or its sizes.
    pub fn open_from(files: Arc<dyn Files>, path: &Path, scope: &ScopeArgs) -> Result<Project, Refused> {
        let opened = open::open_from(files, path, scope)?;
        let texts = opened.sources.next().0 as usize;
        Ok(Project { opened, texts, ..Project::default() })
    }

    /// Looks for states that fulfil this predicate, instead of the machine's GOAL.
    ///
    /// # Errors
    /// What is wrong with the predicate.
    pub fn set_goal(&mut self, text: &str) -> Result<(), Vec<Diagnostic>> {
        self.opened.model.goal = Some(self.opened.predicate("--goal", text)?);
        self.goal = Some(text.to_string());
        Ok(())
    }

    /// Finds all valuations of the constants.
    ///
    /// # Errors
    /// PROPERTIES that no valuation fulfils are an error of the model; not so where it is open whether one does.
    pub fn solve(&self, deadline: &Deadline) -> Result<Solved<'_>, Vec<Diagnostic>> {
        self.solve_relying(deadline, false, false)
    }

    /// Finds the first valuations of the constants; [`super::check::check`] finds the others while it explores.
    ///
    /// # Errors
    /// As [`Project::solve`].
    pub fn solve_first(&self, deadline: &Deadline) -> Result<Solved<'_>, Vec<Diagnostic>> {
        self.solve_relying(deadline, true, false)
    }

    /// The first valuations or all of them; with `relies`, what the file says is proved will not be evaluated
    /// ([`Machine::rely_on_proofs`]).
    pub(super) fn solve_relying(
        &self,
        deadline: &Deadline,
        first: bool,
        relies: bool,
    ) -> Result<Solved<'_>, Vec<Diagnostic>> {
        self.solve_as_before(deadline, first, relies, None)
    }

    /// The same; a run that is taken up begins with so many first valuations, if there were others to come.
    pub(super) fn solve_as_before(
        &self,
        deadline: &Deadline,
        first: bool,
        relies: bool,
        before: Option<usize>,
    ) -> Result<Solved<'_>, Vec<Diagnostic>> {
        if let Some(n) = before {
            let most = self.max_constants.unwrap_or(usize::MAX);
            return self.solved(deadline, relies, |machine| machine.setup_as_before(n, most, &deadline.flag));
        }
        if !first || self.constants != Constants::All {
            let most = self.max_constants.unwrap_or(MAX_VALUATIONS);
            return self.solved(deadline, relies, |machine| machine.setup(most, &deadline.flag));
        }
        let most = self.max_constants.unwrap_or(usize::MAX);
        self.solved(deadline, relies, |machine| machine.setup_first(FIRST, most, &deadline.flag))
    }

    fn solved(
        &self,
        deadline: &Deadline,
        relies: bool,
        setup: impl FnOnce(&mut Machine) -> Setup,
    ) -> Result<Solved<'_>, Vec<Diagnostic>> {
        let mut machine = Machine::guided(self.opened.model.clone(), self.opened.scope.clone(), &self.given);
        let relied = if relies { machine.rely_on_proofs() } else { vec![] };
        let setup = setup(&mut machine);
        let is_decided = setup.fault.is_none() && setup.truncated.is_none() && !deadline.is_set();
        if setup.valuations == 0 && is_decided {
            return Err(vec![blame::properties(&self.opened)]);
        }
        let mut machine = Arc::new(machine);
        let (mut setup, mut note) = (setup, None);
        let is_complete = setup.fault.is_none() && setup.truncated.is_none();
        if self.constants == Constants::Prob && is_complete {
            let kept = constants::kept(&machine);
            // Nobody else has it yet.
            if let (Some((kept, why)), Some(machine)) = (kept, Arc::get_mut(&mut machine)) {
                setup = machine.keep(&kept);
                note = Some(why);
            }
        }
        Ok(Solved { project: self, machine, setup, relied, note, action: Default::default() })
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
