//! Finite sets built and taken apart: products, subsets, relations and functions of a kind, sequences.

use super::*;
use crate::model::{BinOp, Fun};

pub(super) fn as_pair(value: &Value, span: Span) -> Result<(&Value, &Value), Fault> {
    match value {
        Value::Pair(p) => Ok((&p.0, &p.1)),
        _ => Err(ill_typed(span)),
    }
}

pub(super) fn as_set(value: &Value, span: Span) -> Result<&Elements, Fault> {
    match value {
        Value::Set(s) => Ok(s),
        _ => Err(ill_typed(span)),
    }
}

/// What a relation given by its pairs relates to `x`.
pub(super) fn of_pairs(cx: &Cx<'_>, pairs: &Elements, x: &Value, span: Span) -> Result<Elements, Fault> {
    cx.spend(pairs.len(), span)?;
    let mut found = Elements::new();
    for p in pairs {
        let (a, b) = as_pair(p, span)?;
        if a == x {
            found.insert(b.clone());
        }
    }
    Ok(found)
}

/// The elements that pass the test.
pub(super) fn keep(
    from: Elements,
    mut test: impl FnMut(&Value) -> Result<bool, Fault>,
) -> Result<Elements, Fault> {
    let mut kept = Elements::new();
    for v in from {
        if test(&v)? {
            kept.insert(v);
        }
    }
    Ok(kept)
}

pub(super) fn map_pairs(
    pairs: &Elements,
    span: Span,
    f: impl Fn(&Value, &Value) -> Value,
) -> Result<Elements, Fault> {
    pairs.iter().map(|p| as_pair(p, span).map(|(x, y)| f(x, y))).collect()
}

pub(super) fn domain(pairs: &Elements, span: Span) -> Result<Elements, Fault> {
    map_pairs(pairs, span, |x, _| x.clone())
}

pub(super) fn range(pairs: &Elements, span: Span) -> Result<Elements, Fault> {
    map_pairs(pairs, span, |_, y| y.clone())
}

pub(super) type Parts<'a> = (&'a Value, &'a Value);

pub(super) fn join(
    cx: &Cx<'_>,
    r: &Elements,
    s: &Elements,
    span: Span,
    f: impl Fn(Parts<'_>, Parts<'_>) -> Option<Value>,
) -> Result<Elements, Fault> {
    budget(cx, r.len().checked_mul(s.len()), span)?;
    let mut all = Elements::new();
    for p in r {
        for q in s {
            all.extend(f(as_pair(p, span)?, as_pair(q, span)?));
        }
    }
    Ok(all)
}

/// Refuses what would be too large to build.
pub(super) fn budget(cx: &Cx<'_>, size: Option<usize>, span: Span) -> Result<(), Fault> {
    match size {
        Some(n) if n <= cx.max_elements => cx.spend(n, span),
        _ => Err(limit(span, "a set with too many elements would have to be listed")),
    }
}

pub(super) fn product(cx: &Cx<'_>, a: &Elements, b: &Elements, span: Span) -> Result<Elements, Fault> {
    budget(cx, a.len().checked_mul(b.len()), span)?;
    Ok(a.iter().flat_map(|x| b.iter().map(|y| Value::pair(x.clone(), y.clone()))).collect())
}

/// All subsets. Each has up to as many elements as the whole, so fewer of them are allowed.
pub(super) fn subsets(cx: &Cx<'_>, of: &Elements, span: Span) -> Result<Elements, Fault> {
    // `checked_shl` only checks the distance: bits that are shifted out are lost without a word.
    let size = u32::try_from(of.len()).ok().and_then(|n| 1usize.checked_shl(n)?.checked_mul(4));
    budget(cx, size, span)?;
    let mut all = vec![Elements::new()];
    for v in of {
        for i in 0..all.len() {
            let mut with = all[i].clone();
            with.insert(v.clone());
            all.push(with);
        }
    }
    Ok(all.into_iter().map(Value::Set).collect())
}

/// All records with these values for their fields.
pub(super) fn records(cx: &Cx<'_>, fields: &[Elements], span: Span) -> Result<Elements, Fault> {
    let size = fields.iter().try_fold(1usize, |n, f| n.checked_mul(f.len()));
    budget(cx, size, span)?;
    let mut all = vec![vec![]];
    for field in fields {
        let longer = all
            .iter()
            .flat_map(|r: &Vec<Value>| field.iter().map(|v| r.iter().cloned().chain([v.clone()]).collect()));
        all = longer.collect();
    }
    Ok(all.into_iter().map(Value::Rec).collect())
}

