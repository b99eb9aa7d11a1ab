//! Writes certificates: what an exploration found, so that kanon-checker can check it without any of the code here.
//!
//! The file's form is kanon-checker's ([`kanon_checker::container`], [`kanon_checker::codec`]); what is written comes
//! from the store when the search is over. Every stored state is expanded once more, for the witnesses of those of its
//! successors that are stored under other names. Nothing is checked here: that is the checker's business.
//!
//! Absent on purpose: anything that the checker would have to believe.

mod formulas;
pub mod ltl;

pub use formulas::{Argued, write_formulas};

use crate::explore::{Explored, StateId};
use crate::model::{Decl, Model};
use crate::symmetry::{Action, Group, Perm, Reducer};
use crate::system::{Machine, Stop, System, Transition, Visitor, Worker};
use crate::value::Value;
use crate::value::fault::Fault;
use kanon_checker::codec::{put, put_number};
use kanon_checker::container::{FULL, Kind, Writer};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Why there is no certificate.
#[derive(Debug)]
pub enum Failed {
    /// The file cannot be written.
    File(io::Error),
    /// Something in the states has no form in a certificate, or the search and this disagree.
    Inside(String),
    /// The time is up.
    Stopped,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Failed::File(e) => write!(f, "{e}"),
            Failed::Inside(why) => f.write_str(why),
            Failed::Stopped => f.write_str("the time is up"),
        }
    }
}

impl From<io::Error> for Failed {
    fn from(e: io::Error) -> Failed {
        Failed::File(e)
    }
}

/// The sets that witnesses rename, in the order of the certificate.
pub fn sets(group: &Group, model: &Model) -> Vec<String> {
    if group.is_trivial() {
        return vec![];
    }
    group.orbitals.iter().map(|o| model.sets[o.set.index()].name.to_string()).collect()
}

/// Writes the certificate of a complete exploration: the statement, and the proof after it.
///
/// # Errors
/// Why there is none.
pub fn write<W: Write>(
    out: W,
    statement: &str,
    system: &Arc<Machine>,
    action: Option<&Arc<dyn Action>>,
    explored: &Explored,
    stop: &Stop,
) -> Result<W, Failed> {
    let mut writer = Writer::new(out, statement)?;
    let reduction = explored.reduction.as_ref().zip(action).filter(|(_, a)| !a.group().is_trivial());
    let reducer = match reduction {
        Some((r, action)) => Some(
            Reducer::new(action, r.strategy, false)
                .ok_or_else(|| Failed::Inside("this strategy has no witnesses".into()))?,
        ),
        None => None,
    };
    let group = reduction.map(|(_, action)| action.group().clone()).unwrap_or_default();
    let worker = system.worker(stop);
    let mut certifier = Certifier { system, explored, reducer, group, worker, stop };
    valuations(system, stop, &mut writer)?;
    certifier.initial(&mut writer)?;
    certifier.states(&mut writer)?;
    no_other_valuations(system, stop, &mut writer)?;
    Ok(writer.seal()?)
}

/// The proof that the solver has found all valuations, if it was the solver who found them.
fn no_other_valuations<W: Write>(
    system: &Machine,
    stop: &Stop,
    writer: &mut Writer<W>,
) -> Result<(), Failed> {
    if !system.is_solved_by_solver() {
        return Ok(());
    }
    let listed: Vec<_> = (0..system.valuations()).map(|v| system.constant_values(v)).collect();
    formulas::write_no_others(writer, &system.model, &system.scope, &listed, stop)
}

struct Certifier<'a> {
    system: &'a Machine,
    explored: &'a Explored,
    reducer: Option<Reducer>,
    group: Group,
    worker: Worker,
    stop: &'a Stop,
}

/// Records of one kind, in chunks.
struct Chunks<'w, W: Write> {
    writer: &'w mut Writer<W>,
    kind: Kind,
    bytes: Vec<u8>,
}

