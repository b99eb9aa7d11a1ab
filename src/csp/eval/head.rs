//! Expressions that are processes: the operator, with its operands to be looked at later.

use super::Machine;
use crate::term::{EventId, Events, Term};
use crate::tree::{Process, Synchronised};
use crate::value::code::{Code, Kind, Replicated, Stmt, UnitId};
use crate::value::{Fault, NodeId, Res, Value};
use kanon_language::lang::diag::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Machine {
    /// An operand.
    fn later(&mut self, unit: UnitId, frame: &[Value]) -> NodeId {
        let captured = self.captured(&self.units[unit.0 as usize], frame);
        self.node(Term::Delayed(unit, captured))
    }

    fn events_in(&mut self, code: &Code, frame: &mut Vec<Value>) -> Res<Events> {
        let v = self.eval(code, frame)?;
        self.events_of(&v, code.span)
    }

    pub(super) fn head(&mut self, code: &Code, frame: &mut Vec<Value>) -> Res<Value> {
        let span = code.span;
        let term = match &code.kind {
            Kind::Prefix(event, fields, then) => return self.prefix(event, fields, *then, frame),
            Kind::Process(op, p, q) => {
                let (p, q) = (self.later(*p, frame), self.later(*q, frame));
                match op {
                    Process::ExternalChoice => Term::External([p, q].into()),
                    Process::InternalChoice => Term::Internal([p, q].into()),
                    Process::Interleave => Term::Shared(Arc::from([]), [p, q].into()),
                    Process::Interrupt => Term::Interrupt(p, q),
                    Process::Sliding => Term::Sliding(p, q),
                    Process::Sequence => Term::Sequence(p, q),
                }
            }
            Kind::Synchronised(op, p, set, q) => {
                let set = self.events_in(set, frame)?;
                let (p, q) = (self.later(*p, frame), self.later(*q, frame));
                match op {
                    Synchronised::Share => Term::Shared(set, [p, q].into()),
                    Synchronised::Exception => Term::Exception(set, p, q),
                    Synchronised::ExternalChoice => Term::SynchronisedChoice(set, [p, q].into()),
                    Synchronised::Interrupt => Term::SynchronisedInterrupt(set, p, q),
                }
            }
            Kind::Alphabetised(p, a, b, q) => {
                let (a, b) = (self.events_in(a, frame)?, self.events_in(b, frame)?);
                Term::Alphabetised([a, b].into(), [self.later(*p, frame), self.later(*q, frame)].into())
            }
            Kind::Linked(p, pairs, q) => {
                let pairs = self.event_pairs(pairs, frame, span)?;
                linkable(&pairs, span)?;
                Term::Linked(pairs, self.later(*p, frame), self.later(*q, frame))
            }
            Kind::Renamed(p, pairs) => {
                let pairs = self.event_pairs(pairs, frame, span)?;
                Term::Renamed(pairs, self.later(*p, frame))
            }
            Kind::Hidden(p, set) => {
                let set = self.events_in(set, frame)?;
                Term::Hidden(set, self.later(*p, frame))
            }
            Kind::Projected(p, set) => {
                let set = self.events_in(set, frame)?;
                Term::Projected(set, self.later(*p, frame))
            }
            Kind::Replicated(op, stmts, body) => return self.replicated(op, stmts, *body, frame, span),
            Kind::Later(p) => return Ok(Value::Process(self.later(*p, frame))),
            Kind::Refused(what) => Term::Refused(what, Arc::from([])),
            _ => return Fault::wrong(span, "this is no process: this is a mistake in kanon"),
        };
        Ok(Value::Process(self.node(term)))
    }

    fn replicated(
        &mut self,
        op: &Replicated,
        stmts: &[Stmt],
        body: UnitId,
        frame: &mut Vec<Value>,
        span: Span,
    ) -> Res<Value> {
        let set = match op {
            Replicated::Share(set) | Replicated::SynchronisedChoice(set) => Some(self.events_in(set, frame)?),
            _ => None,
        };
        let (mut all, mut sets, mut links) = (vec![], vec![], vec![]);
        self.each(stmts, frame, span, &mut |this, frame| {
            all.push(this.later(body, frame));
            match op {
                Replicated::Alphabetised(set) => sets.push(this.events_in(set, frame)?),
                Replicated::Linked(pairs) => links.push(this.event_pairs(pairs, frame, span)?),
                _ => {}
            }
            Ok(())
        })?;
        let term = match (op, set) {
            // Alternatives that are equal are one.
            (Replicated::ExternalChoice, _) => match &distinct(&all)[..] {
                [] => Term::Stop,
                all => Term::External(all.into()),
            },
            (Replicated::InternalChoice, _) => match &distinct(&all)[..] {
                [] => return Fault::wrong(span, "`|~|` has nothing to choose from"),
                all => Term::Internal(all.into()),
            },
            (Replicated::SynchronisedChoice(_), Some(set)) => match &all[..] {
                [] => Term::Stop,
                all => Term::SynchronisedChoice(set, all.into()),
            },
            (Replicated::Interleave | Replicated::Share(_) | Replicated::Alphabetised(_), _)
                if all.is_empty() =>
            {
                Term::Skip
            }
            (Replicated::Interleave, _) => Term::Shared(Arc::from([]), all.into()),
            (Replicated::Share(_), Some(set)) => Term::Shared(set, all.into()),
            (Replicated::Alphabetised(_), _) => Term::Alphabetised(sets.into(), all.into()),
            (Replicated::Sequence, _) => {
                let Some(mut node) = all.pop() else { return Ok(Value::Process(self.node(Term::Skip))) };
                while let Some(before) = all.pop() {
                    node = self.node(Term::Sequence(before, node));
                }
                return Ok(Value::Process(node));
            }
            (Replicated::Linked(_), _) => {
                let Some(mut node) = all.pop() else {
                    return Fault::wrong(span, "a linked parallel composition of no process");
                };
                while let Some(before) = all.pop() {
                    let pairs = &links[all.len()];
                    linkable(pairs, span)?;
                    node = self.node(Term::Linked(Arc::clone(pairs), before, node));
                }
                return Ok(Value::Process(node));
            }
            _ => return Fault::wrong(span, "a set is missing: this is a mistake in kanon"),
        };
        Ok(Value::Process(self.node(term)))
    }
}

fn distinct(all: &[NodeId]) -> Vec<NodeId> {
    let mut seen = BTreeSet::new();
    all.iter().filter(|n| seen.insert(**n)).copied().collect()
}

/// Every event is linked with one other.
fn linkable(pairs: &[(EventId, EventId)], span: Span) -> Res<()> {
    let (lefts, rights): (BTreeSet<_>, BTreeSet<_>) = pairs.iter().copied().unzip();
    if lefts.len() != pairs.len() || rights.len() != pairs.len() {
        return Fault::wrong(span, "an event is linked with several others here");
    }
    Ok(())
}
