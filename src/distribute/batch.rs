//! States on their way from one process to another: what timely exchanges.

use crate::explore::StateId;
use crate::explore::share::Process;
use kanon_checker::codec::{Bytes, put_number};
use timely::Accountable;
use timely::bytes::arc::Bytes as Shared;
use timely::communication::Push;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};

/// Some states that one process hands on to one other, or the word that nobody is to go deeper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub from: Process,
    pub to: Process,
    /// States at this batch's time are not to be expanded, nor any that are deeper.
    pub is_halt: bool,
    /// How many states there are.
    pub records: u32,
    /// One after the other: the key, the parent's number less that of the one before, the operation.
    pub bytes: Vec<u8>,
    /// The parent of the last one.
    last: StateId,
}

/// A batch is sent when it has so many bytes.
pub const FULL: usize = 1 << 14;
/// Of a batch that was sent, beside its states.
const HEAD: usize = 16;

impl Batch {
    pub fn new(from: Process, to: Process) -> Batch {
        Batch { from, to, ..Batch::default() }
    }

    pub fn halt(from: Process, to: Process) -> Batch {
        Batch { is_halt: true, ..Batch::new(from, to) }
    }

    /// Adds a state by its form.
    pub fn add(&mut self, form: &[u8], parent: StateId, operation: usize) {
        self.bytes.extend_from_slice(form);
        put_number(&mut self.bytes, u64::from(parent.wrapping_sub(self.last)));
        put_number(&mut self.bytes, operation as u64);
        self.last = parent;
        self.records += 1;
    }

    pub fn is_full(&self) -> bool {
        self.bytes.len() >= FULL
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
        i64::from(self.records) + i64::from(self.is_halt)
    }
}

impl ContainerBytes for Batch {
    fn from_bytes(bytes: Shared) -> Batch {
        let number =
            |at: usize| bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let length = number(4) as usize;
        Batch {
            records: number(0),
            from: number(8) as Process,
            to: (number(8) >> 16) as Process,
            is_halt: number(12) == 1,
            // What was cut off has fewer states than it says, and whoever reads it notices.
            bytes: bytes.get(HEAD..HEAD + length).unwrap_or_default().to_vec(),
            last: 0,
        }
    }

    fn length_in_bytes(&self) -> usize {
        HEAD + self.bytes.len().next_multiple_of(8)
    }

    fn into_bytes<W: std::io::Write>(&self, writer: &mut W) {
        let ends = u32::from(self.from) | u32::from(self.to) << 16;
        let head = [self.records, self.bytes.len() as u32, ends, u32::from(self.is_halt)];
        let filled = self.bytes.len().next_multiple_of(8) - self.bytes.len();
        // It is written into memory that timely has measured by `length_in_bytes`.
        for number in head {
            let _ = writer.write_all(&number.to_le_bytes());
        }
        let _ = writer.write_all(&self.bytes);
        let _ = writer.write_all(&[0; 8][..filled]);
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
