//! Sequences, those without end included.

use super::{Machine, SIZE};
use crate::value::code::{Comprehension, Items, Stmt};
use crate::value::{Fault, Lazy, Producer, Res, Stream, Value};
use kanon_language::lang::diag::Span;
use std::sync::{Arc, PoisonError};

impl Machine {
    pub(super) fn sequence(&mut self, c: &Arc<Comprehension>, frame: &mut Vec<Value>) -> Res<Value> {
        if c.stmts.is_empty() {
            return match &c.items {
                Items::Listed(items) => {
                    let all: Res<Vec<Value>> = items.iter().map(|e| self.perhaps(e, frame)).collect();
                    Ok(Value::seq(all?))
                }
                Items::Range(from, None) => {
                    let low = self.eval(from, frame)?;
                    let low = self.int(&low, from.span)?;
                    Ok(Value::Lazy(Lazy::new(vec![], Producer::Upwards(low))))
                }
                Items::Range(..) => {
                    let mut all = vec![];
                    self.items(c, frame, &mut all)?;
                    Ok(Value::seq(all))
                }
            };
        }
        // The first source decides: over a sequence without end the comprehension is one, too.
        let mut frame = frame.clone();
        for (place, stmt) in c.stmts.iter().enumerate() {
            match stmt {
                Stmt::If(test) => {
                    if !self.truth(test, &mut frame)? {
                        return Ok(Value::seq(vec![]));
                    }
                }
                Stmt::From(_, from) => {
                    let source = self.eval(from, &mut frame)?;
                    if !matches!(source, Value::Lazy(_)) {
                        break;
                    }
                    let mut sources = vec![None; c.stmts.len()];
                    sources[place] = Some(source);
                    let code = Arc::clone(c);
                    let producer = Producer::Comprehension { code, frame, sources };
                    return Ok(Value::Lazy(Lazy::new(vec![], producer)));
                }
            }
        }
        if c.stmts.iter().all(|s| matches!(s, Stmt::If(_))) && matches!(&c.items, Items::Range(_, None)) {
            let Items::Range(from, _) = &c.items else { return Ok(Value::seq(vec![])) };
            let low = self.eval(from, &mut frame)?;
            let low = self.int(&low, from.span)?;
            return Ok(Value::Lazy(Lazy::new(vec![], Producer::Upwards(low))));
        }
        let mut all = vec![];
        self.each(&c.stmts, &mut frame, c.span, &mut |this, frame| this.items(c, frame, &mut all))?;
        Ok(Value::seq(all))
    }

    /// The items of a comprehension for one valuation.
    fn items(&mut self, c: &Comprehension, frame: &mut Vec<Value>, into: &mut Vec<Value>) -> Res<()> {
        match &c.items {
            Items::Listed(items) => {
                for e in items {
                    into.push(self.perhaps(e, frame)?);
                }
            }
            Items::Range(from, to) => {
                let low = self.eval(from, frame)?;
                let low = self.int(&low, from.span)?;
                let Some(to) = to else {
                    return Fault::limit(c.span, "a range without end in a comprehension is not computed");
                };
                let high = self.eval(to, frame)?;
                let high = self.int(&high, to.span)?;
                if high.saturating_sub(low) > SIZE as i64 {
                    return Fault::limit(c.span, "this range is too large");
                }
                into.extend((low..=high).map(Value::Int));
            }
        }
        if into.len() > SIZE {
            return Fault::limit(c.span, "this sequence is too long");
        }
        Ok(())
    }

    /// The element at a place of a stream; none behind its end.
    fn at(&mut self, lazy: &Lazy, place: usize, span: Span) -> Res<Option<Value>> {
        let place = lazy.from + place;
        loop {
            self.step(span)?;
            // Elements are appended whole, so a panic leaves the stream as it was.
            let mut stream = lazy.stream.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(v) = stream.known.get(place) {
                return Ok(Some(v.clone()));
            }
            if stream.known.len() > SIZE {
                return Fault::limit(span, "this sequence has no end, or is too long");
            }
            let Some(producer) = stream.more.take() else { return Ok(None) };
            drop(stream);
            let (known, more) = self.produce(producer, span)?;
            let mut stream = lazy.stream.lock().unwrap_or_else(PoisonError::into_inner);
            let Stream { known: all, more: next } = &mut *stream;
            all.extend(known);
            *next = more;
        }
    }

