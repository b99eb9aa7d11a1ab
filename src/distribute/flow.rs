//! The dataflow: one operator in a loop, whose messages go to the process that they belong to. A message at time d has
//! states of depth d, so that the loop adds one.
//!
//! The operator does no work. It puts what comes into a box, from which whoever drives the search takes it, together with
//! the capability to send at that time; and sends what it finds in another box. So the search need not be `'static`, and
//! its kernel need not be lent to timely. What matters of timely is the frontier: that it has passed a time means that no
//! message of that time is on its way to anybody, nor will be sent; that it is empty, that nothing will be sent any more.

use super::batch::{Batch, ByProcess};
use super::link::Net;
use crate::verdict::Closed;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::bytes_slab::BytesRefill;
use timely::communication::allocator::zero_copy::initialize::{
    CommsGuard, initialize_networking_from_sockets,
};
use timely::communication::allocator::{Allocator, ProcessBuilder};
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::scheduling::Activator;
use timely::worker::{Config, Worker};

/// Between the operator and whoever drives the search.
#[derive(Default)]
struct Boxes {
    incoming: Vec<(Capability<u64>, Batch)>,
    outgoing: Vec<(Capability<u64>, Batch)>,
    /// The least time at which something may come; none if nothing will.
    frontier: Option<u64>,
}

/// A running dataflow.
pub struct Flow {
    worker: Worker,
    boxes: Rc<RefCell<Boxes>>,
    activator: Activator,
    guard: Option<CommsGuard>,
}

impl Flow {
    /// Begins, with the capability to send at any time.
    ///
    /// # Errors
    /// The system's.
    pub fn new(net: &mut Net) -> std::io::Result<(Flow, Capability<u64>)> {
        let me = usize::from(net.me());
        let hooks = Hooks::default();
        let refill: BytesRefill = hooks.refill.clone();
        let inside = ProcessBuilder::new_typed_vector(1, refill, None);
        let (mut builders, guard) = initialize_networking_from_sockets(inside, net.streams(), me, 1, hooks)?;
        let Some(builder) = builders.pop() else { return Err(std::io::Error::other("timely has no worker")) };
        // Without a clock: nothing is logged, and nothing is to happen later.
        let mut worker = Worker::new(Config::default(), Allocator::Tcp(builder.build()), None);
        let boxes = Rc::new(RefCell::new(Boxes { frontier: Some(0), ..Boxes::default() }));
        let theirs = boxes.clone();
        let (activator, capability) = worker.dataflow::<u64, _, _>(|scope| {
            let (handle, cycle) = scope.feedback::<Batch>(1);
            let mut builder = OperatorBuilder::new("search".to_string(), scope);
            let mut input = builder.new_input(cycle, DistributorPact(|_| ByProcess));
            let (mut output, stream) = builder.new_output::<Batch>();
            stream.connect_loop(handle);
            let activator = scope.activator_for(builder.operator_info().address);
            let first = Rc::new(RefCell::new(None));
            let told = first.clone();
            builder.build(move |mut capabilities| {
                *told.borrow_mut() = capabilities.pop();
                move |frontiers| {
                    let boxes = &mut *theirs.borrow_mut();
                    input.for_each(|capability, batch| {
                        boxes.incoming.push((capability.retain(0), std::mem::take(batch)));
                    });
                    let mut output = output.activate();
                    for (capability, mut batch) in boxes.outgoing.drain(..) {
                        output.give(&capability, &mut batch);
                    }
                    boxes.frontier = frontiers[0].frontier().first().copied();
                }
            });
            let capability = first.borrow_mut().take();
            (activator, capability)
        });
        let flow = Flow { worker, boxes, activator, guard: Some(guard) };
        match capability {
            Some(capability) => Ok((flow, capability)),
            None => Err(std::io::Error::other("timely has no capability")),
        }
    }

    /// Sends something at the time of a capability.
    pub fn send(&self, capability: Capability<u64>, batch: Batch) {
        self.boxes.borrow_mut().outgoing.push((capability, batch));
    }

    /// Lets timely work: sends what is to be sent, and waits so long for something to come.
    pub fn step(&mut self, wait: Duration) {
        // Capabilities may have been dropped, which the operator tells.
        self.activator.activate();
        self.worker.step();
        if !wait.is_zero() && self.boxes.borrow().incoming.is_empty() {
            self.worker.step_or_park(Some(wait));
        }
    }

    /// What has come.
    pub fn incoming(&self) -> Vec<(Capability<u64>, Batch)> {
        std::mem::take(&mut self.boxes.borrow_mut().incoming)
    }

    /// The least time at which something may come; none if nothing will.
    pub fn frontier(&self) -> Option<u64> {
        self.boxes.borrow().frontier
    }

    /// The word that the frontier is empty, and nothing is left in the boxes.
    pub fn closed(&self) -> Option<Closed> {
        let boxes = self.boxes.borrow();
        let is_empty = boxes.frontier.is_none() && boxes.incoming.is_empty() && boxes.outgoing.is_empty();
        is_empty.then(Closed::the_frontier_is_empty)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        // Its threads end when the program does: to join them would be to wait for a process that may be gone.
        std::mem::forget(self.guard.take());
    }
}
