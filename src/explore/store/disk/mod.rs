//! States on disk: those that no longer fit into memory, exact and complete.
//!
//! What is in memory at last goes out together, the oldest first. It is written twice: by number, in chunks of packed rows
//! with their parents ([`scratch`]), for whoever expands a state or follows parents; and by key, as a sorted run
//! ([`run`]), for whoever asks whether a key is stored. Runs of one size are merged into one. Each state is in memory or
//! in exactly one run, never in both and never in none.
//!
//! Keys are looked up many at a time, in the order of their hashes, so that runs are read from the front to the back
//! ([`Disk::look_up`]); one key alone is looked up with a read or two for each run ([`Disk::find`]).
//!
//! The first error of the disk is the end ([`Disk::trouble`]): after it nothing that is asked here means anything, and
//! whoever drives the search has no Holds to say. Until then nothing has been given up that was not written.
//!
//! Absent on purpose: the search, and when it looks.

mod run;
mod scratch;

#[cfg(test)]
mod tests;

pub use scratch::Trouble;

use super::places::{Places, hash};
use super::rows::{Parents, Rows};
use super::{Layout, Row, StateId};
use run::{Form, Room, Run, Wanted, Writer, merge};
use scratch::Scratch;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Runs of a level that are merged into one of the next.
const FAN: usize = 8;

/// Where states go that do not fit into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// A folder, which may have other files.
    pub folder: PathBuf,
    /// So many states are kept in memory, for tests; otherwise as many as there is room for.
    #[doc(hidden)]
    pub states: Option<usize>,
}

impl Spill {
    /// In a folder.
    pub fn new(folder: PathBuf) -> Spill {
        Spill { folder, states: None }
    }

    /// In the folder for large temporary files: that of the environment, or the one that is not in memory on most systems.
    pub fn somewhere() -> Spill {
        let given = std::env::var_os("TMPDIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let usual = || Some(PathBuf::from("/var/tmp")).filter(|dir| cfg!(unix) && dir.is_dir());
        Spill::new(given.or_else(usual).unwrap_or_else(std::env::temp_dir))
    }

    /// Whether files can be written there.
    ///
    /// # Errors
    /// Why not, for people.
    pub fn try_folder(&self) -> Result<(), String> {
        Scratch::create(&self.folder, 1).map(drop).map_err(|Trouble(why)| why)
    }
}

/// What the disk was used for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// States.
    pub states: usize,
    /// Bytes of files, now.
    pub bytes: u64,
    /// Sorted runs, now.
    pub runs: usize,
    /// Merges.
    pub merges: u64,
    /// Times that many keys were looked up together, and how many keys in all.
    pub rounds: u64,
    /// Keys.
    pub keys: u64,
    /// Keys that were looked up alone.
    pub alone: u64,
    /// Bytes that were read for all of these.
    pub read: u64,
}

pub struct Disk {
    pub spill: Spill,
    form: Form,
    inner: Mutex<Inner>,
    trouble: OnceLock<Trouble>,
    /// Somebody needs memory.
    pressed: AtomicBool,
    alone: AtomicU64,
}

#[derive(Default)]
struct Inner {
    states: Option<Scratch>,
    runs: Vec<Run>,
    /// The chunks that were read last, the newer one first.
    chunks: [Chunk; 2],
    wanted: Vec<Wanted>,
    room: Room,
    /// There was no room for a merge.
    is_full: bool,
    used: Used,
}

/// Some states, by number.
#[derive(Default)]
struct Chunk {
    number: Option<usize>,
    rows: Vec<AtomicU64>,
    parents: Vec<StateId>,
}

/// A lookup's word: the states below this number have been looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looked(StateId);

impl Looked {
    /// Nobody has looked.
    pub const NOWHERE: Looked = Looked(0);

    /// Whether a key that was not found then is not among the first states.
    #[inline]
    pub fn covers(self, states: StateId) -> bool {
        states <= self.0
    }
}

