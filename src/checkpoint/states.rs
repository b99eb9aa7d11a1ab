//! The states of a machine as bytes, and back.
//!
//! Rows are written as they are packed in the store, since for most types a word means the same in every run: an ordinal,
//! the bits of a set, a small integer. Names of interned values mean something in one run only, so for each variable that
//! has them the values follow by structure ([`kanon_checker::codec`]), and whoever reads gives them names of its own. The
//! same with valuations of constants, whose numbers are given as they are met.

use super::file::{Reader, Writer};
use crate::explore::keep::{Again, Course, Kept};
use crate::explore::store::{Arriving, ROOT};
use crate::explore::{Layout, StateId, Store};
use crate::model::{Decl, Type};
use crate::system::{Machine, System, Width};
use crate::value::Value;
use crate::value::packed::is_packed;
use crate::value::val::{Val, from_value, to_value};
use kanon_checker::codec::{Bytes, put, put_number};
use kanon_refinement::kernel::{Insertion, Rrac};
use std::collections::{BTreeSet, HashMap};
use std::io::{self, ErrorKind, Write};

pub(super) fn damaged(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// Something in a state cannot be written down.
fn formless() -> io::Error {
    damaged("a value has no form in a checkpoint")
}

/// The widths of a row, for the head.
pub fn widths(system: &Machine) -> Vec<String> {
    let name = |w: &Width| match w {
        Width::Bits(n) => format!("{n} bits"),
        Width::Name => "name".to_string(),
        Width::Integer => "integer".to_string(),
        Width::Sequence(packing) => format!("sequence over {}", packing.carrier()),
    };
    system.widths().iter().map(name).collect()
}

/// The variables whose words may be names: the place in a row, and which variable.
pub(crate) fn named(system: &Machine) -> Vec<(usize, usize)> {
    let widths = system.widths();
    let offset = widths.len() - system.model.variables.len();
    let places = widths.iter().enumerate().filter(|(_, w)| !matches!(w, Width::Bits(_)));
    places.map(|(place, _)| (place, place - offset)).collect()
}

/// A word's value by structure, if the word is the name of one; it is read back, so that what is written can be.
fn described(system: &Machine, variable: usize, word: u64) -> Option<Vec<u8>> {
    let rep = &system.slots[system.const_slots() + variable].rep;
    let ty = &system.model.variables[variable].ty;
    let value = to_value(&system.table().decode(word, rep), rep);
    form(system, &value, ty)
}

/// A value by structure; it is read back, so that what is written can be.
pub(crate) fn form(system: &Machine, value: &Value, ty: &Type) -> Option<Vec<u8>> {
    let mut out = vec![];
    if !put(&mut out, value, ty) {
        return None;
    }
    let mut bytes = Bytes::new(&out);
    let is_read = bytes.value(ty, &system.scope).as_ref() == Some(value) && bytes.is_empty();
    is_read.then_some(out)
}

/// The values of the constants, valuation by valuation.
pub fn valuations(system: &Machine) -> Option<Vec<u8>> {
    let mut out = vec![];
    put_number(&mut out, system.valuations() as u64);
    for valuation in 0..system.valuations() {
        for (value, d) in system.constant_values(valuation).iter().zip(&system.model.constants) {
            // A symbolic constant has no structure; whoever goes on finds it again, and in the same place.
            put_number(&mut out, u64::from(value.is_some()));
            if let Some(value) = value {
                out.extend(form(system, value, &d.ty)?);
            }
        }
    }
    Some(out)
}

/// The words of a row that are names.
fn is_name(width: Width, word: u64) -> bool {
    match width {
        Width::Bits(_) => false,
        Width::Name => true,
        Width::Integer | Width::Sequence(_) => word & 1 == 1,
    }
}

/// Writes valuations, names, large words, rows, parents and open states.
pub fn write<W: Write>(out: &mut Writer<W>, system: &Machine, kept: &Kept) -> io::Result<()> {
    let section = |out: &mut Writer<W>, bytes: &[u8]| {
        out.section(bytes.len() as u64)?;
        out.put(bytes)
    };
    let Kept { layout, states, open, .. } = kept;
    section(out, &names(system, kept)?)?;
    let large: Vec<u8> = layout.large_words().iter().flat_map(|w| w.to_le_bytes()).collect();
    section(out, &large)?;
    // What was stored before is described by now, since valuations and values are only added.
    section(out, &valuations(system).ok_or_else(formless)?)?;
    let lengths = layout.word_bytes();
    out.section(states.len() as u64 * lengths.iter().sum::<usize>() as u64)?;
    let mut buffer: Vec<u8> = Vec::with_capacity(1 << 16);
    for key in states.keys() {
        for (word, length) in key.iter().zip(&lengths) {
            buffer.extend(&word.to_le_bytes()[..*length]);
        }
        flush(out, &mut buffer, 1 << 15)?;
    }
    flush(out, &mut buffer, 1)?;
    out.section(states.len() as u64 * 4)?;
    for parent in states.parents() {
        buffer.extend(parent.to_le_bytes());
        flush(out, &mut buffer, 1 << 15)?;
    }
    flush(out, &mut buffer, 1)?;
    out.section(open.len() as u64 * 4)?;
    for id in open {
        buffer.extend(id.to_le_bytes());
        flush(out, &mut buffer, 1 << 15)?;
    }
    flush(out, &mut buffer, 1)
}

pub(super) fn flush<W: Write>(out: &mut Writer<W>, buffer: &mut Vec<u8>, least: usize) -> io::Result<()> {
    if buffer.len() >= least {
        out.put(buffer)?;
        buffer.clear();
    }
    Ok(())
}

/// For each variable with names: how many there are in states, and each with its value.
fn names(system: &Machine, kept: &Kept) -> io::Result<Vec<u8>> {
    let (named, widths) = (named(system), system.widths());
    let mut words: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); named.len()];
    if !named.is_empty() {
        for key in kept.states.keys() {
            for ((place, _), words) in named.iter().zip(&mut words) {
                let word = kept.layout.word(&key, *place);
                if is_name(widths[*place], word) {
                    words.insert(word);
                }
            }
        }
    }
    let mut out = vec![];
    for ((_, variable), words) in named.iter().zip(words) {
        put_number(&mut out, words.len() as u64);
        for word in words {
            put_number(&mut out, word);
            out.extend(described(system, *variable, word).ok_or_else(formless)?);
        }
    }
    Ok(out)
}

