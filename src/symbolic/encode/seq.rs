//! Sequences: functions whose domain is 1..n, with n up to the number of places that have rows.

use super::Options;
use super::set::as_pair;
use super::{Encoder, Mutant, Rows, Sym, Truth, Val, big, ill_typed};
use crate::lang::diag::Span;
use crate::model::{BinOp, Expr, Fun};
use crate::symbolic::{Res, unlisted};
use crate::value::Value;
use kanon_solver::term::Bool;
use std::collections::{BTreeMap, BTreeSet};

/// The items at each place, from the first on.
#[derive(Clone, Default)]
pub(super) struct Items {
    places: Vec<Vec<(Value, Bool)>>,
    /// Whether there is an item at this place.
    there: Vec<Bool>,
}

impl Items {
    fn at(&self, i: usize) -> Bool {
        self.there.get(i).copied().unwrap_or(Bool::FALSE)
    }

    fn len(&self) -> usize {
        self.places.len()
    }
}

fn row(i: usize, v: &Value) -> Value {
    Value::pair(Value::int(i + 1), v.clone())
}

impl<'m> Encoder<'m> {
    /// The rows by place, and whether they are a sequence.
    fn items(&mut self, rows: &Rows, span: Span) -> Res<(Items, Bool)> {
        self.spend(rows.len(), span)?;
        let mut outside = vec![];
        let mut places: BTreeMap<usize, Vec<(Value, Bool)>> = BTreeMap::new();
        for (v, p) in rows {
            let (i, y) = as_pair(v, span)?;
            let Value::Int(i) = i else { return ill_typed(span) };
            match usize::try_from(i) {
                // Farther than there are rows is beyond a gap.
                Ok(n) if (1..=rows.len()).contains(&n) => {
                    places.entry(n - 1).or_default().push((y.clone(), *p))
                }
                _ => outside.push(!*p),
            }
        }
        let n = places.keys().next_back().map_or(0, |n| n + 1);
        let mut items = Items { places: vec![vec![]; n], there: vec![] };
        for (i, place) in places {
            items.places[i] = place;
        }
        let mut ok = outside;
        for place in &items.places {
            let of: Vec<Bool> = place.iter().map(|(_, p)| *p).collect();
            ok.push(self.at_most_one(&of));
            items.there.push(self.terms.or(of));
        }
        for i in 1..items.len() {
            ok.push(self.terms.or([!items.there[i], items.there[i - 1]]));
        }
        Ok((items, self.terms.and(ok)))
    }

    /// The length is n.
    fn is_long(&mut self, items: &Items, n: usize) -> Bool {
        let before = if n == 0 { Bool::TRUE } else { items.at(n - 1) };
        self.terms.and([before, !items.at(n)])
    }

    pub(super) fn is_sequence_of(&mut self, kind: Fun, v: &Sym<'m>, of: &Sym<'m>, span: Span) -> Res<Truth> {
        let (rows, def) = self.rows(v, span)?;
        let (_, ok) = self.items(&rows, span)?;
        let range = self.range_rows(&rows, span)?;
        let inside = self.all_in(&range, of, span)?;
        let mut t = self.and_then(Truth::sure(ok), inside);
        if matches!(kind, Fun::Seq1 | Fun::Iseq1) {
            let some = self.terms.or(rows.values().copied());
            t = self.and_then(t, Truth::sure(some));
        }
        if matches!(kind, Fun::Iseq | Fun::Iseq1 | Fun::Perm) {
            let injective = self.is_functional(&rows, true, span)?;
            t = self.and_then(t, Truth::sure(injective));
        }
        if kind == Fun::Perm {
            let all = self.covers(of, &range, span)?;
            t = self.and_then(t, all);
        }
        Ok(self.only_if(t, def))
    }

    /// All sequences without repetition over the rows, each with the condition that its items are there.
    pub(super) fn sequences(&mut self, kind: Fun, over: &Rows, span: Span) -> Res<Rows> {
        let repeats = matches!(kind, Fun::Seq | Fun::Seq1);
        if repeats && !over.is_empty() {
            return unlisted(span, "the set of all sequences is infinite");
        }
        let mut all: Vec<Vec<&Value>> = vec![vec![]];
        let mut longest: Vec<Vec<&Value>> = vec![vec![]];
        while !longest.is_empty() {
            let mut longer = vec![];
            for s in &longest {
                for v in over.keys().filter(|v| !s.contains(v)) {
                    longer.push(s.iter().copied().chain([v]).collect::<Vec<_>>());
                }
                self.within(all.len() + longer.len(), span)?;
            }
            all.extend(longer.iter().cloned());
            longest = longer;
        }
        let mut rows = Rows::new();
        for s in all {
            if s.is_empty() && matches!(kind, Fun::Seq1 | Fun::Iseq1) {
                continue;
            }
            let mut when = vec![];
            for (v, p) in over {
                match (s.contains(&v), kind == Fun::Perm) {
                    (true, _) => when.push(*p),
                    (false, true) => when.push(!*p),
                    _ => {}
                }
            }
            let when = self.terms.and(when);
            if when != Bool::FALSE {
                let value: BTreeSet<Value> = s.iter().enumerate().map(|(i, v)| row(i, v)).collect();
                rows.insert(Value::Set(value), when);
            }
        }
        Ok(rows)
    }

