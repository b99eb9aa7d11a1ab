//! Bounds of integer unknowns that follow from constraints with literal coefficients: `a + b + c = 1000` over
//! naturals bounds each of them, and so does `a * a + b * b < 50`. Only used to enumerate less; every conjunct is
//! still tested.
//!
//! A product of unknowns takes part as a term of its own ([`Product`]): the bounds of its factors bound it, and its
//! bounds bound them.

use super::Compiler;
use super::estimate::SetBound;
use super::forms::{Conjunct, Form, OpenSlots, form, memberships};
use super::fun_kind;
use crate::eval::node::{Binary, Node, Slot};
use crate::eval::plan::{Bound, Root, Scale};
use crate::model::{BinOp, Expr, ExprKind, Fun, Type, UnOp};
use crate::value::val::Val;
use num_integer::Roots;
use num_traits::ToPrimitive;
use std::collections::{BTreeMap, BTreeSet};

/// Σ cᵢ·xᵢ + Σ dⱼ·eⱼ + k over unknowns x and expressions e that are known when the plan runs.
#[derive(Clone, Default)]
struct Linear<'e> {
    terms: BTreeMap<Term, i128>,
    closed: Vec<(i128, &'e Expr)>,
    k: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    Unknown(Slot),
    Product(Product),
}

/// A product of unknowns: `x ** n` with 2 ≤ n ≤ 62, or `x * y` with x < y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Product {
    Power(Slot, u32),
    Pair(Slot, Slot),
}

/// Groups of expressions that a conjunct says are pairwise different: `card({a, b, c}) = 3`, `[a, b, c] : A >-> B`.
pub(super) fn alldifferent<'e>(todo: &[Conjunct<'e>]) -> Vec<&'e [Expr]> {
    let mut out: Vec<&'e [Expr]> = Vec::new();
    for c in todo {
        match form(*c) {
            Form::Eq(a, b) => {
                for (l, r) in [(a, b), (b, a)] {
                    if let (ExprKind::Call(Fun::Card, args), ExprKind::Int(n)) = (&l.kind, &r.kind)
                        && let ExprKind::SetExt(items) = &args[0].kind
                        && n.to_usize() == Some(items.len())
                    {
                        out.push(items);
                    }
                }
            }
            Form::In(x, set) => {
                if let (ExprKind::SeqExt(items), ExprKind::Binary(op, ..)) = (&x.kind, &set.kind)
                    && fun_kind(*op).is_some_and(|k| k.injective)
                {
                    out.push(items);
                }
            }
            _ => {}
        }
    }
    out
}

/// Numbers beyond this are not reasoned about, so that nothing overflows.
const HUGE: i128 = 1 << 62;

type Range = (Option<i128>, Option<i128>);
type Bounds = BTreeMap<Term, Range>;

/// Bounds of unknowns.
pub(super) type Implied = BTreeMap<Slot, Range>;

