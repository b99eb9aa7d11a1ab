//! How large everything is: the command line, then the model's own definitions (`scope_S`, `SET_PREF_…`),
//! then what PROPERTIES say in a form that ProB reads too, then the default.
//!
//! The forms are ProB's and no more, so that the same model has the same size in both: equations and lower
//! bounds of `card(S)`, bijections and injections from or to sets of known size, constants that differ from each other,
//! `S = {a, b}`, and a partition of S into parts of known size.

use super::reading::Reading;
use super::{BinOp, ConstId, Expr, ExprKind as E, Fun, Lit, Model, SetId, UnOp};
use crate::lang::diag::{Diagnostic, NOWHERE, Span};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use std::collections::{HashMap, HashSet};

/// How large everything is: fixed before a model becomes a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The size of each given set, by [`SetId`].
    pub card: Vec<u64>,
    pub minint: BigInt,
    pub maxint: BigInt,
}

impl Scope {
    pub fn size(&self, set: SetId) -> u64 {
        self.card[set.index()]
    }
}

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct ScopeArgs {
    /// `--card S=3`
    pub card: Vec<(String, u64)>,
    pub minint: Option<BigInt>,
    pub maxint: Option<BigInt>,
    /// `--setsize`: for deferred sets that nothing else sizes.
    pub setsize: Option<u64>,
    /// `--wd`
    pub reading: Reading,
}

const DEFAULT_SETSIZE: u64 = 2;
const DEFAULT_MININT: i64 = -1;
const DEFAULT_MAXINT: i64 = 3;
/// Elements are numbered with 32 bits.
const LARGEST: u64 = u32::MAX as u64;

/// The sizes of a model, with a note for each deferred set that says where its size comes from.
pub fn scope(model: &Model, over: &ScopeArgs) -> Result<(Scope, Vec<String>), Vec<Diagnostic>> {
    let hints = &model.scope;
    let pick = |a: &Option<BigInt>, b: &Option<BigInt>, default: i64| {
        a.clone().or_else(|| b.clone()).unwrap_or_else(|| default.into())
    };
    let minint = pick(&over.minint, &hints.minint, DEFAULT_MININT);
    let maxint = pick(&over.maxint, &hints.maxint, DEFAULT_MAXINT);
    let mut diags = vec![];
    if minint > maxint {
        let message = format!("MININT = {minint} is larger than MAXINT = {maxint}");
        diags.push(Diagnostic::error("B0412", NOWHERE, message));
    }
    for (name, _) in &over.card {
        let Some(set) = model.set_named(name) else {
            let message = format!("`--card {name}=…`: the model has no set `{name}`");
            diags.push(Diagnostic::error("B0412", NOWHERE, message));
            continue;
        };
        let given = &model.sets[set.index()];
        if given.elements.is_some() {
            let message = format!("`--card {name}=…`: `{name}` is enumerated");
            let diag = Diagnostic::error("B0412", NOWHERE, message);
            diags.push(diag.note(given.span, "its elements are listed here"));
        }
    }
    let facts = Facts::of(model, &minint, &maxint);
    let default = over.setsize.or(hints.default_setsize).unwrap_or(DEFAULT_SETSIZE);
    let mut card = vec![];
    let mut notes = vec![];
    for (i, given) in model.sets.iter().enumerate() {
        let set = SetId(i as u32);
        if let Some(elements) = &given.elements {
            card.push(elements.len() as u64);
            continue;
        }
        let (size, why, span) = size_of(model, over, &facts, set, default, &mut diags);
        let named = given.named.len() as u64;
        if size != 0 && size < named {
            let message =
                format!("the set `{}` cannot have {size} elements ({why}): {named} have names", given.name);
            diags.push(Diagnostic::error("B0412", span.unwrap_or(given.span), message));
        }
        if size == 0 || size > LARGEST {
            let message = format!("the set `{}` cannot have {size} elements ({why})", given.name);
            let diag = Diagnostic::error("B0412", span.unwrap_or(given.span), message);
            diags.push(diag.help("a given set is not empty; choose another size with `--card`"));
        }
        notes.push(format!("card({}) = {size} ({why})", given.name));
        card.push(size);
    }
    if diags.is_empty() { Ok((Scope { card, minint, maxint }, notes)) } else { Err(diags) }
}

