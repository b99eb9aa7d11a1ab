//! `c?x!e$y -> P`: the events that are offered, and what follows each.

use super::Machine;
use crate::term::{EventId, Term};
use crate::value::code::{Code, Field, FieldKind, Pattern, UnitId};
use crate::value::{Fault, NodeId, Res, Value};
use kanon_language::lang::diag::Span;
use std::collections::{BTreeSet, VecDeque};

/// What is done with each value of a field.
type Act<'a> = dyn FnMut(&mut Machine, Value, &mut Vec<Value>) -> Res<()> + 'a;

/// What the fields of one prefix lead to.
#[derive(Default)]
struct Offers {
    events: Vec<(EventId, NodeId)>,
    /// The alternatives of a `$`.
    chosen: Vec<NodeId>,
}

impl Machine {
    pub(super) fn prefix(
        &mut self,
        event: &Code,
        fields: &[Field],
        then: UnitId,
        frame: &mut Vec<Value>,
    ) -> Res<Value> {
        let channel = self.eval(event, frame)?;
        let node = self.offers(channel, fields, then, frame, event.span)?;
        Ok(Value::Process(node))
    }

    /// The process that offers what these fields make of a beginning.
    fn offers(
        &mut self,
        beginning: Value,
        fields: &[Field],
        then: UnitId,
        frame: &mut Vec<Value>,
        span: Span,
    ) -> Res<NodeId> {
        let mut offers = Offers::default();
        let chosen = fields.iter().any(|f| matches!(f.kind, FieldKind::Chosen(..)));
        self.fields_from(beginning, fields, then, frame, span, &mut offers)?;
        if chosen {
            offers.chosen.sort();
            offers.chosen.dedup();
            return match &offers.chosen[..] {
                [] => Fault::wrong(span, "`$` has nothing to choose from"),
                [one] => Ok(*one),
                all => Ok(self.node(Term::Internal(all.into()))),
            };
        }
        offers.events.sort();
        offers.events.dedup();
        Ok(match &offers.events[..] {
            [] => self.node(Term::Stop),
            all => self.node(Term::Choices(all.into())),
        })
    }

    fn fields_from(
        &mut self,
        beginning: Value,
        fields: &[Field],
        then: UnitId,
        frame: &mut Vec<Value>,
        span: Span,
        offers: &mut Offers,
    ) -> Res<()> {
        self.step(span)?;
        let Some((field, rest)) = fields.split_first() else {
            let event = self.event(&beginning, span)?;
            let captured = self.captured(&self.units[then.0 as usize], frame);
            let node = self.node(Term::Delayed(then, captured));
            offers.events.push((event, node));
            return Ok(());
        };
        match &field.kind {
            FieldKind::Output(e) => {
                let v = self.eval(e, frame)?;
                let longer = self.dot(beginning, v, field.span)?;
                self.fields_from(longer, rest, then, frame, span, offers)
            }
            FieldKind::Input(p, set) => self.alternatives(
                &beginning,
                p,
                set,
                rest.is_empty(),
                frame,
                field.span,
                &mut |this, longer, frame| this.fields_from(longer, rest, then, frame, span, offers),
            ),
            FieldKind::Chosen(p, set) => {
                // `$` stands before the first `?`: each choice is a process of its own.
                self.alternatives(
                    &beginning,
                    p,
                    set,
                    rest.is_empty(),
                    frame,
                    field.span,
                    &mut |this, longer, frame| {
                        let node = this.offers(longer, rest, then, frame, span)?;
                        offers.chosen.push(node);
                        Ok(())
                    },
                )
            }
        }
    }

    /// All values that a field may have after a beginning; the names of its pattern have theirs.
    #[allow(clippy::too_many_arguments, reason = "the parts of one field")]
    fn alternatives(
        &mut self,
        beginning: &Value,
        pattern: &Pattern,
        set: &Option<Code>,
        last: bool,
        frame: &mut Vec<Value>,
        span: Span,
        act: &mut Act,
    ) -> Res<()> {
        let candidates: Vec<Value> = if let Some(set) = set {
            let found = self.eval(set, frame)?;
            let found = self.typeset(&found, set.span)?;
            self.elements(&found, set.span)?.iter().cloned().collect()
        } else if last {
            let tails = self.missing(beginning, span)?;
            if tails.iter().any(Vec::is_empty) {
                return Fault::wrong(span, "nothing is missing here: this field is one too many");
            }
            tails.iter().map(|t| Value::list(t)).collect()
        } else if matches!(pattern, Pattern::Slot(_) | Pattern::Wild) {
            match self.next_part(beginning, span)? {
                Some(next) => self.elements(&next, span)?.iter().cloned().collect(),
                None => return Fault::wrong(span, "nothing is missing here: this field is one too many"),
            }
        } else {
            return self.partial(beginning, pattern, frame, span, act);
        };
        for v in candidates {
            if self.matches(pattern, &v, frame, span)? {
                let longer = self.dot(beginning.clone(), v, span)?;
                act(self, longer, frame)?;
            }
        }
        Ok(())
    }

    /// A pattern with several parts in the middle takes as many items as it has.
    fn partial(
        &mut self,
        beginning: &Value,
        pattern: &Pattern,
        frame: &mut Vec<Value>,
        span: Span,
        act: &mut Act,
    ) -> Res<()> {
        let patterns = match pattern {
            Pattern::Dot(all) => all.clone(),
            other => vec![other.clone()],
        };
        let mut seen = BTreeSet::new();
        for tail in self.missing(beginning, span)? {
            let before = tail.len();
            let mut items: VecDeque<Value> = tail.iter().cloned().collect();
            if !self.match_parts(&patterns, &mut items, false, frame, span)? {
                continue;
            }
            // What is left must be whole items, or a constructor would be cut into two.
            let left: Vec<Value> = items.into_iter().collect();
            if !tail.ends_with(&left) {
                return Fault::limit(span, "a pattern that ends inside of a value is not computed here");
            }
            let taken = tail[..before - left.len()].to_vec();
            if seen.insert(taken.clone()) {
                let mut longer = beginning.clone();
                for part in taken {
                    longer = self.dot(longer, part, span)?;
                }
                act(self, longer, frame)?;
            }
        }
        Ok(())
    }
}
