//! Certificates of temporal formulas: the nodes that the search for paths has stored, in the formulas and the numbers that
//! kanon-checker works with. Every listed state is expanded once more, for the witnesses of its successors.
//!
//! Absent on purpose: anything that the checker would have to believe.

use super::{Chunks, Failed, Targets, encoded, put_permutation, untold, valuations};
use crate::ltl::proof::{Core, Fair, Proved, Reason};
use crate::ltl::{Resolved, StateId};
use crate::symmetry::{Action, Group, Reducer, Strategy};
use crate::system::{Label, Machine, Stop, System, Worker};
use kanon_checker::codec::{put, put_number};
use kanon_checker::container::{Kind, Writer};
use kanon_checker::ltl::closure::{self, Closure};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A formula that holds, and what the search for paths has left.
pub struct Paths<'a> {
    pub property: &'a Resolved,
    pub proved: &'a Proved,
    /// The rows of the states that have nodes, in the order of [`states`].
    pub rows: &'a [Vec<u64>],
    /// The structure's numbers of instances, and what they stand for.
    pub instances: &'a [(u32, Label)],
}

/// The states that have nodes.
pub fn states(proved: &Proved) -> Vec<StateId> {
    let mut all: Vec<StateId> = proved.nodes.iter().map(|n| n.state).collect();
    all.dedup();
    all
}

/// Writes the certificate: the statement, and the proof after it. `reduction` is what representatives were found with.
///
/// # Errors
/// Why there is none.
pub fn write<W: Write>(
    out: W,
    statement: &str,
    system: &Arc<Machine>,
    reduction: Option<(&Arc<dyn Action>, Strategy)>,
    paths: &Paths,
    stop: &Stop,
) -> Result<W, Failed> {
    let mut writer = Writer::new(out, statement)?;
    let reduction = reduction.filter(|(action, _)| !action.group().is_trivial());
    let reducer = match reduction {
        Some((action, strategy)) => Some(
            Reducer::new(action, strategy, false)
                .ok_or_else(|| Failed::Inside("this strategy has no witnesses".into()))?,
        ),
        None => None,
    };
    let group = reduction.map(|(action, _)| action.group().clone()).unwrap_or_default();
    let listed = paths.rows.iter().map(|row| &row[..]).collect();
    let worker = system.worker(stop);
    let mut certifier = Certifier { system, paths, listed, reducer, group, worker, stop };
    valuations(system, stop, &mut writer)?;
    certifier.initial(&mut writer)?;
    certifier.states(&mut writer)?;
    certifier.nodes(&mut writer)?;
    super::no_other_valuations(system, stop, &mut writer)?;
    Ok(writer.seal()?)
}

