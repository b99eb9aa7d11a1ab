//! Keys that travel, and what all processes take a key for.
//!
//! A packed key whose fields are ordinals, bits, small integers and short sequences means the same everywhere, so its
//! words travel. Names of interned values, and numbers of large integers, mean something in one process only. Their
//! words travel as well, and each process tells each other one what a name stands for, by structure, as it is written
//! into checkpoints, before it uses that name for the first time; who hears it gives the value a name of its own, and
//! reads the sender's name as that from then on. What comes from one process comes in the order in which it was sent
//! (timely's channels keep it), so a name that was not introduced is an error of ours, and is told; so is one that is
//! introduced twice. A name is never given to another value, since values are interned once and stay.
//!
//! Where a key belongs is decided by a hash of what it means: a name enters it by the hash of its value's structure.

use crate::checkpoint::states::{form, named};
use crate::explore::Layout;
use crate::explore::others::Process;
use crate::explore::store::Code;
use crate::system::{Machine, System, Width};
use crate::value::hash;
use crate::value::packed::is_packed;
use crate::value::val::{from_value, to_value};
use kanon_checker::codec::{Bytes, put_number};
use std::sync::Arc;

/// What keys that are packed in one way mean, and how they travel.
pub struct Codec<'m> {
    layout: Arc<Layout>,
    /// Of each word of a key.
    bits: Vec<u32>,
    names: Option<Names<'m>>,
}

/// Makes the codec for a layout; none if keys of the system cannot travel.
pub type MakeCodec<'s> = dyn Fn(Arc<Layout>) -> Option<Codec<'s>> + 's;

/// For a system whose rows are ordinals and bits only.
pub fn plain<'m, S: System>(system: &S, layout: &Arc<Layout>) -> Option<Codec<'m>> {
    let is_plain = system.widths().iter().all(|w| matches!(w, Width::Bits(_)));
    is_plain.then(|| Codec { bits: layout.word_bits(), layout: layout.clone(), names: None })
}

/// For a machine.
pub fn of_machine(machine: &Machine, layout: Arc<Layout>) -> Codec<'_> {
    plain(machine, &layout).unwrap_or_else(|| {
        let names = Names::new(machine, &layout);
        Codec { bits: layout.word_bits(), layout, names: Some(names) }
    })
}

/// Which of so many processes a key with a hash belongs to: the upper bits say it.
#[inline]
pub fn owner(hash: u64, processes: usize) -> Process {
    ((u128::from(hash) * processes as u128) >> 64) as Process
}

/// Appends the bytes of a word that it can have.
#[inline]
fn put_word(out: &mut Vec<u8>, word: u64, bits: u32) {
    let end = out.len() + bits.div_ceil(8) as usize;
    out.extend_from_slice(&word.to_le_bytes());
    out.truncate(end);
}

#[inline]
fn take_word(bytes: &mut Bytes, bits: u32) -> Option<u64> {
    let n = bits.div_ceil(8) as usize;
    let word = match bytes.left().first_chunk() {
        Some(le) => {
            bytes.take(n)?;
            u64::from_le_bytes(*le) & (u64::MAX >> (64 - 8 * n as u32))
        }
        None => {
            let mut le = [0; 8];
            le.get_mut(..n)?.copy_from_slice(bytes.take(n)?);
            u64::from_le_bytes(le)
        }
    };
    (bits >= 64 || word >> bits == 0).then_some(word)
}

impl Codec<'_> {
    /// A hash that all processes have for a key; none if something in it has no form.
    #[inline]
    pub fn hash(&mut self, key: &[u64]) -> Option<u64> {
        match &mut self.names {
            None => Some(hash::mix(key.iter().fold(1, |h, w| hash::pair(h, *w)))),
            Some(names) => names.hash(&self.layout, key),
        }
    }

    /// Appends a key to what is sent to another process, and to `names` what that one has to learn before; false if
    /// something in it has no form.
    #[must_use]
    #[inline]
    pub fn send(&mut self, to: Process, key: &[u64], out: &mut Vec<u8>, told: &mut Vec<u8>) -> bool {
        for (word, bits) in key.iter().zip(&self.bits) {
            put_word(out, *word, *bits);
        }
        self.names.as_mut().is_none_or(|names| names.introduce(&self.layout, to, key, told))
    }

    /// Learns what another process has told of its names.
    pub fn learn(&mut self, from: Process, told: &[u8]) -> Option<()> {
        let mut bytes = Bytes::new(told);
        while !bytes.is_empty() {
            self.names.as_mut()?.learn(&self.layout, from, &mut bytes)?;
        }
        Some(())
    }

    /// Reads a key from the front of what another process has sent, and appends it to others; none if there is none.
    #[inline]
    pub fn receive(&mut self, from: Process, bytes: &mut Bytes, keys: &mut Vec<u64>) -> Option<()> {
        let begin = keys.len();
        for bits in &self.bits {
            keys.push(take_word(bytes, *bits)?);
        }
        if let Some(names) = &self.names {
            names.translate(from, &mut keys[begin..])?;
        }
        self.layout.is_key(&keys[begin..]).then_some(())
    }

    /// Appends a key in a form that all processes know, and in which keys are ordered.
    #[must_use]
    pub fn write(&self, key: &[u64], out: &mut Vec<u8>) -> bool {
        let Some(names) = &self.names else {
            key.iter().zip(&self.bits).for_each(|(word, bits)| put_word(out, *word, *bits));
            return true;
        };
        names.write(&self.layout, key, out)
    }

    /// Reads it from the front.
    pub fn read(&self, bytes: &mut Bytes, key: &mut Vec<u64>) -> Option<()> {
        key.clear();
        match &self.names {
            None => {
                for bits in &self.bits {
                    key.push(take_word(bytes, *bits)?);
                }
                self.layout.is_key(key).then_some(())
            }
            Some(names) => names.read(&self.layout, bytes, key),
        }
    }
}

