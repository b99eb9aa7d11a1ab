//! Drives one process's share of a search, to the end that all have in common.
//!
//! States of depth d are expanded when timely's frontier has passed d: then everything of that depth has arrived here,
//! so a state's depth is its distance from the initial states, whoever was quick. A process holds the capability of each
//! depth at which it has open states, and of each batch until it has looked its states up.

use super::Found;
use super::batch::{Batch, Kind};
use super::flow::Flow;
use super::keep::{Keep, Keeping};
use super::last;
use super::link::Net;
use super::portable::{Codec, MakeCodec, owner};
use crate::explore::others::{Others, Process};
use crate::explore::plan::Refusal;
use crate::explore::share::{Log, Nearest, Part, share};
use crate::explore::{Options, StateId};
use crate::symmetry::Action;
use crate::system::{Stop, System};
use crate::verdict::Why;
use kanon_checker::codec::Bytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use timely::dataflow::operators::Capability;

/// States that are expanded before timely gets a turn.
const TURN: usize = 256;
/// States are looked up so long after their places have been asked for.
const SOON: usize = 16;
/// How long somebody who has nothing to do waits for something to come.
const NAP: Duration = Duration::from_millis(20);
/// How often somebody is told how far this process is.
const SHOWN: Duration = Duration::from_millis(200);

/// How far a process is: its states and transitions.
pub type Progress<'p> = dyn FnMut(usize, u64) + 'p;

/// What is on its way to other processes.
struct Outbox<'c> {
    me: Process,
    codec: Codec<'c>,
    /// By process.
    batches: Vec<Batch>,
    full: Vec<Batch>,
    handed_on: Vec<u64>,
    /// Something has no form.
    is_formless: bool,
}

impl Outbox<'_> {
    /// What is to be sent: what is full, or all.
    fn take(&mut self, all: bool) -> Vec<Batch> {
        let mut ready = std::mem::take(&mut self.full);
        if all {
            for (to, batch) in self.batches.iter_mut().enumerate() {
                if batch.records > 0 {
                    ready.push(std::mem::replace(batch, Batch::new(self.me, to as Process)));
                }
            }
        }
        ready
    }
}

impl Others for Outbox<'_> {
    fn processes(&self) -> (usize, Process) {
        (self.batches.len(), self.me)
    }

    #[inline]
    fn owner(&mut self, key: &[u64]) -> (Process, u64) {
        match self.codec.hash(key) {
            Some(hash) => (owner(hash, self.batches.len()), hash),
            None => {
                self.is_formless = true;
                (self.me, 0)
            }
        }
    }

    #[inline]
    fn hand_on(&mut self, to: Process, key: &[u64], parent: StateId, operation: usize) {
        let at = usize::from(to);
        let batch = &mut self.batches[at];
        self.is_formless |= !self.codec.send(to, key, &mut batch.bytes, &mut batch.names);
        batch.add(parent, operation);
        self.handed_on[at] += 1;
        if batch.is_full() {
            self.full.push(std::mem::replace(batch, Batch::new(self.me, to)));
        }
    }

    fn portable(&mut self, key: &[u64]) -> Vec<u8> {
        let mut form = vec![];
        self.is_formless |= !self.codec.write(key, &mut form);
        form
    }
}

/// One process's part of a search.
pub struct Task<'a> {
    pub options: &'a Options,
    /// How keys travel.
    pub codec: &'a MakeCodec<'a>,
    pub stop: &'a Stop,
    /// Hears of every event.
    pub log: Option<Log>,
}

/// Searches together with the others. In process 0 the answer is that of all; in the others it is none, and `Found` has the
/// word that process 0 has said.
///
/// # Errors
/// Options that do not go together.
pub fn explore<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    task: Task,
    net: &mut Net,
    keeping: Keeping,
    progress: &mut Progress,
) -> Result<Found, Refusal> {
    let mut told = None;
    let parts = (net.processes(), net.me());
    let Task { options, stop, .. } = task;
    let Keeping { shares, again } = keeping;
    let is_again = again.is_some();
    let mut keep = Keep::new(shares);
    let explored = share(system, action, options, parts, stop, again, |part| {
        let answered = Driver::new(&mut *part, &task, net, &mut keep).and_then(|mut driver| {
            let run = driver.run(&task, is_again, progress);
            let Driver { part, net, keep, out, flow, received, halt, early, is_deaf, .. } = driver;
            // A search that was given up has no last word to say.
            run.and_then(|()| {
                let end =
                    last::End { flow, handed_on: out.handed_on, received, halt, early, is_whole: !is_deaf };
                last::words(part, net, keep, out.codec, end)
            })
        });
        let (explored, all) = match answered {
            Ok((explored, all)) => (explored, Some(all)),
            Err(why) => {
                net.give_up(&why);
                (last::none(part, Why::Processes(why)), None)
            }
        };
        told = all;
        explored
    })?;
    net.close();
    Ok(Found { explored, all: told, written: keep.written.clone() })
}

