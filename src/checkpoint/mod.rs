//! Checkpoints: a search of a machine, written to a folder now and then, and taken up again by another run
//! (docs/checkpoints.md).
//!
//! | module | what it has |
//! |---|---|
//! | `file` | bytes that are whole or not there: head, sections, hash |
//! | `folder` | one program at a time, two generations |
//! | `states` | rows, values and valuations as bytes, and back |
//! | `shares` | the same of several processes, each with its share |
//! | `course` | counts, findings and the root's place as JSON, and back |
//!
//! The search hands over what it is between two events ([`crate::explore::keep`]), which takes little, since the chunks of
//! its store are shared; a thread of its own writes that down while the search goes on. Two rules keep it cheap: nothing
//! is handed over while the last is still being written, and after a checkpoint that took long there is a longer pause.
//!
//! Absent on purpose: whatever the kernel would have to believe. The root of a search that is taken up is open
//! (`kanon_refinement::kernel::Kernel::reopen`), and `kanon resume --audit` executes wmc's invariant on the rest.

pub(crate) mod course;
mod file;
mod folder;
pub mod shares;
pub(crate) mod states;

pub use folder::Folder;

use crate::explore::keep::{Again, Keeper, Kept};
use crate::lang::diag::SourceMap;
use crate::system::{Machine, Setup};
use file::Reader;
use folder::Found;
use kanon_checker::check::{files, sizes};
use serde_json::{Value, json};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Of the time after a checkpoint, at most one part in so many is spent on the next.
const EVERY_SHARE: u32 = 10;
/// A checkpoint between two others, if nobody says how often.
pub const EVERY: Duration = Duration::from_secs(60);

/// How often, where to, and for which command.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The folder, which nobody else has.
    pub folder: Arc<Folder>,
    /// The time between two checkpoints.
    pub every: Duration,
    /// The command line, without the program and without what is only for this process.
    pub command: Vec<String>,
    /// Where it was typed.
    pub place: PathBuf,
    /// The clauses of wmc's invariant are executed on what is taken up.
    pub audit: bool,
    /// Who may ask for a checkpoint at once.
    pub asked: Arc<Asked>,
    /// What is taken up.
    pub again: Option<Arc<Resumed>>,
}

/// What somebody outside of the search may ask for.
#[derive(Debug, Default)]
pub struct Asked {
    is_due: AtomicBool,
    is_last: AtomicBool,
    is_searching: AtomicBool,
}

impl Asked {
    /// Whether somebody has asked for the last one.
    pub fn is_last(&self) -> bool {
        self.is_last.load(Ordering::SeqCst)
    }

    /// Asks for a last checkpoint, after which the search ends. False: there is no search yet, or no more, that could.
    pub fn last(&self) -> bool {
        self.is_last.store(true, Ordering::SeqCst);
        self.is_due.store(true, Ordering::SeqCst);
        self.is_searching.load(Ordering::SeqCst)
    }
}

/// A checkpoint that was found, before its states are read.
pub struct Resumed {
    /// The command that it is a checkpoint of, and where that was typed.
    pub command: Vec<String>,
    /// Where it was typed.
    pub place: PathBuf,
    /// How many states were stored.
    pub states: u64,
    /// What should be said of newer ones that are damaged.
    pub damaged: Vec<String>,
    head: Value,
    generation: u64,
    next: u64,
    path: PathBuf,
    /// The hash of its file.
    hash: String,
    reader: Mutex<Option<Reader>>,
    /// If several processes have written it.
    shares: Mutex<Option<Vec<shares::Found>>>,
}

impl fmt::Debug for Resumed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

impl Resumed {
    /// The newest checkpoint of a folder.
    ///
    /// # Errors
    /// There is none that can be read, or another version of this program wrote it; for people.
    pub fn find(folder: &Folder) -> Result<Resumed, String> {
        let Found { path, generation, reader, head, shares, damaged } = folder.newest()?;
        let wrong = || format!("{} is not what this program writes", path.display());
        let text = |name: &str| head.get(name).and_then(Value::as_str).ok_or_else(wrong);
        let version = text("kanon")?;
        if version != env!("CARGO_PKG_VERSION") {
            return Err(format!(
                "{} was written by kanon {version}, and this is {}: take that version to go on, or begin anew",
                path.display(),
                env!("CARGO_PKG_VERSION")
            ));
        }
        let command = head.get("command").and_then(Value::as_array).ok_or_else(wrong)?;
        let command = command.iter().map(|w| Some(w.as_str()?.to_string())).collect::<Option<_>>();
        // The highest number, damaged or not.
        let numbers = damaged.iter().filter_map(|(p, _)| p.file_stem()?.to_str()?.parse::<u64>().ok());
        let last = numbers.fold(generation, u64::max);
        Ok(Resumed {
            command: command.ok_or_else(wrong)?,
            place: PathBuf::from(text("place")?),
            states: head.get("states").and_then(Value::as_u64).ok_or_else(wrong)?,
            damaged: damaged
                .iter()
                .map(|(p, why)| format!("{} is damaged ({why}): an older checkpoint is taken", p.display()))
                .collect(),
            generation,
            next: last.saturating_add(1),
            head,
            hash: reader.hash().to_hex().to_string(),
            reader: Mutex::new(Some(reader)),
            shares: Mutex::new(shares),
            path,
        })
    }

