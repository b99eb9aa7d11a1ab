//! Keys that travel: bytes that mean the same in every process, and back.
//!
//! A packed key whose fields are ordinals and bits means the same everywhere, so its words travel ([`Plain`]). Names of
//! interned values mean something in one process only, so values travel by structure ([`Structured`]), as they are
//! written into checkpoints; what was written or read once is remembered.

use crate::checkpoint::states::{form, named};
use crate::explore::Layout;
use crate::system::{Machine, System, Width};
use crate::value::packed::is_packed;
use crate::value::val::{from_value, to_value};
use kanon_checker::codec::{Bytes, put_number};
use std::collections::HashMap;
use std::sync::Arc;

/// Writes and reads keys that are packed in one way.
pub trait Codec {
    /// Appends a key; false if something in it has no form.
    #[must_use]
    fn write(&mut self, key: &[u64], out: &mut Vec<u8>) -> bool;

    /// Reads a key from the front; none if there is none.
    fn read(&mut self, bytes: &mut Bytes, key: &mut Vec<u64>) -> Option<()>;

    /// Whether the words of a key are its form, so that there is little to do.
    fn is_plain(&self) -> bool;
}

/// Makes the codec for a layout; none if keys of the system cannot travel.
pub type MakeCodec<'s> = dyn Fn(Arc<Layout>) -> Option<Box<dyn Codec + 's>> + 's;

/// For a system whose rows are ordinals and bits only.
pub fn plain<S: System>(system: &S, layout: &Arc<Layout>) -> Option<Plain> {
    let is_plain = system.widths().iter().all(|w| matches!(w, Width::Bits(_)));
    is_plain.then(|| Plain { bits: layout.word_bits(), layout: layout.clone() })
}

/// For a machine.
pub fn of_machine(machine: &Machine, layout: Arc<Layout>) -> Box<dyn Codec + '_> {
    match plain(machine, &layout) {
        Some(plain) => Box::new(plain),
        None => Box::new(Structured::new(machine, layout)),
    }
}

/// Words as they are.
pub struct Plain {
    layout: Arc<Layout>,
    /// Of each word.
    bits: Vec<u32>,
}

fn put_word(out: &mut Vec<u8>, word: u64, bits: u32) {
    out.extend_from_slice(&word.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

fn take_word(bytes: &mut Bytes, bits: u32) -> Option<u64> {
    let n = bits.div_ceil(8) as usize;
    let mut le = [0; 8];
    le.get_mut(..n)?.copy_from_slice(bytes.take(n)?);
    let word = u64::from_le_bytes(le);
    (bits >= 64 || word >> bits == 0).then_some(word)
}

impl Codec for Plain {
    #[inline]
    fn write(&mut self, key: &[u64], out: &mut Vec<u8>) -> bool {
        for (word, bits) in key.iter().zip(&self.bits) {
            put_word(out, *word, *bits);
        }
        true
    }

    #[inline]
    fn read(&mut self, bytes: &mut Bytes, key: &mut Vec<u64>) -> Option<()> {
        key.clear();
        for bits in &self.bits {
            key.push(take_word(bytes, *bits)?);
        }
        self.layout.is_key(key).then_some(())
    }

    fn is_plain(&self) -> bool {
        true
    }
}

/// What is known of the names of one variable.
#[derive(Default)]
struct Known {
    forms: HashMap<u64, Box<[u8]>, foldhash::fast::FixedState>,
    words: HashMap<Box<[u8]>, u64, foldhash::fast::FixedState>,
}

/// Values by structure.
pub struct Structured<'m> {
    machine: &'m Machine,
    layout: Arc<Layout>,
    widths: Vec<Width>,
    /// By place in the row: its variable, and what is known of it.
    named: Vec<Option<(usize, Known)>>,
    row: Vec<u64>,
}

impl<'m> Structured<'m> {
    fn new(machine: &'m Machine, layout: Arc<Layout>) -> Structured<'m> {
        let widths = machine.widths();
        let mut all: Vec<Option<(usize, Known)>> = widths.iter().map(|_| None).collect();
        for (place, variable) in named(machine) {
            all[place] = Some((variable, Known::default()));
        }
        Structured { machine, layout, widths, named: all, row: vec![] }
    }
}

/// The form of a named value, which is remembered.
fn form_of<'k>(machine: &Machine, known: &'k mut Known, variable: usize, word: u64) -> Option<&'k [u8]> {
    use std::collections::hash_map::Entry;
    match known.forms.entry(word) {
        Entry::Occupied(e) => Some(e.into_mut()),
        Entry::Vacant(e) => {
            let rep = &machine.slots[machine.const_slots() + variable].rep;
            let ty = &machine.model.variables[variable].ty;
            let value = to_value(&machine.table().decode(word, rep), rep);
            Some(e.insert(form(machine, &value, ty)?.into()))
        }
    }
}

