//! When a search of several processes is written down, and who does what.
//!
//! **While all search.** Process 0 sees that a checkpoint is due and says so to all by a message of timely's, which arrives at
//! a time t that lies one behind the depth of states that it has still to expand: so everybody has heard it before anything
//! of depth t is expanded anywhere. Each takes its share when its own frontier has passed t, or, if that is sooner, before
//! it looks at the first message of a later time, which its sender sent after having taken its own. That the shares
//! together are a state of wmc is argued in [`crate::explore::keep`]. They are written by a thread of each process while the
//! search goes on; process 0 hears from each the name and hash of what it has written, and when all have said so it
//! writes the record, which makes a checkpoint of them. Whatever goes wrong before, there is no record, and the older
//! checkpoint is the last.
//!
//! **At the end of a search that was ended** (by `--max-states`, by a signal), nothing is on its way when the frontier is
//! empty, and if each process has looked up all that it has received, and what was sent and received adds up, the shares
//! are again such a state: what was expanded is closed, the rest is open. Process 0 asks for them in the last round.

use super::batch::{Batch, Kind};
use super::flow::Flow;
use super::link::Net;
use crate::checkpoint::shares::{Done, Shares};
use crate::explore::keep::ShareAgain;
use crate::explore::others::Process;
use crate::explore::share::Part;
use serde_json::{Value, json};
use timely::dataflow::operators::Capability;

/// What a search is given beside its options.
#[derive(Default)]
pub struct Keeping {
    pub shares: Option<Shares>,
    pub again: Option<ShareAgain>,
}

/// How the checkpoints of a search go.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// How many checkpoints there were.
    pub checkpoints: u64,
    /// States in the last one.
    pub states: u64,
    /// Why the last try failed, if it did.
    pub failed: Option<String>,
}

/// One process's part in checkpoints.
pub(super) struct Keep {
    shares: Option<Shares>,
    /// What was said of the next one: at which time it is taken, and its number.
    agreed: Option<(u64, u64)>,
    /// In process 0: of the one that is written now, its number and what was said of each share.
    gathered: Option<(u64, Vec<Option<Value>>)>,
    pub written: Written,
}

impl Keep {
    pub fn new(shares: Option<Shares>) -> Keep {
        Keep { shares, agreed: None, gathered: None, written: Written::default() }
    }

    /// Whether somebody has asked this process to end with a checkpoint.
    pub fn is_last(&self) -> bool {
        self.shares.as_ref().is_some_and(Shares::is_last)
    }

    /// Whether the search is written down at all.
    pub fn is_wanted(&self) -> bool {
        self.shares.is_some()
    }

    /// Process 0 asks for one if it is due, by a capability that it has.
    pub fn ask(&mut self, net: &Net, flow: &Flow, least: Option<&Capability<u64>>) {
        let Some(shares) = self.shares.as_mut().filter(|s| net.me() == 0 && s.is_due()) else { return };
        // The loop adds one to its time: that of the states to which what is expanded at this time leads.
        let Some(capability) = least.filter(|_| self.agreed.is_none()) else { return };
        let number = shares.number();
        self.gathered = Some((number, vec![None; net.processes()]));
        for to in 0..net.processes() {
            flow.send(capability.clone(), Batch::of(Kind::Keep(number), 0, to as Process));
        }
    }

    /// That was said.
    pub fn heard(&mut self, time: u64, number: u64) {
        self.agreed = Some((time, number));
    }

    /// Takes the share if this is the moment: everything before `passed` has arrived.
    pub fn take(&mut self, part: &mut dyn Part, net: &Net, passed: u64) {
        let Some((time, number)) = self.agreed.filter(|(time, _)| *time < passed) else { return };
        self.agreed = None;
        self.write(part, net, number, Some(time));
    }

    fn write(&mut self, part: &mut dyn Part, net: &Net, number: u64, depth: Option<u64>) {
        match (&mut self.shares, part.keep(depth)) {
            (Some(shares), Some(kept)) => shares.share(number, kept),
            // What has been found ends the search, or an evaluation was stopped.
            _ => self.say(net, number, json!({"failed": null})),
        }
    }

    fn say(&mut self, net: &Net, number: u64, share: Value) {
        match net.me() {
            0 => self.told(0, &json!({"number": number, "share": share})),
            _ => net.tell(0, &json!({"say": "share", "number": number, "share": share})),
        }
    }

    /// What another process says of its share.
    pub fn told(&mut self, from: Process, word: &Value) {
        let Some((number, all)) = &mut self.gathered else { return };
        if word["number"].as_u64() != Some(*number) {
            return;
        }
        let share = &word["share"];
        if let Some(why) = share.get("failed") {
            // One that was not to be written any more is no failure.
            if let Some(why) = why.as_str() {
                self.written.failed = Some(format!("process {from}: {why}"));
            }
            return self.over();
        }
        if let Some(place) = all.get_mut(usize::from(from)) {
            *place = Some(share.clone());
        }
        if all.iter().all(Option::is_some) {
            let (number, all) = (*number, std::mem::take(all));
            if let Some(shares) = &mut self.shares {
                shares.record(number, all.into_iter().flatten().collect());
            }
        }
    }

    fn over(&mut self) {
        self.gathered = None;
        if let Some(shares) = &mut self.shares {
            shares.over();
        }
    }

    /// Tells what was written meanwhile.
    pub fn look(&mut self, net: &Net) {
        while let Some(done) = self.shares.as_mut().and_then(Shares::done) {
            self.did(net, done);
        }
    }

    fn did(&mut self, net: &Net, done: Done) {
        match done {
            Done::Share(number, Ok(share)) => self.say(net, number, share),
            Done::Share(number, Err(why)) => self.say(net, number, json!({"failed": why})),
            Done::Record(_, written) => {
                match written {
                    Ok(states) => {
                        (self.written.states, self.written.failed) = (states, None);
                        self.written.checkpoints += 1;
                    }
                    Err(why) => self.written.failed = Some(why),
                }
                self.over();
            }
        }
    }

    /// Waits until nothing is being written here.
    pub fn finish(&mut self, net: &Net) {
        while let Some(done) = self.shares.as_mut().and_then(Shares::wait) {
            self.did(net, done);
        }
    }

    /// Process 0 asks for the last one, now that all have said their last words; its own share is written.
    pub fn last(&mut self, part: &mut dyn Part, net: &Net) {
        self.finish(net);
        // One that was under way is not waited for: this one is newer.
        self.over();
        let Some(shares) = &mut self.shares else { return };
        let number = shares.number();
        self.gathered = Some((number, vec![None; net.processes()]));
        net.tell_all(&json!({"say": "keep", "number": number}));
        self.write(part, net, number, None);
        self.finish(net);
    }

    /// Whether process 0 waits for shares.
    pub fn is_waiting(&self) -> bool {
        self.gathered.is_some()
    }

    /// Another process writes its share for the last one.
    pub fn serve(&mut self, part: &mut dyn Part, net: &Net, word: &Value) {
        if let Some(number) = word["number"].as_u64() {
            self.write(part, net, number, None);
            self.finish(net);
        }
    }
}