    /// The places of a value that has to be a sequence.
    fn sequence(&mut self, v: &Val<'m>, span: Span) -> Res<Option<(Items, Bool)>> {
        if v.is_none() || self.is_certainly_infinite(&v.sym) {
            return Ok(None);
        }
        let (rows, def) = self.rows(&v.sym, span)?;
        let (items, ok) = self.items(&rows, span)?;
        let ok = self.unless(Mutant::SequenceAnywhere, ok);
        let def = self.terms.and([v.def, def, ok]);
        Ok((def != Bool::FALSE).then_some((items, def)))
    }

    fn as_rows(&self, items: &Items) -> Rows {
        let places = items.places.iter().enumerate();
        let rows = places.flat_map(|(i, place)| place.iter().map(move |(v, p)| (row(i, v), *p)));
        rows.filter(|(_, p)| *p != Bool::FALSE).collect()
    }

    fn joined(&mut self, a: &Items, b: &Items, span: Span) -> Res<Rows> {
        let mut ways: Options = self.as_rows(a).into_iter().map(|(v, p)| (v, vec![p])).collect();
        for n in 0..=a.len() {
            let long = self.is_long(a, n);
            if long == Bool::FALSE {
                continue;
            }
            for (i, place) in b.places.iter().enumerate() {
                self.within(ways.len() + place.len(), span)?;
                for (v, p) in place {
                    let p = self.terms.and([long, *p]);
                    ways.entry(row(n + i, v)).or_default().push(p);
                }
            }
        }
        Ok(self.rows_of(ways))
    }

    /// One item for certain.
    fn single(&mut self, v: &Val<'m>, span: Span) -> Res<Items> {
        let options = self.options(&v.sym, span)?;
        Ok(Items { places: vec![options], there: vec![Bool::TRUE] })
    }