/// Numbers by other numbers, most of which are near to each other.
#[derive(Default)]
struct Pages<T>(Vec<Option<Box<[T; PAGE]>>>);

const PAGE: usize = 256;

/// Codes of names have one bit more than these.
const FAR: u32 = 30;

impl<T: Copy + Default> Pages<T> {
    #[inline]
    fn get(&self, at: usize) -> T {
        self.0.get(at / PAGE).and_then(|page| page.as_ref()).map_or(T::default(), |page| page[at % PAGE])
    }

    fn at(&mut self, at: usize) -> &mut T {
        let page = at / PAGE;
        if page >= self.0.len() {
            self.0.resize_with(page + 1, || None);
        }
        &mut self.0[page].get_or_insert_with(|| Box::new([T::default(); PAGE]))[at % PAGE]
    }
}

/// A place of rows whose words may be names.
struct Named {
    variable: usize,
    code: Code,
    /// Every code is a name; otherwise those with bit 0 are, and the others small integers or short sequences.
    always: bool,
    /// By name: the hash of its value; 0 is none.
    hashes: Pages<u64>,
    /// By process and name: whether that process was told of it, 64 names to a word.
    told: Vec<Pages<u64>>,
    /// By process and that process's name: the code here, and one more; 0 is none.
    here: Vec<Pages<u32>>,
}

impl Named {
    /// The name in a key, if there is one: a number that is small if few values have names.
    #[inline]
    fn of(&self, key: &[u64]) -> Option<usize> {
        let code = self.code.of(key);
        match (self.always, code & 1) {
            (true, _) => Some((code >> 1 | (code & 1) << FAR) as usize),
            (false, 1) => Some((code >> 1) as usize),
            (false, _) => None,
        }
    }

    /// Its code in keys; none if it is no name.
    fn code(&self, name: usize) -> Option<u64> {
        let name = name as u64;
        match self.always {
            true if name >> FAR > 1 => None,
            true => Some((name & ((1 << FAR) - 1)) << 1 | name >> FAR),
            false => (name >> FAR == 0).then_some(name << 1 | 1),
        }
    }

    /// Where the numbers of a process are, which is made if it is not there.
    fn by<T: Default>(all: &mut Vec<Pages<T>>, process: Process) -> &mut Pages<T> {
        let process = usize::from(process);
        if process >= all.len() {
            all.resize_with(process + 1, Pages::default);
        }
        &mut all[process]
    }
}

/// Names, and what is known of them.
struct Names<'m> {
    machine: &'m Machine,
    widths: Vec<Width>,
    /// By place in the row: which of the named ones it is.
    at: Vec<Option<usize>>,
    all: Vec<Named>,
    row: Vec<u64>,
}

