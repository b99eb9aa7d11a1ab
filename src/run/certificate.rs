//! Certificates of checks and of formulas: the statement that is made, and the file that is written.

use super::project::{Project, Solved};
use crate::certify::ltl::Paths;
use crate::certify::{self, Argued, Failed};
use crate::explore::plan::Refusal;
use crate::explore::{Explored, Options};
use crate::ltl::machine::Predicates;
use crate::ltl::proof::Proved;
use crate::ltl::space::Space;
use crate::symmetry::{Action, Strategy};
use crate::system::{Machine, Stop};
use crate::temporal::atoms::Bound;
use kanon_checker::check::{files, sizes};
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use kanon_solver::solver;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROOFS: Refusal = Refusal(
    "what is only said to be proved is in no certificate: leave out `--certificate` or `--proof-info`",
);
const FORMULAS: Refusal = Refusal(
    "this certificate is about states; `kanon ltl --certificate` writes those of formulas: leave out `--ltl`",
);
const SEVERAL: Refusal =
    Refusal("a certificate is about one formula: give one, or leave out `--certificate`");
const CHOSEN: Refusal = Refusal(
    "a certificate is about all paths from initial states: leave out `--certificate`, or `--from` and `--current`",
);
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
    whole_machine(path, solved)?;
    let action = explored.reduction.as_ref().map(|_| solved.action());
    let statement = Statement {
        constants: known_by(solved),
        symmetry: action.map(|a| certify::sets(a.group(), &solved.machine.model)).unwrap_or_default(),
        valuations: solved.machine.valuations() as u64,
        states: explored.store.len() as u64,
        ..statement(solved.project, options)
    };
    let statement = statement.json();
    whole(path, |out| certify::write(out, &statement, &solved.machine, action, explored, stop))
}

/// A certificate is about the whole of a machine.
fn whole_machine(path: &Path, solved: &Solved) -> Result<(), String> {
    if solved.project.opened.model.left_out.is_empty() {
        return Ok(());
    }
    let why = "a part of the machine is left out, and the checker takes nothing but whole machines";
    Err(format!("cannot write {}: {why}", path.display()))
}

/// Whether there can be a certificate of formulas: how many there are, and whether paths start in a chosen state, or a
/// formula speaks of one.
///
/// # Errors
/// Why not.
pub fn formulas_refused(chosen: bool, formulas: usize) -> Result<(), Refusal> {
    match formulas {
        _ if chosen => Err(CHOSEN),
        1 => Ok(()),
        _ => Err(SEVERAL),
    }
}

/// A formula that holds, with what the search for paths has stored.
pub struct Proven<'a> {
    pub bound: &'a Bound,
    pub proved: &'a Proved,
    pub space: &'a Space<'a, Machine, Predicates>,
    /// What representatives were found with.
    pub reduction: Option<(&'a Arc<dyn Action>, Strategy)>,
}

/// Writes the certificate of a formula that holds, and says where.
pub fn write_formula(path: &Path, solved: &Solved, formula: &Proven, stop: &Stop) -> Result<PathBuf, String> {
    whole_machine(path, solved)?;
    let symmetry = formula.reduction.map(|(a, _)| certify::sets(a.group(), &solved.machine.model));
    let rows: Vec<Vec<u64>> =
        certify::ltl::states(formula.proved).into_iter().map(|s| formula.space.row(s).to_vec()).collect();
    let claims = Claims {
        invariant: false,
        assertions: false,
        no_deadlock: false,
        goal: Goal::Ignored,
        goal_text: None,
        formula: Some(formula.bound.text.clone()),
    };
    let statement = Statement {
        constants: known_by(solved),
        claims,
        symmetry: symmetry.unwrap_or_default(),
        valuations: solved.machine.valuations() as u64,
        states: rows.len() as u64,
        ..statement(solved.project, &Options::default())
    };
    let statement = statement.json();
    let instances = formula.space.propositions().instances();
    let paths = Paths {
        property: &formula.bound.property,
        proved: formula.proved,
        rows: &rows,
        instances: &instances,
    };
    whole(path, |out| certify::ltl::write(out, &statement, &solved.machine, formula.reduction, &paths, stop))
}

/// Writes the certificate of a proof by formulas, and says where.
pub fn write_formulas(
    path: &Path,
    project: &Project,
    options: &Options,
    found: &Argued,
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

fn known_by(solved: &Solved) -> Constants {
    if solved.machine.is_solved_by_solver() { Constants::Solved } else { Constants::Enumerated }
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
            formula: None,
        },
        symmetry: vec![],
        valuations: 0,
        states: 0,
        formulas: None,
    }
}
