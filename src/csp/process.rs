//! What processes do: the transitions of a term, after the operational semantics of Roscoe's
//! *The Theory and Practice of Concurrency*.
//!
//! Termination of a component of a parallel composition is a tau, and the composition terminates when all of them
//! have. A process that is looked at later is looked at when a transition of it is needed; one whose transitions need
//! themselves is refused.

use crate::eval::Machine;
use crate::term::{EventId, Events, Term};
use crate::value::{Fault, NodeId, Res};
use kanon_language::lang::diag::NOWHERE;
use std::collections::HashMap;
use std::sync::Arc;

/// How deeply operators may nest in a state.
const DEPTH: usize = 3000;
/// The steps of a computation that copying one operand is worth.
const COPY: usize = 4;

/// What a process does in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    Tau,
    /// Successful termination.
    Tick,
    Event(EventId),
}

/// A transition.
pub type Step = (Label, NodeId);

enum Known {
    Busy,
    Done(NodeId),
}

/// A script's processes, and what is known of their transitions.
pub struct Processes {
    machine: Machine,
    /// Processes whose operands have been looked at as far as their transitions need them.
    settled: HashMap<NodeId, Known>,
    steps: HashMap<NodeId, Arc<[Step]>>,
    omega: NodeId,
    depth: usize,
    /// What stands for a component where equivalent states are one, and whether all of it was looked at (`refine`).
    pub(crate) smaller: HashMap<NodeId, (NodeId, bool)>,
}

