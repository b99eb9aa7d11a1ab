//! A sorted run: the keys of some states with their numbers, in the order of the keys' hashes, in blocks.
//!
//! Of each block the hash of its first key is kept in memory. Hashes are spread evenly, so many keys that are looked up
//! together are looked up from the front to the back, and blocks that none of them needs are not read.

use super::super::places::hash;
use super::super::{Row, StateId};
use super::scratch::{Scratch, Trouble};
use smallvec::SmallVec;
use std::ops::Range;
use std::path::Path;

/// Bytes of a block, about.
const BLOCK: usize = 1 << 12;
/// Blocks that are read or written at once.
const AT_ONCE: usize = 64;
/// Blocks between two that are needed are read with them if they are so few.
const GAP: u32 = 3;

/// How a key and its number are written.
#[derive(Clone, Debug)]
pub struct Form {
    /// Bytes of each word of a key.
    bytes: Vec<usize>,
    /// Bytes of a key and its number.
    entry: usize,
    /// Entries of a block.
    per: usize,
}

impl Form {
    pub fn new(bytes: Vec<usize>, block: Option<usize>) -> Form {
        let entry = bytes.iter().sum::<usize>() + size_of::<StateId>();
        Form { bytes, entry, per: (block.unwrap_or(BLOCK) / entry).max(1) }
    }

    /// Words of a key.
    pub fn words(&self) -> usize {
        self.bytes.len()
    }

    fn block(&self) -> usize {
        self.per * self.entry
    }

    /// The same, as the size of a part of a file.
    pub fn block_bytes(&self) -> u64 {
        self.block() as u64
    }

    /// A word of so many bytes, from a place on.
    #[inline]
    fn word(bytes: &[u8], at: usize, n: usize) -> u64 {
        match bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            Some(eight) => u64::from_le_bytes(*eight) & (u64::MAX >> (64 - 8 * n)),
            None => {
                let mut eight = [0; 8];
                eight[..n].copy_from_slice(&bytes[at..at + n]);
                u64::from_le_bytes(eight)
            }
        }
    }

    /// The key of an entry, and its number.
    fn get(&self, bytes: &[u8]) -> (Row, StateId) {
        let mut at = 0;
        let mut word = |n: usize| {
            at += n;
            Form::word(bytes, at - n, n)
        };
        let key: Row = self.bytes.iter().map(|n| word(*n)).collect();
        (key, word(size_of::<StateId>()) as StateId)
    }

    /// The hash of the key of an entry of some blocks.
    #[inline]
    fn hash_at(&self, blocks: &[u8], i: usize) -> u64 {
        let mut at = i * self.entry;
        if let [n] = self.bytes[..] {
            return hash(&[Form::word(blocks, at, n)]);
        }
        let words = self.bytes.iter().map(|n| {
            at += n;
            Form::word(blocks, at - n, *n)
        });
        hash(&words.collect::<Row>())
    }

    fn put(&self, key: &[u64], id: StateId, into: &mut Vec<u8>) {
        for (word, n) in key.iter().zip(&self.bytes) {
            into.extend_from_slice(&word.to_le_bytes()[..*n]);
        }
        into.extend_from_slice(&id.to_le_bytes());
    }
}

#[derive(Debug)]
pub struct Run {
    pub(super) file: Scratch,
    /// Of each block, the hash of its first key.
    fences: Vec<u64>,
    pub entries: usize,
    /// The states, all of them.
    pub ids: Range<StateId>,
    /// How often they have been merged.
    pub level: u32,
}

/// A run that is being written.
pub struct Writer<'f> {
    form: &'f Form,
    run: Run,
    buffer: Vec<u8>,
    /// The last key, which the next is not.
    last: Option<(u64, SmallVec<[Row; 1]>)>,
    /// The sum of the numbers: what it has to be is known.
    sum: u64,
}

