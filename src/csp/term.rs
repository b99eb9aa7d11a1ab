//! Processes as terms: an operator and its operands, which are processes of the same table.

use crate::value::code::UnitId;
use crate::value::{NodeId, Value};
use std::sync::Arc;

/// A complete event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub u32);

/// Ascending.
pub type Events = Arc<[EventId]>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// Looked at when somebody asks: a piece of code, and what it captures.
    Delayed(UnitId, Arc<[Value]>),
    Stop,
    Skip,
    /// After termination.
    Omega,
    Diverges,
    Chaos(Events),
    Run(Events),
    /// Each of these events, and what follows.
    Choices(Arc<[(EventId, NodeId)]>),
    External(Arc<[NodeId]>),
    Internal(Arc<[NodeId]>),
    /// A choice that events of the set do not decide; all alternatives take part in them.
    SynchronisedChoice(Events, Arc<[NodeId]>),
    Sliding(NodeId, NodeId),
    Sequence(NodeId, NodeId),
    Interrupt(NodeId, NodeId),
    SynchronisedInterrupt(Events, NodeId, NodeId),
    Exception(Events, NodeId, NodeId),
    /// All take part in the events of the set.
    Shared(Events, Arc<[NodeId]>),
    /// Each takes part in the events of its set, and has no others.
    Alphabetised(Arc<[Events]>, Arc<[NodeId]>),
    /// An event of the first with one of the second, hidden.
    Linked(Arc<[(EventId, EventId)]>, NodeId, NodeId),
    Renamed(Arc<[(EventId, EventId)]>, NodeId),
    Hidden(Events, NodeId),
    /// All but these events are hidden.
    Projected(Events, NodeId),
    /// A state with a number, whose steps are written down: several that are equivalent.
    Compressed(u32),
    /// Can be written, and is not run.
    Refused(&'static str, Arc<[NodeId]>),
}
