//! Bounds of integer unknowns that follow from linear constraints with literal coefficients: `a + b + c = 1000`
//! over naturals bounds each of them. Only used to enumerate less; every conjunct is still tested.

use super::Compiler;
use super::solve::{Conjunct, Form, Open, form, memberships};
use crate::eval::node::Slot;
use crate::model::{BinOp, Expr, ExprKind, UnOp};
use num_traits::ToPrimitive;
use std::collections::BTreeMap;

/// Σ cᵢ·xᵢ + k
#[derive(Clone, Default)]
struct Linear {
    terms: BTreeMap<Slot, i128>,
    k: i128,
}

/// Numbers beyond this are not reasoned about, so that nothing overflows.
const HUGE: i128 = 1 << 62;

type Bounds = BTreeMap<Slot, (Option<i128>, Option<i128>)>;

impl Compiler<'_> {
    /// Literal bounds of one unknown, from all conjuncts together.
    pub(super) fn linear_bounds(
        &mut self,
        slot: Slot,
        open: &Open,
        todo: &[Conjunct],
    ) -> (Option<i128>, Option<i128>) {
        let mut bounds: Bounds = BTreeMap::new();
        // Each is "≤ 0".
        let mut rows: Vec<Linear> = Vec::new();
        // x·y ≤ c
        let mut products: Vec<(Slot, Slot, i128)> = Vec::new();
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
                    for (l, r) in [(a, b), (b, a)] {
                        if let (ExprKind::Binary(BinOp::Mul, x, y), ExprKind::Int(c)) = (&l.kind, &r.kind) {
                            if let (Some(x), Some(y), Some(c)) =
                                (self.as_slot(x), self.as_slot(y), c.to_i128())
                            {
                                products.push((x, y, c));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        if !rows.iter().any(|r| r.terms.contains_key(&slot)) {
            return (None, None);
        }
        for _ in 0..12 {
            let before = bounds.clone();
            for r in &rows {
                r.propagate(&mut bounds);
            }
            for (x, y, c) in &products {
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
        bounds.get(&slot).copied().unwrap_or((None, None))
    }

    fn literal_range(&mut self, set: &Expr) -> Option<(Option<i128>, Option<i128>)> {
        use super::solve::SetBound;
        let (a, b) = self.bounds_of(set)?;
        let side = |b: SetBound| match b {
            SetBound::Open => Some(None),
            SetBound::Fixed(n) => Some(Some(i128::from(n))),
            SetBound::Expr(e) => {
                self.linear(e, &Open::new()).filter(|l| l.terms.is_empty()).map(|l| Some(l.k))
            }
        };
        let [a, b] = [a, b].map(side);
        Some((a.flatten(), b.flatten()))
    }

    /// The expression as a linear form over unknowns, if it is one with literal coefficients.
    fn linear(&self, e: &Expr, open: &Open) -> Option<Linear> {
        let slot = match &e.kind {
            ExprKind::Const(c) => Some(self.const_slot(*c)),
            ExprKind::Local(l) => self.locals.get(l).copied(),
            ExprKind::Var(v) => Some(self.var_slot(*v)),
            _ => None,
        };
        if let Some(s) = slot {
            // A known value is not known here, only when the plan runs.
            return open.contains(&s).then(|| Linear { terms: [(s, 1)].into(), k: 0 });
        }
        let out = match &e.kind {
            ExprKind::Int(i) => Linear { terms: BTreeMap::new(), k: i.to_i128()? },
            ExprKind::Unary(UnOp::Neg, a) => self.linear(a, open)?.scaled(-1),
            ExprKind::Binary(BinOp::Add, a, b) => {
                self.linear(a, open)?.minus(&self.linear(b, open)?.scaled(-1))
            }
            ExprKind::Binary(BinOp::Sub, a, b) => self.linear(a, open)?.minus(&self.linear(b, open)?),
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let (a, b) = (self.linear(a, open)?, self.linear(b, open)?);
                match (a.terms.is_empty(), b.terms.is_empty()) {
                    (true, _) => b.scaled(a.k),
                    (_, true) => a.scaled(b.k),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let small = out.k.abs() < HUGE && out.terms.values().all(|c| c.abs() < (1 << 40));
        small.then_some(out)
    }
}

impl Linear {
    fn scaled(&self, by: i128) -> Linear {
        Linear { terms: self.terms.iter().map(|(s, c)| (*s, c * by)).collect(), k: self.k * by }
    }

    fn plus(&self, k: i128) -> Linear {
        Linear { terms: self.terms.clone(), k: self.k + k }
    }

    fn minus(&self, other: &Linear) -> Linear {
        let mut out = self.clone();
        for (s, c) in &other.terms {
            *out.terms.entry(*s).or_default() -= c;
        }
        out.terms.retain(|_, c| *c != 0);
        out.k -= other.k;
        out
    }

    /// From Σ cᵢ·xᵢ + k ≤ 0: cᵢ·xᵢ ≤ −k − Σⱼ≠ᵢ min(cⱼ·xⱼ).
    fn propagate(&self, bounds: &mut Bounds) {
        let least = |s: Slot, c: i128, bounds: &Bounds| {
            let (lo, hi) = bounds.get(&s).copied().unwrap_or((None, None));
            if c > 0 { lo.map(|l| l * c) } else { hi.map(|h| h * c) }
        };
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

fn tighten(bounds: &mut Bounds, slot: Slot, lo: Option<i128>, hi: Option<i128>) {
    let b = bounds.entry(slot).or_default();
    b.0 = b.0.max(lo);
    b.1 = match (b.1, hi) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
}