impl<'f> Writer<'f> {
    pub fn create(
        folder: &Path,
        form: &'f Form,
        ids: Range<StateId>,
        level: u32,
    ) -> Result<Writer<'f>, Trouble> {
        let file = Scratch::create(folder, form.block())?;
        let run = Run { file, fences: vec![], entries: 0, ids, level };
        Ok(Writer { form, run, buffer: vec![], last: None, sum: 0 })
    }

    /// Adds a key; the hashes must not get smaller, and no key may come twice.
    pub fn push(&mut self, hash: u64, key: &[u64], id: StateId) -> Result<(), Trouble> {
        match &mut self.last {
            Some((last, _)) if *last > hash => return Err(lost("a sorted run is not in order")),
            Some((last, keys)) if *last == hash => {
                if keys.iter().any(|k| k[..] == *key) {
                    return Err(lost("a state is stored twice"));
                }
                keys.push(key.into());
            }
            last => *last = Some((hash, SmallVec::from_iter([Row::from(key)]))),
        }
        if self.run.entries.is_multiple_of(self.form.per) {
            self.run.fences.push(hash);
        }
        self.form.put(key, id, &mut self.buffer);
        self.run.entries += 1;
        self.sum += u64::from(id);
        if self.buffer.len() == AT_ONCE * self.form.block() {
            self.run.file.push(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// The run, if it has all of its states.
    pub fn finish(mut self) -> Result<Run, Trouble> {
        self.run.file.push(&self.buffer)?;
        let (first, n) = (u64::from(self.run.ids.start), self.run.ids.len() as u64);
        if self.run.entries as u64 != n || self.sum != first * n + n * n.saturating_sub(1) / 2 {
            return Err(lost("a sorted run has not the states that it should have"));
        }
        Ok(self.run)
    }
}

/// A mistake of ours, or of the machine.
fn lost(what: &str) -> Trouble {
    Trouble(format!("{what}: nothing can be said of the states on disk any more"))
}

/// A key that is looked up with others: its hash, and its place among them.
pub type Wanted = (u64, u32);

/// Room for lookups, used again and again.
#[derive(Debug, Default)]
pub struct Room {
    /// Of each wanted key, the first block that may have it.
    first: Vec<u32>,
    bytes: Vec<u8>,
}

impl Room {
    /// For somebody else, in between.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl Run {
    /// Looks up keys, which are in the order of their hashes. `found` is told the place of each one that is here. `keys`
    /// has their words, one key after the other; keys that are known need not be looked up.
    pub fn look_up(
        &mut self,
        form: &Form,
        wanted: &[Wanted],
        keys: &[u64],
        known: &mut [bool],
        room: &mut Room,
    ) -> Result<u64, Trouble> {
        let Room { first, bytes } = room;
        first.clear();
        let mut at = 0;
        first.extend(wanted.iter().map(|(hash, _)| {
            at = self.first_block(*hash, at);
            at as u32
        }));
        let words = form.words();
        // The blocks that are in memory.
        let (mut begin, mut end, mut read) = (0, 0, 0);
        for (i, &(hash, place)) in wanted.iter().enumerate() {
            let place = place as usize;
            if known[place] {
                continue;
            }
            let key = &keys[place * words..(place + 1) * words];
            let mut block = first[i] as usize;
            while block < self.fences.len() && (block == first[i] as usize || self.fences[block] <= hash) {
                if !(begin..end).contains(&block) {
                    (begin, end) = (block, self.needed(block, &first[i..]));
                    self.file.read(begin, end - begin, bytes)?;
                    read += (end - begin) as u64;
                }
                let from = (block - begin) * form.block();
                if find(form, &bytes[from..], hash, key).is_some() {
                    known[place] = true;
                    break;
                }
                block += 1;
            }
        }
        Ok(read)
    }

    /// The state with a key.
    pub fn find(
        &mut self,
        form: &Form,
        hash: u64,
        key: &[u64],
        room: &mut Room,
    ) -> Result<Option<StateId>, Trouble> {
        let first = self.first_block(hash, 0);
        for block in first..self.fences.len() {
            if block > first && self.fences[block] > hash {
                break;
            }
            self.file.read(block, 1, &mut room.bytes)?;
            let found = find(form, &room.bytes, hash, key);
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The first block that may have a hash: the one before the first that begins with this hash or a larger one. It is
    /// not before `from`.
    #[inline]
    fn first_block(&self, hash: u64, from: usize) -> usize {
        // Mostly it is near.
        let (mut low, mut step) = (from, 1);
        while low + step < self.fences.len() && self.fences[low + step] < hash {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(self.fences.len());
        // Those before `low` begin with smaller hashes, or `low` is where it began.
        let rest = self.fences.get(low + 1..high).unwrap_or_default();
        low + rest.partition_point(|fence| *fence < hash)
    }

    /// The end of the blocks that are read together with one, for the next keys.
    fn needed(&self, block: usize, first: &[u32]) -> usize {
        let mut end = block as u32 + 1;
        for next in first {
            if *next >= end + GAP || *next as usize >= block + AT_ONCE {
                break;
            }
            end = end.max(*next + 1);
        }
        end as usize
    }

    /// Bytes in memory.
    pub fn held(&self) -> usize {
        self.fences.capacity() * 8 + self.file.blocks() * 8
    }
}

/// The number of a key in the first of some blocks.
#[inline]
fn find(form: &Form, blocks: &[u8], wanted: u64, key: &[u64]) -> Option<StateId> {
    let n = (blocks.len() / form.entry).min(form.per);
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = usize::midpoint(low, high);
        if form.hash_at(blocks, middle) < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while low < n && form.hash_at(blocks, low) == wanted {
        let (k, id) = form.get(&blocks[low * form.entry..]);
        if k[..] == *key {
            return Some(id);
        }
        low += 1;
    }
    None
}

/// A run that is read from the front to the back.
pub struct Reader<'r> {
    run: &'r mut Run,
    form: &'r Form,
    bytes: Vec<u8>,
    /// The next block, and the place in those that were read.
    block: usize,
    at: usize,
    /// The next entry, with the hash of its key.
    pub next: Option<(u64, Row, StateId)>,
}

impl<'r> Reader<'r> {
    pub fn new(run: &'r mut Run, form: &'r Form) -> Result<Reader<'r>, Trouble> {
        let mut reader = Reader { run, form, bytes: vec![], block: 0, at: 0, next: None };
        reader.advance()?;
        Ok(reader)
    }

    pub fn advance(&mut self) -> Result<(), Trouble> {
        if self.at == self.bytes.len() {
            let n = (self.run.file.blocks() - self.block).min(AT_ONCE / 4);
            if n == 0 {
                self.next = None;
                return Ok(());
            }
            self.run.file.read(self.block, n, &mut self.bytes)?;
            (self.block, self.at) = (self.block + n, 0);
        }
        let (key, id) = self.form.get(&self.bytes[self.at..]);
        self.at += self.form.entry;
        self.next = Some((hash(&key), key, id));
        Ok(())
    }
}

/// One run of several, whose states follow one another.
pub fn merge(folder: &Path, form: &Form, runs: &mut [Run]) -> Result<Run, Trouble> {
    let ids = runs.first().map_or(0, |r| r.ids.start)..runs.last().map_or(0, |r| r.ids.end);
    let level = runs.iter().map(|r| r.level + 1).max().unwrap_or(0);
    let mut writer = Writer::create(folder, form, ids, level)?;
    let readers = runs.iter_mut().map(|run| Reader::new(run, form));
    let mut readers = readers.collect::<Result<Vec<_>, _>>()?;
    loop {
        let hashes = readers.iter().enumerate().filter_map(|(i, r)| Some((r.next.as_ref()?.0, i)));
        let Some((_, least)) = hashes.min() else { return writer.finish() };
        let reader = &mut readers[least];
        if let Some((hash, key, id)) = reader.next.take() {
            writer.push(hash, &key, id)?;
        }
        reader.advance()?;
    }
}
