//! Sets: finite ones as they are, infinite ones as far as questions about them have answers.

use super::{Machine, SIZE, sound};
use crate::value::code::{Comprehension, Items, Stmt};
use crate::value::{Fault, Res, Set, Value};
use kanon_language::lang::diag::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

type Elements = Arc<BTreeSet<Value>>;

impl Machine {
    /// The elements of a set, which must be finite.
    pub(super) fn elements(&mut self, set: &Set, span: Span) -> Res<Elements> {
        let infinite =
            |what: &str| Fault::limit(span, format!("a finite set is needed here, and this is {what}"));
        match set {
            Set::Finite(all) => Ok(Arc::clone(all)),
            Set::Integers => infinite("`Int`"),
            Set::Upwards { from, .. } => infinite(&format!("one with `{{{from}..}}`")),
            Set::Characters => infinite("`Char`"),
            Set::Processes => infinite("`Proc`"),
            Set::Sequences(of) => {
                if self.is_empty(of, span)? {
                    return Ok(Arc::new([Value::seq(vec![])].into()));
                }
                infinite("one of sequences")
            }
            Set::Data(data) => self.data(*data, span),
            Set::Subsets(of) => {
                let all: Vec<Value> = self.elements(of, span)?.iter().cloned().collect();
                if all.len() > 20 {
                    return Fault::limit(
                        span,
                        format!("there are too many subsets of {} elements", all.len()),
                    );
                }
                let subset = |bits: u32| {
                    let chosen = all.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
                    Value::Set(Set::of(chosen.map(|(_, v)| v.clone())))
                };
                Ok(Arc::new((0..1u32 << all.len()).map(subset).collect()))
            }
            Set::Dots(sets) => {
                let rows = self.rows(sets, span)?;
                let mut all = BTreeSet::new();
                for row in rows {
                    let mut made = row[0].clone();
                    for part in &row[1..] {
                        made = self.dot(made, part.clone(), span)?;
                    }
                    all.insert(made);
                }
                Ok(Arc::new(all))
            }
            Set::Tuples(sets) => Ok(Arc::new(self.rows(sets, span)?.into_iter().map(Value::tuple).collect())),
            Set::Maps(keys, values) => {
                let (keys, values) = (self.elements(keys, span)?, self.elements(values, span)?);
                let mut all = vec![std::collections::BTreeMap::new()];
                for k in keys.iter() {
                    let mut more = vec![];
                    for m in &all {
                        for v in values.iter() {
                            let mut m = m.clone();
                            m.insert(k.clone(), v.clone());
                            more.push(m);
                        }
                    }
                    all.extend(more);
                    if all.len() > SIZE {
                        return Fault::limit(span, "there are too many maps here");
                    }
                }
                Ok(Arc::new(all.into_iter().map(|m| Value::Map(Arc::new(m))).collect()))
            }
            Set::Union(sets) => {
                let mut all = BTreeSet::new();
                for s in sets.iter() {
                    all.extend(self.elements(s, span)?.iter().cloned());
                }
                Ok(Arc::new(all))
            }
        }
    }