impl Compiler<'_> {
    /// Every linear constraint among the conjuncts, each read as "≤ 0".
    fn rows<'e>(&mut self, open: &OpenSlots, todo: &[Conjunct<'e>]) -> Vec<Linear<'e>> {
        let mut rows: Vec<Linear> = Vec::new();
        for m in memberships(todo) {
            if m.subset {
                continue;
            }
            let (Some(x), Some((lo, hi))) = (self.linear(m.element, open), self.literal_range(m.set)) else {
                continue;
            };
            if let Some(lo) = lo {
                rows.push(x.scaled(-1).plus(lo));
            }
            if let Some(hi) = hi {
                rows.push(x.plus(-hi));
            }
        }
        for c in todo {
            match form(*c) {
                Form::Less(a, b, strict) => {
                    if let (Some(a), Some(b)) = (self.linear(a, open), self.linear(b, open)) {
                        rows.push(a.minus(&b).plus(i128::from(strict)));
                    }
                }
                Form::Eq(a, b) => {
                    if let (Some(a), Some(b)) = (self.linear(a, open), self.linear(b, open)) {
                        let d = a.minus(&b);
                        rows.push(d.scaled(-1));
                        rows.push(d);
                    }
                }
                _ => {}
            }
        }
        rows.retain(|r| !r.terms.is_empty());
        rows
    }

    /// What the rows without known parts say, by going round until nothing changes.
    fn bounds(&mut self, rows: &[Linear]) -> Bounds {
        let mut bounds: Bounds = BTreeMap::new();
        let products: BTreeSet<Product> = rows.iter().flat_map(|r| r.products()).collect();
        for _ in 0..12 {
            let before = bounds.clone();
            for r in rows.iter().filter(|r| r.closed.is_empty()) {
                r.propagate(&mut bounds);
            }
            for p in &products {
                p.propagate(&mut bounds);
            }
            if before == bounds {
                break;
            }
        }
        bounds
    }

    /// Bounds that products of unknowns give. Once a factor is bound, its product says nothing any more that can be
    /// used when the plan is made, so this is kept.
    pub(super) fn implied(&mut self, open: &OpenSlots, todo: &[Conjunct]) -> Implied {
        let rows = self.rows(open, todo);
        if rows.iter().all(|r| r.products().next().is_none()) {
            return Implied::new();
        }
        let bounds = self.bounds(&rows);
        let unknown = |(t, b): (&Term, &Range)| match t {
            Term::Unknown(s) => Some((*s, *b)),
            Term::Product(_) => None,
        };
        bounds.iter().filter_map(unknown).collect()
    }

    /// Literal bounds of one unknown, from all conjuncts together.
    pub(super) fn linear_bounds(
        &mut self,
        slot: Slot,
        open: &OpenSlots,
        todo: &[Conjunct],
    ) -> (Option<i128>, Option<i128>) {
        let rows = self.rows(open, todo);
        let mut bounds = self.bounds(&rows);
        for (lo, hi) in self.implied.iter().filter_map(|i| i.get(&slot)) {
            tighten(&mut bounds, Term::Unknown(slot), *lo, *hi);
        }
        bounds.get(&Term::Unknown(slot)).copied().unwrap_or((None, None))
    }

    /// Bounds that each constraint gives when the plan runs: what is known by then is put in, the other unknowns
    /// are taken at their literal bounds.
    pub(super) fn row_bounds(
        &mut self,
        slot: Slot,
        open: &OpenSlots,
        todo: &[Conjunct],
    ) -> (Vec<Bound>, Vec<Bound>) {
        let rows = self.rows(open, todo);
        let bounds = self.bounds(&rows);
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        let here = Term::Unknown(slot);
        for r in rows.iter().filter(|r| !r.closed.is_empty()) {
            // The unknown itself, or an even power of it that is bounded from above.
            let term = r.terms.iter().find_map(|(t, c)| match t {
                Term::Unknown(s) if *s == slot => Some((*t, *c, None)),
                Term::Product(Product::Power(s, n)) if *s == slot && n % 2 == 0 && *c > 0 => {
                    Some((*t, *c, Some(*n)))
                }
                _ => None,
            });
            let Some((term, c, root)) = term else { continue };
            if root.is_some() && r.terms.contains_key(&here) {
                continue;
            }
            let others = r.terms.iter().filter(|(s, _)| **s != term);
            let least = others.map(|(s, c)| least(*s, *c, &bounds)).sum::<Option<i128>>();
            let Some(k) = least.map(|l| l + r.k).filter(|k| k.abs() < HUGE) else { continue };
            let Ok(divide) = i64::try_from(c) else { continue };
            // c·x + V ≤ 0 with V = Σ d·e + k
            let mut node = Node::Const(Val::I(k as i64));
            for (d, e) in &r.closed {
                let rep = self.rep(&e.ty);
                let both = |op, a, b| Node::Binary {
                    op,
                    a: Box::new(a),
                    b: Box::new(b),
                    ra: rep.clone(),
                    rb: rep.clone(),
                    out: rep.clone(),
                    span: e.span,
                };
                let term = both(Binary::Mul, Node::Const(Val::I(*d as i64)), self.expr(e));
                node = both(Binary::Add, node, term);
            }
            let scale = |root| Bound { node: node.clone(), offset: 0, scale: Some(Scale { divide, root }) };
            match root {
                Some(n) => {
                    highs.push(scale(Some(Root { degree: n, negative: false })));
                    lows.push(scale(Some(Root { degree: n, negative: true })));
                }
                None if c > 0 => highs.push(scale(None)),
                None => lows.push(scale(None)),
            }
        }
        (lows, highs)
    }

    /// The largest coefficient each unknown has.
    pub(super) fn coefficients(&mut self, open: &OpenSlots, todo: &[Conjunct]) -> Vec<(Slot, f64)> {
        let mut out: BTreeMap<Slot, f64> = BTreeMap::new();
        for r in self.rows(open, todo) {
            if r.terms.len() > 1 {
                for (t, c) in &r.terms {
                    let Term::Unknown(s) = t else { continue };
                    let best = out.entry(*s).or_insert(1.0);
                    *best = best.max(c.abs() as f64);
                }
            }
        }
        out.into_iter().collect()
    }

    fn literal_range(&mut self, set: &Expr) -> Option<(Option<i128>, Option<i128>)> {
        let (a, b) = self.bounds_of(set)?;
        let side = |b: SetBound| match b {
            SetBound::OpenSlots => Some(None),
            SetBound::Fixed(n) => Some(Some(i128::from(n))),
            SetBound::Expr(e) => self.linear(e, &OpenSlots::new()).and_then(|l| l.literal()).map(Some),
        };
        let [a, b] = [a, b].map(side);
        Some((a.flatten(), b.flatten()))
    }

    /// The expression as a linear form over unknowns and known parts.
    fn linear<'e>(&self, e: &'e Expr, open: &OpenSlots) -> Option<Linear<'e>> {
        if e.ty == Type::Real {
            return None;
        }
        if let Some(s) = self.symbol(e).filter(|s| open.contains(s)) {
            return Some(Linear { terms: [(Term::Unknown(s), 1)].into(), ..Linear::default() });
        }
        if let Some(p) = self.product(e, open) {
            return Some(Linear { terms: [(Term::Product(p), 1)].into(), ..Linear::default() });
        }
        let out = match &e.kind {
            ExprKind::Int(i) => Linear { k: i.to_i128()?, ..Linear::default() },
            ExprKind::Unary(UnOp::Neg, a) => self.linear(a, open)?.scaled(-1),
            ExprKind::Binary(BinOp::Add, a, b) => {
                self.linear(a, open)?.minus(&self.linear(b, open)?.scaled(-1))
            }
            ExprKind::Binary(BinOp::Sub, a, b) => self.linear(a, open)?.minus(&self.linear(b, open)?),
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let (a, b) = (self.linear(a, open)?, self.linear(b, open)?);
                match (a.literal(), b.literal()) {
                    (Some(k), _) => b.scaled(k),
                    (_, Some(k)) => a.scaled(k),
                    _ if !self.mentions_open(e, open) => Linear { closed: vec![(1, e)], ..Linear::default() },
                    _ => return None,
                }
            }
            _ if !self.mentions_open(e, open) && e.ty == Type::Int => {
                Linear { closed: vec![(1, e)], ..Linear::default() }
            }
            _ => return None,
        };
        let fits = |c: i128| c.abs() < (1 << 40);
        let small = out.k.abs() < HUGE
            && out.terms.values().all(|c| fits(*c))
            && out.closed.iter().all(|c| fits(c.0));
        small.then_some(out)
    }
}