/// The name of a value here, which is remembered.
fn word_of(machine: &Machine, known: &mut Known, variable: usize, bytes: &[u8]) -> Option<u64> {
    if let Some(word) = known.words.get(bytes) {
        return Some(*word);
    }
    let rep = &machine.slots[machine.const_slots() + variable].rep;
    let ty = &machine.model.variables[variable].ty;
    let mut rest = Bytes::new(bytes);
    let value = rest.value(ty, &machine.scope)?;
    if !rest.is_empty() {
        return None;
    }
    let word = machine.table().encode(&from_value(&value, rep)?, rep);
    known.words.insert(bytes.into(), word);
    Some(word)
}

/// A small integer's word as a number that is small near 0, and back.
fn fold(word: u64) -> u64 {
    let i = word as i64 >> 1;
    (i << 1 ^ i >> 63) as u64
}

fn unfold(n: u64) -> u64 {
    let i = (n >> 1) as i64 ^ -((n & 1) as i64);
    (i << 1) as u64
}

impl Codec for Structured<'_> {
    fn write(&mut self, key: &[u64], out: &mut Vec<u8>) -> bool {
        let Structured { machine, layout, widths, named, row } = self;
        row.clear();
        row.extend(layout.unpack(key));
        for ((word, width), named) in row.iter().zip(&*widths).zip(named) {
            match (width, named) {
                (Width::Bits(bits), _) => put_word(out, *word, (*bits).max(1)),
                // Bit 0 tells integers that are named from those that are their own words.
                (Width::Integer, _) if word & 1 == 0 => put_number(out, fold(*word) << 1),
                // The same with packed sequences, which mean the same everywhere.
                (Width::Sequence(_), _) if is_packed(*word) => put_number(out, *word),
                (_, Some((variable, known))) => {
                    let Some(form) = form_of(machine, known, *variable, *word) else { return false };
                    let flag = u64::from(*width != Width::Name);
                    put_number(out, (form.len() as u64) << flag | flag);
                    out.extend_from_slice(form);
                }
                _ => return false,
            }
        }
        true
    }

    fn read(&mut self, bytes: &mut Bytes, key: &mut Vec<u64>) -> Option<()> {
        let Structured { machine, layout, widths, named, row } = self;
        row.clear();
        for (width, named) in widths.iter().zip(named) {
            let length = match width {
                Width::Bits(bits) => {
                    row.push(take_word(bytes, (*bits).max(1))?);
                    continue;
                }
                Width::Integer => match bytes.number()? {
                    n if n & 1 == 0 => {
                        row.push(unfold(n >> 1));
                        continue;
                    }
                    n => n >> 1,
                },
                Width::Sequence(packing) => match bytes.number()? {
                    word if is_packed(word) => {
                        row.push(Some(word).filter(|w| packing.is_word(*w))?);
                        continue;
                    }
                    n => n >> 1,
                },
                Width::Name => bytes.number()?,
            };
            let (variable, known) = named.as_mut()?;
            let form = bytes.take(usize::try_from(length).ok()?)?;
            row.push(word_of(machine, known, *variable, form)?);
        }
        key.clear();
        key.resize(layout.words(), 0);
        layout.pack_into(row, key);
        Some(())
    }

    fn is_plain(&self) -> bool {
        false
    }
}