impl<'m> Names<'m> {
    fn new(machine: &'m Machine, layout: &Layout) -> Names<'m> {
        let widths = machine.widths();
        let (mut at, mut all) = (vec![None; widths.len()], vec![]);
        for (place, variable) in named(machine) {
            at[place] = Some(all.len());
            let always = widths[place] == Width::Name;
            let code = layout.code_of(place);
            all.push(Named { variable, code, always, hashes: Pages::default(), told: vec![], here: vec![] });
        }
        Names { machine, widths, at, all, row: vec![] }
    }

    /// The structure of the value that a word of a variable names.
    fn form(&self, variable: usize, word: u64) -> Option<Vec<u8>> {
        let rep = &self.machine.slots[self.machine.const_slots() + variable].rep;
        let ty = &self.machine.model.variables[variable].ty;
        form(self.machine, &to_value(&self.machine.table().decode(word, rep), rep), ty)
    }

    /// The same for a name in a key.
    fn form_of(&self, layout: &Layout, i: usize, name: usize) -> Option<Vec<u8>> {
        let named = &self.all[i];
        self.form(named.variable, layout.word_of(&named.code, named.code(name)?))
    }

    /// The word of a value by its structure.
    fn word(&self, variable: usize, form: &[u8]) -> Option<u64> {
        let rep = &self.machine.slots[self.machine.const_slots() + variable].rep;
        let ty = &self.machine.model.variables[variable].ty;
        let mut rest = Bytes::new(form);
        let value = rest.value(ty, &self.machine.scope)?;
        let word = rest.is_empty().then(|| from_value(&value, rep))??;
        Some(self.machine.table().encode(&word, rep))
    }

    #[inline]
    fn hash(&mut self, layout: &Layout, key: &[u64]) -> Option<u64> {
        // Words without names, and then values.
        self.row.clear();
        self.row.extend_from_slice(key);
        let mut values = 1;
        for i in 0..self.all.len() {
            let Some(name) = self.all[i].of(key) else { continue };
            self.all[i].code.set(&mut self.row, 0);
            let known = match self.all[i].hashes.get(name) {
                0 => self.value_hash(layout, i, name)?,
                known => known,
            };
            // Beside which value there is a small integer is told by the words.
            values = hash::pair(values, known ^ (i as u64) << 56);
        }
        Some(hash::mix(self.row.iter().fold(values, |h, w| hash::pair(h, *w))))
    }

    #[cold]
    fn value_hash(&mut self, layout: &Layout, i: usize, name: usize) -> Option<u64> {
        let form = self.form_of(layout, i, name)?;
        let words = form.chunks(8).map(|chunk| {
            let mut le = [0; 8];
            le[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(le)
        });
        let known = hash::mix(words.fold(form.len() as u64 + 1, hash::pair)).max(1);
        *self.all[i].hashes.at(name) = known;
        Some(known)
    }

    #[inline]
    fn introduce(&mut self, layout: &Layout, to: Process, key: &[u64], told: &mut Vec<u8>) -> bool {
        for i in 0..self.all.len() {
            let Some(name) = self.all[i].of(key) else { continue };
            let is_told = |n: &Named| {
                let word = n.told.get(usize::from(to)).map_or(0, |pages| pages.get(name / 64));
                word >> (name % 64) & 1 == 1
            };
            if !is_told(&self.all[i]) && !self.tell(layout, to, (i, name), told) {
                return false;
            }
        }
        true
    }

    /// A name that is to be told: its place, number, and the value.
    #[cold]
    fn tell(&mut self, layout: &Layout, to: Process, (i, name): (usize, usize), told: &mut Vec<u8>) -> bool {
        let Some(form) = self.form_of(layout, i, name) else { return false };
        *Named::by(&mut self.all[i].told, to).at(name / 64) |= 1 << (name % 64);
        for number in [i, name, form.len()] {
            put_number(told, number as u64);
        }
        told.extend_from_slice(&form);
        true
    }

    fn learn(&mut self, layout: &Layout, from: Process, bytes: &mut Bytes) -> Option<()> {
        let mut number = || usize::try_from(bytes.number()?).ok();
        let (i, name, length) = (number()?, number()?, number()?);
        let form = bytes.take(length)?;
        let named = self.all.get(i)?;
        named.code(name)?;
        let here = layout.code_for(&named.code, self.word(named.variable, form)?);
        let known = Named::by(&mut self.all[i].here, from).at(name);
        // Nothing is introduced twice.
        (*known == 0).then_some(())?;
        *known = u32::try_from(here).ok()?.checked_add(1)?;
        Some(())
    }

    #[inline]
    fn translate(&self, from: Process, key: &mut [u64]) -> Option<()> {
        for named in &self.all {
            let Some(name) = named.of(key) else { continue };
            let here = named.here.get(usize::from(from))?.get(name).checked_sub(1)?;
            named.code.set(key, u64::from(here));
        }
        Some(())
    }

    fn write(&self, layout: &Layout, key: &[u64], out: &mut Vec<u8>) -> bool {
        for (word, (width, at)) in layout.unpack(key).zip(self.widths.iter().zip(&self.at)) {
            match (width, at) {
                (Width::Bits(bits), _) => put_word(out, word, (*bits).max(1)),
                // Bit 0 tells integers that are named from those that are their own words.
                (Width::Integer, _) if word & 1 == 0 => put_number(out, fold(word) << 1),
                // The same with packed sequences, which mean the same everywhere.
                (Width::Sequence(_), _) if is_packed(word) => put_number(out, word),
                (_, Some(at)) => {
                    let Some(form) = self.form(self.all[*at].variable, word) else { return false };
                    let flag = u64::from(*width != Width::Name);
                    put_number(out, (form.len() as u64) << flag | flag);
                    out.extend_from_slice(&form);
                }
                _ => return false,
            }
        }
        true
    }

    fn read(&self, layout: &Layout, bytes: &mut Bytes, key: &mut Vec<u64>) -> Option<()> {
        let mut row = vec![];
        for (width, at) in self.widths.iter().zip(&self.at) {
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
            let form = bytes.take(usize::try_from(length).ok()?)?;
            row.push(self.word(self.all[(*at)?].variable, form)?);
        }
        key.resize(layout.words(), 0);
        layout.pack_into(&row, key);
        Some(())
    }
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