struct Driver<'p, 'n, 'c> {
    part: &'p mut dyn Part,
    net: &'n mut Net,
    keep: &'n mut Keep,
    flow: Flow,
    out: Outbox<'c>,
    /// Of depths at which states wait here.
    capabilities: BTreeMap<u64, Capability<u64>>,
    received: Vec<u64>,
    /// What came in a batch: keys one after the other, parents and operations.
    keys: Vec<u64>,
    steps: Vec<(StateId, usize)>,
    /// Nothing of this depth is expanded, nor anything deeper.
    halt: Option<u64>,
    /// The depth of the finding that was announced.
    announced: Option<u64>,
    /// The search ends at once.
    is_over: bool,
    /// And nobody will go on with it: what still comes is not looked at.
    is_deaf: bool,
    /// Last words of others, who have seen the end before this process has.
    early: Vec<(Process, Value)>,
}

impl<'p, 'n, 'c> Driver<'p, 'n, 'c> {
    fn new(
        part: &'p mut dyn Part,
        task: &Task<'c>,
        net: &'n mut Net,
        keep: &'n mut Keep,
    ) -> Result<Driver<'p, 'n, 'c>, String> {
        let (processes, me) = (net.processes(), net.me());
        let codec = (task.codec)(part.layout()).ok_or("states of this system cannot travel")?;
        let (flow, capability) = Flow::new(net).map_err(|e| format!("timely cannot begin: {e}"))?;
        let out = Outbox {
            me,
            codec,
            batches: (0..processes).map(|to| Batch::new(me, to as Process)).collect(),
            full: vec![],
            handed_on: vec![0; processes],
            is_formless: false,
        };
        Ok(Driver {
            part,
            net,
            keep,
            flow,
            out,
            capabilities: BTreeMap::from([(0, capability)]),
            received: vec![0; processes],
            keys: vec![],
            steps: vec![],
            halt: None,
            announced: None,
            is_over: false,
            is_deaf: false,
            early: vec![],
        })
    }

    /// Until nothing is on its way, nor will be.
    fn run(&mut self, task: &Task, is_again: bool, progress: &mut Progress) -> Result<(), String> {
        if let Some(log) = &task.log {
            self.part.log_to(log.clone());
        }
        let (before, _) = self.part.progress();
        self.part.initial(&mut self.out);
        // All initial states had arrived before anything was written down.
        if is_again && self.part.progress().0 > before {
            return Err("the checkpoint has not all initial states".into());
        }
        let is_all = task.options.all;
        if !is_all {
            self.announce(None);
        }
        if self.part.must_stop() {
            self.end(true);
        }
        // What is taken up is not at its beginning; nor has somebody without states anything to say.
        match (self.part.depth(), self.capabilities.remove(&0)) {
            (Some(depth), Some(capability)) => {
                drop(self.capabilities.insert(depth, capability.delayed(&depth)));
            }
            _ => self.capabilities.clear(),
        }
        let (mut shown, mut wait) = (Instant::now(), Duration::ZERO);
        loop {
            self.flow.step(wait);
            if let Some(why) = self.net.lost() {
                return Err(why);
            }
            while let Some((from, word)) = self.net.hear() {
                self.heard(from, word)?;
            }
            self.keep.look(self.net);
            self.take_in(is_all)?;
            if self.out.is_formless {
                return Err("a value of this model has no form in which it could travel".into());
            }
            let frontier = self.flow.frontier();
            // Handed on by depth d at time d + 1: looked up by everybody when nobody holds a capability of d + 1, whose
            // messages would come at d + 2.
            self.part.settle(frontier.map_or(u64::MAX, |f| f.saturating_sub(2)));
            let Some(passed) = frontier else {
                self.keep.finish(self.net);
                return Ok(());
            };
            if !self.is_over && self.halt.is_none() {
                self.keep.take(self.part, self.net, passed);
                self.keep.ask(self.net, &self.flow, self.capabilities.values().next());
                if self.keep.is_last() {
                    self.part.interrupt();
                    self.end(true);
                }
            }
            wait = if self.work(frontier, is_all)? { Duration::ZERO } else { NAP };
            if shown.elapsed() > SHOWN {
                shown = Instant::now();
                let (states, transitions) = self.part.progress();
                progress(states, transitions);
                if self.part.must_stop() {
                    self.end(true);
                }
            }
        }
    }

    /// What another process says while all search.
    fn heard(&mut self, from: Process, word: Value) -> Result<(), String> {
        match word["say"].as_str() {
            Some("end") => {
                self.part.interrupt();
                self.is_deaf |= word["whole"] != true;
                self.end(false);
                Ok(())
            }
            Some("share") if self.net.me() == 0 => {
                self.keep.told(from, &word);
                Ok(())
            }
            Some("report") => {
                self.early.push((from, word));
                Ok(())
            }
            _ => Err(format!("process {from} says what nobody understands: {word}")),
        }
    }

    /// The search ends here, at once, and for all others if they have to be told. Open states stay open.
    fn end(&mut self, tell: bool) {
        self.is_deaf |= !self.keep.is_wanted() || !self.part.may_go_on();
        if tell && !self.is_over {
            self.net.tell_all(&json!({"say": "end", "whole": !self.is_deaf}));
        }
        self.is_over = true;
        // What was handed on of the states that were expanded.
        if let Some(capability) = self.capabilities.values().next() {
            for batch in self.out.take(true) {
                self.flow.send(capability.clone(), batch);
            }
        }
        self.capabilities.clear();
    }

    /// States that have come.
    fn take_in(&mut self, is_all: bool) -> Result<(), String> {
        for (capability, batch) in self.flow.incoming() {
            let (time, from) = (*capability.time(), batch.from);
            if let Kind::Keep(number) = batch.kind {
                self.keep.heard(time, number);
                continue;
            }
            if batch.kind == Kind::Halt {
                self.halt = Some(self.halt.map_or(time, |h| h.min(time)));
                self.capabilities.retain(|depth, _| *depth < time);
                continue;
            }
            if !self.is_over && self.halt.is_none() {
                self.keep.take(self.part, self.net, time);
            }
            self.receive(time, &batch)
                .ok_or_else(|| format!("what process {from} has handed on are no states of this model"))?;
            if !is_all {
                self.announce(Some(&capability));
            }
            let is_wanted = !self.is_over && self.halt.is_none_or(|h| time < h);
            if is_wanted && self.part.waits_at(time) {
                self.capabilities.entry(time).or_insert(capability);
            }
        }
        Ok(())
    }

    fn receive(&mut self, time: u64, batch: &Batch) -> Option<()> {
        let mut bytes = Bytes::new(&batch.bytes);
        let mut last = 0;
        self.keys.clear();
        self.steps.clear();
        self.out.codec.learn(batch.from, &batch.names)?;
        while !bytes.is_empty() {
            self.out.codec.receive(batch.from, &mut bytes, &mut self.keys)?;
            self.steps.push(Batch::behind(&mut bytes, &mut last)?);
        }
        *self.received.get_mut(usize::from(batch.from))? += self.steps.len() as u64;
        // A search that is over, and that nobody goes on with, looks at nothing, and says so.
        let words = if self.is_deaf { 0 } else { self.keys.len() / self.steps.len().max(1) };
        for (i, (parent, operation)) in self.steps.iter().enumerate().filter(|_| words > 0) {
            let key_at = |i: usize| self.keys.get(i * words..(i + 1) * words);
            self.part.prefetch(key_at(i + SOON), key_at(i + SOON / 2));
            let key = &self.keys[i * words..(i + 1) * words];
            let flow = self.part.arrive(batch.from, time, key, *parent, *operation, &mut self.out);
            flow.is_continue().then_some(())?;
        }
        (self.steps.len() as u64 == u64::from(batch.records)).then_some(())
    }

    /// Tells all that nobody need go deeper than what was found here, if that is nearer than what was.
    fn announce(&mut self, at_hand: Option<&Capability<u64>>) {
        let Some(Nearest { depth, .. }) = self.part.nearest() else { return };
        let depth = *depth;
        if self.announced.is_some_and(|known| known <= depth) {
            return;
        }
        let held = self.capabilities.range(..=depth).next().map(|(_, c)| c);
        let Some(capability) = at_hand.filter(|c| *c.time() <= depth).or(held) else { return };
        let capability = capability.delayed(&depth);
        for to in 0..self.net.processes() {
            self.flow.send(capability.clone(), Batch::of(Kind::Halt, self.net.me(), to as Process));
        }
        self.announced = Some(depth);
    }

    /// Expands some states, if that is due. Whether there may be more to do at once.
    fn work(&mut self, frontier: Option<u64>, is_all: bool) -> Result<bool, String> {
        let Some(depth) = self.part.depth() else { return Ok(false) };
        if self.is_over || self.halt.is_some_and(|h| depth >= h) || frontier.is_some_and(|f| f <= depth) {
            return Ok(false);
        }
        let Some(capability) = self.capabilities.get(&depth).cloned() else {
            return Err(format!("there is no capability for states of depth {depth}"));
        };
        let flow = self.part.expand(TURN, &mut self.out);
        let is_done = self.part.depth() != Some(depth);
        for batch in self.out.take(is_done || flow.is_break()) {
            self.flow.send(capability.clone(), batch);
        }
        if !is_all {
            self.announce(None);
        }
        if flow.is_break() {
            self.end(true);
        } else if is_done {
            if self.part.waits_at(depth + 1) && self.halt.is_none_or(|h| depth + 1 < h) {
                self.capabilities.entry(depth + 1).or_insert_with(|| capability.delayed(&(depth + 1)));
            }
            self.capabilities.remove(&depth);
        }
        Ok(true)
    }
}