impl Compiler<'_> {
    fn product(&self, e: &Expr, open: &OpenSlots) -> Option<Product> {
        let unknown = |e: &Expr| self.symbol(e).filter(|s| open.contains(s));
        match &e.kind {
            ExprKind::Binary(BinOp::Mul, a, b) => {
                if let (Some(x), Some(y)) = (unknown(a), unknown(b)) {
                    return Some(if x == y {
                        Product::Power(x, 2)
                    } else {
                        Product::Pair(x.min(y), x.max(y))
                    });
                }
                // x * x * x
                let Some(Product::Power(x, n)) = self.product(a, open) else { return None };
                (unknown(b) == Some(x) && n < 62).then_some(Product::Power(x, n + 1))
            }
            ExprKind::Binary(BinOp::Pow, a, n) => match &n.kind {
                ExprKind::Int(n) => {
                    let n = n.to_u32().filter(|n| (2..=62).contains(n))?;
                    Some(Product::Power(unknown(a)?, n))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl Product {
    /// From the factors to the product and back.
    fn propagate(self, bounds: &mut Bounds) {
        let of = |bounds: &Bounds, t: Term| {
            let (lo, hi) = bounds.get(&t).copied().unwrap_or((None, None));
            // Beyond this products would overflow; no bound is always right.
            (lo.filter(|b| b.abs() < HUGE), hi.filter(|b| b.abs() < HUGE))
        };
        let all = Term::Product(self);
        match self {
            Product::Power(x, n) => {
                let x = Term::Unknown(x);
                let (lo, hi) = of(bounds, x);
                let power = |b: i128| b.checked_pow(n).filter(|p| p.abs() < HUGE);
                if n % 2 == 1 {
                    tighten(bounds, all, lo.and_then(power), hi.and_then(power));
                    let (lo, hi) = of(bounds, all);
                    // A root is rounded towards zero, which never cuts off an integer.
                    tighten(bounds, x, lo.map(|b| b.nth_root(n)), hi.map(|b| b.nth_root(n)));
                    return;
                }
                let far = lo.zip(hi).map(|(lo, hi)| lo.abs().max(hi.abs())).and_then(power);
                let near = match (lo, hi) {
                    (Some(lo), _) if lo > 0 => power(lo),
                    (_, Some(hi)) if hi < 0 => power(hi),
                    _ => Some(0),
                };
                tighten(bounds, all, near.or(Some(0)), far);
                if let (_, Some(most)) = of(bounds, all) {
                    // Nothing has a negative square: the range is empty then.
                    let root = if most < 0 { -1 } else { most.nth_root(n) };
                    tighten(bounds, x, Some(-root), Some(root));
                }
            }
            Product::Pair(x, y) => {
                let (x, y) = (Term::Unknown(x), Term::Unknown(y));
                if let ((Some(a), Some(b)), (Some(c), Some(d))) = (of(bounds, x), of(bounds, y)) {
                    let corners = [a.checked_mul(c), a.checked_mul(d), b.checked_mul(c), b.checked_mul(d)];
                    if a <= b
                        && c <= d
                        && let Some(corners) = corners.into_iter().collect::<Option<Vec<_>>>()
                    {
                        tighten(bounds, all, corners.iter().min().copied(), corners.iter().max().copied());
                    }
                } else if let ((Some(a), _), (Some(c), _)) = (of(bounds, x), of(bounds, y))
                    && a >= 0
                    && c >= 0
                {
                    tighten(bounds, all, a.checked_mul(c), None);
                }
                // x ≥ 0, y ≥ l ≥ 1 and x·y ≤ m: x ≤ m / l.
                for (x, y) in [(x, y), (y, x)] {
                    let (Some(least), Some(low), Some(most)) =
                        (of(bounds, x).0, of(bounds, y).0, of(bounds, all).1)
                    else {
                        continue;
                    };
                    if least >= 0 && low >= 1 {
                        tighten(bounds, x, None, Some(most.div_euclid(low)));
                    }
                }
            }
        }
    }
}

impl<'e> Linear<'e> {
    fn products(&self) -> impl Iterator<Item = Product> + '_ {
        self.terms.keys().filter_map(|t| match t {
            Term::Product(p) => Some(*p),
            Term::Unknown(_) => None,
        })
    }

    fn literal(&self) -> Option<i128> {
        (self.terms.is_empty() && self.closed.is_empty()).then_some(self.k)
    }

    fn scaled(&self, by: i128) -> Linear<'e> {
        Linear {
            terms: self.terms.iter().map(|(s, c)| (*s, c * by)).collect(),
            closed: self.closed.iter().map(|(c, e)| (c * by, *e)).collect(),
            k: self.k * by,
        }
    }

    fn plus(&self, k: i128) -> Linear<'e> {
        Linear { k: self.k + k, ..self.clone() }
    }

    fn minus(&self, other: &Linear<'e>) -> Linear<'e> {
        let mut out = self.clone();
        for (s, c) in &other.terms {
            *out.terms.entry(*s).or_default() -= c;
        }
        out.terms.retain(|_, c| *c != 0);
        out.closed.extend(other.closed.iter().map(|(c, e)| (-c, *e)));
        out.k -= other.k;
        out
    }

    /// From Σ cᵢ·xᵢ + k ≤ 0: cᵢ·xᵢ ≤ −k − Σⱼ≠ᵢ min(cⱼ·xⱼ).
    fn propagate(&self, bounds: &mut Bounds) {
        for (s, c) in &self.terms {
            let mut room = Some(-self.k);
            for (t, d) in &self.terms {
                if t != s {
                    room = room.zip(least(*t, *d, bounds)).map(|(r, m)| r - m);
                }
            }
            let Some(room) = room.filter(|r| r.abs() < HUGE) else { continue };
            if *c > 0 {
                tighten(bounds, *s, None, Some(room.div_euclid(*c)));
            } else {
                // x ≥ room / c, rounded up: −⌊room / −c⌋
                tighten(bounds, *s, Some(-room.div_euclid(-*c)), None);
            }
        }
    }
}

/// The least value of c·x.
fn least(s: Term, c: i128, bounds: &Bounds) -> Option<i128> {
    let (lo, hi) = bounds.get(&s).copied().unwrap_or((None, None));
    let b = if c > 0 { lo } else { hi };
    b.filter(|b| b.abs() < HUGE).map(|b| b * c)
}

fn tighten(bounds: &mut Bounds, slot: Term, lo: Option<i128>, hi: Option<i128>) {
    let b = bounds.entry(slot).or_default();
    b.0 = b.0.max(lo);
    b.1 = match (b.1, hi) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
}