    /// What tells it from every other checkpoint.
    pub fn id(&self) -> String {
        format!("{} {}", self.generation, self.hash)
    }

    /// How the search for constants had begun: all of them, or so many first ones.
    ///
    /// # Errors
    /// It does not say, for people.
    pub fn first_valuations(&self) -> Result<Option<usize>, String> {
        let setup = self.head.get("setup");
        let number = setup.and_then(|s| usize::try_from(s.get("valuations")?.as_u64()?).ok());
        match (number, setup.and_then(|s| s.get("open")?.as_bool())) {
            (Some(n), Some(is_open)) => Ok(is_open.then_some(n)),
            _ => Err(format!("{} does not say how its constants were found", self.path.display())),
        }
    }

    /// Whether it is a checkpoint of this model at this scope; what has changed, for people.
    ///
    /// # Errors
    /// What has changed.
    pub fn same_model(&self, machine: &Machine, sources: &SourceMap) -> Result<(), String> {
        let now = about(machine, sources);
        let mut changes = vec![];
        for (name, what) in [
            ("files", "the text of"),
            ("sets", "the size of"),
            ("integers", "the bounds of integers"),
            ("operations", "the operations"),
            ("row", "how states are stored"),
        ] {
            let (then, now) = (self.head.get(name), now.get(name));
            if then == now {
                continue;
            }
            match (then.and_then(Value::as_object), now.and_then(Value::as_object)) {
                (Some(then), Some(now)) => {
                    let keys = then.keys().chain(now.keys().filter(|k| !then.contains_key(*k)));
                    let changed: Vec<&str> =
                        keys.filter(|k| then.get(*k) != now.get(*k)).map(String::as_str).collect();
                    changes.push(format!("{what} {}", changed.join(", ")));
                }
                _ => changes.push(what.to_string()),
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        Err(format!(
            "the model is not the one that {} is a checkpoint of: {} changed since; undo that, or begin anew",
            self.path.display(),
            changes.join(", ")
        ))
    }

    /// Whether the solver was asked for choices before.
    pub fn has_asked_solver(&self) -> bool {
        self.head.get("solver").and_then(Value::as_bool).unwrap_or(true)
    }

    /// The search, for a machine whose constants are solved. It can be had once.
    ///
    /// # Errors
    /// It is not a search of this machine, for people.
    pub fn read(&self, machine: &Machine) -> Result<Again, String> {
        let wrong = |why: &dyn fmt::Display| format!("{} cannot be taken up: {why}", self.path.display());
        if let Some(all) = self.shares.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return shares::read_as_one(all, machine).map_err(|e| wrong(&e));
        }
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut reader = reader.ok_or_else(|| wrong(&"it has been"))?;
        let course = self.head.get("course").and_then(|c| {
            use crate::system::System;
            course::read(c, machine.operations().len())
        });
        let course = course.ok_or_else(|| wrong(&"its counts cannot be read"))?;
        states::read(&mut reader, machine, course).map_err(|e| wrong(&e))
    }
}

/// What a checkpoint says of its model.
fn about(machine: &Machine, sources: &SourceMap) -> Value {
    use crate::system::System;
    // Two texts may have one name, in different folders.
    let mut texts = serde_json::Map::new();
    for file in files(sources) {
        let mut name = file.name;
        while texts.contains_key(&name) {
            name += " (another)";
        }
        texts.insert(name, Value::String(file.blake3));
    }
    let sets = sizes(&machine.model, &machine.scope).into_iter().map(|(name, n)| (name, Value::from(n)));
    json!({
        "files": texts,
        "sets": sets.collect::<serde_json::Map<_, _>>(),
        "integers": [machine.scope.minint.to_string(), machine.scope.maxint.to_string()],
        "operations": machine.operations().iter().map(|o| &*o.name).collect::<Vec<_>>(),
        "row": states::widths(machine),
    })
}

/// The head of a checkpoint: the model, the command, and what else there is to say.
fn head(about: &Value, wish: &Wish, setup: &Setup, more: Value) -> Value {
    let mut head = about.clone();
    let common = json!({
        "kanon": env!("CARGO_PKG_VERSION"),
        "command": wish.command,
        "place": wish.place.to_string_lossy(),
        "setup": {"valuations": setup.valuations, "open": setup.is_open},
    });
    for part in [common, more] {
        if let (Value::Object(head), Value::Object(part)) = (&mut head, part) {
            head.extend(part);
        }
    }
    head
}

/// How the checkpoints of a run went.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many were written.
    pub written: u64,
    /// States in the last one.
    pub states: usize,
    /// Its size.
    pub bytes: u64,
    /// How long they were written beside the search.
    pub writing: Duration,
    /// Why the last try failed, if it did.
    pub failed: Option<String>,
}

