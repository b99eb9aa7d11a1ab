//! Patterns.

use super::{Machine, sound};
use crate::value::code::{Length, Pattern};
use crate::value::{Res, Value};
use kanon_language::lang::diag::Span;
use std::collections::VecDeque;

impl Machine {
    /// Whether a value matches; if so, the slots of the pattern have their values.
    pub(super) fn matches(
        &mut self,
        pattern: &Pattern,
        value: &Value,
        frame: &mut Vec<Value>,
        span: Span,
    ) -> Res<bool> {
        if let Pattern::Slot(slot) = pattern {
            frame[*slot] = value.clone();
            return Ok(true);
        }
        if let Pattern::Wild = pattern {
            return Ok(true);
        }
        let value = &sound(value)?;
        match (pattern, value) {
            (Pattern::Value(wanted), _) => self.equal(wanted, value, span),
            (Pattern::Tuple(patterns), Value::Tuple(values)) => self.all_match(patterns, values, frame, span),
            (Pattern::Dot(patterns), _) => {
                let mut items = VecDeque::from([value.clone()]);
                let fits = self.match_parts(patterns, &mut items, true, frame, span)?;
                Ok(fits && items.is_empty())
            }
            (Pattern::Seq(patterns), Value::Seq(_) | Value::Lazy(_)) => {
                let Some(values) = self.exactly(value, patterns.len(), span)? else { return Ok(false) };
                self.all_match(patterns, &values, frame, span)
            }
            (Pattern::Set(patterns), Value::Set(s)) => {
                let elements: Vec<Value> = self.elements(s, span)?.iter().cloned().collect();
                self.all_match(patterns, &elements, frame, span)
            }
            (Pattern::Concatenate(a, b, length), Value::Seq(_) | Value::Lazy(_)) => {
                let (front, back) = match length {
                    Length::Left(n) => match self.split(value, *n, span)? {
                        Some(parts) => parts,
                        None => return Ok(false),
                    },
                    Length::Right(n) => {
                        let all = self.whole(value, span)?;
                        if all.len() < *n {
                            return Ok(false);
                        }
                        let (front, back) = all.split_at(all.len() - n);
                        (Value::seq(front.to_vec()), Value::seq(back.to_vec()))
                    }
                };
                Ok(self.matches(a, &front, frame, span)? && self.matches(b, &back, frame, span)?)
            }
            (Pattern::Both(a, b), _) => {
                Ok(self.matches(a, value, frame, span)? && self.matches(b, value, frame, span)?)
            }
            _ => Ok(false),
        }
    }

    fn all_match(
        &mut self,
        patterns: &[Pattern],
        values: &[Value],
        frame: &mut Vec<Value>,
        span: Span,
    ) -> Res<bool> {
        if patterns.len() != values.len() {
            return Ok(false);
        }
        for (p, v) in patterns.iter().zip(values) {
            if !self.matches(p, v, frame, span)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Matches the parts of a dotted pattern with the front of some items, which are taken. A name takes one item, the
    /// last one all that are left if `all`.
    pub(super) fn match_parts(
        &mut self,
        patterns: &[Pattern],
        items: &mut VecDeque<Value>,
        all: bool,
        frame: &mut Vec<Value>,
        span: Span,
    ) -> Res<bool> {
        for (place, p) in patterns.iter().enumerate() {
            self.flatten(items, span)?;
            let last = place + 1 == patterns.len();
            if let Pattern::Value(Value::Constant(id)) = p {
                match items.pop_front() {
                    Some(Value::Constant(found)) if found == *id => {}
                    Some(Value::Dot(parts)) if parts[0] == Value::Constant(*id) => {
                        for part in parts[1..].iter().rev() {
                            items.push_front(part.clone());
                        }
                    }
                    _ => return Ok(false),
                }
                continue;
            }
            let width = if last && all { items.len() } else { width(p) };
            if items.len() < width || width == 0 {
                return Ok(false);
            }
            let parts: Vec<Value> = items.drain(..width).collect();
            if !self.matches(p, &Value::list(&parts), frame, span)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A list in front becomes its parts.
    fn flatten(&mut self, items: &mut VecDeque<Value>, span: Span) -> Res<()> {
        if let Some(Value::Dot(parts)) = items.front()
            && self.arity_of(&parts[0], span)? == 0
        {
            let parts = parts.clone();
            items.pop_front();
            for part in parts.iter().rev() {
                items.push_front(part.clone());
            }
        }
        Ok(())
    }
}

/// How many items a pattern is about at least.
fn width(p: &Pattern) -> usize {
    match p {
        Pattern::Both(a, b) => width(a).max(width(b)),
        Pattern::Dot(parts) if !matches!(parts[0], Pattern::Value(Value::Constant(_))) => {
            parts.iter().map(width).sum()
        }
        _ => 1,
    }
}
