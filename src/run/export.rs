//! A machine as a file for other tools: its transitions as a circuit (AIGER), or its paths up to a length as a formula
//! (SMT-LIB 2, DIMACS).
//!
//! What is bad in the file is what is bad for our engines ([`super::symbolic`]): observers, states for which there is no
//! room, an INITIALISATION without a value. A machine of which a part would be missing in the file is refused: whoever
//! reads it could not know.

use super::deadline::Deadline;
use super::notes;
use super::project::Project;
use super::symbolic::{self, Backend, Solvers, WD};
use super::why;
use crate::explore::Options;
use crate::model::reading::Reading;
use crate::symbolic::encode::Mutant;
use kanon_solver::aiger::{self, Beyond};
use kanon_solver::export;
use kanon_solver::solver::Stop;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// And-inverter graph with latches: as text (`aag`), or as bytes (`aig`).
    Aiger {
        /// The text, which not every tool reads.
        is_text: bool,
    },
    /// Paths of at most so many steps, integers exact.
    Smt2 {
        /// Steps.
        depth: usize,
    },
    /// The same, as clauses.
    Dimacs {
        /// Steps.
        depth: usize,
    },
}

/// What to write, and of what.
#[derive(Clone, Debug)]
pub struct Task {
    /// The format.
    pub form: Form,
    /// Bits of integers without bounds; SMT-LIB needs none.
    pub width: usize,
    /// What becomes of numbers that need more.
    pub beyond: Beyond,
    /// What is looked for.
    pub options: Options,
    /// A wrong encoding, planted by a test.
    #[doc(hidden)]
    pub mutant: Mutant,
}

/// Bits of integers without bounds, if nothing is said.
pub const WIDTH: usize = 16;

impl Task {
    /// Everything is looked for.
    pub fn new(form: Form) -> Task {
        Task {
            form,
            width: WIDTH,
            beyond: Beyond::Allowed,
            options: Options::default(),
            mutant: Mutant::None,
        }
    }
}

/// A file, and what should be known about it.
pub struct Exported {
    /// The file.
    pub bytes: Vec<u8>,
    /// What its answers mean.
    pub notes: Vec<String>,
}

/// Writes a machine for other tools.
///
/// # Errors
/// Why there is no file: what has no formula, with its place; that the time is over.
pub fn export(project: &Project, task: &Task, deadline: &Deadline) -> Result<Exported, String> {
    let opened = &project.opened;
    let model = &opened.model;
    if opened.reading != Reading::Kleene {
        return Err(WD.0.into());
    }
    symbolic::plan(&task.options, project.constants, project.max_constants).map_err(|r| r.0.to_string())?;
    let wanted = symbolic::wanted(model, &task.options);
    if model.not_covered(wanted.deadlock).is_some() {
        return Err(
            "a part of the refinement speaks of variables of its abstraction and has no formula: `kanon refine` \
                    is for these"
                .into(),
        );
    }
    let mut encoded =
        symbolic::formulas(opened, wanted, task.mutant, deadline).map_err(|w| why::text(&w, opened))?;
    if let Some((observer, r)) = encoded.uncovered.first() {
        let (what, why) = (symbolic::named(opened, *observer), symbolic::refused(opened, r));
        return Err(format!("there is no formula for {what}: {why}"));
    }
    let stop = Stop::never().with_flag(deadline.flag.clone());
    let solvers = Solvers::choose(Backend::Auto, &encoded, stop.clone());
    // A file without a start would let everything hold.
    symbolic::has_start(&solvers, &mut encoded).map_err(|w| why::text(&w.why(), opened))?;
    if !encoded.quantifiers.is_empty() {
        return Err("PROPERTIES quantify over more values than a formula can list".into());
    }
    for (property, observer) in encoded.transitions.properties.iter_mut().zip(&encoded.observers) {
        property.name = symbolic::named(opened, *observer).into();
    }
    symbolic::clauses::name_variables(&mut encoded, model);
    let mut remarks = vec![format!("{}, written by kanon", model.name)];
    remarks.extend(notes::scope(opened));
    let (transitions, terms) = (&encoded.transitions, &mut encoded.encoder.terms);
    let late = || match deadline.why() {
        Some(w) => why::text(&w, opened),
        None => "the time is over".to_string(),
    };
    let mut notes = vec![];
    let words = (task.width, task.beyond);
    let (bytes, can_overflow) = match task.form {
        Form::Aiger { is_text } => {
            let made = aiger::circuit(terms, transitions, task.width, task.beyond, &stop);
            let mut circuit = made.ok_or_else(late)?;
            remarks.append(&mut circuit.remarks);
            circuit.remarks = remarks;
            let (inputs, latches, gates, bad) = circuit.size();
            notes.push(format!("{inputs} inputs, {latches} latches, {gates} gates, {bad} bad outputs"));
            let bytes = if is_text { circuit.text().into_bytes() } else { circuit.binary() };
            (bytes, circuit.can_overflow)
        }
        Form::Smt2 { depth } => (export::smt2(terms, transitions, depth, &remarks).into_bytes(), false),
        Form::Dimacs { depth } => {
            let file = export::dimacs(terms, transitions, depth, words, &remarks, &stop).ok_or_else(late)?;
            (file.text.into_bytes(), file.can_overflow)
        }
    };
    if can_overflow {
        notes.push(match task.beyond {
            Beyond::Allowed => format!(
                "integers without bounds have {} bits, and a larger one is taken for any: that there is no error is \
                 true of the machine, an error need not be (`--beyond exclude`, `--width`)",
                task.width
            ),
            Beyond::Excluded => format!(
                "integers without bounds have {} bits, and larger ones are left out: an error is one of the machine, \
                 that there is none need not be true (`--beyond allow`, `--width`)",
                task.width
            ),
        });
    }
    Ok(Exported { bytes, notes })
}
