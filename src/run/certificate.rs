//! Certificates of checks: the statement that is made, and the file that is written.

use super::project::{Project, Solved};
use crate::certify::{self, Failed, Found};
use crate::explore::plan::Refusal;
use crate::explore::{Explored, Options};
use crate::symmetry::Strategy;
use crate::system::Stop;
use kanon_checker::check::{files, sizes};
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use kanon_solver::solver;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

const PROOFS: Refusal = Refusal(
    "what is only said to be proved is in no certificate: leave out `--certificate` or `--proof-info`",
);
const FORMULAS: Refusal =
    Refusal("certificates are about states, not about formulas: leave out `--certificate` or `--ltl`");
const STRATEGY: Refusal = Refusal(
    "this strategy has no witnesses, which a certificate needs: take `--symmetry off`, `canon`, `nauty` or `auto`",
);

/// Whether there can be a certificate.
///
/// # Errors
/// An option that does not go with one.
pub fn refused(options: &Options, proof_info: bool, with_formulas: bool) -> Result<(), Refusal> {
    match options.symmetry {
        _ if proof_info => Err(PROOFS),
        _ if with_formulas => Err(FORMULAS),
        Strategy::Flood | Strategy::Markers => Err(STRATEGY),
        _ => Ok(()),
    }
}

/// Writes the certificate of a check that holds, and says where.
pub fn write(
    path: &Path,
    solved: &Solved,
    explored: &Explored,
    options: &Options,
    stop: &Stop,
) -> Result<PathBuf, String> {
    let action = explored.reduction.as_ref().map(|_| solved.action());
    let statement = Statement {
        constants: match solved.machine.is_solved_by_solver() {
            true => Constants::Solved,
            false => Constants::Enumerated,
        },
        symmetry: action.map(|a| certify::sets(a.group(), &solved.machine.model)).unwrap_or_default(),
        valuations: solved.machine.valuations() as u64,
        states: explored.store.len() as u64,
        ..statement(solved.project, options)
    };
    let statement = statement.json();
    whole(path, |out| certify::write(out, &statement, &solved.machine, action, explored, stop))
}

/// Writes the certificate of a proof by formulas, and says where.
pub fn write_formulas(
    path: &Path,
    project: &Project,
    options: &Options,
    found: &Found,
    stop: &solver::Stop,
) -> Result<PathBuf, String> {
    let statement = statement(project, options);
    whole(path, |out| certify::write_formulas(out, statement, &project.opened, found, stop))
}

/// Under another name until it is whole: a file that is there is not lost to one that fails.
fn whole<T>(
    path: &Path,
    write: impl FnOnce(BufWriter<File>) -> Result<T, Failed>,
) -> Result<PathBuf, String> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = File::create(&part).map_err(Failed::File).and_then(|file| {
        write(BufWriter::new(file))?;
        Ok(std::fs::rename(&part, path)?)
    });
    match written {
        Ok(()) => Ok(path.to_path_buf()),
        Err(why) => {
            // Where it could not even be created there is none.
            let _ = std::fs::remove_file(&part);
            Err(format!("cannot write {}: {why}", path.display()))
        }
    }
}

/// What is claimed, of which files; nothing of the proof.
fn statement(project: &Project, options: &Options) -> Statement {
    let opened = &project.opened;
    let (model, scope) = (&opened.model, &opened.scope);
    let mut files = files(&opened.sources);
    files.truncate(project.texts);
    let goal = match (&model.goal, &project.goal) {
        (Some(_), Some(_)) if options.goal => Goal::Given,
        (Some(_), None) if options.goal => Goal::Model,
        _ => Goal::Ignored,
    };
    Statement {
        kanon: env!("CARGO_PKG_VERSION").to_string(),
        files,
        machine: model.name.to_string(),
        sets: sizes(model, scope),
        minint: scope.minint.clone(),
        maxint: scope.maxint.clone(),
        wd: opened.reading.name().to_string(),
        constants: Constants::Enumerated,
        claims: Claims {
            invariant: options.invariant,
            assertions: options.assertions,
            no_deadlock: options.deadlock,
            goal,
            goal_text: project.goal.clone().filter(|_| goal == Goal::Given),
        },
        symmetry: vec![],
        valuations: 0,
        states: 0,
        formulas: None,
    }
}