    pub(super) fn sequence_literal(&mut self, parts: &[Val<'m>], span: Span) -> Res<Val<'m>> {
        let mut rows = Rows::new();
        let mut defs = vec![];
        for (i, part) in parts.iter().enumerate() {
            if part.is_none() {
                return Ok(Val::none());
            }
            defs.push(part.def);
            for (v, g) in self.options(&part.sym, span)? {
                rows.insert(row(i, &v), g);
            }
        }
        Ok(Val { sym: Sym::set(rows), def: self.terms.and(defs) })
    }

    pub(super) fn on_two(&mut self, op: BinOp, a: Val<'m>, b: Val<'m>, span: Span) -> Res<Val<'m>> {
        if a.is_none() || b.is_none() {
            return Ok(Val::none());
        }
        let (rows, def) = match op {
            BinOp::Concat => {
                let (Some((p, d)), Some((q, e))) = (self.sequence(&a, span)?, self.sequence(&b, span)?)
                else {
                    return Ok(Val::none());
                };
                (self.joined(&p, &q, span)?, self.terms.and([d, e]))
            }
            BinOp::Prepend | BinOp::Append => {
                let (item, seq) = if op == BinOp::Prepend { (&a, &b) } else { (&b, &a) };
                let Some((items, d)) = self.sequence(seq, span)? else { return Ok(Val::none()) };
                let one = self.single(item, span)?;
                let rows = match op {
                    BinOp::Prepend if self.mutant != Mutant::PrependIsAppend => {
                        self.joined(&one, &items, span)?
                    }
                    _ => self.joined(&items, &one, span)?,
                };
                (rows, self.terms.and([d, item.def]))
            }
            _ => {
                let Some((items, d)) = self.sequence(&a, span)? else { return Ok(Val::none()) };
                let mut ways = Options::new();
                let mut defs = vec![];
                for n in 0..=items.len() {
                    let is_n = self.eq_value(&b.sym, &Value::int(n));
                    if is_n == Bool::FALSE {
                        continue;
                    }
                    let enough = if n == 0 { Bool::TRUE } else { items.at(n - 1) };
                    defs.push(self.terms.and([is_n, enough]));
                    for (i, place) in items.places.iter().enumerate() {
                        let to = if op == BinOp::TakeFirst { (i < n).then_some(i) } else { i.checked_sub(n) };
                        let Some(to) = to else { continue };
                        self.spend(place.len(), span)?;
                        for (v, p) in place {
                            let p = self.terms.and([is_n, *p]);
                            ways.entry(row(to, v)).or_default().push(p);
                        }
                    }
                }
                let defs = self.terms.or(defs);
                let defs = self.unless(Mutant::TakeAnywhere, defs);
                (self.rows_of(ways), self.terms.and([d, b.def, defs]))
            }
        };
        Ok(if def == Bool::FALSE { Val::none() } else { Val { sym: Sym::set(rows), def } })
    }

    pub(super) fn on_one(&mut self, fun: Fun, v: Val<'m>, span: Span) -> Res<Val<'m>> {
        let Some((items, mut def)) = self.sequence(&v, span)? else { return Ok(Val::none()) };
        if matches!(fun, Fun::First | Fun::Last | Fun::Front | Fun::Tail) {
            let some = self.unless(Mutant::FirstAnywhere, items.at(0));
            def = self.terms.and([def, some]);
            if items.len() == 0 || def == Bool::FALSE {
                return Ok(Val::none());
            }
        }
        let sym = match fun {
            Fun::Size => {
                if let Some(n) = (0..=items.len()).find(|n| self.is_long(&items, *n) == Bool::TRUE) {
                    Sym::int(n)
                } else {
                    let mut options = Options::new();
                    for n in 0..=items.len() {
                        let long = self.is_long(&items, n);
                        options.insert(Value::Int(big(n)), vec![long]);
                    }
                    self.pick(options)
                }
            }
            Fun::First => {
                let options = items.places[0].iter().map(|(v, p)| (v.clone(), vec![*p]));
                self.pick(options.collect())
            }
            Fun::Last => {
                let mut options = Options::new();
                for (i, place) in items.places.iter().enumerate() {
                    for (v, p) in place {
                        let p = self.terms.and([*p, !items.at(i + 1)]);
                        options.entry(v.clone()).or_default().push(p);
                    }
                }
                self.pick(options)
            }
            Fun::Front => {
                let mut rows = Rows::new();
                for (i, place) in items.places.iter().enumerate() {
                    for (v, p) in place {
                        let p = self.terms.and([*p, items.at(i + 1)]);
                        if p != Bool::FALSE {
                            rows.insert(row(i, v), p);
                        }
                    }
                }
                Sym::set(rows)
            }
            Fun::Tail => {
                let rest = Items { places: items.places[1..].to_vec(), there: vec![] };
                Sym::set(self.as_rows(&rest))
            }
            Fun::Rev => {
                let mut ways = Options::new();
                for n in 1..=items.len() {
                    let long = self.is_long(&items, n);
                    if long == Bool::FALSE {
                        continue;
                    }
                    for i in 0..n {
                        self.spend(items.places[i].len(), span)?;
                        for (v, p) in &items.places[i] {
                            let p = self.terms.and([long, *p]);
                            ways.entry(row(n - 1 - i, v)).or_default().push(p);
                        }
                    }
                }
                Sym::set(self.rows_of(ways))
            }
            Fun::Conc => {
                let mut all = Items::default();
                for (i, place) in items.places.iter().enumerate() {
                    let options = place.iter().map(|(v, p)| (v.clone(), vec![*p])).collect();
                    let Sym::Set(inner) = self.pick(options) else { continue };
                    // No item here is the empty sequence.
                    let mut rows = Rows::new();
                    for (v, p) in inner.iter() {
                        rows.insert(v.clone(), self.terms.and([*p, items.at(i)]));
                    }
                    let (part, ok) = self.items(&rows, span)?;
                    def = self.terms.and([def, ok]);
                    let longer = self.joined(&all, &part, span)?;
                    all = self.items(&longer, span)?.0;
                }
                Sym::set(self.as_rows(&all))
            }
            _ => return ill_typed(span),
        };
        Ok(if def == Bool::FALSE { Val::none() } else { Val { sym, def } })
    }

    /// The sequence of an expression, for the operators above.
    pub(super) fn sequence_operand(&mut self, env: &super::Env<'m>, e: &'m Expr) -> Res<Val<'m>> {
        self.item(env, e)
    }
}
