//! Encoded values: made from plain ones, compared, chosen between, taken apart.

use super::{Encoder, Lazy, Options, Rows, Sym, Val, ill_typed, truth};
use crate::lang::diag::Span;
use crate::symbolic::{Res, unlisted};
use crate::value::Value;
use kanon_solver::term::Bool;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value that is listed by its options has at most so many.
pub(super) const MAX_OPTIONS: usize = 512;

/// A set that is an element of another is listed by its subsets if at most so many of its rows are open.
const MAX_OPEN: usize = 12;

impl<'m> Sym<'m> {
    /// A plain value.
    pub fn ground(value: &Value) -> Sym<'m> {
        match value {
            Value::Bool(b) => Sym::Bool(truth(*b)),
            // Reals and freetypes have no formulas; nothing comes here with them.
            Value::Int(_) | Value::Str(_) | Value::Elem(..) | Value::Real(_) | Value::Free(..) => {
                Sym::One(Arc::new(vec![(value.clone(), Bool::TRUE)]))
            }
            Value::Pair(p) => Sym::Pair(Arc::new((Sym::ground(&p.0), Sym::ground(&p.1)))),
            Value::Rec(fields) => Sym::Rec(Arc::new(fields.iter().map(Sym::ground).collect())),
            Value::Set(s) => Sym::Set(Arc::new(s.iter().map(|v| (v.clone(), Bool::TRUE)).collect())),
        }
    }

    pub fn pair(a: Sym<'m>, b: Sym<'m>) -> Sym<'m> {
        Sym::Pair(Arc::new((a, b)))
    }

    pub fn set(rows: Rows) -> Sym<'m> {
        Sym::Set(Arc::new(rows))
    }

    pub fn int(i: impl Into<num_bigint::BigInt>) -> Sym<'m> {
        Sym::ground(&Value::int(i))
    }

    /// The plain value, if there is only one.
    pub fn value(&self) -> Option<Value> {
        match self {
            Sym::Bool(Bool::TRUE) => Some(Value::Bool(true)),
            Sym::Bool(Bool::FALSE) => Some(Value::Bool(false)),
            Sym::One(options) => match options.as_slice() {
                [(v, Bool::TRUE)] => Some(v.clone()),
                _ => None,
            },
            Sym::Pair(p) => Some(Value::pair(p.0.value()?, p.1.value()?)),
            Sym::Rec(fields) => fields.iter().map(Sym::value).collect::<Option<_>>().map(Value::Rec),
            Sym::Set(rows) => {
                let known = rows.values().all(|p| *p == Bool::TRUE || *p == Bool::FALSE);
                let there = rows.iter().filter(|(_, p)| **p == Bool::TRUE);
                known.then(|| Value::Set(there.map(|(v, _)| v.clone()).collect()))
            }
            Sym::Fun(points) => {
                let mut pairs = std::collections::BTreeSet::new();
                for (x, (p, y)) in points.iter() {
                    match *p {
                        Bool::TRUE => drop(pairs.insert(Value::pair(x.clone(), y.value()?))),
                        Bool::FALSE => {}
                        _ => return None,
                    }
                }
                Some(Value::Set(pairs))
            }
            _ => None,
        }
    }
}

