//! The checkpoints of several processes: each writes its share into the folder that all have in common, and process 0 writes
//! a record that names the shares, with the hash of each.
//!
//! Only the record makes a checkpoint of them: shares without one mean nothing, and a record is written when all its shares
//! are on the disk. A share that is missing, damaged, or that of another run has not the hash that the record says, and
//! then there is no such checkpoint. The names of shares have a number that is drawn at random for each run, so that what
//! a process of an earlier run may still be writing is never in the way.
//!
//! A share is a file like that of one process ([`super::states`]), with two more sections: by state, which process its
//! parent belongs to (16 bits); and how many states there are at each depth (32 bits).
//!
//! Whoever takes it up, by as many processes as there were, reads its own share, in which everything is as it was. By any
//! other number, each process reads all shares, side by side, depth by depth: the states at a depth in the order of the
//! shares get their numbers anew, each in the process that its key belongs to; so all have the same numbers, and a parent,
//! which is one depth before its child, has its number when it is asked for. With one process this is the search of one
//! process, and everything else is as there.

use super::file::{self, Reader};
use super::states::{self, Rows, damaged, flush};
use super::{Asked, EVERY_SHARE, Resumed, Wish, course, head};
use crate::explore::keep::{Again, Course, Homes, KeptShare, ShareAgain, SoFar};
use crate::explore::others::Process;
use crate::explore::store::{Arriving, ROOT};
use crate::explore::{Layout, StateId, Store};
use crate::lang::diag::SourceMap;
use crate::system::{Machine, Setup, System};
use kanon_refinement::kernel::{Insertion, Rrac};
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is to be written.
enum Job {
    Share(u64, Box<KeptShare>),
    Record(u64, Vec<Value>),
}

/// What was written, or why not.
pub enum Done {
    /// The share of a checkpoint, in words for process 0.
    Share(u64, Result<Value, String>),
    /// The record of a checkpoint, and how many states it has.
    Record(u64, Result<u64, String>),
}

/// Writes one process's shares, and in process 0 the records.
pub struct Shares {
    asked: Arc<Asked>,
    every: Duration,
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
    /// Jobs that are not done.
    pending: usize,
    /// When the last was over, and how long the next has to wait from then on.
    since: Instant,
    pause: Duration,
    begun: Option<Instant>,
    /// The number of the next.
    next: u64,
}

struct Scribe {
    wish: Wish,
    machine: Arc<Machine>,
    sources: Value,
    setup: Setup,
    /// Which process, of how many.
    me: (Process, usize),
    /// The last that is good.
    last: Option<u64>,
}