fn size_of(
    model: &Model,
    over: &ScopeArgs,
    facts: &Facts,
    set: SetId,
    default: u64,
    diags: &mut Vec<Diagnostic>,
) -> (u64, &'static str, Option<Span>) {
    let name = &model.sets[set.index()].name;
    if let Some((_, n)) = over.card.iter().rev().find(|(s, _)| **s == **name) {
        return (*n, "command line", None);
    }
    let exact = facts.exact.get(&set).copied();
    if let Some((_, n, span)) = model.scope.card.iter().rev().find(|(s, ..)| *s == set) {
        if let Some((other, place)) = exact.filter(|(e, _)| e != n) {
            let message = format!("`scope_{name}` says {n}, but PROPERTIES say {other}");
            diags.push(Diagnostic::error("B0412", *span, message).note(place, "here"));
        }
        return (*n, "scope definition", Some(*span));
    }
    if let Some((n, span)) = exact {
        return (n, "PROPERTIES", Some(span));
    }
    let (least, span) = facts.least.get(&set).copied().map_or((0, None), |(n, s)| (n, Some(s)));
    let most = facts.most.get(&set).copied().unwrap_or(u64::MAX);
    match default.min(most).max(least) {
        n if n == default => (n, "default size", None),
        n => (n, "PROPERTIES", span),
    }
}

/// By deferred set: the constants that PROPERTIES say to differ, both ways round, in conjuncts about a pair or by
/// `card({a, b, c}) = 3`. These are the forms by which ProB makes constants elements of the set.
pub(super) fn different(
    model: &Model,
    minint: &BigInt,
    maxint: &BigInt,
) -> HashMap<SetId, HashSet<(ConstId, ConstId)>> {
    let mut parts = vec![];
    model.properties.iter().for_each(|p| conjuncts(p, &mut parts));
    Reader { model, minint, maxint }.different(&parts, &Facts::of(model, minint, maxint), true)
}

/// What PROPERTIES say about sizes.
#[derive(Default)]
struct Facts {
    /// Constants that are equal to a number.
    numbers: HashMap<ConstId, BigInt>,
    /// Constants that are sets of known size.
    sizes: HashMap<ConstId, u64>,
    exact: HashMap<SetId, (u64, Span)>,
    least: HashMap<SetId, (u64, Span)>,
    most: HashMap<SetId, u64>,
}

impl Facts {
    fn of(model: &Model, minint: &BigInt, maxint: &BigInt) -> Facts {
        let mut parts = vec![];
        model.properties.iter().for_each(|p| conjuncts(p, &mut parts));
        let mut facts = Facts::default();
        let reader = Reader { model, minint, maxint };
        // Twice: `card(S) = n & n = 3` in either order.
        for _ in 0..2 {
            for p in &parts {
                reader.number(p, &mut facts);
            }
        }
        for p in &parts {
            reader.sizes(p, &mut facts);
        }
        reader.partitions(&parts, &mut facts);
        for (set, pairs) in reader.different(&parts, &facts, false) {
            let span = model.sets[set.index()].span;
            facts.at_least(set, largest_clique(&pairs).len() as u64, span);
        }
        for (set, n, span) in &model.scope.least {
            facts.at_least(*set, *n, *span);
        }
        for (i, set) in model.sets.iter().enumerate() {
            facts.at_least(SetId(i as u32), set.named.len() as u64, set.span);
        }
        facts
    }

    fn at_least(&mut self, set: SetId, n: u64, span: Span) {
        let entry = self.least.entry(set).or_insert((n, span));
        if n > entry.0 {
            *entry = (n, span);
        }
    }
}

/// Pairs of constants that differ, in both orders.
type Differ = HashSet<(ConstId, ConstId)>;

struct Reader<'a> {
    model: &'a Model,
    minint: &'a BigInt,
    maxint: &'a BigInt,
}

