//! Dotted values: what belongs together, what is missing, and whether it may be there.

use super::{Known, Machine};
use crate::value::{ConstantId, Fault, Res, Set, Value};
use kanon_language::lang::diag::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Machine {
    /// The sets of a constant's fields.
    pub(super) fn fields(&mut self, id: ConstantId, span: Span) -> Res<Arc<[Set]>> {
        let at = id.0 as usize;
        match &self.fields[at] {
            Known::Done(known) => return known.clone(),
            Known::Busy => {
                let name = Arc::clone(&self.program.constants[at].name);
                return Fault::wrong(span, format!("the fields of `{name}` depend on themselves"));
            }
            Known::Empty => {}
        }
        let Some(unit) = self.program.constants[at].fields else { return Ok(Arc::from([])) };
        self.fields[at] = Known::Busy;
        let span = self.program.constants[at].span;
        let found = self.deep_enter(unit, &[], span).and_then(|v| self.field_sets(&v, span));
        self.fields[at] = match &found {
            Err(fault) if fault.is_limit => Known::Empty,
            _ => Known::Done(found.clone()),
        };
        found
    }

    /// What the fields of a channel or constructor may be, in order.
    ///
    /// # Errors
    /// They have no value, or it takes too long.
    pub fn fields_of(&mut self, id: ConstantId) -> Res<Arc<[Set]>> {
        self.begin();
        self.fields(id, self.program.constants[id.0 as usize].span)
    }

    /// How many fields a value in front of a dot takes; none unless it is a constant.
    pub(super) fn arity_of(&mut self, head: &Value, span: Span) -> Res<usize> {
        match head {
            Value::Constant(id) => match self.program.constants[id.0 as usize].fields {
                Some(_) => Ok(self.fields(*id, span)?.len()),
                None => Ok(0),
            },
            _ => Ok(0),
        }
    }

    /// Whether nothing is missing of a value.
    pub(super) fn is_complete(&mut self, value: &Value, span: Span) -> Res<bool> {
        match value {
            Value::Constant(_) => Ok(self.arity_of(value, span)? == 0),
            Value::Dot(parts) => {
                let arity = self.arity_of(&parts[0], span)?;
                // A list, or the last field may want more.
                if arity > 0 && parts.len() <= arity {
                    return Ok(false);
                }
                self.is_complete(&parts[parts.len() - 1], span)
            }
            _ => Ok(true),
        }
    }

    /// `a.b`
    pub(super) fn dot(&mut self, a: Value, b: Value, span: Span) -> Res<Value> {
        // A list on the right is dotted part by part.
        if let Value::Dot(parts) = &b
            && self.arity_of(&parts[0], span)? == 0
        {
            let parts = Arc::clone(parts);
            let mut made = a;
            for part in parts.iter() {
                made = self.dot(made, part.clone(), span)?;
            }
            return Ok(made);
        }
        self.extend(&a, b, span)
    }

    /// One more part.
    fn extend(&mut self, a: &Value, b: Value, span: Span) -> Res<Value> {
        let mut parts: Vec<Value> = match a {
            Value::Dot(parts) => parts.to_vec(),
            other => vec![other.clone()],
        };
        let arity = self.arity_of(&parts[0], span)?;
        let last = parts.len() - 1;
        if last > 0 && !self.is_complete(&parts[last], span)? {
            parts[last] = self.extend(&parts[last].clone(), b, span)?;
        } else if arity > 0 && parts.len() > arity {
            // Complete: the beginning of a list.
            return Ok(Value::Dot([Value::Dot(parts.into()), b].into()));
        } else {
            parts.push(b);
        }
        if arity > 0 {
            self.allowed(&parts, span)?;
        }
        Ok(Value::Dot(parts.into()))
    }

    /// The last field of a constant, if it is complete, is one of those that may be there.
    fn allowed(&mut self, parts: &[Value], span: Span) -> Res<()> {
        let (Value::Constant(id), Some(last)) = (&parts[0], parts.last()) else { return Ok(()) };
        if !self.is_complete(last, span)? {
            return Ok(());
        }
        let fields = self.fields(*id, span)?;
        let field = fields[parts.len() - 2].clone();
        if !self.member_of(last, &field, span)? {
            let name = Arc::clone(&self.program.constants[id.0 as usize].name);
            let text = self.show(last);
            return Fault::wrong(
                span,
                format!("`{text}` is no value of field {} of `{name}`", parts.len() - 1),
            );
        }
        Ok(())
    }

    /// All lists of parts that make a value complete.
    pub(super) fn missing(&mut self, value: &Value, span: Span) -> Res<Vec<Vec<Value>>> {
        let parts: Vec<Value> = match value {
            Value::Dot(parts) => parts.to_vec(),
            other => vec![other.clone()],
        };
        let arity = self.arity_of(&parts[0], span)?;
        if arity == 0 {
            return Ok(vec![vec![]]);
        }
        let Value::Constant(id) = parts[0] else { return Ok(vec![vec![]]) };
        let fields = self.fields(id, span)?;
        let mut tails: Vec<Vec<Value>> = vec![vec![]];
        let given = parts.len() - 1;
        if given > 0 && !self.is_complete(&parts[given], span)? {
            let candidates = self.elements(&fields[given - 1], span)?;
            tails = vec![];
            for candidate in candidates.iter() {
                tails.extend(Machine::rest_of(&parts[given], candidate));
            }
        }
        for field in &fields[given..] {
            let elements = self.elements(field, span)?;
            let mut longer = Vec::new();
            for tail in &tails {
                for e in elements.iter() {
                    let mut tail = tail.clone();
                    tail.push(e.clone());
                    longer.push(tail);
                    self.step(span)?;
                }
            }
            if longer.len() > super::SIZE {
                return Fault::limit(span, "there are too many values here");
            }
            tails = longer;
        }
        Ok(tails)
    }

    /// What is missing of a value to be this complete one; none if it is no beginning of it.
    fn rest_of(value: &Value, complete: &Value) -> Option<Vec<Value>> {
        let (head, given): (&Value, &[Value]) = match value {
            Value::Dot(parts) => (&parts[0], &parts[1..]),
            other => (other, &[]),
        };
        let (whole, fields): (&Value, &[Value]) = match complete {
            Value::Dot(parts) => (&parts[0], &parts[1..]),
            other => (other, &[]),
        };
        if head != whole || given.len() > fields.len() {
            return None;
        }
        let mut rest = vec![];
        for (place, (g, f)) in given.iter().zip(fields).enumerate() {
            if g != f {
                if place + 1 < given.len() {
                    return None;
                }
                match Machine::rest_of(g, f) {
                    Some(more) if !more.is_empty() => rest = more,
                    _ => return None,
                }
            }
        }
        rest.extend(fields[given.len()..].iter().cloned());
        Some(rest)
    }

    /// The values of the next part; none if nothing is missing.
    pub(super) fn next_part(&mut self, value: &Value, span: Span) -> Res<Option<Set>> {
        let parts: Vec<Value> = match value {
            Value::Dot(parts) => parts.to_vec(),
            other => vec![other.clone()],
        };
        let given = parts.len() - 1;
        let Value::Constant(id) = parts[0] else { return Ok(None) };
        let fields = self.fields(id, span)?;
        if given > 0 && !self.is_complete(&parts[given], span)? {
            let candidates = self.elements(&fields[given - 1], span)?;
            let mut next = BTreeSet::new();
            for candidate in candidates.iter() {
                if let Some(rest) = Machine::rest_of(&parts[given], candidate) {
                    next.extend(rest.into_iter().next());
                }
            }
            return Ok(Some(Set::of(next)));
        }
        Ok(fields.get(given).cloned())
    }

    /// `productions(v)`
    pub(super) fn productions(&mut self, value: &Value, span: Span) -> Res<Vec<Value>> {
        let mut all = vec![];
        for tail in self.missing(value, span)? {
            let mut made = value.clone();
            for part in tail {
                made = self.extend(&made, part, span)?;
            }
            all.push(made);
        }
        Ok(all)
    }

    /// `extensions(v)`
    pub(super) fn extensions(&mut self, value: &Value, span: Span) -> Res<Set> {
        let tails = self.missing(value, span)?;
        Ok(Set::of(tails.iter().filter(|t| !t.is_empty()).map(|t| Value::list(t))))
    }
}