impl Processes {
    pub fn new(mut machine: Machine) -> Processes {
        let omega = machine.node(Term::Omega);
        let (settled, steps, smaller) = (HashMap::new(), HashMap::new(), HashMap::new());
        Processes { machine, settled, steps, omega, depth: 0, smaller }
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    pub fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// The state after termination.
    pub fn omega(&self) -> NodeId {
        self.omega
    }

    /// The transitions of a process, each once.
    ///
    /// # Errors
    /// They cannot be computed.
    pub fn transitions(&mut self, node: NodeId) -> Res<Arc<[Step]>> {
        self.machine.begin();
        self.depth = 0;
        self.steps(node)
    }

    /// The state that a process is: what equals it is the same state more often.
    ///
    /// # Errors
    /// It cannot be computed.
    pub fn state(&mut self, node: NodeId) -> Res<NodeId> {
        self.machine.begin();
        self.depth = 0;
        self.settle(node)
    }

    /// A state that [`Processes::define`] says everything about.
    pub fn fresh(&mut self) -> NodeId {
        let number = self.machine.nodes() as u32;
        let node = self.machine.node(Term::Compressed(number));
        self.settled.insert(node, Known::Done(node));
        node
    }

    /// Says what a fresh state does: its steps, ascending.
    pub fn define(&mut self, fresh: NodeId, steps: Arc<[Step]>) {
        self.steps.insert(fresh, steps);
    }

    fn deeper<T>(&mut self, act: impl FnOnce(&mut Processes) -> Res<T>) -> Res<T> {
        if self.depth >= DEPTH {
            return Fault::limit(NOWHERE, format!("operators nest more than {DEPTH} deep in a process"));
        }
        self.depth += 1;
        let made = act(self);
        self.depth -= 1;
        made
    }

    /// Looks at a process, and at those operands that its transitions depend on.
    fn settle(&mut self, node: NodeId) -> Res<NodeId> {
        match self.settled.get(&node) {
            Some(Known::Done(known)) => return Ok(*known),
            Some(Known::Busy) => {
                let span = self.machine.span_of(node);
                return Fault::limit(
                    span,
                    "what this process does depends on what it does: its recursion is unguarded",
                );
            }
            None => {}
        }
        self.settled.insert(node, Known::Busy);
        let made = self.deeper(|this| this.settle_here(node));
        match &made {
            Ok(known) => {
                self.settled.insert(node, Known::Done(*known));
                self.settled.insert(*known, Known::Done(*known));
            }
            // Elsewhere there may be more room.
            Err(_) => {
                self.settled.remove(&node);
            }
        }
        made
    }

    fn settle_here(&mut self, node: NodeId) -> Res<NodeId> {
        let head = self.machine.resolve(node)?;
        if head != node
            && let Some(Known::Done(known)) = self.settled.get(&head)
        {
            return Ok(*known);
        }
        let term = Arc::clone(self.machine.term(head));
        let made = match &*term {
            Term::External(all) => Term::External(self.settle_all(all)?),
            Term::SynchronisedChoice(a, all) => {
                Term::SynchronisedChoice(Arc::clone(a), self.settle_all(all)?)
            }
            Term::Sliding(p, q) => Term::Sliding(self.settle(*p)?, *q),
            Term::Sequence(p, q) => Term::Sequence(self.settle(*p)?, *q),
            Term::Interrupt(p, q) => Term::Interrupt(self.settle(*p)?, self.settle(*q)?),
            Term::SynchronisedInterrupt(a, p, q) => {
                Term::SynchronisedInterrupt(Arc::clone(a), self.settle(*p)?, self.settle(*q)?)
            }
            Term::Exception(a, p, q) => Term::Exception(Arc::clone(a), self.settle(*p)?, *q),
            Term::Shared(a, all) => {
                let all = self.settle_all(all)?;
                if self.all_over(&all) { Term::Skip } else { Term::Shared(Arc::clone(a), all) }
            }
            Term::Alphabetised(a, all) => {
                let all = self.settle_all(all)?;
                if self.all_over(&all) { Term::Skip } else { Term::Alphabetised(Arc::clone(a), all) }
            }
            Term::Linked(pairs, p, q) => {
                let (p, q) = (self.settle(*p)?, self.settle(*q)?);
                if self.all_over(&[p, q]) { Term::Skip } else { Term::Linked(Arc::clone(pairs), p, q) }
            }
            Term::Renamed(pairs, p) => Term::Renamed(Arc::clone(pairs), self.settle(*p)?),
            Term::Hidden(a, p) => Term::Hidden(Arc::clone(a), self.settle(*p)?),
            Term::Projected(a, p) => Term::Projected(Arc::clone(a), self.settle(*p)?),
            _ => return Ok(head),
        };
        Ok(self.machine.node(made))
    }

    fn all_over(&self, all: &[NodeId]) -> bool {
        all.iter().all(|n| *n == self.omega)
    }

    fn settle_all(&mut self, all: &[NodeId]) -> Res<Arc<[NodeId]>> {
        all.iter().map(|n| self.settle(*n)).collect()
    }

    fn steps(&mut self, node: NodeId) -> Res<Arc<[Step]>> {
        if let Some(known) = self.steps.get(&node) {
            return Ok(Arc::clone(known));
        }
        let state = self.settle(node)?;
        let made = self.deeper(|this| this.compute(state))?;
        let mut steps: Vec<Step> = Vec::with_capacity(made.len());
        for (label, target) in made {
            // A target that has no value is found out when somebody asks what it does.
            steps.push((label, self.settle(target).unwrap_or(target)));
        }
        steps.sort_unstable();
        steps.dedup();
        let steps: Arc<[Step]> = steps.into();
        self.steps.insert(state, Arc::clone(&steps));
        if state != node {
            self.steps.insert(node, Arc::clone(&steps));
        }
        Ok(steps)
    }

    fn compute(&mut self, state: NodeId) -> Res<Vec<Step>> {
        let term = Arc::clone(self.machine.term(state));
        let omega = self.omega;
        let mut made: Vec<Step> = vec![];
        match &*term {
            Term::Stop | Term::Omega => {}
            Term::Skip => made.push((Label::Tick, omega)),
            Term::Diverges => made.push((Label::Tau, state)),
            Term::Chaos(all) => {
                made.push((Label::Tau, self.machine.node(Term::Stop)));
                made.extend(all.iter().map(|e| (Label::Event(*e), state)));
            }
            Term::Run(all) => made.extend(all.iter().map(|e| (Label::Event(*e), state))),
            Term::Choices(all) => made.extend(all.iter().map(|(e, n)| (Label::Event(*e), *n))),
            Term::Internal(all) => made.extend(all.iter().map(|n| (Label::Tau, *n))),
            Term::External(all) => {
                for (i, p) in all.iter().enumerate() {
                    for (label, target) in self.steps(*p)?.iter() {
                        match label {
                            Label::Tau => {
                                self.copy(all)?;
                                let next = Term::External(with(all, i, *target));
                                made.push((Label::Tau, self.machine.node(next)));
                            }
                            _ => made.push((*label, *target)),
                        }
                    }
                }
            }
            Term::SynchronisedChoice(a, all) => {
                for (i, p) in all.iter().enumerate() {
                    for (label, target) in self.steps(*p)?.iter() {
                        match label {
                            Label::Tau => {
                                self.copy(all)?;
                                let next = Term::SynchronisedChoice(Arc::clone(a), with(all, i, *target));
                                made.push((Label::Tau, self.machine.node(next)));
                            }
                            Label::Event(e) if has(a, *e) => {}
                            _ => made.push((*label, *target)),
                        }
                    }
                }
                let everybody: Vec<usize> = (0..all.len()).collect();
                for (e, next) in self.together(a, all, &everybody)? {
                    made.push((
                        Label::Event(e),
                        self.machine.node(Term::SynchronisedChoice(Arc::clone(a), next)),
                    ));
                }
            }
            Term::Sliding(p, q) => {
                made.push((Label::Tau, *q));
                for (label, target) in self.steps(*p)?.iter() {
                    match label {
                        Label::Tau => made.push((Label::Tau, self.machine.node(Term::Sliding(*target, *q)))),
                        _ => made.push((*label, *target)),
                    }
                }
            }
            Term::Sequence(p, q) => {
                for (label, target) in self.steps(*p)?.iter() {
                    match label {
                        Label::Tick => made.push((Label::Tau, *q)),
                        _ => made.push((*label, self.machine.node(Term::Sequence(*target, *q)))),
                    }
                }
            }
            Term::Interrupt(p, q) => {
                for (label, target) in self.steps(*p)?.iter() {
                    match label {
                        Label::Tick => made.push((Label::Tick, omega)),
                        _ => made.push((*label, self.machine.node(Term::Interrupt(*target, *q)))),
                    }
                }
                for (label, target) in self.steps(*q)?.iter() {
                    match label {
                        Label::Tau => {
                            made.push((Label::Tau, self.machine.node(Term::Interrupt(*p, *target))))
                        }
                        _ => made.push((*label, *target)),
                    }
                }
            }
            Term::SynchronisedInterrupt(a, p, q) => {
                let again = |p, q| Term::SynchronisedInterrupt(Arc::clone(a), p, q);
                for (label, target) in self.steps(*p)?.iter() {
                    match label {
                        Label::Tick => made.push((Label::Tick, omega)),
                        Label::Event(e) if has(a, *e) => {}
                        _ => made.push((*label, self.machine.node(again(*target, *q)))),
                    }
                }
                for (label, target) in self.steps(*q)?.iter() {
                    match label {
                        Label::Tau => made.push((Label::Tau, self.machine.node(again(*p, *target)))),
                        Label::Event(e) if has(a, *e) => {}
                        _ => made.push((*label, *target)),
                    }
                }
                for (e, next) in self.together(a, &[*p, *q], &[0, 1])? {
                    made.push((Label::Event(e), self.machine.node(again(next[0], next[1]))));
                }
            }
            Term::Exception(a, p, q) => {
                for (label, target) in self.steps(*p)?.iter() {
                    match label {
                        Label::Tick => made.push((Label::Tick, omega)),
                        Label::Event(e) if has(a, *e) => made.push((*label, *q)),
                        _ => {
                            let next = Term::Exception(Arc::clone(a), *target, *q);
                            made.push((*label, self.machine.node(next)));
                        }
                    }
                }
            }
            Term::Shared(a, all) => {
                for (i, p) in all.iter().enumerate() {
                    for (label, target) in self.steps(*p)?.iter() {
                        let label = match label {
                            Label::Event(e) if has(a, *e) => continue,
                            Label::Tick => Label::Tau,
                            other => *other,
                        };
                        self.copy(all)?;
                        let next = Term::Shared(Arc::clone(a), with(all, i, *target));
                        made.push((label, self.machine.node(next)));
                    }
                }
                let everybody: Vec<usize> = (0..all.len()).collect();
                for (e, next) in self.together(a, all, &everybody)? {
                    made.push((Label::Event(e), self.machine.node(Term::Shared(Arc::clone(a), next))));
                }
            }
            Term::Alphabetised(sets, all) => {
                let mut shared: Vec<EventId> = vec![];
                for (i, p) in all.iter().enumerate() {
                    for (label, target) in self.steps(*p)?.iter() {
                        let label = match label {
                            Label::Event(e) => {
                                if has(&sets[i], *e) {
                                    shared.push(*e);
                                }
                                continue;
                            }
                            Label::Tick => Label::Tau,
                            Label::Tau => Label::Tau,
                        };
                        self.copy(all)?;
                        let next = Term::Alphabetised(Arc::clone(sets), with(all, i, *target));
                        made.push((label, self.machine.node(next)));
                    }
                }
                shared.sort_unstable();
                shared.dedup();
                for e in shared {
                    self.copy(all)?;
                    let who: Vec<usize> = (0..all.len()).filter(|i| has(&sets[*i], e)).collect();
                    for (e, next) in self.together(&Arc::from([e]), all, &who)? {
                        let next = Term::Alphabetised(Arc::clone(sets), next);
                        made.push((Label::Event(e), self.machine.node(next)));
                    }
                }
            }
            Term::Linked(pairs, p, q) => {
                let again = |p, q| Term::Linked(Arc::clone(pairs), p, q);
                let (lefts, rights) = (self.steps(*p)?, self.steps(*q)?);
                for (label, target) in lefts.iter() {
                    let label = match label {
                        Label::Event(e) if pairs.iter().any(|(a, _)| a == e) => continue,
                        Label::Tick => Label::Tau,
                        other => *other,
                    };
                    made.push((label, self.machine.node(again(*target, *q))));
                }
                for (label, target) in rights.iter() {
                    let label = match label {
                        Label::Event(e) if pairs.iter().any(|(_, b)| b == e) => continue,
                        Label::Tick => Label::Tau,
                        other => *other,
                    };
                    made.push((label, self.machine.node(again(*p, *target))));
                }
                for (a, b) in pairs.iter() {
                    for (_, x) in lefts.iter().filter(|(l, _)| *l == Label::Event(*a)) {
                        for (_, y) in rights.iter().filter(|(l, _)| *l == Label::Event(*b)) {
                            made.push((Label::Tau, self.machine.node(again(*x, *y))));
                        }
                    }
                }
            }
            Term::Renamed(pairs, p) => {
                for (label, target) in self.steps(*p)?.iter() {
                    let next = match label {
                        Label::Tick => omega,
                        _ => self.machine.node(Term::Renamed(Arc::clone(pairs), *target)),
                    };
                    let renamed = |e: &EventId| {
                        let first = pairs.partition_point(|(a, _)| a < e);
                        let all = pairs[first..].iter().take_while(|(a, _)| a == e);
                        all.map(|(_, b)| *b).collect::<Vec<EventId>>()
                    };
                    match label {
                        Label::Event(e) => match &renamed(e)[..] {
                            [] => made.push((*label, next)),
                            all => made.extend(all.iter().map(|b| (Label::Event(*b), next))),
                        },
                        _ => made.push((*label, next)),
                    }
                }
            }
            Term::Hidden(a, p) => {
                for (label, target) in self.steps(*p)?.iter() {
                    let label = match label {
                        Label::Tick => {
                            made.push((Label::Tick, omega));
                            continue;
                        }
                        Label::Event(e) if has(a, *e) => Label::Tau,
                        other => *other,
                    };
                    made.push((label, self.machine.node(Term::Hidden(Arc::clone(a), *target))));
                }
            }
            Term::Projected(a, p) => {
                for (label, target) in self.steps(*p)?.iter() {
                    let label = match label {
                        Label::Tick => {
                            made.push((Label::Tick, omega));
                            continue;
                        }
                        Label::Event(e) if !has(a, *e) => Label::Tau,
                        other => *other,
                    };
                    made.push((label, self.machine.node(Term::Projected(Arc::clone(a), *target))));
                }
            }
            Term::Refused(what, _) => {
                return Fault::limit(NOWHERE, format!("{what} is not run"));
            }
            Term::Delayed(..) | Term::Compressed(_) => {
                return Fault::limit(
                    NOWHERE,
                    "a process that nobody has looked at: this is a mistake in kanon",
                );
            }
        }
        Ok(made)
    }

    /// Operands are about to be copied: what is long is not done without end.
    fn copy(&mut self, all: &[NodeId]) -> Res<()> {
        self.machine.spend(all.len().saturating_mul(COPY), NOWHERE)
    }

    /// The events of a set that all of these operands do together, and the operands after each.
    fn together(
        &mut self,
        set: &Events,
        all: &[NodeId],
        who: &[usize],
    ) -> Res<Vec<(EventId, Arc<[NodeId]>)>> {
        let Some((first, others)) = who.split_first() else { return Ok(vec![]) };
        let mut found = vec![];
        if set.is_empty() {
            return Ok(found);
        }
        for (label, target) in self.steps(all[*first])?.iter() {
            let Label::Event(e) = label else { continue };
            if !has(set, *e) {
                continue;
            }
            self.copy(all)?;
            let mut rows: Vec<Arc<[NodeId]>> = vec![with(all, *first, *target)];
            for i in others {
                let steps = self.steps(all[*i])?;
                let targets: Vec<NodeId> =
                    steps.iter().filter(|(l, _)| l == label).map(|(_, t)| *t).collect();
                let copied = rows.len().saturating_mul(targets.len()).saturating_mul(all.len());
                self.machine.spend(copied.saturating_mul(COPY), NOWHERE)?;
                rows = rows.iter().flat_map(|row| targets.iter().map(|t| with(row, *i, *t))).collect();
            }
            found.extend(rows.into_iter().map(|row| (*e, row)));
        }
        Ok(found)
    }
}

fn has(set: &Events, event: EventId) -> bool {
    set.binary_search(&event).is_ok()
}

/// The same operands but one.
fn with(all: &[NodeId], place: usize, node: NodeId) -> Arc<[NodeId]> {
    all.iter().enumerate().map(|(i, n)| if i == place { node } else { *n }).collect()
}