impl<'m> Encoder<'m> {
    /// The value whose condition is true.
    pub fn pick(&mut self, mut options: Options) -> Sym<'m> {
        options.retain(|_, when| {
            when.retain(|b| *b != Bool::FALSE);
            !when.is_empty()
        });
        let Some(first) = options.keys().next() else { return Sym::Absent };
        match first {
            Value::Bool(_) => {
                let yes = options.remove(&Value::Bool(true)).unwrap_or_default();
                let no = options.remove(&Value::Bool(false)).unwrap_or_default();
                // The shorter of the two says the same.
                let yes = if no.is_empty() {
                    Bool::TRUE
                } else if yes.len() <= no.len() {
                    self.terms.or(yes)
                } else {
                    !self.terms.or(no)
                };
                Sym::Bool(yes)
            }
            Value::Int(_) | Value::Str(_) | Value::Elem(..) | Value::Real(_) | Value::Free(..) => {
                if options.len() == 1
                    && let Some((v, _)) = options.pop_first()
                {
                    return Sym::ground(&v);
                }
                Sym::One(Arc::new(
                    options.into_iter().map(|(v, when)| (v, self.terms.or(when))).collect::<Vec<_>>(),
                ))
            }
            Value::Pair(_) => {
                let (mut a, mut b) = (Options::new(), Options::new());
                for (v, when) in options {
                    if let Value::Pair(p) = v {
                        a.entry(p.0).or_default().extend(when.iter().copied());
                        b.entry(p.1).or_default().extend(when);
                    }
                }
                Sym::pair(self.pick(a), self.pick(b))
            }
            Value::Rec(fields) => {
                let mut parts = vec![Options::new(); fields.len()];
                for (v, when) in options {
                    if let Value::Rec(fields) = v {
                        for (part, field) in parts.iter_mut().zip(fields) {
                            part.entry(field).or_default().extend(when.iter().copied());
                        }
                    }
                }
                Sym::Rec(Arc::new(parts.into_iter().map(|p| self.pick(p)).collect()))
            }
            Value::Set(_) => {
                let all = options.len();
                let mut rows: BTreeMap<Value, (usize, Vec<Bool>)> = BTreeMap::new();
                for (v, when) in options {
                    if let Value::Set(s) = v {
                        for e in s {
                            let row = rows.entry(e).or_default();
                            row.0 += 1;
                            row.1.extend(when.iter().copied());
                        }
                    }
                }
                let rows = rows.into_iter().map(|(v, (n, when))| {
                    // In every option.
                    (v, if n == all { Bool::TRUE } else { self.terms.or(when) })
                });
                Sym::set(rows.collect())
            }
        }
    }

    /// What the value can be, with the condition of each.
    pub fn options(&mut self, s: &Sym<'m>, span: Span) -> Res<Vec<(Value, Bool)>> {
        let list: Vec<(Value, Bool)> = match s {
            Sym::Absent => vec![],
            Sym::Bool(b) => vec![(Value::Bool(false), !*b), (Value::Bool(true), *b)],
            Sym::One(options) => options.to_vec(),
            Sym::Int(i) => {
                let (Some(low), Some(high)) = self.range(*i) else {
                    return unlisted(span, "nothing bounds an integer that has to be listed");
                };
                let n = usize::try_from(&(&high - &low)).unwrap_or(usize::MAX);
                if n >= MAX_OPTIONS {
                    return unlisted(span, "an integer with too many values");
                }
                let mut list = vec![];
                for k in 0..=n {
                    let k = &low + k;
                    let c = self.terms.constant(k.clone());
                    list.push((Value::Int(k), self.terms.eq(*i, c)));
                }
                list
            }
            Sym::Pair(p) => {
                let (a, b) = (self.options(&p.0, span)?, self.options(&p.1, span)?);
                self.within(a.len().saturating_mul(b.len()), span)?;
                let mut list = vec![];
                for (x, g) in &a {
                    for (y, h) in &b {
                        list.push((Value::pair(x.clone(), y.clone()), self.terms.and([*g, *h])));
                    }
                }
                list
            }
            Sym::Rec(fields) => {
                let mut list = vec![(vec![], Bool::TRUE)];
                for field in fields.iter() {
                    let options = self.options(field, span)?;
                    self.within(list.len().saturating_mul(options.len()), span)?;
                    let mut longer = vec![];
                    for (values, g) in &list {
                        for (v, h) in &options {
                            let values: Vec<Value> = values.iter().cloned().chain([v.clone()]).collect();
                            longer.push((values, self.terms.and([*g, *h])));
                        }
                    }
                    list = longer;
                }
                list.into_iter().map(|(values, g)| (Value::Rec(values), g)).collect()
            }
            Sym::Set(rows) => {
                let open = rows.values().filter(|p| **p != Bool::TRUE && **p != Bool::FALSE).count();
                if open > MAX_OPEN {
                    return unlisted(span, "a set of sets with too many elements");
                }
                let mut list = vec![(std::collections::BTreeSet::new(), Bool::TRUE)];
                for (v, p) in rows.iter() {
                    let mut longer = vec![];
                    for (s, g) in list {
                        let with = self.terms.and([g, *p]);
                        let without = self.terms.and([g, !*p]);
                        if with != Bool::FALSE {
                            let mut larger: std::collections::BTreeSet<Value> = s.clone();
                            larger.insert(v.clone());
                            longer.push((larger, with));
                        }
                        if without != Bool::FALSE {
                            longer.push((s, without));
                        }
                    }
                    list = longer;
                }
                list.into_iter().map(|(s, g)| (Value::Set(s), g)).collect()
            }
            Sym::Lazy(_) | Sym::Fun(_) => {
                let listed = self.elements(s, span)?;
                return self.options(&listed.sym, span);
            }
        };
        self.spend(list.len(), span)?;
        Ok(list.into_iter().filter(|(_, g)| *g != Bool::FALSE).collect())
    }

    /// So many rows are allowed.
    pub(in crate::symbolic) fn within(&mut self, rows: usize, span: Span) -> Res<()> {
        if rows > self.limits.rows {
            return unlisted(span, "a set with too many elements would have to be listed");
        }
        self.spend(rows, span)
    }

    /// Whether a value, no lazy set, is this one.
    pub fn eq_value(&mut self, s: &Sym<'m>, v: &Value) -> Bool {
        match (s, v) {
            (Sym::Bool(b), Value::Bool(true)) => *b,
            (Sym::Bool(b), Value::Bool(false)) => !*b,
            (Sym::One(options), v) => match options.binary_search_by(|(o, _)| o.cmp(v)) {
                Ok(i) => options[i].1,
                Err(_) => Bool::FALSE,
            },
            (Sym::Int(i), Value::Int(k)) => {
                if !self.is_in_range(*i, k) {
                    return Bool::FALSE;
                }
                let k = self.terms.constant(k.clone());
                self.terms.eq(*i, k)
            }
            (Sym::Pair(p), Value::Pair(v)) => {
                let a = self.eq_value(&p.0, &v.0);
                if a == Bool::FALSE {
                    return a;
                }
                let b = self.eq_value(&p.1, &v.1);
                self.terms.and([a, b])
            }
            (Sym::Rec(fields), Value::Rec(vs)) => {
                let parts: Vec<Bool> = fields.iter().zip(vs).map(|(f, v)| self.eq_value(f, v)).collect();
                self.terms.and(parts)
            }
            (Sym::Set(rows), Value::Set(s)) => {
                if s.iter().any(|v| !rows.contains_key(v)) {
                    return Bool::FALSE;
                }
                let parts: Vec<Bool> =
                    rows.iter().map(|(v, p)| if s.contains(v) { *p } else { !*p }).collect();
                self.terms.and(parts)
            }
            (Sym::Fun(points), Value::Set(s)) => {
                let mut parts = vec![];
                let mut seen = 0;
                for (x, (p, y)) in points.iter() {
                    let mut found = None;
                    for v in s {
                        if let Value::Pair(pair) = v
                            && pair.0 == *x
                        {
                            // No function has two values for one argument.
                            if found.is_some() {
                                return Bool::FALSE;
                            }
                            seen += 1;
                            found = Some(&pair.1);
                        }
                    }
                    parts.push(match found {
                        None => !*p,
                        Some(v) => {
                            let same = self.eq_value(y, v);
                            self.terms.and([*p, same])
                        }
                    });
                }
                // An argument that is none of ours.
                if seen != s.len() {
                    return Bool::FALSE;
                }
                self.terms.and(parts)
            }
            _ => Bool::FALSE,
        }
    }

    /// Equality of two values, none of them a lazy set.
    pub fn eq(&mut self, a: &Sym<'m>, b: &Sym<'m>, span: Span) -> Res<Bool> {
        self.spend(1, span)?;
        Ok(match (a, b) {
            (Sym::Absent, _) | (_, Sym::Absent) => Bool::FALSE,
            (Sym::Bool(x), Sym::Bool(y)) => self.terms.iff(*x, *y),
            (Sym::One(x), Sym::One(y)) => {
                let (small, large) = if x.len() <= y.len() { (x, b) } else { (y, a) };
                let mut ways = vec![];
                for (v, g) in small.iter() {
                    let h = self.eq_value(large, v);
                    ways.push(self.terms.and([*g, h]));
                }
                self.terms.or(ways)
            }
            (Sym::Int(_), Sym::Int(_) | Sym::One(_)) | (Sym::One(_), Sym::Int(_)) => {
                if let Some(v) = a.value() {
                    return Ok(self.eq_value(b, &v));
                }
                if let Some(v) = b.value() {
                    return Ok(self.eq_value(a, &v));
                }
                let (x, y) = (self.int_term(a, span)?, self.int_term(b, span)?);
                self.terms.eq(x, y)
            }
            (Sym::Pair(p), Sym::Pair(q)) => {
                let first = self.eq(&p.0, &q.0, span)?;
                if first == Bool::FALSE {
                    return Ok(first);
                }
                let second = self.eq(&p.1, &q.1, span)?;
                self.terms.and([first, second])
            }
            (Sym::Rec(p), Sym::Rec(q)) => {
                let mut parts = vec![];
                for (x, y) in p.iter().zip(q.iter()) {
                    parts.push(self.eq(x, y, span)?);
                }
                self.terms.and(parts)
            }
            (Sym::Set(p), Sym::Set(q)) => {
                self.spend(p.len() + q.len(), span)?;
                let mut parts = vec![];
                for (v, g) in p.iter() {
                    parts.push(match q.get(v) {
                        Some(h) => self.terms.iff(*g, *h),
                        None => !*g,
                    });
                }
                parts.extend(q.iter().filter(|(v, _)| !p.contains_key(*v)).map(|(_, h)| !*h));
                self.terms.and(parts)
            }
            (Sym::Fun(p), Sym::Fun(q)) => {
                let mut parts = vec![];
                for (x, (g, y)) in p.iter() {
                    parts.push(match q.get(x) {
                        Some((h, z)) => {
                            let same = self.eq(y, z, span)?;
                            let both = self.terms.iff(*g, *h);
                            let same = self.terms.or([!*g, same]);
                            self.terms.and([both, same])
                        }
                        None => !*g,
                    });
                }
                parts.extend(q.iter().filter(|(x, _)| !p.contains_key(*x)).map(|(_, (h, _))| !*h));
                self.terms.and(parts)
            }
            (Sym::Fun(p), Sym::Set(rows)) | (Sym::Set(rows), Sym::Fun(p)) => {
                let mut parts = vec![];
                let groups = super::set::groups(rows, span)?;
                for (x, (g, y)) in p.iter() {
                    let Some(values) = groups.get(x) else {
                        parts.push(!*g);
                        continue;
                    };
                    // Each row is there if and only if it is the value.
                    let mut some = vec![];
                    for (v, h) in values {
                        let same = self.eq_value(y, v);
                        let same = self.terms.and([*g, same]);
                        parts.push(self.terms.iff(same, *h));
                        some.push(*h);
                    }
                    let some = self.terms.or(some);
                    parts.push(self.terms.iff(some, *g));
                }
                for (x, values) in &groups {
                    if !p.contains_key(x) {
                        parts.extend(values.iter().map(|(_, h)| !*h));
                    }
                }
                self.terms.and(parts)
            }
            _ => return ill_typed(span),
        })
    }

    /// The first or the second.
    pub fn ite(&mut self, cond: Bool, a: &Sym<'m>, b: &Sym<'m>, span: Span) -> Res<Sym<'m>> {
        match cond {
            Bool::TRUE => return Ok(a.clone()),
            Bool::FALSE => return Ok(b.clone()),
            _ => {}
        }
        Ok(match (a, b) {
            (Sym::Absent, other) | (other, Sym::Absent) => other.clone(),
            (Sym::Bool(x), Sym::Bool(y)) => Sym::Bool(self.terms.ite(cond, *x, *y)),
            (Sym::One(x), Sym::One(y)) => {
                let mut options = Options::new();
                for (v, g) in x.iter() {
                    let g = self.terms.and([cond, *g]);
                    options.entry(v.clone()).or_default().push(g);
                }
                for (v, g) in y.iter() {
                    let g = self.terms.and([!cond, *g]);
                    options.entry(v.clone()).or_default().push(g);
                }
                self.pick(options)
            }
            (Sym::Int(_), Sym::Int(_) | Sym::One(_)) | (Sym::One(_), Sym::Int(_)) => {
                let (x, y) = (self.int_term(a, span)?, self.int_term(b, span)?);
                Sym::Int(self.terms.ite_int(cond, x, y))
            }
            (Sym::Pair(p), Sym::Pair(q)) => {
                Sym::pair(self.ite(cond, &p.0, &q.0, span)?, self.ite(cond, &p.1, &q.1, span)?)
            }
            (Sym::Rec(p), Sym::Rec(q)) => {
                let mut parts = vec![];
                for (x, y) in p.iter().zip(q.iter()) {
                    parts.push(self.ite(cond, x, y, span)?);
                }
                Sym::Rec(Arc::new(parts))
            }
            (Sym::Set(p), Sym::Set(q)) => {
                self.spend(p.len() + q.len(), span)?;
                let mut rows = Rows::new();
                for (v, g) in p.iter() {
                    let h = q.get(v).copied().unwrap_or(Bool::FALSE);
                    rows.insert(v.clone(), self.terms.ite(cond, *g, h));
                }
                for (v, h) in q.iter().filter(|(v, _)| !p.contains_key(*v)) {
                    rows.insert(v.clone(), self.terms.ite(cond, Bool::FALSE, *h));
                }
                Sym::set(rows)
            }
            (Sym::Fun(p), Sym::Fun(q)) => {
                let mut points = super::Points::new();
                for x in p.keys().chain(q.keys()) {
                    let none = (Bool::FALSE, Sym::Absent);
                    let ((g, y), (h, z)) = (p.get(x).unwrap_or(&none), q.get(x).unwrap_or(&none));
                    let there = self.terms.ite(cond, *g, *h);
                    points.insert(x.clone(), (there, self.ite(cond, y, z, span)?));
                }
                Sym::Fun(Arc::new(points))
            }
            (Sym::Lazy(_) | Sym::Set(_) | Sym::Fun(_), Sym::Lazy(_) | Sym::Set(_) | Sym::Fun(_)) => {
                Lazy::If(cond, a.clone(), b.clone()).into()
            }
            _ => return ill_typed(span),
        })
    }

    /// One of two values, by a condition that is defined where the result is.
    pub(in crate::symbolic) fn ite_val(
        &mut self,
        cond: Bool,
        a: Val<'m>,
        b: Val<'m>,
        span: Span,
    ) -> Res<Val<'m>> {
        let sym = match (a.is_none(), b.is_none()) {
            (true, true) => return Ok(Val::none()),
            (true, false) => b.sym,
            (false, true) => a.sym,
            _ => self.ite(cond, &a.sym, &b.sym, span)?,
        };
        Ok(Val { sym, def: self.terms.ite(cond, a.def, b.def) })
    }
}