impl Reader<'_> {
    fn is_deferred(&self, set: SetId) -> bool {
        self.model.sets[set.index()].elements.is_none()
    }

    fn deferred(&self, e: &Expr) -> Option<SetId> {
        match e.kind {
            E::Given(s) if self.is_deferred(s) => Some(s),
            _ => None,
        }
    }

    fn value(&self, e: &Expr, facts: &Facts) -> Option<BigInt> {
        match &e.kind {
            E::Int(i) => Some(i.clone()),
            E::Const(c) => facts.numbers.get(c).cloned(),
            E::Lit(Lit::MaxInt) => Some(self.maxint.clone()),
            E::Lit(Lit::MinInt) => Some(self.minint.clone()),
            E::Unary(UnOp::Neg, a) => self.value(a, facts).map(|a| -a),
            E::Binary(op, a, b) => {
                let (a, b) = (self.value(a, facts)?, self.value(b, facts)?);
                match op {
                    BinOp::Add => Some(a + b),
                    BinOp::Sub => Some(a - b),
                    BinOp::Mul => Some(a * b),
                    BinOp::Div if !b.is_zero() => Some(a / b),
                    BinOp::Mod if b.is_positive() && !a.is_negative() => Some(a % b),
                    BinOp::Pow => b.to_u32().filter(|b| *b <= 64).map(|b| a.pow(b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn natural(&self, e: &Expr, facts: &Facts) -> Option<u64> {
        self.value(e, facts)?.to_u64()
    }

    /// The size of an interval, a listed set of numbers or names, an enumerated set, BOOL.
    fn size(&self, e: &Expr, facts: &Facts, listed: bool) -> Option<u64> {
        match &e.kind {
            E::Binary(BinOp::Interval, a, b) => {
                let size: BigInt = self.value(b, facts)? - self.value(a, facts)? + 1;
                if size.is_negative() { Some(0) } else { size.to_u64() }
            }
            E::Given(s) => self.model.sets[s.index()].elements.as_ref().map(|e| e.len() as u64),
            E::Lit(Lit::BoolSet) => Some(2),
            E::SetExt(items) if listed => {
                let numbers: Option<HashSet<BigInt>> = items.iter().map(|i| self.value(i, facts)).collect();
                numbers.map(|n| n.len() as u64)
            }
            _ => None,
        }
    }

    fn number(&self, p: &Expr, facts: &mut Facts) {
        let E::Binary(BinOp::Eq, a, b) = &p.kind else { return };
        for (x, e) in [(a, b), (b, a)] {
            match &x.kind {
                E::Const(c) => {
                    if let Some(n) = self.value(e, facts) {
                        facts.numbers.insert(*c, n);
                    }
                }
                E::Call(Fun::Card, args) => {
                    if let (Some(E::Const(c)), Some(n)) =
                        (args.first().map(|a| &a.kind), self.natural(e, facts))
                    {
                        facts.sizes.insert(*c, n);
                    }
                }
                _ => {}
            }
        }
    }

    fn card_of(&self, e: &Expr) -> Option<SetId> {
        match &e.kind {
            E::Call(Fun::Card, args) => self.deferred(args.first()?),
            _ => None,
        }
    }

    fn sizes(&self, p: &Expr, facts: &mut Facts) {
        let E::Binary(op, a, b) = &p.kind else { return };
        match op {
            BinOp::Eq => {
                for (x, e) in [(a, b), (b, a)] {
                    if let (Some(s), Some(n)) = (self.card_of(x), self.natural(e, facts)) {
                        facts.exact.insert(s, (n, p.span));
                    }
                    if let (Some(s), E::SetExt(items)) = (self.deferred(x), &e.kind) {
                        facts.most.insert(s, items.len() as u64);
                    }
                }
            }
            BinOp::In => {
                if let (Some(s), E::SetExt(items)) = (self.card_of(a), &b.kind)
                    && let [only] = &items[..]
                    && let Some(n) = self.natural(only, facts)
                {
                    facts.exact.insert(s, (n, p.span));
                }
                self.function(b, p.span, facts);
            }
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                let (less, more) = if matches!(op, BinOp::Lt | BinOp::Le) { (a, b) } else { (b, a) };
                let strict = u64::from(matches!(op, BinOp::Lt | BinOp::Gt));
                if let (Some(s), Some(n)) = (self.card_of(more), self.natural(less, facts)) {
                    facts.at_least(s, n.saturating_add(strict), p.span);
                }
            }
            _ => {}
        }
    }

    /// `f : A >->> S` and the like.
    fn function(&self, e: &Expr, span: Span, facts: &mut Facts) {
        let E::Binary(op, from, to) = &e.kind else { return };
        match op {
            BinOp::TotalBij => {
                for (s, other) in [(from, to), (to, from)] {
                    if let (Some(s), Some(n)) = (self.deferred(s), self.size(other, facts, true)) {
                        facts.exact.entry(s).or_insert((n, span));
                    }
                }
            }
            BinOp::TotalInj => {
                if let (Some(s), Some(n)) = (self.deferred(to), self.size(from, facts, false)) {
                    facts.at_least(s, n, span);
                }
            }
            BinOp::TotalSurj | BinOp::PartialSurj => {
                if let (Some(s), Some(n)) = (self.deferred(from), self.size(to, facts, false)) {
                    facts.at_least(s, n, span);
                }
            }
            _ => {}
        }
    }

    /// `A \/ B = S & A /\ B = {}` with `card(A) = 2 & card(B) = 2`.
    fn partitions(&self, parts: &[&Expr], facts: &mut Facts) {
        let disjoint: HashSet<(ConstId, ConstId)> = parts
            .iter()
            .filter_map(|p| {
                let E::Binary(BinOp::Eq, a, b) = &p.kind else { return None };
                let meet = match (&a.kind, &b.kind) {
                    (E::Binary(BinOp::Inter, x, y), E::Lit(Lit::EmptySet)) => (x, y),
                    (E::Lit(Lit::EmptySet), E::Binary(BinOp::Inter, x, y)) => (x, y),
                    _ => return None,
                };
                match (&meet.0.kind, &meet.1.kind) {
                    (E::Const(x), E::Const(y)) => Some((*x, *y)),
                    _ => None,
                }
            })
            .collect();
        for p in parts {
            let E::Binary(BinOp::Eq, a, b) = &p.kind else { continue };
            for (s, union) in [(a, b), (b, a)] {
                let (Some(s), Some(members)) = (self.deferred(s), union_of_constants(union)) else {
                    continue;
                };
                let apart = members.iter().enumerate().all(|(i, x)| {
                    members[..i].iter().all(|y| disjoint.contains(&(*x, *y)) || disjoint.contains(&(*y, *x)))
                });
                let sizes: Option<Vec<u64>> = members.iter().map(|m| facts.sizes.get(m).copied()).collect();
                if let Some(sizes) = sizes.filter(|s| apart && s.len() > 1) {
                    facts.exact.entry(s).or_insert((sizes.iter().sum(), p.span));
                }
            }
        }
    }

    /// By deferred set: the constants that PROPERTIES say to differ, both ways round. `singly`: a pair at a time.
    fn different(&self, parts: &[&Expr], facts: &Facts, singly: bool) -> HashMap<SetId, Differ> {
        let mut differ: HashMap<SetId, Differ> = HashMap::new();
        let mut add = |a: &Expr, b: &Expr| {
            if let (E::Const(x), E::Const(y), super::Type::Given(s)) = (&a.kind, &b.kind, &a.ty)
                && self.is_deferred(*s)
            {
                differ.entry(*s).or_default().extend([(*x, *y), (*y, *x)]);
            }
        };
        for p in parts {
            match &p.kind {
                E::Binary(BinOp::Neq, a, b) => match (&a.kind, &b.kind) {
                    (E::SetExt(a), E::SetExt(b)) => {
                        if let ([a], [b]) = (&a[..], &b[..]) {
                            add(a, b);
                        }
                    }
                    _ => add(a, b),
                },
                E::Unary(UnOp::Not, q) => match &q.kind {
                    E::Binary(BinOp::Eq, a, b) => add(a, b),
                    E::Binary(BinOp::In, a, b) => {
                        if let E::SetExt(items) = &b.kind
                            && items.len() == 1
                        {
                            add(a, &items[0]);
                        }
                    }
                    _ => {}
                },
                E::Binary(BinOp::NotIn, a, b) => {
                    if let E::SetExt(items) = &b.kind
                        && (!singly || items.len() == 1)
                    {
                        items.iter().for_each(|b| add(a, b));
                    }
                }
                E::Binary(BinOp::Eq, a, b) => {
                    for (x, e) in [(a, b), (b, a)] {
                        if let (E::Binary(BinOp::Inter, l, r), E::Lit(Lit::EmptySet)) = (&x.kind, &e.kind)
                            && let (E::SetExt(l), E::SetExt(r)) = (&l.kind, &r.kind)
                            && (!singly || (l.len(), r.len()) == (1, 1))
                        {
                            l.iter().for_each(|a| r.iter().for_each(|b| add(a, b)));
                        }
                        let E::Call(Fun::Card, args) = &x.kind else { continue };
                        let Some(E::SetExt(items)) = args.first().map(|a| &a.kind) else { continue };
                        if self.natural(e, facts) == Some(items.len() as u64) {
                            for (i, a) in items.iter().enumerate() {
                                items[..i].iter().for_each(|b| add(a, b));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        differ
    }
}

/// For each deferred set that is the type of constants, the largest group of them that is known to differ from each
/// other, or just the first one.
pub(super) fn distinct_constants(model: &Model) -> Vec<(SetId, Vec<ConstId>)> {
    let zero = BigInt::zero();
    let reader = Reader { model, minint: &zero, maxint: &zero };
    let mut parts = vec![];
    model.properties.iter().for_each(|p| conjuncts(p, &mut parts));
    let mut facts = Facts::default();
    for _ in 0..2 {
        parts.iter().for_each(|p| reader.number(p, &mut facts));
    }
    parts.iter().for_each(|p| reader.sizes(p, &mut facts));
    let mut differ = reader.different(&parts, &facts, false);
    // `S = {a, b, c} & card(S) = 3`
    for p in &parts {
        let E::Binary(BinOp::Eq, a, b) = &p.kind else { continue };
        for (x, e) in [(a, b), (b, a)] {
            if let (Some(s), E::SetExt(items)) = (reader.deferred(x), &e.kind)
                && facts.exact.get(&s).is_some_and(|(n, _)| *n == items.len() as u64)
            {
                let constant = |e: &Expr| if let E::Const(c) = e.kind { Some(c) } else { None };
                let all: Vec<ConstId> = items.iter().filter_map(constant).collect();
                let pairs = all.iter().flat_map(|a| all.iter().map(|b| (*a, *b))).filter(|(a, b)| a != b);
                differ.entry(s).or_default().extend(pairs);
            }
        }
    }
    let mut found = vec![];
    for s in (0..model.sets.len()).map(|i| SetId(i as u32)).filter(|s| reader.is_deferred(*s)) {
        let first = model.constants.iter().position(|c| c.ty == super::Type::Given(s));
        let clique = differ.get(&s).map(largest_clique).filter(|c| !c.is_empty());
        let clique = clique.or_else(|| first.map(|i| vec![ConstId(i as u32)]));
        found.extend(clique.map(|c| (s, c)));
    }
    found
}

fn union_of_constants(e: &Expr) -> Option<Vec<ConstId>> {
    match &e.kind {
        E::Const(c) => Some(vec![*c]),
        E::Binary(BinOp::Union, a, b) => {
            let mut all = union_of_constants(a)?;
            all.extend(union_of_constants(b)?);
            Some(all)
        }
        _ => None,
    }
}

/// Greedy, from each constant in turn: exact on the "all different" and "some different" that people write.
fn largest_clique(pairs: &Differ) -> Vec<ConstId> {
    let mut all: Vec<ConstId> = pairs.iter().map(|p| p.0).collect();
    all.sort();
    all.dedup();
    let clique_from = |first: &ConstId| {
        let mut clique = vec![*first];
        for c in &all {
            if clique.iter().all(|d| pairs.contains(&(*c, *d))) {
                clique.push(*c);
            }
        }
        clique
    };
    // The first of the largest.
    all.iter().rev().map(clique_from).max_by_key(Vec::len).unwrap_or_default()
}

fn conjuncts<'a>(e: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &e.kind {
        E::Binary(BinOp::And, a, b) => {
            conjuncts(a, out);
            conjuncts(b, out);
        }
        E::Binary(BinOp::Eq, a, b) => match (&a.kind, &b.kind) {
            (E::Bool(p), E::Lit(Lit::True)) | (E::Lit(Lit::True), E::Bool(p)) => conjuncts(p, out),
            _ => out.push(e),
        },
        _ => out.push(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::load::load_text;

    fn model(sets: &str, constants: &str, properties: &str) -> Model {
        let constants = if constants.is_empty() { String::new() } else { format!("CONSTANTS {constants}") };
        let text = format!("MACHINE M SETS {sets} {constants} PROPERTIES {properties} END");
        let loaded = load_text("M.mch", &text);
        loaded.model.unwrap_or_else(|| panic!("{text}: {:#?}", loaded.diagnostics))
    }

    fn sizes(model: &Model, args: &ScopeArgs) -> Vec<u64> {
        scope(model, args).unwrap_or_else(|d| panic!("{d:#?}")).0.card
    }

    /// Each line was asked of ProB 1.8.2 too.
    #[test]
    fn properties_say_sizes() {
        let table: [(&str, &str, &str, u64); 35] = [
            ("S", "", "1 = 1", 2),
            ("S", "", "card(S) = 3", 3),
            ("S", "", "4 = card(S)", 4),
            ("S", "", "card(S) = 2 + 1", 3),
            ("S", "", "card(S) = MAXINT", 3),
            ("S", "", "card(S) = 1", 1),
            ("S", "n", "n = 2 & card(S) = n * 2", 4),
            ("S", "n", "n : NAT & n = card(S) & n = 3", 3),
            ("S", "", "card(S) : {3}", 3),
            ("S", "", "bool(card(S) = 3) = TRUE", 3),
            ("S", "", "card(S) >= 3", 3),
            ("S", "", "3 < card(S)", 4),
            ("S", "", "card(S) > 2 & card(S) > 3", 4),
            ("S", "", "card(S) = 4 & card(S) > 2", 4),
            ("S", "", "card(S) < 5", 2),
            ("S", "", "card(S) : 3..3", 2),
            ("S", "", "card(S) = 3 or card(S) = 4", 2),
            ("S", "f", "f : S >->> 1..3", 3),
            ("S", "f", "f : {1, 2, 5} >->> S", 3),
            ("S", "f", "f : {1, 2, 5} >-> S", 2),
            ("S", "f", "f : 0..3 >-> S", 4),
            ("S", "n, f", "n = 3 & f : 1..n >-> S", 3),
            ("S; T = {t1, t2, t3}", "f", "f : T >-> S", 3),
            ("S; T = {t1, t2, t3}", "f", "f : S -->> T", 3),
            ("S", "f", "f : S >-> 1..3", 2),
            ("S", "a, b, c", "S = {a, b, c} & a /= b & b /= c & a /= c", 3),
            ("S", "a, b, c", "S = {a, b, c}", 2),
            ("S", "a", "S = {a}", 1),
            ("S", "a, b, c", "a : S & b : S & c : S & card({a, b, c}) = 3", 3),
            ("S", "a, b, c", "a : S & b : S & c : S & a /= b & not(a = c) & not(b = c)", 3),
            ("S", "a, b, c, d", "a : S & b : S & c : S & d : S & a /= b & c /= d", 2),
            ("S", "A, B", "A <: S & B <: S & A /\\ B = {} & A \\/ B = S & card(A) = 2 & card(B) = 2", 4),
            ("S", "A", "A <: S & card(A) = 3", 2),
            ("S; T", "", "card(S) = card(T) & card(T) = 3", 2),
            ("S", "", "S /= {}", 2),
        ];
        for (sets, constants, properties, want) in table {
            let m = model(sets, constants, properties);
            assert_eq!(sizes(&m, &ScopeArgs::default())[0], want, "{properties}");
        }
    }

    #[test]
    fn the_command_line_wins() {
        let m = model("S; T; E = {x, y, z}", "", "card(S) = 3");
        let args = ScopeArgs { card: vec![("S".into(), 5)], setsize: Some(4), ..ScopeArgs::default() };
        assert_eq!(sizes(&m, &args), [5, 4, 3]);
        let (scope, notes) = scope(&m, &args).unwrap_or_else(|d| panic!("{d:#?}"));
        assert_eq!((scope.minint, scope.maxint), ((-1).into(), 3.into()));
        assert_eq!(notes, ["card(S) = 5 (command line)", "card(T) = 4 (default size)"]);
    }

    #[test]
    fn wrong_sizes_are_refused() {
        let m = model("S; E = {x, y}", "", "card(S) = 0");
        let messages = |args| -> Vec<String> {
            scope(&m, &args).err().unwrap_or_default().into_iter().map(|d| d.message).collect()
        };
        assert_eq!(messages(ScopeArgs::default()), ["the set `S` cannot have 0 elements (PROPERTIES)"]);
        let args =
            ScopeArgs { card: vec![("S".into(), 1), ("Q".into(), 1), ("E".into(), 3)], ..Default::default() };
        assert_eq!(
            messages(args),
            ["`--card Q=…`: the model has no set `Q`", "`--card E=…`: `E` is enumerated"]
        );
    }

    #[test]
    fn definitions_and_properties_must_agree() {
        let text = "MACHINE M DEFINITIONS scope_S == 3 SETS S PROPERTIES card(S) = 4 END";
        let m = load_text("M.mch", text).model.unwrap_or_default();
        let found = scope(&m, &ScopeArgs::default()).err().unwrap_or_default();
        assert_eq!(found[0].message, "`scope_S` says 3, but PROPERTIES say 4");
    }
}
