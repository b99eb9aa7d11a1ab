//! One search by several processes, on one machine or on many, on timely dataflow (docs/distributed.md).
//!
//! | module | what it has |
//! |---|---|
//! | `meet` | who connects to whom, the token, what processes must have in common |
//! | `link` | frames, heartbeats, and streams for timely |
//! | `portable` | keys as bytes that all processes read alike |
//! | `batch` | states on their way |
//! | `flow` | the dataflow, and its frontier |
//! | `drive` | one process's share, from the initial states to the end |
//! | `keep` | when the search is written down |
//! | `last` | reports, the way to a finding, the answer |
//!
//! **Whose events.** Each process has a kernel of its own, with the states whose keys belong to it
//! ([`crate::explore::share`]). The machine of the whole is wmc: `rrac`, `runex` and `rerr` are the unions of all
//! kernels' sets, which are disjoint since a key has one owner, and `i` is open as long as it is in some kernel. Every
//! event of a kernel is an event of wmc on these unions:
//!
//! - *add_inv, add_err* happen where the key belongs. The guard `t ∉ rrac ∪ rerr` is that kernel's: no other stores the
//!   key. The guard `s1 ↦ s2 ∈ tr` was seen by the process that has expanded `s1`, and `s1 ∈ runex` holds since
//!   that process still has its token. That `s2 ↦ t ∈ orb` is seen where `s2` was: the witness is checked before the key
//!   is sent. Whether the state fulfils the invariant is looked at by its owner.
//! - *remove* of `s1` needs all its successors in `rrac ∪ rerr`. Those of other processes were handed on at time d + 1,
//!   where d is the depth of `s1`, or lie in a batch that was sent earlier. Who receives a batch of time d + 1 keeps a
//!   capability of d + 1 until it has looked up what is in it, and messages that could be sent with that come at d + 2.
//!   So when timely's frontier has passed d + 2, everything handed on by states of depth d has arrived.
//! - no event has the guard `rerr = ∅`, which could not be seen from one process; the guards that there are, are
//!   stable under the events of others. So the events of all processes, in any order that agrees with each process's and
//!   with what was received after it was sent, are a run of wmc. `tests/checking/distributed.rs` takes the log of
//!   real runs and replays it as such.
//!
//! **Pass of the whole** has the guards `runex = ∅` and `rerr = ∅`, of the unions. That timely's frontier is empty says
//! that nothing is on its way and that nobody can send; but an operator that is dropped, or a process that has lost a
//! capability, empties it too. So it is necessary and not enough ([`crate::verdict::Together`]): in a last round every
//! process has to say, after its own frontier was empty,
//!
//! 1. that its own kernel has passed: none of its states is open or an error state, and it has expanded `i`;
//! 2. that the system gave it its word, in this process, that no start is missing: every process enumerates all starts,
//!    and stores those initial states that belong to it, so none depends on another's enumeration;
//! 3. that nothing has ended it early: no limit, no signal, no evaluation that was cut short;
//! 4. how many states it has handed on to each other process, and received from each: what one has sent, the
//!    other must have looked up, pair by pair. A batch that was lost, or came twice, is seen here.
//!
//! With 1 for all, every stored state was expanded and its expansion had ended (a state that was given up keeps its token,
//! and its kernel never passes); with 4, its successors have been looked up by their owners, which stored what was new
//! and, by 1, have expanded it. So the union of all `rrac` is closed under `tr` up to symmetry and contains, by 2, all
//! initial states: it is all that can be reached. A search that was ended (a limit, Ctrl-C) does not look up what
//! it receives any more, unless it is to be written down: then `remove` may be fired without its guard, and there is no
//! Pass, by 3.
//!
//! **Nothing is concluded from silence.** A process that ends, is killed or hangs, and a connection that is cut or
//! stalls, is noticed by heartbeats and told to all; the answer is Unknown then, whatever was found.
//!
//! **Findings.** A state's depth is its distance from the initial states, and a finding at depth d is announced at that
//! time, so that everybody has heard of it before anything of depth d + 1 is expanded. All expand all states of
//! depths up to d, and of what is found at the least depth the least is told, by what it is and by its key.
//! So what is explored, counted and found does not depend on how many processes there are, nor on who was quick.
//!
//! **Proof information** (`--proof-info`) needs no more than in one process: a fact is used for a step from a state that
//! fulfils the whole invariant, and only such states are taken for expansion, by whichever kernel; error states never
//! are. The owner of the target hears which operation led to it, and asks the same observers.
//!
//! Absent on purpose: batches of states and threads inside a process; encryption.

mod batch;
mod drive;
mod flow;
mod keep;
mod last;
pub mod link;
pub mod meet;
pub mod portable;

pub use drive::{Progress, Task, explore};
pub use keep::{Keeping, Written};

use crate::explore::search::Explored;
use crate::verdict::Decision;

/// What a process has when a search is over.
pub struct Found {
    /// In process 0 the answer of all, with a store that has the way to what was found.
    pub explored: Explored,
    /// What process 0 has said; none if the search was given up.
    pub all: Option<Said>,
    /// In process 0: the checkpoints.
    pub written: Written,
}

/// What is known at the end.
#[derive(Clone, Debug)]
pub struct Said {
    /// The verdict of all.
    pub decision: Decision,
    /// In process 0: of all.
    pub traffic: Traffic,
}

/// What has gone to and fro.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// The states of each process.
    pub states: Vec<u64>,
    /// States that were handed on.
    pub handed_on: u64,
    /// Bytes that were sent, all in all.
    pub bytes: u64,
    /// Frames that were sent.
    pub frames: u64,
}

impl Traffic {
    fn add(&mut self, other: &Traffic) {
        self.states.extend(&other.states);
        self.handed_on += other.handed_on;
        self.bytes += other.bytes;
        self.frames += other.frames;
    }
}
