//! States on their way from one process to another: what timely exchanges.

use crate::explore::StateId;
use crate::explore::others::Process;
use kanon_checker::codec::{Bytes, put_number};
use timely::Accountable;
use timely::bytes::arc::Bytes as Shared;
use timely::communication::Push;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};

/// What a batch is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// States that one process hands on to one other.
    #[default]
    States,
    /// The word that states at this batch's time are not to be expanded, nor any that are deeper.
    Halt,
    /// The word that the search is written down before any state at this batch's time is expanded: the checkpoint with
    /// this number.
    Keep(u64),
}

/// What one process sends to one other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub from: Process,
    pub to: Process,
    pub kind: Kind,
    /// How many states there are.
    pub records: u32,
    /// What the other one has to learn before it reads the states ([`super::portable`]).
    pub names: Vec<u8>,
    /// One after the other: the key, the parent's number less that of the one before, the operation.
    pub bytes: Vec<u8>,
    /// The parent of the last one.
    last: StateId,
}

/// A batch is sent when it has so many bytes.
pub const FULL: usize = 1 << 14;
/// Of a batch that was sent, beside its states.
const HEAD: usize = 32;

impl Batch {
    pub fn new(from: Process, to: Process) -> Batch {
        Batch { from, to, ..Batch::default() }
    }

    pub fn of(kind: Kind, from: Process, to: Process) -> Batch {
        Batch { kind, ..Batch::new(from, to) }
    }

    /// Goes on behind the key of a state, which is there by now.
    pub fn add(&mut self, parent: StateId, operation: usize) {
        put_number(&mut self.bytes, u64::from(parent.wrapping_sub(self.last)));
        put_number(&mut self.bytes, operation as u64);
        self.last = parent;
        self.records += 1;
    }

    pub fn is_full(&self) -> bool {
        self.bytes.len() + self.names.len() >= FULL
    }

    /// The next state's parent and operation, behind its key.
    pub fn behind(bytes: &mut Bytes, last: &mut StateId) -> Option<(StateId, usize)> {
        *last = last.wrapping_add(u32::try_from(bytes.number()?).ok()?);
        Some((*last, usize::try_from(bytes.number()?).ok()?))
    }
}

impl Accountable for Batch {
    fn record_count(&self) -> i64 {
        // A halt is one thing to wait for, too; what is empty is neither.
        i64::from(self.records) + i64::from(self.kind != Kind::States)
    }
}

impl ContainerBytes for Batch {
    fn from_bytes(bytes: Shared) -> Batch {
        let number =
            |at: usize| bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let (names, length) = (HEAD + number(16) as usize, number(4) as usize);
        let kind = match number(12) {
            1 => Kind::Halt,
            2 => Kind::Keep(u64::from(number(20)) | u64::from(number(24)) << 32),
            _ => Kind::States,
        };
        Batch {
            records: number(0),
            from: number(8) as Process,
            to: (number(8) >> 16) as Process,
            kind,
            // What was cut off has fewer states than it says, and whoever reads it notices.
            names: bytes.get(HEAD..names).unwrap_or_default().to_vec(),
            bytes: bytes.get(names..names.saturating_add(length)).unwrap_or_default().to_vec(),
            last: 0,
        }
    }

    fn length_in_bytes(&self) -> usize {
        HEAD + (self.names.len() + self.bytes.len()).next_multiple_of(8)
    }

    fn into_bytes<W: std::io::Write>(&self, writer: &mut W) {
        let ends = u32::from(self.from) | u32::from(self.to) << 16;
        let (kind, generation) = match self.kind {
            Kind::States => (0, 0),
            Kind::Halt => (1, 0),
            Kind::Keep(generation) => (2, generation),
        };
        let (low, high) = (generation as u32, (generation >> 32) as u32);
        let lengths = [self.bytes.len() as u32, self.names.len() as u32];
        let head = [self.records, lengths[0], ends, kind, lengths[1], low, high, 0];
        let length = self.names.len() + self.bytes.len();
        // It is written into memory that timely has measured by `length_in_bytes`.
        for number in head {
            let _ = writer.write_all(&number.to_le_bytes());
        }
        let _ = writer.write_all(&self.names);
        let _ = writer.write_all(&self.bytes);
        let _ = writer.write_all(&[0; 8][..length.next_multiple_of(8) - length]);
    }
}

/// Sends each batch where it belongs.
pub struct ByProcess;

impl Distributor<Batch> for ByProcess {
    fn partition<T: Clone, P: Push<Message<T, Batch>>>(
        &mut self,
        batch: &mut Batch,
        time: &T,
        pushers: &mut [P],
    ) {
        // One that belongs to nobody is lost, and the counts of what was sent and received tell.
        if let Some(pusher) = pushers.get_mut(usize::from(batch.to)) {
            Message::push_at(batch, time.clone(), pusher);
        }
    }

    fn flush<T: Clone, P: Push<Message<T, Batch>>>(&mut self, _: &T, _: &mut [P]) {}
}
