//! What a solver found, as plain values; and plain values as what a solver must find.

use super::encode::Sym;
use crate::value::Value;
use kanon_solver::eval::Evaluator;
use kanon_solver::term::{Bool, Terms};

/// The value under an assignment; `None` if the assignment is that of no value, which is a fault of the encoding.
pub fn value(s: &Sym<'_>, under: &mut Evaluator<'_>) -> Option<Value> {
    Some(match s {
        Sym::Absent | Sym::Lazy(_) => return None,
        Sym::Bool(b) => Value::Bool(under.bool(*b)),
        Sym::One(options) => {
            let mut chosen = options.iter().filter(|(_, g)| under.bool(*g));
            let (v, _) = chosen.next()?;
            if chosen.next().is_some() {
                return None;
            }
            v.clone()
        }
        Sym::Int(i) => Value::Int(under.int(*i)),
        Sym::Pair(p) => Value::pair(value(&p.0, under)?, value(&p.1, under)?),
        Sym::Rec(fields) => Value::Rec(fields.iter().map(|f| value(f, under)).collect::<Option<_>>()?),
        Sym::Fun(points) => {
            let mut pairs = std::collections::BTreeSet::new();
            for (x, (p, y)) in points.iter() {
                if under.bool(*p) {
                    pairs.insert(Value::pair(x.clone(), value(y, under)?));
                }
            }
            Value::Set(pairs)
        }
        Sym::Set(rows) => {
            Value::Set(rows.iter().filter(|(_, p)| under.bool(**p)).map(|(v, _)| v.clone()).collect())
        }
    })
}

/// When it is this value; `None` if no formula says so. It is the inverse of [`value`]: true of the assignments that are
/// decoded to this value, and of no others.
pub fn is(terms: &mut Terms, s: &Sym<'_>, v: &Value) -> Option<Bool> {
    let given = |p: Bool, wanted: bool| if wanted { p } else { !p };
    Some(match (s, v) {
        (Sym::Bool(b), Value::Bool(v)) => given(*b, *v),
        (Sym::One(options), _) => terms.and(options.iter().map(|(o, g)| given(*g, o == v))),
        (Sym::Int(i), Value::Int(v)) => {
            let value = terms.constant(v.clone());
            terms.eq(*i, value)
        }
        (Sym::Pair(s), Value::Pair(v)) => {
            let parts = [is(terms, &s.0, &v.0)?, is(terms, &s.1, &v.1)?];
            terms.and(parts)
        }
        (Sym::Rec(fields), Value::Rec(values)) if fields.len() == values.len() => {
            let mut parts = vec![];
            for (field, value) in fields.iter().zip(values) {
                parts.push(is(terms, field, value)?);
            }
            terms.and(parts)
        }
        (Sym::Fun(points), Value::Set(pairs)) => {
            let mut values = std::collections::BTreeMap::new();
            for pair in pairs {
                let Value::Pair(p) = pair else { return None };
                // Points have one value each.
                if values.insert(&p.0, &p.1).is_some() {
                    return Some(Bool::FALSE);
                }
            }
            let mut parts = vec![];
            for (x, (has_value, y)) in points.iter() {
                parts.push(given(*has_value, values.contains_key(x)));
                if let Some(value) = values.remove(x) {
                    parts.push(is(terms, y, value)?);
                }
            }
            let is_elsewhere = !values.is_empty();
            if is_elsewhere { Bool::FALSE } else { terms.and(parts) }
        }
        (Sym::Set(rows), Value::Set(elements)) => {
            let is_elsewhere = elements.iter().any(|e| !rows.iter().any(|(row, _)| row == e));
            if is_elsewhere {
                return Some(Bool::FALSE);
            }
            terms.and(rows.iter().map(|(row, p)| given(*p, elements.contains(row))))
        }
        _ => return None,
    })
}