impl Disk {
    pub fn new(spill: Spill, layout: &Layout) -> Disk {
        // Several blocks also where there are few states.
        let block = spill.states.map(|_| 128);
        Disk {
            spill,
            form: Form::new(layout.word_bytes(), block),
            inner: Mutex::default(),
            trouble: OnceLock::new(),
            pressed: AtomicBool::new(false),
            alone: AtomicU64::new(0),
        }
    }

    /// Nobody panics in between but by a mistake of ours, and then the runs do not add up, which is looked at.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first error of the disk. After it no answer of this means anything.
    #[inline]
    pub fn trouble(&self) -> Option<&Trouble> {
        self.trouble.get()
    }

    fn note<T>(&self, result: Result<T, Trouble>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(trouble) => {
                let _ = self.trouble.set(trouble);
                None
            }
        }
    }

    /// Asks for memory; the store gives some when the next state arrives.
    pub fn press(&self) {
        self.pressed.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_pressed(&self) -> bool {
        self.pressed.load(Ordering::Relaxed)
    }

    pub fn relieve(&self) {
        self.pressed.store(false, Ordering::Relaxed);
    }

    /// Bytes in memory.
    pub fn held(&self) -> usize {
        let inner = self.inner();
        let runs: usize = inner.runs.iter().map(Run::held).sum();
        runs + inner.wanted.capacity() * size_of::<Wanted>()
    }

    pub fn used(&self) -> Used {
        let inner = self.inner();
        let files = inner.runs.iter().map(|r| r.file.bytes());
        Used {
            states: inner.runs.iter().map(|r| r.entries).sum(),
            bytes: files.sum::<u64>() + inner.states.as_ref().map_or(0, Scratch::bytes),
            runs: inner.runs.len(),
            alone: self.alone.load(Ordering::Relaxed),
            ..inner.used
        }
    }

    /// Writes the first `n` states, whole chunks of them, that there are in memory; `base` is the number of the first. If
    /// that fails, nothing has changed.
    pub fn write(
        &self,
        (rows, parents, index): (&Rows, &Parents, &Places),
        base: StateId,
        n: usize,
    ) -> Option<()> {
        let mut inner = self.inner();
        let before = inner.states.as_ref().map_or(0, Scratch::blocks);
        let written = inner.write(self, (rows, parents, index), base, n);
        match written {
            Ok(run) => inner.runs.push(run),
            Err(trouble) => {
                inner.states.iter_mut().for_each(|s| s.truncate(before));
                return self.note(Err(trouble));
            }
        }
        self.note(inner.merge(self))
    }

    /// A state's row.
    pub fn row(&self, rows: &Rows, id: StateId) -> Option<Row> {
        let mut inner = self.inner();
        let chunk = self.note(inner.chunk(rows, id as usize >> rows.shift()))?;
        Some(rows.get_from(&chunk.rows, id as usize & ((1 << rows.shift()) - 1)))
    }

    /// A state's parent.
    pub fn parent(&self, rows: &Rows, id: StateId) -> Option<StateId> {
        let mut inner = self.inner();
        let chunk = self.note(inner.chunk(rows, id as usize >> rows.shift()))?;
        chunk.parents.get(id as usize & ((1 << rows.shift()) - 1)).copied()
    }

    /// The state with a key, if it is here and was not looked for already.
    #[cold]
    pub fn find(&self, key: &[u64], hash: u64, looked: Looked) -> Option<StateId> {
        self.alone.fetch_add(1, Ordering::Relaxed);
        let Inner { runs, room, .. } = &mut *self.inner();
        for run in runs.iter_mut().rev().filter(|r| !looked.covers(r.ids.end)) {
            let found = self.note(run.find(&self.form, hash, key, room))?;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Looks many keys up, one after the other in `keys`: those that are here are marked in `known`. The answer is that
    /// all `states` that are here have been looked at; none if that could not be done.
    pub fn look_up(&self, keys: &[u64], known: &mut Vec<bool>, states: StateId) -> Option<Looked> {
        let words = self.form.words();
        known.clear();
        known.resize(keys.len() / words, false);
        let mut inner = self.inner();
        let Inner { runs, wanted, room, used, .. } = &mut *inner;
        let mut at = 0;
        for run in runs.iter() {
            if run.ids.start != at || run.entries != run.ids.len() {
                return self.note(Err(Trouble("a sorted run of states is missing".into())));
            }
            at = run.ids.end;
        }
        if at != states {
            return self.note(Err(Trouble("the last sorted run of states is missing".into())));
        }
        wanted.clear();
        wanted.extend(keys.chunks_exact(words).enumerate().map(|(i, key)| (hash(key), i as u32)));
        wanted.sort_unstable();
        let mut read = 0;
        // What was stored lately is what is met again.
        for run in runs.iter_mut().rev() {
            read += self.note(run.look_up(&self.form, wanted, keys, known, room))?;
        }
        used.rounds += 1;
        used.keys += wanted.len() as u64;
        used.read += read * self.form.block_bytes();
        Some(Looked(states))
    }
}

impl Inner {
    fn write(
        &mut self,
        disk: &Disk,
        (rows, parents, index): (&Rows, &Parents, &Places),
        base: StateId,
        n: usize,
    ) -> Result<Run, Trouble> {
        let of_chunk = 1usize << rows.shift();
        let size = rows.words() * 8 + of_chunk * size_of::<StateId>();
        let folder = &disk.spill.folder;
        let states = match &mut self.states {
            Some(states) => states,
            none => none.insert(Scratch::create(folder, size)?),
        };
        let mut bytes = Vec::with_capacity(size);
        for chunk in 0..n / of_chunk {
            bytes.clear();
            let words = rows.chunk(chunk).iter();
            words.for_each(|w| bytes.extend_from_slice(&w.load(Ordering::Relaxed).to_le_bytes()));
            let parents = (chunk * of_chunk..(chunk + 1) * of_chunk).map(|id| parents.get(id as StateId));
            parents.for_each(|p| bytes.extend_from_slice(&p.to_le_bytes()));
            states.push(&bytes)?;
        }
        let mut writer = Writer::create(folder, &disk.form, base..base + n as StateId, 0)?;
        index.by_hash(
            |id| hash(&rows.get(id)),
            |id| rows.prefetch(id),
            |hash, id| match (id as usize) < n {
                true => writer.push(hash, &rows.get(id), base + id),
                false => Ok(()),
            },
        )?;
        writer.finish()
    }

    /// Merges runs, until there are few of each level. Where there is no room for that, there will be more runs.
    fn merge(&mut self, disk: &Disk) -> Result<(), Trouble> {
        while let Some(last) = self.runs.last().filter(|_| !self.is_full).map(|r| r.level) {
            let same = self.runs.iter().rev().take_while(|r| r.level == last).count();
            if same < FAN {
                break;
            }
            let first = self.runs.len() - same;
            match merge(&disk.spill.folder, &disk.form, &mut self.runs[first..]) {
                Ok(run) => {
                    self.runs.truncate(first);
                    self.runs.push(run);
                    self.used.merges += 1;
                }
                Err(trouble) if trouble.is_of_writing() => self.is_full = true,
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(())
    }

    /// The states of a chunk.
    fn chunk(&mut self, rows: &Rows, number: usize) -> Result<&Chunk, Trouble> {
        if self.chunks[0].number != Some(number) {
            self.chunks.swap(0, 1);
        }
        let Inner { states, chunks, room, .. } = self;
        let chunk = &mut chunks[0];
        if chunk.number != Some(number) {
            chunk.number = None;
            let missing = || Trouble("a chunk of states is missing".into());
            let states = states.as_mut().filter(|s| number < s.blocks()).ok_or_else(missing)?;
            let bytes = room.bytes();
            states.read(number, 1, bytes)?;
            let (of_rows, of_parents) = bytes.split_at(rows.words() * 8);
            chunk.rows.clear();
            chunk
                .rows
                .extend(of_rows.as_chunks::<8>().0.iter().map(|w| AtomicU64::new(u64::from_le_bytes(*w))));
            chunk.parents.clear();
            chunk.parents.extend(of_parents.as_chunks::<4>().0.iter().map(|p| StateId::from_le_bytes(*p)));
            chunk.number = Some(number);
        }
        Ok(chunk)
    }
}