/// All relations of the kind: subsets of the product, or a choice for each argument of a function.
pub(super) fn space(
    cx: &Cx<'_>,
    kind: &Kind,
    from: &Elements,
    to: &Elements,
    span: Span,
) -> Result<Elements, Fault> {
    let candidates = if kind.functional {
        let exponent = u32::try_from(from.len()).unwrap_or(u32::MAX);
        let choices = to.len() + usize::from(!kind.total);
        budget(cx, choices.checked_pow(exponent), span)?;
        let mut all = vec![Elements::new()];
        for x in from {
            let partial = if kind.total { vec![] } else { all.clone() };
            let longer = all.iter().flat_map(|f| {
                to.iter().map(|y| {
                    let mut g = f.clone();
                    g.insert(Value::pair(x.clone(), y.clone()));
                    g
                })
            });
            all = longer.chain(partial).collect();
        }
        all.into_iter().map(Value::Set).collect()
    } else {
        subsets(cx, &product(cx, from, to, span)?, span)?
    };
    keep(candidates, |relation| {
        let relation = as_set(relation, span)?;
        let (dom, ran) = (domain(relation, span)?, range(relation, span)?);
        Ok((!kind.injective || ran.len() == relation.len())
            && (!kind.total || dom == *from)
            && (!kind.surjective || ran == *to))
    })
}

/// All sequences of the kind over a finite set, or those that are not longer than a number.
pub(super) fn sequences(
    cx: &Cx<'_>,
    kind: Fun,
    over: &Elements,
    most: Option<usize>,
    span: Span,
) -> Result<Elements, Fault> {
    let repeats = matches!(kind, Fun::Seq | Fun::Seq1);
    if repeats && !over.is_empty() && most.is_none() {
        return Err(limit(span, "the set of all sequences is infinite"));
    }
    let mut all: Vec<Vec<Value>> = vec![vec![]];
    let mut longest: Vec<Vec<Value>> = vec![vec![]];
    while !longest.is_empty() && most.is_none_or(|n| longest[0].len() < n) {
        let mut longer = vec![];
        for s in &longest {
            for v in over.iter().filter(|v| repeats || !s.contains(v)) {
                longer.push(s.iter().cloned().chain([v.clone()]).collect::<Vec<_>>());
            }
            budget(cx, Some(all.len() + longer.len()), span)?;
        }
        all.extend(longer.iter().cloned());
        longest = longer;
    }
    all.retain(|s| match kind {
        Fun::Seq1 | Fun::Iseq1 => !s.is_empty(),
        Fun::Perm => s.len() == over.len(),
        _ => true,
    });
    Ok(all.into_iter().map(from_sequence).collect())
}

/// The items in order if the set is a sequence: a function whose domain is 1..n.
pub(super) fn sequence(set: &Elements) -> Option<Vec<Value>> {
    let mut items = Vec::with_capacity(set.len());
    // Pairs are ordered by their first part, so a sequence's pairs come in its order.
    for (i, pair) in set.iter().enumerate() {
        match pair {
            Value::Pair(p) if p.0 == Value::int(i + 1) => items.push(p.1.clone()),
            _ => return None,
        }
    }
    Some(items)
}

pub(super) fn from_sequence(items: impl IntoIterator<Item = Value>) -> Value {
    Value::set(items.into_iter().enumerate().map(|(i, v)| Value::pair(Value::int(i + 1), v)))
}

/// What distinguishes the twelve kinds of relations.
pub(super) struct Kind {
    pub functional: bool,
    pub injective: bool,
    pub total: bool,
    pub surjective: bool,
}

impl Kind {
    pub(super) fn of(op: BinOp) -> Option<Kind> {
        let kind = |functional, injective, total, surjective| {
            Some(Kind { functional, injective, total, surjective })
        };
        match op {
            BinOp::Rel => kind(false, false, false, false),
            BinOp::TotalRel => kind(false, false, true, false),
            BinOp::SurjRel => kind(false, false, false, true),
            BinOp::TotalSurjRel => kind(false, false, true, true),
            BinOp::PartialFun => kind(true, false, false, false),
            BinOp::TotalFun => kind(true, false, true, false),
            BinOp::PartialInj => kind(true, true, false, false),
            BinOp::TotalInj => kind(true, true, true, false),
            BinOp::PartialSurj => kind(true, false, false, true),
            BinOp::TotalSurj => kind(true, false, true, true),
            BinOp::PartialBij => kind(true, true, false, true),
            BinOp::TotalBij => kind(true, true, true, true),
            _ => None,
        }
    }
}