/// The rows of a file, for a machine whose constants are solved as far as they were.
pub(super) struct Rows<'m> {
    known: Known<'m>,
    widths: Vec<Width>,
    /// How they are packed in the file.
    written: Layout,
    named: Vec<(usize, usize)>,
    names: Vec<HashMap<u64, u64>>,
    /// Bytes of each word.
    lengths: Vec<usize>,
    key: Vec<u64>,
    /// Bytes of a row.
    pub length: usize,
    /// How many there are.
    pub count: u64,
}

impl<'m> Rows<'m> {
    /// Reads what comes before them.
    pub fn begin(reader: &mut Reader, system: &'m Machine) -> io::Result<Rows<'m>> {
        let names =
            read_names(&reader.bytes()?, system).ok_or_else(|| damaged("its values cannot be read"))?;
        let large = words(&reader.bytes()?).ok_or_else(|| damaged("its integers cannot be read"))?;
        let valuations = read_valuations(&reader.bytes()?, system)
            .ok_or_else(|| damaged("the constants have other values, or come in another order"))?;
        let widths = system.widths();
        let written = Layout::new(&widths);
        written.set_large_words(&large);
        let known = Known { system, valuations, offset: widths.len() - system.model.variables.len() };
        let lengths = written.word_bytes();
        let length = lengths.iter().sum::<usize>();
        let bytes = reader.section()?;
        if bytes % length as u64 != 0 {
            return Err(damaged("a state is cut off"));
        }
        let (named, count, key) = (named(system), bytes / length as u64, vec![0; lengths.len()]);
        if count >= u64::from(ROOT) {
            return Err(damaged("there are too many states"));
        }
        Ok(Rows { known, widths, written, named, names, lengths, key, length, count })
    }

    /// The row that is written in these bytes, with the names that values have here.
    pub fn row(&mut self, bytes: &[u8], row: &mut Vec<u64>) -> io::Result<()> {
        let mut at = 0;
        for (word, length) in self.key.iter_mut().zip(&self.lengths) {
            let mut le = [0; 8];
            le[..*length].copy_from_slice(&bytes[at..at + length]);
            (*word, at) = (u64::from_le_bytes(le), at + length);
        }
        if !self.written.is_key(&self.key) {
            return Err(damaged("a state is none"));
        }
        row.clear();
        row.extend(self.written.unpack(&self.key));
        for ((place, _), names) in self.named.iter().zip(&self.names) {
            if is_name(self.widths[*place], row[*place]) {
                row[*place] = *names.get(&row[*place]).ok_or_else(|| damaged("a value is missing"))?;
            }
        }
        if !self.known.is_row(row) {
            return Err(damaged("a state is none of this model"));
        }
        Ok(())
    }
}

/// Reads them for a machine whose constants are solved as far as they were.
pub fn read(reader: &mut Reader, system: &Machine, course: Course) -> io::Result<Again> {
    let mut all = Rows::begin(reader, system)?;
    let mut store = Store::new(Layout::new(&system.widths()));
    // Parents come after all rows, and a state is stored with its parent.
    let bytes = usize::try_from(all.count * all.length as u64);
    let mut rows: Vec<u8> = vec![0; bytes.map_err(|_| damaged("there are too many states"))?];
    reader.take(&mut rows)?;
    if reader.section()? != all.count * 4 {
        return Err(damaged("it has not as many parents as states"));
    }
    let (mut row, mut parent) = (vec![], [0u8; 4]);
    for (id, bytes) in rows.chunks_exact(all.length).enumerate() {
        all.row(bytes, &mut row)?;
        reader.take(&mut parent)?;
        let parent = u32::from_le_bytes(parent);
        if parent != ROOT && parent as usize >= id {
            return Err(damaged("a state comes before its parent"));
        }
        if let Insertion::Present(_) = store.insert_if_absent(Arriving { row: &row, parent }) {
            return Err(damaged("a state is there twice"));
        }
    }
    drop(rows);
    let open = read_open(&reader.bytes()?, store.len()).ok_or_else(|| damaged("an open state is none"))?;
    let is_stored = |id: StateId| (id as usize) < store.len();
    if course.found.finding.as_ref().and_then(|f| f.state).is_some_and(|id| !is_stored(id)) {
        return Err(damaged("it has found something in a state that is none"));
    }
    Ok(Again { store, open, course })
}

fn words(bytes: &[u8]) -> Option<Vec<u64>> {
    let words = bytes.chunks_exact(8);
    words
        .remainder()
        .is_empty()
        .then(|| words.map(|w| w.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))).collect())
}

