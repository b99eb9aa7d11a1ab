//! What a solver found, as plain values.

use super::encode::Sym;
use crate::value::Value;
use kanon_solver::eval::Evaluator;

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