impl Shares {
    /// Begins: nothing is due before the time that was wished for.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn begin(
        wish: &Wish,
        machine: &Arc<Machine>,
        setup: &Setup,
        sources: &SourceMap,
        me: (Process, usize),
    ) -> io::Result<Shares> {
        let (sender, receiver) = channel();
        let (told, done) = channel();
        let (last, next) = wish.again.as_ref().map_or((None, 1), |a| (Some(a.generation), a.next));
        let scribe = Scribe {
            wish: wish.clone(),
            machine: machine.clone(),
            sources: super::about(machine, sources),
            setup: setup.clone(),
            me,
            last,
        };
        let thread = crate::lang::stack::thread().spawn(move || scribe.run(&receiver, &told))?;
        wish.asked.is_searching.store(true, Ordering::SeqCst);
        Ok(Shares {
            asked: wish.asked.clone(),
            every: wish.every,
            jobs: Some(sender),
            done,
            thread: Some(thread),
            pending: 0,
            since: Instant::now(),
            pause: wish.every,
            begun: None,
            next,
        })
    }

    /// Whether somebody has asked for the last one.
    pub fn is_last(&self) -> bool {
        self.asked.is_last()
    }

    /// Whether a checkpoint is due, if process 0 asks: none is under way.
    pub fn is_due(&self) -> bool {
        self.begun.is_none() && self.since.elapsed() >= self.pause
    }

    /// Process 0 begins one; its number.
    pub fn number(&mut self) -> u64 {
        self.begun = Some(Instant::now());
        self.next += 1;
        self.next - 1
    }

    /// It has come to its end, or nothing will come of it.
    pub fn over(&mut self) {
        let took = self.begun.take().map_or(Duration::ZERO, |begun| begun.elapsed());
        (self.since, self.pause) = (Instant::now(), self.every.max(took * EVERY_SHARE));
    }

    fn give(&mut self, job: Job) {
        self.pending += 1;
        // A scribe that has panicked says nothing, and then there is no checkpoint.
        let _ = self.jobs.as_ref().map(|jobs| jobs.send(job));
    }

    /// Writes this process's share.
    pub fn share(&mut self, generation: u64, kept: KeptShare) {
        self.give(Job::Share(generation, Box::new(kept)));
    }

    /// Writes the record of shares that have been written, in the order of their processes.
    pub fn record(&mut self, generation: u64, shares: Vec<Value>) {
        self.give(Job::Record(generation, shares));
    }

    /// What has been written since, if anything.
    pub fn done(&mut self) -> Option<Done> {
        let done = self.done.try_recv().ok()?;
        self.pending -= 1;
        Some(done)
    }

    /// Waits for it.
    pub fn wait(&mut self) -> Option<Done> {
        if self.pending == 0 {
            return None;
        }
        let done = self.done.recv().ok()?;
        self.pending -= 1;
        Some(done)
    }
}

