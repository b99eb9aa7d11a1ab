//! Bounds of integer unknowns that follow from linear constraints with literal coefficients: `a + b + c = 1000`
//! over naturals bounds each of them. Only used to enumerate less; every conjunct is still tested.

use super::Compiler;
use super::estimate::SetBound;
use super::forms::{Conjunct, Form, Open, form, memberships};
use super::fun_kind;
use crate::eval::node::{Binary, Node, Slot};
use crate::eval::plan::Bound;
use crate::model::{BinOp, Expr, ExprKind, Fun, Type, UnOp};
use crate::value::val::Val;
use num_integer::Roots;
use num_traits::ToPrimitive;
use std::collections::BTreeMap;

/// Σ cᵢ·xᵢ + Σ dⱼ·eⱼ + k over unknowns x and expressions e that are known when the plan runs.
#[derive(Clone, Default)]
struct Linear<'e> {
    terms: BTreeMap<Slot, i128>,
    closed: Vec<(i128, &'e Expr)>,
    k: i128,
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

type Bounds = BTreeMap<Slot, (Option<i128>, Option<i128>)>;

impl Compiler<'_> {
    /// Every linear constraint among the conjuncts, each read as "≤ 0".
    fn rows<'e>(&mut self, open: &Open, todo: &[Conjunct<'e>]) -> Vec<Linear<'e>> {
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

    fn bounds(&mut self, rows: &[Linear], todo: &[Conjunct]) -> Bounds {
        let mut bounds: Bounds = BTreeMap::new();
        // x·y = c
        let mut products: Vec<(Slot, Slot, i128)> = Vec::new();
        for c in todo {
            let Form::Eq(a, b) = form(*c) else { continue };
            for (l, r) in [(a, b), (b, a)] {
                if let (ExprKind::Binary(BinOp::Mul, x, y), ExprKind::Int(c)) = (&l.kind, &r.kind)
                    && let (Some(x), Some(y), Some(c)) = (self.as_slot(x), self.as_slot(y), c.to_i128())
                {
                    products.push((x, y, c));
                }
            }
        }
        for _ in 0..12 {
            let before = bounds.clone();
            for r in rows.iter().filter(|r| r.closed.is_empty()) {
                r.propagate(&mut bounds);
            }
            for (x, y, c) in &products {
                if x == y {
                    // x·x = c
                    let root = c.max(&0).sqrt();
                    tighten(&mut bounds, *x, Some(-root), Some(root));
                    continue;
                }
                for (x, y) in [(x, y), (y, x)] {
                    let low = bounds.get(y).and_then(|b| b.0);
                    let other = bounds.get(x).and_then(|b| b.0);
                    if low.is_some_and(|l| l >= 1) && other.is_some_and(|l| l >= 0) {
                        tighten(&mut bounds, *x, None, Some(c / low.unwrap_or(1)));
                    }
                }
            }
            if before == bounds {
                break;
            }
        }
        bounds
    }

    /// Literal bounds of one unknown, from all conjuncts together.
    pub(super) fn linear_bounds(
        &mut self,
        slot: Slot,
        open: &Open,
        todo: &[Conjunct],
    ) -> (Option<i128>, Option<i128>) {
        let rows = self.rows(open, todo);
        let bounds = self.bounds(&rows, todo);
        bounds.get(&slot).copied().unwrap_or((None, None))
    }

    /// Bounds that each constraint gives when the plan runs: what is known by then is put in, the other unknowns
    /// are taken at their literal bounds.
    pub(super) fn row_bounds(
        &mut self,
        slot: Slot,
        open: &Open,
        todo: &[Conjunct],
    ) -> (Vec<Bound>, Vec<Bound>) {
        let rows = self.rows(open, todo);
        let bounds = self.bounds(&rows, todo);
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for r in rows.iter().filter(|r| !r.closed.is_empty()) {
            let Some(c) = r.terms.get(&slot).copied() else { continue };
            let others = r.terms.iter().filter(|(s, _)| **s != slot);
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
            let bound = Bound { node, offset: 0, divide: Some(divide) };
            if c > 0 { highs.push(bound) } else { lows.push(bound) }
        }
        (lows, highs)
    }

    /// The largest coefficient each unknown has.
    pub(super) fn coefficients(&mut self, open: &Open, todo: &[Conjunct]) -> Vec<(Slot, f64)> {
        let mut out: BTreeMap<Slot, f64> = BTreeMap::new();
        for r in self.rows(open, todo) {
            if r.terms.len() > 1 {
                for (s, c) in &r.terms {
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
            SetBound::Open => Some(None),
            SetBound::Fixed(n) => Some(Some(i128::from(n))),
            SetBound::Expr(e) => self.linear(e, &Open::new()).and_then(|l| l.literal()).map(Some),
        };
        let [a, b] = [a, b].map(side);
        Some((a.flatten(), b.flatten()))
    }

    /// The expression as a linear form over unknowns and known parts.
    fn linear<'e>(&self, e: &'e Expr, open: &Open) -> Option<Linear<'e>> {
        if let Some(s) = self.symbol(e).filter(|s| open.contains(s)) {
            return Some(Linear { terms: [(s, 1)].into(), ..Linear::default() });
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

impl<'e> Linear<'e> {
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
fn least(s: Slot, c: i128, bounds: &Bounds) -> Option<i128> {
    let (lo, hi) = bounds.get(&s).copied().unwrap_or((None, None));
    let b = if c > 0 { lo } else { hi };
    b.filter(|b| b.abs() < HUGE).map(|b| b * c)
}

fn tighten(bounds: &mut Bounds, slot: Slot, lo: Option<i128>, hi: Option<i128>) {
    let b = bounds.entry(slot).or_default();
    b.0 = b.0.max(lo);
    b.1 = match (b.1, hi) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
}