    /// Some more elements, and where others come from.
    fn produce(&mut self, producer: Producer, span: Span) -> Res<(Vec<Value>, Option<Producer>)> {
        match producer {
            Producer::Upwards(n) => match n.checked_add(1) {
                Some(next) => Ok((vec![Value::Int(n)], Some(Producer::Upwards(next)))),
                None => Fault::limit(span, "this number is too large: integers have 64 bits"),
            },
            Producer::Then(rest) => match self.split(&rest, 1, span)? {
                Some((first, rest)) => Ok((self.whole(&first, span)?, Some(Producer::Then(rest)))),
                None => Ok((vec![], None)),
            },
            Producer::Comprehension { code, mut frame, mut sources } => {
                let Some(place) = sources.iter().position(Option::is_some) else { return Ok((vec![], None)) };
                let (Some(source), Some(Stmt::From(pattern, from))) =
                    (sources[place].take(), code.stmts.get(place))
                else {
                    return Ok((vec![], None));
                };
                let Some((first, rest)) = self.split(&source, 1, span)? else { return Ok((vec![], None)) };
                let mut all = vec![];
                if let Some(v) = self.whole(&first, span)?.first()
                    && self.matches(pattern, v, &mut frame, from.span)?
                {
                    let rest = &code.stmts[place + 1..];
                    self.each(rest, &mut frame, code.span, &mut |this, frame| {
                        this.items(&code, frame, &mut all)
                    })?;
                }
                sources[place] = Some(rest);
                Ok((all, Some(Producer::Comprehension { code, frame, sources })))
            }
        }
    }

    /// All elements of a sequence, which has an end.
    pub(super) fn whole(&mut self, value: &Value, span: Span) -> Res<Vec<Value>> {
        match value {
            Value::Seq(all) => Ok(all.to_vec()),
            Value::Lazy(lazy) => {
                let mut all = vec![];
                while let Some(v) = self.at(lazy, all.len(), span)? {
                    all.push(v);
                }
                Ok(all)
            }
            Value::Fault(f) => Err(Box::new((**f).clone())),
            _ => Fault::wrong(span, "this is no sequence"),
        }
    }

    /// The first elements, and the others; none if there are not so many.
    pub(super) fn split(&mut self, value: &Value, n: usize, span: Span) -> Res<Option<(Value, Value)>> {
        match value {
            Value::Seq(all) if all.len() < n => Ok(None),
            Value::Seq(all) => {
                let (front, back) = all.split_at(n);
                Ok(Some((Value::Seq(front.into()), Value::Seq(back.into()))))
            }
            Value::Lazy(lazy) => {
                let mut front = vec![];
                for place in 0..n {
                    match self.at(lazy, place, span)? {
                        Some(v) => front.push(v),
                        None => return Ok(None),
                    }
                }
                let rest = Lazy { stream: Arc::clone(&lazy.stream), from: lazy.from + n };
                Ok(Some((Value::seq(front), Value::Lazy(rest))))
            }
            Value::Fault(f) => Err(Box::new((**f).clone())),
            _ => Fault::wrong(span, "this is no sequence"),
        }
    }

    /// The elements, if there are exactly so many.
    pub(super) fn exactly(&mut self, value: &Value, n: usize, span: Span) -> Res<Option<Vec<Value>>> {
        match self.split(value, n, span)? {
            Some((front, rest)) if self.split(&rest, 1, span)?.is_none() => {
                Ok(Some(self.whole(&front, span)?))
            }
            _ => Ok(None),
        }
    }

    /// `a ^ b`
    pub(super) fn concatenate(&mut self, a: &Value, b: &Value, span: Span) -> Res<Value> {
        match (a, b) {
            (Value::Seq(a), Value::Seq(b)) => {
                if a.len() + b.len() > SIZE {
                    return Fault::limit(span, "this sequence is too long");
                }
                Ok(Value::Seq(a.iter().chain(b.iter()).cloned().collect()))
            }
            (Value::Seq(a), Value::Lazy(_)) => {
                Ok(Value::Lazy(Lazy::new(a.to_vec(), Producer::Then(b.clone()))))
            }
            (Value::Lazy(_), _) => {
                let whole = self.whole(a, span)?;
                self.concatenate(&Value::seq(whole), b, span)
            }
            _ => Fault::wrong(span, "these are no sequences"),
        }
    }
}