struct Certifier<'a> {
    system: &'a Machine,
    paths: &'a Paths<'a>,
    listed: std::collections::HashSet<&'a [u64]>,
    reducer: Option<Reducer>,
    group: Group,
    worker: Worker,
    stop: &'a Stop,
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
            let others = self.others(&rows)?;
            let others = if self.reducer.is_some() { others } else { vec![] };
            put_number(&mut chunks.bytes, others.len() as u64);
            for row in others {
                self.witness(&row, &mut chunks.bytes);
            }
            chunks.end_of_record()?;
        }
        Ok(chunks.flush()?)
    }

    fn states<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<(), Failed> {
        let mut chunks = Chunks { writer, kind: Kind::States, bytes: vec![] };
        for row in self.paths.rows {
            self.go_on()?;
            chunks.bytes.extend(encoded(self.system, row)?);
            let mut placed = vec![];
            if self.reducer.is_some() {
                let mut seen = Targets { rows: vec![], is_faulty: false };
                let _ = self.system.successors(&mut self.worker, row, &mut seen);
                if seen.is_faulty {
                    return Err(Failed::Inside("an operation has no value".into()));
                }
                for (place, other) in self.others(&seen.rows)?.into_iter().enumerate() {
                    let mut bytes = vec![];
                    put_number(&mut bytes, place as u64);
                    // What no node leads to need not be listed.
                    if self.witness(&other, &mut bytes) {
                        placed.push(bytes);
                    }
                }
            }
            put_number(&mut chunks.bytes, placed.len() as u64);
            chunks.bytes.extend(placed.concat());
            chunks.end_of_record()?;
        }
        Ok(chunks.flush()?)
    }

    /// The rows that are not listed as they are, each once, in the order of their bytes.
    fn others(&self, rows: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, Failed> {
        let mut others: BTreeMap<Vec<u8>, &Vec<u64>> = BTreeMap::new();
        for row in rows.iter().filter(|r| !self.listed.contains(&r[..])) {
            others.insert(encoded(self.system, row)?, row);
        }
        Ok(others.into_values().cloned().collect())
    }

    /// Appends the witness of a row; whether it leads to a listed state.
    fn witness(&mut self, row: &[u64], out: &mut Vec<u8>) -> bool {
        let Some(reducer) = &mut self.reducer else { return false };
        let (key, witness) = reducer.key_with_witness(row);
        put_permutation(out, &self.group, witness);
        self.listed.contains(key)
    }

    fn nodes<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), Failed> {
        let Paths { property, proved, instances, .. } = self.paths;
        let closure = Closure::of_negation(&property.formula);
        let formulas = translated(&proved.formulas, &closure);
        let number = |f: u32| {
            let known = formulas.get(f as usize).copied().flatten();
            known.ok_or_else(|| Failed::Inside("a formula that the checker does not know".into()))
        };
        let mut chunks = Chunks { writer: &mut *writer, kind: Kind::Obligations, bytes: vec![] };
        for asked in &proved.asked {
            let mut obligations = vec![];
            for (f, value) in &asked.claims {
                obligations.push(2 * number(*f)? + u32::from(!value));
            }
            let mut past = vec![];
            for f in &asked.past {
                past.push(number(*f)?);
            }
            for list in [&mut obligations, &mut past] {
                list.sort_unstable();
                put_list(&mut chunks.bytes, list);
            }
            chunks.end_of_record()?;
        }
        chunks.flush()?;
        // Instances in the order in which components speak of them.
        let mut told = Told { known: instances.iter().map(|(i, l)| (*i, l)).collect(), written: vec![] };
        let mut chunks = Chunks { writer: &mut *writer, kind: Kind::Components, bytes: vec![] };
        for reason in &proved.components {
            let out = &mut chunks.bytes;
            match reason {
                Reason::Left => put_number(out, 0),
                Reason::Postponed(f) => {
                    put_number(out, 1);
                    put_number(out, u64::from(number(*f)?));
                }
                Reason::Ignored(fair) => {
                    put_number(out, 2);
                    told.put_fair(out, *fair);
                }
                Reason::Starved(all) => {
                    put_number(out, 3);
                    put_number(out, all.len() as u64);
                    all.iter().for_each(|fair| told.put_fair(out, *fair));
                }
            }
            chunks.end_of_record()?;
        }
        chunks.flush()?;
        let mut chunks = Chunks { writer: &mut *writer, kind: Kind::Instances, bytes: vec![] };
        for i in &told.written {
            let label = told.known.get(i).and_then(|l| self.system.labelled(l)).ok_or_else(untold)?;
            put_number(&mut chunks.bytes, label.op.index() as u64);
            let model = &self.system.model;
            for (local, value) in model.operations[label.op.index()].params.iter().zip(&label.params) {
                let value = value.as_ref().ok_or_else(untold)?;
                if !put(&mut chunks.bytes, value, &model.local(*local).ty) {
                    return Err(untold());
                }
            }
            chunks.end_of_record()?;
        }
        chunks.flush()?;
        let mut chunks = Chunks { writer, kind: Kind::Nodes, bytes: vec![] };
        for of_state in proved.nodes.chunk_by(|a, b| a.state == b.state) {
            self.go_on()?;
            put_number(&mut chunks.bytes, of_state.len() as u64);
            for node in of_state {
                put_number(&mut chunks.bytes, u64::from(node.asked));
                node.components.iter().for_each(|of| put_list(&mut chunks.bytes, of));
            }
            chunks.end_of_record()?;
        }
        Ok(chunks.flush()?)
    }
}

/// Instances, numbered as they are met.
struct Told<'a> {
    known: HashMap<u32, &'a Label>,
    written: Vec<u32>,
}

impl Told<'_> {
    fn put_fair(&mut self, out: &mut Vec<u8>, fair: Fair) {
        let (of, number) = match fair {
            Fair::Step(i) => (0, u64::from(i)),
            Fair::Instance(i) => {
                let known = self.written.iter().position(|other| *other == i);
                let at = known.unwrap_or(self.written.len());
                if known.is_none() {
                    self.written.push(i);
                }
                (1, at as u64)
            }
        };
        put_number(out, of);
        put_number(out, number);
    }
}

/// How many, and each.
fn put_list(out: &mut Vec<u8>, list: &[u32]) {
    put_number(out, list.len() as u64);
    list.iter().for_each(|n| put_number(out, u64::from(*n)));
}

/// The search's formulas by the checker's numbers; some are only of use to the search.
pub fn translated(formulas: &[Core], closure: &Closure) -> Vec<Option<u32>> {
    let mut found: Vec<Option<u32>> = vec![];
    for f in formulas {
        let of = |i: u32| found.get(i as usize).copied().flatten();
        let both = |a: u32, b: u32, op: fn(u32, u32) -> closure::Core| Some(op(of(a)?, of(b)?));
        let core = match *f {
            Core::True => Some(closure::Core::True),
            Core::Prop(p) => Some(closure::Core::Prop(p)),
            Core::Not(g) => of(g).map(closure::Core::Not),
            Core::Or(g, h) => both(g, h, closure::Core::Or),
            Core::Next(g) => of(g).map(closure::Core::Next),
            Core::Until(g, h) => both(g, h, closure::Core::Until),
            Core::Yesterday(g) => of(g).map(closure::Core::Yesterday),
            Core::Since(g, h) => both(g, h, closure::Core::Since),
        };
        let number = core.and_then(|core| closure.find(core));
        found.push(number);
    }
    found
}