/// Waits until everything is written.
impl Drop for Shares {
    fn drop(&mut self) {
        self.asked.is_searching.store(false, Ordering::SeqCst);
        drop(self.jobs.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Scribe {
    fn run(mut self, jobs: &Receiver<Job>, told: &Sender<Done>) {
        while let Ok(job) = jobs.recv() {
            let done = match job {
                Job::Share(generation, kept) => {
                    Done::Share(generation, self.share(generation, &kept).map_err(|e| e.to_string()))
                }
                Job::Record(generation, shares) => {
                    Done::Record(generation, self.record(generation, &shares).map_err(|e| e.to_string()))
                }
            };
            // Nobody listens any more when the search is over.
            let _ = told.send(done);
        }
    }

    fn share(&self, generation: u64, share: &KeptShare) -> io::Result<Value> {
        let KeptShare { kept, homes, depths } = share;
        let formless = || io::Error::other("a finding has no form in a checkpoint");
        let (me, processes) = self.me;
        let about = json!({
            "share": me,
            "processes": processes,
            "generation": generation,
            "run": self.wish.folder.run(),
            "course": course::write(&kept.course).ok_or_else(formless)?,
        });
        let path = self.wish.folder.share_of(generation, me);
        let mut hash = None;
        let bytes = file::whole(&path, |out| {
            let mut out = file::Writer::new(out, &about.to_string())?;
            states::write(&mut out, &self.machine, kept)?;
            let mut buffer: Vec<u8> = Vec::with_capacity(1 << 16);
            out.section(homes.len() as u64 * 2)?;
            for home in homes.iter() {
                buffer.extend(home.to_le_bytes());
                flush(&mut out, &mut buffer, 1 << 15)?;
            }
            flush(&mut out, &mut buffer, 1)?;
            out.section(depths.len() as u64 * 4)?;
            for n in depths {
                buffer.extend(n.to_le_bytes());
                flush(&mut out, &mut buffer, 1 << 15)?;
            }
            flush(&mut out, &mut buffer, 1)?;
            let (out, bytes, end) = out.end_hashed()?;
            hash = Some(end);
            Ok((out, bytes))
        })?;
        let name = path.file_name().and_then(|n| n.to_str()).ok_or_else(|| io::Error::other("no name"))?;
        Ok(json!({
            "name": name,
            "hash": hash.map(|h| h.to_hex().to_string()),
            "states": kept.states.len(),
            "open": kept.open.len(),
            "bytes": bytes,
            "solver": self.machine.has_asked_solver(),
        }))
    }

    fn record(&mut self, generation: u64, shares: &[Value]) -> io::Result<u64> {
        let sum = |name: &str| shares.iter().filter_map(|s| s[name].as_u64()).sum::<u64>();
        let more = json!({
            "states": sum("states"),
            "open": sum("open"),
            "solver": shares.iter().any(|s| s["solver"] != false),
            "shares": shares,
        });
        let head = head(&self.sources, &self.wish, &self.setup, more);
        file::whole(&self.wish.folder.of(generation), |out| {
            file::Writer::new(out, &head.to_string())?.end()
        })?;
        self.wish.folder.forget(generation, self.last);
        self.last = Some(generation);
        Ok(sum("states"))
    }
}

/// The shares of a checkpoint, each with a hash that is right.
pub struct Found {
    path: PathBuf,
    reader: Reader,
    head: Value,
}

/// Opens the shares that a record names; none if it is no record.
///
/// # Errors
/// Which is missing or damaged.
pub(super) fn find(record: &Value, folder: &std::path::Path) -> Result<Option<Vec<Found>>, String> {
    let Some(shares) = record.get("shares") else { return Ok(None) };
    let shares = shares.as_array().filter(|all| !all.is_empty()).ok_or("it does not name its shares")?;
    let open = |(i, share): (usize, &Value)| {
        let name = share["name"].as_str().filter(|n| !n.contains(['/', '\\']));
        let name = name.ok_or("it does not name its shares")?;
        let path = folder.join(name);
        let wrong = |why: &dyn std::fmt::Display| format!("its share {name}: {why}");
        let (reader, head) = Reader::open(&path).map_err(|e| wrong(&e))?;
        if share["hash"].as_str() != Some(reader.hash().to_hex().as_str()) {
            return Err(wrong(&"it is that of another checkpoint"));
        }
        let head: Value = serde_json::from_str(&head).map_err(|e| wrong(&e))?;
        if head["share"].as_u64() != Some(i as u64) || head["processes"].as_u64() != Some(shares.len() as u64)
        {
            return Err(wrong(&"it is that of another process"));
        }
        Ok(Found { path, reader, head })
    };
    shares.iter().enumerate().map(open).collect::<Result<Vec<_>, String>>().map(Some)
}

/// Which process a packed key belongs to; none if it has no form.
pub type Owner<'o> = dyn FnMut(&Arc<Layout>, &[u64]) -> Option<Process> + 'o;

/// A share that is read from the front: rows, parents and homes side by side.
struct Open<'m> {
    rows: Rows<'m>,
    of_rows: Reader,
    of_parents: Reader,
    of_homes: Reader,
    depths: Vec<u32>,
    /// The open states, in the order of their numbers, and how many have been met.
    open: Vec<StateId>,
    met: usize,
    course: Course,
    /// The number of the next state.
    next: StateId,
    bytes: Vec<u8>,
}

impl<'m> Open<'m> {
    fn begin(found: Found, machine: &'m Machine) -> io::Result<Open<'m>> {
        let Found { path, reader: mut of_rows, head } = found;
        let course = course::read(&head["course"], machine.operations().len())
            .ok_or_else(|| damaged("its counts cannot be read"))?;
        let rows = Rows::begin(&mut of_rows, machine)?;
        let n = rows.count;
        let mut of_parents = of_rows.another(&path)?;
        of_parents.skip(n * rows.length as u64)?;
        if of_parents.section()? != n * 4 {
            return Err(damaged("it has not as many parents as states"));
        }
        let mut rest = of_parents.another(&path)?;
        rest.skip(n * 4)?;
        let count = usize::try_from(n).map_err(|_| damaged("there are too many states"))?;
        let open =
            states::read_open(&rest.bytes()?, count).ok_or_else(|| damaged("an open state is none"))?;
        if !open.is_sorted() {
            return Err(damaged("its open states are in no order"));
        }
        if rest.section()? != n * 2 {
            return Err(damaged("it has not as many homes as states"));
        }
        let of_homes = rest.another(&path)?;
        rest.skip(n * 2)?;
        let depths = rest.bytes()?;
        let depths: Vec<u32> =
            depths.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        if depths.iter().map(|n| u64::from(*n)).sum::<u64>() != n {
            return Err(damaged("its states are at no depth"));
        }
        let bytes = vec![0; rows.length];
        Ok(Open { rows, of_rows, of_parents, of_homes, depths, open, met: 0, course, next: 0, bytes })
    }

    /// The next state: its row is put into `row`; the process and number of its parent, and whether it is open.
    fn next(&mut self, row: &mut Vec<u64>) -> io::Result<(Process, StateId, bool)> {
        self.of_rows.take(&mut self.bytes)?;
        self.rows.row(&self.bytes, row)?;
        let (mut parent, mut home) = ([0; 4], [0; 2]);
        self.of_parents.take(&mut parent)?;
        self.of_homes.take(&mut home)?;
        let is_open = self.open.get(self.met) == Some(&self.next);
        self.met += usize::from(is_open);
        self.next += 1;
        Ok((Process::from_le_bytes(home), StateId::from_le_bytes(parent), is_open))
    }
}

/// The number that a state of the depth before got: in which share it was, and which number it had.
struct Depth {
    /// By share: the first number of that depth, and what became of each.
    of: Vec<(StateId, Vec<(Process, StateId)>)>,
}

impl Resumed {
    /// One process's share of the search, of so many, for a machine whose constants are solved. It can be had once.
    ///
    /// # Errors
    /// It is not a search of this machine, for people.
    pub fn read_share(
        &self,
        machine: &Machine,
        (me, processes): (Process, usize),
        owner: &mut Owner,
    ) -> Result<ShareAgain, String> {
        let wrong =
            |why: &dyn std::fmt::Display| format!("{} cannot be taken up: {why}", self.path.display());
        let shares = self.shares.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let shares =
            shares.ok_or_else(|| wrong(&"it has the search of one process, or has been taken up"))?;
        read(shares, machine, (me, processes), owner).map_err(|e| wrong(&e))
    }

    /// How many processes have written it.
    pub fn processes(&self) -> usize {
        self.head.get("shares").and_then(Value::as_array).map_or(1, Vec::len)
    }
}

/// The shares as the search of one process.
pub(super) fn read_as_one(shares: Vec<Found>, machine: &Machine) -> io::Result<Again> {
    read(shares, machine, (0, 1), &mut |_, _| Some(0)).map(|share| share.again)
}

fn read(
    shares: Vec<Found>,
    machine: &Machine,
    (me, processes): (Process, usize),
    owner: &mut Owner,
) -> io::Result<ShareAgain> {
    let is_own = shares.len() == processes && processes > 1;
    let count = shares.len();
    let all = shares.into_iter().enumerate().filter(|(i, _)| !is_own || *i == usize::from(me));
    let mut all = all.map(|(_, found)| Open::begin(found, machine)).collect::<io::Result<Vec<_>>>()?;
    let mut store = Store::new(Layout::new(&machine.widths()));
    let layout = store.layout();
    let (mut homes, mut depths, mut open) = (Homes::default(), vec![], vec![]);
    // By process, of those that search from now on: how many states it has.
    let mut numbers: Vec<StateId> = vec![0; processes];
    let (mut row, mut key) = (vec![], vec![]);
    let mut before = Depth { of: vec![] };
    // What was found in states: by share and old number, and here.
    let mut found: Vec<Option<(u64, Process, StateId)>> = vec![None; all.len()];
    let most = all.iter().map(|share| share.depths.len()).max().unwrap_or(0);
    for depth in 0..most {
        let mut these = Depth { of: vec![] };
        let mut stored = 0;
        for (i, share) in all.iter_mut().enumerate() {
            let n = share.depths.get(depth).copied().unwrap_or(0);
            let finding = share.course.found.finding.as_ref().and_then(|f| f.state);
            let mut became = Vec::with_capacity(if is_own { 0 } else { n as usize });
            let first = share.next;
            for _ in 0..n {
                let id = share.next;
                let (home, parent, is_open) = share.next(&mut row)?;
                key.clear();
                store.pack_to(&row, &mut key);
                let here = owner(&layout, &key).filter(|p| usize::from(*p) < processes);
                let here = here.ok_or_else(|| damaged("a state belongs to nobody"))?;
                if is_own && here != me {
                    return Err(damaged("a state belongs to another process"));
                }
                let number = &mut numbers[usize::from(here)];
                let now = (here, *number);
                *number = number.checked_add(1).ok_or_else(|| damaged("there are too many states"))?;
                if !is_own {
                    became.push(now);
                }
                if finding == Some(id) {
                    found[i] = Some((depth as u64, here, now.1));
                }
                if here != me {
                    continue;
                }
                let (home, parent) = match (parent, depth) {
                    (ROOT, 0) => (me, ROOT),
                    (ROOT, _) | (_, 0) => return Err(damaged("a state has the parent of another depth")),
                    // What another process has said of its states is for that process to know.
                    _ if is_own && usize::from(home) < count => (home, parent),
                    _ => {
                        let of = before.of.get(usize::from(home));
                        let parent =
                            of.and_then(|(first, all)| all.get(parent.checked_sub(*first)? as usize));
                        *parent.ok_or_else(|| damaged("a state has the parent of another depth"))?
                    }
                };
                match store.insert_if_absent(Arriving { row: &row, parent }) {
                    Insertion::Inserted(id) if id == now.1 => {
                        if is_open {
                            open.push(id);
                        }
                    }
                    _ => return Err(damaged("a state is there twice")),
                }
                homes.push(home);
                stored += 1;
            }
            these.of.push((first, became));
        }
        depths.push(stored);
        before = these;
    }
    while depths.last() == Some(&0) {
        depths.pop();
    }
    let course = together(&all, &found, (me, is_own), machine.operations().len())?;
    Ok(ShareAgain { again: Again { store, open, course }, homes, depths })
}

/// What a process goes on with of what all have counted and found. The first has the counts of all, and whatever was cut
/// short; and each what was found nearest in a state that is its own.
fn together(
    all: &[Open],
    found: &[Option<(u64, Process, StateId)>],
    (me, is_own): (Process, bool),
    operations: usize,
) -> io::Result<Course> {
    let mut so_far = SoFar::default();
    so_far.counts.operations = vec![0; operations];
    let mut nearest: Option<u64> = None;
    let mut place = Default::default();
    for (share, found) in all.iter().zip(found) {
        let from = &share.course.found;
        place = share.course.place;
        if me == 0 || is_own {
            let (counts, c) = (&mut so_far.counts, &from.counts);
            counts.transitions += c.transitions;
            counts.operations.iter_mut().zip(&c.operations).for_each(|(all, n)| *all += n);
            counts.deadlocks += c.deadlocks;
            counts.violations += c.violations;
            counts.assertion_failures += c.assertion_failures;
            counts.goals += c.goals;
            counts.wd_errors += c.wd_errors;
            so_far.faults += from.faults;
            so_far.limit = so_far.limit.take().or_else(|| from.limit.clone());
            so_far.truncated = so_far.truncated.or(from.truncated);
        }
        let Some(finding) = &from.finding else { continue };
        // What was found at the root is found anew.
        let Some(state) = finding.state else { continue };
        let Some((depth, here, state_now)) = *found else {
            return Err(damaged(&format!("it has found something in state {state}, which is none")));
        };
        if here == me && nearest.is_none_or(|n| depth < n) {
            nearest = Some(depth);
            so_far.finding = Some(crate::explore::Finding { state: Some(state_now), ..finding.clone() });
        }
    }
    Ok(Course { found: so_far, place, ..Course::default() })
}