    fn rows(&mut self, sets: &[Set], span: Span) -> Res<Vec<Vec<Value>>> {
        let mut rows: Vec<Vec<Value>> = vec![vec![]];
        for set in sets {
            let elements = self.elements(set, span)?;
            if rows.len().saturating_mul(elements.len()) > SIZE {
                return Fault::limit(span, "there are too many combinations here");
            }
            let longer = |row: &Vec<Value>| {
                let row = row.clone();
                elements
                    .iter()
                    .map(move |e| row.iter().cloned().chain([e.clone()]).collect())
                    .collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(longer).collect();
        }
        Ok(rows)
    }

    pub(super) fn is_empty(&mut self, set: &Set, span: Span) -> Res<bool> {
        Ok(match set {
            Set::Finite(all) => all.is_empty(),
            Set::Dots(sets) | Set::Tuples(sets) => {
                for s in sets.iter() {
                    if self.is_empty(s, span)? {
                        return Ok(true);
                    }
                }
                false
            }
            Set::Data(_) => self.elements(set, span)?.is_empty(),
            Set::Union(sets) => {
                for s in sets.iter() {
                    if !self.is_empty(s, span)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ => false,
        })
    }

    /// Whether a value is in a set.
    pub(super) fn member_of(&mut self, value: &Value, set: &Set, span: Span) -> Res<bool> {
        if let Set::Finite(all) = set {
            if all.contains(value) {
                return Ok(true);
            }
            let value = self.normal(value.clone(), span)?;
            return Ok(all.contains(&value));
        }
        Ok(match (set, value) {
            (Set::Integers, Value::Int(_)) | (Set::Characters, Value::Char(_)) => true,
            (Set::Processes, Value::Process(_)) => true,
            (Set::Upwards { below, from }, Value::Int(n)) => n >= from || below.contains(n),
            (Set::Data(data), Value::Constant(id)) => {
                self.program.constants[id.0 as usize].data == Some(*data) && self.is_complete(value, span)?
            }
            (Set::Data(data), Value::Dot(parts)) => match &parts[0] {
                // Its fields were looked at when it was made.
                Value::Constant(id) => {
                    self.program.constants[id.0 as usize].data == Some(*data)
                        && self.arity_of(&parts[0], span)? > 0
                        && self.is_complete(value, span)?
                }
                _ => false,
            },
            (Set::Sequences(of), Value::Seq(_) | Value::Lazy(_)) => {
                for v in self.whole(value, span)? {
                    if !self.member_of(&sound(&v)?, of, span)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Set::Subsets(of), Value::Set(s)) => self.subset(s, of, span)?,
            (Set::Tuples(sets), Value::Tuple(parts)) | (Set::Dots(sets), Value::Dot(parts)) => {
                // A list of dots has no lists as parts, except for sets of them.
                if sets.len() != parts.len() || sets.iter().any(|s| matches!(s, Set::Dots(_))) {
                    return Ok(self.elements(set, span)?.contains(value));
                }
                for (s, p) in sets.iter().zip(parts.iter()) {
                    if !self.member_of(&sound(p)?, s, span)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Set::Maps(keys, values), Value::Map(map)) => {
                for (k, v) in map.iter() {
                    if !self.member_of(k, keys, span)? || !self.member_of(v, values, span)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Set::Union(sets), _) => {
                for s in sets.iter() {
                    if self.member_of(value, s, span)? {
                        return Ok(true);
                    }
                }
                false
            }
            _ => false,
        })
    }

    pub(super) fn subset(&mut self, a: &Set, b: &Set, span: Span) -> Res<bool> {
        if a == b {
            return Ok(true);
        }
        match (a, b) {
            (Set::Integers, Set::Upwards { .. }) => Ok(false),
            (Set::Upwards { .. }, Set::Integers) => Ok(true),
            (Set::Upwards { below, from }, Set::Upwards { below: below2, from: from2 }) => {
                // What is below the other one's border must be there.
                Ok(*from >= *from2 && below.iter().all(|n| n >= from2 || below2.contains(n))
                    || *from < *from2
                        && (*from..*from2).all(|n| below2.contains(&n))
                        && below.iter().all(|n| below2.contains(n)))
            }
            (Set::Upwards { .. } | Set::Integers, Set::Finite(_)) => Ok(false),
            _ => {
                for v in self.elements(a, span)?.iter() {
                    if !self.member_of(v, b, span)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    pub(super) fn union(&mut self, a: &Set, b: &Set, span: Span) -> Res<Set> {
        if a == b {
            return Ok(a.clone());
        }
        let (a, b) = (self.plain(a, span)?, self.plain(b, span)?);
        Ok(match (&a, &b) {
            (Set::Finite(x), Set::Finite(y)) => {
                if x.len() < y.len() {
                    return self.union(&b, &a, span);
                }
                let mut all = Arc::clone(x);
                Arc::make_mut(&mut all).extend(y.iter().cloned());
                Set::Finite(all)
            }
            (Set::Integers, other) | (other, Set::Integers)
                if matches!(other, Set::Finite(_) | Set::Upwards { .. }) =>
            {
                Set::Integers
            }
            (Set::Upwards { below, from }, Set::Upwards { below: more, from: other }) => {
                upwards(below.iter().chain(more.iter()).copied(), *from.min(other))
            }
            (Set::Upwards { below, from }, Set::Finite(s))
            | (Set::Finite(s), Set::Upwards { below, from }) => {
                upwards(below.iter().copied().chain(ints(s)), *from)
            }
            _ => Set::Union([a, b].into()),
        })
    }

    pub(super) fn inter(&mut self, a: &Set, b: &Set, span: Span) -> Res<Set> {
        let (a, b) = (self.plain(a, span)?, self.plain(b, span)?);
        Ok(match (&a, &b) {
            (Set::Finite(all), other) | (other, Set::Finite(all)) => {
                let mut kept = BTreeSet::new();
                for v in all.iter() {
                    if self.member_of(v, other, span)? {
                        kept.insert(v.clone());
                    }
                }
                Set::of(kept)
            }
            _ if a == b => a,
            (Set::Integers, other @ Set::Upwards { .. }) | (other @ Set::Upwards { .. }, Set::Integers) => {
                other.clone()
            }
            (Set::Upwards { below, from }, Set::Upwards { below: more, from: other }) => {
                let top = *from.max(other);
                let low = if from < other { more } else { below };
                let high = if from < other { (below, *from) } else { (more, *other) };
                upwards(low.iter().copied().filter(|n| *n >= high.1 || high.0.contains(n)), top)
            }
            _ => return Fault::limit(span, "the intersection of these infinite sets is not computed"),
        })
    }

    pub(super) fn diff(&mut self, a: &Set, b: &Set, span: Span) -> Res<Set> {
        if a == b {
            return Ok(Set::empty());
        }
        let (a, b) = (self.plain(a, span)?, self.plain(b, span)?);
        Ok(match (&a, &b) {
            (Set::Finite(all), other) => {
                let mut kept = BTreeSet::new();
                for v in all.iter() {
                    if !self.member_of(v, other, span)? {
                        kept.insert(v.clone());
                    }
                }
                Set::of(kept)
            }
            (_, Set::Finite(none)) if none.is_empty() => a,
            (Set::Upwards { .. }, Set::Integers) => Set::empty(),
            (Set::Upwards { below, from }, Set::Finite(s)) => {
                let top = ints(s).filter(|n| n >= from).max().map_or(*from, |n| n + 1);
                if top - from > SIZE as i64 {
                    return Fault::limit(span, "the difference of these sets is too large");
                }
                let kept = below.iter().copied().chain(*from..top);
                upwards(kept.filter(|n| !s.contains(&Value::Int(*n))), top)
            }
            (Set::Upwards { below, from }, Set::Upwards { below: less, from: other }) => {
                if other - from > SIZE as i64 {
                    return Fault::limit(span, "the difference of these sets is too large");
                }
                let kept = below.iter().copied().chain(*from..*other);
                Set::of(kept.filter(|n| n < other && !less.contains(n)).map(Value::Int))
            }
            _ => return Fault::limit(span, "the difference of these infinite sets is not computed"),
        })
    }

    /// The same set, as its elements if it is finite.
    pub(super) fn plain(&mut self, set: &Set, span: Span) -> Res<Set> {
        match set {
            Set::Finite(_) | Set::Integers | Set::Upwards { .. } | Set::Characters | Set::Processes => {
                Ok(set.clone())
            }
            _ => match self.elements(set, span) {
                Ok(all) => Ok(Set::Finite(all)),
                Err(fault) if fault.is_limit => Ok(set.clone()),
                Err(fault) => Err(fault),
            },
        }
    }

    /// A value in the one form that equal values share: finite sets as their elements, sequences to their end.
    pub(super) fn normal(&mut self, value: Value, span: Span) -> Res<Value> {
        let all = |this: &mut Machine, parts: &[Value]| -> Res<Vec<Value>> {
            parts.iter().map(|p| this.normal(p.clone(), span)).collect()
        };
        Ok(match value {
            Value::Fault(f) => return Err(Box::new((*f).clone())),
            Value::Set(Set::Finite(_)) | Value::Int(_) | Value::Bool(_) | Value::Constant(_) => value,
            Value::Set(s) => Value::Set(self.plain(&s, span)?),
            Value::Lazy(_) => {
                let whole = self.whole(&value, span)?;
                Value::seq(all(self, &whole)?)
            }
            Value::Seq(parts) => Value::seq(all(self, &parts)?),
            Value::Tuple(parts) => Value::tuple(all(self, &parts)?),
            Value::Dot(parts) => Value::Dot(all(self, &parts)?.into()),
            // The keys and values of a map are in this form already.
            other => other,
        })
    }

    pub(super) fn set_comprehension(&mut self, c: &Comprehension, frame: &mut Vec<Value>) -> Res<Value> {
        let mut all = BTreeSet::new();
        let mut infinite = vec![];
        self.each(&c.stmts, frame, c.span, &mut |this, frame| {
            match &c.items {
                Items::Listed(items) => {
                    for e in items {
                        let v = this.eval(e, frame)?;
                        all.insert(this.normal(v, e.span)?);
                    }
                }
                Items::Range(from, to) => {
                    let low = this.eval(from, frame)?;
                    let low = this.int(&low, from.span)?;
                    match to {
                        Some(to) => {
                            let high = this.eval(to, frame)?;
                            let high = this.int(&high, to.span)?;
                            if high.saturating_sub(low) > SIZE as i64 {
                                return Fault::limit(c.span, "this range is too large");
                            }
                            all.extend((low..=high).map(Value::Int));
                        }
                        None => infinite.push(upwards([], low)),
                    }
                }
            }
            if all.len() > SIZE {
                return Fault::limit(c.span, "this set is too large");
            }
            Ok(())
        })?;
        let mut set = Set::of(all);
        for more in infinite {
            set = self.union(&set, &more, c.span)?;
        }
        Ok(Value::Set(set))
    }

    /// Runs through all valuations of statements over finite sets or sequences.
    pub(super) fn each(
        &mut self,
        stmts: &[Stmt],
        frame: &mut Vec<Value>,
        span: Span,
        act: &mut dyn FnMut(&mut Machine, &mut Vec<Value>) -> Res<()>,
    ) -> Res<()> {
        self.step(span)?;
        match stmts.split_first() {
            None => act(self, frame),
            Some((Stmt::If(test), rest)) => {
                if self.truth(test, frame)? {
                    self.each(rest, frame, span, act)?;
                }
                Ok(())
            }
            Some((Stmt::From(pattern, from), rest)) => {
                let source = self.eval(from, frame)?;
                for v in self.listed(&source, from.span)? {
                    if self.matches(pattern, &v, frame, from.span)? {
                        self.each(rest, frame, span, act)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// What a generator runs through.
    fn listed(&mut self, source: &Value, span: Span) -> Res<Vec<Value>> {
        match source {
            Value::Set(s) => Ok(self.elements(s, span)?.iter().cloned().collect()),
            Value::Dot(_) | Value::Tuple(_) => {
                let s = self.typeset(source, span)?;
                Ok(self.elements(&s, span)?.iter().cloned().collect())
            }
            _ => self.whole(source, span),
        }
    }

    /// `{| c, d | stmts |}`
    pub(super) fn all_productions(&mut self, c: &Comprehension, frame: &mut Vec<Value>) -> Res<Value> {
        let mut all = BTreeSet::new();
        let Items::Listed(items) = &c.items else { return Ok(Value::Set(Set::empty())) };
        self.each(&c.stmts, frame, c.span, &mut |this, frame| {
            for e in items {
                let v = this.eval(e, frame)?;
                all.extend(this.productions(&v, e.span)?);
            }
            Ok(())
        })?;
        Ok(Value::Set(Set::of(all)))
    }
}

fn ints(set: &BTreeSet<Value>) -> impl Iterator<Item = i64> + '_ {
    set.iter().filter_map(|v| match v {
        Value::Int(n) => Some(*n),
        _ => None,
    })
}

/// `{from..}` and some others.
fn upwards(others: impl IntoIterator<Item = i64>, mut from: i64) -> Set {
    let mut below: BTreeSet<i64> = others.into_iter().filter(|n| *n < from).collect();
    while from > i64::MIN && below.remove(&(from - 1)) {
        from -= 1;
    }
    Set::Upwards { below: Arc::new(below), from }
}
