//! A check that is written down now and then, or goes on with one that was ([`crate::checkpoint`]).

use super::deadline::Deadline;
use super::notes;
use super::project::Solved;
use crate::checkpoint::{Checkpoints, Report, Wish};
use crate::explore::keep::{self, Again, Keeping};
use crate::explore::{self, Explored, Options, Progress};
use crate::lang::diag::Diagnostic;
use crate::symmetry::Action;
use crate::trace::fault::plain_error;
use crate::verdict::Verdict;
use std::sync::Arc;

fn wrong(why: impl std::fmt::Display) -> Vec<Diagnostic> {
    vec![plain_error(why.to_string())]
}

/// Explores, and says what there is to say of checkpoints.
///
/// # Errors
/// What is in the way of going on, and options that do not go together.
pub(super) fn explore(
    solved: &Solved,
    action: Option<&Arc<dyn Action>>,
    wish: &Wish,
    options: &Options,
    deadline: &Deadline,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Explored, Vec<String>), Vec<Diagnostic>> {
    let options = &Options { checkpoint: true, ..options.clone() };
    let sources = &solved.project.opened.sources;
    let (mut said, mut again) = (vec![], None);
    if let Some(resumed) = &wish.again {
        resumed.same_model(&solved.machine, sources).map_err(wrong)?;
        let read = resumed.read(&solved.machine).map_err(wrong)?;
        said.push(notes::taken_up(read.store.len(), read.open.len()));
        said.extend(resumed.damaged.iter().cloned());
        said.extend(resumed.has_asked_solver().then(|| notes::CHOSEN_BY_SOLVER.to_string()));
        if wish.audit {
            said.push(audit(solved, action, options, &read, deadline)?);
        }
        again = Some(read);
    }
    let checkpoints = Checkpoints::begin(wish, &solved.machine, &solved.setup, sources);
    let checkpoints = checkpoints.map_err(|e| wrong(format!("cannot write checkpoints: {e}")))?;
    let reports = checkpoints.reports();
    let keeping = Keeping { keeper: Some(Box::new(checkpoints)), again };
    let explored =
        explore::explore_keeping(&*solved.machine, action, options, keeping, &deadline.flag, progress);
    let explored = explored.map_err(wrong)?;
    let report = reports.now();
    said.extend((options.timed && report.written > 0).then(|| notes::written(&report)));
    said.extend(went(wish, &report, matches!(explored.verdict, Verdict::Unknown(_))));
    Ok((explored, said))
}

/// Executes the clauses that what is taken up has to satisfy.
fn audit(
    solved: &Solved,
    action: Option<&Arc<dyn Action>>,
    options: &Options,
    again: &Again,
    deadline: &Deadline,
) -> Result<String, Vec<Diagnostic>> {
    match keep::audit(&*solved.machine, action, options, again, &deadline.flag) {
        Ok(_) if deadline.is_set() => Err(wrong("the checkpoint was not audited to its end")),
        Ok(expanded) => Ok(notes::audited(expanded)),
        Err((clause, state)) => {
            let place = state.map(|id| format!(" (state {id})")).unwrap_or_default();
            Err(wrong(format!("audit: the checkpoint does not satisfy {clause}{place}: it is not taken up")))
        }
    }
}

/// What a person should know of the checkpoints that were written.
fn went(wish: &Wish, report: &Report, is_unfinished: bool) -> Vec<String> {
    let mut said = vec![];
    let has_any = report.written > 0 || wish.again.is_some();
    if let Some(why) = &report.failed {
        said.push(notes::not_written(why, has_any));
    }
    if is_unfinished && has_any {
        said.push(notes::how_to_resume(wish.folder.path()));
    }
    said
}
