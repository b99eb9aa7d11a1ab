//! Events: dotted values that lack nothing, and sets of them.

use super::Machine;
use crate::term::{EventId, Events};
use crate::value::code::{Pairs, Stmt};
use crate::value::{ConstantId, Fault, Res, Set, Value};
use kanon_language::lang::diag::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Machine {
    /// The number of a complete event.
    pub(crate) fn event(&mut self, value: &Value, span: Span) -> Res<EventId> {
        if let Some(known) = self.event_index.get(value) {
            return Ok(*known);
        }
        let head = match value {
            Value::Dot(parts) => &parts[0],
            other => other,
        };
        let channel =
            matches!(head, Value::Constant(id) if self.program.constants[id.0 as usize].data.is_none());
        let too_many = match value {
            Value::Dot(parts) => parts.len() > 1 + self.arity_of(&parts[0], span)?,
            _ => false,
        };
        if !channel || too_many || !self.is_complete(value, span)? {
            let text = self.show(value);
            return Fault::wrong(span, format!("`{text}` is no event"));
        }
        let value = self.normal(value.clone(), span)?;
        if let Some(known) = self.event_index.get(&value) {
            return Ok(*known);
        }
        let id = EventId(self.events.len() as u32);
        self.events.push(value.clone());
        self.event_index.insert(value, id);
        Ok(id)
    }

    /// What a formula says of events: a channel, perhaps with fields, as events have them.
    ///
    /// # Errors
    /// It is something else.
    pub fn front(&mut self, value: &Value, span: Span) -> Res<Value> {
        let head = match value {
            Value::Dot(parts) => &parts[0],
            other => other,
        };
        let too_many = match value {
            Value::Dot(parts) => parts.len() > 1 + self.arity_of(head, span)?,
            _ => false,
        };
        match head {
            Value::Constant(id) if self.program.constants[id.0 as usize].data.is_none() && !too_many => {
                self.normal(value.clone(), span)
            }
            _ => {
                let text = self.show(value);
                Fault::wrong(span, format!("`{text}` is no event, and no event begins so"))
            }
        }
    }

    /// What an event is.
    pub fn event_value(&self, event: EventId) -> &Value {
        &self.events[event.0 as usize]
    }

    /// The channel of an event.
    pub fn channel_of(&self, event: EventId) -> Option<ConstantId> {
        match self.event_value(event) {
            Value::Constant(id) => Some(*id),
            Value::Dot(parts) => match parts[0] {
                Value::Constant(id) => Some(id),
                _ => None,
            },
            _ => None,
        }
    }

    /// `Events`
    pub(super) fn events_set(&mut self, span: Span) -> Res<Set> {
        if let Some(known) = &self.all_events {
            return known.clone();
        }
        let mut all = BTreeSet::new();
        let mut found = Ok(());
        for at in 0..self.program.constants.len() {
            if self.program.constants[at].data.is_none() {
                found =
                    self.productions(&Value::Constant(ConstantId(at as u32)), span).map(|v| all.extend(v));
                if found.is_err() {
                    break;
                }
            }
        }
        let made = found.map(|()| Set::of(all));
        if !matches!(&made, Err(fault) if fault.is_limit) {
            self.all_events = Some(made.clone());
        }
        made
    }

    /// The events of a set.
    pub(super) fn events_of(&mut self, value: &Value, span: Span) -> Res<Events> {
        let set = self.set_of(value, span)?;
        let mut all = BTreeSet::new();
        for v in self.elements(&set, span)?.iter() {
            all.insert(self.event(v, span)?);
        }
        Ok(all.into_iter().collect())
    }

    /// The pairs of events that `a <- b, …` or `a <-> b, …` say. Channels stand for their events.
    pub(super) fn event_pairs(
        &mut self,
        pairs: &Pairs,
        frame: &mut Vec<Value>,
        span: Span,
    ) -> Res<Arc<[(EventId, EventId)]>> {
        let mut all = BTreeSet::new();
        let stmts: &[Stmt] = &pairs.stmts;
        self.each(stmts, frame, span, &mut |this, frame| {
            for (a, b) in &pairs.pairs {
                let (from, to) = (this.eval(a, frame)?, this.eval(b, frame)?);
                for tail in this.missing(&from, a.span)? {
                    let (mut from, mut to) = (from.clone(), to.clone());
                    for part in tail {
                        from = this.dot(from, part.clone(), a.span)?;
                        to = this.dot(to, part, b.span)?;
                    }
                    all.insert((this.event(&from, a.span)?, this.event(&to, b.span)?));
                }
            }
            Ok(())
        })?;
        Ok(all.into_iter().collect())
    }
}