/// Open states: each is stored, and is there once.
pub(super) fn read_open(bytes: &[u8], states: usize) -> Option<Vec<StateId>> {
    let mut is_open = vec![false; states];
    let ids = bytes.chunks_exact(4);
    let all: Vec<StateId> =
        ids.clone().map(|b| b.iter().rev().fold(0, |n, b| n << 8 | StateId::from(*b))).collect();
    let is_new =
        |id: &StateId| is_open.get_mut(*id as usize).is_some_and(|open| !std::mem::replace(open, true));
    (ids.remainder().is_empty() && all.iter().all(is_new)).then_some(all)
}

/// For each variable with names: what they are called here.
fn read_names(bytes: &[u8], system: &Machine) -> Option<Vec<HashMap<u64, u64>>> {
    let mut bytes = Bytes::new(bytes);
    let mut all = vec![];
    for (_, variable) in named(system) {
        let rep = &system.slots[system.const_slots() + variable].rep;
        let ty = &system.model.variables[variable].ty;
        let mut names = HashMap::new();
        for _ in 0..bytes.number()? {
            let word = bytes.number()?;
            let val = from_value(&bytes.value(ty, &system.scope)?, rep)?;
            names.insert(word, system.table().encode(&val, rep));
        }
        all.push(names);
    }
    bytes.is_empty().then_some(all)
}

/// How many valuations there are in the file, which have the same numbers here. Where all are found first, they have to be
/// those of the file; where they are looked for as they come, what is known here is what the other run began with, and the
/// others get their numbers now.
fn read_valuations(bytes: &[u8], system: &Machine) -> Option<usize> {
    let mut bytes = Bytes::new(bytes);
    let (constants, known) = (&system.model.constants, system.valuations());
    let count = usize::try_from(bytes.number()?).ok()?;
    if count < known || count > known && !system.is_open() {
        return None;
    }
    for valuation in 0..count {
        let mut vals: Vec<Option<Val>> = vec![];
        for (slot, Decl { ty, .. }) in constants.iter().enumerate() {
            vals.push(match bytes.number()? {
                0 => None,
                1 => Some(from_value(&bytes.value(ty, &system.scope)?, &system.slots[slot].rep)?),
                _ => return None,
            });
        }
        if valuation < known {
            let here = system.constant_vals(valuation).iter();
            let is_same = |(here, there): (&Val, &Option<Val>)| match there {
                Some(there) => here == there,
                None => here.is_lazy(),
            };
            if !here.zip(&vals).all(is_same) {
                return None;
            }
        } else if system.number_of(vals.into_iter().collect::<Option<_>>()?)? != valuation {
            return None;
        }
    }
    bytes.is_empty().then_some(count)
}

/// What a row may be.
pub(super) struct Known<'a> {
    system: &'a Machine,
    valuations: usize,
    offset: usize,
}

impl Known<'_> {
    /// Whether every word is one of its type.
    fn is_row(&self, row: &[u64]) -> bool {
        if self.offset == 1 && row[0] >= self.valuations as u64 {
            return false;
        }
        let slots = &self.system.slots[self.system.const_slots()..];
        row[self.offset..].iter().zip(slots).all(|(word, slot)| match slot.rep.mask_len() {
            Some(bits) => bits >= 64 || word >> bits == 0,
            None if slot.rep.carrier > 0 => *word < slot.rep.carrier,
            // Names were looked up.
            None => slot.rep.packing().is_none_or(|p| !is_packed(*word) || p.is_word(*word)),
        })
    }
}