impl<W: Write> Chunks<'_, W> {
    /// A record is complete.
    fn end_of_record(&mut self) -> io::Result<()> {
        if self.bytes.len() < FULL {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        self.writer.chunk(self.kind, &self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

fn untold() -> Failed {
    Failed::Inside("a value has no form in a certificate".into())
}

impl Certifier<'_> {
    fn go_on(&self) -> Result<(), Failed> {
        if self.stop.load(Ordering::Relaxed) { Err(Failed::Stopped) } else { Ok(()) }
    }

    fn initial<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<(), Failed> {
        let mut chunks = Chunks { writer, kind: Kind::Initial, bytes: vec![] };
        for valuation in 0..self.system.valuations() {
            self.go_on()?;
            let mut rows: Vec<Vec<u64>> = vec![];
            let found = self.system.initial(&mut self.worker, valuation, &mut |_, row| {
                rows.push(row.to_vec());
                ControlFlow::Continue(())
            });
            let _ = found.map_err(|f| Failed::Inside(format!("INITIALISATION: {f:?}")))?;
            self.witnesses(&rows, &mut chunks.bytes)?;
            chunks.end_of_record()?;
        }
        Ok(chunks.flush()?)
    }

    fn states<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<(), Failed> {
        let mut chunks = Chunks { writer, kind: Kind::States, bytes: vec![] };
        let mut row = vec![];
        for id in 0..self.explored.store.len() as StateId {
            self.go_on()?;
            self.explored.store.read(id, &mut row);
            chunks.bytes.extend(encoded(self.system, &row)?);
            if self.reducer.is_none() {
                // Every successor is stored as it is, or the checker will say which one is not.
                put_number(&mut chunks.bytes, 0);
            } else {
                let mut seen = Targets { rows: vec![], is_faulty: false };
                let _ = self.system.successors(&mut self.worker, &row, &mut seen);
                if seen.is_faulty {
                    return Err(Failed::Inside("an operation has no value".into()));
                }
                self.witnesses(&seen.rows, &mut chunks.bytes)?;
            }
            chunks.end_of_record()?;
        }
        Ok(chunks.flush()?)
    }

    /// The witnesses of those rows that are not stored as they are, in the order of their bytes.
    fn witnesses(&mut self, rows: &[Vec<u64>], out: &mut Vec<u8>) -> Result<(), Failed> {
        let mut others: BTreeMap<Vec<u8>, &Vec<u64>> = BTreeMap::new();
        if self.reducer.is_some() {
            for row in rows.iter().filter(|r| self.explored.store.find(r).is_none()) {
                others.insert(encoded(self.system, row)?, row);
            }
        }
        put_number(out, others.len() as u64);
        let Some(reducer) = &mut self.reducer else { return Ok(()) };
        for row in others.into_values() {
            let (_, witness) = reducer.key_with_witness(row);
            put_permutation(out, &self.group, witness);
        }
        Ok(())
    }
}

fn valuations<W: Write>(system: &Machine, stop: &Stop, writer: &mut Writer<W>) -> Result<(), Failed> {
    let mut chunks = Chunks { writer, kind: Kind::Valuations, bytes: vec![] };
    let constants = &system.model.constants;
    for valuation in 0..system.valuations() {
        if stop.load(Ordering::Relaxed) {
            return Err(Failed::Stopped);
        }
        if constants.is_empty() {
            put_number(&mut chunks.bytes, 0);
        }
        for (value, d) in system.constant_values(valuation).iter().zip(constants) {
            put_number(&mut chunks.bytes, u64::from(value.is_some()));
            if let Some(v) = value
                && !put(&mut chunks.bytes, v, &d.ty)
            {
                return Err(untold());
            }
        }
        chunks.end_of_record()?;
    }
    Ok(chunks.flush()?)
}

/// A state as bytes.
fn encoded(system: &Machine, row: &[u64]) -> Result<Vec<u8>, Failed> {
    let mut out = vec![];
    put_number(&mut out, system.start_of(row) as u64);
    let values = system.variable_values(row);
    let one = |(v, d): (&Value, &Decl)| put(&mut out, v, &d.ty);
    match values.iter().zip(&system.model.variables).all(one) {
        true => Ok(out),
        false => Err(untold()),
    }
}

/// The image of each element, set by set.
fn put_permutation(out: &mut Vec<u8>, group: &Group, p: &Perm) {
    for o in &group.orbitals {
        for point in o.first..o.first + o.size {
            put_number(out, u64::from(p.0[point as usize] - o.first));
        }
    }
}

struct Targets {
    rows: Vec<Vec<u64>>,
    is_faulty: bool,
}

impl Visitor<<Machine as System>::Here> for Targets {
    fn transition(&mut self, t: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        self.rows.push(t.target.to_vec());
        ControlFlow::Continue(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        self.is_faulty = true;
        ControlFlow::Break(())
    }
}