/// Writes the checkpoints of one search.
pub struct Checkpoints {
    asked: Arc<Asked>,
    shared: Arc<Shared>,
    sender: Option<SyncSender<Kept>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    is_busy: AtomicBool,
    report: Mutex<Report>,
}

impl Shared {
    fn report<T>(&self, change: impl FnOnce(&mut Report) -> T) -> T {
        change(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the thread that writes has.
struct Scribe {
    wish: Wish,
    machine: Arc<Machine>,
    about: Value,
    setup: Setup,
    shared: Arc<Shared>,
    /// The last generation that is good, and the number of the next.
    last: Option<u64>,
    next: u64,
}

impl Checkpoints {
    /// Begins: the first checkpoint is due after the time that was wished for.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn begin(
        wish: &Wish,
        machine: &Arc<Machine>,
        setup: &Setup,
        sources: &SourceMap,
    ) -> io::Result<Checkpoints> {
        let (asked, shared) = (wish.asked.clone(), Arc::new(Shared::default()));
        // None waits: nothing is handed over while somebody writes.
        let (sender, receiver) = sync_channel(1);
        let (last, next) = wish.again.as_ref().map_or((None, 1), |a| (Some(a.generation), a.next));
        let scribe = Scribe {
            wish: wish.clone(),
            machine: machine.clone(),
            about: about(machine, sources),
            setup: setup.clone(),
            shared: shared.clone(),
            last,
            next,
        };
        let thread = crate::lang::stack::thread().spawn(move || scribe.run(&receiver))?;
        asked.is_searching.store(true, Ordering::SeqCst);
        Ok(Checkpoints { asked, shared, sender: Some(sender), thread: Some(thread) })
    }

    /// How they go, which is complete when this is dropped.
    pub fn reports(&self) -> Reports {
        Reports(self.shared.clone())
    }
}

/// How the checkpoints of a run go.
pub struct Reports(Arc<Shared>);

impl Reports {
    /// As far as is known.
    pub fn now(&self) -> Report {
        self.0.report(|r| r.clone())
    }
}

/// Waits until the last one is written.
impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.asked.is_searching.store(false, Ordering::SeqCst);
        drop(self.sender.take());
        // A thread that has panicked has written nothing more.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Keeper for Checkpoints {
    #[inline]
    fn is_due(&self) -> bool {
        // Who asks for the last one is heard, also while another is written.
        self.is_last()
            || self.asked.is_due.load(Ordering::Relaxed) && !self.shared.is_busy.load(Ordering::Acquire)
    }

    fn is_last(&self) -> bool {
        self.asked.is_last.load(Ordering::Relaxed)
    }

    fn keep(&mut self, kept: Kept) {
        self.asked.is_due.store(false, Ordering::SeqCst);
        self.shared.is_busy.store(true, Ordering::Release);
        if let Some(sender) = &self.sender
            && sender.send(kept).is_err()
        {
            self.shared.report(|r| r.failed = Some("its writer has ended".into()));
        }
    }
}

impl Scribe {
    fn run(mut self, receiver: &Receiver<Kept>) {
        let mut pause = self.wish.every;
        loop {
            let kept = match receiver.recv_timeout(pause) {
                Ok(kept) => kept,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    self.wish.asked.is_due.store(true, Ordering::SeqCst);
                    match receiver.recv() {
                        Ok(kept) => kept,
                        Err(_) => return,
                    }
                }
            };
            let begun = Instant::now();
            let written = self.write(&kept);
            let took = begun.elapsed();
            self.shared.report(|r| {
                r.writing += took;
                match written {
                    Ok(bytes) => {
                        (r.states, r.bytes, r.failed) = (kept.states.len(), bytes, None);
                        r.written += 1;
                    }
                    Err(e) => r.failed = Some(e.to_string()),
                }
            });
            self.shared.is_busy.store(false, Ordering::Release);
            pause = self.wish.every.max(took * EVERY_SHARE);
        }
    }

    fn write(&mut self, kept: &Kept) -> io::Result<u64> {
        let course = course::write(&kept.course)
            .ok_or_else(|| io::Error::other("a finding has no form in a checkpoint"))?;
        let more = json!({
            "states": kept.states.len(),
            "open": kept.open.len(),
            "solver": self.machine.has_asked_solver(),
            "course": course,
        });
        let head = head(&self.about, &self.wish, &self.setup, more);
        let generation = self.next;
        let bytes = file::whole(&self.wish.folder.of(generation), |out| {
            let mut out = file::Writer::new(out, &head.to_string())?;
            states::write(&mut out, &self.machine, kept)?;
            out.end()
        })?;
        self.wish.folder.forget(generation, self.last);
        (self.last, self.next) = (Some(generation), generation + 1);
        Ok(bytes)
    }
}
